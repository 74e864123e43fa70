"""What is communicated: process graphs (patterns, files, records of MPI runs), and packets."""

from netloom.workload import traffic
from netloom.workload.graphs import generators, permutations
from netloom.workload.graphs.files import write
from netloom.workload.graphs.generators import (
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
from netloom.workload.graphs.openmpi import read_monitoring
from netloom.workload.graphs.permutations import (
    bit_complement,
    bit_reverse,
    neighbour,
    shuffle,
    tornado,
    transpose,
)
from netloom.workload.graphs.process_graph import ProcessGraph, process_graph
from netloom.workload.parse import read
from netloom.workload.traffic import Traffic
from netloom.workload.traffic.parse import parse_traffic
from netloom.workload.traffic.stream import (
    Arrivals,
    Lengths,
    Packets,
    PacketStream,
    parse_arrivals,
    parse_lengths,
)

__all__ = [
    "Arrivals",
    "Lengths",
    "PacketStream",
    "Packets",
    "ProcessGraph",
    "Traffic",
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
    "parse_arrivals",
    "parse_lengths",
    "parse_traffic",
    "permutations",
    "process_graph",
    "random_regular",
    "read",
    "read_monitoring",
    "ring",
    "shuffle",
    "tornado",
    "torus",
    "traffic",
    "transpose",
    "write",
]
