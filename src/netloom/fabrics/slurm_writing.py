"""Trees as schedulers are told of them: Slurm's ``topology.conf`` and ``.yaml``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import write_text
from netloom.topology.hostlists import folded
from netloom.topology.subnets.names import natural

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from netloom.topology import Topology

MOST_LETTERS = 64
"""Longest name of a switch that Slurm takes."""

_ODD = re.compile(r"[^\w.:;@/+-]", re.ASCII)
"""What may not stand in a name of Slurm's."""


class Switch(NamedTuple):
    """A switch, what it is called, and the names of the switches and the computers below it."""

    name: str
    switches: list[str]
    computers: list[str]


def write_slurm_topology(topology: Topology, path: str | Path) -> int:
    """Write a tree as Slurm's ``topology.yaml``, if the file is called so, or ``topology.conf``.

    Switches are listed from the leaves up, each with the switches, or the computers, that it is
    joined to below it. A computer with adapters on several
    leaves is below each of these. Slurm's file has no place for how many cables there are. In names
    hyphens take the place of blanks, commas, brackets and the like.

    Returns
    -------
    int
        How many switches are written.

    Raises
    ------
    InputError
        If ``tree_of`` refuses the network, a name is longer than Slurm's, or the file cannot be
        written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom.topology import topology
    >>> file = Path(mkdtemp()) / "topology.conf"
    >>> write_slurm_topology(topology("leaf-spine:2x2x4"), file)
    4
    >>> print(file.read_text().strip())
    SwitchName=leaf0 Nodes=h[0-3]
    SwitchName=leaf1 Nodes=h[4-7]
    SwitchName=spine0 Switches=leaf[0-1]
    SwitchName=spine1 Switches=leaf[0-1]
    """
    tree = tree_of(topology)
    for switch in tree:
        if len(switch.name) > MOST_LETTERS:
            found = f"a switch whose name has {len(switch.name)} letters"
            raise InputError(topology.name, found, f"at most {MOST_LETTERS}, as Slurm takes them")
    if str(path).endswith((".yaml", ".yml")):
        import yaml

        switches = [
            {"switch": each.name}
            | ({"children": folded(each.switches)} if each.switches else {})
            | ({"nodes": folded(each.computers)} if each.computers else {})
            for each in tree
        ]
        content = [{"topology": "default", "cluster_default": True, "tree": {"switches": switches}}]
        write_text(path, yaml.safe_dump(content, sort_keys=False, width=2**20))
        return len(tree)
    lines = [
        f"SwitchName={each.name}"
        + (f" Switches={folded(each.switches)}" if each.switches else "")
        + (f" Nodes={folded(each.computers)}" if each.computers else "")
        for each in tree
    ]
    write_text(path, "\n".join(lines) + "\n")
    return len(tree)


def tree_of(topology: Topology) -> list[Switch]:
    """Return the switches of a network level by level, those with computers first.

    A switch with computers is a leaf, any other one level above the lowest that it is joined to.
    What is broken is left out.

    Raises
    ------
    InputError
        If switches of one level are joined, as in a mesh: schedulers know only trees, or if two
        names are the same once what Slurm does not take is replaced.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(each.name, each.switches) for each in tree_of(topology("leaf-spine:2x1x1"))]
    [('leaf0', []), ('leaf1', []), ('spine0', ['leaf0', 'leaf1'])]
    """
    if topology.direct:
        found = "a network whose nodes are joined directly"
        raise InputError(topology.name, found, "a tree: Slurm and topograph know no other")
    inside = topology.routers
    source, target = inside.channel_source, inside.channel_target
    level = np.full(topology.num_routers, -1)
    level[topology.injection_router] = height = 0
    while True:
        reached = target[(level[source] == height) & (level[target] < 0)]
        if not len(reached):
            break
        height += 1
        level[reached] = height
    same = (level[source] == level[target]) & (level[source] >= 0)
    if same.any():
        channel = inside.channel_name(int(np.argmax(same)))
        found = f"switches of one level that are joined: {channel}"
        raise InputError(topology.name, found, "a tree: Slurm and topograph know no other")
    switch_names = _words(map(inside.name_of, range(topology.num_routers)), topology.name)
    nodes = [topology.computer_name(node) for node in range(topology.num_nodes)]
    node_names = _words(nodes, topology.name)
    below: list[set[str]] = [set() for _ in switch_names]
    computers: list[set[str]] = [set() for _ in switch_names]
    down = level[source] > level[target]
    for upper, lower in zip(source[down].tolist(), target[down].tolist(), strict=True):
        below[upper].add(switch_names[lower])
    owners = topology.node_of_host[topology.port_host].tolist()
    for router, node in zip(topology.injection_router.tolist(), owners, strict=True):
        computers[router].add(node_names[node])
    order = sorted(
        np.flatnonzero(level >= 0).tolist(), key=lambda r: (level[r], natural(switch_names[r]))
    )
    return [
        Switch(switch_names[r], sorted(below[r], key=natural), sorted(computers[r], key=natural))
        for r in order
    ]


def _words(names: Iterable[str], network: str) -> list[str]:
    """Return names without what Slurm does not take."""
    found = [_ODD.sub("-", name) for name in names]
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(network, f"the name '{twice:.40}' twice", "names that Slurm tells apart")
    return found
