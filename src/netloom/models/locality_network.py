"""The network under Johnson's locality model: messages on a torus whose blocked ones are buffered.

Agarwal, "Limits on interconnection network performance", IEEE TPDS 2 (1991), as Johnson 1992 uses
it (section 2.4): a k-ary n-cube with wrap-around, a channel in each direction of each dimension,
dimension-order routing, one network cycle a hop. Everything is in network cycles and flits, and
all arguments broadcast.

Its contention is that of buffered switches, in which a blocked message waits in one place. Plain
wormhole switches with two virtual channels block whole paths, and their messages take longer than
it says from a channel utilisation of about 0.3 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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


def random_distance(nodes: ArrayLike, dimensions: ArrayLike) -> NDArray[np.float64]:
    """Return the mean distance between two different nodes of a k-ary n-cube with wrap-around.

    n k^(n+1) / (4 (k^n − 1)) for even k, less n k^(n−1) / (4 (k^n − 1)) for odd k: exact (Johnson
    1992, eq. 17 and footnote 5). Where k = N^(1/n) is no whole number the form for even k stands
    for the curve between: so does the paper, whose thousand processors in two dimensions have
    k = 31.6 (its Figure 8 says k = 10, n = 2, which is a hundred).

    Parameters
    ----------
    nodes
        N, at least 2, not necessarily whole.
    dimensions
        n, at least 1.

    Raises
    ------
    InputError
        If there are fewer than two nodes, or there is no dimension.

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


def contention_growth(distance: ArrayLike, flits: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Return Q of a message's wait in the network, Q ρ / (1 − ρ) cycles.

    Q = d B (k_d − 1) / k_d² × (n + 1) / n with k_d = d / n, from n k_d (T_h − 1) (Johnson 1992,
    eqs. 11, 13 and 14); none below k_d = 1, where T_h is taken to be 1 (section 2.4). For long
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
) -> NDArray[np.float64]:
    """Return ρ = r_m B k_d / 2, flits a cycle on each channel (Johnson 1992, eq. 10).

    Examples
    --------
    >>> float(channel_utilisation(0.02, 4, 12, 2))
    0.24
    """
    each = np.asarray(rate, np.float64) * np.asarray(flits, np.float64)
    return np.asarray(each * np.asarray(distance, np.float64) / np.asarray(n, np.float64) / 2)


def node_channel_wait(
    rate: ArrayLike, flits: ArrayLike, channels: ArrayLike, squared_length_ratio: ArrayLike = 1
) -> NDArray[np.float64]:
    """Return the wait of a message for the channels between nodes and their routers, cycles.

    Each of them is an M/G/1 queue (Pollaczek and Khinchine): with ρ_n = r_m B the wait is
    v ρ_n B / (2 (1 − ρ_n)), where v = E[B²] / E[B]² is 1 for messages of one length (M/D/1).
    Johnson 1992 says that there is such a term (section 2.4) and that it added 2 to 5 cycles, but
    not which: this is the usual one, not the paper's.

    Parameters
    ----------
    rate
        r_m, messages a cycle and node; less than 1 / B.
    flits
        B, the mean length of a message.
    channels
        How many of them a message passes: 0, 1 or 2.
    squared_length_ratio
        v, at least 1.

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


def numbers(
    where: str, value: ArrayLike, least: float, *, above: bool = False
) -> NDArray[np.float64]:
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
    netloom.errors.InputError: contexts: found 0; expected at least 1
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
