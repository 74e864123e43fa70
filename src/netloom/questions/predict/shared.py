"""What the models that predict share: fields, points, tables and pictures of curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted, give_or_take, number, share
from netloom.mapping.layouts.parts import cube_of_hosts
from netloom.questions.base import Question, option
from netloom.questions.columns import CYCLES, Column, Columns
from netloom.questions.fields import Measured, refuse
from netloom.questions.named import find_network
from netloom.questions.register import Answer
from netloom.questions.shown import percent, plain_table
from netloom.topology import Cube

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.table import Table

    from netloom.machines import Machine
    from netloom.topology import Topology


RATES = "START:STOP:STEP, or 0:auto[:STEPS], up to where it saturates"
SIZES = "64,256, START:STOP:STEP or START:STOP:xFACTOR"


class BesideModel(Question, panel="Simulation beside the model"):
    """Whether the same is simulated beside the model."""

    simulate: bool = option(
        "Also simulate the network, at up to 8 points.",
        default=False,
    )


class Simulated(Measured, BesideModel):
    """Whether, and for how long, the same is simulated beside the model."""

    def refuse_limits_alone(self) -> None:
        """Raise InputError if a field says how long to simulate, and nothing is simulated."""
        if not self.simulate:
            refuse(self, tuple(Measured.model_fields), "simulate, which this says something of")


def find_torus(on: str | Topology | Machine) -> Cube:
    """Return the torus that ``on`` is or names, perhaps by a host on each of its routers.

    A ring of two nodes is one link.

    Raises
    ------
    InputError
        If there is no such network, it is no torus, or its channels differ in bandwidth.

    Examples
    --------
    >>> find_torus("torus:4x2").sides
    (4, 2)
    >>> find_torus("mesh:8x8")
    Traceback (most recent call last):
        ...
    netloom.InputError: on: found mesh:8x8; expected a torus, such as torus:8x8: the model \
is of one
    """
    topology, _ = find_network(on)
    own = cube_of_hosts(topology)
    if own is not None and np.array_equal(own[1], np.arange(topology.num_hosts)):
        topology = own[0]
    if isinstance(topology, Cube) and topology.num_hosts > 1:
        rings = zip(topology.sides, topology.wraps, strict=True)
        if all(wraps or side <= 2 for side, wraps in rings):
            if not topology.even:
                wanted = "channels of one bandwidth: the model knows no other"
                raise InputError("on", f"{topology.name} with channels of several", wanted)
            return topology
    raise InputError("on", topology.name, "a torus, such as torus:8x8: the model is of one")


STEADY, AT_THE_KNEE, SATURATED = "steady", "knee: simulate", "saturated"
"""What a network is at a load, by a model."""

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


ASIDE = ("vc_multiplexing", "worst_path_latency")
"""Columns that make room for what was simulated."""


def routed(figures: Mapping[str, Any]) -> str:
    """Return the routing, and the layers of VCs that its paths are in."""
    layers = figures["vc_layers"] or 1  # older answers have none
    return str(figures["routing"]) + (f" in {layers} layers of VCs" if layers > 1 else "")


def curve_table(
    data: Mapping[str, Any], columns: Mapping[str, str], shares: Mapping[str, str]
) -> Table:
    """Return a row per point: the model's figures, and the simulator's where there are any."""
    simulated = any(point["simulated"] for point in data["points"])
    columns = {name: of for name, of in columns.items() if of not in ASIDE or not simulated}
    table = plain_table((*columns, *shares, *(["simulated (cycles)", "error"] * simulated), ""))
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values()]
        cells += [percent(point[name]) for name in shares.values()]
        measured = point["simulated"]
        if simulated:
            cells += Beside(**measured).cells if measured else ["", ""]
        said = ["[red]✗ saturated[/]"] * point["saturated"]
        said += ["[yellow]! knee: simulate[/]"] * (point.get("state") == AT_THE_KNEE)
        said += ["[red]✗ simulation saturates[/]"] * bool(measured and not measured["stable"])
        table.add_row(*cells, ", ".join(said))
    return table


def of_unit(value: float | None, unit: str) -> str:
    """Return a latency with its unit."""
    return "none: it is saturated" if value is None else f"{number(value)} {unit}"


def rounded(error: float) -> str:
    r"""Return the expected error of a model, of which two digits are known.

    Examples
    --------
    >>> rounded(0.0194)
    '1.9\xa0%'
    """
    return percent(float(f"{error:.2g}"))


def begun(said: str) -> str:
    """Return words with a capital at their beginning."""
    return said[:1].upper() + said[1:]


def checked(point: Mapping[str, Any]) -> str:
    """Return what a simulation says beside the model of a point. "" if none was run."""
    found = point["simulated"]
    if not found:
        return ""
    if not found["stable"]:
        return "the simulation saturates at this load"
    said = f"simulated {give_or_take(found['latency'], found['ci95'])} cycles"
    off = "" if found["error"] is None else f"; the model is {_off(found['error'])}"
    return f"{said}{off}"


def _off(error: float) -> str:
    side = "high" if error > 0 else "low"
    return f"{percent(abs(error))} too {side}" if abs(error) >= 0.0005 else "exact"


def worst_checked(points: Sequence[Mapping[str, Any]]) -> str:
    """Return how far the model is off over the points that were simulated. "" if none was."""
    told = [each["simulated"] for each in points if each["simulated"]]
    errors = [each["error"] for each in told if each["error"] is not None]
    if not told:
        return ""
    said = f"simulated at {counted(len(told), 'point')}"
    if errors:
        said += f": the model is at most {percent(max(map(abs, errors)))} off"
    full = sum(not each["stable"] for each in told)
    return f"{said}; {counted(full, 'point')} saturated in the simulation" if full else said


WIDTH, HEIGHT = 430, 320

WHOLE, INSIDE, MEASURED, IDLE = "model", "in the network", "simulated", "idle"
