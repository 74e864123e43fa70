"""A partition of connections into phases, with a route for each: what the compiler decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.phases.plan.connections import Connections
    from netloom.routing import Paths
    from netloom.topology import Topology

MOST_CHANNELS = 2**15
"""Most virtual channels of a node or channel."""


@dataclass(frozen=True)
class Capacity:
    """How many connections the hardware holds at once, at every node or on every channel.

    Parameters
    ----------
    virtual_channels
        Virtual channels of each node or channel. On iWarp (logical channels) 12 of the 20 of a
        node were free for connections.
    per
        ``node``: a connection takes one at every node of its path, both ends included. So the
        paper counts (section 4.4.1). ``channel``: one on every channel of its path. Wavelengths
        of an optical network, or VCs that each channel has of its own. If hosts hang on routers,
        both are nodes, and their own channels count as all others do.

    Raises
    ------
    InputError
        If there are none, or too many.
    """

    virtual_channels: int
    per: Literal["node", "channel"] = "node"

    def __post_init__(self) -> None:
        if not 1 <= self.virtual_channels <= MOST_CHANNELS:
            wanted = f"1 to {MOST_CHANNELS} virtual channels a {self.per}"
            raise InputError("channels", f"{self.virtual_channels}", wanted)

    def places(self, topology: Topology) -> int:
        """Return the number of nodes or channels that have this capacity each."""
        return topology.num_vertices if self.per == "node" else topology.num_channels


@dataclass(frozen=True, eq=False)
class Plan:
    """Connections in phases, each with its route. See ``partition`` and ``verify``.

    Attributes
    ----------
    topology, connections, capacity
        What it was asked for.
    phase
        int32[n], the phase of each connection. Phases follow one another from 0 on. All
        connections of a phase are active at once.
    routes
        The channels of each connection's path, in order.
    method
        How it was found: ``symmetric``, ``negotiated`` or ``sequential``.
    """

    topology: Topology
    connections: Connections
    capacity: Capacity
    phase: Ints
    routes: Paths
    method: str

    @property
    def num_phases(self) -> int:
        """Number of phases."""
        return int(self.phase.max(initial=-1)) + 1

    def use(self) -> Ints:
        """Return int64[num_phases, nodes or channels], the virtual channels taken."""
        places = self.capacity.places(self.topology)
        hop_phase = np.repeat(self.phase, self.routes.lengths).astype(np.int64)
        if self.capacity.per == "channel":
            taken = hop_phase * places + self.routes.channels
        else:
            entered = hop_phase * places + self.topology.channel_target[self.routes.channels]
            first = self.phase.astype(np.int64) * places + self.connections.source
            taken = np.concatenate([entered, first])
        shape = self.num_phases, places
        return np.bincount(taken, minlength=self.num_phases * places).reshape(shape)

    def __repr__(self) -> str:
        most, limit = int(self.use().max(initial=0)), self.capacity
        return (
            f"<{len(self.connections)} connections in {self.num_phases} phases on"
            f" {self.topology.name}, at most {most} of {limit.virtual_channels} virtual channels"
            f" a {limit.per}, {self.method}>"
        )
