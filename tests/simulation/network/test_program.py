"""A network that runs a program, against the open-loop network and the readable agenda.

What a program sends is played to the open-loop engine, which has a twin of its own; and the times
at which its messages arrive are told to the readable agenda, which must send the same.
"""

import numpy as np
import pytest

from netloom.base.errors import InputError, NoRouteError
from netloom.routing import Paths, source_routes, virtual_channel_routing
from netloom.simulation.network import router
from netloom.simulation.network.engine import Engine, NetworkProgram, reserve, reserve_paths
from netloom.topology import topology
from netloom.workload.programs.messages import messages
from netloom.workload.traffic import pairs, uniform
from tests.reference.agenda import ARRIVED, FIELDS, Agenda


def random_rows(rng, num_nodes, count, first, *, most_flits):
    """Rows of which about half wait for up to three earlier ones, and some are computations."""
    after = [
        rng.choice(first + row, min(first + row, int(rng.integers(0, 4))), replace=False).tolist()
        if rng.random() < 0.6
        else []
        for row in range(count)
    ]

    def some(most):
        return np.where(rng.random(count) < 0.5, rng.integers(0, most, count), 0)

    return messages(
        num_nodes,
        first=first,
        source=rng.integers(0, num_nodes, count),
        target=rng.integers(0, num_nodes, count),
        flits=some(most_flits + 1),
        start=some(200),
        delay=some(30),
        run=some(10),
        hold=some(10),
        receive=some(10),
        context=rng.integers(-1, 3, count),
        after=after,
    )


def program_on(spec, name="default", *, packet_flits=4, switch_cycles=3, seed=0, **changes):
    net, kind = topology(spec), router(**changes)
    given = {"packet_flits": packet_flits, "switch_cycles": switch_cycles, "seed": seed}
    if kind.switching == "reserved":
        owned = reserve(net, name, uniform(net.num_nodes), kind)
        return NetworkProgram(net, owned.routing, kind, reservation=owned, **given)
    routing = virtual_channel_routing(net, name, num_vcs=kind.vcs)
    return NetworkProgram(net, routing, kind, **given)


def by_the_agenda(engine, tables, stops):
    """Run the readable agenda, given when the engine's messages arrived; return its rows."""
    agenda = Agenda(engine.topology.num_nodes, engine.agenda.clock["switch"][0])
    parts = iter(tables)
    agenda.append(next(parts), 0)
    cycle = 0
    arrived = engine.rows["arrived"]
    while agenda.completed < len(agenda.rows) or cycle < stops[-1]:
        for row in agenda.run(cycle):
            agenda.put(int(arrived[row]), row, ARRIVED)
        cycle += 1
        if cycle in stops:
            agenda.append(next(parts), cycle)
    return agenda.rows


def packets_of(engine):
    """The packets of all messages that were sent, in the order in which they enter the network."""
    rows = engine.rows
    sent = np.flatnonzero((rows["flits"] > 0) & (rows["source"] != rows["target"]))
    table = []
    for row in sent[np.lexsort((sent, rows["sent"][sent]))]:
        here = rows[row]
        for begin in range(0, here["flits"], engine.packet_flits):
            flits = min(engine.packet_flits, here["flits"] - begin)
            drawn = (here["coin"], here["path"] - 1)
            packet = (here["sent"], here["source"], here["target"], flits, *drawn)
            table.append((*packet, row))
    return np.array(table, np.int32).reshape(-1, 7)


@pytest.mark.parametrize(
    ("spec", "name", "changes"),
    [
        ("mesh:3x3", "default", {}),
        ("torus:4x4", "adaptive", {"vcs": 3, "buffer_flits": 2}),
        ("mesh:4x4", "valiant", {"vcs": 2, "switching": "virtual-cut-through"}),
        ("line:5", "default", {"vcs": 1, "switching": "circuit", "injection_channels": 2}),
        ("hypercube:3", "default", {"switching": "store-and-forward", "route_cycles": 2}),
        ("mesh:3x3", "default", {"switching": "reserved", "vcs": 8}),
        ("torus:4", "default", {"switching": "reserved", "vcs": 4, "speculative": True}),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_a_program_equals_its_two_halves(spec, name, changes, seed):
    rng = np.random.default_rng(seed)
    engine = program_on(spec, name, seed=seed, **changes)
    nodes = engine.topology.num_nodes
    counts, stops = rng.integers(5, 60, 3), np.sort(rng.choice(200, 2, replace=False) + 1)
    firsts = np.cumsum([0, *counts])
    tables = [
        random_rows(rng, nodes, int(count), int(first), most_flits=11)
        for count, first in zip(counts, firsts, strict=False)
    ]
    for table, stop in zip(tables, [*stops, 100_000], strict=True):
        engine.append(table)
        while engine.cycle < stop and engine.completed < engine.num_rows:
            engine.advance(min(stop, engine.cycle + int(rng.integers(1, 100))))
        if stop < 100_000 and engine.cycle < stop:  # all was complete before: wait for the rest
            engine.agenda.clock["time"] = engine.network.state.clock["cycle"] = stop
    assert engine.completed == sum(counts)
    for number, row in enumerate(by_the_agenda(engine, tables, stops)):
        assert [getattr(row, field) for field in FIELDS] == [
            engine.rows[field][number] for field in FIELDS
        ]
    table = packets_of(engine)
    owners = engine.reservation and engine.reservation.connections
    network = engine.network
    alone = Engine(engine.topology, network.routing, network.router, connections=owners)
    delivered = alone.advance(table[:, :6], engine.cycle + 10)
    last = np.zeros(engine.num_rows, np.int64)
    np.maximum.at(last, table[delivered.number, 6], delivered.arrival)
    sent = np.unique(table[:, 6])
    assert len(delivered.number) == len(table)
    assert last[sent].tolist() == engine.rows["arrived"][sent].tolist()
    assert engine.channel_flits().tolist() == alone.channel_flits().tolist()


def test_rows_may_name_their_connections():
    # two connections from 0 to 2 of a ring: one on the short way round, and one on the long way
    net, kind = topology("ring:5"), router("single-cycle", switching="reserved")
    ends = np.array([0, 0], np.int32), np.array([2, 2], np.int32)
    routed = source_routes(net, [[0, 1, 2]]).routes, source_routes(net, [[0, 4, 3, 2]]).routes
    both = Paths(np.array([0, 2, 5]), np.concatenate([each.channels for each in routed]))
    owned = reserve_paths(net, *ends, both, kind)
    assert owned.aux_of([0], [2]).tolist() == [0], "the first of those between two nodes"
    engine = NetworkProgram(net, owned.routing, kind, packet_flits=100, reservation=owned)
    rows = messages(5, source=0, target=[2, 2, 2], flits=[40, 60, 5], after=[[], [], [0, 1]])
    engine.append(rows, np.array([0, 1, 1], np.int32))
    engine.advance(1000)
    assert engine.rows["hops"].tolist() == [2, 3, 3]
    assert engine.channel_flits()[routed[0].channels].tolist() == [40] * 2
    assert engine.channel_flits()[routed[1].channels].tolist() == [65] * 3
    # 40 words of each take turns on the injection channel, then 20 go on alone
    alone = kind.zero_load_cycles(3, 100)
    assert engine.rows["complete"].tolist()[1:] == [alone, alone + kind.zero_load_cycles(3, 5)]


def test_the_pool_of_packets_grows_in_the_middle_of_a_cycle():
    engine = program_on("mesh:2x2", packet_flits=1)
    engine.append(messages(4, source=0, target=[3, 1], flits=[3000, 2000]))
    engine.advance(100_000)
    assert engine.rows["complete"].min() > 2000
    assert engine.network.flits()["ejected"] == 5000


def test_long_idle_times_are_skipped():
    engine = program_on("mesh:2x2")
    engine.append(messages(4, source=[0, 0], target=3, flits=4, start=[0, 10**9]))
    engine.advance(2 * 10**9)
    first, second = engine.rows["complete"].tolist()
    assert second == 10**9 + first


def test_what_a_program_cannot_run_on_is_refused():
    with pytest.raises(InputError, match="buffer_flits"):
        program_on("mesh:2x2", packet_flits=9, switching="virtual-cut-through")
    net, kind = topology("mesh:2x2"), router(switching="reserved")
    routing = virtual_channel_routing(net, "default", num_vcs=kind.vcs)
    with pytest.raises(InputError, match="reserved"):
        NetworkProgram(net, routing, kind, packet_flits=4)
    owned = reserve(net, "default", pairs(4, [0], [1]), kind)
    engine = NetworkProgram(net, owned.routing, kind, packet_flits=4, reservation=owned)
    with pytest.raises(NoRouteError, match="from host 1 to host 0"):
        engine.append(messages(4, source=[0, 1], target=[1, 0], flits=[1, 1]))
    with pytest.raises(InputError, match="packet_flits: found 0"):
        program_on("mesh:2x2", packet_flits=0)


def test_given_routes_in_a_circle_run_in_layers_of_vcs():
    net = topology("mesh:2x2")
    circle = source_routes(net, [[0, 1, 3], [1, 3, 2], [3, 2, 0], [2, 0, 1]])
    routing = virtual_channel_routing(net, circle, num_vcs=2)
    engine = NetworkProgram(net, routing, router("single-cycle", vcs=2), packet_flits=50)
    engine.append(messages(4, source=[0, 1, 3, 2], target=[3, 2, 0, 1], flits=50))
    engine.advance(5000)
    assert (engine.rows["complete"] >= 0).all()
