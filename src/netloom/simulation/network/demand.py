"""Where a demand enters the routers of a network, and where it is going there.

A demand of uniform or hot-spot traffic has no list of pairs. The entries cost as much as there are
routers and goals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.bounds.cuts import first_largest
from netloom.bounds.demand import Demand, between, listed_pairs
from netloom.contention.decisions import Follower, Stages, pair_goals, table_goals
from netloom.contention.expected_load import Split
from netloom.routing.by_hop.tables import HASHED, HopTables, channels_at_ports
from netloom.topology import Topology
from netloom.workload import Traffic
from netloom.workload.traffic.patterns import Uniform, merged, weighted

MOST_PAIRS = 2**21
"""Most pairs of nodes whose paths are counted channel by channel."""


def limit_of(topology: Topology, split: Split) -> tuple[float, str]:
    """Return the load of the channels that bound a split of the traffic, and their name."""
    dearest = first_largest(split.prices)
    many = np.count_nonzero(split.prices > split.prices[dearest] * 1e-3)
    name = f"{many} channels such as {topology.channel_name(dearest)}"
    if many == 1:
        name = f"channel {topology.channel_name(dearest)}"
    doubt = "" if split.exact else " (proved, though the best choice may be some per cent below)"
    return split.least, f"{name}, however packets choose their ways{doubt}"


def at_ports(demand: Demand, port_host: Ints, num_hosts: int) -> Demand:
    """Return a demand between the ports of hosts, of which chance takes one at either end.

    Parameters
    ----------
    demand
        Who sends how much to whom.
    port_host
        int32[num_ports], the host of each port, ascending.
    num_hosts
        How many hosts there are.

    Examples
    --------
    >>> from netloom.bounds.demand import demand_of
    >>> from netloom.workload.traffic import permutation
    >>> found = at_ports(demand_of(permutation([1, 0])), np.array([0, 0, 1], np.int32), 2)
    >>> found.source, found.target, found.weight
    (array([0, 1, 2, 2]), array([2, 2, 0, 1]), array([0.5, 0.5, 0.5, 0.5]))
    """
    many = np.bincount(port_host, minlength=num_hosts)
    first, share = np.cumsum(many) - many, 1 / many[port_host]
    both = many[demand.source] * many[demand.target]
    pair = np.repeat(np.arange(len(both)), both)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(both) - both, both)
    here, there = demand.source[pair], demand.target[pair]
    return Demand(
        tuple((sent[port_host] * share, taken[port_host] * share)
              for sent, taken in demand.products),
        first[here] + place // many[there],
        first[there] + place % many[there],
        (demand.weight / np.maximum(both, 1))[pair],
    )  # fmt: skip


def between_routers(topology: Topology, traffic: Traffic) -> Traffic | None:
    """Return what goes between the routers of hosts that have one port each.

    None where there are too many pairs. Packets between hosts of a router count for nothing.
    """
    router, count, law = topology.injection_router, topology.num_routers, traffic.law
    if np.array_equal(router, np.arange(count)):
        return traffic
    rate: Floats = np.bincount(router, traffic.rate, count).astype(np.float64)
    hosts = np.bincount(router, minlength=count)
    if isinstance(law, Uniform) and (hosts == hosts[0]).all():
        rate *= traffic.num_nodes / (law.num_nodes - (not law.to_self))
        return replace(traffic, num_nodes=count, rate=rate, law=Uniform(count, to_self=True))
    if listed_pairs(traffic) > MOST_PAIRS:
        return None
    source, target, weight = traffic.matrix()
    keys = router[source].astype(np.int64) * count + router[target]
    pairs = merged(count, keys, weight * traffic.rate.sum())
    rate = np.bincount(pairs.source, pairs.weight, count).astype(np.float64)
    return replace(traffic, num_nodes=count, rate=rate, law=weighted(count, pairs))


MOST_ENTRIES = 2**22
"""Most pairs of a router and a goal."""

ROUNDING = 1e-12
"""What is smaller than this part of the largest is nothing, left by a difference."""


class Entries(NamedTuple):
    """Packets that enter by one router for one goal, by channels of hosts of one kind.

    Attributes
    ----------
    router, goal
        int64[], the router, and the goal in the tables of a routing by hop.
    weight
        float64[], flits per cycle at load 1.
    into, out_of
        int64[], the kinds of the injection and the ejection channel.
    """

    router: Ints
    goal: Ints
    weight: Floats
    into: Ints
    out_of: Ints


def between_ports(topology: Topology, tables: HopTables, demand: Demand) -> Demand | None:
    """Return a demand of hosts as one of their ports. None if there are too many pairs.

    Of several ports chance takes one at either end, unless the tables say which each pair takes.
    """
    hosts = topology.num_hosts
    if not len(tables.pair_entry):
        return at_ports(demand, topology.port_host, hosts)
    if hosts**2 > MOST_ENTRIES:
        return None
    each = np.arange(hosts)
    sent = between(demand, each, each, (hosts, hosts)).ravel()
    pair = np.flatnonzero(sent > sent.max(initial=0) * ROUNDING)
    none = np.zeros((2, topology.num_ports))
    entry, sink = tables.pair_entry[pair], tables.pair_sink[pair]
    return Demand(((none[0], none[1]),), entry, sink, sent[pair])


def followed(
    topology: Topology,
    tables: HopTables,
    demand: Demand,
    kind_of: Ints | None = None,
    *,
    idle: bool = False,
) -> tuple[Stages, Ints, Entries] | None:
    """Return the stages that packets go through, where each entry begins, and the entries.

    Parameters
    ----------
    topology, tables
        The network and its routing.
    demand
        Who sends how much to whom.
    kind_of
        int64[num_channels], the kinds of channels that are told apart. None by default.
    idle
        As for ``Follower``.

    Returns
    -------
    None where there are more than ``MOST_ENTRIES``, or too many stages.
    """
    kinds = np.zeros(topology.num_channels, np.int64) if kind_of is None else kind_of
    first, ports = topology.num_network_channels, topology.num_ports
    by_port = between_ports(topology, tables, demand)
    if by_port is None:
        return None
    entry = np.stack([kinds[first : first + ports], topology.injection_router], axis=1)
    leave = np.stack([kinds[first + ports :], tables.sink_goal], axis=1)
    if tables.choice == HASHED:  # which tells every host from every other
        entry, leave = (np.column_stack([each, np.arange(ports)]) for each in (entry, leave))
    known_in, begins = np.unique(entry, axis=0, return_inverse=True)
    known_out, ends = np.unique(leave, axis=0, return_inverse=True)
    if len(known_in) * len(known_out) > MOST_ENTRIES:
        return None
    sent = between(by_port, begins.ravel(), ends.ravel(), (len(known_in), len(known_out)))
    row, column = np.nonzero(sent > sent.max(initial=0) * ROUNDING)
    came, going = known_in[row], known_out[column]
    goal, goals = going[:, 1], table_goals(tables)
    if tables.choice == HASHED:
        host = topology.port_host
        goals = pair_goals(tables, host[came[:, 2]], host[going[:, 2]], going[:, 2])
        goal = np.arange(len(goal))
    entries = Entries(came[:, 1], goal, sent[row, column], came[:, 0], going[:, 0])
    outward, _ = channels_at_ports(topology)
    found = Follower(tables, goals, outward, idle=idle).stages(entries.router, goal)
    return None if found is None else (*found, entries)
