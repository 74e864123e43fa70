"""OpenSM's dfsssp: the ways of sssp, in as many lanes as break all circles of dependencies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.end_points import end_points
from netloom.routing.forwarding.lanes import channel_slots
from netloom.routing.forwarding.sssp import sssp
from netloom.routing.forwarding.tables import ForwardingTable, Lanes
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

MOST_LANES = 8
"""Lanes of data that switches of today have."""

MOST_COUNTED = 62
"""Lanes that are tried where more than a fabric has are needed."""


def dfsssp(topology: Topology) -> ForwardingTable:
    """Return the table of OpenSM's engine dfsssp, with its lanes.

    The ways are those of ``sssp``. All paths between end points, and from these to the routers,
    begin in one lane. A lane's dependencies are searched depth first. Of each circle that is met,
    the dependency that the fewest pairs need is taken out, and the paths that need it go to the
    next lane. After Domke, Hoefler & Nagel, *Deadlock-free oblivious routing for arbitrary
    topologies*, 2011. OpenSM then spreads the paths of one lane over those that stay empty. Here
    they stay in the lanes that are needed.

    Raises
    ------
    InputError
        If more than eight lanes are needed. OpenSM then configures minhop, which may deadlock, and
        reports this in its log only.

    Examples
    --------
    >>> from netloom.routing.forwarding.lanes import lanes_used
    >>> from netloom.topology import torus
    >>> lanes_used(dfsssp(torus(5))), lanes_used(dfsssp(torus(2, 2)))
    (2, 1)
    """
    found = sssp(topology)
    level, count = _lanes(topology, found)
    if count > MOST_LANES:
        wanted = f"at most {MOST_LANES}; OpenSM then takes minhop and tells its log only"
        raise InputError(f"routing dfsssp on {topology.name}", _needed(count), wanted)
    return replace(found, name="dfsssp", lanes=Lanes(level))


def dfsssp_falls_back(topology: Topology) -> str:
    """Return why OpenSM would configure minhop instead of dfsssp. Empty if it would not."""
    _, count = _lanes(topology, sssp(topology))
    return f"{_needed(count)}, of {MOST_LANES}" if count > MOST_LANES else ""


def _needed(count: int) -> str:
    return f"{f'over {MOST_COUNTED}' if count > MOST_COUNTED else count} lanes needed"


def _lanes(topology: Topology, found: ForwardingTable) -> tuple[NDArray[np.uint8], int]:
    """Return the lane of each (end point, router), and how many lanes there are."""
    from netloom.routing.kernels.dfsssp import broken_circles

    inside, ends, table = topology.routers, end_points(topology), found.next_channel
    if found.others is not None:
        table = np.concatenate([table, found.others])
    _, first = np.unique(ends.exit[ends.order[: ends.num_apart]], return_index=True)
    sources = np.unique(ends.exit[: ends.num_apart])[np.argsort(first)]
    out_port = port_numbers(topology)[0][: inside.num_channels]
    rank: Ints = np.arange(inside.num_vertices)
    if topology.cabling is not None:
        rank = topology.cabling.router_lid
    key = np.empty(inside.num_channels, np.int64)
    key[np.lexsort((out_port, rank[inside.channel_source]))] = np.arange(inside.num_channels)
    most_out = int(np.diff(inside.outgoing()[0]).max(initial=0))
    lane, count = broken_circles(
        table[ends.order], sources, np.outer(ends.copies[ends.order], ends.at_router[sources] - 1),
        key, channel_slots(inside), inside.channel_target, most_out, MOST_COUNTED,
    )  # fmt: skip
    level = np.zeros(table.shape, np.uint8)
    level[ends.order[:, None], sources] = lane
    return level, count
