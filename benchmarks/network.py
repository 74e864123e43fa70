"""Speed and memory of the virtual-channel simulator, beside a readable twin and a recorded peer.

Uniform traffic, 4 VCs of 8 flits, packets of 5 flits, three-stage routers, one core (but for the
lines that say how many), kernels compiled beforehand. A *link-hop* is a flit crossing a channel
between two routers; seconds are CPU time of the kernel and of making the packets, which is also
timed by itself. The peer is an established cycle-accurate simulator in C++, whose speed at these
settings was recorded on a machine of the same class. The twin is the plain-Python model that the
kernel is held to, bit by bit (tests/reference/network.py).

Usage: python benchmarks/network.py [seconds]    (seconds of CPU for each case, default 3)
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

PEER = {  # link-hops per CPU second
    ("mesh:8x8", 30): 0.68e6,
    ("mesh:8x8", 90): 0.60e6,
    ("torus:16x16", 30): 0.53e6,
    ("torus:16x16", 90): 0.55e6,
}
CASES = [  # network, per cent of saturation, offered load
    ("mesh:8x8", 30, 0.122),
    ("mesh:8x8", 90, 0.365),
    ("torus:16x16", 30, 0.0875),
    ("torus:16x16", 90, 0.2625),
    ("mesh:32x32", 30, 0.0335),
    ("mesh:32x32", 90, 0.1005),
    ("mesh:128x128", 70, 0.0197),
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


def measure(spec: str, load: float, seconds: float) -> dict[str, float]:
    """Best of as many steps as ``seconds`` allow, in a network that is warm."""
    run = prepared(spec, load)
    timed(run, 10 * sum(run.engine.topology.sides))
    spent, hops = timed(run, 100)
    step = max(100, int(100 * 0.3 / max(spent, 1e-6)))  # about 0.3 s
    rates, spent = [], 0.0
    while spent < seconds or len(rates) < 3:
        took, hops = timed(run, step)
        rates.append((hops / took, step / took))
        spent += took
    best, median = max(rates), sorted(rates)[len(rates) // 2]
    return {
        "hops": best[0], "cycles": best[1], "median": median[0],
        "bytes": run.engine.bytes_per_node,
    }  # fmt: skip


def packet_costs(traffic: str, flits: int, load: float) -> tuple[float, float]:
    """CPU nanoseconds in which a packet is made, and in which its delivery is counted.

    In steps of as many cycles as runs have, and as if each packet were delivered at once.
    """
    from netloom.simulation.tally import Delivered, Tally

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


def on_processors(spec: str, load: float, counts: tuple[int, ...]) -> list[float]:
    """Wall-clock seconds of a cycle on so many processors: the best of eight steps, in turns."""
    from netloom.simulation.side_by_side import LIMIT

    run, step, best = prepared(spec, load), 50, [np.inf] * len(counts)
    run.advance(10 * sum(run.engine.topology.sides) // 8)
    for _ in range(8):
        for place, count in enumerate(counts):
            os.environ[LIMIT] = str(count)
            until = run.engine.cycle + step
            rows, start = run.packets.until(until), time.perf_counter()
            run.engine.advance(rows, until)
            best[place] = min(best[place], (time.perf_counter() - start) / step)
    os.environ[LIMIT] = "1"
    return best


def twin_rate() -> float:
    """Link-hops a second of the readable twin on mesh 8x8 at 90 % of saturation."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.reference.network_routing import dimension_order

    from tests.reference.network import simulate

    run = prepared("mesh:8x8", 0.365)
    packets = [(*row[:4], 0, -1) for row in run.packets.until(1000).tolist()]
    times = run.router.timing()
    timing = type("Timing", (), {
        "head_wait": times.head_wait, "flit_delay": times.flit, "credit_delay": times.credit,
        "injection_delay": times.injection, "ejection_delay": times.ejection,
        "injection_credit_delay": times.injection_credit,
    })()  # fmt: skip
    network = run.engine.topology
    start = time.process_time()
    found = simulate(
        network, packets=packets, cycles=1000, num_vcs=VCS, buffer_flits=BUFFER_FLITS,
        timing=timing, allowed=dimension_order(network, VCS),
    )  # fmt: skip
    return found.link_hops / (time.process_time() - start)


def main() -> None:
    from netloom.simulation.side_by_side import LIMIT

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    os.environ[LIMIT] = "1"
    start = time.perf_counter()
    prepared("mesh:4x4", 0.1).advance(100)
    print(f"compiled, or loaded what was compiled, in {time.perf_counter() - start:.1f} s\n")
    print(f"{'network':>13} {'load':>7} {'% of sat.':>9} {'M link-hops/s':>13} {'(median)':>9} "
          f"{'cycles/s':>9} {'B/node':>7} {'peer':>6}")  # fmt: skip
    for spec, share, load in CASES:
        found = measure(spec, load, seconds)
        peer = PEER.get((spec, share))
        ratio = f"{found['hops'] / peer:.0f}x" if peer else ""
        print(f"{spec:>13} {load:>7} {share:>9} {found['hops'] / 1e6:>13.1f} "
              f"{found['median'] / 1e6:>9.1f} {found['cycles']:>9.0f} {found['bytes']:>7.0f} "
              f"{ratio:>6}", flush=True)  # fmt: skip
    print("\nns a packet, mesh:8x8: made, and counted when it is delivered")
    for traffic in PACKETS:
        for flits, load in ((PACKET_FLITS, 0.3), (1, 0.3)):
            costs = packet_costs(traffic, flits, load)
            print(f"{traffic:>24} {flits} flits {costs[0]:>6.1f} {costs[1]:>6.1f}", flush=True)
    own = measure("mesh:8x8", 0.365, 1.0)["hops"]
    twin = twin_rate()
    print(f"\nreadable twin, mesh:8x8 at 90 %: {twin / 1e3:.1f} k link-hops/s, {own / twin:.0f}x")
    print("\ncost of a link-hop against N, at the same load of every channel (offered 2.4 / side)")
    for side in (8, 16, 32, 64, 128, 256):
        found = measure(f"mesh:{side}x{side}", 2.4 / side, seconds / 3)
        print(f"{side * side:>7} nodes {1e9 / found['hops']:>6.1f} ns", flush=True)
    print("\nms a cycle of one network at 70 % of saturation, on one and on two processors")
    for spec, load in (("mesh:64x64", 0.0394), ("mesh:128x128", 0.0197), ("mesh:256x256", 0.0099)):
        one, two = on_processors(spec, load, (1, 2))
        print(f"{spec:>13} {1e3 * one:>6.2f} {1e3 * two:>6.2f}  {one / two:.2f}x", flush=True)
    start = time.process_time()
    run = prepared("mesh:128x128", 0.0197)
    for _ in range(100):
        run.advance(100)
    took = time.process_time() - start
    accepted = np.sum(run.delivered_packets) * PACKET_FLITS / 10_000 / 128**2
    print(f"\nmesh:128x128 at 70 % of saturation, 10,000 cycles: {took:.1f} s CPU "
          f"(accepted {accepted:.4f})")  # fmt: skip


if __name__ == "__main__":
    main()
