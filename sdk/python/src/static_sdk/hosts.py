"""The host of an agent: a process that holds it for all programs of this user. Found by its socket
in the agent's directory.

The rules are those of ``docs/host.md``, so that Python, JavaScript and the command line find the
same host: the folder of the socket is the protection, programs that start a host take turns, and
the lock of the agent's store decides in the end.
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from ._version import __version__
from .driver import apart
from .errors import ChannelError, InvalidArgumentError, StaticError, StoreError, TransportError, error_of
from .frames import PROTOCOL, FrameReader, encode_frame
from .frame_connection import CHUNK, Link
from .runtime import host_environment
from .coroutines import Steps, ask, pause

#: What every system allows for the path of a socket.
_MAX_PATH_BYTES = 100
#: The holder of a turn says so every second; one that has not for a while was killed.
_BEAT_SECONDS, _TURN_SECONDS = 1.0, 5.0
#: For a host that another program starts, and one that goes: twice as long as a host tries at a busy service.
_PATIENCE_SECONDS = 120.0
#: One that comes up and always goes again is not started for ever.
_MAX_STARTS = 3
#: A directory that something else than a host holds is not waited for longer.
_LOCKED_SECONDS = 1.5
_LOOK_SECONDS = 0.02
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class Place:
    """Where the host of a directory is."""

    data_dir: str
    folder: str
    socket: str


@dataclass(frozen=True)
class Start:
    """How a host is started: its command, and what it is told."""

    command: Callable[[], List[str]]
    fields: Mapping[str, Any] = field(repr=False)
    identity: bytes


class HostLink(Link):
    """A connection to a host."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        super().__init__(connection, connection, lambda link, number: None)

    @property
    def pid(self) -> int:
        return int(self.hello.result(_CONNECT_SECONDS).header["pid"])

    def kill(self) -> None:
        """The host lives on; this program has left it."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already

    def _hang_up(self) -> None:
        self.kill()

    def _gone(self) -> StaticError:
        return TransportError("listener_died", "the host has gone; what was under way may have been done")


def place_of(data_dir: str) -> Place:
    """Raises when its folder is not safe. The folder is made when there is none."""
    if sys.platform == "win32":
        raise InvalidArgumentError("invalid_request", 'there are no hosts on Windows; connect without host="auto"')
    os.makedirs(data_dir, mode=0o700, exist_ok=True)
    real = os.path.realpath(data_dir)
    folder = os.path.join(real, "host")
    if _is_too_long(folder):
        named = os.environ.get("XDG_RUNTIME_DIR")
        folder = os.path.join(named, "static", hashlib.sha256(os.fsencode(real)).hexdigest()[:16]) if named else folder
        if _is_too_long(folder):
            raise InvalidArgumentError(
                "invalid_request",
                f"Cannot use a host: the path of {real} is too long for a socket; set XDG_RUNTIME_DIR to a folder of this user "
                "with a short path, or move the directory",
            )
    os.makedirs(folder, mode=0o700, exist_ok=True)
    _check_folder(folder)
    return Place(real, folder, os.path.join(folder, "socket"))


def find_host(place: Place, start: Start) -> Steps[HostLink]:
    """Connects to the host that runs, or starts one."""
    waiting_since = time.monotonic()
    locked_since: Optional[float] = None
    starts = 0
    while True:
        link = _connect(place)
        if link is not None and (yield from _is_ours(link, place)):
            return link
        turn = None if link is not None else (yield from _start_in_turn(place, start))
        now = time.monotonic()
        if turn is True and starts < _MAX_STARTS:
            # It is there, however long it took.
            starts, waiting_since = starts + 1, now
        if isinstance(turn, StaticError):
            # A host that was killed a moment ago lets go when the system has ended it.
            locked_since = now if locked_since is None else locked_since
            if turn.code != "store_locked" or now - locked_since > _LOCKED_SECONDS:
                raise _explained(turn, place)
        if now - waiting_since > _PATIENCE_SECONDS:
            raise TransportError("connection_error", f"No host came up for {place.data_dir}; try again", retryable=True)
        yield from pause(_LOOK_SECONDS)


def _is_too_long(folder: str) -> bool:
    return len(os.fsencode(os.path.join(folder, "socket"))) > _MAX_PATH_BYTES


def _check_folder(folder: str) -> None:
    """No link, ours, and closed to others."""
    found = os.lstat(folder)
    why = None
    if not stat.S_ISDIR(found.st_mode):
        why = "it is not a folder, or a link to one"
    elif found.st_uid != os.getuid():
        why = "it belongs to another user"
    elif found.st_mode & 0o022:
        why = "others may write to it"
    if why is not None:
        raise ChannelError("not_allowed", f"Cannot use a host: {folder} is not safe: {why}; remove it and try again")
    if found.st_mode & 0o077:
        os.chmod(folder, 0o700)


def _connect(place: Place) -> Optional[HostLink]:
    """None when there is no socket, or one without a host behind it."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(place.socket)
        connection.settimeout(None)
        return HostLink(connection)
    except OSError as error:
        connection.close()
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTSOCK):
            return None
        raise TransportError("connection_error", f"Cannot reach the host at {place.socket}: {error}") from error


def _is_ours(link: HostLink, place: Place) -> Steps[bool]:
    """False when it goes. Raises when one of another version stays, because others use it."""
    try:
        hello = (yield link.hello).header
        if hello.get("protocol") == PROTOCOL and hello.get("sdk") == __version__:
            return True
        answer = yield from ask(link, "stop", {"whenIdle": True})
        if answer.header["ok"].get("stopping"):
            yield link.exited
            return False
    except BaseException as error:
        link.end()
        if isinstance(error, TransportError) and error.code == "listener_died":
            return False  # one that ends just now is as good as none
        raise
    link.end()
    raise TransportError(
        "unsupported_version",
        f"A host of version {hello.get('sdk')} holds {place.data_dir} and other programs use it; this program is version "
        f"{__version__}. End them, or stop the host with: static host stop",
    )


def _start_in_turn(place: Place, start: Start) -> Steps[Union[None, bool, StaticError]]:
    """True when it runs now, None when another program starts one, otherwise why it does not run."""
    turn = os.path.join(place.folder, "starting")
    try:
        os.close(os.open(turn, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        _void_old_turn(turn)
        return None
    end_turn = _hold(turn)
    try:
        running = _connect(place)
        if running is not None:
            running.end()
        else:
            yield _start(place, start)
        return True
    except StaticError as error:
        return error
    finally:
        end_turn()
        _remove(turn)


def _hold(turn: str) -> Callable[[], None]:
    """Says that the turn is held until it is told to stop: a busy machine needs long to start a
    host.
    """
    over = threading.Event()

    def beat() -> None:
        while not over.wait(_BEAT_SECONDS):
            try:
                os.utime(turn)
            except OSError:
                pass  # it has just ended

    threading.Thread(target=beat, name="static_sdk turn", daemon=True).start()
    return over.set


def _void_old_turn(turn: str) -> None:
    try:
        if time.time() - os.stat(turn).st_mtime > _TURN_SECONDS:
            _remove(turn)
    except OSError:
        pass  # it has just ended


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


def _start(place: Place, start: Start) -> "Future[None]":
    """Done when it can be connected to, or has said why not."""
    told = encode_frame({**start.fields, "dataDir": place.data_dir, "socket": place.socket}, start.identity)
    log = os.open(os.path.join(place.folder, "log"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    try:
        process = subprocess.Popen(
            start.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=host_environment(),
            **apart(),
        )
    except OSError as error:
        raise StaticError("internal", f"the host did not start: {error}") from error
    finally:
        os.close(log)
    started: "Future[None]" = Future()
    started.set_running_or_notify_cancel()
    threading.Thread(target=_attend, args=(process, told, started, place), name="static_sdk host", daemon=True).start()
    return started


def _attend(process: "subprocess.Popen[bytes]", told: bytes, started: "Future[None]", place: Place) -> None:
    """Tells a new host its options, hears its one answer, and waits for its end: a dead child that
    nobody waits for stays.
    """
    assert process.stdin is not None and process.stdout is not None
    try:
        with process.stdin as pipe:
            pipe.write(told)
    except OSError:
        pass  # it has gone, which its silence tells
    answer = _first_frame(process.stdout.fileno())
    process.stdout.close()
    if answer is None:
        started.set_exception(StaticError("internal", f"the host did not start; {place.folder}/log may say why"))
    elif "error" in answer:
        started.set_exception(error_of(answer["error"]))
    else:
        started.set_result(None)
    process.wait()


def _first_frame(source: int) -> Optional[Dict[str, Any]]:
    reader = FrameReader()
    try:
        while True:
            piece = os.read(source, CHUNK)
            for frame in reader.push(piece):
                return frame.header
            if not piece:
                return None
    except (OSError, StaticError):
        return None


def _explained(error: StaticError, place: Place) -> StaticError:
    """Something else than a host holds the directory."""
    if error.code != "store_locked":
        return error
    return StoreError(
        "store_locked",
        f'{place.data_dir} is held by a program that shares it with nobody; end it, or let it connect with host="auto", so that '
        "both can work",
        retryable=True,
    )
