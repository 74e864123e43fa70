import numpy as np
import pytest

from netloom.workload import parse_lengths


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


def test_every_length_of_a_uniform_law_is_as_likely():
    counts = np.bincount(parse_lengths("uniform:2-5").draw(np.random.default_rng(1), 100_000))
    assert (counts[:2] == 0).all()
    assert np.abs(counts[2:] / 25_000 - 1).max() < 0.03


def test_short_packets_have_their_share():
    drawn = parse_lengths("bimodal:2,20,0.9").draw(np.random.default_rng(1), 100_000)
    assert set(np.unique(drawn)) == {2, 20}
    assert (drawn == 2).mean() == pytest.approx(0.9, abs=0.004)


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
