"""What lockstep worms do, worked out by hand; the engine and its readable twin both do it."""

from types import SimpleNamespace

import numpy as np
import pytest

from netloom.base.errors import DeadlockError
from netloom.routing import DimensionOrder, parse_routing, paths, source_routes
from netloom.topology import cube, mesh
from netloom.workload.programs.messages import messages
from netloom_papers.worms import Worm, WormEngine
from tests.papers.worms.test_worm import Case
from tests.reference.worm import flit_by_flit

LINE = cube([12], [False])
GRID = cube([3, 3], [False, False])
RING = cube([5], [True])


def case(topology, switch_cycles=0, **options):
    routing = parse_routing("default", topology)
    return Case(topology, routing, Worm(**options), switch_cycles, [])


def make_engine(topology, **options):
    return case(topology, **options).engine()


def make_twin(topology, **options):
    return case(topology, **options).twin()


@pytest.fixture(params=[make_engine, make_twin], ids=["engine", "twin"])
def make(request):
    return request.param


def run(make, topology, table, **options):
    """Return what was recorded of all rows, when they are complete."""
    worms = make(topology, **options)
    worms.append(table)
    worms.advance(10**6)
    return SimpleNamespace(
        **{
            name: list(worms.rows[name])
            for name in ("ready", "sent", "arrived", "complete", "last")
        }
    )


@pytest.mark.parametrize(
    ("options", "arrival"),
    [
        ({}, 8 + 50 + 1),
        ({"release_cycles": 0}, 8 + 50),
        ({"end_channels": 1}, 10 + 50 + 1),
        ({"switching": "circuit"}, 3 * 8 + 50 + 1),
        ({"switching": "circuit", "release_cycles": 0, "end_channels": 1}, 3 * 10 + 50),
    ],
)
def test_a_message_alone(make, options, arrival):
    table = messages(12, source=[2], target=[10], flits=50, start=7)
    rows = run(make, LINE, table, **options)
    assert rows.sent == [7]
    assert rows.complete == [7 + arrival]


@pytest.mark.parametrize(
    ("options", "arrivals"),
    [
        # The second channel is held for L + 1 = 5 cycles, 0 to 4: its head loses cycles 1 to 4.
        ({}, [2 + 4 + 1 + 4, 1 + 4 + 1]),
        ({"release_cycles": 0}, [2 + 4 + 3, 1 + 4]),
        # The circuit: granted in 0, acknowledged in 1, then L + 1 moves, 2 to 6; loses 1 to 6.
        ({"switching": "circuit"}, [3 * 2 + 4 + 1 + 6, 3 + 4 + 1]),
        ({"switching": "circuit", "release_cycles": 0}, [3 * 2 + 4 + 5, 3 + 4]),
    ],
)
def test_a_head_that_waits_stops_its_worm(make, options, arrivals):
    table = messages(12, source=[0, 1], target=2, flits=4)
    assert run(make, LINE, table, **options).arrived == arrivals


@pytest.mark.parametrize(("release_cycles", "third"), [(0, 18), (1, 21)])
def test_a_tail_that_waits_beyond_its_channel_has_left_it_for_others(make, release_cycles, third):
    # Row 0 holds 2 -> 3 until 10 moves are done, 11 with the extra cycle. Row 1, of one flit,
    # crosses 1 -> 2 in cycle 0 and waits for it. Row 2 follows it: without the extra cycle over
    # 1 -> 2 in cycle 1, where two flits wait then; with it when row 1 has gone on.
    table = messages(12, source=[2, 1, 1], target=[3, 3, 3], flits=[10, 1, 6])
    rows = run(make, LINE, table, release_cycles=release_cycles)
    assert rows.arrived[:2] == [11 + release_cycles, 12 + 2 * release_cycles]
    assert rows.arrived[2] == third


@pytest.mark.parametrize(
    ("arbitration", "order"),
    [
        ("timestamp", [2, 3, 4, 5]),  # in the order of birth, then of rows
        ("fifo", [4, 3, 2, 5]),  # all began to ask in cycle 7: the first port goes first
        ("fifo-lru", [3, 2, 4, 5]),  # the port from above was used in cycle 1, the node's in 5
        ("biased", [2, 3, 4, 5]),  # 4, 4, 4 and 9, which becomes 6
        ("source", [2, 4, 3, 5]),  # after node 4: 5, then 1, then 3, then 4 again
    ],
)
def test_who_is_granted_a_channel(make, arbitration, order):
    # All cross the channel down from the middle, 4 -> 7. Row 0 does so early, from above; row 1
    # holds it from cycle 5 to 15. Meanwhile come row 2 from the right, 3 from the left, 4 from
    # above, and 5 from the middle itself. Each holds the channel for 3 cycles.
    table = messages(
        9, source=[1, 4, 5, 3, 1, 4], target=7, flits=[2, 10, 2, 2, 2, 2], start=[0, 5, 6, 6, 6, 7]
    )
    arrived = run(make, GRID, table, arbitration=arbitration).arrived
    assert arrived[:2] == [5, 17]
    assert [arrived[row] for row in order] == [20, 23, 26, 29]


@pytest.mark.parametrize(("row", "arrival"), [(0, 8), (8, 9)])
def test_a_local_head_gains_on_others_by_losing(make, row, arrival):
    # Heads of one flit come by, one a cycle from cycle 1 on, each with priority 4. The local one
    # has 9, 8, ... 4 in cycle 6, where the row number decides, and 3 in cycle 7.
    source, start = [1] * 8, [0] * 8
    source.insert(row, 2)
    start.insert(row, 1)
    table = messages(12, source=source, target=3, flits=1, start=start)
    rows = run(make, LINE, table, arbitration="biased", release_cycles=0)
    assert rows.arrived[row] == arrival


def test_a_tie_of_heads_from_one_node_has_one_past(make):
    # The node's port asked for 1 -> 2 in cycle 0, and twice in cycle 12; the port from node 0 in
    # cycle 5. Row 4 is from node 0. Both of the node's heads precede it.
    table = messages(
        12, source=[1, 0, 1, 1, 0], target=2, flits=[1, 1, 1, 1, 1], start=[0, 4, 12, 12, 11]
    )
    rows = run(make, LINE, table, arbitration="fifo-lru")
    assert rows.arrived == [3, 8, 15, 17, 19]


def test_a_node_has_one_channel_in_and_one_out(make):
    # Both ends are contended for: 0 -> 1 and 0 -> 2 for the one into the network.
    table = messages(12, source=[5, 5, 7], target=[4, 6, 6], flits=4)
    free = run(make, LINE, table)
    assert free.arrived == [6, 6, 6]
    ends = run(make, LINE, table, end_channels=1)
    # Row 1 is granted its first channel in cycle 5; row 2 has left the last one by then.
    assert ends.arrived == [8, 13, 8]


def test_a_circle_is_named():
    table = messages(5, source=np.arange(5), target=(np.arange(5) + 2) % 5, flits=10, start=3)
    with pytest.raises(DeadlockError) as stuck:
        run(make_engine, RING, table)
    around = [f"{node} -> {(node + 1) % 5}" for node in range(5)]
    first = around.index(stuck.value.cycle[0])
    assert list(stuck.value.cycle) == around[first:] + around[:first]


def test_worms_of_one_flit_pass_each_other_in_a_circle(make):
    table = messages(5, source=np.arange(5), target=(np.arange(5) + 2) % 5, flits=1)
    assert run(make, RING, table, release_cycles=0).arrived == [3] * 5


def test_a_processor_does_one_thing_at_a_time(make):
    rows = run(
        make,
        LINE,
        messages(
            12,
            source=[0] * 8 + [1] * 2,
            target=[0] * 8 + [1] * 2,
            flits=[0] * 8 + [3] * 2,
            run=[5, 3, 0, 1, 1, 0, 2, 0, 0, 0],
            hold=[2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            context=[1, 1, 2, -1, 2, -1, -1, -1, -1, -1],
            start=[0, 0, 0, 0, 0, 0, 4, 20, 0, 0],
            delay=[0, 0, 0, 0, 0, 0, 3, 2, 0, 0],
            receive=[0] * 8 + [6, 2],
            after=[[], [], [], [], [], [], [0, 1], [5], [], []],
        ),
        switch_cycles=4,
    )
    assert rows.ready == [0, 0, 0, 0, 0, 0, 13, 22, 0, 0]
    # Row 2 has to switch, from 10 to 14; row 4 goes on with the same context; row 5 needs nothing.
    assert rows.sent == [5, 10, 14, 15, 16, 0, 18, 22, 0, 0]
    assert rows.arrived == rows.sent
    assert rows.complete == [5, 10, 14, 15, 16, 0, 18, 22, 6, 8]
    assert rows.last == [-1, -1, -1, -1, -1, -1, 1, 5, -1, -1]


def test_an_answer_follows_its_request(make):
    table = messages(12, source=[0, 3], target=[3, 0], flits=4, receive=[2, 0], after=[[], [0]])
    rows = run(make, LINE, table)
    assert rows.arrived == [8, 18]
    assert rows.ready == [0, 10]
    assert rows.last == [-1, 0]


def test_rows_that_come_later(make):
    worms = make(LINE)
    worms.append(messages(12, source=[0, 0], target=3, flits=4, start=[0, 50]))
    worms.advance(20)
    assert worms.cycle == 20
    late = messages(
        12, source=[1] * 3, target=2, flits=0, first=2, delay=[5, 15, 0], after=[[0], [0], [0, 1]]
    )
    worms.append(late)
    worms.advance(1000)
    # Row 0 is complete in 8, so row 2 would have been ready in 13: it is so at once.
    assert list(worms.rows["ready"]) == [0, 50, 20, 23, 58]
    assert list(worms.rows["last"]) == [-1, -1, 0, 0, 1]
    assert worms.cycle == 59  # all was complete in cycle 58


def test_flits_one_by_one():
    births, ways, lengths = [0, 0], [[0, 1], [1]], [4, 4]
    assert flit_by_flit(births, ways, lengths, shared_buffers=True) == [11, 6]
    assert flit_by_flit(births, ways, lengths, shared_buffers=False) == [9, 5]


@pytest.mark.parametrize(("switching", "first"), [("wormhole", 0), ("circuit", 6)])
@pytest.mark.parametrize("release_cycles", [0, 1])
def test_flits_are_counted_as_they_cross(switching, first, release_cycles):
    """Over three channels; the data of a circuit start when probe and acknowledgement are done."""
    worm = Worm(switching=switching, release_cycles=release_cycles)
    engine = WormEngine(mesh(4), DimensionOrder(), worm)
    engine.append(messages(4, source=[0], target=[3], flits=[5]))
    path = paths(engine.topology, DimensionOrder(), [0], [3])[0]
    for cycle in range(1, first + 12):
        engine.advance(cycle)
        if engine.cycle < cycle:
            break
        crossed = engine.channel_flits()[path].tolist()
        assert crossed == [min(max(cycle - first - hop, 0), 5) for hop in range(3)]
    assert engine.completed == 1
    assert engine.channel_flits().sum() == engine.flit_hops == 15


def test_a_blocked_worm_s_flits_stand_still():
    engine = WormEngine(mesh(4), DimensionOrder(), Worm(release_cycles=0))
    engine.append(messages(4, source=[2, 0], target=[3, 3], flits=[50, 50]))
    engine.advance(30)
    into = paths(engine.topology, DimensionOrder(), [0], [3])[0]
    assert engine.channel_flits()[into].tolist() == [2, 1, 30]


def test_worms_in_a_circle_are_seen_while_others_move():
    """Three worms round a ring block each other; a fourth, on another ring, goes on."""
    net = cube([2, 3], [False, True])
    routes = source_routes(net, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [3, 4]])
    engine = WormEngine(net, routes, Worm())
    engine.append(messages(6, source=[0, 1, 2, 3], target=[2, 0, 1, 4], flits=[20, 20, 20, 2000]))
    with pytest.raises(DeadlockError, match="up-down") as stuck:
        engine.advance(100)
    assert len(stuck.value.cycle) == 3
    assert engine.completed == 0
