"""What is pulled item by item: messages, events, answers, requests to be served. Shared by loops that block and that do not."""

from __future__ import annotations

import weakref
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .agent import Agent
from .driver import Call, Driver
from .errors import StaticError
from .frames import Frame
from .operations import over
from .steps import Steps


class Stream:
    """One stream of the driver, opened with the first question. One question at a time: its user has a lock.

    A question whose asker was interrupted is kept, and what comes goes to the next one who asks.
    """

    def __init__(self, agent: Agent, op: str, fields: Mapping[str, Any], body: bytes = b"") -> None:
        self.agent = agent
        self._opening: Tuple[str, Mapping[str, Any], bytes] = (op, fields, body)
        self._asked: Optional[Call] = None
        self._ended = False
        #: Held in a list, so that the finalizer sees the number without seeing the stream.
        self._number: List[int] = []
        self._finalizer = weakref.finalize(self, _abandon, agent.driver, self._number)
        self._finalizer.atexit = False

    @property
    def number(self) -> int:
        return self._number[0]

    def open(self) -> Steps[None]:
        """Opens it before the first question."""
        if self._number or self._ended:
            return
        op, fields, body = self._opening
        opened = yield from self._ask(op, fields, body)
        self._number.append(opened.header["ok"]["stream"])

    def next(self) -> Steps[Optional[Tuple[Dict[str, Any], bytes]]]:
        """The next item's fields and bytes, or None at the end."""
        if self._ended:
            return None
        try:
            yield from self.open()
            frame = yield from self._ask("next", {"stream": self.number})
        except StaticError as error:
            self._ended = True
            if over(error, self.agent):
                return None
            raise
        answer = frame.header["ok"]
        if answer.get("done"):
            self._ended = True
            return None
        return answer, frame.body

    def ack(self, item: int) -> Steps[None]:
        yield from self.agent.ask("ack", {"stream": self.number, "item": item})

    def end(self, *, finish: bool) -> Steps[None]:
        """Ends it; with ``finish`` the last item counts as done with."""
        if self._ended or not self._number:
            self._ended = True
            return
        self._ended = True
        self._finalizer.detach()
        try:
            yield from self.agent.ask("finish" if finish else "end", {"stream": self.number})
        except StaticError as error:
            if not over(error, self.agent):
                raise

    def _ask(self, op: str, fields: Mapping[str, Any], body: bytes = b"") -> Steps[Frame]:
        asked = self._asked or self.agent.driver.call(op, fields, body)
        self._asked = asked
        try:
            frame: Frame = yield asked
        except StaticError:
            self._asked = None
            raise
        self._asked = None
        return frame


def _abandon(driver: Driver, number: List[int]) -> None:
    """A loop was left: what it was given last comes to the next one."""
    if number:
        driver.tell("end", {"stream": number[0]})
