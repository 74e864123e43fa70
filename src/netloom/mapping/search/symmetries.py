"""Images of a mapping: the same distances, and other channel loads."""

from __future__ import annotations

from itertools import permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.topology import Cube

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.topology import Topology


def images(topology: Topology, most: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield where each node goes when a k-ary n-cube is turned or reflected onto itself.

    Dimension order corrects one dimension before the other, and half-way ties of rings go one way:
    so a mapping that is turned or reflected has the same distances, and may load channels less.
    Moving it along rings changes nothing; nor does reflecting a dimension without ties.

    An image is int64[num_nodes]; that of all in place is left out where all are listed. If
    there are more than ``most``, so many are drawn. Other networks than whole cubes have no
    images here.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> [each.tolist() for each in images(mesh(2, 2), 10, np.random.default_rng(1))]
    [[0, 2, 1, 3]]
    """
    if not isinstance(topology, Cube):
        return
    kinds = list(zip(topology.sides, topology.wraps, strict=True))
    alike = [[axis for axis, kind in enumerate(kinds) if kind == one] for one in sorted(set(kinds))]
    tied = [axis for axis, (side, wrap) in enumerate(kinds) if wrap and side % 2 == 0 and side > 2]
    if prod(factorial(len(axes)) for axes in alike) * 2 ** len(tied) - 1 <= most:
        for orders in product(*(permutations(axes) for axes in alike)):
            for turned in product((False, True), repeat=len(tied)):
                if any(turned) or list(orders) != [tuple(axes) for axes in alike]:
                    yield _image(topology, alike, orders, np.array(tied)[list(turned)])
        return
    for _ in range(most):
        drawn = [tuple(rng.permutation(axes).tolist()) for axes in alike]
        yield _image(topology, alike, tuple(drawn), np.array(tied)[rng.random(len(tied)) < 0.5])


def _image(
    cube: Cube,
    alike: list[list[int]],
    orders: tuple[tuple[int, ...], ...],
    turned: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Return the image of each node: axes in another order, some of them reflected."""
    along = np.array(np.unravel_index(np.arange(cube.num_nodes), cube.sides), np.int64)
    moved = along.copy()
    for axes, order in zip(alike, orders, strict=True):
        moved[axes] = along[list(order)]
    for axis in turned.tolist():
        moved[axis] = cube.sides[axis] - 1 - moved[axis]
    return np.asarray(np.ravel_multi_index(tuple(moved), cube.sides), np.int64)
