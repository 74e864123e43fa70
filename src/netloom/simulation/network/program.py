"""A network of routers that runs a program: messages that wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.routing import draw_aux
from netloom.simulation.agenda import CycleEngine
from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.network import layout
from netloom.simulation.network.engine import Engine, deadlock
from netloom.simulation.network.reservations import rank
from netloom.workload.counter_random import uniforms
from netloom.workload.traffic.lengths import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing import VirtualChannelRouting
    from netloom.simulation.network.reservations import Reservation
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology
    from netloom.workload.programs.messages import Messages

COINS = 20
"""First stream of chance of ``NodeChance``."""

MOST_PACKETS = 2**24
"""Most packets that a cycle may send. They take 48 bytes each."""


class NodeChance:
    """Chance of messages by their node, and by how many that has sent before.

    ``of`` returns what stands for a generator of NumPy: each call of ``integers`` draws one number
    for each message, whatever other messages there are.
    """

    def __init__(self, seed: int, num_nodes: int) -> None:
        self._seed, self._sent = seed, np.zeros(num_nodes, np.int64)
        self._calls, self._node, self._index = 0, self._sent[:0], self._sent[:0]

    def of(self, source: Ints) -> NodeChance:
        """Go on to messages of these nodes, in the order in which each sends them."""
        self._index = rank(source) + self._sent[source]
        self._calls, self._node = 0, source.astype(np.int64)
        self._sent += np.bincount(source, minlength=len(self._sent))
        return self

    def integers(
        self, low: int, high: Any, size: int | None = None, dtype: Any = np.int64
    ) -> NDArray[Any]:
        """Return whole numbers from ``low`` on, below ``high``, one for each message."""
        assert size in (None, len(self._node))
        drawn = uniforms(self._seed, COINS + self._calls, self._node, self._index)
        self._calls += 1
        found: NDArray[Any] = (low + np.floor(drawn * (np.asarray(high) - low))).astype(dtype)
        return found


class NetworkProgram(CycleEngine):
    """The routers of one network, a program, and the cycle it is at.

    Parameters
    ----------
    topology, routing, router
        The network, ``routing.virtual_channel_routing``'s answer for it, and its routers.
    packet_flits
        Most flits of a packet: longer messages are cut, and all their packets are queued at their
        source at once.
    switch_cycles, seed
        See ``ProgramEngine``. The seed is that of what routing leaves to chance.
    reservation
        For reserved VCs: the connections. ``routing`` is its own.
    by_node
        Whether random choices of the routing depend on a message's node and on the number of
        messages that the node has sent before. They are then the same whatever other nodes do.
        Otherwise they depend on the order of rows.

    Raises
    ------
    InputError
        If packets can be longer than a buffer that must hold all of one, or VCs are to be reserved
        and nothing says for whom.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.simulation.network.routers import router
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import messages
    >>> net, single = mesh(4, 4), router("single-cycle")
    >>> routing = virtual_channel_routing(net, "default", num_vcs=single.vcs)
    >>> engine = NetworkProgram(net, routing, single, packet_flits=5)
    >>> engine.append(messages(16, source=[0, 3], target=[3, 0], flits=5, after=[[], [0]]))
    >>> engine.advance(1000)
    >>> engine.rows["complete"].tolist(), single.zero_load_cycles(hops=3, flits=5)
    ([14, 28], 14)
    """

    def __init__(
        self,
        topology: Topology,
        routing: VirtualChannelRouting,
        router: Router,
        *,
        packet_flits: int,
        switch_cycles: int = 0,
        seed: int = 0,
        reservation: Reservation | None = None,
        by_node: bool = False,
    ) -> None:
        if router.switching == "reserved" and reservation is None:
            raise InputError("switching", "'reserved'", "one without connections, for a program")
        assert reservation is None or reservation.routing is routing
        if not 1 <= packet_flits <= LONGEST:
            raise InputError("packet_flits", f"{packet_flits}", f"1 to {LONGEST} flits")
        super().__init__(topology, switch_cycles=switch_cycles)
        self.packet_flits, self.reservation = packet_flits, reservation
        connections = None if reservation is None else reservation.connections
        self.network = Engine(topology, routing, router, connections=connections)
        self.network.check_lengths(packet_flits, packet_flits)
        self._coins = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7,)))
        self._by_node = NodeChance(seed, topology.num_hosts) if by_node else None

    @property
    def flit_hops(self) -> int:
        """Flits that have crossed a network channel."""
        return self.network.count("link_hops")

    def channel_flits(self) -> Ints:
        """Return the flits that have crossed each network channel (int64[num_channels])."""
        return self.network.channel_flits()

    def host_channel_flits(self) -> Ints:
        """Return the flits that have crossed each channel of hosts. See ``ProgramEngine``.

        Of messages that have arrived. Empty where hosts have several ports.
        """
        topology, ports = self.network.topology, self.network.topology.num_ports
        if topology.direct or ports != topology.num_hosts:
            return np.zeros(0, np.int64)
        rows = self.rows[: self.num_rows]
        gone = rows[(rows["arrived"] >= 0) & (rows["source"] != rows["target"])]
        ends = (np.bincount(gone[end], gone["flits"], ports) for end in ("source", "target"))
        return np.concatenate(list(ends)).astype(np.int64)

    def append(self, messages: Messages, connections: Ints | None = None) -> None:
        """Append rows to the program. See ``ProgramEngine``.

        ``connections`` is the connection of each row that is a message, where VCs are reserved and
        their nodes do not tell it.
        """
        if self.reservation is None:
            assert connections is None
            start, end = messages.source, messages.target
            coins: Any = self._coins if self._by_node is None else self._by_node.of(start)
            coin, aux = draw_aux(self.network.routing, coins, start, end)
        else:
            coin = np.zeros(len(messages), np.int32)
            aux = np.zeros(len(messages), np.int32) if connections is None else connections
            if connections is None:  # any connection will do for a row that sends nothing
                sends = (messages.flits > 0) & (messages.source != messages.target)
                ends = messages.source[sends], messages.target[sends]
                aux[sends] = self.reservation.aux_of(*ends)
        self._append(messages, np.asarray(aux, np.int32), 0)
        self.rows["coin"][messages.first :] = coin

    def advance(self, until: int) -> None:
        """Run up to, and without, a cycle. See ``ProgramEngine``."""
        from netloom.simulation.network.kernels.program import runs

        assert until <= LAST_CYCLE, "a run is too long"
        network, agenda = self.network, self.agenda
        kernel, given = runs[network.kind], network.given
        came_back = None
        while came_back != layout.DONE:
            came_back = kernel(
                given, network.routing.tables, network.state, agenda, self.packet_flits,
                self.num_rows, until,
            )  # fmt: skip
            if came_back == layout.PACKETS_FULL:
                waiting = agenda.sent[: int(agenda.clock["sent"][0])]
                flits = agenda.rows["flits"][waiting]
                packets = int(np.sum(-(-flits // self.packet_flits), dtype=np.int64))
                if packets > MOST_PACKETS:
                    found = f"{self.packet_flits}, for {packets} packets at once"
                    raise InputError("packet_flits", found, f"so many that {MOST_PACKETS} will do")
                network.make_room(packets)
            elif came_back == layout.STUCK:
                raise deadlock(network)
