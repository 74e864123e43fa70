"""Speed of the combining network: steps and packet moves a second, from 64 to 65,536 elements.

The system is the report's normal one without limits: eight hot spots, two an element with
probability 0.95, a request with probability 0.15 in each step. Only where packets are is visited,
so that what counts is moves: a packet that goes on by a stage, alone or into its partner. Beside
it stand a prototype that visited every switch (as recorded, on one core of a machine of the same
class) and the readable twin, measured here. CPU seconds of one core, kernels compiled beforehand.

Usage: python benchmarks/combining.py
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from netloom_papers.combining import CombiningEngine, CombiningNetwork
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots

PROTOTYPE = {
    64: 111_500,
    128: 53_100,
    256: 25_300,
    512: 11_700,
    1024: 4_600,
    2048: 1_900,
    4096: 926,
    8192: 447,
    16384: 140,
}
"""Steps a second of a kernel that looks at every switch in every step."""

SEED = 3
"""Of a placement on which requests do not pile up, at any size."""


def normal(pes: int, rate: float = 0.15) -> HotSpotTraffic:
    """The report's normal requests (Table IV)."""
    hot = place_hot_spots(pes, 8, seed=SEED)
    return HotSpotTraffic(hot, assign_hot_spots(pes, hot, 2, 0.95, seed=SEED), rate)


def measure(pes: int, steps: int, rate: float = 0.15) -> tuple[float, float]:
    """Return steps and moves a CPU second, after a start that fills the network."""
    engine = CombiningEngine(CombiningNetwork(pes), normal(pes, rate), seed=SEED)
    engine.advance(60)
    moves, start = engine.moves, time.process_time()
    engine.advance(60 + steps)
    seconds = time.process_time() - start
    return steps / seconds, (engine.moves - moves) / seconds


def twin(pes: int = 512, steps: int = 10) -> float:
    """Return steps a CPU second of the readable twin."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.reference.combining import CombiningTwin

    readable = CombiningTwin(CombiningNetwork(pes), normal(pes), seed=SEED)
    readable.advance(60)
    start = time.process_time()
    readable.advance(60 + steps)
    return steps / (time.process_time() - start)


def main() -> None:
    """Print a line a size."""
    measure(64, 10)
    print("elements   steps/s  M moves/s  prototype, steps/s  ratio  peak MB of the process")
    for bits in range(6, 17):
        pes = 2**bits
        steps, moves = measure(pes, max(60, 2**22 // pes // bits))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        recorded = PROTOTYPE.get(pes)
        beside = f"{recorded:18,}  {steps / recorded:5.1f}" if recorded else f"{'-':>18}  {'-':>5}"
        print(f"{pes:8,} {steps:9,.0f} {moves / 1e6:10.1f}  {beside}  {peak:10,.0f}", flush=True)
    print("few requests (rate 0.002), which cost what they move and not what the network is:")
    for pes in (512, 16384):
        steps, moves = measure(pes, 2**22 // pes, rate=0.002)
        print(f"{pes:8,} {steps:9,.0f} {moves / 1e6:10.1f}")
    slow, (fast, _) = twin(), measure(512, 5000)
    print(
        f"readable twin at 512: {slow:.1f} steps/s; the kernel is {fast / slow:,.0f} times as fast"
    )


if __name__ == "__main__":
    main()
