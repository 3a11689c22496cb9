"""The cost of the Python package, measured from inside a Python program. Reads the addresses of the
service, prints the results as JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List

from static_sdk import ChannelManager, StaticClient

given: Dict[str, Any] = json.loads(sys.argv[1])
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def connect(kind: Any, name: str) -> Any:
    return kind(data_dir=f"{given['folder']}/{name}", identity=name.encode(), **given["service"])


def cpu_ms(pids: List[int]) -> float:
    """Processor time so far of this program and others."""
    total = 0.0
    for pid in [os.getpid(), *pids]:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) * TICK_MS
    return total


def memory_mib(pid: int) -> Dict[str, float]:
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        sizes = dict(line.split(":") for line in file if ":" in line and "kB" in line)
    kib = {name: int(size.split()[0]) for name, size in sizes.items()}
    return {"resident": kib["Rss"] / 1024, "own": (kib["Private_Clean"] + kib["Private_Dirty"]) / 1024}


def connecting() -> Dict[str, float]:
    times = []
    for number in range(5):
        begun = time.monotonic()
        client = connect(StaticClient, f"connect{number}")
        times.append(time.monotonic() - begun)
        client.close()
    return {"connect_s": statistics.median(times)}


def calls() -> Dict[str, float]:
    client = connect(StaticClient, "calls")
    idle = memory_mib(client._agent.driver.pid)
    times = []
    for _ in range(2000):
        begun = time.perf_counter()
        client.transport
        times.append((time.perf_counter() - begun) * 1e6)
    busy = memory_mib(client._agent.driver.pid)
    client.close()
    found = {"call_us": statistics.median(times), "call_fast_us": statistics.quantiles(times, n=10)[0]}
    return {**found, **{f"idle_{name}": size for name, size in idle.items()}, **{f"busy_{name}": size for name, size in busy.items()}}


def exiting() -> Dict[str, float]:
    """From the last line of a program that does not close its client to its end."""
    code = (
        "import json, sys, time\nfrom static_sdk import StaticClient\ngiven = json.loads(sys.argv[1])\n"
        "client = StaticClient(data_dir=given['folder'] + '/exit', identity=b'exit', **given['service'])\n"
        "print(time.monotonic(), flush=True)\n"
    )
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code, sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True)
        times.append(time.monotonic() - float(done.stdout))
    return {"exit_s": statistics.median(times)}


class Pair:
    """Two agents in one channel."""

    def __init__(self) -> None:
        self.managers = [connect(ChannelManager, "pair-alice"), connect(ChannelManager, "pair-bob")]
        owner, guest = self.managers
        self.sending = owner.create("bench/python/pair")
        self.receiving = guest.join_with_token(self.sending.name, owner.invite(self.sending.name))
        self.pids = [manager._agent.driver.pid for manager in self.managers]

    def exchange(self) -> Dict[str, float]:
        """One after the other, each received before the next is sent."""
        count = given["messages"]
        before = cpu_ms(self.pids)
        for _ in range(count):
            self.sending.send(bytes(given["size"]))
            self.receiving.receive(60)
        return {"message_cpu_ms": (cpu_ms(self.pids) - before) / count}

    def send_many(self) -> Dict[str, float]:
        count = given["burst"]
        loop = self.receiving.messages()
        begun = time.monotonic()
        sender = threading.Thread(target=lambda: self.sending.send_many(bytes(given["size"]) for _ in range(count)))
        sender.start()
        for _ in range(count):
            next(loop)
        sender.join()
        loop.finish()
        return {"sends_per_s": count / (time.monotonic() - begun)}


def main() -> None:
    print(json.dumps({**connecting(), **calls(), **exiting()}), flush=True)
    pair = Pair()
    for line in sys.stdin:
        print(json.dumps({**pair.exchange(), **pair.send_many()} if line.strip() == "go" else {}), flush=True)
    for manager in pair.managers:
        manager.close()


main()
