"""The two ends of a message: what it costs alone, and when it has to share a node's channel."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.workload.programs.loops import loop_times
from netloom.workload.programs.messages import messages
from netloom_papers.programs.neighbour_patterns import PATTERNS, NodeCosts, Pattern
from tests.reference.free_network import FreeNetwork, played

SYMULT = NodeCosts(alpha_us=210.2, packet_bytes=256, packet_us=39.3, byte_us=0.0577, cycle_us=0.05)


def grid_hops(side):
    """Cycles of a path on a mesh, beyond those of the flits."""
    return lambda a, b: abs(a // side - b // side) + abs(a % side - b % side)


def test_what_a_message_costs():
    """Section 4.3: 839 µs for 4096 bytes; 0.0577 µs a byte up to 256 (section 4.2.1)."""
    sizes = [1, 256, 4096, 257, 515]
    overhead = 39.3 - 256 * 0.0577
    wanted = [
        210.2 + 0.0577,
        210.2 + 256 * 0.0577,
        210.2 + 16 * 39.3,
        210.2 + 39.3 + overhead + 0.0577,
        210.2 + 2 * 39.3 + overhead + 3 * 0.0577,
    ]
    assert [SYMULT.message_us(size) for size in sizes] == pytest.approx(wanted)
    assert [len(SYMULT.packets(size)) for size in sizes] == [1, 1, 16, 2, 3]


@given(st.integers(1, 3000), st.integers(0, 20))
def test_a_message_alone_takes_what_it_costs_and_its_path(size, hops):
    """α + β L and the cycles of the path, to half a cycle for each packet."""
    flits, cycles = zip(*SYMULT.packets(size), strict=True)
    engine = FreeNetwork(2, hops=lambda source, target: hops)
    engine.append(messages(2, source=0, target=1, flits=flits, hold=cycles, receive=cycles))
    engine.advance(10**9)
    wanted = SYMULT.message_us(size) / SYMULT.cycle_us + hops
    assert abs(engine.rows["complete"].max() - wanted) <= 0.5 * (len(flits) + 1)
    assert sum(flits) == size


def test_packets_keep_the_pace_of_the_servers():
    # 210.2 µs - 256 flits of 0.05 µs + 39.3 µs, then 39.3 µs a packet; 232 bytes in the last
    assert SYMULT.packets(1000) == [(256, 4734), (256, 786), (256, 786), (232, 758)]
    costs = NodeCosts(alpha_us=20, packet_bytes=100, packet_us=30, byte_us=0.1, cycle_us=1)
    # 30 a full packet, 20 + 5 the half; α less than the flits costs nothing more
    assert costs.packets(150) == [(100, 30), (50, 25)]
    assert (costs.packets(50), costs.packets(10)) == ([(50, 5)], [(10, 1 + 10)])


def test_messages_of_several_packets_are_there_with_all_of_them():
    """Node 0 sends two packets, 1 waits for both and answers, 0 computes: twice the same rows."""
    one = Pattern("ab-1nn", 2, message_bytes=300, think_us=0, costs=SYMULT).one
    pair = (one.source < 2) & (one.target < 2)
    lists = [each.tolist() for each in np.split(one.after, one.after_offsets[1:-1])]
    rows = np.flatnonzero(pair) + len(one)
    number = {int(row): place for place, row in enumerate(rows)}
    waits = [[number.get(row, -1) for row in lists[row - len(one)]] for row in rows]
    assert one.source[pair].tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0, 1]
    assert one.target[pair].tolist() == [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
    assert waits == [[-1], [-1], [1, 0], [2, -1], [3], [3], [5, 4], [6, -1], [7], [3]]


def times_of(name, side, size, think_us=0.0, loops=4):
    program = Pattern(name, side, message_bytes=size, think_us=think_us, costs=SYMULT)
    cycles = int((loops + 2) * 1.2 * (think_us + 9 * SYMULT.message_us(size)) / SYMULT.cycle_us)
    rows = played(program, cycles, hops=grid_hops(side))
    ends = program.loop_ends(rows["complete"])
    times = loop_times(ends, message_flits=size, skip=1, loops=loops)
    return times.cycles * SYMULT.cycle_us


@pytest.mark.parametrize("size", [1, 515, 2051])
@pytest.mark.parametrize(
    ("name", "wanted"), [("ab-1nn", 2), ("aa-1nn", 2), ("ab-4nn", 8), ("aa-4nn", 8)]
)
def test_the_channel_to_the_router_is_the_bottleneck(name, wanted, size):
    """Table 4.1 in units of one message: 2.00, 1.87 to 1.98, 7.8 to 11.8, 7.7 to 11.

    A node of the 4NN patterns sends and receives four messages one after the other. The start-up
    that a server sees is less than α by a packet's flits, hence a little less than 8 and 2.
    """
    times = times_of(name, 4, size) / SYMULT.message_us(size)
    inner = times.reshape(4, 4)[1:3, 1:3]
    assert inner == pytest.approx(np.full((2, 2), wanted), rel=0.05)
    if name == "ab-1nn":
        assert times == pytest.approx(np.full(16, wanted), rel=0.002)


def test_computation_is_added():
    """Section 4.2.1: T = t + 2 (α + β L), of every node; the pair's computations are alike."""
    times = times_of("ab-1nn", 4, 1024, think_us=500, loops=150)
    wanted = 500 + 2 * SYMULT.message_us(1024)
    assert abs(times.mean() - wanted) < 4.5 * 1000 / 12**0.5 / (8 * 150) ** 0.5
    assert times[::2] == pytest.approx(times[1::2], abs=5)
    assert times.std() > 5  # pairs go on independently of each other


def test_who_sends_to_whom():
    def pairs(name, side):
        program = Pattern(name, side, message_bytes=8, think_us=1, costs=SYMULT)
        one = program.one
        sent = one.flits > 0
        return program.nodes.tolist(), set(
            zip(one.source[sent].tolist(), one.target[sent].tolist(), strict=True)
        )

    nodes, sent = pairs("transpose", 3)
    assert nodes == [1, 2, 3, 5, 6, 7]
    assert sent == {(1, 3), (3, 1), (2, 6), (6, 2), (5, 7), (7, 5)}
    nodes, sent = pairs("diagonal", 3)
    assert nodes == [0, 8]
    assert sent == {(0, 8), (8, 0)}
    for name in ("ab-1nn", "aa-1nn"):
        assert pairs(name, 2) == ([0, 1, 2, 3], {(0, 1), (1, 0), (2, 3), (3, 2)})
    for name in ("ab-4nn", "aa-4nn"):
        assert pairs(name, 2)[1] == {(0, 1), (1, 0), (0, 2), (2, 0), *pairs(name, 2)[1]}
        assert len(pairs(name, 3)[1]) == 24
    assert pairs("ab-1nn", 3)[0] == [0, 1, 3, 4, 6, 7]  # the last of an odd row has no peer


@pytest.mark.parametrize("name", PATTERNS)
def test_class_a_sends_first(name):
    """In the order of the base loops (figures 4.3 and 4.10): no node sends before it may."""
    program = Pattern(name, 4, message_bytes=8, think_us=100, costs=SYMULT, seed=5)
    rows = played(program, 40_000, hops=grid_hops(4))
    first = {}
    one, size = program.one, len(program.one)
    for row in np.flatnonzero(one.flits > 0):
        node = int(one.source[row])
        first[node] = min(first.get(node, 10**9), int(rows["sent"][row]))
    for node in program.nodes.tolist():
        i, j = divmod(node, 4)
        classes = {"1nn": j % 2 == 0, "4nn": (i + j) % 2 == 0}
        others = i > j if name == "transpose" else i < 2
        is_a = name.startswith("aa") or classes.get(name[-3:], others)
        assert (first[node] == 0) == is_a
    loop_ends = dict(
        zip(program.nodes.tolist(), program.loop_ends(rows["complete"])[0], strict=True)
    )
    sent = rows["sent"][size : 2 * size]
    for row in np.flatnonzero((one.flits > 0) & (sent >= 0)):
        assert sent[row] >= loop_ends[int(one.source[row])] > 0
