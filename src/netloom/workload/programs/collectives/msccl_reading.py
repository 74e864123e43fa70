"""Others' MSCCL XML, executed on data step by step and turned into a program.

Every thread block makes its steps in order; a step waits for the one it depends on, for what it
receives, and for room in the connection that it sends into. What deadlocks here deadlocks on GPUs.
The order is one of those that the file allows; ``msccl_races`` sees whether others could differ.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.workload.programs.collectives.checked import check
from netloom.workload.programs.collectives.msccl import Cell
from netloom.workload.programs.collectives.msccl_parsing import (
    READS,
    RECEIVES,
    SENDS,
    WRITES,
    Algorithm,
    Block,
    Step,
    parse_msccl,
)
from netloom.workload.programs.collectives.msccl_races import Order
from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram, owners
from netloom.workload.programs.many_lists import lists

if TYPE_CHECKING:
    from pathlib import Path

SLOTS = 8
"""Messages that a connection holds at most: NCCL's channels have 8 slots (NCCL_STEPS)."""


def read_msccl(path: str | Path, ranks: int | None = None) -> CollectiveProgram:
    """Read MSCCL XML, execute it, and return it as a program that is checked.

    Parameters
    ----------
    path
        The file.
    ranks
        How many GPUs it must be for, if that is known.

    Raises
    ------
    InputError
        Naming file and line: if it is no such XML, for another number of GPUs or a collective that
        is not handled; if it deadlocks or its thread blocks race; if it sends what is not there or
        adds a contribution twice; if a GPU ends without what the collective means; or if it keeps
        two versions of a chunk in one GPU in a way that no program can say.
    """
    found = parse_msccl(str(path), ranks)
    sent: list[_Sent] = []
    for in_place in found.in_place:
        sent = _Run(found, in_place=in_place).all_sent()
    program = _program(found, sent)
    try:
        check(program, found.path)
    except InputError as error:
        two = f"two versions of a chunk in one GPU ({error.found})"
        raise InputError(found.path, two, "one version, where it is to be simulated") from None
    return program


class Content(NamedTuple):
    """What is in a cell: a chunk, and whose contributions to it."""

    chunk: int
    of: frozenset[int]


@dataclass
class _Sent:
    """A message: who sent what to whom, and when; which of its chunks the receiver adds."""

    line: int
    source: int
    target: int
    what: list[Content]
    sent: int
    received: int = -1
    sums: list[bool] = field(default_factory=list)


class _Run:
    """An execution on data, in one of the orders that the file allows."""

    def __init__(self, found: Algorithm, *, in_place: bool) -> None:
        self.found, self.in_place = found, in_place
        self.each = found.per_loop // found.num_gpus
        self.blocks = [each for _, blocks in found.gpus.values() for each in blocks.values()]
        self.order = Order(found, self.blocks)
        self.done = {(block.gpu, block.number): 0 for block in self.blocks}
        self.connection: dict[tuple[int, int, int], deque[int]] = {}
        self.messages: list[_Sent] = []
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

    def all_sent(self) -> list[_Sent]:
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
            block = waiting[0]
            step = block.steps[self.done[block.gpu, block.number]]
            said = f"a deadlock: GPU {block.gpu}, thread block {block.number} waits for ever"
            raise InputError(f"{self.found.path}:{step.line}", said, "steps that can all be made")
        for key, left in self.connection.items():
            if left:
                said = f"a message to GPU {key[1]} that it never receives"
                line = self.messages[left[0]].line
                raise InputError(f"{self.found.path}:{line}", said, "a step that receives it")
        self.check_end()
        return self.messages

    def ready(self, block: Block) -> bool:
        """Return whether a thread block can make its next step."""
        step = block.steps[self.done[block.gpu, block.number]]
        if step.waits[0] >= 0 and self.done[block.gpu, step.waits[0]] <= step.waits[1]:
            return False
        if step.kind in RECEIVES and not self.incoming(block):
            return False
        return step.kind not in SENDS or len(self.outgoing(block)) < SLOTS

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
        where = f"{self.found.path}:{step.line}"
        here = self.run_of(block.gpu, step.source, step.chunks)
        there = self.run_of(block.gpu, step.target, step.chunks)
        message = self.incoming(block).popleft() if step.kind in RECEIVES else -1
        self.order.make(
            block, step, self.done[block.gpu, block.number] - 1, message,
            [*(here if step.kind in READS else []), *(there if step.kind == "re" else [])],
            there if step.kind in WRITES else [],
        )  # fmt: skip
        if step.kind == "nop":
            return
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
            self.messages.append(_Sent(step.line, block.gpu, block.send, what, self.clock))

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
        """Refuse an end at which a GPU lacks a part of its output."""
        kind, each, gpus = self.found.collective, self.each, self.found.num_gpus
        everybody = frozenset(range(gpus))
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
                    raise InputError(self.found.path, said, f"chunk {chunk} of {len(goal)}")


def _program(found: Algorithm, sent: list[_Sent]) -> CollectiveProgram:
    """Return messages in steps: each after all that had come to its chunks when it was sent."""
    rows: list[tuple[_Sent, bool, list[int]]] = []
    for message in sent:
        for adds in sorted(set(message.sums)):
            both = zip(message.what, message.sums, strict=True)
            rows.append((message, adds, [what.chunk for what, summed in both if summed == adds]))
    step = _steps(found, rows)
    order = sorted(range(len(rows)), key=lambda row: (step[row], rows[row][0].received))
    if found.collective == "all-reduce":
        whole = found.per_loop
        everybody = np.full(whole, EVERYBODY, np.int32)
        size, first, final = np.full(whole, 1 / whole), everybody, everybody.copy()
    else:
        each = found.per_loop // found.num_gpus
        size, first, final = owners(found.collective, found.num_gpus, each)
    columns = [rows[row] for row in order]
    return CollectiveProgram(
        found.collective, found.name, found.num_gpus, size, 0,
        np.array([message.source for message, _, _ in columns], np.int32),
        np.array([message.target for message, _, _ in columns], np.int32),
        np.array([step[row] for row in order], np.int32),
        lists([chunks for _, _, chunks in columns], np.int32),
        np.array([adds for _, adds, _ in columns], np.bool_), first, final,
    )  # fmt: skip


def _steps(found: Algorithm, rows: list[tuple[_Sent, bool, list[int]]]) -> list[int]:
    """Return the least steps that keep the order of what happened to each chunk at each GPU."""
    events: dict[tuple[int, int], list[tuple[int, bool, int]]] = {}
    for row, (message, _, chunks) in enumerate(rows):
        for chunk in chunks:
            events.setdefault((message.source, chunk), []).append((message.sent, False, row))
            events.setdefault((message.target, chunk), []).append((message.received, True, row))
    later: list[tuple[int, int, int]] = []
    for happened in events.values():
        came = -1
        gone: list[int] = []
        for _, arrives, row in sorted(happened):
            if came >= 0:
                later.append((came, row, 0 if arrives else 1))
            if arrives:
                later += [(before, row, 0) for before in gone]
                came, gone = row, []
            else:
                gone.append(row)
    step = np.zeros(len(rows), np.int64)
    if later:
        before, after, gap = np.array(sorted(set(later)), np.int64).T
        for _ in range(len(rows) + 1):
            old = step.copy()
            np.maximum.at(step, after, step[before] + gap)
            if (old == step).all():
                break
        else:
            said = "messages that overtake each other"
            raise InputError(found.path, said, "an order in steps, where it is to be simulated")
    return [int(each) for each in step]
