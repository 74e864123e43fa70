"""One run of a trace: when all its entries are complete, and what its messages waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.critical_path import critical_path, waits_at_source
from netloom.simulation.replay import run_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from netloom.simulation.agenda import Records
    from netloom.simulation.critical_path import CriticalPath
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.simulation.replay import Ending
    from netloom.workload.programs.traces import Replay

STEP_CYCLES = 2_000
"""Cycles after which a run can be interrupted."""


class MessageTimes(NamedTuple):
    """What the latency of messages is made of, int64[] each, cycles; -1 if one has not arrived.

    ``latency`` is from sending to arrival: ``source_wait`` until its node's channel into the
    network took it, ``unhindered`` in an idle network, and ``contention``.
    """

    latency: NDArray[np.int64]
    source_wait: NDArray[np.int64]
    unhindered: NDArray[np.int64]
    contention: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TraceRun:
    """What a run of a trace found.

    Attributes
    ----------
    program
        The rows that the trace became on its nodes.
    ending
        How the run ended.
    rows
        Records of all rows; see ``agenda.ROW``.
    unhindered
        int64[num_rows], latency of each message had nothing been in its way; -1 for rows that send
        none, or whose message has not arrived.
    critical_path
        The chain of rows that determined the finish; None where the trace did not finish.
    channel_flits
        int64[num_channels], flits that crossed each channel.
    """

    program: Replay
    ending: Ending
    rows: Records
    unhindered: NDArray[np.int64]
    critical_path: CriticalPath | None
    channel_flits: NDArray[np.int64]

    @property
    def finish_cycles(self) -> int | None:
        """The cycle in which all entries were complete; None where they were not."""
        return self.critical_path.finish_cycles if self.critical_path else None

    @property
    def ideal_finish_cycles(self) -> int | None:
        """When it would have finished had no row waited: for channels, or for a processor."""
        return self.critical_path.ideal_finish_cycles if self.critical_path else None

    @property
    def contention_share(self) -> float | None:
        """Part of the finish time that messages of the critical path lost to others."""
        if not self.critical_path or not self.critical_path.finish_cycles:
            return None
        lost = int(self.critical_path.parts.contention.sum())
        return lost / self.critical_path.finish_cycles

    def message_times(self, chosen: NDArray[np.int64]) -> MessageTimes:
        """Return what the latency of some rows, which send messages, is made of."""
        rows, alone = self.rows[chosen], self.unhindered[chosen].copy()
        arrived = rows["arrived"] >= 0
        alone[arrived & (rows["source"] == rows["target"])] = 0
        latency = np.where(arrived, rows["arrived"] - rows["sent"], -1)
        waited = waits_at_source(rows)
        return MessageTimes(
            latency=latency,
            source_wait=np.where(arrived, waited, -1),
            unhindered=alone,
            contention=np.where(arrived, latency - waited - alone, -1),
        )


def run_trace(
    network: ProgramNetwork,
    program: Replay,
    most_cycles: int,
    tell: Callable[[int], None],
    stopped: Callable[[], bool],
) -> TraceRun:
    """Run a trace until all of it is complete, or for ``most_cycles``; return what was found.

    ``tell`` is told the rows that are complete after every step.

    Raises
    ------
    DeadlockError
        If messages block each other for good.
    """
    engine = network.make_engine()
    ending = run_program(
        engine, program, step=STEP_CYCLES, most_cycles=most_cycles, stopped=stopped, tell=tell
    )
    rows = engine.rows.copy()
    moved = (rows["arrived"] >= 0) & (rows["flits"] > 0) & (rows["source"] != rows["target"])
    alone = np.full(len(rows), -1, np.int64)
    alone[moved] = network.zero_load_latencies(rows[moved])
    path = None
    if ending.enough:
        path = critical_path(program.messages, rows, lambda some: alone[some])
    return TraceRun(program, ending, rows, alone, path, engine.channel_flits())
