"""Tori folded into meshes of more dimensions, as Tofu networks give them to jobs.

A side of 4 is the circle 00, 01, 11, 10 over two sides of 2. In general the nodes of a side follow
a reflected Gray code over its factors. A 2 is the slowest digit, so that the last node is a
neighbor of the first. Source: Ajima et al., *The Tofu Interconnect*, IEEE Micro 32 (1), 2012. Its
six dimensions are X, Y, Z, A, B and C, of which the last three are 2, 3 and 2 nodes long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.topology.core import FoldedShape, Topology, attach_hosts
from netloom.topology.cubes import cube

LONG_AND_SHORT = {1: ((3, 3),), 2: ((1, 2), (2, 1)), 3: ((1, 1),) * 3}
"""By the number of sides: of how many long dimensions, and of how many of 2, each is made."""


def folded(sides: Sequence[int], mesh: Sequence[int] = (), *, name: str) -> Topology:
    """Return the torus of these sides, folded into a mesh of more dimensions.

    Host h is at place h of the torus, the last coordinate fastest, so that rank order is the order
    of the torus. Routers and channels are those of the mesh. A host has one channel each way.

    Parameters
    ----------
    sides
        Of the torus.
    mesh
        Sides of the mesh, those of the first side of the torus first. By default three sides are
        halved, and others are made of up to six: see ``LONG_AND_SHORT``. What makes a side of the
        torus alone is a ring.

    Raises
    ------
    InputError
        If the sides of the mesh do not make those of the torus, or a side that is made of several
        has no 2 among them.

    Examples
    --------
    >>> net = folded([4, 4], name="folded:4x4")
    >>> net.routers.sides, net.injection_router[:4]
    ((2, 2, 2, 2), array([0, 1, 3, 2], dtype=int32))
    >>> folded([6, 3], [3, 2, 3], name="folded:6x3/3x2x3").routers.wraps
    (False, False, True)
    """
    hosts = prod(sides)
    check_size(hosts, where=name, what="hosts")
    factors = _grouped(sides, mesh, name) if mesh else _usual(sides)
    places = np.zeros((1,), np.int64)
    for side, parts in zip(sides, factors, strict=True):
        if len(parts) > 1 and 2 not in parts:
            found = f"a side of {side} made of {'x'.join(map(str, parts))}"
            raise InputError(name, found, "a 2 among them, without which the fold does not close")
        places = (places[:, None] * side + _circle(parts)).ravel()
    wraps = [len(parts) == 1 for parts in factors for _ in parts]
    wired = cube([part for parts in factors for part in parts], wraps)
    whole = attach_hosts(wired, places, name=name)
    return replace(whole, family=FoldedShape(tuple(sides)))


def _circle(parts: Sequence[int]) -> Ints:
    """Return the place of each node of a side in the mesh that it is folded into, row by row."""
    order = sorted(range(len(parts)), key=lambda each: parts[each] != 2)
    at, rest = np.zeros((len(parts), prod(parts)), np.int64), np.arange(prod(parts))
    for each in reversed(order):  # the fastest digit first, which turns back each time
        rest, digit = np.divmod(rest, parts[each])
        at[each] = np.where(rest % 2, parts[each] - 1 - digit, digit)
    return np.asarray(np.ravel_multi_index(tuple(at), tuple(parts)))


def _usual(sides: Sequence[int]) -> list[list[int]]:
    kinds = LONG_AND_SHORT.get(len(sides), ((1, 1),) * len(sides))
    found = []
    for side, (long, short) in zip(sides, kinds, strict=True):
        parts, rest = list[int](), side
        while len(parts) < short and rest > 2 and rest % 2 == 0:
            parts.append(2)
            rest //= 2
        for more in range(long if parts else 1, 1, -1):
            root = int(rest ** (1 / more) + 1e-9)
            parts.append(max(each for each in range(1, root + 1) if rest % each == 0))
            rest //= parts[-1]
        found.append([rest, *(each for each in reversed(parts) if each > 1)])
    return found


def _grouped(sides: Sequence[int], mesh: Sequence[int], name: str) -> list[list[int]]:
    found, rest = list[list[int]](), list(mesh)
    for side in sides:
        parts = [rest.pop(0)] if rest else []
        while rest and prod(parts) < side:
            parts.append(rest.pop(0))
        found.append(parts)
    if rest or [prod(parts) for parts in found] != list(sides):
        wanted = f"sides whose products are {', '.join(map(str, sides))}"
        raise InputError(name, f"a mesh of {'x'.join(map(str, mesh))}", wanted)
    return found
