"""What a search for a mapping comes to: apply what was found, or keep rank order."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.analyze.reasons import limit_if_split
from netloom.questions.analyze.verdict import load_share, shares
from netloom.questions.analyze.where import carried, unit, where
from netloom.questions.commands import command_line
from netloom.questions.map.gains import CLOSE, LATENCY, WORTH
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import IN_ORDER, Measure, Verdict, short_name, subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Figures = Mapping[str, Any]

NOTHING_KNOWN = 0.005
"""A bound below this share of rank order is shown as a gain of 100 %, and says nothing."""

LITTLE = 0.2
"""A change from which on a gain is not small."""

WORSE = 0.01
"""A change from which on another figure is worse."""

LONGER = 6
"""Times as long a search that may still find something is worth."""

MAPPED = "with the mapping found"

OTHERS = {
    "hop_bytes": "hop-bytes",
    "channel_load_max": "most paths on a channel{between}",
    "weighted_channel_load_max": "most {weight} on a channel{between}",
    "path_contention_mean": "paths met on average",
    "path_contention_max": "most paths met",
    "saturation_worst_node": "first node delayed at load",
    "saturation_upper_bound": "most load carried",
}
"""Figures by which mappings are compared, and what they are called."""

OF_OBJECTIVE = {
    "hop-bytes": "hop_bytes",
    "max-channel-load": "weighted_channel_load_max",
    "path-contention": "path_contention_max",
    "saturation": "saturation_worst_node",
}
"""The figure that an objective is."""


def verdict(figures: Figures) -> Verdict:
    """Return whether a mapping should be applied, by the figures of its search."""
    gains, runs = figures["verdict"]["gains"], figures["simulated"]
    compared = runs and runs["compared"]
    if compared:
        mark, sentence = _simulated(compared, gains=gains)
    elif gains:
        mark, sentence = _found(figures)
    else:
        mark, sentence = "fine", _kept(figures)
    lines = dict(_lines(figures, gains=gains, counted_too=bool(compared)))
    notes = ["* estimate."] * ("*" in lines.get("limits", ""))
    if compared:
        half = number(compared["half_width"]) + " cycles"
        if compared["quantity"] != LATENCY:
            half = number(100 * compared["half_width"]) + " points"
        notes.append(
            f"Simulated at {percent(runs['load'])} load in {counted(compared['pairs'], 'pair')} of "
            f"runs. The difference is known to ±\u00a0{half}."
        )
    of = subject(figures["app"], figures["topology"])
    return Verdict(mark, sentence, of, lines, _next(figures), " ".join(notes))


def measure(figures: Figures) -> Measure | None:
    """Return what the busiest channel carries with the mapping, if that was the objective."""
    objective = figures["objective"]
    if objective["name"] != "max-channel-load" or objective["timed"] or figures["after"] is None:
        return None
    most = min(objective["before"], objective["after"])
    said = carried(unit_of(figures), most)
    where = f"busiest channel{between_routers(figures)} {MAPPED}"
    return Measure(most, said, f"has {{}} on its {where}", f"on the {where}")


def change(before: float, after: float) -> str:
    r"""Return a change in percent, without its sign.

    Examples
    --------
    >>> change(10.2, 4.7).replace("\xa0", " "), change(100.0, 101.0).replace("\xa0", " ")
    ('54 %', '1 %')
    """
    return percent(float(f"{abs(after - before) / before:.2g}"))


def _simulated(compared: Mapping[str, Any], *, gains: bool) -> tuple[str, str]:
    """Return the mark and the sentence by what was simulated."""
    first, last = compared["before"], compared["after"]
    kept = f"Keep {IN_ORDER}: simulated,"
    if compared["quantity"] == LATENCY:
        values = f"({number(first)} → {number(last)} cycles)"
        if gains:
            said = (
                f"Found: simulated, packets take {change(first, last)} less time than in {IN_ORDER}"
            )
        elif compared["kind"] == "worse":
            said = f"{kept} packets take {change(first, last)} longer with the mapping"
        else:
            said = f"{kept} the mapping makes no measurable difference"
        return "fine", f"{said} {values}."
    before, after = shares(first, last)
    if gains:
        return "fine", (
            f"Found: simulated, the worst node gets {after} of its traffic accepted, {before} in "
            f"{IN_ORDER}."
        )
    if compared["kind"] == "worse":
        return "fine", (
            f"{kept} the worst node gets only {after} of its traffic accepted with the mapping, "
            f"not {before}."
        )
    return "fine", f"{kept} the mapping makes no measurable difference to the worst node ({after})."


def _found(figures: Figures) -> tuple[str, str]:
    """Return the mark and the sentence of a mapping that gains something."""
    objective = figures["objective"]
    first, last = objective["before"], objective["after"]
    if figures["after"] is None:
        return (
            "fine",
            "Found, and proved optimal: 0 B cross the network, all traffic is inside nodes.",
        )
    optimal = figures["verdict"]["kind"] == "bound"
    if last >= first * (1 - WORTH):
        return "limited", f"Small gain: {_noun(figures)} is as in {IN_ORDER}, {_tie(figures)}."
    said = _gain(figures)
    if optimal:
        return "fine", f"Found, and proved optimal: {said}."
    little = (first / last - 1 if objective["name"] == "saturation" else 1 - last / first) < LITTLE
    return ("limited", f"Small gain: {said}.") if little else ("fine", f"Found: {said}.")


def _gain(figures: Figures) -> str:
    """Say how much better the objective is than in rank order."""
    objective, weight = figures["objective"], unit_of(figures)
    first, last, name = objective["before"], objective["after"], objective["name"]
    less = f"{change(first, last)} less than in {IN_ORDER}"
    if name == "max-channel-load" and objective["timed"]:
        return f"{_busiest(figures)} works {less}"
    if name == "max-channel-load":
        return f"{_busiest(figures)} carries {less} ({_from_to(weight, first, last)})"
    if name == "hop-bytes":
        return f"hop-bytes are {less} ({number(first)} → {number(last)})"
    if name == "saturation":
        more = number(float(f"{100 * (first / last - 1):.2g}")) if last else "∞"
        return f"the worst node may send {more}\u00a0% more than in {IN_ORDER}"
    if name == "path-contention" and int(last) < int(first):
        met = counted(int(last), "other")
        less = change(int(first), int(last))
        return (
            f"the path that meets most others meets {met}, {int(first)} in {IN_ORDER} ({less} less)"
        )
    if name == "path-contention":
        mean = [figures[when]["path_contention"]["mean"] for when in ("before", "after")]
        return f"paths meet {change(*mean)} fewer others on average than in {IN_ORDER}"
    return f"the mixed objective is {less}"


def _from_to(weight: str, first: float, last: float) -> str:
    """Return two amounts of traffic, and their unit once if it is the same."""
    before, after = carried(weight, first), carried(weight, last)
    (value, first_unit), last_unit = before.rsplit(" ", 1), after.rpartition(" ")[2]
    alike = first_unit.rstrip("s") == last_unit.rstrip("s")
    if not last:  # in the unit of what it was
        return f"{value} → 0 {last_unit if alike else first_unit}"
    return f"{value if alike else before} → {after}"


def unit_of(figures: Figures) -> str:
    """Return what loads are counted in, by the analysis of rank order."""
    return str(figures["weight"]) if figures["before"] is None else unit(figures["before"])


def between_routers(figures: Figures) -> str:
    """Return what says that hosts' own channels are not meant, if they have such."""
    hosted = figures["before"] is not None and figures["before"]["busiest_router"] is not None
    return " between routers" * hosted


def _busiest(figures: Figures) -> str:
    """Return what the busiest channel is called, of those that the objective counts."""
    return "the busiest channel" + between_routers(figures) * (not figures["objective"]["hosts"])


def _noun(figures: Figures) -> str:
    """Return what the objective is, as a noun."""
    busiest = _busiest(figures)
    of = f"the load of {busiest}" if " between " in busiest else f"{busiest}'s load"
    return {
        "max-channel-load": of,
        "hop-bytes": "the number of hop-bytes",
        "path-contention": "the most paths that one meets",
        "saturation": "the worst node's limit",
    }.get(figures["objective"]["name"], "the mixed objective")


def _value(figures: Figures) -> str:
    """Return the objective in rank order with its unit. "" if it has none that people know."""
    objective, weight = figures["objective"], unit_of(figures)
    value, name = objective["before"], objective["name"]
    if name == "max-channel-load" and not objective["timed"]:
        return carried(weight, value)
    if name == "path-contention":
        return counted(int(value), "path")
    return ""


def _tie(figures: Figures) -> str:
    """Say what is better if the objective is not."""
    hops = [figures[when]["hop_bytes"] for when in ("before", "after")]
    if None not in hops and hops[1] < hops[0] * (1 - WORTH):
        return f"but hop-bytes are {change(*hops)} less ({number(hops[0])} → {number(hops[1])})"
    met = [figures[when]["path_contention"]["max"] for when in ("before", "after")]
    return f"but the path that meets most others meets {counted(met[1], 'path')}, not {met[0]}"


def _kept(figures: Figures) -> str:
    """Say why rank order should stay."""
    objective, asked = figures["objective"], figures["provenance"]["configuration"]
    first, last = objective["before"], objective["after"]
    kept = f"Keep {IN_ORDER}:"
    if figures["before"] is None:
        return f"{kept} 0 B cross the network, all traffic is inside nodes."
    if last > first * (1 + CLOSE):
        whose = "the layout" if figures["layout"] else "what was found"
        return f"{kept} with {whose}, {_noun(figures)} is {change(first, last)} worse."
    value = _value(figures)
    if last < first * (1 - CLOSE):
        return f"{kept} what was found gains only {change(first, last)} of {_noun(figures)}."
    if figures["verdict"]["kind"] == "bound":
        most = f" ({value})" if value else ", a gain of 0\u00a0% is possible"
        return f"{kept} proved optimal for {_noun(figures)}{most}."
    possible = _possible(figures)
    most = (
        f"a gain of at most {possible} is possible"
        if possible
        else "how much is possible is unknown"
    )
    if figures["layout"]:
        return f"{kept} the layout {short_name(figures['layout']['name'])} gains 0\u00a0% ({most})."
    long = counted(figures["rounds"], "round")
    if asked["rounds"] is None and not figures["interrupted"]:
        long = f"{number(asked['seconds'])} s"
    return f"{kept} no better mapping found in {long} ({most})."


def _possible(figures: Figures) -> str:
    """Return the largest gain over rank order that the bound leaves. "" if it is not known."""
    objective = figures["objective"]
    first, bound = objective["before"], objective["bound"]
    if objective["name"] == "path-contention":
        first, bound = int(first), int(bound)
    if not bound or not first:
        return ""
    if objective["name"] == "saturation":
        return f"{number(float(f'{first / bound:.2g}'))}×"
    return change(first, bound) if bound > first * NOTHING_KNOWN else ""


def _lines(figures: Figures, *, gains: bool, counted_too: bool) -> Iterator[tuple[str, str]]:
    """Yield what goes with the sentence, by label."""
    if figures["before"] is None or figures["after"] is None:
        return
    if counted_too and figures["objective"]["after"] < figures["objective"]["before"] * (1 - CLOSE):
        yield "counted", _gain(figures)
    if not gains:
        return
    yield "where", where(figures["after"])
    if (possible := _possible(figures)) and figures["verdict"]["kind"] != "bound":
        more = figures["objective"]["name"] == "saturation"
        yield "bound", (
            f"no mapping allows more than {possible} the load of {IN_ORDER}" if more else
            f"no mapping can save more than {possible}"
        )  # fmt: skip
    if limits := _limits(figures):
        yield "limits", limits
    if costs := _costs(figures):
        yield "costs", costs


def _limits(figures: Figures) -> str:
    """Return the loads at which the first node is delayed and the network is full, if changed."""
    if abs(figures["before"]["inside_nodes"] - figures["after"]["inside_nodes"]) > CLOSE:
        return ""  # loads are of what enters the network, which differs
    both = [figures[when]["saturation"] for when in ("before", "after")]
    node = "node" if figures["before"]["busiest_router"] is None else "host"
    said = []
    for of, label, star in (
        ("worst_node", f"first {node} delayed at", "*"), ("upper_bound", "nothing beyond", ""),
    ):  # fmt: skip
        known = [each[of] for each in both]
        if of == "upper_bound":  # half-way traffic may go both ways
            split = (limit_if_split(figures[when]) for when in ("before", "after"))
            known = [more or each for more, each in zip(split, known, strict=True)]
        if None in known:
            continue
        before, after = (load_share(each) for each in known)
        if before != after:
            said.append(f"{label} {after}{star} ({before}{star} before)")
    return " · ".join(said)


def _costs(figures: Figures) -> str:
    """Say which other figures got worse, the worst first."""
    first, last = (
        next(row for row in figures["starts"] if row["mapping"] == name)
        for name in ("identity", "result")
    )
    aim = OF_OBJECTIVE.get(figures["objective"]["name"])
    said = {}
    for name, label in OTHERS.items():
        before, after = first[name], last[name]
        if name == aim or not (before and after and isfinite(before) and isfinite(after)):
            continue
        load = name.startswith("saturation")
        worse = before / after - 1 if load else after / before - 1
        if worse < WORSE:
            continue
        shown = load_share if load else number
        if name == "weighted_channel_load_max" and unit_of(figures) == "uniform":
            continue
        label = label.format(weight=figures["weight"], between=between_routers(figures))
        said[worse, label] = f"{shown(before)} → {shown(after)}"
    order = sorted(said, key=lambda each: -each[0])
    return " · ".join(f"{label} {said[worse, label]}" for worse, label in order[:3])


def _next(figures: Figures) -> str:
    """Return the command that writes the mapping, or that searches for longer."""
    asked, kind = dict(figures["provenance"]["configuration"]), kind_of("map")
    own = {"routes": "own.routes"} if figures["own_routes"] else {}
    if figures["verdict"]["gains"]:
        return command_line(kind, asked, **own, rankfile="ranks.txt")
    objective = figures["objective"]
    room = bool(objective["bound"]) and objective["bound"] < objective["before"] * (1 - LITTLE)
    searched = asked["layout"] is None and asked["rounds"] is None and figures["before"] is not None
    if room and searched and figures["simulated"] is None:
        return command_line(kind, asked, **own, seconds=LONGER * asked["seconds"])
    return ""
