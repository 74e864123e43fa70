"""Another package, ``examples/towers``, adds a question by its entry point alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netloom.base.declared import declared
from netloom.questions.register import OWN, functions, groups

TOML = "[tower]\nsize = [3, 7]\n"


@pytest.fixture(scope="module")
def towers(tmp_path_factory):
    """A folder that ``towers`` is installed in, and the environment that finds it there."""
    folder = tmp_path_factory.mktemp("installed")
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--python", sys.executable, "--no-deps"]
    command += ["--no-build-isolation", "--offline", "--target", folder, "examples/towers"]
    subprocess.run(command, check=True)
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def said(towers, *words, cwd=None):
    """What a command prints where ``towers`` is installed."""
    done = subprocess.run(
        [sys.executable, *words], env=towers, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_has_a_command_and_a_group_in_the_help(towers):
    text = said(towers, "-m", "netloom", "--help")
    assert "\nTowers\n  tower " in text
    assert json.loads(said(towers, "-m", "netloom", "tower", "--json"))["height"] == 0.5


def test_it_has_a_python_function(towers):
    code = "import netloom as nl; print(nl.build_tower(size=7).verdict.sentence)"
    assert said(towers, "-c", code) == "Falls at 1.75 m.\n"


def test_experiment_files_and_pages_have_it(towers, tmp_path):
    (tmp_path / "towers.toml").write_text(TOML)
    said(towers, "-m", "netloom", "run", "towers.toml", cwd=tmp_path)
    page = "towers.html"
    said(towers, "-m", "netloom", "report", "towers.sqlite", "-o", page, cwd=tmp_path)
    assert "Falls at 1.75 m." in (tmp_path / page).read_text()
    schema = json.loads(said(towers, "-m", "netloom", "schema"))
    assert "tower" in schema["properties"]


def test_the_papers_come_by_entry_points():
    questions = {words: each.value for words, each in declared("questions").items()}
    assert len(questions) == 8
    assert all(place.startswith("netloom_papers.questions.") for place in questions.values())
    assert questions.items() <= functions().items()
    assert not questions.keys() & OWN.keys()
    assert questions.keys() | OWN.keys() == functions().keys()
    assert groups() == {"From the papers": ["hotspot"]}
    assert [*declared("engines")] == ["worm"]
    assert [each.value for each in declared("layouts").values()] == [
        "netloom_papers.layouts:LAYOUTS"
    ]
    assert [*declared("functions")] == ["run_plan"]
