"""How simulated loops are points of a curve."""

from __future__ import annotations

from netloom.questions.curve_kind import Axes, CurveKind

APPLIED = Axes(
    "applied traffic, flits/node/cycle", "message latency", "cycles",
    "accepted traffic, flits/node/cycle", open=False,
)  # fmt: skip

CURVE = CurveKind(
    APPLIED, "applied", "message_latency", "unhindered_latency", accepted="accepted",
    besides=("applied", "alone", "loops", "skip"),
)  # fmt: skip
