"""Tables in few lanes of networks that are not trees, beside OpenSM's engines as netloom has them.

For each network: the bound of its busiest channel; of Nue in one lane, of dfsssp and of a search in
one lane, in two, and in as many as dfsssp takes: paths on the busiest channel in an all-to-all,
that over the bound, effective bisection bandwidth, lanes, and processor seconds (kernels compiled
beforehand).

Usage: python benchmarks/few_lanes.py [networks]
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.bounds import busiest_bound
from netloom.contention import effective_bisection, shift_loads
from netloom.fabrics.few_lanes import in_few_lanes
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.tables import lane_circle, lanes_used
from netloom.topology import Topology, topology

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.routing.forwarding.tables import ForwardingTable

NETWORKS = (
    "mesh:4x4/1", "hypercube:5", "torus:4x4x4/1", "torus:6x6/2", "dragonfly:2x4x2",
    "hyperx:3x3x5/2", "jellyfish:32x5x3/1",
)  # fmt: skip


def line(net: Topology, name: str, bound: float, made: Callable[[], ForwardingTable]) -> int:
    """Print what there is to say of a table; return its lanes, 0 if there is none."""
    began = time.process_time()
    try:
        table = made()
    except InputError as error:
        print(f"  {name:10} {error}", flush=True)
        return 0
    seconds = time.process_time() - began
    time_of = shift_loads(net, table).total_load / net.channel_bandwidth
    busiest = time_of[: net.num_network_channels].max()
    half = effective_bisection(net, table).mean
    circle = "  credit loop" if lane_circle(net, table) else ""
    lanes = lanes_used(table)
    print(
        f"  {name:10} {busiest:6.0f}  {busiest / bound:6.3f}  {half:.4f}  {lanes} lanes"
        f"  {seconds:6.2f} s{circle}",
        flush=True,
    )
    return lanes


def main() -> None:
    """Print all lines."""
    in_few_lanes(topology("torus:3x3/1"), effort=0.1)
    for name in sys.argv[1:] or NETWORKS:
        net = topology(name)
        bound = busiest_bound(net)
        print(f"{net}\n  bound      {bound.value:6.1f}  {bound.why}", flush=True)
        taken = 0
        for engine in ("nue", "dfsssp"):
            if engine in ENGINES:
                taken = line(net, engine, bound.value, lambda: ENGINES[engine](net))  # noqa: B023
        for lanes in sorted({1, 2, max(taken, 1)}):
            line(net, f"search {lanes}", bound.value, lambda: in_few_lanes(net, lanes))  # noqa: B023


if __name__ == "__main__":
    main()
