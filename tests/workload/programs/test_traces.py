"""Traces: tables and GOAL, in cycles and in seconds, read and put on nodes."""

from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError, NotAMappingError
from netloom.topology import mesh, torus
from netloom.workload.programs.messages import lists as listed
from netloom.workload.programs.trace_files import read_goal, read_trace
from netloom.workload.programs.traces import EVERYONE, TIMES, ordered_trace
from tests.reference.agenda import Agenda

HALO = Path(__file__).parents[3] / "examples" / "halo.csv"
ALLREDUCE = HALO.with_name("allreduce.goal")


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        read_trace(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


def replayed(table, cycles_of=lambda row: 10 + row.flits):
    """All rows, once messages have gone through a network without contention."""
    agenda = Agenda(table.num_nodes)
    agenda.append(table, 0)
    while agenda.events:
        for number in agenda.run(agenda.events[0][0]):
            row = agenda.rows[number]
            agenda.put(row.sent + cycles_of(row), number, 2)
    assert agenda.completed == len(table)
    return agenda.rows


def lists(found):
    ends = found.offsets.tolist()
    return [found.values[a:b].tolist() for a, b in pairwise(ends)]


def test_a_table_with_everything(file):
    path = file(
        "# a comment\n"
        "# tasks: 5\n"
        "target, id ,time,after,compute,source,flits,receive,hold,remark\n"
        "1,a,7,,100,0,8,2,3,first\n"
        "\n"
        "2;3,b,,a,,1,4,,,\n"
        "# between\n"
        "*,c,0,b a,5,3,1,,,\n"
        ",d,,c;a;c,9,4,,,,last\n"
    )
    trace = read_trace(path)
    assert (trace.name, trace.num_tasks, trace.ids) == (str(path), 5, ("a", "b", "c", "d"))
    assert trace.start.tolist() == [7, 0, 0, 0]
    assert trace.run.tolist() == [100, 0, 5, 9]
    assert trace.hold.tolist() == [3, 0, 0, 0]
    assert trace.receive.tolist() == [2, 0, 0, 0]
    assert trace.source.tolist() == [0, 1, 3, 4]
    assert trace.flits.tolist() == [8, 4, 1, 0]
    assert lists(trace.targets) == [[1], [2, 3], [EVERYONE], []]
    assert lists(trace.after) == [[], [0], [1, 0], [2, 0]]


def test_rows_may_come_in_any_order_and_move_no_more_than_needed(file):
    rows = ["e,,0,1,1", "d,b,0,1,1", "c,,0,1,1", "b,a c,0,1,1", "a,,0,1,1"]
    trace = read_trace(file("id,after,source,target,flits\n" + "\n".join(rows)))
    assert trace.ids == ("e", "c", "a", "b", "d")
    assert lists(trace.after) == [[], [], [], [2, 1], [3]]


def test_bytes_are_cut_into_flits_and_nothing_is_shorter_than_one(file):
    path = file("id,source,target,bytes\na,0,1,16\nb,0,1,17\nc,0,1,0\nd,0,,\n")
    assert read_trace(path, flit_bytes=8).flits.tolist() == [2, 3, 1, 0]
    assert refused(path) == (
        "trace.csv: found bytes; expected flits, or how many bytes a flit has (flit_bytes)"
    )


HEAD = "id,after,compute,source,target,flits\n"


def test_mistakes_of_other_files(tmp_path):
    assert "no.csv: found no such file; expected a trace" in refused(tmp_path / "no.csv")
    assert "no.parquet: found no such file" in refused(tmp_path / "no.parquet")
    (tmp_path / "bad.parquet").write_text("PAR1")
    assert "bad.parquet: found unreadable Parquet" in refused(tmp_path / "bad.parquet")
    table = {"id": ["a", "b"], "source": [0, 1], "after": ["", "c"]}
    pl.DataFrame(table).write_parquet(tmp_path / "lost.parquet")
    assert "lost.parquet, row 2: found 'c' in after" in refused(tmp_path / "lost.parquet")


def test_parquet_may_hold_numbers_and_lists(tmp_path):
    path = tmp_path / "trace.parquet"
    pl.DataFrame(
        {
            "id": [10, 11, 12],
            "after": [None, [10], [11, 10]],
            "source": [0, 1, 2],
            "target": [[1, 2], [2], None],
            "flits": [4.0, 5.0, None],
            "compute_cycles": [1, None, 3],
        }
    ).write_parquet(path)
    trace = read_trace(path)
    assert trace.ids == ("10", "11", "12")
    assert lists(trace.after) == [[], [0], [1, 0]]
    assert lists(trace.targets) == [[1, 2], [2], []]
    assert trace.flits.tolist() == [4, 5, 0]
    assert trace.run.tolist() == [1, 0, 3]


def test_replayed_times_are_those_worked_out_by_hand(file):
    path = file(
        HEAD.replace("flits", "flits,receive")
        + "a,,100,0,1,5,\n"  # sent at 100, arrives 15 later
        + "b,,30,0,2,1,\n"  # the processor is free at 100: sent at 130, arrives at 141
        + "c,a b,10,1,0,5,4\n"  # released at 141: sent at 151, arrives at 166, received at 170
        + "d,c,,0,0,9,\n"  # to itself: at once
        + "e,d,50,0,,,\n"
    )
    program = read_trace(path).placed(mesh(4), [3, 1, 0])
    table = program.messages
    assert table.source.tolist() == [3, 3, 1, 3, 3]
    assert table.target.tolist() == [1, 0, 3, 3, 3]
    assert program.entry.tolist() == [0, 1, 2, 3, 4]
    rows = replayed(table)
    assert [row.sent for row in rows] == [100, 130, 151, 170, 220]
    assert [row.complete for row in rows] == [115, 141, 170, 170, 220]


def test_a_multicast_is_complete_when_all_have_it(file):
    path = file(HEAD + "a,,100,0,1 2 3,5\nb,a,1,3,*,1\nc,b,,2,0,1\n")
    program = read_trace(path).placed(mesh(2, 2), [0, 1, 2, 3])
    rows = replayed(program.messages)
    ends = [
        max(row.complete for row, entry in zip(rows, program.entry, strict=True) if entry == which)
        for which in range(3)
    ]
    assert np.bincount(program.entry).tolist() == [4, 4, 1]
    assert ends == [130, 131 + 2 * 11, 131 + 2 * 11 + 11]
    assert rows[0].complete == 100  # computed once, then three copies
    assert sorted(row.complete for row in rows[1:4]) == [115, 115, 130]


def test_tasks_may_share_nodes(file):
    text = HEAD + "a,,10,0,1 2,5\nb,a,10,1,*,5\nc,b,1,2,*,1\n"
    alone = read_trace(file(text)).placed(mesh(2), [1, 1, 1])
    assert [row.complete for row in replayed(alone.messages)] == [10, 20, 21]
    two = read_trace(file(text)).placed(mesh(2), [0, 1, 1])
    assert [row.complete for row in replayed(two.messages)] == [10, 25, 35, 50, 51, 62]


def test_a_program_is_all_there_from_the_beginning(file):
    program = read_trace(HALO).placed(torus(4, 4, 4), range(64))
    table = program.extend(np.empty(0, np.int64), 10)
    assert table is program.messages
    rest = program.extend(np.full(len(table), -1), 20)
    assert (len(rest), rest.first, program.num_nodes) == (0, len(table), 64)


@pytest.mark.parametrize(
    ("node_of", "message"),
    [
        ([0, 1], "mapping: found 2 nodes for 64 tasks; expected one node for each task"),
        ([0] * 63 + [64], "mapping: found task 63 on host 64; expected hosts 0 to 63"),
    ],
)
def test_every_task_needs_a_node(node_of, message):
    with pytest.raises(NotAMappingError, match=message):
        read_trace(HALO).placed(torus(4, 4, 4), node_of)


# -- GOAL ------------------------------------------------------------------------------------------


def ranks(*programs):
    parts = [f"rank {i} {{\n{text.strip()}\n}}\n" for i, text in enumerate(programs)]
    return f"num_ranks {len(programs)}\n" + "".join(parts)


def times(trace, latency=20):
    """(ready, sent, complete) of every entry, each rank on a node of its own."""
    program = trace.placed(mesh(trace.num_tasks), range(trace.num_tasks))
    rows = replayed(program.messages, lambda row: latency)
    return {
        trace.ids[entry]: (row.ready, row.sent, row.complete)
        for row, entry in zip(rows, program.entry.tolist(), strict=True)
    }


def test_a_send_is_complete_after_its_overhead_and_a_receive_after_the_message(file):
    text = ranks(
        "a: calc 100\nb: send 64b to 1 tag 5 cpu 0 nic 1\nc: calc 7\nb requires a\nc requires b",
        "d: recv 64b from 0 tag 5\ne: calc 3\ne requires d",
    )
    trace = read_goal(file(text), flit_bytes=10, overhead=4, gap=15)
    assert trace.ids == ("0.a", "0.b", "0.b>1", "0.c", "1.d", "1.e")
    assert trace.flits.tolist() == [0, 0, 7, 0, 0, 0]
    assert trace.run.tolist() == [100, 4, 0, 7, 4, 3]
    assert trace.hold.tolist() == [0, 11, 0, 0, 0, 0]
    found = times(trace)
    assert found["0.b"][2] == 104
    assert found["0.b>1"] == (104, 104, 124)
    assert found["0.c"] == (104, 115 + 7, 122)  # the gap is over at 115
    assert found["1.d"] == (124, 128, 128)
    assert found["1.e"][2] == 131


def test_a_receive_waits_for_what_it_requires_too(file):
    text = ranks("send 1b to 1", "a: calc 500\nb: recv 1b from 0\nb requires a")
    trace = read_goal(file(text), flit_bytes=8, overhead=2)
    assert trace.ids[0] == "0.@1"
    assert times(trace)["1.b"] == (500, 502, 502)


def test_irequires_waits_for_what_the_other_waits_for_only(file):
    program = "a: calc 50\nb: calc 100\nc: calc 9\nb requires a\nc {} b"
    started = times(read_goal(file(ranks(program.format("irequires"))), flit_bytes=8))
    assert (started["0.c"][0], started["0.c"][2]) == (50, 159)  # one processor does both
    ended = times(read_goal(file(ranks(program.format("requires"))), flit_bytes=8))
    assert ended["0.c"][0] == 150
    posted = ranks("r: recv 8b from 1\nc: calc 9\nc irequires r", "w: calc 90\nsend 8b to 0")
    found = times(read_goal(file(posted.replace("send", "s: send") + ""), flit_bytes=8))
    assert found["0.c"][2] == 9  # while the receive waits
    assert found["0.r"][2] >= 20


def test_sends_and_receives_of_a_pair_and_tag_match_in_order(file):
    text = ranks(
        "a: send 8b to 1 tag 1\nb: send 16b to 1 tag 2\nc: send 24b to 1 tag 1",
        "x: recv 8b from 0 tag 2\ny: recv 8b from 0 tag 1\nz: recv 8b from 0 tag 1",
    )
    trace = read_goal(file(text), flit_bytes=8)
    messages = {
        trace.ids[entry]: [trace.ids[other] for other in waited]
        for entry, waited in enumerate(lists(trace.after))
    }
    assert messages["1.x"] == ["0.b>1"]
    assert messages["1.y"] == ["0.a>1"]
    assert messages["1.z"] == ["0.c>1"]


def test_receives_from_any_source_get_what_is_left_over(file):
    text = ranks(
        "a: recv 8b from -1 tag -1\nb: recv 8b from -1 tag 7\nc: recv 8b from 1 tag -1\n"
        "d: recv 8b from 1 tag 7",
        "e: calc 5\nf: send 8b to 0 tag 7\ng: send 8b to 0 tag 3",
        "h: send 8b to 0 tag 7\ni: calc 1\nj: calc 1\nk: calc 1\nl: send 8b to 0 tag 9",
    )
    trace = read_goal(file(text), flit_bytes=8)
    got = {
        trace.ids[entry]: trace.ids[waited[0]]
        for entry, waited in enumerate(lists(trace.after))
        if trace.ids[entry] in ("0.a", "0.b", "0.c", "0.d")
    }
    assert got == {"0.d": "1.f>0", "0.c": "1.g>0", "0.b": "2.h>0", "0.a": "2.l>0"}


def test_calculations_have_units_and_comments_are_left_out(file):
    text = "/* num_ranks 7\n\n*/ num_ranks 1 // one\n\nrank 0 { // it\n a : calc 11 cpu 0\r\n}\n"
    trace = read_goal(file(text), flit_bytes=8, calc=2.5)
    assert trace.run.tolist() == [28]
    assert repr(trace).endswith("trace.csv: 1 tasks, 0 messages, 1 entries>")


def test_the_example_is_an_allreduce():
    trace = read_goal(ALLREDUCE, flit_bytes=16, overhead=10)
    found = times(trace, latency=70)
    assert np.count_nonzero(trace.flits) == 24
    assert set(trace.flits.tolist()) == {0, 64}
    # Rank 3 is farthest from rank 4, which starts late, and first receives what came meanwhile.
    ends = {rank: found[f"{rank}.add2"][2] for rank in range(8)}
    assert max(ends.values()) == ends[3] == 1250 + 10 + 3 * (10 + 70 + 10 + 64)
    assert found["4.recv0"][2] == 1260


def test_a_circle_is_printed_across_ranks(file):
    text = ranks(
        "a: send 8b to 1\nb: recv 8b from 1\na requires b",
        "c: send 8b to 0\nd: recv 8b from 0\nc requires d",
    )
    with pytest.raises(InputError) as caught:
        read_goal(file(text), flit_bytes=8)
    circle = "0.a -> 0.b -> 1.c>0 -> 1.c -> 1.d -> 0.a>1 -> 0.a"
    assert f":3: found a circle of entries that each wait for the next: {circle};" in str(
        caught.value
    )


# -- in seconds and bytes --------------------------------------------------------------------------


TIMED_HEAD = "id,time_seconds,compute_seconds,source,target,bytes\n"


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
    path = file(TIMED_HEAD + "a,1.4e-9,2.6e-9,0,1,129\nb,,,0,1,128\nc,3e-9,,0,,\n")
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
