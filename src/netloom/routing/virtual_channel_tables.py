"""The records that the kernel of virtual-channel routing takes, and how they are filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netloom.base.arrays import NO_INT32S, NO_INT64S, Bools, Int16s, Ints
from netloom.base.errors import InputError
from netloom.routing.by_hop.tables import Births, exits_of, hosted_ports, ports
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.routing.rules import DimensionOrder, cube_tables
from netloom.routing.source_routing import SourceRoutes
from netloom.topology import Cube, Topology

# Kinds of routing, for RouteTables.kind.
DIMENSION_ORDER, STATIC_DATELINE, ADAPTIVE, STICKY_ESCAPE = 0, 1, 2, 3
WEST_FIRST, NEGATIVE_FIRST, ODD_EVEN, O1TURN = 4, 5, 6, 7
TWO_PHASE, TABLE, PATHS = 8, 9, 10


class Rule(NamedTuple):
    """What a routing of k-ary n-cubes needs.

    ``vcs`` and ``ring_vcs`` are the least VCs that free it of deadlock without and with a ring of
    4 nodes or more. ``ring_vcs`` is 0 where it is for meshes only.
    """

    kind: int
    vcs: int
    ring_vcs: int
    two_dimensions: bool = False
    minimal: bool = True
    uses_credits: bool = False


TIES_GROW = "ties=+"
"""Option of adaptive routings: half-way round a ring, packets take the growing way only."""

RULES = {
    "dimension-order": Rule(DIMENSION_ORDER, 1, 2),
    "dimension-order-static-dateline": Rule(STATIC_DATELINE, 1, 2),
    "adaptive": Rule(ADAPTIVE, 2, 3),
    "adaptive-sticky-escape": Rule(STICKY_ESCAPE, 2, 4),
    "west-first": Rule(WEST_FIRST, 1, 0, two_dimensions=True),
    "negative-first": Rule(NEGATIVE_FIRST, 1, 0),
    "odd-even": Rule(ODD_EVEN, 1, 0, two_dimensions=True),
    "o1turn": Rule(O1TURN, 2, 0, two_dimensions=True),
    "o1turn-adaptive": Rule(O1TURN, 2, 0, two_dimensions=True, uses_credits=True),
    "valiant": Rule(TWO_PHASE, 2, 4, minimal=False),
    "romm": Rule(TWO_PHASE, 2, 4),
}

CHOOSING = tuple(
    name
    for name, rule in RULES.items()
    if rule.kind in (ADAPTIVE, STICKY_ESCAPE, WEST_FIRST, NEGATIVE_FIRST, ODD_EVEN)
)
"""Those whose packets have a choice of channels at some routers."""


class RouteTables(NamedTuple):
    """What the kernel takes, whole: numbers, sets as the bits of a number, and flat arrays."""

    kind: int
    num_vcs: int
    all_vcs: int  # VCs
    injection_slot: int  # first input slot of an injection port
    ejection: int  # output slots of all ejection ports; none: packets leave by ``exit_port``
    adaptive_vcs: int = 0  # VCs preferred on network ports; none: no preference
    escape_slots: int = 0  # input slots of the VCs of the first two classes
    ties_grow: bool = False  # half-way round a ring packets take the growing way only
    sides: Ints = NO_INT32S  # [dimensions]
    wraps: Bools = np.zeros(0, np.bool_)  # [dimensions]
    dateline: Bools = np.zeros(0, np.bool_)  # [dimensions] rings of 4 nodes or more
    order: Ints = NO_INT64S  # [dimensions] in the order in which they are corrected
    coordinates: Ints = NO_INT32S  # [node * dimensions + axis]
    shifts: Ints = NO_INT64S  # [2 * axis + direction] first output slot that way
    class_vcs: Ints = NO_INT64S  # [4] VCs of each class
    held: Ints = NO_INT64S  # [class * dimensions + axis] input slots of it along axis
    next_slots: Ints = np.zeros((1, 1), np.int64)  # [node, target] output slots, for tables
    path_offsets: Ints = NO_INT64S  # [paths] for given routes: where each begins in ...
    path_slots: Ints = NO_INT64S  # ... the output slots at each router of each path
    host_router: Ints = NO_INT32S  # [hosts] where hosts hang on routers, each one's ...
    exit_port: Int16s = np.zeros(0, np.int16)  # [hosts] ... the first output port there
    exit_lanes: Int16s = np.zeros(0, np.int16)  # [hosts] ... how many


@dataclass(frozen=True, eq=False)
class VirtualChannelRouting:
    """A routing on the virtual channels of one network.

    Attributes
    ----------
    name, topology
        The routing and the network.
    tables
        What the kernel takes: ``RouteTables`` in direct networks and by ``RULES``, ``HopTables``
        otherwise.
    needs_aux
        Whether packets carry an intermediate node or the number of their route.
    uses_credits
        Whether the source's router sets the coin's lowest bit, by the credits of both ways. In
        networks whose hosts hang on routers, whether any router looks at what is used.
    minimal
        Whether every packet is known to take a shortest path.
    routes
        The given routes, if any. If hosts hang on routers, it is the routing whose paths are listed
        or kept as a table.
    births
        What draws ``aux`` for packets between hosts. None where ``tables`` need none.
    function
        What was compiled of a user's function, of which the tables hold the address.
    between
        The same between routers alone, where hosts hang on the routers of a k-ary n-cube and a rule
        leads packets. None elsewhere.
    """

    name: str
    topology: Topology
    tables: Any
    needs_aux: bool = False
    uses_credits: bool = False
    minimal: bool = True
    routes: Any = None
    births: Births | None = None
    function: Any = None
    between: VirtualChannelRouting | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to leave the process whose memory holds a user's function."""
        if self.function is not None:
            raise TypeError(f"routing {self.name} calls a function of this process")
        return vars(self)


WORD = 64
"""VCs of all ports that fit in a word."""

MOST_SLOTS = 62
"""Most ports × VCs of a router, hosts' ports as one: a set of slots is the bits of an int64."""


def slot_stride(num_ports: int, num_vcs: int) -> int:
    """Return how far the slots of ports are apart: close, or so that no port straddles words."""
    return num_vcs if num_ports * num_vcs <= WORD else 1 << (num_vcs - 1).bit_length()


def rules_fit(topology: Topology, num_vcs: int) -> bool:
    """Return whether a rule can lead packets between hosts that hang on routers.

    These are a k-ary n-cube, none of whose channels is a bundle. Hosts have one port each. The
    slots of the ports between routers fit in a word, as they would were routers hosts.
    """
    routers = topology.routers
    one_port = (np.diff(topology.port_offsets) == 1).all()
    if not isinstance(routers, Cube) or not one_port:
        return False
    if (topology.injection_router != topology.ejection_router).any():
        return False
    wired = hosted_ports(topology)
    if (wired.lanes[: routers.num_channels] > 1).any():
        return False
    inside = wired.network_ports
    stride = slot_stride(wired.num_ports, num_vcs)
    return inside * stride < WORD and (inside + 1) * num_vcs <= MOST_SLOTS


def rule_routing(
    topology: Topology, name: str, order: DimensionOrder, num_vcs: int, ejection_channels: int
) -> VirtualChannelRouting:
    """Return the routing of ``RULES`` as it would be on any number of VCs, safe or not.

    Raises
    ------
    InputError
        If hosts hang on routers in a way that no rule can serve: see ``rules_fit``.
    """
    kind, _, option = name.partition(":")
    rule, cube, stride = RULES[kind], topology.routers, num_vcs
    assert isinstance(cube, Cube)
    tables, between = empty_tables(cube, rule.kind, num_vcs, ejection_channels), None
    if not topology.direct:
        wired = hosted_ports(topology)
        adaptive = rule.kind == ADAPTIVE and wired.num_ports * num_vcs > WORD
        if adaptive or not rules_fit(topology, num_vcs):
            found = f"{topology.name} of {wired.num_ports} ports with {num_vcs} VCs"
            most = f"at most {MOST_SLOTS} VCs in all ports of a router"
            raise InputError(f"routing '{name}'", found, f"hosts of one port each, and {most}")
        between = rule_routing(cube, name, order, num_vcs, ejection_channels)
        stride = slot_stride(wired.num_ports, num_vcs)
        tables = tables._replace(
            ejection=0, host_router=topology.ejection_router, **exits_of(topology)
        )
    dimensions = cube_tables(cube, order)
    axis_port = ports(cube).axis_port
    dateline = datelines(cube)
    classes = vc_classes(rule.kind, num_vcs, rings=bool(dateline.any()))
    slots_in = [
        [sum(vcs << stride * port for port in set(pair.tolist()) if port >= 0) for vcs in classes]
        for pair in axis_port
    ]
    sides, strides = dimensions.sides, dimensions.strides
    coordinates = np.arange(cube.num_routers)[:, None] // strides % sides
    return VirtualChannelRouting(
        name + str(order).removeprefix("dimension-order"),
        topology,
        tables._replace(
            adaptive_vcs=classes[2] if rule.kind == ADAPTIVE else 0,
            escape_slots=sum(low | high for low, high, *_ in slots_in),
            ties_grow=option == TIES_GROW,
            sides=sides.astype(np.int32),
            wraps=dimensions.wraps,
            dateline=dateline,
            order=dimensions.order,
            coordinates=coordinates.astype(np.int32).ravel(),
            shifts=axis_port.ravel() * stride,
            class_vcs=np.array(classes, np.int64),
            held=np.array(slots_in, np.int64).T.ravel(),
        ),
        needs_aux=rule.kind == TWO_PHASE,
        uses_credits=rule.uses_credits,
        minimal=rule.minimal,
        between=between,
    )


def table_routing(
    topology: Topology, routing: ForwardingTable, num_vcs: int, ejection_channels: int
) -> VirtualChannelRouting:
    """Return the routing of a table, in any VC."""
    tables = empty_tables(topology, TABLE, num_vcs, ejection_channels)
    slots = tables.all_vcs << ports(topology).out_port.astype(np.int64) * num_vcs
    if routing.choices is not None and len(routing.choices.channels):
        offered = slots[routing.choices.channels]
        slots = np.append(slots, np.bitwise_or.reduceat(offered, routing.choices.offsets[:-1]))
    next_slots = np.append(slots, 0)[routing.next_channel.T]
    np.fill_diagonal(next_slots, tables.ejection)
    minimal = routing.name == "shortest-path"
    tables = tables._replace(next_slots=next_slots)
    return VirtualChannelRouting(routing.name, topology, tables, minimal=minimal)


def path_routing(
    topology: Topology,
    routing: SourceRoutes,
    num_vcs: int,
    ejection_channels: int,
    hop_vcs: Ints | None = None,
) -> VirtualChannelRouting:
    """Return the routing of given paths. One path more leads from a node to itself.

    ``hop_vcs`` are the VCs of each hop, as bits. Any, where it is not given.
    """
    tables = empty_tables(topology, PATHS, num_vcs, ejection_channels)
    offsets, channels = routing.routes.offsets, routing.routes.channels
    shift = ports(topology).out_port[channels].astype(np.int64) * num_vcs
    vcs = tables.all_vcs if hop_vcs is None else hop_vcs
    slots = np.append(vcs << shift, np.int64(tables.ejection))
    tables = tables._replace(
        path_offsets=offsets + np.arange(len(offsets)),
        path_slots=np.insert(slots, offsets[1:], tables.ejection),
    )
    return VirtualChannelRouting(
        str(routing), topology, tables, needs_aux=True, minimal=False, routes=routing
    )


def empty_tables(
    topology: Topology, kind: int, num_vcs: int, ejection_channels: int
) -> RouteTables:
    """Return the record with only the numbers of every kind of routing."""
    injection_slot = ports(topology).num_network_ports * num_vcs
    ejection = (1 << ejection_channels * num_vcs) - 1 << injection_slot
    return RouteTables(kind, num_vcs, (1 << num_vcs) - 1, injection_slot, ejection)


def datelines(topology: Cube) -> Bools:
    """Return which dimensions are rings that can close a circle: of 4 nodes or more."""
    return np.array(topology.wraps, np.bool_) & (np.array(topology.sides) >= 4)


def vc_classes(kind: int, num_vcs: int, *, rings: bool) -> tuple[int, int, int, int]:
    """Return the VCs (as bits) of the four classes of a kind of routing.

    If there are too few VCs for a class of its own, classes share: that is what deadlocks.
    """
    every = (1 << num_vcs) - 1
    if kind in (ADAPTIVE, STICKY_ESCAPE):
        if not rings:
            return 1, 0, every & ~1 or 1, 0
        if num_vcs < 3:
            return 1, 1, every & ~1 or 1, 0
        return 1, 2, every & (8 if kind == STICKY_ESCAPE else ~3), 0
    if kind == TWO_PHASE:
        first, second = _halves(every)
        if not rings:
            return first, 0, second, 0
        return (*_halves(first), *_halves(second))
    if kind == STATIC_DATELINE and rings:
        upper = num_vcs // 2
        return (1 << num_vcs - upper) - 1, every >> upper << upper, 0, 0
    if kind == O1TURN or (kind == DIMENSION_ORDER and rings):
        return (*_halves(every), 0, 0)
    return every, 0, 0, 0


def _halves(vcs: int) -> tuple[int, int]:
    """Split a run of VCs: the lower half, larger by one where it is odd, and the upper half."""
    upper = vcs.bit_count() // 2
    middle = vcs.bit_length() - upper
    return (vcs, vcs) if upper == 0 else (vcs & (1 << middle) - 1, vcs >> middle << middle)
