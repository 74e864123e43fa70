"""What shared words do to a combining network, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, give_or_take, number
from netloom.questions.shown import (
    figures_table,
    interruption,
    pairs,
    percent,
    plain_table,
)
from netloom_papers.questions.hotspot.answer import LOAD, HotSpotSimulation
from netloom_papers.questions.hotspot.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom_papers.combining import CombiningNetwork
    from netloom_papers.questions.hotspot.answer import HotSpotLoad
    from netloom_papers.questions.hotspot.critical_queue.answer import CriticalQueues

__all__ = ["lines", "system_of", "verdict"]


def lines(result: HotSpotSimulation) -> list[Any]:
    """Return the figures by stage or by rate, and what was simulated."""
    found = _rates(result) if len(result.asked) > 1 or not result.points else _one(result)
    return [*found, *system_of(result), *interruption(result, "finished")]


def system_of(result: HotSpotSimulation | CriticalQueues) -> list[str]:
    """Return what was simulated, whatever was asked of it."""
    asked, network = result.provenance.configuration, result.network
    rate = f", at rate {number(result.asked[0])} a step" if len(result.asked) == 1 else ""
    per_pe = min(2, asked["hot_spots"]) if asked["per_pe"] is None else asked["per_pe"]
    share = "" if asked["hot_fraction"] == 1 else (
        f", with {percent(asked['hot_fraction'])} of its requests"
    )  # fmt: skip
    runs = counted(asked["replications"], "replication")
    size = network.switch_size
    return [
        f"[dim]{counted(asked['hot_spots'], 'hot spot')} of {network.pes} memory modules; each "
        f"PE asks for {per_pe}{_odds(asked['assign'])}{rate}{share}, "
        f"{asked['policy']}{_places(asked)}[/]",
        f"[dim]omega:{network.pes}, {counted(network.stages, 'stage')} of "
        f"{size} × {size} switches, "
        f"{_rules(network, sized=isinstance(result, HotSpotSimulation))}; "
        f"{asked['steps']:,} steps, {runs}, seed {asked['seed']}[/]",
    ]


def _odds(assign: float) -> str:
    return "" if assign == 1 else f", each with probability {number(assign)}"


def _places(asked: Mapping[str, Any]) -> str:
    """Say where hot spots are, if not at random, and how they come and go."""
    words = ""
    if asked["spacing"] is not None:
        give = f" ± {asked['deviation']}" if asked["deviation"] else ""
        words += f"; spaced by {asked['spacing']}{give}"
    if asked["new"] or asked["remove"]:
        new, gone = number(asked["new"]), number(asked["remove"])
        words += f"; in a step a new one with probability {new}, one gone with {gone}"
    return words


def _rules(network: CombiningNetwork, *, sized: bool) -> str:
    words = [f"queues {_size(network.queue)}"] if sized else []
    if network.combining == "none":
        words.append("no combining")
    elif sized:
        words.append(f"wait buffers {_size(network.wait_buffer)}")
    unusual = {
        "combining": network.combining not in ("waiting", "none"),
        "order": network.order != "forward",
        "digits": network.digits != "most-significant-first",
        "operation": network.operation != "add",
    }
    words += [f"{name} {getattr(network, name)}" for name in unusual if unusual[name]]
    words += ["unlimited combining"] * (network.unlimited and network.combining != "none")
    if network.service_steps > 1:
        words.append(f"{network.service_steps} steps a request in memory")
    return ", ".join(words) or "combining"


def _size(capacity: int | None) -> str:
    return "unbounded" if capacity is None else f"of {capacity}"


def _one(result: HotSpotSimulation) -> list[Any]:
    data = result.to_dict()
    note = "Packets in the queues and wait buffers that were used. Combined: share of the requests "
    note += "that come to a stage."
    if result.network.combining == "none":
        note = "Packets in the queues that were used."
    return [_stages(result.points[0], data), f"[dim]{note}[/]", "", _figures(data, result)]


def _stages(point: HotSpotLoad, data: dict[str, Any]) -> Table:
    """Return mean and maximum of queues and wait buffers, from the PEs to the modules."""
    combines = point.network.combining != "none"
    columns = ["stage", "requests\nmean", "\nmax", "waiting\nmean", "\nmax ", "combined"]
    if not combines:
        columns = columns[:3]
    table = plain_table([*columns, "replies\nmean", "\nmax  "], words=("stage",))

    def cells(queue: dict[str, Any] | None) -> list[str]:
        return ["", ""] if queue is None else [number(queue["mean"]), number(queue["max"])]

    none = ["", "", ""] if combines else []
    table.add_row("PEs", *cells(data["pe_queue"]), *none, *cells(None))
    for stage in data["stages"]:
        waits = [*cells(stage["wait"]), percent(stage["combining_rate"])] if combines else []
        table.add_row(
            str(stage["stage"]), *cells(stage["requests"]), *waits, *cells(stage["replies"])
        )
    table.add_row("modules", *cells(None), *none, *cells(data["module_queue"]))
    return table


def _figures(data: dict[str, Any], result: HotSpotSimulation) -> Table:
    lost = data["discarded"]
    busiest = max(data["hot_spots"], key=lambda each: each["busy"])
    asked = result.provenance.configuration
    answered = f"answered {number(data['finalisation_steps'])} steps after the last was made"
    if result.points[0].interrupted:
        answered = "not all of them answered"
    rows = {
        "throughput": f"{_interval({'mean': data['throughput'], 'ci95': data['throughput_ci95']})}"
        " requests/PE/step",
        "discarded": f"{percent(lost['full_share'])} find the queue of their PE full",
        "combined": f"{percent(data['combined_share'])} of the requests reach memory in another",
        "busiest module": f"{busiest['module']}: busy {percent(busiest['busy'])} of the time",
        "measured": f"{data['requests']['total']:,} requests, "
        f"{number(data['requests']['mean_per_pe'])} per PE; {answered}; "
        f"{number(data['cpu_seconds'])} CPU s",
    }
    if asked["policy"] == "wait":
        rows["discarded"] += f", {percent(lost['waiting_share'])} await the one before"
    if result.network.combining == "none":
        del rows["combined"]
    elif asked["hot_fraction"] == 1 and busiest["accesses"]:
        stands = busiest["requests"] / busiest["accesses"]
        rows["busiest module"] += f", one access per {number(stands)} requests"
    return pairs(rows)


def _rates(result: HotSpotSimulation) -> list[Any]:
    columns = {
        "rate": "rate", "steps\nmean": "steps_mean", "\n± 95 %": "steps_ci95",
        "\np99": "steps_p99", "\nmax": "steps_max", "throughput": "throughput",
        "queue\nmean": "queue_mean", "\nmax ": "queue_max",
        "wait buffer\nmean": "wait_buffer_mean", "\nmax  ": "wait_buffer_max",
    }  # fmt: skip
    if result.network.combining == "none":
        columns = {name: of for name, of in columns.items() if not of.startswith("wait")}
    lost = ["refused"] + ["waited"] * (result.provenance.configuration["policy"] == "wait")
    verdicts = {True: "", False: "[red]✗ overloaded[/]", None: "[cyan]? too short[/]"}
    rows = [
        LOAD.row(each) | {"said": "? interrupted" if each.interrupted else verdicts[each.stable]}
        for each in result.points
    ]
    shares = dict(zip(lost, lost, strict=True))
    table = figures_table(columns, shares, rows, lambda row: str(row["said"]))
    what = "queues" if result.network.combining == "none" else "queues and wait buffers"
    waited = " Waited: the one before is on its way." if "waited" in lost else ""
    note = (
        f"[dim]{result.network.unhindered_steps} steps in an idle network. Throughput in "
        f"requests/PE/step, {what} in packets (all stages alike). Refused: the queue of its PE is "
        f"full.{waited}[/]"
    )
    return [table, note]


def _interval(figure: dict[str, Any]) -> str:
    return give_or_take(figure["mean"], figure["ci95"])
