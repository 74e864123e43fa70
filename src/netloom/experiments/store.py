"""Where answers are kept: one SQLite file, which survives whatever happens to those who use it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from uuid import uuid4

from netloom.base.errors import InputError
from netloom.base.provenance import code_version
from netloom.experiments.file import Experiment, Point
from netloom.questions.recorded import Recorded

if TYPE_CHECKING:
    import polars as pl

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
CREATE TABLE IF NOT EXISTS checksums (item TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT;
"""

SOUND = "the store as netloom run wrote it"
"""What would do in place of a damaged one."""

MARK = 0x6E6C6F6D
"""``application_id`` of a store: "nlom"."""

LAYOUT = 0
"""``user_version`` of a store: to be raised whenever ``TABLES`` change."""

UNWRITABLE = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
"""What SQLite says of a store where it can make no files beside it."""

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
        Whether the network fell behind. None where that was no matter.
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


class KeptAnswer(NamedTuple):
    """What a worker has found out, as a store keeps it.

    Attributes
    ----------
    figures
        The JSON of the verb's answer. "" where the question was refused.
    refusal
        Why the question has no answer. "" where it has.
    saturated
        Whether the network fell behind. None where that was no matter.
    version, finished, wall_seconds, cpu_seconds
        The netloom that answered, when (UTC), and what it took.
    tables
        Its tables as Parquet, by name.
    """

    figures: str
    refusal: str
    saturated: bool | None
    version: str
    finished: str
    wall_seconds: float
    cpu_seconds: float
    tables: Mapping[str, bytes]

    def record(self, verb: str) -> Recorded:
        """Return the answer as reports take it."""
        return Recorded(verb, json.loads(self.figures), _Tables(self.tables))


class _Tables(Mapping[str, "pl.DataFrame"]):
    """Tables that are read when they are asked for."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self.data = data

    def __getitem__(self, name: str) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(self.data[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Store:
    """A store of answers, open. A context manager.

    With ``create`` it is made if it is not there. Every answer is written at once and in one
    transaction: a process that is killed loses what it had not finished, and nothing else. Several
    processes may use one store at a time, of one machine, or of several where the file system keeps
    SQLite's locks.

    Raises
    ------
    InputError
        If it is not there, is no store, or cannot be used.
    """

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path)
        self.owner = uuid4().hex
        self._claims = False  # whether there has been one: who only reads need not write
        self.read_only = False
        if not create and not self.path.is_file():
            raise InputError(str(path), "no such file", "a store that netloom run has made")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connect()
        except (sqlite3.Error, OSError) as error:
            found = f"no store ({error})"
            raise InputError(str(path), found, "an SQLite file of netloom") from None

    def _connect(self) -> None:
        """Open the file. As one that nobody changes if nothing can be written beside it."""
        self._db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            self._open()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in UNWRITABLE or not self.path.is_file():
                raise
            self._db.close()
            log = self.path.with_name(f"{self.path.name}-wal")
            if log.exists() and log.stat().st_size:
                found = f"a store whose last points are in {log.name}, where nothing can be written"
                raise InputError(str(self.path), found, "both files in a writable folder") from None
            self.read_only = True
            name = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
            self._db = sqlite3.connect(name, uri=True, isolation_level=None)
            if not self._is_store():
                raise sqlite3.DatabaseError("an empty file") from None

    def _open(self) -> None:
        mark = self._is_store()
        if self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            self._patiently("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        if not mark:
            with self._writing():
                for command in TABLES.split(";"):
                    self._db.execute(command)
                self._db.execute(f"PRAGMA application_id = {MARK}")
                self._db.execute(f"PRAGMA user_version = {LAYOUT}")

    def _is_store(self) -> bool:
        """Return whether it is a store already. Refuse what is another program's."""
        mark, layout, used = self._db.execute(  # at one moment: another may just be making it
            "SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_master)"
            " FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if mark not in (0, MARK) or (used and not mark):
            raise sqlite3.DatabaseError("it is another program's")
        if layout != LAYOUT:
            raise sqlite3.DatabaseError(f"it is laid out as another netloom does, {layout}")
        return bool(mark)

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
        if self.read_only and any(each.key == found.key for each in self.experiments()):
            return found
        with self._writing():
            self._db.execute(
                "INSERT INTO experiments (key, name, title, question, text) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET asked = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
                found,
            )
            self._sum(f"experiment {found.key}", point_checksum(*found))
        self.ask(experiment.key, experiment.points)
        return found

    def ask(self, experiment: str, points: Iterable[Point]) -> None:
        """Add points to an experiment. Those that it has already stay where they are."""
        names = ("section", "verb", "fields", "varied", "files", "sweep", "knee")
        told = (({name: getattr(each, name) for name in names}, each.key) for each in points)
        rows = [(json.dumps(point, ensure_ascii=False), key) for point, key in told]
        if self.read_only:
            asked = "SELECT point, key FROM points WHERE experiment = ?"
            known = set(self._db.execute(asked, [experiment]))
            rows = [row for row in rows if row not in known]
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
                if added.rowcount:
                    self._sum(f"point {experiment} {place}", point_checksum(*row))
                    place += 1

    def experiments(self) -> list[Kept]:
        """Return the experiments of this store: of those of one name the last that was run."""
        rows = self._db.execute(
            "SELECT key, name, title, question, text FROM experiments ORDER BY asked"
        )
        last = {row[1]: Kept(*row) for row in rows}
        for kept in last.values():
            if self._summed(f"experiment {kept.key}") not in (None, point_checksum(*kept)):
                found = "words that are not those that were kept"
                raise InputError(f"{self.path}, experiment {kept.name}", found, SOUND)
        return list(last.values())

    def points(self, experiment: str) -> list[Point]:
        """Return the points of an experiment, in the order in which they were asked."""
        rows = self._db.execute(
            "SELECT place, point, key FROM points WHERE experiment = ? ORDER BY place", [experiment]
        ).fetchall()
        for place, text, key in rows:
            if self._summed(f"point {experiment} {place}") not in (None, point_checksum(text, key)):
                where = f"{self.path}, point {place + 1} ({key[:16]})"
                raise InputError(where, "a question that is not the one that was kept", SOUND)
        return [Point(**json.loads(text), key=key) for _, text, key in rows]

    def outcomes(self, experiment: str) -> dict[str, Outcome]:
        """Return what is known of the points of an experiment that are answered, by key."""
        rows = self._db.execute(
            "SELECT DISTINCT key, refusal != '', saturated FROM answers JOIN points USING (key)"
            " WHERE experiment = ?",
            [experiment],
        )
        return {key: Outcome(bool(refused), _known(saturated)) for key, refused, saturated in rows}

    def outcome(self, key: str) -> Outcome | None:
        """Return what is known of a point. None if it is not answered."""
        row = self._db.execute(
            "SELECT refusal != '', saturated FROM answers WHERE key = ?", [key]
        ).fetchone()
        return row and Outcome(bool(row[0]), _known(row[1]))

    def of_other_code(self) -> int:
        """Return how many answers are not of the code that runs: no point's key leads to them."""
        (many,) = self._db.execute(
            "SELECT count(*) FROM answers WHERE version != ?", [code_version()]
        ).fetchone()
        return int(many)

    def answer(self, key: str, called: str = "") -> KeptAnswer | None:
        """Return the answer of a point. None if there is none.

        Raises
        ------
        InputError
            If it is not what was kept, or cannot be read.
        """
        where = f"{self.path}, point {called or key[:16]}"
        try:
            row = self._db.execute(
                "SELECT verb, figures, refusal, saturated, version, finished, wall_seconds,"
                " cpu_seconds FROM answers WHERE key = ?",
                [key],
            ).fetchone()
            tables = self._db.execute(
                "SELECT name, parquet FROM answer_tables WHERE key = ?", [key]
            ).fetchall()
            summed = self._summed(f"answer {key}")
        except sqlite3.Error as error:
            raise InputError(where, f"damage ({error})", self.again(key)) from None
        if row is None:
            return None
        verb, figures, refusal, saturated, version, finished, wall, cpu = row
        words = figures, refusal, _known(saturated), version, finished
        answer = KeptAnswer(*words, wall, cpu, dict(tables))
        if summed not in (None, answer_checksum(key, verb, answer)):
            found = "an answer that is not the one that was kept"
            raise InputError(where, found, self.again(key))
        return answer

    def again(self, key: str) -> str:
        """Return what to do about an answer that is damaged."""
        point = f"WHERE key LIKE '{key[:16]}%'"
        return f'{SOUND}; or run it again after sqlite3 {self.path} "DELETE FROM answers {point}"'  # noqa: S608 (is read, not run)

    def keep(self, point: Point, answer: KeptAnswer) -> None:
        """Keep the answer of a point, all of it or nothing. The first that is kept stays."""
        with self._writing():
            added = self._db.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [point.key, point.verb, json.dumps(point.fields), *answer[:-1]],
            )
            if added.rowcount:
                self._db.execute("DELETE FROM answer_tables WHERE key = ?", [point.key])
                rows = [(point.key, name, data) for name, data in answer.tables.items()]
                self._db.executemany("INSERT INTO answer_tables VALUES (?, ?, ?)", rows)
                checksum = answer_checksum(point.key, point.verb, answer)
                self._sum(f"answer {point.key}", checksum)
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

    def check_writable(self) -> None:
        """Raise InputError if nothing can be kept here."""
        if self.read_only:
            raise InputError(str(self.path), "a store that cannot be written", "a writable folder")

    def _sum(self, item: str, checksum: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?)", [item, checksum])

    def _summed(self, item: str) -> str | None:
        """Return the checksum of something that is kept. What has none is believed."""
        row = self._db.execute("SELECT sha256 FROM checksums WHERE item = ?", [item]).fetchone()
        return row and str(row[0])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self.check_writable()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # where the disk is full, SQLite has done that
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _known(saturated: int | None) -> bool | None:
    return None if saturated is None else bool(saturated)


def _alive(host: str, process: int, silent_seconds: float) -> bool:
    """Whether a process that has said nothing for so long is still at work."""
    try:
        if host == gethostname():
            os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        pass
    return silent_seconds < STALE_SECONDS


def answer_checksum(key: str, verb: str, answer: KeptAnswer) -> str:
    """Return the checksum of a point's answer, its tables and all."""
    *words, wall, cpu, tables = answer
    found = _of(key, verb, *words, float(wall), float(cpu))  # as they come back
    for name, data in sorted(tables.items()):
        found.update(_of(name).digest())
        found.update(sha256(data).digest())
    return str(found.hexdigest())


def point_checksum(*parts: str) -> str:
    """Return the checksum of words, such as those of a point or an experiment."""
    return str(_of(*parts).hexdigest())


def _of(*parts: object) -> Any:
    return sha256(json.dumps(parts).encode())
