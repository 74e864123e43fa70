"""Feldmann et al. 1993, Tables 4 and 6: finite elements, on meshes of about the paper's sizes.

The paper's meshes are not known. gmsh generated these and METIS partitioned them
(``netloom.workload.meshes.finite_elements``); parts, words and neighbours are kept in the data
folder.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.phases import connections, partition, schedule, verify
from netloom.phases.execute.execution import execute
from netloom.studies.feldmann_phases import IWARP, TWELVE
from netloom.studies.feldmann_simulated import overhead_of
from netloom.studies.feldmann_tables import SPARSE, inferred_words
from netloom.studies.validation import published
from netloom.workload import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.phases import Connections, Plan, Timetable
    from netloom.studies.comparing import Part

DATA = files("netloom.studies").joinpath("data", "feldmann")

MESHES = ("m11k", "c10k", "c100k", "q20k")

STRUCTURE = {
    "elements": "num_elements",
    "nodes": "num_nodes",
    "least elements of a processor": "least_elements",
    "most elements of a processor": "most_elements",
    "least words of a processor": "least_words",
    "most words of a processor": "most_words",
    "in/out-degree": "most_neighbours",
}
"""Rows of Table 4, and what they are in ``meshes.json``."""


class Compiled(NamedTuple):
    """A mesh's connections in phases, and their timetable."""

    plan: Plan
    timetable: Timetable

    @property
    def words(self) -> float:
        """W: words of all phases' timetables, one after the other."""
        return float(self.timetable.makespan.sum()) / SPARSE.clocks_per_word


@cache
def interface(mesh: str) -> Connections:
    """Return what the parts of a mesh tell each other, part i on node i of the torus."""
    with as_file(DATA.joinpath(f"{mesh}.mtx")) as path:
        return connections(read(str(path)), np.arange(64), 64)


def most_words(mesh: str) -> int:
    """Return c_max, the most words that a processor sends, or receives.

    Examples
    --------
    >>> most_words("m11k")
    66
    """
    given = interface(mesh)
    return int(max(np.bincount(end, given.words).max() for end in (given.source, given.target)))


@cache
def compiled(mesh: str, *, as_published: bool) -> Compiled:
    """Return netloom's own plan and timetable, or those of the algorithms as published."""
    method: Literal["sequential", "auto"] = "sequential" if as_published else "auto"
    plan = partition(interface(mesh), IWARP, TWELVE, costs=SPARSE, method=method)
    timetable = schedule(plan, SPARSE, tries=0 if as_published else None)
    verify(plan, timetable, SPARSE)
    return Compiled(plan, timetable)


def simulated_clocks(mesh: str, overhead_clocks: float) -> float:
    """Return what the plan of the algorithms as published takes, simulated flit by flit."""
    made = compiled(mesh, as_published=True)
    run = execute(made.plan, SPARSE, timetable=made.timetable)
    return run.clocks + made.plan.num_phases * (overhead_clocks - SPARSE.switch_clocks)


def _structure(_: Mapping[str, Any]) -> dict[str, Any]:
    ours = json.loads(DATA.joinpath("meshes.json").read_text())["meshes"]
    return {
        f"{mesh}, {quantity}": ours[mesh][name]
        for mesh in MESHES
        for quantity, name in STRUCTURE.items()
    }


def _phases(known: Mapping[str, Any]) -> dict[str, Any]:
    """Phases of those plans that are asked for."""
    found = {}
    for quantity in known["values"]:
        mesh, as_published = quantity.partition(",")[0], "sequential APR" in quantity
        found[quantity] = compiled(mesh, as_published=as_published).plan.num_phases
    return found


def _goal(_: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{mesh}, at most": above_least(mesh, as_published=False) for mesh in MESHES}


def above_least(mesh: str, *, as_published: bool) -> float:
    """Return how far a mesh's timetables are above their least: W over 2 c_max."""
    return compiled(mesh, as_published=as_published).words / (2 * most_words(mesh))


def _measured(_: Mapping[str, Any]) -> dict[str, Any]:
    """Phases as long as table 1 has them, for the words that the paper's predictions imply."""
    predicted, overhead = (
        published("feldmann/published")["table 6, ConSet predicted"],
        overhead_of(),
    )
    found = {}
    for quantity, clocks in predicted["values"].items():
        mesh = quantity.partition(",")[0]
        phases = predicted["meshes"][mesh]["phases"]
        words = inferred_words(phases, clocks)
        found[mesh] = phases * overhead + SPARSE.clocks_per_word * words
    return found


PARTS: dict[str, Part] = {
    "table 4, structure": _structure,
    "table 4, phases": _phases,
    "table 6, goal of W over 2 c_max": _goal,
    "table 6, measured": _measured,
}
"""What recomputes each item of the data file, from what the file says of it."""
