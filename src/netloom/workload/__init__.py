"""What is communicated: process graphs, from patterns, files and the records of MPI runs."""

from netloom.workload import generators, permutations
from netloom.workload.generators import (
    all_to_all,
    binary_tree,
    butterfly,
    hypercube,
    line,
    mesh,
    random_regular,
    ring,
    torus,
)
from netloom.workload.openmpi import read_monitoring
from netloom.workload.parse import read
from netloom.workload.permutations import (
    bit_complement,
    bit_reverse,
    neighbour,
    shuffle,
    tornado,
    transpose,
)
from netloom.workload.process_graph import ProcessGraph, process_graph
from netloom.workload.writers import write

__all__ = [
    "ProcessGraph",
    "all_to_all",
    "binary_tree",
    "bit_complement",
    "bit_reverse",
    "butterfly",
    "generators",
    "hypercube",
    "line",
    "mesh",
    "neighbour",
    "permutations",
    "process_graph",
    "random_regular",
    "read",
    "read_monitoring",
    "ring",
    "shuffle",
    "tornado",
    "torus",
    "transpose",
    "write",
]
