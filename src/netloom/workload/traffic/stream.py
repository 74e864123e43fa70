"""Packets: when they are born, how long they are, and the stream of them.

Packets come at each node on its own: Bernoulli, Poisson, or in bursts. Nothing is drawn for a cycle
without a packet. All (cycle, node) cells of a block of cycles lie in a row, node after node and
cycle after cycle. One stream of random gaps leads from each packet to the next. Geometric gaps make
every cell an independent Bernoulli trial, exponential ones an independent Poisson count. Nodes with
lower rates drop some of their packets at random (thinning, Lewis & Shedler 1979), which keeps both
laws exact. They share a row only with nodes whose rates are at most twice theirs, so that less than
half of the packets are dropped.

All randomness of open-loop traffic is drawn here, in streams of its own. It does not depend on the
network: two routers with the same traffic, load and seed get the same packets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import expm1, inf, log1p, sqrt
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.spec import real_number, split_spec, whole_number
from netloom.workload.traffic import Traffic

# -- arrivals --------------------------------------------------------------------------------------


ARRIVALS = "bernoulli, poisson or on-off:BURST_CYCLES,DUTY such as on-off:100,0.25"

LAST_CYCLE = 2**31 - 1
"""No packet is born in this cycle or later: times are int32."""

LEAST_RATE = 1e-100
"""Smallest rate of a sender, in packets per cycle: below it, gaps grow too large for a float."""

BLOCK_PACKETS = 16_384
"""Packets that a block of cycles has on average, where a cycle has not more."""

BLOCK_CYCLES = 2**22
"""Most cycles of a block, so that cells can be counted exactly in a float."""

BLOCK_BURSTS = 65_536
"""Most bursts of a block on average, where a cycle has not more."""


@dataclass(frozen=True)
class Arrivals:
    """The law of the times between the packets of a node. ``parse_arrivals`` makes one.

    Attributes
    ----------
    name
        The spec string.
    kind
        ``bernoulli``, ``poisson`` or ``on-off``.
    burst_cycles
        Mean length of an on-period (on-off).
    duty
        Part of the time that a node is on (on-off). Otherwise 1.
    """

    name: str
    kind: Literal["bernoulli", "poisson", "on-off"]
    burst_cycles: float = inf
    duty: float = 1.0

    @property
    def most(self) -> float:
        """Largest rate that a node can have, in packets per cycle."""
        return inf if self.kind == "poisson" else self.duty

    @property
    def pause_cycles(self) -> float:
        """Mean length of an off-period (on-off)."""
        return self.burst_cycles * (1 - self.duty) / self.duty


class Born(NamedTuple):
    """Packets born in one block of cycles, by cycle, then by sender.

    ``end``: the first cycle after the block. ``birth``: int32[], cycles. ``sender``: int32[],
    places in the array of rates.
    """

    end: int
    birth: Ints
    sender: Ints


def parse_arrivals(spec: str) -> Arrivals:
    """Return the arrival process that ``spec`` names. The mean rate p is the same in all.

    Parameters
    ----------
    spec
        ``bernoulli``: a packet in each cycle with probability p. ``poisson``: exponential gaps
        of mean 1/p in continuous time. A packet is born in the cycle that its time falls in, so
        several may be born in one. ``on-off:100,0.25``: a two-state Markov chain, whose
        on-periods last 100 cycles on average (geometrically) and fill a quarter of the time.
        While it is on, Bernoulli with probability p / 0.25. The chain starts in its steady state.

    Raises
    ------
    InputError
        If there is no such process, or a period would be shorter than a cycle.

    Examples
    --------
    >>> parse_arrivals("on-off:100,0.25").pause_cycles
    300.0
    """
    where = f"arrivals '{spec}'"
    name, argument = split_spec(spec)
    if name == "bernoulli" and not argument:
        return Arrivals("bernoulli", "bernoulli")
    if name == "poisson" and not argument:
        return Arrivals("poisson", "poisson")
    if name != "on-off":
        raise InputError(where, f"'{argument or name}'", ARRIVALS)
    words = argument.split(",")
    if len(words) != 2:
        raise InputError(where, f"'{argument}'", "BURST_CYCLES,DUTY such as 100,0.25")
    burst_cycles, duty = (real_number(word, where=where) for word in words)
    if not 0 < duty < 1:
        raise InputError(where, f"duty {duty:g}", "above 0 and below 1")
    found = Arrivals(f"on-off:{argument}", "on-off", burst_cycles, duty)
    for what, cycles in (("bursts", burst_cycles), ("pauses", found.pause_cycles)):
        if not 1 <= cycles <= LAST_CYCLE:
            found_cycles = f"{what} of {cycles:g} cycles on average"
            raise InputError(where, found_cycles, f"1 to {LAST_CYCLE}")
    return found


def arrival_blocks(arrivals: Arrivals, rates: Floats, rng: np.random.Generator) -> Iterator[Born]:
    """Yield the packets of senders with these rates, block by block of cycles from cycle 0 on.

    Blocks are cut by the rates alone, so the packets depend on the arguments and on nothing
    else. The last block ends with ``LAST_CYCLE``.

    ``rates``: float64[num_senders], packets per cycle, at least ``LEAST_RATE``, at most
    ``arrivals.most``.

    Examples
    --------
    >>> always = np.array([1.0, 1.0])
    >>> block = next(arrival_blocks(parse_arrivals("bernoulli"), always, np.random.default_rng(1)))
    >>> block.end, block.birth[:5], block.sender[:5]
    (8192, array([0, 0, 1, 1, 2], dtype=int32), array([0, 1, 0, 1, 0], dtype=int32))
    """
    from netloom.workload.kernels.packets import note_arrivals

    cycles = BLOCK_PACKETS / float(rates.sum())
    if arrivals.kind == "on-off":
        period = arrivals.burst_cycles + arrivals.pause_cycles
        cycles = min(cycles, BLOCK_BURSTS * period / len(rates))
    cycles = max(1, int(min(cycles, BLOCK_CYCLES)))
    # senders by powers of two below the largest rate, and each one's rate over that of its group
    octave = np.floor(np.log2(rates.max() / rates)).astype(np.int64)
    groups = []
    for value in np.unique(octave):
        members = np.flatnonzero(octave == value).astype(np.int32)
        top = float(rates[members].max())
        kept = rates[members] / top
        groups.append((members, top, kept[:0] if kept.min() == 1 else kept))
    on = rng.random(len(rates)) < arrivals.duty  # state of each chain, where there are chains
    start = 0
    while start < LAST_CYCLE:
        span = min(cycles, LAST_CYCLE - start)
        found = []  # ``cycle << 32 | sender`` of each arrival
        for members, rate, kept in groups:
            if arrivals.kind == "on-off":  # cells of bursts; `on` is moved on to the next block
                begin, length, place = _bursts(rng, arrivals, members, on, span)
                ends = np.cumsum(length)
                total = int(ends[-1]) if len(ends) else 0
                hits = _hits(rng, total, min(1.0, rate / arrivals.duty), "bernoulli")
                burst = np.searchsorted(ends, hits, side="right")
                cycle = (begin + length - ends).take(burst) + hits
                cells = cycle * len(members) + place.take(burst)
            else:
                cells = _hits(rng, span * len(members), rate, arrivals.kind)
            lots = rng.random(len(cells) if len(kept) else 0)
            noted = np.empty(len(cells), np.int64)
            found.append(noted[: note_arrivals(cells, members, lots, kept, start, noted)])
        keys = found[0] if len(found) == 1 else np.concatenate(found)
        if len(found) > 1 or arrivals.kind == "on-off":
            keys.sort()
        start += span
        yield Born(start, (keys >> 32).astype(np.int32), keys.astype(np.int32))


def _hits(
    rng: np.random.Generator, num_cells: int, rate: float, kind: Literal["bernoulli", "poisson"]
) -> Floats:
    """Where in a row of cells something comes, in order. In a Poisson cell as often as it comes."""
    from netloom.workload.kernels.packets import add_up

    bernoulli = kind == "bernoulli"
    scale = geometric_scale(rate) if bernoulli else 1 / rate
    at = -1.0 if bernoulli else 0.0  # the last trial that succeeded; the time of the last arrival
    parts = []
    while at < num_cells:
        expected = (num_cells - at) * rate
        gaps = rng.standard_exponential(int(expected + 4 * sqrt(expected)) + 8)
        at = add_up(gaps, at, scale, bernoulli)
        parts.append(gaps)
    places = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return places[: np.searchsorted(places, num_cells)]


def _bursts(
    rng: np.random.Generator, arrivals: Arrivals, members: Ints, on: Bools, span: int
) -> tuple[Ints, Ints, Ints]:
    """First cycle, cycles and place of every on-period within a block.

    Periods are geometric, so what is left of one at the start of a block has the law of a whole
    one: between blocks, only the state is kept.
    """
    means = (arrivals.pause_cycles, arrivals.burst_cycles)
    scales = np.array([geometric_scale(1 / mean) for mean in means])
    place = np.arange(len(members))  # of the members that are not yet through the block
    reached = np.zeros(len(members), np.int64)
    parts = []
    while len(place):
        periods = 2 * (int((span - reached.min()) / sum(means)) + 1)  # even: the state comes back
        state = (on[members[place], np.newaxis] + np.arange(periods)) % 2
        cycles = rng.standard_exponential(state.shape) * scales[state]
        # as floats, for a period may be longer than an integer can say
        ends = np.maximum(np.ceil(cycles), 1).cumsum(axis=1) + reached[:, np.newaxis]
        begins = np.column_stack([reached, ends[:, :-1]])
        stops = np.minimum(ends, span)
        found = (state == 1) & (begins < span)
        parts.append((begins[found], (stops - begins)[found], place[np.nonzero(found)[0]]))
        through = ends[:, -1] > span
        rows = np.flatnonzero(through)
        last = np.argmax(ends[rows] > span, axis=1)
        on[members[place[rows]]] = state[rows, last] == 1
        place, reached = place[~through], ends[~through, -1].astype(np.int64)
    begin, length, where = (np.concatenate(column) for column in zip(*parts, strict=True))
    return begin.astype(np.int64), length.astype(np.int64), where


# -- lengths ---------------------------------------------------------------------------------------


LONGEST = 32_767
"""Most flits of a packet: the simulators count them in int16."""

LONGEST_MEAN = 4_096
"""Largest mean of the geometric law: cutting it at ``LONGEST`` takes 0.03 % off the mean there."""

LENGTHS = "a number of flits such as 5, uniform:1-9, bimodal:1,9,0.5 or geometric:5"


@dataclass(frozen=True)
class Lengths:
    """The law of packets' lengths. ``parse_lengths`` makes one.

    Attributes
    ----------
    name
        The spec string.
    law
        ``fixed``, ``uniform``, ``bimodal`` or ``geometric``.
    shortest, longest
        No packet has fewer or more flits.
    mean
        Expected flits of a packet, exactly.
    parameter
        Share of the short packets (bimodal). Mean before the law is cut at ``longest``
        (geometric). Otherwise 0.
    """

    name: str
    law: Literal["fixed", "uniform", "bimodal", "geometric"]
    shortest: int
    longest: int
    mean: float
    parameter: float = 0.0

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """Return int32[count], the flits of as many packets, independent of one another.

        Examples
        --------
        >>> parse_lengths("5").draw(np.random.default_rng(1), 3)
        array([5, 5, 5], dtype=int32)
        """
        if self.law == "fixed":
            return np.full(count, self.shortest, np.int32)
        if self.law == "uniform":
            return rng.integers(self.shortest, self.longest + 1, count, dtype=np.int32)
        if self.law == "bimodal":
            short = rng.random(count) < self.parameter
            return np.where(short, np.int32(self.shortest), np.int32(self.longest))
        drawn = np.ceil(rng.standard_exponential(count) * geometric_scale(1 / self.parameter))
        return np.clip(drawn, 1, self.longest).astype(np.int32)


def parse_lengths(spec: str | int) -> Lengths:
    """Return the law of packets' lengths that ``spec`` names.

    Parameters
    ----------
    spec
        ``5``: every packet has 5 flits. ``uniform:1-9``: 1 to 9, each as likely.
        ``bimodal:1,9,0.5``: 1 flit for a share of 0.5 of the packets, 9 for the others.
        ``geometric:5``: k flits with probability (1 − 1/5)^(k − 1) / 5, and ``LONGEST`` flits in
        place of more.

    Raises
    ------
    InputError
        If there is no such law, or a length is not from 1 to ``LONGEST``.

    Examples
    --------
    >>> parse_lengths("bimodal:1,9,0.5").mean
    5.0
    >>> parse_lengths(5).longest
    5
    """
    text = str(spec).strip()
    where = f"lengths '{text}'"
    name, argument = split_spec(text)
    if name.isdigit() and ":" not in text:
        flits = _flits(name, where)
        return Lengths(text, "fixed", flits, flits, float(flits))
    if name == "uniform":
        words = argument.split("-")
        if len(words) != 2:
            raise InputError(where, f"'{argument}'", "shortest-longest, such as uniform:1-9")
        shortest, longest = _rising(words, where)
        return Lengths(text, "uniform", shortest, longest, (shortest + longest) / 2)
    if name == "bimodal":
        words = argument.split(",")
        if len(words) != 3:
            wanted = "short,long,share of short packets, such as bimodal:1,9,0.5"
            raise InputError(where, f"'{argument}'", wanted)
        shortest, longest = _rising(words[:2], where)
        share = real_number(words[2], where=where)
        if not 0 < share < 1:
            raise InputError(where, f"share {share:g}", "above 0 and below 1")
        mean = share * shortest + (1 - share) * longest
        return Lengths(text, "bimodal", shortest, longest, mean, share)
    if name == "geometric":
        mean = real_number(argument, where=where)
        if not 1 <= mean <= LONGEST_MEAN:
            raise InputError(where, f"mean {mean:g}", f"1 to {LONGEST_MEAN}")
        cut = mean * -expm1(LONGEST * log1p(-1 / mean)) if mean > 1 else 1.0  # Σ P(more than k)
        return Lengths(text, "geometric", 1, LONGEST if mean > 1 else 1, cut, mean)
    raise InputError(where, f"'{name}'", LENGTHS)


def geometric_scale(probability: float) -> float:
    """Return s such that ceil(s E) is geometric with this probability, if E is exponential.

    P(ceil(s E) > k) = exp(−k / s) = (1 − probability)^k. For probability 1 the scale is 0, and
    what should be 1 comes out as 0.

    Examples
    --------
    >>> round(geometric_scale(0.5), 4)
    1.4427
    """
    return -1 / log1p(-probability) if probability < 1 else 0.0


def _flits(text: str, where: str) -> int:
    flits = whole_number(text.strip(), where=where, least=1)
    if flits > LONGEST:
        raise InputError(where, f"{flits} flits", f"at most {LONGEST}")
    return flits


def _rising(words: list[str], where: str) -> tuple[int, int]:
    shortest, longest = (_flits(word, where) for word in words)
    if shortest >= longest:
        raise InputError(where, f"{shortest} and {longest} flits", "the shorter one first")
    return shortest, longest


# -- the stream ------------------------------------------------------------------------------------


class Packets(NamedTuple):
    """Packets in the order of their birth, those of one cycle by source. int32[num_packets] each.

    ``birth``: the cycle of creation. ``source``, ``target``: nodes. ``flits``: length.
    """

    birth: Ints
    source: Ints
    target: Ints
    flits: Ints


Columns: TypeAlias = "tuple[Ints, ...]"


class Due:
    """Packets that come block by block, ``PacketStream.blocks``, handed out up to any cycle."""

    def __init__(self, blocks: Iterator[tuple[int, Columns]]) -> None:
        self._blocks, self._end = blocks, 0
        self._ahead: deque[Columns] = deque()

    def until(self, cycle: int) -> list[Columns]:
        """Return the packets born before ``cycle`` that no earlier call has returned, in parts.

        Raises InputError if ``cycle`` is above 2³¹ − 1: times are int32.
        """
        if cycle > LAST_CYCLE:
            raise InputError("cycles", cycle, f"at most {LAST_CYCLE}")
        while self._end < cycle:
            self._end, columns = next(self._blocks)
            self._ahead.append(columns)
        parts = []
        while self._ahead:
            columns = self._ahead.popleft()
            due = int(np.searchsorted(columns[0], np.int32(cycle)))
            parts.append(tuple(column[:due] for column in columns))
            if due < len(columns[0]):
                self._ahead.appendleft(tuple(column[due:] for column in columns))
                break
        return parts


class PacketStream:
    """The packets that the nodes of a network create, from cycle 0 on.

    A node of rate r offers ``load * r`` flits per cycle: ``load * r / lengths.mean`` packets.
    Births, targets and lengths of packets have random streams of their own. So the k-th packet's
    target does not depend on the distribution of lengths. Two distributions with the same mean give
    the same packets, apart from their flits.

    Parameters
    ----------
    traffic
        Who sends to whom.
    load
        Offered traffic of a node of rate 1, in flits per cycle. Above 0, at most 1.
    lengths
        The law of the packets' lengths, or its name; 1 flit by default.
    arrivals
        When packets come, or its name. Bernoulli by default.
    seed
        The same seed makes the same packets.

    Raises
    ------
    InputError
        If the load is out of range, or a node would have to create more packets per cycle than the
        arrival process can.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> stream = PacketStream(uniform(64), 1.0, lengths=1)  # a packet of every node in every cycle
    >>> stream.until(10).birth.shape, stream.until(12).birth.shape
    ((640,), (128,))
    """

    def __init__(
        self,
        traffic: Traffic,
        load: float,
        *,
        lengths: Lengths | str | int = 1,
        arrivals: Arrivals | str = "bernoulli",
        seed: int = 1,
    ) -> None:
        if not 0 < load <= 1:  # NaN is neither
            raise InputError("load", load, "above 0, at most 1 (flits/node/cycle)")
        if seed < 0:
            raise InputError("seed", seed, "a whole number that is not negative")
        self.traffic = traffic
        self.load = load
        self.lengths = parse_lengths(lengths) if isinstance(lengths, str | int) else lengths
        self.arrivals = parse_arrivals(arrivals) if isinstance(arrivals, str) else arrivals
        self.seed = seed
        rates, most = load * traffic.rate / self.lengths.mean, self.arrivals.most
        node = int(np.argmax(rates))
        if rates[node] > most * (1 + 1e-9):
            found = f"{load:g}, with which node {node} creates {rates[node]:.4g} packets per cycle"
            wanted = f"a load at which none creates more than {most:g} ({self.arrivals.name})"
            raise InputError("load", found, wanted)
        # packets that each node creates a cycle, float64[num_nodes]
        self.rates = np.where(traffic.rate > 0, np.clip(rates, LEAST_RATE, most), 0.0)
        self._due = Due(self.blocks())

    def until(self, cycle: int) -> Packets:
        """Return the packets born before ``cycle`` that no earlier call has returned.

        However the calls are split, together they return the same packets.

        Raises
        ------
        InputError
            If ``cycle`` is above 2³¹ − 1: times are int32.
        """
        parts = self._due.until(cycle)
        if len(parts) == 1:
            return Packets(*parts[0])
        none = tuple(np.empty((4, 0), np.int32))
        return Packets(*map(np.concatenate, zip(*(parts or [none]), strict=True)))

    def blocks(
        self, columns: Callable[[Packets], Columns] = tuple
    ) -> Iterator[tuple[int, Columns]]:
        """Yield all packets from cycle 0 on: the cycle after each block, and what is made of it.

        That are columns, int32[num_packets] each, births first.
        """
        children = np.random.SeedSequence(self.seed).spawn(3)
        times, targets, flits = (np.random.default_rng(child) for child in children)
        senders = np.flatnonzero(self.traffic.rate).astype(np.int32)
        for block in arrival_blocks(self.arrivals, self.rates[senders], times):
            source = senders.take(block.sender)
            target = self.traffic.law.draw(targets, source)
            length = self.lengths.draw(flits, len(source))
            yield block.end, columns(Packets(block.birth, source, target, length))
