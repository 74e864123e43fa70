"""Seconds and peak memory of contention analysis, and ratios to two other ways of doing it.

A hypercube's process graph, randomly mapped onto a square mesh, N = 2^10 … 2^20 tasks. Every
case runs in a process of its own, one core, kernels compiled beforehand:

- ``lines``: netloom's counting by lines (loads; D, d, ν and heaviest channel of every path);
- ``stamped``: netloom's stamped sets, path by path, up to 2^14 tasks, where it still ends;
- ``networkx``: a plain script over NetworkX shortest paths and Python sets, at 2^10 tasks only.

Usage: python benchmarks/contention.py [most]     (most: largest n, default 20)
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

SEED = 1
MOST_STAMPED = 14


def problem(dimension: int):
    from netloom.routing import DimensionOrder
    from netloom.topology import mesh
    from netloom.workload import hypercube

    side = 2 ** (dimension // 2)
    graph, net = hypercube(dimension), mesh(side, side)
    node_of = np.random.default_rng(SEED).permutation(net.num_nodes).astype(np.int32)
    return net, DimensionOrder(), node_of[graph.source], node_of[graph.target]


def lines(dimension: int) -> dict[str, float]:
    from netloom.contention import measure

    net, routing, source, target = problem(dimension)
    start = time.perf_counter()
    found = measure(net, routing, source, target)
    return {"seconds": time.perf_counter() - start, "nu": int(found.path_contention.sum())}


def stamped(dimension: int) -> dict[str, float]:
    from netloom.contention import measure_paths
    from netloom.routing import paths

    net, routing, source, target = problem(dimension)
    start = time.perf_counter()
    found = measure_paths(paths(net, routing, source, target), net.num_channels)
    return {"seconds": time.perf_counter() - start, "nu": int(found.path_contention.sum())}


def networkx(dimension: int) -> dict[str, float]:
    """What one would write in an afternoon: a route per edge, a set of paths per channel."""
    import networkx as nx

    _, _, source, target = problem(dimension)
    side = 2 ** (dimension // 2)
    start = time.perf_counter()
    grid = nx.grid_2d_graph(side, side).to_directed()
    on_channel = {channel: set() for channel in grid.edges}
    routes = []
    for path, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        (row, column), (last_row, last_column) = divmod(s, side), divmod(t, side)
        along = nx.shortest_path(grid.subgraph([(row, c) for c in range(side)]),
                                 (row, column), (row, last_column))  # fmt: skip
        down = nx.shortest_path(grid.subgraph([(r, last_column) for r in range(side)]),
                                (row, last_column), (last_row, last_column))  # fmt: skip
        route = list(nx.utils.pairwise(along)) + list(nx.utils.pairwise(down))
        routes.append(route)
        for channel in route:
            on_channel[channel].add(path)
    nu = [len(set().union(*(on_channel[channel] for channel in route))) - 1 for route in routes]
    return {"seconds": time.perf_counter() - start, "nu": sum(nu)}


WAYS = {"lines": lines, "stamped": stamped, "networkx": networkx}


def child(way: str, dimension: int) -> None:
    WAYS[way](4)  # compile, or load what was compiled
    found = WAYS[way](dimension)
    found["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps(found))


def run(way: str, dimension: int) -> dict[str, float]:
    command = [sys.executable, __file__, "child", way, str(dimension)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], int(sys.argv[3]))
        return
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{'tasks':>8} {'paths':>10} {'seconds':>9} {'GB':>6}  {'stamped/lines':>14} "
          f"{'networkx/lines':>15}")  # fmt: skip
    for dimension in range(10, most + 1, 2):
        own = run("lines", dimension)
        ratios = []
        for way, limit in (("stamped", MOST_STAMPED), ("networkx", 10)):
            if dimension > limit:
                ratios.append("")
                continue
            other = run(way, dimension)
            assert other["nu"] == own["nu"], f"{way} disagrees"
            ratios.append(f"{other['seconds'] / own['seconds']:.0f}x")
        print(f"{2**dimension:>8} {dimension * 2**dimension:>10} {own['seconds']:>9.4f} "
              f"{own['gigabytes']:>6.2f}  {ratios[0]:>14} {ratios[1]:>15}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
