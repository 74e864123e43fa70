from . import traffic as traffic
from .graphs.files import read_monitoring as read_monitoring, write as write
from .graphs.generators import (
    all_to_all as all_to_all,
    binary_tree as binary_tree,
    bit_complement as bit_complement,
    bit_reverse as bit_reverse,
    butterfly as butterfly,
    hypercube as hypercube,
    line as line,
    mesh as mesh,
    neighbour as neighbour,
    random_regular as random_regular,
    ring as ring,
    shuffle as shuffle,
    tornado as tornado,
    torus as torus,
    transpose as transpose,
)
from .graphs.process_graph import ProcessGraph as ProcessGraph, process_graph as process_graph
from .parse import read as read
from .traffic import Traffic as Traffic
from .traffic.parse import parse_traffic as parse_traffic
from .traffic.stream import (
    Arrivals as Arrivals,
    Lengths as Lengths,
    Packets as Packets,
    PacketStream as PacketStream,
    parse_arrivals as parse_arrivals,
    parse_lengths as parse_lengths,
)
