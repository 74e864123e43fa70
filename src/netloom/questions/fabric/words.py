"""The check of a fabric in words: the verdict first, then its figures, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import counted, folded, number, rounded
from netloom.questions.fabric.verdict import (
    busiest_in_words,
    cable_in_words,
    level_of,
    mark_of,
    plainly,
    shown,
    verdict,
)
from netloom.questions.shown import ended, percent, plain_table
from netloom.questions.verdict import MARKS, Measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

    from netloom.questions.fabric.answer import FabricCheck
    from netloom.questions.register import Recorded

__all__ = ["lines", "measure", "sentences", "verdict"]

COLUMNS = 80
"""Letters of a line."""

MOST_BUSIEST, MOST_MISSING, MOST_CABLES = 5, 5, 6
"""Cables, missing parts and shared cables that the page lists."""


def lines(result: FabricCheck) -> list[Any]:
    """Return the figures of the check on one page."""
    data = result.to_dict()
    page: list[Any] = [*_others(data)]
    page += [_figures(result, data), "", "Busiest channels between switches:", _busiest(data)]
    missing = result.missing
    if missing:
        page += ["", f"Missing or irregular ({len(missing)}):"]
        for each in missing[:MOST_MISSING]:
            page += _wrapped(plainly(data, each), "    ", "  • ")
        if len(missing) > MOST_MISSING:
            page.append(f"  • … {len(missing) - MOST_MISSING} more: --json lists all")
    page += _jobs(result, data)
    return [*page, "", *_asked(result)]


def sentences(record: Recorded) -> list[str]:
    """Return what a recorded check comes to, and what goes with it."""
    found = record.figures
    said = found["verdict"]
    told = [said["sentence"], said["lines"].get("where"), said["lines"].get("why")]
    half = found["effective_bisection"]
    if half["mean"] is not None:
        told.append(
            f"In random matchings pairs of hosts get {percent(half['mean'])} of a host's bandwidth"
            f" on average; no tables give more than {percent(half['bound'])}"
        )
    told += found["missing"]
    told += [_job_in_words(job) for job in found["jobs"]]
    return [ended(each[:1].upper() + each[1:]) for each in told if each]


def measure(figures: Mapping[str, Any]) -> Measure | None:
    """Return the paths on the busiest cable. None of jobs, lost packets and loops."""
    most = figures["all_to_all"]["max"]
    if most is None or figures["jobs"] or level_of(figures) in ("lost", "loop"):
        return None
    what = "paths of an all-to-all on the busiest cable"
    return Measure(most, number(most), f"has {{}} {what}", what)


def _asked(result: FabricCheck) -> list[str]:
    """Return which fabric was checked, and by which tables."""
    found, network = result.found, result.network
    name = network.name.removeprefix("fabric:")
    shape = f": {result.shape}" if result.shape else ""
    size = [counted(found["hosts"], "host", ",")]
    if network.num_nodes != network.num_hosts:
        size[0] += f" in {counted(network.num_nodes, 'node', ',')}"
    size += [counted(found["switches"], "switch", ","), counted(found["cables"], "cable", ",")]
    by = f"Tables: {result.forwarding.name}"
    if not result.forwarding.name.startswith("lfts:"):
        by += ", as OpenSM's engine of this name would make them."
    said = f"{name}{shape}, {', '.join(size)}"
    return [f"[dim]{escape(each)}[/]" for text in (said, by) for each in folded(text, COLUMNS)]


def _wrapped(text: str, indent: str, first: str | None = None) -> list[str]:
    start = indent if first is None else first
    return [escape(each) for each in folded(text, COLUMNS, start, indent)]


def _others(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was looked at and the verdict lacks, with its mark."""
    ratio = data["all_to_all"]["ratio"]
    if data["verdict"]["level"] in ("lost", "loop") and ratio is not None:
        where = cable_in_words(data, data["busiest"][0])
        told = f"{MARKS[mark_of(ratio)]} {busiest_in_words(data)} {where}."
        yield from _wrapped(told, "  ", "")
        yield ""
    if not data["unrouted"]:
        pairs = data["hosts"] * (data["hosts"] - 1)
        yield f"✓ All {number(pairs)} pairs of hosts have a path."
        yield ""


def _figures(result: FabricCheck, data: Mapping[str, Any]) -> Table:
    table = plain_table(["", "found", "limit"])
    every, shifts = data["all_to_all"], data["shifts"]
    half, hops = data["effective_bisection"], data["switch_hops"]
    most = data["busiest"][0]["paths"] if data["busiest"] else 0
    table.add_row("paths of an all-to-all, busiest cable", number(most), number(every["bound"]))
    for each in data["ways"]:
        label = f"  channels that lead {each['way']}: least, mean, most"
        if len(data["ways"]) == 1:
            label = "  all channels: least, mean, most"
        spread = ", ".join(number(each[part]) for part in ("least", "mean", "most"))
        table.add_row(label, spread, "")
    of = "" if result.figures.every_shift else f" ({shifts['count']:,} drawn)"
    table.add_row(f"shifts of the hosts{of}: paths, mean and worst",
                  f"{number(shifts['mean'])}, {shifts['max']}", "")  # fmt: skip
    if half["mean"] is not None:
        table.add_row("effective bisection bandwidth", percent(half["mean"]),
                      percent(half["bound"]))  # fmt: skip
    table.add_row("hops between switches, mean and most",
                  f"{number(hops['mean'])}, {hops['max']}", "")  # fmt: skip
    return table


def _busiest(data: Mapping[str, Any]) -> Table:
    table = plain_table(["paths", "from", "port", "to", "port"], ["from", "to"])
    for each in data["busiest"][:MOST_BUSIEST]:
        table.add_row(number(each["paths"]), *_cells(data, each))
    return table


def _cells(data: Mapping[str, Any], cable: Mapping[str, Any]) -> list[str]:
    """Return both ends of a cable with their ports, as cells of a table."""
    return [
        cell
        for end in ("from", "to")
        for cell in (escape(shown(data, cable[end])), str(cable[f"{end}_port"] or ""))
    ]


def _jobs(result: FabricCheck, data: Mapping[str, Any]) -> Iterator[Any]:
    if not data["jobs"]:
        return
    yield ""
    for row in data["jobs"]:
        told = plainly(data, _job_in_words(row))
        yield from _wrapped(f"{MARKS[mark_of(row['slowdown'])]} {told}", "  ", "")
    shared = result.jobs.shared_rows(MOST_CABLES)
    if shared:
        yield "Channels that jobs share, by the time of all jobs on them (one job alone: 1):"
        table = plain_table(["time", "from", "port", "to", "port", "jobs"], ["from", "to", "jobs"])
        for each in shared:
            jobs = ", ".join(f"{job['name']} {rounded(job['use'])}" for job in each["jobs"])
            table.add_row(number(each["use"]), *_cells(data, each), escape(jobs))
        yield table


def _job_in_words(job: Mapping[str, Any]) -> str:
    """Return what a job is, and what the others cost it."""
    who = (
        f"Job {job['name']} ({counted(job['nodes'], 'node', ',')}, "
        f"{counted(job['hosts'], 'host', ',')}, {job['program']})"
    )
    if not job["alone"]:
        return f"{who} sends nothing between nodes."
    inside = ""
    if job["inside"] > 0.0005:
        inside = f" {percent(job['inside'])} of its traffic stays inside nodes, without a cable."
    lost = ""
    if job["unrouted"]:
        lost = f" {counted(job['unrouted'], 'pair', ',')} of its hosts have no path."
    if job["shared"] is None:
        return f"{who} shares no cable that is busy for it.{inside}{lost}"
    with_whom = ", ".join(job["shared_with"])
    return (
        f"{who} takes up to {number(job['slowdown'])} times as long as alone: it shares "
        f"{_ends(job['shared'])} with {with_whom}.{inside}{lost}"
    )


def _ends(cable: Mapping[str, Any]) -> str:
    return cable_in_words({"short": {}}, cable)
