"""Folders of measured machines: tables of times as others published them, and ``sets.toml``.

``sets.toml`` says of each set of rows which network it was measured on, what netloom calls its
algorithms, and which rows a constant was taken from. ``netloom validate machines`` judges them.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isfinite, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from netloom.base.errors import InputError
from netloom.base.textfiles import find_lines, read_lines, read_text
from netloom.base.words import listed, or_near
from netloom.machines.logs import NAMES, ONE_OF
from netloom.machines.tables import Table
from netloom.workload.programs.collectives.program import bus_factor
from netloom_papers.spellings import (
    CALLED,
    KEYS,
    SETS,
    Fixed,
    file_of_sets,
    known_as,
    meant,
    of_nodes,
    plain,
    row_named,
    tables_of_sets,
)

T = TypeVar("T")

Names: TypeAlias = str | list[str]

Column: TypeAlias = Literal[
    "bytes", "time_us", "algbw", "busbw", "nodes", "ranks", "ranks_per_node", "collective",
    "algorithm", "run",
]  # fmt: skip
"""What a column may say. Bandwidths are in GB/s."""


ADDING = ("sharp", "collnet", "nvls")
"""Words of switches that add, in the name of a set or a cell of a row."""


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
        Or hosts as ``--nodes`` takes them. By default the first hosts of the network. A number, or
        a list of their names, says how many. Lists of names may be told by run.
    ranks_per_node, collective
        Those of all rows, if no column says them. The file's name may say the collective.
    columns
        The names of columns that are called otherwise.
    adding
        Whether switches between computers add (SHARP): then an all-reduce needs no more than a
        reduction and a broadcast at once. By default if the set or a row has a word of ``ADDING``.
    options
        Further fields of ``netloom collective``.
    algorithms
        netloom's names, by patterns of measured ones. Of several names the fastest holds. A list
        may also have measured names that netloom knows.
    ignored
        Patterns of algorithms that are not predicted, and why.
    calibrates
        Rows that a constant was taken from: they never count. Lines of the file, "algorithm bytes",
        or tables. ``true`` for all.
    """

    name: str
    file: str
    use: Literal["times", "bounds", "loads"] = "times"
    kind: str = Field("", alias="class")
    where: dict[str, str | int | list[str | int]] = Field({})
    network: str | dict[str, str] = ""
    hosts: str | int | list[str | int] | dict[str, list[str | int]] = "consecutive"
    places: str = ""
    ranks_per_node: int | None = Field(None, ge=1)
    collective: str = ""
    columns: dict[Column, str] = Field({})
    adding: bool | None = None
    options: dict[str, Any] = Field({})
    algorithms: Names | dict[str, Names] = Field({})
    ignored: dict[str, str] = Field({})
    calibrates: bool | list[int | str | dict[Fixed, str | int | float]] = Field([])
    notes: str = ""

    def called(self, row: Row) -> list[str]:
        """Return netloom's names of the algorithm of a row. None if it is not predicted."""
        if self.use != "times" or _first(self.ignored, row) is not None:
            return []
        told = self.algorithms
        if isinstance(told, Mapping):
            found = _first(told, row) or ()
            return [known_as(each) for each in ([found] if isinstance(found, str) else found)]
        return [known_as(told)] if isinstance(told, str) else meant(told, row.algorithm)

    def adds(self, row: Row) -> bool:
        """Return whether switches between the computers of a row add."""
        words = f"{self.name} {self.file} {self.kind} {row.words}".lower()
        said = any(each in words for each in ADDING)
        return said if self.adding is None else self.adding

    def fixes(self, row: Row) -> str:
        """Return which constant a row fixed. "" if it calibrates nothing."""
        if isinstance(self.calibrates, bool):
            return "a constant" * self.calibrates
        for each in self.calibrates:
            told: dict[str, Any] = {"line": each}
            if isinstance(each, dict):
                told = {str(key): value for key, value in each.items()}
            if isinstance(each, str):
                told = row_named(each)
            wanted = {key: told[key] for key in told if key != "fixes"}
            if "collective" in wanted:
                wanted["collective"] = spelt(str(wanted["collective"]))
            if all(_alike(getattr(row, key), value) for key, value in wanted.items()):
                return str(told.get("fixes", "a constant"))
        return ""


class Row(NamedTuple):
    """A measured time in seconds. ``bytes`` are those of one rank's whole buffer.

    ``words``: its cells that are no numbers.
    """

    line: int
    run: str
    nodes: str
    ranks: int
    ranks_per_node: int
    collective: str
    algorithm: str
    bytes: float
    measured: float
    words: str = ""


def _first(told: Mapping[str, T], row: Row) -> T | None:
    """Return what is said of the first pattern that matches an algorithm, or collective/it."""
    names = row.algorithm, f"{row.collective}/{row.algorithm}"
    hits = (said for each, said in told.items() if any(fnmatchcase(one, each) for one in names))
    return next(hits, None)


def _alike(found: Any, wanted: Any) -> bool:
    return fnmatchcase(found, str(wanted)) if isinstance(found, str) else found == wanted


@dataclass(frozen=True)
class Folder:
    """A folder of measurements. ``lines``: those of the keys of ``file``, by set."""

    path: Path
    file: Path
    sets: tuple[MeasuredSet, ...]
    lines: Mapping[tuple[int, str], int]

    def wrong(self, which: int, key: str, found: str, wanted: str) -> InputError:
        """Return what is wrong with a key of a set, by file and line."""
        line = self.lines.get((which, key), self.lines.get((which, ""), 1))
        return InputError(f"{self.file}:{line}: {key or 'set'}", found, wanted)

    def table(self, which: int, key: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield ``file:line`` and the cells of each row of a table that a key of a set names."""
        path = self.path / getattr(self.sets[which], key)
        if not path.is_file():
            raise self.wrong(which, key, f"'{path.name}', no file there", "a table")
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
        for where, cells in self.table(which, "file"):
            wanted = {
                name: given if isinstance(given, list) else [given]
                for name, given in each.where.items()
            }
            for key, columns in (("where", each.where), ("columns", each.columns.values())):
                for column in columns:
                    if column not in cells:
                        said = or_near(column, cells, f"one of {listed(list(cells))}")
                        raise self.wrong(which, key, f"no column '{column}'", said)
            if all(_any(cells[column], some) for column, some in wanted.items()):
                called = CALLED | {column: role for role, column in each.columns.items()}
                told = {called.get(head, head): cell for head, cell in cells.items()} | cells
                found += _of_line(each, where, {head: cell for head, cell in told.items() if cell})
        if not found:
            raise self.wrong(which, "where", f"no row of {each.file}", "some rows")
        lines = {row.line for row in found}
        some = [] if isinstance(each.calibrates, bool) else each.calibrates
        for line in some:
            if isinstance(line, int) and line not in lines:
                found_, wanted_ = f"line {line}, no row of the set", f"a line of {each.file}"
                raise self.wrong(which, "calibrates", found_, f"{wanted_}, such as {min(lines)}")
        return found

    def network(self, which: int, row: Row) -> str:
        """Return the network that a row was measured on. Files are those of the folder."""
        told = self.sets[which].network
        if isinstance(told, str):
            spec = told
        else:
            keys = row.nodes, str(row.ranks), row.run
            spec = next((told[key] for key in keys if key in told), "")
        if not spec:
            raise self.wrong(which, "network", f"none for {row.nodes} nodes", "a network")
        spec = spec.replace("{nodes}", row.nodes).replace("{ranks}", str(row.ranks))
        kind, mark, last = spec.rpartition("@") if "@" in spec else spec.rpartition(":")
        own = self.path / last
        return f"{kind}{mark}{own}" if own.is_file() else of_nodes(spec, row.nodes, row.ranks)

    def hosts(self, which: int, run: str) -> str | None:
        """Return the hosts of a run in rank order, as ``nodes`` of a question takes them.

        The hosts of a switch have consecutive numbers. Switches that have fewer leave a gap.
        """
        each = self.sets[which]
        if each.hosts == "consecutive" or isinstance(each.hosts, int):
            return None
        if not isinstance(each.hosts, str):
            some = each.hosts if isinstance(each.hosts, list) else each.hosts.get(run, [])
            names = [str(host) for host in some]
            if not names:
                raise self.wrong(which, "hosts", f"no run '{run}'", "its hosts")
            if not each.places:
                return ",".join(names) if all(name.isdigit() for name in names) else None
        elif not (self.path / each.hosts).is_file():
            return each.hosts
        elif not each.places:
            return None
        else:
            lists = {cells["run"]: cells["host_list"] for _, cells in self.table(which, "hosts")}
            if run not in lists:
                raise self.wrong(which, "hosts", f"no run {run} in {each.hosts}", "its hosts")
            names = list(_spread(lists[run]))
        switches = [list(_spread(cells["nodes"])) for _, cells in self.table(which, "places")]
        width = max((len(some) for some in switches if {*names} & {*some}), default=0)
        place = {
            name: at * width + port
            for at, some in enumerate(switches)
            for port, name in enumerate(some)
        }
        lost = [name for name in names if name not in place]
        if lost:
            raise self.wrong(which, "places", f"no switch of host {lost[0]}", "all hosts")
        return ",".join(str(place[name]) for name in names)


def spelt(collective: str) -> str | None:
    """Return netloom's name of a collective. None if it has none.

    Examples
    --------
    >>> spelt("ReduceScatter"), spelt("bcast"), spelt("all-reduce"), spelt("sendrecv")
    ('reduce-scatter', 'broadcast', 'all-reduce', None)
    """
    return NAMES.get(re.sub("[^a-z]", "", collective.lower()))


def _any(cell: str, patterns: Sequence[object]) -> bool:
    return any(fnmatchcase(cell, str(each)) for each in patterns)


def _of_line(each: MeasuredSet, where: str, said: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of a line: one of a long table, one per size of a wide one."""
    in_name = next(filter(spelt, re.split("[-_.]", each.file)), "")
    told = said.get("collective", each.collective or in_name)
    collective, _, kernel = told.partition("(")
    if (name := spelt(collective)) is None:
        raise InputError(where, f"collective '{collective}'", ONE_OF)
    per_node = each.ranks_per_node or int(_number(said.get("ranks_per_node", "1"), where))
    many = len(each.hosts) if isinstance(each.hosts, list) else each.hosts
    nodes = said.get("nodes", str(many) if isinstance(many, int) else "")
    ranks = per_node * int(prod(_number(side, where) for side in nodes.split("x"))) if nodes else 0
    ranks = int(_number(said.get("ranks", str(ranks)), where))
    if isinstance(many, int) and "ranks" in said and ranks % many == 0:
        per_node = ranks // many
    row = Row(
        line=int(where.rpartition(":")[2]),
        run=said.get("run", ""),
        nodes=nodes or f"{ranks / per_node:g}",
        ranks=ranks,
        ranks_per_node=per_node,
        collective=name,
        algorithm=said.get("algorithm", kernel.strip(" )")),
        bytes=0.0,
        measured=0.0,
        words=" ".join(cell for cell in said.values() if not cell[:1].isdigit()),
    )
    wide = {float(column): cell for column, cell in said.items() if column.isdigit()}
    for size, cell in wide.items():
        yield row._replace(bytes=size, measured=_number(cell, where) * 1e-6)
    if not wide:
        size = _number(said.get("bytes", ""), where)
        if "time_us" in said:
            seconds = _number(said["time_us"], where) * 1e-6
        elif "algbw" in said:
            seconds = size / _number(said["algbw"], where) * 1e-9
        else:
            rate = _number(said.get("busbw", ""), where)
            seconds = size / rate * bus_factor(name, ranks) * 1e-9
        yield row._replace(bytes=size, measured=seconds)


def _number(cell: str, where: str) -> float:
    """Return a positive number."""
    try:
        found = float(cell)
    except ValueError:
        found = 0.0
    if not (isfinite(found) and found > 0):
        raise InputError(where, f"'{cell}'", "a number above 0")
    return found


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
    file = file_of_sets(path)
    text = read_text(file, wanted=f"a folder with {SETS}")
    try:
        tables = tomllib.loads(text)
    except ValueError as error:
        raise InputError(str(file), f"no TOML: {error}", "tables and 'key = value'") from None
    some, heads, lines = tables_of_sets(tables, file), Counter[str](), dict[tuple[int, str], int]()
    for which, (head, _, _) in enumerate(some):
        for (own, place, key), line in find_lines(text).items():
            if (own, place) == (head, heads[head]):
                lines[which, KEYS.get(key, key)] = line
        heads[head] += 1
    found, folder = list[MeasuredSet](), Folder(path, file, (), lines)
    for which, (_, title, table) in enumerate(some):
        try:
            found.append(
                MeasuredSet.model_validate(plain(table, title, path, which, several=len(some) > 1))
            )
        except ValidationError as error:
            first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
            key, wanted = str(first["loc"][0]), first["msg"].removeprefix("Input should be ")
            said = "nothing" if first["type"] == "missing" else repr(first["input"])
            if first["type"] == "extra_forbidden":
                fields = MeasuredSet.model_fields.items()
                names = [field.alias or name for name, field in fields]
                said, wanted = "no such key", or_near(key, names, listed(names, len(names)))
            raise folder.wrong(which, key, said, wanted) from None
        calibrates = found[-1].calibrates
        for each in () if isinstance(calibrates, bool) else calibrates:
            try:
                row_named(each if isinstance(each, str) else "1")
            except InputError as error:
                raise folder.wrong(which, error.where, error.found, error.wanted) from None
    names = [each.name for each in found]
    for which, name in enumerate(names):
        if name in names[:which]:
            raise folder.wrong(which, "name", f"'{name}' twice", "a name of its own")
    return replace(folder, sets=tuple(found))
