"""Predict message latency on a wormhole torus with some broadcasts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, figure, known, places
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import begun, counted, number, percent
from netloom.questions.answers import Mark, Verdict
from netloom.questions.base import MOST, Numbers, Question, option, parse_rates
from netloom.questions.curves import CurveKind, in_figures
from netloom.questions.fields import Measured, Network, Seeded
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.predict import shared
from netloom.questions.register import asks
from netloom.topology import Cube, torus
from netloom_papers.questions.predict.shared import MOST_DIMENSIONS, find_torus
from netloom_papers.questions.simulate import broadcast as simulation

MESSAGES = "messages/cycle"
NODE_RATE = "messages/node/cycle"

ENDS_CYCLES = 3
"""Cycles that a simulated message spends on the channels at its ends, which the model has not."""

ERRORS = {0.2: 0.007, 0.5: 0.03, 0.8: 0.06, 1.0: 0.22}
"""Errors of the improved model's latencies up to a part of saturation, on 108 simulated tori."""

OF_SATURATION = 0.06
"""Error of the improved model's saturation, on the same tori."""

NEAR = 0.8
"""Part of the saturation from which a rate is near it."""

TRUST = {
    "improved": "on 108 simulated tori off by 0.7 % at a fifth of saturation, 3 % at half, 6 % at "
    "four fifths (22 at worst), and saturation by 6 % (24 at worst)",
    "consistent": "too high from half of its own saturation on, which comes too early: "
    "docs/predict.md has the errors",
    "printed": "near simulation at moderate load, since two errors cancel, but saturates too "
    "early: docs/predict.md has the errors",
}
"""How far a variant can be trusted, in a line."""

OF_MESSAGES = ("message_flits", "vcs", "broadcast", "startup_cycles", "variant")
"""Fields that the model and its answer have."""

OF_RUNS = ("broadcast", "vcs", "injection_channels", "seed", *Measured.model_fields)
"""Fields that a simulation has."""

SIDE, DIMENSIONS = 8, 2
"""Where neither sides nor a network are given."""

SIMULATED: dict[str, Any] = {
    "router": "single-cycle",
    "channel_cycles": 0,
    "routing": "adaptive",
    "buffer_flits": 4,
}
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
        "Virtual channels per channel: at least 3, two of them for escape.", default=3, ge=1, le=62
    )
    injection_channels: int = option(
        "Channels from a node into the network (0: one per neighbor).", default=0, ge=0, le=62
    )


class Messages(Question, panel="Messages"):
    """Messages to uniform targets, of which a share is broadcast."""

    message_flits: int = option(
        "Length of all messages, M.", unit="flits", default=32, ge=1, le=2**24
    )
    broadcast: float = option("Share of the messages that are broadcast.", default=0.0, ge=0, le=1)
    rate: Numbers = option(
        f"Messages per node, broadcasts included: 0.002, several, {shared.RATES}.",
        unit=NODE_RATE,
        default="0:auto",
    )
    startup_cycles: float = option(
        "Start-up time of every message.", unit=CYCLES, default=0.0, ge=0, le=MOST
    )
    variant: Literal["improved", "consistent", "printed"] = option(
        "Model: improved, or the published one, consistent or printed.", default="improved"
    )


class TorusBroadcastQuestion(shared.Simulated, Seeded, Messages, AdaptiveTorus):
    """A torus and its messages, perhaps simulated beside the model."""


class PredictedRate(Figures):
    """What the model says at one rate. Times of messages to one node are None past saturation."""

    rate: float = figure(unit=NODE_RATE, lead=True, key=True)
    saturated: bool = figure(key=True)
    latency: float | None = figure(
        "latency of a message to one node", CYCLES, head="latency", lead=True, key=True
    )
    network_latency: float | None = figure("in the network", CYCLES, lead=True, key=True)
    source_wait: float | None = figure(
        "in the source queue", CYCLES, head="at source", lead=True, key=True
    )
    vc_multiplexing: float | None = figure("VC multiplexing", lead=True)
    channel_rate: float | None = figure("on a channel", MESSAGES)
    unicast_channel_rate: float | None = figure("of them to one node", MESSAGES)
    broadcast_channel_rate: float | None = figure("of them broadcast", MESSAGES)
    unicast_service: float | None = figure("a channel is held by a message to one node", CYCLES)
    broadcast_service: float | None = figure("a channel is held by a broadcast", CYCLES)
    channel_wait: float | None = figure("wait for a VC", CYCLES)
    blocked: float | None = figure("a head finds no VC", SHARE, head="finds no VC", lead=True)
    channel_utilisation: float = figure("channels busy", SHARE, lead=True, key=True)
    expected_error: float | None = figure("error of the model", SHARE)
    held_vcs: tuple[float, ...] | None = figure("share of the time that 0, 1 … VCs are held")
    simulated: shared.Checked | None = figure(flat="simulated_", lead=True, key=True)


class SimulatedNetwork(Figures):
    """The network that was simulated beside the model."""

    routing: str = figure()
    router: dict[str, object] = figure()
    cycles_at_ends_taken_off: int = figure(unit=CYCLES)


class TorusBroadcastPrediction(shared.CurveAnswer):
    """What ``predict_torus_broadcast`` says, at one rate or at several."""

    topology: str = figure(table=False)
    message_flits: int = figure(unit="flits", table=False)
    vcs: int = figure(table=False)
    broadcast: float = figure(unit=SHARE, table=False)
    variant: str = figure(table=False)
    startup_cycles: float = figure(unit=CYCLES, table=False)
    saturation_rate: float = figure("saturates at", NODE_RATE, lead=True)
    zero_load_latency: float = figure("idle", CYCLES, lead=True)
    simulated_network: SimulatedNetwork | None = figure()
    trust: str = figure()
    interrupted: bool = figure()
    points: tuple[PredictedRate, ...] = figure()

    @property
    def of(self) -> str:
        """The share of broadcasts, and the torus."""
        share = f"{percent(self.broadcast)} broadcast on " if self.broadcast else ""
        return share + self.topology

    def judged(self) -> Verdict:
        """Return what one rate, or several, come to."""
        mark, said = self._said()
        then = self.again(rate="0:auto") if mark == "act" else ""
        if mark == "limited" and not self.checked and self.broadcast < 1:
            then = self.again(simulate=True)
        off = shared.rounded(OF_SATURATION)
        note = f"Model: 108 simulated tori saturate within {off} of it (24\u00a0% at worst)."
        if self.broadcast:
            note += " Latency: of the messages that are not broadcast."
        if self.variant != "improved":
            note = f"The {self.variant} model is {TRUST[self.variant]}."
        return Verdict(mark, said, {"checked": self.checked}, then, note)

    def _said(self) -> tuple[Mark, str]:
        """Return the mark of one rate, or of several, and what they come to."""
        steady, last = [each for each in self.points if not each.saturated], self.points[-1]
        if not steady:
            over = f"Overloaded at rate {number(self.points[0].rate)}"
            return "act", f"{over}: the torus saturates near {self._limit}."
        mark: Mark = "limited" if last.rate > NEAR * self.saturation_rate else "fine"
        idle = number(self.zero_load_latency)
        if self.several and mark == "limited":
            near = min(steady, key=lambda each: abs(each.rate - self.saturation_rate / 2))
            said = f"Saturates near {self._limit}: {idle} cycles idle"
            if near.rate > 0:
                said += f", about {number(near.latency)} at {number(near.rate)}"
            return mark, f"{said}."
        error = last.expected_error
        off = "" if error is None else f", model error {shared.rounded(error)}"
        said = f"about {number(last.latency)} cycles at rate {number(last.rate)} ({idle} idle{off})"
        if self.several:
            said = f"All {len(self.points)} rates are carried: {said}"
        return mark, f"{begun(said)}. Saturates near {self._limit}."

    @property
    def _limit(self) -> str:
        return f"{number(self.saturation_rate)} {NODE_RATE}"

    def remarks(self) -> Iterator[str]:
        """Yield how many VCs are held at one rate, the network, and what was simulated."""
        held = () if self.several else self.points[0].held_vcs or ()
        if held:
            said = ", ".join(f"{vcs}: {percent(part)}" for vcs, part in enumerate(held))
            yield f"VCs of a channel that are held: {said} of the time"
        messages = f"messages of {counted(number(self.message_flits), 'flit')}"
        if self.startup_cycles:
            messages += f" that take {counted(number(self.startup_cycles), 'cycle')} to start up"
        yield f"adaptive routing, {counted(self.vcs, 'VC')}, {messages}, {self.variant} model"
        if self.simulated_network is not None:
            yield from self.simulation_remarks(
                "adaptive routing, a cycle per hop, VCs of "
                f"{self.simulated_network.router['buffer_flits']} flits, less the "
                f"{self.simulated_network.cycles_at_ends_taken_off} cycles on the channels at the "
                "ends, which the model lacks"
            )

    def footer(self) -> list[str]:
        """Return the torus, its messages, and where it saturates."""
        return [
            f"{self.topology}, adaptive routing, {counted(self.vcs, 'VC')}; messages of "
            f"{counted(number(self.message_flits), 'flit')}, {percent(self.broadcast)} of them "
            "broadcast; "
            f"{self.variant} model; {number(self.zero_load_latency)} cycles unhindered, "
            f"saturates at {self._limit}*; * estimate"
        ]

    def parts(self) -> dict[str, Any]:
        """Return the latency by rate, or what makes it up at one."""
        from netloom.drawing.axes import axis
        from netloom.drawing.load_curves import latency_curve, made_of

        if not self.several:
            return {"latency": made_of(self.points[0], self.startup_cycles)}
        saturates, rates = self.saturation_rate, [each.rate for each in self.points]
        near = saturates if saturates <= 1.3 * rates[-1] else None
        along = axis("rate", f"rate ({NODE_RATE})", [*rates, near])
        at = saturates, saturates
        return {"latency": latency_curve(self.table(), along, self.zero_load_latency, at)}


COLUMNS = "rate", "latency", "zero_load_latency"
CURVE = CurveKind(
    simulation.BY_RATE,
    *COLUMNS,
    stable="-saturated",
    model=True,
    ends=ENDS_CYCLES,
    besides=("rate", "simulate", "k", "dimensions", "sides", "variant"),
    about={"traffic": "uniform", "routing": "adaptive"},
    found=in_figures("saturation_rate"),
)


def prepare(question: TorusBroadcastQuestion) -> tuple[tuple[int, ...], Cube | None]:
    """Return the sides of the torus, which is said in one way, and the network if it is named."""
    network = None if question.on is None else find_torus(question.on)
    said = {"k": question.k or question.dimensions, "sides": question.sides, "on": network}
    ways = [name for name, value in said.items() if value is not None]
    if len(ways) > 1:
        raise InputError(ways[-1], f"{ways[-1]} as well as {ways[0]}", "one of them")
    question.refuse_limits_alone()
    square = (question.k or SIDE,) * (question.dimensions or DIMENSIONS)
    return network.sides if network else tuple(question.sides or square), network


@asks(
    TorusBroadcastQuestion,
    prepare=prepare,
    title="Model of a torus with broadcasts",
    example="netloom predict torus-broadcast --k 8 --broadcast 0.02 --rate 0:auto --plot curve.svg",
    page="predict.md",
    outputs=(PLOT,),
    curve=CURVE,
)
def predict_torus_broadcast(
    question: TorusBroadcastQuestion, ready: tuple[tuple[int, ...], Cube | None]
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
    from netloom_papers.models.torus_broadcasts import torus_broadcast

    sides, named = ready
    network = named or torus(*sides)
    asked = {name: getattr(question, name) for name in OF_MESSAGES}
    model = partial(torus_broadcast, sides, injection_channels=question.injection_channels, **asked)
    rates = parse_rates(question.rate, "rate", lambda: model(rate=0.0).saturation_rate)
    found = model(rate=rates)
    run = _simulated(question, network, rates) if question.simulate else None
    setup = run.setup if run else None
    runs = {each.rate: each for each in run.points if each.unicast_messages} if run else {}
    errors = ERRORS if question.variant == "improved" else {}

    def point(place: int, rate: float) -> PredictedRate:
        saturated, part = bool(found.saturated[place]), rate / found.saturation_rate
        said = {
            each.name: known(getattr(found, each.name)[place])
            for each in places(PredictedRate)
            if each.maybe and not each.several and hasattr(found, each.name)
        }
        held, checked = found.held_vcs[place], None
        if rate in runs:
            stable, seen = runs[rate].stable, runs[rate].unicast_latency
            latency = None if seen.mean is None else seen.mean - ENDS_CYCLES
            checked = shared.Checked.of(latency, seen.ci95, said["latency"], stable=stable)
        near = next((error for upto, error in errors.items() if part <= upto), None)
        return PredictedRate(
            **said,
            rate=rate,
            saturated=saturated,
            channel_utilisation=float(found.channel_rate[place]) * question.message_flits,
            expected_error=None if saturated else near,
            held_vcs=None if np.isnan(held).any() else tuple(held.tolist()),
            simulated=checked,
        )

    return TorusBroadcastPrediction(
        topology=named.name if named else f"torus:{'x'.join(map(str, sides))}",
        **asked,
        saturation_rate=float(found.saturation_rate),
        zero_load_latency=found.zero_load_latency,
        simulated_network=None
        if setup is None
        else SimulatedNetwork(
            routing=setup.routing, router=setup.router, cycles_at_ends_taken_off=ENDS_CYCLES
        ),
        trust=TRUST[question.variant],
        interrupted=bool(run and run.interrupted),
        points=tuple(point(place, rate) for place, rate in enumerate(rates)),
        provenance=provenance_of(question, "predict_torus_broadcast", named),
    )


def _simulated(
    question: TorusBroadcastQuestion, network: Cube, rates: tuple[float, ...]
) -> simulation.BroadcastSimulation:
    """Return what the simulator says at those rates that can be offered, or at some of them."""
    if question.broadcast == 1:
        wanted = "below 1, to simulate: latency is that of messages that are not broadcast"
        raise InputError("broadcast", "1", wanted)
    if question.startup_cycles % 1:
        raise InputError("startup_cycles", f"{question.startup_cycles:g}", "whole, to simulate")
    offered = [rate for rate in rates if 0 < rate * question.message_flits <= 1]
    if not offered:
        most = f"{counted(rates[-1], 'message', 'g')} of {counted(question.message_flits, 'flit')}"
        raise InputError("rate", most, "above 0, at most a flit/node/cycle, to simulate")
    asked = {name: getattr(question, name) for name in OF_RUNS} | SIMULATED
    asked |= {"startup_cycles": int(question.startup_cycles), "ejection_channels": 0}
    rate, flits = shared.some_of(offered), question.message_flits
    return simulation.simulate_broadcast(network, rate=rate, packet_flits=flits, **asked)
