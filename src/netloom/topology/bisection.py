"""Bisection width: the least bandwidth between two halves of the hosts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.cubes import Cube
from netloom.topology.distances import alike
from netloom.topology.family import HyperXShape, TreeShape

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.topology.core import Topology

MOST_ROUTERS_BY_SPECTRUM = 2048
"""Most routers of a network that is bounded by the eigenvalues of its matrix."""


def bisection_width(topology: Topology) -> float:
    """Return the least bandwidth of channels whose removal parts the hosts into two halves.

    In flits/cycle one way, which for channels all alike is also the number of links. If hosts
    are apart from routers, a link between a host and its router counts as any other. An odd number
    of hosts is halved to within one. Exact, for networks that ``bisection_bounds`` has exactly.

    Raises
    ------
    InputError
        If the width is not known exactly (the problem is NP-hard in general).

    Examples
    --------
    >>> from netloom.topology import hypercube, mesh, topology
    >>> bisection_width(hypercube(8)), bisection_width(mesh(8, 8)), bisection_width(mesh(3, 3))
    (128, 8, 4)
    >>> bisection_width(topology("fat-tree:k=8")), bisection_width(topology("leaf-spine:8x4x8"))
    (64.0, 16.0)
    """
    if topology.direct and not isinstance(topology, Cube):
        wanted = "a mesh, torus or hypercube, HyperX or tree; others have bisection_bounds"
        raise InputError(topology.name, "a general graph", wanted)
    lower, upper = bisection_bounds(topology)
    if lower != upper:
        found = f"a bisection width between {lower:.4g} and {upper:.4g}"
        raise InputError(topology.name, found, "a mesh, torus or hypercube, HyperX or full tree")
    return lower


def bisection_bounds(topology: Topology) -> tuple[float, float]:
    """Return a lower and an upper bound of the bisection width, equal where it is known.

    - k-ary n-cubes: halving cuts the dimension that is cheapest to cut. If its side is odd, the
      middle layer is itself halved in the next dimension, and so on until a side is even. Aroca &
      Fernández Anta, *Bisection (band)width of product networks*, 2014, prove this for arrays, and
      twice that for tori. A ring of k counts as a line of k/2 with twice the links. This was
      checked by exhaustion, mixed wraps included, up to 16 nodes. With several hosts per router it
      is exact if the cheapest side is even. The same cut then reaches the isoperimetric number, so
      that cutting off hosts one by one does not help (Azizoğlu & Eğecioğlu, *The bisection width
      and the isoperimetric number of arrays*, 2004).
    - HyperX: the best sets of any size of a product of complete graphs fill its largest sides
      first (Lindsey, *Assignment of numbers to vertices*, 1964). Of these, and hosts cut off
      beside, the best.
    - Trees whose links of a level are alike: let each host of one half send evenly to the other
      half over all links up. Level l of total bandwidth L_l then carries at most N/2 · N/L_l on the
      scale of its links. So min L_l/2 is a lower bound. Cutting off half of the subtrees below a
      level costs L_l/2.
    - Other networks with as many hosts on each router: λ₂·R/4 of the matrix of bandwidths
      (Donath & Hoffman 1973), and the best cut across the order of its second eigenvector.

    Raises
    ------
    InputError
        If hosts hang unevenly, channels lead one way only, or there are too many routers.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> bisection_bounds(topology("hyperx:4x4/4"))
    (16.0, 16.0)
    """
    routers = topology.routers
    if isinstance(topology.family, TreeShape):
        levels = _level_bandwidths(topology, topology.family)
        if levels is not None:
            return _tree_bounds(topology.family, levels)
    elif alike(topology) and topology.even:
        if isinstance(topology, Cube):
            width = _cube_width(topology)
            return width, width
        if isinstance(routers, Cube) and _cheapest_side(routers) % 2 == 0:
            least = min(float(_cube_width(routers)), topology.num_hosts / 2)
            return least, least
        if isinstance(routers.family, HyperXShape) and not topology.direct:
            hosts = topology.num_hosts // routers.num_vertices
            least = _hyperx_width(routers.family, hosts)
            return least, least
    return _spectral_bounds(topology)


def _cube_dimensions(cube: Cube) -> list[tuple[float, int, int]]:
    """Return length, side and links of each dimension, the one that is cheapest to cut first."""
    dimensions = [
        (side / 2 if wrap else float(side), side, 2 if wrap else 1)
        for side, wrap in zip(cube.sides, cube.wraps, strict=True)
        if side > 1
    ]
    return sorted(dimensions, reverse=True)


def _cheapest_side(cube: Cube) -> int:
    dimensions = _cube_dimensions(cube)
    return dimensions[0][1] if dimensions else 1


def _cube_width(cube: Cube) -> int:
    dimensions = _cube_dimensions(cube)
    width = 0
    for index, (_, side, links) in enumerate(dimensions):
        width += links * prod(other for _, other, _ in dimensions[index + 1 :])
        if side % 2 == 0:
            break
    return width


def _hyperx_width(shape: HyperXShape, hosts: int) -> float:
    """Return the least of links cut and hosts cut off, over how many routers a side has."""
    sides = sorted(shape.sides)  # the largest varies fastest
    routers = prod(sides)
    earlier = np.zeros(routers, np.int64)  # links from each router to those before it
    stride = routers
    for side in sides:
        stride //= side
        earlier += np.arange(routers) // stride % side
    size = np.arange(routers + 1)
    inside = np.append(0, np.cumsum(earlier))
    cut = shape.lanes * (size * sum(side - 1 for side in sides) - 2 * inside)
    return float((cut + _hosts_cut_off(size, hosts, routers)).min())


def _hosts_cut_off(size: Ints, hosts: int, routers: int) -> Ints:
    """Return how many hosts must leave the side of their routers for two halves of hosts."""
    half = hosts * routers // 2
    return np.minimum(abs(hosts * size - half), abs(hosts * (routers - size) - half))


def _level_bandwidths(topology: Topology, shape: TreeShape) -> list[float] | None:
    """Return the bandwidth upwards of each level's links together. None where links differ."""
    level_of = np.repeat(
        np.arange(shape.levels + 1), [shape.width(level) for level in range(shape.levels + 1)]
    )
    if shape.router_at is not None:
        placed = level_of[topology.num_hosts :].copy()
        level_of[topology.num_hosts + shape.router_at] = placed
    source, target = level_of[topology.channel_source], level_of[topology.channel_target]
    found = []
    for level in range(1, shape.levels + 1):
        up = topology.channel_bandwidth[(source == level - 1) & (target == level)]
        down = topology.channel_bandwidth[(source == level) & (target == level - 1)]
        if not (up == up[0]).all() or not (down == up[0]).all():
            return None
        found.append(float(up.sum()))
    return found


def _tree_bounds(shape: TreeShape, levels: list[float]) -> tuple[float, float]:
    hosts = shape.width(0)
    half = hosts // 2
    sizes = [prod(shape.children[:level]) for level in range(shape.levels)]
    each = [total * size / hosts for total, size in zip(levels, sizes, strict=True)]
    upper = []
    for first in range(shape.levels):
        left, cost = half, 0.0
        for size, links in zip(sizes[first::-1], each[first::-1], strict=True):
            cost += left // size * links
            left %= size
        upper.append(cost)
    return min(levels) / hosts * half, min(upper)


def _spectral_bounds(topology: Topology) -> tuple[float, float]:
    routers = topology.routers
    size = routers.num_vertices
    if not alike(topology) or size > MOST_ROUTERS_BY_SPECTRUM or size < 2:
        found = f"{size} routers with {topology.num_hosts} hosts"
        most = f"2 to {MOST_ROUTERS_BY_SPECTRUM} routers"
        raise InputError(topology.name, found, f"{most} with as many hosts each, nothing broken")
    between = np.zeros((size, size))
    ends = routers.channel_source, routers.channel_target
    np.add.at(between, ends, topology.channel_bandwidth[: routers.num_channels])
    if not np.array_equal(between, between.T):
        raise InputError(topology.name, "channels that differ by direction", "links both ways")
    values, vectors = np.linalg.eigh(np.diag(between.sum(axis=1)) - between)
    some = np.arange(size + 1)
    lower = np.maximum(values[1], 0) * some * (size - some) / size
    orders = (np.arange(size), np.argsort(vectors[:, 1], kind="stable"))
    upper = np.min([_cuts(between[np.ix_(order, order)]) for order in orders], axis=0)
    if topology.direct:
        return float(lower[size // 2]), float(upper[size // 2])
    ports = topology.channel_bandwidth[routers.num_channels :]
    if not (ports == ports[0]).all():
        raise InputError(topology.name, "host ports that differ", "all of one bandwidth")
    cut_off = ports[0] * _hosts_cut_off(some, topology.num_hosts // size, size)
    return float((lower + cut_off).min()), float((upper + cut_off).min())


def _cuts(between: Floats) -> Floats:
    """Return the bandwidth between the first s routers and the others, for s = 0 … size."""
    inside = np.cumsum(np.triu(between, 1).sum(axis=0))
    all_links = np.cumsum(between.sum(axis=1))
    return np.append(0, all_links - 2 * inside)
