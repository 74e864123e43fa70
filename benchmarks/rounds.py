"""Seconds and peak memory of programs of rounds: rings of 16,384 hosts, whose messages never meet.

A ring all-reduce of 1 GB on 16,384 hosts is 32,766 rounds of 61 kB, 537 million messages; it runs
on a full three-level fat tree under D-mod-k. Channels of 25 GB/s and 600 ns. Every case runs in a
process of its own, one core, kernels compiled beforehand; seconds include the network, its ways and
the rows.

Usage: python benchmarks/rounds.py [case …]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE = "xgft:16x32x32/1x16x32"
BANDWIDTH, LATENCY = 25e9, 600e-9


def ring(hosts: int, rounds: int | None = None, *, uneven: bool = False):
    """A ring all-reduce of 1 GB; with ``uneven`` chunks, one of them is half as long."""
    from netloom.workload.programs.rounds import RoundProgram, exchange

    count = rounds or 2 * (hosts - 1)
    host = np.arange(hosts, dtype=np.int32)
    if not uneven:
        return RoundProgram(hosts, [exchange(host, (host + 1) % hosts, 1e9 / hosts, count)])
    return RoundProgram(hosts, Chunks(hosts, count))


class Chunks:
    """The rounds of a ring whose last chunk is half as long: each made when it is asked for."""

    def __init__(self, hosts: int, count: int) -> None:
        self.count = count
        self.host = np.arange(hosts, dtype=np.int32)
        self.size = np.full(hosts, 1e9 / hosts)
        self.size[-1] /= 2

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int):
        from netloom.workload.programs.rounds import Round

        if not 0 <= number < self.count:
            raise IndexError(number)
        hosts = len(self.host)
        return Round(self.host, np.roll(self.host, -1), np.roll(self.size, number % hosts))


CASES: dict[str, Callable] = {
    "ring, neighbours": lambda: ring(16384),
    "ring, one chunk shorter": lambda: ring(16384, uneven=True),
}


def answer(spec: str, program):
    from netloom.routing import parse_routing
    from netloom.simulation.flow import flow_network, rounds_apart
    from netloom.topology import topology

    net = topology(spec)
    network = flow_network(net, bandwidth=BANDWIDTH, latency=LATENCY)
    return rounds_apart(network, parse_routing("d-mod-k", net), program)


def child(case: str) -> None:
    answer("xgft:2x2/1x2", ring(4, 8))  # compile, or load what was compiled
    start = time.perf_counter()
    program = CASES[case]()
    found = answer(LARGE, program)
    print(json.dumps({
        "seconds": time.perf_counter() - start,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "messages": program.num_messages,
        "finish": found[0],
    }))  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2])
        return
    print(f"{'case':>27} {'messages':>12} {'finish':>11} "
          f"{'seconds':>8} {'GB':>5}")  # fmt: skip
    for case in sys.argv[1:] or CASES:
        command = [sys.executable, __file__, "child", case]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        print(f"{case:>27} {found['messages']:>12,} "
              f"{found['finish']:>9.6f} s {found['seconds']:>8.2f} {found['gigabytes']:>5.2f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
