"""Tori by translates of one tree set: at the bound in rounds, and as deep as they are wide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.optimum import optimum
from netloom.phases.collectives.translates import rounds_program, translated, translates
from netloom.topology import topology, torus
from netloom.workload.programs.collectives.checked import check
from tests.phases.collectives.boxes import plain


@pytest.mark.parametrize(
    ("sides", "rounds", "depth"),
    [((4, 4), 15, 4), ((8, 8), 63, 8), ((16, 16), 255, 16), ((4, 4, 4), 63, 6),
     ((8, 8, 8), 511, 12), ((4, 8), 31, 6), ((5, 7), 34, 5), ((3, 4), 11, 3), ((2, 2, 2), 7, 3)],
)  # fmt: skip
def test_rounds_are_the_bound_at_the_least_depth(sides, rounds, depth):
    found = translates(sides)
    assert (found.rounds, found.bound, int(found.depth.max())) == (rounds, rounds, depth)


def busiest(program):
    """Return how many messages of a step share a channel, at most."""
    keys = np.stack([program.step, program.source, program.target])
    return int(np.unique(keys, axis=1, return_counts=True)[1].max(initial=0))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.sampled_from([None, 1, 2]))
@settings(deadline=None, max_examples=40)
def test_any_torus(sides, trees):
    """Executed on data, every message between neighbours, each channel used once a round."""
    if np.prod(sides) < 2:
        sides = [*sides, 2]
    found = translates(sides, trees)
    net = torus(*sides)
    cables = set(zip(net.channel_source.tolist(), net.channel_target.tolist(), strict=True))
    for collective in ("all-gather", "reduce-scatter"):
        program = rounds_program(found, collective)
        check(program)
        assert busiest(program) == 1
        assert set(zip(program.source.tolist(), program.target.tolist(), strict=True)) <= cables
        assert program.num_steps == found.rounds >= found.bound
    assert int(found.depth.max()) == sum(side // 2 for side in sides)


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize("spec", ["torus:4x4", "torus:3x5", "hypercube:3", "ring:6"])
def test_schedules_in_time(spec, collective):
    net = topology(spec)
    order = np.random.default_rng(3).permutation(net.num_hosts)
    ranks = rank_network(net, order, bytes_per_second=50e9, latency_seconds=1e-6)
    found = translated(ranks, collective, 1e9)
    check(found.program)
    assert 0.99 < found.efficiency <= 1
    assert found.bound_seconds == pytest.approx(1e9 / 50e9 / float(optimum(ranks).bandwidth))
    for message in range(found.program.num_messages):
        (channel,) = found.routes.of(message)
        ends = order[found.program.source[message]], order[found.program.target[message]]
        assert ends == (net.channel_source[channel], net.channel_target[channel])


def test_large_tori_come_near_the_bound():
    ranks = rank_network(topology("torus:8x8"), bytes_per_second=50e9, latency_seconds=1e-6)
    assert translated(ranks, "all-gather", 64e6).efficiency > 0.996


@pytest.mark.parametrize("spec", ["mesh:3x3", "petersen", "leaf-spine:2x2x2"])
def test_what_is_not_alike_is_refused(spec):
    with pytest.raises(InputError, match="a whole torus or hypercube"):
        translated(plain(spec), "all-gather", 1e6)


def test_other_collectives_and_sizes_are_refused():
    with pytest.raises(InputError, match="all-gather or reduce-scatter"):
        rounds_program(translates((3, 3)), "broadcast")
    with pytest.raises(InputError, match="at least 2 vertices"):
        translates((1,))
    with pytest.raises(InputError, match="at least 1"):
        translates((3,), 0)
    with pytest.raises(InputError, match="fewer ranks or chunks"):
        rounds_program(translates((8, 8, 16)))
