"""Programs that flows run part by part."""

import numpy as np

from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network, run_flows
from netloom.simulation.flow.program import FlowProgram
from netloom.topology import topology
from netloom.workload.programs.messages import messages


def test_pairs_that_come_later_may_be_spread_otherwise():
    net = topology("jellyfish:16x4x3/1")
    routing, links, hosts = parse_routing("valiant", net), flow_network(net), net.num_hosts
    draw = np.random.default_rng(5)
    source = draw.integers(0, hosts, 60)
    target = (source + draw.integers(1, hosts, 60)) % hosts
    table = {"source": source, "target": target, "flits": draw.integers(10, 500, 60)}
    table["start"] = np.sort(draw.integers(0, 300, 60))
    whole = run_flows(links, routing, messages(hosts, **table), injection="shared")
    engine = FlowProgram(links, routing, injection="shared")
    for first in range(0, 60, 10):
        engine.advance(int(table["start"][first]))
        part = {name: values[first : first + 10] for name, values in table.items()}
        engine.append(messages(hosts, first=first, **part))
    engine.advance(10**6)
    np.testing.assert_allclose(engine.rows["complete"], np.rint(whole.complete), atol=1)
    np.testing.assert_allclose(
        engine.channel_flits().sum(), whole.link_sizes[: net.num_network_channels].sum(), rtol=1e-5
    )
