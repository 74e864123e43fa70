"""Johnson's locality model: processors that wait for a network that they themselves load.

Kirk L. Johnson, "The impact of communication locality on large-scale multiprocessor performance",
ISCA 1992 (MIT/LCS/TM-467). A ``Machine`` has models of the application and of its transactions. The
former says how often a processor begins a transaction, given how long they take, and the latter how
one uses the network. Its ``slope`` and ``offset`` are both together, in messages. The network is
that of Agarwal, "Limits on interconnection network performance", IEEE TPDS 2 (1991), as used in
section 2.4, with blocked messages buffered. It is a k-ary n-cube with wrap-around, a channel in
each direction of each dimension, dimension-order routing, and one network cycle per hop.
``predict_locality`` finds the message rate on which nodes and network agree. ``balance`` does so
for any other network.

Everything is in network cycles and flits, unless a name says otherwise, and all arguments
broadcast. What the processor does is given in processor cycles, of which ``Machine.speed`` says how
long they are.

Contention is that of buffered switches, in which a blocked message waits in one place. Plain
wormhole switches with two virtual channels block whole paths, and their messages take longer than
it says from a channel utilization of about 0.3 on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats
from netloom.base.errors import InputError

LEAST = {"dimensions": 1, "contexts": 1, "message_flits": 1, "squared_length_ratio": 1}
"""What numbers of the models are at least, if not 0."""

POSITIVE = ("speed", "messages", "critical_messages")
"""Those that are not 0 either."""


@dataclass(frozen=True, eq=False)
class Machine:
    """Processors, their transactions, and a torus. All fields may be arrays that broadcast.

    A transaction has messages and takes a fixed time. A processor works between transactions, and
    switches to another context meanwhile, here as in ``simulate_transactions``.

    Attributes
    ----------
    run_processor_cycles
        T_r, useful work of a thread between two transactions.
    messages
        g, the mean number of messages of a transaction.
    critical_messages
        c, those of them that follow one another, so that their latencies add up.
    message_flits
        B, the mean length of a message.
    fixed_processor_cycles
        T_f, the part of a transaction's latency that is none of its messages'.
    squared_length_ratio
        E[B²] / E[B]², at least 1. Only the wait for a node's own channels depends on it.
    contexts
        p, hardware contexts, or the mean number of outstanding transactions, by whatever means.
    switch_processor_cycles
        T_s, from one context to another. Not used with a single one, which waits instead.
    dimensions
        n, of the torus.
    speed
        Network cycles in a processor cycle.
    node_channels
        How many of the channels between a node and its router messages queue for (see
        ``node_channel_wait``): 0 to ignore them, 1, or 2 for the way in and the way out.

    Raises
    ------
    InputError
        If there is less than a context, dimension or flit, no speed, no messages or none that
        count, or a negative time or number of channels.

    Examples
    --------
    >>> machine = Machine(8, 2, 2, 12, 40, speed=2)
    >>> float(machine.slope), float(machine.offset), float(machine.least_gap)
    (1.0, 48.0, 8.0)
    """

    run_processor_cycles: Any
    messages: Any
    critical_messages: Any
    message_flits: Any
    fixed_processor_cycles: Any = 0
    squared_length_ratio: Any = 1
    contexts: Any = 1
    switch_processor_cycles: Any = 0
    dimensions: Any = 2
    speed: Any = 1
    node_channels: Any = 0

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            value = numbers(name, given, LEAST.get(name, 0), above=name in POSITIVE)
            object.__setattr__(self, name, value)

    @property
    def slope(self) -> Floats:
        """Johnson's latency sensitivity, s = p g / c.

        A node sends every t_m = (T_m + offset) / s cycles if messages take T_m (Johnson 1992,
        eq. 9, which is eqs. 6, 7 and 8 together), and not more often than ``least_gap`` says.
        """
        return np.asarray(self.contexts * self.messages / self.critical_messages)

    @property
    def offset(self) -> Floats:
        """Of the line that ``slope`` describes: (T_r + T_f) / c, network cycles."""
        grain = self.speed * (self.run_processor_cycles + self.fixed_processor_cycles)
        return np.asarray(grain / self.critical_messages)

    @property
    def busy(self) -> Floats:
        """T_r + T_s (eq. 4), network cycles: between transactions, if latency is hidden."""
        switch = np.where(self.contexts > 1, self.switch_processor_cycles, 0)
        return np.asarray(self.speed * (self.run_processor_cycles + switch))

    @property
    def least_gap(self) -> Floats:
        """The shortest t_m, of processors that hide all latency: (T_r + T_s) / g."""
        return np.asarray(self.busy / self.messages)


def random_distance(nodes: ArrayLike, dimensions: ArrayLike) -> Floats:
    """Return the mean distance between two different nodes of a k-ary n-cube with wrap-around.

    It is n k^(n+1) / (4 (k^n − 1)), and for odd k less by n k^(n−1) / (4 (k^n − 1)). Both are exact
    (Johnson 1992, eq. 17 and footnote 5). If k = N^(1/n) is no whole number, the form for even k is
    used, as in the paper. Its thousand processors in two dimensions have k = 31.6 (its Figure 8
    says k = 10, n = 2, which is a hundred).

    N is at least 2, not necessarily whole, and n at least 1: otherwise it raises InputError.

    Examples
    --------
    >>> random_distance([49, 64, 1000], 2).round(3)
    array([ 3.5  ,  4.063, 15.827])
    """
    number, n = numbers("nodes", nodes, 2), numbers("dimensions", dimensions, 1)
    radix = number ** (1 / n)
    whole = np.rint(radix)
    odd = (np.abs(radix - whole) < 1e-9 * radix) & (whole % 2 == 1)
    around = n * (radix - np.where(odd, 1 / radix, 0)) / 4
    return np.asarray(around / (1 - 1 / number))


def node_channel_wait(
    rate: ArrayLike, flits: ArrayLike, channels: ArrayLike, squared_length_ratio: ArrayLike = 1
) -> Floats:
    """Return the wait of a message for the channels between nodes and their routers, cycles.

    Each of them is an M/G/1 queue (Pollaczek and Khinchine). With ρ_n = r_m B the wait is v ρ_n B /
    (2 (1 − ρ_n)). Here v = E[B²] / E[B]² is 1 for messages of one length (M/D/1). Johnson 1992
    mentions such a term (section 2.4) that added 2 to 5 cycles, but does not print it. So this is
    the usual one, not the paper's.

    ``rate`` is r_m, messages per cycle and node, less than 1 / B. B is the mean length in flits. A
    message passes 0, 1 or 2 such channels.

    Examples
    --------
    >>> round(float(node_channel_wait(0.025, 12, 1)), 3)
    2.571
    """
    size = np.asarray(flits, np.float64)
    used = np.asarray(rate, np.float64) * size
    scale = np.asarray(channels, np.float64) * np.asarray(squared_length_ratio, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        wait = scale * used * size / (2 * (1 - used))
    return np.asarray(np.where(scale > 0, wait, 0))


def numbers(where: str, value: ArrayLike, least: float, *, above: bool = False) -> Floats:
    """Return the value as float64.

    Raises
    ------
    InputError
        If something is no number, not finite, below ``least``, or equal to it where it has to be
        ``above``.

    Examples
    --------
    >>> numbers("contexts", [1, 0], 1)
    Traceback (most recent call last):
        ...
    netloom.InputError: contexts: found 0; expected at least 1
    """
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(where, f"{value!r}", "numbers") from None
    good = np.isfinite(found) & ((found > least) if above else (found >= least))
    if not good.all():
        wanted = f"{'more than' if above else 'at least'} {least:g}"
        raise InputError(where, f"{found[~good].flat[0]:g}", wanted)
    return found


MOST_HALVINGS = 200
"""Of the rates that are sought: some 50 are enough, and more for one near 0."""


def balance(machine: Machine, latency: Callable[[Floats], Floats], most_rate: ArrayLike) -> Floats:
    """Return the message rate on which nodes and a network, any network, agree.

    The root of s − r (offset + T_m(r)), which falls from s at r = 0 for every T_m that grows with
    the rate, and so has at most one. By bisection.

    Parameters
    ----------
    machine
        The nodes, whatever their network.
    latency
        T_m, network cycles, of rates r in messages per node and network cycle. An array of them.
    most_rate
        A rate up to which the latency is finite. It is the answer where the network would not
        slow the nodes down to it: it can carry no more.

    Returns
    -------
    message_rate
        float64 of the broadcast shape. At most that of the machine's ``least_gap``.

    Examples
    --------
    >>> machine = Machine(8, 2, 2, 12, 40, speed=2)
    >>> rate = balance(machine, lambda rate: 20 + 10 * rate / (0.05 - rate), 0.0499)
    >>> round(float(rate), 5), round(float(1 / rate - 48), 3)
    (0.01392, 23.857)
    """

    def carried(rate: Floats) -> Bools:
        return np.asarray(slope >= rate * (offset + latency(rate)))

    slope, offset = machine.slope, machine.offset
    with np.errstate(divide="ignore", over="ignore"):
        most = np.minimum(np.asarray(most_rate, np.float64), 1 / machine.least_gap)
        free = carried(most)
    low, high = np.zeros(free.shape), np.broadcast_to(most, free.shape)
    for _ in range(MOST_HALVINGS):
        middle = (low + high) / 2
        below = carried(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
        if (high - low <= 1e-15 * high).all():
            break
    return np.where(free, most, low)


@dataclass(frozen=True, eq=False)
class Locality:
    """What ``predict_locality`` says. All fields are arrays of one shape, times network cycles.

    Attributes
    ----------
    distance
        d, hops.
    message_rate, message_latency
        r_m, messages per node and cycle, and T_m.
    per_hop_latency
        T_h, of a message's head; 1 where nothing is in its way.
    channel_utilisation, busiest_channel_utilisation
        ρ, flits per cycle on each channel in the mean, and on the one with most.
    node_channel_wait
        The part of T_m that is spent waiting for channels between nodes and routers.
    inter_transaction_cycles
        t_t, the sum of the five that follow (Johnson 1992, eq. 18): variable message overhead, of
        distance. Fixed message overhead, of length and the nodes' channels. Fixed transaction
        overhead. Useful work, and switching, which processors see only where they hide all
        latency: then the first three are nothing.
    transaction_latency
        T_t.
    latency_hidden
        bool, where processors hide all latency (Johnson 1992, eqs. 3 and 4).
    speed
        Network cycles in a processor cycle.
    """

    distance: Floats
    message_rate: Floats
    message_latency: Floats
    per_hop_latency: Floats
    channel_utilisation: Floats
    busiest_channel_utilisation: Floats
    node_channel_wait: Floats
    inter_transaction_cycles: Floats
    variable_message_cycles: Floats
    fixed_message_cycles: Floats
    fixed_transaction_cycles: Floats
    work_cycles: Floats
    switch_cycles: Floats
    transaction_latency: Floats
    latency_hidden: Bools
    speed: Floats


def predict_locality(
    machine: Machine, distance: ArrayLike, channel_load: ArrayLike = 1
) -> Locality:
    """Return the rate at which processors communicate over a torus, and what it costs them.

    Eq. 9 of the nodes and eq. 11 of the network, s / r − (T_r + T_f) / c = d T_h(ρ) + B, with
    ρ = a r and a = B k_d / 2, are a quadratic (Johnson 1992, section 2.5)

        (Q − L) ρ² + (L + s a) ρ − s a = 0,    L = d + B + (T_r + T_f) / c,

    where Q ρ / (1 − ρ) is the wait, and Q = d B (k_d − 1) / k_d² × (n + 1) / n with k_d = d / n,
    from n k_d (T_h − 1) (Johnson 1992, eqs. 11, 13 and 14). Q is 0 below k_d = 1, where T_h is
    taken to be 1 (section 2.4). For long distances it becomes (n + 1) B: the waits of one message
    do not grow with its path. The quadratic is −s a at ρ = 0 and Q ≥ 0 at ρ = 1, so that exactly
    one root is in (0, 1), the only utilizations that there are:

        ρ = 2 s a / (L + s a + √((L − s a)² + 4 Q s a)).

    In this form, the root is of a positive number and the denominator has no difference. Without
    contention (Q = 0, k_d ≤ 1), ρ = min(s a / L, 1). At 1, channels are always in use, and messages
    wait in front of them for as long as the nodes let them.

    Contention for the nodes' own channels adds the wait there, and ``balance`` finds the root. The
    default is without this contention. It reproduces table 1 of the paper to all its digits, but
    any such term misses the table by up to a third. Section 2.4 of the paper says that the figures
    include one.

    The paper's network has the same ρ on all channels. Most mappings do not, and processors with
    many outstanding transactions wait for the busiest channel. With the loads of a mapping, a
    message meets each channel's own utilization, ρ × load / mean load. It waits Q times the mean of
    ρ / (1 − ρ) over the hops of all messages. This differs from the paper. It was compared with
    simulation on an 8 x 8 torus with buffered switches and four contexts, under mappings of
    distances 1 to 6 whose busiest channels are used 90 % of the time. Simulated message rates are
    within 6 % of it for requests and replies, with nothing fitted. They are within 10 % for
    coherence traffic, with slope and offset regressed on the same runs, as in the paper. The mean ρ
    alone is up to 14 % and 31 % too high.

    Parameters
    ----------
    machine
        Processors, their transactions and the network.
    distance
        d, mean hops of a message, more than 0. Of any mapping, or ``random_distance``.
    channel_load
        float64[..., channels], flits on each channel of the network under the mapping, in any
        unit. Unused channels count. Even where it is not given.

    Returns
    -------
    locality
        Of the broadcast shape of all that was given.

    Raises
    ------
    InputError
        If the distance is not positive and finite, or no channel has a load.

    Examples
    --------
    >>> alone, near = (predict_locality(alewife(), distance=d) for d in (1, 4.06))
    >>> round(float(alone.message_rate), 4), round(float(near.message_rate), 4)
    (0.027, 0.0232)
    >>> round(float(near.message_latency), 1), round(float(near.per_hop_latency), 2)
    (23.3, 2.77)
    """
    d = numbers("distance", distance, 0, above=True)
    flits, n, contexts = machine.message_flits, machine.dimensions, machine.contexts
    slope, offset = machine.slope, machine.offset
    along, alone = d / n, d + flits
    growth = flits * (n + 1) * np.maximum(1 - 1 / along, 0)  # eqs. 11, 13 and 14
    mean_flits = flits * along / 2  # of messages on each channel (eq. 10)
    load = np.atleast_1d(numbers("channel_load", channel_load, 0))
    total = load.sum(axis=-1, keepdims=True)
    if not (total > 0).all():
        raise InputError("channel_load", "no load", "flits on at least one channel")
    share = load / total  # of all hops
    peak = share * load.shape[-1]  # over the mean
    top = peak.max(axis=-1)
    queues = flits, machine.node_channels, machine.squared_length_ratio
    full = mean_flits * top  # flits of messages on the busiest channel

    def message_latency(rate: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            used = np.minimum((mean_flits * rate)[..., None] * peak, 1)
            wait = growth * (share * used / (1 - used)).sum(axis=-1)
        own = node_channel_wait(rate, *queues)
        return np.asarray(alone + np.where(growth > 0, wait, 0) + own)

    with np.errstate(divide="ignore", over="ignore"):
        most = 1 / machine.least_gap
    if machine.node_channels.any() or peak.shape[-1] > 1:
        full = np.where(machine.node_channels > 0, np.maximum(full, flits), full)
        rate = balance(machine, message_latency, 1 / full)
    else:
        limit, whole = slope * full, alone + offset
        root = np.sqrt((whole - limit) ** 2 + 4 * growth * limit)
        rate = np.minimum(2 * slope / (whole + limit + root), most)
    hidden = rate >= most
    latency = np.where(hidden, message_latency(rate), slope / rate - offset)
    critical, fixed = machine.critical_messages, machine.speed * machine.fixed_processor_cycles
    run = machine.speed * machine.run_processor_cycles
    wait = node_channel_wait(rate, *queues)
    per_hop = np.maximum((latency - flits - wait) / d, 1)
    used = mean_flits * rate
    parts = {
        "distance": d,
        "message_rate": rate,
        "message_latency": latency,
        "per_hop_latency": per_hop,
        "channel_utilisation": used,
        "busiest_channel_utilisation": used * top,
        "node_channel_wait": wait,
        "inter_transaction_cycles": machine.messages / rate,
        "variable_message_cycles": np.where(hidden, 0, critical * d * per_hop / contexts),
        "fixed_message_cycles": np.where(hidden, 0, critical * (flits + wait) / contexts),
        "fixed_transaction_cycles": np.where(hidden, 0, fixed / contexts),
        "work_cycles": np.where(hidden, run, run / contexts),
        "switch_cycles": np.where(hidden, machine.busy - run, 0),
        "transaction_latency": critical * latency + fixed,
        "latency_hidden": hidden,
        "speed": machine.speed,
    }
    return Locality(**dict(zip(parts, np.broadcast_arrays(*parts.values()), strict=True)))


def per_hop_limit(machine: Machine) -> Floats:
    """Return what T_h tends to as distances grow, in network cycles.

    B s / (2 n) (Johnson 1992, eq. 16), and not less than 1: the nodes fill the channels only
    where B s > 2 n, which the paper does not say.

    Examples
    --------
    >>> round(float(per_hop_limit(alewife(contexts=2))), 2)
    9.78
    """
    limit = machine.message_flits * machine.slope / (2 * machine.dimensions)
    return np.asarray(np.maximum(limit, 1))


def expected_gain(machine: Machine, nodes: ArrayLike) -> Floats:
    """Return how much faster an ideal mapping is than a random one: the ratio of transaction rates.

    Every message goes one hop under it (Johnson 1992, section 4.2), and ``random_distance`` of N
    ``nodes`` under a random one.

    Examples
    --------
    >>> expected_gain(alewife(), nodes=[1e3, 1e6]).round(1)
    array([ 2.1, 41.2])
    """
    mapped = predict_locality(machine, 1)
    at_random = predict_locality(machine, random_distance(nodes, machine.dimensions))
    return np.asarray(at_random.inter_transaction_cycles / mapped.inter_transaction_cycles)


def alewife(
    contexts: ArrayLike = 1, *, speed: ArrayLike = 2, node_channels: ArrayLike = 0
) -> Machine:
    """Return Johnson's synthetic program on Alewife, with all that the paper does not print.

    Printed: g = 3.2, B = 12 flits, T_s = 11 processor cycles, networks twice as fast as
    processors, n = 2 (sections 3.1 and 3.2). The other numbers were inferred. In network cycles:

    * c = 1.895 and T_r + T_f = 93.81 with one context are the two numbers with which all eight
      gains of table 1 come out. Nothing else near them does, so that they are well determined,
      but those eight then are no test of the model.
    * c = 1.963 with two: 2 g / c is the printed s = 3.26 (section 4.1). c = 2.179 with four: "15
      percent larger" than with one (section 3.3).
    * T_r + T_f = 176 with two: T_h is 80 % of its limit at 3000 processors, "a few thousand"
      (section 4.1); 150 to 190 would do. 322 with four: a gain of 55 at a million (Figure 7).
      Up to 360 would do. That it grows almost as p is not explained. The 93.81 of one context
      miss both by far.
    * T_f is two thirds of T_r + T_f + c B with one context (Figure 8), hence T_r = 16.11, which
      is taken for all.
    * E[B²] / E[B]² = 1, messages of one length: so one node channel adds 1.9 to 4.5 cycles at the
      paper's distances and contexts, "two to five" (section 2.4). Lengths of 8 and 24 flits, which
      g and B imply (``programs.transactions.coherence``), have 4/3, for 2.6 to 5.9 cycles.

    Parameters
    ----------
    contexts
        p, 1 to 4. C and T_f are on straight lines between those of 1, 2 and 4.
    speed, node_channels
        Of the network. See ``Machine``.

    Raises
    ------
    InputError
        If there are more contexts than Alewife's processor has.

    Examples
    --------
    >>> round(float(alewife(contexts=4).critical_messages), 3)
    2.179
    """
    p = numbers("contexts", contexts, 1)
    if (p > 4).any():
        raise InputError("contexts", f"{p.max():g}", "at most the 4 of Alewife's processor")
    known = (1, 2, 4)
    critical = np.interp(p, known, (1.895, 6.4 / 3.26, 1.15 * 1.895))
    fixed = np.interp(p, known, (38.85, 79.945, 152.945))
    sent = {"messages": 3.2, "critical_messages": critical, "message_flits": 12}
    processor = {"run_processor_cycles": 8.055, "switch_processor_cycles": 11, "contexts": p}
    network = {"speed": speed, "node_channels": node_channels}
    return Machine(**processor, fixed_processor_cycles=fixed, **sent, **network)
