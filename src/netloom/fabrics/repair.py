"""Tables after damage: few entries change, and what a subnet manager has to tell which switch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.textfiles import replacing
from netloom.fabrics.balancing import (
    Problem,
    Rules,
    descended,
    exits_of_others,
    other_rows,
    problem_of,
)
from netloom.fabrics.levels import costs_nothing, shortest_ways, tree_ways
from netloom.routing.forwarding.lanes import lane_circle, layered
from netloom.routing.forwarding.tables import (
    NO_PORT,
    ForwardingTable,
    addressed,
    addresses,
    port_table,
    whole_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.fabrics.levels import Ways
    from netloom.topology import Topology


ROUNDS = 16
"""How often each destination may change."""

FIRM = 10.0
"""Price of load over the target in the first round."""

PRICES = (0.3, 0.1, 1.0, 0.03)
"""Prices of a changed entry, in what a mean router's paths pay over the busiest channel."""

MUCH = 3
"""Changed entries for each that had to."""

NEAR = 1.01
"""Bounds that are met so nearly are met."""


def repaired(
    topology: Topology, installed: ForwardingTable, *, seed: int = DEFAULT_SEED
) -> ForwardingTable:
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
    Two entries of a table are missing; nothing else changes:

    >>> from netloom.fabrics.balancing import balanced
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:3x3x3")
    >>> installed = balanced(net).table
    >>> installed.next_channel[installed.next_channel == 1] = -1
    >>> int((repaired(net, installed).next_channel != installed.next_channel).sum())
    2
    """
    if installed.next_channel.shape[1] != topology.num_routers:
        found = f"a table of {installed.next_channel.shape[1]} routers"
        raise InputError(str(installed), found, f"one of the {topology.num_routers} there are")
    shortest = shortest_ways(topology)
    tree = tree_ways(topology, shortest, installed.others)
    one_lane = costs_nothing(topology, tree, shortest)
    problem = problem_of(topology, tree if one_lane else shortest)
    old = installed.next_channel
    others = kept = other_rows(topology, tree, installed.others)
    must = _missing(problem.ends, shortest, old)
    moving: Bools = np.any(must, axis=1)
    everyone = False
    if others is not None and installed.others is not None:
        lost = _missing(exits_of_others(topology), shortest, installed.others)
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
            changed = int((table != old).sum())
            rank = changed if changed > limit else 0, longest, changed
            if best is None or rank < best[0]:
                new = ForwardingTable("balanced", table.copy(), rows)
                if frozen is None or not lane_circle(topology, new, everyone=everyone):
                    best = rank, new
        if best is not None and best[0][:2] <= (0, problem.least_longest() * NEAR):
            break
    assert best is not None  # there are plans that freeze nothing
    chosen = best[1]
    if one_lane:
        return chosen
    return replace(chosen, lanes=layered(topology, chosen.next_channel))


def _missing(ends: Ints, shortest: Ways, table: Ints) -> Bools:
    """Return the entries that are missing though there is a way."""
    return (table < 0) & (shortest.near[np.argsort(shortest.exits)[ends]] > 0)


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


BLOCK_LIDS = 64
"""LIDs whose entries a subnet manager sends together (InfiniBand's LinearForwardingTable)."""


class Changes(Figures):
    """The entries of switches that differ between two tables, by switch and LID.

    Attributes
    ----------
    unavoidable
        Entries that are ``gone``.
    blocks
        How many blocks of ``BLOCK_LIDS`` LIDs have to be sent to switches.
    topology
        The network.
    router
        int32[entries], whose entry it is.
    goal
        int32[entries], where it leads: a row of ``addresses``.
    lid
        int32[entries].
    old_port, new_port
        uint8[entries]. ``NO_PORT`` where there is none.
    gone
        bool[entries], where the old entry leads nowhere: it is missing, or its cable is gone.
    """

    entries: int = figure("entries that change", key=True)
    unavoidable: int = figure("of them over what is gone")
    blocks: int = figure("blocks of 64 LIDs that change")
    topology: Topology = unseen()
    router: Ints = unseen()
    goal: Ints = unseen()
    lid: Ints = unseen()
    old_port: NDArray[np.uint8] = unseen()
    new_port: NDArray[np.uint8] = unseen()
    gone: Bools = unseen()

    def table(self) -> pl.DataFrame:
        """Return a line for each entry: switch, guid, lid, destination, old_port, new_port, gone.

        A port is null where a table has no entry.
        """
        import polars as pl

        cabling = self.topology.cabling
        assert cabling is not None
        names = addresses(self.topology).name
        first = len(names) - self.topology.num_routers
        ports = {
            name: pl.Series(port.astype(np.int64)).replace(NO_PORT, None)
            for name, port in (("old_port", self.old_port), ("new_port", self.new_port))
        }
        return pl.DataFrame(
            {
                "switch": [names[first + router] for router in self.router.tolist()],
                "guid": [f"0x{guid:016x}" for guid in cabling.router_guid[self.router].tolist()],
                "lid": self.lid,
                "destination": [names[row] for row in self.goal.tolist()],
                **ports,
                "gone": self.gone,
            }
        )


def table_changes(topology: Topology, old: ForwardingTable, new: ForwardingTable) -> Changes:
    """Return what differs between the tables that are installed and new ones.

    Both are of this network. If only one leads to other end points, those do not count.

    Raises
    ------
    InputError
        If the network has no LIDs, or a table is of another one.
    """
    addressed(topology, "changes of tables")
    every, rows = addresses(topology), [whole_table(each) for each in (old, new)]
    for table, own in zip((old, new), rows, strict=True):
        if own.shape[1] != topology.num_routers or len(table.next_channel) != topology.num_ports:
            found = f"{len(table.next_channel)} ports of hosts and {own.shape[1]} routers"
            raise InputError(f"routing {table}", found, f"a table of {topology.name}")
    count = min(len(each) for each in rows)
    before, after = (port_table(topology, each)[:count] for each in (old, new))
    row, router = np.nonzero((before != after) & (every.lid[:count, None] > 0))
    here = every.router[row] == router
    leads = rows[0][row, router] >= 0
    arrives = here & (before[row, router] == every.port[row])
    many = 1 << every.lmc[row]
    lid = every.lid[row].repeat(many) + np.arange(many.sum()) - (many.cumsum() - many).repeat(many)
    said = np.stack([router, row, before[row, router], after[row, router], ~(leads | arrives)])
    said = said.repeat(many, axis=1)
    order = np.lexsort((lid, said[0]))
    said, lid = said[:, order], lid[order]
    gone = said[4].astype(np.bool_)
    return Changes(
        entries=len(lid),
        unavoidable=int(gone.sum()),
        blocks=len(np.unique(np.stack([said[0], lid // BLOCK_LIDS]), axis=1).T),
        topology=topology,
        router=said[0].astype(np.int32),
        goal=said[1].astype(np.int32),
        lid=lid.astype(np.int32),
        old_port=said[2].astype(np.uint8),
        new_port=said[3].astype(np.uint8),
        gone=gone,
    )


def write_changes(changes: Changes, path: str | Path) -> None:
    """Write the lines of ``Changes.table`` as CSV (tab-separated where the name ends in ``.tsv``).

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    separator = "\t" if str(path).lower().endswith(".tsv") else ","
    with replacing(path) as new:
        changes.table().write_csv(new, separator=separator)
