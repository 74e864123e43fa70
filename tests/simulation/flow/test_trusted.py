"""How far flows can be trusted: the kinds of programs, and figures that are none."""

from netloom.simulation.flow import trust


def test_an_end_on_which_all_agree_is_told_within_ten_per_cent():
    told = trust(1.0, 1.0, 1.0, lossless_finish=1.0)
    assert told.within < 0.1
    assert "One link" in told.why
    assert "agree" in trust(1.0, 1.0, 0.5, lossless_finish=1.01).why


def test_nothing_is_told_where_the_order_decides_by_factors():
    told = trust(16.0, 1.0, 1.0, lossless_finish=16.0)
    assert told.within is None
    assert "16 times" in told.why
    assert trust(1.0, 16.0, 1.0, lossless_finish=16.0).within is None


def test_an_idle_network_is_known():
    assert trust(0.0, 0.0, 0.0).within == 0
