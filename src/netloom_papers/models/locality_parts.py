"""The parts of Johnson's locality model: the application, the transaction, the node, the network.

Johnson 1992, sections 2.1 to 2.5. See ``models.locality``. The application model says how often a
processor begins a transaction, given how long they take. The transaction model says how one
transaction uses the network. The node model is both together, in messages. The network is that of
Agarwal, "Limits on interconnection network performance", IEEE TPDS 2 (1991), as used in Johnson
1992 (section 2.4), with blocked messages buffered. It is a k-ary n-cube with wrap-around, a channel
in each direction of each dimension, dimension-order routing, and one network cycle per hop.
Everything is in network cycles and flits, unless a name says otherwise, and all arguments
broadcast.

Contention is that of buffered switches, in which a blocked message waits in one place. Plain
wormhole switches with two virtual channels block whole paths, and their messages take longer than
it says from a channel utilization of about 0.3 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats


@dataclass(frozen=True, eq=False)
class TorusNetwork:
    """A torus, as the locality model sees it. All fields may be arrays that broadcast.

    Attributes
    ----------
    dimensions
        n.
    speed
        Network cycles in a processor cycle.
    node_channels
        How many of the channels between a node and its router messages queue for (see
        ``node_channel_wait``): 0 to ignore them, 1, or 2 for the way in and the way out.

    Raises
    ------
    InputError
        If there is no dimension, no speed, or a negative number of channels.
    """

    dimensions: ArrayLike = 2
    speed: ArrayLike = 1
    node_channels: ArrayLike = 0

    def __post_init__(self) -> None:
        numbers("dimensions", self.dimensions, 1)
        numbers("speed", self.speed, 0, above=True)
        numbers("node_channels", self.node_channels, 0)


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


def contention_growth(distance: ArrayLike, flits: ArrayLike, n: ArrayLike) -> Floats:
    """Return Q of a message's wait in the network, Q ρ / (1 − ρ) cycles.

    Q = d B (k_d − 1) / k_d² × (n + 1) / n with k_d = d / n, from n k_d (T_h − 1) (Johnson 1992,
    eqs. 11, 13 and 14). None below k_d = 1, where T_h is taken to be 1 (section 2.4). For long
    distances it becomes (n + 1) B: the waits of one message do not grow with its path.

    Examples
    --------
    >>> contention_growth([1, 4, 1e9], 12, 2).round(3)
    array([ 0., 18., 36.])
    """
    d, size, dimensions = (np.asarray(each, np.float64) for each in (distance, flits, n))
    along = d / dimensions
    return np.asarray(size * (dimensions + 1) * np.maximum(1 - 1 / along, 0))


def channel_utilisation(
    rate: ArrayLike, distance: ArrayLike, flits: ArrayLike, n: ArrayLike
) -> Floats:
    """Return ρ = r_m B k_d / 2, flits per cycle on each channel (Johnson 1992, eq. 10).

    Examples
    --------
    >>> float(channel_utilisation(0.02, 4, 12, 2))
    0.24
    """
    each = np.asarray(rate, np.float64) * np.asarray(flits, np.float64)
    return np.asarray(each * np.asarray(distance, np.float64) / np.asarray(n, np.float64) / 2)


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


MOST_STEPS = 200
"""Of the bracketed search, which needs about ten."""


@dataclass(frozen=True, eq=False)
class Application:
    """What a processor does between transactions. All fields may be arrays that broadcast.

    Attributes
    ----------
    run_processor_cycles
        T_r, useful work of a thread between two transactions.
    contexts
        p, hardware contexts, or the mean number of outstanding transactions, by whatever means.
    switch_processor_cycles
        T_s, from one context to another. Not used with a single one, which waits instead. A
        processor that waits switches meanwhile, here as in ``simulate_transactions``.

    Raises
    ------
    InputError
        If there are fewer contexts than one, or a time is negative.
    """

    run_processor_cycles: ArrayLike
    contexts: ArrayLike = 1
    switch_processor_cycles: ArrayLike = 0

    def __post_init__(self) -> None:
        numbers("run_processor_cycles", self.run_processor_cycles, 0)
        numbers("contexts", self.contexts, 1)
        numbers("switch_processor_cycles", self.switch_processor_cycles, 0)

    def least_gap(self) -> Floats:
        """Return the least time between transactions, T_r + T_s, processor cycles (eq. 4)."""
        switch = np.where(np.asarray(self.contexts) > 1, self.switch_processor_cycles, 0)
        return np.asarray(np.asarray(self.run_processor_cycles, np.float64) + switch)

    def inter_transaction(self, latency: ArrayLike) -> Floats:
        """Return t_t, the mean time between transactions that take T_t, in processor cycles.

        It is (T_r + T_t) / p (Johnson 1992, eqs. 1 and 5). It is T_r + T_s (eq. 4) while
        transactions end before their thread's turn comes, T_t < p T_s + (p − 1) T_r (eq. 3). The
        longer one holds, because the two are equal where the one mode becomes the other.

        Examples
        --------
        >>> Application(10, contexts=2, switch_processor_cycles=4).inter_transaction([8, 18, 30])
        array([14., 14., 20.])
        """
        run = np.asarray(self.run_processor_cycles, np.float64)
        waiting = (run + np.asarray(latency, np.float64)) / np.asarray(self.contexts, np.float64)
        return np.asarray(np.maximum(waiting, self.least_gap()))


@dataclass(frozen=True, eq=False)
class TransactionCost:
    """What a transaction takes. All fields may be arrays that broadcast.

    Attributes
    ----------
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

    Raises
    ------
    InputError
        If there are no messages, none that count, less than a flit, or negative time.
    """

    messages: ArrayLike
    critical_messages: ArrayLike
    message_flits: ArrayLike
    fixed_processor_cycles: ArrayLike = 0
    squared_length_ratio: ArrayLike = 1

    def __post_init__(self) -> None:
        numbers("messages", self.messages, 0, above=True)
        numbers("critical_messages", self.critical_messages, 0, above=True)
        numbers("message_flits", self.message_flits, 1)
        numbers("fixed_processor_cycles", self.fixed_processor_cycles, 0)
        numbers("squared_length_ratio", self.squared_length_ratio, 1)


@dataclass(frozen=True, eq=False)
class MessageCurve:
    """How often a node sends, given how long messages take: t_m = (T_m + offset) / slope.

    Attributes
    ----------
    slope
        s = p g / c, Johnson's latency sensitivity.
    offset
        (T_r + T_f) / c, network cycles.
    least_gap
        The shortest t_m, of processors that hide all latency: (T_r + T_s) / g, network cycles.
    """

    slope: Floats
    offset: Floats
    least_gap: Floats


def message_curve(
    application: Application, transaction: TransactionCost, speed: ArrayLike = 1
) -> MessageCurve:
    """Return the node model (Johnson 1992, eq. 9, which is eqs. 6, 7 and 8 together).

    ``speed`` is network cycles in a processor cycle.

    Examples
    --------
    >>> curve = message_curve(Application(8), TransactionCost(2, 2, 12, 40), speed=2)
    >>> float(curve.slope), float(curve.offset), float(curve.least_gap)
    (1.0, 48.0, 8.0)
    """
    clock = numbers("speed", speed, 0, above=True)
    sent = np.asarray(transaction.messages, np.float64)
    critical = np.asarray(transaction.critical_messages, np.float64)
    busy = np.asarray(application.run_processor_cycles, np.float64)
    grain = clock * (busy + np.asarray(transaction.fixed_processor_cycles, np.float64))
    return MessageCurve(
        slope=np.asarray(np.asarray(application.contexts, np.float64) * sent / critical),
        offset=np.asarray(grain / critical),
        least_gap=np.asarray(clock * application.least_gap() / sent),
    )


def balance(
    curve: MessageCurve,
    latency: Callable[[Floats], Floats],
    most_rate: ArrayLike,
) -> Floats:
    """Return the message rate on which nodes and a network, any network, agree.

    The root of s − r (offset + T_m(r)), which falls from s at r = 0 for every T_m that grows with
    the rate, and so has at most one. Regula falsi in the Illinois form, which never leaves its
    bracket.

    Parameters
    ----------
    curve
        The nodes.
    latency
        T_m, network cycles, of rates r in messages per node and network cycle. An array of them.
    most_rate
        A rate up to which the latency is finite. It is the answer where the network would not
        slow the nodes down to it: it can carry no more.

    Returns
    -------
    message_rate
        float64 of the broadcast shape. At most that of the curve's ``least_gap``.

    Examples
    --------
    >>> curve = message_curve(Application(8), TransactionCost(2, 2, 12, 40), speed=2)
    >>> rate = balance(curve, lambda rate: 20 + 10 * rate / (0.05 - rate), 0.0499)
    >>> round(float(rate), 5), round(float(1 / rate - 48), 3)
    (0.01392, 23.857)
    """

    def spare(rate: Floats) -> Floats:
        return np.asarray(curve.slope - rate * (curve.offset + latency(rate)))

    with np.errstate(divide="ignore", over="ignore"):
        high = np.minimum(np.asarray(most_rate, np.float64), 1 / curve.least_gap)
    over = spare(high)
    free = over >= 0
    high, over = np.broadcast_arrays(high, np.where(free, -1, over))
    low, under = np.zeros_like(high), np.broadcast_to(curve.slope, high.shape)
    most, moved = high, np.zeros(high.shape)
    for _ in range(MOST_STEPS):
        with np.errstate(invalid="ignore"):
            middle = (low * over - high * under) / (over - under)
        middle = np.where(np.isfinite(middle), middle, (low + high) / 2)  # infinite latency
        left = spare(middle)
        settled = np.abs(left) <= 1e-13 * curve.slope
        if (settled | free | (high - low <= 1e-15 * high)).all():
            break
        up = left > 0
        side = np.where(up, 1, -1)
        stuck = side == moved  # the same end as before has moved: weigh the other one less
        under = np.where(up, left, np.where(stuck, under / 2, under))
        over = np.where(up, np.where(stuck, over / 2, over), left)
        low, high, moved = np.where(up, middle, low), np.where(up, high, middle), side
    return np.asarray(np.where(free, most, middle))
