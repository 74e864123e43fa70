"""The routings by hop that have names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.routing.by_hop.tables import (
    DRAWN,
    EVERY,
    LEAST,
    TWO,
    Automaton,
    bits,
    hop_tables,
    next_ports,
)
from netloom.routing.layered import layer_vcs
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.routing.ways import shortest_ways
from netloom.spec import split_spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

CHOICES = {"": TWO, "all": LEAST, "every": EVERY}


def hosted_routing(topology: Topology, spec: object, num_vcs: int) -> VirtualChannelRouting:
    """Return the routing by hop that a name says."""
    if not isinstance(spec, str):
        wanted = "for simulation nca, nca-adaptive or minimal"
        raise InputError(f"routing '{spec}' on {topology.name}", "a routing of paths", wanted)
    name, argument = split_spec(spec)
    name = "nca-adaptive" if name == "anca" else name
    table = next_ports(topology, shortest_ways(topology.routers))
    kind = np.zeros(topology.num_network_channels, np.int8)
    if name in ("nca", "nca-adaptive"):
        choice = DRAWN if name == "nca" else CHOICES[argument]
        automaton = _plain(kind, np.array([bits(num_vcs)] * 2, np.int64), bits(num_vcs))
    elif name == "minimal":
        longest = int(table.lengths.max(initial=0))
        if longest > num_vcs:
            where = f"minimal on {topology.name}"
            raise InputError(where, f"{num_vcs} VCs", f"at least {longest} VCs")
        choice = DRAWN
        vcs = np.append(bits(num_vcs), layer_vcs(max(longest, 1), num_vcs))
        automaton = _plain(kind, vcs, bits(num_vcs))
    else:
        raise InputError(f"routing '{spec}'", f"'{name}'", "nca, nca-adaptive or minimal")
    tables = hop_tables(topology, num_vcs, [table], automaton, choice=choice)
    return VirtualChannelRouting(spec, topology, tables, uses_credits=choice in (TWO, LEAST))


def _plain(kind: NDArray[np.int8], vcs: NDArray[np.int64], eject: int) -> Automaton:
    """Return the states of packets that count hops."""
    states = len(vcs)
    zeros = np.zeros(states, np.int8)
    own = np.arange(states, dtype=np.int16)
    return Automaton(
        kind,
        np.minimum(own + 1, states - 1)[:, None].astype(np.int16),
        vcs,
        np.full(states, eject, np.int64),
        zeros,
        zeros,
        zeros,
        own,
        own,
        own,
    )
