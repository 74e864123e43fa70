"""Every answer comes to one sentence: marked, short, with a number and its unit, as JSON has it."""

import re
import shlex
import subprocess

import pytest

from netloom.questions.answers import MARKS, STYLES, Verdict
from netloom.questions.register import by_verb
from tests.questions.said import unbacked
from tests.questions.small_answers import ANSWERS

UNIT = re.compile(
    r"\d[\d,.]*(?:[ \u00a0]?(?:%|×|[kMGT]?B(?:/s)?|[mnµ]?s|cycles?|clocks?|flits?|steps?|hops?|"
    r"paths?|ranks?|nodes?|hosts?|pairs?|cables?|channels?|messages?|phases?|links?|times)\b|"
    r"[ \u00a0]?[%×])"
)
"""A number with a unit that a person can place."""


@pytest.fixture(scope="module", params=list(ANSWERS))
def found(request):
    return ANSWERS[request.param]().to_dict()


def test_every_answer_has_a_short_verdict_with_a_number(found):
    verdict = found["verdict"]
    sentence = verdict["sentence"]
    assert verdict["mark"] in MARKS
    assert 3 <= len(sentence.split()) <= 30, sentence
    assert sentence[0].isupper() or sentence[0].isdigit(), sentence
    assert sentence.endswith("."), sentence
    assert UNIT.search(sentence) or "no two" in sentence, f"no number with a unit: {sentence}"
    for what in (sentence, verdict["note"], *verdict["lines"].values()):
        assert not re.search(r"\d[eE][+-]\d|\bnan\b|\binf\b|None|identity", what), what


def test_a_sentence_has_no_number_that_no_figure_says(found):
    assert unbacked(found["verdict"]["sentence"], found) == []


def test_a_verdict_follows_from_the_figures_alone(found):
    again = by_verb(found["provenance"]["verb"]).read(found).verdict
    assert again is not None
    assert again.to_dict().items() <= found["verdict"].items()


def test_the_next_command_is_a_command(found):
    command = found["verdict"]["next"]
    assert command == "" or command.startswith("netloom ")


NEXT = (
    "netloom simulate load --on leaf-spine:8x4x8 --app 'my programs/plate-64.mtx' --load "
    "0.07:0.617:0.07 --cycles 2000 --seed 12345 --plot curve.svg"
)


@pytest.mark.parametrize("width", [50, 60, 80, 100])
def test_a_long_command_on_a_terminal_is_one_that_a_shell_reads(width):
    said = [each.plain for each in Verdict("fine", "Fine.", next=NEXT).text(width)]
    assert max(map(len, said)) <= width
    assert len(said) > 2
    assert all(line.endswith(" \\") for line in said[1:-1])
    pasted = "\n".join(said[1:]).lstrip().removeprefix("next")
    typed = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {pasted}"], capture_output=True, text=True, check=True
    )
    assert typed.stdout.splitlines() == shlex.split(NEXT)
    for line in said[1:]:
        assert not line.removesuffix(" \\").endswith(("--on", "--app", "--load", "--seed"))


@pytest.mark.parametrize("mark", MARKS)
def test_a_coloured_sentence_has_its_mark_beside_it(mark):
    """Who sees no colours, or has none, sees ``✓``, ``!``, ``✗`` or ``?``."""
    head, *_ = Verdict(mark, "Said.").text(80)
    assert (head.style, head.plain) == (STYLES[mark], f"{MARKS[mark]} Said.")
