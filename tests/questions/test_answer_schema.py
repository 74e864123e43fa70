"""What answers are declared to be is what they are: in JSON and in tables."""

import jsonschema
import pytest

from netloom.questions.recorded import record, results_schema
from netloom.questions.register import all_kinds
from tests.questions.small_answers import ANSWERS


@pytest.fixture(scope="module")
def whole():
    found = results_schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def test_every_question_has_a_schema(whole):
    assert set(whole["$defs"]) == {kind.words for kind in all_kinds()}


@pytest.mark.parametrize("asked", list(ANSWERS))
def test_answers_and_their_tables_fit_the_schema(whole, asked):
    kept = record(ANSWERS[asked]())
    words = kept.kind.words
    parts = {words: kept.figures}
    parts |= {f"{words}/$defs/{name}": table.to_dicts() for name, table in kept.tables.items()}
    for name, data in parts.items():
        of_part = {"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]}
        errors = jsonschema.Draft202012Validator(of_part).iter_errors(data)
        assert [f"{name}: {each.json_path} {each.message[:200]}" for each in errors] == []


def test_units_and_places_in_json_are_said(whole):
    column = whole["$defs"]["analyze"]["$defs"]["table"]["items"]["properties"][
        "saturation_worst_node"
    ]
    assert (column["unit"], column["json"]) == ("flits/node/cycle", "saturation.worst_node")
