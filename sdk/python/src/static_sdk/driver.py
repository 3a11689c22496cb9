"""The driver: a child process that runs the SDK, the pipes to it, and calls under way.

Three threads serve each driver. One writes: a signal can end a call of the main thread at any moment, and half a frame would
end the conversation. One reads answers, one reads what is printed. Nothing here takes a lock that a finalizer or a forked child
could find taken: frames go through a ``SimpleQueue``, calls are found in a ``dict``.
"""

from __future__ import annotations

import atexit
import copy
import itertools
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set

from .errors import InvalidArgumentError, StaticError, TransportError, error_of
from .frames import Frame, FrameReader, encode_frame
from .runtime import driver_environment

log = logging.getLogger("static_sdk")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_CHUNK = 256 * 1024
_KEPT_LINES = 20
#: The driver ends within 5 seconds after its input.
_EXIT_SECONDS = 6.0


class Call(Future):  # type: ignore[type-arg]  # Python 3.9 cannot subclass Future[Frame] at run time on every build
    """A call under way; its result is the answer's frame."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        # From now on it cannot be cancelled from outside: the driver is asked to.
        self.set_running_or_notify_cancel()


class Driver:
    """One child process. ``on_event`` gets events, on the thread that reads."""

    def __init__(self, command: Sequence[str], on_event: Callable[[str, Dict[str, Any]], None]) -> None:
        self._on_event = on_event
        self._numbers = itertools.count(1)
        self._calls: Dict[int, Call] = {}
        self._outgoing: "queue.SimpleQueue[Optional[bytes]]" = queue.SimpleQueue()
        self._lines: List[str] = []
        self._over: Optional[StaticError] = None
        self._goodbye: Optional[StaticError] = None
        #: The first frame.
        self.hello = Call(0)
        #: Done when the process is gone and its exit code known.
        self.exited = Call(0)
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=driver_environment(),
                **_apart(),
            )
        except OSError as error:
            raise StaticError("internal", f"the driver did not start: {error}") from error
        _live.add(self)
        self._printing = self._start(self._read_printed, "printed")
        self._start(self._write, "write")
        self._start(self._read, "read")

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Raises why nothing more can be called. Takes no lock."""
        if self._over is not None:
            # Each caller gets one of its own: an error that is raised again grows by its traceback.
            raise copy.copy(self._over)

    def call(self, op: str, fields: Optional[Mapping[str, Any]] = None, body: bytes = b"") -> Call:
        """Starts a call. Fields that are None are left out."""
        self.check()
        number = next(self._numbers)
        given = {name: value for name, value in (fields or {}).items() if value is not None}
        frame = encode_frame({"id": number, "op": op, **given}, body)
        call = Call(number)
        self._calls[number] = call
        # After it stands in the table: whoever ends the driver now finds it there, or is seen here.
        if self._over is not None:
            self._calls.pop(number, None)
            self.check()
        self._outgoing.put(frame)
        return call

    def tell(self, op: str, fields: Mapping[str, Any]) -> None:
        """A call whose answer is of no interest. Takes no lock, so finalizers may use it."""
        if self._over is None:
            self._outgoing.put(encode_frame({"id": next(self._numbers), "op": op, **fields}))

    def end(self) -> None:
        """The driver's input ends, after what was written: it closes the agent, acknowledges nothing and exits."""
        self._outgoing.put(None)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()

    def close(self, error: StaticError) -> None:
        """From now on every call fails with this error."""
        if self._over is None:
            self._over = error
        for number in list(self._calls):
            call = self._calls.pop(number, None)
            if call is not None:
                call.set_exception(copy.copy(self._over))

    def forget(self) -> None:
        """In a forked child: the pipes are its parent's. An open copy would keep the driver alive after its parent."""
        self._over = InvalidArgumentError(
            "invalid_request",
            "this process was forked from the one that made the client: make a client in each process, after the fork",
        )
        self._calls.clear()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        # Nobody here can wait for it.
        self._process.returncode = 0

    def _start(self, run: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=run, name=f"static_sdk {name} {self._process.pid}", daemon=True)
        thread.start()
        return thread

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            while True:
                frame = self._outgoing.get()
                if frame is None:
                    break
                rest = memoryview(frame)
                while rest:
                    rest = rest[os.write(pipe.fileno(), rest) :]
        except (OSError, ValueError):
            pass  # the driver has gone, which the other thread sees too
        pipe.close()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        reader = FrameReader()
        problem: Optional[StaticError] = None
        try:
            while True:
                piece = os.read(pipe.fileno(), _CHUNK)
                if not piece:
                    break
                for frame in reader.push(piece):
                    self._take(frame)
        except OSError:
            pass
        except StaticError as error:
            problem = error
            self.kill()
        code = self._process.wait()
        self._printing.join(1.0)
        self.close(problem or self._goodbye or self._died(code))
        self._outgoing.put(None)
        if not self.hello.done():
            self.hello.set_exception(problem or self._goodbye or self._not_started(code))
        self.exited.set_result(Frame({}, b""))
        _live.discard(self)
        pipe.close()

    def _take(self, frame: Frame) -> None:
        header = frame.header
        number = header.get("id")
        if number is None:
            self._event(header)
            return
        call = self._calls.pop(number, None)
        if call is None:
            return
        if "error" in header:
            call.set_exception(error_of(header["error"]))
        else:
            call.set_result(frame)

    def _event(self, header: Dict[str, Any]) -> None:
        name = str(header.get("event"))
        if name == "hello":
            if not self.hello.done():
                self.hello.set_result(Frame(header, b""))
        elif name == "goodbye":
            self._goodbye = error_of(header["error"]) if "error" in header else None
        elif name == "log":
            log.log(_LEVELS.get(str(header.get("level")), logging.INFO), "%s", header.get("text"))
        else:
            self._on_event(name, header)

    def _read_printed(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        rest = b""
        try:
            while True:
                piece = os.read(pipe.fileno(), _CHUNK)
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines if piece else [*lines, rest]:
                    self._printed(line.decode("utf-8", "replace").rstrip())
                if not piece:
                    break
                rest = rest[-4096:]
        except OSError:
            pass
        pipe.close()

    def _printed(self, line: str) -> None:
        if line == "":
            return
        log.debug("driver: %s", line)
        self._lines = [*self._lines, line][-_KEPT_LINES:]

    def _died(self, code: int) -> StaticError:
        return TransportError(
            "listener_died",
            f"the driver has gone ({_how(code)}); close this object and make another{self._said()}",
        )

    def _not_started(self, code: int) -> StaticError:
        return StaticError("internal", f"the driver did not start ({_how(code)}){self._said()}")

    def _said(self) -> str:
        return "" if not self._lines else ". It said:\n" + "\n".join(self._lines)


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _apart() -> Dict[str, Any]:
    """A Ctrl-C of the terminal is for Python alone."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


#: Drivers of this process whose end was not seen yet: a fork and the end of the program concern all of them.
_live: Set[Driver] = set()


def _after_fork() -> None:
    for driver in list(_live):
        driver.forget()
    _live.clear()


def _at_exit() -> None:
    """A program that ends without closing: messages that it had not acknowledged come again."""
    drivers = list(_live)
    for driver in drivers:
        driver.end()
    until = time.monotonic() + _EXIT_SECONDS
    for driver in drivers:
        try:
            driver.exited.result(max(0.0, until - time.monotonic()))
        except Exception:  # too late
            driver.kill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
