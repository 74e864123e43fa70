"""The arrays that a network's state is kept in, and what their records hold.

A router's input and output slots are numbered ``port * vc_stride + vc``. In the arrays of all
slots, ``router * num_slots + slot`` is a slot's *place*, and in those of all ports ``router *
num_ports + port`` a port's. A router and a slot are kept as an *address*, ``router << slot_bits |
slot``. A set of slots of a router is bits of ``words`` int64, one for small routers. A port's slots
never straddle two of them.

Records of slots come in two sizes: ``SMALL`` ones keep a small router in few lines of the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints

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
"""What is counted for the network as a whole. One record."""

MASKS = np.dtype(
    [
        ("flits", "i8"),  # input slots that hold a flit
        ("active", "i8"),  # input slots whose packet owns an output slot
        ("credit", "i8"),  # input slots whose output slot is open (true of active ones)
        ("waiting", "i8"),  # input slots whose head asks for an output slot
        ("free", "i8"),  # output slots that no packet owns
        ("open", "i8"),  # output slots that have credit, of a port that may send
        ("trying", "i8"),  # input slots in an attempt of switch allocation, where ``staged``
        ("bidding", "i8"),  # input slots in an attempt of VC allocation, where ``staged``
    ]
)
"""One record a router and word, a line of the cache: sets of its slots."""


class Sizes(NamedTuple):
    """The types of numbers: of flits in a buffer, places in a ring, slots, ports and VCs."""

    flits: str
    places: str
    slots: str
    ports: str


SMALL, LARGE = Sizes("i2", "u1", "u1", "u1"), Sizes("i4", "i4", "u2", "u2")


def input_record(sizes: Sizes) -> np.dtype[Any]:
    """Return the record of an input slot."""
    return np.dtype(
        [
            ("count", sizes.flits),  # flits in the buffer
            ("left", sizes.flits),  # flits that the current packet has yet to send on; 0: none
            ("front", sizes.places),  # place of the current packet in the slot's ring of packets
            ("out", sizes.slots),  # output slot that the current packet owns
            ("out_port", sizes.ports),  # its port
            ("accept", sizes.slots),  # where the next acceptance of VC allocation begins to look
        ],
        align=True,
    )


def output_record(sizes: Sizes) -> np.dtype[Any]:
    """Return the record of an output slot.

    From place ``source_slots`` on, there is one for each VC of each injection channel: the source's
    view of an injection slot.
    """
    return np.dtype(
        [
            ("credits", sizes.flits),  # free places in the buffer at the other end
            ("back", sizes.places),  # place behind the last packet in the ring at the other end
            ("owner", sizes.slots),  # input slot that owns this one
            ("grant", sizes.slots),  # where the next grant of VC allocation begins to look
        ],
        align=True,
    )


def port_record(sizes: Sizes) -> np.dtype[Any]:
    """Return the record of a port number: of the input and the output port of it."""
    return np.dtype(
        [
            ("bound", "i8"),  # output: input slots whose packets own a slot of it, of one word
            ("crossed", "i4"),  # output: flits sent
            ("down", "i4"),  # output: address of the first input slot at the other end; -1: an exit
            ("up", "i4"),  # input: place of the first output slot (or source's VC) at the other end
            ("grant", sizes.slots),  # output: where the next grant begins to look, among slots
            ("accept", sizes.ports),  # input: where the next acceptance begins, among output ports
            ("turn", "u1"),  # input: which of its VCs is the next to send
            ("next_vc", "u1"),  # output: which VC the next speculative head takes
        ],
        align=True,
    )


LINE = np.dtype(
    [
        ("ready", "i8"),  # when it may send again, in cycles times ``share``
        ("flit", "i4"),  # output: from winning the switch to the other end's buffer, or the sink
        ("credit", "i4"),  # input: from winning the switch to the credit's use at the other end
        ("share", "i4"),  # output: of ``whole`` cycles, those in which it can send a flit
        ("whole", "i4"),
        ("depth", "i4"),  # output: flits that the buffer of a VC at the other end holds
    ]
)
"""One record a port and, behind them, one an injection channel, where lines are ``uneven``."""

ENTRY = np.dtype(
    [
        ("packet", "i4"),  # being sent; -1: none
        ("unsent", "i4"),  # its flits not yet sent
        ("resume", "i4"),  # first cycle in which it may go on (circuits); with reserved VCs: turn
        ("vc", "i4"),  # the VC it goes to; where none is sent, the last one used
        ("first", "i4"),  # address of the first injection slot
    ]
)
"""One record an injection channel. With reserved VCs, one for each of its VCs."""

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
        ("sink", "i4"),  # host port that it goes to, where hosts hang on routers
        ("way", "i4"),  # what its routing by hop remembers
        ("back", "i4"),  # cycles of a circuit's answer from where its probe is
    ]
)
"""One record a packet that is queued or in the network."""

DELIVERED = ("number", "birth", "entry", "arrival", "source", "target", "hops", "flits")
LOG = np.dtype([(name, "i4") for name in (*DELIVERED, "row")])
"""One record a delivered packet."""

# Why the kernel came back.
DONE, PACKETS_FULL, LOG_FULL, STUCK = 0, 1, 2, 3


SIGN = 16
"""Numbers of a region's own in ``State.signs``: the cycle that it has come to and, twice, the last
in which a flit moved there, and its free records of packets. They fill lines of the cache."""


class Setup(NamedTuple):
    """What does not change during a run: sizes, delays in cycles, and the kind of router.

    Routers are ``staged`` if an attempt of either allocation takes several cycles. ``divided``
    networks have a processor for each of ``regions``, which runs one ``region``. The
    fields from ``words`` on go with the kind of router. See ``kernels.network.compiled``.
    """

    region: int
    regions: int
    num_nodes: int
    num_sources: int
    source_slots: int
    arrivals_each: int
    credits_each: int
    heads_each: int
    wakes_each: int
    wheel: int
    patience: int
    num_ports: int
    network_ports: int
    num_vcs: int
    vc_stride: int
    num_slots: int
    slot_bits: int
    port_bits: int
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
    lazy: int
    vc_cycles: int
    switch_cycles: int
    words: int
    uneven: bool
    counted: bool
    staged: bool
    whole_packets: bool
    whole_first: bool
    circuit: bool
    reserved: bool
    speculative: bool
    oldest_first: bool
    choose_order: bool
    divided: bool


PLAIN = (1, *(False,) * 11)
"""What a plain router of a direct network has for the fields from ``words`` on."""

PLAIN_HOPS = (False,) * 9
"""What a plain router has for the fields from ``staged`` on."""


def _known(values: tuple[int, ...]) -> dict[str, int]:
    """Return the last fields of ``Setup`` by name."""
    return dict(zip(Setup._fields[-len(values) :], values, strict=True))


class PlainSetup(Setup):
    """The set-up of plain routers of a direct network."""

    KNOWN: ClassVar[dict[str, int]] = _known(PLAIN)


class PlainHopsSetup(Setup):
    """The set-up of plain routers with any number of slots and any channels."""

    KNOWN: ClassVar[dict[str, int]] = _known(PLAIN_HOPS)


class OtherSetup(Setup):
    """The set-up of routers of any kind."""

    KNOWN: ClassVar[dict[str, int]] = _known((False,))


class RegionSetup(Setup):
    """The set-up of a region of a network that ``PlainSetup`` would be that of."""

    KNOWN: ClassVar[dict[str, int]] = _known((*PLAIN[:-1], True))


KINDS: tuple[type[Setup], ...] = (PlainSetup, PlainHopsSetup, OtherSetup)
"""The kinds of routers for which a kernel of their own is compiled. The last one is any."""


def known_of(kind: type[Setup]) -> tuple[int, ...]:
    """Return the last fields of a set-up, as far as its kind tells them."""
    return tuple(getattr(kind, "KNOWN", {}).values())


OF_WORDS = ("ready", "early", "left", "offered", "asked", "contested")
OF_SLOTS = ("wanted", "wanted_at", "granted")
"""The scratch of ``State`` with a number for each word of slots, and for each slot."""


class State(NamedTuple):
    """What changes. Allocated once, but for packets and log, which may grow.

    ``borders`` are the first router of each region, and the number of routers. ``signs`` say how
    far each of those who run them is, ``SIGN`` numbers each. Wheels of flits and credits have a
    part for each region that sends and each that takes.

    Wheels (``arrivals``, ``credits``, ``heads``) hold what is due in each of the coming cycles, and
    ``*_due`` how much of it there is. ``allowed`` holds the output slots that each input slot's
    current packet may take, word after word. ``used`` holds the flits sent into each port whose
    credits have not come back, if they are ``counted`` (by ``router << port_bits | port``).
    ``bound`` holds the input slots whose packets own a slot of an output port, if these need
    several words. ``lines`` holds the channels' own delays and rates, if they are ``uneven``.
    ``wakes`` holds the ports that may send again. If routers are ``staged``,
    ``moving`` is a wheel of the winners whose flits leave in each of the coming cycles. ``tries``
    and ``bids`` hold the input slots whose attempts of switch and VC allocation began in each of
    the last cycles, ``claims`` those of ``bids`` that got a VC. The last arrays are scratch
    of one cycle or one router; between two uses ``best`` and ``taken`` are -1 and ``named`` is 0.
    """

    clock: Records
    borders: Ints
    signs: Ints
    masks: Records
    inputs: Records
    outputs: Records
    ports: Records
    entries: Records
    packets: Records
    log: Records
    allowed: Ints
    rings: Ints
    queue_front: Ints
    queue_back: Ints
    connections: Ints
    active: Ints
    sources: Ints
    arrivals: NDArray[np.uint32]
    arrivals_due: Ints
    credits: Ints
    credits_due: Ints
    heads: NDArray[np.uint32]
    heads_due: Ints
    wakes: NDArray[np.uint32]
    wakes_due: Ints
    fronts: NDArray[np.uint32]
    winners: NDArray[np.uint32]
    moving: NDArray[np.uint32]
    moving_due: Ints
    tries: Ints
    bids: Ints
    claims: Ints
    bound: Ints
    lines: Records
    used: Ints
    port_offsets: Ints
    port_of: Ints
    ready: Ints
    early: Ints
    left: Ints
    offered: Ints
    asked: Ints
    contested: Ints
    wanted: Ints
    wanted_at: Ints
    granted: Ints
    best: Ints
    requests: Ints
    guesses: Ints
    outs: Ints
    named: Ints
    taken: Ints
