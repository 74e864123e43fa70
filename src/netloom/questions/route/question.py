"""Which routing tables should this fabric have?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.spec import real_number
from netloom.bounds import bisection_bound, busiest_bound
from netloom.fabrics.balancing import balanced
from netloom.fabrics.figures import on_several_switches, table_figures
from netloom.fabrics.program import (
    Flows,
    busiest_time,
    flows_of,
    merged_flows,
    program_times,
    tables_for_program,
)
from netloom.fabrics.repair import table_changes, write_changes
from netloom.fabrics.writing import (
    tree_of,
    write_levels,
    write_lfts,
    write_qos_policy,
    write_slurm_topology,
)
from netloom.questions.base import InstanceOf, option
from netloom.questions.columns import Column, Columns, figure_columns, table
from netloom.questions.fabric.question import cables, tables_of
from netloom.questions.fabric.words import PROVED
from netloom.questions.fields import BrokenParts, HostNames, OnFabric, Placed, Seeded, refuse
from netloom.questions.named import (
    entering,
    network_of,
    num_places,
    placed,
    provenance_of,
    read_program,
)
from netloom.questions.outputs import PLOT, Output, check_in_folder
from netloom.questions.register import Answer, asks
from netloom.routing import ForwardingTable
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.routing.forwarding.lanes import MOST_LANES
from netloom.routing.forwarding.tables import addressed
from netloom.topology.subnets.missing import missing_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.bounds import Bound
    from netloom.fabrics.balancing import Candidate, Objective
    from netloom.fabrics.figures import TableFigures
    from netloom.fabrics.repair import Changes
    from netloom.topology import Topology


_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?")

OBJECTIVES: tuple[Objective, ...] = ("all-to-all", "shifts", "permutations")


class Asked(NamedTuple):
    """What tables should be good for: an objective for all programs, and programs.

    Attributes
    ----------
    objective
        One of ``OBJECTIVES``.
    programs
        Those that come first, none or several.
    """

    objective: Objective
    programs: tuple[Program, ...]

    @property
    def flows(self) -> Flows:
        """All that the programs send, each times its weight, as if they ran at once."""
        return merged_flows([(each.flows, each.weight) for each in self.programs])


class Program(NamedTuple):
    """A program on its hosts.

    Attributes
    ----------
    name
        What was asked for, as it was written.
    weight
        What its bytes count.
    flows
        What its hosts send through the network.
    inside
        The share of its bytes that stays inside nodes.
    """

    name: str
    weight: float
    flows: Flows
    inside: float


@dataclass(frozen=True)
class ProgramCost:
    """What a program's messages keep busy, in bytes over bandwidth, once each.

    Attributes
    ----------
    name
        What was asked for.
    before, after
        The busiest channel between routers by the tables that are installed and by the new ones.
        ``before`` is None if those do not lead to all that the program sends to.
    hosts
        The busiest channel of a host, which no table changes.
    floor
        What no table of this network can beat, between routers.
    why
        What the floor comes from.
    inside
        The share of its bytes that stays inside nodes, and takes no cable.
    """

    name: str
    before: float | None
    after: float
    hosts: float
    floor: float
    why: str
    inside: float

    def to_dict(self) -> dict[str, Any]:
        """Return these figures as plain data."""
        return dict(vars(self))


def asked_for(question: Any, network: Topology) -> Asked:
    """Return what a question's ``wanted`` says, its programs read and placed.

    Raises
    ------
    InputError
        If there are two objectives, a program cannot be read or placed, or sends nothing through
        the network.
    """
    items = question.wanted if isinstance(question.wanted, list) else [question.wanted]
    objectives = [each for each in OBJECTIVES if each in items]
    if len(objectives) > 1:
        raise InputError("for", " and ".join(objectives), "one of these, and programs")
    programs = [_program(item, question, network) for item in items if item not in OBJECTIVES]
    return Asked(objectives[0] if objectives else OBJECTIVES[0], tuple(programs))


def _program(item: Any, question: Any, network: Topology) -> Program:
    """Read ``PROGRAM``, ``WEIGHT*PROGRAM`` or ``PROGRAM@NODES``, and place its tasks."""
    app, weight, nodes = item, 1.0, question.nodes
    if isinstance(item, str):
        before, star, behind = item.partition("*")
        if star and _NUMBER.fullmatch(before):
            app, weight = behind, real_number(before, where="for")
            if weight <= 0:
                raise InputError("for", f"'{item}'", "a weight above 0, such as 2*app.mtx")
        named, at, listed = app.rpartition("@")
        if at:
            app, nodes = named, listed
    own = question.model_copy(update={"nodes": nodes})
    try:
        tasks = num_places(own, network)
        graph = read_program(app, messages=None, parts="network", tasks=tasks, seed=question.seed)
    except InputError as error:
        if isinstance(app, str) and app.isidentifier():
            wanted = f"{', '.join(OBJECTIVES)} or a program such as app.mtx"
            raise InputError("for", f"'{item}'", wanted) from error
        raise
    host_of = placed(own, graph, network)
    flows = flows_of(network, host_of[graph.source], host_of[graph.target], graph.bytes)
    if not len(flows.source):
        found = f"a program whose tasks send nothing from computer to computer: '{item}'"
        raise InputError("for", found, "one that uses the network")
    inside = entering(graph, network, host_of)[1]
    return Program(str(getattr(item, "name", item)), weight, flows, inside)


def costs_of(
    programs: tuple[Program, ...],
    network: Topology,
    before: ForwardingTable,
    after: ForwardingTable,
) -> tuple[ProgramCost, ...]:
    """Return what each program keeps busy by two tables."""
    from netloom.bounds import traffic_bound

    inside = network.num_network_channels
    found = []
    for each in programs:
        old, times = (
            busiest_time(network, before, each.flows), program_times(network, after, each.flows),
        )  # fmt: skip
        new, own = (float(part.max(initial=0.0)) for part in (times[:inside], times[inside:]))
        floor = traffic_bound(network, *each.flows)
        known = old if np.isfinite(old) else None
        found.append(ProgramCost(each.name, known, new, own, floor.value, floor.why, each.inside))
    return tuple(found)


def _refuse_unaddressed(_: Any, ready: Any, __: Mapping[str, str]) -> None:
    """Raise InputError before the search if the fabric has no LIDs to write."""
    addressed(ready.network, "out")


def _write_tables(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_lfts(answer.topology, answer.forwarding, path)
    line = f"Tables: {path}. OpenSM loads them: opensm -R file -U {path}"
    if answer.after.lanes > 1:
        line += f"\n{answer.after.lanes} lanes need a policy of service, too: -Q -Y, --qos-policy"
    return line


def _write_levels(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    return (
        f"Service levels: {path}, {write_levels(answer.topology, answer.forwarding, path):,} lines"
    )


def _write_policy(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_qos_policy(answer.topology, answer.forwarding, path)
    return f"Policy of service: {path}. OpenSM reads it: -Q -Y {path}"


def _write_changes(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_changes(answer.changes, path)
    return f"Changes: {path}"


def _refuse_no_tree(_: Any, ready: Any, __: Mapping[str, str]) -> None:
    tree_of(ready.network)


def _write_slurm(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    return f"Slurm's topology: {path}, {write_slurm_topology(answer.topology, path)} switches"


def _output(name: str, said: str, write: Any, refuse: Any = _refuse_unaddressed) -> Output:
    return Output(name, said, write, check_in_folder, refuse=refuse)


OUT = _output("out", "The tables, as OpenSM dumps and loads them.", _write_tables)
LEVELS = _output("levels", "Service level of each adapter to each LID (ibdmchk --psl).",
                 _write_levels)  # fmt: skip
POLICY = _output("qos_policy", "Service levels as a policy that OpenSM reads (-Q -Y FILE).",
                 _write_policy)  # fmt: skip
CHANGES = _output("changes", "Entries that differ from the installed tables, .csv.", _write_changes)
SLURM = _output("slurm", "The tree as Slurm's topology.conf or .yaml.", _write_slurm,
                _refuse_no_tree)  # fmt: skip


BESIDE = (
    ("bound", "least that the busiest cable of an all-to-all can carry", "paths"),
    ("time_bound", "that bound over bandwidth", "paths"),
    ("ratio", "times that bound", ""),
)
"""Parts of ``TableFigures.beside``, their titles and units."""

CABLES = Columns(
    Column("channel", kind=int),
    Column("from", kind=str),
    Column("from_port", kind=int),
    Column("to", kind=str),
    Column("to_port", kind=int),
    Column("before", "paths of an all-to-all before", kind=Real),
    Column("after", "paths of an all-to-all after", kind=Real),
)

FRONT = Columns(
    Column("all_to_all", "busiest cable of an all-to-all", "paths", kind=Real),
    Column("bisection", "effective bisection bandwidth", "of a host's"),
    Column("shift_max", "busiest cable of the worst shift", "paths", kind=Real),
    Column("shift_mean", "busiest cable of a shift, mean", "paths", kind=Real),
    Column("lanes", kind=int),
)

PROGRAMS = Columns(
    Column("name", "program", kind=str),
    Column("before", "busiest cable before", "bytes"),
    Column("after", "busiest cable after", "bytes"),
    Column("floor", "least that any table can have", "bytes"),
    Column("hosts", "busiest adapter", "bytes"),
    Column("why", "what the least comes from", kind=str),
)


def _beside(name: str, title: str, unit: str) -> Column:
    """Return a column of the bound of an all-to-all."""
    return Column(
        f"all_to_all_{name}", title, unit, json=f"all_to_all.{name}",
        value=lambda found: found.after.beside(found.bound.value)[name],
    )  # fmt: skip


def _changed(name: str, title: str, of: Callable[[Changes], int], **more: Any) -> Column:
    """Return a column of what differs from the installed tables."""
    return Column(
        f"changed_{name}", title, kind=int, json=f"changes.{name}",
        value=lambda found: None if found.changes is None else of(found.changes), **more,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RoutedFabric(Answer):
    """Routing tables of a fabric, beside those that are installed.

    Attributes
    ----------
    topology, engine, objective
        What was asked about. What made the tables, and what they were chosen for.
    installed, forwarding
        The tables that are installed, and the new ones.
    before, after
        What both are worth.
    bound, bisection_bound
        What the busiest cable carries at least in an all-to-all, and what the effective bisection
        bandwidth is at most, whatever the tables.
    front
        Tables that none surpassed in all of all-to-all, permutations and shifts.
    programs
        What the programs that were named keep busy.
    changes
        What differs from the installed tables. None if the fabric has no LIDs.
    missing
        What a regular fabric of this kind would have, and this one has not.
    fallback
        Where OpenSM takes minhop instead of an engine that was named, and why. "" if nowhere.
    """

    topology: Topology
    engine: str
    objective: str
    installed: ForwardingTable
    forwarding: ForwardingTable
    before: TableFigures
    after: TableFigures
    bound: Bound
    bisection_bound: float
    front: tuple[Candidate, ...]
    programs: tuple[ProgramCost, ...]
    changes: Changes | None
    missing: tuple[str, ...]
    fallback: str
    provenance: Provenance

    columns: ClassVar = Columns(
        *figure_columns(lambda found: found.after),
        *(_beside(name, title, unit) for name, title, unit in BESIDE),
        Column("all_to_all_why", kind=str, value="bound.why", json="all_to_all.why", table=False),
        Column("all_to_all_proved", "proved best", value="proved", kind=bool,
               json="all_to_all.proved"),
        Column("effective_bisection_bound", "most that any tables can give", "of a host's",
               value="bisection_bound", json="effective_bisection.bound"),
        _changed("entries", "entries that change", len, key=True),
        _changed("unavoidable", "of them over what is gone", lambda found: found.unavoidable.sum()),
        _changed("blocks", "blocks of 64 LIDs that change", lambda found: found.blocks),
        *figure_columns(lambda found: found.before, prefix="before_", where="before.", key=False),
        Column("front", kind=list, table=False, value=lambda found: found.front_rows),
        Column("missing", kind=list, table=False, value=lambda found: list(found.missing)),
        Column("fallback", kind=str, table=False),
        Column("programs", kind=list, table=False,
               value=lambda found: [each.to_dict() for each in found.programs]),
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("topology", kind=str, value="topology.name"),
        Column("hosts", kind=int, value="after.hosts"),
        Column("switches", kind=int, value="topology.num_routers"),
        Column("cables", kind=int, value="after.cables"),
        Column(
            "several_switches",
            "hosts with ports on several switches",
            kind=int,
            value=lambda found: on_several_switches(found.topology),
        ),
        Column("engine", kind=str),
        Column("objective", kind=str),
        Column("installed", kind=str, value=lambda found: str(found.installed)),
    )

    @property
    def proved(self) -> bool:
        """Whether no tables can keep the busiest cable less busy in an all-to-all."""
        return self.after.longest_time <= self.bound.value * PROVED

    @property
    def front_rows(self) -> list[dict[str, Any]]:
        """The figures of the tables that none surpassed, as plain data."""
        return [FRONT.row(each) for each in self.front]

    @table(CABLES)
    def channel_table(self) -> pl.DataFrame:
        """Return one row per channel between routers: its ends, and its paths before and after."""
        import polars as pl

        return pl.DataFrame({
            "channel": np.arange(self.topology.num_network_channels), **cables(self.topology),
            "before": self.before.paths, "after": self.after.paths,
        })  # fmt: skip

    @table(FRONT)
    def front_table(self) -> pl.DataFrame:
        """Return one row per table that none surpassed."""
        return FRONT.frame_of(self.front_rows)

    @table(PROGRAMS)
    def program_table(self) -> pl.DataFrame:
        """Return one row per program."""
        rows = [{name: getattr(each, name) for name in PROGRAMS.names} for each in self.programs]
        return PROGRAMS.frame_of(rows)

    def __repr__(self) -> str:
        found: dict[str, Any] = self.to_dict()
        return (
            f"<Routing tables of {self.topology.name} ({self.engine}); {self.origin}>\n"
            f"{found['verdict']['sentence']}"
        )


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
    try:
        return tables_of(question.installed, network, gone=question.repair)
    except InputError as error:
        if question.repair:
            raise
        try:
            tables_of(question.installed, network, gone=True)
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
    network, asked, cabling = ready.network, ready.asked, ready.network.cabling
    has_lids = cabling is not None and cabling.port_lid.any()
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
        changes=table_changes(network, ready.installed, table) if has_lids else None,
        missing=missing_parts(network),
        fallback=ready.fallback,
        provenance=provenance_of(question, "route_fabric", network),
    )


def routed(
    question: RouteQuestion, ready: FabricToRoute
) -> tuple[ForwardingTable, tuple[Candidate, ...]]:
    """Return the new table, and the front that it was chosen from."""
    network, asked, seed = ready.network, ready.asked, question.seed
    if question.engine != BALANCED:
        return tables_of(question.engine, network)[0], ()
    if question.repair:
        from netloom.fabrics.repair import repaired

        return repaired(network, ready.installed, seed=seed), ()
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
