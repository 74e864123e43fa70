"""Mesh or hypercube: which is faster, when both have the same wires?"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator

from netloom.base.errors import InputError
from netloom.base.provenance import Provenance
from netloom.base.words import counted, number
from netloom.questions.base import Numbers, Question, option, parse_positive, parse_sizes
from netloom.questions.columns import Column, Columns, asked
from netloom.questions.outputs import PLOT
from netloom.questions.predict.shared import SIZES
from netloom.questions.register import asks
from netloom.questions.shown import Verdict, plain_table
from netloom_papers.models import wiring
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded

DELAYS: tuple[wiring.Delay, ...] = ("constant", "logarithmic", "linear")

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
        Literal["neighbours", "average", "worst"],
        BeforeValidator(lambda name: "neighbours" if name == "neighbors" else name),
    ] = option("Distance of messages: to neighbours, average, or worst.", default="average")
    form: Literal["exact", "chittor-1991"] = option(
        "Formulas: exact, or chittor-1991 (the approximations that the thesis prints).",
        default="exact",
    )


SIZE = Columns(
    Column("nodes", kind=int, key=True),
    Column("mesh_peak_width", "links side by side in the mesh", kind=int),
    Column("hypercube_peak_width", "links side by side in the hypercube", kind=int),
    Column("channel_width_ratio", "channels of the mesh wider, times"),
    Column("wire_length_ratio", "its longest wire shorter, times"),
)


@dataclass(frozen=True, eq=False, repr=False)
class WiringPrediction(Told):
    """What ``predict_wiring`` says: a square mesh against a hypercube of the same wiring.

    The table has a row for each size, delay of wires and length of messages.
    """

    columns: ClassVar = SIZE + Columns(
        Column("delay", "delay of wires", kind=str, key=True),
        Column("channel_rate_ratio", "its clock faster, times"),
        Column("channel_bandwidth_ratio", "its bandwidth higher, times", key=True),
        Column("message_headers", "message over header, L/H", key=True),
        Column("speedup", "messages arrive sooner, times", key=True),
    )
    in_json: ClassVar = SIZE + Columns(Column("delays", kind=list))
    about: ClassVar = Columns(
        *(Column(name, kind=str, value=asked(name)) for name in ("distance", "form"))
    )

    nodes: tuple[int, ...]
    message_headers: tuple[float, ...]
    points: tuple[dict[str, Any], ...]
    provenance: Provenance

    @property
    def table_rows(self) -> Iterable[dict[str, Any]]:
        """Each size, delay of wires and length of messages."""
        for point in self.points:
            for delay in point["delays"]:
                for each in delay["speedups"]:
                    yield point | delay | each


@asks(
    WiringQuestion,
    title="Model of wiring",
    example="netloom predict wiring --nodes 64:4096:x4",
    page="predict.md",
    outputs=(PLOT,),
)
def predict_wiring(question: WiringQuestion) -> WiringPrediction:
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

    def by_delay(size: int, delay: wiring.Delay) -> dict[str, Any]:
        sooner = wiring.speedup(
            size, np.array(lengths), delay=delay, distance=question.distance, form=form
        )
        return {
            "delay": delay,
            "channel_rate_ratio": float(wiring.channel_rate_ratio(size, delay, form=form)),
            "channel_bandwidth_ratio": float(
                wiring.channel_bandwidth_ratio(size, delay, form=form)
            ),
            "speedups": [
                {"message_headers": length, "speedup": float(value)}
                for length, value in zip(lengths, sooner, strict=True)
            ],
        }

    points = []
    for size in sizes:
        side = isqrt(size)
        square = wiring.mesh_peak_width(side) if side * side == size else None
        points.append(
            {
                "nodes": size,
                "mesh_peak_width": square,
                "hypercube_peak_width": wiring.hypercube_peak_width(size.bit_length() - 1),
                "channel_width_ratio": float(wiring.channel_width_ratio(size, form=form)),
                "wire_length_ratio": float(wiring.wire_length_ratio(size)),
                "delays": [by_delay(size, delay) for delay in DELAYS],
            }
        )
    provenance = Provenance(question.configuration(), verb="predict_wiring")
    return WiringPrediction(sizes, lengths, tuple(points), provenance)


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what the largest size comes to, with wires that are least kind to the mesh."""
    points = figures.get("points", [figures])
    first, last = points[0], points[-1]
    constant, *others = last["delays"]
    every = [each["speedup"] for delay in last["delays"] for each in delay["speedups"]]
    one_sided = min(every) >= 1 / NEARLY or max(every) <= 1 / NEARLY
    lines = {
        "why": f"channels {_than(last['channel_width_ratio'], 'wider', 'narrower')}, the longest "
        f"wire {_than(last['wire_length_ratio'], 'shorter', 'longer')}",
        "delays": "; ".join(f"{each['delay']}: {_lengths(each['speedups'])}" for each in others),
    }
    if len(points) > 1:
        size = counted(first["nodes"], "node", ",")
        lines["sizes"] = f"{_lengths(first['delays'][0]['speedups'])} at {size}"
    where = f"At {counted(last['nodes'], 'node', ',')}"
    said = f"a mesh wired as densely as a hypercube delivers {_lengths(constant['speedups'])}"
    if all(1 / NEARLY <= each["speedup"] <= NEARLY for each in constant["speedups"]):
        said = "a mesh and a hypercube, wired as densely, deliver alike"
    return Verdict(
        "fine" if one_sided else "limited",
        f"{where} {said} ({constant['delay']} wire delay).",
        "same density of wires",
        lines,
        note="Formulas for messages that nothing delays, and the longest wire of each network.",
    )


def _lengths(speedups: Sequence[Mapping[str, Any]]) -> str:
    """Return the gains of the shortest and the longest messages."""
    gains = [_than(each["speedup"], "sooner", "later") for each in speedups]
    short, long = gains[0], gains[-1]
    if short == long:
        return f"messages {short}"
    if short.split()[-1] == long.split()[-1]:
        short = short.split()[0]
    return f"short messages {short} and long ones {long}"


def _than(ratio: float, more: str, less: str) -> str:
    """Return how many times more or less something is, as a number above 1."""
    return f"{number(ratio)}× {more}" if ratio >= 1 else f"{number(1 / ratio)}× {less}"


def lines(result: WiringPrediction) -> list[Any]:
    """Return how many times better the mesh is, size by size."""
    configuration = result.provenance.configuration
    lengths = [f"L/H =\n{number(length)}" for length in result.message_headers]
    heads = ("nodes", "peak widths", "wider", "shorter", "delay", "faster\nclock", "bandwidth")
    table = plain_table((*heads, *lengths), words=("delay",))
    for point in result.points:
        mesh = point["mesh_peak_width"]
        wires = f"{'–' if mesh is None else f'{mesh:,}'} : {point['hypercube_peak_width']:,}"
        size = [f"{point['nodes']:,}", wires, number(point["channel_width_ratio"])]
        size.append(number(point["wire_length_ratio"]))
        for delay in point["delays"]:
            cells = [number(delay["channel_rate_ratio"]), number(delay["channel_bandwidth_ratio"])]
            cells += [number(each["speedup"]) for each in delay["speedups"]]
            table.add_row(*size, delay["delay"], *cells)
            size = [""] * len(size)
    return [
        table,
        f"[dim]Factors by which the mesh is better, {configuration['form']} formulas, "
        f"{configuration['distance']} distance. Peak widths: links side by side past a node, "
        "mesh : hypercube. Wider: channels. Shorter: the longest wire. L/H: how much sooner a "
        "message of so many headers arrives if nothing delays it.[/]",
    ]


def footer(record: Recorded) -> list[str]:
    """Return what is compared, by which formulas."""
    found = record.figures
    return [
        "A square mesh against a hypercube that is wired as densely; "
        f"{found['form']} forms, messages over {found['distance']} distance; "
        "constant, logarithmic, linear: how the delay of a wire grows with its length; 10 headers: "
        "messages of ten times the length of their header"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the bandwidth of channels, and the gain of messages: a hue a delay, a dash a length.

    The longest messages are solid if there are three lengths.
    """
    import polars as pl

    from netloom.drawing.axes import DASHED, DOTTED, SOLID, looks_of
    from netloom.questions.predict.drawn import lines_by, nodes_axis, ratio_axis

    def headers(length: float) -> str:
        return counted(number(length), "header")

    def drawn(table: pl.DataFrame, name: str, axis: str, by: str, looks: Any, said: str) -> Part:
        y = ratio_axis(name, axis, table[name].to_list())
        return lines_by(table, nodes_axis(table), y, by, looks, said)

    table = record.tables["table"]
    colours = looks_of(table["delay"].unique(maintain_order=True).to_list())
    lengths = enumerate(table["message_headers"].unique(maintain_order=True).to_list())
    dashes = {headers(each): (DOTTED, DASHED, SOLID, (10, 3, 2, 3))[at % 4] for at, each in lengths}
    length = pl.col("message_headers").map_elements(headers, return_dtype=pl.String)
    looks = {
        f"{delay}, {name}": look._replace(dash=dash)
        for delay, look in colours.items()
        for name, dash in dashes.items()
    }
    channels = table.unique(["nodes", "delay"], maintain_order=True)
    times = "bandwidth of a channel, times the hypercube's"
    wide = f"{number(channels['channel_bandwidth_ratio'].max())} times the hypercube's bandwidth"
    sooner = f"{number(table['speedup'].max())} times sooner on the mesh"
    said = f"A mesh's channel has up to {wide}"
    bandwidth = drawn(channels, "channel_bandwidth_ratio", times, "delay", colours, said)
    table = table.with_columns(of=pl.format("{}, {}", "delay", length))
    said = f"Messages arrive up to {sooner}"
    gain = drawn(table, "speedup", "times sooner on the mesh", "of", looks, said)
    return {"bandwidth": bandwidth, "speed-up": gain}
