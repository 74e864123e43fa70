"""Tables for programs on a fabric: their own paths first, all others balanced around them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.base.provenance import DEFAULT_SEED
from netloom.fabrics.balancing import MOST_LANES, balanced
from netloom.fabrics.levels import costs_nothing, shortest_ways, tree_ways
from netloom.fabrics.program import best_for_program, program_times
from netloom.routing.forwarding.lanes import lane_circle, lanes_used, layered
from netloom.routing.forwarding.tables import destinations
from netloom.routing.hosted import legs

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.fabrics.balancing import Objective
    from netloom.fabrics.program import Flows
    from netloom.routing import ForwardingTable
    from netloom.topology import Topology

FEW = 1
"""Descents to the table that a search begins with: all but the program's rows are found anew."""

SAME = 1 + 1e-9
"""Times that differ by less are the same."""


def busiest_time(topology: Topology, table: ForwardingTable, flows: Flows) -> float:
    """Return how long a program's busiest channel between routers works by a table.

    In bytes over bandwidth. Infinite if the table does not lead to all that the program sends to.

    Examples
    --------
    >>> from netloom.fabrics.program import Flows
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> flows = Flows(np.array([0, 1], np.int32), np.array([2, 2], np.int32), np.array([3.0, 4.0]))
    >>> busiest_time(net, ENGINES["minhop"](net), flows)
    7.0
    """
    try:
        times = program_times(topology, table, flows)
    except NoRouteError:
        return float("inf")
    return float(times[: topology.num_network_channels].max(initial=0.0))


def tables_for_program(
    topology: Topology,
    installed: ForwardingTable,
    flows: Flows,
    *,
    lanes: int | None = None,
    objective: Objective = "all-to-all",
    seed: int = DEFAULT_SEED,
) -> ForwardingTable:
    """Return a table by which a program's busiest channel works shortly, free of credit loops.

    The rows of the hosts that the program sends to are made for it (``best_for_program``). They use
    shortest paths, or those of a tree if shortest paths need more lanes than there are. Then all
    other rows are balanced around them. The table is never worse for the program than ``balanced``
    with ``FEW`` descents. It is never worse than the installed table, unless that needs more lanes.

    Parameters
    ----------
    topology, installed
        The network, and its table, which may have holes and circles.
    flows
        What the program sends.
    lanes, objective, seed
        As in ``balanced``.

    Examples
    --------
    >>> from netloom.fabrics.program import Flows
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> flows = Flows(np.array([0, 1], np.int32), np.array([2, 3], np.int32), np.array([5.0, 5.0]))
    >>> busiest_time(net, tables_for_program(net, ENGINES["minhop"](net), flows), flows)
    5.0
    """
    most = lanes or MOST_LANES
    general = balanced(topology, lanes=lanes, objective=objective, seed=seed, tries=FEW).table
    shortest = shortest_ways(topology)
    tree = tree_ways(topology, shortest)

    def around(start: ForwardingTable, rows: Bools) -> ForwardingTable | None:
        """Return a table with these rows of another, the rest balanced, in few enough lanes."""
        try:
            found = balanced(
                topology, lanes=lanes, objective=objective, seed=seed, frozen=rows, start=start
            )
            several = [found.table, *(each.table for each in found.front)]
        except InputError:  # with these rows, all tables needed more lanes
            several = []
        fitting = (in_lanes(topology, each, most) for each in [*several, start])
        return next((each for each in fitting if each is not None), None)

    def time(table: ForwardingTable) -> float:
        return busiest_time(topology, table, flows)

    found = [general]
    one_lane = costs_nothing(topology, tree, shortest)
    for ways in (tree,) if one_lane else (shortest, tree):
        if ways is tree and tree.unreached:
            continue
        best = best_for_program(topology, general, installed, flows, ways, seed=seed)
        table = around(best.table, best.rows)
        if table is not None:
            found.insert(0, table)
            break
    least, kept = min(map(time, found)), time(installed)
    if kept * SAME < least:
        rows = np.zeros(len(general.next_channel), np.bool_)
        rows[_sent_to(topology, flows)] = True
        mixed = np.where(rows[:, None], installed.next_channel, general.next_channel)
        whole = _lost(topology, general)
        kept_rows = replace(general, next_channel=mixed, lanes=None)
        if _lost(topology, kept_rows) <= whole:
            found += [each for each in (around(kept_rows, rows),) if each is not None]
        if _lost(topology, installed) <= whole:
            found += [each for each in (in_lanes(topology, installed, most),) if each is not None]
        least = min(map(time, found))
    return next(each for each in found if time(each) <= least * SAME)


def in_lanes(topology: Topology, table: ForwardingTable, most: int) -> ForwardingTable | None:
    """Return a table with lanes in which no packets wait for each other in a circle.

    Its own lanes if they will do, others if not. None if there are not enough.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> table = ENGINES["minhop"](torus(5))
    >>> in_lanes(torus(5), table, 1) is None, lanes_used(in_lanes(torus(5), table, 2))
    (True, 2)
    """
    cabling = topology.cabling
    everyone = cabling is not None and len(cabling.others) > 0
    try:
        if lanes_used(table) <= most and not lane_circle(topology, table, everyone=everyone):
            return table
        others = table.others if everyone else None
        lanes = layered(topology, table.next_channel, others=others, most=most)
    except InputError:
        return None
    return replace(table, lanes=lanes)


def _lost(topology: Topology, table: ForwardingTable) -> int:
    """Return from how many end points to how many others packets do not arrive."""
    from netloom.routing.forwarding.problems import table_problems

    found = table_problems(topology, table)
    return found.unrouted + found.unrouted_others


def _sent_to(topology: Topology, flows: Flows) -> Ints:
    """Return the rows of the destinations of flows."""
    ends = legs(topology, flows.source, flows.target)
    return np.unique(destinations(topology, flows.target, ends.ejection))
