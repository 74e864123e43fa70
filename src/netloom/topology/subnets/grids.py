"""Rings and tori that a file describes by their sides and the names of their nodes."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import attach_hosts
from netloom.topology.cubes import cube

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.topology.core import Topology
    from netloom.topology.subnets.records import Subnet


def grid(
    subnet: Subnet,
    sides: Sequence[int],
    names: Sequence[str],
    *,
    where: str,
    notes: tuple[str, ...] = (),
) -> Topology:
    """Return routers in a torus, one host on each, by their names, the last side fastest.

    Routers are called by their coordinates.

    Raises
    ------
    InputError
        If there are not as many names as places, or a name comes twice.
    """
    check_names(names, prod(sides), where=where)
    routers = cube(sides, wraps=True, name=subnet.name)
    places = [routers.name_of(place) for place in range(len(names))]
    return attach_hosts(
        routers, np.arange(len(names)), name=subnet.name, notes=(*subnet.notes, *notes),
        labels=(*names, *(place if "(" in place else f"({place})" for place in places)),
    )  # fmt: skip


def check_names(names: Sequence[str], many: int, *, where: str) -> None:
    """Refuse names that are not as many as there are places, or come twice."""
    if len(names) != many or not many:
        raise InputError(where, f"{len(names)} nodes", f"{many or 'one or more'}, one per place")
    if len(set(names)) < many:
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise InputError(where, f"node '{twice:.40}' twice", "each node once")
