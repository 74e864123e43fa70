"""What the models that predict share: fields, what is simulated beside them, and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, figure
from netloom.base.words import counted, give_or_take, percent
from netloom.questions.answers import Answer
from netloom.questions.base import Question, option
from netloom.questions.fields import Measured, refuse

RATES = "START:STOP:STEP, or 0:auto[:STEPS], up to where it saturates"

MOST_SIMULATED = 8
"""Points of a curve that are simulated beside the model."""

EXACT = 0.0005
"""Error of a model that is none, in words."""


class BesideModel(Question, panel="Simulation beside the model"):
    """Whether the same is simulated beside the model."""

    simulate: bool = option("Also simulate the network, at up to 8 points.", default=False)


class Simulated(Measured, BesideModel):
    """Whether, and for how long, the same is simulated beside the model."""

    def refuse_limits_alone(self) -> None:
        """Raise InputError if a field says how long to simulate, and nothing is simulated."""
        if not self.simulate:
            refuse(self, tuple(Measured.model_fields), "simulate, which this says something of")


class Checked(Figures):
    """The simulated latency of a point with its interval. The model's over it, less 1."""

    latency: float | None = figure("simulated", CYCLES, lead=True, key=True, half="ci95")
    ci95: float | None = figure("± 95 %", CYCLES)
    stable: bool = figure("keeps up")
    error: float | None = figure(
        "model over simulation, less 1", SHARE, head="model off by", lead=True, key=True
    )

    @classmethod
    def of(
        cls, latency: float | None, ci95: float | None, predicted: float | None, *, stable: bool
    ) -> Checked:
        """Return what was simulated beside a latency that the model predicts.

        Examples
        --------
        >>> Checked.of(8.0, 0.1, 10.0, stable=True).error
        0.25
        """
        error = None if latency is None or predicted is None else predicted / latency - 1
        return cls(latency=latency, ci95=ci95, stable=stable, error=error)


class CurveAnswer(Answer):
    """What a model says at one load or at several, and what was simulated beside it."""

    if TYPE_CHECKING:

        @property
        def points(self) -> Sequence[Any]:
            """What is said of each load."""

    @property
    def latency(self) -> float | None:
        """Mean latency in cycles at the one load, which must be one. None past saturation."""
        latency: float | None = self._only().latency
        return latency

    @property
    def saturated(self) -> bool:
        """Whether the one load, which must be one, is past saturation."""
        return bool(self._only().saturated)

    def _only(self) -> Any:
        if self.several:
            what = "rates" if "rate" in self.asked else "loads"
            wanted = "one, or the table of all"
            raise InputError("prediction", f"{len(self.points)} {what}", wanted)
        return self.points[0]

    @property
    def checked(self) -> str:
        """What a simulation says beside the model, in words. "" if none was run."""
        told = [each.simulated for each in self.points if each.simulated]
        if not told:
            return ""
        errors = [each.error for each in told if each.error is not None]
        if not self.several:
            (found,) = told
            if not found.stable:
                return "the simulation saturates at this load"
            said = f"simulated {give_or_take(found.latency, found.ci95)} cycles"
            if not errors:
                return said
            off = f"{percent(abs(errors[0]))} too {'high' if errors[0] > 0 else 'low'}"
            return f"{said}; the model is {off if abs(errors[0]) >= EXACT else 'exact'}"
        said = f"simulated at {counted(len(told), 'point')}"
        if errors:
            said += f": the model is at most {percent(max(map(abs, errors)))} off"
        full = sum(not each.stable for each in told)
        return f"{said}; {counted(full, 'point')} saturated in the simulation" if full else said

    def simulation_remarks(self, what: str) -> Iterator[str]:
        """Yield what was simulated, if anything was, and whether it was interrupted."""
        if self.asked["simulate"]:
            yield f"simulated: {what}, seed {self.provenance.seed}"
        if self.interrupted:
            yield "interrupted: what was simulated by then"


def some_of(rates: Sequence[float]) -> list[float]:
    """Return at most ``MOST_SIMULATED`` rates, evenly chosen, first and last among them.

    Examples
    --------
    >>> some_of(range(1, 21))
    [1, 4, 6, 9, 12, 15, 17, 20]
    """
    places = np.linspace(0, len(rates) - 1, min(len(rates), MOST_SIMULATED)).round()
    return [rates[int(place)] for place in places]


def rounded(error: float) -> str:
    r"""Return the expected error of a model, of which two digits are known.

    Examples
    --------
    >>> rounded(0.0194)
    '1.9\xa0%'
    """
    return percent(float(f"{error:.2g}"))
