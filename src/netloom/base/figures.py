"""Figures: what an answer says, each declared once as a typed field of a frozen record.

From a declaration follow the attribute, whose type checkers know, JSON and the way back, JSON
Schema, tables and what a terminal shows.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from netloom.base.units import RATE, SIZE, TIME
from netloom.base.words import counted, number, percent

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
F = TypeVar("F", bound="Figures")

Number: TypeAlias = int | float
"""A number that is mostly whole, such as a count that may also be expected."""

FLITS, CYCLES = "flits/node/cycle", "cycles"
"""Units of traffic and of time."""

SHARE = "share"
"""The unit of a part of a whole, which people read in per cent."""


QUANTITIES = {"seconds": TIME, "bytes": SIZE, "bytes/s": RATE}
"""Units that people read with prefixes."""

SPREAD = 100.0
"""Times the least value of a column, from which on no one prefix suits all of it."""


class UnitOf(NamedTuple):
    """A unit that another figure of the answer names: ``UnitOf("time_unit")``."""

    figure: str


@dataclasses.dataclass(frozen=True)
class Told:
    """What a figure declares beside its name and its type. See ``figure``."""

    title: str = ""
    unit: str | UnitOf = ""
    head: str = ""
    at: str = ""
    lead: bool = False
    key: bool = False
    table: bool = True
    optional: bool = False
    half: str = ""
    limit: str = ""
    none: str = ""
    flat: str | None = None


def figure(title: str = "", unit: str | UnitOf = "", *, default: Any = ..., **more: Any) -> Any:
    """Declare a figure.

    Parameters
    ----------
    title, unit
        What people call it (its name by default), and its unit, or the figure that names it.
    default
        Its value where none is given.
    head
        A short title, for the terminal's table.
    at
        Where JSON has it, with dots: its name by default. ``"."`` for a record whose figures stand
        beside the others.
    lead, key
        Whether it stands in the terminal's table. Whether lists of answers and pages show it.
    table, optional
        Whether tables have it. Whether JSON and tables lack it where it is None.
    half
        The figure beside it that is half of its 95 % interval.
    limit
        The figure beside it that it cannot pass, which a terminal shows there.
    none
        What a terminal's table has in place of a dash where it is None.
    flat
        Of a record of figures: what their names begin with in tables, which have them, too.
    """
    given = {} if default is ... else {"default": default}
    return dataclasses.field(metadata={"told": Told(title, unit, **more)}, **given)


def unseen(default: Any = None) -> Any:
    """Declare a field that is no figure: what tables are made of, such as a run."""
    return dataclasses.field(default=default, repr=False)


class Derived(Generic[T]):
    """A figure that follows from others. See ``derived``."""

    def __init__(self, of: Callable[[Any], T], told: Told) -> None:
        self.of, self.told = of, told
        self.__doc__ = of.__doc__

    @overload
    def __get__(self, record: None, kind: type) -> Self: ...
    @overload
    def __get__(self, record: object, kind: type) -> T: ...
    def __get__(self, record: object | None, kind: type) -> Self | T:
        """Return the figure of a record. Of a class, its declaration."""
        return self if record is None else self.of(record)


def derived(
    title: str = "", unit: str | UnitOf = "", **more: Any
) -> Callable[[Callable[[Any], T]], Derived[T]]:
    """Declare that a method returns a figure: see ``figure``."""
    return lambda of: Derived(of, Told(title, unit, **more))


@dataclass_transform(
    eq_default=False, kw_only_default=True, frozen_default=True, field_specifiers=(figure, unseen)
)
class Figures:
    """A frozen record of figures. Fields without ``figure`` are figures, too.

    Examples
    --------
    >>> class Latency(Figures):
    ...     mean: float = figure("mean latency", "cycles", key=True)
    ...     most: int | None = figure("longest", "cycles", at="max")
    >>> found = Latency(mean=12, most=None)
    >>> found.to_json()
    {'mean': 12.0, 'max': None}
    >>> Latency.from_json({"mean": 3.5, "max": 9}).most
    9
    """

    BARE: ClassVar[Told] = Told()
    """What is told of fields without ``figure``."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_json()})"

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain data: None for NaN and infinity."""
        found: dict[str, Any] = {}
        for each in places(type(self)):
            value = getattr(self, each.name)
            if value is None and each.told.optional:
                continue
            if not each.path:
                found |= {} if value is None else value.to_json()
                continue
            *path, last = each.path
            into = found
            for part in path:
                into = into.setdefault(part, {})
            into[last] = each.plain(value)
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any], **unseen: Any) -> Self:
        """Return the record that is so in JSON. Figures that are not there are None."""
        values: dict[str, Any] = {}
        for each in places(cls):
            if each.derived:
                continue
            value: Any = data
            for part in each.path:
                value = value.get(part) if isinstance(value, Mapping) else None
            inner = each.nested
            if not each.path and inner is not None:
                asked = (one for one in places(inner) if not (one.told.optional or one.derived))
                known = all(one.path[0] in data for one in asked if one.path)
                value = data if known else None
            if inner is not None and value is not None:
                if each.named:
                    value = {name: inner.from_json(one) for name, one in value.items()}
                elif each.several:
                    value = tuple(map(inner.from_json, value))
                else:
                    value = inner.from_json(value)
            values[each.name] = value
        return cls(**values, **unseen)

    def row(self) -> dict[str, Any]:
        """Return those figures that a table can have, by the names of its columns."""
        return {each.name: each.plain(each.of(self)) for each in leaves(type(self))}


@dataclasses.dataclass(frozen=True)
class Place:
    """One figure of a record: its name, its type, and what is told of it.

    ``kind`` is a plain type, ``Number``, ``dict`` or a class of ``Figures``. ``several`` says that
    the figure is a list of that kind, ``named`` that it is records of that kind by their names,
    ``maybe`` that it may be None. Of a column of a table, ``way`` names the attributes that lead to
    it, and ``json`` says where JSON has it, with dots: see ``leaves``.
    """

    name: str
    kind: Any
    several: bool
    named: bool
    told: Told
    derived: bool = False
    maybe: bool = False
    way: tuple[str, ...] = ()
    json: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        return self.told.title or self.name.replace("_", " ")

    @property
    def path(self) -> list[str]:
        """Where JSON has it. [] for a record whose figures stand beside the others."""
        return [] if self.told.at == "." else (self.told.at or self.name).split(".")

    @property
    def column(self) -> str:
        """What tables call it: as JSON does, if that is one word."""
        return self.told.at if self.told.at and "." not in self.told.at else self.name

    @property
    def nested(self) -> type[Figures] | None:
        """The class of what it holds, if that has figures itself."""
        return self.kind if isinstance(self.kind, type) and issubclass(self.kind, Figures) else None

    @property
    def flat(self) -> bool:
        """Whether a table can have it."""
        whole = self.nested is None and self.kind is not dict
        return self.told.table and not self.several and whole

    def of(self, record: Any, last: str = "") -> Any:
        """Return the value of a column in a record. ``last`` is another figure beside it."""
        for name in (*self.way[:-1], last or self.way[-1]):
            record = None if record is None else getattr(record, name)
        return record

    def plain(self, value: Any) -> Any:
        """Return a value of it as JSON has it."""
        return _as_kind(self.kind, plain(value))


def once(of: Callable[[type[Figures]], T]) -> Callable[[type[Figures]], T]:
    """Have a function of a class be asked once for each: ``cache``, as mypy takes classes."""
    kept: Any = cache(of)
    found: Callable[[type[Figures]], T] = kept
    return found


@once
def places(kind: type[Figures]) -> tuple[Place, ...]:
    """Return the figures that a class declares, in order, derived ones last."""
    found = []
    for each in dataclasses.fields(cast("Any", kind)):
        if each.metadata or each.repr:
            told, annotation = each.metadata.get("told", kind.BARE), _annotation(kind, each)
            maybe = NoneType in get_args(annotation)
            found.append(Place(each.name, *_kind(annotation), told, maybe=maybe))
    follow = {}
    for base in reversed(kind.__mro__):
        for name, held in vars(base).items():
            if isinstance(held, Derived):
                returned = get_type_hints(held.of)["return"]
                follow[name] = Place(name, *_kind(returned), held.told, derived=True)
    return (*found, *follow.values())


def _annotation(kind: type[Figures], field: dataclasses.Field[Any]) -> Any:
    """Return the type of a figure. Fields that are none may name types for type checkers only."""
    if not isinstance(field.type, str):
        return field.type
    owner = next(one for one in kind.__mro__ if field.name in vars(one).get("__annotations__", {}))
    names = vars(sys.modules[owner.__module__])
    return eval(field.type, names, dict(vars(owner)))  # noqa: S307


def _kind(annotation: Any) -> tuple[Any, bool, bool]:
    """Return what a figure holds, whether it holds several, and whether these have names."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        some = [each for each in parts if each is not NoneType]
        return (Number, False, False) if set(some) == {int, float} else _kind(some[0])
    if origin in (list, tuple):
        inner, lists, _ = _kind(parts[0])
        return list if lists else inner, True, False
    if origin is Literal:
        return type(parts[0]), False, False
    if origin in (dict, Mapping):
        of_figures = isinstance(parts[1], type) and issubclass(parts[1], Figures)
        return (parts[1], False, True) if of_figures else (dict, False, False)
    return annotation, False, False


@once
def leaves(kind: type[Figures]) -> tuple[Place, ...]:
    """Return the figures that a class declares as columns of a table.

    They are its own, and those of records that it holds, with what both declare.
    """
    found = []
    for each in places(kind):
        told = each.told
        if each.flat:
            own = dataclasses.replace(told, title=each.title)
            way, at = (each.name,), ".".join(each.path)
            found.append(dataclasses.replace(each, name=each.column, told=own, way=way, json=at))
        elif told.table and (told.flat is not None or not each.path) and each.nested:
            beside = not each.path
            for inner in leaves(each.nested):
                own = inner.told
                own = dataclasses.replace(
                    own,
                    title=f"{each.title}, {own.title}" if told.title else own.title,
                    unit=own.unit or told.unit,
                    lead=own.lead and (beside or told.lead),
                    key=own.key and (beside or told.key),
                    optional=own.optional or told.optional,
                )
                leaf = dataclasses.replace(
                    inner,
                    name=(told.flat or "") + inner.name,
                    told=own,
                    way=(each.name, *inner.way),
                    json=".".join([*each.path, inner.json]),
                )
                found.append(leaf)
    return tuple(found)


def _as_kind(kind: Any, value: Any) -> Any:
    """Return a plain number as its figure's type has it: 1.0 for a figure that is a float."""
    if isinstance(value, list):
        return [_as_kind(kind, each) for each in value]
    if kind is float and isinstance(value, int):
        return float(value)
    return value


def plain(value: Any) -> Any:
    """Return a value as JSON has it: lists, and None for NaN and infinity. No -0.0.

    Examples
    --------
    >>> plain({"at": (1, float("inf"), -0.0)})
    {'at': [1, None, 0.0]}
    """
    if isinstance(value, Figures):
        return value.to_json()
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, float):
        return value + 0.0 if isfinite(value) else None  # -0.0 + 0.0 is 0.0
    return value


TYPES = {
    float: "number", Number: "number", int: "integer", str: "string", bool: "boolean",
    dict: "object", list: "array",
}  # fmt: skip
"""What JSON Schema calls the types of figures."""


def schema(kind: type[Figures]) -> dict[str, Any]:
    """Return the JSON Schema of a class of figures: lists and objects in full."""
    whole = object_schema()
    for each in places(kind):
        if not each.path and each.nested:
            inner = schema(each.nested)
            whole["properties"] |= inner["properties"]
            whole["required"] += [] if each.told.optional else inner["required"]
            continue
        *path, last = each.path
        into = whole
        for part in path:
            inner = into["properties"].setdefault(part, object_schema())
            into["required"] = [*dict.fromkeys([*into["required"], part])]
            into = inner
        form = schema(each.nested) if each.nested else {"type": TYPES[each.kind]}
        if each.several:
            form = {"type": "array", "items": form}
        elif each.named:
            form = {"type": "object", "additionalProperties": form}
        form = titled_schema(form, each.title, each.told.unit)
        into["properties"][last] = form
        if not each.told.optional and last not in into["required"]:
            into["required"].append(last)
    return whole


def titled_schema(form: dict[str, Any], title: str, unit: str | UnitOf) -> dict[str, Any]:
    """Return the schema of a figure, which may be null, with its title and unit."""
    if isinstance(unit, UnitOf):
        form = form | {"unit": {"figure": unit.figure}}
    elif unit:
        form = form | {"unit": unit}
    kind = form.get("type")
    if kind is None or kind in ("object", "array"):
        return {"anyOf": [form, {"type": "null"}], "title": title}
    return form | {"type": [kind, "null"], "title": title}


def object_schema() -> dict[str, Any]:
    """Return the schema of an object that has no properties yet."""
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def known(value: Any) -> float | None:
    """Return a number as figures have it: None for NaN, which stands for what is not known.

    Examples
    --------
    >>> known(1.5), known(float("nan"))
    (1.5, None)
    """
    return None if value != value else float(value)


def unit_of(figure: Place, answer: Figures | None) -> str:
    """Return the unit of a figure. One that is data is looked up in the answer."""
    unit = figure.told.unit
    return str(getattr(answer, unit.figure, "")) if isinstance(unit, UnitOf) else unit


def head_of(figure: Place, answer: Figures) -> str:
    """Return the title of a figure with its unit, as the head of a table."""
    unit = unit_of(figure, answer)
    return f"{figure.title}, {unit}" if unit else figure.title


def say(value: Any, unit: str) -> str:
    r"""Return a value with its unit, in words.

    Examples
    --------
    >>> say(0.25, SHARE), say(3.2e-6, "seconds"), say(1, "cycles"), say(None, "flits")
    ('25\xa0%', '3.2 µs', '1 cycle', '–')
    """
    if value is None or unit == "" or isinstance(value, str):
        return number(value)
    if unit == SHARE:
        return percent(value)
    if unit in ("cycles", "flits", "hops"):
        return counted(number(value), unit[:-1])
    if unit in QUANTITIES:
        return QUANTITIES[unit].said(value)
    return f"{number(value)} {unit}"


def shown(values: list[Any], unit: str) -> tuple[list[str], str]:
    """Return the cells of a column, and the unit for its head.

    If no prefix suits all of them, each cell has its own unit.

    Examples
    --------
    >>> shown([2e-6, 0.00005], "seconds"), shown([8, 1e9], "bytes")
    ((['2', '50'], 'µs'), (['8 B', '1 GB'], ''))
    """
    if unit == SHARE:
        values = [None if each is None else float(f"{100 * each:.3g}") for each in values]
        return [number(each) for each in values], "%"
    if unit in QUANTITIES:
        sizes = [abs(each) for each in values if each]
        if sizes and max(sizes) > SPREAD * min(sizes):
            return [say(each, unit) for each in values], ""
        scale, unit = QUANTITIES[unit].scale(max(sizes, default=1.0))
        values = [None if each is None else each / scale for each in values]
    return [number(each) for each in values], unit


def frame(kind: type[Figures], columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return columns as a table with the types that a class declares. Another one is a bug."""
    import polars as pl

    types = {float: pl.Float64, int: pl.Int64, str: pl.String, bool: pl.Boolean}
    found = {}
    for each in leaves(kind):
        if each.told.optional and each.name not in columns:
            continue
        values = columns[each.name]
        if isinstance(values, list | tuple):
            values = [each.plain(value) for value in values]
        if each.kind is Number:
            some = pl.Series(values, strict=False)
            found[each.name] = some if some.dtype != pl.Null else some.cast(pl.Float64)
        elif hasattr(values, "dtype"):  # an array keeps its width
            found[each.name] = pl.Series(values)
        else:
            found[each.name] = pl.Series(values, dtype=types[each.kind], strict=False)
    other = set(columns) - set(found)
    assert not other, f"{kind.__name__} declares no {', '.join(sorted(other))}"
    return pl.DataFrame(found)


def records(kind: type[F], columns: Mapping[str, Any]) -> tuple[F, ...]:
    """Return columns as records, a row each. Optional figures that have no column are None."""
    rows = zip(*(plain(list(values)) for values in columns.values()), strict=True)
    absent = {each.name: None for each in places(kind) if each.told.optional}
    return tuple(kind(**absent | dict(zip(columns, row, strict=True))) for row in rows)


def framed(kind: type[Figures], rows: Iterable[Figures]) -> pl.DataFrame:
    """Return a table with a row per record. Optional figures that no record knows are left out."""
    listed = [each.row() for each in rows]
    columns = {each.name: [row[each.name] for row in listed] for each in leaves(kind)}
    for each in leaves(kind):
        if each.told.optional and all(value is None for value in columns[each.name]):
            del columns[each.name]
    return frame(kind, columns)
