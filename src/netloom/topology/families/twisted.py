"""Twisted tori: rectangular tori whose short dimensions close with a shift along the long ones."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.families.hyperx import coordinate_labels
from netloom.topology.families.wires import check_sizes, linked, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.topology.core import Topology


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
