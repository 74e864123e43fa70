"""What latency has a torus with adaptive routing and broadcasts, and where does it saturate?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.drawing.colours import THIS
from netloom.questions.base import MOST, MOST_DIMENSIONS, Numbers, Question, option, parse_rates
from netloom.questions.columns import (
    CYCLES,
    Column,
    Columns,
    CurveKind,
    asked,
    in_figures,
    known,
    table,
)
from netloom.questions.fields import Network, Seeded
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.predict.shared import (
    RATES,
    Beside,
    CurveAnswer,
    Simulated,
    at,
    beside,
    checked,
    curve_table,
    find_torus,
    of_unit,
    rounded,
    some_of,
    worst_checked,
)
from netloom.questions.predict.shared import SIMULATED as BESIDE
from netloom.questions.register import asks, command_line, kind_of
from netloom.questions.shown import Verdict, interruption, pairs, percent
from netloom.topology import Cube, torus
from netloom_papers.models.torus_broadcasts import torus_broadcast
from netloom_papers.questions.simulate.broadcast.question import BY_RATE, simulate_broadcast
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded
    from netloom_papers.models.torus_broadcasts import TorusBroadcast
    from netloom_papers.questions.simulate.broadcast.question import BroadcastSimulation

MESSAGES = "messages/cycle"

ENDS_CYCLES = 3
"""Cycles that a simulated message spends on the channels at its ends, which the model has not."""

FIGURES = {
    "latency": ("latency of a message to one node", CYCLES),
    "network_latency": ("in the network", CYCLES),
    "source_wait": ("in the source queue", CYCLES),
    "vc_multiplexing": ("VC multiplexing", ""),
    "channel_rate": ("on a channel", MESSAGES),
    "unicast_channel_rate": ("of them to one node", MESSAGES),
    "broadcast_channel_rate": ("of them broadcast", MESSAGES),
    "unicast_service": ("a channel is held by a message to one node", CYCLES),
    "broadcast_service": ("a channel is held by a broadcast", CYCLES),
    "channel_wait": ("wait for a VC", CYCLES),
    "blocked": ("a head finds no VC, share", ""),
}
"""Figures of ``TorusBroadcast``: titles and units."""

KEY = ("latency", "network_latency", "source_wait")

TRUST = {
    "improved": "on 108 simulated tori off by 0.7 % at a fifth of saturation, 3 % at half, 6 % at "
    "four fifths (22 at worst), and saturation by 6 % (24 at worst)",
    "consistent": "too high from half of its own saturation on, which comes too early: "
    "docs/predict.md has the errors",
    "printed": "near simulation at moderate load, for two errors cancel; saturates too early: "
    "docs/predict.md has the errors",
}
"""How far a variant can be trusted, in a line."""


class PredictedRate(NamedTuple):
    """One rate by its place in what the model found, and what was simulated beside it."""

    found: TorusBroadcast
    place: int
    simulated: Beside | None

    @property
    def held_vcs(self) -> list[float] | None:
        """The probability that 0, 1 … V VCs of a channel are held. None past saturation."""
        held = self.found.held_vcs[self.place]
        return None if self.saturated or np.isnan(held).any() else held.tolist()

    @property
    def latency(self) -> float | None:
        """Mean latency of unicast messages in cycles. None past saturation."""
        return known(self.found.latency[self.place])

    @property
    def saturated(self) -> bool:
        """Whether there is no steady state."""
        return bool(self.found.saturated[self.place])


RATE = Column("rate", unit="messages/node/cycle", value=at("rate"), key=True)

HELD = Columns(
    RATE, Column("held", "VCs of a channel that are held", kind=int), Column("probability")
)


@dataclass(frozen=True, eq=False, repr=False)
class TorusBroadcastPrediction(Told, CurveAnswer):
    """What ``predict_torus_broadcast`` says, at one rate or at several.

    Latencies are those of unicast messages, null past saturation.

    Attributes
    ----------
    found
        What the model says. Its ``rate`` holds the rates that were asked for, rising.
    simulated
        The network of the model, simulated at some of them. None where it was not asked for.
    """

    columns: ClassVar = Columns(
        RATE,
        Column("saturated", kind=bool, key=True),
        *(Column(name, *told, at(name), key=name in KEY) for name, told in FIGURES.items()),
        Column(
            "channel_utilisation", "channels busy, share", key=True,
            value=lambda each: at("channel_rate")(each) * each.found.message_flits,
        ),
        Column("held_vcs", kind=list, table=False),
        *BESIDE,
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("topology", kind=str, value="name"),
        Column("message_flits", unit="flits", kind=int, value="found.message_flits"),
        Column("vcs", kind=int, value="found.vcs"),
        Column("broadcast", value="found.broadcast"),
        Column("variant", kind=str, value="found.variant"),
        Column("startup_cycles", unit=CYCLES, value=asked("startup_cycles")),
        Column("saturation_rate", value="found.saturation_rate"),
        Column("zero_load_latency", unit=CYCLES, value="found.zero_load_latency"),
        Column("simulated_network", kind=dict),
        Column("trust", kind=str, value=lambda answer: TRUST[answer.found.variant]),
        Column("interrupted", kind=bool),
    )

    name: str
    found: TorusBroadcast
    simulated: BroadcastSimulation | None
    provenance: Provenance

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that were asked for, messages per node and cycle."""
        return tuple(self.found.rate.tolist())

    @property
    def observations(self) -> tuple[PredictedRate, ...]:
        """What is known of each rate."""
        runs = {run.rate: run for run in (self.simulated.runs if self.simulated else ())}
        points = []
        for place, rate in enumerate(self.rates):
            run, found = runs.get(rate), None
            if run is not None and run.unicast.messages:
                latency = known(run.unicast.mean - ENDS_CYCLES) if run.stable else None
                half = known(run.unicast.ci95) if run.stable else None
                predicted = known(self.found.latency[place])
                found = beside(latency, half, predicted, stable=run.stable)
            points.append(PredictedRate(self.found, place, found))
        return tuple(points)

    @table(HELD)
    def held_vcs(self) -> pl.DataFrame:
        """Return one row per rate and number of VCs: how probably a channel has so many held.

        Rates that are saturated have none.
        """
        return HELD.frame_of(
            [
                {"rate": rate, "held": count, "probability": share}
                for rate, each in zip(self.rates, self.observations, strict=True)
                for count, share in enumerate(each.held_vcs or ())
            ]
        )

    @property
    def simulated_network(self) -> dict[str, Any] | None:
        """The network that was simulated. None where nothing was."""
        if self.simulated is None:
            return None
        network = self.simulated.network
        return {
            "routing": network.routing_name,
            "router": network.router_fields,
            "cycles_at_ends_taken_off": ENDS_CYCLES,
        }


CURVE = CurveKind(
    BY_RATE, "rate", "latency", "zero_load_latency", stable="-saturated", model=True,
    ends=ENDS_CYCLES, besides=("rate", "simulate", "k", "dimensions", "sides", "variant"),
    about={"traffic": "uniform", "routing": "adaptive"}, found=in_figures("saturation_rate"),
)  # fmt: skip


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
    sides, named = ready
    network = named or torus(*sides)

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
        name=named.name if named else f"torus:{'x'.join(map(str, sides))}",
        found=model(rates),
        simulated=_simulated(question, network, rates) if question.simulate else None,
        provenance=provenance_of(question, "predict_torus_broadcast", named),
    )


def _simulated(
    question: TorusBroadcastQuestion, network: Cube, rates: tuple[float, ...]
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
        network,
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


ERRORS = {0.2: 0.007, 0.5: 0.03, 0.8: 0.06, 1.0: 0.22}
"""Errors of the improved model's latencies up to a part of saturation, on 108 simulated tori."""

OF_SATURATION = 0.06
"""Error of the improved model's saturation, on the same tori."""

PUBLISHED = {
    "consistent": "The published model is too high from half of its own saturation on, which "
    "comes too early.",
    "printed": "The printed model is near simulation at moderate load, since two errors cancel. "
    "It saturates too early.",
}
"""How far the published variants can be trusted."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one rate, or several, come to."""
    of = str(figures["topology"])
    if figures["broadcast"]:
        of = f"{percent(figures['broadcast'])} broadcast on {of}"
    points = figures.get("points")
    mark, said = _one(figures, figures) if points is None else _several(figures, points)
    simulated = checked(figures) if points is None else worst_checked(points)
    lines = {"checked": simulated} if simulated else {}
    asked = figures["provenance"]["configuration"]
    then, kind = "", kind_of("predict.torus-broadcast")
    if mark == "limited" and not simulated and figures["broadcast"] < 1:
        then = command_line(kind, dict(asked) | {"simulate": True})
    if mark == "act":
        then = command_line(kind, dict(asked) | {"rate": "0:auto"})
    note = (
        f"Model: 108 simulated tori saturate within {rounded(OF_SATURATION)} of it (24\u00a0% at "
        "worst)."
    )
    if figures["broadcast"]:
        note += " Latency: of the messages that are not broadcast."
    return Verdict(mark, said, of, lines, then, PUBLISHED.get(figures["variant"], note))


def _one(point: Mapping[str, Any], network: Mapping[str, Any]) -> tuple[str, str]:
    """Return the mark of one rate, and what it comes to."""
    if point["saturated"]:
        said = f"Overloaded at rate {number(point['rate'])}: the torus saturates near "
        return "act", f"{said}{_limit(network)}."
    near = point["rate"] > 0.8 * network["saturation_rate"]
    said = f"{_about(point, network)}. Saturates near {_limit(network)}."
    return "limited" if near else "fine", said


def _several(figures: Mapping[str, Any], points: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the mark of several rates, and what they come to."""
    steady = [each for each in points if not each["saturated"]]
    if not steady:
        return _one(points[0], figures)
    last, limit = points[-1], figures["saturation_rate"]
    if last["rate"] <= 0.8 * limit:
        said = _about(last, figures).replace("About", f"All {len(points)} rates are carried: about")
        return "fine", f"{said}. Saturates near {_limit(figures)}."
    near = min(steady, key=lambda each: abs(each["rate"] - limit / 2))
    said = f"Saturates near {_limit(figures)}: {number(figures['zero_load_latency'])} cycles idle"
    if near["rate"] > 0:
        said += f", about {number(near['latency'])} at {number(near['rate'])}"
    return "limited", f"{said}."


def _about(point: Mapping[str, Any], network: Mapping[str, Any]) -> str:
    """Return a latency with that of the idle network and its expected error."""
    idle = f"{number(network['zero_load_latency'])} idle"
    if network["variant"] == "improved":
        part = point["rate"] / network["saturation_rate"]
        error = next(each for upto, each in ERRORS.items() if part <= upto)
        idle += f", model error {rounded(error)}"
    return f"About {number(point['latency'])} cycles at rate {number(point['rate'])} ({idle})"


def _limit(network: Mapping[str, Any]) -> str:
    return f"{number(network['saturation_rate'])} messages/node/cycle"


def lines(result: TorusBroadcastPrediction) -> list[Any]:
    """Return what the model says of each rate, and how far to trust it."""
    data = result.to_dict()
    notes = [
        f"[dim]Adaptive routing, {counted(data['vcs'], 'VC')}, messages of "
        f"{counted(number(data['message_flits']), 'flit')}, {data['variant']} model[/]"
    ]
    if result.simulated is not None:
        ends = data["simulated_network"]["cycles_at_ends_taken_off"]
        buffers = data["simulated_network"]["router"]["buffer_flits"]
        notes.append(
            f"[dim]Simulated: adaptive routing, a cycle per hop, VCs of {buffers} flits, seed "
            f"{result.provenance.seed}, less the {ends} cycles on the channels at the ends, which "
            "the model lacks.[/]"
        )
    notes += interruption(result, "simulated")
    if "points" not in data:
        rows = {
            "latency": of_unit(data["latency"], "cycles"),
            "  in the network": number(data["network_latency"]),
            "  in the source queue": number(data["source_wait"]),
            "  starting up": number(data["startup_cycles"]),
            "VC multiplexing": number(data["vc_multiplexing"]),
            "channels": f"{number(data['channel_rate'])} messages/cycle, busy "
            f"{percent(data['channel_utilisation'])}",
            "a head finds no VC": f"{percent(data['blocked'])}, and waits "
            f"{number(data['channel_wait'])} cycles",
            "VCs held": ", ".join(
                f"{count}: {percent(each)}" for count, each in enumerate(data["held_vcs"] or ())
            ),
        }
        if not data["startup_cycles"]:
            del rows["  starting up"]
        if data["saturated"]:
            rows = {name: rows[name] for name in ("latency", "channels")}
        return [pairs(rows), *notes]
    columns = {
        "rate": "rate", "latency\n(cycles)": "latency", "in network": "network_latency",
        "at source": "source_wait", "VC multi-\nplexing": "vc_multiplexing",
    }  # fmt: skip
    shares = {"channels\nbusy": "channel_utilisation", "no VC": "blocked"}
    return [curve_table(data, columns, shares), *notes]


def footer(record: Recorded) -> list[str]:
    """Return the torus, its messages, and where it saturates."""
    found = record.figures
    return [
        f"{found['topology']}, adaptive routing, {counted(found['vcs'], 'VC')}; messages of "
        f"{number(found['message_flits'])} flits, {percent(found['broadcast'])} of them broadcast; "
        f"{found['variant']} model; {number(found['zero_load_latency'])} cycles unhindered, "
        f"saturates at {number(found['saturation_rate'])} messages/node/cycle*; * estimate"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the latency, and how often 0, 1 … V virtual channels are held, by rate or at one."""
    import polars as pl

    from netloom.drawing.axes import End, panel, shades
    from netloom.drawing.bars import Bar, bars
    from netloom.questions.predict.drawn import latency_curve, made_of

    found, table, held = record.figures, record.tables["table"], record.tables["held_vcs"]
    if not record.several:
        rows = [
            Bar(counted(vcs, "VC"), part, percent(part), THIS)
            for vcs, part in held.drop_nulls().select("held", "probability").rows()
        ]
        said = "Nothing is known of how many VCs are held"
        if rows:
            said = f"All VCs of a channel are held {rows[-1].said} of the time"
        at_once = bars(rows, said, "share of the time", width=300, share=True)
        return {"latency": made_of(table, found["startup_cycles"]), "held VCs": at_once}
    saturates = float(found["saturation_rate"])
    near = saturates if saturates <= 1.3 * float(table["rate"].max()) else None  # type: ignore[arg-type]
    along = axis("rate", "rate (messages/node/cycle)", [*table["rate"].to_list(), near])
    curve = latency_curve(table, along, found["zero_load_latency"], (saturates, saturates))
    most = int(held["held"].max() or 1)  # type: ignore[arg-type]
    areas = (
        held.sort("rate", "held")
        .with_columns(
            share=pl.col("probability").cum_sum().over("rate"), shade=pl.col("held") / max(most, 1)
        )
        .with_columns(below=pl.col("share") - pl.col("probability"))
    )
    names = [f"{each} held" for each in range(most + 1)]
    where = panel(along, axis("share", "share of the time", [1.0], share=True), names)
    layers: list[alt.Chart] = []
    ends = []
    for each, name in enumerate(names):
        mine = areas.filter(held=each)
        area = where.chart(mine, y2="below:Q", tooltip=["rate", "held", "probability"])
        layers.append(area.mark_area(clip=True).encode(color=shades()))
        if mine.height:
            last = mine.sort("rate").row(-1, named=True)
            ends.append(End(name, where.x.high, (last["share"] + last["below"]) / 2))
    full: Any = areas.filter(held=most)["probability"].max()
    said = f"All {counted(most, 'VC')} are held {percent(full)} of the time at most"
    return {"latency": curve, "held VCs": where.drawn([*layers, *where.ends(ends)], said)}
