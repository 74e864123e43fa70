"""What the figures of ``model_accuracy`` are drawn from: simulated points and the models' curves.

Shahrabi, Ould-Khaoua & Mackenzie's figure 1, and Johnson's figures 3 to 8. The latter three show
machines that are too large to simulate: beside the paper's, as ``models.alewife`` has them, are
those that were simulated, and the model of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.studies.johnson_model import figure_6, figure_7, figure_8
from netloom.studies.model_accuracy import DEFAULT_VARIANT, ESTIMATE
from netloom.studies.model_accuracy_torus import torus_curves

if TYPE_CHECKING:
    import polars as pl

    from netloom.studies.running import StudyResult

PARTS = ("variable_message", "fixed_message", "fixed_transaction", "work")


def figure_tables(result: StudyResult) -> dict[str, pl.DataFrame]:
    """Return the tables that ``report.model_accuracy.figures`` draws; those of no cases left out.

    ``figure 1`` (simulated latencies) and ``figure 1, curves``; ``figures 3 to 5``; ``figure 6``,
    ``figure 7``, ``figure 8``, whose column ``source`` is ``simulated``, ``model`` or ``paper's``.
    """
    import polars as pl

    found = {}
    torus, locality = result.tables["torus-broadcast"], result.tables["locality"]
    if len(torus):
        seen = torus.filter(figure="latency", variant=DEFAULT_VARIANT)
        found["figure 1"] = seen
        found["figure 1, curves"] = torus_curves(seen, (DEFAULT_VARIANT, "printed"))
    if len(locality):
        chosen = [
            locality.filter(protocol=protocol, estimate=estimate)
            for protocol, estimate in ESTIMATE.items()
        ]
        found["figures 3 to 5"] = pl.concat(chosen)
    sizes = result.tables["locality by size"]
    if len(sizes):
        found |= _by_size(sizes)
    return found


def _by_size(sizes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    import polars as pl

    source = pl.lit("paper's").alias("source")
    hops = sizes.filter(mapping="random").select(
        "nodes", "contexts", "source", value="per_hop_latency"
    )
    paper = figure_6().filter(grain=1).select(
        "nodes", pl.lit(2).alias("contexts"), source, value="per_hop_latency"
    )  # fmt: skip
    ideal = sizes.filter(mapping="identity").select(
        "nodes", "contexts", "source", ideal="inter_transaction_cycles"
    )
    gains = (
        sizes.filter(mapping="random")
        .join(ideal, on=["nodes", "contexts", "source"])
        .with_columns(value=pl.col("inter_transaction_cycles") / pl.col("ideal"))
        .select("nodes", "contexts", "source", "value")
    )
    largest = sizes.filter(pl.col("nodes") == pl.col("nodes").max())
    parts = (
        largest.select("mapping", "contexts", "source", *(f"{part}_cycles" for part in PARTS))
        .rename({f"{part}_cycles": part for part in PARTS})
        .unpivot(PARTS, index=["mapping", "contexts", "source"], variable_name="part",
                 value_name="cycles")
        .with_columns(pl.col("mapping").replace({"identity": "ideal"}))
    )  # fmt: skip
    columns = ["mapping", "contexts", "source", "part", "cycles"]
    printed = figure_8().with_columns(source).select(columns)
    return {
        "figure 6": _joined(hops, paper),
        "figure 7": _joined(gains, figure_7().rename({"gain": "value"}).with_columns(source)),
        "figure 8": _joined(parts.select(columns), printed),
    }


def _joined(*tables: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return pl.concat(tables, how="diagonal_relaxed")
