"""Congestion of permutations: effective bisection bandwidth, and every shift of the hosts.

The method is that of Hoefler, Schneider & Lumsdaine, *Multistage switches are not crossbars:
effects of static routing in high-performance networks*, 2008. Draw two halves of the hosts, and a
partner in the second half for each host of the first. A pair gets 1 over the number of paths on the
busiest channel of its path. The mean over pairs and many such drawings is the effective bisection
bandwidth, as a share of what a host could send alone.

Paths are made a block at a time, and counted permutation by permutation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints, offsets_of
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, Number, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.student import student_t
from netloom.contention.expected_load import expected_loads
from netloom.routing import Routing, draw_paths
from netloom.topology import Topology
from netloom.topology.faults import working_nodes

BLOCK = 2**20
"""Paths that are listed at a time."""

MOST_PAIRS = 2**26
"""Most pairs of hosts of all shifts together, about 10 s of work."""

MOST_EXPECTED = 2**20
"""The same where pairs have several paths, whose expected loads take longer."""

Reached = Callable[[Ints, Ints], Bools]
"""Given sources and targets of pairs of hosts, which of them have a path."""

Block = tuple[Ints, Ints, Ints]
"""Sources and targets of the pairs of some permutations, and where each one's pairs begin."""


class EffectiveBisection(Figures):
    """What pairs of hosts in different halves get, as a share of what a host could send alone.

    Attributes
    ----------
    mean
        Over all drawings.
    ci
        The ends of its 95 % confidence interval (Student's t). None of a single drawing.
    least
        The mean of the worst drawing.
    samples
        Drawings.
    shares
        float64[samples], the mean of each drawing.
    """

    mean: float = figure("effective bisection bandwidth, of a host's", SHARE, lead=True, key=True)
    ci: tuple[float, ...] | None = figure("ends of the 95 % interval of the mean", SHARE)
    least: float = figure("what the worst matching gets of it", SHARE, lead=True)
    samples: int = figure("matchings", lead=True)
    shares: Floats = unseen()


class Shifts(Figures):
    """What shifts of the hosts load: host i sends to host i + d, modulo their number.

    Attributes
    ----------
    count
        The shifts.
    max, mean
        Paths on the busiest channel between routers. Expected ones where pairs have several paths.
    worst
        The d of the shift that takes longest.
    distance
        int64[shifts], d.
    largest_load
        Paths on the busiest channel between routers, of each.
    longest_time
        float64[shifts], the same over bandwidth.
    total_load
        Paths on every channel of the network, of all these shifts together.
    """

    count: int = figure("shifts", lead=True)
    max: Number = figure("paths on the busiest channel, worst shift", lead=True, key=True)
    mean: float = figure("paths on the busiest channel, mean of all shifts", lead=True, key=True)
    worst: int = figure("the worst shift is by", lead=True)
    distance: Ints = unseen()
    largest_load: NDArray[Any] = unseen()
    longest_time: Floats = unseen()
    total_load: NDArray[Any] = unseen()

    @classmethod
    def of(
        cls, distance: Ints, load: NDArray[Any], time: Floats, total_load: NDArray[Any]
    ) -> Shifts:
        """Return that of some shifts."""
        return cls(
            count=len(distance),
            max=load.max().item(),
            mean=float(load.mean()),
            worst=int(distance[time.argmax()]),
            distance=distance,
            largest_load=load,
            longest_time=time,
            total_load=total_load,
        )


def effective_bisection(
    topology: Topology,
    routing: Routing,
    *,
    hosts: Ints | None = None,
    samples: int = 1000,
    seed: int = DEFAULT_SEED,
    reached: Reached | None = None,
) -> EffectiveBisection:
    """Return the effective bisection bandwidth of a network.

    Each drawing takes a path per pair: under a routing with several, one that is drawn.

    Parameters
    ----------
    topology, routing
        The network and how packets travel on it.
    hosts
        Those that take part, at least two. All that work by default. Of an odd number one is left
        out in each drawing.
    samples
        Drawings.
    seed
        Where chance comes from.
    reached
        Which pairs have a path: others count neither as traffic nor in the mean. All by default.

    Raises
    ------
    InputError
        If there are fewer than two hosts.

    Examples
    --------
    Two leaves of two hosts on one uplink. If a leaf is a half, a third of all drawings, both pairs
    share the uplink:

    >>> from netloom.routing import DModK
    >>> from netloom.topology import topology
    >>> found = effective_bisection(topology("leaf-spine:2x1x2"), DModK(), samples=2000)
    >>> found.ci[0] < 5 / 6 < found.ci[1]
    True
    """
    taking = working_nodes(topology) if hosts is None else np.asarray(hosts, np.int32)
    half = len(taking) // 2
    if not half:
        raise InputError(topology.name, f"{len(taking)} hosts", "at least two for a bisection")
    blocks = _matchings(taking, samples, np.random.default_rng(seed))
    parts, _ = _counted(topology, routing, blocks, seed, reached)
    shares = np.concatenate([found[2] for found in parts])
    mean, ci = float(shares.mean()), None
    if samples > 1:
        half_width = student_t(samples - 1) * float(shares.std(ddof=1)) / float(np.sqrt(samples))
        ci = mean - half_width, mean + half_width
    return EffectiveBisection(
        mean=mean, ci=ci, least=float(shares.min()), samples=samples, shares=shares
    )


def _matchings(hosts: Ints, samples: int, rng: np.random.Generator) -> Iterator[Block]:
    """Yield random matchings of random halves, a block of paths at a time."""
    half = len(hosts) // 2
    most = max(BLOCK // half, 1)
    for first in range(0, samples, most):
        many = min(most, samples - first)
        drawn = np.array([rng.permutation(hosts)[: 2 * half] for _ in range(many)])
        firsts = np.arange(many + 1, dtype=np.int64) * half
        yield drawn[:, :half].ravel(), drawn[:, half:].ravel(), firsts


def shift_loads(
    topology: Topology,
    routing: Routing,
    *,
    hosts: Ints | None = None,
    distances: Ints | None = None,
    reached: Reached | None = None,
) -> Shifts:
    """Return what each shift of the hosts loads.

    All shifts together are an all-to-all: each host sends to every other.

    Parameters
    ----------
    topology, routing
        The network and how packets travel on it.
    hosts
        Those that take part, in order. All that work by default.
    distances
        1 … number of hosts - 1. All of these by default.
    reached
        Which pairs have a path, under a routing with one each: others send nothing. All by default.

    Raises
    ------
    InputError
        If there are fewer than two hosts, or too many pairs.

    Examples
    --------
    D-mod-k loads no channel twice in any shift of a full tree (Zahavi 2012):

    >>> from netloom.routing import DModK
    >>> from netloom.topology import topology
    >>> found = shift_loads(topology("fat-tree:4x3"), DModK())
    >>> len(found.distance), int(found.largest_load.max())
    (63, 1)
    """
    taking = working_nodes(topology) if hosts is None else np.asarray(hosts, np.int32)
    count = len(taking)
    if count < 2:
        raise InputError(topology.name, f"{count} hosts", "at least two for a shift")
    ahead = np.arange(1, count) if distances is None else np.asarray(distances, np.int64)
    most = MOST_EXPECTED if routing.several else MOST_PAIRS
    if len(ahead) * count > most:
        found = f"{len(ahead):,} shifts of {count:,} hosts"
        raise InputError(topology.name, found, f"at most {most:,} pairs in all: fewer shifts")
    if routing.several:
        between, expected = topology.num_network_channels, np.zeros(topology.num_channels)
        largest = np.zeros((2, len(ahead)))
        for number, by in enumerate(ahead.tolist()):
            load = expected_loads(topology, routing, taking, np.roll(taking, -by))
            expected += load
            both = np.stack([load, load / topology.channel_bandwidth])[:, :between]
            largest[:, number] = both.max(axis=1, initial=0.0)
        return Shifts.of(ahead, largest[0], largest[1], expected)
    parts, total = _counted(topology, routing, _shifted(taking, ahead), DEFAULT_SEED, reached)
    loads, times, _ = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Shifts.of(ahead, loads, times, total)


def _shifted(hosts: Ints, ahead: Ints) -> Iterator[Block]:
    """Yield shifts, a block of paths at a time."""
    count = len(hosts)
    most = max(BLOCK // count, 1)
    for first in range(0, len(ahead), most):
        by = ahead[first : first + most]
        target = (np.arange(count) + by[:, None]) % count
        yield np.tile(hosts, len(by)), hosts[target.ravel()], np.arange(len(by) + 1) * count


def _counted(
    topology: Topology,
    routing: Routing,
    blocks: Iterator[Block],
    seed: int,
    reached: Reached | None,
) -> tuple[list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]], Ints]:
    """Return the figures of each permutation (see the kernel), and the load of all together."""
    from netloom.contention.kernels.permutations import permutation_figures

    total, load = np.zeros((2, topology.num_channels), np.int64)
    between, bandwidth = topology.num_network_channels, topology.channel_bandwidth
    bandwidth = np.ascontiguousarray(bandwidth)
    found = []
    for number, (source, target, firsts) in enumerate(blocks):
        if reached is not None:
            has = reached(source, target)
            firsts = offsets_of(has)[firsts]
            source, target = source[has], target[has]
        routed = draw_paths(topology, routing, source, target, seed + number)
        given = routed.channels, routed.offsets, *routed.ports, firsts, bandwidth, between
        found.append(permutation_figures(*given, total, load))
    return found, total
