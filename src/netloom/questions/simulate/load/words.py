"""A simulated load in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import counted, give_or_take, number
from netloom.questions.shown import arrow, interval, pairs, percent, size_of
from netloom.questions.simulate.load.verdict import is_known, is_slow, verdict
from netloom.questions.simulate.said import cycles, state, table_with_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom.questions.simulate.load.answer import Simulation
    from netloom.questions.simulate.network import SimulatedNetwork

__all__ = ["lines", "verdict"]

TRAFFIC = "flits/node\n/cycle"
"""The unit of traffic, as the head of a narrow column."""


def lines(result: Simulation) -> list[Any]:
    """Return the figures of one load or the table of several, then the router and remarks."""
    found = [_curve(result) if result.several else _figures(result)]
    if any(point.programs for point in result.points):
        found += ["", _programs(result)]
    router = ["", pairs({"router": router_of(result.network)})] if result.several else []
    return [*found, *router, *(escape(line) for line in remarks_of(result.network))]


def router_of(network: SimulatedNetwork) -> str:
    """Return which routers are simulated, with which packets."""
    setting = network.settings[0]
    router = setting.router
    parts = [
        f"{network.router_name}",
        *([] if network.compares else [router.switching]),
        f"{counted(router.vcs, 'VC')} of {counted(router.buffer_flits, 'flit')}",
        setting.routing.name,
        f"packets of {network.lengths.name} flit{'s' * (network.lengths.name != '1')}",
        network.arrivals.name,
        *([f"{number(network.machine.cycle_us)} µs per cycle"] if network.machine else []),
        size_of(network.topology),
    ]
    return ", ".join(parts)


def _figures(result: Simulation) -> Any:
    data = result.to_dict()
    latency, used = data["packet_latency"], data["utilisation"]
    accepted = interval(data["accepted"], data["accepted_ci95"])
    rows = {
        "offered": f"{number(data['offered'])} flits/node/cycle",
        "accepted": f"{accepted} flits/node/cycle, worst node {data['worst_node']}: "
        f"{number(data['accepted_worst_node'])}",
    }
    if latency["mean"] is not None:
        waits = number(data["source_queue_latency"]["mean"])
        inside = number(data["network_latency"]["mean"])
        rows |= {
            "packet latency": cycles(latency),
            "of which": f"source queue {waits}  network {inside} cycles",
        }
    rows["path length"] = counted(number(data["hops"]["mean"]), "hop")
    if used["mean"] is not None:
        rows["links busy"] = (
            f"{percent(used['mean'])} on average, {percent(used['max'])} at most "
            f"({arrow(used['busiest_channel'])})"
        )
    rows |= {
        "measured": f"{counted(data['cycles'], 'cycle', ',')} after {data['warmup_cycles']:,} of "
        f"warm-up: {counted(data['packets'], 'packet', ',')}, "
        f"{counted(number(data['flit_hops']), 'flit-hop')}, seed {data['seed']}",
        "router": router_of(result.network),
    }
    return pairs(rows)


def _programs(result: Simulation) -> Table:
    """Return what each of several programs gets, beside the others and alone."""
    table = table_with_units(
        (
            ("program", ""), ("on", "nodes"), ("offered", TRAFFIC),
            ("accepted", TRAFFIC), ("latency", "cycles"), ("alone", "cycles"),
            ("slow-down", "times"),
        )
    )  # fmt: skip
    for program in (program for point in result.points for program in point.programs):
        alone = program.alone
        table.add_row(
            escape(program.name),
            str(program.nodes),
            number(program.offered),
            number(program.measured.accepted),
            number(program.latency),
            number(alone.measured.packet_latency if alone and alone.stable else None),
            give_or_take(program.latency_slowdown, program.latency_slowdown_ci95),
        )
    return table


CURVE = (
    ("switching", ""),
    ("offered", TRAFFIC),
    ("accepted", TRAFFIC),
    ("worst node", TRAFFIC),
    ("latency", "cycles"),
    ("p99", "cycles"),
    ("busiest", "link, %"),
    ("", ""),
)
"""Columns of the table of several runs."""


def _curve(result: Simulation) -> Table:
    compares = result.network.compares
    table = table_with_units(CURVE if compares else CURVE[1:])
    for point in result.points:
        figures = point.to_dict()
        latency = figures["packet_latency"]
        busiest = figures["utilisation"]["max"]
        row = [
            number(figures["offered"]),
            number(figures["accepted"]),
            number(figures["accepted_worst_node"]),
            give_or_take(latency["mean"], latency["ci95"]),
            number(latency["p99"]),
            number(None if busiest is None else 100 * busiest),
            _state(figures),
        ]
        table.add_row(*([figures["switching"]] if compares else []), *row)
    return table


def _state(point: Mapping[str, Any]) -> str:
    """Return in a word what is to be known of a run: a slow one counts as saturated."""
    known = is_known(point)
    slow = known and point["stable"] and is_slow(point)
    return "! saturated" if slow else state(point, known=known)


def remarks_of(network: SimulatedNetwork) -> list[str]:
    """Return what was changed, and which techniques are not possible."""
    refused = network.refused.items()
    return [
        *(f"• {remark}" for remark in network.remarks),
        *(f"• {name} is not possible: {why}" for name, why in refused),
    ]
