"""How simulated loops are points of a curve."""

from __future__ import annotations

from functools import partial

from netloom.questions.curve_kind import Axes, CurveKind
from netloom.questions.numbers import parse_numbers

LEVELS = partial(parse_numbers, below_one=True)

APPLIED = Axes(
    "applied traffic, flits/node/cycle", "message latency", "cycles",
    "accepted traffic, flits/node/cycle", open=False,
)  # fmt: skip

CURVE = CurveKind(
    APPLIED, "applied", "message_latency", "unhindered_latency", accepted="accepted",
    besides=("applied", "alone", "loops", "skip"),
)  # fmt: skip
