"""What the failures of a network cost its traffic, as far as no simulation is needed to tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.errors import InputError
from netloom.routing import parse_routing, paths, virtual_channel_routing
from netloom.simulation.network.bound import MOST_PAIRS, listed_pairs, throughput_bound
from netloom.simulation.network.routers import end_channels
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.routing import Routing, VirtualChannelRouting
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology
    from netloom.topology.faults import Faulty
    from netloom.workload import Traffic


@dataclass(frozen=True)
class Intact:
    """What the same traffic would find if nothing were broken.

    Attributes
    ----------
    routing
        The default routing of the whole network.
    bound
        What would limit the traffic.
    hops
        Mean path length of a packet; None where there are too many pairs of nodes to list.
    """

    routing: str
    bound: Bound
    hops: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        bound = self.bound.to_dict()
        return {"routing": self.routing, "throughput_bound": bound, "hops": self.hops}


@dataclass(frozen=True)
class FailureCost:
    """What failures cost some traffic, as far as it can be told without a simulation.

    Attributes
    ----------
    hops
        Mean path length of a packet round what is broken; None where the routing leaves a choice,
        or there are too many pairs of nodes to list.
    bound
        What limits the traffic.
    intact
        The same if nothing were broken; None where the whole network's default routing would
        deadlock on the router's VCs.
    """

    hops: float | None
    bound: Bound
    intact: Intact | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {"hops": self.hops, "intact": self.intact.to_dict() if self.intact else None}

    @property
    def remark(self) -> str:
        """What the failures cost, in words."""
        here = f"at most {self.bound.load:.4g} can be carried ({self.bound.what})"
        if self.intact is None:
            return f"with what is broken, {here}"
        whole = f"with nothing broken {self.intact.bound.load:.4g} ({self.intact.bound.what})"
        if self.hops is None or self.intact.hops is None:
            return f"with what is broken, {here}; {whole}"
        hops = f"over {counted(self.hops, 'hop', '.4g')} on average"
        return f"with what is broken, {here} {hops}; {whole} over {self.intact.hops:.4g}"


def failure_cost(
    topology: Faulty,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    router: Router,
    bound: Bound,
) -> FailureCost:
    """Return what the failures cost some traffic, whose routing goes round what is broken.

    ``bound`` is what limits it there.
    """
    hops = None if routing.routes is None else _mean_hops(topology, routing.routes, traffic)
    whole = topology.whole
    injection, ejection = end_channels(whole, router)
    try:
        default = virtual_channel_routing(
            whole, "default", num_vcs=router.vcs,
            injection_channels=injection, ejection_channels=ejection,
        )  # fmt: skip
    except InputError:  # it would deadlock on these VCs, which says nothing of what is asked
        return FailureCost(hops, bound, None)
    intact = Intact(
        default.name,
        throughput_bound(whole, default, traffic, router),
        _mean_hops(whole, parse_routing("default", whole), traffic),
    )
    return FailureCost(hops, bound, intact)


def _mean_hops(topology: Topology, routing: Routing, traffic: Traffic) -> float | None:
    if listed_pairs(traffic) > MOST_PAIRS:
        return None
    source, target, weight = traffic.matrix()
    return float(paths(topology, routing, source, target).lengths @ weight)
