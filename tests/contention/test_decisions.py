"""Loads of packets that draw or choose their ways, hop by hop: by hand, and by brute force."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

from netloom.contention.decisions import BETTER_OF_TWO, PREFERRED, SHARED, Stages, drawn_loads
from netloom.contention.expected_load import CLOSE, chosen_loads


def stages(*arcs_of):
    """Return stages, given their kind and their arcs: head, channel, share."""
    first = np.cumsum([0, *(len(arcs) for _, arcs in arcs_of)])
    rows = [arc for _, arcs in arcs_of for arc in arcs]
    head, channel, share = zip(*rows, strict=True)
    kind = np.array([kind for kind, _ in arcs_of], np.int8)
    return Stages(first, np.array(head), np.array(channel), np.array(share, float), kind)


def test_packets_that_travel_two_ways_load_both():
    ways = [(1, -1, 1.0), (2, -1, 1.0)], [(3, 0, 1.0)], [(3, 1, 0.25), (3, 2, 0.75)], []
    both = stages(*((SHARED, arcs) for arcs in ways))
    load = drawn_loads(both, np.array([0, 0]), np.array([1.0, 3.0]), 3)
    assert load.tolist() == [4, 1, 3]


def test_the_better_of_two_that_are_drawn_cannot_always_be_the_best():
    # channel 0 is free of other traffic; of 3 channels, it is among two that are drawn in 5 of 9
    fork = stages((BETTER_OF_TWO, [(1, c, 0.0) for c in range(3)]), (SHARED, []))
    found = chosen_loads(fork, np.array([0]), np.array([9.0]), np.array([100.0, 1.0, 1.0]))
    assert found.least == pytest.approx((9 - 5) / 2)
    free = fork._replace(kind=np.array([PREFERRED, SHARED], np.int8))
    found = chosen_loads(free, np.array([0]), np.array([9.0]), np.array([100.0, 1.0, 1.0]))
    assert found.least == pytest.approx(9 / 102)


@st.composite
def layered(draw):
    """Three layers of stages, any arcs to the next layer, channels that may be met twice."""
    widths, channels = [3, 3, 2], draw(st.integers(2, 5))
    rows = []
    for layer in range(2):
        after = sum(widths[: layer + 1])
        for _ in range(widths[layer]):
            heads = draw(st.lists(st.integers(0, widths[layer + 1] - 1), min_size=1, max_size=3))
            on = [draw(st.integers(0, channels - 1)) for _ in heads]
            pairs = zip(heads, on, strict=True)
            arcs = [(after + head, channel, 1 / len(heads)) for head, channel in pairs]
            rows.append((draw(st.sampled_from([SHARED, PREFERRED])), arcs))
    rows += [(SHARED, [])] * widths[2]
    weight = draw(st.lists(st.integers(1, 5), min_size=3, max_size=3))
    rate = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=channels, max_size=channels))
    return stages(*rows), np.arange(3), np.array(weight, float), np.array(rate)


def least_by_flows(graph, entry, weight, rate):
    """The least longest time of a channel: flows on all arcs, as one linear program."""
    arcs, many = len(graph.head), len(graph.kind)
    tail = np.repeat(np.arange(many), np.diff(graph.first))
    equal, value = [], []
    for at in range(many):
        out = np.flatnonzero(tail == at)
        row = np.zeros(arcs + 1)
        row[:arcs][graph.head == at] -= 1
        came = -row
        starts = weight[entry == at].sum()
        if graph.kind[at] == SHARED:
            for arc in out:
                own = -came * graph.share[arc]
                own[arc] += 1
                equal.append(own)
                value.append(starts * graph.share[arc])
        elif len(out):
            row[out] += 1
            equal.append(row)
            value.append(starts)
    limit = np.zeros((len(rate), arcs + 1))
    limit[graph.channel, np.arange(arcs)] = 1
    limit[:, -1] = -rate
    cost = np.append(np.zeros(arcs), 1.0)
    return linprog(cost, limit, np.zeros(len(rate)), np.array(equal), value).fun


@settings(max_examples=60, deadline=None)
@given(layered())
def test_the_best_choice_is_that_of_a_linear_program(case):
    graph, entry, weight, rate = case
    found, least = chosen_loads(graph, entry, weight, rate), least_by_flows(*case)
    assert found.least <= least * (1 + 1e-9)
    assert found.least == pytest.approx(least, rel=2 * CLOSE)
    assert found.prices.sum() == pytest.approx(1)
    if (graph.kind == SHARED).all():
        load = drawn_loads(graph, entry, weight, len(rate))
        assert (load / rate).max() == pytest.approx(least)
