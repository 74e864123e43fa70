"""Which channels wait for each other in a circle, so that their worms never move again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import DeadlockError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.simulation.worm.layout import Records, State
    from netloom.topology import Topology

WANTED = "routing up-down, which has no such circles on any network"


def on_their_way(state: State) -> tuple[Records, NDArray[np.int64], NDArray[np.int64]]:
    """Return the worms whose heads are on their way, and what they hold.

    Returns
    -------
    worms
        Their records, as ``layout.WORM``.
    holder, place
        int64[all channels]: which of them holds a channel, -1: none; and the channel's place in
        that worm's path.
    """
    worms = state.worms[state.worms["moves"] < state.worms["length"]]
    counts = worms["moves"] - worms["released"]
    before = np.cumsum(counts) - counts
    hop = np.arange(counts.sum()) + np.repeat(worms["released"] - before, counts)
    channel = state.path_channels[np.repeat(worms["first"], counts) + hop]
    holder = np.full(len(state.channels), -1, np.int64)
    place = np.zeros(len(state.channels), np.int64)
    holder[channel], place[channel] = np.repeat(np.arange(len(worms)), counts), hop
    return worms, holder, place


def deadlock(topology: Topology, state: State, cycle: int) -> DeadlockError | None:
    """Return the error that names a circle of channels whose worms block each other, if any do.

    Those in a circle stand still for good, whatever moves elsewhere. A message's path is fixed, so
    that a blocked worm waits for one channel, whose worm, if that is blocked as well, waits for
    one more; following that n times from everywhere leads into all circles of up to n.
    """
    worms, holder, _ = on_their_way(state)
    if not len(worms):
        return None
    wanted = state.path_channels[worms["first"] + worms["moves"]]
    after = holder[wanted]
    reached = after
    for _ in range(len(worms).bit_length()):
        reached = np.where(reached >= 0, reached[reached], -1)
    if reached.max() < 0:
        return None
    first = at = int(reached.max())
    knot = [int(wanted[at])]
    while (at := int(after[at])) != first:
        knot.append(int(wanted[at]))
    where = f"{topology.name}, cycle {cycle}"
    return DeadlockError(where, tuple(_name(topology, channel) for channel in knot), WANTED)


def _name(topology: Topology, channel: int) -> str:
    if channel < topology.num_channels:
        return topology.channel_name(channel)
    end, node = divmod(channel - topology.num_channels, topology.num_nodes)
    return f"{'out of' if end else 'into'} the network at {topology.node_name(node)}"
