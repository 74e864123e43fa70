from .engine import FlowLaw as FlowLaw, FlowRun as FlowRun
from .network import (
    FlowNetwork as FlowNetwork,
    GivenPaths as GivenPaths,
    Ways as Ways,
    flow_network as flow_network,
    made_ways as made_ways,
    ways_of as ways_of,
)
from .rounds import rounds_apart as rounds_apart, rounds_repeated as rounds_repeated
from .run import run_flows as run_flows, trust as trust
