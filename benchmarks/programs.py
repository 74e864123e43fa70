"""Speed of programs on both engines: lockstep worms beside their readable twin, and closed loops.

A *flit-hop* is a flit crossing a channel. Lockstep worms do work for each channel of each message
and not for each flit: their flit-hops a second grow with message length, so that the messages'
length is part of the figure. Seconds are CPU time of making the messages, of finding their paths
and of the kernel, and then of the kernel alone; one core, kernels compiled beforehand.

Usage: python benchmarks/programs.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

CASES = [  # network, message flits, offered load (flits/node/cycle), cycles
    ("mesh:12x12", 20, 0.10, 100_000),
    ("mesh:12x12", 20, 0.20, 100_000),
    ("mesh:64x64", 20, 0.02, 20_000),
    ("mesh:64x64", 20, 0.04, 20_000),
    ("mesh:64x64", 5, 0.02, 20_000),
    ("mesh:64x64", 200, 0.04, 20_000),
    ("hypercube:12", 20, 0.10, 20_000),
]


def random_messages(nodes: int, flits: int, load: float, cycles: int, seed: int = 1):
    """Uniform messages that do not wait for each other."""
    from netloom.workload.programs.messages import messages

    rng = np.random.default_rng(seed)
    count = int(cycles * nodes * load / flits)
    source = rng.integers(0, nodes, count)
    target = (source + rng.integers(1, nodes, count)) % nodes
    start = np.sort(rng.integers(0, cycles, count))
    return messages(nodes, source=source, target=target, flits=flits, start=start)


def worms(spec: str, flits: int, load: float, cycles: int) -> tuple[float, float, float, int]:
    """CPU seconds of a run, and of its kernel alone; its flit-hops and messages."""
    from netloom.routing import parse_routing
    from netloom.topology import topology
    from netloom_papers.worms import Worm, WormEngine

    network = topology(spec)
    engine = WormEngine(network, parse_routing("default", network), Worm())
    start = time.process_time()
    engine.append(random_messages(network.num_nodes, flits, load, cycles))
    made = time.process_time()
    engine.advance(10 * cycles)
    end = time.process_time()
    return end - start, end - made, engine.flit_hops, engine.completed


def twin(cycles: int = 2000) -> tuple[float, float]:
    """Flit-hops a CPU second of the readable twin and of the kernel, on the same messages."""
    from netloom.routing import DimensionOrder, paths
    from netloom.topology import mesh
    from netloom_papers.worms import Worm, WormEngine

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.reference.worm import Rules, Worms

    network = mesh(12, 12)
    table = random_messages(144, 20, 0.1, cycles)

    def path(source: int, target: int) -> list[int]:
        return paths(network, DimensionOrder(), [source], [target])[0].tolist()

    readable = Worms(144, path, Rules())
    start = time.process_time()
    readable.append(table)
    readable.advance(10**6)
    slow = time.process_time() - start
    engine = WormEngine(network, DimensionOrder(), Worm())
    start = time.process_time()
    engine.append(table)
    engine.advance(10**6)
    return engine.flit_hops / slow, engine.flit_hops / (time.process_time() - start)


def loops(spec: str, app: str, engine: str, **options) -> tuple[float, int]:
    """CPU seconds and flit-hops of a closed loop."""
    from netloom import simulate_loop

    start = time.process_time()
    found = simulate_loop(spec, app=app, applied=0.25, engine=engine, **options)
    return time.process_time() - start, found.point.flit_hops


def main() -> None:
    start = time.perf_counter()
    worms("mesh:4x4", 5, 0.1, 100)
    print(f"compiled, or loaded what was compiled, in {time.perf_counter() - start:.1f} s\n")
    print(f"{'lockstep worms on':>18} {'flits':>6} {'load':>6} {'messages':>9} {'CPU s':>7} "
          f"{'M flit-hops/s':>13} {'kernel':>7} {'its ns a hop':>12}")  # fmt: skip
    for spec, flits, load, cycles in CASES:
        spent, kernel, hops, messages = min(worms(spec, flits, load, cycles) for _ in range(3))
        rate, own, each = hops / spent / 1e6, hops / kernel / 1e6, kernel / hops * flits * 1e9
        print(f"{spec:>18} {flits:>6} {load:>6} {messages:>9} {spent:>7.3f} {rate:>13.0f} "
              f"{own:>7.0f} {each:>12.1f}", flush=True)  # fmt: skip
    slow, fast = twin()
    print(f"\nreadable twin, mesh:12x12, 20 flits: {slow / 1e6:.2f} M flit-hops/s, "
          f"the kernel {fast / slow:.0f}x")  # fmt: skip
    heads = f"{'program':>13} {'engine':>8} {'CPU s':>7} {'M flit-hops/s':>13}"
    print(f"\n{'closed loop on':>18} {heads}")
    for spec, app, engine in (
        ("mesh:16x16", "hypercube:8", "worm"),
        ("mesh:64x64", "hypercube:12", "worm"),
        ("mesh:16x16", "hypercube:8", "network"),
    ):
        loops(spec, app, engine, loops=1, skip=0, mapping="random")
        spent, hops = loops(spec, app, engine, mapping="random")
        print(f"{spec:>18} {app:>13} {engine:>8} {spent:>7.2f} {hops / spent / 1e6:>13.1f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
