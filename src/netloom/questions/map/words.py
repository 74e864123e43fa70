"""A mapping that was found, and what it bought, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.shown import DOUBTFUL, KEPT_UP, percent, plain_table, size_of
from netloom.words import counted, number

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.map.answer import ProgramMapping

STYLES = {"bound": KEPT_UP, "better": KEPT_UP, "none": DOUBTFUL, "worse": DOUBTFUL}

APPLY = "Apply it: --rankfile FILE for a launcher, --save-mapping FILE for netloom."
"""Said where no file was asked for."""

GAINLESS = "It gains nothing over ranks in order: leave these as they are."
"""Said of a mapping that is no better than ranks in order, whether files were asked for or not."""

UNCHANGED = "Ranks stay in order: there is no mapping to apply."
"""Said where nothing better was found; files that were asked for have ranks in order."""

NAMES = {
    "identity": "identity (before)",
    "random": "random, mean of 25",
    "random_best": "random, best of 25",
    "mapping": "mapping, without routes",
    "result": "result (after)",
}


def lines(result: ProgramMapping) -> list[Any]:
    """Return what was asked, all mappings by their figures, remarks and the verdict."""
    note = (
        "* saturation of the worst node (estimate, lemma 4), and its bound: in % of a channel, "
        "offered by the average sending node"
    )
    if _accepted(result):
        assert result.simulated is not None
        note += (
            f"; ** of its traffic, what the worst node gets accepted where the average node "
            f"offers {percent(result.simulated.load)}"
        )
    remarks = [escape(f"• {line}") for line in _remarks(result)]
    verdict = Text(result.verdict.sentence, style=STYLES[result.verdict.kind])
    return [*_head(result), _table(result), f"[dim]{note}[/]", *remarks, verdict]


def ending(result: ProgramMapping, *, wrote: bool) -> str:
    """Return how to apply the mapping, if it gains something and no file was asked for."""
    if result.unchanged:
        return UNCHANGED
    if not result.gains:
        return GAINLESS
    return "" if wrote else APPLY


def _head(result: ProgramMapping) -> list[str]:
    asked, network = result.provenance.configuration, result.topology
    allowed = (
        ""
        if len(result.nodes) == network.num_hosts
        else f", {len(result.nodes)} of which may be used"
    )
    size = size_of(network).replace(", ", f"{allowed}, ", 1)
    per_node = asked["tasks_per_node"]
    several = f", up to {counted(per_node, 'task')} a node" if per_node > 1 else ""
    return [
        f"[bold]{escape(result.graph.name)}[/] ({counted(result.graph.num_tasks, 'task')}, "
        f"{counted(result.graph.num_edges, 'edge')}) on [bold]{escape(network.name)}[/] "
        f"({size}){several}, {escape(str(result.routing))}",
        f"{escape(result.found.objective)} by {asked['weight']}; {escape(_how(result))}, seed "
        f"{asked['seed']}",
    ]


def _how(result: ProgramMapping) -> str:
    """How the mapping came about, in words."""
    found = result.found
    if result.layout is not None:
        return f"layout {result.layout.name} ({result.layout.source})"
    ended = "interrupted after" if found.interrupted else "searched for"
    began = "a random mapping" if found.found_by == "search" else NAMES.get(
        found.found_by, found.found_by
    ).removesuffix(" (before)")  # fmt: skip
    rounds = counted(found.rounds, "round") if found.rounds else "less than a whole round"
    effort = f"{found.seconds:.2g} s of processor time, {rounds}"
    return f"{ended} {effort}, from {began}"


def _table(result: ProgramMapping) -> Table:
    """All mappings, a row each, with the figures by which they are compared."""
    weight = result.provenance.configuration["weight"]
    single = not result.scale and not _times(result)
    columns = {} if single else {"objective": "objective"}
    columns |= {
        "hop-bytes": "hop_bytes",
        f"max load, {'paths' if weight == 'uniform' else weight}":
            "weighted_channel_load_max",
        "χ max": "channel_load_max",
        "ν mean": "path_contention_mean",
        "ν max": "path_contention_max",
        "saturates *": "saturation_worst_node",
        "at most": "saturation_upper_bound",
    }  # fmt: skip
    accepted = _accepted(result)
    table = plain_table(("", *columns, *(["simulated **"] if accepted else [])))
    for row in result.starts:
        name = row["mapping"]
        cells = [_cell(column, row[column]) for column in columns.values()]
        if accepted:
            cells.append(percent(accepted.get(name)) if name in accepted else "")
        bold = name in ("identity", "result")
        table.add_row(escape(NAMES.get(name, name)), *cells, style="bold" if bold else None)
    return table


def _paths(load: float) -> str:
    """Return how many paths, or how many are expected, in words."""
    return counted(int(load), "path") if float(load).is_integer() else f"{load:.4g} paths"


def _times(result: ProgramMapping) -> bool:
    """Whether the objective is of more than loads between routers: of times, or hosts' channels."""
    between = result.topology.routers.channel_bandwidth
    timed = result.counts_hosts or bool((between != 1).any())
    return timed and "max-channel-load" in result.found.objective


def _cell(column: str, value: float) -> str:
    return percent(value) if column.startswith("saturation") else number(value)


def _accepted(result: ProgramMapping) -> dict[str, float | None]:
    """What part of its traffic the worst node gets accepted, where that was simulated."""
    if result.simulated is None or result.simulated.load is None:
        return {}
    before, after = result.simulated.worst_shares()
    return {} if before is None else {"identity": before, "result": after}


def _remarks(result: ProgramMapping) -> list[str]:
    lines = []
    if _times(result):
        counts = (
            "of all channels, those of hosts included" if result.counts_hosts else "of channels"
        )
        lines.append(f"max-channel-load is the largest load over bandwidth {counts}.")
    data = result.promise()
    if data is not None:
        own = " on its own routes" if result.routes is not None else ""
        promised = data["promised_channel_load"]
        promises = "promises nothing of" if promised is None else f"promises at most {promised} for"
        lines.append(
            f"The layout {promises} χ max{own}; measured: {data['measured_channel_load']}."
        )
    if result.after is not None:
        neck = result.after.bottleneck()
        lines.append(
            f"Busiest channel now: {neck['channel']}, {_paths(neck['channel_load'])}, "
            f"{neck['ratio']:.2f} times what the busiest node {neck['node']} sends."
        )
    if result.virtual_channels is not None:
        lines.append(
            f"Its own routes need {counted(result.virtual_channels, 'virtual channel')} to be free "
            "of deadlock."
        )
    if result.simulated is not None and result.simulated.note is not None:
        lines.append(f"Simulation: {result.simulated.note}")
    if result.found.interrupted:
        lines.append("Interrupted: the best mapping found by then.")
    return lines
