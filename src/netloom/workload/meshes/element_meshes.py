"""Finite element meshes: which nodes each element joins, by hand or from any file meshio reads."""

from __future__ import annotations

import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.spec import check_size
from netloom.textfiles import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

MESH_FILE = "a mesh that meshio reads, such as .msh, .vtk, .vtu, .inp or .bdf"


@dataclass(frozen=True, eq=False)
class ElementMesh:
    """Elements and the nodes that they join; where the nodes lie does not matter here.

    Make one with ``element_mesh``, ``read_mesh`` or ``generate_mesh``. These nodes are those of
    the finite element method, not of a network.

    Attributes
    ----------
    name
        Of the file, or of the generated mesh.
    dimension
        Of the elements: 2 or 3.
    num_nodes
        Nodes, each of which belongs to an element.
    offsets, nodes
        int64[num_elements + 1] and int32[offsets[-1]]: element i joins
        nodes[offsets[i]:offsets[i + 1]].
    """

    name: str
    dimension: int
    num_nodes: int
    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]

    @property
    def num_elements(self) -> int:
        """Number of elements."""
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        size = f"{self.num_elements} elements, {self.num_nodes} nodes"
        return f"<{self.name}: {self.dimension}-D, {size}>"


def element_mesh(name: str, dimension: int, cells: Sequence[ArrayLike]) -> ElementMesh:
    """Return the mesh of these elements, its nodes numbered from 0 in the order of their labels.

    Parameters
    ----------
    name
        Named in error messages and results.
    dimension
        2 or 3.
    cells
        One int[elements, nodes per element] array for each kind of element. Labels of nodes are
        any whole numbers that are not negative; one that no element names is no node.

    Raises
    ------
    InputError
        If there are no elements or too many, a label is negative, or no two elements share a
        node.

    Examples
    --------
    >>> element_mesh("kite", 2, [[[10, 11, 12], [11, 12, 13]], [[12, 13, 14, 15]]])
    <kite: 2-D, 3 elements, 6 nodes>
    """
    blocks = [np.asarray(block, np.int64) for block in cells]
    blocks = [block for block in blocks if block.size]
    if not blocks:
        raise InputError(name, "no elements", "cells that cover an area or fill a volume")
    per_element = np.concatenate([np.full(len(block), block.shape[1]) for block in blocks])
    check_size(int(per_element.sum()), where=name, what="nodes of elements")
    every = np.concatenate([block.ravel() for block in blocks])
    labels, nodes = np.unique(every, return_inverse=True)
    if labels[0] < 0:
        raise InputError(name, f"node {labels[0]}", "numbers that are not negative")
    if len(per_element) > 1 and len(labels) == len(nodes):
        # What some exporters write: the corners of each element are points of its own.
        wanted = "neighbours that share their common nodes (merge coincident points)"
        raise InputError(name, f"{len(per_element)} elements that share no node", wanted)
    offsets = np.concatenate([[0], np.cumsum(per_element)]).astype(np.int64)
    return ElementMesh(name, dimension, len(labels), offsets, nodes.astype(np.int32))


def read_mesh(path: str | Path) -> ElementMesh:
    r"""Read the elements of a mesh file: of its cells, those of the highest dimension.

    So the triangles on the surface of a tetrahedral mesh, or the lines along the border of a
    triangular one, are left out. All nodes of an element count, those on its edges included.

    Parameters
    ----------
    path
        Any format that meshio knows by its suffix: Gmsh, VTK, VTU, Abaqus, Nastran, STL ...

    Raises
    ------
    InputError
        If meshio is not installed, the file cannot be read, or it holds no cells of two or three
        dimensions.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "kite.off"
    >>> _ = file.write_text("OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 1 2 3\n")
    >>> read_mesh(file)
    <...kite.off: 2-D, 2 elements, 4 nodes>
    """
    blocks = _cells(Path(path))
    dimension = max((block.dim for block in blocks if len(block)), default=0)
    if dimension < 2:
        found = "no cells of two or three dimensions"
        raise InputError(str(path), found, "elements such as triangles or hexahedra")
    kept = [block for block in blocks if block.dim == dimension]
    ragged = next((block.type for block in kept if block.type.startswith("polyhedron")), None)
    if ragged is not None:
        raise InputError(str(path), f"{ragged} cells", "tetrahedra, hexahedra, wedges or pyramids")
    return element_mesh(str(path), dimension, [block.data for block in kept])


def optional_package(name: str) -> Any:
    """Return a package of the extra ``fem``, or say how to install it.

    Raises
    ------
    InputError
        If it is not installed, or a library of the system that it needs is not.

    Examples
    --------
    >>> optional_package("no_such_package")
    Traceback (most recent call last):
        ...
    netloom.errors.InputError: finite elements: found no package no_such_package; expected it
    installed: pip install 'netloom[fem]'
    """
    try:
        return import_module(name)
    except ImportError:
        wanted = "it installed: pip install 'netloom[fem]'"
        raise InputError("finite elements", f"no package {name}", wanted) from None
    except OSError as error:  # gmsh loads libraries of graphics, which servers may lack
        found = f"{name} that does not load ({' '.join(str(error).split())})"
        wanted = "that library, for example from apt install libglu1-mesa libxft2 libxcursor1"
        raise InputError("finite elements", found, wanted) from None


def _cells(path: Path) -> list[Any]:
    """Return meshio's blocks of cells; what meshio prints goes into the error, if any."""
    check_file(path, wanted=MESH_FILE)
    meshio, printed = optional_package("meshio"), StringIO()
    try:
        check_size(path.stat().st_size, where=str(path), what="bytes")
        with redirect_stdout(printed), redirect_stderr(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of meshio's own making
            return list(meshio.read(path).cells)
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # meshio exits where formats fail
        said = printed.getvalue() if isinstance(error, SystemExit) else str(error)
        reason = " ".join(said.split()).rstrip(".") or f"not {path.suffix} as meshio knows it"
        raise InputError(str(path), f"an unreadable mesh ({reason})", MESH_FILE) from None
