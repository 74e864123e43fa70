"""Races of an MSCCL file: steps of two thread blocks that touch a chunk in either order.

Some steps surely come before a step: those before it in its thread block, the one that it waits
for, the send of what it receives, and all before these. Each thread block counts how far the others
have surely come. Two unordered steps race if one writes what the other reads or writes, however the
execution went (Lamport's order with vector clocks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from netloom.base.arrays import Ints
    from netloom.workload.programs.collectives.msccl_parsing import Algorithm, Block, Step

MOST_COUNTS = 50_000_000
"""Most numbers that are kept. Races of larger files are not looked for."""


class Order:
    """How far each thread block knows the others to be, while steps are made one by one."""

    def __init__(self, found: Algorithm, blocks: Sequence[Block]) -> None:
        self.path = found.path
        self.number = {(block.gpu, block.number): place for place, block in enumerate(blocks)}
        tells = sum(step.waited_for for block in blocks for step in block.steps)
        self.looks = len(blocks) * (len(blocks) + tells) <= MOST_COUNTS
        many = len(blocks) if self.looks else 0
        self.known = np.zeros((many, many), np.int32)
        self.told: dict[tuple[int, int], Ints] = {}
        self.sent: dict[int, Ints] = {}
        self.writer: dict[Hashable, tuple[int, int, int]] = {}
        self.readers: dict[Hashable, list[tuple[int, int, int]]] = {}

    def make(
        self, block: Block, step: Step, place: int, received: int,
        reads: Sequence[Hashable], writes: Sequence[Hashable],
    ) -> None:  # fmt: skip
        """Make a step: ``received`` is the message that it takes, −1 if none.

        Raises
        ------
        InputError
            If it races with a step that has been made.
        """
        if not self.looks:
            return
        own = self.number[block.gpu, block.number]
        known = self.known[own]
        if step.waits[0] >= 0:
            other = self.number[block.gpu, step.waits[0]]
            np.maximum(known, self.told[other, step.waits[1]], out=known)
        if received >= 0:
            np.maximum(known, self.sent.pop(received), out=known)
        here = (own, place, step.line)
        for cell in reads:
            self.check(here, [self.writer[cell]] if cell in self.writer else [])
            self.readers.setdefault(cell, []).append(here)
        for cell in writes:
            before = self.readers.pop(cell, [])
            self.check(here, [*before, *([self.writer[cell]] if cell in self.writer else [])])
            self.writer[cell] = here
        known[own] = place + 1
        if step.waited_for:
            self.told[own, place] = known.copy()

    def send(self, block: Block, message: int) -> None:
        """Let a message carry what its sender knows."""
        if self.looks:
            self.sent[message] = self.known[self.number[block.gpu, block.number]].copy()

    def check(self, here: tuple[int, int, int], before: list[tuple[int, int, int]]) -> None:
        """Refuse a step of which it is not certain that these came before it."""
        own, _, line = here
        for other, place, elsewhere in before:
            if other != own and self.known[own, other] <= place:
                said = f"a race with line {elsewhere}, which touches the same chunk"
                raise InputError(f"{self.path}:{line}", said, "one that waits for the other")
