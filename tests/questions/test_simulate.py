import json
import math
from dataclasses import replace

import numpy as np
import pytest

from netloom import find_saturation, simulate
from netloom.base.errors import DeadlockError, InputError
from netloom.machines import machine
from netloom.questions.base import parse_numbers
from netloom.questions.recorded import record
from netloom.routing import DimensionOrder, table
from netloom.simulation.network.figures import note_of
from netloom.simulation.network.routers import Router
from netloom.simulation.steady import Stability
from netloom.topology import mesh
from netloom.workload import parse_lengths, parse_traffic, read
from netloom.workload.traffic import pairs, permutation, uniform, with_rates

SHORT = {"cycles": 1500}
PAST = pytest.warns(
    UserWarning, match="above 0.4922, the most that can be carried with this routing"
)


def without_time(data):
    if isinstance(data, dict):
        return {key: without_time(value) for key, value in data.items() if key != "cpu_seconds"}
    return [without_time(each) for each in data] if isinstance(data, list) else data


def numbers(data):
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [number for each in data for number in numbers(each)]
    return [data] if isinstance(data, float) else []


def test_one_load_has_all_that_was_promised():
    found = simulate("mesh:8x8", load=0.2, vcs=4, buffer_flits=8, packet_flits=5)
    data = found.to_dict()
    assert data["offered"] == 0.2
    assert data["accepted"] == pytest.approx(0.2, rel=0.02)
    assert data["accepted"] <= data["created"] * 1.01
    assert 0 < data["accepted_worst_node"] <= data["accepted"]
    latency = data["packet_latency"]
    assert data["zero_load_latency"] < latency["mean"] < latency["p99"] <= latency["max"]
    assert latency["ci95"] < 0.02 * latency["mean"]
    total = data["network_latency"]["mean"] + data["source_queue_latency"]["mean"]
    assert total == pytest.approx(latency["mean"])
    assert data["hops"]["mean"] == pytest.approx(16 / 3, rel=0.01)
    assert data["stable"]
    assert data["note"] is None
    assert data["seed"] == 1
    assert data["cycles"] > 0
    assert data["cpu_seconds"] > 0
    moved = data["utilisation"]["mean"] * data["channels"] * data["cycles"]
    assert data["flit_hops"] == pytest.approx(moved)
    assert sum(data["histogram"]["packets"]) == data["packets"]
    assert len(data["vc_occupancy"]) == 4
    assert data["throughput_bound"]["load"] == pytest.approx(0.4921875)
    assert data["advice"] is None
    assert all(math.isfinite(number) for number in numbers(data))
    assert json.loads(json.dumps(data)) == data


def test_past_saturation_latencies_are_null_with_a_note():
    with PAST:
        found = simulate("mesh:8x8", load=0.8)
    data = found.to_dict()
    assert not data["stable"]
    assert set(data["packet_latency"].values()) == {None}
    assert set(data["network_latency"].values()) == {None}
    assert data["histogram"] is None
    assert data["note"].startswith("past saturation: the backlog grows")
    assert 0.3 < data["accepted"] < 0.45
    assert "the 8 channels from row 3 to row 4" in data["advice"]
    assert found.packet_latency is None
    assert found.latencies().is_empty()


def test_a_list_of_loads_stops_past_saturation():
    found = simulate("mesh:8x8", load="0.1:0.9:0.2", most_cycles=5000)
    table = found.table()
    assert table["offered"].to_list() == [0.1, 0.3, 0.5]
    assert table["stable"].to_list() == [True, True, False]
    assert table["packet_latency_mean"][2] is None
    data = found.to_dict()
    assert [point["offered"] for point in data["points"]] == [0.1, 0.3, 0.5]
    assert data["topology"] == "mesh:8x8"
    assert set(found.channels().columns) >= {"source_node", "target_node", "utilisation"}
    assert found.channels().height == 3 * 224
    assert found.nodes().height == 3 * 64
    assert set(found.latencies()["offered"]) == {0.1, 0.3}
    with pytest.raises(InputError, match="several loads"):
        assert found.accepted


def test_a_seed_repeats_its_answer_on_any_number_of_workers(monkeypatch):
    def answer(seed, workers):
        monkeypatch.setattr("netloom.simulation.network.loaded.processors", lambda: workers)
        found = simulate("torus:4x4", load="0.1,0.4,0.9,1.0", traffic="tornado", seed=seed, **SHORT)
        return without_time(found.to_dict())

    assert answer(3, workers=1) == answer(3, workers=4)
    assert answer(3, workers=1) != answer(4, workers=1)


def test_techniques_side_by_side_are_in_order_at_zero_load():
    found = simulate("mesh:8x8", load=0.002, packet_flits=9, switching="all", cycles=120_000)
    data = found.to_dict()
    latency = {each["switching"]: each["packet_latency"]["mean"] for each in data["points"]}
    assert latency["wormhole"] <= latency["virtual-cut-through"] < latency["store-and-forward"]
    assert latency["wormhole"] < latency["circuit"]
    for each in data["points"]:
        assert each["packet_latency"]["mean"] == pytest.approx(each["zero_load_latency"], rel=0.02)
    assert list(data["refused"]) == ["reserved"]
    assert "63 connections" in data["refused"]["reserved"]
    assert data["router"]["buffer_flits"] == 9
    assert "9 flits a VC instead of 8" in data["remarks"][0]


def test_reserved_vcs_need_no_allocation():
    def shortest(switching):
        options = {"traffic": "pairs:0-15", "switching": switching, "cycles": 20_000}
        return simulate("mesh:4x4", load=0.01, **options).latencies()["packet_latency"].min()

    assert shortest("wormhole") == Router().zero_load_cycles(hops=6, flits=5)
    assert shortest("reserved") == shortest("wormhole") - 7, "one cycle of VC allocation a router"


def test_a_program_under_a_mapping_is_the_traffic():
    found = simulate(
        "mesh:8x8", app="examples/lammps-64.mtx", mapping="random", seed=1, load=0.1, **SHORT
    )
    data = found.to_dict()
    assert data["traffic"] == "examples/lammps-64.mtx"
    nodes = found.nodes()
    assert nodes["node_offered"].mean() == pytest.approx(0.1)
    assert nodes["node_offered"].n_unique() > 10
    assert data["accepted"] == pytest.approx(0.1, rel=0.1)


def test_one_pair_is_the_only_traffic():
    found = simulate("mesh:4x4", load=0.5, traffic="pairs:0-15", **SHORT)
    used = found.channels().filter(found.channels()["utilisation"] > 0)
    assert used.height == 6
    assert found.to_dict()["hops"]["mean"] == 6
    assert found.to_dict()["worst_node"] == "(0,0)"


def test_objects_do_for_names():
    net = mesh(4, 4)
    mirrored = permutation(np.arange(16)[::-1])
    found = simulate(net, load=0.1, traffic=mirrored, router=Router(vcs=2), **SHORT).to_dict()
    assert found["router"]["name"] == "as given"
    assert found["router"]["vcs"] == 2
    assert found["traffic"] == "permutation"


def test_a_routing_of_ones_own_is_simulated():
    net = mesh(4)
    channel = {pair: c for c, pair in enumerate(zip(net.source_end, net.target_end))}  # noqa: B905
    ahead = table(net, lambda node, target: channel[node, node + (1 if target > node else -1)])
    found = simulate(net, load=0.1, traffic="pairs:0-3,3-0", routing=ahead, **SHORT).to_dict()
    assert found["hops"]["mean"] == 3
    reserved = {"traffic": "pairs:0-3,3-0", "switching": "reserved"}
    held = simulate(net, load=0.1, routing=ahead, **reserved, **SHORT).to_dict()
    assert held["hops"]["mean"] == 3
    square = mesh(2, 2)
    out = {node: np.flatnonzero(square.channel_source == node) for node in range(4)}
    straight = {
        node: dict(zip(square.channel_target[out[node]], out[node], strict=True)) for node in out
    }
    either = table(square, lambda node, target: straight[node].get(target, out[node]))
    with pytest.raises(InputError, match="several channels at"):
        simulate(square, load=0.1, routing=either, switching="reserved", **SHORT)


def asked_again(found):
    """The answer to the question that a result's JSON records."""
    recorded = json.loads(json.dumps(found.to_dict()["provenance"]))
    assert recorded["not_repeatable"] == []
    return recorded, simulate(**recorded["configuration"])


@pytest.mark.parametrize(
    ("on", "options"),
    [
        ("mesh:4x4", {"router": Router(vcs=2, oldest_first=True), "buffer_flits": 5}),
        (mesh(4, 4), {"traffic": pairs(16, [0, 0, 3], [15, 1, 2], weights=[1, 2, 4])}),
        ("mesh:4x4", {"traffic": permutation(np.arange(16)[::-1])}),
        ("mesh:4x4", {"traffic": with_rates(uniform(16), [4, *[1] * 15])}),
        (machine("symult2010:4x4"), {}),
        ("mesh:8x8", {"app": read("examples/lammps-64.mtx"), "mapping": np.arange(64)[::-1]}),
        ("mesh:4x4", {"routing": DimensionOrder((1, 0))}),
        ("mesh:4x4", {"packet_flits": parse_lengths("uniform:1-9")}),
    ],
)  # fmt: skip
def test_provenance_suffices_to_ask_again(on, options):
    found = simulate(on, load=0.1, **options, **SHORT)
    recorded, again = asked_again(found)
    assert recorded["verb"] == "simulate"
    assert without_time(again.to_dict()) == without_time(found.to_dict())


def test_names_that_make_the_same_traffic_are_recorded_as_they_are():
    net = mesh(4, 4)
    found = simulate(net, load=0.1, traffic=parse_traffic("hot-spot:0.1:3", net), **SHORT)
    recorded, _ = asked_again(found)
    assert recorded["configuration"]["traffic"] == "hotspot:0.1:3"
    assert recorded["configuration"]["on"] == "mesh:4x4"


def test_a_name_that_makes_another_traffic_is_not_taken_for_it():
    mirrored = permutation(np.arange(16)[::-1], name="transpose")
    found = simulate("mesh:4x4", load=0.1, traffic=mirrored, **SHORT)
    recorded, again = asked_again(found)
    assert recorded["configuration"]["traffic"]["targets"] == list(range(16))[::-1]
    assert again.to_dict()["hops"] == found.to_dict()["hops"]


def test_what_cannot_be_asked_again_is_listed():
    net = mesh(4)
    ahead = table(net, lambda node, target: channel_to(net, node, target))
    found = simulate(net, load=0.1, traffic="pairs:0-3", routing=ahead, **SHORT)
    assert found.to_dict()["provenance"]["not_repeatable"] == ["routing"]


def channel_to(net, node, target):
    step = node + (1 if target > node else -1)
    return int(np.flatnonzero((net.source_end == node) & (net.target_end == step))[0])


def test_a_table_without_any_latency_has_the_same_schema():
    with pytest.warns(UserWarning, match="above 0.9375"):
        behind = simulate("mesh:4x4", load=1, **SHORT)
    assert behind.table()["packet_latency_mean"].to_list() == [None]
    assert behind.table().schema == simulate("mesh:4x4", load=0.1, **SHORT).table().schema


def test_doubts_about_a_run_that_kept_up_are_noted():
    found = simulate("mesh:4x4", load=0.1, cycles=None, precision=1e-4, most_cycles=3000)
    point = found.point
    assert point.stable
    assert f"precision not reached: {point.measured.packets} packets" in point.note
    steady = Stability(stable=True, reason="")
    cold = note_of(steady, 1, "packet", interrupted=False, warmed_up=False, precise=True)
    assert cold == "the start-up was not seen to end"
    assert simulate("mesh:4x4", load=0.1).point.note is None


def test_a_search_without_figures_has_none_in_its_data():
    found = find_saturation("mesh:4x4", most_cycles=3000)
    nothing = {"zero_load_latency": float("nan"), "saturation_throughput": float("nan")}
    lost = replace(found, points=(replace(found.points[0], **nothing),))
    assert lost.to_dict()["zero_load_latency"] is None
    assert lost.to_dict()["saturation_throughput"] is None
    assert found.to_dict()["provenance"]["verb"] == "find_saturation"


def test_presets_and_changes_of_the_router():
    def idle(**options):
        return simulate("mesh:4x4", load=0.005, cycles=10_000, **options).to_dict()

    three, four = idle(), idle(router="canonical-4-stage")
    assert three["router"]["name"] == "three-stage"
    routers = three["hops"]["mean"] + 1
    longer = four["packet_latency"]["mean"] - three["packet_latency"]["mean"]
    assert longer == pytest.approx(routers, rel=0.02)
    changed = idle(router="canonical-4-stage", route_cycles=0)
    assert changed["packet_latency"] == three["packet_latency"]


def test_a_machine_brings_its_router():
    found = simulate("bluegene-p:4x4x4", load=0.1, routing="adaptive", **SHORT).to_dict()
    assert found["router"]["name"] == "bluegene-p"
    assert found["switching"] == "virtual-cut-through"
    assert found["cycle_us"] == pytest.approx(32 / 425)
    named = simulate("bluegene-p:4x4x4", load=0.1, router="three-stage", **SHORT).to_dict()
    assert named["switching"] == "wormhole"


def test_saturation_of_a_mesh_is_found_by_bracketing():
    found = find_saturation("mesh:8x8", traffic="uniform", vcs=4, most_cycles=12_000)
    data = found.to_dict()
    assert data["saturation_offered"] == pytest.approx(0.39, rel=0.04)
    assert data["saturation_throughput"] == pytest.approx(data["saturation_offered"], rel=0.02)
    assert data["saturation_throughput"] <= data["peak_accepted"] < data["throughput_bound"]["load"]
    assert data["saturation_offered_width"] < 0.02 * data["saturation_offered"]
    assert data["saturates"]
    assert data["zero_load_latency"] == pytest.approx(31.3, rel=0.02)
    assert found.table()["offered"].is_sorted()


TRANSPOSE = {"traffic": "transpose", "most_cycles": 4000}
"""Channel (0,0) -> (1,0) limits transpose on mesh:8x8 to a load of 1/7; 4000 cycles hardly show."""


@pytest.mark.parametrize("load", [0.15, 1 / 7])
def test_a_load_that_cannot_be_carried_is_past_saturation_however_short_the_run(load):
    found = simulate("mesh:8x8", load=[0.999 / 7, load], **TRANSPOSE)
    assert found.table()["stable"].to_list() == [True, False]
    assert found.table()["packet_latency_mean"].is_null().to_list() == [False, True]
    where = "above" if load == 0.15 else "at"
    assert f"the load is {where} 0.1429, the most that can be carried" in found.points[1].note


def test_a_search_in_short_runs_ends_below_the_limit():
    data = find_saturation("mesh:8x8", **TRANSPOSE).to_dict()
    assert data["saturates"]
    assert 0.13 < data["saturation_offered"] <= 1 / 7
    assert data["saturation_offered_width"] < 0.02 * data["saturation_offered"]


def test_a_limit_is_kept_up_with_where_nothing_is_left_to_chance():
    every_cycle = {"traffic": "neighbour", "packet_flits": 1, "most_cycles": 2000}
    found = simulate("ring:4", load=1, **every_cycle)
    assert found.stable
    assert found.to_dict()["throughput_bound"]["load"] == 1
    data = find_saturation("ring:4", **every_cycle).to_dict()
    assert not data["saturates"]
    assert data["saturation_offered_width"] is None
    assert data["saturation_throughput"] == pytest.approx(1, rel=0.01)


def test_what_is_never_saturated_is_said_to_be_so():
    data = find_saturation("line:2", traffic="pairs:0-1", packet_flits=1, injection_channels=1,
                           arrivals="on-off:10,0.2", most_cycles=3000).to_dict()  # fmt: skip
    assert not data["saturates"]
    assert data["saturation_offered"] == pytest.approx(0.2)
    assert data["saturation_offered_width"] is None


def test_a_stream_of_few_credits_is_advised_against():
    with pytest.warns(UserWarning, match="carries at most 40% of its bandwidth. 5 flits fill it"):
        found = simulate("line:4", load=0.1, vcs=1, buffer_flits=2, **SHORT)
    assert "credits that take 5 cycles" in found.to_dict()["advice"]


def test_ctrl_c_gives_what_is_known_so_far(ctrl_c_after):
    ctrl_c_after(40)
    found = simulate("mesh:8x8", load="0.1,0.2", precision=1e-6, most_cycles=5_000_000)
    assert found.interrupted
    assert found.points[0].measured.packets > 0
    assert "interrupted" in found.points[0].note


def test_ctrl_c_ends_a_search_with_the_bracket_so_far(ctrl_c_after):
    ctrl_c_after(40)
    found = find_saturation("mesh:8x8", precision=1e-6, most_cycles=5_000_000)
    assert found.interrupted
    assert found.to_dict()["saturation_offered_width"] > 0.01


@pytest.mark.parametrize(
    ("given", "loads"),
    [
        (0.2, (0.2,)),
        ("0.2", (0.2,)),
        ("0.3, 0.1,0.3", (0.1, 0.3)),
        ((0.5, 1), (0.5, 1.0)),
        ("0.1:0.3:0.1", (0.1, 0.2, 0.3)),
        ("0.1:0.35:0.1", (0.1, 0.2, 0.3)),
        ("0.1:0.1:1", (0.1,)),
    ],
)
def test_loads_are_numbers_lists_and_ranges(given, loads):
    assert parse_numbers(given, "load") == loads


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "load: found nothing; expected Offered load"),
        ({"load": None}, "load: found none; expected above 0"),
        ({"load": 1.5}, "load: found 1.5; expected above 0, at most 1"),
        ({"load": float("nan")}, "load: found nan"),
        ({"load": "0.1:0.2"}, "START:STOP:STEP"),
        ({"load": "0.2:0.1:0.1"}, "a stop that is not below start"),
        ({"load": "0.1:0.2:0"}, "a step above 0"),
        ({"load": "1e-9:1:1e-9"}, "1001 numbers"),
        ({"load": []}, "0 numbers"),
        ({"load": [[0.1, 0.2]]}, r"load: found \[\[0.1, 0.2\]\]"),
        ({"load": True}, "load: found True"),
        ({"load": "0.1:0.5:1e-320"}, "1001 numbers"),
        ({"load": 0.1, "messages": "counts.mtx"}, "messages: found no program"),
        ({"load": 0.1, "parts": "all"}, "parts: found no program"),
        ({"load": 0.1, "weight": "uniform"}, "weight: found no program"),
        ({"load": 0.1, "tasks_per_node": 2}, "tasks_per_node: found no program"),
        ({"load": 0.1, "mapping": np.arange(64)}, "mapping: found no program"),
        ({"load": 0.1, "arrivals": "on-off:10,0.01", "switching": "all"}, "^load: found 0.1, with"),
        ({"load": 0.1, "router": {"speed": 3}}, "router: found field 'speed'"),
        ({"load": 0.1, "traffic": {"to": 3}}, "traffic: found a dict of to"),
        ({"load": 0.1, "traffic": {"pairs": [[0, 1]]}}, "source, target, weight"),
        ({"load": "few"}, "load: found 'few'"),
        ({"load": object()}, "load: found <object"),
        ({"load": 0.1, "vcs": 0}, "vcs: found 0; expected a whole number from 1"),
        ({"load": 0.1, "vcs": 13}, "at most 62 VCs"),
        ({"load": 0.1, "switching": "store-and-forward", "packet_flits": 9},
         "packet_flits: found packets of up to 9 flits for buffers of 8"),
        ({"load": 0.1, "switching": "wormhole,slow"}, "switching: found 'slow'"),
        ({"load": 0.1, "switching": "reserved"}, "reserved VCs: found 63 connections"),
        ({"load": 0.1, "switching": "virtual-cut-through,reserved", "packet_flits": 300},
         "no technique that is possible"),
        ({"load": 0.1, "router": "fast"}, "router: found 'fast'; expected one of three-stage"),
        ({"load": 0.1, "routing": "north-last"}, "routing 'north-last': found"),
        ({"load": 0.1, "traffic": "storm"}, "traffic 'storm': found"),
        ({"load": 0.1, "app": "hypercube:6", "traffic": "uniform"}, "traffic as well as app"),
        ({"load": 0.1, "mapping": "random"}, "mapping: found no program"),
        ({"load": 0.1, "traffic": permutation([1, 0])}, "permutation of 2 nodes"),
        ({"load": 0.1, "arrivals": "on-off:10,0.01"}, "load: found 0.1, with which node 0"),
        ({"load": 0.1, "patience": 3}, "patience: found no such field"),
        ({"load": 0.1, "shared": True}, "shared: found no program"),
        ({"load": 0.1, "app": "ring:64", "mapping": "distance:near"}, "'distance:near': found 'n"),
    ],
)  # fmt: skip
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message):
        simulate("mesh:8x8", **options)


@pytest.mark.parametrize(
    ("on", "options", "message"),
    [
        ("mesh:6x6", {"traffic": "bit-complement"}, "a power of two"),
        ("mesh:2048x2048", {}, "4194304 nodes; expected at most 1048576"),
        ("torus:8x8", {"routing": "o1turn"}, "expected a mesh"),
        ("omega", {}, "on: found 'omega'"),
    ],
)
def test_networks_that_do_not_fit_are_named(on, options, message):
    with pytest.raises(InputError, match=message):
        simulate(on, load=0.1, **options)


def test_too_few_vcs_show_the_circle():
    with pytest.raises(DeadlockError, match="at least 2 VCs") as caught:
        simulate("torus:8x8", load=0.1, vcs=1)
    assert len(caught.value.cycle) == 4


def test_saturation_takes_no_load():
    with pytest.raises(InputError, match="load: found no such field"):
        find_saturation("mesh:4x4", load=0.1)


def said(answer):
    kept = record(answer)
    return kept.answer.sentences()


def test_what_loads_come_to_is_said_in_words():
    (both,) = said(simulate("mesh:4x4", load="0.1,1", **SHORT))
    assert both.startswith("Saturates between 0.1 and 1 (2")
    (compared,) = said(simulate("mesh:4x4", load=0.1, switching="wormhole,circuit", **SHORT))
    assert compared.startswith("Wormhole is fastest at 0.1: 2")


def test_where_a_network_saturates_is_said_in_words():
    found = find_saturation("mesh:4x4", most_cycles=3000)
    (sentence,) = said(found)
    assert sentence.startswith(
        f"Saturates near {found.points[0].saturation_offered:.3g}\u00a0±\u00a0"
    )
