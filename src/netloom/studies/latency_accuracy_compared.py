"""The model ``channel_queueing`` beside the simulations of ``latency_accuracy_simulated``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.models.channel_accuracy import KINDS, PARTS, Band, router_kind
from netloom.models.channel_queueing import predict_channels
from netloom.questions.predict.latency.question import predicted_network
from netloom.studies.latency_accuracy_simulated import asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from netloom.studies.model_accuracy_kept import Case

SHARE = 0.9
"""Of the errors, how many are within a band."""


def compare(cases: Sequence[Case], found: Sequence[dict[str, Any] | None]) -> pl.DataFrame:
    """Return one row a configuration and figure: simulated, predicted and the error.

    ``figure`` is ``idle`` or ``latency`` (cycles) or ``saturation`` (flits/node/cycle). ``part``:
    of the simulated saturation, ``own``: of the predicted one. ``error`` is relative, and null with
    ``predicted`` where the model has no steady state.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for number, (case, seen) in enumerate(zip(cases, found, strict=True)):
        if seen is not None:
            rows += _rows(number, case, seen)
    table = pl.DataFrame(rows, infer_schema_length=None)
    if not rows:
        return table
    return table.with_columns(pl.col("predicted").cast(pl.Float64).fill_nan(None)).with_columns(
        error=pl.col("predicted") / pl.col("simulated") - 1
    )


def _rows(number: int, case: Case, seen: dict[str, Any]) -> Iterable[dict[str, Any]]:
    network = predicted_network(**asked(case))
    traffic = case["traffic"]
    said = traffic.get("name", "") + (" mapped at random" if traffic.get("mapping") else "")
    fields = ("on", "router", "switching", "vcs", "buffer_flits", "packet_flits", "channel_cycles")
    name = {
        "drawn": case["part"], "number": number, **{field: case[field] for field in fields},
        "traffic": said or traffic["kind"],
        "kind": router_kind(network.prepared.router, case["packet_flits"]),
        "limit": network.limit.what, "flags": len(network.flags),
        "few_targets": any(" others on average" in flag for flag in network.flags),
        "one_vc_a_class": any("of each class" in flag for flag in network.flags),
    }  # fmt: skip

    def row(figure: str, simulated: float, predicted: float, **more: float) -> dict[str, Any]:
        none = {"part": None, "own": None, "ci95": None}
        figures = {"figure": figure, "simulated": simulated, "predicted": predicted}
        return name | none | figures | more

    yield row("saturation", seen["saturation"], network.saturation)
    idle = predict_channels(network.prepared, 0.0).latency
    yield row("idle", seen["idle"], idle)
    for point in seen["points"]:
        if point["latency"] is not None:
            latency = predict_channels(network.prepared, point["load"]).latency
            of_own = point["load"] / network.saturation
            yield row("latency", point["latency"], latency, part=point["part"], own=of_own,
                      ci95=point["ci95"])  # fmt: skip


def band_of(errors: Iterable[float | None]) -> Band:
    """Return what errors come to; those without a prediction are left out.

    Examples
    --------
    >>> band_of([0.1, -0.2, None]).rms
    0.158...
    """
    known = np.array([error for error in errors if error is not None])
    if not len(known):
        return Band(0, *[float("nan")] * 5)
    within = float(np.quantile(np.abs(known), SHARE, method="higher"))
    return Band(len(known), float(known.mean()), float(np.sqrt((known**2).mean())), within,
                float(known.min()), float(known.max()))  # fmt: skip


def bands(table: pl.DataFrame) -> dict[str, Any]:
    """Return the errors by kind of router, and by load: the ``kinds`` of the model's data."""
    import polars as pl

    found: dict[str, Any] = {}
    for kind in KINDS:
        of = table.filter(pl.col("kind") == kind)
        latencies, low = [], -1.0
        for most in PARTS:
            inside = of.filter(figure="latency").filter(
                (pl.col("own") > low) & (pl.col("own") <= most)
            )
            latencies.append(_rounded(band_of(inside["error"])))
            low = most
        saturation = _rounded(band_of(of.filter(figure="saturation")["error"]))
        found[kind] = {"saturation": saturation, "latency": latencies}
    return found


def _rounded(band: Band) -> dict[str, Any]:
    return {
        name: value if isinstance(value, int) else round(value, 4)
        for name, value in band._asdict().items()
    }
