"""Where tests run: a service named by the environment, folders of their own, and agents in them."""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import os
import shutil
import signal
import tempfile
import time
import unittest
from typing import Any, Callable, ClassVar, Iterable, List, Tuple, Type, TypeVar

from static_sdk import Channel, ChannelManager, StaticClient

T = TypeVar("T")
C = TypeVar("C", StaticClient, ChannelManager)

_SERVICE = json.loads(os.environ.get("STATIC_TEST_SERVICE", "{}"))
ENDPOINT: str = _SERVICE.get("endpoint", "")
API_URL: str = _SERVICE.get("apiUrl", "")
API_KEY: str = _SERVICE.get("apiKey", "")
CA_FILE: str = _SERVICE.get("caFile", "")
#: A campaign tries more than the test command does.
IN_CAMPAIGN = os.environ.get("STATIC_STRESS") == "1"
#: An account that may send nothing more this month.
SPENT_KEY: str = _SERVICE.get("spentKey", "")

_numbers = itertools.count(1)


def service(**more: Any) -> Any:
    """Arguments that lead to the service."""
    return {"endpoint": ENDPOINT, "api_key": API_KEY, "api_url": API_URL, "ca_file": CA_FILE, "cover": "off", **more}


def channel_name() -> str:
    return f"acme/python/t{os.getpid()}-{next(_numbers)}"


def until(what: str, look: Callable[[], T], seconds: float = 20.0) -> T:
    """Waits for a condition; its value."""
    end = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come true in {seconds} seconds")
        time.sleep(0.02)


class StackCase(unittest.TestCase):
    """Agents that are closed, and folders that are removed, at the end of each test."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="static-python-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, kind: Type[C], name: str, **more: Any) -> C:
        made = kind(data_dir=f"{self.folder}/{name}", identity=name.encode(), **service(**more))
        self.addCleanup(made.close)
        return made

    def meet(self, owner: ChannelManager, guest: ChannelManager) -> str:
        """A new channel with these two in it."""
        name = channel_name()
        owner.create(name)
        guest.join_with_token(name, owner.invite(name))
        # The guest may be in before the owner has heard that its own commit was taken.
        until("the owner sees the guest", lambda: len(owner.channel(name).members()) > 1, 60.0)
        return name


class HostCase(StackCase):
    """Agents that are shared through hosts, which are stopped at the end of each test."""

    def setUp(self) -> None:
        super().setUp()
        self._hosts: List[int] = []
        self.addCleanup(stop_hosts, self._hosts)

    def share(self, kind: Type[C], name: str, **more: Any) -> C:
        made = self.start(kind, name, host="auto", **more)
        self._hosts.append(made._agent.driver.pid)
        return made


def stop_hosts(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            continue
        until("the host to go", lambda: not alive(pid))


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second when it goes while it is read
        return False


def _open(home: str, name: str, host: str) -> ChannelManager:
    made = ChannelManager(data_dir=f"{home}/{name}", identity=name.encode(), **service(host=host))
    atexit.register(made.close)
    return made


@functools.lru_cache(maxsize=None)
def _pair(host: str) -> Tuple[str, ChannelManager, ChannelManager]:
    """Two agents, and the folder that theirs are in."""
    home = tempfile.mkdtemp(prefix="static-python-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    made: List[ChannelManager] = []
    if host == "auto":
        # The hosts of the end: tests kill those of the beginning.
        atexit.register(lambda: stop_hosts([each._agent.driver.pid for each in made]))
    made.extend(_open(home, name, host) for name in ("alice", "bob"))
    return home, made[0], made[1]


class PairCase(StackCase):
    """Two agents for all tests of a process, in channels of their own: connecting is what takes
    time.
    """

    home: ClassVar[str]
    alice: ClassVar[ChannelManager]
    bob: ClassVar[ChannelManager]

    @classmethod
    def setUpClass(cls) -> None:
        cls.home, cls.alice, cls.bob = _pair("off")

    def channels(self) -> Tuple[Channel, Channel]:
        """A new channel, as both see it."""
        name = self.meet(self.alice, self.bob)
        return self.alice.channel(name), self.bob.channel(name)


class HostPairCase(HostCase):
    """Two agents that are shared through hosts, for all tests of a process."""

    home: ClassVar[str]
    alice: ClassVar[ChannelManager]
    bob: ClassVar[ChannelManager]

    @classmethod
    def setUpClass(cls) -> None:
        cls.home, cls.alice, cls.bob = _pair("auto")

    @classmethod
    def open(cls, name: str) -> ChannelManager:
        """One more program's view of an agent."""
        return _open(cls.home, name, "auto")
