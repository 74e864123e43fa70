"""Networks of which some channels or nodes are broken."""

from __future__ import annotations

import re
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Faulty(Topology):
    """A network without its broken parts; ``without`` makes one.

    Nodes keep their numbers and names. A broken node is still counted, but has no channels. The
    channels that are left are numbered on, in the order in which they were.

    Attributes
    ----------
    whole
        The network as it was before anything broke.
    failed_nodes
        The nodes that are broken, ascending.
    whole_channel
        int32[num_channels], the number of each channel in ``whole``; ascending.
    """

    whole: Topology
    failed_nodes: tuple[int, ...]
    whole_channel: NDArray[np.int32]

    def node_name(self, node: int) -> str:
        """Return the name of ``node`` in the whole network."""
        return self.whole.node_name(node)


def without(
    topology: Topology, *, channels: str | Iterable[str | int] = (), nodes: str | Iterable[int] = ()
) -> Faulty:
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
    whole = topology.whole if isinstance(topology, Faulty) else topology
    works = np.ones(whole.num_channels, np.bool_)
    failed = np.zeros(whole.num_nodes, np.bool_)
    if isinstance(topology, Faulty):
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
    kept = np.flatnonzero(works).astype(np.int32)
    found = Faulty(
        f"{whole.name} without {', '.join(_broken(whole, works, failed)) or 'nothing'}",
        whole.num_nodes, whole.channel_source[kept], whole.channel_target[kept], whole.node_labels,
        whole.node_kinds,
        whole=whole, failed_nodes=tuple(np.flatnonzero(failed).tolist()), whole_channel=kept,
    )  # fmt: skip
    _check_in_one_piece(found)
    return found


def working_nodes(topology: Topology) -> NDArray[np.int32]:
    """Return the nodes that are not broken, ascending, int32[]; on a whole network, all.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> working_nodes(without(mesh(2, 3), nodes=[1]))
    array([0, 2, 3, 4, 5], dtype=int32)
    """
    nodes = np.arange(topology.num_nodes, dtype=np.int32)
    return np.delete(nodes, topology.failed_nodes) if isinstance(topology, Faulty) else nodes


def working_part(network: Topology) -> Topology:
    """Return the network of the nodes that work, numbered on."""
    if not isinstance(network, Faulty):
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
    if not isinstance(topology, Faulty):
        return None
    return {
        "channels": [topology.whole.channel_name(each) for each in broken_channels(topology)],
        "nodes": [topology.node_name(node) for node in topology.failed_nodes],
    }


def broken_channels(topology: Faulty) -> list[int]:
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
    return int(np.argmax(lost)) if isinstance(topology, Faulty) and lost.any() else None


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
        return [int(topology.whole_channel[word]) if isinstance(topology, Faulty) else word]
    pairs = set(_pairs(topology, word))
    if len(pairs) != 1:
        found = f"'{word}', which is two nodes in several ways" if pairs else f"'{word}'"
        raise InputError("failed channels", found, f"{wanted}, of {topology.name}")
    ((source, target, one_way),) = pairs
    ends = [(source, target)] if one_way else [(source, target), (target, source)]
    at = [(whole.channel_source == a) & (whole.channel_target == b) for a, b in ends]
    for (a, b), here in zip(ends, at, strict=True):
        if not here.any():
            found = f"'{word}', but no channel {whole.node_name(a)} -> {whole.node_name(b)}"
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
        raise InputError(
            "failed nodes", f"'{word}'", f"nodes 0 to {topology.num_nodes - 1} of {topology.name}"
        )
    return node


def _find_node(topology: Topology, word: str) -> int | None:
    """Return the node of this name, number or coordinates; None if there is none."""
    word = word.strip()
    if word in topology.node_labels:
        return topology.node_labels.index(word)
    parts = re.split("[.,]", word.removeprefix("(").removesuffix(")"))
    if not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        return None
    if any(len(part.strip()) > MOST_DIGITS for part in parts):
        return None
    at = [int(part) for part in parts]
    if len(at) == 1:
        return at[0] if at[0] < topology.num_nodes else None
    cube = topology.whole if isinstance(topology, Faulty) else topology
    if not isinstance(cube, Cube) or len(at) != len(cube.sides):
        return None
    if any(place >= side for place, side in zip(at, cube.sides, strict=True)):
        return None
    return int(np.array(at) @ cube.strides)


def _broken(whole: Topology, works: NDArray[np.bool_], failed: NDArray[np.bool_]) -> list[str]:
    """Return the words that name what is broken: links, single channels, nodes."""
    labels = whole.node_labels or range(whole.num_nodes)
    ends = zip(whole.channel_source.tolist(), whole.channel_target.tolist(), strict=True)
    alive = ~(failed[whole.channel_source] | failed[whole.channel_target])
    pairs = {pair for pair, lost in zip(ends, (alive & ~works).tolist(), strict=True) if lost}
    words = [
        f"{labels[a]}-{labels[b]}" if (b, a) in pairs else f"{labels[a]}->{labels[b]}"
        for a, b in sorted(pairs)
        if a < b or (b, a) not in pairs
    ]
    return words + [f"node {labels[node]}" for node in np.flatnonzero(failed).tolist()]


def _check_in_one_piece(topology: Faulty) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    working = working_nodes(topology)
    if len(working) < 2:
        raise InputError(topology.name, f"{len(working)} working nodes", "at least 2")
    links = (np.ones(topology.num_channels), (topology.channel_source, topology.channel_target))
    graph = coo_array(links, shape=(topology.num_nodes, topology.num_nodes)).tocsr()
    _, part = connected_components(graph, connection="strong")
    main = np.bincount(part[working]).argmax()
    lost = working[part[working] != main]
    if not len(lost):
        return
    ends = int(lost[0]), int(working[part[working] == main][0])
    reached = breadth_first_order(graph, ends[0], return_predecessors=False)
    start, end = (ends[1], ends[0]) if ends[1] in reached else ends
    found = f"no way from node {topology.node_name(start)} to node {topology.node_name(end)}"
    raise InputError(topology.name, found, "a network that is still in one piece")
