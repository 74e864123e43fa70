"""What all layouts share: the record of one, and the networks that they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints
    from netloom.routing import Paths


@dataclass(frozen=True, eq=False)
class Layout:
    """A mapping that is built, not searched for, and what it promises.

    Attributes
    ----------
    name
        As in ``catalogue.LAYOUTS``.
    node_of
        int32[num_tasks], the node of each task, one task per node.
    chi_max
        No channel carries more paths, one path a directed edge of the process graph: on its own
        routes, or under dimension order, last dimension first, where it has none. None where it
        depends on the program, and no promise is made.
    routes
        The path of each edge of the process graph, in the graph's order. None where the layout
        counts on dimension order.
    source
        Who described it, and where.
    """

    name: str
    node_of: Ints
    chi_max: int | None
    routes: Paths | None
    source: str

    def __repr__(self) -> str:
        promise = "" if self.chi_max is None else f", χ_max {self.chi_max}"
        own = " on its own routes" if self.routes is not None else ""
        return f"<layout {self.name} of {len(self.node_of)} tasks{promise}{own}>"


def refusal(name: str, found: str, wanted: str) -> InputError:
    """Return the error that says why layout ``name`` does not fit, for the caller to raise.

    Examples
    --------
    >>> raise refusal("tiles", "mesh:4x4", "a binary tree")
    Traceback (most recent call last):
        ...
    netloom.InputError: layout 'tiles': found mesh:4x4; expected a binary tree
    """
    return InputError(f"layout '{name}'", found, wanted)


def require_cube(name: str, topology: Topology, dimensions: int | None = None) -> Cube:
    """Return the network if it is a whole mesh, torus or hypercube of that many dimensions.

    Raises
    ------
    InputError
        If it is not.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> require_cube("h-tree", mesh(4, 4), dimensions=2)
    <mesh:4x4: 16 nodes, 48 directed channels>
    """
    if dimensions is None:
        wanted = "a mesh, torus or hypercube, no part of it broken"
    else:
        wanted = f"a mesh or torus of {dimensions} dimensions, no part of it broken"
    if not isinstance(topology, Cube) or dimensions not in (None, len(topology.sides)):
        raise refusal(name, f"the network {topology.name}", wanted)
    return topology


def nodes_at(sides: Sequence[int], places: Iterable[ArrayLike]) -> Ints:
    """Return the nodes with these coordinates, one array a dimension, as int32[num_places].

    Examples
    --------
    >>> nodes_at((4, 4), ([0, 1], [3, 2]))
    array([3, 6], dtype=int32)
    """
    columns = tuple(np.asarray(place, np.int64) for place in places)
    return np.ravel_multi_index(columns, tuple(sides)).astype(np.int32)
