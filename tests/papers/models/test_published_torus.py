"""The published torus model against its equations in plain floats, and against counting."""

from dataclasses import fields
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import average_distance, torus
from netloom_papers.models.published_torus import (
    VARIANTS,
    Corrections,
    hops_left,
    published_saturation,
    published_torus,
)
from tests.reference import published_torus as equations

NETWORK = {"message_flits": 32, "vcs": 3, "broadcast": 0.04}
RATES = ("rate", "channel_rate", "unicast_channel_rate", "broadcast_channel_rate",
         "replica_channel_rate")  # fmt: skip


@st.composite
def cases(draw):
    radix = draw(st.integers(3, 20))
    flits, vcs = draw(st.integers(1, 200)), draw(st.integers(3, 12))
    beta = draw(st.sampled_from([0.0, 1.0]) | st.floats(0, 1))
    mended = frozenset(draw(st.sets(st.sampled_from(equations.ALL))))
    return radix, flits, vcs, beta, mended


def arguments(case):
    radix, flits, vcs, beta, mended = case
    variant = Corrections(**dict.fromkeys(mended, True))
    return radix, {"message_flits": flits, "vcs": vcs, "broadcast": beta, "variant": variant}


@settings(max_examples=60, deadline=None)
@given(cases(), st.floats(0.01, 0.99))
def test_every_quantity_is_that_of_the_equations(case, load):
    radix, options = arguments(case)
    rate = load * published_saturation(radix, **options)
    found = published_torus(radix, rate=rate, **options)
    wanted = equations.published_torus(*case[:4], rate, case[4])
    for name, value in wanted.items():
        assert getattr(found, name) == pytest.approx(np.array(value), rel=1e-9, abs=1e-300), name
    assert not found.saturated


@settings(max_examples=40, deadline=None)
@given(cases())
def test_saturation_is_where_the_equations_have_no_solution(case):
    radix, options = arguments(case)
    limit = published_saturation(radix, **options)
    assert equations.published_torus(*case[:4], limit * (1 - 1e-6), case[4])
    assert equations.published_torus(*case[:4], limit * (1 + 1e-6), case[4]) is None


@settings(max_examples=40, deadline=None)
@given(cases(), st.floats(0.01, 0.9))
def test_the_next_service_time_grows_and_is_convex(case, used):
    """What the solution from below rests on, at any rate that channels could carry unhindered."""
    radix, flits, vcs, beta, mended = case
    channel_rate = sum(equations.rates(radix, beta, 1, mended)[3:])
    rate = used / (flits * channel_rate)
    service = np.linspace(flits, 0.95 / (rate * channel_rate), 40)
    again = [
        equations.again(each, radix, flits, vcs, beta, rate, mended)["service_time"]
        for each in service.tolist()
    ]
    slack = 1e-9 * again[-1]
    assert (np.diff(again) >= -slack).all()
    assert (np.diff(again, 2) >= -slack).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_loads_up_to_saturation_and_beyond(variant):
    limit = published_saturation(8, **NETWORK, variant=variant)
    loads = np.array([[0, 0.3, 0.6, 0.9], [1, 1 + 1e-9, 1.5, 1e6]])
    found = published_torus(8, rate=loads * limit, **NETWORK, variant=variant)
    assert found.saturation_rate == limit
    beyond = loads > 1
    assert found.saturated.tolist() == beyond.tolist()
    for field in fields(found):
        value = getattr(found, field.name)
        if field.name in RATES:
            assert np.isfinite(value).all()
        elif field.name not in ("saturated", "saturation_rate"):
            assert np.isnan(value[beyond]).all(), field.name
            assert np.isfinite(value[~beyond]).all(), field.name
    assert (np.diff(found.latency[~beyond]) > 0).all()
    assert found.busy_vcs.shape == (2, 4, 4)
    assert found.busy_vcs[~beyond].sum(axis=-1) == pytest.approx(np.ones(5))
    parts = [getattr(found, name) for name in RATES[2:]]
    assert found.channel_rate == pytest.approx(sum(parts))


def test_no_load_by_hand():
    """Nothing waits: M + d cycles, with d = 4 hops of all pairs and 4 · 64 / 63 of the others."""
    printed = published_torus(8, rate=0, **NETWORK)
    consistent = published_torus(8, rate=0.0, **NETWORK, variant="consistent")
    assert printed.latency == 36
    assert consistent.latency == pytest.approx(32 + 256 / 63)
    assert (printed.broadcast_network_latency, consistent.broadcast_network_latency) == (32, 33)
    for found in (printed, consistent):
        assert found.latency.shape == ()
        assert found.vc_multiplexing == 1
        assert found.source_wait == found.channel_wait == found.channel_rate == 0
        assert found.busy_vcs.tolist() == [1, 0, 0, 0]


def test_traffic_by_hand():
    """k = 8: 48 nodes of the tree replicate, 63 messages in all, of which 59 are replicas.

    16 nodes do not replicate, 40 once, 2 twice and 5 three times.
    """
    printed = published_torus(8, rate=0.001, **NETWORK)
    consistent = published_torus(8, rate=0.001, **NETWORK, variant="consistent")
    assert printed.unicast_channel_rate == pytest.approx(0.96e-3)
    assert printed.broadcast_channel_rate == consistent.broadcast_channel_rate == 0.04e-3
    assert printed.replica_channel_rate == pytest.approx(59 / 63 / 4 * 47 * 0.04e-3)
    assert consistent.replica_channel_rate == pytest.approx(59 / 4 * 0.04e-3)
    assert consistent.unicast_channel_rate == pytest.approx(0.96e-3 * 64 / 63)


@pytest.mark.parametrize("radix", [3, 4, 7, 10])
def test_consistent_hops_are_those_to_other_nodes(radix):
    for dimensions in (1, 2, 3):
        found = published_torus(radix, dimensions=dimensions, message_flits=1, vcs=3, rate=0,
                                variant="consistent")  # fmt: skip
        net = torus(*[radix] * dimensions)
        assert found.network_latency - 1 == pytest.approx(average_distance(net))


@pytest.mark.parametrize("vcs", [3, 4, 6])
def test_busy_sets_by_counting(vcs):
    """Sets of as many virtual channels are as probable; 0 and 1 are the deterministic ones."""
    options = {**NETWORK, "vcs": vcs}
    found = published_torus(8, rate=0.004, **options, variant="consistent")
    adaptive, escape = 0.0, 0.0
    for busy in range(vcs + 1):
        sets = [set(each) for each in combinations(range(vcs), busy)]
        part = found.busy_vcs[busy] / len(sets)
        adaptive += part * sum(set(range(2, vcs)) <= each for each in sets)
        escape += part * sum({0, *range(2, vcs)} <= each for each in sets)
    assert found.adaptive_busy == pytest.approx(adaptive)
    assert found.escape_busy == pytest.approx(escape)
    printed = published_torus(8, rate=0.004, **options)
    twice = printed.busy_vcs[vcs] + 2 / vcs * printed.busy_vcs[vcs - 1]
    assert printed.escape_busy == pytest.approx(twice)


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
    found = published_torus(8, dimensions=3, rate=0.001, **NETWORK, variant="consistent")
    broadcasts = found.broadcast_channel_rate + found.replica_channel_rate
    assert broadcasts == pytest.approx(511 / 6 * 0.04e-3)
    others = 512 / 511
    busy = found.escape_busy * (hops_left(2.0, 3) @ found.adaptive_busy ** np.arange(3))
    blocking = found.network_latency - 32 - 6 * others
    assert blocking == pytest.approx(others * busy * found.channel_wait, rel=1e-6)


@pytest.mark.parametrize("radix", [2, 3])
def test_source_queues_of_the_shortest_rings_fill_first(radix):
    """d of all nodes is 1 / 2 or 2 / 3: fewer messages cross a channel than enter the network."""
    options = {"dimensions": 1, "message_flits": 4, "vcs": 30}
    limit = published_saturation(radix, **options)
    found = published_torus(radix, rate=limit * np.array([0.9, 0.999, 1]), **options)
    assert (found.source_wait > 0).all()
    assert limit / 2 * found.network_latency[-1] == pytest.approx(1)
    assert found.channel_rate[-1] * found.service_time[-1] < 0.7


def test_start_up_is_not_multiplexed():
    without = published_torus(8, rate=0.005, **NETWORK)
    with_it = published_torus(8, rate=0.005, **NETWORK, startup_cycles=100)
    assert with_it.latency == pytest.approx(without.latency + 100)
    assert with_it.saturation_rate == without.saturation_rate


@pytest.mark.parametrize("variant", VARIANTS)
def test_extremes_are_answered(variant):
    for radix, flits, vcs, beta in [(16384, 1, 3, 0), (3, 10**9, 1024, 1), (2, 1, 3, 0)]:
        limit = published_saturation(
            radix, message_flits=flits, vcs=vcs, broadcast=beta, variant=variant
        )
        found = published_torus(
            radix, message_flits=flits, vcs=vcs, broadcast=beta, variant=variant,
            rate=limit * np.array([1e-9, 0.5, 1 - 1e-9]),
        )  # fmt: skip
        assert np.isfinite(found.latency).all()
        assert (np.diff(found.latency) > 0).all()


def test_no_rates():
    assert published_torus(8, rate=[], **NETWORK).busy_vcs.shape == (0, 4)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("radix", 1),
        ("radix", 8.5),
        ("radix", 2**15),
        ("dimensions", 0),
        ("dimensions", 10),
        ("dimensions", 10**9),
        ("message_flits", 0),
        ("message_flits", float("nan")),
        ("vcs", 2),
        ("vcs", 3.5),
        ("vcs", 10**9),
        ("rate", -0.001),
        ("rate", [0.001, float("nan")]),
        ("rate", float("inf")),
        ("broadcast", -0.1),
        ("broadcast", 1.1),
        ("broadcast", float("nan")),
        ("startup_cycles", -1),
        ("startup_cycles", float("inf")),
        ("variant", "improved"),
    ],
)
def test_refused(field, value):
    given_ = {"radix": 8, "rate": 0.001, **NETWORK, field: value}
    with pytest.raises(InputError) as refusal:
        published_torus(given_.pop("radix"), **given_)
    assert "\n" not in str(refusal.value)
    if field != "dimensions":  # too many of them make too many nodes
        assert field in str(refusal.value)


@pytest.mark.parametrize(
    ("radix", "dimensions", "variant"), [(8, 3, "printed"), (8, 1, "printed"), (2, 2, "consistent")]
)
def test_broadcasts_without_an_equation_are_refused(radix, dimensions, variant):
    with pytest.raises(InputError, match="broadcast"):
        published_saturation(radix, dimensions=dimensions, variant=variant, **NETWORK)
    alone = {**NETWORK, "broadcast": 0}
    assert published_saturation(radix, dimensions=dimensions, variant=variant, **alone) > 0
