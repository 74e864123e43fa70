"""Open-loop traffic of which a part is broadcast, by trees of one-hop messages.

The traffic of Shahrabi, Ould-Khaoua & Mackenzie (2002): every node generates messages, each a
broadcast with probability β. All nodes replicate broadcasts and send the copies on. As in
``stream``, all chance is here, and no draw depends on the network or on how a run is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.alike import check_direct
from netloom.workload.programs.messages import Messages, checked
from netloom.workload.programs.trees import Branches, balanced_orientation, branches, row_first
from netloom.workload.traffic.lengths import Lengths, parse_lengths
from netloom.workload.traffic.stream import Packets, PacketStream

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.topology import Cube, Topology
    from netloom.workload.traffic import Traffic
    from netloom.workload.traffic.arrivals import Arrivals

STREAMS = 6
"""Streams of chance that a seed makes. The first three are the packets' own."""


class Sent(NamedTuple):
    """All that has been sent so far: messages as they were generated, and the rows they became.

    ``birth``: int64[num_messages], cycles. ``broadcast``: bool[num_messages], or unicast.
    ``offsets``: int64[num_messages + 1]. Message m is the rows offsets[m] … offsets[m + 1] − 1,
    one if it is unicast. ``source``, ``target``, ``flits``: int32[num_rows]. ``asked``:
    bool[num_rows], whether the target is one that the message is for, or just on the way.
    """

    birth: Ints
    broadcast: Bools
    offsets: Ints
    source: Ints
    target: Ints
    flits: Ints
    asked: Bools


class BroadcastTraffic:
    """The messages that nodes generate from cycle 0 on, some of them for all nodes, or for many.

    A program (``messages.Source``) that waits for nothing but its own copies. The k-th message is
    born at the same time and place whatever the fraction of broadcasts, and goes to the same
    target if it is unicast.

    Parameters
    ----------
    traffic
        Who generates messages how often, and where the unicast ones go.
    rate
        Messages a cycle of the average node that generates any.
    fraction
        Part β of the messages that are broadcast, 0 to 1.
    tree
        ``balanced``: an orientation drawn for every broadcast. ``row-first``: always the same.
    startup_cycles
        Cycles that every message, and every copy from node to node, takes before it is sent.
    multicast_targets
        So many nodes, drawn for each broadcast, are its targets, or 0 for all.

    Raises
    ------
    InputError
        If a number is out of range, or a node would have to generate more than the arrival
        process can, or more than a flit per cycle.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload.traffic import uniform
    >>> program = BroadcastTraffic(torus(8, 8), uniform(64), 0.002, 0.04, lengths=32)
    >>> table = program.extend(np.empty(0, np.int64), 5000)
    >>> sent = program.sent()
    >>> len(sent.birth), int(sent.broadcast.sum()), len(table)
    (649, 26, 2261)
    """

    def __init__(
        self,
        topology: Topology,
        traffic: Traffic,
        rate: float,
        fraction: float,
        *,
        lengths: Lengths | str | int = 1,
        arrivals: Arrivals | str = "bernoulli",
        tree: Literal["balanced", "row-first"] = "balanced",
        startup_cycles: int = 0,
        multicast_targets: int = 0,
        seed: int = 1,
    ) -> None:
        check_direct(topology, "broadcasts from neighbour to neighbour", "simulate trace")
        assert traffic.num_nodes == topology.num_hosts
        law = parse_lengths(lengths) if isinstance(lengths, str | int) else lengths
        if not 0 < rate * law.mean <= 1:
            wanted = f"above 0, at most {1 / law.mean:.4g}: a flit/node/cycle"
            raise InputError("rate", f"{rate:g} messages of {law.mean:g} flits", wanted)
        if not 0 <= fraction <= 1:
            raise InputError("broadcast", f"{fraction}", "a part of all messages, 0 to 1")
        self._nodes = np.unique(topology.channel_target)  # a broken node has no channels
        assert np.isin(np.flatnonzero(traffic.rate), self._nodes).all(), "a broken node sends"
        others = len(self._nodes) - 1
        if not 0 <= multicast_targets <= others:
            found = f"{multicast_targets} of {others + 1} nodes"
            raise InputError("multicast targets", found, f"1 to {others}, or 0 for all")
        if startup_cycles < 0:
            raise InputError("start-up", f"{startup_cycles} cycles", "0 or more")
        self.num_nodes = topology.num_hosts
        self.fraction = fraction
        self._topology = topology
        self._tree = tree
        self._startup_cycles = startup_cycles
        self._multicast_targets = multicast_targets
        self._stream = PacketStream(
            traffic, rate * law.mean, lengths=law, arrivals=arrivals, seed=seed
        )
        children = np.random.SeedSequence(seed).spawn(STREAMS)[3:]
        self._kinds, self._orientations, self._targets = map(np.random.default_rng, children)
        self._parts: list[Sent] = []
        self._num_rows = 0

    def extend(self, complete: Ints, until: int) -> Messages:
        """Return the rows of all messages born before ``until`` that are not yet returned.

        Raises
        ------
        InputError
            If ``until`` is above 2³¹ − 1.
        """
        assert len(complete) == self._num_rows
        packets = self._stream.until(until)
        broadcast = self._kinds.random(len(packets.birth)) < self.fraction
        trees = [
            (message, self._drawn_tree(int(packets.source[message])))
            for message in np.flatnonzero(broadcast).tolist()
        ]
        sent, waits = _rows(packets, broadcast, trees)
        table = self._table(sent, waits)
        self._parts.append(sent)
        self._num_rows += len(table)
        return table

    def sent(self) -> Sent:
        """Return all that has been sent so far."""
        assert self._parts
        bases = np.cumsum([0, *(len(part.source) for part in self._parts)])
        shifted = [part.offsets[:-1] + b for part, b in zip(self._parts, bases, strict=False)]
        joined = Sent(*map(np.concatenate, zip(*self._parts, strict=True)))
        return joined._replace(offsets=np.concatenate([*shifted, bases[-1:]]))

    def _drawn_tree(self, root: int) -> Branches:
        if self._tree == "balanced":
            orientation = balanced_orientation(self._topology, self._orientations)
        else:
            orientation = row_first(self._topology)
        targets = None
        if self._multicast_targets:
            keys = self._targets.random(len(self._nodes) - 1)
            drawn = np.argpartition(keys, self._multicast_targets - 1)[: self._multicast_targets]
            targets = self._nodes[self._nodes != root][drawn]
        return branches(self._topology, root, targets, orientation)

    def _table(self, sent: Sent, waits: Ints) -> Messages:
        waiting = waits >= 0
        after_offsets = np.append(0, np.cumsum(waiting, dtype=np.int64))
        nothing = np.zeros(len(waits), np.int32)
        return checked(
            Messages(
                num_nodes=self.num_nodes,
                first=self._num_rows,
                start=np.repeat(sent.birth, np.diff(sent.offsets)),
                delay=np.full(len(waits), self._startup_cycles, np.int32),
                run=nothing,
                source=sent.source,
                target=sent.target,
                flits=sent.flits,
                hold=nothing,
                receive=nothing,
                context=np.full(len(waits), -1, np.int32),
                after_offsets=after_offsets,
                after=self._num_rows + waits[waiting],
            )
        )


def latencies(sent: Sent, complete: Ints) -> Ints:
    """Return int64[num_messages], cycles from each message's birth until it is everywhere.

    −1 where it is not yet. That of a broadcast is the latency of the last node that it reaches.

    ``complete``: int64[num_rows], the cycle in which each row was complete, or −1 if it is not
    yet.

    Examples
    --------
    >>> sent = Sent(np.array([5, 6]), np.array([True, False]), np.array([0, 2, 3]),
    ...             *(np.zeros(3, np.int32) for _ in range(3)), np.ones(3, bool))
    >>> latencies(sent, np.array([8, 12, -1]))
    array([ 7, -1])
    """
    if not len(sent.birth):
        return np.empty(0, np.int64)
    first = np.minimum.reduceat(complete, sent.offsets[:-1])
    last = np.maximum.reduceat(complete, sent.offsets[:-1])
    return np.where(first < 0, -1, last - sent.birth)


def target_latencies(sent: Sent, complete: Ints) -> tuple[Ints, Ints]:
    """Return when each target of each broadcast was reached.

    That is the number of the broadcast, int64[num_copies], and the cycles from its birth,
    int64[num_copies]. Targets that are not yet reached are left out. ``complete``: as for
    ``latencies``.
    """
    message = np.repeat(np.arange(len(sent.birth)), np.diff(sent.offsets))
    counts = sent.asked & sent.broadcast[message] & (complete >= 0)
    message = message[counts]
    return message, complete[counts] - sent.birth[message]


def direction_flits(cube: Cube, sent: Sent) -> Floats:
    """Return the flits of each class that cross the channels of each direction.

    Packets take shortest paths. A packet that goes half-way round a ring counts half in each
    direction, as it does on average under a fair routing. The mean utilization of a direction's
    channels is this / (``num_nodes / sides[i] * line_channels[i]`` × cycles). A broadcast of M
    flits adds M (N − 1) over all directions (Shahrabi et al. 2002, eq. 4, 7, 8).

    float64[2, n, 2], by class (unicast, broadcast), dimension, direction (growing, falling
    coordinates).

    Examples
    --------
    >>> from netloom.topology import torus
    >>> sent = Sent(np.array([0]), np.array([False]), np.array([0, 1]),
    ...             *(np.array([value]) for value in (0, 21, 10, True)))  # to (2, 5), 10 flits
    >>> direction_flits(torus(4, 8), sent)[0]
    array([[10., 10.],
           [ 0., 30.]])
    """
    broadcast = sent.broadcast[np.repeat(np.arange(len(sent.birth)), np.diff(sent.offsets))]
    found = np.zeros((2, len(cube.sides), 2))
    for axis, (side, stride) in enumerate(zip(cube.sides, cube.strides.tolist(), strict=True)):
        offset = sent.target // stride % side - sent.source // stride % side
        grows, falls = np.maximum(offset, 0), np.maximum(-offset, 0)
        if cube.wraps[axis]:
            ahead = offset % side
            grows = np.where(2 * ahead < side, ahead, np.where(2 * ahead == side, side / 4, 0))
            falls = np.where(
                2 * ahead > side, side - ahead, np.where(2 * ahead == side, side / 4, 0)
            )
        for direction, hops in enumerate((grows, falls)):
            found[:, axis, direction] = np.bincount(broadcast, sent.flits * hops, minlength=2)
    return found


def _rows(
    packets: Packets, broadcast: Bools, trees: list[tuple[int, Branches]]
) -> tuple[Sent, Ints]:
    """Rows of messages, and for each the row that it waits for, or −1 for none."""
    counts = np.ones(len(broadcast), np.int64)
    for message, part in trees:
        counts[message] = len(part.source)
    offsets = np.append(0, np.cumsum(counts, dtype=np.int64))
    source, target, flits = (np.repeat(column, counts) for column in packets[1:])
    asked = np.ones(len(source), bool)
    waits = np.full(len(source), -1, np.int64)
    for message, part in trees:
        rows = slice(offsets[message], offsets[message + 1])
        source[rows], target[rows], asked[rows] = part.source, part.target, part.asked
        waits[rows] = np.where(part.after >= 0, part.after + offsets[message], -1)
    birth = packets.birth.astype(np.int64)
    return Sent(birth, broadcast, offsets, source, target, flits, asked), waits
