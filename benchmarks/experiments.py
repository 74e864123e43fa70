"""How well a sweep of simulations uses processors: one worker against two, in one run.

The sweep is that of examples/torus-vs-mesh.toml with longer runs, each time into a store of its
own. Workers are given as many processors as there are; runs take turns, so that what else the
machine does hits both alike. Also: what a point costs beside its answer, and how long it takes to
see that nothing is to be done.

Usage: python benchmarks/experiments.py [TURNS]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

from netloom.experiments import run
from netloom.simulation.side_by_side import processors

SWEEP = """
[simulate]
on = ["torus:8x8", "mesh:8x8"]
load = "0.05:0.4:0.05"
cycles = 200_000
repeat = 4
"""

MANY = """
[predict.wiring]
nodes = {from = 4, to = 1048576, factor = 2}
message_headers = {from = 1, to = 100}
"""


def seconds(text: str, workers: int) -> tuple[float, float, int]:
    """Return the seconds that an experiment lasts, a second run of it, and how many points."""
    file = Path(mkdtemp(prefix="netloom-")) / "sweep.toml"
    file.write_text(text)
    start = time.perf_counter()
    found = run(file, workers=workers)
    lasted = time.perf_counter() - start
    start = time.perf_counter()
    run(file, workers=workers)
    return lasted, time.perf_counter() - start, len(found.answered)


def main() -> None:
    """Print a line a number of workers, and what two are worth."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds(SWEEP.replace("200_000", "2_000"), 1)  # kernels are compiled once, and kept
    found: dict[int, list[float]] = {1: [], 2: []}
    points = 0
    for _ in range(turns):
        for workers, lasted in found.items():
            taken, _, points = seconds(SWEEP, workers)
            lasted.append(taken)
    for workers, lasted in found.items():
        print(
            f"{workers} worker{'s' * (workers > 1)}: {median(lasted):6.1f} s for {points} points "
            f"(median of {turns}, {min(lasted):.1f} to {max(lasted):.1f})"
        )
    ratios = [one / two for one, two in zip(found[1], found[2], strict=True)]
    print(
        f"two workers are worth {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) on "
        f"{processors()} processors; goal 1.8"
    )
    taken, again, points = seconds(MANY, processors())
    print(f"{points} tiny points: {1e3 * taken / points:.2f} ms each, kept on disk one by one")
    print(f"the same again, nothing to do: {1e3 * again / points:.3f} ms each")


if __name__ == "__main__":
    main()
