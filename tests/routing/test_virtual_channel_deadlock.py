"""What deadlocks and what does not, by following every packet: the rules are held to this."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import DeadlockError, InputError
from netloom.routing import DimensionOrder, ports, virtual_channel_cycle, virtual_channel_routing
from netloom.routing.virtual_channel_tables import RULES, rule_routing
from netloom.routing.virtual_channels import escape_waits
from netloom.topology import cube, hypercube, mesh, torus
from tests.reference.virtual_channels import Twin, steps

MESHES = [mesh(5), mesh(3, 3), mesh(4, 4), mesh(2, 3, 2), hypercube(3), torus(3), torus(3, 3)]
RINGS = [
    torus(4), torus(5), torus(6), torus(4, 4), torus(5, 5), torus(5, 3), torus(4, 2),
    cube((4, 4), (True, False)), cube((3, 5), (False, True)),
]  # fmt: skip
FREE_FROM = {  # name: VCs that are enough without rings of 4 or more, and with
    "dimension-order": (1, 2), "dimension-order-static-dateline": (1, 2), "adaptive": (2, 3),
    "adaptive-sticky-escape": (2, 4), "west-first": (1, None), "negative-first": (1, None),
    "odd-even": (1, None), "o1turn": (2, None), "o1turn-adaptive": (2, None), "valiant": (2, 4),
    "romm": (2, 4),
}  # fmt: skip


def fits(name, topology):
    rule = RULES[name]
    return (rule.ring_vcs or not any(topology.wraps)) and (
        not rule.two_dimensions or len(topology.sides) == 2
    )


def has_rings(topology):
    rings = zip(topology.wraps, topology.sides, strict=True)
    return any(wrap and side >= 4 for wrap, side in rings)


def turns(topology):
    return sum(side > 1 for side in topology.sides) > 1


def circle(name, topology, num_vcs):
    return virtual_channel_cycle(rule_routing(topology, name, DimensionOrder(), num_vcs, 1))


def cases(topologies):
    return [
        pytest.param(name, topology, id=f"{name}-{topology.name}")
        for name in FREE_FROM
        for topology in topologies
        if fits(name, topology)
    ]


@pytest.mark.parametrize(("name", "topology"), cases(MESHES + RINGS))
def test_enough_vcs_are_enough_and_fewer_are_not(name, topology):
    least = FREE_FROM[name][has_rings(topology)]
    for num_vcs in range(1, 6):
        found = circle(name, topology, num_vcs)
        odd = "static" in name and num_vcs % 2 == 1 and has_rings(topology)
        if num_vcs >= least and not odd:
            assert found == ()
        elif name != "adaptive-sticky-escape" and (has_rings(topology) or turns(topology)):
            assert found
        for (held, _), (next_one, _) in zip(found, found[1:] + found[:1], strict=True):
            if not name.startswith("adaptive"):  # whose packets may go on between
                assert topology.target_end[held] == topology.source_end[next_one]


LARGE = [mesh(6, 6), torus(6, 6), torus(4, 4, 4)]


@pytest.mark.parametrize(("name", "topology"), cases(MESHES + RINGS + LARGE))
def test_what_is_refused_can_deadlock_and_what_is_not_cannot(name, topology):
    """Large networks are refused by the circle of a small one: both agree."""
    small = topology.num_nodes <= 25
    for num_vcs in range(1, 5):
        try:
            routing = virtual_channel_routing(topology, name, num_vcs=num_vcs)
        except DeadlockError:
            assert not small or circle(name, topology, num_vcs)
        except InputError:
            assert name == "adaptive-sticky-escape"
            assert num_vcs < FREE_FROM[name][has_rings(topology)]
        else:
            if small or not routing.needs_aux:
                assert virtual_channel_cycle(routing) == ()


def reference_waits(name, topology, num_vcs):
    """Return the extended graph of the escape VCs, by the readable twin's packets."""
    twin = Twin(name, topology.sides, topology.wraps, num_vcs)
    wired = ports(topology)
    channel_at = {
        (int(s), int(p)): c
        for c, (s, p) in enumerate(zip(topology.source_end, wired.out_port, strict=True))
    }
    escapes = set(range(num_vcs))
    if name.startswith("adaptive"):
        escapes = {0, 1} if has_rings(topology) else {0}
    graph = nx.DiGraph()
    nodes, middles = range(topology.num_nodes), [None]
    if name in ("valiant", "romm"):
        middles = nodes
    coins = range(2 ** len(topology.sides))
    for source, target, middle, coin in product(nodes, nodes, middles, coins):
        if name == "romm" and not in_box(topology, source, target, middle, coin):
            continue
        first = (source, (None, 0), middle is None or source == middle, None)
        todo, seen = [first], {first}
        while todo:
            node, came_by, done, held = todo.pop()
            for port, vc in twin.allowed(node, came_by, source, target, middle, done, coin):
                channel = channel_at[node, port]
                into = int(topology.target_end[channel])
                if vc in escapes and held is not None:
                    graph.add_edge(held, (channel, vc))
                state = (
                    into, (int(wired.in_port[channel]), vc), done or into == middle,
                    (channel, vc) if vc in escapes else held,
                )  # fmt: skip
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
    return graph


def in_box(topology, source, target, middle, coin):
    ends = zip(*map(topology.coordinates, (source, target, middle)), strict=True)
    for axis, (a, b, at) in enumerate(ends):
        side = topology.sides[axis]
        step = (*steps(side, topology.wraps[axis], a, b, coin >> axis & 1), 1)[0]
        if step * (at - a) % side > step * (b - a) % side:
            return False
    return True


SMALL = [mesh(3, 2), mesh(3, 3), torus(5), torus(3, 3), cube((4, 3), (True, False))]


@pytest.mark.parametrize(("name", "topology"), cases(SMALL))
def test_following_packets_agrees_with_the_readable_twin(name, topology):
    least = FREE_FROM[name][has_rings(topology)]
    for num_vcs in {least, least + 1}:
        routing = rule_routing(topology, name, DimensionOrder(), num_vcs, 1)
        held, asked = np.nonzero(escape_waits(routing))
        found = {
            (divmod(a, num_vcs), divmod(b, num_vcs))
            for a, b in zip(held.tolist(), asked.tolist(), strict=True)
        }
        expected = reference_waits(name, topology, num_vcs)
        assert found == set(expected.edges)
        assert nx.is_directed_acyclic_graph(expected) == (virtual_channel_cycle(routing) == ())


def test_overlapping_classes_are_seen_by_both():
    name, ring = "dimension-order-static-dateline", torus(4)
    assert circle(name, ring, 3)
    assert not nx.is_directed_acyclic_graph(reference_waits(name, ring, 3))
    with pytest.raises(DeadlockError, match="expected an even number of VCs") as caught:
        virtual_channel_routing(ring, name, num_vcs=3)
    around = [name.partition(" (")[0] for name in caught.value.cycle]
    assert sorted(around) == ["0 -> 1", "1 -> 2", "2 -> 3", "3 -> 0"]
    assert any("(VC 1)" in name for name in caught.value.cycle)  # the VC of both classes


def test_a_large_network_is_refused_by_a_small_one_that_is_named():
    with pytest.raises(DeadlockError) as caught:
        virtual_channel_routing(torus(64, 64, 64), "dimension-order", num_vcs=1)
    line = str(caught.value)
    assert line.startswith(
        "dimension-order on torus:64x64x64 with 1 VC (shown on torus:4x4x1): found channels that"
    )
    assert line.endswith("expected at least 2 VCs")
    assert len(caught.value.cycle) == 4
