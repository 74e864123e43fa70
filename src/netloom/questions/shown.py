"""How answers are shown: what they come to in a sentence, names, tables and lines."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from netloom.base.words import arrows, counted, folded, give_or_take, number, percent
from netloom.drawing.names import band_named, base_names
from netloom.questions.verdicts import MARKS, STYLES, Measure, Verdict
from netloom.topology.names import short_channel_name
from netloom.topology.parse import spec_in_words

__all__ = ["MARKS", "STYLES", "Measure", "Verdict", "band_named", "percent"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Column

    from netloom.questions.columns import Columns
    from netloom.topology import Topology


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


def mapped_program(figures: Mapping[str, Any]) -> str:
    """Return the ``subject`` of an answer about a mapped program, from its figures."""
    mapping = figures["provenance"]["configuration"]["mapping"]
    return subject(figures["app"], figures["topology"], mapping)


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


WIDTH = 110
"""Letters of a line where there is no terminal."""

GAP = 2
"""Letters between two columns of a table."""


def lines(answer: Any) -> list[Any]:
    """Return the main figures of an answer."""
    return [table_of(answer.columns.key, answer.table().iter_rows(named=True))]


def show(lines: Iterable[Any], screen: Console, *, keys: int = 1) -> None:
    """Print lines, which a terminal breaks between words, and tables, which never cut a number.

    A table that is too wide becomes several, each with the first ``keys`` columns.
    """
    for line in lines:
        if isinstance(line, Table):
            for column in line.columns:
                column._cells = [
                    arrows(each) if isinstance(each, str) else each for each in column.cells
                ]
            for place, part in enumerate(_fitting(line, screen, max(keys, 1))):
                screen.print(*[""] * bool(place), part, sep="\n")
        else:
            said = arrows(line) if isinstance(line, str) else line
            if isinstance(said, str) and screen.is_terminal and said.strip() and "\n" not in said:
                for each in _broken(Text.from_markup(said), screen.width):
                    screen.print(each)
            else:
                screen.print(said, soft_wrap=not screen.is_terminal)


def _broken(text: Text, width: int) -> Iterator[Text]:
    """Yield text as lines. None ends between a number and its unit, where Rich would end it."""
    at = 0
    for line in folded(text.plain, width):
        at = text.plain.index(line, at)
        yield text[at : at + len(line)]
        at += len(line)


def _fitting(table: Table, screen: Console, keys: int) -> list[Table]:
    """Return a table that is too wide as several, each with the first columns.

    Columns of words may become as narrow as their longest word, those of numbers keep their width.
    """
    table.collapse_padding = table.pad_edge = False
    for column in table.columns:
        head, *cells = (Measurement.get(screen, screen.options.update(max_width=10_000), cell)
                        for cell in (column.header, *column.cells))  # fmt: skip
        right = column.justify == "right"
        words = max(head.minimum, *(each.maximum if right else each.minimum for each in cells), 1)
        column.min_width = max(min(words, screen.width), column.min_width or 0)
        column.max_width = max(each.maximum for each in (head, *cells))
        column.no_wrap = column.max_width <= column.min_width
    first, others = table.columns[:keys], table.columns[keys:]
    beside = screen.width - sum(each.min_width or 0 for each in first) - GAP * (keys - 1)
    groups, room = [[*first]], beside
    for column in others:
        room -= (column.min_width or 0) + GAP
        if room < 0 and len(groups[-1]) > keys:
            groups.append([*first])
            room = beside - (column.min_width or 0) - GAP
        groups[-1].append(column)
    for group in groups:
        _share_out(group, screen.width)
    if len(groups) == 1:
        return [table]
    parts = []
    for group in groups:
        part = Table(box=None, pad_edge=False, header_style=table.header_style,
                     show_header=table.show_header)  # fmt: skip
        part.columns = [replace(each, _index=place) for place, each in enumerate(group)]
        part.rows = table.rows
        parts.append(part)
    return parts


def _share_out(columns: Sequence[Column], width: int) -> None:
    """Give columns their widths: what is left of the line goes to the first that could be wider."""
    room = width - sum(each.min_width or 0 for each in columns) - GAP * (len(columns) - 1)
    for each in columns:
        least = each.min_width or 0
        more = max(min((each.max_width or 0) - least, room), 0)
        each.width, room = least + more, room - more
        each._cells = [
            "\n".join(folded(cell, each.width))
            if isinstance(cell, str) and len(cell) > each.width and "[" not in cell
            else cell
            for cell in each.cells
        ]


def table_of(columns: Columns, rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return rows as a table with the heads of these columns."""
    table = plain_table()
    heads = {each: "\n".join(filter(None, (each.named, each.unit))) for each in columns}
    words = {each: max(map(len, head.split())) for each, head in heads.items()}
    fits = sum(words.values()) + 2 * len(words) <= WIDTH  # narrower columns would cut words
    for each, head in heads.items():
        side: Any = "left" if each.kind is str else "right"
        least = words[each] if fits else None
        table.add_column(escape(head), justify=side, overflow="fold", min_width=least)
    for row in rows:
        cells = (row.get(each.name) if each.optional else row[each.name] for each in columns)
        table.add_row(*map(escape, map(number, cells)))
    return table


def plain_table(heads: Iterable[str] = (), words: Iterable[str] = ("",)) -> Table:
    """Return a table without lines. Numbers are right of their column, words left.

    ``words`` are the heads of columns of words.
    """
    left = tuple(words)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right", no_wrap=head in left)
    return table


def figures_table(
    columns: Mapping[str, str],
    shares: Mapping[str, str],
    rows: Iterable[Mapping[str, Any]],
    said: Callable[[Mapping[str, Any]], str] | None = None,
) -> Table:
    """Return figures and shares in per cent of rows, by their heads, and what is said of each."""
    table = plain_table((*columns, *shares, *([""] if said else [])))
    for row in rows:
        cells = [number(row[name]) for name in columns.values()]
        cells += [percent(row[name]) for name in shares.values()]
        table.add_row(*cells, *([said(row)] if said else []))
    return table


def pairs(rows: Mapping[str, str]) -> Table:
    """Return names and what is said of them, a row each."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        table.add_row(escape(name), escape(value))
    return table


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


def inside_nodes(figures: Mapping[str, Any]) -> list[str]:
    r"""Return the words that say how much of the traffic stays off the network. None: nothing.

    It stays inside nodes. If messages inside nodes are counted, only that of a host to itself does.

    Examples
    --------
    >>> inside_nodes({"inside_nodes": 0.3051}), inside_nodes({"inside_nodes": 0.0})
    (['30.5\xa0% of the traffic stays inside nodes'], [])
    """
    share = figures.get("inside_nodes")
    asked = figures.get("provenance", {}).get("configuration", {})
    where = "on its host" if asked.get("count_inside_nodes") else "inside nodes"
    return [f"{percent(share)} of the traffic stays {where}"] * bool(share)


def interruption(answer: Any, what: str = "known") -> list[str]:
    """Return the line that says that an answer was interrupted. None if it was not."""
    return [f"• interrupted: what was {what} by then"] * answer.interrupted


def interval(mean: float | None, half: float | None) -> str:
    """Return a mean with the half-width of its interval. ``–`` where there is none."""
    return give_or_take(mean, half) if mean is None or half else f"{number(mean)}\u00a0±\u00a0?"


def ended(words: str) -> str:
    """Return words with a full stop, if they have no end."""
    return words if words.endswith((".", "!", "?")) else f"{words}."
