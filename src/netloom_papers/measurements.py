"""Folders of measured machines: tables of times as others published them, and ``sets.toml``.

``sets.toml`` says of each set of rows which network it was measured on, what netloom calls its
algorithms, and which rows a constant was taken from. ``netloom validate machines`` judges them.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from netloom.base.errors import InputError
from netloom.base.textfiles import find_lines, read_lines, read_text
from netloom.base.words import listed, or_near
from netloom.machines.tables import Table
from netloom.workload.programs.collectives.program import COLLECTIVES, bus_factor

T = TypeVar("T")

SETS = "sets.toml"

Names: TypeAlias = str | list[str]

SAID = {
    "run": ("run", "machine"),
    "nodes": ("nodes",),
    "ranks": ("ranks", "gpus"),
    "ranks_per_node": ("ranks_per_node",),
    "collective": ("collective", "program"),
    "algorithm": ("algorithm",),
    "bytes": ("bytes", "size"),
    "time_us": ("time_us",),
    "algbw": ("algbw", "algbw_GBs"),
    "busbw": ("busbw", "busbw_GBs"),
}
"""What a column may say, and how it is called unless the set says another name."""

SPELT = {"bcast": "broadcast"} | {each.replace("-", ""): each for each in COLLECTIVES}
"""Collectives by their letters alone."""


class MeasuredSet(Table):
    """A set of measured rows, as ``sets.toml`` describes it.

    Attributes
    ----------
    name, file, notes
        What it is called, its table in the folder, and what to know before relying on it.
    use
        ``times`` are predicted. ``bounds`` are held against the least possible time only. ``loads``
        are packets counted on links.
    kind
        The class that its rows are summed up in, by default its name.
    where
        Columns, and patterns of the cells of its rows.
    network
        Spec, in which ``{nodes}`` and ``{ranks}`` stand for those of a row, or specs by nodes.
    hosts, places
        A file with the hosts of each ``run`` in rank order, and one with the hosts of each switch.
        Or hosts as ``--nodes`` takes them. By default the first hosts of the network.
    ranks_per_node, collective
        Those of all rows, if no column says them.
    columns
        The names of columns that are called otherwise.
    options
        Further fields of ``netloom collective``.
    algorithms
        netloom's names, by patterns of measured ones. Of several names the fastest holds.
    ignored
        Patterns of algorithms that are not predicted, and why.
    calibrates
        Rows that a constant was taken from: they never count.
    """

    name: str
    file: str
    use: Literal["times", "bounds", "loads"] = "times"
    kind: str = Field("", alias="class")
    where: dict[str, str | int | list[str | int]] = Field({})
    network: str | dict[str, str] = ""
    hosts: str = "consecutive"
    places: str = ""
    ranks_per_node: int | None = Field(None, ge=1)
    collective: str = ""
    columns: dict[str, str] = Field({})
    options: dict[str, Any] = Field({})
    algorithms: Names | dict[str, Names] = Field({})
    ignored: dict[str, str] = Field({})
    calibrates: list[dict[str, str | int | float]] = Field([])
    notes: str = ""

    def called(self, row: Row) -> list[str]:
        """Return netloom's names of the algorithm of a row. None if it is not predicted."""
        if self.use != "times" or _first(self.ignored, row) is not None:
            return []
        told = self.algorithms
        found = _first(told, row) if isinstance(told, Mapping) else told
        return [found] if isinstance(found, str) else list(found or ())

    def fixes(self, row: Row) -> str:
        """Return which constant a row fixed. "" if it calibrates nothing."""
        for each in self.calibrates:
            asked = {key: value for key, value in each.items() if key != "fixes"}
            if all(_alike(getattr(row, key), value) for key, value in asked.items()):
                return str(each.get("fixes", "a constant"))
        return ""


class Row(NamedTuple):
    """A measured time in seconds. ``bytes`` are those of one rank's whole buffer."""

    line: int
    run: str
    nodes: str
    ranks: int
    ranks_per_node: int
    collective: str
    algorithm: str
    bytes: float
    measured: float


def _first(told: Mapping[str, T], row: Row) -> T | None:
    """Return what is said of the first pattern that matches an algorithm, or collective/it."""
    names = row.algorithm, f"{row.collective}/{row.algorithm}"
    hits = (said for each, said in told.items() if any(fnmatchcase(one, each) for one in names))
    return next(hits, None)


def _alike(found: Any, wanted: Any) -> bool:
    return fnmatchcase(found, str(wanted)) if isinstance(found, str) else found == wanted


@dataclass(frozen=True)
class Folder:
    """A folder of measurements. ``lines``: those of the keys of ``sets.toml``."""

    path: Path
    sets: tuple[MeasuredSet, ...]
    lines: Mapping[tuple[str, int, str], int]

    def where(self, which: int, key: str = "") -> str:
        """Return the file, line and name of a key of a set."""
        line = self.lines.get(("set", which, key), self.lines.get(("set", which, ""), 1))
        return f"{self.path / SETS}:{line}: {key or 'set'}"

    def table(self, which: int, name: str, key: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield ``file:line`` and the cells of each row of a table, by the heads of columns."""
        path = self.path / name
        if not path.is_file():
            raise InputError(self.where(which, key), f"'{name}', no file there", "a table")
        heads, page = list[str](), path.suffix == ".md"
        for where, line in read_lines(path, wanted="a table, .csv"):
            row = line.strip("|").split("|") if page else next(csv.reader([line]))
            cells = [cell.strip() for cell in row]
            if page and (line[0] != "|" or not set(line) - set("|-: ")):
                continue  # words round the table of a page, and its rule
            if not heads:
                heads = cells
            elif len(cells) != len(heads):
                raise InputError(where, f"{len(cells)} cells", f"{len(heads)}, as the head has")
            else:
                yield where, dict(zip(heads, cells, strict=True))

    def rows(self, which: int) -> list[Row]:
        """Return the measured rows of a set.

        Raises
        ------
        InputError
            Naming file and line, if a cell is no number or a column is missing.
        """
        each, found = self.sets[which], list[Row]()
        for where, cells in self.table(which, each.file, "file"):
            columns = self._columns(which, cells)
            for column in each.where:
                if column not in cells:
                    raise InputError(
                        self.where(which, "where"), f"no column '{column}'", _heads(cells)
                    )
            if all(
                any(fnmatchcase(cells[column], str(one)) for one in _listed(wanted))
                for column, wanted in each.where.items()
            ):
                found += _of_line(each, where, cells, columns)
        if not found:
            raise InputError(self.where(which, "where"), f"no row of {each.file}", "some rows")
        return found

    def _columns(self, which: int, cells: Mapping[str, str]) -> dict[str, str]:
        """Return the column that says each thing."""
        own = self.sets[which].columns
        for role, column in own.items():
            if role not in SAID or column not in cells:
                wrong, known = (role, [*SAID]) if role not in SAID else (column, [*cells])
                raise InputError(
                    self.where(which, "columns"), f"'{wrong}'", or_near(wrong, known, listed(known))
                )
        told = {role: [own[role]] if role in own else names for role, names in SAID.items()}
        return {
            role: next(name for name in names if name in cells)
            for role, names in told.items()
            if any(name in cells for name in names)
        }

    def network(self, which: int, row: Row) -> str:
        """Return the network that a row was measured on. Files are those of the folder."""
        told = self.sets[which].network
        spec = told if isinstance(told, str) else told.get(row.nodes, "")
        if not spec:
            raise InputError(
                self.where(which, "network"), f"none for {row.nodes} nodes", "a network"
            )
        spec = spec.replace("{nodes}", row.nodes).replace("{ranks}", str(row.ranks))
        head, mark, last = re.fullmatch(r"(?:(.*)([:@]))?([^:@]*)", spec).groups()  # type: ignore[union-attr]
        own = self.path / last
        return f"{head}{mark}{own}" if mark and own.is_file() else spec

    def hosts(self, which: int, row: Row) -> str | None:
        """Return the hosts of a row in rank order, as ``nodes`` of a question takes them.

        The hosts of a switch have consecutive numbers. Switches that have fewer leave a gap.
        """
        each = self.sets[which]
        if each.hosts == "consecutive":
            return None
        if not (self.path / each.hosts).is_file():
            return each.hosts
        if not each.places:
            return None
        names = next(
            (
                list(_spread(cells["host_list"]))
                for _, cells in self.table(which, each.hosts, "hosts")
                if cells["run"] == row.run
            ),
            None,
        )
        if names is None:
            raise InputError(
                self.where(which, "hosts"), f"no run {row.run} in {each.hosts}", "its hosts"
            )
        switches = [
            list(_spread(cells["nodes"])) for _, cells in self.table(which, each.places, "places")
        ]
        used = set(names)
        width = max(len(some) for some in switches if used & {*some})
        place = {
            name: at * width + port
            for at, some in enumerate(switches)
            for port, name in enumerate(some)
        }
        return ",".join(str(place[name]) for name in names)


def _of_line(
    each: MeasuredSet, where: str, cells: Mapping[str, str], columns: Mapping[str, str]
) -> Iterator[Row]:
    """Yield the rows of a line: one of a long table, one per size of a wide one."""

    def said(role: str, other: str = "") -> str:
        return cells[columns[role]] if role in columns and cells[columns[role]] else other

    collective, _, kernel = said("collective", each.collective).partition("(")
    letters = re.sub("[^a-z]", "", collective.lower())
    if letters not in SPELT:
        raise InputError(where, f"collective '{collective}'", listed(list(COLLECTIVES)))
    per_node = each.ranks_per_node or int(_number(said("ranks_per_node", "1"), where))
    if "nodes" in columns:
        nodes = said("nodes")
        ranks = per_node * int(prod(_number(side, where) for side in nodes.split("x")))
    else:
        ranks = int(_number(said("ranks"), where))
        nodes = f"{ranks / per_node:g}"
    ranks = int(_number(said("ranks", str(ranks)), where))
    name = SPELT[letters]
    head = int(where.rpartition(":")[2]), said("run"), nodes, ranks, per_node, name
    algorithm = said("algorithm", kernel.strip(" )"))
    wide = [column for column in cells if column.isdigit()]
    for column in wide:
        if cells[column]:
            micros = _number(cells[column], where)
            yield Row(*head, algorithm, float(column), micros * 1e-6)
    if wide:
        return
    size = _number(said("bytes"), where)
    if time := said("time_us"):
        yield Row(*head, algorithm, size, _number(time, where) * 1e-6)
    elif speed := said("algbw"):
        yield Row(*head, algorithm, size, size / _number(speed, where) * 1e-9)
    else:
        rate = _number(said("busbw"), where) / bus_factor(name, ranks)
        yield Row(*head, algorithm, size, size / rate * 1e-9)


def _number(cell: str, where: str) -> float:
    """Return a positive number."""
    try:
        found = float(cell)
    except ValueError:
        found = 0.0
    if not (isfinite(found) and found > 0):
        raise InputError(where, f"'{cell}'", "a number above 0")
    return found


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _heads(cells: Mapping[str, str]) -> str:
    return f"one of {listed(list(cells))}"


def _spread(text: str) -> Iterator[str]:
    """Yield the names of a list in which ranges such as 3-5 stand for all of them."""
    for word in text.split():
        first, dash, last = word.partition("-")
        if dash and first.isdigit() and last.isdigit():
            yield from (str(number) for number in range(int(first), int(last) + 1))
        else:
            yield word


def read_folder(path: Path) -> Folder:
    """Return the sets of a folder.

    Raises
    ------
    InputError
        Naming the file, the line and the key that is wrong, what was found and what would do.
    """
    file = path / SETS
    text = read_text(file, wanted=f"a folder with {SETS}")
    try:
        tables = tomllib.loads(text)
    except ValueError as error:
        raise InputError(str(file), f"no TOML: {error}", "tables and 'key = value'") from None
    found, folder = list[MeasuredSet](), Folder(path, (), find_lines(text))
    some = tables.get("set")
    if not isinstance(some, list) or len(tables) > 1:
        raise InputError(str(file), listed(list(tables)) or "nothing", "tables [[set]]")
    for which, table in enumerate(some):
        try:
            found.append(MeasuredSet.model_validate(table))
        except ValidationError as error:
            first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
            key, known = str(first["loc"][0]), MeasuredSet.model_fields
            names = [field.alias or name for name, field in known.items()]
            wanted = first["msg"].removeprefix("Input should be ")
            if first["type"] == "extra_forbidden":
                raise InputError(
                    folder.where(which, key), "no such key", or_near(key, names, listed(names))
                ) from None
            lost = first["type"] == "missing"
            said = "nothing" if lost else repr(first["input"])
            raise InputError(folder.where(which, key), said, wanted) from None
        for row in found[-1].calibrates:
            for key in row:
                if key not in (*Row._fields, "fixes"):
                    fields = listed([*Row._fields, "fixes"])
                    raise InputError(folder.where(which, "calibrates"), f"'{key}'", fields)
    names = [each.name for each in found]
    for which, name in enumerate(names):
        if name in names[:which]:
            raise InputError(folder.where(which, "name"), f"'{name}' twice", "a name of its own")
    return Folder(path, tuple(found), folder.lines)
