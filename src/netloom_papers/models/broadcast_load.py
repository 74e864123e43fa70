"""What unicast and broadcast messages put on the channels of each direction, exactly."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom_papers.programs.broadcast import Sent, direction_flits

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.topology import Cube
    from netloom.workload import Traffic

MOST_NODES = 4096
"""Largest network: all pairs of nodes are gone through."""

BLOCK_PAIRS = 2**20
"""Pairs of nodes at a time."""


def unicast_load(cube: Cube, traffic: Traffic) -> Floats:
    """Return flits per cycle on the channels of each direction, if every node sends one per cycle.

    On shortest paths, what goes just half-way round a ring half in each direction. The mean over
    the channels of a direction.

    The network has at most ``MOST_NODES`` nodes. Returns float64[n, 2], by dimension and direction
    (growing, falling coordinates); 0 where there are no channels.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload.traffic import uniform
    >>> unicast_load(torus(8, 8), uniform(64))[0] * 63  # 64 of 4 directions, k² k / 4 hops in each
    array([64., 64.])
    """
    nodes = cube.num_hosts
    assert nodes <= MOST_NODES
    block = max(BLOCK_PAIRS // nodes, 1)
    hops = np.zeros((len(cube.sides), 2))
    for start in range(0, nodes, block):
        source, target, weight = traffic.matrix(start, min(start + block, nodes))
        count = len(source)
        sent = Sent(
            birth=np.zeros(count, np.int64),
            broadcast=np.zeros(count, bool),
            offsets=np.arange(count + 1),
            source=source,
            target=target,
            flits=weight,  # type: ignore[arg-type]  # shares of a flit
            asked=np.ones(count, bool),
        )
        hops += direction_flits(cube, sent)[0]
    return cube.per_channel(hops * traffic.rate.sum())


def broadcast_load(cube: Cube, rate: Floats, tree: Literal["balanced", "row-first"]) -> Floats:
    """Return the flits per cycle on the channels of each direction, of broadcasts of one flit.

    A dimension that is crossed after others has a branch along it at every node of these. Row-first
    trees cross the last dimension first. Balanced ones cross them in any order, each as often, and
    lean either way. In a k x k torus of which every node broadcasts once a cycle, a balanced tree's
    mean is (k² − 1) / 4 on every channel (Shahrabi et al. 2002, eq. 4).

    ``rate`` is float64[num_nodes], broadcasts a cycle of each node. ``tree`` is that of
    ``BroadcastTraffic``. Returns float64[n, 2] as ``unicast_load`` does.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> broadcast_load(torus(8, 8), np.ones(64), "balanced")
    array([[15.75, 15.75],
           [15.75, 15.75]])
    >>> broadcast_load(torus(8, 8), np.ones(64), "row-first")
    array([[32., 24.],
           [ 4.,  3.]])
    """
    sides = np.array(cube.sides, np.float64)
    hops = np.zeros((len(sides), 2))
    for axis, side in enumerate(sides):
        grows = side // 2 if tree == "row-first" else (side - 1) / 2
        falls = side - 1 - grows
        if not cube.wraps[axis]:
            coordinate = np.arange(cube.num_hosts) // cube.strides[axis] % int(side)
            falls = float(rate @ coordinate) / rate.sum()
            grows = side - 1 - falls
        before = np.prod(sides[axis + 1 :]) if tree == "row-first" else _mean_before(sides, axis)
        hops[axis] = before * grows, before * falls
    return cube.per_channel(hops * rate.sum())


def class_loads(
    cube: Cube,
    traffic: Traffic,
    broadcast: float,
    tree: Literal["balanced", "row-first"],
    *,
    multicast: bool = False,
) -> Floats:
    """Return the flits per cycle on the channels of each direction, of messages of one flit.

    Each node sends its rate, of which a part is broadcast. By class (unicast, broadcast), dimension
    and direction, float64[2, n, 2]. NaN where no formula is at hand: multicasts, and unicast
    messages on more than ``MOST_NODES`` nodes.
    """
    found = np.full((2, len(cube.sides), 2), np.nan)
    if cube.num_hosts <= MOST_NODES:
        found[0] = (1 - broadcast) * unicast_load(cube, traffic)
    if not multicast:
        found[1] = broadcast * broadcast_load(cube, traffic.rate, tree)
    return found


def _mean_before(sides: Floats, axis: int) -> float:
    """Nodes that are reached by the dimensions crossed before one, mean over all orders.

    Over all orders, 0, 1, 2 ... dimensions before it are equally frequent, and so is each choice of
    them. So the mean product of p of them is an elementary symmetric polynomial / number of
    choices.
    """
    others = np.delete(sides, axis)
    count = len(others)
    products = np.atleast_1d(np.poly(-others))  # 1.0 if there are no others
    return float(np.mean([products[p] / comb(count, p) for p in range(count + 1)]))
