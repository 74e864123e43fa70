"""An analysis in words: its figures on a terminal, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.analyze.switched_words import switched_remarks
from netloom.questions.shown import percent, plain_table
from netloom.words import counted, listed, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from netloom.questions.analyze.answer import Analysis
    from netloom.questions.recorded import Recorded

LEVEL_STYLES = {
    "contention-free": "bold green",
    "good-enough": "bold green",
    "some-nodes": "bold yellow",
    "most-nodes": "bold red",
    "depends-on-load": "bold cyan",
    "below-bound": "bold cyan",
}


def lines(result: Analysis) -> list[Any]:
    """Return the figures beside those of random mappings, remarks and the verdict."""
    data = result.to_dict()
    size = counted(data["nodes"], "node")
    if not result.topology.direct:
        size = f"{counted(data['hosts'], 'host')}, {counted(data['routers'], 'router')}"
    head = (
        f"[bold]{escape(result.graph.name)}[/] ({counted(data['tasks'], 'task')}, "
        f"{counted(data['paths'], 'path')}) on "
        f"[bold]{escape(result.topology.name)}[/] ({size}, "
        f"{counted(data['channels'], 'channel')}), "
        f"mapping {escape(result.mapping_name)}, {escape(result.routing)}"
    )
    note = _footnote(result)
    remarks = [escape(f"• {line}") for line in _remarks(result, data)]
    verdict = Text(result.verdict.sentence, style=LEVEL_STYLES[result.verdict.level])
    notes = [f"[dim]{note}[/]"] if note else []
    return [head, _figures_table(data), *notes, *remarks, verdict]


def _footnote(result: Analysis) -> str:
    """Return what the figures of the table are."""
    limit, notes = result.mapped.limit, []
    if limit.estimated:
        notes.append(
            "* estimates of the load from which most nodes and the first one are held up while "
            "every edge carries its share (lemmas 3 and 4); in % of a channel, offered by the "
            "average sending node"
        )
    if limit.lemma_3 > limit.upper_bound:
        notes.append(f"of most nodes the bound is shown, for lemma 3 says {percent(limit.lemma_3)}")
    if result.random:
        many = counted(len(result.random), "random mapping")
        notes.append(f"better than: of {many}, by the maximum")
    return "; ".join(notes)


def _figures_table(data: dict[str, Any]) -> Table:
    random = data["random_mapping"]
    heads = ["", "mean", "max"]
    if random["mappings"]:
        heads += ["random mean", "random max", "better than"]
    table = plain_table(heads)
    rows = {
        "path length D, hops": "path_length",
        "logical path length d": "logical_path_length",
        "channel load χ, paths": "channel_load",
        f"channel load, {data['weight']}": "weighted_channel_load",
        "path contention ν": "path_contention",
    }
    for label, key in rows.items():
        cells = [label, number(data[key]["mean"]), number(data[key]["max"])]
        if random["mappings"] and f"{key}_max" in random:
            mean, top = random[f"{key}_mean"], random[f"{key}_max"]
            cells += [number(mean["mean"]), number(top["mean"])]
            cells.append(f"{top['beaten']} of {random['mappings']}")
        if data[key]["mean"] is not None:
            table.add_row(*cells)
    for label, key in (
        ("saturation, average node *", "average_node"),
        ("saturation, worst node *", "worst_node"),
        ("saturation, upper bound", "upper_bound"),
    ):
        cells = [label, percent(data["saturation"][key]), ""]
        if random["mappings"] and f"saturation_{key}" in random:
            figure = random[f"saturation_{key}"]
            cells += [percent(figure["mean"]), ""]
            cells.append(f"{figure['beaten']} of {random['mappings']}")
        if data["saturation"][key] is not None:
            table.add_row(*cells)
    return table


def _remarks(result: Analysis, data: dict[str, Any]) -> list[str]:
    neck = data["bottleneck"]
    unit = result.weight if result.weight != "uniform" else "paths"
    lines = [
        f"Busiest channel: {neck['channel']}, {counted(neck['channel_load'], 'path')}, "
        f"{number(neck['channel_weight'])} {unit}{_busy(neck, 'channel')}: "
        f"{neck['ratio']:.2f} times what the busiest node {neck['node']} sends."
    ]
    if not result.topology.direct:
        lines = [*switched_remarks(data, unit)]
    affected = data["verdict"]["affected"]
    if affected:
        shown = ", ".join(affected[:8]) + (" ..." if len(affected) > 8 else "")
        what = "Held up first" if result.offered is None else "Nodes held up"
        lines.append(f"{what}: {shown}")
    if data["slowdown"]:
        mean, worst = data["slowdown"]["mean"], data["slowdown"]["max"]
        lines.append(
            f"Communication takes {mean:.2f} times as long as without contention on average, "
            f"{worst:.2f} times on the worst path (estimates)."
        )
    message = data["mean_message"]
    if "hops" in message and result.graph.messages.max() > 1:  # else nobody counted messages
        took = f", {number(message['us'])} µs" if "us" in message else ""
        lines.append(
            f"Mean message: {number(message['bytes'])} bytes over {message['hops']:.2f} hops, "
            f"{number(message['cycles'])} cycles{took} without contention."
        )
    if result.random_limited:
        lines.append(_few_random(result))
    if data["local_edges"]:
        where = "node" if result.topology.direct else "host"
        edges = counted(data["local_edges"], "edge")
        lines.append(f"Inside a {where}, without a channel: {edges}.")
    if data["inside_nodes"]:
        lines.append(
            f"Between hosts of one node: {percent(data['inside_nodes'])} of the traffic. It counts "
            "on channels here; netloom fabric and netloom route leave it out."
        )
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
            f"deadlock, {data['deadlock_cycle'][0]}, {data['deadlock_cycle'][1]} ..."
        )
    return lines


def _few_random(result: Analysis) -> str:
    """Say how many random mappings there were time for, and what is known of all of them."""
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
    took = f", {number(neck[f'{what}_busy_us'])} µs" if f"{what}_busy_us" in neck else ""
    return f" ({number(neck[f'{what}_busy_cycles'])} cycles{took})"


def best(records: Sequence[tuple[str, Recorded]]) -> list[str]:
    """Return which of several analyses, each with a name, has the highest bound."""
    bounds = [(name, record.figures["saturation"]["upper_bound"]) for name, record in records]
    carried = {name: bound for name, bound in bounds if bound is not None}
    if len(carried) < 2:
        return []
    most = max(carried.values())
    of_channel = f"{100 * most:.3g}\u00a0% of a channel from the average node"
    names = [each for each, value in carried.items() if value == most]
    worst = min(carried, key=lambda each: carried[each])
    if len(names) == len(carried):
        return [f"All have the same upper bound: {of_channel}."]
    return [
        f"The upper bound is highest with {listed(names)}: {of_channel}, "
        f"{most / carried[worst]:.3g} times that with {worst}."
    ]
