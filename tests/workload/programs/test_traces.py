from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from netloom.base.errors import InputError, NotAMappingError
from netloom.topology import mesh, torus
from netloom.workload.programs.trace_files import read_trace
from netloom.workload.programs.traces import EVERYONE
from tests.reference.agenda import Agenda

HALO = Path(__file__).parents[3] / "examples" / "halo.csv"


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


def test_a_multicast_waits_and_is_waited_for_as_a_whole(file):
    text = HEAD + "x,,7,5,,\na,x,2,5,0;3;15,5\nb,a x,,0,*,1\n"
    program = read_trace(file(text)).placed(torus(4, 4), range(16))
    rows = replayed(program.messages)
    times = {
        entry: [
            (row.ready, row.complete)
            for row, which in zip(rows, program.entry.tolist(), strict=True)
            if which == entry
        ]
        for entry in range(3)
    }
    assert times[1][0] == (7, 9)
    assert min(ready for ready, _ in times[1][1:]) == 9
    assert times[2][0][0] == max(complete for _, complete in times[1])
    targets = program.messages.target[program.entry == 2][1:]
    assert sorted(targets.tolist()) == list(range(1, 16))


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
        ([0, 1], "mapping: found nodes for 2 tasks; expected the 64 tasks of .*halo.csv"),
        ([0] * 63 + [64], "mapping: found node 64 for task 63; expected 0 to 63"),
    ],
)
def test_every_task_needs_a_node(node_of, message):
    with pytest.raises(NotAMappingError, match=message):
        read_trace(HALO).placed(torus(4, 4, 4), node_of)
