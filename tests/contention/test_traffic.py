import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom.contention import (
    accepted_path_traffic,
    offered_by_program,
    offered_by_run,
    path_slowdown,
)
from netloom_papers.studies.chittor import accepted_path_traffic_threshold

traffic = st.floats(0, 1)
levels = st.integers(0, 1000)


@given(traffic, levels)
def test_accepted_traffic_satisfies_both_equations_it_comes_from(offered, nu):
    accepted = float(accepted_path_traffic(offered, nu))
    assert 0 <= accepted <= min(offered, 1 / (nu + 1)) + 1e-12
    slowdown = float(path_slowdown(accepted, nu))
    if np.isfinite(slowdown) and slowdown < 1e6:
        assert accepted == pytest.approx(offered / (1 + (slowdown - 1) * offered), abs=1e-7)


@given(traffic, traffic, levels)
def test_more_offered_is_never_less_accepted(one, other, nu):
    low, high = sorted((one, other))
    assert accepted_path_traffic(low, nu) <= accepted_path_traffic(high, nu) + 1e-12
    assert accepted_path_traffic(low, nu) <= accepted_path_traffic_threshold(low, nu) + 1e-12


def test_the_curve_of_figure_3_5():
    found = accepted_path_traffic([0.1, 0.2, 1 / 3, 0.5, 0.8], 2)
    assert found == pytest.approx([0.0961, 0.1667, 0.2113, 0.2324, 0.2460], abs=1e-4)


def test_slowdown_is_infinite_from_saturation_on():
    assert path_slowdown(0.0, 5) == 1
    assert np.isinf(path_slowdown([1 / 6, 0.5], 5)).all()


def test_two_ways_to_say_the_offered_traffic_agree():
    """1000 loops of one 4096-byte message and 1 ms of computation, told both ways."""
    message_us = 210.2 + 0.1536 * 4096
    by_program = offered_by_program(4096, 1000, message_us, 20)
    by_run = offered_by_run(1000 * 4096, 1000 * (1000 + message_us), 20)
    assert by_program == pytest.approx(by_run)


def test_a_load_without_time_or_bandwidth_is_refused():
    with pytest.raises(InputError, match="run_us"):
        offered_by_run(1, 0, 20)
    with pytest.raises(InputError, match="bandwidth_bytes_per_us"):
        offered_by_program(1, 1, 1, -2)
    with pytest.raises(InputError, match="message_bytes"):
        offered_by_program(float("nan"), 1, 1, 2)
