"""Schedules of collectives as traces, which all engines replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.programs.collectives.sent import sizes_in_bytes
from netloom.workload.programs.collectives.waits import waits
from netloom.workload.programs.many_lists import Lists
from netloom.workload.programs.traces import Trace

if TYPE_CHECKING:
    from netloom.phases.collectives.schedules import Schedule


def schedule_trace(schedule: Schedule, name: str) -> Trace:
    """Return a schedule as a trace in bytes and seconds, whose tasks are ranks.

    A message is sent at its time, and later if what it carries arrives later.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.synthesis import proven, synthesised
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> schedule_trace(proven(synthesised(net, "all-gather", 1e9)), "plan.json")
    <plan.json: 4 tasks, 24 messages, 24 entries>
    """
    program, count = schedule.program, schedule.program.num_messages
    nothing = np.zeros(count)
    return Trace(
        name,
        program.num_ranks,
        tuple(map(str, range(count))),
        start=schedule.start,
        run=nothing,
        hold=nothing,
        receive=nothing,
        source=program.source,
        flits=sizes_in_bytes(program.message_size, schedule.size_bytes),
        targets=Lists(np.arange(count + 1), program.target.astype(np.int64)),
        after=Lists(*waits(program, stepwise=False)),
        flit_bytes=1,
        unit="seconds",
    )
