"""MSCCL XML executed on data, step by step: what it sends, what waits for what, and where it stops.

Every thread block makes its steps in order. A step waits for the one it depends on, for what it
receives, and for room in the connection that it sends into. What deadlocks here deadlocks on GPUs.
The order is one of those that the file allows. ``msccl_races`` sees whether others could differ.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.base.words import listed
from netloom.workload.programs.collectives.msccl import Cell
from netloom.workload.programs.collectives.msccl_parsing import (
    READS,
    RECEIVES,
    SENDS,
    WRITES,
    Algorithm,
    Block,
    Step,
)
from netloom.workload.programs.collectives.msccl_races import Order
from netloom.workload.programs.collectives.msccl_waits import SLOTS, Connection, Waits

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
        self.blocks = [each for _, blocks in found.gpus.values() for each in blocks.values()]
        self.order = Order(found, self.blocks)
        self.done = {(block.gpu, block.number): 0 for block in self.blocks}
        self.connection: dict[Connection, deque[int]] = {}
        self.waits = Waits()
        self.sender = {(each.gpu, each.send, each.channel): each for each in self.blocks}
        self.receiver = {(each.receive, each.gpu, each.channel): each for each in self.blocks}
        self.messages: list[Sent] = []
        self.clock = 0
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
            moved = False
            while self.done[block.gpu, block.number] < len(block.steps) and self.ready(block):
                self.make(block)
                moved = True
            if self.done[block.gpu, block.number] < len(block.steps):
                waiting.append(block)
                stuck = 0 if moved else stuck + 1
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

    def ready(self, block: Block) -> bool:
        """Return whether a thread block can make its next step."""
        return self.waits_on(block) is None

    def waits_on(self, block: Block) -> tuple[str, Block | None] | None:
        """Return what the next step waits for, and the thread block that could end that."""
        step = block.steps[self.done[block.gpu, block.number]]
        if step.waits[0] >= 0 and self.done[block.gpu, step.waits[0]] <= step.waits[1]:
            other = self.found.gpus[block.gpu][1][step.waits[0]]
            return f"waits for step {step.waits[1]} of thread block {step.waits[0]}", other
        if step.kind in RECEIVES and not self.incoming(block):
            key = (block.receive, block.gpu, block.channel)
            return f"receives from GPU {block.receive}", self.sender.get(key)
        if step.kind in SENDS and len(self.outgoing(block)) >= SLOTS:
            key = (block.gpu, block.send, block.channel)
            said = f"sends to GPU {block.send}, which holds {SLOTS} messages"
            return said, self.receiver.get(key)
        return None

    def refuse_deadlock(self, first: Block) -> None:
        """Raise with the thread blocks that wait for each other, or for one that has ended."""
        chain: list[Block] = []
        said: list[str] = []
        block: Block | None = first
        while block is not None and block not in chain:
            chain.append(block)
            name = f"GPU {block.gpu}, thread block {block.number}"
            why = None if self.ended(block) else self.waits_on(block)
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
        line = at.steps[self.done[at.gpu, at.number]].line
        shown = f"a deadlock: {' -> '.join(names)}"
        raise InputError(f"{self.found.path}:{line}", shown, "steps that can all be made")

    def ended(self, block: Block) -> bool:
        """Return whether a thread block has made all its steps."""
        return self.done[block.gpu, block.number] == len(block.steps)

    def incoming(self, block: Block) -> deque[int]:
        """Return the messages on their way to a thread block."""
        return self.connection.setdefault((block.receive, block.gpu, block.channel), deque())

    def outgoing(self, block: Block) -> deque[int]:
        """Return the messages on their way from a thread block."""
        return self.connection.setdefault((block.gpu, block.send, block.channel), deque())

    def make(self, block: Block) -> None:
        """Make the next step of a thread block."""
        step = block.steps[self.done[block.gpu, block.number]]
        self.done[block.gpu, block.number] += 1
        self.clock += 1
        here = self.run_of(block.gpu, step.source, step.chunks)
        there = self.run_of(block.gpu, step.target, step.chunks)
        message = self.incoming(block).popleft() if step.kind in RECEIVES else -1
        self.order.make(
            block, step, self.done[block.gpu, block.number] - 1, message,
            [*(here if step.kind in READS else []), *(there if step.kind == "re" else [])],
            there if step.kind in WRITES else [],
        )  # fmt: skip
        self.waits.step(block, step, message)
        if step.kind != "nop":
            self.move(block, step, message)
        self.waits.end(block, step, self.done[block.gpu, block.number] - 1)

    def move(self, block: Block, step: Step, message: int) -> None:
        """Move the chunks of a step that has begun."""
        where = f"{self.found.path}:{step.line}"
        here = self.run_of(block.gpu, step.source, step.chunks)
        there = self.run_of(block.gpu, step.target, step.chunks)
        if message >= 0:
            what = self.received(message, step, where)
            if step.kind.startswith("rr"):
                what = [
                    self.sum(self.read(a, where), b, where) for a, b in zip(here, what, strict=True)
                ]
        else:
            what = [self.read(cell, where) for cell in here]
        if step.kind == "re":
            what = [
                self.sum(self.read(a, where), b, where) for a, b in zip(there, what, strict=True)
            ]
        if step.kind in WRITES:
            self.write(step, message, here, there, what)
        if step.kind in SENDS:
            self.clock += 1  # what is received and sent on at once is received first
            self.outgoing(block).append(len(self.messages))
            self.order.send(block, len(self.messages))
            after = self.waits.send(block, len(self.messages))
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
