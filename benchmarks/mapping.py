"""What a mapping search finds, beside Scotch, METIS, Mt-KaHyPar, random mappings and identity.

For each program and network, and for hop-bytes and the maximum channel load (both by bytes): what
``search_mapping`` finds in the seconds given, as a share of what each other makes (below 1:
netloom's is the better), of the best of them, and the lower bound as a share of it (1: there is
none better).
The others: identity; the best of 25 random mappings; METIS (recursive bisection into as many parts
as tasks, part k on node k); Scotch (``SCOTCH_graphMap`` onto the architecture, as its ``gmap``
does; where it has put two tasks on some nodes, which is to its advantage, their number follows);
Mt-KaHyPar (``map_onto_graph`` for Steiner trees, which are hop-bytes here, preset DEFAULT, one task
a node), where the package ``mtkahypar`` is installed; it takes seconds to prepare each network;
with --baselines, the best of all methods in a table of published values. All maps are
measured by netloom. Scotch adds weights as integers: they are scaled so that no sum overflows.

Geometric means are over the cases that a mapping can improve: where the best one known is at least
5 % below the mean of random ones, which leaves out what sends the same from all to all. They are
apart for the cases with published values and those that have none (*). Seconds are processor time,
and end with the last swaps or at the lower bound; kernels are compiled beforehand.

Needs the extra ``bench`` (pyscotch), of which there are wheels for Linux alone.

Usage: python benchmarks/mapping.py [options] [cases, such as mesh tree], of which

  --seconds S       for each search of up to 64 tasks (10), six times that for larger ones
  --large           256 to 1023 tasks instead of up to 64
  --huge            16,384 tasks on torus:128x128 instead, with 30 S for each search
  --data DIR        programs from DIR/*.bytes.mtx (16, 32 or 64 tasks), too
  --baselines FILE  a CSV table with columns case, target, method, hop_bytes, max_channel_load
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import time
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pymetis
import pyscotch

from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping import search_mapping
from netloom.mapping.search.objectives import Measure, hops, joint_weights, objective_of
from netloom.mapping.search.starts import random_starts
from netloom.routing import parse_routing
from netloom.topology import topology
from netloom.workload import process_graph, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.mapping.search.objectives import JointWeights
    from netloom.topology import Cube
    from netloom.workload import ProcessGraph

OBJECTIVES = {"max-channel-load": "max_channel_load", "hop-bytes": "hop_bytes"}
"""And the columns of a table of published values that hold them."""

NETWORKS = {
    16: ("mesh:4x4", "torus:4x4", "hypercube:4"),
    32: ("mesh:4x8", "torus:4x8", "torus:2x4x4", "hypercube:5"),
    64: ("mesh:8x8", "torus:8x8", "torus:4x4x4", "hypercube:6", "mesh:4x4x4"),
}
PUBLISHED = ("mesh:8x8", "mesh:4x4x4", "hypercube:6", "binary-tree:63")
MEASURED = {"lammps_melt_64": "examples/lammps-64.mtx"}
FELDMANN = "src/netloom_papers/studies/data/feldmann"
APART = (
    "renumbered mesh:8x8", "renumbered torus:4x4x4", "renumbered hypercube:6", "geometric:64",
    "triangulation:64", "examples/plate-64.mtx", f"{FELDMANN}/c10k.mtx", f"{FELDMANN}/q20k.mtx",
    "hpl:8x8", "hpl:4x16",
)  # fmt: skip
"""Programs of 64 tasks without published values."""

LARGE = {
    "mesh:16x16": ("mesh:16x16", "torus:16x16", "hypercube:8"),
    "mesh:8x8x8": ("torus:8x8x8", "hypercube:9"),
    "binary-tree:1023": ("mesh:32x32", "torus:32x32", "hypercube:10"),
    "renumbered mesh:32x32": ("mesh:32x32", "torus:32x32"),
    "triangulation:1024": ("torus:32x32", "torus:16x8x8"),
}
HUGE = dict.fromkeys(("renumbered mesh:128x128", "triangulation:16384"), ("torus:128x128",))

IMPROVABLE = 0.95
"""The best known over the mean of random mappings, where a mapping can improve a case."""

CLOSE = 1e-6
"""Relative difference that is none."""

SAFE_SUM = 2**30
"""Largest sum of weights times distances that is given to Scotch."""


class Case(NamedTuple):
    """A program on a network; in tables of published values, if it is there, by two names."""

    app: str
    network: str
    published: tuple[str, str] | None


class Row(NamedTuple):
    """What was found for a case and an objective, by netloom and by others."""

    case: Case
    objective: str
    found: float
    bound: float
    seconds: float
    random: float
    others: dict[str, float]
    doubled: int

    @property
    def name(self) -> str:
        """The program's, short; with a star where there are no published values."""
        return Path(self.case.app).name.split(".")[0] + ("" if self.case.published else "*")

    @property
    def best(self) -> float:
        """The best of the others."""
        return min(self.others.values())

    @property
    def improvable(self) -> bool:
        """Whether a mapping matters."""
        return min(self.best, self.found) <= IMPROVABLE * self.random


def program(name: str) -> ProcessGraph:
    """Return a program by its spec, or one of those made here."""
    if name.startswith("renumbered "):
        graph = read(name.removeprefix("renumbered "))
        number = np.random.default_rng(1).permutation(graph.num_tasks)
        return process_graph(graph.num_tasks, number[graph.source], number[graph.target])
    kind, _, count = name.partition(":")
    if kind == "hpl":
        return factorised(*map(int, count.split("x")))
    if kind in ("geometric", "triangulation"):
        return scattered(int(count), near=kind == "geometric")
    return read(name)


def factorised(rows: int, columns: int, steps: int = 40) -> ProcessGraph:
    """Return a dense factorisation on a grid of tasks, as HPL does it.

    Panels go round the rows, rows are exchanged and sent round in the columns.
    """
    sent = np.zeros((rows, columns, rows, columns))
    along = 2 ** np.arange(int(np.ceil(np.log2(rows))))
    for step in range(steps):
        left, owner = 1 - step / steps, step % columns
        for row in range(rows):
            for hop in range(columns - 2):
                here = (owner + hop) % columns
                sent[row, here, row, (owner + hop + 1) % columns] += 1e6 * left
            sent[row, owner, row, owner - 1] += 6e5 * left
            for column in range(columns):
                sent[row, column, (row + 1) % rows, column] += 3e5 * left
                for other in row ^ along[(row ^ along) < rows]:
                    sent[row, column, other, column] += 4e5 * left**2
    weights = np.rint(sent.reshape(rows * columns, rows * columns))
    source, target = np.nonzero(weights)
    return process_graph(rows * columns, source, target, bytes=weights[source, target])


def scattered(tasks: int, *, near: bool) -> ProcessGraph:
    """Return points at random places of a square: each joined to those near it, or triangulated."""
    from scipy.spatial import Delaunay, cKDTree

    points = np.random.default_rng(1).random((tasks, 2))
    if near:
        joined = cKDTree(points).query_pairs((8 / (np.pi * tasks)) ** 0.5, output_type="ndarray")
    else:
        corners = Delaunay(points).simplices
        joined = np.unique(np.sort(corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)), axis=0)
    ends = np.concatenate([joined, joined[:, ::-1]])
    return process_graph(tasks, ends[:, 0], ends[:, 1])


def cases(*, large: bool, huge: bool, data: Path | None) -> Iterator[Case]:
    """Yield the cases that were asked for."""
    if large or huge:
        for app, networks in (HUGE if huge else LARGE).items():
            for network in networks:
                apart = app.startswith(("renumbered", "triangulation"))
                yield Case(app, network, None if apart else _published(app, network))
        return
    files = dict(MEASURED)
    if data is not None:
        files |= {path.name.split(".")[0]: str(path) for path in sorted(data.glob("*.bytes.mtx"))}
    for name, app in files.items():
        for network in NETWORKS[read(app).num_tasks]:
            yield Case(app, network, (name, _published(app, network)[1]))
    for app in PUBLISHED:
        yield from (Case(app, network, _published(app, network)) for network in NETWORKS[64])
    yield from (Case(app, network, None) for app in APART for network in NETWORKS[64])


def _published(app: str, network: str) -> tuple[str, str]:
    """Return what tables of published values call a program and a network."""
    kind, _, sides = app.partition(":")
    name = f"mesh{sides.count('x') + 1}d_{sides}"
    if kind == "binary-tree":
        name = f"btree{sides}"
    elif kind == "hypercube":
        name = f"hcube{2 ** int(sides)}"
    kind, _, sides = network.partition(":")
    target = f"hcube{sides}" if kind == "hypercube" else kind + "x".join(sides.split("x")[::-1])
    return name, target


def scotch(app: ProcessGraph, network: Cube) -> NDArray[np.int32]:
    """Return Scotch's mapping, by its default strategy."""
    joint = joint_weights(app)
    farthest = float(hops(network, np.array([0])).max()) * 2
    architecture, graph = pyscotch.Architecture(), pyscotch.Graph()
    kind, sides = network.name.partition(":")[0], network.sides[::-1]  # it has the fastest first
    if kind == "hypercube":
        architecture.hypercube(len(sides))
    else:
        getattr(architecture, f"{kind}{len(sides)}d")(*sides)
    ends = joint.indptr.astype(np.int64), joint.indices.astype(np.int64)
    graph.build(*ends, edlotab=_whole(joint, SAFE_SUM / farthest))
    pyscotch.random_reset()
    return graph.map(architecture).astype(np.int32)


def metis(app: ProcessGraph) -> NDArray[np.int32]:
    """Return METIS's parts in order: the tasks of the first on the first nodes, and so on."""
    joint = joint_weights(app)
    width = pymetis.zero_copy_dtype()
    parts = pymetis.part_graph(
        app.num_tasks,
        pymetis.CSRAdjacency(joint.indptr.astype(width), joint.indices.astype(width)),
        eweights=_whole(joint, SAFE_SUM).astype(width),
        recursive=True,
        options=pymetis.Options(seed=1),
    )
    order = np.argsort(np.asarray(parts.vertex_part), kind="stable")
    return np.argsort(order).astype(np.int32)


def kahypar(app: ProcessGraph, network: Cube) -> NDArray[np.int32] | None:
    """Return Mt-KaHyPar's mapping; None where the package is not installed."""
    if importlib.util.find_spec("mtkahypar") is None:
        return None
    import mtkahypar

    joint, nodes = joint_weights(app).tocoo(), network.num_nodes
    farthest = float(hops(network, np.array([0])).max())
    up, ahead = joint.row < joint.col, network.channel_source < network.channel_target
    scale = min(1.0, SAFE_SUM / farthest / float(joint.data.sum()))
    pairs = np.column_stack([joint.row[up], joint.col[up]]).tolist()
    ends = np.column_stack([network.channel_source[ahead], network.channel_target[ahead]])
    joins = np.unique(ends, axis=0).tolist()
    make = _kahypar_threads()
    mtkahypar.set_seed(1)
    context = make.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_mapping_parameters(nodes, 0.0)
    context.logging = False
    weights = np.maximum(1, np.rint(joint.data[up] * scale)).astype(int).tolist()
    graph = make.create_graph(context, nodes, len(pairs), pairs, [1] * nodes, weights)
    target = make.create_target_graph(context, nodes, len(joins), joins, [1] * len(joins))
    found = graph.map_onto_graph(target, context).get_partition()
    return np.array(found[: app.num_tasks], np.int32)


@lru_cache
def _kahypar_threads() -> Any:
    import mtkahypar

    return mtkahypar.initialize(1, print_warnings=False)


def _whole(joint: JointWeights, most: float) -> NDArray[np.int64]:
    """Return weights of at least 1 in the same proportions, whose sum is not above the most."""
    scale = min(1.0, most / float(joint.data.sum()))
    return np.maximum(1, joint.data * scale).astype(np.int64)


def compared(case: Case, seconds: float, table: Table) -> Iterator[Row]:
    """Yield what the search finds for each objective, with what others make."""
    app, network = program(case.app), topology(case.network)
    nodes = np.arange(network.num_nodes, dtype=np.int32)
    drawn = list(random_starts(app.num_tasks, nodes, 1, DEFAULT_SEED))
    made = {"identity": nodes[: app.num_tasks], "METIS": metis(app), "Scotch": scotch(app, network)}
    theirs = kahypar(app, network)
    made |= {} if theirs is None else {"KaHyPar": theirs}
    doubled = app.num_tasks - len(np.unique(made["Scotch"]))
    for objective, column in OBJECTIVES.items():
        value_of = _measure(objective, app, network)
        random = [value_of(node_of) for node_of in drawn]
        others = {name: value_of(node_of) for name, node_of in made.items()}
        others["random"] = min(random)
        if case.published in table:
            others["table"] = table[case.published][column]
        found = search_mapping(app, network, objective=objective, seconds=seconds)
        value = value_of(found.node_of)
        assert np.isclose(value, found.value), "the search measures as the contention package does"
        mean = float(np.mean(random))
        yield Row(case, objective, value, found.bound, found.seconds, mean, others, doubled)


def _measure(objective: str, app: ProcessGraph, network: Cube) -> Measure:
    routing, first = parse_routing("default", network), np.arange(app.num_tasks, dtype=np.int32)
    wanted, nodes = objective_of(objective), np.arange(network.num_hosts, dtype=np.int32)
    return Measure(app, network, routing, app.bytes, wanted, nodes).scaled(first)


Table = dict[tuple[str, str], dict[str, float]]


def read_table(path: Path | None) -> Table:
    """Return the best published value of each case and column."""
    best: Table = defaultdict(lambda: dict.fromkeys(OBJECTIVES.values(), np.inf))
    if path is not None:
        with path.open(newline="") as lines:
            for row in csv.DictReader(lines):
                values = best[row["case"], row["target"]]
                values |= {name: min(values[name], float(row[name])) for name in values}
    return dict(best)


COLUMNS = ("identity", "random", "METIS", "Scotch", "KaHyPar", "table")


def line_of(row: Row) -> str:
    """Return a row of the table."""
    shares = [row.found / row.others[name] if name in row.others else None for name in COLUMNS]
    cells = " ".join(f"{share:8.3f}" if share else f"{'-':>8}" for share in shares)
    return (
        f"{row.name[:24]:24} {row.case.network:13} {row.objective:16} {row.found:11.6g} {cells} "
        f"{row.found / row.best:8.3f} {row.bound / row.found:6.2f} {row.seconds:6.1f}"
        f"{'' if row.improvable else '   not improvable'}"
        f"{f'   Scotch has {row.doubled} second tasks' if row.doubled else ''}"
    )


def summary(rows: list[Row]) -> Iterator[str]:
    """Yield lines on all cases of an objective: geometric means, and where others were better."""
    for objective in OBJECTIVES:
        for published in (True, False):
            those = [
                row
                for row in rows
                if row.objective == objective and bool(row.case.published) == published
            ]
            if not those:
                continue
            better = [row for row in those if row.improvable]
            beside_scotch = _mean([row.found / row.others["Scotch"] for row in better])
            beside_best = _mean([row.found / row.best for row in better])
            worst = max(those, key=lambda row: row.found / row.best)
            lost = sum(row.found > row.best * (1 + CLOSE) for row in those)
            yield (
                f"{objective}, {'published' if published else 'apart'}: {len(those)} cases, "
                f"{len(better)} improvable; geometric means {beside_scotch:.3f} of Scotch, "
                f"{beside_best:.3f} of the best other; behind in {lost}, at worst "
                f"{worst.found / worst.best:.4f} ({worst.name} on {worst.case.network})"
            )


def _mean(shares: list[float]) -> float:
    return float(np.exp(np.mean(np.log(shares)))) if shares else np.nan


def main() -> None:
    """Print a line a case and objective, and what they amount to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--baselines", type=Path)
    asked = parser.parse_args()
    table = read_table(asked.baselines)
    seconds = asked.seconds * (30 if asked.huge else 6 if asked.large else 1)
    for objective in OBJECTIVES:  # compiles the kernels
        _measure(objective, read("ring:4"), topology("torus:2x2"))(np.arange(4))
    search_mapping(read("binary-tree:15"), topology("mesh:4x4"), rounds=1)
    began, rows = time.perf_counter(), []
    shares = " ".join(f"{name:>8}" for name in (*COLUMNS, "best"))
    print(f"{'':66} found, as a share of")
    print(f"{'case':24} {'network':13} {'objective':16} {'found':>11} {shares}  bound      s")
    for case in cases(large=asked.large, huge=asked.huge, data=asked.data):
        if asked.cases and not any(word in f"{case.app} {case.network}" for word in asked.cases):
            continue
        for row in compared(case, seconds, table):
            rows.append(row)
            print(line_of(row), flush=True)
    print(*summary(rows), f"{time.perf_counter() - began:.0f} s in all", sep="\n")


if __name__ == "__main__":
    main()
