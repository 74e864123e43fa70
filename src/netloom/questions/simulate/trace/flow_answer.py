"""The answer of ``replay`` on the flow engine: in seconds and bytes, or in cycles and flits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.units import seconds
from netloom.base.words import counted, number
from netloom.questions.columns import Column, Columns, table
from netloom.questions.simulate.engines import FLOWS
from netloom.questions.simulate.timelines import crossed_links, moved_rows
from netloom.questions.simulate.trace.replayed import (
    FLOWS_SAY,
    MOST_LISTED,
    NODES,
    OF_ROWS,
    OF_TRACE,
    SPREAD,
    Replayed,
    busy_columns,
    on_path,
    spread_of,
    whole,
)
from netloom.simulation.traces import FlowTraceRun, MessageTimes, Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Floats
    from netloom.questions.timelines import Crossed


def _times(unit: str, *names: str) -> list[Column]:
    return [Column(f"{name}_{unit}", name.replace("_", " "), unit) for name in names]


def _messages(unit: str, size: str) -> Columns:
    times = ("ready", "sent", "arrived", "complete", *MessageTimes._fields)
    return Columns(
        Column("id", kind=str),
        *whole("source_task", "target_task", *NODES),
        Column(size),
        *_times(unit, *(FLOWS_SAY.get(name, name) for name in times)),
        Column("slowdown"),
        Column("hops", kind=Real),
    )


def _channels(unit: str, size: str) -> Columns:
    return Columns(
        *whole("channel", *NODES),
        Column(size),
        *_times(unit, "busy"),
        Column("utilisation", "share of the time"),
        Column("name", "channel", kind=str, optional=True),
    )


def _links(unit: str) -> Columns:
    return Columns(
        Column("id", kind=str), *whole(*NODES), *_times(unit, "complete", *Parts._fields)
    )


def _figures(unit: str, size: str) -> Columns:
    def ends(name: str, title: str, value: str) -> Column:
        return Column(f"{name}_{unit}", title, unit, value, key=True)

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
        *on_path(unit),
        Column("messages", value=lambda found: (found.rows["flits"] > 0).sum(), kind=int, key=True),
        Column(size, value=lambda found: found.rows["flits"].sum()),
        *map(slowdown, SPREAD),
        used("mean", "mean channel", lambda busy: float(busy.sum() / max(len(busy), 1))),
        used("max", "busiest channel", lambda busy: float(busy.max(initial=0.0))),
        Column("interrupted", kind=bool),
    )


def _about(unit: str) -> Columns:
    return (
        FLOWS
        + Columns(Column("unit", kind=str, value=lambda _: unit))
        + OF_TRACE
        + Columns(
            Column(f"in_order_finish_{unit}", value=lambda it: it.finish_by_injection["in-order"]),
            Column(f"shared_finish_{unit}", value=lambda it: it.finish_by_injection["shared"]),
            Column("expected_error", kind=dict),
        )
        + OF_ROWS
        + Columns(
            Column(f"parallelism_{unit}", kind=dict, value="parallelism"),
            Column("slowest_messages", kind=list, value=lambda found: found.slowest_messages()),
            Column("busiest", kind=list, value=lambda found: found.busiest()),
            Column("note", kind=str),
        )
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FlowReplay(FlowTraceRun, Replayed):
    """What ``replay`` found on the flow engine. Times are seconds, lengths bytes."""

    unit: ClassVar = "seconds"
    size: ClassVar = "bytes"
    suffix: ClassVar = "_seconds"
    how: ClassVar = " as flows"
    columns: ClassVar = _figures("seconds", "bytes")
    about: ClassVar = _about("seconds")

    messages = table(_messages("seconds", "bytes"))(Replayed.messages)
    channels = table(_channels("seconds", "bytes"))(Replayed.channels)
    critical_entries = table(_links("seconds"))(Replayed.critical_entries)
    busy_channels = table(busy_columns("seconds"))(Replayed.busy_channels)

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if not self.interrupted:
            return None if self.finish is None else self.network.remark(self.finish)
        return (
            f"interrupted: {self.rows_complete} of {counted(len(self.rows), 'row')} were complete"
        )

    @property
    def expected_error(self) -> dict[str, Any]:
        """How far the finish can be trusted, as plain data."""
        if self.network.sharing != "max-min":
            why = "Flits were compared with flows that share max-min only."
            return {"within": None, "why": why}
        return self.trust.to_json()

    @cached_property
    def slowdowns(self) -> dict[str, float | None]:
        """Mean, percentiles and the largest latency of messages over that alone."""
        return spread_of(self.moved["slowdown"].to_numpy())

    @property
    def busy(self) -> Floats:
        """How long each channel between routers was busy."""
        return self.flows.link_times[: self.network.topology.num_network_channels]

    def busiest(self) -> list[dict[str, Any]]:
        """Return the busiest channels by name, those of hosts too: what crossed them, and when."""
        busy = self.flows.link_times
        most = np.argsort(-busy, kind="stable")[:MOST_LISTED]
        return [
            {
                "name": self.network.links.link_name(link),
                self.size: float(self.link_sizes[link]),
                f"busy_{self.unit}": float(busy[link]),
                "utilisation": float(busy[link] / (self.ended or 1)),
                "between": "routers" if link < len(self.busy) else "hosts",
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
        return crossed_links(self.flows, moved_rows(self.rows))

    def said(self, time: float | None) -> str:
        """Return a time with its unit."""
        if time is None or self.unit == "seconds":
            return seconds(time)
        return counted(number(time), "cycle")

    def told(self) -> list[str]:
        """Return the figures in lines."""
        lines = []
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
        return lines + [
            f"busiest channel {each['name']}: busy for {each['utilisation']:.1%} of the time"
            for each in self.busiest()[:1]
        ]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CycleFlowReplay(FlowReplay):
    """What ``replay`` found on the flow engine if no clock is known: in cycles and flits."""

    unit: ClassVar = "cycles"
    size: ClassVar = "flits"
    suffix: ClassVar = "_cycles"
    columns: ClassVar = _figures("cycles", "flits")
    about: ClassVar = _about("cycles")

    messages = table(_messages("cycles", "flits"))(Replayed.messages)
    channels = table(_channels("cycles", "flits"))(Replayed.channels)
    critical_entries = table(_links("cycles"))(Replayed.critical_entries)
    busy_channels = table(busy_columns("cycles"))(Replayed.busy_channels)
