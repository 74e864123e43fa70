"""Find the offered load at which a network saturates, by bracketing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.base.figures import FLITS, framed
from netloom.base.progress import patience
from netloom.base.words import begun, counted, listed, number
from netloom.questions import terminal
from netloom.questions.answers import Parts, Verdict
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.recorded import Recorded
from netloom.questions.register import asks
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.load import (
    CURVE as OF_LOADS,
    LoadAnswer,
    SimulatedNetwork,
    UnderLoad,
    longer,
    one_point,
    prepare,
)
from netloom.questions.terminal import around, arrow, rough
from netloom.simulation.network.figures import Point, Search
from netloom.simulation.network.run import advice_of, bracket_saturation, with_programs

if TYPE_CHECKING:
    import polars as pl

CURVE_LOADS = 8
"""About how many loads the next command asks for."""

HALF = 0.5
"""A network whose busiest channel between routers is less in use saturates elsewhere: at hosts."""


class SaturationQuestion(OpenLoad):
    """A network, and the load at which it saturates."""


class NetworkSaturation(LoadAnswer):
    """What ``find_saturation`` found: a point for each switching technique.

    Attributes
    ----------
    advice
        What was better known before the runs, or None where nothing is amiss.
    """

    ROWS: ClassVar = Point

    advice: str | None
    points: tuple[Search, ...]

    @property
    def interrupted(self) -> bool:
        """Whether a search was stopped from outside."""
        return any(each.interrupted for each in self.points)

    @property
    def several(self) -> bool:
        """Whether several techniques were asked for."""
        return self.setup.compares

    @property
    def runs(self) -> tuple[Point, ...]:
        """All runs of all searches."""
        return tuple(run for each in self.points for run in each.runs)

    def judged(self) -> Verdict:
        """Return at which load the network saturates, and what share of the bound that is."""
        return self._of_techniques() if self.several else self._of_one(self.points[0])

    def _of_one(self, found: Search) -> Verdict:
        lines = self.limits
        if found.interrupted:
            return Verdict("unknown", _interrupted(found), lines, self.again())
        last, load = found.last, number(found.saturation_offered)
        if last is None:
            said = f"Runs too short: of none is it known whether {load} {FLITS} is carried."
            return Verdict("unknown", said, lines, longer(self))
        lines = _where(found, last) | lines
        if found.saturates:
            mark, near = "limited", "at" if found.is_sure else "near"
            where = around(found.saturation_offered, found.saturation_offered_half_width)
            said = f"Saturates {near} {where} {FLITS}, {self._of_bound(found)}"
        else:
            mark, latency = "fine", number(last.packet_latency_mean)
            said = f"Carries all that nodes can offer, {load} {FLITS}, at {latency} cycles"
        if not found.is_sure:
            said += f", in short runs of {counted(last.cycles, 'cycle', ',')}"
            return Verdict("unknown", f"{said}.", lines, longer(self), _note(found))
        return Verdict(mark, f"{said}.", lines, self._curve(found), _note(found))

    def _of_bound(self, found: Search) -> str:
        bound = self.setup.throughput_bounds[found.switching].load
        return f"{rough(found.saturation_offered / bound)} of the bound {number(bound)}"

    def _curve(self, found: Search) -> str:
        """Return the command that asks for the curve up to where a technique saturates."""
        most = found.saturation_offered
        step = float(f"{most / CURVE_LOADS:.1g}")
        loads = f"{step:g}:{min(most + step, 1):.3g}:{step:g}"
        return self.again("simulate.load", load=loads, cycles=None, plot="curve.svg")

    def _of_techniques(self) -> Verdict:
        lines = self.limits
        ended = [each for each in self.points if not each.interrupted]
        done = {each.switching for each in ended}
        if missing := [each for each in self.setup.throughput_bounds if each not in done]:
            said = f"Interrupted: nothing is known of {listed(missing)}."
            return Verdict("unknown", said, lines, self.again())
        most = max(ended, key=lambda each: each.saturation_offered)
        equal = [  # those that may still not saturate there
            each.switching
            for each in ended
            if each.saturation_offered + (each.saturation_offered_width or 0)
            >= most.saturation_offered
        ]
        others = [
            f"{each.switching} {number(each.saturation_offered)}"
            for each in ended
            if each.switching not in equal
        ]
        if others:
            lines = {"others": f"{listed(others)} {FLITS}"} | lines
        verb, load = "carry" if len(equal) > 1 else "carries", number(most.saturation_offered)
        said = f"{begun(listed(equal))} {verb} most: up to {load} {FLITS}, {self._of_bound(most)}"
        if not all(each.is_sure for each in ended):
            said += ", in runs too short to be sure."
            return Verdict("unknown", said, lines, longer(self), _note(most))
        mark = "limited" if any(each.saturates for each in ended) else "fine"
        return Verdict(mark, f"{said}.", lines, self._curve(most), _note(most))

    def figure_lines(self, width: int) -> list[str]:
        """Return a row per technique. The runs of a search are a table of their own."""
        return terminal.table(self.points, self, width)

    def remarks(self) -> Iterator[str]:
        """Yield how many runs there were, how they were run, and what is special."""
        lengths = [f"{each.last.cycles:,}" for each in self.points if each.last]
        length = f", {listed(lengths)} cycles at the highest load carried" if lengths else ""
        yield f"{len(self.runs)} runs{length}, seed {self.setup.seed}"
        for each in self.points:
            if each.interrupted:
                yield f"{each.switching} was interrupted"
            elif not each.saturates:
                yield f"{each.switching} never saturates"
        yield from self.setup.remarks()

    def table(self) -> pl.DataFrame:
        """Return one row per run of each search."""
        return self._told("table", lambda: framed(Point, self.runs))

    def parts(self) -> Parts:
        """Return latency and what gets through by load."""
        saturates = {each.switching: each.interval for each in self.points if each.saturates}
        return self.curves(saturates, [each.zero_load_latency for each in self.points])


def _interrupted(found: Search) -> str:
    """Return how far an interrupted search had come."""
    last = found.carried()
    if last is None:
        return "Interrupted after 0 finished runs, 0 cycles: nothing is known yet."
    above = [each.offered for each in found.runs if each.is_known and not each.stable]
    most = f" and below {number(min(above))}" if above else ""
    return f"Interrupted: saturates above {number(last.offered)}{most} {FLITS}, no more is known."


def _where(found: Search, last: Point) -> dict[str, str]:
    """Return what gets through there, and which link is busiest then."""
    worst, mean = number(found.accepted_worst_node), number(found.saturation_throughput)
    lines = {"accepts": f"{mean} {FLITS} there, the worst node {worst}"}
    if last.busiest_channel is not None and last.utilisation_max is not None:
        said = f"{arrow(last.busiest_channel)} is then {rough(last.utilisation_max)} busy"
        idle = ", no channel between routers is busier" if last.utilisation_max < HALF else ""
        lines["where"] = f"{said}{idle}"
    return lines


def _note(found: Search) -> str:
    times, idle = number(found.latency_factor), number(found.zero_load_latency)
    return (
        f"Saturated: traffic piles up, or latency is over {times} times the idle {idle} cycles. "
        "± is the last step of the search. Chance and short runs move saturation by about 2\u00a0%."
    )


def found_at(record: Recorded, technique: str) -> list[tuple[float, float]]:
    """Return where the search found a technique to saturate, and half the width of that."""
    found: Any = record.answer
    mine = [each for each in found.points if each.switching == technique and each.saturates]
    return [(each.saturation_offered, each.saturation_offered_half_width or 0.0) for each in mine]


def detail(record: Recorded, load: float, technique: str) -> Recorded:
    """Return what a search says of one load."""
    found: Any = record.answer
    runs = (run for each in found.points if each.switching == technique for run in each.runs)
    return one_point(found, next(run for run in runs if run.offered == load))


CURVE = replace(OF_LOADS, besides=("alone",), found=found_at, detail=detail)


@asks(
    SaturationQuestion,
    prepare=prepare,
    title="Search for saturation",
    example="netloom simulate saturation --on torus:8x8 --traffic tornado --switching all",
    page="simulate-a-network.md",
    outputs=(PLOT,),
    curve=CURVE,
)
def find_saturation(question: SaturationQuestion, network: SimulatedNetwork) -> NetworkSaturation:
    """Find the offered load at which a network saturates, by bracketing.

    A network saturates at the load at which its backlog grows, or at which its mean packet latency
    exceeds three times that of the idle network.

    Raises
    ------
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> from netloom import find_saturation
    >>> found = find_saturation("mesh:4x4", most_cycles=5000)
    >>> found.points[0].saturation_offered < found.setup.bound.load
    True
    """
    if advice := advice_of(network.settings, ()):
        warnings.warn(advice, stacklevel=3)
    searches = []
    for setting in network.settings:
        with patience(f"{network.name}: looking for saturation"):
            found = bracket_saturation(
                partial(network.make_run, setting),
                question.limits(),
                below=network.most_load(setting),
            )
        share = found.saturation_offered / setting.bound.load
        runs = tuple(with_programs(network, run) for run in found.runs)
        searches.append(replace(found, share_of_bound=share, runs=runs))
        if found.interrupted:
            break
    return NetworkSaturation(
        setup=UnderLoad.of(network),
        advice=advice,
        points=tuple(searches),
        network=network,
        provenance=provenance_of(question, "find_saturation", network.topology),
    )
