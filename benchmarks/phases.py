"""Phases, clocks and seconds of the communication compiler, beside the simplest that would do.

For each case: the lower bound on phases; how many phases the compiler takes, how far their busiest
processors and channels are above the least clocks of any plan, and in what time; the same for
sequential routing (Feldmann, Stricker & Warfel's APR); and for first fit, which keeps routes in
dimension order and puts each connection, longest first, into the first phase with room at all
nodes of its route: greedy colouring, if a colour may be used as often as there are virtual
channels. The last column: phases in clocks of the two, over those of the compiler. Seconds of one
run, kernels compiled beforehand.

Usage: python benchmarks/phases.py [cases, such as 8x8 plate]
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from netloom.contention import ConSetCosts
from netloom.mapping import gray
from netloom.phases import (
    Capacity,
    Plan,
    connections,
    least_clocks,
    least_phases,
    partition,
    phase_clocks,
    verify,
)
from netloom.routing import DimensionOrder, paths
from netloom.topology import topology
from netloom.workload import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.phases import Connections
    from netloom.topology import Topology

COSTS = ConSetCosts()
DATA = "src/netloom_papers/studies/data/feldmann"
CASES = {
    "all-to-all 4x4": ("all-to-all:16", "torus:4x4", 12),
    **{f"all-to-all 8x8, {n}": ("all-to-all:64", "torus:8x8", n) for n in (8, 10, 12, 16, 20)},
    "Gray hypercube 4x4": ("hypercube:4", "torus:4x4", 12),
    "Gray hypercube 8x8": ("hypercube:6", "torus:8x8", 12),
    "Gray hypercube 16x16": ("hypercube:8", "torus:16x16", 12),
    "LAMMPS 8x8": ("examples/lammps-64.mtx", "torus:8x8", 12),
    "plate 8x8": (f"{DATA}/m11k.mtx", "torus:8x8", 12),
    "cracked plate 8x8": (f"{DATA}/c10k.mtx", "torus:8x8", 12),
    "fine cracked plate 8x8": (f"{DATA}/c100k.mtx", "torus:8x8", 12),
    "valley 8x8": (f"{DATA}/q20k.mtx", "torus:8x8", 12),
    "degree 16, 16x16": ("random-regular:256,16", "torus:16x16", 12),
    "all-to-all 16x16": ("all-to-all:256", "torus:16x16", 12),
}
"""Process graph, network, and virtual channels of a node."""

TOO_LONG = {"all-to-all 16x16": "sequential"}
"""What is left out: it takes minutes to fail for each number of phases (200 will do, in 105 s)."""


def first_fit(given: Connections, network: Topology, capacity: Capacity) -> Plan:
    """Return phases by first fit of fixed routes, in plain Python."""
    routes = paths(network, DimensionOrder(), given.source, given.target)
    phase = np.zeros(len(given), np.int32)
    room = np.zeros((0, network.num_nodes), np.int64)
    for connection in np.lexsort((np.arange(len(given)), -routes.lengths)).tolist():
        first, last = routes.offsets[connection : connection + 2]
        entered = network.target_end[routes.channels[first:last]]
        nodes = np.append(entered, given.source[connection])
        fits = np.flatnonzero((room[:, nodes] > 0).all(axis=1))
        if not len(fits):
            room = np.vstack([room, np.full(network.num_nodes, capacity.virtual_channels)])
        phase[connection] = fits[0] if len(fits) else len(room) - 1
        room[phase[connection], nodes] -= 1
    return Plan(network, given, capacity, phase, routes, "first fit")


def measured(work: Callable[[], Plan]) -> tuple[Plan, float]:
    """Return a verified plan, and the seconds that it took."""
    start = time.perf_counter()
    plan = work()
    seconds = time.perf_counter() - start
    verify(plan)
    return plan, seconds


def main() -> None:
    """Print a line a case."""
    wanted = [name for name in CASES if not sys.argv[1:] or any(w in name for w in sys.argv[1:])]
    for asked in ("all-to-all:16", "binary-tree:16"):  # compiles the kernels
        given = connections(read(asked), range(16), 16)
        for method in ("auto", "sequential"):
            partition(given, topology("torus:4x4"), Capacity(12), method=method)
    columns = "phases clocks     s"
    print(f"{'':30} | netloom              | sequential           | first fit")
    print(f"case                     bound | {columns} | {columns} | {columns} | others / netloom")
    for name in wanted:
        app, on, channels = CASES[name]
        graph, network, capacity = read(app), topology(on), Capacity(channels)
        placed = gray(graph.num_tasks, network) if "Gray" in name else range(graph.num_tasks)
        given = connections(graph, placed, network.num_nodes)
        bound = least_phases(given, network, capacity).phases
        least = least_clocks(given, network, COSTS)
        ways = {
            "netloom": lambda g=given, n=network, c=capacity: partition(g, n, c),
            "sequential": lambda g=given, n=network, c=capacity: partition(
                g, n, c, method="sequential"
            ),
            "first fit": lambda g=given, n=network, c=capacity: first_fit(g, n, c),
        }
        line, found = f"{name:24} {bound:5} ", []
        for way, work in ways.items():
            if TOO_LONG.get(name) == way:
                line += f"| {'-':>6} {'-':>6} {'-':>6} "
                continue
            plan, seconds = measured(work)
            over = float(phase_clocks(plan, COSTS).sum()) / least
            line += f"| {plan.num_phases:6} {over:5.2f}x {seconds:6.2f} "
            found.append((plan.num_phases, over))
        (phases, over), *others = found
        ratios = (f"{p / phases:.2f} in {o / over:.2f}" for p, o in others)
        print(f"{line}| {', '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
