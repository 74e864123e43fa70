"""How long each message of a program takes where nothing is in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.routing import VirtualChannelRouting
from netloom.routing.virtual_channel_tables import TABLE
from netloom.simulation.network.routers import end_channels
from netloom.simulation.worm import Worm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.questions.simulate.engines import ProgramNetwork
    from netloom.routing import Routing
    from netloom.simulation.agenda import Records
    from netloom.simulation.network.routers import Router


def unhindered_latencies(network: ProgramNetwork, rows: Records) -> NDArray[np.int64]:
    """Return the latency of each message over the hops it took, were nothing else in the network.

    Exact on lockstep worms, and on the network for messages of one packet in buffers that let a
    channel be used in every cycle (see ``Router.zero_load_cycles``). For longer messages it is a
    lower bound: the packet that is last in its source's queue, or the one before, waits there for
    its predecessors only; and all flits have to go through the target's ejection channels.

    Parameters
    ----------
    network
        What ran the program.
    rows
        Records of rows that sent a message which has arrived.

    Returns
    -------
    int64[len(rows)], cycles.

    Examples
    --------
    >>> from netloom.questions.simulate.engines import ProgramQuestion, prepare_program
    >>> question = ProgramQuestion(on="mesh:4x4", router="single-cycle")
    >>> rows = np.array([(3, 5), (3, 12)], [("hops", "i4"), ("flits", "i4")])
    >>> unhindered_latencies(prepare_program(question, longest_flits=5), rows)
    array([14, 21])
    """
    flits, hops = rows["flits"].astype(np.int64), rows["hops"].astype(np.int64)
    router = network.router
    if isinstance(router, Worm):
        return _whole(router.unhindered_cycles(hops, flits))  # type: ignore[arg-type]
    packet_flits = network.packet_flits
    packets = -(-flits // packet_flits)
    if _ways_differ_in_length(network.routing):
        hops = np.where(packets > 1, 1, hops)
    injection, ejection = end_channels(network.topology, router)
    last_flits = flits - (packets - 1) * packet_flits
    short = _alone(router, hops, last_flits)
    last = (packets - 1) // injection * _taken(router, hops, packet_flits) + short
    before = (packets - 2) // injection * _taken(router, hops, packet_flits)
    before += _alone(router, hops, packet_flits)
    ejected = short - last_flits + -(-flits // ejection)
    cut = np.maximum(np.maximum(last, before), ejected)
    return np.where(packets > 1, cut, short)


def _alone(router: Router, hops: NDArray[np.int64], flits: Any) -> NDArray[np.int64]:
    """Latency of a packet in an idle network."""
    return _whole(router.zero_load_cycles(hops, flits))  # type: ignore[arg-type]


def _taken(router: Router, hops: NDArray[np.int64], flits: int) -> NDArray[np.int64]:
    """Cycles for which a packet has an injection channel for itself."""
    if router.switching != "circuit":
        return np.full(len(hops), flits)
    times = router.timing()
    flight = times.injection + hops * times.flit + times.ejection
    return _alone(router, hops, flits) - flight + 1  # until its last flit has left the source


def _ways_differ_in_length(routing: VirtualChannelRouting | Routing) -> bool:
    """Whether packets of one message may cross different numbers of channels.

    Only those of a table may: all other routings are minimal, or draw one path for a message.
    """
    assert isinstance(routing, VirtualChannelRouting)
    tables = routing.tables
    if tables.kind != TABLE or routing.minimal:
        return False
    ports = np.bitwise_count(tables.next_slots) // tables.num_vcs
    np.fill_diagonal(ports, 0)
    return bool((ports > 1).any())


def _whole(cycles: Any) -> NDArray[np.int64]:
    return np.asarray(cycles, np.int64)
