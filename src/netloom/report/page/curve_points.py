"""Points of curves from tables of answers: means over seeds, and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from netloom.questions.curve_kind import CurveKind
    from netloom.questions.recorded import Recorded

RUNS = {
    "load": float, "latency": float, "half": float, "accepted": float, "stable": bool,
    "seed": int, "cycles": int, "idle": float,
}  # fmt: skip
"""Columns of single runs."""

POINTS = {
    "load": float, "latency": float, "low": float, "high": float, "accepted": float,
    "accepted_low": float, "accepted_high": float, "runs": int, "behind": int,
}  # fmt: skip
"""Columns of points: means of the runs at one load, and how many of these fell behind."""


def runs_of(record: Recorded, kind: CurveKind, technique: str) -> Iterator[dict[str, Any]]:
    """Yield the points of one technique of an answer, whatever its columns are called."""
    table = record.tables["table"]
    if "switching" in table.columns:
        table = table.filter(table["switching"] == technique)
    for row in table.iter_rows(named=True):
        says = kind.stable.lstrip("-")
        stable = True if not says else bool(row[says]) != kind.stable.startswith("-")
        yield {
            "load": row[kind.load],
            "latency": row[kind.latency] if stable else None,
            "half": row[kind.half_width] if kind.half_width else None,
            "accepted": row[kind.accepted] if kind.accepted else None,
            "stable": stable,
            "seed": row.get("seed", record.figures["provenance"]["seed"]),
            "cycles": row.get("cycles"),
            "idle": row[kind.idle] if kind.idle in row else record.figures[kind.idle],
        }


def point_of(group: pl.DataFrame) -> dict[str, Any]:
    """Return the mean of the runs at one load, and its 95 % interval.

    Several runs: Student's t over their means. A single one: its own interval, of batch means.
    If some of the runs fell behind, the latency is the mean of the others. It has no interval then:
    those others are no random choice, and with all of them the mean would be higher.
    """
    from scipy.special import stdtrit

    load, runs = group["load"][0], len(group)
    behind = int((~group["stable"]).sum())
    latency, low, high = None, None, None
    known = group["latency"].drop_nulls().to_numpy()
    if len(known) and len(known) + behind == runs:
        latency = float(known.mean())
        half = group["half"][0] if runs == 1 else spread(known, stdtrit)
        if half is not None and not behind:
            low, high = latency - half, latency + half
    accepted = group["accepted"].drop_nulls().to_numpy()
    mean = float(accepted.mean()) if len(accepted) else None
    around = spread(accepted, stdtrit) if mean is not None and len(accepted) > 1 else None
    return {
        "load": load, "latency": latency, "low": low, "high": high, "accepted": mean,
        "accepted_low": mean - around if mean is not None and around is not None else None,
        "accepted_high": mean + around if mean is not None and around is not None else None,
        "runs": runs, "behind": behind,
    }  # fmt: skip


def runs_said(point: Mapping[str, Any]) -> str:
    """Return how many runs a latency is the mean of: those that did not saturate.

    Examples
    --------
    >>> runs_said({"runs": 3, "behind": 0}), runs_said({"runs": 3, "behind": 1})
    ('3', '2 of 3')
    """
    kept = point["runs"] - point["behind"]
    return f"{kept} of {point['runs']}" if point["behind"] else str(kept)


def spread(values: Any, quantile: Any) -> float:
    """Return half of the 95 % interval of the mean of independent values; 0 of a single one."""
    many = len(values)
    if many < 2:
        return 0.0
    return float(quantile(many - 1, 0.975) * values.std(ddof=1) / np.sqrt(many))
