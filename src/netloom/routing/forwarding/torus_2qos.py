"""OpenSM's torus-2QoS: dimension order on tori in two lanes, around what is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.end_points import end_points
from netloom.routing.forwarding.grids import grid_of
from netloom.routing.forwarding.opensm import leaving_by_port, told
from netloom.routing.forwarding.tables import Lanes
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

FEWEST_DIMENSIONS, DIMENSIONS = 2, 3
LEVELS = 16


class _Torus(NamedTuple):
    """A torus in three dimensions, some of side 1, and the directions of its channels.

    Attributes
    ----------
    sides
        int64[3].
    at_place
        int64[*sides], the router at each place, or -1 if none is.
    place
        int64[num_routers, 3], or -1 for a broken router.
    direction
        int64[channels between routers]: 2 d where coordinate d falls, 2 d + 1 where it grows.
    step
        int64[num_routers, 6], the neighbour by direction, or -1 if none is.
    """

    sides: Ints
    at_place: Ints
    place: Ints
    direction: Ints
    step: Ints


def torus_2qos(topology: Topology) -> ForwardingTable:
    """Return the table and the lanes of OpenSM's engine torus-2QoS.

    Paths go along x, then y, then z. They take the shorter way around each ring, and the long way
    around a broken ring. Of two equal ways, they take the one that does not cross the dateline,
    between the last coordinate and the first. A service level has a bit for each dimension whose
    dateline the shorter way crosses. The bit of the dimension that a channel lies in is the lane.
    One router may be missing, or several in one column along z: ways turn early there, and go on in
    two more lanes after a turn against the order. OpenSM takes the torus from a file
    (``--torus_config``). Here it is the one that ``grid_of`` finds, with its origin and its order
    of dimensions. Cables between the same two routers take turns.

    Raises
    ------
    InputError
        If the network is no torus or mesh of two or three dimensions, or too broken: OpenSM falls
        back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> table = torus_2qos(torus(2, 5))
    >>> table.next_channel[:5, 0].tolist(), table.lanes.level[:5, 0].tolist()
    ([-1, 10, 10, 24, 24], [0, 0, 0, 2, 2])
    """
    found = _routed(topology)
    if isinstance(found, str):
        said = f"{topology.name}, where {found}, so that OpenSM configures minhop"
        raise InputError("routing torus-2qos", said, "a torus; or another engine")
    torus, directions = found
    ends = end_points(topology)
    lanes = Lanes(
        _levels(torus)[ends.exit[: ends.num_destinations]], _lanes_by_port(topology, torus)
    )
    return told("torus-2qos", _table(topology, torus, directions), ends, lanes)


def torus_2qos_falls_back(topology: Topology) -> str:
    """Return why OpenSM would configure minhop instead of torus-2QoS. Empty if it would not.

    Given the torus that there is, as its configuration.
    """
    found = _routed(topology)
    return found if isinstance(found, str) else ""


def _routed(topology: Topology) -> tuple[_Torus, NDArray[np.int8]] | str:
    """Return the torus and the direction to each router from each other, or why there is none."""
    from netloom.routing.kernels.torus import torus_directions

    torus = _torus(topology)
    if torus is None:
        return "switches make no torus or mesh of two or three dimensions"
    reason = _too_broken(topology, torus)
    if reason:
        return reason
    directions = torus_directions((torus.at_place, torus.place, torus.step), torus.sides)
    here = torus.place[:, 0] >= 0
    lost = (directions < 0) & here & here[:, None] & ~np.eye(len(here), dtype=np.bool_)
    if lost.any():
        end, router = (int(each) for each in np.argwhere(lost)[0])
        names = [topology.name_of(topology.router_vertex(each)) for each in (router, end)]
        return f"no way leads from switch {names[0]} to {names[1]}"
    return torus, directions


def _torus(topology: Topology) -> _Torus | None:
    grid = grid_of(topology)
    if grid is None or len(grid.sides) < FEWEST_DIMENSIONS:
        return None
    more = DIMENSIONS - len(grid.sides)
    sides = np.array((*grid.sides, *(1,) * more), np.int64)
    here = grid.place[:, 0] >= 0
    place = np.concatenate([grid.place, np.zeros((len(here), more), np.int64)], axis=1)
    place[~here] = -1
    at_place = np.full(sides, -1, np.int64)
    at_place[tuple(place[here].T)] = np.flatnonzero(here)
    inside = topology.routers
    change = place[inside.channel_target] - place[inside.channel_source]
    axis = np.argmax(change != 0, axis=1)
    step_by = change[np.arange(len(axis)), axis]
    grows = (step_by == 1) | (step_by < -1)
    direction = 2 * axis + grows
    step = np.full((topology.num_routers, 2 * DIMENSIONS), -1, np.int64)
    step[inside.channel_source, direction] = inside.channel_target
    return _Torus(sides, at_place, place, direction.astype(np.int64), step)


def _too_broken(topology: Topology, torus: _Torus) -> str:
    """Return why OpenSM would not route what is left of a torus. Empty if it would."""
    for axis, name in enumerate("xyz"):
        across = np.moveaxis(torus.at_place, axis, -1).reshape(-1, torus.sides[axis])
        for ring in across:
            routers = ring[ring >= 0]
            cuts = int((torus.step[routers, 2 * axis + 1] < 0).sum())
            if cuts > 1 and torus.sides[axis] > 1:
                named = topology.name_of(topology.router_vertex(int(routers[0])))
                return f"the line of switch {named} along {name} is broken in {cuts} places"
    missing = np.argwhere(torus.at_place < 0)
    if len(missing) > 1:
        columns = {tuple(each[:2].tolist()) for each in missing}
        heights = missing[:, 2]
        beside = [(heights + step) % torus.sides[2] for step in (-1, 1)]
        lone = ~(np.isin(beside[0], heights) | np.isin(beside[1], heights))
        if len(columns) > 1 or lone.any():
            return f"{len(missing)} switches are missing, and not next to each other along z"
    return ""


def _levels(torus: _Torus) -> NDArray[np.uint8]:
    """Return the service level to each router from each other, uint8[num_routers, num_routers]."""
    level = np.zeros((len(torus.place),) * 2, np.uint8)
    for axis, side in enumerate(torus.sides.tolist()):
        at = torus.place[:, axis].astype(np.int32)
        inner = np.abs(at[:, None] - at)
        level |= (inner > side - inner).astype(np.uint8) << axis
    return level


def _lanes_by_port(topology: Topology, torus: _Torus) -> NDArray[np.uint8]:
    """Return the lane by router, ports in and out and service level (see ``Lanes``)."""
    inside = topology.routers
    leaves, enters = port_numbers(topology)
    axis = torus.direction // 2
    ports = int(max(leaves.max(initial=0), enters.max(initial=0))) + 1
    comes = np.zeros((topology.num_routers, ports), np.int64)
    goes = np.full((topology.num_routers, ports), DIMENSIONS)
    comes[inside.channel_target, enters[: inside.num_channels]] = axis
    goes[inside.channel_source, leaves[: inside.num_channels]] = axis
    bit = (np.arange(LEVELS) >> goes[:, :, None] & 1).astype(np.uint8)
    bit[goes == DIMENSIONS] = 0
    lane = np.repeat(bit[:, None], ports, axis=1)
    if (torus.at_place < 0).any():  # some ways turn against the order
        lane |= 2 * (comes[:, :, None] > goes[:, None]).astype(np.uint8)[..., None]
    return lane


def _table(topology: Topology, torus: _Torus, directions: NDArray[np.int8]) -> Ints:
    """Return the channel of each router to each end point. Parallel ones take turns."""
    ends, source = end_points(topology), topology.routers.channel_source
    cables: dict[tuple[int, int], list[int]] = {}
    for channel in leaving_by_port(topology)[1].tolist():
        cables.setdefault((int(source[channel]), int(torus.direction[channel])), []).append(channel)
    first = np.full((topology.num_routers, 2 * DIMENSIONS + 1), -1, np.int32)
    for place, some in cables.items():
        first[place] = some[0]
    table = first[np.arange(topology.num_routers), directions[ends.exit]]  # -1 is the last column
    x, y, z = (torus.place[ends.exit, axis] for axis in range(DIMENSIONS))
    turn = np.lexsort((np.argsort(ends.order), x, y, z))
    for own in (turn[turn < ends.num_apart], turn[turn >= ends.num_apart]):
        for (router, direction), some in cables.items():
            if len(some) > 1:
                there = own[directions[ends.exit[own], router] == direction]
                table[there, router] = np.resize(some, len(there))
    return table
