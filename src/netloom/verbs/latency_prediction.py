"""The answer of ``predict_latency``: latency by load, beside that of a simulation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from netloom.errors import InputError
from netloom.verbs.channel_table import channels_by
from netloom.verbs.failures import broken_parts
from netloom.verbs.network_question import ROUTER_FIELDS
from netloom.verbs.numbers import known, plainly
from netloom.verbs.predict_numbers import table_of

if TYPE_CHECKING:
    import polars as pl

    from netloom.models.channel_queueing import ChannelPrediction
    from netloom.provenance import Provenance
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.router import Router
    from netloom.topology import Topology
    from netloom.verbs.simulation import Simulation

LATENCY_FACTOR = 3.0
"""Times the latency of an idle network, from which one is called saturated, as in simulations."""

TRUST = (
    "on 80 simulated 64-node networks the mean latency is off by 0.7 % at a fifth of saturation "
    "(at most 2.3), 1.5 % at half (6.2) and 6 % at four fifths (18), saturation by 7 % (22)"
)
"""How far the model can be trusted, in a line; see ``models.channel_queueing``."""


@dataclass(frozen=True, eq=False)
class LatencyPrediction:
    """What ``predict_latency`` says, at one load or at several.

    Attributes
    ----------
    topology, traffic, mapping, routing, router_name, router, packet_flits
        What was asked about: the network, the name of the traffic, that of the mapping (None
        without a program), and so on.
    points
        What the model says, one for each load, rising.
    saturation
        The offered load at which latency is three times that of the idle network, or there is no
        steady state: what ``find_saturation`` looks for.
    bound
        The load that no router could go beyond, and what limits it.
    simulated
        The network, simulated at some of the loads; None where it was not asked for.
    provenance
        Version, question and seed.
    """

    topology: Topology
    traffic: str
    mapping: str | None
    routing: str
    router_name: str
    router: Router
    packet_flits: int
    points: tuple[ChannelPrediction, ...]
    saturation: float
    bound: Bound
    simulated: Simulation | None
    provenance: Provenance

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
        """Mean packet latency in cycles, None past saturation (of one load).

        Raises
        ------
        InputError
            If several loads were asked for.
        """
        return known(self._only().latency)

    @property
    def saturated(self) -> bool:
        """Whether there is no steady state (of one load).

        Raises
        ------
        InputError
            If several loads were asked for.
        """
        return self._only().saturated

    def _only(self) -> ChannelPrediction:
        """Return what the model says of the one load that was asked for."""
        if len(self.points) > 1:
            raise InputError("prediction", f"{len(self.points)} loads", "one, or the table of all")
        return self.points[0]

    def table(self) -> pl.DataFrame:
        """Return one row a load: the model's figures, cycles, null where it is saturated.

        ``simulated_`` is what a simulation says, and ``error`` the model's latency over that,
        less 1.
        """
        return table_of(self.point(place) for place in range(len(self.points)))

    def channels(self) -> pl.DataFrame:
        """Return one row a load and channel: its two nodes, and flits a cycle on it."""
        runs = ((point.load, point.utilisation) for point in self.points)
        return channels_by("offered", runs, self.topology)

    def point(self, place: int) -> dict[str, Any]:
        """Return what is known of one load, as plain data."""
        found = self.points[place]
        return {
            "offered": found.load,
            "saturated": found.saturated,
            "latency": known(found.latency),
            "network_latency": known(found.network_latency),
            "source_wait": known(found.source_wait),
            "worst_path_latency": known(found.path_latency.max()),
            "utilisation_mean": float(found.utilisation.mean()),
            "utilisation_max": float(found.utilisation.max(initial=0.0)),
            "simulated": self._measured(place),
        }

    def _measured(self, place: int) -> dict[str, Any] | None:
        """Return what a simulation says of a load, if there is one."""
        offered = self.points[place].load
        points = self.simulated.points if self.simulated else ()
        point = next((each for each in points if each.run.load == offered), None)
        if point is None or not point.run.measured.packets:
            return None
        latency = point.latency(point.run.measured.packet_latency)
        predicted = known(self.points[place].latency)
        error = None if latency is None or predicted is None else predicted / latency - 1
        return {
            "latency": latency,
            "ci95": point.latency(point.run.measured.packet_latency_ci95),
            "stable": point.run.stable,
            "error": error,
        }

    @property
    def busiest_channel(self) -> str | None:
        """The channel that carries most: ``(0,6) -> (0,7)``; None where none is used."""
        used = next((point for point in reversed(self.points) if point.busiest_channel >= 0), None)
        if used is None:
            return None
        return self.topology.channel_name(used.busiest_channel)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom predict latency``."""
        fields = asdict(self.router)
        common = {
            "topology": self.topology.name,
            "nodes": self.topology.num_nodes,
            "channels": self.topology.num_channels,
            "failures": broken_parts(self.topology),
            "traffic": self.traffic,
            "mapping": self.mapping,
            "routing": self.routing,
            "router": {"name": self.router_name, "switching": self.router.switching}
            | {name: fields[name] for name in ROUTER_FIELDS},
            "packet_flits": self.packet_flits,
            "zero_load_latency": self.points[0].zero_load_latency,
            "saturation_offered": self.saturation,
            "latency_factor": LATENCY_FACTOR,
            "throughput_bound": self.bound.to_dict(),
            "busiest_channel": self.busiest_channel,
            "trust": TRUST,
            "interrupted": self.interrupted,
            "provenance": self.provenance.to_dict(),
        }
        points = [self.point(place) for place in range(len(self.points))]
        return points[0] | common if len(points) == 1 else common | {"points": points}

    def sentence(self, place: int) -> str:
        """Return what one load comes to."""
        found, measured = self.points[place], self._measured(place)
        said = f"offered {found.load:.4g}: "
        said += "saturated" if found.saturated else f"{found.latency:.4g} cycles"
        if measured is None:
            return said
        if not measured["stable"]:
            return f"{said}; simulated: does not keep up"
        off = "" if measured["error"] is None else f", error {measured['error']:+.1%}"
        return f"{said}; simulated: {measured['latency']:.4g} ± {measured['ci95'] or 0:.2g}{off}"

    def __repr__(self) -> str:
        seed = self.provenance.seed
        head = (
            f"<{self.name}, {self.routing}, {self.router.vcs} VCs of {self.router.buffer_flits} "
            f"flits, {self.packet_flits}-flit packets: {self.points[0].zero_load_latency:.4g} "
            f"cycles unhindered, saturates at {self.saturation:.4g} flits/node/cycle, at most "
            f"{self.bound.load:.4g} by {self.bound.what}; seed {seed}, netloom "
            f"{self.provenance.version}>"
        )
        return "\n".join([head, *(self.sentence(place) for place in range(len(self.points)))])
