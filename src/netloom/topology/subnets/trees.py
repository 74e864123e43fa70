"""Switches, and what hangs below each by one cable: a network as schedulers see it."""

from __future__ import annotations

from dataclasses import dataclass, field

from netloom.base.errors import InputError
from netloom.topology.subnets.records import (
    HOST,
    SWITCH,
    Cable,
    Device,
    Port,
    Subnet,
    check_devices,
)


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
        self._count(len(switches) + len(nodes), where)
        self.below[name] = (switches, nodes)
        self.where[name] = where

    def hang(self, name: str, nodes: list[str], where: str) -> None:
        """Hang more nodes on a switch, which may be new."""
        if name not in self.below:
            self.add(name, [], [], where)
        self._count(len(nodes), where)
        self.below[name][1].extend(nodes)

    def _count(self, more: int, where: str) -> None:
        self.cables += more
        check_devices(self.cables, where)

    def add_leaves(self) -> None:
        """Add the switches that are below others and have no record of their own."""
        for name, (switches, _) in list(self.below.items()):
            for each in switches:
                if each not in self.below:
                    self.add(each, [], [], self.where[name])

    def check_nodes(self) -> None:
        """Refuse a switch with nothing below it."""
        for name, (switches, nodes) in self.below.items():
            if not switches and not nodes:
                found = f"switch '{name:.40}' with nothing on it"
                raise InputError(self.where[name], found, "switches or nodes below each switch")


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
    ports: dict[str, int] = {}

    def join(upper: str, lower: str, speed: float) -> None:
        ends = []
        for key in (upper, lower):
            ports[key] = ports.get(key, 0) + 1
            ends.append(Port(key, ports[key]))
        subnet.cables.append(Cable(ends[0], ends[1], speed))

    for name, (switches, nodes) in tree.below.items():
        speed = tree.speed[name] if rated else 0.0
        for each in switches:
            if each == name or each not in tree.below:
                what = "itself" if each == name else "which has no line of its own"
                found = f"switch '{each:.40}' below '{name:.40}', {what}"
                raise InputError(tree.where[name], found, "a line for every switch")
            join(f"switch {name}", f"switch {each}", speed)
        for each in nodes:
            if f"node {each}" not in subnet.devices:
                subnet.add(f"node {each}", Device(HOST, each))
            join(f"switch {name}", f"node {each}", speed)
    if top and len(tree.below) > 1:
        subnet.add("top", Device(SWITCH, top))
        for name in tree.below:
            join("top", f"switch {name}", 0.0)
