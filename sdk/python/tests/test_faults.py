"""What goes wrong: interrupts, deaths, forks, full pipes, wrong arguments, objects used after their end."""

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

from place import API_KEY, PairCase, StackCase, channel_name, service, until
from static_sdk import Channel, ChannelManager, Json, StaticClient, StaticError, StoreError, TransportError
from static_sdk.driver import _live as live
from static_sdk.runtime import find_runtime

SECONDS = 30.0
HERE = os.path.dirname(os.path.abspath(__file__))


def program(code: str, *args: str) -> "subprocess.Popen[str]":
    """A Python program of its own, beside this one, in a process group of its own."""
    before = f"import sys; sys.path.insert(0, {HERE!r})\nfrom place import *\nfrom static_sdk import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", before + textwrap.dedent(code), *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def line(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    found = child.stdout.readline().strip()
    if found == "":
        child.kill()
        raise AssertionError(f"the program ended: {child.communicate()}")
    return found


def ended(child: "subprocess.Popen[str]") -> int:
    """Its exit code; what it said when it is not 0."""
    _, errors = child.communicate(timeout=SECONDS)
    if child.returncode not in (0, -9):
        sys.stderr.write(errors)
    return child.returncode


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


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
        """Ctrl-C ends receive, a loop, events, request and join_with_token; what comes later goes to the next call"""
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

    def test_sending(self) -> None:
        """Ctrl-C in the middle of large frames breaks none"""
        one, other = self.channels()
        large = bytes(500_000)
        self.interrupt(lambda: one.send_many(large for _ in range(1000)), after=0.3)
        one.send(b"the last")
        loop = other.messages()
        until("the last message", lambda: next(loop) == b"the last")
        loop.finish()


class Deaths(PairCase):
    def test_driver(self) -> None:
        """kill -9 of the driver: what waits and what comes later fails at once, with how it ended"""
        client = self.start(StaticClient, "carol")
        os.kill(client._agent.driver.pid, signal.SIGKILL)
        with self.assertRaises(TransportError) as caught:
            until("the end", lambda: client.channels == "never")
        self.assertEqual(caught.exception.code, "listener_died")
        self.assertIn("signal 9", str(caught.exception))
        client.close()

    def test_python(self) -> None:
        """kill -9 of Python: its driver goes, the lock is free, and what was not acknowledged comes again"""
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
        """a driver that does not read any more: the full pipe holds up its callers alone, Ctrl-C ends them, close() kills it"""
        client = self.start(StaticClient, "carol")
        channel = client.create_channel(channel_name())
        driver = client._agent.driver
        os.kill(driver.pid, signal.SIGSTOP)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            channel.send_many(bytes(500_000) for _ in range(100))
        self.assertIsNone(self.alice.receive(self.meet(self.alice, self.bob), 0.01))
        driver.kill()
        with self.assertRaises(TransportError):
            channel.send(b"x")
        client.close()


class Forks(PairCase):
    def test_fork(self) -> None:
        """a forked child cannot use its parent's client and is told so at once, also while threads of the parent wait"""
        one, other = self.channels()
        loop = other.messages()
        reading = threading.Thread(target=lambda: next(loop))
        reading.start()
        until("the loop to wait", lambda: len(self.bob._agent.driver._calls) > 0)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            said: List[str] = []
            for act in (lambda: next(loop), lambda: other.send(b"x"), lambda: self.bob.channels, lambda: other.receive(1)):
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

    def test_pipes(self) -> None:
        """a forked child that lives on does not keep the driver of its dead parent alive"""
        code = """
            import os, time
            client = StaticClient(data_dir=sys.argv[1], identity=b"carol", **service())
            if os.fork() == 0:
                os.close(0); os.close(1); os.close(2)
                time.sleep(60)
                os._exit(0)
            print(client._agent.driver.pid, os.getpid(), flush=True)
            time.sleep(60)
        """
        child = program(code, f"{self.folder}/carol")
        with child:
            pid = int(line(child).split()[0])
            child.kill()
            child.wait()
            until("the driver to go", lambda: not alive(pid))
            os.killpg(child.pid, signal.SIGKILL)


class Directories(StackCase):
    def test_locked(self) -> None:
        """a directory that another process uses is store_locked, after the time that a killed one needs"""
        self.start(StaticClient, "alice")
        begun = time.monotonic()
        with self.assertRaises(StoreError) as caught:
            self.start(StaticClient, "alice")
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
        self.assertIn("protocol 2", str(self.refuse(say.format('{"event":"hello","protocol":2,"sdk":"0.1.0"}'))))

    def test_garbage(self) -> None:
        """what is no driver is refused with what it said"""
        self.assertIn("kaputt", str(self.refuse('sys.stderr.write("kaputt\\n"); sys.exit(3)')))
        self.assertIn("no frame", str(self.refuse('print("x" * 100, flush=True); sys.stdin.read()')))


class Arguments(PairCase):
    def test_types(self) -> None:
        """str for bytes and bytes for str is a TypeError that says what to write; nothing reaches the driver"""
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
        """a payload above the limit is payload_too_large, whether the SDK or the frame refuses it; a MiB arrives"""
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
            for act in (pickle.dumps, copy.copy, copy.deepcopy):
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
        """after close() every call says so, loops end, and closing again is no mistake"""
        manager = self.start(ChannelManager, "alice")
        channel: Channel = manager.create(channel_name())
        loop = channel.messages()
        manager.close()
        manager.close()
        self.assertEqual(list(loop), [])
        self.assertEqual(list(channel.messages()), [])
        for act in (lambda: channel.send(b"x"), channel.receive, channel.members, lambda: manager.channels):
            with self.assertRaisesRegex(TransportError, "closed"):
                act()

    def test_with(self) -> None:
        """with closes, also after an error"""
        with self.assertRaises(ZeroDivisionError):
            with self.start(StaticClient, "alice") as client:
                _ = 1 / 0
        with self.assertRaisesRegex(TransportError, "closed"):
            client.channels
