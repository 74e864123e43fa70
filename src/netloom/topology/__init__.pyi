from .core import (
    Cabling as Cabling,
    OtherEnds as OtherEnds,
    Topology as Topology,
    counting_inside as counting_inside,
    port_numbers as port_numbers,
    way_back as way_back,
)
from .cubes import Cube as Cube, cube as cube, hypercube as hypercube, mesh as mesh, torus as torus
from .families import Omega as Omega, omega as omega
from .faults import without as without, working_nodes as working_nodes
from .graph import (
    graph_topology as graph_topology,
    read_graph as read_graph,
    to_networkx as to_networkx,
    tree_shape as tree_shape,
)
from .measures import (
    average_distance as average_distance,
    degree as degree,
    diameter as diameter,
    hop_distances as hop_distances,
    num_links as num_links,
    slabs as slabs,
)
from .parse import spec_table as spec_table, topology as topology
from .subnets.files import read_fabric as read_fabric
from .subnets.shapes import missing_parts as missing_parts
