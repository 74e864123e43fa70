"""Networks of which some channels or nodes are broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Ints
from netloom.base.errors import InputError
from netloom.topology.core import Topology, adjacency
from netloom.topology.names import NamedParts, channel_words, split_words, vertex_word


def without(
    topology: Topology, *, channels: str | Iterable[str | int] = (), nodes: str | Iterable[int] = ()
) -> Topology:
    """Return the network without some channels and nodes.

    Parameters
    ----------
    topology
        The network. It may lack some parts already.
    channels
        Channels that are broken: their numbers, or words such as ``3-4`` for a link, that is both
        its channels, and ``3->4`` for one channel of it. In one string, commas stand between the
        words. A node is named by its number, by its coordinates, ``(0,3)`` or ``0.3``, or as in
        the file that the network was read from. Parallel links break together, unless the word
        says which: ``leaf3-spine1#2``. If hosts are not routers, numbers are those of hosts,
        and routers have names.
    nodes
        Hosts and routers that are broken, and all their channels with them: their numbers, or one
        string, such as ``5,9``, ``(0,3),(1,1)`` or ``h[3-5],spine1``. A computer is its hosts. A
        host that has no link left is broken too.

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
    netloom.InputError: mesh:4 without 1-2: found no way from node 0 to node 2; expected a
    network that is still in one piece
    """
    whole = topology.whole
    works, failed = topology.channel_up, ~topology.vertex_up
    for where, given in (("failed channels", channels), ("failed nodes", nodes)):
        if isinstance(given, str) and given and not split_words(given):
            raise InputError(where, f"'{given}'", "words such as 3-4 or 5, with commas between")
    parts = NamedParts(topology)
    for word in split_words(channels):
        works[parts.channels(word)] = False
    for word in split_words(nodes):
        failed[parts.vertices(word)] = True
    works &= ~(failed[whole.source_end] | failed[whole.target_end])
    if whole.ports_listed:  # a port has both channels, and a host without any is broken
        ports = works[whole.num_network_channels :].reshape(2, -1)
        ports[:] = ports.all(axis=0)
        left = np.bincount(whole.port_host[ports[0]], minlength=whole.num_hosts)
        failed[: whole.num_hosts] |= left == 0
    alive = ~(failed[whole.source_end] | failed[whole.target_end])
    lost = np.flatnonzero(failed)  # named with routers first
    lost = np.concatenate([lost[lost >= whole.num_hosts], lost[lost < whole.num_hosts]])
    broken = channel_words(whole, np.flatnonzero(alive & ~works))
    broken += [f"node {vertex_word(whole, node)}" for node in lost.tolist()]
    name = f"{whole.name} without {', '.join(broken) or 'nothing'}"
    found = _parts_of(whole, name, works, failed)
    working = working_nodes(found)
    if len(working) < 2:
        raise InputError(name, f"{len(working)} working nodes", "at least 2")
    apart = two_apart(found)
    if apart is not None:
        what = "node" if found.direct else "host"
        start, end = (f"{what} {found.name_of(each)}" for each in apart)
        wanted = "a network that is still in one piece"
        raise InputError(name, f"no way from {start} to {end}", wanted)
    return found


def _parts_of(whole: Topology, name: str, works: Bools, failed: Bools) -> Topology:
    """Return the part of a network that works, vertices by the same numbers."""
    kept, first = np.flatnonzero(works).astype(np.int32), whole.num_network_channels
    between, routers = works[:first], whole.routers
    changed: dict[str, Any] = {
        "name": name,
        "channel_source": whole.channel_source[between],
        "channel_target": whole.channel_target[between],
        "channel_bandwidth": whole.channel_bandwidth[kept],
        "channel_cycles": whole.channel_cycles[kept],
        "family": None,
        "unbroken": whole,
        "kept_channels": kept,
        "failed_nodes": tuple(np.flatnonzero(failed).tolist()),
    }
    if whole.ports_listed:
        ports, gone = works[first : first + whole.num_ports], failed[whole.num_hosts :]
        changed["router_network"] = _parts_of(routers, routers.name, between, gone)
        for what in ("port_host", "injection_router", "ejection_router"):
            changed[what] = getattr(whole, what)[ports]
        if whole.cabling is not None:
            left: dict[str, Ints | Bools] = {"out_port": kept, "in_port": kept}
            left |= dict.fromkeys(("port_guid", "port_lid", "lmc"), ports)
            said = {what: getattr(whole.cabling, what)[some] for what, some in left.items()}
            changed["cabling"] = replace(whole.cabling, **said)
    same = {each.name: getattr(whole, each.name) for each in fields(Topology) if each.init}
    return Topology(**same | changed)


def working_nodes(topology: Topology) -> Ints:
    """Return the hosts that are not broken, ascending, int32[]. On a whole network, all.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> working_nodes(without(mesh(2, 3), nodes=[1]))
    array([0, 2, 3, 4, 5], dtype=int32)
    """
    return np.flatnonzero(topology.vertex_up[: topology.num_hosts]).astype(np.int32)


def broken_parts(topology: Topology) -> dict[str, Any] | None:
    """Return the names of the broken channels and nodes as plain data. None if all is whole.

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
    gone = ~topology.channel_up
    for ends in (whole.source_end, whole.target_end):
        gone &= ~np.isin(ends, topology.failed_nodes)
    return [int(channel) for channel in np.flatnonzero(gone)]


def first_broken(topology: Topology, nodes: ArrayLike) -> int | None:
    """Return the place of the first of some nodes that is broken. None if all work.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> first_broken(without(mesh(4, 4), nodes="5"), [0, 3, 5])
    2
    """
    if not topology.broken:
        return None
    lost = ~np.isin(nodes, working_nodes(topology))
    return int(np.argmax(lost)) if lost.any() else None


def check_working(topology: Topology, node_of: Ints, where: str = "mapping") -> None:
    """Raise InputError naming the first task that is on a broken node."""
    task = first_broken(topology, node_of)
    if task is not None:
        name = vertex_word(topology, int(node_of[task]))
        found = f"task {task} on host {name}, which failed"
        raise InputError(where, found, "tasks on hosts that work")


def check_joined(topology: Topology, where: str, wanted: str) -> None:
    """Refuse a network of which two hosts cannot both reach each other."""
    apart = two_apart(topology)
    if apart is not None:
        what = "nodes" if topology.direct else "hosts"
        first, second = (topology.name_of(host) for host in sorted(apart))
        said = f"{what} {first} and {second} that cannot both reach each other"
        raise InputError(where, said, wanted)


def two_apart(topology: Topology) -> tuple[int, int] | None:
    """Return two working hosts of which the first cannot reach the second. None if all can.

    Hosts do not forward: a packet stays among the routers from its injection to its ejection.
    Routers that all reach each other reach the same hosts: one search is for all of them.
    """
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    routers, up = topology.routers, topology.vertex_up
    hosts = np.flatnonzero(up[: topology.num_hosts])
    graph = adjacency(routers.num_routers, routers.channel_source, routers.channel_target)
    _, part = connected_components(graph, connection="strong")
    into, out_of, owner = topology.injection_router, topology.ejection_router, topology.port_host
    if (part[into] == part[out_of]).all():
        joined = np.unique(np.stack([part[into], owner]), axis=1)
        if np.bincount(joined[0]).max(initial=0) == len(hosts):
            return None  # all hosts have a port in one part whose routers all reach each other
    reached: dict[int, Ints] = {}  # the hosts that each part sends to
    lost = {}  # those that a host whose ports lead there does not
    for host in hosts.tolist():
        first, last = topology.port_offsets[host : host + 2]
        ports = into[first:last]
        sends_to = dict(zip(part[ports].tolist(), ports.tolist(), strict=True))
        for each in sends_to.keys() - reached.keys():
            order = breadth_first_order(graph, sends_to[each], return_predecessors=False)
            reached[each] = owner[np.isin(out_of, order)]
        key = frozenset(sends_to)
        if key not in lost:
            found = ~up[: topology.num_hosts]
            for each in key:
                found[reached[each]] = True
            lost[key] = np.flatnonzero(~found)
        others = lost[key][lost[key] != host]
        if len(others):
            return host, int(others[0])
    return None
