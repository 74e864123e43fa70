"""What is communicated: process graphs (patterns, files, records of MPI runs), and packets."""

from netloom.workload import generators, permutations, traffic
from netloom.workload.arrivals import Arrivals, parse_arrivals
from netloom.workload.element_meshes import ElementMesh, element_mesh, read_mesh
from netloom.workload.finite_elements import (
    MeshPartition,
    PartitionStructure,
    interface_graph,
    partition_mesh,
    partition_structure,
)
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
from netloom.workload.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots
from netloom.workload.lengths import Lengths, parse_lengths
from netloom.workload.mesh_generation import generate_mesh
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
from netloom.workload.stream import Packets, PacketStream
from netloom.workload.traffic import Traffic
from netloom.workload.traffic_parse import parse_traffic
from netloom.workload.writers import write

__all__ = [
    "Arrivals",
    "ElementMesh",
    "HotSpotTraffic",
    "Lengths",
    "MeshPartition",
    "PacketStream",
    "Packets",
    "PartitionStructure",
    "ProcessGraph",
    "Traffic",
    "all_to_all",
    "assign_hot_spots",
    "binary_tree",
    "bit_complement",
    "bit_reverse",
    "butterfly",
    "element_mesh",
    "generate_mesh",
    "generators",
    "hypercube",
    "interface_graph",
    "line",
    "mesh",
    "neighbour",
    "parse_arrivals",
    "parse_lengths",
    "parse_traffic",
    "partition_mesh",
    "partition_structure",
    "permutations",
    "place_hot_spots",
    "process_graph",
    "random_regular",
    "read",
    "read_mesh",
    "read_monitoring",
    "ring",
    "shuffle",
    "tornado",
    "torus",
    "traffic",
    "transpose",
    "write",
]
