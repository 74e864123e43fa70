"""What a study is, which ones there are, and what they answer.

A study simulates more than a verb does in one question, and says what that means. It keeps what it
has simulated, so that it can be stopped at any time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from netloom._version import __version__
from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.textfiles import read_text, unwritable, write_text
from netloom.questions.answers import Verdict

Case: TypeAlias = Mapping[str, Any]

Stopped: TypeAlias = Callable[[], bool]

Simulate: TypeAlias = Callable[[Case, Stopped], dict[str, Any] | None]

Seen: TypeAlias = Sequence[dict[str, Any] | None]
"""What simulation finds of each case. None where Ctrl-C came before."""


STUDIES = {
    "model-accuracy": "How far the torus-broadcast and locality models can be trusted, against "
    "simulation",
    "latency-accuracy": "How far predict latency is off, on random networks, routers and traffic",
    "flows-and-flits": "How far flows that share fairly, or by turns, are from flits, and what is "
    "said of it",
}
"""What each study asks, by the name that the command line takes.

A module of this package has almost the same name, with the ``parts`` of the study.
"""


class Goal(NamedTuple):
    """Something that a study wants to be so.

    Attributes
    ----------
    what
        The quantity, the less of which the better.
    limit, found
        What it may be at most, and what it is. NaN if nothing is known.
    unit
        Of both, such as ``%`` or ``cycles``.
    where
        Where it is worst.
    """

    what: str
    limit: float
    found: float
    unit: str
    where: str = ""

    @property
    def met(self) -> bool:
        """Whether it is so."""
        return self.found <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain data. Null where nothing is known."""
        found = self.found if isfinite(self.found) else None
        return self._asdict() | {"found": found, "met": self.met}


class Section(NamedTuple):
    """A table as people read it: a title, columns, rows of words, and remarks on them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class StudyResult:
    """What a study found.

    Attributes
    ----------
    name, quick
        The study, and whether it was its quick variant.
    goals, sections
        What was wanted, and the tables to read.
    tables
        All figures, tidy: one row per observation.
    asked, simulated
        Cases to simulate, and how many of them were when the study ended.
    kept
        The file that has what was simulated.
    """

    name: str
    quick: bool
    goals: tuple[Goal, ...]
    sections: tuple[Section, ...]
    tables: Mapping[str, pl.DataFrame]
    asked: int
    simulated: int
    kept: Path

    @property
    def interrupted(self) -> bool:
        """Whether the study was stopped before its end."""
        return self.simulated < self.asked

    @property
    def sentence(self) -> str:
        """The result in one line."""
        met = sum(goal.met for goal in self.goals)
        words = f"{met} of {len(self.goals)} goals met"
        if self.interrupted:
            words += f" by the {self.simulated} of {self.asked} cases that were simulated"
        return f"{words}."

    @property
    def verdict(self) -> Verdict:
        """The same with its mark: ``act`` if a goal is missed."""
        mark = "fine" if all(goal.met for goal in self.goals) else "act"
        return Verdict("unknown" if self.interrupted else mark, self.sentence)

    def table(self) -> pl.DataFrame:
        """Return all tables as one, whose column ``table`` says which. Null where one has none."""
        named = [
            table.select(pl.lit(name).alias("table"), pl.all())
            for name, table in self.tables.items()
            if len(table)
        ]
        return pl.concat(named, how="diagonal_relaxed") if named else pl.DataFrame({"table": []})

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom study run``."""
        return {
            "study": self.name,
            "quick": self.quick,
            "goals": [goal.to_dict() for goal in self.goals],
            "tables": {name: table.to_dicts() for name, table in self.tables.items()},
            "cases": {"asked": self.asked, "simulated": self.simulated},
            "interrupted": self.interrupted,
            "kept": str(self.kept),
            "verdict": self.verdict.to_dict(),
            "netloom": __version__,
        }

    def __repr__(self) -> str:
        return f"<Study {self.name}{', quick' * self.quick}: {self.sentence}>"


class Part(NamedTuple):
    """What is simulated in a study in one go, and what is said of it.

    Attributes
    ----------
    table
        The name of the table that is made.
    what
        Said of the progress.
    cases, simulate
        As ``simulate_all`` takes them.
    compare
        Makes the table of errors.
    goals, sections
        What is wanted and shown of a table that has rows.
    """

    table: str
    what: str
    cases: Sequence[Case]
    simulate: Simulate
    compare: Callable[[Sequence[Case], Seen], pl.DataFrame]
    goals: Callable[[pl.DataFrame], Iterable[Goal]]
    sections: Callable[[pl.DataFrame], Iterable[Section]]


def run_study(name: str, *, quick: bool = False, kept: str | Path | None = None) -> StudyResult:
    """Run a study. Ctrl-C ends it, and what was simulated by then is the answer.

    Parameters
    ----------
    name
        A name of ``STUDIES``.
    quick
        Only as much as takes less than a minute.
    kept
        The file of what has been simulated, which is added to, and from which a study that was
        stopped goes on: ``out/NAME.jsonl`` by default.

    Raises
    ------
    InputError
        If there is no such study, or the file cannot be used.
    """
    if name not in STUDIES:
        raise InputError("study", f"'{name}'", f"one of {', '.join(STUDIES)}")
    path = Path("out") / f"{name}.jsonl" if kept is None else Path(kept)
    module = import_module(f"netloom_papers.studies.{name.replace('-', '_')}")
    parts: Iterable[Part] = module.parts(quick=quick)
    found: list[dict[str, Any] | None] = []
    tables, goals, sections = dict[str, Any](), list[Goal](), list[Section]()
    for part in parts:
        seen: Seen = [None] * len(part.cases)
        if None not in found:  # else Ctrl-C has said to stop
            seen = simulate_all(part.cases, part.simulate, path, part.what)
        found += seen
        table = tables[part.table] = part.compare(part.cases, seen)
        if len(table):
            goals += part.goals(table)
            sections += part.sections(table)
    done = len(found) - found.count(None)
    return StudyResult(
        name, quick, tuple(goals), tuple(sections), tables, len(found), done, kept=path
    )


def rows_by(
    table: pl.DataFrame, *by: str, cells: Callable[[pl.DataFrame], Iterable[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a section: a group of a table each, by its name, with its cells.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"vcs": [2, 4, 2], "cycles": [10, 20, 30]})
    >>> rows_by(table, "vcs", cells=lambda of: [f"{of['cycles'].sum()}"])
    (('2', '40'), ('4', '20'))
    """

    def said(part: object) -> str:
        return f"{part:g}" if isinstance(part, float) else f"{part}"

    groups = table.group_by(*by, maintain_order=True)
    return tuple((*map(said, name), *cells(of)) for name, of in groups)


def worst(table: pl.DataFrame, most: int, column: str = "error") -> list[dict[str, Any]]:
    """Return the rows of the largest errors of either sign. Those without any come last."""
    size = pl.col(column).abs()
    order = table.sort(size, descending=True, nulls_last=True, maintain_order=True)
    return order.head(most).to_dicts()


def with_errors(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows with the error of what is predicted, as a share of what is simulated.

    Both are null where the model has no steady state.
    """
    table = pl.DataFrame(rows, infer_schema_length=None)
    if not rows:
        return table
    return table.with_columns(pl.col("predicted").cast(pl.Float64).fill_nan(None)).with_columns(
        error=pl.col("predicted") / pl.col("simulated") - 1
    )


def run_side_by_side(runs: Sequence[Callable[[], Any]], what: str) -> list[Any]:
    """Return what each run finds, on all processors. Ctrl-C ends them all, without an answer.

    ``what`` is said of the progress.
    """
    from netloom.phases.execution import side_by_side

    return side_by_side([lambda _, run=run: run() for run in runs], what)


WANTED = "a line for each simulated case, as an earlier run of this study wrote it"


def simulate_all(
    cases: Sequence[Case], simulate: Simulate, kept: str | Path, what: str
) -> list[dict[str, Any] | None]:
    """Return what simulation finds of each case. None where Ctrl-C came before.

    A case is added to the file as one line of JSON once it has ended, and is read from there in
    later runs of this version. Cases run side by side, on all processors.

    Parameters
    ----------
    cases
        All that the answer depends on, as plain data.
    simulate
        Called with a case and a function that says whether to stop. None if it did.
    kept
        The file, in a folder that is made if need be.
    what
        Said of the progress.

    Raises
    ------
    InputError
        If the file is no such file, or cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "squares.jsonl"
    >>> cases = [{"number": 2}, {"number": 3}]
    >>> simulate_all(cases, lambda case, _: {"square": case["number"] ** 2}, file, "squares")
    [{'square': 4}, {'square': 9}]
    >>> simulate_all(cases[1:], lambda case, _: None, file, "squares")  # nothing to be done
    [{'square': 9}]
    """
    path, known = Path(kept), dict[str, dict[str, Any]]()
    text = read_text(path, wanted=WANTED) if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            said = json.loads(line)
            known[json.dumps(said["case"], sort_keys=True)] = dict(said["found"])
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{path}:{number}", "no simulated case", WANTED) from None
    if len(whole) < len(text):  # leave out what was not written to its end
        write_text(path, whole)
    lock = Lock()
    of_now = [{**case, "netloom": __version__} for case in cases]
    names = [json.dumps(each, sort_keys=True) for each in of_now]

    def run(place: int, stopped: Stopped) -> bool | None:
        found = simulate(cases[place], stopped)
        if found is None:
            return None
        with lock:
            known[names[place]] = found
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"case": of_now[place], "found": found}) + "\n")
            except OSError as error:
                raise unwritable(path, error) from None
        return True

    waiting = [place for place, name in enumerate(names) if name not in known]
    if waiting:
        from netloom.simulation.side_by_side import run_all

        with counting(len(waiting), what) as tell:
            run_all([partial(run, place) for place in waiting], tell=tell)
    return [known.get(name) for name in names]
