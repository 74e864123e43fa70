"""Seconds and peak memory of analyses of switched networks, against the limits set for them.

Every case runs in a process of its own, one core, kernels compiled beforehand, from the name of the
network to the whole answer as JSON has it:

- a random permutation, and a shift, of 65,536 hosts (``fat-tree:k=64``): under 10 s and 2 GB;
- an all-to-all of 4,096 hosts (``fat-tree:16x3``), 16.8 million paths: under 20 s;
- effective bisection bandwidth of 65,536 hosts, 100 matchings;
- all shifts of 4,096 hosts.

Then two ratios: to a plain script over NetworkX shortest paths and Python sets, for an all-to-all
of 64 hosts; and of a mesh of 1,024 routers with a host each to the same mesh as a direct network.

Usage: python benchmarks/switches.py
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

SMALL = "fat-tree:4x3"


def analysed(app: str, on: str) -> None:
    from netloom import analyze

    analyze(app, on).to_dict()


def bisection() -> None:
    from netloom import analyze_permutations

    analyze_permutations("fat-tree:k=64", samples=100, shifts="none").to_dict()


def shifts() -> None:
    from netloom import analyze_permutations

    analyze_permutations("fat-tree:16x3", samples=0).to_dict()


def small() -> None:
    from netloom.contention import measure
    from netloom.routing import ShortestPath
    from netloom.topology import topology
    from netloom.workload import all_to_all

    net, graph = topology(SMALL), all_to_all(64)
    measure(net, ShortestPath(), graph.source, graph.target)


def networkx() -> None:
    """What one would write in an afternoon: a route per pair, a set of paths per channel."""
    import networkx as nx

    from netloom.topology import topology

    net = topology(SMALL)
    hosts = net.num_hosts
    graph = nx.DiGraph(list(zip(net.source_end, net.target_end, strict=True)))
    on_channel = {channel: set() for channel in graph.edges}
    routes = []
    for source in range(hosts):
        reached = nx.single_source_shortest_path(graph, source)
        for target in range(hosts):
            if source != target:
                route = list(nx.utils.pairwise(reached[target]))[1:-1]
                for channel in route:
                    on_channel[channel].add(len(routes))
                routes.append(route)
    for path, route in enumerate(routes):
        len(set().union(*(on_channel[channel] for channel in route)) - {path})


def mesh(*, hosted: bool) -> None:
    import numpy as np

    from netloom.contention import measure
    from netloom.routing import DimensionOrder
    from netloom.topology import mesh
    from netloom.topology.core import attach_hosts
    from netloom.workload import hypercube

    net = mesh(32, 32)
    if hosted:
        net = attach_hosts(net, np.arange(1024), name="hosted")
    graph = hypercube(10)
    node_of = np.random.default_rng(1).permutation(1024).astype(np.int32)
    for _ in range(100):
        measure(net, DimensionOrder(), node_of[graph.source], node_of[graph.target])


CASES = {
    "random permutation, 65,536 hosts": (
        lambda: analysed("random-permutation", "fat-tree:k=64"), 10, 2),
    "shift, 65,536 hosts": (lambda: analysed("shift:1", "fat-tree:k=64"), 10, 2),
    "all-to-all, 4,096 hosts": (lambda: analysed("all-to-all", "fat-tree:16x3"), 20, None),
    "100 matchings, 65,536 hosts": (bisection, None, None),
    "all shifts, 4,096 hosts": (shifts, None, None),
    "all-to-all, 64 hosts": (small, None, None),
    "the same, networkx": (networkx, None, None),
    "direct mesh, 100 times": (lambda: mesh(hosted=False), None, None),
    "hosted mesh, 100 times": (lambda: mesh(hosted=True), None, None),
}  # fmt: skip


def warm() -> None:
    """Compile kernels, or load what was compiled."""
    from netloom import analyze, analyze_permutations

    analyze("random-permutation", SMALL, random_mappings=1).to_dict()
    analyze_permutations(SMALL, samples=2).to_dict()
    small()
    mesh(hosted=True)


def child(name: str) -> None:
    warm()
    start = time.perf_counter()
    CASES[name][0]()
    seconds = time.perf_counter() - start
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "gigabytes": gigabytes}))


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2])
        return
    found = {}
    print(f"{'case':<34} {'seconds':>9} {'GB':>6}  limit")
    for name, (_, seconds, gigabytes) in CASES.items():
        command = [sys.executable, __file__, "child", name]
        own = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        found[name] = own["seconds"]
        limits = [f"{seconds} s"] * (seconds is not None) + [f"{gigabytes} GB"] * bool(gigabytes)
        kept = own["seconds"] < (seconds or 1e9) and own["gigabytes"] < (gigabytes or 1e9)
        said = f"{', '.join(limits)}: {'kept' if kept else 'MISSED'}" if limits else ""
        print(f"{name:<34} {own['seconds']:>9.3f} {own['gigabytes']:>6.2f}  {said}", flush=True)
    ratio = found["the same, networkx"] / found["all-to-all, 64 hosts"]
    print(f"networkx over netloom, all-to-all of 64 hosts: {ratio:.0f}x")
    ratio = found["hosted mesh, 100 times"] / found["direct mesh, 100 times"]
    print(f"a mesh with a host on each router over the direct mesh: {ratio:.2f}x")


if __name__ == "__main__":
    main()
