"""The answer of ``simulate``: figures, tables and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.words import counted
from netloom.questions.base import parse_numbers
from netloom.questions.columns import (
    CYCLES,
    FLITS,
    Axes,
    Column,
    Columns,
    CurveKind,
    channel_ends,
    known,
    table,
    tidy,
)
from netloom.questions.register import Answer
from netloom.questions.simulate.load import VERB
from netloom.questions.simulate.load.programs import PROGRAMS, program_loads
from netloom.questions.simulate.load.verdict import verdict
from netloom.questions.simulate.network import NETWORK
from netloom.simulation.intervals import Batches, paired_ratio
from netloom.topology.measures import busy_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.questions.register import Recorded
    from netloom.questions.simulate.load.programs import ProgramLoad
    from netloom.questions.simulate.network import SimulatedNetwork
    from netloom.simulation.network.loaded import Setting
    from netloom.simulation.network.run import NetworkRun

MOST_BINS = 64
"""Bins of a histogram in JSON. ``latencies`` has every value."""


def note_of(run: Any, count: int, what: str) -> str | None:
    """Return what to know before relying on a run that has measured so many of something."""
    if not count:
        return f"nothing was measured{': interrupted' if run.interrupted else ''}"
    if not run.stable:
        past = (
            f"past saturation: {run.reason}. No latency is given, because it would grow with the "
        )
        return past + "length of the run"
    doubts = ["interrupted: these are the figures up to then"] * run.interrupted
    doubts += ["the start-up was not seen to end"] * (not run.warmed_up)
    if not (run.precise or run.interrupted):
        doubts.append(f"precision not reached: {counted(count, what)}")
    return ", ".join(doubts) or None


@dataclass(frozen=True, eq=False)
class SimulatedLoad:
    """One run: a router, a load, and what was measured.

    Attributes
    ----------
    network, setting
        The network and its packets, the router and its bound.
    run
        What the run found. Its latencies are those of whatever arrived, also past saturation.
    alone
        Of several programs: a run of each with the network to itself, None where it was
        interrupted, or nothing where that was not asked for.
    """

    network: SimulatedNetwork
    setting: Setting
    run: NetworkRun
    alone: tuple[NetworkRun | None, ...] = ()

    @property
    def programs(self) -> tuple[ProgramLoad, ...]:
        """How each program fared, where programs have nodes of their own."""
        programs = self.network.programs
        if programs is None:
            return ()
        offered = self.network.program_load(self.run.load)
        return program_loads(programs.shared, offered, self.run, self.alone)

    def row(self) -> dict[str, Any]:
        """Return the figures as one row of the table."""
        return RUNS.row(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        found: dict[str, Any] = tidy(RUNS.nested(self))
        return found

    def latency(self, cycles: float) -> float | None:
        """Return a latency of this run as it was measured, or None past saturation and for NaN."""
        return known(cycles) if self.run.stable else None

    def latency_over(self, other: SimulatedLoad) -> tuple[float | None, float | None]:
        """Return packet latency as a multiple of another run's, and its 95 % half-width.

        Of two runs over the same cycles, see ``simulate_beside``. None unless both keep up.
        """
        if not (self.run.stable and other.run.stable):
            return None, None
        ratio, half = paired_ratio(*(_all_latencies(each.run) for each in (self, other)))
        return known(ratio), known(half)

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        return note_of(self.run, self.run.measured.packets, "packet")

    @property
    def zero_load_latency(self) -> float | None:
        """Packet latency of the idle network, of all packets of the traffic.

        Over the hops that were measured where it is not known. None where channels differ then.
        """
        hops, flits = self.run.measured.hops, self.network.lengths.mean
        return self.latency(self.setting.zero_load_latency(hops, flits))

    @property
    def utilisation(self) -> Floats:
        """float64[num_network_channels], flits per cycle over the bandwidth of each channel."""
        return busy_shares(self.network.topology, self.run.channel_utilisation)

    @property
    def busiest_channel(self) -> str | None:
        """The name of the channel that is busy most, or None if there is no channel."""
        used = self.utilisation
        return self.network.topology.channel_name(int(used.argmax())) if len(used) else None

    @property
    def histogram(self) -> dict[str, Any] | None:
        """How many packets had which latency, in bins, or None past saturation."""
        shown = self.run.stable and self.run.measured.packets > 0
        return _histogram(self.run.latency_counts) if shown else None


def _latency(figure: str, part: str, title: str, of: str, *, key: bool = False) -> Column:
    """Return the column of a latency: an attribute of ``Measured``."""

    def value(point: SimulatedLoad) -> float | None:
        return point.latency(getattr(point.run.measured, of))

    return Column(f"{figure}_{part}", title, CYCLES, value, key=key, json=f"{figure}.{part}")


def _used(what: str) -> Callable[[SimulatedLoad], float | None]:
    def value(point: SimulatedLoad) -> float | None:
        used = point.utilisation
        return getattr(used, what)() if len(used) else None

    return value


LOADS = Columns(
    Column("switching", kind=str, value="setting.router.switching"),
    Column("offered", unit=FLITS, value="run.load", key=True),
    Column("created", unit=FLITS, value="run.created"),
    Column("accepted", unit=FLITS, value="run.measured.accepted", key=True),
    Column("accepted_ci95", "accepted, ± 95 %", FLITS, "run.measured.accepted_ci95"),
    Column("accepted_worst_node", "worst node", FLITS, "run.accepted_worst_node"),
    _latency("packet_latency", "mean", "latency", "packet_latency", key=True),
    _latency("packet_latency", "ci95", "latency, ± 95 %", "packet_latency_ci95"),
    _latency("packet_latency", "p50", "half up to", "packet_latency_p50"),
    _latency("packet_latency", "p99", "99 % up to", "packet_latency_p99", key=True),
    _latency("packet_latency", "max", "all up to", "packet_latency_max"),
    _latency("network_latency", "mean", "in the network", "network_latency"),
    _latency("network_latency", "ci95", "in the network, ± 95 %", "network_latency_ci95"),
    _latency("source_queue_latency", "mean", "in the source queue", "queue_latency"),
    Column("zero_load_latency", "idle", CYCLES, key=True),
    Column("hops_mean", "hops", value="run.measured.hops", json="hops.mean"),
    Column(
        "utilisation_mean", "mean channel", "flits/cycle", _used("mean"), json="utilisation.mean"
    ),
    Column(
        "utilisation_max", "busiest channel", "flits/cycle", _used("max"), key=True,
        json="utilisation.max",
    ),
    Column("stable", "keeps up", kind=bool, value="run.stable", key=True),
    Column("interrupted", kind=bool, value="run.interrupted"),
    Column("cycles", "measured", CYCLES, "run.measured.cycles", kind=int),
    Column("warmup_cycles", "warm-up", CYCLES, "run.warmup_cycles", kind=int),
    Column("packets", kind=int, value="run.measured.packets"),
    Column("precision", value=lambda point: point.latency(point.run.measured.precision)),
    Column("flit_hops", "flit-hops", kind=int, value="run.flit_hops"),
    Column("cpu_seconds", "processor time", "s", "run.cpu_seconds"),
    Column("seed", kind=int, value="network.seed"),
)  # fmt: skip
"""The columns of one run, in tables."""


def backlog_columns(name_of: Callable[[Any], str | None]) -> tuple[Column, ...]:
    """Return what JSON says of what piles up in a run, as shares of the traffic offered.

    ``name_of`` gives the name of the node whose queue keeps growing, if there is one.
    """
    growth, of_node = "run.stability.growth", "run.stability.node_growth"
    return (
        Column("backlog_growth", value=growth, table=False, json="backlog.growth"),
        Column("backlog_node", kind=str, value=name_of, table=False, json="backlog.node"),
        Column("backlog_node_growth", value=of_node, table=False, json="backlog.node_growth"),
    )


def _node_name(point: SimulatedLoad) -> str | None:
    node = point.run.stability.node
    return None if node is None else point.network.topology.name_of(node)


RUNS = LOADS + Columns(
    Column("busiest_channel", kind=str, json="utilisation.busiest_channel", table=False),
    Column(
        "worst_node", kind=str, table=False,
        value=lambda point: point.network.topology.name_of(point.run.worst_node),
    ),
    Column("warmed_up", kind=bool, value="run.warmed_up", table=False),
    Column("precise", kind=bool, value="run.precise", table=False),
    *backlog_columns(_node_name),
    Column("reason", kind=str, value="run.reason", table=False),
    Column("note", kind=str, table=False),
    Column("vc_occupancy", kind=list, value="run.vc_occupancy", table=False),
    Column("histogram", kind=dict, table=False),
    Column(
        "throughput_bound", kind=dict, table=False,
        value=lambda point: point.setting.bound.to_json(),
    ),
    Column(
        "programs", kind=list, table=False,
        value=lambda point: [PROGRAMS.nested(each) for each in point.programs],
    ),
)  # fmt: skip
"""Those of JSON too."""

RUN = Columns(
    Column("switching", kind=str),
    Column("offered", unit=FLITS),
)
"""Which run a row of another table is of."""

CHANNELS = RUN + Columns(
    Column("source_node", kind=int),
    Column("target_node", kind=int),
    Column("utilisation", unit="flits/cycle"),
    Column("name", "channel", kind=str, optional=True),
    Column("bandwidth", unit="flits/cycle", optional=True),
)
"""The last two only if hosts hang on routers."""

NODES = RUN + Columns(
    Column("node", kind=int),
    Column("node_offered", "offered by the node", FLITS),
    Column("node_accepted", "accepted of that", FLITS),
    Column("name", "host", kind=str, optional=True),
)
"""The last only if hosts hang on routers."""

LATENCIES = RUN + Columns(
    Column("packet_latency", "packet latency", CYCLES, kind=int),
    Column("packets", kind=int),
)


@dataclass(frozen=True, eq=False)
class Simulation(Answer):
    """What ``simulate`` found, at one load or at several, of one technique or of several.

    Attributes
    ----------
    points
        One for each technique and load, in rising order of loads. Past the first load at which a
        technique saturates there are none.
    advice
        What was better known before the runs, or None where nothing is amiss.
    """

    network: SimulatedNetwork
    points: tuple[SimulatedLoad, ...]
    asked: tuple[float, ...]
    advice: str | None
    provenance: Provenance

    columns: ClassVar = RUNS
    about: ClassVar = NETWORK + Columns(
        Column("asked", kind=list),
        Column("advice", kind=str),
        Column("interrupted", kind=bool),
    )

    @property
    def point(self) -> SimulatedLoad:
        """The one point, or InputError if several loads or techniques were asked for."""
        return self.only(self.points, "several loads or techniques")

    @property
    def several(self) -> bool:
        """Whether several loads or techniques were asked for."""
        return len(self.asked) > 1 or self.network.compares

    @property
    def offered(self) -> float:
        """Offered traffic of the average sending node, as asked (of one load)."""
        return self.point.run.load

    @property
    def accepted(self) -> float:
        """Accepted traffic, mean of the sending nodes, flits/node/cycle (of one load)."""
        return self.point.run.measured.accepted

    @property
    def packet_latency(self) -> float | None:
        """Mean packet latency in cycles, None past saturation (of one load)."""
        return self.point.latency(self.point.run.measured.packet_latency)

    @property
    def stable(self) -> bool:
        """Whether the network kept up (of one load)."""
        return self.point.run.stable

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        return any(point.run.interrupted or None in point.alone for point in self.points)

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per run and channel: its two nodes, and flits per cycle on it."""
        return channels_of(self.points)

    @table(NODES)
    def nodes(self) -> pl.DataFrame:
        """Return one row per run and node: its offered and its accepted traffic."""
        topology, traffic = self.network.topology, self.network.traffic
        hosts = range(topology.num_hosts)
        named: dict[str, Any] = {}
        if not topology.direct:
            named["name"] = [topology.name_of(host) for host in hosts]
        return _long(
            self.points,
            lambda run: (
                {
                    "node": np.arange(traffic.num_nodes, dtype=np.int32),
                    "node_offered": run.load * traffic.rate,
                    "node_accepted": run.accepted_by_node,
                }
                | named
            ),
        )

    @table(LATENCIES)
    def latencies(self) -> pl.DataFrame:
        """Return one row per run that kept up and packet latency: how many packets had it."""

        def counted(run: NetworkRun) -> dict[str, NDArray[Any]]:
            counts = run.latency_counts if run.stable else np.zeros(0, np.int64)
            cycles = np.flatnonzero(counts)
            return {"packet_latency": cycles, "packets": counts[cycles]}

        return _long(self.points, counted)

    def __repr__(self) -> str:
        lines = [line for point in self.points for line in (_line(point), *_by_program(point))]
        return said_of("Simulation", self, lines)


def said_of(what: str, answer: Any, lines: Sequence[str]) -> str:
    """Return an answer for Python: what was asked, a few lines, and techniques not possible."""
    network, setting = answer.network, answer.network.settings[0]
    router = setting.router
    head = (
        f"<{what} of {network.name}, {setting.routing.name}, {network.router_name} router, "
        f"{router.vcs} VCs of {router.buffer_flits} flits, {network.lengths.name}-flit packets; "
        f"{answer.origin}>"
    )
    return "\n".join([head, *lines, *(f"{name}: {why}" for name, why in network.refused.items())])


def _all_latencies(run: NetworkRun) -> Batches:
    """Return the latencies of all packets by batches, of whatever groups."""
    sums, counts = zip(*run.latency_batches, strict=True)
    return Batches(np.sum(sums, axis=0), np.sum(counts, axis=0))


def channels_of(points: Sequence[SimulatedLoad]) -> pl.DataFrame:
    """Return one row per run and channel between routers."""
    if not points:
        return _long(points, lambda _: {})
    ends, named = channel_ends(points[0].network.topology)
    return _long(points, lambda run: ends | {"utilisation": run.channel_utilisation} | named)


def _long(
    points: Sequence[SimulatedLoad], columns: Callable[[NetworkRun], dict[str, Any]]
) -> pl.DataFrame:
    """Put the tables of all runs one below the other, with technique and load before them."""
    import polars as pl

    tables = [
        pl.DataFrame(columns(point.run)).select(
            pl.lit(point.setting.router.switching).alias("switching"),
            pl.lit(point.run.load).alias("offered"),
            pl.all(),
        )
        for point in points
    ]
    return pl.concat(tables) if tables else pl.DataFrame()


def _histogram(counts: Ints) -> dict[str, Any]:
    """Return the counts of at most ``MOST_BINS`` equal bins, from the least latency on."""
    seen = np.flatnonzero(counts)
    first, last = int(seen[0]), int(seen[-1])
    width = -(-(last + 1 - first) // MOST_BINS)
    bins = np.add.reduceat(counts[first : last + 1], np.arange(0, last + 1 - first, width))
    return {"first_cycle": first, "bin_cycles": width, "packets": bins.tolist()}


def _line(point: SimulatedLoad) -> str:
    run, found = point.run, point.run.measured
    worth = (
        f"packet latency {found.packet_latency:.4g} ± {found.packet_latency_ci95:.2g} cycles"
        if run.stable and found.packets
        else point.note
    )
    return (
        f"{point.setting.router.switching}: offered {run.load:.4g}, accepted {found.accepted:.4g} "
        f"flits/node/cycle (worst node {run.accepted_worst_node:.4g}): {worth}"
    )


def _by_program(point: SimulatedLoad) -> list[str]:
    lines = []
    for program in point.programs:
        line = f"  {program.name}: accepted {program.measured.accepted:.4g}"
        if program.latency is not None:
            line += f", packet latency {program.latency:.4g}"
        if program.latency_slowdown is not None:
            line += f", {program.latency_slowdown:.3g} times that alone"
        lines.append(line)
    return lines


LEVELS = parse_numbers

BY_LOAD = Axes(
    "offered traffic, flits/node/cycle", "packet latency", "cycles",
    "accepted traffic, flits/node/cycle",
)  # fmt: skip


def point_at(record: Recorded, load: float, technique: str) -> Recorded:
    """Return what an answer says of one load, as the answer of a simulation of that alone."""
    import polars as pl

    from netloom.questions.register import Recorded

    runs = [run for each in record.points for run in each.get("runs", [each])]
    figures = {name: value for name, value in record.figures.items() if name != "points"}
    here = next(
        run for run in runs if run["offered"] == load and run["switching"] in (technique, None)
    )
    only = pl.col("offered") == load
    tables = {
        name: table.filter(only & (pl.col("switching") == technique))
        for name, table in record.tables.items()
    }
    one = figures | here
    return Recorded(VERB, one | {"verdict": verdict(one).to_dict()}, tables)


def detail(record: Recorded, load: float, technique: str) -> Recorded:
    """Return what a simulation says of one load."""
    return point_at(record, load, technique) if record.several else record


CURVE = CurveKind(
    BY_LOAD, "offered", "packet_latency_mean", "zero_load_latency", "packet_latency_ci95",
    "accepted", "stable", besides=("load", "alone"), detail=detail,
)  # fmt: skip
