"""Which routing tables should this fabric have?"""

from __future__ import annotations

from dataclasses import dataclass
from os.path import isfile
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.fabrics.balancing import balanced
from netloom.fabrics.bisection_bounds import bisection_bound
from netloom.fabrics.bounds import busiest_bound
from netloom.fabrics.changes import table_changes
from netloom.fabrics.figures import table_figures
from netloom.fabrics.program_tables import tables_for_program
from netloom.questions.base import InstanceOf, option
from netloom.questions.fabric.question import tables_of
from netloom.questions.fields import BrokenParts, HostNames, OnFabric, Placed, Seeded, refuse
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.route.answer import RoutedFabric
from netloom.questions.route.files import CHANGES, LEVELS, OUT, POLICY, SLURM
from netloom.questions.route.programs import Asked, asked_for, costs_of
from netloom.routing import ForwardingTable
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.routing.forwarding.lanes import MOST_LANES
from netloom.routing.forwarding.lfts import read_lfts
from netloom.topology.subnets.missing import missing_parts

if TYPE_CHECKING:
    from netloom.fabrics.balancing import Candidate
    from netloom.fabrics.changes import Changes
    from netloom.topology import Topology

BALANCED = "balanced"

INSTALLED = "minhop"
"""What OpenSM installs if nobody says otherwise."""


class RouteQuestion(HostNames, Seeded, Placed, BrokenParts, OnFabric):
    """Which routing tables a fabric should have."""

    engine: str = option(
        "Engine of the tables: balanced (netloom's own), lfts:FILE (to compare two tables), or as "
        f"OpenSM: {', '.join(ENGINES)}.",
        default=BALANCED,
        file=True,
    )
    wanted: str | list[Any] = option(
        "Traffic to optimize for: all-to-all, shifts, permutations, or a program "
        "(app.mtx, app.mtx@NODES, or 2*app.mtx to count double). Repeat it for several "
        "programs.",
        default="all-to-all",
        flags=("--for",),
        several=True,
        file=True,
    )
    lanes: int | None = option(
        "Largest number of virtual lanes.",
        default=None,
        ge=1,
        le=MOST_LANES,
        shown_default="as few as needed",
    )
    installed: str | InstanceOf[ForwardingTable] = option(
        "Installed tables, to compare with or repair: lfts:FILE, or an engine.",
        default=INSTALLED,
        flags=("--routing", "--installed"),
        file=True,
    )
    repair: bool = option(
        "Repair the installed tables, changing as few entries as possible.",
        default=False,
    )
    samples: int = option(
        "Number of random matchings of random halves.", default=1000, ge=2, le=10**5
    )


@dataclass(frozen=True, eq=False)
class FabricToRoute:
    """What a question names: a fabric, the tables it has, and what the new ones are for.

    ``fallback`` says where OpenSM would take minhop instead of an engine that was named, and why.
    """

    network: Topology
    installed: ForwardingTable
    asked: Asked
    fallback: str = ""


def prepare(question: RouteQuestion) -> FabricToRoute:
    """Read the fabric, its tables and the programs."""
    network, _ = network_of(question)
    if question.engine not in (BALANCED, *ENGINES) and not question.engine.startswith("lfts:"):
        wanted = f"{BALANCED}, lfts:FILE, or one of OpenSM's: {', '.join(ENGINES)}"
        raise InputError("engine", f"'{question.engine}'", wanted)
    installed, why = installed_tables(question, network)
    asked = asked_for(question, network)
    if not asked.programs:
        refuse(question, ("count_inside_nodes",), "for PROGRAM, which this says something of")
    if question.engine != BALANCED and (question.repair or question.wanted != "all-to-all"):
        what = "repair" if question.repair else "for"
        raise InputError(what, f"engine {question.engine}", f"engine {BALANCED}, which can do that")
    if question.repair and asked.programs:
        raise InputError("repair", "tables for a program", "one of the two")
    if question.lanes and (question.repair or question.engine != BALANCED):
        found = "repair" if question.repair else f"engine {question.engine}"
        raise InputError("lanes", found, f"no lanes, or engine {BALANCED}, which can do that")
    fallen = [(str(question.installed), why)]
    if question.engine != BALANCED and question.engine != question.installed:
        fallen.append((question.engine, would_fall_back(network, question.engine)))
    fallback = "; ".join(
        f"OpenSM falls back from {name} to minhop: {why}" for name, why in fallen if why
    )
    return FabricToRoute(network, installed, asked, fallback)


def installed_tables(question: RouteQuestion, network: Topology) -> tuple[ForwardingTable, str]:
    """Return the tables that are installed, and why OpenSM would have taken minhop's instead.

    To be repaired, tables may tell of switches and hosts that are gone.
    """
    named = question.installed
    if isinstance(named, str) and isfile(named):  # noqa: PTH113 (a name may be too long for a path)
        named = f"lfts:{named}"
    if not isinstance(named, str) or not named.startswith("lfts:"):
        return tables_of(named, network)
    files = named.removeprefix("lfts:")
    if question.repair:
        return read_lfts(network, files, gone=True), ""
    try:
        return tables_of(named, network)
    except InputError as error:
        try:
            read_lfts(network, files, gone=True)
        except InputError:
            raise error from None
        wanted = f"{error.wanted}; or --repair, if what is not there broke"
        raise InputError(error.where, error.found, wanted) from None


@asks(
    RouteQuestion,
    prepare=prepare,
    title="Routing tables",
    example="netloom route --on examples/dgx-40.ibnetdiscover --out better.lfts",
    page="better-tables-for-my-fabric.md",
    outputs=(PLOT, OUT, CHANGES, POLICY, LEVELS, SLURM),
)
def route_fabric(question: RouteQuestion, ready: FabricToRoute) -> RoutedFabric:
    """Find better routing tables for a fabric, for all programs or for yours.

    Tables say the next channel by destination alone, as a subnet manager loads them. They are free
    of credit loops in as few lanes as possible, bring the busiest cable to what it must carry, and
    keep random permutations good.

    Examples
    --------
    >>> found = route_fabric("leaf-spine:4x2x4", samples=100)
    >>> found.after.most_paths, found.bound.value, found.after.deadlock_free
    (24, 24.0, True)
    """
    network, asked = ready.network, ready.asked
    table, front = routed(question, ready)
    with patience("Judging tables"):
        before, after = (
            table_figures(network, each, samples=question.samples, seed=question.seed)
            for each in (ready.installed, table)
        )
        bound = busiest_bound(network)
    return RoutedFabric(
        topology=network,
        engine="repair" if question.repair else question.engine,
        objective=asked.objective,
        installed=ready.installed,
        forwarding=table,
        before=before,
        after=after,
        bound=bound,
        bisection_bound=bisection_bound(network),
        front=front,
        programs=costs_of(asked.programs, network, ready.installed, table),
        changes=_changes(network, ready.installed, table),
        missing=missing_parts(network),
        fallback=ready.fallback,
        provenance=provenance_of(question, "route_fabric", network),
    )


def _changes(
    network: Topology, installed: ForwardingTable, table: ForwardingTable
) -> Changes | None:
    """Return what differs from the installed tables. None if the fabric has no LIDs."""
    if network.cabling is None or not network.cabling.port_lid.any():
        return None
    return table_changes(network, installed, table)


def routed(
    question: RouteQuestion, ready: FabricToRoute
) -> tuple[ForwardingTable, tuple[Candidate, ...]]:
    """Return the new table, and the front that it was chosen from."""
    network, asked, seed = ready.network, ready.asked, question.seed
    if question.engine != BALANCED:
        return tables_of(question.engine, network)[0], ()
    if question.repair:
        from netloom.fabrics.repair import repaired

        return repaired(network, ready.installed, seed=seed).table, ()
    if asked.programs:
        with patience("Making tables for the program"):
            table = tables_for_program(
                network, ready.installed, asked.flows, lanes=question.lanes,
                objective=asked.objective, seed=seed,
            )  # fmt: skip
        return table, ()
    with patience("Balancing tables"):
        found = balanced(network, lanes=question.lanes, objective=asked.objective, seed=seed)
    return found.table, found.front
