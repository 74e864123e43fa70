"""The arrays that a network's state is kept in, and what their records hold.

A router's input and output slots are numbered ``port * num_vcs + vc``; in the arrays of all slots,
``node * num_slots + slot`` is a slot's place. Sets of slots are bits of an int64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Records: TypeAlias = NDArray[Any]

CLOCK = np.dtype(
    [
        ("cycle", "i8"),  # the next to run
        ("last_move", "i8"),  # the last in which a flit moved
        ("created", "i8"),  # packets created
        ("taken", "i8"),  # packets taken of those given to this call
        ("delivered", "i8"),  # packets whose tail has left (or is on an ejection channel)
        ("injected", "i8"),  # flits that have left their source
        ("ejected", "i8"),  # flits that have left (or are on an ejection channel)
        ("link_hops", "i8"),  # flits that have crossed a network channel (or are on one)
        ("free_packet", "i8"),  # first free record of packets; -1: none
        ("free_packets", "i8"),  # how many there are
        ("logged", "i8"),  # records in the log
        ("fronts", "i8"),  # slots in fronts
        ("winners", "i8"),  # slots in winners
    ]
)
"""What is counted for the network as a whole; one record."""

MASKS = np.dtype(
    [
        ("flits", "i8"),  # input slots that hold a flit
        ("active", "i8"),  # input slots whose packet owns an output slot
        ("credit", "i8"),  # input slots whose output slot has credit (true of active ones)
        ("waiting", "i8"),  # input slots whose head asks for an output slot
        ("free", "i8"),  # output slots that no packet owns
        ("open", "i8"),  # output slots that have credit
        ("unused", "2i8"),  # a router's record is a line of the cache
    ]
)
"""One record a router: sets of its slots."""

INPUT = np.dtype(
    [
        ("count", "i2"),  # flits in the buffer
        ("left", "i2"),  # flits that the current packet has yet to send on; 0: there is none
        ("front", "u1"),  # place of the current packet in the slot's ring of packets
        ("out", "u1"),  # output slot that the current packet owns
        ("out_port", "u1"),  # its port
        ("accept", "u1"),  # where the next acceptance of VC allocation begins to look
    ]
)
"""One record an input slot."""

OUTPUT = np.dtype(
    [
        ("credits", "i2"),  # free places in the buffer at the other end
        ("back", "u1"),  # place behind the last packet in the ring at the other end
        ("owner", "u1"),  # input slot that owns this one
        ("grant", "u1"),  # where the next grant of VC allocation begins to look
        ("unused", "u1"),
    ]
)
"""One record an output slot; from place ``source_slots`` on, one for each VC of each injection
channel: the source's view of an injection slot."""

PORT = np.dtype(
    [
        ("bound", "i8"),  # output: input slots whose packets own a slot of it
        ("crossed", "i4"),  # output: flits sent
        ("down", "i4"),  # output: first input slot at the other end, node << 6 | slot
        ("up", "i4"),  # input: place of the first output slot (or source's VC) at the other end
        ("grant", "u1"),  # output: where the next grant begins to look, among input slots
        ("accept", "u1"),  # input: where the next acceptance begins to look, among output ports
        ("turn", "u1"),  # input: which of its VCs is the next to send
        ("next_vc", "u1"),  # output: which VC the next speculative head takes
    ]
)
"""One record a port number: the input and the output port of it."""

ENTRY = np.dtype(
    [
        ("packet", "i4"),  # being sent; -1: none
        ("unsent", "i4"),  # its flits not yet sent
        ("resume", "i4"),  # first cycle in which it may go on (circuits); with reserved VCs: turn
        ("vc", "i4"),  # the VC it goes to; where none is sent, the last one used
    ]
)
"""One record an injection channel; with reserved VCs, one for each of its VCs."""

BORN = ("birth", "source", "target", "flits", "coin", "aux")
"""What is given of a packet: cycle of creation, nodes, length, and what its routing drew."""

PACKET = np.dtype(
    [
        *((name, "i4") for name in BORN),
        ("next", "i4"),  # the packet behind it in its source's queue, or the next free record
        ("routers", "i4"),  # routers in which its route has been computed
        ("entry", "i4"),  # cycle in which its head left the source
        ("number", "i4"),  # how many packets were created before it
        ("channel", "i4"),  # injection channel it left by
        ("row", "i4"),  # of the program that it is a packet of
    ]
)
"""One record a packet that is queued or in the network."""

DELIVERED = ("number", "birth", "entry", "arrival", "source", "target", "hops", "flits")
LOG = np.dtype([(name, "i4") for name in (*DELIVERED, "row")])
"""One record a delivered packet."""

# Why the kernel came back.
DONE, PACKETS_FULL, LOG_FULL, STUCK = 0, 1, 2, 3


class Setup(NamedTuple):
    """What does not change during a run: sizes, delays in cycles, and the kind of router."""

    num_nodes: int
    num_ports: int
    network_ports: int
    num_vcs: int
    num_slots: int
    source_slots: int
    all_vcs: int
    preferred: int
    roomy: int
    buffer_flits: int
    ring: int
    entry_channels: int
    head_wait: int
    flit_delay: int
    credit_delay: int
    entry_delay: int
    entry_credit_delay: int
    exit_delay: int
    wheel: int
    arrivals_each: int
    credits_each: int
    heads_each: int
    lazy: int
    patience: int
    whole_packets: bool
    whole_first: bool
    circuit: bool
    reserved: bool
    speculative: bool
    oldest_first: bool
    choose_order: bool


PLAIN = (False,) * 7
"""What a plain router has for the fields at the end of ``Setup``."""


class State(NamedTuple):
    """What changes; allocated once, but for packets and log, which may grow.

    Wheels (``arrivals``, ``credits``, ``heads``) hold what is due in each of the coming cycles, and
    ``*_due`` how much of it there is. ``allowed`` holds the output slots that each input slot's
    current packet may take. The last arrays are scratch of one cycle or one router.
    """

    clock: Records
    masks: Records
    inputs: Records
    outputs: Records
    ports: Records
    entries: Records
    packets: Records
    log: Records
    allowed: NDArray[np.int64]
    rings: NDArray[np.int32]
    queue_front: NDArray[np.int32]
    queue_back: NDArray[np.int32]
    connections: NDArray[np.int32]
    active: NDArray[np.int64]
    sources: NDArray[np.int64]
    arrivals: NDArray[np.uint32]
    arrivals_due: NDArray[np.int64]
    credits: NDArray[np.int32]
    credits_due: NDArray[np.int64]
    heads: NDArray[np.uint32]
    heads_due: NDArray[np.int64]
    fronts: NDArray[np.uint32]
    winners: NDArray[np.uint32]
    port_of: NDArray[np.int64]
    wanted: NDArray[np.int64]
    granted: NDArray[np.int64]
    requests: NDArray[np.int64]
    early: NDArray[np.int64]
    taken: NDArray[np.int64]
