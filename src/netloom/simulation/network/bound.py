"""How much a network could carry at best, and what failures take of it.

Whatever its routers do, no run gets past that: every run is held against it. A resource cannot
carry more than one flit per cycle. Cuts bound every routing. If packets draw their path or have a
fixed one, the expected load of the channels bounds the routing, too (Dally & Towles, section
3.3.1). If routers choose, the most even split of the traffic does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.figures import Figures, figure, unseen
from netloom.base.words import counted
from netloom.bounds.cuts import SAME, cuts_of, first_largest
from netloom.bounds.demand import Demand, demand_of, listed_pairs, received
from netloom.contention.decisions import can_follow, chooses, drawn_loads, forks
from netloom.contention.expected_load import (
    Split,
    best_split,
    chosen_loads,
    dimension_order_loads,
    romm_loads,
    romm_work,
    to_every_node,
    valiant_loads,
)
from netloom.routing import DimensionOrder, VirtualChannelRouting, paths
from netloom.routing.by_hop.tables import channels_by_port
from netloom.routing.virtual_channel_tables import (
    ADAPTIVE,
    DIMENSION_ORDER,
    O1TURN,
    STATIC_DATELINE,
    STICKY_ESCAPE,
    TABLE,
    TWO_PHASE,
    RouteTables,
)
from netloom.simulation.network.idle import MOST_PAIRS, between_ports, channel_rates, followed
from netloom.simulation.network.routers import Router, end_channels
from netloom.topology import Cube, Topology
from netloom.workload import Traffic
from netloom.workload.traffic.patterns import Shares, Uniform, merged, weighted


class Bound(Figures):
    """What limits the traffic that a network can accept.

    Attributes
    ----------
    load
        The offered traffic, in flits/node/cycle of the average sending node, above which the
        resource would have to carry more than it can.
    what
        The resource, in words.
    kind
        Both are proved: no run gets past either. ``routing``: what the channels carry with this
        routing was reckoned too. ``network``: only what holds for every routing was, so that the
        limit of this one may be lower.
    """

    load: float = figure("most that can be carried", "flits/node/cycle")
    what: str = figure("limited by", at="limited_by")
    kind: Literal["routing", "network"] = figure("limit of", default="routing", at="of")

    @property
    def sentence(self) -> str:
        """The limit in words, without a full stop.

        Examples
        --------
        >>> Bound(load=0.25, what="channel 0 -> 1").sentence
        'with this routing and these ends, no more than 0.25 can be carried: channel 0 -> 1'
        """
        said = f"with {self.whose} and these ends, no more than {self.load:.4g} can be carried"
        more = "" if self.kind == "routing" else " (the limit of this routing may be lower)"
        return f"{said}: {self.what}{more}"

    @property
    def whose(self) -> str:
        """Whose limit it is: ``this routing`` or ``any routing``."""
        return "this routing" if self.kind == "routing" else "any routing"


class Intact(Figures):
    """What the same traffic would find, with the default routing, if nothing were broken.

    ``hops`` is the mean path length. None where there are too many pairs of nodes to list.
    """

    routing: str
    bound: Bound = figure(at="throughput_bound")
    hops: float | None


class FailureCost(Figures):
    """What failures cost some traffic, as far as it can be told without a simulation.

    Attributes
    ----------
    hops
        Mean path length of a packet round what is broken. None where the routing leaves a choice,
        or there are too many pairs of nodes to list.
    intact
        The same if nothing were broken. None where the whole network's default routing would
        deadlock on the router's VCs.
    bound
        What limits the traffic.
    """

    hops: float | None
    intact: Intact | None
    bound: Bound = unseen()

    @property
    def remark(self) -> str:
        """What the failures cost, in words."""
        here = f"at most {self.bound.load:.4g} can be carried ({self.bound.what})"
        if self.intact is None:
            return f"with what is broken, {here}"
        whole = f"with nothing broken {self.intact.bound.load:.4g} ({self.intact.bound.what})"
        if self.hops is None or self.intact.hops is None:
            return f"with what is broken, {here}; {whole}"
        hops = f"over {counted(self.hops, 'hop', '.4g')} on average"
        return f"with what is broken, {here} {hops}; {whole} over {self.intact.hops:.4g}"


MOST_BOXES = 2**28
"""Most nodes of the minimal boxes of all pairs, over which ROMM draws."""


def throughput_bound(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, router: Router
) -> Bound:
    """Return the offered load above which some resource must be over-full.

    The least of what these can carry:

    - the injection channels of the host that sends most, the ejection channels of the host that
      receives most: where nobody says a speed, those of the router,
    - the channels across the cuts of ``bounds.cuts``, which hold for every routing, minimal or not:
      routers, coordinates of grids in a row, groups, subtrees, halves,
    - every channel, by its expected load, if routers do not choose: given routes, tables of one
      channel each, dimension order (ties on rings are split evenly), O1TURN, Valiant, ROMM,
    - all channels together, where they do: the most even split of the traffic over the ways that
      packets may take (see ``best_split``).

    The latter two only where at most ``MOST_PAIRS`` pairs of nodes have to be listed. Otherwise the
    bound is of the kind ``network``. A packet from a node to itself crosses no network channel
    (unless it goes by way of another node, as with Valiant), but is injected and ejected.

    The load of a routing by hop is followed from router to router. Packets that draw their path
    spread as they draw. Packets that look at credits spread as evenly as possible. Packets that may
    draw a detour take detours as often as is best for the bound. The kind is ``network`` if there
    are too many stages to follow.

    Raises
    ------
    NoRouteError
        If given routes lack a pair that has traffic.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.simulation.network.routers import Router
    >>> from netloom.topology import mesh
    >>> from netloom.workload import parse_traffic
    >>> net = mesh(8, 8)
    >>> routing = virtual_channel_routing(net, "dimension-order", num_vcs=4)
    >>> bound = throughput_bound(net, routing, parse_traffic("uniform", net), Router())
    >>> bound.load, bound.what, bound.kind
    (0.4921875, 'the 8 channels from row 3 to row 4', 'routing')
    >>> throughput_bound(net, routing, parse_traffic("hotspot:0.2:0", net), Router()).what
    'ejection at node (0,0)'
    """
    demand, rate = demand_of(traffic), channel_rates(topology)
    rounded = float((rate / topology.channel_bandwidth).max(initial=1))  # as routers keep to it
    found = []
    # all ports of a host together: a routing may choose among them
    hosts, ends = topology.num_hosts, ("injection", "ejection")
    sent = traffic.rate, received(demand, hosts)
    speeds, lines = np.split(topology.port_bandwidth * rounded, 2), end_channels(topology, router)
    for flits, speed, line, end in zip(sent, speeds, lines, ends, strict=True):
        room = np.bincount(topology.port_host, np.where(np.isinf(speed), line, speed), hosts)
        busy = np.divide(flits, room, out=np.zeros(hosts), where=room > 0)
        host = first_largest(busy)
        at = "node " if topology.direct else ""
        found.append((float(busy[host]), f"{end} at {at}{topology.name_of(host)}"))
    cuts = (cut for cut in cuts_of(topology, demand) if cut.kind != "host")  # which ends are
    found.extend((cut.time / rounded, cut.over) for cut in cuts)
    fullest = max(load for load, _ in found)
    by_rule = isinstance(routing.tables, RouteTables) and routing.between is None
    of = _of_routing if by_rule else _by_hop
    own = of(topology, routing, traffic, demand, rate, fullest)
    found.extend(own or [])
    fullest, what = found[first_largest(np.array([load for load, _ in found]))]
    kind: Literal["routing", "network"] = "network" if own is None else "routing"
    return Bound(load=1 / fullest, what=what, kind=kind)


Limits = list[tuple[float, str]]
"""Loads at load 1 of what limits the traffic, and names."""


def _of_routing(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    demand: Demand,
    rate: Floats,
    fullest: float,
) -> Limits | None:
    """Return the load of the routing's fullest channels at load 1, and their name.

    Empty where some way to use the routing loads nothing more than ``fullest``. None where the
    loads are not to be had.
    """
    load = _channel_loads(topology, routing, traffic, demand)
    if load is not None:
        return [_fullest(topology, load / rate)] if len(load) else []
    if routing.tables.kind in (DIMENSION_ORDER, STATIC_DATELINE, TWO_PHASE):
        return None
    adaptive = routing.tables.kind in (ADAPTIVE, STICKY_ESCAPE) and not routing.tables.ties_grow
    if isinstance(topology, Cube) and adaptive:
        attained = _in_orders(topology, _both_orders(topology), demand)
        if attained is not None and (attained / rate).max(initial=0) <= fullest / SAME:
            return []
    sent = _pairs(traffic)
    if sent is None:
        return None
    apart = sent.source != sent.target
    if not apart.any():
        return []
    source, target, weight = (each[apart] for each in sent)
    split = best_split(routing, source, target, weight, rate, enough=fullest)
    return None if split is None else [limit_of(topology, split)]


def _both_orders(topology: Cube) -> list[DimensionOrder]:
    dimensions = tuple(range(len(topology.sides)))
    return [DimensionOrder(dimensions[::-1]), DimensionOrder(dimensions)]


def _in_orders(topology: Cube, orders: list[DimensionOrder], demand: Demand) -> Floats | None:
    """Return the mean load of each channel over some orders of the dimensions.

    None if too many pairs of hosts would have to be listed.
    """
    alike, pairs = np.zeros(topology.num_hosts), [(demand.source, demand.target, demand.weight)]
    for sent, taken in demand.products:
        if (taken == taken[0]).all():
            alike += sent * taken[0]
            continue
        source, target = np.flatnonzero(sent), np.flatnonzero(taken)
        if len(source) * len(target) > MOST_PAIRS:
            return None
        weight = np.outer(sent[source], taken[target]).ravel()
        pairs.append((source.repeat(len(target)), np.tile(target, len(source)), weight))
    source, target, weight = (np.concatenate(each) for each in zip(*pairs, strict=True))
    apart = source != target  # in dimension order, others cross no channel
    if np.count_nonzero(apart) > MOST_PAIRS:
        return None
    ends = source[apart], target[apart], weight[apart]
    loads = [dimension_order_loads(topology, order, *ends) for order in orders]
    if alike.any():
        loads += [to_every_node(topology, order, alike) for order in orders]
    return np.asarray(sum(loads) / len(orders))


def _channel_loads(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, demand: Demand
) -> Floats | None:
    """Return float64[num_channels], flits per cycle at load 1, where routers do not choose."""
    tables = routing.tables
    if isinstance(topology, Cube) and tables.kind in (DIMENSION_ORDER, STATIC_DATELINE, TWO_PHASE):
        order = DimensionOrder(tuple(tables.order.tolist()))
        if tables.kind != TWO_PHASE:
            return _in_orders(topology, [order], demand)
        if not routing.minimal:
            taken = received(demand, topology.num_hosts)
            return valiant_loads(topology, order, traffic.rate, taken)
        sent = _pairs(traffic)
        if sent is None or romm_work(topology, sent.source, sent.target) > MOST_BOXES:
            return None
        return romm_loads(topology, order, *sent)
    if isinstance(topology, Cube) and tables.kind == O1TURN and not routing.uses_credits:
        return _in_orders(topology, _both_orders(topology), demand)
    sent = _pairs(traffic) if routing.routes or tables.kind == TABLE else None
    if sent is None:
        return None
    if routing.routes is None:
        return _table_loads(topology, tables, sent)
    return _given_loads(topology, routing, sent)


def _pairs(traffic: Traffic) -> Shares | None:
    """Return all pairs of nodes, and flits per cycle at load 1. None if there are too many."""
    if listed_pairs(traffic) > MOST_PAIRS:
        return None
    source, target, weight = traffic.matrix()
    return Shares(source, target, weight * traffic.rate.sum())


def _table_loads(topology: Topology, tables: RouteTables, sent: Shares) -> Floats | None:
    """Follow all pairs through a table, hop by hop. None where it leaves a choice."""
    channel_at, load = channels_by_port(topology), np.zeros(topology.num_channels)
    at, target, weight = sent
    while True:
        moving = at != target
        at, target, weight = at[moving], target[moving], weight[moving]
        if not len(at):
            return load
        slots = tables.next_slots[at, target]
        port = np.bitwise_count((slots & -slots) - 1).astype(np.int64) // tables.num_vcs
        if (slots != tables.all_vcs << port * tables.num_vcs).any():
            return None
        channel = channel_at[at, port]
        load += np.bincount(channel, weight, minlength=len(load))
        at = topology.channel_target[channel]


def _by_hop(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    demand: Demand,
    rate: Floats,
    fullest: float,
) -> Limits | None:
    """Return the loads of the fullest channels of a routing by hop, and their names.

    None where they are not to be had. ``fullest`` is the load of what limits any routing.
    """
    tables = routing.tables
    if routing.between is not None:
        sent, within = between_routers(topology, traffic), rate[: topology.num_network_channels]
        if sent is None:
            return None
        routers, demand = topology.routers, demand_of(sent)
        return _of_routing(routers, routing.between, sent, demand, within, fullest)
    if routing.routes is not None and (pairs := _pairs(traffic)) is not None:
        return [_fullest(topology, _given_loads(topology, routing, pairs) / rate)]
    by_port = between_ports(topology, tables, demand) if can_follow(tables) else None
    if by_port is None:
        return None
    inside, products = topology.num_network_channels, by_port.products
    turned = tuple((taken, given) for given, taken in products)
    back = Demand(turned, by_port.target, by_port.source, by_port.weight)
    ends = (received(way, topology.num_ports) for way in (back, by_port))
    limits = [_fullest(topology, np.concatenate([np.zeros(inside), *ends]) / rate)]
    if not inside:  # one router
        return limits
    easy = followed(topology, tables, demand, idle=True)
    if easy is None:
        return None
    stages, begin, entries = easy
    load = drawn_loads(stages, begin, entries.weight, inside)
    plain = _fullest(topology, load / rate[:inside])
    if not (chooses(tables) and (forks(stages).any() or tables.detour or tables.escape_vcs)):
        return [*limits, plain]
    if plain[0] <= max(fullest, limits[0][0]):  # in an idle network already they choose so well
        return limits
    found = followed(topology, tables, demand)
    if found is None:
        return None
    stages, begin, entries = found
    split = chosen_loads(stages, begin, entries.weight, rate[:inside], enough=fullest)
    return [*limits, limit_of(topology, split)]


def between_routers(topology: Topology, traffic: Traffic) -> Traffic | None:
    """Return what goes between the routers of hosts that have one port each.

    None where there are too many pairs. Packets between hosts of a router count for nothing.
    """
    router, count, law = topology.injection_router, topology.num_routers, traffic.law
    if np.array_equal(router, np.arange(count)):
        return traffic
    rate = np.bincount(router, traffic.rate, count).astype(np.float64)
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


def limit_of(topology: Topology, split: Split) -> tuple[float, str]:
    """Return the load of the channels that bound a split of the traffic, and their name."""
    dearest = first_largest(split.prices)
    many = np.count_nonzero(split.prices > split.prices[dearest] * 1e-3)
    name = f"{many} channels such as {topology.channel_name(dearest)}"
    if many == 1:
        name = f"channel {topology.channel_name(dearest)}"
    doubt = "" if split.exact else " (proved, though the best choice may be some per cent below)"
    return split.least, f"{name}, however packets choose their ways{doubt}"


def _given_loads(topology: Topology, routing: VirtualChannelRouting, sent: Shares) -> Floats:
    """Return float64[num_channels], what packets load that have a path of their own, or several."""
    assert routing.routes is not None
    routed = paths(topology, routing.routes, sent.source, sent.target).whole(topology)
    flits = sent.weight
    if routed.pair is not None and routed.probability is not None:
        flits = flits[routed.pair] * routed.probability
    by_hop = np.repeat(flits, routed.lengths)
    return np.bincount(routed.channels, by_hop, topology.num_channels).astype(np.float64)


def _fullest(topology: Topology, time: Floats) -> tuple[float, str]:
    """Return the longest time of a channel, and its name."""
    channel = first_largest(time)
    return float(time[channel]), f"channel {topology.channel_name(channel)}"
