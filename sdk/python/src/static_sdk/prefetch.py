"""Messages that came with another one, and that the program has not seen.

A loop that handles its messages quickly asks for several in one call. Nothing that it has not seen
is acknowledged. After a moment, or when something else wants them, the other side is told how far
the loop is and gets the rest back: a loop that stops at one message holds up no other, and forgets
little when it is killed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Deque, Generic, Optional, Sequence, Tuple, TypeVar

from .frame_connection import Link

T = TypeVar("T")

#: A loop that asks again within these seconds is quick; so often in turn, before it gets several.
_QUICK_SECONDS = 0.005
_QUICK_ASKS = 8
_MAX_ITEMS = 64
#: So long a loop has messages that it has not seen.
_HOLD_SECONDS = 0.05


class Pace:
    """How quickly a loop asks."""

    def __init__(self) -> None:
        self._given_at = float("-inf")
        self._asks = 0

    def asked(self) -> None:
        is_quick = time.monotonic() - self._given_at < _QUICK_SECONDS
        self._asks = self._asks + 1 if is_quick else 0

    def given(self) -> None:
        self._given_at = time.monotonic()

    @property
    def wanted(self) -> Optional[int]:
        """How many to ask for; None for one."""
        return None if self._asks < _QUICK_ASKS else _MAX_ITEMS


class Ahead(Generic[T]):
    """Of one stream at one link. Any thread may want the rest back.

    All changes, and what is told of them, happen under the lock: the other side hears that messages
    come back before it hears the next question, which would acknowledge them.
    """

    def __init__(self, link: Link, channel: object) -> None:
        self.channel = channel
        #: Then what the program has not seen goes back.
        self.until = 0.0
        #: The number of the last item that came.
        self.last = 0
        self._link = link
        self._items: Deque[Tuple[int, T]] = deque()
        self._stream = 0
        #: The number of the item in the program's hands.
        self._seen: Optional[int] = None
        #: Held for a moment only, and never waited for by a finalizer.
        self._lock = threading.Lock()

    def put(self, stream: int, items: Sequence[Tuple[int, T]]) -> None:
        """Several that came together. The thread that reads and the one that asked both say so, in
        any order; it counts once.
        """
        with self._lock:
            if items[-1][0] <= self.last:
                return
            self.last = items[-1][0]
            self._items.extend(items)
            self._stream = stream
            self.until = time.monotonic() + _HOLD_SECONDS
            self._link.hold(self)

    def take(self) -> Optional[T]:
        """The next one, or None: then the other side is asked, which acknowledges all before."""
        with self._lock:
            if self._items and time.monotonic() >= self.until:
                self._return()
            if not self._items:
                self._seen = None
                return None
            self._seen, item = self._items.popleft()
            return item

    def give_back(self, *, wait: bool = False) -> None:
        """They come again. The one that the program works on stays as it is. Without ``wait`` it
        takes no lock that is taken.
        """
        if not self._lock.acquire(blocking=wait):
            return  # a loop takes one at this moment; the thread that writes sees to the rest
        try:
            self._return()
        finally:
            self._lock.release()

    def _return(self) -> None:
        seen, first = self._seen, self._items[0][0] if self._items else None
        self._seen = None
        self._items.clear()
        self._link.holding.pop(self, None)
        if seen is not None or first is not None:
            done = (first or 1) - 1 if seen is None else seen - 1
            back = {} if first is None else {"back": first}
            self._link.tell("passed", {"stream": self._stream, "item": done, **back})
