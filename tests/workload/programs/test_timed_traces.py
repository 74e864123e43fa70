"""Traces in seconds and bytes: read, written, turned into cycles, and put on nodes."""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.topology import mesh
from netloom.workload.programs.messages import lists as listed
from netloom.workload.programs.trace_files import read_goal, read_trace
from netloom.workload.programs.traces import TIMES, ordered_trace
from tests.workload.programs.test_traces import lists, refused

HALO = Path(__file__).parents[3] / "examples" / "halo.csv"
ALLREDUCE = HALO.with_name("allreduce.goal")
HEAD = "id,time_seconds,compute_seconds,source,target,bytes\n"


def test_a_table_in_seconds_has_seconds_and_bytes(file):
    path = file(
        "id,after,time_seconds,compute_seconds,hold_seconds,receive_seconds,source,target,bytes\n"
        "a,,1.5e-6,2E-3,,0.25,0,1,1e6\nb,a,,,1e-9,,1,2;3,2.5\nc,b,,3,,,0,,\nd,,,,,,0,1,0\n"
    )
    trace = read_trace(path)
    assert (trace.unit, trace.flit_bytes, trace.num_tasks) == ("seconds", 1, 4)
    assert trace.start.tolist() == [1.5e-6, 0, 0, 0]
    assert trace.run.tolist() == [2e-3, 0, 3, 0]
    assert trace.hold.tolist() == [0, 1e-9, 0, 0]
    assert trace.receive.tolist() == [0.25, 0, 0, 0]
    assert trace.flits.tolist() == [1e6, 2.5, 0, 1]  # a message has a byte at least
    assert {getattr(trace, name).dtype for name in (*TIMES, "flits")} == {np.dtype(float)}
    assert lists(trace.targets) == [[1], [2, 3], [], [1]]
    assert read_trace(path, flit_bytes=64).flits.tolist() == trace.flits.tolist()


def test_bytes_without_times_are_of_either_unit(file):
    path = file("id,source,target,bytes\na,0,1,100\n")
    cut = read_trace(path, flit_bytes=64)
    assert (cut.unit, cut.flits.tolist()) == ("cycles", [2])
    whole = read_trace(path, unit="seconds")
    assert (whole.unit, whole.flits.tolist()) == ("seconds", [100])
    assert read_trace(path, unit="seconds", flit_bytes=64).flits.tolist() == [100]
    for columns in ("time,bytes", "compute,bytes", "time,flits"):
        path = file(f"id,source,target,{columns}\na,0,1,5,100\n")
        assert read_trace(path, unit="seconds", flit_bytes=50).unit == "cycles"


def test_bytes_may_have_units(file):
    path = file("id,source,target,bytes\na,0,1,1MB\nb,0,1,64 KiB\nc,0,1,1.5kB\nd,0,1,0.5B\n")
    assert read_trace(path, unit="seconds").flits.tolist() == [1e6, 65536, 1500, 1]
    assert "trace.csv:5: found bytes '0.5'; expected a whole number" in refused(path, flit_bytes=8)
    whole = file("id,source,target,bytes\na,0,1,1MB\nb,0,1,64 KiB\n")
    assert read_trace(whole, flit_bytes=64).flits.tolist() == [15625, 1024]
    wrong = refused(file("id,source,target,bytes\na,0,1,1ZB\n"), unit="seconds")
    assert "trace.csv:2: found '1ZB', whose unit is not known here; expected bytes" in wrong
    bits = refused(file("id,source,target,bytes\na,0,1,8Mb\n"), unit="seconds")
    assert "trace.csv:2: found bytes '8Mb'" in bits


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_parquet_holds_no_other_numbers_than_text(tmp_path, value):
    path = tmp_path / "some.parquet"
    table = {"id": ["a", "b"], "source": [0, 1], "compute_seconds": [1e-7, value]}
    pl.DataFrame(table).write_parquet(path)
    assert "some.parquet, row 2: found compute_seconds" in refused(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_tables_are_read_to_the_last_bit(tmp_path, suffix):
    rng = np.random.default_rng(5)
    count = 200
    table = pl.DataFrame(
        {
            "id": np.arange(count),
            "source": rng.integers(0, 8, count),
            "target": rng.integers(0, 8, count),
            **{
                name: rng.random(count) * 10.0 ** rng.integers(-12, 8, count)
                for name in ("time_seconds", "compute_seconds", "hold_seconds", "receive_seconds")
            },
            "bytes": 1 + rng.random(count) * 10.0 ** rng.integers(0, 15, count),
        }
    )
    path = tmp_path / f"trace.{suffix}"
    if suffix == "parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if suffix == "tsv" else ",")
    found = read_trace(path)
    assert found.unit == "seconds"
    columns = ("time_seconds", "compute_seconds", "hold_seconds", "source", "bytes")
    for name, column in zip(("start", "run", "hold", "source", "flits"), columns, strict=True):
        assert getattr(found, name).tolist() == table[column].to_list()
    assert lists(found.targets) == [[target] for target in table["target"].to_list()]


def test_cycles_are_the_nearest_and_flits_whole(file):
    path = file(HEAD + "a,1.4e-9,2.6e-9,0,1,129\nb,,,0,1,128\nc,3e-9,,0,,\n")
    trace = read_trace(path).in_cycles(1e-9, 64)
    assert (trace.unit, trace.flit_bytes) == ("cycles", 64)
    assert trace.start.tolist() == [1, 0, 3]
    assert trace.run.tolist() == [3, 0, 0]
    assert trace.flits.tolist() == [3, 2, 0]
    assert (trace.start.dtype, trace.run.dtype, trace.flits.dtype) == (np.int64, np.int32, np.int32)
    with pytest.raises(InputError, match=r"found 2.6e\+09 cycles in entry 'a'; expected at most 2"):
        read_trace(path).in_cycles(1e-18, 64)


def test_a_trace_of_cycles_in_seconds_and_back_is_itself():
    for trace in (read_trace(HALO), read_goal(ALLREDUCE, flit_bytes=8, overhead=3)):
        seconds = trace.in_seconds(0.3e-9, 24)
        assert seconds.unit == "seconds"
        assert seconds.run.tolist() == (trace.run * 0.3e-9).tolist()
        assert seconds.in_seconds(1, 1) is seconds
        back = seconds.in_cycles(0.3e-9, 24)
        for name in (*TIMES, "flits"):
            assert (getattr(back, name) == getattr(trace, name)).all()
            assert getattr(back, name).dtype == getattr(trace, name).dtype


def test_goal_in_seconds_has_its_bytes_and_nanoseconds(file):
    path = file(
        "num_ranks 2\nrank 0 {\nl1: calc 3\nl2: send 10b to 1\nl3: send 0b to 1 tag 1\n"
        "l2 requires l1\n}\nrank 1 {\nrecv 10b from 0\nrecv 0b from 0 tag 1\n}\n",
        "pair.goal",
    )
    trace = read_goal(path, overhead=1.5e-6, gap=2e-6)
    assert trace.unit == "seconds"
    assert trace.ids == ("0.l1", "0.l2", "0.l2>1", "0.l3", "0.l3>1", "1.@1", "1.@2")
    assert trace.run == pytest.approx([3e-9, 1.5e-6, 0, 1.5e-6, 0, 1.5e-6, 1.5e-6], rel=1e-15)
    assert trace.hold == pytest.approx([0, 0.5e-6, 0, 0.5e-6, 0, 0, 0], rel=1e-15)
    assert trace.flits.tolist() == [0, 0, 10, 0, 1, 0, 0]
    assert read_goal(path, calc=2).run[0] == 6
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="gap_seconds: found"):
            read_goal(path, gap=wrong)
    with pytest.raises(InputError, match=r"pair.goal:3: found 3000000000 seconds; exp"):
        read_goal(path, calc=1e9)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 20), st.sampled_from([1.0, 2.0**-30, 3e-10]))
def test_rows_go_in_the_order_of_cycles_if_a_cycle_is_a_byte(data, count, cycle):
    def drawn(low, high):
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    columns = {name: drawn(0, 9) for name in TIMES}
    columns |= {"source": drawn(0, 3), "flits": drawn(1, 9)}
    after = [
        data.draw(st.lists(st.integers(0, row - 1), max_size=2, unique=True)) if row else []
        for row in range(count)
    ]
    targets = [[task] for task in drawn(0, 3).tolist()]
    trace = ordered_trace(
        "drawn", 4, [*map(str, range(count))], columns, listed(targets), listed(after), str
    )
    plain = trace.placed(mesh(4), range(4))
    timed = trace.in_seconds(cycle, 1).placed(mesh(4), range(4), flit_time=cycle)
    assert timed.entry.tolist() == plain.entry.tolist()
    assert (timed.messages.after == plain.messages.after).all()
    for name in ("start", "run", "receive"):
        values = getattr(timed.messages, name)
        assert (values == getattr(plain.messages, name) * cycle).all()


def test_times_of_any_size_have_an_order(file):
    rows = [f"e{i},{'' if i % 2 else f'e{i + 1}'},1e9,0\n" for i in range(0, 40, 2)]
    rows += [f"e{i},,1e-12,0\n" for i in range(1, 41, 2)]
    trace = read_trace(file("id,after,compute_seconds,source\n" + "".join(rows)))
    program = trace.placed(mesh(2), [0], flit_time=1e-12)
    waits = program.messages.waits()
    assert (program.messages.after < waits).all()
    assert sorted(trace.ids[entry] for entry in program.entry[:20]) == sorted(
        f"e{i}" for i in range(1, 41, 2)
    )
