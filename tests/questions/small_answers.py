"""A small question of every verb, for what holds of all their answers."""

from functools import cache
from io import BytesIO
from json import dumps, loads

import polars as pl

import netloom as nl
from netloom.questions.recorded import Recorded

OMEGA = {"pes": 64, "hot_spots": 4, "steps": 300}

ASKED = {
    "analyze": lambda: nl.analyze("binary-tree:15", "mesh:4x4", random_mappings=3, offered=0.1),
    "analyze, alone": lambda: nl.analyze(
        "ring:8", "torus:4x4", random_mappings=0, failed_channels="0-1", failed_nodes="9"
    ),
    "analyze, switches": lambda: nl.analyze(
        "shift:1,3", "leaf-spine:4x2x4", random_mappings=2, offered=0.1
    ),
    "analyze, several paths": lambda: nl.analyze(
        "ring", "leaf-spine:4x2x4", routing="minimal", random_mappings=2
    ),
    "analyze_permutations": lambda: nl.analyze_permutations("leaf-spine:4x2x4", samples=20),
    "analyze_permutations, several paths": lambda: nl.analyze_permutations(
        "leaf-spine:4x2x4", routing="minimal", samples=1
    ),
    "analyze_permutations, one shift": lambda: nl.analyze_permutations(
        "mesh:4x4", samples=0, shifts="5"
    ),
    "simulate": lambda: nl.simulate("mesh:4x4", load=0.3, cycles=1000),
    "simulate, loads": lambda: nl.simulate(
        "mesh:4x4", load="0.2,0.9", switching="wormhole,virtual-cut-through", cycles=1000
    ),
    "simulate, past saturation": lambda: nl.simulate("mesh:4x4", load=0.9, cycles=1000),
    "find_saturation": lambda: nl.find_saturation("mesh:4x4", most_cycles=3000),
    "simulate_loop": lambda: nl.simulate_loop(
        "mesh:3x3", app="transpose:3", applied=[0.1, 0.6], engine="worm", loops=5
    ),
    "simulate_transactions": lambda: nl.simulate_transactions("torus:3x3", app="torus:3x3"),
    "simulate_flows": lambda: nl.simulate_flows(
        "leaf-spine:4x2x4", app="all-to-all:16", flow_bytes="1MB", bandwidth="200Gb/s"
    ),
    "simulate_flows, a direct network": lambda: nl.simulate_flows(
        "mesh:3x3", app="transpose:3", flow_bytes=1000, bandwidth=1e9, injection="shared"
    ),
    "compare_collectives": lambda: nl.compare_collectives(
        "all-reduce", "torus:4x4", size="1KB:64MB", mapping="random", reorder=True
    ),
    "compare_collectives, one size": lambda: nl.compare_collectives(
        "all-to-all", "leaf-spine:2x1x4", size="1MB", bandwidth="25GB/s", latency=0
    ),
    "compare_collectives, barrier": lambda: nl.compare_collectives("barrier", "mesh:2x3"),
    "simulate_loop, flows": lambda: nl.simulate_loop(
        "mesh:3x3", app="transpose:3", applied=[0.1, 0.6], engine="flow", loops=5
    ),
    "replay": lambda: nl.replay("torus:4x4x4", trace="examples/halo.csv", engine="worm"),
    "replay, not finished": lambda: nl.replay(
        "torus:4x4x4", trace="examples/halo.csv", engine="worm", most_cycles=200
    ),
    "replay, flows": lambda: nl.replay(
        "torus:4x4x4", trace="examples/halo.csv", engine="flow", bandwidth="2GB/s", flit_bytes=16
    ),
    "replay, flows in cycles": lambda: nl.replay(
        "torus:4x4x4", trace="examples/halo.csv", engine="flow"
    ),
    "simulate_broadcast": lambda: nl.simulate_broadcast(
        "torus:3x3", rate=[0.002, 0.004], cycles=3000, packet_flits=4
    ),
    "simulate_pattern": lambda: nl.simulate_pattern(
        "symult2010:3x3", message_bytes=[100, 600], think_us=[0, 500], loops=3
    ),
    "predict_torus_broadcast": lambda: nl.predict_torus_broadcast(
        4, broadcast=0.1, rate="0:auto:3", simulate=True, cycles=3000
    ),
    "predict_torus_broadcast, saturated": lambda: nl.predict_torus_broadcast(rate=0.5),
    "predict_latency": lambda: nl.predict_latency("mesh:4x4", offered="0.1:0.9:0.4"),
    "predict_latency, one load": lambda: nl.predict_latency("hypercube:4", offered=0.1),
    "predict_locality": lambda: nl.predict_locality(1000, contexts=2),
    "predict_locality, sizes": lambda: nl.predict_locality("10:1000:x10", distance=3),
    "predict_wiring": lambda: nl.predict_wiring((64, 256)),
    "simulate_hot_spots": lambda: nl.simulate_hot_spots(**OMEGA, queue=3, replications=3),
    "simulate_hot_spots, rates": lambda: nl.simulate_hot_spots(**OMEGA, rate=[0.1, 0.6]),
    "simulate_hot_spots, no requests": lambda: nl.simulate_hot_spots(**OMEGA, rate=0),
    "find_critical_queue": lambda: nl.find_critical_queue(**OMEGA, rate=[0.1, 0.2]),
    "compile_phases": lambda: nl.compile_phases("all-to-all:16", "torus:4x4", words=16),
    "compile_phases, nothing to do": lambda: nl.compile_phases(
        "ring:4", "torus:2", tasks_per_node=4
    ),
    "compile_collective": lambda: nl.compile_collective("all-gather", "leaf-spine:2x1x2"),
    "compile_collective, a program": lambda: nl.compile_collective(
        "all-to-all", "mesh:2x2", bandwidth="100Gb/s", latency="1us", size="1MB"
    ),
    "find_mapping": lambda: nl.find_mapping("binary-tree:15", "mesh:4x4", rounds=1),
    "check_fabric": lambda: nl.check_fabric("leaf-spine:4x2x4", samples=20),
    "check_fabric, a circle": lambda: nl.check_fabric("torus:4x4", samples=1, routing="updn"),
    "check_fabric, jobs": lambda: nl.check_fabric(
        "leaf-spine:4x2x4",
        failed_channels="leaf0-spine1",
        samples=0,
        jobs=["a=h[0-7]", "b=h[2-9]:ring", "c=h0"],
    ),
    "route_fabric": lambda: nl.route_fabric("leaf-spine:4x2x4", samples=20),
    "route_fabric, a program": lambda: nl.route_fabric(
        "leaf-spine:4x2x4", wanted=["shifts", "ring:16", "2*all-to-all:4@0-3"], samples=20
    ),
    "find_mapping, local": lambda: nl.find_mapping(
        "ring:4", "mesh:2x2", tasks_per_node=4, rounds=1
    ),
}
"""What asks the question; the verb is what comes before the comma."""

ANSWERS = {name: cache(ask) for name, ask in ASKED.items()}
"""The same, asked once however many tests look at the answer."""


def there_and_back(kept: Recorded) -> Recorded:
    """Return a record as it comes back from JSON and Parquet."""
    tables = {}
    for name, table in kept.tables.items():
        data = BytesIO()
        table.write_parquet(data)
        data.seek(0)
        tables[name] = pl.read_parquet(data)
    return Recorded(kept.verb, loads(dumps(kept.figures, allow_nan=False)), tables)
