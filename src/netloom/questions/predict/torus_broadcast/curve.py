"""How rates that the model of a torus was asked about are points of a curve."""

from __future__ import annotations

from netloom.questions.curve_kind import CurveKind, in_figures
from netloom.questions.predict.torus_broadcast.answer import ENDS_CYCLES
from netloom.questions.simulate.broadcast.curve import RATE

CURVE = CurveKind(
    RATE, "rate", "latency", "zero_load_latency", stable="-saturated", model=True,
    ends=ENDS_CYCLES, besides=("rate", "simulate", "k", "dimensions", "sides", "variant"),
    about={"traffic": "uniform", "routing": "adaptive"}, found=in_figures("saturation_rate"),
)  # fmt: skip
