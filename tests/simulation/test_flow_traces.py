"""Traces as flows: parts of the critical path, times of messages, and bounds, in floats."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.routing import DimensionOrder, DModK
from netloom.simulation.flow import flow_network
from netloom.simulation.traces import critical_path, run_flow_trace
from netloom.topology import mesh, topology
from netloom.workload.programs.messages import lists, messages
from netloom.workload.programs.traces import Trace
from tests.flow_laws import law_in
from tests.simulation.test_critical_path import finished, total

TIMES = ("start", "run", "hold", "receive")


def timed(entries, num_tasks=4, **columns):
    """A trace in seconds of entries (source, target or None, bytes, after)."""
    source, target, size, after = zip(*entries, strict=True)
    nothing = np.zeros(len(entries))
    return Trace(
        "given",
        num_tasks,
        tuple(map(str, range(len(entries)))),
        **{name: np.array(columns.get(name, nothing), float) for name in TIMES},
        delay=nothing,
        source=np.array(source, np.int32),
        flits=np.array(size, float),
        targets=lists([[] if task is None else [task] for task in target]),
        after=lists(after),
        flit_bytes=1,
        unit="seconds",
    )


def run(trace, network, *, bandwidth=1e9, latency=0.0, routing=None, **options):
    links = flow_network(network, bandwidth=bandwidth, latency=latency)
    program = trace.placed(network, range(trace.num_tasks), flit_time=1 / bandwidth)
    if routing is None:
        routing = DimensionOrder() if network.direct else DModK()
    return run_flow_trace(links, routing, program, law_in(options), **options)


def test_a_chain_in_seconds_worked_out_by_hand():
    # In ms: 0 computes 1 and sends 1 MB to 2, over 4 channels of 1 µs; 1 sends 1 MB there at 1.2.
    # They share the channel to 2 until the first is there at 2.804, the second at 3.004. Each is
    # received for 0.5, one after the other; 2 goes on at 3.804.
    trace = timed(
        [(0, 2, 1e6, []), (1, 2, 1e6, []), (2, None, 0, [0])],
        start=[0, 1.2e-3, 0], run=[1e-3, 0, 2e-3], receive=[5e-4, 5e-4, 0],
    )  # fmt: skip
    found = run(trace, topology("leaf-spine:2x1x2"), latency=1e-6)
    path = found.critical_path
    assert [trace.ids[found.program.entry[row]] for row in path.rows] == ["0", "2"]
    assert total(path, float) == pytest.approx(
        {
            "compute": 1e-3 + 2e-3, "processor_wait": 5e-4, "source_wait": 0, "message": 1.004e-3,
            "contention": 0.8e-3, "receive": 5e-4,
        }
    )  # fmt: skip
    assert path.finish == found.finish == pytest.approx(5.804e-3)
    assert found.ideal_finish == pytest.approx(4.504e-3)
    # Alone, they are there at 2.004 and 2.204, and are still received one after the other.
    assert found.alone_finish == pytest.approx(5.004e-3)
    assert found.bound == found.ideal_finish
    row_of = np.argsort(found.program.entry)
    assert found.slowdown(row_of[:2]) == pytest.approx([1.804 / 1.004] * 2)


def test_a_message_in_order_waits_at_its_source():
    trace = timed([(0, 2, 1e6, []), (0, 3, 1e6, [])])
    found = run(trace, topology("leaf-spine:2x1x2"))
    assert found.rows["arrived"] == pytest.approx([1e-3, 2e-3])
    times = found.message_times(np.arange(2))
    assert times["source_wait"].tolist() == pytest.approx([0, 1e-3])
    assert times["contention"].tolist() == [0, 0]
    assert total(found.critical_path, float)["source_wait"] == pytest.approx(1e-3)
    assert found.alone_finish == found.ideal_finish == pytest.approx(1e-3)
    assert found.bound == pytest.approx(2e-3)  # of the channel of host 0
    shared = run(trace, topology("leaf-spine:2x1x2"), injection="shared")
    assert shared.rows["arrived"] == pytest.approx([2e-3, 2e-3])
    assert shared.message_times(np.arange(2))["contention"] == pytest.approx([1e-3, 1e-3])


def test_rounding_is_no_wait():
    # In tenths nothing adds up: 0.1 + 0.2 is not 0.3.
    table = messages(2, source=[0, 1], target=[1, 0], flits=1, after=[[], [0]], run=[1, 2])
    rows = finished(table, [3, 3])
    tenths = rows.astype([(name, "f8") for name in rows.dtype.names[:-1]] + [("last", "i8")])
    for name in rows.dtype.names[:-1]:
        tenths[name] = rows[name] * 0.1
    seconds = replace(table, **{name: getattr(table, name) * 0.1 for name in ("start", "delay")})
    seconds = replace(seconds, run=table.run * 0.1, receive=table.receive * 0.1)
    path = critical_path(seconds, tenths, np.full(2, 0.1 + 0.2))
    assert path.rows.tolist() == [0, 1]
    assert path.parts.contention.tolist() == path.parts.processor_wait.tolist() == [0, 0]
    assert path.finish == pytest.approx(0.9)


NETWORKS = [mesh(2, 2), topology("leaf-spine:2x2x2"), topology("torus:4")]


@settings(max_examples=60, deadline=None)
@given(
    st.data(),
    st.integers(1, 20),
    st.sampled_from(NETWORKS),
    st.sampled_from(["in-order", "shared"]),
    st.sampled_from(["max-min", "by-latency", "lossless"]),
    st.sampled_from([0.0, 1e-3]),
)
def test_parts_add_up_and_nothing_is_faster_than_alone(
    data, count, network, injection, sharing, latency
):
    def drawn(values):
        return data.draw(st.lists(values, min_size=count, max_size=count))

    few = st.sampled_from([0.0, 0.0, 0.1, 0.3])
    sizes = st.floats(1.0, 1e8)
    after = [
        data.draw(st.lists(st.integers(0, row - 1), max_size=3, unique=True)) if row else []
        for row in range(count)
    ]
    hosts = st.integers(0, network.num_hosts - 1)
    targets = [data.draw(st.none() | hosts) for _ in range(count)]
    entries = [
        (source, target, 0 if target is None else size, waits)
        for source, target, size, waits in zip(
            drawn(hosts), targets, drawn(sizes), after, strict=True
        )
    ]
    columns = {name: drawn(few) for name in TIMES}
    columns["receive"] = [
        0 if target is None else time
        for time, target in zip(columns["receive"], targets, strict=True)
    ]
    trace = timed(entries, network.num_hosts, **columns)
    found = run(trace, network, latency=latency, injection=injection, sharing=sharing)
    path = found.critical_path
    assert sum(total(path, float).values()) + path.start == pytest.approx(path.finish, rel=1e-9)
    assert path.ideal_finish <= found.alone_finish * (1 + 1e-12)
    assert path.ideal_finish <= found.bound <= path.finish * (1 + 1e-9)
    assert all((part >= 0).all() for part in path.parts)
    sends = np.flatnonzero(found.rows["flits"] > 0)
    times = found.message_times(sends)
    assert all((part >= 0).all() for part in times.values())
    together = times["source_wait"] + times["unhindered"] + times["contention"]
    assert together == pytest.approx(times["latency"], rel=1e-8, abs=1e-8)
    assert (found.slowdown(sends) >= 1).all()
    table = found.program.messages
    for before, row in zip(path.rows[:-1].tolist(), path.rows[1:].tolist(), strict=True):
        begin, end = table.after_offsets[row : row + 2]
        assert before in table.after[begin:end]


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from([1e-3, 1e-2, 0.1]))
def test_a_tolerance_moves_ends_a_little_and_parts_stay_positive(data, tolerance):
    count = 40
    size = data.draw(st.lists(st.floats(1e3, 1e7), min_size=count, max_size=count))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    source = rng.integers(0, 4, count)
    entries = [(int(s), int((s + 1 + rng.integers(3)) % 4), b, []) for s, b in zip(source, size)]  # noqa: B905
    exact = run(timed(entries), topology("leaf-spine:2x1x2"), injection="shared")
    found = run(
        timed(entries), topology("leaf-spine:2x1x2"), injection="shared", tolerance=tolerance
    )
    assert found.finish == pytest.approx(exact.finish, rel=10 * tolerance)
    assert all((part >= 0).all() for part in found.critical_path.parts)
