"""Packets: when they are born, how long they are, and the stream of them."""

from math import comb, exp, factorial

import numpy as np
import pytest
from scipy.stats import chisquare

from netloom.base.errors import InputError
from netloom.topology import mesh
from netloom.workload import PacketStream, parse_arrivals, parse_lengths, parse_traffic
from netloom.workload.traffic import pairs, stream as streams, uniform
from netloom.workload.traffic.stream import arrival_blocks

GRID = mesh(4, 4)


def packets(cycles=4000, spec="uniform", load=0.5, **options):
    return PacketStream(parse_traffic(spec, GRID), load, **options).until(cycles)


def same(one, other):
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("lengths", ["1", "5", "bimodal:1,9,0.25", "geometric:3", "uniform:1-6"])
@pytest.mark.parametrize("load", [0.05, 0.6])
def test_the_load_is_what_the_average_sender_offers(lengths, load):
    found = packets(40_000, "transpose", load, lengths=lengths)
    assert found.flits.sum() / 40_000 / 12 == pytest.approx(load, rel=0.03)


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


def test_nothing_is_asked_for_nothing_comes():
    stream = PacketStream(uniform(4), 0.5)
    for empty in (stream.until(0), stream.until(-5)):
        assert [len(column) for column in empty] == [0, 0, 0, 0]
        assert {column.dtype for column in empty} == {np.dtype(np.int32)}


def test_a_node_far_above_the_mean_may_be_too_fast_for_bernoulli():
    pattern = pairs(4, [0, 1], [2, 3], weights=[1, 9])
    said = r"node 1 creates 1\.44 packets per cycle; .* more than 1 "
    with pytest.raises(InputError, match=said):
        PacketStream(pattern, 0.8)
    assert PacketStream(pattern, 0.8, lengths=2).rates[1] == pytest.approx(0.72)
    assert PacketStream(pattern, 0.8, arrivals="poisson").rates[1] == pytest.approx(1.44)


# -- arrivals --------------------------------------------------------------------------------------


LAWS = ["bernoulli", "poisson", "on-off:20,0.25"]


def counts(spec, rates, cycles, seed=1):
    """int[cycles, senders], the packets of each sender in each cycle."""
    found = np.zeros((cycles, len(rates)), int)
    rates = np.asarray(rates, float)
    start = 0
    for block in arrival_blocks(parse_arrivals(spec), rates, np.random.default_rng(seed)):
        assert block.birth.dtype == block.sender.dtype == np.int32
        if len(block.birth):
            assert start <= block.birth.min()
            assert block.birth.max() < block.end
        keys = block.birth.astype(np.int64) * len(rates) + block.sender
        assert (np.diff(keys) >= (0 if spec == "poisson" else 1)).all()
        before = block.birth < cycles
        np.add.at(found, (block.birth[before], block.sender[before]), 1)
        start = block.end
        if block.end >= cycles:
            return found
    raise AssertionError("the blocks ended early")


@pytest.fixture
def short_blocks(monkeypatch):
    monkeypatch.setattr(streams, "BLOCK_PACKETS", 50)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("spec", LAWS)
@pytest.mark.parametrize("rates", [[0.05] * 6, [0.2, 0.1, 0.07, 0.013, 0.2, 0.001]])
def test_every_sender_has_its_own_rate(spec, rates):
    cycles = 100_000
    found = counts(spec, rates, cycles).sum(axis=0) / cycles
    spread = np.sqrt(np.array(rates) / cycles)
    if spec.startswith("on-off"):  # counts are correlated over a burst and a pause
        rates = np.array(rates)
        spread = np.sqrt((rates + 2 * rates**2 * 3 * 15) / cycles)
    assert (np.abs(found - rates) < 4 * spread).all()


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("rates", [[0.3] * 8, [0.3, 0.2] * 4])
def test_bernoulli_arrivals_are_trials_of_their_own(rates):
    cycles = 40_000
    found = counts("bernoulli", rates, cycles)
    assert found.max() == 1
    p = rates[0]
    first = found[:, ::2].sum(axis=1)  # four senders of probability 0.3 in both cases
    wanted = [comb(4, k) * p**k * (1 - p) ** (4 - k) * cycles for k in range(5)]
    assert chisquare(np.bincount(first, minlength=5), wanted).pvalue > 1e-3
    limit = 4 / cycles**0.5
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < limit
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(found[:-lag, 0], found[lag:, 0])[0, 1]) < limit
    gaps = np.diff(np.flatnonzero(found[:, 0]))
    share = [p * (1 - p) ** k for k in range(10)]
    wanted = np.array([*share, 1 - sum(share)]) * len(gaps)
    assert chisquare(np.bincount(np.minimum(gaps, 11), minlength=12)[1:], wanted).pvalue > 1e-3


def test_probability_one_is_a_packet_in_every_cycle():
    assert (counts("bernoulli", [1.0] * 5, 300) == 1).all()
    mixed = counts("bernoulli", [1.0, 0.6, 1.0], 3000)
    assert (mixed[:, [0, 2]] == 1).all()
    assert mixed[:, 1].mean() == pytest.approx(0.6, abs=0.04)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("rates", [[0.8] * 3, [0.8, 1.4, 0.03]])
def test_poisson_arrivals_may_be_several_in_a_cycle(rates):
    cycles = 40_000
    found = counts("poisson", rates, cycles)
    share = [exp(-0.8) * 0.8**k / factorial(k) for k in range(6)]
    wanted = np.array([*share, 1 - sum(share)]) * cycles
    assert chisquare(np.bincount(np.minimum(found[:, 0], 6), minlength=7), wanted).pvalue > 1e-3
    limit = 4 / cycles**0.5
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < limit
    assert abs(np.corrcoef(found[:-1, 0], found[1:, 0])[0, 1]) < limit


@pytest.mark.usefixtures("short_blocks")
def test_bursts_have_their_length_and_duty_across_blocks():
    # at a rate equal to the duty, a node sends in every cycle in which it is on
    found = counts("on-off:12,0.3", [0.3] * 4, 200_000)
    assert found.max() == 1
    assert found.mean() == pytest.approx(0.3, abs=0.01)
    for sent in found.T:
        turns = np.flatnonzero(np.diff(sent)) + 1
        runs = np.diff(turns)
        on, off = (runs[k::2] for k in ((0, 1) if sent[turns[0]] else (1, 0)))
        assert on.mean() == pytest.approx(12, rel=0.06)
        assert off.mean() == pytest.approx(28, rel=0.06)
        assert on.std() == pytest.approx((12 * 11) ** 0.5, rel=0.1)
        assert off.std() == pytest.approx((28 * 27) ** 0.5, rel=0.1)


@pytest.mark.usefixtures("short_blocks")
def test_bursts_have_the_autocorrelation_of_a_two_state_chain():
    duty, rate, cycles = 0.25, 0.1, 400_000
    found = counts("on-off:20,0.25", [rate, 0.06], cycles)[:, 0]
    stays = 1 - 1 / 20 - 1 / 60
    sending = rate / duty
    for lag in (1, 5, 20, 60):
        covariance = np.cov(found[:-lag], found[lag:])[0, 1]
        wanted = sending**2 * duty * (1 - duty) * stays**lag
        assert covariance == pytest.approx(wanted, abs=0.0015)


def test_the_first_cycle_is_as_busy_as_any():
    # the chain starts in its steady state
    first = [counts("on-off:50,0.2", [0.2] * 64, 1, seed)[0].mean() for seed in range(40)]
    assert np.mean(first) == pytest.approx(0.2, abs=4 * (0.16 / 2560) ** 0.5)


@pytest.mark.usefixtures("short_blocks")
def test_bursts_of_one_cycle_and_no_two_running():
    found = counts("on-off:1,0.5", [0.5], 1000)[:, 0]  # on and off by turns
    assert (found[1:] != found[:-1]).all()


# -- lengths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "mean", "shortest", "longest", "variance"),
    [
        ("5", 5, 5, 5, 0),
        ("uniform:1-9", 5, 1, 9, 80 / 12),
        ("bimodal:1,9,0.25", 7, 1, 9, 12),
        ("geometric:5", 5, 1, 32_767, 20),
        ("geometric:1", 1, 1, 1, 0),
    ],
)
def test_lengths_have_the_law_they_name(spec, mean, shortest, longest, variance):
    law = parse_lengths(spec)
    assert law.name == spec
    assert (law.mean, law.shortest, law.longest) == (pytest.approx(mean), shortest, longest)
    drawn = law.draw(np.random.default_rng(3), 200_000)
    assert drawn.dtype == np.int32
    assert shortest <= drawn.min() <= drawn.max() <= longest
    assert drawn.mean() == pytest.approx(mean, abs=4 * (variance / 200_000) ** 0.5)
    assert drawn.var() == pytest.approx(variance, rel=0.03)


def test_geometric_lengths_are_geometric():
    drawn = parse_lengths("geometric:4").draw(np.random.default_rng(1), 200_000)
    for flits in range(1, 12):
        wanted = 0.75 ** (flits - 1) / 4
        assert (drawn == flits).mean() == pytest.approx(wanted, abs=5 * (wanted / 200_000) ** 0.5)


def test_the_cut_of_the_geometric_law_is_in_its_mean():
    law = parse_lengths("geometric:4096")
    by_hand = sum((1 - 1 / 4096) ** k for k in range(32_767))  # the sum of P(length > k)
    assert law.mean == pytest.approx(by_hand, rel=1e-12)
    assert law.mean == pytest.approx(4096, rel=1e-3)
    drawn = law.draw(np.random.default_rng(1), 200_000)
    assert drawn.max() == 32_767
    assert drawn.mean() == pytest.approx(law.mean, rel=0.01)
