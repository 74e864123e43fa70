"""What has to leave groups of hosts, over channels of their own bandwidths.

Hosts of a leaf, a pod or a group share few channels to all others. Let a group have room for k
tasks. Under every mapping, each of its tasks has at most its k - 1 heaviest partners in the group,
and communicates with all others over these channels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.search.compact import ground_of, halves
from netloom.mapping.search.pairs import hops, joint_weights, router_hops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph


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

    >>> from netloom.mapping.search.loads import hop_pace
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
    app: ProcessGraph,
    topology: Topology,
    weights: Floats,
    nodes: Ints,
    tasks_per_node: int,
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
        found += (min(beyond, topology.num_vertices) - within) * least / 2
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
    owner = np.full(topology.num_vertices, -1, np.int64)
    if not alone:
        owner[topology.router_vertex(0) :] = _nearest_group(topology, nodes, label)
    idle = np.zeros(topology.num_vertices, np.bool_)
    if not topology.direct:
        idle[:hosts] = True
    idle[nodes], owner[nodes] = False, label
    ends = topology.channel_source, topology.channel_target
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
