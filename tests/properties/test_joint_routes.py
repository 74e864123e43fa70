"""Joint routing on any network: minimal, never worse, free of circles, above its bound."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from netloom.contention import measure, measure_paths
from netloom.mapping import joint_routes
from netloom.mapping.search.objectives import Measure, objective_of
from netloom.routing import parse_routing, paths
from netloom.topology import graph_topology
from netloom.workload import process_graph
from tests.properties.strategies import cubes


@st.composite
def mapped(draw):
    if draw(st.booleans()):
        net = draw(cubes(most_dimensions=3, most_nodes=40))
    else:
        seed = draw(st.integers(0, 1000))
        net = graph_topology(nx.connected_watts_strogatz_graph(12, 4, 0.4, seed=seed))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tasks = draw(st.integers(2, 30))
    edges = np.unique(rng.integers(0, tasks**2, draw(st.integers(1, 80))))
    source, target = np.divmod(edges, tasks)
    apart = source != target
    weights = rng.integers(0, 9, int(apart.sum())).astype(float)
    app = process_graph(tasks, source[apart], target[apart], bytes=weights)
    return app, net, rng.integers(0, net.num_nodes, tasks)


def circles(routed, layer):
    """Whether packets can wait in a circle, each hop on the virtual channel of its layer."""
    waits = nx.DiGraph()
    for number in range(len(routed)):
        hops = slice(routed.offsets[number], routed.offsets[number + 1])
        held = list(zip(layer[hops].tolist(), routed[number].tolist(), strict=True))
        waits.add_edges_from(pairwise(held))
    return not nx.is_directed_acyclic_graph(waits)


@settings(max_examples=60)
@given(mapped(), st.integers(0, 3), st.integers(0, 100))
def test_routes_keep_all_that_is_promised(case, more, seed):
    app, net, node_of = case
    source, target = node_of[app.source], node_of[app.target]
    assume(app.bytes[source != target].sum() > 0)
    routing = parse_routing("default", net)
    asked = objective_of("max-channel-load")
    value_of = Measure(app, net, routing, app.bytes, asked, np.arange(net.num_nodes))
    own = joint_routes(value_of, node_of, rounds=0)
    assert not circles(own.routes.routes, own.layer)
    limit = own.virtual_channels + more
    found = joint_routes(value_of, node_of, virtual_channels=limit, rounds=12, seed=seed)
    before = measure(net, routing, source, target, app.bytes).weighted_channel_load
    after = measure(net, found.routes, source, target, app.bytes).weighted_channel_load
    assert found.before == pytest.approx(before.max())
    assert found.after == pytest.approx(after.max())
    assert found.bound <= found.after * (1 + 1e-9)
    assert found.after <= found.before
    assert found.after < found.before or found.moved == 0
    minimal = paths(net, routing, source, target)
    chosen = paths(net, found.routes, source, target)
    assert chosen.lengths.tolist() == minimal.lengths.tolist()
    assert after.sum() == pytest.approx(before.sum())
    for number in np.flatnonzero(chosen.lengths):
        way = chosen[number]
        assert (net.source_end[way[0]], net.target_end[way[-1]]) == (
            source[number], target[number],
        )  # fmt: skip
        assert np.array_equal(net.target_end[way[:-1]], net.source_end[way[1:]])
    assert found.virtual_channels == found.layer.max(initial=0) + 1 <= limit
    assert not circles(found.routes.routes, found.layer)
    assert measure_paths(chosen, net.num_channels, app.bytes).weighted_channel_load.tolist() == (
        after.tolist()
    )
