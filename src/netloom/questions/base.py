"""What a question is: a record whose fields are declared once, and checked once.

From the fields follow the Python function's signature and help, the command and its options, the
table of an experiment file, its schema, and the reference page.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import floor
from operator import or_
from os import PathLike
from textwrap import wrap
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SkipValidation, ValidationError
from pydantic_core import core_schema

from netloom.base.errors import InputError
from netloom.base.spec import real_number, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic.fields import FieldInfo


Thing = TypeVar("Thing")

MOST = 1e9
"""What a number that has no bound of its own is bounded by: above it are only mistakes."""

MOST_SEED = 2**63 - 1
"""The largest seed: stores keep it as an integer of 64 bits."""

if TYPE_CHECKING:
    InstanceOf = Annotated[Thing, ...]
else:

    @dataclass(frozen=True)
    class InstanceOf:
        """An object of a class, whose own fields are not looked at.

        Pydantic's type of this name looks at them, and most of its releases find no names there
        that are imported for type checkers only.
        """

        kind: type

        def __class_getitem__(cls, kind: type) -> Any:
            return Annotated[kind, cls(kind)]

        def __get_pydantic_core_schema__(self, *_: object) -> core_schema.CoreSchema:
            return core_schema.is_instance_schema(self.kind)


Numbers: TypeAlias = Annotated[
    str | float | Sequence[float] | InstanceOf[np.ndarray], SkipValidation
]
"""A number, several, or their text, such as 0.1,0.2 or 0.1:0.5:0.1: ``numbers`` reads them."""

QUALIFIED = re.compile(r"\b(?:\w+\.)+(?=\w)")
"""The modules before a class in the name of a type."""

OUT_OF_RANGE = ("greater_than", "less_than", "finite_number")
"""How Pydantic begins to call numbers that are outside of their bounds."""


class Told(NamedTuple):
    """What a field declares beside its type, default, bounds and description.

    Attributes
    ----------
    kw_only
        Whether Python functions take it by its name only.
    argument
        Whether commands take it without a name.
    panel
        The group of options that it is shown in. That of its class by default.
    flags
        How commands spell it, where that is not ``--its-name``.
    unit
        Its unit. "" for none, or where the description says it.
    shown_default
        How its default is shown where that is None, or says little.
    several
        Whether commands take it more than once.
    file
        Whether it may name a file.
    follows
        The field from which it follows, if that is given and it is not.
    """

    kw_only: bool = True
    argument: bool = False
    panel: str = ""
    flags: tuple[str, ...] = ()
    unit: str = ""
    shown_default: str = ""
    several: bool = False
    file: bool = False
    follows: str = ""

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add the unit to the field's JSON Schema."""
        if self.unit:
            schema["unit"] = self.unit


def option(said: str, *, default: Any = ..., kw_only: bool = True, **more: Any) -> Any:
    """Declare a field that commands take as an option. It is required if it has no default.

    Parameters
    ----------
    said
        The one description of the field, for people.
    default
        Its value where none is given.
    kw_only, more
        Fields of ``Told``, and ``ge``, ``gt``, ``le``, ``lt``, as Pydantic has them.
    """
    told = {name: more.pop(name) for name in Told._fields if name in more}
    extra: Any = Told(kw_only, **told)
    return Field(default, description=said, json_schema_extra=extra, **more)


def argument(said: str, *, default: Any = ..., kw_only: bool = True, **more: Any) -> Any:
    """Declare a field that commands take without a name. See ``option``."""
    return option(said, default=default, kw_only=kw_only, argument=True, **more)


@dataclass_transform(kw_only_default=True, field_specifiers=(option, argument))
class Question(BaseModel):
    """A question as one validated record. Unknown fields are mistakes.

    ``class Fields(Question, panel="Router")`` names the group that its own fields are shown in.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        allow_inf_nan=False,
        defer_build=True,
    )
    panel: ClassVar[str] = ""

    def __init_subclass__(cls, panel: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.panel = panel

    @classmethod
    def __pydantic_init_subclass__(cls, panel: str = "", **more: Any) -> None:
        """Accept what ``__init_subclass__`` has used."""

    def configuration(self) -> dict[str, Any]:
        """Return every field as plain data. Arrays are lists, objects their name."""
        return {name: plain_field(getattr(self, name)) for name in type(self).model_fields}


AnyQuestion = TypeVar("AnyQuestion", bound=Question)


def told_of(kind: type[Question], name: str) -> Told:
    """Return what a field declares, with the group that it is shown in.

    Examples
    --------
    >>> class Ports(Question, panel="Router"):
    ...     vcs: int = option("Virtual channels per channel.", default=3, ge=1, le=62)
    >>> class Asked(Ports):
    ...     seed: int = option("Seed of all random numbers.", default=1, ge=0, le=9)
    >>> told_of(Asked, "vcs").panel, told_of(Asked, "seed").panel
    ('Router', '')
    """
    told = kind.model_fields[name].json_schema_extra
    found = told if isinstance(told, Told) else Told()
    if found.panel:
        return found
    owner = next(each for each in kind.__mro__ if name in vars(each).get("__annotations__", {}))
    return found._replace(panel=vars(owner).get("panel", ""))


def signature_of(kind: type[Question]) -> inspect.Signature:
    """Return the signature of the function that asks such a question: its fields, with defaults."""
    parameters, made = [], inspect.Parameter
    for name, field in kind.model_fields.items():
        how = made.KEYWORD_ONLY if told_of(kind, name).kw_only else made.POSITIONAL_OR_KEYWORD
        default = made.empty if field.is_required() else field.default
        parameters.append(made(name, how, default=default, annotation=_bare(field.annotation)))
    parameters.sort(key=lambda each: (each.kind, each.kind and each.default is not each.empty))
    return inspect.Signature(parameters)


def fields_in_words(kind: type[Question]) -> str:
    """Return the fields as the ``Parameters`` section of a docstring.

    Examples
    --------
    >>> class Asked(Question):
    ...     seed: int = option("Seed of all random numbers.", default=1, ge=0, le=9)
    >>> fields_in_words(Asked).splitlines()[2:]
    ['seed : int, default 1', '    Seed of all random numbers.']
    """
    lines = ["Parameters", "----------"]
    for name, parameter in signature_of(kind).parameters.items():
        annotation = parameter.annotation
        types = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        default = default_said(kind, name)
        lines.append(f"{name} : {QUALIFIED.sub('', types)}{default and f', default {default}'}")
        said = wrap(description_of(kind, name), 88, break_on_hyphens=False)
        lines += [f"    {line}" for line in said]
    return "\n".join(lines)


def description_of(kind: type[Question], name: str) -> str:
    """Return the description of a field, its unit before the values that it takes.

    Examples
    --------
    >>> class Asked(Question):
    ...     load: Any = option("Offered load: 0.2, or several.", default=0.1, unit="flits/cycle")
    >>> description_of(Asked, "load")
    'Offered load (flits/cycle): 0.2, or several.'
    """
    said, unit = kind.model_fields[name].description or "", told_of(kind, name).unit
    return re.sub(r"(?=:\s|\.(?:\s|$))", f" ({unit})", said, count=1) if unit else said


def default_said(kind: type[Question], name: str) -> str:
    """Return what a field is where it is not given, in words. "" if it must be, or is nothing.

    Examples
    --------
    >>> class Asked(Question):
    ...     sizes: Any = option("Sizes.", default=(64, 256))
    ...     every: bool = option("All of them.", default=False)
    >>> default_said(Asked, "sizes"), default_said(Asked, "every")
    ('64,256', '')
    """
    field, told = kind.model_fields[name], told_of(kind, name)
    if told.shown_default or field.is_required():
        return told.shown_default
    default = field.default
    if default is None or isinstance(default, bool):
        return ""
    return ",".join(map(str, default)) if isinstance(default, list | tuple) else str(default)


def positional_fields(kind: type[Question]) -> tuple[str, ...]:
    """Return the fields that a Python function takes without their names, in order."""
    return tuple(name for name in kind.model_fields if not told_of(kind, name).kw_only)


def ask(kind: type[AnyQuestion], fields: Mapping[str, Any]) -> AnyQuestion:
    """Return the question of this kind with these fields.

    Raises
    ------
    InputError
        Naming the first field that is wrong, what it holds and what would do.
    """
    try:
        return kind(**fields)
    except ValidationError as error:
        # a name that is wrong is why another is missing
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        said = first.get("ctx", {}).get("error")
        if isinstance(said, InputError):  # of the question itself: about several fields
            raise said from None
        field = str(first["loc"][0]) if first["loc"] else kind.__name__
        if first["type"] == "extra_forbidden":
            raise InputError(field, "no such field", ", ".join(kind.model_fields)) from None
        if first["type"] == "missing":
            wanted = kind.model_fields[field].description or "a value"
            raise InputError(field, "nothing", wanted.rstrip(".")) from None
        if field == "routing" and callable(first["input"]):
            wanted = "netloom.routing.routes_by(network, function), which lists its routes"
            raise InputError(field, "a Python function", wanted) from None
        wanted = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        if first["type"].startswith(OUT_OF_RANGE):
            wanted = range_of(kind.model_fields[field]) or wanted
        raise InputError(field, repr(first["input"]), wanted) from None


def range_of(field: FieldInfo) -> str:
    """Return the numbers that a field takes, in words. "" if it declares no bounds.

    Examples
    --------
    >>> class Small(Question):
    ...     share: float = option("A share.", default=1, gt=0, le=1)
    >>> range_of(Small.model_fields["share"])
    'a number above 0 and at most 1'
    """
    bounds = bounds_of(field)
    if len(bounds) < 2:
        return ""
    kind = "a number" if "float" in str(field.annotation) else "a whole number"
    (low, least), (high, most) = sorted(bounds.items())
    if (low, high) == ("ge", "le"):
        return f"{kind} from {_short(least)} to {_short(most)}"
    above = "of at least" if low == "ge" else "above"
    below = "at most" if high == "le" else "below"
    return f"{kind} {above} {_short(least)} and {below} {_short(most)}"


def bounds_of(field: FieldInfo) -> dict[str, float]:
    """Return the bounds that a field, or the number that it may be, declares, by Pydantic's names.

    Examples
    --------
    >>> class Small(Question):
    ...     share: float = option("A share.", default=1, gt=0, le=1)
    >>> bounds_of(Small.model_fields["share"])
    {'gt': 0, 'le': 1}
    """
    declared = list(field.metadata)
    for member in get_args(field.annotation):
        for each in getattr(member, "__metadata__", ()):
            declared += getattr(each, "metadata", [])
    names = ("ge", "gt", "le", "lt")
    return {name: getattr(each, name) for each in declared for name in names if name in dir(each)}


def _bare(annotation: Any) -> Any:
    """Return a type without what is said to Pydantic only."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return reduce(or_, map(_bare, get_args(annotation)))
    return annotation


def _short(number: Any) -> str:
    if isinstance(number, float) and number.is_integer() and number < 1e15:
        return f"{number:,.0f}"
    return f"{number:g}" if isinstance(number, float) else str(number)


def plain_field(value: Any) -> Any:
    """Return the value of a field as plain data. Arrays are lists, objects their name."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain_field(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain_field(each) for key, each in value.items()}
    if isinstance(value, PathLike):
        return str(value)
    return getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)


MOST_NUMBERS = 1000
"""Most numbers of one question."""

AUTO, AUTO_STEPS = "auto", 20
"""The end of a range of rates that is to be where the network saturates, and its usual steps."""

NEARLY = 0.99
"""Of the saturation rate, where such ranges end: there, latency hangs on how it was found."""


def parse_numbers(
    given: Any, field: str, *, below_one: bool = False, unit: str = "flits/node/cycle"
) -> tuple[float, ...]:
    """Return numbers above 0 and at most 1, rising, none twice.

    Parameters
    ----------
    given
        A number, several (also ``0.1,0.2``), or a range ``START:STOP:STEP`` with both ends.
    below_one
        Whether 1 itself is refused.

    Examples
    --------
    >>> parse_numbers("0.05:0.2:0.05", "load")
    (0.05, 0.1, 0.15, 0.2)
    >>> parse_numbers([0.3, 0.1], "load")
    (0.1, 0.3)
    """
    wanted = f"above 0, {'below' if below_one else 'at most'} 1 ({unit})"
    if given is None:
        raise InputError(field, "none", f"{wanted}, such as 0.2, 0.1,0.2 or 0.05:0.6:0.05")
    return _parse(
        given, field, wanted, lambda value: 0 < value < 1 or (value == 1 and not below_one)
    )


def parse_positive(
    given: Any, field: str, *, whole: bool = False, zero: bool = False
) -> tuple[float, ...]:
    """Return finite numbers above 0, rising, none twice. Given as for ``parse_numbers``.

    Examples
    --------
    >>> parse_positive("256,1024", "message_bytes", whole=True)
    (256.0, 1024.0)
    """
    kind = "whole numbers" if whole else "numbers"
    wanted = f"{kind} {'of at least' if zero else 'above'} 0, with commas, or START:STOP:STEP"

    def fits(value: float) -> bool:
        return (value > 0 or (zero and value == 0)) and not (whole and value % 1)

    return _parse(given, field, wanted, fits)


def parse_rates(
    given: Any, field: str, saturation: Callable[[], float], *, nearly: float = NEARLY
) -> tuple[float, ...]:
    """Return rates of at least 0, rising, none twice.

    Parameters
    ----------
    given
        As for ``parse_positive``. ``START:auto`` and ``START:auto:STEPS`` go to where the network
        saturates, nearly, in 20 steps or so many.
    saturation
        Gives the rate at which the network saturates.
    nearly
        At which part of that rate a curve ends.

    Examples
    --------
    >>> parse_rates("0:auto:4", "rate", lambda: 0.04 / 0.99)
    (0.0, 0.01, 0.02, 0.03, 0.04)
    """
    words = [word.strip() for word in given.split(":")] if isinstance(given, str) else []
    if AUTO not in words:
        return parse_positive(given, field, zero=True)
    wanted = f"START:{AUTO}:STEPS, such as 0:{AUTO} or 0.1:{AUTO}:10"
    if len(words) not in (2, 3) or words[1] != AUTO or words.count(AUTO) > 1:
        raise InputError(field, f"'{given}'", wanted)
    steps = whole_number(words[2], where=field, least=1) if len(words) == 3 else AUTO_STEPS
    start, stop = real_number(words[0], where=field), nearly * saturation()
    if not 0 <= start < stop:
        raise InputError(field, f"'{given}'", f"a start from 0 to {stop:.4g}, where it saturates")
    if steps >= MOST_NUMBERS:
        raise InputError(field, f"{steps} steps", f"at most {MOST_NUMBERS - 1}")
    return parse_positive(np.linspace(start, stop, steps + 1), field, zero=True)


def _parse(given: Any, field: str, wanted: str, fits: Callable[[float], bool]) -> tuple[float, ...]:
    if not isinstance(given, str):
        values = _values(given, field, wanted)
    elif ":" in given:
        words = given.split(":")
        if len(words) != 3:
            raise InputError(field, f"'{given}'", "START:STOP:STEP, such as 0.05:0.6:0.05")
        start, stop, step = (real_number(word.strip(), where=field) for word in words)
        if not step > 0 or stop < start:
            rises = "a step above 0, and a stop that is not below start"
            raise InputError(field, f"'{given}'", rises)
        count = floor(min((stop - start) / step + 1e-9, MOST_NUMBERS)) + 1
        values = [round(start + step * index, 12) for index in range(count)]
    else:
        values = [real_number(word.strip(), where=field) for word in given.split(",")]
    if not 0 < len(values) <= MOST_NUMBERS:
        raise InputError(field, f"{len(values)} numbers", f"1 to {MOST_NUMBERS}")
    for value in sorted(set(values)):
        if not fits(value):  # as NaN does not
            raise InputError(field, f"{value:g}", wanted)
        if value >= MOST:
            raise InputError(field, f"{value:g}", f"below {MOST:,.0f}")
    return tuple(sorted(set(values)))


def _values(given: Any, field: str, wanted: str) -> list[float]:
    """Return a number, or a flat list of numbers, as a list."""
    try:
        numbers = np.atleast_1d(np.asarray(given, np.float64))
        if numbers.ndim == 1 and np.asarray(given).dtype != np.bool_:
            return [float(value) for value in numbers]
    except (TypeError, ValueError):
        pass
    raise InputError(field, repr(given), wanted)
