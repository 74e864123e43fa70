"""The pictures of programs that drive a network and wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.report.frame import framed
from netloom.report.load_curve import COLOURS, GREY
from netloom.report.network import network_chart

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from netloom.verbs import (
        BroadcastSimulation,
        LoopSimulation,
        PatternSimulation,
        TraceReplay,
        TransactionSimulation,
    )

AVERAGE, WORST = "average node", "worst node"
ON_CHANNEL = "flits/cycle on the channel"
APPLIED, ACTUAL = "applied traffic, flits/node/cycle", "actual traffic, flits/node/cycle"


def loop_chart(result: LoopSimulation) -> alt.HConcatChart:
    """Return actual by applied traffic, beside the channels' use at the highest of them."""
    import altair as alt
    import polars as pl

    curve = _actual(result.table().drop_nulls("average_node"), max(result.asked))
    title = "Actual traffic by applied"
    if result.limit is not None:
        values = [result.limit.average_node, result.limit.worst_node]
        known = pl.DataFrame({"node": [AVERAGE, WORST], "actual": values})
        most = max(result.asked)
        limits = (
            alt.Chart(known.filter(pl.col("actual") < most))
            .mark_rule(strokeDash=[6, 3], strokeWidth=1.2)
            .encode(y="actual:Q", color=_node())
        )
        curve = alt.LayerChart(layer=[curve, limits])
        title += "; dashed: saturation by static analysis"
    last = result.points[-1]
    return framed(
        [
            curve.properties(width=430, height=320, title=title),
            network_chart(result.network.topology, last.channel_flits, ON_CHANNEL),
        ],
        f"{result.program} on {result.network.topology.name}, mapping {result.mapping}",
        [
            f"messages of {result.message_flits} flits, each waited for; "
            f"{result.network.routing_name}, {result.network.router_name}",
            f"channels: at applied traffic {last.applied:.3g}",
        ],
    )


def pattern_chart(result: PatternSimulation) -> alt.HConcatChart:
    """Return actual by applied traffic, and what contention adds to a message."""
    import altair as alt

    table = result.table()
    slowdown = (
        alt.Chart(table)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=_x("applied", "applied traffic, share of a channel"),
            y=alt.Y(
                "slowdown_max:Q",
                title="worst node: message without start-up, times βL",
                scale=alt.Scale(zero=False),
            ),
            color=alt.Color("message_bytes:N", title="bytes", scale=alt.Scale(range=COLOURS)),
        )
    )
    actual = _actual(table, float(table["applied"].max()))  # type: ignore[arg-type]
    return framed(
        [
            actual.properties(width=430, height=320, title="Actual traffic by applied"),
            slowdown.properties(width=430, height=320, title="What contention adds"),
        ],
        f"{result.pattern} on {result.network.topology.name}",
        [f"{len(result.nodes)} nodes take part; {result.network.router_name}"],
    )


def transaction_chart(result: TransactionSimulation) -> alt.HConcatChart:
    """Return where a context's time goes, beside the channels' use."""
    import altair as alt
    import polars as pl

    found = result.found
    parts = pl.DataFrame(
        {
            "part": ["computation", "waiting for the transaction"],
            "cycles": [float(result.run_cycles), found.transaction_latency],
        }
    )
    bars = (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("cycles:Q", title="cycles of a context, from transaction to transaction"),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            color=alt.Color("part:N", scale=alt.Scale(range=COLOURS[1::-1]), legend=None),
        )
        .properties(width=380, height=110, title="Where a context's time goes")
    )
    return framed(
        [bars, network_chart(result.network.topology, result.channel_flits, ON_CHANNEL)],
        f"Transactions of {result.program} on {result.network.topology.name}",
        [
            f"{result.contexts} contexts a node; a transaction every "
            f"{found.inter_transaction_cycles:.4g} cycles a node; messages take "
            f"{found.message_latency:.4g} cycles",
            f"average distance {result.distance:.3g}; {result.network.router_name}",
        ],
    )


def replay_chart(result: TraceReplay) -> alt.HConcatChart:
    """Return what the critical path is made of, beside the channels' use."""
    import altair as alt
    import polars as pl

    path = result.to_dict()["critical_path"] or {}
    names = {
        "computation": "compute_cycles",
        "waiting for a processor": "processor_wait_cycles",
        "messages": "message_cycles",
        "contention": "contention_cycles",
        "receiving": "receive_cycles",
    }
    parts = pl.DataFrame(
        {"part": list(names), "cycles": [path.get(name, 0) for name in names.values()]}
    )
    bars = (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("cycles:Q", title="cycles of the critical path"),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            color=alt.condition(
                alt.datum.part == "contention", alt.value(COLOURS[0]), alt.value(COLOURS[1])
            ),
            tooltip=["part:N", "cycles:Q"],
        )
        .properties(width=380, height=200, title="What the finish time is made of")
    )
    used = result.channels().sort("channel")["utilisation"].to_numpy()
    finish, ideal = result.finish_cycles, result.ideal_finish_cycles
    words = "not finished" if finish is None else f"finished in {finish:,} cycles"
    words += "" if ideal is None else f"; {ideal:,} if no message met another"
    return framed(
        [bars, network_chart(result.network.topology, used, ON_CHANNEL)],
        f"{result.trace.name} on {result.network.topology.name}, mapping {result.mapping}",
        [words, f"{result.network.routing_name}, {result.network.router_name}"],
    )


def broadcast_chart(result: BroadcastSimulation) -> alt.HConcatChart:
    """Return latencies of unicasts and broadcasts by rate, beside the channels' use."""
    import altair as alt

    columns = {"unicast_latency_mean": "unicast", "broadcast_latency_mean": "to the last target"}
    tidy = (
        result.table()
        .rename(columns)
        .unpivot(list(columns.values()), index="rate", variable_name="of", value_name="latency")
        .drop_nulls("latency")
    )
    lines = (
        alt.Chart(tidy)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=_x("rate", "messages/node/cycle"),
            y=alt.Y("latency:Q", title="mean latency, cycles"),
            color=alt.Color("of:N", title=None, scale=alt.Scale(range=COLOURS[1::-1])),
            tooltip=["of:N", "rate:Q", "latency:Q"],
        )
        .properties(width=430, height=320, title="Latency of unicasts and of broadcasts")
    )
    last = result.points[-1]
    return framed(
        [
            lines,
            network_chart(result.network.topology, last.channel_utilisation, ON_CHANNEL),
        ],
        f"{result.traffic.name} with {result.broadcast:.3g} broadcasts on "
        f"{result.network.topology.name}",
        [
            f"{result.tree} trees, messages of {result.lengths.name} flits; "
            f"{result.network.routing_name}, {result.network.router_name}",
            f"channels: at {last.rate:.3g} messages/node/cycle",
        ],
    )


def _actual(table: pl.DataFrame, most: float) -> alt.LayerChart:
    """Actual traffic of the average and the worst node by applied traffic."""
    import altair as alt
    import polars as pl

    tidy = table.rename({"average_node": AVERAGE, "worst_node": WORST}).unpivot(
        [AVERAGE, WORST],
        index=["applied", *(["message_bytes"] if "message_bytes" in table.columns else [])],
        variable_name="node",
        value_name="actual",
    )
    lines = (
        alt.Chart(tidy)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=_x("applied", APPLIED),
            y=alt.Y("actual:Q", title=ACTUAL),
            color=_node(),
            tooltip=["node:N", "applied:Q", "actual:Q"],
        )
    )
    if "message_bytes" in table.columns:
        dash = alt.Legend(symbolType="stroke", symbolStrokeColor="black")
        lines = lines.encode(
            strokeDash=alt.StrokeDash("message_bytes:N", title="bytes, at left", legend=dash)
        )
    diagonal = (
        alt.Chart(pl.DataFrame({"applied": [0.0, most], "actual": [0.0, most]}))
        .mark_line(color=GREY, strokeDash=[2, 3])
        .encode(x="applied:Q", y="actual:Q")
    )
    both: alt.LayerChart = alt.LayerChart(layer=[diagonal, lines])
    return both


def _node() -> alt.Color:
    import altair as alt

    return alt.Color(
        "node:N", scale=alt.Scale(domain=[AVERAGE, WORST], range=COLOURS[1::-1]), title=None
    )


def _x(field: str, title: str) -> alt.X:
    import altair as alt

    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=True))
