"""Messages that came with another one, and that the program has not seen.

A loop that handles its messages quickly asks for several in one call. Nothing that it has not seen is acknowledged: the other side is
told how far it is, at the latest with the next call, and gets the rest back when something else wants them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Deque, Generic, Optional, Sequence, Tuple, TypeVar

from .link import Link

T = TypeVar("T")

#: A loop that asks again within these seconds is quick; so often in turn, before it gets several.
_QUICK_SECONDS = 0.005
_QUICK_ASKS = 8
_MAX_ITEMS = 64
#: The other side is told so often.
_TELL_SECONDS = 0.05


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
    """Of one stream at one link. Any thread may want the rest back."""

    def __init__(self, link: Link, channel: object) -> None:
        self.channel = channel
        self._link = link
        self._items: Deque[Tuple[int, T]] = deque()
        self._stream = 0
        #: The number of the item in the program's hands.
        self._seen: Optional[int] = None
        self._told_at = 0.0
        #: Held for a moment only, and never waited for by a finalizer.
        self._lock = threading.Lock()

    def put(self, stream: int, items: Sequence[Tuple[int, T]]) -> None:
        """Several that came together, the first of which is handed out next."""
        with self._lock:
            self._items.extend(items)
            self._stream = stream
            self._told_at = time.monotonic()
        self._link.holding[self] = None

    def take(self) -> Optional[T]:
        """The next one, or None: then the other side is asked, which acknowledges all before."""
        with self._lock:
            if not self._items:
                self._seen = None
                self._link.holding.pop(self, None)
                return None
            if self._seen is not None and time.monotonic() - self._told_at >= _TELL_SECONDS:
                self._told_at = time.monotonic()
                self._link.tell("passed", {"stream": self._stream, "item": self._seen})
            self._seen, item = self._items.popleft()
            return item

    def give_back(self) -> None:
        """Something else wants them: they come again. The one that the program works on stays as it is. Never waits for a lock."""
        if not self._lock.acquire(blocking=False):
            return  # a loop takes one at this moment; it tells later
        try:
            seen, first = self._seen, self._items[0][0] if self._items else None
            self._seen = None
            self._items.clear()
        finally:
            self._lock.release()
        self._link.holding.pop(self, None)
        if seen is not None or first is not None:
            done = (first or 1) - 1 if seen is None else seen - 1
            back = {} if first is None else {"back": first}
            self._link.tell("passed", {"stream": self._stream, "item": done, **back})
