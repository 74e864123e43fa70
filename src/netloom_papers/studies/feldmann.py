"""Feldmann, Stricker & Warfel 1993: connections in phases on iWarp, predicted and simulated again.

What the paper predicts is computed by its formulas (tables 1 to 3, 5 and 6), what it measured is
simulated flit by flit.

The meshes of its finite elements (tables 4 and 6) are not known: those here are of about their
sizes. gmsh generated them and METIS partitioned them (``netloom_papers.meshes.finite_elements``).
Parts, words and neighbours are kept in the data folder.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache, partial
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.mapping import gray
from netloom.models.messages import (
    FELDMANN_1993,
    ConSetCosts,
    MessageCosts,
    fitted_finite_element_clocks,
    message_passing_clocks,
    regular_conset_clocks,
)
from netloom.models.messages import conset_clocks as predicted_clocks
from netloom.phases import (
    Capacity,
    Plan,
    connections,
    least_clocks,
    least_phases,
    partition,
    schedule,
    verify,
)
from netloom.phases.execute.execution import execute
from netloom.phases.plan.negotiate import sequential
from netloom.routing import DimensionOrder, paths
from netloom.topology import mesh as mesh_network
from netloom.topology import torus
from netloom.workload import read
from netloom_papers.studies.feldmann_messages import iwarp_clocks
from netloom_papers.studies.validation import compare_all, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.phases import Connections, Timetable
    from netloom_papers.studies.validation import Part

    Objective: TypeAlias = Literal["phases", "time"]

FILE = "feldmann/published"
"""The data file of the printed numbers."""

CELLS, CLOCK_MHZ, WORD_BYTES = 64, 20.0, 4
"""Of the machine that was measured."""

SPARSE = ConSetCosts(clocks_per_word=10.0, both_ways=False)
"""A processor that gathers words from sparse matrices, or scatters them (section 5.2)."""

IWARP = torus(8, 8)

TWELVE = Capacity(12)
"""The logical channels of a cell that connections had."""

PAPER_PHASES = 30
"""Of all-to-all, in the paper's plan."""

LEFT, RIGHT, UP, DOWN = (0, -1), (0, 1), (-1, 0), (1, 0)

TRANSFERS = ConSetCosts(sync_clocks=0.0, phase_clocks=0.0)
"""Of transfers alone. What a phase takes besides is added as ``overhead_of`` has it."""

WITH_HEADER = MessageCosts(header_words=8)
"""Messages as the machine sends them: header and trailer are in section 4.3.1, but in none of the
predictions."""

DATA = files("netloom_papers.studies").joinpath("data", "feldmann")

MESHES = ("m11k", "c10k", "c100k", "q20k")

STRUCTURE = {
    "elements": "num_elements",
    "nodes": "num_nodes",
    "least elements of a processor": "least_elements",
    "most elements of a processor": "most_elements",
    "least words of a processor": "least_words",
    "most words of a processor": "most_words",
    "in/out-degree": "most_neighbours",
}
"""Rows of Table 4, and what they are in ``meshes.json``."""


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


def _predicted(known: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for quantity in known["values"]:
        words = words_of(quantity)
        if quantity.startswith("ConSet"):
            clocks = regular_conset_clocks(known["phases"], known["sends"], words, FELDMANN_1993)
        else:
            clocks = message_passing_clocks(known["messages"], words, MessageCosts())
        found[quantity] = clocks
    return found


def inferred_words(phases: int, predicted: float) -> int:
    """Return W, the whole number of words with which 528 P + 10 W comes nearest to a prediction.

    Table 6 was predicted so: W is what the timetables of all phases come to, and not printed.

    Examples
    --------
    >>> inferred_words(2, 4786)
    373
    """
    return round((predicted - phases * SPARSE.switch_clocks) / SPARSE.clocks_per_word)


def _finite_elements(known: Mapping[str, Any]) -> dict[str, Any]:
    """528 P + 10 W, for the whole number W that comes nearest."""
    found = {}
    printed = {quantity.partition(",")[0]: value for quantity, value in known["values"].items()}
    for mesh, facts in known["meshes"].items():
        words = inferred_words(facts["phases"], printed[mesh])
        makespan = [SPARSE.clocks_per_word * words] + [0.0] * (facts["phases"] - 1)
        found[f"{mesh}, W = {words}"] = predicted_clocks(makespan, SPARSE)
    return found


def _finite_element_messages(known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        mesh: fitted_finite_element_clocks(facts["degree"], facts["most_words"])
        for mesh, facts in known["meshes"].items()
    }


def _bandwidths(known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{mesh}, MB/s": bandwidth(CELLS * facts["most_words"], facts["clocks"])
        for mesh, facts in known["meshes"].items()
    }


@cache
def pattern(name: str, words: int) -> Connections:
    """Return ``torus``, ``butterfly`` or ``all-to-all``: connections in the order of their use.

    On a torus each node sends E, W, N, S. The butterfly is a hypercube whose tasks lie in Gray
    code, and are used dimension by dimension. ``torus`` and ``butterfly`` are listed so.
    """
    specs = {"torus": "torus:8x8", "butterfly": "hypercube:6", "all-to-all": "all-to-all:64"}
    app = read(specs[name])
    node_of = gray(64, IWARP) if name == "butterfly" else np.arange(64)
    given = connections(app, node_of, 64, words=words)
    if name == "all-to-all":
        return given
    return _listed(given, _directions(given) if name == "torus" else dimensions(given))


def dimensions(given: Connections) -> Ints:
    """Return int64[n], the dimension of a hypercube that each connection joins tasks across.

    Examples
    --------
    >>> np.bincount(dimensions(pattern("butterfly", 1))).tolist()
    [64, 64, 64, 64, 64, 64]
    """
    found: Ints = np.log2(given.source_task ^ given.target_task).astype(np.int64)
    return found


def _directions(given: Connections) -> Ints:
    """Return int64[n], the place of each connection's direction in E, W, N, S."""
    rows, columns = (
        (end - start + 1) % 8 - 1
        for start, end in zip(
            np.unravel_index(given.source, IWARP.sides),
            np.unravel_index(given.target, IWARP.sides),
            strict=True,
        )
    )
    order = [RIGHT, LEFT, UP, DOWN]
    return np.array(
        [order.index(step) for step in zip(rows.tolist(), columns.tolist(), strict=True)]
    )


def _listed(given: Connections, key: Ints) -> Connections:
    """Return connections listed by a key. They come in no order of their own."""
    order = np.argsort(key, kind="stable")
    columns = ("source", "target", "words", "source_task", "target_task")
    return replace(given, **{name: getattr(given, name)[order] for name in columns})


def in_rows_and_columns(words: int) -> Plan:
    """Return the butterfly in two phases of 8 channels: dimensions within a row, and a column.

    So the text has it (section 5.1.2, "two phases of 8 logical channels each").
    """
    given = pattern("butterfly", words)
    routes = paths(IWARP, DimensionOrder(), given.source, given.target)
    phase = np.where(given.source // 8 == given.target // 8, 0, 1).astype(np.int32)
    plan = Plan(IWARP, given, Capacity(8), phase, routes, "by rows and columns")
    verify(plan)
    return plan


@cache
def _routed(seed: int) -> Plan:
    plan = sequential(pattern("all-to-all", 1), IWARP, TWELVE, PAPER_PHASES, seed=seed)
    assert plan is not None, "the sequential router needs fewer phases than the paper's"
    verify(plan)
    return plan


def paper_plan(name: str, words: int, seed: int = 1) -> Plan:
    """Return a plan of the paper's own kind, and of its number of phases.

    All-to-all is routed sequentially in 30 phases. The seed is that router's.
    """
    if name == "butterfly":
        return in_rows_and_columns(words)
    if name == "torus":
        return partition(pattern(name, words), IWARP, TWELVE, method="sequential")
    return replace(_routed(seed), connections=pattern(name, words))


@cache
def own_plan(objective: Objective, words: int) -> Plan:
    """Return netloom's own plan of all-to-all: of fewest phases, or of least time."""
    plan = partition(pattern("all-to-all", words), IWARP, TWELVE, objective=objective)
    verify(plan)
    return plan


def _pattern_phases(known: Mapping[str, Any]) -> dict[str, Any]:
    """Phases of netloom's plans. Of sequential routing the most of several seeds."""
    everyone, butterfly = pattern("all-to-all", 1), pattern("butterfly", 1)
    routed = [
        partition(everyone, IWARP, TWELVE, method="sequential", seed=seed)
        for seed in known["seeds"]
    ]
    fewest = {
        channels: partition(butterfly, IWARP, Capacity(channels)).num_phases
        for channels in (12, 16)
    }
    return {
        "torus, 12 channels": partition(pattern("torus", 1), IWARP, TWELVE).num_phases,
        "butterfly, Gray code, 12 channels": fewest[12],
        "butterfly, Gray code, 16 channels": fewest[16],
        "butterfly, by rows and columns, 8 channels": in_rows_and_columns(1).num_phases,
        "all-to-all, 12 channels, at most": own_plan("phases", 1).num_phases,
        "all-to-all, 12 channels, sequential APR, at most": max(plan.num_phases for plan in routed),
        "all-to-all, 12 channels, lower bound": least_phases(everyone, IWARP, TWELVE).phases,
    }


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
    first = published(FILE)["section 4.2.1"]
    phases, clocks = transfer_clocks("torus", first["words"])
    return float((first["clocks"] - clocks) / phases)


def conset_clocks(name: str, words: int, seeds: Sequence[int] = (1,)) -> float:
    """Return what a pattern takes by a plan of the paper's kind: the mean of some seeds."""
    runs = [transfer_clocks(name, words, seed) for seed in seeds]
    overhead = overhead_of()
    return float(np.mean([phases * overhead + clocks for phases, clocks in runs]))


@cache
def message_clocks(name: str, words: int, replications: int = 1, network: str = "torus") -> Floats:
    """Return what a pattern takes by message passing. All-to-all in some random orders."""
    given, shuffled = pattern(name, words), name == "all-to-all"
    net = IWARP if network == "torus" else mesh_network(8, 8)
    seeds = replications if shuffled else 1
    return iwarp_clocks(given, net, WITH_HEADER, shuffled=shuffled, seeds=seeds)


@cache
def own_transfer_clocks(objective: Objective, words: int) -> tuple[int, float]:
    """Return the phases of netloom's own plan of all-to-all, and the clocks of its transfers.

    All connections of a phase are interleaved.
    """
    plan = own_plan(objective, words)
    return plan.num_phases, execute(plan, TRANSFERS).clocks


def _measured(known: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for quantity in known["values"]:
        words = words_of(quantity)
        if quantity.startswith("ConSet"):
            found[quantity] = conset_clocks(known["pattern"], words, known.get("seeds", (1,)))
        else:
            replications = known.get("replications", 1)
            found[quantity] = message_clocks(known["pattern"], words, replications)
    return found


def _switch(_: Mapping[str, Any]) -> dict[str, Any]:
    return {"clocks of a context switch": overhead_of()}


def _backloops(known: Mapping[str, Any]) -> dict[str, Any]:
    """Rates are as the times of the same words."""
    asked = "all-to-all", known["words"], known["replications"]
    with_them, without = (message_clocks(*asked, network=network) for network in ("torus", "mesh"))
    rate = with_them.mean() / without.mean()
    return {"all-to-all, rate without over with backloops": rate}


def _long(known: Mapping[str, Any]) -> dict[str, Any]:
    words = known["words"]
    least = least_clocks(pattern("all-to-all", words), IWARP, TRANSFERS)
    each = {name: own_transfer_clocks(name, words)[1] / words for name in ("phases", "time")}
    return {
        "all-to-all, fewest phases, clocks a word, at most": each["phases"],
        "all-to-all, least time, clocks a word, at most": each["time"],
        "all-to-all, least clocks a word of any plan": least / words,
    }


class Compiled(NamedTuple):
    """A mesh's connections in phases, and their timetable."""

    plan: Plan
    timetable: Timetable

    @property
    def words(self) -> float:
        """W: words of all phases' timetables, one after the other."""
        return float(self.timetable.makespan.sum()) / SPARSE.clocks_per_word


@cache
def interface(mesh: str) -> Connections:
    """Return what the parts of a mesh tell each other, part i on node i of the torus."""
    with as_file(DATA.joinpath(f"{mesh}.mtx")) as path:
        return connections(read(str(path)), np.arange(64), 64)


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
def compiled(mesh: str, *, as_published: bool) -> Compiled:
    """Return netloom's own plan and timetable, or those of the algorithms as published."""
    method: Literal["sequential", "auto"] = "sequential" if as_published else "auto"
    plan = partition(interface(mesh), IWARP, TWELVE, costs=SPARSE, method=method)
    timetable = schedule(plan, SPARSE, tries=0 if as_published else None)
    verify(plan, timetable, SPARSE)
    return Compiled(plan, timetable)


def simulated_clocks(mesh: str, overhead_clocks: float) -> float:
    """Return what the plan of the algorithms as published takes, simulated flit by flit."""
    made = compiled(mesh, as_published=True)
    run = execute(made.plan, SPARSE, timetable=made.timetable)
    return run.clocks + made.plan.num_phases * (overhead_clocks - SPARSE.switch_clocks)


def _structure(_: Mapping[str, Any]) -> dict[str, Any]:
    ours = json.loads(DATA.joinpath("meshes.json").read_text())["meshes"]
    return {
        f"{mesh}, {quantity}": ours[mesh][name]
        for mesh in MESHES
        for quantity, name in STRUCTURE.items()
    }


def _mesh_phases(known: Mapping[str, Any]) -> dict[str, Any]:
    """Phases of those plans that are asked for."""
    found = {}
    for quantity in known["values"]:
        mesh, as_published = quantity.partition(",")[0], "sequential APR" in quantity
        found[quantity] = compiled(mesh, as_published=as_published).plan.num_phases
    return found


def _goal(_: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{mesh}, at most": above_least(mesh, as_published=False) for mesh in MESHES}


def above_least(mesh: str, *, as_published: bool) -> float:
    """Return how far a mesh's timetables are above their least: W over 2 c_max."""
    return compiled(mesh, as_published=as_published).words / (2 * most_words(mesh))


def _meshes_measured(_: Mapping[str, Any]) -> dict[str, Any]:
    """Phases as long as table 1 has them, for the words that the paper's predictions imply."""
    predicted, overhead = published(FILE)["table 6, ConSet predicted"], overhead_of()
    found = {}
    for quantity, clocks in predicted["values"].items():
        mesh = quantity.partition(",")[0]
        phases = predicted["meshes"][mesh]["phases"]
        words = inferred_words(phases, clocks)
        found[mesh] = phases * overhead + SPARSE.clocks_per_word * words
    return found


PARTS: dict[str, Part] = {
    "table 1, predicted": _predicted,
    "table 2, predicted": _predicted,
    "table 3, predicted": _predicted,
    "table 5": _bandwidths,
    "table 6, ConSet predicted": _finite_elements,
    "table 6, message passing predicted": _finite_element_messages,
    "phases": _pattern_phases,
    "table 4, structure": _structure,
    "table 4, phases": _mesh_phases,
    "table 6, goal of W over 2 c_max": _goal,
    "table 6, measured": _meshes_measured,
    "section 4.2.1": _switch,
    "table 1, measured": _measured,
    "table 2, measured": _measured,
    "table 3, measured": _measured,
    "section 5.1.3": _backloops,
    "long messages": _long,
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "feldmann", FILE, PARTS)
