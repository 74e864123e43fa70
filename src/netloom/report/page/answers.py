"""What a page says of one answer: in a sentence, in key numbers, and in figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netloom.drawing.names import base_names
from netloom.questions.recorded import parts_of
from netloom.report.page.curve_names import said_field
from netloom.report.page.figure import Figure, make_figure, table_of
from netloom.report.page.words import counted, give_or_take, listed, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.recorded import Recorded
    from netloom.report.page.figure import DataTable

VERBS = {
    "analyze": "Contention analysis",
    "simulate": "Simulation",
    "find_saturation": "Search for saturation",
    "simulate_loop": "Simulated program of loops",
    "simulate_transactions": "Simulated transactions",
    "replay": "Replayed trace",
    "simulate_broadcast": "Simulated broadcasts",
    "simulate_pattern": "Simulated pattern of a machine",
    "predict_torus_broadcast": "Model of a torus with broadcasts",
    "predict_latency": "Model of latency",
    "predict_locality": "Model of locality",
    "predict_wiring": "Model of wiring",
    "simulate_hot_spots": "Hot spots in a combining network",
    "find_critical_queue": "Search for the critical queue",
    "compile_phases": "Compiled phases",
    "find_mapping": "Mapping search",
}
"""What the answers of verbs are called."""

KEY_FIGURES: dict[str, dict[str, str]] = {
    "analyze": {
        "channel_load_max": "paths on the busiest channel",
        "weighted_channel_load_max": "weight on the busiest channel",
        "path_contention_mean": "paths met, mean",
        "dilation": "hops a byte",
        "saturation_worst_node": "worst node held up from (estimate)",
        "saturation_upper_bound": "carried at most",
    },
    "simulate": {
        "offered": "offered",
        "accepted": "accepted",
        "packet_latency_mean": "latency, cycles",
        "packet_latency_p99": "99 % up to",
        "zero_load_latency": "idle",
        "utilisation_max": "busiest channel",
        "stable": "keeps up",
    },
    "simulate_hot_spots": {
        "rate": "rate",
        "steps_mean": "round trip, steps",
        "steps_p99": "99 % up to",
        "queue_mean": "mean queue",
        "queue_max": "longest queue",
        "throughput": "requests/PE/step",
        "stable": "keeps up",
    },
    "find_mapping": {
        "mapping": "mapping",
        "objective": "objective",
        "hop_bytes": "hop-bytes",
        "channel_load_max": "paths on the busiest channel",
        "weighted_channel_load_max": "weight on the busiest channel",
        "saturation_upper_bound": "carried at most",
    },
    "compile_phases": {
        "phase": "phase",
        "connections": "connections",
        "channels_used": "channels used",
        "makespan": "makespan, clocks",
        "lower_bound": "lower bound, clocks",
    },
}
"""Columns of an answer's table that a page shows, and their heads; by default all."""

KEY_TABLES = {"compile_phases": "phases"}
"""The table of key numbers where that is not ``table``."""

MOST_COLUMNS = 9

PART_TITLES = {
    "channels": "Channels by load",
    "latencies": "How long packets took",
    "timetable": "Timetable of the phases",
    "phases": "Phases on the network",
    "path contention": "Path contention",
    "saturation": "Where it saturates",
    "before": "Channels by load, before",
    "after": "Channels by load, after",
    "objective": "What the search found",
}
"""What parts are called that have no title of their own."""


def name_of(record: Recorded) -> str:
    """Return what an answer is of: the program or traffic, and the network; perhaps "".

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> name_of(record(analyze("ring:4", "mesh:2x2", random_mappings=0)))
    'ring:4 on mesh:2x2'
    """
    found = record.figures
    what = found.get("app") or found.get("program") or found.get("traffic")
    where = found.get("topology") or (f"omega:{found['pes']}" if "pes" in found else None)
    return base_names(" on ".join(str(each) for each in (what, where) if each))


def sentences_of(record: Recorded) -> list[str]:
    """Return what an answer comes to, in the words of its verdict where it has one.

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> sentences_of(record(analyze("ring:4", "mesh:2x2", random_mappings=0)))[0][:15]
    'Depends on the '
    """
    verdict = record.figures.get("verdict")
    if isinstance(verdict, dict) and "sentence" in verdict:
        note = record.figures.get("note")
        return [verdict["sentence"], *([note] if note else [])]
    if isinstance(verdict, str):
        return [_ended(verdict)]
    said = [_of_point(record.verb, point) for point in record.points]
    said += [f"At rate {number(each['rate'])}: {_ended(each['verdict'])}" for each in (
        record.figures.get("rates") or []) if isinstance(each, dict) and "verdict" in each
    ]  # fmt: skip
    return [each for each in said if each]


def key_table(records: Sequence[tuple[Mapping[str, Any], Recorded]]) -> DataTable:
    """Return the key numbers of answers of one verb, one below the other.

    Parameters
    ----------
    records
        The answers, with the fields in which they differ.
    """
    verb = records[0][1].verb
    first = records[0][1].tables[KEY_TABLES.get(verb, "table")]
    varied = list(dict.fromkeys(name for fields, _ in records for name in fields))
    heads = KEY_FIGURES.get(verb) or {
        name: name.replace("_", " ")
        for name in first.columns
        if name not in varied and name not in ("seed", "reason", "note")
        and first[name].null_count() < len(first)
    }  # fmt: skip
    there = [name for name in heads if name not in varied and name in first.columns]
    shown = {name: heads[name] for name in there[:MOST_COLUMNS]}
    rows = [
        [*(_said(fields.get(name)) for name in varied), *(row.get(name) for name in shown)]
        for fields, record in records
        for row in record.tables[KEY_TABLES.get(verb, "table")].iter_rows(named=True)
    ]
    return table_of([*(name.replace("_", " ") for name in varied), *shown.values()], rows)


def figures_of(record: Recorded) -> list[Figure]:
    """Return the figures of one answer: the parts of its picture."""
    figures = []
    for part, chart in parts_of(record).items():
        figure = make_figure(chart)
        title = figure.title or PART_TITLES.get(part, part.capitalize())
        figures.append(replace(figure, title=title, spec=_alone(figure.spec)))
    return figures


def _alone(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a part as it is in a picture: with legends of its own.

    By itself, Vega-Lite would merge the legend of a colour with the one that a size of the same
    field has not.
    """
    inside = {name: value for name, value in spec.items() if name != "datasets"}
    resolve = {"scale": {"color": "independent"}}
    return {"datasets": spec.get("datasets", {}), "hconcat": [inside], "resolve": resolve}


def best_of(records: Sequence[tuple[Mapping[str, Any], Recorded]]) -> list[str]:
    """Return which of several answers is best, where their verb has a figure that says so."""
    verb = records[0][1].verb
    if verb != "analyze" or len(records) < 2:
        return []
    name = "saturation_upper_bound"
    carried = {
        _named(fields): record.tables["table"][name][0]
        for fields, record in records
        if record.tables["table"][name][0] is not None
    }
    if len(carried) < 2:
        return []
    best = max(carried.values())
    of_channel = f"{100 * best:.3g}\u00a0% of a channel from the average node"
    names = [each for each, value in carried.items() if value == best]
    worst = min(carried, key=lambda each: carried[each])
    if len(names) == len(carried):
        return [f"All have the same upper bound: {of_channel}."]
    return [
        f"The upper bound is highest with {listed(names)}: {of_channel}, "
        f"{best / carried[worst]:.3g} times that with {worst}."
    ]


def _named(fields: Mapping[str, Any]) -> str:
    return ", ".join(said_field(name, value) for name, value in fields.items())


def _said(value: Any) -> Any:
    """Return a field's value for a cell of a table."""
    return str(value) if isinstance(value, list | dict) else value


def _of_point(verb: str, point: Mapping[str, Any]) -> str:
    """Return what one point of an answer without a verdict comes to; "" if nothing short does."""
    if verb == "simulate":
        return _simulated(point)
    if verb in ("predict_latency", "predict_torus_broadcast"):
        load = number(point.get("offered", point.get("rate")))
        if point["saturated"]:
            return f"The model says that {load} is past saturation."
        if point["latency"] is None:
            return f"{load} is so near saturation that the model says no latency: simulate."
        error = point.get("expected_error")
        off = "" if error is None else f" ± {100 * error:.0f}\u00a0%"
        return f"The model says {number(point['latency'])} cycles{off} at {load}."
    if verb == "replay":
        return _replayed(point)
    if verb == "simulate_transactions":
        said = give_or_take(point["transaction_latency"], point["transaction_latency_ci95"])
        busy = f"{100 * point['processor_use']:.3g}\u00a0%"
        return f"A transaction takes {said} cycles; a processor works {busy} of the time."
    if verb == "predict_wiring":
        gains = [each["speedup"] for delay in point["delays"] for each in delay["speedups"]]
        return (
            f"With {counted(point['nodes'], 'node')} messages arrive {number(min(gains))} to "
            f"{number(max(gains))} times sooner on the mesh than on the hypercube."
        )
    if verb == "predict_locality":
        best, asked = number(point["gain"]), number(point["gain_of_mapping"])
        return (
            f"On {counted(point['nodes'], 'node')} the best mapping is {best} times as fast as a "
            f"random one; the asked one {asked} times."
        )
    return ""


def _simulated(point: Mapping[str, Any]) -> str:
    """Return what one simulated load comes to."""
    latency, load = point["packet_latency"], number(point["offered"])
    if not point["stable"] or latency["mean"] is None:
        return f"At {load}: {_ended(point['note'] or 'nothing was measured')}"
    said = give_or_take(latency["mean"], latency["ci95"])
    busiest = point["utilisation"]["busiest_channel"]
    most = point["utilisation"]["max"]
    beside = f"; the busiest channel, {busiest}, carries {number(most)}" if busiest else ""
    idle = number(point["zero_load_latency"])
    return f"Keeps up with {load}: {said} cycles, {idle} if idle{beside}."


def _replayed(point: Mapping[str, Any]) -> str:
    """Return what a replayed trace comes to."""
    finish, ideal = point.get("finish_cycles"), point.get("ideal_finish_cycles")
    if not finish:
        return f"The program did not finish: {_ended(point.get('note') or 'it was interrupted')}"
    longer = f"{finish / ideal:.3g} times as long as" if ideal and finish > ideal else "as soon as"
    beside = f", {longer} without contention" if ideal else ""
    return f"The program finishes after {number(finish)} cycles{beside}."


def _ended(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
