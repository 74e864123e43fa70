"""Which vertices of a file are hosts, and which are routers: what their kind says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.topology.omegas import Omega

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Bools
    from netloom.topology.core import Topology

HOST = {
    "accelerator", "ca", "compute", "computer", "core", "cpu", "endpoint", "gpu", "hca", "host",
    "nic", "node", "pe", "processor", "server", "terminal", "tile", "worker",
}  # fmt: skip
"""Words for hosts, as files of networks have them."""

ROUTER = {
    "access", "aggregation", "bridge", "core", "crossbar", "distribution", "edge", "leaf", "router",
    "spine", "sw", "switch", "tor",
}  # fmt: skip
"""Words for routers. A core is a router beside ``LAYERS`` of a tree, and a host elsewhere."""

LAYERS = {"access", "aggregation", "distribution", "edge"}


def which_are_hosts(kinds: Sequence[str], names: Sequence[str], name: str) -> Bools:
    """Return which vertices of a network are hosts, bool[]. All of them in a direct network.

    Vertices that are all alike are a direct network: not marked at all, or all marked as hosts, or
    all by one word that is none of ``ROUTER``. A network of routers alone (``router``) is one too:
    each has a host of its own.

    Parameters
    ----------
    kinds
        What each vertex is said to be. Empty where nothing is said. Case does not matter.
    names
        Of the vertices, for messages.
    name
        Of the network.

    Raises
    ------
    InputError
        If hosts stand beside vertices of which it is not said what they are, or by a word that is
        not known, or if there are switches and no hosts.

    Examples
    --------
    >>> which_are_hosts(["Switch", "host", "host"], ["s", "a", "b"], "graph:net.graphml").tolist()
    [False, True, True]
    """
    said = [kind.strip().lower() for kind in kinds]
    counts = Counter(said)
    hosts, routers = _words(counts, name)
    if counts.keys() <= hosts:
        return np.ones(len(said), np.bool_)
    if len(counts) == 1 and not routers - {"router"}:
        return np.ones(len(said), np.bool_)
    unknown = [place for place, kind in enumerate(said) if kind not in hosts | routers]
    if unknown:
        at = unknown[0]
        found = f"{names[at]:.60} of kind '{kinds[at]:.40}'" if said[at] else f"{names[at]:.60}"
        found += "" if said[at] else ", of which no kind is said, beside others"
        wanted = f"a host ({', '.join(sorted(HOST))}) or a router ({', '.join(sorted(ROUTER))})"
        raise InputError(name, found, wanted)
    if not hosts:
        found = f"{counted(len(said), 'router')} and no host"
        raise InputError(name, found, "hosts too: vertices of the kind host, beside the routers")
    return np.array([kind in hosts for kind in said])


def _words(counts: Counter[str], name: str) -> tuple[set[str], set[str]]:
    """Return the words for hosts, and those for routers, that these kinds use."""
    hosts, routers = counts.keys() & HOST, counts.keys() & ROUTER
    if "core" not in hosts:
        return hosts, routers
    if routers & LAYERS:
        return hosts - {"core"}, routers
    if len(hosts) > 1:
        found = "the kind 'core' beside hosts, which may be a processor's or a switch"
        raise InputError(name, found, "kinds that say which, such as host and switch")
    return hosts, routers - {"core"}


def check_all_compute(topology: Topology) -> None:
    """Refuse a network of which some vertices that are numbered as hosts run no tasks.

    They are the memory modules and switches of an Omega network, and the switches of a file that
    joins hosts to each other too.

    Raises
    ------
    InputError
        Naming the network.

    Examples
    --------
    >>> from netloom.topology import mesh, omega
    >>> check_all_compute(mesh(4, 4))
    >>> check_all_compute(omega(8))
    Traceback (most recent call last):
        ...
    netloom.InputError: omega:8: found memory modules and switches, on which netloom would
    put tasks and traffic; expected a network all of whose nodes compute, or the command hotspot
    """
    if isinstance(topology.whole, Omega):
        found = "memory modules and switches, on which netloom would put tasks and traffic"
        wanted = "a network all of whose nodes compute, or the command hotspot"
        raise InputError(topology.name, found, wanted)
    if topology.switches:
        found = "a link between two hosts, which would forward, beside switches"
        wanted = "hosts that hang on switches alone, or collective, or simulate trace --engine flow"
        raise InputError(topology.name, found, wanted)
