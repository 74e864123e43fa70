"""Feldmann, Stricker & Warfel 1993: connections in phases on iWarp, predicted and simulated again.

What the paper predicts is computed by its formulas (tables 1 to 3, 5 and 6), what it measured is
simulated flit by flit. A figure's printed points are bandwidths of the clocks in its table, by the
formula of section 5.1.

The meshes of its finite elements (tables 4 and 6) are not known: those here are of about their
sizes. gmsh generated them and METIS partitioned them (``netloom_papers.meshes.finite_elements``).
Parts, words and neighbours are kept in the data folder.

``execution.message_passing`` is of wormhole routers in general. Here is what the text says of
iWarp's (sections 4.3, 4.3.1 and 5):

- Routes are deterministic: dimension order, half-way round a ring always towards growing numbers,
  as all fixed routes in netloom.
- A channel has one logical channel for each of three pools: 12 for messages, in four directions.
  A message is launched in pool 0, and in the next one from each dateline on that it crosses.
- A processor receives one message at a time. It begins with c_r clocks of its own: until they are
  over, the message stays in the network, and so do those that have come behind it.

If all messages are in one pool, channels carry one message's words at a time, so that a waiting
message blocks others. To stay in the network for c_r clocks, a message is that many words longer.
It then holds its logical channels for exactly this time. But it takes turns on the channels with
messages of other pools, which on the machine could use them alone meanwhile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import as_file, files
from itertools import pairwise, product
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.contention.messages import ConSetCosts, MessageCosts
from netloom.mapping import gray
from netloom.phases import least_clocks, least_phases
from netloom.phases.execution import completed, execute, side_by_side
from netloom.phases.plan import plans
from netloom.phases.timetables import Timetable, schedule
from netloom.phases.violations import verify
from netloom.routing import DimensionOrder, VirtualChannelRouting, all_routes, paths
from netloom.routing.virtual_channel_tables import path_routing
from netloom.simulation.network.engine import NetworkProgram
from netloom.simulation.network.routers import router
from netloom.topology import Cube, mesh as mesh_network, torus
from netloom.workload import read
from netloom.workload.programs.messages import messages
from netloom.workload.traffic.stream import LONGEST
from netloom_papers.exhibits import COMPUTED, PRINTED, Cell, curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made, published

PAPER = "feldmann"

PATTERNS = {1: "torus", 2: "butterfly", 3: "all-to-all"}
"""What tables 1 to 3 are of. Figures 2 to 4 show the same."""

WORDS = (32, 256, 2048, 16384)
SERIES = ("ConSet", "message passing")

OF_ELEMENTS = {
    "table 6, ConSet predicted": "ConSet, predicted",
    "table 6, measured": "ConSet, measured",
    "table 6, message passing predicted": "message passing, predicted",
}
NOT_COMPUTED = "message passing, measured"
"""Columns of table 6, and series of figure 6."""

MESSAGES = "simulating messages"
BANDWIDTH = "aggregate bandwidth, MB/s"

CELLS, CLOCK_MHZ, WORD_BYTES = 64, 20.0, 4
"""Of the machine that was measured."""

SPARSE = ConSetCosts(clocks_per_word=10.0, both_ways=False)
"""A processor that gathers words from sparse matrices, or scatters them (section 5.2)."""

IWARP = torus(8, 8)

TWELVE = plans.Capacity(12)
"""The logical channels of a cell that connections had."""

PAPER_PHASES = 30
"""Of all-to-all, in the paper's plan."""

TRANSFERS = ConSetCosts(sync_clocks=0.0, phase_clocks=0.0)
"""Of transfers alone. What a phase takes besides is added as ``overhead_of`` has it."""

WITH_HEADER = MessageCosts(header_words=8)
"""Messages as the machine sends them: header and trailer are in section 4.3.1, but in none of the
predictions."""

ROUTER = router("single-cycle", vcs=3)
"""Three pools. A word per cycle on each channel, which is 2 clocks, and 2 cycles per hop."""

DATA = files("netloom_papers.studies").joinpath("data", "feldmann")

MESHES = ("m11k", "c10k", "c100k", "q20k")


def words_of(quantity: str) -> int:
    """Return the words of a row such as ``ConSet, 256 words``: the last number in it.

    Examples
    --------
    >>> words_of("ConSet, 16384 words, computed with 16348")
    16348
    """
    return int(re.findall(r"\d+", quantity)[-1])


def bandwidth(words: ArrayLike, clocks: float) -> float:
    """Return MB/s of words that all cells together move in so many clocks (section 5.1).

    Examples
    --------
    >>> round(bandwidth(64 * 133, 5352), 2)
    127.23
    """
    return float(np.sum(words)) * WORD_BYTES * CLOCK_MHZ / clocks


# Predictions.


FELDMANN_1993 = ConSetCosts(sync_clocks=344.0)
"""The costs that Tables 1-3 were computed with: a switch of 520 clocks, where the text of
section 4.2.1 has 352 + 176 = 528 and Table 6 agrees with the text."""


def regular_conset_clocks(phases: int, sends: int, words: int, costs: ConSetCosts) -> float:
    """Return the clocks of a pattern in which all processors do the same: T = P t_switch + b n k.

    Tables 1-3, with (P, n) = (1, 4) for the torus, (2, 6) for the butterfly and (30, 63) for
    all-to-all, and ``FELDMANN_1993`` as costs. Four of their twelve entries are misprints: 16909
    for 16904, 19631 for 19632, and the last rows of Tables 2 and 3, which take 16348 words for
    16384. The formula supposes that every phase is balanced: no processor has more to send in it
    than another.

    Parameters
    ----------
    phases
        P.
    sends
        n, connections of a processor, over all phases. As many come in.
    words
        k, words of a connection.
    costs
        Of the machine.

    Examples
    --------
    >>> regular_conset_clocks(2, 6, 256, FELDMANN_1993)
    4112.0
    """
    return phases * costs.switch_clocks + costs.clocks_per_word * sends * words


def message_passing_clocks(messages: int, words: int, costs: MessageCosts) -> float:
    """Return the clocks in which all processors send and receive messages of the same length.

    T = m (c_s + c_r + a k): while a processor sends one message it receives another, so that
    their transfers overlap and only one is counted. All entries of Tables 1-3, with m = 4, 6 and
    64. All-to-all counts 64 messages, but 63 connections.

    Parameters
    ----------
    messages
        m, that each processor sends, and receives.
    words, costs
        As for ``regular_conset_clocks``.

    Examples
    --------
    >>> message_passing_clocks(4, 16384, MessageCosts())
    134272.0
    """
    overhead = costs.send_clocks + costs.receive_clocks
    return messages * (overhead + costs.clocks_per_word * words)


def fitted_finite_element_clocks(degree: int, most_words: int) -> float:
    """Return 816 deg + 14 c_max: what Table 6 predicts for finite elements by message passing.

    **A fit** to its four entries, which it misses by 0.4 % at most, and not the paper's formula,
    which is not printed. One reading: 816 = 2 (400 + 4 words × 2) for a message each way, 14 = 10
    to receive and scatter a word, 2 to copy it and 2 to send it.

    Parameters
    ----------
    degree
        deg, the most connections out of, or into, a processor.
    most_words
        c_max, the most words that a processor sends, or receives.

    Examples
    --------
    >>> fitted_finite_element_clocks(8, 133)
    8390.0
    """
    return 816.0 * degree + 14.0 * most_words


def _predicted(known: Known) -> Found:
    for quantity in known["values"]:
        words = words_of(quantity)
        if quantity.startswith("ConSet"):
            clocks = regular_conset_clocks(known["phases"], known["sends"], words, FELDMANN_1993)
        else:
            clocks = message_passing_clocks(known["messages"], words, MessageCosts())
        yield quantity, clocks


def _finite_elements(known: Known) -> Found:
    """528 P + 10 W, for the whole number W that comes nearest: the rows name it."""
    for quantity in known["values"]:
        yield quantity, _in_phases(_first(quantity), SPARSE.switch_clocks)


def _in_phases(mesh: str, overhead: float) -> float:
    """Return the clocks of a mesh: P times what a phase takes, and 10 W for its words.

    W is what the timetables of all phases come to. It is not printed, but inferred from table 6's
    predictions, which were made so.
    """
    known = published(PAPER)["items"]["table 6, ConSet predicted"]
    (words,) = (words_of(each) for each in known["values"] if _first(each) == mesh)
    return float(known["meshes"][mesh]["phases"] * overhead + SPARSE.clocks_per_word * words)


def _finite_element_messages(known: Known) -> Found:
    for mesh, facts in known["meshes"].items():
        yield mesh, fitted_finite_element_clocks(facts["degree"], facts["most_words"])


def _bandwidths(known: Known) -> Found:
    for mesh, facts in known["meshes"].items():
        yield f"{mesh}, MB/s", bandwidth(CELLS * facts["most_words"], facts["clocks"])


# Patterns.


@cache
def pattern(name: str, words: int) -> plans.Connections:
    """Return ``torus``, ``butterfly`` or ``all-to-all``: connections in the order of their use.

    On a torus each node sends E, W, N, S. The butterfly is a hypercube whose tasks lie in Gray
    code, and are used dimension by dimension. ``torus`` and ``butterfly`` are listed so.
    """
    specs = {"torus": "torus:8x8", "butterfly": "hypercube:6", "all-to-all": "all-to-all:64"}
    app = read(specs[name])
    node_of = gray(64, IWARP) if name == "butterfly" else np.arange(64)
    given = plans.connections(app, node_of, 64, words=words)
    if name == "all-to-all":
        return given
    order = np.argsort(_directions(given) if name == "torus" else dimensions(given), kind="stable")
    columns = ("source", "target", "words", "source_task", "target_task")
    return replace(given, **{each: getattr(given, each)[order] for each in columns})


def dimensions(given: plans.Connections) -> Ints:
    """Return int64[n], the dimension of a hypercube that each connection joins tasks across.

    Examples
    --------
    >>> np.bincount(dimensions(pattern("butterfly", 1))).tolist()
    [64, 64, 64, 64, 64, 64]
    """
    found: Ints = np.log2(given.source_task ^ given.target_task).astype(np.int64)
    return found


def _directions(given: plans.Connections) -> Ints:
    """Return int64[n], the place of each connection's direction in E, W, N, S."""
    ends = (np.unravel_index(nodes, IWARP.sides) for nodes in (given.target, given.source))
    rows, columns = (np.subtract(*np.stack(list(ends))) + 1) % 8 - 1
    found: Ints = np.where(rows == 0, (columns < 0).astype(np.int64), 2 + (rows > 0))
    return found


def in_rows_and_columns(words: int) -> plans.Plan:
    """Return the butterfly in two phases of 8 channels: dimensions within a row, and a column.

    So the text has it (section 5.1.2, "two phases of 8 logical channels each").
    """
    given = pattern("butterfly", words)
    routes = paths(IWARP, DimensionOrder(), given.source, given.target)
    phase = np.where(given.source // 8 == given.target // 8, 0, 1).astype(np.int32)
    plan = plans.Plan(IWARP, given, plans.Capacity(8), phase, routes, "by rows and columns")
    verify(plan)
    return plan


@cache
def _routed(seed: int) -> plans.Plan:
    plan = plans.sequential(pattern("all-to-all", 1), IWARP, TWELVE, PAPER_PHASES, seed=seed)
    assert plan is not None, "the sequential router needs fewer phases than the paper's"
    verify(plan)
    return plan


def paper_plan(name: str, words: int, seed: int = 1) -> plans.Plan:
    """Return a plan of the paper's own kind, and of its number of phases.

    All-to-all is routed sequentially in 30 phases. The seed is that router's.
    """
    if name == "butterfly":
        return in_rows_and_columns(words)
    if name == "torus":
        return plans.partition(pattern(name, words), IWARP, TWELVE, method="sequential")
    return replace(_routed(seed), connections=pattern(name, words))


@cache
def own_plan(objective: Literal["phases", "time"], words: int) -> plans.Plan:
    """Return netloom's own plan of all-to-all: of fewest phases, or of least time."""
    plan = plans.partition(pattern("all-to-all", words), IWARP, TWELVE, objective=objective)
    verify(plan)
    return plan


def _pattern_phases(known: Known) -> Found:
    """Phases of netloom's plans. Of sequential routing the most of several seeds."""
    everyone, butterfly = pattern("all-to-all", 1), pattern("butterfly", 1)
    routed = [
        plans.partition(everyone, IWARP, TWELVE, method="sequential", seed=seed).num_phases
        for seed in known["seeds"]
    ]
    yield "torus, 12 channels", plans.partition(pattern("torus", 1), IWARP, TWELVE).num_phases
    for channels in (12, 16):
        fewest = plans.partition(butterfly, IWARP, plans.Capacity(channels)).num_phases
        yield f"butterfly, Gray code, {channels} channels", fewest
    yield "butterfly, by rows and columns, 8 channels", in_rows_and_columns(1).num_phases
    yield "all-to-all, 12 channels, at most", own_plan("phases", 1).num_phases
    yield "all-to-all, 12 channels, sequential APR, at most", max(routed)
    yield "all-to-all, 12 channels, lower bound", least_phases(everyone, IWARP, TWELVE).phases


@cache
def transfer_clocks(name: str, words: int, seed: int = 1) -> tuple[int, float]:
    """Return the phases of a plan of the paper's kind, and the clocks of its transfers.

    Connections meet: a processor waits for the other to be ready. The torus pattern is used E, W,
    N, S, the butterfly by dimensions, all-to-all in the order of algorithm AS.

    Examples
    --------
    >>> transfer_clocks("torus", 32)
    (1, 296.0)
    """
    plan = paper_plan(name, words, seed)
    listed = None if name == "all-to-all" else np.arange(len(plan.connections))
    order = schedule(plan, TRANSFERS, priority=listed, tries=0)
    return plan.num_phases, execute(plan, TRANSFERS, timetable=order).clocks


def overhead_of() -> float:
    """Return the clocks of a phase besides its transfer: what Table 1's first row leaves for it."""
    first = published(PAPER)["items"]["section 4.2.1"]
    phases, clocks = transfer_clocks("torus", first["words"])
    return float((first["clocks"] - clocks) / phases)


def conset_clocks(name: str, words: int, seeds: Sequence[int] = (1,)) -> float:
    """Return what a pattern takes by a plan of the paper's kind: the mean of some seeds."""
    runs = [transfer_clocks(name, words, seed) for seed in seeds]
    overhead = overhead_of()
    return float(np.mean([phases * overhead + clocks for phases, clocks in runs]))


@cache
def message_clocks(name: str, words: int, seeds: int = 1, network: Cube = IWARP) -> Floats:
    """Return what a pattern takes by message passing. All-to-all in some random orders."""
    shuffled = name == "all-to-all"
    return iwarp_clocks(pattern(name, words), network, WITH_HEADER, shuffled=shuffled, seeds=seeds)


def _measured(known: Known) -> Found:
    """Return the clocks of a table. With ``longest``, of no more words."""
    for quantity in known["values"]:
        words = words_of(quantity)
        if words > known.get("longest", words):
            continue
        if quantity.startswith("ConSet"):
            yield quantity, conset_clocks(known["pattern"], words, known.get("seeds", (1,)))
        else:
            yield quantity, message_clocks(known["pattern"], words, known.get("replications", 1))


def _switch(_: Known) -> Found:
    yield "clocks of a context switch", overhead_of()


def _backloops(known: Known) -> Found:
    """Rates are as the times of the same words."""
    with_them, without = (
        message_clocks("all-to-all", known["words"], known["replications"], network).mean()
        for network in (IWARP, mesh_network(8, 8))
    )
    yield "all-to-all, rate without over with backloops", with_them / without


def _long(known: Known) -> Found:
    words = known["words"]
    least = least_clocks(pattern("all-to-all", words), IWARP, TRANSFERS)
    fewest, least_time = (
        execute(own_plan(objective, words), TRANSFERS).clocks / words
        for objective in ("phases", "time")
    )
    yield "all-to-all, fewest phases, clocks a word, at most", fewest
    yield "all-to-all, least time, clocks a word, at most", least_time
    yield "all-to-all, least clocks a word of any plan", least / words


# Message passing.


def iwarp_clocks(
    given: plans.Connections, network: Cube, costs: MessageCosts, *, shuffled: bool, seeds: int
) -> Floats:
    """Return the clocks until the last message has been received, for each of some seeds.

    A node sends its messages one after the other, the next when the last has been received.

    Parameters
    ----------
    given, network
        The connections, each of which is one message, and the torus or mesh.
    costs
        Of a message.
    shuffled
        Whether each node sends in an order of its own, by chance, or as connections are listed.
    seeds
        How many such orders.

    Examples
    --------
    Alone, a message of k words over h hops takes 400 + 400 + 2 k + 4 h clocks, and 4 to come out.

    >>> from netloom.contention.messages import MessageCosts
    >>> from netloom.phases import connections
    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> given = connections(read("hypercube:1"), [0, 2], 4, words=100)
    >>> iwarp_clocks(given, mesh(4), MessageCosts(), shuffled=False, seeds=1)
    array([1012.])
    """
    assert not len(given.before), "connections without an order of their own"
    routing = in_pools(network)
    cycles = costs.clocks_per_word
    held, run = round(costs.receive_clocks / cycles), round(costs.send_clocks / cycles)

    def last(seed: np.random.SeedSequence, stopped: Callable[[], bool]) -> int | None:
        many = len(given)
        order = np.random.default_rng(seed).permutation(many) if shuffled else np.arange(many)
        source = given.source[order]
        after: list[list[int]] = [[] for _ in order]
        for before, row in pairwise(np.argsort(source, kind="stable").tolist()):
            if source[before] == source[row]:
                after[row].append(before)
        table = messages(
            network.num_hosts,
            source=source,
            target=given.target[order],
            flits=given.words[order] + costs.header_words + held,
            run=run - (ROUTER.timing().injection - 1),
            after=after,
        )
        engine = NetworkProgram(network, routing, ROUTER, packet_flits=LONGEST)
        engine.append(table)
        if not completed(engine, MESSAGES, "fewer words", stopped):
            return None
        return int(engine.rows["complete"].max())

    runs = [partial(last, seed) for seed in np.random.SeedSequence(1).spawn(seeds)]
    return np.array(side_by_side(runs, MESSAGES)) * costs.clocks_per_word


def in_pools(network: Cube) -> VirtualChannelRouting:
    """Return dimension order in the pools of iWarp, whose routers give out one message at a time.

    It cannot deadlock: a message never goes back to an earlier pool, and within one there is no
    way round a ring.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> routing = in_pools(torus(8))  # from 6 to 1: 7 is in pool 0, 0 and 1 are in pool 1
    >>> number = routing.routes.pairs.tolist().index(6 * 8 + 1)
    >>> first, end = routing.tables.path_offsets[number : number + 2]
    >>> [int(slots).bit_length() - 1 for slots in routing.tables.path_slots[first:end]]
    [0, 1, 1, 6]
    """
    routes = all_routes(network, DimensionOrder())
    ends = (network.channel_source, network.channel_target)
    step = np.subtract(*(np.stack(np.unravel_index(nodes, network.sides)) for nodes in ends))
    crossed = np.cumsum((np.abs(step).max(axis=0) > 1)[routes.routes.channels])
    lengths = np.diff(routes.routes.offsets)
    before = np.insert(crossed, 0, 0)[routes.routes.offsets[:-1]]
    pool = crossed - np.repeat(before, lengths)
    assert pool.max(initial=0) < ROUTER.vcs
    routing = path_routing(network, routes, ROUTER.vcs, 1, np.int64(1) << pool)
    tables = routing.tables
    out = np.where(
        tables.path_slots == tables.ejection, 1 << tables.injection_slot, tables.path_slots
    )
    return replace(routing, tables=tables._replace(path_slots=out))


# Finite elements.


@cache
def interface(mesh: str) -> plans.Connections:
    """Return what the parts of a mesh tell each other, part i on node i of the torus."""
    with as_file(DATA.joinpath(f"{mesh}.mtx")) as path:
        return plans.connections(read(str(path)), np.arange(64), 64)


def most_words(mesh: str) -> int:
    """Return c_max, the most words that a processor sends, or receives.

    Examples
    --------
    >>> most_words("m11k")
    66
    """
    given = interface(mesh)
    return int(max(np.bincount(end, given.words).max() for end in (given.source, given.target)))


@cache
def compiled(mesh: str, *, as_published: bool) -> tuple[plans.Plan, Timetable]:
    """Return netloom's own plan and timetable, or those of the algorithms as published."""
    method: Literal["sequential", "auto"] = "sequential" if as_published else "auto"
    plan = plans.partition(interface(mesh), IWARP, TWELVE, costs=SPARSE, method=method)
    timetable = schedule(plan, SPARSE, tries=0 if as_published else None)
    verify(plan, timetable, SPARSE)
    return plan, timetable


def _structure(known: Known) -> Found:
    ours = json.loads(DATA.joinpath("meshes.json").read_text())["meshes"]
    for mesh in MESHES:
        for quantity, name in known["structure"].items():
            yield f"{mesh}, {quantity}", ours[mesh][name]


def _mesh_phases(known: Known) -> Found:
    """Return the phases of each mesh's plans, without netloom's own in a quick run."""
    for quantity in known["values"]:
        if known["own"] or "APR" in quantity:
            plan, _ = compiled(_first(quantity), as_published="APR" in quantity)
            yield quantity, plan.num_phases


def _goal(_: Known) -> Found:
    """How far a mesh's timetables are above their least: W over 2 c_max.

    W are the words of all phases' timetables, one after the other.
    """
    for mesh in MESHES:
        timetable = compiled(mesh, as_published=False)[1]
        words = float(timetable.makespan.sum()) / SPARSE.clocks_per_word
        yield f"{mesh}, at most", words / (2 * most_words(mesh))


def _meshes_measured(known: Known) -> Found:
    """Phases as long as table 1 has them, for the words that the paper's predictions imply."""
    for mesh in known["values"]:
        yield mesh, _in_phases(mesh, overhead_of())


# Pictures.


def _first(quantity: str) -> str:
    """Return what a row such as ``ConSet, 256 words`` is of: a series, or a mesh."""
    return quantity.partition(",")[0]


def _of_pattern(number: int, made: Made) -> dict[tuple[int, str, str], Cell]:
    """Return the clocks of a table by words, series, and whether predicted or measured."""
    known = published(PAPER)["items"]
    found: dict[tuple[str, str], Cell] = {}
    for what in ("predicted", "measured"):
        printed = known[f"table {number}, {what}"]["values"]
        found |= {(what, quantity): Cell(value, None) for quantity, value in printed.items()}
    if number == 1:  # the first row is kept with what follows from it
        first = known["section 4.2.1"]
        found["measured", f"ConSet, {first['words']} words"] = Cell(first["clocks"], None)
    found |= {(row.item.partition(", ")[2], row.quantity): row.cell for row in made.rows}
    return {
        (words, series, what): found[what, f"{series}, {words} words"]
        for words, series, what in product(WORDS, SERIES, ("predicted", "measured"))
    }


def _draw_table(number: int, made: Made) -> Drawn:
    found = _of_pattern(number, made).items()
    cells = {(f"{words}", f"{what} {series}"): cell for (words, series, what), cell in found}
    yield grid(f"Table {number}: {PATTERNS[number]} pattern, clocks", cells, head="words")


def _draw_pattern(number: int, made: Made) -> Drawn:
    sends = published(PAPER)["items"][f"table {number}, predicted"]["sends"]
    points = []
    for (words, series, what), cell in _of_pattern(number, made).items():
        points += _points(f"{series}, {what}", words, CELLS * sends * words, cell)
    title = f"Figure {number + 1}: aggregate bandwidth of the {PATTERNS[number]} pattern"
    yield plot(title, ("words of a connection", BANDWIDTH), points, log_x=True)


def _points(series: str, at: str | int, words: int, cell: Cell) -> list[pl.DataFrame]:
    """Return the printed and the computed clocks of so many words as bandwidths."""
    both = (cell.printed, PRINTED), (cell.computed, COMPUTED)
    return [
        curve(series, [at], bandwidth(words, clocks), whose)
        for clocks, whose in both
        if clocks is not None
    ]


def _draw_table_4(made: Made) -> Drawn:
    computed = {row.quantity: row.cell for row in made.rows}
    names = published(PAPER)["items"]["table 4, structure"]["structure"]
    cells = {(name, mesh): computed[f"{mesh}, {name}"] for name in names for mesh in MESHES}
    routers = {", sequential APR": "phases, the paper's router", "": "phases, netloom's own"}
    for (router_, name), mesh in product(routers.items(), MESHES):
        if f"{mesh}{router_}, at most" in computed:
            cells[name, mesh] = computed[f"{mesh}{router_}, at most"]
    yield grid("Table 4: structure of the meshes, and phases", cells)


def _draw_figure_5(_: Made) -> Drawn:
    for mesh in MESHES:
        given = interface(mesh)
        words = given.words[given.source < given.target]  # each pair once
        edges = np.linspace(0, 10 * np.ceil(words.max() / 10), 11)
        pairs = np.histogram(words, edges)[0]
        bars = [curve(mesh, (edges[:-1] + edges[1:]) / 2, pairs)]
        title = f"Figure 5: words between pairs of processors, {mesh}"
        yield plot(title, ("words", "pairs of processors"), bars, form="bars")


def _draw_table_5(made: Made) -> Drawn:
    cells = {}
    for mesh, (cycles, rate) in made.known["computation"].items():
        cells[mesh, "comp. cycles"] = Cell(cycles, None)
        cells[mesh, "comp. MFLOPS"] = Cell(rate, None)
    for row in reversed(made.rows):
        column = "comm. MB/s" if row.item == "table 5" else "comm. clocks"
        cells[_first(row.quantity), column] = row.cell
    title = "Table 5: computation and communication of an iteration, ConSet"
    yield grid(title, cells, head="mesh")


def _of_elements(made: Made) -> dict[tuple[str, str], Cell]:
    """Return the clocks of table 6 by mesh and series."""
    unmatched = published(PAPER)["items"]["figure 6"]["measured"]
    cells = {(_first(row.quantity), OF_ELEMENTS[row.item]): row.cell for row in made.rows}
    return cells | {(mesh, NOT_COMPUTED): Cell(unmatched[mesh], None) for mesh in MESHES}


def _draw_table_6(made: Made) -> Drawn:
    yield grid("Table 6: finite elements, clocks", _of_elements(made), head="mesh")


def _draw_figure_6(made: Made) -> Drawn:
    """Draw the bandwidth, which counts the busiest processor's words for all, as in table 5."""
    known = published(PAPER)["items"]["table 6, message passing predicted"]["meshes"]
    points = []
    for (mesh, series), cell in _of_elements(made).items():
        points += _points(series, mesh, CELLS * known[mesh]["most_words"], cell)
    title = "Figure 6: aggregate bandwidth of finite elements"
    yield plot(title, ("mesh", BANDWIDTH), points, form="bars")


ITEMS = (
    Item("section 4.2.1", _switch),
    *(
        item
        for number in PATTERNS
        for item in (
            Item(f"table {number}", draw=partial(_draw_table, number)),
            Item(f"figure {number + 1}", draw=partial(_draw_pattern, number)),
            Item(f"table {number}, predicted", _predicted),
            Item(f"table {number}, measured", _measured),
        )
    ),
    Item("phases", _pattern_phases),
    Item("section 5.1.3", _backloops),
    Item("long messages", _long),
    Item("table 4", draw=_draw_table_4),
    Item("table 4, structure", _structure),
    Item("table 4, phases", _mesh_phases),
    Item("figure 5", draw=_draw_figure_5),
    Item("table 5", _bandwidths, _draw_table_5),
    Item("table 6", draw=_draw_table_6),
    Item("table 6, ConSet predicted", _finite_elements),
    Item("table 6, message passing predicted", _finite_element_messages),
    Item("table 6, measured", _meshes_measured),
    Item("table 6, goal of W over 2 c_max", _goal),
    Item("figure 6", draw=_draw_figure_6),
)
"""In the paper's order, with what belongs to a table or figure behind it."""
