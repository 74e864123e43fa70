"""The check of a fabric in words: the verdict first, then its figures, on one page."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.fabric.verdict import (
    MARKS,
    amount,
    busiest_in_words,
    cable_in_words,
    circle_in_words,
    plainly,
    shown,
)
from netloom.questions.shown import ended, plain_table
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from netloom.questions.fabric.answer import FabricCheck
    from netloom.questions.recorded import Recorded

COLUMNS = 80
"""Letters of a line."""

MOST_BUSIEST, MOST_MISSING, MOST_CABLES = 5, 5, 6
"""Cables, missing parts and shared cables that the page lists."""

STYLES = {"good": "bold green", "fair": "bold yellow", "bad": "bold red"}


def lines(result: FabricCheck) -> list[Any]:
    """Return the check as one page."""
    found, verdict = result.found, result.verdict
    page: list[Any] = [*_head(result), ""]
    page += _marked(verdict.mark, verdict.sentence, style=STYLES[verdict.mark])
    page += _told("Where", verdict.place)
    page += _told("Why", verdict.cause)
    if found["all_to_all"]["why"] and verdict.level in ("uneven", "good"):
        page += _told("Bound", ended(plainly(result, found["all_to_all"]["why"])))
    for mark, sentence in _others(result):
        page += _marked(mark, sentence)
    page += ["", _figures(result), "", "Busiest cables, each one way:", _busiest(result)]
    missing = result.missing
    if missing:
        page += ["", f"Missing or irregular ({len(missing)}):"]
        for each in missing[:MOST_MISSING]:
            page += _wrapped(plainly(result, each), "    ", "  • ")
        if len(missing) > MOST_MISSING:
            page.append(f"  • … {len(missing) - MOST_MISSING} more: --json lists all")
    page += _jobs(result)
    if verdict.next:
        page += ["", f"Next: [bold]{escape(verdict.next)}[/]"]
    return page


def sentences(record: Recorded) -> list[str]:
    """Return what a recorded check comes to."""
    found = record.figures
    verdict = found["verdict"]
    said = [verdict["sentence"], verdict["cause"]]
    if verdict["place"]:
        said.insert(1, ("The circle: " if verdict["level"] == "loop" else "It is ")
                    + verdict["place"])  # fmt: skip
    half = found["effective_bisection"]
    if half["mean"] is not None:
        said.append(
            f"In random matchings pairs of hosts get {_percent(half['mean'])} of a host's bandwidth"
            f" on average; no tables give more than {_percent(half['bound'])}"
        )
    said += found["missing"]
    for job in found["jobs"]:
        said.append(_job_in_words(job))
    return [ended(each) for each in said if each]


def _head(result: FabricCheck) -> list[str]:
    found, network = result.found, result.network
    name = network.name.removeprefix("fabric:")
    shape = f": {result.shape}" if result.shape else ""
    size = [counted(found["hosts"], "host", ",")]
    if network.num_nodes != network.num_hosts:
        size[0] += f" in {counted(network.num_nodes, 'node', ',')}"
    size += [counted(found["switches"], "switch", ","), counted(found["cables"], "cable", ",")]
    by = f"Tables: {result.forwarding.name}"
    if result.fallback:
        by = f"Tables: minhop. OpenSM, asked for {result.asked}, falls back to it without a word: "
        by += ended(result.fallback)
    elif not result.forwarding.name.startswith("lfts:"):
        by += ", as OpenSM's engine of this name would make them."
    bold, *rest = wrap(f"{name}{shape}", COLUMNS, break_on_hyphens=False)
    return [f"[bold]{escape(bold)}[/]", *map(escape, rest), escape(", ".join(size)),
            *map(escape, wrap(by, COLUMNS))]  # fmt: skip


def _wrapped(text: str, indent: str, first: str | None = None) -> list[str]:
    start = indent if first is None else first
    found = wrap(text, COLUMNS, initial_indent=start, subsequent_indent=indent,
                 break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return [escape(each) for each in found]


def _marked(mark: str, sentence: str, style: str = "") -> list[Any]:
    found = wrap(sentence, COLUMNS, initial_indent=f"{MARKS[mark]} ", subsequent_indent="  ")
    return [Text(each, style=style) for each in found]


def _told(what: str, said: str) -> list[str]:
    return _wrapped(said, " " * 9, f"  {what + ':':<7}") if said else []


def _others(result: FabricCheck) -> Iterator[tuple[str, str]]:
    """Yield what else was looked at, each with its mark: not what the verdict says."""
    figures, verdict = result.figures, result.verdict
    if verdict.level in ("lost", "loop"):
        ratio = result.found["all_to_all"]["ratio"]
        if ratio is not None:
            where = cable_in_words(result, figures.busiest(1)[0].channel)
            mark = "good" if ratio <= 1.1 else "fair" if ratio <= 1.5 else "bad"
            yield mark, f"{busiest_in_words(result)} {where}."
    if verdict.level == "lost" and figures.circle:
        yield "bad", f"Credit loop: {circle_in_words(result, figures.circle)}."
    lanes = counted(figures.lanes, "lane")
    if not figures.circle:
        others = result.others_circle
        if others:
            many = counted(result.num_others, "aggregation node")
            yield "good", f"No credit loop between hosts in {lanes}."
            yield "bad", (f"With the {many} a credit loop: {circle_in_words(result, others)}.")
        else:
            whose = " of hosts and aggregation nodes" if others is not None else " of hosts"
            yield "good", f"No credit loop: packets{whose} never wait in a circle ({lanes})."
    if not figures.unrouted:
        yield "good", f"All {figures.routed:,} pairs of hosts have a path."


def _figures(result: FabricCheck) -> Table:
    found = result.found
    table, busiest = plain_table(["", "found", "limit"]), result.figures.busiest(1)
    every, shifts = found["all_to_all"], found["shifts"]
    half, hops = found["effective_bisection"], found["switch_hops"]
    most = amount(busiest[0].paths if busiest else 0)
    table.add_row("paths of an all-to-all, busiest cable", most, amount(every["bound"]))
    for each in result.by_way:
        label = f"  cables that lead {each['way']}: least, mean, most"
        if len(result.by_way) == 1:
            label = "  all cables: least, mean, most"
        spread = (
            f"{amount(each['least'])}, {amount(round(each['mean'], 1))}, {amount(each['most'])}"
        )
        table.add_row(label, spread, "")
    of = "" if result.figures.every_shift else f" ({shifts['count']:,} drawn)"
    table.add_row(f"shifts of the hosts{of}: paths, mean and worst",
                  f"{number(shifts['mean'])}, {shifts['max']}", "")  # fmt: skip
    if half["mean"] is not None:
        table.add_row("effective bisection bandwidth", _percent(half["mean"]),
                      _percent(half["bound"]))  # fmt: skip
    table.add_row("hops between switches, mean and most",
                  f"{hops['mean']:.3g}, {hops['max']}", "")  # fmt: skip
    return table


def _busiest(result: FabricCheck) -> Table:
    table = plain_table(["paths", "from", "port", "to", "port"], ["from", "to"])
    for each in result.figures.busiest(MOST_BUSIEST):
        ports = [str(port) if port else "" for port in (each.source_port, each.target_port)]
        table.add_row(
            amount(each.paths), escape(shown(result, each.source)), ports[0],
            escape(shown(result, each.target)), ports[1],
        )  # fmt: skip
    return table


def _jobs(result: FabricCheck) -> Iterator[Any]:
    rows = result.jobs.rows()
    if not rows:
        return
    yield ""
    for row in rows:
        row = row | {key: _short(result, row[key]) for key in ("busiest", "shared")}
        mark = "good" if row["slowdown"] <= 1.1 else "fair" if row["slowdown"] <= 1.5 else "bad"
        yield from _marked(mark, _job_in_words(row))
    shared = result.jobs.shared_rows(MOST_CABLES)
    if shared:
        yield "Cables that jobs share, each one way, by the time of all jobs on it:"
        table = plain_table(["time", "from", "port", "to", "port", "jobs"], ["from", "to", "jobs"])
        for each in shared:
            cable = each | {end: shown(result, each[end]) for end in ("from", "to")}
            jobs = ", ".join(f"{job['name']} {job['use']:.2g}" for job in each["jobs"])
            table.add_row(
                f"{each['use']:.2f}", escape(cable["from"]), str(cable["from_port"] or ""),
                escape(cable["to"]), str(cable["to_port"] or ""), escape(jobs),
            )  # fmt: skip
        yield table


def _short(result: FabricCheck, cable: dict[str, Any] | None) -> dict[str, Any] | None:
    if cable is None:
        return None
    return cable | {end: shown(result, cable[end]) for end in ("from", "to")}


def _job_in_words(job: dict[str, Any]) -> str:
    """Return what a job is, and what the others cost it."""
    who = (
        f"Job {job['name']} ({counted(job['nodes'], 'node', ',')}, "
        f"{counted(job['hosts'], 'host', ',')}, {job['program']})"
    )
    if not job["alone"]:
        return f"{who} sends nothing between nodes."
    inside = ""
    if job["inside"] > 0.0005:
        inside = f" {_percent(job['inside'])} of its traffic stays inside nodes, without a cable."
    lost = ""
    if job["unrouted"]:
        lost = f" {counted(job['unrouted'], 'pair', ',')} of its hosts have no path."
    if job["shared"] is None:
        return f"{who} shares no cable that is busy for it.{inside}{lost}"
    with_whom = ", ".join(job["shared_with"])
    return (
        f"{who} takes up to {job['slowdown']:.2f} times as long as alone: it shares "
        f"{_ends(job['shared'])} with {with_whom}.{inside}{lost}"
    )


def _ends(cable: dict[str, Any]) -> str:
    ends = [
        cable[end] + (f" port {cable[f'{end}_port']}" if cable[f"{end}_port"] else "")
        for end in ("from", "to")
    ]
    return " → ".join(ends)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}\u00a0%"
