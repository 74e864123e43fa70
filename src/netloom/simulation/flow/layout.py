"""The arrays in which the flow engine keeps links, classes of flows, rows and what is to come.

A *class* is all flows over the same links. Its flows have one rate per unit of weight, its level.
Levels are integers, so that sums do not depend on their order and a link can be exactly full. A
rate that returns to an earlier value is then equal to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints, Records
from netloom.simulation.agenda import clock_fields, row_type

INFINITE = 1 << 62
"""The level of a link that is not full."""

LINK = np.dtype(
    [
        ("level", "i8"),  # of the classes that it holds back; INFINITE: it is not full
        ("lower", "i8"),  # what classes use of it that others hold back below its level
        ("light", "i8"),  # their weight
        ("weight", "i8"),  # of all classes on it
        ("capacity", "i8"),
        ("first", "i8"),  # where its list in ``entries`` begins
        ("key", "i8"),  # nothing below this level changes because of it; while it is in ``agenda``
        ("count", "i4"),  # classes in its list
        ("place", "i4"),  # in ``agenda``; -1: it is not there
    ]
)
"""One record a link."""

ENTRY = np.dtype(
    [
        ("others", "i8"),  # the least level of the other links of the class
        ("weight", "i8"),  # of the class on this link
        ("owner", "i4"),  # the class
        ("hop", "i4"),  # its place in ``hop_link``
    ]
)
"""One record for each class on each link."""

CLASS = np.dtype(
    [
        ("one", "i8"),  # the least level of its links: its own
        ("two", "i8"),  # the second least
        ("rate", "i8"),  # the level that ``served`` grows by
        ("weight", "i8"),  # of its flows
        ("first", "i8"),  # its first hop
        ("hops", "i4"),
        ("filled", "i4"),  # the filling that has given it a level
        ("changed", "i4"),  # whether it is in ``changed``: 1, or 2 if its end changes in any case
        ("flow", "i4"),  # the row whose flow ends first; -1: none
        ("place", "i8"),  # in ``ends``; -1: it has no flow
        ("key", "f8"),  # when the first of its flows ends
        ("served", "f8"),  # size that has been moved for each unit of weight, until ``since``
        ("since", "f8"),
        ("most", "i8"),  # the level that it would have alone
        ("speed", "f8"),  # size a unit of time and weight that it moves: what ``rate`` says
        ("next", "f8"),  # the speed that it gets, where links share by latency
        ("factor", "f8"),  # what a unit of weight counts there
    ]
)
"""One record a class. What filling from scratch reads comes first, in one line of the cache."""

ROW = row_type(
    "f8",
    "f8",
    ("flits", "f8"),  # its size, in the unit of the network
    ("goal", "f8"),  # what its class will have served when its bytes have moved
    ("latency", "f8"),  # of its path
    ("queue", "i4"),  # the queue it waits in to enter the network; -1: none
    ("weight", "i4"),
    ("left", "i4"),  # flows of a class are a skew heap by ``goal``; -1: none
    ("right", "i4"),  # in a queue: the next row
)
"""One record a row, whose path is its class."""

EVENT = np.dtype([("key", "f8"), ("item", "i8")])
"""What is to happen to a row: the time, and ``row << 3 | kind``."""

QUEUE = np.dtype([("head", "i4"), ("tail", "i4"), ("busy", "i4")])
"""One record for each queue of rows that enter the network one after the other; -1: none."""

HOLDER = np.dtype(
    [
        ("since", "f8"),
        ("weight", "i8"),  # of its flows since then
        ("hop", "i8"),  # of the link that held them back since then; -1: none did
    ]
)
"""One record a class: which of its links holds it back."""

HOP = np.dtype(
    [
        ("turns", "f8"),  # of its class, of all turns of the link
        ("part", "f8"),  # of what the hop before carries that goes on over this one
        ("before", "i4"),  # the hop before; -1: it is the first
        ("input", "i4"),  # the two links, as one number
    ]
)
"""One record for each link of each class, where links share by turns."""

FILL = np.dtype(
    [
        ("capacity", "f8"),  # size a unit of time, in shares
        ("left", "f8"),  # of it
        ("light", "f8"),  # what the classes count that have no speed yet
        ("key", "f8"),  # speed a unit of that, at least, once it is full
        ("classes", "i4"),  # that have no speed yet
        ("place", "i4"),  # in ``agenda``; -1: it is not there
    ]
)
"""One record a link, where links share by latency."""

GATE = np.dtype(
    [
        ("room", "i8"),  # what is left of its capacity
        ("turns", "f8"),  # of the classes that have no level yet
        ("most", "f8"),  # of the capacity for a turn, where flows wait for the next link
        ("circle", "i8"),  # whether channels wait for each other in a circle that it is part of
    ]
)
"""One record a link, where links share by turns."""

TRY = np.dtype([("key", "f8"), ("hop", "i8"), ("place", "i4")])
"""One record a class, where links share by turns: the level that it could have, and the hop that it
waits for."""

CLOCK = np.dtype(
    [
        *clock_fields("f8"),
        ("step", "f8"),  # size a unit of time and weight that one level moves
        ("tolerance", "f8"),  # ends so much later, as a part of the time, count as one event
        ("batches", "i8"),  # times at which rates were made anew
        ("work", "i8"),  # classes looked at to do so
        ("waiting", "i8"),  # links in ``agenda``
        ("active", "i8"),  # classes in ``ends``
        ("marked", "i8"),  # classes in ``changed``
        ("moved", "i8"),  # flows that began or ended in this batch
        ("fillings", "i8"),  # how often all levels were made anew
        ("stale", "i8"),  # whether links know only their weights
        ("patience", "i8"),  # batches for which all levels are made anew next time
        ("left", "i8"),  # those that are left of them
        ("lossless", "i8"),  # whether links share by turns, and what waits blocks
        ("weighed", "i8"),  # whether links share by latency, with ``FILL`` for ``LINK``'s levels
        ("noting", "i8"),  # whether it is noted which links hold classes back
    ]
)
"""One record."""


OF_ROWS = {"rows": ROW, "events": EVENT}

OF_CLASSES = {"entries": ENTRY, "classes": CLASS, "holders": HOLDER, "hops": HOP, "tries": TRY}
"""The records that there are more of as rows and as classes come."""


class State(NamedTuple):
    """All arrays of an engine."""

    clock: Records
    links: Records
    entries: Records
    classes: Records
    hop_link: Ints  # the links of each class
    hop_place: Ints  # where in the link's list its entry is
    hop_share: Ints  # the part of its flows that uses the link, in shares
    holders: Records  # these and ``hop_held`` only if that is noted
    hop_held: Floats  # time for which the link held the class back, times its weight
    rows: Records
    edge_row: Ints
    edge_next: Ints
    hosts: Records
    queues: Records
    events: Records
    agenda: Ints  # links whose level is to be found: a heap by ``key``
    ends: Ints  # classes with flows: a heap by ``key``
    changed: Ints  # classes whose level changed in this batch
    ties: Ints  # links that are full at one level
    fills: Records  # these only if links share by latency
    hops: Records  # these and the rest only if links share by turns
    gates: Records
    tries: Records
    inputs: Floats  # turns of each input of each link
    unsettled: Ints  # classes without a level: a heap by ``key``
    crowd: Ints  # classes with flows, by number; or of one level
