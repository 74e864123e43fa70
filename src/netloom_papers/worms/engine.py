"""A network of lockstep worms: what it is made of, and how it is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from netloom.base.arrays import Ints, Records
from netloom.base.errors import DeadlockError, InputError
from netloom.routing import Routing, paths
from netloom.routing.forwarding.tables import cycle_of_waits
from netloom.simulation.agenda import EVENT, LAST_CYCLE, CycleEngine, Pairs, longer
from netloom.topology import Topology
from netloom.topology.measures import check_alike
from netloom.workload.programs.messages import Messages
from netloom_papers.worms import layout
from netloom_papers.worms.layout import Setup, State

FIRST = 1024
"""Room for worms in the network at first. More is made when needed."""


@dataclass(frozen=True)
class Worm:
    """How a network of lockstep worms switches and arbitrates (Chittor 1991, chapter 5).

    A message is a worm: a head that is refused its next channel stops all of it. A node takes
    whatever arrives. With ``release_cycles`` 1 this is a network of channels with a buffer of one
    flit each and without virtual channels, flit for flit.

    Attributes
    ----------
    switching
        ``wormhole``: data follow the head. ``circuit``: they wait until the head has reserved the
        whole path, and its acknowledgement has come back.
    arbitration
        Who gets a free channel that several heads ask for. ``timestamp``: the message that is
        longest in the network. ``fifo``: the head that is longest at this channel, ties by a fixed
        order of input channels. ``fifo-lru``: ties by which of them has not asked for longest.
        ``biased``: heads from the node begin with priority 9, others with 4, each lost
        arbitration lowers it by one, the lowest wins. ``source``: the next source in round-robin
        order.
    release_cycles
        Cycles from a tail's crossing until its channel is free. The value is 1 in the printed
        program, which holds a channel for L + 1 cycles, and 0 if a tail frees the channel as it
        passes.
    end_channels
        0: nodes send and receive any number of messages at once, as in the thesis. 1: each has
        one channel into the network and one out of it, which messages contend for. If hosts
        hang on routers, it is 1: each port of theirs is such a pair of channels.

    Raises
    ------
    InputError
        If a field is none of these.

    Examples
    --------
    >>> Worm(arbitration="fifo").zero_load_latency(None, hops=8, flits=50)
    59
    """

    switching: Literal["wormhole", "circuit"] = "wormhole"
    arbitration: Literal["timestamp", "fifo", "fifo-lru", "biased", "source"] = "timestamp"
    release_cycles: int = 1
    end_channels: int = 0

    engine_name: ClassVar[str] = "worm"

    def __post_init__(self) -> None:
        for field, allowed in (
            ("switching", ("wormhole", "circuit")),
            ("arbitration", layout.POLICIES),
            ("release_cycles", (0, 1)),
            ("end_channels", (0, 1)),
        ):
            if getattr(self, field) not in allowed:
                wanted = f"one of {', '.join(map(str, allowed))}"
                raise InputError(field, f"'{getattr(self, field)}'", wanted)

    def words(self) -> str:
        """Return them as a person says them."""
        return f"lockstep worms ({self.switching}, {self.arbitration})"

    def make_engine(
        self, topology: Topology, routing: Routing, *, switch_cycles: int
    ) -> WormEngine:
        """Return an engine that has not begun."""
        return WormEngine(topology, routing, self, switch_cycles=switch_cycles)

    def zero_load_latency(self, _: object, hops: float, flits: float) -> float:
        """Return a message's latency where nothing is in its way: D + L, and ``release_cycles``.

        Channels at the ends count in D. A circuit's probe and acknowledgement take 2 D more.
        """
        length = hops + 2 * self.end_channels
        setup = 2 * length if self.switching == "circuit" else 0
        return setup + length + flits + self.release_cycles

    def zero_load_latencies(self, rows: Records) -> Ints:
        """Return ``zero_load_latency`` of each message."""
        hops: Any = rows["hops"].astype(np.int64)
        flits: Any = rows["flits"]
        return np.asarray(self.zero_load_latency(None, hops, flits), np.int64)


class WormEngine(CycleEngine):
    """The channels of one network of lockstep worms, a program, and the cycle it is at.

    The routing gives every message its path. ``switch_cycles`` are those in which a processor goes
    from one hardware context to another. A network whose hosts hang on routers is the same as one
    of nodes with ``end_channels``, but that a router may have several hosts, or none.

    Raises
    ------
    InputError
        If channels differ in bandwidth or latency, the routing has several paths for a pair, or
        hosts that hang on routers should have no channels of their own.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import messages
    >>> engine = WormEngine(mesh(4, 4), DimensionOrder(), Worm())
    >>> engine.append(messages(16, source=[0, 1], target=3, flits=10))
    >>> engine.advance(1000)
    >>> engine.rows["complete"].tolist(), engine.cycle
    ([24, 13], 25)
    """

    def __init__(
        self, topology: Topology, routing: Routing, worm: Worm, *, switch_cycles: int = 0
    ) -> None:
        check_alike(topology, "lockstep worms")
        if not topology.direct and not worm.end_channels:
            wanted = f"1 on {topology.name}, whose hosts have channels of their own"
            raise InputError("end_channels", "0", wanted)
        check_one_path(routing)
        super().__init__(topology, switch_cycles=switch_cycles)
        self.routing, self.worm = routing, worm
        incoming = np.bincount(np.append(topology.channel_target, topology.injection_router))
        self.setup = Setup(
            num_nodes=topology.num_hosts,
            num_channels=topology.num_network_channels,
            all_channels=topology.num_network_channels + 2 * topology.num_ports,
            ports=int(incoming.max(initial=0)) + 1,
            policy=layout.POLICIES.index(worm.arbitration),
            heaps=layout.POLICIES.index(worm.arbitration) in layout.STEADY,
            slack=worm.release_cycles,
            circuit=worm.switching == "circuit",
        )
        everything = self.setup.all_channels
        records = np.zeros(everything, layout.CHANNEL)
        records["queue"] = records["last_source"] = records["contested"] = -1
        counts = np.zeros(1, layout.WORMS)
        counts["free_worm"] = -1
        port_of = np.full(everything, self.setup.ports - 2, np.int32)  # of those into it
        offsets, entering = topology.incoming()
        port_of[entering] = np.arange(len(entering)) - np.repeat(offsets[:-1], np.diff(offsets))
        asks = everything * self.setup.ports if self.setup.policy == layout.FIFO_LRU else 0
        self.state = State(
            counts=counts,
            worms=np.zeros(0, layout.WORM),
            channels=records,
            path_offsets=np.zeros(1, np.int64),
            path_channels=np.zeros(0, np.int32),
            port_of=port_of,
            **{name: np.full(asks, -1, np.int64) for name in ("lasts", "befores")},
            wakes=np.zeros(everything, EVENT),
            asking=np.zeros(0, np.int32),
            contested=np.zeros(everything, np.int32),
        )
        self._pairs = Pairs(topology.num_hosts)

    @property
    def flit_hops(self) -> int:
        """Flits times network channels, of the messages whose head has reached its target."""
        return int(self.state.counts["flit_hops"][0])

    def crossed(self) -> Ints:
        """Return the flits that have crossed each channel. See ``ProgramEngine``."""
        channels = self.state.channels
        foreseen = (channels["free"] > self.cycle) & (channels["free"] < layout.NEVER)
        left = channels["free"] - self.setup.slack - self.cycle
        to_come = np.where(foreseen, np.clip(left, 0, channels["last_flits"]), 0)
        worms, holder, place = on_their_way(self.state)
        held = np.flatnonzero(holder >= 0)
        worm = worms[holder[held]]
        crossed = 0 if self.setup.circuit else worm["moves"] - place[held]
        to_come[held] = worm["flits"] - crossed
        flits: Ints = channels["flits"] - to_come
        return flits

    def append(self, messages: Messages) -> None:
        """Append rows to the program. See ``ProgramEngine``."""
        from netloom.routing.kernels.shortest_path import with_ports

        topology, state = self.topology, self.state
        sources, targets, path = self._pairs.of(messages)
        found = paths(topology, self.routing, sources, targets).whole(topology)
        offsets, channels = found.offsets, found.channels
        if self.worm.end_channels and topology.direct:
            ports, first = topology.port_host, topology.num_network_channels
            offsets, channels = with_ports(offsets, channels, sources, targets, ports, first)
        offsets = np.append(state.path_offsets, state.path_offsets[-1] + offsets[1:])
        channels = np.append(state.path_channels, channels)
        self.state = state._replace(path_offsets=offsets, path_channels=channels)
        lengths = np.diff(offsets, append=offsets[-1])[path]
        hops = np.where(lengths > 0, lengths - 2 * self.worm.end_channels, 0)
        self._append(messages, path, hops.astype(np.int32))

    def advance(self, until: int) -> None:
        """Run up to, and without, a cycle. See ``ProgramEngine``.

        Raises
        ------
        DeadlockError
            Naming a circle of channels whose worms block each other, also while others go on.
        """
        from netloom_papers.worms.kernels.worm import run

        assert until <= LAST_CYCLE, "a run is too long"
        while True:
            came_back = run(self.setup, self.agenda, self.state, self.num_rows, until)
            if came_back != layout.FULL:
                break
            # the pool of worms becomes at least twice as large
            old, counts = self.state.worms, self.state.counts
            worms = longer(old, len(old) + max(int(self.agenda.clock["sent"][0]), FIRST))
            asking = longer(self.state.asking, len(worms))
            worms["next"][len(old) :] = np.arange(len(old) + 1, len(worms) + 1)
            worms["next"][-1] = counts["free_worm"][0]
            counts["free_worm"] = len(old)
            counts["free_worms"] += len(worms) - len(old)
            self.state = self.state._replace(worms=worms, asking=asking)
        # Worms in a circle stand still for good, whatever moves elsewhere: a blocked one waits for
        # one channel, whose worm, if that is blocked as well, waits for one more. None of these is
        # a host's own: who waits for the one into the network holds nothing, and who holds the one
        # out of it waits for nothing.
        worms, holder, _ = on_their_way(self.state)
        wanted = self.state.path_channels[worms["first"] + worms["moves"]]
        after = holder[wanted]
        blocked = np.flatnonzero(after >= 0)
        circle = list(cycle_of_waits(blocked, after[blocked], len(worms)))
        if circle:
            names = tuple(map(self.topology.channel_name, wanted[circle].tolist()))
            better = "routing up-down, which has no such circles on any network"
            raise DeadlockError(f"{self.topology.name}, cycle {self.cycle}", names, better)
        assert came_back == layout.DONE, "worms stand still, but not in a circle"


def check_one_path(routing: Routing) -> None:
    """Raise InputError if a pair of hosts has several paths under this routing."""
    if getattr(routing, "several", False):
        wanted = "one path for each pair of hosts, such as d-mod-k or ecmp"
        raise InputError("routing", f"'{routing}'", wanted)


def on_their_way(state: State) -> tuple[Records, Ints, Ints]:
    """Return the worms whose heads are on their way, and what they hold.

    Records as ``layout.WORM``, and int64[all channels]: which of them holds a channel, -1: none,
    and the channel's place in that worm's path.
    """
    worms = state.worms[state.worms["moves"] < state.worms["length"]]
    counts = worms["moves"] - worms["released"]
    before = np.cumsum(counts) - counts
    hop = np.arange(counts.sum()) + np.repeat(worms["released"] - before, counts)
    channel = state.path_channels[np.repeat(worms["first"], counts) + hop]
    holder = np.full(len(state.channels), -1, np.int64)
    place = np.zeros(len(state.channels), np.int64)
    holder[channel], place[channel] = np.repeat(np.arange(len(worms)), counts), hop
    return worms, holder, place
