"""What an answer comes to: one sentence, its mark, and the command that comes next."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from netloom.base.words import arrows, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.text import Text

Mark: TypeAlias = Literal["fine", "limited", "act", "unknown"]


@dataclass(frozen=True)
class Grade:
    """What is compared, up to where it is fine, and above what something must change.

    Examples
    --------
    >>> lost = Grade("share of the finish time that waiting takes", fine=0.05, act=0.2)
    >>> lost.mark(0.04), lost.mark(0.1), lost.mark(0.3), lost.mark(0.04, worst=0.06)
    ('fine', 'limited', 'act', 'limited')
    """

    what: str
    fine: float
    act: float

    def mark(self, value: float, *, worst: float | None = None) -> Mark:
        """Return the mark of a figure. ``worst``: what must be fine, where that is another."""
        if (value if worst is None else worst) <= self.fine:
            return "fine"
        return "act" if value > self.act else "limited"


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

    def parted(self, most: int) -> tuple[Verdict, Verdict]:
        """Return it with its first few lines only, and with the others."""
        lines = list(self.lines.items())
        return replace(self, lines=dict(lines[:most])), replace(self, lines=dict(lines[most:]))

    def text(self, width: int) -> Iterator[Text]:
        r"""Yield it as lines of at most so many letters.

        A long command goes on after ``\``, as shells read it.
        """
        from rich.text import Text

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
        yield from self.beside(width)
        if self.next:
            said = _command(self.next, width - LABEL - 2)
            yield from _labelled("next", said, "bold")
        if self.note:
            yield from (Text(each, "dim") for each in _wrapped(f"  {self.note}", width, "  "))

    def beside(self, width: int) -> Iterator[Text]:
        """Yield its lines, each after its label."""
        width = min(max(width, NARROWEST), WIDEST)
        for label, said in self.lines.items():
            yield from _labelled(label, _wrapped(said, width - LABEL - 2, ""))


def _labelled(label: str, lines: Sequence[str], style: str = "") -> Iterator[Text]:
    from rich.text import Text

    for place, each in enumerate(lines):
        start = f"  {'' if place else label:<{LABEL}}"
        yield Text.assemble((start, "dim"), (each, style))


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
