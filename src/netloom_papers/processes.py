"""Do the programs of this plan file deliver every word?

For users who want to see a compiled program deliver before they put it on a machine. A worker has
the streams of some nodes, and goes on until all of them wait. It runs in this process and has all
nodes, or there is one on each MPI rank: ranks then exchange what they have sent each other, and go
on. The run ends if nobody has sent anything: all streams have ended then, or those that have not
wait for each other. A send waits until its words have been received, so that what works here needs
no buffers anywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Generator, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from netloom.base import units
from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import figure, unseen
from netloom.base.progress import patience
from netloom.base.words import counted
from netloom.phases.execution import RECEIVE, SEND, Action, NodePhase, NodeProgram, node_programs
from netloom.phases.plan.plans import Connections, Plan
from netloom.questions.answers import Verdict
from netloom.questions.plans import OfPlan, of_what, verified_phases

if TYPE_CHECKING:
    from netloom.phases import PlanFile


Key: TypeAlias = tuple[str, int, int]
"""What a stream waits for: its kind, the node that waits, and a phase or connection."""

Message: TypeAlias = tuple[Key, Any]

Stream: TypeAlias = Generator[Key, Any, None]

BATCH_WORDS = 4096
"""Most words that are sent at once."""

ALONE = SimpleNamespace(Get_size=lambda: 1, Get_rank=lambda: 0, allgather=lambda said: [said])
"""This process, as the only rank of an MPI program."""

WANTED = "what NodeProgram.to_dict writes"

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


class Delivery(NamedTuple):
    """What came where."""

    words: Ints  # int64[n], how many words of each connection its target received
    # What was wrong, a line each; empty where every word came to the right place, once, in order
    # and in its phase.
    faults: tuple[str, ...]


class _Fault(Exception):  # noqa: N818  # ends a stream; never leaves this module
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


def run_programs(programs: Sequence[NodeProgram], plan: Plan, *, on_mpi: bool = False) -> Delivery:
    """Run the programs of all nodes, and check what they deliver.

    Each word says which it is, so that one that goes astray is seen. A send ends when its words
    have been received: no order that needs buffers gets through. What waits for something that
    does not come is reported.

    Parameters
    ----------
    programs
        One for each node.
    plan
        What they were made from: the connections, and the phase of each.
    on_mpi
        Whether the ranks of an MPI program share the nodes: rank r has the nodes r, r + ranks, ….
        Every rank calls this, and has the answer. Run with ``mpiexec -n 4 python script.py``.

    Raises
    ------
    InputError
        If a node has no program or two, or mpi4py cannot be imported.

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
    >>> found = run_programs(node_programs(plan, schedule(plan, costs), costs), plan)
    >>> found.words.sum(), found.faults
    (np.int64(800), ())
    """
    ranks: Any = ALONE
    if on_mpi:
        try:
            ranks = import_module("mpi4py.MPI").COMM_WORLD
        except ImportError as error:
            raise InputError("mpi4py", f"{error}", "an installed mpi4py") from None
    given, size, rank = plan.connections, ranks.Get_size(), ranks.Get_rank()
    counts = Counter(program.node for program in programs)
    nodes = range(given.num_nodes)
    strange = [node for node in sorted({*nodes, *counts}) if counts[node] != (node in nodes)]
    if strange:
        found = f"{counts[strange[0]]} for node {strange[0]}"
        raise InputError("programs", found, f"one for each of {given.num_nodes} nodes")
    worker = Worker(plan, [program for program in programs if program.node % size == rank])
    sent: list[list[Message]] = ranks.allgather(worker.go_on([]))
    while any(sent):
        came = [message for some in sent for message in some if message[0][1] % size == rank]
        sent = ranks.allgather(worker.go_on(came))
    counted_words, found_faults = zip(*ranks.allgather(worker.report()), strict=True)
    words, faults = np.sum(counted_words, axis=0), [each for some in found_faults for each in some]
    # who waits for the others only says that something is wrong
    faults = [fault for fault in faults if "to come to phase" not in fault] or faults
    wrong: list[int] = np.flatnonzero(words != given.words).tolist()
    if wrong:
        came_of = f"{words[wrong[0]]} of {given.words[wrong[0]]} words came"
        others = f", and {len(wrong) - 1} more connections" if len(wrong) > 1 else ""
        faults.append(f"{named(given, wrong[0])}: {came_of}{others}")
    return Delivery(words, tuple(faults))


# Plan files.


class PlanRun(OfPlan):
    """What the programs of a plan file delivered.

    ``delivered``: every word came to the right place, once, in order and in its phase.
    """

    delivered: bool = figure()
    connections: int = figure()
    words: int = figure()
    faults: tuple[str, ...] = figure()
    seconds: float = figure(unit="seconds")
    file: PlanFile = unseen()

    @property
    def verdict(self) -> Verdict:
        """Whether every word arrived."""
        of, many = of_what(self.file.plan), counted(self.connections, "connection", ",")
        lines = {"run in": units.seconds(self.seconds)}
        if self.delivered:
            words = f"{counted(self.words, 'word', ',')} of {many}"
            said = f"All {words} arrived, in order and in their phases."
            return Verdict("fine", said, lines, of=of)
        said = f"Not delivered: {counted(len(self.faults), 'fault', ',')} in {many}."
        return Verdict("act", said, {"first": self.faults[0], **lines}, of=of)


def run_plan(path: str | Path) -> PlanRun:
    """Verify a plan file, and run the programs of its nodes with words that say where they belong.

    Programs that the file does not hold are made from its timetable. See ``run_programs`` for what
    a run checks.

    Raises
    ------
    InputError
        If the file, or a program in it, cannot be read.
    InvalidPlanError
        If the plan breaks a rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom import compile_phases
    >>> file = Path(mkdtemp()) / "plan.json"
    >>> compile_phases("ring:4", "torus:4", words=8).write(file)
    >>> run_plan(file).to_dict()["words"]
    64
    """
    held, where = verified_phases(path).file, f"{path}: programs"
    if held.programs is None:
        programs = node_programs(held.plan, held.timetable, held.costs)
    elif not isinstance(held.programs, list):
        raise InputError(where, type(held.programs).__name__, "a list, one program a node")
    else:
        programs = [node_program(each, where) for each in held.programs]
    begin = perf_counter()
    with patience("Running the programs of all nodes"):
        delivery = run_programs(programs, held.plan)
    return PlanRun(
        plan=str(path),
        delivered=not delivery.faults,
        connections=len(delivery.words),
        words=int(delivery.words.sum()),
        faults=tuple(delivery.faults),
        seconds=perf_counter() - begin,
        file=held,
    )


def node_program(data: dict[str, Any], where: str = "node program") -> NodeProgram:
    """Return the program that ``NodeProgram.to_dict`` wrote. ``where`` is named in errors.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> send = Action("send_element", connection=3, node=1, words=8)
    >>> program = NodeProgram(0, (NodePhase(0, ((send,),)),))
    >>> node_program(program.to_dict()) == program
    True
    """
    try:
        phases: list[NodePhase] = []
        for each in data["phases"]:
            streams = tuple(tuple(map(_action, stream)) for stream in each["streams"])
            phases.append(NodePhase(int(each["phase"]), streams))
        return NodeProgram(int(data["node"]), tuple(phases))
    except KeyError as error:
        raise InputError(where, f"no {error}", WANTED) from None
    except ValueError as error:
        raise InputError(where, str(error), WANTED) from None
    except TypeError:
        raise InputError(where, "a field of another kind", WANTED) from None


def _action(data: dict[str, Any]) -> Action:
    if data["primitive"] not in (SEND, RECEIVE):
        raise ValueError(f"primitive '{data['primitive']}'")
    fields: dict[str, Any] = {each: int(data[each]) for each in ("connection", "node", "words")}
    fields |= {each: tuple(map(int, data.get(each, ()))) for each in ("after", "tell")}
    return Action(data["primitive"], **fields)
