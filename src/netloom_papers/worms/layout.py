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

WORMS = np.dtype(
    [
        ("free_worm", "i8"),  # first free record of worms
        ("free_worms", "i8"),  # how many there are
        ("asking", "i8"),  # worms in asking
        ("wakes", "i8"),  # entries in wakes
        ("flit_hops", "i8"),  # flits times channels of the messages that have their whole path
    ]
)
"""What is counted for the network as a whole. One record."""

WORM = np.dtype(
    [
        ("birth", "i8"),
        ("since", "i8"),  # the cycle in which its head began to ask for the next channel
        ("asked_before", "i8"),  # the cycle in which that input port had last begun to; -1: never
        ("first", "i8"),  # place of its path in path_channels
        ("row", "i4"),
        ("length", "i4"),  # channels of its path
        ("moves", "i4"),  # channels granted so far
        ("released", "i4"),  # channels released so far
        ("flits", "i4"),
        ("source", "i4"),
        ("priority", "i4"),  # under the biased policy
        ("next", "i4"),  # the next worm of its queue (or its sibling there), or free record
        ("child", "i4"),  # first of those that go after it, where queues are heaps; -1: none
    ]
)
"""One record a message in the network."""

CHANNEL = np.dtype(
    [
        ("free", "i8"),  # the cycle from which it is idle
        ("contested", "i8"),  # the last cycle in which it was idle and asked for
        ("flits", "i8"),  # that have crossed it, or will
        ("queue", "i4"),  # worm, of those whose heads wait for it, that is first; -1: none
        ("last_source", "i4"),  # of the last worm that was granted it
        ("last_flits", "i8"),  # its length
    ]
)
"""One record a channel. After the network's, those into the network, then those out of it."""

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
