"""Flows end when SimGrid says, each of them: recorded, and where SimGrid is installed, run now."""

from dataclasses import replace

import numpy as np
import pytest

import netloom
from netloom.routing import parse_routing, paths
from netloom.simulation.flow import FlowLaw, FlowNetwork, flow_network, made_ways, run_flows
from netloom.simulation.flow.engine import FlowEngine
from netloom.topology import mesh, topology
from netloom.workload.programs.messages import messages
from tests.peers.simgrid import finish_times, needs_simgrid, zone
from tests.simulation.flow import recorded

WITHIN = 1e-9
"""Of a finish time; what the engine's whole levels and 37 recorded bits leave is below 1e-10."""

PRINTED = {  # the last end of each pattern, in seconds, as SimGrid prints it
    "torus 3x2x2": ("0.04805", "0.00815", "0.00815", "0.04805", None),
    "fat tree 2;4,4;1,2;1,2": ("0.1201", "0.0082", "0.0162", "0.1201", "0.0242"),
    "torus 4x4x4": ("0.38405", "0.00815", "0.016175", "0.25605", "0.03205"),
    "fat tree 3;4,4,4;1,4,4;1,1,1": ("0.5041", "0.0083", "0.0083", "0.5041", "0.0322"),
    "fat tree 2;8,8;1,4;1,1": ("0.8962", "0.0082", "0.0162", "0.5041", "0.0562"),
    "dragonfly 3,4;4,3;5,1;2": ("3.32823", "0.0083", "0.0242", "0.9521", "0.0402"),
}
OURS = {  # SimGrid's clusters that netloom's families and routings have link by link
    "torus 3x2x2": "torus:2x2x3",
    "fat tree 3;4,4,4;1,4,4;1,1,1": "xgft:4x4x4/1x4x4",
    "fat tree 2;8,8;1,4;1,1": "xgft:8x8/1x4",
}
TABLE = [(name, pattern) for name in recorded.ZONES for pattern in recorded.PATTERNS]


def run(case, weight=None):
    """Return when each flow ends, over its route, as netloom has it.

    A rate limit is a link of the flow's own.
    """
    limits = np.flatnonzero(case.rate)
    offsets, links = case.offsets, case.links
    capacity, latency, route = case.bandwidth, case.latency, case.route
    if len(limits):
        own = np.full(len(case.size), -1)
        own[limits] = len(capacity) + np.arange(len(limits))
        taken = [[*links[offsets[r] : offsets[r + 1]], *([one] if one >= 0 else [])]
                 for r, one in zip(route, own, strict=True)]  # fmt: skip
        offsets = np.cumsum([0, *map(len, taken)])
        links, route = np.concatenate(taken).astype(np.int64), np.arange(len(taken))
        capacity = np.append(capacity, case.rate[limits])
        latency = np.append(latency, np.zeros(len(limits)))
    network = FlowNetwork(mesh(2), capacity, latency, end_channels=False)
    table = messages(2, source=0, target=1, flits=np.ones(len(case.size)))
    table = replace(table, start=case.start, flits=case.size)
    weight = case.weight if weight is None else weight
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    engine = FlowEngine(network, FlowLaw(injection="shared"))
    engine.add_ways(made_ways(network, owner, links, np.ones(len(links)), len(offsets) - 1))
    engine.append(table, route, weight=weight)
    engine.advance()
    return engine.found().arrived


@pytest.mark.parametrize("name", recorded.random_cases())
def test_random_flows_end_as_recorded(name):
    case = recorded.random_case(name)
    assert run(case) == pytest.approx(case.finish, rel=WITHIN)


@pytest.mark.parametrize(("name", "pattern"), TABLE)
def test_patterns_on_simgrids_clusters_end_as_recorded(name, pattern):
    case = recorded.zone_case(name, pattern)
    found = run(case)
    assert found == pytest.approx(case.finish, rel=WITHIN)
    if printed := PRINTED[name][recorded.PATTERNS.index(pattern)]:
        assert f"{found.max():.6g}" == printed


@pytest.mark.parametrize(("name", "pattern"), TABLE)
def test_sharing_by_latency_is_a_weight(name, pattern):
    """As SimGrid shares where links have latencies. All here have 50 us: a weight is 1 / hops."""
    case = recorded.zone_case(name, pattern)
    hops = np.diff(case.offsets)[case.route]
    found = run(case, weight=np.lcm.reduce(hops) // hops)
    assert found == pytest.approx(case.finish_by_latency, rel=1e-6)
    if printed := PRINTED[name][recorded.PATTERNS.index(pattern)]:
        assert f"{case.finish_by_latency.max():.6g}" == printed


@pytest.mark.parametrize("pattern", recorded.PATTERNS)
@pytest.mark.parametrize("name", OURS)
def test_networks_and_routings_of_ours_that_are_simgrids(name, pattern):
    case = recorded.zone_case(name, pattern)
    net = topology(OURS[name])
    source, target = recorded.pairs_of(pattern, net.num_hosts)
    network = flow_network(net, bandwidth=125e6, latency=50e-6, end_channels=False)
    table = messages(net.num_hosts, source=source, target=target, flits=recorded.MESSAGE_BYTES)
    found = run_flows(network, parse_routing("default", net), table, FlowLaw(injection="shared"))
    assert found.arrived == pytest.approx(case.finish, rel=WITHIN)


class TestSimGridNow:
    """Where it is installed."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        needs_simgrid()

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("spec", recorded.NETWORKS)
    def test_latencies_that_are_all_unlike(self, spec, seed):
        """Over some thousandfold, as where hosts of a site and far ones share a link."""
        rng = np.random.default_rng(seed)
        net, flows = topology(spec), 120
        routing = parse_routing("default", net)
        network = flow_network(net, bandwidth=1e9, latency=1e-6, end_channels=False)
        latency = np.round(10 ** rng.uniform(-8, -5 + seed / 2, net.num_channels), 11)
        capacity = rng.choice([1e9, 1e9, 3e8], net.num_channels)
        network = replace(network, capacity=capacity, latency=latency)
        source = rng.integers(0, net.num_hosts, flows)
        target = (source + rng.integers(1, net.num_hosts, flows)) % net.num_hosts
        size = rng.integers(1, 1_000_000, flows)
        start = rng.integers(0, 10_000, flows) * 1e-8 * (seed % 2)
        table = replace(messages(net.num_hosts, source=source, target=target, flits=size),
                        start=start)  # fmt: skip
        found = run_flows(
            network, routing, table, FlowLaw(injection="shared", sharing="by-latency")
        ).arrived
        routes = paths(net, routing, source, target).whole(net)
        theirs = finish_times(network.capacity, network.latency, (routes.offsets, routes.channels),
                              start, np.arange(flows), size, by_latency=True)  # fmt: skip
        assert found == pytest.approx(theirs, rel=WITHIN)

    @pytest.mark.parametrize("sharing", ["max-min", "by-latency"])
    def test_a_trace_in_seconds(self, tmp_path, sharing):
        """From a file of rows to the time of each message, as a user asks."""
        rng = np.random.default_rng(23)
        net, flows = topology("leaf-spine:8x8x8"), 300
        source = rng.integers(0, net.num_hosts, flows)
        target = (source + rng.integers(1, net.num_hosts, flows)) % net.num_hosts
        size = rng.integers(1_000, 1_000_000, flows)
        start = np.sort(rng.integers(0, 1_000_000, flows) * 1e-9)
        rows = zip(start.tolist(), source, target, size, strict=True)
        trace = tmp_path / "trace.csv"
        trace.write_text("id,time_seconds,source,target,bytes\n" + "".join(
            f"{number},{time!r},{a},{b},{count}\n"
            for number, (time, a, b, count) in enumerate(rows)))  # fmt: skip
        asked = netloom.replay(
            trace=str(trace), on="leaf-spine:8x8x8", routing="d-mod-k", engine="flow",
            injection="shared", sharing=sharing, bandwidth="1GB/s", latency="600ns",
        )  # fmt: skip
        routes = paths(net, parse_routing("d-mod-k", net), source, target).whole(net)
        theirs = finish_times(
            np.full(net.num_channels, 1e9), np.full(net.num_channels, 6e-7),
            (routes.offsets, routes.channels), start, np.arange(flows), size,
            by_latency=sharing == "by-latency",
        )  # fmt: skip
        found = asked.messages()["arrived"].to_numpy()
        assert found == pytest.approx(theirs, rel=WITHIN)

    @pytest.mark.parametrize("name", ["routes 1 over time", "weighed at once", "mesh:8x8 at once"])
    def test_what_is_recorded_is_what_it_says(self, name):
        case = recorded.random_case(name)
        assert case.asked().finish == pytest.approx(case.finish, rel=1e-10)

    @pytest.mark.parametrize("name", recorded.ZONES)
    def test_its_clusters_are_those_that_are_recorded(self, name):
        bandwidth, latency, (offsets, links) = zone(*recorded.ZONES[name])
        case = recorded.zone_case(name, "shift 1")
        np.testing.assert_array_equal(bandwidth, case.bandwidth)
        np.testing.assert_array_equal(offsets, case.offsets)
        np.testing.assert_array_equal(links, case.links)
        assert latency == pytest.approx(case.latency)
