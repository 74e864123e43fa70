"""The waits of ``models.channel_queueing``, hop by hop instead of turn by turn, in plain Python.

Every hop of every path is followed on its own, so that nothing depends on how hops are grouped.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import exp, sqrt


@dataclass
class Hop:
    """What packets of a path do at one channel; ``before`` is None at the injection channel."""

    channel: object
    before: object
    share: list
    share_before: list
    rate: float  # packets a cycle
    own: float  # cycles that a VC lacks between packets that follow one another
    spaced: float  # by how much packets of one input are apart when they come
    stall: float
    wait: float = 0.0
    shared: float = 0.0
    same: float = 0.0  # the part of it that packets of the same input are to blame for

    @property
    def choices(self):
        return 1 / sum(p * p for p in self.share)

    @property
    def beside(self):
        return 1 - sum(p * p for p in self.share_before)


@dataclass(frozen=True)
class Setting:
    """The numbers that all hops have in common."""

    flits: int
    router: object

    @property
    def whole(self):
        return self.router.switching == "virtual-cut-through"

    @property
    def single(self):
        return self.router.vcs == 1 and not self.whole

    @property
    def gap(self):
        return min(self.router.head_cycles, 1)

    @property
    def loop(self):
        """From a flit's leaving a router to the use of its place in the next one's buffer."""
        return self.router.hop_cycles - self.router.head_cycles + self.router.credit_cycles

    @property
    def until_room(self):
        router = self.router
        return router.hop_cycles + router.credit_cycles + self.flits - router.buffer_flits

    @property
    def fits(self):
        """How many whole packets share what they lack."""
        return max(self.router.buffer_flits // self.flits, 1)

    def own(self, channel):
        if self.whole:
            return max(self.gap, self.until_room / self.fits)
        kind = channel[0] if isinstance(channel, tuple) else "network"
        if kind == "out" or (kind == "in" and self.router.vcs > 1):
            return self.gap
        loop = self.loop if kind == "network" else self.router.entry_loop_cycles
        waiting = min(self.flits, self.router.buffer_flits) * self.router.head_cycles
        each = (self.flits * loop + waiting) / self.router.buffer_flits
        return max(self.gap, each - self.flits)

    def spaced(self, channel, before, share_before):
        if before is None:
            return 0.0
        if isinstance(before, tuple) and not self.whole:  # a source sends one after the other
            return self.at_source - self.flits
        own = self.own(before if self.single else channel)
        return own * sum(p * p for p in share_before)

    @property
    def at_source(self):
        """For how long a packet keeps a source that nothing else delays."""
        alone = time_at_source(self)
        return max(alone, self.flits + self.own(("in", None))) if self.single else alone

    @property
    def rounds(self):
        return (self.flits - 1) // self.router.buffer_flits

    @property
    def stretched(self):
        longest = max(self.loop, self.router.entry_loop_cycles)
        return self.flits + self.rounds * max(longest - self.router.buffer_flits, 0)

    def delay(self, hop):
        return hop.wait if self.whole else hop.wait + hop.stall - hop.own

    @property
    def room(self):
        """How much of a delay makes the packets behind wait."""
        if self.whole:
            return self.router.buffer_flits - self.flits
        return 1e9 if self.flits <= self.router.buffer_flits else self.router.buffer_flits

    @property
    def slack(self):
        """How much of a delay of the head the tail of a longer packet does not see."""
        buffer = self.router.buffer_flits
        return max(buffer - self.loop - self.router.head_cycles, 0) if self.single else buffer

    @property
    def early(self):
        room = self.router.buffer_flits - self.flits
        return min(room / self.flits, 1.0) if self.whole else 0.0

    def mixing(self, utilisation):
        """How much less a channel's packets disturb each other that cannot use all of it."""
        return utilisation ** (sqrt(2 * (self.stretched / self.flits + 1)) - 2)

    @property
    def conflict(self):
        return 0.45 if self.flits <= self.router.buffer_flits else 0.0


def spill(delay, flits, room):
    """E[(D - room)+] and E[min(D, room)²] of a delay that is nothing or exponential."""
    mean = flits / 3 + delay
    beyond = exp(-room / mean)
    return delay * beyond, 2 * delay * mean * (1 - beyond * (1 + room / mean))


def path_latencies(flows, router, flits, load, rounds=300):
    """Return the mean latency of each path; ``flows`` and ``router`` are the model's."""
    setting = Setting(flits, router)
    paths = [hops_of(flows, path, load / flits, setting) for path in range(len(flows.paths))]
    hops = [hop for path in paths for hop in path]
    queue = defaultdict(float)
    for _ in range(rounds):
        further = one_round(hops, setting, queue)
    source_wait = source_waits(flows, setting, paths, further)
    latencies = []
    for path, at_source in zip(paths, source_wait, strict=True):
        waits = sum(hop.wait + mean(hop, queue) for hop in path)
        latencies.append(lone_packet(setting, len(path) - 2) + waits + at_source)
    return latencies


def lone_packet(setting, hops):
    """Follow every flit of a packet through an idle network; return when the last one arrives."""
    router, flits = setting.router, setting.flits
    buffer = max(router.buffer_flits, flits) if setting.whole else router.buffer_flits
    ways = [0, 0] + [router.hop_cycles - router.head_cycles] * hops  # to the source, to router 0 …
    back = [router.entry_loop_cycles] + [router.credit_cycles] * hops
    leaves = defaultdict(lambda: float("-inf"))
    for flit in range(flits):
        for stage in range(hops + 2):  # the source, then each router
            at = leaves[stage - 1, flit] + ways[stage] if stage else 0
            at += router.head_cycles if stage and flit == 0 else 0
            if stage <= hops:
                at = max(at, leaves[stage + 1, flit - buffer] + back[stage])
            leaves[stage, flit] = max(at, leaves[stage, flit - 1] + 1)
    ends = router.end_cycles - router.head_cycles  # both end channels
    return leaves[hops + 1, flits - 1] + ends


def hops_of(flows, path, scale, setting):
    first, last = flows.paths.offsets[path], flows.paths.offsets[path + 1]
    vcs = flows.vc_share.shape[1]
    anyone = [1 / vcs] * vcs
    channels = [("in", flows.source[path]), *map(int, flows.paths[path])]
    channels.append(("out", flows.target[path]))
    shares = [anyone, *(list(row) for row in flows.vc_share[first:last]), anyone]
    befores = [None, *channels[:-1]], [anyone, *shares[:-1]]
    rate = scale * flows.rate[path]
    found = []
    for channel, before, share, share_before in zip(channels, befores[0], shares, befores[1],
                                                    strict=True):  # fmt: skip
        own = setting.own(channel)
        spaced = setting.spaced(channel, before, share_before)
        found.append(Hop(channel, before, share, share_before, rate, own, spaced, stall=own))
    return found


def one_round(hops, setting, queue):
    """Go half-way to what the waits, queues and stalls would be, given those of all others.

    Return the delays at the next router of the packets of each VC.
    """
    flits = setting.flits
    inside = [hop for hop in hops if hop.before is not None]
    used = sums([(hop.channel, hop.share, hop.rate) for hop in hops])
    held = sums([(hop.channel, hop.share, hop.rate * time_held(hop, setting)) for hop in hops])
    held = {key: min(value, 1.0) for key, value in held.items()}
    counts = count_fronts(inside, hops, flits)
    targets = [waits(hop, setting, counts, used, held) for hop in inside]
    for hop, (shared, same, for_vc) in zip(inside, targets, strict=True):
        hop.shared, hop.same = shared, same
        hop.wait = (hop.wait + shared + for_vc) / 2

    delays = [(hop, setting.delay(hop)) for hop in inside]

    def before(value):
        return sums([(h.before, h.share_before, h.rate * value(h, d)) for h, d in delays])

    def onward(hop, delay):
        at_source = isinstance(hop.before, tuple) and not setting.whole
        mine = hop.same if at_source else 0.0  # by packets of the same source
        return delay - mine - setting.early * (hop.shared - mine)

    front = before(lambda _, delay: setting.stretched + setting.router.head_cycles + delay)
    further = before(onward)
    squares = before(lambda _, delay: spill(delay, setting.stretched, setting.room)[1])
    assert max(front.values()) < 1, "saturated"
    for key in front:
        queue[key] = (queue[key] + squares[key] / 2 / (1 - front[key])) / 2
    further = {key: value / used[key] if used[key] else 0.0 for key, value in further.items()}
    for hop in hops:
        if not (isinstance(hop.channel, tuple) and hop.channel[0] == "out"):
            hop.stall = (hop.stall + new_stall(hop, queue, further, setting)) / 2
    return further


def sums(terms):
    """Sum (channel, share of each VC, value) for each VC of each channel."""
    total = defaultdict(float)
    for channel, share, value in terms:
        for vc, part in enumerate(share):
            total[channel, vc] += part * value
    return total


def mean(hop, values):
    return sum(p * values.get((hop.channel, vc), 0.0) for vc, p in enumerate(hop.share))


def time_held(hop, setting):
    interleaved = min(hop.shared, (hop.choices - 1) * setting.flits)
    apart = interleaved + hop.own if setting.whole else max(interleaved, hop.own)
    return setting.flits + apart + hop.stall - hop.own


def count_fronts(inside, hops, flits):
    """Packets at the fronts, by what they are, of each channel and of each of its inputs.

    ``delayed`` is counted by what they came over, too.
    """
    counts = defaultdict(float)
    for hop in hops:
        counts["load", hop.channel] += hop.rate * flits
    for hop in inside:
        counts["delayed from", hop.before] += hop.rate * hop.wait
        for place in (hop.channel, (hop.channel, hop.before)):
            counts["flow", place] += hop.rate
            counts["sending", place] += hop.rate * (flits + hop.wait)
            counts["stalled", place] += hop.rate * hop.stall
            counts["delayed", place] += hop.rate * hop.wait
    return counts


def waits(hop, setting, counts, used, held):
    """The wait for the channel, what of it is its own input's doing, and the one for a VC."""
    n, flits, own, mine = hop.choices, setting.flits, hop.own, (hop.channel, hop.before)

    def of_others(what):
        return counts[what, hop.channel] - counts[what, mine]

    full = mean(hop, held) ** (n - 1)
    delayed = hop.beside * counts["delayed", mine]
    holders = of_others("sending") + of_others("stalled") + delayed
    after_own = hop.stall - hop.spaced - (n - 1) * flits
    if after_own > 0:
        holders += counts["stalled", mine] * after_own / hop.stall
    on_vcs = [(used[hop.channel, vc], p > 0) for vc, p in enumerate(hop.share)]
    alike = sum(flow for flow, may in on_vcs if may) / sum(flow for flow, _ in on_vcs)
    mixing = 1.0 if setting.single else setting.mixing(min(counts["load", hop.channel], 1.0))
    same = flits * delayed * mixing
    first_come = flits / 2 * of_others("flow") * flits * full * alike
    elsewhere = counts["delayed from", hop.before] - counts["delayed", mine]
    conflict = setting.conflict * flits * hop.beside * elsewhere
    shared = (flits * of_others("sending") - first_come) * mixing + same + conflict
    idle = own / 2 * (own * of_others("flow") if setting.single else holders)
    return shared, same, full * (holders * hop.stall - idle) / n


def new_stall(hop, queue, further, setting):
    behind, beyond = mean(hop, queue), mean(hop, further)
    if setting.whole:
        return max(hop.own, (setting.until_room + beyond + behind) / setting.fits)
    if hop.before is None:  # packets of the same source
        behind = 0.0
    if setting.flits > setting.router.buffer_flits:
        delay = beyond if setting.single else beyond + behind
        return hop.own + spill(delay, setting.stretched, setting.slack)[0]
    room = setting.router.buffer_flits - setting.flits
    return hop.own + spill(behind, setting.stretched, room)[0]


def time_at_source(setting):
    """Until a lone packet's last flit has left, if only the first router makes its head wait."""
    router, flits, sent = setting.router, setting.flits, [0]
    for flit in range(1, flits):
        at = sent[-1] + 1
        if flit == router.buffer_flits:
            at = max(at, router.entry_loop_cycles + router.head_cycles)
        elif flit > router.buffer_flits and flit % router.buffer_flits == 0:
            loop = max(setting.loop, router.entry_loop_cycles)
            at = max(at, sent[flit - router.buffer_flits] + loop)
        sent.append(at)
    return sent[-1] + 1


def source_waits(flows, setting, paths, further):
    """Geo/G/1 at every source, for each path."""
    first, flits, vcs = [path[0] for path in paths], setting.flits, setting.router.vcs
    busy, work, taken = defaultdict(float), defaultdict(float), defaultdict(float)
    for node, hop in zip(flows.source, first, strict=True):
        taken[node] += hop.rate * (flits + hop.stall) / vcs
    for node, hop in zip(flows.source, first, strict=True):
        held_up, variance = hop.stall - hop.own, 0.0
        if setting.whole:
            held_up *= min(taken[node], 1.0) ** (vcs - 1)
            service = flits + held_up + max(hop.own - (vcs - 1) * flits, 0)
        else:
            service = held_up + setting.at_source
            if flits > setting.router.buffer_flits:
                delay = mean(hop, further)
                scale = setting.stretched / 3 + delay
                variance = 2 * delay * scale * exp(-setting.slack / scale) - held_up**2
        busy[node] += hop.rate * service
        work[node] += hop.rate * (service * (service - 1) + variance) / 2
    return [work[node] / (1 - busy[node]) for node in flows.source]
