"""Dimension-order routing: correct one coordinate after the other, each the shorter way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.ragged import Paths
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Bools, Ints


@dataclass(frozen=True)
class DimensionOrder:
    """Dimension-order routing (e-cube, XY): minimal, deterministic, on k-ary n-cubes only.

    Attributes
    ----------
    order
        The dimensions (0 is the slowest varying) in the order in which they are corrected. Empty
        means last to first: within a row first, which the thesis calls "row channels first". Half
        way round a ring, where both ways are as short, the + direction is taken.
    """

    several: ClassVar[bool] = False

    order: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "dimension-order" + (":" + ",".join(map(str, self.order)) if self.order else "")


def full_order(order: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the order of so many dimensions: last to first if none is given.

    Raises
    ------
    InputError
        If it does not name each once.
    """
    wanted = tuple(order) or tuple(reversed(range(count)))
    if sorted(wanted) != list(range(count)):
        raise InputError(
            "routing", f"order {wanted}", f"each of the dimensions {[*range(count)]} once"
        )
    return wanted


class CubeTables(NamedTuple):
    """A cube and an order as flat arrays, for the kernels."""

    sides: Ints
    strides: Ints
    wraps: Bools
    line_channels: Ints
    line_base: Ints
    order: Ints


def cube_tables(topology: Topology, routing: DimensionOrder) -> CubeTables:
    """Return the kernels' tables, checking that this routing exists on this network.

    Raises
    ------
    InputError
        If the network is not a k-ary n-cube, or ``order`` does not name each dimension once.
    """
    if not isinstance(topology, Cube):
        raise InputError(
            "routing", f"{routing} on {topology.name}", "shortest-path or routes:FILE on a graph"
        )
    return CubeTables(
        np.array(topology.sides, np.int64),
        topology.strides,
        np.array(topology.wraps, np.bool_),
        topology.line_channels,
        topology.line_base,
        np.array(full_order(routing.order, len(topology.sides)), np.int64),
    )


def dimension_order_paths(
    topology: Topology,
    routing: DimensionOrder,
    sources: Ints,
    targets: Ints,
) -> Paths:
    """Return the dimension-order path of every pair (see ``paths``)."""
    from netloom.routing.kernels.dimension_order import fill_paths, path_offsets

    tables = cube_tables(topology, routing)
    offsets = path_offsets(tables, sources, targets)
    return Paths(offsets, fill_paths(tables, sources, targets, offsets))


def half_way_round(cube: Cube, source: Ints, target: Ints) -> Bools:
    """Return which pairs of nodes are half-way round a ring from each other in some dimension.

    Both ways are as short there: ``DimensionOrder`` takes the + direction, simulated packets draw
    one of the two.

    Parameters
    ----------
    cube
        The network.
    source, target
        int32[num_pairs], nodes.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> half_way_round(torus(4, 4), np.array([0, 0]), np.array([2, 5])).tolist()
    [True, False]
    """
    found = np.zeros(len(source), np.bool_)
    dimensions = zip(cube.sides, cube.strides, cube.wraps, strict=True)
    for side, stride, wraps in dimensions:
        if wraps and side > 2:  # between two nodes there is one channel each way
            ahead = (target // stride - source // stride) % side
            found |= 2 * ahead == side
    return found
