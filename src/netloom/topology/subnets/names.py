"""What descriptions of devices say: the computer they are in, and which of its adapters."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOBODY = re.compile(
    r"^(MT\d+|ConnectX\S*|Connect-IB|InfiniHost\S*|Infinihost\S*|Mellanox|NVIDIA|Voltaire|QLogic|"
    r"QLE\d+\S*|Intel|localhost\S*|ubuntu|debian|centos|rocky|linux|\(none\)|none|unknown|node|"
    r"hca|HCA-\d+|mlx\d_\d+|ib\d+|rdma\S*)$",
    re.IGNORECASE,
)
"""Words that a description begins with where nobody set it: they name no computer."""

_SERVES = re.compile(
    r"Aggregation Node|\bSHA[rR]P\b|^Quantum\S*\s+Mellanox|Mellanox.*\bQuantum|Skyway|BridgeX",
)
"""Descriptions of end points that belong to a switch or lead to another network."""

_SWITCH = re.compile(r"^MF\d+;(.+):[^:/]+/U1$")
_END = re.compile(r"(.*?)( port \d+|#\d+|)", re.DOTALL)
"""An end of a channel: the vertex, and its port or which of several channels it is."""

_NUMBER = re.compile(r"(\d+)")


def host_of(description: str, guid: int) -> tuple[str, str]:
    """Return the name of an adapter and of its computer. The latter empty where none is said.

    All adapters whose descriptions begin with the same word are in one computer. An adapter that
    bears the name of its model, or what a computer is called before it has a name, is called by
    its GUID.

    Examples
    --------
    >>> host_of("a08-p1-dgx-04-c01 mlx5_5", 0x1)
    ('a08-p1-dgx-04-c01/mlx5_5', 'a08-p1-dgx-04-c01')
    >>> host_of("MT4129 ConnectX7   Mellanox Technologies", 0xE09D730300858D88)
    ('0xe09d730300858d88', '')
    >>> host_of("Hca0", 0x1), host_of("node7 'HCA-1'", 0x1)
    (('Hca0', 'Hca0'), ('node7/HCA-1', 'node7'))
    """
    words = description.replace("'", " ").replace('"', " ").split()
    if not words or _NOBODY.match(words[0]):
        return f"0x{guid:016x}" if guid else "/".join(words), ""
    return "/".join(words), words[0]


def adapter_of(description: str) -> str:
    """Return what a description calls the adapter. Empty where it says no more than a computer.

    Examples
    --------
    >>> adapter_of("a08-p1-dgx-04-c01 mlx5_5"), adapter_of("Hca0")
    ('mlx5_5', '')
    """
    words = description.replace("'", " ").replace('"', " ").split()
    return words[1] if len(words) > 1 else ""


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
    return " -> ".join(map(_short_end, name.split(" -> ")))


def _short_end(end: str) -> str:
    found = _END.fullmatch(end)
    return end if found is None else short_switch_name(found[1]) + found[2]


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
