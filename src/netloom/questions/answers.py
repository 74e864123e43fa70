"""An answer: figures, tables, verdict and picture; asked just now, or read from a store.

Its verdict is what it comes to: one sentence, its mark, and the command that comes next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar, cast

from netloom.base.arrays import Floats
from netloom.base.errors import InputError
from netloom.base.figures import Figures, Told, frame, framed, leaves, places, say, unit_of, unseen
from netloom.base.provenance import Provenance
from netloom.base.words import arrows, begun, folded, percent
from netloom.questions import terminal
from netloom.questions.register import by_verb, command_line, kind_of

if TYPE_CHECKING:
    import polars as pl
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
    lines
        What goes with it, by label: ``where``, ``why``, ``limits`` and the like, each a sentence
        or a part of one.
    next
        The command that comes next. "" if there is nothing to do.
    note
        What a reader must know to trust it, such as which numbers are estimates.
    of
        What it is of: the program, the network and the mapping, in short.

    Examples
    --------
    >>> found = Verdict("act", "Contends above 28 % load.", {"where": "0→1"}, of="ring:8 on mesh:8")
    >>> print(*found.text(60), sep="\n")
    ✗ Contends above 28 % load.  ring:8 on mesh:8
      where   0→1
    """

    mark: str
    sentence: str
    lines: Mapping[str, str] = field(default_factory=dict)
    next: str = ""
    note: str = ""
    of: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data. ``of`` follows from the question."""
        return {name: said for name, said in vars(self).items() if name != "of"}

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


A = TypeVar("A", bound="Answer")
T = TypeVar("T")

Columns: TypeAlias = Mapping[str, Any]
"""The columns of a table, by name."""

Rows: TypeAlias = Columns | Sequence[Figures]
"""The columns of a table, or its rows."""

Parts: TypeAlias = dict[str, Any]
"""The parts of a picture, by name."""

MOST_ROWS = 5
"""Rows of a list of records that a terminal shows."""


class Answer(Figures):
    """What a question found. A record read from a store is one, too, with the tables kept there.

    The figures of several loads, rates or sizes are ``points``. No table has fields without
    ``figure``.

    Attributes
    ----------
    ROWS
        The figures that the table has a row of, where it is neither the answer nor its points.
    KEY_TABLE
        The table whose key columns lists of answers and pages show.
    ABOVE
        Whether the parts of its picture stand above each other.
    provenance
        Version, question and seed.
    kept
        The tables of an answer that was read from a store.
    """

    BARE: ClassVar[Told] = Told(table=False)
    ROWS: ClassVar[type[Figures] | None] = None
    KEY_TABLE: ClassVar[str] = "table"
    ABOVE: ClassVar[bool] = False

    provenance: Provenance = unseen()
    kept: Mapping[str, pl.DataFrame] | None = unseen(default=None)

    if TYPE_CHECKING:

        @property
        def interrupted(self) -> bool:
            """Whether it was stopped from outside: what was known by then is the answer."""

    else:  # which answers may have as figures
        interrupted = False

    # What a question says of its own answers.

    def judged(self) -> Verdict:
        """Return what it comes to. ``of`` is filled in, and lines of "" are left out."""
        raise NotImplementedError

    @property
    def of(self) -> str:
        """What it is of: program, network and mapping, in short."""
        return ""

    def parts(self) -> Parts:
        """Return the parts of its picture, by name. None: it has no picture."""
        return {}

    def arranged(self) -> list[Any]:
        """Return the parts as they stand side by side."""
        from netloom.drawing.frame import column

        drawn = list(self.parts().values())
        return [column(*drawn)] if self.ABOVE else drawn

    def footer(self) -> list[str]:
        """Return what stands below its picture in small letters."""
        return [self.of]

    def lines(self, width: int = 80) -> list[str]:
        """Return what a terminal shows: no line is wider."""
        return [*self.figure_lines(width), *self.remark_lines(width)]

    def remarks(self) -> Iterator[str]:
        """Yield what stands below its figures on a terminal."""
        yield from ()

    def plainly(self, name: str) -> str:
        """Return a name as people know it."""
        return name

    def measure(self) -> Measure | None:
        """Return what decides between this answer and others."""
        return None

    def channel_loads(self) -> tuple[str, Floats] | None:
        """Return the loads that its picture shows, with their unit, for one scale on a page."""
        return None

    # What follows.

    def network_drawn(self, channels: pl.DataFrame, load: str, title: str, **more: Any) -> Any:
        """Return the network by what its channels carry. See ``loaded_chart``.

        Of an answer from a store it is made again from the question.
        """
        from netloom.drawing.networks.chart import loaded_chart
        from netloom.questions.named import network_again

        at_hand = getattr(self, "network", None)
        net = network_again(getattr(at_hand, "topology", at_hand), self.asked, channels)
        return loaded_chart(net, channels, load, title, **more)

    @property
    def rows(self) -> Sequence[Figures]:
        """What the table has rows of."""
        return cast("Sequence[Figures]", getattr(self, "points", (self,)))

    @property
    def several(self) -> bool:
        """Whether several loads, rates or sizes were asked for."""
        return len(getattr(self, "points", (self,))) != 1

    @cached_property
    def verdict(self) -> Verdict:
        """What it comes to: one sentence, its mark, and what goes with it."""
        found = self.judged()
        lines = {name: said for name, said in found.lines.items() if said}
        return replace(found, of=found.of or self.of, lines=lines)

    def again(self, words: str = "", *, but: Collection[str] = (), **changed: Any) -> str:
        """Return the command that asks a question about the same, some fields changed.

        By default it is this question. ``but``: fields that mean something else there.
        """
        kind = kind_of(words) if words else by_verb(self.provenance.verb)
        fields = {name: value for name, value in self.asked.items() if name not in but}
        return command_line(kind, fields, **changed)

    @property
    def asked(self) -> Mapping[str, Any]:
        """The question, with every default filled in."""
        return self.provenance.configuration

    @property
    def origin(self) -> str:
        """The seed and the netloom that it comes from, in words."""
        return f"seed {self.provenance.seed}, netloom {self.provenance.version}"

    def to_json(self) -> dict[str, Any]:
        """Return all that is said, one point's figures beside those of the whole."""
        found = super().to_json()
        if "points" in found and not self.several:
            found |= found.pop("points")[0] | found
        found |= {"provenance": self.provenance.to_dict()}
        said = self.verdict.to_dict()
        found["verdict"] = found.get("verdict", {}) | said
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON."""
        return self.to_json()

    @classmethod
    def from_json(cls, data: Mapping[str, Any], **unseen: Any) -> Self:
        """Return the answer that is so in JSON, and its ``kept`` tables."""
        about = data["provenance"]
        if any(each.name == "points" for each in places(cls)) and "points" not in data:
            data = {**data, "points": [data]}
        asked, lost = about["configuration"], tuple(about["not_repeatable"])
        made = Provenance(asked, about["seed"], about["netloom"], about["verb"], lost)
        return super().from_json(data, provenance=made, **unseen)

    @classmethod
    def tables(cls) -> dict[str, type[Figures]]:
        """Return the columns of each table, by the method that returns it. ``table`` first."""
        point = next((each.nested for each in places(cls) if each.name == "points"), None)
        found = {"table": cls.ROWS or point or cls}
        for base in reversed(cls.__mro__):
            for name, each in vars(base).items():
                if callable(each) and (rows := getattr(each, "rows", None)) is not None:
                    found[name] = rows
        return found

    def table(self) -> pl.DataFrame:
        """Return one row per load, rate or size, or the only one."""
        return self._told("table", lambda: framed(self.tables()["table"], self.rows))

    def _told(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return a table as it was kept, or else made now."""
        kept = (self.kept or {}).get(name)
        return make() if kept is None else kept

    @property
    def inside(self) -> str:
        """How much of the traffic stays off the network, in words. "" if nothing does.

        It stays inside nodes. If messages inside nodes are counted, only that of a host to itself
        does.
        """
        where = "on its host" if self.asked.get("count_inside_nodes") else "inside nodes"
        share = getattr(self, "inside_nodes", None)  # if that is known
        return f"{percent(share)} of the traffic stays {where}" if share else ""

    def picture(self) -> Any:
        """Return its picture: its parts under one sentence. None if it has none.

        The sentence is the verdict's, after what the answer is of. What was asked stands below in
        small letters.
        """
        from netloom.drawing.frame import framed as picture_of

        drawn = self.arranged()
        if not drawn:
            return None
        said, of = self.verdict.sentence, self.verdict.of
        said = f"{of}: {said}" if of and of not in said else said
        return picture_of(drawn, said, [*self.footer(), self.origin])

    def figure_lines(self, width: int) -> list[str]:
        """Return its leading figures: a table of its rows, its own in pairs, and lists in short."""
        whole = self.several or self.rows[0] is not self
        found = terminal.table(self.rows, self, width, plainly=self.plainly) if whole else []
        said = terminal.pairs(self, self, width)
        found += [""] * bool(found and said) + said
        last = self.rows[-1:] if self.several else self.rows
        beside = [getattr(self, each.name) for each in places(type(self)) if not each.path]
        for owner in dict.fromkeys((self, *filter(None, beside), *last)):
            for each in places(type(owner)):
                if each.name == "points" or not (each.several and each.nested):
                    continue
                rows = getattr(owner, each.name) or ()
                listed = terminal.table(rows[:MOST_ROWS], self, width, each.nested, self.plainly)
                if listed:
                    found += ["", f"{begun(each.title)}:", *listed]
                    found += [f"… {len(rows) - MOST_ROWS} more"] * (len(rows) > MOST_ROWS)
        return found

    def remark_lines(self, width: int) -> list[str]:
        """Return its remarks, each after a bullet."""
        more = [
            line for each in self.remarks() for line in folded(f"• {arrows(each)}", width, "", "  ")
        ]
        return [""] * bool(more) + more

    def __repr__(self) -> str:
        """Say the verdict's sentence, the key figures of each row, and remarks."""
        found = [f"<{type(self).__name__}: {self.verdict.sentence} {self.of}; {self.origin}>"]
        for row in self.rows:
            said = [
                f"{each.title} {say(each.plain(value), unit_of(each, self))}"
                for each in leaves(type(row))
                if each.told.key and (value := each.of(row)) is not None
            ]
            found.append(", ".join(said))
        return "\n".join([*found, *self.remarks()])


def table(kind: type[Figures]) -> Callable[[Callable[[A], Rows]], Callable[[A], pl.DataFrame]]:
    """Declare that a method of an answer returns the columns, or the rows, of one of its tables.

    The method that is made returns the table: as it was kept, of an answer from a store.
    """

    def declare(method: Callable[[A], Rows]) -> Callable[[A], pl.DataFrame]:
        @wraps(method)
        def found(self: A) -> pl.DataFrame:
            def made() -> pl.DataFrame:
                given = method(self)
                return frame(kind, given) if isinstance(given, Mapping) else framed(kind, given)

            return self._told(method.__name__, made)

        found.rows = kind  # type: ignore[attr-defined]
        return found

    return declare


def only(answer: Answer, points: Sequence[T], found: str) -> T:
    """Return the one point. InputError, with what was found, if several were asked for."""
    if answer.several:
        raise InputError(answer.provenance.verb, found, "one of its points")
    return points[0]
