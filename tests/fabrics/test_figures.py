from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.contention import shift_loads
from netloom.fabrics import figures
from netloom.fabrics.figures import fabric_size, pairs_reached, table_figures, ways_of
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.routing.ragged import legs
from netloom.topology import mesh, topology
from netloom.topology.core import attach_hosts
from tests.reference.figures_of_tables import all_to_all


def minhop(net):
    return ENGINES["minhop"](net)


@pytest.mark.parametrize(
    ("spec", "hops", "a2a", "mean", "shift", "shift_mean", "ebb", "free"),
    [
        # computed from tables of OpenSM 3.3.23, independently of netloom
        ("leaf-spine:8x4x8", (1.7778, 2), 112, 112, 2, 1.873, 0.6441, True),
        ("leaf-spine:4x2x4/2", (1.6, 2), 12, 12, 1, 1.0, 0.9052, True),
        ("xgft:8x8/1x8", (1.7778, 2), 56, 56, 1, 1.0, 0.8585, True),
        ("fat-tree:k=8", (3.7165, 4), 448, 118, 4, 3.622, 0.434, True),
    ],
)
def test_figures_of_minhop(spec, hops, a2a, mean, shift, shift_mean, ebb, free):
    net = topology(spec)
    found = table_figures(net, minhop(net))
    data = found.to_json()
    assert data["unrouted"] == 0
    assert data["switch_hops"] == pytest.approx({"mean": hops[0], "max": hops[1]}, abs=5e-5)
    assert data["all_to_all"] == pytest.approx({"max": a2a, "mean": mean, "time": a2a})
    count = net.num_hosts - 1
    wanted = {"max": shift, "mean": shift_mean, "count": count}
    assert data["shifts"] == pytest.approx(wanted, abs=5e-4)
    half = data["effective_bisection"]
    assert half["mean"] == pytest.approx(ebb, abs=4 / 1.96 * half["error"])
    assert data["deadlock_free"] is free
    assert data["busiest"][0]["paths"] == a2a


def test_a_circle_of_channels():
    net = topology("torus:4x4/1")
    found = table_figures(net, minhop(net), samples=2)
    assert found.circle
    assert found.deadlock_free is False


@st.composite
def tables(draw):
    """Networks of any hosts, and tables that lead anywhere: in circles, into black holes, home."""
    net = mesh(*draw(st.lists(st.integers(1, 3), min_size=2, max_size=2)))
    if draw(st.booleans()):
        ports = draw(st.lists(st.integers(0, net.num_routers - 1), min_size=2, max_size=8))
        owner = np.arange(len(ports))
        if draw(st.booleans()):
            owner = np.sort(draw(st.lists(st.integers(0, 3), min_size=len(ports),
                                          max_size=len(ports))))  # fmt: skip
            owner = np.unique(owner, return_inverse=True)[1]
        net = attach_hosts(net, np.array(ports), name="drawn", port_host=owner)
    offsets, leaving = net.routers.outgoing()
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    good = minhop(net).next_channel
    drawn = np.array([
        [rng.choice([-1, *leaving[offsets[r] : offsets[r + 1]]]) for r in range(net.num_routers)]
        for _ in good
    ])  # fmt: skip
    table = np.where(rng.random(good.shape) < draw(st.sampled_from([0, 0.1, 0.5, 1])), drawn, good)
    undelivered = rng.random(len(good)) < 0.2 if draw(st.booleans()) else None
    return net, ForwardingTable("drawn", table.astype(np.int32), undelivered=undelivered)


@settings(max_examples=60, deadline=None)
@given(tables(), st.data())
def test_any_table_is_followed_pair_by_pair(drawn, data):
    net, table = drawn
    if net.num_hosts < 2:
        return
    hosts = np.arange(net.num_hosts, dtype=np.int32)
    if data.draw(st.booleans()):
        hosts = hosts[: data.draw(st.integers(2, net.num_hosts))]
    source, target = (each.ravel().astype(np.int32) for each in np.meshgrid(hosts, hosts))
    source, target = source[source != target], target[source != target]
    ends = legs(net, source, target)
    lost = () if table.undelivered is None else set(np.flatnonzero(table.undelivered).tolist())
    pairs = list(
        zip(ends.target_port.tolist(), ends.entry.tolist(), ends.exit.tolist(), strict=True)
    )
    load, unrouted, longest = all_to_all(net, table.next_channel, pairs, lost)
    found = table_figures(net, table, hosts=hosts, samples=3)
    assert found.paths.tolist() == [load[channel] for channel in range(net.num_network_channels)]
    assert (found.unrouted, found.switch_hops.max) == (unrouted, longest)
    ways = ways_of(net, table, hosts)
    assert ways.routed + found.unrouted == len(source)
    reached = pairs_reached(net, ways.arrives)
    shifts = shift_loads(net, table, hosts=hosts, distances=found.distance, reached=reached)
    assert shifts.total_load[: len(found.paths)].tolist() == found.paths.tolist()
    shared = [net.ejection_router[p[0]] == p[2] for p in pairs]
    assert all(shared)


def test_hosts_that_take_part():
    net = topology("leaf-spine:2x1x4")
    found = table_figures(net, minhop(net), hosts=np.array([0, 1, 4]), samples=0)
    assert found.all_to_all.max == 2
    assert fabric_size(net, found.taking).hosts == 3
    assert len(found.distance) == found.shifts.count == 2
    assert found.effective_bisection.mean is None


def test_busiest_are_those_that_work_longest():
    net = topology("leaf-spine:2x2x2")
    rate = net.channel_bandwidth.copy()
    rate[1] = 0.25
    found = table_figures(replace(net, channel_bandwidth=rate), minhop(net), samples=0)
    assert found.busiest[0].cable.channel == 1
    assert found.all_to_all.time == 4 * found.all_to_all.max


def test_of_too_many_shifts_some_are_drawn(monkeypatch):
    monkeypatch.setattr(figures, "MOST_SHIFTED", 100)
    net = topology("leaf-spine:4x2x8")
    found = table_figures(net, minhop(net), samples=0)
    assert len(found.distance) == found.shifts.count == 3
    assert found.unrouted == 0
