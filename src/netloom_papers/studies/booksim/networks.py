"""The networks of BookSim 2 whose hosts are not routers, and its traffic on their hosts.

Wiring, numbers and latencies are its own. Channels are numbered by the router that they leave, then
by its output port there, hosts' ports left out. So are output ports, which lets routing functions
name a channel as that simulator does. Traffic is on the hosts' numbers alone, the source itself
included, and every host sends at the same rate. Read in its source (commit 28f43299), in our own
words.
"""

from __future__ import annotations

import re
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import check_sizes
from netloom.topology.subnets.files import read_fabric
from netloom.workload import ProcessGraph, Traffic, traffic
from netloom.workload.graphs import permutations
from netloom.workload.traffic.targets import merged, weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netloom.base.arrays import Ints

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
    "bitcomp": _of_bits(permutations.bit_complement),
    "bitrev": _of_bits(permutations.bit_reverse),
    "shuffle": _of_bits(permutations.shuffle),
    "transpose": _of_bits(permutations.transpose, even=True),
    "tornado": _of_digits(permutations.tornado),
    "neighbor": _of_digits(permutations.neighbour),
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
