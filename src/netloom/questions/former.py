"""The last release's names of figures, in one table. This file goes with the next release.

An old place leads to a new one. ``{unit}`` in an old place is what the answer's ``time_unit`` says,
``{size}`` what its ``size_unit`` says. ``[]`` stands for each row of a list.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

FORMER: dict[str, dict[str, str]] = {
    "analyze": {
        "bottleneck.channel_weight": "weighted_channel_load.max",
        "causes.uplinks.load": "busiest_channel.load",
        "causes.uplinks.rate": "busiest_channel.bandwidth",
    },
    "find_mapping": {
        "before.bottleneck.channel_weight": "before.weighted_channel_load.max",
        "before.causes.uplinks.load": "before.busiest_channel.load",
        "before.causes.uplinks.rate": "before.busiest_channel.bandwidth",
        "after.bottleneck.channel_weight": "after.weighted_channel_load.max",
        "after.causes.uplinks.load": "after.busiest_channel.load",
        "after.causes.uplinks.rate": "after.busiest_channel.bandwidth",
    },
}
"""Old place -> new place, by the Python function that asks."""

COLUMNS: dict[str, dict[str, str]] = {}
"""Old name -> new name of columns of all tables of an answer, by the function that asks."""


def with_old_keys(verb: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return JSON that has the last release's keys as well. Rows of lists have none."""
    for old, new in FORMER.get(verb, {}).items():
        if "[]" not in old:
            _copy(data, _filled(old, data), new, onto_old=True)
    return data


def with_new_keys(verb: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON, perhaps of the last release, with the keys of this one."""
    found = dict(data)
    for old, new in FORMER.get(verb, {}).items():
        _copy(found, _filled(old, found), new, onto_old=False)
    return found


def with_old_columns(verb: str, table: pl.DataFrame, units: Mapping[str, Any]) -> pl.DataFrame:
    """Return a table that has the last release's columns as well, behind its own."""
    pairs = {_filled(old, units): new for old, new in COLUMNS.get(verb, {}).items()}
    old = [
        table[new].alias(old)
        for old, new in pairs.items()
        if new in table.columns and old not in table.columns
    ]
    return table.with_columns(old) if old else table


def old_attribute(answer: Any, verb: str, name: str) -> Any:
    """Return what an attribute was called in the last release. AttributeError if nothing was."""
    if not name.startswith("_"):
        units = {unit: vars(answer).get(unit) for unit in ("time_unit", "size_unit")}
        for old, new in FORMER.get(verb, {}).items():
            if "." not in old and _filled(old, units) == name:
                warnings.warn(f"{name} is now {new}", DeprecationWarning, stacklevel=3)
                found = answer
                for part in new.split("."):
                    found = getattr(found, part)
                return found
    raise AttributeError(f"{type(answer).__name__} has no figure '{name}'")


def _filled(place: str, data: Mapping[str, Any]) -> str:
    return place.format(unit=data.get("time_unit", ""), size=data.get("size_unit", ""))


def _copy(data: dict[str, Any], old: str, new: str, *, onto_old: bool) -> None:
    """Give a figure that stands at one of two places the other place, too."""
    *old_path, old_name = old.split(".")
    *new_path, new_name = new.split(".")
    for at_old, at_new in zip(_at(data, old_path), _at(data, new_path), strict=False):
        if onto_old and new_name in at_new:
            at_old.setdefault(old_name, at_new[new_name])
        if not onto_old and old_name in at_old:
            at_new.setdefault(new_name, at_old[old_name])


def _at(data: Any, path: list[str]) -> list[dict[str, Any]]:
    found = [data]
    for part in path:
        name = part.removesuffix("[]")
        found = [inner for each in found if (inner := each.get(name)) is not None]
        if part.endswith("[]"):
            found = [row for each in found for row in each]
    return found
