"""Edge lists: a network as text, one link per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.textfiles import read_lines
from netloom.topology.drawings import Drawing, Link, Vertex
from netloom.topology.hostlists import unfolded, words_of
from netloom.topology.rates import CLOCK, NOTHING, Said, bandwidth_of, clock_of, latency_of

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

LINKS = "lines such as 'a b' or 'a -> b'"
LINK = "'a b' or 'a -> b', perhaps with a bandwidth (100Gb/s) and a latency (cycles, or 600ns)"

MOST_HOSTS = 2**22
"""Most hosts that one word names."""


def read_edge_list(path: Path) -> Drawing:
    """Read an edge list. See ``read_graph``.

    Raises
    ------
    InputError
        Naming the file and the line of what cannot be read, or of a link that was written before
        from its other end, and so may be the same one.
    """
    found = Drawing(f"graph:{path}")
    hosts: dict[Hashable, None] | None = None
    written: dict[tuple[Hashable, Hashable], bool] = {}  # and whether one way
    for where, line in read_lines(path, wanted=LINKS):
        head, rest = [*line.split(maxsplit=1), ""][:2]
        if head == "hosts:":
            hosts = {} if hosts is None else hosts
            for word in words_of(rest):
                for name in unfolded(word, where=where, most=MOST_HOSTS):
                    hosts[name] = None
                    found.vertices.setdefault(name, Vertex())
        elif head == "clock:":
            found.clock_ghz = clock_of(rest)
            if found.clock_ghz is None:
                raise InputError(where, f"'{line:.200}'", f"clock: and {CLOCK}")
        else:
            link, one_way = _link(where, line)
            _check_new(link, where, written, one_way=one_way)
            _add(found, link, one_way=one_way)
    if not found.links:
        raise InputError(str(path), "no links", LINKS)
    for key, vertex in found.vertices.items():
        vertex.kind = "" if hosts is None else "host" if key in hosts else "switch"
    return found


def is_edge_list(text: str) -> bool:
    r"""Return whether a text begins as an edge list does: with a link, or with what may precede it.

    Examples
    --------
    >>> is_edge_list("# mine\nclock: 1GHz\nh0 leaf0 100Gb/s\n"), is_edge_list("SwitchName=s0")
    (True, False)
    """
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] not in ("hosts:", "clock:"):
            try:
                _link("", " ".join(words))
            except InputError:
                return False
            return True
    return False


def _link(where: str, line: str) -> tuple[Link, bool]:
    """Return the link of a line, and whether it leads one way only."""
    words = line.split()
    one_way = len(words) > 2 and words[1] in ("->", "→")
    if one_way:
        del words[1]
    rate: Said | None = NOTHING
    delay: Said | None = NOTHING
    if len(words) > 2:
        rate = bandwidth_of(words[2])
    if len(words) > 3:
        delay = latency_of(words[3])
    if not 2 <= len(words) <= 4 or rate is None or delay is None:
        raise InputError(where, f"'{line:.200}'", LINK)
    return Link(words[0], words[1], rate, delay), one_way


def _check_new(
    link: Link, where: str, written: dict[tuple[Hashable, Hashable], bool], *, one_way: bool
) -> None:
    """Refuse a link that was written from its other end. The same line again is a parallel one."""
    there, back = (link.source, link.target), (link.target, link.source)
    other = back in written and not (one_way and written[back])
    if there != back and (other or written.get(there, one_way) != one_way):
        found = f"the same channel twice: {link.source} -> {link.target}"
        raise InputError(where, found, "each link once, or the same line again for a parallel one")
    written[there] = one_way


def _add(found: Drawing, link: Link, *, one_way: bool) -> None:
    """Add the channels of a link."""
    for name in (link.source, link.target):
        found.vertices.setdefault(name, Vertex())
    found.links.append(link)
    if not one_way:
        found.links.append(link._replace(source=link.target, target=link.source))
