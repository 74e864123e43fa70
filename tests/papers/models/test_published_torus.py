"""The published torus model against its equations in plain floats, and against counting."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import average_distance, torus
from netloom_papers.models.published_torus import VARIANTS, Corrections, hops_left
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
    for dimensions in (1, 2, 3):
        sides = [radix] * dimensions
        found = published(sides, "consistent", message_flits=1, vcs=3, rate=0)
        assert found.network_latency - 1 == pytest.approx(average_distance(torus(*sides)))


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


@pytest.mark.parametrize(("along", "dimensions"), list(product([1, 2, 3], [1, 2, 3, 4])))
def test_hops_left_by_counting(along, dimensions):
    """Of two dimensions as well, so that the others continue eq. 13."""
    wanted = np.zeros(dimensions)
    for hop in range(dimensions * along):
        points = [x for x in product(range(along + 1), repeat=dimensions) if sum(x) == hop]
        for point in points:
            wanted[dimensions - point.count(along) - 1] += 1 / len(points)
    assert hops_left(float(along), dimensions) == pytest.approx(wanted)


def test_hops_between_whole_ones():
    low, high = hops_left(2.0, 3), hops_left(3.0, 3)
    assert hops_left(2.25, 3) == pytest.approx(0.75 * low + 0.25 * high)
    assert hops_left(0.5, 20).sum() == pytest.approx(10)


def test_three_dimensions_carry_broadcasts_and_block():
    """A tree of 511 messages over 6 channels a node; two more hops, more of them with a choice."""
    found = published((8, 8, 8), "consistent", rate=0.001, **NETWORK)
    assert found.broadcast_channel_rate == pytest.approx(511 / 6 * 0.04e-3)
    others = 512 / 511
    all_held, two, one, _ = found.held_vcs[::-1]
    adaptive = all_held + 2 / 3 * two + one / 3  # of three VCs, one is adaptive
    busy = found.blocked * (hops_left(2.0, 3) @ adaptive ** np.arange(3))
    blocking = found.network_latency - 32 - 6 * others
    assert blocking == pytest.approx(others * busy * found.channel_wait, rel=1e-6)


@pytest.mark.parametrize("radix", [2, 3])
def test_source_queues_of_the_shortest_rings_fill_first(radix):
    """d of all nodes is 1 / 2 or 2 / 3: fewer messages cross a channel than enter the network."""
    ring = {"message_flits": 4, "vcs": 30}
    limit = published((radix,), rate=0, **ring).saturation_rate
    found = published((radix,), rate=limit * np.array([0.9, 0.999, 1]), **ring)
    assert (found.source_wait > 0).all()
    assert limit / 2 * found.network_latency[-1] == pytest.approx(1)
    assert found.channel_rate[-1] * found.service_time[-1] < 0.7


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
    ("sides", "variant"), [((8, 8, 8), "printed"), ((8,), "printed"), ((2, 2), "consistent")]
)
def test_broadcasts_without_an_equation_are_refused(sides, variant):
    with pytest.raises(InputError, match="broadcast"):
        published(sides, variant, rate=0, **NETWORK)
    assert published(sides, variant, rate=0, **NETWORK | {"broadcast": 0}).saturation_rate > 0
