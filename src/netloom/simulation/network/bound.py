"""How much a network could carry at best, whatever its routers do: what every run is held against.

A resource cannot carry more than one flit per cycle. Cuts bound every routing. If packets draw
their path or have a fixed one, the expected load of the channels bounds the routing, too (Dally &
Towles, section 3.3.1). If routers choose, the most even split of the traffic does.

If hosts hang on routers, the cuts are each host and router alone, and two halves of the hosts. So
are the subtrees of fat trees, the groups of dragonflies and the coordinates of grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.contention.cuts import cut_parts, grid_sets, parts_of
from netloom.contention.decisions import can_follow, chooses, drawn_loads, forks
from netloom.contention.expected_load import (
    best_split,
    chosen_loads,
    dimension_order_loads,
    romm_loads,
    romm_work,
    to_every_node,
    valiant_loads,
)
from netloom.routing import DimensionOrder, paths
from netloom.routing.route_tables import channels_by_port
from netloom.routing.virtual_channel_tables import (
    ADAPTIVE,
    DIMENSION_ORDER,
    O1TURN,
    STATIC_DATELINE,
    STICKY_ESCAPE,
    TABLE,
    TWO_PHASE,
)
from netloom.simulation.network.demand import (
    MOST_PAIRS,
    SAME,
    Demand,
    between_ports,
    between_routers,
    crossing,
    demand_of,
    first_largest,
    followed,
    limit_of,
    listed_by,
    listed_pairs,
    received,
    split,
)
from netloom.simulation.network.idle import channel_rates
from netloom.simulation.network.routers import end_channels
from netloom.topology import Cube
from netloom.workload.traffic.targets import HotSpot, Shares, Uniform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.routing import VirtualChannelRouting
    from netloom.routing.by_hop.tables import HopTables
    from netloom.routing.virtual_channel_tables import RouteTables
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology
    from netloom.workload import Traffic
    from netloom.workload.traffic.targets import Law

MOST_BOXES = 2**28
"""Most nodes of the minimal boxes of all pairs, over which ROMM draws."""

MOST_PARTS = 1024
"""Most parts of a dimension between which cuts are made: their traffic is a square table."""


@dataclass(frozen=True)
class Bound:
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

    load: float
    what: str
    kind: Literal["routing", "network"] = "routing"

    @property
    def sentence(self) -> str:
        """The limit in words, without a full stop.

        Examples
        --------
        >>> Bound(0.25, "channel 0 -> 1").sentence
        'with this routing and these ends, no more than 0.25 can be carried: channel 0 -> 1'
        """
        said = f"with {self.whose} and these ends, no more than {self.load:.4g} can be carried"
        more = "" if self.kind == "routing" else " (the limit of this routing may be lower)"
        return f"{said}: {self.what}{more}"

    @property
    def whose(self) -> str:
        """Whose limit it is: ``this routing`` or ``any routing``."""
        return "this routing" if self.kind == "routing" else "any routing"

    def to_dict(self) -> dict[str, float | str]:
        """Return plain data, for JSON."""
        return {"load": self.load, "limited_by": self.what, "of": self.kind}


def throughput_bound(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, router: Router
) -> Bound:
    """Return the offered load above which some resource must be over-full.

    The least of what these can carry:

    - the injection channels of the node that sends most, the ejection channels of the node that
      receives most;
    - on k-ary n-cubes, the channels across every cut between two coordinates, or across every two
      cuts of a ring. These hold for every routing, minimal or not. (A side above ``MOST_PARTS`` is
      cut in that many places only.)
    - every channel, by its expected load, if routers do not choose: given routes, tables of one
      channel each, dimension order (ties on rings are split evenly), O1TURN, Valiant, ROMM;
    - all channels together, where they do: the most even split of the traffic over the ways that
      packets may take (see ``best_split``).

    The latter two only where at most ``MOST_PAIRS`` pairs of nodes have to be listed. Otherwise the
    bound is of the kind ``network``. A packet from a node to itself crosses no network channel
    (unless it goes by way of another node, as with Valiant), but is injected and ejected.

    In networks whose hosts hang on routers every channel has its bandwidth. Cuts are those of
    ``contention.cuts``: hosts, routers, groups, subtrees, halves, and the coordinates of grids. The
    load of a routing by hop is followed from router to router. Packets that draw their path spread
    as they draw. Packets that look at credits spread as evenly as possible. Packets that may draw a
    detour take detours as often as is best for the bound. The kind is ``network`` if there are too
    many stages to follow.

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
    >>> throughput_bound(net, routing, parse_traffic("uniform", net), Router())
    Bound(load=0.4921875, what='the 8 channels from row 3 to row 4', kind='routing')
    >>> throughput_bound(net, routing, parse_traffic("hotspot:0.2:0", net), Router()).what
    'ejection at node (0,0)'
    """
    found, own = (
        _direct_limits(topology, routing, traffic, router)
        if topology.direct
        else _hosted_limits(topology, routing, traffic)
    )
    found.extend(own or [])
    fullest, what = found[first_largest(np.array([load for load, _ in found]))]
    return Bound(1 / fullest, what, "network" if own is None else "routing")


Limits = list[tuple[float, str]]
"""Loads at load 1 of what limits the traffic, and names."""


def _hosted_limits(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic
) -> tuple[Limits, Limits | None]:
    """Return what limits any routing, and what this one, where that is to be had."""
    demand, rate = demand_of(traffic), channel_rates(topology)
    found = [*end_limits(topology, traffic, demand, rate), *cut_limits(topology, demand, rate)]
    fullest = max(load for load, _ in found)
    return found, routing_limits(topology, routing, traffic, demand, rate, fullest)


def _direct_limits(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, router: Router
) -> tuple[Limits, Limits | None]:
    """Return what limits any routing, and what this one, where that is to be had."""
    injection, ejection = end_channels(topology, router)
    sent, received = traffic.rate, _received(traffic.law, traffic.rate)
    busiest = [(sent / injection, "injection"), (received / ejection, "ejection")]
    found: Limits = []
    for load, end in busiest:
        node = first_largest(load)
        found.append((float(load[node]), f"{end} at node {topology.name_of(node)}"))
    if isinstance(topology, Cube):
        for axis in range(len(topology.sides)):
            found.extend(_cuts(topology, axis, traffic))
    return found, _of_routing(topology, routing, traffic, max(load for load, _ in found))


# What the nodes receive, and what goes between parts of the network: flits a cycle at load 1. Laws
# without a list of pairs are summed in closed form, whatever the size of the network.


def _received(law: Law, rate: Floats) -> Floats:
    """Return float64[num_nodes], what each node receives."""
    if isinstance(law, Uniform):
        others = law.num_nodes - (not law.to_self)
        return np.asarray((rate.sum() - rate * (not law.to_self)) / others)
    if isinstance(law, HotSpot):
        kept, to_hot = split(law, rate)
        received = _received(law.base, kept)
        own = np.where(law.rank < len(law.hot_nodes), to_hot, 0.0)[law.hot_nodes]
        received[law.hot_nodes] += law.weight * (to_hot.sum() - own)
        return received
    source, target, share = law.shares(0, len(rate))
    return np.bincount(target, rate[source] * share, minlength=len(rate)).astype(np.float64)


def _between(law: Law, rate: Floats, part: Ints, num_parts: int) -> Floats:
    """Return float64[num_parts, num_parts], what nodes of one part send to those of another.

    ``part`` is each node's. What stays within a part is not exact: it crosses no cut.
    """

    def total(of: Floats) -> Floats:
        return np.bincount(part, of, minlength=num_parts).astype(np.float64)

    if isinstance(law, Uniform):
        nodes = np.bincount(part, minlength=num_parts)
        return np.outer(total(rate), nodes / (law.num_nodes - (not law.to_self)))
    if isinstance(law, HotSpot):
        kept, to_hot = split(law, rate)
        hot = np.bincount(part[law.hot_nodes], law.weight, minlength=num_parts)
        return _between(law.base, kept, part, num_parts) + np.outer(total(to_hot), hot)
    source, target, share = law.shares(0, len(rate))
    cell = part[source] * num_parts + part[target]
    sent = np.bincount(cell, rate[source] * share, minlength=num_parts**2)
    return sent.reshape(num_parts, num_parts).astype(np.float64)


def _cuts(topology: Cube, axis: int, traffic: Traffic) -> Iterator[tuple[float, str]]:
    """Yield the load of the fullest cuts of a dimension, outwards and inwards, and their names.

    One side of each cut has the coordinates from ``first`` up to, but excluding, ``after``. An open
    line needs only the cuts that begin at coordinate 0, because traffic that leaves a piece in the
    middle leaves it at one of its two ends.
    """
    side, wrap = topology.sides[axis], topology.wraps[axis]
    if side == 1:
        return
    parts = min(side, MOST_PARTS)
    coordinate = np.arange(topology.num_hosts) // topology.strides[axis] % side
    sent = _between(traffic.law, traffic.rate, coordinate * parts // side, parts)
    borders = -(-np.arange(parts + 1) * side // parts)
    to_here = np.zeros((parts + 1, parts + 1))
    to_here[1:, 1:] = sent.cumsum(0).cumsum(1)
    if wrap:
        first, after = np.triu_indices(parts + 1, 1)
    else:
        first, after = np.zeros(parts - 1, np.intp), np.arange(1, parts)
    inside = to_here[after, after] - to_here[first, after]
    inside -= to_here[after, first] - to_here[first, first]
    channels = topology.num_hosts // side * (1 + wrap)
    by_source, by_target = to_here[:, -1], to_here[-1]
    for outwards, total in ((True, by_source), (False, by_target)):
        load = (total[after] - total[first] - inside) / channels
        fullest = first_largest(load)
        low, high = int(borders[first[fullest]]), int(borders[after[fullest]])
        name = _cut_name(topology, axis, channels, (low, high), outwards=outwards)
        yield float(load[fullest]), name


def _cut_name(
    topology: Cube, axis: int, channels: int, piece: tuple[int, int], *, outwards: bool
) -> str:
    """Name the channels that leave or enter the coordinates from the first up to the second."""
    dimensions, (low, high) = len(topology.sides), piece
    word = {1: "node", 2: ("row", "column")[axis % 2]}.get(dimensions, "coordinate")
    of = f" of dimension {axis}" if dimensions > 2 else ""
    counted = f"the {channels} channels" if channels > 1 else "the channel"
    if not topology.wraps[axis]:
        start, end = (high - 1, high) if outwards else (high, high - 1)
        return f"{counted} from {word} {start} to {word} {end}{of}"
    nodes = f"{word}s {low} to {high - 1}" if high - low > 1 else f"{word} {low}"
    return f"{counted} {'out of' if outwards else 'into'} {nodes}{of}"


def _of_routing(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, fullest: float
) -> list[tuple[float, str]] | None:
    """Return the load of the routing's fullest channels at load 1, and their name.

    Empty where some way to use the routing loads nothing more than ``fullest``. None where the
    loads are not to be had.
    """
    load = _channel_loads(topology, routing, traffic)
    if load is not None:
        if not len(load):
            return []
        load = load / channel_rates(topology)
        channel = first_largest(load)
        return [(float(load[channel]), f"channel {topology.channel_name(channel)}")]
    if routing.tables.kind in (DIMENSION_ORDER, STATIC_DATELINE, TWO_PHASE):
        return None
    adaptive = routing.tables.kind in (ADAPTIVE, STICKY_ESCAPE) and not routing.tables.ties_grow
    if isinstance(topology, Cube) and adaptive:
        orders = _both_orders(topology)
        attained = _in_orders(topology, orders, traffic)
        if attained is not None:
            attained /= channel_rates(topology)
            if attained.max(initial=0) <= fullest / SAME:
                return []
    sent = _pairs(traffic)
    if sent is None:
        return None
    apart = sent.source != sent.target
    if not apart.any():
        return []
    source, target, weight = (each[apart] for each in sent)
    split = best_split(routing, source, target, weight, channel_rates(topology))
    if split is None:
        return None
    return [limit_of(topology, split)]


def _both_orders(topology: Cube) -> list[DimensionOrder]:
    dimensions = tuple(range(len(topology.sides)))
    return [DimensionOrder(dimensions[::-1]), DimensionOrder(dimensions)]


def _in_orders(topology: Cube, orders: list[DimensionOrder], traffic: Traffic) -> Floats | None:
    """Return the mean load of each channel over some orders of the dimensions."""
    parts = _parts(traffic.law, traffic.rate)
    if parts is None:
        return None
    alike, (source, target, weight) = parts
    loads = [dimension_order_loads(topology, order, source, target, weight) for order in orders]
    if alike.any():
        loads += [to_every_node(topology, order, alike) for order in orders]
    return np.asarray(np.sum(loads, axis=0) / len(orders))


def _parts(law: Law, rate: Floats) -> tuple[Floats, Shares] | None:
    """Return what each node sends to every node alike, and pairs of nodes for the rest, if few.

    What a node sends to itself is not exact: in dimension order it crosses no channel.
    """
    nodes = np.arange(len(rate), dtype=np.int32)
    if isinstance(law, Uniform):
        none = np.zeros(0, np.int32)
        return rate / (law.num_nodes - (not law.to_self)), Shares(none, none, np.zeros(0))
    if isinstance(law, HotSpot):
        kept, to_hot = split(law, rate)
        base, hot = _parts(law.base, kept), law.hot_nodes
        if base is None or len(rate) * len(hot) > MOST_PAIRS:
            return None
        alike, pairs = base
        source = np.concatenate([pairs.source, np.repeat(nodes, len(hot))])
        target = np.concatenate([pairs.target, np.tile(hot, len(nodes))])
        weight = np.concatenate([pairs.weight, np.outer(to_hot, law.weight).ravel()])
        return alike, Shares(source, target, weight)
    if listed_by(law, len(rate)) > MOST_PAIRS:
        return None
    source, target, share = law.shares(0, len(rate))
    return np.zeros(len(rate)), Shares(source, target, rate[source] * share)


def _channel_loads(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic
) -> Floats | None:
    """Return float64[num_channels], flits per cycle at load 1, where routers do not choose."""
    tables = routing.tables
    if isinstance(topology, Cube) and tables.kind in (DIMENSION_ORDER, STATIC_DATELINE, TWO_PHASE):
        order = DimensionOrder(tuple(tables.order.tolist()))
        if tables.kind != TWO_PHASE:
            return _in_orders(topology, [order], traffic)
        if not routing.minimal:
            received = _received(traffic.law, traffic.rate)
            return valiant_loads(topology, order, traffic.rate, received)
        sent = _pairs(traffic)
        if sent is None or romm_work(topology, sent.source, sent.target) > MOST_BOXES:
            return None
        return romm_loads(topology, order, *sent)
    if isinstance(topology, Cube) and tables.kind == O1TURN and not routing.uses_credits:
        return _in_orders(topology, _both_orders(topology), traffic)
    sent = _pairs(traffic) if routing.routes or tables.kind == TABLE else None
    if sent is None:
        return None
    if routing.routes is None:
        return _table_loads(topology, tables, sent)
    routed = paths(topology, routing.routes, sent.source, sent.target)
    by_hop = np.repeat(sent.weight, routed.lengths)
    return np.bincount(routed.channels, by_hop, minlength=topology.num_channels).astype(np.float64)


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


def end_limits(
    topology: Topology, traffic: Traffic, demand: Demand, rate: Floats
) -> Iterator[tuple[float, str]]:
    """Yield the load of the fullest injection and ejection, over their bandwidth, and their names.

    All ports of a host together: a routing may choose among them. ``rate`` is that of each channel.
    """
    hosts, (sends, receives) = topology.num_hosts, _port_channels(topology)
    taken = received(demand, hosts)
    for flits, channels, end in (
        (traffic.rate, sends, "injection"), (taken, receives, "ejection"),
    ):  # fmt: skip
        room = np.bincount(topology.port_host, rate[channels], hosts)
        busy = np.divide(flits, room, out=np.zeros(hosts), where=room > 0)
        host = first_largest(busy)
        yield float(busy[host]), f"{end} at {topology.name_of(host)}"


def cut_limits(topology: Topology, demand: Demand, rate: Floats) -> Iterator[tuple[float, str]]:
    """Yield the load of the fullest cut of each kind, over its bandwidth, and its name."""
    rounded = float((rate / topology.channel_bandwidth).max(initial=1))
    grids = (parts_of(topology, *each) for each in grid_sets(topology))
    for part in (*cut_parts(topology), *grids):
        if part.kind == "host":  # see ``end_limits``, which counts what hosts send to themselves
            continue
        ways = crossing(demand, part.begins, part.ends, len(part.leaving))
        rooms = part.leaving * rounded, part.entering * rounded
        for weight, room, way in zip(ways, rooms, ("out of", "into"), strict=True):
            busy = np.divide(weight, room, out=np.zeros(len(weight)), where=room > 0)
            at = first_largest(busy)
            flits = f"{room[at]:.4g} flits/cycle in all"
            yield float(busy[at]), f"the channels {way} {part.name_of(at)}, {flits}"


def routing_limits(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    demand: Demand,
    rate: Floats,
    fullest: float,
) -> list[tuple[float, str]] | None:
    """Return the loads of the fullest channels of a routing, over their bandwidth, and their names.

    None where they are not to be had. ``fullest`` is the load of what limits any routing.
    """
    tables: HopTables = routing.tables
    if routing.between is not None:
        sent = between_routers(topology, traffic)
        if sent is None:
            return None
        return _of_routing(topology.routers, routing.between, sent, fullest)
    if routing.routes is not None and listed_pairs(traffic) <= MOST_PAIRS:
        return [_fullest(topology, _given_loads(topology, routing, traffic) / rate)]
    by_port = between_ports(topology, tables, demand) if can_follow(tables) else None
    if by_port is None:
        return None
    limits = [_fullest(topology, _port_loads(topology, by_port) / rate)]
    inside = topology.num_network_channels
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


def _port_channels(topology: Topology) -> tuple[slice, slice]:
    """Return the injection and the ejection channels of all ports of hosts."""
    first, ports = topology.num_network_channels, topology.num_ports
    return slice(first, first + ports), slice(first + ports, first + 2 * ports)


def _port_loads(topology: Topology, by_port: Demand) -> Floats:
    """Return float64[num_channels], what the ports of hosts carry."""
    load, (sends, receives) = np.zeros(topology.num_channels), _port_channels(topology)
    back = Demand(
        tuple((taken, sent) for sent, taken in by_port.products),
        by_port.target, by_port.source, by_port.weight,
    )  # fmt: skip
    load[sends], load[receives] = (received(way, topology.num_ports) for way in (back, by_port))
    return load


def _given_loads(topology: Topology, routing: VirtualChannelRouting, traffic: Traffic) -> Floats:
    """Return float64[num_channels], what packets load that have a path of their own, or several."""
    assert routing.routes is not None
    source, target, weight = traffic.matrix()
    routed = paths(topology, routing.routes, source, target)
    flits = weight * traffic.rate.sum()
    if routed.pair is not None and routed.probability is not None:
        flits = flits[routed.pair] * routed.probability
    by_hop = np.repeat(flits, routed.lengths)
    return np.bincount(routed.channels, by_hop, topology.num_channels).astype(np.float64)


def _fullest(topology: Topology, time: Floats) -> tuple[float, str]:
    """Return the longest time of a channel, and its name."""
    channel = first_largest(time)
    return float(time[channel]), f"channel {topology.channel_name(channel)}"
