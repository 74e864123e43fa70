"""Which output ports BookSim 2's routing functions take towards each router, as arrays.

Each function returns int16[routers, routers, several]: the ports of a router that lead on to a
goal, all equally good. Ports are the ranks that ``networks`` gives the channels. Rows are padded
with -1, and have only -1 if a packet never comes there or has arrived.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.routing.port_numbers import hosted_ports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology
    from netloom_papers.studies.booksim.networks import Shape

    Steps: TypeAlias = NDArray[np.int16]


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
    routers, wired = network.routers, hosted_ports(network)
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
