"""What the network is: nodes and directed channels."""

from netloom.topology.core import Topology
from netloom.topology.cube import Cube, cube, hypercube, mesh, torus
from netloom.topology.graph import graph_topology, read_graph, to_networkx
from netloom.topology.measures import (
    average_distance,
    bisection_width,
    degree,
    diameter,
    num_links,
)
from netloom.topology.parse import topology

__all__ = [
    "Cube",
    "Topology",
    "average_distance",
    "bisection_width",
    "cube",
    "degree",
    "diameter",
    "graph_topology",
    "hypercube",
    "mesh",
    "num_links",
    "read_graph",
    "to_networkx",
    "topology",
    "torus",
]
