"""Values of an objective below which no mapping can come.

What has to leave groups of hosts, over channels of their own bandwidths.

Hosts of a leaf, a pod or a group share few channels to all others. Let a group have room for k
tasks. Under every mapping, each of its tasks has at most its k - 1 heaviest partners in the group,
and communicates with all others over these channels.
"""

from __future__ import annotations

from itertools import count, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.search.objectives import hop_pace, hops, joint_weights, router_hops
from netloom.mapping.search.starts import ground_of, halves
from netloom.topology import Cube, Topology, slabs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.mapping.search.objectives import Measure
    from netloom.workload import ProcessGraph

    Weights = Floats
    Nodes = Ints

MOST_TASKS = 1024
"""Tasks up to which the eigenvalues of a program are worked out."""

MOST_LEVELS = 6
"""Distances up to which hosts are grouped: leaves, pods, pods of pods."""

ROUNDED = 1e-11
"""Of the largest eigenvalue, what rounding may have added to each."""


class Groups(NamedTuple):
    """Hosts in groups, and what the channels around each can carry in a unit of time."""

    places: Ints  # int64[groups], the tasks that a group has room for
    # float64[groups]; infinite where a channel around the group does not count.
    leaving: Floats
    entering: Floats


def least_time(
    app: ProcessGraph,
    topology: Topology,
    weights: Floats,
    nodes: Ints,
    tasks_per_node: int,
    pace: Floats,
    hop_bytes: float,
) -> float:
    """Return a bound of the time of the busiest channel, by what leaves groups of hosts.

    The largest of: hop-bytes over all that channels between routers carry, and of each way to group
    hosts, what leaves all groups, over all that the channels around them carry. What leaves the
    group of one task, and what groups exchange at least by the eigenvalues of the program's
    Laplacian matrix, all together or one of them (see ``bounds.least_channel_load``).

    ``pace``: float64[num_channels], the time of a unit on each channel, 0 if it does not count.
    ``hop_bytes``: what these are at least.

    Examples
    --------
    Of four tasks that all send to each other, two fit on each leaf, of one channel to the spine:

    >>> from netloom.mapping.search.objectives import hop_pace
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> tree, app = topology("leaf-spine:2x1x2"), read("all-to-all:4")
    >>> least_time(app, tree, app.bytes, np.arange(4), 1, hop_pace(tree), hop_bytes=16.0)
    4.0
    """
    carried = float((1 / pace[: topology.num_network_channels]).sum())
    found = hop_bytes / carried if carried else 0.0
    spectrum = spectrum_of(app, weights)
    for groups in _groupings(topology, nodes, tasks_per_node, pace):
        for task, around in ((app.source, groups.leaving), (app.target, groups.entering)):
            outside = _to_others(task, weights, app.num_tasks, int(groups.places.max()))
            if around.sum() > 0:
                found = max(found, float(outside.sum() / around.sum()))
            found = max(found, _alone(outside, around, groups))
        found = max(found, _exchanged(spectrum, groups))
    return found


def least_spread(
    app: ProcessGraph, topology: Topology, weights: Floats, nodes: Ints, tasks_per_node: int
) -> float:
    """Return a bound of hop-bytes: what leaves leaves, pods and groups of pods has so far to go.

    Examples
    --------
    Two pairs fit on two leaves, and what they send each other has to cross the spine:

    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> tree, app = topology("leaf-spine:2x1x2"), read("all-to-all:4")
    >>> least_spread(app, tree, app.bytes, np.arange(4), 1)
    16.0
    """
    apart, joint = hops(topology, nodes, nodes), joint_weights(app, weights)
    task = np.repeat(np.arange(app.num_tasks, dtype=np.int32), np.diff(joint.indptr))
    found, spectrum = 0.0, spectrum_of(app, weights)
    for within, beyond, label in _levels(apart):
        places = np.bincount(label) * tasks_per_node
        outside = _to_others(task, joint.data, app.num_tasks, int(places.max())).sum()
        least = max(float(outside), float(_filled(places, app.num_tasks) @ spectrum))
        found += (min(beyond, topology.num_ends) - within) * least / 2
    return found


def _levels(apart: Floats) -> Iterator[tuple[float, float, Ints]]:
    """Yield a distance, the next one, and the groups of hosts that are that near to each other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    distances = np.unique(apart)
    for within, beyond in pairwise(distances[: MOST_LEVELS + 1].tolist()):
        count, label = connected_components(csr_array(apart <= within), directed=False)
        if count == 1:
            return
        yield within, beyond, np.asarray(label, np.int64)


def _filled(places: Ints, tasks: int) -> Ints:
    """Return the tasks of each group if the largest are filled first, falling, int64[tasks]."""
    room = np.sort(places)[::-1][:tasks]
    filled = np.zeros(tasks, np.int64)
    filled[: len(room)] = np.diff(np.minimum(np.cumsum(room), tasks), prepend=0)
    return filled


def _to_others(task: Ints, weights: Floats, tasks: int, room: int) -> Floats:
    """Return the weight of each task's edges but for its ``room`` - 1 heaviest, float64[tasks]."""
    order = np.lexsort((-weights, task))
    counts = np.bincount(task, minlength=tasks)
    rank = np.arange(len(task)) - np.repeat(np.cumsum(counts) - counts, counts)
    lighter = order[rank >= room - 1]
    return np.bincount(task[lighter], weights[lighter], tasks).astype(np.float64)


def _alone(outside: Floats, around: Floats, groups: Groups) -> float:
    """Return the time that one task takes: not all are where channels carry most."""
    heavy, found = np.sort(outside)[::-1], 0.0
    for most in np.unique(around):
        elsewhere = int(groups.places[around > most].sum())
        if elsewhere < len(heavy) and most > 0:
            found = max(found, float(heavy[elsewhere] / most))
    return found


def spectrum_of(app: ProcessGraph, weights: Floats) -> Floats:
    """Return the eigenvalues of a program's Laplacian matrix, rising. Zeros of large programs.

    None is above the true one: what rounding may have added is taken off.
    """
    if not 2 <= app.num_tasks <= MOST_TASKS:
        return np.zeros(app.num_tasks)
    sent = joint_weights(app, weights).toarray()
    found = np.linalg.eigvalsh(np.diag(sent.sum(axis=1)) - sent)
    return np.asarray(np.maximum(0.0, found - ROUNDED * float(found[-1])))


def _exchanged(spectrum: Floats, groups: Groups) -> float:
    """Return the time that groups take for what they exchange: all together, or one of them.

    Of all, groups of m1 ≥ m2 ≥ ... tasks exchange at least Σ m_i λ_i (Donath & Hoffman 1973). That
    is least if the groups with most places are full.
    """
    tasks, around = len(spectrum), groups.leaving + groups.entering
    least, room = float(_filled(groups.places, tasks) @ spectrum), int(groups.places.sum())
    found = least / float(around.sum()) if around.sum() > 0 else 0.0
    for places, carries in zip(groups.places.tolist(), around.tolist(), strict=True):
        fewest = max(0, tasks - (room - places))
        pairs = min(here * (tasks - here) for here in (fewest, min(tasks, places)))
        if carries > 0 and tasks > 1:
            found = max(found, float(spectrum[1]) * pairs / tasks / carries)
    return found


def _groupings(
    topology: Topology, nodes: Ints, tasks_per_node: int, pace: Floats
) -> Iterator[Groups]:
    """Yield hosts one by one, of one router, of one pod ..., and in two halves."""
    carries = np.full(topology.num_channels, np.inf)
    carries[pace > 0] = 1 / pace[pace > 0]
    each: Ints = np.arange(len(nodes), dtype=np.int64)
    owner = np.unique(topology.local_group[nodes], return_inverse=True)[1]
    if not topology.direct:  # what stays inside a node leaves its hosts without a channel
        found = _around(topology, nodes, each, tasks_per_node, carries, alone=True)
        yield found._replace(places=tasks_per_node * np.bincount(owner)[owner])
    for _, _, label in _levels(hops(topology, nodes, nodes)):
        yield _around(topology, nodes, label, tasks_per_node, carries)
    if len(nodes) > 1:
        first = halves(ground_of(topology, nodes), nodes, DEFAULT_SEED)[0]
        second = (~np.isin(nodes, first)).astype(np.int64)
        second = second[np.unique(owner, return_index=True)[1]][owner]  # nodes are whole
        yield _around(topology, nodes, second, tasks_per_node, carries)


def _around(
    topology: Topology,
    nodes: Ints,
    label: Ints,
    tasks_per_node: int,
    carries: Floats,
    *,
    alone: bool = False,
) -> Groups:
    """Return groups with the channels around them: those of hosts and the routers nearest to them.

    With ``alone``, of hosts without any router.
    """
    count, hosts = int(label.max()) + 1, topology.num_hosts
    owner = np.full(topology.num_ends, -1, np.int64)
    if not alone:
        owner[topology.router_vertex(0) :] = _nearest_group(topology, nodes, label)
    idle = np.zeros(topology.num_ends, np.bool_)
    if not topology.direct:
        idle[:hosts] = True
    idle[nodes], owner[nodes] = False, label
    ends = topology.source_end, topology.target_end
    begin, end = (owner[each] for each in ends)
    crossing = (begin != end) & ~(idle[ends[0]] | idle[ends[1]])
    leaving, entering = (
        np.bincount(of[here], carries[here], count).astype(np.float64)
        for of, here in ((begin, crossing & (begin >= 0)), (end, crossing & (end >= 0)))
    )
    places = np.bincount(label, minlength=count) * tasks_per_node
    return Groups(places, leaving, entering)


def _nearest_group(topology: Topology, nodes: Ints, label: Ints) -> Ints:
    """Return the group that each router is nearest to, int64[num_routers]; -1 if to several."""
    if topology.direct:
        entry, of = nodes, label
    else:
        group = np.full(topology.num_hosts, -1, np.int64)
        group[nodes] = label
        of = np.tile(group[topology.port_host], 2)
        entry = np.concatenate([topology.injection_router, topology.ejection_router])[of >= 0]
        of = of[of >= 0]
    places, row = np.unique(entry, return_inverse=True)
    order = np.argsort(of, kind="stable")
    rows = router_hops(topology.routers, places)[row[order]]
    apart = np.minimum.reduceat(rows, np.searchsorted(of[order], np.arange(int(of.max()) + 1)))
    nearest = apart == apart.min(axis=0)
    lone = (nearest.sum(axis=0) == 1) & np.isfinite(apart.min(axis=0))
    return np.where(lone, nearest.argmax(axis=0), -1)


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
    If hosts hang on routers, what leaves leaves and pods counts, if that is more. See
    ``least_spread``. In small networks whose nodes differ, tasks are besides assigned to different
    places, all at the least cost (Gilmore 1962, Lawler 1963).

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
    # how far the ``most`` nearest places are from each node, or from the best of all
    whole = topology.whole
    if isinstance(whole, Cube) and len(nodes) > MOST_PLACES:
        sides = np.array(whole.sides)
        apart = hops(whole, np.array([int(sides // 2 @ whole.strides)]))
    else:
        apart = hops(topology, nodes, nodes)
    found = np.sort(apart, axis=1)[:, (np.arange(most) + 1) // tasks_per_node]
    near = np.where(np.isinf(found), topology.num_hosts, found)
    together = max(app.num_tasks, len(near) * tasks_per_node)
    if together > MOST_PLACES or (near == near[0]).all():
        return float(sent @ near.min(axis=0)[rank]) / 2
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((app.num_tasks, most))
    table[source, rank] = sent
    cost = np.repeat(table @ near.T / 2, tasks_per_node, axis=1)
    return float(cost[linear_sum_assignment(cost)].sum())


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

    ``pace``: float64[num_channels], the weight of a unit on each channel (see
    ``objectives.pace_of``), by default 1 between routers. If hosts hang on routers or channels
    differ, see ``least_time``. ``whole`` is as of ``least_hop_bytes``.

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
