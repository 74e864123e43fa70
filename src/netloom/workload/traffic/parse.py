"""Traffic patterns by name, on a network."""

from __future__ import annotations

import re
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.spec import real_number, split_spec, whole_number
from netloom.topology import Cube, Topology
from netloom.words import counted
from netloom.workload.graphs import permutations
from netloom.workload.traffic import Traffic, hot_spot, pairs, permutation, uniform
from netloom.workload.traffic.groups import next_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.workload.graphs.process_graph import ProcessGraph

TRAFFICS = (
    "uniform, transpose, bit-complement, bit-reverse, shuffle, tornado, neighbour (each also with "
    "-self), next-group, hot-spot:FRACTION:NODES, hot-spot:FRACTION:NODES:BASE or pairs:0-63,5-12"
)

_PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?:\*(.+))?")


def parse_traffic(spec: str, topology: Topology) -> Traffic:
    """Return the traffic pattern that ``spec`` names, on the nodes of this network.

    Parameters
    ----------
    spec
        ``uniform``, to any other node. A permutation: ``transpose`` (of the nodes as a square
        matrix), ``bit-complement``, ``bit-reverse``, ``shuffle`` (of the bits of their numbers),
        ``tornado``, ``neighbour`` (of their coordinates); nodes that it leaves where they are do
        not send. With ``-self`` (``uniform-self``, ``transpose-self``), packets to the source
        itself belong to it. ``hot-spot:0.1:0,63``: a tenth of the packets to nodes 0 and 63, the
        others uniform, or by a third part, ``hot-spot:0.1:0,63:transpose``. ``pairs:0-63,5-12*2``:
        between these pairs only, node 5 at twice the rate of node 0. ``next-group``: to any host
        of the next group of a dragonfly, or of the next pod of a fat tree.
    topology
        The network; ``tornado`` and ``neighbour`` need a k-ary n-cube.

    Raises
    ------
    InputError
        If the name is not known, or does not fit the network.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> parse_traffic("transpose", mesh(4, 4))
    <transpose: 12 of 16 nodes send>
    >>> parse_traffic("hot-spot:0.1:15", mesh(4, 4))
    <hot-spot:0.1:15: 16 of 16 nodes send>
    """
    name, argument = split_spec(spec)
    pattern = name.removesuffix("-self")
    to_self = pattern != name
    if name == "hot-spot":
        return _hot_spot(argument, spec, topology)
    if name == "pairs":
        return _pairs(argument, spec, topology)
    if spec == "next-group":
        return next_group(topology)
    if argument or pattern not in ("uniform", *_PERMUTATIONS):
        raise InputError(f"traffic '{spec}'", f"'{argument or name}'", TRAFFICS)
    if pattern == "uniform":
        return uniform(topology.num_hosts, to_self=to_self)
    graph = _PERMUTATIONS[pattern](topology, f"traffic '{spec}'")
    targets = np.arange(topology.num_hosts, dtype=np.int32)
    targets[graph.source] = graph.target
    return permutation(targets, to_self=to_self, name=name)


def _hot_spot(argument: str, spec: str, topology: Topology) -> Traffic:
    where = f"traffic '{spec}'"
    fraction, _, rest = argument.partition(":")
    nodes, _, base = rest.partition(":")
    if not nodes:
        wanted = "hot-spot:FRACTION:NODES, such as hot-spot:0.1:0,63"
        raise InputError(where, "no hot nodes", wanted)
    return hot_spot(
        parse_traffic(base or "uniform", topology),
        real_number(fraction, where=where),
        [whole_number(node.strip(), where=where) for node in nodes.split(",")],
    )


def _pairs(argument: str, spec: str, topology: Topology) -> Traffic:
    where = f"traffic '{spec}'"
    found = [(word, _PAIR.fullmatch(word.strip())) for word in argument.split(",")]
    ends: list[tuple[int, int]] = []
    weights: list[float] = []
    for word, match in found:
        if match is None:
            raise InputError(where, f"'{word}'", "pairs of nodes such as 0-63,5-12 or 5-12*2")
        ends.append((int(match[1]), int(match[2])))
        weights.append(real_number(match[3] or "1", where=where))
    sources, targets = np.array(ends, np.int64).T
    name = f"pairs:{argument}"
    return pairs(topology.num_hosts, sources, targets, weights=weights, name=name)


def _square(topology: Topology, where: str) -> ProcessGraph:
    side = isqrt(topology.num_hosts)
    if side * side != topology.num_hosts:
        raise InputError(where, _count(topology), "a square number of them")
    return permutations.transpose(side)


def _by_count(make: Callable[[int], ProcessGraph]) -> Callable[[Topology, str], ProcessGraph]:
    def of_count(topology: Topology, where: str) -> ProcessGraph:
        if not topology.direct and topology.num_hosts.bit_count() != 1:
            raise InputError(where, _count(topology), "a power of two of them")
        return make(topology.num_hosts)

    return of_count


def _count(topology: Topology) -> str:
    return counted(topology.num_hosts, "node" if topology.direct else "host")


def _by_sides(make: Callable[..., ProcessGraph]) -> Callable[[Topology, str], ProcessGraph]:
    def of_sides(topology: Topology, where: str) -> ProcessGraph:
        if not isinstance(topology, Cube):
            wanted = "a k-ary n-cube (mesh, torus, ...), which has coordinates"
            raise InputError(where, f"the network {topology.name}", wanted)
        return make(*topology.sides)

    return of_sides


_PERMUTATIONS: dict[str, Callable[[Topology, str], ProcessGraph]] = {
    "transpose": _square,
    "bit-complement": _by_count(permutations.bit_complement),
    "bit-reverse": _by_count(permutations.bit_reverse),
    "shuffle": _by_count(permutations.shuffle),
    "tornado": _by_sides(permutations.tornado),
    "neighbour": _by_sides(permutations.neighbour),
}
