"""What the network is: nodes and directed channels.

The package can be called, ``netloom.topology("torus:4x4x4")``: in the users' own language the
word names the thing as well as the place where such things are kept.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from netloom.topology.core import (
    Cabling,
    OtherEnds,
    Topology,
    counting_inside,
    port_numbers,
    way_back,
)
from netloom.topology.cubes import Cube, cube, hypercube, mesh, torus
from netloom.topology.families.stages import Omega, omega
from netloom.topology.faults import without, working_nodes
from netloom.topology.graph import graph_topology, read_graph, to_networkx
from netloom.topology.measures import (
    average_distance,
    bisection_bounds,
    bisection_width,
    degree,
    diameter,
    hop_distances,
    num_links,
    slabs,
)
from netloom.topology.parse import spec_table, topology
from netloom.topology.recognise import tree_shape
from netloom.topology.subnets.files import read_fabric
from netloom.topology.subnets.missing import missing_parts

__all__ = [
    "Cabling",
    "Cube",
    "Omega",
    "OtherEnds",
    "Topology",
    "average_distance",
    "bisection_bounds",
    "bisection_width",
    "counting_inside",
    "cube",
    "degree",
    "diameter",
    "graph_topology",
    "hop_distances",
    "hypercube",
    "mesh",
    "missing_parts",
    "num_links",
    "omega",
    "port_numbers",
    "read_fabric",
    "read_graph",
    "slabs",
    "spec_table",
    "to_networkx",
    "topology",
    "torus",
    "tree_shape",
    "way_back",
    "without",
    "working_nodes",
]

if TYPE_CHECKING:
    import networkx as nx


class _CallablePackage(ModuleType):
    def __call__(self, spec: "str | nx.Graph[Any]") -> Topology:
        return topology(spec)


sys.modules[__name__].__class__ = _CallablePackage
