"""The answer of ``predict_latency``: latency by load, beside that of a simulation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.errors import InputError
from netloom.models.channel_accuracy import PARTS, latency_band, off_by, provenance
from netloom.models.channel_queueing import NOT_FOUND
from netloom.questions.answers import Answer
from netloom.questions.channel_table import channels_by
from netloom.questions.fields import ROUTER_FIELDS
from netloom.questions.numbers import known, plainly
from netloom.questions.predict.latency.network import LATENCY_FACTOR, SATURATED, STEADY
from netloom.questions.predict.numbers import table_of
from netloom.topology.faults import broken_parts

if TYPE_CHECKING:
    import polars as pl

    from netloom.models.channel_accuracy import Band
    from netloom.models.channel_queueing import ChannelPrediction
    from netloom.provenance import Provenance
    from netloom.questions.predict.latency.network import PredictedNetwork
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology


@dataclass(frozen=True, eq=False)
class LatencyPrediction(Answer):
    """What ``predict_latency`` says, at one load or at several.

    Attributes
    ----------
    network
        What was asked about, where it saturates and by what, its bound, and how far the model is
        off on such networks.
    mapping, packet_flits
        The name of the mapping (None without a program), and what was asked.
    points
        What the model says, one for each load, rising: also of loads near saturation, where
        ``point`` gives no latency.
    simulated
        The network, simulated at some of the loads; None where it was not asked for.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "channels")

    network: PredictedNetwork
    mapping: str | None
    packet_flits: int
    points: tuple[ChannelPrediction, ...]
    simulated: Simulation | None
    provenance: Provenance

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.network.topology

    @property
    def traffic(self) -> str:
        """The name of the traffic."""
        return self.network.traffic.name

    @property
    def routing(self) -> str:
        """The name of the routing."""
        return self.network.routing

    @property
    def router(self) -> Router:
        """The router."""
        return self.network.router

    @property
    def saturation(self) -> float:
        """The offered load at which it saturates; see ``PredictedNetwork``."""
        return self.network.saturation

    @property
    def bound(self) -> Bound:
        """The load that no router could go beyond, and what limits it."""
        return self.network.bound

    @property
    def flags(self) -> tuple[str, ...]:
        """Why to expect more than the usual error, a line each."""
        return self.network.flags

    @property
    def name(self) -> str:
        """What a person calls it: ``app.mtx on mesh:8x8, mapping random``."""
        mapped = "" if self.mapping is None else f", mapping {self.mapping}"
        return f"{self.traffic} on {self.topology.name}{mapped}"

    @property
    def interrupted(self) -> bool:
        """Whether the simulation was stopped from outside."""
        return self.simulated is not None and self.simulated.interrupted

    @property
    def latency(self) -> float | None:
        """Mean packet latency in cycles, None near and past saturation (of one load).

        Raises
        ------
        InputError
            If several loads were asked for.
        """
        self._only()
        latency: float | None = self.point(0)["latency"]
        return latency

    @property
    def saturated(self) -> bool:
        """Whether the load is past saturation (of one load).

        Raises
        ------
        InputError
            If several loads were asked for.
        """
        return self._state(self._only()) == SATURATED

    def _only(self) -> ChannelPrediction:
        """Return what the model says of the one load that was asked for."""
        if len(self.points) > 1:
            raise InputError("prediction", f"{len(self.points)} loads", "one, or the table of all")
        return self.points[0]

    def table(self) -> pl.DataFrame:
        """Return one row a load: the model's figures, cycles, null near and past saturation.

        ``state``: ``steady``, ``knee: simulate`` or ``saturated``. ``expected_error``: nine of ten
        latencies of such networks are off by less than this; those are from ``latency_low`` to
        ``latency_high``. ``tightest``: the resource that has least to
        spare, null past saturation. ``simulated_`` is what
        a simulation says, and ``error`` the model's latency over that, less 1.
        """
        return table_of(self.point(place) for place in range(len(self.points)))

    def channels(self) -> pl.DataFrame:
        """Return one row a load and channel: its two nodes, and flits a cycle on it."""
        runs = ((point.load, point.utilisation) for point in self.points)
        return channels_by("offered", runs, self.topology)

    def point(self, place: int) -> dict[str, Any]:
        """Return what is known of one load, as plain data."""
        found, network = self.points[place], self.network
        state = self._state(found)
        steady = state == STEADY
        tightest = {} if state == SATURATED else network.busy(found.tightest)
        error = self._error(found)
        low, high = (None, None)
        if error is not None:
            least = found.zero_load_latency
            low, high = off_by(found.latency, error.within, least=least, most=inf)
        figures = {
            "latency": found.latency,
            "network_latency": found.network_latency,
            "source_wait": found.source_wait,
            "worst_path_latency": found.path_latency.max(),
        }
        return {
            "offered": found.load,
            "saturated": state == SATURATED,
            "state": state,
            **{name: known(value) if steady else None for name, value in figures.items()},
            "expected_error": None if error is None else error.within,
            "latency_low": low,
            "latency_high": high,
            "utilisation_mean": float(found.utilisation.mean()),
            "utilisation_max": float(found.utilisation.max(initial=0.0)),
            "tightest": tightest.get("where"),
            "tightest_utilisation": tightest.get("utilisation"),
            "simulated": self._measured(place),
        }

    def _state(self, found: ChannelPrediction) -> str:
        return self.network.state(found.load, steady=not found.saturated)

    def _error(self, found: ChannelPrediction) -> Band | None:
        """Return the errors of such latencies; None where none is given."""
        return self.network.latency_error(found.load) if self._state(found) == STEADY else None

    def _measured(self, place: int) -> dict[str, Any] | None:
        """Return what a simulation says of a load, if there is one."""
        offered = self.points[place].load
        points = self.simulated.points if self.simulated else ()
        point = next((each for each in points if each.run.load == offered), None)
        if point is None or not point.run.measured.packets:
            return None
        latency = point.latency(point.run.measured.packet_latency)
        steady = self._state(self.points[place]) == STEADY
        predicted = known(self.points[place].latency) if steady else None
        error = None if latency is None or predicted is None else predicted / latency - 1
        return {
            "latency": latency,
            "ci95": point.latency(point.run.measured.packet_latency_ci95),
            "stable": point.run.stable,
            "error": error,
        }

    @property
    def busiest_channel(self) -> str | None:
        """The channel that carries most: ``(0,6) -> (0,7)``; None where none is used.

        It need not be what limits the network: see ``network.limit``.
        """
        used = next((point for point in reversed(self.points) if point.busiest_channel >= 0), None)
        if used is None:
            return None
        return self.topology.channel_name(used.busiest_channel)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom predict latency``."""
        fields, network, saturation = asdict(self.router), self.network, self.saturation
        common = {
            "topology": self.topology.name,
            "nodes": self.topology.num_nodes,
            "channels": self.topology.num_channels,
            "failures": broken_parts(self.topology),
            "traffic": self.traffic,
            "mapping": self.mapping,
            "routing": self.routing,
            "router": {"name": network.router_name, "switching": self.router.switching}
            | {name: fields[name] for name in ROUTER_FIELDS},
            "packet_flits": self.packet_flits,
            "zero_load_latency": self.points[0].zero_load_latency,
            "saturation_offered": saturation,
            "saturation_expected_error": network.saturation_error.within,
            "saturation_range": list(network.saturation_range),
            "saturation_limit": network.busy(network.limit) | {"told": network.limit_told},
            "latency_factor": LATENCY_FACTOR,
            "throughput_bound": self.bound.to_dict(),
            "busiest_channel": self.busiest_channel,
            "flags": list(self.flags),
            "router_kind": network.kind,
            "trust": self.trust,
            "interrupted": self.interrupted,
            "provenance": self.provenance.to_dict(),
        }
        points = [self.point(place) for place in range(len(self.points))]
        return points[0] | common if len(points) == 1 else common | {"points": points}

    @property
    def trust(self) -> str:
        """How far the model can be trusted, in a line: measured on such networks."""
        network, saturation = self.network, self.network.saturation_error
        latencies = ", ".join(
            f"{100 * latency_band(network.kind, part).within:.2g} % up to {part:g}"
            for part in PARTS
        )
        return (
            f"{network.kind}: nine of ten of {saturation.compared} simulated networks saturate "
            f"within {100 * saturation.within:.2g} % of what the model says; latency, at parts of "
            f"the saturation: within {latencies} ({provenance()})"
        )

    @property
    def limit(self) -> str:
        """What limits the network where it saturates, in words."""
        network, limit = self.network, self.network.limit
        where = network.place(limit)
        if not network.limit_told:
            return f"{NOT_FOUND} above this load, which may be the model's doing; {where} is " + (
                f"busy {limit.utilisation:.0%} of the time"
            ).replace("%", " %")
        return f"{where}, busy {limit.utilisation:.0%} of the time".replace("%", " %")

    def sentence(self, place: int) -> str:
        """Return what one load comes to."""
        found, measured = self.points[place], self._measured(place)
        state, error = self._state(found), self._error(found)
        said = f"offered {found.load:.4g}: "
        said += state if error is None else f"{found.latency:.4g} cycles ± {error.within:.0%}"
        said = said.replace("%", " %")
        if measured is None:
            return said
        if not measured["stable"]:
            return f"{said}; simulated: does not keep up"
        off = "" if measured["error"] is None else f", error {measured['error']:+.1%}"
        return f"{said}; simulated: {measured['latency']:.4g} ± {measured['ci95'] or 0:.2g}{off}"

    def __repr__(self) -> str:
        seed, (low, high) = self.provenance.seed, self.network.saturation_range
        head = (
            f"<{self.name}, {self.routing}, {self.router.vcs} VCs of {self.router.buffer_flits} "
            f"flits, {self.packet_flits}-flit packets: {self.points[0].zero_load_latency:.4g} "
            f"cycles unhindered, saturates at {self.saturation:.4g} ({low:.4g} to {high:.4g}) "
            f"flits/node/cycle by {self.limit}, at most {self.bound.load:.4g} by "
            f"{self.bound.what}; seed {seed}, netloom {self.provenance.version}>"
        )
        loads = (self.sentence(place) for place in range(len(self.points)))
        return "\n".join([head, *(f"! {flag}" for flag in self.flags), *loads])
