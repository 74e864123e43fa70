"""The routing engines of OpenSM by name, as they are documented, and what they are asked.

An engine takes a network and returns its forwarding table. Each is declared once, in ``ENGINES``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.routing.forwarding.dfsssp import dfsssp, dfsssp_falls_back
from netloom.routing.forwarding.fat_trees import ftree, ftree_falls_back
from netloom.routing.forwarding.lash import lash, lash_falls_back
from netloom.routing.forwarding.min_hop import dor, minhop
from netloom.routing.forwarding.nue import nue
from netloom.routing.forwarding.ranked import dnup, updn, updn_falls_back
from netloom.routing.forwarding.sssp import sssp
from netloom.routing.forwarding.torus_2qos import torus_2qos, torus_2qos_falls_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

ENGINES: dict[str, Callable[[Topology], ForwardingTable]] = {
    "minhop": minhop,
    "updn": updn,
    "dnup": dnup,
    "ftree": ftree,
    "dor": dor,
    "lash": lash,
    "torus-2qos": torus_2qos,
    "sssp": sssp,
    "dfsssp": dfsssp,
    "nue": nue,
}
"""Every engine, by the name that OpenSM gives it, in lower case."""

_FALLS_BACK: dict[str, Callable[[Topology], str]] = {
    "updn": updn_falls_back, "ftree": ftree_falls_back, "lash": lash_falls_back,
    "torus-2qos": torus_2qos_falls_back, "dfsssp": dfsssp_falls_back,
}  # fmt: skip


def would_fall_back(topology: Topology, engine: str) -> str:
    """Return why OpenSM, asked for an engine, would configure minhop. Empty if it would not.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> would_fall_back(topology("fat-tree:2x2"), "updn")
    ''
    >>> would_fall_back(topology("torus:4x4"), "updn")
    'no switch has over 90% of all adapters at one distance and all others within 5%'
    """
    return _FALLS_BACK[engine](topology) if engine in _FALLS_BACK else ""
