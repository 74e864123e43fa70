"""Which channels wait for each other in a circle, so that their worms never move again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import DeadlockError

if TYPE_CHECKING:
    from netloom.simulation.worm.engine import WormEngine


WANTED = "routing up-down, which has no such circles on any network"


def deadlock(engine: WormEngine) -> DeadlockError | None:
    """Return the error that names a circle of channels whose worms block each other, if any do.

    Those in a circle stand still for good, whatever moves elsewhere. A message's path is fixed, so
    that a blocked worm waits for one channel, whose worm, if that is blocked as well, waits for
    one more; following that n times from everywhere leads into all circles of up to n.
    """
    worms, holder, _ = engine.on_their_way()
    if not len(worms):
        return None
    wanted = engine.state.path_channels[worms["first"] + worms["moves"]]
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
    where = f"{engine.topology.name}, cycle {engine.cycle}"
    return DeadlockError(where, tuple(_name(engine, channel) for channel in knot), WANTED)


def _name(engine: WormEngine, channel: int) -> str:
    topology = engine.topology
    if channel < topology.num_channels:
        return topology.channel_name(channel)
    end, node = divmod(channel - topology.num_channels, topology.num_nodes)
    return f"{'out of' if end else 'into'} the network at {topology.node_name(node)}"
