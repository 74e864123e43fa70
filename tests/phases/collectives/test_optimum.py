"""Optima: published ones to the last digit, and the least of all cuts of small networks."""

from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.network import rank_network, whole_numbers
from netloom.phases.collectives.trees import optimum
from netloom.topology import topology
from tests.phases.collectives.boxes import a100, box, plain

PUBLISHED = [
    # ForestColl (Zhao et al. 2024), its own code run on these networks: bandwidth x N, trees
    ("torus:3x3", Fraction(9, 2), 1), ("torus:4x4", Fraction(64, 15), 4),
    ("torus:5x5", Fraction(25, 6), 1), ("torus:3x4", Fraction(48, 11), 4),
    ("torus:2x3", Fraction(18, 5), 3), ("torus:3x3x3", Fraction(81, 13), 3),
    ("torus:4x4x4", Fraction(128, 21), 2), ("mesh:3x3", Fraction(9, 4), 1),
    ("mesh:4x4", Fraction(32, 15), 2), ("mesh:2x4", Fraction(16, 7), 2),
    ("hypercube:3", Fraction(24, 7), 3), ("hypercube:4", Fraction(64, 15), 4),
    ("hypercube:5", Fraction(160, 31), 5), ("ring:8", Fraction(16, 7), 2),
    ("ring:16", Fraction(32, 15), 2), ("petersen", Fraction(10, 3), 1),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "bandwidth", "trees"), PUBLISHED)
def test_published_optima(spec, bandwidth, trees):
    found = optimum(plain(spec))
    assert (found.bandwidth, found.trees) == (bandwidth, trees)


@pytest.mark.parametrize(
    ("name", "gigabytes", "trees", "inside"),
    [
        ("ndv2-2", Fraction(25), 1, 8),
        ("ndv2-4", Fraction(50, 3), 1, 24),
        ("dgx2-2", Fraction(4000, 31), 10, 31),
        ("dgx1", Fraction(1200, 7), 6, 7),
    ],
)
def test_published_boxes(name, gigabytes, trees, inside):
    """GB/s; on DGX-1 8 · 6/7 NVLinks of 25 GB/s."""
    found = optimum(box(name))
    assert found.bytes_per_second == pytest.approx(float(gigabytes) * 1e9, rel=1e-12)
    assert found.trees == trees
    assert len(found.inside) in (inside, found.network.num_ranks - inside)


@pytest.mark.parametrize(
    ("boxes", "gigabytes", "trees"), [(1, 2400 / 7, 1), (2, 1040 / 3, 13), (4, 800 / 3, 1)]
)
def test_boxes_of_a100(boxes, gigabytes, trees):
    found = optimum(a100(boxes))
    assert found.bytes_per_second / 1e9 == pytest.approx(gigabytes, rel=1e-12)
    assert found.trees == trees


def test_larger_networks():
    assert optimum(plain("torus:8x8x8")).bandwidth == Fraction(6 * 512, 511)
    assert optimum(plain("torus:16x16")).bandwidth == Fraction(4 * 256, 255)
    assert optimum(plain("leaf-spine:8x4x16")).bandwidth == Fraction(128, 127)


def test_the_bottleneck_is_named():
    said = optimum(box("ndv2-2")).bottleneck
    assert said.startswith("8 ranks (gpu")
    assert "through 1 link of 12.5 GB/s together" in said


def test_a_broadcast_is_bounded_by_its_worst_target():
    net = plain("mesh:3x3")
    for root, links in ((0, 2), (4, 2)):
        assert optimum(net, np.eye(9, dtype=int)[root]).bandwidth == links
    found = optimum(plain("torus:4x4"), np.eye(16, dtype=int)[3])
    assert (found.bandwidth, found.trees) == (4, 4)


@st.composite
def small(draw):
    """A strongly connected network of 2 to 6 vertices with odd links, and weights."""
    size = draw(st.integers(2, 6))
    graph = nx.DiGraph()
    for vertex in range(size):
        graph.add_edge(vertex, (vertex + 1) % size, bandwidth=draw(st.sampled_from([1, 2, 2.5])))
    for a in range(size):
        for b in range(size):
            if a != b and draw(st.booleans()):
                graph.add_edge(a, b, bandwidth=draw(st.sampled_from([0.5, 1, 3])))
    ranks = draw(st.permutations(range(size)))[: draw(st.integers(2, size))]
    net = rank_network(topology(graph), ranks)
    weights = draw(st.lists(st.integers(0, 3), min_size=len(ranks), max_size=len(ranks)))
    return net, np.array(weights if any(weights) else [1] * len(ranks))


def least_cut(net, weights):
    """Return the least rate over all cuts, one by one."""
    found = []
    for many in range(1, net.num_vertices):
        for cut in combinations(range(net.num_vertices), many):
            inside = np.isin(np.arange(net.num_vertices), cut)
            weight = int(weights[inside[: net.num_ranks]].sum())
            if weight and not inside[: net.num_ranks].all():
                leaving = inside[net.source] & ~inside[net.target]
                found.append(Fraction(int(net.capacity[leaving].sum()), weight))
    return min(found)


@given(small())
@settings(deadline=None)
def test_optima_are_the_least_of_all_cuts(case):
    net, weights = case
    found = optimum(net, weights)
    assert found.rate == least_cut(net, weights)
    capacity = int(net.capacity[found.leaving].sum())
    assert found.rate == Fraction(capacity, int(weights[found.inside].sum()))


@given(small())
@settings(deadline=None)
def test_scattering_is_gathering_on_the_reversed_network(case):
    net, weights = case
    back = net.reversed()
    assert optimum(back, weights).rate == least_cut(back, weights)
    again = back.reversed()
    assert [getattr(again, each).tolist() for each in ("source", "target", "capacity")] == [
        getattr(net, each).tolist() for each in ("source", "target", "capacity")
    ]


@given(st.lists(st.integers(1, 400).map(lambda each: each / 8), min_size=1, max_size=20))
def test_rates_of_cables_are_exact(values):
    whole, unit = whole_numbers(np.array(values))
    assert [each * unit for each in whole.tolist()] == [Fraction(each) for each in values]


def test_odd_rates_are_rounded_down():
    whole, unit = whole_numbers(np.array([1.0, np.pi, 100.0]))
    assert (whole * float(unit) <= np.array([1.0, np.pi, 100.0]) * (1 + 1e-9)).all()
    assert whole * float(unit) == pytest.approx([1.0, np.pi, 100.0], rel=1e-3)


def test_switches_are_no_ranks():
    net = box("ndv2-4").topology
    assert rank_network(net).num_ranks == 32
    with pytest.raises(InputError, match="ib, which is a switch"):
        rank_network(net, [0, 32])
