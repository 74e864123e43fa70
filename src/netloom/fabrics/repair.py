"""Tables after damage: few entries change, and no cable carries much more than it must."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.fabrics.descent import (
    Problem,
    Rules,
    descended,
    exits_of_others,
    other_rows,
    problem_of,
)
from netloom.fabrics.levels import costs_nothing, shortest_ways, tree_ways
from netloom.routing.forwarding.lanes import lane_circle, layered
from netloom.routing.forwarding.tables import ForwardingTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Ints
    from netloom.fabrics.levels import Ways
    from netloom.topology import Topology

ROUNDS = 16
"""How often each destination may change."""

FIRM = 10.0
"""Price of load over the target in the first round."""

BLOCK = 64
"""Local identifiers whose entries a subnet manager sends a switch together."""

PRICES = (0.3, 0.1, 1.0, 0.03)
"""Prices of a changed entry, in what a mean router's paths pay over the busiest channel."""

MUCH = 3
"""Changed entries for each that had to."""

NEAR = 1.01
"""Bounds that are met so nearly are met."""


@dataclass(frozen=True, eq=False)
class Repaired:
    """A table that differs little from the one that is installed.

    Attributes
    ----------
    table
        The table.
    changed
        Entries that differ, of all switches.
    unavoidable
        Entries that lead over what is gone, though there is a way.
    blocks
        Blocks of 64 entries that the subnet manager has to send: those that differ.
    all_to_all
        Largest load over bandwidth if each host sends to each other.
    """

    table: ForwardingTable
    changed: int
    unavoidable: int
    blocks: int
    all_to_all: float


def repaired(
    topology: Topology, installed: ForwardingTable, *, seed: int = DEFAULT_SEED
) -> Repaired:
    """Return a table for a network that has lost something since one was installed.

    Entries that still lead on stay, unless others would have to carry much more without a change.

    Parameters
    ----------
    topology
        The network as it is now.
    installed
        The table of before, in terms of this network (``read_lfts``): -1 where an entry led over
        what is gone.
    seed
        Where chance comes from.

    Examples
    --------
    Some entries of a table are missing; nothing else changes:

    >>> from netloom.fabrics.balancing import balanced
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:3x3x3")
    >>> installed = balanced(net).table
    >>> installed.next_channel[installed.next_channel == 1] = -1
    >>> found = repaired(net, installed)
    >>> found.changed == found.unavoidable
    True
    """
    _checked(topology, installed)
    shortest = shortest_ways(topology)
    tree = tree_ways(topology, shortest, installed.others)
    one_lane = costs_nothing(topology, tree, shortest)
    problem = problem_of(topology, tree if one_lane else shortest)
    old = installed.next_channel
    others = kept = other_rows(topology, tree, installed.others)
    must = _missing(problem.ends, shortest, old)
    moving: Bools = np.any(must, axis=1)
    needed, everyone = must, False
    if others is not None and installed.others is not None:
        lost = _missing(exits_of_others(topology), shortest, installed.others)
        needed = np.concatenate([must, lost])
        kept = other_rows(topology, tree, installed.others, ~np.any(lost, axis=1))
        everyone = not lane_circle(topology, installed, everyone=True)
    plans = list(_prices(problem, seed, must))
    if one_lane and not lane_circle(topology, installed):
        plans += _prices(problem, seed, must, moving)
    limit = MUCH * int(must.sum())
    best: tuple[tuple[int, float, int], ForwardingTable] | None = None
    for rules, frozen in plans:
        rows = others if frozen is None else kept
        for table, longest in descended(problem, rules, old, frozen):
            rank = _rank(table, old, longest, limit)
            if best is None or rank < best[0]:
                new = ForwardingTable("balanced", table.copy(), rows)
                if frozen is None or not lane_circle(topology, new, everyone=everyone):
                    best = rank, new
        if best is not None and best[0][:2] <= (0, problem.least_longest() * NEAR):
            break
    assert best is not None  # there are plans that freeze nothing
    chosen = best[1]
    if not one_lane:
        chosen = replace(chosen, lanes=layered(topology, chosen.next_channel))
    differs = chosen.next_channel != old
    if len(needed) > len(must):
        differs = np.concatenate([differs, chosen.others != installed.others])
    return Repaired(
        chosen, int(differs.sum()), int(needed.sum()), _blocks(topology, differs), best[0][1]
    )  # fmt: skip


def _rank(table: Ints, old: Ints, longest: float, limit: int) -> tuple[int, float, int]:
    """Return how bad a table is: changes beyond the limit, the busiest channel, all changes."""
    changed = int((table != old).sum())
    return (changed if changed > limit else 0), longest, changed


def _checked(topology: Topology, installed: ForwardingTable) -> None:
    if installed.next_channel.shape[1] != topology.num_routers:
        found = f"a table of {installed.next_channel.shape[1]} routers"
        raise InputError(str(installed), found, f"one of the {topology.num_routers} there are")


def _missing(ends: Ints, shortest: Ways, table: Ints) -> Bools:
    """Return the entries that are missing though there is a way."""
    place = np.empty(table.shape[1], np.int64)
    place[shortest.exits] = np.arange(len(shortest.exits))
    return (table < 0) & (shortest.near[place[ends]] > 0)


def _prices(
    problem: Problem, seed: int, must: Bools, moving: Bools | None = None
) -> Iterator[tuple[Rules, Bools | None]]:
    """Yield how to go about it: prices of changed entries. Only rows that are ``moving`` change."""
    bound = problem.least_longest()
    hosts = problem.sent.max(axis=1)
    unit = bound * float(hosts[hosts > 0].mean())
    rng = np.random.default_rng(seed)
    count, routers = must.shape
    for price in PRICES:
        yield (
            Rules(
                rng.permutation(count), rng.permutation(routers), 1.0, bound, rounds=ROUNDS, free=0,
                price=FIRM, change=price * unit,
            ),
            None if moving is None else ~moving,
        )  # fmt: skip


def _blocks(topology: Topology, changed: Bools) -> int:
    """Return how many blocks of how many switches have changed entries."""
    lid = np.arange(1, len(changed) + 1)
    if topology.cabling is not None and topology.cabling.port_lid.any():
        cabling = topology.cabling
        lid = np.concatenate([cabling.port_lid, cabling.others.lid, cabling.router_lid])
    row, router = np.nonzero(changed)
    return len(set(zip((lid[row] // BLOCK).tolist(), router.tolist(), strict=True)))
