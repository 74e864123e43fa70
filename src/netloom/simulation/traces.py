"""One run of a trace: when its entries are complete, what messages waited for, what decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from netloom.simulation.replay import run_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from netloom.simulation.agenda import Records
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.simulation.replay import Ending
    from netloom.workload.programs.messages import Messages
    from netloom.workload.programs.traces import Replay

    Unhindered: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.int64]]

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
        int64[num_network_channels], flits that crossed each channel.
    host_channel_flits
        int64[2 * num_ports], the same of the channels of hosts that hang on routers.
    """

    program: Replay
    ending: Ending
    rows: Records
    unhindered: NDArray[np.int64]
    critical_path: CriticalPath | None
    channel_flits: NDArray[np.int64]
    host_channel_flits: NDArray[np.int64]

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
    crossed = engine.channel_flits(), engine.host_channel_flits()
    return TraceRun(program, ending, rows, alone, path, *crossed)


class Parts(NamedTuple):
    """Cycles of rows, part by part, each int64[]: together the time from release to completion.

    ``compute``: delay, and work of the source's processor. ``processor_wait``: until a processor
    was free, or had gone to another context, at the source or at the target. ``source_wait``: until
    its own node's channel into the network took the message, after those that the node sent
    before it, whatever held these up. ``message``: through the network, were nothing else in it.
    ``contention``: what it took longer once it had left its node. ``receive``: work of the target's
    processor.
    """

    compute: NDArray[np.int64]
    processor_wait: NDArray[np.int64]
    source_wait: NDArray[np.int64]
    message: NDArray[np.int64]
    contention: NDArray[np.int64]
    receive: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """The chain of rows that determined when a program finished.

    Attributes
    ----------
    rows
        int64[], from the first, which waited for nothing but its start, to the one that was
        complete last; each of the others was released by the one before.
    parts
        The cycles of each of these rows.
    start_cycles
        The cycle in which the first of them was released.
    finish_cycles
        The cycle in which the last was complete: the start and all parts.
    ideal_finish_cycles
        When the program would have finished in a network without contention, and had no row
        waited for a processor: the longest path through all rows.
    """

    rows: NDArray[np.int64]
    parts: Parts
    start_cycles: int
    finish_cycles: int
    ideal_finish_cycles: int

    @property
    def waited(self) -> NDArray[np.int64]:
        """The rows of the chain that had to wait for a processor."""
        return self.rows[self.parts.processor_wait > 0]

    def to_dict(self) -> dict[str, Any]:
        """Return what the finish time is made of, in cycles, and the rows of the chain."""
        totals = {f"{name}_cycles": int(getattr(self.parts, name).sum()) for name in Parts._fields}
        return {
            "finish_cycles": self.finish_cycles,
            "ideal_finish_cycles": self.ideal_finish_cycles,
            "start_cycles": self.start_cycles,
            **totals,
            "rows": self.rows.tolist(),
            "rows_that_waited_for_a_processor": self.waited.tolist(),
        }

    def __repr__(self) -> str:
        total = {name: int(getattr(self.parts, name).sum()) for name in Parts._fields}
        made_of = ", ".join(f"{name} {cycles}" for name, cycles in total.items() if cycles)
        ideal = f"ideally {self.ideal_finish_cycles}"
        return f"<{self.finish_cycles} cycles, {ideal}: {len(self.rows)} rows, {made_of}>"


def critical_path(table: Messages, rows: NDArray[Any], unhindered: Unhindered) -> CriticalPath:
    """Return the chain of rows that determined when a program finished.

    From the row that was complete last (of several, the first), back from each to the row that
    released it, until one that was released by its start only. Where a row waited for a
    processor, the chain does not turn to those that it waited for: the wait is a part of its own.

    ``table`` has all rows of the program, numbered from 0, at least one; ``rows`` are these when
    all are complete, with the fields ``ready``, ``sent``, ``entered``, ``arrived``, ``complete``
    and ``last``. Given int64[] numbers of rows that send a message, ``unhindered`` returns int64[],
    the cycles that each takes through the network when nothing else is in it.

    Examples
    --------
    >>> from netloom.workload.programs.messages import messages
    >>> table = messages(4, source=[0, 3], target=[3, 0], flits=[8, 0], run=5, after=[[], [0]])
    >>> fields = ("ready", "sent", "entered", "arrived", "complete", "last")
    >>> rows = [(0, 5, 8, 20, 20, -1), (20, 27, -1, 27, 27, 0)]
    >>> rows = np.array(rows, [(field, "i8") for field in fields])
    >>> path = critical_path(table, rows, lambda some: np.full(len(some), 12))
    >>> path  # of row 1, 2 cycles were not its computation's
    <27 cycles, ideally 22: 2 rows, compute 10, processor_wait 2, source_wait 3, message 12>
    """
    from netloom.simulation.kernels.critical_path import earliest_ends

    assert table.first == 0
    assert len(table) == len(rows) > 0
    complete = rows["complete"]
    assert complete.min() >= 0, "a row is not complete"
    sends = (table.flits > 0) & (table.source != table.target)
    alone = np.zeros(len(table), np.int64)
    alone[sends] = unhindered(np.flatnonzero(sends))
    cycles = table.delay.astype(np.int64) + table.run + alone + table.receive
    ends = earliest_ends(table.start, cycles, table.after_offsets, table.after)
    chain = _chain(table, rows)
    source_wait = waits_at_source(rows)[chain]
    parts = Parts(
        compute=table.delay[chain].astype(np.int64) + table.run[chain],
        processor_wait=(
            (rows["sent"] - rows["ready"])[chain]
            - table.run[chain]
            + (complete - rows["arrived"])[chain]
            - table.receive[chain]
        ),
        source_wait=source_wait,
        message=alone[chain],
        contention=(rows["arrived"] - rows["sent"])[chain] - source_wait - alone[chain],
        receive=table.receive[chain].astype(np.int64),
    )
    assert all(part.min() >= 0 for part in parts), "a row took less time than it can"
    start = int(rows["ready"][chain[0]]) - int(table.delay[chain[0]])
    finish = int(complete.max())
    assert start + sum(int(part.sum()) for part in parts) == finish
    return CriticalPath(chain, parts, start, finish, int(ends.max()))


def waits_at_source(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return how long each row waited for its node's channel; 0 for what did not leave its node."""
    left = rows["entered"] >= 0
    return np.where(left, rows["entered"] - rows["sent"], 0).astype(np.int64)


def _chain(table: Messages, rows: NDArray[Any]) -> NDArray[np.int64]:
    released = rows["ready"] - table.delay
    row = int(np.argmax(rows["complete"]))
    chain = [row]
    while True:
        before = int(rows["last"][row])
        if before < 0 or released[row] > rows["complete"][before]:  # its own start came later
            return np.array(chain[::-1], np.int64)
        chain.append(before)
        row = before
