"""One network on several processors, region by region: what comes out is what one finds."""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import DeadlockError
from netloom.routing import DimensionOrder, virtual_channel_routing
from netloom.routing.virtual_channel_tables import rule_routing
from netloom.simulation import side_by_side
from netloom.simulation.network import engine as regions
from netloom.simulation.network.engine import Engine
from netloom.simulation.network.layout import PATIENCE
from netloom.simulation.network.routers import Router
from netloom.topology import topology, torus

COUNTS = ("cycle", "last_move", "created", "delivered", "injected", "ejected", "link_hops")

ROUTINGS = {
    "mesh": ("default", "valiant", "romm", "adaptive"),
    "torus": ("default", "valiant", "adaptive"),
    "hypercube": ("default", "ecmp"),
    "fat-tree": ("default", "nca", "valiant", "ecmp"),
    "hyperx": ("default", "valiant"),
    "dragonfly": ("default", "valiant"),
    "butterfly": ("default",),
}


@contextmanager
def on(processors):
    """Have so many processors, all of which are worth their while for any network."""
    with (
        patch.object(regions, "LEAST_ROUTERS", 1),
        patch.object(side_by_side, "processors", lambda: processors),
    ):
        yield


def random_packets(num_nodes, *, load, cycles, lengths, seed, first=None):
    """Packets from the ``first`` nodes, or all, to any other."""
    rng = np.random.default_rng(seed)
    flits = np.mean(lengths)
    birth, source = np.nonzero(rng.random((cycles, first or num_nodes)) < load / flits)
    target = (source + rng.integers(1, num_nodes, len(source))) % num_nodes
    length = rng.integers(lengths[0], lengths[1] + 1, len(birth))
    columns = [birth, source, target, length, rng.integers(0, 2**31, len(birth))]
    return np.stack([*columns, np.full_like(birth, -1)], axis=1).astype(np.int32)


@st.composite
def networks(draw):
    sides = st.lists(st.integers(2, 5), min_size=1, max_size=3)
    spec = draw(
        st.sampled_from(["mesh", "torus"]).flatmap(
            lambda kind: sides.map(lambda of: f"{kind}:{'x'.join(map(str, of))}")
        )
        | st.sampled_from(
            [
                "hypercube:4",
                "fat-tree:4x2",
                "fat-tree:2x4",
                "hyperx:3x3/2",
                "dragonfly:2x4x2",
                "butterfly:2x3",
            ]
        )
    )
    return topology(spec), draw(st.sampled_from(ROUTINGS[spec.split(":")[0]]))


@st.composite
def questions(draw):
    network, name = draw(networks())
    vcs, most = draw(st.integers(4, 6)), draw(st.integers(1, 9))
    parts = Router(
        vcs=vcs,
        buffer_flits=draw(st.integers(1, 16)),
        channel_cycles=draw(st.integers(1, 3)),
        route_cycles=draw(st.integers(0, 2)),
        credit_cycles=draw(st.integers(0, 2)),
    )
    lengths = (draw(st.integers(1, most)), most)
    seed, load = draw(st.integers(0, 2**31)), draw(st.floats(0.02, 0.9))
    cycles = draw(st.integers(1, 120))
    born = random_packets(
        network.num_hosts, load=load, cycles=cycles, lengths=lengths, seed=seed,
        first=draw(st.none() | st.integers(1, network.num_hosts)),
    )  # fmt: skip
    return network, name, parts, born, lengths[0], cycles


def outcome(engine):
    """Return what an engine can be asked between two calls, and the state that it goes on from."""
    state, setup = engine.state, engine.setup
    coming = np.zeros(len(state.outputs), np.int64)  # credits, wherever they are
    for bucket, due in enumerate(state.credits_due.tolist()):
        first = bucket * setup.credits_each
        np.add.at(coming, state.credits[first : first + due], 1)
    return (
        [engine.count(name) for name in COUNTS],
        len(state.packets) - engine.count("free_packets"),
        engine.flits(),
        engine.channel_flits().tolist(),
        state.inputs.tobytes(),
        state.masks.tobytes(),
        state.ports.tobytes(),
        (state.outputs["credits"] + coming).tolist(),
        [state.outputs[name].tolist() for name in ("back", "owner", "grant")],
        state.arrivals_due.tolist(),
    )


def ran(question, processors, stops):
    """Return what a network delivers, in order, and how it is left, call by call."""
    network, name, parts, born, shortest, _ = question
    routing = virtual_channel_routing(network, name, num_vcs=parts.vcs)
    engine, first, found = Engine(network, routing, parts, shortest_packet=shortest), 0, []
    for until, here in zip(stops, processors, strict=True):
        after = int(np.searchsorted(born[:, 0], until))
        with on(here):
            delivered = engine.advance(born[first:after], until)
        found.append(([column.tolist() for column in delivered], outcome(engine)))
        first = after
    return found


@settings(max_examples=100)
@given(questions(), st.data())
def test_several_processors_find_what_one_finds(question, data):
    cycles = question[-1]
    stops = [*sorted(data.draw(st.sets(st.integers(1, cycles), max_size=3))), cycles + 50]
    processors = data.draw(st.lists(st.integers(1, 3), min_size=len(stops), max_size=len(stops)))
    assert ran(question, processors, stops) == ran(question, [1] * len(stops), stops)


def test_records_of_packets_come_back_to_where_packets_are_born():
    """All packets go from the first quarter of a mesh to the last."""
    mesh = topology("mesh:4x4")
    born = random_packets(4, load=1.0, cycles=4_000, lengths=(2, 2), seed=1)
    born[:, 2] = born[:, 1] + 12
    question = (mesh, "default", Router(vcs=2, buffer_flits=8), born, 2, 4_000)
    stops = list(range(100, 4_101, 100))
    assert ran(question, [2] * 41, stops) == ran(question, [1] * 41, stops)


@pytest.mark.parametrize("processors", [2, 3])
def test_a_deadlock_is_found_in_the_same_cycle(processors):
    """Every node of a ring sends a packet half-way: each holds a channel and wants the next."""
    ring = torus(8)
    unsafe = rule_routing(ring, "dimension-order", DimensionOrder(), 1, 1)
    rows = sorted([(0, node, (node + 3) % 8, 4, 0, -1) for node in range(8)] * 3)
    said = []
    for here in (1, processors):
        network = Engine(ring, unsafe, Router(vcs=1, buffer_flits=4))
        with on(here), pytest.raises(DeadlockError) as caught:
            network.advance(np.array(rows, np.int32), 10 * PATIENCE)
        said.append((str(caught.value), outcome(network)))
    assert said[0] == said[1]


@pytest.mark.parametrize("processors", [1, 2])
def test_an_idle_network_is_not_stuck(processors):
    born = np.array([(0, 0, 15, 3, 0, -1), (3 * PATIENCE, 3, 12, 3, 0, -1)], np.int32)
    question = (topology("mesh:4x4"), "default", Router(), born, 3, 0)
    (delivered, _), = ran(question, [processors], [4 * PATIENCE])  # fmt: skip
    latency = Router().zero_load_cycles(6, 3)
    assert [end - birth for birth, end in zip(delivered[1], delivered[3], strict=True)] == [
        latency
    ] * 2


def test_routers_of_other_kinds_and_small_networks_have_one_processor():
    mesh = topology("mesh:8x8")
    routing = virtual_channel_routing(mesh, "default", num_vcs=4)
    small = Engine(mesh, routing, Router(vcs=4))
    other = Engine(mesh, routing, Router(vcs=4, switching="virtual-cut-through"))
    assert regions.most_regions(small) == 1
    with on(3):
        assert [regions.most_regions(each) for each in (small, other)] == [3, 1]
