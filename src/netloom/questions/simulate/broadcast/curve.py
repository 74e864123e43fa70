"""How simulated rates of messages are points of a curve."""

from __future__ import annotations

from netloom.questions.curve_kind import Axes, CurveKind

RATE = Axes(
    "rate, messages/node/cycle", "latency of unicast messages", "cycles",
    "accepted messages/node/cycle",
)  # fmt: skip

CURVE = CurveKind(
    RATE, "rate", "unicast_latency_mean", "zero_load_latency", "unicast_latency_ci95", "accepted",
    "stable", besides=("rate",),
)  # fmt: skip
