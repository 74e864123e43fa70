"""Messages that wait for each other, event by event, written for the reader.

Every row of a table of messages goes through four events: it is ready, sent, arrived, complete.
Most times follow from each other; only how long a message takes through the network is for the
network to say. Events are handled in the order of (cycle, row, kind), all those of a cycle before
the network runs that cycle.
"""

import heapq
from dataclasses import dataclass

READY, SEND, ARRIVED, COMPLETE = range(4)

FIELDS = ("ready", "sent", "arrived", "complete", "last")


@dataclass(eq=False)
class Row:
    """One row of the table, and the cycles in which things happened to it; -1: not yet."""

    start: int
    delay: int
    run: int
    source: int
    target: int
    flits: int
    hold: int
    receive: int
    context: int
    after: list
    missing: int = 0  # dependences that are not complete
    ready: int = -1
    sent: int = -1
    arrived: int = -1
    complete: int = -1
    entered: int = -1  # the cycle in which its head left the source, which the network says
    last: int = -1  # the dependence that was complete last


@dataclass(eq=False)
class Processor:
    """A node's processor: it does one thing at a time, first come first served."""

    free: int = 0
    context: int | None = None

    def take(self, cycle, *, before, after=0, context=-1, switch_cycles=0):
        """Be busy for ``before`` cycles, then ``after``; return when ``before`` is over.

        A switch from one context to another begins as soon as the processor is free.
        """
        free = self.free
        if context >= 0:
            if self.context not in (None, context):
                free += switch_cycles
            self.context = context
        begin = max(cycle, free)
        self.free = begin + before + after
        return begin + before


class Agenda:
    """All rows, and what is to happen to them when."""

    def __init__(self, num_nodes, switch_cycles=0):
        self.processors = [Processor() for _ in range(num_nodes)]
        self.switch_cycles = switch_cycles
        self.rows, self.waiters = [], []
        self.events = []  # heap of (cycle, row, kind)
        self.completed = 0
        self.entering = []  # rows that enter the network in this cycle

    def append(self, table, now, *, number=int):
        """Add the rows of a table of messages; nothing is to happen before ``now`` any more.

        ``number`` is the type of their times and lengths.
        """
        assert table.first == len(self.rows)
        for i in range(len(table)):
            place = len(self.rows)
            after = table.after[table.after_offsets[i] : table.after_offsets[i + 1]].tolist()
            names = Row.__dataclass_fields__.keys() & set(vars(table)) - {"after"}
            row = Row(after=after, **{name: getattr(table, name)[i].item() for name in names})
            for name in ("start", "delay", "run", "hold", "receive", "flits"):
                setattr(row, name, number(getattr(row, name)))
            self.rows.append(row)
            self.waiters.append([])
            for other in after:
                if self.rows[other].complete < 0:
                    self.waiters[other].append(place)
                    row.missing += 1
            if not row.missing:
                self.release(place, now)

    def release(self, number, cycle):
        """All that the row waits for is complete: it will be ready, in ``cycle`` or later."""
        row = self.rows[number]
        done = max(((self.rows[other].complete, other) for other in row.after), default=(0, -1))
        released, row.last = done
        self.put(max(cycle, max(released, row.start) + row.delay), number, READY)

    def put(self, cycle, number, kind):
        heapq.heappush(self.events, (cycle, number, kind))

    def run(self, cycle):
        """Handle the events of a cycle; return the rows that enter the network in it."""
        self.entering = []
        handlers = {READY: self.ready, SEND: self.send, ARRIVED: self.arrive, COMPLETE: self.end}
        while self.events and self.events[0][0] <= cycle:
            when, number, kind = heapq.heappop(self.events)
            assert when == cycle
            handlers[kind](cycle, number)
        return self.entering

    def ready(self, cycle, number):
        row = self.rows[number]
        row.ready = cycle
        if row.run == row.hold == 0 and row.context < 0:
            self.send(cycle, number)
            return
        send = self.processors[row.source].take(
            cycle,
            before=row.run,
            after=row.hold,
            context=row.context,
            switch_cycles=self.switch_cycles,
        )
        self.put(send, number, SEND)

    def send(self, cycle, number):
        row = self.rows[number]
        row.sent = cycle
        if row.flits == 0 or row.source == row.target:
            self.arrive(cycle, number)
        else:
            self.entering.append(number)

    def arrive(self, cycle, number):
        row = self.rows[number]
        row.arrived = cycle
        if row.receive == 0:
            self.end(cycle, number)
        else:
            done = self.processors[row.target].take(cycle, before=row.receive)
            self.put(done, number, COMPLETE)

    def end(self, cycle, number):
        self.rows[number].complete = cycle
        self.completed += 1
        for waiter in self.waiters[number]:
            self.rows[waiter].missing -= 1
            if not self.rows[waiter].missing:
                self.release(waiter, cycle)
