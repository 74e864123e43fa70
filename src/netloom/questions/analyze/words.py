"""An analysis on a terminal: its verdict, and the figures that this rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import seconds, size
from netloom.base.words import counted, listed, number
from netloom.questions.analyze.reasons import limit_if_split
from netloom.questions.analyze.switched_words import switched_remarks
from netloom.questions.analyze.verdict import load_share, verdict
from netloom.questions.analyze.where import unit
from netloom.questions.shown import plain_table, size_of
from netloom.questions.verdict import Measure, arrow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom.questions.analyze.answer import Analysis

__all__ = ["lines", "measure", "verdict"]

ROWS = {
    "path length D, hops": "path_length",
    "logical path length d": "logical_path_length",
    "channel load χ, paths": "channel_load",
    "channel load, {weight}": "weighted_channel_load",
    "paths met by a path, ν": "path_contention",
}
"""Figures by mean and maximum, and what they are called."""

FEW = 3
"""Nodes that are named of many."""

LOADS = {
    "first node delayed at load *": "worst_node",
    "most nodes delayed at load *": "average_node",
    "most load carried": "upper_bound",
}
"""Limits of the load, and what they are called."""


def lines(result: Analysis) -> list[Any]:
    """Return the figures beside those of random mappings, and what the verdict does not say."""
    data = result.to_dict()
    remarks = [escape(f"• {line}") for line in _remarks(result, data)]
    return [_figures_table(data), f"[dim]{_footnote(data)}[/]", *remarks]


def _footnote(data: dict[str, Any]) -> str:
    """Return what the figures of the table are."""
    limits, notes = data["saturation"], ["Loads: % of a channel, offered by the average sender."]
    if limits["worst_node"] is not None:
        notes.append("* estimate (lemmas 3 and 4).")
    lemma = limits["lemma_3"]
    if lemma is not None and lemma > limits["upper_bound"]:
        notes.append(f"Lemma 3 alone would allow {load_share(lemma)}.")
    if data["busiest_channel"]["kind"] != "network":
        notes.append("Channel load: only between routers.")
    if data["random_mapping"]["mappings"]:
        notes.append("Better than: by the maximum.")
    return " ".join(notes)


def _figures_table(data: dict[str, Any]) -> Table:
    random = data["random_mapping"]
    many = random["mappings"]
    heads = ["", "mean", "max"]
    if many:
        heads += ["random\nmean", "random\nmax", "better\nthan"]
    table = plain_table(heads)
    for label, key in ROWS.items():
        cells = [number(data[key]["mean"]), number(data[key]["max"])]
        if many and f"{key}_max" in random:
            mean, top = random[f"{key}_mean"], random[f"{key}_max"]
            cells += [number(mean["mean"]), number(top["mean"]), f"{top['beaten']} of {many}"]
        known = data[key]["mean"] is not None
        if known and (key != "weighted_channel_load" or unit(data) != "uniform"):
            table.add_row(label.format(weight=data["weight"]), *cells)
    for label, key in LOADS.items():
        cells = [load_share(data["saturation"][key]), ""]
        if many and f"saturation_{key}" in random:
            figure = random[f"saturation_{key}"]
            cells += [load_share(figure["mean"]), "", f"{figure['beaten']} of {many}"]
        if data["saturation"][key] is not None:
            table.add_row(label, *cells)
    return table


def _remarks(result: Analysis, data: dict[str, Any]) -> list[str]:
    neck, channel = data["bottleneck"], data["busiest_channel"]
    what = f"{counted(data['tasks'], 'task', ',')} and {counted(data['paths'], 'path', ',')}"
    lines = [
        f"{what} on {size_of(result.topology)}, {result.routing}.",
        f"Busiest channel: {arrow(channel['name'])}, {counted(number(channel['paths']), 'path')}"
        f"{_busy(neck, 'channel') if channel['name'] == neck['channel'] else ''}.",
    ]
    if not result.topology.direct:
        lines += switched_remarks(data)
    affected = data["verdict"]["affected"]
    if affected:
        more = f" and {counted(len(affected) - FEW, 'more')}".removesuffix("s")
        shown = ", ".join(affected[:FEW]) + more * (len(affected) > FEW)
        what = "Delayed first" if result.offered is None else "Delayed"
        lines.append(f"{what}: {shown}.")
    if data["slowdown"]:
        mean, worst = data["slowdown"]["mean"], data["slowdown"]["max"]
        lines.append(
            f"Communication takes {number(mean)}× its time without contention on average, "
            f"{number(worst)}× on the worst path (estimates)."
        )
    message = data["mean_message"]
    if "hops" in message and result.graph.messages.max() > 1:  # else nobody counted messages
        took = f", {seconds(message['us'] * 1e-6)}" if "us" in message else ""
        lines.append(
            f"Mean message: {size(message['bytes'])} over {number(message['hops'])} hops, "
            f"{number(message['cycles'])} cycles{took} without contention."
        )
    if result.random_limited or result.random_alike:
        lines.append(_few_random(result))
    asked = data["provenance"]["configuration"]
    if data["local_edges"]:
        where = "On one host" if asked["count_inside_nodes"] else "Inside nodes"
        lines.append(f"{where}, without a channel: {counted(data['local_edges'], 'edge')}.")
    if data["shifts"]:
        loads = [each["channel_load"]["max"] for each in data["shifts"]]
        lines.append(
            f"The table is of all {len(loads)} shifts at once; one after the other, the busiest "
            f"channel between routers has {listed(list(map(number, loads)))} paths."
        )
    if data["left_out"]:
        lines.append(f"Left out: {data['left_out']}.")
    if data["note"]:
        lines.append(data["note"])
    if data["deadlock_cycle"]:
        lines.append(
            f"Needs virtual channels: without them {len(data['deadlock_cycle'])} channels can "
            f"deadlock, beginning with {arrow(data['deadlock_cycle'][0])}."
        )
    return lines


def _few_random(result: Analysis) -> str:
    """Say how many random mappings there were time for, and what is known of all mappings."""
    if result.random_alike:
        return "All mappings are alike: each task sends the same to every other, no place is left."
    many = counted(len(result.random), "random mapping")
    said = f"{many}: more would have taken too long (--random-mappings N takes N)."
    expected = result.expected
    if expected is None:
        return said
    about = "about " * (expected.channel_load_max_by != "enumeration")
    return (
        f"{said} Over all of them, exactly: path length {number(expected.path_length_mean)}, "
        f"channel load {number(expected.channel_load_mean)}, path contention "
        f"{number(expected.path_contention_mean)} on average; largest channel load {about}"
        f"{number(expected.channel_load_max)}."
    )


def _busy(neck: dict[str, Any], what: str) -> str:
    if f"{what}_busy_cycles" not in neck:
        return ""
    took = f", {seconds(neck[f'{what}_busy_us'] * 1e-6)}" if f"{what}_busy_us" in neck else ""
    busy = counted(number(neck[f"{what}_busy_cycles"]), "cycle")
    return f", busy for {busy}{took}"


def measure(figures: Mapping[str, Any]) -> Measure | None:
    """Return the load that the network carries at most, half-way traffic both ways."""
    most = limit_if_split(figures) or figures["saturation"]["upper_bound"]
    if most is None:
        return None
    what = "load from the average node, at most"
    return Measure(most, load_share(most), "carries up to {} load", what, more=True)
