"""A question in one module is found everywhere, without another line elsewhere."""

import inspect
import json
import sys
from importlib import import_module

import pytest

import netloom as nl
from netloom.experiments import load_results, run
from netloom.pages.page import page_of
from netloom.questions import register
from netloom.questions.recorded import record
from tests.approved.asked import run as asked

TOML = "[build-tower]\nsize = [3, 7]\n"


@pytest.fixture(autouse=True)
def _declared(monkeypatch):
    """The question of ``examples/towers`` is known in these tests only, by its function's name."""
    monkeypatch.syspath_prepend("examples/towers")
    for name in ("towers", "towers.tower"):  # whatever another test has left of it
        monkeypatch.delitem(sys.modules, name, raising=False)
    import_module("towers.tower")
    yield
    register._DECLARED.pop("build-tower", None)
    for name in ("towers", "towers.tower"):
        sys.modules.pop(name, None)


def netloom(command):
    """What a command prints."""
    code, said, wrong = asked(command)
    assert (code, wrong) == (0, "")
    return said


def test_python_has_a_function_with_its_fields():
    assert str(inspect.signature(nl.build_tower)) == "(*, size: int = 2)"
    said = inspect.getdoc(nl.build_tower)
    assert "size : int, default 2\n    Height of the tower (blocks)." in said
    assert nl.build_tower(size=3).table().rows() == [(3, 0.75)]
    assert nl.build_tower(size=3).verdict.sentence == "Stands at 0.75 m."
    with pytest.raises(nl.InputError, match="size: found 101; expected a whole number from 1"):
        nl.build_tower(size=101)


def test_the_command_line_has_a_command():
    assert "Build a tower of blocks." in netloom("--help")
    said = netloom("build-tower --help")
    assert "Height of the tower (blocks)." in said
    assert "netloom tower --size 3" in said
    assert json.loads(netloom("build-tower --size 3 --json"))["height"] == 0.75
    shown = netloom("build-tower --size 3")
    assert "how high it is" in shown
    assert "Stands at 0.75 m." in shown


def test_an_experiment_asks_it_and_its_store_has_the_answers(tmp_path):
    file = tmp_path / "towers.toml"
    file.write_text(TOML)
    run(file, workers=1)
    shown = netloom(f"results {file.with_suffix('.sqlite')}")
    assert shown.splitlines()[-2:] == [
        "   3          3         0.75",
        "   7          7         1.75",
    ]
    assert all(word in shown for word in ("how high it", "blocks in"))  # heads of two lines
    assert load_results(file).table()["height"].to_list() == [0.75, 1.75]
    (section,) = page_of([load_results(file)]).sections
    said = [(each.of, each.sentence) for each in section.verdicts]
    assert said == [("size 3", "Stands at 0.75 m."), ("size 7", "Falls at 1.75 m.")]


def test_an_answer_from_a_store_is_the_answer():
    found = nl.build_tower(size=7)
    kept = record(found)
    assert kept.answer.to_dict() == found.to_dict()
    assert kept.answer.verdict == found.verdict
    assert kept.answer.verdict.next == "netloom build-tower --size 4"
    assert kept.answer.picture().to_dict() == found.picture().to_dict()
