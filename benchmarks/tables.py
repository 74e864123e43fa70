"""Balanced tables beside those of OpenSM's engines, on broken trees and on direct networks.

    python benchmarks/tables.py [--opensm RUNNER] [--engines minhop,updn,dfsssp,nue] [CASE ...]

Prints of each table the busiest channel in an all-to-all over its bound, effective bisection
bandwidth, the worst shift, lanes and seconds. RUNNER is a program that takes a fabric in ibsim's
form, an engine and a folder, and leaves there what OpenSM dumps; without one, only netloom's tables
are measured. A CASE is a number of the list below, a spec string, or a file of a fabric.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from netloom.base.errors import InputError
from netloom.bounds import busiest_bound
from netloom.contention import effective_bisection, shift_loads
from netloom.fabrics.balancing import balanced
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import lane_circle, lanes_used, layered
from netloom.topology import topology, without
from netloom.topology.core import attach_hosts, way_back

CASES = (
    ("fat-tree:4x3", 0.08), ("fat-tree:k=8", 0.05), ("leaf-spine:12x6x12", 0.1),
    ("leaf-spine:10x4x9/2", 0.1), ("xgft:4x4x6/1x3x2", 0.08), ("xgft:6x4x4/1x2x4/1x2x1", 0.1),
    ("leaf-spine:16x8x6", 0.3), ("fat-tree:4x3", 0.2), ("mixed", 0.08),
    ("torus:4x6", 0.0), ("hyperx:4x4/4", 0.0), ("jellyfish:32x5x3/1", 0.0),
    ("slim-fly:5/2", 0.0), ("dragonfly:2x4x2", 0.05), ("mesh:5x5", 0.0), ("torus:4x4x4", 0.03),
)  # fmt: skip


def broken(spec, share, seed=11):
    """Return a network without a share of its cables; ``mixed`` has hosts on its spines, too."""
    if spec == "mixed":
        net = topology("leaf-spine:8x4x6")
        above = np.append(net.injection_router, np.arange(8, 12).repeat(2))
        net = attach_hosts(net.routers, above, name="mixed")
    else:
        net = topology(spec)
    back, rng = way_back(net), np.random.default_rng(seed)
    cables = [c for c in range(net.num_network_channels) if c < back[c]]
    cut = []
    for cable in rng.permutation(cables)[: round(share * len(cables))].tolist():
        try:
            without(net, channels=[*cut, cable, int(back[cable])])
        except InputError:
            continue
        cut += [cable, int(back[cable])]
    return without(net, channels=cut) if cut else net


def ibsim_text(net):
    """Return the network in ibsim's form."""
    lines, used = [], np.zeros(net.num_routers, int)
    ports: dict[int, list[str]] = {router: [] for router in range(net.num_routers)}
    back, number = way_back(net), {}
    inside = net.routers
    for channel in range(net.num_network_channels):
        used[inside.channel_source[channel]] += 1
        number[channel] = used[inside.channel_source[channel]]
    for channel, port in number.items():
        there = inside.channel_target[channel]
        line = f'[{port}]\t"S-{0x2000000 + there:016x}"[{number[int(back[channel])]}]'
        ports[int(inside.channel_source[channel])].append(line)
    hosts = []
    at = np.arange(net.num_hosts) if net.direct else net.injection_router
    for host, router in enumerate(at.tolist()):
        used[router] += 1
        guid = 0x1000000 + 2 * host
        ports[router].append(f'[{used[router]}]\t"H-{guid:016x}"[1]({guid + 1:x})')
        there = f'"S-{0x2000000 + router:016x}"[{used[router]}]'
        hosts += [f"caguid=0x{guid:x}", f'Ca\t1 "H-{guid:016x}"\t\t# "Hca{host}"']
        hosts += [f"[1]({guid + 1:x})\t{there}", ""]
    for router, own in ports.items():
        guid = 0x2000000 + router
        head = f'Switch\t{used[router]} "S-{guid:016x}"\t\t# "Switch{router}"'
        lines += [f"switchguid=0x{guid:x}({guid:x})", head, *own, ""]
    return "\n".join([*lines, *hosts])


def figures(net, table, bound, seconds=None):
    """Return a line about a table."""
    shifts = shift_loads(net, table)
    rate = net.channel_bandwidth[: net.num_network_channels]
    busiest = (shifts.total_load[: net.num_network_channels] / rate).max()
    share = effective_bisection(net, table).mean
    lanes = lanes_used(table)
    if table.lanes is None and lane_circle(net, table):
        lanes = int(layered(net, table.next_channel, most=60).level.max()) + 1
    timed = "" if seconds is None else f"  {seconds:.2f} s"
    return (
        f"{busiest:8.1f} {busiest / bound:6.3f}x  {share:.4f}  {shifts.longest_time.max():3.0f} "
        f"{shifts.longest_time.mean():6.3f}  {lanes}{timed}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opensm")
    parser.add_argument("--engines", default="minhop,updn,dfsssp,nue")
    parser.add_argument("cases", nargs="*")
    asked = parser.parse_args()
    balanced(topology("torus:3x3"))
    cases = asked.cases or [str(number) for number in range(len(CASES))]
    for case in cases:
        net = broken(*CASES[int(case)]) if case.isdigit() else topology(case)
        bound = busiest_bound(net).value
        print(f"{net}  bound {bound:.1f}", flush=True)
        began = time.perf_counter()
        best = balanced(net)
        print(f"  {'balanced':9}", figures(net, best.table, bound, time.perf_counter() - began))
        for each in best.front:
            if each.table is not best.table:
                print(f"  {'':9}{each.all_to_all:9.1f} {each.all_to_all / bound:6.3f}x "
                      f" {each.bisection:.4f}  {each.shift_max:3.0f} {each.shift_mean:6.3f} "
                      f" {each.lanes}")  # fmt: skip
        if not asked.opensm:
            continue
        for engine in asked.engines.split(","):
            with tempfile.TemporaryDirectory() as folder:
                fabric = Path(folder, "fabric.ibsim")
                fabric.write_text(ibsim_text(net))
                said = subprocess.run(
                    ["timeout", "120", asked.opensm, fabric, engine, folder],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                ).stdout.strip().replace("\n", " ")  # fmt: skip
                try:
                    seen = topology(f"fabric:{folder}/ibnetdiscover.txt")
                    table = read_lfts(seen, f"{folder}/opensm-lfts.dump")
                except (InputError, OSError) as error:
                    print(f"  {engine:9} {error}")
                    continue
                print(f"  {engine:9}", figures(seen, table, bound), said.split(" tables")[0])


if __name__ == "__main__":
    main()
