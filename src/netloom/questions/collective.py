"""Time each algorithm of a collective on a network, by size, with a lower bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, pairwise
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base import units
from netloom.base.arrays import Ints, distinct
from netloom.base.errors import DeadlockError, InputError
from netloom.base.figures import SHARE, Figures, derived, figure, unseen
from netloom.base.progress import counting, patience
from netloom.base.words import arrows, counted, listed, number, percent
from netloom.drawing.timelines import Timeline
from netloom.machines.libraries import ROWS as OF_LIBRARIES
from netloom.machines.named_machines import ASSUMED
from netloom.mapping import check_rank_file
from netloom.mapping.rank_orders import Reordered, reordered
from netloom.phases.exchanges import PHASES, phase_plans
from netloom.questions import outputs, terminal
from netloom.questions.answers import Answer, Grade, Parts, Verdict
from netloom.questions.collective_prepared import CollectiveQuestion, PreparedCollective
from netloom.questions.defects import explained
from netloom.questions.fitted import FIT
from netloom.questions.measured import Measured, compared, prepare_measured
from netloom.questions.named import mapping_name, provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import OnFlows, OnSimulated, others
from netloom.questions.terminal import arrow, order_named, size_of, subject
from netloom.simulation import collectives
from netloom.simulation.figures import crossed_links
from netloom.simulation.flow import FlowRun
from netloom.topology import Topology
from netloom.workload import ProcessGraph, ring
from netloom.workload.programs.collectives.program import (
    bus_factor,
    least_steps,
    rounds_of,
    size_ranges,
    write_goal,
)
from netloom.workload.programs.messages import Messages

if TYPE_CHECKING:
    from netloom.phases.collectives.trees import LeastTime

SECONDS, BYTES, RATE = "seconds", "bytes", "bytes/s"

GIVEN, FOUND = "given", "found"
"""Orders of ranks: as mapped, and the better one that was found."""

MOSTLY = 0.5
"""The part of a time from which on a channel or latencies hold an algorithm back."""

LONGER = 1.005
"""The factor from which on words say that one takes longer than another."""

NEAR = Grade("time over its bound", fine=1.1, act=float("inf"))

DIGITS = 6
"""Of a size in a command."""

MOST_OTHERS, MOST_WINNERS, MOST_CUT_OFF = 3, 4, 4
"""Slower algorithms that are named, ranges of sizes, and hosts."""


class Busiest(Figures):
    """The channel that is busiest, and what crossed it."""

    name: str = figure("busiest channel")
    bytes: float = figure(unit=BYTES)
    seconds: float = figure(unit=SECONDS)


class Point(Figures):
    """An algorithm at one size, with ranks as ``given`` or in the order ``found``."""

    algorithm: str = figure(lead=True, key=True)
    order: str = figure("rank order")
    size: float = figure(unit=BYTES, key=True)
    seconds: float = figure("time", SECONDS, lead=True, key=True)
    bus_bandwidth: float | None = figure(unit=RATE, lead=True, key=True)
    algorithm_bandwidth: float | None = figure(unit=RATE)
    bound_seconds: float = figure("bound", SECONDS)
    ratio: float | None = figure("time over bound", head="× bound", lead=True, key=True)
    bound_bus_bandwidth: float | None = figure(unit=RATE)
    busiest_channel: Busiest = figure(flat="busiest_")
    empty_seconds: float = figure("time without data", SECONDS)
    held_by: str
    chunks: int
    chunks_capped: bool = figure("more chunks suit, too many to run")
    steps: int
    num_messages: int = figure("messages", at="messages")
    inside_share: float | None = figure("bytes that do not use the network", SHARE)
    at_once: bool = figure("posts all at once")

    @derived("share of the time for which the busiest channel is busy", SHARE, table=False)
    def busy(self) -> float:
        """0 of what takes no time."""
        return self.busiest_channel.seconds / self.seconds if self.seconds else 0.0

    @property
    def why(self) -> str:
        """Why it takes as long as it does."""
        if self.held_by == "latency":
            return f"latency of {counted(self.steps, 'step', ',')}"
        if self.held_by == "switches":
            return f"switches of {counted(self.steps, 'phase', ',')}"
        busy = f"{arrow(self.busiest_channel.name)} is busy {percent(self.busy)}"
        return busy if self.held_by == "channel" else f"waits; {busy}"


class Bound(Figures):
    """What nothing can beat, and what each algorithm needs if no rank sends two at once.

    ``alpha_seconds`` is the least time of a step. Ranks of one host, or of one node if those are
    free inside, exchange data in no time.
    """

    latency_seconds: float = figure(unit=SECONDS)
    seconds_per_byte: float = figure(unit="seconds/byte")
    why: str
    steps: int
    alpha_seconds: float = figure(unit=SECONDS)
    steps_seconds: float = figure(unit=SECONDS)


class Phases(Figures):
    """Compiled phases on reserved channels, and where they beat messages."""

    verdict: str
    connections: int
    phases: tuple[int, ...]
    size: tuple[float, ...] = figure(unit=BYTES)
    faster: tuple[float, ...] = figure("time of messages over that of phases")


class WholePoint(Figures):
    """An algorithm at one size, on the network without its failures."""

    algorithm: str
    size: float = figure(unit=BYTES)
    seconds: float = figure("whole network", SECONDS)


class Whole(Figures):
    """The network without its failures: who is cut off now, and its times.

    ``same_ranks_seconds``: of the fastest algorithm at the largest size, with the ranks that take
    part here. ``left_out``: algorithms that run there and not here, and why.
    """

    routing: str
    ranks: int
    same_ranks_seconds: float | None = figure(unit=SECONDS)
    cut_off: tuple[str, ...]
    left_out: dict[str, str]
    points: tuple[WholePoint, ...]

    def at(self, size: float) -> dict[str, float]:
        """Return the seconds of each algorithm at a size."""
        return {each.algorithm: each.seconds for each in self.points if each.size == size}


class FastestAtSize(Figures):
    """The row of a size on a terminal: who is fastest, and who comes next."""

    size: float = figure(unit=BYTES, lead=True)
    fastest: str = figure(lead=True)
    seconds: float = figure("time", SECONDS, lead=True)
    bus_bandwidth: float | None = figure(unit=RATE, lead=True)
    ratio: float | None = figure("× bound", lead=True)
    next: str = figure(lead=True)


class AtLargest(Figures):
    """The row of an algorithm on a terminal, at the largest size."""

    point: Point = figure(at=".", lead=True)
    whole: float | None = figure("whole network", SECONDS, lead=True)
    why: str = figure("what takes the time", lead=True)


class CollectiveTimes(Answer):
    """What ``compare_collectives`` found: each algorithm at each size, and what nothing beats."""

    setup: OnSimulated = figure(at=".")
    flows: OnFlows = figure(at=".")
    router: dict[str, object] | None
    packet_flits: int | None = figure(unit="flits")
    flit_bytes: float | None = figure(unit=BYTES)
    cycle_us: float | None = figure(unit="µs")
    collective: str
    num_ranks: int = figure(at="ranks")
    hosts: int
    inside_nodes: float | None
    mapping: str
    bound: Bound
    winners: tuple[collectives.Winner, ...]
    crossings: tuple[collectives.Crossing, ...]
    reordered: Reordered | None
    left_out: dict[str, str]
    phases: Phases | None
    whole: Whole | None
    measured: Measured | None = figure(optional=True, default=None)
    note: str | None
    points: tuple[Point, ...]
    ready: PreparedCollective = unseen()

    @property
    def network(self) -> Topology:
        """The network. Of an answer that was asked just now."""
        return self.ready.network

    @property
    def graph(self) -> ProcessGraph:
        """The ranks, for rank files."""
        return ring(self.num_ranks)

    @cached_property
    def node_of(self) -> Ints:
        """int32[num_ranks], the host of each rank: in the better order, if one was found."""
        found = self.ready.host_of
        if self.reordered is not None:
            found = np.asarray(self.reordered.node_of, np.int32)
        return found

    @property
    def of(self) -> str:
        """Collective, ranks, network and mapping."""
        program = f"{self.collective} of {counted(self.num_ranks, 'rank', ',')}"
        return subject(program, self.setup.topology, self.mapping)

    @cached_property
    def sizes(self) -> list[float]:
        """The sizes, rising."""
        return sorted({point.size for point in self.points})

    def at(self, size: float, order: str = GIVEN) -> list[Point]:
        """Return all algorithms of messages at a size, the fastest first."""
        return fastest_first(self.points, size, order)

    def judged(self) -> Verdict:
        """Return which algorithm to use at which sizes, what limits it, what could be better.

        Of measured times: whether they are as expected.
        """
        note = f"* {self.note[0].lower()}{self.note[1:]}" if self.note else ""
        if self.measured is not None:
            return replace(self.measured.judged(), note=note)
        last, *others = self.at(self.sizes[-1])
        what = f" for {units.size(last.size)}" if last.size else ""
        sentence = f"Use {last.algorithm}{what}: {units.seconds(last.seconds)}{_near(last)}."
        if len(self.sizes) > 1:
            said = []
            for each in self.winners[: MOST_WINNERS - 1]:
                end = "" if each.to_size is None else f" below {units.size(each.to_size, 2)}"
                said.append(each.algorithm + end)
            final = self.winners[-1]
            if len(self.winners) >= MOST_WINNERS:
                said.append(f"{final.algorithm} from {units.size(final.from_size, 2)}")
            elif len(said) > 1:
                said[-1] = f"{final.algorithm} above"
            where = " at all sizes" if len(self.winners) == 1 else ""
            speed, at = units.rate(last.bus_bandwidth), units.size(last.size)
            sentence = f"Use {', '.join(said)}{where}: {speed} bus bandwidth at {at}{_near(last)}."
        lines = {"why": f"{last.algorithm}: {last.why}"}
        if self.whole is not None:
            took = self.whole.at(last.size)
            best = min(took, key=lambda name: took[name])
            sentence += f" On the whole network: {best}, {units.seconds(took[best])}."
            lines |= self._beside(self.whole, last)
        bound = units.seconds(last.bound_seconds)
        bound += f" at {units.size(last.size)}" if last.size else ""
        if last.bound_seconds > self.bound.latency_seconds * LONGER and self.bound.why:
            bound += f": {arrows(self.bound.why.rstrip('.'))}"
        else:
            bound += ", by latency"
        order = ""
        if found := self.reordered:
            given, better = units.seconds(found.given_seconds), units.seconds(found.found_seconds)
            what = f"{found.algorithm} of {units.size(found.size)}"
            order = f"no better rank order was found for {what} ({given} as given)"
            if found.better:
                saved = percent(1 - found.found_seconds / found.given_seconds)
                order = f"{what} takes {saved} less in a better rank order ({given} → {better})"
        lines |= {
            "others": _slower(last, others),
            "bound": bound,
            "order": order,
            "phases": self.phases.verdict if self.phases else "",
        }
        mark = "fine" if last.ratio is None or last.ratio < NEAR.fine else "limited"
        return Verdict(mark, sentence, lines, self._next(last, mark), note)

    def _beside(self, whole: Whole, last: Point) -> dict[str, str]:
        """Return what failures cost: the same algorithm without them, who is cut off, what lost."""
        by, own = whole.routing, self.setup.routing
        by = f"also by {by}" if by == own else f"by {by}, not {own}"
        found = {}
        if whole.same_ranks_seconds is not None:
            ranks = " with the same ranks" * bool(whole.cut_off)
            times = number(last.seconds / whole.same_ranks_seconds)
            longer = "it takes as long" if times == "1" else f"{times} times as long"
            took = f"{last.algorithm} takes {units.seconds(whole.same_ranks_seconds)}"
            where = f"on the whole network{ranks}, {by}"
            found["whole"] = f"{took} {where}: with the failures {longer}"
        if whole.cut_off:
            hosts = counted(len(whole.cut_off), "host", ",")
            hosts += f" ({listed(list(whole.cut_off), MOST_CUT_OFF)})"
            ranks = f"{self.num_ranks:,} of {counted(whole.ranks, 'rank', ',')}"
            found["cut off"] = f"{hosts}: {ranks} take part"
        if whole.left_out:
            some = [f"{name} ({why})" if why else name for name, why in whole.left_out.items()]
            found["lost"] = f"algorithms that run on the whole network only: {', '.join(some)}"
        return found

    def _next(self, last: Point, mark: str) -> str:
        """Return what to try next: an order that was found, a search for one, or a schedule."""
        from netloom.phases.collectives.synthesis import SYNTHESISED

        if self.reordered and self.reordered.better:
            return self.again(rankfile="ranks.txt")
        if mark == "fine" or last.algorithm in OF_LIBRARIES:
            return ""
        if not self.reordered and last.held_by != "latency":
            return self.again(reorder=True)
        if self.collective in SYNTHESISED and self.asked["tasks_per_node"] == 1 and last.size:
            size = units.size(last.size, DIGITS).replace(" ", "")
            but = ("routing", "chunks", "overhead")
            return self.again("compile.collective", but=but, size=size)
        return ""

    def figure_lines(self, width: int) -> list[str]:
        """Return the fastest by size, and all algorithms at the largest. Or what was measured."""
        if self.measured is not None:
            tables = []
            for run, points in self.measured.runs.items():
                tables += ["", f"{run}:", *terminal.table(points, self, width)]
            return tables[1:]
        rows, found = [], []
        for size in self.sizes:
            first, *others = self.at(size)
            row = FastestAtSize(
                size=size,
                fastest=first.algorithm,
                seconds=first.seconds,
                bus_bandwidth=first.bus_bandwidth,
                ratio=first.ratio,
                next="".join(
                    f"{each.algorithm} ×{each.seconds / first.seconds:.3g}" for each in others[:1]
                ),
            )
            rows.append(row)
        if len(rows) > 1:
            found = [*terminal.table(rows, self, width), ""]
        last = self.sizes[-1]
        there = self.whole.at(last) if self.whole else {}
        phased = [each for each in self.points if (each.algorithm, each.size) == (PHASES, last)]
        listed_ = [
            AtLargest(point=each, whole=there.get(each.algorithm), why=each.why)
            for each in (*self.at(last), *phased)
        ]
        at = [f"At {units.size(last)}:"] if last else []
        return [*found, *at, *terminal.table(listed_, self, width)]

    def remarks(self) -> Iterator[str]:
        """Yield how it was run, what bounds it, and what was not run."""
        if self.ready is not None:
            ready, program = self.ready, self.ready.program
            ranks = counted(len(ready.host_of), "rank", ",")
            if ready.node_of_host is not None:
                nodes = len(distinct(ready.node_of_host[ready.host_of]))
                ranks += f" on {counted(nodes, 'node', ',')}"
            yield f"{ranks}; {size_of(ready.network)}; {ready.shown.routing_name}"
            how = ready.shown.router_name
            if program is not None:
                cycle = units.seconds((program.cycle_us or 0.0) * 1e-6)
                flits = f"flits of {program.flit_bytes:g} bytes, cycles of {cycle}"
                how += f"; {flits}; {ready.clock.words}"
            posted = [each.algorithm for each in self.points if each.at_once]
            if posted and ready.flows.law.in_order:
                how += f"; {posted[0]} posts all at once"
            yield how
        last = self.at(self.sizes[-1])
        if cut := [f"{each.algorithm} {each.chunks:,}" for each in last if each.chunks > 1]:
            yield f"Chunks per vector: {listed(cut)}."
        for each in last:
            if each.chunks_capped:
                yield f"{each.algorithm}: more chunks suit this size, and are too many to run"
        bound = self.bound
        said = f"Bound: latency {units.seconds(bound.latency_seconds)}"
        if bound.seconds_per_byte:
            speed = units.rate(1 / bound.seconds_per_byte)
            yield f"{said}; bandwidth {speed} of the size. {bound.why}"
        else:
            yield f"{said}."
        steps, alpha = counted(bound.steps, "step"), units.seconds(bound.alpha_seconds)
        least = units.seconds(bound.steps_seconds)
        yield f"If no rank sends two messages at once: {steps} of {alpha} or more, {least}."
        if self.measured is not None and self.measured.skipped:
            yield f"No algorithm of netloom: {listed(self.measured.skipped)}."
        reasons = dict[str, list[str]]()
        for name, why in self.left_out.items():
            reasons.setdefault(why, []).append(name)
        yield from (f"Not run: {listed(names)} ({why})." for why, names in reasons.items())

    def fastest_run(self, asks: str) -> tuple[Point, Messages, FlowRun]:
        """Return the fastest algorithm at the largest size, its messages, and their run as flows.

        Raises
        ------
        InputError
            If they are so many that they were not run one by one. ``asks`` is the file that needs
            them.
        """
        best, algorithm = self.fastest
        count = algorithm.outline(best.chunks).num_messages
        if count > collectives.MOST_LISTED:
            found = f"{counted(count, 'message', ',')} of {best.algorithm}"
            wanted = (
                f"at most {collectives.MOST_LISTED:,}: fewer ranks or chunks, or another algorithm"
            )
            raise InputError(asks, found, wanted)
        assert self.ready.program is None
        runner = self.ready.runner(self.ready.host_of)
        return best, *runner.listed(algorithm, best.chunks, best.size)

    @property
    def fastest(self) -> tuple[Point, collectives.Algorithm]:
        """The fastest algorithm at the largest size whose messages are run one by one."""
        return _fastest_run(self.ready, self.points)

    def timeline(self) -> Timeline:
        """Return when the messages of the fastest algorithm at the largest size went, by rank.

        Raises
        ------
        InputError
            If they are so many that they were not run one by one.
        """
        from netloom.drawing.programs import happened_to, timeline_of

        best, _, run = self.fastest_run("perfetto")
        outline = self.fastest[1].outline(best.chunks)
        ranks = rounds_of(outline, best.size, np.arange(self.num_ranks))
        rounds = [each for each in ranks for _ in range(each.count)] or [*ranks]
        none = np.zeros(0, np.int32)
        happened = happened_to(
            run.rows,
            names=[f"rank {rank}" for rank in range(self.num_ranks)],
            source=np.concatenate([none, *(each.source for each in rounds)]),
            target=np.concatenate([none, *(each.target for each in rounds)]),
        )
        what = f"{best.algorithm} {self.collective}"
        what += f" of {units.size(best.size)}" if best.size else ""
        return timeline_of(
            happened,
            program=f"{what} on {self.setup.topology}",
            unit="seconds",
            size="bytes",
            unit_us=1e6,
            crossed=crossed_links(run, happened.moved),
        )

    def footer(self) -> list[str]:
        """Return what was compared, on what."""
        from netloom.drawing.collectives import grey_curves

        order = order_named(self.mapping)
        if self.reordered and self.reordered.better:
            order += ", and the best order found"
        clock = self.flows.clock
        assert clock is not None
        rate, late = clock.channel_bytes_per_second.max, clock.channel_latency_seconds.max
        assumed = " (assumed)" if self.note else ""
        engine = self.setup.engine
        how = {"flow": "flows", "network": "flit by flit"}
        how |= {name: each.messages for name, each in others().items()}
        said = [
            f"{counted(self.num_ranks, 'rank', ',')} on {self.setup.topology}, "
            f"{self.setup.routing}, {order}; channels of {units.rate(rate)} and "
            f"{units.seconds(late)}{assumed}; {how.get(engine, engine)}, sizes and bus bandwidth "
            "as nccl-tests define them"
        ]
        if self.measured is not None:
            return [*said, f"grey: expected; {self.measured.band}"]
        grey = grey_curves(self.table())
        if grey and len(self.sizes) > 1:
            said.append(f"grey: {', '.join(grey)}; circles: the lead changes")
        return said

    def parts(self) -> Parts:
        """Return bus bandwidth by size, or bars of the algorithms at the only one."""
        from netloom.drawing.collectives import bandwidth_bars, bandwidth_curves, measured_curves

        if self.measured is not None:
            return {"bus bandwidth": measured_curves(self.measured.curves(), self.collective)}
        if len(self.sizes) == 1:
            fastest = self.at(self.sizes[0])[0].algorithm
            return {"algorithms": bandwidth_bars(self.table(), fastest)}
        bus = bus_factor(self.collective, self.num_ranks)
        leads = [
            (each.size, each.size / each.seconds * bus) for each in self.crossings if each.leads
        ]
        return {"bus bandwidth": bandwidth_curves(self.table(), self.collective, leads)}


def fastest_first(points: Iterable[Point], size: float, order: str = GIVEN) -> list[Point]:
    """Return all algorithms of messages at a size, the fastest first. Of equal ones the first."""
    here = (each for each in points if (each.size, each.order) == (size, order))
    return sorted((each for each in here if each.algorithm != PHASES), key=attrgetter("seconds"))


def _fastest_run(
    ready: PreparedCollective, points: Iterable[Point]
) -> tuple[Point, collectives.Algorithm]:
    """Return the fastest algorithm at the largest size of those that are run one by one."""
    run = {each.name: each for each in ready.algorithms}
    for best in fastest_first(points, ready.sizes[-1]):
        if best.algorithm in run:
            return best, run[best.algorithm]
    found = f"{listed(ready.library_names)}, whose messages are not run one by one"
    raise InputError("algorithm", found, "another beside it, such as ring")


def _by_algorithm(points: Iterable[Point]) -> dict[str, dict[float, float]]:
    """Return the seconds of each algorithm of messages by size, with ranks as given."""
    found: dict[str, dict[float, float]] = {}
    for each in points:
        if each.order == GIVEN and each.algorithm != PHASES:
            found.setdefault(each.algorithm, {})[each.size] = each.seconds
    return found


def _near(point: Point) -> str:
    """Return how many times the least possible time something takes.

    Nothing but the bound says that it is the best possible: libraries have other algorithms.
    """
    if point.ratio is None:
        return ""
    if point.ratio < LONGER:
        return ", the best possible"
    return f", {number(point.ratio)} times the least possible time"


def _slower(first: Point, others: list[Point]) -> str:
    """Return by how much other algorithms are slower at the largest size, and why."""
    said = []
    for each in others:
        longer = each.seconds / first.seconds
        if longer < LONGER:
            said.append(f"{each.algorithm} is as fast")
        else:
            said.append(f"{each.algorithm} {number(longer)} times as long ({each.why})")
    some = said[:MOST_OTHERS]
    if more := len(said) - len(some):
        some.append(f"{more} more take longer")
    return " · ".join(some)


def _refuse_ranks(ready: PreparedCollective, form: str, hosts: Sequence[str] | None) -> None:
    """Raise InputError if no rank file of this form can have the ranks."""
    computers = distinct(ready.network.node_of_host[ready.host_of])
    places = -(-len(ready.host_of) // len(computers))
    check_rank_file(form, len(ready.host_of), computers, places, hosts)


def _refuse_cycles(question: CollectiveQuestion, _: Any) -> None:
    """Raise InputError if no run keeps the times of single messages."""
    if question.engine != "flow":
        wanted = "engine flow; or --goal FILE, and simulate trace FILE with --perfetto"
        raise InputError("perfetto", f"engine {question.engine}", wanted)


def _write_goal(answer: CollectiveTimes, path: Path) -> str:
    """Write the fastest algorithm at the largest size, as it was run."""
    best, algorithm = answer.fastest
    write_goal(algorithm.program(best.chunks), best.size, path)
    said = f"{best.algorithm} of {units.size(best.size)}" if best.size else best.algorithm
    return f"Schedule: {path}, {said}; run it with simulate trace"


GOAL = outputs.Output(
    "goal",
    "GOAL schedule of the fastest algorithm at the largest size.",
    _write_goal,
    outputs.check_in_folder,
)


@asks(
    CollectiveQuestion,
    prepare=prepare_measured,
    title="Algorithms of a collective",
    example="netloom collective all-reduce --size 1KB:1GB --on torus:8x8x8",
    page="which-all-reduce.md",
    outputs=(
        outputs.PLOT,
        outputs.table_output(
            "save_times", "Each algorithm at each size, .csv or .parquet.", "table"
        ),
        GOAL,
        outputs.perfetto_output(_refuse_cycles),
        FIT,
        outputs.SAVE_MAPPING,
        outputs.rank_file_output(_refuse_ranks, lambda answer: np.unique(answer.ready.host_of)),
    ),
)
def compare_collectives(question: CollectiveQuestion, ready: PreparedCollective) -> CollectiveTimes:
    """Time each algorithm of a collective on a network, by size, with a lower bound.

    Ranks send by steps, as flows that share channels max-min fairly: a rank goes on when all that
    it sent and received in a step is complete. Sizes and bus bandwidth are those of nccl-tests. If
    nothing says a bandwidth, channels have 200 Gb/s. If nothing says a latency, 500 ns each.

    Other engines run the same steps in cycles. If nothing says a latency, theirs is that of the
    router, or a cycle per channel.

    Examples
    --------
    >>> found = compare_collectives("all-reduce", "torus:4x4", size="1KB:64MB", latency="1us")
    >>> found.verdict.sentence.partition(":")[0]
    'Use swing-doubling below 180 kB, swing above'
    """
    bound = ready.bound(question.collective, question.root, ready.host_of)
    named = question.algorithm != "all"
    points, stuck = _timed(ready, ready.algorithms, bound, named=named)
    points += _expected(ready, bound)
    if (exchange := ready.exchange) is not None:
        with patience(f"Compiling {counted(len(exchange), 'connection', ',')}"):
            plans = phase_plans(
                exchange,
                ready.network,
                ready.sizes[-1],
                virtual_channels=question.reserved_channels,
                bytes_per_second=ready.clock.bytes_per_second,
                latency=ready.clock.latency_seconds
                * ready.network.channel_cycles.astype(np.float64),
                switch_seconds=ready.switch_seconds(question.switch_time),
                end_channels=ready.flows.links.end_channels,
                seed=question.seed,
            )
        for size in ready.sizes:  # by the plan that is better there
            plan = min(plans, key=methodcaller("seconds", size))
            ran = {
                "algorithm": PHASES,
                "order": GIVEN,
                "empty_seconds": plan.seconds(0.0),
                "steps": plan.plan.num_phases,
                "num_messages": len(exchange),
                "inside_share": None,
                "at_once": False,
            }
            points.append(_point(ready, bound, size, plan.timed(size), ran))
    last = ready.sizes[-1]
    best = fastest_first(points, last)[0]
    better = None
    if question.reorder:
        best, algorithm = _fastest_run(ready, points)
        runner = ready.runner(ready.host_of)
        better = reordered(algorithm, runner, best.size, best.seconds, seed=question.seed)
        if better.better:
            hosts = np.asarray(better.node_of, np.int32)
            least = ready.bound(question.collective, question.root, hosts)
            points += _timed(ready, (algorithm,), least, order=FOUND, host_of=hosts)[0]
    left_out = ready.left_out | stuck
    curves: dict[str, list[float]] = {}
    for each in points:  # of each algorithm with sizes rising
        if each.order == GIVEN and each.algorithm != PHASES:
            curves.setdefault(each.algorithm, []).append(each.seconds)
    pairs = combinations(curves, 2)
    crossings = sorted(
        (
            each
            for pair in pairs
            for each in collectives.crossing_points(ready.sizes, curves, *pair)
        ),
        key=lambda each: (each.size, each.seconds, each.below, each.above, each.leads),
    )
    whole = None
    if (unbroken := ready.whole) is not None:
        least = unbroken.bound(question.collective, question.root, unbroken.host_of)
        there, _ = _timed(unbroken, unbroken.algorithms, least, named=named)
        if best.algorithm in ready.library_names:
            same = None
        else:
            runner, algorithm = unbroken.runner(ready.host_of), ready.named(best.algorithm)
            same = runner.timed(algorithm, last).seconds
        network, hosts = ready.network, np.unique(unbroken.host_of).tolist()
        run_here = {each.name for each in ready.algorithms} - left_out.keys()
        whole = Whole(
            routing=unbroken.shown.routing_name,
            ranks=len(unbroken.host_of),
            same_ranks_seconds=same,
            cut_off=tuple(network.name_of(each) for each in hosts if each in network.failed_nodes),
            left_out={
                each.algorithm: left_out.get(each.algorithm, "")
                for each in there
                if each.algorithm not in run_here
            },
            points=tuple(
                WholePoint(algorithm=each.algorithm, size=each.size, seconds=each.seconds)
                for each in there
            ),
        )
    program, inside, flows = ready.program, ready.node_of_host is not None, OnFlows.of(ready.flows)
    if program is not None:  # whose messages do not share channels
        flows = replace(
            flows, clock=ready.clock, sharing=None, injection="in-order", tolerance=None
        )
    notes = _notes(ready, best if inside else None, curves)
    host_of, owner = ready.host_of, ready.node_of_host
    ranks = np.unique(host_of if owner is None else owner[host_of], return_counts=True)[1]
    steps = least_steps(len(ranks), int(ranks.max()))
    return CollectiveTimes(
        setup=OnSimulated.of_network(ready.shown),
        flows=flows,
        router=program.router_fields if program else None,
        packet_flits=program.packet_flits if program else None,
        flit_bytes=program.flit_bytes if program else None,
        cycle_us=program.cycle_us if program else None,
        collective=question.collective,
        num_ranks=len(host_of),
        hosts=len(distinct(host_of)),
        inside_nodes=best.inside_share if inside else None,
        mapping=mapping_name(question.mapping),
        bound=Bound(
            latency_seconds=bound.latency,
            seconds_per_byte=bound.per_byte,
            why=bound.why,
            steps=steps,
            alpha_seconds=bound.alpha,
            steps_seconds=steps * bound.alpha,
        ),
        winners=tuple(collectives.winners_of(ready.sizes, curves, crossings)),
        crossings=tuple(crossings),
        reordered=better,
        left_out=left_out,
        phases=_phases(points, ready.sizes),
        whole=whole,
        measured=_measured(question, ready, points),
        note=" ".join(f"{each}." for each in notes) or None,
        points=tuple(points),
        ready=ready,
        provenance=provenance_of(question, "compare_collectives", ready.network),
    )


def _timed(
    ready: PreparedCollective,
    algorithms: Sequence[collectives.Algorithm],
    bound: LeastTime,
    *,
    named: bool = True,
    order: str = GIVEN,
    host_of: Ints | None = None,
) -> tuple[list[Point], dict[str, str]]:
    """Return what each algorithm takes at each size, and which deadlock.

    Those that are named raise that, and others if all deadlock.
    """
    runner = ready.runner(ready.host_of if host_of is None else host_of)
    found, stuck, steps = list[Point](), dict[str, str](), len(ready.sizes) + 1
    what = f"{ready.collective} on {ready.network.name}"
    with counting(len(algorithms) * steps, what) as tell:
        for place, each in enumerate(algorithms):
            tell(place * steps)
            points = []
            try:
                own, empty = each.outline(), runner.empty(each)
                ran = {
                    "algorithm": each.name,
                    "order": order,
                    "empty_seconds": empty,
                    "steps": own.num_steps,
                    "num_messages": own.num_messages,
                    "inside_share": runner.inside_share(each),
                    "at_once": ready.program is None and not each.law.in_order,
                }
                for done, size in enumerate(ready.sizes, start=1):
                    tell(place * steps + done)
                    run = runner.timed(each, size, empty)
                    points.append(_point(ready, bound, size, run, ran))
            except DeadlockError:
                if named or (not found and place == len(algorithms) - 1):
                    raise
                stuck[each.name] = "it deadlocks; name it to see where"
            else:
                found += points
    return found, stuck


def _measured(
    question: CollectiveQuestion, ready: PreparedCollective, points: Sequence[Point]
) -> Measured | None:
    """Return what was measured, beside ``points`` and those of runs of fewer ranks."""
    times = {len(ready.host_of): _by_algorithm(points)}
    for _, part in ready.runs:
        if (ranks := len(part.host_of)) not in times:
            least = part.bound(question.collective, question.root, part.host_of)
            timed, _ = _timed(part, part.algorithms, least, named=question.algorithm != "all")
            times[ranks] = _by_algorithm([*timed, *_expected(part, least)])
    if not ready.runs:
        return None
    found = compared(question, ready, times)
    if ready.library is None:
        return found
    hosts = {(log.path, len(part.host_of)): log.hosts for log, part in ready.runs}
    causes = explained(found.points, question.collective, ready.library, hosts)
    return replace(found, explanations=causes)


def _expected(ready: PreparedCollective, bound: LeastTime) -> list[Point]:
    """Return what algorithms take as libraries run them on computers with an inside."""
    found = list[Point]()
    for name in ready.library_names:
        assert ready.library is not None
        which = ready.collective, name
        crossed = ready.library.crossed(*which)
        ran = {
            "algorithm": name,
            "order": GIVEN,
            "empty_seconds": ready.library.timed(*which, 0.0).seconds,
            "steps": round(sum(ready.library.hops(*which))),
            "num_messages": crossed.pairs,
            "inside_share": None if ready.node_of_host is None else crossed.free,
            "at_once": False,
        }
        for size in ready.sizes:
            found.append(_point(ready, bound, size, ready.library.timed(*which, size), ran))
    return found


def _point(
    ready: PreparedCollective,
    bound: LeastTime,
    size: float,
    run: collectives.Timed,
    ran: Mapping[str, Any],
) -> Point:
    """Return what one run of an algorithm comes to. ``ran``: its figures that any size shares."""
    speed, least = size / run.seconds if size else None, bound.seconds(size)
    ranks = len(ready.host_of)
    bus = None if speed is None else speed * bus_factor(ready.collective, ranks)
    busy = run.link_seconds / run.seconds if run.seconds else 0.0
    held_by = "channel" if busy >= MOSTLY else "waiting"
    if ran["empty_seconds"] >= MOSTLY * run.seconds:
        held_by = "switches" if ran["algorithm"] == PHASES else "latency"
    return Point(
        **ran,
        size=size,
        seconds=run.seconds,
        bus_bandwidth=bus,
        algorithm_bandwidth=speed,
        bound_seconds=least,
        ratio=run.seconds / least if least else None,
        bound_bus_bandwidth=(bus and bus * run.seconds / least) if least else None,
        busiest_channel=Busiest(
            name=ready.flows.links.link_name(run.link),
            bytes=run.link_bytes,
            seconds=run.link_seconds,
        ),
        held_by=held_by,
        chunks=run.chunks,
        chunks_capped=run.capped,
    )


def _phases(points: Sequence[Point], sizes: Sequence[float]) -> Phases | None:
    """Return where phases on reserved channels beat message passing. None without phases."""
    phased = [each for each in points if each.algorithm == PHASES]
    if not phased:
        return None
    faster = {
        each.size: fastest_first(points, each.size)[0].seconds / each.seconds for each in phased
    }
    wins = [size for size, factor in faster.items() if factor >= LONGER]
    count = phased[-1].steps
    head = f"On reserved channels, {counted(count, 'compiled phase', ',')}"
    verb, they = ("beats", "it takes") if count == 1 else ("beat", "they take")
    if wins:
        best = max(wins, key=lambda size: faster[size])
        at = f" at {units.size(best)}" * (len(wins) > 1)
        said = f"messages {size_ranges(list(sizes), wins)}: {faster[best]:.3g} times as fast{at}."
        said = f"{head} {verb} {said}"
    else:
        most = max(faster, key=lambda size: faster[size])
        times = "" if faster[most] > 1 / LONGER else f"{1 / faster[most]:.3g} times "
        over = f"{times}as long as messages at {units.size(most)}"
        said = f"{head} never {verb} messages here: {they} {over}."
    return Phases(
        verdict=said,
        connections=phased[0].num_messages,
        phases=tuple(each.steps for each in phased),
        size=tuple(faster),
        faster=tuple(faster.values()),
    )


def _notes(
    ready: PreparedCollective, inside: Point | None, curves: Mapping[str, list[float]]
) -> Iterator[str]:
    """Yield what was assumed, what is free, and what may surprise, in sentences."""
    more = []
    if ready.program is not None and ready.flit_source == ASSUMED:
        flits = counted(ready.program.flit_bytes or 0, "byte", "g")
        more.append((f"flits of {flits}", "--flit-bytes"))
    if said := ready.clock.assumed(*more):
        yield said
    if inside is not None:
        free = f"{percent(inside.inside_share)} of the bytes of {inside.algorithm}"
        yield f"Messages inside nodes are taken as free: {free} (--count-inside-nodes counts them)"
    for name, times in curves.items():
        curve = pairwise(zip(ready.sizes, times, strict=True))
        falls = [each for each in curve if each[0][1] > each[1][1] * LONGER]
        if falls:
            less, most = (units.size(each[0]) for each in falls[0])
            why = "ranks that send one by one fall out of step, differently at each size"
            longer = f"With {name}, {less} take longer than {most}"
            yield f"{longer}: {why} (--injection shared posts all at once)"
