"""One run of a trace: when its entries are complete, what messages waited for, what decided.

Times are whole cycles on the engines of cycles, and floats of any unit on the flow engine. Then
what is left of a difference by rounding counts as nothing, and parts add up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.figures import Number, leaves, records
from netloom.routing import Paths, Routing
from netloom.simulation.agenda import run_program
from netloom.simulation.figures import (
    MOST_LISTED,
    WAITS,
    BusyPart,
    CriticalEntries,
    Crossed,
    Link,
    Message,
    Spread,
    Trust,
    Use,
    UsedChannel,
    Wait,
    busiest_links,
    mean_rates,
    moved_rows,
)
from netloom.simulation.flow import FlowLaw, FlowNetwork, FlowRun, GivenPaths, run_flows, trust
from netloom.simulation.flow.engine import FAIR
from netloom.simulation.flow.run import cheap_finish
from netloom.simulation.program_network import ProgramNetwork
from netloom.topology import Topology
from netloom.topology.measures import busy_shares
from netloom.workload.programs.messages import Messages
from netloom.workload.programs.traces import EVERYONE, Replay

if TYPE_CHECKING:
    import polars as pl


MOST_ENTRIES = 50
"""Entries of the critical path that are figures: the last ones."""

PARTS_OF_TIME = 80
"""Equal parts of the time, of each of which the mean use of busy channels is known."""

STEP_CYCLES = 2_000
"""Cycles after which a run can be interrupted."""

ROUNDING = 1e-9, 1e-14
"""A float difference is nothing if it is below these parts of what a row took, and of its end."""


@dataclass(frozen=True, eq=False)
class TraceRun:
    """When the rows of a trace were complete on any engine, and what decided it.

    Attributes
    ----------
    program
        The rows that the trace became on its nodes.
    topology
        The network.
    rows
        Records of all rows, with the fields that ``critical_path`` takes, ``source``, ``target``
        and ``flits``.
    hops
        int64[num_rows], or float64[num_rows] as means over several paths, the channels between
        routers that each message crosses. -1 if the engine says it of those that have arrived.
    unhindered
        Time[num_rows], latency of each message had nothing been in its way; -1 for rows that send
        none, or whose message has not arrived.
    critical_path
        The chain of rows that determined the finish. None where the trace did not finish.
    link_sizes
        What crossed each channel, those between routers first.
    until
        The time that the run came to.
    interrupted
        Whether it was stopped from outside.
    """

    program: Replay
    topology: Topology
    rows: Records
    hops: Records
    unhindered: Records
    critical_path: CriticalPath | None
    link_sizes: Records
    until: Number
    interrupted: bool

    @property
    def finish(self) -> Number | None:
        """The time at which all entries were complete. None where they were not."""
        return self.critical_path.finish if self.critical_path else None

    @property
    def ended(self) -> Number:
        """When it finished, or the time that it came to."""
        return self.finish or self.until

    @property
    def ideal_finish(self) -> Number | None:
        """When it would have finished had no row waited: for channels, or for a processor."""
        return self.critical_path.ideal_finish if self.critical_path else None

    @property
    def rows_complete(self) -> int:
        """How many rows were complete when the run ended."""
        return int(np.count_nonzero(self.rows["complete"] >= 0))

    @property
    def contention_share(self) -> float | None:
        """Part of the finish time that messages of the critical path lost to others."""
        if not self.critical_path or not self.critical_path.finish:
            return None
        lost = self.critical_path.parts.contention.sum().item()
        return float(lost / self.critical_path.finish)

    @property
    def sends(self) -> Ints:
        """The rows that send a message, in the order of the trace."""
        sends = np.flatnonzero(self.rows["flits"] > 0)
        return sends[np.argsort(self.program.entry[sends], kind="stable")]

    def message_times(self, chosen: Ints) -> dict[str, Records]:
        """Return what the latency of some rows, which send messages, is made of.

        These are columns of ``Message``, -1 if one has not arrived.
        """
        rows, alone = self.rows[chosen], self.unhindered[chosen].copy()
        arrived = rows["arrived"] >= 0
        alone[arrived & (rows["source"] == rows["target"])] = 0
        latency = np.where(arrived, rows["arrived"] - rows["sent"], -1)
        waited = waits_at_source(rows)
        met = _unrounded(latency - waited - alone, rows)
        waited, met = (np.where(arrived, times, -1) for times in (waited, np.maximum(met, 0)))
        return {"latency": latency, "source_wait": waited, "unhindered": alone, "contention": met}

    def slowdown(self, chosen: Ints) -> Floats:
        """Return the time of messages in the network over that alone; -1 if one has not arrived.

        What a message waits for others of its own node, before it enters, does not count.
        """
        times = self.message_times(chosen)
        alone = np.where(times["unhindered"] > 0, times["unhindered"], 1)
        crossed = self.rows["source"][chosen] != self.rows["target"][chosen]
        inside = times["latency"] - times["source_wait"]
        found = np.where(crossed, np.maximum(inside / alone, 1), 1.0)
        return np.where(times["latency"] >= 0, found, -1)

    def messages(self) -> dict[str, Any]:
        """Return the columns of ``Message``, in the order of the trace.

        A multicast has a row for each hop of its tree, and no target task. If something had not
        happened when the run ended, it is null.
        """
        import polars as pl

        sends, trace = self.sends, self.program.trace
        rows, entry, hops = self.rows[sends], self.program.entry[sends], self.hops[sends]
        offsets, tasks = trace.targets
        target = np.full(len(trace), -1, np.int64)  # several, all or none
        alone = np.diff(offsets) == 1
        target[alone] = tasks[offsets[:-1][alone]]
        target[target == EVERYONE] = -1
        if hops.dtype.kind == "f" and (hops % 1 == 0).all():
            hops = hops.astype(np.int64)
        return _known(
            {
                "id": pl.Series(trace.ids, dtype=pl.String).gather(entry),
                "source_task": trace.source[entry],
                "target_task": target[entry],
                "source_node": rows["source"],
                "target_node": rows["target"],
                "size": rows["flits"],
                **{name: rows[name] for name in ("ready", "sent", "arrived", "complete")},
                **self.message_times(sends),
                "hops": hops,
            }
        )

    @cached_property
    def moved(self) -> pl.DataFrame:
        """The messages that left their node and arrived."""
        import polars as pl

        found = pl.DataFrame(self.messages())
        crossed = found["source_node"] != found["target_node"]
        return found.filter(found["arrived"].is_not_null() & crossed)

    @property
    def slowest(self) -> tuple[Message, ...]:
        """The messages that took longest, compared with those alone as flows, the longest first."""
        by = "slowdown" if "slowdown" in self.moved.columns else "latency"
        order = [by, "sent", "id", "source_node", "target_node"]
        worst = self.moved.sort(order, descending=[True, *[False] * 4]).head(MOST_LISTED)
        return records(Message, worst.to_dict())

    def spread(self, time: str) -> Spread:
        """Return what is said of a time of the messages that left their node and arrived."""
        return Spread.of(self.moved[time].to_numpy())

    def links(self) -> dict[str, Any]:
        """Return the columns of ``Link``, the first first. Empty if the trace did not finish."""
        import polars as pl

        path, trace = self.critical_path, self.program.trace
        chain = path.rows if path else np.zeros(0, np.int64)
        rows = self.rows[chain]
        parts = path.parts if path else Parts(*(rows["complete"] for _ in Parts._fields))
        ids = [trace.ids[entry] for entry in self.program.entry[chain].tolist()]
        return _known(
            {
                "id": pl.Series(ids, dtype=pl.String),
                "source_node": rows["source"],
                "target_node": np.where(rows["flits"] > 0, rows["target"], -1),
                "complete": rows["complete"],
                **parts._asdict(),
            }
        )

    @property
    def critical_entries(self) -> CriticalEntries | None:
        """The critical path in all, and its last links. None if the trace did not finish."""
        path = self.critical_path
        if path is None:
            return None
        last = {name: values[-MOST_ENTRIES:] for name, values in self.links().items()}
        entries = records(Link, last)
        return CriticalEntries(
            start=path.start, length=len(path.rows), entries=entries, **path.totals()
        )

    @property
    def longest_wait(self) -> Wait | None:
        """The longest wait of the entries of the critical path. None if none waits."""
        path = self.critical_path
        waits = {part: getattr(path.parts, part) for part in WAITS} if path else {}
        part = max(waits, key=lambda each: waits[each].max(), default="")
        if path is None or not waits[part].max():
            return None
        place = int(waits[part].argmax())
        row = path.rows[place]
        ends = self.rows[row]
        return Wait(
            id=self.program.trace.ids[self.program.entry[row]],
            part=part,
            time=waits[part][place].item(),
            source=self.topology.name_of(int(ends["source"])),
            target=self.topology.name_of(int(ends["target"])) if ends["flits"] > 0 else None,
        )

    @property
    def parallelism(self) -> dict[str, float] | None:
        """What the critical path takes for each kind of parallelism, and for computing.

        Of a training step that netloom made. None of other traces, or if there is no path.
        """
        from netloom.workload.programs.training import PURPOSES

        path, trace = self.critical_path, self.program.trace
        if path is None or not trace.name.startswith("llm:"):
            return None
        found = dict.fromkeys(("computing", "pipeline", *PURPOSES), 0.0)
        entry, compute = self.program.entry[path.rows], path.parts.compute
        rest = np.sum([part for part in path.parts if part is not compute], axis=0)
        for place, computing, other in zip(entry, compute.tolist(), rest.tolist(), strict=True):
            purpose = trace.ids[place].partition(".")[0]
            found["computing"] += computing
            found[purpose if purpose in found else "pipeline"] += other
        return found

    @property
    def busy(self) -> Records:
        """What crossed each channel between routers: over its bandwidth, or flits."""
        return self.link_sizes[: self.topology.num_network_channels]

    def channels(self) -> dict[str, Any]:
        """Return the columns of ``UsedChannel`` for channels between routers, the busiest first."""
        inside, topology = len(self.busy), self.topology
        order = np.argsort(-np.asarray(self.busy, np.float64), kind="stable")
        found = {
            "channel": np.arange(inside),
            "source_node": topology.source_end[:inside],
            "target_node": topology.target_end[:inside],
            "size": self.link_sizes[:inside],
            "utilisation": np.asarray(self.busy / (self.ended or 1)),
        }
        if not topology.direct:
            names = [topology.channel_name(each) for each in range(inside)]
            rates = topology.channel_bandwidth[:inside]
            found |= {"name": np.array(names, np.object_), "bandwidth": rates}
        return {name: values[order] for name, values in found.items()}

    @property
    def busiest(self) -> tuple[UsedChannel, ...]:
        """The busiest channels by name, each by the part of its bandwidth that was used."""
        columns = self.channels()
        shares = self.shares[columns["channel"]]
        most = np.argsort(-shares, kind="stable")[:MOST_LISTED]
        first = {name: values[most] for name, values in columns.items()}
        names = [self.topology.channel_name(each) for each in first["channel"].tolist()]
        told = {"utilisation": shares[most], "name": names, "between": ["routers"] * len(names)}
        return records(UsedChannel, first | told)

    @property
    def busiest_host_channel(self) -> UsedChannel | None:
        """The busiest channel of a host that hangs on a router. None where there is none."""
        inside = len(self.busy)
        flits = self.link_sizes[inside:]
        if not len(flits):
            return None
        shares = flits / self.topology.channel_bandwidth[inside:] / (self.ended or 1)
        place = int(np.argmax(shares))
        name, size = self.topology.channel_name(inside + place), int(flits[place])
        columns = {"name": [name], "size": [size], "utilisation": [shares[place]]}
        return records(UsedChannel, columns)[0]

    @property
    def shares(self) -> Floats:
        """What crossed each channel between routers, as a part of what could until the end."""
        return busy_shares(self.topology, self.busy / (self.ended or 1))

    @property
    def use(self) -> Use:
        """How busy channels between routers are until the end."""
        shares = self.shares
        return Use(mean=float(shares.sum() / max(len(shares), 1)), max=float(shares.max(initial=0)))

    def busy_parts(self, crossed: Crossed | None) -> dict[str, Any]:
        """Return the columns of ``BusyPart`` for the busiest channels, the busiest first.

        Only channels between routers count. Messages count as spread evenly over their time in the
        network. There are no rows if ``crossed``, the channels of messages, is not known.
        """
        rows, ended, moved = self.rows, float(self.ended), np.flatnonzero(moved_rows(self.rows))
        edges = np.linspace(0.0, ended, PARTS_OF_TIME + 1)
        found: dict[str, list[Any]] = {each.name: [] for each in leaves(BusyPart)}
        if crossed is None or ended <= 0 or not len(moved):
            return found
        begin = rows["entered"][moved].astype(np.float64)
        end = np.maximum(rows["arrived"][moved], begin + ended * 1e-9)
        between = crossed.links.values < len(self.busy)
        crossed = crossed._replace(shares=np.where(between, crossed.shares, 0.0))
        on_path = np.isin(moved, self.critical_path.rows if self.critical_path else [])
        for link, who, taken in busiest_links(crossed, rows["flits"][moved]):
            used = mean_rates(begin[who], end[who], taken / (end - begin)[who], edges)
            mine = who[on_path[who]]
            marked = (begin[mine, None] < edges[1:]) & (end[mine, None] > edges[:-1])
            found["name"] += [crossed.name(link)] * PARTS_OF_TIME
            found["begin"] += edges[:-1].tolist()
            found["end"] += edges[1:].tolist()
            found["utilisation"] += np.clip(used, 0.0, 1.0).tolist()
            found["critical"] += marked.any(axis=0).tolist()
        return found


def _known(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with nulls for -1, which stands for what is not known, or not the case."""
    import polars as pl
    import polars.selectors as cs

    numbers, table = cs.numeric(), pl.DataFrame(columns)
    return table.with_columns(pl.when(numbers >= 0).then(numbers).name.keep()).to_dict()


def run_trace(
    network: ProgramNetwork,
    program: Replay,
    most_cycles: int,
    tell: Callable[[int], None],
    stopped: Callable[[], bool],
) -> TraceRun:
    """Run a trace until all of it is complete, or for ``most_cycles``. Return what was found.

    ``tell`` is told the rows that are complete after every step.
    """
    engine = network.make_engine()
    ending = run_program(
        engine, program, step=STEP_CYCLES, most_cycles=most_cycles, stopped=stopped, tell=tell
    )
    rows = engine.rows.copy()
    moved = moved_rows(rows)
    alone = np.full(len(rows), -1, np.int64)
    alone[moved] = network.zero_load_latencies(rows[moved])
    path = None
    if ending.enough:
        path = critical_path(program.messages, rows, alone)
    topology, hops = network.topology, np.where(rows["arrived"] >= 0, rows["hops"], -1)
    sizes, ended = engine.crossed()[: topology.num_channels], (ending.cycle, ending.interrupted)
    return TraceRun(program, topology, rows, hops, alone, path, sizes, *ended)


class Parts(NamedTuple):
    """Times of rows, part by part, an array each: together the time from release to completion.

    ``compute``: delay, and work of the source's processor. ``processor_wait``: until a processor
    was free, or had gone to another context, at the source or at the target. ``source_wait``: until
    its own node's channel into the network took the message, after those that the node sent
    before it, whatever held these up. ``message``: through the network, were nothing else in it.
    ``contention``: what it took longer once it had left its node. ``receive``: work of the target's
    processor.
    """

    compute: Records
    processor_wait: Records
    source_wait: Records
    message: Records
    contention: Records
    receive: Records


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """The chain of rows that determined when a program finished.

    Attributes
    ----------
    rows
        int64[], from the first, which waited for nothing but its start, to the one that was
        complete last. Each of the others was released by the one before.
    parts
        The times of each of these rows.
    start
        When the first of them was released.
    finish
        When the last was complete: the start and all parts.
    ideal_finish
        When the program would have finished in a network without contention, and had no row
        waited for a processor: the longest path through all rows.
    """

    rows: Ints
    parts: Parts
    start: Number
    finish: Number
    ideal_finish: Number

    def totals(self) -> dict[str, Any]:
        """Return what the parts come to, by their names."""
        return {name: part.sum().item() for name, part in self.parts._asdict().items()}

    def __repr__(self) -> str:
        made_of = ", ".join(f"{name} {time:.6g}" for name, time in self.totals().items() if time)
        ends = f"finish {self.finish:.6g}, ideally {self.ideal_finish:.6g}"
        return f"<{ends}: {len(self.rows)} rows, {made_of}>"


def critical_path(
    table: Messages, rows: NDArray[Any], unhindered: Records, *, slack: float = 0.0
) -> CriticalPath:
    """Return the chain of rows that determined when a program finished.

    From the row that was complete last (of several, the first), back from each to the row that
    released it, until one that was released by its start only. If a row waited for a
    processor, the chain does not turn to those that it waited for: the wait is a part of its own.

    ``table`` has all rows of the program, numbered from 0, at least one. ``rows`` are these when
    all are complete, with the fields ``ready``, ``sent``, ``entered``, ``arrived``, ``complete``
    and ``last``. ``unhindered``: Time[len(rows)], what the message of each that sends one takes
    through the network when nothing else is in it. All times are in one unit. ``slack``: how much
    too early floats may be, as a part of their time: what would be negative for it is 0, and parts
    add up no better.

    Examples
    --------
    >>> from netloom.workload.programs.messages import messages
    >>> table = messages(4, source=[0, 3], target=[3, 0], flits=[8, 0], run=5, after=[[], [0]])
    >>> fields = ("ready", "sent", "entered", "arrived", "complete", "last")
    >>> rows = [(0, 5, 8, 20, 20, -1), (20, 27, -1, 27, 27, 0)]
    >>> rows = np.array(rows, [(field, "i8") for field in fields])
    >>> path = critical_path(table, rows, np.full(2, 12))
    >>> path  # of row 1, 2 cycles were not its computation's
    <finish 27, ideally 22: 2 rows, compute 10, processor_wait 2, source_wait 3, message 12>
    """
    from netloom.simulation.kernels.agenda import earliest_ends

    assert table.first == 0
    assert len(table) == len(rows) > 0
    complete = rows["complete"]
    assert complete.min() >= 0, "a row is not complete"
    kind = complete.dtype
    alone = np.where(table.moving, unhindered, 0).astype(kind)
    least = table.delay.astype(kind) + table.run + alone + table.receive
    ends = earliest_ends(table.start.astype(kind), least, table.after_offsets, table.after)
    links, before = [int(np.argmax(complete))], int(rows["last"][np.argmax(complete)])
    while before >= 0 and table.start[links[-1]] <= complete[before]:  # else its own start is later
        links.append(before)
        before = int(rows["last"][before])
    chain = np.array(links[::-1], np.int64)
    taken = rows[chain]
    source_wait = waits_at_source(taken)
    waits = taken["sent"] - taken["ready"] - table.run[chain]
    waits = waits + (taken["complete"] - taken["arrived"] - table.receive[chain])
    parts = Parts(
        compute=table.delay[chain].astype(kind) + table.run[chain],
        processor_wait=_unrounded(waits, taken),
        source_wait=source_wait,
        message=alone[chain],
        contention=_unrounded(taken["arrived"] - taken["sent"] - source_wait - alone[chain], taken),
        receive=table.receive[chain].astype(kind),
    )
    early = -slack * taken["complete"]
    assert all((part >= early).all() for part in parts), "a row took less time than it can"
    parts = Parts(*(np.maximum(part, 0) for part in parts))
    start = taken["ready"][0].item() - table.delay[chain[0]].item()
    finish = complete.max().item()
    total = start + sum(part.sum().item() for part in parts)
    assert slack or abs(total - finish) <= (0 if kind.kind == "i" else 1e-8 * finish)
    return CriticalPath(chain, parts, start, finish, ends.max().item())


def waits_at_source(rows: NDArray[Any]) -> Records:
    """Return how long each row waited for its node's channel; 0 for what did not leave its node."""
    left = rows["entered"] >= 0
    waited = np.where(left, rows["entered"] - rows["sent"], 0).astype(rows["sent"].dtype)
    return _unrounded(waited, rows)


def _unrounded(times: Records, rows: NDArray[Any]) -> Records:
    """Return times of rows, those that are only what rounding left as 0."""
    if times.dtype.kind == "i":
        return times
    of_row, of_end = ROUNDING
    took = np.maximum(rows["complete"], rows["arrived"]) - rows["ready"]
    least = of_row * took + of_end * rows["arrived"]
    return np.where(np.abs(times) <= least, 0.0, times)


SLACK = 20.0
"""How many times the tolerance a message may seem too early."""


@dataclass(frozen=True, eq=False, repr=False)
class FlowTraceRun(TraceRun):
    """What a run of a trace found on the flow engine.

    Attributes
    ----------
    flows
        What the engine returned.
    alone_finish
        When it would have finished had no message met another, and each entered the network when
        it was sent. None if the trace did not finish.
    law, other_finish
        How messages shared channels, and when the trace would have finished had hosts sent them in
        the other way, None if that is not known.
    by_turns_finish
        When the trace would have finished, sent in order, had channels been shared by turns
        (``lossless``). None if that is not known.
    """

    flows: FlowRun
    alone_finish: float | None
    law: FlowLaw
    other_finish: float | None
    by_turns_finish: float | None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """When the trace finishes, sent in order, and shared. None if that is not known."""
        both = self.finish, self.other_finish
        return both if self.law.in_order else both[::-1]

    @property
    def trust(self) -> Trust:
        """How far the finish can be trusted."""
        if self.law.sharing != "max-min":
            why = "Flits were compared with flows that share max-min only."
            return Trust(within=None, why=why)
        moved = self.flows.way >= 0
        latency = self.flows.rows["latency"][moved]
        short = latency > self.flows.alone[moved] - latency
        part = float(short.mean()) if len(short) else 0.0
        bound, by_turns, done = self.bound or 0.0, self.by_turns_finish, not self.interrupted
        return trust(*self.ends, bound, lossless_finish=by_turns, short=part, done=done)

    def messages(self) -> dict[str, Any]:
        """Return the columns of ``Message``, with ``slowdown``."""
        import polars as pl

        slower = pl.Series(self.slowdown(self.sends))
        return super().messages() | _known({"slowdown": slower})

    @property
    def busy(self) -> Floats:
        """How long each channel between routers was busy."""
        return self.flows.link_times[: self.topology.num_network_channels]

    def channels(self) -> dict[str, Any]:
        """Return the columns of ``UsedChannel``, with ``busy`` instead of ``bandwidth``."""
        found = super().channels()
        found.pop("bandwidth", None)
        return found | {"busy": self.busy[found["channel"]]}

    @property
    def busiest(self) -> tuple[UsedChannel, ...]:
        """The busiest channels by name, those of hosts too."""
        busy = self.flows.link_times
        most = np.argsort(-busy, kind="stable")[:MOST_LISTED]
        most = most[busy[most] > 0]
        columns = {
            "name": list(map(self.flows.network.link_name, most.tolist())),
            "size": self.link_sizes[most],
            "busy": busy[most],
            "utilisation": busy[most] / (self.ended or 1),
            "between": np.where(most < len(self.busy), "routers", "hosts"),
        }
        return records(UsedChannel, columns)

    @property
    def shares(self) -> Floats:
        """For which part of the time each channel between routers was busy."""
        return np.asarray(self.busy / (self.ended or 1))

    @property
    def bound(self) -> float | None:
        """The earliest possible finish: of the busiest link, and of the longest chain of rows."""
        if self.ideal_finish is None:
            return None
        return float(max(self.flows.bound, self.ideal_finish))


def run_flow_trace(
    links: FlowNetwork,
    routing: Routing | GivenPaths,
    program: Replay,
    law: FlowLaw = FAIR,
    *,
    tell: Callable[[int], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> FlowTraceRun:
    """Run a trace as flows. Return what was found.

    The times and lengths of the program are those of ``links``. See ``flow.run_flows`` for the
    other parameters.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.messages import lists
    >>> from netloom.workload.programs.traces import ordered_trace
    >>> network = topology("leaf-spine:2x1x2")
    >>> columns = dict(source=np.array([0, 1]), flits=np.full(2, 1e6))
    >>> trace = ordered_trace("two", 4, ["a", "b"], columns, lists([[2], [2]]), lists([[], []]),
    ...                       str, unit="seconds")
    >>> program = trace.placed(network, range(4), flit_time=1e-9)
    >>> links = flow_network(network, bandwidth=1e9, latency=0)
    >>> run_flow_trace(links, DModK(), program).critical_path
    <finish 0.002, ideally 0.001: 1 rows, message 0.001, contention 0.001>
    """
    table = program.messages
    run = partial(run_flows, links, routing, table, stopped=stopped)
    found = run(law=law, tell=tell)
    rows, sends = found.rows, table.moving
    alone = np.where(sends & (found.arrived >= 0), found.alone, -1.0)
    path = alone_finish = other = by_turns = None
    if found.done:
        slack = SLACK * (law.tolerance or 0.0)
        path = critical_path(table, rows, alone, slack=slack)
        alone_finish = path.ideal_finish
        if any(times.any() for times in (table.run, table.hold, table.receive)):
            many = int(sends.sum()) + 1  # each message has a link of its own; no network has none
            own = FlowNetwork(links.topology, np.ones(many), np.zeros(many), end_channels=False)
            each = np.arange(many + 1)
            paths = Paths(each, each[:-1].astype(np.int32))
            ways = GivenPaths("own", paths, np.where(sends, np.cumsum(sends) - 1, -1))
            lone, shared = replace(table, flits=found.alone), FlowLaw(injection="shared")
            alone_finish = run_flows(own, ways, lone, shared).finish
        other = found.finish
        if law.in_order and (found.entered > found.sent).any():
            other = cheap_finish(run, law=replace(law, injection="shared"))
        in_order = replace(law, injection="in-order", tolerance=0.0)
        if not law.in_order:
            other = cheap_finish(run, law=in_order)
        if law.sharing == "max-min":
            by_turns = cheap_finish(run, law=replace(in_order, sharing="lossless"))
    until = float(max(rows["complete"].max(initial=0), rows["arrived"].max(initial=0)))
    taken = links.topology, rows, found.hops, alone, path, found.link_sizes, until, not found.done
    return FlowTraceRun(program, *taken, found, alone_finish, law, other, by_turns)
