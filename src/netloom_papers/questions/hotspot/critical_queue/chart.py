"""The picture of critical queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.drawing.panel import DOTTED, End, ordered, panel
from netloom.questions.shown import percent

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.axes import Axis
    from netloom.drawing.frame import Part
    from netloom.drawing.panel import Look
    from netloom.questions.recorded import Recorded

SIZE = "queue size (packets)"
RISE = "longest queue, longer than if unbounded by"
UNBOUNDED = "unbounded"


def footer(record: Recorded) -> list[str]:
    """Return the network, and the sizes that suffice: one more than the critical ones."""
    found = record.figures
    suffice = [
        f"{counted(each['critical_queue'] + 1, 'packet')} at rate {number(each['rate'])}"
        for each in found["rates"]
        if each["critical_queue"] is not None
    ]
    return [
        f"{counted(found['hot_spots'], 'hot spot')} on omega:{found['pes']}; least sizes that "
        f"suffice: {', '.join(suffice) or 'none'}; rates in requests/PE/step"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of critical queues, by name."""
    table = record.tables["table"].sort("rate", "size")
    rates = table["rate"].unique(maintain_order=True).to_list()
    names = {rate: f"rate {number(rate)}" for rate in rates}
    table = table.with_columns(of=pl.col("rate").replace_strict(names, return_dtype=pl.String))
    looks = ordered(list(names.values()))
    sizes = axis("size", SIZE, table["size"].to_list(), whole=True)
    return {
        "rise": _rise(table, sizes, looks, record.figures["rise"]),
        "steps": _steps(table, sizes, looks),
    }


def _rise(table: pl.DataFrame, x: Axis, looks: dict[str, Look], least: float) -> alt.LayerChart:
    """Return by how much the queue of a stage is longer, by size of queues."""
    sized = table.drop_nulls(["size", "rise"])
    name = f"critical {percent(least)}"
    y = axis("rise", RISE, [*sized["rise"].to_list(), least], share=True, full=False)
    where = panel(x, y, [*looks, name])
    layers = [*where.across(least), *where.lines(sized, "of", looks)]
    layers += where.ends_of(sized, "of", looks, [End.of_bound(name, x.high, least)])
    return where.drawn(layers, _rise_said(sized, least))


def _rise_said(sized: pl.DataFrame, least: float) -> str:
    """Return the queues from which on the longest one is hardly longer, if there are any."""
    if sized.is_empty():
        return "No queue is known to be longer than if unbounded"
    tried = sized.select("size", "rise").rows()
    critical = max((size for size, rise in tried if rise >= least), default=0)
    enough = [size for size, _ in tried if size > critical]
    if enough:
        return f"Queues of {min(enough)} make the longest one less than {percent(least)} longer"
    size, rise = max(tried, key=lambda each: each[1])
    return f"Queues of {size} make the longest one {percent(rise)} longer"


def _steps(table: pl.DataFrame, x: Axis, looks: dict[str, Look]) -> alt.LayerChart:
    """Return the steps of a request by size of queues. Those of unbounded ones are lines across."""
    known = table.drop_nulls("steps_mean")
    y = axis("steps_mean", "mean steps of a request", known["steps_mean"].to_list(), zero=False,
             whole=False)  # fmt: skip
    sized, free = known.drop_nulls("size"), known.filter(pl.col("size").is_null())
    dotted = {name: look._replace(dash=DOTTED, width=1.2) for name, look in looks.items()}
    ends = pl.concat(free.with_columns(size=pl.lit(at)) for at in (x.low, x.high))
    where = panel(x, y, looks)
    layers = where.lines(ends, "of", dotted, points=0)
    layers += [*where.lines(sized, "of", looks), *where.ends_of(sized, "of", looks)]
    said = "No request was answered"
    if free.height and sized.height:
        last = sized.sort("rate", "size").row(-1, named=True)
        bare = free.sort("rate")["steps_mean"][-1]
        said = f"A request takes {number(last['steps_mean'])} steps in queues of "
        said += f"{last['size']:.0f}, {number(bare)} in unbounded ones (dotted)"
    return where.drawn(layers, said)
