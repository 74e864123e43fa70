"""Routes of one's own: two messages that meet whichever dimension is first, and routed apart."""

from netloom import analyze
from netloom.routing import DimensionOrder, find_deadlock, source_routes
from netloom.topology import mesh
from netloom.workload import process_graph

network = mesh(2, 3)
app = process_graph(6, [0, 1], [5, 5], name="two messages")
apart = source_routes(network, [[0, 3, 4, 5], [1, 2, 5]], name="routed apart")

for routing in (DimensionOrder((1, 0)), DimensionOrder((0, 1)), apart):
    found = analyze(app, network, routing=routing, random_mappings=0)
    cycle = find_deadlock(network, routing)
    print(f"{found.routing}: {found.verdict.sentence} Can deadlock: {bool(cycle)}")
