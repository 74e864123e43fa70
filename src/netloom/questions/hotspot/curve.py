"""How rates of requests are points of a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.questions.curve_kind import Axes, CurveKind

if TYPE_CHECKING:
    from netloom.questions.recorded import Recorded

STEPS = Axes("rate, requests/PE/step", "round trip", "steps", "throughput, requests/PE/step")


def detail(record: Recorded, load: float, technique: str) -> Recorded | None:  # noqa: ARG001
    """Return an answer of one rate; the picture of several is of them all."""
    return None if record.several else record


CURVE = CurveKind(
    STEPS, "rate", "steps_mean", "unhindered_steps", "steps_ci95", "throughput", "stable",
    besides=("rate", "steps", "replications"), detail=detail,
)  # fmt: skip
