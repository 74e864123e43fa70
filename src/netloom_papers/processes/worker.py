"""The three primitives, and a worker that runs the programs of its nodes on them.

Streams are coroutines: a worker goes on with those that can, and looks for messages of other
workers where none can. A send waits until its words have been received, so that what works here
needs no buffers anywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.phases.execute.node_programs import SEND, Action, NodePhase, NodeProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints

    Words: TypeAlias = NDArray[Any]
    Message: TypeAlias = tuple[str, Any, Any]
    Key: TypeAlias = tuple[Any, ...]
    Stream: TypeAlias = Coroutine[Any, Any, None]

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
    data: dict[int, Words] | None  # what connections carry; None: words that say where they belong

    def carried(self, connection: int, first: int, size: int) -> Words:
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
    received: dict[int, list[Words]] = field(default_factory=dict)
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

    async def send_element(self, connection: int, phase: int, first: int, element: Words) -> None:
        """Send words on a connection. Return once they have been received."""
        to = self.network.target[connection] % self.network.num_workers
        self._tell(to, ("data", connection, (phase, first, element)))
        await _come(("taken", connection))

    async def receive_element(self, connection: int, phase: int, first: int) -> Words:
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
