"""What Python, an editor and a type checker know of the functions that ask."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.questions import register
from netloom.questions.base import description_of, positional_fields
from netloom.questions.register import all_kinds, by_verb, kind_of

KINDS = list(all_kinds())


@pytest.fixture(params=KINDS, ids=lambda kind: kind.verb)
def kind(request):
    return request.param


def test_a_signature_has_every_field_with_its_default(kind):
    function = getattr(nl, kind.verb)
    parameters = inspect.signature(function).parameters
    assert set(parameters) == set(kind.question.model_fields)
    for name, field in kind.question.model_fields.items():
        default = parameters[name].default
        assert (
            default is inspect.Parameter.empty if field.is_required() else default == field.default
        )
        by_place = parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert by_place == (name in positional_fields(kind.question))


def test_help_describes_every_field(kind):
    said = " ".join(inspect.getdoc(getattr(nl, kind.verb)).split())
    for name in kind.question.model_fields:
        assert " ".join(description_of(kind.question, name).split()) in said


def test_questions_are_found_by_their_words_and_by_their_functions(kind):
    assert kind_of(kind.words) is by_verb(kind.verb) is kind


def test_what_is_given_twice_or_by_too_many_places_is_a_mistake_of_python():
    with pytest.raises(TypeError, match="multiple values"):
        nl.analyze("ring:4", "mesh:2x2", app="ring:4")
    with pytest.raises(TypeError, match="too many positional"):
        nl.analyze("ring:4", "mesh:2x2", "identity")
    with pytest.raises(InputError, match=r"^lod: found no such field; expected on"):
        nl.simulate("mesh:2x2", lod=0.1)


def test_every_question_of_netloom_is_on_its_face_for_type_checkers():
    tree = ast.parse(Path(nl.__file__).read_text())
    (typed,) = (each for each in tree.body if isinstance(each, ast.If))
    told = {name.asname: line.module for line in typed.body for name in line.names}
    for place in register.OWN.values():
        module, _, verb = place.partition(":")
        assert told.get(verb) == module, f"src/netloom/__init__.py does not import {verb}"
        assert verb in nl.__all__, f"src/netloom/__init__.py: {verb} is not in __all__"


SNIPPET = """
import netloom as nl
nl.simulate("mesh:4x4", lod=0.1)
nl.simulate("mesh:4x4", load=0.1, vcs="many")
nl.analyze("ring:4", weight="bytes")
nl.find_mapping("ring:4", "mesh:2x2", rounds=1).gain.kind
nl.simulate("mesh:4x4", load=0.1, vcs=3).stable
"""


def test_a_type_checker_knows_every_option(tmp_path):
    (tmp_path / "asks.py").write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(tmp_path / "asks.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.partition("error: ")[2] for line in done.stdout.splitlines() if "error" in line]
    assert [line.partition('"')[0] + line.split('"')[1] for line in lines] == [
        "Unexpected keyword argument lod",
        "Argument vcs",
        "Missing positional argument on",
    ], done.stdout
