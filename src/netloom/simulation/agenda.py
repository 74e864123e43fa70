"""What runs a program, whatever the network is: its rows, and what each of them waits for.

A program runs part by part: its source makes what is needed as it goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from netloom.base.arrays import Ints, Records
from netloom.base.errors import InputError
from netloom.simulation.steady import run_to

if TYPE_CHECKING:
    from netloom.topology import Topology
    from netloom.workload.programs.messages import Messages, Source

TIMES = ("ready", "sent", "entered", "arrived", "complete")
"""When a row was ready, sent, its head left the source, it arrived, and was complete; -1: not, or
not known yet."""

SPANS = ("delay", "run", "hold", "receive")
"""The columns of a table of messages that are times from one event to the next."""


def row_type(time: str, span: str, *own: tuple[str, str]) -> np.dtype[np.void]:
    """Return the type of a record a row, whose times and spans are of such types.

    ``own`` are the fields that an engine has besides.
    """
    fields = [
        *((name, time) for name in ("start", *TIMES)),
        ("last", "i8"),  # the row that released it by being complete; -1: none
        *((name, span) for name in SPANS),
        ("source", "i4"),
        ("target", "i4"),
        ("context", "i4"),
        ("pending", "i4"),  # rows it waits for that are not complete
        ("waiters", "i4"),  # first edge to a row that waits for it; -1: none
        ("path", "i4"),  # which is for its engine to say; -1: it does not use the network
        *own,
    ]
    return np.dtype(fields)


def clock_fields(time: str) -> list[tuple[str, str]]:
    """Return the fields of an agenda's clock, whose times are of such a type."""
    return [
        ("time", time),  # of the last event, or the next cycle to run
        ("latest", time),  # what is to happen later never does
        ("switch", time),  # for which a processor goes from one context to another
        ("completed", "i8"),  # rows complete
        ("events", "i8"),  # in the agenda
        ("apart", "i8"),  # whether the first of them is not in the heap
        ("soon", time),  # when that is
        ("what", "i8"),  # and what, as its ``item``
    ]


def idle_hosts(count: int, time: str) -> Records:
    """Return a record a processor: when it is free, and its last context (-1: none)."""
    hosts = np.zeros(count, [("free", time), ("context", "i8")])
    hosts["context"] = -1
    return hosts


EVENT = np.dtype([("key", "i4"), ("item", "i4")])
"""What is to happen to a row: the cycle, and ``row << 3 | kind``. See ``kernels.agenda``."""

SENDING = [
    ("sent", "i8"),  # rows in ``sent`` that are to enter the network in this cycle
    ("entered", "i8"),  # those of them that have
]

CLOCK = np.dtype([*clock_fields("i8"), *SENDING])
"""One record."""

ROW = row_type(
    "i8",
    "i4",
    ("flits", "i4"),
    ("coin", "i4"),  # the coin that its routing drew
    ("packets", "i4"),  # its packets in the network, where it is cut into packets
    ("hops", "i4"),  # network channels its message crosses
)
"""One record a row."""

LAST_CYCLE = 2**31 - 1
"""No run comes to this cycle, which is an int32 of the agenda."""

MOST_ROWS = 2**28
"""Most rows: an int32 of the agenda is a row and the kind of an event."""


class Agenda(NamedTuple):
    """The arrays of a program's state. See ``kernels.agenda``.

    ``sent`` takes the rows that are sent in one cycle. Edges are chained, one chain for each row
    that others wait for.
    """

    clock: Records
    rows: Records
    hosts: Records
    edge_row: Ints
    edge_next: Ints
    events: Records
    sent: Ints


Arrays = TypeVar("Arrays", bound=Any)


def with_rows(arrays: Arrays, messages: Messages, path: Ints, num_edges: int) -> tuple[Arrays, int]:
    """Append rows to the arrays of an engine. Return them, longer, and how many edges there are.

    Parameters
    ----------
    arrays
        A named tuple with the fields of ``Agenda``, perhaps without ``sent``.
    messages
        The rows, in the units of the engine.
    path
        int[len(messages)], what the engine knows their paths by; -1: they do not use the network.
    num_edges
        Edges so far.
    """
    from netloom.simulation.kernels.agenda import link

    first, last = messages.first, messages.first + len(messages)
    more = dict.fromkeys({"rows", "events", "sent"} & set(arrays._fields), last)
    more |= dict.fromkeys(("edge_row", "edge_next"), num_edges + len(messages.after))
    grown = {name: longer(getattr(arrays, name), length) for name, length in more.items()}
    arrays = arrays._replace(**grown)
    rows = arrays.rows[first:last]
    for name in ("start", *SPANS, "source", "target", "context"):
        rows[name] = getattr(messages, name)
    for name in (*TIMES, "last", "waiters"):
        rows[name] = -1
    rows["path"] = path
    return arrays, link(arrays, first, messages.after_offsets, messages.after, num_edges)


def longer(array: Records, length: int) -> Records:
    """Return an array that is long enough: at least twice as long if it has to grow."""
    if length <= len(array):
        return array
    longer = np.zeros(max(length, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


class Pairs:
    """The pairs of hosts that rows are sent between, numbered as they are found."""

    def __init__(self, num_hosts: int) -> None:
        self._num_hosts = np.int64(num_hosts)
        self._keys = np.zeros(0, np.int64)  # rising
        self._number = np.zeros(0, np.int64)  # of each of them

    def of(self, messages: Messages) -> tuple[Ints, Ints, Ints]:
        """Return the sources and the targets of new pairs, and the pair of each row by its number.

        int32[num_new] twice, and int64[num_rows]: a row that does not use the network has -1.
        """
        moving = messages.moving
        key = messages.source[moving] * self._num_hosts + messages.target[moving]
        pairs, place = np.unique(key, return_inverse=True)
        new = np.setdiff1d(pairs, self._keys, assume_unique=True)
        known = np.append(self._keys, new)
        order = np.argsort(known, kind="stable")
        self._number = np.append(self._number, len(self._keys) + np.arange(len(new)))[order]
        self._keys = known[order]
        number = np.full(len(messages), -1, np.int64)
        number[moving] = self._number[np.searchsorted(self._keys, pairs)][place]
        sources, targets = (each.astype(np.int32) for each in np.divmod(new, self._num_hosts))
        return sources, targets, number


class ProgramEngine(ABC):
    """A network and a program that it runs, and the cycle they are at."""

    topology: Topology
    num_rows: int

    @property
    @abstractmethod
    def rows(self) -> Records:
        """The records of all rows so far. See ``ROW``."""

    @property
    @abstractmethod
    def cycle(self) -> int:
        """The next cycle to be run."""

    @property
    @abstractmethod
    def completed(self) -> int:
        """How many rows are complete."""

    @property
    def complete(self) -> Ints:
        """int64[num_rows], the cycle in which each row was complete, or -1 if it is not yet."""
        return np.asarray(self.rows["complete"])

    @property
    def flit_hops(self) -> int:
        """Flits times network channels crossed."""
        return round(float(self.channel_flits().sum()))

    @abstractmethod
    def crossed(self) -> Ints:
        """Return the flits that have crossed each network channel, and then each host's.

        int64[num_network_channels + 2 * num_ports], without the hosts' where these are not known.
        """

    def channel_flits(self) -> Ints:
        """Return the flits that have crossed each network channel (int64[num_network_channels])."""
        return self.crossed()[: self.topology.num_network_channels]

    @abstractmethod
    def append(self, messages: Messages) -> None:
        """Append rows to the program.

        Raises
        ------
        NoRouteError
            If the routing has no path for a message.
        InputError
            If there are too many rows.
        """

    @abstractmethod
    def advance(self, until: int) -> None:
        """Run up to, and without, the cycle ``until``, or until all rows are complete.

        Raises
        ------
        DeadlockError
            If messages block each other for good. Names the channels.
        """


class CycleEngine(ProgramEngine):
    """What runs a program cycle by cycle.

    Parameters
    ----------
    topology
        The network.
    switch_cycles
        Cycles that a processor takes to go from one hardware context to another. It does so as
        soon as it is free, while it waits for the next row: what is ready later waits less.
    """

    def __init__(self, topology: Topology, *, switch_cycles: int = 0) -> None:
        self.topology = topology
        self.num_rows, self._num_edges = 0, 0
        clock = np.zeros(1, CLOCK)
        clock["switch"], clock["latest"] = switch_cycles, LAST_CYCLE
        rows, none, events = np.zeros(0, ROW), np.zeros(0, np.int32), np.zeros(0, EVENT)
        hosts = idle_hosts(topology.num_hosts, "i8")
        self.agenda = Agenda(clock, rows, hosts, none, none, events, none)

    @property
    def rows(self) -> Records:
        """The records of all rows so far. See ``ROW``."""
        return self.agenda.rows[: self.num_rows]

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""
        return int(self.agenda.clock["time"][0])

    @property
    def completed(self) -> int:
        """How many rows are complete."""
        return int(self.agenda.clock["completed"][0])

    def _append(self, messages: Messages, path: Ints, hops: Ints | int) -> None:
        """Append rows, each with what its path is known by and its length in channels."""
        first, last = self.num_rows, self.num_rows + len(messages)
        assert messages.first == first
        assert messages.num_nodes == len(self.agenda.hosts)
        if last >= MOST_ROWS:
            raise InputError("program", f"{last} messages", f"less than {MOST_ROWS}")
        path = np.where(messages.moving, path, -1)
        self.agenda, self._num_edges = with_rows(self.agenda, messages, path, self._num_edges)
        self.num_rows = last
        rows = self.rows[first:]
        rows["flits"], rows["hops"] = messages.flits, hops


MOST_MADE = 2**24
"""Rows after which a run ends however far it has come: some 2 GB."""


HEARING_CYCLES = 10_000
"""Cycles after which a run that is to stop does, however far its program is known."""


@dataclass(frozen=True)
class Ending:
    """The cycle that a run came to, whether that is as far as asked, or it was stopped outside."""

    cycle: int
    enough: bool
    interrupted: bool


class ProgramRun:
    """An engine and the source of its rows, which are made as the run goes on.

    ``cycle`` is what it came to. An engine whose rows are all complete waits where it is: its own
    cycle may be earlier. ``stopped`` is asked every ``HEARING_CYCLES``: whether to end at once.
    """

    def __init__(
        self, engine: ProgramEngine, source: Source, *, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.engine, self.source, self.cycle = engine, source, engine.cycle
        self._stopped = stopped

    def advance(self, until: int) -> None:
        """Have the rows made that may begin before a cycle, and run up to it."""
        more = self.source.extend(self.engine.complete, until)
        if len(more):
            self.engine.append(more)
        while self.cycle < until and not self._stopped():
            self.cycle = min(self.cycle + HEARING_CYCLES, until)
            self.engine.advance(self.cycle)


def run_program(
    engine: ProgramEngine,
    source: Source,
    *,
    enough: Callable[[Records], bool] | None = None,
    step: int = 10_000,
    most_cycles: int,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> Ending:
    """Run a program until it is complete, has come far enough, or has grown too long.

    Too long is what takes more than ``most_cycles``, or was made in parts to more than
    ``MOST_MADE`` rows.

    Parameters
    ----------
    engine, source
        An engine that has not begun, and what makes its rows.
    enough
        Whether the rows so far will do, asked after every step. Without it, a program runs until
        all of it is complete.
    step
        Least cycles from one extension of the program to the next, which is otherwise 1/8 of the
        cycles so far. A run may continue this far beyond ``enough``.
    stopped, tell
        Asked after every step whether to end at once. Told the rows complete.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.simulation.flow.network import flow_network
    >>> from netloom.simulation.flow.run import FlowProgram
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import Given, messages
    >>> there_and_back = messages(16, source=[0, 3], target=[3, 0], flits=10, after=[[], [0]])
    >>> engine = FlowProgram(flow_network(mesh(4, 4)), DimensionOrder())
    >>> run_program(engine, Given(there_and_back), most_cycles=1000)
    Ending(cycle=26, enough=True, interrupted=False)
    """
    run, cycles = ProgramRun(engine, source, stopped=stopped), min(step, most_cycles)
    begin, done = run.cycle, False
    while run_to(run, begin + cycles, step=most_cycles, stopped=stopped):
        tell(engine.completed)
        complete = engine.completed == engine.num_rows
        done = complete if enough is None else enough(engine.rows)
        if done or engine.num_rows > MOST_MADE or cycles >= most_cycles:
            return Ending(engine.cycle, done, interrupted=False)
        cycles = min(cycles + max(step, cycles // 8), most_cycles)
    return Ending(engine.cycle, done, interrupted=True)
