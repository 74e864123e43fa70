"""The answer of ``predict_torus_broadcast``: latency by rate, beside that of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from netloom.questions.answers import CYCLES, Column, Columns, asked, table
from netloom.questions.curve_kind import CurveKind, in_figures
from netloom.questions.numbers import known
from netloom.questions.predict.points import SIMULATED, Beside, CurveAnswer, at, beside
from netloom_papers.questions.predict.torus_broadcast.verdict import sentence_of
from netloom_papers.questions.simulate.broadcast.answer import BY_RATE

if TYPE_CHECKING:
    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom_papers.models.torus_broadcasts import TorusBroadcast
    from netloom_papers.questions.simulate.broadcast.answer import BroadcastSimulation

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

    @property
    def sentence(self) -> str:
        """What the rate comes to."""
        found = self.found
        network = {"saturation_rate": found.saturation_rate, "variant": found.variant,
                   "zero_load_latency": found.zero_load_latency}  # fmt: skip
        said = sentence_of(
            {"rate": found.rate[self.place], "latency": self.latency, "saturated": self.saturated},
            network,
        )
        return said if self.simulated is None else f"{said[:-1]}{self.simulated.sentence}."


RATE = Column("rate", unit="messages/node/cycle", value=at("rate"), key=True)

HELD = Columns(
    RATE, Column("held", "VCs of a channel that are held", kind=int), Column("probability")
)


@dataclass(frozen=True, eq=False)
class TorusBroadcastPrediction(CurveAnswer):
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
        *SIMULATED,
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
        return tuple(
            PredictedRate(self.found, place, self._beside(place))
            for place in range(len(self.rates))
        )

    def _beside(self, place: int) -> Beside | None:
        runs = self.simulated.points if self.simulated else ()
        run = next((run for run in runs if run.rate == self.rates[place]), None)
        if run is None or not run.unicast.messages:
            return None
        latency = known(run.unicast.mean - ENDS_CYCLES) if run.stable else None
        half = known(run.unicast.ci95) if run.stable else None
        return beside(latency, half, known(self.found.latency[place]), stable=run.stable)

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

    def __repr__(self) -> str:
        found = self.found
        head = (
            f"<{self.name}, {found.message_flits:g}-flit messages, {found.broadcast:g} broadcast, "
            f"{found.vcs} VCs, {found.variant} model: {found.zero_load_latency:.4g} cycles "
            f"idle, saturates at {found.saturation_rate:.4g} messages/node/cycle; "
            f"{self.origin}>"
        )
        return "\n".join([head, *(each.sentence for each in self.observations)])


CURVE = CurveKind(
    BY_RATE, "rate", "latency", "zero_load_latency", stable="-saturated", model=True,
    ends=ENDS_CYCLES, besides=("rate", "simulate", "k", "dimensions", "sides", "variant"),
    about={"traffic": "uniform", "routing": "adaptive"}, found=in_figures("saturation_rate"),
)  # fmt: skip
