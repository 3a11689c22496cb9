"""Frames to the process that holds the agent, and calls under way: the same over a child's pipes
and over a host's socket.

One thread writes: a signal can end a call of the main thread at any moment, and half a frame would
end the conversation. One reads answers. Nothing here takes a lock that a finalizer or a forked
child could find taken: frames go through a ``SimpleQueue``, calls are found in a ``dict``.
"""

from __future__ import annotations

import atexit
import copy
import itertools
import logging
import os
import queue
import threading
import time
from concurrent.futures import Future
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Set, Tuple, Union

from .errors import InvalidArgumentError, StaticError, error_of
from .frames import Frame, FrameReader, encode_frame

log = logging.getLogger("static_sdk")

CHUNK = 256 * 1024
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
#: A driver ends within 5 seconds after its input.
_EXIT_SECONDS = 6.0
#: Before something that could not be done at this moment is tried again.
_SOON_SECONDS = 0.005


class Call(Future):  # type: ignore[type-arg]  # Python 3.9 cannot subclass Future[Frame] at run time on every build
    """A call under way; its result is the answer's frame."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        # From now on it cannot be cancelled from outside: the other side is asked to.
        self.set_running_or_notify_cancel()


class End(Protocol):
    """One end of a pipe, or a socket."""

    def fileno(self) -> int: ...

    def close(self) -> None: ...


class Holder(Protocol):
    """Has messages that the program has not seen."""

    channel: object
    #: Then they go back.
    until: float

    def give_back(self) -> None: ...


class Link:
    """One connection. ``on_ask`` gets what is asked of this program, on the thread that reads."""

    def __init__(self, source: End, target: End, on_ask: Callable[["Link", int], None]) -> None:
        self._source = source
        self._target = target
        self._on_ask = on_ask
        self._numbers = itertools.count(1)
        self._calls: Dict[int, Call] = {}
        self._outgoing: "queue.SimpleQueue[Union[None, bytes, Callable[[], bytes]]]" = queue.SimpleQueue()
        self._over: Optional[StaticError] = None
        self._goodbye: Optional[StaticError] = None
        #: Requests that are being served, by stream and item: what to do when nobody waits for them any more.
        self.serving: Dict[Tuple[int, int], Callable[[], None]] = {}
        #: Loops that were given messages that the program may not have seen. The thread that writes looks after them.
        self.holding: Dict[Holder, None] = {}
        #: The first frame.
        self.hello = Call(0)
        #: Done when nothing more comes.
        self.exited = Call(0)
        _live.add(self)
        self.start_thread(self._write, "write")
        self.start_thread(self._read, "read")

    @property
    def pid(self) -> int:
        """Of the process at the other end."""
        raise NotImplementedError

    def kill(self) -> None:
        """Ends it at once."""
        raise NotImplementedError

    def _hang_up(self) -> None:
        """Everything was written."""
        raise NotImplementedError

    def _gone(self) -> StaticError:
        """Nothing more comes: why, for all who wait."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises why nothing more can be called. Takes no lock."""
        if self._over is not None:
            # Each caller gets one of its own: an error that is raised again grows by its traceback.
            raise copy.copy(self._over)

    @property
    def has_died(self) -> bool:
        """It ended by itself; not by ``close`` and not by a fork."""
        return self._over is not None and self._over.code == "listener_died"

    def call(self, op: str, fields: Optional[Mapping[str, Any]] = None, body: bytes = b"") -> Call:
        """Starts a call. Fields that are None are left out."""
        self.check()
        number = next(self._numbers)
        given = {name: value for name, value in (fields or {}).items() if value is not None}
        frame = encode_frame({"id": number, "op": op, **given}, body)
        call = Call(number)
        self._calls[number] = call
        # After it stands in the table: an end that comes now finds it there, or is seen here.
        if self._over is not None:
            self._calls.pop(number, None)
            self.check()
        self._outgoing.put(frame)
        return call

    def call_later(self, make: Callable[[], Tuple[str, Mapping[str, Any], bytes]]) -> Call:
        """Starts a call that is put together when its turn to be written comes."""
        self.check()
        call = Call(next(self._numbers))
        self._calls[call.number] = call
        if self._over is not None:
            self._calls.pop(call.number, None)
            self.check()

        def frame() -> bytes:
            op, fields, body = make()
            given = {name: value for name, value in fields.items() if value is not None}
            try:
                return encode_frame({"id": call.number, "op": op, **given}, body)
            except StaticError as error:
                if self._calls.pop(call.number, None) is not None:
                    call.set_exception(error)
                return b""

        self._outgoing.put(frame)
        return call

    def tell(self, op: str, fields: Mapping[str, Any]) -> None:
        """A call whose answer is of no interest. Takes no lock, so finalizers may use it."""
        if self._over is None:
            self._outgoing.put(encode_frame({"id": next(self._numbers), "op": op, **fields}))

    def hold(self, holder: Holder) -> None:
        """It has messages that the program has not seen; they go back when its time is over."""
        if holder not in self.holding:
            self.holding[holder] = None
            self._outgoing.put(b"")  # so that the thread that writes does not wait for ever

    def give_back(self, channel: Optional[str] = None) -> None:
        """Messages that loops, of this channel or of all, have and have not seen come again; those
        that they are done with do not.
        """
        for each in list(self.holding):
            if channel is None or each.channel == channel:
                each.give_back()

    def end(self) -> None:
        """This program says no more, after what was written: what it was given and did not
        acknowledge comes again.
        """
        self.give_back()
        self._outgoing.put(None)

    def close(self, error: StaticError) -> None:
        """From now on every call fails with this error."""
        if self._over is None or self.has_died:
            self._over = error
        for number in list(self._calls):
            call = self._calls.pop(number, None)
            if call is not None:
                call.set_exception(copy.copy(self._over))
        for place in list(self.serving):
            self._is_over(place)

    def forget(self) -> None:
        """In a forked child: the connection is its parent's. An open copy would keep the driver
        alive after its parent.
        """
        self._over = InvalidArgumentError(
            "invalid_request",
            "this process was forked from the one that made the client: make a client in each process, after the fork",
        )
        # New ones: another thread may have held the locks of the old ones at the fork.
        self.exited = Call(0)
        self.exited.set_result(Frame({}, b""))
        self._calls.clear()
        self.holding.clear()
        for end in (self._source, self._target):
            end.close()

    def start_thread(self, run: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=run, name=f"static_sdk {name}", daemon=True)
        thread.start()
        return thread

    def _write(self) -> None:
        try:
            while True:
                frame = self._next()
                if frame is None:
                    break
                rest = memoryview(frame() if callable(frame) else frame)
                while rest:
                    rest = rest[os.write(self._target.fileno(), rest) :]
        except (OSError, ValueError):
            pass  # it has gone, which the other thread sees too
        self._hang_up()

    def _next(self) -> Union[None, bytes, Callable[[], bytes]]:
        """The next frame to write. Meanwhile, messages that nobody has looked at for too long go
        back.
        """
        while self.holding:
            now = time.monotonic()
            for each in list(self.holding):
                if each.until <= now:
                    each.give_back()
            until = min((each.until for each in list(self.holding)), default=now)
            try:
                return self._outgoing.get(timeout=max(until - now, _SOON_SECONDS))
            except queue.Empty:
                pass
        return self._outgoing.get()

    def _read(self) -> None:
        reader = FrameReader()
        problem: Optional[StaticError] = None
        try:
            while True:
                piece = os.read(self._source.fileno(), CHUNK)
                if not piece:
                    break
                for frame in reader.push(piece):
                    self._take(frame)
        except OSError:
            pass
        except StaticError as error:
            problem = error
            self.kill()
        gone = self._gone()
        self.close(problem or self._goodbye or gone)
        self._outgoing.put(None)
        if not self.hello.done():
            self.hello.set_exception(problem or self._goodbye or gone)
        self.exited.set_result(Frame({}, b""))
        _live.discard(self)
        self._source.close()

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
        name = header.get("event")
        if name == "hello":
            if not self.hello.done():
                self.hello.set_result(Frame(header, b""))
        elif name == "goodbye":
            self._goodbye = error_of(header["error"]) if "error" in header else None
        elif name == "log":
            log.log(_LEVELS.get(str(header.get("level")), logging.INFO), "%s", header.get("text"))
        elif name == "over":
            self._is_over((header["stream"], header["item"]))
        elif name == "ask":
            self._on_ask(self, header["ask"])

    def _is_over(self, place: Tuple[int, int]) -> None:
        tell = self.serving.pop(place, None)
        if tell is not None:
            tell()


#: Links of this process whose end was not seen yet: a fork and the end of the program concern all of them.
_live: Set[Link] = set()


def _after_fork() -> None:
    for link in list(_live):
        link.forget()
    _live.clear()


def _at_exit() -> None:
    """A program that ends without closing: messages that it had not acknowledged come again."""
    links = list(_live)
    for link in links:
        link.end()
    until = time.monotonic() + _EXIT_SECONDS
    for link in links:
        try:
            link.exited.result(max(0.0, until - time.monotonic()))
        except Exception:  # too late
            link.kill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
