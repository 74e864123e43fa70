"""What is broken in a network, and what it costs to go round it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.routing import parse_routing, paths, virtual_channel_routing
from netloom.simulation.network.bound import MOST_PAIRS, listed_pairs, throughput_bound
from netloom.simulation.network.routers import end_channels
from netloom.topology.faults import Faulty, working_nodes
from netloom.words import counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.routing import Routing, VirtualChannelRouting
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology
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


def broken_parts(topology: Topology) -> dict[str, Any] | None:
    """Return the names of the broken channels and nodes as plain data; None if all is whole.

    Channels that are missing only because their node is broken are not named.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.topology.faults import without
    >>> broken_parts(without(mesh(3, 3), channels="0->1", nodes="8"))
    {'channels': ['(0,0) -> (0,1)'], 'nodes': ['(2,2)']}
    """
    if not isinstance(topology, Faulty):
        return None
    return {
        "channels": [topology.whole.channel_name(each) for each in broken_channels(topology)],
        "nodes": [topology.node_name(node) for node in topology.failed_nodes],
    }


def broken_channels(topology: Faulty) -> list[int]:
    """Return the channels of the whole network that are broken, though their nodes work."""
    whole = topology.whole
    gone = np.ones(whole.num_channels, np.bool_)
    gone[topology.whole_channel] = False
    for ends in (whole.channel_source, whole.channel_target):
        gone &= ~np.isin(ends, topology.failed_nodes)
    return [int(channel) for channel in np.flatnonzero(gone)]


def first_broken(topology: Topology, nodes: ArrayLike) -> int | None:
    """Return the place of the first of some nodes that is broken; None if all work.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.topology.faults import without
    >>> first_broken(without(mesh(4, 4), nodes="5"), [0, 3, 5])
    2
    """
    lost = ~np.isin(nodes, working_nodes(topology))
    return int(np.argmax(lost)) if isinstance(topology, Faulty) and lost.any() else None


def check_working(topology: Topology, node_of: NDArray[np.int32], where: str = "mapping") -> None:
    """Raise InputError naming the first task that is on a broken node."""
    task = first_broken(topology, node_of)
    if task is not None:
        found = f"task {task} on node {node_of[task]}, which failed"
        raise InputError(where, found, "tasks on nodes that work")


def failure_cost(
    topology: Faulty,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    router: Router,
    bound: Bound,
) -> FailureCost:
    """Return what the failures cost some traffic.

    Parameters
    ----------
    topology, routing, traffic, router
        The network, its routing round what is broken, who sends to whom, and its routers.
    bound
        What limits the traffic there.
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
