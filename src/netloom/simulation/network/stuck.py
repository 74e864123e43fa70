"""Which channels' packets block each other, in a network where nothing moves any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError

if TYPE_CHECKING:
    from netloom.simulation.network.engine import Engine

WORD = 64


def deadlock(engine: Engine) -> DeadlockError:
    """Return the error that names a cycle of channels whose packets block each other.

    A head waits for the packet that owns an output slot it asks for (of several, the lowest: where
    nothing moves, none is nearer to being free than another). A packet without credit waits for
    the front of the buffer at the other end.
    """
    held = np.flatnonzero(engine.state.inputs["count"])
    place = int(held[0]) if len(held) else -1
    seen: dict[int, int] = {}
    while place >= 0 and place not in seen:
        seen[place] = len(seen)
        place = _waits_for(engine, place)
    knot = list(seen)[seen[place] :] if place >= 0 else []
    where = f"{engine.topology.name}, cycle {engine.cycle}"
    return DeadlockError(where, tuple(filter(None, (_name(engine, at) for at in knot))))


def _waits_for(engine: Engine, place: int) -> int:
    """Return the slot whose packet must move before that of a slot can; -1 if none is known."""
    setup, state = engine.setup, engine.state
    node, slot = divmod(place, setup.num_slots)
    first = node * setup.num_slots

    def is_in(name: str, of: int) -> bool:
        word, bit = divmod(of, WORD)
        return bool(int(state.masks[name][node * setup.words + word]) >> bit & 1)

    if is_in("active", slot):
        return _other_end(engine, node, int(state.inputs["out"][place]))
    for out in range(setup.num_slots):
        word, bit = divmod(out, WORD)
        if int(state.allowed[place * setup.words + word]) >> bit & 1:
            if is_in("free", out):  # without room for a whole packet
                return _other_end(engine, node, out)
            return first + int(state.outputs["owner"][first + out])
    return -1


def _other_end(engine: Engine, node: int, out: int) -> int:
    setup = engine.setup
    port, vc = divmod(out, setup.vc_stride)
    down = int(engine.state.ports["down"][node * setup.num_ports + port])
    there, slot = divmod(down, 1 << setup.slot_bits)
    return there * setup.num_slots + slot + vc if down >= 0 else -1


def _name(engine: Engine, place: int) -> str:
    """Name the channel and VC that a buffer is at the end of. Empty for a source's."""
    setup, between = engine.setup, engine.wiring.between
    node, slot = divmod(place, setup.num_slots)
    port, vc = divmod(slot, setup.vc_stride)
    into = np.flatnonzero((between.target == node) & (between.in_port == port))
    if not len(into):
        return ""
    return f"{engine.topology.channel_name(int(between.channel[into[0]]))} (VC {vc})"
