"""Logs of measured collectives: real ones, written ones read again, and broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from netloom import InputError
from netloom.machines.logs import read_logs

ALL_REDUCE = Path(__file__).parents[2] / "examples" / "all-reduce-8xa100.log"
ALL_TO_ALL = Path(__file__).parent / "data" / "alltoall-8xa100.log"

HEAD = """\
# nccl-tests version 2.18.3 nccl-headers=23003 nccl-library=23003
# Collective test starting: {program}_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes {most} step: 2(factor) warmup iters: 1 iters: 20
# Using devices
{ranks}
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time  \
 algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  \
(GB/s)  (GB/s)
"""
TAIL = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.0\n#\n"
OSU = "# OSU MPI {} Latency Test v7.5\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n{}"


def _row(size: int, us: float, wrong: str = "0") -> str:
    half = f"{us:.4f} {size / us / 1e3:.2f} {size / us / 1e3 * 1.75:.2f}"
    return f"{size} {size // 4} float sum -1 {half} {wrong} {half} 0\n"


def _text(rows: list[tuple[int, float]], program: str = "all_reduce", ranks: int = 4) -> str:
    of = "\n".join(
        f"#  Rank {n:2} Group  0 Pid   99 on  host{n // 2} device {n % 2:2} [0000:04:00] H100"
        for n in range(ranks)
    )
    head = HEAD.format(program=program, most=max(size for size, _ in rows), ranks=of)
    return head + "".join(_row(*each) for each in rows) + TAIL


def _read(tmp_path: Path, text: str, name: str = "a.log"):
    file = tmp_path / name
    file.write_text(text)
    return read_logs(file)


def _refused(tmp_path: Path, text: str, name: str = "a.log") -> str:
    with pytest.raises(InputError) as error:
        _read(tmp_path, text, name)
    return str(error.value).replace(f"{tmp_path}/", "")


def test_an_old_log_of_nccl_tests_does_not_name_its_collective():
    (found,) = read_logs(ALL_REDUCE)
    assert (found.collectives, found.ranks, set(found.hosts)) == (("all-reduce",), 8, {"localhost"})
    assert len(found.rows) == 32  # without rows of no data
    assert found.rows[-1] == (50, 8589934592, pytest.approx(0.063896))
    (found,) = read_logs(ALL_TO_ALL)
    assert found.collectives == ("all-gather", "all-to-all")
    assert found.rows[0].size == 32


@pytest.mark.parametrize("path", [ALL_REDUCE, ALL_TO_ALL])
def test_a_log_that_is_cut_is_refused_unless_all_its_rows_are_there(tmp_path, path):
    lines = path.read_text().splitlines()
    last = max(at for at, line in enumerate(lines) if not line.startswith("#"))
    for count in range(1, len(lines) + 1):
        text = "\n".join(lines[:count])
        if count > last:
            assert len(_read(tmp_path, text)[0].rows) == len(read_logs(path)[0].rows)
        else:
            assert _refused(tmp_path, text).startswith("a.log")


def test_a_log_that_is_cut_within_a_row_is_refused_with_its_line(tmp_path):
    whole = ALL_REDUCE.read_text()
    row = whole.splitlines()[40]
    for end in range(len(row) - len(row.lstrip()) + 1, len(row)):
        text = "\n".join([*whole.splitlines()[:40], row[:end]])
        said = _refused(tmp_path, text)
        assert said.startswith("a.log:41: "), said


def test_what_was_cut_and_where_is_said(tmp_path):
    said = _refused(tmp_path, "\n".join(ALL_REDUCE.read_text().splitlines()[:30]))
    assert said == (
        "a.log:30: found the end of the log after 8.19 kB; "
        "expected rows up to 8.59 GB and the average: the log was cut"
    )


@given(
    st.dictionaries(st.integers(3, 32), st.floats(1, 1e6), min_size=1, max_size=9),
    st.sampled_from(["all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast"]),
    st.integers(2, 40),
)
def test_what_is_written_is_read(tmp_path_factory, times, program, ranks):
    folder = tmp_path_factory.mktemp("logs")
    rows = [(2**power, round(us, 4)) for power, us in sorted(times.items())]
    (found,) = _read(folder, _text(rows, program, ranks))
    assert found.ranks == ranks
    assert found.library == "nccl-tests version 2.18.3 nccl-library=23003"
    assert [(each.size, each.seconds) for each in found.rows] == [
        (size, pytest.approx(us * 1e-6)) for size, us in rows
    ]
    results = [
        {"size": size, "out_of_place": {"time": us, "alg_bw": size / us / 1e3, "nwrong": 0.0}}
        for size, us in rows
    ]
    devices = [{"rank": rank, "hostname": f"host{rank // 2}"} for rank in range(ranks)]
    said = {
        "args": [f"./build/{program}_perf", "-J", "a"], "env": ["NCCL_ALGO=Tree"],
        "config": {"nthreads": 1, "ngpus": 1, "devices": devices}, "results": results,
    }  # fmt: skip
    (also,) = _read(folder, json.dumps(said))
    assert (also.collectives, also.hosts) == (found.collectives, found.hosts)
    assert also.rows == tuple(each._replace(line=1) for each in found.rows)
    assert (found.algorithm, also.algorithm) == ("", "tree")


def test_json_says_one_device_a_process(tmp_path):
    said = {
        "args": ["all_reduce_perf"], "nccl_version": 22606,
        "config": {"nthreads": 1, "ngpus": 8, "devices": [{"rank": 0, "hostname": "a"},
                                                          {"rank": 8, "hostname": "b"}]},
        "results": [{"size": 8, "out_of_place": None},
                    {"size": 1024, "out_of_place": {"time": 2.0, "alg_bw": 0.512}}],
    }  # fmt: skip
    text = json.dumps(said)
    (found,) = _read(tmp_path, text)
    assert (found.ranks, found.hosts[7:9], len(found.rows)) == (16, ("a", "b"), 1)
    assert found.library == "nccl-tests, NCCL 22606"
    for end in range(1, len(text)):
        assert _refused(tmp_path, text[:end]).startswith("a.log")


def test_wrong_results_and_mixed_units_are_refused(tmp_path):
    rows = [(1024, 20.0), (2048, 21.0)]
    text = _text(rows)
    wrong = text.replace(_row(*rows[1]), _row(*rows[1], wrong="7"))
    assert _refused(tmp_path, wrong) == (
        "a.log:12: found 7 wrong values at 2.05 kB; expected a run without errors"
    )
    big = [(2**30, 4000.0)]
    text = _text(big)
    gibi = text.replace("268.44", "250.00")
    assert "(is that GiB/s?)" in _refused(tmp_path, gibi)
    assert "(is that ms beside GB/s?)" in _refused(tmp_path, text.replace("4000.0000", "4.0000"))
    said = _refused(tmp_path, text.replace("(us)", "(ms)"))
    assert said.startswith("a.log:10: found columns in ms")


def test_times_of_processors_and_of_several_groups_are_refused(tmp_path):
    text = _text([(1024, 20.0)])
    said = _refused(tmp_path, text.replace(" time ", " cputime "))
    assert said == (
        "a.log:9: found times of processors (-C); expected times of one collective at a time"
    )
    assert "found several groups" in _refused(tmp_path, text.replace("Group  0", "Group  1", 1))


def test_long_times_have_two_digits(tmp_path):
    row = "8589934592 2147483648 float sum -1 1.1e+07 0.80 1.20 0 1.1e+07 0.80 1.20 0\n"
    text = _text([(2**33, 1.1e7)]).replace(_row(2**33, 1.1e7), row)
    assert _read(tmp_path, text)[0].rows[0].seconds == pytest.approx(11)
    assert "found 0.73 GB/s" in _refused(tmp_path, text.replace("0.80", "0.73"))


def test_tags_of_launchers_forced_algorithms_and_several_runs(tmp_path):
    one = _text([(1024, 20.0)], ranks=2)
    forced = "a:1:1 [0] NCCL INFO NCCL_ALGO set by environment to allreduce:tree\n"
    two = "".join(f"0: {each}\n" for each in _text([(4096, 9.0)], "alltoall").splitlines())
    first, second = _read(tmp_path, forced + one + two)
    assert (first.algorithm, second.algorithm) == ("tree", "")
    assert (second.collectives, second.ranks, first.ranks) == (("all-to-all",), 4, 2)
    assert second.rows[0].line > first.rows[0].line


def test_several_times_of_one_size_are_their_median(tmp_path):
    (found,) = _read(tmp_path, _text([(8, 20.0), (8, 80.0), (8, 30.0)]))
    assert [each.seconds for each in found.rows] == [pytest.approx(3e-5)]


def test_osu_counts_parts(tmp_path):
    (found,) = _read(tmp_path, "warning: x\n" + OSU.format("Allgather", "4   10.05\n8  11.50\n"))
    assert (found.library, found.ranks) == ("OSU v7.5".replace("v", ""), None)
    assert [each.size for each in found.whole("all-gather", 16).rows] == [64, 128]
    (found,) = _read(tmp_path, OSU.format("All-to-All Personalized Exchange", "4   10.05\n"))
    assert found.collectives == ("all-to-all",)
    (found,) = _read(tmp_path, OSU.format("Allreduce", "4   10.05\n"))
    assert found.whole("all-reduce", 16).rows[0].size == 4
    assert "whole row" in _refused(tmp_path, OSU.format("Allreduce", "4   10.05\n8   11.5"))
    text = OSU.format("Allreduce", "4   10.05\n").replace("(us)", "(ms)")
    assert (
        _refused(tmp_path, text)
        == "a.log:3: found columns in ms; expected sizes in B, times in us, GB/s"
    )
    assert "OSU's Bandwidth" not in _refused(tmp_path, OSU.format("Init", "4 1.0"))


WIDE = """\
# Times in microseconds.
run,nodes,ranks_per_node,collective,library,algorithm,256,2048
r1,2x2,4,allreduce,OMPI,ring_ompi,42.2,62.6
r1,2x2,4,allreduce,OMPI,default_ompi,,25.5
"""


def test_csv_files_have_sizes_as_columns_or_as_rows(tmp_path):
    ring, other = _read(tmp_path, WIDE, "a.csv")
    assert (ring.algorithm, ring.ranks, ring.library, ring.line) == ("ring_ompi", 16, "OMPI", 3)
    assert other.algorithm == ""
    assert [each.size for each in other.rows] == [2048]
    pico = "collective_type,buffer_size,algo_name,median,nnodes,tasks_per_node,mpi_lib\n"
    (found,) = _read(tmp_path, pico + "ALLREDUCE,2048,ring,42200,8,4,OMPI\n", "a.csv")
    assert (found.ranks, found.rows[0].seconds) == (32, pytest.approx(42.2e-6))
    (found,) = _read(tmp_path, "ranks,program,bytes,time_ms\n8,allgather (x),64,2\n", "a.csv")
    assert (found.collectives, found.algorithm) == (("all-gather",), "x")
    assert found.rows[0].seconds == pytest.approx(2e-3)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("256,2048", "small,large", "a.csv:2: found the columns run, nodes"),
        ("42.2,62.6", "42.2", "a.csv:3: found a row of 7 values"),
        ("42.2", "fast", "a.csv:3: found a time of 'fast'"),
        ("42.2", "-1", "a.csv:3: found a time of '-1'"),
        ("42.2", "nan", "a.csv:3: found a time of 'nan'"),
        ("4,allreduce,OMPI,ring", "y,allreduce,OMPI,ring", "a.csv:3: found nodes x ranks 'y'"),
        ("allreduce", "barrier", "a.csv:3: found the collective 'barrier'"),
    ],
)
def test_broken_csv_files_are_refused_with_their_line(tmp_path, old, new, said):
    assert _refused(tmp_path, WIDE.replace(old, new), "a.csv").startswith(said)


@pytest.mark.parametrize(
    "text", ["", "hello", "{}", "[1]", '{"results": 3}', '{"config": {}}', "# nThread 1 nGpus 8"]
)
def test_what_is_no_log_is_refused(tmp_path, text):
    assert "expected" in _refused(tmp_path, text)


def test_a_log_of_another_program_is_refused(tmp_path):
    assert "'sendrecv'" in _refused(tmp_path, _text([(8, 20.0)], "sendrecv"))
