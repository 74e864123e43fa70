"""Patterns of traffic: who sends to whom, by hand, by draws, and on all kinds of networks."""

from dataclasses import replace
from itertools import pairwise, product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError, NotAMappingError
from netloom.topology import mesh, topology, torus
from netloom.workload import parse_traffic, process_graph, read
from netloom.workload.kernels.packets import hot_place
from netloom.workload.traffic import (
    from_process_graph,
    hot_spot,
    incast,
    pairs,
    permutation,
    uniform,
    with_rates,
)
from netloom.workload.traffic.patterns import alias_tables


def chance(seed=1):
    return np.random.default_rng(seed)


def dense(found, num_nodes):
    weights = np.zeros((num_nodes, num_nodes))
    np.add.at(weights, (found.source, found.target), found.weight)
    return weights


def drawn_shares(pattern, draws, seed=1):
    """Shares of the targets of many packets, sent by the nodes in proportion to their rates."""
    rng = chance(seed)
    senders = np.flatnonzero(pattern.rate).astype(np.int32)
    counts = np.round(draws * pattern.rate[senders] / pattern.rate.sum()).astype(int)
    sources = rng.permutation(np.repeat(senders, counts)).astype(np.int32)
    targets = pattern.law.draw(rng, sources)
    assert targets.dtype == np.int32
    keys = sources.astype(np.int64) * pattern.num_nodes + targets
    counted = np.bincount(keys, minlength=pattern.num_nodes**2)
    return counted.reshape(-1, pattern.num_nodes) / len(sources)


def test_a_node_that_stays_where_it_is_does_not_send_unless_told_to():
    diagonal = parse_traffic("transpose", mesh(4, 4))
    assert np.flatnonzero(diagonal.rate == 0).tolist() == [0, 5, 10, 15]
    assert diagonal.rate.sum() == 12
    assert diagonal.matrix().weight.tolist() == [1 / 12] * 12
    told = parse_traffic("transpose-self", mesh(4, 4))
    assert told.rate.tolist() == [1.0] * 16
    sources = np.array([5, 1, 5], np.int32)
    assert told.law.draw(chance(), sources).tolist() == [5, 4, 5]


@pytest.mark.parametrize("to_self", [False, True])
def test_uniform_traffic_is_uniform(to_self):
    pattern = uniform(9, to_self=to_self)
    wanted = np.full((9, 9), 1 / 81) if to_self else (1 - np.eye(9)) / 72
    assert np.allclose(dense(pattern.matrix(), 9), wanted, rtol=1e-12)
    assert np.abs(drawn_shares(pattern, 300_000) / (1 / 81) - wanted * 81).max() < 0.08
    assert (np.diag(drawn_shares(pattern, 10_000)) > 0).all() == to_self


def test_the_only_hot_node_sends_as_the_others_would_without_it():
    pattern = parse_traffic("hot-spot:1:3", mesh(4))
    weights = dense(pattern.matrix(), 4) * 4
    assert weights[:3, 3].tolist() == [1, 1, 1]
    assert weights[3].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert np.abs(drawn_shares(pattern, 40_000) * 4 - weights).max() < 0.02


def test_a_hot_spot_over_a_permutation_keeps_its_silent_nodes():
    pattern = parse_traffic("hot-spot:0.5:0:transpose", mesh(3, 3))
    assert pattern.name == "hotspot:0.5:0:transpose"
    assert np.flatnonzero(pattern.rate == 0).tolist() == [0, 4, 8]
    weights = dense(pattern.matrix(), 9) * 6
    assert weights[1, [0, 3]].tolist() == [0.5, 0.5]
    assert weights[[0, 4, 8]].sum() == 0
    assert np.abs(drawn_shares(pattern, 60_000) * 6 - weights).max() < 0.02


def test_pairs_send_in_proportion_to_their_weights():
    pattern = parse_traffic("pairs:0-3,5-1*2,5-2, 0-3*1.5", mesh(2, 3))
    assert pattern.rate.tolist() == pytest.approx([2.5 / 2.75, 0, 0, 0, 0, 3 / 2.75])
    found = pattern.matrix()
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == [
        (0, 3),
        (5, 1),
        (5, 2),
    ]
    assert found.weight.tolist() == pytest.approx([2.5 / 5.5, 2 / 5.5, 1 / 5.5])
    assert np.abs(drawn_shares(pattern, 50_000) - dense(found, 6)).max() < 0.01


def test_a_program_sends_what_leaves_its_nodes():
    graph = process_graph(
        4, [0, 0, 1, 2, 3], [1, 2, 0, 3, 0], bytes=[10, 30, 99, 20, 50], messages=[1, 1, 9, 2, 0]
    )
    node_of = [0, 0, 2, 1]  # tasks 0 and 1 share node 0; node 3 is empty
    by_bytes = from_process_graph(graph, node_of, 4)
    assert by_bytes.rate.tolist() == pytest.approx([0.9, 1.5, 0.6, 0])  # 30, 50, 20
    assert by_bytes.matrix().weight.tolist() == pytest.approx([0.3, 0.5, 0.2])
    by_messages = from_process_graph(graph, node_of, 4, weight="messages")
    assert by_messages.rate.tolist() == pytest.approx([2 / 3, 0, 4 / 3, 0])
    by_edges = from_process_graph(graph, node_of, 4, weight="uniform")
    assert by_edges.rate.tolist() == [1, 1, 1, 0]


def test_weights_of_any_size_are_weights():
    pattern = pairs(3, [0, 0, 1], [1, 2, 2], weights=[1e308, 1e308, 1e308])
    assert pattern.rate.tolist() == pytest.approx([4 / 3, 2 / 3, 0])
    assert pairs(3, [0, 1], [1, 2], weights=[1e-300, 1e300]).matrix().weight.sum() == 1


def test_rates_of_ones_own():
    pattern = with_rates(parse_traffic("transpose", mesh(2, 2)), [0, 3, 1, 0])
    assert pattern.rate.tolist() == [0, 1.5, 0.5, 0]
    assert pattern.matrix().weight.tolist() == [0.75, 0.25]
    silent = with_rates(uniform(3), [1, 0, 0])
    assert silent.matrix().source.tolist() == [0, 0]
    assert with_rates(silent, [0, 0, 5]).rate.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "spec", ["uniform", "uniform-self", "tornado", "hot-spot:0.2:1,7", "pairs:0-5,0-6*3,11-2"]
)
def test_the_matrix_adds_to_one(spec):
    pattern = parse_traffic(spec, torus(3, 4))
    whole = pattern.matrix()
    assert whole.weight.sum() == pytest.approx(1)
    assert (whole.weight > 0).all()
    keys = whole.source * 12 + whole.target
    assert (np.diff(keys) > 0).all()


weights_of_rows = st.lists(
    st.lists(st.floats(1e-6, 1e6) | st.sampled_from([1.0, 2.0]), max_size=12), max_size=8
)


@given(weights_of_rows)
def test_alias_tables_hold_the_shares_they_were_made_from(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    share = np.array([weight / sum(row) for row in rows for weight in row])
    threshold, alias = alias_tables(offsets, share)
    held = np.zeros(len(share))
    for start, stop in pairwise(offsets):
        for cell in range(start, stop):
            assert start <= alias[cell] < stop
            held[cell] += threshold[cell] / (stop - start)
            held[alias[cell]] += (1 - threshold[cell]) / (stop - start)
    assert ((threshold >= 0) & (threshold <= 1)).all()
    assert np.allclose(held, share, rtol=0, atol=1e-12)


def test_equal_shares_that_round_below_one_stay_in_their_row():
    assert 1 / 49 * 49 < 1
    threshold, alias = alias_tables(np.array([0, 2, 51]), np.array([0.25, 0.75] + [1 / 49] * 49))
    assert threshold[2:].tolist() == [1] * 49
    assert alias[2:].tolist() == list(range(2, 51))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: permutation([0, 1]), "found no node that sends"),
        (lambda: permutation([1, 2]), "found target 2; expected -1 to 1"),
        (lambda: pairs(4, [0, 1], [1]), "found 2 sources, 1 targets and 2 weights"),
        (lambda: with_rates(uniform(3), [1, np.nan, 0]), "rates: found nan for node 1"),
        (lambda: with_rates(uniform(3), [0, 0, 0]), "rates: found no node that sends"),
        (
            lambda: with_rates(permutation([1, 0, 2]), [1, 1, 4]),
            "rates: found 4 for node 2; expected 0 for nodes that have no target in 'permutation'",
        ),
        (lambda: uniform(2**15).matrix(), "found 1073741824 pairs of nodes"),
    ],
)
def test_a_mistake_in_python_is_one_line(make, said):
    with pytest.raises(InputError) as error:
        make()
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("node_of", "weight", "said", "kind"),
    [
        ([0, 1], "bytes", "found 2 nodes for 3 tasks", NotAMappingError),
        ([0, 1, 4], "bytes", "found task 2 on host 4; expected hosts 0 to 3", NotAMappingError),
        ([0.0, 1.0, 2.0], "bytes", "found values of type float64", NotAMappingError),
        ([1, 1, 1], "bytes", "found nothing sent between tasks of different nodes", InputError),
        ([0, 1, 2], "messages", "found nothing sent", InputError),
        ([0, 1, 2], "flits", "weight: found 'flits'; expected bytes, messages or", InputError),
    ],
)
def test_a_program_that_does_not_fit_says_so(node_of, weight, said, kind):
    graph = process_graph(3, [0, 1], [1, 2], messages=[0, 0])
    with pytest.raises(kind) as error:
        from_process_graph(graph, node_of, 4, weight=weight)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("spec", "graph"),
    [
        ("transpose", "transpose:4"),
        ("bit-complement", "bit-complement:16"),
        ("bit-reverse", "bit-reverse:16"),
        ("shuffle", "shuffle:16"),
        ("tornado", "tornado:16"),
        ("tornado:4x4", "tornado:4x4"),
        ("neighbour:2x8", "neighbour:2x8"),
        ("shift:1,5", "shift:1,5/16"),
        ("random-permutation:7", "random-permutation:16,7"),
    ],
)
def test_a_pattern_among_listed_nodes_is_that_of_as_many_tasks(spec, graph):
    """Whatever the network is, and in whatever order the nodes are listed."""
    net = topology("slim-fly:5/1")  # 50 hosts: neither a square nor a power of two
    nodes = chance(3).permutation(net.num_hosts)[:16]
    found = parse_traffic(spec, net, nodes).matrix()
    asked = read(graph)
    want = {(int(nodes[s]), int(nodes[t])) for s, t in zip(asked.source, asked.target, strict=True)}
    assert set(zip(found.source.tolist(), found.target.tolist(), strict=True)) == want
    assert len({round(float(each), 9) for each in found.weight}) == 1


# -- towards few nodes -----------------------------------------------------------------------------


def of_each(pattern):
    """Shares of what each node sends."""
    return dense(pattern.matrix(), pattern.num_nodes) * pattern.num_nodes


def test_hot_nodes_are_taken_in_proportion_to_their_weights():
    pattern = parse_traffic("hotspot:0.6:5*3,2,7*0.5", mesh(3, 3))
    shares = np.full((9, 9), 0.4 / 8)
    np.fill_diagonal(shares, 0)
    for node in range(9):
        others = {hot: by for hot, by in {5: 3, 2: 1, 7: 0.5}.items() if hot != node}
        for hot, by in others.items():
            shares[node, hot] += 0.6 * by / sum(others.values())
    assert of_each(pattern) == pytest.approx(shares)
    assert np.abs(drawn_shares(pattern, 9 * 40_000) * 9 - shares).max() < 0.012
    assert pattern.name == "hotspot:0.6:2,5*3,7*0.5"
    assert of_each(parse_traffic(pattern.name, mesh(3, 3))) == pytest.approx(shares)


def test_hot_nodes_may_take_themselves_where_that_is_asked_for():
    """The hot spot of one node with weight 9 among 64 others of weight 1, itself included."""
    pattern = parse_traffic(f"hotspot-self:{1 / 9}:0:uniform-self", mesh(8, 8))
    shares = np.full((64, 64), 1 / 72)
    shares[:, 0] = 9 / 72
    assert of_each(pattern) == pytest.approx(shares)
    assert np.abs(drawn_shares(pattern, 64 * 5_000) * 64 - shares).max() < 0.025
    listed = "0*9," + ",".join(map(str, range(1, 64)))
    assert of_each(parse_traffic(f"hotspot-self:1:{listed}", mesh(8, 8))) == pytest.approx(shares)


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
    shares = of_each(pattern)
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
    assert of_each(pattern) == pytest.approx(wanted)
    assert (pattern.rate == 1).all()
    without = parse_traffic("asymmetric", mesh(2, 3)).matrix()
    assert without.target.tolist() == [3, 4, 5, 0, 1, 2]


# -- from group to group ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "hosts_of_group"),
    [
        ("dragonfly:2x4x2", 8),
        ("dragonfly:3x2x2/4", 6),
        ("dragonfly+:2x2x3x1", 6),
        ("fat-tree:4x2", 4),
        ("fat-tree:k=4", 4),
        ("leaf-spine:3x2x5", 5),
        ("hyperx:3x4/2", 8),
        ("hyperx:4x3x2/1", 6),
        ("hyperx:1x5/3", 3),
        ("hyperx:6/4", 4),
    ],
)
@pytest.mark.parametrize(
    ("traffic", "ahead"),
    [("next-group", 1), ("adversarial", 1), ("adversarial:+2", 2), ("adversarial:2", 2)],
)
def test_each_host_sends_alike_to_all_hosts_of_a_group_further(
    spec: str, hosts_of_group: int, traffic: str, ahead: int
):
    net = topology(spec)
    source, target, share = parse_traffic(traffic, net).matrix()
    groups = net.num_hosts // hosts_of_group
    assert len(source) == net.num_hosts * hosts_of_group
    assert ((source // hosts_of_group + ahead) % groups == target // hosts_of_group).all()
    assert share == pytest.approx(1 / len(source))


def test_pods_are_those_of_the_tree_whatever_hosts_are_called():
    net = topology("leaf-spine:2x1x2")
    mixed = np.array([2, 0, 3, 1], np.int32)  # the host of each place
    shuffled = replace(net, family=replace(net.family, host_at=mixed))
    source, target, _ = parse_traffic("next-group", shuffled).matrix()
    sent = sorted(zip(source.tolist(), target.tolist(), strict=True))
    assert sent == [(a, b) for a in range(4) for b in ([0, 2] if a in (3, 1) else [1, 3])]


# -- on hosts that hang on routers -----------------------------------------------------------------


SPECS = [
    "hyperx:4x4/4", "mesh:4x4/4", "fat-tree:4x3", "dragonfly:2x4x2/8", "leaf-spine:8x4x8",
    "butterfly:4x3", "xgft:4x4x4/1x2x4", "torus:8/8",
]  # fmt: skip


def targets_of(spec, network):
    found = parse_traffic(spec, network).matrix()
    targets = np.arange(network.num_hosts)
    targets[found.source] = found.target
    return targets.tolist()


@pytest.mark.parametrize("spec", SPECS)
def test_permutations_are_of_host_numbers(spec):
    network = topology(spec)
    hosts = network.num_hosts
    bits = hosts.bit_length() - 1
    numbers = [f"{host:0{bits}b}" for host in range(hosts)]
    complement = str.maketrans("01", "10")
    for pattern, moved in {
        "bit-complement": [number.translate(complement) for number in numbers],
        "bit-reverse": [number[::-1] for number in numbers],
        "shuffle": [number[1:] + number[0] for number in numbers],
    }.items():
        assert targets_of(pattern, network) == [int(number, 2) for number in moved]
    weight = parse_traffic("uniform", network).matrix().weight
    assert len(weight) == hosts * (hosts - 1)
    assert weight == pytest.approx(1 / len(weight))
    if bits % 2 == 0:
        turned = [number[bits // 2 :] + number[: bits // 2] for number in numbers]
        assert targets_of("transpose", network) == [int(number, 2) for number in turned]


@pytest.mark.parametrize(
    ("spec", "sides", "each"),
    [
        ("hyperx:8x8/8", (8, 8), 8),
        ("hyperx:3x4x5/2", (3, 4, 5), 2),
        ("hyperx:4x4/4", (4, 4), 4),
        ("mesh:4x5/3", (4, 5), 3),
        ("torus:7/2", (7,), 2),
    ],
)
@pytest.mark.parametrize("pattern", ["tornado", "neighbour"])
def test_coordinates_are_those_of_the_router(spec, sides, each, pattern):
    ahead = [(side + 1) // 2 - 1 if pattern == "tornado" else 1 for side in sides]
    wanted = []
    for at in product(*map(range, sides)):
        moves = zip(at, ahead, sides, strict=True)
        moved = [(place + by) % side for place, by, side in moves]
        wanted += [int(np.ravel_multi_index(moved, sides)) * each + host for host in range(each)]
    assert targets_of(pattern, topology(spec)) == wanted
