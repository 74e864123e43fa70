"""Topologies of job schedulers: Slurm's files, and those of NVIDIA's topograph.

They say which nodes hang on which switches. A ``Tree`` has switches, and what hangs below each by
one cable. Slurm's ``topology.conf`` and ``topology.yaml`` may also describe a ring or a torus, by
its sides and the names of its nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.cubes import cube
from netloom.topology.subnets.documents import Document, Record, read_document, unfolded_names
from netloom.topology.subnets.records import HOST, SWITCH, Device, Subnet, check_devices


@dataclass
class Tree:
    """Switches as a file lists them.

    Attributes
    ----------
    below
        By name of a switch the switches and the nodes below it.
    speed
        By name of a switch the rate of its cables downwards, in any unit.
    where
        By name of a switch the file and line that tell of it.
    cables
        How many switches and nodes are below others.
    """

    below: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    cables: int = 0

    def add(self, name: str, switches: list[str], nodes: list[str], where: str) -> None:
        """Add a switch.

        Raises
        ------
        InputError
            If there was one of this name before.
        """
        if name in self.below:
            raise InputError(where, f"switch '{name:.40}' again", "each switch once")
        self.count(len(switches) + len(nodes), where)
        self.below[name] = (switches, nodes)
        self.where[name] = where

    def count(self, more: int, where: str) -> None:
        """Refuse more switches and nodes below others than a file may have."""
        self.cables += more
        check_devices(self.cables, where)


def add_tree(subnet: Subnet, tree: Tree, *, top: str = "") -> None:
    """Fill in switches and nodes, with one cable for each time that one is below another.

    Parameters
    ----------
    subnet
        What is filled.
    tree
        The switches. Rates are taken where every switch has one, relative to each other.
    top
        A switch of this name is put above all others, where there are several.

    Raises
    ------
    InputError
        If a switch is below itself, or there is no record of it.
    """
    rated = tree.speed.keys() == tree.below.keys()
    subnet.ports, subnet.relative = False, True
    for name in tree.below:
        subnet.add(f"switch {name}", Device(SWITCH, name))
    for name, (switches, nodes) in tree.below.items():
        speed = tree.speed[name] if rated else 0.0
        for each in switches:
            if each == name or each not in tree.below:
                what = "itself" if each == name else "which has no line of its own"
                found = f"switch '{each:.40}' below '{name:.40}', {what}"
                raise InputError(tree.where[name], found, "a line for every switch")
            subnet.join(f"switch {name}", f"switch {each}", speed)
        for each in nodes:
            if f"node {each}" not in subnet.devices:
                subnet.add(f"node {each}", Device(HOST, each))
            subnet.join(f"switch {name}", f"node {each}", speed)
    if top and len(tree.below) > 1:
        subnet.add("top", Device(SWITCH, top))
        for name in tree.below:
            subnet.join("top", f"switch {name}")


def grid(subnet: Subnet, sides: Sequence[int], names: Sequence[str], *, where: str) -> Topology:
    """Return routers in a torus, one host on each, by their names, the last side fastest.

    Routers are called by their coordinates.

    Raises
    ------
    InputError
        If there are not as many names as places, or a name comes twice.
    """
    check_names(names, prod(sides), where=where)
    routers = cube(sides, wraps=True, name=subnet.name)
    places = [routers.name_of(place) for place in range(len(names))]
    labels = (*names, *(place if "(" in place else f"({place})" for place in places))
    notes = (ONE_CABLE.format("Slurm's file"),)
    return attach_hosts(
        routers, np.arange(len(names)), name=subnet.name, notes=notes, labels=labels
    )


def check_names(names: Sequence[str], many: int, *, where: str) -> None:
    """Refuse names that are not as many as there are places, or come twice."""
    if len(names) != many or not many:
        raise InputError(where, f"{len(names)} nodes", f"{many or 'one or more'}, one per place")
    if len(set(names)) < many:
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise InputError(where, f"node '{twice:.40}' twice", "each node once")


WANTED = "SwitchName=s1 Nodes=n[1-16], or Switches=, BlockName= or RingName="

ONE_CABLE = (
    "{} says which switches and nodes are joined, not by how many cables: netloom takes one for "
    "each."
)
ONE_SPEED = "Not every line says LinkSpeed: netloom takes all cables to be equally fast."
BLOCKS = (
    "Slurm's file says which nodes form a block, not what joins blocks: netloom takes one switch "
    "for each block, one above them all, and one cable for each."
)

MOST_SIDE = 2**15
"""Longest side of a torus."""

_PAIR = re.compile(r"([A-Za-z]+)\s*=\s*([^\s=]+)(?=\s|$)")
_KEYS = {
    "switchname": {"switches", "nodes", "linkspeed"},
    "blockname": {"nodes", "nodecount"},
    "ringname": {"nodes"},
}


def read_topology_conf(subnet: Subnet, text: str) -> Topology | None:
    """Read Slurm's ``topology.conf``: a tree, blocks, or a ring, as ``topology.conf(5)`` has them.

    A tree's switches and nodes are taken as they are listed, with one cable for each, and the
    network's notes say so. ``LinkSpeed`` has no unit in Slurm: where every switch says it, rates
    are relative to each other, a switch's being that of its cables downwards.

    Of blocks Slurm says no more than which nodes belong together: see ``BLOCKS``. A ring is routers
    in a ring with a node on each, in the order of the list.

    Raises
    ------
    InputError
        Naming file and line.
    """
    kinds: dict[str, str] = {}
    tree = Tree()
    rings = []
    for number, line in _logical_lines(text):
        where = f"{subnet.path}:{number}"
        pairs = [(key.lower(), value.strip("\"'")) for key, value in _PAIR.findall(line)]
        said = dict(pairs)
        if not pairs or _PAIR.sub("", line).strip() or len(said) < len(pairs):
            raise InputError(where, f"'{line:.60}'", WANTED)
        kind = next(iter(said))
        if kind == "blocksizes":
            continue
        if kind not in _KEYS or said.keys() - {kind} - _KEYS[kind]:
            raise InputError(where, f"'{line:.60}'", WANTED)
        kinds.setdefault(kind, where)
        if len(kinds) > 1:
            first = next(iter(kinds))
            raise InputError(where, f"'{line:.60}' beside {first}", "one kind of topology")
        switches, nodes, names = (
            list(unfolded_names([said.get(key, "")], where)) for key in ("switches", "nodes", kind)
        )
        if kind == "ringname":
            rings.append((nodes, where))
            continue
        for name in names:
            tree.add(name, switches, nodes, where)
            if "linkspeed" in said:
                word = said["linkspeed"]
                if not re.fullmatch(r"\d{1,15}(\.\d{1,9})?", word, re.ASCII) or not float(word):
                    raise InputError(where, f"LinkSpeed={word:.40}", "a positive number")
                tree.speed[name] = float(word)
    if rings:
        return _ring(subnet, rings)
    if not tree.below:
        raise InputError(subnet.path, "no switch, block or ring", WANTED)
    _switches(subnet, tree, blocks="blockname" in kinds)
    return None


def read_topology_yaml(subnet: Subnet, text: str) -> Topology | None:
    """Read Slurm's ``topology.yaml``: its tree, blocks, ring or torus of three dimensions.

    Of several topologies the one with ``cluster_default: true`` is taken. Trees, blocks and rings
    are read as in ``read_topology_conf``. A torus is routers in a torus with a node on each, those
    of ``nodes`` with x fastest, or region by region, from its anchor on. All places must be filled.
    ``placements`` concern jobs.

    Raises
    ------
    InputError
        Naming file and line. If there is only a flat topology, which says nothing of the network.
    """
    document = read_document(subnet.path, text, wanted="Slurm's topology.yaml")
    top = document.top
    if not isinstance(top, list) or not all(isinstance(each, Record) for each in top) or not top:
        raise InputError(subnet.path, "no list of topologies", "- topology: NAME, tree: …")
    default = [each for each in top if str(each.get("cluster_default", "")).lower() == "true"]
    chosen = default or top
    if len(chosen) > 1:
        found = f"{len(chosen)} topologies, {'each' if default else 'none'} the default"
        raise InputError(document.at(chosen[1]), found, "one, or cluster_default: true on one")
    topology = chosen[0]
    kinds = [key for key in ("tree", "block", "ring", "torus3d", "flat") if key in topology]
    if len(kinds) != 1 or kinds[0] == "flat":
        found = f"a topology that is {' and '.join(kinds) or 'of no known kind'}"
        raise InputError(document.at(topology), found, "one of tree, block, ring or torus3d")
    inner = document.record(topology, kinds[0])
    if kinds[0] == "torus3d":
        return _torus(subnet, document, inner)
    if kinds[0] == "ring":
        rings = document.records(inner, "rings")
        return _ring(subnet, [(document.names(each, "nodes"), document.at(each)) for each in rings])
    tree = Tree()
    key = "switch" if kinds[0] == "tree" else "block"
    for each in document.records(inner, "switches" if key == "switch" else "blocks"):
        children, nodes = document.names(each, "children"), document.names(each, "nodes")
        tree.add(document.text(each, key), children, nodes, document.at(each))
    if not tree.below:
        raise InputError(document.at(topology), f"a {kinds[0]} with nothing in it", "switches")
    _switches(subnet, tree, blocks=key == "block")
    return None


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return lines without comments, those that end in a backslash joined with the next."""
    found = []
    begun, kept = 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split("#", 1)[0].strip()
        begun = begun or number
        if words.endswith("\\"):
            kept += words[:-1] + " "
            continue
        if kept + words:
            found.append((begun, (kept + words).strip()))
        begun, kept = 0, ""
    return [*found, *([(begun, kept.strip())] if kept.strip() else [])]


def _switches(subnet: Subnet, tree: Tree, *, blocks: bool) -> None:
    """Fill in switches and nodes, with a cable for each line between them."""
    for name, (switches, nodes) in tree.below.items():
        if bool(switches) == bool(nodes):
            what = "switches and nodes below it" if nodes else "nothing on it"
            found = f"switch '{name:.40}' with {what}"
            raise InputError(tree.where[name], found, "either switches or nodes below each switch")
    subnet.notes.append(BLOCKS if blocks else ONE_CABLE.format("Slurm's file"))
    if tree.speed and tree.speed.keys() != tree.below.keys():
        subnet.notes.append(ONE_SPEED)
    add_tree(subnet, tree, top="blocks" if blocks else "")


def _ring(subnet: Subnet, rings: list[tuple[list[str], str]]) -> Topology:
    """Return the network of a ring."""
    if len(rings) != 1:
        where = rings[1][1] if rings else subnet.path
        found = f"{len(rings)} rings, and nothing that joins them"
        raise InputError(where, found, "one ring")
    nodes, where = rings[0]
    return grid(subnet, (len(nodes),), nodes, where=where)


def _torus(subnet: Subnet, document: Document, inner: Record) -> Topology:
    """Return the network of a torus."""
    toruses = document.records(inner, "toruses")
    if len(toruses) != 1:
        found = f"{len(toruses)} toruses, and nothing that joins them"
        raise InputError(document.at(toruses[1]) if toruses else subnet.path, found, "one torus")
    torus = toruses[0]
    where = document.at(torus)
    x, y, z = _xyz(document, document.record(torus, "dims"), least=1)
    places: dict[int, str] = {}
    regions = document.records(torus, "regions")
    if regions and "nodes" in torus:
        raise InputError(where, "both nodes and regions", "one of them")
    for region in regions or [torus]:
        at = document.at(region)
        ax, ay, az = _xyz(document, document.record(region, "anchor"), least=0, default=0)
        dx, dy, dz = _xyz(document, document.record(region, "dims"), least=1)
        nodes = document.names(region, "nodes")
        if len(nodes) != dx * dy * dz:
            found = f"{len(nodes)} nodes in a box of {dx}x{dy}x{dz}"
            raise InputError(at, found, f"{dx * dy * dz}, x fastest")
        if ax + dx > x or ay + dy > y or az + dz > z:
            raise InputError(at, f"a region beyond the sides {x}x{y}x{z}", "regions inside")
        for number, node in enumerate(nodes):
            i, j, k = ax + number % dx, ay + number // dx % dy, az + number // dx // dy
            place = i + x * (j + y * k)
            if place in places:
                raise InputError(at, f"nodes {places[place]} and {node} in one place", "one each")
            places[place] = node
    if len(places) != x * y * z:
        found = f"{x * y * z - len(places)} of {x * y * z} places without a node"
        raise InputError(where, found, "a node in every place: netloom knows no torus with holes")
    names = [places[place] for place in range(x * y * z)]
    return grid(subnet, (z, y, x), names, where=where)


def _xyz(
    document: Document, record: Record, *, least: int, default: int | None = None
) -> tuple[int, int, int]:
    """Return x, y and z of a record."""
    x, y, z = (document.number(record, axis, default, most=MOST_SIDE) for axis in "xyz")
    if min(x, y, z) < least:
        raise InputError(document.at(record), f"sides {x}x{y}x{z}", f"at least {least} each")
    return x, y, z


TOPOGRAPH = "topograph's model: switches, each with switches or nodes"


def read_topograph(subnet: Subnet, text: str) -> None:
    """Fill in what a model of NVIDIA's topograph says, in any of the forms that it has had.

    ``switches`` is a mapping from names, or a list of records with a ``name``. Below a switch are
    ``switches`` and ``nodes``, or the nodes of its ``capacity_blocks``. Those of ``blocks`` are on
    the ``switch`` that each names. Domains of accelerators, labels and types are left out: they are
    no cables of this network.

    Raises
    ------
    InputError
        Naming file and line.
    """
    document = read_document(subnet.path, text, wanted=TOPOGRAPH)
    top = document.top
    if not isinstance(top, Record) or "switches" not in top:
        raise InputError(subnet.path, "no switches", TOPOGRAPH)
    blocks = dict(_named(document, top, "capacity_blocks"))
    tree = Tree()
    for name, switch in _named(document, top, "switches"):
        nodes = document.names(switch, "nodes")
        for block in document.names(switch, "capacity_blocks"):
            if block not in blocks:
                found = f"capacity block '{block:.40}', which the file does not have"
                raise InputError(document.at(switch), found, "blocks of the file")
            nodes += document.names(blocks[block], "nodes")
        tree.add(name, document.names(switch, "switches"), nodes, document.at(switch))
    for each in document.records(top, "blocks"):
        name = document.text(each, "switch")
        if name not in tree.below:
            tree.add(name, [], [], document.at(each))
        nodes = document.names(each, "nodes")
        tree.count(len(nodes), document.at(each))
        tree.below[name][1].extend(nodes)
    for name, (switches, _) in list(tree.below.items()):
        for below in switches:  # without a record of its own
            if below not in tree.below:
                tree.add(below, [], [], tree.where[name])
    subnet.notes.append(ONE_CABLE.format("topograph's model"))
    add_tree(subnet, tree)


def _named(document: Document, top: Record, key: str) -> list[tuple[str, Record]]:
    """Return names and records of a mapping, or of a list whose records say their name."""
    value = top.get(key)
    if isinstance(value, Record):
        return [(name, document.record(value, name)) for name in value]
    return [(document.text(each, "name"), each) for each in document.records(top, key)]
