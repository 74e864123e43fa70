"""A network as a graph or a file draws it, vertex by vertex and link by link, made a topology."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.kinds import which_are_hosts
from netloom.topology.rates import NOTHING, Channels, Said
from netloom.topology.reach import two_apart
from netloom.topology.recognise import tree_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from netloom.base.arrays import Ints


@dataclass
class Vertex:
    """What is said of a vertex.

    Attributes
    ----------
    kind
        A word of ``kinds``. Empty where nothing is said.
    label
        What it is called, if not by its key in the drawing.
    computer
        The computer that owns it. Empty where that is the host itself.
    """

    kind: str = ""
    label: str = ""
    computer: str = ""


class Link(NamedTuple):
    """A directed channel between two vertices, by their keys."""

    source: Hashable
    target: Hashable
    bandwidth: Said = NOTHING
    latency: Said = NOTHING


@dataclass
class Drawing:
    """A network as it is drawn: vertices by any keys, in order, and directed channels.

    Attributes
    ----------
    clock_ghz
        Cycles per ns, where it is said.
    """

    name: str
    vertices: dict[Hashable, Vertex] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    clock_ghz: float | None = None

    def topology(self) -> Topology:
        """Return the network: direct where all vertices are alike, else hosts on routers.

        If hosts are joined to each other beside switches, they forward, and the network is direct.
        Its ``switches`` are marked.

        Keys that are the numbers 0 … N − 1 are taken in that order, others as they come. Hosts
        are numbered before routers. Channels are sorted by source, then target, those of a host's
        ports too. Channels that join the same two vertices are in the order of the drawing.

        Raises
        ------
        InputError
            If there are no vertices, or a channel leads from a vertex to itself. If kinds,
            bandwidths or latencies are not clear. If a host has no link or not as many out as in,
            or two hosts cannot reach each other.
        """
        check_size(len(self.links), where=self.name, what="channels")
        if not self.vertices:
            raise InputError(self.name, "no nodes", "at least one")
        keys = _in_order(self.vertices)
        names = self._names(keys)
        hosts = which_are_hosts([self.vertices[key].kind for key in keys], names, self.name)
        if not hosts.all():
            first = np.argsort(~hosts, kind="stable").tolist()  # hosts before routers
            keys, names = [keys[place] for place in first], [names[place] for place in first]
        ends, many = self._ends(keys, names), int(hosts.sum())
        if hosts.all() or (ends < many).all(axis=1).any():
            found = self._direct(ends, names, many)
        else:
            found = self._hosted(ends, keys, names, many)
        apart = two_apart(found)
        if apart is not None:
            what = "nodes" if found.direct else "hosts"
            first, second = (found.name_of(host) for host in sorted(apart))
            said = f"{what} {first} and {second} that cannot both reach each other"
            raise InputError(self.name, said, "a strongly connected network")
        return found

    def _names(self, keys: list[Hashable]) -> list[str]:
        """Return labels, where all vertices have one and no two the same. Else keys."""
        labels = [self.vertices[key].label for key in keys]
        return labels if all(labels) and len(set(labels)) == len(labels) else list(map(str, keys))

    def _ends(self, keys: list[Hashable], names: list[str]) -> Ints:
        """Return the two vertices of each channel as places in ``keys``, int32[num_channels, 2]."""
        number = {key: place for place, key in enumerate(keys)}
        numbers = [(number[link.source], number[link.target]) for link in self.links]
        ends = np.array(numbers, dtype=np.int32).reshape(-1, 2)
        itself = ends[:, 0] == ends[:, 1]
        if itself.any():
            own = names[int(ends[np.argmax(itself), 0])]
            found = f"a channel from a node to itself: {own} -> {own}"
            raise InputError(self.name, found, "channels between two nodes")
        return ends

    def _said(self, order: Ints, names: Callable[[int], str], reference: slice) -> dict[str, Any]:
        """Return what is said of the channels in an order, as fields of a topology.

        ``reference``: the channels most of which have the reference rate.
        """
        said = [self.links[place] for place in order.tolist()]
        rates, delays = [link.bandwidth for link in said], [link.latency for link in said]
        channels = Channels(self.name, rates, delays, names, self.clock_ghz)
        bandwidth, gbps = channels.rates(reference)
        found = {"channel_bandwidth": bandwidth, "channel_cycles": channels.cycles()}
        given = {name: values for name, values in found.items() if values is not None}
        clock = self.clock_ghz if "channel_cycles" in given else None
        return given | {"reference_gbps": gbps, "cycle_ns": None if clock is None else 1 / clock}

    def _direct(self, ends: Ints, names: list[str], num_hosts: int) -> Topology:
        """Return a network whose vertices are host and router in one, but switches behind them."""
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        ends = ends[order]
        plain = names == [str(place) for place in range(len(names))]
        said = self._said(order, _link_names(ends, names), slice(None))
        source, target = (ends[:, side].copy() for side in (0, 1))
        labels = () if plain else tuple(names)
        switches = tuple(range(num_hosts, len(names)))
        return Topology(self.name, len(names), source, target, labels, switches=switches, **said)

    def _hosted(
        self, ends: Ints, keys: list[Hashable], names: list[str], num_hosts: int
    ) -> Topology:
        """Return a network of hosts that hang on routers."""
        inside, into, out_of = _parts(self.name, ends, num_hosts, names)
        order = np.concatenate([inside, into, out_of])
        said = self._said(order, _link_names(ends[order], names), slice(len(inside), None))
        units = {name: said.pop(name) for name in ("reference_gbps", "cycle_ns")}
        source, target = ((ends[inside, side] - num_hosts).astype(np.int32) for side in (0, 1))
        routers = Topology(
            self.name, len(keys) - num_hosts, source, target, tuple(names[num_hosts:]),
            **units, **{name: values[: len(inside)] for name, values in said.items()},
        )  # fmt: skip
        owners = [self.vertices[key].computer for key in keys[:num_hosts]]
        computers = [owner or name for owner, name in zip(owners, names[:num_hosts], strict=True)]
        node_of = {computer: node for node, computer in enumerate(dict.fromkeys(computers))}
        found = attach_hosts(
            routers, ends[into, 1] - num_hosts, name=self.name, labels=tuple(names),
            ejection=ends[out_of, 0] - num_hosts, port_host=ends[into, 0],
            node_of_host=np.array([node_of[computer] for computer in computers], np.int32),
            computer_labels=tuple(node_of) if any(owners) else (),
            **units,
        )  # fmt: skip
        found = replace(found, **said)
        return replace(found, family=tree_shape(found))


def _link_names(ends: Ints, names: Sequence[str]) -> Callable[[int], str]:
    """Return what names a channel after its two ends."""
    return lambda channel: " -> ".join(names[end] for end in ends[channel].tolist())


def _parts(name: str, ends: Ints, num_hosts: int, names: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """Return the channels between routers, those out of hosts and those into hosts, in order.

    The n-th channel out of a host and the n-th into it are its n-th port.
    """
    from_host, to_host = (ends < num_hosts).T
    sent = np.bincount(ends[from_host, 0], minlength=num_hosts)
    received = np.bincount(ends[to_host, 1], minlength=num_hosts)
    bare = (sent == 0) & (received == 0)
    if bare.any():
        host = names[int(np.argmax(bare))]
        raise InputError(name, f"host {host} without a link", "every host joined to a router")
    if (sent != received).any():
        at = int(np.argmax(sent != received))
        found = f"host {names[at]} with {sent[at]} channels out and {received[at]} in"
        raise InputError(name, found, "as many channels out of a host as into it")
    by_source = np.lexsort((ends[:, 1], ends[:, 0]))
    by_target = np.lexsort((ends[:, 0], ends[:, 1]))
    inside = by_source[~(from_host | to_host)[by_source]]
    return inside, by_source[from_host[by_source]], by_target[to_host[by_target]]


def _in_order(keys: Iterable[Hashable]) -> list[Hashable]:
    """Sort the keys when they are the numbers 0 … N − 1. Leave any others as they come."""
    given = list(keys)
    as_numbers = {str(key): key for key in given}
    wanted = [str(place) for place in range(len(given))]
    return [as_numbers[each] for each in wanted] if set(as_numbers) == set(wanted) else given
