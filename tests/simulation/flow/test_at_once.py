"""Flows sent at once: their ends in closed form, what held them back, and what is too much work."""

import numpy as np
import pytest

from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network
from netloom.simulation.flow.run import TOLERATED, run_at_once, send_order
from netloom.topology import topology
from tests.flow_laws import law_in

GB = 1e9


def all_to_all(count, sizes):
    source, target = np.divmod(np.arange(count * count), count)
    apart = source != target
    return source[apart], target[apart], np.broadcast_to(sizes, apart.sum())


def unequal(count, seed=1):
    return np.random.default_rng(seed).uniform(1e5, 1e6, count * (count - 1))


def sent(spec, source, target, size, *, bandwidth=GB, latency=0.0, routing="default", **options):
    network = topology(spec)
    links = flow_network(network, bandwidth=bandwidth, latency=latency)
    return run_at_once(
        links, parse_routing(routing, network), source, target, size, law=law_in(options), **options
    )


def test_flows_into_one_host_end_together_or_by_their_sizes():
    found = sent("leaf-spine:2x1x4", [1, 2, 3], [0, 0, 0], [1e6, 2e6, 3e6], injection="shared")
    assert found.complete == pytest.approx([3e-3, 5e-3, 6e-3])
    assert found.least == pytest.approx([1e-3, 2e-3, 3e-3])
    assert found.slowdown == pytest.approx([3, 2.5, 2])
    assert found.bound == pytest.approx(6e-3)
    name = found.network.link_name(int(found.holder[0]))
    assert name == "leaf0 -> h0"
    assert set(found.holder) == {found.holder[0]}
    # three flows for 3 ms, two for 2 ms; the last is alone, so nothing holds it
    assert found.of_links()[2][found.holder[0]] == pytest.approx(3 * 3e-3 + 2 * 2e-3)
    assert found.of_links()[1][found.holder[0]] == 3
    assert found.utilisation[found.holder[0]] == pytest.approx(1)


def test_a_host_that_sends_in_order_keeps_its_last_flow_waiting():
    found = sent("leaf-spine:2x1x4", [0, 0, 0], [1, 2, 3], [1e6, 2e6, 3e6], latency=1e-6)
    assert found.entered == pytest.approx([0, 1e-3, 3e-3])
    assert found.complete == pytest.approx([1e-3 + 2e-6, 3e-3 + 2e-6, 6e-3 + 2e-6])
    assert found.chain.tolist() == [0, 1, 2]
    assert found.holder.tolist() == [-1, -1, -1]
    assert found.held_longer == pytest.approx([0, 0, 0], abs=1e-12)
    assert found.sending == pytest.approx([1e-3, 2e-3, 3e-3])


def test_the_chain_is_of_the_host_that_ends_last_and_in_the_order_of_sending():
    order = np.array([3, 2, 1, 0])
    source, target, size = [0, 0, 4, 4], [1, 2, 5, 6], [1e6, 1e6, 2e6, 2e6]
    found = sent("leaf-spine:2x1x4", source, target, size, order=order)
    assert found.chain.tolist() == [3, 2]
    assert found.finish == pytest.approx(4e-3)


def test_an_overhead_counts_at_both_ends_and_on_the_processor():
    found = sent("leaf-spine:2x1x4", [0, 0], [1, 2], [1e6, 1e6], overhead=1e-4)
    assert found.least == pytest.approx([1.2e-3, 1.2e-3])
    assert found.slowdown == pytest.approx([1, 1])
    assert found.complete == pytest.approx([1.2e-3, 2.2e-3])


def test_paths_that_are_spread_have_mean_hops_and_use_parts_of_links():
    found = sent("leaf-spine:2x2x1", [0], [1], [1e6], routing="minimal")
    assert found.hops == pytest.approx([2])
    assert found.complete == pytest.approx([1e-3])
    spread = found.link_sizes[: found.network.topology.num_network_channels]
    assert sorted(spread) == pytest.approx([0, 0, 0, 0, 5e5, 5e5, 5e5, 5e5])


def test_direct_networks_have_channels_of_hosts_too():
    found = sent("mesh:3", [0, 0], [1, 2], [1e6, 1e6], injection="shared")
    assert found.complete == pytest.approx([2e-3, 2e-3])
    assert found.hops.tolist() == [1, 2]
    assert found.network.link_name(int(found.holder[0])) in ("into 0", "0 -> 1")


def test_an_all_to_all_of_equal_flows_under_one_switch_takes_as_long_as_it_must():
    source, target, size = all_to_all(8, 1e6)
    for injection in ("shared", "in-order"):
        found = sent(
            "leaf-spine:1x1x8", source, target, size, injection=injection,
            order=send_order(source, target, 8),
        )  # fmt: skip
        assert found.finish == pytest.approx(7e-3)
        assert found.finish == pytest.approx(found.bound)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize(("spec", "hosts"), [("leaf-spine:8x4x6", 48), ("torus:6x6", 36)])
def test_a_tolerance_makes_the_error_that_is_declared(spec, hosts, tolerance):
    source, target, size = all_to_all(hosts, unequal(hosts))
    exact = sent(spec, source, target, size, injection="shared")
    found = sent(spec, source, target, size, injection="shared", tolerance=tolerance)
    error = np.abs(found.complete / exact.complete - 1).max()
    assert tolerance / 10 < error <= TOLERATED * tolerance
    assert found.batches < exact.batches
