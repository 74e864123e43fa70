"""Every answer comes to one sentence: marked, short, with a number and its unit, as JSON has it."""

import re

import pytest

from netloom.questions.register import by_verb
from netloom.questions.verdict import MARKS
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


def test_a_verdict_follows_from_the_figures_alone(found):
    again = by_verb(found["provenance"]["verb"]).verdict(found)
    assert again is not None
    assert again.to_dict().items() <= found["verdict"].items()


def test_the_next_command_is_a_command(found):
    command = found["verdict"]["next"]
    assert command == "" or command.startswith("netloom ")
