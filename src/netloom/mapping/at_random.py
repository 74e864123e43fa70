"""A mapped program beside the same program mapped at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.figures import SHARE, Figures, Number, figure, leaves
from netloom.base.progress import patience, track
from netloom.contention import Expectation, MeshEstimate, estimate_mesh, expect_random
from netloom.contention.mapped import MappedFigures, counted_contention, measured_program
from netloom.mapping.layouts.parts import cube_of_hosts
from netloom.routing import DimensionOrder, SourceRoutes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Ints
    from netloom.contention.mapped import MappedProgram, Spread
    from netloom.routing import Routing

MOST_RANDOM = 25
"""Random mappings to compare with by default, at least one."""

WORK, PATH_WORK = 3 * 2**30, 300
"""What they may cost in all (about 5 seconds), and what a path does. See ``_work``."""


class OfRandom(Figures):
    """A figure over random mappings, and how many of them this mapping beats."""

    mean: float
    min: Number
    max: Number
    beaten: int


class RandomFigures(Figures):
    """Those of ``MappedFigures`` that all random mappings have."""

    path_length_mean: OfRandom | None = figure(default=None, optional=True)
    path_length_max: OfRandom | None = figure(default=None, optional=True)
    logical_path_length_mean: OfRandom | None = figure(default=None, optional=True)
    logical_path_length_max: OfRandom | None = figure(default=None, optional=True)
    channel_load_mean: OfRandom | None = figure(default=None, optional=True)
    channel_load_max: OfRandom | None = figure(default=None, optional=True)
    weighted_channel_load_mean: OfRandom | None = figure(default=None, optional=True)
    weighted_channel_load_max: OfRandom | None = figure(default=None, optional=True)
    path_contention_mean: OfRandom | None = figure(default=None, optional=True)
    path_contention_max: OfRandom | None = figure(default=None, optional=True)
    hop_bytes: OfRandom | None = figure(default=None, optional=True)
    dilation: OfRandom | None = figure(default=None, optional=True)
    saturation_average_node: OfRandom | None = figure(default=None, optional=True)
    saturation_worst_node: OfRandom | None = figure(default=None, optional=True)
    saturation_upper_bound: OfRandom | None = figure(default=None, optional=True)


class RandomMappings(Figures):
    """The random mappings that one is compared with.

    Attributes
    ----------
    limited_by_work
        Whether more would have taken too long: nobody said how many.
    alike
        Whether all mappings are alike, so that none need be measured.
    table_3_1
        Table 3.1 of the thesis for a random mapping. None but on square 2D meshes.
    expected
        Exact means over all random mappings. None on general graphs or with several tasks per node.
    """

    mappings: int
    limited_by_work: bool
    alike: bool | None = figure(optional=True)
    figures: RandomFigures = figure(at=".")
    table_3_1: MeshEstimate | None = figure(optional=True)
    expected: Expectation | None = figure(optional=True)


class RandomMapping(Figures):
    """One random mapping, with the figures by which mappings are compared."""

    seed: int
    own: MappedFigures = figure(at=".")


class Beside(Figures):
    """A figure of a mapping beside that of random ones."""

    what: str = figure(" ", lead=True)
    mean: Number | None = figure(lead=True)
    max: Number | None = figure(lead=True)
    random_mean: Number | None = figure("random mean", lead=True)
    random_max: Number | None = figure("random max", lead=True)
    beaten: int | None = figure("better than", lead=True)


class LimitBeside(Figures):
    """A limit of the load beside that of random mappings."""

    what: str = figure(" ", lead=True)
    load: float | None = figure("load", SHARE, lead=True)
    random: float | None = figure("random mean", SHARE, lead=True)
    beaten: int | None = figure("better than", lead=True)


SPREADS = {
    "path_length": "path length D, hops",
    "logical_path_length": "logical path length d",
    "channel_load": "channel load χ, paths",
    "weighted_channel_load": "channel load, {unit}",
    "path_contention": "paths met by a path, ν",
}
LIMITS = {
    "worst_node": "first {node} delayed *",
    "average_node": "most {node}s delayed *",
    "upper_bound": "most load carried",
}
"""What figures are called where they stand beside those of random mappings."""


def spreads_beside(own: MappedFigures, random: RandomFigures, unit: str) -> list[Beside]:
    """Return the figures of paths and channels beside those of random mappings.

    ``unit``: what loads are counted in. Those in paths stand once.
    """
    found = []
    for name, what in SPREADS.items():
        values: Spread | None = getattr(own, name)
        mean, most = (getattr(random, f"{name}_{part}") for part in ("mean", "max"))
        if values is not None and not (name == "weighted_channel_load" and unit == "paths"):
            row = Beside(
                what=what.format(unit=unit),
                mean=values.mean,
                max=values.max,
                random_mean=getattr(mean, "mean", None),
                random_max=getattr(most, "mean", None),
                beaten=getattr(most, "beaten", None),
            )
            found.append(row)
    return found


def limits_beside(own: MappedFigures, random: RandomFigures, node: str) -> list[LimitBeside]:
    """Return the limits of the load that are known beside those of random mappings."""
    found = []
    for name, what in LIMITS.items():
        load, other = getattr(own.saturation, name), getattr(random, f"saturation_{name}")
        if load is not None:
            row = LimitBeside(
                what=what.format(node=node),
                load=load,
                random=getattr(other, "mean", None),
                beaten=getattr(other, "beaten", None),
            )
            found.append(row)
    return found


def measured_at_random(
    mapped: MappedProgram,
    routing: Routing,
    place: Callable[[int], Ints],
    seed: int,
    many: int | None,
) -> tuple[tuple[RandomMapping, ...], Ints]:
    """Measure random mappings: figures of each, and int64[ν_max + 1], how often each ν occurs.

    None with given routes, which exist for the pairs of hosts of one mapping only.

    Parameters
    ----------
    mapped
        The program under another mapping.
    place
        Returns the host of each task, given a seed.
    seed
        The first seed, less 1.
    many
        How many. None: up to 25, as many as are measured in about 5 seconds.
    """
    graph, topology = mapped.graph, mapped.topology
    rows, counts = list[RandomMapping](), np.zeros(1, np.int64)
    mappings = MOST_RANDOM if many is None else many
    if isinstance(routing, SourceRoutes):
        return (), counts
    for each in track(range(1, mappings + 1), "random mappings"):
        if each > mappings:
            break
        host_of = place(seed + each)
        if not topology.crosses(host_of[graph.source], host_of[graph.target]).any():
            continue  # several tasks a node: nothing is left that crosses the network
        found = measured_program(graph, topology, routing, host_of, mapped.weights)
        if many is None and not rows:
            mappings = min(max(WORK // _work(found, routing), 1), MOST_RANDOM)
        rows.append(RandomMapping(seed=seed + each, own=found.figures()))
        more = counted_contention(found)
        longest = max(len(counts), len(more))
        counts = np.pad(counts, (0, longest - len(counts)))
        counts[: len(more)] += more
    return tuple(rows), counts


def _work(mapped: MappedProgram, routing: Routing) -> int:
    """Return what measuring one mapping costs, in units of 1 to 2.5 ns.

    Dimension order is counted path by path. Other paths are compared channel by channel, each with
    all others there.
    """
    found = mapped.contention
    work = PATH_WORK * len(found.moving) + 20 * len(found.channel_bandwidth)
    if mapped.by_path is not None and not isinstance(routing, DimensionOrder):
        work += int(found.meetings)
    return max(work, 1)


def over_random(own: MappedFigures, random: Sequence[RandomMapping]) -> RandomFigures:
    """Return each figure over random mappings. An estimate that some lack is left out."""
    found = dict[str, OfRandom]()
    for each in leaves(MappedFigures) if random else ():
        values = [each.of(one.own) for one in random]
        if None not in values:
            better = -1 if each.name.startswith("saturation") else 1
            found[each.name] = OfRandom(
                mean=float(np.mean(values)),
                min=min(values),
                max=max(values),
                beaten=sum(better * value > better * each.of(own) for value in values),
            )
    return RandomFigures(**found)


def all_alike(mapped: MappedProgram, host_of: Ints, places: int, tasks_per_node: int) -> bool:
    """Return whether every mapping gives this one's traffic between nodes.

    So it is if each task sends the same to every other, and tasks fill all ``places``.
    """
    graph, tasks = mapped.graph, mapped.graph.num_tasks
    sent = mapped.weights[graph.source != graph.target]
    return bool(
        len(sent) == tasks * (tasks - 1)
        and sent.min(initial=np.inf) == sent.max(initial=-np.inf)
        and tasks == places
        and np.bincount(host_of).max() == tasks_per_node
    )


def estimated(mapped: MappedProgram, routing: Routing) -> MeshEstimate | None:
    """Return table 3.1, which is for dimension order on square meshes."""
    network, graph = mapped.topology, mapped.graph
    own = cube_of_hosts(network) if isinstance(routing, DimensionOrder) else None
    if own is None or any(own[0].wraps) or own[0].sides != own[0].sides[:1] * 2:
        return None
    return estimate_mesh(network.num_hosts, graph.num_edges / graph.num_tasks)


def expected(mapped: MappedProgram, routing: Routing) -> Expectation | None:
    """Return the exact expectations of a random mapping of one task per host, or None."""
    network, graph = mapped.topology, mapped.graph
    own, enough = cube_of_hosts(network), network.even and network.num_hosts >= 4
    if own is None or not (isinstance(routing, DimensionOrder) and enough):
        return None
    with patience(f"Working out what random mappings do to {graph.num_edges:,} paths"):
        return expect_random(own[0], routing, graph.source, graph.target)
