"""Charts that stand side by side, on one scale: the same length and color mean the same."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netloom.report.page.figure import units_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netloom.report.page.figure import Figure

COMPUTED = ("aggregate", "bin", "stack", "timeUnit")
"""What makes of a field something that its data do not have."""

ENDS = {"x2": "x", "y2": "y"}
"""Encodings that lie on the scale of another."""

TICKS = ("values", "labelExpr", "format", "tickCount")
"""What of an axis says where its ticks are."""

SCALED = ("x", "y", "color", "size", "opacity", "strokeWidth")


def on_one_scale(figures: Sequence[Figure]) -> list[Figure]:
    """Return figures of one kind whose axes and colors go from the least to the most of all.

    Scales of names, and those whose extent cannot be read from the data, stay as they are.
    """
    if len(figures) < 2:
        return list(figures)
    specs = [deepcopy(dict(each.spec)) for each in figures]
    narrow = [deepcopy(dict(each.narrow)) if each.narrow else None for each in figures]
    extents = [_extents(each, each["datasets"]) for each in specs]
    known = [name for name in extents[0] if all(name in each for each in extents)]
    shared = {
        name: (min(each[name][0] for each in extents), max(each[name][1] for each in extents))
        for name in known
    }
    for kind in (specs, list(filter(None, narrow))):
        ticks = {name: _ticks(kind, extents, name) for name in shared} if kind else {}
        for spec in kind:
            _set_domains(spec, shared, ticks)
    return [
        replace(each, spec=spec, narrow=small)
        for each, spec, small in zip(figures, specs, narrow, strict=True)
    ]


def _extents(spec: Mapping[str, Any], sets: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return from where to where each scale goes: as it says itself, or as its data do."""
    found: dict[str, list[float]] = {}
    unknown = set()
    for channel, encoding, data in _encodings(spec):
        scale = encoding.get("scale") or {}
        domain = scale.get("domain")
        if isinstance(domain, list) and all(_is_number(each) for each in domain) and domain:
            found.setdefault(channel, []).extend(domain if domain[0] < domain[-1] else ())
            unknown |= {channel} if domain[0] >= domain[-1] or len(domain) > 2 else set()
            continue
        values = [row.get(encoding["field"]) for row in sets.get(data or "", ())]
        values = [float(each) for each in values if _is_number(each)]
        if not values or any(name in encoding for name in COMPUTED) or domain is not None:
            unknown.add(channel)
            continue
        zero = scale.get("zero", channel in ("x", "y")) and scale.get("type") not in ("log", "sqrt")
        found.setdefault(channel, []).extend([*values, *([0.0] if zero else [])])
    return {
        channel: (min(values), max(values))
        for channel, values in found.items()
        if channel not in unknown and min(values) < max(values)
    }


def _ticks(
    specs: Sequence[Mapping[str, Any]], extents: Sequence[Mapping[str, Any]], name: str
) -> dict[str, Any]:
    """Return the ticks of the figure whose scale goes furthest, and how they are labeled."""
    widest = max(range(len(specs)), key=lambda place: extents[place][name][1])
    for channel, encoding, _ in _encodings(specs[widest]):
        if channel == name and (axis := encoding.get("axis")):
            return {key: axis[key] for key in TICKS if key in axis}
    return {}


def _set_domains(
    spec: Mapping[str, Any],
    shared: Mapping[str, tuple[float, float]],
    ticks: Mapping[str, Mapping[str, Any]],
) -> None:
    for channel, encoding, _ in _encodings(spec):
        if channel in shared and "type" in encoding:
            encoding["scale"] = {**(encoding.get("scale") or {}), "domain": list(shared[channel])}
            if encoding.get("axis"):
                encoding["axis"] = {**encoding["axis"], **ticks[channel]}


def _encodings(spec: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Yield the scale, the encoding and the name of the data of all that lies on a scale."""
    for unit, data in units_of(spec):
        for place, encoding in unit.items():
            channel = ENDS.get(place, place)
            if channel not in SCALED or "field" not in encoding:
                continue
            drawn = encoding.get("scale", "") is None or encoding.get("axis", "") is None
            if not drawn and (encoding.get("type") == "quantitative" or place in ENDS):
                yield channel, encoding, data


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
