"""Loops over messages and events, and requests that are handled, for programs on an event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Awaitable, Callable, Generic, Optional, Set, TypeVar, Union

from . import serving
from .agent import NotCopied
from .errors import StaticError, error_of
from .coroutines import run_async
from .streams import Item, Stream
from .values import Message, Payload, Request, message_fields

T = TypeVar("T")
Handler = Callable[[Request], Union[Payload, Awaitable[Payload]]]


@dataclass(frozen=True)
class Envelope(Message):
    """A decrypted message with what is known about it."""

    _ack: Optional[Callable[[], Awaitable[None]]] = field(default=None, repr=False, compare=False)

    async def ack(self) -> None:
        """With ``ack="manual"``: this message is done with. Returns when that is on disk. Otherwise
        it does nothing.

        Without a host, only once every other loop of the channel is past it, too: until then it may
        come again.
        """
        if self._ack is not None:
            await self._ack()


@dataclass(frozen=True)
class Answer:
    """The result of a request for one member: a reply, or the error that ``request`` would raise."""

    sender: str
    reply: Optional[Envelope]
    error: Optional[StaticError]


class Loop(NotCopied, Generic[T]):
    """An asynchronous iterator over a stream; see ``static_sdk.Loop``."""

    def __init__(self, stream: Stream, decode: Callable[[Item], T]) -> None:
        self._stream = stream
        self._decode = decode
        self._turn: Optional[asyncio.Lock] = None

    def __aiter__(self) -> "Loop[T]":
        return self

    async def __anext__(self) -> T:
        if self._turn is None:
            # here, because before Python 3.10 it belongs to the loop in which it is made
            self._turn = asyncio.Lock()
        async with self._turn:
            item = await run_async(self._stream.next())
        if item is None:
            raise StopAsyncIteration
        return self._decode(item)

    async def finish(self) -> None:
        """Marks all items given as processed, the last one included, but none with
        ``ack="manual"``; then ends the loop.
        """
        await run_async(self._stream.end(finish=True))

    async def aclose(self) -> None:
        """Ends the loop. Its last message comes again."""
        await run_async(self._stream.end(finish=False))

    async def __aenter__(self) -> "Loop[T]":
        """Opens it at once; without ``async with`` the first question does."""
        await run_async(self._stream.open())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Serving(NotCopied):
    """Requests that are being handled; ends by ``stop()`` or with the channel."""

    def __init__(self, stream: Stream, handler: Handler) -> None:
        self._stream = stream
        self._handler = handler
        self._running: Set["asyncio.Task[None]"] = set()
        self._task = asyncio.ensure_future(self._serve())

    async def stop(self) -> None:
        """Takes no more requests, and waits for those that were begun."""
        await run_async(self._stream.end(finish=False))
        await self.wait()

    async def wait(self) -> None:
        """Waits until the last request is handled."""
        await asyncio.wait([self._task])
        if self._running:
            await asyncio.wait(list(self._running))

    async def __aenter__(self) -> "Serving":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _serve(self) -> None:
        while True:
            try:
                item = await run_async(self._stream.next())
            except StaticError as error:
                serving.log.warning("Serving has ended: %s", error)
                return
            if item is None:
                return
            task = asyncio.ensure_future(self._handle(item))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _handle(self, item: Item) -> None:
        request, done = serving.begin(item)
        try:
            handled = self._handler(request)
            if isinstance(handled, Awaitable):
                handled = await handled
            answer = serving.reply_of(handled)
        except Exception as error:
            answer = serving.failure_of(error, request)
        await run_async(serving.settle(self._stream, item, answer, done))


def envelope_with(stream: Stream, manual: bool) -> Callable[[Item], Envelope]:
    def decode(item: Item) -> Envelope:
        ack = (lambda: run_async(stream.ack(item))) if manual else None
        return Envelope(**message_fields(item.fields["envelope"], item.body), _ack=ack)

    return decode


def answer_of(item: Item) -> Answer:
    fields = item.fields
    if "error" in fields:
        return Answer(fields["from"], None, error_of(fields["error"]))
    return Answer(fields["from"], Envelope(**message_fields(fields["envelope"], item.body)), None)
