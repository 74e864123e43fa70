import numpy as np
import pytest

from netloom_papers.combining import CombiningNetwork, run_combining
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots


def one_for_all(pes, rate, **others):
    return HotSpotTraffic(np.array([3]), np.full((pes, 1), 3), rate, **others)


def test_slow_memory_is_as_good_as_its_service():
    for service, served in ((1, 1.0), (3, 1 / 3)):
        network = CombiningNetwork(16, service_steps=service, queue=2, combining="none")
        run = run_combining(network, one_for_all(16, 1.0), 3000)
        assert 16 * run.throughput == pytest.approx(served, rel=0.02)
        assert run.steps_min == network.unhindered_steps


def test_requests_that_pile_up_are_not_stable():
    network = CombiningNetwork(16, combining="none")
    run = run_combining(network, one_for_all(16, 0.1), 2000)  # 1.6 requests a step for one module
    assert run.stable is False
    assert "requests in flight grow by 0.6" in run.reason
    assert run_combining(network, one_for_all(16, 0.02), 2000).stable


def test_nothing_is_asked():
    nobody = HotSpotTraffic(np.array([3]), np.full((16, 1), -1), 0.5)
    for traffic in (nobody, one_for_all(16, 0.0)):
        run = run_combining(CombiningNetwork(16), traffic, 200)
        assert run.requests == run.finalisation_steps == 0
        assert np.isnan(run.steps_mean)
        assert run.stable


def test_latencies_from_the_histogram():
    hot = place_hot_spots(64, 4, seed=2)
    traffic = HotSpotTraffic(hot, assign_hot_spots(64, hot, 2, 0.9), 0.3)
    run = run_combining(CombiningNetwork(64), traffic, 1000)
    steps = np.repeat(np.arange(len(run.latency_counts)), run.latency_counts)
    assert len(steps) == run.requests == run.hot_spots["requests"].sum()
    assert run.steps_mean == pytest.approx(steps.mean())
    assert run.steps_p99 == np.percentile(steps, 99, method="inverted_cdf")
    assert (run.steps_min, run.steps_max) == (steps.min(), steps.max())
    assert run.hot_spots["accesses"].sum() == run.requests - round(
        float((run.combining_rate * arrivals(run)).sum())
    )


def arrivals(run):
    """Requests that come to each stage, from what combines before."""
    left = np.cumprod(np.concatenate([[1], 1 - run.combining_rate[:-1]]))
    return run.requests * left


def test_hot_spots_that_come_later_are_listed_behind():
    traffic = one_for_all(16, 0.5, new=0.05, remove=0.05)
    run = run_combining(CombiningNetwork(16), traffic, 1000)
    assert run.hot_spots["module"][0] == 3
    later = len(run.hot_spots["module"]) - 1
    assert later > 4
    assert run.hot_spots["elements"].tolist() == [16] + [0] * later
    assert run.hot_spots["requests"].sum() == run.requests
