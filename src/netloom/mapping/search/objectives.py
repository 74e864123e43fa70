"""What a mapping is to make small, and how it is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.contention import measure, measure_paths
from netloom.mapping.search.loads import (
    channel_times,
    hop_pace,
    on_paths,
    pace_of,
)
from netloom.routing import paths
from netloom.routing.hosted import between_routers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.routing import Routing
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

OBJECTIVES = ("hop-bytes", "max-channel-load", "path-contention", "saturation")
"""``hop-bytes``: weight times path length, summed. ``max-channel-load``: the weight on the busiest
channel, over its bandwidth. ``path-contention``: the highest ν, then their sum. ``saturation``: the
weight of the path that meets most, with all that it meets. The worst node saturates at its inverse
(lemma 4). All are of channels between routers: what a host sends and receives is the same wherever
its one task runs. If that is not so, the load is of hosts' channels as well. See ``pace_of``."""

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
    shares: dict[str, float] = {}
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
    scale: Mapping[str, float]  # what each of several objectives is divided by
    tasks_per_node: int = 1  # most tasks of a host
    most_between: float = np.inf  # bytes between nodes that a mapping may have

    @cached_property
    def pace(self) -> Floats:
        """What a unit of load on each channel counts. See ``pace_of``."""
        return pace_of(self.topology, self.tasks_per_node)

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
        if not self.topology.direct or self.routing.several:
            return self._on_paths(source, target)
        found = measure(self.topology, self.routing, source, target, self.weights)
        meets, paths = found.path_contention, max(1, self.app.num_edges)
        return {
            "hop-bytes": float(self.weights @ found.path_length),
            "max-channel-load": float((found.weighted_channel_load * self.pace).max(initial=0.0)),
            "path-contention": int(meets.max(initial=0)) + float(meets.sum()) / paths**2,
            "saturation": float(found.contending_weight[found.moving].max(initial=0.0)),
        }

    def _on_paths(self, source: Ints, target: Ints) -> dict[str, float]:
        """Return all objectives where hosts hang on routers, or a pair has several paths.

        Of several paths, hops and loads are expected ones. How paths meet is left out.
        """
        topology, weights = self.topology, self.weights
        routed = paths(topology, self.routing, source, target)
        times = channel_times(topology, routed, weights, self.pace)
        inside = between_routers(topology, routed)
        values = {
            "hop-bytes": float(on_paths(inside, weights) @ inside.lengths),
            "max-channel-load": float(times.max(initial=0.0)),
            "path-contention": 0.0,
            "saturation": 0.0,
        }
        if inside.pair is None:
            found = measure_paths(inside, topology.num_network_channels, weights)
            meets, number = found.path_contention, max(1, self.app.num_edges)
            most = int(meets.max(initial=0))
            values["path-contention"] = most + float(meets.sum()) / number**2
            alone = found.path_length == 0
            with_all = np.where(alone, weights, found.contending_weight)
            values["saturation"] = float(with_all[routed.lengths > 0].max(initial=0.0))
        return values

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


def measure_by(
    objective: Objective,
    app: ProcessGraph,
    topology: Topology,
    routing: Routing,
    weights: Floats,
    first: Ints,
    tasks_per_node: int = 1,
) -> Measure:
    """Return what measures mappings by an objective. Several are scaled by a first mapping.

    Raises
    ------
    InputError
        If the objective is not one of this network or routing.
    """
    _check(objective, topology, routing)
    plain = Measure(app, topology, routing, weights, objective, {}, tasks_per_node)
    scale = {name: value or 1.0 for name, value in plain.each(first).items()}
    return replace(plain, scale=scale)


def _check(objective: Objective, topology: Topology, routing: Routing) -> None:
    """Refuse what is not known of several paths per pair, or of channels that differ."""
    for name in ("path-contention", "saturation"):
        if name in objective.shares and routing.several:
            found = f"{name} under {routing}, which has several paths per pair"
            raise InputError("objective", found, "hop-bytes or max-channel-load, by expected loads")
    between = topology.routers.channel_bandwidth
    if "saturation" in objective.shares and not (between == between[:1]).all():
        found = f"saturation on {topology.name}, whose channels differ in bandwidth"
        raise InputError("objective", found, "max-channel-load, hop-bytes or path-contention")
