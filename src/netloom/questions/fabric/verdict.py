"""What the check of a fabric comes to: mark, answer, place, cause, next command."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, listed, number
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict, short_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FAIR, UNEVEN = 1.1, 1.5
"""Times the bound up to which the busiest cable is fairly, and tolerably, loaded."""

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


def level_of(figures: Mapping[str, Any]) -> str:
    """Return ``lost``, ``loop``, ``uneven`` or ``good``.

    Pairs of hosts have no path, packets can wait in a circle, the busiest cable carries more than
    it must, or none of these.
    """
    if figures["unrouted"]:
        return "lost"
    if not figures["deadlock_free"]:
        return "loop"
    ratio = figures["all_to_all"]["ratio"]
    return "good" if ratio is None or ratio <= FAIR else "uneven"


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
    from netloom.questions.fabric.jobs import apart

    nodes, program = apart(job.partition("=")[2])
    return f"{program or 'all-to-all'}@{nodes}"
