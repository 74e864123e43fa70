"""What is wrong with forwarding tables: packets that vanish, go round, or come to the wrong end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netloom.routing.forwarding.tables import (
    NO_PORT,
    addresses,
    exits,
    port_senders,
    senders,
    whole_table,
)
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import Addresses, ForwardingTable
    from netloom.topology import Topology

Kind = Literal["loop", "black hole", "wrong delivery", "no entry"]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and whom it hurts.

    Attributes
    ----------
    kind
        ``loop``: packets go round a circle of routers. ``black hole``: a router sends them out by a
        port without a cable. ``wrong delivery``: it sends them to the wrong host, or keeps them.
        ``no entry``: it drops them.
    routers
        The circle, its lowest number first, or the one router.
    port
        The port by which packets leave it; -1 in a loop, and where there is no entry.
    pairs
        How many ordered pairs of hosts cannot communicate for it.
    destinations
        How many end points packets do not reach for it: hosts' ports, other end points, routers.
    first
        The name of the first of these.
    words
        All that in a sentence, without its full stop.
    """

    kind: Kind
    routers: tuple[int, ...]
    port: int
    pairs: int
    destinations: int
    first: str
    words: str


@dataclass(frozen=True)
class Problems:
    """What is wrong with a table.

    Attributes
    ----------
    unrouted
        Ordered pairs of hosts (of a host and each port of another, where that has several) whose
        packets do not arrive.
    unrouted_others
        Pairs of a host and another end point or a router, to which its packets do not arrive.
    faults
        Why, those that hurt most pairs first.
    """

    unrouted: int
    unrouted_others: int
    faults: tuple[Fault, ...]

    def __bool__(self) -> bool:
        return bool(self.faults)


class _Cause(NamedTuple):
    kind: Kind
    routers: tuple[int, ...]
    port: int


def table_problems(topology: Topology, table: ForwardingTable) -> Problems:
    """Return which packets do not arrive under a table, and by what faults.

    Examples
    --------
    >>> from netloom.routing.forwarding.tables import port_table
    >>> from netloom.routing.forwarding.lfts import table_of_ports
    >>> from netloom.routing.forwarding.engines import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> ports = port_table(net, minhop(net))
    >>> ports[2, 2] = 9
    >>> found = table_problems(net, table_of_ports(net, ports, "by hand"))
    >>> found.unrouted, found.faults[0].words
    (2, 'spine0 sends packets to h2 into port 9, which has no cable')
    """
    from netloom.routing.kernels.outcomes import outcomes

    every = addresses(topology)
    rows = whole_table(table)[: len(every.router)]  # the nodes of a direct network are its routers
    lost = np.zeros(len(rows), np.bool_)
    if table.undelivered is not None:
        lost[: len(table.undelivered)] = table.undelivered
    if table.astray is not None:
        row, router, _ = table.astray.T
        lost[row[every.router[row] == router]] = True
    last = every.router[: len(rows)].astype(np.int32)
    ends = outcomes(rows, last, lost, topology.routers.channel_target)
    sent = _sent(topology, len(rows))
    sent[~topology.routers.vertex_up[last]] = 0  # nobody expects to reach what is broken
    hosts = len(exits(topology))
    broken = ends != -1
    faults = _faults(topology, table, every, ends, sent)
    return Problems(
        int(sent[:hosts][broken[:hosts]].sum()), int(sent[hosts:][broken[hosts:]].sum()), faults
    )


def _sent(topology: Topology, rows: int) -> Ints:
    """Return how many hosts send from each router to each row: int64[rows, routers]."""
    ports = len(exits(topology))
    at_hosts = np.broadcast_to(senders(topology), (topology.num_routers, ports)).T.copy()
    if topology.direct:
        np.fill_diagonal(at_hosts, 0)
        return at_hosts
    if len(np.unique(topology.port_host)) == ports:  # where the destination itself counts
        at_hosts[np.arange(ports), topology.injection_router] -= 1
    everyone = np.bincount(topology.injection_router, minlength=topology.num_routers)
    return np.concatenate([at_hosts, np.tile(everyone, (rows - ports, 1))])


def _faults(
    topology: Topology, table: ForwardingTable, every: Addresses, ends: Ints, sent: Ints
) -> tuple[Fault, ...]:
    """Return every fault, with all destinations that it is the fault of."""
    port_of = {}
    if table.astray is not None:
        port_of = {(row, router): port for row, router, port in table.astray.tolist()}
    whole, hosts = whole_table(table), len(exits(topology))
    target = topology.routers.channel_target
    up = topology.routers.vertex_up
    sends = np.zeros(topology.num_routers, np.int64)
    if not topology.direct:
        sends = port_senders(topology)[:, 0]
    if topology.cabling is not None:
        sends[topology.cabling.others.router] = 1
    cabled = _cabled(topology, every)
    hurt: dict[_Cause, list[tuple[int, int]]] = {}
    for row in np.flatnonzero((ends != -1).any(axis=1)).tolist():
        hit = (ends[row] != -1) & (sent[row] + sends > 0) & up[every.router[row]]
        for end in np.unique(ends[row][hit]).tolist():
            if end < -1:
                cause = _Cause("loop", _circle(-2 - end, whole[row], target), -1)
            else:
                cause = _cause(end, port_of.get((row, end), NO_PORT), cabled)
            pairs = int(sent[row][ends[row] == end].sum()) if row < hosts else 0
            hurt.setdefault(cause, []).append((row, pairs))
    faults = [_fault(topology, cause, rows, every) for cause, rows in hurt.items()]
    return tuple(sorted(faults, key=lambda each: (-each.pairs, -each.destinations)))


def _cabled(topology: Topology, every: Addresses) -> set[tuple[int, int]]:
    """Return the ports of routers that lead anywhere, as (router, port)."""
    inside = topology.num_network_channels
    ends = zip(
        topology.routers.channel_source.tolist(),
        port_numbers(topology)[0][:inside].tolist(),
        strict=True,
    )
    return {*ends, *zip(every.router.tolist(), every.port.tolist(), strict=True)}


def _circle(first: int, row: Ints, target: Ints) -> tuple[int, ...]:
    circle = [first]
    while (after := int(target[row[circle[-1]]])) != first:
        circle.append(after)
    return tuple(circle)


def _cause(router: int, port: int, cabled: set[tuple[int, int]]) -> _Cause:
    if port == NO_PORT:
        return _Cause("no entry", (router,), -1)
    kind: Kind = "wrong delivery" if (router, port) in cabled else "black hole"
    return _Cause(kind, (router,), port)


def _fault(
    topology: Topology, cause: _Cause, rows: list[tuple[int, int]], every: Addresses
) -> Fault:
    names = [topology.name_of(topology.router_vertex(router)) for router in cause.routers]
    named, more = every.name[rows[0][0]], len(rows) - 1
    whom = f"{named} and {more} more destination{'s' * (more > 1)}" if more else named
    if cause.kind == "loop":
        words = f"packets to {whom} go round: {' -> '.join([*names, names[0]])}"
    elif cause.kind == "no entry":
        words = f"{names[0]} has no entry for {whom}"
    elif cause.kind == "black hole":
        words = f"{names[0]} sends packets to {whom} into port {cause.port}, which has no cable"
    elif cause.port == 0:
        words = f"{names[0]} keeps packets to {whom}"
    else:
        words = f"{names[0]} sends packets to {whom} to the wrong end, by port {cause.port}"
    pairs = sum(pairs for _, pairs in rows)
    return Fault(cause.kind, cause.routers, cause.port, pairs, len(rows), named, words)
