"""What all questions have in common: checked once, refused in one line."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from netloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Question(BaseModel):
    """A question as one validated record; unknown fields are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

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
        raise InputError(field, repr(first["input"]), wanted) from None


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
