import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom import find_saturation, predict_latency, read, simulate
from netloom.base.errors import DeadlockError, InputError
from netloom.models.channel_queueing import (
    ChannelRouter,
    follow_flows,
    predict_channels,
    prepare_channels,
)
from netloom.questions.recorded import record
from netloom.routing import virtual_channel_routing
from netloom.simulation.network.routers import PRESETS, Router
from netloom.topology import mesh
from netloom.workload.traffic import pairs, uniform

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
    assert data["saturated"] is False
    assert data["simulated"] is None
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("changes", [{}, {"channel_cycles": 3, "credit_cycles": 2}])
def test_an_idle_network_takes_what_its_stages_add_up_to(preset, changes):
    found = predict_latency("mesh:4x4", offered=0, router=preset, **changes).to_dict()
    router = predict_latency("mesh:4x4", offered=0, router=preset, **changes).network.router
    assert found["latency"] == pytest.approx(router.zero_load_cycles(hops=8 / 3, flits=5))
    assert found["latency"] == found["zero_load_latency"]


def test_the_default_router_is_the_models():
    assert ChannelRouter.of(Router()) == ChannelRouter()


def test_a_program_under_a_mapping():
    found = predict_latency("mesh:8x8", **LAMMPS, offered="0.05:0.5:0.05")
    table = found.table()
    assert table.height == 10
    good = table.filter(~table["saturated"])
    assert good["latency"].drop_nulls().is_sorted()
    assert good.height == 6  # up to 0.3, of 0.308 that the busiest channel carries
    assert table["state"].to_list() == ["steady"] * 5 + ["knee: simulate"] + ["saturated"] * 4
    assert table["latency"].tail(5).null_count() == 5
    data = found.to_dict()
    assert data["throughput_bound"]["limited_by"] == f"channel {data['busiest_channel']}"
    assert 0.29 < data["saturation_offered"] <= data["throughput_bound"]["load"]
    assert found.of == "lammps-64 on mesh:8x8, random mapping"
    busiest = found.channels().filter(offered=0.1)["utilisation"].max()
    assert busiest == pytest.approx(0.1 / data["throughput_bound"]["load"])
    ordered = predict_latency("mesh:8x8", app=read(LAMMPS["app"]), offered=0.2)
    assert ordered.latency < good.filter(offered=0.2)["latency"].item()


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


def test_loads_that_no_router_could_carry_are_not_simulated():
    found = predict_latency(
        "mesh:4x4", traffic="pairs:0-1", offered=[0.5, 1], simulate=True, cycles=500
    )
    assert [point["simulated"] is None for point in found.to_dict()["points"]] == [False, False]
    hot = predict_latency(
        "mesh:4x4", traffic="hot-spot:0.9:5", offered="0.05,0.5", simulate=True, cycles=500
    )
    assert [point["simulated"] is None for point in hot.to_dict()["points"]] == [False, True]
    with pytest.raises(InputError, match=r"offered: found 0\.9; expected above 0, at most 0\.0"):
        predict_latency("mesh:4x4", traffic="hot-spot:0.9:5", offered=0.9, simulate=True)


def test_a_curve_goes_to_where_it_saturates():
    found = predict_latency("mesh:4x4", offered="0:auto:5")
    offered = [point.offered for point in found.points]
    assert offered == pytest.approx(np.linspace(0, 0.9 * found.saturation, 6))
    assert found.table()["latency"].null_count() == 0
    assert predict_latency("mesh:4x4").table().height == 21
    with pytest.raises(InputError, match="one, or the table of all"):
        _ = found.latency
    with pytest.raises(InputError, match="one, or the table of all"):
        _ = found.saturated
    assert not predict_latency("mesh:4x4", offered=0.1).saturated
    assert predict_latency("mesh:4x4", offered=0.95).saturated


def test_a_store_of_an_older_release_has_its_picture():
    found = predict_latency("mesh:3x3", offered=[0.1, 0.2])
    older = {"channels": found.channels().drop("channel"), "table": found.table()}
    kept = type(found).from_json(record(found).figures, kept=older)
    assert kept.parts()["channels"].to_dict() == found.parts()["channels"].to_dict()


def test_other_networks():
    broken = predict_latency("torus:4x4", failed_channels="0-1", offered=0.1)
    assert broken.to_dict()["failures"]["channels"]
    assert broken.latency > predict_latency("torus:4x4", offered=0.1).latency
    own = predict_latency("mesh:4x4", traffic=pairs(16, [0, 3], [5, 6]), offered=0.3)
    assert own.latency > own.zero_load_latency
    whole = {"switching": "virtual-cut-through", "packet_flits": 8}
    through = predict_latency("mesh:8x8", **whole, offered=0.3)
    worm = predict_latency("mesh:8x8", packet_flits=8, offered=0.3)
    assert through.to_dict()["router"]["switching"] == "virtual-cut-through"
    assert through.latency != worm.latency
    two = predict_latency("mesh:4x4", app="ring:32", tasks_per_node=2, offered=0.1)
    assert two.mapping == "identity"


def test_it_can_be_asked_again():
    found = predict_latency("mesh:8x8", **LAMMPS, offered="0:auto:3", vcs=2)
    again = predict_latency(**found.to_dict()["provenance"]["configuration"])
    assert again.table().equals(found.table())


def test_every_latency_has_its_expected_error():
    found = predict_latency("mesh:8x8", **LAMMPS, offered="0:auto:6")
    table, data = found.table(), found.to_dict()
    assert (table["expected_error"] > 0).all()
    assert table["expected_error"].is_sorted()  # of such routers: the nearer to saturation
    assert (table["latency_low"] <= table["latency"]).all()
    assert (table["latency"] <= table["latency_high"]).all()
    assert table["latency_low"][0] == pytest.approx(data["zero_load_latency"])  # none is less
    low, high = data["saturation_range"]
    assert low < found.saturation <= high <= data["throughput_bound"]["load"]
    assert "study latency-accuracy" in data["trust"]
    assert str(data["saturation_expected_error"]) != "0"


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


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"vcs": 1}, "one VC: "),
        ({"on": "torus:4x4", "vcs": 2, "packet_flits": 9, "buffer_flits": 3}, "of each class"),
        ({"traffic": "transpose"}, "a node sends to 1 other on average"),
        ({"traffic": "hot-spot:0.1:3"}, "hot spots were not compared"),
        ({"on": "mesh:9x8"}, "more than 64 nodes"),
        ({"failed_channels": "0-1"}, "not dimension order on all of a cube"),
        ({"oldest_first": True}, "the oldest packet first"),
        ({"channel_cycles": 9}, "outside of what was compared with simulation: channel_cycles 9"),
        ({"packet_flits": 41}, "packet_flits 41 (1 to 40)"),
    ],
)
def test_what_the_error_bands_are_not_of_is_flagged(asked, said):
    found = predict_latency(**{"on": "mesh:4x4", "offered": 0.01, **asked})
    assert sum(said in flag for flag in found.flags) == 1
    assert found.flags[0] in found.verdict.lines["care"]
    assert found.to_dict()["flags"] == list(found.flags)
    assert all("\n" not in flag for flag in found.flags)
    assert not predict_latency("mesh:4x4", offered=0.01).flags


def test_ctrl_c_keeps_the_model_and_what_was_simulated(ctrl_c_after):
    ctrl_c_after(40)
    found = predict_latency(
        "mesh:8x8", offered=[0.1, 0.2], simulate=True, precision=1e-6, most_cycles=2**30
    )
    assert found.interrupted
    assert found.to_dict()["interrupted"]
    assert all(point["latency"] > 0 for point in found.to_dict()["points"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"on": "mesh"}, "on: found 'mesh'; expected a network with its size, such as mesh:8x8"),
        ({"offered": -1}, "offered: found -1; expected numbers of at least 0"),
        ({"offered": 1.5}, "offered: found 1.5; expected at most 1"),
        (
            {"routing": "adaptive"},
            "routing: found 'adaptive', whose packets choose among channels: with this routing and "
            "these ends, no more than 0.9375 can be carried: the 4 channels from row 1 to row 2; "
            "expected one that leaves no choice",
        ),
        ({"routing": "valiant"}, "routing: found valiant; expected one that leaves no choice"),
        ({"switching": "circuit"}, "switching: found 'circuit'; expected wormhole or virtual-cut"),
        ({"switching": "all"}, "switching: found 'all'"),
        ({"switch_allocation_cycles": 2}, "switch_allocation_cycles: found 2; expected 1, as"),
        ({"injection_channels": 0}, "injection_channels: found 0; expected 1, as the model"),
        ({"mapping": "random"}, "mapping: found 'random'; expected app"),
        ({"mapping": np.arange(64)}, "mapping: found a value; expected app"),
        ({"app": "ring:16", "traffic": "uniform"}, "traffic: found traffic as well as app"),
        ({"app": "ring:17"}, "mesh:4x4: found 16 nodes for 17 tasks"),
        ({"packet_flits": 0}, "packet_flits: found 0"),
        ({"precision": 0.1}, "precision: found '0.1'; expected simulate"),
        (
            {"packet_flits": 20, "switching": "virtual-cut-through"},
            "buffer_flits: found 8 for packets of 20 flits",
        ),
        ({"on": "mesh:64x64"}, "mesh:64x64: found 16,777,216 pairs of nodes that communicate"),
        ({"on": "mesh:400x400"}, "mesh:400x400: found 25,600,000,000 pairs of nodes"),
        ({"load": 0.1}, "load: found no such field; expected on"),
    ],
)
def test_mistakes_are_one_line(asked, said):
    with pytest.raises(InputError) as caught:
        predict_latency(**{"on": "mesh:4x4", **asked})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_what_can_deadlock_is_refused():
    with pytest.raises(DeadlockError, match="expected at least 2 VCs"):
        predict_latency("torus:4x4", vcs=1)


NUMBER = r"([0-9.,]+)"


@pytest.mark.parametrize(
    ("offered", "mark", "begins"),
    [
        (0, "fine", "About 20.7 cycles at 0 ("),
        (0.1, "fine", "About 21."),
        (0.65, "unknown", "0.65 is too near saturation for a model ("),
        (0.7, "unknown", "0.7 is too near saturation"),
        (0.85, "act", "Overloaded at 0.85: saturates near "),
        (0.95, "act", "Overloaded: 0.95 is offered, at most 0.938 flits/node/cycle"),
        ([0.1, 0.3], "fine", "All 2 loads are carried: about 25.1 cycles at 0.3 ("),
        ("0:auto:4", "limited", "Saturates near 0.693 flits/node/cycle (0.623 to 0.781): 20.7 cyc"),
        ([0.1, 0.65, 0.95], "limited", "Saturates near 0.693"),
        ([0.96, 0.97], "act", "Overloaded: 0.96 is offered"),
    ],
)
def test_the_verdict_of_a_load_and_its_numbers_are_those_of_the_figures(offered, mark, begins):
    data = predict_latency("mesh:4x4", offered=offered).to_dict()
    verdict = data["verdict"]
    said = verdict["sentence"]
    assert verdict["mark"] == mark
    assert said.startswith(begins)
    if found := re.search(rf"[Ss]aturates near {NUMBER} ", said):
        assert float(found[1]) == float(f"{data['saturation_offered']:.3g}")
    if found := re.search(
        rf"[Aa]bout {NUMBER} cycles at {NUMBER} .* idle, model error (.*)\)", said
    ):
        point = data.get("points", [data])[-1]
        assert float(found[1]) == float(f"{point['latency']:.3g}")
        assert float(found[2]) == point["offered"]
        assert found[3] == f"{100 * point['expected_error']:.2g}\u00a0%"
    low, high = data["saturation_range"]
    assert f"saturates at {low:.3g} to {high:.3g}*" in verdict["lines"]["limits"]
    assert f"within {100 * data['saturation_expected_error']:.2g}\u00a0% of it" in verdict["note"]


def test_what_is_overloaded_leads_to_another_mapping():
    found = predict_latency("torus:8x8", app="examples/lammps-64.mtx", offered=0.8).to_dict()
    assert found["verdict"]["mark"] == "act"
    assert found["verdict"]["next"] == "netloom map examples/lammps-64.mtx --on torus:8x8"


def test_a_simulation_beside_the_model_is_told():
    found = predict_latency("mesh:3x3", offered=0.2, simulate=True, cycles=3000).to_dict()
    measured = found["simulated"]
    said = found["verdict"]["lines"]["checked"]
    assert f"{100 * abs(measured['error']):.3g}\u00a0% too" in said
    assert found["verdict"]["next"] == ""


def test_a_record_says_in_words_what_the_model_says():
    kept = record(predict_latency("mesh:4x4", offered=[0.1, 0.65, 0.95]))
    (said,) = kept.answer.sentences()
    assert said == kept.figures["verdict"]["sentence"]


@pytest.mark.parametrize("unlike", [{"channel_cycles": 5}, {"channel_bandwidth": 0.5}])
def test_channels_that_differ_are_refused_as_the_page_says(unlike):
    net = mesh(3, 3)
    ((name, value),) = unlike.items()
    net = replace(net, **{name: np.full_like(getattr(net, name), value)})
    with pytest.raises(InputError, match="expected channels of bandwidth 1 and latency 1 for the"):
        predict_latency(net, offered=0.1)
    page = (Path(__file__).parents[2] / "docs" / "predict.md").read_text()
    assert "on networks whose channels all have bandwidth 1 and latency 1" in page


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
