"""What all questions have in common: checked once, refused in one line."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import core_schema

from netloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic.fields import FieldInfo

Thing = TypeVar("Thing")

MOST = 1e9
"""What a number that has no bound of its own is bounded by: above it are only mistakes."""

MOST_SEED = 2**63 - 1
MOST_DIMENSIONS = 28
MOST_WORDS = 2**40

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


OUT_OF_RANGE = (
    "greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number",
)  # fmt: skip
"""What Pydantic calls numbers that are outside of their bounds."""


class Question(BaseModel):
    """A question as one validated record; unknown fields are mistakes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False
    )

    def configuration(self) -> dict[str, Any]:
        """Return every field as plain data; arrays are lists, objects their name."""
        return {name: _plain(getattr(self, name)) for name in type(self).model_fields}


AnyQuestion = TypeVar("AnyQuestion", bound=Question)


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
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else kind.__name__
        if first["type"] == "extra_forbidden":
            raise InputError(field, "no such field", ", ".join(kind.model_fields)) from None
        if field == "routing" and callable(first["input"]):
            wanted = "netloom.routing.routes_by(network, function), which lists its routes"
            raise InputError(field, "a Python function", wanted) from None
        wanted = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        if first["type"] in OUT_OF_RANGE:
            wanted = range_of(kind.model_fields[field]) or wanted
        raise InputError(field, repr(first["input"]), wanted) from None


def range_of(field: FieldInfo) -> str:
    """Return the numbers that a field takes, in words; "" if it declares no bounds.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Small(Question):
    ...     share: float = Field(1, gt=0, le=1)
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
    >>> from pydantic import Field
    >>> class Small(Question):
    ...     share: float = Field(1, gt=0, le=1)
    >>> bounds_of(Small.model_fields["share"])
    {'gt': 0, 'le': 1}
    """
    declared = list(field.metadata)
    for member in get_args(field.annotation):
        for each in getattr(member, "__metadata__", ()):
            declared += getattr(each, "metadata", [])
    names = ("ge", "gt", "le", "lt")
    return {name: getattr(each, name) for each in declared for name in names if name in dir(each)}


def _short(number: Any) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, PathLike):
        return str(value)
    return getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)
