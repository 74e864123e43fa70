"""Speed of the models: microseconds where the simulator takes seconds.

One evaluation, many at once, and the simulator on the same question. CPU seconds of one core,
kernels compiled beforehand; a simulated point is as precise as asked, 2 %.

Usage: python benchmarks/models.py
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from netloom import predict_latency, simulate_broadcast
from netloom_papers.models.locality import alewife, predict_locality
from netloom_papers.models.torus_broadcasts import VARIANTS, torus_broadcast

if TYPE_CHECKING:
    from collections.abc import Callable

TORUS = {"message_flits": 32, "vcs": 4, "broadcast": 0.02}


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the CPU seconds of one of so many calls, after one that is not counted."""
    work()
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def main() -> None:
    """Print a line a model."""
    print("model                                        one, ms   10,000 at once, s")
    for variant in VARIANTS:
        asked = TORUS | {"variant": variant}
        limit = torus_broadcast(8, rate=0, **asked).saturation_rate
        rates = np.linspace(0, limit, 10_000)
        one = seconds(lambda a=asked, r=limit / 2: torus_broadcast(8, rate=r, **a), 100)
        many = seconds(lambda a=asked, r=rates: torus_broadcast(8, rate=r, **a))
        print(f"torus 8x8, {variant:32s} {1e3 * one:9.3f} {many:19.2f}")
    distances = np.linspace(1, 500, 1_000_000)
    one = seconds(lambda: predict_locality(alewife(2), distance=4.0), 100)
    many = seconds(lambda: predict_locality(alewife(2), distance=distances))
    print(f"locality{'':36s} {1e3 * one:9.3f} {many:19.2f}  (a million)")
    loads = np.linspace(0.02, 0.24, 12).tolist()
    curve = seconds(
        lambda: predict_latency(
            "mesh:8x8", app="examples/lammps-64.mtx", mapping="random", offered=loads
        )
    )
    print(f"latency of LAMMPS on mesh:8x8, the verb{'':5s} {1e3 * curve / len(loads):9.3f}")
    rate = torus_broadcast(8, rate=0, **TORUS).saturation_rate / 2
    torus = {"packet_flits": 32, "vcs": 4, "broadcast": 0.02, "routing": "adaptive"}
    simulated = seconds(lambda: simulate_broadcast("torus:8x8", rate=rate, **torus))
    model = seconds(lambda: torus_broadcast(8, rate=rate, **TORUS), 100)
    print(f"the simulator on the first question: {simulated:.2f} s, {simulated / model:,.0f} times")


if __name__ == "__main__":
    main()
