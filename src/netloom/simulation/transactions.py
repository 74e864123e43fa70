"""One run of processors that wait for transactions, measured in batches of a fixed window."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netloom.simulation.intervals import batch_interval
from netloom.simulation.replay import ProgramRun
from netloom.simulation.steady import run_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from netloom.simulation.program_network import ProgramNetwork
    from netloom.workload.programs.transactions import Transactions, TransactionStatistics

WARM_BATCHES, BATCHES = 5, 20
"""Batches of the start-up, and equal parts of the measured time after it."""

BATCH_TRANSACTIONS = 10
"""Transactions that a thread issues in a batch, where no message meets another."""


@dataclass(frozen=True, eq=False)
class TransactionRun:
    """What a run of transactions found in its window.

    Attributes
    ----------
    found
        Figures of all of the measured time.
    batches
        Figures of its parts.
    mean_flits
        B, the mean length of a message.
    channel_flits
        float64[num_channels], flits a cycle on each channel.
    cycle
        The cycle it came to.
    interrupted
        Whether it was stopped from outside.
    """

    found: TransactionStatistics
    batches: tuple[TransactionStatistics, ...]
    mean_flits: float
    channel_flits: NDArray[np.float64]
    cycle: int
    interrupted: bool

    def interval(self, quantity: str) -> float:
        """Return the half-width of the 95 % confidence interval of a figure, from batch means."""
        values = [getattr(batch, quantity) for batch in self.batches]
        return batch_interval(values, np.ones(len(values)))[1]


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
) -> TransactionRun | None:
    """Run through the start-up and all batches of so many cycles; return what was found.

    The rows of each of the ``contexts`` of a processor are made as if it were alone there. None if
    the run was stopped before two batches were complete.
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
    )
