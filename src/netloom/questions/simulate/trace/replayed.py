"""What answers of all engines say of a replayed trace, in cycles and flits or in other units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.drawing.timelines import mean_rates
from netloom.questions.columns import Column, Columns, channel_ends
from netloom.questions.register import Answer
from netloom.questions.simulate.timelines import moved_rows, trace_timeline
from netloom.questions.timelines import busiest_links
from netloom.simulation.traces import WAITS, Parts, TraceRun
from netloom.workload.programs.traces import EVERYONE
from netloom.workload.programs.training import PURPOSES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.questions.shown import Verdict
    from netloom.questions.timelines import Crossed
    from netloom.workload.programs.traces import Trace

MOST_ENTRIES = 50
"""Entries of the critical path that go into JSON: the last ones."""

MOST_LISTED = 10
"""Slowest messages and busiest channels that go into JSON."""

SPREAD = {"mean": "mean", "p50": "median", "p99": "99 % up to", "max": "largest"}
"""What is said of the values of all messages, and its title."""

PARTS = 80
"""Equal parts of the time, of each of which the mean use is known."""

NODES = ("source_node", "target_node")

FLOWS_SAY = {"complete": "finish", "unhindered": "alone"}
"""What tables of flows call times of messages that have another name in those of cycles."""

OF_TRACE = Columns(
    Column("trace", kind=str, value="trace.name"),
    Column("tasks", kind=int, value="trace.num_tasks"),
    Column("entries", kind=int, value=lambda found: len(found.trace)),
    Column("mapping", kind=str),
    Column("inside_nodes", value="program.inside_nodes"),
)
OF_ROWS = Columns(
    Column("rows", kind=int, value=lambda found: len(found.rows)),
    Column("rows_complete", kind=int),
    Column("critical_path", kind=dict, value=lambda found: found.path or None),
    Column("longest_wait", kind=dict),
)
"""What JSON says of the trace, and of its rows, whatever the engine."""


def whole(*names: str, unit: str = "") -> list[Column]:
    """Return columns of whole numbers."""
    return [Column(name, unit=unit, kind=int) for name in names]


def on_path(unit: str, kind: type = float) -> list[Column]:
    """Return the columns of the parts of the critical path, which JSON has in ``critical_path``."""

    def column(part: str) -> Column:
        name, title = f"{part}_{unit}", f"critical path, {part.replace('_', ' ')}"
        return Column(name, title, unit, lambda found: found.path.get(name), kind, json=None)

    return [column(part) for part in Parts._fields]


def busy_columns(unit: str) -> Columns:
    """Return the columns of the table of busy channels, with times in ``unit``."""
    return Columns(
        Column("name", "channel", kind=str),
        Column(f"begin_{unit}", "from", unit),
        Column(f"end_{unit}", "until", unit),
        Column("utilisation", "share of the channel in use"),
        Column("critical", "used by the critical path", kind=bool),
    )


def spread_of(values: NDArray[Any]) -> dict[str, float | None]:
    """Return the mean, percentiles by nearest rank, and the largest of some values.

    The mean is of an exact sum: the order of values says nothing.

    Examples
    --------
    >>> spread_of(np.array([1, 2, 3]))["p99"]
    np.int64(3)
    """
    if not len(values):
        return dict.fromkeys(SPREAD)
    middle, high = np.percentile(values, [50, 99], method="inverted_cdf")
    mean = fsum(values.tolist()) / len(values)
    return {"mean": mean, "p50": middle, "p99": high, "max": values.max()}


def known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with nulls for -1, which stands for what is not known, or not the case."""
    import polars as pl
    import polars.selectors as cs

    numbers = cs.numeric()
    return table.with_columns(pl.when(numbers >= 0).then(numbers).name.keep())


@dataclass(frozen=True, eq=False, kw_only=True)
class Replayed(TraceRun, Answer):
    """What ``replay`` found on an engine.

    Times are in ``unit``, lengths in ``size``.
    """

    network: Any
    trace: Trace
    mapping: str
    provenance: Provenance

    unit: ClassVar[str]
    size: ClassVar[str]
    suffix: ClassVar[str] = ""  # of times of messages in tables
    how: ClassVar[str] = ""  # it was replayed, in words

    if TYPE_CHECKING:

        @property
        def busy(self) -> NDArray[Any]:
            """What crossed each channel between routers: over its bandwidth, or flits."""

        @property
        def crossed(self) -> Crossed | None:
            """The channels of each message that arrived. None if the engine does not keep them."""

        @property
        def note(self) -> str | None:
            """What to know before relying on the figures."""

        def told(self) -> list[str]:
            """Return the figures in lines."""

    def called(self, time: str) -> str:
        """Return what tables call a time of a message."""
        return f"{FLOWS_SAY.get(time, time)}{self.suffix}" if self.suffix else time

    @property
    def verdict(self) -> Verdict:
        """How long the program takes, and what part of that it waits."""
        from netloom.questions.simulate.trace.verdict import verdict

        return verdict(self.to_dict())

    @cached_property
    def path(self) -> dict[str, Any]:
        """The critical path in all and its last links, named as in the trace. Perhaps nothing."""
        if not self.critical_path:
            return {}
        found = self.critical_path.to_dict(self.unit)
        links = self.critical_entries()
        return found | {"length": len(links), "entries": links.tail(MOST_ENTRIES).to_dicts()}

    @property
    def longest_wait(self) -> dict[str, Any] | None:
        """The longest wait of the entries of the critical path. None if none waits.

        ``id`` is the entry's, ``part`` what it waits for, ``source`` and ``target`` its nodes'
        names.
        """
        links, topology = self.critical_entries(), self.network.topology
        waits = {part: links[f"{part}_{self.unit}"].fill_null(0) for part in WAITS}
        part = max(WAITS, key=lambda each: waits[each].max() or 0)
        place = waits[part].arg_max()
        if place is None or not waits[part][place]:
            return None
        row = links.row(place, named=True)
        target = row["target_node"]
        return {
            "id": row["id"], "part": part, self.unit: waits[part][place],
            "source": topology.name_of(row["source_node"]),
            "target": None if target is None else topology.name_of(target),
        }  # fmt: skip

    @property
    def parallelism(self) -> dict[str, float] | None:
        """What the critical path takes for each kind of parallelism, and for computing.

        Of a training step that netloom made. None of other traces, or if there is no path.
        """
        links, unit = self.critical_entries(), self.unit
        if not self.trace.name.startswith("llm:") or links.is_empty():
            return None
        found = dict.fromkeys(("computing", "pipeline", *PURPOSES.values()), 0.0)
        others = [f"{part}_{unit}" for part in Parts._fields if part != "compute"]
        names = ("id", f"compute_{unit}", *others)
        columns = [links[name].fill_null(0).to_list() for name in names]
        for name, computing, *rest in zip(*columns, strict=True):
            purpose = name.partition(".")[0]
            found["computing"] += computing
            found[purpose if purpose in found else "pipeline"] += sum(rest)
        return found

    @cached_property
    def moved(self) -> pl.DataFrame:
        """The messages that left their node and arrived."""
        found = self.messages()
        crossed = found["source_node"] != found["target_node"]
        return found.filter(found[self.called("arrived")].is_not_null() & crossed)

    @cached_property
    def utilisation(self) -> Floats:
        """What each channel between routers carried until the end, as ``busy`` has it."""
        return np.asarray(self.busy / (self.ended or 1))

    def messages(self) -> pl.DataFrame:
        """Return one row per message, in the order of the trace.

        A multicast has a row for each hop of its tree, and no target task. The time from ``sent``
        to ``arrived`` is ``latency``. Until the node's channel into the network took the message,
        it is ``source_wait``. The rest is the time if the message meets no other (``unhindered`` in
        cycles, ``alone`` of flows), and ``contention``. Of flows, the ratio (latency − source_wait)
        / alone is ``slowdown``, 1 within a node. If something had not happened when the run ended,
        it is null.
        """
        import polars as pl

        sends, trace = self.sends, self.trace
        rows, entry, hops = self.rows[sends], self.program.entry[sends], self.hops[sends]
        offsets, tasks = trace.targets
        target = np.full(len(trace), -1, np.int64)  # several, all or none
        alone = np.diff(offsets) == 1
        target[alone] = tasks[offsets[:-1][alone]]
        target[target == EVERYONE] = -1
        if hops.dtype.kind == "f" and (hops % 1 == 0).all():
            hops = hops.astype(np.int64)
        times = {name: rows[name] for name in ("ready", "sent", "arrived", "complete")}
        times |= self.message_times(sends)._asdict()
        table = pl.DataFrame(
            {
                "id": pl.Series(trace.ids, dtype=pl.String).gather(entry),
                "source_task": trace.source[entry],
                "target_task": target[entry],
                "source_node": rows["source"],
                "target_node": rows["target"],
                self.size: rows["flits"],
                **{self.called(name): value for name, value in times.items()},
                "slowdown": self.slowdown(sends),
                "hops": hops,
            }
        )
        return known(self._declared(table, "messages"))

    def _declared(self, found: pl.DataFrame, name: str) -> pl.DataFrame:
        """Return those columns that the table of an engine has."""
        columns = self.tables()[name]
        return found.select(each for each in found.columns if each in columns)

    def channels(self) -> pl.DataFrame:
        """Return one row per channel between routers, the busiest first: what crossed it.

        Of flows, ``busy`` is that over its bandwidth, and ``utilisation`` the part of the whole
        time. In cycles, ``utilisation`` is flits per cycle.
        """
        import polars as pl

        ends, named = channel_ends(self.network.topology)
        busy = f"busy_{self.unit}"
        table = pl.DataFrame(
            {
                "channel": np.arange(len(self.busy)),
                **ends,
                self.size: self.link_sizes[: len(self.busy)],
                busy: self.busy,
                "utilisation": self.utilisation,
                **named,
            }
        )
        return self._declared(table.sort(busy, descending=True, maintain_order=True), "channels")

    def critical_entries(self) -> pl.DataFrame:
        """Return one row for each link of the critical path, the first first.

        ``id`` names the entry, of which a multicast gives several links. Empty where the trace did
        not finish.
        """
        import polars as pl

        path, unit = self.critical_path, self.unit
        chain = path.rows if path else np.zeros(0, np.int64)
        rows = self.rows[chain]
        parts = path.parts if path else Parts(*(rows["complete"] for _ in Parts._fields))
        table = pl.DataFrame(
            {
                "id": [self.trace.ids[entry] for entry in self.program.entry[chain].tolist()],
                "source_node": rows["source"],
                "target_node": np.where(rows["flits"] > 0, rows["target"], -1),
                f"complete{self.suffix}": rows["complete"],
                **{f"{name}_{unit}": part for name, part in parts._asdict().items()},
            },
            schema_overrides={"id": pl.String},
        )
        return known(table)

    def busy_channels(self) -> pl.DataFrame:
        """Return the mean use of the busiest channels in equal parts of the time.

        The busiest comes first. Only channels between routers count. Messages count as spread
        evenly over their time in the network. ``critical`` marks parts in which a message of the
        critical path is on the channel. There are no rows if the engine does not keep the channels
        of messages.
        """
        import polars as pl

        rows, crossed, ended, unit = self.rows, self.crossed, float(self.ended), self.unit
        edges = np.linspace(0.0, ended, PARTS + 1)
        found: dict[str, list[Any]] = {column.name: [] for column in busy_columns(unit)}
        moved = np.flatnonzero(moved_rows(rows))
        if crossed is not None and ended > 0 and len(moved):
            begin = rows["entered"][moved].astype(np.float64)
            end = np.maximum(rows["arrived"][moved], begin + ended * 1e-9)
            between = crossed.links.values < self.network.topology.num_network_channels
            crossed = crossed._replace(shares=np.where(between, crossed.shares, 0.0))
            on_path = np.isin(moved, self.critical_path.rows if self.critical_path else [])
            for link, who, taken in busiest_links(crossed, rows["flits"][moved]):
                used = mean_rates(begin[who], end[who], taken / (end - begin)[who], edges)
                mine = who[on_path[who]]
                marked = (begin[mine, None] < edges[1:]) & (end[mine, None] > edges[:-1])
                found["name"] += [crossed.name(link)] * PARTS
                found[f"begin_{unit}"] += edges[:-1].tolist()
                found[f"end_{unit}"] += edges[1:].tolist()
                found["utilisation"] += np.clip(used, 0.0, 1.0).tolist()
                found["critical"] += marked.any(axis=0).tolist()
        kinds = dict.fromkeys(found, pl.Float64) | {"name": pl.String, "critical": pl.Boolean}
        return pl.DataFrame(found, schema=kinds)

    def timeline(self) -> Timeline:
        """Return when each task computed, sent and received. In µs, or cycles as 1 µs each."""
        unit_us = 1e6 if self.unit == "seconds" else getattr(self.network, "cycle_us", None)
        return trace_timeline(
            self, self.trace, self.network.topology, unit=self.unit, size=self.size,
            unit_us=unit_us, crossed=self.crossed,
        )  # fmt: skip

    def __repr__(self) -> str:
        trace, name = self.trace, self.network.topology.name
        what = f"{trace.name} ({trace.num_tasks} tasks, {len(trace)} entries) on {name}"
        head = f"<Replay of {what}{self.how}, mapping {self.mapping}; {self.origin}>"
        return "\n".join([head, *([self.note] if self.note else []), *self.told()])
