"""The routings that have names: which networks they fit, and which questions take them there."""

from __future__ import annotations

from netloom.base.declared import declared
from netloom.base.words import listed

NETWORKS = {
    "mesh": "meshes, hypercubes", "torus": "rings and tori", "graph": "other networks of nodes",
    "tree": "fat trees, leaf-spines", "dragonfly": "dragonflies", "grid": "hosts on meshes or tori",
    "hyperx": "HyperX", "rest": "hosts on any other network",
}  # fmt: skip
"""Kinds of networks. In the first three, every node is its own router."""

USES = {
    "p": "analyze, analyze permutations, map, collective, compile collective, simulate flows",
    "s": "simulate load, saturation, trace, loop, pattern, transactions, broadcast",
    "m": "predict latency",
}
"""What a routing is taken by. A capital: it is the default there."""

TABLE = """
dimension-order[:0,1], xy, …      PSM  PSM  -    -    -    PSM  PSM  -
shortest-path                     psm  psm  PSM  psm  psm  psm  psm  psm
spread                            psm  psm  psm  psm  psm  psm  psm  PsM
up-down, layered                  psm  psm  psm  psm  psm  psm  psm  psm
ecmp[:SEED]                       psm  psm  psm  psm  psm  psm  psm  psm
ecmp-polarised[:SEED]             psm  psm  psm  psm  psm  psm  psm  psm
minimal                           p    p    p    psm  psm  psm  psm  pSm
valiant                           ps   ps   p    psm  psm  psm  psm  psm
d-mod-k                           -    -    -    PsM  -    -    -    -
s-mod-k                           -    -    -    psm  -    -    -    -
nca (random-up)                   -    -    -    pSm  -    -    -    -
nca-adaptive[:all] (anca)         -    -    -    s    -    -    -    -
minimal-group                     -    -    -    -    PSM  -    -    -
valiant-group                     -    -    -    -    psm  -    -    -
ugal-l[:threshold=T] (ugal)       -    -    -    s    s    s    s    s
ugal-g[:threshold=T]              -    -    -    s    s    s    s    s
par[:threshold=T]                 -    -    -    -    s    -    -    -
min-adaptive                      -    -    -    s    s    s    s    s
adaptive[:ties=+]                 s    s    -    -    -    -    -    -
adaptive-sticky-escape[:ties=+]   s    s    -    -    -    -    -    -
dimension-order-static-dateline   sm   sm   -    -    -    -    -    -
romm                              s    s    -    -    -    -    -    -
west-first, odd-even              s    -    -    -    -    -    -    -
negative-first                    s    -    -    -    -    -    -    -
o1turn, o1turn-adaptive           s    -    -    -    -    -    -    -
minhop, dnup, dor                 psm  psm  psm  psm  psm  psm  psm  psm
sssp, dfsssp, lash, nue[:LANES]   psm  psm  psm  psm  psm  psm  psm  psm
updn, ftree                       -    -    -    psm  -    -    -    -
torus-2qos                        psm  psm  -    -    -    psm  psm  -
"""
"""Routings, and what takes them on each of ``NETWORKS``. Options are in brackets, synonyms in
parentheses."""

NOTES = (
    f"With --engine {listed(['flow', *declared('engines')], last='or')}, simulate takes what p "
    "has. A routing that can deadlock on the VCs that there are is refused.",
    "fabric and route take OpenSM's engines (minhop to torus-2qos) and lfts:FILE; fabrics from "
    "files have minhop by default. updn and ftree fit wherever OpenSM would not fall back.",
    "routes:FILE fits any network, lfts:FILE any fabric with LIDs.",
)


def rows() -> list[tuple[str, list[str]]]:
    """Return the names of each row of ``TABLE``, and its cells.

    Examples
    --------
    >>> rows()[0]
    ('dimension-order[:0,1], xy, …', ['PSM', 'PSM', '-', '-', '-', 'PSM', 'PSM', '-'])
    """
    found = []
    for line in TABLE.strip().split("\n"):
        words = line.split()
        names = len(words) - len(NETWORKS)
        found.append((" ".join(words[:names]), words[names:]))
    return found
