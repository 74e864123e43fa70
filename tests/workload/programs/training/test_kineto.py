"""Records of the PyTorch profiler: sizes, groups, what follows what, and what is refused."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

import netloom as nl
from netloom import InputError
from netloom.workload.programs.training.rank_programs import RECEIVE, SEND
from netloom.workload.programs.training.recorded import read_kineto

if TYPE_CHECKING:
    from pathlib import Path


def kernel(ts: float, dur: float, **args: Any) -> dict[str, Any]:
    """Return a kernel of NCCL: ``coll``, ``n`` (in), ``out``, ``ranks``, and other notes."""
    ranks = args.pop("ranks", [0, 1])
    noted = {
        "Collective name": args.pop("coll", "allreduce"),
        "In msg nelems": args.pop("n", 1000),
        "Out msg nelems": args.pop("out", 1000),
        "dtype": args.pop("dtype", "Float"),
        "Group size": args.pop("size", len(ranks) if isinstance(ranks, list) else 2),
        "Process Group Ranks": str(ranks),
        **args,
    }
    return {
        "ph": "X",
        "cat": "kernel",
        "name": "ncclDevKernel",
        "ts": ts,
        "dur": dur,
        "args": noted,
    }


def other(ts: float, dur: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": "kernel", "name": "gemm", "ts": ts, "dur": dur, "args": {}, **more}


def written(folder: Path, *ranks: Any, **more: Any) -> str:
    for rank, events in enumerate(ranks):
        (folder / f"r{rank}.json").write_text(json.dumps({"traceEvents": events, **more}))
    return f"{folder}/r%d.json"


@pytest.mark.parametrize(
    ("args", "collective", "size"),
    [
        ({"coll": "allreduce", "dtype": "BFloat16"}, "all-reduce", 2000),
        ({"coll": "nccl:all_reduce"}, "all-reduce", 4000),
        ({"coll": "_allgather_base", "out": 2000}, "all-gather", 8000),
        ({"coll": "_reduce_scatter_base", "out": 500}, "reduce-scatter", 4000),
        ({"coll": "allgather_into_tensor_coalesced"}, "all-gather", 8000),
        ({"coll": "all_to_allv"}, "all-to-all", 4000),
        ({"coll": "broadcast", "dtype": "Long"}, "broadcast", 8000),
        ({"coll": "reduce", "dtype": "Byte"}, "reduce", 1000),
        ({"coll": "scatter", "out": 7}, "scatter", 56),
        ({"coll": "barrier"}, "barrier", 0),
    ],
)
def test_sizes(tmp_path: Path, args: dict[str, Any], collective: str, size: float) -> None:
    program = read_kineto(written(tmp_path, *[[kernel(0, 5, **args)]] * 2))
    assert [(c.collective, c.size_bytes, c.ranks) for c in program.calls] == [
        (collective, size, (0, 1))
    ]


def test_a_collective_follows_what_was_over(tmp_path: Path) -> None:
    """B and C begin while A runs, D once A and C are over: B is what the other two follow."""
    events = [
        other(0, 10),
        kernel(10, 100, pg="a"),
        kernel(20, 30, pg="b"),
        kernel(60, 40, pg="c"),
        kernel(130, 10, pg="d"),
        other(140, 25),
    ]
    shifted = [{**each, "ts": each["ts"] + 5000} for each in events]
    program = read_kineto(written(tmp_path, events, shifted))
    for first in (0, 5):
        after = [
            [each - first for each in program.after.values[a:b].tolist()]
            for a, b in zip(
                program.after.offsets[first : first + 4],
                program.after.offsets[first + 1 : first + 5],
                strict=True,
            )
        ]
        assert after == [[], [], [1], [2, 0]]
        assert program.seconds[first : first + 4] * 1e6 == pytest.approx([10, 20, 10, 20])
        assert program.seconds[first + 4] * 1e6 == pytest.approx(25)


def test_the_time_between_is_kept(tmp_path: Path) -> None:
    both = [other(0, 100), kernel(100, 50), other(150, 70), kernel(220, 40), other(260, 30)]
    found = nl.replay(
        "line:2", trace=f"kineto:{written(tmp_path, both, both)}",
        engine="flow", bandwidth="1GB/s", latency="1us",
    )  # fmt: skip
    ring = 2 * (2000 / 1e9 + 1e-6)
    assert found.finish == pytest.approx(200e-6 + 2 * ring)


def test_sends_and_receives(tmp_path: Path) -> None:
    send = kernel(0, 5, coll="send", **{"Dst Rank": 1})
    get = kernel(0, 9, coll="recv", **{"Src Rank": 0})
    program = read_kineto(written(tmp_path, [send], [get]))
    assert program.kind.tolist()[::2] == [SEND, RECEIVE]
    assert program.link[2] == 0
    assert program.bytes[0] == 4000
    with pytest.raises(InputError, match="without a receive"):
        read_kineto(written(tmp_path, [send], [kernel(0, 1, coll="recv", **{"Src Rank": 1})]))


def test_unequal_parts_of_an_all_to_all(tmp_path: Path) -> None:
    ranks = [
        [kernel(0, 5, coll="all_to_allv", n=100, **{"In split size": split})]
        for split in ("[1, 3]", "[]")
    ]
    call = read_kineto(written(tmp_path, *ranks)).calls[0]
    assert call.pair_bytes is not None
    assert call.pair_bytes.tolist() == [[100, 300], [200, 200]]
    assert read_kineto(written(tmp_path, *[ranks[1]] * 2)).calls[0].pair_bytes is None


def test_groups_that_are_cut_short_are_continued(tmp_path: Path) -> None:
    ranks = [
        [kernel(0, 5, ranks="[0, 2, ..., 6]", size=4)],
        [kernel(0, 5, ranks="[1, 3, ...]", size=4)],
    ] * 4
    program = read_kineto(written(tmp_path, *ranks))
    assert sorted(call.ranks for call in program.calls) == [(0, 2, 4, 6), (1, 3, 5, 7)]
    for bad in ("[0, 2, ..., 7]", "[0, 1, 3, ...]", "[0, ...]"):
        with pytest.raises(InputError, match="cut short"):
            read_kineto(written(tmp_path, *[[kernel(0, 5, ranks=bad, size=4)]] * 8))
    start = {"Global rank start": 0, "Global rank stride": 1}
    found = read_kineto(written(tmp_path, *[[kernel(0, 5, ranks="[]", size=8, **start)]] * 8))
    assert found.calls[0].ranks == tuple(range(8))


def test_one_record_speaks_for_all_if_its_groups_are_of_all(tmp_path: Path) -> None:
    written(tmp_path, [kernel(0, 5, ranks=[0, 1, 2, 3])], distributedInfo={"world_size": 4})
    assert read_kineto(tmp_path / "r0.json").num_ranks == 4
    written(tmp_path, [kernel(0, 5)], distributedInfo={"world_size": 4})
    with pytest.raises(InputError, match="a group of 2 of 4 ranks; expected a record per rank"):
        read_kineto(tmp_path / "r0.json")


def test_notes_elsewhere_repeat_those_of_kernels(tmp_path: Path) -> None:
    call = kernel(10, 5)
    note = {**call, "cat": "cpu_op", "name": "record_param_comms", "ts": 1}
    wait = {**note, "args": {"Collective name": "wait"}}
    assert len(read_kineto(written(tmp_path, [note, wait, call], [call])).calls) == 1
    assert len(read_kineto(written(tmp_path, [note, wait], [call])).calls) == 1
    packed = tmp_path / "r0.json"
    packed.write_bytes(gzip.compress(packed.read_bytes()))
    assert len(read_kineto(f"{tmp_path}/r%d.json").calls) == 1


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "no NCCL events with 'Collective name'"),
        ([kernel(0, 1, coll="tango")], r"event 0 \('ncclDevKernel'\): found 'Collective name'"),
        ([kernel(0, 1, dtype="Quad")], "found dtype 'Quad'; expected Byte"),
        ([kernel(0, 1, n=-1)], "found 'In msg nelems' -1; expected a whole number"),
        ([kernel(0, 1, n=None)], "found no 'In msg nelems'"),
        ([kernel(0, 1, size=9)], "'Group size' 9; expected 1 to 2"),
        ([kernel(0, 1, ranks=[0, 5])], "found rank 5; expected 0 to 1"),
        ([kernel(0, 1, ranks=[1])], "a group without rank 0"),
        ([kernel(0, 1, ranks="[a]")], "a list of whole numbers"),
        ([kernel(0, 1), other(3, 1, name="ncclKernel_X")], "event 1 .*found no 'Collective name'"),
        ([kernel(0, 1, coll="send", **{"Dst Rank": 3})], "send with rank 3"),
        ([kernel(0, 1, coll="send")], "found no 'Dst Rank'"),
        ([kernel(0, 1, coll="all_to_all", **{"In split size": "[1, 2, 3]"})], "3 splits for 2"),
        ([kernel(0, 1, coll="all_to_all", **{"In split size": "[1, ...]"})], "cut short"),
        ([kernel(0, 1, n=999)], "of 4000 bytes; expected 3996"),
        ([kernel(0, 1), kernel(2, 1)], "call 2 of its group, of which rank 1 makes 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, events: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_kineto(written(tmp_path, events, [kernel(0, 1)]))
    assert "\n" not in str(caught.value)
