"""How answers are shown: their words, and tables no wider than the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from netloom.base.figures import Figures, Place, leaves, say, shown, unit_of
from netloom.base.words import counted, folded, give_or_take, number, percent
from netloom.drawing.names import base_names
from netloom.topology import Topology
from netloom.topology.names import short_channel_name
from netloom.topology.parse import spec_in_words

# -- names and figures in words --------------------------------------------------------------------


FILE = re.compile(r"(?:\w+:)?(?P<folders>.*/)?(?P<stem>[^/]+?)\.[A-Za-z]\w*")
"""A file in any folder, perhaps behind the word for its kind."""

SAID = 3
"""Broken parts that a heading names, if there are more than one more."""

IN_ORDER = "rank order"
"""What people call the mapping ``identity``."""


def short_name(name: str) -> str:
    """Return the name of a program or network, without a file's folder and ending.

    Examples
    --------
    >>> short_name("examples/lammps-64.mtx"), short_name("graph:/data/tree.graphml")
    ('lammps-64', 'tree')
    >>> short_name("runs/lammps_melt_16"), short_name("ring:16"), short_name("chakra:llama/%d.et")
    ('lammps_melt_16', 'ring:16', 'llama')
    >>> short_name("mesh:4x4/4"), short_name("graph:data/tree.graphml without leaf0-spine1")
    ('mesh:4x4/4', 'tree without leaf0-spine1')
    >>> short_name("mesh:4x4 without 0-1, node 5, node 6, node 9, node 10")
    'mesh:4x4 without 0-1, node 5, node 6 and 2 more'
    """
    name, broken, parts = name.partition(" without ")
    if broken:
        lost = parts.split(", ")
        if len(lost) > SAID + 1:
            parts = f"{', '.join(lost[:SAID])} and {len(lost) - SAID} more"
        return f"{short_name(name)}{broken}{parts}"
    if " " in name:
        return base_names(name)
    if found := FILE.fullmatch(name):
        folder = (found["folders"] or "").rstrip("/").rpartition("/")[2].rpartition(":")[2]
        return folder if folder and "%" in found["stem"] else found["stem"]
    return name if ":" in name else name.rstrip("/").rpartition("/")[2]


def order_named(mapping: Any) -> str:
    """Return a mapping as people call it.

    Examples
    --------
    >>> order_named("identity"), order_named("out/better.json"), order_named([1, 0])
    ('rank order', 'better mapping', 'given mapping')
    """
    if mapping == "identity":
        return IN_ORDER
    if not isinstance(mapping, str):
        return "given mapping"
    return mapping if " " in mapping else f"{short_name(mapping)} mapping"


def subject(program: str, network: str, mapping: Any = None) -> str:
    """Return what runs on which network, and where its ranks are, if that is a question.

    Examples
    --------
    >>> subject("examples/lammps-64.mtx", "torus:8x8", "identity")
    'lammps-64 on torus:8x8, rank order'
    >>> subject("uniform", "slim-fly:5/4")
    'uniform on slim-fly:5/4 (4 hosts per router)'
    >>> subject("llm:dp=8,layers=2,hidden=64,seq=512", "torus:8")
    'llm:dp=8,layers=2,hidden=64,seq=512 (batch=1, micro_batches=1, dtype=bf16) on torus:8'
    """
    name = short_name(program)
    if program.startswith("llm:"):
        from netloom.workload.programs.training import unsaid

        defaults = unsaid(program)
        name += f" ({defaults})" if defaults else ""
    words = spec_in_words(network.partition(" without ")[0])
    said = f"{name} on {short_name(network)}{words and f' ({words})'}"
    return said if mapping is None else f"{said}, {order_named(mapping)}"


def arrow(channel: str) -> str:
    """Return the name of a channel.

    Examples
    --------
    >>> arrow("(0,6) -> (0,7)"), arrow("out of (0,0)")
    ('(0,6)→(0,7)', 'out of (0,0)')
    >>> arrow("MF0;leaf1:MQM9701/U1 port 33 -> MF0;spine2:MQM9701/U1 port 4")
    'leaf1 port 33 → spine2 port 4'
    """
    short = short_channel_name(channel)
    return short.replace(" -> ", " → " if " port " in short else "→")


def size_of(topology: Topology) -> str:
    """Return how many nodes, or hosts and routers, and channels between them a network has.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> size_of(topology("mesh:4x4")), size_of(topology("leaf-spine:1x2x4"))
    ('16 nodes, 48 channels', '4 hosts, 3 routers, 4 channels')
    """
    channels = counted(topology.num_network_channels, "channel")
    if topology.direct:
        return f"{counted(topology.num_hosts, 'node')}, {channels}"
    hosts, routers = counted(topology.num_hosts, "host"), counted(topology.num_routers, "router")
    return f"{hosts}, {routers}, {channels}"


def interval(mean: float | None, half: float | None) -> str:
    """Return a mean with the half-width of its interval. ``–`` where there is none."""
    return give_or_take(mean, half) if mean is None or half else f"{number(mean)}\u00a0±\u00a0?"


def rough(share: float | None) -> str:
    r"""Return a share in per cent with two digits, near 1 with three.

    Examples
    --------
    >>> [rough(each).replace("\u00a0", " ") for each in (0.347, 0.0148, 0.9967, 0)]
    ['35 %', '1.5 %', '99.7 %', '0 %']
    """
    if share is None or abs(share) > 0.95:
        return percent(share)
    return percent(float(f"{share:.2g}"))


def around(value: float | None, half: float | None) -> str:
    r"""Return a value of three digits with half of its interval in one, as sentences have it.

    Examples
    --------
    >>> around(0.67084, 0.001919).replace("\u00a0", " "), around(0.67084, None)
    ('0.671 ± 0.002', '0.671')
    """
    if value is None or not half:
        return number(value)
    return f"{number(value)}\u00a0±\u00a0{number(float(f'{half:.1g}'))}"


def in_short(words: str, names: Mapping[str, str]) -> str:
    """Return words with the short names of what they name."""
    for label, short in names.items():
        words = words.replace(label, short)
    return words


def ended(words: str) -> str:
    """Return words with a full stop, if they have no end."""
    return words if words.endswith((".", "!", "?")) else f"{words}."


# -- tables and pairs, no line wider than the screen -----------------------------------------------


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
    columns = [_column(each, records, answer, plainly) for each in leaves(kind) if each.told.lead]
    columns = [each for each in columns if any(cell != "–" for cell in each.cells)] or columns
    rows = ([each.cells for each in columns[:keys]] for keys in range(1, len(columns)))
    apart = (len(keys) for keys in rows if len(set(zip(*keys, strict=True))) == len(records))
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
    leaf: Place, records: Sequence[Figures], answer: Figures, plainly: Callable[[str], str]
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
        if leaf.told.lead and value is not None:
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
