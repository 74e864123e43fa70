"""Mesh or hypercube: which is faster, when both have the same wires?"""

from __future__ import annotations

from math import isqrt
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator

from netloom.base.errors import InputError
from netloom.base.provenance import Provenance
from netloom.questions.base import Numbers, Question, option
from netloom.questions.numbers import parse_positive, parse_sizes
from netloom.questions.outputs import PLOT
from netloom.questions.predict.fields import SIZES
from netloom.questions.register import asks
from netloom_papers.models.wiring import (
    Delay,
    channel_bandwidth_ratio,
    channel_rate_ratio,
    channel_width_ratio,
    hypercube_peak_width,
    mesh_peak_width,
    speedup,
    wire_length_ratio,
)
from netloom_papers.questions.predict.wiring.answer import WiringPrediction

DELAYS: tuple[Delay, ...] = ("constant", "logarithmic", "linear")


class WiringQuestion(Question, panel="Networks and messages"):
    """A square mesh against a hypercube of as many nodes and the same density of wires."""

    nodes: Numbers = option(
        f"Sizes of the networks, powers of two: {SIZES}.",
        default=(64, 256, 1024, 4096),
        kw_only=False,
    )
    message_headers: Numbers = option(
        "Message length / header length, L/H: 1,10 or START:STOP:STEP.",
        default=(1, 10, 100),
    )
    distance: Annotated[
        Literal["neighbours", "average", "worst"],
        BeforeValidator(lambda name: "neighbours" if name == "neighbors" else name),
    ] = option("Distance of messages: to neighbours, average, or worst.", default="average")
    form: Literal["exact", "chittor-1991"] = option(
        "Formulas: exact, or chittor-1991 (the approximations that the thesis prints).",
        default="exact",
    )


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
    sizes = parse_sizes(question.nodes, "nodes")
    for size in sizes:
        if size < 4 or size & (size - 1):
            raise InputError("nodes", f"{size}", "powers of two from 4, the sizes of hypercubes")
    lengths = parse_positive(question.message_headers, "message_headers", zero=True)
    return WiringPrediction(
        nodes=sizes,
        message_headers=lengths,
        points=tuple(_point(question, size, lengths) for size in sizes),
        provenance=Provenance(question.configuration(), verb="predict_wiring"),
    )


def _point(question: WiringQuestion, size: int, lengths: tuple[float, ...]) -> dict[str, Any]:
    side = isqrt(size)
    return {
        "nodes": size,
        "mesh_peak_width": mesh_peak_width(side) if side * side == size else None,
        "hypercube_peak_width": hypercube_peak_width(size.bit_length() - 1),
        "channel_width_ratio": float(channel_width_ratio(size, form=question.form)),
        "wire_length_ratio": float(wire_length_ratio(size)),
        "delays": [_by_delay(question, size, delay, lengths) for delay in DELAYS],
    }


def _by_delay(
    question: WiringQuestion, size: int, delay: Delay, lengths: tuple[float, ...]
) -> dict[str, Any]:
    sooner = speedup(
        size, np.array(lengths), delay=delay, distance=question.distance, form=question.form
    )
    return {
        "delay": delay,
        "channel_rate_ratio": float(channel_rate_ratio(size, delay, form=question.form)),
        "channel_bandwidth_ratio": float(channel_bandwidth_ratio(size, delay, form=question.form)),
        "speedups": [
            {"message_headers": length, "speedup": float(value)}
            for length, value in zip(lengths, sooner, strict=True)
        ],
    }
