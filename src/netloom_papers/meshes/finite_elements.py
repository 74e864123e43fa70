"""A finite element mesh in parts, and what its parts tell each other in every iteration.

Each processor holds the elements of one part. After each step of an iterative solver, parts that
share a node of the mesh exchange that node's value, in both directions. So an edge of the process
graph has as many words as the two parts share nodes (Feldmann, Stricker & Warfel 1993, section
5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.workload.graphs.process_graph import ProcessGraph, process_graph
from netloom_papers.meshes.element_meshes import (
    GENERATED,
    ElementMesh,
    generate_mesh,
    read_mesh,
)

if TYPE_CHECKING:
    from netloom.base.arrays import Ints

MESHES = f"{', '.join(GENERATED)}, or a mesh file that meshio reads"

RECURSIVE_BISECTION = 0
"""METIS's number of this algorithm (METIS_PTYPE_RB)."""


@dataclass(frozen=True, eq=False)
class MeshPartition:
    """The part that each element of a mesh belongs to. See ``partition_mesh``.

    Attributes
    ----------
    mesh
        What is partitioned.
    parts
        Number of parts.
    part
        int32[num_elements], the part of each element: 0 … ``parts`` − 1.
    """

    mesh: ElementMesh
    parts: int
    part: Ints

    def __repr__(self) -> str:
        return f"<{self.mesh.name} in {self.parts} parts>"


@dataclass(frozen=True)
class PartitionStructure:
    """The figures of a partitioned mesh that Feldmann et al. (1993) print in Table 4.

    Attributes
    ----------
    mesh
        Its name.
    dimension, num_elements, num_nodes, parts
        Its size.
    least_elements, most_elements
        Elements of a part.
    least_words, most_words
        What a part sends in an iteration, and receives: for every other part, the nodes shared
        with that one.
    most_neighbours
        Parts that a part shares nodes with: its in-degree, and out-degree.
    """

    mesh: str
    dimension: int
    num_elements: int
    num_nodes: int
    parts: int
    least_elements: int
    most_elements: int
    least_words: int
    most_words: int
    most_neighbours: int

    def __repr__(self) -> str:
        return (
            f"{self.mesh}, {self.dimension}-D, in {self.parts} parts\n"
            f"elements           {self.num_elements}\n"
            f"nodes              {self.num_nodes}\n"
            f"elements per part  {self.least_elements} to {self.most_elements}\n"
            f"words per part     {self.least_words} to {self.most_words}\n"
            f"in/out-degree      at most {self.most_neighbours}"
        )


def partition_mesh(mesh: ElementMesh, parts: int) -> MeshPartition:
    """Partition the elements of a mesh into equal parts that share few nodes.

    METIS bisects the dual graph recursively, so that few pairs of neighbours are cut. Neighbours
    are elements that share as many nodes as the mesh has dimensions (an edge of two triangles, a
    face of two tetrahedra). METIS gives the same parts every time. Its other algorithm, which finds
    all parts at once, cuts up to 6 % less on large meshes, but leaves parts empty or in pieces on
    small ones.

    Parameters
    ----------
    mesh
        From ``read_mesh``, ``generate_mesh`` or ``element_mesh``.
    parts
        1 to as many as there are elements. With fewer than two elements a part, some parts may be
        left with none.

    Raises
    ------
    InputError
        If there are fewer elements than parts.

    Examples
    --------
    >>> from netloom_papers.meshes.element_meshes import element_mesh
    >>> strip = element_mesh("strip", 2, [[[i, i + 1, i + 2] for i in range(8)]])
    >>> halves = partition_mesh(strip, 2).part
    >>> bool(halves[0] != halves[7]), int(halves.sum())
    (True, 4)
    """
    if not 1 <= parts <= mesh.num_elements:
        raise InputError(mesh.name, f"{parts} parts", f"1 to {mesh.num_elements}, one an element")
    import pymetis

    joined = mesh.nodes.tolist()
    elements = [joined[start:end] for start, end in pairwise(mesh.offsets.tolist())]
    found = pymetis.part_mesh(
        parts,
        elements,
        options=pymetis.Options(ptype=RECURSIVE_BISECTION),
        gtype=pymetis.GType.DUAL,
        ncommon=mesh.dimension,
    )
    return MeshPartition(mesh, parts, np.asarray(found.element_part, np.int32))


def interface_graph(partition: MeshPartition, *, bytes_per_node: float = 4) -> ProcessGraph:
    """Return who exchanges how much in one iteration: a task a part, a message an edge.

    Parameters
    ----------
    partition
        From ``partition_mesh``.
    bytes_per_node
        Of the values that a part sends another for each node they share. 4 is a word of iWarp.
        Three displacements in double precision are 24.

    Examples
    --------
    >>> from netloom_papers.meshes.element_meshes import element_mesh
    >>> strip = element_mesh("strip", 2, [[[i, i + 1, i + 2] for i in range(8)]])
    >>> app = interface_graph(partition_mesh(strip, 2))
    >>> app, app.bytes.tolist()
    (<fem:strip/2: 2 tasks, 2 directed edges, 16 bytes, 2 messages>, [8.0, 8.0])
    """
    shared = _shared_nodes(partition).tocoo()
    return process_graph(
        partition.parts,
        shared.row,
        shared.col,
        bytes=bytes_per_node * shared.data.astype(np.float64),
        name=f"fem:{partition.mesh.name}/{partition.parts}",
    )


def partition_structure(partition: MeshPartition) -> PartitionStructure:
    """Return the figures of a partitioned mesh, as the paper's Table 4 has them.

    Examples
    --------
    >>> from netloom_papers.meshes.element_meshes import element_mesh
    >>> strip = element_mesh("strip", 2, [[[i, i + 1, i + 2] for i in range(8)]])
    >>> partition_structure(partition_mesh(strip, 2))
    strip, 2-D, in 2 parts
    elements           8
    nodes              10
    elements per part  4 to 4
    words per part     2 to 2
    in/out-degree      at most 1
    """
    mesh, shared = partition.mesh, _shared_nodes(partition)
    elements = np.bincount(partition.part, minlength=partition.parts)
    words = np.asarray(shared.sum(axis=1)).ravel()
    return PartitionStructure(
        mesh=mesh.name,
        dimension=mesh.dimension,
        num_elements=mesh.num_elements,
        num_nodes=mesh.num_nodes,
        parts=partition.parts,
        least_elements=int(elements.min()),
        most_elements=int(elements.max()),
        least_words=int(words.min()),
        most_words=int(words.max()),
        most_neighbours=int(np.diff(shared.indptr).max()),
    )


def mesh_interface(argument: str, spec: str) -> ProcessGraph:
    """Return the process graph of ``fem:MESH/PARTS``. A mesh is generated, or read from a file.

    Raises
    ------
    InputError
        As ``generate_mesh``, ``read_mesh`` and ``partition_mesh`` do.

    Examples
    --------
    >>> mesh_interface("plate", "fem:plate")
    Traceback (most recent call last):
        ...
    netloom.InputError: fem:plate: found no number of parts; expected a mesh and its parts,
    such as fem:plate/64
    """
    name, slash, parts = argument.rpartition("/")
    if not slash:
        wanted = "a mesh and its parts, such as fem:plate/64"
        raise InputError(spec, "no number of parts", wanted)
    count = whole_number(parts.strip(), where=spec, least=1)
    if name not in GENERATED and "." not in name:
        raise InputError(spec, f"mesh '{name}'", MESHES)
    mesh = generate_mesh(name) if name in GENERATED else read_mesh(name)
    return interface_graph(partition_mesh(mesh, count))


def _shared_nodes(partition: MeshPartition) -> Any:
    """Return the symmetric CSR matrix [parts, parts] of nodes that two parts share."""
    from scipy.sparse import coo_array

    mesh = partition.mesh
    part_of_entry = np.repeat(partition.part, np.diff(mesh.offsets))
    touched = np.unique(part_of_entry.astype(np.int64) * mesh.num_nodes + mesh.nodes)
    entries = np.ones(len(touched), np.int64), (touched // mesh.num_nodes, touched % mesh.num_nodes)
    incidence = coo_array(entries, shape=(partition.parts, mesh.num_nodes)).tocsr()
    shared = incidence @ incidence.T
    shared.setdiag(0)
    shared.eliminate_zeros()
    return shared
