"""Tables for programs on damaged networks: all arrive, none wait in a circle, nobody loses."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.bounds import traffic_bound
from netloom.fabrics.balancing import balanced
from netloom.fabrics.program import FEW, busiest_time, flows_of, in_lanes, tables_for_program
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.tables import lane_circle, lanes_used
from netloom.topology import topology, without
from tests.fabrics.networks import uneven
from tests.reference.forwarding import walked

NETWORKS = ("leaf-spine:3x3x3", "xgft:2x2x3/1x2x2", "fat-tree:2x3", "hyperx:3x3/2", "torus:4x3/1",
            "mesh:3x3", "leaf-spine:4x2x2/2")  # fmt: skip


def damaged(spec, rng):
    """Return a network without some of its cables, in one piece."""
    whole = topology(spec)
    inside = whole.routers
    pairs = {
        (min(pair), max(pair))
        for pair in zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
    }
    left = nx.Graph(pairs)
    names = whole.labels[whole.num_hosts :] if whole.labels and not whole.direct else None
    cut = []
    for source, target in rng.permutation(sorted(pairs))[: rng.integers(0, 3)].tolist():
        left.remove_edge(source, target)
        if not nx.is_connected(left):
            left.add_edge(source, target)
            continue
        ends = (source, target) if names is None else (names[source], names[target])
        cut.append("-".join(map(str, ends)))
    return without(whole, channels=",".join(cut)) if cut else whole


def random_flows(network, rng):
    count = int(rng.integers(1, 20))
    source, target = rng.integers(0, network.num_hosts, (2, count)).astype(np.int32)
    return flows_of(network, source, target, rng.integers(1, 99, count).astype(float))


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from([*NETWORKS, "random"]),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["minhop", "nue", "sssp"]),
    st.sampled_from([None, 1, 2]),
)
def test_all_arrive_without_a_circle_and_the_program_is_never_worse_off(spec, seed, engine, lanes):
    rng = np.random.default_rng(seed)
    network = uneven(rng) if spec == "random" else damaged(spec, rng)
    flows, installed = random_flows(network, rng), ENGINES[engine](network)
    table = tables_for_program(network, installed, flows, lanes=lanes)
    waits = nx.DiGraph()
    for row, end in zip(table.next_channel, network.ejection_router.tolist(), strict=True):
        for at in set(network.ejection_router.tolist()):
            path = walked(network, row, at, end)
            assert path is not None
            waits.add_edges_from(pairwise(path))
    assert lane_circle(network, table) == ()
    if lanes_used(table) == 1:
        assert nx.is_directed_acyclic_graph(waits)
    assert lanes_used(table) <= (lanes or 8)
    found = busiest_time(network, table, flows)
    assert found >= traffic_bound(network, *flows).value * (1 - 1e-9)
    general = balanced(network, lanes=lanes, tries=FEW).table
    assert found <= busiest_time(network, general, flows) * (1 + 1e-9)
    if in_lanes(network, installed, lanes or 8) is not None:
        assert found <= busiest_time(network, installed, flows) * (1 + 1e-9)


def test_holes_in_the_installed_table_do_no_harm():
    network = topology("leaf-spine:3x2x2")
    installed = ENGINES["minhop"](network)
    installed.next_channel[4, 0] = -1
    flows = flows_of(network, np.array([0, 1]), np.array([4, 5]), np.array([8.0, 8.0]))
    assert busiest_time(network, installed, flows) == float("inf")
    assert busiest_time(network, tables_for_program(network, installed, flows), flows) == 8.0


def test_a_table_on_longer_ways_is_kept_where_no_shortest_one_is_as_good():
    """Two hosts of a triangle's corner send to one: one of them goes round the third corner."""
    network = topology("hyperx:3/2")
    inside = network.routers
    installed = ENGINES["minhop"](network)
    leads = {
        pair: number
        for number, pair in enumerate(
            zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
        )
    }
    installed.next_channel[2, 0], installed.next_channel[2, 2] = leads[0, 2], leads[2, 1]
    flows = flows_of(network, np.array([0, 1]), np.array([2, 3]), np.array([8.0, 8.0]))
    shortest = tables_for_program(network, ENGINES["minhop"](network), flows)
    assert busiest_time(network, shortest, flows) == 16.0
    table = tables_for_program(network, installed, flows)
    assert busiest_time(network, table, flows) == 8.0
    assert lane_circle(network, table) == ()


@pytest.mark.parametrize("lanes", [1, 2])
def test_few_lanes_are_enough_for_a_program_on_a_torus(lanes):
    network = topology("torus:4x4/1")
    source, target = np.divmod(np.arange(256, dtype=np.int32), 16)
    flows = flows_of(network, source, target, np.ones(256))
    table = tables_for_program(network, ENGINES["minhop"](network), flows, lanes=lanes)
    assert lanes_used(table) <= lanes
    assert lane_circle(network, table) == ()
