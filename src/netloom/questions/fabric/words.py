"""The check of a fabric in words: the verdict first, then its figures, on one page."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import counted, folded, listed, number, rounded
from netloom.questions.fabric.question import FAIR, UNEVEN, level_of
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import MARKS, Measure, Verdict, ended, percent, plain_table, short_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.table import Table

    from netloom.questions.fabric.question import FabricCheck
    from netloom.questions.register import Recorded


CLOSE = 1.03
"""Times its bound up to which a busiest cable leaves nothing that is worth looking for."""

PROVED = 1 + 1e-6
"""Times the bound up to which a busiest cable is as good as can be."""

MOST_IN_CIRCLE = 10
"""Switches of a circle that are named."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return the worst of what was found. Of jobs, what they cost each other."""
    level, ratio = level_of(figures), figures["all_to_all"]["ratio"]
    table = str(figures["routing"])
    table = PurePath(table).name if table.startswith("lfts:") else table
    of = f"{short_name(figures['topology'])}, {table} tables"
    lines, mark = _looked_at(figures), "act"
    if level == "lost":
        pairs = figures["hosts"] * (figures["hosts"] - 1)
        said = (
            f"{number(figures['unrouted'])} of {number(pairs)} pairs of hosts have no path: their "
            "packets are lost."
        )
        why = ". ".join(each["sentence"].rstrip(".") for each in figures["problems"][:2])
        lines = ({"why": plainly(figures, why)} if why else {}) | lines
    elif level == "loop":
        many = counted(len(figures["circle"]), "channel")
        said = (
            f"Packets can wait for each other in a circle of {many} (credit loop): the fabric can "
            "lock up."
        )
        lines = {"where": circle_in_words(figures, figures["circle"])} | lines
    elif figures["jobs"]:
        mark, said, more = _of_jobs(figures)
        lines = more | lines
    elif ratio is None:
        mark = "fine"
        cables = counted(figures["cables"], "cable", ",")
        said = f"No packet crosses any of the {cables} between switches."
    else:
        mark, said = mark_of(ratio), busiest_in_words(figures)
        lines = cable_lines(figures) | lines
    if mark == "fine" and figures["others_circle"]:
        mark = "limited"
    return Verdict(mark, said, of, lines, next_command(figures) if _mends(figures, mark) else "")


def _mends(figures: Mapping[str, Any], mark: str) -> bool:
    """Return whether other tables may mend what was found."""
    if level_of(figures) in ("lost", "loop"):
        return True
    if figures["jobs"]:
        return mark != "fine"
    ratio = figures["all_to_all"]["ratio"]
    return ratio is not None and ratio > CLOSE


def mark_of(times: float) -> str:
    """Return the mark of what takes so many times as long as it must."""
    return "fine" if times <= FAIR else "limited" if times <= UNEVEN else "act"


def busiest_in_words(figures: Mapping[str, Any]) -> str:
    """Return what the busiest cable carries, and what it must."""
    every = figures["all_to_all"]
    paths = f"{counted(number(figures['busiest'][0]['paths']), 'path')} of an all-to-all"
    if every["ratio"] <= PROVED:
        return f"The busiest cable carries {paths}: no routing can do better (proved)."
    return (
        f"The busiest cable carries {paths}, {_above(every['ratio'])} ({number(every['bound'])})."
    )


def _above(ratio: float) -> str:
    if ratio < FAIR:
        return f"{percent(ratio - 1)} more than it must"
    return f"{number(ratio)}× what it must"


def cable_lines(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return which cable is busiest, and why."""
    lines = {}
    if figures["all_to_all"]["ratio"] > PROVED:
        lines["where"] = cable_in_words(figures, figures["busiest"][0])
        if why := cause_in_words(figures):
            lines["why"] = why
    if figures["all_to_all"]["why"]:
        lines["limits"] = plainly(figures, figures["all_to_all"]["why"])
    return lines


def _looked_at(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return what else was looked at: circles, and tables that OpenSM would not make."""
    lines, lanes = {}, counted(figures["lanes"], "lane")
    if figures["others_circle"]:
        many = counted(figures["other_end_points"], "aggregation node")
        circle = circle_in_words(figures, figures["others_circle"])
        lines["loops"] = f"none between hosts ({lanes}); with the {many}: {circle}"
    elif figures["deadlock_free"]:
        whose = "hosts" if figures["others_circle"] is None else "hosts and aggregation nodes"
        lines["loops"] = f"none between {whose} ({lanes})"
    elif figures["unrouted"]:
        lines["loops"] = circle_in_words(figures, figures["circle"])
    if figures["fallback"]:
        asked = figures["provenance"]["configuration"]["routing"]
        lines["care"] = f"OpenSM, asked for {asked}, falls back to minhop: {figures['fallback']}"
    return lines | ports_line(figures)


def ports_line(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return which of a host's ports are looked at, where any host has ports on several routers."""
    many = figures.get("several_switches")  # none in answers of before
    if not many:
        return {}
    have = "has" if many == 1 else "have"
    return {"ports": (
        f"{counted(many, 'host', ',')} {have} ports on several switches: loads count each pair of "
        "hosts on the ports with the fewest hops between them, loops are looked for between all "
        "ports"
    )}  # fmt: skip


def _of_jobs(figures: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Return the mark, the sentence and the lines of the job that suffers most from others."""
    worst = max(figures["jobs"], key=lambda each: each["slowdown"])
    if worst["shared"] is None:
        many = len(figures["jobs"])
        said = f"No job is slowed by another: 0 cables are busiest for two of the {many} jobs."
        if many == 1:
            said = "The only job is slowed by no other: it shares 0 cables."
        return "fine", said, cable_lines(figures) if figures["busiest"] else {}
    whom = listed(worst["shared_with"])
    said = (
        f"Job {worst['name']} takes up to {number(worst['slowdown'])} times as long beside "
        f"{whom}, on one cable."
    )
    if worst["slowdown"] <= FAIR:
        more = percent(worst["slowdown"] - 1)
        said = f"Jobs hardly slow each other: {worst['name']} at most {more}, beside {whom}."
    lines = {"where": cable_in_words(figures, worst["shared"])}
    if figures["all_to_all"]["ratio"] is not None:
        lines["tables"] = busiest_in_words(figures)
    return mark_of(worst["slowdown"]), said, lines


def cause_in_words(figures: Mapping[str, Any]) -> str:
    """Return why the busiest cable is as busy. "" where that is not known."""
    cause, busy = figures["cause"], figures["busiest"][0]
    if cause is None or cause["beside"] < 2:
        return ""
    source, target = shown(figures, busy["from"]), shown(figures, busy["to"])
    other = cause["beside"] - 1
    carry = f"{number(cause['least'])} to {number(cause['most'])}"
    if cause["least"] == cause["most"]:
        carry = number(cause["least"])
    rest = f"the other {other} carry {carry}" if other > 1 else f"the other carries {carry}"
    which = {
        "down": f"one of {cause['beside']} cables down into {target}",
        "up": f"one of {cause['beside']} uplinks of {source}",
        "across": f"one of {cause['beside']} cables from {source} to other switches",
    }[cause["way"]]
    if cause.get("mended_ratio") is not None:  # older answers have none
        which += f"; {_slow(figures, cause)}"
        if cause["share"] * cause["beside"] <= FAIR:
            return f"{which}."
    share = "all" if cause["share"] == 1 else percent(cause["share"])
    said = f"{which}, with {share} of their paths ({rest})."
    if cause["alike"] < cause["usual"] and cause["way"] != "across":
        only = "The only cable" if cause["alike"] == 1 else f"One of {cause['alike']} cables"
        said += f" {only} between the two switches, where most have {cause['usual']}."
    return said + _destinations(cause, busy["paths"])


def _slow(figures: Mapping[str, Any], cause: Mapping[str, Any]) -> str:
    """Return how slow the busiest cable is, and what the busiest carries once it is mended."""
    unit = f"\u00a0{cause['rate_unit']}" * bool(cause["rate_unit"])
    said = (
        f"it runs at {number(cause['rate'])}{unit} beside {cause['as_usual']} of "
        f"{number(cause['usual_rate'])}{unit}"
    )
    ratio = f"{number(cause['mended_ratio'])}× what it must"
    if cause["mended_ratio"] * PROVED < figures["all_to_all"]["ratio"]:
        return f"{said}: mended, the busiest falls to {ratio}"
    return f"{said}: mended alone, the busiest stays at {ratio}"


def _destinations(cause: Mapping[str, Any], total: float) -> str:
    """Say of how many hosts most of the paths are, where these are few."""
    if cause["destinations"] < 2:
        hosts = [each["name"] for each in cause["hosts"]]
        return f" All its paths lead to {hosts[0]}." if hosts else ""
    so_far = 0.0
    for many, each in enumerate(cause["hosts"][:4], start=1):
        so_far += each["paths"]
        if so_far >= 0.5 * total and many < cause["destinations"]:
            names = listed([host["name"] for host in cause["hosts"][:many]])
            return f" {percent(so_far / total)} of its paths lead to {names}."
    return ""


def circle_in_words(figures: Mapping[str, Any], circle: Iterable[Mapping[str, Any]]) -> str:
    """Return a circle of channels as the names of the routers that it goes round."""
    names = [shown(figures, each["from"]) for each in circle]
    if len(names) > MOST_IN_CIRCLE:
        some = " → ".join(names[: MOST_IN_CIRCLE - 1])
        return f"{some} → … ({len(names)} switches) → {names[0]}"
    return " → ".join([*names, names[0]])


def cable_in_words(figures: Mapping[str, Any], cable: Mapping[str, Any]) -> str:
    """Return both ends of a channel, with ports where a file says them."""
    ends = [
        shown(figures, cable[end]) + (f" port {port}" if (port := cable[f"{end}_port"]) else "")
        for end in ("from", "to")
    ]
    return " → ".join(ends)


def shown(figures: Mapping[str, Any], name: str) -> str:
    """Return a name as people see it: without what a switch's firmware adds, if that is unique."""
    return str(figures["short"].get(name, name))


def plainly(figures: Mapping[str, Any], said: str) -> str:
    """Return words with the names of switches as people see them."""
    for label, name in figures["short"].items():
        said = said.replace(label, name)
    return said


def next_command(figures: Mapping[str, Any]) -> str:
    """Return the command that looks for better tables, for all programs or for these jobs."""
    asked = dict(figures["provenance"]["configuration"])
    del asked["samples"]
    if isinstance(asked["on"], str):
        asked["on"] = asked["on"].removeprefix("fabric:")
    more = {"installed": asked.pop("routing")}
    if figures["lids"]:
        more["out"] = "better.lfts"
    jobs = [asked["jobs"]] if isinstance(asked["jobs"], str) else asked["jobs"] or []
    if jobs:
        more["wanted"] = [_wanted(each) for each in jobs]
    return command_line(kind_of("route"), asked, **more)


def _wanted(job: str) -> str:
    """Return a job ``NAME=NODES:PROGRAM`` as ``route`` reads it: ``PROGRAM@NODES``."""
    from netloom.questions.fabric.question import apart

    nodes, program = apart(job.partition("=")[2])
    return f"{program or 'all-to-all'}@{nodes}"


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
    nodes = ""
    if network.num_nodes != network.num_hosts:
        nodes = f" in {counted(network.num_nodes, 'node', ',')}"
    by = f"Tables: {result.forwarding.name}"
    if not result.forwarding.name.startswith("lfts:"):
        by += ", as OpenSM's engine of this name would make them."
    said = f"{name}{shape}, {size_in_words(found, nodes)}"
    return [f"[dim]{escape(each)}[/]" for text in (said, by) for each in folded(text, COLUMNS)]


def size_in_words(figures: Mapping[str, Any], nodes: str = "") -> str:
    """Return how large a fabric is, ``nodes`` behind its hosts."""
    hosts, switches, cables = (
        counted(figures[name], one, ",")
        for name, one in (("hosts", "host"), ("switches", "switch"), ("cables", "cable"))
    )
    return f"{hosts}{nodes}, {switches}, {cables}"


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
