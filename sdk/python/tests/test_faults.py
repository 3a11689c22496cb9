"""Faults: interrupts, deaths, forks, full pipes, wrong arguments, objects used after their end."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from typing import Any, Callable, List
from unittest import mock

from place import API_KEY, PairCase, StackCase, alive, channel_name, service, until
from programs import line, program
from static_sdk import Channel, ChannelManager, Json, StaticClient, StaticError, StoreError, TransportError
from static_sdk import agent
from static_sdk.runtime import find_runtime

SECONDS = 30.0


def ended(child: "subprocess.Popen[str]") -> int:
    """Its exit code; what it said when it is not 0."""
    _, errors = child.communicate(timeout=SECONDS)
    if child.returncode not in (0, -9):
        sys.stderr.write(errors)
    return child.returncode


class Deaths(PairCase):
    def test_python(self) -> None:
        """kill -9 of Python: its driver goes, the lock is free, and what was not acknowledged comes
        again
        """
        one, _ = self.channels()
        token = self.alice.invite(one.name)
        code = """
            manager = ChannelManager(data_dir=sys.argv[1], identity=b"carol", **service())
            manager.join_with_token(sys.argv[2], sys.argv[3])
            print(manager._agent.driver.pid, flush=True)
            print(manager.receive(sys.argv[2], 30).decode(), flush=True)
            input()
        """
        with program(code, f"{self.folder}/carol", one.name, token) as child:
            pid = int(line(child))
            one.send(b"hello")
            self.assertEqual(line(child), "hello")
            child.kill()
            child.communicate()
        until("its driver to go", lambda: not alive(pid))
        again = self.start(ChannelManager, "carol")
        self.assertEqual(again.receive(one.name, SECONDS), b"hello")

    def test_exit(self) -> None:
        """a program that ends without close() ends its driver soon, and with 0"""
        code = """
            client = StaticClient(data_dir=sys.argv[1], identity=b"carol", **service())
            loop = client.create_channel(channel_name()).messages()
            import threading
            threading.Thread(target=lambda: next(loop, None), daemon=True).start()
            print(client._agent.driver.pid, flush=True)
        """
        with program(code, f"{self.folder}/carol") as child:
            pid = int(line(child))
            begun = time.monotonic()
            self.assertEqual(ended(child), 0)
            self.assertLess(time.monotonic() - begun, 6.0)
        self.assertFalse(alive(pid))

    def test_forgotten(self) -> None:
        """a client that nobody holds any more ends its driver"""
        client = StaticClient(data_dir=f"{self.folder}/carol", identity=b"carol", **service())
        driver = client._agent.driver
        channel = client.create_channel(channel_name())
        del client
        gc.collect()
        channel.send(b"a channel holds its agent")
        del channel
        gc.collect()
        driver.exited.result(SECONDS)

    def test_stopped(self) -> None:
        """a driver that does not read any more: the full pipe holds up its callers alone, Ctrl-C
        ends them, close() kills it
        """
        client = self.start(StaticClient, "carol")
        channel = client.create_channel(channel_name())
        driver = client._agent.driver
        os.kill(driver.pid, signal.SIGSTOP)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            channel.send_many(bytes(500_000) for _ in range(100))
        self.assertIsNone(self.alice.receive(self.meet(self.alice, self.bob), 0.01))
        with mock.patch.object(agent, "_CLOSE_SECONDS", 0.2):
            client.close()
        self.assertFalse(alive(driver.pid))
        with self.assertRaisesRegex(TransportError, "closed"):
            channel.send(b"x")


class Forks(PairCase):
    def test_fork(self) -> None:
        """a forked child cannot use its parent's client and is told so at once, also while threads
        of the parent wait
        """
        one, other = self.channels()
        loop = other.messages()
        reading = threading.Thread(target=lambda: next(loop))
        reading.start()
        until("the loop to wait", lambda: len(self.bob._agent.driver._calls) > 0)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            said: List[str] = []
            acts: List[Callable[[], Any]] = [
                lambda: next(loop),
                lambda: other.send(b"x"),
                lambda: self.bob.channels,
                lambda: other.receive(1),
            ]
            for act in acts:
                try:
                    act()
                    said.append("no error")
                except StaticError as error:
                    said.append(f"{error.code} {'fork' in str(error)}")
                except BaseException as error:
                    said.append(repr(error))
            os.write(write, "\n".join(said).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.assertEqual(pipe.read().split("\n"), ["invalid_request True"] * 4)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        # The parent goes on.
        one.send(b"go")
        reading.join(SECONDS)
        self.assertFalse(reading.is_alive())

    def test_leaving(self) -> None:
        """leaving "with" in a forked child says so, and a child that lives on does not keep the
        driver of its dead parent alive
        """
        code = """
            import os, time
            try:
                with StaticClient(data_dir=sys.argv[1], identity=b"carol", **service()) as client:
                    pid = client._agent.driver.pid
                    if os.fork() > 0:
                        time.sleep(60)
            except StaticError as error:
                print(pid, error.code, "fork" in str(error), flush=True)
                os.close(0); os.close(1); os.close(2)
                time.sleep(60)
        """
        child = program(code, f"{self.folder}/carol")
        with child:
            pid, *told = line(child).split()
            self.assertEqual(told, ["invalid_request", "True"])
            self.assertTrue(alive(int(pid)))
            child.kill()
            child.wait()
            until("the driver to go", lambda: not alive(int(pid)))
            os.killpg(child.pid, signal.SIGKILL)


class Directories(PairCase):
    def test_locked(self) -> None:
        """a directory that another process uses is store_locked, after the time that a killed one needs"""
        begun = time.monotonic()
        with self.assertRaises(StoreError) as caught:
            StaticClient(data_dir=f"{self.home}/alice", identity=b"alice", **service())
        self.assertEqual((caught.exception.code, caught.exception.retryable), ("store_locked", True))
        self.assertGreater(time.monotonic() - begun, 2.5)
        self.assertTrue(str(caught.exception).startswith("runtime error:"))

    def test_passphrase(self) -> None:
        """a wrong passphrase is told, and shown nowhere"""
        self.start(StaticClient, "alice", passphrase="correct horse").close()
        with self.assertRaises(StoreError) as caught:
            self.start(StaticClient, "alice", passphrase="battery staple")
        self.assertEqual(caught.exception.code, "passphrase_wrong")
        self.assertNotIn("staple", str(caught.exception))


class Versions(unittest.TestCase):
    def driver(self, text: str) -> str:
        """A runtime that says this instead of being a driver."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "node")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport sys, struct\n{textwrap.dedent(text)}\n")
        os.chmod(path, 0o755)
        return path

    def refuse(self, text: str) -> StaticError:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(StaticError) as caught:
            StaticClient("quic://localhost:1", folder, b"a", "sk_live_x", "https://localhost:1", runtime=self.driver(text))
        self.assertTrue(str(caught.exception).startswith(("runtime error:", "transport error:")), str(caught.exception))
        return caught.exception

    def test_version(self) -> None:
        """a driver of another version or protocol is refused"""
        say = """
            head = {!r}.encode()
            sys.stdout.buffer.write(struct.pack("<II", 4 + len(head), len(head)) + head)
            sys.stdout.flush()
            sys.stdin.read()
        """
        error = self.refuse(say.format('{"event":"hello","protocol":1,"sdk":"9.9.9"}'))
        self.assertIn("9.9.9", str(error))
        error = self.refuse(say.format('{"event":"hello","protocol":2,"sdk":"0.1.0"}'))
        self.assertIn("protocol 2", str(error))

    def test_garbage(self) -> None:
        """what is no driver is refused with what it said"""
        self.assertIn("kaputt", str(self.refuse('sys.stderr.write("kaputt\\n"); sys.exit(3)')))
        self.assertIn("not a frame", str(self.refuse('print("x" * 100, flush=True); sys.stdin.read()')))


class Arguments(PairCase):
    def test_types(self) -> None:
        """str for bytes and bytes for str is a TypeError that says what to write; nothing reaches
        the driver
        """
        channel = self.alice.create(channel_name())
        wrong: List[Callable[[], Any]] = [
            lambda: StaticClient("quic://x", self.folder, "alice"),  # type: ignore[arg-type]
            lambda: StaticClient(b"quic://x", self.folder, b"a"),  # type: ignore[arg-type]
            lambda: StaticClient("quic://x", b"folder", b"a"),  # type: ignore[arg-type]
            lambda: StaticClient("quic://x", self.folder, b"a", b"key", "https://x"),  # type: ignore[arg-type]
            lambda: StaticClient("quic://x", self.folder, b"a", ca_certs="pem"),
            lambda: channel.send("text"),  # type: ignore[arg-type]
            lambda: channel.send(5),  # type: ignore[arg-type]
            lambda: channel.send(Json({1, 2})),
            lambda: channel.send_many(["text"]),  # type: ignore[list-item]
            lambda: channel.add_member(5),  # type: ignore[arg-type]
            lambda: self.alice.client.join_channel("acme/a/b", "text"),  # type: ignore[arg-type]
            lambda: self.alice.create(b"acme/a/b"),  # type: ignore[arg-type]
            lambda: self.alice.receive(channel.name, "5"),  # type: ignore[arg-type]
            lambda: self.alice.receive(b"acme/a/b", 1),  # type: ignore[arg-type]
            lambda: self.alice.join_with_token(channel.name, b"inv_x"),  # type: ignore[arg-type]
        ]
        for act in wrong:
            with self.assertRaisesRegex(TypeError, "must be|not JSON", msg=str(act)):
                act()
        for bad in (float("nan"), float("inf"), -1.0):
            with self.assertRaises(StaticError) as caught:
                channel.receive(bad)
            self.assertEqual(caught.exception.code, "invalid_request")

    def test_sizes(self) -> None:
        """a payload above the limit is payload_too_large, whether the SDK or the frame refuses it;
        a MiB arrives
        """
        one, other = self.channels()
        for size in (1024 * 1024 + 1, 8 * 1024 * 1024):
            with self.assertRaises(StaticError) as caught:
                one.send(bytes(size))
            self.assertEqual(caught.exception.code, "payload_too_large")
        one.send(bytes(1024 * 1024))
        self.assertEqual(other.receive(SECONDS), bytes(1024 * 1024))

    def test_copies(self) -> None:
        """clients, channels and loops can neither be pickled nor copied"""
        channel = self.alice.create(channel_name())
        for each in (self.alice, self.alice.client, channel, channel.messages()):
            acts: List[Callable[[Any], Any]] = [pickle.dumps, copy.copy, copy.deepcopy]
            for act in acts:
                with self.assertRaisesRegex(TypeError, "cannot be copied"):
                    act(each)

    def test_secrets(self) -> None:
        """no secret stands in repr, in the driver's arguments, or in what describes the options"""
        shown = [repr(self.alice), repr(self.alice.client), repr(self.alice.create(channel_name()))]
        with open(f"/proc/{self.alice._agent.driver.pid}/cmdline", encoding="utf-8") as file:
            shown.append(file.read())
        for text in shown:
            self.assertNotIn(API_KEY, text)
        self.assertIn(os.path.basename(find_runtime(None)), shown[-1])


class AfterTheEnd(StackCase):
    def test_closed(self) -> None:
        """with closes, also after an error; then every call says so, loops end, and closing again
        is no mistake
        """
        with self.assertRaises(ZeroDivisionError):
            with self.start(ChannelManager, "alice") as manager:
                channel: Channel = manager.create(channel_name())
                loop = channel.messages()
                _ = 1 / 0
        manager.close()
        self.assertEqual(list(loop), [])
        self.assertEqual(list(channel.messages()), [])
        acts: List[Callable[[], Any]] = [
            lambda: channel.send(b"x"),
            channel.receive,
            channel.members,
            lambda: manager.channels,
        ]
        for act in acts:
            with self.assertRaisesRegex(TransportError, "closed"):
                act()
