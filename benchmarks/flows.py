"""Flows that share channels fairly: seconds of netloom's engine, and of SimGrid in the same run.

For each case: its flows, the times at which rates change, netloom's CPU seconds (all of
``run_flows``, paths and tables included; kernels compiled beforehand; the best of several runs),
microseconds per flow and per change, and the peak memory of a process that runs nothing else. Then
SimGrid's CPU seconds for the same flows (its simulation alone, without reading its input): with one
actor that starts all flows, and with two actors a flow, as programs for it have them; the ratios;
and the largest relative difference of a finish time. The case of permutations takes SimGrid about a
minute. All on one core. ``benchmarks/rounds.py`` has programs of rounds, such as a ring all-reduce.

Usage: python benchmarks/flows.py [--cases over-time-4000,permutations] [--repeats 3]

SimGrid needs Debian's libsimgrid-dev and g++ (``make simgrid``).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
LEAF_SPINE, TREE = "leaf-spine:8x8x8", "xgft:16x16x16/1x16x16"
BANDWIDTH = 1e9
LEAST_BYTES, MOST_BYTES = 1_000, 1_000_000
MOST_SIMGRID = 16_000
"""Flows that SimGrid is given; with actors for 64,000 it aborts."""

MOST_SECONDS = 10
"""What takes SimGrid longer is not done a second time, with actors."""


def sizes(rng, count):
    return rng.integers(LEAST_BYTES, MOST_BYTES, count).astype(np.float64)


def random_flows(count, *, load):
    """Random pairs of 64 hosts, sent in a time in which hosts send at a load; all at once, if 0."""
    rng = np.random.default_rng(1)
    source = rng.integers(0, 64, count)
    target = (source + rng.integers(1, 64, count)) % 64
    size = sizes(rng, count)
    start = rng.uniform(0, size.sum() / (64 * BANDWIDTH * load) if load else 0, count)
    return LEAF_SPINE, source, target, size, start, None


def permutations(rounds, *, after):
    """Rounds of random permutations of 4,096 hosts; each host sends when its last has arrived."""
    rng = np.random.default_rng(2)
    each = np.arange(4096)
    perms = np.array([rng.permutation(4096) for _ in range(rounds)])
    for perm in perms:  # nobody sends to itself
        alike = np.flatnonzero(perm == each)
        perm[alike] = perm[np.roll(alike, 1)] if len(alike) > 1 else perm[alike]
    source, target = np.tile(each, rounds), perms.ravel()
    there = source != target
    source, target = source[there], target[there]
    before = None
    if after:
        order = np.argsort(source, kind="stable")
        before = np.full(len(source), -1)
        same = source[order[1:]] == source[order[:-1]]
        before[order[1:][same]] = order[:-1][same]
    return TREE, source, target, sizes(rng, len(source)), np.zeros(len(source)), before


def all_to_all(hosts, *, equal):
    """Each of so many hosts to each other, all at once."""
    source, target = np.divmod(np.arange(hosts * hosts), hosts)
    source, target = source[source != target], target[source != target]
    count = len(source)
    size = np.full(count, 1e5) if equal else sizes(np.random.default_rng(3), count)
    return TREE, source, target, size, np.zeros(count), None


CASES = {
    "over-time-4000": ("4,000 random, over time, 64 hosts", random_flows, (4_000,), {"load": 0.5}),
    "over-time-16000": ("16,000, the same", random_flows, (16_000,), {"load": 0.5}),
    "over-time-64000": ("64,000, the same", random_flows, (64_000,), {"load": 0.5}),
    "less-busy": ("16,000, at 60 % of that load", random_flows, (16_000,), {"load": 0.3}),
    "busier": ("16,000, at 160 % of that load", random_flows, (16_000,), {"load": 0.8}),
    "at-once": ("4,000 random, at once, 64 hosts", random_flows, (4_000,), {"load": 0}),
    "permutations": ("2 permutations at once, 4,096 hosts", permutations, (2,), {"after": False}),
    "rounds": ("244 permutations in rounds, 4,096 hosts", permutations, (244,), {"after": True}),
    "all-to-all": ("all-to-all of 1,024 hosts, equal", all_to_all, (1024,), {"equal": True}),
    "unequal-64": ("all-to-all of 64 hosts, unequal", all_to_all, (64,), {"equal": False}),
    "unequal-1024": ("all-to-all of 1,024 hosts, unequal", all_to_all, (1024,), {"equal": False}),
    "unequal-128": ("all-to-all of 128 hosts, unequal", all_to_all, (128,), {"equal": False}),
}
TOLERANT, TOLERANCES = "unequal-128", (1e-5, 1e-4, 1e-3, 1e-2)


def table_of(hosts, source, target, size, start, before):
    """Return a table of messages, each of which waits for the one that is named, if any."""
    from netloom.workload.programs.messages import messages

    table = messages(hosts, source=source, target=target, flits=1)
    table = replace(table, flits=size, start=start)
    if before is not None:
        waits = before >= 0
        offsets = np.append(0, np.cumsum(waits)).astype(np.int64)
        table = replace(table, after_offsets=offsets, after=before[waits])
    return table


def measured(name, repeats, tolerances):
    """Run a case in this process; return what there is to say of it, and when its flows end."""
    from netloom.base.errors import InputError
    from netloom.routing import parse_routing
    from netloom.simulation.flow import FlowLaw, flow_network, run_flows
    from netloom.topology import topology

    _, make, arguments, more = CASES[name]
    spec, *flows = make(*arguments, **more)
    net = topology(spec)
    network = flow_network(net, bandwidth=BANDWIDTH, latency=0)
    routing = parse_routing("d-mod-k", net)
    table = table_of(net.num_hosts, *flows)
    few = table_of(net.num_hosts, *(column[:2] for column in flows[:4]), None)

    def run(table, tolerance=0.0):
        began = time.process_time()
        law = FlowLaw(injection="shared", tolerance=tolerance)
        found = run_flows(network, routing, table, law)
        return time.process_time() - began, found

    run(few)
    try:
        spent, found = run(table)
    except InputError as error:
        return {"refused": str(error), "flows": len(table)}, np.zeros(0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    spent = min([spent, *(run(table)[0] for _ in range(repeats - 1))])
    said = {"seconds": spent, "changes": found.batches, "flows": len(table), "peak_gb": peak}
    said["tolerant"] = []
    for tolerance in tolerances:
        seconds, about = run(table, tolerance)
        error = np.abs(about.arrived / found.arrived - 1)
        said["tolerant"].append((tolerance, seconds, float(error.max()), float(error.mean())))
    return said, found.arrived


def simgrid(name, *, actors):
    """Return when each flow of a case ends in SimGrid, and its CPU seconds."""
    from netloom.routing import parse_routing, paths
    from netloom.topology import topology
    from tests.peers.simgrid import timed_run

    _, make, arguments, more = CASES[name]
    spec, source, target, size, start, _ = make(*arguments, **more)
    net = topology(spec)
    pairs, route = np.unique(source * np.int64(net.num_hosts) + target, return_inverse=True)
    between = paths(net, parse_routing("d-mod-k", net), *np.divmod(pairs, net.num_hosts))
    taken = between.whole(net)
    capacity = net.channel_bandwidth * BANDWIDTH
    return timed_run(capacity, np.zeros(len(capacity)), (taken.offsets, taken.channels), start,
                     route, size, actors=actors)  # fmt: skip


def in_own_process(*words, **environment):
    """Return what this program prints in a process of its own that is asked for a case."""
    done = subprocess.run(
        [sys.executable, __file__, *map(str, words)], capture_output=True, text=True,
        env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def line(name, repeats, *, beside):
    """Return what is measured of a case."""
    with tempfile.TemporaryDirectory() as folder:
        ends = Path(folder, "ends.npy")
        said = in_own_process("--own", name, "--repeats", repeats, "--ends", ends)
        own = np.load(ends)
    if "refused" in said:
        return f"{CASES[name][0]:40} {said['flows']:>9,} refused: {said['refused']}", said
    spent, flows = said["seconds"], said["flows"]
    words = (f"{CASES[name][0]:40} {flows:>9,} {said['changes']:>9,} {spent:>8.3f} "
             f"{spent / flows * 1e6:>8.2f} {spent / said['changes'] * 1e6:>9.3g} "
             f"{said['peak_gb']:>6.2f}")  # fmt: skip
    if not beside or flows > MOST_SIMGRID or CASES[name][3].get("after"):
        return words, said
    theirs, one = simgrid(name, actors=False)
    _, two = simgrid(name, actors=True)
    off = np.abs(own / theirs - 1).max()
    return (
        f"{words} {one:>8.2f} {two:>8.2f} {one / spent:>6.0f}x {two / spent:>6.0f}x {off:>8.0e}",
        said,
    )


def first_time():
    """Return the CPU seconds of a small case with nothing compiled, and with all compiled."""
    with tempfile.TemporaryDirectory() as folder:
        return [in_own_process("--small", NUMBA_CACHE_DIR=folder)["seconds"] for _ in range(2)]


def small():
    """Return the CPU seconds of two flows, from the start of the run."""
    from netloom.routing import DModK
    from netloom.simulation.flow import flow_network, run_flows
    from netloom.topology import topology

    net = topology("leaf-spine:2x1x2")
    network = flow_network(net)
    table = table_of(4, np.array([0, 1]), np.array([2, 3]), np.array([5.0, 7.0]), np.zeros(2), None)
    began = time.process_time()
    run_flows(network, DModK(), table)
    return {"seconds": time.process_time() - began}


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(description="flows that share channels fairly")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--own", help=argparse.SUPPRESS)
    parser.add_argument("--ends", help=argparse.SUPPRESS)
    parser.add_argument("--small", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if asked.small:
        print(json.dumps(small()))
        return
    if asked.own:
        tolerances = TOLERANCES if asked.own == TOLERANT else ()
        said, ends = measured(asked.own, asked.repeats, tolerances)
        np.save(asked.ends, ends)
        print(json.dumps(said))
        return
    from tests.peers.simgrid import compiled

    _, missing = compiled()
    new, again = first_time()
    print(f"compiled in {new:.1f} s of CPU, once; loaded in {again:.1f} s")
    print(f"SimGrid is left out: {missing}" if missing else "SimGrid: CM02, corrections off")
    print(f"\n{'':40} {'flows':>9} {'changes':>9} {'CPU s':>8} {'us/flow':>8} {'us/change':>9} "
          f"{'GB':>6} {'differs':>8} {'SimGrid':>8} {'ratio':>7} {'actors':>8} {'ratio':>7}",
          flush=True)  # fmt: skip
    for name in asked.cases.split(","):
        words, said = line(name, asked.repeats, beside=not missing)
        print(words, flush=True)
        for tolerance, seconds, worst, mean in said.get("tolerant", ()):
            print(f"{'':4}tolerance {tolerance:<26g} {'':19} {seconds:>8.3f} {'':25} "
                  f"finishes off by {worst:.1e} at most, {mean:.1e} on average",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
