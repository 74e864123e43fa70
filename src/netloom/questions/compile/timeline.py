"""The timeline of compiled phases: switching and moving, and the connections of each node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.drawing.timelines import Slices, Track, nanoseconds
from netloom.questions.timelines import Crossed, Happened, timeline_of
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.drawing.timelines import Timeline
    from netloom.models import ConSetCosts
    from netloom.phases import Plan, Timetable
    from netloom.phases.execute.execution import Execution


def phases_timeline(
    plan: Plan, timetable: Timetable, costs: ConSetCosts, run: Execution | None = None
) -> Timeline:
    """Return the phases one after the other, by simulation if there was one, else by timetable.

    Each begins with a switch. A connection lasts from when it may send until its last word is
    there. Clocks are shown as µs.
    """
    given, times = plan.connections, timetable if run is None else run
    lasting = timetable.makespan if run is None else run.phase_cycles * run.cycle_clocks
    ends = np.asarray(np.cumsum(lasting + costs.switch_clocks), np.float64)
    begin = np.asarray(ends - lasting, np.float64)
    none, every = np.zeros(len(given)), np.ones(len(given), np.bool_)
    start, end = begin[plan.phase] + times.start, begin[plan.phase] + times.end
    network = plan.topology
    happened = Happened(
        names=[f"node {network.name_of(node)}" for node in range(network.num_hosts)],
        source=given.source, target=given.target,
        ready=start, sent=start, entered=start, arrived=end, complete=end,
        delay=none, run=none, hold=none, receive=none,
        size=given.words, moved=every, awaited=~every,
        ids=[given.describe(each) for each in range(len(given))],
    )  # fmt: skip
    routes = Lists(plan.routes.offsets, plan.routes.channels)
    word = max(costs.channel_clocks_per_word, 1e-300)
    capacity = np.full(network.num_channels, 1 / word)
    found = timeline_of(
        happened, program=f"{given.name} in phases on {network.name}", unit="clocks",
        size="words",
        crossed=Crossed(routes, np.ones(len(routes.values)), capacity, network.channel_name),
        about={"times": timetable.kind if run is None else "simulated",
               "clocks": float(ends[-1]) if len(ends) else 0.0},
    )  # fmt: skip
    return _with_phases(found, begin, ends, costs.switch_clocks)


def _with_phases(found: Timeline, begin: Floats, ends: Floats, switch: float) -> Timeline:
    """Add a track of phases, in each of which there is a switch, and then words move."""
    track, count = len(found.tracks), len(ends)
    first, middle, last = (nanoseconds(each, 1.0) for each in (begin - switch, begin, ends))
    number = list(range(count))
    rows = [
        ("phase", first, last, [f"phase {each}" for each in number]),
        ("switch", first, middle, ()),
        ("move", middle, last, ()),
    ]
    slices = []
    for kind, since, until, names in rows:
        kept = np.flatnonzero(until > since)
        said = [names[each] for each in kept.tolist()] if names else ()
        slices.append(Slices(kind, np.full(len(kept), track), since[kept], until[kept], said,
                             {"phase": kept.tolist()}))  # fmt: skip
    return replace(
        found,
        tracks=(*found.tracks, Track("phases", "phases")),
        slices=(*found.slices, *slices),
    )
