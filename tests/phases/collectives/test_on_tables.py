"""Schedules on installed routes: what they send, when, and over which channels."""

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import on_tables
from netloom.routing import parse_routing, paths
from netloom.topology import topology
from tests.reference.collectives_checked import check

EXAMPLES = Path(__file__).parents[3] / "examples"


def _faults(found, routing):
    """Return what is wrong with a schedule, message by message, on routes asked for anew."""
    network, program = found.network, found.program
    hosts = network.vertices[: network.num_ranks]
    routes = paths(network.topology, routing, hosts[program.source], hosts[program.target]).whole(
        network.topology
    )
    used, wrong = {}, []
    rate = network.topology.channel_bandwidth
    base = min(rate[c] for c in routes.channels)
    for message, step in enumerate(program.step.tolist()):
        if routes[message].tolist() != found.routes[message].tolist():
            wrong.append(f"message {message} takes another route")
        for channel in routes[message].tolist():
            used[channel, step] = used.get((channel, step), 0) + 1
    for (channel, step), many in used.items():
        if many * base > rate[channel] * (1 + 1e-9):
            wrong.append(f"channel {channel} carries {many} messages in round {step}")
    return wrong


def test_the_dgx_fabric_on_its_own_tables():
    net = topology(f"fabric:{EXAMPLES / 'dgx-40.ibnetdiscover'}")
    routing = parse_routing(f"lfts:{EXAMPLES / 'dgx-40-minhop.lfts'}", net)
    found = on_tables(rank_network(net), routing)
    assert found.bound_rounds == 541
    assert found.of_bound >= 0.95
    assert found.depth <= 10
    assert found.program.num_messages == 542 * 541
    check(found.program)
    assert not _faults(found, routing)


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("leaf-spine:4x2x4", "d-mod-k"),
        ("fat-tree:4x2", "s-mod-k"),
        ("torus:4x4", "dimension-order"),
        ("dragonfly:2x4x2", "shortest-path"),
    ],
)
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_any_network_with_one_route_per_pair(spec, routing, collective):
    net = topology(spec)
    by = parse_routing(routing, net)
    found = on_tables(rank_network(net), by, collective=collective, chunks=2)
    check(found.program)
    assert not _faults(found, by)
    assert found.rounds >= found.bound_rounds
    assert found.program.num_steps == found.rounds


@settings(deadline=None, max_examples=20)
@given(
    st.integers(2, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3),
    st.sampled_from(["all-gather", "reduce-scatter"]), st.data(),
)  # fmt: skip
def test_some_hosts_of_a_leaf_spine(leaves, spines, hosts, chunks, collective, data):
    net = topology(f"leaf-spine:{leaves}x{spines}x{hosts}")
    count = data.draw(st.integers(2, net.num_hosts))
    ranks = data.draw(st.permutations(range(net.num_hosts)))[:count]
    by = parse_routing("d-mod-k", net)
    found = on_tables(rank_network(net, ranks), by, collective=collective, chunks=chunks)
    check(found.program)
    assert not _faults(found, by)
    assert found.rounds >= found.bound_rounds
    assert 1 <= found.depth < count


def test_two_ranks_take_one_round_per_chunk():
    net = topology("leaf-spine:2x1x2")
    found = on_tables(rank_network(net, [0, 3]), parse_routing("d-mod-k", net), chunks=3)
    assert (found.rounds, found.bound_rounds, found.depth) == (3, 3, 1)


def test_what_is_refused():
    net = topology("leaf-spine:2x2x2")
    ranks, by = rank_network(net), parse_routing("d-mod-k", net)
    with pytest.raises(InputError, match="collective: found broadcast"):
        on_tables(ranks, by, collective="broadcast")
    with pytest.raises(InputError, match="chunks: found 0"):
        on_tables(ranks, by, chunks=0)
    with pytest.raises(InputError, match="routing: found several routes per pair"):
        on_tables(ranks, parse_routing("nca", net))
    with pytest.raises(InputError, match="ranks: found 8 with 1000000 chunks each"):
        on_tables(
            rank_network(topology("ring:8")),
            parse_routing("dimension-order", topology("ring:8")),
            chunks=10**6,
        )
