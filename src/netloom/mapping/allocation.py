"""The nodes that a batch system gave to a program, as it lists them."""

from __future__ import annotations

import re
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.textfiles import read_lines
from netloom.topology import Omega, Topology, working_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray


WORD = re.compile(r"(?:\([^()]*\)|\[[^\[\]]*\]|[^,\s])+")
"""What names nodes, between commas and blanks: these may be in ``(0,3)`` or ``n[3-7,9]``."""

MOST_NAMED = 2**24
"""Most nodes that a list names, each as often as it does."""

MOST_DIGITS = 9
"""Digits of a number that may be a node's."""


def allocated_nodes(
    nodes: str | Path | ArrayLike | None, topology: Topology, hosts: Sequence[str] | None = None
) -> NDArray[np.int32]:
    """Return the nodes of an allocation that work, int32[], ascending.

    Parameters
    ----------
    nodes
        Their numbers; a list such as ``0-31,40``; or a file of such lists, one or several a line,
        ``#`` comments apart. A node is named by its number, its name in the network such as
        ``(0,3)``, or its host; ranges are ``3-7`` and ``n[003-007,9]``. That a node comes several
        times, once for each of its slots, is no mistake. None: see ``nodes_for_tasks``.
    topology
        The network; its broken nodes are left out.
    hosts
        The host name of each node; the network's own names of them where it is not given, or
        ``n0``, ``n1`` … where it has none.

    Raises
    ------
    InputError
        Naming the field, or file and line, of a word that is no node of the network, or if none
        of the nodes works.

    Examples
    --------
    >>> from netloom.topology import mesh, without
    >>> allocated_nodes("0-2,n7,(1,1)", without(mesh(2, 4), nodes="2"))
    array([0, 1, 5, 7], dtype=int32)
    """
    working = working_nodes(topology)
    if nodes is None:
        return nodes_for_tasks(topology)
    if isinstance(nodes, str | Path):
        listed = _named(nodes, topology, hosts)
        where = str(nodes) if isfile(nodes) else "nodes"  # noqa: PTH113 (a list is a long name)
    else:
        listed, where = np.asarray(nodes), "nodes"
        if listed.ndim != 1 or listed.dtype.kind not in "iu":
            raise InputError(
                where, f"an array of {listed.dtype} of shape {listed.shape}", "numbers"
            )
        wrong = listed[(listed < 0) | (listed >= topology.num_hosts)]
        if len(wrong):
            raise InputError(where, f"node {wrong[0]}", _wanted(topology))
    allocated: NDArray[np.int32] = np.intersect1d(listed, working).astype(np.int32)
    if not len(allocated):
        raise InputError(where, "no node that works", f"nodes of {topology.name}")
    return allocated


def nodes_for_tasks(topology: Topology) -> NDArray[np.int32]:
    """Return the working nodes that run tasks where no allocation is given: all, or all PEs.

    The memories and switches of an Omega network run none.

    Examples
    --------
    >>> from netloom.topology import omega
    >>> nodes_for_tasks(omega(4))
    array([0, 1, 2, 3], dtype=int32)
    """
    working = working_nodes(topology)
    whole = topology.whole
    return working[working < whole.pes] if isinstance(whole, Omega) else working


def node_names(topology: Topology, hosts: Sequence[str] | None = None) -> dict[str, int]:
    """Return the node of each name that a person may use for one.

    Its name in the network, and its host: of ``hosts``, or ``n0``, ``n1`` … where neither those are
    given nor the network's nodes have names of their own.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> node_names(mesh(1, 2))
    {'(0,0)': 0, '(0,1)': 1, 'n0': 0, 'n1': 1}
    """
    own = {topology.name_of(node): node for node in range(topology.num_hosts)}
    if hosts is None and not topology.labels:
        hosts = [f"n{node}" for node in range(topology.num_hosts)]
    return own | {host: node for node, host in enumerate(hosts or ())}


def _named(nodes: str | Path, topology: Topology, hosts: Sequence[str] | None) -> NDArray[np.int64]:
    """Return the nodes in a list or a file of lists."""
    lines: Iterator[tuple[str, str]] = iter([("nodes", str(nodes))])
    if isfile(nodes):  # noqa: PTH113
        lines = read_lines(nodes, wanted="a list of nodes")
    number_of = node_names(topology, hosts)
    found: dict[int, None] = {}
    count = 0
    for where, line in lines:
        for word in WORD.findall(line) or [line]:
            for node in _nodes(word, number_of, topology, where):
                found[node] = None
                count += 1
            if count > MOST_NAMED:
                raise InputError(where, f"over {MOST_NAMED} nodes", "each node once")
    return np.array([*found], np.int64)


def _nodes(word: str, number_of: dict[str, int], topology: Topology, where: str) -> Iterator[int]:
    """Yield the nodes that one word names."""
    if word in number_of:
        yield number_of[word]
        return
    bracket = re.fullmatch(r"([^\[\]]*)\[([^\[\]]+)\]([^\[\]]*)", word)
    if bracket:
        for part in bracket[2].split(","):
            for text in _texts(part.strip(), topology, word, where):
                yield from _nodes(f"{bracket[1]}{text}{bracket[3]}", number_of, topology, where)
        return
    for text in _texts(word, topology, word, where):
        node = int(text)
        if node >= topology.num_hosts:
            raise InputError(where, f"node {node}", _wanted(topology))
        yield node


def _texts(part: str, topology: Topology, word: str, where: str) -> list[str]:
    """Return the numbers in ``7`` or ``003-007``, as they are written."""
    ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
    if ends is None or max(len(end or "") for end in ends.groups()) > MOST_DIGITS:
        raise InputError(where, f"'{word}'", _wanted(topology))
    first, last = int(ends[1]), int(ends[2] or ends[1])
    if last < first:
        raise InputError(where, f"'{word}'", "a range from its lowest node on")
    if last - first >= topology.num_hosts:
        raise InputError(where, f"'{word}'", _wanted(topology))
    return [f"{number:0{len(ends[1])}}" for number in range(first, last + 1)]


def _wanted(topology: Topology) -> str:
    return f"nodes 0 to {topology.num_hosts - 1} of {topology.name}, or their names"
