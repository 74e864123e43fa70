"""What a page answers: one sentence, three numbers, what to do next, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, listed, number
from netloom.questions.analyze.words import load_share
from netloom.questions.commands import command_line
from netloom.questions.register import key_columns, kind_of
from netloom.questions.shown import ended, percent
from netloom.questions.verdict import Verdict, short_name
from netloom.report.page.curve_verdicts import Tile, common_load
from netloom.report.page.curves import deviations, find_curves, name_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from netloom.questions.register import Recorded
    from netloom.report.page.curves import CurveGroup
    from netloom.report.page.sections import Asked, Section

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
    chosen = {
        each.decision.chosen.label for each in sections if each.decision and each.decision.chosen
    }
    chosen |= {name for each in sections if each.best for name in each.best.chosen}
    notes = list(dict.fromkeys(_told(each.note) for each in said if each.note))
    near = [_told(each.note) for each in said if each.note and _concerns(each)]
    sure = _sure_of(groups) or " ".join(dict.fromkeys(near)) or _single(records)
    marks = sorted((each.mark for each in said), key=GRAVEST.index)
    sentence = " ".join(each.sentence for each in said)
    mark = marks[0] if marks else ""
    return Answered(
        Verdict(mark, sentence, next=_next(sections, chosen), note=sure),
        tuple(said),
        tuple(_tiles(asked, sections))[:MOST_TILES],
        tuple(_trust(records, groups, notes)),
    )


def _deciding(sections: Sequence[Section]) -> list[Verdict]:
    """Return the verdicts that make up the answer of a page: of each section the first.

    Of a single section the first two, or which answer to take, and what that one says.
    """
    deciding = [each for each in _choices(sections) or _mending(sections) if each.verdicts]
    if len(deciding) > 1 or any(each.decision for each in deciding):
        return [_named(each.verdicts[0]) for each in deciding[:MOST_SENTENCES]]
    of = [name for each in deciding if each.best for name in each.best.chosen]
    told = [verdict for each in deciding for verdict in each.verdicts]
    told = [each for each in told if not of or not each.of or each.of in of]
    return [_named(each) for each in told[:MOST_SENTENCES]]


def _mending(sections: Sequence[Section]) -> list[Section]:
    """Return the sections that say what helps, or all if they only say what is wrong."""
    return [each for each in sections if each.verb != "analyze"] or list(sections)


def _named(verdict: Verdict) -> Verdict:
    """Return a verdict whose sentence says what it is of."""
    if not verdict.of or verdict.of in verdict.sentence:
        return verdict
    return replace(verdict, sentence=f"{verdict.of}: {verdict.sentence}")


def _concerns(verdict: Verdict) -> bool:
    """Whether the note of a verdict is about its sentence: what begins with a star may not be."""
    return not verdict.note.startswith("*") or "*" in verdict.sentence


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
    curves = [each for each in sections if each.decision]
    return [each for each in curves if each.decision and each.decision.several] or curves


def _tiles(asked: Sequence[Asked], sections: Sequence[Section]) -> list[Tile]:
    """Return the numbers of the answer: of each choice one at least, else key figures."""
    decided = [
        each.decision.tiles for each in _choices(sections) if each.decision and each.decision.tiles
    ]
    if not decided:
        return _best_tiles(asked, _mending(sections)[0])
    found: list[Tile] = []
    for place, tiles in enumerate(decided):
        later = len(decided) - place - 1
        found += tiles[: max(MOST_TILES - len(found) - later, 1)]
    return found


def _best_tiles(asked: Sequence[Asked], section: Section) -> list[Tile]:
    """Return the figure that decides a section, if there is one, and key figures of its answers."""
    own = [each for each in asked if each.section == section.asked] or asked  # curves have none
    named = [(name_fields(each.varied), each.record) for each in own]
    best = section.best
    if best:  # what is taken comes first
        named.sort(key=lambda each: each[0] not in best.chosen)
    shown = list(_key_figures(named))
    if best:
        alike = best.tile.value.partition(" ")[0]
        shown = [best.tile, *(each for each in shown if each.value.partition(" ")[0] != alike)]
    return shown


def _key_figures(named: Sequence[tuple[str, Recorded]]) -> Iterator[Tile]:
    """Yield the first key figures of answers to one question, of few answers one by one.

    Of more answers they go from the least to the most.
    """
    records = [record for _, record in named]
    first = records[0]
    name = first.answer.key_table
    columns = key_columns(first, name, but=("seed",))
    for column in sorted(columns, key=lambda each: not each.unit):  # with units first
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
        if len(values) == 1 and (start := _before(first, column.name)) is not None:
            said = dict.fromkeys((number(start), number(values[0])))
            yield Tile(" → ".join(said), column.head)
            continue
        if 1 < len(values) == len(named) <= FEW and len(ends) > 1:
            rest = zip(named[1:], values[1:], strict=True)
            others = listed([f"{name} {number(each)}" for (name, _), each in rest])
            yield Tile(number(values[0]), f"{column.head}, {named[0][0]} ({others})")
        else:
            yield Tile(" to ".join(ends), column.head)


def _before(record: Recorded, name: str) -> float | None:
    """Return a key figure as it was before what the answer found, if it says that too."""
    (row,) = _telling(record.tables[record.answer.key_table])
    start = row.get(f"before_{name}")
    return float(start) if isinstance(start, int | float) else None


def _telling(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table that are the answer: of mappings the one that was found."""
    rows = table.to_dicts()
    return [each for each in rows if each.get("mapping") == "result"] or rows


def _next(sections: Sequence[Section], chosen: set[str]) -> str:
    """Return the command that comes next: that of an answer of what is chosen, if there is one."""
    verdicts = [verdict for section in sections for verdict in section.verdicts if verdict.next]
    verdicts.sort(key=lambda each: not any(name in f"{each.of} {each.next}" for name in chosen))
    if verdicts:
        return verdicts[0].next
    for section in sections:
        decision = section.decision
        if decision and decision.chosen and decision.chosen.answers:
            record = decision.chosen.answers[0][2]
            if record.verb == "simulate" and decision.chosen.found is None:
                return command_line(kind_of("simulate.saturation"), record.configuration)
    return ""


def _sure_of(groups: Sequence[CurveGroup]) -> str:
    """Return in a line how well curves are known, and how far models agree with them."""
    if not groups:
        return ""
    runs = max(
        (each for group in groups for curve in group.simulated for each in curve.table["runs"]),
        default=0,
    )
    said = []
    halves = [half for group in groups if (half := _widest(group)) is not None]
    if runs:
        each = f"Each load is {counted(runs, 'run')}"
        each += " with different seeds" if runs > 1 else ""
        said.append(f"{each}, latencies within ±{percent(max(halves))}." if halves else f"{each}.")
    off = [
        each
        for group in groups
        for place, curve in enumerate(group.simulated)
        if (model := group.model_of(place)) is not None
        for _, each in deviations(curve, model)
    ]
    if off:
        near = sorted(map(abs, off))[len(off) // 2]
        median, most = (percent(float(f"{each:.2g}")) for each in (near, max(map(abs, off))))
        said.append(f"The model is off by {median} in the median and by {most} at most.")
    return " ".join(said)


def _widest(group: CurveGroup) -> float | None:
    """Return the widest 95 % interval at the highest load that curves share, in parts of 1."""
    load = common_load(group)
    found = [] if load is None else [curve.at(load) for curve in group.simulated]
    halves = [here[1] / here[0] for here in found if here is not None and here[1] is not None]
    return float(f"{max(halves):.2g}") if halves else None


def _single(records: Sequence[Recorded]) -> str:
    if {each.verb for each in records} <= EXACT:
        return "Counts are exact."
    seeds = sorted({each.figures["provenance"]["seed"] for each in records})
    return f"{counted(len(records), 'answer', ',')}, {_seeds(seeds)}. Other seeds may differ."


def _seeds(seeds: Sequence[Any]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {listed([str(seed) for seed in seeds], 12)}"


def _trust(
    records: Sequence[Recorded], groups: Sequence[CurveGroup], notes: Sequence[str]
) -> Iterator[str]:
    """Yield under which conditions the answer holds, and what speaks against it."""
    networks = list(
        dict.fromkeys(
            str(each.figures["topology"]) for each in records if each.figures.get("topology")
        )
    )
    seeds = sorted({each.figures["provenance"]["seed"] for each in records})
    where = f" on {listed(networks)}" if networks else ""
    yield f"The answer holds for the questions listed under Method{where}, with {_seeds(seeds)}."
    yield from notes
    yield from _contradictions(records, groups)


def _contradictions(records: Sequence[Recorded], groups: Sequence[CurveGroup]) -> Iterator[str]:
    """Yield where an analysis allows less than a simulation of the same carries, and its reason."""
    carried = {
        (group.name.partition(" on ")[0], str(curve.about.get("topology"))): curve.kept_up
        for group in groups
        for curve in group.simulated
        if curve.kept_up is not None
    }
    for record in records:
        known = record.kind.measure(record.figures) if record.verb == "analyze" else None
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
