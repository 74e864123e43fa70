"""Small networks, one of each family, and small programs, one of each pattern.

A test that means all families or patterns draws from here. ``tests/topology/test_parse.py`` and
``tests/workload/test_parse.py`` fail where a register has a name without an example.
"""

DIRECT = {
    "mesh": "mesh:3x2", "torus": "torus:4x3", "line": "line:4", "ring": "ring:5",
    "hypercube": "hypercube:3", "cube": "cube:3wx2", "twisted-torus": "twisted-torus:4x2",
}  # fmt: skip
"""By family: networks whose routers are hosts, and which take ``/c`` hosts on each."""

SWITCHED = {
    "fat-tree": "fat-tree:2x3", "xgft": "xgft:3x2/1x2", "leaf-spine": "leaf-spine:3x2x2/2",
    "rail": "rail:2x1x2x2", "dragonfly": "dragonfly:1x2x1", "dragonfly+": "dragonfly+:1x2x1x1",
    "hyperx": "hyperx:3x2/2", "slim-fly": "slim-fly:3/1", "jellyfish": "jellyfish:6x3x1/1",
    "butterfly": "butterfly:2x2", "folded": "folded:4x3",
}  # fmt: skip
"""By family: networks whose hosts hang on routers."""

OTHERS = {
    "omega": "omega:4",
    "graph": "graph:examples/two-hosts.graphml",
    "fabric": "fabric:examples/dgx-40.ibnetdiscover",
}
"""By family: processors and memories, and networks of files."""

COMPUTERS = ("leaf-spine:3x2x2@2x2x9", "rail:2x1x2x2@4x2x3", "dragonfly:1x2x1@4x2x4")
"""Networks of computers: each GPU with a card, and two that share one."""

HOSTED = (*COMPUTERS, *SWITCHED.values(), *(f"{spec}/2" for spec in DIRECT.values()))
"""A small network with hosts on routers of each family that has such."""

EVERY = (*DIRECT.values(), *HOSTED)
"""A small network of each family all of whose nodes compute, without hosts and with them."""

ONE_WAY = ("butterfly",)
"""Families whose channels lead one way: packets enter at one router, and leave at another."""

TWO_WAY = tuple(spec for spec in EVERY if not spec.startswith(ONE_WAY))
"""The others' small networks."""


def with_all(specs, *, one_way=True):
    """Return specs, and behind them an example of each family of which none is among them."""
    met = {spec.partition(":")[0] for spec in specs} | (set() if one_way else set(ONE_WAY))
    more = {**DIRECT, **SWITCHED}
    return [*specs, *(spec for family, spec in more.items() if family not in met)]


PROGRAMS = {
    "binary-tree": "binary-tree:7", "mesh": "mesh:3x3", "torus": "torus:4x3", "line": "line:5",
    "ring": "ring:6", "hypercube": "hypercube:3", "all-to-all": "all-to-all:5",
    "butterfly": "butterfly:4", "random-regular": "random-regular:8,3", "transpose": "transpose:3",
    "bit-complement": "bit-complement:8", "bit-reverse": "bit-reverse:8", "shuffle": "shuffle:8",
    "tornado": "tornado:4x3", "neighbour": "neighbour:3x3", "shift": "shift:1,3/8",
    "random-permutation": "random-permutation:9", "llm": "llm:dp=2,tp=2,layers=2,hidden=64",
}  # fmt: skip
"""A small program of each pattern, by its name."""
