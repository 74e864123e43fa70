"""Runs of programs on flows: what is refused, closed forms, and what is special."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError, NoRouteError
from netloom.routing import parse_routing, paths, source_routes
from netloom.simulation.flow import FlowLaw, flow_network, run_flows
from netloom.simulation.flow.engine import FlowEngine
from netloom.simulation.flow.network import WaysOfPairs
from netloom.topology import mesh, topology
from netloom.workload.programs.messages import messages
from tests.flow_laws import law_in
from tests.properties.hosted_networks import with_channels
from tests.reference.flow import FlowNetwork


def program(hosts, **columns):
    """Return a table of floats."""
    rows = {name: np.atleast_1d(values) for name, values in columns.items()}
    ends = {name: rows.pop(name) for name in ("source", "target")}
    table = messages(hosts, **ends, flits=0)
    return replace(table, **{name: np.broadcast_to(values, len(table)) * 1.0
                             for name, values in rows.items()})  # fmt: skip


def run(spec, table, *, routing="default", bandwidth=1.0, latency=1.0, end_channels=True, **more):
    net = topology(spec) if isinstance(spec, str) else spec
    network = flow_network(
        net, bandwidth=bandwidth, latency=latency, end_channels=end_channels
    )  # fmt: skip
    chosen = parse_routing(routing, net) if isinstance(routing, str) else routing
    return run_flows(network, chosen, table, law_in(more), **more)


TWO = program(4, source=[0, 1], target=[2, 2], flits=[4, 4])


class TestRefused:
    def test_a_channel_that_moves_nothing(self):
        net = topology("leaf-spine:2x2x2")
        speed = np.where(np.arange(net.num_channels) == 3, 0.0, 1.0)
        with pytest.raises(InputError, match=r"^bandwidth: found a link of bandwidth 0"):
            run(with_channels(net, speed, net.channel_cycles), TWO)

    def test_a_host_that_cannot_be_reached(self):
        net = mesh(1, 4)
        only = source_routes(net, [[0, 1]])
        there, beyond = (program(4, source=0, target=to, flits=2) for to in (1, 3))
        assert run(net, there, routing=only).finish == 3
        with pytest.raises(NoRouteError):
            run(net, beyond, routing=only)


class TestClosedForms:
    @pytest.mark.parametrize(("side", "hops"), [(8, 1), (8, 3), (9, 4), (7, 2)])
    @pytest.mark.parametrize("injection", ["in-order", "shared"])
    def test_a_shift_on_a_ring(self, side, hops, injection):
        """Each channel is shared by as many flows as there are hops."""
        host = np.arange(side)
        table = program(side, source=host, target=(host + hops) % side, flits=60)
        found = run(f"ring:{side}", table, bandwidth=2.0, latency=0.25, injection=injection)
        assert found.complete == pytest.approx(np.full(side, 0.25 * hops + 30 * hops))
        assert found.alone == pytest.approx(np.full(side, 0.25 * hops + 30))

    @pytest.mark.parametrize(("spines", "slower"), [(4, 1.0), (2, 2.0), (1, 4.0)])
    def test_all_to_all_on_a_leaf_spine(self, spines, slower):
        """Uplinks hold back what leaves a leaf: 12 of 15 flows of each of four hosts."""
        source, target = np.divmod(np.arange(16 * 16), 16)
        apart = source != target
        table = program(16, source=source[apart], target=target[apart], flits=10)
        found = run(f"leaf-spine:4x{spines}x4", table, latency=0.0, injection="shared")
        assert found.finish == pytest.approx(max(15 * 10, 12 * 10 * slower))
        inside = (table.source // 4) == (table.target // 4)
        assert found.complete[~inside] == pytest.approx(found.finish)

    def test_in_order_takes_turns(self):
        table = program(16, source=3, target=[4, 0, 1, 5], flits=[10, 20, 30, 40])
        found = run("leaf-spine:4x4x4", table)
        assert found.entered == pytest.approx([0, 12, 32, 60])
        assert found.complete == pytest.approx([14, 34, 64, 104])
        assert found.sent.tolist() == [0, 0, 0, 0]

    def test_the_parking_lot(self):
        """One flow over all links, and one over each: each link is halved, as they end together."""
        table = program(6, source=[0, 0, 1, 2, 3, 4], target=[5, 1, 2, 3, 4, 5], flits=8)
        found = run("line:6", table, latency=0.0, end_channels=False, injection="shared")
        assert found.complete == pytest.approx(np.full(6, 16))
        network = flow_network(topology("line:6"), latency=0.0, end_channels=False)
        ways, path = WaysOfPairs(network, parse_routing("default", network.topology)).of(table)
        weighed = FlowEngine(network, FlowLaw(injection="shared"))
        weighed.add_ways(ways)
        weighed.append(table, path, weight=np.array([3, 1, 1, 1, 1, 1]))
        weighed.advance()
        assert weighed.found().complete == pytest.approx([8 / 0.75, *[16] * 5])

    def test_what_another_link_holds_back_leaves_more_to_others(self):
        """Links of 1 and 2; a flow on both: 1/2, 1/2 and 3/2 (Bertsekas & Gallager, 6.5.2)."""
        net = mesh(1, 3)
        wide = replace(net, channel_bandwidth=np.array(
            [2.0 if source == 1 else 1.0 for source in net.source_end]))  # fmt: skip
        table = program(3, source=[0, 0, 1], target=[2, 1, 2], flits=[1, 100, 3])
        found = run(wide, table, latency=0.0, end_channels=False, injection="shared")
        assert found.complete[[0, 2]] == pytest.approx([2, 2])


class TestSpecial:
    def test_nothing(self):
        found = run("leaf-spine:2x2x2", messages(4, source=[], target=[], flits=[]))
        assert (len(found.complete), found.finish, found.done) == (0, 0.0, True)

    def test_bandwidths_that_differ_much(self):
        """A gigabit behind 400 Gb/s: the flows of both still get all that there is."""
        net = topology("leaf-spine:2x1x4")
        speed = np.where(net.source_end == 7, 0.0025, 1.0)
        speed = np.where(net.target_end == 7, 0.0025, speed)
        unlike = with_channels(net, speed, net.channel_cycles)
        table = program(8, source=[0, 1, 2, 3], target=[7, 7, 7, 4], flits=1e9)
        found = run(unlike, table, bandwidth=50e9, latency=0.0)
        slow = 3 * 1e9 / 0.125e9
        assert found.complete == pytest.approx([slow, slow, slow, 1e9 / (50e9 - 0.125e9)], rel=1e-9)


def test_latencies_that_no_small_numbers_are_in_proportion_to():
    """Four messages of a real program: shared in proportion to 1 / latency, as fractions say."""
    latencies = np.array([10e-9, 1010e-9, 20010e-9, 3123e-9])
    net = topology("leaf-spine:2x1x4")
    routing = parse_routing("default", net)
    table = messages(8, source=[0, 1, 2, 3], target=[4] * 4, flits=[1e6, 2e6, 3e5, 1e5])
    network = flow_network(net, bandwidth=1e9, latency=0.0)
    taken = paths(net, routing, table.source, table.target).whole(net)
    into = [taken[row][0] for row in range(4)]
    delays = np.zeros(net.num_channels)
    delays[into] = latencies
    network = replace(network, latency=delays)
    found = run_flows(
        network, routing, table, FlowLaw(injection="shared", sharing="by-latency"), noting=True
    )
    ways = [[(1.0, list(taken[row]))] for row in range(4)]
    twin = FlowNetwork(network.capacity, delays, ways.__getitem__, weights=1 / latencies)
    assert found.arrived == pytest.approx(
        [float(row.arrived) for row in twin.run(table)], rel=1e-12
    )
    assert found.held.sum() > 0
    none = replace(network, latency=np.where(delays == 10e-9, 0, delays))
    with pytest.raises(InputError, match=r"^sharing: found by-latency with paths of latency 0"):
        run_flows(none, routing, table, FlowLaw(sharing="by-latency"))


@pytest.mark.parametrize(
    ("speed", "said"),
    [
        ({"bandwidth": 0.0, "latency": 0.0}, "bandwidth"),
        ({"bandwidth": np.nan, "latency": 0.0}, "bandwidth"),
        ({"bandwidth": 1.0, "latency": -1.0}, "latency"),
    ],
)
def test_speeds_that_are_none_are_refused(speed, said):
    with pytest.raises(InputError, match=said):
        flow_network(topology("leaf-spine:1x1x2"), **speed)
