"""Plans of networks whose hosts hang on routers: judged, bounded, written and run."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom import compile_phases, run_plan, verify_plan
from netloom.contention import ConSetCosts, MessageCosts
from netloom.phases import Capacity, first_violation, least_clocks, least_phases, partition
from netloom.phases.execution import execute, message_passing
from netloom.phases.plan.plans import phase_clocks
from netloom.phases.plan_files import read_plan
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from tests.phases.hand_made import joined, plan_of

COSTS = ConSetCosts()


def dual_rail():
    """Return three routers in a line, a host on the first, one on the last, and one on both."""
    source, target = np.array([0, 1, 1, 2], np.int32), np.array([1, 0, 2, 1], np.int32)
    line = Topology("line", 3, source, target)
    return attach_hosts(
        line, np.array([0, 2, 0, 2]), name="rails", port_host=np.array([0, 1, 2, 2])
    )


def one_way():
    """Return two stages of routers: hosts send at the first and receive at the second."""
    source, target = (each.ravel().astype(np.int32) for each in np.mgrid[:2, 2:4])
    stages = Topology("stages", 4, source, target)
    return attach_hosts(
        stages, np.array([0, 0, 1, 1]), ejection=np.array([2, 2, 3, 3]), name="butterfly"
    )


NETWORKS = [
    topology("leaf-spine:2x2x2"),
    topology("leaf-spine:3x1x2/2"),
    topology("fat-tree:2x2"),
    dual_rail(),
    one_way(),
]


@st.composite
def asked(draw, most=6):
    network = draw(st.sampled_from(NETWORKS))
    host = st.integers(0, network.num_hosts - 1)
    apart = st.tuples(host, host).filter(lambda ends: ends[0] != ends[1])
    pairs = draw(st.lists(apart, min_size=1, max_size=most))
    words = draw(st.lists(st.integers(1, 9), min_size=len(pairs), max_size=len(pairs)))
    capacity = Capacity(draw(st.integers(1, 3)), draw(st.sampled_from(["node", "channel"])))
    return network, joined(network.num_hosts, pairs, words), capacity


@given(asked(most=20), st.sampled_from(["auto", "sequential"]), st.sampled_from(["phases", "time"]))
@settings(max_examples=60, deadline=None)
def test_what_is_compiled_is_right(question, method, objective):
    network, wanted, capacity = question
    plan = partition(wanted, network, capacity, method=method, objective=objective)
    assert first_violation(plan) is None
    assert plan.num_phases >= least_phases(wanted, network, capacity).phases
    assert phase_clocks(plan, COSTS).sum() >= least_clocks(wanted, network, COSTS) * (1 - 1e-9)


def all_routes(network, source, target):
    """Return the channels of every path from host to host, none through another host."""
    graph = nx.MultiDiGraph()
    ends = zip(network.source_end.tolist(), network.target_end.tolist(), strict=True)
    for channel, (a, b) in enumerate(ends):
        if (a >= network.num_hosts or a == source) and (b >= network.num_hosts or b == target):
            graph.add_edge(a, b, channel)
    return [[hop[2] for hop in path] for path in nx.all_simple_edge_paths(graph, source, target)]


def fits(network, wanted, capacity, phases):
    """Return whether some routes in some phases keep all capacities: all are tried."""
    routes = [all_routes(network, *ends) for ends in zip(wanted.source, wanted.target, strict=True)]
    for choice in product(*(product(range(phases), each) for each in routes)):
        used = {}
        for (phase, route), source in zip(choice, wanted.source.tolist(), strict=True):
            places = route
            if capacity.per == "node":
                places = [source, *network.target_end[route].tolist()]
            for place in places:
                used[phase, place] = used.get((phase, place), 0) + 1
        if max(used.values()) <= capacity.virtual_channels:
            return True
    return False


@given(asked(most=4))
@settings(max_examples=40, deadline=None)
def test_few_connections_get_the_fewest_phases_there_are(question):
    network, wanted, capacity = question
    least = next(phases for phases in range(1, 5) if fits(network, wanted, capacity, phases))
    assert least_phases(wanted, network, capacity).phases <= least
    assert partition(wanted, network, capacity).num_phases == least


def test_hosts_do_not_forward():
    """The host on both ends of the line is a short cut that no packet may take."""
    rails = dual_rail()
    # channels 0 to 3 are the line's, 4 to 7 leave the ports of hosts 0, 1, 2, 2; 8 to 11 enter them
    through = plan_of(
        [(0, 1)], 4, on=rails, routes=[[4, 10, 7, 9]], capacity=Capacity(1, "channel")
    )
    assert str(first_violation(through)) == (
        "phase 0, connection 0 -> 1: found host h2 where hop 2 ends; "
        "expected a router: hosts do not forward"
    )
    right = plan_of([(0, 1)], 4, on=rails, routes=[[4, 0, 2, 9]], capacity=Capacity(1, "channel"))
    assert first_violation(right) is None
    plan = partition(through.connections, rails, Capacity(1, "channel"))
    assert plan.routes[0].tolist() == [4, 0, 2, 9]


def test_ports_and_routers_hold_as_many_as_their_channels():
    rails = dual_rail()
    out = [(2, 0), (2, 1)]
    both = plan_of(out, 4, on=rails, routes=[[6, 8], [7, 9]], capacity=Capacity(1, "channel"))
    assert first_violation(both) is None  # a port each
    one = plan_of(out, 4, on=rails, routes=[[6, 8], [6, 0, 2, 9]], capacity=Capacity(1, "channel"))
    assert str(first_violation(one)).startswith("phase 0, channel h2 -> r0: found 2 connections")
    node = replace(both, capacity=Capacity(1, "node"))
    assert str(first_violation(node)).startswith("phase 0, node h2: found 2 connections")
    routers = plan_of(
        [(0, 2), (2, 1)], 4, on=rails, routes=[[4, 10], [6, 0, 2, 9]], capacity=Capacity(2, "node")
    )
    assert first_violation(routers) is None
    full = replace(routers, capacity=Capacity(1, "node"))
    assert "node h2" in str(first_violation(full))


def test_a_leaf_has_few_channels_to_all_others():
    """All-to-all over one uplink: 2 x 4 connections each way, one at a time."""
    found = compile_phases("all-to-all:6", "leaf-spine:3x1x2", words=8, channels=1)
    assert found.lower_bound_phases == found.plan.num_phases == 8
    assert found.plan.capacity.per == "channel"
    nodes = compile_phases("all-to-all:6", "leaf-spine:3x1x2", words=8, per="node")
    assert nodes.plan.capacity == Capacity(12, "node")

    tree = topology("leaf-spine:3x1x2")
    wanted = joined(6, [(0, 2), (1, 4), (0, 4), (1, 2)], [9, 9, 9, 9])
    bound = least_phases(wanted, tree, Capacity(1, "channel"))
    assert bound.phases == partition(wanted, tree, Capacity(1, "channel")).num_phases == 4
    assert bound.why == "4 connections cross the edge of 3 nodes, at most 1 per phase"
    assert least_clocks(wanted, tree, COSTS) == 4 * 9 * 2


def test_connections_inside_a_leaf_take_it_too():
    tree = topology("leaf-spine:3x2x3")
    wanted = joined(9, [(0, 1), (2, 3)], [9, 9])
    bound = least_phases(wanted, tree, Capacity(1))
    assert bound.phases == partition(wanted, tree, Capacity(1)).num_phases == 2
    assert bound.why == "2 connections cross the edge of 4 nodes, at most 1 per phase"


def test_pods_have_few_channels_to_all_others():
    """Pods of four hosts, with two channels upwards; leaves have as many as hosts."""
    tree = topology("xgft:2x2x4/1x2x1")
    wanted = joined(16, [(0, 4), (1, 8), (2, 12), (3, 5)], [9, 9, 9, 9])
    bound = least_phases(wanted, tree, Capacity(1, "channel"))
    assert bound.phases == partition(wanted, tree, Capacity(1, "channel")).num_phases == 2
    assert bound.why == "4 connections cross the edge of 8 nodes, at most 2 per phase"


@pytest.mark.parametrize("network", NETWORKS, ids=lambda each: each.name)
def test_plan_files_hold_the_network_with_its_hosts(network, tmp_path):
    hosts = network.num_hosts
    found = compile_phases(f"all-to-all:{hosts}", network, words=3, channels=1)
    file = tmp_path / "plan.json"
    found.write(file)
    held = read_plan(file).plan
    again = held.topology
    assert (again.num_hosts, again.num_routers, again.name) == (
        hosts,
        network.num_routers,
        network.name,
    )
    for name in ("channel_source", "channel_target", "port_host", "injection_router"):
        assert np.array_equal(getattr(again, name), getattr(network, name))
    every = range(network.num_ends)
    assert [again.name_of(each) for each in every] == [network.name_of(each) for each in every]
    assert np.array_equal(held.routes.channels, found.plan.routes.channels)
    assert first_violation(held) is None
    assert verify_plan(file).lower_bound_phases == found.lower_bound_phases
    assert run_plan(file).to_dict()["words"] == 3 * hosts * (hosts - 1)


@pytest.mark.parametrize(
    ("program", "network"), [("ring:16", "mesh:4x4"), ("hypercube:4", "torus:4x4")]
)
def test_hosts_on_routers_of_their_own_run_as_nodes_do(program, network):
    """Phases and messages, flit by flit: cycle by cycle the same."""
    direct, hosted = (
        compile_phases(program, on, words=16, channels=4, per="channel", execute=True)
        for on in (network, f"{network}/1")
    )
    assert direct.plan.phase.tolist() == hosted.plan.phase.tolist()
    runs = direct.simulated, hosted.simulated
    for name in ("phase_cycles", "start", "end", "channel_words"):
        one, other = (getattr(run.execution, name) for run in runs)
        assert one.tolist() == other.tolist()
    if network == "mesh:4x4":  # round rings, packets of messages draw their way
        assert runs[0].message_passing == runs[1].message_passing


def test_a_connection_between_leaves_takes_its_words_and_two_cycles_a_hop():
    """Two hops between routers: w + 2h + 3 cycles of 2 clocks, simulated as expected."""
    found = compile_phases("ring:2", "leaf-spine:2x1x1", words=10)
    assert found.plan.routes.lengths.tolist() == [4, 4]
    assert found.clocks == 528 + 20
    assert found.expected_clocks == 528 + 20 + (2 * 2 + 3) * 2
    done = execute(found.plan, COSTS)
    assert done.phase_cycles.tolist() == [10 + 2 * 2 + 3]
    alone = message_passing(found.plan.connections, found.plan.topology, MessageCosts())
    assert alone.clocks > done.clocks - done.switch_clocks
