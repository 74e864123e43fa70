"""The evidence of a page: what was asked together, what it comes to, and its figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from netloom.base.figures import head_of
from netloom.base.words import counted, number
from netloom.drawing.axes import one_axis
from netloom.drawing.frame import HALF, NARROW, WIDE, narrow_page
from netloom.experiments.findings import after
from netloom.pages.curve_verdicts import Decision, best_of, curve_numbers, decide
from netloom.pages.curves import (
    THEMSELVES,
    Curve,
    CurveGroup,
    find_curves,
    kind_of,
    name_fields,
    said_field,
)
from netloom.pages.figure import DataTable, Figure, curve_figures, make_figure, narrowed, table_of
from netloom.questions.answers import Verdict
from netloom.questions.recorded import Recorded, key_columns
from netloom.questions.terminal import short_name

NO_FIGURES = ("seed", "reason", "note")
"""Columns that a page has elsewhere."""

ASIDE = frozenset({"latencies", "path contention"})
"""Parts that are left out on paper where several answers are compared."""

APART = 30
"""Pixels between charts side by side, about."""


def name_of(record: Recorded) -> str:
    """Return what an answer is of: the program or traffic, and the network. Perhaps "".

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> name_of(record(analyze("ring:4", "mesh:2x2", random_mappings=0)))
    'ring:4 on mesh:2x2'
    """
    pes = record.configuration.get("pes")
    where = record.figures.get("topology") or (f"omega:{pes}" if pes else None)
    return " on ".join(short_name(str(each)) for each in (program_of(record), where) if each)


def program_of(record: Recorded) -> str:
    """Return the program or traffic that an answer is of. Perhaps ""."""
    found = record.figures
    return str(found.get("app") or found.get("program") or found.get("traffic") or "")


def key_table(records: Sequence[tuple[Mapping[str, Any], Recorded]], name: str = "") -> DataTable:
    """Return the key numbers of answers of one verb, one below the other, or those of a table."""
    first = records[0][1]
    name = name or first.answer.KEY_TABLE
    varied = list(dict.fromkeys(name for fields, _ in records for name in fields))
    columns = key_columns(first, name, but=[*varied, *NO_FIGURES])
    rows = [
        [
            *(_said(each, fields.get(each)) for each in varied),
            *(row.get(each.name) for each in columns),
        ]
        for fields, record in records
        for row in record.tables[name].iter_rows(named=True)
    ]
    heads = [
        *(each.replace("_", " ") for each in varied),
        *(head_of(each, first.answer) for each in columns),
    ]
    return table_of(heads, rows)


def figures_by_part(record: Recorded, beside: int = 1) -> dict[str, Figure]:
    """Return the figures of one answer by their parts, also for a narrow window.

    Parameters
    ----------
    beside
        How many answers stand side by side: their figures share the width of the page.
    """
    figures = {}
    with narrow_page(NARROW):
        narrow = record.answer.parts()
    with narrow_page(WIDE if beside == 1 else HALF):
        parts = record.answer.parts()
    for part, chart in parts.items():
        figure = make_figure(chart)
        title = figure.title or part.capitalize()
        spec, small = (_alone(each.spec) for each in (figure, make_figure(narrow[part])))
        if beside > 2:
            spec = small
        span = 4 if beside > 2 else 12 if _pixels(spec, "width") > HALF else 6
        aside = beside > 1 and part in ASIDE
        wide = replace(figure, title=title, spec=spec, span=span, aside=aside)
        figures[part] = narrowed(wide, small)
    return figures


SIDES = {"width": ("hconcat", "vconcat"), "height": ("vconcat", "hconcat")}
"""Where the specification of a chart has others side by side along each side, and across it."""


def _pixels(spec: Mapping[str, Any], side: str) -> float:
    """Return how wide or high the axes of a chart are, in pixels, about."""
    own, (along, across) = spec.get(side), SIDES[side]
    inner = [_pixels(each, side) for name in ("layer", across) for each in spec.get(name, ())]
    beside = sum(_pixels(each, side) + APART for each in spec.get(along, ())) - APART
    return max([float(own) if isinstance(own, int | float) else 0.0, beside, *inner])


def _alone(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a part as it is in a picture: with legends of its own.

    By itself, Vega-Lite would merge the legend of a color with the one that a size of the same
    field has not.
    """
    inside = {name: value for name, value in spec.items() if name != "datasets"}
    resolve = {"scale": {"color": "independent", "stroke": "independent"}}
    return {"datasets": spec.get("datasets", {}), "hconcat": [inside], "resolve": resolve}


def _said(name: str, value: Any) -> Any:
    """Return a field's value for a cell of a table."""
    if isinstance(value, str) and (name == "mapping" or name in THEMSELVES):
        return said_field(name, value)
    return str(value) if isinstance(value, list | dict) else value


MOST_DETAILED = 6
"""Answers of a section that are drawn one by one."""

HIGH = 340
"""Pixels of axes from which on a chart is as high as two others."""

MOST_SENTENCES = 12
"""Answers of a section whose verdicts a page has one by one."""

SAME = 0.05
"""How far what is accepted may be off what is offered without a chart of its own."""


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page.

    Attributes
    ----------
    verdicts
        What its answers come to, compared or one by one: ``of`` names the answer.
    tables, rows
        Numbers, and what is drawn from them: the figures of a row stand side by side.
    remark
        What is left out. Perhaps "".
    decision
        Which curve to take, or which answers. None of answers without a choice.
    asked, verb
        What its answers were asked together as, and by which verb. "" of curves.
    """

    title: str
    verdicts: tuple[Verdict, ...] = ()
    tables: tuple[DataTable, ...] = ()
    rows: tuple[tuple[Figure, ...], ...] = ()
    remark: str = ""
    decision: Decision | None = None
    asked: str = ""
    verb: str = ""


@dataclass(frozen=True, eq=False)
class Asked:
    """An answer as a page takes it.

    Attributes
    ----------
    varied
        How its question differs from the others of its section.
    section
        What was asked together: a table of an experiment file, or a verb.
    located
        The same answer, its files named from here, if they are known: what pictures are made from.
    """

    record: Recorded
    varied: Mapping[str, Any]
    section: str
    located: Recorded | None = None

    @property
    def drawn(self) -> Recorded:
        """The answer that pictures are made from."""
        return self.located or self.record


def sections_of(asked: Sequence[Asked]) -> list[Section]:
    """Return the sections of a page: first curves, then all other answers by what was asked."""
    groups = find_curves([each.record for each in asked])
    drawn = {
        id(record) for group in groups for curve in group.curves for _, _, record in curve.answers
    }
    rest: dict[str, list[Asked]] = {}
    for each in asked:
        if id(each.record) not in drawn:
            rest.setdefault(each.section, []).append(each)
    return [*map(_of_curves, groups), *map(_of_answers, rest.values())]


def varied_in(records: Sequence[Recorded]) -> list[dict[str, Any]]:
    """Return for each answer the fields in which the questions of its verb differ.

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> answers = [analyze("ring:4", on, random_mappings=0) for on in ("mesh:2x2", "ring:4")]
    >>> varied_in([record(answer) for answer in answers])
    [{'on': 'mesh:2x2'}, {'on': 'ring:4'}]
    """
    found = []
    for record in records:
        alike = [each.configuration for each in records if each.verb == record.verb]
        mine = record.configuration
        differ = [name for name in mine if len({repr(each.get(name)) for each in alike}) > 1]
        found.append({name: mine[name] for name in differ})
    return found


def _of_curves(group: CurveGroup) -> Section:
    """Return the section of curves: latency and throughput, then one point of each in detail."""
    details = list(islice(filter(None, map(_in_detail, group.simulated)), MOST_DETAILED))
    left_out = len(group.simulated) - len(details) if details else 0
    remark = f"{counted(left_out, 'more curve', ',')} not drawn in detail." if left_out else ""
    drawn = [
        replace(each, span=8 if _pixels(each.spec, "width") > HALF else 6)
        for each in curve_figures(group)
    ]
    accepted = [row for curve in group.simulated for row in curve.accepted.iter_rows(named=True)]
    if not any(abs(row["accepted"] / row["load"] - 1) > SAME for row in accepted if row["load"]):
        drawn = drawn[:1]  # all gets through
    found = decide(group)
    if any((curve.table["runs"] > 1).any() for curve in group.simulated) and details:
        remark = f"Pictures of one load are of the first of several runs. {remark}".strip()
    return Section(
        title=f"{group.axes.latency.capitalize()} under load: {group.name}",
        verdicts=(found.verdict,),
        tables=(curve_numbers(group),),
        rows=(tuple(drawn), *_side_by_side(details)),
        remark=remark,
        decision=found,
    )


def _in_detail(curve: Curve) -> tuple[str, Recorded] | None:
    """Return the point of a curve at the highest load that it keeps up with, if that is known."""
    here = [each for each in curve.answers if each[0] == curve.kept_up]
    if not here:
        return None
    here.sort(key=lambda each: each[2].figures.get("stable") is False)  # of some seeds it may not
    load, technique, record = here[0]
    one = kind_of(record).detail(record, load, technique)
    if one is None:
        return None
    return f"{curve.label} at {number(load)}", one


def _side_by_side(records: Sequence[tuple[str, Recorded]]) -> Iterator[tuple[Figure, ...]]:
    """Yield the figures of answers, each with a name: a row has one part of each, on one scale.

    The figures of a single answer stand in one row.
    """
    several = len(records) > 1
    with one_axis() if several else nullcontext():
        for _ in range(1 + several):  # once more when it is known how far their axes go
            drawn = [(name, figures_by_part(record, len(records))) for name, record in records]
    if len(drawn) == 1:  # beside a high figure the next two stand one over the other
        figures = list(drawn[0][1].values())
        halves = [each for each in figures if each.span == 6]
        high = [each for each in halves if _pixels(each.spec, "height") > HIGH]
        if len(high) == 1 and len(halves) > 2 and halves[0] is high[0]:
            figures = [replace(each, tall=each is high[0]) for each in figures]
        yield tuple(figures)
        return
    for part in dict.fromkeys(part for _, figures in drawn for part in figures):
        yield tuple(
            replace(figures[part], title=_named(figures[part].title, name, part))
            for name, figures in drawn
            if part in figures
        )


def _named(title: str, name: str, part: str) -> str:
    """Return the title of a figure of one of several answers: what it is of, and what it shows.

    Examples
    --------
    >>> _named("mesh:4x4: every channel by its load", "mesh:4x4 at 0.4", "channels")
    'mesh:4x4 at 0.4: every channel by its load'
    >>> _named("How long packets took", "mesh:4x4", "latency")
    'mesh:4x4: how long packets took'
    """
    network = name.partition(" ")[0].rstrip(",")
    shown = title.removeprefix(f"{network}: ") if ":" in network else title
    shown = shown or part
    return f"{name}: {shown[:1].lower()}{shown[1:]}"


def _of_answers(asked: Sequence[Asked]) -> Section:
    """Return the section of answers that are no curves: compared, then one by one."""
    records = [(each.varied, each.record) for each in asked]
    head = asked[0].record.kind.title
    one = len(asked) == 1
    best = best_of(records)
    verdicts = [best.verdict] if best else []
    verdicts += [
        replace(each.record.answer.verdict, of="" if one else _told(each))
        for each in asked[:MOST_SENTENCES]
    ]
    detailed = [(_told(each), each.drawn) for each in asked[:MOST_DETAILED]]
    left_out = len(asked) - len(detailed)
    names = {name_of(each.record) for each in asked}
    name = names.pop() if len(names) == 1 else ""
    return Section(
        title=f"{head}: {name}" if name else head,
        verdicts=tuple(verdicts),
        tables=(key_table(records),),
        rows=tuple(_side_by_side(detailed)),
        remark=f"{counted(left_out, 'more answer', ',')} in the table only." if left_out else "",
        decision=best,
        asked=asked[0].section,
        verb=asked[0].record.verb,
    )


def _told(asked: Asked) -> str:
    """Return what tells an answer from the others of its section."""
    return name_fields(asked.varied) or name_of(asked.record) or asked.record.kind.title


MOST_BYTES = 1_000_000
"""Bytes of CSV that one table of a page holds. Of a longer one the first rows."""


class Numbers(NamedTuple):
    """All answers to one question.

    Attributes
    ----------
    title
        What was asked.
    table
        The key figures, to be shown.
    file
        What the file is called that has all of them.
    csv
        That file: every column of the answers, with all digits.
    cut
        Whether that has the first rows only.
    """

    title: str
    table: DataTable
    file: str
    csv: str
    cut: bool


def numbers_of(asked: Sequence[Asked]) -> list[Numbers]:
    """Return the numbers of all answers, by what was asked together."""
    together: dict[str, list[Asked]] = {}
    for each in asked:
        together.setdefault(each.section, []).append(each)
    found = []
    for section, answers in together.items():
        record = answers[0].record
        names = {short_name(program_of(each.record)) for each in answers}
        what = (names.pop() if len(names) == 1 else "") or section
        title = record.kind.title + (f": {what}" if len(together) > 1 else "")
        file = re.sub(r"[^a-z0-9]+", "-", section.lower()).strip("-") or "answers"
        found.append(_numbers(answers, record.answer.KEY_TABLE, title, f"{file}.csv"))
        if record.answer.KEY_TABLE != "table":
            found.append(_numbers(answers, "table", f"{title}, every row", f"{file}-all.csv"))
    return found


def _numbers(asked: Sequence[Asked], name: str, title: str, file: str) -> Numbers:
    """Return the numbers of one table of several answers: how questions differ, what was found."""
    tables = []
    for each in asked:
        table = each.record.tables[name]
        flat = [column for column, kind in table.schema.items() if not kind.is_nested()]
        tables.append(after(each.varied, table.select(flat)))
    text = pl.concat(tables, how="diagonal_relaxed").write_csv()
    cut = len(text) > MOST_BYTES
    text = text[: text.rindex("\n", 0, MOST_BYTES) + 1] if cut else text
    shown = key_table([(each.varied, each.record) for each in asked], name)
    return Numbers(title, shown, file, text, cut)
