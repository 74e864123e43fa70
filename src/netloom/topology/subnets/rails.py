"""Rails: which of its computer's adapters an adapter is. Those of a rail belong together."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from netloom.topology.subnets.names import natural

_NUMBERED = re.compile(r"^(.*?)(\d+)(\D*)$")

FEW = 0.1
"""A name that a smaller share of computers has an adapter of makes no rail between the others."""

MOST = 0.8
"""Share of a leaf's adapters that must be of one rail for the leaf to be of that rail."""


class Adapter(NamedTuple):
    """An adapter: its computer's name and its own, either empty where unknown, and its leaf."""

    computer: str
    name: str
    leaf: int


def rails_of(adapters: list[Adapter]) -> tuple[list[int], tuple[str, ...]]:
    """Return the rail of each adapter, −1 where it is not known, and what the rails are called.

    Adapters of all computers that are called alike (``mlx5_4``) are one rail. If computers use
    several naming schemes (``HCA-5``, ``mlx5_4``), the rail is the rank of the name in its scheme.
    Only names that a tenth of such computers have are counted, so a missing adapter shifts nothing.
    The rail of an adapter whose computer or own name is unknown is that of its leaf, if the leaf
    has one. If every computer has one adapter, there is one rail without a name.

    Examples
    --------
    >>> ways = [("a", "HCA-1"), ("a", "HCA-5"), ("b", "mlx5_4"), ("b", "mlx5_0"), ("c", "HCA-5")]
    >>> rails_of([Adapter(*each, leaf=0) for each in ways])
    ([0, 1, 1, 0, 1], ('HCA-1, mlx5_0', 'HCA-5, mlx5_4'))
    """
    named = [each for each in adapters if each.computer]
    if len({each.computer for each in named}) == len(named):
        return [0] * len(adapters), ()
    rank = _ranks(named)
    place: Counter[str] = Counter()
    rails = []
    for each in adapters:
        known = rank.get(each.name, -1) if each.computer else -1
        if each.computer and not each.name:
            known = place[each.computer]
        place[each.computer] += 1
        rails.append(known)
    leaf_rail = leaf_rails(adapters, rails)
    rails = [
        leaf_rail.get(each.leaf, -1) if rail < 0 else rail
        for each, rail in zip(adapters, rails, strict=True)
    ]
    called = [
        ", ".join(name for name in sorted(rank, key=natural) if rank[name] == rail)
        or f"adapter {rail + 1}"
        for rail in range(max(rails) + 1)
    ]
    return rails, tuple(called)


def leaf_rails(adapters: list[Adapter], rails: list[int]) -> dict[int, int]:
    """Return the rail of each leaf on which nearly all adapters, and two at least, are of one."""
    on: dict[int, Counter[int]] = {}
    for each, rail in zip(adapters, rails, strict=True):
        if rail >= 0:
            on.setdefault(each.leaf, Counter())[rail] += 1
    most = {leaf: counts.most_common(1)[0] for leaf, counts in on.items()}
    return {
        leaf: rail
        for leaf, (rail, count) in most.items()
        if count >= max(2, MOST * on[leaf].total())
    }


def _ranks(named: list[Adapter]) -> dict[str, int]:
    """Return the rank of each name of an adapter among those of its way of numbering."""
    ways: dict[tuple[str, str], dict[str, set[str]]] = {}
    for each in named:
        if each.name:
            found = _NUMBERED.match(each.name)
            way = (found[1], found[3]) if found else (each.name, "")
            ways.setdefault(way, {}).setdefault(each.name, set()).add(each.computer)
    rank: dict[str, int] = {}
    for names in ways.values():
        computers = len(set().union(*names.values()))
        usual = [name for name, owners in names.items() if len(owners) >= FEW * computers]
        order = [*sorted(usual, key=natural), *sorted(set(names) - set(usual), key=natural)]
        rank |= {name: place for place, name in enumerate(order)}
    return rank
