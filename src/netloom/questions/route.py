"""Find better routing tables for a fabric, for all programs or for yours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, Number, derived, figure, unseen
from netloom.base.progress import patience
from netloom.base.spec import real_number
from netloom.base.units import size
from netloom.base.words import begun, counted, number, percent
from netloom.drawing.names import base_names
from netloom.fabrics import writing
from netloom.fabrics.balancing import Candidate, Objective, balanced
from netloom.fabrics.figures import (
    PROVED,
    Cable,
    FabricSize,
    TableFigures,
    cables,
    fabric_size,
    limits_of,
    table_figures,
)
from netloom.fabrics.program import (
    Program,
    ProgramCost,
    costs_of,
    flows_of,
    merged_flows,
    tables_for_program,
)
from netloom.questions import named, terminal
from netloom.questions.answers import Answer, Columns, Mark, Parts, Verdict, table
from netloom.questions.base import InstanceOf, option
from netloom.questions.fabric import CLOSE
from netloom.questions.fields import BrokenParts, HostNames, OnFabric, Placed, Seeded, refuse
from netloom.questions.outputs import PLOT, Output, check_in_folder
from netloom.questions.register import asks
from netloom.questions.terminal import interval, short_name
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.routing.forwarding.lfts import named_table
from netloom.routing.forwarding.tables import MOST_LANES, ForwardingTable, addressed
from netloom.topology import Topology
from netloom.topology.names import short_names
from netloom.topology.subnets.shapes import missing_parts

OBJECTIVES: tuple[Objective, ...] = ("all-to-all", "shifts", "permutations")

BALANCED = "balanced"

INSTALLED = "minhop"
"""What OpenSM installs if nobody says otherwise."""

MOST_MISSING = 3
"""Missing parts that a page names."""


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
        "Repair the installed tables, changing as few entries as possible.", default=False
    )
    samples: int = option(
        "Number of random matchings of random halves.", default=1000, ge=2, le=10**5
    )


class Channel(Figures):
    """A channel between switches, and its paths of an all-to-all by both tables."""

    cable: Cable = figure(at=".")
    before: Number = figure("paths of an all-to-all before")
    after: Number = figure("paths of an all-to-all after")


class Side(Figures):
    """One of both tables, as a terminal shows it. ``time`` where cables differ in bandwidth."""

    name: str = figure("tables", lead=True)
    time: float | None = figure(
        "paths over bandwidth, busiest cable", head="paths per bandwidth", lead=True
    )
    figures: TableFigures = figure(at=".")


class RoutedFabric(Answer):
    """Routing tables of a fabric, beside those that are installed.

    Attributes
    ----------
    engine, objective
        What made the tables, and what they were chosen for.
    after, before
        What the new tables are worth, and those that are installed.
    changes
        What differs from the installed tables. None if the fabric has no LIDs.
    front
        Tables that none surpassed in all of all-to-all, permutations and shifts.
    missing
        What a regular fabric of this kind would have, and this one has not.
    fallback
        Where OpenSM takes minhop instead of an engine that was named, and why. "" if nowhere.
    installed, forwarding
        The tables that are installed, and the new ones.
    """

    ABOVE: ClassVar = True

    topology: str
    size: FabricSize = figure(at=".")
    engine: str
    objective: str
    installed_name: str = figure("installed tables", at="installed", table=False)
    after: TableFigures = figure(at=".")
    changes: writing.Changes | None = figure(flat="changed_", key=True)
    before: TableFigures = figure(flat="before_")
    front: tuple[Candidate, ...] = figure("tables that none surpassed")
    programs: tuple[ProgramCost, ...]
    missing: tuple[str, ...]
    fallback: str

    network: Topology = unseen()
    installed: ForwardingTable = unseen()
    forwarding: ForwardingTable = unseen()

    @derived("how much less the busiest cable carries", SHARE, table=False)
    def less(self) -> float | None:
        """Over bandwidth, as a share of what it carries by the tables that are installed."""
        old, new = self.before.all_to_all.time, self.after.all_to_all.time
        return 1 - new / old if old else None

    @property
    def of(self) -> str:
        """The fabric, and what made the tables."""
        programs = [short_name(each.name) for each in self.programs]
        made = {
            BALANCED: f"balanced for {', '.join([*programs, self.objective])}",
            "repair": f"{base_names(self.installed_name)}, repaired",
        }.get(self.engine, f"OpenSM's {self.engine}")
        if self.given:
            made = f"{base_names(self.engine).removeprefix('lfts:')} tables"
        return f"{short_name(self.topology)}, {made}"

    @property
    def given(self) -> bool:
        """Whether the tables are those of a file, to be compared with others."""
        return self.engine.startswith("lfts:")

    @property
    def per_bandwidth(self) -> bool:
        """Whether cables differ in bandwidth, so that paths count over it."""
        both = (self.after.all_to_all, self.before.all_to_all)
        return any(abs(each.max - each.time) > 1e-6 * each.max for each in both)

    def judged(self) -> Verdict:
        """Return whether the tables are better than those that are installed, and by what."""
        mark, said, better = self._found()
        on, engine = self.asked["on"], self.asked["engine"]
        asked, then = {"on": on.removeprefix("fabric:")} if isinstance(on, str) else {}, ""
        if mark == "act" and engine != BALANCED:
            then = self.again(**asked, engine=BALANCED)
        elif better and self.changes is not None and not self.given:
            if self.after.lanes > 1:
                asked["qos_policy"] = "qos-policy.conf"
            then = self.again(out="better.lfts", **asked)
        return Verdict(mark, said, self._lines(), then)

    def _found(self) -> tuple[Mark, str, bool]:
        """Return the mark, the sentence, and whether to install the tables."""
        old, new = self.before, self.after
        never, use = "Do not install these tables:", "Use these tables:"
        if not new.deadlock_free:
            lanes = counted(new.lanes, "lane")
            circle = f"packets in {lanes} can wait for each other in a circle (credit loop)"
            return "act", f"{never} {circle}.", False
        if new.unrouted:
            have = "has" if new.unrouted == 1 else "have"
            pairs = counted(new.unrouted, "pair", ",")
            return "act", f"{never} {pairs} of hosts {have} no path.", False
        if old.unrouted and not self.programs:
            pairs = counted(old.unrouted, "pair", ",")
            gain = f"{'gets' if old.unrouted == 1 else 'get'} a path that the installed ones lack"
            return "fine", f"{use} {pairs} of hosts {gain}.", True
        if not old.deadlock_free:
            loops = "they have no credit loop, the installed ones have"
            return "fine", f"{use} {loops}. The busiest cable carries {self._paths(new)}.", True
        if self.programs:
            return self._of_programs()
        if not new.least.bound:
            cables = counted(self.size.cables, "cable", ",")
            return "fine", f"No packet crosses any of the {cables} between switches.", False
        return self._of_cables(new.least.ratio or 1.0)

    def _of_cables(self, ratio: float) -> tuple[Mark, str, bool]:
        """Return what the tables do for all programs: first for the busiest cable."""
        old, new, least = self.before.all_to_all.time, self.after.all_to_all.time, self.after.least
        bound = number(least.time_bound if self.per_bandwidth else least.bound)
        limit, gain, more = _least(ratio, bound), self._other_gain(), new > old * PROVED
        mark: Mark = "fine" if ratio <= CLOSE else "limited"
        was, now = number(self._busiest(self.before)), self._paths(self.after)
        use, keep = "Use these tables:", "Keep the installed tables: the busiest cable"
        if old > new * PROVED:
            fewer = f"the busiest cable carries {percent(self.less)} less ({was} → {now})"
            return mark, f"{use} {fewer}; {limit}.", True
        if gain and more:
            gain = begun(gain)
            return "limited", f"{gain}, but the busiest cable carries more: {now}, not {was}.", True
        if gain:
            return mark, f"{use} {gain}. The busiest cable carries {now} by both.", True
        if more:
            return "limited", f"{keep} would carry more, {now}, not {was}; {limit}.", False
        return mark, f"{keep} carries {now} by both; {limit}.", False

    def _other_gain(self) -> str:
        """Return what the tables gain in matchings or in shifts. "" if nothing that shows."""
        new, old = self.after.effective_bisection, self.before.effective_bisection
        if new.mean is not None and old.mean is not None:
            error = (((new.sd or 0) ** 2 + (old.sd or 0) ** 2) / new.samples) ** 0.5
            if new.mean > old.mean + 3 * error:
                gets = f"random pairs get {percent(new.mean)} of a host's bandwidth"
                return f"{gets} instead of {percent(old.mean)}"
        now, was = self.after.shifts.mean, self.before.shifts.mean
        if now < 0.99 * was:
            return f"a shift puts {number(now)} instead of {number(was)} paths on its busiest cable"
        return ""

    def _busiest(self, of: TableFigures) -> float:
        """Return the paths of the busiest cable, over bandwidth where cables are not alike."""
        return of.all_to_all.time if self.per_bandwidth else of.all_to_all.max

    def _paths(self, of: TableFigures) -> str:
        paths = counted(number(self._busiest(of)), "path")
        return f"{paths} per unit of bandwidth" if self.per_bandwidth else paths

    def _of_programs(self) -> tuple[Mark, str, bool]:
        """Return what the tables do for the program that they leave farthest from its least."""
        worst = max(self.programs, key=lambda each: each.after / (each.floor or 1))
        name, old, new = short_name(worst.name), worst.before, worst.after
        if not new:
            many = counted(len(self.programs), "program")
            none = f"No byte of {many} crosses a cable between switches: 0 B to route."
            return "fine", none, False
        ratio = worst.ratio or 1.0
        limit = _least(ratio, size(worst.floor))
        if ratio > PROVED and new <= worst.hosts:
            limit = f"its busiest adapter sends {size(worst.hosts)}"
        mark: Mark = "limited" if ratio > CLOSE and new > worst.hosts else "fine"
        busiest = f"the busiest cable{f' of {name}' if len(self.programs) > 1 else ''} carries"
        use, keep = "Use these tables:", "Keep the installed tables:"
        if old is None:
            lack = "and the installed ones do not lead to all its hosts"
            return mark, f"{use} {busiest} {size(new)}, {lack}; {limit}.", True
        if old != new and max(old, new) <= worst.hosts:
            adapter = f"the busiest adapter of {name} sends {size(worst.hosts)}"
            than = f"{size(old)} ({size(new)} by these)"
            return "fine", f"{keep} {adapter}, a cable between switches no more than {than}.", False
        if old > new * PROVED:
            less = f"{percent(worst.less)} less ({size(old)} → {size(new)})"
            return mark, f"{use} {busiest} {less}; {limit}.", True
        if new > old * PROVED:
            by = f"{size(new)}, {size(old)} by the installed tables"
            return "limited", f"{begun(busiest)} more: {by}; {limit}.", False
        return mark, f"{keep} {busiest} {size(new)} by both; {limit}.", False

    def _lines(self) -> dict[str, str]:
        """Return what else changes, and what goes with it."""
        lines, changes = {}, self.changes
        half, old = self.after.effective_bisection, self.before.effective_bisection
        if half.mean is not None and old.mean is not None:
            now, sure = percent(half.mean), ""
            if half.error:
                now = f"{interval(100 * half.mean, 100 * half.error)}\u00a0%"
                sure = " (95\u00a0% interval)"
            get = f"random pairs get {percent(old.mean)} → {now} of a host's bandwidth{sure}"
            lines["halves"] = f"{get}, at most {percent(half.bound)}"
        if changes and changes.entries:
            gone = f"; {number(changes.unavoidable)} of them led over what is gone"
            change = "changes" if changes.entries == 1 else "change"
            lines["cost"] = f"{counted(number(changes.entries), 'entry')} {change} in "
            lines["cost"] += f"{counted(number(changes.blocks), 'block')} of 64 LIDs"
            lines["cost"] += gone * bool(changes.unavoidable)
        if self.after.lanes > 1:
            lines["lanes"] = f"{self.after.lanes} lanes, which OpenSM gives by service level"
            lines["lanes"] += ": -Q -Y qos-policy.conf" * bool(changes)
        return lines | {"care": self.fallback, "ports": self.size.ports}

    def figure_lines(self, width: int) -> list[str]:
        """Return both tables, a row each, and what programs keep busy."""
        both = (("installed", self.before), ("new", self.after))
        rows = [
            Side(name=name, time=each.all_to_all.time if self.per_bandwidth else None, figures=each)
            for name, each in both
        ]
        found = terminal.table(rows, self, width)
        if self.programs:
            found += ["", *terminal.table(self.programs, self, width)]
        return found

    def remarks(self) -> Iterator[str]:
        """Yield what else there is to know."""
        for each in self.programs:
            yield self.plainly(f"Limit of {each.name}: {each.why}.")
            if each.inside:
                share = percent(each.inside)
                yield f"{share} of the traffic of {each.name} stays inside nodes, without a cable."
        half = self.after.effective_bisection
        if half.mean is not None and half.bound is not None and half.mean > half.bound:
            yield "The effective bisection bandwidth is above its limit by chance of the matchings."
        if self.missing:
            more = len(self.missing) - MOST_MISSING
            rest = f"; {more} more: netloom fabric" * (more > 0)
            yield self.plainly(f"Missing: {'; '.join(self.missing[:MOST_MISSING])}{rest}.")
        yield f"{self.topology.removeprefix('fabric:')}: {self.size.words()}"

    def plainly(self, name: str) -> str:
        """Return words with the names of switches as people see them, where these are known."""
        return terminal.in_short(name, self._short)

    @cached_property
    def _short(self) -> dict[str, str]:
        """The short names of switches. Of an answer from a store its file may be gone: none."""
        network = named.network_again(self.network, self.asked)
        return short_names(network.routers.labels) if network else {}

    @table(Channel)
    def channel_table(self) -> Columns:
        """Return one row per channel between routers: its ends, and its paths before and after."""
        return {**cables(self.network), "before": self.before.paths, "after": self.after.paths}

    def footer(self) -> list[str]:
        """Return what was asked about."""
        return [f"{self.topology.removeprefix('fabric:')}: {self.size.words()}"]

    def parts(self) -> Parts:
        """Return the paths of each channel by both tables, and the network by what changes."""
        import numpy as np

        from netloom.drawing.axes import AFTER, OTHERS, ranked
        from netloom.drawing.networks.chart import PATHS, network_chart

        channels, every = self.channel_table(), self.after.all_to_all
        looks = {f"installed: {base_names(self.installed_name)}": OTHERS, "new": AFTER}
        paths = dict(zip(looks, (channels["before"], channels["after"]), strict=True))
        old, said = self.before.all_to_all.max, f"{number(every.max)} paths on the busiest cable"
        if old != every.max:
            said += f" instead of {number(old)}"
        bound = every.bound if every.time == every.max else None  # it is over bandwidth
        drawn = {"cables": ranked(paths, looks, said, bound=bound)}
        if channels.height:
            net = named.network_again(self.network, self.asked)
            if net is not None and net.num_network_channels != channels.height:
                net = None  # the file is another by now
            before, after = (
                channels[name].to_numpy().astype(np.float64) for name in ("before", "after")
            )
            drawn["network"] = network_chart(net, after, PATHS, before=before)
        return drawn


def _least(ratio: float, bound: str) -> str:
    """Return how far the busiest cable is above the least that any tables can have."""
    if ratio <= PROVED:
        return "no tables can do better (proved)"
    if ratio < 2:
        return f"{percent(ratio - 1)} above the least possible ({bound})"
    return f"{number(ratio)}× the least possible ({bound})"


def _refuse_unaddressed(name: str, _: Any, ready: FabricToRoute) -> None:
    """Raise InputError before the search if the fabric has no LIDs to write. ``name``: the file."""
    addressed(ready.network, name)


def _write_tables(answer: Any, path: Path) -> str:
    writing.write_lfts(answer.network, answer.forwarding, path)
    line = f"Tables: {path}. OpenSM loads them: opensm -R file -U {path}"
    if answer.after.lanes > 1:
        line += f"\n{answer.after.lanes} lanes need a policy of service, too: -Q -Y, --qos-policy"
    return line


def _write_levels(answer: Any, path: Path) -> str:
    lines = writing.write_levels(answer.network, answer.forwarding, path)
    return f"Service levels: {path}, {lines:,} lines"


def _write_policy(answer: Any, path: Path) -> str:
    writing.write_qos_policy(answer.network, answer.forwarding, path)
    return f"Policy of service: {path}. OpenSM reads it: -Q -Y {path}"


def _write_changes(answer: Any, path: Path) -> str:
    writing.write_changes(answer.changes, path)
    return f"Changes: {path}"


def _write_slurm(answer: Any, path: Path) -> str:
    return (
        f"Slurm's topology: {path}, {writing.write_slurm_topology(answer.network, path)} switches"
    )


OUTPUTS = tuple(
    Output(name, said, write, check_in_folder, refuse=partial(_refuse_unaddressed, name))
    for name, said, write in (
        ("out", "The tables, as OpenSM dumps and loads them.", _write_tables),
        ("changes", "Entries that differ from the installed tables, .csv.", _write_changes),
        ("qos_policy", "Service levels as a policy that OpenSM reads (-Q -Y FILE).", _write_policy),
        ("levels", "Service level of each adapter to each LID (ibdmchk --psl).", _write_levels),
    )
)

SLURM = Output(
    "slurm",
    "The tree as Slurm's topology.conf or .yaml.",
    _write_slurm,
    check_in_folder,
    refuse=lambda _, ready: writing.tree_of(ready.network),
)


@dataclass(frozen=True, eq=False)
class FabricToRoute:
    """What a question names: a fabric, the tables it has, and what the new ones are for.

    That is an objective for all programs, and ``programs`` first. ``fallback`` says where OpenSM
    would take minhop instead of an engine that was named, and why.
    """

    network: Topology
    installed: ForwardingTable
    objective: Objective
    programs: tuple[Program, ...]
    fallback: str = ""


def prepare(question: RouteQuestion) -> FabricToRoute:
    """Read the fabric, its tables and the programs."""
    network, _ = named.network_of(question)
    if question.engine not in (BALANCED, *ENGINES) and not question.engine.startswith("lfts:"):
        wanted = f"{BALANCED}, lfts:FILE, or one of OpenSM's: {', '.join(ENGINES)}"
        raise InputError("engine", f"'{question.engine}'", wanted)
    installed, why = _installed(question, network)
    items = question.wanted if isinstance(question.wanted, list) else [question.wanted]
    objectives = [each for each in OBJECTIVES if each in items]
    if len(objectives) > 1:
        raise InputError("for", " and ".join(objectives), "one of these, and programs")
    programs = [_program(item, question, network) for item in items if item not in OBJECTIVES]
    if not programs:
        refuse(question, ("count_inside_nodes",), "for PROGRAM, which this says something of")
    if question.engine != BALANCED and (question.repair or question.wanted != "all-to-all"):
        what = "repair" if question.repair else "for"
        raise InputError(what, f"engine {question.engine}", f"engine {BALANCED}, which can do that")
    if question.repair and programs:
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
    objective = objectives[0] if objectives else OBJECTIVES[0]
    return FabricToRoute(network, installed, objective, tuple(programs), fallback)


def _installed(question: RouteQuestion, network: Topology) -> tuple[ForwardingTable, str]:
    """Return the tables that are installed, and why OpenSM would have taken minhop's instead.

    To be repaired, tables may tell of switches and hosts that are gone.
    """
    try:
        return named_table(question.installed, network, gone=question.repair)
    except InputError as error:
        if question.repair:
            raise
        try:
            named_table(question.installed, network, gone=True)
        except InputError:
            raise error from None
        wanted = f"{error.wanted}; or --repair, if what is not there broke"
        raise InputError(error.where, error.found, wanted) from None


def _program(item: Any, question: RouteQuestion, network: Topology) -> Program:
    """Read ``PROGRAM``, ``WEIGHT*PROGRAM`` or ``PROGRAM@NODES``, and place its tasks."""
    app, weight, nodes = item, 1.0, question.nodes
    if isinstance(item, str):
        before, star, behind = item.partition("*")
        if star and re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?", before):
            app, weight = behind, real_number(before, where="for")
            if weight <= 0:
                raise InputError("for", f"'{item}'", "a weight above 0, such as 2*app.mtx")
        program, at, listed = app.rpartition("@")
        if at:
            app, nodes = program, listed
    own = question.model_copy(update={"nodes": nodes})
    try:
        tasks = named.num_places(own, network)
        graph = named.read_program(
            app, messages=None, parts="network", tasks=tasks, seed=question.seed
        )
    except InputError as error:
        if isinstance(app, str) and app.isidentifier():
            wanted = f"{', '.join(OBJECTIVES)} or a program such as app.mtx"
            raise InputError("for", f"'{item}'", wanted) from error
        raise
    host_of = named.placed(own, graph, network)
    flows = flows_of(network, host_of[graph.source], host_of[graph.target], graph.bytes)
    if not len(flows.source):
        found = f"a program whose tasks send nothing from computer to computer: '{item}'"
        raise InputError("for", found, "one that uses the network")
    inside = named.entering(graph, network, host_of)[1]
    return Program(str(getattr(item, "name", item)), weight, flows, inside)


@asks(
    RouteQuestion,
    prepare=prepare,
    title="Routing tables",
    example="netloom route --on examples/dgx-40.ibnetdiscover --out better.lfts",
    page="better-tables-for-my-fabric.md",
    outputs=(PLOT, *OUTPUTS, SLURM),
)
def route_fabric(question: RouteQuestion, ready: FabricToRoute) -> RoutedFabric:
    """Find better routing tables for a fabric, for all programs or for yours.

    Tables say the next channel by destination alone, as a subnet manager loads them. They are free
    of credit loops in as few lanes as possible, bring the busiest cable to what it must carry, and
    keep random permutations good.

    Examples
    --------
    >>> found = route_fabric("leaf-spine:4x2x4", samples=100)
    >>> found.after.all_to_all.max, found.after.all_to_all.bound, found.after.deadlock_free
    (24, 24.0, True)
    """
    network, installed, cabling = ready.network, ready.installed, ready.network.cabling
    has_lids = cabling is not None and cabling.port_lid.any()
    made, front = routed(question, ready)
    many, seed = question.samples, question.seed
    with patience("Judging tables"):
        limits = limits_of(network)
        before = table_figures(network, installed, samples=many, seed=seed)
        after = table_figures(network, made, samples=many, seed=seed, limits=limits)
    return RoutedFabric(
        topology=network.name,
        size=fabric_size(network),
        engine="repair" if question.repair else question.engine,
        objective=ready.objective,
        installed_name=str(installed),
        after=after,
        changes=writing.table_changes(network, installed, made) if has_lids else None,
        before=before,
        front=front,
        programs=costs_of(ready.programs, network, installed, made),
        missing=missing_parts(network),
        fallback=ready.fallback,
        network=network,
        installed=installed,
        forwarding=made,
        provenance=named.provenance_of(question, "route_fabric", network),
    )


def routed(
    question: RouteQuestion, ready: FabricToRoute
) -> tuple[ForwardingTable, tuple[Candidate, ...]]:
    """Return the new table, and the front that it was chosen from."""
    network, seed = ready.network, question.seed
    if question.engine != BALANCED:
        return named_table(question.engine, network)[0], ()
    if question.repair:
        return writing.repaired(network, ready.installed, seed=seed), ()
    if ready.programs:
        flows = merged_flows([(each.flows, each.weight) for each in ready.programs])
        with patience("Making tables for the program"):
            found = tables_for_program(
                network,
                ready.installed,
                flows,
                lanes=question.lanes,
                objective=ready.objective,
                seed=seed,
            )
        return found, ()
    with patience("Balancing tables"):
        best = balanced(network, lanes=question.lanes, objective=ready.objective, seed=seed)
    return best.table, best.front
