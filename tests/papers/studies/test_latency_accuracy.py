"""The study ``latency-accuracy``: what it draws, and how it compares."""

import pytest

from netloom import find_saturation, predict_latency
from netloom.contention.channel_queueing import KINDS, KNEE, PARTS, errors, latency_band, trust
from netloom.routing import virtual_channel_routing
from netloom.topology import topology
from netloom_papers.studies import latency_accuracy
from netloom_papers.studies.latency_accuracy import compare, simulated

SMALL = {
    "part": "first", "on": "mesh:4", "router": "single-cycle", "switching": "wormhole", "vcs": 2,
    "packet_flits": 3, "buffer_flits": 4, "channel_cycles": 1, "traffic": {"kind": "uniform"},
    "loads": [0.3, 0.85], "seed": 1, "saturation_cycles": 8000, "latency_cycles": 8000,
    "precision": 0.05,
}  # fmt: skip


def test_every_configuration_can_be_simulated():
    cases = latency_accuracy.draw_elsewhere(18, 12)
    assert len(cases) == 4 * 12
    for case in cases + latency_accuracy.draw("judge", 20, 120):
        net = topology(case["on"])
        virtual_channel_routing(net, "default", num_vcs=case["vcs"])
        assert latency_accuracy.traffic_of(case).num_nodes == net.num_nodes


def test_a_configuration_is_simulated_and_compared():
    found = simulated(SMALL, lambda: False)
    alone = find_saturation(
        "mesh:4", router="single-cycle", vcs=2, packet_flits=3, buffer_flits=4, channel_cycles=1,
        most_cycles=8000, seed=1,
    )  # fmt: skip
    assert found["saturation"] == alone.points[0].saturation_offered
    table = compare([SMALL, SMALL], [found, None])
    assert table["figure"].to_list() == ["saturation", "idle", "latency", "latency"]
    assert table["error"].abs().max() < 0.2
    assert table["error"].to_list() == pytest.approx(
        (table["predicted"] / table["simulated"] - 1).to_list()
    )
    assert simulated(SMALL, lambda: True) is None


def test_the_bands_in_use_say_where_they_are_from():
    assert errors()["source"]["configurations"] == 340
    assert "seeds 17 and 19" in trust(KINDS[0])
    assert errors()["parts"] == list(PARTS)
    assert set(errors()["kinds"]) == set(KINDS)
    for kind in KINDS:
        assert latency_band(kind, 0.1).within < latency_band(kind, KNEE).within < 0.3
        near = latency_band(kind, KNEE)
        assert near.low <= near.below < 0 <= near.above <= near.high
        assert errors()["kinds"][kind]["saturation"]["compared"] >= 30
    ample = latency_band("ample buffers that hold a packet", KNEE)
    assert -ample.below > 1.5 * ample.above, "errors are to one side, and so is what is said"
    found = predict_latency("mesh:4x4", offered=0.1)
    assert found.trust == trust(found.router_kind)
