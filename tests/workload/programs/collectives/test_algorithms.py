"""Known algorithms: each does what its collective means, in the steps and bytes that it should."""

from collections import Counter
from math import ceil, log2, prod

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from netloom.workload.programs.collectives.algorithms import (
    ALGORITHMS,
    ROOTED,
    algorithms_of,
    collective_program,
    nccl_trees,
    outline,
)
from tests.reference.collectives_checked import check
from tests.workload.programs.collectives.tables import counts

EVERY = [(collective, name) for collective in ALGORITHMS for name in algorithms_of(collective)]


@st.composite
def requests(draw):
    """Ranks from 1 to 70, on a torus and on nodes of as many ranks as divide them."""
    collective, algorithm = draw(st.sampled_from(EVERY))
    ranks = draw(st.integers(1, 70))
    divisors = [each for each in range(1, ranks + 1) if ranks % each == 0]
    first = draw(st.sampled_from(divisors))
    second = draw(st.sampled_from([each for each in divisors if ranks // first % each == 0]))
    return collective, algorithm, ranks, {
        "root": draw(st.integers(0, ranks - 1)) if collective in ROOTED else 0,
        "chunks": 1 if collective == "barrier" else draw(st.integers(1, 5)),
        "ranks_per_node": draw(st.sampled_from(divisors)),
        "torus": draw(st.sampled_from([(ranks,), (first, second, ranks // first // second)])),
        "several_ports": draw(st.booleans()),
    }  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(requests())
def test_every_algorithm_does_what_its_collective_means(request):
    collective, algorithm, ranks, options = request
    odd = any(side > 1 and side % 2 for side in options["torus"])
    assume(not (algorithm in ("swing", "swing-blocks") and odd))
    program = collective_program(collective, algorithm, ranks, **options)
    check(program)
    assert program.algorithm == algorithm
    short = outline(collective, algorithm, ranks, **options)
    for each in short.steps:
        assert (each.chunks(each.times - 1).lengths == each.width).all()
    found = counts(short)
    assert found.steps == program.num_steps
    assert found.messages == program.num_messages
    assert found.sent == pytest.approx(program.message_size.sum())
    assert (program.chunks.lengths > 0).all()


@pytest.mark.parametrize("ranks", range(1, 71))
def test_swing_on_a_ring_of_any_number_of_ranks(ranks):
    check(collective_program("all-gather", "swing", ranks))
    if ranks % 2 == 0:
        found = counts(outline("all-reduce", "swing", ranks))
        assert found.steps == 2 * ceil(log2(ranks))
        assert found.most_sent == pytest.approx(2 * (ranks - 1) / ranks)


def logs(ranks):
    return ceil(log2(ranks))


def every(ranks):
    return ranks * (ranks - 1)


def once(ranks):
    return (ranks - 1) / ranks


def twice(ranks):
    return 2 * (ranks - 1) / ranks


def ones(ranks):
    """Hops of the chunks of a rank in Bruck's all-to-all: the bits of all distances."""
    return sum(map(int.bit_count, range(ranks)))


@pytest.mark.parametrize("ranks", [13, 16])
@pytest.mark.parametrize(
    ("collective", "algorithm", "steps", "messages", "most_sent"),
    [
        ("all-gather", "linear", lambda p: 1, every, once),
        ("all-gather", "ring", lambda p: p - 1, every, once),
        ("all-gather", "bidirectional-ring", lambda p: p - 1, lambda p: 2 * every(p), once),
        ("all-gather", "bruck", logs, lambda p: p * logs(p), once),
        ("all-gather", "pat", logs, lambda p: p * logs(p), once),
        ("reduce-scatter", "linear", lambda p: 1, every, once),
        ("reduce-scatter", "pairwise", lambda p: p - 1, every, once),
        ("all-reduce", "ring", lambda p: 2 * (p - 1), lambda p: 2 * every(p), twice),
        ("all-reduce", "bruck", lambda p: 2 * logs(p), lambda p: 2 * p * logs(p), twice),
        ("broadcast", "linear", lambda p: 1, lambda p: p - 1, lambda p: p - 1),
        ("broadcast", "binomial", logs, lambda p: p - 1, logs),
        ("broadcast", "chain", lambda p: p - 1, lambda p: p - 1, lambda p: 1),
        ("broadcast", "binary-tree", lambda p: int(log2(p)), lambda p: p - 1, lambda p: 2),
        ("reduce", "binomial", logs, lambda p: p - 1, lambda p: 1),
        ("scatter", "linear", lambda p: 1, lambda p: p - 1, once),
        ("scatter", "binomial", logs, lambda p: p - 1, once),
        ("gather", "binomial", logs, lambda p: p - 1, lambda p: {13: 5, 16: 8}[p] / p),
        ("all-to-all", "linear", lambda p: 1, every, once),
        ("all-to-all", "pairwise", lambda p: p - 1, every, once),
        ("all-to-all", "bruck", logs, lambda p: p * logs(p), lambda p: ones(p) / p),
        ("barrier", "dissemination", logs, lambda p: p * logs(p), lambda p: 0),
        ("barrier", "linear", lambda p: 2, lambda p: 2 * (p - 1), lambda p: 0),
    ],
)  # fmt: skip
def test_steps_messages_and_bytes_in_closed_form(
    collective, algorithm, ranks, steps, messages, most_sent
):
    found = counts(outline(collective, algorithm, ranks))
    assert (found.steps, found.messages) == (steps(ranks), messages(ranks))
    assert found.most_sent == pytest.approx(most_sent(ranks))


@pytest.mark.parametrize("ranks", [3, 7, 12, 16, 40, 64])
def test_recursive_doubling_halving_and_rabenseifner_with_and_without_folding(ranks):
    core = 2 ** int(log2(ranks))
    folded, log = ranks - core, int(log2(ranks))
    gather = counts(outline("all-gather", "recursive-doubling", ranks))
    assert gather.steps == log + 2 * (folded > 0)
    assert gather.messages == core * log + 2 * folded
    assert gather.sent == pytest.approx(ranks - 1)  # each block comes to each other rank once
    scatter = counts(outline("reduce-scatter", "recursive-halving", ranks))
    assert scatter[:2] == gather[:2]
    whole = counts(outline("all-reduce", "recursive-doubling", ranks))
    assert whole.steps == log + 2 * (folded > 0)
    assert whole.sent == core * log + 2 * folded
    both = counts(outline("all-reduce", "rabenseifner", ranks))
    assert both.steps == 2 * gather.steps
    if not folded:
        assert both.most_sent == pytest.approx(2 * (ranks - 1) / ranks)
        assert whole.most_sent == log


@pytest.mark.parametrize("torus", [(8, 8), (4, 4, 4), (3, 5), (2, 4, 6), (5,), (1, 6)])
def test_rings_of_tori(torus):
    ranks, dims = prod(torus), sum(side > 1 for side in torus)
    program = collective_program("all-reduce", "torus-rings", ranks, torus=torus)
    check(program)
    assert program.num_steps == 2 * sum(side - 1 for side in torus)
    # Every message goes to a neighbour, and each of the 2D channels of a rank carries its share.
    where = np.array(np.unravel_index(np.arange(ranks), torus))
    away = (where[:, program.target] - where[:, program.source]) % np.array(torus)[:, None]
    assert ((away == 0) | (away == 1) | (away == np.array(torus)[:, None] - 1)).all()
    assert ((away > 0).sum(axis=0) == 1).all()
    if len(set(torus)) == 1:
        links = Counter()
        for size, source, target in zip(
            program.message_size, program.source, program.target, strict=True
        ):
            links[source, target] += size
        assert list(links.values()) == pytest.approx(
            [2 * (ranks - 1) / ranks / (2 * dims)] * len(links)
        )


@pytest.mark.parametrize("torus", [(8, 8), (4, 4, 4), (16,), (4, 8), (6, 10)])
def test_swing_on_tori(torus):
    ranks = prod(torus)
    program = collective_program("all-reduce", "swing", ranks, torus=torus)
    check(program)
    assert program.num_steps == 2 * sum(logs(side) for side in torus)
    sent = np.bincount(program.source, weights=program.message_size)
    assert sent == pytest.approx(2 * (ranks - 1) / ranks)


def test_swing_joins_ranks_at_the_distances_of_the_paper():
    program = collective_program("reduce-scatter", "swing", 32)
    first = program.chunks.values[program.chunks.offsets[:-1]] % 2 == 0  # the part one way
    chosen = (program.source == 0) & first
    distance = (program.target[chosen] + 16) % 32 - 16
    assert distance.tolist() == [1, -1, 3, -5, 11]


def children(ranks):
    """Return NCCL's first tree by its own rule of children, from the root on."""
    found = {0: [1 << (max(ranks - 1, 1).bit_length() - 1)] if ranks > 1 else []}
    for rank in range(1, ranks):
        bit = rank & -rank
        low = bit >> 1
        down0 = rank - low if low else None
        while low and rank + low >= ranks:
            low >>= 1
        found[rank] = [each for each in (down0, rank + low if low else None) if each is not None]
    return found


@pytest.mark.parametrize("ranks", range(1, 71))
def test_the_double_binary_tree_is_that_of_nccl(ranks):
    first, second = nccl_trees(ranks)
    expected = {child: rank for rank, those in children(ranks).items() for child in those}
    assert {rank: up for rank, up in enumerate(first.tolist()) if up >= 0} == expected
    inside = [set(tree.tolist()) - {-1} for tree in (first, second)]
    # A rank inside both trees would send everything twice: at most one is.
    assert len(inside[0] & inside[1]) <= 1
    for tree in (first, second):
        assert max(Counter(tree.tolist()).values()) <= 2
        assert (tree == -1).sum() == 1


@pytest.mark.parametrize("chunks", [1, 4, 9])
def test_pipelines_take_depth_and_chunks(chunks):
    for algorithm, depth in (("chain", 11), ("binary-tree", 3), ("linear", 1)):
        for collective in ("broadcast", "reduce"):
            program = collective_program(collective, algorithm, 12, chunks=chunks, root=5)
            assert program.num_steps == depth + chunks - 1
            assert program.message_size == pytest.approx(1 / chunks)
        both = collective_program("all-reduce", algorithm, 12, chunks=chunks)
        assert both.num_steps == 2 * depth + chunks - 1


def test_a_hierarchy_crosses_nodes_with_its_rail_only():
    for collective in (
        "all-gather",
        "reduce-scatter",
        "all-reduce",
        "broadcast",
        "reduce",
        "all-to-all",
    ):
        program = collective_program(collective, "hierarchical", 24, ranks_per_node=4)
        crossing = program.source // 4 != program.target // 4
        assert (program.source[crossing] % 4 == program.target[crossing] % 4).all()
    program = collective_program("all-reduce", "hierarchical", 24, ranks_per_node=4)
    crossing = program.source // 4 != program.target // 4
    sent = np.bincount(program.source, weights=program.message_size * crossing)
    assert sent == pytest.approx(2 * 5 / 6 / 4)  # of the quarter of each rail
