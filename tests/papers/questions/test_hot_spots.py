import numpy as np
import polars as pl
import pytest

from netloom import find_critical_queue, simulate_hot_spots
from netloom.base.errors import InputError
from netloom_papers.combining import CombiningNetwork, run_combining
from netloom_papers.combining.hot_spots import (
    HotSpotTraffic,
    assign_hot_spots,
    place_hot_spots,
    single_hot_spot,
)
from netloom_papers.questions.hotspot import HotSpotQuestion, prepare

SMALL = {"pes": 64, "hot_spots": 4, "steps": 400}
COUNTER = {"pes": 16, "hot_spots": 1, "assign": 1.0, "rate": 0.15}


def run_alone(seed, rate=0.15, queue=None, wait=False):
    """One replication of SMALL, by the simulator itself."""
    hot_spots = place_hot_spots(64, 4, seed=seed)
    assigned = assign_hot_spots(64, hot_spots, 2, 0.95, seed=seed)
    traffic = HotSpotTraffic(hot_spots, assigned, rate, wait=wait)
    network = CombiningNetwork(64, queue=queue, wait_buffer=queue)
    return run_combining(network, traffic, 400, seed=seed)


def test_one_run_says_what_the_simulator_says():
    data = simulate_hot_spots(**SMALL, queue=3, policy="wait", seed=5).to_dict()
    run = run_alone(5, queue=3, wait=True)
    assert data["requests"]["mean_per_pe"] == run.requests / 64
    steps = {name: getattr(run, f"steps_{name}") for name in ("mean", "ci95", "min", "p50", "p99")}
    assert data["steps"] == {**steps, "max": run.steps_max}
    assert data["unhindered_steps"] == 14
    assert data["queue"] == {"mean": run.mean_queue, "ci95": None, "max": run.queue_max.max()}
    share = run.discarded_waiting / (run.requests + run.discarded_waiting + run.discarded_full)
    assert data["discarded"]["waiting_share"] == share > 0
    for i, stage in enumerate(data["stages"]):
        assert stage["requests"]["mean"] == run.queue_mean[1 + i]
        assert stage["replies"]["max"] == run.queue_max[13 - i]
        assert stage["wait"]["used"] == run.wait_used[i]
        assert stage["combining_rate"] == run.combining_rate[i]


def test_a_hot_spot_of_all_is_busy_as_theory_has_it():
    data, theory = simulate_hot_spots(**COUNTER, steps=40_000).to_dict(), single_hot_spot(4, 0.15)
    assert data["module_queue"]["mean"] == pytest.approx(theory.queue_mean[5], rel=0.02)
    (hot,) = data["hot_spots"]
    assert hot["elements"] == 16
    assert hot["requests"] == data["requests"]["total"]
    assert data["combined_share"] == pytest.approx(1 - hot["accesses"] / hot["requests"])
    assert hot["busy"] == pytest.approx(theory.queue_mean[5], rel=0.02)
    assert hot["requests_per_step"] == pytest.approx(16 * 0.15, rel=0.02)


def test_replications_have_places_of_their_own_and_are_averaged():
    found = simulate_hot_spots(**SMALL, queue=4, replications=3, seed=7)
    runs = [run_alone(seed, queue=4) for seed in (7, 8, 9)]
    data = found.to_dict()
    requests = np.array([run.requests for run in runs])
    means = np.array([run.steps_mean for run in runs])
    assert data["steps"]["mean"] == pytest.approx((means * requests).sum() / requests.sum())
    assert data["steps"]["max"] == max(run.steps_max for run in runs)
    queue = np.array([run.mean_queue for run in runs])
    assert data["queue"]["mean"] == pytest.approx(queue.mean())
    half = 4.302653 * queue.std(ddof=1) / np.sqrt(3)  # Student's t of 2 degrees of freedom
    assert data["queue"]["ci95"] == pytest.approx(half, rel=1e-5)
    assert data["queue"]["max"] == max(run.queue_max.max() for run in runs)
    assert [each["seed"] for each in data["runs"]] == [7, 8, 9]
    assert [each["steps_mean"] for each in data["runs"]] == means.tolist()
    assert [each["seed"] for each in data["hot_spots"]] == [7] * 4 + [8] * 4 + [9] * 4
    assert len({each["module"] for each in data["hot_spots"]}) > 4
    everything = np.concatenate([np.repeat(np.arange(len(run.latency_counts)), run.latency_counts)
                                 for run in runs])  # fmt: skip
    assert data["steps"]["p99"] == np.percentile(everything, 99, method="inverted_cdf")


def test_what_one_asks_is_what_is_simulated():
    asked = {
        "switch_size": 4, "queue": 5, "wait_buffer": 2, "digits": "least-significant-first",
        "combining": "slot", "unlimited": True, "order": "backward", "service_steps": 2,
        "operation": "max",
    }  # fmt: skip
    network, _ = prepare(HotSpotQuestion(**SMALL, **asked))
    assert network == CombiningNetwork(64, **asked)
    for given, expected in (("unbounded", None), (None, None), ("as-queue", 3), ("7", 7), (2, 2)):
        found = simulate_hot_spots(**SMALL, queue=3, wait_buffer=given)
        assert (found.queue, found.wait_buffer) == (3, expected)
    spaced = simulate_hot_spots(**SMALL, spacing=10, deviation=1).to_dict()["hot_spots"]
    assert set(np.diff([each["module"] for each in spaced]) % 64) <= {9, 10, 11}
    changing = simulate_hot_spots(**SMALL, new=0.05, remove=0.05).to_dict()
    assert len(changing["hot_spots"]) > 4
    apart = simulate_hot_spots(**COUNTER, hot_fraction=0.25).to_dict()
    assert apart["hot_spots"][0]["requests"] / apart["requests"]["total"] == pytest.approx(
        0.25, abs=0.03
    )


def test_falling_behind_is_said_and_figures_are_given():
    answer = simulate_hot_spots(**COUNTER | {"pes": 64}, combining="none")
    data = answer.to_dict()
    assert "how long a run lasts" in data["note"]
    assert f"{100 * data['piled_up']:.3g}\u00a0% of the requests pile up" in answer.verdict.sentence
    assert 64 * 0.15 * (1 - data["piled_up"]) == pytest.approx(1, rel=0.1)  # the rest is served
    assert 64 * data["throughput"] == pytest.approx(1, rel=0.01)  # all that the module can do
    assert data["steps"]["ci95"] is None  # the mean never settles
    assert answer.point.runs[0].piles_up
    refused = simulate_hot_spots(**SMALL, rate=0.6, queue=2, replications=4).point
    assert refused.stable is False
    assert refused.note == "figures are of the requests that are not refused"
    assert not any(each.piles_up for each in refused.runs)
    unstable = sum(each.stable is False for each in refused.runs)
    assert f"in {'all 4' if unstable == 4 else f'{unstable} of 4'} replications" in refused.reason


def test_what_is_left_by_queues_that_refuse_does_not_depend_on_the_length():
    few = {"pes": 64, "hot_spots": 4, "rate": 0.6, "queue": 2}
    short, long = (simulate_hot_spots(**few, steps=steps).to_dict() for steps in (1000, 8000))
    assert short["stable"] is long["stable"] is False
    assert short["steps"]["ci95"] is not None
    assert short["steps"]["mean"] == pytest.approx(long["steps"]["mean"], rel=0.05)
    assert short["queue"]["mean"] == pytest.approx(long["queue"]["mean"], rel=0.05)


def test_ctrl_c_keeps_the_replications_that_are_finished(ctrl_c_after):
    ctrl_c_after(200)
    found = simulate_hot_spots(**SMALL | {"steps": 2000}, rate=[0.1, 0.2], replications=10_000)
    assert found.interrupted
    assert 1 <= len(found.points[0].runs) < 10_000
    assert all(each.steps == 2000 and not each.interrupted for each in found.points[0].runs)
    ctrl_c_after(5)
    cut = simulate_hot_spots(**SMALL | {"steps": 60_000_000})
    assert cut.interrupted
    assert 0 < cut.point.runs[0].steps < 60_000_000


def test_the_critical_queue_is_the_largest_that_shows():
    found = find_critical_queue(64, 4, rate=[0.05, 0.2], steps=500, replications=5)
    assert list(found.sizes) == [0.05, 0.2]
    assert found.sizes[0.05] < found.sizes[0.2]
    for rate, size in found.sizes.items():
        tried = found.table().filter(pl.col("rate") == rate)
        rises = dict(zip(tried["size"], tried["rise"], strict=True))
        assert rises[None] == 0
        assert rises[size] > 0.1 >= rises[size + 1]
    with pytest.raises(InputError, match="steps: found 127; expected at least 128"):
        find_critical_queue(steps=127)
    strict = find_critical_queue(64, 4, rate=0.2, steps=500, replications=5, rise=2)
    assert strict.sizes[0.2] < found.sizes[0.2]
