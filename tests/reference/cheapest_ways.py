"""OpenSM's sssp for the reader: do ways cost least, given the paths that came before?"""

import networkx as nx


def check_cheapest(net, ends, table):
    """Assert that the ways to each end point, in their order, are cheapest at their turn."""
    inside = net.routers
    links = [*zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)]
    weight = dict.fromkeys(range(len(links)), int(ends.at_router.sum()) ** 2)
    for end in ends.order.tolist():
        graph = nx.DiGraph()
        for channel, (source, target) in enumerate(links):
            old = graph.get_edge_data(target, source, {"weight": weight[channel]})["weight"]
            graph.add_edge(target, source, weight=min(old, weight[channel]))
        goal = int(ends.exit[end])
        least = nx.single_source_dijkstra_path_length(graph, goal)
        taken = []
        for router in range(inside.num_routers):
            path, at = [], router
            while at != goal:
                path.append(int(table[end, at]))
                at = links[path[-1]][1]
            assert sum(weight[channel] for channel in path) == least[router]
            taken.append(path)
        for router, path in enumerate(taken):
            for channel in path:
                weight[channel] += int(ends.at_router[router])


def centrality(net, terminals):
    """Shortest ways between terminals and routers that cross each router, by NetworkX."""
    inside = net.routers
    graph = nx.Graph(
        zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
    )
    for router, count in enumerate(terminals):
        graph.add_edges_from((router, (router, number)) for number in range(count))
    found = nx.betweenness_centrality(graph, normalized=False)
    return [2 * found[router] for router in range(inside.num_routers)]
