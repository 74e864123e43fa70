"""Speed and memory of the virtual-channel simulator, beside a readable twin and a recorded peer.

Uniform traffic, 4 VCs of 8 flits, packets of 5 flits, three-stage routers, one core (but for the
lines that say how many), kernels compiled beforehand. A *link-hop* is a flit crossing a channel
between two routers; seconds are CPU time of the kernel and of making the packets, which is also
timed by itself. The peer is an established cycle-accurate simulator in C++, whose speed at these
settings was recorded on a machine of the same class. The twin is the plain-Python model that the
kernel is held to, bit by bit (tests/reference/network.py).

Each case is run in steps of some 0.3 s; the best one is given, and the median.
With ``--against`` the steps alternate with those of another checkout, so that whatever else the
machine does falls on both, and the ratio of the medians is given.
With ``--ceiling`` the best step is also held against a program that knows one router only.

Usage: python benchmarks/network.py [seconds] [--against FOLDER] [--ceiling PROGRAM]
    seconds    of CPU for each case, default 3
    FOLDER     another checkout of netloom, whose src is measured too
    PROGRAM    ``PROGRAM SIDE LOAD CYCLES`` prints the M link-hops a second of a mesh of SIDE x SIDE
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

PEER = {  # link-hops per CPU second; none is recorded for other networks
    ("mesh:8x8", 30): 0.68e6,
    ("mesh:8x8", 90): 0.60e6,
    ("torus:16x16", 30): 0.53e6,
    ("torus:16x16", 90): 0.55e6,
}
CASES = [  # network, per cent of saturation, offered load, flits of a packet
    ("mesh:8x8", 30, 0.122, 5),
    ("mesh:8x8", 90, 0.365, 5),
    ("mesh:8x8", 90, 0.365, 1),
    ("torus:16x16", 30, 0.0875, 5),
    ("torus:16x16", 90, 0.2625, 5),
    ("mesh:32x32", 30, 0.0335, 5),
    ("mesh:32x32", 90, 0.1005, 5),
    ("mesh:64x64", 70, 0.0394, 5),
    ("mesh:128x128", 70, 0.0197, 5),
    ("mesh:256x256", 70, 0.0099, 5),
    ("fat-tree:4x3", 90, 0.55, 5),
    ("fat-tree:10x3", 90, 0.55, 5),
    ("dragonfly:2x4x2", 90, 0.53, 5),
    ("dragonfly:4x8x4", 90, 0.5, 5),
    ("hyperx:4x4/4", 90, 0.505, 5),
    ("leaf-spine:18x18x18", 90, 0.49, 5),
]
PACKET_FLITS, VCS, BUFFER_FLITS = 5, 4, 8


PACKETS = ["uniform", "hot-spot:0.1:9,54", "examples/lammps-64.mtx"]
"""Traffic whose packets are timed by themselves, on mesh 8x8: patterns, and a program's."""


def prepared(spec: str, load: float, *, traffic: str = "uniform", flits: int = PACKET_FLITS):
    from netloom.routing import virtual_channel_routing
    from netloom.simulation.network import Router, Run
    from netloom.topology import topology
    from netloom.workload import parse_arrivals, parse_lengths, parse_traffic, read
    from netloom.workload.traffic import from_process_graph

    network, router = topology(spec), Router(vcs=VCS, buffer_flits=BUFFER_FLITS)
    if traffic.endswith(".mtx"):
        graph = read(Path(__file__).parents[1] / traffic)
        pattern = from_process_graph(graph, np.arange(graph.num_tasks), network.num_hosts)
    else:
        pattern = parse_traffic(traffic, network)
    return Run(
        network, virtual_channel_routing(network, "default", num_vcs=VCS), router,
        pattern, load, lengths=parse_lengths(flits),
        arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip


def timed(run, cycles: int) -> tuple[float, int]:
    """CPU seconds and link-hops of some cycles more."""
    hops, start = run.engine.count("link_hops"), time.process_time()
    run.advance(cycles)
    return time.process_time() - start, run.engine.count("link_hops") - hops


def serve() -> None:
    """Answer requests of cases on standard input with steps of them on standard output."""
    run = step = case = None
    for line in sys.stdin:
        asked = json.loads(line)
        if asked != case:
            case, (spec, load, flits) = asked, asked
            run = prepared(spec, load, flits=flits)
            sides = getattr(run.engine.topology, "sides", (50,))  # a packet has come through all
            timed(run, min(10 * sum(sides), 1500))
            spent, _ = timed(run, 100)
            step = max(20, int(100 * 0.3 / max(spent, 1e-6)))
        took, hops = timed(run, step)
        state = run.engine.state
        state = state._replace(packets=state.clock, log=state.clock)  # which grow with the load
        nodes = run.engine.topology.num_hosts
        found = {"hops": hops / took, "cycles": step / took, "took": took,
                 "bytes": sum(each.nbytes for each in state) / nodes}  # fmt: skip
        print(json.dumps(found), flush=True)


class Served:
    """Cases measured with the netloom of one checkout, in a process of its own."""

    def __init__(self, checkout: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(checkout)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def step(self, spec: str, load: float, flits: int) -> dict[str, float]:
        """Run a case a little further."""
        self.process.stdin.write(json.dumps([spec, load, flits]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def measure(served, spec: str, load: float, flits: int, seconds: float) -> list[dict[str, float]]:
    """Best and median of the steps that ``seconds`` allow, of each checkout, alternately."""
    steps = [[] for _ in served]
    for each in served:  # the network is made
        each.step(spec, load, flits)
    while len(steps[0]) < 3 or sum(step["took"] for step in steps[0]) < seconds:
        order = list(zip(served, steps, strict=True))
        for each, found in order if len(steps[0]) % 2 else order[::-1]:
            found.append(each.step(spec, load, flits))
    return [
        {**max(found, key=lambda step: step["hops"]),
         "median": sorted(step["hops"] for step in found)[len(found) // 2]}
        for found in steps
    ]  # fmt: skip


def ceiling(program: str, spec: str, load: float) -> float:
    """Link-hops a second of the best of three runs of a program that knows one router."""
    side = spec.partition("x")[2]
    cycles = max(100, int(2e6 / (int(side) ** 3 * load)))
    told = [program, side, str(load), str(cycles)]
    return float(subprocess.run(told, capture_output=True, text=True, check=True).stdout) * 1e6


def packet_costs(traffic: str, flits: int, load: float) -> tuple[float, float]:
    """CPU nanoseconds in which a packet is made, and in which its delivery is counted.

    In steps of as many cycles as runs have, and as if each packet were delivered at once.
    """
    from netloom.simulation.steady import Delivered, Tally

    run, step = prepared("mesh:8x8", load, traffic=traffic, flits=flits), 1024
    tally = Tally(64, begin=0, batch_cycles=step // 8)
    made, counted = [], []
    for until in range(step, 401 * step, step):
        start = time.process_time()
        rows = run.packets.until(until)
        made.append((time.process_time() - start) / len(rows))
        birth, source, target, length = rows.T[:4]
        columns = (birth, birth, birth + 2, birth + 20, source, target, length, length)
        delivered = Delivered(*map(np.ascontiguousarray, columns))
        start = time.process_time()
        tally.add(delivered, until)
        counted.append((time.process_time() - start) / len(rows))
    each = (np.array(spent[50:]).reshape(5, -1).mean(axis=1).min() for spent in (made, counted))
    return tuple(float(cost) * 1e9 for cost in each)


def twin_rate() -> float:
    """Link-hops a second of the readable twin on mesh 8x8 at 90 % of saturation."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.reference.compiled_rules import allowed
    from tests.reference.network import simulate

    run = prepared("mesh:8x8", 0.365)
    tables, packets = run.engine.routing.tables, run.packets.until(1000).tolist()

    def route(at, slot, packet, _):
        place = slot[0] * VCS + slot[1]
        found = int(allowed(tables, at, place, packet.source, packet.target, -1, 0, packet.hops))
        return {divmod(out, VCS) for out in range(found.bit_length()) if found >> out & 1}

    start = time.process_time()
    found = simulate(run.engine.topology, run.router, route, packets=packets, cycles=1000)
    return found.link_hops / (time.process_time() - start)


def print_cases(served: list[Served], seconds: float, program: str | None) -> None:
    against = f"{'against':>9}" if len(served) > 1 else ""
    against += f"{'ceiling':>9}" if program else ""
    print(f"{'network':>20} {'flits':>5} {'load':>7} {'% of sat.':>9} {'M link-hops/s':>13} "
          f"{'(median)':>9} {'cycles/s':>9} {'B/host':>7} {'peer':>6}{against}")  # fmt: skip
    for spec, share, load, flits in CASES:
        found, *other = measure(served, spec, load, flits, seconds)
        peer = PEER.get((spec, share)) if flits == PACKET_FLITS else None
        ratio = f"{found['hops'] / peer:.0f}x" if peer else ""
        more = "".join(f"{found['median'] / each['median']:>8.2f}x" for each in other)
        if program and spec.startswith("mesh:") and flits == PACKET_FLITS:
            more += f"{found['hops'] / ceiling(program, spec, load):>8.2f}x"
        print(f"{spec:>20} {flits:>5} {load:>7} {share:>9} {found['hops'] / 1e6:>13.1f} "
              f"{found['median'] / 1e6:>9.1f} {found['cycles']:>9.0f} {found['bytes']:>7.0f} "
              f"{ratio:>6}{more}", flush=True)  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", nargs="?", type=float, default=3.0)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--ceiling")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.serve:  # before anything of netloom is imported
        sys.path.insert(0, str(given.serve / "src"))
        serve()
        return
    from netloom.simulation.side_by_side import LIMIT

    os.environ[LIMIT] = "1"
    seconds, here = given.seconds, Path(__file__).parents[1]
    start = time.process_time()
    prepared("mesh:4x4", 0.1).advance(100)
    print(f"compiled, or loaded what was compiled, in {time.process_time() - start:.1f} s CPU\n")
    print_cases([Served(each) for each in (here, given.against) if each], seconds, given.ceiling)
    print("\nns a packet, mesh:8x8: made, and counted when it is delivered")
    for traffic in PACKETS:
        for flits, load in ((PACKET_FLITS, 0.3), (1, 0.3)):
            costs = packet_costs(traffic, flits, load)
            print(f"{traffic:>24} {flits} flits {costs[0]:>6.1f} {costs[1]:>6.1f}", flush=True)
    (own,), twin = measure([Served(here)], "mesh:8x8", 0.365, 5, 1.0), twin_rate()
    print(f"\nreadable twin, mesh:8x8 at 90 %: {twin / 1e3:.1f} k link-hops/s, "
          f"{own['hops'] / twin:.0f}x")  # fmt: skip


if __name__ == "__main__":
    main()
