"""What a page says of one answer: in a sentence, in key numbers, and in figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netloom.drawing.names import base_names
from netloom.questions.recorded import key_columns, parts_of
from netloom.report.page.figure import Figure, make_figure, table_of
from netloom.words import counted, give_or_take, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.recorded import Recorded
    from netloom.report.page.figure import DataTable

MOST_COLUMNS = 9
"""Columns of a table of which none is marked as a key figure."""

NO_FIGURES = ("seed", "reason", "note")
"""Columns that a page has elsewhere."""

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
    kind, figures = record.kind, record.figures
    if kind.hook("words", "sentences") or "verdict" in figures:
        return kind.sentences(record)
    return [each for point in record.points if (each := _of_point(record.verb, point))]  # FAMILIES


def key_table(records: Sequence[tuple[Mapping[str, Any], Recorded]]) -> DataTable:
    """Return the key numbers of answers of one verb, one below the other.

    Parameters
    ----------
    records
        The answers, with the fields in which they differ.
    """
    first = records[0][1]
    name = first.kind.answer.key_table
    varied = list(dict.fromkeys(name for fields, _ in records for name in fields))
    columns = key_columns(first, name, but=[*varied, *NO_FIGURES], most=MOST_COLUMNS)
    rows = [
        [*(_said(fields.get(each)) for each in varied), *(row[each.name] for each in columns)]
        for fields, record in records
        for row in record.tables[name].iter_rows(named=True)
    ]
    heads = [*(each.replace("_", " ") for each in varied), *(each.head for each in columns)]
    return table_of(heads, rows)


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
            f"With {counted(point['nodes'], 'node', ',')} messages arrive {number(min(gains))} to "
            f"{number(max(gains))} times sooner on the mesh than on the hypercube."
        )
    if verb == "predict_locality":
        best, asked = number(point["gain"]), number(point["gain_of_mapping"])
        return (
            f"On {counted(point['nodes'], 'node', ',')} the best mapping is {best} times as fast "
            f"as a random one; the asked one {asked} times."
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
