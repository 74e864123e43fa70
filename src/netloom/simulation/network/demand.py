"""Who sends how much to whom, as sums: traffic of large networks without a list of all pairs.

A demand is a few products (every host of one kind sends the same to every host of another kind),
and a list of pairs for the rest. Sums over parts of a network follow from both, so that uniform
and hot-spot traffic cost as much as there are hosts, not pairs. So do the entries: where packets
enter the routers of a network, and where they are going.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.contention.decisions import Follower, Goals, pair_goals, table_goals
from netloom.routing.by_hop.tables import HASHED, channels_at_ports
from netloom.workload.traffic.targets import Fixed, HotSpot, Uniform, merged, weighted

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.contention.decisions import Stages
    from netloom.contention.expected_load import Split
    from netloom.routing.by_hop.tables import HopTables
    from netloom.topology import Topology
    from netloom.workload import Traffic
    from netloom.workload.traffic.targets import Law

MOST_PAIRS = 2**21
"""Most pairs of nodes whose paths are counted channel by channel."""

SAME = 1 - 1e-9
"""Of loads that differ by rounding only, the first is named."""


class Demand(NamedTuple):
    """Flits per cycle from every host to every other at load 1: products, and pairs.

    Attributes
    ----------
    products
        Pairs of float64[num_hosts], ``sent`` and ``taken``: host s sends ``sent[s] * taken[t]`` to
        host t, itself included.
    source, target, weight
        int32[], int32[], float64[]: what goes between pairs of hosts besides. It is negative where
        a product counts what a host does not send to itself.
    """

    products: tuple[tuple[Floats, Floats], ...]
    source: Ints
    target: Ints
    weight: Floats


def first_largest(values: Floats) -> int:
    """Return the place of the first of the values that are largest but for rounding.

    Examples
    --------
    >>> first_largest(np.array([0.1 + 0.2, 0.3]))
    0
    """
    return int(np.argmax(values >= values.max() * SAME))


def limit_of(topology: Topology, split: Split) -> tuple[float, str]:
    """Return the load of the channels that bound a split of the traffic, and their name."""
    dearest = first_largest(split.prices)
    many = np.count_nonzero(split.prices > split.prices[dearest] * 1e-3)
    name = f"{many} channels such as {topology.channel_name(dearest)}"
    if many == 1:
        name = f"channel {topology.channel_name(dearest)}"
    doubt = "" if split.exact else " (proved, though the best choice may be some per cent below)"
    return split.least, f"{name}, however packets choose their ways{doubt}"


def listed_pairs(traffic: Traffic) -> int:
    """Return how many pairs of nodes ``traffic.matrix()`` has to go through.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> listed_pairs(uniform(1 << 20)) == (1 << 20) * ((1 << 20) - 1)
    True
    """
    return listed_by(traffic.law, traffic.num_nodes)


def listed_by(law: Law, num_nodes: int) -> int:
    """Return how many pairs of nodes the shares of a law are."""
    if isinstance(law, Uniform):
        return num_nodes * (num_nodes - (not law.to_self))
    if isinstance(law, HotSpot):
        return listed_by(law.base, num_nodes) + num_nodes * len(law.hot_nodes)
    return num_nodes if isinstance(law, Fixed) else len(law.target)


def demand_of(traffic: Traffic) -> Demand:
    """Return what some traffic asks of a network.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> found = demand_of(uniform(3))
    >>> np.outer(*found.products[0])[0], found.weight
    (array([0.5, 0.5, 0.5]), array([-0.5, -0.5, -0.5]))
    """
    return _demand_by(traffic.law, traffic.rate)


def _demand_by(law: Law, rate: Floats) -> Demand:
    hosts = np.arange(len(rate), dtype=np.int32)
    if isinstance(law, Uniform):
        each = rate / (law.num_nodes - (not law.to_self))
        own = hosts[:0] if law.to_self else hosts
        return Demand(((each, np.ones(len(rate))),), own, own, -each[own])
    if isinstance(law, HotSpot):
        kept, to_hot = split(law, rate)
        base, hot = _demand_by(law.base, kept), law.hot_nodes
        weight = np.zeros(len(rate))
        weight[hot] = law.weight
        return Demand(
            (*base.products, (to_hot, weight)),
            np.append(base.source, hot),
            np.append(base.target, hot),
            np.append(base.weight, -to_hot[hot] * law.weight),
        )
    source, target, share = law.shares(0, len(rate))
    return Demand((), source, target, rate[source] * share)


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


def split(law: HotSpot, rate: Floats) -> tuple[Floats, ...]:
    """Return what each node sends as the base has it, and to a hot node of weight 1 but itself.

    Both are float64[num_nodes].
    """
    others = law.others()
    to_hot = np.where(others > 0, law.fraction * rate / np.where(others > 0, others, 1), 0.0)
    return np.where(others > 0, (1 - law.fraction) * rate, rate), to_hot


def between(demand: Demand, begins: Ints, ends: Ints, shape: tuple[int, int]) -> Floats:
    """Return float64[shape], what goes from each part to each part.

    Parameters
    ----------
    demand
        Who sends how much to whom.
    begins, ends
        int64[num_hosts], the part in which each host sends, and the one in which it receives; -1
        where it counts for none.
    shape
        How many parts there are of either kind.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> part = np.array([0, 0, 1])
    >>> between(demand_of(uniform(3)), part, part, (2, 2))
    array([[1., 1.],
           [1., 0.]])
    """
    found = np.zeros(shape)
    for sent, taken in demand.products:
        found += np.outer(_by_part(begins, sent, shape[0]), _by_part(ends, taken, shape[1]))
    first, second = begins[demand.source], ends[demand.target]
    known = (first >= 0) & (second >= 0)
    cell = first[known] * shape[1] + second[known]
    found += np.bincount(cell, demand.weight[known], found.size).reshape(shape)
    return found


def crossing(demand: Demand, begins: Ints, ends: Ints, count: int) -> tuple[Floats, Floats]:
    """Return what leaves each part for others, and what enters it from others: float64[count].

    Parameters are those of ``between``. Hosts that count for no part are left out on either side.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> part = np.array([0, 0, 1])
    >>> crossing(demand_of(uniform(3)), part, part, 2)
    (array([1., 1.]), array([1., 1.]))
    """
    out, into = np.zeros(count), np.zeros(count)
    for sent, taken in demand.products:
        leaves, enters = _by_part(begins, sent, count), _by_part(ends, taken, count)
        out += leaves * (enters.sum() - enters)
        into += enters * (leaves.sum() - leaves)
    first, second = begins[demand.source], ends[demand.target]
    apart = (first >= 0) & (second >= 0) & (first != second)
    out += np.bincount(first[apart], demand.weight[apart], count)
    into += np.bincount(second[apart], demand.weight[apart], count)
    return out, into


def received(demand: Demand, num_hosts: int) -> Floats:
    """Return float64[num_hosts], what each host receives, from itself too.

    Examples
    --------
    >>> from netloom.workload.traffic import hot_spot, uniform
    >>> received(demand_of(hot_spot(uniform(5), 0.5, [4])), 5)
    array([0.625, 0.625, 0.625, 0.625, 2.5  ])
    """
    found = np.bincount(demand.target, demand.weight, num_hosts).astype(np.float64)
    for sent, taken in demand.products:
        found += sent.sum() * taken
    return found


def _by_part(part: Ints, values: Floats, count: int) -> Floats:
    known = part >= 0
    return np.bincount(part[known], values[known], count).astype(np.float64)


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


def enter(
    topology: Topology,
    tables: HopTables,
    demand: Demand,
    kind_of: Ints | None = None,
) -> tuple[Entries, Goals] | None:
    """Return what enters the routers under a demand of hosts, and where it may be going.

    Parameters
    ----------
    topology, tables
        The network and its routing.
    demand
        Who sends how much to whom.
    kind_of
        int64[num_channels], the kinds of channels that are told apart. None by default.

    Returns
    -------
    None where there are more than ``MOST_ENTRIES``.
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
    return Entries(came[:, 1], goal, sent[row, column], came[:, 0], going[:, 0]), goals


def followed(
    topology: Topology,
    tables: HopTables,
    demand: Demand,
    kind_of: Ints | None = None,
    *,
    idle: bool = False,
) -> tuple[Stages, Ints, Entries] | None:
    """Return the stages that packets go through, where each entry begins, and the entries.

    None where there are too many. ``idle`` is as for ``Follower``, the rest as for ``enter``.
    """
    came = enter(topology, tables, demand, kind_of)
    if came is None:
        return None
    entries, goals = came
    outward, _ = channels_at_ports(topology)
    found = Follower(tables, goals, outward, idle=idle).stages(entries.router, entries.goal)
    return None if found is None else (*found, entries)
