"""``host="auto"``: one agent for many programs, and what happens when its host goes."""

import asyncio
import json
import os
import signal
import socket
import struct
import threading
from typing import Dict, Iterator, List
from unittest import mock

from place import API_KEY, IN_CAMPAIGN, HostCase, HostPairCase, PairCase, alive, channel_name, service, until
from programs import line, program
from static_sdk import ChannelError, ChannelManager, InvalidArgumentError, StaticClient, StoreError, TransportError, aio, hosts

SECONDS = 30.0


class Sharing(HostPairCase):
    def test_one_agent(self) -> None:
        """two programs share one agent: the same id, one host, and both work at once; a named
        reader sees every message
        """
        first, other = self.alice, self.open("alice")
        self.assertEqual((first.agent_id, first._agent.driver.pid), (other.agent_id, other._agent.driver.pid))
        bob = self.bob
        name = self.meet(bob, first)
        self.assertIn(name, other.channels)
        self.assertEqual(other.channels, first.channels)
        bob.channel(name).send_many(b"%d" % i for i in range(20))
        with other.channel(name).envelopes(reader="log") as log:
            seen = [envelope.payload for _, envelope in zip(range(20), log)]
        self.assertEqual(seen, [b"%d" % i for i in range(20)])
        got: List[bytes] = []
        while len(got) < 20:
            got.extend(each for each in (first.receive(name, 5), other.receive(name, 0.01)) if each is not None)
        self.assertEqual(sorted(got), sorted(seen))
        other.close()
        bob.send(name, b"the host goes on")
        self.assertEqual(first.receive(name, SECONDS), b"the host goes on")

    def test_exit(self) -> None:
        """a program that ends without close(): its host goes on, and what it had not acknowledged
        comes to the next one
        """
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        code = """
            manager = ChannelManager(data_dir=sys.argv[1], identity=b"bob", host="auto", **service())
            print(manager.receive(sys.argv[2], 30).decode(), flush=True)
        """
        with program(code, f"{self.home}/bob", name) as child:
            alice.send(name, b"hello")
            self.assertEqual(line(child), "hello")
            self.assertEqual(child.wait(SECONDS), 0)
        self.assertTrue(alive(bob._agent.driver.pid))
        self.assertEqual(bob.receive(name, SECONDS), b"hello")

    def test_aio(self) -> None:
        """static_sdk.aio shares the agent too"""
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)

        async def say() -> str:
            options = service(host="auto")
            async with await aio.StaticClient.connect(data_dir=f"{self.home}/bob", identity=b"bob", **options) as client:
                await (await client.channel(name)).send(b"from asyncio")
                return client.agent_id

        self.assertEqual(asyncio.run(say()), bob.agent_id)
        self.assertEqual(alice.receive(name, SECONDS), b"from asyncio")

    def test_secrets(self) -> None:
        """no secret stands in the arguments, the environment or the log of a host"""
        with_passphrase = self.share(StaticClient, "alice", passphrase="correct horse")
        pid = with_passphrase._agent.driver.pid
        for path in (f"/proc/{pid}/cmdline", f"/proc/{pid}/environ", f"{self.folder}/alice/host/log"):
            with open(path, "rb") as file:
                text = file.read()
            for secret in (API_KEY, "correct horse"):
                self.assertNotIn(secret.encode(), text)
        self.assertEqual(os.stat(f"{self.folder}/alice/host").st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(f"{self.folder}/alice/host/socket").st_mode & 0o777, 0o600)


class TakeOver(HostPairCase):
    def test_killed(self) -> None:
        """kill -9 of the host: the next call starts another one; loops and serve() go on, and
        nothing is given twice
        """
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        channel = bob.channel(name)
        loop, got = channel.messages(), []
        serving = channel.serve(lambda request: b"re: " + request.payload)
        alice.send(name, b"0")
        got.append(next(loop))
        kills = 2 if IN_CAMPAIGN else 1
        threads = [threading.Thread(target=lambda: got.extend(payload for _, payload in zip(range(2 * kills), loop)))]
        threads[0].start()
        until("the loop to wait", lambda: len(bob._agent.driver._calls) > 1)
        for number in range(1, 2 * kills, 2):
            alice.send(name, b"%d" % number)
            until("the message", lambda: len(got) > number)
            os.kill(bob._agent.driver.pid, signal.SIGKILL)
            alice.channel(name).send_many([b"%d" % (number + 1)])
        threads[0].join(SECONDS)
        self.assertEqual(got, [b"%d" % number for number in range(2 * kills + 1)])
        self.assertEqual(alice.channel(name).request(b"x", to=bob.agent_id, timeout=SECONDS).payload, b"re: x")
        serving.stop()
        loop.close()

    def test_sending(self) -> None:
        """messages under way when the host is killed arrive once, and in order"""
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        texts = [b"%d" % i for i in range(150)]
        pid = alice._agent.driver.pid

        def payloads() -> Iterator[bytes]:
            for number, text in enumerate(texts):
                if number == 60:
                    os.kill(pid, signal.SIGKILL)
                yield text

        alice.channel(name).send_many(payloads())
        self.assertEqual([payload for _, payload in zip(texts, bob.channel(name).messages())], texts)

    def test_received(self) -> None:
        """what receive() has handed out before the host died does not come again, and unsafe calls
        are told
        """
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        alice.channel(name).send_many([b"a", b"b", b"c"])
        self.assertEqual([bob.receive(name, SECONDS) for _ in range(3)], [b"a", b"b", b"c"])
        os.kill(bob._agent.driver.pid, signal.SIGKILL)
        alice.send(name, b"d")
        self.assertEqual(bob.receive(name, SECONDS), b"d")
        self.assertIsNone(bob.receive(name, 0.2))


class Arguments(PairCase):
    def test_arguments(self) -> None:
        """a token function, readers without a host, and another value of host are refused with what
        to do; so is an agent in use
        """
        with self.assertRaisesRegex(InvalidArgumentError, "cannot call a function"):
            self.start(StaticClient, "alice", host="auto", token=lambda: "x")
        with self.assertRaisesRegex(InvalidArgumentError, "give \"auto\" or \"off\""):
            self.start(StaticClient, "alice", host="maybe")
        with self.assertRaisesRegex(InvalidArgumentError, 'host="auto"'):
            self.alice.create(channel_name()).envelopes(reader="x")
        with self.assertRaises(StoreError) as caught:
            StaticClient(data_dir=f"{self.home}/alice", identity=b"alice", **service(host="auto"))
        self.assertEqual(caught.exception.code, "store_locked")
        self.assertIn('host="auto"', str(caught.exception))


class Refusals(HostCase):
    def test_folder(self) -> None:
        """a host's folder that is a link, or that others may write to, is refused before anything
        is sent
        """
        for name in ("link", "open"):
            os.makedirs(f"{self.folder}/{name}")
        os.symlink("/tmp", f"{self.folder}/link/host")
        os.mkdir(f"{self.folder}/open/host")
        os.chmod(f"{self.folder}/open/host", 0o777)
        for name in ("link", "open"):
            with self.assertRaisesRegex(ChannelError, "is not safe"):
                self.share(StaticClient, name)

    def test_version(self) -> None:
        """a host of another version that stays is told, with how to end it"""
        folder = f"{self.folder}/alice/host"
        os.makedirs(folder, mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{folder}/socket")
            listener.listen()
            threading.Thread(target=_stay, args=(listener,), daemon=True).start()
            with self.assertRaises(TransportError) as caught:
                self.share(StaticClient, "alice")
        self.assertEqual(caught.exception.code, "unsupported_version")
        self.assertIn("9.9.9", str(caught.exception))

    def test_turn(self) -> None:
        """the program that starts a host says that it still does, so that no other takes its turn
        on a busy machine
        """
        turn = f"{self.folder}/starting"
        with open(turn, "wb"):
            os.utime(turn, (0, 0))
        with mock.patch.object(hosts, "_BEAT_SECONDS", 0.01):
            end_turn = hosts._hold(turn)
            until("the beat", lambda: os.stat(turn).st_mtime > 0)
            end_turn()

    def test_start_fails(self) -> None:
        """a host that cannot start says why, and the next program may try at once"""
        with self.assertRaisesRegex(TransportError, "^transport error:"):
            self.share(StaticClient, "alice", endpoint="grpc://localhost:1")
        self.assertFalse(os.path.exists(f"{self.folder}/alice/host/starting"))
        self.share(StaticClient, "alice")


def _stay(listener: socket.socket) -> None:
    """A host of another version that others use."""
    connection, _ = listener.accept()
    with connection:
        connection.sendall(_frame({"event": "hello", "protocol": 1, "sdk": "9.9.9", "pid": os.getpid()}))
        connection.recv(65536)
        connection.sendall(_frame({"id": 1, "ok": {"stopping": False}}))
        connection.recv(65536)


def _frame(header: Dict[str, object]) -> bytes:
    head = json.dumps(header).encode()
    return struct.pack("<II", 4 + len(head), len(head)) + head
