"""Machine files: a network, its links and its messages in TOML, checked key by key."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from netloom.base.errors import InputError
from netloom.base.spec import split_spec
from netloom.base.textfiles import read_text
from netloom.base.toml_lines import find_lines
from netloom.base.units import RATE, SIZE, TIME, Quantity

MOST_BYTES = 2**20
"""Most bytes of a machine file."""

OF_FILES = ("graph", "fabric")
"""Networks that a file describes."""

WANTED = "a machine file, .toml"


def _with_unit(quantity: Quantity, given: Any) -> Any:
    """Return a value exactly. A number without a unit is none, except 0 of times."""
    plain = given == 0 and isinstance(given, int | float) and quantity is TIME
    if isinstance(given, str) or plain:
        return quantity.exact(str(given), where="")
    raise InputError("", f"{given!r} without a unit", quantity.wanted)


def _bytes(given: Any) -> float:
    found = SIZE.parse(given, where="")
    if found == 0:
        raise InputError("", repr(given), f"{SIZE.wanted}: above 0")
    return whole(found)


def _ends(given: Any) -> str | tuple[str, str]:
    if isinstance(given, str):
        return given
    if isinstance(given, list) and len(given) == 2 and all(isinstance(e, str) for e in given):
        return given[0], given[1]
    raise InputError("", repr(given), 'a class such as "hosts", or ["leaf*", "spine*"]')


def whole(value: float) -> float:
    """Return a whole number as such."""
    return int(value) if value.is_integer() else value


Rate = Annotated[float, BeforeValidator(lambda given: float(_with_unit(RATE, given) / 10**6))]
Time = Annotated[float, BeforeValidator(lambda given: float(_with_unit(TIME, given) * 10**6))]
Bytes = Annotated[int | float, BeforeValidator(_bytes)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LinksTable(_Table):
    """Links of one class. See ``LinkClass``."""

    between: Annotated[Any, BeforeValidator(_ends)] = Field(
        description='a class such as "hosts", or ["leaf*", "spine*"]'
    )
    bandwidth: Rate | None = None
    latency: Time | None = None


class CostsTable(_Table):
    """Messages of at most so many bytes. See ``MessageCost``."""

    up_to: Bytes = inf
    startup: Time = Field(description=TIME.wanted)
    per_byte: Time = Field(description=TIME.wanted)


class MachineFile(_Table):
    """What a machine file says: rates in bytes/µs, times in µs. See ``Machine``."""

    topology: str = Field(description="a network such as torus:4x4x4 or fabric:FILE")
    name: str = ""
    bandwidth: Rate | None = None
    duplex: Literal["full", "half"] = "full"
    ties: Literal["either", "+"] = "either"
    latency: Time = 0.0
    overhead: Time | None = None
    flit_bytes: Bytes = 1
    packet_bytes: Bytes | None = None
    links: list[LinksTable] = Field(default_factory=list)
    message_costs: list[CostsTable] = Field(default_factory=list)
    router: dict[str, Any] | None = None
    source: str = ""
    notes: str = ""


class MachineText:
    """A machine file that is being read: its text, and where in it keys are.

    Attributes
    ----------
    path
        As messages call it.
    said
        What it says.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        try:
            tables = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(path, f"no TOML: {error}", "tables and 'key = value'") from None
        self._lines = find_lines(text)
        try:
            self.said = MachineFile(**tables)
        except ValidationError as error:
            raise self._refused(error) from None
        limits = [each.up_to for each in self.said.message_costs]
        if limits and (limits != sorted(set(limits)) or limits[-1] != inf):
            found = f"up_to of {', '.join(f'{each:g}' for each in limits)}"
            wanted = "rising sizes, and none in the last, which holds for all larger messages"
            raise InputError(self.where("message_costs", len(limits) - 1), found, wanted)

    def where(self, *keys: str | int) -> str:
        """Return the file, line and name of a key: ``links``, 0, ``bandwidth``."""
        head, place, key = ("", 0, str(keys[0]))
        if len(keys) > 1 or (key, 0, "") in self._lines:
            head, key = key, str(keys[2]) if len(keys) > 2 else ""
            place = int(keys[1]) if len(keys) > 1 else 0
        places = [(head, place, key), (head, place, ""), ("", 0, head)]
        line = next((self._lines[each] for each in places if each in self._lines), 1)
        said = " ".join(filter(None, (head and f"[{head}]", key)))
        return f"{self.path}:{line}: {said}"

    def _refused(self, error: ValidationError) -> InputError:
        # a name that is wrong is why another is missing
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        where = self.where(*first["loc"][:3])
        if first["type"] == "extra_forbidden":
            known = list(_fields_of(first["loc"]))
            near = get_close_matches(str(first["loc"][-1]), known, n=1)
            wanted = f"{near[0]}, perhaps" if near else ", ".join(known)
            return InputError(where, "no such key", wanted)
        if first["type"] == "missing":
            fields = _fields_of(first["loc"])
            return InputError(where, "nothing", fields[str(first["loc"][-1])].description or "")
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, InputError):
            return InputError(where, cause.found, cause.wanted)
        wanted = first["msg"].removeprefix("Input should be ")
        return InputError(where, repr(first["input"]), wanted)


def _fields_of(loc: tuple[int | str, ...]) -> Any:
    """Return the fields of the table that a key is in."""
    tables: dict[int | str, type[_Table]] = {"links": LinksTable, "message_costs": CostsTable}
    table = tables.get(loc[0], MachineFile) if len(loc) > 1 else MachineFile
    return table.model_fields


def network_file(path: Path) -> str:
    """Return the name of the file of a machine file's network, as it says it. "" if there is none.

    A file that is no machine file names none.
    """
    try:
        said = MachineText(str(path), read_text(path, wanted=WANTED, most_bytes=MOST_BYTES)).said
    except InputError:
        return ""
    kind, file = split_spec(said.topology)
    return file if kind in OF_FILES and (path.parent / file).is_file() else ""


def read_machine(path: str) -> MachineText:
    """Read a machine file. The file of its network is relative to its folder.

    Raises
    ------
    InputError
        Naming the file, the line and the key that is wrong, what was found and what would do.
    """
    text = MachineText(path, read_text(path, wanted=WANTED, most_bytes=MOST_BYTES))
    kind, file = split_spec(text.said.topology)
    if kind in OF_FILES and file:
        spec = f"{kind}:{Path(path).parent / file}"
        text.said = text.said.model_copy(update={"topology": spec})
    return text
