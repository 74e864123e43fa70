import numpy as np
import pytest

from netloom_papers.combining.hot_spots import single_hot_spot, tree_saturation


def test_one_stage_of_two_elements_by_hand():
    # Two elements, one switch: the module is asked if one of them asks, 1 - 0.5^2; a request waits
    # two steps if both do.
    one = single_hot_spot(1, 0.5)
    assert one.queue_mean.tolist() == [0, 0.75, 0.75, 0.5]
    assert one.wait_mean.tolist() == [0.25 * 2]


def test_certain_requests_fill_every_queue():
    one = single_hot_spot(5, 1.0)
    assert one.queue_mean.tolist() == [0] + [1] * 11
    assert one.wait_mean.tolist() == [10, 8, 6, 4, 2]
    assert not single_hot_spot(5, 0.0).queue_mean.any()


def test_the_report_s_printed_mean_queues():
    # Table VI, "few hot spots", first seed: two trees that share nothing but the last queues of
    # replies; each element asks either with half of the rate.
    queues = single_hot_spot(9, 0.15 / 2).queue_mean
    queues[-1] *= 2
    assert queues.mean() == pytest.approx(0.658, abs=1e-3)


def test_tree_saturation_between_all_hot_and_none():
    assert tree_saturation(64, 0) == 1
    assert tree_saturation(64, 1) == pytest.approx(1 / 64)
    limits = [tree_saturation(64, h) for h in np.linspace(0, 1, 9)]
    assert (np.diff(limits) < 0).all()
