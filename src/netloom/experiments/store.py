"""Where answers are kept: one SQLite file, which survives whatever happens to those who use it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, NamedTuple, Self
from uuid import uuid4

from netloom.errors import InputError
from netloom.experiments.answer import Answer
from netloom.experiments.points import Point

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netloom.experiments.file import Experiment

TABLES = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, verb TEXT NOT NULL, fields TEXT NOT NULL, figures TEXT NOT NULL,
  refusal TEXT NOT NULL, saturated INTEGER, version TEXT NOT NULL, finished TEXT NOT NULL,
  wall_seconds REAL NOT NULL, cpu_seconds REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS answer_tables (
  key TEXT NOT NULL, name TEXT NOT NULL, parquet BLOB NOT NULL, PRIMARY KEY (key, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS experiments (
  key TEXT PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL, question TEXT NOT NULL,
  text TEXT NOT NULL, asked TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE TABLE IF NOT EXISTS points (
  experiment TEXT NOT NULL, place INTEGER NOT NULL, point TEXT NOT NULL, key TEXT NOT NULL,
  PRIMARY KEY (experiment, place), UNIQUE (experiment, key, point)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,
  seen REAL NOT NULL
) STRICT, WITHOUT ROWID;
"""

MARK = 0x6E6C6F6D
"""``application_id`` of a store: "nlom"."""

LAYOUT = 0
"""``user_version`` of a store: to be raised whenever ``TABLES`` change."""

BUSY_SECONDS = 60.0
"""How long a process waits for others that write."""

STALE_SECONDS = 30.0
"""After so long without a sign of life a claim of another machine's process is no more."""


class Outcome(NamedTuple):
    """What is known of a point that has been answered.

    Attributes
    ----------
    refused
        Whether its question has no answer, and why is kept instead.
    saturated
        Whether the network fell behind; None where that was no matter.
    """

    refused: bool
    saturated: bool | None


class Kept(NamedTuple):
    """An experiment that a store knows: its key, and what its file is called and says."""

    key: str
    name: str
    title: str
    question: str
    text: str


class Store:
    """A store of answers, open; a context manager.

    Every answer is written at once and in one transaction: a process that is killed loses what it
    had not finished, and nothing else. Several processes may use one store at a time, of one
    machine, or of several where the file system keeps SQLite's locks.

    Parameters
    ----------
    path
        The file.
    create
        Whether to make it if it is not there.

    Raises
    ------
    InputError
        If it is not there, is no store, or cannot be used.
    """

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path)
        self.owner = uuid4().hex
        self._claims = False  # whether there has been one: who only reads need not write
        if not create and not self.path.is_file():
            raise InputError(str(path), "no such file", "a store that netloom run has made")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            self._open()
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                str(path), f"no store ({error})", "an SQLite file of netloom"
            ) from None

    def _open(self) -> None:
        mark, layout, used = self._db.execute(  # at one moment: another may just be making it
            "SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_master)"
            " FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if mark not in (0, MARK) or (used and not mark):
            raise sqlite3.DatabaseError("it is another program's")
        if layout != LAYOUT:
            raise sqlite3.DatabaseError(f"it is laid out as another netloom does, {layout}")
        if self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            self._patiently("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        if not mark:
            with self._writing():
                for command in TABLES.split(";"):
                    self._db.execute(command)
                self._db.execute(f"PRAGMA application_id = {MARK}")
                self._db.execute(f"PRAGMA user_version = {LAYOUT}")

    def _patiently(self, command: str) -> None:
        """Do what SQLite does not wait for by itself while another process is at the file."""
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._db.execute(command)
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not busy or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()
        if isinstance(error, sqlite3.Error):  # a full disk, a damaged file, locks that do not work
            found = f"a store that fails ({error})"
            wanted = "space, and a sound file; finished points are kept: run it again"
            raise InputError(str(self.path), found, wanted) from None

    def close(self) -> None:
        """Give up what is claimed, and close the file."""
        with suppress(sqlite3.Error):  # claims of a process that is gone are free anyhow
            if self._claims:
                self._db.execute("DELETE FROM claims WHERE owner = ?", [self.owner])
        self._db.close()

    def register(self, experiment: Experiment) -> Kept:
        """Keep what an experiment asks, so that its results can be told without its file."""
        words = experiment.title, experiment.question, experiment.text
        found = Kept(experiment.key, experiment.path.name, *words)
        with self._writing():
            self._db.execute(
                "INSERT INTO experiments (key, name, title, question, text) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET asked = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
                found,
            )
        self.ask(experiment.key, experiment.points)
        return found

    def ask(self, experiment: str, points: Iterable[Point]) -> None:
        """Add points to an experiment; those that it has already stay where they are."""
        rows = [(_point_text(point), point.key) for point in points]
        if not rows:
            return
        with self._writing():
            (place,) = self._db.execute(
                "SELECT coalesce(max(place) + 1, 0) FROM points WHERE experiment = ?", [experiment]
            ).fetchone()
            for row in rows:
                added = self._db.execute(
                    "INSERT OR IGNORE INTO points (experiment, place, point, key)"
                    " VALUES (?, ?, ?, ?)",
                    [experiment, place, *row],
                )
                place += added.rowcount

    def experiments(self) -> list[Kept]:
        """Return the experiments of this store: of those of one name the last that was run."""
        rows = self._db.execute(
            "SELECT key, name, title, question, text FROM experiments ORDER BY asked"
        )
        last = {row[1]: Kept(*row) for row in rows}
        return list(last.values())

    def points(self, experiment: str) -> list[Point]:
        """Return the points of an experiment, in the order in which they were asked."""
        rows = self._db.execute(
            "SELECT point, key FROM points WHERE experiment = ? ORDER BY place", [experiment]
        )
        return [Point(**json.loads(text), key=key) for text, key in rows]

    def outcomes(self, experiment: str) -> dict[str, Outcome]:
        """Return what is known of the points of an experiment that are answered, by key."""
        rows = self._db.execute(
            "SELECT DISTINCT key, refusal != '', saturated FROM answers JOIN points USING (key)"
            " WHERE experiment = ?",
            [experiment],
        )
        return {key: _outcome(refused, saturated) for key, refused, saturated in rows}

    def outcome(self, key: str) -> Outcome | None:
        """Return what is known of a point; None if it is not answered."""
        row = self._db.execute(
            "SELECT refusal != '', saturated FROM answers WHERE key = ?", [key]
        ).fetchone()
        return row and _outcome(*row)

    def answer(self, key: str) -> Answer | None:
        """Return the answer of a point; None if there is none."""
        row = self._db.execute(
            "SELECT figures, refusal, saturated, version, finished, wall_seconds, cpu_seconds"
            " FROM answers WHERE key = ?",
            [key],
        ).fetchone()
        if row is None:
            return None
        figures, refusal, saturated, *rest = row
        tables = self._db.execute("SELECT name, parquet FROM answer_tables WHERE key = ?", [key])
        return Answer(figures, dict(tables), refusal, _known(saturated), *rest)

    def keep(self, point: Point, answer: Answer) -> None:
        """Keep the answer of a point, all of it or nothing; the first that is kept stays."""
        with self._writing():
            added = self._db.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    point.key, point.verb, json.dumps(point.fields), answer.figures,
                    answer.refusal, answer.saturated, answer.version, answer.finished,
                    answer.wall_seconds, answer.cpu_seconds,
                ],
            )  # fmt: skip
            if added.rowcount:
                rows = [(point.key, name, data) for name, data in answer.tables.items()]
                self._db.executemany("INSERT INTO answer_tables VALUES (?, ?, ?)", rows)
            self._db.execute("DELETE FROM claims WHERE key = ?", [point.key])

    def claim(self, key: str) -> bool:
        """Return whether this process is to answer a point: nobody has, and no other is at it."""
        now, host = time.time(), gethostname()
        with self._writing():
            if self.outcome(key):
                return False
            row = self._db.execute(
                "SELECT owner, host, process, seen FROM claims WHERE key = ?", [key]
            ).fetchone()
            if row:
                owner, where, process, seen = row
                if owner != self.owner and _alive(where, process, now - seen):
                    return False
            self._db.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
                [key, self.owner, host, os.getpid(), now],
            )
        self._claims = True
        return True

    def release(self, key: str) -> None:
        """Leave a point to others."""
        self._db.execute("DELETE FROM claims WHERE key = ? AND owner = ?", [key, self.owner])

    def show_life(self) -> None:
        """Say that this process is still at work on what it has claimed."""
        self._db.execute("UPDATE claims SET seen = ? WHERE owner = ?", [time.time(), self.owner])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # where the disk is full, SQLite has done that
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _outcome(refused: int, saturated: int | None) -> Outcome:
    return Outcome(bool(refused), _known(saturated))


def _known(saturated: int | None) -> bool | None:
    return None if saturated is None else bool(saturated)


def _alive(host: str, process: int, silent_seconds: float) -> bool:
    """Whether a process that has claimed a point still is."""
    if host == gethostname() and not _is_process(process):
        return False
    return silent_seconds < STALE_SECONDS


def _is_process(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


def _point_text(point: Point) -> str:
    """Return a point as JSON, without its key."""
    names = ("section", "verb", "fields", "varied", "files", "sweep", "knee")
    return json.dumps({name: getattr(point, name) for name in names}, ensure_ascii=False)
