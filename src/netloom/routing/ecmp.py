"""Equal-cost multi-path routing: at each router a hash of source and target picks the channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from netloom.routing.hosted import legs, spliced
from netloom.routing.ragged import Paths, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology


@dataclass(frozen=True)
class Ecmp:
    """Shortest paths. Of n equally short channels, the one of number hash modulo n.

    The hash is SplitMix64's finalizer of source, target and the router's own seed, so that the
    choices at the routers of a path have nothing to do with each other. (Hopps, *Analysis of an
    equal-cost multi-path algorithm*, RFC 2992, 2000.)

    Attributes
    ----------
    seed
        What the seeds of the routers come from.
    polarised
        Whether all routers have the same seed. The packets that meet at a router then have one
        hash modulo n in common, and choose alike again: some of the channels are never used.
    """

    seed: int = 1
    polarised: bool = False
    several: ClassVar[bool] = False

    def __str__(self) -> str:
        name = "ecmp-polarised" if self.polarised else "ecmp"
        return name if self.seed == 1 else f"{name}:{self.seed}"


def ecmp_paths(topology: Topology, routing: Ecmp, sources: Ints, targets: Ints) -> Paths:
    """Return the path of every pair of hosts (see ``paths``).

    Raises
    ------
    NoRouteError
        If a target cannot be reached.
    """
    from netloom.routing.kernels.ecmp import fill_hashed
    from netloom.routing.kernels.shortest_path import path_lengths

    inside, ends = topology.routers, legs(topology, sources, targets)
    incoming, outgoing = inside.incoming(), inside.outgoing()
    channels = (inside.channel_source, inside.channel_target)
    by_exit = np.argsort(ends.exit, kind="stable")
    lengths = path_lengths(
        by_exit, ends.entry, ends.exit, channels[0], *incoming, inside.num_vertices
    )
    offsets = offsets_of(lengths, sources, targets, "hosts that can reach each other")
    salts = router_salts(routing, inside.num_vertices)
    found = fill_hashed(
        by_exit, ends.entry, ends.exit, offsets, sources, targets, salts,
        channels, incoming, outgoing,
    )  # fmt: skip
    return spliced(ends, Paths(offsets, found))


def router_salts(routing: Ecmp, num_routers: int) -> NDArray[np.uint64]:
    """Return the seed of each router, uint64[num_routers]."""
    from netloom.routing.kernels.ecmp import mixed

    salt = mixed(np.uint64(routing.seed))
    routers = np.arange(num_routers, dtype=np.uint64)
    salts = np.array([mixed(salt ^ router) for router in routers], np.uint64)
    if routing.polarised:
        salts[:] = salt
    return salts
