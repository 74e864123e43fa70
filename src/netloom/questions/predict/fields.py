"""The fields that models share."""

from __future__ import annotations

from netloom.questions.base import Question, option
from netloom.questions.fields import Measured, refuse

RATES = "START:STOP:STEP, or 0:auto[:STEPS], up to where it saturates"
SIZES = "64,256, START:STOP:STEP or START:STOP:xFACTOR"


class BesideModel(Question, panel="Simulation beside the model"):
    """Whether the same is simulated beside the model."""

    simulate: bool = option(
        "Also simulate the network, at up to 8 of the points.",
        default=False,
    )


class Simulated(Measured, BesideModel):
    """Whether, and for how long, the same is simulated beside the model."""

    def refuse_limits_alone(self) -> None:
        """Raise InputError if a field says how long to simulate, and nothing is simulated."""
        if not self.simulate:
            refuse(self, tuple(Measured.model_fields), "simulate, which this says something of")
