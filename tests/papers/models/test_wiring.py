"""Cut widths against their definition, the theorems against the layouts, Table 2.2 as printed."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import Topology, graph_topology, hypercube, mesh, topology
from netloom_papers.models.wiring import (
    channel_bandwidth_ratio,
    channel_rate_ratio,
    channel_width_ratio,
    cut_widths,
    hypercube_peak_width,
    layout_bisection,
    mesh_peak_width,
    minimum_peak_width,
    peak_width,
    speedup,
    wire_length_ratio,
)
from tests.reference import wiring as definition

SIZES = [64, 128, 256, 512, 1024, 2048, 4096]


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


@pytest.mark.parametrize("dimension", range(1, 15))
def test_theorems_1_and_2_hold_for_the_identity_layout(dimension):
    net = hypercube(dimension)
    widths = cut_widths(net)
    assert widths.max() == hypercube_peak_width(dimension) == widths[net.num_nodes // 3]
    assert layout_bisection(net) == net.num_nodes // 2


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_theorem_2_is_the_minimum_over_all_layouts(dimension):
    assert minimum_peak_width(hypercube(dimension)) == hypercube_peak_width(dimension)


@pytest.mark.parametrize("side", [1, 2, 3, 4, 5, 16, 32])
def test_theorem_3_with_its_exception(side):
    assert peak_width(mesh(side, side)) == mesh_peak_width(side)


@pytest.mark.parametrize(
    ("sides", "peak"),
    [((2, 2), 2), ((4, 2), 3), ((3, 3), 4), ((4, 4), 5), ((3, 4), 4), ((3, 5), 4), ((2, 8), 3)],
)
def test_smallest_peak_widths_of_meshes_do_not_depend_on_orientation(sides, peak):
    assert minimum_peak_width(mesh(*sides)) == minimum_peak_width(mesh(*sides[::-1])) == peak


def test_figure_2_1():
    cube, rows = hypercube(3), mesh(4, 2)
    assert (layout_bisection(cube), peak_width(cube)) == (4, 5)
    assert (layout_bisection(rows), peak_width(rows)) == (2, 3)
    assert peak_width(mesh(2, 4)) == 4, "numbered along the long side it is not the best layout"


def test_cut_widths_of_a_ring_and_of_one_node():
    assert cut_widths(topology("ring:5")).tolist() == [2, 2, 2, 2, 0]
    assert cut_widths(topology("line:1")).tolist() == [0]
    assert layout_bisection(topology("line:1")) == 0
    assert minimum_peak_width(topology("line:1")) == 0


PRINTED = {
    "linear": [10.4, 17.2, 30.2, 53.7, 97.1, 176.3, 321.8],
    "logarithmic": [8.9, 13.7, 21.8, 34.1, 53.6, 83.3, 129.6],
    "constant": [5.3, 7.5, 10.7, 15.0, 21.3, 30.1, 42.7],
}


@pytest.mark.parametrize("delay", PRINTED)
def test_table_2_2_as_printed(delay):
    computed = channel_bandwidth_ratio(SIZES, delay, form="chittor-1991")
    assert computed == pytest.approx(PRINTED[delay], rel=0.035)


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


@pytest.mark.parametrize(
    ("nodes", "length", "average", "worst"),
    [(64, 1, 3.368, 2.489), (256, 100, 10.024, 8.862), (1024, 1000, 20.992, 20.289)],
)
def test_speedups_of_equations_2_22_and_2_23(nodes, length, average, worst):
    found = [
        speedup(nodes, length, distance=distance, form="chittor-1991")
        for distance in ("average", "worst", "neighbours")
    ]
    assert found == pytest.approx([average, worst, 2 * nodes**0.5 / 3], abs=5e-4)


def test_speedup_broadcasts_and_never_exceeds_the_bandwidth_ratio():
    found = speedup(np.array([[64], [256]]), [0, 10, 1e9])
    assert found.shape == (2, 3)
    assert np.all(np.diff(found) > 0)
    assert found[:, -1] == pytest.approx(channel_width_ratio([64, 256]))


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
