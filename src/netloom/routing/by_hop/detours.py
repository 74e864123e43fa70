"""Which goals packets draw for a detour, by where they are and where they go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.several import Valiant, detour, host_routers
from netloom.routing.ways import family_of
from netloom.topology.family import DragonflyShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology


def detour_lists(detour_class: Ints, lists: Sequence[Sequence[Ints]]) -> dict[str, Any]:
    """Return the fields of ``HopTables`` that say which goals packets draw.

    Parameters
    ----------
    detour_class
        int32[R], the class of each router.
    lists
        For the class of the router where a packet draws and that of its exit the goals, each as
        likely; -1 stands for none. Lists that are one object are kept once.
    """
    classes = len(lists)
    starts = np.zeros(classes * classes, np.int32)
    known: dict[int, int] = {}
    parts, size = [], 0
    for row, goals in enumerate(goals for each in lists for goals in each):
        if id(goals) not in known:
            known[id(goals)] = size
            parts.append(np.append(len(goals), goals))
            size += len(parts[-1])
        starts[row] = known[id(goals)]
    return {
        "detour_class": detour_class.astype(np.int32),
        "detour_classes": classes,
        "detour_start": starts,
        "detours": np.concatenate(parts).astype(np.int32),
    }


def valiant_goals(topology: Topology, over: str) -> dict[str, Any]:
    """Return the goals of ``several.Valiant`` over ``routers`` or ``groups``.

    Raises
    ------
    InputError
        If the network has none.
    """
    trip = detour(topology, Valiant("groups" if over == "groups" else "routers"))
    if not trip.to_group:
        return detour_lists(np.zeros(topology.num_routers, np.int32), [[trip.goals]])
    return _by_group(trip.ways.group - 1, [trip.goals] * int(trip.ways.group.max()))


def other_goals(topology: Topology, asked: str) -> dict[str, Any]:
    """Return the goals of routings that weigh a detour against the direct way.

    Any router with hosts. On dragonflies any of another group, and packets within a group draw
    none.

    Raises
    ------
    InputError
        If the network has none, naming the routing that is ``asked`` for.
    """
    goals, shape = host_routers(topology), family_of(topology)
    if not len(goals):
        found = f"{asked} on {topology.name}, where packets enter and leave by different routers"
        raise InputError("routing", found, "routers by which packets enter and leave")
    if not isinstance(shape, DragonflyShape):
        return detour_lists(np.zeros(topology.num_routers, np.int32), [[goals]])
    group = np.arange(topology.num_routers) // shape.routers
    away = [goals[group[goals] != own] for own in range(shape.groups)]
    return _by_group(group, away)


def _by_group(group: NDArray[Any], goals: Sequence[Ints]) -> dict[str, Any]:
    """Return lists by the group of the router where packets draw. None in the exit's group."""
    nothing = np.zeros(0, np.int32)
    count = len(goals)
    lists = [
        [nothing if own == other else goals[own] for other in range(count)] for own in range(count)
    ]
    return detour_lists(group, lists)
