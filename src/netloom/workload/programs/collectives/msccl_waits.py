"""Which messages must have arrived before a thread block of an MSCCL file sends another.

A step begins when the step before it in its thread block is done, and the one that it waits for. A
send is done when its message has arrived, a receive when its message is there. A connection has
room for a message once the one ``SLOTS`` before it has been received.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from netloom.workload.programs.collectives.msccl_parsing import Block, Step

SLOTS = 8
"""Messages that a connection holds at most: NCCL's channels have 8 slots (NCCL_STEPS)."""

Connection: TypeAlias = tuple[int, int, int]
"""From which GPU to which, and by which channel."""


class Waits:
    """What thread blocks have waited for, while steps are made one by one.

    Of each connection the last message counts: those before it have arrived before it.
    """

    def __init__(self) -> None:
        self.met: dict[tuple[int, int], dict[Connection, int]] = {}
        self.told: dict[tuple[int, int, int], dict[Connection, int]] = {}
        self.sent: dict[Connection, list[int]] = {}
        self.taken: dict[int, tuple[int, ...]] = {}

    def step(self, block: Block, step: Step, received: int) -> None:
        """Begin a step: ``received`` is the message that it takes, −1 if none."""
        met = self.met.setdefault((block.gpu, block.number), {})
        if step.waits[0] >= 0:
            for connection, message in self.told[(block.gpu, *step.waits)].items():
                met[connection] = max(met.get(connection, -1), message)
        if received >= 0:
            met[block.receive, block.gpu, block.channel] = received
            self.taken[received] = tuple(met.values())

    def send(self, block: Block, message: int) -> tuple[int, ...]:
        """Send a message in the step that has begun. Return those that arrive before it leaves."""
        connection = (block.gpu, block.send, block.channel)
        met, sent = self.met[block.gpu, block.number], self.sent.setdefault(connection, [])
        after = set(met.values())
        if len(sent) >= SLOTS:
            after.update(self.taken[sent[-SLOTS]])
        sent.append(message)
        met.clear()
        met[connection] = message
        return tuple(sorted(after))

    def end(self, block: Block, step: Step, place: int) -> None:
        """End a step, of which others may wait for."""
        if step.waited_for:
            self.told[block.gpu, block.number, place] = dict(self.met[block.gpu, block.number])
