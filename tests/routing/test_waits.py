"""What packets wait for under tables, choices and lanes and all: the kernel against its twin."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from netloom.routing.kernels.forwarding import table_waits
from netloom.topology import topology
from netloom.topology.core import ranks
from tests.reference.waits import waits_of_table


def random_rows(net, rng):
    """Return entries of three goals at random, circles and all, and the sets that they offer."""
    offsets, leaving = net.outgoing()
    rows, sets = np.full((3, net.num_routers), -1, np.int32), []
    for goal in range(3):
        for router in range(net.num_routers):
            some = leaving[offsets[router] : offsets[router + 1]]
            some = np.sort(rng.permutation(some)[: rng.integers(4)]).tolist()
            if len(some) > 1:
                rows[goal, router] = net.num_channels + len(sets)
                sets.append(some)
            elif some:
                rows[goal, router] = some[0]
    return rows, sets


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["torus:3x3", "mesh:3x4", "ring:5"]), st.integers(0, 2**31), st.booleans())
def test_packets_are_followed_through_all_choices_in_all_lanes(name, seed, switched):
    net, rng = topology(name), np.random.default_rng(seed)
    rows, sets = random_rows(net, rng)
    lanes, num_ports = 3, 5
    out_port, in_port = rng.integers(num_ports, size=(2, net.num_channels))
    level = rng.integers(lanes, size=rows.shape).astype(np.uint8)
    sent = rng.integers(2, size=(net.num_routers, rng.choice([1, 3])))
    lane_of = rng.integers(lanes, size=(net.num_routers, num_ports, num_ports, 16)).astype(np.uint8)
    sources = [
        (goal, router, port)
        for goal in range(3)
        for router in range(net.num_routers)
        if sent[router, goal % sent.shape[1]]
        for port in (0, 1)
    ]

    def lane(goal, source, router, held, asked):
        service = int(level[goal, source[0]])
        comes = source[1] if held is None else in_port[held]
        return int(lane_of[router, comes, out_port[asked], service]) if switched else service

    wanted = waits_of_table(rows, sets, net.channel_target.tolist(), sources, lane)
    waits = np.zeros((net.num_channels * lanes, 4), np.uint16)
    table_waits(
        rows,
        (np.cumsum([0, *map(len, sets)]), np.array([c for some in sets for c in some], np.int32)),
        sent,
        (np.arange(net.num_routers + 1) * 2, np.tile([0, 1], net.num_routers)),
        level,
        lane_of if switched else np.zeros((0, 0, 0, 0), np.uint8),
        (net.channel_target, ranks(*net.outgoing()), out_port, in_port),
        waits,
    )
    offsets, leaving = net.outgoing()
    found = {
        (
            divmod(int(held), lanes),
            (int(leaving[offsets[net.channel_target[held // lanes]] + k]), to),
        )
        for held, k in zip(*np.nonzero(waits), strict=True)
        for to in range(lanes)
        if waits[held, k] >> to & 1
    }
    assert found == set(wanted.edges)
