"""Plans as tables: a row per connection, per phase, per channel that is used, and per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.figures import Figures, figure
from netloom.phases.timetables import channel_words, processor_words

if TYPE_CHECKING:
    from netloom.models import ConSetCosts
    from netloom.phases import Plan, Timetable
    from netloom.phases.execute.execution import Execution

CLOCKS = "clocks"


class Connection(Figures):
    """A connection, and its clocks since its phase began, without the switch."""

    connection: int = figure()
    source_task: int = figure()
    target_task: int = figure()
    source: int = figure("from node")
    target: int = figure("to node")
    words: int = figure()
    phase: int = figure()
    hops: int = figure()
    start: float = figure(unit=CLOCKS)
    end: float = figure(unit=CLOCKS)
    simulated_start: float | None = figure(unit=CLOCKS, optional=True)
    simulated_end: float | None = figure(unit=CLOCKS, optional=True)


class Phase(Figures):
    """A phase: its contents, its busiest parts, and how long it takes without the switch."""

    phase: int = figure(key=True, lead=True)
    connections: int = figure(key=True, lead=True)
    words: float = figure()
    channels_used: int = figure(head="virtual channels", key=True, lead=True)
    processor_clocks: float = figure("busiest processor", CLOCKS, lead=True)
    channel_clocks: float = figure("busiest channel", CLOCKS, lead=True)
    makespan: float = figure(unit=CLOCKS, head="lasts", key=True, lead=True)
    lower_bound: float = figure(unit=CLOCKS, head="at least", key=True, lead=True)
    simulated: float | None = figure(unit=CLOCKS, optional=True, lead=True)


class Channel(Figures):
    """A channel that is used in a phase: its nodes, and its words."""

    phase: int = figure()
    channel: int = figure()
    source_node: int = figure()
    target_node: int = figure()
    words: float = figure()


class Node(Figures):
    """The words that the processor of a node moves in all phases.

    If it sends and receives at the same time, the larger of both counts in each phase.
    """

    node: int = figure()
    words: float = figure()


def sums_of_phases(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> dict[str, Any]:
    """Return columns of what each phase has: contents, busiest parts, and clocks without switch."""
    words = plan.connections.words.astype(np.float64)
    at_nodes = processor_words(plan, words, both_ways=costs.both_ways)
    on_channels = channel_words(plan) * costs.channel_clocks_per_word
    return {
        "phase": np.arange(plan.num_phases),
        "connections": np.bincount(plan.phase, minlength=plan.num_phases),
        "words": np.bincount(plan.phase, words, plan.num_phases),
        "channels_used": plan.use().max(axis=1, initial=0),
        "processor_clocks": at_nodes.max(axis=1, initial=0.0) * costs.clocks_per_word,
        "channel_clocks": on_channels.max(axis=1, initial=0.0),
        "makespan": timetable.makespan,
        "lower_bound": timetable.lower_bound,
    }


def sums_of_connections(plan: Plan, timetable: Timetable, run: Execution | None) -> dict[str, Any]:
    """Return columns of ``Connection``. If phases were simulated, with those times, too."""
    given = plan.connections
    simulated = {} if run is None else {"simulated_start": run.start, "simulated_end": run.end}
    return {
        "connection": np.arange(len(given)),
        "source_task": given.source_task,
        "target_task": given.target_task,
        "source": given.source,
        "target": given.target,
        "words": given.words,
        "phase": plan.phase,
        "hops": plan.routes.lengths,
        "start": timetable.start,
        "end": timetable.end,
    } | simulated


def sums_of_channels(plan: Plan) -> dict[str, Any]:
    """Return columns of ``Channel``."""
    words, network = channel_words(plan), plan.topology
    phase, channel = np.nonzero(words)
    return {
        "phase": phase,
        "channel": channel,
        "source_node": network.source_end[channel],
        "target_node": network.target_end[channel],
        "words": words[phase, channel],
    }


def sums_of_nodes(plan: Plan, costs: ConSetCosts) -> dict[str, Any]:
    """Return columns of ``Node``."""
    words = plan.connections.words.astype(np.float64)
    moved = processor_words(plan, words, both_ways=costs.both_ways).sum(axis=0)
    return {"node": np.arange(len(moved)), "words": moved}
