"""Networks: routers, directed channels between them, hosts, and the family that made them.

A ``Topology`` has a network as flat arrays: where each directed channel starts and ends, how fast
and how long. A *router* forwards. A *host* sends and receives, and never forwards. A *node* is a
computer as a scheduler names it. It owns one host or several. In a *direct* network (meshes, tori,
hypercubes, graphs whose vertices are all alike) router r has host r, and the channels between a
host and its router are not listed. In any other network hosts hang on routers by channels of their
own.

The record of a family of switched networks, such as ``TreeShape``, stands beside the arrays as
``family``, for the routings and pictures that know it. What follows from the arrays alone is never
looked up there. ``Cabling`` is what an administrator's file says besides the graph: ports, GUIDs
and LIDs.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from netloom.base.arrays import (
    NO_INT32S,
    Bools,
    Floats,
    Ints,
    UInt64s,
    offsets_of,
    places_among,
    places_within,
)


@dataclass(frozen=True, eq=False)
class TreeShape:
    """An extended generalized fat tree with parallel links: ``PGFT(h; m; w; p)``.

    Level 0 are the hosts. A vertex of level l has ``children[l - 1]`` children and, below the top,
    ``parents[l]`` parents, each by ``parallel[l]`` links. Level l has prod(children[l:]) *
    prod(parents[:l]) vertices. See Öhring et al., *On generalized fat trees*, 1995, and Zahavi,
    *Fat-tree routing and node ordering providing contention free traffic for MPI global
    collectives*, 2012.

    Routers are numbered level by level, those next to the hosts first. In a level, a router has the
    label (a_h … a_{l+1}, b_l … b_1). Its number is that label read as digits, of bases children[h -
    1] … children[l], parents[l - 1] … parents[0]. Host numbers are the digits a_h … a_1. A vertex
    and its parent differ in that a_{l+1} gives way to b_{l+1}.

    Attributes
    ----------
    children, parents, parallel
        m_1 … m_h, w_1 … w_h and p_1 … p_h.
    router_at
        int32[num_routers], the router of each place in that numbering, where a file numbers them
        otherwise. None where place and number are the same.
    host_at
        The same of hosts.
    sharing
        How many hosts share a network card, and thereby the number by which routings choose ways.
    """

    children: tuple[int, ...]
    parents: tuple[int, ...]
    parallel: tuple[int, ...]
    router_at: Ints | None = None
    host_at: Ints | None = None
    sharing: int = 1

    @property
    def levels(self) -> int:
        """h, the levels of routers."""
        return len(self.children)

    def width(self, level: int) -> int:
        """Return the number of vertices of a level. Level 0 are the hosts."""
        return prod(self.children[level:]) * prod(self.parents[:level])


@dataclass(frozen=True)
class DragonflyShape:
    """A dragonfly: groups of ``routers`` routers, all joined, with ``globals_`` global links each.

    Kim, Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008. Router
    r is number r mod a of group r // a. Dragonfly+ (Shpiner et al. 2017) has groups of ``leaves``
    leaf routers, which come first in their group, each joined to all of its spines. It is 0
    otherwise.
    """

    groups: int
    routers: int
    globals_: int
    leaves: int = 0


@dataclass(frozen=True)
class HyperXShape:
    """A HyperX: routers in a grid, all joined along each dimension by ``lanes`` links.

    Ahn et al., *HyperX: topology, routing, and packaging of efficient large-scale networks*, 2009.
    Routers are numbered row-major, the last coordinate fastest.
    """

    sides: tuple[int, ...]
    lanes: int = 1


@dataclass(frozen=True)
class StagesShape:
    """A butterfly, k-ary n-fly: stages of k × k routers, hosts inject at the first stage only.

    Router s · k^(n-1) + i is router i of stage s.
    """

    radix: int
    stages: int


@dataclass(frozen=True)
class FoldedShape:
    """A torus of hosts folded into a mesh of more dimensions, whose sides the routers say."""

    sides: tuple[int, ...]


Wiring: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints, Ints]

Family: TypeAlias = TreeShape | DragonflyShape | HyperXShape | StagesShape | FoldedShape


def _filled_later() -> Any:
    """Stand for an array that ``Topology`` fills itself where it is not given."""
    return None


@dataclass(frozen=True, eq=False)
class Topology:
    """A network: routers joined by directed channels, and hosts that hang on them by ports.

    A bidirectional link is two channels. Several channels may join the same two routers. Channels
    between routers are numbered first, then the injection channel of each host port, then the
    ejection channel of each. In a direct network router r has host r and its port, without saying
    how fast: bandwidths and latencies are those of channels between routers there.

    Where hosts and routers are numbered together (labels, files, NetworkX), they are *vertices*:
    the hosts first, so that a host's number is also its vertex, then the routers. In a direct
    network vertex r is host r and router r.

    Attributes
    ----------
    name
        The spec string that makes this topology again, such as ``mesh:8x8``.
    num_routers
        Number of routers.
    channel_source, channel_target
        int32[num_network_channels], the routers that each channel between routers leaves and
        enters.
    labels
        The names of the vertices, from the file that they were read from or from their family.
        Empty where they have no name but their number. Messages call hosts and routers so.
    num_hosts
        Number of hosts. That of routers in a direct network.
    channel_bandwidth
        float64[num_channels], flits/cycle, relative to the network's reference rate.
    channel_cycles
        int32[num_channels], latency of each channel in cycles.
    router_network
        The routers and their channels as a direct network, channels by the same numbers. None
        where the network is direct itself. Take ``routers``, which is never None. It takes its
        bandwidths, latencies and units from the network that it is given to.
    port_host
        int32[num_ports], the host of each port, ascending. A host may have several ports, and has
        one in a direct network. Port p injects by channel ``num_network_channels + p``, and
        receives by the channel ``num_ports`` behind that.
    injection_router, ejection_router
        int32[num_ports], the routers that each port sends to and receives from. The port's own
        number in a direct network, at no cost: the three are one array there.
    node_of_host
        int32[num_hosts], the computer that owns each host.
    computer_labels
        The names of the computers. Empty where they are those of their hosts.
    reference_gbps
        Gb/s of a channel of bandwidth 1. None where nobody said.
    cycle_ns
        Nanoseconds of a cycle, where latencies and a clock were said. None elsewhere.
    family
        The parameters of a family that routings and pictures know, such as a fat tree's, or None.
    cabling
        The ports, GUIDs and LIDs that an administrator's file says. None elsewhere.
    notes
        What a file leaves open and netloom took for it, or what of it is left out, in a sentence
        each. Commands print them on standard error.
    unbroken
        The network before anything broke. None where nothing has. Take ``whole``.
    kept_channels
        int32[num_channels], the number of each channel in ``whole``, ascending. None where nothing
        is broken. Take ``whole_channel``, or ``channel_up``.
    failed_nodes
        The vertices that are broken, ascending. They keep their numbers, but have no channels.
    switches
        The vertices of a direct network that only forward, ascending: a file that joins hosts to
        each other has switches too. Only collectives and traces as flows take such networks.
    cards
        int32[], the routers that are network cards, which several hosts of a computer share.
    of_cards, card_of_host
        The network whose hosts are the cards, and which of them each host sends by,
        int32[num_hosts]. None where hosts are no GPUs. See ``inside.with_computers``.
    counts_inside
        Whether messages between hosts of one node use the network. See ``local_group``.
    """

    name: str
    num_routers: int
    channel_source: Ints
    channel_target: Ints
    labels: tuple[str, ...] = ()
    _: KW_ONLY
    num_hosts: int = -1
    channel_bandwidth: Floats = field(default_factory=_filled_later, repr=False)
    channel_cycles: Ints = field(default_factory=_filled_later, repr=False)
    router_network: Topology | None = None
    port_host: Ints = field(default_factory=_filled_later, repr=False)
    injection_router: Ints = field(default_factory=_filled_later, repr=False)
    ejection_router: Ints = field(default_factory=_filled_later, repr=False)
    node_of_host: Ints = field(default_factory=_filled_later, repr=False)
    computer_labels: tuple[str, ...] = ()
    reference_gbps: float | None = None
    cycle_ns: float | None = None
    family: Family | None = None
    cabling: Cabling | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    unbroken: Topology | None = field(default=None, repr=False)
    kept_channels: Ints | None = field(default=None, repr=False)
    failed_nodes: tuple[int, ...] = ()
    switches: tuple[int, ...] = ()
    cards: Ints = field(default_factory=lambda: NO_INT32S, repr=False)
    of_cards: Topology | None = field(default=None, repr=False)
    card_of_host: Ints = field(default_factory=lambda: NO_INT32S, repr=False)
    counts_inside: bool = False

    def __post_init__(self) -> None:
        """Fill what was not given: a direct network, all of whose channels are alike."""
        hosts = self.num_routers if self.num_hosts < 0 else self.num_hosts
        each = np.arange(hosts, dtype=np.int32)
        object.__setattr__(self, "num_hosts", hosts)
        for name in ("port_host", "injection_router", "ejection_router", "node_of_host"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, each)
        for name, value in (("channel_bandwidth", 1.0), ("channel_cycles", np.int32(1))):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.broadcast_to(value, self.num_channels))
        routers = self.router_network
        if routers is None:
            return
        inside = slice(self.num_network_channels)
        own: dict[str, Any] = {  # routers are as fast here as in this network
            "channel_bandwidth": self.channel_bandwidth[inside],
            "channel_cycles": self.channel_cycles[inside],
            "reference_gbps": self.reference_gbps,
            "cycle_ns": self.cycle_ns,
        }
        if self.unbroken is not None:
            own["unbroken"] = self.unbroken.routers
        if not all(np.array_equal(getattr(routers, name), value) for name, value in own.items()):
            object.__setattr__(self, "router_network", replace(routers, **own))

    @property
    def num_channels(self) -> int:
        """Number of directed channels, those of host ports too where they are listed."""
        return self.num_network_channels + 2 * self.num_ports * self.ports_listed

    @property
    def direct(self) -> bool:
        """Whether router r is host r, which matters to pictures, words and files."""
        return self.router_network is None

    @property
    def ports_listed(self) -> bool:
        """Whether the channels of host ports are listed, with their speed. Else none is said."""
        return self.router_network is not None

    @property
    def routers(self) -> Topology:
        """The routers and the channels between them, as a direct network."""
        return self if self.router_network is None else self.router_network

    @property
    def broken(self) -> bool:
        """Whether something is broken. ``without`` makes such a network."""
        return self.unbroken is not None

    @property
    def whole(self) -> Topology:
        """The network before anything broke. Itself where nothing has."""
        return self if self.unbroken is None else self.unbroken

    @property
    def whole_channel(self) -> Ints:
        """int32[num_channels], the number of each channel in ``whole``, ascending."""
        if self.kept_channels is None:
            return np.arange(self.num_channels, dtype=np.int32)
        return self.kept_channels

    @property
    def channel_up(self) -> Bools:
        """bool[whole.num_channels], which channels of ``whole`` work."""
        up = np.zeros(self.whole.num_channels, np.bool_)
        up[self.whole_channel] = True
        return up

    @property
    def vertex_up(self) -> Bools:
        """bool[num_ends], which hosts and routers work."""
        up = np.ones(self.num_ends, np.bool_)
        up[list(self.failed_nodes)] = False
        return up

    @property
    def num_ends(self) -> int:
        """Number of vertices: of hosts and routers, or of routers that are hosts."""
        return self.router_vertex(self.num_routers)

    @cached_property
    def source_end(self) -> Ints:
        """int32[num_channels], the vertex that each channel leaves."""
        if not self.ports_listed:
            return self.channel_source
        first, out_of = self.num_hosts, self.ejection_router
        return np.concatenate([self.channel_source + first, self.port_host, out_of + first])

    @cached_property
    def target_end(self) -> Ints:
        """int32[num_channels], the vertex that each channel enters."""
        if not self.ports_listed:
            return self.channel_target
        first, into = self.num_hosts, self.injection_router
        return np.concatenate([self.channel_target + first, into + first, self.port_host])

    @property
    def num_network_channels(self) -> int:
        """Number of channels between routers."""
        return len(self.channel_source)

    @property
    def num_ports(self) -> int:
        """Number of host ports."""
        return len(self.port_host)

    @property
    def num_nodes(self) -> int:
        """Number of computers."""
        return int(self.node_of_host.max(initial=-1)) + 1

    @cached_property
    def local_group(self) -> Ints:
        """int32[num_hosts], alike for hosts whose messages to each other stay off the network.

        They are the hosts of one node, unless ``counts_inside``. If the network shows the inside of
        a node, its hosts communicate over that: routers that lead to hosts of this node alone.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> topology("rail:1x2x2x1").local_group, topology("rail:1x1x2x1").local_group
        (array([0, 0, 1, 1], dtype=int32), array([1, 2], dtype=int32))
        """
        node = self.node_of_host
        if self.counts_inside or self.num_nodes == self.num_hosts:
            return np.arange(self.num_hosts, dtype=np.int32)
        if self.unbroken is not None:
            return self.unbroken.local_group
        inner = self.inner_part[self.injection_router] >= 0
        drawn = np.isin(node, node[self.port_host[inner]])  # whose inside the network shows
        alone = self.num_nodes + np.arange(self.num_hosts, dtype=np.int32)
        return np.where(drawn, alone, node).astype(np.int32)

    @cached_property
    def inner_part(self) -> Ints:
        """int64[num_routers], the part of each router inside a computer. −1 of the network's.

        Routers inside a computer lead to hosts of this computer alone, and to several.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> topology("leaf-spine:2x1x2@2x2x9").inner_part
        array([-1, -1, -1,  1,  2])
        """
        if self.num_nodes == self.num_hosts:
            return np.full(self.num_routers, -1, np.int64)
        part = joined(self.num_routers, self.channel_source, self.channel_target)
        if self.unbroken is not None:
            return np.where(self.unbroken.inner_part >= 0, part, -1)
        count = int(part.max(initial=-1)) + 1
        owner, reached = self.node_of_host[self.port_host], part[self.injection_router]
        first, last = np.full(count, self.num_nodes), np.full(count, -1)
        np.minimum.at(first, reached, owner)
        np.maximum.at(last, reached, owner)
        hosts = np.unique(np.stack([reached, self.port_host]), axis=1)[0]
        own = (first == last) & (np.bincount(hosts, minlength=count) > 1)
        return np.where(own[part], part, -1)

    @cached_property
    def switch_of(self) -> Ints:
        """int64[num_routers], the router that each is, or that a card is joined to. −1 if inner.

        Families number these routers.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> topology("leaf-spine:2x1x2@4x2x9").switch_of
        array([ 0,  1,  2,  0,  0,  1,  1, -1, -1])
        """
        whole = self.whole
        found = np.where(whole.inner_part < 0, np.arange(self.num_routers), -1)
        leaves = np.isin(whole.channel_source, whole.cards)
        found[whole.channel_source[leaves]] = whole.channel_target[leaves]
        return found

    @cached_property
    def inside_and_out(self) -> tuple[Ints, Ints, Ints] | None:
        """The inner and the outer port of each host, −1 for none, and its part inside.

        None where the network draws no insides, or a host has several ports to one of the two.
        """
        at_port = self.inner_part[self.injection_router]
        ports, part = np.full((2, self.num_hosts), -1), np.full(self.num_hosts, -1)
        sides = np.flatnonzero(at_port >= 0), np.flatnonzero(at_port < 0)
        for found, side in zip(ports, sides, strict=True):
            found[self.port_host[side]] = side
        part[self.port_host[sides[0]]] = at_port[sides[0]]
        one_each = all((np.diff(self.port_host[side]) > 0).all() for side in sides)
        return (*ports, part) if len(sides[0]) and one_each else None

    @property
    def card_channels(self) -> Bools:
        """bool[num_network_channels], the channels between shared cards and their routers."""
        ends = self.channel_source, self.channel_target
        return np.asarray(np.isin(ends, self.cards).any(axis=0))

    @property
    def inner_channels(self) -> Bools:
        """bool[num_channels], the channels inside computers."""
        inner = np.zeros(self.num_ends, np.bool_)
        inner[self.num_ends - self.num_routers :] = self.inner_part >= 0
        return inner[self.source_end] | inner[self.target_end]

    def crosses(self, source: Ints, target: Ints) -> Bools:
        """Return which messages from hosts to hosts use the network, bool[]. See ``local_group``.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> topology("rail:1x2x2x1").crosses(np.array([0, 0, 0]), np.array([0, 1, 2]))
        array([False, False,  True])
        """
        if self.num_nodes == self.num_hosts:
            return np.asarray(source != target)
        group = self.local_group
        return np.asarray(group[source] != group[target])

    @property
    def others(self) -> OtherEnds:
        """The end points that run no programs, where an administrator's file says any."""
        return NO_OTHERS if self.cabling is None else self.cabling.others

    @cached_property
    def port_offsets(self) -> Ints:
        """int64[num_hosts + 1]: host h has ports offsets[h] … offsets[h + 1] − 1."""
        counts = np.bincount(self.port_host, minlength=self.num_hosts)
        return offsets_of(counts)

    @property
    def port_bandwidth(self) -> Floats:
        """float64[2 * num_ports], of injection channels by port, then of ejection channels.

        Infinite in a direct network, which says no speed of its hosts.
        """
        if not self.ports_listed:
            return np.broadcast_to(np.inf, 2 * self.num_ports)
        return self.channel_bandwidth[self.num_network_channels :]

    @property
    def even(self) -> bool:
        """Whether all channels have the same bandwidth."""
        return bool((self.channel_bandwidth == 1).all())

    def router_vertex(self, router: int) -> int:
        """Return the vertex of a router."""
        return router if self.direct else self.num_hosts + router

    def name_of(self, vertex: int) -> str:
        """Return the name by which a person would find the host or router that is ``vertex``."""
        if self.unbroken is not None:
            return self.unbroken.name_of(vertex)
        if self.labels:
            return self.labels[vertex]
        if self.direct:
            return str(vertex)
        if vertex < self.num_hosts:
            return f"h{vertex}"
        return f"r{vertex - self.num_hosts}"

    def router_name(self, router: int) -> str:
        """Return the name of a router."""
        return self.name_of(self.router_vertex(int(router)))

    def computer_name(self, node: int) -> str:
        """Return the name of a computer: its own, or that of the one host that it owns."""
        if self.computer_labels:
            return self.computer_labels[node]
        return self.name_of(int(np.argmax(self.node_of_host == node)))

    @cached_property
    def twin_number(self) -> Ints:
        """int32[num_channels]: 1, 2 … of channels that join the same two vertices; 0 if alone."""
        keys = self.source_end.astype(np.int64) * self.num_ends + self.target_end
        _, pair, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return np.where(counts[pair] > 1, places_among(keys) + 1, 0).astype(np.int32)

    def cable_end(self, channel: int) -> tuple[str, int, str, int]:
        """Return the names and port numbers of the two ends of a channel, source first.

        Ports are 0 where no file says them.
        """
        source, target = self.source_end[channel], self.target_end[channel]
        ports = (0, 0)
        if self.cabling is not None:
            ports = int(self.cabling.out_port[channel]), int(self.cabling.in_port[channel])
        return self.name_of(int(source)), ports[0], self.name_of(int(target)), ports[1]

    def channel_name(self, channel: int) -> str:
        """Return ``from -> to``, with the port behind each name if a file says the ports.

        Otherwise ``#2`` is behind it for the second of several channels there.
        """
        source, out_port, target, in_port = self.cable_end(channel)
        if out_port and in_port:
            return f"{source} port {out_port} -> {target} port {in_port}"
        number = self.twin_number[channel]
        return f"{source} -> {target}{f'#{number}' if number else ''}"

    def outgoing(self) -> tuple[Ints, Ints]:
        """Return the channels that leave each vertex, as a ragged array, lowest number first.

        Vertex v has channels[offsets[v]:offsets[v + 1]]: int64[num_ends + 1] offsets, and
        int32[num_channels].
        """
        return _grouped(self.source_end, self.num_ends)

    def incoming(self) -> tuple[Ints, Ints]:
        """Return the channels that enter each vertex, as ``outgoing`` does those that leave."""
        return _grouped(self.target_end, self.num_ends)

    def wiring(self) -> Wiring:
        """Return the channels as kernels take them: both ends, ``incoming``, then ``outgoing``."""
        return (self.source_end, self.target_end, *self.incoming(), *self.outgoing())

    def __repr__(self) -> str:
        if self.direct:
            return f"<{self.name}: {self.num_hosts} nodes, {self.num_channels} directed channels>"
        return (
            f"<{self.name}: {self.num_hosts} hosts, {self.num_routers} routers, "
            f"{self.num_network_channels} directed channels>"
        )


def counting_inside(topology: Topology) -> Topology:
    """Return the network that messages between hosts of one node use too.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> counting_inside(topology("rail:1x2x2x1")).local_group
    array([0, 1, 2, 3], dtype=int32)
    """
    if topology.num_nodes == topology.num_hosts:
        return topology
    whole = topology.unbroken
    return replace(
        topology, counts_inside=True, unbroken=None if whole is None else counting_inside(whole)
    )


def attach_hosts(
    routers: Topology,
    router_of_port: Ints,
    *,
    name: str,
    ejection: Ints | None = None,
    port_host: Ints | None = None,
    bandwidth: float | Floats = 1.0,
    cycles: int | Ints = 1,
    labels: tuple[str, ...] = (),
    **more: Any,
) -> Topology:
    """Return a network of routers with hosts hung on it.

    Parameters
    ----------
    routers
        The routers and their channels, as a direct network.
    router_of_port
        int[num_ports], the router that each host port injects into.
    name
        The spec string of the whole.
    ejection
        int[num_ports], the router that each port receives from, where it is another.
    port_host
        int[num_ports], the host of each port, ascending. Port p is host p's by default.
    bandwidth, cycles
        Of the channels of each port, both ways alike: one number or one per port.
    labels
        The names of hosts, then routers. Those of the routers are taken where none are given.
    **more
        Other fields of ``Topology``.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> net = attach_hosts(mesh(2, 2), np.arange(4).repeat(2), name="mesh:2x2/2")
    >>> net, net.channel_name(8)
    (<mesh:2x2/2: 8 hosts, 4 routers, 8 directed channels>, 'h0 -> (0,0)')
    """
    into = np.asarray(router_of_port, np.int32)
    out_of = into if ejection is None else np.asarray(ejection, np.int32)
    ports = len(into)
    hosts = np.asarray(np.arange(ports) if port_host is None else port_host, np.int32)
    num_hosts = int(hosts.max(initial=-1)) + 1
    rate = np.broadcast_to(np.asarray(bandwidth, np.float64), ports)
    delay = np.broadcast_to(np.asarray(cycles, np.int32), ports)
    if not labels:
        own = (f"h{host}" for host in range(num_hosts))
        plain = not routers.labels and type(routers) is Topology
        theirs = (f"r{r}" if plain else routers.name_of(r) for r in range(routers.num_routers))
        labels = (*own, *theirs)
    return Topology(
        name,
        routers.num_routers,
        routers.channel_source,
        routers.channel_target,
        labels,
        num_hosts=num_hosts,
        router_network=routers,
        port_host=hosts,
        injection_router=into,
        ejection_router=out_of,
        channel_bandwidth=np.concatenate([routers.channel_bandwidth, rate, rate]),
        channel_cycles=np.concatenate([routers.channel_cycles, delay, delay]),
        **{"family": routers.family, **more},
    )


def _grouped(keys: Ints, num_groups: int) -> tuple[Ints, Ints]:
    offsets = offsets_of(np.bincount(keys, minlength=num_groups))
    return offsets, np.argsort(keys, kind="stable").astype(np.int32)


@dataclass(frozen=True, eq=False)
class OtherEnds:
    """End points of a subnet that run no programs, such as a switch's aggregation node.

    The subnet manager gives them addresses and routes to them, so tables must lead there.

    Attributes
    ----------
    names
        What the file calls them.
    router
        int32[num_others], the router that each hangs on.
    port
        int32[num_others], the router's port.
    guid
        uint64[num_others], of the port, or 0 if the file says none.
    lid
        int32[num_others], the local identifier, or 0 if the file says none.
    """

    names: tuple[str, ...]
    router: Ints
    port: Ints
    guid: UInt64s
    lid: Ints

    def __len__(self) -> int:
        return len(self.names)


NO_OTHERS = OtherEnds((), NO_INT32S, NO_INT32S, np.zeros(0, np.uint64), NO_INT32S)


@dataclass(frozen=True, eq=False)
class Cabling:
    """Port numbers, GUIDs and LIDs of a network that a file describes.

    Attributes
    ----------
    out_port, in_port
        int32[num_channels], the port by which a channel leaves its source, and that by which it
        enters its target, as the file numbers them. The two channels of a cable have the same two
        ports.
    router_guid, host_guid, port_guid
        uint64[num_routers], [num_hosts] and [num_ports] (ports of hosts), or 0 if none is said.
    router_lid, port_lid
        int32[num_routers] and [num_ports], local identifiers, or 0 if none is said.
    lmc
        int32[num_ports]: a port answers to 2**lmc identifiers from its own on.
    router_ports
        int32[num_routers], how many ports a router has, cabled or not.
    others
        End points that run no programs.
    rail
        int32[num_hosts], which of its computer's adapters a host is: hosts of equal numbers are
        called alike, or as the others on their leaf, or −1 if that is not known. All are 0 where
        every computer has one.
    rail_names
        What adapters of each rail are called, such as ``HCA-5, mlx5_4``. Empty where every computer
        has one.
    unplugged
        The names of hosts that the file lists without a cable.
    unnamed
        Number of hosts whose computer the file does not name. Each counts as a computer.
    """

    out_port: Ints
    in_port: Ints
    router_guid: UInt64s
    host_guid: UInt64s
    port_guid: UInt64s
    router_lid: Ints
    port_lid: Ints
    lmc: Ints
    router_ports: Ints
    others: OtherEnds
    rail: Ints
    rail_names: tuple[str, ...] = ()
    unplugged: tuple[str, ...] = ()
    unnamed: int = 0


def port_numbers(topology: Topology) -> tuple[Ints, Ints]:
    """Return the ports by which each channel leaves its source and enters its target.

    Both are int32[num_channels]. If the network comes from a file, they are the file's. Otherwise
    the ports of a vertex are counted from 1, one for each channel that leaves it, in order of
    number. A channel enters by the port of its reverse channel. If it has none, it enters by its
    rank among the channels that enter.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x1")
    >>> [ports.tolist() for ports in port_numbers(net)]
    [[1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 3, 3], [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 1, 1]]
    """
    if topology.cabling is not None:
        return topology.cabling.out_port, topology.cabling.in_port
    out_port = 1 + ranks(*topology.outgoing())
    back = way_back(topology)
    by_rank = 1 + ranks(*topology.incoming())
    return out_port, np.where(back >= 0, out_port[back], by_rank).astype(np.int32)


def way_back(topology: Topology) -> Ints:
    """Return the other channel of each channel's cable, int32[num_channels], or -1 if it has none.

    If a file gives the ports, it is the channel between the same two ports. Otherwise the n-th of
    several channels from a to b belongs to the n-th from b to a.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> way_back(mesh(2, 2)).tolist()
    [2, 3, 0, 1, 6, 7, 4, 5]
    """
    source, target = (ends.astype(np.int64) for ends in (topology.source_end, topology.target_end))
    leaves = enters = topology.twin_number
    if topology.cabling is not None:
        leaves, enters = topology.cabling.out_port, topology.cabling.in_port
    ahead = np.stack([source, target, leaves, enters])
    behind = np.stack([target, source, enters, leaves])
    order = np.lexsort(ahead)
    found = np.lexsort(behind)
    back = np.full(topology.num_channels, -1, np.int32)
    same = (ahead[:, order] == behind[:, found]).all(axis=0)
    if same.all():
        back[found] = order
        return back
    places = {tuple(each): number for number, each in enumerate(ahead.T.tolist())}
    return np.array([places.get(tuple(each), -1) for each in behind.T.tolist()], np.int32)


def adjacency(count: int, source: Ints, target: Ints) -> Any:
    """Return how many channels lead from each vertex to each other, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(source)), (source, target)), shape=(count, count))


def joined(count: int, source: Ints, target: Ints, *, both_ways: bool = False) -> Ints:
    """Return what each vertex hangs together with by some channels, int64[count].

    ``both_ways``: only with what it reaches and is reached from.

    Examples
    --------
    >>> joined(4, np.array([0, 2]), np.array([1, 3]))
    array([0, 0, 1, 1])
    """
    from scipy.sparse.csgraph import connected_components

    graph = adjacency(count, source, target)
    found = connected_components(graph, connection="strong" if both_ways else "weak")[1]
    return found.astype(np.int64)


def ranks(offsets: Ints, channels: Ints) -> Ints:
    """Return the place of each channel among those of its vertex, given them as a ragged array.

    int32[num_channels], from 0 on.
    """
    found = np.empty(len(channels), np.int32)
    found[channels] = places_within(np.diff(offsets))
    return found
