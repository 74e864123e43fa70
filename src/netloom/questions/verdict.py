"""What an answer comes to: one sentence that a busy person can act on, and what goes with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from netloom.base.words import arrows, folded
from netloom.drawing.names import base_names
from netloom.topology.parse import spec_in_words
from netloom.topology.subnets.names import short_channel_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Measure(NamedTuple):
    """The figure of one answer by which it is compared with others.

    Attributes
    ----------
    value
        The figure.
    said
        The same in words, with its unit.
    does
        What the alternative does, as the end of a sentence, with ``{}`` in place of the figure.
    what
        What the figure is.
    more
        Whether more is better.

    Examples
    --------
    >>> found = Measure(8344.0, "8,344 cycles", "finishes in {}", "time to finish")
    >>> f"The torus {found.clause}."
    'The torus finishes in 8,344 cycles.'
    """

    value: float
    said: str
    does: str
    what: str
    more: bool = False

    @property
    def clause(self) -> str:
        """What the alternative does."""
        return self.does.format(self.said)


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


MARKS = {"fine": "✓", "limited": "!", "act": "✗", "unknown": "?"}
"""What stands before a sentence, by its mark."""

STYLES = {"fine": "bold green", "limited": "bold yellow", "act": "bold red", "unknown": "bold cyan"}

NARROWEST, WIDEST = 40, 100
"""Letters of a line of a verdict, at least and at most."""

LABEL = 8
"""Letters for the labels of lines."""

GOES_ON = " \\"
"""The end of a line of a command that has another one."""

_PART = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+(?: (?!-)(?:[^\s'"]|'[^']*'|"[^"]*")+)?""")
"""A word of a command, and the one after it if that may be its value."""


@dataclass(frozen=True)
class Verdict:
    r"""What an answer comes to.

    Attributes
    ----------
    mark
        ``fine``: nothing to do. ``limited``: works up to a limit that one should know. ``act``:
        something must change. ``unknown``: the question says too little to decide.
    sentence
        The answer with its number and unit: at most 30 words, better 12.
    of
        What it is of: the program, the network and the mapping, in short.
    lines
        What goes with it, by label: ``where``, ``why``, ``limits`` and the like, each a sentence
        or a part of one.
    next
        The command that comes next. "" if there is nothing to do.
    note
        What a reader must know to trust it, such as which numbers are estimates.

    Examples
    --------
    >>> found = Verdict("act", "Contends above 28 % load.", "ring:8 on mesh:8", {"where": "0→1"})
    >>> print(*found.text(60), sep="\n")
    ✗ Contends above 28 % load.  ring:8 on mesh:8
      where   0→1
    """

    mark: str
    sentence: str
    of: str = ""
    lines: Mapping[str, str] = field(default_factory=dict)
    next: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data. ``of`` follows from the question."""
        return {
            "mark": self.mark, "sentence": self.sentence, "lines": dict(self.lines),
            "next": self.next, "note": self.note,
        }  # fmt: skip

    @property
    def marked(self) -> str:
        """The sentence after its mark."""
        return f"{MARKS[self.mark]} {self.sentence}"

    def text(self, width: int, *, terminal: bool = False) -> Iterator[Text]:
        r"""Yield it as lines of at most so many letters.

        A command is one line. On a terminal a long one goes on after ``\``, as shells read it.
        """
        width = min(max(width, NARROWEST), WIDEST)
        of = arrows(self.of)
        first, *more = _wrapped(self.marked, width, "  ")
        head = Text(first, STYLES[self.mark])
        beside = not more and len(first) + len(of) + 2 <= width
        if beside and of:
            head.append(f"  {of}", "dim")
        yield head
        yield from (Text(each, STYLES[self.mark]) for each in more)
        if of and not beside:
            yield from (Text(each, "dim") for each in _wrapped(f"  {of}", width, "  "))
        space = " " * (LABEL + 2)
        for label, said in self.lines.items():
            start = f"  {label:<{LABEL}}"
            for number, each in enumerate(_wrapped(said, width - len(space), "")):
                yield Text.assemble((start if not number else space, "dim"), each)
        if self.next:
            start = f"  {'next':<{LABEL}}"
            parts = _command(self.next, width - len(space)) if terminal else [self.next]
            for number, each in enumerate(parts):
                yield Text.assemble((start if not number else space, "dim"), (each, "bold"))
        if self.note:
            yield from (Text(each, "dim") for each in _wrapped(f"  {self.note}", width, "  "))


def _command(command: str, width: int) -> list[str]:
    """Return a command as lines that a shell reads as one, parted between options."""
    lines = [""]
    parts = _PART.findall(command)
    for place, part in enumerate(parts):
        longer = f"{lines[-1]} {part}".lstrip()
        room = width - len(GOES_ON) * (place + 1 < len(parts))
        if lines[-1] and len(longer) > room:
            lines[-1] += GOES_ON
            lines.append(part)
        else:
            lines[-1] = longer
    return lines


def _wrapped(said: str, width: int, indent: str) -> list[str]:
    start = said[: len(said) - len(said.lstrip())]
    return folded(arrows(said.strip()), width, start, indent) or [""]
