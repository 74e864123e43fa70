"""The fast lockstep worms and the readable ones must agree, event by event."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import DeadlockError
from netloom.routing import parse_routing, paths
from netloom.topology import Topology, cube
from netloom.workload.programs.messages import messages
from netloom_papers.worms import Worm, WormEngine
from tests.reference.agenda import FIELDS
from tests.reference.worm import POLICIES, Rules, StuckError, Worms, flit_by_flit

FOREVER = 10**6

CYCLES = st.one_of(st.integers(0, 3), st.integers(0, 30))
FLITS = st.one_of(st.integers(0, 3), st.integers(1, 12))


@dataclass(frozen=True)
class Case:
    """A network, its worms, and tables of messages, each appended in a given cycle or later."""

    topology: Topology
    routing: object
    worm: Worm
    switch_cycles: int
    parts: list

    def path_of(self, source, target):
        """Return the channels of a path, those of the ends too, which hosts of trees list."""
        net = self.topology
        between = paths(net, self.routing, [source], [target]).whole(net)[0].tolist()
        if not (net.direct and self.worm.end_channels):
            return between
        into = net.num_channels + source
        return [into, *between, net.num_channels + net.num_hosts + target]

    def twin(self):
        worm = self.worm
        rules = Rules(
            worm.switching, worm.arbitration, worm.release_cycles, self.switch_cycles,
            worm.end_channels,
        )  # fmt: skip
        return Worms(self.topology.num_hosts, self.path_of, rules)

    def engine(self):
        return WormEngine(self.topology, self.routing, self.worm, switch_cycles=self.switch_cycles)


@st.composite
def networks(draw, *, wraps=True):
    """Lines, meshes, rings, tori and hypercubes of at most 16 nodes, and a routing of theirs."""
    sides = draw(
        st.sampled_from(
            [(2,), (4,), (5,), (9,), (2, 2), (3, 3), (4, 4), (5, 3), (2, 2, 2), (3, 2, 2)]
        )
    )
    closed = st.booleans() if wraps else st.just(False)
    topology = cube(sides, draw(st.lists(closed, min_size=len(sides), max_size=len(sides))))
    other_order = "dimension-order:" + ",".join(map(str, range(len(sides))))
    name = draw(
        st.sampled_from(["default", other_order, "shortest-path"] if wraps else ["default"])
    )
    return topology, parse_routing(name, topology)


def worms(**fixed):
    options = {
        "switching": st.sampled_from(["wormhole", "circuit"]),
        "arbitration": st.sampled_from(POLICIES),
        "release_cycles": st.integers(0, 1),
        "end_channels": st.integers(0, 1),
    }
    return st.builds(Worm, **options | {name: st.just(value) for name, value in fixed.items()})


@st.composite
def tables(draw, num_nodes, first, most):
    """Return a table of messages of any kind; few nodes and plain rows make them meet."""
    count = draw(st.integers(1, most))
    hot = draw(st.lists(st.integers(0, num_nodes - 1), min_size=1, max_size=num_nodes))
    node = draw(st.sampled_from([st.integers(0, num_nodes - 1), st.sampled_from(hot)]))

    def column(values, plain=0):
        kind = st.just(plain) if draw(st.booleans()) else values
        return draw(st.lists(kind, min_size=count, max_size=count))

    most_waits = draw(st.sampled_from([0, 1, 3]))

    def waits(row):
        earlier = st.integers(0, row - 1) if row else st.nothing()
        return draw(st.lists(earlier, max_size=most_waits if row else 0))

    return messages(
        num_nodes,
        first=first,
        source=draw(st.lists(node, min_size=count, max_size=count)),
        target=draw(st.lists(node, min_size=count, max_size=count)),
        flits=column(FLITS, draw(FLITS)),
        after=[waits(first + i) for i in range(count)],
        start=column(CYCLES),
        delay=column(CYCLES),
        run=column(CYCLES),
        hold=column(CYCLES),
        receive=column(CYCLES),
        context=column(st.integers(-1, 2), -1),
    )


@st.composite
def cases(draw, *, wraps=True, **fixed):
    topology, routing = draw(networks(wraps=wraps))
    parts, rows = [], 0
    for _ in range(draw(st.integers(1, 3))):
        table = draw(tables(topology.num_nodes, rows, draw(st.sampled_from([4, 15, 30]))))
        parts.append((draw(st.integers(0, 60)), table))
        rows += len(table)
    return Case(topology, routing, draw(worms(**fixed)), draw(st.integers(0, 5)), parts)


def outcome(simulated, case, step=FOREVER):
    """Append each part when its time has come, and run to the end or to a deadlock.

    Return the cycle of the end, None after a deadlock, all records, and the cycle it came to.
    """
    end = None
    try:
        for cycle, table in case.parts:
            simulated.advance(cycle)
            simulated.append(table)
        while min(simulated.rows["complete"]) < 0:
            simulated.advance(simulated.cycle + step)
        end = simulated.cycle
    except (DeadlockError, StuckError):
        pass
    records = {name: list(simulated.rows[name]) for name in (*FIELDS, "entered")}
    return end, records, simulated.cycle


def until(cycle, rows, records):
    """Return what was recorded of so many rows before a cycle."""
    late = [row for row, when in enumerate(records["complete"]) if not 0 <= when < cycle]
    records = {name: column[:rows] for name, column in records.items()}
    found = {name: [when if when < cycle else -1 for when in records[name]] for name in records}
    return found | {"last": [-1 if row in late else row for row in records["last"]]}


def check_twin(case, step=FOREVER):
    """Demand that the engine does what its twin does.

    The engine reports a circle of worms when a step ends, whatever moves elsewhere. The twin goes
    on until nothing moves. Up to the earlier of the two, they agree.
    """
    end, expected, cycle = outcome(case.twin(), case)
    found_end, found, found_cycle = outcome(case.engine(), case, step)
    assert found_end == end
    if end is None:
        rows = min(len(each["complete"]) for each in (expected, found))
        earlier = min(cycle, found_cycle), rows
        expected, found = until(*earlier, expected), until(*earlier, found)
    assert found == expected


@given(cases(), st.sampled_from([1, 7, FOREVER]))
@settings(max_examples=150)
def test_the_engine_is_its_readable_twin(case, step):
    check_twin(case, step)


def test_a_circle_is_reported_while_other_messages_move():
    """Row 4 arrives after the others have met in a circle round a ring."""
    ring = cube((9,), [True])
    sent = (
        (1, 3, 8, 27), (8, 2, 2, 28), (0, 7, 5, 27), (4, 8, 7, 0), (1, 6, 9, 8), (7, 8, 6, 12),
        (0, 4, 4, 8), (3, 3, 6, 12), (3, 2, 8, 5), (5, 7, 9, 26), (3, 6, 1, 15), (3, 2, 3, 9),
        (1, 7, 3, 24), (2, 4, 2, 16), (5, 0, 7, 13), (5, 7, 10, 22), (4, 4, 10, 5), (6, 7, 7, 9),
    )  # fmt: skip
    names = ("source", "target", "flits", "start")
    table = messages(9, **dict(zip(names, np.array(sent).T, strict=True)))
    case = Case(ring, parse_routing("default", ring), Worm("circuit"), 0, [(0, table)])
    for step in (1, 7, FOREVER):
        check_twin(case, step)


@st.composite
def crowds(draw, arbitration):
    """Messages that nothing holds back but each other, most to the same few nodes."""
    topology, routing = draw(networks())
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    hot = chance.integers(topology.num_nodes, size=draw(st.integers(1, 4)))
    count = draw(st.integers(2, 100))
    table = messages(
        topology.num_nodes,
        source=chance.integers(topology.num_nodes, size=count),
        target=hot[chance.integers(len(hot), size=count)],
        flits=chance.integers(1, draw(st.sampled_from([2, 4, 9])), size=count),
        start=chance.integers(draw(st.sampled_from([1, 10, 100])), size=count),
    )
    return Case(topology, routing, draw(worms(arbitration=arbitration)), 0, [(0, table)])


@pytest.mark.parametrize("arbitration", POLICIES)
@given(data=st.data())
@settings(max_examples=100)
def test_the_engine_is_its_twin_in_a_crowd(arbitration, data):
    check_twin(data.draw(crowds(arbitration)))


@given(cases(wraps=False, switching="wormhole"))
@settings(max_examples=60)
def test_everything_arrives_and_no_channel_is_held_twice(case):
    """On meshes nothing waits in a circle."""
    twin = case.twin()
    assert outcome(twin, case)[0] is not None
    held = defaultdict(list)
    for channel, row, granted, idle in twin.held:
        held[channel].append((granted, idle, twin.agenda.rows[row].flits))
    for stays in held.values():
        for granted, idle, flits in stays:
            assert idle - granted >= flits + case.worm.release_cycles
        ends = sorted(stays)
        assert all(first[1] <= then[0] for first, then in pairwise(ends))
    crossed = [
        (channel, number)
        for number, row in enumerate(twin.agenda.rows)
        if row.flits and row.source != row.target
        for channel in case.path_of(row.source, row.target)
    ]
    assert sorted(crossed) == sorted((channel, row) for channel, row, _, _ in twin.held)


@given(networks(), st.integers(0, 1), st.data())
@settings(max_examples=100)
def test_worms_are_their_flits(network, release_cycles, data):
    topology, routing = network
    node = st.integers(0, topology.num_nodes - 1)
    pairs = st.tuples(node, node, st.integers(1, 8), CYCLES)
    drawn = data.draw(
        st.lists(pairs.filter(lambda ends: ends[0] != ends[1]), min_size=2, max_size=25)
    )
    source, target, flits, start = np.array(drawn).T
    table = messages(topology.num_nodes, source=source, target=target, flits=flits, start=start)
    worm = Worm(release_cycles=release_cycles)
    case = Case(topology, routing, worm, 0, [(0, table)])
    end, expected, _ = outcome(case.twin(), case)
    ways = [case.path_of(*ends) for ends in zip(source, target, strict=True)]
    try:
        arrivals = flit_by_flit(start, ways, flits, shared_buffers=release_cycles == 1)
    except StuckError:
        assert end is None
    else:
        assert expected["arrived"] == arrivals
