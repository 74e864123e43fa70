"""OpenSM's engines as netloom computes them, beside the genuine ones where these are installed.

For each engine: netloom's seconds (kernels compiled beforehand), the genuine OpenSM's from its
first line to ``tables configured`` (it discovers the fabric first, in a simulated subnet), and
their ratio; paths on the busiest channel in an all-to-all, effective bisection bandwidth, and
lanes, of netloom's table; and how many entries differ, of how many. Where OpenSM configures another
engine than it was asked for, that is said instead.

Usage: python benchmarks/fabrics.py [--engines sssp,nue] [fabrics, as netloom names networks]

Without fabrics: the DGX fabric of the examples, and a three-level tree of 432 hosts. The genuine
engines need Debian's opensm, ibsim-utils, libumad2sim0 and infiniband-diags (``make opensm``).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.contention import effective_bisection, shift_loads
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import lanes_used
from netloom.topology import Topology, topology
from tests.reference.ibsim import ibsim_text

if TYPE_CHECKING:
    from netloom.routing.forwarding.tables import ForwardingTable

ROOT = Path(__file__).parents[1]
FABRICS = (f"fabric:{ROOT / 'examples/dgx-40.ibnetdiscover'}", "xgft:6x6x12/1x6x6")
STAMP = re.compile(r"^(\w{3} \d+ [\d:]{8}) (\d{6}) ", re.MULTILINE)


class Genuine:
    """OpenSM in a simulated subnet, and the same network as ibnetdiscover then describes it."""

    def __init__(self, net: Topology, folder: Path) -> None:
        sys.path.insert(0, str(ROOT))
        from tests.fabrics.opensm import simulated

        self.fabric = folder / "fabric.ibsim"
        self.fabric.write_text(ibsim_text(net))
        self.folder = folder
        self.simulated = simulated
        with simulated(self.fabric, folder) as subnet:
            subnet.opensm("minhop")
            self.net = topology(f"fabric:{subnet.scan()}")

    def table(self, engine: str) -> tuple[ForwardingTable, str, float]:
        """Return a table, the engine that was configured, and seconds."""
        with self.simulated(self.fabric, self.folder) as subnet:
            said, dump = subnet.opensm(engine)
        log = (self.folder / "opensm.log").read_text()
        stamps = [
            datetime.strptime(f"2000 {words}.{micro}", "%Y %b %d %H:%M:%S.%f")
            for words, micro in STAMP.findall(log[: log.index("tables configured")])
        ]
        seconds = (stamps[-1] - stamps[0]).total_seconds()
        return read_lfts(self.net, str(dump)), next(iter(said)).split()[0], seconds


def line(net: Topology, engine: str, genuine: Genuine | None) -> str:
    """Return what there is to say of an engine on a fabric."""
    theirs, beside = None, ""
    if genuine:
        theirs, configured, seconds = genuine.table(engine)
        beside = f"  OpenSM {seconds:6.2f} s"
        if configured != engine:
            return f"  {engine:8}{beside}  configures {configured}"
    try:
        ENGINES[engine](net)
        began = time.perf_counter()
        table = ENGINES[engine](net)
        own = time.perf_counter() - began
    except InputError as error:
        return f"  {engine:8}{beside}  {error}"
    busiest = shift_loads(net, table).total_load[: net.num_network_channels].max()
    half = effective_bisection(net, table, samples=300).mean
    if theirs is not None:
        beside += f"  ratio {seconds / own:6.1f}  entries that differ: "
        beside += (
            f"{np.sum(theirs.next_channel != table.next_channel)} of {theirs.next_channel.size}"
        )
    return f"  {engine:8} {own:7.3f} s  {busiest:5}  {half:.3f}  {lanes_used(table)}{beside}"


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(description="engines of OpenSM")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("fabrics", nargs="*", default=FABRICS)
    asked = parser.parse_args()
    there = which("opensm", path="/usr/sbin:/usr/bin") and which("ibsim")
    for name in asked.fabrics:
        net = topology(name)
        print(net, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            genuine = Genuine(net, Path(folder)) if there else None
            seen = genuine.net if genuine else net
            for engine in asked.engines.split(","):
                print(line(seen, engine, genuine), flush=True)


if __name__ == "__main__":
    main()
