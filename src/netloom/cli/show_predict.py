"""What models say, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netloom.cli.show import console, number, percent
from netloom.cli.show_simulation import FELL_BEHIND, KEPT_UP
from netloom.questions.predict.latency.answer import LatencyPrediction
from netloom.questions.predict.latency.network import AT_THE_KNEE
from netloom.questions.predict.locality.answer import PARTS, LocalityPrediction
from netloom.questions.predict.torus_broadcast.answer import TorusBroadcastPrediction
from netloom.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.predict.wiring.question import WiringPrediction

ASIDE = ("vc_multiplexing", "worst_path_latency")
"""Columns that make room for what was simulated."""


def show(
    result: TorusBroadcastPrediction | LocalityPrediction | LatencyPrediction | WiringPrediction,
) -> None:
    """Print what was asked, what the model says of it, and how far to trust it."""
    screen = console()
    lines = _lines(result)
    for line in lines:
        screen.print(line, soft_wrap=not isinstance(line, Table))
    if getattr(result, "interrupted", False):
        screen.print("• interrupted: what was simulated by then")


def _lines(result: Any) -> list[Any]:
    if isinstance(result, TorusBroadcastPrediction):
        return _torus_broadcast(result)
    if isinstance(result, LatencyPrediction):
        return _latency(result)
    if isinstance(result, LocalityPrediction):
        return _locality(result)
    return _wiring(result)


def _torus_broadcast(result: TorusBroadcastPrediction) -> list[Any]:
    data = result.to_dict()
    head = [
        f"[bold]{escape(result.name)}[/], adaptive routing, {counted(data['vcs'], 'VC')}; "
        f"messages of {counted(number(data['message_flits']), 'flit')}, "
        f"{percent(data['broadcast'])} broadcast; "
        f"{data['variant']} model",
        f"{number(data['zero_load_latency'])} cycles unhindered; saturates at "
        f"{number(data['saturation_rate'])} messages/node/cycle",
    ]
    notes = [f"[dim]{escape(_trust(data))}[/]"]
    if data["broadcast"]:
        notes.insert(0, "[dim]Latency: of the messages that are not broadcast.[/]")
    if result.simulated is not None:
        ends = data["simulated_network"]["cycles_at_ends_taken_off"]
        buffers = data["simulated_network"]["router"]["buffer_flits"]
        notes.insert(
            0,
            f"[dim]Simulated: adaptive routing, a cycle a hop, VCs of {buffers} flits, seed "
            f"{result.provenance.seed}; less the {ends} cycles on the channels at the ends, which "
            "the model has not.[/]",
        )
    if "points" not in data:
        rows = {
            "latency": _of(data["latency"], "cycles"),
            "  in the network": number(data["network_latency"]),
            "  in the source queue": number(data["source_wait"]),
            "  starting up": number(data["startup_cycles"]),
            "VC multiplexing": number(data["vc_multiplexing"]),
            "channels": f"{number(data['channel_rate'])} messages/cycle, busy "
            f"{percent(data['channel_utilisation'])}",
            "a head finds no VC": f"{percent(data['blocked'])}, and waits "
            f"{number(data['channel_wait'])} cycles",
            "VCs held": ", ".join(
                f"{count}: {percent(each)}" for count, each in enumerate(data["held_vcs"] or ())
            ),
        }
        if not data["startup_cycles"]:
            del rows["  starting up"]
        if data["saturated"]:
            rows = {name: rows[name] for name in ("latency", "channels")}
        return [*head, _figures(rows), *notes, _verdict(result.sentence(0), data)]
    columns = {
        "rate": "rate", "latency": "latency", "network": "network_latency", "source": "source_wait",
        "multiplexing": "vc_multiplexing",
    }  # fmt: skip
    shares = {"busy": "channel_utilisation", "no VC": "blocked"}
    return [*head, _curve(data, columns, shares), *notes]


def _latency(result: LatencyPrediction) -> list[Any]:
    data = result.to_dict()
    router, bound = data["router"], data["throughput_bound"]
    head = [
        f"[bold]{escape(result.name)}[/] ({counted(data['nodes'], 'node')}, "
        f"{counted(data['channels'], 'channel')}), "
        f"{escape(data['routing'])}",
        f"{router['name']} router, {router['switching']}, {counted(router['vcs'], 'VC')} of "
        f"{counted(router['buffer_flits'], 'flit')}; packets of "
        f"{counted(data['packet_flits'], 'flit')}",
        f"{number(data['zero_load_latency'])} cycles unhindered; saturates at "
        f"{number(data['saturation_offered'])} ({_between(data['saturation_range'])}) "
        f"flits/node/cycle; limit {number(bound['load'])} by {escape(bound['limited_by'])}",
        f"saturates by {escape(result.limit)}",
    ]
    flags = [f"[yellow]! {escape(flag)}[/]" for flag in result.flags]
    notes = [*flags, f"[dim]{escape(_trust(data))}[/]"]
    if result.simulated is not None:
        notes.insert(0, f"[dim]Simulated: the same network, seed {result.provenance.seed}.[/]")
    if "points" not in data:
        return [*head, _figures(_of_one_load(data)), *notes, _verdict(result.sentence(0), data)]
    columns = {
        "offered": "offered", "latency": "latency", "network": "network_latency",
        "source": "source_wait", "worst path": "worst_path_latency",
    }  # fmt: skip
    shares = {"± expected": "expected_error", "busiest": "utilisation_max"}
    lines = [*head, _curve(data, columns, shares), *notes]
    if data["busiest_channel"]:
        lines.append(f"• Busiest channel: {escape(data['busiest_channel'])}")
    return lines


def _of_one_load(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what the model says of one load; without latencies where it gives none."""
    channels = (
        f"{percent(data['utilisation_mean'])} on average, "
        f"{percent(data['utilisation_max'])} at most{_where(data)}"
    )
    if data["latency"] is None:
        return {"latency": f"none: {data['state']}", "channels busy": channels} | _tightest(data)
    expected = _between((data["latency_low"], data["latency_high"]))
    return {
        "latency": f"{number(data['latency'])} cycles, nine of ten times {expected}",
        "  in the network": number(data["network_latency"]),
        "  in the source queue": number(data["source_wait"]),
        "  on the worst path": number(data["worst_path_latency"]),
        "channels busy": channels,
    } | _tightest(data)


def _tightest(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what has least to spare; nothing past saturation."""
    if data["tightest"] is None:
        return {}
    share = percent(data["tightest_utilisation"])
    return {"tightest": f"{escape(data['tightest'])}, {share} of the time"}


def _between(ends: Sequence[float]) -> str:
    low, high = ends
    return f"{number(low)} to {number(high)}"


def _where(data: Mapping[str, Any]) -> str:
    return f": {escape(data['busiest_channel'])}" if data["busiest_channel"] else ""


def _curve(data: Mapping[str, Any], columns: Mapping[str, str], shares: Mapping[str, str]) -> Table:
    """Return a row a point: the model's figures, and the simulator's where there are any."""
    simulated = any(point["simulated"] for point in data["points"])
    columns = {name: of for name, of in columns.items() if of not in ASIDE or not simulated}
    table = _table(*columns, *shares, *(["simulated", "± 95 %", "error"] * simulated), "")
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values()]
        cells += [percent(point[name]) for name in shares.values()]
        measured = point["simulated"]
        if simulated:
            cells += _measured(measured)
        said = ["[red]saturated[/]"] * point["saturated"]
        said += ["[yellow]knee: simulate[/]"] * (point.get("state") == AT_THE_KNEE)
        said += ["[red]falls behind[/]"] * bool(measured and not measured["stable"])
        table.add_row(*cells, ", ".join(said))
    return table


def _measured(measured: Mapping[str, Any] | None) -> list[str]:
    if measured is None or not measured["stable"]:
        return ["", "", ""]
    half = "-" if measured["ci95"] is None else f"{measured['ci95']:.2g}"
    error = measured["error"]
    off = "" if error is None else f"{error:+.1%}".replace("%", " %")
    return [number(measured["latency"]), half, off]


def _locality(result: LocalityPrediction) -> list[Any]:
    data = result.to_dict()
    contexts = f"{number(data['contexts'])} context{'s' * (data['contexts'] != 1)}"
    head = [
        f"[bold]{escape(result.name)}[/], mapping {escape(data['mapping'])}; "
        f"{contexts} a processor, network clock "
        f"{number(data['network_speed'])} times the processors'",
    ]
    notes = [
        f"[dim]Network cycles; a hop takes at most {number(data['per_hop_limit'])}.[/]",
        f"[dim]{escape(_trust(data))}[/]",
    ]
    if "points" in data:
        return [*head, _sizes(result, data), *notes]
    names = list(result.mappings)
    by_name = {"ideal": data["ideal"], "random": data["random"]}
    found = [by_name.get(name, data) for name in names]
    table = _table("", *names)
    rows = {
        "mean distance, hops": "distance",
        "messages a node and cycle": "message_rate",
        "message latency": "message_latency",
        "  of a hop": "per_hop_latency",
        "between transactions": "inter_transaction_cycles",
    }
    for label, name in rows.items():
        table.add_row(label, *(number(each[name]) for each in found))
    for part, label in PARTS.items():
        if any(each["breakdown"][part] for each in found):
            table.add_row(f"  {label}", *(number(each["breakdown"][part]) for each in found))
    own = "inter_transaction_processor_cycles"
    table.add_row("  in processor cycles", *(number(each[own]) for each in found))
    for label, name in (
        ("channels busy", "channel_utilisation"),
        ("  the busiest", "busiest_channel_utilisation"),
        ("processors at work", "processor_use"),
    ):
        table.add_row(label, *(percent(each[name]) for each in found))
    hidden = [name for name, each in zip(names, found, strict=True) if each["latency_hidden"]]
    lines = [*head, table, *notes]
    if hidden:
        lines.append(f"• Processors hide all latency: {', '.join(hidden)}")
    return [*lines, Text(f"{result.sentence(0)}.", style=KEPT_UP)]


def _sizes(result: LocalityPrediction, data: Mapping[str, Any]) -> Table:
    """Return a row a size."""
    own = result.label
    columns = {
        "nodes": "nodes", "hops": "distance", "messages/cycle": "message_rate",
        "latency": "message_latency", "of a hop": "per_hop_latency",
        "between transactions": "inter_transaction_cycles",
    }  # fmt: skip
    more = [f"gain, {own}"] if own != "random" else []
    table = _table(*columns, "channels busy", "gain, ideal", *more)
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values() if name != "nodes"]
        cells.insert(0, f"{point['nodes']:,}")
        cells += [percent(point["channel_utilisation"]), number(point["gain"])]
        table.add_row(*cells, *([number(point["gain_of_mapping"])] if more else []))
    return table


def _wiring(result: WiringPrediction) -> list[Any]:
    asked = result.provenance.configuration
    lengths = [f"L/H = {number(length)}" for length in result.message_headers]
    table = _table(
        "nodes", "peak widths", "wider", "shorter", "delay", "faster clock", "bandwidth", *lengths
    )
    for point in result.points:
        mesh = point["mesh_peak_width"]
        wires = f"{'-' if mesh is None else f'{mesh:,}'} : {point['hypercube_peak_width']:,}"
        size = [f"{point['nodes']:,}", wires, number(point["channel_width_ratio"])]
        size.append(number(point["wire_length_ratio"]))
        for delay in point["delays"]:
            cells = [number(delay["channel_rate_ratio"]), number(delay["channel_bandwidth_ratio"])]
            cells += [number(each["speedup"]) for each in delay["speedups"]]
            table.add_row(*size, delay["delay"], *cells)
            size = [""] * len(size)
    return [
        "[bold]Square mesh against hypercube[/], wired as densely: how many times better the mesh "
        f"is; {asked['form']} forms",
        table,
        "[dim]Peak widths: links side by side past a node, mesh : hypercube; wider: its channels; "
        "shorter: the longest wire, at least; L/H: how many times sooner a message of so many "
        f"headers arrives, {asked['distance']} distance, nothing in its way.[/]",
    ]


def _trust(data: Mapping[str, Any]) -> str:
    return f"How far to trust it: {data['trust']}."


def _verdict(sentence: str, data: Mapping[str, Any]) -> Text:
    return Text(f"At {sentence}.", style=FELL_BEHIND if data["saturated"] else KEPT_UP)


def _of(value: float | None, unit: str) -> str:
    return "none: it is saturated" if value is None else f"{number(value)} {unit}"


def _figures(rows: Mapping[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="left" if column in ("", "delay") else "right")
    return table
