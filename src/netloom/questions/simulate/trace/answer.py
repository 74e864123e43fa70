"""The answer of ``replay``: when a trace finished, and what it waited for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.words import counted
from netloom.questions.columns import (
    CYCLES,
    USED,
    Column,
    Columns,
    channel_ends,
    table,
    use_of_channels,
)
from netloom.questions.register import Answer
from netloom.questions.simulate.engines import NETWORK
from netloom.questions.simulate.timelines import crossed_channels, trace_timeline
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
from netloom.simulation.traces import MessageTimes, Parts, TraceRun
from netloom.topology.measures import busy_shares

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.base.arrays import Floats
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.questions.shown import Verdict
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.questions.timelines import Crossed
    from netloom.workload.programs.traces import Trace

ON_PATH = tuple(f"{part}_cycles" for part in Parts._fields)
"""What a critical path is made of, as columns are called."""

NODES = ("source_node", "target_node")


def _whole(*names: str, unit: str = "") -> list[Column]:
    return [Column(name, unit=unit, kind=int) for name in names]


MESSAGES = Columns(
    Column("id", kind=str),
    *_whole("source_task", "target_task", *NODES, "flits"),
    *_whole("ready", "sent", "arrived", "complete", *MessageTimes._fields, unit=CYCLES),
    *_whole("hops"),
)
CHANNELS = Columns(
    *_whole("channel", *NODES, "flits"),
    Column("utilisation", "carried by the channel", USED),
    Column("name", "channel", kind=str, optional=True),
    Column("bandwidth", unit=USED, optional=True),
)
"""The last two only if hosts hang on routers."""

TIMED = Columns(
    Column("flit_bytes", value="network.flit_bytes"), Column("cycle_us", value="network.cycle_us")
)
"""A trace may say bytes, and its question a bandwidth, where there is no machine."""

LINKS = Columns(Column("id", kind=str), *_whole(*NODES), *_whole("complete", *ON_PATH, unit=CYCLES))


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


def _on_path(name: str) -> Column:
    """Return the column of a part of the critical path, which JSON has in ``critical_path``."""
    title = f"critical path, {name.removesuffix('_cycles').replace('_', ' ')}"
    return Column(name, title, CYCLES, lambda found: found.path.get(name), int, json=None)


@dataclass(frozen=True, eq=False, kw_only=True)
class TraceReplay(TraceRun, Answer):
    """What ``replay`` found."""

    network: PreparedNetwork
    trace: Trace
    mapping: str
    provenance: Provenance

    columns: ClassVar = Columns(
        Column("finish_cycles", "finish", CYCLES, kind=int, key=True),
        Column("ideal_finish_cycles", "ideal finish", CYCLES, kind=int, key=True),
        Column("contention_share", "share of contention", key=True),
        *map(_on_path, ON_PATH),
        Column("messages", value=lambda found: (found.rows["flits"] > 0).sum(), kind=int, key=True),
        Column("flits", value=lambda found: found.rows["flits"].sum(), kind=int),
        Column("flit_hops", value=lambda found: found.channel_flits.sum(), kind=int),
        *_latency("message_latency", "latency", "latency"),
        *_latency("unhindered_latency", "unhindered", "unhindered latency"),
        *use_of_channels(lambda it: busy_shares(it.network.topology, it.utilisation)),
        Column("cycles", "simulated", CYCLES, "ending.cycle", int),
        Column("interrupted", kind=bool),
    )  # fmt: skip
    about: ClassVar = (NETWORK | TIMED) + Columns(
        Column("trace", kind=str, value="trace.name"),
        Column("tasks", kind=int, value="trace.num_tasks"),
        Column("entries", kind=int, value=lambda found: len(found.trace)),
        Column("mapping", kind=str),
        Column("inside_nodes", value="program.inside_nodes"),
        Column("finish_us", unit="µs", value=lambda found: found.us(found.finish_cycles)),
        Column(
            "ideal_finish_us", unit="µs", value=lambda found: found.us(found.ideal_finish_cycles)
        ),
        Column("rows", kind=int, value=lambda found: len(found.program.messages)),
        Column("rows_complete", kind=int),
        Column("critical_path", kind=dict, value=lambda found: found.path or None),
        Column("longest_wait", kind=dict),
        Column("parallelism_cycles", kind=dict, value="parallelism"),
        Column("slowest_messages", kind=list, value=lambda found: _slowest(found.moved).to_dicts()),
        Column(
            "busiest_channels",
            kind=list,
            value=lambda found: found.busiest_channels(),
        ),
        Column("busiest_host_channel", kind=dict),
        Column("note", kind=str),
    )

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped from outside."""
        return self.ending.interrupted

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.ending.enough:
            return None
        of = f"{self.rows_complete} of {counted(len(self.program.messages), 'row')} were complete"
        if self.interrupted:
            return f"interrupted in cycle {self.ending.cycle}: {of}"
        return f"after {self.ending.cycle} cycles, {of}: it takes longer than most_cycles"

    @property
    def rows_complete(self) -> int:
        """How many rows were complete when the run ended."""
        return int(np.count_nonzero(self.rows["complete"] >= 0))

    @property
    def longest_wait(self) -> dict[str, Any] | None:
        """The longest wait of an entry of the critical path. See ``entries.longest_wait``."""
        return longest_wait(self.critical_entries(), "cycles", self.network.topology)

    @property
    def parallelism(self) -> dict[str, float] | None:
        """The critical path by kind of parallelism. See ``entries.by_parallelism``."""
        return by_parallelism(self.trace, self.critical_entries(), "cycles")

    @property
    def verdict(self) -> Verdict:
        """How long the program takes, and what part of that it waits."""
        from netloom.questions.simulate.trace.verdict import verdict

        return verdict(self.to_dict())

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

    @cached_property
    def path(self) -> dict[str, Any]:
        """The critical path in all and its last links, named as in the trace. Perhaps nothing."""
        if not self.critical_path:
            return {}
        found = self.critical_path.to_dict()
        del found["rows"], found["rows_that_waited_for_a_processor"]
        links = self.critical_entries()
        return found | {"length": len(links), "entries": links.tail(MOST_ENTRIES).to_dicts()}

    @cached_property
    def moved(self) -> pl.DataFrame:
        """The messages that left their node and arrived."""
        found = self.messages()
        crossed = found["source_node"] != found["target_node"]
        return found.filter(found["arrived"].is_not_null() & crossed)

    @cached_property
    def utilisation(self) -> Floats:
        """Flits a cycle on each channel, until the trace finished or the run ended."""
        return self.channel_flits / max(self.finish_cycles or self.ending.cycle, 1)

    def spread(self, time: str) -> dict[str, float | None]:
        """Return what is said of a time of ``moved``. See ``spread_of``."""
        return spread_of(self.moved[time].to_numpy())

    @table(MESSAGES)
    def messages(self) -> pl.DataFrame:
        """Return one row per message, in the order of the trace, with times in cycles.

        A multicast has a row for each hop of its tree, and no target task. The time from ``sent``
        to ``arrived`` is ``latency``. It consists of ``source_wait``, until the node's channel
        into the network took the message, ``unhindered``, and ``contention``. If something had not
        happened when the run ended, it is null.
        """
        import polars as pl

        rows = self.rows
        sends = np.flatnonzero(rows["flits"] > 0)
        sends = sends[np.argsort(self.program.entry[sends], kind="stable")]
        entry, rows = self.program.entry[sends], rows[sends]
        arrived = rows["arrived"] >= 0
        table = pl.DataFrame(
            {
                "id": pl.Series(self.trace.ids, dtype=pl.String).gather(entry),
                "source_task": self.trace.source[entry],
                "target_task": target_tasks(self.trace)[entry],
                "source_node": rows["source"],
                "target_node": rows["target"],
                "flits": rows["flits"],
                **{name: rows[name] for name in ("ready", "sent", "arrived", "complete")},
                **self.message_times(sends)._asdict(),
                "hops": np.where(arrived, rows["hops"], -1),
            }
        )
        return known(table)

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per channel, the busiest first: its nodes, flits, and flits per cycle."""
        import polars as pl

        ends, named = channel_ends(self.network.topology)
        table = pl.DataFrame(
            {
                "channel": np.arange(len(self.channel_flits)),
                **ends,
                "flits": self.channel_flits,
                "utilisation": self.utilisation,
                **named,
            }
        )
        return table.sort("flits", descending=True, maintain_order=True)

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
        flits, topology = self.host_channel_flits, self.network.topology
        if not len(flits):
            return None
        place = int(np.argmax(flits))
        used = int(flits[place]) / max(self.finish_cycles or self.ending.cycle, 1)
        name = topology.channel_name(topology.num_network_channels + place)
        return {"name": name, "flits": int(flits[place]), "utilisation": used}

    @table(LINKS)
    def critical_entries(self) -> pl.DataFrame:
        """Return one row for each link of the critical path, the first first. Times in cycles.

        ``id`` names the entry, of which a multicast gives several links. Empty where the trace did
        not finish.
        """
        import polars as pl

        path = self.critical_path
        chain = path.rows if path else np.zeros(0, np.int64)
        rows = self.rows[chain]
        parts = path.parts if path else Parts(*(chain for _ in Parts._fields))
        table = pl.DataFrame(
            {
                "id": [self.trace.ids[entry] for entry in self.program.entry[chain].tolist()],
                "source_node": rows["source"],
                "target_node": np.where(rows["flits"] > 0, rows["target"], -1),
                "complete": rows["complete"],
                **dict(zip(ON_PATH, parts, strict=True)),
            },
            schema_overrides={"id": pl.String},
        )
        return known(table)

    @cached_property
    def crossed(self) -> Crossed | None:
        """The channels of each message that arrived. None if the engine does not keep them."""
        return crossed_channels(self.network, self.rows, self.channel_flits)

    @table(busy_columns("cycles"))
    def busy_channels(self) -> pl.DataFrame:
        """Return how busy the busiest channels are over time. See ``busy.busy_channels``."""
        ended = self.finish_cycles or self.ending.cycle
        inside = self.network.topology.num_network_channels
        return busy_channels(self.crossed, inside, self.rows, ended, self.critical_path, "cycles")

    def timeline(self) -> Timeline:
        """Return when each task computed, sent and received. Cycles in µs, or as 1 µs each."""
        return trace_timeline(
            self, self.trace, self.network.topology, unit="cycles", size="flits",
            unit_us=self.network.cycle_us, crossed=self.crossed,
        )  # fmt: skip

    def __repr__(self) -> str:
        network, trace = self.network, self.trace
        lines = [
            f"<Replay of {trace.name} ({trace.num_tasks} tasks, {len(trace)} entries) on "
            f"{network.topology.name}, mapping {self.mapping}; {self.origin}>"
        ]
        if self.note:
            lines.append(self.note)
        if path := self.path:
            lines.append(
                f"finished after {self._time(path['finish_cycles'])}, "
                f"{self._time(path['ideal_finish_cycles'])} without contention and other waits"
            )
            made_of = {name.removesuffix("_cycles"): path[name] for name in ON_PATH if path[name]}
            shown = [f"{name.replace('_', ' ')} {n}" for name, n in made_of.items()]
            lines.append(f"critical path of {path['length']} links: {', '.join(shown)} cycles")
        if len(self.moved):
            found, alone = self.spread("latency"), self.spread("unhindered")
            lines.append(
                f"{len(self.moved)} messages: latency {found['mean']:.4g} cycles, 99 % within "
                f"{found['p99']}, unhindered {alone['mean']:.4g}"
            )
        if len(self.moved) and len(self.channel_flits):
            busy = self.channels().row(0, named=True)
            name = network.topology.channel_name(busy["channel"])
            lines.append(f"busiest channel {name}: {busy['utilisation']:.3g} flits per cycle")
        if len(self.moved) and (ends := self.busiest_host_channel):
            used = f"{ends['utilisation']:.3g} flits per cycle"
            lines.append(f"busiest channel of a host {ends['name']}: {used}")
        return "\n".join(lines)

    def _time(self, cycles: int) -> str:
        us = self.us(cycles)
        return f"{cycles} cycles" + ("" if us is None else f" ({us:.4g} µs)")


def _slowest(messages: pl.DataFrame) -> pl.DataFrame:
    by = ["latency", "sent", "id", "source_node", "target_node"]
    return messages.sort(by, descending=[True, *[False] * 4]).head(MOST_LISTED)
