"""How loads that a model was asked about are points of a curve."""

from __future__ import annotations

from netloom.questions.curve_kind import CurveKind, in_figures
from netloom.questions.simulate.load.curve import OFFERED

CURVE = CurveKind(
    OFFERED, "offered", "latency", "zero_load_latency", stable="-saturated", model=True,
    besides=("offered", "simulate"), found=in_figures("saturation_offered"),
)  # fmt: skip
