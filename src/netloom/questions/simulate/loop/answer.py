"""The answer of ``simulate_loop``: the traffic that a program gets through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.base.errors import InputError
from netloom.questions.base import parse_numbers
from netloom.questions.columns import (
    CYCLES,
    FLITS,
    INSIDE,
    Axes,
    Column,
    Columns,
    CurveKind,
    channel_columns,
    channels_by,
    table,
)
from netloom.questions.register import Answer
from netloom.questions.simulate.engines import NETWORK
from netloom.questions.simulate.timelines import nodes_timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.contention import Saturation
    from netloom.drawing.timelines import Timeline
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.simulation.loops import LoopRun, ProgramSpeed
    from netloom.workload.programs.loops import LoopTimes


def _times(part: str) -> Callable[[ProgramSpeed], Any]:
    return lambda program: program.times and program.times.to_dict()[part]


PROGRAMS = Columns(
    Column("name", kind=str),
    Column("nodes", kind=int),
    Column("tasks", kind=int),
    Column("actual", kind=dict, value=_times("actual")),
    Column("loop_cycles", kind=dict, value=_times("loop_cycles")),
    Column("alone", kind=dict, value=lambda each: each.alone and each.alone.to_dict()),
    Column("slowdown", "loop over that alone"),
    Column("slowdown_ci95", "± 95 %"),
)
"""What JSON says of each program."""


def _actual(name: str, title: str) -> Column:
    """Return the column of a figure of ``LoopTimes`` that is a traffic."""

    def value(point: LoopRun) -> float | None:
        return getattr(point.times, name) if point.times else None

    return Column(name, title, FLITS, value, key=True, json=f"actual.{name}")


def _loop_cycles(part: str, title: str) -> Column:
    def value(point: LoopRun) -> float | None:
        return getattr(point.times.cycles, part)() if point.times else None

    return Column(f"loop_cycles_{part}", title, CYCLES, value, key=True, json=f"loop_cycles.{part}")


APPLIED = Column("applied", unit=FLITS, key=True)

SPEEDS = Columns(
    APPLIED,
    _actual("average_node", "average node"),
    _actual("worst_node", "worst node"),
    _actual("accepted", "mean of the tasks"),
    _loop_cycles("mean", "loop"),
    _loop_cycles("max", "slowest task's loop"),
    Column("message_latency", "message latency", CYCLES, key=True),
    Column("unhindered_latency", "unhindered", CYCLES, "unhindered", key=True),
    Column(
        "utilisation_max", "busiest channel", "flits/cycle", "busiest", key=True,
    ),
    Column("cycles", "run", CYCLES, "ending.cycle", kind=int),
    Column("messages", kind=int, value=lambda point: point.loops.sum()),
    Column("flit_hops", "flit-hops", kind=int),
    Column("interrupted", kind=bool, value="ending.interrupted"),
    Column("note", kind=str, table=False),
    Column(
        "programs", kind=list, table=False,
        value=lambda point: [PROGRAMS.nested(each) for each in point.programs],
    ),
)  # fmt: skip
"""The columns of one applied traffic."""

LIMIT = ("average_node", "worst_node", "upper_bound")
"""What JSON says of the static analysis: attributes of ``Saturation``."""


def _limit(found: LoopSimulation) -> dict[str, float] | None:
    return None if found.limit is None else {name: getattr(found.limit, name) for name in LIMIT}


@dataclass(frozen=True, eq=False)
class LoopSimulation(Answer):
    """What ``simulate_loop`` found, at one applied traffic or at several.

    Attributes
    ----------
    limit
        What static analysis says of the same traffic, or None where it says nothing.
    edges_within_nodes
        Edges of the program between tasks of one node, which are left out.
    inside_nodes
        The share of these edges, by what tasks choose their neighbors by.
    silent_tasks
        Tasks that send nothing over the network: they have no loop, and no part in means.
    finished
        Whether all runs came to their end, those of single programs too.
    """

    network: PreparedNetwork
    program: str
    mapping: str
    message_flits: int
    limit: Saturation | None
    edges_within_nodes: int
    silent_tasks: int
    inside_nodes: float
    points: tuple[LoopRun, ...]
    asked: tuple[float, ...]
    finished: bool
    provenance: Provenance

    columns: ClassVar = SPEEDS
    about: ClassVar = (
        NETWORK
        + INSIDE
        + Columns(
            Column("program", kind=str),
            Column("mapping", kind=str),
            Column("message_flits", kind=int),
            Column("edges_within_nodes", kind=int),
            Column("silent_tasks", kind=int),
            Column("asked", kind=list),
            Column("saturation", kind=dict, value=_limit),
            Column("interrupted", kind=bool),
        )
    )

    @property
    def several(self) -> bool:
        """Whether several applied traffics were asked for, or none was run."""
        return len(self.asked) > 1 or not self.points

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        return not self.finished

    @property
    def left_out(self) -> str | None:
        """What of the program makes no traffic, in words, or None if all of it does."""
        words = []
        if self.edges_within_nodes:
            edges = f"{self.edges_within_nodes} edge{'s' * (self.edges_within_nodes > 1)}"
            words.append(f"{edges} between tasks of one node, which need no network")
        if self.silent_tasks:
            words.append(silent(self.silent_tasks))
        return f"left out: {', and '.join(words)}" if words else None

    @property
    def point(self) -> LoopRun:
        """The one point that there is, or InputError if several applied traffics were asked for."""
        return self.only(self.points, "several applied traffics")

    def timeline(self) -> Timeline:
        """Return when each node computed, sent and received at the last applied traffic.

        Raises
        ------
        InputError
            If it was not asked to keep these times, or it did not come to that traffic.
        """
        kept = [(point.kept, point.applied) for point in self.points if point.kept is not None]
        if not kept:
            raise InputError("perfetto", "no times of messages", "timeline=True, and a whole run")
        (rows, applied), *_ = kept
        return nodes_timeline(self.network, rows, self.program, applied=applied)

    @table(channel_columns(APPLIED))
    def channels(self) -> pl.DataFrame:
        """Return one row per applied traffic and channel: its nodes, and flits per cycle on it."""
        runs = ((point.applied, point.channel_flits) for point in self.points)
        return channels_by("applied", runs, self.network.topology)

    def __repr__(self) -> str:
        head = f"{self.program} on {self.network.topology.name}, mapping {self.mapping}"
        lines = [self.left_out] if self.left_out else []
        for point in self.points:
            lines.append(f"applied {point.applied:.4g}: {_traffic(point.times) or point.note}")
            lines += [
                f"  {each.name}: {_traffic(each.times)}"
                + (f", {_times_as_slow(each)} as alone" if each.slowdown else "")
                for each in point.programs
            ]
        return "\n".join([f"<Loops of {head}; {self.origin}>", *lines])


def _times_as_slow(program: ProgramSpeed) -> str:
    sure = f" ± {program.slowdown_ci95:.2g}" if program.slowdown_ci95 is not None else ""
    return f"{program.slowdown:.4g}{sure} times as slow"


def silent(tasks: int) -> str:
    """Return in words that so many tasks send nothing.

    Examples
    --------
    >>> silent(1)
    '1 task that sends nothing over the network'
    """
    return f"{tasks} task{'s that send' if tasks > 1 else ' that sends'} nothing over the network"


def _traffic(times: LoopTimes | None) -> str:
    if times is None:
        return ""
    return (
        f"average node {times.average_node:.4g}, worst node {times.worst_node:.4g} flits/node/cycle"
    )


LEVELS = partial(parse_numbers, below_one=True)

BY_APPLIED = Axes(
    "applied traffic, flits/node/cycle", "message latency", "cycles",
    "accepted traffic, flits/node/cycle", open=False,
)  # fmt: skip

CURVE = CurveKind(
    BY_APPLIED, "applied", "message_latency", "unhindered_latency", accepted="accepted",
    besides=("applied", "alone", "loops", "skip"),
)  # fmt: skip
