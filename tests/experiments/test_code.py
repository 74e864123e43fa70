"""Stores keep the answers of different code apart, and say so."""

import sqlite3
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from netloom.base import provenance
from netloom.base.provenance import code_version, source_digest
from netloom.cli.app import app
from netloom.experiments import file as files
from netloom.experiments.file import Point
from netloom.experiments.findings import load_results
from netloom.experiments.runner import run

FILE = """
[[predict.latency]]
on = ["mesh:2x2", "mesh:2x3"]
offered = 0.1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(FILE)
    return path


def asked(file):
    return CliRunner().invoke(app, ["run", str(file), "--workers", "1"])


def of_other_code(file, *, keys):
    """Make the answers of a store those of the code before, and its keys also if so wanted."""
    with sqlite3.connect(file.with_suffix(".sqlite")) as store:
        store.execute("UPDATE answers SET version = '0.1.0.dev0'")
        store.execute("DELETE FROM checksums")
        if keys:
            for table in ("answers", "answer_tables", "points", "experiments"):
                store.execute(f"UPDATE {table} SET key = 'old' || key")
            store.execute("UPDATE points SET experiment = 'old' || experiment")
    store.close()


def test_a_run_says_how_many_points_are_from_the_store(file):
    assert "from the store" not in asked(file).stdout
    assert f"Store: {file.with_suffix('.sqlite')}, 2 of 2 from the store;" in asked(file).stdout
    file.write_text(FILE.replace("offered = 0.1", "offered = [0.1, 0.2]"))
    assert ", 2 of 4 from the store;" in asked(file).stdout


def test_answers_of_other_code_are_not_mixed_with_new_ones(file):
    run(file, workers=1)
    of_other_code(file, keys=True)
    store = file.with_suffix(".sqlite")
    done = asked(file)
    assert "from the store" not in done.stdout
    assert done.stderr == (
        f"netloom: {store}: 2 answers of other code of netloom stay unused: "
        "delete the file to drop them\n"
    )
    found = load_results(file)
    assert {each.kept.version for each in found.answered} == {code_version()}
    assert len(found.table()) == 2


def test_the_key_changes_with_the_code_that_answers_and_nothing_else(tmp_path, monkeypatch):
    def version():
        monkeypatch.setattr(provenance, "__file__", str(tmp_path / "base/provenance.py"))
        source_digest.cache_clear()
        return code_version.__wrapped__()

    for name in ("base/provenance.py", "models/a.py", "models/data/b.json", "cli/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    first = version()
    for name in ("cli/c.py", "models/__pycache__/a.pyc", "models/a.nbi", "report/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("2")
        assert version() == first, name
    for name in ("models/a.py", "models/data/b.json", "models/new.py"):
        before = version()
        (tmp_path / name).write_text("2")
        assert version() != before, name
    before = version()
    (tmp_path / "models/new.py").rename(tmp_path / "models/newer.py")
    assert version() != before


def test_the_key_of_a_question_that_is_not_netlooms_own_has_its_code(tmp_path, monkeypatch):
    file = tmp_path / "toy.py"
    file.write_text("1")
    point = Point("analyze", "analyze", {"on": "mesh:2x2", "app": "ring:4"}, {})
    toy = SimpleNamespace(module="toy", question=files.by_verb("analyze").question)
    monkeypatch.setattr(files, "by_verb", lambda _: toy)
    monkeypatch.setitem(sys.modules, "toy", SimpleNamespace(__file__=str(file)))
    keys = [point.key, Point(**vars(point) | {"key": ""}).key]
    file.write_text("2")
    source_digest.cache_clear()
    keys.append(Point(**vars(point) | {"key": ""}).key)
    assert len(set(keys)) == 3
