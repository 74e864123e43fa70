"""The answers of ``simulate`` and ``find_saturation``: figures, tables and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.errors import InputError
from netloom.questions.answers import Answer
from netloom.questions.numbers import known, plainly
from netloom.questions.simulate.shared import program_loads
from netloom.simulation.paired import Batches, paired_ratio
from netloom.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from netloom.provenance import Provenance
    from netloom.questions.simulate.network import Setting, SimulatedNetwork
    from netloom.questions.simulate.shared import ProgramLoad
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.network.sweep import SaturationPoint
    from netloom.topology import Topology

MOST_BINS = 64
"""Bins of a histogram in JSON; ``latencies`` has every value."""


@dataclass(frozen=True, eq=False)
class SimulatedLoad:
    """One run: a router, a load, and what was measured.

    Attributes
    ----------
    network, setting
        The network and its packets, the router and its bound.
    run
        What the run found; its latencies are those of whatever arrived, also past saturation.
    alone
        Of several programs: a run of each with the network to itself, None where it was
        interrupted; nothing where that was not asked for.
    """

    network: SimulatedNetwork
    setting: Setting
    run: NetworkRun
    alone: tuple[NetworkRun | None, ...] = ()

    @property
    def program_load(self) -> float:
        """Offered traffic of the average sending node of each program."""
        programs = self.network.programs
        return self.run.load / programs.load_factor if programs else self.run.load

    @property
    def programs(self) -> tuple[ProgramLoad, ...]:
        """How each program fared, where programs have nodes of their own."""
        programs = self.network.programs
        if programs is None:
            return ()
        return program_loads(programs.shared, self.program_load, self.run, self.alone)

    def latency(self, cycles: float) -> float | None:
        """Return a latency of this run as it was measured; None past saturation, and where NaN."""
        return known(cycles) if self.run.stable else None

    def latency_over(self, other: SimulatedLoad) -> tuple[float | None, float | None]:
        """Return packet latency as a multiple of another run's, and its 95 % half-width.

        Of two runs over the same cycles; see ``simulate_beside``. None unless both keep up.
        """
        if not (self.run.stable and other.run.stable):
            return None, None
        ratio, half = paired_ratio(*(_all_latencies(each.run) for each in (self, other)))
        return known(ratio), known(half)

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if not self.run.measured.packets:
            return "nothing was measured" + ": interrupted" * self.run.interrupted
        if not self.run.stable:
            return (
                f"past saturation: {self.run.reason}; latencies would grow for as long as one "
                "waited, so none is given"
            )
        doubts = ["interrupted: what was known by then"] * self.run.interrupted
        doubts += ["the start-up was not seen to end"] * (not self.run.warmed_up)
        if not (self.run.precise or self.run.interrupted):
            doubts.append(f"precision not reached: {counted(self.run.measured.packets, 'packet')}")
        return "; ".join(doubts) or None

    @property
    def zero_load_latency(self) -> float | None:
        """Packet latency of the idle network by the formula, over the hops that were measured."""
        cycles = self.setting.router.zero_load_cycles
        return self.latency(cycles(self.run.measured.hops, self.network.lengths.mean))

    def row(self) -> dict[str, Any]:
        """Return the figures as one row of a table: the fields of ``to_dict``, flat."""
        run, found, latency = self.run, self.run.measured, self.latency
        used = run.channel_utilisation
        return {
            "switching": self.setting.router.switching,
            "offered": run.load,
            "created": known(run.created),
            "accepted": known(found.accepted),
            "accepted_ci95": known(found.accepted_ci95),
            "accepted_worst_node": known(run.accepted_worst_node),
            "packet_latency_mean": latency(found.packet_latency),
            "packet_latency_ci95": latency(found.packet_latency_ci95),
            "packet_latency_p50": latency(found.packet_latency_p50),
            "packet_latency_p99": latency(found.packet_latency_p99),
            "packet_latency_max": latency(found.packet_latency_max),
            "network_latency_mean": latency(found.network_latency),
            "network_latency_ci95": latency(found.network_latency_ci95),
            "source_queue_latency_mean": latency(found.queue_latency),
            "zero_load_latency": self.zero_load_latency,
            "hops_mean": known(found.hops),
            "utilisation_mean": float(used.mean()) if len(used) else None,
            "utilisation_max": float(used.max()) if len(used) else None,
            "stable": run.stable,
            "interrupted": run.interrupted,
            "cycles": found.cycles,
            "warmup_cycles": run.warmup_cycles,
            "packets": found.packets,
            "precision": latency(found.precision),
            "flit_hops": run.flit_hops,
            "cpu_seconds": run.cpu_seconds,
            "seed": self.network.seed,
        }

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures of the run as plain data."""
        run, topology = self.run, self.network.topology
        used, bound = run.channel_utilisation, self.setting.bound
        figures: dict[str, Any] = {}
        for name, value in self.row().items():
            quantity, _, part = name.rpartition("_")
            if part in ("mean", "ci95", "p50", "p99", "max") and quantity != "accepted":
                figures.setdefault(quantity, {})[part] = value
            else:
                figures[name] = value
        figures["utilisation"]["busiest_channel"] = (
            topology.channel_name(int(used.argmax())) if len(used) else None
        )
        shown = run.stable and run.measured.packets > 0
        return figures | {
            "worst_node": topology.node_name(run.worst_node),
            "reason": run.reason,
            "note": self.note,
            "vc_occupancy": run.vc_occupancy.tolist(),
            "histogram": _histogram(run.latency_counts) if shown else None,
            "throughput_bound": bound.to_dict(),
            "programs": [program.to_dict() for program in self.programs],
        }


@dataclass(frozen=True, eq=False)
class Simulation(Answer):
    """What ``simulate`` found, at one load or at several, of one technique or of several.

    Attributes
    ----------
    network
        What was simulated.
    points
        One for each technique and load, in rising order of loads; past the first load at which a
        technique falls behind there are none.
    asked
        The loads that were asked for.
    advice
        What was better known before the runs; None where nothing is amiss.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "channels", "nodes", "latencies")

    network: SimulatedNetwork
    points: tuple[SimulatedLoad, ...]
    asked: tuple[float, ...]
    advice: str | None
    provenance: Provenance

    @property
    def point(self) -> SimulatedLoad:
        """The one point that there is.

        Raises
        ------
        InputError
            If several loads or techniques were asked for.
        """
        if self.several:
            raise InputError("simulation", "several loads or techniques", "one of its points")
        return self.points[0]

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

    def table(self) -> pl.DataFrame:
        """Return one row a run; latencies are in cycles, traffic in flits/node/cycle."""
        return _table(self.points)

    def channels(self) -> pl.DataFrame:
        """Return one row a run and channel: its two nodes, and flits a cycle on it."""
        return _channels(self.network.topology, self.points)

    def nodes(self) -> pl.DataFrame:
        """Return one row a run and node: the traffic that it offers, and what is accepted of it."""
        traffic = self.network.traffic
        return _long(
            self.points,
            lambda run: {
                "node": np.arange(traffic.num_nodes, dtype=np.int32),
                "node_offered": run.load * traffic.rate,
                "node_accepted": run.accepted_by_node,
            },
        )

    def latencies(self) -> pl.DataFrame:
        """Return one row a run that kept up and packet latency: how many packets had it."""

        def counted(run: NetworkRun) -> dict[str, NDArray[Any]]:
            counts = run.latency_counts if run.stable else np.zeros(0, np.int64)
            cycles = np.flatnonzero(counts)
            return {"packet_latency": cycles, "packets": counts[cycles]}

        return _long(self.points, counted)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate``."""
        common = self.network.describe(self.provenance) | {
            "asked": list(self.asked),
            "advice": self.advice,
            "interrupted": self.interrupted,
        }
        if not self.several:
            return self.point.to_dict() | common
        return common | {"points": [point.to_dict() for point in self.points]}

    def __repr__(self) -> str:
        lines = [line for point in self.points for line in (_line(point), *_by_program(point))]
        lines += [f"{name}: {why}" for name, why in self.network.refused.items()]
        return "\n".join([f"<Simulation of {_named(self.network, self.provenance)}>", *lines])


@dataclass(frozen=True, eq=False)
class Search:
    """Where one switching technique saturates.

    Attributes
    ----------
    setting, found
        The router and its bound, and the point at which it saturates.
    points
        All runs of the search, by load.
    """

    setting: Setting
    found: SaturationPoint
    points: tuple[SimulatedLoad, ...]

    @property
    def interrupted(self) -> bool:
        """Whether the search was stopped from outside; what it found is how far it had come."""
        return self.found.interrupted

    @property
    def saturates(self) -> bool:
        """Whether the network saturates at any load that it can be offered."""
        return self.found.saturates

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return where it saturates as plain data."""
        found, bound = self.found, self.setting.bound
        return {
            "switching": self.setting.router.switching,
            "saturation_offered": known(found.load),
            "saturation_offered_width": known(found.load_width),
            "saturation_throughput": known(found.accepted),
            "accepted_worst_node": known(found.accepted_worst_node),
            "peak_accepted": known(found.peak_accepted),
            "saturates": self.saturates,
            "interrupted": self.interrupted,
            "zero_load_latency": known(found.zero_load_latency),
            "latency_factor": found.latency_factor,
            "throughput_bound": bound.to_dict(),
            "cpu_seconds": sum(run.cpu_seconds for run in found.runs),
            "runs": [point.to_dict() for point in self.points],
        }


@dataclass(frozen=True, eq=False)
class NetworkSaturation(Answer):
    """What ``find_saturation`` found, of one switching technique or of several.

    Attributes
    ----------
    network
        What was simulated.
    searches
        One for each technique.
    advice
        What was better known before the runs; None where nothing is amiss.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "channels")

    network: SimulatedNetwork
    searches: tuple[Search, ...]
    advice: str | None
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether a search was stopped from outside."""
        return any(search.interrupted for search in self.searches)

    @property
    def points(self) -> tuple[SimulatedLoad, ...]:
        """All runs of all searches."""
        return tuple(point for search in self.searches for point in search.points)

    def table(self) -> pl.DataFrame:
        """Return one row a run of the search, as ``Simulation.table``."""
        return _table(self.points)

    def channels(self) -> pl.DataFrame:
        """Return one row a run of the search and channel, as ``Simulation.channels``."""
        return _channels(self.network.topology, self.points)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate saturation``."""
        common = self.network.describe(self.provenance) | {"advice": self.advice}
        if not self.network.compares:
            return self.searches[0].to_dict() | common
        return common | {"points": [search.to_dict() for search in self.searches]}

    def __repr__(self) -> str:
        lines = [f"<NetworkSaturation of {_named(self.network, self.provenance)}>"]
        lines += [
            f"{search.setting.router.switching}: offered {search.found.load:.4g}, accepted "
            f"{search.found.accepted:.4g} (worst node {search.found.accepted_worst_node:.4g}), "
            f"at most {search.setting.bound.load:.4g} by {search.setting.bound.what}"
            for search in self.searches
        ]
        lines += [f"{name}: {why}" for name, why in self.network.refused.items()]
        return "\n".join(lines)


def _all_latencies(run: NetworkRun) -> Batches:
    """Return the latencies of all packets by batches, of whatever groups."""
    sums, counts = zip(*run.latency_batches, strict=True)
    return Batches(np.sum(sums, axis=0), np.sum(counts, axis=0))


def _table(points: Sequence[SimulatedLoad]) -> pl.DataFrame:
    import polars as pl

    table = pl.DataFrame([point.row() for point in points], infer_schema_length=None)
    unknown = [name for name, dtype in table.schema.items() if dtype == pl.Null]
    return table.cast(dict.fromkeys(unknown, pl.Float64))


def _channels(topology: Topology, points: Sequence[SimulatedLoad]) -> pl.DataFrame:
    """Return one row a run and channel."""
    return _long(
        points,
        lambda run: {
            "source_node": topology.channel_source,
            "target_node": topology.channel_target,
            "utilisation": run.channel_utilisation,
        },
    )


def _long(
    points: Sequence[SimulatedLoad], columns: Callable[[NetworkRun], dict[str, NDArray[Any]]]
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


def _histogram(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Return the counts of at most ``MOST_BINS`` equal bins, from the least latency on."""
    seen = np.flatnonzero(counts)
    first, last = int(seen[0]), int(seen[-1])
    width = -(-(last + 1 - first) // MOST_BINS)
    bins = np.add.reduceat(counts[first : last + 1], np.arange(0, last + 1 - first, width))
    return {"first_cycle": first, "bin_cycles": width, "packets": bins.tolist()}


def _named(network: SimulatedNetwork, provenance: Provenance) -> str:
    setting = network.settings[0]
    router = setting.router
    return (
        f"{network.name}, {setting.routing.name}, {network.router_name} router, {router.vcs} VCs "
        f"of {router.buffer_flits} flits, {network.lengths.name}-flit packets; "
        f"seed {network.seed}, netloom {provenance.version}"
    )


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
