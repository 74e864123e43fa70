"""A mapping on a terminal: its verdict, and the mappings that it was compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import seconds, size
from netloom.base.words import counted, number
from netloom.questions.analyze.reasons import limit_if_split
from netloom.questions.analyze.verdict import load_share
from netloom.questions.map.gains import CLOSE
from netloom.questions.map.verdict import between_routers, measure, verdict
from netloom.questions.shown import percent, plain_table, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from netloom.questions.map.answer import ProgramMapping

__all__ = ["lines", "measure", "verdict"]

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
    if any(map(limit_if_split, ends)):
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
