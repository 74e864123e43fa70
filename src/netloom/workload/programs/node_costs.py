"""What messages cost at their ends: software, and protocols.

What a message costs at its two ends: start-up, packets, and the channel to the router.

Chittor 1991, chapter 4. All that enters and leaves a node goes through one channel between its
processing element and its router, and through the software that feeds it. Here that is one
server, which takes each packet, in or out, first come first served. It is the bottleneck of the
Symult 2010.

The messages of a transaction, as data: who sends what to whom, after what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.workload.programs.messages import COLUMNS, Messages, checked


@dataclass(frozen=True)
class NodeCosts:
    """The cost of messages that meet no other. Times in µs.

    A message of one packet takes ``alpha_us + byte_us * bytes`` from one processing element to
    another. A longer one is cut into packets of ``packet_bytes``, each of which costs
    ``packet_us``. The last one, if it is shorter, as much less as its bytes are fewer.

    Raises
    ------
    InputError
        If a value is negative, or one that is a size or a cycle is 0, or a full packet costs less
        than its bytes do.

    Examples
    --------
    The Symult 2010 (Chittor 1991, sections 4.2.1 and 4.3): 4096 bytes are 16 packets.

    >>> symult = NodeCosts(210.2, 256, 39.3, 0.0577, 0.05)
    >>> symult.message_us([100, 4096]).round(2)
    array([215.97, 839.  ])
    """

    alpha_us: float  # start-up of a message, α
    packet_bytes: int  # most bytes of a packet
    packet_us: float  # a full packet, if it is one of several: overhead and channel
    byte_us: float  # the channel with what feeds it, a byte
    cycle_us: float  # the time in which a network channel carries a flit
    flit_bytes: int = 1  # bytes of a flit

    def __post_init__(self) -> None:
        for name in ("packet_bytes", "cycle_us", "flit_bytes"):
            if not getattr(self, name) > 0:
                raise InputError(name, f"{getattr(self, name)}", "above 0")
        for name in ("alpha_us", "byte_us"):
            if not getattr(self, name) >= 0:
                raise InputError(name, f"{getattr(self, name)}", "a number that is not negative")
        least = self.packet_bytes * self.byte_us
        if not self.packet_us >= least:
            raise InputError("packet_us", f"{self.packet_us}", f"at least {least:g}, for its bytes")

    @property
    def channel_byte_us(self) -> float:
        """What a byte takes on a network channel, µs."""
        return self.cycle_us / self.flit_bytes

    def packets(self, message_bytes: ArrayLike) -> Ints:
        """Return how many packets each message is cut into (int64, at least 1)."""
        return np.maximum(-(-np.asarray(message_bytes, np.int64) // self.packet_bytes), 1)

    def server_us(self, message_bytes: ArrayLike) -> Floats:
        """Return how long the packets of each message take a server (float64), without α."""
        sizes = np.asarray(message_bytes, np.int64)
        count = self.packets(sizes)
        overhead = self.packet_us - self.packet_bytes * self.byte_us
        time = sizes.astype(np.float64) * self.byte_us
        time += np.where(count > 1, count * overhead, 0.0)
        return time

    def message_us(self, message_bytes: ArrayLike) -> Floats:
        """Return what each message takes if it meets no other (float64), but for its path.

        Its path adds a cycle per hop, and those of the switching.
        """
        return self.alpha_us + self.server_us(message_bytes)

    def applied(self, message_bytes: int, think_us: float) -> float:
        """Return the applied traffic of a loop of two messages and a computation (eq. 4.3).

        λ_a = (L / B) / (t + 2 (α + β L)): the share of the time in which the channel of a node
        sends, if no message meets another.

        Examples
        --------
        Section 4.3 has 4096 bytes and a computation of 1 ms: 2679 µs a loop, 7.65 %.

        >>> symult = NodeCosts(210.2, 256, 0.1536 * 256, 0.0577, 0.05)
        >>> round(symult.applied(4096, 1000), 5)
        0.07646
        """
        channel_us = message_bytes * self.channel_byte_us
        return float(channel_us / (think_us + 2 * self.message_us(message_bytes)))


def packetised(table: Messages, costs: NodeCosts) -> tuple[Messages, Ints]:
    """Return the packets of a table of messages, with what they cost the servers of both ends.

    The processor of a node stands for its server. Each packet takes that of its source from the
    moment it is sent, and that of its target as long after it has arrived. The first packet of a
    message takes both of them α longer, less the cycles of its own flits, which α as measured
    includes. So the packets follow each other at the pace of the servers. A message that meets no
    other takes ``costs.message_us`` and the cycles of its path, rounded up for each packet. Two
    messages that cross take the servers twice as long.

    Parameters
    ----------
    table
        Messages whose ``flits`` are *bytes*, numbered from 0. Rows of 0 bytes are computations.
        ``hold`` and ``receive`` are 0: they come from ``costs``.
    costs
        Of all nodes.

    Returns
    -------
    packets
        The packets of each row in a row, and after those of a message that has several, a row
        without flits which is complete when they all are. Rows that wait for the message wait for
        that one.
    ends
        int64[len(table)], the row of ``packets`` that is complete when the message is.

    Examples
    --------
    >>> from netloom.workload.programs.messages import messages
    >>> costs = NodeCosts(alpha_us=20, packet_bytes=256, packet_us=32, byte_us=0.1, cycle_us=0.05)
    >>> packets, ends = packetised(messages(2, source=0, target=1, flits=[512, 100]), costs)
    >>> packets.flits, packets.hold, ends
    (array([256, 256,   0, 100], dtype=int32), array([784, 640,   0, 500], dtype=int32),
     array([2, 3]))
    """
    assert table.first == 0
    assert not table.hold.any()
    assert not table.receive.any()
    sizes = table.flits.astype(np.int64)
    sends = sizes > 0
    count = np.where(sends, costs.packets(sizes), 1)
    rows = count + (count > 1)
    check_size(int(rows.sum()), where="message_bytes", what="packets")
    ends = np.cumsum(rows) - 1
    message = np.repeat(np.arange(len(table)), rows)
    place = np.arange(len(message)) - (ends - rows + 1)[message]
    joins = place == count[message]
    columns = {name: getattr(table, name)[message] for name in COLUMNS}
    columns.update(_costs(costs, sizes[message], count[message], place, joins))
    for name, other in (("start", 0), ("delay", 0), ("context", -1)):
        columns[name] = np.where(joins, other, columns[name])
    columns["run"] = np.where(place == 0, columns["run"], 0)
    columns["source"] = np.where(joins, columns["target"], columns["source"])
    # `after` and `after_offsets` of the packets of a table of messages
    degree = np.where(joins, count[message], np.diff(table.after_offsets)[message])
    offsets = np.concatenate([[0], np.cumsum(degree)])
    row = np.repeat(np.arange(len(message)), degree)
    step = np.arange(len(row)) - offsets[row]
    after = row - 1 - step  # of a join: all packets of its message
    waits = ~joins[row]
    begin = table.after_offsets[message[row[waits]]]
    after[waits] = ends[table.after[begin + step[waits]]]
    typed = {name: column.astype(COLUMNS[name]) for name, column in columns.items()}
    made = Messages(table.num_nodes, 0, **typed, after_offsets=offsets, after=after)
    return checked(made), ends


def _costs(costs: NodeCosts, size: Ints, count: Ints, place: Ints, joins: Bools) -> dict[str, Ints]:
    """The columns of packet number ``place`` of ``count`` of a message of ``size`` bytes."""
    part = np.clip(size - place * costs.packet_bytes, 0, costs.packet_bytes)
    flits = -(-part // costs.flit_bytes)
    overhead = costs.packet_us - costs.packet_bytes * costs.byte_us
    server_us = part * costs.byte_us + np.where(count > 1, overhead, 0.0)
    startup_us = np.where(place == 0, np.maximum(costs.alpha_us - flits * costs.cycle_us, 0), 0)
    cycles = np.rint((server_us + startup_us) / costs.cycle_us).astype(np.int64)
    cycles = np.where((size > 0) & ~joins, cycles, 0)
    return {"flits": flits, "hold": cycles, "receive": cycles}


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
