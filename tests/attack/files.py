"""Small files of every kind that netloom reads, what reads them, and ways to break them."""

from __future__ import annotations

import gzip
import json
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

MATRIX = b"""%%MatrixMarket matrix coordinate integer general
% bytes
4 4 4
1 2 100
2 3 100
3 4 7
4 1 1
"""
TABLE = b"# tasks: 4\nsource,target,bytes,messages\n0,1,4096,4\n1,2,10,1\n2,3,5,1\n3,0,5,1\n"
GRAPH = b"""<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="b" for="edge" attr.name="bytes" attr.type="double"/>
<graph edgedefault="directed"><node id="0"/><node id="1"/><node id="2"/>
<edge source="0" target="1"><data key="b">5</data></edge>
<edge source="1" target="2"><data key="b">5</data></edge>
<edge source="2" target="0"><data key="b">5</data></edge></graph></graphml>
"""
LINKS = b"# links\na b\nb c\nc -> a\na c\n"
SWITCHED = b"""clock: 1GHz
hosts: h[0-2] d
h0 s0 10Gb/s 5ns
h1 s0 10Gb/s 5ns
h2 s1 1.25GB/s 5ns
d -> s1 10Gb/s 1us
s1 -> d 10Gb/s 5ns
s0 s1 40Gb/s 600ns
s0 s1 40Gb/s 600ns
"""
CABLED = b"""<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="k" for="node" attr.name="kind" attr.type="string"/>
<key id="c" for="node" attr.name="computer" attr.type="string"/>
<key id="b" for="edge" attr.name="bandwidth" attr.type="string"/>
<graph edgedefault="undirected"><node id="s"><data key="k">switch</data></node>
<node id="g0"><data key="k">gpu</data><data key="c">n0</data></node>
<node id="g1"><data key="k">gpu</data><data key="c">n0</data></node>
<node id="g2"><data key="k">gpu</data><data key="c">n1</data></node>
<edge source="s" target="g0"><data key="b">100Gb/s</data></edge>
<edge source="s" target="g1"><data key="b">100Gb/s</data></edge>
<edge source="s" target="g2"><data key="b">200Gb/s</data></edge>
<edge source="g2" target="s"><data key="b">200Gb/s</data></edge></graph></graphml>
"""
TRACE = b"""# tasks: 4
id,after,compute_cycles,source,target,flits
a,,5,0,1,8
b,a,2,1,2,8
c,b,1,2,3,4
"""
GOAL = b"num_ranks 2\nrank 0 {\nl1: calc 100\nl2: send 64b to 1\nl2 requires l1\n}\nrank 1 {\n" \
    b"l1: recv 64b from 0\n}\n"  # fmt: skip
OWN_MACHINE = b"""topology = "leaf-spine:2x1x2"
bandwidth = "200Gb/s"
latency = "300ns"
flit_bytes = "64B"
[[links]]
between = "hosts"
latency = "150ns"
[[links]]
between = ["leaf*", "spine0"]
bandwidth = "12.5GB/s"
[router]
vcs = 2
[[message_costs]]
startup = "2us"
per_byte = "0.1ns"
"""

EXPERIMENT = b"""title = "t"
[[analyze]]
app = ["ring:4", "all-to-all:4"]
on = "mesh:2x2"
random_mappings = 2
[predict.latency]
on = "mesh:2x2"
offered = "0.1:0.2:0.1"
"""
MAPPING = b"# nodes\n3\n2\n1\n0\n"
ROUTES = b"0 1\n1 0\n0 2\n2 0\n1 3\n3 1\n2 3\n3 2\n"
COUNTS = b"4 1 1\n"
ANYNET = b"router 0 node 0 node 1 router 1 15\nrouter 1 node 2 node 3 router 0 15\n"
SLURM = b"# tree\nSwitchName=top Switches=s[0-1]\nSwitchName=s0 Nodes=n[0-1] LinkSpeed=2\n" \
    b"SwitchName=s1 Nodes=n[2-3]\n"  # fmt: skip
TORUS = b"""- topology: t
  torus3d:
    toruses:
    - name: a
      dims: {x: 2, y: 2, z: 1}
      nodes: n[1-4]
"""
MODEL = b"switches:\n  t:\n    switches: [s, u]\n  s:\n    nodes: ['n[1-2]']\nblocks:\n" \
    b"- switch: u\n  nodes: [m1, m2]\n"  # fmt: skip
PLATFORM = b"""<?xml version='1.0'?>
<platform version="4.1"><zone id="w" routing="Full"><cluster id="c" prefix="n-" radical="0-3"
suffix="" speed="1Gf" bw="125MBps" lat="50us" topology="FAT_TREE" topo_parameters="2;2,2;1,2;1,1"/>
</zone></platform>
"""
MACHINE = b"""<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" modelid="49">
<pci busid="1" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
<pci busid="2" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="80">
<nvlink target="9" count="2" tclass="0x068000"/></gpu></pci>
<pci busid="3" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="8"/></pci></cpu>
<cpu numaid="1" arch="x86_64" vendor="AuthenticAMD" modelid="49">
<pci busid="4" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="80">
<nvlink target="9" count="2" tclass="0x068000"/></gpu></pci>
<pci busid="5" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="8"/></cpu></system>
"""
INFRASTRUCTURE = b"""{"devices": [{"name": "pc", "components": [{"name": "nic", "choice": "nic",
"count": 2}]}, {"name": "sw", "components": [{"name": "port", "choice": "port", "count": 8}]}],
"links": [{"name": "e", "physical": {"bandwidth": {"gigabits_per_second": 100}}}],
"instances": [{"name": "h", "device": "pc", "count": 2}, {"name": "s", "device": "sw"}],
"edges": [{"ep1": {"instance": "h[0:2]", "component": "nic"}, "ep2": {"instance": "s[0]",
"component": "port[0:4]"}, "link": "e", "scheme": "one2one"}]}
"""

ODD = [b"0", b"-1", b"nan", b"inf", b"1e308", b"3.5", b"x", b"", b"99999999999999999999", b"\xff",
       b"\x00", b"\x1b[2J", b'"', b",", b"{", b"\n", b"\r", "é".encode(), b"9" * 400]  # fmt: skip


PRINTED = ("multi-plain.txt", "multi-ports.txt", "multi-linkinfo.txt",
           "multi-opensm-subnet.lst")  # fmt: skip
"""What InfiniBand's tools print of one fabric."""

SYSTEMS = b"""MTS2400 L1
   P1 -> MT23108 H-1 P1
   P2 -4x-5G-> MT23108 H-1 P2
   P24 -> MTS2400 S1 P1
MTS2400 L2
   P1 -> Cougar H-2 P1
   P24 -> MTS2400 S1 P2
"""
IBSIM = b"""Switch 4 "Sw1"
[1] "Hca1"[1]
[3] "Sw2"[3] w=12
Switch 4 "Sw2"
[1] "Hca2"
Hca 2 "Hca1"
Hca 1 "Hca2"
"""
CONF = b"""PARAMS
{
   num_routers="4";
   num_groups="9";
   num_cns_per_router="2";
   intra-group-connections="nowhere-intra";
   inter-group-connections="nowhere-inter";
}
"""


def _fabric(name: str) -> bytes:
    data = Path(__file__).parents[1] / "topology" / "subnets" / "data"
    return gzip.decompress((data / f"{name}.gz").read_bytes())


@cache
def _npz() -> bytes:
    data = BytesIO()
    edge = np.array([0, 1, 2])
    np.savez(data, num_tasks=4, source=edge, target=edge + 1, bytes=edge * 1.0, messages=edge * 1.0)
    return data.getvalue()


@cache
def _plan() -> bytes:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import netloom

    with TemporaryDirectory() as folder:
        file = Path(folder, "plan.json")
        netloom.compile_phases("ring:4", "mesh:2x2").write(file)
        return file.read_bytes()


@cache
def _collective() -> bytes:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import netloom

    with TemporaryDirectory() as folder:
        file = Path(folder, "plan.json")
        netloom.compile_collective("all-gather", "mesh:2x2", size=64, chunks=1).write(file)
        return file.read_bytes()


def _mapping_json() -> bytes:
    return json.dumps({"topology": "mesh:2x2", "node_of": [3, 2, 1, 0]}).encode()


ON = "--on mesh:2x2 --random-mappings 0"
FABRIC = "analyze ring:4 --on fabric:FILE --random-mappings 0"
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a.mtx": (lambda: MATRIX, f"analyze FILE {ON}"),
    "a.csv": (lambda: TABLE, f"analyze FILE {ON}"),
    "a.tsv": (lambda: TABLE.replace(b",", b"\t"), f"analyze FILE {ON}"),
    "a.npz": (_npz, f"analyze FILE {ON}"),
    "a.graphml": (lambda: GRAPH, f"analyze FILE {ON}"),
    "net.graphml": (lambda: GRAPH, "analyze ring:3 --on graph:FILE --random-mappings 0"),
    "net.edges": (lambda: LINKS, "analyze ring:3 --on graph:FILE --random-mappings 0"),
    "switched.edges": (
        lambda: SWITCHED,
        "analyze ring:4 --on graph:FILE --nodes h[0-2],d --random-mappings 0",
    ),
    "switched.graphml": (
        lambda: CABLED,
        "analyze ring:3 --on graph:FILE --nodes n1,n0 --random-mappings 0",
    ),
    "net.any": (lambda: ANYNET, FABRIC),
    "topology.conf": (lambda: SLURM, FABRIC),
    "topology.yaml": (lambda: TORUS, FABRIC),
    "model.yaml": (lambda: MODEL, FABRIC),
    "platform.xml": (lambda: PLATFORM, FABRIC),
    "nccl.xml": (lambda: MACHINE, FABRIC),
    "dally.conf": (lambda: CONF, FABRIC),
    "systems.topo": (lambda: SYSTEMS, FABRIC),
    "net.ibsim": (lambda: IBSIM, FABRIC),
    **{name: (partial(_fabric, name), FABRIC) for name in PRINTED},
    "infra.json": (lambda: INFRASTRUCTURE, FABRIC),
    "map.txt": (lambda: MAPPING, f"analyze ring:4 {ON} --mapping FILE"),
    "map.json": (_mapping_json, f"analyze ring:4 {ON} --mapping FILE"),
    "routes.txt": (lambda: ROUTES, f"analyze ring:4 {ON} --routing routes:FILE"),
    "trace.csv": (lambda: TRACE, "simulate trace FILE --on mesh:2x2 --most-cycles 1000"),
    "trace.goal": (
        lambda: GOAL,
        "simulate trace FILE --on mesh:2x2 --flit-bytes 16 --most-cycles 1000",
    ),
    "plan.json": (_plan, "compile verify FILE"),
    "collective.json": (_collective, "compile verify FILE"),
    "order.txt": (lambda: b"0 1 < 1 2\n", "compile ring:4 --on mesh:2x2 --order FILE"),
    "machine.toml": (lambda: OWN_MACHINE, "analyze ring:4 --on machine:FILE --random-mappings 0"),
    "exp.toml": (lambda: EXPERIMENT, "results FILE"),
    "exp.sqlite": (lambda: b"SQLite format 3\x00" + bytes(90), "results FILE"),
    "hosts": (
        lambda: b"n0\nn1\nn2\nn3\n",
        "map ring:4 --on mesh:2x2 --rounds 1 --hosts FILE --nodes n0,n1,n2,n3",
    ),
    "slots": (
        lambda: b"# mine\nh[4-5,7] slots=2\nh1:4 slots=2 max_slots=4\n",
        "analyze ring:8 --on leaf-spine:4x1x2 --random-mappings 0 --ranks-per-node 2 --nodes FILE",
    ),
    "nodes": (lambda: b"0\n1-2\n3\n", "map ring:4 --on mesh:2x2 --rounds 1 --nodes FILE"),
}
"""By name: what is whole, and the command that reads it."""


def broken(draw: Random, data: bytes) -> bytes:
    """Return a file to which one to three things have happened."""
    for _ in range(draw.choice([1, 1, 2, 3])):
        data = draw.choice(WAYS)(draw, data)
    return data


def _cut(draw: Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _insert(draw: Random, data: bytes) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + draw.choice(ODD) + data[place:]


def _flip(draw: Random, data: bytes) -> bytes:
    if not data:
        return data
    place = draw.randrange(len(data))
    return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]


def _replace_word(draw: Random, data: bytes) -> bytes:
    """Put something odd in place of a word or a number."""
    words = data.split(b" ") if b" " in data else data.split(b",")
    words[draw.randrange(len(words))] = draw.choice(ODD)
    return (b" " if b" " in data else b",").join(words)


def _repeat_line(draw: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))
    return b"\n".join(lines)


def _drop_line(draw: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    del lines[draw.randrange(len(lines))]
    return b"\n".join(lines)


WAYS = [_cut, _insert, _flip, _replace_word, _repeat_line, _drop_line]
