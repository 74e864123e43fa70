"""Seconds and peak memory of programs of rounds: rings of 16,384 hosts, rounds of permutations.

A ring all-reduce of 1 GB on 16,384 hosts is 32,766 rounds of 61 kB, 537 million messages; it runs
on a full three-level fat tree under D-mod-k. 244 rounds of random permutations of 4,096 hosts are
999,424 messages. Channels of 25 GB/s and 600 ns. Every case runs in a process of its own, one core,
kernels compiled beforehand; seconds include the network, its ways and the rows.

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

LARGE, SMALL, PODS = "xgft:16x32x32/1x16x32", "xgft:16x16x16/1x16x16", "xgft:8x8x16/1x8x8"
BANDWIDTH, LATENCY, OVERHEAD = 25e9, 600e-9, 1.2e-6


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


def permutations(*, unequal: bool):
    """244 rounds of random permutations."""
    from netloom.workload.programs.rounds import RoundProgram, exchange

    rng, hosts = np.random.default_rng(1), 4096
    listed = []
    for _ in range(244):
        size = rng.uniform(1e5, 1e6, hosts) if unequal else 1e6
        listed.append(exchange(np.arange(hosts), rng.permutation(hosts), size))
    return RoundProgram(hosts, listed)


CASES: dict[str, tuple[str, Callable, float]] = {  # network, program, overhead
    "ring, neighbours": (LARGE, lambda: ring(16384), 0),
    "ring of 1,024, overhead": (PODS, lambda: ring(1024), OVERHEAD),
    "ring, one chunk shorter": (LARGE, lambda: ring(16384, uneven=True), 0),
    "permutations, neighbours": (SMALL, lambda: permutations(unequal=False), 0),
    "the same, unequal": (SMALL, lambda: permutations(unequal=True), 0),
}


def answer(spec: str, program, overhead: float):
    from netloom.routing import parse_routing
    from netloom.simulation.flow import flow_network, run_rounds
    from netloom.topology import topology

    net = topology(spec)
    network = flow_network(net, bandwidth=BANDWIDTH, latency=LATENCY)
    return run_rounds(network, parse_routing("d-mod-k", net), program, overhead=overhead)


def child(case: str) -> None:
    for overhead in (0, OVERHEAD):  # compile, or load what was compiled
        answer("xgft:2x2/1x2", ring(4, 8), overhead)
    spec, make, overhead = CASES[case]
    start = time.perf_counter()
    program = make()
    found = answer(spec, program, overhead)
    print(json.dumps({
        "seconds": time.perf_counter() - start,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "rounds": found.num_rounds,
        "run": found.num_run,
        "messages": program.num_messages,
        "finish": found.finish,
    }))  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2])
        return
    print(f"{'case':>27} {'messages':>12} {'rounds':>7} {'run':>6} {'finish':>11} "
          f"{'seconds':>8} {'GB':>5}")  # fmt: skip
    for case in sys.argv[1:] or CASES:
        command = [sys.executable, __file__, "child", case]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        print(f"{case:>27} {found['messages']:>12,} {found['rounds']:>7,} {found['run']:>6,} "
              f"{found['finish']:>9.6f} s {found['seconds']:>8.2f} {found['gigabytes']:>5.2f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
