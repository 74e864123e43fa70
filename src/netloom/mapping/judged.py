"""Layouts and mappings on routes of their own, judged as those that a search finds."""

from __future__ import annotations

from dataclasses import replace
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from netloom.mapping.joint_routes import ROUNDS, JointRoutes, joint_routes
from netloom.mapping.search.bounds import least
from netloom.mapping.search.generations import FoundMapping
from netloom.mapping.search.starts import random_starts
from netloom.routing import SourceRoutes, source_routes

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.mapping.layouts.parts import Layout
    from netloom.mapping.search.objectives import Measure


def routes_of_layout(layout: Layout, value_of: Measure) -> SourceRoutes | None:
    """Return the routes that belong to a layout, None if it has none."""
    if layout.routes is None:
        return None
    app, topology = value_of.app, value_of.topology
    first = layout.node_of[app.source]
    visited = [
        [int(first[edge]), *topology.channel_target[layout.routes[edge]].tolist()]
        for edge in range(app.num_edges)
    ]
    return source_routes(topology, visited, name=f"those of {layout.name}")


def judged_layout(
    layout: Layout,
    value_of: Measure,
    routes: SourceRoutes | None,
    *,
    objective: str,
    identity: Ints,
    nodes: Ints,
    tasks_per_node: int,
    seed: int,
) -> FoundMapping:
    """Return a layout as if a search had found it, beside identity and random mappings.

    ``value_of`` measures mappings by the objective, and this one on its own ``routes`` if it has
    any. Nodes, tasks and seed are those of the random mappings and of the bound.
    """
    began = thread_time()
    drawn = list(random_starts(len(identity), nodes, tasks_per_node, seed))
    values = [value_of(node_of) for node_of in drawn]
    best = drawn[int(np.argmin(values))]
    mappings = {"identity": identity, "random_best": best, layout.name: layout.node_of}
    starts = {name: value_of(node_of) for name, node_of in mappings.items()}
    on_own_routes = value_of if routes is None else replace(value_of, routing=routes)
    return FoundMapping(
        node_of=layout.node_of,
        objective=objective,
        value=on_own_routes(layout.node_of),
        bound=least(value_of, nodes, tasks_per_node),
        starts=starts | {"random": float(np.mean(values))},
        mappings=mappings,
        found_by=layout.name,
        rounds=0,
        seconds=thread_time() - began,
        interrupted=False,
    )


def on_chosen_routes(
    found: FoundMapping, value_of: Measure, *, seed: int, seconds: float
) -> tuple[FoundMapping, SourceRoutes | None]:
    """Return what was found on routes chosen for it, and these: never worse than without.

    None if nothing crosses the network. ``seconds`` is the processor time of the choice.
    """
    if not value_of.crossing(found.node_of).any():
        return found, None
    rounds = 0 if found.interrupted else ROUNDS
    chosen = chosen_routes(value_of, found.node_of, rounds=rounds, seed=seed, seconds=seconds)
    found = replace(found, interrupted=found.interrupted or chosen.interrupted)
    value = replace(value_of, routing=chosen.routes)(found.node_of)
    if value > found.value:  # fewer bytes on the busiest channel, and yet a worse objective
        own = chosen_routes(value_of, found.node_of, rounds=0, seed=seed, seconds=seconds)
        return found, own.routes
    return replace(found, value=value), chosen.routes


def chosen_routes(
    value_of: Measure, node_of: Ints, *, rounds: int, seed: int, seconds: float
) -> JointRoutes:
    """Return routes chosen for a mapping. See ``joint_routes``."""
    return joint_routes(
        value_of.app, value_of.topology, node_of,
        weights=value_of.weights, routing=value_of.routing, rounds=rounds, seed=seed,
        seconds=seconds,
    )  # fmt: skip
