"""Random networks, routers and traffic, as plain data, and the traffic that they stand for.

Every configuration is drawn for itself, from the draw's seed and its own number: so that draws of
different sizes agree in what they share.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from netloom.routing import ports
from netloom.routing.virtual_channels import MOST_SLOTS
from netloom.topology import Cube, topology
from netloom.workload import parse_traffic, read
from netloom.workload.traffic import from_process_graph, pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.workload import Traffic

NETWORKS = (
    "mesh:16", "mesh:4x4", "mesh:5x7", "mesh:6x6", "mesh:8x8", "mesh:2x3x4", "mesh:4x4x4",
    "torus:9", "torus:16", "torus:4x4", "torus:5x5", "torus:4x6", "torus:3x8", "torus:8x8",
    "torus:5x3x2", "torus:4x4x4", "hypercube:4", "hypercube:5", "hypercube:6",
    "cube:8wx4", "cube:4x5w", "cube:4wx4x3", "cube:3wx3x5w",
)  # fmt: skip
LARGE = ("mesh:12x12", "torus:10x10", "mesh:6x6x5", "hypercube:7", "torus:12x9", "mesh:9x14")

VCS = (1, 1, 2, 2, 3, 4, 4, 5, 6, 8)
FLITS = (1, 2, 3, 4, 5, 8, 10, 16, 20, 30, 40)
BUFFERS = (2, 3, 4, 5, 6, 8, 8, 12, 16, 24, 32)
CHANNEL_CYCLES = (1, 1, 2, 3, 4, 5)
ROUTERS = ("three-stage", "canonical-4-stage", "speculative-2-stage", "single-cycle")

TRAFFICS = ("uniform", "permutation", "two permutations", "sparse", "pareto", "matrix", "matrix")

MATRICES = {
    "hpcc_PTRANS_16": 16, "hpcc_RA_16": 16, "lammps_melt_16": 16, "petsc_plexhalo_16": 16,
    "lammps_melt_32": 32, "lammps_melt_64": 64, "petsc_plexhalo_64": 64,
}  # fmt: skip
"""Recorded programs by name, and their tasks."""

PARETO_SHAPE = 1.2

LOADS = (0.3, 0.45, 0.6, 0.75, 0.85)
"""Fractions of the simulated saturation at which latency is measured."""

BOX_LOADS = (0.2, 0.5, 0.8)

EFFORT: dict[str, Any] = {"saturation_cycles": 32_000, "latency_cycles": 160_000, "precision": 0.02}

ELSEWHERE = ("virtual-cut-through", "large", "faults", "oldest first")
"""What lies beside the main draw: how little is known there is said of each."""

Configuration = dict[str, Any]


def draw(name: str, seed: int, count: int) -> list[Configuration]:
    """Return so many configurations: wormhole, at most 64 nodes, default routing.

    Examples
    --------
    >>> draw("first", 1, 2) == draw("first", 1, 3)[:2]
    True
    """
    return [
        _drawn(name, NETWORKS, np.random.default_rng([seed, number])) for number in range(count)
    ]


def draw_elsewhere(seed: int, count: int) -> list[Configuration]:
    """Return so many configurations of each kind in ``ELSEWHERE``."""
    found = []
    for number in range(count):
        for place, kind in enumerate(ELSEWHERE):
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


def tuned_box() -> list[Configuration]:
    """Return the 80 configurations on which the closures of ``channel_queueing`` were chosen."""
    found = []
    for switching in ("wormhole", "virtual-cut-through"):
        for flits in (5, 20):
            for vcs in (2, 4):
                whole = switching == "virtual-cut-through"
                common = {
                    "vcs": vcs, "packet_flits": flits, "switching": switching, "channel_cycles": 1,
                    "buffer_flits": max(8, flits) if whole else 8, "router": "three-stage",
                }  # fmt: skip
                found += [
                    _case("box", on, {"kind": kind}, common) | {"loads": list(BOX_LOADS)}
                    for on in ("mesh:8x8", "torus:8x8")
                    for kind in ("uniform", "transpose", "tornado")
                ]
                found += [
                    _case("box", on, _matrix("lammps_melt_64", mapping), common)
                    | {"loads": list(BOX_LOADS)}
                    for on in ("mesh:8x8", "torus:4x4x4")
                    for mapping in (None, 5)
                ]
    return found


def _drawn(part: str, networks: tuple[str, ...], rng: np.random.Generator) -> Configuration:
    on = str(rng.choice(networks))
    net = topology(on)
    assert isinstance(net, Cube)
    most = MOST_SLOTS // (ports(net).num_network_ports + 1)
    router = {
        "vcs": min(max(int(rng.choice(VCS)), 2 if any(net.wraps) else 1), most),
        "packet_flits": int(rng.choice(FLITS)),
        "buffer_flits": int(rng.choice(BUFFERS)),
        "channel_cycles": int(rng.choice(CHANNEL_CYCLES)),
        "router": str(rng.choice(ROUTERS)),
        "switching": "wormhole",
    }
    kind, number = str(rng.choice(TRAFFICS)), int(rng.integers(2**31))
    if kind == "uniform":
        return _case(part, on, {"kind": kind}, router)
    if kind != "matrix":
        return _case(part, on, {"kind": kind, "seed": number}, router)
    fit = [name for name, tasks in MATRICES.items() if tasks <= net.num_hosts]
    if not fit:
        return _case(part, on, {"kind": "sparse", "seed": number}, router)
    mapping = None if rng.random() < 0.5 else number
    return _case(part, on, _matrix(str(rng.choice(fit)), mapping), router)


def _matrix(name: str, mapping: int | None) -> dict[str, Any]:
    return {"kind": "matrix", "name": name, "mapping": mapping}


def _case(
    part: str, on: str, traffic: Mapping[str, Any], router: Mapping[str, Any]
) -> Configuration:
    return {
        "part": part, "on": on, **router, "traffic": dict(traffic), "loads": list(LOADS), "seed": 1,
        **EFFORT,
    }  # fmt: skip


def _links(on: str, rng: np.random.Generator) -> str:
    """Return one or two links of a network, to be broken, that do not cut it in two."""
    net = topology(on)
    ends = np.sort([net.channel_source, net.channel_target], axis=0)
    link = ends[0] * net.num_hosts + ends[1]  # the same number for both directions
    for _ in range(100):
        chosen = rng.choice(net.num_channels, 1 + int(rng.random() < 0.5), replace=False)
        kept = ~np.isin(link, link[chosen])
        graph = coo_array((kept[kept], ends[:, kept]), shape=(net.num_hosts, net.num_hosts))
        if connected_components(graph, directed=False)[0] == 1:
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
    apart = source != target
    return pairs(nodes, source[apart], target[apart], weights=weight[apart], name=kind)


def _pairs(kind: str, nodes: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return sources, targets and weights. Some may be pairs of a node with itself."""
    everyone = np.arange(nodes)
    if kind in ("permutation", "two permutations"):
        targets = [_derangement(nodes, rng) for _ in range(1 + (kind == "two permutations"))]
        return (
            np.tile(everyone, len(targets)),
            np.concatenate(targets),
            np.ones(nodes * len(targets)),
        )
    if kind == "sparse":
        senders = everyone[rng.random(nodes) < 0.7]
        if not len(senders):
            senders = everyone[:1]
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
