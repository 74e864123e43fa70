"""The same connections by message passing: each is one message, on wormhole routers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.provenance import DEFAULT_SEED
from netloom.phases.plan.plans import Connections, ranks
from netloom.routing import virtual_channel_routing
from netloom.simulation.agenda import HEARING_CYCLES, LAST_CYCLE
from netloom.simulation.network.program import NetworkProgram
from netloom.simulation.network.routers import Router, router
from netloom.simulation.side_by_side import run_all
from netloom.workload.programs.messages import Messages, messages
from netloom.workload.traffic.stream import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom.models.messages import MessageCosts
    from netloom.topology import Topology

Answer = TypeVar("Answer")

MOST_WORDS = 2**30
"""Most words of a node's messages: more would run for hours."""

MOST_REPLICATIONS = 1000

POOLS = 3
"""VCs of a channel: on iWarp 12 logical channels were for messages, in four directions (Feldmann et
al. 1993, section 5)."""


@dataclass(frozen=True, eq=False)
class MessagePassing:
    """What the messages took."""

    clocks: Floats  # float64[replications], until the last message has been received
    order: str  # ``random`` or ``listed``
    # int64[num_channels], the words that crossed each channel in the first replication, headers
    # included.
    channel_words: Ints
    # float64[n], clocks in which each connection's message has been received there.
    end: Floats

    @property
    def mean_clocks(self) -> float:
        """Clocks of the mean replication."""
        return float(self.clocks.mean())

    def __repr__(self) -> str:
        runs = f", the mean of {len(self.clocks)}" if len(self.clocks) > 1 else ""
        return (
            f"<{len(self.end)} messages, {self.order} order: {self.mean_clocks:.0f} clocks{runs}>"
        )


def message_passing(
    given: Connections,
    topology: Topology,
    costs: MessageCosts,
    *,
    order: Literal["random", "listed"] = "random",
    seed: int = DEFAULT_SEED,
    replications: int = 1,
) -> MessagePassing:
    """Return what connections take as messages, on the network that would hold them as phases.

    A node sends its messages one after the other, the next when the last has been received. With
    the costs of iWarp, m messages of k words that meet no others take m (800 + 2k) clocks, and 4
    clocks per hop. Tables 1-3 of Feldmann et al. 1993 use this formula without the hops. A message
    takes the processor of its source for ``send_clocks``, then crosses the network, then takes that
    of its target for ``receive_clocks``. A processor serves first come, first served. These clocks
    include the channels between a processor and its router. Words come in while others go out, even
    if the costs of connections have ``both_ways`` unset.

    The network has wormhole routers with default routing. Each channel carries a word per cycle,
    and a hop takes two cycles. On a torus, this is dimension order on 3 VCs: messages that have
    crossed the dateline of a ring take one, and the others two. Half-way round a ring, the
    direction is random.

    Parameters
    ----------
    given, topology
        The connections, and the network.
    costs
        Of a message. ``clocks_per_word`` is a channel's cycle.
    order
        A node sends its messages in ``random`` order, as the paper did all-to-all to spread
        congestion, or as ``listed`` in ``given``. Messages that come before others, by the order
        of connections, always go first.
    seed
        Of the random orders, and of what routing leaves to chance.
    replications
        Random orders to try; they run side by side.

    Raises
    ------
    InputError
        If there are too many words or replications.
    DeadlockError
        If messages block each other for good, on a network other than a mesh or a torus.

    Examples
    --------
    >>> from netloom.models.messages import MessageCosts
    >>> from netloom.phases.plan.plans import connections
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> given = connections(read("hypercube:1"), [0, 2], 4, words=100)
    >>> message_passing(given, topology("mesh:4"), MessageCosts(), order="listed").clocks
    array([1008.])
    """
    if not 1 <= replications <= MOST_REPLICATIONS:
        raise InputError("replications", f"{replications}", f"1 to {MOST_REPLICATIONS}")
    words = np.bincount(given.source, given.words + costs.header_words)
    if words.max(initial=0) > MOST_WORDS:
        found = f"{words.max():.3g} words from a node"
        raise InputError("words", found, f"at most {MOST_WORDS}, to simulate it")
    seeds = np.random.SeedSequence(seed).spawn(replications)
    rngs = [np.random.default_rng(each) for each in seeds]
    tables = [_table(given, topology, costs, order, rng) for rng in rngs]
    coins = [int(rng.integers(2**31)) for rng in rngs]
    runs = [
        partial(_run, topology, table, coin) for (table, _), coin in zip(tables, coins, strict=True)
    ]
    ended = side_by_side(runs, "simulating messages")
    first_end = np.empty(len(given))
    first_end[tables[0][1]] = ended[0][0] * costs.clocks_per_word
    ends = [float(complete.max(initial=0)) * costs.clocks_per_word for complete, _ in ended]
    return MessagePassing(np.array(ends), order, ended[0][1], first_end)


def _table(
    given: Connections,
    topology: Topology,
    costs: MessageCosts,
    order: str,
    rng: np.random.Generator,
) -> tuple[Messages, Ints]:
    """Return the messages, each after the one before it, and their connections."""
    place = rng.permutation(len(given)) if order == "random" else np.arange(len(given))
    sequence = np.lexsort((place, ranks(given)))
    row_of = np.empty(len(given), np.int64)
    row_of[sequence] = np.arange(len(given))
    after: list[list[int]] = [[] for _ in sequence]
    for first, second in zip(given.before.tolist(), given.after.tolist(), strict=True):
        after[row_of[second]].append(int(row_of[first]))
    last: dict[int, int] = {}
    for row, source in enumerate(given.source[sequence].tolist()):
        if source in last:
            after[row].append(last[source])
        last[source] = row
    times = _router().timing()
    table = messages(
        topology.num_hosts,
        source=given.source[sequence],
        target=given.target[sequence],
        flits=given.words[sequence] + costs.header_words,
        run=_cycles(costs, costs.send_clocks, times.injection - 1),
        receive=_cycles(costs, costs.receive_clocks, times.ejection),
        after=after,
    )
    return table, sequence


def side_by_side(runs: Sequence[Callable[..., Answer | None]], what: str) -> list[Answer]:
    """Return what runs find. Ctrl-C stops all of them."""
    with counting(len(runs), what) as tell:
        found = [each for each in run_all(runs, tell=tell) if each is not None]
    if len(found) < len(runs):
        raise KeyboardInterrupt
    return found


def completed(engine: NetworkProgram, where: str, wanted: str, stopped: Callable[[], bool]) -> bool:
    """Run a program to its end, and return whether it was not stopped before."""
    while engine.completed < engine.num_rows:
        if stopped():
            return False
        if engine.cycle == LAST_CYCLE:
            raise InputError(where, f"{LAST_CYCLE} cycles", wanted)
        engine.advance(min(engine.cycle + HEARING_CYCLES, LAST_CYCLE))
    return True


def _router() -> Router:
    return router("single-cycle", vcs=POOLS)


def _cycles(costs: MessageCosts, clocks: float, within: int) -> int:
    """Return the cycles of a processor for a message, but for those of its channel."""
    return max(round(clocks / costs.clocks_per_word) - within, 0)


def _run(
    topology: Topology, table: Messages, seed: int, stopped: Callable[[], bool]
) -> tuple[Ints, Ints] | None:
    """Return when each message was received, and what crossed each channel. None to stop."""
    kind = _router()
    routing = virtual_channel_routing(topology, "default", num_vcs=kind.vcs)
    engine = NetworkProgram(topology, routing, kind, packet_flits=LONGEST, seed=seed)
    engine.append(table)
    if not completed(engine, "messages", "fewer, to simulate them", stopped):
        return None
    return engine.rows["complete"].astype(np.int64), engine.channel_flits()
