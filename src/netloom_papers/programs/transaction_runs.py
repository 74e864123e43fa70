"""Runs of transactions in steady state, by batches of equal length."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netloom.simulation.intervals import interval_over_runs
from netloom.simulation.loops import KeptRows, kept_rows
from netloom.simulation.replay import ProgramRun
from netloom.simulation.steady import run_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Floats
    from netloom.simulation.program_network import ProgramNetwork
    from netloom_papers.programs.transactions import Transactions, TransactionStatistics

WARM_BATCHES, BATCHES = 5, 20
"""Batches of the start-up, and equal parts of the measured time after it."""

BATCH_TRANSACTIONS = 10
"""Transactions that a thread issues in a batch, where no message meets another."""


@dataclass(frozen=True, eq=False)
class TransactionRun:
    """What a run of transactions found in its window.

    Figures of all of the measured time, and of its ``batches``. B, the mean length of a message.
    float64[num_network_channels], flits per cycle on each channel. The cycle it came to, and
    whether it was stopped from outside. The rows, those of the start-up too, if they were to be
    kept.
    """

    found: TransactionStatistics
    batches: tuple[TransactionStatistics, ...]
    mean_flits: float
    channel_flits: Floats
    cycle: int
    interrupted: bool
    kept: KeptRows | None = None

    def interval(self, quantity: str) -> float:
        """Return the half-width of the 95 % confidence interval of a figure, from batch means."""
        return interval_over_runs([getattr(batch, quantity) for batch in self.batches])[1]


def batch_cycles(thread_cycles: float, processor_cycles: float) -> int:
    """Return the cycles of a batch, from those of a transaction that no other message delays.

    A thread takes so long from one to the next, and a processor to let each of its threads run.

    Examples
    --------
    >>> batch_cycles(thread_cycles=60, processor_cycles=32)
    601
    """
    return int(BATCH_TRANSACTIONS * max(thread_cycles, processor_cycles)) + 1


def run_transactions(
    network: ProgramNetwork,
    program: Transactions,
    batch: int,
    contexts: int,
    stopped: Callable[[], bool],
    *,
    keep: bool = False,
) -> TransactionRun | None:
    """Run through the start-up and all batches of so many cycles. Return what was found.

    The rows of each of the ``contexts`` of a processor are made as if it were alone there. None if
    the run was stopped before two batches were complete. ``keep``: to keep the rows.
    """
    engine = network.make_engine()
    run = ProgramRun(engine, program)
    begin = WARM_BATCHES * batch
    step = min(batch, -(-4 * batch // contexts))
    run_to(run, begin, step=step, stopped=stopped)
    before = engine.channel_flits()
    ended = run_to(run, begin + BATCHES * batch, step=step, stopped=stopped)
    marks = np.arange(begin, run.cycle + 1, batch).tolist()
    if len(marks) < 3:
        return None
    rows = engine.rows
    sent = (rows["sent"] >= 0) & (rows["flits"] > 0) & (rows["source"] != rows["target"])
    return TransactionRun(
        found=program.statistics(rows, begin=begin, end=marks[-1]),
        batches=tuple(
            program.statistics(rows, begin=first, end=last) for first, last in pairwise(marks)
        ),
        mean_flits=float(rows["flits"][sent].mean()) if sent.any() else float("nan"),
        channel_flits=(engine.channel_flits() - before) / max(run.cycle - begin, 1),
        cycle=run.cycle,
        interrupted=not ended,
        kept=kept_rows(engine, every=0) if keep else None,
    )
