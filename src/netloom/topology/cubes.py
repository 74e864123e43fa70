"""k-ary n-cubes: lines, rings, meshes, tori, hypercubes and anything between, as one class.

Nodes are numbered row-major: the last coordinate varies fastest. Channels are numbered line by
line: all channels of one directed line are adjacent, in the order in which a packet crosses them.
This makes static analysis of these networks fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from netloom.base.arrays import NO_INT64S, Ints, offsets_of
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.topology.core import Topology


@dataclass(frozen=True, eq=False, repr=False)
class Cube(Topology):
    """A k-ary n-cube with a side and a wrap of its own in every dimension.

    A *directed line* is all channels that a packet can cross by moving in one dimension and one
    direction. It has ``line_channels[i]`` channels, and each direction of dimension ``i`` has
    ``num_nodes / sides[i]`` lines. Channel
    ``line_base[i, direction] + line * line_channels[i] + position`` is the one crossed at
    ``position``. Here ``direction`` is 0 for growing coordinates and 1 for falling ones.
    ``position`` counts along the direction of travel. ``line`` is the node's number without
    coordinate ``i``.

    Attributes
    ----------
    sides
        Nodes in each dimension.
    wraps
        Whether each dimension closes into a ring. A ring of two nodes is one link, as in most
        machines and tools, so a side of 1 or 2 never wraps.
    strides
        Difference in node number of neighbours in each dimension (int64[n]).
    line_channels
        Channels of one directed line in each dimension (int64[n]).
    line_base
        Number of the first channel of each dimension and direction (int64[n, 2]).
    """

    sides: tuple[int, ...] = ()
    wraps: tuple[bool, ...] = ()
    strides: Ints = field(default_factory=lambda: NO_INT64S)
    line_channels: Ints = field(default_factory=lambda: NO_INT64S)
    line_base: Ints = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    @property
    def direction_channels(self) -> Ints:
        """Channels in each direction of a dimension (int64[n])."""
        return self.num_routers // np.array(self.sides) * self.line_channels

    def coordinates(self, node: int) -> tuple[int, ...]:
        """Return the coordinates of ``node``, slowest first."""
        return tuple(
            int(node // stride % side)
            for side, stride in zip(self.sides, self.strides, strict=True)
        )

    def name_of(self, node: int) -> str:
        """Return its label, or its coordinates as ``(row,column)``. A number in one dimension."""
        if self.labels:
            return self.labels[node]
        at = self.coordinates(node)
        return str(at[0]) if len(at) == 1 else "(" + ",".join(map(str, at)) + ")"


def cube(sides: Sequence[int], wraps: Sequence[bool] | bool = False, *, name: str = "") -> Cube:  # noqa: FBT001, FBT002
    """Return the k-ary n-cube with these sides, open or wrapped in each dimension.

    Parameters
    ----------
    sides
        Nodes in each dimension, the slowest varying first.
    wraps
        One flag for all dimensions, or one a dimension. Sides of 1 and 2 never wrap.
    name
        The spec string. Made from sides and wraps where it is not given.

    Raises
    ------
    InputError
        If a side is not positive, or the network would be too large.

    Examples
    --------
    >>> cube([4, 4], wraps=[False, True])
    <cube:4x4w: 16 nodes, 56 directed channels>
    """
    sides = tuple(int(side) for side in sides)
    flags = (bool(wraps),) * len(sides) if isinstance(wraps, bool) else tuple(map(bool, wraps))
    marked = (f"{side}{'w' * flag}" for side, flag in zip(sides, flags, strict=False))
    label = name or "cube:" + "x".join(marked)
    if not sides or min(sides) < 1:
        raise InputError(label, f"sides {sides}", "one or more positive sides")
    if len(flags) != len(sides):
        raise InputError(label, f"{len(flags)} wraps", f"one for each of {len(sides)} sides")
    num_nodes = prod(sides)
    closed = tuple(flag and side > 2 for side, flag in zip(sides, flags, strict=True))
    line_channels = np.array(sides, np.int64) - np.logical_not(closed)
    lines = np.array([num_nodes // side for side in sides], np.int64)
    check_size(num_nodes, where=label, what="nodes")
    check_size(2 * int(lines @ line_channels), where=label, what="channels")
    strides = num_nodes // np.cumprod(np.array(sides, np.int64))
    sizes = np.repeat(lines * line_channels, 2)
    line_base = offsets_of(sizes)[:-1].reshape(-1, 2)
    # source and target of every channel, in the numbering of `Cube`
    nodes = np.arange(prod(sides), dtype=np.int32).reshape(sides)
    ends: list[tuple[Ints, Ints]] = []
    for axis, crossed in enumerate(line_channels):
        forward = np.moveaxis(nodes, axis, -1)
        ends.extend(
            (along[..., :crossed], np.roll(along, -1, axis=-1)[..., :crossed])
            for along in (forward, forward[..., ::-1])
        )
    source = np.concatenate([source.ravel() for source, _ in ends])
    target = np.concatenate([target.ravel() for _, target in ends])
    return Cube(
        label, num_nodes, source, target, (), sides, closed, strides, line_channels, line_base
    )


def mesh(*sides: int) -> Cube:
    """Return the mesh (open in all dimensions) with these sides.

    Examples
    --------
    >>> mesh(8, 8)
    <mesh:8x8: 64 nodes, 224 directed channels>
    """
    return cube(sides, wraps=False, name="mesh:" + "x".join(map(str, sides)))


def torus(*sides: int) -> Cube:
    """Return the torus (wrapped in all dimensions) with these sides.

    Examples
    --------
    >>> torus(4, 4, 2)
    <torus:4x4x2: 32 nodes, 160 directed channels>
    """
    return cube(sides, wraps=True, name="torus:" + "x".join(map(str, sides)))


def hypercube(dimension: int) -> Cube:
    """Return the binary hypercube of 2**dimension nodes.

    Examples
    --------
    >>> hypercube(3)
    <hypercube:3: 8 nodes, 24 directed channels>
    """
    if dimension < 1:
        raise InputError(f"hypercube:{dimension}", str(dimension), "at least 1 dimension")
    return cube((2,) * dimension, wraps=False, name=f"hypercube:{dimension}")
