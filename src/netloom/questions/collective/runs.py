"""Collectives on the flow engine: what an algorithm takes at a size, and its busiest channel."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.spec import real_number
from netloom.base.units import parse_bytes
from netloom.base.words import listed
from netloom.mapping import search_mapping
from netloom.simulation.flow import run_flows, run_rounds
from netloom.workload import ProcessGraph, process_graph
from netloom.workload.programs.collectives.algorithms import PIPELINED, collective_program, outline
from netloom.workload.programs.collectives.sent import rounds_of
from netloom.workload.programs.rounds import as_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.questions.simulate.engines import PreparedFlows
    from netloom.simulation.flow import FlowRun, RoundsRun
    from netloom.workload.programs.collectives.program import CollectiveProgram, Outline
    from netloom.workload.programs.messages import Messages
    from netloom.workload.programs.rounds import RoundProgram


MOST_LISTED = 300_000
"""Most messages that are run as a table. Others are run as rounds, alike ones once."""

MOST_IN_TREES = 2**17
"""Most messages of pipelined trees, whose flows meet. With more chunks they take hardly less."""

MOST_IN_CHAINS = 1_200_000
"""Most messages of a broadcast or reduction along a chain, of which longer ones are known."""

MOST_DIFFERENT = 200
"""Most different rounds of a program that is run as rounds."""

MOST_AT_ONCE = 100_000
"""Most messages that are sent at once, unless the algorithm was asked for by its name."""

MOST_CHUNKS = 2**14

AT_ONCE = (("all-to-all", "linear"),)
"""Algorithms whose messages libraries post all at once: they share the channels of their hosts."""

PIPES = ("broadcast", "reduce", "all-reduce")
"""Collectives with algorithms that are pipelined."""

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
    ``injection``: the order of a host's messages, as flows.
    """

    collective: str
    name: str
    num_ranks: int
    fits: dict[str, Any]
    chunks: int | None  # as asked for
    injection: Literal["in-order", "shared"] = "in-order"
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

    def program(self, chunks: int | None = None) -> CollectiveProgram:
        """Return its messages, with so many chunks. As many as were asked for by default."""
        each = self.chunks or 1 if chunks is None else chunks
        return collective_program(
            self.collective, self.name, self.num_ranks, chunks=each, **self.fits
        )


class Runner:
    """Runs algorithms with ranks on some hosts, as flows.

    ``node_of_host``: the node of each host, if messages inside nodes do not use the network.
    ``smallest``: the least bytes into which a pipelined algorithm is cut. ``time_seconds`` and
    ``size_bytes``: the units of what ``found`` returns.
    """

    smallest = time_seconds = size_bytes = 1.0

    def __init__(
        self, flows: PreparedFlows, host_of: Ints,
        node_of_host: Ints | None = None,
    ) -> None:  # fmt: skip
        assert flows.clock is not None
        self.flows, self.host_of, self.node_of_host = flows, host_of, node_of_host
        self.overhead, self.capacity = flows.clock.overhead_seconds, flows.links.capacity

    def timed(self, algorithm: Algorithm, size: float, empty: float | None = None) -> Timed:
        """Return what an algorithm takes. A pipelined one in the chunks that suit the size.

        ``empty``: what it takes without data, if that is known.
        """
        if not algorithm.pipelined:
            return self.run(algorithm, None, size)
        once = algorithm.outline(1)
        more = algorithm.outline(2).num_steps - once.num_steps
        alone = self.empty(algorithm) if empty is None else empty
        begun = alone / max(once.num_steps, 1)
        each = max(int(x.width.max()) for x in once.steps if len(x.source)) * once.chunk_size[0]
        rate = self._slowest(algorithm)

        def about(chunks: int) -> float:
            steps = once.num_steps + (chunks - 1) * more
            return float(steps * (begun + size * each / chunks / rate))

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
        times = chunks / most
        return Timed(
            long.seconds + (chunks - most) / STEADY * step, chunks, long.link,
            long.link_bytes * times, long.link_seconds * times,
        )  # fmt: skip

    def listed(
        self, algorithm: Algorithm, chunks: int | None, size: float
    ) -> tuple[Messages, FlowRun]:
        """Return an algorithm's messages, in the order of its steps, and when each was sent."""
        flows, rounds = self.flows, self._rounds(algorithm.outline(chunks), size)
        table = as_messages(rounds, overhead=self.overhead)
        return table, run_flows(flows.links, flows.routing, table, injection=algorithm.injection)

    def run(self, algorithm: Algorithm, chunks: int | None, size: float) -> Timed:
        """Return what an algorithm takes in some chunks. As many as were asked for by default."""
        finish, sizes = self.found(algorithm, chunks, size)
        times = sizes / self.capacity
        link = int(np.argmax(times))
        return Timed(
            finish * self.time_seconds, chunks or algorithm.chunks or 1, link,
            float(sizes[link]) * self.size_bytes, float(times[link]) * self.time_seconds,
        )  # fmt: skip

    def found(
        self, algorithm: Algorithm, chunks: int | None, size: float
    ) -> tuple[float, NDArray[Any]]:
        """Return when some chunks are through, and what crossed each link."""
        flows, program = self.flows, algorithm.outline(chunks)
        run: FlowRun | RoundsRun
        if program.num_messages <= MOST_LISTED or len(program.steps) > MOST_DIFFERENT:
            run = self.listed(algorithm, chunks, size)[1]
        else:
            run = run_rounds(
                flows.links, flows.routing, self._rounds(program, size),
                overhead=self.overhead, injection=algorithm.injection,
            )  # fmt: skip
        return run.finish, run.link_sizes

    def _slowest(self, algorithm: Algorithm) -> float:
        """Return the bandwidth of the slowest channel that a pipelined algorithm uses."""
        capacity = self.flows.links.capacity
        if capacity.min() == capacity.max():
            return float(capacity.min())
        used = Runner.found(self, algorithm, 1, 1.0)[1] > 0
        return float(capacity[used].min(initial=capacity.max()))

    def _rounds(self, program: Outline, size: float) -> RoundProgram:
        return rounds_of(
            program, size, self.host_of,
            num_hosts=self.flows.topology.num_hosts, node_of_host=self.node_of_host,
        )  # fmt: skip

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


def refusal(program: Outline, sizes: int) -> str:
    """Return why an algorithm is left out if nobody asked for it by name. "" if it is not."""
    at_once = max((len(each.source) for each in program.steps), default=0)
    if at_once > MOST_AT_ONCE:
        return f"{at_once:,} messages at once; name it to run it"
    different = len(program.steps)
    listed = program.num_messages * sizes
    if different > MOST_DIFFERENT and listed > 20 * MOST_LISTED:
        return f"{program.num_messages:,} messages at each size; name it to run it"
    return ""


def alike(one: Outline, other: Outline) -> bool:
    """Whether two outlines send the same from rank to rank, step by step."""
    return len(one.steps) == len(other.steps) and all(
        mine.times == its.times
        and np.array_equal(mine.source, its.source)
        and np.array_equal(mine.target, its.target)
        and np.array_equal(mine.width * one.chunk_size[0], its.width * other.chunk_size[0])
        for mine, its in zip(one.steps, other.steps, strict=True)
    )


FACTOR = 4.0
"""Between the sizes of a range that says none."""

MOST_SIZES = 64

WANTED = "a size (64MB), several (1KB,1MB), or a range (1KB:1GB, by 4; 1KB:1GB:2, by 2)"


def parse_sizes(given: Any) -> tuple[float, ...]:
    """Return sizes in bytes, rising, none twice.

    Raises
    ------
    InputError
        If one is none or 0, a range falls or its factor is not above 1, or there are too many.

    Examples
    --------
    >>> parse_sizes("1KB:64KB"), parse_sizes("1MB,8"), parse_sizes("1:10:3")
    ((1000.0, 4000.0, 16000.0, 64000.0), (8.0, 1000000.0), (1.0, 3.0, 9.0, 10.0))
    """
    some = given.split(",") if isinstance(given, str) else given
    some = list(some) if isinstance(some, list | tuple) else [some]
    found: set[float] = set()
    for each in some:
        for size in _range(each) if isinstance(each, str) and ":" in each else [_size(each)]:
            found.add(size)
            if len(found) > MOST_SIZES:
                raise InputError("size", f"more than {MOST_SIZES} sizes", WANTED)
    if not found:
        raise InputError("size", "none", WANTED)
    return tuple(sorted(found))


def _size(given: Any) -> float:
    size = parse_bytes(given, where="size")
    if not size:
        raise InputError("size", "0", WANTED)
    return size


def _range(given: str) -> Iterator[float]:
    """Yield the sizes of a range: those by its factor, and its end."""
    parts = given.split(":")
    if len(parts) > 3:
        raise InputError("size", f"'{given}'", WANTED)
    size, end = _size(parts[0]), _size(parts[1])
    factor = real_number(parts[2], where="size") if len(parts) == 3 else FACTOR
    if not size <= end:
        raise InputError("size", f"'{given}', which falls", WANTED)
    if not factor > 1:
        raise InputError("size", f"'{given}', by {factor:g}", "a factor above 1")
    while size < end * (1 - 1e-9):
        yield size
        size *= factor
    yield end


def size_ranges(sizes: list[float], some: list[float]) -> str:
    """Return in words at which of all sizes something holds.

    Examples
    --------
    >>> size_ranges([1e3, 1e4, 1e5], [1e4, 1e5]), size_ranges([1e3, 1e4], [1e3])
    ('from 10 kB', 'at 1 kB')
    >>> size_ranges([1.0], [1.0])
    'at 1 B'
    >>> size_ranges([1.0, 2.0, 3.0, 4.0], [1.0, 3.0])
    'at 1 B and 3 B'
    """
    if len(some) == 1:
        return f"at {units.size(some[0])}"
    if some == sizes:
        return "at all sizes"
    first, last = sizes.index(some[0]), sizes.index(some[-1])
    if some != sizes[first : last + 1]:
        return f"at {listed([units.size(each) for each in some])}"
    if last == len(sizes) - 1:
        return f"from {units.size(some[0])}"
    if first == 0:
        return f"up to {units.size(some[-1])}"
    return f"from {units.size(some[0])} to {units.size(some[-1])}"


OBJECTIVES = ("max-channel-load", "hop-bytes")
"""What is searched for. The order that is quickest when run is taken."""

ROUNDS = 2
"""Rounds of annealing for each."""


@dataclass(frozen=True, eq=False)
class Reordered:
    """The best rank order found for an algorithm at a size.

    Attributes
    ----------
    algorithm, size
        For what it was searched.
    node_of
        int32[num_ranks], the host of each rank: as given if nothing better was found.
    given_seconds, found_seconds
        What the collective takes as given, and so.
    objective
        What was minimized. "" if the order stays as given.
    """

    algorithm: str
    size: float
    node_of: Ints
    given_seconds: float
    found_seconds: float
    objective: str

    @property
    def better(self) -> bool:
        """Whether it is better than the order given."""
        return bool(self.objective)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = ("algorithm", "size", "given_seconds", "found_seconds", "objective")
        found = {name: getattr(self, name) for name in names}
        return found | {"better": self.better, "node_of": self.node_of.tolist()}


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


def reordered(
    algorithm: Algorithm,
    runner: Runner,
    size: float,
    given_seconds: float,
    *,
    seed: int,
) -> Reordered:
    """Search for a better order of ranks on the hosts that have them, and run it.

    Parameters
    ----------
    algorithm, runner, size, given_seconds
        What is run, as given, and what it takes.
    seed
        Of the search.
    """
    flows, given = runner.flows, runner.host_of
    hosts, places = np.unique(given, return_counts=True)
    graph = graph_of(algorithm.outline(1))
    found = Reordered(algorithm.name, size, given, given_seconds, given_seconds, "")
    for objective in OBJECTIVES:
        placed = search_mapping(
            graph, flows.topology,
            routing=flows.routing, objective=objective, nodes=hosts,
            tasks_per_node=int(places.max()), identity=given, rounds=ROUNDS, seed=seed,
        ).node_of  # fmt: skip
        # Each host keeps as many ranks as it was given, also if places are free.
        placed[np.argsort(placed, kind="stable")] = np.sort(given)
        seconds = runner.on(placed).timed(algorithm, size).seconds
        if seconds < found.found_seconds * (1 - 1e-9):
            found = Reordered(algorithm.name, size, placed, given_seconds, seconds, objective)
    return found
