"""The answer of ``simulate_broadcast``: latencies of unicast messages and broadcasts, and loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.questions.answers import CYCLES, Answer, Column, Columns, table
from netloom.questions.channel_table import USED, channel_columns, channels_by
from netloom.questions.curve_kind import Axes, CurveKind
from netloom.questions.simulate.engines import NETWORK
from netloom.questions.simulate.load.answer import backlog_columns, note_of
from netloom.topology import Cube
from netloom_papers.programs.broadcast import class_loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from netloom.base.arrays import Floats
    from netloom.base.provenance import Provenance
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload import Lengths, Traffic
    from netloom_papers.programs.broadcast import BroadcastRun


MESSAGES = "messages/node/cycle"

LATENCIES = {
    "unicast": "unicast latency",
    "broadcast": "broadcast latency",
    "target": "latency to each target",
}
"""Classes of messages, and what their latency is called: of broadcasts, to the last target."""

PARTS = {"mean": "mean", "ci95": "± 95 %", "p50": "median", "p99": "99 % up to", "max": "largest"}

RATE = Column("rate", unit=MESSAGES, value="run.rate", key=True)

DIRECTIONS = Columns(
    Column("rate", unit=MESSAGES, json=None),
    Column("dimension", kind=int),
    Column("direction", kind=str),
    *(
        Column(name, unit=USED)
        for name in ("total", "unicast", "broadcast", "expected_unicast", "expected_broadcast")
    ),
)


def _latency(of: str, part: str) -> Column:
    """Return the column of a part of a latency as it was measured, or unknown past saturation."""

    def value(at: AtRate) -> float | None:
        return getattr(getattr(at.run, of), part) if at.run.stable else None

    key = part == "mean" and of != "target"
    title = f"{LATENCIES[of]}, {PARTS[part]}"
    name = f"{of}_latency"
    return Column(f"{name}_{part}", title, CYCLES, value, key=key, json=f"{name}.{part}")


def _of_run(name: str, kind: type, title: str = "", unit: str = "", *, key: bool = False) -> Column:
    return Column(name, title, unit, f"run.{name}", kind, key)


def _used(name: str, title: str, value: Callable[[AtRate], float], *, key: bool = False) -> Column:
    return Column(f"utilisation_{name}", title, USED, value, key=key, json=f"utilisation.{name}")


@dataclass(frozen=True, eq=False)
class AtRate:
    """A run at one rate, and the answer that it is part of."""

    found: BroadcastSimulation
    run: BroadcastRun

    @property
    def zero_load_latency(self) -> float | None:
        """See ``BroadcastSimulation``, or None past saturation."""
        return self.found.zero_load_latency(self.run) if self.run.stable else None

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        messages = self.run.unicast.messages + self.run.broadcast.messages
        return note_of(self.run, messages, "message")

    def directions(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the table of directions, or none if the network is no k-ary n-cube."""
        run, cube = self.run, self.found.network.topology
        if not isinstance(cube, Cube):
            return
        total = cube.direction_means(run.channel_utilisation)
        by_broadcast = run.broadcast_by_direction
        if by_broadcast is None:
            by_broadcast = np.full(total.shape, np.nan)
        expected = self.found.expected * run.rate
        for axis, direction in np.ndindex(total.shape):
            at = (axis, direction)
            if cube.line_channels[axis]:
                yield {
                    "rate": run.rate,
                    "dimension": axis,
                    "direction": ("growing", "falling")[direction],
                    "total": total[at],
                    "unicast": total[at] - by_broadcast[at],
                    "broadcast": by_broadcast[at],
                    "expected_unicast": expected[0][at],
                    "expected_broadcast": expected[1][at],
                }

    def __str__(self) -> str:
        run, head = self.run, f"rate {self.run.rate:.4g}: "
        if not run.stable or not (run.unicast.messages or run.broadcast.messages):
            return head + (self.note or "")
        parts = [
            f"{name} {latency.mean:.4g} ± {latency.ci95:.2g} cycles"
            for name, latency in (("unicast", run.unicast), ("broadcast", run.broadcast))
            if latency.messages
        ]
        if run.unicast.messages:
            parts[0] += f" ({self.zero_load_latency:.4g} unhindered)"
        parts.append(f"channels {run.class_utilisation.sum():.1%} in use")
        return head + ", ".join(parts) + (f", {self.note}" if self.note else "")


def _node_name(at: AtRate) -> str | None:
    node = at.run.stability.node
    return None if node is None else at.found.network.topology.name_of(node)


@dataclass(frozen=True, eq=False)
class BroadcastSimulation(Answer):
    """What ``simulate_broadcast`` found, at one rate or at several.

    Attributes
    ----------
    asked
        The rates that were asked for, messages per cycle of the average sending node.
    """

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

    columns: ClassVar = Columns(
        RATE,
        _of_run("created", float, unit=MESSAGES),
        _of_run("accepted", float, unit=MESSAGES, key=True),
        Column("zero_load_latency", "unicast latency if idle", CYCLES),
        *(_latency(of, part) for of in LATENCIES for part in PARTS),
        Column("unicast_messages", value="run.unicast.messages", kind=int),
        Column("broadcast_messages", value="run.broadcast.messages", kind=int),
        _of_run("hops", float, "hops of a unicast"),
        _used("mean", "mean channel", lambda at: at.run.class_utilisation.sum()),
        _used(
            "max", "busiest channel", lambda at: at.run.channel_utilisation.max(initial=0), key=True
        ),
        _used("unicast", "mean channel, unicasts", lambda at: at.run.class_utilisation[0]),
        _used("broadcast", "mean channel, broadcasts", lambda at: at.run.class_utilisation[1]),
        _of_run("cycles", int, "measured", CYCLES),
        _of_run("warmup_cycles", int, "warm-up", CYCLES),
        _of_run("flit_hops", int),
        _of_run("stable", bool, "keeps up", key=True),
        *backlog_columns(_node_name),
        _of_run("reason", str),
        _of_run("precise", bool),
        _of_run("warmed_up", bool),
        _of_run("interrupted", bool),
        Column("note", kind=str),
        Column(
            "directions", kind=list, value=lambda at: list(map(DIRECTIONS.nested, at.directions())),
            table=False,
        ),
    )  # fmt: skip
    about: ClassVar = NETWORK | Columns(
        Column("traffic", kind=str, value="traffic.name"),
        Column(
            "packet_flits", kind=dict,
            value=lambda found: {"law": found.lengths.name, "mean": found.lengths.mean},
        ),
        Column("broadcast"),
        Column("multicast_targets", kind=int),
        Column("tree", kind=str),
        Column("startup_cycles", unit=CYCLES, kind=int),
        Column("asked", kind=list),
        Column("interrupted", kind=bool),
    )  # fmt: skip

    @property
    def observations(self) -> list[AtRate]:
        """The runs, with what is known of each."""
        return [AtRate(self, run) for run in self.points]

    @property
    def several(self) -> bool:
        """Whether there is not one run that was asked for."""
        return len(self.asked) > 1 or not self.points

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        stopped = any(run.interrupted for run in self.points)
        return stopped or len(self.points) < len(self.asked)

    @property
    def point(self) -> BroadcastRun:
        """The one run, or InputError if several rates were asked for, or it never began."""
        return self.only(self.points, f"{len(self.points)} rates")

    def zero_load_latency(self, run: BroadcastRun) -> float:
        """Return the unicast latency of the idle network by the formula, over measured hops."""
        return self.startup_cycles + self.network.zero_load_latency(run.hops, run.flits)

    @cached_property
    def expected(self) -> Floats:
        """The exact mean load of the channels of each direction, at a message per node and cycle.

        float64[2, n, 2], flits per cycle, see ``class_loads``. Only on k-ary n-cubes.
        """
        cube = self.network.topology
        assert isinstance(cube, Cube)
        multicast = bool(self.multicast_targets)
        shares = class_loads(cube, self.traffic, self.broadcast, self.tree, multicast=multicast)
        return shares * self.lengths.mean

    @table(DIRECTIONS)
    def directions(self) -> pl.DataFrame:
        """Return one row per rate, dimension and direction: mean utilization of the channels.

        Flits a cycle: ``total`` as counted on the channels, ``broadcast`` of the copies that
        arrived, ``unicast`` the rest, ``expected_`` the exact means. Empty on networks that are no
        k-ary n-cubes.
        """
        return DIRECTIONS.frame(row for at in self.observations for row in at.directions())

    @table(channel_columns(RATE))
    def channels(self) -> pl.DataFrame:
        """Return one row per rate and channel: its two nodes, and flits per cycle on it."""
        runs = ((run.rate, run.channel_utilisation) for run in self.points)
        return channels_by("rate", runs, self.network.topology)

    def __repr__(self) -> str:
        kind = f"{self.broadcast:.3g} broadcast"
        if self.multicast_targets:
            kind = f"{self.broadcast:.3g} multicast to {self.multicast_targets}"
        head = (
            f"<{self.traffic.name} on {self.network.topology.name}, {kind} ({self.tree} trees), "
            f"{self.lengths.name}-flit messages; {self.origin}>"
        )
        return "\n".join([head, *map(str, self.observations)])


BY_RATE = Axes(
    "rate, messages/node/cycle", "latency of unicast messages", "cycles",
    "accepted messages/node/cycle",
)  # fmt: skip

CURVE = CurveKind(
    BY_RATE, "rate", "unicast_latency_mean", "zero_load_latency", "unicast_latency_ci95",
    "accepted", "stable", besides=("rate",),
)  # fmt: skip
