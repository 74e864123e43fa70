"""Traffic towards few nodes: weighted hot spots, incasts, and the asymmetric pattern."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.topology import mesh, topology
from netloom.workload import PacketStream, parse_traffic
from netloom.workload.kernels.packets import hot_place
from netloom.workload.traffic import hot_spot, incast, uniform


def dense(pattern):
    source, target, weight = pattern.matrix()
    shares = np.zeros((pattern.num_nodes,) * 2)
    np.add.at(shares, (source, target), weight)
    return shares * pattern.num_nodes


def drawn(pattern, packets_of_each, seed=1):
    rng = np.random.default_rng(seed)
    source = np.arange(pattern.num_nodes, dtype=np.int32).repeat(packets_of_each)
    target = pattern.draw_targets(rng, rng.permutation(source))
    rng = np.random.default_rng(seed)
    keys = rng.permutation(source).astype(np.int64) * pattern.num_nodes + target
    counted = np.bincount(keys, minlength=pattern.num_nodes**2)
    return counted.reshape(-1, pattern.num_nodes) / packets_of_each


def test_hot_nodes_are_taken_in_proportion_to_their_weights():
    pattern = parse_traffic("hotspot:0.6:5*3,2,7*0.5", mesh(3, 3))
    shares = np.full((9, 9), 0.4 / 8)
    np.fill_diagonal(shares, 0)
    for node in range(9):
        others = {hot: by for hot, by in {5: 3, 2: 1, 7: 0.5}.items() if hot != node}
        for hot, by in others.items():
            shares[node, hot] += 0.6 * by / sum(others.values())
    assert dense(pattern) == pytest.approx(shares)
    assert np.abs(drawn(pattern, 40_000) - shares).max() < 0.012
    assert pattern.name == "hotspot:0.6:2,5*3,7*0.5"
    assert dense(parse_traffic(pattern.name, mesh(3, 3))) == pytest.approx(shares)


def test_equal_weights_are_as_none():
    plain, weighted = (
        PacketStream(parse_traffic(spec, mesh(4, 4)), 0.4, seed=9).until(3000)
        for spec in ("hotspot:0.3:1,9,14", "hotspot:0.3:1*4,9*4,14*4")
    )
    assert np.array_equal(plain, weighted)


def test_hot_nodes_may_take_themselves_where_that_is_asked_for():
    """The hot spot of one node with weight 9 among 64 others of weight 1, itself included."""
    pattern = parse_traffic(f"hotspot-self:{1 / 9}:0:uniform-self", mesh(8, 8))
    shares = np.full((64, 64), 1 / 72)
    shares[:, 0] = 9 / 72
    assert dense(pattern) == pytest.approx(shares)
    assert np.abs(drawn(pattern, 5_000) - shares).max() < 0.025
    listed = "0*9," + ",".join(map(str, range(1, 64)))
    assert dense(parse_traffic(f"hotspot-self:1:{listed}", mesh(8, 8))) == pytest.approx(shares)


@settings(max_examples=100, deadline=None)
@given(
    weights=st.lists(st.sampled_from([1e-9, 0.1, 1, 1 / 3, 7, 1e9]), min_size=1, max_size=6),
    seed=st.integers(0, 2**32),
)
def test_no_rounding_sends_a_hot_node_to_itself(weights, seed):
    nodes = 8
    hot = np.random.default_rng(seed).permutation(nodes)[: len(weights)]
    pattern = hot_spot(uniform(nodes), 1.0, hot, weights=weights)
    law, ends = pattern.law, np.cumsum(pattern.law.weight)
    for rank, left in enumerate(law.others()[law.hot_nodes].tolist()):
        for lot in (0, 0.5, 1 - 2**-53, 1 - 2**-30):
            picked = hot_place(lot * left, rank, ends)
            assert len(weights) == 1 or (picked != rank and 0 <= picked < len(weights))
    shares = dense(pattern)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert not np.diag(shares).any()


def test_each_target_of_an_incast_has_senders_of_its_own():
    pattern = parse_traffic("incast:5:3,60", topology("hyperx:4x4/4"))
    source, target, _ = pattern.matrix()
    assert np.bincount(target)[[3, 60]].tolist() == [5, 5]
    assert len(np.unique(source)) == len(source) == 10
    assert not {3, 60} & set(source.tolist())
    again, other = (parse_traffic(f"incast:5:3,60:{seed}", mesh(8, 8)) for seed in (1, 2))
    assert again.name == "incast:5:3,60"
    assert np.array_equal(again.rate, pattern.rate)
    assert other.name == "incast:5:3,60:2"
    assert not np.array_equal(other.rate, pattern.rate)


def test_an_incast_of_all_leaves_only_the_targets_silent():
    assert np.flatnonzero(parse_traffic("incast:all", mesh(4, 4)).rate == 0).tolist() == [0]
    pattern = incast(11, None, [4, 9])
    source, target, _ = pattern.matrix()
    assert source.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 10]
    assert sorted(np.bincount(target)[[4, 9]].tolist()) == [4, 5]


def test_asymmetric_traffic_goes_to_two_nodes_half_the_network_apart():
    pattern = parse_traffic("asymmetric-self", mesh(2, 3))
    wanted = np.zeros((6, 6))
    for node in range(6):
        wanted[node, node % 3] = wanted[node, node % 3 + 3] = 0.5
    assert dense(pattern) == pytest.approx(wanted)
    assert (pattern.rate == 1).all()
    without = parse_traffic("asymmetric", mesh(2, 3)).matrix()
    assert without.target.tolist() == [3, 4, 5, 0, 1, 2]
