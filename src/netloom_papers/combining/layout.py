"""The arrays that a combining network is kept in.

Queues are grouped in 2K + 2 levels of N, in the order in which a packet passes them. Level 0 holds
the queues of the processing elements, level K + 1 those of the memory modules. Level i + 1 holds
requests that have passed stage i, and level 2K + 1 − i replies that have passed it, by the line on
which they leave the stage. Requests and their replies use the same lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Ints, Records

RULES = ("waiting", "slot", "entering", "none")
"""Which packets combine. See ``CombiningNetwork``."""

WAITING, SLOT, ENTERING, NONE = range(4)

OPERATIONS = ("add", "or", "and", "xor", "max", "min", "swap", "load")
"""What a request does to its word."""

ADD, OR, AND, XOR, MAX, MIN, SWAP, LOAD = range(8)

LARGEST = 2**63 - 1
IDENTITIES = (0, 0, -1, 0, -LARGEST - 1, LARGEST, 0, 0)
"""What a word holds at first, by operation."""

UNBOUNDED = 2**31 - 1

GAPS, CHOICES, HOT, MODULES, OPERANDS, REQUEST_ORDER, REPLY_ORDER, CHANGES, TAKES = range(9)
"""Streams of random numbers."""

STREAMS = 9

_OF_PACKET = ("next", "partner", "moved", "cell", "origin", "birth")
PACKET = np.dtype([*((name, "i4") for name in _OF_PACKET), ("value", "i8")])
"""One record a packet. Half a cache line.

- ``next``: behind it in its queue, or on its partner's stack, or free record. ``partner``: the last
  packet that it absorbed and that waits for it, or -1.
- ``moved``: the step in which it last moved. If it waits, the stage that it waits at.
- ``cell``: the word: its module's line, plus N if it is not the hot one. ``origin``: its processing
  element. ``value``: operand, then what is fetched. If it waits, what was before it.
"""

QUEUE = np.dtype([("head", "i4"), ("tail", "i4"), ("length", "i4"), ("longest", "i4")])
"""One record a queue, by level and line."""

POOL = np.dtype([("length", "i4"), ("longest", "i4")])
"""One record a wait pool, by stage and output line."""

LEVEL = np.dtype([(name, "i8") for name in ("entered", "left", "population_sum")])
"""One record a level: packets that have come and gone, and those there after each step, summed."""

STAGE = np.dtype([(name, "i8") for name in ("waits", "wait_sum", "combined")])
"""One record a stage: packets that wait now and after each step, summed, and all that ever did."""

_OF_LINE = ("issued_to", "answered_to", "accesses", "busy_until", "hot_spots", "returned")
LINE = np.dtype([(name, "i8") for name in _OF_LINE])
"""One record a line, of its memory module and its processing element: how many hot spots this one
has, and the sum of what its requests fetched."""

_OF_REQUESTS = ("issued", "completed", "waiting", "full")
_COUNTED = ("step", "next_chance", "fired", *_OF_REQUESTS, "moved", "still", "free_packet")
COUNTS = np.dtype([(name, "i8") for name in _COUNTED])
"""What is counted for the network as a whole. One record.

- ``next_chance``: the next that fires, as chances are numbered step by step. ``fired``: those
  before it. ``waiting``, ``full``: discarded, since the last one to this hot spot is still on its
  way, and since there was no room in the element's queue.
- ``moved``: how often a packet has left a queue. ``still``: steps since one did. ``free_packet``:
  the last that came back, or -1.
"""

DONE, FULL, LOST, STUCK = range(4)


class Setup(NamedTuple):
    """What does not change during a run."""

    lines: int
    stages: int
    radix: int
    radix_bits: int
    line_bits: int
    queue: int
    pool: int
    rule: int
    unlimited: bool
    forward: bool
    service_steps: int
    operation: int
    wait: bool
    places: int
    hot_fraction: float
    log_quiet: float
    words: int


class State(NamedTuple):
    """Everything else, as flat arrays."""

    counts: Records
    packets: Records
    queues: Records
    pools: Records
    groups: NDArray[np.uint64]
    """Which lines have packets, a bit each, by level and switch, of eight switches together."""
    levels: Records
    stages: Records
    lines: Records
    memory: Ints
    assigned: Ints
    outstanding: NDArray[np.uint8]
    latency_counts: Ints
    per_step: Ints
    stream_keys: NDArray[np.uint64]
    heads: Ints
    ports: Ints
    rivals: Ints
