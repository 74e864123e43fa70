"""The study ``model-accuracy``: what it keeps, how it compares, and small simulations of it."""

import json

import numpy as np
import polars as pl
import pytest

from netloom._version import __version__
from netloom_papers.questions.simulate.broadcast import simulate_broadcast
from netloom_papers.studies import johnson, model_accuracy
from netloom_papers.studies.running import simulate_all
from netloom_papers.studies.shahrabi import ROUTER

TORUS = {
    "part": "torus-broadcast", "radix": 4, "flits": 16, "vcs": 3, "broadcast": 0.04,
    "loads": [0.2, 0.5, 0.8], "saturation_messages": 200, "latency_messages": [200, 800, 3200],
    "precision": 0.05, "resolution": 1 / 16, "seed": 1,
}  # fmt: skip


def locality_case(mapping, contexts=1, **changes):
    case = {"mapping": mapping, "contexts": contexts, "protocol": "request-reply"}
    return model_accuracy.MACHINE | case | changes


def test_a_line_that_was_cut_off_is_simulated_again(tmp_path):
    file = tmp_path / "kept.jsonl"
    cases = [{"number": 1}, {"number": 2}]
    simulate_all(cases, lambda case, _: {"found": case["number"]}, file, "numbers")
    whole = file.read_text()
    file.write_text(whole[:-9])
    asked = []
    simulate_all(cases, lambda case, _: asked.append(case) or {"found": 5}, file, "numbers")
    assert len(asked) == 1
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 2
    file.write_text(file.read_text().replace(__version__, "0.0.1"))  # of another version
    assert simulate_all(cases[:1], lambda *_: {"found": 9}, file, "numbers") == [{"found": 9}]


def test_full_rate_uses_every_cycle_of_the_channels():
    case = TORUS | {"broadcast": 0.5}
    rate = 0.2 * model_accuracy.full_rate(case)
    run = simulate_broadcast(
        "torus:4x4", rate=rate, broadcast=0.5, packet_flits=16, vcs=3, cycles=60_000,
        **ROUTER,
    ).point  # fmt: skip
    assert run.utilisation_mean == pytest.approx(0.2, rel=0.03)


def errors(*values):
    rows = [
        {"variant": "improved", "figure": "latency", "load": 0.2, "error": value}
        | {"radix": 8, "flits": 16, "vcs": 3, "broadcast": 0.0}
        for value in values
    ]
    return pl.DataFrame(rows, schema_overrides={"error": pl.Float64})


def test_means_and_the_worst():
    (mean,) = model_accuracy.mean_errors(errors(0.1, -0.3, None, 0.05)).to_dicts()
    assert mean["absolute"] == pytest.approx(15)
    assert mean["signed"] == pytest.approx(-5)
    assert mean["worst"] == pytest.approx(-30)
    assert (mean["configurations"], mean["unsolved"]) == (4, 1)


def test_a_small_torus_is_simulated_and_stops_when_asked():
    found = model_accuracy._simulate_torus(TORUS, lambda: False)
    most = model_accuracy.full_rate(TORUS)
    assert 0.4 * most < found["saturation_rate"] < 0.9 * most
    assert found["uncertainty"] == pytest.approx(1 / 16 / 32)
    latencies = [point["latency"] for point in found["points"]]
    assert 16 + 32 / 15 < latencies[0] < latencies[1] < latencies[2]
    assert all(point["ci95"] < 0.05 * point["latency"] for point in found["points"])
    table = model_accuracy.compare_torus([TORUS], [found]).filter(variant="improved")
    at_20, at_50, _, saturation = table["error"].to_list()
    assert abs(at_20) < 0.05
    assert abs(at_50) < 0.05
    assert abs(saturation) < 0.2
    assert model_accuracy._simulate_torus(TORUS, lambda: True) is None


def test_without_contention_a_message_takes_its_distance_and_length():
    case = locality_case("identity", run_cycles=4000)
    found = model_accuracy._simulate_locality(case, lambda: False)
    assert found["message_latency"] == pytest.approx(found["distance"] + 12, abs=0.2)


def test_the_regressed_machine_has_the_line_of_the_runs():
    between = np.array([60.0, 70, 90])
    machine = johnson.regressed("coherence", 2, 1 / between, 1.5 * between - 60)
    assert (float(machine.slope), float(machine.offset)) == pytest.approx((1.5, 60))


def test_groups_that_are_not_whole_are_left_out():
    cases = [locality_case(f"distance:{each}", contexts) for contexts in (1, 2) for each in (1, 3)]
    seen = [
        {"message_rate": 0.02 - 0.001 * index, "message_rate_ci95": 0.0, "message_latency": latency,
         "message_latency_ci95": 0.0, "distance": index + 1.0, "channel_flits": [0.1, 0.2]}
        for index, latency in enumerate((15, 18, 15, 18))
    ]  # fmt: skip
    table = model_accuracy.compare_locality(cases, [seen[0], None, *seen[2:]])
    assert set(table["contexts"]) == {2}
    assert len(table) == 2 * 2  # mappings and loads
    whole = model_accuracy.compare_locality(cases, seen)
    assert set(whole["contexts"]) == {1, 2}
    row = whole.row(0, named=True)
    assert row["rate_error"] == pytest.approx(row["predicted_rate"] / row["simulated_rate"] - 1)
    assert row["busiest_over_mean"] == pytest.approx(4 / 3)
