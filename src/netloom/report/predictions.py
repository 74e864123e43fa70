"""The pictures of what models say, and of what simulation says beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.predict.locality.answer import PARTS
from netloom.report.colours import COLOURS, GREY
from netloom.report.frame import framed
from netloom.report.network import channels_chart
from netloom.words import counted

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from netloom.questions.recorded import Recorded
    from netloom.report.frame import Part

WIDTH, HEIGHT = 430, 320

MOST_TIMES = 6
"""Times the latency of an idle network, up to which a curve is drawn if nothing else is higher."""

MODEL, SIMULATED = "model", "simulated, ± 95 %"


def torus_broadcast_chart(record: Recorded) -> alt.HConcatChart:
    """Return latency by rate beside how many VCs are held; of one rate, what they are made of."""
    found = record.figures
    words = [
        f"adaptive routing, {found['vcs']} VCs; messages of {found['message_flits']:g} flits, "
        f"{found['broadcast']:.3g} of them broadcast; {found['variant']} model",
        f"{found['zero_load_latency']:.4g} cycles unhindered, saturates at "
        f"{found['saturation_rate']:.4g} messages/node/cycle",
    ]
    return framed(list(torus_broadcast_parts(record).values()), found["topology"], words)


def torus_broadcast_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a torus with broadcasts, by name."""
    found, table, held = record.figures, record.tables["table"], record.tables["held_vcs"]
    if not record.several:
        made = _made_of(table, found["startup_cycles"])
        return {"latency": made, "held VCs": _held_at_once(held)}
    axis, marks = "messages/node/cycle", {"saturates": found["saturation_rate"]}
    curve = _curve(table, "rate", axis, marks, found["zero_load_latency"])
    return {"latency": curve, "held VCs": _held(held, axis)}


def latency_chart(record: Recorded) -> alt.HConcatChart:
    """Return latency by load, beside the channels at the highest load that they can carry."""
    found, bound = record.figures, record.figures["throughput_bound"]
    router, mapping = found["router"], found["mapping"]
    mapped = "" if mapping is None else f", mapping {mapping}"
    low, high = found["saturation_range"]
    return framed(
        list(latency_parts(record).values()),
        f"{found['traffic']} on {found['topology']}{mapped}",
        [
            f"{found['routing']}, {router['name']} router, {counted(router['vcs'], 'VC')} of "
            f"{router['buffer_flits']} flits, packets of {found['packet_flits']} flits",
            f"channels: at offered traffic {_carried(record):.3g}; limit {bound['load']:.4g} by "
            f"{bound['limited_by']}",
            f"saturates at {found['saturation_offered']:.4g} "
            f"({low:.4g} to {high:.4g}) by {found['saturation_limit']['where']}",
            *found["flags"],
        ],
    )


def latency_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a predicted latency, by name."""
    found, table = record.figures, record.tables["table"]
    if record.several:
        axis, saturation = "offered traffic, flits/node/cycle", found["saturation_offered"]
        marks = {"saturates": saturation, "limit": found["throughput_bound"]["load"]}
        if marks["limit"] > 1.3 * max(saturation, float(table["offered"].max())):  # type: ignore[arg-type]
            del marks["limit"]
        left: Part = _curve(table, "offered", axis, marks, found["zero_load_latency"])
    else:
        left = _made_of(table)
    channels = record.tables["channels"].filter(offered=_carried(record))
    drawn = channels_chart(record, channels, "utilisation", "flits/cycle on the channel")
    return {"latency": left, "channels": drawn}


def _carried(record: Recorded) -> float:
    """Return the highest load with a steady state; the lowest where none has one."""
    table = record.tables["table"]
    steady = table.filter(saturated=False)["offered"]
    load: float = steady[-1] if len(steady) else table["offered"][0]
    return load


def locality_chart(record: Recorded) -> alt.HConcatChart:
    """Return the parts of the time between transactions by mapping; of several sizes, gains."""
    found = record.figures
    words = [
        f"contexts a processor: {found['contexts']:g}; network clock over the processors': "
        f"{found['network_speed']:g}"
    ]
    if record.several:
        words.append("ideal: all messages go one hop")
    else:
        words.append(f"gain of the ideal mapping over a random one: {found['gain']:.3g}")
    return framed(list(locality_parts(record).values()), f"Locality, {found['name']}", words)


def locality_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of what locality is worth, by name."""
    table = record.tables["table"]
    if not record.several:
        return {"time": _between_transactions(table)}
    limit = record.figures["per_hop_limit"]
    return {"gain": _gains(table), "latency of a hop": _per_hop(table, limit)}


def wiring_chart(record: Recorded) -> alt.HConcatChart:
    """Return a mesh's bandwidth over a hypercube's, and its speed-up, by size and delay."""
    return framed(
        list(wiring_parts(record).values()),
        "A mesh against a hypercube that is wired as densely",
        [f"{record.figures['form']} forms; L / H: length of a message over its header's"],
    )


def wiring_parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a mesh against a hypercube, by name."""
    import altair as alt

    colour = alt.Color(
        "delay:N",
        title="delay of wires",
        scale=alt.Scale(domain=["constant", "logarithmic", "linear"], range=COLOURS[:3]),
    )
    base = alt.Chart(record.tables["table"]).mark_line(
        point=alt.OverlayMarkDef(size=36), strokeWidth=2.2
    )
    bandwidth = base.encode(
        x=_nodes(),
        y=_ratio("channel_bandwidth_ratio", "mesh over hypercube"),
        color=colour,
        tooltip=["nodes:Q", "delay:N", "channel_bandwidth_ratio:Q"],
    )
    speedup = base.encode(
        x=_nodes(),
        y=_ratio("speedup", "times sooner on the mesh"),
        color=colour,
        strokeDash=alt.StrokeDash(
            "message_headers:N",
            title="L / H",
            legend=alt.Legend(symbolType="stroke", symbolStrokeColor=GREY, symbolStrokeWidth=2),
        ),
        tooltip=["nodes:Q", "delay:N", "message_headers:Q", "speedup:Q"],
    )
    distance = record.figures["distance"]
    return {
        "bandwidth": bandwidth.properties(
            width=WIDTH, height=HEIGHT, title="Bandwidth of a channel"
        ),
        "speed-up": speedup.properties(
            width=WIDTH, height=HEIGHT, title=f"Messages, {distance} distance"
        ),
    }


def _curve(
    table: pl.DataFrame, by: str, axis: str, marks: dict[str, float], idle: float
) -> alt.LayerChart:
    """Latency by rate: the model's, its part in the network, and simulated points."""
    import altair as alt
    import polars as pl

    half = pl.col("simulated_ci95").fill_null(0)
    measured = table.drop_nulls("simulated_latency").with_columns(
        low=pl.col("simulated_latency") - half,
        high=pl.col("simulated_latency") + half,
        of=pl.lit(SIMULATED),
    )
    known = table.drop_nulls("latency").with_columns(of=pl.lit(MODEL))
    highest: Any = known["latency"].max() or idle
    top: Any = max(min(highest, MOST_TIMES * idle), measured["simulated_latency"].max() or 0)
    y_scale = alt.Scale(domain=[0, 1.05 * top], nice=False)
    x = alt.X(f"{by}:Q", title=axis, scale=alt.Scale(zero=True))
    y = alt.Y("latency:Q", title="latency, cycles", scale=y_scale)
    names = [MODEL, SIMULATED] if measured.height else [MODEL]
    legend = alt.Legend(orient="top-left", title=None, symbolOpacity=1)
    colour = alt.Color(
        "of:N",
        scale=alt.Scale(domain=names, range=COLOURS[: len(names)]),
        legend=legend if measured.height else None,
    )
    line = alt.Chart(known).mark_line(strokeWidth=2.2, clip=True)
    layers: list[alt.Chart] = []
    if "latency_low" in known.columns:
        area = alt.Chart(known).mark_area(opacity=0.15, clip=True)
        expected = alt.Y("latency_low:Q", scale=y_scale, title="latency, cycles")
        layers.append(area.encode(x=x, y=expected, y2="latency_high:Q", color=colour))
    layers += [
        line.encode(x=x, y=y, color=colour, tooltip=[f"{by}:Q", "latency:Q"]),
        alt.Chart(known)
        .mark_line(strokeWidth=1.3, strokeDash=[5, 3], clip=True)
        .encode(x=x, y=alt.Y("network_latency:Q", scale=y_scale), color=colour),
        alt.Chart(pl.DataFrame({"latency": [idle]}))
        .mark_rule(strokeDash=[2, 3], color=GREY)
        .encode(y="latency:Q"),
        *_rules(marks, by),
    ]
    if measured.height:
        points = alt.Chart(measured)
        layers += [
            points.mark_rule(strokeWidth=1.4, clip=True).encode(
                x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q", color=colour
            ),
            points.mark_point(filled=True, size=44, opacity=1, clip=True).encode(
                x=x,
                y=alt.Y("simulated_latency:Q", scale=y_scale),
                color=colour,
                tooltip=[f"{by}:Q", "simulated_latency:Q", "simulated_ci95:Q", "error:Q"],
            ),
        ]
    title = "Latency; dashed: in the network; dotted: unhindered"
    if "latency_low" in known.columns:
        title += "; shaded: nine of ten"
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=WIDTH, height=HEIGHT, title=title
    )
    return chart


def _rules(marks: dict[str, float], by: str) -> list[alt.Chart]:
    """Vertical lines where the network saturates and where none could go on, named to each side."""
    import altair as alt
    import polars as pl

    layers: list[alt.Chart] = []
    for place, (what, value) in enumerate(marks.items()):
        base = alt.Chart(pl.DataFrame({by: [value], "what": [what]})).encode(x=f"{by}:Q")
        left = place == 0
        words = base.mark_text(
            angle=270, align="right", color=GREY, dx=-4,
            baseline="bottom" if left else "top", dy=-3 if left else 3,
        )  # fmt: skip
        layers += [
            base.mark_rule(color=GREY, strokeDash=[6, 3]),
            words.encode(y=alt.value(0), text="what:N"),
        ]
    return layers


def _made_of(table: pl.DataFrame, startup_cycles: float = 0.0) -> alt.Chart:
    """The parts of one latency; nothing where it is saturated."""
    import altair as alt
    import polars as pl

    point = table.row(0, named=True)
    names = {"network_latency": "in the network", "source_wait": "in the source queue"}
    rows = [{"where": names[name], "cycles": point[name] or 0.0} for name in names]
    if startup_cycles and not point["saturated"]:
        names["startup"] = "starting up"
        rows.append({"where": names["startup"], "cycles": startup_cycles})
    title = "Where a message's time goes"
    if point["latency"] is None:
        title = "Saturated: no latency" if point["saturated"] else "No latency: simulate the knee"
    bars: alt.Chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_bar(color=COLOURS[1])
        .encode(
            x=alt.X("where:N", title=None, sort=list(names.values()), axis=alt.Axis(labelAngle=0)),
            y=alt.Y("cycles:Q", title="cycles", scale=alt.Scale(domainMin=0)),
            tooltip=["where:N", "cycles:Q"],
        )
        .properties(width=WIDTH // 2, height=HEIGHT, title=title)
    )
    return bars


def _in_percent(held: pl.DataFrame) -> pl.DataFrame:
    """One row a rate and number of VCs that are held, as a word."""
    import polars as pl

    share = 100 * pl.col("probability")
    return held.select("rate", pl.col("held").cast(pl.String), share.alias("share"))


def _held_at_once(held: pl.DataFrame) -> alt.Chart:
    import altair as alt

    bars: alt.Chart = (
        alt.Chart(_in_percent(held))
        .mark_bar(color=COLOURS[0])
        .encode(
            x=alt.X("held:O", title="VCs of a channel that are held", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="% of the time"),
            tooltip=["held:O", "share:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT, title="How full the channels are")
    )
    return bars


def _held(held: pl.DataFrame, axis: str) -> alt.Chart:
    """How often 0, 1 … V virtual channels are held, by rate."""
    import altair as alt

    areas: alt.Chart = (
        alt.Chart(_in_percent(held))
        .mark_area(opacity=0.85)
        .encode(
            x=alt.X("rate:Q", title=axis, scale=alt.Scale(zero=True)),
            y=alt.Y("share:Q", stack="zero", title="% of the time", scale=alt.Scale(domainMax=100)),
            color=alt.Color("held:O", title="VCs held", scale=alt.Scale(scheme="orangered")),
            order=alt.Order("held:O"),
            tooltip=["rate:Q", "held:O", "share:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT, title="How many VCs of a channel are held")
    )
    return areas


def _between_transactions(table: pl.DataFrame) -> alt.Chart:
    """The time between transactions by mapping: Johnson 1992, figure 8."""
    import altair as alt
    import polars as pl

    parts = {
        f"{part}_cycles": name for part, name in PARTS.items() if table[f"{part}_cycles"].max()
    }
    order = list(parts.values())
    tidy = (
        table.rename(parts)
        .unpivot(order, index="mapping", variable_name="part", value_name="cycles")
        .with_columns(rank=pl.col("part").replace_strict(order, range(len(order))))
    )
    bars: alt.Chart = (
        alt.Chart(tidy)
        .mark_bar()
        .encode(
            x=alt.X(
                "mapping:N",
                title=None,
                sort=table["mapping"].to_list(),
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y("cycles:Q", title="network cycles between transactions"),
            color=alt.Color(
                "part:N", title=None, scale=alt.Scale(domain=order, range=COLOURS[: len(order)])
            ),
            order=alt.Order("rank:Q", sort="descending"),
            tooltip=["mapping:N", "part:N", "cycles:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT, title="Between two transactions of a processor")
    )
    return bars


def _gains(table: pl.DataFrame) -> alt.Chart:
    """Gain over a random mapping, by size."""
    import altair as alt
    import polars as pl

    lines: alt.Chart = (
        alt.Chart(table.filter(pl.col("mapping") != "random"))
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=_nodes(),
            y=_ratio("gain_of_mapping", "transactions, times those of a random mapping"),
            color=alt.Color("mapping:N", title=None, scale=alt.Scale(range=COLOURS)),
            tooltip=["mapping:N", "nodes:Q", "gain_of_mapping:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT, title="What a mapping is worth")
    )
    return lines


def _per_hop(table: pl.DataFrame, limit: float) -> alt.LayerChart:
    """Latency of a hop by size, and its limit: Johnson 1992, figure 6."""
    import altair as alt
    import polars as pl

    lines = (
        alt.Chart(table)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=_nodes(),
            y=alt.Y("per_hop_latency:Q", title="latency of a hop, network cycles"),
            color=alt.Color("mapping:N", title=None, scale=alt.Scale(range=COLOURS)),
            tooltip=["mapping:N", "nodes:Q", "per_hop_latency:Q"],
        )
    )
    most = pl.DataFrame({"per_hop_latency": [limit]})
    rule = alt.Chart(most).mark_rule(strokeDash=[2, 3], color=GREY).encode(y="per_hop_latency:Q")
    chart: alt.LayerChart = alt.LayerChart(layer=[rule, lines]).properties(
        width=WIDTH, height=HEIGHT, title="Latency of a hop; dotted: what it tends to"
    )
    return chart


def _nodes() -> alt.X:
    import altair as alt

    scale = alt.Scale(type="log", nice=False)
    return alt.X("nodes:Q", title="nodes", scale=scale, axis=alt.Axis(format="~s"))


def _ratio(field: str, title: str) -> alt.Y:
    import altair as alt

    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log", nice=False))
