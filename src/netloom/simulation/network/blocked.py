"""Which channels wait for each other where nothing moves any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import DeadlockError
from netloom.routing.port_numbers import ports

if TYPE_CHECKING:
    from netloom.simulation.network.layout import Setup, State
    from netloom.topology import Topology


def deadlock(topology: Topology, setup: Setup, state: State, cycle: int) -> DeadlockError:
    """Return the error that names a cycle of channels whose packets block each other.

    A head waits for the packet that owns an output slot it asks for (of several, the lowest: where
    nothing moves, none is nearer to being free than another); a packet without credit waits for
    the front of the buffer at the other end.
    """
    held = np.flatnonzero(state.inputs["count"])
    place = int(held[0]) if len(held) else -1
    seen: dict[int, int] = {}
    while place >= 0 and place not in seen:
        seen[place] = len(seen)
        place = _waits_for(setup, state, *divmod(place, setup.num_slots))
    knot = list(seen)[seen[place] :] if place >= 0 else []
    where = f"{topology.name}, cycle {cycle}"
    return DeadlockError(where, tuple(filter(None, (_name(topology, setup, at) for at in knot))))


def _waits_for(setup: Setup, state: State, node: int, slot: int) -> int:
    """Return the slot whose packet must move before that of ``slot`` can; -1 if none is known."""
    first = node * setup.num_slots
    active, free = (int(state.masks[name][node]) for name in ("active", "free"))
    if active >> slot & 1:
        return _other_end(setup, state, node, int(state.inputs["out"][first + slot]))
    asked = int(state.allowed[first + slot])
    for out in range(setup.num_slots):
        if asked >> out & 1:
            if free >> out & 1:  # without room for a whole packet
                return _other_end(setup, state, node, out)
            return first + int(state.outputs["owner"][first + out])
    return -1


def _other_end(setup: Setup, state: State, node: int, out: int) -> int:
    port, vc = divmod(out, setup.num_vcs)
    down = int(state.ports["down"][node * setup.num_ports + port])
    return (down >> 6) * setup.num_slots + (down & 63) + vc if down >= 0 else -1


def _name(topology: Topology, setup: Setup, place: int) -> str:
    """Name the channel and VC that a buffer is at the end of; empty for a source's."""
    node, slot = divmod(place, setup.num_slots)
    port, vc = divmod(slot, setup.num_vcs)
    into = (topology.channel_target == node) & (ports(topology).in_port == port)
    channels = np.flatnonzero(into)
    return f"{topology.channel_name(int(channels[0]))} (VC {vc})" if len(channels) else ""
