"""The picture of a model of locality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.drawing.bars import Bar, stacked
from netloom.drawing.colours import BEST, OTHERS, REFERENCE, THIS
from netloom.drawing.frame import column
from netloom.drawing.panel import AFTER, DASHES, Look, looks_of
from netloom.questions.predict.drawn import lines_by, nodes_axis, ratio_axis
from netloom_papers.questions.predict.locality.answer import PARTS
from netloom_papers.questions.predict.locality.verdict import whose

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

PART_COLOURS = [THIS, BEST, *OTHERS, REFERENCE]

KNOWN = {"ideal": AFTER, "random": Look(REFERENCE, (6, 4))}
"""How the best mapping and random ones look."""

WHOSE = {"ideal": "An ideal mapping", "random": "Random mappings"}


def footer(record: Recorded) -> list[str]:
    """Return what was asked about."""
    found = record.figures
    return [
        f"{found['name']}; {counted(number(found['contexts']), 'context')} per processor; network "
        f"clock {number(found['network_speed'])} times the processors'; ideal: all messages go one "
        "hop"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of what locality is worth, by name."""
    table = record.tables["table"]
    if not record.several:
        return {"time": _between_transactions(table)}
    limit = record.figures["per_hop_limit"]
    return {"gain": _gains(table), "latency of a hop": _per_hop(table, limit)}


def _between_transactions(table: pl.DataFrame) -> alt.VConcatChart:
    """The time between transactions by mapping: Johnson 1992, figure 8."""
    parts = {f"{part}_cycles": name for part, name in PARTS.items()}
    whole = float(table["inter_transaction_cycles"].max() or 1.0)  # type: ignore[arg-type]
    drawn = []
    for row in table.iter_rows(named=True):
        rows = [
            Bar(name, row[part], number(row[part]), PART_COLOURS[at % len(PART_COLOURS)])
            for at, (part, name) in enumerate(parts.items())
        ]
        total = number(row["inter_transaction_cycles"])
        said = f"{WHOSE.get(row['mapping']) or whose(row['mapping'])}: a transaction every {total}"
        unit = "cycles of the network between transactions"
        drawn.append(stacked(rows, f"{said} cycles", unit, width=560, whole=whole))
    return column(*drawn)


def _gains(table: pl.DataFrame) -> alt.LayerChart:
    """Gain over a random mapping, by size."""
    mine = table.filter(pl.col("mapping") != "random")
    y = ratio_axis("gain_of_mapping", "gain over random mappings (times)",
                   [1.0, *mine["gain_of_mapping"].to_list()])  # fmt: skip
    last = mine.filter(mapping="ideal").sort("nodes").row(-1, named=True)
    said = f"An ideal mapping gains {number(last['gain_of_mapping'])} times at "
    said += counted(last["nodes"], "node", ",")
    return lines_by(mine, nodes_axis(mine), y, "mapping", _looks(mine), said)


def _per_hop(table: pl.DataFrame, limit: float) -> alt.LayerChart:
    """Latency of a hop by size, and its limit: Johnson 1992, figure 6."""
    y = axis("per_hop_latency", "latency of a hop (cycles of the network)",
             [*table["per_hop_latency"].to_list(), limit], whole=False)  # fmt: skip
    last = table.filter(mapping="random").sort("nodes")["per_hop_latency"]
    said = f"A hop under random mappings takes up to {number(last.max())} cycles"
    bound = (f"limit {number(limit)}", limit)
    return lines_by(table, nodes_axis(table), y, "mapping", _looks(table), said, bound)


def _looks(table: pl.DataFrame) -> dict[str, Look]:
    names = table["mapping"].unique(maintain_order=True).to_list()
    others = looks_of([name for name in names if name not in KNOWN])
    dashed = {name: look._replace(dash=DASHES[(at + 2) % len(DASHES)]) for at, (name, look) in
              enumerate(others.items())}  # fmt: skip
    return {name: KNOWN.get(name) or dashed[name] for name in names}
