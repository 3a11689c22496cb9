"""Loops over messages and events, for programs that wait by blocking."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Callable, Generic, Iterator, Optional, Type, TypeVar

from .agent import NotCopied
from .errors import StaticError, error_of
from .coroutines import run
from .streams import Item, Stream
from .values import Message, message_fields

T = TypeVar("T")


@dataclass(frozen=True)
class Envelope(Message):
    """A decrypted message with what is known about it.

    >>> envelope = Envelope(
    ...     payload=b'{"n": 1}', sender="a" * 43, identity=b"alice", id="m", time=1.5
    ... )
    >>> (envelope.text(), envelope.json())
    ('{"n": 1}', {'n': 1})
    """

    _ack: Optional[Callable[[], None]] = field(default=None, repr=False, compare=False)

    def ack(self) -> None:
        """With ``ack="manual"``: this message is done with. Returns when that is on disk. Otherwise
        it does nothing.

        Without a host, only once every other loop of the channel is past it, too: until then it may
        come again.
        """
        if self._ack is not None:
            self._ack()


@dataclass(frozen=True)
class Answer:
    """The result of a request for one member: a reply, or the error that ``request`` would raise."""

    #: The member's agent id.
    sender: str
    reply: Optional[Envelope]
    error: Optional[StaticError]


class Loop(NotCopied, Generic[T]):
    """An iterator that waits for what comes. Several threads may take from it: each item goes to
    one of them.

    It ends quietly when the client is closed or the channel is left, and raises when nothing more
    can be done. A message counts as done with when the next one is asked for: the last one of a
    loop that is left comes again to the next loop.
    """

    def __init__(self, stream: Stream, decode: Callable[[Item], T]) -> None:
        self._stream = stream
        self._decode = decode
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        way = self._stream.agent.way
        try:
            # Before the lock, which a forked child may find taken for ever.
            way.check()
        except StaticError as error:
            if way.is_over(error):
                raise StopIteration from None
            raise
        with self._lock:
            item = run(self._stream.next())
        if item is None:
            raise StopIteration
        return self._decode(item)

    def finish(self) -> None:
        """Marks all items given as processed, the last one included, but none with
        ``ack="manual"``; then ends the loop.
        """
        run(self._stream.end(finish=True))

    def close(self) -> None:
        """Ends the loop. Its last message comes again."""
        run(self._stream.end(finish=False))

    def __enter__(self) -> "Loop[T]":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


def payload_of(item: Item) -> bytes:
    return item.body


def envelope_with(stream: Stream, manual: bool) -> Callable[[Item], Envelope]:
    def decode(item: Item) -> Envelope:
        ack = (lambda: run(stream.ack(item))) if manual else None
        return Envelope(**message_fields(item.fields["envelope"], item.body), _ack=ack)

    return decode


def answer_of(item: Item) -> Answer:
    fields = item.fields
    if "error" in fields:
        return Answer(fields["from"], None, error_of(fields["error"]))
    return Answer(fields["from"], Envelope(**message_fields(fields["envelope"], item.body)), None)
