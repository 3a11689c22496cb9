"""Streams that are pulled item by item: messages, events, answers, requests to serve. Shared by
blocking and asynchronous loops.
"""

from __future__ import annotations

import weakref
from concurrent.futures import Future
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from .agent import Agent
from .prefetch import Ahead, Pace
from .errors import StaticError
from .frames import Frame
from .frame_connection import Call, Link
from .recent import Recent
from .coroutines import Steps, ask


class Place(NamedTuple):
    """Where an item was given."""

    link: Link
    stream: int
    item: int

    def ask(self, op: str, fields: Optional[Mapping[str, Any]] = None, body: bytes = b"") -> Steps[Frame]:
        """Something about this item. Raises when its host has gone."""
        return (yield from ask(self.link, op, {"stream": self.stream, "item": self.item, **(fields or {})}, body))


class Item(NamedTuple):
    """One item."""

    place: Place
    fields: Dict[str, Any]
    body: bytes


class Stream:
    """One stream, opened with the first question. One question at a time: its user has a lock.

    A question whose asker was interrupted is kept, and what comes goes to the next one who asks.
    When its host dies, it is opened again at the next one; a message that was given already is not
    given twice.
    """

    def __init__(self, agent: Agent, op: str, fields: Mapping[str, Any], body: bytes = b"") -> None:
        self.agent = agent
        self._opening: Tuple[str, Mapping[str, Any], bytes] = (op, fields, body)
        self._begun: Optional[Call] = None
        #: A question that was not answered, or whose answer was not taken.
        self._asked: Optional[Call] = None
        self._is_open = False
        self._ended = False
        #: The stream at the present host. In a list, so that the finalizer sees it without seeing this object.
        self._open: List[_Open] = []
        #: With manual acknowledgement: messages that were given and not acknowledged, by sender and id.
        self._given: Dict[Tuple[str, str], Place] = {}
        self._recent = Recent()
        self._pace = Pace()
        self._is_manual = fields.get("ack") == "manual"
        self._finalizer = weakref.finalize(self, _abandon, self._open)
        self._finalizer.atexit = False

    def open(self) -> Steps[None]:
        """Opens it before the first question."""
        if self._ended or self._is_open:
            return
        if not self._open:
            link = yield from self.agent.way.reach()
            op, fields, body = self._opening
            self._begun = link.call(op, fields, body)
            link.give_back(fields.get("channel"))
            self._open.append(_Open(link, fields.get("channel")))
            self._begun.add_done_callback(self._open[0].take)
        begun = self._begun
        assert begun is not None
        try:
            yield begun
        except StaticError:
            del self._open[:]
            raise
        # Those who wait hear of the answer before its callbacks do.
        self._open[0].take(begun)
        self._is_open = True

    def next(self) -> Steps[Optional[Item]]:
        """The next item, or None at the end."""
        self._pace.asked()
        while not self._ended:
            ready = self._open[0].ahead.take() if self._open and self._asked is None else None
            if ready is not None:
                self._open[0].shown = ready.place.item
                if self._was_given(ready):
                    continue
                self._pace.given()
                return ready
            try:
                yield from self.open()
                if self._ended:
                    break
                [opened] = self._open
                assert opened.number is not None
                if self._asked is None:
                    count = self._pace.wanted if self._opening[0] == "read" and not self._is_manual else None
                    self._asked = opened.link.call("next", {"stream": opened.number, "count": count})
                    if count is not None:
                        # When the one who asked was interrupted, nobody else would look after them.
                        self._asked.add_done_callback(opened.arrived)
                # Only an interrupt leaves the question as it is.
                frame: Frame = yield self._asked
            except StaticError as error:
                self._asked = None
                if self.agent.way.goes_on(error) and self._opening[0] != "requestAll":
                    del self._open[:]
                    self._is_open = False
                    continue
                self._ended = True
                if self.agent.way.is_over(error):
                    return None
                if self._open and self._open[0].number is not None:
                    # Its messages at the host are for others.
                    self._open[0].link.tell("end", {"stream": self._open[0].number})
                raise
            answer = frame.header["ok"]
            # A loop over messages that was ended meanwhile shows no more: what came comes again.
            if answer.get("done") or (self._ended and self._opening[0] == "read"):
                self._ended = True
                return None
            if "items" in answer:
                opened.put(frame)
                self._asked = None
                continue
            item = Item(Place(opened.link, opened.number, answer["item"]), answer, frame.body)
            was_given = self._was_given(item)
            opened.shown = item.place.item
            self._asked = None
            if not was_given:
                self._pace.given()
                return item
        return None

    def ack(self, item: Item) -> Steps[None]:
        """Acknowledging twice is no mistake. Raises when the host has gone meanwhile: then the
        message comes again.
        """
        known = self._given.pop(_key(item), None)
        if known is not None:
            yield from known.ask("ack")

    def end(self, *, finish: bool) -> Steps[None]:
        """Ends it; with ``finish`` the last item counts as done with."""
        was_ended, self._ended = self._ended, True
        if was_ended or not self._open:
            return
        [opened] = self._open
        self._finalizer.detach()
        opened.ahead.give_back(wait=True)
        if opened.number is None:
            opened.abandon()
            return
        try:
            # Messages that are on their way are not done with.
            upto = {"item": opened.shown} if finish else {}
            yield from ask(opened.link, "finish" if finish else "end", {"stream": opened.number, **upto})
        except StaticError as error:
            if not self.agent.way.is_over(error) and not self.agent.way.goes_on(error):
                raise

    def _was_given(self, item: Item) -> bool:
        """By the host before this one."""
        if self._opening[0] != "read" or not (self._is_manual or self.agent.way.is_shared):
            return False
        key, link = _key(item), item.place.link
        if not self._is_manual:
            return self._recent.is_again(key, link)
        known = self._given.get(key)
        self._given[key] = item.place
        return known is not None and known.link is not link


class _Open:
    """A stream at one host. One that is left before its number is known is ended when it is:
    nothing stays open there.
    """

    def __init__(self, link: Link, channel: object) -> None:
        self.link = link
        self.number: Optional[int] = None
        #: The number of the last item that the program was shown.
        self.shown = 0
        self.ahead: Ahead[Item] = Ahead(link, channel)
        self._abandoned = False

    def take(self, opening: "Future[Frame]") -> None:
        """On the thread that reads. Either it sees that the stream was left, or the other side sees
        the number; or both.
        """
        if opening.exception() is None and "ok" in opening.result().header:
            self.number = opening.result().header["ok"]["stream"]
            if self._abandoned:
                self.abandon()

    def arrived(self, asked: "Future[Frame]") -> None:
        """On the thread that reads."""
        if asked.exception() is None and "items" in asked.result().header.get("ok", {}):
            self.put(asked.result())

    def put(self, frame: Frame) -> None:
        """Several items that came together."""
        several = frame.header["ok"]["items"]
        if several[-1]["item"] <= self.ahead.last:
            return
        assert self.number is not None
        items, at = [], 0
        for fields in several:
            end = at + fields["length"]
            items.append((fields["item"], Item(Place(self.link, self.number, fields["item"]), fields, frame.body[at:end])))
            at = end
        self.ahead.put(self.number, items)

    def abandon(self) -> None:
        self._abandoned = True
        self.ahead.give_back()
        if self.number is not None:
            self.link.tell("end", {"stream": self.number})


def _abandon(opened: List[_Open]) -> None:
    """A loop was left: what it was given last comes to the next one."""
    for each in opened:
        each.abandon()


def _key(item: Item) -> Tuple[str, str]:
    envelope = item.fields["envelope"]
    return envelope["sender"]["agentId"], envelope["id"]
