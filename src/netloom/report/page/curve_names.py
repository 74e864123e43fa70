"""Names of curves: what tells one from the others of its group, in as few words as do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.drawing.names import base_names
from netloom.questions.subject import order_named, short_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

THEMSELVES = frozenset({"topology", "traffic", "routing", "switching", "on", "app"})
"""Fields whose values say what they are."""


def telling(about: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fields in which configurations differ, but those that a preset's name implies.

    Examples
    --------
    >>> one = {"topology": "mesh:8x8", "router": "three-stage", "route_cycles": 0, "vcs": 2}
    >>> other = {"topology": "mesh:8x8", "router": "canonical-4-stage", "route_cycles": 1, "vcs": 4}
    >>> telling([one, other])
    ('router', 'vcs')
    >>> telling([one, {**other, "route_cycles": 2}])
    ('router', 'route_cycles', 'vcs')
    """
    fields = list(dict.fromkeys(field for each in about for field in each))
    differ = [field for field in fields if len({repr(each.get(field)) for each in about}) > 1]
    if "router" in differ:
        differ = [field for field in differ if not _of_presets(field, about)]
    return tuple(differ)


def _of_presets(field: str, about: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the routers of all configurations have in a field what their preset has."""
    from netloom.simulation.network.routers import PRESETS

    for each in about:
        preset = vars(PRESETS[each["router"]]) if each.get("router") in PRESETS else {}
        if field not in preset or repr(each.get(field)) != repr(preset[field]):
            return False
    return True


def said_field(name: str, value: Any) -> str:
    """Return a field and its value in as few words as tell it.

    Examples
    --------
    >>> said_field("topology", "torus:8x8"), said_field("vcs", 4), said_field("speculative", True)
    ('torus:8x8', '4 VCs', 'speculative')
    >>> said_field("traffic", "/runs/a.mtx"), said_field("router", "three-stage")
    ('a', 'three-stage router')
    >>> said_field("mapping", "identity"), said_field("mapping", "random")
    ('rank order', 'random mapping')
    """
    words = name.replace("_", " ")
    if value is None:
        return f"no {words}"
    if isinstance(value, bool):
        return words if value else f"not {words}"
    if name == "vcs":
        return counted(value, "VC")
    if name == "mapping":
        return order_named(value)
    if isinstance(value, (list, dict)):
        return f"own {words}"
    if name in THEMSELVES:
        return short_name(str(value))
    if isinstance(value, str):
        return f"{base_names(value)} {words}"
    return f"{words} {number(value)}"


def name_fields(fields: Mapping[str, Any]) -> str:
    """Return fields and their values in a line."""
    return ", ".join(said_field(name, value) for name, value in fields.items())


def names_of(about: Sequence[Mapping[str, Any]], differ: Sequence[str]) -> list[str]:
    """Return the name of each configuration: the fields in which they differ.

    With nothing to tell them from, the network. Files of one name keep their folders.
    """
    names = [", ".join(said_field(field, each.get(field)) for field in differ) for each in about]
    if len(set(names)) < len({repr([each.get(field) for field in differ]) for each in about}):
        names = [", ".join(_in_full(field, each.get(field)) for field in differ) for each in about]
    return [
        name or short_name(str(each.get("topology", "the network")))
        for name, each in zip(names, about, strict=True)
    ]


def _in_full(field: str, value: Any) -> str:
    plain = isinstance(value, str) and "/" in value
    return str(value) if plain else said_field(field, value)


def shared_words(names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the words that all names have at their beginning or end, and the names without them.

    Examples
    --------
    >>> shared_words(["fast router", "slow router"])
    ('router', {'fast router': 'fast', 'slow router': 'slow'})
    >>> shared_words(["buffer flits 4", "buffer flits 8"])
    ('buffer flits', {'buffer flits 4': '4', 'buffer flits 8': '8'})
    >>> shared_words(["torus:8x8", "mesh:8x8"])[0]
    ''
    """
    words = [name.split() for name in names]
    if len(set(names)) < 2:
        return "", {name: name for name in names}
    shortest = min(map(len, words))
    start = 0
    while start < shortest - 1 and len({each[start] for each in words}) == 1:
        start += 1
    end = 0
    while end < shortest - 1 - start and len({each[-1 - end] for each in words}) == 1:
        end += 1
    kept = [" ".join(each[start : len(each) - end]) for each in words]
    first = words[0]
    common = " ".join([*first[:start], *first[len(first) - end :]]).strip(", ")
    return common, dict(zip(names, kept, strict=True))
