"""The fields that models share."""

from __future__ import annotations

from netloom.questions.base import option
from netloom.questions.fields import Measured

RATES = "START:STOP:STEP, or 0:auto[:STEPS], up to where it saturates"
SIZES = "64,256, START:STOP:STEP or START:STOP:xFACTOR"


class Simulated(Measured, panel="Simulation beside the model"):
    """Whether, and for how long, the same is simulated beside the model."""

    simulate: bool = option("Simulate some of the points beside it.", default=False)
