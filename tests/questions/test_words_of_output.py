"""What a line of output may not do: part a number from its unit, mix arrows, or say 1e+02."""

from io import StringIO

import pytest
from rich.console import Console

from netloom.base.errors import InputError
from netloom.base.words import folded, percent, rounded
from netloom.cli.edge import run_guarded
from netloom.cli.show import show_lines
from netloom.mapping.gains import Objective
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
    verdict = Verdict("act", SENTENCE, "of", {"where": SENTENCE}, "", SENTENCE)
    lines = [each.plain for each in verdict.text(width)]
    assert not {*starts(lines)} & {*UNITS}
    assert " ".join(" ".join(lines).split()).count("(251 µs) at 25 GB/s in 12 cycles.") == 3


@pytest.mark.parametrize("width", range(30, 90, 3))
def test_nor_does_a_cell(width):
    names = column("name", ["first"], words=True)
    lines = columns_drawn([names, column("what it is", [SENTENCE], words=True)], width)
    assert not {*starts(lines)} & {*UNITS}
    assert sum(line.count("408 µs") for line in lines) == 1


def test_units_are_kept_and_words_are_not():
    assert folded("of 3 s in 12 hosts", 5) == ["of", "3 s", "in 12", "hosts"]
    assert folded("h0 s1 1 b-tree", 4) == ["h0", "s1 1", "b-tree"]


def test_arrows_are_one_sign_in_output(capsys):
    screen = terminal(60)
    show_lines(["busiest: (0,0) -> (0,1), 6->7", "h0 -> leaf0", "a port 1 -> b port 2"], screen)
    said = screen.file.getvalue()
    assert "->" not in said
    assert "(0,0)→(0,1), 6→7" in said
    assert "h0→leaf0" in said
    assert "a port 1 → b port 2" in said
    assert "→" in Verdict("act", "Cut.", "mesh:4 without 0->1").text(60).__next__().plain

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


@pytest.mark.parametrize(("bound", "said"), [(0.0, ""), (0.001, ""), (50.0, "50 %")])
def test_a_bound_that_says_nothing_is_not_told(bound, said):
    objective = Objective(name="max-channel-load", before=100.0, after=100.0, bound=bound,
                          timed=False, hosts=False, scale={})  # fmt: skip
    possible = objective.possible
    assert ("" if possible is None else percent(possible, 2).replace("\u00a0", " ")) == said
