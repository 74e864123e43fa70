"""How often networks near saturation are called stable, by load and length of the run.

``growth`` is what the backlog grows by from the middle of runs of 400 000 cycles to their end, as
a fraction of the traffic offered: 0 but for chance in a network that keeps up. The other columns
are how many of the runs of other seeds were called past saturation: of runs that end by themselves,
and of runs of so many cycles. Where nothing grows, that should be none, and where the backlog grows
by 1 % or more, all; between the two, a network is at its limit, and the answer is a matter of
chance and of how long one looks.

Usage: python benchmarks/stability.py [seeds]    (40 by default: about 8 CPU minutes)
"""

from __future__ import annotations

import sys
import time
import warnings

LOADS = {"mesh:4x4": (0.66, 0.68, 0.70, 0.71, 0.72, 0.73), "mesh:8x8": (0.38, 0.39, 0.40, 0.41)}
LENGTHS = (None, 30_000, 150_000)
LONG_CYCLES, LONG_SEEDS = 400_000, 4


def growth(on: str, load: float) -> float:
    """Return the late growth of the backlog in long runs, over the traffic offered."""
    from netloom.questions.simulate.load import SimulateQuestion, prepare

    grown, offered = 0.0, 0.0
    for seed in range(10_000, 10_000 + LONG_SEEDS):
        network = prepare(SimulateQuestion(on=on, load=load, seed=seed))
        run = network.make_run(network.settings[0], load)
        run.advance(LONG_CYCLES // 2)
        before, born = run.backlog_flits, run.born_flits.sum()
        run.advance(LONG_CYCLES // 2)
        grown += run.backlog_flits - before
        offered += run.born_flits.sum() - born
    return grown / offered


def main() -> None:
    """Print the table."""
    from netloom import simulate

    warnings.simplefilter("ignore")
    seeds, start = int(sys.argv[1]) if len(sys.argv) > 1 else 40, time.process_time()
    heads = ("by itself", *(f"{cycles} cycles" for cycles in LENGTHS if cycles))
    print(f"{'network':<10}{'load':>6}{'growth':>9}", *(f"{head:>14}" for head in heads), sep="")
    for on, loads in LOADS.items():
        for load in loads:
            called = [
                sum(not simulate(on, load=load, cycles=cycles, seed=seed).stable
                    for seed in range(1, seeds + 1))
                for cycles in LENGTHS
            ]  # fmt: skip
            shown = "".join(f"{f'{each} of {seeds}':>14}" for each in called)
            print(f"{on:<10}{load:>6}{growth(on, load):>9.2%}{shown}", flush=True)
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
