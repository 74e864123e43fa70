"""What programs found that drive the network, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netloom.cli.show import console, number, percent
from netloom.cli.show_simulation import DOUBTFUL, FELL_BEHIND, KEPT_UP
from netloom.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.simulation.program_network import ProgramNetwork
    from netloom.verbs import (
        BroadcastSimulation,
        LoopSimulation,
        PatternSimulation,
        TraceReplay,
        TransactionSimulation,
    )


CRITICAL_PARTS = (
    "compute", "processor_wait", "source_wait", "message", "contention", "receive",
)  # fmt: skip
"""What a critical path is made of; see ``simulation.critical_path.Parts``."""


def show_program(verb: str, result: Any) -> None:
    """Print what was run, the figures, and what they come to."""
    screen = console()
    for line in SHOWN[verb](result):
        screen.print(line, soft_wrap=not isinstance(line, Table))
    if result.interrupted:
        screen.print("• interrupted: what was known by then")


def _loop(result: LoopSimulation) -> list[Any]:
    flits = f"messages of {counted(result.message_flits, 'flit')}, each waited for"
    table = _table(
        "applied", "average node", "worst node", "loop", "worst", "latency", "unhindered",
        "busiest channel", "",
    )  # fmt: skip
    for point in result.points:
        row = point.row()
        table.add_row(
            *(number(row[name]) for name in (
                "applied", "average_node", "worst_node", "loop_cycles_mean", "loop_cycles_max",
                "message_latency", "unhindered_latency",
            )),
            percent(row["utilisation_max"]),
            escape(point.note or ""),
        )  # fmt: skip
    lines = [*_head(result.network, f"{result.program}, mapping {result.mapping}", flits), table]
    if result.left_out:
        lines.append(f"• {result.left_out}")
    if result.limit is not None:
        lines.append(
            "[dim]Traffic in flits/node/cycle, times in cycles. Static analysis estimates that an "
            f"average node, at its own pace, saturates at {number(result.limit.average_node)}, the "
            f"worst at {number(result.limit.worst_node)}; if all sent alike, none could send more "
            f"than {number(result.limit.upper_bound)}.[/]"
        )
    if result.points[-1].programs:
        lines.append(_side_by_side(result))
    return [*lines, _loop_verdict(result)]


def _side_by_side(result: LoopSimulation) -> Table:
    """Return what each of several programs gets through, beside the others and alone."""
    table = _table("", "nodes", "average node", "worst node", "loop", "alone", "times as long")
    for program in result.points[-1].programs:
        times, alone = program.times, program.alone
        table.add_row(
            escape(program.name),
            str(program.nodes),
            number(times.average_node if times else None),
            number(times.worst_node if times else None),
            number(float(times.cycles.mean()) if times else None),
            number(float(alone.cycles.mean()) if alone else None),
            number(program.slowdown) + _half(program.slowdown_ci95),
        )
    return table


def _half(ci95: float | None) -> str:
    return f" ± {ci95:.2g}" if ci95 is not None else ""


def _loop_verdict(result: LoopSimulation) -> Text:
    """Say what share of its applied traffic the program gets through, at the highest."""
    point = result.points[-1]
    if point.times is None:
        return Text(point.note or "", style=FELL_BEHIND)
    average = point.times.average_node / point.applied
    worst = point.times.worst_node / point.applied
    style = KEPT_UP if worst > 0.9 else DOUBTFUL if average > 0.9 else FELL_BEHIND
    return Text(
        f"At applied traffic {number(point.applied)} an average task gets through "
        f"{percent(average)} of it, the worst {percent(worst)}.",
        style=style,
    )


def _transactions(result: TransactionSimulation) -> list[Any]:
    data = result.to_dict()

    def known(name: str) -> str:
        half = data[f"{name}_ci95"]
        return f"{number(data[name])} ± {half:.2g}"

    table = _pairs(
        {
            "between transactions": f"{known('inter_transaction_cycles')} cycles a node; "
            f"{percent(result.processor_use)} of the processor is computation",
            "transaction latency": f"{known('transaction_latency')} cycles",
            "message rate": f"{known('message_rate')} a node and cycle; "
            f"{number(data['messages_per_transaction'])} a transaction, of "
            f"{counted(number(data['message_flits']), 'flit')}",
            "message latency": f"{known('message_latency')} cycles",
            "channels busy": f"{percent(data['utilisation']['mean'])} on average, "
            f"{percent(data['utilisation']['max'])} at most",
            "measured": f"{data['cycles']:,} cycles, {data['transactions']:,} transactions, "
            f"{counted(data['messages'], 'message', ',')}; seed {data['seed']}",
        }
    )
    what = f"transactions of {result.program}, average distance {number(result.distance)}"
    how = f"{counted(result.contexts, 'context')} a node"
    silent = f"• left out: {result.left_out}" if result.left_out else None
    return [*_head(result.network, what, how), table, *([silent] if silent else [])]


def _replay(result: TraceReplay) -> list[Any]:
    data = result.to_dict()
    rows = {
        "finish": _finish(data, "finish"),
        "without contention": _finish(data, "ideal_finish"),
        "messages": f"{data['messages']:,}, {counted(data['flits'], 'flit', ',')}, "
        f"{data['flit_hops']:,} flit-hops",
    }
    latency, alone = data["message_latency"], data["unhindered_latency"]
    if latency["mean"] is not None:
        rows["message latency"] = (
            f"{number(latency['mean'])} cycles on average, 99 % up to {number(latency['p99'])}; "
            f"{number(alone['mean'])} where nothing is in the way"
        )
    used = data["utilisation"]
    rows["channels busy"] = f"{percent(used['mean'])} on average, {percent(used['max'])} at most"
    lines = [*_head(result.network, data["trace"], f"mapping {data['mapping']}"), _pairs(rows)]
    path = data["critical_path"]
    if path:
        parts = ", ".join(
            f"{part.replace('_', ' ')} {number(path[f'{part}_cycles'])}"
            for part in CRITICAL_PARTS
            if path[f"{part}_cycles"]
        )
        lines.append(f"Critical path, {counted(path['length'], 'entry')}: {parts} cycles.")
    share = result.contention_share
    if share is not None:
        style = KEPT_UP if share < 0.05 else DOUBTFUL if share < 0.2 else FELL_BEHIND
        said = f"Contention for channels is {percent(share)} of the finish time."
        lines.append(Text(said, style=style))
    if result.note:
        lines.append(escape(f"• {result.note}"))
    return lines


def _finish(data: dict[str, Any], name: str) -> str:
    cycles, us = data[f"{name}_cycles"], data[f"{name}_us"]
    if cycles is None:
        return "not reached"
    return f"{cycles:,} cycles" + (f", {number(us)} µs" if us is not None else "")


def _broadcast(result: BroadcastSimulation) -> list[Any]:
    columns = {
        "rate": "rate", "accepted": "accepted", "unicast": "unicast_latency_mean",
        "± 95 %": "unicast_latency_ci95", "p99": "unicast_latency_p99",
        "zero load": "zero_load_latency", "to the last": "broadcast_latency_mean",
        "± 95 % ": "broadcast_latency_ci95", "to each": "target_latency_mean",
    }  # fmt: skip
    table = _table(*columns, "busiest channel", "")
    for row in result.table().to_dicts():
        verdict = "" if row["stable"] else "[red]past saturation[/]"
        cells = [number(row[name]) for name in columns.values()]
        table.add_row(*cells, percent(row["utilisation_max"]), verdict)
    who = counted(result.multicast_targets, "target") if result.multicast_targets else "all nodes"
    what = f"{result.traffic.name}, {percent(result.broadcast)} of it to {who}"
    how = f"{result.tree} trees; messages of {result.lengths.name} flits"
    note = "[dim]Rates in messages/node/cycle, latencies in cycles; of broadcasts: to the last "
    note += "target, and on average to each.[/]"
    return [*_head(result.network, what, how), table, note]


def _pattern(result: PatternSimulation) -> list[Any]:
    columns = {
        "bytes": "message_bytes", "computing": "think_us", "loop": "loop_us_mean",
        "worst": "loop_us_max", "a message": "communication_us_mean",
        "worst ": "communication_us_max", "alone": "message_us",
    }  # fmt: skip
    table = _table(*columns, "applied", "average node", "worst node")
    for row in result.table().to_dicts():
        shares = (percent(row[name]) for name in ("applied", "average_node", "worst_node"))
        table.add_row(*(number(row[name]) for name in columns.values()), *shares)
    what = f"{result.pattern}, {counted(len(result.nodes), 'node')} of it active"
    return [*_head(result.network, what, "times in µs, traffic in shares of a channel"), table]


def _head(network: ProgramNetwork, what: str, how: str) -> list[str]:
    topology = network.topology
    return [
        f"[bold]{escape(what)}[/] on [bold]{escape(topology.name)}[/] "
        f"({counted(topology.num_nodes, 'node')}, {counted(topology.num_channels, 'channel')}), "
        f"{escape(network.routing_name)}",
        escape(f"{network.router_name}; {how}"),
    ]


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    return table


def _pairs(rows: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        table.add_row(escape(name), escape(value))
    return table


SHOWN: dict[str, Callable[[Any], Sequence[Any]]] = {
    "simulate_loop": _loop,
    "simulate_transactions": _transactions,
    "replay": _replay,
    "simulate_broadcast": _broadcast,
    "simulate_pattern": _pattern,
}
