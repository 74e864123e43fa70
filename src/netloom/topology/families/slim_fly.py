"""Slim Fly: networks of diameter two, close to the most routers that such a network can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.finite_fields import Field, field, prime_power
from netloom.topology.families.wires import at_least_one, check_sizes, linked, parts

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


def slim_fly(q: int, hosts: int) -> Topology:
    """Return the Slim Fly of a prime power q: 2q² routers of (3q − δ)/2 links, q = 4w + δ.

    The network is that of Besta & Hoefler, *Slim Fly: a cost effective low-diameter network
    topology*, 2014. The graphs are by McKay, Miller & Širáň, *A note on large graphs of diameter
    two and given maximum degree*, 1998. The sets for δ = 0 and −1 are from Hafner, *Geometric
    realisation of the graphs of McKay–Miller–Širáň*, 2004. Router (0, x, y) has number x·q + y,
    router (1, m, c) q² + m·q + c. Host h hangs on router h div ``hosts``. Half as many hosts as
    links, rounded up, are a balanced network.

    Parameters
    ----------
    q
        A power of a prime, at least 3.
    hosts
        Hosts per router.

    Raises
    ------
    InputError
        If there is no Slim Fly of this q, or the network would be too large.

    Examples
    --------
    >>> slim_fly(5, 4)
    <slim-fly:5/4: 200 hosts, 50 routers, 350 directed channels>
    """
    name = f"slim-fly:{q}/{hosts}"
    at_least_one(name, "q and hosts per router", q, hosts)
    check_sizes(name, hosts=2 * q * q * hosts, routers=2 * q * q, channels=3 * q**3)
    found = prime_power(q)
    if found is None or q < 3:
        raise InputError(name, f"q = {q}", "a power of a prime from 3, such as 4, 5, 7, 8, 9 or 11")
    numbers = field(*found)
    one, other = _links(numbers, q)
    channels = 2 * len(one) + 4 * q * q * hosts
    check_sizes(name, hosts=2 * q * q * hosts, routers=2 * q * q, channels=channels)
    labels = tuple(f"({s},{x},{y})" for s in (0, 1) for x in range(q) for y in range(q))
    joined = linked(name, 2 * q * q, one, other, labels=labels)
    return attach_hosts(joined, np.arange(2 * q * q).repeat(hosts), name=name)


def _links(numbers: Field, q: int) -> tuple[Ints, Ints]:
    """Return the two routers of each link.

    Routers (0, x, y) and (0, x, y') are joined if y − y' is in X, and (1, m, c) and (1, m, c') if c
    − c' is in X'. Routers (0, x, y) and (1, m, c) are joined if y = m·x + c.
    """
    one, other = [], []
    every = np.arange(q)
    for side, steps in enumerate(generators(numbers.powers)):
        low = np.repeat(every, len(steps))
        high = numbers.plus[every[:, None], steps].ravel()
        once = low < high  # X = −X, so each link is found from both of its ends
        rows = side * q * q + q * every[:, None]
        one.append((rows + low[once]).ravel())
        other.append((rows + high[once]).ravel())
    x, m, c = (each.ravel() for each in np.meshgrid(every, every, every, indexing="ij"))
    one.append(x * q + numbers.plus[numbers.times[m, x], c])
    other.append(q * q + m * q + c)
    return np.concatenate(one), np.concatenate(other)


def generators(powers: Ints) -> tuple[Ints, Ints]:
    """Return the sets X and X' of GF(q), given the powers ξ^0 … ξ^(q−2) of a primitive element.

    Even and odd powers for q = 4w + 1. For q = 4w as many of each, ξ^(q−1) being 1. For
    q = 4w − 1 even powers up to 2w − 2 and odd ones from 2w − 1 for X, those of ξ times it for X'.

    Examples
    --------
    >>> generators(np.array([1, 2, 4, 3]))
    (array([1, 4]), array([2, 3]))
    """
    q = len(powers) + 1
    if q % 4 == 3:
        half = (q + 1) // 2  # 2w
        even = np.concatenate([np.arange(0, half, 2), np.arange(half - 1, q - 1, 2)])
    else:
        even = np.arange(0, q - 1, 2)
    return powers[even], powers[(even + 1) % (q - 1)]


def slim_fly_of(argument: str, spec: str) -> Topology:
    """Read ``5/4``: q, hosts per router."""
    wanted = "q and hosts per router, such as slim-fly:5/4"
    words = parts(argument, where=spec, least=2, most=2, wanted=wanted)
    return slim_fly(*(whole_number(word, where=spec, least=1) for word in words))
