"""Tables of BookSim 2's runs, one run a row, as configurations with latencies at several loads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.spec import real_number, whole_number
from netloom.simulation.network.routers import router
from netloom.simulation.network.sweep import ZERO_LOAD
from netloom_papers.studies.booksim.cases import FAMILIES, MEASURED, WARM_UP, Case, Effort, case_of
from netloom_papers.studies.booksim.runs import IDLE, Asked, Window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LOAD, LATENCY, STABLE, CROSSED = (
    "offered_flits_node_cycle", "avg_packet_latency", "stable", "routers_traversed_mean",
)  # fmt: skip
NEEDED = (
    "family", "topology", "k", "n", "routing", "traffic", "num_vcs", "packet_size", LOAD, LATENCY,
    STABLE,
)  # fmt: skip
"""Columns of a table of runs. ``LOAD`` is in no other."""

OF_A_RUN = {
    LOAD, LATENCY, STABLE, CROSSED, "avg_network_latency", "accepted_flits_node_cycle", "cycles",
    "sim_type", "sample_period", "min_accepted", "deadlock_warnings",
}  # fmt: skip
"""Columns in which the runs of one configuration differ."""

MOST_OF_STABLE = 0.85
"""Of the highest load of a stable run of a configuration (1.01 to 1.08 times saturation), up to
which its runs are compared. Nearer to saturation one seed is off by more than the tolerance."""


def run_cases(lines: Sequence[tuple[str, Mapping[str, str]]], folder: Path) -> list[Case]:
    """Return the configurations of runs: pairs of what messages call a line, and its values.

    Left out are runs that were not stable, that measured throughput, or whose load is above
    ``MOST_OF_STABLE`` of the highest of their configuration.

    Raises
    ------
    InputError
        If a line names what netloom does not have, or a number is none.
    """
    groups: dict[tuple[tuple[str, str], ...], list[tuple[str, Mapping[str, str]]]] = {}
    for where, values in lines:
        if values.get("sim_type", "latency") == "latency" and values[STABLE] == "1":
            key = tuple((column, said) for column, said in values.items() if column not in OF_A_RUN)
            groups.setdefault(key, []).append((where, values))
    return [_case(runs, folder) for runs in groups.values()]


def _case(runs: list[tuple[str, Mapping[str, str]]], folder: Path) -> Case:
    where, first = runs[0]
    case = case_of(_with_cycles(where, first), {}, where, folder)
    found = [(_positive(at, said, LOAD), at, said) for at, said in runs]
    highest = max(load for load, _, _ in found)
    measured, asked = {}, {}
    effort, crossed = case.effort, None
    for load, at, said in sorted(found, key=lambda each: each[0]):
        if load > max(MOST_OF_STABLE * highest, ZERO_LOAD):
            continue
        window = _window(at, said, effort, load)
        item = IDLE if load <= ZERO_LOAD else f"latency at a load of {load:g}"
        measured[item], asked[item] = _positive(at, said, LATENCY), Asked(load, window)
        if item == IDLE:
            crossed = _positive(at, said, CROSSED) if said.get(CROSSED) else None
            effort = effort._replace(idle=window)
    return replace(case, measured=measured, asked=asked, effort=effort, routers_crossed=crossed)


def _with_cycles(where: str, values: Mapping[str, str]) -> Mapping[str, str]:
    """Return a line with the cycles of routers and links that follow from it."""
    if values["family"] not in FAMILIES:
        wanted = f"one of {', '.join(sorted(FAMILIES))}"
        raise InputError(f"{where}, family", f"'{values['family']}'", wanted)
    long = values["topology"] == "torus" and values.get("long_torus_links") == "1"
    cycles = router(FAMILIES[values["family"]]).router_cycles
    return {**values, "router_cycles": str(cycles), "link_cycles": "2" if long else "1"}


def _window(where: str, values: Mapping[str, str], effort: Effort, load: float) -> Window:
    """Return the window of one run. ``sample_period`` is its own here."""
    if not values.get("sample_period"):
        return effort.idle if load <= ZERO_LOAD else effort.window
    said = f"{where}, sample_period"
    period = whole_number(values["sample_period"], where=said, least=1)
    return Window(WARM_UP * period, MEASURED * period)


def _positive(where: str, values: Mapping[str, str], column: str) -> float:
    number = real_number(values[column], where=f"{where}, {column}")
    if number <= 0:
        raise InputError(f"{where}, {column}", f"'{values[column]}'", "a number above 0")
    return number
