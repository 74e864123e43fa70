"""What a page has: its words, its sections, and where its numbers come from."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.words import counted, listed, number, rounded
from netloom.experiments.findings import located
from netloom.explore.file import MOST_VIEWS, by_network, data_of, named_views, title_of
from netloom.questions.commands import command_line
from netloom.questions.network_chart import one_scale
from netloom.questions.register import Recorded
from netloom.questions.verdict import short_name
from netloom.report.page.answers import name_of
from netloom.report.page.decision import answer_of
from netloom.report.page.sections import Asked, numbers_of, sections_of, varied_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netloom.experiments.findings import Results
    from netloom.report.page.decision import Answered
    from netloom.report.page.figure import Figure
    from netloom.report.page.sections import Numbers, Section


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
    found = _different([each for each in sources if not isinstance(each, Recorded)])
    asked = [each for results in found for each in _asked(results, several=len(found) > 1)]
    asked += [
        Asked(each, varied, each.verb) for each, varied in zip(live, varied_in(live), strict=True)
    ]
    if not asked:
        raise InputError("report", "no answers", "an experiment that has some: see netloom run")
    facts = [fact for results in found for fact in _facts(results, several=len(found) > 1)]
    with one_scale(each.record for each in asked):
        sections = tuple(sections_of(asked))
    return Page(
        title=title or _title(live, found),
        question=" ".join(results.question for results in found if results.question),
        notices=tuple(
            f"{results.name}: {results.sentence}"
            for results in found
            if results.missing or results.refused or results.other_code
        ),
        answer=answer_of(asked, sections),
        sections=sections,
        numbers=tuple(numbers_of(asked)),
        facts=(*facts, *_facts_of_live(live)),
        commands=tuple(_commands(live, found)),
        texts=(*((each.name, each.text) for each in found), *_questions(live)),
        cost=_cost(len(asked), found, live),
        explorers=tuple(explorers_of([*live, *_located(found)])),
        explore=tuple(_explored(found)),
    )


def _located(found: Sequence[Results]) -> Iterator[Recorded]:
    """Yield the answers of experiments whose files are where they were."""
    for results in found:
        for each in results.answered:
            with suppress(InputError, OSError):
                yield located(each, results.folder)


def _explored(found: Sequence[Results]) -> Iterator[str]:
    """Yield commands that write explorers of what must be worked out again."""
    for results in found:
        if any(each.record.verb in AGAIN for each in results.answered):
            page = f"{PurePath(results.name).stem}-network.html"
            yield f"netloom explore {quote(results.name)} -o {quote(page)}"


def figures_on(sections: Sequence[Section]) -> Iterator[Figure]:
    """Yield the figures of sections, from top to bottom."""
    for section in sections:
        yield from section.figures


def _different(found: Sequence[Results]) -> list[Results]:
    """Return results of experiments, each once: a file and its store name the same."""
    keys = {tuple(each.point.key for each in results.answered): results for results in found}
    return list(keys.values())


def _asked(results: Results, *, several: bool) -> Iterator[Asked]:
    for each in results.answered:
        section = f"{results.name} {each.point.section}" if several else each.point.section
        drawn = each.record
        with suppress(InputError, OSError):  # the network is drawn if its file is where it was
            drawn = located(each, results.folder)
        yield Asked(each.record, each.point.varied, section, drawn)


def _title(live: Sequence[Recorded], found: Sequence[Results]) -> str:
    titles = [results.title or results.name for results in found]
    if titles:
        return listed(titles)
    names = list(dict.fromkeys(name_of(each) or each.kind.title for each in live))
    return listed(names, 3)


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
        seeds = sorted({each.record.figures["provenance"]["seed"] for each in answered})
        facts += [
            ("netloom", listed(sorted({each.version for each in answered}))),
            ("Seeds", listed([str(seed) for seed in seeds], 12)),
            ("CPU time", _duration(sum(each.cpu_seconds for each in answered))),
            ("Finished", _time(max(each.finished for each in answered))),
        ]
    head = f"{results.name}: " if several else ""
    return [(f"{head}{name}" if name != "Experiment" else name, said) for name, said in facts]


def _facts_of_live(live: Sequence[Recorded]) -> list[tuple[str, str]]:
    if not live:
        return []
    origins = [each.figures["provenance"] for each in live]
    return [
        ("Answers", counted(len(live), "answer", ",")),
        ("netloom", listed(sorted({each["netloom"] for each in origins}))),
        ("Seeds", listed([str(seed) for seed in sorted({each["seed"] for each in origins})], 12)),
    ]


def _questions(live: Sequence[Recorded]) -> list[tuple[str, str]]:
    """Return the questions of answers in full, but what was left open."""
    said = []
    for each in live[:MOST_QUESTIONS]:
        asked: dict[str, Any] = {
            name: value for name, value in each.configuration.items() if value is not None
        }
        text = json.dumps(asked, indent=1, ensure_ascii=False, default=str)
        said.append((f"{each.kind.title}: {name_of(each)}".rstrip(": "), text))
    return said


def _commands(live: Sequence[Recorded], found: Sequence[Results]) -> Iterator[str]:
    """Yield what repeats the answers: of experiments two commands, else one for each answer."""
    for results in found:
        yield f"netloom run {quote(results.name)}"
        yield f"netloom report {quote(results.name)} -o report.html"
    lines = (command_line(each.kind, each.configuration) for each in live[:MOST_QUESTIONS])
    yield from dict.fromkeys(line for line in lines if line)


def _cost(answers: int, found: Sequence[Results], live: Sequence[Recorded]) -> str:
    """Return what the answers took, as far as it is known."""
    said = counted(answers, "answer", ",")
    seconds = sum(each.cpu_seconds for each in found)
    seconds += sum(each.figures.get("cpu_seconds") or 0.0 for each in live)
    return f"{said} in {_duration(seconds)} of processor time." if seconds else f"{said}."


def _time(iso: str) -> str:
    """Return an ISO date and time, UTC, as people write it.

    Examples
    --------
    >>> _time("2026-11-22T04:19:39+00:00")
    '2026-11-22, 04:19 UTC'
    """
    date, _, clock = iso.partition("T")
    return f"{date}, {clock[:5]} UTC"


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
