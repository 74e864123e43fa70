"""Bus bandwidth as nccl-tests define it, and bounds that hold on any network."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.routing import DModK
from netloom.simulation.flow import flow_network, run_flows
from netloom.topology import topology
from netloom.workload.programs.collectives.algorithms import (
    ALGORITHMS,
    algorithms_of,
    collective_program,
    outline,
)
from netloom.workload.programs.collectives.program import bus_factor, least_seconds, least_steps
from tests.workload.programs.collectives.tables import counts, messages_of

FORWARDED = ("broadcast", "reduce", "all-reduce", "all-gather", "reduce-scatter", "barrier")


def test_the_bus_bandwidth_of_nccl_tests():
    factors = {
        "all-reduce": 2 * 7 / 8, "all-gather": 7 / 8, "reduce-scatter": 7 / 8, "all-to-all": 7 / 8,
        "gather": 7 / 8, "scatter": 7 / 8, "broadcast": 1, "reduce": 1,
    }  # fmt: skip
    assert {name: bus_factor(name, 8) for name in factors} == factors
    with pytest.raises(InputError, match="collective: found 'barrier'"):
        bus_factor("barrier", 8)


def tree_time(ranks, latency, overhead, gap):
    """Karp et al.'s tree, sender by sender: the earliest next message of all who have heard."""
    heard, sends = [0.0], [0]
    while len(heard) < ranks:
        next_end = [
            at + number * max(overhead, gap) + 2 * overhead + latency
            for at, number in zip(heard, sends, strict=True)
        ]
        first = int(np.argmin(next_end))
        sends[first] += 1
        heard.append(next_end[first])
        sends.append(0)
    return max(heard)


@pytest.mark.parametrize("ranks", [1, 2, 7, 8, 30])
@pytest.mark.parametrize("times", [(6, 2, 4), (5, 0, 1), (3, 1, 0), (0, 2, 1)])
def test_the_least_time_is_that_of_karp_s_tree(ranks, times):
    assert least_seconds(ranks, *times) == tree_time(ranks, *times)


def test_the_broadcast_of_karp_s_paper():
    assert least_seconds(8, latency=6, overhead=2, gap=4) == 24  # its figure 3
    assert least_seconds(1, 6, 2, 4) == 0
    with pytest.raises(InputError, match="gap: found -1 seconds"):
        least_seconds(4, 1, 1, -1)


@pytest.mark.parametrize("ranks", [2, 3, 8, 13, 16])
def test_no_algorithm_beats_a_bound(ranks):
    alpha, beta, size, o = 1e-6, 1e-9, 4096.0, 2e-7
    links = flow_network(topology(f"leaf-spine:1x1x{ranks}"), bandwidth=1 / beta, latency=alpha / 2)
    for collective in ALGORITHMS:
        for algorithm in algorithms_of(collective):
            options = {"ranks_per_node": 1, "torus": None if algorithm == "swing" else (ranks,)}
            found = counts(outline(collective, algorithm, ranks, **options))
            least = 0.0 if collective == "barrier" else bus_factor(collective, ranks)
            assert max(found.most_sent, found.most_received) >= least * (1 - 1e-12)
            program = collective_program(collective, algorithm, ranks, **options)
            table = messages_of(program, size, range(ranks), overhead_seconds=o)
            time = run_flows(links, DModK(), table).finish
            assert time >= least * size * beta
            if collective in FORWARDED:
                assert time >= least_seconds(ranks, alpha, o, 0) * (1 - 1e-12)
                if algorithm not in ("linear", "binary-tree", "double-binary-tree"):
                    assert found.steps >= least_steps(ranks)


def told_by(time, latency, overhead, each):
    """How many places have heard by a time, if all ranks of those send one after the other."""
    heard = [0.0] * each  # when each rank that knows it can send first
    places, now = 1, 0
    while now < len(heard):
        heard.sort()
        free, now = heard[now], now + 1
        arrives = free + 2 * overhead + latency
        while arrives <= time + 1e-12 and places < 200:
            heard += [arrives] * each
            places += 1
            arrives += overhead
    return places


@pytest.mark.parametrize("each", [1, 2, 3])
@pytest.mark.parametrize("places", [2, 5, 9, 30])
def test_ranks_of_one_place_tell_others_together(places, each):
    time = least_seconds(places, latency=3.0, overhead=1.0, gap=0.0, ranks_each=each)
    assert told_by(time, 3.0, 1.0, each) >= places
    assert told_by(time - 0.5, 3.0, 1.0, each) < places
    steps = least_steps(places, each)
    assert (each + 1) ** steps >= places > (each + 1) ** (steps - 1)
