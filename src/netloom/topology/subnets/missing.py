"""What a regular network of a kind would have, and this one lacks."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.words import counted
from netloom.topology.names import folded, natural, short_switch_name
from netloom.topology.subnets.shapes import adapters_of, rails, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.topology.core import Topology
    from netloom.topology.subnets.shapes import Shape

SHARE = 0.2
"""Share of a level that must have a number of cables for it to be what the others lack."""

HALF = 0.5
"""If as large a share of a level has one number of cables, more than that is an exception."""

REGULAR = 0.7
"""Share of switches without levels that must have equally many cables for others to lack some."""

MOST_PLACES = 2**16
"""Most names that numbers in switches' names may span."""

SHOWN = 6
"""Most sentences of one kind. What is more is counted."""

_NUMBER = re.compile(r"(\d+)")


def missing_parts(topology: Topology) -> tuple[str, ...]:
    """Return what a network lacks beside a regular one of its kind, a short sentence each.

    Switches that the numbers in names skip. Switches with fewer cables up, down or to others than
    most of their level. Cables slower than most of their level. Adapters that a computer has on no
    rail, or on another's. Adapters without a cable, and those that do not say their computer.
    Nothing is said of switches without levels whose cables are no regular number, such as a mesh's.

    Examples
    --------
    >>> from netloom.topology import topology, without
    >>> missing_parts(topology("leaf-spine:4x4x2"))
    ()
    >>> for each in missing_parts(without(topology("leaf-spine:4x4x2"), channels="leaf1-spine2")):
    ...     print(each)
    leaf1 has 3 of 4 uplinks: 0 of 1 to spine2
    spine2 has 3 of 4 downlinks
    """
    shape = shape_of(topology)
    names = _Names(topology, shape)
    said = [*_absent(names), *_few_cables(shape, names)]
    said += _slow(topology, shape)
    if topology.cabling is not None:
        said += _rails(topology)
        lost = topology.cabling.unplugged
        said += [f"{counted(len(lost), 'adapter')} without a cable: {_some(lost)}"] if lost else []
        if unnamed := topology.cabling.unnamed:
            verb = "does not say its" if unnamed == 1 else "do not say their"
            said.append(f"{counted(unnamed, 'adapter')} {verb} computer")
    return tuple(said)


class _Names:
    """Switches as sentences call them."""

    def __init__(self, topology: Topology, shape: Shape) -> None:
        routers = range(topology.num_routers)
        self.plain = [topology.router_name(router) for router in routers]
        self.plain = [short_switch_name(name) for name in self.plain]
        self.family = [tuple(_NUMBER.split(name)[::2]) for name in self.plain]
        self.roles = [shape.role(router) for router in routers]
        self.down = {vertex - topology.router_vertex(0) for vertex in topology.failed_nodes}

    def __getitem__(self, router: int) -> str:
        return _called(self.roles[router], self.plain[router])


def _called(role: str, name: str) -> str:
    return name if name.lower().startswith(role) else f"{role} {name}"


def _some(names: Iterable[str]) -> str:
    """Return names as a list of ranges, of many the first."""
    each = sorted(names, key=natural)
    if len(each) <= SHOWN or all("/" not in name for name in each):
        return folded(each)
    return f"{', '.join(each[:SHOWN])} and {len(each) - SHOWN} more"


def _absent(names: _Names) -> list[str]:
    """Return switches that are missing between the numbers of others."""
    families: dict[tuple[str, ...], dict[tuple[int, ...], int]] = {}
    widths: dict[tuple[str, ...], list[set[int]]] = {}
    for router, name in enumerate(names.plain):
        if router in names.down:
            continue
        parts = _NUMBER.split(name)
        text, digits = tuple(parts[::2]), parts[1::2]
        families.setdefault(text, {})[tuple(map(int, digits))] = router
        known = widths.setdefault(text, [set() for _ in digits])
        for width, each in zip(known, digits, strict=True):
            width.add(
                len(each) if each.startswith("0") or len(each) == max(width, default=0) else 0
            )
    said = []
    for text, present in families.items():
        for place in _gaps(list(present)):
            near = min(present, key=lambda other: (_apart(other, place), other))
            role = names.roles[present[near]]
            said.append(f"{_called(role, _numbered(text, place, widths[text]))} absent")
    return sorted(said, key=natural)


def _apart(other: tuple[int, ...], place: tuple[int, ...]) -> tuple[int, int]:
    differ = [abs(a - b) for a, b in zip(other, place, strict=True)]
    return sum(each > 0 for each in differ), sum(differ)


def _gaps(places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the places that are missing where numbers otherwise fill a box, or one each."""
    if len(places) < 3 or not places[0]:
        return []
    axes = []
    for numbers in zip(*places, strict=True):
        values = sorted(set(numbers))
        whole = list(range(values[0], values[-1] + 1)) if values[-1] < MOST_PLACES else values
        lost = len(whole) - len(values)
        axes.append(whole if len(values) >= 3 and lost <= max(1, len(values) // 10) else values)
    size = int(np.prod([len(axis) for axis in axes], dtype=np.float64))
    lost = size - len(places)
    if lost > max(1, size // 10) and len(axes) > 1:
        firsts = sorted({place[0] for place in places})
        return [
            (first, *rest)
            for first in firsts
            for rest in _gaps([place[1:] for place in places if place[0] == first])
        ]
    if not 0 < lost <= max(1, size // 10) or size > MOST_PLACES:
        return []
    present = set(places)
    return [place for place in product(*axes) if place not in present and _between(place, present)]


def _between(place: tuple[int, ...], present: set[tuple[int, ...]]) -> bool:
    """Whether others that differ in one number have smaller and greater ones."""
    for axis, number in enumerate(place):
        rest = place[:axis] + place[axis + 1 :]
        line = [other[axis] for other in present if other[:axis] + other[axis + 1 :] == rest]
        if line and min(line) < number < max(line):
            return True
    return False


def _numbered(text: tuple[str, ...], place: tuple[int, ...], widths: list[set[int]]) -> str:
    """Return a name with numbers in their places, with zeros before them where others have them."""
    digits = [f"{number:0{min(width)}d}" for number, width in zip(place, widths, strict=True)]
    return "".join(a + b for a, b in zip(text, [*digits, ""], strict=True))


def _usual(counts: Sequence[int] | Ints) -> int:
    """Return how many of something most of a level have.

    Where none is had by half of them, what a fifth reach: many may have lost some.
    """
    each = sorted(map(int, counts), reverse=True)
    value, times = max(Counter(each).items(), key=lambda item: (item[1], item[0]))
    if times > HALF * len(each):
        return value
    return each[max(0, int(np.ceil(SHARE * len(each))) - 1)]


def _few_cables(shape: Shape, names: _Names) -> list[str]:
    """Return switches with fewer cables than most of their level."""
    level, lower, upper, count = shape.level, shape.lower, shape.upper, shape.count
    up = np.bincount(lower, count, len(level)).astype(np.int64)
    down = np.bincount(upper, count, len(level)).astype(np.int64)
    works = np.array([router not in names.down for router in range(len(level))])
    if shape.kind == "switch" or not len(lower):
        return []
    alone: list[int] = np.flatnonzero((up + down == 0) & works).tolist()
    said = [f"{names[router]} has no cable to another switch" for router in alone]
    works[alone] = False
    if shape.kind not in {"tree", "dragonfly+"}:
        return said + _irregular(shape, names, up + down, works)
    top = int(level.max())
    across = level[lower] == level[upper]
    beside = np.bincount(np.append(lower[across], upper[across]), minlength=len(level))
    up, down = up - np.bincount(lower[across], count[across], len(level)), down.copy()
    down = (down - np.bincount(upper[across], count[across], len(level))).astype(np.int64)
    for step in range(top + 1):
        mine = np.flatnonzero((level == step) & works)
        kinds = [(up.astype(np.int64), "uplinks"), (down, "downlinks"), (beside, "global links")]
        for counts, what in kinds:
            usual = _usual(counts[mine]) if len(mine) else 0
            design = _all_alike(names, counts, mine)
            few = np.isin(np.arange(len(level)), mine[counts[mine] < usual])
            if what == "global links" and _alike_in_groups(shape, few):
                continue
            for router in mine[counts[mine] < usual].tolist():
                if names.family[router] in design:
                    continue
                detail = _where(shape, names, router) if what == "uplinks" else ""
                said.append(f"{names[router]} has {counts[router]} of {usual} {what}{detail}")
    return said


def _all_alike(names: _Names, counts: Ints, mine: Ints) -> set[tuple[str, ...]]:
    """Return the kinds of names of a level, of several, whose switches all have equally many."""
    of: dict[tuple[str, ...], list[int]] = {}
    for router in mine.tolist():
        of.setdefault(names.family[router], []).append(int(counts[router]))
    alike = {kind for kind, each in of.items() if len(each) > 2 and len(set(each)) == 1}
    return alike if len(of) > 1 else set()


def _where(shape: Shape, names: _Names, router: int) -> str:
    """Return to which switches above a switch has fewer cables than its siblings have."""
    level, lower, upper, count = shape.level, shape.lower, shape.upper, shape.count
    between = (level[lower] == level[router]) & (level[upper] == level[router] + 1)
    lower, upper, count = lower[between], upper[between], count[between]
    mine = dict(zip(upper[lower == router].tolist(), count[lower == router].tolist(), strict=True))
    siblings = np.unique(lower[np.isin(upper, list(mine))])
    parents, at, joined = np.unique(
        upper[np.isin(lower, siblings)], return_inverse=True, return_counts=True
    )
    theirs = count[np.isin(lower, siblings)]
    if not len(theirs):
        return ""
    usual = _usual(theirs)
    lacking = [
        f"{mine.get(parent, 0)} of {usual} to {names[parent]}"
        for place, parent in enumerate(parents.tolist())
        if joined[place] > HALF * len(siblings)
        and (theirs[at == place] == usual).sum() > HALF * joined[place]
        and mine.get(parent, 0) < usual
    ]
    more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
    return f": {', '.join(lacking[:SHOWN])}{more}" if lacking else ""


def _irregular(shape: Shape, names: _Names, cables: Ints, works: Bools) -> list[str]:
    """Return switches with fewer cables to others, where nearly all have equally many."""
    if shape.kind == "grid":
        return _lost_cables(shape, names)
    mine = cables[works]
    usual = _usual(mine)
    few = works & (cables < usual)
    if (mine == usual).sum() < REGULAR * len(mine) or not few.any():
        return []
    if shape.group is not None:
        if _alike_in_groups(shape, few):
            return []
    elif few.sum() > 2 and len(np.unique(cables[few])) == 1 and cables[few][0] < usual - 1:
        return []  # a cable that is cut takes one from a switch, so this was made so
    else:
        beside = (few[shape.lower].astype(int) + few[shape.upper]).tolist()
        if 2 * beside.count(2) > HALF * (2 * beside.count(2) + beside.count(1)):
            return []  # most neighbours of such switches are such: it is the edge of a mesh
    return [
        f"{names[router]} has {cables[router]} of {usual} cables to other switches"
        for router in np.flatnonzero(few).tolist()
    ]


def _alike_in_groups(shape: Shape, few: Bools) -> bool:
    """Whether equally many switches of each group have few cables, as groups were made."""
    if shape.group is None:
        return False
    lacking = np.bincount(shape.group[few], minlength=int(shape.group.max()) + 1)
    return bool(lacking.min() == lacking.max())


def _lost_cables(shape: Shape, names: _Names) -> list[str]:
    """Return pairs of a grid's switches with fewer cables than most."""
    routers = len(shape.level)
    said = [f"no cable between {names[a]} and {names[b]}" for a, b in shape.lost if b < routers]
    around = [names[a] for a, b in shape.lost if b == routers]
    if around:
        more = f" and {len(around) - SHOWN} more" if len(around) > SHOWN else ""
        said.append(f"no switch between {', '.join(around[:SHOWN])}{more}")
    usual = _usual(shape.count)
    few = np.flatnonzero(shape.count < usual)
    if (shape.count == usual).sum() < REGULAR * len(shape.count):
        return said
    return said + [
        f"{shape.count[pair]} of {usual} cables between {names[int(shape.lower[pair])]} and "
        f"{names[int(shape.upper[pair])]}"
        for pair in few.tolist()
    ]


def _slow(topology: Topology, shape: Shape) -> list[str]:
    """Return cables that are slower than most between the same two levels."""
    if topology.reference_gbps is None:
        return []
    gbps = np.round(topology.channel_bandwidth * topology.reference_gbps, 6)
    said, first = [], topology.num_network_channels
    here, there = topology.routers.channel_source, topology.routers.channel_target
    once = np.flatnonzero(here < there)
    steps = np.sort(np.stack([shape.level[here[once]], shape.level[there[once]]]), axis=0)
    for step in np.unique(steps, axis=1).T:
        mine = once[(steps == step[:, None]).all(axis=0)]
        said += _slower(topology, gbps, mine)
    ports = np.arange(topology.num_channels)[first : first + topology.num_ports]
    return said + (_slower(topology, gbps, ports) if len(ports) else [])


def _slower(topology: Topology, gbps: Floats, mine: Ints) -> list[str]:
    rates, times = np.unique(gbps[mine], return_counts=True)
    usual = float(rates[np.argmax(times)])
    slow = mine[gbps[mine] < usual].tolist()
    if times.max() < REGULAR * len(mine):
        return []
    said = []
    for channel in slow[:SHOWN]:
        source, port, target, far = topology.cable_end(channel)
        ends = " and ".join(
            f"{short_switch_name(name)}{f' port {number}' if number else ''}"
            for name, number in ((source, port), (target, far))
        )
        said.append(f"cable between {ends} runs at {gbps[channel]:g} of {usual:g} Gb/s")
    more = len(slow) - SHOWN
    return said + ([f"{counted(more, 'more cable')} slower than most"] if more > 0 else [])


def _rails(topology: Topology) -> list[str]:
    """Return computers without an adapter on a rail, and adapters on a leaf of another rail."""
    assert topology.cabling is not None
    rail, leaf_rail = rails(topology)
    called = topology.cabling.rail_names
    if not rail:
        return []
    has: dict[int, set[int]] = {}
    for node, each in zip(topology.node_of_host.tolist(), rail, strict=True):
        if each >= 0:
            has.setdefault(node, set()).add(each)
    usual = {each for each in range(len(called)) if each in set(leaf_rail.values())}
    several = {node: mine for node, mine in has.items() if 2 * len(mine & usual) > len(usual)}
    said = []
    for each in sorted(usual):
        lack = [topology.computer_name(node) for node, mine in several.items() if each not in mine]
        if lack and len(lack) <= HALF * len(several):
            verb = "has" if len(lack) == 1 else "have"
            said.append(
                f"{counted(len(lack), 'computer')} {verb} no adapter {called[each]}: {_some(lack)}"
            )
    leaves, nodes = [each.leaf for each in adapters_of(topology)], topology.node_of_host.tolist()
    astray = [
        f"adapter {topology.name_of(host)} hangs on a leaf of {called[leaf_rail[leaf]]}"
        for host, (mine, leaf) in enumerate(zip(rail, leaves, strict=True))
        if nodes[host] in several and mine in usual and leaf_rail.get(leaf, mine) != mine
    ]
    more = len(astray) - SHOWN
    return said + astray[:SHOWN] + ([f"{more} more on leaves of other rails"] if more > 0 else [])
