"""What an experiment has found: its points with their answers, and all of them as one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.provenance import code_version
from netloom.base.words import counted, give_or_take
from netloom.experiments.file import Point, find_inputs, renamed
from netloom.experiments.store import Kept, KeptAnswer, Outcome, Store
from netloom.questions.answers import Verdict
from netloom.questions.recorded import Recorded, to_pandas

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Curve:
    """Points that differ in their level (and seed) only, by level, rising."""

    levels: Mapping[float, tuple[Point, ...]]

    @property
    def points(self) -> list[Point]:
        """The points of the experiment file, level by level."""
        return [point for points in self.levels.values() for point in points]


class Step(NamedTuple):
    """What a curve needs next.

    Attributes
    ----------
    wanted
        Points that must be answered before it is known how to go on.
    perhaps
        Points that will be wanted unless the curve ends before them.
    added
        Points near the knee that the curve has beside those of the experiment file, answered or
        not.
    """

    wanted: list[Point]
    perhaps: list[Point]
    added: tuple[Point, ...] = ()


def curves_of(points: Iterable[Point]) -> list[Curve]:
    """Return the curves that points form, in the order of their first points."""
    found: dict[str, dict[float, list[Point]]] = {}
    for point in points:
        found.setdefault(point.curve, {}).setdefault(point.level, []).append(point)
    return [
        Curve({level: tuple(levels[level]) for level in sorted(levels)})
        for levels in found.values()
    ]


def next_step(curve: Curve, known: Mapping[str, Outcome]) -> Step:
    """Return what a curve needs next. ``known`` is what is answered, by key."""
    low, high = 0.0, None
    levels = iter(curve.levels.items())
    for level, points in levels:
        wanted = _missing(points, known)
        if wanted:
            later = [point for _, points in levels for point in points]
            return Step(wanted, _missing(later, known))
        if is_past(points, known):
            high = level
            break
        low = level
    if high is None:
        return Step([], [])
    added: list[Point] = []
    first = next(iter(curve.levels.values()))
    for _ in range(first[0].knee):
        middle = round((low + high) / 2, 12)
        if not low < middle < high:  # nothing is left between them
            break
        points = tuple(point.at(middle) for point in first)
        added += points
        wanted = _missing(points, known)
        if wanted:
            return Step(wanted, [], tuple(added))
        if is_past(points, known):
            high = middle
        else:
            low = middle
    return Step([], [], tuple(added))


def is_past(points: Iterable[Point], known: Mapping[str, Outcome]) -> bool:
    """Whether the network saturates at a level, in half or more of the runs there."""
    told = [known[point.key].saturated for point in points if point.key in known]
    return 0 < len(told) <= 2 * sum(each is True for each in told)


def up_to_saturation(
    points: Iterable[Point], known: Mapping[str, Outcome]
) -> tuple[list[Point], int]:
    """Return the answered points that count, and how many have no answer yet.

    Of every curve, those up to its lowest level past saturation, in rising order: what happened to
    be answered beyond is left out.
    """
    counting = []
    missing = 0
    for curve in curves_of(points):
        for level in curve.levels.values():
            counting += [point for point in level if point.key in known]
            missing += len(_missing(level, known))
            if is_past(level, known):
                break
    return counting, missing


def _missing(points: Iterable[Point], known: Mapping[str, Outcome]) -> list[Point]:
    return [point for point in points if point.key not in known]


SEED = "seed"


def over_seeds(
    rows: Iterable[Mapping[str, Any]], keys: Sequence[str], columns: Collection[str]
) -> list[dict[str, Any]]:
    r"""Return one row for each value of the keys, in the order of the first key.

    If an answer has several rows, the first of each seed belong together, the second, and so on.

    A number is the mean over the seeds with half of its 95 % interval (Student's t). If a seed has
    none, there is no mean. What is true of some seeds only is said with their number.

    Examples
    --------
    >>> rows = [{"on": "a", "seed": n, "latency": 20.0 + n, "up": n > 1} for n in (1, 2, 3)]
    >>> over_seeds(rows, ["on"], ["latency", "up"])
    [{'on': 'a', 'latency': '22.0\xa0±\xa02.5', 'up': '2 of 3'}]
    """
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    seen: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        key = tuple(row[name] for name in keys)
        one = (key, row.get(SEED))
        groups.setdefault((*key, seen[one]), []).append(row)
        seen[one] += 1
    firsts = {key[0]: place for place, key in reversed(list(enumerate(groups)))}
    order = sorted(groups, key=lambda key: _place(key[0], firsts) if keys else 0)
    return [
        dict(zip(keys, key, strict=False))
        | {name: _together([row[name] for row in groups[key]]) for name in columns}
        for key in order
    ]


def _place(value: Any, firsts: Mapping[Any, int]) -> float:
    """Return where a value of the first key stands: numbers rise, words keep their order."""
    return value if isinstance(value, int | float) else firsts[value]


def _together(values: Sequence[Any]) -> Any:
    """Return what several seeds have found as one value."""
    if len(values) == 1:
        return values[0]
    if all(isinstance(each, bool) for each in values):
        held = sum(values)
        return held == len(values) if held in (0, len(values)) else f"{held} of {len(values)}"
    if not all(isinstance(each, int | float) for each in values):
        if any(isinstance(each, int | float) for each in values):
            return None
        return values[0] if len(set(values)) == 1 else f"{len(set(values))} kinds"
    from netloom.simulation.steady import interval_over_runs

    return give_or_take(*interval_over_runs(values))


COSTS = ("cpu_seconds", "seconds")
"""Columns of tables that are never twice the same."""


@dataclass(frozen=True, eq=False)
class Answered:
    """A point with its answer, and as the store kept it: by which netloom, when, at what cost."""

    point: Point
    record: Recorded
    kept: KeptAnswer


@dataclass(frozen=True, eq=False)
class Refused:
    """A point whose question has no answer, and why."""

    point: Point
    reason: str


@dataclass(frozen=True, eq=False)
class Results:
    """What an experiment has found so far.

    Attributes
    ----------
    name, title, question
        The name of the experiment file, and its description, which may be "".
    text
        The experiment file itself.
    answered
        The points with answers, in the order of the file, those of a curve in rising order. Of a
        curve there is nothing past the first load that is past saturation.
    refused
        Points whose questions have no answer.
    missing
        How many points have not been answered yet.
    folder
        Where the store is, and the files that answers name.
    from_store
        Of a run: how many of its points had been answered before.
    unused
        Of a run: how many answers of other code are in its store.
    """

    name: str
    title: str
    question: str
    text: str
    answered: tuple[Answered, ...]
    refused: tuple[Refused, ...]
    missing: int
    folder: Path = Path()
    from_store: int = 0
    unused: int = 0

    @property
    def cpu_seconds(self) -> float:
        """What all answers together took."""
        return sum(each.kept.cpu_seconds for each in self.answered)

    @property
    def sentence(self) -> str:
        """How far it has come, in one line."""
        words = f"{counted(len(self.answered), 'point', ',')} answered"
        if self.other_code:
            words += f" by other code of netloom ({', '.join(self.other_code)})"
            words += f", which netloom run {self.name} answers anew"
        if self.missing:
            words += f", {self.missing} still to be answered"
        if self.refused:
            words += f", {len(self.refused)} that cannot be asked ({self.refused[0].reason})"
        return f"{words}."

    @property
    def other_code(self) -> tuple[str, ...]:
        """The versions that answered, where that was not the code that runs."""
        return tuple(sorted({each.kept.version for each in self.answered} - {code_version()}))

    @property
    def verdict(self) -> Verdict:
        """The same with its mark: ``act`` if points cannot be asked."""
        mark = "limited" if self.missing or self.other_code else "fine"
        return Verdict("act" if self.refused else mark, self.sentence)

    def table(self, *, provenance: bool = False) -> pl.DataFrame:
        """Return the rows of all answers: where they come from, what varies, what was found.

        Parameters
        ----------
        provenance
            Whether to say of each row the key of its point, the version that answered, when, and
            what it took, in ``point_`` columns. Without them the table is the same however often
            the experiment is run.
        """
        import polars as pl

        parts = [_rows(each, provenance=provenance) for each in self.answered]
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()

    def to_pandas(self, *, provenance: bool = False) -> Any:
        """Return ``table`` as a ``pandas.DataFrame``. See ``questions.recorded.to_pandas``."""
        return to_pandas(self.table(provenance=provenance))

    def to_dict(self, *, provenance: bool = False) -> dict[str, Any]:
        """Return all of it as plain data, the JSON of ``netloom results``."""
        return {
            "experiment": self.name,
            "title": self.title,
            "question": self.question,
            "answered": len(self.answered),
            "missing": self.missing,
            "refused": [
                {"section": point.section, "varied": dict(point.varied), "reason": each.reason}
                for each in self.refused
                for point in [each.point]
            ],
            "rows": self.table(provenance=provenance).to_dicts(),
            "verdict": self.verdict.to_dict(),
        }

    def __repr__(self) -> str:
        name = self.title or self.name
        return f"<Results of {name}>\n{self.sentence}"


def load_results(store: str | Path | Store, experiment: str = "") -> Results:
    """Return what a store has of an experiment.

    Parameters
    ----------
    store
        The store, or its file. Or an experiment file, whose store is beside it.
    experiment
        Its key, or the name of its file. May be left out where there is only one.

    Raises
    ------
    InputError
        If there is no such store or experiment.
    """
    if not isinstance(store, Store):
        path = Path(store)
        if path.suffix == ".toml":
            path, experiment = path.with_suffix(".sqlite"), experiment or path.name
        with Store(path) as opened:
            return load_results(opened, experiment)
    known = store.experiments()
    chosen = [each for each in known if experiment in ("", each.key, each.name)]
    if len(chosen) != 1:
        names = ", ".join(each.name for each in known) or "a store that something was run with"
        found = f"'{experiment}'" if experiment else f"{len(known)} experiments"
        raise InputError(str(store.path), found, names)
    return load_kept(store, chosen[0])


def all_results(store: str | Path) -> list[Results]:
    """Return what a store has of each of its experiments. See ``load_results``."""
    path = Path(store)
    if path.suffix == ".toml":
        return [load_results(path)]
    with Store(path) as opened:
        return [load_kept(opened, each) for each in opened.experiments()]


def results(store: str | Path, *, experiment: str = "", provenance: bool = False) -> pl.DataFrame:
    """Return what an experiment has found as one table, one row per observation.

    See ``load_results`` for the store and the experiment, and ``Results.table`` for provenance.
    """
    return load_results(store, experiment).table(provenance=provenance)


def load_kept(store: Store, kept: Kept) -> Results:
    """Return what an open store has of one of its experiments."""
    counting, missing = up_to_saturation(store.points(kept.key), store.outcomes(kept.key))
    answered = []
    refused = []
    for point in counting:
        answer = store.answer(point.key, point.described)
        assert answer is not None, "what has an outcome has an answer"
        if answer.refusal:
            refused.append(Refused(point, answer.refusal))
            continue
        answered.append(Answered(point, answer.record(point.verb), answer))
    found = tuple(answered), tuple(refused), missing, store.path.parent
    return Results(kept.name, kept.title, kept.question, kept.text, *found)


def located(answered: Answered, folder: Path) -> Recorded:
    """Return the record of an answer that can be asked again: its files are named from here.

    Parameters
    ----------
    folder
        Where the store is. Answers name files from there.

    Raises
    ------
    InputError
        If a file is gone, or another one since.
    """
    record, files = answered.record, answered.point.files
    asked = find_inputs(record.kind.question, record.configuration, folder)
    found = {each.name: each for each in asked}
    for name, digest in files.items():
        if name not in found or found[name].digest != digest:
            what = "no such file any more" if name not in found else "another file than it was"
            raise InputError(str(folder / name), what, "the same one, or a new run")
    names = {name: str(folder / name) for name in found}
    provenance = dict(record.figures["provenance"])
    provenance["configuration"] = renamed(provenance["configuration"], names)
    return replace(record, figures={**record.figures, "provenance": provenance})


def _rows(answered: Answered, *, provenance: bool) -> pl.DataFrame:
    point, table = answered.point, answered.record.tables["table"]
    first = {"section": point.section, **point.varied}
    if provenance:
        told = ("version", "finished", "wall_seconds", "cpu_seconds")
        costs = {f"point_{name}": getattr(answered.kept, name) for name in told}
        first |= {"point_key": point.key} | costs
    return after(first, table.drop(*COSTS, strict=False))


def after(first: Mapping[str, Any], table: pl.DataFrame) -> pl.DataFrame:
    """Return a table after columns of one value each, which take the place of those of a name."""
    import polars as pl

    kinds = str | int | float | bool | None
    known = {name: each if isinstance(each, kinds) else str(each) for name, each in first.items()}
    own = table.drop(*first, strict=False)
    return own.select(*(pl.lit(value).alias(name) for name, value in known.items()), pl.all())
