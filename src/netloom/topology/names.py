"""Names of hosts, ports and parts of a network.

Lists of names are as batch systems write them: ``n[001-064,070]``. Descriptions of devices say the
computer that they are in, and which of its adapters they are. ``NamedParts`` finds hosts, routers
and channels by what a person calls them. ``vertex_word`` and ``channel_words`` lead back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.words import or_near
from netloom.topology.core import Topology
from netloom.topology.cubes import Cube

WORD = re.compile(r"(?:\([^()]*\)|\[[^\[\]]*\]|[^,\s])+")
"""A word of a list, between commas and blanks: these may be in ``(0,3)`` or ``n[3-7,9]``."""

MOST_NAMED = 2**24
"""Most names in a list, each as often as it stands there."""

MOST_DIGITS = 9
"""Digits of a number in brackets."""

NAMES = "names such as h0, h[2-15] or n[001-064,070]"


def words_of(text: str) -> list[str]:
    """Split a list at its commas and blanks, but not inside brackets.

    Examples
    --------
    >>> words_of("n[3-7,9] n12,(0,3)")
    ['n[3-7,9]', 'n12', '(0,3)']
    """
    return WORD.findall(text)


def unfolded(
    word: str, *, where: str = "nodes", wanted: str = NAMES, most: int = MOST_NAMED
) -> list[str]:
    """Return the names that one word of a list stands for, in order.

    Parameters
    ----------
    word
        A name, perhaps with numbers in brackets: single ones and ranges, with commas between. The
        first number of a range says how many digits its numbers have at least. A name may have
        several brackets. The last changes fastest.
    where, wanted
        The field, or file and line, that errors name, and what they say would be right.
    most
        Most names that it may stand for.

    Raises
    ------
    InputError
        If brackets do not match or hold something else, a range goes down, or there are too many.

    Examples
    --------
    >>> unfolded("n[008-010,70]")
    ['n008', 'n009', 'n010', 'n70']
    >>> unfolded("rack[1-2]n[0,4]")
    ['rack1n0', 'rack1n4', 'rack2n0', 'rack2n4']
    """
    parts = re.split(r"\[([^\[\]]*)\]", word)
    if any("[" in part or "]" in part for part in parts[::2]):
        raise InputError(where, f"'{word:.60}'", wanted)
    ranges = [
        [_range(part.strip(), word, where, wanted) for part in inside.split(",")]
        for inside in parts[1::2]
    ]
    many = prod(sum(last - first + 1 for first, last, _ in each) for each in ranges)
    if many > most:
        raise InputError(where, f"'{word:.60}', which is {many:,} names", f"at most {most:,}")
    numbers = [
        [f"{number:0{width}}" for first, last, width in each for number in range(first, last + 1)]
        for each in ranges
    ]
    return [
        "".join(f"{part}{number}" for part, number in zip(parts[::2], (*chosen, ""), strict=True))
        for chosen in product(*numbers)
    ]


def folded(names: Iterable[str]) -> str:
    """Return names as a list that ``unfolded`` reads, word by word, in the same order.

    Names that differ in their last number alone share brackets, if they follow each other.

    Examples
    --------
    >>> folded(["n008", "n009", "n010", "n70", "login"])
    'n[008-010,70],login'
    """
    words = []
    head, tail, runs = "", "", list[list[str]]()
    for name in names:
        split = re.fullmatch(rf"(.*?)(\d{{1,{MOST_DIGITS}}})(\D*)", name, re.ASCII | re.DOTALL)
        before, number, behind = split.groups() if split else (name, "", "")
        if not runs or not number or (before, behind) != (head, tail):
            words += [_with_brackets(head, runs, tail)] if runs else []
            head, tail, runs = before, behind, [[number, number]]
        elif number == f"{int(runs[-1][1]) + 1:0{len(runs[-1][0])}}":
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join([*words, *([_with_brackets(head, runs, tail)] if runs else [])])


def _with_brackets(head: str, runs: list[list[str]], tail: str) -> str:
    """Return a name, or several of which each has another number between head and tail."""
    inside = ",".join(first if first == last else f"{first}-{last}" for first, last in runs)
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{head}{inside}{tail}" if single else f"{head}[{inside}]{tail}"


def _range(part: str, word: str, where: str, wanted: str) -> tuple[int, int, int]:
    """Return the first and the last number in ``7`` or ``003-007``, and their digits."""
    ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
    if ends is None or max(len(end or "") for end in ends.groups()) > MOST_DIGITS:
        raise InputError(where, f"'{word:.60}'", wanted)
    first, last = int(ends[1]), int(ends[2] or ends[1])
    if last < first:
        raise InputError(where, f"'{word:.60}'", "a range from its lowest number on")
    return first, last, len(ends[1])


_NOBODY = re.compile(
    r"^(MT\d+|ConnectX\S*|Connect-IB|InfiniHost\S*|Infinihost\S*|Mellanox|NVIDIA|Voltaire|QLogic|"
    r"QLE\d+\S*|Intel|localhost\S*|ubuntu|debian|centos|rocky|linux|\(none\)|none|unknown|node|"
    r"hca|HCA-\d+|mlx\d_\d+|ib\d+|rdma\S*)$",
    re.IGNORECASE,
)
"""Words that a description begins with where nobody set it: they name no computer."""

_SERVES = re.compile(
    r"Aggregation Node|\bSHA[rR]P\b|^Quantum\S*\s+Mellanox|Mellanox.*\bQuantum|Skyway|BridgeX"
)
"""Descriptions of end points that belong to a switch or lead to another network."""

_SWITCH = re.compile(r"^MF\d+;(.+):[^:/]+/U1$")
_END = re.compile(r"(.*?)( port \d+|#\d+|)", re.DOTALL)
"""An end of a channel: the vertex, and its port or which of several channels it is."""

_NUMBER = re.compile(r"(\d+)")


def host_of(description: str, guid: int) -> tuple[str, str, str]:
    """Return the name of an adapter, that of its computer, and what it is called there.

    The latter two are empty where a description says no more.

    All adapters whose descriptions begin with the same word are in one computer. An adapter that
    bears the name of its model, or what a computer is called before it has a name, is called by
    its GUID.

    Examples
    --------
    >>> host_of("a08-p1-dgx-04-c01 mlx5_5", 0x1)
    ('a08-p1-dgx-04-c01/mlx5_5', 'a08-p1-dgx-04-c01', 'mlx5_5')
    >>> host_of("MT4129 ConnectX7   Mellanox Technologies", 0xE09D730300858D88)
    ('0xe09d730300858d88', '', 'ConnectX7')
    >>> host_of("Hca0", 0x1), host_of("node7 'HCA-1'", 0x1)
    (('Hca0', 'Hca0', ''), ('node7/HCA-1', 'node7', 'HCA-1'))
    """
    words = description.replace("'", " ").replace('"', " ").split()
    adapter = words[1] if len(words) > 1 else ""
    if not words or _NOBODY.match(words[0]):
        return f"0x{guid:016x}" if guid else "/".join(words), "", adapter
    return "/".join(words), words[0], adapter


def serves(description: str) -> bool:
    """Return whether what is described runs no programs: an aggregation node or a gateway.

    Examples
    --------
    >>> serves("Mellanox Technologies Aggregation Node"), serves("quantum HCA-1")
    (True, False)
    >>> serves("Quantum Mellanox Technologies")
    True
    """
    return _SERVES.search(description) is not None


def short_switch_name(name: str) -> str:
    """Return the name that an administrator gave a switch, without what its firmware adds.

    Examples
    --------
    >>> short_switch_name("MF0;A09-P1-IBLEAF-04-04:MQM9701/U1"), short_switch_name("leaf 1")
    ('A09-P1-IBLEAF-04-04', 'leaf 1')
    """
    found = _SWITCH.match(name)
    return found[1] if found else name


def short_channel_name(name: str) -> str:
    """Return the name of a channel without what the firmware of switches adds to theirs.

    Examples
    --------
    >>> short_channel_name("h0 -> MF0;A09-P1-IBLEAF-04-04:MQM9701/U1#2")
    'h0 -> A09-P1-IBLEAF-04-04#2'
    >>> short_channel_name("MF0;A09-P1-IBLEAF-04-04:MQM9701/U1 port 33 -> spine1 port 2")
    'A09-P1-IBLEAF-04-04 port 33 -> spine1 port 2'
    """
    ends = [(each, _END.fullmatch(each)) for each in name.split(" -> ")]
    return " -> ".join(
        each if end is None else short_switch_name(end[1]) + end[2] for each, end in ends
    )


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Return the short form of each name of a switch that no other has.

    Examples
    --------
    >>> short_names(["MF0;leaf1:MQM9701/U1", "leaf2", "MF0;x:M1/U1", "MF0;x:M2/U1"])
    {'MF0;leaf1:MQM9701/U1': 'leaf1'}
    """
    labels = list(labels)
    short = [short_switch_name(label) for label in labels]
    taken = Counter(short)
    return {
        label: name
        for label, name in zip(labels, short, strict=True)
        if name != label and taken[name] == 1
    }


def natural(name: str) -> tuple[tuple[int, int, str, str], ...]:
    """Return a key that orders names as people do, ``node9`` before ``node10``.

    Examples
    --------
    >>> sorted(["node10", "node9", "Node1", "10", "9"], key=natural)
    ['9', '10', 'Node1', 'node9', 'node10']
    """
    parts = [(part, part.lstrip("0")) for part in _NUMBER.split(name) if part]
    return tuple(
        (0, len(bare), bare, part) if part.isdecimal() else (1, 0, "", part) for part, bare in parts
    )


MOST_NODE_DIGITS = 18
"""Digits of a number that may be a node's: no network has as many."""

TWIN = re.compile(r"(.*[^#\s])\s*#([1-9]\d{0,8})", re.ASCII)
"""A channel, and which of those that join the same two vertices."""

END = re.compile(r"(.*\S)\s+port\s+(\d{1,9})", re.ASCII)
"""An end of a cable: a vertex, and the number of its port."""

ARROW = re.compile("->|→|-(?!>)")
"""What stands between two vertices: one direction, or a link."""

WANTED = "two neighbours, such as 3-4 for a link or 3->4 for one direction"
"""Links, for messages."""

WANTED_PORTS = "a cable by one of its ports, such as '{}', or two neighbours, such as 3-4"
"""The same, where a file says the ports."""


MOST_COMPARED = 2**14
"""Most names that a word is compared with, to find the nearest."""


def hosts_wanted(topology: Topology, word: str = "", known: Sequence[str] = ()) -> str:
    """Return which hosts there are, for messages: the nearest of the known names first.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> hosts_wanted(topology("mesh:4x4"))
    'hosts 0 to 15 of mesh:4x4, or their names (netloom names --on mesh:4x4)'
    """
    spec = topology.whole.name
    wanted = f"hosts 0 to {topology.num_hosts - 1} of {topology.name}, or their names"
    return or_near(word, known[:MOST_COMPARED], f"{wanted} (netloom names --on {spec})")


class NamedParts:
    """The hosts, routers, computers and channels of a network by their names.

    A host or router is called by its label, a computer by its own. A number is a host's, but for
    labels that are numbers. In cubes coordinates are names: ``(0,3)`` or ``0.3``. A switch may be
    called without what its firmware adds, a cable by one of its ports: ``leaf3 port 17``.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.whole = topology.whole

    @cached_property
    def _vertex(self) -> dict[str, int]:
        """The vertex of each label, the first of those that share one."""
        labels = self.whole.labels
        known = dict(zip(reversed(labels), reversed(range(len(labels))), strict=True))
        short = short_names(labels[self.whole.num_hosts :])
        return {name: known[label] for label, name in short.items()} | known

    @cached_property
    def _hosts_of_computer(self) -> dict[str, list[int]]:
        """The hosts of each computer that has a name of its own."""
        found: dict[str, list[int]] = {name: [] for name in self.whole.computer_labels}
        for host, node in enumerate(self.whole.node_of_host.tolist() if found else ()):
            found[self.whole.computer_labels[node]].append(host)
        return found

    def vertex(self, word: str) -> int | None:
        """Return the host or router of this name, number or coordinates. None if there is none."""
        word = word.strip()
        if word in self._vertex:
            return self._vertex[word]
        parts = re.split("[.,]", word.removeprefix("(").removesuffix(")"))
        if not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
            return None
        if any(len(part.strip()) > MOST_NODE_DIGITS for part in parts):
            return None
        at = [int(part) for part in parts]
        if len(at) == 1:
            return at[0] if at[0] < self.topology.num_hosts else None
        cube = self.whole
        if not isinstance(cube, Cube) or len(at) != len(cube.sides):
            return None
        if any(place >= side for place, side in zip(at, cube.sides, strict=True)):
            return None
        return int(np.array(at) @ cube.strides)

    def vertices(self, word: str | int) -> list[int]:
        """Return the vertices that one of ``failed nodes`` names. A computer's are its hosts."""
        text = str(word).strip()
        vertex = self.vertex(text)
        if vertex is not None:
            return [vertex]
        if text in self._hosts_of_computer:
            return self._hosts_of_computer[text]
        topology = self.topology
        wanted = hosts_wanted(topology, text, [*self._vertex, *self._hosts_of_computer])
        if "[" not in text:
            raise InputError("failed nodes", f"'{word}'", wanted)
        names = unfolded(text, where="failed nodes", wanted=wanted, most=topology.num_ends)
        return [vertex for name in names for vertex in self.vertices(name)]

    def channels(self, word: str | int) -> list[int]:
        """Return the channels of the whole network that one of ``failed channels`` names.

        A link between two vertices is all channels that join them. ``#2`` behind it the second
        each way. If a file says the ports, ``leaf3 port 17`` is the cable in this port.
        """
        topology, wanted = self.topology, WANTED
        if self.whole.cabling is not None and self.whole.num_channels:
            switch, port, *_ = self.whole.cable_end(0)
            if port:
                wanted = WANTED_PORTS.format(f"{short_switch_name(switch)} port {port}")
        if isinstance(word, int):
            if not 0 <= word < topology.num_channels:
                wanted = f"channels 0 to {topology.num_channels - 1} of {topology.name}"
                raise InputError("failed channels", f"channel {word}", wanted)
            return [int(topology.whole_channel[word]) if topology.broken else word]
        if cable := self._at_ports(word):
            return cable
        pairs = {(*pair, 0) for pair in self._pairs(word)}
        twin = TWIN.fullmatch(word)
        if not pairs and twin:
            pairs = {(*pair, int(twin[2])) for pair in self._pairs(twin[1])}
        if not pairs and "[" in word:
            most = self.whole.num_channels
            wanted = f"{wanted}, of {topology.name}"
            names = unfolded(word, where="failed channels", wanted=wanted, most=most)
            return [channel for name in names for channel in self.channels(name)]
        if len(pairs) != 1:
            found = f"'{word}', which is two vertices in several ways" if pairs else f"'{word}'"
            ends_said = ARROW.split(word) if not pairs else []
            strange = next((end.strip() for end in ends_said if self.vertex(end) is None), "")
            wanted = or_near(strange, list(self._vertex)[:MOST_COMPARED], wanted)
            raise InputError("failed channels", found, f"{wanted}, of {topology.name}")
        ((source, target, one_way, number),) = pairs
        ends = [(source, target)] if one_way else [(source, target), (target, source)]
        at = [self._between(*pair, number) for pair in ends]
        for (a, b), here in zip(ends, at, strict=True):
            if not len(here):
                name = self.whole.name_of
                found = f"'{word}', but no channel {name(a)} -> {name(b)}"
                found += f"#{number}" if number else ""
                raise InputError("failed channels", found, f"{wanted}, of {self.whole.name}")
        return [int(channel) for here in at for channel in here]

    def _at_ports(self, word: str) -> list[int]:
        """Return the channels of the cable in a port, or from port to port. [] if it is no port."""
        whole, cabling = self.whole, self.whole.cabling
        parts = re.split(r"\s*(->|→|\s-\s)\s*", word.strip(), maxsplit=1)
        named = [found for part in parts[::2] if (found := END.fullmatch(part))]
        at = [(self.vertex(found[1]), int(found[2])) for found in named]
        if cabling is None or len(at) < len(parts[::2]):
            return []
        (near, port), (far, far_port) = at[0], at[-1]
        there = (whole.source_end == near) & (cabling.out_port == port)
        back = (whole.target_end == near) & (cabling.in_port == port)
        if len(at) == 2:
            there &= (whole.target_end == far) & (cabling.in_port == far_port)
            back &= (whole.source_end == far) & (cabling.out_port == far_port)
        one_way = len(at) == 2 and parts[1].strip() != "-"
        return [int(each) for each in np.flatnonzero(there if one_way else there | back)]

    def _between(self, source: int, target: int, number: int) -> NDArray[np.intp]:
        """Return the channels that join two vertices, or the one of this number among them."""
        whole = self.whole
        here = (whole.source_end == source) & (whole.target_end == target)
        found = np.flatnonzero(here)
        return found[number - 1 : number] if number else found

    def _pairs(self, word: str) -> Iterator[tuple[int, int, bool]]:
        """Yield source, target and whether one way, of every way to read a word as two nodes.

        The names of nodes may have hyphens in them.
        """
        for arrow in ARROW.finditer(word):
            source = self.vertex(word[: arrow.start()])
            target = self.vertex(word[arrow.end() :])
            if source is not None and target is not None:
                yield source, target, arrow.group() != "-"


def split_words(given: str | Iterable[str | int]) -> list[str | int]:
    """Split at the commas that stand between words, not at those between coordinates.

    Examples
    --------
    >>> split_words("(0,3)-(0,4), 7->15, n[1,3]")
    ['(0,3)-(0,4)', '7->15', 'n[1,3]']
    """
    if not isinstance(given, str):
        return [word if isinstance(word, str) else int(word) for word in given]
    parts = re.split(r",(?![^(]*\))(?![^\[]*\])", given)
    return [word.strip() for word in parts if word.strip()]


def vertex_word(topology: Topology, vertex: int) -> str:
    """Return the word that ``NamedParts`` reads as a vertex: its label, or number if it has none.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> vertex_word(mesh(2, 2), 3), vertex_word(topology("leaf-spine:2x1x1"), 2)
    ('3', 'leaf0')
    """
    whole = topology.whole
    if not whole.labels:
        return str(vertex)
    short = short_names(whole.labels[whole.num_hosts :])
    return short.get(whole.labels[vertex], whole.labels[vertex])


def channel_words(whole: Topology, broken: Ints) -> list[str]:
    """Return the words that name some channels: links both ways, or single channels.

    Parallel channels are told apart where not all of them are meant. If a file says the ports, a
    cable is called by one of its ports.

    Parameters
    ----------
    whole
        The network.
    broken
        int[], the channels.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x1/2")
    >>> [net.channel_name(channel) for channel in (0, 1, 2)]
    ['leaf0 -> spine0#1', 'leaf0 -> spine0#2', 'leaf1 -> spine0#1']
    >>> channel_words(net, np.array([0, 1, 2])), channel_words(net, np.array([0, 4]))
    (['leaf0->spine0', 'leaf1->spine0#1'], ['leaf0-spine0#1'])
    """
    if whole.cabling is not None and whole.cabling.out_port[broken].all():
        short = short_names(whole.labels[whole.num_hosts :])
        cables = [
            tuple(f"{short.get(name, name)} port {port}" for name, port in (end[:2], end[2:]))
            for end in map(whole.cable_end, broken.tolist())
        ]
        place_of = {pair: at for at, pair in enumerate(cables)}
        words = []
        for at, (near, far) in enumerate(cables):
            back = place_of.get((far, near))
            if back is None:
                words.append(f"{near} -> {far}")
            elif at < back:
                words.append(near)
        return words
    source, target = whole.source_end.astype(np.int64), whole.target_end
    keys = source * whole.num_ends + target
    known, place, many = np.unique(keys, return_inverse=True, return_counts=True)
    lost = np.bincount(place[broken], minlength=len(known))
    number = np.where(lost[place[broken]] == many[place[broken]], 0, whole.twin_number[broken])
    ends = zip(source[broken].tolist(), target[broken].tolist(), number.tolist(), strict=True)
    parts = set(ends)
    words = []
    for a, b, twin in sorted(parts):
        both = (b, a, twin) in parts
        if a < b or not both:
            joint = f"{vertex_word(whole, a)}{'-' if both else '->'}{vertex_word(whole, b)}"
            words.append(f"{joint}#{twin}" if twin else joint)
    return words


def names_of(topology: Topology) -> list[dict[str, Any]]:
    """Return the hosts and switches of a network: number, name, kind, and computer of a host.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> names_of(topology("rail:1x1x2x1"))[1:3]  # doctest: +NORMALIZE_WHITESPACE
    [{'number': 1, 'name': 'n0.1', 'kind': 'host', 'computer': 'n0'},
     {'number': 2, 'name': 'u0rail0', 'kind': 'switch', 'computer': None}]
    """
    computers = topology.computer_labels
    return [
        {
            "number": vertex,
            "name": topology.name_of(vertex),
            "kind": "host" if vertex < topology.num_hosts else "switch",
            "computer": computers[topology.node_of_host[vertex]]
            if computers and vertex < topology.num_hosts
            else None,
        }
        for vertex in range(topology.num_ends)
    ]
