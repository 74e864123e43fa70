"""Networks by name, such as ``mesh:8x8``, ``fat-tree:4x3``, ``dragonfly:2x4x2``, ``graph:FILE``.

``SPECS`` declares every name once. The error text, the list in the documentation and the check of
the grammar follow from it. A family declares its sides there in one line, such as ``leaves, spines,
hosts per leaf / cables?``: numbers that ``x`` parts before each slash, and what may be left out
marked ``?``. The first word is the name, so that ``leaf-spine:leaves=32,spines=8,hosts=24`` is
``leaf-spine:32x8x24``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import parse_sides, split_spec, whole_number
from netloom.base.words import or_near
from netloom.topology import families
from netloom.topology.core import Topology
from netloom.topology.cubes import Cube, cube, hypercube, mesh, torus
from netloom.topology.graph import graph_topology, read_graph

if TYPE_CHECKING:
    import networkx as nx


UNCOUNTED = (
    "sides", "length", "dimensions", "q", "pes", "children", "parents", "parallel",
    "seed", "wiring",
)  # fmt: skip
"""Sides that are no counts of parts, or that the spec says clearly."""


class Side(NamedTuple):
    """One side: its name, what it counts, in which part between slashes, whether it is needed."""

    name: str
    words: str
    part: int
    needed: bool


def sides_of(declared: str) -> list[Side]:
    """Return the sides that a family declares.

    Examples
    --------
    >>> [(side.name, side.needed) for side in sides_of("sides / hosts per router?")]
    [('sides', True), ('hosts', False)]
    """
    return [
        Side(words.split()[0].rstrip("?"), words.strip().rstrip("?"), part, not words.endswith("?"))
        for part, group in enumerate(declared.split(" / "))
        for words in group.split(",")
    ]


def in_order(argument: str, declared: str, spec: str) -> str:
    """Return the argument of a spec with its sides in their order, from one with their names.

    Raises
    ------
    InputError
        If a side is missing, is named twice, or there is none of that name.

    Examples
    --------
    >>> in_order("spines=8,leaves=32,hosts=24", "leaves, spines, hosts per leaf / cables?", "")
    '32x8x24'
    """
    known = sides_of(declared)
    given: dict[str, str] = {}
    for word in argument.split(","):
        name, sign, value = (each.strip() for each in word.partition("="))
        names = [side.name for side in known]
        if not sign or not value or name not in names:
            raise InputError(spec, f"'{word.strip()}'", or_near(name, names, _wanted(known)))
        if name in given:
            raise InputError(spec, f"two values of {name}", _wanted(known))
        given[name] = value
    missing = [side.name for side in known if side.needed and side.name not in given]
    if missing:
        raise InputError(spec, f"no {' and no '.join(missing)}", _wanted(known))
    parts = [
        "x".join(given[side.name] for side in known if side.part == part and side.name in given)
        for part in range(known[-1].part + 1)
    ]
    return "/".join(filter(None, parts))


def by_name(argument: str, declared: str) -> dict[str, str]:
    """Return the sides of an argument that has them in their order, by name. {} if it has others.

    Examples
    --------
    >>> by_name("32x8x24", "leaves, spines, hosts per leaf / cables?")
    {'leaves': '32', 'spines': '8', 'hosts': '24'}
    """
    known, found = sides_of(declared), dict[str, str]()
    groups = [[side for side in known if side.part == n] for n in range(known[-1].part + 1)]
    for text in argument.split("/"):
        if text.isalpha():  # a word, which may stand where numbers are left out
            groups = [group for group in groups if group[0].name == "wiring"]
        if not groups:
            return {}
        group = groups.pop(0)
        values = [text] if len(group) == 1 else text.split("x")
        if len(values) != len(group) or "=" in text:
            return {}
        found |= {side.name: value for side, value in zip(group, values, strict=True)}
    return found


def _one(words: str) -> str:
    """Return what is counted, of which there is one."""
    noun, *rest = re.split(r" (?=per |between |of |each )", words, maxsplit=1)
    noun = noun.replace("leaves", "leafs").removesuffix("s")
    return " ".join([noun, *rest])


def _wanted(known: list[Side]) -> str:
    said = ", ".join(f"{side.name}=N" for side in known if side.needed)
    more = ", ".join(f"{side.name}=N" for side in known if not side.needed)
    return f"{said}, perhaps {more}" if more else said


class Spec(NamedTuple):
    """How a kind of network is written.

    Attributes
    ----------
    forms
        Examples of what a user writes, the plainest first.
    says
        What the numbers are, in one line.
    make
        From what stands behind the colon, and the whole spec for messages.
    sides
        The names of the numbers: see ``sides_of``. "" for those of files.
    """

    forms: tuple[str, ...]
    says: str
    make: Callable[[str, str], Topology]
    sides: str = ""


def topology(spec: str | nx.Graph[Any]) -> Topology:
    """Return the network that ``spec`` names, or that a NetworkX graph is.

    ``SPECS`` lists the names. ``spec_table`` prints them.

    Raises
    ------
    InputError
        If the name is not known, an argument is wrong, or the network would be too large.

    Examples
    --------
    >>> topology("ring:16").num_channels
    32
    >>> topology("cube:8wx4").wraps
    (True, False)
    >>> topology("mesh:4x4/4")
    <mesh:4x4/4: 64 hosts, 16 routers, 48 directed channels>
    >>> topology("omega:4096/8").stages
    4
    """
    if not isinstance(spec, str):
        return graph_topology(spec)
    name, argument = split_spec(spec)
    if name not in SPECS:
        known = {f"{each}:{argument}": each for each in SPECS}
        wanted = or_near(f"{name}:{argument}", known, TOPOLOGIES)
        raise InputError(f"topology '{spec}'", f"'{name}'", wanted)
    found = SPECS[name]
    begin = f"{name}:{argument.partition('=')[0]}="
    # a family may have a form of its own that begins so, as `fat-tree:k=8` does
    if "=" in argument and found.sides and not any(form.startswith(begin) for form in found.forms):
        argument = in_order(argument, found.sides, spec)
        spec = f"{name}:{argument}"
    return found.make(argument, spec)


def spec_by_name(spec: str) -> str:
    """Return the spec of a network with the names of its sides. The same if they have none.

    Examples
    --------
    >>> spec_by_name("leaf-spine:32x8x24"), spec_by_name("graph:my.txt")
    ('leaf-spine:leaves=32,spines=8,hosts=24', 'graph:my.txt')
    """
    name, argument = split_spec(spec)
    sides = SPECS[name].sides if name in SPECS else ""
    named = by_name(argument, sides) if sides else {}
    said = ",".join(f"{side}={value}" for side, value in named.items())
    return f"{name}:{said}" if said else spec


def spec_in_words(spec: str) -> str:
    """Return what a network of this name has, in words. "" if the name says it.

    Examples
    --------
    >>> spec_in_words("leaf-spine:32x24x8"), spec_in_words("torus:8x8")
    ('32 leaves, 24 spines, 8 hosts per leaf', '')
    >>> spec_in_words("rail:1x2x4x2/1")
    '1 unit, 2 computers per unit, 4 rails, 2 spines, 1 cable between each leaf and spine'
    """
    name, argument = split_spec(spec)
    sides = SPECS[name].sides if name in SPECS else ""
    if not sides:
        return ""
    words, found = {side.name: side.words for side in sides_of(sides)}, by_name(argument, sides)
    return ", ".join(
        f"{value} {_one(words[name]) if value == '1' else words[name]}"
        for name, value in found.items()
        if name not in UNCOUNTED
    )


def spec_table() -> str:
    """Return one line for each way of writing a network, as a Markdown table.

    Examples
    --------
    >>> print(spec_table().splitlines()[5])
    | `ring:16` | routers in a ring; `/c` hosts on each | `ring:length=16` |
    """
    rows = ["| network | numbers | by name |", "| --- | --- | --- |"]
    for spec in SPECS.values():
        forms = ", ".join(f"`{form}`" for form in spec.forms)
        # the form that says most, with the names of its sides
        named = f"`{max(map(spec_by_name, spec.forms), key=len)}`" if spec.sides else ""
        rows.append(f"| {forms} | {spec.says} | {named} |")
    return "\n".join(rows)


def _one_side(argument: str, spec: str, *, wraps: bool) -> Cube:
    sides = parse_sides(argument, where=spec)
    if len(sides) != 1:
        raise InputError(spec, f"{len(sides)} sides", "one number of nodes")
    return cube(sides, wraps=wraps, name=spec)


def _hypercube(argument: str, spec: str) -> Cube:
    dimension = whole_number(argument, where=spec, least=1)
    if dimension > 28:
        raise InputError(spec, f"{dimension} dimensions", "at most 28")
    return hypercube(dimension)


def _mixed(argument: str, spec: str) -> Cube:
    marks = [side.endswith("w") for side in argument.split("x")]
    return cube(parse_sides(argument.replace("w", ""), where=spec), wraps=marks, name=spec)


def _grid_size(argument: str, spec: str) -> int:
    return prod(parse_sides(argument.replace("w", ""), where=spec))


def _hypercube_size(argument: str, spec: str) -> int:
    return 1 << min(whole_number(argument, where=spec, least=1), 64)


def _omega(argument: str, spec: str) -> families.Omega:
    pes, slash, switch_size = argument.partition("/")
    size = whole_number(switch_size, where=spec) if slash else 2
    return families.omega(whole_number(pes, where=spec), size)


def _graph(argument: str, spec: str) -> Topology:
    if not argument:
        raise InputError(spec, "no file", "graph:FILE")
    return read_graph(argument)


def _fabric(argument: str, spec: str) -> Topology:
    if not argument:
        raise InputError(spec, "no file", "fabric:FILE")
    from netloom.topology.subnets.files import read_fabric

    found = read_fabric(argument)
    for note in found.notes:
        warnings.warn(note, stacklevel=4)
    return found


CONCENTRATED = "sides / hosts per router?"

SPECS: dict[str, Spec] = {
    "mesh": Spec(
        ("mesh:8x8", "mesh:4x4/4"),
        "sides; `/c` puts c hosts on each router",
        families.with_hosts(
            lambda argument, spec: mesh(*parse_sides(argument, where=spec)), _grid_size
        ),
        CONCENTRATED,
    ),
    "torus": Spec(
        ("torus:4x4x4", "torus:4x4x4/2"),
        "sides, all wrapped; `/c` hosts on each router",
        families.with_hosts(
            lambda argument, spec: torus(*parse_sides(argument, where=spec)), _grid_size
        ),
        CONCENTRATED,
    ),
    "line": Spec(
        ("line:16",),
        "routers in a row; `/c` hosts on each",
        families.with_hosts(
            lambda argument, spec: _one_side(argument, spec, wraps=False), _grid_size
        ),
        "length / hosts per router?",
    ),
    "ring": Spec(
        ("ring:16",),
        "routers in a ring; `/c` hosts on each",
        families.with_hosts(
            lambda argument, spec: _one_side(argument, spec, wraps=True), _grid_size
        ),
        "length / hosts per router?",
    ),
    "hypercube": Spec(
        ("hypercube:6",),
        "dimensions; `/c` hosts on each router",
        families.with_hosts(_hypercube, _hypercube_size),
        "dimensions / hosts per router?",
    ),
    "cube": Spec(
        ("cube:8wx4",),
        "sides, of which those marked `w` wrap; `/c` hosts on each router",
        families.with_hosts(_mixed, _grid_size),
        CONCENTRATED,
    ),
    "twisted-torus": Spec(
        ("twisted-torus:4x4x8", "twisted-torus:8x4/2"),
        "sides of k and 2k: wraps of side k also go k along sides of 2k; `/c` hosts on each router",
        families.with_hosts(families.twisted_torus, _grid_size),
        CONCENTRATED,
    ),
    "fat-tree": Spec(
        ("fat-tree:4x3", "fat-tree:k=8"),
        "k and n of a k-ary n-tree; `k=8`: three levels of 8-port switches",
        families.fat_tree,
        "ports each way, levels",
    ),
    "xgft": Spec(
        ("xgft:4x4x4/1x2x4", "xgft:4x4/1x2/1x2"),
        "children of each level from the hosts up / parents / parallel links",
        families.xgft_of,
        "children / parents / parallel?",
    ),
    "leaf-spine": Spec(
        ("leaf-spine:8x4x8", "leaf-spine:8x4x8/2"),
        "leaves, spines, hosts per leaf; `/2` cables between each leaf and spine",
        families.leaf_spine,
        "leaves, spines, hosts per leaf / cables between each leaf and spine?",
    ),
    "rail": Spec(
        ("rail:2x4x8x4", "rail:2x4x8x4/2"),
        "units, computers per unit, rails (NICs of a computer, leaves of a unit), spines; `/2` "
        "cables between each leaf and spine",
        families.rail,
        "units, computers per unit, rails, spines / cables between each leaf and spine?",
    ),
    "dragonfly": Spec(
        ("dragonfly:2x4x2", "dragonfly:2x4x2/9/palmtree"),
        "hosts per router, routers per group, global links per router; `/9` groups (as many as can "
        "be, if not given); wiring `absolute` (if not given), `palmtree` or `circulant`",
        families.dragonfly,
        "hosts per router, routers per group, global links per router / groups? / wiring?",
    ),
    "dragonfly+": Spec(
        ("dragonfly+:4x4x4x4", "dragonfly+:4x4x4x4/9"),
        "leaves and spines per group, hosts per leaf, global links per spine; groups and wiring as "
        "for `dragonfly`",
        families.dragonfly_plus,
        "leaves per group, spines per group, hosts per leaf, global links per spine / groups? "
        "/ wiring?",
    ),
    "hyperx": Spec(
        ("hyperx:4x4/4", "hyperx:4x4/4/2"),
        "sides / hosts per router / links between two routers",
        families.hyperx,
        "sides / hosts per router / lanes between two routers?",
    ),
    "slim-fly": Spec(
        ("slim-fly:5/4",),
        "q, a power of a prime / hosts per router",
        families.slim_fly,
        "q / hosts per router",
    ),
    "jellyfish": Spec(
        ("jellyfish:32x5x3/1",),
        "routers, links and hosts of each / seed",
        families.jellyfish,
        "routers, links per router, hosts per router / seed?",
    ),
    "butterfly": Spec(
        ("butterfly:4x3",),
        "k and n of a k-ary n-fly, one way through its stages",
        families.butterfly,
        "ports each way, stages",
    ),
    "omega": Spec(
        ("omega:512", "omega:4096/8"),
        "processing elements, and as many memories / size of switches",
        _omega,
        "pes / switch?",
    ),
    "graph": Spec(("graph:FILE",), "GraphML or an edge list", _graph),
    "fabric": Spec(
        ("fabric:FILE",),
        "what ibnetdiscover prints, Slurm's topology or another of the files that netloom reads",
        _fabric,
    ),
}
"""Every name of a network, once."""

TOPOLOGIES = f"torus:4x4x4, fat-tree:4x3 or the like, of {', '.join(SPECS)}"
"""All names, for messages."""
