"""The timeline of the fastest algorithm of a collective at the largest size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.questions.collective.runs import MOST_LISTED, Runner
from netloom.questions.simulate.engines import PreparedFlows
from netloom.questions.simulate.timelines import crossed_links
from netloom.questions.timelines import Happened, timeline_of
from netloom.workload.programs.collectives.sent import rounds_of

if TYPE_CHECKING:
    from netloom.drawing.timelines import Timeline
    from netloom.questions.collective.answer import CollectiveTimes, Point
    from netloom.simulation.flow import FlowRun
    from netloom.workload.programs.messages import Messages


def fastest_run(answer: CollectiveTimes, asks: str) -> tuple[Point, Messages, FlowRun]:
    """Return the fastest algorithm at the largest size, its messages, and their run as flows.

    Raises
    ------
    InputError
        If they are so many that they were not run one by one. ``asks`` is the file that needs them.
    """
    best = answer.at(answer.sizes[-1])[0]
    algorithm = answer.known[best.algorithm]
    outline = algorithm.outline(best.run.chunks)
    if outline.num_messages > MOST_LISTED:
        found = f"{counted(outline.num_messages, 'message', ',')} of {best.algorithm}"
        wanted = f"at most {MOST_LISTED:,}: fewer ranks or chunks, or another algorithm"
        raise InputError(asks, found, wanted)
    assert isinstance(answer.network, PreparedFlows)
    runner = Runner(answer.network, answer.host_of, answer.node_of_host)
    return best, *runner.listed(algorithm, best.run.chunks, best.size)


def fastest_timeline(answer: CollectiveTimes) -> Timeline:
    """Return when the messages of the fastest algorithm at the largest size went, rank by rank.

    Raises
    ------
    InputError
        If they are so many that they were not run one by one.
    """
    best, table, found_run = fastest_run(answer, "perfetto")
    outline = answer.known[best.algorithm].outline(best.run.chunks)
    assert isinstance(answer.network, PreparedFlows)
    ranks = rounds_of(outline, best.size, np.arange(answer.num_ranks))
    rounds = [each for each in ranks for _ in range(each.count)] or [*ranks]
    none = np.zeros(0, np.int32)
    awaited = np.zeros(len(table), np.bool_)
    awaited[found_run.last[found_run.last >= 0]] = True
    happened = Happened(
        names=[f"rank {rank}" for rank in range(answer.num_ranks)],
        source=np.concatenate([none, *(each.source for each in rounds)]),
        target=np.concatenate([none, *(each.target for each in rounds)]),
        **{
            name: getattr(found_run, name)
            for name in ("ready", "sent", "entered", "arrived", "complete")
        },
        **{name: getattr(table, name) for name in ("delay", "run", "hold", "receive")},
        size=table.flits,
        moved=found_run.way >= 0,
        awaited=awaited,
    )
    what = f"{best.algorithm} {answer.collective}"
    what += f" of {units.size(best.size)}" if best.size else ""
    return timeline_of(
        happened, program=f"{what} on {answer.topology.name}", unit="seconds", size="bytes",
        unit_us=1e6, crossed=crossed_links(answer.network.links, found_run, happened.moved),
    )  # fmt: skip
