"""What latency has a torus with adaptive routing and broadcasts, and where does it saturate?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.models.torus_broadcasts import torus_broadcast
from netloom.provenance import DEFAULT_SEED
from netloom.questions.base import MOST, MOST_DIMENSIONS, MOST_SEED, InstanceOf, Question, ask
from netloom.questions.fields import refuse
from netloom.questions.predict.numbers import OF_A_SIMULATION, parse_rates, some_of
from netloom.questions.predict.torus import find_torus
from netloom.questions.predict.torus_broadcast.answer import TorusBroadcastPrediction
from netloom.questions.recipes import provenance_of
from netloom.questions.simulate.broadcast.question import simulate_broadcast
from netloom.spec import MAX_ELEMENTS
from netloom.topology import Cube, Topology, torus
from netloom.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.questions.simulate.broadcast.answer import BroadcastSimulation

SIDE, DIMENSIONS = 8, 2
"""Where neither sides nor a network are given."""

SIMULATED: dict[str, Any] = {
    "router": "single-cycle", "channel_cycles": 0, "routing": "adaptive", "buffer_flits": 4,
}  # fmt: skip
"""The network that the model is of: Duato's routing, and a cycle a hop."""


class TorusBroadcastQuestion(Question):
    """The question that ``predict_torus_broadcast`` answers.

    Attributes
    ----------
    k, dimensions
        The torus: nodes a side, at least 2, by default 8; and dimensions, by default 2.
    sides
        Instead of these, the nodes of each side.
    on
        Or a torus by name: ``torus:8x4``, a topology or a machine.
    message_flits
        M, the length of all messages.
    vcs
        V, virtual channels of every channel: 3 or more, of which two are for escape.
    broadcast
        β: part of the messages that are broadcast, 0 to 1.
    rate
        λ_g: messages a node and cycle, broadcasts among them, 0 or more: a number, several, a range
        ``START:STOP:STEP``, or ``0:auto`` (``0:auto:STEPS``), from there to 99 % of where it
        saturates, in 20 steps.
    startup_cycles
        Δ, of every message before it is sent.
    variant
        ``improved``, or the published model, ``consistent`` or ``printed``; see
        ``models.torus_broadcast``.
    injection_channels
        Channels from a node into the network; 0: as many as it has to its neighbours.
    simulate
        Whether to simulate that network beside it, at some of the rates.
    cycles, precision, most_cycles, seed
        Of the simulation; see ``BroadcastQuestion``.
    """

    k: int | None = Field(None, ge=2, le=MAX_ELEMENTS)
    dimensions: int | None = Field(None, ge=1, le=MOST_DIMENSIONS)
    sides: list[int] | tuple[int, ...] | None = None
    on: str | InstanceOf[Topology] | InstanceOf[Machine] | None = None
    message_flits: int = Field(32, ge=1, le=2**24)
    vcs: int = Field(3, ge=1, le=62)
    broadcast: float = Field(0.0, ge=0, le=1)
    rate: Any = "0:auto"
    startup_cycles: float = Field(0.0, ge=0, le=MOST)
    variant: Literal["improved", "consistent", "printed"] = "improved"
    injection_channels: int = Field(0, ge=0, le=62)
    simulate: bool = False
    cycles: int | None = Field(None, ge=1, le=2**30)
    precision: float = Field(0.02, gt=0, lt=1)
    most_cycles: int = Field(200_000, ge=1, le=2**30)
    seed: int = Field(DEFAULT_SEED, ge=0, le=MOST_SEED)


def predict_torus_broadcast(k: int | None = None, **options: Any) -> TorusBroadcastPrediction:
    """Predict the latency of messages on a wormhole torus, of which a part is broadcast.

    Latency is that of the messages to one node; those that are broadcast are in their way.
    Uniform targets, Duato's adaptive routing, messages of one length: see
    ``models.torus_broadcast``. With ``simulate`` the same network is simulated beside it, which
    shows progress; Ctrl-C ends that, and what was known by then is the answer.

    Parameters
    ----------
    k
        Nodes a side; see ``TorusBroadcastQuestion``, as for all other options.

    Raises
    ------
    InputError
        If a field or their combination cannot be used.

    Examples
    --------
    >>> found = predict_torus_broadcast(8, message_flits=32, vcs=3, broadcast=0.02, rate=0.004)
    >>> found.saturated, round(found.to_dict()["zero_load_latency"], 2)
    (False, 36.06)
    >>> curve = predict_torus_broadcast(on="torus:8x4", rate="0:auto:4").table()
    >>> curve["latency"].is_sorted()
    True
    """
    question = ask(TorusBroadcastQuestion, {"k": k, **options})
    topology = None if question.on is None else find_torus(question.on)
    sides = _sides(question, topology)
    if not question.simulate:
        refuse(question, OF_A_SIMULATION, "simulate, which this says something of")

    def model(rates: Sequence[float]) -> Any:
        return torus_broadcast(
            sides,
            message_flits=question.message_flits,
            vcs=question.vcs,
            rate=np.asarray(rates, np.float64),
            broadcast=question.broadcast,
            startup_cycles=question.startup_cycles,
            variant=question.variant,
            injection_channels=question.injection_channels,
        )

    rates = parse_rates(question.rate, "rate", lambda: model([0.0]).saturation_rate)
    return TorusBroadcastPrediction(
        name=f"torus:{'x'.join(map(str, sides))}" if topology is None else topology.name,
        found=model(rates),
        simulated=_simulated(question, sides, topology, rates) if question.simulate else None,
        provenance=provenance_of(question, "predict_torus_broadcast", topology),
    )


def _sides(question: TorusBroadcastQuestion, topology: Cube | None) -> tuple[int, ...]:
    """Return the sides of the torus, which is said in one way."""
    square = question.k is not None or question.dimensions is not None
    said = {"k": square, "sides": question.sides is not None, "on": topology is not None}
    ways = [name for name, is_said in said.items() if is_said]
    if len(ways) > 1:
        raise InputError(ways[-1], f"{ways[-1]} as well as {ways[0]}", "one of them")
    if topology is not None:
        return topology.sides
    if question.sides is not None:
        return tuple(question.sides)
    return (question.k or SIDE,) * (question.dimensions or DIMENSIONS)


def _simulated(
    question: TorusBroadcastQuestion,
    sides: tuple[int, ...],
    topology: Cube | None,
    rates: tuple[float, ...],
) -> BroadcastSimulation:
    """Return what the simulator says at those rates that can be offered, or at some of them."""
    if question.broadcast == 1:
        wanted = "below 1, to simulate: latency is that of messages that are not broadcast"
        raise InputError("broadcast", "1", wanted)
    if question.startup_cycles % 1:
        raise InputError("startup_cycles", f"{question.startup_cycles:g}", "whole, to simulate")
    offered = [rate for rate in rates if 0 < rate * question.message_flits <= 1]
    if not offered:
        found = f"{counted(rates[-1], 'message', 'g')} of {counted(question.message_flits, 'flit')}"
        raise InputError("rate", found, "above 0, at most a flit/node/cycle, to simulate")
    return simulate_broadcast(
        torus(*sides) if topology is None else topology,
        rate=some_of(offered),
        broadcast=question.broadcast,
        packet_flits=question.message_flits,
        vcs=question.vcs,
        startup_cycles=int(question.startup_cycles),
        injection_channels=question.injection_channels,
        ejection_channels=0,
        cycles=question.cycles,
        precision=question.precision,
        most_cycles=question.most_cycles,
        seed=question.seed,
        **SIMULATED,
    )
