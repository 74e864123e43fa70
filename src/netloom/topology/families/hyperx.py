"""HyperX: a grid of routers, all joined along each dimension. Flattened butterflies among them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers, parts
from netloom.topology.family import HyperXShape

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_DIMENSIONS = 32


def hyperx(sides: Sequence[int], hosts: int, lanes: int = 1) -> Topology:
    """Return the HyperX of these sides: routers that differ in one coordinate are joined.

    Ahn et al., *HyperX: topology, routing, and packaging of efficient large-scale networks*, 2009.
    The k-ary n-flat (Kim, Dally & Abts, *Flattened butterfly*, 2007) has n − 1 sides of k, and k
    hosts per router. Routers are numbered row-major, and host h hangs on router h div ``hosts``.

    Parameters
    ----------
    sides
        Routers in each dimension.
    hosts
        Hosts per router.
    lanes
        Links between two routers that are joined.

    Raises
    ------
    InputError
        If a number is below 1, or the network would be too large.

    Examples
    --------
    >>> net = hyperx([4, 4], 4)
    >>> net, net.channel_name(0)
    (<hyperx:4x4/4: 64 hosts, 16 routers, 96 directed channels>, '(0,0) -> (0,1)')
    """
    sides = tuple(map(int, sides))
    name = f"hyperx:{'x'.join(map(str, sides))}/{hosts}" + (f"/{lanes}" if lanes != 1 else "")
    if not 1 <= len(sides) <= MOST_DIMENSIONS:
        raise InputError(name, f"{len(sides)} sides", f"1 to {MOST_DIMENSIONS}")
    at_least_one(name, "sides, hosts per router and lanes", *sides, hosts, lanes)
    routers = prod(sides)
    channels = routers * (lanes * sum(side - 1 for side in sides) + 2 * hosts)
    check_sizes(name, hosts=routers * hosts, routers=routers, channels=channels)
    grid = np.arange(routers).reshape(sides)
    one, other = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for axis, side in enumerate(sides):
        along = np.moveaxis(grid, axis, -1)
        low, high = np.triu_indices(side, 1)
        one.append(along[..., low].ravel())
        other.append(along[..., high].ravel())
    joined = linked(
        name, routers,
        np.concatenate(one).repeat(lanes), np.concatenate(other).repeat(lanes),
        labels=coordinate_labels(sides), family=HyperXShape(sides, lanes),
    )  # fmt: skip
    return attach_hosts(joined, np.arange(routers).repeat(hosts), name=name)


def coordinate_labels(sides: Sequence[int]) -> tuple[str, ...]:
    """Return ``(row,column)`` of every place of a grid, row-major.

    Examples
    --------
    >>> coordinate_labels([1, 2])
    ('(0,0)', '(0,1)')
    """
    return tuple("(" + ",".join(map(str, place)) + ")" for place in np.ndindex(*sides))


def hyperx_of(argument: str, spec: str) -> Topology:
    """Read ``4x4/4/2``: sides, hosts per router, lanes."""
    wanted = "sides and hosts per router, such as hyperx:4x4/4, and lanes, such as hyperx:4x4/4/2"
    sides, *rest = parts(argument, where=spec, least=2, most=3, wanted=wanted)
    counts = [whole_number(word, where=spec, least=1) for word in rest]
    return hyperx(numbers(sides, where=spec, wanted=wanted), *counts)
