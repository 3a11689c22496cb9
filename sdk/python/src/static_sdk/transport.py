"""The way from an agent's objects to the process that holds it. A driver that dies is the end;
after a host comes the next one.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Callable, Optional

from .errors import TransportError
from .frame_connection import Link
from .coroutines import Steps


class Way:
    """The link that there is now, and for a host how to find the next one."""

    def __init__(self, link: Link, find: Optional[Callable[[], Steps[Link]]] = None) -> None:
        self.link = link
        #: This program has closed the agent.
        self.closing = False
        self._find = find
        self._finding: Optional["Future[None]"] = None
        self._lock = threading.Lock()

    @property
    def is_shared(self) -> bool:
        """It leads to a host."""
        return self._find is not None

    def goes_on(self, error: BaseException) -> bool:
        """Whether the next call may succeed although this one has failed: the host has gone, and
        another one takes over.
        """
        return self.is_shared and not self.closing and isinstance(error, TransportError) and error.code == "listener_died"

    def is_over(self, error: BaseException) -> bool:
        """Whether a loop ends quietly with this error: this program has closed the agent."""
        return self.closing and isinstance(error, TransportError)

    def check(self) -> None:
        """Raises why nothing more can be called. Takes no lock."""
        if not self._is_lost():
            self.link.check()

    def reach(self) -> Steps[Link]:
        """The link, or the one to the next host. Of several who ask, one looks for it."""
        while self._is_lost():
            assert self._find is not None
            with self._lock:
                finding, mine = self._finding, self._finding is None
                if finding is None:
                    finding = self._finding = Future()
                    finding.set_running_or_notify_cancel()
            if not mine:
                yield finding
                continue
            try:
                if self._is_lost():
                    found = yield from self._find()
                    self._take(found)
            finally:
                self._finding = None
                finding.set_result(None)
        self.link.check()
        return self.link

    def end(self) -> None:
        """Items that this program was given and did not acknowledge come again."""
        self.link.end()

    def _take(self, link: Link) -> None:
        if self.closing:
            link.end()  # it was closed meanwhile
        else:
            self.link = link

    def _is_lost(self) -> bool:
        return self.is_shared and not self.closing and self.link.has_died
