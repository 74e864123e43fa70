"""Networks from graphs and lists of edges: which vertices are hosts, and how fast channels are.

A NetworkX graph, a GraphML file or an edge list becomes a ``Drawing``: vertices and links as they
are drawn, with the bandwidths, latencies and kinds that they say. Its ``topology`` tells hosts from
routers, numbers them, and recognizes a fat tree however its routers and hosts are numbered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, nan, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base import units
from netloom.base.arrays import NO_INT64S, Bools, Floats, Ints, places_among
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.textfiles import check_file, check_graphml, read_lines
from netloom.base.words import counted
from netloom.topology.core import Topology, TreeShape, attach_hosts
from netloom.topology.cubes import Cube
from netloom.topology.families import Omega, tree_ends
from netloom.topology.faults import check_joined
from netloom.topology.measures import heights
from netloom.topology.names import unfolded, words_of

if TYPE_CHECKING:
    import networkx as nx


# -- bandwidths and latencies, as files write them -------------------------------------------------


PER_GHZ = {"MHz": 1e-3, "GHz": 1.0}
"""GHz of a unit of a clock."""

MOST_CYCLES = 2**20
"""Longest latency of a channel."""

RATE = "a bandwidth such as 2, 100Gb/s or 12.5GB/s"
DELAY = "a latency in cycles such as 4, or a time such as 600ns"
CLOCK = "a clock such as 1GHz or 850MHz"


class Said(NamedTuple):
    """A number that a file says of a channel. ``unit`` is empty where it says none."""

    value: float = nan
    unit: str = ""


NOTHING = Said()
NO_UNIT = "no unit"


def bandwidth_of(word: str) -> Said | None:
    """Return a bandwidth in Gb/s, or without a unit as a number. None if it is no bandwidth.

    Units are those of ``netloom.base.units``: a b is a bit, a B a byte.

    Examples
    --------
    >>> bandwidth_of("12.5GB/s"), bandwidth_of("2"), bandwidth_of("fast")
    (Said(value=100.0, unit='Gb/s'), Said(value=2.0, unit='no unit'), None)
    """
    return _said(word, NO_UNIT, units.RATE, Fraction(8, 10**9), "Gb/s")


def latency_of(word: str) -> Said | None:
    """Return a latency in cycles, or in ns where a unit of time is given. None if it is none.

    Examples
    --------
    >>> latency_of("4"), latency_of("0.6us")
    (Said(value=4.0, unit='cycles'), Said(value=600.0, unit='ns'))
    """
    found = _said(word, "cycles", units.TIME, Fraction(10**9), "ns")
    part = found is not None and found.unit == "cycles" and not found.value.is_integer()
    return None if part else found


def clock_of(word: str) -> float | None:
    """Return a clock in GHz, which is cycles per ns. None if it is none.

    Examples
    --------
    >>> clock_of("850 MHz")
    0.85
    """
    found = re.fullmatch(rf"({units.NUMBER})\s*([MG]Hz)", word, re.ASCII)
    number = float(found[1]) if found else 0.0
    return number * PER_GHZ[found[2]] if found and 0 < number < inf else None


def _said(
    word: str, plain: str, quantity: units.Quantity, times: Fraction, unit: str
) -> Said | None:
    """Return a positive value: a number of ``plain``, or so many times one that has a unit."""
    if re.fullmatch(units.NUMBER, word, re.ASCII):
        return Said(float(word), plain) if 0 < float(word) < inf else None
    try:
        value = float(quantity.exact(word, where="") * times)
    except InputError:
        return None
    return Said(value, unit) if value else None


# -- which vertices are hosts, and whether it is a fat tree ----------------------------------------


HOST = {
    "accelerator", "ca", "compute", "computer", "core", "cpu", "endpoint", "gpu", "hca", "host",
    "nic", "node", "pe", "processor", "server", "terminal", "tile", "worker",
}  # fmt: skip
"""Words for hosts, as files of networks have them."""

ROUTER = {
    "access", "aggregation", "bridge", "core", "crossbar", "distribution", "edge", "leaf", "router",
    "spine", "sw", "switch", "tor",
}  # fmt: skip
"""Words for routers. A core is a router beside ``LAYERS`` of a tree, and a host elsewhere."""

LAYERS = {"access", "aggregation", "distribution", "edge"}


def which_are_hosts(kinds: Sequence[str], names: Sequence[str], name: str) -> Bools:
    """Return which vertices of a network are hosts, bool[]. All of them in a direct network.

    Vertices that are all alike are a direct network: not marked at all, or all marked as hosts, or
    all by one word that is none of ``ROUTER``. A network of routers alone (``router``) is one too:
    each has a host of its own.

    Parameters
    ----------
    kinds
        What each vertex is said to be. Empty where nothing is said. Case does not matter.
    names
        Of the vertices, for messages.
    name
        Of the network.

    Raises
    ------
    InputError
        If hosts stand beside vertices of which it is not said what they are, or by a word that is
        not known, or if there are switches and no hosts.

    Examples
    --------
    >>> which_are_hosts(["Switch", "host", "host"], ["s", "a", "b"], "graph:net.graphml").tolist()
    [False, True, True]
    """
    said = [kind.strip().lower() for kind in kinds]
    counts = Counter(said)
    hosts, routers = counts.keys() & HOST, counts.keys() & ROUTER
    if "core" in hosts and routers & LAYERS:
        hosts -= {"core"}
    elif "core" in hosts:
        if len(hosts) > 1:
            found = "the kind 'core' beside hosts, which may be a processor's or a switch"
            raise InputError(name, found, "kinds that say which, such as host and switch")
        routers -= {"core"}
    if counts.keys() <= hosts:
        return np.ones(len(said), np.bool_)
    if len(counts) == 1 and not routers - {"router"}:
        return np.ones(len(said), np.bool_)
    unknown = [place for place, kind in enumerate(said) if kind not in hosts | routers]
    if unknown:
        at = unknown[0]
        found = f"{names[at]:.60} of kind '{kinds[at]:.40}'" if said[at] else f"{names[at]:.60}"
        found += "" if said[at] else ", of which no kind is said, beside others"
        wanted = f"a host ({', '.join(sorted(HOST))}) or a router ({', '.join(sorted(ROUTER))})"
        raise InputError(name, found, wanted)
    if not hosts:
        found = f"{counted(len(said), 'router')} and no host"
        raise InputError(name, found, "hosts too: vertices of the kind host, beside the routers")
    return np.array([kind in hosts for kind in said])


def check_all_compute(topology: Topology) -> None:
    """Refuse a network of which some vertices that are numbered as hosts run no tasks.

    They are the memory modules and switches of an Omega network, and the switches of a file that
    joins hosts to each other too.

    Raises
    ------
    InputError
        Naming the network.

    Examples
    --------
    >>> from netloom.topology import mesh, omega
    >>> check_all_compute(mesh(4, 4))
    >>> check_all_compute(omega(8))
    Traceback (most recent call last):
        ...
    netloom.InputError: omega:8: found memory modules and switches, on which netloom would
    put tasks and traffic; expected a network all of whose nodes compute, or the command hotspot
    """
    if isinstance(topology.whole, Omega):
        found = "memory modules and switches, on which netloom would put tasks and traffic"
        wanted = "a network all of whose nodes compute, or the command hotspot"
        raise InputError(topology.name, found, wanted)
    if topology.switches:
        found = "a link between two hosts, which would forward, beside switches"
        wanted = "hosts that hang on switches alone, or collective, or simulate trace --engine flow"
        raise InputError(topology.name, found, wanted)


class _Level(NamedTuple):
    """The links between the vertices of a level and those of the next.

    Attributes
    ----------
    lower, upper
        int64[num_pairs], the vertices that are joined, by lower, then upper, each pair once.
    fan_in, fan_out, parallel
        Children of each upper one, parents of each lower one, links of each pair.
    """

    lower: Ints
    upper: Ints
    fan_in: int
    fan_out: int
    parallel: int


def tree_shape(topology: Topology) -> TreeShape | None:
    """Return the parameters of the fat tree that a network is. None if it is none.

    It must be a whole extended generalized fat tree, with parallel links or without:
    ``PGFT(h; m; w; p)``. Routers of each level may have any numbers: ``router_at`` says where they
    stand. Hosts keep their numbers as places if those of each subtree follow each other. Else
    ``host_at`` orders subtrees by their lowest host. Any two labelings that the definition allows
    differ by an automorphism that keeps the hosts. So routings by labels, such as D-mod-k, load the
    channels of a renumbered tree like those of the tree made from its spec.

    A router's level is that of the router nearest to hosts above it plus one, which the links to
    its children must confirm. Its label is found from the top: two routers of a level have the same
    digits b if their parents have. What is found is then compared with the definition link by link.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found = tree_shape(topology("fat-tree:4x3"))
    >>> found.children, found.parents, found.parallel, found.router_at
    ((4, 4, 4), (1, 4, 4), (1, 1, 1), None)
    >>> tree_shape(topology("mesh:4x4/4")) is None
    True
    """
    if topology.broken:
        return None
    ends, source, target = topology.num_ends, topology.source_end, topology.target_end
    keys = np.sort(source.astype(np.int64) * ends + target)
    if not np.array_equal(keys, np.sort(target.astype(np.int64) * ends + source)):
        return None  # fewer channels lead back somewhere
    # 0 for hosts, 1 for routers with hosts …
    level_of = heights(np.arange(topology.num_hosts), source, target, ends)
    steps = np.abs(level_of[source] - level_of[target])
    if not 0 < level_of.max() < ends or (steps != 1).any():
        return None
    found = [_links(topology, level_of, level) for level in range(1, int(level_of.max()) + 1)]
    levels = [each for each in found if each is not None]
    if len(levels) < len(found):
        return None
    shape = TreeShape(
        tuple(each.fan_in for each in levels),
        tuple(each.fan_out for each in levels),
        tuple(each.parallel for each in levels),
    )
    sizes = np.bincount(level_of)
    if any(sizes[level] != shape.width(level) for level in range(shape.levels + 1)):
        return None
    placed = _placed(topology, shape, level_of, levels)
    if placed is None:
        return None
    low, high = tree_ends(placed)  # the links of the definition, place by place
    defined = np.sort(np.concatenate([low * ends + high, high * ends + low]))
    return placed if np.array_equal(defined, keys) else None


def _links(topology: Topology, level_of: Ints, level: int) -> _Level | None:
    """Return the links up to a level. None where not all vertices have as many."""
    source, target = topology.source_end, topology.target_end
    up = (level_of[target] == level) & (level_of[source] == level - 1)
    keys = source[up].astype(np.int64) * topology.num_ends + target[up]
    pairs, parallel = np.unique(keys, return_counts=True)
    lower, upper = np.divmod(pairs, topology.num_ends)
    fan_out = np.bincount(lower, minlength=len(level_of))[level_of == level - 1]
    fan_in = np.bincount(upper, minlength=len(level_of))[level_of == level]
    if any((counts != counts[0]).any() for counts in (parallel, fan_in, fan_out)):
        return None
    return _Level(lower, upper, int(fan_in[0]), int(fan_out[0]), int(parallel[0]))


def _placed(
    topology: Topology, shape: TreeShape, level_of: Ints, levels: list[_Level]
) -> TreeShape | None:
    """Return the shape with its routers and hosts in their places. None where there are none."""
    low, hosts = _low_digits(shape, level_of, levels), topology.num_hosts
    if low is None:
        return None
    # the lowest host below each vertex, by which its subtree is called, and that of each host's
    lowest, above = np.arange(topology.num_ends), np.arange(topology.num_ends)
    lowest[hosts:] = hosts
    blocks, over = [lowest[:hosts]], np.arange(hosts)
    for links in levels[:-1]:
        np.minimum.at(lowest, links.upper, lowest[links.lower])
        above[links.lower] = links.upper
        over = above[over]
        blocks.append(lowest[over])
    np.minimum.at(lowest, levels[-1].upper, lowest[levels[-1].lower])
    order = np.lexsort(blocks)
    place = np.argsort(order)
    router_at, first = np.full(topology.num_routers, -1), 0
    for level in range(1, shape.levels + 1):
        there = np.flatnonzero(level_of == level)
        below, width = prod(shape.children[:level]), prod(shape.parents[:level])
        at = first + place[lowest[there]] // below * width + low[there]
        if at.max() >= len(router_at):
            return None
        router_at[at] = there - hosts
        first += shape.width(level)
    if (router_at < 0).any():
        return None
    as_they_come = np.array_equal(router_at, np.arange(len(router_at)))
    in_order = np.array_equal(order, np.arange(hosts))
    return replace(
        shape,
        router_at=None if as_they_come else router_at.astype(np.int32),
        host_at=None if in_order else order.astype(np.int32),
    )


def _low_digits(shape: TreeShape, level_of: Ints, levels: list[_Level]) -> Ints | None:
    """Return b_l … b_1 of each router as one number. None where the parents do not agree."""
    kind = np.zeros(len(level_of), np.int64)  # of routers of a level that have the same digits b
    top = np.flatnonzero(level_of == shape.levels)
    kind[top] = np.arange(len(top))
    for level in range(shape.levels - 1, 0, -1):
        links = levels[level]
        there = np.flatnonzero(level_of == level)
        above = np.sort(kind[links.upper].reshape(len(there), links.fan_out), axis=1)
        kinds, kind[there] = np.unique(above, axis=0, return_inverse=True)
        if len(kinds) != prod(shape.parents[:level]):
            return None
    low = np.zeros(len(level_of), np.int64)
    for level in range(1, shape.levels + 1):
        there = np.flatnonzero(level_of == level)
        links, below = levels[level - 1], prod(shape.parents[: level - 1])
        child = np.zeros(len(level_of), np.int64)
        child[links.upper] = low[links.lower]  # of hosts 0; all children of a router have the same
        # number the kinds that share their children by the lowest router of each
        _, first, of = np.unique(kind[there], return_index=True, return_inverse=True)
        one = there[first]  # the lowest router of each kind
        order, rank = np.argsort(one), np.empty(len(one), np.int64)
        rank[order] = places_among(child[one[order]])
        low[there] = rank[of] * below + child[there]
    return low


# -- drawings --------------------------------------------------------------------------------------


@dataclass
class Vertex:
    """What is said of a vertex.

    Attributes
    ----------
    kind
        A word that ``which_are_hosts`` knows. Empty where nothing is said.
    label
        What it is called, if not by its key in the drawing.
    computer
        The computer that owns it. Empty where that is the host itself.
    """

    kind: str = ""
    label: str = ""
    computer: str = ""


class Link(NamedTuple):
    """A directed channel between two vertices, by their keys, and the ports that it joins.

    Ports are 0 where none are said.
    """

    source: Hashable
    target: Hashable
    bandwidth: Said = NOTHING
    latency: Said = NOTHING
    out_port: int = 0
    in_port: int = 0


@dataclass
class Drawing:
    """A network as it is drawn: vertices by any keys, in order, and directed channels.

    Attributes
    ----------
    clock_ghz
        Cycles per ns, where it is said.
    labelled
        Whether labels are taken as they are, though two may be alike.
    order
        int64[num_channels], the link of each channel. ``topology`` sets it.
    """

    name: str
    vertices: dict[Hashable, Vertex] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    clock_ghz: float | None = None
    labelled: bool = False
    order: Ints = field(default_factory=lambda: NO_INT64S)

    def topology(self) -> Topology:
        """Return the network: direct where all vertices are alike, else hosts on routers.

        If hosts are joined to each other beside switches, they forward, and the network is direct.
        Its ``switches`` are marked.

        Keys that are the numbers 0 … N − 1 are taken in that order, others as they come. Hosts
        are numbered before routers. Channels are sorted by source, port, then target, those of a
        host's ports too. Channels that are alike in these are in the order of the drawing.

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
        keys, as_numbers = list(self.vertices), {str(key): key for key in self.vertices}
        wanted = [str(place) for place in range(len(keys))]
        if set(as_numbers) == set(wanted):
            keys = [as_numbers[each] for each in wanted]
        labels = [self.vertices[key].label for key in keys]
        alike = not all(labels) or len(set(labels)) < len(labels)
        names = list(map(str, keys)) if alike and not self.labelled else labels
        hosts = which_are_hosts([self.vertices[key].kind for key in keys], names, self.name)
        if not hosts.all():
            first = np.argsort(~hosts, kind="stable").tolist()  # hosts before routers
            keys, names = [keys[place] for place in first], [names[place] for place in first]
        number, many = {key: place for place, key in enumerate(keys)}, int(hosts.sum())
        numbers = [
            (number[link.source], number[link.target], link.out_port, link.in_port)
            for link in self.links
        ]
        ends = np.array(numbers, dtype=np.int32).reshape(-1, 4)
        itself = ends[:, 0] == ends[:, 1]
        if itself.any():
            own = names[int(ends[np.argmax(itself), 0])]
            said = f"a channel from a node to itself: {own} -> {own}"
            raise InputError(self.name, said, "channels between two nodes")
        by_source = np.lexsort((ends[:, 1], ends[:, 2], ends[:, 0]))
        if hosts.all() or (ends[:, :2] < many).all(axis=1).any():  # vertices are host and router
            self.order = by_source
            source, target = ends[by_source, :2].T.copy()
            labels, switches = ([] if names == wanted else names), range(many, len(names))
            found = Topology(
                self.name, len(names), source, target, tuple(labels), switches=tuple(switches)
            )
            found = replace(found, **self._said(found, slice(None)))
        else:
            found = self._hosted(ends, by_source, keys, names, many)
        check_joined(found, self.name, "a strongly connected network")
        return found

    def _hosted(
        self, ends: Ints, by_source: Ints, keys: list[Hashable], names: list[str], num_hosts: int
    ) -> Topology:
        """Return a network of hosts that hang on routers."""
        from_host, to_host = (ends[:, :2] < num_hosts).T
        sent = np.bincount(ends[from_host, 0], minlength=num_hosts)
        received = np.bincount(ends[to_host, 1], minlength=num_hosts)
        bare = (sent == 0) & (received == 0)
        if bare.any():
            host = names[int(np.argmax(bare))]
            wanted = "every host joined to a router"
            raise InputError(self.name, f"host {host} without a link", wanted)
        if (sent != received).any():
            at = int(np.argmax(sent != received))
            lacks = f"host {names[at]} with {sent[at]} channels out and {received[at]} in"
            raise InputError(self.name, lacks, "as many channels out of a host as into it")
        by_target = np.lexsort((ends[:, 0], ends[:, 3], ends[:, 1]))
        inside = by_source[~(from_host | to_host)[by_source]]
        into, out_of = by_source[from_host[by_source]], by_target[to_host[by_target]]
        self.order = np.concatenate([inside, into, out_of])
        source, target = (ends[inside, :2] - num_hosts).T.astype(np.int32)
        routers = Topology(
            self.name, len(keys) - num_hosts, source, target, tuple(names[num_hosts:])
        )
        owners = [self.vertices[key].computer for key in keys[:num_hosts]]
        computers = [owner or name for owner, name in zip(owners, names[:num_hosts], strict=True)]
        node_of = {computer: node for node, computer in enumerate(dict.fromkeys(computers))}
        found = attach_hosts(
            routers,
            ends[into, 1] - num_hosts,
            name=self.name,
            labels=tuple(names),
            ejection=ends[out_of, 0] - num_hosts,
            port_host=ends[into, 0],
            node_of_host=np.array([node_of[computer] for computer in computers], np.int32),
            computer_labels=tuple(node_of) if any(owners) else (),
        )
        found = replace(found, **self._said(found, slice(len(inside), None)))
        return replace(found, family=tree_shape(found))

    def _said(self, found: Topology, measured_by: slice) -> dict[str, Any]:
        """Return what is said of a network's channels, as fields of a topology.

        Bandwidths are relative to the reference rate, the one that most of the channels in
        ``measured_by`` have. Of several such the slowest. In Gb/s it is None where the file says
        numbers without a unit.

        Raises
        ------
        InputError
            If a time is given without a clock, or is too long, or as ``_numbers`` does.
        """
        fields: dict[str, Any] = {}
        rates, unit = self._numbers("bandwidth", f"{RATE} for every link", found)
        if unit:
            known, counts = np.unique(rates[measured_by], return_counts=True)
            reference = float(known[np.argmax(counts)])  # ascending: the first of the most common
            fields["channel_bandwidth"] = rates / reference
            fields["reference_gbps"] = reference if unit == "Gb/s" else None
        cycles, unit = self._numbers("latency", f"{DELAY}, for every link in one unit", found)
        if unit == "ns":
            if self.clock_ghz is None:
                said = f"a latency of {cycles[0]:g} ns and no clock"
                raise InputError(self.name, said, f"cycles, or {CLOCK} (the word clock)")
            cycles = np.maximum(np.rint(cycles * self.clock_ghz), 1)
        if unit:
            if cycles.max() > MOST_CYCLES:
                at = int(np.argmax(cycles))
                said = f"a latency of {cycles[at]:g} cycles on {_ends_of(found, at)}"
                raise InputError(self.name, said, f"at most {MOST_CYCLES}")
            fields["channel_cycles"] = cycles.astype(np.int32)
            fields["cycle_ns"] = None if self.clock_ghz is None else 1 / self.clock_ghz
        return fields

    def _numbers(self, what: str, wanted: str, found: Topology) -> tuple[Floats, str]:
        """Return what is said of each channel, and in which unit. None: nothing is said of any.

        Raises
        ------
        InputError
            If something is said of some channels and not of others, or in another unit.
        """
        said = [getattr(self.links[place], what) for place in self.order.tolist()]
        first = {each.unit: at for at, each in reversed([*enumerate(said)])}
        if len(first) > 1:
            texts = []
            for at in sorted(first.values())[:2]:
                number = f"{what} {said[at].value:g} {said[at].unit}".removesuffix(f" {NO_UNIT}")
                number = number if said[at].unit else f"no {what}"
                texts.append(f"{_ends_of(found, at)} with {number}")
            raise InputError(self.name, ", ".join(texts), wanted)
        return np.array([each.value for each in said]), next(iter(first), "")


def _ends_of(found: Topology, channel: int) -> str:
    """Return a channel by the names of its two ends."""
    ends = (int(end[channel]) for end in (found.source_end, found.target_end))
    return " -> ".join(map(found.name_of, ends))


LINKS = "lines such as 'a b' or 'a -> b'"
LINK = "'a b' or 'a -> b', perhaps with a bandwidth (100Gb/s) and a latency (cycles, or 600ns)"
ONCE = "each link once, or the same line again for a parallel one"

MOST_HOSTS = 2**22
"""Most hosts that one word names."""


def read_edge_list(path: Path) -> Drawing:
    """Read an edge list. See ``read_graph``.

    Raises
    ------
    InputError
        Naming the file and the line of what cannot be read, or of a link that was written before
        from its other end, and so may be the same one.
    """
    found = Drawing(f"graph:{path}")
    hosts: dict[Hashable, None] | None = None
    written: dict[tuple[Hashable, Hashable], bool] = {}  # and whether one way
    for where, line in read_lines(path, wanted=LINKS):
        head, rest = [*line.split(maxsplit=1), ""][:2]
        if head == "hosts:":
            hosts = {} if hosts is None else hosts
            for word in words_of(rest):
                for name in unfolded(word, where=where, most=MOST_HOSTS):
                    hosts[name] = None
                    found.vertices.setdefault(name, Vertex())
        elif head == "clock:":
            found.clock_ghz = clock_of(rest)
            if found.clock_ghz is None:
                raise InputError(where, f"'{line:.200}'", f"clock: and {CLOCK}")
        else:
            link, one_way = _listed_link(where, line)
            there, back = (link.source, link.target), (link.target, link.source)
            other = back in written and not (one_way and written[back])
            if there != back and (other or written.get(there, one_way) != one_way):
                same = f"the same channel twice: {link.source} -> {link.target}"
                raise InputError(where, same, ONCE)
            written[there] = one_way
            for end in there:
                found.vertices.setdefault(end, Vertex())
            reverse = link._replace(source=link.target, target=link.source)
            found.links += [link] if one_way else [link, reverse]
    if not found.links:
        raise InputError(str(path), "no links", LINKS)
    for key, vertex in found.vertices.items():
        vertex.kind = "" if hosts is None else "host" if key in hosts else "switch"
    return found


def is_edge_list(text: str) -> bool:
    r"""Return whether a text begins as an edge list does: with a link, or with what may precede it.

    Examples
    --------
    >>> is_edge_list("# mine\nclock: 1GHz\nh0 leaf0 100Gb/s\n"), is_edge_list("SwitchName=s0")
    (True, False)
    """
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] not in ("hosts:", "clock:"):
            try:
                _listed_link("", " ".join(words))
            except InputError:
                return False
            return True
    return False


def _listed_link(where: str, line: str) -> tuple[Link, bool]:
    """Return the link of a line, and whether it leads one way only."""
    words = line.split()
    one_way = len(words) > 2 and words[1] in ("->", "→")
    if one_way:
        del words[1]
    rate = bandwidth_of(words[2]) if len(words) > 2 else NOTHING
    delay = latency_of(words[3]) if len(words) > 3 else NOTHING
    if not 2 <= len(words) <= 4 or rate is None or delay is None:
        raise InputError(where, f"'{line:.200}'", LINK)
    return Link(words[0], words[1], rate, delay), one_way


def graph_topology(graph: nx.Graph[Any], *, name: str = "graph:networkx") -> Topology:
    """Return a NetworkX graph as a network. An undirected edge becomes two channels.

    Nodes that are exactly 0 … N − 1 in the graph keep that order. Others are numbered in the
    graph's own. A node is called by its attribute ``label`` or ``name``, if all have one and no
    two the same, otherwise as in the graph. Channels are sorted by source, then target. Edges of a
    multigraph that join the same two nodes are parallel channels.

    Attributes of nodes, in any case of letters: ``kind``, ``type`` or ``role`` says what is a host
    and what a router (see ``which_are_hosts``). Hosts are numbered before routers. ``computer``
    names the computer that owns a host, where one owns several. Attributes of edges: ``bandwidth``,
    a number or a rate such as ``100Gb/s`` or ``12.5GB/s``, and ``latency``, in cycles or as a time
    such as ``600ns``. A time needs the graph's attribute ``clock`` (``1GHz``). An attribute must be
    on all edges or on none. Bandwidths are relative to the rate of most host ports, or of most
    channels in a direct network. If several rates are as frequent, they are relative to the
    slowest.

    Raises
    ------
    InputError
        If an edge joins a node to itself or a host to a host, or a host has no edge. If kinds or
        numbers are not clear, or some host cannot reach another.

    Examples
    --------
    >>> import networkx as nx
    >>> graph_topology(nx.petersen_graph())
    <graph:networkx: 10 nodes, 30 directed channels>
    >>> star = nx.Graph([("s", "a"), ("s", "b"), ("s", "c")])
    >>> nx.set_node_attributes(star, {"s": "switch", "a": "host", "b": "host", "c": "host"}, "kind")
    >>> nx.set_edge_attributes(star, "25Gb/s", "bandwidth")
    >>> found = graph_topology(star)
    >>> found.num_hosts, found.num_routers, found.reference_gbps
    (3, 1, 25.0)
    """
    directed = graph if graph.is_directed() else graph.to_directed()
    found = Drawing(name)
    for node, values in directed.nodes(data=True):
        marks = _marks(values)
        kind = marks.get("type") or marks.get("kind") or marks.get("role", "")
        label = marks.get("label") or marks.get("name", "")
        found.vertices[node] = Vertex(kind, label, marks.get("computer", ""))
    attributes = ("bandwidth", bandwidth_of, RATE), ("latency", latency_of, DELAY)
    for source, target, values in directed.edges(data=True):
        marks, given = _marks(values), {"bandwidth": NOTHING, "latency": NOTHING}
        for what, read, wanted in attributes:
            if what in marks:
                said = read(marks[what])
                if said is None:
                    where = f"{name}, link {source} - {target}"
                    raise InputError(where, f"a {what} of '{marks[what]:.60}'", wanted)
                given[what] = said
        found.links.append(Link(source, target, given["bandwidth"], given["latency"]))
    clock = _marks(graph.graph).get("clock", "")
    if clock:
        found.clock_ghz = clock_of(clock)
        if found.clock_ghz is None:
            raise InputError(name, f"a clock of '{clock:.60}'", CLOCK)
    return found.topology()


def read_graph(path: str | Path) -> Topology:
    """Read a network from a GraphML file (``.graphml``) or an edge list (anything else).

    GraphML is read as ``graph_topology`` reads graphs. An edge list has one link per line: ``a b``
    joins two nodes in both directions, ``a -> b`` is one directed channel. Behind it may stand a
    bandwidth, and behind that a latency, as in ``a b 100Gb/s 600ns``. The same line again is a
    parallel link. A line ``hosts: a h[0-15]`` says which are hosts. All others are routers then.
    Without one every node is both. ``clock: 1GHz`` says the cycles of times. Names may be any
    words. ``#`` starts a comment.

    Raises
    ------
    InputError
        Naming the file, and the line in an edge list, where it cannot be read, and as
        ``graph_topology`` does.
    """
    path = check_file(path, wanted="a GraphML or edge-list file")
    if path.suffix != ".graphml":
        return read_edge_list(path).topology()
    import networkx as nx

    try:
        check_graphml(path)
        graph = nx.read_graphml(path)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # any parser's failure is the file's
        reason = " ".join(str(error).split())
        raise InputError(str(path), f"unreadable GraphML ({reason})") from None
    return graph_topology(graph, name=f"graph:{path}")


def to_networkx(topology: Topology) -> nx.DiGraph[int] | nx.MultiDiGraph[int]:
    """Return the network as a NetworkX digraph, a multigraph where channels are parallel.

    Edges have their number as ``channel``, a ``bandwidth`` (in Gb/s where that is known, else
    relative) and a ``latency`` in cycles. Nodes have a ``label``, in a cube ``coordinates``, and a
    ``kind`` where hosts are not routers. Broken hosts and routers are left out there, as they have
    no channels. ``graph_topology`` makes the network again, which is called otherwise then.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> to_networkx(mesh(2, 2)).number_of_edges()
    8
    >>> to_networkx(topology("leaf-spine:2x1x1/2")).edges[0, 2, 0]
    {'channel': 8, 'bandwidth': 1.0, 'latency': 1}
    """
    import networkx as nx

    parallel = bool(topology.twin_number.any())
    graph: nx.DiGraph[int] = (nx.MultiDiGraph if parallel else nx.DiGraph)(name=topology.name)
    up = topology.vertex_up
    for vertex in range(topology.num_ends):
        if topology.direct or up[vertex]:
            said: dict[str, Any] = {"label": topology.name_of(vertex)}
            if isinstance(topology, Cube):
                said["coordinates"] = topology.coordinates(vertex)
            if not topology.direct:
                said["kind"] = "host" if vertex < topology.num_hosts else "router"
            if said.get("kind") == "host" and topology.computer_labels:
                said["computer"] = topology.computer_name(int(topology.node_of_host[vertex]))
            graph.add_node(vertex, **said)
    gbps = topology.reference_gbps
    if topology.cycle_ns is not None:
        graph.graph["clock"] = f"{1 / topology.cycle_ns:.12g}GHz"
    for channel in range(topology.num_channels):
        ends = int(topology.source_end[channel]), int(topology.target_end[channel])
        rate, cycles = topology.channel_bandwidth[channel], topology.channel_cycles[channel]
        bandwidth = float(rate) if gbps is None else f"{float(rate) * gbps:.12g}Gb/s"
        graph.add_edge(*ends, channel=channel, bandwidth=bandwidth, latency=int(cycles))
    return graph


def _marks(values: Mapping[Any, Any]) -> dict[str, str]:
    """Return attributes by their names in small letters, as text."""
    return {str(key).lower(): str(value).strip() for key, value in values.items()}
