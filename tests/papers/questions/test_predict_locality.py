import json

import numpy as np
import pytest

from netloom import predict_locality, process_graph, simulate_transactions, topology
from netloom_papers.models import locality as model

LAMMPS = "examples/lammps-64.mtx"
BUFFERED = {"router": "single-cycle", "vcs": 8, "buffer_flits": 24}


def test_the_verb_says_what_the_model_says():
    data = predict_locality(1000).to_dict()
    far = model.random_distance(1000, 2)
    known = model.predict_locality(model.alewife(), far)
    for name in ("message_rate", "per_hop_latency", "channel_utilisation", "transaction_latency"):
        assert data[name] == pytest.approx(float(getattr(known, name)))
    assert data["gain"] == pytest.approx(2.06, abs=0.005)  # table 1: 2.1
    assert data["gain_of_mapping"] == 1
    assert sum(data["breakdown"].values()) == pytest.approx(data["inter_transaction_cycles"])
    rates = data["ideal"]["message_rate"] / data["random"]["message_rate"]
    assert rates == pytest.approx(data["gain"])
    assert data["processor_use"] == pytest.approx(16.11 / data["inter_transaction_cycles"])
    json.dumps(data, allow_nan=False)


def test_a_mapping_is_between_ideal_and_random():
    found = predict_locality(10_000, distance=10, contexts=2)
    table = found.table()
    assert table["mapping"].to_list() == ["ideal", "random", "of distance 10"]
    assert table["distance"].to_list() == [1, pytest.approx(50, rel=1e-3), 10]
    gains = table["gain_of_mapping"].to_list()
    assert gains[1] == 1 < gains[2] < gains[0] == pytest.approx(found.points[0].gain)


def test_a_program_of_neighbours_has_the_ideal_mapping():
    found = predict_locality(on="torus:8x8", app="torus:8x8", contexts=2).to_dict()
    assert found["distance"] == 1
    assert found["message_rate"] == pytest.approx(found["ideal"]["message_rate"])
    assert found["busiest_channel_utilisation"] == pytest.approx(found["channel_utilisation"])
    assert found["random"]["distance"] == pytest.approx(4.063, rel=0.03)  # eq. 17: 4.063
    busiest = found["random"]["busiest_channel_utilisation"]
    assert busiest > 1.3 * found["random"]["channel_utilisation"]


def test_distance_and_loads_are_those_of_the_messages():
    """Half of what task 0 sends goes half-way round; all others send one hop on; replies return."""
    source, target = [0, 0, 1, 2, 3], [1, 2, 2, 3, 0]
    graph = process_graph(4, source, target, bytes=[10, 10, 7, 7, 7])
    data = predict_locality(on="torus:4", app=graph, contexts=4).to_dict()
    assert data["distance"] == pytest.approx((0.5 * 1 + 0.5 * 2 + 3) / 4)
    # 0 -> 1: half of the requests of task 0, and of the other half those that go this way; the
    # channels after it: a task's requests, and such requests or replies; and so on the way back
    loads = np.array([0.75, 1.25, 1.25, 1.25, 0.75, 1.25, 1.25, 1.25])
    ratio = data["busiest_channel_utilisation"] / data["channel_utilisation"]
    assert ratio == pytest.approx(loads.max() / loads.mean())
    even = predict_locality(on="torus:4", app=graph, weight="uniform").to_dict()
    assert even["distance"] == data["distance"]
    uneven = process_graph(4, source, target, bytes=[30, 10, 7, 7, 7])
    assert predict_locality(on="torus:4", app=uneven).to_dict()["distance"] == pytest.approx(
        (0.75 * 1 + 0.25 * 2 + 3) / 4
    )


def test_against_the_simulator():
    """Requests and replies over buffered switches, two contexts, a LAMMPS run at random."""
    asked = {"on": "torus:8x8", "app": LAMMPS, "mapping": "random", "contexts": 2, "seed": 3}
    run = simulate_transactions(
        **asked, run_cycles=16, fixed_cycles=78, protocol="request-reply", **BUFFERED
    )
    found = predict_locality(
        **asked, weight="uniform", network_speed=1, node_channels=1, run_processor_cycles=16,
        fixed_processor_cycles=78 + 2 * 3, switch_processor_cycles=0, transaction_messages=2,
        critical_messages=2, message_flits=12,
    ).to_dict()  # fmt: skip
    assert found["distance"] == pytest.approx(run.distance, rel=0.01)
    assert found["message_rate"] == pytest.approx(run.measured.message_rate, rel=0.12)
    used = run.measured.channel_flits.max() / run.measured.channel_flits.mean()
    ratio = found["busiest_channel_utilisation"] / found["channel_utilisation"]
    assert ratio == pytest.approx(used, rel=0.06)


def test_other_processors_and_networks():
    slow = predict_locality(64, run_processor_cycles=100).to_dict()
    assert slow["breakdown"]["work"] == 200  # network cycles
    assert slow["processor_use"] == pytest.approx(200 / slow["inter_transaction_cycles"])
    many = predict_locality(
        64, contexts=16, critical_messages=2, fixed_processor_cycles=20, message_flits=4
    ).to_dict()
    assert many["latency_hidden"]
    assert many["inter_transaction_cycles"] == pytest.approx(2 * (8.055 + 11))
    on = predict_locality(on=topology.topology("torus:10x10x10")).to_dict()
    plain = predict_locality(1000, dimensions=3).to_dict()
    assert on["message_rate"] == pytest.approx(plain["message_rate"])
    assert (on["topology"], plain["topology"], on["dimensions"]) == ("torus:10x10x10", None, 3)
    queued = predict_locality(64, node_channels=2).to_dict()
    assert queued["node_channel_wait"] > 0
    assert queued["message_rate"] < predict_locality(64).to_dict()["message_rate"]


def test_a_million_nodes_and_a_curve():
    found = predict_locality("10:1000000:x10", contexts=2)
    gains = [point["gain"] for point in found.to_dict()["points"]]
    assert gains == sorted(gains)
    assert 40 < gains[-1] < 55  # section 4.2
    hops = found.table().filter(mapping="random")["per_hop_latency"]
    assert hops.is_sorted()
    assert hops[-1] == pytest.approx(found.per_hop_limit, rel=0.02)
