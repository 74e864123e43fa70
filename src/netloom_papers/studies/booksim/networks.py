"""The networks of BookSim 2 whose hosts are not routers, its traffic on them, and its routings.

Wiring, numbers and latencies are its own. Channels are numbered by the router that they leave, then
by its output port there, hosts' ports left out. So are output ports, which lets routing functions
name a channel as that simulator does. Traffic is on the hosts' numbers alone, the source itself
included, and every host sends at the same rate. Read in its source (commit 28f43299), in our own
words.

Routing functions are data of ``routing.by_hop``: ways, states and their VCs. Nothing is checked for
circles here: what can deadlock there can deadlock here. *Ways* are the output ports that a function
takes towards each router, int16[routers, routers, several]: the ports of a router that lead on to a
goal, all equally good. Rows are padded with -1, and have only -1 if a packet never comes there or
has arrived.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import isqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.spec import check_size, whole_number
from netloom.routing.by_hop import tables
from netloom.routing.by_hop.hosted import detour_lists
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families import check_sizes
from netloom.topology.subnets.files import read_fabric
from netloom.workload import ProcessGraph, Traffic, traffic
from netloom.workload.graphs import generators
from netloom.workload.traffic.patterns import merged, weighted

Steps: TypeAlias = NDArray[np.int16]

Making: TypeAlias = Callable[["Shape", Topology, int], "Scheme"]

"""What makes a scheme for a network and so many VCs."""

LOCAL_CYCLES, GLOBAL_CYCLES = 10, 100
"""Latency of a dragonfly's links within and between groups. They are compiled in."""


class Shape(NamedTuple):
    """What a configuration file says of the network.

    Attributes
    ----------
    kind
        ``topology``: one of ``KINDS``.
    k, n, c, x, xr
        Parameters by their names there: routers per side or ports, dimensions or levels, hosts per
        router, routers per side of the floor plan, hosts per side of a router.
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
        if self.kind == "anynet":
            return f"anynet {self.file.replace(chr(92), '/').rpartition('/')[2]}"
        if self.kind in ("tree4", "qtree"):
            return self.kind
        if self.kind == "dragonflynew":
            return f"dragonflynew p={self.k}"
        if self.kind not in ("flatfly", "cmesh"):
            return f"{self.kind} k={self.k} n={self.n}"
        alike = "" if self.by_length else ", all channels of 1 cycle"
        return f"{self.kind} k={self.k} n={self.n} c={self.c}{alike}"


def network(shape: Shape) -> Topology:
    """Return the network: hosts, routers and channels by that simulator's numbers.

    Host h's ports come in the order of h. Routers are numbered from 0 without the gaps that it
    leaves between the levels of ``tree4`` and ``qtree``.

    Raises
    ------
    InputError
        If there is no such kind, it would fail there with these parameters, or a file of an
        anynet cannot be read.

    Examples
    --------
    >>> network(Shape("fattree", 4, 3))
    <fattree k=4 n=3: 64 hosts, 48 routers, 256 directed channels>
    >>> flat = network(Shape("flatfly", 4, 2, 4, 4, 2))
    >>> flat.injection_router[[0, 1, 2, 8, 9]], sorted(set(flat.channel_cycles.tolist()))
    (array([0, 0, 1, 0, 0], dtype=int32), [1, 2, 4, 6])
    """
    if shape.kind not in KINDS:
        raise InputError("topology", f"'{shape.kind}'", f"one of {', '.join(KINDS)}")
    if shape.kind != "anynet" and min(shape.k, shape.n, shape.c) < 1:
        raise InputError(shape.name, "a number below 1", "k, n and c of at least 1")
    if shape.kind in ("tree4", "qtree") and (shape.k, shape.n) != (4, 3):
        raise InputError(shape.name, f"k = {shape.k}, n = {shape.n}", "k = 4, n = 3")
    return KINDS[shape.kind](shape)


def _made(
    shape: Shape, num_routers: int, links: list[Ints], host_router: Ints, **more: Any
) -> Topology:
    """Return the network of channels between routers: the rows that ``_links`` makes."""
    source, rank, target, cycles = np.concatenate([np.zeros((4, 0), np.int32), *links], axis=1)
    order = np.lexsort((rank, source))
    source, target, cycles = (column[order].astype(np.int32) for column in (source, target, cycles))
    routers = Topology(shape.name, num_routers, source, target, channel_cycles=cycles)
    return attach_hosts(routers, host_router, name=shape.name, **more)


def _links(source: Any, rank: Any, target: Any, cycles: Any = 1) -> Ints:
    """Return channels from arrays that can be broadcast together, int64[4, num_channels].

    Rows are the routers that they leave, ranks, the routers that they enter, and cycles. Ranks
    order the channels that leave a router as its output ports are. No channel leads to the router
    that it leaves.
    """
    found = np.stack([each.ravel() for each in np.broadcast_arrays(source, rank, target, cycles)])
    return found[:, found[0] != found[2]]


def _check(shape: Shape, hosts: int, routers: int, channels: int) -> None:
    check_sizes(shape.name, hosts=hosts, routers=routers, channels=channels + 2 * hosts)


def _fattree(shape: Shape) -> Topology:
    """Make a k-ary n-tree: level 0 are the roots, the leaves' ports down are hosts."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    _check(shape, k * width, n * width, 2 * (n - 1) * k * width)
    places, digit = np.arange(width)[:, None], np.arange(k)
    links = []
    for level in range(n - 1):
        weight = k ** (n - 2 - level)
        own = places // weight % k
        other = places + (digit - own) * weight
        here, below = level * width, (level + 1) * width
        links.append(_links(here + places, digit, below + other))
        links.append(_links(below + places, k + digit, here + other))
    leaf = (n - 1) * width + np.arange(k * width) // k
    return _made(shape, n * width, links, leaf)


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


def _flatfly(shape: Shape) -> Topology:
    """Make a flattened butterfly: routers that differ in one base-k digit are joined."""
    k, n, x, xr = shape.k, shape.n, shape.x, shape.xr
    if shape.c != xr * xr:
        raise InputError(shape.name, f"c = {shape.c} with xr = {xr}", "c = xr · yr, xr = yr")
    if n > 4 or x < 1:
        raise InputError(shape.name, f"n = {n}, x = {x}", "n of at most 4, x of at least 1")
    routers = k**n
    _check(shape, routers * shape.c, routers, routers * (k - 1) * n)
    router, digit = np.arange(routers)[:, None], np.arange(k)
    links = []
    for axis in range(n):
        weight = k**axis
        other = router + (digit - router // weight % k) * weight
        length = xr * (np.abs(router % x - other % x) + np.abs(router // x - other // x))
        cycles = length if shape.by_length else 1
        links.append(_links(router, axis * k + digit, other, cycles))
    hosts = _on_floor(shape, routers)
    away = _host_cycles(shape, hosts) if shape.by_length else 1
    return _made(shape, routers, links, hosts, cycles=away)


def _host_cycles(shape: Shape, router: Ints) -> Ints:
    """Return the latency of each host's channels: 1 but where more than 3 · 3 share a router.

    The hosts of a router lie round its middle, which an even side leaves free. Those beyond the
    nearest in either direction are farther by as much. They are counted column by column there.
    """
    side = shape.xr
    away = np.arange(-(side // 2), side // 2 + 1)
    if side % 2 == 0:
        away = away[away != 0]
    beyond = np.maximum(np.abs(away) - 1, 0)
    host = np.arange(len(router))
    row, column = host // (shape.x * side) % side, host % side
    place = row * side + column
    cycles = 1 + beyond[place % side] + beyond[place // side]
    return np.asarray(cycles, np.int32)


def _cmesh(shape: Shape) -> Topology:
    """Make a mesh of 2 × 2 hosts a router, whose border ports lead half-way along the border."""
    k = shape.k
    if (shape.n, shape.c, shape.xr) != (2, 4, 2) or k % 2:
        found = f"k = {k}, n = {shape.n}, c = {shape.c}, xr = {shape.xr}"
        raise InputError(shape.name, found, "an even k, n = 2, c = 4, xr = yr = 2")
    _check(shape, 4 * k * k, k * k, 4 * k * k)
    router = np.arange(k * k)
    y, x = np.divmod(router, k)
    half = k // 2

    def across(here: Ints) -> Ints:
        return here + np.where(here < half, half, -half)

    links = []
    ways = ((1, 0), (-1, 0), (0, 1), (0, -1))
    for rank, (dx, dy) in enumerate(ways):
        inside = (x + dx >= 0) & (x + dx < k) & (y + dy >= 0) & (y + dy < k)
        express = across(y) * k + x if dx else y * k + across(x)
        target = np.where(inside, router + dy * k + dx, express)
        length = np.where(inside, 2, k)
        links.append(_links(router, rank, target, length if shape.by_length else 1))
    return _made(shape, k * k, links, _on_floor(shape._replace(x=k), k * k))


def _dragonfly(shape: Shape) -> Topology:
    """Make a dragonfly of a = 2 p routers a group and a p + 1 groups, k being p."""
    p = shape.k
    if shape.n != 1:
        raise InputError(shape.name, f"n = {shape.n}", "n = 1")
    a = 2 * p
    groups = a * p + 1
    routers = a * groups
    _check(shape, routers * p, routers, routers * (a - 1 + p))
    router, other = np.arange(routers)[:, None], np.arange(a)
    group, own = router // a, router % a
    local = _links(router, other, group * a + other, LOCAL_CYCLES)
    turn = own * p + np.arange(p)
    far = turn + (turn >= group)
    back = np.where(far > group, group, group - 1)
    distant = _links(router, a + np.arange(p), far * a + back // p, GLOBAL_CYCLES)
    return _made(shape, routers, [local, distant], np.arange(routers * p) // p)


def _fly(shape: Shape) -> Topology:
    """Make a butterfly: hosts inject at the first stage and receive at the last."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    _check(shape, k * width, n * width, (n - 1) * k * width)
    place, digit = np.arange(width)[:, None], np.arange(k)
    links = []
    for stage in range(1, n):
        weight = k ** (n - 1 - stage)
        other = place + (digit - place // weight % k) * weight
        links.append(_links((stage - 1) * width + place, digit, stage * width + other))
    first = np.arange(k * width) // k
    return _made(shape, n * width, links, first, ejection=first + (n - 1) * width)


def _tree4(shape: Shape) -> Topology:
    """Make a tree of 4 roots, 8 routers and 16 leaves: routers 0 …, 4 …, 12 … here."""
    root, middle = np.arange(4)[:, None], np.arange(8)
    links = [_links(root, middle, 4 + middle), _links(4 + middle, 4 + root, root)]
    middle, port = np.arange(8)[:, None], np.arange(4)
    leaf = 12 + 4 * (middle // 2) + port
    links += [_links(4 + middle, port, leaf), _links(leaf, 4 + middle % 2, 4 + middle)]
    return _made(shape, 28, links, 12 + np.arange(64) // 4)


def _qtree(shape: Shape) -> Topology:
    """Make a plain tree of 1 root, 4 routers and 16 leaves: routers 0, 1 …, 5 … here."""
    child = np.arange(1, 21)
    parent = (child - 1) // 4
    links = [_links(parent, (child - 1) % 4, child), _links(child, 4, parent)]
    return _made(shape, 21, links, 5 + np.arange(64) // 4)


def _anynet(shape: Shape) -> Topology:
    """Read a network of any shape. Channels of hosts take 1 cycle."""
    found = read_fabric(shape.file, shape.name)
    ends = found.channel_cycles[found.num_network_channels :]
    if (ends != 1).any():
        wanted = "none: the reference takes it for a link to a router of that number"
        raise InputError(shape.file, "a latency of a node's link", wanted)
    return found


KINDS: dict[str, Callable[[Shape], Topology]] = {
    "fattree": _fattree,
    "flatfly": _flatfly,
    "cmesh": _cmesh,
    "dragonflynew": _dragonfly,
    "fly": _fly,
    "tree4": _tree4,
    "qtree": _qtree,
    "anynet": _anynet,
}
"""What makes each kind of network, by its name there."""


# Traffic.

_SPOT = re.compile(r"node(\d{1,9}) weight (\d{1,9})")


def pattern(name: str, shape: Shape, num_hosts: int) -> Traffic:
    """Return the traffic that a configuration's ``traffic`` names.

    Parameters
    ----------
    name
        A name of ``PATTERNS``, ``uniform``, or ``hotspot(...)``: with that simulator's own lists
        (``hotspot({{0,1},{9,1}})``; weights that are missing are as the last), or in words
        (``hotspot(node0 weight 9 others 1)``).
    shape
        The network, whose k, n and xr ``tornado``, ``neighbor`` and ``bad_dragon`` work with.
    num_hosts
        Hosts of the network.

    Raises
    ------
    InputError
        If there is no such pattern, or it would fail there on so many hosts.

    Examples
    --------
    >>> pattern("tornado", Shape("flatfly", 4, 2, 4, 4, 2), 64).matrix(0, 1).target
    array([27], dtype=int32)
    >>> hot = pattern("hotspot(node0 weight 9 others 1)", Shape("fly", 8, 2), 64)
    >>> (64 * hot.matrix(5, 6).weight[:2]).round(4)
    array([0.125 , 0.0139])
    """
    if name.partition("(")[0] == "hotspot":
        return _hot_spot(name, num_hosts)
    if name == "uniform":
        return traffic.uniform(num_hosts, to_self=True)
    if name not in PATTERNS:
        known = ", ".join(["uniform", *PATTERNS, "hotspot(...)"])
        raise InputError("traffic", f"'{name}'", f"one of {known}")
    targets = np.asarray(PATTERNS[name](np.arange(num_hosts), shape))
    if targets.min() < 0 or targets.max() >= num_hosts:
        wanted = f"hosts from 0 to {num_hosts - 1}: it fails on this network there, too"
        raise InputError(f"traffic '{name}'", f"host {targets.max()} as a target", wanted)
    return _spread(name, targets.reshape(num_hosts, -1))


def _spread(name: str, targets: Ints, weights: Any = 1.0) -> Traffic:
    """Return the traffic of hosts to targets [host, several], each with its weight."""
    hosts = len(targets)
    keys = np.arange(hosts)[:, None] * hosts + targets
    share = np.broadcast_to(np.asarray(weights, np.float64), keys.shape)
    order = np.argsort(keys, axis=None, kind="stable")
    found = merged(hosts, keys.ravel()[order], share.ravel()[order])
    return Traffic(name, hosts, np.ones(hosts), weighted(hosts, found))


def _permuted(host: Ints, graph: ProcessGraph) -> Ints:
    """Return where a permutation of workload sends each host, itself where it has no edge."""
    targets = np.arange(graph.num_tasks)
    targets[graph.source] = graph.target
    return targets[host % len(targets)]


def _of_bits(
    make: Callable[[int], ProcessGraph], *, even: bool = False
) -> Callable[[Ints, Shape], Ints]:
    """Return the permutation of the bits of hosts' numbers. With ``even``, of as many rows."""

    def targets(host: Ints, _: Shape) -> Ints:
        hosts = len(host)
        if hosts.bit_count() != 1 or (even and hosts.bit_length() % 2 == 0):
            wanted = "an even power of two of them" if even else "a power of two of them"
            raise InputError("traffic", f"{hosts} hosts", wanted)
        return _permuted(host, make(isqrt(hosts) if even else hosts))

    return targets


def _of_digits(make: Callable[..., ProcessGraph]) -> Callable[[Ints, Shape], Ints]:
    """Return the permutation of the n digits of hosts' numbers, of base xr · k."""
    return lambda host, shape: _permuted(host, make(*[shape.xr * shape.k] * shape.n))


def _asymmetric(host: Ints, _: Shape) -> Ints:
    half = len(host) // 2
    if not half:
        raise InputError("traffic 'asymmetric'", "1 host", "at least 2")
    return np.asarray(host[:, None] % half + np.array([0, half]))


def _bad_dragon(host: Ints, shape: Shape) -> Ints:
    group = 2 * shape.k * shape.k
    return ((host[:, None] // group + 1) * group + np.arange(group)) % len(host)


def _bad_yarc(host: Ints, shape: Shape) -> Ints:
    row = shape.xr * shape.k
    return np.arange(row) * row + host[:, None] // row


def _diagonal(host: Ints, _: Shape) -> Ints:
    return np.stack([host, host, (host + 1) % len(host)], axis=1)


def _taper(host: Ints, _: Shape) -> Ints:
    if len(host) != 64:
        raise InputError("traffic 'taper64'", f"{len(host)} hosts", "64 of them")
    near = (8 * np.arange(-1, 2)[:, None] + np.arange(-1, 2)).ravel()
    around = (host[:, None] + near) % 64
    anywhere = np.broadcast_to(host, (64, 64))
    return np.concatenate([np.tile(around, 64), np.tile(anywhere, 9)], axis=1)


PATTERNS: dict[str, Callable[[Ints, Shape], Ints]] = {
    "bitcomp": _of_bits(generators.bit_complement),
    "bitrev": _of_bits(generators.bit_reverse),
    "shuffle": _of_bits(generators.shuffle),
    "transpose": _of_bits(generators.transpose, even=True),
    "tornado": _of_digits(generators.tornado),
    "neighbor": _of_digits(generators.neighbour),
    "asymmetric": _asymmetric,
    "bad_dragon": _bad_dragon,
    "badperm_yarc": _bad_yarc,
    "diagonal": _diagonal,
    "taper64": _taper,
}
"""The targets of each host, int64[hosts] or [hosts, several that are drawn alike], by name."""


def _hot_spot(name: str, num_hosts: int) -> Traffic:
    inside, where = name.partition("(")[2].rpartition(")")[0], f"traffic '{name}'"
    weights = np.zeros(num_hosts, np.int64)
    if _SPOT.search(inside):  # in words, others 0 if not said
        rest = _SPOT.sub("", inside).split()
        if rest and (len(rest) != 2 or rest[0] != "others"):
            found, wanted = f"'{' '.join(rest)}'", "hotspot(node0 weight 9 others 1)"
            raise InputError(where, found, wanted)
        if rest:
            weights[:] = whole_number(rest[1], where=where)
        for node, weight in _SPOT.findall(inside):
            weights[_host(node, num_hosts, where)] = int(weight)
    else:
        for node, times in _in_lists(inside, where):
            weights[_host(node, num_hosts, where)] += times
    if not weights.any():
        raise InputError(where, "no host that is hot", "a weight above 0")
    hot = np.flatnonzero(weights)
    return _spread(name, np.broadcast_to(hot, (num_hosts, len(hot))), weights[hot])


def _in_lists(inside: str, where: str) -> Iterable[tuple[str, int]]:
    """Read the lists of hosts and weights as that simulator does, slips included.

    Without the outer braces it takes the first host for all of the first list: everything goes
    there.
    """
    lists = _elements(inside)
    hosts = _elements(lists[0]) if lists else []
    if not hosts or any(word.strip().startswith("-") for word in hosts):
        wanted = "hosts by number, such as hotspot({{0,1},{9,1}}); it draws others at random"
        raise InputError(where, f"'{inside}'", wanted)
    said = _elements(lists[1]) if len(lists) > 1 else []
    each = [whole_number(word.strip(), where=where, least=1) for word in said] or [1]
    each += [each[-1]] * (len(hosts) - len(each))
    return zip(hosts, each, strict=False)


def _elements(text: str) -> list[str]:
    """Return what a list in braces holds, itself if it has none. Nothing behind its end."""
    if not text.startswith("{"):
        return [text] if text else []
    found, depth, word = [], 0, ""
    for letter in text[1:]:
        if not depth and letter in ",}":
            found += [word] if word else []
            word = ""
            if letter == "}":
                break
            continue
        depth += (letter == "{") - (letter == "}")
        word += letter
    return found


def _host(word: str, num_hosts: int, where: str) -> int:
    host = whole_number(word.strip(), where=where)
    if host >= num_hosts:
        raise InputError(where, f"host {host}", f"0 to {num_hosts - 1}")
    return host


# Routing functions.

FLATFLY_THRESHOLD, DRAGONFLY_THRESHOLD = 2, 30
"""In favor of the minimal way. Both are compiled in."""

ORDER_IN_VC = (
    "with an odd number of VCs the reference's two orders share the middle VC, and a packet there "
    "changes from the one to the other; netloom's keep theirs."
)


class State(NamedTuple):
    """A state of packets. See ``by_hop.tables.HopTables``. States not said are its own number."""

    behind: tuple[int, ...]  # state behind a channel of each kind
    vcs: int  # of the channel by which a packet comes into it
    eject: int  # VCs to the host; 0: it passes its exit by
    table: int = 0
    to_aux: bool = False
    decides: bool = False
    keep: int = -1
    leave: int = -1
    turn: int = -1
    none: int = -1


class Scheme(NamedTuple):
    """A routing function: ways, the states of packets, and what they decide on.

    ``kind``: of each channel between routers. ``more``: further fields of ``HopTables``.
    """

    ways: Sequence[Steps]
    states: Sequence[State]
    kind: NDArray[np.int8] | None = None
    more: dict[str, Any] = {}  # noqa: RUF012 (none is ever changed)
    uses_credits: bool = False
    minimal: bool = True
    difference: str = ""


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
        If there is no such function, it would fail there with so many VCs, packets would go to and
        fro for ever, or its tables would be too large.

    Examples
    --------
    >>> shape = Shape("fattree", 4, 3)
    >>> routing_of(shape, network(shape), "anca", 4)[0].uses_credits
    True
    """
    if function not in ROUTINGS[shape.kind]:
        known = ", ".join(ROUTINGS[shape.kind])
        raise InputError("routing", f"'{function}'", f"one of {known}")
    tables.check_starts(network, network.num_routers**2)
    scheme = ROUTINGS[shape.kind][function](shape, network, num_vcs)
    listed = [_listed(network, each) for each in scheme.ways]
    none = np.zeros(network.num_network_channels, np.int8)
    kind = none if scheme.kind is None else scheme.kind
    states = scheme.states
    column = {name: np.array([getattr(state, name) for state in states]) for name in State._fields}
    flags: Any = {name: column[name].astype(np.int8) for name in ("table", "to_aux", "decides")}
    for name in ("keep", "leave", "turn", "none"):
        after = np.where(column[name] < 0, np.arange(len(states)), column[name])
        flags[name] = after.astype(np.int16)
    behind = column["behind"].astype(np.int16)
    automaton = tables.Automaton(kind, behind, column["vcs"], column["eject"], **flags)
    found = tables.hop_tables(network, num_vcs, listed, automaton, **scheme.more)
    routing = VirtualChannelRouting(
        function, network, found, uses_credits=scheme.uses_credits, minimal=scheme.minimal
    )
    return routing, scheme.difference


def _listed(network: Topology, steps: Steps) -> tables.NextPorts:
    """Return steps as lists of ports, equal ones once, with the hops to each goal."""
    goals = len(steps)
    lists, place = np.unique(steps.reshape(goals * goals, -1), axis=0, return_inverse=True)
    found, starts = [0], np.zeros(len(lists), np.int32)
    for number, each in enumerate(lists.tolist()):
        said = [port for port in each if port >= 0]
        if said:
            starts[number] = len(found)
            found += [len(said), *said]
    hops = _hops(network, steps[:, :, 0]).ravel()
    return tables.NextPorts(goals, starts[place.ravel()], np.array(found, np.int16), hops)


def _hops(network: Topology, first: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return int16[routers, goals], the hops by the first ports, or -1 if there is no way."""
    outward, _ = tables.channels_at_ports(network)
    behind = np.append(network.routers.channel_target, 0)
    behind = behind[np.where(outward < network.num_network_channels, outward, -1)]
    leads, goal = first >= 0, np.arange(len(first))
    ahead = behind[goal[:, None], np.where(leads, first, 0)]
    hops = np.where(np.eye(len(first), dtype=bool), 0, -1)
    for _ in goal:
        fresh = leads & (hops < 0) & (hops[ahead, goal] >= 0)
        if not fresh.any():
            break
        hops = np.where(fresh, hops[ahead, goal] + 1, hops)
    lost = np.argwhere(leads & (hops < 0)).tolist()
    if lost:
        found = f"packets from router {lost[0][0]} to {lost[0][1]} that go to and fro for ever"
        raise InputError(network.name, found, "another routing")
    return hops.astype(np.int16)


# Ways.


def _one(ports: Ints) -> Steps:
    """Return steps of one port each from [routers, routers], none from a router to itself."""
    found = ports.astype(np.int16)
    np.fill_diagonal(found, -1)
    return found[:, :, None]


def up_and_down(shape: Shape) -> Steps:
    """Return the ways of a fat tree: down where the goal, a leaf, is below. Else any port up."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    steps = np.full((n * width, n * width, k), -1, np.int16)
    place, leaf = np.arange(width)[:, None], np.arange(width)
    goals = slice((n - 1) * width, None)
    for level in range(n):
        weight = k ** (n - 2 - level) if level < n - 1 else 1
        below = place // (k ** (n - 1 - level)) == leaf // (k ** (n - 1 - level))
        first = k if level < n - 1 else 0  # a leaf's ports down are hosts
        up = first + np.arange(k)
        down = np.full((width, width, k), -1)
        if level < n - 1:
            down[:, :, 0] = leaf // weight % k
        steps[level * width :][:width, goals] = np.where(below[:, :, None], down, up)
    return steps


def through_stages(shape: Shape) -> Steps:
    """Return the way of a butterfly: each stage sets a digit of the goal, the highest first."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    ports = np.full((n * width, n * width), -1)
    place, goal = np.arange(width)[:, None], np.arange(width)
    for stage in range(n - 1):
        weight = k ** (n - 2 - stage)
        comes = place // (weight * k) == goal // (weight * k)
        ahead = np.where(comes, goal // weight % k, -1)
        ports[stage * width :][:width, (n - 1) * width :] = ahead
    return _one(ports)


def by_digits(shape: Shape, *, falling: bool = False) -> Steps:
    """Return dimension order of a flattened butterfly, the lowest digit first or last."""
    k, n = shape.k, shape.n
    router, goal = np.arange(k**n)[:, None], np.arange(k**n)
    ports = np.full((k**n, k**n), -1)
    axes = range(n) if falling else reversed(range(n))
    for axis in axes:  # what is set last is taken first
        own, other = router // k**axis % k, goal // k**axis % k
        rank = axis * (k - 1) + other - (other > own)
        ports = np.where(own != other, rank, ports)
    return _one(ports)


def on_grid(shape: Shape, *, y_first: bool = False, express: int = 0) -> Steps:
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
    if y_first:
        return _one(np.where(dy != 0, along_y, along_x))
    return _one(np.where(dx != 0, along_x, along_y))


def by_groups(shape: Shape) -> Steps:
    """Return the ways of a dragonfly: to the router with the link to the goal's group, and on."""
    p = shape.k
    a = 2 * p
    routers = a * (a * p + 1)
    router, goal = np.arange(routers)[:, None], np.arange(routers)
    group, own, other = router // a, router % a, goal // a
    link = other - (other > group)
    door = np.where(other == group, goal % a, link // p)
    local = door - (door > own)
    return _one(np.where((other != group) & (door == own), a - 1 + link % p, local))


def in_tree4(_: Shape, *, first_only: bool = False) -> Steps:
    """Return the ways of ``tree4``: any port up, and either router of the goal's quarter down.

    ``first_only``: the first port up, as ``anca`` has it.
    """
    steps = np.full((28, 28, 4), -1, np.int16)
    leaf = np.arange(16)
    quarter = leaf // 4
    goals = slice(12, None)
    steps[:4, goals, 0], steps[:4, goals, 1] = 2 * quarter, 2 * quarter + 1
    ups = 1 if first_only else 4
    below = np.arange(8)[:, None] // 2 == quarter
    steps[4:12, goals, 0] = np.where(below, leaf % 4, 4)
    for port in range(1, ups):
        steps[4:12, goals, port] = np.where(below, -1, 4 + port)
    apart = leaf[:, None] != leaf
    for port in range(min(ups, 2)):
        steps[12:, goals, port] = np.where(apart, port, -1)
    return steps


def in_qtree(_: Shape) -> Steps:
    """Return the way of ``qtree``."""
    ports = np.full((21, 21), -1)
    leaf = np.arange(16)
    ports[0, 5:] = leaf // 4
    ports[1:5, 5:] = np.where(np.arange(4)[:, None] == leaf // 4, leaf % 4, 4)
    ports[5:, 5:] = 0
    return _one(ports)


def by_latency(network: Topology) -> Steps:
    """Return the way of least latency of an anynet, ties as the reference settles them.

    From each router, routers are settled in order of latency, then number. Neighbours are looked
    at in order of number, and only a smaller latency counts.
    """
    routers, wired = network.routers, tables.hosted_ports(network)
    offsets, channels = routers.outgoing()
    out = [
        sorted((int(routers.channel_target[c]), int(c)) for c in channels[first:last])
        for first, last in pairwise(offsets.tolist())
    ]
    ports = np.full((len(out), len(out)), -1)
    for start in range(len(out)):
        latency, first, settled = {start: 0}, {start: -1}, set()
        queue = [(0, start)]
        while queue:
            so_far, here = heapq.heappop(queue)
            if here in settled:
                continue
            settled.add(here)
            for there, channel in out[here]:
                found = so_far + int(routers.channel_cycles[channel])
                if there not in latency or found < latency[there]:
                    latency[there] = found
                    first[there] = channel if here == start else first[here]
                    heapq.heappush(queue, (found, there))
        for goal, channel in first.items():
            ports[start, goal] = wired.out_port[channel] if channel >= 0 else -1
    return _one(ports)


# Parts of schemes.


def _lower(num_vcs: int) -> int:
    return tables.bits(num_vcs - num_vcs // 2)


def _upper(num_vcs: int) -> int:
    return tables.bits(num_vcs) ^ tables.bits(num_vcs // 2)


def _needs(network: Topology, num_vcs: int, least: int, most: int = 64) -> None:
    if not least <= num_vcs <= most:
        wanted = f"{least} VCs" if least == most else f"at least {least} VCs"
        raise InputError(network.name, f"{num_vcs} VC{'s' * (num_vcs != 1)}", wanted)


def _any_vc(steps: Callable[[Shape], Steps], **more: Any) -> Making:
    """Return the scheme of one set of ways, in any VC."""

    def scheme(shape: Shape, _: Topology, num_vcs: int) -> Scheme:
        state = State((0,), tables.bits(num_vcs), tables.bits(num_vcs))
        fields = {"more": {"choice": tables.DRAWN}, **more}
        return Scheme([steps(shape)], [state], **fields)

    return scheme


def _two_orders(
    first: Callable[[Shape], Steps], second: Callable[[Shape], Steps], *, by_credits: bool = False
) -> Making:
    """Return the scheme of two sets of ways, each with its half of the VCs. The source decides.

    By a coin, or by what is used of the first  If they are equal, by a coin.
    """

    def scheme(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
        _needs(network, num_vcs, 2)
        every = tables.bits(num_vcs)
        states = [
            State((0,), every, every, decides=True, keep=1, leave=2, none=1),
            State((1,), _lower(num_vcs), every),
            State((2,), _upper(num_vcs), every, table=1),
        ]
        routers = np.arange(network.num_routers)
        if by_credits:
            goals = list(routers[:, None])
            more = {"detour": tables.LOCAL, "weight": 1, "detour_weight": 1, "even_by_coin": 1}
            more |= detour_lists(routers, [goals] * len(routers))
        else:
            more = {"detour": tables.ALWAYS} | detour_lists(0 * routers, [[np.array([-1, 0])]])
        difference = ORDER_IN_VC if num_vcs % 2 else ""
        ways = [first(shape), second(shape)]
        return Scheme(ways, states, None, more, by_credits, difference=difference)

    return scheme


def _flatfly_valiant(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router first, in the lower VCs. The upper ones from there on."""
    routers = np.arange(network.num_routers)
    more = {"detour": tables.ALWAYS} | detour_lists(0 * routers, [[routers]])
    return Scheme([by_digits(shape)], _by_a_router(network, num_vcs), None, more, minimal=False)


def _flatfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """A router with other digits where source and goal differ, if queues times hops are shorter."""
    states, routers = _by_a_router(network, num_vcs), network.num_routers
    states[1] = states[1]._replace(eject=0)
    check_size(routers**2 * (routers + 1), where=network.name, what="detours of ugal")
    digits = np.stack(np.unravel_index(np.arange(routers), [shape.k] * shape.n), axis=1)[:, ::-1]
    lists = [[_between(shape.k, one, other) for other in digits] for one in digits]
    for router in range(routers):
        lists[router][router] = lists[router][router][:0]
    more = {"detour": tables.LOCAL, "threshold": FLATFLY_THRESHOLD}
    more |= detour_lists(np.arange(routers), lists)
    return Scheme([by_digits(shape)], states, None, more, uses_credits=True, minimal=False)


def _by_a_router(network: Topology, num_vcs: int) -> list[State]:
    """Return the states of packets that go to a router first, in the lower VCs."""
    _needs(network, num_vcs, 2)
    every = tables.bits(num_vcs)
    return [
        State((0,), every, every, decides=True, keep=2, leave=1, none=2),
        State((1,), _lower(num_vcs), every, to_aux=True, turn=2),
        State((2,), _upper(num_vcs), every),
    ]


def _between(base: int, one: Ints, other: Ints) -> Ints:
    """Return the routers with any digit where two routers differ, and theirs where they do not.

    Digits are those of the routers' numbers, the lowest first.
    """
    routers = np.zeros(1, np.int64)
    for axis, (mine, goal) in enumerate(zip(one, other, strict=True)):
        these = np.array([mine]) if mine == goal else np.arange(base)
        routers = (routers[:, None] + these * base**axis).ravel()
    return routers


def _group_of(shape: Shape, network: Topology) -> tuple[Ints, NDArray[np.int8]]:
    """Return the group of each router of a dragonfly, and 1 for the channels between groups."""
    group = np.arange(network.num_routers) // (2 * shape.k)
    ends = network.routers.channel_source, network.routers.channel_target
    return group, np.asarray(group[ends[0]] != group[ends[1]], np.int8)


def _dragonfly_min(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """VC 0 up to the global channel, VC 1 on it and behind. VC 0 within a group."""
    _needs(network, num_vcs, 2)
    states = [State((0, 1), 1, 1), State((1, 1), 2, 2)]
    return Scheme([by_groups(shape)], states, _group_of(shape, network)[1])


def _dragonfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router of another group first, in VC 0, if that queue is shorter by far.

    Then, and on minimal ways, VC 1 up to the global channel and VC 2 from it on. VC 2 within a
    group.
    """
    _needs(network, num_vcs, 3, 3)
    states = [
        State((0, 0), 1, 4, decides=True, keep=1, leave=3, none=2),
        State((1, 2), 2, 2),
        State((2, 2), 4, 4),
        State((3, 3), 1, 0, to_aux=True, turn=1),
    ]
    group, kind = _group_of(shape, network)
    groups, nothing = np.arange(group[-1] + 1), np.zeros(0, np.int32)
    # a router of one's own group: no detour
    drawn = [np.where(group == own, -1, np.arange(len(group))) for own in groups]
    lists = [[nothing if own == goal else drawn[own] for goal in groups] for own in groups]
    more = {
        "detour": tables.LOCAL,
        "threshold": DRAGONFLY_THRESHOLD,
        "weight": 1,
        "detour_weight": 2,
    }
    more |= detour_lists(group, lists)
    return Scheme([by_groups(shape)], states, kind, more, uses_credits=True, minimal=False)


def _anynet_min(_: Shape, network: Topology, num_vcs: int) -> Scheme:
    return Scheme([by_latency(network)], [State((0,), tables.bits(num_vcs), tables.bits(num_vcs))])


ROUTINGS: dict[str, dict[str, Making]] = {
    "fattree": {
        "nca": _any_vc(up_and_down),
        "anca": _any_vc(up_and_down, more={"choice": tables.TWO}, uses_credits=True),
    },
    "flatfly": {
        "ran_min": _any_vc(by_digits),
        "xyyx": _two_orders(by_digits, partial(by_digits, falling=True)),
        "adaptive_xyyx": _two_orders(by_digits, partial(by_digits, falling=True), by_credits=True),
        "valiant": _flatfly_valiant,
        "ugal": _flatfly_ugal,
    },
    "cmesh": {
        # express links where they do not lead past the goal
        "dor": _any_vc(lambda shape: on_grid(shape, express=max(shape.k // 2, 1))),
        "dor_no_express": _any_vc(on_grid),
        "xy_yx": _two_orders(
            partial(on_grid, express=2), partial(on_grid, express=2, y_first=True)
        ),
        "xy_yx_no_express": _two_orders(on_grid, partial(on_grid, y_first=True)),
    },
    "dragonflynew": {"min": _dragonfly_min, "ugal": _dragonfly_ugal},
    "fly": {"dest_tag": _any_vc(through_stages)},
    "tree4": {
        "nca": _any_vc(in_tree4),
        "anca": _any_vc(partial(in_tree4, first_only=True)),
    },
    "qtree": {"nca": _any_vc(in_qtree)},
    "anynet": {"min": _anynet_min},
}
"""What makes each routing function, by network and name there."""
