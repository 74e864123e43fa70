import numpy as np
import pytest

from netloom import predict_torus_broadcast, simulate_broadcast, topology
from netloom.base.errors import InputError
from netloom_papers.models.torus_broadcasts import torus_broadcast
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES, SIMULATED

SMALL = {"k": 8, "message_flits": 32, "vcs": 3, "broadcast": 0.02}


@pytest.mark.parametrize("variant", ["improved", "consistent", "printed"])
def test_one_rate_is_what_the_model_says(variant):
    data = predict_torus_broadcast(**SMALL, rate=0.002, variant=variant).to_dict()
    known = torus_broadcast(8, message_flits=32, vcs=3, broadcast=0.02, rate=0.002, variant=variant)
    for name in ("latency", "source_wait", "channel_rate", "unicast_service", "blocked"):
        assert data[name] == pytest.approx(float(getattr(known, name)))
    assert data["held_vcs"] == pytest.approx(known.held_vcs.tolist())
    assert data["saturation_rate"] == known.saturation_rate
    assert data["channel_utilisation"] == pytest.approx(32 * data["channel_rate"])


def test_a_curve_goes_to_where_it_saturates():
    found = predict_torus_broadcast(**SMALL)
    table = found.table()
    assert table.height == 21
    assert table["rate"][0] == 0
    assert table["rate"][-1] == pytest.approx(0.99 * found.saturation_rate)
    assert np.diff(table["rate"].to_numpy()) == pytest.approx(0.99 * found.saturation_rate / 20)
    assert table["latency"].is_sorted()
    assert table["latency"][0] == pytest.approx(32 + 256 / 63)  # M and the mean distance
    assert not table["saturated"].any()
    few = predict_torus_broadcast(**SMALL, rate="0.005:auto:4")
    assert [each.rate for each in few.points] == pytest.approx(
        np.linspace(0.005, 0.99 * few.saturation_rate, 5)
    )
    with pytest.raises(InputError, match="one, or the table of all"):
        _ = few.saturated


def test_the_torus_is_named_in_one_of_several_ways():
    latencies = [
        predict_torus_broadcast(rate=0.002, **size).to_dict()["latency"]
        for size in (
            {"sides": [8, 4]}, {"on": "torus:8x4"}, {"on": topology.topology("torus:8x4")},
        )
    ]  # fmt: skip
    assert latencies[0] == latencies[1] == latencies[2]
    cube = predict_torus_broadcast(4, dimensions=3, rate=0.002)
    assert cube.topology == "torus:4x4x4"
    assert cube.to_dict()["latency"] == pytest.approx(
        float(torus_broadcast([4, 4, 4], message_flits=32, vcs=3, rate=0.002).latency)
    )
    # a ring of two nodes is one link: a hypercube
    assert predict_torus_broadcast(on="hypercube:4", rate=0).to_dict()[
        "zero_load_latency"
    ] == pytest.approx(32 + 32 / 15)


def test_what_is_simulated_is_the_network_of_the_model():
    rates = [0.001, 0.005, 0.06]
    asked = {"broadcast": 0.05, "vcs": 3, "startup_cycles": 9, "most_cycles": 60_000, "seed": 3}
    found = predict_torus_broadcast(4, message_flits=16, rate=[0, *rates], simulate=True, **asked)
    asked |= {"injection_channels": 0, "ejection_channels": 0, **SIMULATED}
    alone = simulate_broadcast("torus:4x4", rate=rates, packet_flits=16, **asked)
    idle, *points = found.to_dict()["points"]
    assert idle["simulated"] is None
    for point, run in zip(points[:2], alone.points[:2], strict=True):
        measured = point["simulated"]
        assert measured["latency"] == pytest.approx(run.unicast.mean - ENDS_CYCLES)
        assert measured["ci95"] == run.unicast.ci95
        assert measured["stable"]
        assert measured["error"] == pytest.approx(point["latency"] / measured["latency"] - 1)
        assert abs(measured["error"]) < 0.05
    assert points[2]["saturated"]
    assert points[2]["simulated"] == {
        "latency": None, "ci95": None, "stable": False, "error": None,
    }  # fmt: skip
    network = found.to_dict()["simulated_network"]
    assert network["cycles_at_ends_taken_off"] == 3
    assert network["router"]["injection_channels"] == 0
    assert network["routing"] == "adaptive"


def test_without_load_the_ends_take_three_cycles():
    """So that M + d is what is left of what is simulated."""
    found = predict_torus_broadcast(4, rate=0.0005, message_flits=8, simulate=True, cycles=200_000)
    data = found.to_dict()
    assert data["latency"] == pytest.approx(8 + 32 / 15, abs=0.04)
    assert data["simulated"]["latency"] == pytest.approx(data["latency"], abs=0.08)  # 1600 messages
