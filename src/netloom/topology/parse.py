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
from keyword import iskeyword
from os.path import isfile
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import split_spec, whole_number
from netloom.base.words import or_near
from netloom.topology import families
from netloom.topology.core import Topology
from netloom.topology.folded import folded
from netloom.topology.graph import graph_topology, read_graph
from netloom.topology.inside import numbered

if TYPE_CHECKING:
    import networkx as nx


LISTS = ("sides", "mesh", "children", "parents", "parallel")
"""Sides that are several numbers, with an x between them."""

UNCOUNTED = (*LISTS, "length", "dimensions", "q", "pes", "seed", "wiring")
"""Sides that are no counts of parts, or that the spec says clearly."""


LEADING = r"(?<![0-9])0+(?=[0-9])"
"""Zeros before a number, which names do not have."""


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


def given_sides(argument: str, found: Spec, spec: str) -> dict[str, str]:
    """Return the sides of an argument by name, from one that has them in their order or by name.

    Raises
    ------
    InputError
        If a side is missing, is named twice, or there is none of that name.

    Examples
    --------
    >>> given_sides("spines=8,leaves=32,hosts=24", SPECS["leaf-spine"], "")
    {'spines': '8', 'leaves': '32', 'hosts': '24'}
    """
    known = sides_of(found.sides)
    if "=" not in argument:
        given = by_name(argument, found.sides)
        if not given:
            wanted = f"{', '.join(side.words for side in known if side.needed)}, such as"
            said = f"'{argument}'" if argument else "no numbers"
            raise InputError(spec, said, f"{wanted} {' or '.join(found.forms)}")
        return given
    given, names = {}, [side.name for side in known]
    said = ", ".join(f"{side.name}=N" for side in known if side.needed)
    more = ", ".join(f"{side.name}=N" for side in known if not side.needed)
    wanted = f"{said}, perhaps {more}" if more else said
    for word in argument.split(","):
        name, sign, value = (each.strip() for each in word.partition("="))
        if not sign or not value or name not in names:
            raise InputError(spec, f"'{word.strip()}'", or_near(name, names, wanted))
        if name in given:
            raise InputError(spec, f"two values of {name}", wanted)
        given[name] = value
    missing = [side.name for side in known if side.needed and side.name not in given]
    if missing:
        raise InputError(spec, f"no {' and no '.join(missing)}", wanted)
    return given


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
        if len(values) != len(group) or "=" in text or not text:
            return {}
        found |= {side.name: value for side, value in zip(group, values, strict=True)}
    return {} if any(side.needed and side.name not in found for side in known) else found


def _one(words: str) -> str:
    """Return what is counted, of which there is one."""
    noun, *rest = re.split(r" (?=per |between |of |each )", words, maxsplit=1)
    noun = noun.replace("leaves", "leafs").removesuffix("s")
    return " ".join([noun, *rest])


class Spec(NamedTuple):
    """How a kind of network is written.

    Attributes
    ----------
    forms
        Examples of what a user writes, the plainest first.
    says
        What the numbers are, in one line.
    make
        From the sides by their names, and the name of the network. Of a file from its path.
    sides
        The names of the numbers: see ``sides_of``. "" for those of files.
    """

    forms: tuple[str, ...]
    says: str
    make: Callable[..., Topology]
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
    base, inside = at_computers(spec)
    if inside:
        return numbered(topology(base), inside, spec)
    name, argument = split_spec(spec)
    if name not in SPECS:
        known = {f"{each}:{argument}": each for each in SPECS}
        wanted = or_near(f"{name}:{argument}", known, TOPOLOGIES)
        raise InputError(f"topology '{spec}'", f"'{name}'", wanted)
    found, own = SPECS[name], argument.partition("=")[0]
    if not found.sides:
        if not argument:
            raise InputError(spec, "no file", f"{name}:FILE")
        return found.make(argument)
    # a family may have a form of its own that begins so, as `fat-tree:k=8` does
    if "=" in argument and any(form.startswith(f"{name}:{own}=") for form in found.forms):
        given, written = {own: argument.partition("=")[2]}, argument
    else:
        given = given_sides(argument, found, spec)
        parts: dict[int, list[str]] = {}
        for side in sides_of(found.sides):
            if side.name in given:
                parts.setdefault(side.part, []).append(given[side.name])
        written = "/".join(map("x".join, parts.values()))
    values: dict[str, Any] = {}
    for what, text in given.items():
        least, key = int(what != "seed"), f"{what}_" if iskeyword(what) else what
        words = text.replace("w", "").split("x") if name == "cube" else text.split("x")
        if what in LISTS:
            values[key] = [whole_number(word, where=spec, least=least) for word in words]
        else:
            values[key] = text if what == "wiring" else whole_number(text, where=spec, least=least)
    return found.make(**values, name=f"{name}:{re.sub(LEADING, '', written)}")


def at_computers(spec: str) -> tuple[str, str]:
    """Return the network of a spec, and what it says of computers behind an ``@``. "" if nothing.

    Examples
    --------
    >>> at_computers("leaf-spine:4x4x8@dgx-h100"), at_computers("torus:8x8")
    (('leaf-spine:4x4x8', 'dgx-h100'), ('torus:8x8', ''))
    """
    base, at, inside = spec.rpartition("@")
    named = at and split_spec(base)[0] in SPECS
    if not named or isfile(split_spec(spec)[1]):  # noqa: PTH113 (any words may be no path)
        return spec, ""
    return base, inside


def spec_by_name(spec: str) -> str:
    """Return the spec of a network with the names of its sides. The same if they have none.

    Examples
    --------
    >>> spec_by_name("leaf-spine:32x8x24"), spec_by_name("graph:my.txt")
    ('leaf-spine:leaves=32,spines=8,hosts=24', 'graph:my.txt')
    """
    said = ",".join(f"{side.name}={value}" for side, value in _said(spec))
    behind = spec[len(at_computers(spec)[0]) :]
    return f"{split_spec(spec)[0]}:{said}{behind}" if said else spec


def _said(spec: str) -> list[tuple[Side, str]]:
    """Return the sides of a network, and what its spec says of each. None if it has none."""
    name, argument = split_spec(at_computers(spec)[0])
    if name not in SPECS or not SPECS[name].sides:
        return []
    sides = {side.name: side for side in sides_of(SPECS[name].sides)}
    return [(sides[each], value) for each, value in by_name(argument, SPECS[name].sides).items()]


def spec_in_words(spec: str) -> str:
    """Return what a network of this name has, in words. "" if the name says it.

    Examples
    --------
    >>> spec_in_words("leaf-spine:32x24x8"), spec_in_words("torus:8x8")
    ('32 leaves, 24 spines, 8 hosts per leaf', '')
    >>> spec_in_words("rail:1x2x4x2/1")
    '1 unit, 2 computers per unit, 4 rails, 2 spines, 1 cable between each leaf and spine'
    >>> spec_in_words("leaf-spine:4x2x8@dgx-h100")
    '4 leaves, 2 spines, 8 cards per leaf'
    """
    found = ", ".join(
        f"{value} {_one(side.words) if value == '1' else side.words}"
        for side, value in _said(spec)
        if side.name not in UNCOUNTED
    )
    return found.replace("host", "card") if at_computers(spec)[1] else found


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
    forms = "`leaf-spine:8x4x8@dgx-h100`, `fat-tree:4x3@my.toml`, `leaf-spine:8x4x8@8x8x9`"
    rows.append(f"| {forms} | behind any network, its hosts being cards: {BEHIND} | |")
    return "\n".join(rows)


def _fabric(path: str) -> Topology:
    from netloom.topology.subnets.files import read_fabric

    found = read_fabric(path)
    for note in found.notes:
        warnings.warn(note, stacklevel=4)
    return found


def _omega(pes: int, switch: int = 2, **_: Any) -> families.Omega:
    return families.omega(pes, switch)


CONCENTRATED = "sides / hosts per router?"

SPECS = {row[0][0].partition(":")[0]: Spec(*row) for row in (
    (("mesh:8x8", "mesh:4x4/4"), "sides; `/c` puts c hosts on each router",
     families.grid, CONCENTRATED),
    (("torus:4x4x4", "torus:4x4x4/2"), "sides, all wrapped; `/c` hosts on each router",
     families.grid, CONCENTRATED),
    (("line:16",), "routers in a row; `/c` hosts on each",
     families.grid, "length / hosts per router?"),
    (("ring:16",), "routers in a ring; `/c` hosts on each",
     families.grid, "length / hosts per router?"),
    (("hypercube:6",), "dimensions; `/c` hosts on each router",
     families.grid, "dimensions / hosts per router?"),
    (("cube:8wx4",), "sides, of which those marked `w` wrap; `/c` hosts on each router",
     families.grid, CONCENTRATED),
    (("twisted-torus:4x4x8", "twisted-torus:8x4/2"),
     "sides of k and 2k: wraps of side k also go k along sides of 2k; `/c` hosts on each router",
     families.grid, CONCENTRATED),
    (("folded:4x4x4", "folded:8x4/4x2x2x2"),
     "sides of a torus that is folded into a mesh of more dimensions, as Fugaku's jobs see it; "
     "`/4x2x2x2` the sides of the mesh", folded, "sides / mesh?"),
    (("fat-tree:4x3", "fat-tree:k=8"),
     "k and n of a k-ary n-tree; `k=8`: three levels of 8-port switches",
     families.fat_tree, "ports each way, levels"),
    (("xgft:4x4x4/1x2x4", "xgft:4x4/1x2/1x2"),
     "children of each level from the hosts up / parents / parallel links",
     families.xgft, "children / parents / parallel?"),
    (("leaf-spine:8x4x8", "leaf-spine:8x4x8/2"),
     "leaves, spines, hosts per leaf; `/2` cables between each leaf and spine",
     families.leaf_spine, "leaves, spines, hosts per leaf / cables between each leaf and spine?"),
    (("rail:2x4x8x4", "rail:2x4x8x4/2"),
     "units, computers per unit, rails (NICs of a computer, leaves of a unit), spines; `/2` "
     "cables between each leaf and spine",
     families.rail,
     "units, computers per unit, rails, spines / cables between each leaf and spine?"),
    (("dragonfly:2x4x2", "dragonfly:2x4x2/9/palmtree"),
     "hosts per router, routers per group, global links per router; `/9` groups (as many as can "
     "be, if not given); wiring `absolute` (if not given), `palmtree` or `circulant`",
     families.dragonfly,
     "hosts per router, routers per group, global links per router / groups? / wiring?"),
    (("dragonfly+:4x4x4x4", "dragonfly+:4x4x4x4/9"),
     "leaves and spines per group, hosts per leaf, global links per spine; groups and wiring as "
     "for `dragonfly`",
     families.dragonfly_plus,
     "leaves per group, spines per group, hosts per leaf, global links per spine / groups? "
     "/ wiring?"),
    (("hyperx:4x4/4", "hyperx:4x4/4/2"), "sides / hosts per router / links between two routers",
     families.hyperx, "sides / hosts per router / lanes between two routers?"),
    (("slim-fly:5/4",), "q, a power of a prime / hosts per router",
     families.slim_fly, "q / hosts per router"),
    (("jellyfish:32x5x3/1",), "routers, links and hosts of each / seed",
     families.jellyfish, "routers, links per router, hosts per router / seed?"),
    (("butterfly:4x3",), "k and n of a k-ary n-fly, one way through its stages",
     families.butterfly, "ports each way, stages"),
    (("omega:512", "omega:4096/8"), "processing elements, and as many memories / size of switches",
     _omega, "pes / switch?"),
    (("graph:FILE",), "GraphML or an edge list", read_graph),
    (("fabric:FILE",),
     "what ibnetdiscover prints, Slurm's topology or another of the files that netloom reads",
     _fabric),
)}  # fmt: skip
"""Every name of a network, once."""

BEHIND = (
    "computers of a machine, by name or file, or their GPUs, cards and the rate of a GPU inside, "
    "that of a card being 1"
)
"""What an ``@`` says, for the table of networks."""

TOPOLOGIES = f"torus:4x4x4, fat-tree:4x3 or the like, of {', '.join(SPECS)}"
"""All names, for messages."""
