"""Values of an objective below which no mapping can come.

What has to leave groups of hosts, over channels of their own bandwidths.

Hosts of a leaf, a pod or a group share few channels to all others. Let a group have room for k
tasks. Under every mapping, each of its tasks has at most its k - 1 heaviest partners in the group,
and communicates with all others over these channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints, offsets_of, owners_of
from netloom.base.provenance import DEFAULT_SEED
from netloom.bounds.cuts import grid_lines, of_hosts, undivided
from netloom.bounds.demand import Demand, crossing_stretches, leading_out
from netloom.mapping.layouts import cube_of_hosts
from netloom.mapping.search.objectives import Measure, hop_pace, hops, joint_weights, router_hops
from netloom.mapping.search.starts import ground_of, halves
from netloom.topology import Cube, Topology
from netloom.workload import ProcessGraph

MOST_TASKS = 1024
"""Tasks up to which the eigenvalues of a program are worked out."""

MOST_PLACES = 1024
"""Tasks and places up to which the cheapest place of each is asked for, all together."""

MOST_HOPS = 2**26
"""Most hosts times routers between which groups of hosts are told apart."""

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


def least_spread(value_of: Measure) -> float:
    """Return a bound of hop-bytes: what leaves leaves, pods and groups of pods has so far to go.

    Examples
    --------
    Two pairs fit on two leaves, and what they send each other has to cross the spine:

    >>> from netloom.mapping.search.objectives import Measure, objective_of
    >>> from netloom.routing import ShortestPath
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> tree, app = topology("leaf-spine:2x1x2"), read("all-to-all:4")
    >>> here = app, tree, ShortestPath(), app.bytes, objective_of("hop-bytes"), np.arange(4)
    >>> least_spread(Measure(*here))
    16.0
    """
    app, weights, nodes = value_of.app, value_of.weights, value_of.nodes
    apart, joint = hops(value_of.topology, nodes, nodes), joint_weights(app, weights)
    task = np.repeat(np.arange(app.num_tasks, dtype=np.int32), np.diff(joint.indptr))
    found, spectrum = 0.0, spectrum_of(app, weights)
    for within, beyond, label in _levels(apart):
        places = np.bincount(label) * value_of.tasks_per_node
        outside = _to_others(task, joint.data, app.num_tasks, int(places.max())).sum()
        least = max(float(outside), float(_filled(places, app.num_tasks) @ spectrum))
        found += (min(beyond, value_of.topology.num_routers) - within) * least / 2
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
    pairs = _fewest_pairs(groups.places, tasks, room)[around > 0]
    if tasks > 1 and len(pairs):
        found = max(found, float((float(spectrum[1]) * pairs / tasks / around[around > 0]).max()))
    return found


def _across_lines(spectrum: Floats, value_of: Measure, carries: Floats) -> float:
    """Return the time that coordinates of a grid in a row and all others take for an exchange."""
    topology, nodes, tasks_per_node = value_of.topology, value_of.nodes, value_of.tasks_per_node
    inside, found = topology.routers, 0.0
    for line in grid_lines(topology):
        begins, ends = (part[nodes] for part in of_hosts(topology, line.place))
        if (begins < 0).any() or (begins != ends).any():
            continue
        count, rows = len(line.borders) - 1, line.stretches()
        channels = Demand((), inside.channel_source, inside.channel_target, carries)
        around = np.add(*crossing_stretches(channels, line.place, line.place, count, rows))
        up_to = offsets_of(np.bincount(begins, minlength=count))
        places = (up_to[rows[1]] - up_to[rows[0]]) * tasks_per_node
        pairs = _fewest_pairs(places, len(spectrum), len(nodes) * tasks_per_node)
        apart = float(spectrum[1]) * pairs / len(spectrum)
        found = max(found, float(np.divide(apart, around, where=around > 0, out=0 * apart).max()))
    return found


def _fewest_pairs(places: Ints, tasks: int, room: int) -> Ints:
    """Return the least product of the tasks in each group and those in no group, of all places."""
    fewest, most = np.maximum(0, tasks - (room - places)), np.minimum(tasks, places)
    return np.asarray(np.minimum(fewest * (tasks - fewest), most * (tasks - most)))


def _groupings(value_of: Measure, between: Floats, ports: Floats) -> Iterator[Groups]:
    """Yield hosts one by one, of one router, of one pod ..., and in two halves."""
    topology, nodes = value_of.topology, value_of.nodes
    each = np.arange(len(nodes), dtype=np.int64)
    owner = np.unique(topology.local_group[nodes], return_inverse=True)[1]
    # what stays inside a node leaves its hosts without a channel
    found = _around(value_of, each, between, ports)
    yield found._replace(places=value_of.tasks_per_node * np.bincount(owner)[owner])
    if not _tabled(topology, nodes):
        return
    used = np.tile(np.isin(topology.port_host, nodes), 2)
    entry = np.concatenate([topology.injection_router, topology.ejection_router])[used]
    places, row = np.unique(entry, return_inverse=True)
    rows = router_hops(topology.routers, places)[row]
    for _, _, label in _levels(hops(topology, nodes, nodes)):
        yield _around(value_of, label, between, ports, rows)
    if len(nodes) > 1:
        first = halves(ground_of(topology, nodes), nodes, DEFAULT_SEED)[0]
        second = (~np.isin(nodes, first)).astype(np.int64)
        second = second[np.unique(owner, return_index=True)[1]][owner]  # nodes are whole
        yield _around(value_of, second, between, ports, rows)


def _tabled(topology: Topology, nodes: Ints) -> bool:
    """Return whether groups of hosts are looked for by the hops between them.

    Whole k-ary n-cubes of hosts have no better parts than rows of coordinates.
    """
    if _cube(topology) is not None and len(nodes) > min(MOST_PLACES, topology.num_hosts - 1):
        return False
    return len(nodes) * topology.num_routers <= MOST_HOPS


def _cube(topology: Topology) -> Cube | None:
    """Return the k-ary n-cube whose routers have a node each. None if there is none."""
    found = cube_of_hosts(topology.whole)
    return None if found is None or topology.num_nodes < topology.num_hosts else found[0]


def _around(
    value_of: Measure, label: Ints, between: Floats, ports: Floats, rows: Floats | None = None
) -> Groups:
    """Return groups with the channels around them: those of hosts and the routers nearest to them.

    ``rows``: how far routers are from the ports of hosts in groups, both ways. Without them, of
    hosts without any router.
    """
    topology = value_of.topology
    group = np.full(topology.num_hosts, -1, np.int64)
    group[value_of.nodes] = label
    near = np.full(topology.num_routers, -1, np.int64)
    if rows is not None:
        # the group that each router is nearest to, none if it is as near to several
        of = np.tile(group[topology.port_host], 2)
        of = of[of >= 0]
        order = np.argsort(of, kind="stable")
        begins = np.searchsorted(of[order], np.arange(int(of.max()) + 1))
        apart = np.minimum.reduceat(rows[order], begins)
        nearest = apart == apart.min(axis=0)
        lone = (nearest.sum(axis=0) == 1) & np.isfinite(apart.min(axis=0))
        near = np.where(lone, nearest.argmax(axis=0), -1)
    inside, first = topology.routers, topology.num_hosts
    used = group[topology.port_host] >= 0
    host = topology.port_host[used]
    sends = first + topology.injection_router[used]
    receives = first + topology.ejection_router[used]
    leaving, entering = leading_out(
        np.append(group, near),
        np.concatenate([first + inside.channel_source, host, receives]),
        np.concatenate([first + inside.channel_target, sends, host]),
        np.append(between, ports[np.tile(used, 2)]),
    )
    return Groups(np.bincount(label) * value_of.tasks_per_node, leaving, entering)


EXACT = 1 - 1e-9
"""What rounding may take from a bound."""


def least(value_of: Measure) -> float:
    """Return a value of the objective below which no mapping comes.

    For hop-bytes and the channel load, see ``least_hop_bytes`` and ``least_channel_load``. Paths on
    one channel meet each other. So the path contention level is at least (paths on the busiest
    channel − 1), and a path meets at least the weight on the busiest channel.

    The bound is 0 where nothing better is known.

    Examples
    --------
    >>> from netloom.mapping.search.objectives import Measure, objective_of
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> star, asked = read("binary-tree:3"), objective_of("hop-bytes")
    >>> least(Measure(star, mesh(3), DimensionOrder(), star.bytes, asked, np.arange(3)))
    4.0
    """
    edges, shares = value_of.app.num_edges, value_of.objective.shares
    bounds = {}
    for name in shares:
        if name == "hop-bytes":
            bounds[name] = least_hop_bytes(value_of)
        elif name == "path-contention":
            paths = round(least_channel_load(replace(value_of, weights=np.ones(edges))))
            meet = max(0, paths - 1)  # others, for as many paths
            bounds[name] = meet + meet * paths / max(1, edges) ** 2
        else:
            pace = value_of.pace if name == "max-channel-load" else None
            bounds[name] = least_channel_load(value_of, pace)
    if value_of.objective.single:
        return bounds[value_of.objective.single]
    return sum(shares[name] * bound / value_of.scale[name] for name, bound in bounds.items())


def least_hop_bytes(value_of: Measure) -> float:
    """Return a bound of weight times hops, summed: as if each task had the network to itself.

    The more a task sends another (both ways together), the nearer to it that other is, in the
    places that are nearest to some node. An edge is seen from both ends, and counts half at each.
    What leaves groups of hosts counts, if that is more. See ``least_spread``. In small networks
    whose nodes differ, tasks are besides assigned to different places, all at the least cost
    (Gilmore 1962, Lawler 1963).

    If pairs have several paths, mean hops and loads need be no multiples of anything.

    Examples
    --------
    Of three others that the middle of a star talks to, one is two hops away on a line:

    >>> from netloom.mapping.search.objectives import Measure, objective_of
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload import process_graph
    >>> star = process_graph(4, [0, 0, 0], [1, 2, 3], bytes=[1, 2, 3])
    >>> here = star, mesh(4), DimensionOrder(), star.bytes, objective_of("hop-bytes"), np.arange(4)
    >>> least_hop_bytes(Measure(*here))
    7.0
    """
    app, topology, nodes = value_of.app, value_of.topology, value_of.nodes
    joint, tasks_per_node = joint_weights(app, value_of.weights), value_of.tasks_per_node
    source = owners_of(np.diff(joint.indptr))
    order = np.lexsort((-joint.data, source))
    rank = np.arange(joint.nnz) - joint.indptr[source]
    sent = joint.data[order]  # of each task, falling
    most = int(np.diff(joint.indptr).max(initial=0))
    # how far the ``most`` nearest places are from each node, or from the best of all
    cube = _cube(topology)
    if cube is not None and len(nodes) > MOST_PLACES:
        apart = hops(cube, np.array([int(np.array(cube.sides) // 2 @ cube.strides)]))
    else:
        apart = hops(topology, nodes, nodes)
    found = np.sort(apart, axis=1)[:, (np.arange(most) + 1) // tasks_per_node]
    near = np.where(np.isinf(found), topology.num_hosts, found)
    together = max(app.num_tasks, len(near) * tasks_per_node)
    if together > MOST_PLACES or (near == near[0]).all():
        bound = float(sent @ near.min(axis=0)[rank]) / 2
    else:
        from scipy.optimize import linear_sum_assignment

        table = np.zeros((app.num_tasks, most))
        table[source, rank] = sent
        cost = np.repeat(table @ near.T / 2, tasks_per_node, axis=1)
        bound = float(cost[linear_sum_assignment(cost)].sum())
    if _tabled(topology, nodes):
        bound = max(bound, least_spread(value_of))
    return _rounded_up(bound, value_of.weights, whole=not value_of.routing.several)


def least_channel_load(value_of: Measure, pace: Floats | None = None) -> float:
    """Return a bound of the weight on the busiest channel, if each edge takes one path.

    ``pace``: float64[num_channels], the weight of a unit on each channel (see
    ``Measure.pace``), by default 1 between routers.

    It is the largest of several bounds. One is hop-bytes / all channels. Another divides the
    traffic that a task sends or receives over the channels of its router, with no edge on two of
    them. Others are the traffic out of a part of the network / channels there. A part with a of n
    tasks exchanges at least λ₂ a (n - a) / n with the others. Here λ₂ is the second smallest
    eigenvalue of the program's Laplacian matrix (Fiedler 1973, Mohar & Poljak 1990).

    Examples
    --------
    A half of 32 tasks sends at least 32 bytes to the other, over eight channels:

    >>> from netloom.mapping.search.objectives import Measure, objective_of
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> cube, asked = read("hypercube:6"), objective_of("max-channel-load")
    >>> here = cube, mesh(8, 8), DimensionOrder(), cube.bytes, asked, np.arange(64)
    >>> least_channel_load(Measure(*here))
    4.0
    """
    app, topology, weights = value_of.app, value_of.topology, value_of.weights
    whole = not value_of.routing.several
    counts = hop_pace(topology) if pace is None else pace
    even = bool((counts[counts > 0] == 1).all())
    carries = np.full(topology.num_network_channels + 2 * topology.num_ports, np.inf)
    carries[np.flatnonzero(counts)] = 1 / counts[counts > 0]
    between, ports = np.split(carries, [topology.num_network_channels])
    found = least_hop_bytes(value_of) / float(between.sum()) if len(between) else 0.0
    if even and whole:
        found = max(found, _at_routers(value_of))
    spectrum = spectrum_of(app, weights)
    if spectrum.any():
        found = max(found, _across_lines(spectrum, value_of, between))
    for groups in _groupings(value_of, between, ports):
        for task, around in ((app.source, groups.leaving), (app.target, groups.entering)):
            outside = _to_others(task, weights, app.num_tasks, int(groups.places.max()))
            if around.sum() > 0:
                found = max(found, float(outside.sum() / around.sum()))
            heavy = np.sort(outside)[::-1]
            for most in np.unique(around):  # one task: not all are where channels carry most
                elsewhere = int(groups.places[around > most].sum())
                if elsewhere < len(heavy) and most > 0:
                    found = max(found, float(heavy[elsewhere] / most))
        found = max(found, _exchanged(spectrum, groups))
    return _rounded_up(found, weights, whole=whole and even)


def _at_routers(value_of: Measure) -> float:
    """Return a bound from the edges of each task, and the channels of each router.

    Of hosts that have one port each. Others of the same router, or of the same node, are reached
    without these channels.
    """
    app, topology, nodes = value_of.app, value_of.topology, value_of.nodes
    weights, tasks_per_node = value_of.weights, value_of.tasks_per_node
    if (np.diff(topology.port_offsets)[nodes] != 1).any():
        return 0.0
    inside, port = topology.routers, topology.port_offsets[nodes]
    here, there = topology.injection_router, topology.ejection_router
    node = topology.local_group[nodes]
    found = 0.0
    for task, channels, own, others in (
        (app.source, inside.channel_source, here, there),
        (app.target, inside.channel_target, there, here),
    ):
        ports = np.bincount(channels, minlength=topology.num_routers)[own[port]]
        beside = np.bincount(others[port], minlength=topology.num_routers)[own[port]]
        beside += own[port] != others[port]  # itself, too, if it is not among these
        near = int((beside + np.bincount(node)[node] - 1).max())
        for number in np.unique(np.maximum(1, ports)).tolist():
            busiest = undivided(task, weights, number, near * tasks_per_node - 1)[0]
            elsewhere = int(np.count_nonzero(ports > number)) * tasks_per_node
            if elsewhere < len(busiest):  # one of these tasks has no more channels
                found = max(found, float(np.sort(busiest)[::-1][elsewhere]))
    return found


def _rounded_up(bound: float, weights: Floats, *, whole: bool) -> float:
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
