"""The last release's names of figures, in one table. This file goes with the next release.

An old place leads to a new one. ``{unit}`` in a place is what the answer's ``time_unit`` says,
``{size}`` what its ``size_unit`` says, ``{technique}`` what its ``switching`` says. ``[]`` stands
for each row of a list.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

PARTS = ("compute", "processor_wait", "source_wait", "message", "contention", "receive")
TIMES = ("ready", "sent", "arrived", "latency", "source_wait", "contention")
"""What a critical path is made of, and the times of messages, in replayed traces."""

FORMER: dict[str, dict[str, str]] = {
    "simulate_flows": {"critical_path.finish_seconds": "finish_seconds"},
    "predict_locality": {"random_distance": "random.distance"},
    "find_saturation": {"throughput_bound": "throughput_bounds.{technique}"},
    "simulate": {"throughput_bound": "throughput_bounds.{technique}"},
    "compile_collective": {
        "algorithm_bandwidth": "speed.algorithm_bandwidth",
        "bound_bandwidth": "speed.bound_bandwidth",
        "bound_seconds": "speed.bound_seconds",
        "bus_bandwidth": "speed.bus_bandwidth",
        "collective": "speed.collective",
        "efficiency": "speed.efficiency",
        "finish_seconds": "speed.finish_seconds",
        "latency_seconds": "speed.latency_seconds",
        "num_ranks": "speed.ranks",
    },
    "compile_phases": {
        "objective": "provenance.configuration.objective",
        "seed": "provenance.seed",
    },
    "analyze": {
        "causes.uplinks.load": "busiest_channel.load",
        "causes.uplinks.rate": "busiest_channel.bandwidth",
    },
    "replay": {
        "unit": "time_unit",
        "{size}": "size",
        "finish_{unit}": "finish",
        "ideal_finish_{unit}": "ideal_finish",
        "alone_{unit}": "alone",
        "bound_{unit}": "bound",
        "in_order_finish_{unit}": "in_order_finish",
        "shared_finish_{unit}": "shared_finish",
        "parallelism_{unit}": "parallelism",
        "busiest_channels": "busiest",
        "busiest[].{size}": "busiest[].size",
        "busiest[].busy_{unit}": "busiest[].busy",
        "busiest_host_channel.{size}": "busiest_host_channel.size",
        "longest_wait.{unit}": "longest_wait.time",
        "critical_path.finish_{unit}": "finish",
        "critical_path.ideal_finish_{unit}": "ideal_finish",
        "critical_path.start_{unit}": "critical_path.start",
        **{
            f"critical_path.{deep}{part}_{{unit}}": f"critical_path.{deep}{part}"
            for part in PARTS
            for deep in ("", "entries[].")
        },
        "critical_path.entries[].complete_{unit}": "critical_path.entries[].complete",
        "slowest_messages[].{size}": "slowest_messages[].size",
        "slowest_messages[].finish_{unit}": "slowest_messages[].complete",
        "slowest_messages[].alone_{unit}": "slowest_messages[].unhindered",
        **{f"slowest_messages[].{part}_{{unit}}": f"slowest_messages[].{part}" for part in TIMES},
    },
    "simulate_hot_spots": {
        "steps.unhindered": "unhindered_steps",
        "pes": "provenance.configuration.pes",
        "switch_size": "provenance.configuration.switch_size",
        "policy": "provenance.configuration.policy",
        "combining": "provenance.configuration.combining",
        "operation": "provenance.configuration.operation",
        "assign": "provenance.configuration.assign",
        "requested_steps": "provenance.configuration.steps",
        "asked_replications": "provenance.configuration.replications",
        "seed": "provenance.seed",
    },
    "find_critical_queue": {
        "pes": "provenance.configuration.pes",
        "hot_spots": "provenance.configuration.hot_spots",
        "policy": "provenance.configuration.policy",
        "requested_steps": "provenance.configuration.steps",
        "rise": "provenance.configuration.rise",
        "seed": "provenance.seed",
    },
    "find_mapping": {
        "before.causes.uplinks.load": "before.busiest_channel.load",
        "before.causes.uplinks.rate": "before.busiest_channel.bandwidth",
        "after.causes.uplinks.load": "after.busiest_channel.load",
        "after.causes.uplinks.rate": "after.busiest_channel.bandwidth",
    },
}
"""Old place -> new place, by the Python function that asks."""

COLUMNS: dict[str, dict[str, str]] = {
    "compare_collectives": {"busiest": "busiest_name"},
    "simulate_flows": {"num_flows": "flows"},
    "predict_latency": {"error": "simulated_error"},
    "predict_torus_broadcast": {"error": "simulated_error"},
    "replay": {
        "{size}": "size",
        "finish_{unit}": "finish complete",
        "alone_{unit}": "alone unhindered",
        **{
            f"{name}_{{unit}}": name
            for name in (
                "ideal_finish",
                "bound",
                *PARTS,
                "complete",
                *TIMES,
                "busy",
                "begin",
                "end",
            )
        },
    },
}
"""Old name -> new name of columns of all tables of an answer, by the function that asks.

Of several new names, it is the first that a table declares.
"""


def old_places(verb: str) -> Iterator[str]:
    """Yield the old places of a question's JSON, in whichever units. Rows of lists have none."""
    return _in_units(old for old in FORMER.get(verb, {}) if "[]" not in old)


def old_columns(verb: str) -> Iterator[str]:
    """Yield the old names of a question's columns, in whichever units."""
    return _in_units(COLUMNS.get(verb, {}))


def _in_units(names: Iterable[str]) -> Iterator[str]:
    for old in names:
        units = product(("cycles", "seconds"), ("flits", "bytes"))
        yield from dict.fromkeys(old.format(unit=unit, size=size) for unit, size in units)


def with_old_keys(verb: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return JSON that has the last release's keys as well. Rows of lists have none."""
    for old, new in FORMER.get(verb, {}).items():
        if "[]" not in old:
            _copy(data, _filled(old, data), _filled(new, data), onto_old=True)
    return data


def with_new_keys(verb: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON, perhaps of the last release, with the keys of this one."""
    found = dict(data)
    for old, new in FORMER.get(verb, {}).items():
        _copy(found, _filled(old, found), _filled(new, found), onto_old=False)
    return found


def with_old_columns(
    verb: str, table: pl.DataFrame, units: Mapping[str, Any], declared: Collection[str]
) -> pl.DataFrame:
    """Return a table that has the last release's columns as well, behind its own.

    A table of the last release has those of this one as well. ``declared`` are their names.
    """
    for old, new in COLUMNS.get(verb, {}).items():
        old = _filled(old, units)
        new = next((each for each in new.split() if each in declared), "")
        for have, lack in ((new, old), (old, new)):
            if new and have in table.columns and lack not in table.columns:
                table = table.with_columns(table[have].alias(lack))
    return table


def old_attribute(answer: Any, verb: str, name: str) -> Any:
    """Return what an attribute was called in the last release. AttributeError if nothing was."""
    if not name.startswith("_"):
        units = {unit: vars(answer).get(unit) for unit in ("time_unit", "size_unit")}
        for old, new in FORMER.get(verb, {}).items():
            if "." not in old and _filled(old, units) == name:
                warnings.warn(f"{name} is now {new}", DeprecationWarning, stacklevel=3)
                found, path = answer, _filled(new, vars(answer)).split(".")
                if not hasattr(answer, path[0]):  # it stands in a group of figures
                    found = answer.to_json()
                for part in path:
                    found = found[part] if isinstance(found, dict) else getattr(found, part)
                return found
    raise AttributeError(f"{type(answer).__name__} has no figure '{name}'")


def _filled(place: str, data: Mapping[str, Any]) -> str:
    return place.format(
        unit=data.get("time_unit", ""),
        size=data.get("size_unit", ""),
        technique=data.get("switching", ""),
    )


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
