"""What a mapping is to make small, and how it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, distinct
from netloom.base.errors import InputError
from netloom.contention import measure
from netloom.routing import Paths, Routing, paths
from netloom.topology import Cube, Topology, hop_distances
from netloom.topology.measures import host_distances
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

JointWeights: TypeAlias = "csr_array[np.float64, tuple[int, int]]"


def joint_weights(app: ProcessGraph, weights: Floats) -> JointWeights:
    """Return what each two tasks send each other, both ways together.

    A symmetric float64 sparse matrix [num_tasks, num_tasks], without zeros, columns sorted.
    ``weights``: float64[num_edges], what edges carry. Their bytes by default.

    Examples
    --------
    >>> from netloom.workload import process_graph
    >>> joint_weights(process_graph(3, [0, 1, 2], [1, 0, 1]), np.array([5.0, 2, 0])).toarray()
    array([[0., 7., 0.],
           [7., 0., 0.],
           [0., 0., 0.]])
    """
    from scipy.sparse import csr_array

    sent = csr_array((weights, (app.source, app.target)), shape=(app.num_tasks, app.num_tasks))
    joint = csr_array(sent + sent.T)
    joint.eliminate_zeros()
    joint.sort_indices()
    return joint


def hops(topology: Topology, sources: Ints, targets: Ints | None = None) -> Floats:
    """Return the shortest distances of some nodes from others: the way there or the way back.

    float64[len(sources), len(targets)], the smaller of both ways. Infinite where there is none.
    Targets are all nodes by default. Hops are channels between routers: of two hosts of one router
    or one node there are none. Of several ports, those count that are nearest.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> hops(torus(5), np.array([3]))
    array([[2., 2., 1., 0., 1.]])
    >>> from netloom.topology import topology
    >>> hops(topology("leaf-spine:2x2x2"), np.array([0]))
    array([[0., 0., 2., 2.]])
    """
    ends = np.arange(topology.num_hosts) if targets is None else targets
    there = np.array_equal(topology.injection_router, topology.ejection_router)
    found = host_distances(topology, sources, ends, between=router_hops)
    if not (isinstance(topology.routers, Cube) and there):  # there, both ways are as long
        back = host_distances(topology, ends, sources, between=router_hops)
        found = np.minimum(found, back.T)
    group = topology.local_group
    found[group[sources][:, None] == group[ends]] = 0
    return found


def router_hops(routers: Topology, some: Ints) -> Floats:
    """Return the hops from some routers to all, float64[len(some), num_routers]."""
    if isinstance(routers, Cube):  # counted at once, and often too many to keep
        return hop_distances(routers, some)
    found = _router_hops(routers, some.astype(np.int64).tobytes())
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4)
def _router_hops(routers: Topology, some: bytes) -> Floats:
    return hop_distances(routers, np.frombuffer(some, np.int64))


def hop_pace(topology: Topology) -> Floats:
    """Return 1 for each channel between routers, 0 for those of hosts: float64[num_channels]."""
    return (np.arange(topology.num_channels) < topology.num_network_channels).astype(np.float64)


def hosts_count(topology: Topology, tasks_per_node: int) -> bool:
    """Return whether what hosts send and receive may differ from mapping to mapping."""
    rate = topology.port_bandwidth
    differ = any((each != each[:1]).any() for each in np.split(rate, 2))
    several = bool((np.diff(topology.port_offsets) > 1).any())
    shared = len(distinct(topology.local_group)) < topology.num_hosts
    limited = bool(np.isfinite(rate).any())
    return limited and (tasks_per_node > 1 or shared or several or differ)


def on_paths(routed: Paths, weights: Floats) -> Floats:
    """Return what each path carries, float64[num_paths], of pairs that send these weights."""
    if routed.pair is None or routed.probability is None:
        return weights
    return weights[routed.pair] * routed.probability


OBJECTIVES = ("hop-bytes", "max-channel-load", "path-contention", "saturation")
"""``hop-bytes``: weight times path length, summed. ``max-channel-load``: the weight on the busiest
channel, over its bandwidth. ``path-contention``: the highest ν, then their sum. ``saturation``: the
weight of the path that meets most, with all that it meets. The worst node saturates at its inverse
(lemma 4). All are of channels between routers: what a host sends and receives is the same wherever
its one task runs. If that is not so, the load is of hosts' channels as well. See
``Measure.pace``."""

DIGITS = 10
"""Digits of a value by which mappings are told apart."""

CLOSE = 1e-12
"""Part of a sum of bytes that rounding may add."""

HOP_BYTES = 2
"""The place of the hop-bytes in what mappings are ranked by."""


@dataclass(frozen=True)
class Objective:
    """One objective, or several with a share each."""

    name: str  # as the user wrote it
    # The share of each in the sum; each is divided by what it is for the first mapping measured, if
    # there are several.
    shares: Mapping[str, float]

    @property
    def single(self) -> str | None:
        """The name of the only objective. None where there are several."""
        return next(iter(self.shares)) if len(self.shares) == 1 else None


def objective_of(text: str) -> Objective:
    """Return the objective that a text such as ``hop-bytes`` or ``hop-bytes:1,saturation:2`` names.

    Raises
    ------
    InputError
        If a name is not known or given twice, or a share is not a positive number.

    Examples
    --------
    >>> objective_of("hop-bytes:1,max-channel-load:3").shares
    {'hop-bytes': 0.25, 'max-channel-load': 0.75}
    """
    shares = {}
    for part in text.split(","):
        name, _, share = part.strip().partition(":")
        if name not in OBJECTIVES or name in shares:
            wanted = f"{', '.join(OBJECTIVES)}, each at most once, as NAME or NAME:SHARE,..."
            raise InputError("objective", f"'{part.strip()}'", wanted)
        try:
            shares[name] = float(share or 1)
        except ValueError:
            shares[name] = 0.0
        if not 0 < shares[name] < np.inf:
            raise InputError("objective", f"a share of '{share}'", "a number above 0")
    total = sum(shares.values())
    return Objective(text, {name: share / total for name, share in shares.items()})


@dataclass(frozen=True, eq=False)
class Measure:
    """Measures mappings of one program on one network by an objective."""

    # app, topology, routing, weights: what is mapped, where, how packets travel, and
    # float64[num_edges] what edges carry.
    app: ProcessGraph
    topology: Topology
    routing: Routing
    weights: Floats
    objective: Objective  # what counts
    nodes: Ints  # int32[], the hosts that may be used, ascending
    tasks_per_node: int = 1  # most tasks of a host
    # What each of several objectives is divided by.
    scale: Mapping[str, float] = field(default_factory=dict)
    most_between: float = np.inf  # bytes between nodes that a mapping may have

    def scaled(self, first: Ints) -> Measure:
        """Return the same. If there are several objectives, each is 1 for a first mapping.

        Raises
        ------
        InputError
            If what is asked is not known of several paths per pair, or of channels that differ.
        """
        shares = self.objective.shares
        for name in ("path-contention", "saturation"):
            if name in shares and self.routing.several:
                found = f"{name} under {self.routing}, which has several paths per pair"
                wanted = "hop-bytes or max-channel-load, by expected loads"
                raise InputError("objective", found, wanted)
        between = self.topology.routers.channel_bandwidth
        if "saturation" in shares and not (between == between[:1]).all():
            found = f"saturation on {self.topology.name}, whose channels differ in bandwidth"
            raise InputError("objective", found, "max-channel-load, hop-bytes or path-contention")
        return replace(self, scale={name: by or 1.0 for name, by in self.each(first).items()})

    @cached_property
    def pace(self) -> Floats:
        """What a unit of load on each channel counts, float64[num_channels].

        Its time, 1 / bandwidth. If every host has one task and equal ports, the hosts' own channels
        carry the same under every mapping, and count nothing. Otherwise no mapping would be better
        than another if these channels are the busiest. With several tasks per host, several hosts
        per node, several ports or different ports, they count like all others.
        """
        topology = self.topology
        pace = np.append(1 / topology.routers.channel_bandwidth, 1 / topology.port_bandwidth)
        if not hosts_count(topology, self.tasks_per_node):
            pace[topology.num_network_channels :] = 0
        return pace[: topology.num_channels]  # of hosts' channels too, if the network lists them

    @property
    def counted(self) -> Floats:
        """What a search adds up on channels: time or, if that is no aim, hops."""
        if "max-channel-load" in self.objective.shares:
            return self.pace
        return hop_pace(self.topology)

    def crossing(self, node_of: Ints) -> Bools:
        """Return which edges carry something over the network."""
        apart = self.topology.crosses(node_of[self.app.source], node_of[self.app.target])
        return apart & (self.weights > 0)

    def between(self, node_of: Ints) -> float:
        """Return the bytes between tasks of different nodes."""
        node = self.topology.node_of_host[node_of]
        return float(self.app.bytes[node[self.app.source] != node[self.app.target]].sum())

    def each(self, node_of: Ints) -> dict[str, float]:
        """Return what the objectives that count are for a mapping."""
        values = self._all(node_of)
        return {name: values[name] for name in self.objective.shares}

    def _all(self, node_of: Ints) -> dict[str, float]:
        source, target = node_of[self.app.source], node_of[self.app.target]
        target = np.where(self.topology.crosses(source, target), target, source)
        meet = worst = 0.0
        if self.routing.several:  # expected hops and loads: paths meet unseen
            routed = paths(self.topology, self.routing, source, target)
            carried, whole = on_paths(routed, self.weights), routed.whole(self.topology)
            on_hops = np.repeat(carried, whole.lengths)
            loads = np.bincount(whole.channels, on_hops, self.topology.num_channels) + 0.0
            hop_bytes = float(carried @ routed.lengths)
        else:
            found = measure(self.topology, self.routing, source, target, self.weights)
            met, number = found.path_contention, max(1, self.app.num_edges)
            loads, hop_bytes = found.weighted_load, float(self.weights @ found.path_length)
            meet = int(met.max(initial=0)) + float(met.sum()) / number**2
            worst = float(found.contending_weight[found.moving].max(initial=0.0))
        return {
            "hop-bytes": hop_bytes,
            "max-channel-load": float((loads * self.pace).max(initial=0.0)),
            "path-contention": meet,
            "saturation": worst,
        }

    def __call__(self, node_of: Ints) -> float:
        """Return the value of the objective for a mapping: the smaller, the better."""
        return self._value(self._all(node_of))

    def ranked(self, node_of: Ints) -> tuple[float, tuple[float, ...]]:
        """Return the value of the objective, and what mappings are ranked by: the smaller comes.

        First are the bytes between nodes above ``most_between``, then the objective. If that is the
        same, the fewer hop-bytes, the fewer bytes between nodes, and then the least path
        contention. The last digits, which rounding decides, are left out.
        """
        values, between = self._all(node_of), self.between(node_of)
        value = self._value(values)
        excess = between if between > self.most_between * (1 + CLOSE) else 0.0
        deciding = excess, value, values["hop-bytes"], between, values["path-contention"]
        return value, tuple(float(f"{each:.{DIGITS - 1}e}") for each in deciding)

    def _value(self, values: Mapping[str, float]) -> float:
        if self.objective.single:
            return values[self.objective.single]
        shares = self.objective.shares
        return sum(share * values[name] / self.scale[name] for name, share in shares.items())
