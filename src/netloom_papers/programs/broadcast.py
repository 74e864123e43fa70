"""Open-loop traffic of which a part is broadcast, by trees of one-hop messages, and its runs.

The traffic of Shahrabi, Ould-Khaoua & Mackenzie (2002): every node generates messages, each a
broadcast with probability β. All nodes replicate broadcasts and send the copies on. As in
``stream``, all chance is in the traffic, and no draw depends on the network or on how a run is cut.

A run warms up, measures, and says what it is worth. The start-up is found by MSER-5. The window
grows until the confidence interval is as narrow as requested, the network saturates, or a limit is
reached. All results are computed from the times of the messages.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, comb
from typing import Literal, NamedTuple, Self

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, derived, figure, known, places, unseen
from netloom.contention.busiest import USED
from netloom.simulation import steady
from netloom.simulation.agenda import ProgramEngine, ProgramRun
from netloom.simulation.network.figures import Backlog, note_of, state_of
from netloom.simulation.program_network import ProgramNetwork
from netloom.topology import Cube, Topology, average_distance
from netloom.topology.measures import check_direct
from netloom.workload.programs.messages import Messages, checked
from netloom.workload.programs.traces import Branches, Orientation, branches, row_first
from netloom.workload.traffic import Traffic
from netloom.workload.traffic.stream import Arrivals, Lengths, PacketStream, parse_lengths

MESSAGES = "messages/node/cycle"

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
        self.startup_cycles = startup_cycles
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
        counts = np.ones(len(broadcast), np.int64)  # rows of each message
        for message, part in trees:
            counts[message] = len(part.source)
        offsets = np.append(0, np.cumsum(counts, dtype=np.int64))
        source, target, flits = (np.repeat(column, counts) for column in packets[1:])
        asked, waits = np.ones(len(source), bool), np.full(len(source), -1, np.int64)
        for message, part in trees:
            rows = slice(offsets[message], offsets[message + 1])
            source[rows], target[rows], asked[rows] = part.source, part.target, part.asked
            waits[rows] = np.where(part.after >= 0, part.after + offsets[message], -1)
        birth = packets.birth.astype(np.int64)
        waiting, nothing = waits >= 0, np.zeros(len(waits), np.int32)
        table = checked(
            Messages(
                num_nodes=self.num_nodes,
                first=self._num_rows,
                start=np.repeat(birth, counts),
                delay=np.full(len(waits), self.startup_cycles, np.int32),
                run=nothing,
                source=source,
                target=target,
                flits=flits,
                hold=nothing,
                receive=nothing,
                context=np.full(len(waits), -1, np.int32),
                after_offsets=np.append(0, np.cumsum(waiting, dtype=np.int64)),
                after=self._num_rows + waits[waiting],
            )
        )
        self._parts.append(Sent(birth, broadcast, offsets, source, target, flits, asked))
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


def balanced_orientation(topology: Topology, rng: np.random.Generator) -> Orientation:
    """Return an orientation drawn anew: order of the dimensions, and leans of the even rings.

    The row-first tree of a k x k torus loads columns k times as much as rows. If the orientation is
    drawn for each broadcast, all channels of a torus with equal sides carry the same mean traffic,
    as in the model of Shahrabi et al. (2002, eq. 4). On networks other than k-ary n-cubes, each
    node gets its copy from a neighbour drawn among those nearer to the root.
    """
    if isinstance(topology, Cube):
        dimensions = len(topology.sides)
        drawn = rng.random(2 * dimensions)
        order = np.argsort(drawn[:dimensions])
        return Orientation(
            tuple(order.tolist()), tuple((drawn[dimensions:] < 0.5).astype(int).tolist())
        )
    return Orientation(preference=rng.random(topology.num_channels))


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


def per_channel(cube: Cube, flits: Floats) -> Floats:
    """Divide what crosses each direction (float64[n, 2]) by the number of its channels."""
    return flits / np.maximum(cube.direction_channels, 1)[:, np.newaxis]


MOST_NODES = 4096
"""Largest network: all pairs of nodes are gone through."""

BLOCK_PAIRS = 2**20
"""Pairs of nodes at a time."""


def unicast_load(cube: Cube, traffic: Traffic) -> Floats:
    """Return flits per cycle on the channels of each direction, if every node sends one per cycle.

    On shortest paths, what goes just half-way round a ring half in each direction. The mean over
    the channels of a direction.

    The network has at most ``MOST_NODES`` nodes. Returns float64[n, 2], by dimension and direction
    (growing, falling coordinates); 0 where there are no channels.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload.traffic import uniform
    >>> unicast_load(torus(8, 8), uniform(64))[0] * 63  # 64 of 4 directions, k² k / 4 hops in each
    array([64., 64.])
    """
    nodes = cube.num_hosts
    assert nodes <= MOST_NODES
    block = max(BLOCK_PAIRS // nodes, 1)
    hops = np.zeros((len(cube.sides), 2))
    for start in range(0, nodes, block):
        source, target, weight = traffic.matrix(start, min(start + block, nodes))
        count = len(source)
        sent = Sent(
            birth=np.zeros(count, np.int64),
            broadcast=np.zeros(count, bool),
            offsets=np.arange(count + 1),
            source=source,
            target=target,
            flits=weight,  # type: ignore[arg-type]  # shares of a flit
            asked=np.ones(count, bool),
        )
        hops += direction_flits(cube, sent)[0]
    return per_channel(cube, hops * traffic.rate.sum())


def broadcast_load(cube: Cube, rate: Floats, tree: Literal["balanced", "row-first"]) -> Floats:
    """Return the flits per cycle on the channels of each direction, of broadcasts of one flit.

    A dimension that is crossed after others has a branch along it at every node of these. Row-first
    trees cross the last dimension first. Balanced ones cross them in any order, each as often, and
    lean either way. In a k x k torus of which every node broadcasts once a cycle, a balanced tree's
    mean is (k² − 1) / 4 on every channel (Shahrabi et al. 2002, eq. 4).

    ``rate`` is float64[num_nodes], broadcasts a cycle of each node. ``tree`` is that of
    ``BroadcastTraffic``. Returns float64[n, 2] as ``unicast_load`` does.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> broadcast_load(torus(8, 8), np.ones(64), "balanced")
    array([[15.75, 15.75],
           [15.75, 15.75]])
    >>> broadcast_load(torus(8, 8), np.ones(64), "row-first")
    array([[32., 24.],
           [ 4.,  3.]])
    """
    sides = np.array(cube.sides, np.float64)
    hops = np.zeros((len(sides), 2))
    for axis, side in enumerate(sides):
        grows = side // 2 if tree == "row-first" else (side - 1) / 2
        falls = side - 1 - grows
        if not cube.wraps[axis]:
            coordinate = np.arange(cube.num_hosts) // cube.strides[axis] % int(side)
            falls = float(rate @ coordinate) / rate.sum()
            grows = side - 1 - falls
        before = np.prod(sides[axis + 1 :]) if tree == "row-first" else _mean_before(sides, axis)
        hops[axis] = before * grows, before * falls
    return per_channel(cube, hops * rate.sum())


def class_loads(
    cube: Cube,
    traffic: Traffic,
    broadcast: float,
    tree: Literal["balanced", "row-first"],
    *,
    multicast: bool = False,
) -> Floats:
    """Return the flits per cycle on the channels of each direction, of messages of one flit.

    Each node sends its rate, of which a part is broadcast. By class (unicast, broadcast), dimension
    and direction, float64[2, n, 2]. NaN where no formula is at hand: multicasts, and unicast
    messages on more than ``MOST_NODES`` nodes.
    """
    found = np.full((2, len(cube.sides), 2), np.nan)
    if cube.num_hosts <= MOST_NODES:
        found[0] = (1 - broadcast) * unicast_load(cube, traffic)
    if not multicast:
        found[1] = broadcast * broadcast_load(cube, traffic.rate, tree)
    return found


def _mean_before(sides: Floats, axis: int) -> float:
    """Nodes that are reached by the dimensions crossed before one, mean over all orders.

    Over all orders, 0, 1, 2 ... dimensions before it are equally frequent, and so is each choice of
    them. So the mean product of p of them is an elementary symmetric polynomial / number of
    choices.
    """
    others = np.delete(sides, axis)
    count = len(others)
    products = np.atleast_1d(np.poly(-others))  # 1.0 if there are no others
    return float(np.mean([products[p] / comb(count, p) for p in range(count + 1)]))


STEP_CYCLES = 500
"""Cycles after which a run can be interrupted."""

LEAST_WARM_MESSAGES = 500
LEAST_WARM_LATENCIES = 10
"""What a start-up lasts at least: so many messages, so many latencies of an idle network."""

LEAST_CYCLES = 2_000
"""Cycles of the first window."""

GROWTH = 1.5
"""By which a window grows until it is precise."""

SAMPLES = 64
"""Times in a window at which the backlog is looked at."""

LEAST_MESSAGES = 200
"""Messages of a window by which it can be told whether a network keeps up."""

TELLING_MESSAGES, TELLING_NODE_MESSAGES = 10_000, 400
TELLING_ROWS = 2**21
"""Least number of messages (in all and per average sender, or from node to node) at which a network
that seems to saturate is taken to saturate. Near saturation up to 1 in 10 windows of 2 500 messages
of 64 nodes look so, none of 60 of 10 000. Of 256 nodes that send 40 each, some queue soon does."""

HOPELESS = 0.3
"""Part of all flits that wait, from which a start-up will not come to an end."""


class Latency(NamedTuple):
    """Latencies of one class of messages, cycles: NaN where there is too little to tell.

    ``ci95`` is the half-width of a 95 % confidence interval of the mean from batch means, and
    ``precision`` that over the mean. NaN, hence below no goal, unless there are 16 batches, 500
    messages, and batches long enough to be independent.
    """

    messages: int
    mean: float
    ci95: float
    p50: float
    p99: float
    max: float
    precision: float


class SeenLatency(Figures):
    """Latencies of one class of messages, as measured. None past saturation."""

    mean: float | None = figure("mean", CYCLES, lead=True, key=True, half="ci95")
    ci95: float | None = figure("± 95 %", CYCLES)
    p50: float | None = figure("median", CYCLES)
    p99: float | None = figure("99 % up to", CYCLES)
    max: float | None = figure("largest", CYCLES)

    @classmethod
    def of(cls, found: Latency, *, stable: bool) -> Self:
        """Return latencies as they were measured, or unknown past saturation."""
        values = {each.name: known(getattr(found, each.name)) for each in places(cls)}
        return cls(**values if stable else dict.fromkeys(values))


class Direction(Figures):
    """Mean use of the channels of a direction: all, of each class, and as expected of each."""

    dimension: int = figure()
    direction: str = figure()
    total: float = figure(unit=USED)
    unicast: float | None = figure(unit=USED)
    broadcast: float | None = figure(unit=USED)
    expected_unicast: float | None = figure(unit=USED)
    expected_broadcast: float | None = figure(unit=USED)


class BroadcastRun(Figures):
    """What one run at one rate found, of the messages that were everywhere within its window.

    Broadcasts last until their last target is reached. Start-up is included.

    Attributes
    ----------
    rate
        Messages a cycle of the average sending node, as asked.
    created, accepted
        The same, as generated in the window, and as delivered.
    hops
        Mean over the unicast messages.
    cycles, warmup_cycles
        Those of the window, and those left out at the start.
    flit_hops
        Flits that crossed channels within the window.
    stable, backlog, reason
        Whether the network kept up, what piled up, and why it is thought so.
    precise, warmed_up, interrupted
        Whether the precision asked for was reached, the start-up seen to end, and the run stopped
        from outside.
    directions
        Of k-ary n-cubes. What is known of a run that was made just now follows.
    unicast, broadcast, target
        Latencies, also past saturation, of unicast messages, of broadcasts (until the last of their
        nodes is reached), and of all nodes that broadcasts reached.
    channel_utilisation
        float64[num_network_channels], flits per cycle on each channel.
    class_utilisation
        float64[2]: mean over all channels, of unicast messages and of broadcasts.
    broadcast_by_direction
        float64[n, 2] on k-ary n-cubes: mean utilization by broadcasts of the channels of each
        dimension and direction. None elsewhere, and where copies took more than one hop.
    """

    rate: float = figure(unit=MESSAGES, lead=True, key=True)
    created: float = figure(unit=MESSAGES)
    accepted: float = figure(unit=MESSAGES, lead=True, key=True)
    zero_load_latency: float | None = figure("unicast latency if idle", CYCLES)
    unicast_latency: SeenLatency = figure(
        "unicast latency", flat="unicast_latency_", lead=True, key=True
    )
    broadcast_latency: SeenLatency = figure(
        "broadcast latency", flat="broadcast_latency_", lead=True, key=True
    )
    target_latency: SeenLatency = figure("latency to each target", flat="target_latency_")
    unicast_messages: int = figure()
    broadcast_messages: int = figure()
    hops: float | None = figure("hops of a unicast")
    utilisation_mean: float = figure("mean channel", USED, at="utilisation.mean")
    utilisation_max: float = figure("busiest channel", USED, at="utilisation.max", key=True)
    utilisation_unicast: float = figure("mean channel, unicasts", USED, at="utilisation.unicast")
    utilisation_broadcast: float = figure(
        "mean channel, broadcasts", USED, at="utilisation.broadcast"
    )
    cycles: int = figure("measured", CYCLES)
    warmup_cycles: int = figure("warm-up", CYCLES)
    flit_hops: int = figure()
    stable: bool = figure("keeps up", key=True)
    backlog: Backlog = figure()
    reason: str = figure()
    precise: bool = figure()
    warmed_up: bool = figure()
    interrupted: bool = figure()
    note: str | None = figure()
    directions: tuple[Direction, ...] = figure()
    unicast: Latency = unseen(default=None)
    broadcast: Latency = unseen(default=None)
    target: Latency = unseen(default=None)
    channel_utilisation: Floats = unseen(default=None)
    class_utilisation: Floats = unseen(default=None)
    broadcast_by_direction: Floats | None = unseen(default=None)

    @derived("share of broadcasts in the traffic on links", SHARE, table=False)
    def broadcast_share(self) -> float | None:
        """None where there is no traffic."""
        return self.utilisation_broadcast / self.utilisation_mean if self.utilisation_mean else None

    @derived(lead=True)
    def state(self) -> str:
        """What is to be known of it in a word."""
        return state_of(
            interrupted=self.interrupted,
            stable=self.stable,
            is_known=self.is_known,
            sure=self.precise and self.warmed_up,
        )

    @derived("messages that arrived", table=False)
    def messages(self) -> int:
        """Of both kinds."""
        return self.unicast_messages + self.broadcast_messages

    @property
    def is_known(self) -> bool:
        """Whether the run was long enough to tell whether the network carries its rate."""
        if self.interrupted or not self.messages:
            return False
        return not self.stable or self.backlog.growth is not None


class _Seen(NamedTuple):
    """All messages so far, the latency of each, and the times and hops of their rows."""

    sent: Sent
    latency: Ints
    complete: Ints
    hops: Ints

    @property
    def end(self) -> Ints:
        """The cycle in which each message was everywhere; -1 where it is not yet."""
        return np.where(self.latency >= 0, self.sent.birth + self.latency, -1)

    @property
    def owner(self) -> Ints:
        """The message that each row belongs to."""
        return np.repeat(np.arange(len(self.latency)), np.diff(self.sent.offsets))


def run_broadcasts(
    network: ProgramNetwork,
    traffic: Traffic,
    program: BroadcastTraffic,
    rate: float,
    mean_flits: float,
    limits: steady.Limits,
    stopped: Callable[[], bool],
) -> BroadcastRun:
    """Warm a network up, measure it until a limit is met, and return what was found.

    The precision is that of unicast messages, or of broadcasts if all are. ``stopped`` is asked
    between steps: whether to end at once, with what is known.
    """
    run = _BroadcastRun(network.make_engine(), program, limits)
    messages_a_cycle = rate * float(traffic.rate.sum())
    idle = network.zero_load_latency(average_distance(network.topology), mean_flits)
    wanted = max(LEAST_WARM_LATENCIES * idle, LEAST_WARM_MESSAGES / messages_a_cycle)
    warmed_up = steady.warm_up(
        run, least=ceil(wanted), most=limits.most_cycles, step=STEP_CYCLES, stopped=stopped
    )
    run.begin = run.cycle
    channels = run.engine.channel_flits()
    most = limits.most_measured
    wanted = max(run.begin, LEAST_CYCLES, 2 * steady.PRECISE_PACKETS / messages_a_cycle)
    ended = steady.measure_window(
        run, first=most if limits.cycles else ceil(wanted),
        longer=lambda cycles: ceil(GROWTH * cycles), most=most, step=STEP_CYCLES, stopped=stopped,
    )  # fmt: skip
    if not ended:
        run.is_enough()  # at what there is
    used = (run.engine.channel_flits() - channels) / max(run.cycle - run.begin, 1)
    seen, begin, end = run.seen, run.begin, run.cycle
    cycles, sent = max(end - begin, 1), seen.sent
    senders = int(np.count_nonzero(traffic.rate))

    def inside(when: Ints) -> Bools:
        return (when >= begin) & (when < end)

    moved = inside(seen.complete)
    of_class = sent.broadcast[seen.owner]
    class_hops = np.bincount(of_class[moved], (sent.flits * seen.hops)[moved], 2)
    unicast = moved & ~of_class
    topology, by_direction = network.topology, None
    if isinstance(topology, Cube) and (seen.hops[moved & of_class] == 1).all():
        flits = np.where(moved, sent.flits, 0)
        crossed = direction_flits(topology, sent._replace(flits=flits))[1]
        by_direction = per_channel(topology, crossed) / cycles
    classes, stable, precise = run.latency, run.verdict.stable, run.is_precise
    hops, length = (
        float(column[unicast].mean()) if unicast.any() else np.nan
        for column in (seen.hops, sent.flits)
    )
    shares = class_hops / max(topology.num_channels, 1) / cycles
    latency = [SeenLatency.of(each, stable=stable) for each in classes]
    messages = classes[0].messages, classes[1].messages
    return BroadcastRun(
        rate=rate,
        created=int(np.count_nonzero(inside(sent.birth))) / cycles / senders,
        accepted=int(np.count_nonzero(inside(seen.end))) / cycles / senders,
        zero_load_latency=(
            known(program.startup_cycles + network.zero_load_latency(hops, length))
            if stable
            else None
        ),
        unicast_latency=latency[0],
        broadcast_latency=latency[1],
        target_latency=latency[2],
        unicast_messages=messages[0],
        broadcast_messages=messages[1],
        hops=known(hops),
        utilisation_mean=float(shares.sum()),
        utilisation_max=float(used.max(initial=0)),
        utilisation_unicast=float(shares[0]),
        utilisation_broadcast=float(shares[1]),
        cycles=end - begin,
        warmup_cycles=begin,
        flit_hops=round(float(used.sum()) * cycles),
        stable=stable,
        backlog=Backlog.of(run.verdict, topology),
        reason=run.verdict.reason,
        precise=precise,
        warmed_up=warmed_up,
        interrupted=not ended,
        note=note_of(
            run.verdict, sum(messages), "message", interrupted=not ended, warmed_up=warmed_up,
            precise=precise,
        ),
        directions=(),
        unicast=classes[0],
        broadcast=classes[1],
        target=classes[2],
        channel_utilisation=used,
        class_utilisation=shares,
        broadcast_by_direction=by_direction,
    )  # fmt: skip


class _BroadcastRun(ProgramRun):
    """Messages on their way, and what the last look at the window since ``begin`` found."""

    source: BroadcastTraffic
    begin = 0
    seen: _Seen
    latency: tuple[Latency, Latency, Latency]
    verdict: steady.Stability

    def __init__(
        self, engine: ProgramEngine, source: BroadcastTraffic, limits: steady.Limits
    ) -> None:
        super().__init__(engine, source)
        self.limits = limits

    @property
    def observed(self) -> int:
        """The class of messages that decides: broadcasts only where there is nothing else."""
        return int(self.source.fraction == 1)

    def _look(self) -> _Seen:
        sent, rows = self.source.sent(), self.engine.rows
        complete = rows["complete"].copy()
        self.seen = _Seen(sent, latencies(sent, complete), complete, rows["hops"].copy())
        return self.seen

    def has_settled(self) -> bool:
        seen = self._look()
        counted = (seen.latency >= 0) & (seen.sent.broadcast == self.observed)
        if not counted.any():
            return False
        arrivals = np.argsort(seen.end[counted], kind="stable")
        return steady.warmup_packets(seen.latency[counted][arrivals]) is not None

    def is_hopeless(self) -> bool:
        seen = self.seen
        waiting = seen.sent.flits[seen.complete < 0].sum()
        return bool(waiting > HOPELESS * seen.sent.flits.sum()) and _telling(seen, 0)

    def is_enough(self) -> bool:
        seen = self._look()
        self.verdict = _stability(seen, self.begin, self.cycle)
        unicast, broadcast = (
            _latency(seen.end[chosen], seen.latency[chosen], self.begin, self.cycle)
            for chosen in (~seen.sent.broadcast, seen.sent.broadcast)
        )
        message, latency = target_latencies(seen.sent, seen.complete)
        arrival = seen.sent.birth[message] + latency
        self.latency = unicast, broadcast, _latency(arrival, latency, self.begin, self.cycle)
        return self.is_precise if self.verdict.stable else _telling(seen, self.begin)

    @property
    def is_precise(self) -> bool:
        found = self.latency[self.observed]
        if self.limits.cycles is not None:
            return found.messages >= LEAST_MESSAGES
        return found.precision <= self.limits.precision


def _telling(seen: _Seen, begin: int) -> bool:
    """Whether so much was sent since a cycle that a backlog is no chance."""
    messages, rows = (
        np.count_nonzero(birth >= begin) for birth in (seen.sent.birth, seen.sent.birth[seen.owner])
    )
    senders = len(np.unique(seen.sent.source))
    enough = max(TELLING_MESSAGES, TELLING_NODE_MESSAGES * senders)
    return bool(messages >= enough or rows >= TELLING_ROWS)


def _latency(arrival: Ints, latency: Ints, begin: int, end: int) -> Latency:
    """Summarize what arrived in the window."""
    inside = (arrival >= begin) & (arrival < end)
    latency = latency[inside]
    if not len(latency):
        return Latency(0, *(np.nan,) * (len(Latency._fields) - 1))
    batch = (arrival[inside] - begin) * steady.MOST_BATCHES // (end - begin)
    counts = np.bincount(batch, minlength=steady.MOST_BATCHES)
    sums = np.bincount(batch, latency, steady.MOST_BATCHES)
    mean, ci95 = steady.run_interval(sums, counts)
    batches = steady.merge_correlated(sums, counts)
    middle, high = np.percentile(latency, [50, 99], method="inverted_cdf")
    precise = (
        np.count_nonzero(batches[1]) >= steady.PRECISE_BATCHES
        and len(latency) >= steady.PRECISE_PACKETS
        and steady.autocorrelation(*batches) <= steady.CORRELATED
    )
    return Latency(
        messages=len(latency),
        mean=mean,
        ci95=ci95,
        p50=float(middle),
        p99=float(high),
        max=float(latency.max()),
        precision=ci95 / mean if precise else np.nan,
    )


def _stability(seen: _Seen, begin: int, end: int) -> steady.Stability:
    """Say whether the network kept up: what waits, copies to come included, by node that sends."""
    sent = seen.sent
    born = sent.birth[seen.owner]
    messages = np.count_nonzero((sent.birth >= begin) & (sent.birth < end))
    if messages < LEAST_MESSAGES:
        few = f"{messages} messages are too few to tell whether the network keeps up"
        return steady.Stability(stable=True, reason=few)
    times = begin + (end - begin) * np.arange(SAMPLES + 1) // SAMPLES
    done = np.where(seen.complete >= 0, seen.complete, np.iinfo(np.int64).max)
    change = np.zeros(SAMPLES + 2)
    for when, sign in ((born, 1.0), (done, -1.0)):
        change += sign * np.bincount(np.searchsorted(times, when), sent.flits, SAMPLES + 2)
    nodes = int(max(sent.source.max(), sent.target.max())) + 1
    waiting = [
        np.bincount(sent.source[(born <= when) & (done > when)], minlength=nodes)
        for when in times[[0, (SAMPLES + 1) // 2, -1]]
    ]
    rate = np.bincount(sent.source, sent.flits, nodes) / end
    return steady.stability(times, np.cumsum(change)[:-1], waiting, rate, float(sent.flits.mean()))
