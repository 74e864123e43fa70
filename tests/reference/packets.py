"""The packets of open-loop traffic and what is counted of those delivered, in plain NumPy.

The same draws in the same order as ``netloom.workload`` makes, block by block; what is done with
them is written for the reader. Times between packets are geometric gaps in a row of all (cycle,
node) cells, or exponential ones; slower nodes lose packets by lot.
"""

from math import ceil, sqrt

import numpy as np

from netloom.workload.traffic import stream as made
from netloom.workload.traffic.patterns import Fixed, HotSpot, Uniform
from netloom.workload.traffic.stream import geometric_scale


def packets(traffic, load, lengths, arrivals, seed, cycles):
    """Return rows (birth, source, target, flits) of all packets born before ``cycles``."""
    children = np.random.SeedSequence(seed).spawn(3)
    times, targets, flits = (np.random.default_rng(child) for child in children)
    senders = np.flatnonzero(traffic.rate)
    rates = load * traffic.rate[senders] / lengths.mean
    found = []
    for end, births in blocks(arrivals, rates, times):
        sources = [int(senders[sender]) for _, sender in births]
        to = drawn_targets(traffic.law, targets, sources)
        long = lengths.draw(flits, len(births)).tolist()
        rows = zip((birth for birth, _ in births), sources, to, long, strict=True)
        found += [row for row in rows if row[0] < cycles]
        if end >= cycles:
            return found
    raise AssertionError("blocks end with the last cycle")


def blocks(arrivals, rates, rng):
    """Yield the cycle after each block, and (birth, sender) of its packets in order."""
    cycles = made.BLOCK_PACKETS / float(rates.sum())
    if arrivals.kind == "on-off":
        period = arrivals.burst_cycles + arrivals.pause_cycles
        cycles = min(cycles, made.BLOCK_BURSTS * period / len(rates))
    cycles = max(1, int(min(cycles, made.BLOCK_CYCLES)))
    octave = np.floor(np.log2(rates.max() / rates)).astype(int)
    groups = [np.flatnonzero(octave == value) for value in np.unique(octave)]
    on = rng.random(len(rates)) < arrivals.duty
    start = 0
    while start < made.LAST_CYCLE:
        span = min(cycles, made.LAST_CYCLE - start)
        births = []
        for members in groups:
            top = float(rates[members].max())
            if arrivals.kind == "on-off":
                cells = in_bursts(rng, arrivals, members, top, on, span)
            else:
                row = hits(rng, span * len(members), top, arrivals.kind)
                cells = [divmod(cell, len(members)) for cell in row]
            kept = rates[members] / top
            if kept.min() < 1:
                lots = rng.random(len(cells))
                cells = [cell for cell, lot in zip(cells, lots, strict=True) if lot < kept[cell[1]]]
            births += [(start + cycle, int(members[place])) for cycle, place in cells]
        start += span
        yield start, sorted(births)


def hits(rng, num_cells, rate, kind):
    """Return the cells of a row in which something comes."""
    scale = geometric_scale(rate) if kind == "bernoulli" else 1 / rate
    at = -1.0 if kind == "bernoulli" else 0.0
    found = []
    while at < num_cells:
        expected = (num_cells - at) * rate
        for gap in rng.standard_exponential(int(expected + 4 * sqrt(expected)) + 8).tolist():
            at += max(1, ceil(gap * scale)) if kind == "bernoulli" else gap * scale
            found.append(at)
    return [int(cell) for cell in found if cell < num_cells]


def in_bursts(rng, arrivals, members, top, on, span):
    """Return (cycle, place) of the arrivals of a group of chains; ``on`` is moved on."""
    bursts = zip(*made._bursts(rng, arrivals, members.astype(np.int32), on, span), strict=True)
    cycles = [(int(begin) + k, int(place)) for begin, long, place in bursts for k in range(long)]
    share = min(1.0, top / arrivals.duty)
    return [cycles[cell] for cell in hits(rng, len(cycles), share, "bernoulli")]


def drawn_targets(law, rng, sources):
    """Return a target for each source."""
    if isinstance(law, Uniform):
        drawn = rng.integers(0, law.num_nodes - (not law.to_self), len(sources), dtype=np.int32)
        pairs = zip(sources, drawn.tolist(), strict=True)
        return [place + (not law.to_self and place >= source) for source, place in pairs]
    if isinstance(law, Fixed):
        return [int(law.targets[source]) for source in sources]
    if isinstance(law, HotSpot):
        targets = drawn_targets(law.base, rng, sources)
        hot = [k for k, lot in enumerate(rng.random(len(sources))) if lot < law.fraction]
        for k, lot in zip(hot, rng.random(len(hot)).tolist(), strict=True):
            own = law.rank[sources[k]]
            others = [node for rank, node in enumerate(law.hot_nodes.tolist()) if rank != own]
            if others:
                targets[k] = others[int(lot * len(others))]
        return targets
    targets = []
    for source, lot in zip(sources, rng.random(len(sources)).tolist(), strict=True):
        first, after = law.offsets[source : source + 2].tolist()
        place = lot * (after - first)
        cell = first + int(place)
        own = place - int(place) < law.threshold[cell]
        targets.append(int(law.target[cell] if own else law.alias[cell]))
    return targets


def coins(seed, count):
    """Return the coins of the routing of the first packets of a sender."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7,)))
    return rng.integers(0, 2**31, count, dtype=np.int32).tolist()


def tallied(delivered, group_of, begin, end, batch_cycles, groups):
    """Return the sums by property, group and batch, flits by source, and counts of latencies."""
    sums = {}
    flits_of, latencies = {}, {}
    columns = zip(*(column.tolist() for column in delivered), group_of, strict=True)
    for _, birth, entry, arrival, source, _, hops, flits, group in columns:
        if begin <= arrival < end:
            batch = (arrival - begin) // batch_cycles
            one = (1, arrival - birth, arrival - entry, entry - birth, hops, flits)
            so_far = sums.get((group, batch), (0,) * 6)
            sums[group, batch] = tuple(map(sum, zip(so_far, one, strict=True)))
            flits_of[source] = flits_of.get(source, 0) + flits
            latencies[arrival - birth] = latencies.get(arrival - birth, 0) + 1
    assert all(group < groups for group, _ in sums)
    return sums, flits_of, latencies
