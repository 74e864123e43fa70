"""A question in one module is found everywhere, without another line elsewhere."""

import inspect
import json
import sys
from importlib import import_module

import jsonschema
import pytest

import netloom as nl
from netloom.cli import main
from netloom.experiments import load_results, run
from netloom.experiments.file import schema
from netloom.questions import register
from netloom.questions.answer_schema import results_schema
from netloom.questions.recorded import record
from netloom.report.page import page_of

TOML = "[toy]\nsize = [3, 7]\n"
MODULE = "tests.questions.toy_question"


@pytest.fixture(autouse=True)
def _declared():
    """The question is known in these tests only."""
    sys.modules.pop(MODULE, None)
    import_module(MODULE)
    yield
    del register._DECLARED["toy"]


@pytest.fixture
def netloom(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["netloom", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code or 0, said.err) == (0, "")
        return said.out

    return run


def test_python_has_a_function_with_its_fields():
    assert str(inspect.signature(nl.toy)) == "(*, size: int = 2)"
    assert "size : int, default 2\n    How large the toy is (blocks)." in inspect.getdoc(nl.toy)
    assert nl.toy(size=3).table().rows() == [(3, 0.75)]
    assert nl.toy(size=3).sentences() == ["Stands at 0.75 m."]
    with pytest.raises(nl.InputError, match="size: found 101; expected a whole number from 1"):
        nl.toy(size=101)


def test_the_command_line_has_a_command(netloom):
    assert "Build a tower of blocks." in netloom("--help")
    said = netloom("toy", "--help")
    assert "How large the toy is (blocks)." in said
    assert "netloom toy --size 3" in said
    assert json.loads(netloom("toy", "--size", 3, "--json"))["height"] == 0.75
    shown = netloom("toy", "--size", 3)
    assert "how high it is" in shown
    assert "Stands at 0.75 m." in shown


def test_an_experiment_asks_it_and_its_store_has_the_answers(netloom, tmp_path):
    file = tmp_path / "toys.toml"
    file.write_text(TOML)
    run(file, workers=1)
    shown = netloom("results", file.with_suffix(".sqlite"))
    assert shown.splitlines()[-2:] == [
        "   3          3         0.75",
        "   7          7         1.75",
    ]
    assert all(word in shown for word in ("how high it", "blocks in"))  # heads of two lines
    assert load_results(file).table()["height"].to_list() == [0.75, 1.75]
    page = page_of([load_results(file)])
    (section,) = page.sections
    assert section.title == "Tower of toys"
    assert section.sentences == ("size 3: Stands at 0.75 m.", "size 7: Falls at 1.75 m.")
    assert section.tables[0].columns == ("size", "blocks in all", "how high it is, m")


def test_the_schemas_have_it():
    table = schema()["properties"]["toy"]["anyOf"][0]
    assert table == {"$ref": "#/$defs/toy"}
    size = schema()["$defs"]["toy"]["properties"]["size"]
    assert (size["description"], size["unit"]) == ("How large the toy is.", "blocks")
    whole = results_schema()
    form = {"$ref": "#/$defs/toy", "$defs": whole["$defs"]}
    jsonschema.Draft202012Validator(form).validate(record(nl.toy(size=3)).figures)


def test_an_answer_from_a_store_is_the_answer():
    found = nl.toy(size=7)
    kept = record(found)
    assert kept.answer.to_dict() == found.to_dict()
    assert kept.answer.verdict == found.verdict
    assert kept.answer.verdict.next == "netloom toy --size 4"
    assert kept.answer.picture().to_dict() == found.picture().to_dict()


def test_one_answer_is_a_page_too():
    (section,) = page_of([record(nl.toy(size=3))]).sections
    assert section.sentences == ("Stands at 0.75 m.",)
    assert section.tables[0].rows == (("3", "0.75"),)
