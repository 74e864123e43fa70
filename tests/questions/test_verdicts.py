"""Every answer comes to one sentence: marked, short, with a number and its unit, as JSON has it."""

import re
import shlex
import subprocess

import pytest
from typer.main import get_command

from netloom.cli.app import app
from netloom.questions.answers import MARKS, STYLES, Verdict
from netloom.questions.register import all_words, by_verb
from tests.approved.asked import in_a_folder
from tests.approved.verdicts import Entry, answer_of, kept, said_now
from tests.questions.said import unbacked

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")

ENTRIES = [each for each in kept() if isinstance(each, Entry)]
REFUSED = [each for each in ENTRIES if each.said.startswith("netloom: ")]
ANSWERED = [each for each in ENTRIES if each not in REFUSED]

UNIT = re.compile(
    r"\d[\d,.]*(?:[ \u00a0]?(?:%|×|[kMGT]?B(?:/s)?|[mnµ]?s|cycles?|clocks?|flits?|steps?|hops?|"
    r"paths?|ranks?|nodes?|hosts?|pairs?|cables?|channels?|messages?|phases?|links?|times|lanes?|"
    r"rows|flows)\b|[ \u00a0]?[%×])"
)
"""A number with a unit that a person can place."""


@pytest.fixture(scope="module", autouse=True)
def folder():
    with in_a_folder():
        yield


@pytest.fixture(scope="module", params=ANSWERED, ids=lambda each: each.command)
def entry(request):
    return request.param


@pytest.mark.parametrize("refused", REFUSED, ids=lambda each: each.command)
def test_a_mistake_is_the_one_line_that_was_approved(refused):
    assert said_now(refused) == refused.said
    assert "\n" not in refused.said


def test_a_verdict_is_the_one_that_was_approved(entry):
    assert said_now(entry) == entry.said


def test_every_answer_has_a_short_verdict_with_a_number(entry):
    verdict = answer_of(entry).verdict
    sentence = verdict.sentence
    assert verdict.mark in MARKS
    assert 3 <= len(sentence.split()) <= 30, sentence
    assert sentence[0].isupper() or sentence[0].isdigit(), sentence
    assert sentence.endswith("."), sentence
    assert UNIT.search(sentence) or "no two" in sentence, f"no number with a unit: {sentence}"
    for what in (sentence, verdict.note, *verdict.lines.values()):
        assert not re.search(r"\d[eE][+-]\d|\bnan\b|\binf\b|None|identity", what), what


SHARES_OF_OTHERS = ("Ranks keep ", "Interrupted: ranks lose ")
"""Sentences whose numbers are shares of the traffic that ranks would send alone."""


def test_a_sentence_has_no_number_that_no_figure_says(entry):
    found = answer_of(entry)
    sentence, figures = found.verdict.sentence, found.to_dict()
    if entry.changed or sentence.startswith(SHARES_OF_OTHERS):
        return
    named = figures.get("busiest_together") or "no channels"  # a name has numbers of its own
    assert unbacked(sentence.replace(named, "channels"), figures) == []


def test_a_verdict_follows_from_the_figures_alone(entry):
    figures = answer_of(entry).to_dict()
    again = by_verb(figures["provenance"]["verb"]).read(figures).verdict
    assert again.to_dict().items() <= figures["verdict"].items()


def test_the_next_command_is_a_command(entry):
    command, words = get_command(app), shlex.split(answer_of(entry).verdict.next)
    context = command.make_context("netloom", [], resilient_parsing=True)
    assert words[:1] in ([], ["netloom"])
    words = words[1:]
    while words and hasattr(command, "resolve_command"):
        _, command, words = command.resolve_command(context, words)
    command.make_parser(context).parse_args(words)


def test_every_command_has_ten_questions():
    asked = dict.fromkeys(all_words(), 0)
    for each in ANSWERED:
        words = each.command.split()
        name = ".".join(words[:2])
        asked[name if name in asked else words[0]] += not each.changed
    assert min(asked.values()) >= 10, asked


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
