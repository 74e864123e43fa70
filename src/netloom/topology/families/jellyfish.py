"""Jellyfish: random regular networks."""

from __future__ import annotations

from random import Random

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers, parts

MOST_RANDOM_LINKS = 2**20
"""Most links that are drawn at random: they are drawn one by one."""

TRIES = 100


def jellyfish(routers: int, degree: int, hosts: int, seed: int = 1) -> Topology:
    """Return a random network in which every router has ``degree`` links, none parallel.

    Singla, Hong, Popa & Godfrey, *Jellyfish: networking data centers randomly*, 2012. The links
    are those of NetworkX, ``random_regular_graph(degree, routers, seed=Random(seed))`` (Steger &
    Wormald, *Generating random regular graphs quickly*, 1999), drawn on from the same stream until
    the network is connected. Host h hangs on router h div ``hosts``.

    Parameters
    ----------
    routers, degree, hosts
        Number of routers, links of each, hosts of each.
    seed
        Of the draw.

    Raises
    ------
    InputError
        If no network has these numbers, none that was drawn is connected, or it would be too large.

    Examples
    --------
    >>> jellyfish(32, 5, 3)
    <jellyfish:32x5x3/1: 96 hosts, 32 routers, 160 directed channels>
    """
    import networkx as nx

    name = f"jellyfish:{routers}x{degree}x{hosts}/{seed}"
    at_least_one(name, "routers, links and hosts of each", routers, degree, hosts)
    check_sizes(
        name, hosts=routers * hosts, routers=routers, channels=routers * (degree + 2 * hosts)
    )
    if degree >= routers or routers * degree % 2:
        found = f"{routers} routers of {degree} links each"
        raise InputError(name, found, "fewer links than routers, their product even")
    if routers * degree // 2 > MOST_RANDOM_LINKS:
        found = f"{routers * degree // 2} links"
        raise InputError(name, found, f"at most {MOST_RANDOM_LINKS} drawn at random")
    draw = Random(seed)  # noqa: S311  # no secret depends on it
    for _ in range(TRIES):
        graph = nx.random_regular_graph(degree, routers, seed=draw)
        if nx.is_connected(graph):
            break
    else:
        found = f"no connected network among {TRIES} that were drawn"
        raise InputError(name, found, "at least 3 links for each router")
    one, other = np.array(sorted(map(sorted, graph.edges)), np.int64).reshape(-1, 2).T
    joined = linked(name, routers, one, other)
    return attach_hosts(joined, np.arange(routers).repeat(hosts), name=name)


def jellyfish_of(argument: str, spec: str) -> Topology:
    """Read ``32x5x3/1``: routers, links and hosts of each. Seed."""
    wanted = "routers, links and hosts of each, such as jellyfish:32x5x3, and a seed behind /"
    shape, *seed = parts(argument, where=spec, most=2, wanted=wanted)
    counts = numbers(shape, where=spec, count=3, wanted=wanted)
    return jellyfish(*counts, *(whole_number(word, where=spec) for word in seed))
