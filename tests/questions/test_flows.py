"""All of a program's traffic at once, as ``simulate_flows`` sends it."""

import json

import numpy as np
import polars as pl
import pytest

from netloom import simulate_flows
from netloom.workload import process_graph

FAST = {"bandwidth": "1GB/s", "latency": 0}
INCAST = process_graph(4, [1, 2, 3], [0, 0, 0], bytes=[1e6, 2e6, 3e6], name="incast")


def test_the_answer_has_what_was_promised():
    found = simulate_flows("leaf-spine:2x1x4", app=INCAST, injection="shared", **FAST)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["finish_seconds"] == pytest.approx(6e-3)
    assert data["alone_seconds"] == pytest.approx(3e-3)
    assert data["bound_seconds"] == pytest.approx(6e-3)
    assert data["slowdown"] == pytest.approx({"mean": 2.5, "p50": 2.5, "p99": 3, "max": 3})
    assert data["flows"] == 3
    assert data["bytes"] == 6e6
    assert data["busiest"][0] == pytest.approx({
        "name": "leaf0 -> h0", "bytes": 6e6, "flows": 3, "utilisation": 1, "held_flows": 3,
        "held_seconds": 13e-3, "between": "hosts",
    })  # fmt: skip
    assert data["critical_path"]["length"] == 1
    assert data["critical_path"]["flows"][0]["source_task"] == 3


def test_the_flows_that_followed_each_other_make_up_the_finish():
    found = simulate_flows("leaf-spine:4x2x4", app="all-to-all:16", flow_bytes="1MB", **FAST)
    path = found.critical_path
    assert path.sending + path.held + path.other == pytest.approx(found.finish_seconds)
    assert path.sending == pytest.approx(15e-3)
    assert path.other == pytest.approx(0, abs=1e-9)
    assert path.length == 15
    assert len({flow.source_node for flow in path.flows}) == 1
    ends = [flow.finish_seconds for flow in path.flows]
    begins = [flow.entered_seconds for flow in path.flows]
    assert begins[1:] == pytest.approx(ends[:-1])


def test_an_overhead_and_latencies_are_the_rest_of_the_critical_path():
    found = simulate_flows(
        "leaf-spine:2x1x4", app="shift:4/8", flow_bytes=1e6,
        bandwidth="1GB/s", latency="10us", overhead="3us",
    )  # fmt: skip
    assert found.critical_path.other == pytest.approx(4 * 10e-6 + 2 * 3e-6)
    assert found.alone_seconds == pytest.approx(1e-3 + 4 * 10e-6 + 2 * 3e-6)
    assert found.finish_seconds == pytest.approx(4e-3 + 4 * 10e-6 + 2 * 3e-6)


def test_edges_within_nodes_and_of_no_bytes_send_nothing():
    graph = process_graph(4, [0, 0, 1, 2], [1, 2, 3, 3], bytes=[5e5, 5e5, 0, 5e5], name="few")
    found = simulate_flows(
        "leaf-spine:2x1x4", app=graph, mapping=[0, 0, 1, 2], tasks_per_node=2, **FAST
    )
    data = found.to_dict()
    assert (data["flows"], data["edges_within_nodes"], data["empty_edges"]) == (2, 1, 1)


def test_a_tolerance_is_told_with_the_error_that_it_makes():
    rng = np.random.default_rng(1)
    source, target = np.divmod(np.arange(256), 16)
    graph = process_graph(16, source, target, bytes=rng.uniform(1e5, 1e6, 256), name="unequal")
    options = {"app": graph, "injection": "shared", **FAST}
    exact = simulate_flows("leaf-spine:4x2x4", **options)
    found = simulate_flows("leaf-spine:4x2x4", tolerance=1e-2, **options)
    worst = np.abs(found.found.finish / exact.found.finish - 1).max()
    assert 0 < worst <= found.to_dict()["tolerance_error"] == 2.5e-2


def test_what_additions_round_holds_no_flow_back():
    """Three flows of each host, one after the other: each is alone on its channels."""
    asked = {"app": "all-to-all:4", "flow_bytes": "1MB", "bandwidth": "25GB/s"}
    path = simulate_flows("leaf-spine:1x1x4", **asked).critical_path
    assert path.sending == pytest.approx(3e6 / 25e9)
    assert path.held == 0


def test_both_kinds_of_injection_are_told_and_each_is_what_it_says():
    options = {"app": "all-to-all:16", "flow_bytes": "1MB"}
    each = {
        injection: simulate_flows("leaf-spine:4x2x4", injection=injection, **options, **FAST)
        for injection in ("in-order", "shared")
    }
    one, other = (found.to_dict() for found in each.values())
    assert one["in_order_finish_seconds"] == one["finish_seconds"]
    assert other["shared_finish_seconds"] == other["finish_seconds"]
    for name in ("in_order_finish_seconds", "shared_finish_seconds"):
        assert one[name] == pytest.approx(other[name])
    assert one["finish_seconds"] > other["finish_seconds"] >= other["bound_seconds"]
    assert one["lossless_finish_seconds"] == pytest.approx(other["lossless_finish_seconds"])
    assert one["expected_error"] == other["expected_error"]
    turns = simulate_flows("leaf-spine:4x2x4", sharing="lossless", **options, **FAST).to_dict()
    assert turns["finish_seconds"] == turns["lossless_finish_seconds"]


def test_channels_are_told_in_their_order_and_carry_all_that_was_sent():
    found = simulate_flows("leaf-spine:2x2x2", app="all-to-all:4", flow_bytes=1e6, **FAST)
    channels, network = found.channels(), found.network.topology
    assert channels["channel"].to_list() == list(range(network.num_channels))
    into = channels.filter(pl.col("channel") >= network.num_network_channels)
    assert into["bytes"].to_list() == pytest.approx([3e6] * 8)
    assert channels["name"][0] == network.channel_name(0)


def test_payload_slows_flows_and_no_bound(tmp_path):
    file = tmp_path / "half.toml"
    file.write_text(
        'topology = "leaf-spine:2x1x4"\nbandwidth = "10GB/s"\nefficiency = 0.5\n'
        '[[links]]\nbetween = "hosts"\nefficiency = 0.8\n'
    )
    given = {"app": "ring:8", "flow_bytes": "10MB", "injection": "shared"}
    plain = simulate_flows(on="leaf-spine:2x1x4", bandwidth="10GB/s", **given)
    asked = simulate_flows(on="leaf-spine:2x1x4", bandwidth="10GB/s", efficiency=0.5, **given)
    owned = simulate_flows(on=f"machine:{file}", **given)
    for each in (asked, owned):  # cables between leaves and spine are the narrowest
        assert each.finish_seconds == pytest.approx(2 * plain.finish_seconds)
        assert each.bound_seconds == pytest.approx(plain.bound_seconds)
    assert asked.law.how.endswith("payload 50\u00a0% (--efficiency)")
    assert owned.law.clock.costs.efficiency.max == 0.8
