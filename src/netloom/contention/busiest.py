"""The busiest channels of a mapped program, their names, and why they are so busy.

Tables of answers have what each channel between routers carries. Channels that are equally busy are
named as what they share in place of a few members. The busiest channel of a mapped program stands
beside the busiest node, with the figures from which a cause of its load can be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints, distinct
from netloom.base.figures import Figures, Number, figure
from netloom.base.words import counted, listed, number, percent, rounded
from netloom.contention.channel_loads import ChannelLoads, measure_loads
from netloom.contention.expected_load import dimension_order_loads
from netloom.contention.mapped import (
    FEW,
    LOADS,
    RATE,
    MappedProgram,
    Spread,
    carried,
    edges_by_channel,
    injection_bandwidth,
)
from netloom.routing import DimensionOrder, Paths, Routing, half_way_round, paths
from netloom.routing.ragged import legs
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape
from netloom.topology.measures import router_heights
from netloom.topology.names import short_switch_name

# -- channel uses ----------------------------------------------------------------------------------


USED = "flits/cycle"


class ChannelUse(Figures):
    """What a channel between routers carries. Names and bandwidths only if hosts have routers."""

    channel: int
    source_node: int
    target_node: int
    utilisation: float = figure("carried by the channel", USED)
    name: str | None = figure("channel", optional=True)
    bandwidth: float | None = figure(unit=USED, optional=True)


def channel_uses(
    load: str, runs: Iterable[tuple[float, NDArray[Any]]], topology: Topology
) -> dict[str, Any]:
    """Return the columns of ``ChannelUse`` behind that of a load, channel by channel at each load.

    Parameters
    ----------
    load
        Name of the column of loads.
    runs
        The loads, each with float[num_network_channels], flits per cycle.
    """
    every = list(runs)
    many = len(every)
    inside = topology.num_network_channels
    alike: dict[str, Any] = {
        "source_node": topology.source_end[:inside],
        "target_node": topology.target_end[:inside],
    }
    if not topology.direct:
        alike["name"] = [topology.channel_name(channel) for channel in range(inside)]
        alike["bandwidth"] = topology.channel_bandwidth[:inside]
    return {
        load: np.repeat([value for value, _ in every], inside),
        "channel": np.tile(np.arange(inside), many),
        "utilisation": np.concatenate([used for _, used in every]) if many else [],
        **{name: np.tile(values, many) for name, values in alike.items()},
    }


# -- ties ------------------------------------------------------------------------------------------


FEW_TIED = 3
"""Most channels of a tie that are named one by one."""

ALIKE = 1e-9
"""Relative difference up to which channels are equally busy."""

AXES = "xyz"
"""What dimensions are called, the last first."""


def tied(time: NDArray[Any]) -> Ints:
    """Return the channels that work longest, ascending: the busiest and all that equal it.

    Examples
    --------
    >>> tied(np.array([1.0, 3.0, 2.0, 3.0])).tolist(), tied(np.zeros(2)).tolist()
    ([1, 3], [])
    """
    most = time.max(initial=0.0)
    return np.flatnonzero((time >= most * (1 - ALIKE)) & (time > 0))


def tie_named(topology: Topology, channels: NDArray[Any]) -> str:
    """Return what equally busy channels are called together. "" of a few, which have names.

    Parameters
    ----------
    channels
        int64[n], ascending. Those of hosts come after those between routers.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> torus = topology("torus:8x8")
    >>> tie_named(torus, np.arange(128, 192)), tie_named(torus, np.arange(8))
    ('all + channels of 8 rows', 'all + channels of column 0')
    >>> tie_named(torus, np.arange(256)), tie_named(torus, np.arange(3))
    ('all 256 channels', '')
    >>> tie_named(torus, np.arange(130, 135))
    '5 of 64 + channels of rows'
    >>> tree = topology("leaf-spine:4x2x4")
    >>> up = np.flatnonzero(tree.routers.channel_source < 4)
    >>> tie_named(tree, up), tie_named(tree, np.arange(16, 32))
    ('all 8 channels that lead up', 'the own channels of all 16 hosts')
    """
    if len(channels) <= FEW_TIED:
        return ""
    inside, total = topology.num_network_channels, topology.num_channels
    if len(channels) == inside and channels[-1] < inside:
        return f"all {inside:,} channels" + " between routers" * (total > inside)
    if channels[0] >= inside:
        host = topology.port_host[(channels - inside) % topology.num_ports]
        mine, hosts = len(distinct(host)), counted(topology.num_hosts, "host", ",")
        whose = f"all {hosts}" if mine == topology.num_hosts else f"{mine:,} of {hosts}"
        return f"the own channels of {whose}"
    if channels[-1] < inside:
        whole = topology.whole
        found = (
            _of_cube(whole.routers, topology.whole_channel[channels])
            if isinstance(whole.routers, Cube)
            else _of_class(topology, channels)
        )
        if found:
            return found
        total = inside
    some = "all" if len(channels) == total else f"{len(channels):,} of"
    return f"{some} {total:,} channels"


def _of_cube(cube: Cube, channels: NDArray[Any]) -> str:
    """Return the name of whole lines, or of some channels of one direction. "" of all others."""
    lines, parts = dict[int, list[set[int]]](), list[tuple[int, str, int, bool]]()
    ways = ((axis, way) for axis in range(len(cube.sides)) for way in range(2))
    for axis, way in ways:
        mine = channels - cube.line_base[axis, way]  # as counted from the first in this direction
        mine = mine[(mine >= 0) & (mine < cube.direction_channels[axis])]
        if not len(mine):
            continue
        line, many = np.unique(mine // cube.line_channels[axis], return_counts=True)
        lines.setdefault(axis, [set(), set()])[way] = set(line.tolist())
        parts.append((axis, "+−"[way], len(mine), bool((many == cube.line_channels[axis]).all())))
    if len(parts) == 1 and not parts[0][3]:
        axis, sign, some, _ = parts[0]
        every = int(cube.direction_channels[axis])
        return f"{some:,} of {every:,} {sign} channels of {_line(cube, axis)}s"
    if not all(whole for *_, whole in parts):
        return ""
    signs = {sign for _, sign, *_ in parts}
    both = all(plus == minus for plus, minus in lines.values())
    if len(signs) > 1 and not both:
        return ""
    if sum(side > 1 for side in cube.sides) == 1:
        return f"all {len(channels):,} {min(signs)} channels"
    named = []
    for axis, (plus, minus) in sorted(lines.items(), reverse=True):
        kind, mine = _line(cube, axis), plus | minus
        one = len(mine) == 1 and kind in ("row", "column")
        named.append(f"{kind} {min(mine)}" if one else counted(len(mine), kind))
    return f"all {'' if both else min(signs) + ' '}channels of {listed(named)}"


def _line(cube: Cube, axis: int) -> str:
    """Return what a line along a dimension is called."""
    axes = [each for each, side in enumerate(cube.sides) if side > 1]
    if len(axes) == 2:
        return "row" if axis == axes[1] else "column"
    if len(axes) <= len(AXES):
        return f"{AXES[axes[::-1].index(axis)]} line"
    return f"dimension-{axis} line"


def _of_class(topology: Topology, channels: NDArray[Any]) -> str:
    """Return the name of channels that lead the same way. "" where they lead different ones."""
    source, target = topology.routers.channel_source, topology.routers.channel_target
    family = topology.family
    if isinstance(family, DragonflyShape):
        one, two = topology.switch_of[source], topology.switch_of[target]
        same = one // family.routers == two // family.routers
        kind = np.where(one == two, 2, same)  # 2: between a card and its router
        words = {1: "local channels", 0: "global channels"}
    else:
        heights = router_heights(topology)
        deep, climb = int(heights.max(initial=0)) > 1, heights[target] - heights[source]
        kind = 3 * np.minimum(heights[source], heights[target]) + np.sign(climb)
        words = {
            3 * level + way: f"channels that lead {word}" + (f" from level {start}" if deep else "")
            for level in range(int(heights.max(initial=0)))
            for way, word, start in ((1, "up", level + 1), (-1, "down", level + 2))
        }
    kinds = np.unique(kind[channels]).tolist()
    if len(kinds) > 1 or kinds[0] not in words:
        return ""
    word, every = words[kinds[0]], np.flatnonzero(kind == kinds[0])
    if len(every) == len(channels):
        return f"all {len(every):,} {word}"
    for ends, way in ((source, "out of"), (target, "into")):
        one = np.unique(ends[channels])
        if len(one) == 1 and (ends[every] == one[0]).sum() == len(channels):
            router = topology.name_of(topology.router_vertex(int(one[0])))
            return f"all {len(channels):,} {word}, {way} {router}"
    return f"{len(channels):,} of {len(every):,} {word}"


# -- the busiest, and its causes -------------------------------------------------------------------


MOST_HOPS = 2**24
"""Hops of all paths up to which those on the busiest channel are looked for (under a second)."""

LESS = 0.95
"""The busiest channel would carry at most this part of its load, were a cause removed."""

MOST_OF_IT = 0.5
"""Share of a channel's load from which on a task or a few pairs make most of it."""

STRONG = 1.5
"""Times their even share that a few pairs put on a channel."""

UNEVENLY = 1.25
"""Times its fair share that a channel carries if paths are spread unevenly."""


class BusiestChannel(Figures):
    """The channel that works longest, of all, those of hosts included.

    ``tied`` is how many work as long, and ``together`` what these are called if they are many.
    """

    name: str
    kind: str
    paths: Number
    load: float = figure(unit=LOADS)
    bandwidth: float = figure(unit=RATE)
    time: float = figure("load over bandwidth")
    tied: int
    together: str = figure("the tied")

    @classmethod
    def of(cls, topology: Topology, loads: ChannelLoads) -> BusiestChannel:
        """Return that of a network with these loads."""
        channel, alike = loads.busiest_channel, tied(loads.channel_time)
        first, ports = topology.num_network_channels, topology.num_ports
        hosts = "injection" if channel < first + ports else "ejection"
        return cls(
            name=topology.channel_name(channel),
            kind="network" if channel < first else hosts,
            paths=loads.load[channel].item(),
            load=float(loads.weighted_load[channel]),
            bandwidth=float(loads.channel_bandwidth[channel]),
            time=float(loads.channel_time[channel]),
            tied=len(alike),
            together=tie_named(topology, alike),
        )


class Bottleneck(Figures):
    """The busiest channel between routers beside the busiest node, and their times.

    In any mapping a node needs its time to send. In a direct network it sends over one channel,
    elsewhere over those of its ports. ``ratio`` is how many times longer the busiest channel takes.
    It is one of a host's if all paths stay inside routers. Times are known if edges are weighted
    by bytes. They are in cycles of one flit of the machine, or of one byte if only a topology was
    named. With a machine they are in µs too.
    """

    channel: str = figure(table=False)
    channel_load: Number = figure("paths on it", "paths", table=False)
    channel_weight: float = figure("what it carries", LOADS, table=False)
    node: str = figure("busiest node", table=False)
    node_weight: float = figure("what it sends", LOADS, table=False)
    ratio: float = figure("busiest channel over busiest node")
    flit_bytes: Number | None = figure(unit="bytes", table=False, optional=True)
    channel_busy_cycles: float | None = figure(unit="cycles", table=False, optional=True)
    channel_busy_us: float | None = figure(unit="µs", table=False, optional=True)
    node_busy_cycles: float | None = figure(unit="cycles", table=False, optional=True)
    node_busy_us: float | None = figure(unit="µs", table=False, optional=True)

    @classmethod
    def of(
        cls, mapped: MappedProgram, flit_bytes: Number | None, cycle_us: float | None
    ) -> Bottleneck:
        """Return that of a mapped program.

        ``flit_bytes`` is None if edges have no bytes, ``cycle_us`` if there is no machine.
        """
        topology, loads, sent = mapped.topology, mapped.contention, mapped.sent_by_host
        time, needed = loads.channel_time, sent / injection_bandwidth(topology)
        between = time[: topology.num_network_channels]
        channel = int(between.argmax()) if between.any() else loads.busiest_channel
        node = int(needed.argmax())

        def busy(amount: float, each: float | None) -> float | None:
            if flit_bytes is None or each is None:
                return None
            return float(np.ceil(amount / flit_bytes)) * each

        return cls(
            channel=topology.channel_name(channel),
            channel_load=loads.load[channel].item(),
            channel_weight=float(loads.weighted_load[channel]),
            node=topology.name_of(node),
            node_weight=float(sent[node]),
            ratio=float(time[channel] / needed[node]),
            flit_bytes=flit_bytes,
            channel_busy_cycles=busy(time[channel], 1),
            channel_busy_us=busy(time[channel], cycle_us),
            node_busy_cycles=busy(needed[node], 1),
            node_busy_us=busy(needed[node], cycle_us),
        )


class BusiestRouter(Figures):
    """The router through which most goes."""

    name: str = figure("busiest router", lead=True)
    load: float = figure("what goes through it", LOADS, lead=True)

    @classmethod
    def of(cls, topology: Topology, loads: ChannelLoads) -> BusiestRouter | None:
        """Return that of a network with these loads. None in a direct network."""
        if topology.direct:
            return None
        through = np.bincount(
            topology.routers.channel_target, loads.weighted_channel_load, topology.num_routers
        )
        injected = loads.weighted_host_channel_load[: topology.num_ports]
        through = through + np.bincount(topology.injection_router, injected, topology.num_routers)
        router = int(through.argmax())
        name = topology.name_of(topology.router_vertex(router))
        return cls(name=name, load=float(through[router]))


class ShiftLoad(Figures):
    """What one shift of a program such as ``shift:1,5,17`` loads on its own."""

    shift: int = figure(lead=True)
    channel_load: Spread = figure(
        "paths on a channel between routers", "paths", flat="channel_load_", lead=True
    )
    busiest_channel: BusiestChannel


def shift_by_shift(mapped: MappedProgram, routing: Routing) -> tuple[ShiftLoad, ...] | None:
    """Return what each shift of a program loads, one after the other.

    None if the program is no shift, or only one.
    """
    graph, topology = mapped.graph, mapped.topology
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
        each = ShiftLoad(
            shift=by,
            channel_load=Spread.of(loads.channel_load),
            busiest_channel=BusiestChannel.of(topology, loads),
        )
        found.append(each)
    return tuple(found) if len(found) > 1 else None


class HalfWay(Figures):
    """Traffic that goes half-way round a ring. Dimension order sends it in the + direction only.

    If half of it went the other way, the busiest channel would carry ``split_load``.
    """

    paths: int
    share: float = figure("its part of all traffic")
    split_load: float = figure(unit=LOADS)


class Pair(Figures):
    """Two tasks, and their share of the load."""

    source: int
    target: int
    share: float


class User(Figures):
    """The task that sends or receives most of the load, and in how many pairs."""

    task: int
    share: float
    pairs: int


class Users(Figures):
    """Whose traffic is on the busiest channel: the first of ``count`` pairs of tasks."""

    count: int
    pairs: tuple[Pair, ...]
    sender: User
    receiver: User

    def said(self, load: str) -> Iterator[str]:
        """Say which pairs, or which sender or receiver, make most of the load."""
        pairs = self.pairs
        if self.count == 1:
            yield f"one pair of ranks, {pairs[0].source}→{pairs[0].target}, makes all of {load}"
            return
        sums = list(accumulate(each.share for each in pairs))
        few = next((many for many, made in enumerate(sums, start=1) if made > MOST_OF_IT), None)
        if few is not None and sums[few - 1] >= STRONG * few / self.count:
            ends = [f"{each.source}→{each.target}" for each in pairs[:few]]
            made = [percent(each.share, 2) for each in pairs[:few]]
            if few == 1:
                yield f"ranks {ends[0]} make {made[0]} of {load}"
                return
            named = [f"{pair} ({part})" for pair, part in zip(ends, made, strict=True)]
            yield f"ranks {listed(named)} make most of {load}"
            return
        for user, said, way in ((self.sender, "sends", "to"), (self.receiver, "receives", "from")):
            if user.share > MOST_OF_IT and user.pairs > 1:
                much, partners = percent(user.share, 2), counted(user.pairs, "rank")
                yield f"rank {user.task} {said} {much} of {load}, {way} {partners}"
                return


class Groups(Figures):
    """The two groups of a dragonfly that the busiest channel joins.

    A ``share`` of its load goes from hosts of the one to hosts of the other, over ``channels`` that
    join the two.
    """

    source: int = figure(at="from")
    target: int = figure(at="to")
    share: float
    channels: int


class Rate(Figures):
    """How many channels have a bandwidth."""

    rate: float = figure(unit=RATE)
    channels: int


class Uplinks(Figures):
    """What shares the load of a busiest channel between two levels of routers.

    ``router`` is the lower of the two. ``channels`` lead from it to that level (``way`` is ``up``)
    or come from there (``down``). The busiest would carry ``fair_load`` if all of them worked
    equally long. ``hosts`` send (receive) its load. ``oversubscription`` is the bandwidth below the
    router over that of these channels. ``rates`` are how many of them have which bandwidth.
    """

    router: str
    way: str
    channels: int
    fair_load: float = figure(unit=LOADS)
    hosts: int | None
    oversubscription: float
    rates: tuple[Rate, ...] | None

    def said(self, channel: BusiestChannel, it: str, unit: str, *, better: bool) -> Iterator[str]:
        """Say that a channel is slow, paths are uneven, or hosts share too few channels."""
        named = counted(self.channels, "uplink" if self.way == "up" else "downlink")
        whose = f"the {named} of {short_switch_name(self.router)}"
        if better and channel.load >= UNEVENLY * self.fair_load:
            fair = carried(unit, self.fair_load)
            rates = self.rates or ()
            if len(rates) < 2:
                yield f"paths are spread unevenly: {whose} carry {fair} each on average"
                return
            usual = max(rates, key=lambda each: (each.channels, each.rate))
            said = f"of {whose}, its share by bandwidth is {fair}"
            if channel.bandwidth < usual.rate:
                beside = f"{usual.channels} of {number(usual.rate)}"
                slow = f"{it} runs at bandwidth {number(channel.bandwidth)} beside {beside}"
                yield f"{slow}: {said}"
            else:
                yield f"paths are spread unevenly: {said}"
        elif self.oversubscription > 1 and (self.hosts or 0) > 1:
            ratio = rounded(self.oversubscription)
            verb = "is" if self.channels == 1 else "are"
            yield f"{self.hosts} hosts share {it}: {whose} {verb} oversubscribed {ratio}:1"


class Causes(Figures):
    """Figures from which a cause of the busiest channel's load can be seen.

    Each is None if it does not apply, or is not known.
    """

    half_way: HalfWay | None = figure(at="causes.half_way")
    users: Users | None = figure(at="causes.users")
    groups: Groups | None = figure(at="causes.groups")
    uplinks: Uplinks | None = figure(at="causes.uplinks")

    def said(self, channel: BusiestChannel, name: str, unit: str, *, better: bool) -> Iterator[str]:
        """Yield what is known in words, the strongest kind first.

        Parameters
        ----------
        channel, name
            The busiest channel, and its short name. Of many, causes of the first are said.
        unit
            What loads are counted in.
        better
            Whether a routing may do better.
        """
        it, load, half, groups = "it", "that load", self.half_way, self.groups
        if channel.together:
            it, load = name, f"the load of {name}"
        if half and half.split_load <= LESS * channel.load:
            part = percent(half.share, 2)
            yield f"{part} of the traffic goes half-way round a ring, all of it in the + direction"
        if groups and groups.share > MOST_OF_IT:
            goes = f"from group {groups.source} to group {groups.target}"
            over = counted(groups.channels, "channel")
            yield f"{percent(groups.share, 2)} of {load} goes {goes}, over {over}"
        if self.uplinks:
            yield from self.uplinks.said(channel, it, unit, better=better)
        if self.users and channel.kind != "injection":
            yield from self.users.said(load)


def followed(mapped: MappedProgram, routing: Routing) -> Paths | None:
    """Return the paths of a mapped program. None if they are too many to be looked through."""
    if float(mapped.contention.channel_load.sum()) > MOST_HOPS:
        return None
    routed = paths(mapped.topology, routing, mapped.source, mapped.target)
    return routed.whole(mapped.topology)


def causes_of(mapped: MappedProgram, routing: Routing, routed: Paths | None) -> Causes:
    """Return what can be seen of why the busiest channel is busy. ``routed``: see ``followed``."""
    using = None
    if routed is not None:
        at = np.flatnonzero(routed.channels == mapped.contention.busiest_channel)
        _, edges, load = edges_by_channel(mapped, routed, at)
        using = edges[load > 0], load[load > 0]
    return Causes(
        half_way=_half_way(mapped, routing),
        users=None if using is None else _users(mapped, using),
        groups=None if using is None else _groups(mapped, using),
        uplinks=_uplinks(mapped, using),
    )


def _half_way(mapped: MappedProgram, routing: Routing) -> HalfWay | None:
    topology, cube = mapped.topology, mapped.topology.routers
    if not (isinstance(cube, Cube) and isinstance(routing, DimensionOrder) and topology.even):
        return None
    pairs = legs(topology, mapped.source, mapped.target)
    both = half_way_round(cube, pairs.entry, pairs.exit)
    if not both.any():
        return None
    split = dimension_order_loads(cube, routing, pairs.entry, pairs.exit, mapped.weights)
    own = mapped.contention.weighted_host_channel_load.max(initial=0.0)
    return HalfWay(
        paths=int(both.sum()),
        share=float(mapped.weights[both].sum() / mapped.weights[mapped.moving].sum()),
        split_load=float(max(split.max(), own)),
    )


Using: TypeAlias = tuple[Ints, Floats]
"""The edges that use the busiest channel, and what each puts on it, most first."""


def _users(mapped: MappedProgram, using: Using) -> Users | None:
    edges, load = using
    total = float(load.sum())
    if not total:
        return None
    source, target = mapped.graph.source[edges], mapped.graph.target[edges]

    def most(tasks: Ints) -> User:
        sums = np.bincount(tasks, load)
        task = int(sums.argmax())
        return User(task=task, share=float(sums[task] / total), pairs=int((tasks == task).sum()))

    pairs = (
        Pair(source=int(source[at]), target=int(target[at]), share=float(load[at] / total))
        for at in range(min(FEW, len(edges)))
    )
    return Users(count=len(edges), pairs=tuple(pairs), sender=most(source), receiver=most(target))


def _groups(mapped: MappedProgram, using: Using) -> Groups | None:
    topology, channel = mapped.topology, mapped.contention.busiest_channel
    shape, inside = topology.family, topology.routers
    if not isinstance(shape, DragonflyShape) or channel >= topology.num_network_channels:
        return None
    begins, ends = (
        topology.switch_of[each] // shape.routers
        for each in (inside.channel_source, inside.channel_target)
    )
    first, last = int(begins[channel]), int(ends[channel])
    if first == last:
        return None
    group = np.zeros(topology.num_hosts, np.int64)
    into = topology.injection_router[::-1]  # the first port says it
    group[topology.port_host[::-1]] = topology.switch_of[into] // shape.routers
    edges, load = using
    direct = (group[mapped.source[edges]] == first) & (group[mapped.target[edges]] == last)
    return Groups(
        source=first,
        target=last,
        share=float(load[direct].sum() / load.sum()),
        channels=int(((begins == first) & (ends == last)).sum()),
    )


def _uplinks(mapped: MappedProgram, using: Using | None) -> Uplinks | None:
    topology, channel = mapped.topology, mapped.contention.busiest_channel
    inside = topology.routers
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
    room = float(rate[alike].sum())
    load = mapped.contention.weighted_channel_load
    ends = mapped.source if up else mapped.target
    rates = zip(*np.unique(rate[alike], return_counts=True), strict=True)
    return Uplinks(
        router=topology.name_of(topology.router_vertex(router)),
        way="up" if up else "down",
        channels=int(alike.sum()),
        fair_load=float(load[alike].sum() * rate[channel] / room),
        hosts=None if using is None else len(distinct(ends[using[0]])),
        oversubscription=float(under / room),
        rates=tuple(Rate(rate=float(each), channels=int(many)) for each, many in rates),
    )
