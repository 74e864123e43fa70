"""The networks of BookSim 2 whose hosts are not routers: its wiring, numbers and latencies.

Channels are numbered by the router that they leave, then by its output port there, hosts' ports
left out. So are output ports, which lets routing functions name a channel as that simulator does.
Read in its source (commit 28f43299), in our own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import check_sizes
from netloom.topology.subnets.files import read_fabric

if TYPE_CHECKING:
    from collections.abc import Callable

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


class _Links(NamedTuple):
    """Channels between routers, int[num_channels] each: where they leave and enter, and cycles.

    ``rank``: orders those that leave a router as its output ports are.
    """

    source: Ints
    rank: Ints
    target: Ints
    cycles: Ints


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
    return KINDS[shape.kind](shape)


def _made(
    shape: Shape,
    num_routers: int,
    links: list[_Links],
    host_router: Ints,
    **more: Any,
) -> Topology:
    joined = _Links(*(np.concatenate(column) for column in zip(*links, strict=True)))
    order = np.lexsort((joined.rank, joined.source))
    source, _, target, cycles = (column[order].astype(np.int32) for column in joined)
    routers = Topology(shape.name, num_routers, source, target, channel_cycles=cycles)
    return attach_hosts(routers, host_router, name=shape.name, **more)


def _links(source: Any, rank: Any, target: Any, cycles: Any = 1) -> _Links:
    """Return channels from arrays that can be broadcast together."""
    arrays = np.broadcast_arrays(*(np.asarray(each, np.int64) for each in (source, rank, target)))
    cycles = np.broadcast_to(np.asarray(cycles, np.int64), arrays[0].shape)
    return _Links(*(each.ravel() for each in (*arrays, cycles)))


def _refused(shape: Shape, found: str, wanted: str) -> InputError:
    return InputError(shape.name, found, wanted)


def _check(shape: Shape, hosts: int, routers: int, channels: int) -> None:
    check_sizes(shape.name, hosts=hosts, routers=routers, channels=channels + 2 * hosts)


def _fattree(shape: Shape) -> Topology:
    """Make a k-ary n-tree: level 0 are the roots, the leaves' ports down are hosts."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    _check(shape, k * width, n * width, 2 * (n - 1) * k * width)
    places, digit = np.arange(width)[:, None], np.arange(k)
    links = [_links([], [], [])]
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
        raise _refused(shape, f"{routers} routers in rows of x = {x}", wanted)
    return router


def _flatfly(shape: Shape) -> Topology:
    """Make a flattened butterfly: routers that differ in one base-k digit are joined."""
    k, n, x, xr = shape.k, shape.n, shape.x, shape.xr
    if shape.c != xr * xr:
        raise _refused(shape, f"c = {shape.c} with xr = {xr}", "c = xr · yr, xr = yr")
    if n > 4 or x < 1:
        raise _refused(shape, f"n = {n}, x = {x}", "n of at most 4, x of at least 1")
    routers = k**n
    _check(shape, routers * shape.c, routers, routers * (k - 1) * n)
    router, digit = np.arange(routers)[:, None], np.arange(k)
    links = [_links([], [], [])]
    for axis in range(n):
        weight = k**axis
        other = router + (digit - router // weight % k) * weight
        apart = other != router
        here = np.broadcast_to(router, other.shape)[apart]
        there = other[apart]
        length = xr * (np.abs(here % x - there % x) + np.abs(here // x - there // x))
        rank = np.broadcast_to(axis * k + digit, other.shape)[apart]
        links.append(_links(here, rank, there, length if shape.by_length else 1))
    hosts = _on_floor(shape, routers)
    cycles = _host_cycles(shape, hosts) if shape.by_length else 1
    return _made(shape, routers, links, hosts, cycles=cycles)


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
        raise _refused(shape, found, "an even k, n = 2, c = 4, xr = yr = 2")
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
        raise _refused(shape, f"n = {shape.n}", "n = 1")
    a = 2 * p
    groups = a * p + 1
    routers = a * groups
    _check(shape, routers * p, routers, routers * (a - 1 + p))
    router, other = np.arange(routers)[:, None], np.arange(a)
    group, own = router // a, router % a
    apart = np.broadcast_to(other, (routers, a)) != own
    local = _links(
        np.broadcast_to(router, apart.shape)[apart],
        np.broadcast_to(other, apart.shape)[apart],
        (group * a + other)[apart],
        LOCAL_CYCLES,
    )
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
    links = [_links([], [], [])]
    for stage in range(1, n):
        weight = k ** (n - 1 - stage)
        other = place + (digit - place // weight % k) * weight
        links.append(_links((stage - 1) * width + place, digit, stage * width + other))
    first = np.arange(k * width) // k
    return _made(shape, n * width, links, first, ejection=first + (n - 1) * width)


def _tree4(shape: Shape) -> Topology:
    """Make a tree of 4 roots, 8 routers and 16 leaves: routers 0 …, 4 …, 12 … here."""
    if (shape.k, shape.n) != (4, 3):
        raise _refused(shape, f"k = {shape.k}, n = {shape.n}", "k = 4, n = 3")
    root, middle = np.arange(4)[:, None], np.arange(8)
    links = [_links(root, middle, 4 + middle), _links(4 + middle, 4 + root, root)]
    middle, port = np.arange(8)[:, None], np.arange(4)
    leaf = 12 + 4 * (middle // 2) + port
    links += [_links(4 + middle, port, leaf), _links(leaf, 4 + middle % 2, 4 + middle)]
    return _made(shape, 28, links, 12 + np.arange(64) // 4)


def _qtree(shape: Shape) -> Topology:
    """Make a plain tree of 1 root, 4 routers and 16 leaves: routers 0, 1 …, 5 … here."""
    if (shape.k, shape.n) != (4, 3):
        raise _refused(shape, f"k = {shape.k}, n = {shape.n}", "k = 4, n = 3")
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
