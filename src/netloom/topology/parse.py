"""Topologies by name, such as ``mesh:8x8``, ``torus:4x4x4``, ``omega:512``, ``graph:FILE``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.errors import InputError
from netloom.spec import parse_sides, split_spec, whole_number
from netloom.topology.cubes import Cube, cube, hypercube, mesh, torus
from netloom.topology.families.trees import clos_of_switches, k_ary_n_tree, leaf_spine, xgft
from netloom.topology.graph import graph_topology, read_graph
from netloom.topology.omegas import Omega, omega

if TYPE_CHECKING:
    from collections.abc import Callable

    import networkx as nx

    from netloom.topology.core import Topology

TOPOLOGIES = (
    "mesh:8x8, torus:4x4x4, line:16, ring:16, hypercube:6, cube:8wx4, omega:512, omega:4096/8, "
    "fat-tree:4x3, fat-tree:k=8, xgft:4x4x4/1x2x4, leaf-spine:8x4x8 or graph:FILE"
)


def topology(spec: str | nx.Graph[Any]) -> Topology:
    """Return the network that ``spec`` names, or that a NetworkX graph is.

    ``mesh:8x8`` and ``torus:4x4x4`` take any number of sides, ``line:16`` and ``ring:16`` one,
    ``hypercube:6`` a dimension; ``cube:8wx4`` wraps just the sides marked ``w``; ``omega:512``
    takes a number of PEs, ``omega:4096/8`` that and the size of its switches, here 8 × 8;
    ``graph:FILE`` reads GraphML or an edge list.

    Raises
    ------
    InputError
        If the name is not known, an argument is wrong, or the network would be too large.

    Examples
    --------
    >>> topology("ring:16").num_channels
    32
    >>> topology("cube:8wx4").wraps
    (True, False)
    >>> topology("omega:4096/8").stages
    4
    """
    if not isinstance(spec, str):
        return graph_topology(spec)
    name, argument = split_spec(spec)
    if name not in _MAKERS:
        raise InputError(f"topology '{spec}'", f"'{name}'", TOPOLOGIES)
    return _MAKERS[name](argument, spec)


def _one_side(argument: str, spec: str, *, wraps: bool) -> Cube:
    sides = parse_sides(argument, where=spec)
    if len(sides) != 1:
        raise InputError(spec, f"{len(sides)} sides", "one number of nodes")
    return cube(sides, wraps=wraps, name=spec)


def _hypercube(argument: str, spec: str) -> Cube:
    dimension = whole_number(argument, where=spec, least=1)
    if dimension > 28:
        raise InputError(spec, f"{dimension} dimensions", "at most 28")
    return hypercube(dimension)


def _mixed(argument: str, spec: str) -> Cube:
    marks = [side.endswith("w") for side in argument.split("x")]
    return cube(parse_sides(argument.replace("w", ""), where=spec), wraps=marks, name=spec)


def _omega(argument: str, spec: str) -> Omega:
    pes, slash, switch_size = argument.partition("/")
    size = whole_number(switch_size, where=spec) if slash else 2
    return omega(whole_number(pes, where=spec), size)


def _numbers(argument: str, spec: str, count: int, wanted: str) -> tuple[int, ...]:
    """Return the whole numbers of ``8x4x8``, as many as there must be."""
    words = argument.split("x")
    if len(words) != count:
        raise InputError(spec, f"'{argument}'", wanted)
    return tuple(whole_number(word, where=spec, least=1) for word in words)


def _fat_tree(argument: str, spec: str) -> Topology:
    if argument.startswith("k="):
        return clos_of_switches(whole_number(argument[2:], where=spec), name=spec)
    wanted = "k and n, such as fat-tree:4x3, or switches of k ports, such as fat-tree:k=8"
    return k_ary_n_tree(*_numbers(argument, spec, 2, wanted), name=spec)


def _xgft(argument: str, spec: str) -> Topology:
    parts = argument.split("/")
    if len(parts) not in (2, 3):
        raise InputError(spec, f"'{argument}'", "xgft:4x4x4/1x2x4, or with /1x1x2 parallel links")
    numbers = [
        [whole_number(word, where=spec, least=1) for word in part.split("x")] for part in parts
    ]
    return xgft(*numbers, name=spec)


def _leaf_spine(argument: str, spec: str) -> Topology:
    shape, slash, cables = argument.partition("/")
    wanted = "leaves, spines and hosts a leaf, such as leaf-spine:8x4x8"
    leaves, spines, hosts = _numbers(shape, spec, 3, wanted)
    parallel = whole_number(cables, where=spec, least=1) if slash else 1
    return leaf_spine(leaves, spines, hosts, parallel, name=spec)


def _graph(argument: str, spec: str) -> Topology:
    if not argument:
        raise InputError(spec, "no file", "graph:FILE")
    return read_graph(argument)


_MAKERS: dict[str, Callable[[str, str], Topology]] = {
    "mesh": lambda argument, spec: mesh(*parse_sides(argument, where=spec)),
    "torus": lambda argument, spec: torus(*parse_sides(argument, where=spec)),
    "line": lambda argument, spec: _one_side(argument, spec, wraps=False),
    "ring": lambda argument, spec: _one_side(argument, spec, wraps=True),
    "hypercube": _hypercube,
    "cube": _mixed,
    "omega": _omega,
    "fat-tree": _fat_tree,
    "xgft": _xgft,
    "leaf-spine": _leaf_spine,
    "graph": _graph,
}
