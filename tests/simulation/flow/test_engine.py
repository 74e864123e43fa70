"""The flow engine by itself: what is refused, and what it does with little."""

from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network, run_flows
from netloom.topology import topology
from netloom.workload.programs.messages import messages


def test_a_network_without_links_runs_what_hosts_send_themselves():
    net = topology("cube:1")
    table = messages(1, source=[0, 0], target=[0, 0], flits=5, after=[[], [0]], run=2)
    found = run_flows(flow_network(net, end_channels=False), parse_routing("default", net), table)
    assert found.complete.tolist() == [2.0, 4.0]
    assert found.done
    assert found.link_sizes.tolist() == []
