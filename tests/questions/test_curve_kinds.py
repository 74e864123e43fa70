"""What questions declare of curves names columns and fields that are there."""

import pytest

from netloom.questions.recorded import record
from netloom.questions.register import all_kinds, by_verb
from tests.questions.small_answers import ANSWERS

OF_CURVES = [kind.verb for kind in all_kinds() if kind.curve]


def test_loads_rates_and_steps_are_of_curves():
    assert len(OF_CURVES) == 7


@pytest.mark.parametrize("verb", OF_CURVES)
def test_a_curve_is_drawn_from_columns_that_the_answer_has(verb):
    kept = record(ANSWERS[verb]())
    table, curve = kept.tables["table"], kept.kind.curve
    assert [name for name in curve.columns if name not in table.columns] == []
    assert curve.idle in table.columns or curve.idle in kept.figures
    assert [name for name in curve.besides if name not in kept.kind.question.model_fields] == []


@pytest.mark.parametrize("verb", [kind.verb for kind in all_kinds() if kind.sweep])
def test_what_a_curve_of_an_experiment_rises_in_is_a_field(verb):
    kind = by_verb(verb)
    assert kind.sweep in kind.question.model_fields
