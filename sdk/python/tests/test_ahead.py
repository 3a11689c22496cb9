"""Messages that came with another one."""

from __future__ import annotations

import unittest
from typing import Any, Dict, List, Mapping, Tuple
from unittest import mock

from static_sdk.ahead import Ahead, Pace


class Told:
    """The other side: hears how far the program is."""

    def __init__(self) -> None:
        self.holding: Dict[Any, None] = {}
        self.said: List[Tuple[str, Mapping[str, Any]]] = []

    def tell(self, op: str, fields: Mapping[str, Any]) -> None:
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
        """a loop gets several messages only after it was quick for a while, and one again once it is slow"""
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
        """messages come in order, and the other side is told while they last, not for each"""
        self.ahead.put(7, [(1, "one"), (2, "two"), (3, "three")])
        self.assertEqual(self.ahead.take(), "one")
        self.now += 0.06
        self.assertEqual([self.ahead.take(), self.ahead.take(), self.ahead.take()], ["two", "three", None])
        self.assertEqual(self.link.said, [("passed", {"stream": 7, "item": 1})])
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
