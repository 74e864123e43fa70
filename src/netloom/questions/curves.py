"""Curves of answers: which figures of a table are loads, latencies and throughput."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

Found: TypeAlias = Callable[[Any, str], list[tuple[float, float]]]
Detail: TypeAlias = Callable[[Any, float, str], Any]
"""What reads a record of an answer: where a network saturates, and the record of one point."""

MEASURED = ("seed", "cycles", "precision", "most_cycles")
"""Fields of questions that say how well a point is known."""


class Axes(NamedTuple):
    """The words of a curve's axes: what loads, latencies and throughput are, and their units.

    Curves of the same axes are compared. A model has those of what it predicts. ``open`` says
    whether load is offered regardless of what is accepted, so that a network can saturate.
    """

    load: str
    latency: str
    latency_unit: str
    accepted: str
    open: bool = True


def in_figures(name: str) -> Found:
    """Return what reads a model's load of saturation from a figure."""

    def found(record: Any, technique: str) -> list[tuple[float, float]]:  # noqa: ARG001
        place = record.figures[name]
        return [] if place is None else [(float(place), 0.0)]

    return found


@dataclass(frozen=True, eq=False)
class CurveKind:
    """Where an answer's table has what a curve is drawn from. "" where it has no such thing.

    A question declares one where it says what it asks: see ``register.asks``.

    Attributes
    ----------
    axes
        The words of the axes.
    load, latency, idle
        Columns: offered traffic or rate, mean latency, latency of the idle network. ``idle`` may
        be a figure of the whole answer.
    half_width, accepted
        Columns: half of the latency's 95 % interval, throughput.
    stable
        The column that says whether the network kept up. With ``-`` before it, the opposite.
    model
        Whether a model says so, and not a simulator.
    ends
        What a model's latencies lack beside those of the simulator, in the unit of latency.
    besides
        Fields of the question that say where on a curve a point is, beside those of ``MEASURED``.
    about
        What the answer is of, and does not say with its figures.
    found
        Returns where the network was found to saturate, and half the width of that; [] if nowhere.
    detail
        Returns the answer of which one point is a picture. None if there is none.
    """

    axes: Axes
    load: str
    latency: str
    idle: str
    half_width: str = ""
    accepted: str = ""
    stable: str = ""
    model: bool = False
    ends: float = 0.0
    besides: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    found: Found = lambda *_: []
    detail: Detail = lambda *_: None

    @property
    def columns(self) -> list[str]:
        """The columns of the answer's table that it names."""
        names = (self.load, self.latency, self.half_width, self.accepted, self.stable.lstrip("-"))
        return [name for name in names if name]

    @property
    def of_the_run(self) -> frozenset[str]:
        """Fields of the question that say where a point is, or how well it is known."""
        return frozenset({*MEASURED, *self.besides})
