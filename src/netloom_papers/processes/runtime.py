"""Run the programs of nodes on processes or MPI ranks: do real words come where they are to?

For users who want to see a compiled program deliver before they put it on a machine. Each worker
has the streams of some nodes, and goes on until all of them wait. Then workers exchange what they
have sent each other, and go on. The run ends if nobody has sent anything: all streams have ended
then, or those that have not wait for each other. A send waits until its words have been received,
so that what works here needs no buffers anywhere.
"""

from __future__ import annotations

import signal
from collections import Counter, defaultdict, deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.phases.execution import SEND, Action, NodePhase, NodeProgram
from netloom.phases.plan.plans import Connections, Plan

Key: TypeAlias = tuple[str, int, int]
"""What a stream waits for: its kind, the node that waits, and a phase or connection."""

Message: TypeAlias = tuple[Key, Any]

Stream: TypeAlias = Generator[Key, Any, None]

Crew: TypeAlias = list[tuple[BaseProcess, Connection]]

BATCH_WORDS = 4096
"""Most words that are sent at once."""

START_SECONDS, END_SECONDS = 120.0, 5.0
"""How long a process may take to begin, and one whose pipe is closed to end."""

WAITS = {
    "phase": "for all nodes to come to phase {}",
    "data": "to receive from {}",
    "taken": "until words of {} are received",
    "told": "until words of {} are received",
}
"""What streams of programs wait for, by the kind of their key."""


def named(given: Connections, connection: int) -> str:
    """Return ``connection 3 (0 -> 5)``."""
    return f"connection {connection} ({given.describe(connection)})"


@dataclass(frozen=True, eq=False)
class Delivery:
    """What came where."""

    words: Ints  # int64[n], how many words of each connection its target received
    # What was wrong, a line each; empty where every word came to the right place, once, in order
    # and in its phase. A worker that died is the only one.
    faults: tuple[str, ...]
    num_workers: int  # processes or ranks that took part


class _Fault(Exception):  # noqa: N818  # ends a stream, or a run; never leaves this module
    pass


# A worker that runs the programs of its nodes.


class Worker:
    """Some nodes, their streams, and what has come for them.

    Streams yield the key of what they wait for, and are sent what comes with it.
    """

    def __init__(self, plan: Plan, programs: Sequence[NodeProgram]) -> None:
        self.plan, self.given = plan, plan.connections
        self.words = np.zeros(len(self.given), np.int64)  # that came, by connection
        self.faults: list[str] = []
        self._ready: deque[tuple[Stream, Any]] = deque()
        self._waiting: dict[Key, deque[Stream]] = defaultdict(deque)
        self._mail: dict[Key, deque[Any]] = defaultdict(deque)
        self._arrived: Counter[int] = Counter()
        self._nodes = {program.node for program in programs}
        self._sent: list[Message] = []
        self._ready.extend((self._program(program), None) for program in programs)

    def go_on(self, came: Iterable[Message]) -> list[Message]:
        """Take in what came, and go on until all streams wait. Return what is for other workers."""
        for message in came:
            self._deliver(*message)
        while self._ready:
            stream, value = self._ready.popleft()
            try:
                key = stream.send(value)
            except StopIteration:
                continue
            if self._mail[key]:
                self._ready.append((stream, self._mail[key].popleft()))
            else:
                self._waiting[key].append(stream)
        sent, self._sent = self._sent, []
        return sent

    def report(self) -> tuple[Ints, list[str]]:
        """Return the words that came, what was wrong, and who still waits, for what."""
        waits = [
            f"node {node} waits "
            + WAITS[kind].format(number if kind == "phase" else named(self.given, number))
            for (kind, node, number), streams in self._waiting.items()
            for _ in streams
            if kind in WAITS
        ]
        return self.words, self.faults + waits

    # How programs are run.

    def _program(self, program: NodeProgram) -> Stream:
        for each in program.phases:
            self._tell("arrived", 0, each.phase)
            yield "phase", program.node, each.phase
            streams = [self._stream(program.node, each, stream) for stream in each.streams]
            self._ready.extend((stream, None) for stream in streams)
            for _ in streams:
                yield "ended", program.node, each.phase

    def _stream(self, node: int, phase: NodePhase, stream: Sequence[Action]) -> Stream:
        try:
            for action in stream:
                self._check(node, phase.phase, action)
                run = self._send if action.primitive == SEND else self._receive
                yield from run(node, phase.phase, action)
        except _Fault as fault:
            self.faults.append(f"phase {phase.phase}, node {node}: {fault}")
        self._deliver(("ended", node, phase.phase))

    def _send(self, node: int, phase: int, action: Action) -> Stream:
        """Send words part by part, each once the one before has been received."""
        for earlier in action.after:
            yield "told", node, earlier
            self._deliver(("told", node, earlier))  # others may wait for it too
        connection = action.connection
        for first in range(0, action.words, BATCH_WORDS):
            element = made_words(connection, first, min(BATCH_WORDS, action.words - first))
            self._tell("data", action.node, connection, (phase, first, element))
            yield "taken", node, connection

    def _receive(self, node: int, phase: int, action: Action) -> Stream:
        """Wait for the words of a connection, and be sure that they are those."""
        connection, name, got = action.connection, named(self.given, action.connection), 0
        while got < action.words:
            came_in, came_first, element = yield "data", node, connection
            self._tell("taken", action.node, connection)
            if came_in != phase:
                raise _Fault(f"{name}: words of phase {came_in} came in phase {phase}")
            if came_first != got:
                raise _Fault(f"{name}: word {came_first} came where word {got} was to come")
            if not np.array_equal(element, made_words(connection, got, len(element))):
                raise _Fault(f"{name}: words of another connection, or out of order")
            got += len(element)
            self.words[connection] += len(element)
        for each in (node, *action.tell):
            self._tell("told", each, connection)

    def _check(self, node: int, phase: int, action: Action) -> None:
        """Refuse what the connection is not for."""
        connection = action.connection
        if not 0 <= connection < len(self.given):
            raise _Fault(f"{action.primitive} on connection {connection}, which is none")
        here = (node, action.node) if action.primitive == SEND else (action.node, node)
        name = named(self.given, connection)
        if here != (self.given.source[connection], self.given.target[connection]):
            raise _Fault(f"{action.primitive} from {here[0]} to {here[1]} on {name}")
        words = self.given.words[connection]
        if action.words != words:
            raise _Fault(f"{action.primitive} of {action.words} words on {name}, which has {words}")
        if phase != (planned := self.plan.phase[connection]):
            raise _Fault(f"{action.primitive} on {name}, which is of phase {planned}")

    # Streams that wait, and what they wait for.

    def _tell(self, kind: str, node: int, number: int, value: Any = None) -> None:
        """Deliver something to a node, here or, in the next exchange, at its worker."""
        message = (kind, node, number), value
        if node in self._nodes:
            self._deliver(*message)
        else:
            self._sent.append(message)

    def _deliver(self, key: Key, value: Any = None) -> None:
        kind, _, number = key
        if kind == "arrived":
            self._arrived[number] += 1
            if self._arrived[number] == self.given.num_nodes:
                for node in range(self.given.num_nodes):
                    self._tell("phase", node, number)
        elif self._waiting[key]:
            self._ready.append((self._waiting[key].popleft(), value))
        else:
            self._mail[key].append(value)


def made_words(connection: int, first: int, size: int) -> Ints:
    """Return words that say which they are: the connection in the upper half, then their place.

    Examples
    --------
    >>> [hex(word) for word in made_words(3, 10, 2)]
    ['0x30000000a', '0x30000000b']
    """
    return np.arange(first, first + size, dtype=np.int64) + (np.int64(connection) << 32)


# Workers, and what they tell each other.


def run_programs(
    programs: Sequence[NodeProgram], plan: Plan, *, workers: int | None = None
) -> Delivery:
    """Run the programs of all nodes on processes, and check what they deliver.

    Each word says which it is, so that one that goes astray is seen. A send ends when its words
    have been received: no order that needs buffers gets through. What waits for something that
    does not come is reported. If a worker dies, whenever that is, nothing is delivered and the only
    fault says which and how.

    Parameters
    ----------
    programs
        One for each node.
    plan
        What they were made from: the connections, and the phase of each.
    workers
        Processes, each of which runs the programs of some nodes. By default as many as there are
        processors. One is this process. Others are started anew, so that a script that
        calls this must be guarded by ``if __name__ == "__main__":``.

    Raises
    ------
    InputError
        If a node has no program or two, or there are no workers.

    Examples
    --------
    >>> from netloom.contention.messages import ConSetCosts
    >>> from netloom.phases import Capacity, Plan, connections
    >>> from netloom.phases.execution import node_programs
    >>> from netloom.phases.timetables import schedule
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> ring, costs = topology("ring:4"), ConSetCosts()
    >>> given = connections(read("ring:4"), range(4), 4, words=100)
    >>> routes = paths(ring, DimensionOrder(), given.source, given.target)
    >>> plan = Plan(ring, given, Capacity(8), np.zeros(8, np.int32), routes, "sequential")
    >>> found = run_programs(node_programs(plan, schedule(plan, costs), costs), plan, workers=1)
    >>> found.words.sum(), found.faults
    (np.int64(800), ())
    """
    from netloom.simulation.side_by_side import processors

    num_workers = processors() if workers is None else workers
    if num_workers < 1:
        raise InputError("workers", f"{num_workers}", "at least 1")
    parts = _parted(programs, plan, num_workers)
    if len(parts) == 1:
        worker = Worker(plan, parts[0])
        worker.go_on([])
        return _delivery([worker.report()], plan, 1)
    try:
        return _delivery(_run_in_processes(plan, parts), plan, len(parts))
    except (_Fault, OSError) as error:
        fault = f"a worker could not be started, or died: {error}"
        return Delivery(np.zeros(len(plan.connections), np.int64), (fault,), len(parts))


def run_programs_on_mpi(programs: Sequence[NodeProgram], plan: Plan) -> Delivery:
    """As ``run_programs``, on the ranks of an MPI program. Every rank calls it, and has the answer.

    Run with ``mpiexec -n 4 python script.py``. mpi4py must be installed. Rank r has the nodes r,
    r + ranks, .... Ranks beyond the number of nodes have none.

    Raises
    ------
    InputError
        As ``run_programs``, and if mpi4py cannot be imported.
    """
    try:
        ranks: Any = import_module("mpi4py.MPI").COMM_WORLD
    except ImportError as error:
        raise InputError("mpi4py", f"{error}", "an installed mpi4py") from None
    parts = _parted(programs, plan, ranks.Get_size())
    rank = ranks.Get_rank()
    worker = Worker(plan, parts[rank] if rank < len(parts) else [])
    sent: list[list[Message]] = ranks.allgather(worker.go_on([]))
    while any(sent):
        sent = ranks.allgather(worker.go_on(_for_worker(rank, sent, len(parts))))
    return _delivery(ranks.allgather(worker.report()), plan, len(parts))


def _parted(
    programs: Sequence[NodeProgram], plan: Plan, num_workers: int
) -> list[list[NodeProgram]]:
    """Return the programs of each worker. A node is at that of its number modulo them."""
    given = plan.connections
    counts = Counter(program.node for program in programs)
    nodes = range(given.num_nodes)
    strange = [node for node in sorted({*nodes, *counts}) if counts[node] != (node in nodes)]
    if strange:
        found = f"{counts[strange[0]]} for node {strange[0]}"
        raise InputError("programs", found, f"one for each of {given.num_nodes} nodes")
    parts: list[list[NodeProgram]] = [[] for _ in range(min(num_workers, given.num_nodes))]
    for program in programs:
        parts[program.node % len(parts)].append(program)
    return parts


def _for_worker(number: int, sent: Iterable[Iterable[Message]], num_workers: int) -> list[Message]:
    """Return what workers have sent to one of them."""
    every = (message for some in sent for message in some)
    return [(key, value) for key, value in every if key[1] % num_workers == number]


def _delivery(reports: Iterable[tuple[Ints, list[str]]], plan: Plan, num_workers: int) -> Delivery:
    """Put together what the workers saw."""
    given = plan.connections
    counts, found = zip(*reports, strict=True)
    words, wanted = np.sum(counts, axis=0), given.words
    faults = [fault for some in found for fault in some]
    # who waits for the others only says that something is wrong
    faults = [fault for fault in faults if "to come to phase" not in fault] or faults
    wrong: list[int] = np.flatnonzero(words != wanted).tolist()
    if wrong:
        came = f"{words[wrong[0]]} of {wanted[wrong[0]]} words came"
        others = f", and {len(wrong) - 1} more connections" if len(wrong) > 1 else ""
        faults.append(f"{named(given, wrong[0])}: {came}{others}")
    return Delivery(words, tuple(faults), num_workers)


# Processes.


def _run_in_processes(
    plan: Plan, parts: Sequence[Sequence[NodeProgram]]
) -> list[tuple[Ints, list[str]]]:
    """Run each part by a worker in a process of its own, and return what they report."""
    fresh = get_context("spawn")  # a copy of a process with threads may not work
    crew: Crew = []
    try:
        for _ in parts:
            ours, theirs = fresh.Pipe()
            process = fresh.Process(target=_work, args=(theirs,), daemon=True)
            process.start()  # what it is told is short: the rest waits until it listens
            theirs.close()
            crew.append((process, ours))
        _asked(crew, [None] * len(crew), START_SECONDS)
        sent = _asked(crew, [(plan, part) for part in parts])
        while any(sent):
            sent = _asked(crew, [_for_worker(at, sent, len(crew)) for at in range(len(crew))])
        return _asked(crew, [None] * len(crew))
    finally:
        for each, _ in crew:
            each.kill()


def _asked(crew: Crew, asked: Sequence[Any], seconds: float | None = None) -> list[Any]:
    """Tell each worker something, and return what they answer within so many seconds."""
    answers = []
    try:
        for at, (_, pipe) in enumerate(crew):
            pipe.send(asked[at])
        for at, (_, pipe) in enumerate(crew):
            if not pipe.poll(seconds):
                raise _Fault(f"worker {at} has not begun after {seconds:g} s")
            answers.append(pipe.recv())
    except (EOFError, OSError):
        crew[at][0].join(END_SECONDS)
        raise _Fault(f"worker {at}, exit code {crew[at][0].exitcode}") from None
    return answers


def _work(pipe: Connection) -> None:
    """Be a worker, in a process of its own. End with the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError):
        pipe.send(pipe.recv())  # it has begun
        worker = Worker(*pipe.recv())
        pipe.send(worker.go_on([]))
        while (came := pipe.recv()) is not None:
            pipe.send(worker.go_on(came))
        pipe.send(worker.report())
