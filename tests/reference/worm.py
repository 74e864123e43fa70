"""Worms that move in lockstep, cycle by cycle, written for the reader.

A message of L flits crosses a path of D channels, one worm a channel at a time. A worm moves as a
whole, by one flit, or stands still: its head asks for the next channel, cycle after cycle, until
it is granted. The tail leaves channel j with move L + j; the channel is idle from the next cycle
on, or, with ``release_cycles`` = 1, one move later. Circuit switching sends a head ahead that
holds what it is granted; when it holds the whole path an acknowledgement comes back, D cycles,
and then the message moves, unhindered.

The rules are those of Chittor's simulator (thesis, chapter 5).
"""

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf

from tests.reference.agenda import ARRIVED, FIELDS, Agenda

POLICIES = ("timestamp", "fifo", "fifo-lru", "biased", "source")


class StuckError(Exception):
    """Worms that wait for each other for good."""


@dataclass(frozen=True)
class Rules:
    """What the worms do; as in ``netloom_papers.worms.Worm``."""

    switching: str = "wormhole"
    arbitration: str = "timestamp"
    release_cycles: int = 1
    switch_cycles: int = 0
    end_channels: int = 0  # how many each node has into the network: none, or one


@dataclass(eq=False)
class Worm:
    row: int
    source: int
    birth: int
    flits: int
    path: list
    granted: int = 0  # channels of the path that it has been granted so far
    moves: int = 0  # of the message; under circuit switching the head's are not among them
    acknowledgement: int = 0  # cycles until it has come back
    since: int | None = None  # the cycle in which it began to ask for the channel it asks for
    recent: int = -1  # the cycle before ``since`` in which its port last asked for that channel
    priority: int = 0

    @property
    def wanted(self):
        return self.path[self.granted]

    @property
    def asks(self):
        return self.granted < len(self.path)

    @property
    def port(self):
        """The channel that its head comes from; its own node is the last port."""
        return self.path[self.granted - 1] if self.granted else inf


@dataclass(eq=False)
class Channel:
    owner: Worm | None = None
    began: dict = field(default_factory=dict)  # port: cycles in which heads began to ask, from it
    last_source: int = -1  # the last one that was granted


class Worms:
    """The network and its messages; the same face as ``WormEngine``.

    ``path_of(source, target)`` lists the channels of a path, those into and out of the network
    among them if there are any. ``held`` lists (channel, row, cycle granted, first idle cycle).
    """

    def __init__(self, num_nodes, path_of, rules):
        self.num_nodes, self.path_of, self.rules = num_nodes, path_of, rules
        self.agenda = Agenda(num_nodes, rules.switch_cycles)
        self.channels = defaultdict(Channel)
        self.worms = []
        self.cycle = 0
        self.held, self.granted_at = [], {}

    def append(self, table):
        self.agenda.append(table, self.cycle)

    def advance(self, until):
        while self.cycle < until and self.agenda.completed < len(self.agenda.rows):
            for number in self.agenda.run(self.cycle):
                row = self.agenda.rows[number]
                path = self.path_of(row.source, row.target)
                row.entered = self.cycle
                self.worms.append(Worm(number, row.source, self.cycle, row.flits, path))
            self.run_network()
            self.cycle += 1

    @property
    def rows(self):
        names = (*FIELDS, "entered")
        return {name: [getattr(row, name) for row in self.agenda.rows] for name in names}

    def run_network(self):
        """Run one cycle: heads ask, channels are granted, worms move."""
        asking = defaultdict(list)
        for worm in self.worms:
            if worm.asks:
                asking[worm.wanted].append(worm)
        blocked = set()
        for channel, askers in asking.items():
            blocked.update(self.arbitrate(channel, askers))
        if self.worms and len(blocked) == len(self.worms) and not self.agenda.events:
            raise StuckError([worm.row for worm in self.worms])
        for worm in [worm for worm in self.worms if worm not in blocked]:
            self.move(worm)

    def arbitrate(self, channel, askers):
        """Grant a channel, if it is idle, to one of those that ask for it; return the others."""
        state = self.channels[channel]
        new = [worm for worm in askers if worm.since is None]
        for worm in new:
            began = state.began.setdefault(worm.port, [])
            worm.recent = max((cycle for cycle in began if cycle < self.cycle), default=-1)
            worm.since = self.cycle
            worm.priority = 4 if worm.granted else 9
            began.append(self.cycle)
        if state.owner is not None:
            return askers
        first = min(askers, key=lambda worm: self.key(state, worm))
        losers = [worm for worm in askers if worm is not first]
        for worm in losers:
            worm.priority -= 1
        state.owner, state.last_source = first, first.source
        self.granted_at[channel] = self.cycle
        first.since = None
        if self.rules.end_channels and not first.granted:
            self.agenda.rows[first.row].entered = self.cycle
        return losers

    def key(self, state, worm):
        """Return what a channel compares: the worm with the smallest goes first."""
        order = {
            "timestamp": (worm.birth,),
            "fifo": (worm.since, worm.port),
            "fifo-lru": (worm.since, worm.recent, worm.port),
            "biased": (worm.priority,),
            "source": ((worm.source - state.last_source - 1) % self.num_nodes,),
        }
        return *order[self.rules.arbitration], worm.row

    def move(self, worm):
        """Move a worm by one flit; the head may have been granted a channel, or need none."""
        if self.rules.switching == "circuit":
            if worm.asks:
                worm.granted += 1
                worm.acknowledgement = len(worm.path)
                return
            if worm.acknowledgement:
                worm.acknowledgement -= 1
                return
        elif worm.asks:
            worm.granted += 1
        worm.moves += 1
        behind = worm.moves - worm.flits - self.rules.release_cycles
        if 0 <= behind < len(worm.path):
            self.release(worm, worm.path[behind])
        if behind == len(worm.path) - 1:
            self.worms.remove(worm)
            self.agenda.put(self.cycle + 2, worm.row, ARRIVED)

    def release(self, worm, channel):
        assert self.channels[channel].owner is worm
        self.channels[channel].owner = None
        self.held.append((channel, worm.row, self.granted_at[channel], self.cycle + 1))


def flit_by_flit(births, paths, lengths, *, shared_buffers):
    """Return the arrival of each message, its flits moving one by one; earlier births go first.

    Every channel ends in buffers of one flit, where a flit that has crossed it waits for the next.
    Either it has one for all messages: then it is idle when the tail has left that buffer
    (``release_cycles`` = 1). Or it has one for each message: then it is idle when the tail has
    crossed the channel (``release_cycles`` = 0).
    """
    flits = [[-1] * length for length in lengths]  # index of the channel that each crossed last
    owner, full = {}, set()
    arrivals, cycle = [-1] * len(births), 0
    while -1 in arrivals:
        inside = [m for m in range(len(births)) if births[m] <= cycle and arrivals[m] < 0]
        asking = defaultdict(list)
        for m in inside:
            asking[next(iter(paths[m][flits[m][0] + 1 :]), None)].append((births[m], m))
        for channel in asking.keys() - owner.keys() - {None}:
            owner[channel] = min(asking[channel])[1]
        before = [list(each) for each in flits]
        for m in inside:
            buffers = [(channel, None if shared_buffers else m) for channel in paths[m]]
            mine = [owner.get(channel) == m for channel in paths[m]]
            move_flits(flits[m], buffers, mine, full)
        if flits == before and max(births) <= cycle:
            raise StuckError(inside)
        for m in inside:
            was, now = before[m][-1], flits[m][-1]
            passed = was if shared_buffers else now
            if was < now and 0 <= passed < len(paths[m]):
                del owner[paths[m][passed]]
            if now == len(paths[m]):
                arrivals[m] = cycle + 1 + shared_buffers
        cycle += 1
    return arrivals


def move_flits(flits, buffers, mine, full):
    """Move each flit of a message, head first, if the channel is its own and the buffer empty."""
    for k, here in enumerate(flits):
        onto = here + 1
        if onto > len(buffers) or (onto < len(buffers) and not mine[onto]):
            continue
        if onto < len(buffers):
            if buffers[onto] in full:
                continue
            full.add(buffers[onto])
        if here >= 0:
            full.remove(buffers[here])
        flits[k] = onto
