"""Tables of BookSim 2's runs: their configurations as networks, and short runs as it makes them.

A table is a CSV file, of one configuration or one run a row.

Near saturation a short run's mean latency is far below that of the steady state, and differs from
seed to seed. So runs are as long as the reference's: a start-up is left out, a window measured,
then the network runs on until every packet of the window has arrived. Measured are the packets
created before the window's end that came to the head of their source's queue in it. Traffic counts
as accepted when it leaves the network within the window. The mean of several seeds is compared: one
has a scatter of up to 3 % at 80 % of saturation.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from math import inf, sqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import DeadlockError, InputError
from netloom.base.spec import real_number, whole_number
from netloom.base.textfiles import file_kind, read_text
from netloom.routing import VirtualChannelRouting
from netloom.routing.by_hop.hosted import hop_circle
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import Router, router
from netloom.simulation.network.run import ZERO_LOAD, Run
from netloom.simulation.steady import Delivered
from netloom.topology import Topology
from netloom.workload import Traffic, parse_arrivals, parse_lengths
from netloom_papers.ledger import published
from netloom_papers.studies.booksim import networks

Stopped: TypeAlias = Callable[[], bool]
"""Whether to end at once."""

NETWORK_FILES = Path(str(files("netloom_papers.studies").joinpath("data", "anynet")))
"""Where the network files of the recorded configurations are."""

FAMILIES: dict[str, str] = networks.NAMES["families"]
"""The router preset of each of the reference's router families."""

# Columns of every table, of tables of configurations, and of tables of runs. Meshes and tori have
# ``link_cycles`` as well, and only tables of runs have ``LOAD``.
LOAD, LATENCY, STABLE = "offered_flits_node_cycle", "avg_packet_latency", "stable"
ALL = ("family", "topology", "k", "n", "routing", "traffic", "num_vcs", "packet_size")
NEEDED, NEEDED_OF_RUNS = (*ALL, "router_cycles"), (*ALL, LOAD, LATENCY, STABLE)

CROSSED, CROSSED_BY_RUN = "zero_load_routers_traversed", "routers_traversed_mean"
"""The column of the mean routers that packets crossed at next to no load."""

OF_A_RUN = {
    LOAD, LATENCY, STABLE, CROSSED_BY_RUN, "avg_network_latency", "accepted_flits_node_cycle",
    "cycles", "sim_type", "sample_period", "min_accepted", "deadlock_warnings",
}  # fmt: skip
"""Columns in which the runs of one configuration differ."""

MOST_OF_STABLE = 0.85
"""Of the highest load of a stable run of a configuration (1.01 to 1.08 times saturation), up to
which its runs are compared. Nearer to saturation one seed is off by more than the tolerance."""

WARM_UP, MEASURED, IDLE_TIMES = 3, 7, 3
"""Sample periods left out and measured, and how many times as long they are at next to no load,
in tables that say ``sample_period``."""

PAST_SATURATION, PAST_PATIENCE = (1.1, 1.25), (1.035,)
"""Times the saturation load at which to look for the highest accepted traffic as well. The
reference's runs went up to 1.05 to 1.4 times. If it gave up runs, its last complete run was at 1.01
to 1.08 times, on average 1.036."""

LEAST_PATIENCE, PATIENCE = 200.0, 5.0
"""Mean latency at which the reference gives up a run: in cycles, and times that of an idle
network."""

IDLE, AT_50, AT_80, SATURATION, PEAK = published("router")["items"]["runs"]["compared"]
"""What is measured of a configuration."""

PARTS = {AT_50: 0.5, AT_80: 0.8}

SEEDS = (1, 2, 3, 4)

MOST_DRAIN = 20_000
"""Cycles after the window in which its packets must arrive. Their mean latency is infinite else."""

LATENCY_FACTOR = 3.0
"""How many times the latency of an idle network means saturation, in the reference."""

BRACKET = 0.03
"""How close, as a fraction of the load, the reference closed in on that."""

BEYOND = 1.5
"""Times the throughput bound: where short runs are saturated as well. (A little above the bound
they may not be: what cannot leave has not had the time to pile up.)"""

STEP = 500
"""Cycles after the window between two looks at whether its packets have arrived."""

SAMPLED = 4.0
"""Standard errors within which the ways of the reference's few packets are a matter of chance."""

HOPELESS = 5.0
"""Times the latency of saturation: a run whose mean is sure to be above that ends there."""


class Window(NamedTuple):
    """Cycles of a short run: left out at the start, and measured."""

    start: int
    cycles: int


Asked: TypeAlias = tuple[float, Window]
"""A run whose latency is wanted: its load (flits/node/cycle) and its window."""


class ShortRun(NamedTuple):
    """What a short run comes to.

    Attributes
    ----------
    latency
        Mean latency of the packets measured, cycles. What it is at least, if not all arrived.
    accepted
        Traffic accepted within the window, flits/node/cycle.
    latencies, hops
        int32[num_packets], of each in cycles, and between routers. None if not all arrived.
    """

    latency: float
    accepted: float
    latencies: Ints | None = None
    hops: Ints | None = None


IDLE_WINDOW, WINDOW = Window(8_000, 24_000), Window(4_000, 6_000)
"""Windows of tables that do not say their ``sample_period``. The reference's accepted traffic times
its nodes and cycles must be a whole number of flits. That, and how long its runs took, gives
them."""


@dataclass(frozen=True, eq=False)
class Case:
    """One configuration: what the reference measured, and the network to measure it on.

    Attributes
    ----------
    name
        The configuration in words.
    measured
        The reference's numbers, by item.
    network, router, traffic, flits
        The configuration.
    routing
        None where netloom refuses it.
    difference
        What is known to differ in kind. Empty in most.
    window
        The window of runs that look for saturation.
    gives_up
        Whether runs whose latency is above a limit are left out there.
    routers_crossed
        Of the reference's packets at next to no load, in the mean. None where its table does not
        say so.
    asked
        The load and window of each latency that is wanted.
    """

    name: str
    measured: Mapping[str, float]
    network: Topology
    router: Router
    traffic: Traffic
    flits: int
    routing: VirtualChannelRouting | None
    difference: str
    window: Window
    gives_up: bool
    routers_crossed: float | None
    asked: Mapping[str, Asked]

    def run(self, load: float, seed: int) -> Run:
        """Return a run that has not begun."""
        assert self.routing is not None
        system = self.network, self.routing, self.router, self.traffic
        return Run(*system, load, **packets_of(self.flits), seed=seed)


def packets_of(flits: int) -> dict[str, Any]:
    """Return what a run is told of packets of one length that come by Bernoulli processes."""
    return {"lengths": parse_lengths(str(flits)), "arrivals": parse_arrivals("bernoulli")}


class Line(NamedTuple):
    """A line of a table: its words by column, what messages call it, and the table's folder.

    Network files are looked for in the folder.
    """

    values: Mapping[str, str]
    where: str
    folder: Path = NETWORK_FILES

    def whole(self, field: str, default: int | None = None, *, least: int = 1) -> int:
        """Return a whole number. The default where the column is missing or blank."""
        if default is not None and not self.values.get(field):
            return default
        if field not in self.values:
            raise self.wrong(field, "no such column", "one, for this topology")
        return whole_number(self.values[field], where=f"{self.where}, {field}", least=least)

    def wrong(self, field: str, found: str, wanted: str) -> InputError:
        """Return the mistake in a field."""
        return InputError(f"{self.where}, {field}", found, wanted)

    def one_of(self, field: str, names: Iterable[str], key: str | None = None) -> str:
        """Return a word, or what it is the ``key`` of, which must be one of some."""
        known, word = sorted(names), self.values[field] if key is None else key
        if word not in known:
            raise self.wrong(field, f"'{self.values[field]}'", f"one of {', '.join(known)}")
        return word

    def positive(self, field: str) -> float:
        """Return a number above 0."""
        number = real_number(self.values[field], where=f"{self.where}, {field}")
        if number <= 0:
            raise self.wrong(field, f"'{self.values[field]}'", "a number above 0")
        return number

    def window(self, default: Window, times: int = 1) -> Window:
        """Return the window of so many times its ``sample_period``. The default if it is blank."""
        period = times * self.whole("sample_period", 0)
        return Window(WARM_UP * period, MEASURED * period) if period else default

    def file(self) -> str:
        """Return the path of the ``network_file``. One that is recorded, where none is found."""
        said = self.values.get("network_file", "")
        beside = self.folder, self.folder.parent / "data" / "fabrics" / "anynet"
        places = [*(place / said for place in beside), NETWORK_FILES / Path(said).name]
        for path in map(str, places):
            if said and file_kind(path) == "a file":
                return path
        shown = " or in ".join(str(place.parent) for place in places)
        raise self.wrong("network_file", f"'{said}'", f"a file in {shown}")


def case_of(line: Line, columns: Mapping[str, str]) -> Case:
    """Return the configuration of one line of a table.

    ``columns`` has the column of each item that was measured. What is blank there was not.
    """
    values = line.values
    kind = line.one_of("topology", networks.KINDS)
    usual = {"k": None, "n": None, "c": 1, "x": 8, "xr": 1}
    sizes = [line.whole(name, default) for name, default in usual.items()]
    by_length = line.whole("use_noc_latency", 1, least=0) != 0
    file = line.file() if kind == "anynet" else ""
    shape = networks.Shape(kind, *sizes, by_length=by_length, file=file)
    vcs, flits = line.whole("num_vcs"), line.whole("packet_size")
    model = router(
        FAMILIES[line.one_of("family", FAMILIES)],
        vcs=vcs,
        buffer_flits=line.whole("vc_buf_size", 8),
        channel_cycles=line.whole("link_cycles") if kind in networks.CUBES else 1,
    )
    if line.whole("router_cycles") != model.router_cycles:
        found, wanted = f"'{values['router_cycles']}'", f"{model.router_cycles} of this family"
        raise line.wrong("router_cycles", found, wanted)
    function = values["routing"].removesuffix(f"_{kind}")
    line.one_of("routing", networks.ROUTINGS[kind], function)
    try:
        made = networks.network(shape)
        sent = networks.pattern(values["traffic"], shape, made)
    except InputError as error:
        raise InputError(f"{line.where}, {error.where}", error.found, error.wanted) from None
    told, virtual = "", None
    try:
        virtual, difference = networks.routing_of(shape, made, function, vcs)
        if not made.direct:
            told = _circles(made, virtual)
    except InputError as error:
        difference = f"netloom refuses it: {error}"
    links = "" if model.channel_cycles == 1 else f", links of {model.channel_cycles} cycles"
    name = (
        f"{function} {values['traffic']} on {made.name}, {values['family']}, "
        f"{vcs} VCs of {model.buffer_flits}, {flits} flits{links}{told}"
    )
    said = {item: line.positive(column) for item, column in columns.items() if values.get(column)}
    if SATURATION not in said:
        said = {item: value for item, value in said.items() if item not in PARTS}
    window, crossed = line.window(WINDOW), line.positive(CROSSED) if values.get(CROSSED) else None
    parts = {item: part for item, part in PARTS.items() if item in said}
    asked = {item: (part * said[SATURATION], window) for item, part in parts.items()}
    if said:
        asked[IDLE] = ZERO_LOAD, line.window(IDLE_WINDOW, IDLE_TIMES)
    gives_up = bool(values.get("sample_period"))
    return Case(
        name, said, made, model, sent, flits, virtual, difference, window, gives_up, crossed, asked
    )


def _circles(made: Topology, virtual: VirtualChannelRouting) -> str:
    """Return what to tell of a routing that is run unchecked, as in the reference."""
    try:
        return ", with VCs in a circle" if hop_circle(made, virtual.tables) else ""
    except InputError:
        return ", not checked for circles"


def read_cases(reference: str, columns: Mapping[str, str]) -> list[Case]:
    """Return the configurations of a CSV file.

    Parameters
    ----------
    reference
        The file. One with a column ``offered_flits_node_cycle`` has one run a row. Left out are
        runs that were not stable, that measured throughput, or whose load is above
        ``MOST_OF_STABLE`` of the highest of their configuration.
    columns
        In a table of one configuration a row, the column of each item that was measured.

    Raises
    ------
    InputError
        If the table cannot be read, or names what netloom does not have.
    """
    text = read_text(reference, wanted="a table of reference runs")
    rows = csv.reader(text.splitlines())
    header = [word.strip() for word in next(rows, [])]
    needed = NEEDED_OF_RUNS if LOAD in header else (*NEEDED, *columns.values())
    for column in needed:
        if column not in header:
            raise InputError(f"{reference}:1", f"no column '{column}'", ", ".join(needed))
    lines = []
    for row in filter(any, rows):
        where = f"{reference}:{rows.line_num}"
        if len(row) != len(header):
            raise InputError(where, f"{len(row)} values", f"{len(header)}, one a column")
        values = dict(zip(header, map(str.strip, row), strict=True))
        lines.append(Line(values, where, Path(reference).parent))
    if LOAD not in header:
        return [case_of(line, columns) for line in lines]
    groups: dict[object, list[Line]] = {}
    for line in lines:
        said = line.values
        if said.get("sim_type", "latency") == "latency" and said[STABLE] == "1":
            same = tuple(each for each in said.items() if each[0] not in OF_A_RUN)
            groups.setdefault(same, []).append(line)
    return [_case_of_runs(lines) for lines in groups.values()]


def _case_of_runs(lines: Sequence[Line]) -> Case:
    """Return the configuration of some runs, with the latency of each that is compared."""
    first = lines[0]
    long = first.values["topology"] == "torus" and first.values.get("long_torus_links") == "1"
    cycles = router(FAMILIES[first.one_of("family", FAMILIES)]).router_cycles
    follows = {"router_cycles": str(cycles), "link_cycles": "2" if long else "1"}
    case = case_of(first._replace(values={**first.values, **follows}), {})
    runs = sorted(((line.positive(LOAD), line) for line in lines), key=lambda run: run[0])
    most = max(MOST_OF_STABLE * runs[-1][0], ZERO_LOAD)
    measured, asked = {}, {}
    for load, line in runs:
        if load > most:
            break
        idle = load <= ZERO_LOAD
        item = IDLE if idle else f"latency at a load of {load:g}"
        window = line.window(IDLE_WINDOW if idle else WINDOW)
        measured[item], asked[item] = line.positive(LATENCY), (max(load, ZERO_LOAD), window)
        if idle and line.values.get(CROSSED_BY_RUN):
            case = replace(case, routers_crossed=line.positive(CROSSED_BY_RUN))
    return replace(case, measured=measured, asked=asked)


# Runs.


def measure(case: Case, stopped: Stopped) -> dict[str, float] | None:
    """Measure one configuration as the reference was measured. Nothing where it is refused.

    ``stopped`` ends the runs under way. None if it did.
    """
    if case.routing is None:
        return {}
    found: dict[str, float] = {}
    with suppress(CancelledError):
        for item, (load, window) in case.asked.items():
            runs = [short_run(case.run(load, seed), window, stopped) for seed in SEEDS]
            found[item] = float(np.mean([run.latency for run in runs]))
            if item == IDLE:
                found[item] = idle_latency(case, runs)
        if {SATURATION, PEAK} & case.measured.keys():
            ends = [saturate(case, LATENCY_FACTOR * found[IDLE], seed, stopped) for seed in SEEDS]
            found[SATURATION], found[PEAK] = np.mean(ends, axis=0).tolist()
        return found
    return None


def idle_latency(case: Case, runs: Sequence[ShortRun]) -> float:
    """Return the mean packet latency of runs at next to no load.

    The reference has about 800 packets of it, whose paths may be 2 % longer or shorter than those
    of the traffic. Its table may say how many routers they crossed. If chance explains that number
    (``SAMPLED`` standard errors), the latency is adjusted to paths of that length. It moves along
    the line fitted to latencies by the number of routers crossed.
    """
    latency, hops = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("latencies", "hops")
    )
    mean = float(latency.mean())
    if case.routers_crossed is None or not hops.var():
        return mean
    longer = case.routers_crossed - 1 - float(hops.mean())
    if abs(longer) > SAMPLED * float(hops.std()) / sqrt(len(hops) / len(runs)):
        return mean
    return mean + longer * float(np.cov(latency, hops, bias=True)[0, 1] / hops.var())


def saturate(case: Case, beyond: float, seed: int, stopped: Stopped) -> tuple[float, float]:
    """Return the load at which latency is ``beyond``, and the highest accepted traffic of all runs.

    Every seed closes in for itself: a mean of latencies would be that of the worst seed. The load
    is bisected to ``BRACKET``, and interpolated there in 1 / latency, which falls nearly in a
    straight line. If the reference gives up runs for their latency, those do not count for the
    traffic, nor do loads beyond what it looked at.
    """
    idle, most, window = beyond / LATENCY_FACTOR, HOPELESS * beyond, case.window
    highest = 1.0
    if case.network.direct and case.routing is not None:  # where short runs are saturated as well
        bound = throughput_bound(case.network, case.routing, case.traffic, case.router)
        highest = min(1.0, BEYOND * bound.load)
    low, high = (0.0, idle), (highest, inf)  # loads, and latencies there
    tried = []
    while high[0] - low[0] > BRACKET * high[0]:
        load = (low[0] + high[0]) / 2
        run = short_run(case.run(load, seed), window, stopped, most=most)
        tried.append((load, run))
        if run.latency > beyond:
            high = load, run.latency
        else:
            low = load, run.latency
    share = (1 / low[1] - 1 / beyond) / (1 / low[1] - 1 / high[1])
    found = low[0] + share * (high[0] - low[0])
    # the mean latency above which the reference does not count a run, if it gives up runs at all
    patience = max(LEAST_PATIENCE, PATIENCE * idle)
    most, further = (patience, PAST_PATIENCE) if case.gives_up else (0.0, PAST_SATURATION)
    past = [min(1.0, times * found) for times in further]
    tried += [(load, short_run(case.run(load, seed), window, stopped, most=most)) for load in past]
    if case.gives_up:
        tried = [each for each in tried if each[1].latency <= patience and each[0] <= max(past)]
    return found, max((run.accepted for _, run in tried), default=0.0)


def short_run(run: Run, window: Window, stopped: Stopped, *, most: float = inf) -> ShortRun:
    """Run from an empty network, until all packets that are measured have arrived.

    A run whose mean latency is sure to be above ``most`` ends there, with a latency that is above
    it, too. One whose packets do not arrive has an infinite latency, as has one that deadlocks,
    which accepts nothing.
    """
    try:
        parts, flits = through_window(run, window)
        accepted = flits / window.cycles / len(run.born_flits)
        end, created = run.engine.cycle, int(run.born_packets.sum())
        while missing := created - sum(int((part.birth < end).sum()) for part in parts):
            if stopped():
                raise CancelledError
            latency, waited = _measured(parts, window, end)[0], run.engine.cycle - end
            least = (latency.sum() + missing * waited) / (len(latency) + missing)
            if waited >= MOST_DRAIN or least > most:
                return ShortRun(inf if waited >= MOST_DRAIN else float(least), accepted)
            parts.append(run.advance(STEP))
    except DeadlockError:
        return ShortRun(inf, 0.0)
    latency, hops = _measured(parts, window, end)
    return ShortRun(float(latency.mean()), accepted, latency, hops)


def _measured(parts: list[Delivered], window: Window, end: int) -> tuple[Ints, Ints]:
    """Return latency and hops of the packets that are measured, of those delivered so far."""
    birth, entry, arrival, hops = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("birth", "entry", "arrival", "hops")
    )
    inside = (entry >= window.start) & (birth < end)
    return (arrival - birth)[inside], hops[inside]


def through_window(run: Run, window: Window) -> tuple[list[Delivered], int]:
    """Run up to the end of a window. Return what was delivered, and the flits accepted in it."""
    start = run.advance(window.start)
    before = run.engine.count("ejected")
    parts = [start, run.advance(window.cycles)]
    return parts, run.engine.count("ejected") - before
