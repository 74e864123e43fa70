"""Schedules of few steps with times: of all that matter, the fastest at a size.

All messages of a step leave together, once all of the step before have arrived. A step thus costs
a latency, and as many rounds as it lasts: a round is the time of a chunk at the network's unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import listed
from netloom.phases.collectives.few_steps import SECONDS, frontier
from netloom.phases.collectives.listed import Timed
from netloom.phases.collectives.pipelines import BACKWARDS
from netloom.phases.collectives.schedules import StepBound, steps_seconds
from netloom.phases.collectives.step_prices import MOST_SENDS, check_network, roots_of
from netloom.phases.collectives.synthesis import proven
from netloom.workload.programs.many_lists import Lists, lists

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.phases.collectives.few_steps import FewSteps, Frontier
    from netloom.phases.collectives.network import RankNetwork
    from netloom.phases.collectives.schedules import Schedule
    from netloom.workload.programs.collectives.program import CollectiveProgram

GATHERING = ("all-gather", "reduce-scatter", "broadcast", "reduce")
"""Collectives that have schedules of few steps."""

MOST_CHUNKS = 8
"""Most chunks per rank that are tried unless said otherwise."""


@dataclass(frozen=True, eq=False)
class InSteps:
    """Schedules of few steps at a size.

    Attributes
    ----------
    collective, size_bytes, root
        What they do.
    network
        In the direction in which the data goes out of its roots: reversed for reduce-scatter.
    frontier
        The points, and the bound at each number of steps.
    timed
        A schedule for each point.
    """

    collective: str
    size_bytes: float
    root: int
    network: RankNetwork
    frontier: Frontier
    timed: tuple[Timed, ...]

    @property
    def best(self) -> int:
        """The fastest point, and of equal ones the first: the one of fewest steps and chunks."""
        return min(range(len(self.timed)), key=lambda place: self.timed[place].finish_seconds)

    @property
    def round_rate(self) -> float:
        """The rate of a channel that carries one chunk per round, in bytes/s."""
        return float(self.network.unit) * self.network.bytes_per_second

    @property
    def schedule(self) -> Schedule:
        """The fastest, with the bound of its number of steps and the prices that prove it."""
        found = proven(self.timed[self.best])
        proof = self.frontier.bound(self.frontier.points[self.best].steps).prices.proof
        few = StepBound(float(steps_seconds(found, proof)), proof)
        return replace(found, few=few)


def in_steps(
    network: RankNetwork,
    collective: str,
    size_bytes: float,
    *,
    steps: int,
    chunks: int | None = None,
    root: int = 0,
    seconds: float = SECONDS,
) -> InSteps:
    """Return the schedules of at most so many steps that matter, with times and bounds.

    Parameters
    ----------
    network
        Ranks joined directly to each other.
    collective
        One of ``GATHERING``.
    size_bytes
        As ``CollectiveProgram`` has it.
    steps
        The most steps.
    chunks
        The most chunks per rank. None: up to ``MOST_CHUNKS``.
    root
        Of broadcast and reduce.
    seconds
        How long schedules of each number of steps are sought.

    Raises
    ------
    InputError
        As ``frontier`` does, or if no schedule was found in time.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> found = in_steps(net, "reduce-scatter", 1e6, steps=2)
    >>> found.frontier.points
    (<(2, 2, 1) schedule>, <(2, 3, 2) schedule>)
    >>> [round(each.finish_seconds * 1e6, 3) for each in found.timed]
    [22.0, 17.0]
    """
    if collective not in GATHERING:
        wanted = f"{listed(GATHERING)}, or no steps"
        raise InputError("steps", f"{steps} for {collective}", wanted)
    used = network.reversed() if collective in BACKWARDS else network
    rooted = root if collective in ("broadcast", "reduce") else None
    check_network(used)
    sends = len(roots_of(used, rooted)) * used.num_links * steps
    most = chunks or min(MOST_CHUNKS, max(MOST_SENDS // sends, 1))
    found = frontier(used, most_steps=steps, most_chunks=most, root=rooted, seconds=seconds)
    if not found.points:
        wanted = "more time, fewer ranks, or no steps"
        raise InputError("steps", f"{steps}, and no schedule in {seconds:g} s", wanted)
    timed = tuple(_timed(network, used, each, collective, size_bytes) for each in found.points)
    return InSteps(collective, size_bytes, root, used, found, timed)


def _timed(
    network: RankNetwork, used: RankNetwork, point: FewSteps, collective: str, size_bytes: float
) -> Timed:
    """Return a point as a schedule in time. Backwards, copies become sums."""
    assert point.program is not None
    program, channels = _by_channel(used, point.program)
    if collective in BACKWARDS:
        order = np.argsort(-program.step, kind="stable")
        program = replace(
            program, collective=collective, source=program.target[order],
            target=program.source[order], step=program.step.max() - program.step[order],
            chunks=program.chunks.taken(order), sums=np.ones(len(order), np.bool_),
            first_owner=program.final_owner, final_owner=program.first_owner,
        )  # fmt: skip
        channels = channels[order]
    rate = network.topology.channel_bandwidth[channels] * network.bytes_per_second
    latency = np.zeros(network.topology.num_channels)
    latency[network.channels.values] = np.repeat(network.latency, network.channels.lengths)
    lasting = program.message_size * size_bytes / rate + latency[channels]
    _, step = np.unique(program.step, return_inverse=True)
    longest = np.zeros(step.max() + 1)
    np.maximum.at(longest, step, lasting)
    start = np.append(0.0, np.cumsum(longest))[step]
    routes = Lists(np.arange(len(step) + 1, dtype=np.int64), channels)
    return Timed(
        replace(program, step=step.astype(np.int32)), network, size_bytes, start, start + lasting,
        routes, 0.0,
    )  # fmt: skip


def _by_channel(network: RankNetwork, program: CollectiveProgram) -> tuple[CollectiveProgram, Ints]:
    """Return a program whose messages take one channel each, and those channels.

    A link that is several channels divides its chunks among them.
    """
    link = np.searchsorted(
        network.source.astype(np.int64) * network.num_vertices + network.target,
        program.source.astype(np.int64) * network.num_vertices + program.target,
    )
    messages, channels, carried = [], [], []
    for message, where in enumerate(link.tolist()):
        ways, chunks = network.channels.of(where), program.chunks.of(message)
        for place, way in enumerate(ways[: len(chunks)].tolist()):
            messages.append(message)
            channels.append(way)
            carried.append(chunks[place :: len(ways)].tolist())
    rows = np.array(messages, np.int64)
    found = replace(
        program, source=program.source[rows], target=program.target[rows], step=program.step[rows],
        chunks=lists(carried, np.int32), sums=program.sums[rows],
    )  # fmt: skip
    return found, np.array(channels, np.int32)
