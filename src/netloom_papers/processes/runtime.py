"""Run the programs of nodes on processes or MPI ranks: do real words come where they are to?

For users who want to see a compiled program deliver before they put it on a machine. Processes are
started, supervised and heard by the one that starts them. Each has a pipe to it, which passes on
what they tell each other. So the end of one is seen at once, whenever it comes, and none holds a
lock that others wait for.

Streams of a program are coroutines: a worker goes on with those that can, and looks for messages of
other workers where none can. A send waits until its words have been received, so that what works
here needs no buffers anywhere.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from multiprocessing import connection as pipes, get_context
from queue import Empty, SimpleQueue
from struct import Struct
from threading import Thread
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Ints, Records
from netloom.base.errors import InputError
from netloom.phases.execution import SEND, Action, NodePhase, NodeProgram
from netloom.phases.plan.plans import Plan

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    Message: TypeAlias = tuple[str, Any, Any]

    Key: TypeAlias = tuple[Any, ...]

    Stream: TypeAlias = Coroutine[Any, Any, None]

TIMEOUT_SECONDS = 20.0
"""After how long without any message a run is given up."""

MOST_SLEEP = 0.001
"""Longest sleep of an MPI rank that waits for a message, seconds."""

HEAD = Struct("<i")
"""Before every message of a worker: the worker that it is for, or one of those below."""

READY, DONE, FAILED = -1, -2, -3

END_SECONDS = 5.0
"""How long a process that has closed its pipe may take to end."""


# The three primitives, and a worker that runs the programs of its nodes on them.

BATCH_WORDS = 4096
"""Most words that are sent at once."""

START_SECONDS = 60.0
"""How long workers wait for each other to start."""


@dataclass(frozen=True)
class Network:
    """What every worker knows."""

    # source, target, words, phase: nodes, words and phase of every connection.
    source: list[int]
    target: list[int]
    words: list[int]
    phase: list[int]
    num_workers: int  # a node is at the worker of its number modulo this
    timeout_seconds: float  # after how long without any message a worker that waits gives up
    data: (
        dict[int, Records] | None
    )  # what connections carry; None: words that say where they belong

    def carried(self, connection: int, first: int, size: int) -> Records:
        """Return so many words of a connection, from the first on."""
        if self.data is None:
            return made_words(connection, first, size)
        return self.data[connection][first : first + size]

    def describe(self, connection: int) -> str:
        """Return ``connection 3 (0 -> 5)``."""
        return f"connection {connection} ({self.source[connection]} -> {self.target[connection]})"


@dataclass
class Report:
    """What a worker saw."""

    delivered: Counter[int] = field(default_factory=Counter)  # words that came by connection
    # The words themselves, where they were given.
    received: dict[int, list[Records]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # what was wrong, a line each


class _Fault(Exception):  # noqa: N818  # ends one stream; never leaves this module
    pass


@coroutine
def _come(key: Key) -> Generator[Key, Any, Any]:
    """Wait until something with this key comes. Return it."""
    return (yield key)


class Worker:
    """Some nodes, their streams, and what has come for them.

    ``post`` sends a message to another worker. ``take`` waits so many seconds for one, and
    returns None if none has come.
    """

    def __init__(
        self,
        network: Network,
        programs: Sequence[NodeProgram],
        number: int,
        post: Callable[[int, Message], None],
        take: Callable[[float], Message | None],
    ) -> None:
        self.network, self.programs, self.number = network, programs, number
        self.report = Report()
        self._post, self._take = post, take
        self._ready: deque[tuple[Stream, int, Any]] = deque()
        self._waiting: dict[Key, deque[tuple[Stream, int]]] = defaultdict(deque)
        self._mail: dict[Key, deque[Any]] = defaultdict(deque)
        self._open: set[Key] = set()  # what has happened, for good
        self._nodes_at: dict[int, int] = defaultdict(int)
        self._workers_at: dict[int, int] = defaultdict(int)
        self._streams, self._stopped, self._begun = 0, False, False

    def run(self) -> Report:
        """Run the programs to their end, or until nothing goes on."""
        for program in self.programs:
            self._start(self._program(program), program.node)
        while self._streams and not self._stopped:
            while self._ready:
                self._resume(*self._ready.popleft())
            if self._streams:
                self._hear()
        return self.report

    # What a program calls.

    async def instantiate_phase(self, phase: int) -> None:
        """Wait until all nodes have come to this phase."""
        self._nodes_at[phase] += 1
        if self._nodes_at[phase] == len(self.programs):
            for other in range(self.network.num_workers):
                self._tell(other, ("arrived", phase, None))
        await _come(("phase", phase))
        self._begun = True

    async def send_element(self, connection: int, phase: int, first: int, element: Records) -> None:
        """Send words on a connection. Return once they have been received."""
        to = self.network.target[connection] % self.network.num_workers
        self._tell(to, ("data", connection, (phase, first, element)))
        await _come(("taken", connection))

    async def receive_element(self, connection: int, phase: int, first: int) -> Records:
        """Return the next words of a connection, sure that they are those."""
        came_in, came_first, element = await _come(("data", connection))
        to = self.network.source[connection] % self.network.num_workers
        self._tell(to, ("taken", connection, None))
        name = self.network.describe(connection)
        if came_in != phase:
            raise _Fault(f"{name}: words of phase {came_in} came in phase {phase}")
        if came_first != first:
            raise _Fault(f"{name}: word {came_first} came where word {first} was to come")
        if not np.array_equal(element, self.network.carried(connection, first, len(element))):
            raise _Fault(f"{name}: words of another connection, or out of order")
        return element  # type: ignore[no-any-return]

    # How programs are run.

    async def _program(self, program: NodeProgram) -> None:
        for each in program.phases:
            await self.instantiate_phase(each.phase)
            for stream in each.streams:
                self._start(self._stream(program.node, each, stream), program.node)
            for _ in each.streams:
                await _come(("ended", program.node, each.phase))

    async def _stream(self, node: int, phase: NodePhase, stream: Sequence[Action]) -> None:
        try:
            for action in stream:
                self._check(node, phase.phase, action)
                if action.primitive == SEND:
                    await self._send(node, phase.phase, action)
                else:
                    await self._receive(node, phase.phase, action)
        except _Fault as fault:
            self.report.faults.append(f"phase {phase.phase}, node {node}: {fault}")
        finally:
            self._deliver(("ended", (node, phase.phase), None))

    async def _send(self, node: int, phase: int, action: Action) -> None:
        for earlier in action.after:
            await _come(("told", node, earlier))
        for first in range(0, action.words, BATCH_WORDS):
            size = min(BATCH_WORDS, action.words - first)
            element = self.network.carried(action.connection, first, size)
            await self.send_element(action.connection, phase, first, element)

    async def _receive(self, node: int, phase: int, action: Action) -> None:
        seen, got = self.report, 0
        while got < action.words:
            element = await self.receive_element(action.connection, phase, got)
            got += len(element)
            seen.delivered[action.connection] += len(element)
            if self.network.data is not None:
                seen.received.setdefault(action.connection, []).append(element)
        self._deliver(("told", (node, action.connection), None))
        for other in action.tell:
            to = other % self.network.num_workers
            self._tell(to, ("told", (other, action.connection), None))

    def _check(self, node: int, phase: int, action: Action) -> None:
        """Refuse what the connection is not for."""
        known, connection = self.network, action.connection
        if not 0 <= connection < len(known.source):
            raise _Fault(f"{action.primitive} on connection {connection}, which is none")
        ends = (known.source[connection], known.target[connection])
        here = (node, action.node) if action.primitive == SEND else (action.node, node)
        if here != ends:
            name = known.describe(connection)
            raise _Fault(f"{action.primitive} from {here[0]} to {here[1]} on {name}")
        if action.words != known.words[connection]:
            wanted = f"which has {known.words[connection]}"
            name = known.describe(connection)
            raise _Fault(f"{action.primitive} of {action.words} words on {name}, {wanted}")
        if phase != known.phase[connection]:
            wanted = f"which is of phase {known.phase[connection]}"
            raise _Fault(f"{action.primitive} on {known.describe(connection)}, {wanted}")

    # Streams that wait, and what they wait for.

    def _start(self, stream: Stream, node: int) -> None:
        self._streams += 1
        self._ready.append((stream, node, None))

    def _resume(self, stream: Stream, node: int, came: Any) -> None:
        try:
            key = stream.send(came)
        except StopIteration:
            self._streams -= 1
            return
        if key in self._open:
            self._ready.append((stream, node, None))
        elif self._mail[key]:
            self._ready.append((stream, node, self._mail[key].popleft()))
        else:
            self._waiting[key].append((stream, node))

    def _tell(self, worker: int, message: Message) -> None:
        if worker == self.number:
            self._deliver(message)
        else:
            self._post(worker, message)

    def _deliver(self, message: Message) -> None:
        kind, what, payload = message
        if kind == "arrived":
            self._workers_at[what] += 1
            if self._workers_at[what] == self.network.num_workers:
                self._happen(("phase", what))
        elif kind == "told":
            self._happen(("told", *what))
        elif kind == "stop":
            self._give_up()
        else:
            key = (kind, *what) if isinstance(what, tuple) else (kind, what)
            if self._waiting[key]:
                self._ready.append((*self._waiting[key].popleft(), payload))
            else:
                self._mail[key].append(payload)

    def _happen(self, key: Key) -> None:
        self._open.add(key)
        self._ready.extend((stream, node, None) for stream, node in self._waiting.pop(key, ()))

    def _hear(self) -> None:
        """Wait for a message. Give up, and have all others do so, where none comes."""
        seconds = self.network.timeout_seconds if self._begun else START_SECONDS
        message = self._take(seconds) if self.network.num_workers > 1 else None
        if message is not None:
            self._deliver(message)
            return
        self._give_up()
        for other in range(self.network.num_workers):
            if other != self.number:
                self._post(other, ("stop", None, None))

    def _give_up(self) -> None:
        """Report who waits, and for what. End."""
        self._stopped = True
        waiting = [(key, *each) for key, streams in self._waiting.items() for each in streams]
        for key, _, node in waiting:
            if key[0] != "ended":
                self.report.faults.append(f"node {node} waits {self._describe(key)}")
        streams = [stream for _, stream, _ in waiting] + [stream for stream, _, _ in self._ready]
        for stream in streams:
            stream.close()

    def _describe(self, key: Key) -> str:
        kind, what = key[0], key[-1]
        if kind == "phase":
            return f"for all nodes to come to phase {what}"
        name = self.network.describe(what)
        if kind == "data":
            return f"to receive from {name}"
        return f"until words of {name} are received"


def made_words(connection: int, first: int, size: int) -> Ints:
    """Return words that say which they are: the connection in the upper half, then their place.

    Examples
    --------
    >>> [hex(word) for word in made_words(3, 10, 2)]
    ['0x30000000a', '0x30000000b']
    """
    return np.arange(first, first + size, dtype=np.int64) + (np.int64(connection) << 32)


# Processes.


class WorkerLostError(Exception):
    """A worker that does not come to its end, and why, in one line."""


@dataclass(frozen=True, eq=False)
class Delivery:
    """What came where."""

    words: Ints  # int64[n], how many words of each connection its target received
    # What was wrong, a line each; empty where every word came to the right place, once, in order
    # and in its phase. A worker that died is the only one.
    faults: tuple[str, ...]
    # The words of each connection, where they were given.
    received: Mapping[int, NDArray[Any]] | None
    num_workers: int  # processes or ranks that took part

    def __repr__(self) -> str:
        came = f"{self.words.sum()} words of {len(self.words)} connections"
        if not self.faults:
            return f"<{came} delivered by {self.num_workers} workers>"
        more = f", and {len(self.faults) - 1} more faults" if len(self.faults) > 1 else ""
        return f"<{came} delivered, {self.faults[0]}{more}>"


def run_programs(
    programs: Sequence[NodeProgram],
    plan: Plan,
    *,
    data: Mapping[int, ArrayLike] | Sequence[ArrayLike] | None = None,
    workers: int | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Delivery:
    """Run the programs of all nodes, with queues between processes, and check what they deliver.

    Each word says which it is, so that one that goes astray is seen. A send ends when its words
    have been received: no order that needs buffers gets through. What waits for something that
    does not come is reported after a while, not waited for. If a worker dies, whenever that is,
    nothing is delivered and the only fault says which and how.

    Parameters
    ----------
    programs
        One for each node.
    plan
        What they were made from: the connections, and the phase of each.
    data
        The words that each connection carries instead, one-dimensional arrays, one for each
        connection: a list in their order, or by their numbers. Those that come are compared with
        them.
    workers
        Processes, each of which runs the programs of some nodes. By default as many as there are
        processors. One is this process. Others are started anew, so that a script that
        calls this must be guarded by ``if __name__ == "__main__":``.
    timeout_seconds
        After how long without any message it is given up.

    Raises
    ------
    InputError
        If a node has no program or two, the data do not fit, or there are no workers.

    Examples
    --------
    >>> from netloom.models.messages import ConSetCosts
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
    >>> run_programs(node_programs(plan, schedule(plan, costs), costs), plan, workers=1)
    <800 words of 8 connections delivered by 1 workers>
    """
    from netloom.simulation.side_by_side import processors

    num_workers = processors() if workers is None else workers
    if num_workers < 1:
        raise InputError("workers", f"{num_workers}", "at least 1")
    network = _network(programs, plan, data, num_workers, timeout_seconds)
    parts = _parts(programs, network.num_workers)
    if network.num_workers == 1:
        reports = [Worker(network, parts[0], 0, lambda *_: None, lambda _: None).run()]
    else:
        try:
            reports = run_in_processes(network, parts)
        except WorkerLostError as lost:
            nothing = np.zeros(len(plan.connections), np.int64)
            return Delivery(nothing, (str(lost),), None, network.num_workers)
    return _delivery(reports, plan, network)


def run_programs_on_mpi(
    programs: Sequence[NodeProgram],
    plan: Plan,
    *,
    data: Mapping[int, ArrayLike] | Sequence[ArrayLike] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Delivery:
    """As ``run_programs``, on the ranks of an MPI program. Every rank calls it, and has the answer.

    Run with ``mpiexec -n 4 python script.py``. mpi4py must be installed. Rank r has the nodes r,
    r + ranks, .... Ranks beyond the number of nodes have none.

    Raises
    ------
    InputError
        As ``run_programs``, and if mpi4py cannot be imported.
    """
    try:
        mpi: Any = import_module("mpi4py.MPI")
    except ImportError as error:
        raise InputError("mpi4py", f"{error}", "an installed mpi4py") from None
    ranks = mpi.COMM_WORLD.Dup()
    network = _network(programs, plan, data, ranks.Get_size(), timeout_seconds)
    number, report = ranks.Get_rank(), Report()
    sent: list[Any] = []
    if number < network.num_workers:
        part = _parts(programs, network.num_workers)[number]
        post = partial(_post_to_rank, ranks, sent)
        report = Worker(network, part, number, post, partial(_take_from_ranks, ranks, sent)).run()
    reports = ranks.allgather(report)
    while _take_from_ranks(ranks, sent, 0.0) is not None:  # told to stop, when it had ended
        pass
    for request in sent:
        request.wait()
    ranks.Free()
    return _delivery(reports, plan, network)


def _network(
    programs: Sequence[NodeProgram],
    plan: Plan,
    data: Mapping[int, ArrayLike] | Sequence[ArrayLike] | None,
    num_workers: int,
    timeout_seconds: float,
) -> Network:
    """Return what every worker knows, once it makes sense."""
    given = plan.connections
    counts = Counter(program.node for program in programs)
    nodes = range(given.num_nodes)
    strange = [node for node in sorted({*nodes, *counts}) if counts[node] != (node in nodes)]
    if strange:
        found = f"{counts[strange[0]]} for node {strange[0]}"
        raise InputError("programs", found, f"one for each of {given.num_nodes} nodes")
    if not timeout_seconds > 0:
        raise InputError("timeout_seconds", f"{timeout_seconds}", "above 0")
    carried: dict[int, NDArray[Any]] | None = None
    if data is not None:
        try:
            pairs = data.items() if isinstance(data, Mapping) else enumerate(data)
            carried = {int(number): np.asarray(words) for number, words in pairs}
        except (TypeError, ValueError):
            wanted = "an array of words for each connection"
            raise InputError("data", repr(data)[:60], wanted) from None
        for number, words in enumerate(given.words.tolist()):
            shape = carried[number].shape if number in carried else "nothing"
            if shape != (words,):
                where = f"data of connection {number} ({given.describe(number)})"
                raise InputError(where, f"{shape}", f"{(words,)}")
        if unknown := sorted(set(carried) - set(range(len(given)))):
            said = f"words of connection {unknown[0]}"
            raise InputError("data", said, f"those of connections 0 to {len(given) - 1}")
    return Network(
        source=given.source.tolist(),
        target=given.target.tolist(),
        words=given.words.tolist(),
        phase=plan.phase.tolist(),
        num_workers=min(num_workers, given.num_nodes),
        timeout_seconds=timeout_seconds,
        data=carried,
    )


def _parts(programs: Iterable[NodeProgram], num_workers: int) -> list[list[NodeProgram]]:
    parts: list[list[NodeProgram]] = [[] for _ in range(num_workers)]
    for program in programs:
        parts[program.node % num_workers].append(program)
    return parts


def _delivery(reports: Sequence[Report], plan: Plan, network: Network) -> Delivery:
    """Put together what the workers saw."""
    given, waits = plan.connections, "to come to phase"
    faults = [fault for report in reports for fault in report.faults]
    telling = [fault for fault in faults if waits not in fault]
    faults = telling or faults  # who waits for the others only says that something is wrong
    words = np.zeros(len(given), np.int64)
    received: dict[int, NDArray[Any]] = {}
    for report in reports:
        for connection, count in report.delivered.items():
            words[connection] += count
        for connection, parts in report.received.items():
            received[connection] = np.concatenate(parts)
    wrong: list[int] = np.flatnonzero(words != given.words).tolist()
    if wrong:
        came = f"{words[wrong[0]]} of {given.words[wrong[0]]} words came"
        others = f", and {len(wrong) - 1} more connections" if len(wrong) > 1 else ""
        faults.append(f"{network.describe(wrong[0])}: {came}{others}")
    kept = None
    if network.data is not None:
        kept = {each: words[:0] for each, words in network.data.items()} | received
    return Delivery(words, tuple(faults), kept, network.num_workers)


@dataclass(frozen=True)
class _Member:
    number: int
    process: BaseProcess
    pipe: Connection

    def lost(self, when: str) -> WorkerLostError:
        """Return the error that says how it ended."""
        self.process.join(END_SECONDS)
        code = self.process.exitcode
        how = f"exit code {code}"
        if code is None:
            how = "its pipe is closed"
        elif code < 0:
            with suppress(ValueError):
                how = f"killed by {signal.Signals(-code).name}"
        return WorkerLostError(f"worker {self.number} died {when} ({how})")


def run_in_processes(
    network: Network,
    parts: Sequence[Sequence[NodeProgram]],
    *,
    start_seconds: float = START_SECONDS,
) -> list[Report]:
    """Run each part by a worker in a process of its own, and return what they saw.

    They may take ``start_seconds`` to start, together.

    Raises
    ------
    WorkerLostError
        If one cannot be started, has not started in time, fails or dies.
    """
    fresh = get_context("spawn")  # a copy of a process with threads may not work
    crew: list[_Member] = []
    try:
        for number in range(len(parts)):
            ours, theirs = fresh.Pipe()
            process = fresh.Process(target=_work, args=(theirs,), daemon=True)
            try:
                process.start()  # what it is told is short: the rest waits until it listens
            except OSError as error:
                why = f"worker {number} cannot be started ({error.strerror})"
                raise WorkerLostError(why) from None
            theirs.close()
            crew.append(_Member(number, process, ours))
        _start(crew, start_seconds)
        for member in crew:
            try:
                member.pipe.send_bytes(pickle.dumps((network, parts[member.number], member.number)))
            except OSError:
                raise member.lost("before it began") from None
        reports: dict[int, Report] = {}
        working: dict[Any, _Member] = {member.pipe: member for member in crew}
        while working:  # pass on what workers tell each other until all have reported
            for pipe in pipes.wait([*working]):
                member = working[pipe]
                to, data = _receive(member, "while it ran")
                if to == DONE:
                    reports[member.number] = pickle.loads(data)  # noqa: S301 (our own process)
                    del working[member.pipe]
                    continue
                with suppress(OSError):  # that it has ended will be heard, if it should not have
                    crew[to].pipe.send_bytes(data)
        return [reports[number] for number in range(len(crew))]
    finally:
        for member in crew:
            member.pipe.close()
            if member.process.is_alive():
                member.process.kill()
            member.process.join()


def _start(crew: list[_Member], seconds: float) -> None:
    """Wait until all have started."""
    end = time.monotonic() + seconds
    waiting: dict[Any, _Member] = {member.pipe: member for member in crew}
    while waiting:
        heard = pipes.wait([*waiting], timeout=max(0.0, end - time.monotonic()))
        if not heard:
            late = min(member.number for member in waiting.values())
            raise WorkerLostError(f"worker {late} has not started within {seconds:g} s")
        for pipe in heard:
            _receive(waiting.pop(pipe), "while it started")


def _receive(member: _Member, when: str) -> tuple[int, bytes]:
    """Return for whom a message of a worker is, and the message."""
    try:
        data = member.pipe.recv_bytes()
    except (EOFError, OSError):
        raise member.lost(when) from None
    (to,) = HEAD.unpack_from(data)
    if to == FAILED:
        said = data[HEAD.size :].decode()
        raise WorkerLostError(f"worker {member.number} failed {when} ({said})")
    return to, data[HEAD.size :]


def _work(pipe: Connection) -> None:
    """Be a worker, in a process of its own. End with the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send_bytes(HEAD.pack(READY))
        network, programs, number = pickle.loads(pipe.recv_bytes())  # noqa: S301 (from our parent)
        inbox: SimpleQueue[Message] = SimpleQueue()
        Thread(target=_listen, args=(pipe, inbox), daemon=True).start()
        try:
            report = Worker(
                network, programs, number, partial(_post, pipe), partial(_take, inbox)
            ).run()
            end = HEAD.pack(DONE) + pickle.dumps(report)
        except Exception as error:  # noqa: BLE001 (told in one line there)
            said = " ".join(f"{type(error).__name__} {error}".split())
            end = HEAD.pack(FAILED) + said.encode()
        pipe.send_bytes(end)
    except (EOFError, OSError):  # nobody is there
        os._exit(1)


def _listen(pipe: Connection, inbox: SimpleQueue[Message]) -> None:
    """Take in what comes at any time, so that who sends never waits."""
    try:
        while True:
            inbox.put(pickle.loads(pipe.recv_bytes()))  # noqa: S301 (from other workers)
    except (EOFError, OSError):
        os._exit(1)


def _post(pipe: Connection, worker: int, message: Message) -> None:
    pipe.send_bytes(HEAD.pack(worker) + pickle.dumps(message))


def _take(inbox: SimpleQueue[Message], seconds: float) -> Message | None:
    try:
        return inbox.get(timeout=seconds)
    except Empty:
        return None


# MPI.


def _post_to_rank(ranks: Any, sent: list[Any], worker: int, message: Message) -> None:
    sent[:] = [request for request in sent if not request.test()[0]]
    sent.append(ranks.isend(message, dest=worker))


def _take_from_ranks(ranks: Any, sent: list[Any], seconds: float) -> Message | None:
    """Return the next message. None where none comes for so long."""
    end, sleep = time.monotonic() + seconds, 1e-6
    while True:
        if ranks.iprobe():
            message: Message = ranks.recv()
            return message
        if time.monotonic() >= end:
            return None
        sent[:] = [request for request in sent if not request.test()[0]]
        time.sleep(sleep)
        sleep = min(2 * sleep, MOST_SLEEP)
