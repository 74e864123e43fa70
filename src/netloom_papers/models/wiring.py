"""What a topology costs in wires, and what those wires leave of its bandwidth.

Chittor 1991, chapter 2: nodes are laid out on a line, and the cut widths of the layout count the
links that must run side by side past each position. Networks compared at equal wire density may
have channels as wide as their peak widths differ. The errata that the docstrings name are those
that an independent reproduction of the chapter found.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.topology import Topology
from netloom.topology.core import way_back
from netloom.topology.measures import check_direct

Delay: TypeAlias = Literal["constant", "logarithmic", "linear"]
"""How the rate of a wire falls with its length l: not at all, as 1/(1 + ln l), or as 1/l."""

Form: TypeAlias = Literal["exact", "chittor-1991"]
"""The theorems multiplied out without approximation, or the approximations that were printed."""

DELAYS: tuple[Delay, ...] = get_args(Delay)

Distance: TypeAlias = Literal["neighbours", "average", "worst"]
"""Path lengths that a speedup assumes: 1 hop, the mean over pairs of nodes, or the diameter."""

MOST_NODES_EXACT = 20
"""Largest network whose layouts are all searched: memory and time grow as 2^N."""

MANY = 2**31
"""More links than there are."""


def cut_widths(topology: Topology) -> Ints:
    """Return η(k): the links that join a node up to k to one after k (Chittor 1991, definition 14).

    Nodes stand in the order of their numbers: the identity layout. A pair of opposite channels is
    one link, and so is a one-way channel.

    Returns
    -------
    widths
        int64[num_nodes], in links. The last is 0.

    Examples
    --------
    >>> from netloom.topology import hypercube
    >>> cut_widths(hypercube(3))
    array([3, 4, 5, 4, 5, 4, 3, 0])
    """
    opened, closed = (np.bincount(ends, minlength=topology.num_hosts) for ends in _links(topology))
    return np.cumsum(opened - closed, dtype=np.int64)


def peak_width(topology: Topology) -> int:
    """Return the largest cut width, in links (Chittor 1991, definition 17).

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> peak_width(mesh(4, 4))
    5
    """
    return int(cut_widths(topology).max())


def layout_bisection(topology: Topology) -> int:
    """Return the links that join the two halves of the nodes: η(N/2 − 1), floored for odd N.

    Definition 15 of Chittor 1991 prints η(N/2), which under definition 14 parts N/2 + 1 nodes
    from N/2 − 1. The values that the thesis quotes are those of N/2 − 1.

    Examples
    --------
    >>> from netloom.topology import hypercube
    >>> layout_bisection(hypercube(3))
    4
    """
    half = topology.num_hosts // 2
    return int(cut_widths(topology)[half - 1]) if half else 0


def minimum_peak_width(topology: Topology) -> int:
    """Return the smallest peak width over *all* layouts, in links: the topology's peak width η_m.

    Exact, by dynamic programming over the 2^N sets of nodes that can fill the first positions.
    The problem (minimum cut linear arrangement) is NP-hard.

    Raises
    ------
    InputError
        If the network has more than 20 nodes.

    Examples
    --------
    >>> from netloom.topology import hypercube, mesh
    >>> minimum_peak_width(hypercube(4)), minimum_peak_width(mesh(3, 3))
    (10, 4)
    """
    if topology.num_hosts > MOST_NODES_EXACT:
        wanted = f"at most {MOST_NODES_EXACT} to search every layout"
        raise InputError(topology.name, f"{topology.num_hosts} nodes", wanted)
    nodes = range(topology.num_hosts)
    sets = np.arange(1 << len(nodes))
    inside = [(sets >> node & 1).astype(bool) for node in nodes]
    cut = np.zeros(len(sets), np.int64)
    for one, other in zip(*_links(topology), strict=True):
        cut += inside[one] != inside[other]
    # The least peak with which a set can fill the first positions. Its last node is any of it.
    best, sizes = cut.copy(), np.sum(inside, axis=0)
    for size in range(1, len(nodes) + 1):
        some = sets[sizes == size]
        without = [np.where(inside[last][some], best[some ^ 1 << last], MANY) for last in nodes]
        best[some] = np.maximum(cut[some], np.min(without, axis=0))
    return int(best[-1])


def hypercube_peak_width(dimension: int) -> int:
    """Return the peak width of a hypercube of 2^dimension nodes: floor(2N/3) (theorem 2).

    The identity layout is the best one (Hart, *A note on the edges of the n-cube*, 1976), so this
    is the smallest over all layouts.

    Examples
    --------
    >>> [hypercube_peak_width(n) for n in (1, 2, 3, 4, 8)]
    [1, 2, 5, 10, 170]
    """
    if dimension < 1:
        raise InputError("dimension", str(dimension), "at least 1")
    return (2 << dimension) // 3


def mesh_peak_width(side: int) -> int:
    """Return the peak width of a side × side mesh in its identity layout: side + 1 (theorem 3).

    The theorem fails for 2 × 2, whose peak width is 2, and for the single node. No better layout
    exists for 3 × 3 and 4 × 4 (``minimum_peak_width``). Beyond that it is assumed.

    Examples
    --------
    >>> [mesh_peak_width(side) for side in (1, 2, 3, 4, 8)]
    [0, 2, 4, 5, 9]
    """
    if side < 1:
        raise InputError("side", str(side), "at least 1")
    return side + 1 if side > 2 else 2 * (side - 1)


def channel_width_ratio(num_nodes: ArrayLike, *, form: Form = "exact") -> Floats:
    """Return how many times wider a mesh's channels can be than a hypercube's (theorem 4).

    At equal peak density the widths are inversely as the peak widths: floor(2N/3) / (√N + 1).

    Parameters
    ----------
    num_nodes
        int, powers of two from 4, scalar or array. Where √N is not whole no square mesh exists
        and the formula interpolates, as the thesis does at 128 and 512 nodes.
    form
        ``chittor-1991`` gives the printed approximation 2√N/3, which is 14 % above the exact
        ratio at 64 nodes and 6.7 % above it at 256.

    Returns
    -------
    ratio
        float64, of the shape of ``num_nodes``.

    Raises
    ------
    InputError
        If a number of nodes is not a power of two from 4.

    Examples
    --------
    >>> channel_width_ratio([64, 256]).round(2)
    array([ 4.67, 10.  ])
    >>> channel_width_ratio(256, form="chittor-1991").round(2)
    np.float64(10.67)
    """
    nodes = _node_counts(num_nodes, form)
    root = np.sqrt(nodes)
    if form == "chittor-1991":
        return np.asarray(2 * root / 3)
    return np.asarray((2 * nodes // 3) / np.where(nodes == 4, 2, root + 1))


def wire_length_ratio(num_nodes: ArrayLike) -> Floats:
    """Return the least ratio of a hypercube's longest wire to a mesh's, in a square layout.

    (√(2N) − √2) / lg N (Chittor 1991, theorem 5): two opposite corners of the square lie
    (√(2N) − √2) node widths apart and at most lg N wires join them. It is a lower bound. Below
    16 nodes it is under 1 and says nothing.

    ``num_nodes`` as for ``channel_width_ratio``.

    Examples
    --------
    >>> wire_length_ratio(256).round(4)
    np.float64(2.6517)
    """
    nodes = _node_counts(num_nodes)
    return np.asarray((np.sqrt(2 * nodes) - np.sqrt(2)) / np.log2(nodes))


def channel_rate_ratio(num_nodes: ArrayLike, delay: Delay, *, form: Form = "exact") -> Floats:
    """Return how many times faster a mesh's wires can be clocked than a hypercube's (theorem 6).

    With r the ratio of the longest wires (``wire_length_ratio``): 1 for a constant delay,
    1 + ln r for a logarithmic one, r for a linear one.

    Parameters
    ----------
    num_nodes
        As for ``channel_width_ratio``.
    delay
        ``constant``, ``logarithmic`` or ``linear`` in the length of the wire.
    form
        ``chittor-1991`` gives, for the logarithmic delay, the printed (3.89 + lg N − 2 lg lg N) /
        2.89, which leaves −√2 out of r and rounds 1 + 2 lg e and 2 lg e. The last two lines of
        the printed proof have + 2 lg lg N, a misprint.

    Raises
    ------
    InputError
        If a number of nodes is not a power of two from 4, or the delay is not known.

    Examples
    --------
    >>> [float(channel_rate_ratio(256, d).round(4)) for d in ("constant", "logarithmic", "linear")]
    [1.0, 1.9752, 2.6517]
    """
    nodes = _node_counts(num_nodes, form, delay)
    ratio = wire_length_ratio(nodes)
    if delay == "constant":
        return np.ones_like(ratio)
    if delay == "linear":
        return ratio
    lg = np.log2(nodes)
    printed = (3.89 + lg - 2 * np.log2(lg)) / 2.89
    return np.asarray(printed if form == "chittor-1991" else 1 + np.log(ratio))


def channel_bandwidth_ratio(
    num_nodes: ArrayLike, delay: Delay = "constant", *, form: Form = "exact"
) -> Floats:
    """Return R_b: a mesh's channel bandwidth over a hypercube's of the same size and wiring.

    The ratio of widths times the ratio of rates (Chittor 1991, eq. 2.18 and theorem 7).

    Parameters
    ----------
    num_nodes, delay
        As for ``channel_rate_ratio``, errors too.
    form
        ``chittor-1991`` gives Table 2.1 as printed: 2√N/3, √N (3.89 + lg N − 2 lg lg N) / 4.33 and
        2√2 N / (3 lg N), which leaves −√2 out of the linear ratio.

    Examples
    --------
    >>> channel_bandwidth_ratio([64, 1024], "linear", form="chittor-1991").round(2)
    array([10.06, 96.54])
    """
    nodes = _node_counts(num_nodes, form, delay)
    if form != "chittor-1991" or delay == "constant":
        return channel_width_ratio(nodes, form=form) * channel_rate_ratio(nodes, delay, form=form)
    lg = np.log2(nodes)
    if delay == "linear":
        return np.asarray(2 * np.sqrt(2) * nodes / (3 * lg))
    return np.asarray(np.sqrt(nodes) * (3.89 + lg - 2 * np.log2(lg)) / 4.33)


def speedup(
    num_nodes: ArrayLike,
    message_headers: ArrayLike,
    *,
    delay: Delay = "constant",
    distance: Distance = "average",
    form: Form = "exact",
) -> Floats:
    """Return R_e: how many times sooner a message arrives on a mesh, without contention.

    R_b (D_h + L') / (D_m + L') with D the path lengths on the two networks and L' = L/H the
    message length in headers (Chittor 1991, eqs. 2.17, 2.20–2.23).

    Parameters
    ----------
    num_nodes, delay
        As for ``channel_rate_ratio``.
    message_headers
        Message length over header length, at least 0, scalar or array. The two broadcast.
    distance
        ``neighbours`` (1 hop on both, eq. 2.17), ``average`` (eq. 2.22) or ``worst`` (eq. 2.23).
    form
        ``chittor-1991`` takes R_b from Table 2.1 and lg N / 2 for the hypercube's average
        distance, which counts a node's distance to itself too, as the mesh's 2√N/3 does not.
        ``exact`` takes distinct nodes on both.

    Raises
    ------
    InputError
        If an argument is out of range or not known.

    Examples
    --------
    >>> speedup(256, [10, 100], form="chittor-1991").round(3)
    array([ 7.226, 10.024])
    """
    nodes = _node_counts(num_nodes, form, delay, distance)
    length = np.asarray(message_headers, dtype=np.float64)
    if not np.all(length >= 0):
        raise InputError("message_headers", str(length.min()), "lengths of at least 0")
    root, lg = np.sqrt(nodes), np.log2(nodes)
    on_cube, on_mesh = np.ones(nodes.shape), np.ones(nodes.shape)  # eq. 2.21
    if distance == "worst":
        on_cube, on_mesh = lg, 2 * (root - 1)
    elif distance == "average":
        on_cube = lg / 2 * (1 if form == "chittor-1991" else nodes / (nodes - 1))
        on_mesh = 2 * root / 3
    ratio = channel_bandwidth_ratio(nodes, delay, form=form)
    return ratio * (on_cube + length) / (on_mesh + length)


def _links(topology: Topology) -> tuple[Ints, Ints]:
    """Return the two nodes of every link, the lower first, each link once."""
    check_direct(topology, "wiring", "its routers alone, topology.routers")
    back = way_back(topology)
    each = np.flatnonzero((back < 0) | (np.arange(len(back)) < back))
    ends = topology.channel_source[each], topology.channel_target[each]
    return np.minimum(*ends), np.maximum(*ends)


def _node_counts(
    num_nodes: ArrayLike, form: str = "exact", delay: str = "constant", distance: str = "average"
) -> Ints:
    """Return the sizes, if they and all choices are known."""
    chosen = {"form": (form, Form), "delay": (delay, Delay), "distance": (distance, Distance)}
    for field, (value, known) in chosen.items():
        *choices, last = get_args(known)
        if value not in (*choices, last):
            raise InputError(field, f"'{value}'", f"{', '.join(choices)} or {last}")
    nodes = np.asarray(num_nodes)
    wanted = "powers of two from 4, the sizes of hypercubes"
    if nodes.dtype.kind not in "iu":
        raise InputError("num_nodes", f"values of type {nodes.dtype}", wanted)
    nodes = nodes.astype(np.int64)
    wrong = (nodes < 4) | (nodes & (nodes - 1) != 0)
    if wrong.any():
        raise InputError("num_nodes", str(nodes[wrong].flat[0]), wanted)
    return nodes
