from pathlib import Path

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import mesh
from netloom.workload.programs.trace_files import read_goal
from tests.workload.programs.test_traces import lists, replayed

ALLREDUCE = Path(__file__).parents[3] / "examples" / "allreduce.goal"


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


GOOD = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n"


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


@pytest.mark.parametrize(
    ("name", "value"),
    [("flit_bytes", 0), ("overhead_cycles", -1), ("gap_cycles", 2**31), ("calc_cycles", np.nan)],
)
def test_parameters_out_of_range(file, name, value):
    with pytest.raises(InputError, match=f"^{name}: found {value}; expected"):
        read_goal(file(GOOD), **{"flit_bytes": 8, name.removesuffix("_cycles"): value})
