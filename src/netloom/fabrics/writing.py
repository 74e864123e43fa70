"""Tables after damage, and what is written for subnet managers and schedulers.

``repaired`` changes few entries of a table after a network has lost something. ``table_changes``
says what a subnet manager has to tell which switch. Tables, service levels and trees are written as
files that OpenSM and Slurm take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Ints, UInt8s, UInt64s, places_within
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.textfiles import replacing, write_text
from netloom.fabrics.balancing import (
    Problem,
    Rules,
    Ways,
    costs_nothing,
    descended,
    other_rows,
    problem_of,
    shortest_ways,
    tree_ways,
)
from netloom.fabrics.few_lanes import exits_of_others
from netloom.routing.forwarding import tables
from netloom.topology import Topology
from netloom.topology.measures import router_heights
from netloom.topology.names import folded, natural

if TYPE_CHECKING:
    import polars as pl


# -- after damage ----------------------------------------------------------------------------------


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
    topology: Topology, installed: tables.ForwardingTable, *, seed: int = DEFAULT_SEED
) -> tables.ForwardingTable:
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
    moving = np.any(must, axis=1)
    everyone = False
    if others is not None and installed.others is not None:
        lost = _missing(exits_of_others(topology), shortest, installed.others)
        kept = other_rows(topology, tree, installed.others, ~np.any(lost, axis=1))
        everyone = not tables.lane_circle(topology, installed, everyone=True)
    plans = list(_prices(problem, seed, must))
    if one_lane and not tables.lane_circle(topology, installed):
        plans += _prices(problem, seed, must, moving)
    limit = MUCH * int(must.sum())
    best = None
    for rules, frozen in plans:
        rows = others if frozen is None else kept
        for table, longest in descended(problem, rules, old, frozen):
            changed = int((table != old).sum())
            rank = changed if changed > limit else 0, longest, changed
            if best is None or rank < best[0]:
                new = tables.ForwardingTable("balanced", table.copy(), rows)
                if frozen is None or not tables.lane_circle(topology, new, everyone=everyone):
                    best = rank, new
        if best is not None and best[0][:2] <= (0, problem.least_longest() * NEAR):
            break
    assert best is not None  # there are plans that freeze nothing
    chosen = best[1]
    if one_lane:
        return chosen
    return replace(chosen, lanes=tables.layered(topology, chosen.next_channel))


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
        turns, order = rng.permutation(count), rng.permutation(routers)
        rules = Rules(turns, order, 1.0, bound, ROUNDS, free=0, price=FIRM, change=price * unit)
        yield rules, None if moving is None else ~moving


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
    old_port: UInt8s = unseen()
    new_port: UInt8s = unseen()
    gone: Bools = unseen()

    def table(self) -> pl.DataFrame:
        """Return a line for each entry: switch, guid, lid, destination, old_port, new_port, gone.

        A port is null where a table has no entry.
        """
        import polars as pl

        cabling = self.topology.cabling
        assert cabling is not None
        names = tables.addresses(self.topology).name
        first = len(names) - self.topology.num_routers
        ports = {
            name: pl.Series(port.astype(np.int64)).replace(tables.NO_PORT, None)
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


def table_changes(
    topology: Topology, old: tables.ForwardingTable, new: tables.ForwardingTable
) -> Changes:
    """Return what differs between the tables that are installed and new ones.

    Both are of this network. If only one leads to other end points, those do not count.

    Raises
    ------
    InputError
        If the network has no LIDs, or a table is of another one.
    """
    tables.addressed(topology, "changes of tables")
    every, rows = tables.addresses(topology), [tables.whole_table(each) for each in (old, new)]
    for table, own in zip((old, new), rows, strict=True):
        if own.shape[1] != topology.num_routers or len(table.next_channel) != topology.num_ports:
            found = f"{len(table.next_channel)} ports of hosts and {own.shape[1]} routers"
            raise InputError(f"routing {table}", found, f"a table of {topology.name}")
    count = min(len(each) for each in rows)
    before, after = (tables.port_table(topology, each)[:count] for each in (old, new))
    row, router = np.nonzero((before != after) & (every.lid[:count, None] > 0))
    here = every.router[row] == router
    leads = rows[0][row, router] >= 0
    arrives = here & (before[row, router] == every.port[row])
    many = 1 << every.lmc[row]
    lid = every.lid[row].repeat(many) + places_within(many)
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


# -- files -----------------------------------------------------------------------------------------


KINDS = ("Channel Adapter", "Channel Adapter", "Switch")
"""What OpenSM calls each kind of ``Addresses``."""


def write_lfts(topology: Topology, table: tables.ForwardingTable, path: str | Path) -> int:
    """Write a table as OpenSM dumps them, and loads them. Return the number of its entries.

    All LIDs have entries: those of hosts' ports (each of 2**lmc, the same way), of other end
    points and of the switches themselves. If the table leads to hosts only, the others are
    those of ``with_others``. Where there is no way, or an end point has no LID, there is no entry.

    Raises
    ------
    InputError
        If the network has no LIDs or GUIDs, the last router of a way sends packets elsewhere, or
        the file cannot be written.
    """
    wanted = "a fabric with both, so that switches can be told what to do: the output of "
    wanted += "ibnetdiscover in the running subnet"
    cabling = tables.addressed(topology, str(path), wanted=wanted)
    if table.undelivered is not None and table.undelivered.any():
        row = int(np.argmax(table.undelivered))
        found = f"a table that does not deliver to '{tables.addresses(topology).name[row]}'"
        raise InputError(f"routing {table}", found, "one that does")
    every, owner = tables.addresses_by_lid(topology)
    ports = tables.port_table(topology, with_others(topology, table))
    lids = np.flatnonzero(owner >= 0)
    rows = owner[lids]
    tails = [
        f" # {KINDS[every.kind[row]]} portguid 0x{every.guid[row]:016x}: '{every.name[row]}'\n"
        for row in rows.tolist()
    ]
    heads = [f"0x{lid:04x} " for lid in lids.tolist()]
    words = [f"{port:03d}" for port in range(tables.NO_PORT)]
    written, first = 0, len(every) - topology.num_routers
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as stream:
        for router in np.flatnonzero(topology.routers.vertex_up).tolist():
            said = zip(heads, ports[rows, router].tolist(), tails, strict=True)
            entries = [
                head + words[port] + tail for head, port, tail in said if port != tables.NO_PORT
            ]
            stream.write(
                f"Unicast lids [0-{len(owner) - 1}] of switch Lid {cabling.router_lid[router]} "
                f"guid 0x{cabling.router_guid[router]:016x} ('{every.name[first + router]}'):\n"
            )
            stream.writelines(entries)
            stream.write(f"{len(owner) - 1} lids dumped\n")
            written += len(entries)
    return written


def with_others(topology: Topology, table: tables.ForwardingTable) -> tables.ForwardingTable:
    """Return a table of a subnet that leads to all end points. One that does stays as it is.

    Packets between hosts keep their paths. Packets to other end points and to routers take ways up
    and then down (``tree_ways``), at service level 0.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import minhop
    >>> from netloom.topology import topology
    >>> net = topology("fabric:examples/dgx-40.ibnetdiscover")
    >>> hosts_only = replace(minhop(net), others=None)
    >>> with_others(net, hosts_only).others.shape == minhop(net).others.shape
    True
    """
    if table.others is not None:
        return table
    return replace(table, others=other_rows(topology, tree_ways(topology, shortest_ways(topology))))


MOST_PAIRS = 2**24
"""Most pairs of a host and a LID that a list of service levels has lines for."""

RULE = """\
    qos-match-rule
        source: {source}
        destination: {target}
        qos-level-name: level-{level}
    end-qos-match-rule
"""

LEVEL = """\
    qos-level
        name: {name}
        sl: {level}
    end-qos-level
"""

GROUP = """\
    port-group
        name: {name}
        port-guid: {guids}
    end-port-group
"""


def write_qos_policy(topology: Topology, table: tables.ForwardingTable, path: str | Path) -> int:
    """Write the levels of a table so that OpenSM gives them to paths. Return how many rules.

    ``opensm -R file -U TABLES -Q -Y FILE``. Path records then have the level that ``table.lanes``
    says, lanes being levels, as OpenSM's own map has it. Groups of ports are those of a switch's
    hosts, and of destinations that have a level in common. The first rule that fits counts. The
    form is that of ``QoS_management_in_OpenSM.txt``.

    Raises
    ------
    InputError
        If the network has no LIDs or GUIDs, the table says lanes in another way, or the file cannot
        be written.
    """
    level = _levels(topology, table, path)
    assert topology.cabling is not None
    every, at = tables.addresses(topology), topology.injection_router
    groups, rules = {}, []
    # groups of hosts whose packets to each destination have one level, and their router
    routers, guids = np.unique(at).tolist(), topology.cabling.router_guid
    sources = [(f"at-{guids[router]:016x}", router) for router in routers]
    if (level[:, routers] == level[:, routers[:1]]).all():
        sources = [("all", routers[0])]
    for source, router in sources:
        sends = every.kind < 2 if source == "all" else np.flatnonzero(at == router)
        for number in sorted(set(level[:, router].tolist()) - {0}):
            groups[source] = _guids(every.guid[sends])
            target = f"{source}-level-{number}"
            groups[target] = _guids(every.guid[: len(level)][level[:, router] == number])
            rules.append(RULE.format(source=source, target=target, level=number))
    lines = ["port-groups\n"]
    lines += [GROUP.format(name=name, guids=guids) for name, guids in groups.items()]
    lines.append("end-port-groups\n\nqos-levels\n")
    for number in sorted({0, *np.unique(level).tolist()}):
        name = f"level-{number}" if number else "DEFAULT"
        lines.append(LEVEL.format(name=name, level=number))
    lines += ["end-qos-levels\n\nqos-match-rules\n", *rules, "end-qos-match-rules\n"]
    write_text(path, "".join(lines))
    return len(rules)


def write_levels(topology: Topology, table: tables.ForwardingTable, path: str | Path) -> int:
    """Write the service level of each adapter to each LID. Return how many lines.

    ``0xGUID LID LEVEL``, as ``ibdmchk --psl`` takes them, and ``lfts:TABLES,sl2vl:LANES,psl:FILE``.
    An adapter with ports on several switches has levels for each port, under the port's GUID.
    ``ibdmchk`` has one level for an adapter and a LID, so it does not know these lines.

    Raises
    ------
    InputError
        If the network has no LIDs or GUIDs, there would be over ``MOST_PAIRS`` lines, or the file
        cannot be written.
    """
    level = _levels(topology, table, path)
    every, cabling = tables.addresses(topology), topology.cabling
    assert cabling is not None
    # the GUID of each sender of packets, its own row (-1: several), and its router: an adapter
    # if all its ports are on one switch, and a port otherwise
    senders = []
    for host in np.unique(topology.port_host).tolist():
        ports = range(*topology.port_offsets[host : host + 2].tolist())
        routers = topology.injection_router[ports].tolist()
        if len(set(routers)) == 1:
            own = ports[0] if len(ports) == 1 else -1
            senders.append((int(cabling.host_guid[host]), own, routers[0]))
            continue
        guids = cabling.port_guid[ports].tolist()
        if len({*guids} - {0}) < len(ports):
            name = f"'{topology.name_of(host)}', whose ports on several switches have no GUIDs"
            raise InputError(str(path), name, "the GUID of each port, as ibnetdiscover prints it")
        senders += zip(guids, ports, routers, strict=True)
    rows = np.flatnonzero(every.lid[: len(level)] > 0)
    if len(rows) * len(senders) > MOST_PAIRS:
        found = f"levels of {len(rows) * len(senders)} pairs"
        raise InputError(
            str(path), found, f"at most {MOST_PAIRS:,}; a policy of service has groups"
        )
    written = 0
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as stream:
        for guid, own, router in senders:
            said = level[rows, router].tolist()
            for row, number in zip(rows.tolist(), said, strict=True):
                if row == own:
                    continue
                for lid in range(every.lid[row], every.lid[row] + (1 << every.lmc[row])):
                    stream.write(f"0x{guid:016x} {lid} {number}\n")
                    written += 1
    return written


def _levels(topology: Topology, table: tables.ForwardingTable, path: str | Path) -> UInt8s:
    """Return the level of packets to each end point but routers, from each router."""
    cabling = tables.addressed(topology, str(path))
    ends = topology.num_ports + len(cabling.others)
    level = np.zeros((ends, topology.num_routers), np.uint8)
    if table.lanes is None:
        return level
    if table.lanes.lane_of is not None:
        found = "a table whose switches have lanes of their own"
        raise InputError(f"routing {table}", found, "one whose lanes are service levels")
    said = table.lanes.level
    level[: len(said)] = said[:ends]
    return level


def _guids(guids: UInt64s) -> str:
    return ", ".join(f"0x{guid:016x}" for guid in guids.tolist())


MOST_LETTERS = 64
"""Longest name of a switch that Slurm takes."""

_ODD = re.compile(r"[^\w.:;@/+-]", re.ASCII)
"""What may not stand in a name of Slurm's."""


class Switch(NamedTuple):
    """A switch, what it is called, and the names of the switches and the computers below it."""

    name: str
    switches: list[str]
    computers: list[str]


def write_slurm_topology(topology: Topology, path: str | Path) -> int:
    """Write a tree as Slurm's ``topology.yaml``, if the file is called so, or ``topology.conf``.

    Switches are listed from the leaves up, each with the switches, or the computers, that it is
    joined to below it. A computer with adapters on several
    leaves is below each of these. Slurm's file has no place for how many cables there are. In names
    hyphens take the place of blanks, commas, brackets and the like.

    Returns
    -------
    int
        How many switches are written.

    Raises
    ------
    InputError
        If ``tree_of`` refuses the network, a name is longer than Slurm's, or the file cannot be
        written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom.topology import topology
    >>> file = Path(mkdtemp()) / "topology.conf"
    >>> write_slurm_topology(topology("leaf-spine:2x2x4"), file)
    4
    >>> print(file.read_text().strip())
    SwitchName=leaf0 Nodes=h[0-3]
    SwitchName=leaf1 Nodes=h[4-7]
    SwitchName=spine0 Switches=leaf[0-1]
    SwitchName=spine1 Switches=leaf[0-1]
    """
    tree = tree_of(topology)
    for switch in tree:
        if len(switch.name) > MOST_LETTERS:
            found = f"a switch whose name has {len(switch.name)} letters"
            raise InputError(topology.name, found, f"at most {MOST_LETTERS}, as Slurm takes them")
    if str(path).endswith((".yaml", ".yml")):
        import yaml

        switches = [
            {"switch": each.name}
            | ({"children": folded(each.switches)} if each.switches else {})
            | ({"nodes": folded(each.computers)} if each.computers else {})
            for each in tree
        ]
        content = [{"topology": "default", "cluster_default": True, "tree": {"switches": switches}}]
        write_text(path, yaml.safe_dump(content, sort_keys=False, width=2**20))
        return len(tree)
    lines = [
        f"SwitchName={each.name}"
        + (f" Switches={folded(each.switches)}" if each.switches else "")
        + (f" Nodes={folded(each.computers)}" if each.computers else "")
        for each in tree
    ]
    write_text(path, "\n".join(lines) + "\n")
    return len(tree)


def tree_of(topology: Topology) -> list[Switch]:
    """Return the switches of a network level by level, those with computers first.

    A switch with computers is a leaf, any other one level above the lowest that it is joined to.
    What is broken is left out.

    Raises
    ------
    InputError
        If switches of one level are joined, as in a mesh: schedulers know only trees, or if two
        names are the same once what Slurm does not take is replaced.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(each.name, each.switches) for each in tree_of(topology("leaf-spine:2x1x1"))]
    [('leaf0', []), ('leaf1', []), ('spine0', ['leaf0', 'leaf1'])]
    """
    inside = topology.routers
    source, target = inside.channel_source, inside.channel_target
    level = router_heights(topology)
    level[level == topology.num_routers] = -1
    same = (level[source] == level[target]) & (level[source] >= 0)
    if same.any():
        channel = inside.channel_name(int(np.argmax(same)))
        found = f"switches of one level that are joined: {channel}"
        raise InputError(topology.name, found, "a tree: Slurm and topograph know no other")
    switch_names = _words(map(inside.name_of, range(topology.num_routers)), topology.name)
    nodes = [topology.computer_name(node) for node in range(topology.num_nodes)]
    node_names = _words(nodes, topology.name)
    below: list[set[str]] = [set() for _ in switch_names]
    computers: list[set[str]] = [set() for _ in switch_names]
    down = level[source] > level[target]
    for upper, lower in zip(source[down].tolist(), target[down].tolist(), strict=True):
        below[upper].add(switch_names[lower])
    owners = topology.node_of_host[topology.port_host].tolist()
    for router, node in zip(topology.injection_router.tolist(), owners, strict=True):
        computers[router].add(node_names[node])
    order = sorted(
        np.flatnonzero(level >= 0).tolist(), key=lambda r: (level[r], natural(switch_names[r]))
    )
    return [
        Switch(switch_names[r], sorted(below[r], key=natural), sorted(computers[r], key=natural))
        for r in order
    ]


def _words(names: Iterable[str], network: str) -> list[str]:
    """Return names without what Slurm does not take."""
    found = [_ODD.sub("-", name) for name in names]
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(network, f"the name '{twice:.40}' twice", "names that Slurm tells apart")
    return found
