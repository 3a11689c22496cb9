"""Ctrl-C during every call that waits."""

import gc
import os
import signal
import threading
import time
from typing import Any, Callable

from place import PairCase, alive, channel_name, until
from static_sdk import StaticClient, TransportError
from static_sdk.frame_connection import _live as live

SECONDS = 30.0


class Interrupts(PairCase):
    def interrupt(self, act: Callable[[], Any], after: float = 0.15) -> None:
        """A Ctrl-C comes while this waits."""
        timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            act()
            time.sleep(5)  # the signal is on its way
        timer.join()

    def test_waiting(self) -> None:
        """Ctrl-C ends receive, a loop, events, request and join_with_token; what comes later goes
        to the next call
        """
        one, other = self.channels()
        self.interrupt(other.receive)
        one.send(b"first")
        self.assertEqual(other.receive(SECONDS), b"first")
        self.assertIsNone(other.receive(0.05))
        loop = other.messages()
        self.interrupt(lambda: next(loop))
        one.send(b"second")
        self.assertEqual(next(loop), b"second")
        events = one.events()
        self.interrupt(lambda: [each for each in events])
        self.interrupt(lambda: one.request(b"?", to=self.bob.agent_id))
        third = self.alice.create(channel_name())
        token = self.alice.invite(third.name)
        owner = self.alice._agent.driver.pid
        os.kill(owner, signal.SIGSTOP)
        self.interrupt(lambda: self.bob.join_with_token(third.name, token))
        os.kill(owner, signal.SIGCONT)
        one.send(b"third")
        self.assertEqual(next(loop), b"third")

    def test_connecting(self) -> None:
        """Ctrl-C ends StaticClient(...), and no driver is left"""
        before = set(live)
        self.interrupt(lambda: self.start(StaticClient, "carol"), after=0.1)
        until("the driver to go", lambda: set(live) == before)

    def test_closing(self) -> None:
        """Ctrl-C ends close(); closing again waits until the driver has gone, and calls say that it
        is closed
        """
        client = self.start(StaticClient, "carol")
        channel = client.create_channel(channel_name())
        pid = client._agent.driver.pid
        os.kill(pid, signal.SIGSTOP)
        self.interrupt(client.close)
        self.assertTrue(alive(pid))
        with self.assertRaisesRegex(TransportError, "closed"):
            channel.send(b"x")
        os.kill(pid, signal.SIGCONT)
        client.close()
        self.assertFalse(alive(pid))

    def test_opening(self) -> None:
        """a loop that is interrupted while it opens and then left holds nothing back: no reader
        stays in the driver
        """
        one, other = self.channels()
        pid = self.bob._agent.driver.pid
        loop = other.messages()
        os.kill(pid, signal.SIGSTOP)
        self.interrupt(lambda: next(loop))
        loop.close()
        left = other.messages()
        self.interrupt(lambda: next(left))
        del left
        gc.collect()
        os.kill(pid, signal.SIGCONT)
        one.send(b"to be done with")
        self.assertEqual(other.receive(SECONDS), b"to be done with")
        self.assertIsNone(other.receive(0.05))
        until("it to be done with", lambda: other.health().unread == 0)

    def test_sending(self) -> None:
        """Ctrl-C in the middle of large frames breaks none"""
        one, other = self.channels()
        large = bytes(500_000)
        self.interrupt(lambda: one.send_many(large for _ in range(1000)), after=0.3)
        one.send(b"the last")
        loop = other.messages()
        until("the last message", lambda: next(loop) == b"the last")
        loop.finish()
