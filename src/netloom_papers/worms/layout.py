"""The arrays that a network of lockstep worms is kept in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Ints, Records

POLICIES = ("timestamp", "fifo", "fifo-lru", "biased", "source")
"""Arbitration policies. See ``Worm``."""

TIMESTAMP, FIFO, FIFO_LRU, BIASED, SOURCE = range(5)

STEADY = (TIMESTAMP, FIFO, FIFO_LRU)
"""Policies under which the order of two waiting heads never changes: queues are heaps."""

LOCAL_PRIORITY, TRANSIT_PRIORITY = 9, 4
"""What heads begin with under the biased policy (Chittor 1991, 5.6.5). Lower goes first."""

NEVER = 2**62
"""The cycle in which a channel is free whose tail is not foreseen yet."""

_COUNTED = ("free_worm", "free_worms", "asking", "wakes", "flit_hops")
WORMS = np.dtype([(name, "i8") for name in _COUNTED])
"""What is counted for the network as a whole. One record.

- ``free_worm``, ``free_worms``: the first free record of worms, and how many there are.
- ``asking``, ``wakes``: worms and entries in the arrays of these names.
- ``flit_hops``: flits times channels of the messages that have their whole path.
"""

_LONG = ("birth", "since", "asked_before", "first")
_SHORT = ("row", "length", "moves", "released", "flits", "source", "priority", "next", "child")
WORM = np.dtype([*((name, "i8") for name in _LONG), *((name, "i4") for name in _SHORT)])
"""One record a message in the network.

- ``since``: the cycle in which its head began to ask for the next channel. ``asked_before``: that
  in which this input port had last begun to, or -1.
- ``first``: place of its path in path_channels. ``length``: channels of its path. ``moves``,
  ``released``: channels granted and released so far.
- ``priority``: under the biased policy. ``next``: the next worm of its queue (or its sibling
  there), or free record. ``child``: first of those that go after it, where queues are heaps, or -1.
"""

_OF_CHANNEL = {"free": "i8", "contested": "i8", "flits": "i8", "queue": "i4", "last_source": "i4"}
CHANNEL = np.dtype([*_OF_CHANNEL.items(), ("last_flits", "i8")])
"""One record a channel. After the network's, those into the network, then those out of it.

- ``free``: the cycle from which it is idle. ``contested``: the last one in which it was idle and
  asked for. ``flits``: that have crossed it, or will.
- ``queue``: the worm that is first of those whose heads wait for it, or -1. ``last_source``,
  ``last_flits``: of the last worm that was granted it, and its length.
"""

DONE, STUCK, FULL = 0, 1, 2


class Setup(NamedTuple):
    """What does not change during a run.

    ``num_nodes`` are the hosts, ``num_channels`` the network's own channels, and ``all_channels``
    also those into and out of it.
    """

    num_nodes: int
    num_channels: int
    all_channels: int
    ports: int
    policy: int
    heaps: bool
    slack: int
    circuit: bool


class State(NamedTuple):
    """What changes.

    ``port_of`` is the number of a channel among those that enter its node. For each channel,
    ``lasts`` and ``befores`` hold the last request and the one before it, by input port.
    """

    counts: Records
    worms: Records
    channels: Records
    path_offsets: Ints
    path_channels: Ints
    port_of: Ints
    lasts: Ints
    befores: Ints
    wakes: Records
    asking: Ints
    contested: Ints
