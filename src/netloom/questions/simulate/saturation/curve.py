"""How a search for saturation is a curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from netloom.questions.simulate.load.curve import CURVE as OF_LOADS
from netloom.questions.simulate.load.curve import point_at

if TYPE_CHECKING:
    from netloom.questions.recorded import Recorded


def found(record: Recorded, technique: str) -> list[tuple[float, float]]:
    """Return where the search found a technique to saturate, and half the width of that."""
    return [
        (each["saturation_offered"], each["saturation_offered_width"] / 2)
        for each in record.points
        if each["switching"] == technique
        and each["saturates"]
        and each["saturation_offered"] is not None
    ]


CURVE = replace(OF_LOADS, besides=("alone",), found=found, detail=point_at)
