"""What a page has: its words, its sections, and where its numbers come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePath
from shlex import quote
from typing import Any, NamedTuple

import polars as pl

from netloom.base.errors import InputError
from netloom.base.figures import head_of
from netloom.base.words import counted, listed, load_share, number, percent, rounded
from netloom.drawing.networks.chart import one_scale
from netloom.experiments.findings import Results, located
from netloom.pages.curve_verdicts import Tile, highest_shared
from netloom.pages.curves import CurveGroup, find_curves, name_fields
from netloom.pages.explorer.file import MOST_VIEWS, by_network, data_of, named_views, title_of
from netloom.pages.figure import Figure
from netloom.pages.sections import (
    Asked,
    Numbers,
    Section,
    name_of,
    numbers_of,
    sections_of,
    varied_in,
)
from netloom.questions.answers import Verdict
from netloom.questions.recorded import Recorded, key_columns
from netloom.questions.register import command_line, kind_of
from netloom.questions.terminal import ended, short_name

MOST_TILES = 3
"""Numbers of a page that stand out."""

MOST_SENTENCES = 2
"""Sentences of the answer."""

FEW = 3
"""Answers whose figures a tile names one by one."""

EXACT = frozenset({"analyze", "check_fabric"})
"""Verbs whose answers count, and depend on no seed but in what they compare with."""

GRAVEST = ("act", "limited", "unknown", "fine", "")
"""Marks by how much they ask of a reader."""


@dataclass(frozen=True, eq=False)
class Answered:
    """What a page answers.

    Attributes
    ----------
    verdict
        The answer, the command that comes next, and as its note how sure the answer is.
    said
        The verdicts that it is made of.
    tiles
        The numbers that decide, at most three.
    trust
        Under which conditions it holds, and what speaks against it.
    """

    verdict: Verdict
    said: tuple[Verdict, ...]
    tiles: tuple[Tile, ...]
    trust: tuple[str, ...]


def answer_of(asked: Sequence[Asked], sections: Sequence[Section]) -> Answered:
    """Return what the answers of a page come to together.

    Curves decide if there are any, else what compares answers, or the verdicts themselves.
    """
    records = [each.record for each in asked]
    groups = find_curves(records)
    said = _deciding(sections)
    chosen = [name for each in sections if each.decision for name in each.decision.chosen]
    notes = list(dict.fromkeys(_told(each.note) for each in said if each.note))
    about = [  # notes of stars where the sentence has one, and all others
        each for each in said if not each.note.startswith("*") or "*" in each.sentence
    ]
    near = [_told(each.note) for each in about if each.note]
    counts = f"{counted(len(records), 'answer', ',')}, {_with_seeds(records)}."
    exact = {each.verb for each in records} <= EXACT
    rest = "Counts are exact." if exact else f"{counts} Other seeds may differ."
    sure = _sure_of(groups) or " ".join(dict.fromkeys(near)) or rest
    marks = sorted((each.mark for each in said), key=GRAVEST.index)
    sentence = " ".join(each.sentence for each in said)
    return Answered(
        Verdict(marks[0] if marks else "", sentence, next=_next(sections, chosen), note=sure),
        tuple(said),
        tuple(_tiles(asked, sections))[:MOST_TILES],
        tuple(_trust(records, groups, notes)),
    )


def _deciding(sections: Sequence[Section]) -> list[Verdict]:
    """Return the verdicts that make up the answer of a page: of each section the first.

    Of a single section the first two, or which answer to take, and what that one says.
    """
    deciding = [each for each in _choices(sections) or _mending(sections) if each.verdicts]
    if len(deciding) > 1 or not all(each.verb for each in deciding):
        told = [each.verdicts[0] for each in deciding]
    else:
        of = [name for each in deciding if each.decision for name in each.decision.chosen]
        told = [verdict for each in deciding for verdict in each.verdicts]
        told = [each for each in told if not of or not each.of or each.of in of]
    return [  # each sentence says what it is of
        replace(each, sentence=f"{each.of}: {each.sentence}")
        if each.of and each.of not in each.sentence
        else each
        for each in told[:MOST_SENTENCES]
    ]


def _mending(sections: Sequence[Section]) -> list[Section]:
    """Return the sections that say what helps, or all if they only say what is wrong."""
    return [each for each in sections if each.verb != "analyze"] or list(sections)


def _told(note: str) -> str:
    """Return a note as sentences.

    Examples
    --------
    >>> _told("* estimate. Give the load for a yes or no: --offered 0.2")
    'Numbers with * are estimates. Give the load for a yes or no: --offered 0.2'
    >>> _told("* if nothing waited, another path would be critical")
    'Numbers with *: if nothing waited, another path would be critical.'
    """
    if not note.startswith("* "):
        return ended(note)
    first, end, more = note[2:].partition(". ")
    if first.rstrip(".") == "estimate":
        return f"Numbers with * are estimates.{' ' + more if end else ''}"
    return ended(f"Numbers with *: {note[2:]}")


def _choices(sections: Sequence[Section]) -> list[Section]:
    """Return the sections of curves that are compared. Of single curves if there are no others."""
    curves = [each for each in sections if not each.verb]
    return [each for each in curves if each.decision and each.decision.several] or curves


def _tiles(asked: Sequence[Asked], sections: Sequence[Section]) -> list[Tile]:
    """Return the numbers of the answer: of each choice one at least, else key figures."""
    decided = [
        each.decision.tiles for each in _choices(sections) if each.decision and each.decision.tiles
    ]
    if not decided:  # the figure that decides a section, if there is one, and those of its answers
        section = _mending(sections)[0]
        own = [each for each in asked if each.section == section.asked] or asked  # none of curves
        named = [(name_fields(each.varied), each.record) for each in own]
        best = section.decision if section.verb else None  # of curves there are no tiles
        if best is None:
            return list(_key_figures(named))
        named.sort(key=lambda each: each[0] not in best.chosen)  # what is taken comes first
        alike = best.tiles[0].value.partition(" ")[0]
        shown = (each for each in _key_figures(named) if each.value.partition(" ")[0] != alike)
        return [*best.tiles, *shown]
    found: list[Tile] = []
    for place, tiles in enumerate(decided):
        later = len(decided) - place - 1
        found += tiles[: max(MOST_TILES - len(found) - later, 1)]
    return found


def _key_figures(named: Sequence[tuple[str, Recorded]]) -> Iterator[Tile]:
    """Yield the first key figures of answers to one question, of few answers one by one.

    Of more answers they go from the least to the most.
    """
    records = [record for _, record in named]
    first = records[0]
    name = first.answer.KEY_TABLE
    columns = key_columns(first, name, but=("seed",))
    for column in sorted(columns, key=lambda each: not each.told.unit):  # with units first
        values = [
            row[column.name]
            for each in records
            for row in _telling(each.tables[name])
            if isinstance(row.get(column.name), int | float)
            and not isinstance(row[column.name], bool)
        ]
        if not values:
            continue
        ends = list(dict.fromkeys((number(min(values)), number(max(values)))))
        head = head_of(column, first.answer)
        start = _telling(first.tables[name])[0].get(f"before_{column.name}")
        if len(values) == 1 and isinstance(start, int | float):
            said = dict.fromkeys((number(start), number(values[0])))
            yield Tile(" → ".join(said), head)
            continue
        if 1 < len(values) == len(named) <= FEW and len(ends) > 1:
            rest = zip(named[1:], values[1:], strict=True)
            others = listed([f"{name} {number(each)}" for (name, _), each in rest])
            yield Tile(number(values[0]), f"{head}, {named[0][0]} ({others})")
        else:
            yield Tile(" to ".join(ends), head)


def _telling(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table that are the answer: of mappings the one that was found."""
    rows = table.to_dicts()
    return [each for each in rows if each.get("mapping") == "result"] or rows


def _next(sections: Sequence[Section], chosen: Sequence[str]) -> str:
    """Return the command that comes next: that of an answer of what is chosen, if there is one."""
    verdicts = [verdict for section in sections for verdict in section.verdicts if verdict.next]
    verdicts.sort(key=lambda each: not any(name in f"{each.of} {each.next}" for name in chosen))
    if verdicts:
        return verdicts[0].next
    for section in sections:
        curve = section.decision.curve if section.decision else None
        if curve and curve.answers:
            record = curve.answers[0][2]
            if record.verb == "simulate" and curve.found is None:
                return command_line(kind_of("simulate.saturation"), record.configuration)
    return ""


def _sure_of(groups: Sequence[CurveGroup]) -> str:
    """Return in a line how well curves are known, and how far models agree with them."""
    runs = max(
        (each for group in groups for curve in group.simulated for each in curve.table["runs"]),
        default=0,
    )
    said = []
    halves = []  # of 95 % intervals at the highest load that curves share, in parts of 1
    for group in groups:
        load = highest_shared(group.simulated)
        found = [] if load is None else [curve.at(load) for curve in group.simulated]
        halves += [here[1] / here[0] for here in found if here is not None and here[1] is not None]
    if runs:
        each = f"Each load is {counted(runs, 'run')}"
        each += " with different seeds" if runs > 1 else ""
        within = f", latencies within ±{percent(max(halves), 2)}" if halves else ""
        said.append(f"{each}{within}.")
    off = [each for group in groups for _, each in group.off]
    if off:
        near = sorted(map(abs, off))[len(off) // 2]
        median, most = (percent(float(f"{each:.2g}")) for each in (near, max(map(abs, off))))
        said.append(f"The model is off by {median} in the median and by {most} at most.")
    return " ".join(said)


def _seeds(records: Iterable[Recorded]) -> list[str]:
    return [str(seed) for seed in sorted({each.answer.provenance.seed for each in records})]


def _with_seeds(records: Iterable[Recorded]) -> str:
    seeds = _seeds(records)
    return f"seed{'s' * (len(seeds) > 1)} {listed(seeds, 12)}"


def _trust(
    records: Sequence[Recorded], groups: Sequence[CurveGroup], notes: Sequence[str]
) -> Iterator[str]:
    """Yield under which conditions the answer holds, and what speaks against it."""
    named = (each.figures.get("topology") for each in records)
    networks = listed([*dict.fromkeys(str(each) for each in named if each)])
    where = f" on {networks}" if networks else ""
    said = f"The answer holds for the questions listed under Method{where}"
    yield f"{said}, with {_with_seeds(records)}."
    yield from notes
    # where an analysis allows less than a simulation of the same carries, and its reason
    carried = {
        (group.name.partition(" on ")[0], str(curve.about.get("topology"))): curve.kept_up
        for group in groups
        for curve in group.simulated
        if curve.kept_up is not None
    }
    for record in records:
        known = record.answer.measure() if record.verb == "analyze" else None
        bound = None if known is None else known.value
        program = short_name(str(record.figures.get("app")))
        most = carried.get((program, str(record.figures.get("topology"))))
        if bound is None or most is None or bound >= most:
            continue
        note = record.figures.get("note")
        yield (
            f"Static analysis of {program} allows {load_share(bound)} on "
            f"{record.figures['topology']}, and the simulation carries {percent(most)}: they route "
            f"differently.{f' {note}' if note else ''}"
        )


AGAIN = ("compare_collectives", "compile_phases", "replay", "route_fabric")
"""Verbs whose answers must be worked out again to be explored: too long for a page beside others.

``netloom explore`` shows them.
"""

MOST_NETWORKS = 6
"""Networks that a page has explorers of."""


class Explorer(NamedTuple):
    """An explorer of a network: its name, its title, and its data."""

    network: str
    title: str
    data: dict[str, Any]


def explorers_of(records: Iterable[Recorded]) -> Iterator[Explorer]:
    """Yield explorers of the networks that answers are about.

    Answers whose files are gone, or whose questions named Python objects, have none.
    """
    known = by_network(each for each in records if each.verb not in AGAIN)
    for network, chosen in list(known.items())[:MOST_NETWORKS]:
        try:
            views = named_views(chosen[:MOST_VIEWS])
            yield Explorer(short_name(network), title_of(views), data_of(views))
        except (InputError, OSError):
            continue


MOST_QUESTIONS = 50
"""Questions that a page shows word by word."""


@dataclass(frozen=True, eq=False)
class Page:
    """All that a page says.

    Attributes
    ----------
    title, question
        Its heading, and what was asked, in words. Perhaps "".
    notices
        What is not there: points that have no answer, or cannot have one.
    answer
        What it all comes to.
    sections
        What was found.
    numbers
        All of them, question by question.
    facts
        Where the numbers come from: what, and how much or which.
    commands
        What repeats it; () if no command can.
    texts
        Files and questions in full: their names and what they say.
    cost
        What the answers took, in a sentence.
    explorers
        The networks, to be looked at.
    explore
        Commands that write pages of what takes too long for this one.
    """

    title: str
    question: str
    notices: tuple[str, ...]
    answer: Answered
    sections: tuple[Section, ...]
    numbers: tuple[Numbers, ...]
    facts: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    cost: str
    explorers: tuple[Explorer, ...] = ()
    explore: tuple[str, ...] = ()


def page_of(sources: Sequence[Recorded | Results], title: str = "") -> Page:
    """Return the page of records and results of experiments.

    Parameters
    ----------
    title
        Its title. By default that of the experiment, or what the answers are of.

    Raises
    ------
    InputError
        If there is no answer in them.
    """
    live = [each for each in sources if isinstance(each, Recorded)]
    stored = (each for each in sources if not isinstance(each, Recorded))
    by_points = {tuple(each.point.key for each in results.answered): results for results in stored}
    found = list(by_points.values())  # what is there several times once
    several, asked, again = len(found) > 1, [], []
    for results in found:
        name = quote(results.name)
        again += [f"netloom run {name}", f"netloom report {name} -o report.html"]
        for each in results.answered:
            section = f"{results.name} {each.point.section}" if several else each.point.section
            place = None
            with suppress(InputError, OSError):  # drawn if the network's file is where it was
                place = located(each, results.folder)
            asked.append(Asked(each.record, each.point.varied, section, place))
    asked += [
        Asked(each, varied, each.verb) for each, varied in zip(live, varied_in(live), strict=True)
    ]
    names = list(dict.fromkeys(name_of(each) or each.kind.title for each in live))
    lines = (command_line(each.kind, each.configuration) for each in live[:MOST_QUESTIONS])
    questions = []  # in full, but what was left open
    for one in live[:MOST_QUESTIONS]:
        fields = {name: value for name, value in one.configuration.items() if value is not None}
        text = json.dumps(fields, indent=1, ensure_ascii=False, default=str)
        questions.append((f"{one.kind.title}: {name_of(one)}".rstrip(": "), text))
    if not asked:
        raise InputError("report", "no answers", "an experiment that has some: see netloom run")
    pages = [  # those that take long to walk are explored by a command
        (results.name, f"{PurePath(results.name).stem}-network.html")
        for results in found
        if any(each.record.verb in AGAIN for each in results.answered)
    ]
    facts = [fact for results in found for fact in _facts(results, several=several)]
    if live:
        facts += [
            ("Answers", counted(len(live), "answer", ",")),
            ("netloom", listed(sorted({each.answer.provenance.version for each in live}))),
            ("Seeds", listed(_seeds(live), 12)),
        ]
    seconds = sum(each.cpu_seconds for each in found)
    seconds += sum(each.figures.get("cpu_seconds") or 0.0 for each in live)
    cost = f" in {_duration(seconds)} of processor time" if seconds else ""
    loads = (each.record.answer.channel_loads() for each in asked)
    with one_scale(filter(None, loads)):
        sections = tuple(sections_of(asked))
    return Page(
        title=title or listed([each.title or each.name for each in found]) or listed(names, 3),
        question=" ".join(results.question for results in found if results.question),
        notices=tuple(
            f"{results.name}: {results.sentence}"
            for results in found
            if results.missing or results.refused or results.other_code
        ),
        answer=answer_of(asked, sections),
        sections=sections,
        numbers=tuple(numbers_of(asked)),
        facts=tuple(facts),
        commands=(*again, *dict.fromkeys(line for line in lines if line)),
        texts=(*((each.name, each.text) for each in found), *questions),
        cost=f"{counted(len(asked), 'answer', ',')}{cost}.",
        explorers=tuple(explorers_of([*live, *(each.located for each in asked if each.located)])),
        explore=tuple(f"netloom explore {quote(name)} -o {quote(page)}" for name, page in pages),
    )


def figures_on(sections: Sequence[Section]) -> Iterator[Figure]:
    """Yield the figures of sections, from top to bottom."""
    for section in sections:
        yield from chain(*section.rows)


def _facts(results: Results, *, several: bool) -> list[tuple[str, str]]:
    """Return where the numbers of an experiment come from."""
    answered = results.answered
    points = counted(len(answered), "point", ",") + " answered"
    if results.missing:
        points += f", {number(results.missing)} not yet"
    if results.refused:
        reasons = list(dict.fromkeys(each.reason for each in results.refused))
        points += f", {number(len(results.refused))} that cannot be asked: {listed(reasons, 3)}"
    facts = [("Experiment", results.name), ("Points", points)]
    if answered:
        date, _, clock = max(each.kept.finished for each in answered).partition("T")
        facts += [
            ("netloom", listed(sorted({each.kept.version for each in answered}))),
            ("Seeds", listed(_seeds(each.record for each in answered), 12)),
            ("CPU time", _duration(results.cpu_seconds)),
            ("Finished", f"{date}, {clock[:5]} UTC"),
        ]
    head = f"{results.name}: " if several else ""
    return [(f"{head}{name}" if name != "Experiment" else name, said) for name, said in facts]


def _duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> _duration(3.21), _duration(600), _duration(10_000)
    ('3.21 s', '10 min', '2.8 h')
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{rounded(seconds / 60)} min" if seconds < 7200 else f"{rounded(seconds / 3600)} h"
