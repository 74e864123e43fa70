"""All-reduce and all-to-all by linear programs: published optima, and schedules at them."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Asked
from netloom.phases.collectives.schedules import ScheduleNetwork, priced_seconds
from netloom.phases.collectives.synthesis import exchange, joint, paths_of, solved, synthesised
from netloom.phases.collectives.trees import optimum, packed
from netloom.topology import topology
from tests.phases.collectives.boxes import a100, box, made, plain
from tests.phases.collectives.verified import faults

GAINS = {
    "line:4": (1.0, 1.5),
    "mesh:3x3": (1.5, 4 / 3),
    "mesh:4x4": (1.6, 1.5),
    "torus:4x4": (32 / 15, 1.0),
    "hypercube:4": (32 / 15, 1.0),
    "petersen": (5 / 3, 1.0),
}


def bandwidth_of(found):
    """Return what trees reach, and the bound, relative to the network's reference rate."""
    unit = found.network.unit
    return float(found.rate * int(found.trees.sum()) * unit), found.upper * float(unit)


@pytest.mark.parametrize("spec", GAINS)
def test_published_optima_are_constructed(spec):
    net, (bandwidth, gain) = plain(spec), GAINS[spec]
    found = joint(net)
    reached, bound = bandwidth_of(found)
    assert reached == pytest.approx(bandwidth, rel=1e-9)
    assert bound == pytest.approx(bandwidth, rel=1e-6)
    after = float(optimum(net).bandwidth) / 2  # reduce-scatter, then all-gather
    assert reached / after == pytest.approx(gain, rel=1e-9)
    assert (found.out + found.into <= net.capacity / float(found.rate)).all()
    rate = float(found.rate)
    assert faults(packed(replace(net, capacity=net.capacity), found.out, found.trees, rate)) == []


@pytest.mark.parametrize(("name", "links"), [("dgx1", 24 / 7), ("ndv2-2", 0.5), ("ndv2-4", 1 / 3)])
def test_boxes_gain_nothing(name, links):
    found = joint(box(name))
    reached, bound = bandwidth_of(found)
    assert reached == pytest.approx(links, rel=1e-9)
    assert bound == pytest.approx(links, rel=1e-6)


def test_switches_only_forward():
    """With switches that copy 200 GB/s were possible; by ranks alone 173.33 is."""
    found = joint(a100(2))
    assert bandwidth_of(found)[0] * 25 == pytest.approx(520 / 3, rel=1e-9)


@pytest.mark.parametrize("net", ["line:4", "mesh:3x3", "leaf-spine:2x2x4", "dgx1"])
def test_schedules_are_right(net):
    ranks = box(net) if net == "dgx1" else plain(net)
    ranks = replace(ranks, bytes_per_second=25e9, latency=np.full(ranks.num_links, 1e-6))
    assert 0.75 < made(ranks, "all-reduce", 64e6, chunks=64).efficiency <= 1


def test_a_long_all_reduce_on_a_mesh_beats_one_collective_after_the_other():
    ranks = replace(plain("mesh:3x3"), bytes_per_second=25e9)
    finish = made(ranks, "all-reduce", 1e9, chunks=256).finish_seconds
    assert 1e9 / finish > 1.25 * 25e9 * float(optimum(ranks).bandwidth) / 2


def test_chunks_of_few_trees_are_all_equally_large():
    found = synthesised(Asked(box("dgx1"), "all-reduce", 1e9))
    assert np.ptp(found.program.chunk_size) < 1e-12
    assert found.efficiency > 0.9995


def test_where_the_program_is_large_one_collective_follows_the_other():
    found, each = joint(plain("mesh:16x16")), optimum(plain("mesh:16x16")).bandwidth / 2
    assert found.rate * int(found.trees.sum()) == each
    assert found.upper == pytest.approx(480 / 255)  # cables per group less one


@pytest.mark.parametrize("spec", ["mesh:3x4", "mesh:3x3x2", "line:5", "jellyfish:8x3x1"])
def test_one_root_in_the_middle_is_enough_if_only_ranks_forward(spec, monkeypatch):
    monkeypatch.setattr("netloom.phases.collectives.synthesis.FEW_FLOWS", 0)
    net = plain(spec)
    found = joint(net)
    assert np.count_nonzero(found.trees) == 1 or spec.startswith("jellyfish")
    assert float(found.rate * int(found.trees.sum())) == pytest.approx(solved(net)[0])
    assert found.upper == pytest.approx(solved(net)[0])


@pytest.mark.parametrize("name", ["mesh:3x3", "leaf-spine:2x2x3", "dgx1", "a100"])
def test_the_program_of_one_kind_of_trees_says_the_same_as_that_of_both(name, monkeypatch):
    nets = {"dgx1": lambda: box("dgx1"), "a100": lambda: a100(2)}
    net = nets.get(name, lambda: plain(name))()
    upper, *_, prices = solved(net)
    few, ends = "netloom.phases.collectives.synthesis.FEW_FLOWS", (net.source, net.target)
    seen = ScheduleNetwork(
        "",
        ("",) * net.num_vertices,
        np.arange(net.num_ranks, dtype=np.int32),
        *ends,
        net.capacity.astype(np.float64),
        net.latency,
    )
    assert priced_seconds(seen, "all-reduce", 1.0, prices) == pytest.approx(1 / upper)
    monkeypatch.setattr(few, 0)
    one, *_, prices = solved(net)
    assert one == pytest.approx(upper)
    assert priced_seconds(seen, "all-reduce", 1.0, prices) == pytest.approx(1 / upper)


TE_CCL_NDV2_2 = 3.524
"""GB/s of an all-to-all on two chassis of NDv2, as TE-CCL's published output has it."""


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [("dgx1", 75.0), ("ndv2-2", 3.125), ("ndv2-4", 25 / 12), ("dgx2-2", 12.5)],
)
def test_bounds_of_boxes(name, gigabytes):
    assert exchange(box(name)).bytes_per_second / 1e9 == pytest.approx(gigabytes, rel=1e-6)


def test_a_published_schedule_is_faster_than_possible():
    """64 blocks must cross 12.5 GB/s; TE-CCL's GPU 0 is a switch there, and is left unserved."""
    net = box("ndv2-2")
    found = exchange(net)
    between = [(0, 9), (8, 1)]
    ends = zip(net.source.tolist(), net.target.tolist(), strict=True)
    cables = [place for place, pair in enumerate(ends) if pair in between]
    assert net.rate[cables].tolist() == [12.5e9, 12.5e9]
    assert (found.flow.sum(axis=0)[cables] > net.capacity[cables] * (1 - 1e-6)).all()  # full
    assert found.bytes_per_second == pytest.approx(16 * 12.5e9 / 64, rel=1e-9)
    assert 1.12 * found.bytes_per_second < TE_CCL_NDV2_2 * 1e9


@pytest.mark.parametrize(
    ("spec", "pairs"),
    [("torus:4x4", 8), ("mesh:4x4", 16), ("leaf-spine:4x1x4", 48), ("ring:8", 8), ("mesh:6x6", 54)],
)
def test_closed_forms(spec, pairs):
    """Tori: channels over the sum of distances; the others: a cut in the middle, or a leaf's."""
    assert exchange(plain(spec)).rate == pytest.approx(1 / pairs, rel=1e-6)


@pytest.mark.parametrize("name", ["dgx1", "ndv2-2", "dgx2-2"])
def test_schedules_are_at_the_bound(name):
    assert 0.995 < made(box(name), "all-to-all", 1e9).efficiency <= 1 + 1e-9


def test_schedules_through_switches_are_right():
    net = replace(plain("leaf-spine:4x2x4"), bytes_per_second=25e9)
    assert made(net, "all-to-all", 64e6).efficiency > 0.99


@st.composite
def connected(draw):
    """A strongly connected network of 3 to 7 vertices, of which some are ranks."""
    size = draw(st.integers(3, 7))
    graph = nx.DiGraph()
    for here in range(size):
        rate = draw(st.sampled_from([1, 2]))
        graph.add_edge(here, (here + 1) % size, bandwidth=rate)
        for there in draw(st.sets(st.integers(0, size - 1))) - {here, (here + 1) % size}:
            graph.add_edge(here, there, bandwidth=1)
    return rank_network(topology(graph), range(draw(st.integers(2, size))))


@given(connected())
@settings(deadline=None, max_examples=40)
def test_paths_make_up_the_flows_of_any_network(net):
    """Every pair gets its block, no link more than it carries, and no cut is beaten."""
    found = exchange(net)
    got, used = np.zeros((net.num_ranks,) * 2), np.zeros(net.num_links)
    for source, target, part, links in paths_of(found):
        assert net.source[links[0]] == source
        assert net.target[links[-1]] == target
        assert (net.target[links[:-1]] == net.source[links[1:]]).all()
        got[source, target] += part
        used[links] += part * found.rate
    assert got == pytest.approx(1 - np.eye(net.num_ranks))
    assert (used <= net.capacity * (1 + 1e-5)).all()
    for cut in range(1, 2**net.num_ranks - 1):
        inside = np.array([bool(cut >> rank & 1) for rank in range(net.num_ranks)])
        forward = np.zeros(net.num_vertices - net.num_ranks, bool)
        for side in (forward, ~forward):
            within = np.append(inside, side)
            leaving = net.capacity[within[net.source] & ~within[net.target]].sum()
            assert found.rate * inside.sum() * (~inside).sum() <= leaving * (1 + 1e-6)
    made(net, "all-to-all", chunks=2)
