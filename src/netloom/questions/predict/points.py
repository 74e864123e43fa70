"""What models say of each point, and what a simulation says beside them at some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import give_or_take, share
from netloom.questions.columns import CYCLES, Column, Columns
from netloom.questions.register import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_SIMULATED = 8
"""Points of a curve that are simulated beside the model."""


class Beside(NamedTuple):
    """The simulated latency of a point with its interval. The model's over it, less 1."""

    latency: float | None
    ci95: float | None
    stable: bool
    error: float | None

    @property
    def sentence(self) -> str:
        """What was simulated, to follow what the model says."""
        if not self.stable:
            return "; saturated in simulation"
        off = "" if self.error is None else f", error {share(self.error)}"
        return f"; simulated: {give_or_take(self.latency, self.ci95)}{off}"

    @property
    def cells(self) -> list[str]:
        """Its latency with its interval, and error, for a table. Empty if it does not keep up."""
        if not self.stable:
            return ["", ""]
        off = "" if self.error is None else share(self.error)
        return [give_or_take(self.latency, self.ci95), off]


def beside(
    latency: float | None, ci95: float | None, predicted: float | None, *, stable: bool
) -> Beside:
    """Return what was simulated beside a latency that the model predicts.

    Examples
    --------
    >>> beside(8.0, 0.1, 10.0, stable=True).error
    0.25
    """
    error = None if latency is None or predicted is None else predicted / latency - 1
    return Beside(latency, ci95, stable, error)


class CurveAnswer(Answer):
    """What a model says at one point or at several. ``simulated`` is what was run beside it."""

    simulated: Any

    @property
    def interrupted(self) -> bool:
        """Whether the simulation was stopped from outside."""
        return self.simulated is not None and self.simulated.interrupted

    @property
    def latency(self) -> float | None:
        """Mean latency in cycles at the one point, which must be one. None where there is none."""
        latency: float | None = self._only().latency
        return latency

    @property
    def saturated(self) -> bool:
        """Whether the one point, which must be one, is past saturation."""
        saturated: bool = self._only().saturated
        return saturated

    def _only(self) -> Any:
        """Return the one point. InputError if several were asked for."""
        points = self.observations
        if self.several:
            found = f"{len(points)} {'rates' if 'rate' in self.columns else 'loads'}"
            raise InputError("prediction", found, "one, or the table of all")
        return points[0]


def at(name: str) -> Callable[[Any], Any]:
    """Return what gives a figure of a point: its place in an array of what was ``found``."""
    return lambda point: getattr(point.found, name)[point.place]


def _simulated(part: str) -> Callable[[Any], Any]:
    """Return what gives a part of what was simulated of a point. None where nothing was."""
    return lambda point: point.simulated and getattr(point.simulated, part)


SIMULATED = Columns(
    Column("simulated_latency", "simulated", CYCLES, _simulated("latency"), key=True, json=None),
    Column("simulated_ci95", "± 95 %", CYCLES, _simulated("ci95"), json=None),
    Column("simulated_stable", "keeps up", "", _simulated("stable"), bool, json=None),
    Column("error", "model over simulation, less 1", "", _simulated("error"), key=True, json=None),
    Column(
        "simulated", kind=dict, table=False,
        value=lambda point: point.simulated and point.simulated._asdict(),
    ),
)  # fmt: skip
"""Columns of a point whose ``simulated`` is a ``Beside``, or None."""


def some_of(rates: Sequence[float]) -> list[float]:
    """Return at most ``MOST_SIMULATED`` rates, evenly chosen, first and last among them.

    Examples
    --------
    >>> some_of(range(1, 21))
    [1, 4, 6, 9, 12, 15, 17, 20]
    """
    places = np.linspace(0, len(rates) - 1, min(len(rates), MOST_SIMULATED)).round()
    return [rates[int(place)] for place in places]
