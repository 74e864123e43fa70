"""Feldmann et al. 1993: message passing as iWarp had it, simulated flit by flit.

``phases.execute.message_passing`` is of wormhole routers in general. Here is what the text says of
iWarp's (sections 4.3, 4.3.1 and 5):

- Routes are deterministic: dimension order, half-way round a ring always towards growing numbers,
  as all fixed routes in netloom.
- A channel has one logical channel for each of three pools: 12 for messages, in four directions.
  A message is launched in pool 0, and in the next one from each dateline on that it crosses.
- A processor receives one message at a time. It begins with c_r clocks of its own: until they are
  over, the message stays in the network, and so do those that have come behind it.

If all messages are in one pool, channels carry one message's words at a time, so that a waiting
message blocks others. To stay in the network for c_r clocks, a message is that many words longer.
It then holds its logical channels for exactly this time. But it takes turns on the channels with
messages of other pools, which on the machine could use them alone meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.progress import counting
from netloom.routing import DimensionOrder, all_routes
from netloom.routing.virtual_channel_tables import path_routing
from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.network.program import NetworkProgram
from netloom.simulation.network.routers import router
from netloom.simulation.replay import HEARING_CYCLES
from netloom.simulation.side_by_side import run_all
from netloom.workload.programs.messages import messages
from netloom.workload.traffic.lengths import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Floats
    from netloom.models.messages import MessageCosts
    from netloom.phases import Connections
    from netloom.routing import VirtualChannelRouting
    from netloom.topology import Cube
    from netloom.workload.programs.messages import Messages

ROUTER = router("single-cycle", vcs=3)
"""Three pools. A word per cycle on each channel, which is 2 clocks, and 2 cycles per hop."""


def iwarp_clocks(
    given: Connections, network: Cube, costs: MessageCosts, *, shuffled: bool, seeds: int
) -> Floats:
    """Return the clocks until the last message has been received, for each of some seeds.

    A node sends its messages one after the other, the next when the last has been received.

    Parameters
    ----------
    given, network
        The connections, each of which is one message, and the torus or mesh.
    costs
        Of a message.
    shuffled
        Whether each node sends in an order of its own, by chance, or as connections are listed.
    seeds
        How many such orders.

    Examples
    --------
    Alone, a message of k words over h hops takes 400 + 400 + 2 k + 4 h clocks, and 4 to come out.

    >>> from netloom.models.messages import MessageCosts
    >>> from netloom.phases import connections
    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> given = connections(read("hypercube:1"), [0, 2], 4, words=100)
    >>> iwarp_clocks(given, mesh(4), MessageCosts(), shuffled=False, seeds=1)
    array([1012.])
    """
    routing = in_pools(network)
    rngs = [np.random.default_rng(seed) for seed in np.random.SeedSequence(1).spawn(seeds)]
    tables = [_table(given, network.num_hosts, costs, rng if shuffled else None) for rng in rngs]
    runs = [partial(_last, network, routing, table) for table in tables]
    with counting(len(runs), "simulating messages") as tell:
        ended = [last for last in run_all(runs, tell=tell) if last is not None]
    if len(ended) < len(runs):
        raise KeyboardInterrupt
    return np.array(ended) * costs.clocks_per_word


def in_pools(network: Cube) -> VirtualChannelRouting:
    """Return dimension order in the pools of iWarp, whose routers give out one message at a time.

    It cannot deadlock: a message never goes back to an earlier pool, and within one there is no
    way round a ring.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> routing = in_pools(torus(8))  # from 6 to 1: 7 is in pool 0, 0 and 1 are in pool 1
    >>> number = routing.routes.pairs.tolist().index(6 * 8 + 1)
    >>> first, end = routing.tables.path_offsets[number : number + 2]
    >>> [int(slots).bit_length() - 1 for slots in routing.tables.path_slots[first:end]]
    [0, 1, 1, 6]
    """
    routes = all_routes(network, DimensionOrder())
    ends = (network.channel_source, network.channel_target)
    step = np.subtract(*(np.stack(np.unravel_index(nodes, network.sides)) for nodes in ends))
    crossed = np.cumsum((np.abs(step).max(axis=0) > 1)[routes.routes.channels])
    lengths = np.diff(routes.routes.offsets)
    before = np.insert(crossed, 0, 0)[routes.routes.offsets[:-1]]
    pool = crossed - np.repeat(before, lengths)
    assert pool.max(initial=0) < ROUTER.vcs
    routing = path_routing(network, routes, ROUTER.vcs, 1, np.int64(1) << pool)
    tables = routing.tables
    out = np.where(
        tables.path_slots == tables.ejection, 1 << tables.injection_slot, tables.path_slots
    )
    return replace(routing, tables=tables._replace(path_slots=out))


def _table(
    given: Connections, num_nodes: int, costs: MessageCosts, rng: np.random.Generator | None
) -> Messages:
    """Return the messages, each after the one that its source has sent before it."""
    assert not len(given.before), "connections without an order of their own"
    order = np.arange(len(given)) if rng is None else rng.permutation(len(given))
    source = given.source[order]
    after: list[list[int]] = []
    last: dict[int, int] = {}
    for row, node in enumerate(source.tolist()):
        after.append([last[node]] if node in last else [])
        last[node] = row
    held = round(costs.receive_clocks / costs.clocks_per_word)
    return messages(
        num_nodes,
        source=source,
        target=given.target[order],
        flits=given.words[order] + costs.header_words + held,
        run=round(costs.send_clocks / costs.clocks_per_word) - (ROUTER.timing().injection - 1),
        after=after,
    )


def _last(
    network: Cube,
    routing: VirtualChannelRouting,
    table: Messages,
    stopped: Callable[[], bool],
) -> int | None:
    """Return the cycle in which the last message has been received. None to stop."""
    engine = NetworkProgram(network, routing, ROUTER, packet_flits=LONGEST)
    engine.append(table)
    while engine.completed < engine.num_rows:
        if stopped():
            return None
        assert engine.cycle < LAST_CYCLE
        engine.advance(min(engine.cycle + HEARING_CYCLES, LAST_CYCLE))
    return int(engine.rows["complete"].max())
