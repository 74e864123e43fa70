"""Which channels packets may hold, in which layer, while they ask for which: ways with choices.

``ways`` is the ``Ways`` of ``routing.ways``.

Twin: ``tests/reference/several_layers.py``.
"""

import numpy as np

from netloom.base.compilation import INLINED, njit
from netloom.routing.kernels.several import most_choices, next_channels, search


@njit(nogil=True)
def layered_waits(ways, entries, goals, to_group, rises, num_layers):
    """Follow all packets from routers to each of the goals, in layers.

    ``entries[goal, router]``, of one row where it is the same for all goals, says whether packets
    begin there: in layer 0. They go on in the next one behind each channel that ``rises``.

    Returns
    -------
    waits
        ``waits[c, l, k]`` is whether a packet may hold channel c in layer l while it asks for the
        k-th channel that leaves the router c enters.
    arrived
        Whether packets arrive at each router.
    layers, hops
        How many layers are used, ``num_layers`` + 1 where more than these would be, and the hops
        of the longest path; -1 where an entry has no way to a goal.
    """
    num_routers, most = len(ways.group), most_choices(ways)
    waits = np.zeros((len(ways.source), num_layers, most), np.bool_)
    slot = _slots(ways)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    found, choices = np.empty((num_routers, most), np.int32), np.zeros(num_routers, np.int64)
    arrived = np.zeros(num_routers, np.bool_)
    present = np.zeros((num_routers, num_layers), np.bool_)
    layers, hops = 0, 0
    for row in range(len(goals)):
        reached, group = search(ways, goals[row], to_group, distance, queue)
        present[:] = False
        for router in np.flatnonzero(entries[row % len(entries)]):
            present[router, 0] = True
            hops = -1 if distance[router] < 0 or hops < 0 else max(hops, distance[router])
        for router in queue[:reached]:
            choices[router] = 0
            if distance[router] > 0:
                choices[router] = next_channels(ways, router, group, distance, found[router])
        for place in range(reached - 1, -1, -1):  # farthest first
            router = queue[place]
            if distance[router] == 0:
                arrived[router] |= np.any(present[router])
                continue
            for held in found[router, : choices[router]]:
                there = ways.target[held]
                asked = found[there, : choices[there]]
                used = _pass_on(
                    present[router], present[there], held, rises[held], asked, slot, waits
                )
                layers = max(layers, used)
    return waits, arrived, layers, hops


@njit(**INLINED)
def _pass_on(here, there, held, rise, asked, slot, waits):
    """Let packets of all layers take one channel. Return how many layers that needs."""
    num_layers, layers = len(here), 0
    for layer in range(num_layers):
        if not here[layer]:
            continue
        layers = max(layers, layer + 1)
        if layer + rise < num_layers:
            there[layer + rise] = True
        elif len(asked):
            layers = num_layers + 1
        for channel in asked:
            waits[held, layer, slot[channel]] = True
    return layers


@njit()
def _slots(ways):
    """The place of each channel among those that leave its router."""
    slot = np.empty(len(ways.source), np.int32)
    for router in range(len(ways.group)):
        for place in range(ways.out_offsets[router], ways.out_offsets[router + 1]):
            slot[ways.out_channels[place]] = place - ways.out_offsets[router]
    return slot
