"""What an answer is of, in a few words: program, network and mapping."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = re.compile(r"(?:(?:graph|fabric|machine|routes):)?(?:.*/)?([^/]+?)\.[A-Za-z]\w{0,9}")
"""A file, perhaps behind the word for its kind, in any folder."""

IN_ORDER = "rank order"
"""What people call the mapping ``identity``."""


def short_name(name: str) -> str:
    """Return the name of a program or network, without a file's folder and ending.

    Examples
    --------
    >>> short_name("examples/lammps-64.mtx"), short_name("graph:/data/tree.graphml")
    ('lammps-64', 'tree')
    >>> short_name("runs/lammps_melt_16"), short_name("ring:16")
    ('lammps_melt_16', 'ring:16')
    >>> short_name("mesh:4x4/4"), short_name("torus:8x8 without 3-4")
    ('mesh:4x4/4', 'torus:8x8 without 3-4')
    >>> short_name("graph:data/tree.graphml without leaf0-spine1")
    'tree without leaf0-spine1'
    """
    name, broken, parts = name.partition(" without ")
    found = FILE.fullmatch(name)
    if found or broken:
        return f"{found[1] if found else name}{broken}{parts}"
    return name if ":" in name else name.rstrip("/").rpartition("/")[2]


def subject(figures: Mapping[str, Any]) -> str:
    """Return the program, the network and the mapping that figures are of.

    Examples
    --------
    >>> asked = {"configuration": {"mapping": "identity"}}
    >>> subject({"app": "examples/lammps-64.mtx", "topology": "torus:8x8", "provenance": asked})
    'lammps-64 on torus:8x8, rank order'
    """
    said = f"{short_name(figures['app'])} on {short_name(figures['topology'])}"
    mapping = figures["provenance"]["configuration"].get("mapping")
    if mapping is None:
        return said
    named = short_name(mapping) if isinstance(mapping, str) else "given"
    return f"{said}, {IN_ORDER if named == 'identity' else f'{named} mapping'}"
