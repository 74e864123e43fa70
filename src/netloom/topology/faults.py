"""Networks of which some channels or nodes are broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.topology.core import Topology
from netloom.topology.cubes import Cube

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray


MOST_DIGITS = 18
"""Digits of a number that may be a node's: no network has as many."""


def without(
    topology: Topology, *, channels: str | Iterable[str | int] = (), nodes: str | Iterable[int] = ()
) -> Topology:
    """Return the network without some channels and nodes.

    Parameters
    ----------
    topology
        The network; it may lack some parts already.
    channels
        Channels that are broken: their numbers, or words such as ``3-4`` for a link, that is both
        its channels, and ``3->4`` for one channel of it. In one string, commas stand between the
        words. A node is named by its number, by its coordinates, ``(0,3)`` or ``0.3``, or as in
        the file that the network was read from.
    nodes
        Nodes that are broken, and all their channels with them: their numbers, or one string, such
        as ``5,9`` or ``(0,3),(1,1)``.

    Raises
    ------
    InputError
        If there is no such channel or node, or if the nodes that work cannot all reach each other
        any more.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> without(mesh(8, 8), channels="(0,3)-(0,4), 7->15", nodes="9")
    <mesh:8x8 without 3-4, 7->15, node 9: 64 nodes, 213 directed channels>
    >>> without(mesh(4), channels="1-2")
    Traceback (most recent call last):
        ...
    netloom.errors.InputError: mesh:4 without 1-2: found no way from node 2 to node 0; expected a
    network that is still in one piece
    """
    whole = topology.whole
    works = np.ones(whole.num_channels, np.bool_)
    failed = np.zeros(whole.num_vertices, np.bool_)
    if topology.broken:
        works[:] = False
        works[topology.whole_channel] = True
        failed[list(topology.failed_nodes)] = True
    for where, given in (("failed channels", channels), ("failed nodes", nodes)):
        if isinstance(given, str) and given and not _words(given):
            raise InputError(where, f"'{given}'", "words such as 3-4 or 5, with commas between")
    for word in _words(channels):
        works[_channels(topology, whole, word)] = False
    for word in _words(nodes):
        failed[_node(topology, word)] = True
    works &= ~(failed[whole.channel_source] | failed[whole.channel_target])
    _lose_ports(whole, works, failed)
    name = f"{whole.name} without {', '.join(_broken(whole, works, failed)) or 'nothing'}"
    found = _parts_of(whole, name, works, failed)
    _check_in_one_piece(found)
    return found


def _lose_ports(whole: Topology, works: NDArray[np.bool_], failed: NDArray[np.bool_]) -> None:
    """Mark both channels of a port as broken where one is, and a host that has no port left."""
    if whole.direct:
        return
    ports = works[whole.num_network_channels :].reshape(2, -1)
    ports[:] = ports.all(axis=0)
    left = np.bincount(whole.port_host[ports[0]], minlength=whole.num_hosts)
    failed[: whole.num_hosts] |= left == 0


def _parts_of(
    whole: Topology, name: str, works: NDArray[np.bool_], failed: NDArray[np.bool_]
) -> Topology:
    """Return the part of a network that works, vertices by the same numbers."""
    kept = np.flatnonzero(works).astype(np.int32)
    ports = slice(whole.num_network_channels, whole.num_network_channels + whole.num_ports)
    hosted: dict[str, Any] = {}
    if not whole.direct:
        routers, first = whole.routers, whole.num_network_channels
        gone = failed[whole.num_hosts :]
        hosted = {
            "router_network": _parts_of(routers, routers.name, works[:first], gone),
            "port_host": whole.port_host[works[ports]],
        }
    return Topology(
        name, whole.num_vertices, whole.channel_source[kept], whole.channel_target[kept],
        whole.labels, num_hosts=whole.num_hosts, node_of_host=whole.node_of_host,
        computer_labels=whole.computer_labels, reference_gbps=whole.reference_gbps,
        channel_bandwidth=whole.channel_bandwidth[kept], channel_cycles=whole.channel_cycles[kept],
        unbroken=whole, kept_channels=kept, failed_nodes=tuple(np.flatnonzero(failed).tolist()),
        **hosted,
    )  # fmt: skip


def working_nodes(topology: Topology) -> NDArray[np.int32]:
    """Return the hosts that are not broken, ascending, int32[]; on a whole network, all.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> working_nodes(without(mesh(2, 3), nodes=[1]))
    array([0, 2, 3, 4, 5], dtype=int32)
    """
    return np.flatnonzero(topology.vertex_up[: topology.num_hosts]).astype(np.int32)


def working_part(network: Topology) -> Topology:
    """Return the network of the nodes that work, numbered on."""
    if not network.broken:
        return network
    working = working_nodes(network)
    source, target = (
        np.searchsorted(working, ends).astype(np.int32)
        for ends in (network.channel_source, network.channel_target)
    )
    return Topology(network.name, len(working), source, target)


def broken_parts(topology: Topology) -> dict[str, Any] | None:
    """Return the names of the broken channels and nodes as plain data; None if all is whole.

    Channels that are missing only because their node is broken are not named.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> broken_parts(without(mesh(3, 3), channels="0->1", nodes="8"))
    {'channels': ['(0,0) -> (0,1)'], 'nodes': ['(2,2)']}
    """
    if not topology.broken:
        return None
    return {
        "channels": [topology.whole.channel_name(each) for each in broken_channels(topology)],
        "nodes": [topology.name_of(node) for node in topology.failed_nodes],
    }


def broken_channels(topology: Topology) -> list[int]:
    """Return the channels of the whole network that are broken, though their nodes work."""
    whole = topology.whole
    gone = np.ones(whole.num_channels, np.bool_)
    gone[topology.whole_channel] = False
    for ends in (whole.channel_source, whole.channel_target):
        gone &= ~np.isin(ends, topology.failed_nodes)
    return [int(channel) for channel in np.flatnonzero(gone)]


def first_broken(topology: Topology, nodes: ArrayLike) -> int | None:
    """Return the place of the first of some nodes that is broken; None if all work.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> first_broken(without(mesh(4, 4), nodes="5"), [0, 3, 5])
    2
    """
    lost = ~np.isin(nodes, working_nodes(topology))
    return int(np.argmax(lost)) if topology.broken and lost.any() else None


def check_working(topology: Topology, node_of: NDArray[np.int32], where: str = "mapping") -> None:
    """Raise InputError naming the first task that is on a broken node."""
    task = first_broken(topology, node_of)
    if task is not None:
        found = f"task {task} on node {node_of[task]}, which failed"
        raise InputError(where, found, "tasks on nodes that work")


def _words(given: str | Iterable[str | int]) -> list[str | int]:
    """Split at the commas that stand between words, not at those between coordinates."""
    if not isinstance(given, str):
        return [word if isinstance(word, str) else int(word) for word in given]
    return [word.strip() for word in re.split(r",(?![^(]*\))", given) if word.strip()]


def _channels(topology: Topology, whole: Topology, word: str | int) -> list[int]:
    """Return the channels of the whole network that a word or number names."""
    wanted = "two neighbours, such as 3-4 for a link or 3->4 for one direction"
    if isinstance(word, int):
        if not 0 <= word < topology.num_channels:
            found, most = f"channel {word}", topology.num_channels - 1
            raise InputError("failed channels", found, f"channels 0 to {most} of {topology.name}")
        return [int(topology.whole_channel[word]) if topology.broken else word]
    pairs = set(_pairs(topology, word))
    if len(pairs) != 1:
        found = f"'{word}', which is two nodes in several ways" if pairs else f"'{word}'"
        raise InputError("failed channels", found, f"{wanted}, of {topology.name}")
    ((source, target, one_way),) = pairs
    ends = [(source, target)] if one_way else [(source, target), (target, source)]
    at = [(whole.channel_source == a) & (whole.channel_target == b) for a, b in ends]
    for (a, b), here in zip(ends, at, strict=True):
        if not here.any():
            found = f"'{word}', but no channel {whole.name_of(a)} -> {whole.name_of(b)}"
            raise InputError("failed channels", found, f"{wanted}, of {whole.name}")
    return [int(channel) for here in at for channel in np.flatnonzero(here)]


def _pairs(topology: Topology, word: str) -> Iterator[tuple[int, int, bool]]:
    """Yield source, target and whether one way, of every way to read a word as two nodes.

    The names of nodes may have hyphens in them.
    """
    for arrow in re.finditer("->|-(?!>)", word):
        source, target = (
            _find_node(topology, end) for end in (word[: arrow.start()], word[arrow.end() :])
        )
        if source is not None and target is not None:
            yield source, target, arrow.group() == "->"


def _node(topology: Topology, word: str | int) -> int:
    node = _find_node(topology, str(word))
    if node is None:
        last = topology.num_hosts - 1
        raise InputError("failed nodes", f"'{word}'", f"nodes 0 to {last} of {topology.name}")
    return node


def _find_node(topology: Topology, word: str) -> int | None:
    """Return the node of this name, number or coordinates; None if there is none."""
    word = word.strip()
    if word in topology.labels:
        return topology.labels.index(word)
    parts = re.split("[.,]", word.removeprefix("(").removesuffix(")"))
    if not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        return None
    if any(len(part.strip()) > MOST_DIGITS for part in parts):
        return None
    at = [int(part) for part in parts]
    if len(at) == 1:
        return at[0] if at[0] < topology.num_vertices else None
    cube = topology.whole
    if not isinstance(cube, Cube) or len(at) != len(cube.sides):
        return None
    if any(place >= side for place, side in zip(at, cube.sides, strict=True)):
        return None
    return int(np.array(at) @ cube.strides)


def _broken(whole: Topology, works: NDArray[np.bool_], failed: NDArray[np.bool_]) -> list[str]:
    """Return the words that name what is broken: links, single channels, nodes."""
    labels = whole.labels or range(whole.num_vertices)
    ends = zip(whole.channel_source.tolist(), whole.channel_target.tolist(), strict=True)
    alive = ~(failed[whole.channel_source] | failed[whole.channel_target])
    pairs = {pair for pair, lost in zip(ends, (alive & ~works).tolist(), strict=True) if lost}
    words = [
        f"{labels[a]}-{labels[b]}" if (b, a) in pairs else f"{labels[a]}->{labels[b]}"
        for a, b in sorted(pairs)
        if a < b or (b, a) not in pairs
    ]
    return words + [f"node {labels[node]}" for node in np.flatnonzero(failed).tolist()]


def _check_in_one_piece(topology: Topology) -> None:
    from netloom.topology.reach import two_apart

    working = working_nodes(topology)
    if len(working) < 2:
        raise InputError(topology.name, f"{len(working)} working nodes", "at least 2")
    apart = two_apart(topology)
    if apart is not None:
        start, end = apart
        found = f"no way from node {topology.name_of(start)} to node {topology.name_of(end)}"
        raise InputError(topology.name, found, "a network that is still in one piece")
