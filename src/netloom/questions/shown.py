"""How answers are shown: what they come to in a sentence, names, tables and lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, give_or_take, number, percent
from netloom.drawing.names import base_names
from netloom.topology.names import short_channel_name
from netloom.topology.parse import spec_in_words

if TYPE_CHECKING:
    from netloom.topology import Topology


FILE = re.compile(r"(?:\w+:)?(?P<folders>.*/)?(?P<stem>[^/]+?)\.[A-Za-z]\w*")
"""A file in any folder, perhaps behind the word for its kind."""

SAID = 3
"""Broken parts that a heading names, if there are more than one more."""

IN_ORDER = "rank order"
"""What people call the mapping ``identity``."""


def short_name(name: str) -> str:
    """Return the name of a program or network, without a file's folder and ending.

    Examples
    --------
    >>> short_name("examples/lammps-64.mtx"), short_name("graph:/data/tree.graphml")
    ('lammps-64', 'tree')
    >>> short_name("runs/lammps_melt_16"), short_name("ring:16"), short_name("chakra:llama/%d.et")
    ('lammps_melt_16', 'ring:16', 'llama')
    >>> short_name("mesh:4x4/4"), short_name("graph:data/tree.graphml without leaf0-spine1")
    ('mesh:4x4/4', 'tree without leaf0-spine1')
    >>> short_name("mesh:4x4 without 0-1, node 5, node 6, node 9, node 10")
    'mesh:4x4 without 0-1, node 5, node 6 and 2 more'
    """
    name, broken, parts = name.partition(" without ")
    if broken:
        lost = parts.split(", ")
        if len(lost) > SAID + 1:
            parts = f"{', '.join(lost[:SAID])} and {len(lost) - SAID} more"
        return f"{short_name(name)}{broken}{parts}"
    if " " in name:
        return base_names(name)
    if found := FILE.fullmatch(name):
        folder = (found["folders"] or "").rstrip("/").rpartition("/")[2].rpartition(":")[2]
        return folder if folder and "%" in found["stem"] else found["stem"]
    return name if ":" in name else name.rstrip("/").rpartition("/")[2]


def order_named(mapping: Any) -> str:
    """Return a mapping as people call it.

    Examples
    --------
    >>> order_named("identity"), order_named("out/better.json"), order_named([1, 0])
    ('rank order', 'better mapping', 'given mapping')
    """
    if mapping == "identity":
        return IN_ORDER
    if not isinstance(mapping, str):
        return "given mapping"
    return mapping if " " in mapping else f"{short_name(mapping)} mapping"


def subject(program: str, network: str, mapping: Any = None) -> str:
    """Return what runs on which network, and where its ranks are, if that is a question.

    Examples
    --------
    >>> subject("examples/lammps-64.mtx", "torus:8x8", "identity")
    'lammps-64 on torus:8x8, rank order'
    >>> subject("uniform", "slim-fly:5/4")
    'uniform on slim-fly:5/4 (4 hosts per router)'
    >>> subject("llm:dp=8,layers=2,hidden=64,seq=512", "torus:8")
    'llm:dp=8,layers=2,hidden=64,seq=512 (batch=1, micro_batches=1, dtype=bf16) on torus:8'
    """
    name = short_name(program)
    if program.startswith("llm:"):
        from netloom.workload.programs.training import unsaid

        defaults = unsaid(program)
        name += f" ({defaults})" if defaults else ""
    words = spec_in_words(network.partition(" without ")[0])
    said = f"{name} on {short_name(network)}{words and f' ({words})'}"
    return said if mapping is None else f"{said}, {order_named(mapping)}"


def arrow(channel: str) -> str:
    """Return the name of a channel.

    Examples
    --------
    >>> arrow("(0,6) -> (0,7)"), arrow("out of (0,0)")
    ('(0,6)→(0,7)', 'out of (0,0)')
    >>> arrow("MF0;leaf1:MQM9701/U1 port 33 -> MF0;spine2:MQM9701/U1 port 4")
    'leaf1 port 33 → spine2 port 4'
    """
    short = short_channel_name(channel)
    return short.replace(" -> ", " → " if " port " in short else "→")


def size_of(topology: Topology) -> str:
    """Return how many nodes, or hosts and routers, and channels between them a network has.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> size_of(topology("mesh:4x4")), size_of(topology("leaf-spine:1x2x4"))
    ('16 nodes, 48 channels', '4 hosts, 3 routers, 4 channels')
    """
    channels = counted(topology.num_network_channels, "channel")
    if topology.direct:
        return f"{counted(topology.num_hosts, 'node')}, {channels}"
    hosts, routers = counted(topology.num_hosts, "host"), counted(topology.num_routers, "router")
    return f"{hosts}, {routers}, {channels}"


def interval(mean: float | None, half: float | None) -> str:
    """Return a mean with the half-width of its interval. ``–`` where there is none."""
    return give_or_take(mean, half) if mean is None or half else f"{number(mean)}\u00a0±\u00a0?"


def rough(share: float | None) -> str:
    r"""Return a share in per cent with two digits, near 1 with three.

    Examples
    --------
    >>> [rough(each).replace("\u00a0", " ") for each in (0.347, 0.0148, 0.9967, 0)]
    ['35 %', '1.5 %', '99.7 %', '0 %']
    """
    if share is None or abs(share) > 0.95:
        return percent(share)
    return percent(float(f"{share:.2g}"))


def around(value: float | None, half: float | None) -> str:
    r"""Return a value of three digits with half of its interval in one, as sentences have it.

    Examples
    --------
    >>> around(0.67084, 0.001919).replace("\u00a0", " "), around(0.67084, None)
    ('0.671 ± 0.002', '0.671')
    """
    if value is None or not half:
        return number(value)
    return f"{number(value)}\u00a0±\u00a0{number(float(f'{half:.1g}'))}"


def ended(words: str) -> str:
    """Return words with a full stop, if they have no end."""
    return words if words.endswith((".", "!", "?")) else f"{words}."
