import pytest

from netloom import find_saturation, simulate
from netloom.base.errors import InputError
from netloom.routing import table
from netloom.simulation.network.routers import Router
from netloom.topology import mesh

SHORT = {"cycles": 1500}


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


def test_reserved_vcs_need_no_allocation():
    def shortest(switching):
        options = {"traffic": "pairs:0-15", "switching": switching, "cycles": 20_000}
        return simulate("mesh:4x4", load=0.01, **options).latencies()["packet_latency"].min()

    assert shortest("wormhole") == Router().zero_load_cycles(hops=6, flits=5)
    assert shortest("reserved") == shortest("wormhole") - 7, "one cycle of VC allocation a router"


def test_a_routing_of_ones_own_is_simulated():
    net = mesh(4)
    channel = {pair: c for c, pair in enumerate(zip(net.source_end, net.target_end))}  # noqa: B905
    ahead = table(net, lambda node, target: channel[node, node + (1 if target > node else -1)])
    found = simulate(net, load=0.1, traffic="pairs:0-3,3-0", routing=ahead, **SHORT).to_dict()
    assert found["hops"]["mean"] == 3
    reserved = {"traffic": "pairs:0-3,3-0", "switching": "reserved"}
    held = simulate(net, load=0.1, routing=ahead, **reserved, **SHORT).to_dict()
    assert held["hops"]["mean"] == 3


def test_saturation_of_a_mesh_is_found_by_bracketing():
    found = find_saturation("mesh:8x8", traffic="uniform", vcs=4, most_cycles=12_000)
    data = found.to_dict()
    assert data["saturation_offered"] == pytest.approx(0.39, rel=0.04)
    assert data["saturation_throughput"] == pytest.approx(data["saturation_offered"], rel=0.02)
    bound = data["throughput_bounds"]["wormhole"]["load"]
    assert data["saturation_throughput"] <= data["peak_accepted"] < bound
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


def test_a_limit_is_kept_up_with_where_nothing_is_left_to_chance():
    every_cycle = {"traffic": "neighbour", "packet_flits": 1, "most_cycles": 2000}
    found = simulate("ring:4", load=1, **every_cycle)
    assert found.stable
    assert found.setup.bound.load == 1
    data = find_saturation("ring:4", **every_cycle).to_dict()
    assert not data["saturates"]
    assert data["saturation_offered_width"] is None
    assert data["saturation_throughput"] == pytest.approx(1, rel=0.01)


def test_ctrl_c_gives_what_is_known_so_far(ctrl_c_after):
    ctrl_c_after(40)
    found = simulate("mesh:8x8", load="0.1,0.2", precision=1e-6, most_cycles=5_000_000)
    assert found.interrupted
    assert found.points[0].measured.packets > 0


def test_ctrl_c_ends_a_search_with_the_bracket_so_far(ctrl_c_after):
    ctrl_c_after(40)
    found = find_saturation("mesh:8x8", precision=1e-6, most_cycles=5_000_000)
    assert found.interrupted
    assert found.to_dict()["saturation_offered_width"] > 0.01


def test_a_seed_repeats_its_answer_on_any_number_of_workers(monkeypatch):
    def channels(seed, workers):
        monkeypatch.setattr("netloom.simulation.network.run.processors", lambda: workers)
        return simulate(
            "torus:4x4", load="0.1,0.4", traffic="tornado", seed=seed, **SHORT
        ).channels()

    one = channels(3, workers=1)
    assert one.equals(channels(3, workers=4))
    assert not one.equals(channels(4, workers=1))


def test_past_saturation_latencies_are_null_with_a_note():
    with pytest.warns(UserWarning, match="above 0.4922, the most that can be carried with this"):
        found = simulate("mesh:8x8", load=0.8)
    data = found.to_dict()
    assert not data["stable"]
    assert set(data["packet_latency"].values()) == {None}
    assert set(data["network_latency"].values()) == {None}
    assert data["histogram"] is None
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
    assert found.channels().height == 3 * 224
    assert found.nodes().height == 3 * 64
    assert set(found.latencies()["offered"]) == {0.1, 0.3}
    with pytest.raises(InputError, match="several loads"):
        assert found.accepted
