"""Messages that go as one."""

from __future__ import annotations

import unittest

from static_sdk.errors import StaticError
from static_sdk.groups import Group, check_sent


class Groups(unittest.TestCase):
    def test_grows(self) -> None:
        """a group takes messages until it is written or full, and stays as it was then"""
        group = Group("a/b/c", is_named=True)
        self.assertTrue(group.add({"channel": "a/b/c", "message": "one", "to": None}, b"1"))
        self.assertTrue(group.add({"channel": "a/b/c", "message": "two", "to": None}, b"22"))
        op, fields, body = group.close()
        self.assertEqual((op, fields["channel"], body), ("sendAll", "a/b/c", b"122"))
        self.assertEqual(fields["messages"], [{"message": "one", "length": 1}, {"message": "two", "length": 2}])
        self.assertEqual(len(fields["bundle"]), 22)
        self.assertFalse(group.add({}, b"3"))
        self.assertEqual(group.close(), (op, fields, body))

    def test_bounds(self) -> None:
        """64 messages and 14,000 bytes at most, and a large one alone"""
        group = Group("a/b/c", is_named=False)
        added = [group.add({}, b"x") for _ in range(65)]
        self.assertEqual((added.count(True), added[-1], len(group)), (64, False, 64))
        self.assertIsNone(group.close()[1]["bundle"])
        group = Group("a/b/c", is_named=False)
        self.assertEqual([group.add({}, bytes(1024)) for _ in range(12)].count(True), 11)
        group = Group("a/b/c", is_named=True)
        self.assertTrue(group.add({"message": "large"}, bytes(500_000)))
        self.assertFalse(group.add({}, b"x"))
        self.assertEqual(group.close(), ("send", {"channel": "a/b/c", "message": "large"}, bytes(500_000)))

    def test_errors(self) -> None:
        """the first error of those that were sent together is raised"""
        check_sent({"id": "one", "accepted": True})
        check_sent({"sent": [{"id": "one", "accepted": True}]})
        failed = {"class": "ChannelError", "code": "payload_too_large", "message": "too large"}
        with self.assertRaisesRegex(StaticError, "too large"):
            check_sent({"sent": [{"id": "one", "accepted": True}, {"error": failed}]})
