"""Seconds to list known algorithms, to find what their messages wait for, and to run them as flows.

A ring all-reduce of 1,024 ranks is 2.1 million messages; one of 16,384 ranks is 537 million, and
runs as rounds. Channels of 25 GB/s and 600 ns; trees and tori as named. One core, kernels compiled
beforehand.

Usage: python benchmarks/collectives.py
"""

from __future__ import annotations

import time

import numpy as np

from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network, rounds_apart, run_flows
from netloom.topology import topology
from netloom.workload.programs.collectives.algorithms import collective_program, outline
from netloom.workload.programs.collectives.program import rounds_of
from tests.reference.collectives_checked import check
from tests.workload.programs.collectives.tables import messages_of

BANDWIDTH, LATENCY, SIZE = 25e9, 600e-9, 1e9
TREE, TORUS, LARGE = "xgft:8x8x16/1x8x8", "torus:8x16x8", "xgft:16x32x32/1x16x32"

LISTED = (
    ("all-reduce", "ring", TREE, {}),
    ("all-reduce", "rabenseifner", TREE, {}),
    ("all-reduce", "double-binary-tree", TREE, {"chunks": 16}),
    ("all-reduce", "torus-rings", TORUS, {"torus": (8, 16, 8)}),
    ("all-reduce", "swing", TORUS, {"torus": (8, 16, 8)}),
    ("all-gather", "bruck", TREE, {}),
    ("all-to-all", "bruck", TREE, {}),
)


def network(spec: str):
    net = topology(spec)
    routing = parse_routing("dimension-order" if net.direct else "d-mod-k", net)
    return flow_network(net, bandwidth=BANDWIDTH, latency=LATENCY), routing


def listed(collective: str, algorithm: str, spec: str, options: dict) -> None:
    links, routing = network(spec)
    marks = [time.perf_counter()]
    program = collective_program(collective, algorithm, 1024, **options)
    marks.append(time.perf_counter())
    messages = messages_of(program, SIZE, np.arange(1024))
    marks.append(time.perf_counter())
    run = run_flows(links, routing, messages)
    marks.append(time.perf_counter())
    seconds = "".join(f"{each:>9.2f}" for each in np.diff(marks))
    print(f"{collective:>10} {algorithm:>18} {len(messages):>12,}{seconds} {run.finish:>11.6f} s")


def main() -> None:
    small, routing = network("leaf-spine:1x1x4")  # compile, or load what was compiled
    four = collective_program("all-reduce", "ring", 4)
    check(four)
    run_flows(small, routing, messages_of(four, SIZE, range(4)))
    rounds_apart(small, routing, rounds_of(outline("all-reduce", "ring", 4), SIZE, range(4)))
    print(f"{'':>29} {'messages':>12}{'listed':>9}{'waits':>9}{'run':>9} {'finish':>13}")
    for case in LISTED:
        listed(*case)
    links, routing = network(LARGE)
    start = time.perf_counter()
    rounds = rounds_of(outline("all-reduce", "ring", 16384), SIZE, np.arange(16384))
    run = rounds_apart(links, routing, rounds)
    seconds = time.perf_counter() - start
    print(f"{'all-reduce':>10} {'ring, as rounds':>18} {rounds.num_messages:>12,}"
          f"{'':>18}{seconds:>9.2f} {run[0]:>11.6f} s")  # fmt: skip


if __name__ == "__main__":
    main()
