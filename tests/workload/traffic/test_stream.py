import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.topology import mesh
from netloom.workload import PacketStream, parse_traffic
from netloom.workload.traffic import pairs, uniform, with_rates

GRID = mesh(4, 4)
TRAFFICS = ["uniform", "transpose", "hot-spot:0.2:3", "pairs:0-5,0-6*3,11-2"]


def packets(cycles=4000, spec="uniform", load=0.5, **options):
    return PacketStream(parse_traffic(spec, GRID), load, **options).until(cycles)


def same(one, other):
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@settings(max_examples=40)
@given(
    spec=st.sampled_from(TRAFFICS),
    load=st.sampled_from([0.02, 0.3, 0.5]),
    lengths=st.sampled_from(["2", "bimodal:1,9,0.5", "geometric:5"]),
    arrivals=st.sampled_from(["bernoulli", "poisson", "on-off:30,0.5"]),
    cuts=st.lists(st.integers(0, 9000), max_size=8),
)
def test_packets_do_not_depend_on_how_they_are_asked_for(spec, load, lengths, arrivals, cuts):
    def stream():
        options = {"lengths": lengths, "arrivals": arrivals, "seed": 5}
        return PacketStream(parse_traffic(spec, GRID), load, **options)

    whole = stream().until(9000)
    cut = stream()
    parts = []
    reached = 0
    for cycle in [*cuts, 9000]:  # in any order: an earlier cycle brings nothing new
        part = cut.until(cycle)
        assert len(part.birth) == 0 or reached <= part.birth.min() <= part.birth.max() < cycle
        reached = max(reached, cycle)
        parts.append(part)
    assert same(whole, [np.concatenate(column) for column in zip(*parts, strict=True)])


@pytest.mark.parametrize("spec", TRAFFICS)
@pytest.mark.parametrize("arrivals", ["bernoulli", "poisson", "on-off:30,0.5"])
def test_packets_are_in_order_and_where_they_should_be(spec, arrivals):
    found = packets(spec=spec, arrivals=arrivals, lengths="uniform:1-4")
    assert {column.dtype for column in found} == {np.dtype(np.int32)}
    assert (np.diff(found.birth.astype(np.int64) * 16 + found.source) >= 0).all()
    assert found.birth.min() >= 0
    assert found.birth.max() < 4000
    allowed = parse_traffic(spec, GRID).matrix()
    may = set((allowed.source * 16 + allowed.target).tolist())
    assert set((found.source * 16 + found.target).tolist()) <= may
    assert set(np.unique(found.flits)) == {1, 2, 3, 4}


@pytest.mark.parametrize("lengths", ["1", "5", "bimodal:1,9,0.25", "geometric:3", "uniform:1-6"])
@pytest.mark.parametrize("load", [0.05, 0.6])
def test_the_load_is_what_the_average_sender_offers(lengths, load):
    found = packets(40_000, "transpose", load, lengths=lengths)
    assert found.flits.sum() / 40_000 / 12 == pytest.approx(load, rel=0.03)


def test_nodes_offer_in_proportion_to_their_rates():
    rates = np.array([4.0, 2, 1, 0.5, 0, 0.1])
    pattern = with_rates(uniform(6), rates)
    stream = PacketStream(pattern, 0.3, lengths=2, seed=2)
    assert stream.rates == pytest.approx(0.3 * pattern.rate / 2)
    found = stream.until(60_000)
    counted = np.bincount(found.source, minlength=6) / 60_000
    assert counted[4] == 0
    assert (np.abs(counted - stream.rates) <= 4 * np.sqrt(stream.rates / 60_000)).all()


def test_targets_follow_the_matrix():
    pattern = parse_traffic("hot-spot:0.2:3", GRID)
    found = PacketStream(pattern, 1.0, lengths=1).until(20_000)
    keys = found.source.astype(np.int64) * 16 + found.target
    shares = np.bincount(keys, minlength=256) / len(keys)
    wanted = np.zeros(256)
    matrix = pattern.matrix()
    wanted[matrix.source * 16 + matrix.target] = matrix.weight
    assert np.abs(shares - wanted).max() < 0.0008


def test_full_load_with_packets_of_one_flit_is_a_packet_in_every_cycle():
    found = packets(100, load=1, lengths=1)
    assert found.birth.tolist() == np.repeat(np.arange(100), 16).tolist()
    assert found.source.tolist() == list(range(16)) * 100


def test_times_targets_and_lengths_have_chance_of_their_own():
    fixed = packets(lengths="5", seed=3)
    mixed = packets(lengths="bimodal:1,9,0.5", seed=3)
    assert same(fixed[:3], mixed[:3])
    assert set(np.unique(mixed.flits)) == {1, 9}
    elsewhere = packets(spec="hot-spot:0.5:3", lengths="5", seed=3)
    assert same(fixed[:2], elsewhere[:2])
    assert not (fixed.target == elsewhere.target).all()
    burst = packets(lengths="bimodal:1,9,0.5", arrivals="poisson", seed=3)
    both = min(len(burst.flits), len(mixed.flits))
    assert (burst.flits[:both] == mixed.flits[:both]).all()


def test_what_a_packet_is_like_says_nothing_of_where_it_goes():
    found = packets(20_000, "uniform-self", 1.0, lengths="uniform:1-4")
    gaps = np.diff(found.birth.astype(int) * 16 + found.source)
    limit = 4 / len(gaps) ** 0.5
    assert abs(np.corrcoef(found.target, found.flits)[0, 1]) < limit
    assert abs(np.corrcoef(gaps, found.target[1:])[0, 1]) < limit
    assert abs(np.corrcoef(gaps, found.flits[1:])[0, 1]) < limit


def test_nothing_is_asked_for_nothing_comes():
    stream = PacketStream(uniform(4), 0.5)
    for empty in (stream.until(0), stream.until(-5)):
        assert [len(column) for column in empty] == [0, 0, 0, 0]
        assert {column.dtype for column in empty} == {np.dtype(np.int32)}


def test_times_end_with_int32():
    stream = PacketStream(uniform(2), 1e-6, seed=4)
    found = stream.until(2**31 - 1)
    assert len(found.birth) == pytest.approx(2 * 2**31 / 1e6, rel=0.06)
    assert found.birth.max() > 2_140_000_000
    with pytest.raises(InputError, match="cycles: found 2147483648; expected at most 2147483647"):
        stream.until(2**31)


@pytest.mark.parametrize("arrivals", ["bernoulli", "poisson", "on-off:30,0.5"])
def test_a_load_of_next_to_nothing_is_a_load(arrivals):
    stream = PacketStream(uniform(4), 5e-324, lengths=9, arrivals=arrivals)
    assert len(stream.until(10**6).birth) == 0


def test_a_node_far_above_the_mean_may_be_too_fast_for_bernoulli():
    pattern = pairs(4, [0, 1], [2, 3], weights=[1, 9])
    said = r"node 1 creates 1\.44 packets per cycle; .* more than 1 "
    with pytest.raises(InputError, match=said):
        PacketStream(pattern, 0.8)
    assert PacketStream(pattern, 0.8, lengths=2).rates[1] == pytest.approx(0.72)
    assert PacketStream(pattern, 0.8, arrivals="poisson").rates[1] == pytest.approx(1.44)
