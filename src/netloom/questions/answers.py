"""What an answer is: its columns declared once, from which tables, JSON and pages follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from netloom.base.errors import InputError
from netloom.questions.numbers import known, tidy
from netloom.questions.register import by_verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl

    from netloom.base.provenance import Provenance

AnyAnswer = TypeVar("AnyAnswer", bound="Answer")
Point = TypeVar("Point")

FLITS, CYCLES = "flits/node/cycle", "cycles"
"""Units of traffic and of time."""


@dataclass(frozen=True)
class Column:
    """One figure of an answer, wherever it is shown.

    Attributes
    ----------
    name
        What it is called in tables and JSON.
    title
        What it is called before people. Its name in words by default.
    unit
        Its unit. Perhaps "".
    value
        What gives it for an observation: a function, or the name of an attribute or key, perhaps
        with dots (its own name by default). NaN and None stand for what is not known.
    kind
        ``float``, ``int``, ``str``, ``bool``. ``Real``, a number that is mostly whole, such as a
        count that may also be expected; or ``dict`` or ``list``, which is for JSON only.
    key
        Whether it is one of the few figures that lists of answers and pages show.
    json
        Where it is in JSON, with a dot between an object and what is in it; by default at its
        name. None: it is not there.
    table
        Whether tables have it.
    optional
        Whether a table may lack it.
    """

    name: str
    title: str = ""
    unit: str = ""
    value: Callable[[Any], Any] | str = ""
    kind: type = float
    key: bool = False
    json: str | None = ""
    table: bool = True
    optional: bool = False

    @property
    def named(self) -> str:
        """What it is called before people."""
        return self.title or self.name.replace("_", " ")

    @property
    def head(self) -> str:
        """Its title with its unit, as the head of a table.

        Examples
        --------
        >>> Column("accepted", unit="flits/node/cycle").head
        'accepted, flits/node/cycle'
        """
        return f"{self.named}, {self.unit}" if self.unit else self.named

    def of(self, observation: Any) -> Any:
        """Return its value for an observation: a plain value, None where it is not known."""
        if callable(self.value):
            found = self.value(observation)
        else:
            found = observation
            for part in (self.value or self.name).split("."):
                found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        if self.kind in (dict, list) or found is None:
            return found
        if self.kind is Real and isinstance(found, int | np.integer):
            return int(found)
        return known(found) if self.kind in (float, Real) else self.kind(found)


class Columns:
    """The columns of an answer, in order.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns = Columns(
    ...     Column("offered"), Column("latency_mean", key=True, json="latency.mean"))
    >>> columns.row(SimpleNamespace(offered=0.1, latency_mean=float("nan")))
    {'offered': 0.1, 'latency_mean': None}
    >>> columns.nested(SimpleNamespace(offered=0.1, latency_mean=12))
    {'offered': 0.1, 'latency': {'mean': 12.0}}
    >>> columns["load"]
    Traceback (most recent call last):
        ...
    LookupError: no column 'load'; there are offered, latency_mean
    """

    def __init__(self, *columns: Column) -> None:
        self._of = {each.name: each for each in columns}
        assert len(self._of) == len(columns), "two columns of one name"

    def __iter__(self) -> Iterator[Column]:
        return iter(self._of.values())

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, name: str) -> bool:
        return name in self._of

    def __getitem__(self, name: str) -> Column:
        if name not in self._of:
            raise LookupError(f"no column '{name}'; there are {', '.join(self._of)}")
        return self._of[name]

    def __add__(self, other: Columns) -> Columns:
        return Columns(*self, *other)

    def __or__(self, other: Columns) -> Columns:
        """Return these and the other's, whose columns take the place of those of their name."""
        return Columns(*(self._of | other._of).values())

    def pick(self, *names: str) -> Columns:
        """Return some of them. An unknown name is a LookupError."""
        return Columns(*(self[name] for name in names))

    @property
    def key(self) -> Columns:
        """The few that lists of answers show: all of a table where none is marked."""
        marked = [each for each in self if each.key]
        return Columns(*(marked or [each for each in self if each.table]))

    @property
    def names(self) -> list[str]:
        """The names of those that tables have."""
        return [each.name for each in self if each.table]

    def row(self, observation: Any) -> dict[str, Any]:
        """Return an observation as a row of the table."""
        return {each.name: each.of(observation) for each in self if each.table}

    def nested(self, observation: Any) -> dict[str, Any]:
        """Return an observation as JSON has it."""
        found: dict[str, Any] = {}
        for each in self:
            if each.json is None:
                continue
            *path, last = (each.json or each.name).split(".")
            place = found
            for name in path:
                place = place.setdefault(name, {})
            place[last] = each.of(observation)
        return found

    def frame(self, observations: Iterable[Any]) -> pl.DataFrame:
        """Return one row per observation."""
        return self.frame_of([self.row(each) for each in observations])

    def frame_of(self, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        """Return rows that have these columns as a table with their types."""
        import polars as pl

        types: dict[type, Any] = {
            float: pl.Float64, int: pl.Int64, str: pl.String, bool: pl.Boolean,
        }  # fmt: skip
        series = {}
        for each in self:
            if each.table:
                values = [row[each.name] for row in rows]
                whole = not any(isinstance(value, float) for value in values)
                kind = (int if whole else float) if each.kind is Real else each.kind
                series[each.name] = pl.Series(values, dtype=types[kind])
        return pl.DataFrame(series)

    def checked(self, found: pl.DataFrame) -> pl.DataFrame:
        """Return a table of these columns. One with others, or without some, is a bug."""
        lacks = {each.name for each in self if each.table and not each.optional}
        other = (set(found.columns) - set(self.names)) | (lacks - set(found.columns))
        assert not (other and found.columns), f"other columns: {', '.join(sorted(other))}"
        return found


INSIDE = Columns(Column("inside_nodes"))
"""The share of the traffic that stays inside nodes: what answers of placed programs say of it."""


def table(
    columns: Columns,
) -> Callable[[Callable[[AnyAnswer], pl.DataFrame]], Callable[[AnyAnswer], pl.DataFrame]]:
    """Declare that a method of an answer returns one of its tables, with these columns.

    A method that is a table already, of another class of answers, gets these columns instead.
    """

    def declare(method: Callable[[AnyAnswer], pl.DataFrame]) -> Callable[[AnyAnswer], pl.DataFrame]:
        method = getattr(method, "__wrapped__", method)

        @wraps(method)
        def checked(self: AnyAnswer) -> pl.DataFrame:
            return columns.checked(method(self))

        checked.columns = columns  # type: ignore[attr-defined]
        return checked

    return declare


def asked(name: str) -> Callable[[Answer], Any]:
    """Return what gives a field of the question: the value of a column of ``about``."""
    return lambda answer: answer.provenance.configuration[name]


class Answer:
    """What a question found.

    Of several observations (loads, rates, sizes), ``columns`` are of each, and ``about`` of the
    whole. Of one, both are of it.

    Attributes
    ----------
    columns
        The columns of an observation.
    in_json
        The columns of an observation in JSON, if the table has a row of something smaller.
    about
        What the whole answer says beside its observations. For JSON.
    key_table
        The table whose key columns lists of answers and pages show.
    provenance
        Version, question and seed.
    """

    columns: ClassVar[Columns]
    in_json: ClassVar[Columns | None] = None
    about: ClassVar[Columns] = Columns()
    key_table: ClassVar[str] = "table"
    provenance: Provenance

    @property
    def observations(self) -> Sequence[Any]:
        """What the answer is of: its loads, rates or sizes. By default the answer itself."""
        return getattr(self, "points", (self,))

    @property
    def table_rows(self) -> Iterable[Any]:
        """What the table has rows of: by default the observations."""
        return self.observations

    @property
    def several(self) -> bool:
        """Whether several observations were asked for."""
        return len(self.observations) != 1

    def only(self, points: Sequence[Point], found: str) -> Point:
        """Return the one point. InputError, with what was found, if several were asked for."""
        if self.several:
            raise InputError("simulation", found, "one of its points")
        return points[0]

    if TYPE_CHECKING:

        @property
        def interrupted(self) -> bool:
            """Whether it was stopped from outside: what was known by then is the answer."""

    else:
        interrupted = False  # which answers may have as a field, or as a property

    @property
    def origin(self) -> str:
        """The seed and the netloom that it comes from, in words."""
        return f"seed {self.provenance.seed}, netloom {self.provenance.version}"

    def table(self) -> pl.DataFrame:
        """Return one row per observation. ``columns`` says what and in which units."""
        return self.columns.frame(self.table_rows)

    def sentences(self) -> list[str]:
        """Return what it comes to in words, as pages say it."""
        from netloom.questions.recorded import record

        kept = record(self)
        return kept.kind.sentences(kept)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, as JSON has them."""
        found = self.about.nested(self)
        columns = self.columns if self.in_json is None else self.in_json
        points = [columns.nested(each) for each in self.observations]
        if not self.several and points:
            found |= points[0] | found
        elif any(each.json is not None for each in columns):
            found |= {"points": points}
        plain: dict[str, Any] = tidy(found | {"provenance": self.provenance.to_dict()})
        said = by_verb(self.provenance.verb).verdict(plain).to_dict()
        plain["verdict"] = plain.get("verdict", {}) | said
        return plain

    @classmethod
    def tables(cls) -> dict[str, Columns]:
        """Return the columns of each table, by the method that returns it. ``table`` first."""
        declared = {
            name: method.columns
            for each in reversed(cls.__mro__)
            for name, method in vars(each).items()
            if isinstance(getattr(method, "columns", None), Columns) and name != "table"
        }
        return {"table": cls.columns} | declared
