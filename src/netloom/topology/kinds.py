"""Which nodes of a network can run tasks: those of a direct network all, hosts, but no switches."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.topology.faults import Faulty
from netloom.topology.omegas import Omega

if TYPE_CHECKING:
    from netloom.topology.core import Topology

COMPUTE = {
    "accelerator", "ca", "compute", "computer", "core", "cpu", "endpoint", "gpu", "hca", "host",
    "node", "pe", "processor", "server", "terminal", "tile", "worker",
}  # fmt: skip
"""Words for nodes that run tasks, as files of networks have them."""

FORWARD = {"aggregation", "bridge", "crossbar", "leaf", "spine", "sw", "switch", "tor"}
"""Words for nodes that only forward."""


def check_all_compute(topology: Topology) -> None:
    """Refuse a network some nodes of which are known to run no tasks.

    Programs, traffic and random mappings use every node of a network as yet. A file that marks its
    nodes (``type``, ``kind``, ``role``) must call all by words of ``COMPUTE``, or all by one word
    that is none of ``FORWARD``: a network of routers is one in which every router has a node.

    Raises
    ------
    InputError
        Naming the network, and what of it runs no tasks.

    Examples
    --------
    >>> from netloom.topology import mesh, omega
    >>> check_all_compute(mesh(4, 4))
    >>> check_all_compute(omega(8))
    Traceback (most recent call last):
        ...
    netloom.errors.InputError: omega:8: found memory modules and switches, on which netloom would
    put tasks and traffic; expected a network all of whose nodes compute, or the command hotspot
    """
    whole = topology.whole if isinstance(topology, Faulty) else topology
    wanted = "a network all of whose nodes compute"
    if isinstance(whole, Omega):
        found = "memory modules and switches, on which netloom would put tasks and traffic"
        raise InputError(topology.name, found, f"{wanted}, or the command hotspot")
    kinds = Counter(kind.strip().lower() for kind in whole.node_kinds)
    others = [kind for kind in kinds if kind not in COMPUTE]
    if not others or (len(kinds) == 1 and others[0] not in FORWARD):
        return
    worst = min(others, key=lambda kind: (kind not in FORWARD, not kind, -kinds[kind]))
    many, what = kinds[worst], f"of type '{worst:.40}'" if worst else "of no type beside others"
    found = f"{many} node{'s' * (many > 1)} {what}, on which netloom would put tasks and traffic"
    raise InputError(topology.name, found, f"{wanted}, or a file that does not mark them")
