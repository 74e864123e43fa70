"""How far flows can be trusted: the kinds of programs, and figures that are none."""

import pytest

from netloom.base.errors import InputError
from netloom.simulation.flow import trust


def test_an_end_on_which_all_agree_is_told_within_ten_per_cent():
    told = trust(1.0, 1.0, 1.0, lossless_finish=1.0)
    assert told.within < 0.1
    assert "One link" in told.why
    assert "agree" in trust(1.0, 1.0, 0.5, lossless_finish=1.01).why


def test_the_estimate_grows_with_either_gap():
    turns = [trust(1.0, 1.0, 1.0, lossless_finish=by).within for by in (1.0, 1.1, 1.7)]
    order = [trust(factor, 1.0, 1.0).within for factor in (1.0, 1.5, 3.0)]
    assert turns == sorted(set(turns))
    assert order == sorted(set(order))


def test_not_knowing_the_end_by_turns_is_worth_less():
    known = trust(1.0, 1.0, 1.0, lossless_finish=1.0)
    assert trust(1.0, 1.0, 1.0).within > known.within


def test_nothing_is_told_where_the_order_decides_by_factors():
    told = trust(16.0, 1.0, 1.0, lossless_finish=16.0)
    assert told.within is None
    assert "16 times" in told.why
    assert trust(1.0, 16.0, 1.0, lossless_finish=16.0).within is None


def test_short_messages_are_a_kind_of_their_own():
    told = trust(1.0, 1.0, 1.0, lossless_finish=1.0, short=0.9)
    assert "shorter" in told.why
    assert told != trust(1.0, 1.0, 1.0, lossless_finish=1.0, short=0.1)


def test_an_idle_network_is_known():
    assert trust(0.0, 0.0, 0.0).within == 0


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0])
def test_figures_that_are_none_are_refused(wrong):
    with pytest.raises(InputError, match="trust"):
        trust(wrong, 1.0, 1.0)
    with pytest.raises(InputError, match="trust"):
        trust(1.0, 1.0, 1.0, lossless_finish=wrong)
