"""Lockstep worms between hosts that hang on routers: their twin's, and those of direct networks."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.routing import parse_routing
from netloom.topology import Topology, cube, topology
from netloom.topology.core import attach_hosts
from netloom.workload.programs.messages import messages
from netloom_papers.worms import Worm, WormEngine
from tests.papers.worms.test_worm import FOREVER, Case, check_twin, networks, outcome, tables, worms
from tests.reference.worm import POLICIES

TREES = ("leaf-spine:1x1x1", "leaf-spine:1x1x5", "leaf-spine:3x2x2", "leaf-spine:2x1x3/2")
TREES += ("fat-tree:2x3", "fat-tree:k=2", "fat-tree:k=4", "xgft:2x3/1x2", "xgft:3x2/2x2/1x2")


def doubled(routers, twice):
    """Return a network with some of its links laid twice."""
    ends = np.array([routers.channel_source, routers.channel_target])
    source, target = np.concatenate([ends, ends[:, twice], ends[::-1, twice]], axis=1)
    order = np.lexsort((target, source))
    return Topology("doubled", routers.num_routers, source[order], target[order])


@st.composite
def hosted(draw):
    """Return trees, or cubes on whose routers hosts hang anywhere, some by several ports."""
    if draw(st.booleans()):
        return topology(draw(st.sampled_from(TREES)))
    sides = draw(st.sampled_from([(1,), (2,), (3,), (4,), (2, 2), (3, 2)]))
    routers = cube(sides, draw(st.lists(st.booleans(), min_size=len(sides), max_size=len(sides))))
    if routers.num_channels and draw(st.booleans()):
        routers = doubled(routers, draw(st.lists(st.integers(0, routers.num_channels - 1))))
    hosts = draw(st.integers(1, 8))
    ports = draw(st.lists(st.integers(1, 2), min_size=hosts, max_size=hosts))
    place = st.integers(0, routers.num_routers - 1)
    at = draw(st.lists(place, min_size=sum(ports), max_size=sum(ports)))
    owner = np.arange(hosts).repeat(ports)
    return attach_hosts(routers, np.array(at), name="hosted", port_host=owner)


@st.composite
def cases(draw):
    net = draw(hosted())
    names = ["default", "shortest-path", "spread"]
    if net.num_ports == net.num_hosts:  # else its routers may be in two parts
        names.append("up-down")
    routing = parse_routing(draw(st.sampled_from(names)), net)
    parts, rows = [], 0
    for _ in range(draw(st.integers(1, 3))):
        table = draw(tables(net.num_hosts, rows, draw(st.sampled_from([4, 15, 30]))))
        parts.append((draw(st.integers(0, 60)), table))
        rows += len(table)
    return Case(net, routing, draw(worms(end_channels=1)), draw(st.integers(0, 5)), parts)


@given(cases(), st.sampled_from([1, 7, FOREVER]))
@settings(max_examples=150)
def test_the_engine_is_its_readable_twin(case, step):
    check_twin(case, step)


@given(networks(), worms(end_channels=1), st.data())
@settings(max_examples=100)
def test_one_host_a_router_is_the_direct_network(network, worm, data):
    """Cycle by cycle: the ports of hosts are the ends of direct networks, and nothing is added."""
    direct, routing = network
    net = attach_hosts(direct, np.arange(direct.num_hosts), name="hosted")
    table = data.draw(tables(direct.num_hosts, 0, 40))
    mine = Case(net, routing, worm, 3, [(0, table)])
    theirs = Case(direct, routing, worm, 3, [(0, table)])
    engines = mine.engine(), theirs.engine()
    found, expected = (
        outcome(engine, case) for engine, case in zip(engines, (mine, theirs), strict=True)
    )
    assert found == expected
    if found[0] is not None:
        flits, theirs = (engine.channel_flits().tolist() for engine in engines)
        assert flits == theirs
        assert engines[0].flit_hops == engines[1].flit_hops == sum(flits)


@pytest.mark.parametrize("policy", POLICIES)
def test_one_leaf_is_a_queue_at_each_host(policy):
    """All but host 0 send to it at once: it takes them one by one, L + 1 cycles each."""
    net, flits = topology("leaf-spine:1x1x6"), 9
    worm = Worm(arbitration=policy, end_channels=1)
    engine = WormEngine(net, parse_routing("default", net), worm)
    engine.append(messages(6, source=range(1, 6), target=0, flits=flits))
    engine.advance(FOREVER)
    first = 2 + flits + 1
    assert sorted(engine.rows["complete"]) == [first + k * (flits + 1) for k in range(5)]
    assert engine.rows["hops"].tolist() == [0] * 5
    assert not engine.channel_flits().any()
