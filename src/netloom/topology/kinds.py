"""Which nodes of a network can run tasks: those of a direct network all, hosts, but no switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.topology.omegas import Omega

if TYPE_CHECKING:
    from netloom.topology.core import Topology


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
    whole = topology.whole
    wanted = "a network all of whose nodes compute"
    if isinstance(whole, Omega):
        found = "memory modules and switches, on which netloom would put tasks and traffic"
        raise InputError(topology.name, found, f"{wanted}, or the command hotspot")
