"""Cut widths against their definition, and the theorems: the rows of Chittor 1991 test the rest."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import Topology, graph_topology, mesh, topology
from netloom_papers.models.wiring import (
    channel_bandwidth_ratio,
    channel_rate_ratio,
    channel_width_ratio,
    cut_widths,
    hypercube_peak_width,
    layout_bisection,
    mesh_peak_width,
    minimum_peak_width,
    speedup,
    wire_length_ratio,
)
from tests.reference import wiring as definition


@st.composite
def networks(draw, most_nodes):
    """A connected graph, its links, each once; some of them one-way only."""
    nodes = draw(st.integers(2, most_nodes))
    ring = {(v, (v + 1) % nodes) for v in range(nodes)}
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    extra = {(a, b) for a, b in draw(st.sets(pairs, max_size=12)) if a != b}
    graph = nx.DiGraph(sorted(ring | extra))
    return graph_topology(graph), {tuple(sorted(edge)) for edge in ring | extra}


@given(networks(most_nodes=12))
def test_cut_widths_are_what_they_are_defined_to_be(network):
    net, links = network
    assert cut_widths(net).tolist() == definition.cut_widths(links, range(net.num_nodes))


@settings(max_examples=25)
@given(networks(most_nodes=6))
def test_minimum_peak_width_equals_trying_every_layout(network):
    net, links = network
    assert minimum_peak_width(net) == definition.minimum_peak_width(links, net.num_nodes)


def test_cut_widths_of_a_ring_and_of_one_node():
    assert cut_widths(topology("ring:5")).tolist() == [2, 2, 2, 2, 0]
    assert cut_widths(topology("line:1")).tolist() == [0]
    assert layout_bisection(topology("line:1")) == 0
    assert minimum_peak_width(topology("line:1")) == 0


def test_the_exact_form_multiplies_the_theorems_without_approximation():
    assert channel_width_ratio(64) == pytest.approx(42 / 9)
    assert channel_width_ratio(4) == 1, "both have a peak width of 2"
    assert wire_length_ratio(64) == pytest.approx((128**0.5 - 2**0.5) / 6)
    assert channel_rate_ratio(64, "linear") == wire_length_ratio(64)
    assert channel_rate_ratio(64, "logarithmic") == pytest.approx(1 + np.log(1.6499), abs=1e-4)
    assert channel_bandwidth_ratio(64, "linear") == pytest.approx(42 / 9 * 1.6499, abs=1e-3)


def test_the_printed_logarithmic_rate_is_close_for_large_networks():
    exact = channel_rate_ratio(2**20, "logarithmic")
    assert channel_rate_ratio(2**20, "logarithmic", form="chittor-1991") == pytest.approx(
        exact, rel=0.003
    )


def test_speedup_broadcasts_and_never_exceeds_the_bandwidth_ratio():
    found = speedup(np.array([[64], [256]]), [0, 10, 1e9])
    assert found.shape == (2, 3)
    assert np.all(np.diff(found) > 0)
    assert found[:, -1] == pytest.approx(channel_width_ratio([64, 256]))
    assert speedup(64, 1, distance="neighbours", form="chittor-1991") == pytest.approx(16 / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimum_peak_width(mesh(3, 7)), "mesh:3x7: found 21 nodes; expected at most 20"),
        (lambda: hypercube_peak_width(0), "dimension: found 0"),
        (lambda: mesh_peak_width(0), "side: found 0"),
        (lambda: channel_width_ratio([64, 100]), "num_nodes: found 100; expected powers of two"),
        (lambda: channel_width_ratio(64.0), "num_nodes: found values of type float64"),
        (lambda: channel_width_ratio(64, form="printed"), "'printed'; expected exact or chittor"),
        (lambda: channel_rate_ratio(64, "log"), "delay: found 'log'; expected constant"),
        (lambda: speedup(64, -1), "message_headers: found -1"),
        (lambda: speedup(64, 1, distance="far"), "distance: found 'far'"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_parallel_links_are_counted_and_hosts_on_routers_refused():
    ends = np.array([(0, 1), (0, 1), (1, 0), (1, 2), (2, 1), (1, 0)], np.int32).T
    bundle = Topology("bundle", 3, *ends)
    assert cut_widths(bundle).tolist() == [2, 1, 0]
    assert minimum_peak_width(bundle) == 2
    with pytest.raises(InputError, match=r"use its routers alone, topology\.routers"):
        cut_widths(topology("leaf-spine:4x2x4"))
    assert cut_widths(topology("leaf-spine:2x1x1").routers).tolist() == [1, 2, 0]
