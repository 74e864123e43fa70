"""Figures on a terminal: tables and pairs, no line wider than the screen."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.figures import Figures, Leaf, leaves, say, shown, unit_of
from netloom.base.words import folded, give_or_take, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GAP = "  "
"""What stands between two columns."""

HEAD = 12
"""Letters of a line of a column's head, if its words are no longer."""

NARROWEST = 20
"""Letters for a column of words, or for what is said of a name, at least."""


def table(
    records: Sequence[Figures],
    answer: Figures,
    width: int = 80,
    kind: type[Figures] | None = None,
    plainly: Callable[[str], str] = str,
) -> list[str]:
    r"""Return the leading figures of some records, a row each; in several parts if too wide.

    Numbers stand with their points below each other, units in heads. What nobody knows is no
    column. Each part begins with the columns in which rows differ. ``plainly`` returns a name as
    people know it.

    Examples
    --------
    >>> from netloom.base.figures import figure
    >>> class Run(Figures):
    ...     load: float = figure(lead=True)
    ...     latency: float | None = figure("mean latency", "cycles", lead=True)
    >>> rows = [Run(load=0.5, latency=12), Run(load=0.25, latency=6.5)]
    >>> print(*table(rows, rows[0]), sep="\n")
               mean
            latency
    load     cycles
     0.5       12
    0.25        6.5
    """
    if not records:
        return []
    kind = kind or type(records[0])
    columns = [_column(each, records, answer, plainly) for each in leaves(kind) if each.lead]
    columns = [each for each in columns if any(cell != "–" for cell in each.cells)] or columns
    told = range(1, len(columns))
    apart = (keys for keys in told if _differ([each.cells for each in columns[:keys]]))
    return columns_drawn(columns, width, next(apart, 1))


def columns_drawn(columns: Sequence[Column], width: int = 80, keys: int = 1) -> list[str]:
    r"""Return columns as lines. Those that are too wide become several tables.

    Each of these has the first ``keys`` columns.

    Examples
    --------
    >>> found = columns_drawn([column("name", ["a", "b"], words=True), column("load", [1, 12])])
    >>> print(*found, sep="\n")
    name  load
    a        1
    b       12
    """
    if not columns:
        return []
    first, others = list(columns[:keys]), columns[keys:]
    beside = width - sum(each.wide + len(GAP) for each in first)
    groups, room = [first.copy()], beside
    for each in others:
        least = min(each.wide, NARROWEST) if each.words else each.wide
        if room < least and len(groups[-1]) > keys:
            groups.append(first.copy())
            room = beside
        room -= each.wide + len(GAP)
        groups[-1].append(each)
    found: list[str] = []
    for group in groups:
        found += [""] * bool(found) + _drawn(group, width)
    return found


def _differ(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether no two rows of some columns are the same."""
    rows = list(zip(*columns, strict=True))
    return len(set(rows)) == len(rows)


class Column(NamedTuple):
    """The lines of a column's head, and its cells. Words stand left, numbers right."""

    head: list[str]
    cells: list[str]
    words: bool = False

    @property
    def wide(self) -> int:
        """Letters of its longest line."""
        return max(map(len, (*self.head, *self.cells)))


def column(title: str, values: Sequence[Any], unit: str = "", *, words: bool = False) -> Column:
    """Return a column of values. What is no number stands as it is, None as a dash."""
    head = folded(title, HEAD)
    if words:
        return Column(head, ["" if each is None else str(each) for each in values], words=True)
    told = any(isinstance(each, str) for each in values)
    cells, unit = (list(map(number, values)), unit) if told else shown(list(values), unit)
    return Column(head + _in_lines(unit), _by_point(cells))


def _column(
    leaf: Leaf, records: Sequence[Figures], answer: Figures, plainly: Callable[[str], str]
) -> Column:
    values = [leaf.plain(leaf.of(each)) for each in records]
    title, unit = leaf.told.head or leaf.title, unit_of(leaf, answer)
    if leaf.kind is str:
        return column(title, [plainly(str(each or "")) for each in values], words=True)
    if leaf.told.half:
        halves = [leaf.of(each, leaf.told.half) for each in records]
        values = [give_or_take(*each) for each in zip(values, halves, strict=True)]
    found = column(title, values, unit)
    if not leaf.told.none:
        return found
    cells = zip(found.cells, values, strict=True)
    return found._replace(cells=[leaf.told.none if each is None else cell for cell, each in cells])


def _in_lines(unit: str) -> list[str]:
    """Return a unit as lines, broken behind slashes where it is long."""
    lines = [""]
    for part in re.findall(r"[^/]+/?", unit):
        if lines[-1] and len(lines[-1] + part) > HEAD:
            lines.append("")
        lines[-1] += part
    return [each for each in lines if each]


def _by_point(cells: list[str]) -> list[str]:
    """Return numbers with their points in one line."""
    if any(each[-1:].isalpha() for each in cells):  # each with a unit of its own
        return cells
    after = [len(each) - each.find(".") if "." in each else 0 for each in cells]
    most = max(after, default=0)
    return [each + " " * (most - many) for each, many in zip(cells, after, strict=True)]


def _drawn(columns: Sequence[Column], width: int) -> list[str]:
    """Return columns as lines. Of too wide ones, the last or the first of words gives way."""
    wides = [each.wide for each in columns]
    over = sum(wides) + len(GAP) * (len(wides) - 1) - width
    for place in (len(columns) - 1, 0):
        if over > 0 and columns[place].words:
            narrow = max(wides[place] - over, NARROWEST)
            over, wides[place] = over - (wides[place] - narrow), narrow
    tall = max(len(each.head) for each in columns)
    rows = [[""] * (tall - len(each.head)) + each.head + each.cells for each in columns]
    lines = []
    for cells in zip(*rows, strict=True):
        lines_of = [
            folded(cell, wide) if len(cell) > wide else [cell]
            for cell, wide in zip(cells, wides, strict=True)
        ]
        for parts in zip_longest(*lines_of, fillvalue=""):
            told = [
                part.ljust(wide) if column.words else part.rjust(wide)
                for column, wide, part in zip(columns, wides, parts, strict=True)
            ]
            lines.append(GAP.join(told).rstrip())
    return lines


def pairs(record: Figures, answer: Figures, width: int = 80) -> list[str]:
    """Return the leading figures of one record, a row each, those with a limit beside it."""
    rows = []
    for leaf in leaves(type(record)):
        value = leaf.of(record)
        if leaf.lead and value is not None:
            unit, told = unit_of(leaf, answer), leaf.told
            said = say(leaf.plain(value), unit)
            if told.half:
                half = leaf.of(record, told.half)
                said = said if half is None else f"{give_or_take(value, half)} {unit}".rstrip()
            limit = leaf.of(record, told.limit) if told.limit else None
            rows.append((leaf.title, said, "" if limit is None else say(limit, unit)))
    return paired(rows, width)


def paired(rows: Sequence[tuple[str, str, str]], width: int = 80) -> list[str]:
    r"""Return names, what is found and what limits it ("" for nothing), a row each.

    Examples
    --------
    >>> print(*paired([("runs", "12", ""), ("seed", "1", "")]), sep="\n")
    runs  12
    seed  1
    """
    limited = any(limit for *_, limit in rows)
    rows = [("", "found", "limit"), *rows] if limited else rows
    left, middle = (max((len(row[at]) for row in rows), default=0) for at in (0, 1))
    found = []
    for name, said, limit in rows:
        room = max(width - left - len(GAP), NARROWEST)
        lines = folded(said, room) or [""]
        first = f"{lines[0].rjust(middle)}{GAP}{limit}".rstrip() if limited else lines[0]
        found.append(f"{name:<{left}}{GAP}{first}")
        found += [" " * (left + len(GAP)) + each for each in lines[1:]]
    return found
