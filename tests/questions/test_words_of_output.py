"""What a line of output may not do: part a number from its unit, mix arrows, or say 1e+02."""

import re
from io import StringIO

import pytest
from rich.console import Console

from netloom.base.errors import InputError
from netloom.base.words import rounded
from netloom.cli.edge import run_guarded
from netloom.cli.show import show_lines
from netloom.questions.answers import Verdict
from netloom.questions.base import Question, option, range_of
from netloom.questions.terminal import column, columns_drawn
from netloom.topology import mesh, topology, without

SENTENCE = "Takes 408 µs, 62.6 % more than leaf0 -> spine0 needs (251 µs) at 25 GB/s in 12 cycles."
UNITS = ("µs", "%", "GB/s", "cycles")


def terminal(width):
    return Console(
        file=StringIO(), width=width, highlight=False, force_terminal=True, no_color=True
    )


def starts(lines):
    return [line.split()[0].rstrip(".,)") for line in lines if line.split()]


@pytest.mark.parametrize("width", range(40, 100))
def test_no_line_ends_between_a_number_and_its_unit(width):
    verdict = Verdict("act", SENTENCE, {"where": SENTENCE}, "", SENTENCE, of="of")
    lines = [each.plain for each in verdict.text(width)]
    assert not {*starts(lines)} & {*UNITS}
    assert " ".join(" ".join(lines).split()).count("(251 µs) at 25 GB/s in 12 cycles.") == 3


@pytest.mark.parametrize("width", range(30, 90, 3))
def test_nor_does_a_cell(width):
    names = column("name", ["first"], words=True)
    lines = columns_drawn([names, column("what it is", [SENTENCE], words=True)], width)
    assert not {*starts(lines)} & {*UNITS}
    assert sum(line.count("408 µs") for line in lines) == 1


def test_arrows_are_one_sign_in_output(capsys):
    screen = terminal(60)
    show_lines(["busiest: (0,0) -> (0,1), 6->7", "h0 -> leaf0", "a port 1 -> b port 2"], screen)
    said = screen.file.getvalue()
    assert "->" not in said
    assert "(0,0)→(0,1), 6→7" in said
    assert "h0→leaf0" in said
    assert "a port 1 → b port 2" in said
    assert "→" in Verdict("act", "Cut.", of="mesh:4 without 0->1").text(60).__next__().plain

    def fails():
        raise InputError("x", "0 -> 1")

    assert run_guarded(fails) == 2
    assert capsys.readouterr().err == "netloom: x: found 0 → 1\n"


def test_both_arrows_are_taken(tmp_path):
    assert without(mesh(4, 4), channels="6→7").name == without(mesh(4, 4), channels="6->7").name
    nets = []
    for number, arrow in enumerate(("->", "→")):
        file = tmp_path / f"{number}.txt"
        file.write_text(f"a {arrow} b\nb {arrow} c\nc {arrow} a\n")
        nets.append(topology(f"graph:{file}"))
    assert nets[0].channel_target.tolist() == nets[1].channel_target.tolist()
    assert nets[0].num_channels == nets[1].num_channels == 3


def test_no_number_has_an_exponent():
    assert [rounded(each) for each in (99.6, 123.4, 0.05)] == ["100", "120", "0.05"]

    class Asked(Question):
        load: float = option("Load.", default=1.0, gt=0, le=1e9)

    assert range_of(Asked.model_fields["load"]).endswith("at most 1,000,000,000")


COLUMNS = [
    column("network", ["mesh:8x8", "torus:16x16x16"], words=True),
    column("offered", ["0.123", "0.4"], "flits/node/cycle"),
    column("latency mean", ["12,345", "1"], "cycles"),
    column("p99", ["99,999", "2"]),
    column("a rather long head", ["1.23\u00a0M", "27.8\u00a0%"]),
    column("busiest channel", ["row 3 to row 4", "(0,6) → (0,7)"], words=True),
]


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
def test_tables_keep_their_numbers_and_their_first_column(width):
    lines = columns_drawn(COLUMNS, width)
    out = "\n".join(lines)
    assert all(len(line) <= width for line in lines)
    assert "…" not in out
    for each in COLUMNS[:5]:
        assert all(cell.strip() in out for cell in each.cells)
    parts = out.count("network")
    assert parts == out.count("torus:16x16x16") < len(COLUMNS)
    assert parts == 1 or width < 80


def test_heads_are_folded_before_a_table_is_parted():
    heads = ("rate", "steps mean", "throughput", "wait buffer mean", "refused by a PE")
    cells = ("0.6", "29.6", "0.436", "1.72", "24.8\u00a0%")
    made = [column(head, [cell]) for head, cell in zip(heads, cells, strict=True)]
    lines = columns_drawn(made, len("  ".join(heads)) - 8)
    assert sum(line.count("rate") for line in lines) == 1
    assert {*" ".join(heads).split(), *cells} <= {*re.split(r"[ \n]+", "\n".join(lines))}
