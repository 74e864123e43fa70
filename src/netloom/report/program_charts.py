"""The pictures of programs that drive a network and wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.report.colours import COLOURS, GREY
from netloom.report.frame import framed
from netloom.report.network import at_last, channels_chart

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from netloom.questions.recorded import Recorded
    from netloom.report.frame import Part

AVERAGE, WORST = "average node", "worst node"
ON_CHANNEL = "flits/cycle on the channel"
APPLIED, ACTUAL = "applied traffic, flits/node/cycle", "actual traffic, flits/node/cycle"

WAITS = {
    "computation": "compute_cycles",
    "waiting for a processor": "processor_wait_cycles",
    "waiting for the source's channel": "source_wait_cycles",
    "messages": "message_cycles",
    "contention": "contention_cycles",
    "receiving": "receive_cycles",
}
"""What a critical path is made of, as a person says it, and as JSON does."""


def loop_chart(record: Recorded) -> alt.HConcatChart:
    """Return actual by applied traffic, beside the channels' use at the highest of them."""
    found = record.figures
    return framed(
        list(loop_parts(record).values()),
        f"{found['program']} on {found['topology']}, mapping {found['mapping']}",
        [
            f"messages of {found['message_flits']} flits, each waited for; {_switched(record)}",
            f"channels: at applied traffic {_highest(record, 'applied'):.3g}",
        ],
    )


def loop_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a program that goes round in loops, by name."""
    channels = channels_chart(record, at_last(record, "applied"), "utilisation", ON_CHANNEL)
    return {"traffic": loop_traffic(record), "channels": channels}


def loop_traffic(record: Recorded) -> alt.LayerChart:
    """Return actual by applied traffic of the average and the worst node, and their limits."""
    import altair as alt
    import polars as pl

    most, limit = max(record.figures["asked"]), record.figures["saturation"]
    curve = _actual(record.tables["table"].drop_nulls("average_node"), most)
    title = "Actual traffic by applied"
    if limit is not None:
        values = [limit["average_node"], limit["worst_node"]]
        known = pl.DataFrame({"node": [AVERAGE, WORST], "actual": values})
        limits = (
            alt.Chart(known.filter(pl.col("actual") < most))
            .mark_rule(strokeDash=[6, 3], strokeWidth=1.2)
            .encode(y="actual:Q", color=_node())
        )
        curve = alt.LayerChart(layer=[curve, limits])
        title += "; dashed: saturation by static analysis"
    drawn: alt.LayerChart = curve.properties(width=430, height=320, title=title)
    return drawn


def pattern_chart(record: Recorded) -> alt.HConcatChart:
    """Return actual by applied traffic, and what contention adds to a message."""
    found = record.figures
    return framed(
        list(pattern_parts(record).values()),
        f"{found['pattern']} on {found['topology']}",
        [f"nodes that take part: {found['active_nodes']}; {found['router']['name']}"],
    )


def pattern_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a pattern of messages, by name."""
    table = record.tables["table"]
    actual = _actual(table, float(table["applied"].max()))  # type: ignore[arg-type]
    actual = actual.properties(width=430, height=320, title="Actual traffic by applied")
    return {"traffic": actual, "slowdown": pattern_slowdown(record)}


def pattern_slowdown(record: Recorded) -> alt.Chart:
    """Return what contention adds to a message of a pattern, by applied traffic."""
    import altair as alt

    slowdown: alt.Chart = (
        alt.Chart(record.tables["table"])
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
        .properties(width=430, height=320, title="What contention adds")
    )
    return slowdown


def transaction_chart(record: Recorded) -> alt.HConcatChart:
    """Return where a context's time goes, beside the channels' use."""
    found = record.figures
    return framed(
        list(transaction_parts(record).values()),
        f"Transactions of {found['program']} on {found['topology']}",
        [
            f"{found['contexts']} contexts a node; a transaction every "
            f"{found['inter_transaction_cycles']:.4g} cycles a node; messages take "
            f"{found['message_latency']:.4g} cycles",
            f"average distance {found['distance']:.3g}; {found['router']['name']}",
        ],
    )


def transaction_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of transactions, by name."""
    channels = channels_chart(record, record.tables["channels"], "utilisation", ON_CHANNEL)
    return {"time": transaction_time(record), "channels": channels}


def transaction_time(record: Recorded) -> alt.Chart:
    """Return where a context's time goes, from transaction to transaction."""
    import altair as alt
    import polars as pl

    found = record.figures
    parts = pl.DataFrame(
        {
            "part": ["computation", "waiting for the transaction"],
            "cycles": [float(found["run_cycles"]), found["transaction_latency"]],
        }
    )
    bars: alt.Chart = (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("cycles:Q", title="cycles of a context, from transaction to transaction"),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            color=alt.Color("part:N", scale=alt.Scale(range=COLOURS[1::-1]), legend=None),
        )
        .properties(width=380, height=110, title="Where a context's time goes")
    )
    return bars


def replay_chart(record: Recorded) -> alt.HConcatChart:
    """Return what the critical path is made of, beside the channels' use."""
    found = record.figures
    finish, ideal = found["finish_cycles"], found["ideal_finish_cycles"]
    words = "not finished" if finish is None else f"finished in {finish:,} cycles"
    words += "" if ideal is None else f"; {ideal:,} if no message met another"
    return framed(
        list(replay_parts(record).values()),
        f"{found['trace']} on {found['topology']}, mapping {found['mapping']}",
        [words, _switched(record)],
    )


def replay_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a trace, by name."""
    channels = record.tables["channels"].sort("channel")  # the busiest come first there
    drawn = channels_chart(record, channels, "utilisation", ON_CHANNEL)
    return {"critical path": critical_path_made_of(record), "channels": drawn}


def critical_path_made_of(record: Recorded) -> alt.Chart:
    """Return what the critical path of a trace waited for."""
    import altair as alt
    import polars as pl

    path = record.figures["critical_path"] or {}
    parts = pl.DataFrame(
        {"part": list(WAITS), "cycles": [path.get(name, 0) for name in WAITS.values()]}
    )
    bars: alt.Chart = (
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
    return bars


def broadcast_chart(record: Recorded) -> alt.HConcatChart:
    """Return latencies of unicasts and broadcasts by rate, beside the channels' use."""
    found = record.figures
    return framed(
        list(broadcast_parts(record).values()),
        f"{found['traffic']} with {found['broadcast']:.3g} broadcasts on {found['topology']}",
        [
            f"{found['tree']} trees, messages of {found['packet_flits']['law']} flits; "
            f"{_switched(record)}",
            f"channels: at {_highest(record, 'rate'):.3g} messages/node/cycle",
        ],
    )


def broadcast_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of broadcasts, by name."""
    channels = channels_chart(record, at_last(record, "rate"), "utilisation", ON_CHANNEL)
    return {"latency": broadcast_latency(record), "channels": channels}


def broadcast_latency(record: Recorded) -> alt.Chart:
    """Return mean latencies of unicasts, and of broadcasts to their last target, by rate."""
    import altair as alt

    columns = {"unicast_latency_mean": "unicast", "broadcast_latency_mean": "to the last target"}
    tidy = (
        record.tables["table"]
        .rename(columns)
        .unpivot(list(columns.values()), index="rate", variable_name="of", value_name="latency")
        .drop_nulls("latency")
    )
    lines: alt.Chart = (
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
    return lines


def _switched(record: Recorded) -> str:
    return f"{record.figures['routing']}, {record.figures['router']['name']}"


def _highest(record: Recorded, load: str) -> float:
    """Return the load at which channels are shown."""
    highest: float = at_last(record, load)[load][0]
    return highest


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
        dash = alt.Legend(symbolType="stroke", symbolStrokeColor=GREY)
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
