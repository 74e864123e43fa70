"""Compare a square mesh with a hypercube of equal size and wire density."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator

from netloom.base.errors import InputError
from netloom.base.figures import Figures, derived, figure
from netloom.base.provenance import Provenance
from netloom.base.words import counted, number
from netloom.questions.answers import Answer, Verdict
from netloom.questions.base import Numbers, Question, option, parse_positive
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom_papers.models import wiring
from netloom_papers.questions.predict.shared import SIZES, parse_sizes

NEARLY = 1.005
"""Times sooner up to which two networks are alike."""


class WiringQuestion(Question, panel="Networks and messages"):
    """A square mesh against a hypercube of as many nodes and the same density of wires."""

    nodes: Numbers = option(
        f"Sizes of the networks, powers of two: {SIZES}.",
        default=(64, 256, 1024, 4096),
        kw_only=False,
    )
    message_headers: Numbers = option(
        "Message length / header length, L/H: 1,10 or START:STOP:STEP.", default=(1, 10, 100)
    )
    distance: Annotated[
        wiring.Distance, BeforeValidator(lambda name: "neighbours" if name == "neighbors" else name)
    ] = option("Distance of messages: to neighbours, average, or worst.", default="average")
    form: wiring.Form = option(
        "Formulas: exact, or chittor-1991 (the approximations that the thesis prints).",
        default="exact",
    )


class Speedup(Figures):
    """How much sooner messages of a length arrive that nothing delays."""

    message_headers: float = figure("message over header, L/H", head="L/H", lead=True, key=True)
    speedup: float = figure("messages arrive sooner, times", head="sooner", lead=True, key=True)

    @derived("messages arrive later, times", optional=True)
    def later(self) -> float | None:
        """None where they arrive sooner."""
        return 1 / self.speedup if self.speedup < 1 else None

    @property
    def said(self) -> str:
        """It in words."""
        return _than(self.speedup, "sooner", "later")


class Delayed(Figures):
    """What the mesh gains where the delay of wires grows so."""

    delay: str = figure("delay of wires", head="delay", lead=True, key=True)
    channel_rate_ratio: float = figure("its clock faster, times", head="faster clock", lead=True)
    channel_bandwidth_ratio: float = figure(
        "its bandwidth higher, times", head="bandwidth", lead=True, key=True
    )
    speedups: tuple[Speedup, ...] = figure()

    @property
    def said(self) -> str:
        """The gains of the shortest and the longest messages, in words."""
        short, long = self.speedups[0].said, self.speedups[-1].said
        if short == long:
            return f"messages {short}"
        if short.split()[-1] == long.split()[-1]:
            short = short.split()[0]
        return f"short messages {short} and long ones {long}"


class Point(Figures):
    """What the mesh has of the wires of a hypercube of equal size."""

    nodes: int = figure(lead=True, key=True)
    mesh_peak_width: int | None = figure("links side by side in the mesh")
    hypercube_peak_width: int = figure("links side by side in the hypercube")
    channel_width_ratio: float = figure(
        "channels of the mesh wider, times", head="wider", lead=True
    )
    wire_length_ratio: float = figure(
        "its longest wire shorter, times", head="shorter wire", lead=True
    )
    delays: tuple[Delayed, ...] = figure()


class Row(Figures):
    """One size, delay of wires and length of messages."""

    size: Point = figure(at=".")
    delay: Delayed = figure(at=".")
    message: Speedup = figure(at=".")


class WiringPrediction(Answer):
    """What ``predict_wiring`` says: a square mesh against a hypercube of the same wiring.

    The table has a row for each size, delay of wires and length of messages.
    """

    ROWS: ClassVar = Row

    distance: str = figure(table=False)
    form: str = figure(table=False)
    points: tuple[Point, ...] = figure()

    @property
    def of(self) -> str:
        """What both networks have."""
        return "same density of wires"

    def judged(self) -> Verdict:
        """Return what the largest size comes to, with wires that are least kind to the mesh."""
        first, last = self.points[0], self.points[-1]
        constant, *others = last.delays
        every = [each.speedup for delay in last.delays for each in delay.speedups]
        one_sided = min(every) >= 1 / NEARLY or max(every) <= 1 / NEARLY
        wider = _than(last.channel_width_ratio, "wider", "narrower")
        shorter = _than(last.wire_length_ratio, "shorter", "longer")
        lines = {
            "why": f"channels {wider}, the longest wire {shorter}",
            "delays": "; ".join(f"{each.delay}: {each.said}" for each in others),
        }
        if self.several:
            lines["sizes"] = f"{first.delays[0].said} at {counted(first.nodes, 'node', ',')}"
        said = f"a mesh wired as densely as a hypercube delivers {constant.said}"
        if all(1 / NEARLY <= each.speedup <= NEARLY for each in constant.speedups):
            said = "a mesh and a hypercube, wired as densely, deliver alike"
        at = f"At {counted(last.nodes, 'node', ',')}"
        return Verdict(
            "fine" if one_sided else "limited",
            f"{at} {said} ({constant.delay} wire delay).",
            lines=lines,
            note="Formulas for messages that nothing delays, and the longest wire of each network.",
        )

    @property
    def rows(self) -> list[Row]:
        """Each size, delay of wires and length of messages."""
        return [
            Row(size=point, delay=delay, message=each)
            for point in self.points
            for delay in point.delays
            for each in delay.speedups
        ]

    def remarks(self) -> Iterator[str]:
        """Yield what the factors are."""
        yield (
            f"factors by which the mesh is better, {self.form} formulas, {self.distance} distance; "
            "L/H: how much sooner a message of so many headers arrives if nothing delays it"
        )

    def footer(self) -> list[str]:
        """Return what is compared, by which formulas."""
        return [
            "A square mesh against a hypercube that is wired as densely; "
            f"{self.form} forms, messages over {self.distance} distance; "
            "constant, logarithmic, linear: how the delay of a wire grows with its length; "
            "10 headers: messages of ten times the length of their header"
        ]

    def parts(self) -> dict[str, Any]:
        """Return the bandwidth of channels, and the gain of messages.

        A delay has a hue, a length has a dash. Of three lengths the longest is solid.
        """
        import polars as pl

        from netloom.drawing.axes import DASHED, DOTTED, SOLID, looks_of
        from netloom_papers.exhibits import by_nodes

        def headers(length: float) -> str:
            return counted(number(length), "header")

        table = self.table()
        colours = looks_of(table["delay"].unique(maintain_order=True).to_list())
        lengths = table["message_headers"].unique(maintain_order=True).to_list()
        dashes = (DOTTED, DASHED, SOLID, (10, 3, 2, 3))
        looks = {
            f"{delay}, {headers(length)}": look._replace(dash=dashes[at % len(dashes)])
            for delay, look in colours.items()
            for at, length in enumerate(lengths)
        }
        channels = table.unique(["nodes", "delay"], maintain_order=True)
        length = pl.col("message_headers").map_elements(headers, return_dtype=pl.String)
        table = table.with_columns(of=pl.format("{}, {}", "delay", length))
        most = number(table["channel_bandwidth_ratio"].max())
        said = f"A mesh's channel has up to {most} times the hypercube's bandwidth"
        title = "bandwidth of a channel, times the hypercube's"
        wide = by_nodes(channels, "channel_bandwidth_ratio", title, "delay", colours, said)
        said = f"Messages arrive up to {number(table['speedup'].max())} times sooner on the mesh"
        soon = by_nodes(table, "speedup", "times sooner on the mesh", "of", looks, said)
        return {"bandwidth": wide, "speed-up": soon}


def _than(ratio: float, more: str, less: str) -> str:
    """Return how many times more or less something is, as a number above 1."""
    return f"{number(ratio)}× {more}" if ratio >= 1 else f"{number(1 / ratio)}× {less}"


@asks(
    WiringQuestion,
    prepare=lambda _: None,
    title="Model of wiring",
    example="netloom predict wiring --nodes 64:4096:x4",
    page="predict.md",
    outputs=(PLOT,),
)
def predict_wiring(question: WiringQuestion, _: None) -> WiringPrediction:
    """Compare a square mesh with a hypercube of equal size and wire density.

    Formulas of Chittor (1991, chapter 2) give the width of channels, and the length and the clock
    of the longest wire. From these follows the latency of a message without contention.

    Examples
    --------
    >>> found = predict_wiring(256, message_headers=10)
    >>> found.to_dict()["channel_width_ratio"]
    10.0
    >>> found.table().select("delay", "channel_bandwidth_ratio", "speedup").row(0)
    ('constant', 10.0, 6.7817...)
    """
    sizes, form = parse_sizes(question.nodes, "nodes"), question.form
    for size in sizes:
        if size < 4 or size & (size - 1):
            raise InputError("nodes", f"{size}", "powers of two from 4, the sizes of hypercubes")
    lengths = parse_positive(question.message_headers, "message_headers", zero=True)

    def delayed(size: int, delay: wiring.Delay) -> Delayed:
        sooner = wiring.speedup(
            size, np.array(lengths), delay=delay, distance=question.distance, form=form
        )
        gains = zip(lengths, sooner.tolist(), strict=True)
        return Delayed(
            delay=delay,
            channel_rate_ratio=float(wiring.channel_rate_ratio(size, delay, form=form)),
            channel_bandwidth_ratio=float(wiring.channel_bandwidth_ratio(size, delay, form=form)),
            speedups=tuple(Speedup(message_headers=each, speedup=gain) for each, gain in gains),
        )

    def point(size: int) -> Point:
        side = isqrt(size)
        return Point(
            nodes=size,
            mesh_peak_width=wiring.mesh_peak_width(side) if side * side == size else None,
            hypercube_peak_width=wiring.hypercube_peak_width(size.bit_length() - 1),
            channel_width_ratio=float(wiring.channel_width_ratio(size, form=form)),
            wire_length_ratio=float(wiring.wire_length_ratio(size)),
            delays=tuple(delayed(size, delay) for delay in wiring.DELAYS),
        )

    return WiringPrediction(
        distance=question.distance,
        form=form,
        points=tuple(map(point, sizes)),
        provenance=Provenance(question.configuration(), verb="predict_wiring"),
    )
