"""A simulated load in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.shown import (
    DOUBTFUL,
    FELL_BEHIND,
    KEPT_UP,
    ended,
    interval,
    pairs,
    percent,
    plain_table,
    size_of,
)
from netloom.simulation.network.loaded import largest_bound
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.questions.simulate.network import SimulatedNetwork

LATENCIES = ("packet latency", "  its spread", "  in the source queue", "  in the network")
"""Rows that are left out where there are no latencies."""


def lines(result: Simulation) -> list[Any]:
    """Return what was simulated, the figures, remarks, and whether the network keeps up."""
    found = [*head_of(result.network), _curve(result) if result.several else _figures(result)]
    if any(point.programs for point in result.points):
        found.append(_programs(result))
    if not result.several:
        found.append(verdict(result))
    found += [escape(line) for line in remarks_of(result.network)]
    return [*found, units_of(result.network)] if result.several else found


def verdict(result: Simulation) -> Text:
    """Return whether the network keeps up, in green only where nothing is to be said against it."""
    point = result.point
    if not result.stable or result.interrupted or not point.run.measured.packets:
        return Text(point.note or "", style=FELL_BEHIND)
    keeps_up = f"Keeps up: {point.run.reason}"
    if point.note:
        return Text(f"{keeps_up}; but {point.note}.", style=DOUBTFUL)
    return Text(f"{keeps_up}.", style=KEPT_UP)


def head_of(network: SimulatedNetwork) -> list[str]:
    """Return what is simulated on which network, with which routers."""
    topology, setting = network.topology, network.settings[0]
    router = setting.router
    cycle = f"; a cycle is {number(network.machine.cycle_us)} µs" if network.machine else ""
    vcs = f"{router.vcs} VC{'s' * (router.vcs > 1)} of {counted(router.buffer_flits, 'flit')}"
    technique = "" if network.compares else f" {router.switching},"
    return [
        f"[bold]{escape(network.traffic.name)}[/] on [bold]{escape(topology.name)}[/] "
        f"({size_of(topology)}), "
        f"{escape(setting.routing.name)}",
        escape(
            f"{network.router_name} router,{technique} {vcs}; packets of {network.lengths.name} "
            f"flits, {network.arrivals.name}{cycle}"
        ),
    ]


def _figures(result: Simulation) -> Table:
    data = result.to_dict()
    latency, used = data["packet_latency"], data["utilisation"]
    idle = f"zero load {number(data['zero_load_latency'])}"
    rows = [
        ("offered", f"{number(data['offered'])} flits/node/cycle; limit {_bound(data)}"),
        ("accepted", f"{interval(data['accepted'], data['accepted_ci95'])}; worst node "
         f"{data['worst_node']}: {number(data['accepted_worst_node'])}"),
        ("packet latency", f"{interval(latency['mean'], latency['ci95'])} cycles ({idle})"),
        ("  its spread", f"half up to {number(latency['p50'])}, 99 % up to "
         f"{number(latency['p99'])}, all up to {number(latency['max'])}"),
        ("  in the source queue", number(data["source_queue_latency"]["mean"])),
        ("  in the network", number(data["network_latency"]["mean"])),
        ("hops", number(data["hops"]["mean"])),
        ("channels busy", f"{percent(used['mean'])} on average, {percent(used['max'])} at most: "
         f"{used['busiest_channel']}"),
        ("measured", f"{data['cycles']:,} cycles after {data['warmup_cycles']:,} of warm-up; "
         f"{counted(data['packets'], 'packet', ',')}, {data['flit_hops']:,} flit-hops, "
         f"{number(data['cpu_seconds'])} CPU s; seed {data['seed']}"),
    ]  # fmt: skip
    left_out = [*LATENCIES] if latency["mean"] is None else []
    left_out += ["channels busy"] * (used["mean"] is None)
    return pairs({name: said for name, said in rows if name not in left_out})


def _programs(result: Simulation) -> Table:
    """Return what each of several programs gets, beside the others and alone."""
    table = plain_table(("", "nodes", "offered", "accepted", "latency", "alone", "times as long"))
    for program in (program for point in result.points for program in point.programs):
        alone = program.alone
        table.add_row(
            escape(program.name),
            str(program.nodes),
            number(program.offered),
            number(program.measured.accepted),
            number(program.latency),
            number(alone.measured.packet_latency if alone and alone.stable else None),
            interval(program.latency_slowdown, program.latency_slowdown_ci95),
        )
    return table


CURVE = {
    "offered": "offered",
    "accepted": "accepted",
    "accepted_worst_node": "worst node",
    "packet_latency_mean": "latency",
    "packet_latency_ci95": "± 95 %",
    "packet_latency_p99": "p99",
    "network_latency_mean": "in network",
    "hops_mean": "hops",
}
"""Columns of the table of several runs, and their heads there."""


def _curve(result: Simulation) -> Table:
    heads = [*CURVE.values(), "busiest channel", ""]
    compares = result.network.compares
    table = plain_table(["switching"] * compares + heads, words=("", "switching"))
    for point in result.points:
        row = point.row()
        verdict = "[red]past saturation[/]" if not row["stable"] else ""
        verdict = "interrupted" if row["interrupted"] else verdict
        figures = [number(row[name]) for name in CURVE]
        table.add_row(
            *[row["switching"]] * compares, *figures, percent(row["utilisation_max"]), verdict
        )
    return table


def sentences(record: Recorded) -> list[str]:
    """Return what each load comes to."""
    compares = len({point["switching"] for point in record.points}) > 1
    return [f"{point['switching']}: " * compares + _sentence(point) for point in record.points]


def _sentence(point: Mapping[str, Any]) -> str:
    latency, load = point["packet_latency"], number(point["offered"])
    if not point["stable"] or latency["mean"] is None:
        return f"At {load}: {ended(point['note'] or 'nothing was measured')}"
    said = interval(latency["mean"], latency["ci95"])
    used, idle = point["utilisation"], number(point["zero_load_latency"])
    busiest = used["busiest_channel"]
    beside = f"; the busiest channel, {busiest}, carries {number(used['max'])}" if busiest else ""
    return f"Keeps up with {load}: {said} cycles, {idle} if idle{beside}."


def remarks_of(network: SimulatedNetwork) -> list[str]:
    """Return what was changed, and which techniques are not possible."""
    refused = network.refused.items()
    return [
        *(f"• {remark}" for remark in network.remarks),
        *(f"• {name} is not possible: {why}" for name, why in refused),
    ]


def units_of(network: SimulatedNetwork) -> str:
    """Return the units of several runs, and the bound of them all."""
    bound = largest_bound(network.settings).sentence
    units = f"Traffic in flits/node/cycle, latency in cycles; seed {network.seed}."
    return escape(f"{units} {bound[0].upper()}{bound[1:]}.")


def _bound(data: dict[str, Any]) -> str:
    bound = data["throughput_bound"]
    return f"{number(bound['load'])} by {bound['limited_by']}"
