"""What ``netloom simulate`` found, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from netloom.cli.show import console, number, percent
from netloom.verbs import NetworkSaturation, Simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.verbs.simulated_network import SimulatedNetwork

LATENCIES = ("packet latency", "  its spread", "  in the source queue", "  in the network")
"""Rows that are left out where there are no latencies."""

KEPT_UP, FELL_BEHIND = "bold green", "bold red"


def show(result: Simulation | NetworkSaturation, written: Sequence[str]) -> None:
    """Print what was simulated, the figures, remarks, and what was written."""
    screen = console()
    for line in _head(result.network):
        screen.print(line)
    if isinstance(result, NetworkSaturation):
        screen.print(_searches(result))
        for search in result.searches:
            if search.interrupted:
                screen.print("• interrupted: how far the search had come by then")
            elif not search.saturates:
                screen.print(f"• {search.setting.router.switching} keeps up with all it is offered")
    elif result.several:
        screen.print(_curve(result))
    else:
        screen.print(_figures(result))
        good = result.stable and not result.interrupted
        verdict = result.point.note or f"Keeps up: {result.point.run.reason}."
        screen.print(Text(verdict, style=KEPT_UP if good else FELL_BEHIND))
    for line in (*_remarks(result), *written):
        screen.print(line, soft_wrap=True)


def _head(network: SimulatedNetwork) -> list[str]:
    topology, setting = network.topology, network.settings[0]
    router = setting.router
    cycle = f"; a cycle is {number(network.machine.cycle_us)} µs" if network.machine else ""
    vcs = f"{router.vcs} VC{'s' * (router.vcs > 1)} of {router.buffer_flits} flits"
    technique = "" if network.compares else f" {router.switching},"
    return [
        f"[bold]{network.traffic.name}[/] on [bold]{topology.name}[/] "
        f"({topology.num_nodes} nodes, {topology.num_channels} channels), {setting.routing.name}",
        f"{network.router_name} router,{technique} {vcs}; packets of {network.lengths.name} flits, "
        f"{network.arrivals.name}{cycle}",
    ]


def _figures(result: Simulation) -> Table:
    data = result.point.to_dict()
    latency, used = data["packet_latency"], data["utilisation"]
    table = Table(box=None, pad_edge=False, show_header=False)
    idle = f"zero load {number(data['zero_load_latency'])}"
    rows = [
        ("offered", f"{number(data['offered'])} flits/node/cycle; limit {_bound(data)}"),
        ("accepted", f"{_interval(data['accepted'], data['accepted_ci95'])}; worst node "
         f"{data['worst_node']}: {number(data['accepted_worst_node'])}"),
        ("packet latency", f"{_interval(latency['mean'], latency['ci95'])} cycles ({idle})"),
        ("  its spread", f"half up to {number(latency['p50'])}, 99 % up to "
         f"{number(latency['p99'])}, all up to {number(latency['max'])}"),
        ("  in the source queue", number(data["source_queue_latency"]["mean"])),
        ("  in the network", number(data["network_latency"]["mean"])),
        ("hops", number(data["hops"]["mean"])),
        ("channels busy", f"{percent(used['mean'])} on average, {percent(used['max'])} at most: "
         f"{used['busiest_channel']}"),
        ("measured", f"{data['cycles']:,} cycles after {data['warmup_cycles']:,} of warm-up; "
         f"{data['packets']:,} packets, {data['flit_hops']:,} flit-hops, "
         f"{number(data['cpu_seconds'])} CPU s; seed {data['seed']}"),
    ]  # fmt: skip
    for row in rows:
        if latency["mean"] is not None or row[0] not in LATENCIES:
            table.add_row(*row)
    return table


def _curve(result: Simulation) -> Table:
    columns = ("offered", "accepted", "worst node", "latency", "± 95 %", "p99", "in network",
               "hops", "busiest channel", "")  # fmt: skip
    compares = result.network.compares
    table = _table(("switching", *columns) if compares else columns)
    for point in result.points:
        row = point.row()
        shown = [row[name] for name in (
            "offered", "accepted", "accepted_worst_node", "packet_latency_mean",
            "packet_latency_ci95", "packet_latency_p99", "network_latency_mean", "hops_mean",
        )]  # fmt: skip
        verdict = "[red]past saturation[/]" if not row["stable"] else ""
        verdict = "interrupted" if row["interrupted"] else verdict
        cells = [*map(number, shown), percent(row["utilisation_max"]), verdict]
        table.add_row(*([row["switching"], *cells] if compares else cells))
    return table


def _searches(result: NetworkSaturation) -> Table:
    table = _table(("switching", "saturates at", "±", "accepted", "worst node", "most accepted",
                    "zero-load latency", "limit of any router"))  # fmt: skip
    for search in result.searches:
        data = search.to_dict()
        table.add_row(
            data["switching"],
            *(number(data[name]) for name in ("saturation_offered",)),
            number(data["saturation_offered_width"] / 2),
            *(number(data[name]) for name in (
                "saturation_throughput", "accepted_worst_node", "peak_accepted",
                "zero_load_latency",
            )),
            number(data["throughput_bound"]["load"]),
        )  # fmt: skip
    return table


def _table(columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        words = column in ("", "switching")
        table.add_column(column, justify="left" if words else "right", no_wrap=words)
    return table


def _remarks(result: Simulation | NetworkSaturation) -> list[str]:
    network = result.network
    lines = [f"• {remark}" for remark in network.remarks]
    lines += [f"• {name} is not possible: {why}" for name, why in network.refused.items()]
    if isinstance(result, NetworkSaturation):
        lines.append(
            "Saturated: the network falls behind, or its latency is 3 times the zero-load."
        )
    if isinstance(result, NetworkSaturation) or result.several:
        bound = network.settings[0].bound
        lines.append(
            f"Traffic in flits/node/cycle, latency in cycles; seed {network.seed}. No router can "
            f"carry more than {number(bound.load)}: {bound.what}."
        )
    return lines


def _bound(data: dict[str, Any]) -> str:
    bound = data["throughput_bound"]
    return f"{number(bound['load'])} by {bound['limited_by']}"


def _interval(mean: float | None, half: float | None) -> str:
    return "-" if mean is None else f"{number(mean)} ± {'?' if half is None else f'{half:.2g}'}"
