"""Schedules in time: executed on data, within every cable's bandwidth, and near the bound."""

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Jobs, along_trees, listed, servers
from netloom.topology import topology
from netloom.workload.programs.messages import lists
from tests.phases.collectives.boxes import a100, box
from tests.reference.collectives_checked import check


def timetable_faults(found):
    """Return what is wrong with the times of a schedule: late data, or a cable that is too full."""
    program, net = found.program, found.network.topology
    has, wrong = {}, []
    for chunk, owner in enumerate(program.first_owner.tolist()):
        for rank in range(program.num_ranks) if owner < 0 else (owner,):
            has[rank, chunk] = 0.0
    events = [[] for _ in range(net.num_channels)]
    sizes = program.message_size * found.size_bytes
    for message in np.argsort(found.start, kind="stable").tolist():
        source, target = int(program.source[message]), int(program.target[message])
        for chunk in program.chunks.of(message).tolist():
            if has.get((source, chunk), np.inf) > found.start[message] + 1e-15:
                wrong.append(f"message {message} leaves before its data is there")
            has[target, chunk] = max(has.get((target, chunk), 0.0), found.end[message])
        taken = found.routes.of(message)
        ends = net.source_end[taken[0]], net.target_end[taken[-1]]
        if [found.network.vertices[source], found.network.vertices[target]] != list(ends):
            wrong.append(f"message {message} takes another way")
        delay = sum(latency_of(found.network, each) for each in taken.tolist())
        sent = found.end[message] - found.start[message] - delay
        for channel in taken.tolist():
            rate = sizes[message] / sent
            events[channel] += [(found.start[message] + sent, -rate), (found.start[message], rate)]
    scale = found.network.bytes_per_second
    for channel, listed_events in enumerate(events):
        use, room = 0.0, net.channel_bandwidth[channel] * scale * (1 + 1e-6)
        for time, rate in sorted((round(time, 13), rate) for time, rate in listed_events):
            use += rate
            if use > room:
                wrong.append(f"channel {channel} carries {use} at {time}")
    return wrong


def latency_of(network, channel):
    for link in range(network.num_links):
        if channel in network.channels.of(link):
            return network.latency[link]
    raise AssertionError


CASES = [
    ("dgx1", "all-gather", 64e6), ("ndv2-2", "reduce-scatter", 1e6), ("ndv2-4", "broadcast", 1e6),
    ("dgx1", "reduce", 64e6), ("dgx2-2", "broadcast", 64e6),
]  # fmt: skip


@pytest.mark.parametrize(("name", "collective", "size"), CASES)
def test_schedules_are_right(name, collective, size):
    found = along_trees(box(name), collective, size, root=3, chunks=(1, 4))
    check(found.program)
    assert timetable_faults(found) == []
    assert 0 < found.efficiency <= 1
    assert found.program.root == 3


def test_parallel_channels_carry_a_message_each():
    """Two GPUs by three cables: as fast as three messages, each as slow as one cable."""
    graph = nx.MultiDiGraph([(0, 1)] * 3 + [(1, 0)] * 3)
    net = rank_network(topology(graph), bytes_per_second=25e9)
    found = along_trees(net, "broadcast", 75e6)
    assert found.finish_seconds == pytest.approx(1e-3, rel=1e-3)
    assert (found.end - found.start).min() >= found.program.chunk_size.min() * 75e6 / 25e9 * 0.999
    check(found.program)
    assert timetable_faults(found) == []
    assert len(np.unique(found.routes.values)) == 3


def test_schedules_through_switches_are_right():
    found = along_trees(a100(2), "all-gather", 1e6, chunks=(2, 8))
    check(found.program)
    assert timetable_faults(found) == []


@pytest.mark.parametrize("name", ["ndv2-2", "ndv2-4", "dgx1"])
def test_all_gather_of_a_gigabyte_comes_near_the_bound(name):
    """TE-CCL reaches 22.86 and 15.38 GB/s on NDv2, of 25 and 16.67."""
    found = along_trees(box(name), "all-gather", 1e9, chunks=(64,))
    check(found.program)
    assert 0.995 <= found.efficiency <= 1


def test_a_schedule_of_two_chassis_of_dgx_2_comes_near_the_bound():
    found = along_trees(box("dgx2-2"), "all-gather", 1e9, chunks=(64, 256, 1024))
    assert 0.995 < found.efficiency <= 1


def test_messages_leave_by_priority_and_wait_for_what_they_carry():
    """Two chunks over two links of a line: by hand."""
    net = rank_network(topology("line:3"), bytes_per_second=1.0, latency_seconds=0.5)
    number = {pair: place for place, pair in enumerate(zip(net.source, net.target, strict=True))}
    routes = lists([[number[0, 1]], [number[1, 2]]])
    pairs = np.array([0, 1]), np.array([2, 3])
    jobs = Jobs(np.int32([0, 0, 1, 1]), np.array([2.0, 1.0, 2.0, 1.0]), np.int32([0, 1, 0, 1]),
                np.zeros(4, bool), *pairs)  # fmt: skip
    assert jobs.longest(np.ones(4)).tolist() == [2, 2, 1, 1]
    start, end = listed(servers(net, routes), jobs, np.array([1, 0, 0, 1]), 1.0)
    assert start.tolist() == [1.0, 0.0, 3.5, 1.5]
    assert end.tolist() == [3.5, 1.5, 6.0, 3.0]


@pytest.mark.parametrize(
    ("collective", "size", "root", "wrong"),
    [("all-mixed", 1e6, 0, "expected all-gather"), ("broadcast", 0, 0, "expected above 0 bytes"),
     ("reduce", 1e6, 8, "expected 0 to 7")],
)  # fmt: skip
def test_what_is_refused(collective, size, root, wrong):
    with pytest.raises(InputError, match=wrong):
        along_trees(box("dgx1"), collective, size, root=root)
