"""Every number that a question has is bounded on both sides."""

from typing import Literal, get_args, get_origin

import pytest
from pydantic import SkipValidation

from netloom.base.errors import InputError
from netloom.questions.base import ask, bounds_of, range_of
from netloom.questions.register import all_kinds

QUESTIONS = [kind.question for kind in all_kinds()]


def numbers_of(question):
    for name, field in question.model_fields.items():
        if SkipValidation in field.metadata:
            continue  # one number or several, or their text: ``numbers`` reads and bounds them
        for each in get_args(field.annotation) or (field.annotation,):
            kind = get_args(each)[0] if hasattr(each, "__metadata__") else each
            if kind in (int, float):
                yield name, field


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.__name__)
def test_every_number_declares_both_bounds(question):
    for name, field in numbers_of(question):
        assert len(bounds_of(field)) == 2, name
        assert range_of(field), name


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("value", [2**63, -(2**63), 1e308, -1e308, float("nan"), float("inf")])
def test_numbers_past_all_bounds_are_one_line(question, value):
    fields = question.model_fields.items()
    whole = {name: _some(field) for name, field in fields if field.is_required()}
    for name, _ in numbers_of(question):
        with pytest.raises(InputError, match=f"^{name}: found .*; expected") as refused:
            ask(question, whole | {name: value})
        assert str(refused.value).isprintable()


def _some(field):
    """Return a value of a required field: a choice of those that there are, or else a number."""
    choice = get_origin(field.annotation) is Literal
    return get_args(field.annotation)[0] if choice else "0.1"
