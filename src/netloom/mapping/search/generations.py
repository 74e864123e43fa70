"""A mapping with little contention, for any program on any network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.allocation import nodes_for_tasks
from netloom.mapping.search.bounds import least
from netloom.mapping.search.objectives import Measure, measure_by, objective_of
from netloom.mapping.search.rounds import (
    Clock,
    Round,
    SearchArrays,
    run_round,
    search_arrays,
    warm_up,
)
from netloom.mapping.search.starts import check_room, random_starts, starts_of
from netloom.routing import Routing, parse_routing
from netloom.simulation.side_by_side import run_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

CLOSE = 1e-9
"""Relative distance from a bound that is none."""

KNOWN = 4
"""Mappings to start from that are annealed."""

GENERATION = 4
"""Rounds that begin together, on any number of processors, from what all before them have found."""


@dataclass(frozen=True, eq=False)
class FoundMapping:
    """The best mapping that a search found, and what it is compared with.

    Attributes
    ----------
    node_of
        int32[num_tasks], the node of each task.
    objective
        As it was asked for.
    value
        Of the objective: the smaller, the better (see ``objectives``).
    bound
        Below which no mapping comes; 0 where nothing better is known.
    starts
        The value of every mapping that the search started from, and of random ones: ``random``,
        their mean, and ``random_best``, the best.
    mappings
        Those mappings, and the best random one.
    found_by
        The start that is the best, or was made better. ``search`` for a mapping from nowhere.
    rounds
        Rounds of annealing that were finished.
    seconds
        Processor time that it took, of all threads together.
    interrupted
        Whether Ctrl-C ended it.
    """

    node_of: Ints
    objective: str
    value: float
    bound: float
    starts: dict[str, float]
    mappings: dict[str, Ints]
    found_by: str
    rounds: int
    seconds: float
    interrupted: bool


def search_mapping(
    app: ProcessGraph,
    topology: Topology,
    *,
    routing: str | Routing = "default",
    objective: str = "max-channel-load",
    weights: Floats | None = None,
    nodes: ArrayLike | None = None,
    tasks_per_node: int = 1,
    identity: Ints | None = None,
    seconds: float = 10.0,
    rounds: int | None = None,
    seed: int = DEFAULT_SEED,
) -> FoundMapping:
    """Return the best mapping of a program onto a network that is found with a given effort.

    It is never worse than any start. Starts are the identity, the best of 25 random mappings, a
    recursive bisection of program and network, an embedding with edges one channel long, and known
    layouts of such programs. Random mappings are annealed in turn with the best known ones: first
    those starts, then results of earlier rounds. A round first brings communicating tasks together,
    and then optimizes the objective. Annealing swaps the tasks of two places, and recomputes only
    what that changes.

    Of mappings with the same objective, that with fewer hop-bytes comes first, then that with less
    path contention. Identity stays where nothing is better. No mapping sends more bytes between
    nodes than identity.

    Parameters
    ----------
    app, topology, routing
        What is mapped, where, and how packets travel there.
    objective
        ``hop-bytes``, ``max-channel-load``, ``path-contention``, ``saturation``, or several with
        shares, such as ``hop-bytes:1,max-channel-load:2``. See ``objectives``.
    weights
        float64[num_edges], what edges carry. Their bytes by default.
    nodes
        The nodes that may be used, such as those of an allocation. All that work and run tasks by
        default.
    tasks_per_node
        Most tasks of a node.
    identity
        int32[num_tasks], the tasks in order, where they do not fill nodes by their numbers.
    seconds
        Processor time after which to end, of all threads together: so a loaded machine, which
        takes longer, finds as much.
    rounds
        Rounds of annealing after which to end, however long they take: with these, a seed decides
        all, on any number of processors.
    seed
        Of all that is left to chance.

    Raises
    ------
    InputError
        If the objective is not known, the tasks do not fit, nothing is sent, or the network is too
        large for its routing.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload import mesh
    >>> found = search_mapping(mesh(4, 4), torus(4, 4), objective="hop-bytes", rounds=1)
    >>> found.value, found.bound, found.rounds
    (48.0, 48.0, 0)
    """
    warm_up()
    began = thread_time()
    routed = parse_routing(routing, topology) if isinstance(routing, str) else routing
    carried = app.bytes if weights is None else np.asarray(weights, np.float64)
    allowed = _allowed(nodes, topology)
    check_room(app.num_tasks, allowed, tasks_per_node)
    if not carried.sum() > 0:
        raise InputError(app.name, "no traffic", "tasks that communicate")
    if not seconds > 0 or (rounds is not None and rounds < 0):
        raise InputError("seconds", f"{seconds:g}", "more than 0, and rounds of at least 0")
    if seed < 0:
        raise InputError("seed", f"{seed}", "a whole number of at least 0")
    wanted = objective_of(objective)
    first = np.repeat(allowed, tasks_per_node)[: app.num_tasks].astype(np.int32)
    if identity is not None:
        first = identity
    value_of = measure_by(wanted, app, topology, routed, carried, first, tasks_per_node)
    value_of = replace(value_of, most_between=value_of.between(first))
    arrays = search_arrays(
        app, topology, routed, carried, allowed, tasks_per_node, value_of.counted
    )
    bound = least(value_of, allowed, tasks_per_node)
    known, mappings, starts = _starts(value_of, carried, allowed, tasks_per_node, seed, first)
    best, ended = known[0], 0
    clock = Clock(np.inf if rounds is not None else seconds, bound * (1 + CLOSE))
    clock.spent[-1] = thread_time() - began
    if best.value > clock.enough:
        with patience(f"searching for {objective}"):
            best, ended = _search(arrays, value_of, known, clock, rounds, seed)
    return FoundMapping(
        node_of=best.node_of.astype(np.int32),
        objective=objective,
        value=best.value,
        bound=bound,
        starts=starts,
        mappings=mappings,
        found_by=best.name,
        rounds=ended,
        seconds=sum(clock.spent.values()),
        interrupted=clock.interrupted,
    )


def _allowed(nodes: ArrayLike | None, topology: Topology) -> Ints:
    """Return the nodes that may be used, each once."""
    if nodes is None:
        return nodes_for_tasks(topology)
    given = np.unique(np.asarray(nodes, np.int64))
    if not len(given) or given[0] < 0 or given[-1] >= topology.num_hosts:
        raise InputError("nodes", f"{given.tolist()[:8]}", f"numbers below {topology.num_hosts}")
    return given.astype(np.int32)


def _starts(
    value_of: Measure, weights: Floats, nodes: Ints, tasks_per_node: int, seed: int, identity: Ints
) -> tuple[list[Round], dict[str, Ints], dict[str, float]]:
    """Return the mappings to start from, as rounds, the best first. By name, and their values."""
    app, topology = value_of.app, value_of.topology
    drawn = list(random_starts(app.num_tasks, nodes, tasks_per_node, seed))
    values = [value_of(node_of) for node_of in drawn]
    mappings = dict(starts_of(app, topology, weights, nodes, tasks_per_node, seed))
    mappings["identity"] = identity
    mappings["random_best"] = drawn[int(np.argmin(values))]
    known = []
    for name, node_of in mappings.items():
        value, rank = value_of.ranked(node_of)
        known.append(Round(rank, value, -1, name, node_of.astype(np.int64)))
    starts = {one.name: one.value for one in known} | {"random": float(np.mean(values))}
    return sorted(known, key=lambda one: one.rank), mappings, starts


def _search(
    arrays: SearchArrays,
    value_of: Measure,
    known: list[Round],
    clock: Clock,
    rounds: int | None,
    seed: int,
) -> tuple[Round, int]:
    """Return the best of all, and the rounds that came to their end.

    Rounds begin in generations, so that what they begin from does not depend on which thread was
    the faster. The starts take turns with random mappings first, and then the best so far.
    """
    best, first, ended, number = known, known[:KNOWN], 0, 0
    while rounds is None or number < rounds:
        last = number + GENERATION if rounds is None else min(rounds, number + GENERATION)
        begun = [_begun(one, first, best) for one in range(number, last)]

        def work(one: int, start: Round | None) -> Callable[[Callable[[], bool]], Round]:
            name, node_of = ("search", None) if start is None else (start.name, start.node_of)
            return lambda stopped: run_round(
                arrays, value_of, one, name, node_of, clock, stopped, seed
            )

        found = run_all([work(*each) for each in begun])
        ended += sum(one.finished for one in found)
        best = _distinct([*best, *found])[:KNOWN]
        number = last
        if best[0].value <= clock.enough or len(found) < len(begun) or clock.over(lambda: False):
            break
    return best[0], ended


def _begun(number: int, first: list[Round], best: list[Round]) -> tuple[int, Round | None]:
    """Return a round's number, and what it begins from: nothing, every other time."""
    turn = number // 2
    if number % 2 == 0:
        return number, None
    return number, first[turn] if turn < len(first) else best[turn % len(best)]


def _distinct(found: list[Round]) -> list[Round]:
    """Return mappings in their order, the best first, one of each rank."""
    by_rank: dict[tuple[float, ...], Round] = {}
    for one in found:
        by_rank.setdefault(one.rank, one)
    return [by_rank[rank] for rank in sorted(by_rank)]
