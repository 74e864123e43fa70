"""The answer of ``predict_torus_broadcast``: latency by rate, beside that of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.errors import InputError
from netloom.questions.answers import Answer
from netloom.questions.numbers import known, plainly
from netloom.questions.predict.numbers import table_of

if TYPE_CHECKING:
    import polars as pl

    from netloom.models.torus_broadcasts import TorusBroadcast
    from netloom.provenance import Provenance
    from netloom.questions.simulate.broadcast.answer import BroadcastSimulation

ENDS_CYCLES = 3
"""Cycles that a simulated message spends on the channels at its ends, which the model has not."""

FIGURES = (
    "latency",
    "network_latency",
    "source_wait",
    "vc_multiplexing",
    "channel_rate",
    "unicast_channel_rate",
    "broadcast_channel_rate",
    "unicast_service",
    "broadcast_service",
    "channel_wait",
    "blocked",
)

TRUST = {
    "improved": "on 108 simulated tori off by 0.7 % at a fifth of saturation, 3 % at half, 6 % at "
    "four fifths (22 at worst), and saturation by 6 % (24 at worst)",
    "consistent": "too high from half of its own saturation on, which comes too early: "
    "docs/predict.md has the errors",
    "printed": "near simulation at moderate load, for two errors cancel; saturates too early: "
    "docs/predict.md has the errors",
}
"""How far a variant can be trusted, in a line."""


@dataclass(frozen=True, eq=False)
class TorusBroadcastPrediction(Answer):
    """What ``predict_torus_broadcast`` says, at one rate or at several.

    Attributes
    ----------
    name
        The torus.
    found
        What the model says; its ``rate`` holds the rates that were asked for, rising.
    simulated
        The network of the model, simulated at some of them; None where it was not asked for.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "held_vcs")

    name: str
    found: TorusBroadcast
    simulated: BroadcastSimulation | None
    provenance: Provenance

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that were asked for, messages a node and cycle."""
        return tuple(self.found.rate.tolist())

    @property
    def interrupted(self) -> bool:
        """Whether the simulation was stopped from outside."""
        return self.simulated is not None and self.simulated.interrupted

    @property
    def saturated(self) -> bool:
        """Whether there is no steady state (at the one rate that was asked for).

        Raises
        ------
        InputError
            If several were.
        """
        return bool(self.found.saturated[self._only()])

    @property
    def latency(self) -> float | None:
        """Mean latency of unicast messages in cycles, None past saturation (at the one rate).

        Raises
        ------
        InputError
            If several were asked for.
        """
        return known(self.found.latency[self._only()])

    def _only(self) -> int:
        """Return the place of the one rate that was asked for."""
        if len(self.rates) > 1:
            raise InputError("prediction", f"{len(self.rates)} rates", "one, or the table of all")
        return 0

    def table(self) -> pl.DataFrame:
        """Return one row a rate: the model's figures, cycles, null where it is saturated.

        Latencies are those of unicast messages. ``simulated_`` is what a simulation says, and
        ``error`` the model's latency over that, less 1.
        """
        return table_of(self.point(place) for place in range(len(self.rates))).drop("held_vcs")

    def held_vcs(self) -> pl.DataFrame:
        """Return one row a rate and number of VCs: the probability that a channel has so many held.

        Rates that are saturated have none.
        """
        import polars as pl

        rows = [
            (point["rate"], count, share)
            for point in map(self.point, range(len(self.rates)))
            for count, share in enumerate(point["held_vcs"] or ())
        ]
        schema = {"rate": pl.Float64, "held": pl.Int64, "probability": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def point(self, place: int) -> dict[str, Any]:
        """Return what is known of one rate, as plain data."""
        found = self.found
        saturated = bool(found.saturated[place])
        held = found.held_vcs[place]
        return {
            "rate": self.rates[place],
            "saturated": saturated,
            **{name: known(getattr(found, name)[place]) for name in FIGURES},
            "channel_utilisation": known(found.channel_rate[place] * found.message_flits),
            "held_vcs": None if saturated or np.isnan(held).any() else held.tolist(),
            "simulated": self._measured(place),
        }

    def _measured(self, place: int) -> dict[str, Any] | None:
        """Return what a simulation says of a rate, if there is one."""
        runs = self.simulated.points if self.simulated else ()
        run = next((run for run in runs if run.rate == self.rates[place]), None)
        if run is None or not run.unicast.messages:
            return None
        latency = known(run.unicast.mean - ENDS_CYCLES) if run.stable else None
        predicted = known(self.found.latency[place])
        error = None if latency is None or predicted is None else predicted / latency - 1
        return {
            "latency": latency,
            "ci95": known(run.unicast.ci95) if run.stable else None,
            "stable": run.stable,
            "error": error,
        }

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom predict torus-broadcast``."""
        found = self.found
        common = {
            "topology": self.name,
            "message_flits": found.message_flits,
            "vcs": found.vcs,
            "broadcast": found.broadcast,
            "variant": found.variant,
            "startup_cycles": self.provenance.configuration["startup_cycles"],
            "saturation_rate": found.saturation_rate,
            "zero_load_latency": found.zero_load_latency,
            "simulated_network": self._simulated_network(),
            "trust": TRUST[found.variant],
            "interrupted": self.interrupted,
            "provenance": self.provenance.to_dict(),
        }
        points = [self.point(place) for place in range(len(self.rates))]
        return points[0] | common if len(points) == 1 else common | {"points": points}

    def _simulated_network(self) -> dict[str, Any] | None:
        if self.simulated is None:
            return None
        network = self.simulated.network
        return {
            "routing": network.routing_name,
            "router": network.router_fields,
            "cycles_at_ends_taken_off": ENDS_CYCLES,
        }

    def sentence(self, place: int) -> str:
        """Return what one rate comes to."""
        found, rate = self.found, self.rates[place]
        share = rate / found.saturation_rate
        if found.saturated[place]:
            said = f"saturated: {share:.4g} times the rate where it saturates"
        else:
            said = f"{found.latency[place]:.4g} cycles, at {share:.0%} of saturation"
        measured = self._measured(place)
        if measured is None:
            return f"rate {rate:.4g}: {said}"
        if not measured["stable"]:
            return f"rate {rate:.4g}: {said}; simulated: does not keep up"
        off = "" if measured["error"] is None else f", error {measured['error']:+.1%}"
        mean = f"{measured['latency']:.4g} ± {measured['ci95'] or 0:.2g}"
        return f"rate {rate:.4g}: {said}; simulated: {mean}{off}"

    def __repr__(self) -> str:
        found, seed = self.found, self.provenance.seed
        head = (
            f"<{self.name}, {found.message_flits:g}-flit messages, {found.broadcast:g} broadcast, "
            f"{found.vcs} VCs, {found.variant} model: {found.zero_load_latency:.4g} cycles "
            f"unhindered, saturates at {found.saturation_rate:.4g} messages/node/cycle; seed "
            f"{seed}, netloom {self.provenance.version}>"
        )
        return "\n".join([head, *(self.sentence(place) for place in range(len(self.rates)))])
