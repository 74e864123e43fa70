"""Networks of which parts are broken, as questions name them."""

import numpy as np
import pytest

from netloom import simulate
from netloom.base.errors import DeadlockError
from netloom.mapping.allocation import place_program
from netloom.questions.named import find_network
from netloom.questions.simulate.loop import simulate_loop
from netloom.routing import Layered, paths
from netloom.workload import ring
from netloom.workload.traffic import permutation

SHORT = {"load": 0.1, "cycles": 1500}


def test_failures_and_what_they_cost_are_told():
    found = simulate("mesh:8x8", failed_channels="3-4", **SHORT)
    data = found.to_dict()
    failures = data["failures"]
    assert data["topology"] == "mesh:8x8 without 3-4"
    assert failures["channels"] == ["(0,3) -> (0,4)", "(0,4) -> (0,3)"]
    assert failures["nodes"] == []
    assert failures["intact"]["routing"] == "dimension-order"
    assert failures["intact"]["throughput_bound"]["load"] == pytest.approx(0.4921875)
    assert failures["intact"]["hops"] == pytest.approx(16 / 3)
    # The 16 pairs of a node left and one right of the break in row 0 go round it in two hops more,
    # both ways; all others still have a shortest path, one dimension or the other first.
    assert failures["hops"] == pytest.approx(16 / 3 + 2 * 2 * 16 / (64 * 63))
    assert found.setup.bound.load < 0.4921875


def test_nothing_uses_what_is_broken():
    found = simulate("mesh:4x4", failed_channels="5-6,9->10", failed_nodes="3", **SHORT)
    net = found.network.topology
    ends = set(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))
    assert not ends & {(5, 6), (6, 5), (9, 10), (2, 3), (3, 7)}
    nodes = found.nodes()
    assert nodes["node_offered"][3] == 0
    assert nodes["node_accepted"][3] == 0
    assert found.network.traffic.name == "uniform among 15 nodes"
    assert found.to_dict()["failures"]["nodes"] == ["(0,3)"]


def test_patterns_are_those_of_the_whole_network():
    found = simulate("mesh:4x4", failed_nodes="1", traffic="transpose", **SHORT)
    assert np.flatnonzero(found.network.traffic.rate).tolist() == [
        2, 3, 6, 7, 8, 9, 11, 12, 13, 14,
    ]  # fmt: skip
    diagonal = simulate("mesh:4x4", failed_nodes="5", traffic="transpose", **SHORT)
    assert diagonal.network.traffic.name == "transpose", "node 5 takes no part in it anyway"


def test_programs_stay_on_nodes_that_work():
    net = find_network("mesh:3x3", failed_nodes="0,4")[0]
    place = {
        mapping: place_program(mapping, ring(7), net, seed=3, tasks_per_node=1)
        for mapping in ("identity", "random", "distance:2")
    }
    assert place["identity"].tolist() == [1, 2, 3, 5, 6, 7, 8]
    assert sorted(place["random"].tolist()) == [1, 2, 3, 5, 6, 7, 8]
    assert sorted(place["distance:2"].tolist()) == [1, 2, 3, 5, 6, 7, 8]
    at = place["distance:2"]
    lengths = paths(net, Layered(), at[ring(7).source], at[ring(7).target]).lengths
    assert lengths.mean() == pytest.approx(2, rel=0.02)


def test_worms_go_up_and_down_by_default_and_may_deadlock_otherwise():
    options = {"app": "uniform", "applied": 0.3, "engine": "worm", "loops": 20}
    broken = {"failed_channels": "0-1", "failed_nodes": "9,27,35"}
    found = simulate_loop("mesh:8x8", **broken, **options)
    data = found.to_dict()
    assert data["routing"] == "up-down"
    assert data["failures"]["nodes"] == ["(1,1)", "(3,3)", "(4,3)"]
    assert len(found.point.loops) == 61
    assert data["actual"]["worst_node"] > 0.02
    with pytest.raises(DeadlockError):
        simulate_loop("mesh:8x8", routing="layered", **broken, **options)


def test_traffic_that_meets_no_failed_node_is_as_it_is():
    mirrored = permutation([0, 1, 13, *range(3, 13), 2, 14, 15])
    found = simulate("mesh:4x4", failed_nodes="5", traffic=mirrored, **SHORT)
    assert np.flatnonzero(found.network.traffic.rate).tolist() == [2, 13]
