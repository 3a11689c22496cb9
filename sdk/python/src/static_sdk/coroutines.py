"""Operations written once for blocking and for asynchronous callers: as generators that yield the
calls they wait for.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING, Any, Generator, Mapping, TypeVar

from .errors import StaticError
from .frames import Frame

if TYPE_CHECKING:
    from .frame_connection import Link

T = TypeVar("T")
Steps = Generator["Future[Any]", Any, T]

#: On Windows, before Python 3.14, Ctrl-C does not end a wait for a lock.
_SLICE = 0.2 if sys.platform == "win32" else None


def run(steps: Steps[T]) -> T:
    """Blocks. An interrupt goes into the steps, which tidy up."""
    try:
        waiting = next(steps)
        while True:
            try:
                answer = _wait(waiting)
            except BaseException as error:
                waiting = steps.throw(error)
            else:
                waiting = steps.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


async def run_async(steps: Steps[T]) -> T:
    """The same on an event loop; cancelling is an interrupt."""
    try:
        waiting = next(steps)
        while True:
            try:
                answer = await asyncio.wrap_future(waiting)
            except BaseException as error:
                waiting = steps.throw(error)
            else:
                waiting = steps.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def ask(link: Link, op: str, fields: Mapping[str, Any], body: bytes = b"") -> Steps[Frame]:
    """One call. When the caller is interrupted, the other side is told to give it up."""
    call = link.call(op, fields, body)
    try:
        frame: Frame = yield call
        return frame
    except StaticError:
        raise
    except BaseException:
        link.tell("cancel", {"call": call.number})
        raise


def pause(seconds: float) -> Steps[None]:
    """Waits."""
    over: "Future[None]" = Future()
    over.set_running_or_notify_cancel()
    timer = threading.Timer(seconds, over.set_result, (None,))
    timer.daemon = True
    timer.start()
    yield over


def _wait(waiting: "Future[Any]") -> Any:
    while True:
        try:
            return waiting.result(_SLICE)
        except NotYet:
            if waiting.done():
                return waiting.result()
