"""The waits of ``models.channel_queueing``, hop by hop instead of turn by turn, in plain Python.

Every hop of every path is followed on its own, so that nothing depends on how hops are grouped.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import exp


@dataclass
class Hop:
    """What packets of a path do at one channel; ``before`` is None at the injection channel."""

    channel: object
    before: object
    share: list
    share_before: list
    rate: float  # packets a cycle
    stall: float
    wait: float = 0.0
    shared: float = 0.0

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
    buffer: int
    head: int
    gap: int
    until_room: int
    whole: bool

    def delay(self, hop):
        return hop.wait if self.whole else hop.wait + hop.stall - self.gap

    @property
    def room(self):
        """How much of a delay makes the packets behind wait."""
        if self.whole:
            return self.buffer - self.flits
        return 1e9 if self.flits <= self.buffer else self.buffer

    @property
    def early(self):
        return min((self.buffer - self.flits) / self.flits, 1.0) if self.whole else 0.0


def spill(delay, flits, room):
    """E[(D - room)+] and E[min(D, room)²] of a delay that is nothing or exponential."""
    mean = flits / 3 + delay
    beyond = exp(-room / mean)
    return delay * beyond, 2 * delay * mean * (1 - beyond * (1 + room / mean))


def path_latencies(flows, router, flits, load, rounds=300):
    """Return the mean latency of each path; ``flows`` and ``router`` are the model's."""
    whole, head = router.switching == "virtual-cut-through", router.head_cycles
    until_room = router.hop_cycles + router.credit_cycles + flits - router.buffer_flits
    gap = max(min(head, 1), until_room) if whole else min(head, 1)
    setting = Setting(flits, router.buffer_flits, head, gap, until_room, whole)
    paths = [hops_of(flows, path, load / flits, gap) for path in range(len(flows.paths))]
    hops = [hop for path in paths for hop in path]
    queue = defaultdict(float)
    for _ in range(rounds):
        one_round(hops, setting, queue)
    source_wait = source_waits(flows, router, setting, paths)
    latencies = []
    for path, at_source in zip(paths, source_wait, strict=True):
        idle = router.end_cycles + router.hop_cycles * (len(path) - 2) + flits - 1
        waits = sum(hop.wait + mean(hop, queue) for hop in path)
        latencies.append(idle + waits + at_source)
    return latencies


def hops_of(flows, path, scale, gap):
    first, last = flows.paths.offsets[path], flows.paths.offsets[path + 1]
    vcs = flows.vc_share.shape[1]
    anyone = [1 / vcs] * vcs
    channels = [("in", flows.source[path]), *map(int, flows.paths[path])]
    channels.append(("out", flows.target[path]))
    shares = [anyone, *(list(row) for row in flows.vc_share[first:last]), anyone]
    befores = [None, *channels[:-1]], [anyone, *shares[:-1]]
    rate = scale * flows.rate[path]
    return [
        Hop(channel, before, share, share_before, rate, stall=gap)
        for channel, before, share, share_before in zip(channels, befores[0], shares, befores[1],
                                                        strict=True)
    ]  # fmt: skip


def one_round(hops, setting, queue):
    """Go half-way to what the waits, queues and stalls would be, given those of all others."""
    flits = setting.flits
    inside = [hop for hop in hops if hop.before is not None]
    used = sums([(hop.channel, hop.share, hop.rate) for hop in hops])
    held = sums([(hop.channel, hop.share, hop.rate * time_held(hop, flits)) for hop in hops])
    held = {key: min(value, 1.0) for key, value in held.items()}
    counts = count_fronts(inside, flits)
    targets = [waits(hop, setting, counts, used, held) for hop in inside]
    for hop, (shared, for_vc) in zip(inside, targets, strict=True):
        hop.shared = shared
        hop.wait = (hop.wait + shared + for_vc) / 2

    delays = [(hop, setting.delay(hop)) for hop in inside]

    def before(value):
        return sums([(h.before, h.share_before, h.rate * value(h, d)) for h, d in delays])

    front = before(lambda _, delay: flits + setting.head + delay)
    further = before(lambda hop, delay: delay - setting.early * hop.shared)
    squares = before(lambda _, delay: spill(delay, flits, setting.room)[1])
    assert max(front.values()) < 1, "saturated"
    for key in front:
        queue[key] = (queue[key] + squares[key] / 2 / (1 - front[key])) / 2
    further = {key: value / used[key] if used[key] else 0.0 for key, value in further.items()}
    for hop in hops:
        if not (isinstance(hop.channel, tuple) and hop.channel[0] == "out"):
            new = new_stall(mean(hop, queue), mean(hop, further), setting)
            hop.stall = (hop.stall + new) / 2


def sums(terms):
    """Sum (channel, share of each VC, value) for each VC of each channel."""
    total = defaultdict(float)
    for channel, share, value in terms:
        for vc, part in enumerate(share):
            total[channel, vc] += part * value
    return total


def mean(hop, values):
    return sum(p * values.get((hop.channel, vc), 0.0) for vc, p in enumerate(hop.share))


def time_held(hop, flits):
    return flits + min(hop.shared, (hop.choices - 1) * flits) + hop.stall


def count_fronts(inside, flits):
    """Packets at the fronts, by what they are, of each channel and of each of its inputs."""
    counts = defaultdict(float)
    for hop in inside:
        for place in (hop.channel, (hop.channel, hop.before)):
            counts["flow", place] += hop.rate
            counts["sending", place] += hop.rate * (flits + hop.wait)
            counts["stalled", place] += hop.rate * hop.stall
            counts["delayed", place] += hop.rate * hop.wait
    return counts


def waits(hop, setting, counts, used, held):
    """The wait for the channel, and the one for a VC that nothing is sent on."""
    n, flits, gap, mine = hop.choices, setting.flits, setting.gap, (hop.channel, hop.before)

    def of_others(what):
        return counts[what, hop.channel] - counts[what, mine]

    full = mean(hop, held) ** (n - 1)
    delayed = hop.beside * counts["delayed", mine]
    ahead = of_others("sending") + delayed
    holders = of_others("sending") + of_others("stalled") + delayed
    own = hop.stall - gap + gap * hop.beside - (n - 1) * flits
    if own > 0:
        holders += counts["stalled", mine] * own / hop.stall
    on_vcs = [(used[hop.channel, vc], p > 0) for vc, p in enumerate(hop.share)]
    alike = sum(flow for flow, may in on_vcs if may) / sum(flow for flow, _ in on_vcs)
    shared = flits * ahead - flits / 2 * of_others("flow") * flits * full * alike
    return shared, full * holders * (hop.stall - gap / 2) / n


def new_stall(behind, beyond, setting):
    if setting.whole:
        return max(setting.gap, setting.until_room + beyond + behind)
    if setting.flits > setting.buffer:
        return setting.gap + spill(beyond + behind, setting.flits, setting.buffer)[0]
    return setting.gap + spill(behind, setting.flits, setting.buffer - setting.flits)[0]


def source_waits(flows, router, setting, paths):
    """Geo/G/1 at every source, for each path."""
    first, flits, others = [path[0] for path in paths], setting.flits, router.vcs - 1
    busy, work, taken = defaultdict(float), defaultdict(float), defaultdict(float)
    for node, hop in zip(flows.source, first, strict=True):
        taken[node] += hop.rate * (flits + hop.stall) / router.vcs
    for node, hop in zip(flows.source, first, strict=True):
        held_up = hop.stall - setting.gap
        if setting.whole:
            held_up *= min(taken[node], 1.0) ** others
            held_up += max(setting.gap - others * flits, 0)
        service = flits + held_up
        busy[node] += hop.rate * service
        work[node] += hop.rate * service * (service - 1) / 2
    return [work[node] / (1 - busy[node]) for node in flows.source]
