"""The messages of a transaction, as data: who sends what to whom, after what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from netloom.base.errors import InputError


@dataclass(frozen=True)
class Step:
    """One message of a transaction."""

    kind: str  # its name, such as ``REQ``; no two of a transaction have the same
    # ``thread``: the one whose transaction it is sends the message to its neighbour. ``neighbour``:
    # the other way round.
    sender: Literal["thread", "neighbour"]
    flits: int  # length
    after: str = ""  # the step that this one answers; empty: the transaction begins with it
    # From the completion of that step until this one is sent: what its sender does meanwhile keeps
    # no processor busy.
    delay_cycles: int = 0


@dataclass(frozen=True)
class Transaction:
    """A transaction: its thread goes on when all its steps are complete."""

    name: str  # such as ``read``
    steps: tuple[Step, ...]  # in an order in which each comes after the one that it answers
    # ``each``: a pass through the thread's loop has one transaction with each neighbour, one after
    # the other. ``all``: it has a single one, with all neighbours at the same time.
    partners: Literal["each", "all"] = "each"


@dataclass(frozen=True)
class Protocol:
    """What a thread does in one pass through its loop.

    Raises
    ------
    InputError
        If there is nothing to do, a step answers none that comes before it, or a number is out
        of range.

    Examples
    --------
    >>> Protocol("push", (Transaction("write", (Step("ACK", "neighbour", 8, after="DATA"),)),))
    Traceback (most recent call last):
        ...
    netloom.InputError: protocol push, write: found ACK after 'DATA'; expected a step that
    comes before it
    """

    name: str  # named in errors
    transactions: tuple[Transaction, ...]  # in order

    def __post_init__(self) -> None:
        if not self.transactions:
            raise InputError(f"protocol {self.name}", "no transactions", "at least one")
        for transaction in self.transactions:
            _check(transaction, f"protocol {self.name}, {transaction.name}")


def coherence(*, memory_cycles: int = 0, control_flits: int = 8, data_flits: int = 24) -> Protocol:
    """Return the cache-coherency traffic of Johnson's synthetic program on Alewife.

    A thread reads the state of each neighbour by a request to the neighbour's memory, which sends
    the line after ``memory_cycles``. Then it writes its own state. This invalidates the copies of
    all neighbours, and each of them acknowledges (Johnson 1992, section 3.2). With four neighbours,
    5 transactions take 16 messages. So g = 3.2, with B = 12 flits on average, as in the paper.
    Messages have 8 flits (a header of 8 bytes) or 24 (with a line of 16 bytes) on channels of 8
    bits. The paper does not print these sizes; they are derived from g and B.

    Examples
    --------
    >>> [transaction.name for transaction in coherence().transactions]
    ['read', 'write']
    """
    request = Step("REQ", "thread", control_flits)
    data = Step("DATA", "neighbour", data_flits, after="REQ", delay_cycles=memory_cycles)
    invalidate = Step("INV", "thread", control_flits)
    acknowledge = Step("ACK", "neighbour", control_flits, after="INV")
    read = Transaction("read", (request, data))
    return Protocol("coherence", (read, Transaction("write", (invalidate, acknowledge), "all")))


def request_reply(
    *, request_flits: int = 12, reply_flits: int = 12, memory_cycles: int = 0
) -> Protocol:
    """Return the simplest transactions: a request to a neighbour, and its reply.

    Examples
    --------
    >>> len(request_reply().transactions[0].steps)
    2
    """
    request = Step("REQ", "thread", request_flits)
    reply = Step("REPLY", "neighbour", reply_flits, after="REQ", delay_cycles=memory_cycles)
    return Protocol("request-reply", (Transaction("request", (request, reply)),))


def _check(transaction: Transaction, where: str) -> None:
    if not transaction.steps:
        raise InputError(where, "no steps", "at least one")
    if transaction.partners not in ("each", "all"):
        raise InputError(where, f"partners '{transaction.partners}'", "each or all")
    before: set[str] = set()
    for step in transaction.steps:
        if step.sender not in ("thread", "neighbour"):
            found = f"{step.kind} sent by '{step.sender}'"
            raise InputError(where, found, "thread or neighbour")
        if step.after and step.after not in before:
            found = f"{step.kind} after '{step.after}'"
            raise InputError(where, found, "a step that comes before it")
        if step.kind in before or not step.kind:
            raise InputError(where, f"two steps {step.kind}", "a name for each")
        if step.flits < 1 or step.delay_cycles < 0:
            found = f"{step.kind} of {step.flits} flits after {step.delay_cycles} cycles"
            raise InputError(where, found, "at least 1 flit, and no negative delay")
        before.add(step.kind)
