"""A program on a network: its figures, its busiest channel, and who causes what there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.bounds import cut_bounds, tapers
from netloom.contention import Contention, measure_loads
from netloom.contention.ties import tie_named, tied
from netloom.questions.columns import FLITS, Column, Columns
from netloom.questions.shown import percent
from netloom.routing import DimensionOrder, half_way_round, paths
from netloom.topology import Cube
from netloom.topology.core import DragonflyShape
from netloom.topology.measures import router_heights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.contention import ChannelLoads, Saturation
    from netloom.machines import Machine
    from netloom.routing import Paths, Routing
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

    Users = tuple[Ints, Floats]


COUNTED = ("path_length", "logical_path_length", "channel_load", "path_contention")
"""Whole numbers, of each path or channel."""

SPREADS = {
    "path_length": ("path length D", "hops"),
    "logical_path_length": ("logical path length d", ""),
    "channel_load": ("channel load χ", "paths"),
    "weighted_channel_load": ("channel load", "weight"),
    "path_contention": ("path contention ν", "paths"),
}
"""Figures of ``Contention`` that are given by mean and maximum: titles and units."""

OFTEN_SHOWN = {
    "channel_load_max": "paths on the busiest channel",
    "weighted_channel_load_max": "weight on the busiest channel",
    "path_contention_mean": "paths met, mean",
}
"""Those of them that are key figures, and how they are called."""


def _spread(name: str, part: str) -> Column:
    """Return the mean or the maximum of one of ``SPREADS``."""
    title, unit = SPREADS[name]
    kind: type = int if name in COUNTED else float
    kind = (
        Real if name == "channel_load" else kind
    )  # where pairs have several paths, an expected one
    kind = kind if part == "max" else float
    whole = f"{name}_{part}"
    shown = OFTEN_SHOWN.get(whole)
    if shown:
        return Column(whole, shown, kind=kind, key=True, json=f"{name}.{part}")
    return Column(whole, f"{title}, {part}", unit, kind=kind, json=f"{name}.{part}")


FIGURES = Columns(
    Column("seed", kind=int, json=None),
    *(_spread(name, part) for name in SPREADS for part in ("mean", "max")),
    Column("hop_bytes", "hop-bytes"),
    Column("dilation", "hops a byte", key=True),
    Column(
        "saturation_average_node", "most nodes delayed from (estimate)", FLITS,
        json="saturation.average_node",
    ),
    Column(
        "saturation_worst_node", "first node delayed from (estimate)", FLITS, key=True,
        json="saturation.worst_node",
    ),
    Column(
        "saturation_upper_bound", "carried at most by these paths", FLITS, key=True,
        json="saturation.upper_bound",
    ),
)  # fmt: skip
"""The figures by which mappings are compared. See ``figures``."""


@dataclass(frozen=True, eq=False)
class MappedProgram:
    """One mapping's paths, measured.

    ``source`` and ``target`` are hosts, ``weights`` floats, one for each edge of the process graph.
    The hosts of an edge are the same if it stays inside a node.
    ``contention`` is a ``Contention``. If a routing has several paths per pair, or there are more
    paths than can be compared, it is loads alone.
    """

    source: Ints
    target: Ints
    weights: Floats
    contention: ChannelLoads
    limit: Saturation

    @property
    def moving(self) -> Bools:
        """Which edges of the process graph use the network (bool[num_edges])."""
        return self.contention.moving

    @property
    def inside_nodes(self) -> float:
        """The share of the traffic that stays inside nodes."""
        return float(self.weights[~self.moving].sum() / self.weights.sum())

    @property
    def by_path(self) -> Contention | None:
        """The contention path by path. None where only the loads of channels are known."""
        return self.contention if isinstance(self.contention, Contention) else None

    @property
    def paths_meet(self) -> bool | None:
        """Whether two paths share a channel between routers. None where nobody counted."""
        return None if self.by_path is None else bool(self.by_path.path_contention.any())


def figures(seed: int, graph: ProcessGraph, mapped: MappedProgram) -> dict[str, Any]:
    """Return the figures by which mappings are compared.

    Means and maxima of path figures are over the paths that use the network, those of channel
    figures over all channels between routers, used or not. What is not known is None.
    """
    found, paths = mapped.contention, mapped.by_path
    moved = float(graph.bytes[mapped.moving].sum())
    row: dict[str, Any] = {"seed": seed}
    for name in SPREADS:
        values = getattr(found, name, None)
        if values is None:
            row |= {f"{name}_mean": None, f"{name}_max": None}
            continue
        values = values if name.endswith("channel_load") else values[mapped.moving]
        mean = float(values.mean()) if len(values) else 0.0  # one router has no channels
        row |= {f"{name}_mean": mean, f"{name}_max": values.max(initial=0).item()}
    if paths is None:
        row["path_length_mean"] = float(found.channel_load.sum()) / int(mapped.moving.sum())
        in_bytes = np.array_equal(mapped.weights, graph.bytes)
        hop_bytes = float(found.weighted_channel_load.sum()) if in_bytes else None
    else:
        hop_bytes = float(graph.bytes @ paths.path_length)
    return row | {
        "hop_bytes": hop_bytes,
        "dilation": None if hop_bytes is None else hop_bytes / moved if moved else 0.0,
        "saturation_average_node": mapped.limit.average_node,
        "saturation_worst_node": mapped.limit.worst_node,
        "saturation_upper_bound": mapped.limit.upper_bound,
    }


CHANNELS = Columns(
    Column("source_node", kind=int),
    Column("target_node", kind=int),
    Column("channel_load", "channel load χ", "paths", kind=Real),
    Column("weighted_channel_load", "channel load", "weight"),
    Column("name", "channel", kind=str, optional=True),
    Column("kind", kind=str, optional=True),
    Column("bandwidth", unit="flits/cycle", optional=True),
    Column("time", unit="weight over bandwidth", optional=True),
    Column("pairs", "pairs with most traffic", kind=str, optional=True),
)
"""Name, kind, bandwidth and time only if hosts have channels of their own, which are among them."""

MOST_SORTED = 2**22
"""Most hops of all paths that are sorted by channel."""

FEW = 3
"""Pairs of a channel that are named."""


def pairs_by_channel(
    graph: ProcessGraph, topology: Topology, mapped: MappedProgram, routed: Paths
) -> list[str]:
    """Return the pairs of tasks that load each channel most, with their shares, in words.

    In a network from a file that names hosts and ports the pairs are those of hosts.
    """
    many = topology.num_channels
    pair = np.repeat(np.arange(len(routed.offsets) - 1), np.diff(routed.offsets))
    part = np.ones(len(pair)) if routed.probability is None else routed.probability[pair]
    edge = pair if routed.pair is None else routed.pair[pair]
    keys, place = np.unique(routed.channels.astype(np.int64) * graph.num_edges + edge,
                            return_inverse=True)  # fmt: skip
    load: Floats = np.zeros(len(keys))
    np.add.at(load, place, mapped.weights[edge] * part)
    channel, edge = np.divmod(keys, max(graph.num_edges, 1))
    order = np.lexsort((edge, -load, channel))
    channel, edge, load = channel[order], edge[order], load[order]
    counts = np.bincount(channel, minlength=many)
    total = np.bincount(channel, load, many)
    first = np.cumsum(counts) - counts
    top = np.arange(len(channel)) - first[channel] < FEW
    words: list[list[str]] = [[] for _ in range(many)]
    share = load / np.maximum(total[channel], 1e-300)
    for at, each, part_of in zip(*(x[top].tolist() for x in (channel, edge, share)), strict=True):
        words[at].append(f"{_ends(graph, topology, mapped, each)} ({percent(part_of)})")
    return [", ".join(each) for each in words]


def _ends(graph: ProcessGraph, topology: Topology, mapped: MappedProgram, edge: int) -> str:
    if topology.cabling is not None:
        hosts = (topology.name_of(int(end[edge])) for end in (mapped.source, mapped.target))
        return "→".join(hosts)
    return f"{graph.source[edge]}→{graph.target[edge]}"


def bottleneck(
    topology: Topology, mapped: MappedProgram, machine: Machine | None, *, in_bytes: bool
) -> dict[str, Any]:
    """Return the busiest channel between routers beside the busiest node, and their times.

    In any mapping a node needs its time to send. In a direct network it sends over one channel,
    elsewhere over those of its ports. ``ratio`` is how many times longer the busiest channel takes.
    It is one of a host's if all paths stay inside routers. Times are known if edges are weighted
    by bytes. They are in cycles of one flit of the machine, or of one byte if only a topology was
    named. With a machine they are in µs too.
    """
    loads, sent = mapped.contention, sent_by_node(topology, mapped)
    time, needed = loads.channel_time, sent / injection_bandwidth(topology)
    between = time[: topology.num_network_channels]
    channel = int(between.argmax()) if between.any() else loads.busiest_channel
    node = int(needed.argmax())
    answer: dict[str, Any] = {
        "channel": topology.channel_name(channel),
        "channel_load": _paths_on(loads, channel),
        "channel_weight": float(time[channel] * loads.channel_bandwidth[channel]),
        "node": topology.name_of(node),
        "node_weight": float(sent[node]),
        "ratio": float(time[channel] / needed[node]),
    }
    if not in_bytes:
        return answer
    flit_bytes = machine.flit_bytes if machine else 1
    answer["flit_bytes"] = flit_bytes
    for what, amount in (("channel", time[channel]), ("node", needed[node])):
        cycles = float(np.ceil(amount / flit_bytes))
        answer[f"{what}_busy_cycles"] = cycles
        if machine:
            answer[f"{what}_busy_us"] = cycles * machine.cycle_us
    return answer


def sent_by_node(topology: Topology, mapped: MappedProgram) -> Floats:
    """Return float64[num_hosts], what each host sends over the network."""
    weight = np.where(mapped.moving, mapped.weights, 0.0)
    sent = np.bincount(mapped.source, weight, topology.num_hosts)
    return sent.astype(np.float64)


def injection_bandwidth(topology: Topology) -> Floats:
    """Return float64[num_hosts], that of all ports of each host, or 1 if nobody says a speed."""
    rate = topology.port_bandwidth[: topology.num_ports]
    room = np.bincount(topology.port_host, rate, topology.num_hosts)
    return np.where((room > 0) & np.isfinite(room), room, 1.0)


def kinds_of_channels(topology: Topology) -> NDArray[np.str_]:
    """Return what each channel is: ``network``, ``injection`` or ``ejection``."""
    counts = topology.num_network_channels, topology.num_ports, topology.num_ports
    return np.repeat(["network", "injection", "ejection"], counts)


def busiest_channel(topology: Topology, loads: ChannelLoads) -> dict[str, Any]:
    """Return the channel that works longest, of all: its name, load, bandwidth and time.

    ``tied`` is how many work as long, and ``together`` what these are called if they are many.
    """
    channel, alike = loads.busiest_channel, tied(loads.channel_time)
    rate, time = float(loads.channel_bandwidth[channel]), float(loads.channel_time[channel])
    first, ports = topology.num_network_channels, topology.num_ports
    kind = "network" if channel < first else "injection" if channel < first + ports else "ejection"
    return {
        "name": topology.channel_name(channel),
        "kind": kind,
        "paths": _paths_on(loads, channel),
        "load": float(
            np.append(loads.weighted_channel_load, loads.weighted_host_channel_load)[channel]
        ),
        "bandwidth": rate,
        "time": time,
        "tied": len(alike),
        "together": tie_named(topology, alike),
    }


def busiest_router(topology: Topology, loads: ChannelLoads) -> dict[str, Any] | None:
    """Return the router through which most goes. None in a direct network."""
    if topology.direct:
        return None
    through = np.bincount(
        topology.routers.channel_target, loads.weighted_channel_load, topology.num_routers
    )
    injected = loads.weighted_host_channel_load[: topology.num_ports]
    through = through + np.bincount(topology.injection_router, injected, topology.num_routers)
    router = int(through.argmax())
    name = topology.name_of(topology.router_vertex(router))
    return {"name": name, "load": float(through[router])}


def bounds(topology: Topology, mapped: MappedProgram) -> dict[str, Any] | None:
    """Return what no routing can beat for this mapping, cut by cut. None in a direct network.

    ``time`` is that of the tightest cut, ``ratio`` how many times longer the busiest channel works.
    """
    if topology.direct:
        return None
    cuts = cut_bounds(topology, mapped.source, mapped.target, mapped.weights)
    tightest = max(cuts, key=lambda each: each.time)
    busiest = float(mapped.contention.channel_time.max())
    return {
        "time": tightest.time,
        "ratio": busiest / tightest.time,
        "tightest": tightest.kind,
        "cuts": [each.to_dict() for each in cuts],
    }


def oversubscription(topology: Topology) -> list[dict[str, Any]] | None:
    """Return what the routers of each level have below and above them. None if direct."""
    if topology.direct:
        return None
    return [asdict(each) | {"ratio": each.ratio} for each in tapers(topology)]


def each_shift(
    graph: ProcessGraph, topology: Topology, routing: Routing, mapped: MappedProgram
) -> list[dict[str, Any]] | None:
    """Return what each shift of a program such as ``shift:1,5,17`` loads on its own.

    The shifts take place one after the other. None if the program is no shift, or only one.
    """
    if not graph.name.startswith("shift:"):
        return None
    distance = (graph.target - graph.source) % graph.num_tasks
    found = []
    for by in np.unique(distance).tolist():
        one = distance == by
        ends = mapped.source[one], mapped.target[one]
        if np.array_equal(*ends):
            continue  # nothing crosses the network
        loads = measure_loads(topology, routing, *ends, mapped.weights[one])
        between = loads.channel_load
        found.append(
            {
                "shift": by,
                "channel_load": {
                    "mean": float(between.mean()) if len(between) else 0.0,
                    "max": between.max(initial=0).item(),
                },
                "busiest_channel": busiest_channel(topology, loads),
            }
        )
    return found if len(found) > 1 else None


def _paths_on(loads: ChannelLoads, channel: int) -> float:
    """Return the paths on a channel, a whole number unless they are expected ones."""
    paths = np.append(loads.channel_load, loads.host_channel_load)[channel].item()
    return float(paths) if isinstance(paths, float) else int(paths)


MOST_HOPS = 2**24
"""Hops of all paths up to which those on the busiest channel are looked for (under a second)."""


def followed(topology: Topology, routing: Routing, mapped: MappedProgram) -> Paths | None:
    """Return the paths of a mapped program. None if they are too many to be looked through."""
    if float(mapped.contention.channel_load.sum()) > MOST_HOPS:
        return None
    return paths(topology, routing, mapped.source, mapped.target).whole(topology)


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
    if channel >= topology.num_network_channels:
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
    rate = inside.channel_bandwidth
    of_ports = np.split(topology.port_bandwidth, 2)[not up]
    ports = (topology.injection_router if up else topology.ejection_router) == router
    under = rate[below].sum() + of_ports[ports].sum()
    hosts = None
    if users is not None:
        ends = mapped.source if up else mapped.target
        hosts = len(np.unique(ends[users[0]]))
    load = mapped.contention.weighted_channel_load
    rates = rate[alike]
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
