"""A mapping on a terminal: its verdict, and the mappings that it was compared with."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import seconds, size
from netloom.base.words import counted, number
from netloom.questions.analyze import Analysis, carried, load_share, shares
from netloom.questions.map.answer import CLOSE, LATENCY, WORTH
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import IN_ORDER, percent, plain_table, short_name, size_of, subject
from netloom.questions.verdicts import Measure, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

    from netloom.questions.map.answer import ProgramMapping

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
    if figures["before"] is None:
        return {"uniform": "paths"}.get(figures["weight"], str(figures["weight"]))
    return Analysis.from_json(figures["before"]).load_unit


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
    yield "where", Analysis.from_json(figures["after"]).where()
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
            split = (Analysis.from_json(figures[when]).split_bound for when in ("before", "after"))
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
        if name == "weighted_channel_load_max" and unit_of(figures) == "paths":
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


NAMES = {
    "identity": "rank order",
    "random": "random, mean of 25",
    "random_best": "random, best of 25",
    "mapping": "mapping, without routes",
    "result": "found",
}


def lines(result: ProgramMapping) -> list[Any]:
    """Return all mappings by their figures, and what the verdict does not say."""
    data = result.to_dict()
    remarks = [escape(f"• {line}") for line in _remarks(result, data)]
    return [_table(data), f"[dim]{_footnote(data)}[/]", *remarks]


def _footnote(data: dict[str, Any]) -> str:
    """Return what the figures of the table are."""
    notes = ["Loads: % of a channel, offered by the average sender."]
    if data["inside_nodes"]:
        notes.append("They are of what enters the network, and mappings differ in that.")
    ends = [data[when] for when in ("before", "after") if data[when] is not None]
    if any(Analysis.from_json(each).split_bound for each in ends):
        notes.append("Most load: with all half-way traffic in the + direction.")
    if between := between_routers(data):
        notes.append(f"Most {data['weight']} and paths: on a channel{between}.")
    if any(row["saturation_worst_node"] is not None for row in data["starts"]):
        notes.append("* estimate (lemma 4).")
    if _accepted(data):
        load = percent(data["simulated"]["load"])
        notes.append(f"Accepted: simulated, of the worst node's traffic at {load} load.")
    return " ".join(notes)


def _how(result: ProgramMapping) -> str:
    """How the mapping came about, in words."""
    found = result.found
    if result.layout is not None:
        return f"layout {result.layout.name} ({result.layout.source})"
    ended = "interrupted after" if found.interrupted else "searched for"
    rounds = counted(found.rounds, "round") if found.rounds else "less than a whole round"
    effort = f"{seconds(found.seconds, 2)} of processor time, {rounds}"
    return f"{ended} {effort}, {began(found.found_by)}"


def began(found_by: str) -> str:
    """Return what a mapping was made from.

    Examples
    --------
    >>> began("search"), began("identity"), began("partition")
    ('from a random mapping', 'from rank order', 'from partition')
    """
    return f"from {'a random mapping' if found_by == 'search' else NAMES.get(found_by, found_by)}"


def _table(data: dict[str, Any]) -> Table:
    """All mappings, a row each, with the figures by which they are compared."""
    weight, objective = data["weight"], data["objective"]
    single = not objective["scale"] and not _times(data)
    columns = {} if single else {"objective": "objective"}
    columns |= {
        f"most\n{'paths' if weight == 'uniform' else weight}": "weighted_channel_load_max",
        "hop-\nbytes": "hop_bytes",
        "first\ndelay *": "saturation_worst_node",
        "most\nload": "saturation_upper_bound",
        "most\npaths χ": "channel_load_max",
        "most\nmet ν": "path_contention_max",
        "mean\nmet ν": "path_contention_mean",
    }  # fmt: skip
    known = {
        head: name
        for head, name in columns.items()
        if any(row[name] is not None for row in data["starts"])
    }
    accepted = _accepted(data)
    table = plain_table(("", *known, *(["accep-\nted"] if accepted else [])))
    for row in data["starts"]:
        name = row["mapping"]
        cells = [_cell(column, row[column]) for column in known.values()]
        if accepted:
            cells.append(percent(accepted.get(name)) if name in accepted else "")
        bold = name in ("identity", "result")
        table.add_row(escape(NAMES.get(name, name)), *cells, style="bold" if bold else None)
    return table


def _times(data: dict[str, Any]) -> bool:
    """Whether the objective is of more than loads between routers: of times, or hosts' channels."""
    return bool(data["objective"]["timed"]) and "max-channel-load" in data["objective"]["name"]


def _cell(column: str, value: float | None) -> str:
    return load_share(value) if column.startswith("saturation") else number(value)


def _accepted(data: dict[str, Any]) -> dict[str, float | None]:
    """Return the part of its traffic that the worst node gets accepted, if that was simulated."""
    runs = data["simulated"] or {}
    both = {"identity": runs.get("before"), "result": runs.get("after")}
    return {name: run["worst_node_share"] for name, run in both.items() if run}


def _not_taken(result: ProgramMapping) -> Iterator[str]:
    """Say which mappings of the table are better by the objective, but send more between nodes."""
    found, (before, _) = result.found, result.between()
    node = result.topology.node_of_host
    for name, node_of in found.mappings.items():
        more = float(result.graph.across(node[node_of]).bytes.sum())
        if found.starts[name] < result.value * (1 - CLOSE) and more > before * (1 + CLOSE):
            said = f"{NAMES.get(name, name).capitalize()} is not taken: between nodes it sends"
            yield f"{said} {size(more)}, and rank order {size(before)}."


def _remarks(result: ProgramMapping, data: dict[str, Any]) -> list[str]:
    network, what = result.topology, counted(data["tasks"], "task")
    what += f" and {counted(result.graph.num_edges, 'edge')} on {size_of(network)}"
    if len(result.nodes) < network.num_hosts:
        what += f", {len(result.nodes):,} of these nodes may be used"
    lines = [
        f"{what}, {result.routing}.",
        f"{data['objective']['name']} by {data['weight']}: {_how(result)}, seed {data['seed']}.",
    ]
    if _times(data):
        whose = "of all channels, those of hosts included" if result.counts_hosts else "of channels"
        lines.append(f"max-channel-load is the largest load over bandwidth {whose}.")
    if data["inside_nodes"]:
        before, after = (size(data["between_nodes"][when]) for when in ("before", "after"))
        lines.append(f"Between nodes: {before} in rank order, {after} as written.")
    lines += _not_taken(result)
    layout = data["layout"]
    if layout is not None:
        own = " on its own routes" if data["own_routes"] else ""
        promised = layout["promised_channel_load"]
        said = "no largest χ" if promised is None else f"a largest χ of {promised}"
        lines.append(
            f"The layout promises {said}{own}; measured: {layout['measured_channel_load']}."
        )
    if data["virtual_channels"] is not None:
        many = counted(data["virtual_channels"], "virtual channel")
        lines.append(f"Its own routes need {many} to be free of deadlock.")
    if data["simulated"] is not None and data["simulated"]["note"] is not None:
        lines.append(f"Not simulated: {data['simulated']['note']}.")
    if result.found.interrupted:
        lines.append("Interrupted: the best mapping found by then.")
    return lines
