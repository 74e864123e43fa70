"""Routing round broken channels, written for the reader."""

from itertools import pairwise, product

import networkx as nx
import numpy as np

from tests.reference.dimension_order import visited


def legal_hops(ends, up, source, target):
    """Return the hops of the shortest path that never goes up after it has gone down."""
    states, hops = {(source, False)}, 0
    while not any(node == target for node, _ in states):
        states = {
            (b, was_down or not up[channel])
            for channel, (a, b) in enumerate(ends)
            for node, was_down in states
            if node == a and not (was_down and up[channel])
        }
        hops += 1
    return hops


def detour(broken, source, target):
    """Return the nodes on the way: one of two dimension orders, or the first with detours."""
    whole = broken.whole
    ends = list(zip(broken.source_end.tolist(), broken.target_end.tolist(), strict=True))
    hops = dict(nx.single_target_shortest_path_length(nx.DiGraph(ends), target))
    last_first, first_first = sorted(range(len(whole.sides)), reverse=True), range(len(whole.sides))
    for order in (last_first, first_first):
        nodes = visited(source, target, whole.sides, whole.wraps, order)
        if set(pairwise(nodes)) <= set(ends) and len(nodes) - 1 == hops[source]:
            return nodes
    nodes = [source]
    while nodes[-1] != target:
        here = nodes[-1]
        after = visited(here, target, whole.sides, whole.wraps, last_first)[1]
        nearer = [b for a, b in ends if a == here and hops[b] == hops[here] - 1]
        nodes.append(after if after in nearer else nearer[0])
    return nodes


def layers_of(routes):
    """Return the layer of each hop of each route, in layers without circles."""
    graphs = [nx.DiGraph()]
    order = sorted(range(len(routes)), key=lambda route: (-len(routes[route]), route))
    layer = {}

    def add(graph, route):
        new = [edge for edge in pairwise(route) if not graph.has_edge(*edge)]
        graph.add_edges_from(new)
        if nx.is_directed_acyclic_graph(graph):
            return True
        graph.remove_edges_from(new)
        return False

    def climb(route):
        found = [0]
        for edge in pairwise(route):
            found.append(found[-1] + (not add(graphs[found[-1]], edge)))
            if found[-1] == len(graphs):
                graphs.append(nx.DiGraph())
        return found

    for number in order:
        fitting = [at for at, graph in enumerate(graphs) if _fits(graph, routes[number])]
        if fitting:
            add(graphs[fitting[0]], routes[number])
            layer[number] = [fitting[0]] * len(routes[number])
        else:
            layer[number] = climb(routes[number])
    hops = np.bincount(np.concatenate(list(layer.values())), minlength=len(graphs))
    for number in order:
        least, own, length = int(np.argmin(hops)), layer[number][0], len(routes[number])
        stays = own == layer[number][-1]
        if stays and hops[least] + 2 * length <= hops[own] and add(graphs[least], routes[number]):
            hops[least] += length
            hops[own] -= length
            layer[number] = [least] * length
    return [layer[number] for number in range(len(routes))]


def _fits(graph, route):
    tried = graph.copy()
    tried.add_edges_from(pairwise(route))
    return nx.is_directed_acyclic_graph(tried)


def every_pair(nodes):
    return [(a, b) for a, b in product(nodes, nodes) if a != b]
