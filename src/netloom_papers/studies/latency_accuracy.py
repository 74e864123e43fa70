"""How far ``predict latency`` is off on random networks, routers and traffic.

There are three draws by the same rules. The model was corrected on the *first*. The *second* was
meant to judge it, but showed an error. Saturation was off by 9.4 %, and by 40 % if a class of a
ring has one VC with a short buffer. The error was fixed, so this draw counts as known. The error
bands of answers come from these two. The *judge* was drawn, simulated and evaluated once, after all
of that. The goals apply to it. The study also has kinds of networks that the draws exclude.

``saturation`` is what ``find_saturation`` says. Latencies are measured at parts of that. Those at
loads above nine tenths of the *predicted* saturation are not in any goal: answers do not have them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from itertools import pairwise, product
from math import nan
from typing import Any

import numpy as np
import polars as pl

from netloom.contention import channel_queueing as model
from netloom.questions.predict.latency import predicted_network
from netloom.questions.simulate.load import simulate
from netloom.questions.simulate.saturation import find_saturation
from netloom.routing import ports
from netloom.routing.virtual_channel_tables import MOST_SLOTS
from netloom.topology import Cube, topology
from netloom.topology.core import joined
from netloom.workload import Traffic, parse_traffic, read
from netloom.workload.traffic import from_process_graph, pairs
from netloom_papers.studies import running

DRAWS = {"first": (17, 220), "second": (19, 120), "judge": (20, 120)}
"""Seed and number of configurations of each draw."""

ELSEWHERE_SEED, ELSEWHERE_EACH = 18, 12

QUICK = 6
"""Configurations of each draw in the quick variant."""

GOALS = {"saturation": 8.0, 0.3: 2.0, 0.6: 4.0, 0.85: 10.0}
"""Root mean square errors, %: of the saturation, and of latency at parts of the simulated one."""

WORST_UNFLAGGED = 20.0

FIELDS = ("on", "router", "switching", "vcs", "buffer_flits", "packet_flits", "channel_cycles")
"""Those that a table of errors shows."""

NETWORKS = (
    "mesh:16", "mesh:4x4", "mesh:5x7", "mesh:6x6", "mesh:8x8", "mesh:2x3x4", "mesh:4x4x4",
    "torus:9", "torus:16", "torus:4x4", "torus:5x5", "torus:4x6", "torus:3x8", "torus:8x8",
    "torus:5x3x2", "torus:4x4x4", "hypercube:4", "hypercube:5", "hypercube:6",
    "cube:8wx4", "cube:4x5w", "cube:4wx4x3", "cube:3wx3x5w",
)  # fmt: skip
LARGE = ("mesh:12x12", "torus:10x10", "mesh:6x6x5", "hypercube:7", "torus:12x9", "mesh:9x14")

DRAWN = {
    "vcs": (1, 1, 2, 2, 3, 4, 4, 5, 6, 8),
    "packet_flits": (1, 2, 3, 4, 5, 8, 10, 16, 20, 30, 40),
    "buffer_flits": (2, 3, 4, 5, 6, 8, 8, 12, 16, 24, 32),
    "channel_cycles": (1, 1, 2, 3, 4, 5),
    "router": ("three-stage", "canonical-4-stage", "speculative-2-stage", "single-cycle"),
}
"""What a router is drawn from."""

TRAFFICS = ("uniform", "permutation", "two permutations", "sparse", "pareto", "matrix", "matrix")

MATRICES = (
    "hpcc_PTRANS_16", "hpcc_RA_16", "lammps_melt_16", "petsc_plexhalo_16", "lammps_melt_32",
    "lammps_melt_64", "petsc_plexhalo_64",
)  # fmt: skip
"""Recorded programs, each with its number of tasks at the end of its name."""

PARETO_SHAPE = 1.2

LOADS = (0.3, 0.45, 0.6, 0.75, 0.85)
"""Fractions of the simulated saturation at which latency is measured."""

EFFORT: dict[str, Any] = {"saturation_cycles": 32_000, "latency_cycles": 160_000, "precision": 0.02}

ANSWERED = pl.col("own") <= model.KNEE
"""Latencies that answers have: up to this part of the predicted saturation."""

ELSEWHERE = ("virtual-cut-through", "large", "faults", "oldest first")
"""What lies beside the main draw: how little is known there is said of each."""


def parts(*, quick: bool) -> list[running.Part]:
    """Return what is simulated and compared. See ``running.run_study``."""
    cases = [
        case
        for name, (seed, count) in DRAWS.items()
        for case in draw(name, seed, QUICK if quick else count)
    ]
    if not quick:
        cases += draw_elsewhere(ELSEWHERE_SEED, ELSEWHERE_EACH)
    what = "latency accuracy"
    return [running.Part("latency", what, cases, simulated, compare, _goals, _sections)]


def _goals(table: pl.DataFrame) -> Iterator[running.Goal]:
    judged = table.filter(drawn="judge")
    for of, limit in GOALS.items():
        rows, what = judged.filter(figure="saturation"), "saturation"
        if of != "saturation":
            rows, what = judged.filter(ANSWERED, part=of), f"latency at {of:g} of saturation"
        rms = spread(rows["error"])[2]
        yield running.Goal(f"{what}, the judge, rms error", limit, rms, "%", _worst(rows))
    saturations = judged.filter(figure="saturation", flags=0)
    size = saturations.select(pl.col("error").abs().max()).item() if len(saturations) else nan
    what = "saturation without a flag, the judge, largest error"
    yield running.Goal(what, WORST_UNFLAGGED, 100 * size, "%", _worst(saturations))


def _worst(table: pl.DataFrame) -> str:
    return "; ".join(
        f"{row['on']}, {row['traffic']}, {row['vcs']} VCs of {row['buffer_flits']}, "
        f"{row['packet_flits']} flits" + ("" if row["error"] is None else f" {row['error']:+.0%}")
        for row in running.worst(table, 2)
    )


def _sections(table: pl.DataFrame) -> Iterator[running.Section]:
    parts = table["part"].drop_nulls().unique().sort()
    shown: dict[str, Any] = {name: pl.col("figure") == name for name in ("idle", "saturation")}
    shown |= {f"{100 * part:.0f} %": (pl.col("part") == part) & ANSWERED for part in parts}

    def errors(of: pl.DataFrame) -> Iterator[str]:
        yield f"{of.filter(figure='saturation')['error'].count()}"
        yield from (_said(of.filter(chosen)["error"]) for chosen in shown.values())

    def covered(of: pl.DataFrame) -> Iterator[str]:
        kind = of["kind"][0]
        yield _covered(of.filter(figure="saturation")["error"], model.saturation_band(kind).within)
        for low, most in pairwise((-1.0, *model.PARTS)):
            inside = of.filter(pl.col("own") > low, pl.col("own") <= most)
            yield _covered(inside["error"], model.latency_band(kind, most).within)

    by_kind = table.filter(pl.col("drawn").is_in(list(DRAWS))).sort(
        pl.col("kind").replace_strict(model.KINDS, range(len(model.KINDS))), maintain_order=True
    )
    heads = ("", "networks", *shown)
    yield running.Section(
        "Errors by what was drawn",
        heads,
        running.rows_by(table, "drawn", cells=errors),
        (
            "mean and root mean square error (lowest and highest), %: of the idle latency, the "
            "saturation, and latencies at parts of the simulated saturation, as far as answers "
            "have them: up to 0.9 of the predicted one; [n]: how many have it",
        ),
    )
    rows = running.rows_by(by_kind, "kind", cells=errors)
    yield running.Section("All three draws, by kind of router", heads, rows)
    yield running.Section(
        "The bands of answers, and how many errors of the judge are within",
        ("kind of router", "saturation", *(f"up to {most:g}" for most in model.PARTS)),
        running.rows_by(by_kind.filter(drawn="judge"), "kind", cells=covered),
        ("up to: parts of the predicted saturation; nine of ten were to be within",),
    )


def _said(errors: pl.Series) -> str:
    count, mean, rms, low, high = spread(errors)
    return f"{mean:+.1f}, {rms:.1f} ({low:+.0f} {high:+.0f}) [{count}]" if count else "-"


def _covered(errors: pl.Series, within: float) -> str:
    known = errors.drop_nulls()
    inside = int((known.abs() <= within).sum())
    return f"± {100 * within:.2g} %: {inside} of {len(known)}"


def asked(case: running.Case) -> dict[str, Any]:
    """Return the fields of a configuration as those of a question about it."""
    own = ("part", "loads", *EFFORT)
    fields = {name: value for name, value in case.items() if name not in own}
    return fields | {"traffic": traffic_of(case)}


def simulated(case: running.Case, stopped: running.Stopped) -> dict[str, Any] | None:
    """Find where it saturates, then latencies at parts of that. None if it is to stop."""
    question = asked(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about buffers: these are the point
        search = find_saturation(**question, most_cycles=case["saturation_cycles"]).points[0]
        if stopped() or search.interrupted:
            return None
        loads = [part * search.saturation_offered for part in case["loads"]]
        limits = {"precision": case["precision"], "most_cycles": case["latency_cycles"]}
        curve = simulate(**question, load=loads, **limits)
    if stopped() or curve.interrupted:
        return None
    columns = ("part", "load", "latency", "ci95")
    points = [
        (part, point.offered, point.packet_latency_mean, point.packet_latency_ci95)
        for part, point in zip(case["loads"], curve.points, strict=False)
    ]
    return {
        "saturation": search.saturation_offered,
        "idle": search.zero_load_latency,
        "points": [dict(zip(columns, point, strict=True)) for point in points],
    }


def compare(cases: Sequence[running.Case], found: running.Seen) -> pl.DataFrame:
    """Return one row per configuration and figure: simulated, predicted and the error.

    ``figure`` is ``idle`` or ``latency`` (cycles) or ``saturation`` (flits/node/cycle). ``part``:
    of the simulated saturation, ``own``: of the predicted one. ``error`` is relative, and null with
    ``predicted`` where the model has no steady state.
    """
    rows: list[dict[str, Any]] = []
    for number, (case, seen) in enumerate(zip(cases, found, strict=True)):
        if seen is None:
            continue
        network, traffic = predicted_network(**asked(case)), case["traffic"]
        said = traffic.get("name", "") + (" mapped at random" if traffic.get("mapping") else "")
        kind = model.router_kind(network.prepared.router, case["packet_flits"])
        name = {"drawn": case["part"], "number": number} | {field: case[field] for field in FIELDS}
        name |= {"traffic": said or traffic["kind"], "kind": kind, "flags": len(network.flags)}
        idle = model.predict_channels(network.prepared, 0.0).latency
        errors: list[tuple[Any, ...]] = [
            (None, None, None, "saturation", seen["saturation"], network.saturation),
            (None, None, None, "idle", seen["idle"], idle),
        ]
        for point in (each for each in seen["points"] if each["latency"] is not None):
            latency = model.predict_channels(network.prepared, point["load"], crowded=True).latency
            own = point["load"] / network.saturation
            errors.append((point["part"], own, point["ci95"], "latency", point["latency"], latency))
        columns = ("part", "own", "ci95", "figure", "simulated", "predicted")
        rows += [name | dict(zip(columns, each, strict=True)) for each in errors]
    return running.with_errors(rows)


def spread(errors: pl.Series) -> tuple[int, float, float, float, float]:
    """Return how many errors there are, and mean, root mean square, lowest and highest in %.

    Those without a prediction are left out.

    Examples
    --------
    >>> spread(pl.Series([0.1, -0.2, None]))[2]
    15.8...
    """
    known = errors.drop_nulls().to_numpy()
    if not len(known):
        return 0, nan, nan, nan, nan
    figures = known.mean(), np.sqrt((known**2).mean()), known.min(), known.max()
    mean, rms, low, high = (100 * float(figure) for figure in figures)
    return len(known), mean, rms, low, high


# -- random networks, routers and traffic --------------------------------------------------------
#
# Every configuration is drawn for itself, from the draw's seed and its own number: so that draws of
# different sizes agree in what they share.


def draw(name: str, seed: int, count: int) -> list[dict[str, Any]]:
    """Return so many configurations: wormhole, at most 64 nodes, default routing.

    Examples
    --------
    >>> draw("first", 1, 2) == draw("first", 1, 3)[:2]
    True
    """
    return [
        _drawn(name, NETWORKS, np.random.default_rng([seed, number])) for number in range(count)
    ]


def draw_elsewhere(seed: int, count: int) -> list[dict[str, Any]]:
    """Return so many configurations of each kind in ``ELSEWHERE``."""
    found = []
    for number, (place, kind) in product(range(count), enumerate(ELSEWHERE)):
        rng = np.random.default_rng([seed, number, place])
        case = _drawn(kind, LARGE if kind == "large" else NETWORKS, rng)
        if kind == "virtual-cut-through":
            case["switching"] = kind
            case["buffer_flits"] = max(case["buffer_flits"], case["packet_flits"])
        elif kind == "faults":
            case["failed_channels"] = _links(case["on"], rng)
            case["vcs"] = max(case["vcs"], 2)
        elif kind == "oldest first":
            case["oldest_first"] = True
        found.append(case)
    return found


def _drawn(part: str, networks: tuple[str, ...], rng: np.random.Generator) -> dict[str, Any]:
    on = str(rng.choice(networks))
    net = topology(on)
    assert isinstance(net, Cube)
    most = MOST_SLOTS // (ports(net).num_network_ports + 1)
    router: dict[str, Any] = {name: rng.choice(values).item() for name, values in DRAWN.items()}
    router["vcs"] = min(max(router["vcs"], 2 if any(net.wraps) else 1), most)
    kind, number = str(rng.choice(TRAFFICS)), int(rng.integers(2**31))
    traffic: dict[str, Any] = {"kind": kind, "seed": number}
    if kind == "uniform":
        traffic = {"kind": kind}
    elif kind == "matrix":
        fit = [name for name in MATRICES if int(name.rpartition("_")[2]) <= net.num_hosts]
        traffic["kind"] = "sparse"
        if fit:
            mapping = None if rng.random() < 0.5 else number
            traffic = {"kind": kind, "name": str(rng.choice(fit)), "mapping": mapping}
    case = {"part": part, "on": on, "traffic": traffic, "loads": list(LOADS), "seed": 1}
    return case | EFFORT | router | {"switching": "wormhole"}


def _links(on: str, rng: np.random.Generator) -> str:
    """Return one or two links of a network, to be broken, that do not cut it in two."""
    net = topology(on)
    ends = np.sort([net.channel_source, net.channel_target], axis=0)
    link = ends[0] * net.num_hosts + ends[1]  # the same number for both directions
    for _ in range(100):
        chosen = rng.choice(net.num_channels, 1 + int(rng.random() < 0.5), replace=False)
        kept = ~np.isin(link, link[chosen])
        if not joined(net.num_hosts, *ends[:, kept]).any():
            return ",".join(f"{net.channel_source[i]}-{net.channel_target[i]}" for i in chosen)
    raise AssertionError(on)


def traffic_of(case: Mapping[str, Any]) -> Traffic:
    """Return the traffic of a configuration.

    Examples
    --------
    >>> traffic_of({"on": "mesh:4x4", "traffic": {"kind": "permutation", "seed": 3}})
    <permutation: 16 of 16 nodes send>
    """
    net, asked = topology(case["on"]), case["traffic"]
    kind, nodes = asked["kind"], net.num_hosts
    if kind == "matrix":
        with as_file(files("netloom_papers.studies").joinpath("data", "traffic")) as folder:
            graph = read(folder / f"{asked['name']}.mtx")
        node_of = np.arange(graph.num_tasks)
        if asked["mapping"] is not None:
            node_of = np.random.default_rng(asked["mapping"]).permutation(nodes)[: graph.num_tasks]
        return from_process_graph(graph, node_of, nodes)
    if "seed" not in asked:
        return parse_traffic(kind, net)
    source, target, weight = _pairs(kind, nodes, np.random.default_rng(asked["seed"]))
    return pairs(nodes, source, target, weights=weight, name=kind)


def _pairs(kind: str, nodes: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return sources, targets and weights."""
    if kind in ("permutation", "two permutations"):
        target = np.array([_derangement(nodes, rng) for _ in range(1 + (kind != "permutation"))])
        return np.tile(np.arange(nodes), len(target)), target.ravel(), np.ones(target.size)
    if kind == "sparse":
        senders = np.flatnonzero(rng.random(nodes) < 0.7)
        senders = senders if len(senders) else np.zeros(1, np.int64)
        source = np.repeat(senders, rng.integers(1, 5, len(senders)))
        target = (source + rng.integers(1, nodes, len(source))) % nodes
        return source, target, rng.uniform(0.5, 2, len(source))
    assert kind == "pareto", kind
    source = rng.integers(0, nodes, 4 * nodes)
    target = (source + rng.integers(1, nodes, len(source))) % nodes
    return source, target, 1 + rng.pareto(PARETO_SHAPE, len(source))


def _derangement(nodes: int, rng: np.random.Generator) -> Any:
    while True:
        targets = rng.permutation(nodes)
        if (targets != np.arange(nodes)).all():
            return targets
