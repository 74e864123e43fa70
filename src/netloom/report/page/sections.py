"""The sections of a page: what was asked together, what it says, and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from netloom.report.page.answers import figures_of, key_table, name_of
from netloom.report.page.curve_charts import curve_figures
from netloom.report.page.curve_names import name_fields
from netloom.report.page.curve_verdicts import curve_numbers, curve_sentences
from netloom.report.page.curves import find_curves, kind_of
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.recorded import Recorded
    from netloom.report.page.curves import Curve, CurveGroup
    from netloom.report.page.figure import DataTable, Figure

MOST_DETAILED = 6
"""Answers of a section that are drawn one by one."""

MOST_SENTENCES = 12
"""Answers of a section that are put in words one by one."""


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page.

    Attributes
    ----------
    tables, figures
        Numbers, and what is drawn from them.
    remark
        What is left out; perhaps "".
    """

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[DataTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    below: tuple[Section, ...] = ()
    remark: str = ""


@dataclass(frozen=True, eq=False)
class Asked:
    """An answer as a page takes it.

    Attributes
    ----------
    varied
        How its question differs from the others of its section.
    section
        What was asked together: a table of an experiment file, or a verb.
    """

    record: Recorded
    varied: Mapping[str, Any]
    section: str


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
    below = list(islice(filter(None, map(_in_detail, group.simulated)), MOST_DETAILED))
    left_out = len(group.simulated) - len(below) if below else 0
    remark = f"{counted(left_out, 'more curve', ',')} not drawn in detail." if left_out else ""
    return Section(
        title=f"{group.axes.latency.capitalize()} under load: {group.name}",
        sentences=tuple(curve_sentences(group)),
        tables=(curve_numbers(group),),
        figures=tuple(curve_figures(group)),
        below=tuple(below),
        remark=remark,
    )


def _in_detail(curve: Curve) -> Section | None:
    """Return the point of a curve at the highest load that it keeps up with, if that is known."""
    here = [each for each in curve.answers if each[0] == curve.kept_up]
    if not here:
        return None
    here.sort(key=lambda each: each[2].figures.get("stable") is False)  # of some seeds it may not
    load, technique, record = here[0]
    one = kind_of(record).detail(record, load, technique)
    if one is None:
        return None
    title = f"{curve.label} at {number(load)}, the highest load it keeps up with"
    seed = f" (the first of {len(here)} runs)" if len(here) > 1 else ""
    return Section(title=title + seed, figures=tuple(figures_of(one)))


def _of_answers(asked: Sequence[Asked]) -> Section:
    """Return the section of answers that are no curves: compared, then one by one."""
    records = [(each.varied, each.record) for each in asked]
    head = asked[0].record.kind.title
    one = len(asked) == 1
    named = [(name_fields(each.varied), each.record) for each in asked]
    sentences = asked[0].record.kind.best(named)
    for each in asked[:MOST_SENTENCES]:
        before = f"{_named(each)}: " if not one else ""
        sentences += [f"{before}{said}" for said in each.record.kind.sentences(each.record)]
    detailed = asked[:MOST_DETAILED]
    figures = [figures_of(each.record) for each in detailed]
    left_out = len(asked) - len(detailed)
    names = {name_of(each.record) for each in asked}
    name = names.pop() if len(names) == 1 else ""
    return Section(
        title=f"{head}: {name}" if name else head,
        sentences=tuple(sentences),
        tables=(key_table(records),),
        figures=tuple(figures[0]) if one else (),
        below=()
        if one
        else tuple(
            Section(_named(each), figures=tuple(drawn))
            for each, drawn in zip(detailed, figures, strict=True)
        ),
        remark=f"{counted(left_out, 'more answer', ',')} in the table only." if left_out else "",
    )


def _named(asked: Asked) -> str:
    """Return what tells an answer from the others of its section."""
    return name_fields(asked.varied) or name_of(asked.record) or asked.record.kind.title
