"""Which channels wait for each other where no worm moves any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import DeadlockError

if TYPE_CHECKING:
    from netloom.simulation.worm.engine import WormEngine


def deadlock(engine: WormEngine) -> DeadlockError:
    """Return the error that names a cycle of channels whose worms block each other."""
    state = engine.state
    holder: dict[int, int] = {}
    wanted: dict[int, int] = {}
    for index in _inside(engine):
        worm = state.worms[index]
        path = state.path_channels[worm["first"] : worm["first"] + worm["length"]]
        wanted[index] = int(path[worm["moves"]])
        for held in path[worm["released"] : worm["moves"]]:
            holder[int(held)] = index
    seen: dict[int, int] = {}
    at = next(iter(wanted.values()))
    while at not in seen:
        seen[at] = len(seen)
        at = wanted[holder[at]]
    knot = list(seen)[seen[at] :]
    return DeadlockError(
        f"{engine.topology.name}, cycle {engine.cycle}", tuple(_name(engine, at) for at in knot)
    )


def _inside(engine: WormEngine) -> list[int]:
    """Return the records of the worms in the network: those that are not free."""
    worms = engine.state.worms
    inside = np.ones(len(worms), bool)
    free = int(engine.state.counts["free_worm"][0])
    while free >= 0:
        inside[free] = False
        free = int(worms["next"][free])
    found: list[int] = np.flatnonzero(inside).tolist()
    return found


def _name(engine: WormEngine, channel: int) -> str:
    topology = engine.topology
    if channel < topology.num_channels:
        return topology.channel_name(channel)
    end, node = divmod(channel - topology.num_channels, topology.num_nodes)
    return f"{'out of' if end else 'into'} the network at {topology.node_name(node)}"
