"""Messages that came with another one, and that the program has not seen."""

from __future__ import annotations

import socket
import threading
import unittest
from typing import Any, Callable, Dict, List, Mapping, Tuple
from unittest import mock

from static_sdk.agent import Agent
from static_sdk.prefetch import Ahead, Pace
from static_sdk.frames import Frame, FrameReader, encode_frame
from static_sdk.hosts import HostLink
from static_sdk.coroutines import run
from static_sdk.streams import Stream, _Open
from static_sdk.transport import Way

SECONDS = 60.0


class Told:
    """The other side: hears how far the program is."""

    def __init__(self) -> None:
        self.holding: Dict[Any, None] = {}
        self.said: List[Tuple[str, Mapping[str, Any]]] = []
        self.on_tell: Callable[[], None] = lambda: None

    def hold(self, holder: Any) -> None:
        self.holding[holder] = None

    def tell(self, op: str, fields: Mapping[str, Any]) -> None:
        self.on_tell()
        self.said.append((op, fields))


class Aheads(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 100.0
        clock = mock.patch("time.monotonic", lambda: self.now)
        clock.start()
        self.addCleanup(clock.stop)
        self.link: Any = Told()
        self.ahead: Ahead[str] = Ahead(self.link, "a/b/c")

    def test_pace(self) -> None:
        """a loop gets several messages only after it was quick for a while, and one again once it
        is slow
        """
        pace = Pace()
        wanted = []
        for _ in range(20):
            pace.asked()
            wanted.append(pace.wanted)
            pace.given()
        self.assertEqual((wanted[0], wanted[-1]), (None, 64))
        self.now += 1
        pace.asked()
        self.assertIsNone(pace.wanted)

    def test_order(self) -> None:
        """messages come in order, once, and a quick loop tells the other side with its next
        question alone
        """
        for _ in range(2):
            self.ahead.put(7, [(1, "one"), (2, "two"), (3, "three")])
        self.assertEqual([self.ahead.take() for _ in range(4)], ["one", "two", "three", None])
        self.ahead.put(7, [(2, "two"), (3, "three")])
        self.assertEqual((self.ahead.take(), self.link.said), (None, []))

    def test_late(self) -> None:
        """a loop that was slow gets no more of them: they come again"""
        self.ahead.put(7, [(1, "one"), (2, "two"), (3, "three")])
        self.assertEqual(self.ahead.take(), "one")
        self.now += 0.03
        self.assertEqual(self.ahead.take(), "two")
        self.now += 0.03
        self.assertIsNone(self.ahead.take())
        self.assertEqual(self.link.said, [("passed", {"stream": 7, "item": 1, "back": 3})])
        self.assertEqual(self.link.holding, {})

    def test_back(self) -> None:
        """what the program has not seen goes back, once, and what it works on is not called done"""
        self.ahead.put(7, [(11, "one"), (12, "two"), (13, "three"), (14, "four")])
        self.ahead.take()
        self.ahead.take()
        for each in list(self.link.holding):
            each.give_back()
        self.ahead.give_back()
        self.assertEqual(self.link.said, [("passed", {"stream": 7, "item": 11, "back": 13})])
        self.assertEqual((self.ahead.take(), self.link.holding), (None, {}))

    def test_unseen(self) -> None:
        """messages that came when nobody asked any more all go back"""
        self.ahead.put(7, [(11, "one"), (12, "two")])
        self.ahead.give_back()
        self.assertEqual(self.link.said, [("passed", {"stream": 7, "item": 10, "back": 11})])

    def test_race(self) -> None:
        """a loop in another thread asks no question before the other side has heard what comes
        back: it would acknowledge it
        """
        said_before_none = []

        def take() -> None:
            if self.ahead.take() is None:
                said_before_none.append(len(self.link.said))

        taker = threading.Thread(target=take)

        def begin() -> None:
            taker.start()
            taker.join(0.05)  # wait: it must not go on, so there is nothing to wait for

        self.link.on_tell = begin
        self.ahead.put(7, [(1, "one"), (2, "two")])
        self.ahead.give_back()
        taker.join(SECONDS)
        self.assertEqual(said_before_none, [1])


class Host:
    """A host that the test plays."""

    def __init__(self, case: unittest.TestCase) -> None:
        self._end, theirs = socket.socketpair()
        self._end.settimeout(SECONDS)
        self._reader = FrameReader()
        self._frames: List[Frame] = []
        self.link = HostLink(theirs)
        case.addCleanup(self._end.close)
        case.addCleanup(self.link.kill)

    def hear(self) -> Dict[str, Any]:
        """The next call."""
        while not self._frames:
            self._frames.extend(self._reader.push(self._end.recv(65536)))
        return self._frames.pop(0).header

    def answer(self, call: Mapping[str, Any], ok: Mapping[str, Any], body: bytes = b"") -> None:
        self._end.sendall(encode_frame({"id": call["id"], "ok": ok}, body))


def envelope(item: int) -> Dict[str, Any]:
    return {"id": f"m{item}", "sender": {"agentId": "a"}}


def one(item: int) -> Dict[str, Any]:
    return {"item": item, "envelope": envelope(item)}


class Loops(unittest.TestCase):
    """A loop that is always quick, and whose time is over when the test says so."""

    def setUp(self) -> None:
        for name, value in (("Pace.wanted", 64), ("_HOLD_SECONDS", 3600.0)):
            patch = mock.patch(f"static_sdk.prefetch.{name}", value)
            patch.start()
            self.addCleanup(patch.stop)
        self.host = Host(self)
        self.stream = Stream(Agent(Way(self.host.link), "", ""), "read", {"channel": "a/b/c"})
        self.answered({"stream": 7}, self.stream.open())

    def answered(self, ok: Mapping[str, Any], steps: Any, body: bytes = b"") -> Any:
        """The result of steps that ask one thing."""
        results: List[Any] = []
        asker = threading.Thread(target=lambda: results.append(run(steps)))
        asker.start()
        self.asked = self.host.hear()
        self.host.answer(self.asked, ok, body)
        asker.join(SECONDS)
        return results[0]

    def end_time(self) -> None:
        """The time of the messages that it has is over."""
        self.stream._open[0].ahead.until = 0.0
        self.host.link._outgoing.put(b"")

    def several(self, first: int, last: int) -> Dict[str, Any]:
        return {"items": [{**one(item), "length": 1} for item in range(first, last + 1)]}

    def test_stops(self) -> None:
        """a loop that stops at a message tells in a moment how far it is, and gives back what it
        has not seen; then it goes on
        """
        self.assertEqual(self.answered(self.several(1, 4), self.stream.next(), b"abcd").body, b"a")
        second: Any = run(self.stream.next())
        self.assertEqual(second.body, b"b")
        self.end_time()
        heard = self.host.hear()
        self.assertEqual((heard["op"], heard["stream"], heard["item"], heard["back"]), ("passed", 7, 1, 3))
        self.assertEqual(self.answered(one(5), self.stream.next(), b"c").body, b"c")
        self.assertEqual(self.asked["op"], "next")

    def test_interrupted(self) -> None:
        """messages for a loop whose question was interrupted go back after a moment, and come again
        when it asks
        """
        steps = self.stream.next()
        waiting = next(steps)
        with self.assertRaises(KeyboardInterrupt):
            steps.throw(KeyboardInterrupt())
        with mock.patch("static_sdk.prefetch._HOLD_SECONDS", 0.05):
            self.host.answer(self.host.hear(), self.several(1, 3), b"abc")
            heard = self.host.hear()
        self.assertEqual((heard["op"], heard["item"], heard["back"], waiting.done()), ("passed", 0, 1, True))
        self.assertEqual(self.answered(one(4), self.stream.next(), b"a").body, b"a")

    def test_taking(self) -> None:
        """an interrupt between an answer and its first message loses none of them"""
        steps = self.stream.next()
        waiting = next(steps)
        self.host.answer(self.host.hear(), self.several(1, 2), b"ab")
        answer = waiting.result(SECONDS)
        here, put = threading.get_ident(), _Open.put

        def put_elsewhere(opened: _Open, frame: Frame) -> None:
            if threading.get_ident() == here:
                raise KeyboardInterrupt
            put(opened, frame)

        with mock.patch("static_sdk.streams._Open.put", put_elsewhere):
            with self.assertRaises(KeyboardInterrupt):
                steps.send(answer)
        got: List[Any] = [run(self.stream.next()) for _ in range(2)]
        self.assertEqual([each.body for each in got], [b"a", b"b"])

    def test_finish(self) -> None:
        """finishing a loop that waits in another thread acknowledges what it has shown, and it
        shows no more
        """
        self.answered(one(1), self.stream.next(), b"a")
        results: List[Any] = []
        asker = threading.Thread(target=lambda: results.append(run(self.stream.next())))
        asker.start()
        asked = self.host.hear()
        finisher = threading.Thread(target=lambda: run(self.stream.end(finish=True)))
        finisher.start()
        finish = self.host.hear()
        self.assertEqual((finish["op"], finish["stream"], finish["item"]), ("finish", 7, 1))
        self.host.answer(asked, one(2), b"b")
        self.host.answer(finish, {})
        for each in (asker, finisher):
            each.join(SECONDS)
        self.assertEqual(results, [None])
