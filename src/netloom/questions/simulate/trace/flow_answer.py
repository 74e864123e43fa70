"""The answer of ``replay`` on the flow engine: in seconds and bytes, or in cycles and flits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.units import seconds
from netloom.base.words import counted, number
from netloom.questions.columns import Column, Columns, channel_ends, table
from netloom.questions.register import Answer
from netloom.questions.simulate.engines import FLOWS
from netloom.questions.simulate.timelines import crossed_links, moved_rows, trace_timeline
from netloom.questions.simulate.trace.entries import (
    MOST_ENTRIES,
    MOST_LISTED,
    SPREAD,
    busy_channels,
    busy_columns,
    by_parallelism,
    known,
    longest_wait,
    spread_of,
    target_tasks,
)
from netloom.simulation.traces import FlowTraceRun, MessageTimes, Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.questions.shown import Verdict
    from netloom.questions.simulate.engines import PreparedFlows
    from netloom.questions.timelines import Crossed
    from netloom.workload.programs.traces import Trace

NODES = ("source_node", "target_node")


def _whole(*names: str) -> list[Column]:
    return [Column(name, kind=int) for name in names]


def _times(unit: str, *names: str) -> list[Column]:
    return [Column(f"{name}_{unit}", name.replace("_", " "), unit) for name in names]


def _messages(unit: str, size: str) -> Columns:
    return Columns(
        Column("id", kind=str),
        *_whole("source_task", "target_task", *NODES),
        Column(size),
        *_times(unit, "ready", "sent", "arrived", "finish", "latency", "source_wait", "alone"),
        *_times(unit, "contention"),
        Column("slowdown"),
        Column("hops", kind=Real),
    )


def _channels(unit: str, size: str) -> Columns:
    return Columns(
        *_whole("channel", *NODES),
        Column(size),
        *_times(unit, "busy"),
        Column("utilisation", "share of the time"),
        Column("name", "channel", kind=str, optional=True),
    )


def _links(unit: str) -> Columns:
    return Columns(
        Column("id", kind=str), *_whole(*NODES), *_times(unit, "complete", *Parts._fields)
    )


def _figures(unit: str, size: str) -> Columns:
    def ends(name: str, title: str, value: str) -> Column:
        return Column(f"{name}_{unit}", title, unit, value, key=True)

    def on_path(name: str) -> Column:
        title = f"critical path, {name.replace('_', ' ')}"
        value = f"{name}_{unit}"
        return Column(value, title, unit, lambda found: found.path.get(value), json=None)

    def slowdown(part: str) -> Column:
        return Column(
            f"slowdown_{part}", f"slow-down, {SPREAD[part]}",
            value=lambda found: found.slowdowns[part], key=part in ("mean", "p99"),
            json=f"slowdown.{part}",
        )  # fmt: skip

    def used(part: str, title: str, of: Callable[[Floats], float]) -> Column:
        return Column(
            f"utilisation_{part}", title, value=lambda found: of(found.utilisation),
            key=part == "max", json=f"utilisation.{part}",
        )  # fmt: skip

    return Columns(
        ends("finish", "finish", "finish"),
        ends("alone", "finish had no message met another", "alone_finish"),
        ends("bound", "earliest possible finish", "bound"),
        Column("contention_share", "share of contention", key=True),
        *map(on_path, Parts._fields),
        Column("messages", value=lambda found: (found.rows["flits"] > 0).sum(), kind=int, key=True),
        Column(size, value=lambda found: found.rows["flits"].sum()),
        *map(slowdown, SPREAD),
        used("mean", "mean channel", lambda busy: float(busy.sum() / max(len(busy), 1))),
        used("max", "busiest channel", lambda busy: float(busy.max(initial=0.0))),
        Column("interrupted", kind=bool),
    )


def _about(unit: str) -> Columns:
    return FLOWS + Columns(
        Column("unit", kind=str, value=lambda _: unit),
        Column("trace", kind=str, value="trace.name"),
        Column("tasks", kind=int, value="trace.num_tasks"),
        Column("entries", kind=int, value=lambda found: len(found.trace)),
        Column("mapping", kind=str),
        Column("inside_nodes", value="program.inside_nodes"),
        Column(f"in_order_finish_{unit}", value=lambda it: it.finish_by_injection["in-order"]),
        Column(f"shared_finish_{unit}", value=lambda it: it.finish_by_injection["shared"]),
        Column("expected_error", kind=dict),
        Column("rows", kind=int, value=lambda found: len(found.rows)),
        Column("rows_complete", kind=int),
        Column("critical_path", kind=dict, value=lambda found: found.path or None),
        Column("longest_wait", kind=dict),
        Column(f"parallelism_{unit}", kind=dict, value="parallelism"),
        Column("slowest_messages", kind=list, value=lambda found: found.slowest_messages()),
        Column("busiest", kind=list, value=lambda found: found.busiest()),
        Column("note", kind=str),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class FlowReplay(FlowTraceRun, Answer):
    """What ``replay`` found on the flow engine. Times are seconds, lengths bytes."""

    network: PreparedFlows
    trace: Trace
    mapping: str
    provenance: Provenance

    unit: ClassVar = "seconds"
    size: ClassVar = "bytes"
    columns: ClassVar = _figures("seconds", "bytes")
    about: ClassVar = _about("seconds")

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if not self.interrupted:
            return None if self.finish is None else self.network.remark(self.finish)
        return (
            f"interrupted: {self.rows_complete} of {counted(len(self.rows), 'row')} were complete"
        )

    @property
    def rows_complete(self) -> int:
        """How many rows were complete when the run ended."""
        return int(np.count_nonzero(self.rows["complete"] >= 0))

    @property
    def longest_wait(self) -> dict[str, Any] | None:
        """The longest wait of an entry of the critical path. See ``entries.longest_wait``."""
        return longest_wait(self.critical_entries(), self.unit, self.network.topology)

    @property
    def verdict(self) -> Verdict:
        """How long the program takes, and what part of that it waits."""
        from netloom.questions.simulate.trace.verdict import verdict

        return verdict(self.to_dict())

    @property
    def expected_error(self) -> dict[str, Any]:
        """How far the finish can be trusted, as plain data."""
        if self.network.sharing != "max-min":
            why = "Flits were compared with flows that share max-min only."
            return {"within": None, "why": why}
        found = self.trust
        if found is not None:
            return found.to_dict()
        why = "The run was interrupted."
        if not self.interrupted:
            why = "Whether the order in which messages are sent matters would take long to find."
        return {"within": None, "why": why}

    @cached_property
    def ended(self) -> float:
        """When the trace finished, or the run was stopped."""
        return float(max(self.rows["complete"].max(initial=0), self.rows["arrived"].max(initial=0)))

    @cached_property
    def path(self) -> dict[str, Any]:
        """The critical path in all and its last links, named as in the trace. Perhaps nothing."""
        if not self.critical_path:
            return {}
        found = self.critical_path.to_dict(self.unit)
        del found["rows"], found["rows_that_waited_for_a_processor"]
        links = self.critical_entries()
        return found | {"length": len(links), "entries": links.tail(MOST_ENTRIES).to_dicts()}

    @cached_property
    def sends(self) -> Ints:
        """The rows that send a message, in the order of the trace."""
        sends = np.flatnonzero(self.rows["flits"] > 0)
        return sends[np.argsort(self.program.entry[sends], kind="stable")]

    @cached_property
    def moved(self) -> pl.DataFrame:
        """The messages that left their node and arrived."""
        found = self.messages()
        crossed = found["source_node"] != found["target_node"]
        return found.filter(found[f"arrived_{self.unit}"].is_not_null() & crossed)

    @cached_property
    def slowdowns(self) -> dict[str, float | None]:
        """Mean, percentiles and the largest latency of messages over that alone."""
        return spread_of(self.moved["slowdown"].to_numpy())

    @cached_property
    def utilisation(self) -> Floats:
        """Share of the time that each channel between routers was busy."""
        inside = self.network.topology.num_network_channels
        return self.link_times[:inside] / (self.ended or 1)

    @cached_property
    def hops(self) -> Floats:
        """Channels between routers that each of ``sends`` crosses, the mean of several paths."""
        way = self.flows.way[self.sends]
        hops = np.append(self.flows.ways.hops(self.links), 0.0)  # the last of what stays at home
        return hops[way]

    @table(_messages("seconds", "bytes"))
    def messages(self) -> pl.DataFrame:
        """Return one row per message, in the order of the trace.

        A multicast has a row for each hop of its tree, and no target task. The time from ``sent``
        to ``arrived`` is ``latency``. It consists of three parts: ``source_wait``, until the
        message entered the network after those that its node sent before, ``alone``, the time if
        it meets no other, and ``contention``. The ratio (latency − source_wait) / alone is
        ``slowdown``, 1 within a node. At ``finish`` the target has received the message. If
        something had not happened when the run ended, it is null.
        """
        import polars as pl

        sends, unit = self.sends, self.unit
        rows, entry = self.rows[sends], self.program.entry[sends]
        times = {name: rows[name] for name in ("ready", "sent", "arrived")}
        times |= {"finish": rows["complete"]}
        parts = dict(zip(MessageTimes._fields, self.message_times(sends), strict=True))
        times |= {"alone" if name == "unhindered" else name: part for name, part in parts.items()}
        hops = self.hops
        found = pl.DataFrame(
            {
                "id": pl.Series(self.trace.ids, dtype=pl.String).gather(entry),
                "source_task": self.trace.source[entry],
                "target_task": target_tasks(self.trace)[entry],
                "source_node": rows["source"],
                "target_node": rows["target"],
                self.size: rows["flits"],
                **{f"{name}_{unit}": value for name, value in times.items()},
                "slowdown": self.slowdown(sends),
                "hops": hops.astype(np.int64) if (hops % 1 == 0).all() else hops,
            }
        )
        return known(found)

    @table(_channels("seconds", "bytes"))
    def channels(self) -> pl.DataFrame:
        """Return one row per channel between routers, the busiest first: what crossed it, and when.

        ``busy`` is what crossed it over its bandwidth, ``utilisation`` that over the whole time.
        """
        import polars as pl

        ends, named = channel_ends(self.network.topology)
        named.pop("bandwidth", None)
        inside = self.network.topology.num_network_channels
        busy = self.link_times[:inside]
        found = pl.DataFrame(
            {
                "channel": np.arange(inside),
                **ends,
                self.size: self.flows.link_sizes[:inside],
                f"busy_{self.unit}": busy,
                "utilisation": self.utilisation,
                **named,
            }
        )
        return found.sort(f"busy_{self.unit}", descending=True, maintain_order=True)

    @table(_links("seconds"))
    def critical_entries(self) -> pl.DataFrame:
        """Return one row for each link of the critical path, the first first.

        ``id`` names the entry, of which a multicast gives several links. Empty if the trace did
        not finish.
        """
        import polars as pl

        path = self.critical_path
        chain = path.rows if path else np.zeros(0, np.int64)
        rows = self.rows[chain]
        parts = path.parts._asdict() if path else dict.fromkeys(Parts._fields, np.zeros(0))
        times = {"complete": rows["complete"]} | parts
        found = pl.DataFrame(
            {
                "id": [self.trace.ids[entry] for entry in self.program.entry[chain].tolist()],
                "source_node": rows["source"],
                "target_node": np.where(rows["flits"] > 0, rows["target"], -1),
                **{f"{name}_{self.unit}": time for name, time in times.items()},
            },
            schema_overrides={"id": pl.String},
        )
        return known(found)

    @property
    def parallelism(self) -> dict[str, float] | None:
        """The critical path by kind of parallelism. See ``entries.by_parallelism``."""
        return by_parallelism(self.trace, self.critical_entries(), self.unit)

    def busiest(self) -> list[dict[str, Any]]:
        """Return the busiest channels by name, those of hosts too: what crossed them, and when."""
        busy = self.link_times
        most = np.argsort(-busy, kind="stable")[:MOST_LISTED]
        inside = self.network.topology.num_network_channels
        return [
            {
                "name": self.links.link_name(link),
                self.size: float(self.flows.link_sizes[link]),
                f"busy_{self.unit}": float(busy[link]),
                "utilisation": float(busy[link] / (self.ended or 1)),
                "between": "routers" if link < inside else "hosts",
            }
            for link in most.tolist()
            if busy[link] > 0
        ]

    def slowest_messages(self) -> list[dict[str, Any]]:
        """Return the messages with the largest slow-down, the largest first."""
        by = ["slowdown", f"sent_{self.unit}", "id", *NODES]
        worst = self.moved.sort(by, descending=[True, *[False] * 4])
        return worst.head(MOST_LISTED).to_dicts()

    @cached_property
    def crossed(self) -> Crossed:
        """The channels of each message that arrived, those of hosts too."""
        return crossed_links(self.links, self.flows, moved_rows(self.rows))

    @table(busy_columns("seconds"))
    def busy_channels(self) -> pl.DataFrame:
        """Return how busy the busiest channels are over time. See ``busy.busy_channels``."""
        inside, ended = self.network.topology.num_network_channels, self.ended or 0.0
        return busy_channels(self.crossed, inside, self.rows, ended, self.critical_path, self.unit)

    def timeline(self) -> Timeline:
        """Return when each task computed, sent and received. In µs, or cycles as 1 µs each."""
        return trace_timeline(
            self, self.trace, self.network.topology, unit=self.unit, size=self.size,
            unit_us=1e6 if self.unit == "seconds" else None, crossed=self.crossed,
        )  # fmt: skip

    def said(self, time: float | None) -> str:
        """Return a time with its unit."""
        if time is None or self.unit == "seconds":
            return seconds(time)
        return counted(number(time), "cycle")

    def __repr__(self) -> str:
        network, trace = self.network, self.trace
        lines = [
            f"<Replay of {trace.name} ({trace.num_tasks} tasks, {len(trace)} entries) on "
            f"{network.topology.name} as flows, mapping {self.mapping}; {self.origin}>"
        ]
        if self.note:
            lines.append(self.note)
        if path := self.critical_path:
            lines.append(
                f"finished after {self.said(path.finish)}, {self.said(self.alone_finish)} had no "
                f"message met another, {self.said(self.bound)} at the earliest"
            )
            parts = {name.replace("_", " "): part for name, part in path.totals().items() if part}
            made_of = [f"{name} {self.said(part)}" for name, part in parts.items()]
            lines.append(f"critical path of {len(path.rows)} links: {', '.join(made_of)}")
        if len(self.moved):
            slow = self.slowdowns
            lines.append(
                f"{len(self.moved)} messages: slow-down {slow['mean']:.3g}, 99 % within "
                f"{slow['p99']:.3g}, at most {slow['max']:.3g}"
            )
        lines += [
            f"busiest channel {each['name']}: busy for {each['utilisation']:.1%} of the time"
            for each in self.busiest()[:1]
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CycleFlowReplay(FlowReplay):
    """What ``replay`` found on the flow engine if no clock is known: in cycles and flits."""

    unit: ClassVar = "cycles"
    size: ClassVar = "flits"
    columns: ClassVar = _figures("cycles", "flits")
    about: ClassVar = _about("cycles")

    messages = table(_messages("cycles", "flits"))(FlowReplay.messages)
    channels = table(_channels("cycles", "flits"))(FlowReplay.channels)
    critical_entries = table(_links("cycles"))(FlowReplay.critical_entries)
    busy_channels = table(busy_columns("cycles"))(FlowReplay.busy_channels)
