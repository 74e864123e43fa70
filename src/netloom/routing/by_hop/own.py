"""Routing by a user's own function, which sees what is used of each port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import split_spec
from netloom.routing.by_hop.hosted import check_joined, planned, refuse_circle
from netloom.routing.by_hop.ladders import Ladder, straight
from netloom.routing.by_hop.named import plan
from netloom.routing.by_hop.tables import (
    MOST_VCS,
    OWN,
    NextPorts,
    check_starts,
    hop_tables,
)
from netloom.routing.port_numbers import hosted_ports
from netloom.routing.virtual_channel_tables import VirtualChannelRouting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netloom.topology import Topology

LIKE = ("minimal", "nca", "minimal-group", "dimension-order")
"""Routings whose next ports a user's function may choose from."""


def routing_by_hop(
    topology: Topology,
    function: Callable[..., int],
    *,
    num_vcs: int,
    like: str = "minimal",
    next_routers: Callable[[int, int], Iterable[int]] | None = None,
    name: str = "",
) -> VirtualChannelRouting:
    """Return a routing by which a Python function picks the port that each packet takes next.

    Numba compiles the function, which must be plain enough for that.

    Parameters
    ----------
    topology
        A network whose hosts hang on routers.
    function
        Called once per packet and router as ``function(router, goal, ports, used, coin)``. The
        packet leaves the network at ``goal``. ``ports`` are the output ports that lead on
        (int16[]). ``used`` are the flits sent into each of the router's output ports that may still
        be in the next buffer (int32[ports]). ``coin`` is 31 random bits of the packet. The function
        returns a place in ``ports``.
    num_vcs
        Virtual channels of every channel.
    like
        The routing whose ports and VC classes packets take: ``minimal``, ``nca``,
        ``minimal-group`` or ``dimension-order``.
    next_routers
        Called in advance as ``next_routers(router, goal)`` for all routers and exits. Returns the
        routers that packets may go to next. They then take any VC.
    name
        What the routing is called. The function's name by default.

    Raises
    ------
    InputError
        If Numba cannot compile the function, or next routers are no neighbours or lead nowhere.
    DeadlockError
        With the circle, if a choice among the next ports can close one.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> def least_used(router, goal, ports, used, coin):
    ...     best = coin % len(ports)
    ...     for index in range(len(ports)):
    ...         if used[ports[index]] < used[ports[best]]:
    ...             best = index
    ...     return best
    >>> routing_by_hop(topology("fat-tree:4x3"), least_used, num_vcs=1).name
    'least_used'
    """
    called = name or getattr(function, "__name__", "") or "own"
    if not 1 <= num_vcs <= MOST_VCS:
        raise InputError("num_vcs", str(num_vcs), f"1 to {MOST_VCS}")
    kept = _compiled(function, called)
    more = {"function": kept.address, "choice": OWN}
    if next_routers is None:
        word, argument = split_spec(like)
        if word not in LIKE:
            raise InputError("like", f"'{like}'", ", ".join(LIKE))
        wanted = plan(topology, word, argument)
        found = planned(topology, wanted._replace(name=called), num_vcs)
        tables, minimal = found.tables._replace(**more), found.minimal
    else:
        ports = _next_ports(topology, next_routers, called)
        kind = np.zeros(topology.num_network_channels, np.int8)
        automaton = straight(Ladder(kind, (0,), (True,)), num_vcs)
        tables, minimal = hop_tables(topology, num_vcs, [ports], automaton, **more), False
        where = f"{called} on {topology.name} with any VC"
        check_joined(topology, ports, called)
        refuse_circle(topology, tables, where, "next routers that close no circle")
    return VirtualChannelRouting(
        called, topology, tables, uses_credits=True, minimal=minimal, function=kept
    )


def _compiled(function: Callable[..., int], name: str) -> Any:
    """Return the function as one that kernels can call by its address."""
    import re

    from numba import carray, cfunc, njit  # type: ignore[attr-defined]
    from numba.core.errors import NumbaError

    from netloom.routing.kernels.called import NEXT_PORT

    plain = njit(function)

    def asked(router, goal, ports, count, used, size, coin):  # type: ignore[no-untyped-def]
        return plain(router, goal, carray(ports, count), carray(used, size), coin)

    try:
        return cfunc(NEXT_PORT)(asked)
    except NumbaError as error:
        lines = re.sub(r"\x1b\[\d*m", "", str(error)).strip().splitlines()
        found = next((line for line in lines if not line.startswith("Failed in")), "an error")
        wanted = "a function of router, goal, ports, used and coin that Numba can compile"
        raise InputError(f"routing {name}", found, wanted) from None


def _next_ports(
    topology: Topology, next_routers: Callable[[int, int], Iterable[int]], name: str
) -> NextPorts:
    """Return the ports that lead to the routers that a function names.

    Raises
    ------
    InputError
        If one is no neighbour.
    """
    wired, inside = hosted_ports(topology), topology.routers
    count = inside.num_vertices
    check_starts(topology, count * count)
    offsets, leaving = inside.outgoing()
    starts, lengths = np.zeros(count * count, np.int32), np.full(count * count, -1, np.int16)
    ports = [0]
    known: dict[tuple[int, ...], int] = {(): 0}
    for goal in np.unique(topology.ejection_router).tolist():
        lengths[goal * count + goal] = 0
        for router in range(count):
            if router == goal:
                continue
            after = {int(each) for each in next_routers(router, goal)}
            channels = leaving[offsets[router] : offsets[router + 1]]
            there = inside.channel_target[channels]
            if strangers := after - set(there.tolist()):
                found = f"router {min(strangers)} behind router {router}"
                raise InputError(f"routing {name}", found, "routers that a channel leads to")
            taken = tuple(
                int(wired.out_port[channel]) + lane
                for channel in channels[np.isin(there, list(after))].tolist()
                for lane in range(wired.lanes[channel])
            )
            if taken not in known:
                known[taken] = len(ports)
                ports += [len(taken), *taken]
            starts[router * count + goal] = known[taken]
            lengths[router * count + goal] = 1 if taken else -1
    return NextPorts(count, starts, np.array(ports, np.int16), lengths)
