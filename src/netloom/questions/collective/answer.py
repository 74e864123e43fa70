"""The answer of ``compare_collectives``: times by algorithm and size, who wins where, and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.questions.collective.prepared import PHASES
from netloom.questions.collective.runs import MOST_LISTED, Runner, size_ranges
from netloom.questions.columns import Column, Columns
from netloom.questions.fields import ASSUMED, assumed
from netloom.questions.register import Answer, by_verb
from netloom.questions.shown import percent
from netloom.questions.simulate.engines import FLOWS, PreparedFlows
from netloom.questions.simulate.timelines import crossed_links, happened_to
from netloom.questions.timelines import timeline_of
from netloom.workload.programs.collectives.costs import bus_factor, least_steps
from netloom.workload.programs.collectives.sent import rounds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.phases.collectives.least_time import LeastTime
    from netloom.questions.collective.cycles import InCycles
    from netloom.questions.collective.runs import Algorithm, Reordered, Timed
    from netloom.questions.shown import Verdict
    from netloom.simulation.flow import FlowRun
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph
    from netloom.workload.programs.messages import Messages


SECONDS, BYTES, RATE = "s", "bytes", "bytes/s"

GIVEN, FOUND = "given", "found"
"""Orders of ranks: as mapped, and the better one that was found."""

MOSTLY = 0.5
"""The part of a time from which on a channel or latencies hold an algorithm back."""

EQUAL = 1e-9
"""Times that differ by less are equal."""

LONGER = 1.005
"""The factor from which on words say that one takes longer than another."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Point:
    """An algorithm at one size.

    Attributes
    ----------
    algorithm, order, size, collective, num_ranks
        What was run: with ranks as ``given``, or in the order ``found``.
    run
        What it took.
    bound_seconds
        What nothing can beat.
    empty_seconds
        What the algorithm takes without data.
    busiest
        The name of the busiest channel.
    steps, messages
        Of the algorithm, in one chunk if it is pipelined.
    inside_share
        The part of its bytes that do not use the network. None of phases.
    at_once
        Whether each rank posts all messages of a step at once, which share its channels.
    """

    algorithm: str
    order: str
    size: float
    collective: str
    num_ranks: int
    run: Timed
    bound_seconds: float
    empty_seconds: float
    busiest: str
    steps: int
    messages: int
    inside_share: float | None = None
    at_once: bool = False

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.run.seconds

    @property
    def algorithm_bandwidth(self) -> float | None:
        """Size over time, in bytes/s. None for a barrier."""
        return self.size / self.seconds if self.size else None

    @property
    def bus_bandwidth(self) -> float | None:
        """The bandwidth at which a rank's link is used, as nccl-tests define it."""
        speed = self.algorithm_bandwidth
        return None if speed is None else speed * bus_factor(self.collective, self.num_ranks)

    @property
    def bound_bus_bandwidth(self) -> float | None:
        """The bus bandwidth of the bound."""
        speed = self.bus_bandwidth
        return speed and speed * self.seconds / self.bound_seconds if self.bound_seconds else None

    @property
    def ratio(self) -> float | None:
        """The time over its bound."""
        return self.seconds / self.bound_seconds if self.bound_seconds else None

    @property
    def busy(self) -> float:
        """The part of the time for which its busiest channel is busy."""
        return self.run.link_seconds / self.seconds if self.seconds else 0.0

    @property
    def held_by(self) -> str:
        """What takes most of the time.

        A ``channel``, ``latency``, ``waiting`` for others, or ``switches`` of phases.
        """
        if self.empty_seconds >= MOSTLY * self.seconds:
            return "switches" if self.algorithm == PHASES else "latency"
        return "channel" if self.busy >= MOSTLY else "waiting"


class Crossing(NamedTuple):
    """Where the curves of two algorithms cross. Interpolated between sizes, both logarithmic."""

    size: float
    seconds: float
    below: str  # the faster of the two at smaller sizes
    above: str
    leads: bool  # whether no other algorithm is faster there


class Winner(NamedTuple):
    """The fastest algorithm between two sizes. None for no end."""

    algorithm: str
    from_size: float | None
    to_size: float | None


def _run(name: str) -> Callable[[Any], Any]:
    return lambda point: getattr(point.run, name)


def _in_cycles(name: str) -> Callable[[Any], Any]:
    """Return what tells of a network in cycles. None of one for flows."""
    return lambda found: getattr(found.network, name, None)


@dataclass(frozen=True, eq=False, kw_only=True)
class CollectiveTimes(Answer):
    """What ``compare_collectives`` found.

    Attributes
    ----------
    network
        The network and how channels are shared, or its routers, in cycles.
    host_of
        int32[num_ranks], the host of each rank as given.
    node_of_host
        int32[num_hosts], the node of each host, if messages inside nodes are free. None if not.
    points
        Each algorithm at each size.
    bound
        What nothing can beat.
    reordered
        The better rank order. None if none was searched for.
    left_out
        Algorithms that were not run, and why.
    graph
        The ranks, for rank files.
    known
        What was run, by name, for schedules.
    whole
        The same on the network without its failures. None if there are none.
    same_seconds
        What the fastest algorithm takes there at the largest size, with the ranks that take part
        here.
    """

    network: PreparedFlows | InCycles
    collective: str
    host_of: Ints
    node_of_host: Ints | None
    mapping: str
    points: list[Point]
    bound: LeastTime
    reordered: Reordered | None
    left_out: dict[str, str]
    graph: ProcessGraph
    known: dict[str, Algorithm]
    provenance: Provenance
    whole: CollectiveTimes | None = None
    same_seconds: float | None = None

    columns: ClassVar = Columns(
        Column("algorithm", kind=str, key=True),
        Column("order", "rank order", kind=str),
        Column("size", unit=BYTES, key=True),
        Column("seconds", "time", SECONDS, key=True),
        Column("bus_bandwidth", unit=RATE, key=True),
        Column("algorithm_bandwidth", unit=RATE),
        Column("bound_seconds", "bound", SECONDS),
        Column("ratio", "time over bound", key=True),
        Column("bound_bus_bandwidth", unit=RATE),
        Column("busiest", "busiest channel", kind=str, json="busiest_channel.name"),
        Column("busiest_bytes", unit=BYTES, value=_run("link_bytes"), json="busiest_channel.bytes"),
        Column(
            "busiest_seconds", unit=SECONDS, value=_run("link_seconds"),
            json="busiest_channel.seconds",
        ),
        Column("empty_seconds", "time without data", SECONDS),
        Column("held_by", kind=str),
        Column("chunks", kind=int, value=_run("chunks")),
        Column("chunks_capped", kind=bool, value=_run("capped")),
        Column("steps", kind=int),
        Column("messages", kind=int),
        Column("inside_share", "bytes that do not use the network"),
        Column("at_once", "posts all at once", kind=bool),
    )  # fmt: skip
    about: ClassVar = FLOWS + Columns(
        Column("router", kind=dict, value=_in_cycles("router_fields")),
        Column("packet_flits", kind=int, value=_in_cycles("packet_flits")),
        Column("flit_bytes", value=_in_cycles("flit_bytes")),
        Column("cycle_us", unit="µs", value=_in_cycles("cycle_us")),
        Column("collective", kind=str),
        Column("ranks", kind=int, value="num_ranks"),
        Column("hosts", kind=int, value=lambda found: len(np.unique(found.host_of))),
        Column("inside_nodes"),
        Column("mapping", kind=str),
        Column("bound", kind=dict, value="bound_dict"),
        Column("winners", kind=list, value=lambda it: [each._asdict() for each in it.winners]),
        Column("crossings", kind=list, value=lambda it: [each._asdict() for each in it.crossings]),
        Column("reordered", kind=dict, value=lambda it: it.reordered and it.reordered.to_dict()),
        Column("left_out", kind=dict),
        Column("phases", kind=dict, value="phases_dict"),
        Column("whole", kind=dict, value="whole_dict"),
        Column("note", kind=str),
    )

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.network.topology

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self.host_of)

    @property
    def node_of(self) -> Ints:
        """int32[num_ranks], the host of each rank: in the better order, if one was found."""
        return self.host_of if self.reordered is None else self.reordered.node_of

    @property
    def allocated(self) -> Ints:
        """int32[…], the hosts that ranks use."""
        return np.unique(self.host_of)

    @property
    def inside_nodes(self) -> float | None:
        """The share of the traffic that stays inside nodes, if that is free.

        Of the fastest algorithm at the largest size.
        """
        return None if self.node_of_host is None else self.at(self.sizes[-1])[0].inside_share

    @property
    def ranks_of_place(self) -> Ints:
        """int64[…], the ranks of each node, if those are free inside. Else of each host."""
        place = self.host_of if self.node_of_host is None else self.node_of_host[self.host_of]
        return np.unique(place, return_counts=True)[1]

    @property
    def bound_dict(self) -> dict[str, Any]:
        """The bound as plain data.

        ``steps``: which each algorithm needs if no rank sends two messages at once.
        ``alpha_seconds`` is the least time of a step. Ranks of one host, or of one node if those
        are free inside, exchange data in no time.
        """
        steps = least_steps(len(self.ranks_of_place), int(self.ranks_of_place.max()))
        return {
            "latency_seconds": self.bound.latency,
            "seconds_per_byte": self.bound.per_byte,
            "why": self.bound.why,
            "steps": steps,
            "alpha_seconds": self.bound.alpha,
            "steps_seconds": steps * self.bound.alpha,
        }

    @cached_property
    def sizes(self) -> list[float]:
        """The sizes, rising."""
        return sorted({point.size for point in self.points})

    def at(self, size: float, order: str = GIVEN) -> list[Point]:
        """Return all algorithms of messages at a size, the fastest first."""
        some = [
            each for each in self.points
            if each.size == size and each.order == order and each.algorithm != PHASES
        ]  # fmt: skip
        return sorted(some, key=lambda point: point.seconds)

    @cached_property
    def phases(self) -> list[Point]:
        """Return compiled phases by size. None if they were not asked for, or are left out."""
        return [each for each in self.points if each.algorithm == PHASES]

    @cached_property
    def beside(self) -> str:
        """Where phases on reserved channels beat message passing, in a sentence. "" without."""
        if not self.phases:
            return ""
        saved = {each.size: self.at(each.size)[0].seconds / each.seconds for each in self.phases}
        wins = [size for size, factor in saved.items() if factor >= LONGER]
        count = self.phases[-1].steps
        head = f"On reserved channels, {counted(count, 'compiled phase', ',')}"
        verb, they = ("beats", "it takes") if count == 1 else ("beat", "they take")
        if not wins:
            most = max(saved, key=lambda size: saved[size])
            times = "" if saved[most] > 1 / LONGER else f"{1 / saved[most]:.3g} times "
            over = f"{times}as long as messages at {units.size(most)}"
            return f"{head} never {verb} messages here: {they} {over}."
        best = max(wins, key=lambda size: saved[size])
        where = size_ranges(self.sizes, wins)
        at = f" at {units.size(best)}" * (len(wins) > 1)
        return f"{head} {verb} messages {where}: {saved[best]:.3g} times as fast{at}."

    def times(self, algorithm: str) -> list[float]:
        """Return the times of an algorithm as given, by size."""
        some = [each for each in self.points if each.algorithm == algorithm]
        return [
            each.seconds for each in sorted(some, key=lambda each: each.size)
            if each.order == GIVEN
        ]  # fmt: skip

    @cached_property
    def algorithms(self) -> list[str]:
        """The algorithms of messages that were run."""
        names = dict.fromkeys(each.algorithm for each in self.points)
        return [each for each in names if each != PHASES]

    @cached_property
    def crossings(self) -> list[Crossing]:
        """All sizes at which two algorithms take equally long, rising."""
        curves = {name: self.times(name) for name in self.algorithms}
        found = [
            crossing
            for one, other in combinations(curves, 2)
            for crossing in crossing_points(self.sizes, curves, one, other)
        ]
        return sorted(found)

    @cached_property
    def winners(self) -> list[Winner]:
        """The fastest algorithm from size to size."""
        fastest = list[str]()
        for size in self.sizes:
            points = self.at(size)
            best = [
                each.algorithm for each in points
                if each.seconds <= points[0].seconds * (1 + EQUAL)
            ]  # fmt: skip
            stays = fastest and fastest[-1] in best
            fastest.append(fastest[-1] if stays else best[0])
        found = list[Winner]()
        begin: float | None = None
        for number, (one, other) in enumerate(pairwise(fastest)):
            if one != other:
                place = self._crossed(one, other, self.sizes[number], self.sizes[number + 1])
                found.append(Winner(one, begin, place))
                begin = place
        return [*found, Winner(fastest[-1], begin, None)]

    def _crossed(self, one: str, other: str, least: float, most: float) -> float:
        """Return where two algorithms cross between two sizes. The larger if they are equal."""
        for each in self.crossings:
            if {each.below, each.above} == {one, other} and least <= each.size <= most:
                return each.size
        return most

    @property
    def phases_dict(self) -> dict[str, Any] | None:
        """What compiled phases are, and where they beat messages, as plain data."""
        if not self.phases:
            return None
        faster = {each.size: self.at(each.size)[0].seconds / each.seconds for each in self.phases}
        return {
            "verdict": self.beside,
            "connections": self.phases[0].messages,
            "phases": [each.steps for each in self.phases],
            "size": list(faster),
            "faster": list(faster.values()),
        }

    @property
    def whole_dict(self) -> dict[str, Any] | None:
        """The network without its failures, as plain data: who is cut off, and its times.

        ``left_out``: algorithms that run there and not here, and why.
        """
        if self.whole is None:
            return None
        there, broken = np.unique(self.whole.host_of), self.topology.failed_nodes
        return {
            "routing": self.whole.network.routing_name,
            "ranks": self.whole.num_ranks,
            "same_ranks_seconds": self.same_seconds,
            "cut_off": [self.topology.name_of(host) for host in there.tolist() if host in broken],
            "left_out": {
                name: self.left_out.get(name, "") for name in self.whole.algorithms
                if name not in self.algorithms
            },
            "points": [
                {name: getattr(each, name) for name in ("algorithm", "size", "seconds")}
                for each in self.whole.points
            ],
        }  # fmt: skip

    @property
    def verdict(self) -> Verdict:
        """Which algorithm to use at which sizes, what limits it, and what could be better."""
        return by_verb(self.provenance.verb).verdict(self.to_dict())

    @property
    def note(self) -> str | None:
        """What was assumed, and what may surprise. None if there is nothing."""
        return " ".join(f"{each}." for each in notes(self)) or None

    def timeline(self) -> Timeline:
        """Return when the messages of the fastest algorithm at the largest size went."""
        return fastest_timeline(self)

    def __repr__(self) -> str:
        on, ranks = self.topology.name, self.num_ranks
        head = f"<{self.collective} of {ranks} ranks on {on}, {self.network.routing_name}>"
        more = [each for each in (self.beside, self.note) if each]
        return "\n".join([head, self.verdict.marked, *more])


def crossing_points(
    sizes: list[float], curves: dict[str, list[float]], one: str, other: str
) -> Iterable[Crossing]:
    """Yield where the curves of two algorithms cross.

    Examples
    --------
    >>> curves = {"a": [1.0, 1.0, 4.0], "b": [2.0, 2.0, 2.0], "c": [3.0, 3.0, 3.0]}
    >>> [found] = crossing_points([1.0, 4.0, 16.0], curves, "a", "b")
    >>> round(found.size, 6), round(found.seconds, 6), found.below, found.above, found.leads
    (8.0, 2.0, 'a', 'b', True)
    """
    apart = [
        0.0 if abs(a - b) <= EQUAL * b else log(a / b)
        for a, b in zip(curves[one], curves[other], strict=True)
    ]
    known = [place for place, each in enumerate(apart) if each]
    for here, there in pairwise(known):
        if apart[here] * apart[there] > 0:
            continue
        part = apart[here] / (apart[here] - apart[there])
        size = exp(log(sizes[here]) + part * log(sizes[there] / sizes[here]))

        def at(name: str, here: int = here, there: int = there, part: float = part) -> float:
            times = curves[name]
            return exp(log(times[here]) + part * log(times[there] / times[here]))

        seconds = at(one)
        below, above = (one, other) if apart[here] < 0 else (other, one)
        leads = all(at(name) >= seconds * (1 - EQUAL) for name in curves)
        yield Crossing(size, seconds, below, above, leads)


def fastest_run(answer: CollectiveTimes, asks: str) -> tuple[Point, Messages, FlowRun]:
    """Return the fastest algorithm at the largest size, its messages, and their run as flows.

    Raises
    ------
    InputError
        If they are so many that they were not run one by one. ``asks`` is the file that needs them.
    """
    best = answer.at(answer.sizes[-1])[0]
    algorithm = answer.known[best.algorithm]
    outline = algorithm.outline(best.run.chunks)
    if outline.num_messages > MOST_LISTED:
        found = f"{counted(outline.num_messages, 'message', ',')} of {best.algorithm}"
        wanted = f"at most {MOST_LISTED:,}: fewer ranks or chunks, or another algorithm"
        raise InputError(asks, found, wanted)
    assert isinstance(answer.network, PreparedFlows)
    runner = Runner(answer.network, answer.host_of, answer.node_of_host)
    return best, *runner.listed(algorithm, best.run.chunks, best.size)


def fastest_timeline(answer: CollectiveTimes) -> Timeline:
    """Return when the messages of the fastest algorithm at the largest size went, rank by rank.

    Raises
    ------
    InputError
        If they are so many that they were not run one by one.
    """
    best, _, run = fastest_run(answer, "perfetto")
    outline = answer.known[best.algorithm].outline(best.run.chunks)
    assert isinstance(answer.network, PreparedFlows)
    ranks = rounds_of(outline, best.size, np.arange(answer.num_ranks))
    rounds = [each for each in ranks for _ in range(each.count)] or [*ranks]
    none = np.zeros(0, np.int32)
    happened = happened_to(
        run.records,
        names=[f"rank {rank}" for rank in range(answer.num_ranks)],
        source=np.concatenate([none, *(each.source for each in rounds)]),
        target=np.concatenate([none, *(each.target for each in rounds)]),
    )
    what = f"{best.algorithm} {answer.collective}"
    what += f" of {units.size(best.size)}" if best.size else ""
    return timeline_of(
        happened, program=f"{what} on {answer.topology.name}", unit="seconds", size="bytes",
        unit_us=1e6, crossed=crossed_links(run, happened.moved),
    )  # fmt: skip


def notes(found: CollectiveTimes) -> list[str]:
    """Return what was assumed, what is free, and what may surprise, in sentences."""
    clock = found.network.clock
    assert clock is not None
    more = list[tuple[str, str]]()
    if getattr(found.network, "flit_source", "") == ASSUMED:
        flits = getattr(found.network, "flit_bytes", 0)
        more.append((f"flits of {counted(flits, 'byte', 'g')}", "--flit-bytes"))
    said = [assumed(clock, *more)]
    if found.inside_nodes is not None:
        best = found.at(found.sizes[-1])[0].algorithm
        said.append(
            f"Messages inside nodes are taken as free: {percent(found.inside_nodes)} of "
            f"the bytes of {best} (--count-inside-nodes counts them)"
        )
    return [each for each in (*said, *_falling(found)) if each]


def _falling(found: CollectiveTimes) -> Iterator[str]:
    """Yield which algorithms take less time for more data, and why."""
    for name in found.algorithms:
        curve = pairwise(zip(found.sizes, found.times(name), strict=True))
        falls = [each for each in curve if each[0][1] > each[1][1] * LONGER]
        if falls:
            less, more = (units.size(each[0]) for each in falls[0])
            yield (
                f"With {name}, {less} take longer than {more}: ranks that send one by one fall "
                "out of step, differently at each size (--injection shared posts all at once)"
            )
