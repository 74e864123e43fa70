"""The closed loop of a program: every task computes, sends a message, waits for it, and again.

Chittor 1991, section 5.3. A task that waits offers nothing, so that the network slows the program
down instead of filling up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints, distinct
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size
from netloom.workload.counter_random import LONGEST_MEAN, Law, durations, uniforms
from netloom.workload.graphs.process_graph import ProcessGraph
from netloom.workload.programs.messages import messages
from netloom.workload.programs.rounds import Rounds

THINKING, CHOOSING = 0, 2
"""Streams of chance. ``durations`` takes two."""


class ClosedLoop(Rounds):
    """The loops of all tasks of a mapped program. A ``Source``.

    Each task has a processor of its own. In each loop it computes, sends one message to one of its
    neighbours, drawn anew, and waits until the message is complete. The computation takes t = L (1
    − λ_a) / λ_a cycles on average. If messages of L flits took L cycles, the task would then send a
    share λ_a of the time (Chittor 1991, section 5.5).

    Parameters
    ----------
    graph
        Who sends to whom. A task that does not send has no loop (see ``senders``). None: each
        task sends to any other task, all as likely (section 5.6.4).
    node_of
        int[num_tasks], the node of each task. A message to a task of the same node is complete
        at once.
    applied
        λ_a, above 0 and below 1.
    message_flits
        L, the length of a message.
    think
        The law of the computation's cycles: ``fixed``, ``uniform`` from 0 to 2t, or
        ``exponential``. The first computation of each task too.
    choice
        How a task draws its neighbour: ``uniform``, or in proportion to the ``bytes`` or
        ``messages`` of the edges.
    packet_flits
        Messages are cut into packets of at most as many flits, sent one after the other
        (section 5.6.3). None: they are not.
    gap_cycles
        From the completion of a packet to the next one of the message. Not counted in λ_a.
    first_task
        What the first task counts as in drawing: one of several programs draws alone what it draws
        beside the others.

    Attributes
    ----------
    tasks
        int64[num_chains], the tasks that have a loop, lowest first.
    think_cycles
        t.
    packets
        Packets that a message is cut into. Their rows follow each other.

    Raises
    ------
    InputError
        If a value is out of range, or no task sends or, where the choice goes by weight, one sends
        with weight 0 only.

    Examples
    --------
    >>> from netloom.workload.graphs.generators import ring
    >>> loop = ClosedLoop(ring(4), [0, 1, 2, 3], 4, applied=0.2, message_flits=50)
    >>> loop.think_cycles, len(loop.extend(np.zeros(0, np.int64), until=1)) % 4
    (200.0, 0)
    """

    def __init__(
        self,
        graph: ProcessGraph | None,
        node_of: ArrayLike,
        num_nodes: int,
        *,
        applied: float,
        message_flits: int,
        think: Law = "uniform",
        choice: Literal["uniform", "bytes", "messages"] = "uniform",
        packet_flits: int | None = None,
        gap_cycles: int = 0,
        seed: int = DEFAULT_SEED,
        first_task: int = 0,
    ) -> None:
        self.applied, self.message_flits = applied, message_flits
        self.think_cycles = think_cycles(applied, message_flits)
        nodes = np.asarray(node_of, np.int32)
        self._neighbours = _Neighbours(graph, len(nodes), choice)
        self.tasks = self._neighbours.tasks
        most = packet_flits or message_flits
        self.packets = -(-message_flits // most)
        check_size(self.packets * len(self.tasks), where="packet_flits", what="packets a loop")
        length = np.full(self.packets, most)
        length[-1] = message_flits - (self.packets - 1) * most
        rows = len(self.tasks) * self.packets
        after = np.arange(rows, 2 * rows) - 1  # the packet before
        # the last of the loop before
        after[:: self.packets] = np.arange(self.packets - 1, rows, self.packets)
        places = np.repeat(nodes[self.tasks], self.packets)
        one = messages(
            num_nodes,
            first=rows,
            source=places,
            target=places,  # drawn in every loop
            flits=np.tile(length, len(self.tasks)),
            delay=np.tile(np.where(np.arange(self.packets) > 0, gap_cycles, 0), len(self.tasks)),
            after=after[:, np.newaxis].tolist(),
        )

        def draw(number: Ints, row: Ints) -> dict[str, Ints]:
            loop, chain = number[:: self.packets], row[:: self.packets] // self.packets
            drawing = first_task + self.tasks[chain]
            chosen = uniforms(seed, CHOOSING, drawing, loop)
            delay = one.delay[row]
            delay[:: self.packets] = durations(
                think, self.think_cycles, seed, THINKING, drawing, loop
            )
            target = np.repeat(nodes[self._neighbours.chosen(chosen, chain)], self.packets)
            return {"delay": delay, "target": target}

        super().__init__(one, draw)
        self._last = np.arange(self.packets - 1, len(one), self.packets)

    def loop_ends(self, complete: Ints, most: int | None = None) -> Ints:
        """Return int64[num_loops, num_chains], the cycle in which each loop ends; -1: not yet.

        ``complete``: int64[rows so far], the cycle in which each was complete; -1: not yet.
        Loops after the first ``most`` are left out: a task may go round many times while
        another starves.
        """
        return self.of_rounds(complete, self._last, most)

    def loops_done(self, complete: Ints) -> Ints:
        """Return int64[num_chains], how many loops each task has finished, as ``loops_done``."""
        return self.rounds_done(complete, self._last)


@dataclass(frozen=True, eq=False)
class LoopTimes:
    """What the loops of a program take, and the traffic that they make."""

    cycles: Floats  # float64[num_chains], T_i: the mean time of a loop of each task
    message_flits: int  # L, what a loop sends
    # float64[loops], the mean time of each loop over the tasks.
    by_loop: Floats | None = None

    @property
    def average_node(self) -> float:
        """Actual traffic of an average node, L / mean(T) in flits per cycle (eq. 4.1)."""
        return self.message_flits / float(self.cycles.mean())

    @property
    def worst_node(self) -> float:
        """Actual traffic of the slowest task, L / max(T) in flits per cycle (eq. 4.1)."""
        return self.message_flits / float(self.cycles.max())

    @property
    def accepted(self) -> float:
        """Accepted traffic, mean(L / T): what tasks send on average, in flits per cycle.

        It is above ``average_node``, which is a harmonic mean, the more so the more unequal
        tasks fare.
        """
        return float((self.message_flits / self.cycles).mean())


def loops_done(ends: Ints) -> Ints:
    """Return int64[num_chains], how many loops each task has finished.

    ``ends``: as from ``loop_ends``.

    Examples
    --------
    >>> loops_done(np.array([[100, 90], [200, -1]]))
    array([2, 1])
    """
    done: Ints = (ends >= 0).sum(axis=0)
    return done


def loop_times(ends: Ints, *, message_flits: int, skip: int, loops: int) -> LoopTimes:
    """Return the mean loop time of every task over its ``loops`` loops after the first ``skip``.

    Every task has to have finished as many (``loops_done``). Nothing of those that are faster is
    counted after that, though they go on, which keeps the traffic up (Chittor 1991, section 5.3).

    ``ends`` are as from ``loop_ends``, and tasks begin at cycle 0. ``message_flits`` is L.

    Examples
    --------
    >>> ends = np.array([[100, 90], [200, 190], [320, 330]])
    >>> times = loop_times(ends, message_flits=12, skip=1, loops=2)
    >>> times.cycles, times.worst_node
    (array([110., 120.]), 0.1)
    """
    assert loops > 0
    assert loops_done(ends).min() >= skip + loops
    begin = ends[skip - 1] if skip else np.zeros(ends.shape[1], np.int64)
    each = np.diff(ends[skip : skip + loops], axis=0, prepend=begin[np.newaxis])
    return LoopTimes((ends[skip + loops - 1] - begin) / loops, message_flits, each.mean(axis=1))


def think_cycles(applied: float, message_flits: int) -> float:
    """Return t = L (1 − λ_a) / λ_a, the mean computation for an applied traffic, in cycles.

    Raises
    ------
    InputError
        If the applied traffic is not above 0 and below 1, or so low that t is above
        ``counter_random.LONGEST_MEAN``.

    Examples
    --------
    >>> think_cycles(0.25, 50)
    150.0
    """
    if not 0 < applied < 1:  # NaN is neither
        raise InputError("applied", applied, "above 0 and below 1 (flits/node/cycle)")
    least = message_flits / (message_flits + LONGEST_MEAN)
    if applied < least:
        raise InputError("applied", applied, f"at least {least:.2g}")
    return message_flits * (1 - applied) / applied


class _Neighbours:
    """Whom the tasks of a program send to, for lookup by a number in [0, 1)."""

    def __init__(self, graph: ProcessGraph | None, num_tasks: int, choice: str) -> None:
        self._graph = graph
        if graph is None:
            if num_tasks < 2:
                raise InputError("tasks", num_tasks, "at least 2, to send to each other")
            self.tasks = np.arange(num_tasks)
            return
        assert graph.num_tasks == num_tasks
        self.tasks = senders(graph)
        weight = np.ones(graph.num_edges) if choice == "uniform" else getattr(graph, choice)
        first = np.searchsorted(graph.source, self.tasks)
        total = np.add.reduceat(weight, first)
        if not total.all():
            task = self.tasks[np.argmin(total)]
            found = f"task {task}, whose edges carry 0 {choice}"
            raise InputError(graph.name, found, "neighbours to choose from, or choice='uniform'")
        chain = np.searchsorted(self.tasks, graph.source)
        share = weight / total[chain]
        begin = np.concatenate([[0.0], np.cumsum(share)])
        self._key = chain + np.minimum(begin[1:] - begin[first[chain]], 1.0)
        usable = np.where(weight > 0, np.arange(graph.num_edges), -1)
        self._last = np.maximum.reduceat(usable, first)  # rounding may not lead further

    def chosen(self, drawn: Floats, chain: Ints) -> Ints:
        """The task (int32[n]) that each number in [0, 1) chooses for its chain."""
        if self._graph is None:
            count = len(self.tasks)
            steps = 1 + np.floor(drawn * (count - 1)).astype(np.int64)
            return ((chain + steps) % count).astype(np.int32)
        edge = np.searchsorted(self._key, chain + drawn, side="right")
        return self._graph.target[np.minimum(edge, self._last[chain])]


def senders(graph: ProcessGraph) -> Ints:
    """Return the tasks that send to others, lowest first (int64[num_senders]).

    The others are idle or only receive. They are the fixed points of a permutation, such as the
    diagonal of a transpose (Chittor 1991, section 4.2.3), and ranks of a recording that have sent
    nothing.

    Raises
    ------
    InputError
        If none sends.

    Examples
    --------
    >>> from netloom.workload.graphs.generators import transpose
    >>> senders(transpose(2))
    array([1, 2])
    """
    if not graph.num_edges:
        raise InputError(graph.name, "no task that sends", "tasks that communicate")
    return distinct(graph.source).astype(np.int64)
