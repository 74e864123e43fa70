"""Collectives on the flow engine: what an algorithm takes at a size, and its busiest channel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.simulation.flow import run_flows, run_rounds
from netloom.workload.programs.collectives.algorithms import (
    PIPELINED,
    collective_program,
    outline,
)
from netloom.workload.programs.collectives.sent import rounds_of
from netloom.workload.programs.round_programs import as_messages

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.questions.simulate.engines import PreparedFlows
    from netloom.simulation.flow import FlowRun
    from netloom.workload.programs.collectives.outline import Outline
    from netloom.workload.programs.collectives.program import CollectiveProgram
    from netloom.workload.programs.messages import Messages
    from netloom.workload.programs.round_programs import RoundProgram

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
    ``smallest``: the least bytes into which a pipelined algorithm is cut.
    """

    smallest = 1.0

    def __init__(
        self, flows: PreparedFlows, host_of: Ints,
        node_of_host: Ints | None = None,
    ) -> None:  # fmt: skip
        assert flows.clock is not None
        self.flows, self.host_of, self.node_of_host = flows, host_of, node_of_host
        self.overhead = flows.clock.overhead_seconds

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
        return Runner(self.flows, host_of, self.node_of_host)

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
        found = self._found(algorithm, chunks, size)
        times = found.link_sizes / self.flows.links.capacity
        link = int(np.argmax(times))
        return Timed(
            float(found.finish), chunks or algorithm.chunks or 1, link,
            float(found.link_sizes[link]), float(times[link]),
        )  # fmt: skip

    def _found(self, algorithm: Algorithm, chunks: int | None, size: float) -> Any:
        flows, program = self.flows, algorithm.outline(chunks)
        if program.num_messages <= MOST_LISTED or len(program.steps) > MOST_DIFFERENT:
            return self.listed(algorithm, chunks, size)[1]
        return run_rounds(
            flows.links, flows.routing, self._rounds(program, size),
            overhead=self.overhead, injection=algorithm.injection,
        )  # fmt: skip

    def _slowest(self, algorithm: Algorithm) -> float:
        """Return the bandwidth of the slowest channel that a pipelined algorithm uses."""
        capacity = self.flows.links.capacity
        if capacity.min() == capacity.max():
            return float(capacity.min())
        used = self._found(algorithm, 1, 1.0).link_sizes > 0
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
