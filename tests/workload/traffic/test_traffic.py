from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from netloom.base.errors import InputError, NotAMappingError
from netloom.topology import cube, mesh, topology, torus
from netloom.workload import parse_traffic, process_graph, read, traffic
from netloom.workload.traffic import (
    from_process_graph,
    hot_spot,
    pairs,
    permutation,
    uniform,
    with_rates,
)
from netloom.workload.traffic.patterns import alias_tables


def chance(seed=1):
    return np.random.default_rng(seed)


def targets_of(spec, network):
    """Where each node sends by the matrix; None where it does not send."""
    found = parse_traffic(spec, network).matrix()
    sent = dict(zip(found.source.tolist(), found.target.tolist(), strict=True))
    assert len(sent) == len(found.source)
    return [sent.get(node) for node in range(network.num_nodes)]


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
    targets = pattern.draw_targets(rng, sources)
    assert targets.dtype == np.int32
    keys = sources.astype(np.int64) * pattern.num_nodes + targets
    counted = np.bincount(keys, minlength=pattern.num_nodes**2)
    return counted.reshape(-1, pattern.num_nodes) / len(sources)


def test_permutations_by_hand():
    assert targets_of("transpose", mesh(3, 3)) == [None, 3, 6, 1, None, 7, 2, 5, None]
    assert targets_of("transpose-self", mesh(3, 3)) == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert targets_of("transpose", mesh(2, 2, 4))[:4] == [None, 4, 8, 12]  # as a 4 x 4 matrix
    assert targets_of("bit-complement", mesh(2, 4)) == [7, 6, 5, 4, 3, 2, 1, 0]
    assert targets_of("bit-reverse", mesh(8)) == [None, 4, None, 6, 1, None, 3, None]
    assert targets_of("shuffle-self", mesh(8)) == [0, 2, 4, 6, 1, 3, 5, 7]
    assert targets_of("tornado", torus(8)) == [3, 4, 5, 6, 7, 0, 1, 2]
    assert targets_of("tornado", torus(2, 5)) == [2, 3, 4, 0, 1, 7, 8, 9, 5, 6]
    assert targets_of("neighbour", torus(2, 3)) == [4, 5, 3, 1, 2, 0]


def test_a_node_that_stays_where_it_is_does_not_send_unless_told_to():
    diagonal = parse_traffic("transpose", mesh(4, 4))
    assert np.flatnonzero(diagonal.rate == 0).tolist() == [0, 5, 10, 15]
    assert diagonal.rate.sum() == 12
    assert diagonal.matrix().weight.tolist() == [1 / 12] * 12
    told = parse_traffic("transpose-self", mesh(4, 4))
    assert told.rate.tolist() == [1.0] * 16
    sources = np.array([5, 1, 5], np.int32)
    assert told.draw_targets(chance(), sources).tolist() == [5, 4, 5]


@pytest.mark.parametrize("to_self", [False, True])
def test_uniform_traffic_is_uniform(to_self):
    pattern = uniform(9, to_self=to_self)
    wanted = np.full((9, 9), 1 / 81) if to_self else (1 - np.eye(9)) / 72
    assert np.allclose(dense(pattern.matrix(), 9), wanted, rtol=1e-12)
    assert np.abs(drawn_shares(pattern, 300_000) / (1 / 81) - wanted * 81).max() < 0.08
    assert (np.diag(drawn_shares(pattern, 10_000)) > 0).all() == to_self


def test_hot_nodes_get_their_share_and_never_send_it_to_themselves():
    pattern = parse_traffic("hot-spot:0.3:2,5", mesh(8))
    from_cold, from_hot = np.full(8, 0.7 / 7), np.full(8, 0.7 / 7)
    from_cold[[2, 5]] += 0.15
    from_hot[5] += 0.3
    from_cold[0] = from_hot[2] = 0
    weights = dense(pattern.matrix(), 8) * 8
    assert np.allclose(weights[0], from_cold)
    assert np.allclose(weights[2], from_hot)
    assert np.abs(drawn_shares(pattern, 400_000) * 8 - weights).max() < 0.006


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
def test_the_matrix_adds_to_one_in_whole_or_in_blocks(spec):
    pattern = parse_traffic(spec, torus(3, 4))
    whole = pattern.matrix()
    assert whole.weight.sum() == pytest.approx(1)
    assert (whole.weight > 0).all()
    keys = whole.source * 12 + whole.target
    assert (np.diff(keys) > 0).all()
    blocks = [pattern.matrix(start, min(start + 5, 12)) for start in range(0, 12, 5)]
    for column, parts in zip(whole, zip(*blocks, strict=True), strict=True):
        assert (column == np.concatenate(parts)).all()
        assert column.dtype == parts[0].dtype


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
        (lambda: permutation([1.0, 0.0]), "found targets of type float64 and shape (2,)"),
        (lambda: hot_spot(uniform(4), 0.5, []), "found hot nodes of type float64"),
        (lambda: pairs(4, [], []), "found 0 sources, 0 targets and 0 weights"),
        (lambda: pairs(4, [0, 1], [1]), "found 2 sources, 1 targets and 2 weights"),
        (lambda: pairs(4, [-1], [1]), "found source -1; expected 0 to 3"),
        (lambda: with_rates(uniform(3), [1, 2]), "rates: found an array of shape (2,)"),
        (lambda: with_rates(uniform(3), [1, -1, 0]), "rates: found -1 for node 1"),
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
        ([0, 1], "bytes", "found node_of of shape (2,)", NotAMappingError),
        (
            [0, 1, 4],
            "bytes",
            "found task 2 on node 4; expected nodes from 0 to 3",
            NotAMappingError,
        ),
        ([0.0, 1.0, 2.0], "bytes", "found nodes of type float64", NotAMappingError),
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


def test_uniform_traffic_of_a_large_network_is_listed_in_blocks():
    pattern = traffic.uniform(2**15)
    block = pattern.matrix(5, 7)
    assert len(block.source) == 2 * (2**15 - 1)
    assert block.weight[0] == pytest.approx(1 / 2**15 / (2**15 - 1))


def test_a_cube_of_mixed_sides_has_its_own_tornado():
    assert targets_of("tornado", cube([1, 3], wraps=True)) == [1, 2, 0]


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


def test_a_grid_by_its_sides_is_that_of_the_cube():
    one, other = (parse_traffic(spec, torus(8, 8)) for spec in ("tornado", "tornado:8x8"))
    assert one.law.targets.tolist() == other.law.targets.tolist()
    assert parse_traffic("tornado-self:8x8", torus(8, 8)).rate.tolist() == [1] * 64
