"""The routing engines of OpenSM by name, as they are documented, and what they are asked.

An engine takes a network and returns its forwarding table. Each is declared once, in ``ENGINES``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.routing.forwarding.dfsssp import dfsssp
from netloom.routing.forwarding.min_hop import minhop
from netloom.routing.forwarding.sssp import sssp

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

ENGINES: dict[str, Callable[[Topology], ForwardingTable]] = {"minhop": minhop, "sssp": sssp, "dfsssp": dfsssp}
"""Every engine, by the name that OpenSM gives it, in lower case."""
