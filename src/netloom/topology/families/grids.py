"""Grids that are more than a mesh or torus: HyperX, twisted tori, several hosts per router.

HyperX: a grid of routers, all joined along each dimension. Flattened butterflies among them.

Twisted tori: rectangular tori whose short dimensions close with a shift along the long ones.

Several hosts on each router of a network that is drawn without hosts, such as a mesh.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import HyperXShape, Topology, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Ints


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


def twisted_torus(sides: Sequence[int]) -> Topology:
    """Return the torus of k and 2k whose wraps of side k also go k along each side of 2k.

    This is the rectangular twisted torus 2k × k of Cámara et al., *Twisted torus topologies for
    enhanced interconnection networks*, 2010. In three dimensions, k × k × 2k and k × 2k × 2k are
    those of Jouppi et al., *TPU v4: an optically reconfigurable supercomputer for machine learning
    with hardware support for embeddings*, 2023. Routers are numbered row-major. Each has a host, as
    in a torus.

    Raises
    ------
    InputError
        If there are not two or three sides, of k and of 2k, k at least 2, or it would be too large.

    Examples
    --------
    >>> net = twisted_torus([4, 2])
    >>> net, [net.name_of(v) for v in net.channel_target[net.channel_source == 0]]
    (<twisted-torus:4x2: 8 nodes, 32 directed channels>, ['(0,1)', '(1,0)', '(2,1)', '(3,0)'])
    """
    sides = tuple(map(int, sides))
    name = "twisted-torus:" + "x".join(map(str, sides))
    short = min(sides, default=0)
    wanted = "two or three sides of k and 2k, both, such as 4x4x8, 4x8x8 or 8x4"
    if len(sides) not in (2, 3) or set(sides) != {short, 2 * short} or short < 2:
        raise InputError(name, f"sides {' x '.join(map(str, sides))}", wanted)
    many = prod(sides)
    check_sizes(name, hosts=many, routers=0, channels=2 * len(sides) * many)
    at = np.stack(np.unravel_index(np.arange(many), sides))
    ends = [(np.arange(many), _next(at, sides, axis)) for axis in range(len(sides))]
    one, other = (np.concatenate(each) for each in zip(*ends, strict=True))
    return linked(name, many, one, other, labels=coordinate_labels(sides))


def _next(at: Ints, sides: tuple[int, ...], axis: int) -> Ints:
    """Return the router behind each one, in the direction in which a coordinate grows."""
    to = at.copy()
    to[axis] += 1
    closing = to[axis] == sides[axis]
    to[axis, closing] = 0
    short = min(sides)
    if sides[axis] == short:
        for other, side in enumerate(sides):
            if side != short:
                to[other, closing] = (to[other, closing] + short) % side
    found: Ints = np.ravel_multi_index(tuple(to), sides)
    return found


def twisted_torus_of(argument: str, spec: str) -> Topology:
    """Read ``4x4x8``: sides of k and 2k."""
    wanted = "sides of k and 2k, such as twisted-torus:4x4x8"
    return twisted_torus(numbers(argument, where=spec, wanted=wanted))


def concentrated(routers: Topology, hosts: int) -> Topology:
    """Return a direct network with ``hosts`` hosts on each router. Host h hangs on h div hosts.

    Raises
    ------
    InputError
        If there are no hosts, or the network would be too large.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> concentrated(mesh(4, 4), 4)
    <mesh:4x4/4: 64 hosts, 16 routers, 48 directed channels>
    """
    name, many = f"{routers.name}/{hosts}", routers.num_routers
    if hosts < 1:
        raise InputError(name, f"{hosts} hosts per router", "at least 1")
    channels = routers.num_channels + 2 * many * hosts
    check_sizes(name, hosts=many * hosts, routers=many, channels=channels)
    return attach_hosts(routers, np.arange(many).repeat(hosts), name=name)


def with_hosts(
    make: Callable[[str, str], Topology], count: Callable[[str, str], int]
) -> Callable[[str, str], Topology]:
    """Return a maker that also takes ``/c`` behind what ``make`` takes: c hosts on each router.

    ``count`` returns the number of routers that ``make`` would make, before it makes them.
    """

    def made(argument: str, spec: str) -> Topology:
        shape, slash, hosts = argument.partition("/")
        if not slash:
            return make(argument, spec)
        inner = spec.rpartition("/")[0]
        each, routers = whole_number(hosts, where=spec, least=1), count(shape, spec)
        check_sizes(spec, hosts=routers * each, routers=routers, channels=2 * routers * each)
        return concentrated(make(shape, inner), each)

    return made
