"""One run of a program whose tasks compute, send, wait, and start again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.simulation.replay import run_program

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from netloom.simulation.agenda import Records
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.simulation.replay import Ending
    from netloom.workload.programs.loops import ClosedLoop

STEP_MESSAGES = 8
"""Messages that an unhindered task sends between two extensions of its loop."""


@dataclass(frozen=True, eq=False)
class LoopRun:
    """What one run of a loop found.

    Attributes
    ----------
    ending
        How the run ended.
    ends
        int64[num_loops, num_chains], the cycle in which each loop of a task ends, as many as were
        asked for; -1: not yet.
    loops
        int64[num_chains], loops that each task has finished.
    message_latency, unhindered
        Mean latency of the messages, and what it would be in an idle network, cycles; NaN if there
        are none over the network.
    channel_flits
        float64[num_channels], flits a cycle on each channel.
    flit_hops
        Flits times channels crossed.
    """

    ending: Ending
    ends: NDArray[np.int64]
    loops: NDArray[np.int64]
    message_latency: float
    unhindered: float
    channel_flits: NDArray[np.float64]
    flit_hops: int


def run_loop(
    network: ProgramNetwork,
    loop: ClosedLoop,
    loops: int,
    *,
    message_flits: int,
    most_cycles: int,
    by_node: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> LoopRun:
    """Run until every task has gone round ``loops`` times, or for ``most_cycles``.

    ``by_node``: see ``ProgramNetwork.make_engine``.

    Raises
    ------
    DeadlockError
        If messages block each other for good.
    """
    engine = network.make_engine(by_node=by_node)
    ending = run_program(
        engine,
        loop,
        enough=lambda rows: bool(len(rows) and loop.loops_done(rows["complete"]).min() >= loops),
        step=STEP_MESSAGES * int(message_flits + loop.think_cycles),
        most_cycles=most_cycles,
        stopped=stopped,
    )
    latency, unhindered = _latencies(network, engine.rows, loop.packets)
    return LoopRun(
        ending=ending,
        ends=loop.loop_ends(engine.rows["complete"], loops),
        loops=loop.loops_done(engine.rows["complete"]),
        message_latency=latency,
        unhindered=unhindered,
        channel_flits=engine.channel_flits() / max(ending.cycle, 1),
        flit_hops=engine.flit_hops,
    )


def _latencies(network: ProgramNetwork, rows: Records, packets: int) -> tuple[float, float]:
    """Return the mean latency of messages over the network, and what it would be in an idle one.

    A message goes from its first packet's sending to its last's arrival; packets that the program
    cuts it into wait for each other, and for the gap between them.
    """
    of_message = rows.reshape(-1, packets)
    last = of_message[:, -1]
    moved = of_message[(last["arrived"] >= 0) & (last["hops"] > 0)]
    if not len(moved):
        return float("nan"), float("nan")
    latency = moved[:, -1]["arrived"] - moved[:, 0]["sent"]
    alone = network.zero_load_latencies(moved.ravel()).reshape(-1, packets).sum(axis=1)
    gaps = moved["delay"][:, 1:].sum(axis=1)
    return float(latency.mean()), float((alone + gaps).mean())
