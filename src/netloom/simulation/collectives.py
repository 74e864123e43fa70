"""Collectives as they run: what an algorithm takes at a size, and its busiest channel.

From the times of several by size follow where these cross, and which is the fastest from size to
size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure
from netloom.routing import Routing, paths
from netloom.simulation.flow import (
    FlowLaw,
    FlowNetwork,
    FlowRun,
    rounds_apart,
    rounds_repeated,
    run_flows,
)
from netloom.simulation.flow.engine import FAIR
from netloom.simulation.flow.rounds import REPEATS
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.traces import run_trace
from netloom.topology import Cube, Topology
from netloom.topology.core import FoldedShape
from netloom.workload import ProcessGraph, process_graph
from netloom.workload.programs.collectives.algorithms import (
    BY_BLOCKS,
    PIPELINED,
    collective_program,
    copies,
    outline,
)
from netloom.workload.programs.collectives.program import (
    CollectiveProgram,
    Outline,
    rounds_of,
    trace_of,
)
from netloom.workload.programs.messages import Messages
from netloom.workload.programs.rounds import RoundProgram, as_messages

# -- where times by size cross ---------------------------------------------------------------------

EQUAL = 1e-9
"""Times that differ by less are equal."""


class Winner(Figures):
    """The fastest algorithm between two sizes. None for no end."""

    algorithm: str
    from_size: float | None = figure(unit="bytes")
    to_size: float | None = figure(unit="bytes")


class Crossing(Figures):
    """Where two algorithms take equally long. Interpolated between sizes, both logarithmic.

    ``below`` is the faster of the two at smaller sizes. ``leads``: no other is faster there.
    """

    size: float = figure(unit="bytes")
    seconds: float = figure(unit="seconds")
    below: str
    above: str
    leads: bool


def crossing_points(
    sizes: Sequence[float], curves: Mapping[str, list[float]], one: str, other: str
) -> Iterator[Crossing]:
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

        def between(
            values: Sequence[float], here: int = here, there: int = there, part: float = part
        ) -> float:
            return exp(log(values[here]) + part * log(values[there] / values[here]))

        seconds = between(curves[one])
        below, above = (one, other) if apart[here] < 0 else (other, one)
        yield Crossing(
            size=between(sizes),
            seconds=seconds,
            below=below,
            above=above,
            leads=all(between(times) >= seconds * (1 - EQUAL) for times in curves.values()),
        )


def winners_of(
    sizes: Sequence[float], curves: Mapping[str, list[float]], crossings: Iterable[Crossing]
) -> Iterator[Winner]:
    """Yield the fastest algorithm from size to size. One stays the winner while none is faster."""
    fastest = list[str]()
    for place in range(len(sizes)):
        times = {name: curve[place] for name, curve in curves.items()}
        least = min(times.values()) * (1 + EQUAL)
        best = [name for name, took in times.items() if took <= least]
        stays = fastest and fastest[-1] in best
        fastest.append(fastest[-1] if stays else min(best, key=lambda name: times[name]))
    begin = None
    for (one, low), (other, high) in pairwise(zip(fastest, sizes, strict=True)):
        if one != other:
            met = (
                each.size
                for each in crossings
                if {each.below, each.above} == {one, other} and low <= each.size <= high
            )
            place_ = next(met, high)
            yield Winner(algorithm=one, from_size=begin, to_size=place_)
            begin = place_
    yield Winner(algorithm=fastest[-1], from_size=begin, to_size=None)


# -- runs of algorithms ----------------------------------------------------------------------------

MOST_LISTED = 300_000
"""Messages above which a program is run as rounds, alike ones once, if no messages meet."""

MOST_MET = 2**24
"""Most messages that meet, or have an overhead: 330 bytes each."""

MOST_IN_TREES = 2**17
"""Most messages of pipelined trees, whose flows meet. With more chunks they take hardly less."""

MOST_IN_CHAINS = 1_200_000
"""Most messages of a broadcast or reduction along a chain, of which longer ones are known."""

MOST_DIFFERENT = 200
"""Most different rounds of a program that is run as rounds."""

MOST_AT_ONCE = 100_000
"""Most messages that are sent at once, unless the algorithm was asked for by its name."""

MOST_CHUNKS = 2**14
"""Chunks into which a pipelined algorithm is cut: more take hardly less."""

AT_ONCE = (("all-to-all", "linear"),)
"""Algorithms whose messages libraries post all at once: they share the channels of their hosts."""

PIPES = ("broadcast", "reduce", "all-reduce")
"""Collectives with algorithms that are pipelined."""

MOST_PIPED = 2**14
"""Most messages of a pipelined algorithm in cycles, by which its chunks are limited."""

MOST_CYCLES = 2**31 - 1
"""Cycles of a run: times are int32."""

STEADY, SAME = 4, 1e-9
"""Chunks by which pipelines grow to see if they grow evenly, and how evenly they must."""


class Timed(NamedTuple):
    """What one run took: seconds, its chunks, and its busiest link with what crossed it.

    ``capped``: whether more chunks would suit its size better, and are too many to run.
    """

    seconds: float
    chunks: int
    link: int
    link_bytes: float
    link_seconds: float
    capped: bool = False


@dataclass(frozen=True, eq=False)
class Algorithm:
    """An algorithm of a collective for some ranks, ready to run.

    ``fits``: further arguments of ``outline``: the root, the torus, ranks per node.
    ``law``: how its messages share channels, as flows.
    """

    collective: str
    name: str
    num_ranks: int
    fits: dict[str, Any]
    chunks: int | None  # as asked for
    law: FlowLaw = FAIR
    known: dict[int, Outline] = field(default_factory=dict, repr=False)  # outlines, by chunks

    @property
    def pipelined(self) -> bool:
        """Whether it sends chunk after chunk down trees, each while others are further on."""
        chosen = self.collective in PIPES and self.name in PIPELINED and self.name != "linear"
        return chosen and self.chunks is None

    def outline(self, chunks: int | None = None) -> Outline:
        """Return its steps, with so many chunks. As many as were asked for by default."""
        each = self.chunks or 1 if chunks is None else chunks
        if each not in self.known:
            self.known[each] = outline(
                self.collective, self.name, self.num_ranks, chunks=each, **self.fits
            )
        return self.known[each]

    @property
    def copies(self) -> float:
        """How many times each rank reorders as much as the collective's size."""
        return copies(self.collective, self.name, self.num_ranks)

    def largest(self, chunks: int | None = None) -> float:
        """Return its largest message, as a part of the collective's size."""
        own = self.outline(chunks)
        width = max(int(each.width.max()) for each in own.steps if len(each.source))
        return width * float(own.chunk_size[0])

    def program(self, chunks: int | None = None) -> CollectiveProgram:
        """Return its messages, with so many chunks. As many as were asked for by default."""
        each = self.chunks or 1 if chunks is None else chunks
        return collective_program(
            self.collective, self.name, self.num_ranks, chunks=each, **self.fits
        )


@dataclass(eq=False)
class Runner:
    """Runs algorithms with ranks on some hosts, as flows.

    Parameters
    ----------
    links, routing
        The network as flows share it, in bytes and seconds, and their paths.
    overhead
        Seconds of each end of a message.
    host_of
        int32[num_ranks], the host of each rank.
    node_of_host
        int32[num_hosts], the node of each host, if messages inside nodes do not use the network.
    adding
        Seconds, and seconds per byte, of a rank that adds a message.
    copying
        Seconds per byte of a rank that reorders blocks.
    start
        Seconds before the first step.

    Attributes
    ----------
    smallest
        The least bytes into which a pipelined algorithm is cut.
    time_seconds, size_bytes
        The units of what ``found`` returns.
    """

    smallest = time_seconds = size_bytes = 1.0

    links: FlowNetwork
    routing: Routing
    overhead: float
    host_of: Ints
    node_of_host: Ints | None = None
    adding: tuple[float, float] = (0.0, 0.0)
    copying: float = 0.0
    start: float = 0.0

    def __post_init__(self) -> None:
        self.capacity = self.links.capacity

    def timed(self, algorithm: Algorithm, size: float, empty: float | None = None) -> Timed:
        """Return what an algorithm takes. A pipelined one in the chunks that suit the size.

        ``empty``: what it takes without data, if that is known.
        """
        if not algorithm.pipelined:
            return self.run(algorithm, None, size)
        once = algorithm.outline(1)
        more = algorithm.outline(2).num_steps - once.num_steps
        alone = self.empty(algorithm) if empty is None else empty
        begun = (alone - self.start) / max(once.num_steps, 1)
        largest, capacity = algorithm.largest(1), self.links.capacity
        rate = float(capacity.min())  # of the slowest channel that it uses
        if rate < capacity.max():
            used = Runner.found(self, algorithm, 1, 1.0)[1] > 0
            rate = float(capacity[used].min(initial=capacity.max()))

        def about(chunks: int) -> float:
            steps = once.num_steps + (chunks - 1) * more
            return float(steps * (begun + size * largest / chunks / rate))

        choices = [2**power for power in range(MOST_CHUNKS.bit_length())]
        chunks = min((each for each in choices if each <= max(size / self.smallest, 1)), key=about)
        most = self.most_chunks(algorithm)
        if chunks <= most:
            return self.run(algorithm, chunks, size)
        if algorithm.name == "chain" and most - 2 * STEADY >= once.num_steps:
            found = self._grown(algorithm, size, chunks, most)
            if found is not None:
                return found
        chunks = 2 ** (most.bit_length() - 1)
        return self.run(algorithm, chunks, size)._replace(capped=True)

    def empty(self, algorithm: Algorithm) -> float:
        """Return what an algorithm takes without data: its latencies one after the other."""
        chunks = 1 if algorithm.pipelined else None
        return self.run(algorithm, chunks, 0.0).seconds

    def on(self, host_of: Ints) -> Runner:
        """Return the runner of the same ranks on other hosts."""
        other = copy(self)
        other.host_of = host_of
        return other

    def inside(self, source: Ints, target: Ints) -> Bools:
        """Return which messages between ranks do not use the network, bool[n]."""
        place = self.host_of if self.node_of_host is None else self.node_of_host[self.host_of]
        return np.asarray(place[source] == place[target])

    def inside_share(self, algorithm: Algorithm) -> float:
        """Return the part of an algorithm's bytes that do not use the network."""
        inside, total = 0.0, 0.0
        for each in algorithm.outline().steps:
            sent = each.width * np.float64(each.times) * (each.source != each.target)
            inside += float(sent[self.inside(each.source, each.target)].sum())
            total += float(sent.sum())
        return inside / total if total else 0.0

    def crossed(self, algorithm: Algorithm) -> float:
        """Return the bytes that cross channels, for each byte of an algorithm's size."""
        graph = graph_of(algorithm.outline(1))
        sent = ~self.inside(graph.source, graph.target)
        ends = [self.host_of[end[sent]] for end in (graph.source, graph.target)]
        found = paths(self.links.topology, self.routing, *ends).whole(self.links.topology)
        weight = graph.bytes[sent]
        weight = weight if found.pair is None else weight[found.pair]
        if found.probability is not None:
            weight = weight * found.probability
        return float((weight * found.lengths).sum())

    def _grown(self, algorithm: Algorithm, size: float, chunks: int, most: int) -> Timed | None:
        """Return the time of a pipeline that is full long before its end, from shorter ones.

        With each chunk more it takes as much longer. None if that is not so.
        """
        short, middle, long = (
            self.run(algorithm, count, size / chunks * count)
            for count in (most - 2 * STEADY, most - STEADY, most)
        )
        step = long.seconds - middle.seconds
        if abs(step - (middle.seconds - short.seconds)) > SAME * long.seconds:
            return None
        times, seconds = chunks / most, long.seconds + (chunks - most) / STEADY * step
        crossed = long.link_bytes * times, long.link_seconds * times
        return Timed(seconds, chunks, long.link, *crossed)

    def listed(
        self, algorithm: Algorithm, chunks: int | None, size: float
    ) -> tuple[Messages, FlowRun]:
        """Return an algorithm's messages, in the order of its steps, and when each was sent."""
        rounds = self._rounds(algorithm, algorithm.outline(chunks), size)
        table = as_messages(rounds, overhead=self.overhead, adding=self.adding)
        return table, run_flows(self.links, self.routing, table, algorithm.law)

    def run(self, algorithm: Algorithm, chunks: int | None, size: float) -> Timed:
        """Return what an algorithm takes in some chunks. As many as were asked for by default."""
        finish, sizes = self.found(algorithm, chunks, size)
        times = sizes / self.capacity
        copied = size * self.copying * algorithm.copies
        seconds = self.start + finish * self.time_seconds + copied
        link = int(np.argmax(times))
        crossed = float(sizes[link]) * self.size_bytes, float(times[link]) * self.time_seconds
        return Timed(seconds, chunks or algorithm.chunks or 1, link, *crossed)

    def found(
        self, algorithm: Algorithm, chunks: int | None, size: float
    ) -> tuple[float, NDArray[Any]]:
        """Return when some chunks are through, and what crossed each link."""
        program = algorithm.outline(chunks)
        apart = self.apart(algorithm, program, size)
        if apart is None:
            apart = self._repeated(algorithm, program, size)
        if apart is not None:
            return apart
        if program.num_messages > MOST_MET:
            many = f"{algorithm.name}, of {program.num_messages:,} messages that meet"
            raise InputError("algorithm", many, f"at most {MOST_MET:,}: fewer ranks, or another")
        run = self.listed(algorithm, chunks, size)[1]
        return run.finish, run.link_sizes

    def apart(
        self, algorithm: Algorithm, program: Outline, size: float
    ) -> tuple[float, Floats] | None:
        """Return what ``found`` does of a long program of few rounds whose messages never meet."""
        long, few = program.num_messages > MOST_LISTED, len(program.steps) <= MOST_DIFFERENT
        if not (long and few) or self.overhead:
            return None
        rounds, law = self._rounds(algorithm, program, size), algorithm.law
        return rounds_apart(self.links, self.routing, rounds, law, adding=self.adding)

    def _repeated(
        self, algorithm: Algorithm, program: Outline, size: float
    ) -> tuple[float, Floats] | None:
        """Return what ``found`` does of a long program of few rounds, from their first repeats."""
        few = sum(min(each.times, REPEATS) * len(each.source) for each in program.steps)
        if program.num_messages <= max(MOST_LISTED, 2 * few) or few > MOST_MET:
            return None
        rounds, costs = self._rounds(algorithm, program, size), (self.overhead, self.adding)
        where = self.links, self.routing, rounds, algorithm.law
        return rounds_repeated(*where, overhead=costs[0], adding=costs[1])

    def refusal(self, algorithm: Algorithm, sizes: int) -> str:
        """Return why an algorithm is left out if nobody asked for it by name. "" if it is not."""
        program = algorithm.outline()
        at_once = max((len(each.source) for each in program.steps), default=0)
        if at_once > MOST_AT_ONCE:
            return f"{at_once:,} messages at once; name it to run it"
        many = program.num_messages
        if len(program.steps) > MOST_DIFFERENT and many * sizes > 20 * MOST_LISTED:
            return f"{many:,} messages at each size; name it to run it"
        if many > MOST_MET and self.apart(algorithm, program, 1.0) is None:
            return f"{many:,} messages that meet"
        return ""

    def costs(self, algorithm: Algorithm) -> tuple[float, bool]:
        """Return what an algorithm takes beside its messages: copies, and each block's overhead."""
        return self.copying and algorithm.copies, self.overhead > 0 and algorithm.name in BY_BLOCKS

    def _rounds(self, algorithm: Algorithm, program: Outline, size: float) -> RoundProgram:
        hosts, owner = self.links.topology.num_hosts, self.node_of_host
        return rounds_of(
            program,
            size,
            self.host_of,
            num_hosts=hosts,
            node_of_host=owner,
            by_blocks=algorithm.name in BY_BLOCKS,
        )

    def most_chunks(self, algorithm: Algorithm) -> int:
        """Return the most chunks of a pipelined algorithm that are run."""
        once = algorithm.outline(1)
        each = max(once.num_messages, 1)
        if algorithm.name != "chain":
            return max(MOST_IN_TREES // each, 1)
        full = once.num_steps + 2 * STEADY  # so many that all ranks send at once
        if algorithm.collective == "all-reduce" or full * each > MOST_IN_CHAINS:
            full = 1
        return max(MOST_LISTED // each, full)


class CycleRunner(Runner):
    """Runs algorithms as traces, on the network flit by flit or on another engine of cycles.

    ``network`` runs them: its flits have ``flit_bytes``, its cycles last ``cycle_seconds``.
    """

    def __init__(
        self, of_flows: Runner, network: ProgramNetwork, *, flit_bytes: float, cycle_seconds: float
    ) -> None:
        vars(self).update(vars(of_flows))
        self.network = network
        self.smallest = self.size_bytes = flit_bytes
        self.time_seconds = cycle_seconds
        ends = np.ones(2 * network.topology.num_ports * self.links.end_channels)
        self.capacity = np.append(network.topology.channel_bandwidth, ends)

    def most_chunks(self, algorithm: Algorithm) -> int:
        """Return the most chunks of a pipelined algorithm that are run."""
        return max(MOST_PIPED // max(algorithm.outline(1).num_messages, 1), 1)

    def found(self, algorithm: Algorithm, chunks: int | None, size: float) -> tuple[float, Ints]:
        """Return when some chunks are through, in cycles, and the flits that crossed each link."""
        network, program = self.network, algorithm.program(chunks)
        trace = trace_of(program, size, overhead_seconds=self.overhead)
        sent = ~self.inside(program.source, program.target)
        trace = replace(
            trace, run=trace.run * sent, receive=trace.receive * sent, flits=trace.flits * sent
        )
        placed = trace.in_cycles(self.time_seconds, self.size_bytes).placed(
            network.topology, self.host_of
        )
        run = run_trace(network, placed, MOST_CYCLES, lambda _: None, lambda: False)
        if run.finish is None:
            what = f"more than {MOST_CYCLES:,} cycles of {algorithm.name}"
            raise InputError("size", what, "smaller sizes, larger flit_bytes, or engine flow")
        sizes = [run.link_sizes]
        if self.links.end_channels:  # those of hosts of direct networks
            rows, hosts = run.rows, network.topology.num_hosts
            moved = rows[(rows["flits"] > 0) & (rows["source"] != rows["target"])]
            ends = (moved["source"], moved["target"])
            sizes += [np.bincount(end, moved["flits"], hosts).astype(np.int64) for end in ends]
        return run.finish, np.concatenate(sizes)


def fits_of(topology: Topology, host_of: Ints) -> dict[str, Any]:
    """Return what outlines take of where ranks are: the torus, and ranks per node.

    ``torus``: the sides of the torus on which ranks are numbered row by row. ``ranks_per_node``:
    how many ranks follow each other on each computer. None where that is not so.
    """
    cube, router, torus = topology.whole.routers, topology.whole.injection_router, None
    if isinstance(cube, Cube) and len(host_of) == len(router) == topology.num_hosts:
        wraps = all(wrap or side <= 2 for side, wrap in zip(cube.sides, cube.wraps, strict=True))
        if wraps and np.array_equal(router[host_of], np.arange(cube.num_routers)):
            torus = tuple(map(int, cube.sides))
    shape = topology.whole.family
    if isinstance(shape, FoldedShape) and np.array_equal(host_of, np.arange(topology.num_hosts)):
        torus = shape.sides
    owner = topology.node_of_host[host_of]
    blocks = np.flatnonzero(np.diff(owner, prepend=-1))
    lengths = np.diff(blocks, append=len(owner))
    even = (lengths == lengths[0]).all() and len(np.unique(owner[blocks])) == len(blocks)
    return {"torus": torus, "ranks_per_node": int(lengths[0]) if even else None}


def alike(one: Outline, other: Outline) -> bool:
    """Whether two outlines send the same from rank to rank, step by step."""
    return len(one.steps) == len(other.steps) and all(
        mine.times == its.times
        and np.array_equal(mine.source, its.source)
        and np.array_equal(mine.target, its.target)
        and np.array_equal(mine.width * one.chunk_size[0], its.width * other.chunk_size[0])
        for mine, its in zip(one.steps, other.steps, strict=True)
    )


def graph_of(outline: Outline) -> ProcessGraph:
    """Return what ranks send each other in all steps together, in parts of a collective's size.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import outline
    >>> graph_of(outline("all-reduce", "ring", 4)).bytes.tolist()
    [1.5, 1.5, 1.5, 1.5]
    """
    size = outline.num_ranks
    key = np.concatenate([each.source * np.int64(size) + each.target for each in outline.steps])
    sent = np.concatenate([each.width * np.float64(each.times) for each in outline.steps])
    pairs, place = np.unique(key, return_inverse=True)
    total = np.bincount(place, weights=sent) * float(outline.chunk_size[0] or 1)
    name = f"{outline.collective} of {size} ranks"
    return process_graph(size, pairs // size, pairs % size, bytes=total, name=name)
