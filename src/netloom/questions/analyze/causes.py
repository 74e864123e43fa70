"""Why the busiest channel of a mapped program is busy: figures that show a cause, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import measure_loads
from netloom.routing import DimensionOrder, half_way_round, paths
from netloom.topology import Cube
from netloom.topology.distances import router_heights
from netloom.topology.family import DragonflyShape

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.questions.analyze.mapped import MappedProgram
    from netloom.routing import Paths, Routing
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

    Users = tuple[Ints, Floats]

MOST_HOPS = 2**24
"""Hops of all paths up to which those on the busiest channel are looked for (under a second)."""

FEW = 3
"""Pairs of tasks that are named."""


def followed(topology: Topology, routing: Routing, mapped: MappedProgram) -> Paths | None:
    """Return the paths of a mapped program. None if they are too many to be looked through."""
    if float(mapped.contention.channel_load.sum()) > MOST_HOPS:
        return None
    return paths(topology, routing, mapped.source, mapped.target)


def causes(
    graph: ProcessGraph,
    topology: Topology,
    routing: Routing,
    mapped: MappedProgram,
    routed: Paths | None,
) -> dict[str, Any]:
    """Return figures from which a cause of the busiest channel's load can be seen.

    Each is None if it does not apply, or is not known.

    - ``half_way``: traffic that goes half-way round a ring. Dimension order sends it in the +
      direction only. ``share`` is its part of all traffic. ``paths`` is their number. If half of
      it went the other way, the busiest channel would carry ``split_load``.
    - ``users``: whose traffic is on the busiest channel. ``pairs`` are the first of ``count`` pairs
      of tasks, each with its ``share`` of the load. ``sender`` and ``receiver`` are the tasks that
      send and receive most of it.
    - ``groups``: the two groups of a dragonfly that the busiest channel joins. A ``share`` of its
      load goes from hosts of the one to hosts of the other, over ``channels`` that join the two.
    - ``uplinks``: the channels that could carry it instead, from or to the same router.
    """
    users = None if routed is None else _users(mapped, routed)
    return {
        "half_way": _half_way(topology, routing, mapped),
        "users": None if users is None else _named(graph, *users),
        "groups": _groups(topology, mapped, users),
        "uplinks": _uplinks(topology, mapped, users),
    }


def _half_way(topology: Topology, routing: Routing, mapped: MappedProgram) -> dict[str, Any] | None:
    if not isinstance(topology, Cube) or not isinstance(routing, DimensionOrder):
        return None
    if not topology.even:
        return None
    source, target, weights = mapped.source, mapped.target, mapped.weights
    both = half_way_round(topology, source, target)
    if not both.any():
        return None
    last = topology.num_hosts - 1  # node n is at last - n in the mirror, where + is -
    mirrored = measure_loads(topology, routing, last - source, last - target, weights)
    ends = topology.channel_source.astype(np.int64), topology.channel_target.astype(np.int64)
    number = ends[0] * topology.num_hosts + ends[1]
    opposite = (last - ends[0]) * topology.num_hosts + last - ends[1]
    order = np.argsort(number)
    found = order[np.searchsorted(number, opposite, sorter=order)]
    either = mapped.contention.weighted_channel_load + mirrored.weighted_channel_load[found]
    return {
        "paths": int(both.sum()),
        "share": float(weights[both].sum() / weights[mapped.moving].sum()),
        "split_load": float(either.max() / 2),
    }


def _users(mapped: MappedProgram, routed: Paths) -> Users:
    """Return the edges that use the busiest channel, and what each puts on it."""
    at = np.flatnonzero(routed.channels == mapped.contention.busiest_channel)
    path = np.searchsorted(routed.offsets, at, side="right") - 1
    pair = path if routed.pair is None else routed.pair[path]
    part = 1.0 if routed.probability is None else routed.probability[path]
    load: Floats = np.zeros(len(mapped.weights))
    np.add.at(load, pair, mapped.weights[pair] * part)
    edges = np.flatnonzero(load)
    order = np.argsort(-load[edges], kind="stable")
    return edges[order], load[edges[order]]


def _named(graph: ProcessGraph, edges: Ints, load: Floats) -> dict[str, Any] | None:
    """Return the tasks behind these loads, with their shares."""
    total = float(load.sum())
    if not total:
        return None
    ends = {"sender": graph.source[edges], "receiver": graph.target[edges]}
    found: dict[str, Any] = {
        "count": len(edges),
        "pairs": [
            {
                "source": int(ends["sender"][each]),
                "target": int(ends["receiver"][each]),
                "share": float(load[each] / total),
            }
            for each in range(min(FEW, len(edges)))
        ],
    }
    for who, tasks in ends.items():
        sums = np.bincount(tasks, load)
        most = int(sums.argmax())
        found[who] = {
            "task": most,
            "share": float(sums[most] / total),
            "pairs": int((tasks == most).sum()),
        }
    return found


def _groups(
    topology: Topology, mapped: MappedProgram, users: Users | None
) -> dict[str, Any] | None:
    """Return the groups that the busiest channel joins, and what goes from one to the other."""
    shape, channel, inside = topology.family, mapped.contention.busiest_channel, topology.routers
    if not isinstance(shape, DragonflyShape) or users is None:
        return None
    if channel >= topology.num_network_channels:
        return None
    begins, ends = (
        each // shape.routers for each in (inside.channel_source, inside.channel_target)
    )
    first, last = int(begins[channel]), int(ends[channel])
    if first == last:
        return None
    group = np.zeros(topology.num_hosts, np.int64)
    group[topology.port_host] = topology.injection_router // shape.routers
    edges, load = users
    direct = (group[mapped.source[edges]] == first) & (group[mapped.target[edges]] == last)
    return {
        "from": first,
        "to": last,
        "share": float(load[direct].sum() / load.sum()),
        "channels": int(((begins == first) & (ends == last)).sum()),
    }


def _uplinks(
    topology: Topology, mapped: MappedProgram, users: Users | None
) -> dict[str, Any] | None:
    """Return what shares the load of a channel between two levels of routers.

    ``router`` is the lower of the two. ``channels`` lead from it to that level (``way`` is ``up``)
    or come from there (``down``). ``load`` is what the busiest carries. It would carry
    ``fair_load`` if all of them worked equally long. ``hosts`` send (receive) its load.
    ``oversubscription`` is the bandwidth below the router over that of these channels. ``rates``
    are how many of them have which bandwidth, and ``rate`` is that of the busiest.
    """
    channel, inside = mapped.contention.busiest_channel, topology.routers
    if topology.direct or channel >= topology.num_network_channels:
        return None
    heights = router_heights(topology)
    source, target = inside.channel_source, inside.channel_target
    begin, end = int(source[channel]), int(target[channel])
    low, high = heights[begin], heights[end]
    if low == high:
        return None
    up = low < high
    router, near, far = (begin, source, target) if up else (end, target, source)
    alike = (near == router) & (heights[far] == max(low, high))
    below = (far == router) & (heights[near] < heights[router])
    rate = topology.channel_bandwidth
    first = topology.num_network_channels + (not up) * topology.num_ports
    ports = (topology.injection_router if up else topology.ejection_router) == router
    under = rate[: len(below)][below].sum() + rate[first : first + topology.num_ports][ports].sum()
    hosts = None
    if users is not None:
        ends = mapped.source if up else mapped.target
        hosts = len(np.unique(ends[users[0]]))
    load = mapped.contention.weighted_channel_load
    rates = rate[: len(alike)][alike]
    room = float(rates.sum())
    each, many = np.unique(rates, return_counts=True)
    return {
        "router": topology.name_of(topology.router_vertex(router)),
        "way": "up" if up else "down",
        "channels": int(alike.sum()),
        "load": float(load[channel]),
        "fair_load": float(load[alike].sum() * rate[channel] / room),
        "hosts": hosts,
        "oversubscription": float(under / room),
        "rate": float(rate[channel]),
        "rates": [
            {"rate": one, "channels": count}
            for one, count in zip(each.tolist(), many.tolist(), strict=True)
        ],
    }
