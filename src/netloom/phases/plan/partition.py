"""Connections into phases: which, by which routes, in how few and how short ones.

Patterns that look alike from every node of a torus are packed as whole permutations. All
connections over one displacement, one from each node, take the same number of virtual channels of
every node and load all channels of one direction alike. So a phase is a set of such permutations,
and what was a routing problem is bin packing. All-to-all on a torus of 8x8 is 63 of them, where the
general router sees 4,032 connections. Any other connections get routes by negotiation, and move
between phases afterwards so that these last less long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.contention.messages import ConSetCosts
from netloom.phases.plan.plans import (
    Capacity,
    Connections,
    Plan,
    arrivals,
    hops_to,
    least_clocks,
    least_phases,
    ranks,
    wired,
)
from netloom.routing import Paths
from netloom.topology import Cube, Topology
from netloom.workload.programs.messages import Lists, grouped

Attempt: TypeAlias = Callable[[int], Plan | None]

Method: TypeAlias = Literal["auto", "symmetric", "negotiated", "sequential"]
Objective: TypeAlias = Literal["phases", "time"]

STEP = 1.04
"""From one number of phases to the next, where more phases may take less time, ..."""

PATIENCE = 5
"""... until so many did not."""

IMPATIENCE = 4
"""Numbers of phases that are tried for a symmetric pattern before it is taken as any other."""

HURRY = 100
"""After f failures the next number of phases is higher by 1, and by f / HURRY of itself."""


def partition(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    *,
    costs: ConSetCosts | None = None,
    method: Method = "auto",
    objective: Objective = "phases",
    seed: int = DEFAULT_SEED,
) -> Plan:
    """Return connections in phases that the hardware can hold, each with its route.

    Parameters
    ----------
    given, topology, capacity
        What to connect, where, and how many connections a node or channel holds.
    costs
        Of context switches and words. IWarp's by default.
    method
        ``symmetric``: patterns that look alike from every node of a torus, as whole permutations.
        ``negotiated``: any pattern, by prices of places that are too full, and then by moving
        connections between phases until these last less long. ``sequential``: the paper's APR,
        as it is. ``auto``: the first that the pattern is fit for, or the second.
    objective
        ``phases``: as few as can be found, then as short as can be found. ``time``: as many as
        make the time of all phases and the switches between them least.
    seed
        Of what is left to chance.

    Raises
    ------
    InputError
        If the order of connections is a circle, or the method does not fit the pattern.
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.phases import Capacity, connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:16"), np.arange(16), 16)
    >>> partition(everyone, torus(4, 4), Capacity(12))
    <240 connections in 4 phases on torus:4x4, at most 12 of 12 virtual channels a node, symmetric>
    """
    ranks(given)
    least = least_phases(given, topology, capacity).phases
    if not len(given):
        nothing = Paths(np.zeros(1, np.int64), np.zeros(0, np.int32))
        return Plan(topology, given, capacity, np.zeros(0, np.int32), nothing, "none")
    costs = costs if costs is not None else ConSetCosts()
    ways = {
        "symmetric": _symmetric(given, topology, capacity, costs, seed),
        "negotiated": _negotiated(given, topology, capacity, costs, seed),
        "sequential": lambda phases: sequential(given, topology, capacity, phases, seed=seed),
    }
    for name in ("symmetric", "negotiated") if method == "auto" else (method,):
        found = _fewest(ways[name], least, len(given), patient=name != "symmetric")
        if found is not None and objective == "time":
            found = _shortest(ways[name], found, costs, least_clocks(given, topology, costs))
        if found is not None:
            return balanced(found, costs, seed=seed) if name == "negotiated" else found
    wanted = "a pattern that looks alike from every node of a torus or hypercube, without an order"
    raise InputError("method 'symmetric'", given.name, wanted)


def _symmetric(
    given: Connections, topology: Topology, capacity: Capacity, costs: ConSetCosts, seed: int
) -> Attempt:
    """Return what packs whole and halved permutations, and takes the shorter phases."""
    if not isinstance(topology, Cube):
        return lambda _: None
    both = [
        sets
        for halved in (False, True)
        if (sets := permutations(given, topology, capacity, costs, halved=halved)) is not None
    ]

    def attempt(phases: int) -> Plan | None:
        plans = [pack_permutations(given, topology, capacity, s, phases, seed=seed) for s in both]
        packed = [plan for plan in plans if plan is not None]
        return min(packed, key=lambda plan: phase_clocks(plan, costs).sum(), default=None)

    return attempt


def _negotiated(
    given: Connections, topology: Topology, capacity: Capacity, costs: ConSetCosts, seed: int
) -> Attempt:
    """Return what negotiates routes, and makes phases somewhat shorter.

    Equal connections are tried twice: as they come, and sorted into phases by their colors.
    """
    from netloom.phases.kernels.partition import edge_colouring

    colour: Ints | None = None
    if not len(given.before) and len(np.unique(given.words)) == 1:
        # As many colors as the busiest processor sends or receives connections: no fewer will do
        # (König's theorem). Phases of whole colors waste no processor's time.
        colours = max(int(np.bincount(end).max()) for end in (given.source, given.target))
        nodes = topology.num_hosts
        ends = given.source.astype(np.int64), nodes + given.target.astype(np.int64)
        colour = edge_colouring(*ends, 2 * nodes, colours)

    def attempt(phases: int) -> Plan | None:
        homes: list[Ints | None] = [None]
        if colour is not None:
            homes.append(colour * phases // (int(colour.max()) + 1))
        plans = [negotiated(given, topology, capacity, phases, seed=seed, home=h) for h in homes]
        even = [
            balanced(plan, costs, seed=seed, most_moves=FEW_MOVES)
            for plan in plans
            if plan is not None
        ]
        return min(even, key=lambda plan: phase_clocks(plan, costs).sum(), default=None)

    return attempt


def _fewest(attempt: Attempt, least: int, most: int, *, patient: bool) -> Plan | None:
    """Return the plan of the fewest phases that an attempt finds. None where it finds none soon."""
    phases, failed = least, 0
    while failed < IMPATIENCE or patient:
        found = attempt(min(phases, most))
        if found is not None:
            return found
        assert phases < most or not patient, "each connection fits into a phase of its own"
        failed += 1
        phases += 1 + phases * failed // HURRY
    return None


def _shortest(attempt: Attempt, first: Plan, costs: ConSetCosts, floor: float) -> Plan:
    """Return the plan that takes least time, of those with as many phases as the first or more."""
    best, least = first, _total(first, costs)
    phases, worse = first.num_phases, 0
    while worse < PATIENCE:
        phases = max(phases + 1, int(phases * STEP))
        if phases * costs.switch_clocks + floor >= least or phases > len(first.connections):
            break
        plan = attempt(phases)
        if plan is not None and _total(plan, costs) < least:
            best, least, worse = plan, _total(plan, costs), 0
        else:
            worse += 1
    return best


def _total(plan: Plan, costs: ConSetCosts) -> float:
    """Return the clocks of all phases and the switches between them."""
    return plan.num_phases * costs.switch_clocks + float(phase_clocks(plan, costs).sum())


TRIES = 1_000_000
"""Moves that annealing tries for the first hundred permutations. In proportion for more."""

PACKING_HEAT, PENALTY = 0.3, 1.0
"""Of annealing, in largest loads of one permutation: its temperature at first, and the price of a
virtual channel too many."""


class Permutations(NamedTuple):
    """The connections of a pattern in sets that go into one phase together."""

    # The connections of each set: one from each node, or from each second one.
    members: list[Ints]
    # int64[sets, kinds], the virtual channels that each set takes of each kind of node or channel:
    # those that all sets treat alike are one kind.
    sizes: Ints
    # float64[sets, kinds], the clocks for which each set keeps a kind of channel or processor busy.
    weights: Floats
    routes: Paths  # the path of every connection


def permutations(
    given: Connections, topology: Cube, capacity: Capacity, costs: ConSetCosts, *, halved: bool
) -> Permutations | None:
    """Return a pattern's sets and their routes. None if it does not look alike from every node.

    Paths go by dimension order. Half-way round a ring they go either way, from nodes in turn.

    Parameters
    ----------
    halved
        Whether a set holds the connections of each second node, as on a chessboard. Such halves
        fill phases better. None is returned where a side is odd.
    """
    even = all(side % 2 == 0 for side in topology.sides if side > 1)
    shape = zip(topology.sides, topology.wraps, strict=True)
    closed = all(wraps or side <= 2 for side, wraps in shape)  # all nodes have like neighbours
    if not closed or len(given.before) or (halved and not even):
        return None
    ends = [np.array(np.unravel_index(end, topology.sides)) for end in (given.source, given.target)]
    apart = (ends[1] - ends[0]) % np.array(topology.sides)[:, None]
    by_node = np.lexsort((given.source, given.words, *apart))
    kinds = np.vstack([apart, given.words[None]])[:, by_node]
    changes = np.flatnonzero((kinds[:, 1:] != kinds[:, :-1]).any(axis=0)) + 1
    alike = np.split(by_node, changes)  # by displacement and words
    everywhere = np.arange(topology.num_hosts)
    if not all(np.array_equal(given.source[one], everywhere) for one in alike):
        return None
    routed: list[Ints] = [np.zeros(0, np.int64)] * len(given)
    sets, held, busy, nodes = [], [], [], topology.num_hosts
    colour = np.sum(np.unravel_index(given.source, topology.sides), axis=0) % 2
    for one in alike:
        hops = _paths(topology, given.source[one], int(given.target[one[0]]))
        for connection, path in zip(one.tolist(), hops, strict=True):
            routed[connection] = path
        parts = [colour[one] == 0, colour[one] == 1] if halved else [np.ones(len(one), bool)]
        for part in parts:
            sets.append(one[part])
            passed = topology.channel_target[hops[part][:, :-1]].ravel()
            visited = given.source[one[part]], given.target[one[part]], passed
            on_nodes = np.array([np.bincount(at, minlength=nodes) for at in visited])
            on_channels = np.bincount(hops[part].ravel(), minlength=topology.num_channels)
            held.append(on_nodes.sum(0) if capacity.per == "node" else on_channels)
            access = on_nodes[:2].ravel() if costs.both_ways else on_nodes[0] + on_nodes[1]
            each = access * costs.clocks_per_word, on_channels * costs.channel_clocks_per_word
            busy.append(np.concatenate(each) * given.words[one[0]])
    offsets = np.cumsum([0, *map(len, routed)])
    channels = np.concatenate(routed).astype(np.int32)
    sizes, weights = (  # in one layout, so that the kernel is compiled once
        np.ascontiguousarray(np.unique(rows, axis=1)) for rows in (np.array(held), np.array(busy))
    )
    return Permutations(sets, sizes, weights, Paths(offsets, channels))


def pack_permutations(
    given: Connections,
    topology: Cube,
    capacity: Capacity,
    sets: Permutations,
    num_phases: int,
    *,
    seed: int = 1,
) -> Plan | None:
    """Return a plan of so many phases that last as short as could be found. None without one.

    Sets of connections are packed into phases by simulated annealing.
    """
    from netloom.phases.kernels.partition import pack

    if num_phases > len(sets.members) or sets.sizes.max() > capacity.virtual_channels:
        return None
    unit = max(float(sets.weights.max(axis=1).mean()), 1e-9)
    rng = np.random.default_rng(seed)
    phase_of = rng.integers(0, num_phases, len(sets.members))
    tries, limit = TRIES * max(1, len(sets.members) // 100), capacity.virtual_channels
    of = sets.sizes, sets.weights / unit, limit, num_phases, tries
    if pack(*of, PACKING_HEAT, PENALTY, rng, phase_of):
        return None
    phase = np.empty(len(given), np.int32)
    numbers = np.unique(phase_of, return_inverse=True)[1]
    for members, number in zip(sets.members, numbers.tolist(), strict=True):
        phase[members] = number
    return Plan(topology, given, capacity, phase, sets.routes, "symmetric")


def _paths(topology: Cube, source: Ints, target_of_first: int) -> Ints:
    """Return int64[nodes, hops], the channels from every node over the displacement of node 0."""
    at, hops = source.astype(np.int64), []
    coordinates = np.unravel_index(at, topology.sides)
    for axis, apart in enumerate(topology.coordinates(target_of_first)):
        side = topology.sides[axis]
        falling = np.full(len(at), 2 * apart > side)
        if 2 * apart == side:
            falling = coordinates[axis] % 2 == 1
        leaving = np.full((2, topology.num_hosts), -1, np.int64)  # rising and falling, by node
        lines = topology.num_hosts // side
        for direction in range(2):
            first = topology.line_base[axis, direction]
            channels = np.arange(first, first + lines * topology.line_channels[axis])
            leaving[direction, topology.channel_source[channels]] = channels
        for _ in range(min(apart, side - apart)):
            hops.append(leaving[falling.astype(np.int64), at])
            at = topology.channel_target[hops[-1]].astype(np.int64)
    return np.array(hops, np.int64).reshape(-1, len(at)).T


ROUNDS = 60
"""Most rounds of negotiation for one number of phases."""

STALE_ROUNDS = 12
"""Rounds without progress after which negotiation gives up."""

FIRST_PRESSURE, PRESSURE_GROWTH, MOST_PRESSURE = 0.5, 1.3, 50.0
"""The price of a place too full, as a multiple, and its growth from round to round."""

HISTORY_GROWTH = 0.3
"""What a place's price gains for good with each round and each path too many."""

RIP_UPS, RIPPED = 10, 0.25
"""Rounds of ripping up and rerouting in sequential routing, and the share ripped up in each."""

FEW = 16
"""Most connections without a route for which another round is tried although the last one left no
fewer. If there are more, random retries do not find room for all of them."""


class State(NamedTuple):
    """Routes so far, and what they make places cost.

    ``use``, ``price`` and ``history`` have a row per phase and a column per place. The price of a
    place is (1 + history) × ``table[use]``. ``phase`` is -1 without a route. The first
    ``lengths[i]`` of ``routes[i]`` are the channels of connection i.
    """

    use: Ints
    price: Floats
    history: Floats
    table: Floats
    phase: Ints
    routes: Ints
    lengths: Ints


class Task(NamedTuple):
    """What kernels know: the network, who is to be joined, and in which order."""

    # Ends and outgoing channels, places, distances, and room to search; see
    # ``routing.kernels.priced_paths``. Last, room for a path of the most hops.
    net: tuple[NDArray[np.generic], ...]
    scratch: tuple[NDArray[np.generic], ...]
    surcharge: Floats  # float64[num_channels], 0
    ends: tuple[Ints, Ints]  # sources and targets
    before: Lists  # for each connection those that come before it
    after: Lists  # and after it
    # int64[n], the order in which connections are routed: in their own order, the longest first.
    turn: Ints
    places: int  # how many places have a capacity


class Load(NamedTuple):
    """What keeps phases busy: clocks of processors, then of channels."""

    busy: Floats  # float64[phases, processors and channels]
    heights: Floats  # float64[phases], the most of each row
    squares: Floats  # float64[phases], the sum of the squares of each row
    stale: Bools  # bool[phases], whether something as busy as the height has become less so
    unit: float  # of squares
    places: tuple[int, int]  # at which receivers, then channels begin in a row
    # for each connection, the clocks that it keeps a processor, then a channel busy
    clocks: tuple[Floats, Floats]


def task_of(given: Connections, topology: Topology, capacity: Capacity, seed: int) -> Task:
    """Return what kernels need."""
    distance, net = hops_to(topology), wired(topology)
    target = (given.target + arrivals(topology)).astype(np.int32)
    hops = distance[target, given.source].astype(np.int64)
    count, channels, nodes = net.num_routers, net.num_channels, np.arange(net.num_routers)
    per_node = capacity.per == "node"
    enters = topology.target_end if per_node else np.arange(channels)
    starts = nodes % topology.num_ends if per_node else np.full_like(nodes, -1)
    longest = int(distance[np.isfinite(distance)].max(initial=1))
    ends = net.channel_source, net.channel_target
    places = enters.astype(np.int64), starts.astype(np.int64)
    tie = np.random.default_rng(seed).random(len(given))
    at_nodes = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.int64)
    heap = np.zeros(channels + count + 1), np.zeros(channels + count + 1, np.int64)
    path = np.zeros(min(count, 3 * longest + 4), np.int32)
    return Task(
        net=(*ends, *net.outgoing(), *places, distance),
        scratch=(*at_nodes, *heap, np.zeros(count, np.bool_), path),
        surcharge=np.zeros(channels),
        ends=(given.source, target),
        before=grouped(given.after, given.before, len(given)),
        after=grouped(given.before, given.after, len(given)),
        turn=np.lexsort((tie, -hops, ranks(given))),
        places=capacity.places(topology),
    )


def negotiated(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    num_phases: int,
    *,
    seed: int = 1,
    home: Ints | None = None,
) -> Plan | None:
    """Return a plan of so many phases, found by negotiated congestion. None where it gives up.

    All connections are routed, each by its cheapest path, though places become too full. Then
    those through such places are routed again, round by round, while the prices of these places
    rise with every round in which they stay too full (PathFinder: McMurchie & Ebeling 1995),
    over the copies of the network that the phases are (Feldmann et al. 1993, section 4.4.1).

    ``seed`` is of the order in which connections are routed. ``home``: int64[n], the phase that
    each connection should be in, if that costs little.
    """
    from netloom.phases.kernels.partition import route

    task = task_of(given, topology, capacity, seed)
    state = _state(task, len(given), num_phases)
    rng, limit = np.random.default_rng(seed), capacity.virtual_channels
    turn, pressure, least, since = task.turn, FIRST_PRESSURE, np.inf, 0
    home = np.full(len(given), -1) if home is None else home
    for _ in range(ROUNDS):
        state.table[:] = 1.0 + pressure * np.maximum(0, np.arange(len(state.table)) + 1 - limit)
        state.price[:] = (1.0 + state.history) * state.table[state.use]
        lost = route(task, state, turn, limit, home, False)  # noqa: FBT003 (a kernel)
        assert lost == 0, "every place can be had at a price"
        over = np.maximum(0, state.use - limit)
        if not over.any():
            return plan_of(given, topology, capacity, state, "negotiated")
        state.history[:] += HISTORY_GROWTH * over
        since = 0 if over.sum() < least else since + 1
        least = min(least, int(over.sum()))
        if since > STALE_ROUNDS:
            break
        pressure = min(pressure * PRESSURE_GROWTH, MOST_PRESSURE)
        turn = turn if len(given.before) else rng.permutation(turn)
    return None


def sequential(
    given: Connections, topology: Topology, capacity: Capacity, num_phases: int, *, seed: int = 1
) -> Plan | None:
    """Return a plan of so many phases by the paper's APR. None where it finds none.

    One connection after the other takes the cheapest path of all phases. A place costs 1 and one
    more for each path through it. A full place cannot be used. Then, several times, some
    connections are ripped up and rerouted after those without a route, as long as that leaves
    fewer, or few, without one. This is algorithm APR of Feldmann et al. 1993, section 4.4.1, which
    leaves costs and order open. These costs, with the longest first, are the best of those tried.
    Connections that come in an order take the first phase that has room for them, not the cheapest.

    ``seed`` is of the order in which connections of one length are routed.
    """
    from netloom.phases.kernels.partition import rip_up, route

    task = task_of(given, topology, capacity, seed)
    state = _state(task, len(given), num_phases)
    rng, limit, ordered = np.random.default_rng(seed), capacity.virtual_channels, len(given.before)
    state.table[:] = 1.0 + np.arange(len(state.table))
    state.table[limit:] = np.inf
    state.price[:] = 1.0
    turn, nowhere, most = task.turn, np.full(len(given), -1), np.inf
    for again in range(RIP_UPS + 1):
        left = route(task, state, turn, limit, nowhere, bool(ordered))
        if left == 0:
            return plan_of(given, topology, capacity, state, "sequential")
        if ordered or again == RIP_UPS or left >= most:
            break
        most = max(FEW, left)
        lost = state.phase < 0
        rip_up(task, state, np.flatnonzero(rng.random(len(lost)) < RIPPED))
        turn = np.concatenate([task.turn[lost[task.turn]], task.turn[~lost[task.turn]]])
    return None


def _state(task: Task, connections: int, num_phases: int) -> State:
    """Return a state without routes."""
    places = num_phases, task.places
    return State(
        use=np.zeros(places, np.int32),
        price=np.ones(places),
        history=np.zeros(places),
        table=np.ones(connections + 2),
        phase=np.full(connections, -1, np.int32),
        routes=np.zeros((connections, len(task.scratch[-1])), np.int32),
        lengths=np.zeros(connections, np.int32),
    )


def plan_of(
    given: Connections, topology: Topology, capacity: Capacity, state: State, method: str
) -> Plan:
    """Return the plan of a state in which all is well. Phases without connections are left out."""
    offsets = np.append(0, np.cumsum(state.lengths, dtype=np.int64))
    channels = state.routes[np.arange(state.routes.shape[1]) < state.lengths[:, None]]
    phase = np.unique(state.phase, return_inverse=True)[1].astype(np.int32)
    return Plan(topology, given, capacity, phase, Paths(offsets, channels), method)


MOVES = 1000
"""Moves that are tried for each connection, ..."""

LEAST_MOVES, MOST_MOVES, FEW_MOVES = 40_000, 1_000_000, 100_000
"""... but at least and at most so many in all. Few where plans are only compared."""

BALANCING_HEAT = 0.05
"""Of annealing at first, in clocks of a mean connection."""


def phase_clocks(plan: Plan, costs: ConSetCosts) -> Floats:
    """Return float64[num_phases], the clocks of each phase's busiest processor or channel.

    No timetable of the phase can be shorter. Words of many connections interleaved come close.
    """
    return np.asarray(_busy(plan, costs)[0].max(axis=1, initial=0.0))


def balanced(
    plan: Plan, costs: ConSetCosts, *, seed: int = 1, most_moves: int = MOST_MOVES
) -> Plan:
    """Return a plan of as many phases or fewer that last less long, or the same plan.

    Connections are moved to other phases and routes, or change places, by simulated annealing of
    the sum over all phases of what their busiest processor or channel has to do.

    The plan keeps all capacities. At most ``most_moves`` are tried.
    """
    from netloom.phases.kernels.partition import balance

    given, topology = plan.connections, plan.topology
    busy, receivers = _busy(plan, costs)
    before = float(busy.max(axis=1, initial=0.0).sum())
    if plan.num_phases < 1 or before <= least_clocks(given, topology, costs):
        return plan
    task = task_of(given, topology, plan.capacity, seed)
    state = _state(task, len(given), plan.num_phases)
    state.use[:] = plan.use()
    state.phase[:], state.lengths[:] = plan.phase, plan.routes.lengths
    width = np.arange(state.routes.shape[1])
    state.routes[width < state.lengths[:, None]] = plan.routes.channels
    state.table[plan.capacity.virtual_channels :] = np.inf
    state.price[:] = state.table[state.use]
    words = given.words.astype(np.float64)
    load = Load(
        busy,
        np.zeros(plan.num_phases),
        (busy**2).sum(axis=1),
        np.ones(plan.num_phases, np.bool_),
        max(1e-9, float(busy.sum()) / plan.num_phases),
        (receivers - arrivals(topology), receivers + topology.num_hosts),
        (words * costs.clocks_per_word, words * costs.channel_clocks_per_word),
    )
    moves = min(most_moves, max(LEAST_MOVES, MOVES * len(given)))
    heat = BALANCING_HEAT * float(words.mean()) * costs.clocks_per_word
    room = np.zeros((3, len(width)), np.int32)
    balance(task, state, load, room, moves, heat, np.random.default_rng(seed))
    after = plan_of(given, topology, plan.capacity, state, plan.method)
    return after if load.heights.sum() < before else plan


def _busy(plan: Plan, costs: ConSetCosts) -> tuple[Floats, int]:
    """Return float64[phases, processors + channels] in clocks, and where receivers begin."""
    given, topology = plan.connections, plan.topology
    receivers = topology.num_hosts if costs.both_ways else 0
    processors = receivers + topology.num_hosts  # or halves of them
    clocks = given.words * costs.clocks_per_word
    hops, width = plan.routes.lengths, processors + topology.num_channels
    start = plan.phase.astype(np.int64) * width
    channels = np.repeat(start, hops) + processors + plan.routes.channels
    at = np.concatenate([start + given.source, start + receivers + given.target, channels])
    on_channels = np.repeat(given.words * costs.channel_clocks_per_word, hops)
    busy = np.bincount(
        at, np.concatenate([clocks, clocks, on_channels]), minlength=plan.num_phases * width
    )
    return busy.astype(np.float64).reshape(-1, width), receivers
