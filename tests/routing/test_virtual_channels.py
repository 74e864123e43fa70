import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import DeadlockError, InputError, NoRouteError
from netloom.routing import (
    DimensionOrder,
    ShortestPath,
    draw_aux,
    paths,
    ports,
    source_routes,
    table,
    virtual_channel_routing,
)
from netloom.routing.virtual_channel_tables import RULES
from netloom.topology import cube, graph_topology, mesh, torus
from tests.reference.compiled_rules import allowed, arrived
from tests.reference.virtual_channels import Twin, ports_of, steps

TIED = ("adaptive:ties=+", "adaptive-sticky-escape:ties=+")


def as_set(mask, num_vcs):
    return {divmod(slot, num_vcs) for slot in range(63) if mask >> slot & 1}


def asked(routing, node, in_slot=None, source=0, target=0, aux=-1, coin=0, hops=0):
    """Return the set of (port, vc) that the kernel allows."""
    tables = routing.tables
    slot = tables.injection_slot if in_slot is None else in_slot
    return as_set(allowed(tables, node, slot, source, target, aux, coin, hops), tables.num_vcs)


def ports_asked(name, topology, source, node, target):
    routing = virtual_channel_routing(topology, name, num_vcs=1)
    return {port for port, _ in asked(routing, node, source=source, target=target)}


def distance(topology, source, target, sides, wraps):
    total = 0
    for a, b, side, wrap in zip(
        topology.coordinates(source), topology.coordinates(target), sides, wraps, strict=True
    ):
        total += min((a - b) % side, (b - a) % side) if wrap else abs(a - b)
    return total


@st.composite
def cases(draw):
    """Return a routing by name, a network that it fits, and VCs enough."""
    name = draw(st.sampled_from([*sorted(RULES), *TIED]))
    rule = RULES[name.partition(":")[0]]
    dimensions = 2 if rule.two_dimensions else draw(st.integers(1, 3))
    sides = tuple(draw(st.integers(1, 6)) for _ in range(dimensions))
    wraps = tuple(draw(st.booleans()) and rule.ring_vcs > 0 for _ in range(dimensions))
    topology = cube(sides, wraps)
    least = (
        rule.ring_vcs if any(w and s >= 4 for w, s in zip(wraps, sides, strict=True)) else rule.vcs
    )
    most = 62 // (ports(topology).num_network_ports + 1)
    num_vcs = draw(st.integers(least, min(most, least + 3)))
    if "static" in name and num_vcs % 2:
        num_vcs += 1
    return name, topology, num_vcs


@settings(max_examples=200, deadline=None)
@given(cases(), st.data())
def test_every_hop_is_its_readable_twin_and_every_packet_arrives(case, data):
    name, topology, num_vcs = case
    routing = virtual_channel_routing(topology, name, num_vcs=num_vcs)
    tables, wired = routing.tables, ports(topology)
    twin = Twin(name, topology.sides, topology.wraps, num_vcs)
    channel_at = {
        (int(s), int(p)): c
        for c, (s, p) in enumerate(zip(topology.source_end, wired.out_port, strict=True))
    }
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    source, target = rng.integers(0, topology.num_nodes, 2).tolist()
    coin, aux = (int(drawn[0]) for drawn in draw_aux(routing, rng, [source], [target]))
    middle = aux if routing.needs_aux else target
    node, in_slot, came_by, done, hops = source, tables.injection_slot, (None, 0), False, 0
    ejection = {(wired.num_network_ports, vc) for vc in range(num_vcs)}
    while True:
        done = done or node == middle
        aux = int(arrived(tables, node, aux))
        assert aux == (-1 if not routing.needs_aux else -2 - middle if done else middle)
        found = asked(routing, node, in_slot, source, target, aux, coin, hops)
        expected = twin.allowed(node, came_by, source, target, middle, done, coin)
        assert found == (expected or ejection)
        if not expected:
            break
        port, vc = sorted(found)[rng.integers(len(found))]
        channel = channel_at[node, port]
        node, came_by = int(topology.target_end[channel]), (int(wired.in_port[channel]), vc)
        in_slot, hops = came_by[0] * num_vcs + vc, hops + 1
    legs = [(source, middle), (middle, target)] if routing.needs_aux else [(source, target)]
    far = [distance(topology, a, b, topology.sides, topology.wraps) for a, b in legs]
    assert node == target
    assert hops == sum(far)
    if routing.minimal:
        assert hops == distance(topology, source, target, topology.sides, topology.wraps)


@given(cases())
def test_ports_are_numbered_by_dimension(case):
    _, topology, _ = case
    wired, twin = ports(topology), ports_of(topology.sides)
    assert wired.num_network_ports == len(set(twin.values()))
    for axis in range(len(topology.sides)):
        expected = [twin.get((axis, 1), -1), twin.get((axis, -1), -1)]
        assert wired.axis_port[axis].tolist() == expected
    for channel, (a, b) in enumerate(
        zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True)
    ):
        start, end = topology.coordinates(a), topology.coordinates(b)
        axis = next(i for i, pair in enumerate(zip(start, end, strict=True)) if len(set(pair)) > 1)
        step = 1 if end[axis] == (start[axis] + 1) % topology.sides[axis] else -1
        assert wired.out_port[channel] == wired.in_port[channel] == twin[axis, step]


def test_ports_of_any_other_network_are_ranks():
    net = graph_topology(nx.DiGraph([(0, 1), (0, 2), (1, 2), (2, 0)]))  # channels in this order
    wired = ports(net)
    assert wired.num_network_ports == 2
    assert wired.out_port.tolist() == [0, 1, 0, 0]
    assert wired.in_port.tolist() == [0, 0, 1, 0]
    assert wired.axis_port.shape == (0, 2)


# Ports of a mesh of two dimensions: 0 and 1 are rows growing and falling (y), 2 east, 3 west (x).
NORTH, SOUTH, EAST, WEST = 1, 0, 2, 3


def test_dimension_order_in_another_order():
    net = mesh(4, 4)
    routing = virtual_channel_routing(net, "dimension-order:0,1", num_vcs=2)
    assert routing.name == "dimension-order:0,1"
    assert asked(routing, 0, target=15) == {(SOUTH, 0), (SOUTH, 1)}
    first = virtual_channel_routing(net, DimensionOrder(), num_vcs=2)
    assert asked(first, 0, target=15) == {(EAST, 0), (EAST, 1)}


@pytest.mark.parametrize(
    ("name", "source", "node", "target", "ports_now"),
    [
        ("west-first", 14, 14, 19, {WEST}),  # south-west: west comes first
        ("west-first", 14, 14, 28, {SOUTH, EAST}),
        ("west-first", 14, 14, 2, {NORTH}),
        ("negative-first", 14, 14, 0, {NORTH, WEST}),
        ("negative-first", 14, 14, 4, {NORTH}),  # then east
        ("negative-first", 14, 14, 28, {SOUTH, EAST}),
        ("odd-even", 0, 2, 10, {EAST}),  # came east to even column 2
        ("odd-even", 2, 2, 10, {SOUTH, EAST}),  # begins there
        ("odd-even", 0, 3, 10, {SOUTH}),  # column 4 is even: turn now
        ("odd-even", 0, 3, 11, {SOUTH, EAST}),
        ("odd-even", 5, 5, 6, {WEST}),  # odd column: no way back to west
        ("odd-even", 5, 4, 6, {WEST, SOUTH}),
    ],
)
def test_turns_on_a_mesh_of_six(name, source, node, target, ports_now):
    assert ports_asked(name, mesh(6, 6), source, node, target) == ports_now


def test_all_ejection_channels_may_be_taken():
    net = virtual_channel_routing(mesh(3, 3), "default", num_vcs=2, ejection_channels=2)
    assert asked(net, 4, target=4) == {(4, 0), (4, 1), (5, 0), (5, 1)}


@pytest.mark.parametrize("topology", [mesh(5, 6), torus(5, 6), cube((4, 3), (True, False))])
def test_romm_draws_every_node_of_the_minimal_box_alike(topology):
    routing = virtual_channel_routing(topology, "romm", num_vcs=4)
    rng = np.random.default_rng(7)
    for source, target in ((1, topology.num_nodes - 2), (8, 8), (9, 2)):
        coin, aux = draw_aux(routing, rng, np.full(4000, source), np.full(4000, target))
        boxes = {}
        for bits in range(4):  # one bit a dimension decides ties
            ranges = []
            sizes = zip(topology.sides, topology.wraps, strict=True)
            for axis, (side, wrap) in enumerate(sizes):
                a, b = topology.coordinates(source)[axis], topology.coordinates(target)[axis]
                step = (*steps(side, wrap, a, b, bits >> axis & 1), 1)[0]
                hops = (step * (b - a)) % side
                ranges.append([(a + step * h) % side for h in range(hops + 1)])
            boxes[bits] = {y * topology.sides[1] + x for y in ranges[0] for x in ranges[1]}
        for bits, box in boxes.items():
            drawn, counts = np.unique(aux[coin & 3 == bits], return_counts=True)
            assert set(drawn.tolist()) == box
            expected = counts.sum() / len(box)
            assert abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_valiant_draws_any_node_and_coins_are_fair():
    routing = virtual_channel_routing(torus(4, 4), "valiant", num_vcs=4)
    coin, aux = draw_aux(routing, np.random.default_rng(3), np.zeros(8000, int), np.ones(8000, int))
    assert (coin.dtype, aux.dtype) == (np.int32, np.int32)
    assert coin.min() >= 0
    assert abs(np.bincount(aux, minlength=16) - 500).max() < 5 * np.sqrt(500)
    for bit in range(31):
        assert abs((coin >> bit & 1).sum() - 4000) < 5 * np.sqrt(2000)


# Networks without dimensions, tables and given routes.


def walk(routing, source, target, aux=-1):
    """Return the channels of a routing that leaves no choice of port."""
    topology, wired = routing.topology, ports(routing.topology)
    node, found = source, []
    while True:
        slots = asked(routing, node, source=source, target=target, aux=aux, hops=len(found))
        (port,) = {port for port, _ in slots}
        assert {vc for _, vc in slots} == set(range(routing.tables.num_vcs))
        if port == wired.num_network_ports:
            return found
        (channel,) = np.flatnonzero((topology.source_end == node) & (wired.out_port == port))
        found.append(int(channel))
        node = int(topology.target_end[channel])


@pytest.mark.parametrize(
    "topology",
    [graph_topology(nx.balanced_tree(2, 3)), graph_topology(nx.star_graph(6)), mesh(3, 4)],
)
def test_the_shortest_path_table_is_the_shortest_path(topology):
    routing = virtual_channel_routing(topology, "shortest-path", num_vcs=2)
    nodes = topology.num_nodes
    source, target = np.divmod(np.arange(nodes * nodes), nodes)
    expected = paths(topology, ShortestPath(), source, target)
    for path, s, t in zip(expected, source.tolist(), target.tolist(), strict=True):
        assert walk(routing, s, t) == path.tolist()


def test_given_routes_are_followed_hop_by_hop(tmp_path):
    net = mesh(3, 3)
    routes = source_routes(net, [[0, 3, 4, 5], [2, 1, 0], [5, 8]])
    routing = virtual_channel_routing(net, routes, num_vcs=3)
    _, aux = draw_aux(routing, np.random.default_rng(0), [0, 5, 4, 2, 5], [5, 8, 4, 0, 5])
    assert aux.tolist() == [0, 2, 3, 1, 3]
    for s, t, number in ((0, 5, 0), (2, 0, 1), (5, 8, 2)):
        assert walk(routing, s, t, number) == routes.routes[number].tolist()
    assert walk(routing, 4, 4, 3) == []
    with pytest.raises(NoRouteError) as caught:
        draw_aux(routing, np.random.default_rng(0), [0, 5], [5, 0])
    assert (caught.value.source, caught.value.target) == (5, 0)
    file = tmp_path / "routes.txt"
    file.write_text("0 1 2\n")
    assert virtual_channel_routing(net, f"routes:{file}", num_vcs=1).needs_aux


def one_way(ring):
    return table(ring, lambda node, target: node, name="one way")


def test_a_table_may_offer_a_choice():
    net = mesh(2, 2)  # by way of 1 or of 2 from 0 to 3
    out = {
        (int(a), int(b)): c
        for c, (a, b) in enumerate(zip(net.source_end, net.target_end, strict=True))
    }

    def choose(node, target):
        if (node, target) == (0, 3):
            return out[0, 1], out[0, 2]
        return out.get((node, target), out.get((node, 0), out.get((node, 1))))

    routing = virtual_channel_routing(net, table(net, choose), num_vcs=1)
    assert asked(routing, 0, target=3) == {(0, 0), (1, 0)}


def test_a_table_that_turns_in_a_circle_is_refused():
    ring = torus(4)
    made = one_way(ring)  # every packet arrives ...
    with pytest.raises(DeadlockError) as caught:  # ... unless four of them wait for each other
        virtual_channel_routing(ring, made, num_vcs=2)
    assert caught.value.cycle == ("0 -> 1", "1 -> 2", "2 -> 3", "3 -> 0")
    with pytest.raises(
        InputError, match="a table for 4 routers and 4 ports of hosts; expected one for 5 and 5"
    ):
        virtual_channel_routing(torus(5), made, num_vcs=2)


@pytest.mark.parametrize(
    ("function", "error", "wrong"),
    [
        (lambda node, target: 3 - node, InputError, "found channel 3 at node 0 towards node 1"),
        (lambda node, target: 99, InputError, "channel 99"),
        (lambda node, target: [], NoRouteError, "no route from host 0 to host 1"),
        (lambda node, target: [node, 4 + (3 - node)], InputError, "need never come to node"),
    ],
)
def test_a_table_that_is_none_is_one_clear_line(function, error, wrong):
    with pytest.raises(error, match=wrong):
        table(torus(4), function)


# What a user gets wrong.
