"""The published torus model against its equations in plain floats, and against counting."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import average_distance, torus
from netloom_papers.models.published_torus import VARIANTS, Corrections
from netloom_papers.models.torus_broadcasts import torus_broadcast
from tests.reference import published_torus as equations

NETWORK = {"message_flits": 32, "vcs": 3, "broadcast": 0.04}


def published(radix, variant="printed", **options):
    return torus_broadcast(radix, variant=variant, **options)


@st.composite
def cases(draw):
    radix = draw(st.integers(3, 20))
    flits, vcs = draw(st.integers(1, 200)), draw(st.integers(3, 12))
    beta = draw(st.sampled_from([0.0, 1.0]) | st.floats(0, 1))
    mended = frozenset(draw(st.sets(st.sampled_from(equations.ALL))))
    return radix, flits, vcs, beta, mended


def of_case(radix, flits, vcs, beta, mended, rate=0.0):
    variant = Corrections(**dict.fromkeys(mended, True))
    return published(radix, variant, message_flits=flits, vcs=vcs, broadcast=beta, rate=rate)


@settings(max_examples=60, deadline=None)
@given(cases(), st.floats(0.01, 0.99))
def test_every_quantity_is_that_of_the_equations(case, load):
    rate = load * of_case(*case).saturation_rate
    found = of_case(*case, rate)
    wanted = equations.published_torus(*case[:4], rate, case[4])
    for name, value in wanted.items():
        assert getattr(found, name) == pytest.approx(np.array(value), rel=1e-9, abs=1e-300), name
    assert not found.saturated


@settings(max_examples=40, deadline=None)
@given(cases())
def test_saturation_is_where_the_equations_have_no_solution(case):
    limit = of_case(*case).saturation_rate
    assert equations.published_torus(*case[:4], limit * (1 - 1e-6), case[4])
    assert equations.published_torus(*case[:4], limit * (1 + 1e-6), case[4]) is None


def test_no_load_by_hand():
    """Nothing waits: M + d cycles, with d = 4 hops of all pairs and 4 · 64 / 63 of the others."""
    printed = published(8, rate=0, **NETWORK)
    consistent = published(8, "consistent", rate=0.0, **NETWORK)
    assert printed.latency == 36
    assert consistent.latency == pytest.approx(32 + 256 / 63)
    assert (printed.broadcast_service, consistent.broadcast_service) == (32, 33)
    for found in (printed, consistent):
        assert found.latency.shape == ()
        assert found.vc_multiplexing == 1
        assert found.source_wait == found.channel_wait == found.channel_rate == 0
        assert found.held_vcs.tolist() == [1, 0, 0, 0]


def test_traffic_by_hand():
    """k = 8: 48 nodes of the tree replicate, 63 messages in all, of which 59 are replicas.

    16 nodes do not replicate, 40 once, 2 twice and 5 three times.
    """
    printed = published(8, rate=0.001, **NETWORK)
    consistent = published(8, "consistent", rate=0.001, **NETWORK)
    assert printed.unicast_channel_rate == pytest.approx(0.96e-3)
    assert printed.broadcast_channel_rate == pytest.approx((1 + 59 / 63 / 4 * 47) * 0.04e-3)
    assert consistent.broadcast_channel_rate == pytest.approx((1 + 59 / 4) * 0.04e-3)
    assert consistent.unicast_channel_rate == pytest.approx(0.96e-3 * 64 / 63)


@pytest.mark.parametrize("radix", [3, 4, 7, 10])
def test_consistent_hops_are_those_to_other_nodes(radix):
    found = published(radix, "consistent", message_flits=1, vcs=3, rate=0)
    assert found.network_latency - 1 == pytest.approx(average_distance(torus(radix, radix)))


@pytest.mark.parametrize("vcs", [3, 4, 6])
def test_busy_sets_by_counting(vcs):
    """Sets of as many virtual channels are as probable; 0 and 1 are the deterministic ones."""
    options = {**NETWORK, "vcs": vcs, "rate": 0.004}
    found = published(8, "consistent", **options)
    escape = 0.0
    for busy in range(vcs + 1):
        sets = [set(each) for each in combinations(range(vcs), busy)]
        needed = {0, *range(2, vcs)}
        escape += found.held_vcs[busy] / len(sets) * sum(needed <= each for each in sets)
    assert found.blocked == pytest.approx(escape)
    printed = published(8, **options)
    twice = printed.held_vcs[vcs] + 2 / vcs * printed.held_vcs[vcs - 1]
    assert printed.blocked == pytest.approx(twice)


def test_start_up_is_not_multiplexed():
    without = published(8, rate=0.005, **NETWORK)
    with_it = published(8, rate=0.005, **NETWORK, startup_cycles=100)
    assert with_it.latency == pytest.approx(without.latency + 100)
    assert with_it.saturation_rate == without.saturation_rate


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("network", [(16384, 1, 3, 0), (3, 2**20, 32, 1), (2, 1, 3, 0)])
def test_extremes_are_answered(variant, network):
    radix, flits, vcs, beta = network
    options = {"message_flits": flits, "vcs": vcs, "broadcast": beta}
    limit = published(radix, variant, rate=0, **options).saturation_rate
    found = published(radix, variant, rate=limit * np.array([1e-9, 0.5, 1 - 1e-9]), **options)
    assert np.isfinite(found.latency).all()
    assert (np.diff(found.latency) > 0).all()


@pytest.mark.parametrize(
    ("sides", "broadcast", "found"),
    [((8, 8, 8), 0, "sides: found 8x8x8"), ((8,), 0, "sides: found 8;"), (2, 0.04, "broadcast: ")],
)
def test_what_has_no_equation_is_refused(sides, broadcast, found):
    with pytest.raises(InputError, match=f"^{found}"):
        published(sides, rate=0, **NETWORK | {"broadcast": broadcast})
