"""Few-step schedules and the prices that bound them."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.few_steps import (
    RoundBound,
    frontier,
    possible_sends,
    roots_of,
    searched,
    step_prices,
)
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.schedules import StepProof, proven_rounds
from netloom.phases.collectives.trees import optimum
from netloom.topology import topology
from netloom.workload.programs.collectives.msccl import executed, parse_msccl, write_msccl
from tests.phases.collectives.boxes import box, plain
from tests.reference.collectives_checked import check


def round_bound(network, steps, root=None):
    """Return the bound of so many steps, as ``frontier`` has it."""
    weights = np.zeros(network.num_ranks, np.int64)
    weights[roots_of(network, root)] = 1
    return RoundBound(step_prices(network, steps, root), optimum(network, weights))


def few_steps(network, *asked):
    """Search for an all-gather of so many steps, rounds and chunks."""
    return searched(network, None, asked, round_bound(network, asked[0]).rounds_per_chunk)


def check_prices(prices):
    """Refuse prices that do not prove their bound, as the judge sees them."""
    room = {
        (source, target): Fraction(capacity)
        for source, target, capacity in zip(
            prices.network.source.tolist(),
            prices.network.target.tolist(),
            prices.network.capacity.tolist(),
            strict=True,
        )
    }
    roots = roots_of(prices.network, prices.root).tolist()
    proven = proven_rounds(prices.proof, prices.network.num_ranks, roots, room)
    assert proven >= prices.bound


def _shape(point):
    return point.steps, point.rounds, point.chunks


def _fits(network, found):
    """Whether each link carries in each step no more chunks than its rounds allow."""
    program = found.program
    number = {
        ends: link
        for link, ends in enumerate(
            zip(network.source.tolist(), network.target.tolist(), strict=True)
        )
    }
    for place in range(program.num_messages):
        link = number[int(program.source[place]), int(program.target[place])]
        most = int(network.capacity[link]) * int(found.rounds_of_step[program.step[place]])
        if len(program.chunks.of(place)) > most:
            return False
    return found.rounds_of_step.sum() == found.rounds and program.num_steps <= found.steps


def test_the_published_frontier_of_the_dgx_1():
    dgx = box("dgx1")
    found = frontier(dgx, most_steps=3, most_chunks=3)
    assert [_shape(each) for each in found.points] == [(2, 2, 1), (2, 3, 2), (3, 4, 3)]
    assert [found.proven(each) for each in found.points] == [False, True, False]
    assert not found.undecided
    longest = few_steps(dgx, 3, 7, 6)  # SCCL's, as are (2, 2, 1) and (2, 3, 2)
    assert longest.rounds_per_chunk == round_bound(dgx, 3).rounds_per_chunk
    for point in (*found.points, longest):
        check(point.program)
        assert _fits(dgx, point)


def test_a_schedule_is_written_as_msccl_xml_and_read_back(tmp_path):
    found = few_steps(box("dgx1"), 2, 3, 2)
    write_msccl(tmp_path / "a.xml", found.program)
    again = executed(parse_msccl(str(tmp_path / "a.xml")))
    assert again.depth == 3  # thread blocks send one message after the other
    assert again.found.per_loop == 16


def test_what_the_dgx_1_cannot_do_is_proven():
    dgx = box("dgx1")
    assert few_steps(dgx, 2, 4, 3).outcome == "impossible"  # as published
    proof = step_prices(dgx, 2)
    check_prices(proof)
    assert proof.bound == Fraction(3, 2)
    said = proof.proof.lines([f"g{rank}" for rank in range(8)])
    assert len(said) == proof.proof.count < 20
    assert said[0].startswith("price of g")
    assert step_prices(dgx, 3).bound == step_prices(dgx, 4).bound == Fraction(7, 6)


def test_an_exhaustive_search_says_no_as_well():
    assert few_steps(box("dgx1"), 2, 1, 1).reason.startswith("1 rounds per chunk")
    line = plain("line:3")
    assert few_steps(line, 3, 2, 1).reason == "2 rounds are not 3 steps of a round or more"
    ring = plain("ring:5")
    assert round_bound(ring, 2).rounds_per_chunk == 2
    assert few_steps(ring, 2, 2, 1).outcome == "schedule"


@pytest.mark.parametrize(
    ("spec", "steps"),
    [("hypercube:3", 3), ("hypercube:4", 4), ("torus:4x4", 4), ("petersen", 2), ("mesh:3x3", 4)],
)
def test_prices_reach_the_cut_at_the_diameter(spec, steps):
    bound = round_bound(plain(spec), steps)
    check_prices(bound.prices)
    assert bound.prices.bound == 1 / bound.cut.rate


@pytest.mark.parametrize(
    ("spec", "asked"),
    [("torus:4x4", (4, 4, 1)), ("hypercube:4", (4, 4, 1)), ("petersen", (2, 3, 1))],
)
def test_schedules_of_regular_networks(spec, asked):
    network = plain(spec)
    found = few_steps(network, *asked)
    check(found.program)
    assert _fits(network, found)


def test_where_prices_are_weak_the_cut_bounds():
    ndv2 = box("ndv2-2")
    bound = round_bound(ndv2, 6)
    check_prices(bound.prices)
    assert bound.prices.bound < 1 / bound.cut.rate == bound.rounds_per_chunk
    assert "by the bottleneck cut" in repr(bound)


def test_a_false_proof_is_found():
    proof = step_prices(box("dgx1"), 2)
    dearer = proof.worth.copy()
    dearer[0, 1] += 1
    with pytest.raises(InputError, match="worth more than it costs"):
        check_prices(replace(proof, worth=dearer))
    with pytest.raises(AssertionError):
        check_prices(replace(proof, price=proof.price + (np.arange(32)[:, None] == 0)))
    with pytest.raises(InputError, match="a price below 0"):
        check_prices(replace(proof, price=proof.price - 1))
    with pytest.raises(InputError, match="a worth of data of rank 0 at rank 0"):
        check_prices(replace(proof, worth=proof.worth + 1))


def test_worths_that_nothing_can_bring_are_refused():
    prices = step_prices(plain("ring:4"), 2)
    short = StepProof(1, np.array([[0, 2, 1]]), np.zeros((0, 4), int), np.zeros((0, 5), int))
    room = {(rank, (rank + 1) % 4): Fraction(1) for rank in range(4)}
    with pytest.raises(InputError, match="worths of 1 without a price"):
        proven_rounds(short, 4, [0], room)
    twice = replace(prices.proof, worth=prices.proof.worth.repeat(2, axis=0))
    with pytest.raises(InputError, match="a number twice"):
        proven_rounds(twice, 4, [0, 1, 2, 3], room)


def test_what_is_refused():
    with pytest.raises(InputError, match=r"steps: found 1, with .* 2 apart"):
        few_steps(box("dgx1"), 1, 1, 1)
    with pytest.raises(InputError, match="which only forwards"):
        round_bound(plain("leaf-spine:2x2x2"), 4)
    odd = topology(nx.Graph([(0, 1, {"bandwidth": 1.001}), (1, 2, {"bandwidth": 1})]))
    with pytest.raises(InputError, match=r"bandwidths: found some 1.001 times"):
        round_bound(rank_network(odd), 2)
    with pytest.raises(InputError, match="chunks: found 0"):
        frontier(box("dgx1"), most_steps=2, most_chunks=0)
    with pytest.raises(InputError, match="ranks x chunks x links x steps"):
        possible_sends(plain("torus:8x8"), 8, 100)


@pytest.mark.parametrize("spec", ["ring:6", "mesh:2x3", "petersen"])
def test_broadcasts_need_no_more_than_their_bound(spec):
    network = plain(spec)
    found = frontier(network, most_steps=4, most_chunks=3, root=1)
    assert found.points
    assert found.points[0].steps == int(nx.eccentricity(_graph(network), 1))
    for point in found.points:
        check(point.program)
        assert _fits(network, point)
        assert point.program.first_owner.tolist() == [1] * point.chunks
    for bound in found.bounds:
        check_prices(bound.prices)
        assert not bound.prices.worth[np.arange(network.num_ranks) != 1].any()


def _graph(network):
    return nx.DiGraph(zip(network.source.tolist(), network.target.tolist(), strict=True))


def test_two_chunks_of_a_broadcast_on_a_line_by_hand():
    line = plain("line:3")
    assert round_bound(line, 2, 0).rounds_per_chunk == 2  # the second link waits for the first
    found = frontier(line, most_steps=3, most_chunks=4, root=0)
    assert [_shape(each) for each in found.points] == [(2, 2, 1), (3, 3, 2)]
    assert [found.proven(each) for each in found.points] == [True, True]


@st.composite
def small_networks(draw):
    ranks = draw(st.integers(2, 4))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(ranks))
    for rank in range(ranks):
        graph.add_edge(rank, (rank + 1) % ranks, bandwidth=draw(st.integers(1, 2)))
    pairs = st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1))
    for a, b in draw(st.lists(pairs, max_size=4)):
        if a != b and not graph.has_edge(a, b):
            graph.add_edge(a, b, bandwidth=draw(st.integers(1, 2)))
    return rank_network(topology(graph))


@settings(deadline=None, max_examples=25)
@given(small_networks(), st.integers(1, 2), st.integers(0, 1))
def test_no_schedule_beats_its_bound(network, chunks, more):
    steps = network.num_ranks - 1 + more
    bound = round_bound(network, steps)
    check_prices(bound.prices)
    rounds = max(steps, ceil(chunks * bound.rounds_per_chunk))
    found = few_steps(network, steps, rounds, chunks)
    plenty = few_steps(network, steps, steps * chunks * network.num_ranks, chunks)
    assert plenty.outcome == "schedule"
    for each in (found, plenty):
        if each.program is not None:
            check(each.program)
            assert _fits(network, each)
            assert each.rounds_per_chunk >= bound.rounds_per_chunk
