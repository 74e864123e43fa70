"""The answer of ``replay``: when a trace finished, and what it waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.questions.answers import Answer
from netloom.questions.numbers import plainly
from netloom.simulation.critical_path import Parts
from netloom.simulation.traces import TraceRun
from netloom.words import counted
from netloom.workload.programs.traces import EVERYONE

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.provenance import Provenance
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload.programs.traces import Trace

MOST_ENTRIES = 50
"""Entries of the critical path that go into JSON: the last ones."""

MOST_LISTED = 10
"""Slowest messages and busiest channels that go into JSON."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TraceReplay(TraceRun, Answer):
    """What ``replay`` found.

    Attributes
    ----------
    network
        What ran the trace.
    trace
        The trace.
    mapping
        Name of the mapping.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "messages", "channels", "critical_entries")

    network: PreparedNetwork
    trace: Trace
    mapping: str
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped from outside."""
        return self.ending.interrupted

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.ending.enough:
            return None
        done = int(np.count_nonzero(self.rows["complete"] >= 0))
        of = f"{done} of {counted(len(self.program.messages), 'row')} were complete"
        if self.interrupted:
            return f"interrupted in cycle {self.ending.cycle}: {of}"
        return f"after {self.ending.cycle} cycles, {of}: it takes longer than most_cycles"

    def table(self) -> pl.DataFrame:
        """Return the one row of what is compared with other replays; times in cycles."""
        import polars as pl

        table = self.messages()
        moved = table.filter(table["hops"] > 0)
        path = self.critical_path
        parts = dict.fromkeys(Parts._fields) if path is None else path.parts._asdict()
        used = self.channel_flits / self._cycles
        row: dict[str, Any] = {
            "finish_cycles": self.finish_cycles,
            "ideal_finish_cycles": self.ideal_finish_cycles,
            "contention_share": self.contention_share,
            **{f"{name}_cycles": None if part is None else int(part.sum())
               for name, part in parts.items()},
            "messages": len(table),
            "flits": int(table["flits"].sum()),
            "flit_hops": int(self.channel_flits.sum()),
            **{f"message_latency_{part}": value
               for part, value in _summary(moved["latency"]).items()},
            **{f"unhindered_latency_{part}": value
               for part, value in _summary(moved["unhindered"]).items()},
            "utilisation_mean": float(used.mean()) if len(used) else 0.0,
            "utilisation_max": float(used.max(initial=0.0)),
            "cycles": self.ending.cycle,
            "interrupted": self.interrupted,
        }  # fmt: skip
        types = {name: pl.Float64 for name, value in row.items() if value is None}
        return pl.DataFrame([row], schema_overrides=types)

    def messages(self) -> pl.DataFrame:
        """Return one row a message, in the order of the trace; times in cycles.

        A multicast has a row for each hop of its tree, and no target task. ``latency`` is from
        ``sent`` to ``arrived``: ``source_wait``, until its node's channel into the network took
        it, ``unhindered``, and ``contention``. Null is what had not happened when the run ended.
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
                "target_task": _target_tasks(self.trace)[entry],
                "source_node": rows["source"],
                "target_node": rows["target"],
                "flits": rows["flits"],
                **{name: rows[name] for name in ("ready", "sent", "arrived", "complete")},
                **self.message_times(sends)._asdict(),
                "hops": np.where(arrived, rows["hops"], -1),
            }
        )
        return _known(table)

    def channels(self) -> pl.DataFrame:
        """Return one row a channel, the busiest first: its nodes, its flits, and flits a cycle."""
        import polars as pl

        topology = self.network.topology
        table = pl.DataFrame(
            {
                "channel": np.arange(topology.num_channels),
                "source_node": topology.channel_source,
                "target_node": topology.channel_target,
                "flits": self.channel_flits,
                "utilisation": self.channel_flits / self._cycles,
            }
        )
        return table.sort("flits", descending=True, maintain_order=True)

    def critical_entries(self) -> pl.DataFrame:
        """Return one row for each link of the critical path, the first first; times in cycles.

        ``id`` names the entry, of which a multicast gives several links. Empty where the trace did
        not finish.
        """
        import polars as pl

        path = self.critical_path
        chain = path.rows if path else np.zeros(0, np.int64)
        rows = self.rows[chain]
        parts = path.parts if path else Parts(*(chain for _ in Parts._fields))
        to = np.where(rows["flits"] > 0, rows["target"], -1)
        table = pl.DataFrame(
            {
                "id": [self.trace.ids[entry] for entry in self.program.entry[chain].tolist()],
                "source_node": rows["source"],
                "target_node": to,
                "complete": rows["complete"],
                **{f"{name}_cycles": cycles for name, cycles in parts._asdict().items()},
            },
            schema_overrides={"id": pl.String},
        )
        return _known(table)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate --trace``."""
        table, channels = self.messages(), self.channels()
        moved = table.filter(table["hops"] > 0)
        crossed = int(self.channel_flits.sum())
        utilisation = channels["utilisation"]
        return self.network.describe(self.provenance) | {
            "trace": self.trace.name,
            "tasks": self.trace.num_tasks,
            "entries": len(self.trace),
            "mapping": self.mapping,
            "finish_cycles": self.finish_cycles,
            "finish_us": self._us(self.finish_cycles),
            "ideal_finish_cycles": self.ideal_finish_cycles,
            "ideal_finish_us": self._us(self.ideal_finish_cycles),
            "contention_share": self.contention_share,
            "critical_path": self._path_dict(),
            "messages": len(table),
            "flits": int(table["flits"].sum()),
            "flit_hops": crossed,
            "message_latency": _summary(moved["latency"]),
            "unhindered_latency": _summary(moved["unhindered"]),
            "utilisation": {"mean": utilisation.mean() or 0.0, "max": utilisation.max() or 0.0},
            "slowest_messages": _slowest(moved).to_dicts(),
            "busiest_channels": channels.head(MOST_LISTED).to_dicts(),
            "cycles": self.ending.cycle,
            "interrupted": self.interrupted,
            "note": self.note,
        }

    def __repr__(self) -> str:
        network, trace = self.network, self.trace
        seed, version = self.provenance.seed, self.provenance.version
        lines = [
            f"<Replay of {trace.name} ({trace.num_tasks} tasks, {len(trace)} entries) on "
            f"{network.topology.name}, mapping {self.mapping}; seed {seed}, netloom {version}>"
        ]
        if self.note:
            lines.append(self.note)
        path = self.critical_path
        if path:
            lines.append(
                f"finished after {self._time(path.finish_cycles)}, "
                f"{self._time(path.ideal_finish_cycles)} without contention and other waits"
            )
            made_of = {name: int(cycles.sum()) for name, cycles in path.parts._asdict().items()}
            shown = [f"{name.replace('_', ' ')} {n}" for name, n in made_of.items() if n]
            lines.append(f"critical path of {len(path.rows)} links: {', '.join(shown)} cycles")
        table = self.messages()
        moved = table.filter(table["hops"] > 0)
        if len(moved):
            found, alone = _summary(moved["latency"]), _summary(moved["unhindered"])
            lines.append(
                f"{len(moved)} messages: latency {found['mean']:.4g} cycles, 99 % within "
                f"{found['p99']}, unhindered {alone['mean']:.4g}"
            )
            busy = self.channels().row(0, named=True)
            name = network.topology.channel_name(busy["channel"])
            lines.append(f"busiest channel {name}: {busy['utilisation']:.3g} flits a cycle")
        return "\n".join(lines)

    @property
    def _cycles(self) -> int:
        return max(self.finish_cycles or self.ending.cycle, 1)

    def _us(self, cycles: int | None) -> float | None:
        machine = self.network.machine
        return None if machine is None or cycles is None else cycles * machine.cycle_us

    def _time(self, cycles: int) -> str:
        us = self._us(cycles)
        return f"{cycles} cycles" + ("" if us is None else f" ({us:.4g} µs)")

    def _path_dict(self) -> dict[str, Any] | None:
        """Return the critical path with its last links, named as in the trace."""
        if not self.critical_path:
            return None
        found = self.critical_path.to_dict()
        del found["rows"], found["rows_that_waited_for_a_processor"]
        links = self.critical_entries()
        return found | {"length": len(links), "entries": links.tail(MOST_ENTRIES).to_dicts()}


def _target_tasks(trace: Trace) -> NDArray[np.int64]:
    """Return the task that each entry is sent to; -1 for several, all or none."""
    offsets, tasks = trace.targets
    found = np.full(len(trace), -1, np.int64)
    alone = np.diff(offsets) == 1
    found[alone] = tasks[offsets[:-1][alone]]
    found[found == EVERYONE] = -1
    return found


def _known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with nulls for -1, which stands for what is not known, or not the case."""
    import polars as pl
    import polars.selectors as cs

    numbers = cs.numeric()
    return table.with_columns(pl.when(numbers >= 0).then(numbers).name.keep())


def _summary(cycles: pl.Series) -> dict[str, Any]:
    """Return mean, percentiles by nearest rank, and the largest; None where there is nothing."""
    values = cycles.to_numpy()
    if not len(values):
        return dict.fromkeys(("mean", "p50", "p99", "max"))
    middle, high = np.percentile(values, [50, 99], method="inverted_cdf")
    return {
        "mean": float(values.mean()),
        "p50": int(middle),
        "p99": int(high),
        "max": int(values.max()),
    }


def _slowest(messages: pl.DataFrame) -> pl.DataFrame:
    by = ["latency", "sent", "id", "source_node", "target_node"]
    return messages.sort(by, descending=[True, *[False] * 4]).head(MOST_LISTED)
