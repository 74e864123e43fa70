"""The timeline of a schedule of a collective: its messages on tracks of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.questions.timelines import Crossed, Happened, timeline_of
from netloom.workload.programs.collectives.waits import waits

if TYPE_CHECKING:
    from netloom.drawing.timelines import Timeline
    from netloom.phases.collectives.schedules import Schedule


def schedule_timeline(schedule: Schedule) -> Timeline:
    """Return when each message leaves and arrives, and what the busiest channels carry."""
    program, network, routes = schedule.program, schedule.network, schedule.routes
    none, every = np.zeros(program.num_messages), np.ones(program.num_messages, np.bool_)
    awaited = np.zeros(program.num_messages, np.bool_)
    awaited[waits(program, stepwise=False)[1]] = True
    happened = Happened(
        names=network.labels, source=program.source, target=program.target,
        ready=schedule.start, sent=schedule.start, entered=schedule.start,
        arrived=schedule.end, complete=schedule.end,
        delay=none, run=none, hold=none, receive=none,
        size=program.message_size * schedule.size_bytes, moved=every, awaited=awaited,
    )  # fmt: skip
    crossed = Crossed(
        routes, np.ones(len(routes.values)), network.rate, network.channel_name, schedule.sending
    )
    return timeline_of(
        happened, program=f"{program.collective} on {network.name}", unit="seconds",
        size="bytes", unit_us=1e6, crossed=crossed,
    )  # fmt: skip
