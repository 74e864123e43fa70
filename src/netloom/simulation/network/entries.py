"""Where the packets of some traffic enter the routers of a network, and where they are going."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.contention.hop_stages import Follower
from netloom.routing.by_hop.tables import channels_at_ports
from netloom.simulation.network.demand import at_ports, between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.contention.decisions import Stages
    from netloom.routing.by_hop.tables import HopTables
    from netloom.simulation.network.demand import Demand
    from netloom.topology import Topology

MOST_ENTRIES = 2**22
"""Most pairs of a router and a goal."""

ROUNDING = 1e-12
"""What is smaller than this part of the largest is nothing, left by a difference."""


class Entries(NamedTuple):
    """Packets that enter by one router for one goal, by channels of hosts of one kind.

    Attributes
    ----------
    router, goal
        int64[], the router, and the goal in the tables of a routing by hop.
    weight
        float64[], flits per cycle at load 1.
    into, out_of
        int64[], the kinds of the injection and the ejection channel.
    """

    router: NDArray[np.int64]
    goal: NDArray[np.int64]
    weight: NDArray[np.float64]
    into: NDArray[np.int64]
    out_of: NDArray[np.int64]


def enter(
    topology: Topology,
    tables: HopTables,
    demand: Demand,
    kind_of: NDArray[np.int64] | None = None,
) -> Entries | None:
    """Return what enters the routers under a demand of hosts, by any of their ports.

    Parameters
    ----------
    topology, tables
        The network and its routing.
    demand
        Who sends how much to whom.
    kind_of
        int64[num_channels], the kinds of channels that are told apart; none by default.

    Returns
    -------
    None where there are more than ``MOST_ENTRIES``.
    """
    kinds = np.zeros(topology.num_channels, np.int64) if kind_of is None else kind_of
    first, ports = topology.num_network_channels, topology.num_ports
    known_in, into = np.unique(kinds[first : first + ports], return_inverse=True)
    known_out, out_of = np.unique(kinds[first + ports :], return_inverse=True)
    routers, goals = topology.num_routers, int(tables.sink_goal.max(initial=0)) + 1
    shape = len(known_in) * routers, len(known_out) * goals
    if shape[0] * shape[1] > MOST_ENTRIES:
        return None
    begins = into * routers + topology.injection_router
    ends = out_of * goals + tables.sink_goal
    by_port = at_ports(demand, topology.port_host, topology.num_hosts)
    sent = between(by_port, begins, ends, shape)
    row, column = np.nonzero(sent > sent.max(initial=0) * ROUNDING)
    return Entries(
        row % routers, column % goals, sent[row, column],
        known_in[row // routers], known_out[column // goals],
    )  # fmt: skip


def followed(
    topology: Topology,
    tables: HopTables,
    demand: Demand,
    kind_of: NDArray[np.int64] | None = None,
    *,
    idle: bool = False,
) -> tuple[Stages, NDArray[np.int64], Entries] | None:
    """Return the stages that packets go through, where each entry begins, and the entries.

    None where there are too many. ``idle`` is as for ``Follower``, the rest as for ``enter``.
    """
    entries = enter(topology, tables, demand, kind_of)
    if entries is None:
        return None
    outward, _ = channels_at_ports(topology)
    found = Follower(tables, outward, idle=idle).stages(entries.router, entries.goal)
    return None if found is None else (*found, entries)
