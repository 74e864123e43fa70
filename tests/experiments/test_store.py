import os
import sqlite3
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

from netloom.base.errors import InputError
from netloom.experiments import store as stores
from netloom.experiments.findings import load_results
from netloom.experiments.runner import run
from netloom.experiments.store import KeptAnswer, Store
from tests.experiments.small import experiment

ANSWER = KeptAnswer(
    '{"a": 1}', "", True, "1", "2020-01-01T00:00:00", 1.5, 1.0, {"table": b"\x00\x01"}
)


@pytest.fixture
def asked(tmp_path):
    return experiment(tmp_path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "store.sqlite"


def test_an_answer_comes_back_as_it_was_kept(asked, path):
    point = asked.points[0]
    with Store(path, create=True) as store:
        assert store.answer(point.key) is None
        store.keep(point, ANSWER)
    with Store(path) as store:
        assert store.answer(point.key) == ANSWER
        store.keep(point, ANSWER._replace(figures="{}", tables={}))
        assert store.answer(point.key) == ANSWER  # the first stays
        assert store.outcome(point.key) == (False, True)


def test_an_experiment_comes_back_without_its_file(asked, path):
    with Store(path, create=True) as store:
        store.register(asked)
        store.register(asked)
    with Store(path) as store:
        (kept,) = store.experiments()
        assert (kept.name, kept.title, kept.text) == ("small.toml", asked.title, asked.text)
        assert store.points(kept.key) == list(asked.points)
        assert store.outcomes(kept.key) == {}
        store.keep(asked.points[3], ANSWER._replace(refusal="no", saturated=None))
        assert store.outcomes(kept.key) == {asked.points[3].key: (True, None)}
        more = asked.points[0].at(0.45)
        store.ask(kept.key, [asked.points[0], more])
        assert store.points(kept.key) == [*asked.points, more]


def test_half_an_answer_is_none(asked, path, monkeypatch):
    bad = ANSWER._replace(tables={"table": b"", "nodes": object()})
    with Store(path, create=True) as store:
        with pytest.raises(sqlite3.Error):
            store.keep(asked.points[0], bad)
        assert store.answer(asked.points[0].key) is None
        store.keep(asked.points[0], ANSWER)  # and the store is as good as before


def test_what_another_machine_has_claimed_is_free_once_it_is_silent(path, monkeypatch):
    with Store(path, create=True) as store, Store(path) as other:
        monkeypatch.setattr(stores, "gethostname", lambda: "elsewhere")
        assert other.claim("a")
        monkeypatch.setattr(stores, "gethostname", lambda: "here")
        now = stores.time.time()
        monkeypatch.setattr(stores.time, "time", lambda: now + stores.STALE_SECONDS - 1)
        assert not store.claim("a")
        other.show_life()
        monkeypatch.setattr(stores.time, "time", lambda: now + stores.STALE_SECONDS + 1)
        assert not store.claim("a")
        monkeypatch.setattr(stores.time, "time", lambda: now + 2 * stores.STALE_SECONDS)
        assert store.claim("a")


def test_what_is_no_store(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Store(tmp_path / "none.sqlite")
    text = tmp_path / "text.sqlite"
    text.write_text("this is no database, however long it may be" * 50)
    with pytest.raises(InputError, match="no store"):
        Store(text)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    for create in (False, True):
        with pytest.raises(InputError, match="another program's"):
            Store(foreign, create=create)
    with pytest.raises(InputError, match="no store"):
        Store(text / "below.sqlite", create=True)


def test_a_store_that_fails_is_told_in_one_line(asked, path):
    def fill():
        with Store(path, create=True) as store:
            (pages,) = store._db.execute("PRAGMA page_count").fetchone()
            store._db.execute(f"PRAGMA max_page_count = {pages}")
            store.keep(asked.points[0], ANSWER._replace(tables={"table": bytes(100_000)}))

    with pytest.raises(InputError, match=r"a store that fails \(database or disk is full\)"):
        fill()
    with Store(path) as store:
        assert store.answer(asked.points[0].key) is None
    half = path.with_suffix(".half")
    half.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="malformed"), Store(half) as store:
        store.experiments()


def kept(folder):
    """A store with one answer, as a run leaves it; its experiment and point."""
    asked = experiment(folder)
    store = folder / "store.sqlite"
    table = BytesIO()
    pl.DataFrame({"load": [0.3], "latency": [7.0]}).write_parquet(table)
    with Store(store, create=True) as opened:
        opened.register(asked)
        answer = ANSWER._replace(tables={"table": table.getvalue()})
        opened.keep(asked.points[0], answer)
    return store, asked, asked.points[0]


@pytest.fixture
def user():
    """Somebody whose rights count: root may write anywhere."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.fixture
def folder():
    """A folder that anybody may enter."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)
        Path(name).chmod(0o777)


def test_a_finished_store_is_read_where_nothing_can_be_written(folder, request):
    store, asked, point = kept(folder)
    folder.chmod(0o555)
    store.chmod(0o444)
    request.getfixturevalue("user")
    assert load_results(store).table()["latency"].to_list() == [7.0]
    with Store(store) as opened:
        assert opened.read_only
        assert opened.register(asked).key == asked.key  # it is there already
        assert opened.outcome(point.key) == (False, True)
        with pytest.raises(InputError, match="a store that cannot be written"):
            opened.claim(asked.points[1].key)
    with pytest.raises(InputError, match="a store that cannot be written"):
        run(asked, store=store, workers=1)


def test_points_that_a_log_still_holds_are_not_passed_over(folder, request):
    store, _, _ = kept(folder)
    (folder / "store.sqlite-wal").write_bytes(b"what was written last")
    folder.chmod(0o555)
    request.getfixturevalue("user")
    with pytest.raises(InputError, match=r"last points are in store\.sqlite-wal"):
        load_results(store)


DAMAGE = {
    "figures": ("UPDATE answers SET figures = '{\"a\": 2}'", "not the one that was kept"),
    "seconds": ("UPDATE answers SET cpu_seconds = 0.5", "not the one that was kept"),
    "refusal": ("UPDATE answers SET refusal = 'no'", "not the one that was kept"),
    "table": ("UPDATE answer_tables SET parquet = x'00'", "not the one that was kept"),
    "no table": ("DELETE FROM answer_tables", "not the one that was kept"),
    "words": ("UPDATE answers SET figures = CAST(x'ff' AS TEXT)", "damage"),
    "point": ("UPDATE points SET point = replace(point, '0.3', '0.6')", "a question that is not"),
    "experiment": ("UPDATE experiments SET title = 'large'", "words that are not those"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_one_line_that_names_the_point(tmp_path, what):
    store, _, point = kept(tmp_path)
    change, wrong = DAMAGE[what]
    with sqlite3.connect(store) as raw:
        raw.execute(change)
    raw.close()
    with pytest.raises(InputError, match=wrong) as caught:
        load_results(store).table()
    assert "\n" not in str(caught.value)
    named = point.described if "point" not in what and "experiment" not in what else ""
    assert f"{store}, " in caught.value.where
    assert named in caught.value.where


def test_a_damaged_answer_can_be_answered_again_as_the_message_says(tmp_path):
    store, _, point = kept(tmp_path)
    with sqlite3.connect(store) as raw:
        raw.execute("UPDATE answers SET figures = '{}'")
        with Store(store) as opened:
            raw.execute(opened.again(point.key).partition('"')[2].rstrip('"'))
            raw.commit()
            opened.keep(point, ANSWER)
            assert opened.answer(point.key) == ANSWER
    raw.close()


def test_two_processes_do_not_claim_the_same_point_and_a_dead_one_none(asked, path):
    key = asked.points[0].key
    with Store(path, create=True) as one, Store(path) as other:
        assert one.claim(key)
        assert one.claim(key)
        assert not other.claim(key)
        one.release(key)
        assert other.claim(key)
        other.keep(asked.points[0], ANSWER)
        assert not one.claim(key)
        claim = f"from netloom.experiments.store import Store\nStore({str(path)!r}).claim('a')"
        subprocess.run([sys.executable, "-c", claim], check=True)
        assert one.claim("a")
