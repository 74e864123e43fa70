"""Few-step schedules and the prices that bound them."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.few_steps import in_steps, round_bound, searched
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Asked
from netloom.phases.collectives.schedules import proven_rounds
from netloom.phases.collectives.trees import optimum
from netloom.topology import topology
from tests.phases.collectives.boxes import box, plain
from tests.reference.collectives_checked import check


def bound_of(network, steps, root=None):
    """Return the bound of so many steps, as ``in_steps`` has it."""
    weights = Asked(network, "all-gather" if root is None else "broadcast", 1.0, root or 0).weights
    return round_bound(network, steps, 1 / optimum(network, weights).rate, root)


def few_steps(network, *asked):
    """Search for an all-gather of so many steps, rounds and chunks. Return it if it is right."""
    found = searched(network, None, asked)
    if found.outcome == "schedule":
        check_sends(network, found)
    return found


def check_sends(network, point):
    """Refuse more chunks on a link than its rounds allow, and sends of what has not come."""
    sends, chosen = point.sends, point.chosen
    chunk, link, step = (each[chosen] for each in (sends.chunk, sends.link, sends.step))
    for place in set(zip(link.tolist(), step.tolist(), strict=True)):
        count = np.count_nonzero((link == place[0]) & (step == place[1]))
        assert count <= network.capacity[place[0]] * point.rounds_of_step[place[1]]
    assert point.rounds_of_step.sum() == point.rounds
    has = {(int(root), number): 0 for number, root in enumerate(sends.origin)}
    for one in np.argsort(step, kind="stable").tolist():
        ends = int(network.source[link[one]]), int(network.target[link[one]])
        assert has.get((ends[0], int(chunk[one])), point.steps) <= step[one]
        has.setdefault((ends[1], int(chunk[one])), int(step[one]) + 1)
    assert len(has) == network.num_ranks * len(sends.origin)


def check_prices(network, bound, root=None):
    """Refuse prices that do not prove their bound, as the judge sees them."""
    columns = (network.source, network.target, network.capacity)
    room = {(a, b): Fraction(c) for a, b, c in zip(*(e.tolist() for e in columns), strict=True)}
    roots = range(network.num_ranks) if root is None else [root]
    assert proven_rounds(bound.proof, network.num_ranks, roots, room) >= bound.prices


def shapes(found):
    return [(each.steps, each.rounds, each.chunks) for each in found.points]


def test_the_published_frontier_of_the_dgx_1():
    dgx = box("dgx1")
    found = in_steps(Asked(dgx, "all-gather", 1e6, chunks=3), 3)
    assert shapes(found) == [(2, 2, 1), (2, 3, 2), (3, 4, 3)]
    assert [found.proven(each) for each in found.points] == [False, True, False]
    assert not found.undecided
    longest = few_steps(dgx, 3, 7, 6)  # SCCL's, as are (2, 2, 1) and (2, 3, 2)
    assert longest.rounds_per_chunk == bound_of(dgx, 3).rounds_per_chunk
    for point, timed in zip(found.points, found.timed, strict=True):
        check_sends(dgx, point)
        check(timed.program)


def test_what_the_dgx_1_cannot_do_is_proven():
    dgx = box("dgx1")
    assert few_steps(dgx, 2, 4, 3).outcome == "impossible"  # as published
    bound = bound_of(dgx, 2)
    check_prices(dgx, bound)
    assert bound.prices == Fraction(3, 2)
    assert bound.proof.count < 20
    assert bound_of(dgx, 3).prices == bound_of(dgx, 4).prices == Fraction(7, 6)


def test_an_exhaustive_search_says_no_as_well():
    assert few_steps(box("dgx1"), 2, 1, 1).outcome == "impossible"
    assert few_steps(plain("line:3"), 3, 2, 1).outcome == "impossible"
    ring = plain("ring:5")
    assert bound_of(ring, 2).rounds_per_chunk == 2
    assert few_steps(ring, 2, 2, 1).outcome == "schedule"


@pytest.mark.parametrize(
    ("spec", "steps"),
    [("hypercube:3", 3), ("hypercube:4", 4), ("torus:4x4", 4), ("petersen", 2), ("mesh:3x3", 4)],
)
def test_prices_reach_the_cut_at_the_diameter(spec, steps):
    bound = bound_of(plain(spec), steps)
    check_prices(plain(spec), bound)
    assert bound.prices == bound.cut


@pytest.mark.parametrize(
    ("spec", "asked"),
    [("torus:4x4", (4, 4, 1)), ("hypercube:4", (4, 4, 1)), ("petersen", (2, 3, 1))],
)
def test_schedules_of_regular_networks(spec, asked):
    assert few_steps(plain(spec), *asked).outcome == "schedule"


def test_where_prices_are_weak_the_cut_bounds():
    bound = bound_of(box("ndv2-2"), 6)
    check_prices(box("ndv2-2"), bound)
    assert bound.prices < bound.cut == bound.rounds_per_chunk


def test_a_false_proof_is_found():
    dgx = box("dgx1")
    bound = bound_of(dgx, 2)

    def changed(**tables):
        check_prices(dgx, replace(bound, proof=replace(bound.proof, **tables)))

    worth, price = bound.proof.worth, bound.proof.price
    with pytest.raises(InputError, match="worth more than it costs"):
        changed(worth=worth + np.array([0, 0, 1]))
    with pytest.raises(AssertionError):
        changed(price=price + np.array([0, 0, 0, 1]))
    with pytest.raises(InputError, match="a price below 0"):
        changed(price=price * np.array([1, 1, 1, -1]))
    with pytest.raises(InputError, match="a worth of data of rank 0 at rank 0"):
        changed(worth=np.append(worth, [[0, 0, 1]], axis=0))


@pytest.mark.parametrize("spec", ["ring:6", "mesh:2x3", "petersen"])
def test_broadcasts_need_no_more_than_their_bound(spec):
    network = plain(spec)
    found = in_steps(Asked(network, "broadcast", 1.0, root=1, chunks=3), 4)
    graph = nx.DiGraph(zip(network.source.tolist(), network.target.tolist(), strict=True))
    assert found.points[0].steps == int(nx.eccentricity(graph, 1))
    for point, timed in zip(found.points, found.timed, strict=True):
        check(timed.program)
        check_sends(network, point)
        assert timed.program.first_owner.tolist() == [1] * point.chunks
    for bound in found.bounds:
        check_prices(network, bound, 1)
        assert (bound.proof.worth[:, 0] == 1).all()


def test_two_chunks_of_a_broadcast_on_a_line_by_hand():
    line = plain("line:3")
    assert bound_of(line, 2, 0).rounds_per_chunk == 2  # the second link waits for the first
    found = in_steps(Asked(line, "broadcast", 1.0, chunks=4), 3)
    assert shapes(found) == [(2, 2, 1), (3, 3, 2)]
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
    bound = bound_of(network, steps)
    check_prices(network, bound)
    rounds = max(steps, ceil(chunks * bound.rounds_per_chunk))
    found = few_steps(network, steps, rounds, chunks)
    assert (
        few_steps(network, steps, steps * chunks * network.num_ranks, chunks).outcome == "schedule"
    )
    assert found.outcome != "schedule" or found.rounds_per_chunk >= bound.rounds_per_chunk
