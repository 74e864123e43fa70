"""How good a forwarding table is, as an administrator would ask, and why a channel is busy.

All-to-all, shifts and random matchings of random halves load the cables. Circles of packets that
wait for each other, and pairs of hosts without a way, are what must not be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import NO_INT64S, Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, derived, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.words import counted, listed, number, percent
from netloom.bounds import Bound, bisection_bound, busiest_bound
from netloom.contention import effective_bisection, shift_loads
from netloom.contention.permutations import Reached
from netloom.routing.forwarding.tables import ForwardingTable, lane_circle, lanes_used, senders
from netloom.routing.ragged import legs
from netloom.topology import Topology
from netloom.topology.core import way_back
from netloom.topology.faults import working_nodes
from netloom.topology.subnets.shapes import shape_of

MOST_SHIFTED = 2**23
"""Most pairs of hosts of all shifts together, about a second of work. Beyond, shifts are drawn."""

MOST_BUSIEST = 10
"""Busiest channels that are listed."""

PROVED = 1 + 1e-6
"""Times the bound up to which a busiest channel is as good as can be."""

EVEN = 1.1
"""Times its share, or its bound, up to which a channel carries no more than others."""

Way: TypeAlias = Literal["up", "down", "across"]
"""Whether a channel leads away from hosts, towards them, or neither."""


class Cable(Figures):
    """A channel between routers: its number, its ends, and their ports (0: not said)."""

    channel: int | None = figure(optional=True)
    source: str = figure("from", at="from")
    source_port: int = figure(at="from_port")
    target: str = figure("to", at="to")
    target_port: int = figure(at="to_port")

    @property
    def words(self) -> str:
        """Both ends, with ports where a file says them."""
        source, target = (
            f"{name} port {port}" if port else name
            for name, port in ((self.source, self.source_port), (self.target, self.target_port))
        )
        return f"{source} → {target}"


def cable(topology: Topology, channel: int) -> Cable:
    """Return a channel by its ends.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> cable(topology("leaf-spine:2x1x2"), 0).words
    'leaf0 → spine0'
    """
    source, out_port, target, in_port = topology.cable_end(channel)
    return Cable(
        channel=channel, source=source, source_port=out_port, target=target, target_port=in_port
    )


def cables(topology: Topology) -> dict[str, Any]:
    """Return all channels between routers as columns: those of ``Cable``."""
    ends = [topology.cable_end(channel) for channel in range(topology.num_network_channels)]
    named = zip(("from", "from_port", "to", "to_port"), range(4), strict=True)
    return {"channel": np.arange(len(ends))} | {name: [e[at] for e in ends] for name, at in named}


class BusyCable(Figures):
    """A channel between routers, and the paths of an all-to-all on it."""

    paths: int
    cable: Cable = figure(at=".")


class HeldCable(Figures):
    """A channel of a circle in which packets wait for each other, and their lane."""

    cable: Cable = figure(at=".")
    lane: int


def held_cables(
    topology: Topology, circle: Iterable[tuple[int, int]] | None
) -> tuple[HeldCable, ...] | None:
    """Return the channels of a circle, each with its lane. None if nothing is known of one."""
    if circle is None:
        return None
    return tuple(HeldCable(cable=cable(topology, channel), lane=lane) for channel, lane in circle)


class FabricSize(Figures):
    """How large a fabric is: its hosts that take part, its routers, and cables with those of hosts.

    Hosts with ports on several routers are counted, since loads are then of the nearest ports.
    """

    hosts: int
    switches: int
    cables: int
    several_switches: int | None = figure("hosts with ports on several switches", optional=True)

    @derived("ordered pairs of hosts")
    def pairs(self) -> int:
        """All of which may send to each other."""
        return self.hosts * (self.hosts - 1)

    def words(self, nodes: int = 0) -> str:
        """Return hosts, routers and cables in words, and in how many computers, if in fewer."""
        inside = f" in {counted(nodes, 'node', ',')}" if 0 < nodes < self.hosts else ""
        hosts = f"{counted(self.hosts, 'host', ',')}{inside}"
        switches, cables = counted(self.switches, "switch", ","), counted(self.cables, "cable", ",")
        return f"{hosts}, {switches}, {cables}"

    @property
    def ports(self) -> str:
        """Which of a host's ports are looked at, where any host has ports on several routers."""
        many = self.several_switches
        if not many:
            return ""
        have = "has" if many == 1 else "have"
        return (
            f"{counted(many, 'host', ',')} {have} ports on several switches: loads count each pair "
            "of hosts on the ports with the fewest hops between them, loops are looked for between "
            "all ports"
        )


def fabric_size(topology: Topology, hosts: Ints | None = None) -> FabricSize:
    """Return how large a network is. ``hosts``: those that take part, all that work by default.

    A cable that leads one way counts, too.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found = fabric_size(topology("leaf-spine:2x1x3/2"))
    >>> found.cables, found.several_switches
    (10, 0)
    """
    back, several = way_back(topology), 0
    if topology.num_ports != topology.num_hosts and topology.inside_and_out is None:
        ends = np.unique(np.stack([topology.port_host, topology.injection_router]), axis=1)
        several = int((np.bincount(ends[0]) > 1).sum())
    return FabricSize(
        hosts=len(working_nodes(topology) if hosts is None else hosts),
        switches=topology.num_routers,
        cables=int((back >= 0).sum()) // 2 + int((back < 0).sum()),
        several_switches=several,
    )


class SwitchHops(Figures):
    """Channels between routers on a path, over ordered pairs of hosts."""

    mean: float = figure("hops between switches, mean", head="hops", lead=True)
    max: int = figure("hops between switches, most")


class Least(Figures):
    """What no tables can beat in an all-to-all.

    ``time_bound`` is what the busiest channel carries at least, over bandwidth. ``bound`` is the
    same in paths, at the bandwidth of the channel that is busiest by these tables.
    """

    bound: float = figure("paths that the busiest cable must carry at least", key=True)
    time_bound: float = figure("that bound over bandwidth")
    ratio: float | None = figure("times that bound")
    why: str = figure("where the bound comes from")

    @derived("how much more than that bound", SHARE)
    def above(self) -> float | None:
        """As a share of it."""
        return None if self.ratio is None else self.ratio - 1

    @derived("proved best")
    def proved(self) -> bool:
        """Whether no tables can keep the busiest channel less busy."""
        return self.ratio is None or self.ratio <= PROVED


class AllToAll(Figures):
    """Paths on channels between routers if every host sends to every other.

    ``time`` is paths over bandwidth, of the channel where that is most.
    """

    max: int = figure(
        "paths of an all-to-all, busiest cable",
        head="paths, busiest cable",
        lead=True,
        key=True,
        limit="bound",
    )
    mean: float = figure("paths of an all-to-all, mean cable")
    time: float = figure("paths of an all-to-all over bandwidth, where that is most")
    least: Least | None = figure(at=".", optional=True, default=None)

    @property
    def bound(self) -> float | None:
        """What ``max`` is at least, at this bandwidth, if that was asked for."""
        return self.least.bound if self.least else None


class ShiftPaths(Figures):
    """Paths on the busiest channel of a shift of the hosts. Host channels, of one path, count."""

    max: int = figure("paths of a shift, worst", head="busiest shift", lead=True)
    mean: float = figure("paths of a shift, mean", head="average shift", lead=True, key=True)
    count: int = figure("shifts of the hosts")


class Bisection(Figures):
    """What pairs of hosts get in random matchings of random halves, as a share of a host's rate."""

    mean: float | None = figure(
        "effective bisection bandwidth",
        SHARE,
        head="effective bisection",
        lead=True,
        key=True,
        limit="bound",
    )
    sd: float | None = figure("its spread, matching by matching", SHARE)
    samples: int = figure("random matchings")
    bound: float | None = figure(
        "most that any tables can give", SHARE, optional=True, default=None
    )

    @derived("half of its 95 % interval", SHARE)
    def error(self) -> float | None:
        """None where there are too few matchings."""
        return None if self.sd is None else 1.96 * self.sd / self.samples**0.5


class TableFigures(Figures):
    """How good a forwarding table is. All figures are of pairs of hosts with a path.

    Attributes
    ----------
    taking
        int32[], the hosts that take part, in order.
    paths
        int64[num_network_channels], paths on each channel between routers if every host sends to
        every other.
    time
        float64[num_network_channels], paths over bandwidth.
    distance, largest_of_shifts
        int64[shifts], how far each shift of the hosts goes, and paths on its busiest channel.
    circle
        Channels, each with its lane, in which packets between any two ports of hosts can wait for
        each other in a circle; () where there is none.
    """

    unrouted: int = figure(
        "pairs of hosts without a path", head="unrouted pairs", lead=True, key=True
    )
    switch_hops: SwitchHops = figure(flat="switch_hops_", lead=True)
    all_to_all: AllToAll = figure(flat="all_to_all_", lead=True, key=True)
    shifts: ShiftPaths = figure(flat="shifts_", lead=True, key=True)
    effective_bisection: Bisection = figure(flat="effective_bisection_", lead=True, key=True)
    lanes: int = figure("virtual lanes", head="lanes", lead=True, key=True)
    deadlock_free: bool = figure("free of credit loops", head="free of loops", lead=True, key=True)
    busiest: tuple[BusyCable, ...] = figure("busiest channels between switches")
    taking: Ints = unseen()
    paths: Ints = unseen()
    time: Floats = unseen()
    distance: Ints = unseen()
    largest_of_shifts: Ints = unseen()
    circle: tuple[tuple[int, int], ...] = unseen()

    @property
    def least(self) -> Least:
        """What no tables can beat in an all-to-all, of figures that were asked with limits."""
        assert self.all_to_all.least is not None
        return self.all_to_all.least


class Limits(NamedTuple):
    """What no tables of a network can beat.

    Attributes
    ----------
    busiest
        What the busiest channel carries at least in an all-to-all, over bandwidth.
    bisection
        The effective bisection bandwidth at most.
    """

    busiest: Bound
    bisection: float

    def beside(self, time: float, rate: float) -> Least:
        """Return what the busiest channel must carry beside what it does, both over bandwidth.

        ``rate`` is its bandwidth.
        """
        least = self.busiest.value
        return Least(
            bound=least * rate,
            time_bound=least,
            ratio=time / least if least else None,
            why=self.busiest.why,
        )


def limits_of(topology: Topology, hosts: Ints | None = None) -> Limits:
    """Return what no tables can beat between some hosts: all that work by default."""
    return Limits(busiest_bound(topology, hosts=hosts), bisection_bound(topology, hosts=hosts))


def table_figures(
    topology: Topology,
    table: ForwardingTable,
    *,
    hosts: Ints | None = None,
    samples: int = 1000,
    seed: int = DEFAULT_SEED,
    limits: Limits | None = None,
) -> TableFigures:
    """Return how good a forwarding table is.

    Shifts are of the hosts in order: host i sends to host i + d, modulo their number. If all
    shifts would be more than ``MOST_SHIFTED`` pairs, some are drawn.

    Parameters
    ----------
    topology, table
        The network and where its routers forward.
    hosts
        int32[], those that take part, in order. All that work by default.
    samples
        Random matchings of random halves; 0: none.
    seed
        Where chance comes from.
    limits
        What no tables can beat between these hosts, to stand beside the figures.

    Raises
    ------
    InputError
        If fewer than two hosts take part.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:8x4x8")
    >>> found = table_figures(net, ENGINES["minhop"](net), samples=0)
    >>> found.all_to_all.max, found.busiest[0].cable.words, found.deadlock_free
    (112, 'leaf0 → spine0', True)
    """
    taking = working_nodes(topology) if hosts is None else np.asarray(hosts, np.int32)
    if len(taking) < 2:
        raise InputError(topology.name, f"{len(taking)} hosts", "at least two")
    ways = ways_of(topology, table, taking)
    reached = pairs_reached(topology, ways.arrives) if ways.unrouted else None
    time = ways.paths / topology.channel_bandwidth[: topology.num_network_channels]
    order = np.argsort(-time, kind="stable")[:MOST_BUSIEST]
    order = order[ways.paths[order] > 0]
    distances, most = np.arange(1, len(taking)), max(MOST_SHIFTED // len(taking), 1)
    if len(distances) > most:  # as many as there is time for
        drawn = np.random.default_rng(seed).choice(len(distances), most, replace=False)
        distances = np.sort(drawn + 1)
    shifts = shift_loads(topology, table, hosts=taking, distances=distances, reached=reached)
    largest = np.maximum(shifts.largest_load.astype(np.int64), 1)
    half = None
    if samples:
        half = effective_bisection(
            topology, table, hosts=taking, samples=samples, seed=seed, reached=reached
        )
    circle, longest = lane_circle(topology, table), float(time.max(initial=0.0))
    rate = float(topology.channel_bandwidth[order[0]]) if len(order) else 1.0
    return TableFigures(
        unrouted=ways.unrouted,
        switch_hops=SwitchHops(
            mean=float(ways.paths.sum()) / ways.routed if ways.routed else 0.0, max=ways.longest
        ),
        all_to_all=AllToAll(
            max=int(ways.paths.max(initial=0)),
            mean=float(ways.paths.mean()) if len(ways.paths) else 0.0,
            time=longest,
            least=limits.beside(longest, rate) if limits else None,
        ),
        shifts=ShiftPaths(max=int(largest.max()), mean=float(largest.mean()), count=len(largest)),
        effective_bisection=Bisection(
            mean=half.mean if half else None,
            sd=float(half.shares.std(ddof=1)) if half and half.samples > 1 else None,
            samples=half.samples if half else 0,
            bound=limits.bisection if limits else None,
        ),
        lanes=lanes_used(table),
        deadlock_free=not circle,
        busiest=tuple(
            BusyCable(paths=int(ways.paths[channel]), cable=cable(topology, channel))
            for channel in order.tolist()
        ),
        taking=taking,
        paths=ways.paths,
        time=time,
        distance=shifts.distance,
        largest_of_shifts=largest,
        circle=circle,
    )


class Ways(NamedTuple):
    """The paths of a table between some hosts, all together.

    Attributes
    ----------
    paths
        int64[num_network_channels], how many take each channel between routers.
    arrives
        bool[num_destinations, num_routers], whether packets from there arrive, where hosts send.
    routed, unrouted
        Pairs of hosts with a path, and without.
    longest
        Channels between routers on the longest path.
    """

    paths: Ints
    arrives: Bools
    routed: int
    unrouted: int
    longest: int


def ways_of(
    topology: Topology, table: ForwardingTable, taking: Ints, rows: Sequence[int] | None = None
) -> Ways:
    """Return the paths of an all-to-all of some hosts, to all of them or to some rows of a table.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> found = ways_of(net, ENGINES["minhop"](net), np.array([0, 1, 2]))
    >>> found.paths.tolist(), found.routed, found.longest
    ([2, 2, 2, 2], 6, 2)
    """
    from netloom.fabrics.kernels.figures import all_to_all

    chosen = slice(None) if rows is None else list(rows)
    takes = np.isin(np.arange(topology.num_hosts), taking)
    sent, wanted = senders(topology, taking), takes[topology.port_host]
    own = np.where(sent.shape[1] == 1, topology.injection_router, -1).astype(np.int32)
    leaves = topology.ejection_router
    if table.undelivered is not None:
        leaves = np.where(table.undelivered, -1, leaves).astype(np.int32)
    if sent.shape[1] > 1:
        sent = sent[:, chosen]
    asked = table.next_channel[chosen], wanted[chosen], leaves[chosen], sent, own[chosen]
    return Ways(*all_to_all(*asked, topology.routers.channel_target))


def pairs_reached(topology: Topology, arrives: Bools) -> Reached:
    """Return what says of pairs of hosts whether they have a path, given ``Ways.arrives``."""

    def reached(sources: Ints, targets: Ints) -> Bools:
        ends = legs(topology, sources, targets)
        return np.asarray(arrives[ends.target_port, ends.entry])

    return reached


def rises(topology: Topology) -> Ints:
    """Return whether each channel between routers leads up (1), down (-1) or across (0).

    Up is away from hosts, by the levels of ``topology.subnets.shapes``. A network without levels
    has channels across only.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> rises(topology("leaf-spine:1x2x2")).tolist()
    [1, 1, -1, -1]
    """
    inside, level = topology.routers, shape_of(topology).level
    return np.asarray(np.sign(level[inside.channel_target] - level[inside.channel_source]))


def ways_led(topology: Topology) -> list[Way]:
    """Return whether each channel between routers leads up, away from hosts, down or across.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ways_led(topology("leaf-spine:1x2x2"))
    ['up', 'up', 'down', 'down']
    """
    names: tuple[Way, ...] = ("down", "across", "up")
    return [names[each + 1] for each in rises(topology).tolist()]


class WayPaths(Figures):
    """Paths of an all-to-all on the channels that lead one way."""

    way: Way = figure("where channels lead", head="leading", lead=True)
    channels: int = figure(lead=True)
    least: int = figure("least paths", head="least", lead=True)
    mean: float = figure("mean paths", head="mean", lead=True)
    most: int = figure("most paths", head="most", lead=True)


def paths_by_way(topology: Topology, paths: Ints) -> tuple[WayPaths, ...]:
    """Return what paths load the channels that lead up, down and across."""
    led = np.array(ways_led(topology))
    names: tuple[Way, ...] = ("up", "down", "across")
    mine = {way: paths[led == way] for way in names}
    return tuple(
        WayPaths(
            way=way,
            channels=len(each),
            least=int(each.min()),
            mean=float(each.mean()),
            most=int(each.max()),
        )
        for way, each in mine.items()
        if len(each)
    )


MOST_LISTED = 2**22
"""Most destinations times channels of which those that load a channel most are looked for."""

MOST_FOLLOWED = 2**26
"""Most entries of the table that are looked at to find whom a channel's traffic is for."""


MOST_NAMED = 8
"""Hosts that are named as those that a channel's paths lead to."""


class LedTo(Figures):
    """A host, and the paths that lead to it."""

    name: str
    paths: int


class Cause(Figures):
    """Why a channel between routers carries what it does.

    Attributes
    ----------
    way
        Where it leads.
    beside
        The channels that might have carried it instead: those that lead down into the same router,
        or up or across from the same router. Itself among them.
    share
        Of the paths on all of them, its own.
    least, most
        Paths on the other ones; 0 where there are none.
    alike
        How many of them join the same two routers, itself among them.
    usual
        How many join two routers, of most that ``beside`` joins.
    destinations, hosts
        How many hosts its paths lead to, and those to which most lead.
    rate, usual_rate
        Its bandwidth, and that of most of the other ones (its own where there are none), in
        ``rate_unit``: "" where no file says the rate of a channel.
    as_usual
        How many of the other ones have the latter.
    mended_ratio
        If it is slower: how many times its bound the busiest channel of the network carries once
        its cable is as fast as most beside it. None if it is not slower.
    """

    way: Way
    share: float
    beside: int
    least: int
    most: int
    alike: int
    usual: int
    destinations: int
    rate: float
    usual_rate: float
    rate_unit: str
    as_usual: int
    mended_ratio: float | None
    hosts: tuple[LedTo, ...]

    def said(self, source: str, target: str, *, paths: float, ratio: float) -> str:
        """Return it in words.

        Parameters
        ----------
        source, target
            The ends of the channel.
        paths, ratio
            What it carries, and how many times its bound that is.
        """
        said = {
            "down": f"one of {self.beside} cables down into {target}",
            "up": f"one of {self.beside} uplinks of {source}",
            "across": f"one of {self.beside} cables from {source} to other switches",
        }[self.way]
        mended = self.mended_ratio
        if mended is not None:
            unit, stays = f"\u00a0{self.rate_unit}" * bool(self.rate_unit), mended * PROVED >= ratio
            said += f"; it runs at {number(self.rate)}{unit} beside {self.as_usual} of "
            said += f"{number(self.usual_rate)}{unit}: mended{' alone' * stays}, the busiest "
            said += f"{'stays at' if stays else 'falls to'} {number(mended)}× what it must"
            if self.share * self.beside <= EVEN:
                return f"{said}."
        other, carry = self.beside - 1, number(self.least)
        if self.least != self.most:
            carry += f" to {number(self.most)}"
        rest = f"the other {other} carry {carry}" if other > 1 else f"the other carries {carry}"
        share = "all" if self.share == 1 else percent(self.share)
        said += f", with {share} of their paths ({rest})."
        if self.alike < self.usual and self.way != "across":
            only = "The only cable" if self.alike == 1 else f"One of {self.alike} cables"
            said += f" {only} between the two switches, where most have {self.usual}."
        return said + self._destinations(paths)

    def _destinations(self, total: float) -> str:
        """Say of how many hosts most of the paths are, where these are few."""
        if self.destinations < 2:
            return f" All its paths lead to {self.hosts[0].name}." if self.hosts else ""
        so_far = 0.0
        for many, each in enumerate(self.hosts[:4], start=1):
            so_far += each.paths
            if so_far >= 0.5 * total and many < self.destinations:
                names = listed([host.name for host in self.hosts[:many]])
                return f" {percent(so_far / total)} of its paths lead to {names}."
        return ""


def cause_of(
    topology: Topology, table: ForwardingTable, figures: TableFigures, channel: int
) -> Cause:
    """Return why a channel between routers is as busy as it is in an all-to-all.

    Examples
    --------
    Of two spines, minhop gives each of a leaf's two hosts one:

    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> table = ENGINES["minhop"](net)
    >>> found = cause_of(net, table, table_figures(net, table, samples=0), 0)
    >>> found.way, found.beside, found.share, found.hosts[0].name, found.hosts[0].paths
    ('up', 2, 0.5, 'h2', 2)
    """
    source, target = topology.routers.channel_source, topology.routers.channel_target
    rise = rises(topology)
    if rise[channel] < 0:
        beside = (target == target[channel]) & (rise < 0)
        far = source
    else:
        beside = (source == source[channel]) & (rise == rise[channel])
        far = target
    paths, apart = figures.paths[beside], np.flatnonzero(beside) != channel
    others = paths[apart]
    rate, bandwidth = float(topology.channel_bandwidth[channel]), topology.channel_bandwidth
    rates, times = np.unique(bandwidth[np.flatnonzero(beside)[apart]], return_counts=True)
    usual_rate = float(rates[np.argmax(times)]) if len(rates) else rate
    ends, counts = np.unique(far[beside], return_counts=True)
    goals, led = _destinations(topology, table, figures, channel)
    gbps, slower = topology.reference_gbps, rate < usual_rate
    return Cause(
        way=ways_led(topology)[channel],
        beside=int(beside.sum()),
        share=float(figures.paths[channel]) / max(int(paths.sum()), 1),
        least=int(others.min()) if len(others) else 0,
        most=int(others.max(initial=0)),
        alike=int(counts[ends == far[channel]].sum()),
        usual=int(np.bincount(counts).argmax()),
        destinations=len(goals),
        rate=rate * (gbps or 1.0),
        usual_rate=usual_rate * (gbps or 1.0),
        rate_unit="Gb/s" if gbps else "",
        as_usual=int(times.max(initial=0)),
        mended_ratio=_mended(topology, figures, channel, usual_rate) if slower else None,
        hosts=tuple(
            LedTo(name=topology.name_of(host), paths=paths)
            for host, paths in zip(goals[:MOST_NAMED].tolist(), led.tolist(), strict=False)
        ),
    )


def _mended(topology: Topology, figures: TableFigures, channel: int, rate: float) -> float:
    """Return how many times its bound the busiest channel carries if a cable has this rate."""
    bandwidth, back = topology.channel_bandwidth.copy(), int(way_back(topology)[channel])
    cable = [channel] if back < 0 else [channel, back]
    bandwidth[cable] = np.maximum(bandwidth[cable], rate)
    mended = replace(topology, channel_bandwidth=bandwidth)
    longest = (figures.paths / bandwidth[: len(figures.paths)]).max()
    return float(longest) / busiest_bound(mended, hosts=figures.taking).value


def busiest_destinations(
    topology: Topology, table: ForwardingTable, taking: Ints, few: int = 3
) -> tuple[Ints, Ints]:
    """Return the hosts to which most paths on each channel between routers lead, and how many.

    int64[num_network_channels, few] both, those with most paths first. No paths beyond the last.
    Empty if the network is too large.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> [found[0].tolist() for found in busiest_destinations(
    ...     net, ENGINES["minhop"](net), np.arange(4, dtype=np.int32))]
    [[2, 3, 0], [2, 2, 0]]
    """
    many = topology.num_network_channels
    hosts, paths = np.zeros((2, many, few + 1), np.int64)
    if table.next_channel.size * many > MOST_LISTED * topology.num_routers:
        return hosts[:0, :few], paths[:0, :few]
    owner, each = topology.port_host, np.arange(many)
    for host in taking.tolist():
        rows = np.flatnonzero(owner == host)
        found = sum(ways_of(topology, table, taking, (int(row),)).paths for row in rows)
        place = (paths[:, :few] >= np.asarray(found)[:, None]).sum(axis=1)
        for at in range(few - 1, -1, -1):
            moved = place <= at
            hosts[moved, at + 1], paths[moved, at + 1] = hosts[moved, at], paths[moved, at]
        hosts[each, place], paths[each, place] = host, found
    return hosts[:, :few], paths[:, :few]


def _destinations(
    topology: Topology, table: ForwardingTable, figures: TableFigures, channel: int
) -> tuple[Ints, Ints]:
    """Return the hosts that the paths on a channel lead to, and how many to each, most first."""
    router = topology.routers.channel_source[channel]
    rows = np.flatnonzero(table.next_channel[:, router] == channel)
    owner = topology.port_host
    rows = rows[np.isin(owner[rows], figures.taking)]
    if len(rows) * topology.num_routers > MOST_FOLLOWED:
        return NO_INT64S, NO_INT64S
    counts = np.zeros(topology.num_hosts, np.int64)
    for row in rows.tolist():
        counts[owner[row]] += ways_of(topology, table, figures.taking, (row,)).paths[channel]
    order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    return order, counts[order]
