"""Requests, acknowledgement by hand, events and what messages say, blocking and with asyncio."""

import asyncio
import json
import os
import threading
import time
from typing import Any, List
from unittest import mock

from place import IN_CAMPAIGN, PairCase, StackCase, channel_name, service, until
from static_sdk import ChannelManager, Json, RemoteError, RemovedError, Request, StaticError, aio

SECONDS = 30.0


class Talking(PairCase):
    def test_content(self) -> None:
        """what a message says about itself arrives, and what is for others is not shown"""
        one, other = self.channels()
        one.send(b"not for bob", to=self.alice.agent_id)
        one.send(Json({"n": 1}), to=self.bob.agent_id, conversation="c", headers={"a": "b"}, expires_in=60)
        one.send(bytearray(b"raw"), content_type="text/plain")
        first = other.receive_envelope(SECONDS)
        assert first is not None
        self.assertEqual((first.json(), first.content_type, first.conversation), ({"n": 1}, "application/json", "c"))
        self.assertEqual((first.headers, first.to, first.identity), ({"a": "b"}, (self.bob.agent_id,), b"alice"))
        assert first.expires_at is not None
        self.assertAlmostEqual(first.expires_at, time.time() + 60, delta=30)
        second = other.receive_envelope(SECONDS)
        assert second is not None
        self.assertEqual((second.text(), second.content_type, second.to), ("raw", "text/plain", None))
        one.send(b"\xff", reply_to=second.id)
        third = other.receive_envelope(SECONDS)
        assert third is not None
        self.assertEqual(third.reply_to, second.id)
        for read in (third.text, third.json):
            with self.assertRaises(StaticError) as caught:
                read()
            self.assertEqual(caught.exception.code, "content_invalid")

    def test_known(self) -> None:
        """a name that the user gave an agent is shown and is an address; one that an agent chose
        itself is refused
        """
        os.makedirs(f"{self.folder}/static")
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": self.folder}):
            dave = self.start(ChannelManager, "dave")
        name = self.meet(self.alice, dave)
        one, other = self.alice.channel(name), dave.channel(name)
        with self.assertRaisesRegex(StaticError, f"{self.alice.agent_id} calls itself so, which proves nothing: use an agent id"):
            other.send(b"x", to="alice")
        with open(f"{self.folder}/static/trust.json", "w", encoding="utf-8") as file:
            json.dump({"names": {self.alice.agent_id: "Alice's laptop"}}, file)
        self.assertEqual(other.number_of(self.alice.agent_id), self.alice.client.number())
        until("the name is read", lambda: [each.known_as for each in other.members()] == ["Alice's laptop", None])
        one.send(b"hello")
        heard = other.receive_envelope(SECONDS)
        assert heard is not None
        self.assertEqual((heard.known_as, heard.key_unchanged, heard.identity), ("Alice's laptop", True, b"alice"))
        other.send(b"hello", to="Alice's laptop")
        answer = one.receive_envelope(SECONDS)
        assert answer is not None
        self.assertEqual((answer.to, answer.known_as), ((self.alice.agent_id,), None))

    def test_manual(self) -> None:
        """with ack="manual" only what was acknowledged is done with"""
        one, _ = self.channels()
        carol = self.start(ChannelManager, "carol")
        carol.join_with_token(one.name, self.alice.invite(one.name))
        one.send_many([b"one", b"two", b"three"])
        loop = carol.channel(one.name).envelopes(ack="manual")
        got = [next(loop) for _ in range(3)]
        self.assertEqual([each.payload for each in got], [b"one", b"two", b"three"])
        got[2].ack()
        got[0].ack()
        carol.close()
        again = self.start(ChannelManager, "carol")
        self.assertEqual(again.receive(one.name, SECONDS), b"two")
        self.assertIsNone(again.receive(one.name, 0.2))

    def test_loops(self) -> None:
        """the last message of a loop that is left comes to the next one; finish() acknowledges it"""
        one, other = self.channels()
        one.send_many([b"1", b"2", b"3"])
        for payload in other.messages():
            if payload == b"2":
                break
        with other.messages() as loop:
            self.assertEqual(next(loop), b"2")
        loop = other.messages()
        self.assertEqual(next(loop), b"2")
        loop.finish()
        with self.assertRaises(StopIteration):
            next(loop)
        self.assertEqual(other.receive(SECONDS), b"3")

    def test_receive_and_loop(self) -> None:
        """receive() holds up no loop, and what a loop is done with does not come to receive()"""
        one, other = self.channels()
        one.send(b"0")
        self.assertEqual(other.receive(SECONDS), b"0")
        one.send_many(b"%d" % i for i in range(1, 51))
        loop = other.messages()
        got: List[bytes] = []
        while got[-1:] != [b"50"]:
            got.append(next(loop))
        self.assertEqual(got[:2], [b"0", b"1"])
        loop.finish()
        until("all to be done with", lambda: other.health().unread == 0)
        self.assertIsNone(other.receive(0.1))
        one.send(b"next")
        self.assertEqual(other.receive(SECONDS), b"next")

    def test_requests(self) -> None:
        """request() returns the reply, RemoteError what the handler raised, request_all() one
        answer each
        """
        one, other = self.channels()
        seen = []

        def handle(request: Request) -> Any:
            seen.append((request.attempt, request.identity, request.over))
            if request.payload == b"fail":
                raise RemoteError("as asked", remote_code="asked", retryable=True, retry_after=2.0)
            if request.payload == b"break":
                raise ValueError("secret words")
            return Json({"echo": request.text()})

        to = self.bob.agent_id
        with other.serve(handle, concurrency=4):
            self.assertEqual(one.request(b"hello", to=to, timeout=SECONDS).json(), {"echo": "hello"})
            with self.assertRaises(RemoteError) as caught:
                one.request(b"fail", to=to, timeout=SECONDS)
            error = caught.exception
            self.assertEqual((error.remote_code, error.message, error.retry_after), ("asked", "as asked", 2.0))
            with self.assertRaises(RemoteError) as broken:
                one.request(b"break", to=to, timeout=SECONDS)
            self.assertNotIn("secret", str(broken.exception))
            answers = list(one.request_all(b"all", to=[to], timeout=SECONDS))
            self.assertEqual([(each.sender, each.error) for each in answers], [(to, None)])
        self.assertEqual(seen[0], (1, b"alice", False))
        with self.assertRaises(StaticError) as late:
            one.request(b"nobody", to=to, timeout=0.3)
        self.assertEqual(late.exception.code, "request_timeout")
        with self.assertRaises(StaticError) as wrong:
            other.serve(handle, concurrency=0)
        self.assertEqual(wrong.exception.code, "invalid_request")

    def test_over(self) -> None:
        """a request that nobody waits for any more says so to its handler"""
        one, other = self.channels()
        told = threading.Event()

        def handle(request: Request) -> bytes:
            until("the deadline", lambda: request.over)
            told.set()
            return b"too late"

        with other.serve(handle):
            with self.assertRaises(StaticError):
                one.request(b"slow", to=self.bob.agent_id, timeout=0.5)
            self.assertTrue(told.wait(SECONDS))

    def test_events(self) -> None:
        """events come under Python names: a member joins and is removed"""
        one, other = self.channels()
        events = one.events()
        failed: List[StaticError] = []

        def wait() -> None:
            try:
                other.receive(SECONDS)
            except StaticError as error:
                failed.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        until("the call", lambda: len(self.bob._agent.driver._calls) > 0)
        bob = next(each for each in one.members() if each.identity == b"bob")
        one.remove_member(bob)
        event = next(each for each in events if each.type == "member_removed")
        self.assertEqual((event.channel, event.details["member"]["agent_id"]), (one.name, bob.agent_id))
        self.assertEqual(event.details["by"], self.alice.agent_id)
        waiting.join(SECONDS)
        [error] = failed
        assert isinstance(error, RemovedError)
        self.assertEqual((error.code, error.by), ("removed", self.alice.agent_id))

    def test_order(self) -> None:
        """hundreds of messages arrive in order, while one thread sends and one iterates"""
        one, other = self.channels()
        texts = [b"%d" % i for i in range(2000 if IN_CAMPAIGN else 300)]
        sender = threading.Thread(target=lambda: one.send_many(texts))
        sender.start()
        self.assertEqual([payload for _, payload in zip(texts, other.messages())], texts)
        sender.join()


class Asyncio(StackCase):
    def test_aio(self) -> None:
        """static_sdk.aio: the same names with await, async with and async for"""
        asyncio.run(self.converse())

    async def converse(self) -> None:
        name = channel_name()
        options = service()
        async with await aio.ChannelManager.connect(data_dir=f"{self.folder}/a", identity=b"a", **options) as alice:
            async with await aio.ChannelManager.connect(data_dir=f"{self.folder}/b", identity=b"b", **options) as bob:
                one = await alice.create(name)
                other = await bob.join_with_token(name, await alice.invite(name))
                await self.received(one, other)
                await self.looped(one, other)
                handler = self.handle
                async with await other.serve(handler):
                    replies = [one.request(b"%d" % i, to=bob.agent_id, timeout=SECONDS) for i in range(5)]
                    got = [each.payload for each in await asyncio.gather(*replies)]
                    self.assertEqual(got, [b"re: %d" % i for i in range(5)])
                async with one.events() as events:
                    await one.remove_member(bob.agent_id)
                    self.assertEqual(await self.first(events, "member_removed"), name)
                self.assertEqual((await alice.health(name)).state, "ok")
                self.assertEqual([each.identity for each in await one.members()], [b"a"])

    async def handle(self, request: Request) -> bytes:
        await asyncio.sleep(0.01)
        return b"re: " + request.payload

    async def first(self, events: "aio.Loop[Any]", kind: str) -> Any:
        async for event in events:
            if event.type == kind:
                return event.channel

    async def received(self, one: aio.Channel, other: aio.Channel) -> None:
        await one.send(b"hello")
        self.assertEqual(await other.receive(SECONDS), b"hello")
        self.assertIsNone(await other.receive(0.05))
        # An item for a cancelled call goes to the next one.
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(other.receive(), 0.1)
        await one.send(b"after the first")
        self.assertEqual(await other.receive(SECONDS), b"after the first")
        self.assertIsNone(await other.receive(0.05))

    async def looped(self, one: aio.Channel, other: aio.Channel) -> None:
        loop = other.messages()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(loop.__anext__(), 0.1)
        sending = asyncio.ensure_future(one.send_many(b"%d" % i for i in range(100)))
        got = []
        async for payload in loop:
            got.append(payload)
            if len(got) == 100:
                break
        await sending
        self.assertEqual(got, [b"%d" % i for i in range(100)])
        await loop.finish()
