"""Values of an objective below which no mapping can come."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.search.compact import ground_of, halves
from netloom.mapping.search.cuts import MOST_TASKS, least_spread, least_time, spectrum_of
from netloom.mapping.search.loads import hop_pace
from netloom.mapping.search.pairs import hops, joint_weights
from netloom.topology import Cube, Topology, slabs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.mapping.search.objectives import Measure
    from netloom.workload import ProcessGraph

    Weights = Floats
    Nodes = Ints

MOST_PLACES = 1024
"""Tasks and places up to which the cheapest place of each is asked for, all together."""

EXACT = 1 - 1e-9
"""What rounding may take from a bound."""


def least(value_of: Measure, nodes: Nodes, tasks_per_node: int = 1) -> float:
    """Return a value of the objective below which no mapping comes.

    For hop-bytes and the channel load, see ``least_hop_bytes`` and ``least_channel_load``. Paths on
    one channel meet each other. So the path contention level is at least (paths on the busiest
    channel − 1), and a path meets at least the weight on the busiest channel.

    ``tasks_per_node`` is the most tasks of a node. The bound is 0 where nothing better is
    known.

    Examples
    --------
    >>> from netloom.mapping.search.objectives import measure_by, objective_of
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> star = read("binary-tree:3")
    >>> here = star, mesh(3), DimensionOrder(), star.bytes, np.arange(3)
    >>> least(measure_by(objective_of("hop-bytes"), *here), np.arange(3))
    4.0
    """
    app, topology, weights = value_of.app, value_of.topology, value_of.weights
    where = nodes, tasks_per_node
    whole = not value_of.routing.several
    bounds: dict[str, float] = {}
    for name in value_of.objective.shares:
        if name == "hop-bytes":
            bounds[name] = least_hop_bytes(app, topology, weights, *where, whole=whole)
        elif name == "path-contention":
            alike = np.ones(app.num_edges)
            paths = round(least_channel_load(app, topology, alike, *where))
            meet = max(0, paths - 1)  # others, for as many paths
            bounds[name] = meet + meet * paths / max(1, app.num_edges) ** 2
        else:
            pace = value_of.pace if name == "max-channel-load" else None
            bounds[name] = least_channel_load(
                app, topology, weights, *where, pace=pace, whole=whole
            )
    if value_of.objective.single:
        return bounds[value_of.objective.single]
    shares = value_of.objective.shares
    return sum(shares[name] * bound / value_of.scale[name] for name, bound in bounds.items())


def least_hop_bytes(
    app: ProcessGraph,
    topology: Topology,
    weights: Weights,
    nodes: Nodes,
    tasks_per_node: int = 1,
    *,
    whole: bool = True,
) -> float:
    """Return a bound of weight times hops, summed: as if each task had the network to itself.

    The more a task sends another (both ways together), the nearer to it that other is, in the
    places that are nearest to some node. An edge is seen from both ends, and counts half at each.
    If hosts hang on routers, what leaves leaves and pods counts, if that is more. See ``cuts``. In
    small networks whose nodes differ, tasks are besides assigned to different places, all at the
    least cost (Gilmore 1962, Lawler 1963).

    ``weights``: float64[num_edges], what edges carry. ``whole``: whether each edge takes one path.
    Several have mean hops and loads that need be no multiples of anything.

    Examples
    --------
    Of three others that the middle of a star talks to, one is two hops away on a line:

    >>> from netloom.topology import mesh
    >>> from netloom.workload import process_graph
    >>> star = process_graph(4, [0, 0, 0], [1, 2, 3], bytes=[1, 2, 3])
    >>> least_hop_bytes(star, mesh(4), star.bytes, np.arange(4))
    7.0
    """
    found = _least_hops(app, topology, weights, nodes, tasks_per_node)
    if not topology.direct:
        found = max(found, least_spread(app, topology, weights, nodes, tasks_per_node))
    return _rounded_up(found, weights, whole=whole)


def _least_hops(
    app: ProcessGraph, topology: Topology, weights: Weights, nodes: Nodes, tasks_per_node: int
) -> float:
    """Return the hop-bytes if each task had the network to itself."""
    joint = joint_weights(app, weights)
    source = np.repeat(np.arange(app.num_tasks), np.diff(joint.indptr))
    order = np.lexsort((-joint.data, source))
    rank = np.arange(joint.nnz) - joint.indptr[source]
    sent = joint.data[order]  # of each task, falling
    most = int(np.diff(joint.indptr).max(initial=0))
    near = _nearest(topology, nodes, most, tasks_per_node)
    together = max(app.num_tasks, len(near) * tasks_per_node)
    if together > MOST_PLACES or (near == near[0]).all():
        return float(sent @ near.min(axis=0)[rank]) / 2
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((app.num_tasks, most))
    table[source, rank] = sent
    cost = np.repeat(table @ near.T / 2, tasks_per_node, axis=1)
    return float(cost[linear_sum_assignment(cost)].sum())


def _nearest(topology: Topology, nodes: Nodes, most: int, tasks_per_node: int) -> Weights:
    """Return how far the ``most`` nearest places are from each node, or from the best of all.

    A task's own place left out, float64[nodes or 1, most].
    """
    whole = topology.whole
    if isinstance(whole, Cube) and len(nodes) > MOST_PLACES:
        sides = np.array(whole.sides)
        apart = hops(whole, np.array([int(sides // 2 @ whole.strides)]))
    else:
        apart = hops(topology, nodes, nodes)
    found = np.sort(apart, axis=1)[:, (np.arange(most) + 1) // tasks_per_node]
    return np.where(np.isinf(found), topology.num_hosts, found)


def least_channel_load(
    app: ProcessGraph,
    topology: Topology,
    weights: Weights,
    nodes: Nodes,
    tasks_per_node: int = 1,
    *,
    pace: Weights | None = None,
    whole: bool = True,
) -> float:
    """Return a bound of the weight on the busiest channel, if each edge takes one path.

    ``pace``: float64[num_channels], the weight of a unit on each channel (see ``loads.pace_of``),
    by default 1 between routers. If hosts hang on routers or channels differ, see ``cuts``.
    ``whole`` is as of ``least_hop_bytes``.

    It is the largest of three bounds. The first is hop-bytes / all channels. The second divides the
    traffic that a task sends or receives over the channels of its node, with no edge on two of
    them. The third is the traffic out of a half of the network / channels there. A half with a of n
    tasks exchanges at least λ₂ a (n - a) / n with the others. Here λ₂ is the second smallest
    eigenvalue of the program's Laplacian matrix (Fiedler 1973, Mohar & Poljak 1990).

    Examples
    --------
    A half of 32 tasks sends at least 32 bytes to the other, over eight channels:

    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> cube = read("hypercube:6")
    >>> least_channel_load(cube, mesh(8, 8), cube.bytes, np.arange(64))
    4.0
    """
    counts = hop_pace(topology) if pace is None else pace
    even = bool((counts[counts > 0] == 1).all())
    if not (topology.direct and even and whole):
        hop_bytes = least_hop_bytes(app, topology, weights, nodes, tasks_per_node, whole=whole)
        found = least_time(app, topology, weights, nodes, tasks_per_node, counts, hop_bytes)
        return _rounded_up(found, weights, whole=whole and even)
    found = least_hop_bytes(app, topology, weights, nodes, tasks_per_node) / topology.num_channels
    for task, channels in (
        (app.source, topology.channel_source),
        (app.target, topology.channel_target),
    ):
        ports = np.bincount(channels, minlength=topology.num_hosts)[nodes]
        found = max(found, _at_ends(task, weights, ports, tasks_per_node))
    if 2 <= app.num_tasks <= MOST_TASKS:
        found = max(found, _across_cuts(app, topology, weights, nodes, tasks_per_node))
    return _rounded_up(found, weights)


def _at_ends(task: Ints, weights: Weights, ports: Ints, tasks_per_node: int) -> float:
    """Return a bound from the edges of each task, ``task``, and the channels of each node.

    Of k m + 1 edges over k channels, m + 1 are on the same one. The heaviest edges may stay on the
    node, if others run there.
    """
    order = np.lexsort((-weights, task))
    sums = np.append(0.0, np.cumsum(weights[order]))
    last = np.cumsum(np.bincount(task))
    first = np.append(0, last[:-1])
    first = np.minimum(first + tasks_per_node - 1, last)
    found = 0.0
    for channels in np.unique(np.maximum(1, ports)).tolist():
        busiest = (sums[last] - sums[first]) / channels
        for others in count():
            at = first + others * channels
            open_ = at < last
            if not open_.any():
                break
            heavy = sums[at[open_] + 1] - sums[at[open_] - others]
            busiest[open_] = np.maximum(busiest[open_], heavy)
        elsewhere = int(np.count_nonzero(ports > channels)) * tasks_per_node
        if elsewhere < len(busiest):  # one of these tasks is on a node with no more channels
            found = max(found, float(np.sort(busiest)[::-1][elsewhere]))
    return found


def _across_cuts(
    app: ProcessGraph, topology: Topology, weights: Weights, nodes: Nodes, tasks_per_node: int
) -> float:
    """Return a bound from the channels between halves of the network."""
    tasks, found = app.num_tasks, 0.0
    connected = float(spectrum_of(app, weights)[1])
    for inside in _halves(topology):
        places = int(np.count_nonzero(inside[nodes])) * tasks_per_node
        fewest = max(0, tasks - (len(nodes) * tasks_per_node - places))
        pairs = min(here * (tasks - here) for here in (fewest, min(tasks, places)))
        crossing = inside[topology.channel_source] != inside[topology.channel_target]
        channels = max(1, int(np.count_nonzero(crossing)))
        found = max(found, connected * pairs / tasks / channels)
    return found


def _halves(topology: Topology) -> Iterator[Bools]:
    """Yield parts of the network with few channels around them, bool[num_nodes]."""
    ground = ground_of(topology)
    cube, number = ground.network, topology.num_hosts
    if not isinstance(cube, Cube):
        inside = np.zeros(number, np.bool_)
        inside[halves(ground, np.arange(number), DEFAULT_SEED)[0]] = True
        yield inside
        return
    yield from slabs(cube)


def _rounded_up(bound: float, weights: Weights, *, whole: bool = True) -> float:
    """Return the least sum of weights that is not below a bound, as far as that is known.

    Whole weights add up to multiples of their greatest common divisor, equal ones of themselves.
    Not so parts of weights, or weights over bandwidths.
    """
    some = weights[weights > 0]
    if not len(some):
        return 0.0
    if not whole:
        return bound * EXACT
    unit = 0.0
    if (some == some[0]).all():
        unit = float(some[0])
    elif (some == np.rint(some)).all() and some.max() < 2**53:
        unit = float(np.gcd.reduce(some.astype(np.int64)))
    return float(np.ceil(bound / unit * EXACT) * unit) if unit else bound * EXACT
