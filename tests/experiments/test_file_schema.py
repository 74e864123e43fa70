import tomllib
from pathlib import Path

import jsonschema
import pytest

from netloom.experiments.file import schema
from tests.experiments.small import SWEEP
from tests.experiments.test_file import WRONG


@pytest.fixture(scope="module")
def validator():
    found = schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


EXAMPLES = [path.read_text() for path in Path("examples").glob("*.toml")]
"""Experiments, and machines, which name a topology first."""


@pytest.mark.parametrize("text", [SWEEP, *(text for text in EXAMPLES if "\ntopology" not in text)])
def test_what_runs_fits_the_schema(validator, text):
    assert list(validator.iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize("text", [text for text, *_ in WRONG if "lod" in text or "titel" in text])
def test_names_that_are_not_there_do_not(validator, text):
    assert not validator.is_valid(tomllib.loads(text))


def test_every_field_says_what_it_is():
    silent = [
        (words, name)
        for words, form in schema()["$defs"].items()
        if words not in ("range", "predict")
        for name, field in form["properties"].items()
        if "description" not in field and "anyOf" in field and "$ref" not in field["anyOf"][0]
    ]
    assert silent == []
