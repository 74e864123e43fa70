"""What latency has a torus with adaptive routing and broadcasts, and where does it saturate?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import counted
from netloom.questions.base import MOST, MOST_DIMENSIONS, Numbers, Question, option
from netloom.questions.fields import Network, Seeded
from netloom.questions.numbers import parse_rates
from netloom.questions.outputs import PLOT
from netloom.questions.predict.fields import RATES, Simulated, find_torus
from netloom.questions.predict.points import some_of
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.topology import Cube, torus
from netloom_papers.models.torus_broadcasts import torus_broadcast
from netloom_papers.questions.predict.torus_broadcast.answer import TorusBroadcastPrediction
from netloom_papers.questions.simulate.broadcast.question import simulate_broadcast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom_papers.questions.simulate.broadcast.answer import BroadcastSimulation

SIDE, DIMENSIONS = 8, 2
"""Where neither sides nor a network are given."""

SIMULATED: dict[str, Any] = {
    "router": "single-cycle", "channel_cycles": 0, "routing": "adaptive", "buffer_flits": 4,
}  # fmt: skip
"""The network that the model is of: Duato's routing, and a cycle per hop."""


class AdaptiveTorus(Question, panel="Torus"):
    """A torus with Duato's adaptive routing."""

    k: int | None = option(
        "Nodes per side.", default=None, kw_only=False, ge=2, le=MAX_ELEMENTS, shown_default="8"
    )
    dimensions: int | None = option(
        "Dimensions of the torus.", default=None, ge=1, le=MOST_DIMENSIONS, shown_default="2"
    )
    sides: list[int] | tuple[int, ...] | None = option(
        "Nodes of each side, instead of k and dimensions.", default=None
    )
    on: Network | None = option(
        "Torus instead of its size: torus:8x4, a topology or a machine.", default=None, file=True
    )
    vcs: int = option(
        "Virtual channels per channel: at least 3, two of them for escape.",
        default=3, ge=1, le=62,
    )  # fmt: skip
    injection_channels: int = option(
        "Channels from a node into the network (0: one per neighbor).",
        default=0, ge=0, le=62,
    )  # fmt: skip


class Messages(Question, panel="Messages"):
    """Messages to uniform targets, of which a share is broadcast."""

    message_flits: int = option(
        "Length of all messages, M.", unit="flits", default=32, ge=1, le=2**24
    )
    broadcast: float = option("Share of the messages that are broadcast.", default=0.0, ge=0, le=1)
    rate: Numbers = option(
        f"Messages per node, broadcasts included: 0.002, several, {RATES}.",
        unit="messages/node/cycle", default="0:auto",
    )  # fmt: skip
    startup_cycles: float = option(
        "Start-up time of every message.", unit="cycles", default=0.0, ge=0, le=MOST
    )
    variant: Literal["improved", "consistent", "printed"] = option(
        "Model: improved, or the published one, consistent or printed.", default="improved"
    )


class TorusBroadcastQuestion(Simulated, Seeded, Messages, AdaptiveTorus):
    """A torus and its messages, perhaps simulated beside the model."""


class Torus(NamedTuple):
    """The torus of a question: its sides, and the network itself if that was named."""

    sides: tuple[int, ...]
    network: Cube | None

    @property
    def name(self) -> str:
        """Its name."""
        return self.network.name if self.network else f"torus:{'x'.join(map(str, self.sides))}"


def prepare(question: TorusBroadcastQuestion) -> Torus:
    """Return the torus, which is said in one way."""
    network = None if question.on is None else find_torus(question.on)
    square = question.k is not None or question.dimensions is not None
    said = {"k": square, "sides": question.sides is not None, "on": network is not None}
    ways = [name for name, is_said in said.items() if is_said]
    if len(ways) > 1:
        raise InputError(ways[-1], f"{ways[-1]} as well as {ways[0]}", "one of them")
    question.refuse_limits_alone()
    if network is not None:
        return Torus(network.sides, network)
    if question.sides is not None:
        return Torus(tuple(question.sides), None)
    return Torus((question.k or SIDE,) * (question.dimensions or DIMENSIONS), None)


@asks(
    TorusBroadcastQuestion,
    prepare=prepare,
    title="Model of a torus with broadcasts",
    example="netloom predict torus-broadcast --k 8 --broadcast 0.02 --rate 0:auto --plot curve.svg",
    page="predict.md",
    outputs=(PLOT,),
)
def predict_torus_broadcast(
    question: TorusBroadcastQuestion, ready: Torus
) -> TorusBroadcastPrediction:
    """Predict message latency on a wormhole torus with some broadcasts.

    The latency is that of messages to one node, which broadcasts delay. Targets are uniform,
    routing is Duato's adaptive one, and all messages have one length: see
    ``models.torus_broadcasts``. ``simulate`` also runs the network. Ctrl-C ends the runs, and the
    answer contains what is known by then.

    Examples
    --------
    >>> found = predict_torus_broadcast(8, message_flits=32, vcs=3, broadcast=0.02, rate=0.004)
    >>> found.saturated, round(found.to_dict()["zero_load_latency"], 2)
    (False, 36.06)
    >>> curve = predict_torus_broadcast(on="torus:8x4", rate="0:auto:4").table()
    >>> curve["latency"].is_sorted()
    True
    """

    def model(rates: Sequence[float]) -> Any:
        return torus_broadcast(
            ready.sides,
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
        name=ready.name,
        found=model(rates),
        simulated=_simulated(question, ready, rates) if question.simulate else None,
        provenance=provenance_of(question, "predict_torus_broadcast", ready.network),
    )


def _simulated(
    question: TorusBroadcastQuestion, ready: Torus, rates: tuple[float, ...]
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
        ready.network or torus(*ready.sides),
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
