"""What algorithms in MSCCL's XML do when they run.

Which messages must have arrived before a thread block of an MSCCL file sends another.

A step begins when the step before it in its thread block is done, and the one that it waits for. A
send is done when its message has arrived, a receive when its message is there. A connection has
room for a message once the one ``SLOTS`` before it has been received.

Races of an MSCCL file: steps of two thread blocks that touch a chunk in either order.

Some steps surely come before a step: those before it in its thread block, the one that it waits
for, the send of what it receives, and all before these. Each thread block counts how far the others
have surely come. Two unordered steps race if one writes what the other reads or writes, however the
execution went (Lamport's order with vector clocks).

MSCCL XML executed on data, step by step: what it sends, what waits for what, and where it stops.

Every thread block makes its steps in order. A step waits for the one it depends on, for what it
receives, and for room in the connection that it sends into. What deadlocks here deadlocks on GPUs.
The order is one of those that the file allows. ``msccl_races`` sees whether others could differ.

MSCCL XML as a trace: its messages, and what its thread blocks make them wait for.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted, listed
from netloom.workload.programs.collectives.msccl import (
    READS,
    RECEIVES,
    SENDS,
    WRITES,
    Algorithm,
    Block,
    Cell,
    Step,
)
from netloom.workload.programs.messages import lists
from netloom.workload.programs.traces import MOST_LENGTH, message_trace

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from netloom.base.arrays import Ints
    from netloom.workload.programs.collectives.msccl import Connection
    from netloom.workload.programs.traces import Trace


SLOTS = 8
"""Messages that a connection holds at most: NCCL's channels have 8 slots (NCCL_STEPS)."""

MOST_COUNTS = 50_000_000
"""Most numbers that are kept. Races of larger files are not looked for."""


class Order:
    """What each thread block knows to have happened, while steps are made one by one.

    ``met``: of each connection the last message that it has waited for, for those before it have
    arrived before it. ``known``: how far the other thread blocks surely are.
    """

    def __init__(self, found: Algorithm, blocks: Sequence[Block]) -> None:
        self.path = found.path
        self.number = {block.key: place for place, block in enumerate(blocks)}
        self.met: dict[tuple[int, int], dict[Connection, int]] = {each.key: {} for each in blocks}
        self.sent: dict[Connection, list[int]] = {}
        self.taken: dict[int, tuple[int, ...]] = {}
        tells = sum(step.waited_for for block in blocks for step in block.steps)
        self.looks = len(blocks) * (len(blocks) + tells) <= MOST_COUNTS
        many = len(blocks) if self.looks else 0
        self.known = np.zeros((len(blocks), many), np.int32)
        self.told: dict[tuple[int, int, int], tuple[dict[Connection, int], Ints]] = {}
        self.carried: dict[int, Ints] = {}
        self.writer: dict[Hashable, tuple[int, int, int]] = {}
        self.readers: dict[Hashable, list[tuple[int, int, int]]] = {}

    def make(
        self, block: Block, step: Step, place: int, received: int,
        reads: Sequence[Hashable], writes: Sequence[Hashable],
    ) -> None:  # fmt: skip
        """Begin a step: ``received`` is the message that it takes, −1 if none.

        Raises
        ------
        InputError
            If it races with a step that has been made.
        """
        own, met = self.number[block.key], self.met[block.key]
        known = self.known[own]
        if step.waits[0] >= 0:
            others, far = self.told[(block.gpu, *step.waits)]
            np.maximum(known, far, out=known)
            for connection, message in others.items():
                met[connection] = max(met.get(connection, -1), message)
        if received >= 0:
            np.maximum(known, self.carried.pop(received), out=known)
            met[block.incoming] = received
            self.taken[received] = tuple(met.values())
        if not self.looks:
            return
        here = (own, place, step.line)
        for cell in reads:
            self.check(here, [self.writer[cell]] if cell in self.writer else [])
            self.readers.setdefault(cell, []).append(here)
        for cell in writes:
            before = self.readers.pop(cell, [])
            self.check(here, [*before, *([self.writer[cell]] if cell in self.writer else [])])
            self.writer[cell] = here
        known[own] = place + 1

    def send(self, block: Block, message: int) -> tuple[int, ...]:
        """Send a message in the step that has begun. Return those that arrive before it leaves."""
        met, sent = self.met[block.key], self.sent.setdefault(block.outgoing, [])
        after = set(met.values())
        if len(sent) >= SLOTS:
            after.update(self.taken[sent[-SLOTS]])
        sent.append(message)
        met.clear()
        met[block.outgoing] = message
        self.carried[message] = self.known[self.number[block.key]].copy()
        return tuple(sorted(after))

    def end(self, block: Block, step: Step, place: int) -> None:
        """End a step, of which others may wait for."""
        if step.waited_for:
            known = self.known[self.number[block.key]].copy()
            self.told[(*block.key, place)] = dict(self.met[block.key]), known

    def check(self, here: tuple[int, int, int], before: list[tuple[int, int, int]]) -> None:
        """Refuse a step of which it is not certain that these came before it."""
        own, _, line = here
        for other, place, elsewhere in before:
            if other != own and self.known[own, other] <= place:
                said = f"a race with line {elsewhere}, which touches the same chunk"
                raise InputError(f"{self.path}:{line}", said, "one that waits for the other")


MOST_SHOWN = 6
"""Most thread blocks of a deadlock, and GPUs left unserved, that a message names."""


def all_sent(found: Algorithm) -> list[Sent]:
    """Execute a file, in place and out of place as it says it may be, and return its messages.

    Raises
    ------
    InputError
        Naming file and line: if thread blocks deadlock or race. If one sends what is not there or
        adds a contribution twice. If a GPU ends without what the collective means.
    """
    sent: list[Sent] = []
    for in_place in found.in_place:
        sent = _Run(found, in_place=in_place).all_sent()
    return sent


class Content(NamedTuple):
    """What is in a cell: a chunk, and whose contributions to it."""

    chunk: int
    of: frozenset[int]


@dataclass
class Sent:
    """A message: who sent what to whom, and when. Which of its chunks the receiver adds.

    ``after``: the messages that have surely arrived before, which sends of a thread block do one
    by one.
    """

    line: int
    source: int
    target: int
    what: list[Content]
    sent: int
    received: int = -1
    sums: list[bool] = field(default_factory=list)
    after: tuple[int, ...] = ()


class _Run:
    """An execution on data, in one of the orders that the file allows."""

    def __init__(self, found: Algorithm, *, in_place: bool) -> None:
        self.found, self.in_place = found, in_place
        self.each = found.per_loop // found.num_gpus
        self.blocks = found.blocks
        self.order = Order(found, self.blocks)
        self.connection: defaultdict[Connection, deque[int]] = defaultdict(deque)
        self.sender = {each.outgoing: each for each in self.blocks}
        self.receiver = {each.incoming: each for each in self.blocks}
        self.messages: list[Sent] = []
        self.clock = 0
        for block in self.blocks:
            block.done = 0
        self.raw: dict[tuple[int, Cell], tuple[int, int]] = {}
        self.cells: dict[tuple[int, Cell], Content] = {}
        for gpu in range(found.num_gpus):
            for offset in range(found.gpus[gpu][0]["i"]):
                chunk = self.first_chunk(gpu, offset)
                self.cells[gpu, self.at(gpu, Cell("i", offset))] = Content(chunk, frozenset((gpu,)))

    def first_chunk(self, gpu: int, offset: int) -> int:
        """Return which chunk a cell of the input has."""
        begin = {"all-gather": self.each, "all-to-all": self.found.per_loop}
        return begin.get(self.found.collective, 0) * gpu + offset

    def at(self, gpu: int, cell: Cell) -> Cell:
        """Return the cell that one is where input and output are the same memory."""
        if not self.in_place or cell.buffer == "s":
            return cell
        if self.found.collective == "all-gather" and cell.buffer == "i":
            return Cell("o", gpu * self.each + cell.offset)
        if self.found.collective == "reduce-scatter" and cell.buffer == "o":
            return Cell("i", gpu * self.each + cell.offset)
        same = self.found.collective in ("all-reduce", "all-to-all")
        return Cell("i", cell.offset) if same else cell

    def run_of(self, gpu: int, first: Cell, count: int) -> list[tuple[int, Cell]]:
        """Return so many cells from the first on."""
        return [(gpu, self.at(gpu, Cell(first.buffer, first.offset + k))) for k in range(count)]

    def all_sent(self) -> list[Sent]:
        """Execute all, check the end, and return the messages."""
        waiting = deque(self.blocks)
        stuck = 0
        while waiting and stuck < len(waiting):
            block = waiting.popleft()
            before = block.done
            while block.done < len(block.steps) and self.waits_on(block) is None:
                self.make(block)
            if block.done < len(block.steps):
                waiting.append(block)
                stuck = 0 if block.done > before else stuck + 1
            else:
                stuck = 0
        if waiting:
            self.refuse_deadlock(waiting[0])
        for key, left in self.connection.items():
            if left:
                said = f"a message to GPU {key[1]} that it never receives"
                line = self.messages[left[0]].line
                raise InputError(f"{self.found.path}:{line}", said, "a step that receives it")
        self.check_end()
        return self.messages

    def waits_on(self, block: Block) -> tuple[str, Block | None] | None:
        """Return what the next step waits for, and the thread block that could end that."""
        step = block.steps[block.done]
        if step.waits[0] >= 0:
            other = self.found.gpus[block.gpu][1][step.waits[0]]
            if other.done <= step.waits[1]:
                return f"waits for step {step.waits[1]} of thread block {step.waits[0]}", other
        if step.kind in RECEIVES and not self.connection[block.incoming]:
            return f"receives from GPU {block.receive}", self.sender.get(block.incoming)
        if step.kind in SENDS and len(self.connection[block.outgoing]) >= SLOTS:
            said = f"sends to GPU {block.send}, which holds {SLOTS} messages"
            return said, self.receiver.get(block.outgoing)
        return None

    def refuse_deadlock(self, first: Block) -> None:
        """Raise with the thread blocks that wait for each other, or for one that has ended."""
        chain: list[Block] = []
        said: list[str] = []
        block: Block | None = first
        while block is not None and block not in chain:
            chain.append(block)
            name = f"GPU {block.gpu}, thread block {block.number}"
            why = None if block.done == len(block.steps) else self.waits_on(block)
            block = None if why is None else why[1]
            said.append(f"{name} ({'has ended' if why is None else why[0]})")
        begin = 0 if block is None else chain.index(block)
        names = said[begin:]
        if len(names) > MOST_SHOWN:
            more = len(names) - MOST_SHOWN
            names = [*names[: MOST_SHOWN - 1], f"{more + 1} more"]
        if block is not None:
            names.append(f"GPU {block.gpu}, thread block {block.number}")
        at = chain[begin]
        line = at.steps[at.done].line
        shown = f"a deadlock: {' -> '.join(names)}"
        raise InputError(f"{self.found.path}:{line}", shown, "steps that can all be made")

    def make(self, block: Block) -> None:
        """Make a step that is ready."""
        place = block.done
        step = block.steps[place]
        block.done += 1
        self.clock += 1
        here = self.run_of(block.gpu, step.source, step.chunks)
        there = self.run_of(block.gpu, step.target, step.chunks)
        message = self.connection[block.incoming].popleft() if step.kind in RECEIVES else -1
        self.order.make(
            block, step, place, message,
            [*(here if step.kind in READS else []), *(there if step.kind == "re" else [])],
            there if step.kind in WRITES else [],
        )  # fmt: skip
        if step.kind != "nop":
            self.move(block, step, message, here, there)
        self.order.end(block, step, place)

    def move(
        self, block: Block, step: Step, message: int, here: list[tuple[int, Cell]],
        there: list[tuple[int, Cell]],
    ) -> None:  # fmt: skip
        """Move what a step moves: from a message or its source, to its target or a message."""
        where = f"{self.found.path}:{step.line}"
        if message >= 0:
            what = self.received(message, step, where)
        else:
            what = [self.read(cell, where) for cell in here]
        added = here if step.kind.startswith("rr") else there if step.kind == "re" else []
        if added:
            what = [
                self.sum(self.read(a, where), b, where) for a, b in zip(added, what, strict=True)
            ]
        if step.kind in WRITES:
            self.write(step, message, here, there, what)
        if step.kind in SENDS:
            self.clock += 1  # what is received and sent on at once is received first
            self.connection[block.outgoing].append(len(self.messages))
            after = self.order.send(block, len(self.messages))
            found = Sent(step.line, block.gpu, block.send, what, self.clock, after=after)
            self.messages.append(found)

    def received(self, message: int, step: Step, where: str) -> list[Content]:
        """Return what a message brings."""
        found = self.messages[message]
        if len(found.what) != step.chunks:
            said = f"{len(found.what)} chunks, sent in line {found.line}"
            raise InputError(where, said, f"{step.chunks}, as many as are received")
        found.received = self.clock
        found.sums = [step.kind.startswith("rr")] * step.chunks
        return found.what

    def read(self, cell: tuple[int, Cell], where: str) -> Content:
        """Return what is in a cell."""
        if cell not in self.cells:
            said = f"{cell[1].buffer} {cell[1].offset} of GPU {cell[0]}, which is empty"
            raise InputError(where, said, "a chunk")
        return self.cells[cell]

    def sum(self, one: Content, other: Content, where: str) -> Content:
        """Return the sum of two contents."""
        if one.chunk != other.chunk:
            raise InputError(where, f"a sum of chunks {one.chunk} and {other.chunk}", "one chunk")
        if one.of & other.of:
            twice = f"the contribution of GPU {min(one.of & other.of)} to chunk {one.chunk} twice"
            raise InputError(where, twice, "sums of what has nothing in common")
        return Content(one.chunk, one.of | other.of)

    def write(
        self, step: Step, message: int, here: list[tuple[int, Cell]],
        there: list[tuple[int, Cell]], what: list[Content],
    ) -> None:  # fmt: skip
        """Fill cells, and remember which have just come by a message that may yet be added."""
        moved = [self.raw.get(cell) for cell in here]
        for place, (cell, content) in enumerate(zip(there, what, strict=True)):
            if step.kind == "re":
                for came in (moved[place], self.raw.pop(cell, None)):
                    if came is not None:
                        self.messages[came[0]].sums[came[1]] = True
            else:
                self.raw.pop(cell, None)
            if step.kind in ("r", "rcs"):
                self.raw[cell] = (message, place)
            elif step.kind == "cpy" and (came := moved[place]) is not None:
                self.raw[cell] = came
            self.cells[cell] = content

    def check_end(self) -> None:
        """Refuse an end at which GPUs lack a part of their output."""
        kind, each, gpus = self.found.collective, self.each, self.found.num_gpus
        everybody = frozenset(range(gpus))
        first = ("", "")
        unserved: list[int] = []
        for gpu in range(gpus):
            for offset in range(each if kind == "reduce-scatter" else self.found.per_loop):
                owner = offset // each if each else 0
                chunk, goal = {
                    "all-gather": (offset, frozenset((owner,))),
                    "all-reduce": (offset, everybody),
                    "reduce-scatter": (gpu * each + offset, everybody),
                    "all-to-all": ((owner * gpus + gpu) * each + offset % max(each, 1),
                                   frozenset((owner,))),
                }[kind]  # fmt: skip
                got = self.cells.get((gpu, self.at(gpu, Cell("o", offset))))
                if got != Content(chunk, goal):
                    have = "nothing" if got is None else f"chunk {got.chunk} of {len(got.of)} GPUs"
                    said = f"{have} in output {offset} of GPU {gpu} in the end"
                    first = (said, f"chunk {chunk} of {len(goal)}") if not unserved else first
                    unserved.append(gpu)
                    break
        if unserved:
            more = f" (GPUs left unserved: {listed([str(gpu) for gpu in unserved], MOST_SHOWN)})"
            raise InputError(self.found.path, first[0] + more * (len(unserved) > 1), first[1])


@dataclass(frozen=True, eq=False)
class Execution:
    """An MSCCL file that has been executed on data, and does what its collective means.

    Attributes
    ----------
    found
        What the file says.
    sent
        Its messages, in an order in which they may be sent.
    """

    found: Algorithm
    sent: list[Sent]

    @property
    def depth(self) -> int:
        """The most messages that wait for each other, one after the other."""
        depth = np.zeros(len(self.sent), np.int64)
        for number, message in enumerate(self.sent):
            depth[number] = 1 + max((int(depth[each]) for each in message.after), default=0)
        return int(depth.max(initial=0))

    def padded_bytes(self, size_bytes: float) -> int:
        """Return the least size of at least this whose chunks are whole bytes.

        Raises
        ------
        InputError
            If there is no such size.
        """
        if not 0 < size_bytes <= MOST_LENGTH:
            raise InputError("size", f"{size_bytes:g} bytes", f"above 0, up to {MOST_LENGTH:g}")
        return ceil(size_bytes / self.found.per_loop) * self.found.per_loop

    def padding(self, size_bytes: float) -> str:
        """Return that a size is padded, in a sentence. "" if it is not."""
        padded, chunks = self.padded_bytes(size_bytes), self.found.per_loop
        if padded == size_bytes:
            return ""
        return f"Padded to {padded:,} B: {counted(chunks, 'chunk', ',')} of {padded // chunks:,} B."

    def trace(self, size_bytes: float) -> Trace:
        """Return it as a trace in bytes and seconds, whose tasks are GPUs.

        ``size_bytes`` is that of the collective, as ``CollectiveProgram`` has it, and padded. See
        ``msccl_waits`` for what a message waits for. Copies and sums within a GPU take no time.

        Raises
        ------
        InputError
            If there is no such size.
        """
        sent, chunk = self.sent, self.padded_bytes(size_bytes) / self.found.per_loop
        source = np.array([each.source for each in sent], np.int32)
        target = np.array([each.target for each in sent], np.int32)
        return message_trace(
            Path(self.found.path).name, self.found.num_gpus,
            (f"{number} (line {each.line})" for number, each in enumerate(sent)), source, target,
            np.array([len(each.what) * chunk for each in sent], np.float64),
            lists(each.after for each in sent),
        )  # fmt: skip


def executed(found: Algorithm) -> Execution:
    """Execute an MSCCL file on data. See ``all_sent`` for what is refused.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> from netloom.workload.programs.collectives.msccl import write_msccl
    >>> from netloom.workload.programs.collectives.msccl import parse_msccl
    >>> path = f"{mkdtemp()}/ring.xml"
    >>> write_msccl(path, collective_program("all-gather", "ring", 4))
    >>> found = executed(parse_msccl(path))
    >>> found.trace(1e6), found.padded_bytes(1001)
    (<ring.xml: 4 tasks, 12 messages, 12 entries>, 1004)
    """
    return Execution(found, all_sent(found))
