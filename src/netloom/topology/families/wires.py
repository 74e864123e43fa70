"""What makers of families share: reading their numbers, bounding them, joining routers by links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology

if TYPE_CHECKING:
    from netloom.base.arrays import Ints

MOST_VERTICES, MOST_CHANNELS = 2**22, 2**26
"""Most hosts and routers, and most channels, of a network with hosts apart from its routers.

Each vertex has a name, which takes more memory than the numbers of a channel.
"""


def numbers(text: str, *, where: str, count: int = 0, wanted: str) -> list[int]:
    """Read whole numbers such as ``8x4x8``. ``count`` of them, or any number of them if it is 0.

    Raises
    ------
    InputError
        Naming ``where``, if there are too few or too many, or one is below 1.

    Examples
    --------
    >>> numbers("8x4x8", where="leaf-spine:8x4x8", count=3, wanted="three numbers")
    [8, 4, 8]
    """
    words = text.split("x")
    if not text or (count and len(words) != count):
        raise InputError(where, f"'{text}'" if text else "no numbers", wanted)
    return [whole_number(word, where=where, least=1) for word in words]


def parts(argument: str, *, where: str, least: int = 1, most: int, wanted: str) -> list[str]:
    """Split ``4x4/4/2`` at its slashes into ``least`` to ``most`` parts.

    Raises
    ------
    InputError
        Naming ``where``, if there are too few or too many.

    Examples
    --------
    >>> parts("4x4/4", where="hyperx:4x4/4", most=3, wanted="sides, hosts")
    ['4x4', '4']
    """
    found = argument.split("/")
    if not argument or not least <= len(found) <= most:
        raise InputError(where, f"'{argument}'" if argument else "no numbers", wanted)
    return found


def at_least_one(where: str, wanted: str, *counts: int) -> None:
    """Refuse counts below 1, naming the network."""
    if min(counts) < 1:
        raise InputError(where, " x ".join(map(str, counts)), f"{wanted}, each at least 1")


def check_sizes(where: str, *, hosts: int, routers: int, channels: int) -> None:
    """Refuse a network with hosts apart from its routers that is too large, before it is made."""
    if hosts + routers > MOST_VERTICES:
        found = f"{hosts} hosts and {routers} routers"
        raise InputError(where, found, f"at most {MOST_VERTICES} together")
    if channels > MOST_CHANNELS:
        raise InputError(where, f"{channels} channels", f"at most {MOST_CHANNELS}")


def linked(name: str, num_routers: int, one: Ints, other: Ints, **more: Any) -> Topology:
    """Return routers joined by links, each of which is two channels. Sorted by source, then target.

    Parameters
    ----------
    name
        The spec string.
    num_routers
        Number of routers.
    one, other
        int[num_links], the two routers of each link. Links may be parallel.
    **more
        Other fields of ``Topology``.

    Examples
    --------
    >>> ring = linked("ring:3", 3, np.array([0, 1, 2]), np.array([1, 2, 0]))
    >>> ring.channel_target.tolist()
    [1, 2, 0, 2, 0, 1]
    """
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort((target, source))
    return Topology(
        name, num_routers, source[order].astype(np.int32), target[order].astype(np.int32), **more
    )
