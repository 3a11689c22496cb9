"""The interface's "Client library surface (Python)", row by row, against a real API and a real
relay.
"""

import inspect
import os
import threading
import time
from typing import Any, Callable, List

from place import API_KEY, CA_FILE, ENDPOINT, SPENT_KEY, PairCase, channel_name, until
from static_sdk import (
    AuthError,
    Channel,
    ChannelError,
    ChannelManager,
    MlsError,
    QuotaExceededError,
    StaticClient,
    StaticError,
    TransportError,
)

SECONDS = 30.0


def returned(act: Callable[..., Any], *args: Any) -> Any:
    """The result of a call that is declared to return nothing."""
    return act(*args)


class Constructor(PairCase):
    def test_parameters(self) -> None:
        """StaticClient: endpoint, data_dir and identity are required; api_key and api_url are
        optional
        """
        for kind in (StaticClient, ChannelManager):
            given = list(inspect.signature(kind).parameters.values())[:5]
            self.assertEqual([each.name for each in given], ["endpoint", "data_dir", "identity", "api_key", "api_url"])
            self.assertEqual([each.default is inspect.Parameter.empty for each in given], [True, True, True, False, False])

    def test_exchange(self) -> None:
        """StaticClient: api_key is exchanged for a JWT via POST /v1/tokens at creation"""
        self.assertIn(self.alice.client.transport, ("quic", "grpc", "cells"))
        # A key that the API does not know is refused at creation, so it was asked there.
        with self.assertRaises(AuthError) as caught:
            self.start(StaticClient, "eve", api_key="sk_live_" + "x" * 32)
        self.assertEqual(caught.exception.code, "auth_key_invalid")
        self.assertTrue(str(caught.exception).startswith("auth error:"))

    def test_key_needs_url(self) -> None:
        """StaticClient: api_url is required when api_key is set"""
        with self.assertRaisesRegex(RuntimeError, "^runtime error: Cannot use api_key without api_url"):
            StaticClient(ENDPOINT, self.folder, b"alice", API_KEY, ca_file=CA_FILE)

    def test_without_key(self) -> None:
        """StaticClient: without a key what is local works, and the rest is auth_failed"""
        client = self.start(StaticClient, "alice", api_key=None, api_url=None)
        self.assertGreater(len(client.generate_key_package()), 100)
        with self.assertRaises(AuthError) as caught:
            client.create_channel(channel_name())
        self.assertEqual(caught.exception.code, "auth_failed")
        self.assertNotRegex(str(caught.exception), "apiKey|apiUrl")

    def test_token(self) -> None:
        """StaticClient: a function may give the token, and its failure is told"""
        asked = []

        def token() -> str:
            asked.append(threading.current_thread())
            raise ValueError("no token today")

        with self.assertRaises(AuthError) as caught:
            self.start(StaticClient, "alice", api_key=None, api_url=None, token=token)
        self.assertIn("no token today", str(caught.exception))
        self.assertTrue(asked)


class Client(PairCase):
    def setUp(self) -> None:
        super().setUp()
        self.client = self.alice.client

    def test_create_channel(self) -> None:
        """create_channel(name) returns a Channel; RuntimeError on an invalid name"""
        name = channel_name()
        channel = self.client.create_channel(name)
        self.assertIsInstance(channel, Channel)
        self.assertEqual(channel.name, name)
        self.assertIn(name, self.client.channels)
        self.assertRegex(channel.fingerprint(), r"^(\d{5} ){7}\d{5}$")
        for wrong in ("acme/ops", "Acme/ops/x", "a/b/c/d", "", "acme/ops/" + "é"):
            with self.assertRaises(ChannelError) as caught:
                self.client.create_channel(wrong)
            self.assertIsInstance(caught.exception, RuntimeError)
            self.assertEqual(caught.exception.code, "channel_error")
            self.assertTrue(str(caught.exception).startswith("invalid channel name:"), str(caught.exception))
        with self.assertRaises(ChannelError) as caught_taken:
            self.client.create_channel(name)
        self.assertEqual((caught_taken.exception.code, caught_taken.exception.channel), ("name_taken", name))

    def test_key_package_and_welcome(self) -> None:
        """generate_key_package() returns bytes; Channel.add_member(bytes) returns the Welcome;
        join_channel(name, welcome) a Channel
        """
        bob = self.bob.client
        name = channel_name()
        channel = self.client.create_channel(name)
        package = bob.generate_key_package()
        self.assertIs(type(package), bytes)
        welcome = channel.add_member(package)
        self.assertIs(type(welcome), bytes)
        joined = bob.join_channel(name, welcome)
        self.assertIsInstance(joined, Channel)
        self.assertEqual(joined.fingerprint(), channel.fingerprint())
        self.assertEqual([each.identity for each in channel.members()], [b"alice", b"bob"])
        channel.send(b"welcome")
        self.assertEqual(next(joined.messages()), b"welcome")

    def test_join_fails(self) -> None:
        """join_channel: RuntimeError on an invalid Welcome"""
        with self.assertRaises(MlsError) as caught:
            self.client.join_channel(channel_name(), b"x" * 100)
        self.assertIsInstance(caught.exception, RuntimeError)
        self.assertEqual(caught.exception.code, "mls_error")
        self.assertTrue(str(caught.exception).startswith("MLS engine error:"))

    def test_add_member_fails(self) -> None:
        """Channel.add_member: what is no KeyPackage is an MLS engine error"""
        channel = self.client.create_channel(channel_name())
        with self.assertRaisesRegex(RuntimeError, "^MLS engine error:"):
            channel.add_member(b"x" * 100)


class Talking(PairCase):
    def test_send_and_messages(self) -> None:
        """Channel.send(bytes) returns nothing, Channel.messages() yields bytes; both at once from
        different threads, and after
        """
        one, other = self.channels()
        count = 100
        texts = [b"%d %s" % (i, bytes(i)) for i in range(count)]
        failures = []

        def send() -> None:
            try:
                for text in texts:
                    self.assertIsNone(returned(one.send, text))
            except BaseException as error:
                failures.append(error)

        sender = threading.Thread(target=send)
        sender.start()
        other.send(b"at the same time")
        got = [payload for _, payload in zip(texts, other.messages())]
        sender.join()
        self.assertEqual((failures, got), ([], texts))
        self.assertTrue(all(type(each) is bytes for each in got))
        self.assertEqual(one.receive(SECONDS), b"at the same time")
        # The channel stays usable after messages() was called; the loop's last message was not
        # asked past, so it comes again.
        one.send(b"once more")
        self.assertEqual([other.receive(SECONDS), other.receive(SECONDS)], [texts[-1], b"once more"])

    def test_iterator_blocks(self) -> None:
        """Channel.messages() is an iterator that blocks, and ends quietly when the client is closed"""
        bob = self.start(ChannelManager, "bob")
        name = self.meet(self.alice, bob)
        loop = bob.channel(name).messages()
        self.assertIs(iter(loop), loop)
        got: List[bytes] = []
        ended = threading.Event()

        def read() -> None:
            got.extend(loop)
            ended.set()

        threading.Thread(target=read).start()
        self.assertFalse(ended.wait(0.1))
        self.alice.send(name, b"now")
        until("the message", lambda: got)
        bob.close()
        self.assertTrue(ended.wait(SECONDS))
        self.assertEqual(got, [b"now"])

    def test_quota(self) -> None:
        """QuotaExceededError, quota_exceeded: the plan's message limit is reached"""
        client = self.start(StaticClient, "poor", api_key=SPENT_KEY)
        channel = client.create_channel(channel_name())
        with self.assertRaises(QuotaExceededError) as caught:
            channel.send(b"one too many")
        self.assertEqual(caught.exception.code, "quota_exceeded")


class Manager(PairCase):
    def test_manager(self) -> None:
        """ChannelManager: create, invite returns a token, join_with_token(name, token, timeout),
        receive(name, timeout), close()
        """
        alice, bob = self.alice, self.bob
        name = channel_name()
        self.assertIsInstance(alice.create(name), Channel)
        token = alice.invite(name, expires_in=60, uses=1)
        self.assertRegex(token, r"^inv_\S+$")
        [invite] = alice.invites(name)
        self.assertEqual((invite.channel, invite.uses, invite.used), (name, 1, 0))
        self.assertAlmostEqual(invite.expires_at, time.time() + 60, delta=30)
        self.assertIsInstance(bob.join_with_token(name, token, 30), Channel)
        alice.send(name, b"hello")
        self.assertEqual(bob.receive(name, SECONDS), b"hello")
        begun = time.monotonic()
        self.assertIsNone(bob.receive(name, timeout=0.2))
        self.assertGreaterEqual(time.monotonic() - begun, 0.15)
        alice.send(name, b"with its sender")
        envelope = next(bob.receive_envelopes(name))
        self.assertEqual((envelope.payload, envelope.identity), (b"with its sender", b"alice"))
        self.assertEqual(envelope.sender, alice.agent_id)
        self.assertAlmostEqual(envelope.time, time.time(), delta=30)
        self.assertEqual(bob.health(name).state, "ok")

    def test_default_timeout(self) -> None:
        """join_with_token: its default timeout is 60 seconds"""
        self.assertEqual(inspect.signature(ChannelManager.join_with_token).parameters["timeout"].default, 60)

    def test_join_timeout(self) -> None:
        """TransportError, join_timeout: the owner does not run; close() ends everything, and
        closing again is no mistake
        """
        alice, bob = self.start(ChannelManager, "carol"), self.bob
        name = channel_name()
        alice.create(name)
        token = alice.invite(name)
        alice.close()
        alice.close()
        with self.assertRaisesRegex(TransportError, "closed"):
            alice.send(name, b"too late")
        with self.assertRaises(TransportError) as caught:
            bob.join_with_token(name, token, timeout=0.5)
        self.assertEqual(caught.exception.code, "join_timeout")
        self.assertTrue(str(caught.exception).startswith("transport error:"))

    def test_join_or_open(self) -> None:
        """join_or_open: joins, and opens from then on; wait_for_member: the next one that comes,
        who can be asked, and one by its id
        """
        alice, bob = self.alice, self.bob
        name = channel_name()
        room = alice.create(name)
        token = alice.invite(name)
        joined = bob.join_or_open(name, token)
        member = room.wait_for_member(timeout=60)
        assert member is not None
        self.assertEqual(member.agent_id, bob.agent_id)
        with joined.serve(lambda request: b"here"):
            self.assertEqual(room.request(b"?", to=member, timeout=60).payload, b"here")
        self.assertEqual(bob.join_or_open(name, token).id, room.id)
        again = room.wait_for_member(bob.agent_id)
        self.assertEqual(again and again.agent_id, bob.agent_id)
        self.assertIsNone(room.wait_for_member(timeout=0.01))

    def test_revoked(self) -> None:
        """revoke_invite: the token lets nobody in"""
        alice, bob = self.alice, self.bob
        name = channel_name()
        alice.create(name)
        token = alice.invite(name)
        alice.revoke_invite(token)
        alice.invite(name)
        alice.revoke_invite_by_id(alice.invites()[0])
        self.assertEqual(alice.invites(), [])
        with self.assertRaises(StaticError) as caught:
            bob.join_with_token(name, token, timeout=5)
        self.assertIn(caught.exception.code, ("join_rejected", "not_found"))


class Errors(PairCase):
    def test_unreachable(self) -> None:
        """TransportError, connection_error: the relay is unreachable"""
        with self.assertRaises(TransportError) as caught:
            self.start(StaticClient, "alice", endpoint="grpc://localhost:1")
        self.assertIn(caught.exception.code, ("connection_error", "transport_error"))
        self.assertTrue(str(caught.exception).startswith("transport error:"))

    def test_listener_died(self) -> None:
        """TransportError, listener_died: kill -9 of the driver ends receive() and
        receive_envelopes() at once, and closing and making another recovers
        """
        alice, bob = self.alice, self.start(ChannelManager, "mallory")
        name = self.meet(alice, bob)
        caught = []

        def wait_in(act: Callable[[], Any]) -> None:
            try:
                act()
            except StaticError as error:
                caught.append(error)

        loop = bob.receive_envelopes(name)
        threads = [threading.Thread(target=wait_in, args=(act,)) for act in (lambda: bob.receive(name), lambda: next(loop))]
        for thread in threads:
            thread.start()
        until("both to wait", lambda: len(bob._agent.driver._calls) == 2)
        os.kill(bob._agent.driver.pid, 9)
        for thread in threads:
            thread.join(SECONDS)
        self.assertEqual([(type(each), each.code) for each in caught], [(TransportError, "listener_died")] * 2)
        self.assertIn("signal 9", str(caught[0]))
        with self.assertRaises(TransportError):
            bob.send(name, b"later")
        bob.close()
        alice.send(name, b"welcome back")
        again = self.start(ChannelManager, "mallory")
        self.assertEqual(again.receive(name, SECONDS), b"welcome back")


