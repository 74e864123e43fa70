import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom import find_saturation, predict_latency, simulate
from netloom.base.errors import InputError
from netloom.contention.channel_queueing import (
    ChannelRouter,
    follow_flows,
    predict_channels,
    prepare_channels,
)
from netloom.routing import virtual_channel_routing
from netloom.simulation.network.routers import PRESETS
from netloom.topology import mesh
from netloom.workload.traffic import uniform

LAMMPS = {"app": "examples/lammps-64.mtx", "mapping": "random", "seed": 1}


def test_one_load_is_what_the_model_says():
    data = predict_latency("mesh:4x4", offered=0.2, packet_flits=4).to_dict()
    shares = uniform(16).matrix()
    routing = virtual_channel_routing(mesh(4, 4), "dimension-order", num_vcs=4)
    flows = follow_flows(routing, shares.source, shares.target, shares.weight * 16)
    prepared = prepare_channels(flows, ChannelRouter(), flits=4)
    known = predict_channels(prepared, 0.2, crowded=True)
    for name in ("latency", "network_latency", "source_wait", "zero_load_latency"):
        assert data[name] == pytest.approx(getattr(known, name))
    assert data["offered"] == 0.2
    assert data["utilisation_max"] == pytest.approx(known.utilisation.max())
    assert data["worst_path_latency"] == pytest.approx(known.path_latency.max())
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("changes", [{}, {"channel_cycles": 3, "credit_cycles": 2}])
def test_an_idle_network_takes_what_its_stages_add_up_to(preset, changes):
    found = predict_latency("mesh:4x4", offered=0, router=preset, **changes).to_dict()
    router = predict_latency("mesh:4x4", offered=0, router=preset, **changes).network.router
    assert found["latency"] == pytest.approx(router.zero_load_cycles(hops=8 / 3, flits=5))
    assert found["latency"] == found["zero_load_latency"]


def test_saturation_is_that_of_the_simulator():
    """Latency three times that of the idle network, or no steady state."""
    predicted = predict_latency("mesh:4x4", offered=0.1)
    found = find_saturation("mesh:4x4", most_cycles=10_000).points[0]
    assert predicted.saturation == pytest.approx(found.saturation_offered, rel=0.1)
    at = predict_channels(predicted.network.prepared, predicted.saturation * 0.995)
    assert 1.5 < at.latency / at.zero_load_latency < 3


def test_what_is_simulated_is_the_same_network():
    asked = {"on": "torus:4x4", "traffic": "transpose", "vcs": 2, "packet_flits": 3, "seed": 7}
    found = predict_latency(**asked, offered=[0.1, 0.3, 0.65], simulate=True)
    alone = simulate(**asked, load=[0.1, 0.3, 0.65])  # 0.667 is the bound
    points = found.to_dict()["points"]
    for point, run in zip(points, alone.points, strict=False):
        measured = point["simulated"]
        assert measured["latency"] == run.packet_latency_mean
        assert measured["stable"] == run.stable
        if measured["stable"]:
            assert measured["error"] == pytest.approx(point["latency"] / measured["latency"] - 1)
            assert abs(measured["error"]) < 0.1
    assert found.table()["simulated_error"][0] == points[0]["simulated"]["error"]


def test_a_curve_goes_to_where_it_saturates():
    found = predict_latency("mesh:4x4", offered="0:auto:5")
    offered = [point.offered for point in found.points]
    assert offered == pytest.approx(np.linspace(0, 0.9 * found.saturation, 6))
    assert found.table()["latency"].null_count() == 0
    assert predict_latency("mesh:4x4").table().height == 21
    with pytest.raises(InputError, match="one, or the table of all"):
        _ = found.latency


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["mesh:3x3", "torus:4", "torus:3x3", "hypercube:3", "cube:4wx2"]),
    st.integers(1, 9), st.integers(1, 50), st.integers(1, 20), st.integers(1, 7),
    st.sampled_from(sorted(PRESETS)), st.sampled_from(["uniform", "bit-complement", "hot"]),
)  # fmt: skip
def test_no_number_contradicts_a_bound(on, vcs, flits, buffer, cycles, preset, pattern):
    if on.startswith(("torus", "cube")):
        vcs = max(vcs, 2)
    hot = {"hot": "hot-spot:0.5:1", "bit-complement": "pairs:0-3,1-2,3-0*2"}
    found = predict_latency(
        on, traffic=hot.get(pattern, pattern), vcs=vcs, packet_flits=flits, buffer_flits=buffer,
        channel_cycles=cycles, router=preset, offered="0.01:1:0.11",
    )  # fmt: skip
    data = found.to_dict()
    bound, (low, high) = data["throughput_bound"]["load"], data["saturation_range"]
    assert 0 < low <= data["saturation_offered"] <= high <= bound
    assert 0 < data["saturation_limit"]["utilisation"] <= 1
    for point in data["points"]:
        known = point["offered"] <= 0.9 * data["saturation_offered"]
        assert point["saturated"] == (point["offered"] >= data["saturation_offered"])
        assert (point["latency"] is not None) == known == (point["state"] == "steady")
        if known:
            idle = data["zero_load_latency"]
            assert idle <= point["latency_low"] <= point["latency"] <= point["latency_high"]
            assert point["latency"] < 3 * idle
            assert point["utilisation_max"] <= point["tightest_utilisation"] + 1e-9 <= 1 + 1e-9
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_a_source_that_is_the_limit_is_said_to_be():
    """Three flits of forty in a buffer, credits after 13 cycles: the source waits for credits."""
    found = predict_latency(
        "torus:3x3", vcs=2, packet_flits=40, buffer_flits=3, channel_cycles=5, offered=0.1
    )
    limit = found.to_dict()["saturation_limit"]
    assert (limit["what"], limit["where"]) == ("source", "source at node (0,0)")
    assert found.points[0].utilisation_max < 0.1  # the channels have nothing to do with it
    busy = predict_latency("mesh:8x8", **LAMMPS, offered=0.1).to_dict()
    assert busy["saturation_limit"]["where"] == f"channel {busy['busiest_channel']}"


@pytest.mark.parametrize(("on", "vcs"), [("mesh:7x3", 8), ("mesh:12", 4), ("mesh:8x5", 4)])
def test_networks_with_room_are_as_slow_near_saturation_as_is_said(on, vcs):
    """Buffers of 16 flits: without what crowds add, the model is too fast by more."""
    router = {"vcs": vcs, "buffer_flits": 16, "packet_flits": 5}
    load = 0.85 * predict_latency(on, offered=0.1, **router).saturation
    answer = predict_latency(on, offered=load, **router)
    found, slow = answer.to_dict(), simulate(on, load=load, cycles=40_000, **router)
    measured = slow.table()["packet_latency_mean"].item()
    plain = predict_channels(answer.network.prepared, load).latency
    assert plain < found["latency"] < measured
    assert measured - found["latency"] < 0.95 * (measured - plain)
    slower, faster = (found[f"latency_{end}"] / found["latency"] - 1 for end in ("high", "low"))
    assert slower > 1.5 * -faster, "errors are to one side"
