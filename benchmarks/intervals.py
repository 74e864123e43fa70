"""How often a run's 95 % interval of the mean packet latency holds the mean of a much longer run.

Every configuration is run with the default precision (a run ends by its own interval, which makes
it harder to cover) and for a given number of cycles. The true mean is that of runs with other
seeds, 40 times as many cycles in all as the longest run compared; its own error is printed beside
the usual half-width. Of 40 intervals of exactly 95 %, 35 or fewer cover in 1 of 30 tables' rows.

Usage: python benchmarks/intervals.py [seeds]    (40 by default: about 2 CPU minutes)
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

CONFIGURATIONS = [
    ("mesh:4x4, load 0.65", {"on": "mesh:4x4", "load": 0.65}),
    ("mesh:4x4, load 0.55, geometric lengths",
     {"on": "mesh:4x4", "load": 0.55, "packet_flits": "geometric:5"}),
    ("mesh:4x4, load 0.4, bursts",
     {"on": "mesh:4x4", "load": 0.4, "arrivals": "on-off:100,0.5"}),
    ("mesh:4x4, load 0.4, bursts, geometric lengths",
     {"on": "mesh:4x4", "load": 0.4, "arrivals": "on-off:100,0.5", "packet_flits": "geometric:5"}),
    ("torus:4x4, load 0.6, adaptive",
     {"on": "torus:4x4", "load": 0.6, "routing": "adaptive"}),
    ("mesh:4x4, load 0.3", {"on": "mesh:4x4", "load": 0.3}),
]  # fmt: skip
CYCLES = 20_000
"""Cycles of the runs of a given length."""

LONG_SEEDS, LONG_CYCLES = 8, 400_000
"""The runs that the true mean is taken from."""


def true_mean(question: dict) -> tuple[float, float]:
    """Return the mean latency of long runs, and the standard error of it."""
    from netloom import simulate

    means = [
        simulate(**question, cycles=LONG_CYCLES, seed=10_000 + seed).packet_latency
        for seed in range(LONG_SEEDS)
    ]
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(LONG_SEEDS))


def covered(question: dict, truth: float, seeds: int, cycles: int | None) -> tuple:
    """Return how many intervals hold the truth, the mean half-width and length of the runs."""
    from netloom import simulate

    asked = (simulate(**question, cycles=cycles, seed=seed) for seed in range(1, seeds + 1))
    kept_up = [found.point.measured for found in asked if found.stable]
    hits = sum(abs(one.packet_latency - truth) <= one.packet_latency_ci95 for one in kept_up)
    half = np.mean([one.packet_latency_ci95 for one in kept_up]) / truth
    return hits, len(kept_up), half, np.mean([one.cycles for one in kept_up])


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    start = time.process_time()
    print(f"{'configuration':<48}{'run':>12}{'covers':>14}{'± 95 %':>9}{'cycles':>10}{'true':>18}")
    for name, question in CONFIGURATIONS:
        truth, error = true_mean(question)
        for kind, cycles in (("precision", None), ("cycles", CYCLES)):
            hits, runs, half, length = covered(question, truth, seeds, cycles)
            share = f"{hits} of {runs}, {hits / runs:.1%}"
            print(f"{name:<44}{kind:>11}{share:>20}{half:>9.2%}{length:>10.0f}"
                  f"{truth:>10.2f} ± {1.96 * error / truth:.2%}", flush=True)  # fmt: skip
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
