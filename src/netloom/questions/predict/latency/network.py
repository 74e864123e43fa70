"""A network ready to be predicted: where it saturates, by what, and how far that can be trusted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from netloom.models.channel_accuracy import (
    KNEE,
    Band,
    accuracy_flags,
    latency_band,
    off_by,
    router_kind,
    saturation_band,
)
from netloom.models.channel_queueing import NOT_FOUND, resource_name
from netloom.questions.fields import ROUTER_FIELDS

if TYPE_CHECKING:
    from netloom.models.channel_queueing import Busy, PreparedChannels
    from netloom.routing.virtual_channels import VirtualRouting
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology
    from netloom.workload import Traffic

LATENCY_FACTOR = 3.0
"""Times the latency of an idle network, from which one is called saturated, as in simulations."""

STEADY, AT_THE_KNEE, SATURATED = "steady", "knee: simulate", "saturated"


@dataclass(frozen=True, eq=False)
class PredictedNetwork:
    """What is the same at all loads.

    Attributes
    ----------
    topology, traffic, routing, given_routing, router_name, router
        What was asked about. ``given_routing`` is what ``routing`` is the name of.
    layers
        Layers of VCs that keep paths free of deadlock which could wait in a circle; else 1.
    saturation
        The offered load at which latency is three times that of the idle network, or there is no
        steady state: what ``find_saturation`` looks for. An estimate, at most ``bound``.
    limit
        The resource that has least to spare there.
    limit_told
        Whether the model also has an answer above that load. If not, the search may have ended
        where the model cannot be solved, and not where the network saturates.
    bound
        The load that no router could go beyond, and what limits it.
    inside_nodes
        The share of the traffic that stays inside nodes.
    """

    topology: Topology
    traffic: Traffic
    routing: str
    layers: int
    given_routing: VirtualRouting
    router_name: str
    router: Router
    prepared: PreparedChannels
    saturation: float
    limit: Busy
    limit_told: bool
    bound: Bound
    inside_nodes: float

    @cached_property
    def kind(self) -> str:
        """Which of ``channel_accuracy.KINDS`` the router is of."""
        return router_kind(self.prepared.router, self.prepared.flits)

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Why to expect more than the usual error, a line each."""
        network = self.prepared, self.topology, self.traffic, self.routing, asdict(self.router)
        return tuple(accuracy_flags(*network, limit_told=self.limit_told))

    @property
    def saturation_error(self) -> Band:
        """The errors of saturations of such networks."""
        return saturation_band(self.kind)

    @property
    def saturation_range(self) -> tuple[float, float]:
        """Where nine of ten such networks saturate, nowhere beyond what bounds it."""
        error = self.saturation_error.within
        return off_by(self.saturation, -error, error, most=self.bound.load)

    def latency_error(self, load: float) -> Band | None:
        """Return the errors of latencies at a load of such networks. None above the knee."""
        part = load / self.saturation
        return latency_band(self.kind, part) if part <= KNEE else None

    def state(self, load: float, *, steady: bool) -> str:
        """Return ``STEADY``, ``AT_THE_KNEE`` or ``SATURATED``."""
        if not steady or load >= self.saturation:
            return SATURATED
        return STEADY if load <= KNEE * self.saturation else AT_THE_KNEE

    def place(self, busy: Busy) -> str:
        """Name a resource: ``injection at node (0,3)``, ``channel (4,4) -> (4,3)``."""
        return resource_name(busy, self.prepared, self.topology)

    def busy(self, busy: Busy) -> dict[str, Any]:
        """Return a resource as plain data."""
        return {
            "what": busy.what,
            "where": self.place(busy),
            "utilisation": busy.utilisation,
        }

    @property
    def router_fields(self) -> dict[str, Any]:
        """The router as plain data."""
        fields = asdict(self.router)
        kept = {name: fields[name] for name in ROUTER_FIELDS}
        return {"name": self.router_name, "switching": self.router.switching} | kept

    @property
    def limit_in_words(self) -> dict[str, Any]:
        """What limits the network where it saturates, as plain data."""
        return self.busy(self.limit) | {"told": self.limit_told}

    @property
    def limit_sentence(self) -> str:
        """What limits the network where it saturates, in words."""
        where, busy = self.place(self.limit), f"busy {self.limit.utilisation:.0%} of the time"
        busy = busy.replace("%", " %")
        if self.limit_told:
            return f"{where}, {busy}"
        return f"{NOT_FOUND} above this load, which may be the model's doing; {where} is {busy}"
