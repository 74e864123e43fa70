"""The answer of ``simulate_broadcast``: latencies of unicast messages and broadcasts, and loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.errors import InputError
from netloom.models.broadcast_load import class_loads
from netloom.questions.answers import Answer
from netloom.questions.channel_table import channels_by
from netloom.questions.numbers import known, plainly
from netloom.topology import Cube
from netloom.words import counted

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.provenance import Provenance
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.simulation.broadcasts import BroadcastRun, Latency
    from netloom.workload import Lengths, Traffic


@dataclass(frozen=True, eq=False)
class BroadcastSimulation(Answer):
    """What ``simulate_broadcast`` found, at one rate or at several.

    Attributes
    ----------
    network, traffic, lengths
        What was simulated.
    broadcast, multicast_targets, tree, startup_cycles
        As asked.
    points
        One for each rate, rising.
    asked
        The rates that were asked for, messages a cycle of the average sending node.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "directions", "channels")

    network: PreparedNetwork
    traffic: Traffic
    lengths: Lengths
    broadcast: float
    multicast_targets: int
    tree: Literal["balanced", "row-first"]
    startup_cycles: int
    points: tuple[BroadcastRun, ...]
    asked: tuple[float, ...]
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        stopped = any(run.interrupted for run in self.points)
        return stopped or len(self.points) < len(self.asked)

    @property
    def point(self) -> BroadcastRun:
        """The one run that there is.

        Raises
        ------
        InputError
            If several rates were asked for, or the only run was stopped before it began.
        """
        if len(self.asked) > 1 or not self.points:
            raise InputError("simulation", f"{len(self.points)} rates", "one of its points")
        return self.points[0]

    def zero_load_latency(self, run: BroadcastRun) -> float:
        """Return the unicast latency of the idle network by the formula, over measured hops."""
        return self.startup_cycles + self.network.zero_load_latency(run.hops, run.flits)

    @cached_property
    def expected(self) -> NDArray[np.float64]:
        """The exact mean load of the channels of each direction, at a message a node and cycle.

        float64[2, n, 2], flits a cycle; see ``class_loads``. Only on k-ary n-cubes.
        """
        cube = self.network.topology
        assert isinstance(cube, Cube)
        multicast = bool(self.multicast_targets)
        shares = class_loads(cube, self.traffic, self.broadcast, self.tree, multicast=multicast)
        return shares * self.lengths.mean

    def table(self) -> pl.DataFrame:
        """Return one row a rate: the fields of ``to_dict``, flat; null past saturation."""
        import polars as pl

        table = pl.DataFrame([self._row(run) for run in self.points], infer_schema_length=None)
        unknown = [name for name, dtype in table.schema.items() if dtype == pl.Null]
        return table.cast(dict.fromkeys(unknown, pl.Float64))

    def directions(self) -> pl.DataFrame:
        """Return one row a rate, dimension and direction: mean utilisation of the channels.

        Flits a cycle: ``total`` as counted on the channels, ``broadcast`` of the copies that
        arrived, ``unicast`` the rest; ``expected_`` the exact means. Empty on networks that are no
        k-ary n-cubes.
        """
        import polars as pl

        rows = [{"rate": run.rate} | row for run in self.points for row in self._directions(run)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def channels(self) -> pl.DataFrame:
        """Return one row a rate and channel: its two nodes, and flits a cycle on it."""
        runs = ((run.rate, run.channel_utilisation) for run in self.points)
        return channels_by("rate", runs, self.network.topology)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate --broadcast``."""
        common = self.network.describe(self.provenance) | {
            "traffic": self.traffic.name,
            "packet_flits": {"law": self.lengths.name, "mean": self.lengths.mean},
            "broadcast": self.broadcast,
            "multicast_targets": self.multicast_targets,
            "tree": self.tree,
            "startup_cycles": self.startup_cycles,
            "asked": list(self.asked),
            "interrupted": self.interrupted,
        }
        if len(self.asked) == 1 and self.points:
            return self._point_dict(self.points[0]) | common
        return common | {"points": [self._point_dict(run) for run in self.points]}

    def __repr__(self) -> str:
        seed, version = self.provenance.seed, self.provenance.version
        kind = f"{self.broadcast:.3g} broadcast"
        if self.multicast_targets:
            kind = f"{self.broadcast:.3g} multicast to {self.multicast_targets}"
        head = (
            f"<{self.traffic.name} on {self.network.topology.name}, {kind} ({self.tree} trees), "
            f"{self.lengths.name}-flit messages; seed {seed}, netloom {version}>"
        )
        return "\n".join([head, *(self._line(run) for run in self.points)])

    def _line(self, run: BroadcastRun) -> str:
        head = f"rate {run.rate:.4g}: "
        if not run.stable or not (run.unicast.messages or run.broadcast.messages):
            return head + (_note(run) or "")
        parts = [
            f"{name} {latency.mean:.4g} ± {latency.ci95:.2g} cycles"
            for name, latency in (("unicast", run.unicast), ("broadcast", run.broadcast))
            if latency.messages
        ]
        if run.unicast.messages:
            parts[0] += f" ({self.zero_load_latency(run):.4g} unhindered)"
        parts.append(f"channels {run.class_utilisation.sum():.1%} in use")
        note = _note(run)
        return head + ", ".join(parts) + (f"; {note}" if note else "")

    def _row(self, run: BroadcastRun) -> dict[str, Any]:
        row = {
            "rate": run.rate,
            "created": run.created,
            "accepted": run.accepted,
            "zero_load_latency": known(self.zero_load_latency(run)) if run.stable else None,
        }
        for name in ("unicast", "broadcast", "target"):
            for part, value in _latency_dict(run, getattr(run, name)).items():
                row[f"{name}_latency_{part}"] = value
        return row | {
            "unicast_messages": run.unicast.messages,
            "broadcast_messages": run.broadcast.messages,
            "hops": known(run.hops),
            "utilisation_mean": float(run.class_utilisation.sum()),
            "utilisation_max": float(run.channel_utilisation.max(initial=0.0)),
            "utilisation_unicast": float(run.class_utilisation[0]),
            "utilisation_broadcast": float(run.class_utilisation[1]),
            "cycles": run.cycles,
            "warmup_cycles": run.warmup_cycles,
            "flit_hops": run.flit_hops,
            "stable": run.stable,
            "reason": run.reason,
            "precise": run.precise,
            "warmed_up": run.warmed_up,
            "interrupted": run.interrupted,
            "note": _note(run),
        }

    def _point_dict(self, run: BroadcastRun) -> dict[str, Any]:
        """Return the row with what belongs together as one field."""
        nested: dict[str, Any] = {}
        groups = ("unicast_latency", "broadcast_latency", "target_latency", "utilisation")
        for name, value in self._row(run).items():
            group = next((each for each in groups if name.startswith(f"{each}_")), None)
            if group is None:
                nested[name] = value
            else:
                nested.setdefault(group, {})[name.removeprefix(f"{group}_")] = value
        return nested | {"directions": self._directions(run)}

    def _directions(self, run: BroadcastRun) -> list[dict[str, Any]]:
        cube = self.network.topology
        if not isinstance(cube, Cube):
            return []
        total = cube.direction_means(run.channel_utilisation)
        by_broadcast = run.broadcast_by_direction
        if by_broadcast is None:
            by_broadcast = np.full(total.shape, np.nan)
        unicast, expected = total - by_broadcast, self.expected * run.rate
        return [
            {
                "dimension": axis,
                "direction": ("growing", "falling")[direction],
                "total": float(total[axis, direction]),
                "unicast": known(unicast[axis, direction]),
                "broadcast": known(by_broadcast[axis, direction]),
                "expected_unicast": known(expected[0, axis, direction]),
                "expected_broadcast": known(expected[1, axis, direction]),
            }
            for axis, direction in np.ndindex(total.shape)
            if cube.line_channels[axis]
        ]


def _latency_dict(run: BroadcastRun, latency: Latency) -> dict[str, float | None]:
    """Return a latency as it was measured; None past saturation, and where NaN."""
    return {
        part: known(getattr(latency, part)) if run.stable else None
        for part in ("mean", "ci95", "p50", "p99", "max")
    }


def _note(run: BroadcastRun) -> str | None:
    """Return what to know before relying on the figures."""
    messages = run.unicast.messages + run.broadcast.messages
    if not messages:
        return "nothing was measured" + ": interrupted" * run.interrupted
    if not run.stable:
        return (
            f"past saturation: {run.reason}; latencies would grow for as long as one waited, so "
            "none is given"
        )
    doubts = ["interrupted: what was known by then"] * run.interrupted
    doubts += ["the start-up was not seen to end"] * (not run.warmed_up)
    if not (run.precise or run.interrupted):
        doubts.append(f"precision not reached: {counted(messages, 'message')}")
    return "; ".join(doubts) or None
