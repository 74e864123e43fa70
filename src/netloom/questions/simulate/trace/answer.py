"""The answer of ``replay`` in cycles: when a trace finished, and what it waited for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.words import counted
from netloom.questions.columns import CYCLES, USED, Column, Columns, table, use_of_channels
from netloom.questions.simulate.engines import NETWORK
from netloom.questions.simulate.timelines import crossed_channels
from netloom.questions.simulate.trace.replayed import (
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
from netloom.simulation.traces import MessageTimes, Parts
from netloom.topology.measures import busy_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from netloom.questions.timelines import Crossed

ON_PATH = tuple(f"{part}_cycles" for part in Parts._fields)
"""What a critical path is made of, as columns are called."""

MESSAGES = Columns(
    Column("id", kind=str),
    *whole("source_task", "target_task", *NODES, "flits"),
    *whole("ready", "sent", "arrived", "complete", *MessageTimes._fields, unit=CYCLES),
    *whole("hops"),
)
CHANNELS = Columns(
    *whole("channel", *NODES, "flits"),
    Column("utilisation", "carried by the channel", USED),
    Column("name", "channel", kind=str, optional=True),
    Column("bandwidth", unit=USED, optional=True),
)
"""The last two only if hosts hang on routers."""

TIMED = Columns(
    Column("flit_bytes", value="network.flit_bytes"), Column("cycle_us", value="network.cycle_us")
)
"""A trace may say bytes, and its question a bandwidth, where there is no machine."""

LINKS = Columns(Column("id", kind=str), *whole(*NODES), *whole("complete", *ON_PATH, unit=CYCLES))


def _latency(name: str, time: str, title: str) -> list[Column]:
    """Return the columns of a time of the messages that crossed channels."""

    def value(part: str) -> Callable[[TraceReplay], float | None]:
        return lambda found: found.spread(time)[part]

    return [
        Column(
            f"{name}_{part}", f"{title}, {said}", CYCLES, value(part),
            int if part != "mean" else float,
            key=name == "message_latency" and part in ("mean", "p99"),
            json=f"{name}.{part}",
        )
        for part, said in SPREAD.items()
    ]  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TraceReplay(Replayed):
    """What ``replay`` found on an engine of cycles."""

    unit: ClassVar = "cycles"
    size: ClassVar = "flits"
    columns: ClassVar = Columns(
        Column("finish_cycles", "finish", CYCLES, kind=int, key=True),
        Column("ideal_finish_cycles", "ideal finish", CYCLES, kind=int, key=True),
        Column("contention_share", "share of contention", key=True),
        *on_path(CYCLES, int),
        Column("messages", value=lambda found: (found.rows["flits"] > 0).sum(), kind=int, key=True),
        Column("flits", value=lambda found: found.rows["flits"].sum(), kind=int),
        Column("flit_hops", value=lambda found: found.busy.sum(), kind=int),
        *_latency("message_latency", "latency", "latency"),
        *_latency("unhindered_latency", "unhindered", "unhindered latency"),
        *use_of_channels(lambda it: busy_shares(it.network.topology, it.utilisation)),
        Column("cycles", "simulated", CYCLES, "until", int),
        Column("interrupted", kind=bool),
    )  # fmt: skip
    about: ClassVar = (
        (NETWORK | TIMED)
        + OF_TRACE
        + Columns(
            Column("finish_us", unit="µs", value=lambda found: found.us(found.finish)),
            Column("ideal_finish_us", unit="µs", value=lambda found: found.us(found.ideal_finish)),
        )
        + OF_ROWS
        + Columns(
            Column("parallelism_cycles", kind=dict, value="parallelism"),
            Column("slowest_messages", kind=list, value=lambda it: _slowest(it.moved).to_dicts()),
            Column("busiest_channels", kind=list, value=lambda found: found.busiest_channels()),
            Column("busiest_host_channel", kind=dict),
            Column("note", kind=str),
        )
    )

    messages = table(MESSAGES)(Replayed.messages)
    channels = table(CHANNELS)(Replayed.channels)
    critical_entries = table(LINKS)(Replayed.critical_entries)
    busy_channels = table(busy_columns(CYCLES))(Replayed.busy_channels)

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.critical_path:
            return None
        of = f"{self.rows_complete} of {counted(len(self.rows), 'row')} were complete"
        if self.interrupted:
            return f"interrupted in cycle {self.until}: {of}"
        return f"after {self.until} cycles, {of}: it takes longer than most_cycles"

    @property
    def finish_cycles(self) -> int | None:
        """The cycle in which all entries were complete. None where they were not."""
        return self.finish  # type: ignore[no-any-return]

    @property
    def ideal_finish_cycles(self) -> int | None:
        """When it would have finished had no row waited: for channels, or for a processor."""
        return self.ideal_finish  # type: ignore[no-any-return]

    def us(self, cycles: int | None) -> float | None:
        """Return cycles in µs. None if no clock is known."""
        cycle = self.network.cycle_us
        return None if cycle is None or cycles is None else cycles * cycle

    @property
    def busy(self) -> NDArray[Any]:
        """The flits that crossed each channel between routers."""
        return self.link_sizes[: self.network.topology.num_network_channels]

    def spread(self, time: str) -> dict[str, float | None]:
        """Return what is said of a time of ``moved``. See ``spread_of``."""
        return spread_of(self.moved[time].to_numpy())

    def busiest_channels(self) -> list[dict[str, Any]]:
        """Return the first rows of ``channels``, with their names."""
        named = self.network.topology.channel_name
        return [
            each | {"name": named(each["channel"]), "between": "routers"}
            for each in self.channels().head(MOST_LISTED).to_dicts()
        ]

    @property
    def busiest_host_channel(self) -> dict[str, Any] | None:
        """The busiest channel of a host that hangs on a router. None where there is none."""
        inside = len(self.busy)
        flits = self.link_sizes[inside:]
        if not len(flits):
            return None
        place = int(np.argmax(flits))
        used = int(flits[place]) / (self.ended or 1)
        name = self.network.topology.channel_name(inside + place)
        return {"name": name, "flits": int(flits[place]), "utilisation": used}

    @cached_property
    def crossed(self) -> Crossed | None:
        """The channels of each message that arrived. None if the engine does not keep them."""
        return crossed_channels(self.network, self.rows, self.busy)

    def told(self) -> list[str]:
        """Return the figures in lines."""
        lines, topology = [], self.network.topology
        if path := self.path:
            lines.append(
                f"finished after {self._time(path['finish_cycles'])}, "
                f"{self._time(path['ideal_finish_cycles'])} without contention and other waits"
            )
            made_of = {name.removesuffix("_cycles"): path[name] for name in ON_PATH if path[name]}
            shown = [f"{name.replace('_', ' ')} {n}" for name, n in made_of.items()]
            lines.append(f"critical path of {path['length']} links: {', '.join(shown)} cycles")
        if not len(self.moved):
            return lines
        found, alone = self.spread("latency"), self.spread("unhindered")
        lines.append(
            f"{len(self.moved)} messages: latency {found['mean']:.4g} cycles, 99 % within "
            f"{found['p99']}, unhindered {alone['mean']:.4g}"
        )
        if len(self.busy):
            busy = self.channels().row(0, named=True)
            name = topology.channel_name(busy["channel"])
            lines.append(f"busiest channel {name}: {busy['utilisation']:.3g} flits per cycle")
        if ends := self.busiest_host_channel:
            used = f"{ends['utilisation']:.3g} flits per cycle"
            lines.append(f"busiest channel of a host {ends['name']}: {used}")
        return lines

    def _time(self, cycles: int) -> str:
        us = self.us(cycles)
        return f"{cycles} cycles" + ("" if us is None else f" ({us:.4g} µs)")


def _slowest(messages: pl.DataFrame) -> pl.DataFrame:
    by = ["latency", "sent", "id", "source_node", "target_node"]
    return messages.sort(by, descending=[True, *[False] * 4]).head(MOST_LISTED)
