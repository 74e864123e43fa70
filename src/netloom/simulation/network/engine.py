"""A network of routers that can be run, cycle by cycle, with packets given from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.network import layout
from netloom.simulation.network.arrays import chain, make_setup, make_state, port_places
from netloom.simulation.network.regions import Regions, most_regions
from netloom.simulation.network.routers import MOST_PACKET
from netloom.simulation.network.stuck import deadlock
from netloom.simulation.network.wiring import wiring
from netloom.simulation.side_by_side import extra_processors
from netloom.simulation.tally import Delivered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.routing.virtual_channels import VirtualChannelRouting
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology


class Engine:
    """The routers, buffers, channels and source queues of one network, and the cycle they are at.

    Parameters
    ----------
    topology, routing, router
        The network, ``routing.virtual_channel_routing``'s answer for it, and its routers.
    shortest_packet
        Least flits of any packet that will be given. Bounds how many packets a buffer can hold.
    connections
        For reserved VCs: the connection that owns each VC of each injection channel,
        int32[num_nodes, injection channels, vcs], -1 where none does. Otherwise None.

    Raises
    ------
    InputError
        If there are too many nodes, or a buffer may have to hold too many packets.
    """

    def __init__(
        self,
        topology: Topology,
        routing: VirtualChannelRouting,
        router: Router,
        *,
        shortest_packet: int = 1,
        connections: Ints | None = None,
    ) -> None:
        self.topology, self.routing, self.router = topology, routing, router
        self.shortest_packet = shortest_packet
        self.born_packets, self.born_flits, self.delivered_packets = np.zeros(
            (3, topology.num_hosts), np.int64
        )
        """What each node was given to send, and how many of these packets were delivered."""
        self.wiring = wiring(topology, router)
        self.setup = make_setup(topology, self.wiring, routing, router, shortest_packet)
        self.state = make_state(topology, self.wiring, self.setup, router, connections)
        self._last_regions: Regions | None = None
        self.seconds_beside = 0.0
        """Processor time of other threads than those that called ``advance``."""

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""
        return self.count("cycle")

    def advance(self, packets: Ints, until: int) -> Delivered:
        """Run up to, and without, the cycle ``until``. Return the packets delivered meanwhile.

        Those may have an ``arrival`` of a few cycles later: their tail is on the ejection channel.
        ``packets`` is int32[n, 6], ``layout.BORN`` of the packets born in these cycles, by birth.

        Raises
        ------
        InputError
            If a packet is too long: for a buffer, where packets move only as a whole.
        DeadlockError
            If packets block each other for good. Names the channels.
        """
        from netloom.simulation.network.kernels.network import runs
        from netloom.simulation.network.kernels.packets import count_born

        kernel, given = runs[self.kind], self.given
        clock, logs, came_back = self.state.clock, [], None
        assert packets.shape[1:] == (len(layout.BORN),)
        assert not len(packets) or self.cycle <= packets[0, 0] <= packets[-1, 0] < until
        born = np.ascontiguousarray(packets, np.int32)
        self.check_lengths(*count_born(born, self.born_packets, self.born_flits))
        clock["taken"] = 0
        while came_back != layout.DONE:
            with extra_processors(most_regions(self) - 1) as extra:
                if extra:
                    came_back, noted = self._regions(extra + 1).run(self, born, until)
                else:
                    came_back = kernel(given, self.routing.tables, self.state, born, until)
                    noted = self.state.log[: self.count("logged")]
            if came_back == layout.PACKETS_FULL:
                self.make_room(len(packets))
            elif came_back == layout.STUCK:
                raise deadlock(self)
            else:
                logs.append(self._columns(noted))
                clock["logged"] = 0
        return Delivered(*(logs[0] if len(logs) == 1 else np.concatenate(logs, axis=1)))

    def _regions(self, count: int) -> Regions:
        if self._last_regions is None or len(self._last_regions.parts) != count:
            self._last_regions = Regions(self, count)
        return self._last_regions

    def _columns(self, noted: layout.Records) -> Ints:
        """Return int32[8, packets], the columns of ``layout.DELIVERED`` of a log."""
        from netloom.simulation.network.kernels.packets import take_columns

        columns = np.empty((len(layout.DELIVERED), len(noted)), np.int32)
        table = noted.view(np.int32).reshape(-1, layout.LOG.itemsize // 4)
        take_columns(table, columns, self.delivered_packets)
        return columns

    @property
    def kind(self) -> type[layout.Setup]:
        """The kind of its routers, for which a kernel is compiled."""
        return next(kind for kind in layout.KINDS if self._is(layout.known_of(kind)))

    @property
    def given(self) -> tuple[int, ...]:
        """What that kernel is given of ``setup``."""
        return self.setup[: len(self.setup) - len(layout.known_of(self.kind))]

    def _is(self, known: tuple[int, ...]) -> bool:
        return self.setup[len(self.setup) - len(known) :] == known

    def check_lengths(self, least: int, most: int) -> None:
        """Raise InputError where the longest packet is too long."""
        router = self.router
        if router.whole_packets and most > router.buffer_flits:
            wanted = f"at most buffer_flits = {router.buffer_flits} with {router.switching}"
            raise InputError("packet length", f"{most} flits", wanted)
        if most + self.setup.circuit > MOST_PACKET:
            raise InputError("packet length", f"{most} flits", f"less than {MOST_PACKET}")
        assert least >= self.shortest_packet

    def make_room(self, least: int) -> None:
        """Make the table of packets larger: at least twice as large."""
        old, clock = self.state.packets, self.state.clock
        more = max(len(old), least)
        packets = np.concatenate([old, np.zeros(more, layout.PACKET)])
        chain(packets["next"], len(old), int(clock["free_packet"][0]))
        clock["free_packet"] = len(old)
        clock["free_packets"] += more
        self.state = self.state._replace(packets=packets)

    # What a run may look at between two calls.

    def count(self, name: str) -> int:
        """Return one of the counts of ``layout.CLOCK``, such as ``link_hops``."""
        return int(self.state.clock[name][0])

    def flits(self) -> dict[str, int]:
        """Return the flits injected, ejected, in buffers and on channels. They must balance."""
        flits = {"injected": self.count("injected"), "ejected": self.count("ejected")}
        flits["buffered"] = int(self.state.inputs["count"].sum(dtype=np.int64))
        flits["flying"] = int(self.state.arrivals_due.sum())
        balance = flits["ejected"] + flits["buffered"] + flits["flying"]
        assert flits["injected"] == balance, f"flits were lost or made: {flits}"
        return flits

    def channel_flits(self) -> Ints:
        """Return the flits that have crossed each network channel (int64[num_network_channels])."""
        between = self.wiring.between
        crossed = self.state.ports["crossed"]
        here = crossed[port_places(self.setup, between.source, between.out_port)]
        count = self.topology.num_network_channels
        return np.bincount(between.channel, here, count).astype(np.int64)

    def buffered(self) -> Ints:
        """Return the flits in every input buffer, int64[num_routers, ports, vcs]."""
        return self._by_slot(self.state.inputs["count"])

    def credits(self) -> Ints:
        """Return the credits of every output VC, int64[num_routers, ports, vcs]."""
        return self._by_slot(self.state.outputs["credits"][: self.setup.source_slots])

    def owned(self) -> Bools:
        """Return which output VCs a packet owns, bool[num_routers, ports, vcs]."""
        words = np.ascontiguousarray(self.state.masks["free"]).reshape(-1, self.setup.words)
        free = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
        return ~self._shaped(free)

    def _by_slot(self, values: Ints) -> Ints:
        return self._shaped(values.astype(np.int64).reshape(-1, self.setup.num_slots))

    def _shaped(self, of_slots: NDArray[Any]) -> NDArray[Any]:
        setup = self.setup
        used = of_slots[:, : setup.num_slots]
        return used.reshape(len(used), setup.num_ports, setup.vc_stride)[:, :, : setup.num_vcs]

    def vc_flits(self) -> Ints:
        """Return the flits in the buffers of each VC of all channels between routers."""
        between = self.wiring.between
        found: Ints = self.buffered()[between.target, between.in_port].sum(axis=0)
        return found

    @property
    def bytes_per_node(self) -> float:
        """Bytes of state a node, without the packets on their way and the log."""
        arrays = self.state._replace(packets=self.state.clock, log=self.state.clock)
        total: int = sum(array.nbytes for array in arrays)
        return total / self.topology.num_hosts
