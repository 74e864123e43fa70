"""The parameters of families of switched networks, for the routings and pictures that know them.

A family's record stands beside the arrays of a ``Topology``, as its ``family``: what follows from
the arrays alone is never looked up here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


@dataclass(frozen=True, eq=False)
class TreeShape:
    """An extended generalized fat tree with parallel links: ``PGFT(h; m; w; p)``.

    Level 0 are the hosts. A vertex of level l has ``children[l - 1]`` children and, below the top,
    ``parents[l]`` parents, each by ``parallel[l]`` links. Level l has prod(children[l:]) *
    prod(parents[:l]) vertices. See Öhring et al., *On generalized fat trees*, 1995, and Zahavi,
    *Fat-tree routing and node ordering providing contention free traffic for MPI global
    collectives*, 2012.

    Routers are numbered level by level, those next to the hosts first. In a level, a router has the
    label (a_h … a_{l+1}, b_l … b_1). Its number is that label read as digits, of bases children[h -
    1] … children[l], parents[l - 1] … parents[0]. Host numbers are the digits a_h … a_1. A vertex
    and its parent differ in that a_{l+1} gives way to b_{l+1}.

    Attributes
    ----------
    children, parents, parallel
        m_1 … m_h, w_1 … w_h and p_1 … p_h.
    router_at
        int32[num_routers], the router of each place in that numbering, where a file numbers them
        otherwise. None where place and number are the same.
    host_at
        The same of hosts.
    """

    children: tuple[int, ...]
    parents: tuple[int, ...]
    parallel: tuple[int, ...]
    router_at: Ints | None = None
    host_at: Ints | None = None

    @property
    def levels(self) -> int:
        """h, the levels of routers."""
        return len(self.children)

    def width(self, level: int) -> int:
        """Return the number of vertices of a level. Level 0 are the hosts."""
        return prod(self.children[level:]) * prod(self.parents[:level])


@dataclass(frozen=True)
class DragonflyShape:
    """A dragonfly: groups of ``routers`` routers, all joined, with ``globals_`` global links each.

    Kim, Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008. Router
    r is number r mod a of group r // a. Dragonfly+ (Shpiner et al. 2017) has groups of ``leaves``
    leaf routers, which come first in their group, each joined to all of its spines. It is 0
    otherwise.
    """

    groups: int
    routers: int
    globals_: int
    leaves: int = 0


@dataclass(frozen=True)
class HyperXShape:
    """A HyperX: routers in a grid, all joined along each dimension by ``lanes`` links.

    Ahn et al., *HyperX: topology, routing, and packaging of efficient large-scale networks*, 2009.
    Routers are numbered row-major, the last coordinate fastest.
    """

    sides: tuple[int, ...]
    lanes: int = 1


@dataclass(frozen=True)
class StagesShape:
    """A butterfly, k-ary n-fly: stages of k × k routers, hosts inject at the first stage only.

    Router s · k^(n-1) + i is router i of stage s.
    """

    radix: int
    stages: int


Family: TypeAlias = TreeShape | DragonflyShape | HyperXShape | StagesShape
