"""What the phases of a schedule take once words cross their routes: the latency that it leaves out.

A schedule counts the words of processors and channels. On the machine, and in ``execute``, the last
word of a connection has its route to cross as well, and whoever comes next waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.models.messages import ConSetCosts
    from netloom.phases.plan.plans import Plan
    from netloom.phases.timetable.timetables import Timetable

HOP_CYCLES, END_CYCLES = 2, 3
"""Cycles of a head on a hop, and on the channels between processors and routers; see ``execute``.
"""


def expected_makespan(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> NDArray[np.float64]:
    """Return the clocks of each phase with the latency of routes (float64[num_phases]).

    Each connection takes as long as the schedule says, and 2 h + 3 cycles more over h hops. It
    begins when those before it have been delivered: those that the order has before it and, unless
    connections stream, the last one of its source and of its target.

    Examples
    --------
    >>> from netloom.models import ConSetCosts
    >>> from netloom.phases import Capacity, Plan, connections, schedule
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> ring, costs = topology("ring:4"), ConSetCosts()
    >>> given = connections(read("ring:4"), range(4), 4, words=100)
    >>> routes = paths(ring, DimensionOrder(), given.source, given.target)
    >>> plan = Plan(ring, given, Capacity(8), np.zeros(8, np.int32), routes, "sequential")
    >>> expected_makespan(plan, schedule(plan, costs, kind="streaming"), costs)  # 400 by words
    array([410.])
    >>> expected_makespan(plan, schedule(plan, costs), costs)  # two, one after the other
    array([420.])
    """
    given = plan.connections
    cycle = costs.channel_clocks_per_word
    latency = (HOP_CYCLES * plan.routes.lengths + END_CYCLES) * cycle
    lasting = (timetable.end - timetable.start + latency).tolist()
    exclusive = timetable.kind != "streaming"
    source = given.source.tolist()
    target = (given.target + (given.num_nodes if costs.both_ways else 0)).tolist()
    phase = plan.phase.tolist()
    before: dict[int, list[int]] = {}
    for former, latter in zip(given.before.tolist(), given.after.tolist(), strict=True):
        if phase[former] == phase[latter]:
            before.setdefault(latter, []).append(former)
    end = [0.0] * len(given)
    free: dict[tuple[int, int], float] = {}
    for one in np.lexsort((timetable.end, timetable.start, plan.phase)).tolist():
        sides = (phase[one], source[one]), (phase[one], target[one])
        start = max((end[other] for other in before.get(one, ())), default=0.0)
        if exclusive:
            start = max(start, *(free.get(side, 0.0) for side in sides))
        end[one] = start + lasting[one]
        free[sides[0]] = free[sides[1]] = end[one]
    found = np.zeros(plan.num_phases)
    np.maximum.at(found, plan.phase, end)
    return found
