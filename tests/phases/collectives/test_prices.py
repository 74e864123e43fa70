"""What prices of channels prove: against linear programs, exact fractions, and changed files."""

import json
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Asked
from netloom.phases.collectives.schedules import (
    PRICED,
    Prices,
    priced_seconds,
    read_schedule,
    schedule_text,
    tables_of,
)
from netloom.phases.collectives.synthesis import prices_of, proven, synthesised
from netloom.phases.violations import InvalidPlanError
from netloom.topology import topology
from netloom.workload.programs.messages import lists
from tests.phases.collectives.boxes import a100, box, plain
from tests.phases.collectives.test_joint import connected
from tests.phases.collectives.test_judged import made


def scheduled(net, collective, size=1.0):
    found = synthesised(Asked(net, collective, size, chunks=1))
    return found, proven(found)


PUBLISHED = [
    ("all-to-all", {"ndv2-2": 3.125e9, "dgx2-2": 12.5e9, "dgx1": 75e9, "torus:4x4": 2}),
    ("all-reduce", {"line:4": 1, "mesh:3x3": 1.5, "mesh:4x4": 1.6, "petersen": 5 / 3}),
    ("all-reduce", {"ndv2-2": 12.5e9, "dgx1": 25e9 * 24 / 7, "a100": 520e9 / 3}),
    ("all-reduce", {"leaf-spine:2x2x4": 4 / 7}),
]


@pytest.mark.parametrize(
    ("collective", "name", "bandwidth"),
    [(collective, *each) for collective, known in PUBLISHED for each in known.items()],
)
def test_published_optima_are_proven_by_whole_prices(collective, name, bandwidth):
    boxed = name in ("ndv2-2", "dgx2-2", "dgx1")
    net = a100(2) if name == "a100" else box(name) if boxed else plain(name)
    schedule = scheduled(net, collective)[1]
    assert 1 / schedule.bound.seconds == pytest.approx(bandwidth, rel=1e-12)
    assert schedule.bound.prices.price.max() == 1
    assert judge(schedule).bound_seconds == schedule.bound.seconds


@st.composite
def asked(draw):
    """A network and a collective; of an all-reduce with switches as fast in as out."""
    net, collective = draw(connected()), draw(st.sampled_from(PRICED))
    ends = [np.bincount(end, net.capacity, net.num_vertices) for end in (net.source, net.target)]
    if collective == "all-reduce" and (ends[0] != ends[1])[net.num_ranks :].any():
        net = rank_network(net.topology)
    return net, collective


def exactly(network, collective, prices):
    """What prices prove of a size of 1, in fractions, by Bellman and Ford's way."""
    ranks, forward = len(network.host), len(network.labels) - len(network.host)
    ends = list(zip(network.source.tolist(), network.target.tolist(), strict=True))

    def priced(number):
        own = dict.fromkeys(range(len(ends)), 0)
        first, last = prices.channels.offsets[number : number + 2].tolist()
        for place in range(first, last):
            own[int(prices.channels.values[place])] = int(prices.price[place])
        alike = {pair: [each for each, its in enumerate(ends) if its == pair] for pair in ends}
        return {pair: min(own[each] for each in several) for pair, several in alike.items()}

    def apart(price):
        graph = nx.DiGraph()
        graph.add_weighted_edges_from((*pair, each) for pair, each in price.items())
        return {one: nx.single_source_bellman_ford_path_length(graph, one) for one in range(ranks)}

    rate = dict.fromkeys(ends, Fraction(0))
    for pair, each in zip(ends, network.rate.tolist(), strict=True):
        rate[pair] += Fraction(each)
    if collective == "all-to-all":
        cost = priced(0)
        paid = Fraction(sum(sum(row[to] for to in range(ranks)) for row in apart(cost).values()))
        return paid / ranks / sum(rate[pair] * cost[pair] for pair in cost)
    tables = [priced(number) for number in range(2 * ranks)]
    ways = [apart(each) for each in tables]
    paid = min(
        sum(ways[rank][root][rank] + ways[ranks + rank][rank][root] for rank in range(ranks))
        for root in range(ranks)
    )
    level = [[0] * ranks + prices.level[kind].tolist() for kind in (0, 1)]
    assert len(level[0]) == ranks + forward
    cost = {}
    for one, other in rate:
        paying = (
            sum(each[one, other] for each in half) for half in (tables[:ranks], tables[ranks:])
        )
        falls = (each[other] - each[one] for each in level)
        cost[one, other] = max(0, *map(sum, zip(paying, falls, strict=True)))
    total = sum(rate[pair] * cost[pair] for pair in cost)
    return Fraction(paid) / total if total else Fraction(0)


@given(asked())
@settings(deadline=None, max_examples=30)
def test_prices_prove_the_optimum_of_any_network(drawn):
    net, collective = drawn
    found, schedule = scheduled(net, collective)
    bound = schedule.bound
    assert bound.seconds == pytest.approx(found.bound_seconds, rel=1e-9)
    exact = exactly(schedule.network, collective, bound.prices)
    assert 0 <= exact - Fraction(bound.seconds) <= exact * Fraction(1, 2**52)
    assert judge(schedule).bound_seconds == bound.seconds
    assert bound.seconds <= schedule.finish_seconds * (1 + 1e-12)  # a sum of floats
    for part in (1 - 1e-8, 1 + 1e-15, 1 + 1e-8):
        with pytest.raises(InvalidPlanError, match="which the prices prove"):
            judge(replace(schedule, bound=replace(bound, seconds=bound.seconds * part)))


@given(asked(), st.data())
@settings(deadline=None, max_examples=30)
def test_no_prices_prove_more_than_the_optimum(drawn, data):
    """Whatever anybody writes into a file: prices that are worse are refused, never wrong."""
    net, collective = drawn
    found, schedule = scheduled(net, collective)
    network, ranks = schedule.network, net.num_ranks
    numbers = st.lists(st.integers(0, 3), min_size=len(network.rate), max_size=len(network.rate))
    rows = np.array([data.draw(numbers) for _ in range(tables_of(collective, ranks))])
    levels = 2 * (net.num_vertices - ranks) * (collective == "all-reduce")
    level = data.draw(st.lists(st.integers(-2, 2), min_size=levels, max_size=levels))
    channels = lists([np.flatnonzero(row).tolist() for row in rows], np.int32)
    levels = np.array(level, np.int64).reshape(2, -1)
    prices = Prices(channels, rows[rows > 0].astype(np.int64), levels)
    if collective == "all-to-all" and not rows.any():
        return
    least = priced_seconds(network, collective, 1.0, prices)
    assert least <= found.bound_seconds * (1 + 1e-9)
    assert least == pytest.approx(float(exactly(network, collective, prices)), rel=1e-15)
    changed = replace(schedule, bound=replace(schedule.bound, prices=prices))
    if least < schedule.bound.seconds * (1 - 1e-8):
        with pytest.raises(InvalidPlanError, match="which the prices prove"):
            judge(changed)


def test_parallel_channels_count_at_the_least_of_their_prices():
    graph = nx.MultiDiGraph()
    graph.add_edge(0, 1, bandwidth=1)
    graph.add_edge(0, 1, bandwidth=3)
    graph.add_edge(1, 0, bandwidth=8)
    _, schedule = scheduled(rank_network(topology(graph)), "all-to-all")
    assert schedule.bound.seconds == 1 / 8
    prices = replace(schedule.bound.prices, channels=lists([[0]], np.int32))
    one = replace(prices, price=np.ones(1, np.int64))
    assert priced_seconds(schedule.network, "all-to-all", 1.0, one) == 0


@pytest.mark.parametrize("most", [1.0, 1e-7, 1e9])
def test_prices_that_are_no_small_fractions_stay_as_fine_as_fits(most):
    values = np.array([[1.0, np.pi / 4, np.e / 4, -1e-18, 1e-20]])
    found = prices_of(values * most, np.zeros((2, 0)))
    assert found.channels.values.tolist() == [0, 1, 2]
    assert found.price / found.price.max() == pytest.approx(values[0, :3], rel=1e-14)
    assert found.total < 2**53


def record(collective):
    return json.loads(schedule_text(made("leaf-spine:2x1x2", collective), {}))


def test_prices_belong_to_two_collectives_and_stand_alone():
    prices = record("all-to-all")["bound"]["prices"]
    for collective, said in (("all-gather", "some for all-gather"), ("all-to-all", "beside a cut")):
        found = record(collective)
        found["bound"] |= {"prices": prices, "inside": [0]}
        with pytest.raises(InputError, match=said):
            read_schedule("plan.json", json.dumps(found))
    del found["bound"]["prices"]
    found["bound"]["inside"] = []
    read = read_schedule("plan.json", json.dumps(found))
    assert judge(read.schedule).bound_seconds == 0
