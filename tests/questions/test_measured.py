"""Measured times of collectives beside expected ones: which are right, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from typer.testing import CliRunner

from netloom import InputError, compare_collectives
from netloom.cli.app import app
from netloom.questions.collective import CollectiveTimes
from netloom.questions.measured import FINE, IMPOSSIBLE, SLOW
from tests.questions.shared import file_of

ON = {"on": "leaf-spine:1x1x8", "bandwidth": "10GB/s", "latency": "1us"}
SIZES = (1024, 2**20, 2**26)
BUT = "As expected at the largest size (9.08 GB/s at 67.1 MB),"
MACHINE = """\
topology = "leaf-spine:1x1x8"
bandwidth = "10GB/s"
latency = "1us"
[[error]]
up_to = "64KiB"
share = 0.5
[[error]]
share = 0.1
"""


def expected(collective="all-reduce", algorithm="all", **options):
    """What is expected by size, in seconds."""
    found = compare_collectives(collective, size=list(SIZES), algorithm=algorithm, **ON | options)
    return {size: found.at(size)[0].seconds for size in SIZES}


def log_of(folder, times, *, name="a.csv", collective="allreduce", ranks=8, algorithm=""):
    """Write a log of these seconds, and return its path."""
    rows = [f"{ranks},{collective},{algorithm},{size},{took!r}" for size, took in times.items()]
    return file_of(folder, "\n".join(["ranks,collective,algorithm,bytes,seconds", *rows]), name)


def judged(path, collective="all-reduce", **options):
    """Compare one log, or several."""
    return compare_collectives(collective, measured=path, **ON | options)


@settings(max_examples=9, deadline=None)
@given(st.lists(st.floats(0.9, 3), min_size=3, max_size=3))
def test_ratios_are_measured_over_expected_times(tmp_path_factory, factors):
    least = expected()
    times = {size: factor * least[size] for size, factor in zip(SIZES, factors, strict=True)}
    found = judged(log_of(tmp_path_factory.mktemp("logs"), times)).measured
    assert [each.ratio for each in found.points] == pytest.approx(factors)
    for each in found.points:
        assert each.bus_bandwidth == pytest.approx(1.75 * each.size / each.measured)
        wanted = SLOW if each.ratio > 1.25 else FINE
        assert each.right == (IMPOSSIBLE if each.measured < 0.995 * each.bound else wanted)


@pytest.mark.parametrize(
    ("factors", "mark", "said"),
    [
        ((1.1, 1.1, 1.1), "fine", "As expected: "),
        ((1.1, 1.1, 2.0), "act", "Too slow: 4.99 GB/s bus bandwidth at 67.1 MB, 50 % of the"),
        (
            (2.0, 1.1, 1.1),
            "act",
            f"{BUT} too slow at others: 10.9 µs at 1.02 kB, 2 times the expected 5.43 µs.",
        ),
        ((0.7, 1.1, 1.1), "limited", f"{BUT} faster than expected at others: 3.8 µs at 1.02 kB"),
        ((1.1, 1.1, 0.5), "act", "Faster than any network like this could be: 5.88 ms for 67.1 MB"),
    ],
)
def test_verdicts(tmp_path, factors, mark, said):
    least = expected()
    times = {size: factor * least[size] for size, factor in zip(SIZES, factors, strict=True)}
    verdict = judged(log_of(tmp_path, times)).verdict
    assert verdict.mark == mark
    assert verdict.sentence.replace("\u00a0", " ").startswith(said)
    assert "this machine's error is not known" in verdict.lines["band"]
    assert ("units differ" in verdict.lines.get("why", "")) == ("any network" in said)


def test_one_size_of_many_outside_is_told_only(tmp_path):
    least = expected()[2**20]
    times = {2**20 + at: least * 1.01 for at in range(9)} | {2**20 + 9: 2 * least}
    verdict = judged(log_of(tmp_path, times)).verdict
    assert verdict.mark == "limited"
    assert verdict.sentence.endswith("1 of 10 sizes is not.")


def test_the_band_is_that_of_the_machine(tmp_path):
    file = file_of(tmp_path, MACHINE, "my.toml")
    times = {size: 1.3 * took for size, took in expected().items()}
    found = compare_collectives(
        "all-reduce", f"machine:{file}", measured=log_of(tmp_path, times)
    ).measured
    assert [each.right for each in found.points] == [FINE, SLOW, SLOW]
    assert found.band.replace("\u00a0", " ") == f"±50 % to 10 %, the error of machine:{file}"
    for old, new, said in (
        ("64KiB", "small", ":5: [error] up_to: found 'small'"),
        ("share = 0.1", 'share = 0.1\nup_to = "1KiB"', ":7: [error]: found up_to of 65536, 1024"),
        ("share = 0.5", "shares = 0.5", ":6: [error] shares: found no such key; expected share"),
    ):
        broken = file_of(tmp_path, MACHINE.replace(old, new), "broken.toml")
        with pytest.raises(InputError, match=r"broken\.toml") as error:
            compare_collectives("all-reduce", f"machine:{broken}")
        assert said in str(error.value)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("ring_ompi", "ring"),
        ("allreduce_nccl_tree", "double-binary-tree"),
        ("default-swing", "swing"),
    ],
)
def test_the_algorithm_of_a_log_is_the_one_that_is_expected(tmp_path, said, name):
    file = log_of(tmp_path, expected(algorithm=name), algorithm=said)
    points = judged(file).measured.points
    assert {each.algorithm for each in points} == {name}
    assert [each.ratio for each in points] == pytest.approx([1] * 3)


def test_runs_of_one_file_by_algorithms_that_nobody_knows_are_named(tmp_path):
    one = log_of(tmp_path, expected(algorithm="ring"), algorithm="ring")
    both = one.read_text() + "\n8,allreduce,strange,1024,1e-5\n"
    found = judged(file_of(tmp_path, both))
    assert len(found.measured.points) == 3
    assert found.measured.points[0].run == "some.csv ring"
    assert any("No algorithm of netloom: strange" in each for each in found.remarks())
    alone = "\n".join([*both.splitlines()[:1], both.splitlines()[-1], "8,allreduce,odd,64,1e-5"])
    with pytest.raises(InputError, match="the algorithms strange"):
        judged(file_of(tmp_path, alone))


def test_halves_of_the_ranks_are_compared_with_halves(tmp_path):
    whole, half = expected("all-gather"), expected("all-gather", ranks=4)
    files = [
        log_of(tmp_path, whole, collective="allgather"),
        log_of(tmp_path, half, name="b.csv", collective="allgather", ranks=4),
    ]
    found = judged([str(each) for each in files], "all-gather")
    assert found.verdict.mark == "fine"
    assert {each.ranks for each in found.measured.points} == {4, 8}
    assert [each.ratio for each in found.measured.points] == pytest.approx([1] * 6)
    assert list(found.measured.runs) == ["a.csv", "b.csv"]
    again = CollectiveTimes.from_json(found.to_json())
    assert again.verdict.sentence == found.verdict.sentence
    assert again.picture().to_dict()
    assert found.measured.curves().height == 12


def test_runs_of_one_name_are_told_apart_by_file_and_line(tmp_path):
    times = expected()
    files = []
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        files.append(str(log_of(tmp_path / day, times)))
    assert list(judged(files).measured.runs) == [f"{file}:2" for file in files]


def test_what_a_card_at_half_rate_does_is_explained_and_drawn(tmp_path):
    on = {"on": "leaf-spine:2x8x8@dgx-a100", "bandwidth": None, "latency": None}
    sizes = [2**power for power in range(12, 33, 2)]
    whole = compare_collectives("all-reduce", size=sizes, **on)
    parts = {
        name: [
            each._replace(card=2 * each.card)
            for each in whole.ready.library.parts("all-reduce", name)
        ]
        for name in ("rings", "double-trees")
    }
    slow = {
        size: min(each.seconds(size) for some in parts.values() for each in some) for size in sizes
    }
    found = judged(log_of(tmp_path, slow, ranks=16), **on)
    assert found.verdict.mark == "act"
    assert "one card at half rate" in found.verdict.lines["fits"]
    assert "half" in found.verdict.lines["test"]
    assert "one card at half rate" in str(found.picture().to_dict())
    fine = {size: whole.at(size)[0].seconds for size in sizes}
    assert not judged(log_of(tmp_path, fine, ranks=16), **on).measured.explanations


def test_what_does_not_fit_is_one_line(tmp_path):
    file = log_of(tmp_path, expected())
    for options, said in (
        ({"on": "leaf-spine:1x1x16"}, "a.csv:2: found a run of 8 ranks; expected 16, which"),
        ({"on": "leaf-spine:1x1x6"}, "a.csv:2: found a run of 8 ranks; expected 6, which"),
        ({"size": "1KB"}, "size: found 1KB beside measured"),
        ({"engine": "network", "latency": None}, "engine: found network beside measured"),
        ({"collective": "all-gather"}, "a.csv:2: found times of all-reduce; expected all-gather"),
    ):
        with pytest.raises(InputError) as error:
            judged(file, **options)
        assert str(error.value).replace(f"{tmp_path}/", "").startswith(said)
    third = log_of(tmp_path, expected(), name="b.csv", ranks=3)
    with pytest.raises(InputError, match=r"b\.csv:2: found a run of 3 ranks; expected 8, which"):
        judged([str(file), str(third)])
    found = judged(file, on="leaf-spine:1x1x16", ranks=8)
    assert found.num_ranks == 8


def test_hosts_of_a_log_are_the_computers_of_the_network(tmp_path):
    text = "".join(
        f"#  Rank {rank} Group 0 Pid 1 on host{rank // 8} device 0 [0] H100\n" for rank in range(8)
    )
    text += "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    text += "1024 256 float sum -1 20.0 0.05 0.09 0 20.0 0.05 0.09 0\n"
    file = file_of(tmp_path, text, "a.log")
    with pytest.raises(InputError, match="8 ranks on 1 host; expected 2 computers"):
        judged(file, on="rail:1x2x4x1")
    assert judged(file).measured.points[0].line == 10


def test_the_collective_of_a_command_is_that_of_the_log(tmp_path):
    file = log_of(tmp_path, expected())
    command = f"collective --on {ON['on']} --bandwidth 10GB/s --latency 1us --measured {file}"
    done = CliRunner().invoke(app, command.split())
    assert done.output.startswith("✓ As expected: ")
    both = file.read_text() + "\n8,allgather,,1024,1e-5\n"
    with pytest.raises(InputError, match="measured times of all-gather or all-reduce"):
        CliRunner().invoke(app, command.replace(str(file), str(file_of(tmp_path, both))).split(),
                           standalone_mode=False, catch_exceptions=False)  # fmt: skip
