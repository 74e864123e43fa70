"""BookSim 2: its networks, traffic and routings, tables of its runs, and short runs like its.

Meshes and tori are netloom's, with the routings that match. On other networks wiring, numbers and
latencies are that simulator's. Channels are numbered by the router that they leave, then by its
output port there, hosts' ports left out. So are output ports, which lets routing functions name a
channel as it does. Traffic is on the hosts' numbers alone, the source itself included, and every
host sends at the same rate. Read in its source (commit 28f43299), in our own words.

If a network or a way is one of netloom's by other numbers, it is made from that. Routing
functions are data of ``routing.by_hop``: ways, states and their VCs. Nothing is checked for circles
here: what can deadlock there can deadlock here.

A table is a CSV file, of one configuration or one run a row.

Near saturation a short run's mean latency is far below that of the steady state, and differs from
seed to seed. So runs are as long as the reference's: a start-up is left out, a window measured,
then the network runs on until every packet of the window has arrived. Measured are the packets
created before the window's end that came to the head of their source's queue in it. Traffic counts
as accepted when it leaves the network within the window. The mean of several seeds is compared: one
has a scatter of up to 3 % at 80 % of saturation.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from itertools import zip_longest
from math import inf, sqrt
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse.csgraph import dijkstra

from netloom.base.arrays import Ints
from netloom.base.errors import DeadlockError, InputError
from netloom.base.spec import check_size, real_number, whole_number
from netloom.base.textfiles import file_kind, read_text
from netloom.routing import virtual_channel_routing
from netloom.routing.by_hop import tables
from netloom.routing.by_hop.hosted import detour_lists, group_kinds, hop_circle, lists_by_group
from netloom.routing.by_hop.listed import port_lists, states as states_apart
from netloom.routing.rules import channel_axes, ordered_ways, shortest_ways, usual_ways
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import Router, router
from netloom.simulation.network.run import ZERO_LOAD, Run
from netloom.simulation.steady import Delivered
from netloom.topology import Topology, topology
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape, attach_hosts
from netloom.topology.families import check_sizes, linked
from netloom.topology.subnets.files import read_fabric
from netloom.workload import Traffic, parse_arrivals, parse_lengths, parse_traffic
from netloom.workload.traffic.patterns import merged, weighted
from netloom_papers.ledger import published

NAMES = published("router")["names"]
"""What netloom calls the reference's router families, traffic patterns and routing functions."""

DIFFERENCES: dict[str, str] = published("router")["differences"]
"""In what netloom and the reference differ in kind."""

CUBES = ("mesh", "torus")

LOCAL_CYCLES, GLOBAL_CYCLES = 10, 100
"""Latency of a dragonfly's links within and between groups. They are compiled in."""


class Shape(NamedTuple):
    """What a configuration file says of the network.

    Attributes
    ----------
    kind
        ``topology``: one of ``KINDS``.
    k, n, c, x, xr
        Parameters by their names there, each at least 1. Routers per side, or ports, are k,
        dimensions or levels n, and hosts per router c. The floor plan has x routers per side, and
        a router xr hosts per side.
    by_length
        ``use_noc_latency``: whether the latency of flatfly's and cmesh's channels is their length.
    file
        ``network_file`` of an anynet.
    """

    kind: str
    k: int
    n: int
    c: int = 1
    x: int = 8
    xr: int = 1
    by_length: bool = True
    file: str = ""

    @property
    def name(self) -> str:
        """What a person calls it: ``flatfly k=4 n=2 c=4``.

        Examples
        --------
        >>> Shape("fattree", 4, 3).name, Shape("cmesh", 4, 2, 4, by_length=False).name
        ('fattree k=4 n=3', 'cmesh k=4 n=2 c=4, all channels of 1 cycle')
        """
        sides = f" k={self.k} n={self.n}"
        on_floor = f"{sides} c={self.c}" + ("" if self.by_length else ", all channels of 1 cycle")
        said = {"anynet": f" {PureWindowsPath(self.file).name}", "tree4": "", "qtree": ""}
        said |= {"dragonflynew": f" p={self.k}", "flatfly": on_floor, "cmesh": on_floor}
        said |= dict.fromkeys(CUBES, ":" + "x".join([f"{self.k}"] * min(self.n, 32)))
        return self.kind + said.get(self.kind, sides)


def network(shape: Shape) -> Topology:
    """Return the network: hosts, routers and channels by that simulator's numbers.

    Host h's ports come in the order of h. Routers are numbered from 0 without the gaps that it
    leaves between the levels of ``tree4`` and ``qtree``.

    Raises
    ------
    InputError
        If it would fail there with these parameters, or a file of an anynet cannot be read.

    Examples
    --------
    >>> network(Shape("fattree", 4, 3))
    <fattree k=4 n=3: 64 hosts, 48 routers, 256 directed channels>
    >>> flat = network(Shape("flatfly", 4, 2, 4, 4, 2))
    >>> flat.injection_router[[0, 1, 2, 8, 9]], sorted(set(flat.channel_cycles.tolist()))
    (array([0, 0, 1, 0, 0], dtype=int32), [1, 2, 4, 6])
    """
    if shape.kind in ("tree4", "qtree") and (shape.k, shape.n) != (4, 3):
        raise InputError(shape.name, f"k = {shape.k}, n = {shape.n}", "k = 4, n = 3")
    return KINDS[shape.kind](shape)


def _made(
    shape: Shape, net: Topology, part: Any = None, *, hosts: Ints | None = None, **more: Any
) -> Topology:
    """Return a network with its channels numbered as there.

    Those that leave a router are in the order of ``part``, then of the routers they enter: to
    routers of higher numbers first, if no parts are given. ``hosts`` is the router of each host,
    that of ``net`` if not given. ``more``: ``channel_cycles`` and ``cycles``, 1 by default, of
    channels between routers and of hosts.
    """
    source, target = net.channel_source, net.channel_target
    cycles = np.broadcast_to(more.pop("channel_cycles", 1), len(source))
    order = np.lexsort((target, target < source if part is None else part, source))
    ends = np.stack([source, target, cycles])[:, order].astype(np.int32)
    family = net.family if isinstance(net.family, DragonflyShape | HyperXShape) else None
    routers = Topology(
        shape.name, net.num_routers, ends[0], ends[1], channel_cycles=ends[2], family=family
    )
    out_of = net.ejection_router if hosts is None else hosts
    into = net.injection_router if hosts is None else hosts
    return attach_hosts(routers, into, name=shape.name, ejection=out_of, **more)


def _tree(shape: Shape) -> Topology:
    """Make a tree of netloom's, levels counted from the roots. Ports up are behind those down."""
    fat = shape.kind == "fattree"
    net = topology(f"fat-tree:{shape.k}x{shape.n}" if fat else "xgft:4x4x4/1x1x1")
    assert isinstance(net.family, TreeShape)
    ends = np.cumsum([net.family.width(level + 1) for level in range(shape.n)])
    own = np.argsort(np.concatenate(np.split(np.arange(net.num_routers), ends)[::-1]))
    turned = Topology("", net.num_routers, own[net.channel_source], own[net.channel_target])
    return _made(shape, turned, hosts=own[net.injection_router])


def _tree4(shape: Shape) -> Topology:
    """Make a tree of 4 roots, 8 routers and 16 leaves: routers 0 …, 4 …, 12 … here."""
    link = np.arange(32)  # of either level: 8 · 4 and 16 · 2
    low = np.concatenate([4 + link // 4, 12 + link // 2])
    high = np.concatenate([link % 4, 4 + link // 8 * 2 + link % 2])
    return _made(shape, linked("", 28, low, high), hosts=12 + np.arange(64) // 4)


def _dragonfly(shape: Shape) -> Topology:
    """Make a dragonfly of a = 2 p routers a group and a p + 1 groups, k being p."""
    p = shape.k
    if shape.n != 1:
        raise InputError(shape.name, f"n = {shape.n}", "n = 1")
    net = topology(f"dragonfly:{p}x{2 * p}x{p}")
    far = group_kinds(net).kind
    return _made(shape, net, far, channel_cycles=np.where(far, GLOBAL_CYCLES, LOCAL_CYCLES))


def _flatfly(shape: Shape) -> Topology:
    """Make a flattened butterfly: routers that differ in one base-k digit are joined."""
    k, n, x, xr = shape.k, shape.n, shape.x, shape.xr
    if shape.c != xr * xr:
        raise InputError(shape.name, f"c = {shape.c} with xr = {xr}", "c = xr · yr, xr = yr")
    if n > 4 or x < 1:
        raise InputError(shape.name, f"n = {n}, x = {x}", "n of at most 4, x of at least 1")
    net = topology(f"hyperx:{'x'.join([str(k)] * n)}/{shape.c}")
    source, target = net.channel_source, net.channel_target
    digit = -channel_axes(source, target, (k,) * n)[0]  # the lowest first
    hosts = _on_floor(shape, net.num_routers)
    if not shape.by_length:
        return _made(shape, net, digit, hosts=hosts)
    length = xr * (np.abs(source % x - target % x) + np.abs(source // x - target // x))
    away = _host_cycles(shape, len(hosts))
    return _made(shape, net, digit, hosts=hosts, channel_cycles=length, cycles=away)


def _on_floor(shape: Shape, routers: int) -> Ints:
    """Return the router of each host, where hosts are numbered over the floor plan."""
    x, xr = shape.x, shape.xr
    host = np.arange(routers * shape.c)
    column, row = host % (x * xr), host // (x * xr)
    router = row // xr * x + column // xr
    counts = np.bincount(router, minlength=routers)
    if len(counts) > routers or (counts != shape.c).any():
        wanted = "routers that fill whole rows of the floor plan: another x"
        raise InputError(shape.name, f"{routers} routers in rows of x = {x}", wanted)
    return router


def _host_cycles(shape: Shape, hosts: int) -> Ints:
    """Return the latency of each host's channels: 1 but where more than 3 · 3 share a router.

    The hosts of a router lie round its middle, which an even side leaves free. Those beyond the
    nearest in either direction are farther by as much. They are counted column by column there.
    """
    side = shape.xr
    away = np.arange(-(side // 2), side // 2 + 1)
    beyond = np.maximum(np.abs(away[(away != 0) | (side % 2 == 1)]) - 1, 0)
    host = np.arange(hosts)
    row, column = host // (shape.x * side) % side, host % side
    return np.asarray(1 + beyond[column] + beyond[row], np.int32)


def _cmesh(shape: Shape) -> Topology:
    """Make a mesh of 2 × 2 hosts a router, whose border ports lead half-way along the border."""
    k = shape.k
    if (shape.n, shape.c, shape.xr) != (2, 4, 2) or k % 2:
        found = f"k = {k}, n = {shape.n}, c = {shape.c}, xr = {shape.xr}"
        raise InputError(shape.name, found, "an even k, n = 2, c = 4, xr = yr = 2")
    check_sizes(shape.name, hosts=4 * k * k, routers=k * k, channels=12 * k * k)
    router = np.arange(k * k)
    y, x = np.divmod(router, k)
    links = []
    for port, (dx, dy) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        inside = (x + dx >= 0) & (x + dx < k) & (y + dy >= 0) & (y + dy < k)
        express = (y + k // 2) % k * k + x if dx else y * k + (x + k // 2) % k
        target = np.where(inside, router + dy * k + dx, express)
        links.append([router, target, 0 * router + port, np.where(inside, 2, k)])
    source, target, ports, length = np.concatenate(links, axis=1)
    hosts = _on_floor(shape._replace(x=k), k * k)
    net, cycles = Topology("", k * k, source, target), length if shape.by_length else 1
    return _made(shape, net, ports, hosts=hosts, channel_cycles=cycles)


def _anynet(shape: Shape) -> Topology:
    """Read a network of any shape. Channels of hosts take 1 cycle."""
    found = read_fabric(shape.file, shape.name)
    ends = found.channel_cycles[found.num_network_channels :]
    if (ends != 1).any():
        wanted = "none: the reference takes it for a link to a router of that number"
        raise InputError(shape.file, "a latency of a node's link", wanted)
    return found


KINDS: dict[str, Callable[[Shape], Topology]] = {
    **dict.fromkeys(CUBES, lambda shape: topology(shape.name)),
    "fattree": _tree,
    "flatfly": _flatfly,
    "cmesh": _cmesh,
    "dragonflynew": _dragonfly,
    "fly": lambda shape: _made(shape, topology(f"butterfly:{shape.k}x{shape.n}")),
    "tree4": _tree4,
    "qtree": _tree,
    "anynet": _anynet,
}
"""What makes each kind of network, by its name there."""


# Traffic.

_SPOT = re.compile(r"node(\d{1,9}) weight (\d{1,9})")


def pattern(name: str, shape: Shape, network: Topology) -> Traffic:
    """Return the traffic that a configuration's ``traffic`` names.

    Parameters
    ----------
    name
        A name of ``TRAFFICS`` or ``PATTERNS``, or ``hotspot(...)``: with that simulator's lists
        (``hotspot({{0,1},{9,1}})``; weights that are missing are as the last), or in words
        (``hotspot(node0 weight 9 others 1)``).
    shape, network
        The network, and its k, n and xr, which ``tornado``, ``neighbor`` and ``bad_dragon`` take.

    Raises
    ------
    InputError
        If there is no such pattern, or it would fail there on so many hosts.

    Examples
    --------
    >>> shape = Shape("flatfly", 4, 2, 4, 4, 2)
    >>> pattern("tornado", shape, network(shape)).matrix().target[0]
    np.int32(27)
    >>> hot = pattern("hotspot(node0 weight 9 others 1)", shape, network(shape))
    >>> (64 * hot.matrix().weight[:2]).round(4)
    array([0.125 , 0.0139])
    """
    num_hosts = network.num_hosts
    if name.partition("(")[0] == "hotspot":
        return _hot_spot(name, num_hosts)
    if name in TRAFFICS:
        try:
            return parse_traffic(f"{TRAFFICS[name]}-self", network)
        except InputError as error:
            raise InputError("traffic", f"'{name}' ({error.found})") from None
    if name not in PATTERNS:
        known = ", ".join([*TRAFFICS, *PATTERNS, "hotspot(...)"])
        raise InputError("traffic", f"'{name}'", f"one of {known}")
    targets = np.asarray(PATTERNS[name](np.arange(num_hosts), shape))
    if targets.max() >= num_hosts:
        wanted = f"hosts from 0 to {num_hosts - 1}: it fails on this network there, too"
        raise InputError(f"traffic '{name}'", f"host {targets.max()} as a target", wanted)
    return _spread(name, targets.reshape(num_hosts, -1))


def _spread(name: str, targets: Ints, weights: Any = 1.0) -> Traffic:
    """Return the traffic of hosts to targets [host, several], each with its weight."""
    hosts = len(targets)
    keys = np.arange(hosts)[:, None] * hosts + targets
    share = np.broadcast_to(np.asarray(weights, np.float64), keys.shape)
    found = merged(hosts, keys.ravel(), share.ravel())
    return Traffic(name, hosts, np.ones(hosts), weighted(hosts, found))


def _shifted(host: Ints, shape: Shape, by: int) -> Ints:
    """Return what each of the n digits of hosts' numbers, of base xr · k, grows by."""
    base = shape.xr * shape.k
    digits = [(host // base**place + by) % base * base**place for place in range(shape.n)]
    return np.asarray(np.sum(digits, axis=0))


def _bad_dragon(host: Ints, shape: Shape) -> Ints:
    group = 2 * shape.k * shape.k
    return ((host[:, None] // group + 1) * group + np.arange(group)) % len(host)


def _asymmetric(host: Ints, _: Shape) -> Ints:
    """Return a host of the first half and one of the second: of an odd number, the last is none."""
    half = len(host) // 2
    if not half:
        raise InputError("traffic 'asymmetric'", "1 host", "at least 2")
    return np.asarray(host[:, None] % half + np.array([0, half]))


TRAFFICS: dict[str, str] = NAMES["traffics"]
"""The patterns that netloom has as well. All of them include the source itself."""

PATTERNS: dict[str, Callable[[Ints, Shape], Ints]] = {
    "tornado": lambda host, shape: _shifted(host, shape, (shape.xr * shape.k - 1) // 2),
    "neighbor": lambda host, shape: _shifted(host, shape, 1),
    "asymmetric": _asymmetric,
    "bad_dragon": _bad_dragon,
    "diagonal": lambda host, _: np.stack([host, host, (host + 1) % len(host)], axis=1),
}
"""The targets of each host, int64[hosts] or [hosts, several that are drawn alike], by name."""


def _hot_spot(name: str, num_hosts: int) -> Traffic:
    inside, where = name.partition("(")[2].rpartition(")")[0], f"traffic '{name}'"
    weights = np.zeros(num_hosts, np.int64)
    in_words = _SPOT.findall(inside)
    if in_words:  # others 0 if not said
        rest = _SPOT.sub("", inside).split()
        if rest and (len(rest) != 2 or rest[0] != "others"):
            found, wanted = f"'{' '.join(rest)}'", "hotspot(node0 weight 9 others 1)"
            raise InputError(where, found, wanted)
        weights[:] = whole_number(rest[1], where=where) if rest else 0
    for host, weight in [map(int, each) for each in in_words] or _in_lists(inside, where):
        if host >= num_hosts:
            raise InputError(where, f"host {host}", f"0 to {num_hosts - 1}")
        weights[host] = weight if in_words else weight + weights[host]
    if not weights.any():
        raise InputError(where, "no host that is hot", "a weight above 0")
    hot = np.flatnonzero(weights)
    return _spread(name, np.broadcast_to(hot, (num_hosts, len(hot))), weights[hot])


def _in_lists(inside: str, where: str) -> Iterable[tuple[int, int]]:
    """Read the lists of hosts and weights as that simulator does, slips included.

    Without the outer braces it takes the first host for all of the first list: everything goes
    there. Nothing behind the first list is read. Weights that are missing are as the last.
    """
    text = inside.strip().replace("{", "[").replace("}", "]")
    try:
        said, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        said = None
    lists = [*(said if isinstance(said, list) else [said]), [1]][:2]
    hosts, weights = (each if isinstance(each, list) else [each] for each in lists)
    for numbers, least in ((hosts, 0), (weights, 1)):
        if not numbers or any(type(n) is not int or not least <= n < 10**9 for n in numbers):
            wanted = "hosts by number, such as hotspot({{0,1},{9,1}}); it draws others at random"
            raise InputError(where, f"'{inside}'", wanted)
    return zip_longest(hosts, weights[: len(hosts)], fillvalue=weights[-1])


# Routing functions.

FLATFLY_THRESHOLD, DRAGONFLY_THRESHOLD = 2, 30
"""In favor of the minimal way. Both are compiled in."""

Scheme: TypeAlias = tuple[list[tables.NextPorts], tables.Automaton, dict[str, Any]]
"""The ways of a routing function, the states of packets, and further fields of ``HopTables``."""

OF_TWO_CLASSES = ("xy_yx", "adaptive_xy_yx", "romm", "valiant")

Making: TypeAlias = Callable[[Shape, Topology, int], Scheme]
"""What makes a scheme for a network and so many VCs."""

Ways: TypeAlias = Callable[[Shape, Topology], tables.NextPorts]


def routing_of(
    shape: Shape, network: Topology, function: str, num_vcs: int
) -> tuple[VirtualChannelRouting, str]:
    """Return a routing function of the reference, and in what it is known to differ in kind.

    Parameters
    ----------
    shape, network
        The network, and what makes it.
    function
        A name of ``ROUTINGS[shape.kind]``.
    num_vcs
        VCs of every channel.

    Raises
    ------
    InputError
        If it would fail there with so many VCs, packets would go to and fro for ever, or its tables
        would be too large.

    Examples
    --------
    >>> shape = Shape("fattree", 4, 3)
    >>> routing_of(shape, network(shape), "anca", 4)[0].uses_credits
    True
    """
    making = ROUTINGS[shape.kind][function]
    if isinstance(making, str):
        odd = function in OF_TWO_CLASSES and num_vcs % 2
        differs = DIFFERENCES["overlapping classes"] if odd else ""
        if (shape.kind, function) == ("torus", "valiant"):
            differs = DIFFERENCES["never set"]
        return virtual_channel_routing(network, making, num_vcs=num_vcs), differs
    tables.check_starts(network, network.num_routers**2)
    ways, states, more = making(shape, network, num_vcs)
    found = tables.hop_tables(network, num_vcs, ways, states, **more)
    weighs = found.choice == tables.TWO or found.detour == tables.LOCAL
    routing = VirtualChannelRouting(
        function, network, found, uses_credits=weighs, minimal=not states.to_aux.any()
    )
    return routing, DIFFERENCES["shared middle VC"] if len(ways) > 1 and num_vcs % 2 else ""


# Ways.


def _usual(_: Shape, network: Topology) -> tables.NextPorts:
    """Return the ways that packets usually take.

    On flattened butterflies dimension order, the lowest digit first. On dragonflies to the router
    with the link to the goal's group, and on. All shortest ways elsewhere.
    """
    return tables.next_ports(network, usual_ways(network))


def _highest_first(shape: Shape, network: Topology) -> tables.NextPorts:
    """Return dimension order of a flattened butterfly, the highest digit first."""
    return tables.next_ports(network, ordered_ways(network, range(shape.n)))


def _first_up(_: Shape, network: Topology) -> tables.NextPorts:
    """Return the ways of ``tree4`` that only take the first port up, as ``anca`` has it."""
    ways = shortest_ways(network.routers)
    rank = np.where(ways.target < ways.source, ways.target, 0)
    return tables.next_ports(network, ways._replace(rank=rank.astype(np.int32)))


def _on_grid(
    shape: Shape, network: Topology, *, y_first: bool = False, express: int = 0
) -> tables.NextPorts:
    """Return dimension order of a concentrated mesh.

    ``express``: how far to go, at least, for the express link of a border row or column to be
    taken, or 0: it never is.
    """
    k = shape.k
    router, goal = np.arange(k * k)[:, None], np.arange(k * k)
    y, x = router // k, router % k
    dy, dx = goal // k - y, goal % k - x
    along_x, along_y = np.where(dx > 0, 0, 1), np.where(dy > 0, 2, 3)
    if express:
        far_x, far_y = np.abs(dx) >= express, np.abs(dy) >= express
        along_x = np.where(far_x & (y == k - 1), 2, np.where(far_x & (y == 0), 3, along_x))
        along_y = np.where(far_y & (x == k - 1), 0, np.where(far_y & (x == 0), 1, along_y))
    first = (dy != 0) if y_first else (dx == 0)
    return _by_ports(network, np.where(first, along_y, along_x))


def _by_latency(_: Shape, network: Topology) -> tables.NextPorts:
    """Return the way of least latency of an anynet, ties as the reference settles them.

    From each router, routers are settled in order of latency, then number. A router is reached by
    the one settled first of those from which its latency is least, and there by the first channel.
    """
    routers, out_port = network.routers, tables.hosted_ports(network).out_port
    count, source, target = routers.num_routers, routers.channel_source, routers.channel_target
    step, port = np.full((count, count), np.inf), np.full((count, count), -1)
    for channel in np.lexsort((-np.arange(len(source)), -routers.channel_cycles)).tolist():
        ends = source[channel], target[channel]
        step[ends], port[ends] = routers.channel_cycles[channel], out_port[channel]
    ports = np.full((count, count), -1)
    for start, away in enumerate(dijkstra(step)):
        settled = np.lexsort((np.arange(count), away))
        for goal in settled[1 : np.count_nonzero(np.isfinite(away))].tolist():
            via = settled[np.argmax(away[settled] + step[settled, goal] == away[goal])]
            ports[start, goal] = port[start, goal] if via == start else ports[start, via]
    return _by_ports(network, ports)


def _by_ports(network: Topology, ports: Ints) -> tables.NextPorts:
    """Return ways of one port each, by [router, goal]. -1: there is none.

    Raises
    ------
    InputError
        If packets go to and fro for ever.
    """
    from netloom.routing.kernels.forwarding import follow_lengths

    outward, _ = tables.channels_at_ports(network)
    here, goal = np.indices(ports.shape, np.int32).reshape(2, -1)
    channel = np.where((ports.ravel() < 0) | (here == goal), -1, outward[here, ports.ravel()])
    by_goal = np.ascontiguousarray(channel.reshape(ports.shape).T)
    hops, last = follow_lengths(by_goal, goal, here, network.routers.channel_target)
    if (hops < 0).any():
        pair = np.argmin(hops)
        found = f"packets from router {here[pair]} to {goal[pair]} that go to and fro for ever"
        raise InputError(network.name, found, "another routing")
    lists, lengths = port_lists(network), np.where(last == goal, hops, -1).astype(np.int16)
    return tables.NextPorts(len(ports), lists.start[channel], lists.ports, lengths)


# States.


def _deciding(
    plain: tables.Automaton, *, keep: int, leave: int, none: int, away: int = -1, turn: int = 0
) -> tables.Automaton:
    """Let packets decide on a detour in state 0, and go to its goal in state ``away``.

    See ``by_hop.tables.HopTables`` for ``keep``, ``leave``, ``turn`` and ``none``.
    """
    state = np.arange(len(plain.vcs))
    flags = [(state == each).astype(np.int8) for each in (0, away)]
    after = [np.full(len(state), each, np.int16) for each in (keep, leave, turn, none)]
    plain = plain._replace(decides=flags[0], to_aux=flags[1])
    return plain._replace(keep=after[0], leave=after[1], turn=after[2], none=after[3])


def _needs(network: Topology, num_vcs: int, least: int, most: int = 64) -> None:
    if not least <= num_vcs <= most:
        wanted = f"{least} VCs" if least == most else f"at least {least} VCs"
        raise InputError(network.name, f"{num_vcs} VC{'s' * (num_vcs != 1)}", wanted)


def _halves(network: Topology, num_vcs: int) -> tables.Automaton:
    """Return a state of any VC, one of the lower half and one of the upper. Odd ones share one."""
    _needs(network, num_vcs, 2)
    every, half = tables.bits(num_vcs), num_vcs // 2
    vcs = [every, tables.bits(num_vcs - half), every ^ tables.bits(half)]
    return states_apart(network, np.array(vcs, np.int64), num_vcs)


# Schemes.


def _any_vc(ways: Ways, **more: Any) -> Making:
    """Return the scheme of one set of ways, in any VC."""

    def scheme(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
        states = states_apart(network, np.array([tables.bits(num_vcs)], np.int64), num_vcs)
        return [ways(shape, network)], states, more

    return scheme


def _two_orders(first: Ways, second: Ways, *, by_credits: bool = False) -> Making:
    """Return the scheme of two sets of ways, each with its half of the VCs. The source decides.

    By a coin, or by what is used of the first ports. If they are equal, by a coin.
    """

    def scheme(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
        states = _deciding(_halves(network, num_vcs), keep=1, leave=2, none=1)
        routers = np.arange(network.num_routers)
        if by_credits:
            goals = list(routers[:, None])
            more = {"detour": tables.LOCAL, "weight": 1, "detour_weight": 1, "even_by_coin": 1}
            more |= detour_lists(routers, [goals] * len(routers))
        else:
            more = {"detour": tables.ALWAYS} | detour_lists(0 * routers, [[np.array([-1, 0])]])
        both = [first(shape, network), second(shape, network)]
        return both, states._replace(table=np.array([0, 0, 1], np.int8)), more

    return scheme


def _flatfly_valiant(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router first, in the lower VCs. The upper ones from there on."""
    routers = np.arange(network.num_routers)
    states = _deciding(_halves(network, num_vcs), keep=2, leave=1, none=2, away=1, turn=2)
    more = {"detour": tables.ALWAYS} | detour_lists(0 * routers, [[routers]])
    return [_usual(shape, network)], states, more


def _flatfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """A router with other digits where source and goal differ, if queues times hops are shorter."""
    ways, states, more = _flatfly_valiant(shape, network, num_vcs)
    states.eject_vcs[1] = 0
    routers = np.arange(network.num_routers)
    check_size(len(routers) ** 2 * (len(routers) + 1), where=network.name, what="detours of ugal")
    digits = np.stack(np.unravel_index(routers, [shape.k] * shape.n), axis=1)
    drawn = routers.reshape([shape.k] * shape.n).T.ravel()  # in the order of their lowest digits
    between = [
        [drawn[((digits[drawn] == one) | (one != other)).all(axis=1)] for other in digits]
        for one in digits
    ]
    for own in routers:
        between[own][own] = drawn[:0]
    more |= {"detour": tables.LOCAL, "threshold": FLATFLY_THRESHOLD}
    return ways, states, more | detour_lists(routers, between)


def _dragonfly_min(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """VC 0 up to the global channel, VC 1 on it and behind. VC 0 within a group."""
    _needs(network, num_vcs, 2)
    far, vcs = group_kinds(network).kind, np.array([1, 2], np.int64)
    states = tables.plain_states(far, np.array([[0, 1], [1, 1]]), vcs, num_vcs)
    return [_usual(shape, network)], states._replace(eject_vcs=vcs), {}


def _dragonfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router of another group first, in VC 0, if that queue is shorter by far.

    Then, and on minimal ways, VC 1 up to the global channel and VC 2 from it on. VC 2 within a
    group.
    """
    _needs(network, num_vcs, 3, 3)
    far, vcs = group_kinds(network).kind, np.array([1, 2, 4, 1], np.int64)
    plain = tables.plain_states(far, np.array([[0, 0], [1, 2], [2, 2], [3, 3]]), vcs, num_vcs)
    plain = plain._replace(eject_vcs=np.array([4, 2, 4, 0], np.int64))
    states = _deciding(plain, keep=1, leave=3, none=2, away=3, turn=1)
    group = np.arange(network.num_routers) // (2 * shape.k)
    # a router of one's own group: no detour
    drawn = [np.where(group == own, -1, np.arange(len(group))) for own in range(group[-1] + 1)]
    more = {"detour": tables.LOCAL, "weight": 1, "detour_weight": 2}
    more |= {"threshold": DRAGONFLY_THRESHOLD} | lists_by_group(group, drawn)
    return [_usual(shape, network)], states, more


def _near_border(shape: Shape, network: Topology) -> tables.NextPorts:
    """Return dimension order with express links where they do not lead past the goal."""
    return _on_grid(shape, network, express=max(shape.k // 2, 1))


_any_express = partial(_on_grid, express=2)

ROUTINGS: dict[str, dict[str, str | Making]] = {
    **NAMES["routings"],
    "fattree": {"nca": _any_vc(_usual), "anca": _any_vc(_usual, choice=tables.TWO)},
    "flatfly": {
        "ran_min": _any_vc(_usual),
        "xyyx": _two_orders(_usual, _highest_first),
        "adaptive_xyyx": _two_orders(_usual, _highest_first, by_credits=True),
        "valiant": _flatfly_valiant,
        "ugal": _flatfly_ugal,
    },
    "cmesh": {
        "dor": _any_vc(_near_border),
        "dor_no_express": _any_vc(_on_grid),
        "xy_yx": _two_orders(_any_express, partial(_any_express, y_first=True)),
        "xy_yx_no_express": _two_orders(_on_grid, partial(_on_grid, y_first=True)),
    },
    "dragonflynew": {"min": _dragonfly_min, "ugal": _dragonfly_ugal},
    "fly": {"dest_tag": _any_vc(_usual)},
    "tree4": {"nca": _any_vc(_usual), "anca": _any_vc(_first_up)},
    "qtree": {"nca": _any_vc(_usual)},
    "anynet": {"min": _any_vc(_by_latency)},
}
"""netloom's name of each routing function, or what makes it, by network and name there."""


# Tables of runs.

Stopped: TypeAlias = Callable[[], bool]
"""Whether to end at once."""

NETWORK_FILES = Path(str(files("netloom_papers.studies").joinpath("data", "anynet")))
"""Where the network files of the recorded configurations are."""

FAMILIES: dict[str, str] = NAMES["families"]
"""The router preset of each of the reference's router families."""

# Columns of every table, of tables of configurations, and of tables of runs. Meshes and tori have
# ``link_cycles`` as well, and only tables of runs have ``LOAD``.
LOAD, LATENCY, STABLE = "offered_flits_node_cycle", "avg_packet_latency", "stable"
ALL = ("family", "topology", "k", "n", "routing", "traffic", "num_vcs", "packet_size")
NEEDED, NEEDED_OF_RUNS = (*ALL, "router_cycles"), (*ALL, LOAD, LATENCY, STABLE)

CROSSED, CROSSED_BY_RUN = "zero_load_routers_traversed", "routers_traversed_mean"
"""The column of the mean routers that packets crossed at next to no load."""

OF_A_RUN = {
    LOAD, LATENCY, STABLE, CROSSED_BY_RUN, "avg_network_latency", "accepted_flits_node_cycle",
    "cycles", "sim_type", "sample_period", "min_accepted", "deadlock_warnings",
}  # fmt: skip
"""Columns in which the runs of one configuration differ."""

MOST_OF_STABLE = 0.85
"""Of the highest load of a stable run of a configuration (1.01 to 1.08 times saturation), up to
which its runs are compared. Nearer to saturation one seed is off by more than the tolerance."""

WARM_UP, MEASURED, IDLE_TIMES = 3, 7, 3
"""Sample periods left out and measured, and how many times as long they are at next to no load,
in tables that say ``sample_period``."""

PAST_SATURATION, PAST_PATIENCE = (1.1, 1.25), (1.035,)
"""Times the saturation load at which to look for the highest accepted traffic as well. The
reference's runs went up to 1.05 to 1.4 times. If it gave up runs, its last complete run was at 1.01
to 1.08 times, on average 1.036."""

LEAST_PATIENCE, PATIENCE = 200.0, 5.0
"""Mean latency at which the reference gives up a run: in cycles, and times that of an idle
network."""

IDLE, AT_50, AT_80, SATURATION, PEAK = published("router")["items"]["runs"]["compared"]
"""What is measured of a configuration."""

PARTS = {AT_50: 0.5, AT_80: 0.8}

SEEDS = (1, 2, 3, 4)

MOST_DRAIN = 20_000
"""Cycles after the window in which its packets must arrive. Their mean latency is infinite else."""

LATENCY_FACTOR = 3.0
"""How many times the latency of an idle network means saturation, in the reference."""

BRACKET = 0.03
"""How close, as a fraction of the load, the reference closed in on that."""

BEYOND = 1.5
"""Times the throughput bound: where short runs are saturated as well. (A little above the bound
they may not be: what cannot leave has not had the time to pile up.)"""

STEP = 500
"""Cycles after the window between two looks at whether its packets have arrived."""

SAMPLED = 4.0
"""Standard errors within which the ways of the reference's few packets are a matter of chance."""

HOPELESS = 5.0
"""Times the latency of saturation: a run whose mean is sure to be above that ends there."""


class Window(NamedTuple):
    """Cycles of a short run: left out at the start, and measured."""

    start: int
    cycles: int


Asked: TypeAlias = tuple[float, Window]
"""A run whose latency is wanted: its load (flits/node/cycle) and its window."""


class ShortRun(NamedTuple):
    """What a short run comes to.

    Attributes
    ----------
    latency
        Mean latency of the packets measured, cycles. What it is at least, if not all arrived.
    accepted
        Traffic accepted within the window, flits/node/cycle.
    latencies, hops
        int32[num_packets], of each in cycles, and between routers. None if not all arrived.
    """

    latency: float
    accepted: float
    latencies: Ints | None = None
    hops: Ints | None = None


IDLE_WINDOW, WINDOW = Window(8_000, 24_000), Window(4_000, 6_000)
"""Windows of tables that do not say their ``sample_period``. The reference's accepted traffic times
its nodes and cycles must be a whole number of flits. That, and how long its runs took, gives
them."""


@dataclass(frozen=True, eq=False)
class Case:
    """One configuration: what the reference measured, and the network to measure it on.

    Attributes
    ----------
    name
        The configuration in words.
    measured
        The reference's numbers, by item.
    network, router, traffic, flits
        The configuration.
    routing
        None where netloom refuses it.
    difference
        What is known to differ in kind. Empty in most.
    window
        The window of runs that look for saturation.
    gives_up
        Whether runs whose latency is above a limit are left out there.
    routers_crossed
        Of the reference's packets at next to no load, in the mean. None where its table does not
        say so.
    asked
        The load and window of each latency that is wanted.
    """

    name: str
    measured: Mapping[str, float]
    network: Topology
    router: Router
    traffic: Traffic
    flits: int
    routing: VirtualChannelRouting | None
    difference: str
    window: Window
    gives_up: bool
    routers_crossed: float | None
    asked: Mapping[str, Asked]

    def run(self, load: float, seed: int) -> Run:
        """Return a run that has not begun."""
        assert self.routing is not None
        system = self.network, self.routing, self.router, self.traffic
        return Run(*system, load, **packets_of(self.flits), seed=seed)


def packets_of(flits: int) -> dict[str, Any]:
    """Return what a run is told of packets of one length that come by Bernoulli processes."""
    return {"lengths": parse_lengths(str(flits)), "arrivals": parse_arrivals("bernoulli")}


class Line(NamedTuple):
    """A line of a table: its words by column, what messages call it, and the table's folder.

    Network files are looked for in the folder.
    """

    values: Mapping[str, str]
    where: str
    folder: Path = NETWORK_FILES

    def whole(self, field: str, default: int | None = None, *, least: int = 1) -> int:
        """Return a whole number. The default where the column is missing or blank."""
        if default is not None and not self.values.get(field):
            return default
        if field not in self.values:
            raise self.wrong(field, "no such column", "one, for this topology")
        return whole_number(self.values[field], where=f"{self.where}, {field}", least=least)

    def wrong(self, field: str, found: str, wanted: str) -> InputError:
        """Return the mistake in a field."""
        return InputError(f"{self.where}, {field}", found, wanted)

    def one_of(self, field: str, names: Iterable[str], key: str | None = None) -> str:
        """Return a word, or what it is the ``key`` of, which must be one of some."""
        known, word = sorted(names), self.values[field] if key is None else key
        if word not in known:
            raise self.wrong(field, f"'{self.values[field]}'", f"one of {', '.join(known)}")
        return word

    def positive(self, field: str) -> float:
        """Return a number above 0."""
        number = real_number(self.values[field], where=f"{self.where}, {field}")
        if number <= 0:
            raise self.wrong(field, f"'{self.values[field]}'", "a number above 0")
        return number

    def window(self, default: Window, times: int = 1) -> Window:
        """Return the window of so many times its ``sample_period``. The default if it is blank."""
        period = times * self.whole("sample_period", 0)
        return Window(WARM_UP * period, MEASURED * period) if period else default

    def file(self) -> str:
        """Return the path of the ``network_file``. One that is recorded, where none is found."""
        said = self.values.get("network_file", "")
        beside = self.folder, self.folder.parent / "data" / "fabrics" / "anynet"
        places = [*(place / said for place in beside), NETWORK_FILES / Path(said).name]
        for path in map(str, places):
            if said and file_kind(path) == "a file":
                return path
        shown = " or in ".join(str(place.parent) for place in places)
        raise self.wrong("network_file", f"'{said}'", f"a file in {shown}")


def case_of(line: Line, columns: Mapping[str, str]) -> Case:
    """Return the configuration of one line of a table.

    ``columns`` has the column of each item that was measured. What is blank there was not.
    """
    values = line.values
    kind = line.one_of("topology", KINDS)
    shape = Shape(
        kind,
        k=line.whole("k"),
        n=line.whole("n"),
        c=line.whole("c", 1),
        x=line.whole("x", 8),
        xr=line.whole("xr", 1),
        by_length=line.whole("use_noc_latency", 1, least=0) != 0,
        file=line.file() if kind == "anynet" else "",
    )
    vcs, flits = line.whole("num_vcs"), line.whole("packet_size")
    family, room = FAMILIES[line.one_of("family", FAMILIES)], line.whole("vc_buf_size", 8)
    links = line.whole("link_cycles") if kind in CUBES else 1
    model = router(family, vcs=vcs, buffer_flits=room, channel_cycles=links)
    if line.whole("router_cycles") != model.router_cycles:
        found, wanted = f"'{values['router_cycles']}'", f"{model.router_cycles} of this family"
        raise line.wrong("router_cycles", found, wanted)
    function = values["routing"].removesuffix(f"_{kind}")
    line.one_of("routing", ROUTINGS[kind], function)
    try:
        made = network(shape)
        sent = pattern(values["traffic"], shape, made)
    except InputError as error:
        raise InputError(f"{line.where}, {error.where}", error.found, error.wanted) from None
    told, virtual = "", None
    try:
        virtual, difference = routing_of(shape, made, function, vcs)
        if not made.direct:
            told = _circles(made, virtual)
    except InputError as error:
        difference = f"netloom refuses it: {error}"
    slow = "" if links == 1 else f", links of {links} cycles"
    name = (
        f"{function} {values['traffic']} on {made.name}, {values['family']}, "
        f"{vcs} VCs of {model.buffer_flits}, {flits} flits{slow}{told}"
    )
    said = {item: line.positive(column) for item, column in columns.items() if values.get(column)}
    if SATURATION not in said:
        said = {item: value for item, value in said.items() if item not in PARTS}
    window, crossed = line.window(WINDOW), line.positive(CROSSED) if values.get(CROSSED) else None
    parts = {item: part for item, part in PARTS.items() if item in said}
    asked = {item: (part * said[SATURATION], window) for item, part in parts.items()}
    if said:
        asked[IDLE] = ZERO_LOAD, line.window(IDLE_WINDOW, IDLE_TIMES)
    gives_up = bool(values.get("sample_period"))
    return Case(
        name, said, made, model, sent, flits, virtual, difference, window, gives_up, crossed, asked
    )


def _circles(made: Topology, virtual: VirtualChannelRouting) -> str:
    """Return what to tell of a routing that is run unchecked, as in the reference."""
    try:
        return ", with VCs in a circle" if hop_circle(made, virtual.tables) else ""
    except InputError:
        return ", not checked for circles"


def read_cases(reference: str, columns: Mapping[str, str]) -> list[Case]:
    """Return the configurations of a CSV file.

    Parameters
    ----------
    reference
        The file. One with a column ``offered_flits_node_cycle`` has one run a row. Left out are
        runs that were not stable, that measured throughput, or whose load is above
        ``MOST_OF_STABLE`` of the highest of their configuration.
    columns
        In a table of one configuration a row, the column of each item that was measured.

    Raises
    ------
    InputError
        If the table cannot be read, or names what netloom does not have.
    """
    text = read_text(reference, wanted="a table of reference runs")
    rows = csv.reader(text.splitlines())
    header = [word.strip() for word in next(rows, [])]
    needed = NEEDED_OF_RUNS if LOAD in header else (*NEEDED, *columns.values())
    for column in needed:
        if column not in header:
            raise InputError(f"{reference}:1", f"no column '{column}'", ", ".join(needed))
    lines = []
    for row in filter(any, rows):
        where = f"{reference}:{rows.line_num}"
        if len(row) != len(header):
            raise InputError(where, f"{len(row)} values", f"{len(header)}, one a column")
        values = dict(zip(header, map(str.strip, row), strict=True))
        lines.append(Line(values, where, Path(reference).parent))
    if LOAD not in header:
        return [case_of(line, columns) for line in lines]
    groups: dict[object, list[Line]] = {}
    for line in lines:
        said = line.values
        if said.get("sim_type", "latency") == "latency" and said[STABLE] == "1":
            same = tuple(each for each in said.items() if each[0] not in OF_A_RUN)
            groups.setdefault(same, []).append(line)
    return [_case_of_runs(lines) for lines in groups.values()]


def _case_of_runs(lines: Sequence[Line]) -> Case:
    """Return the configuration of some runs, with the latency of each that is compared."""
    first = lines[0]
    long = first.values["topology"] == "torus" and first.values.get("long_torus_links") == "1"
    cycles = router(FAMILIES[first.one_of("family", FAMILIES)]).router_cycles
    follows = {"router_cycles": str(cycles), "link_cycles": "2" if long else "1"}
    case = case_of(first._replace(values={**first.values, **follows}), {})
    runs = sorted(((line.positive(LOAD), line) for line in lines), key=lambda run: run[0])
    most = max(MOST_OF_STABLE * runs[-1][0], ZERO_LOAD)
    measured, asked = {}, {}
    for load, line in runs:
        if load > most:
            break
        idle = load <= ZERO_LOAD
        item = IDLE if idle else f"latency at a load of {load:g}"
        window = line.window(IDLE_WINDOW if idle else WINDOW)
        measured[item], asked[item] = line.positive(LATENCY), (max(load, ZERO_LOAD), window)
        if idle and line.values.get(CROSSED_BY_RUN):
            case = replace(case, routers_crossed=line.positive(CROSSED_BY_RUN))
    return replace(case, measured=measured, asked=asked)


# Runs.


def measure(case: Case, stopped: Stopped) -> dict[str, float] | None:
    """Measure one configuration as the reference was measured. Nothing where it is refused.

    ``stopped`` ends the runs under way. None if it did.
    """
    if case.routing is None:
        return {}
    found: dict[str, float] = {}
    with suppress(CancelledError):
        for item, (load, window) in case.asked.items():
            runs = [short_run(case.run(load, seed), window, stopped) for seed in SEEDS]
            found[item] = float(np.mean([run.latency for run in runs]))
            if item == IDLE:
                found[item] = idle_latency(case, runs)
        if {SATURATION, PEAK} & case.measured.keys():
            ends = [saturate(case, LATENCY_FACTOR * found[IDLE], seed, stopped) for seed in SEEDS]
            found[SATURATION], found[PEAK] = np.mean(ends, axis=0).tolist()
        return found
    return None


def idle_latency(case: Case, runs: Sequence[ShortRun]) -> float:
    """Return the mean packet latency of runs at next to no load.

    The reference has about 800 packets of it, whose paths may be 2 % longer or shorter than those
    of the traffic. Its table may say how many routers they crossed. If chance explains that number
    (``SAMPLED`` standard errors), the latency is adjusted to paths of that length. It moves along
    the line fitted to latencies by the number of routers crossed.
    """
    latency, hops = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("latencies", "hops")
    )
    mean = float(latency.mean())
    if case.routers_crossed is None or not hops.var():
        return mean
    longer = case.routers_crossed - 1 - float(hops.mean())
    if abs(longer) > SAMPLED * float(hops.std()) / sqrt(len(hops) / len(runs)):
        return mean
    return mean + longer * float(np.cov(latency, hops, bias=True)[0, 1] / hops.var())


def saturate(case: Case, beyond: float, seed: int, stopped: Stopped) -> tuple[float, float]:
    """Return the load at which latency is ``beyond``, and the highest accepted traffic of all runs.

    Every seed closes in for itself: a mean of latencies would be that of the worst seed. The load
    is bisected to ``BRACKET``, and interpolated there in 1 / latency, which falls nearly in a
    straight line. If the reference gives up runs for their latency, those do not count for the
    traffic, nor do loads beyond what it looked at.
    """
    idle, most, window = beyond / LATENCY_FACTOR, HOPELESS * beyond, case.window
    highest = 1.0
    if case.network.direct and case.routing is not None:  # where short runs are saturated as well
        bound = throughput_bound(case.network, case.routing, case.traffic, case.router)
        highest = min(1.0, BEYOND * bound.load)
    low, high = (0.0, idle), (highest, inf)  # loads, and latencies there
    tried = []
    while high[0] - low[0] > BRACKET * high[0]:
        load = (low[0] + high[0]) / 2
        run = short_run(case.run(load, seed), window, stopped, most=most)
        tried.append((load, run))
        if run.latency > beyond:
            high = load, run.latency
        else:
            low = load, run.latency
    share = (1 / low[1] - 1 / beyond) / (1 / low[1] - 1 / high[1])
    found = low[0] + share * (high[0] - low[0])
    # the mean latency above which the reference does not count a run, if it gives up runs at all
    patience = max(LEAST_PATIENCE, PATIENCE * idle)
    most, further = (patience, PAST_PATIENCE) if case.gives_up else (0.0, PAST_SATURATION)
    past = [min(1.0, times * found) for times in further]
    tried += [(load, short_run(case.run(load, seed), window, stopped, most=most)) for load in past]
    if case.gives_up:
        tried = [each for each in tried if each[1].latency <= patience and each[0] <= max(past)]
    return found, max((run.accepted for _, run in tried), default=0.0)


def short_run(run: Run, window: Window, stopped: Stopped, *, most: float = inf) -> ShortRun:
    """Run from an empty network, until all packets that are measured have arrived.

    A run whose mean latency is sure to be above ``most`` ends there, with a latency that is above
    it, too. One whose packets do not arrive has an infinite latency, as has one that deadlocks,
    which accepts nothing.
    """
    try:
        parts, flits = through_window(run, window)
        accepted = flits / window.cycles / len(run.born_flits)
        end, created = run.engine.cycle, int(run.born_packets.sum())
        while missing := created - sum(int((part.birth < end).sum()) for part in parts):
            if stopped():
                raise CancelledError
            latency, waited = _measured(parts, window, end)[0], run.engine.cycle - end
            least = (latency.sum() + missing * waited) / (len(latency) + missing)
            if waited >= MOST_DRAIN or least > most:
                return ShortRun(inf if waited >= MOST_DRAIN else float(least), accepted)
            parts.append(run.advance(STEP))
    except DeadlockError:
        return ShortRun(inf, 0.0)
    latency, hops = _measured(parts, window, end)
    return ShortRun(float(latency.mean()), accepted, latency, hops)


def _measured(parts: list[Delivered], window: Window, end: int) -> tuple[Ints, Ints]:
    """Return latency and hops of the packets that are measured, of those delivered so far."""
    birth, entry, arrival, hops = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("birth", "entry", "arrival", "hops")
    )
    inside = (entry >= window.start) & (birth < end)
    return (arrival - birth)[inside], hops[inside]


def through_window(run: Run, window: Window) -> tuple[list[Delivered], int]:
    """Run up to the end of a window. Return what was delivered, and the flits accepted in it."""
    start = run.advance(window.start)
    before = run.engine.count("ejected")
    parts = [start, run.advance(window.cycles)]
    return parts, run.engine.count("ejected") - before
