"""Message latency on a torus with broadcasts, as published, and with its slips mended.

Source: Shahrabi, Ould-Khaoua & Mackenzie, "Communication delay in wormhole-routed torus networks",
SAC 2002. It models wormhole switching, V virtual channels per channel, messages of M flits and
Poisson sources. Two of the virtual channels are the deterministic ones of Duato's routing. Equation
numbers are the paper's.

``printed`` is the paper, with four readings where the print is garbled or silent: the mean
distance along an odd ring is (k − 1/k) / 4 (eq. 5). The sum of eq. 12 runs over the whole hops of
d̄ = n k̄, with P_c of eq. 13 beyond k̄. The sum that normalizes eq. 30 runs to V, and V̄ of eq. 31,
0 / 0 at no load, is 1. ``consistent`` makes six corrections. See ``Corrections``.

Neither holds near its saturation: an independent simulation carried 1.3 to 1.7 times the rate at
which ``printed`` loses its solution. Up to 0.8 of that rate it was within some 6 % of ``printed``
and 16 % of ``consistent``. That the less correct one is nearer is no support for it: its waiting
is too long, which too little traffic makes up for.

The start-up latency Δ of assumption c) is in no equation. It is spent in the node, not on a
channel that virtual channels share, so that it is added outside the multiplexing factor:
L̄ = Δ + (S̄_u + W̄_s) V̄ (eq. 1).

What is of two dimensions only in the paper: the tree of eq. 2, hence broadcasts in ``printed``,
and eq. 13, which other dimensions take from the same argument (see ``hops_left``). Broadcasts in
``consistent`` need only that the source sends 2 n of the k^n − 1 messages of a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom_papers.models.kernels import published_torus as kernel

MAX_VCS = 1024
"""Most virtual channels: a rate has so many probabilities."""


@dataclass(frozen=True)
class Corrections:
    """What is mended of the printed equations. Nothing by default.

    Attributes
    ----------
    replicas
        Eqs. 11 and 26: eq. 3 is the rate of nodes that replicate, and ω̄ of eq. 10 averages over
        those that do not, so that their product counts the probability to replicate twice. Each
        channel carries (k^n − 1 − 2 n) β λ_g / 2 n replicas: the messages of a tree less those
        of its source.
    escape_channel
        Eq. 16: of the V ways to have V − 1 busy virtual channels, one leaves the wrong
        deterministic channel free, not two: the one that is required is a certain one.
    broadcast_hop
        Eq. 24: a broadcast message makes a hop as well, M + 1 cycles as in eq. 12.
    broadcast_blocking
        Eq. 25: a broadcast message waits if all the channels that it may use are busy, which is
        P_d, as for the last dimension of a unicast message, and not P_V.
    other_nodes
        Eqs. 6, 7 and 12: a message is for one of the k^n − 1 other nodes. Eq. 5 averages over
        all, its source among them, which adds neither hops nor blocking: both are
        k^n / (k^n − 1) times as many.
    source_weights
        Eq. 27: the weights of unicast and broadcast messages in a source queue are its rates of
        eq. 26, not those of the node.
    """

    replicas: bool = False
    escape_channel: bool = False
    broadcast_hop: bool = False
    broadcast_blocking: bool = False
    other_nodes: bool = False
    source_weights: bool = False


VARIANTS = {"printed": Corrections(), "consistent": Corrections(*[True] * 6)}
"""The variants that have a name."""


@dataclass(frozen=True, eq=False)
class PublishedTorus:
    """The model's answer. Arrays are float64 of the rates' shape. Times are cycles.

    Beyond saturation all is NaN but the rates.

    Attributes
    ----------
    rate
        λ_g, messages per cycle and node.
    latency
        L̄_u of a unicast message from its generation on, start-up included (eq. 1).
    network_latency, broadcast_network_latency
        S̄_u (eq. 12), and S̄_b of one step of a broadcast (eq. 24).
    service_time
        S̄ of a channel, the fixed point (eq. 21).
    channel_wait, source_wait
        W̄_c (eq. 23) and W̄_s (eq. 28).
    vc_multiplexing
        V̄ (eq. 31).
    channel_rate
        λ_c, messages per cycle and channel (eq. 4), the sum of the next three.
    unicast_channel_rate, broadcast_channel_rate, replica_channel_rate
        λ_cu (eq. 7), λ_cb (eq. 8) and λ_cr (eq. 11).
    adaptive_busy, escape_busy
        P_a (eq. 15) and P_d (eq. 16).
    busy_vcs
        P_v for v = 0 to V (eq. 30), along one more axis at the end.
    saturated
        bool: whether the rate is beyond ``saturation_rate``.
    saturation_rate
        Largest rate at which the model has a solution.
    """

    rate: Floats
    latency: Floats
    network_latency: Floats
    broadcast_network_latency: Floats
    service_time: Floats
    channel_wait: Floats
    source_wait: Floats
    vc_multiplexing: Floats
    channel_rate: Floats
    unicast_channel_rate: Floats
    broadcast_channel_rate: Floats
    replica_channel_rate: Floats
    adaptive_busy: Floats
    escape_busy: Floats
    busy_vcs: Floats
    saturated: Bools
    saturation_rate: float


SOLVED = (
    "latency", "network_latency", "broadcast_network_latency", "service_time", "channel_wait",
    "source_wait", "vc_multiplexing", "adaptive_busy", "escape_busy",
)  # fmt: skip
"""The columns of the kernel's answers."""


class Constants(NamedTuple):
    """A network as the kernel sees it: rates for λ_g = 1, times in cycles.

    ``unicast_rate`` and ``broadcast_rate`` (replicas included) are those of a channel.
    ``unicast_cycles`` and ``broadcast_cycles`` are S̄_u and S̄_b without blocking. ``hops_left[r]``
    hops have r + 1 dimensions left. ``escape_ways`` is the factor of eq. 16, and
    ``first_hop_escapes`` says whether eq. 25 has P_d.
    """

    flits: float
    vcs: int
    unicast_rate: float
    broadcast_rate: float
    unicast_cycles: float
    broadcast_cycles: float
    hops_left: Floats
    escape_ways: float
    first_hop_escapes: bool
    source_rate: float
    source_broadcast_share: float


def published_torus(
    radix: int,
    *,
    dimensions: int = 2,
    message_flits: int,
    vcs: int,
    rate: ArrayLike,
    broadcast: float = 0.0,
    startup_cycles: float = 0.0,
    variant: str | Corrections = "printed",
) -> PublishedTorus:
    """Return the mean latency of unicast messages and all that leads to it.

    Parameters
    ----------
    radix
        k, at least 2. At least 3 with broadcasts.
    dimensions
        n, at least 1. See the module's text for what other than 2 means.
    message_flits
        M, at least 1.
    vcs
        V, at least 3.
    rate
        λ_g, messages per cycle and node, of any shape.
    broadcast
        β, the fraction of messages that are broadcasts, 0 to 1.
    startup_cycles
        Δ, at least 0.
    variant
        A name of ``VARIANTS``, or the corrections one by one.

    Raises
    ------
    InputError
        If an argument is out of its range, or broadcasts have no equation (see the module's text).

    Examples
    --------
    >>> found = published_torus(
    ...     8, message_flits=32, vcs=3, rate=[0, 0.004, 0.008, 0.012], broadcast=0.02
    ... )
    >>> found.latency.round(2)
    array([36.  , 51.77, 75.75,   nan])
    >>> round(found.saturation_rate, 6)
    0.009121
    """
    rates = np.array(rate, np.float64)
    wrong = rates[~(np.isfinite(rates) & (rates >= 0))]
    if wrong.size:
        raise InputError("rate", f"{wrong[0]:g}", "messages per cycle and node, at least 0")
    if not 0 <= startup_cycles < np.inf:
        raise InputError("startup_cycles", f"{startup_cycles:g}", "cycles, at least 0")
    model = _constants(radix, dimensions, message_flits, vcs, broadcast, variant)
    found = np.empty((rates.size, len(SOLVED)))
    busy = np.empty((rates.size, vcs + 1))
    kernel.solve(rates.ravel(), model, found, busy)
    found[:, 0] += startup_cycles
    columns = {
        name: column.reshape(rates.shape) for name, column in zip(SOLVED, found.T, strict=True)
    }
    return PublishedTorus(
        **columns,
        rate=rates,
        channel_rate=np.asarray(rates * (model.unicast_rate + model.broadcast_rate)),
        unicast_channel_rate=np.asarray(rates * model.unicast_rate),
        broadcast_channel_rate=np.asarray(rates * broadcast),
        replica_channel_rate=np.asarray(rates * (model.broadcast_rate - broadcast)),
        busy_vcs=busy.reshape(*rates.shape, vcs + 1),
        saturated=np.isnan(columns["service_time"]),
        saturation_rate=float(kernel.saturation(model)),
    )


def published_saturation(
    radix: int,
    *,
    dimensions: int = 2,
    message_flits: int,
    vcs: int,
    broadcast: float = 0.0,
    variant: str | Corrections = "printed",
) -> float:
    """Return the rate, messages per cycle and node, above which the model has no solution.

    There the two fixed points of eq. 21 meet and vanish, long before λ_c S̄ = 1 if virtual channels
    are few: blocking lengthens the service times that it comes from. On rings of two and three
    nodes, where d̄ of eq. 6 is less than 1, the source queues may be what fills first.

    Parameters and errors are those of ``published_torus``.

    Examples
    --------
    >>> cases = [published_saturation(8, message_flits=32, vcs=3, broadcast=0.04, variant=variant)
    ...          for variant in ("printed", "consistent")]
    >>> [round(rate, 6) for rate in cases]
    [0.008081, 0.007491]
    """
    model = _constants(radix, dimensions, message_flits, vcs, broadcast, variant)
    return float(kernel.saturation(model))


def _constants(
    radix: int, dimensions: int, flits: int, vcs: int, broadcast: float, variant: str | Corrections
) -> Constants:
    """Check a network and put it into the equations that no rate and no waiting enters."""
    if isinstance(variant, str) and variant not in VARIANTS:
        raise InputError("variant", f"'{variant}'", f"one of {', '.join(VARIANTS)}")
    mended = VARIANTS[variant] if isinstance(variant, str) else variant
    _check(radix, dimensions, flits, vcs, broadcast, mended)
    along = radix / 4 if radix % 2 == 0 else (radix - 1 / radix) / 4  # eq. 5
    nodes = float(radix**dimensions)
    others = nodes / (nodes - 1) if mended.other_nodes else 1.0
    hops = dimensions * along * others  # eq. 6
    ports = 2 * dimensions
    replicas, replicating = _replicas(radix, dimensions, mended)
    unicast_source = (1 - broadcast) / ports
    broadcast_rate = broadcast * (1 + replicas / ports)  # eqs. 8 and 11
    if mended.source_weights:
        share = broadcast_rate / (unicast_source + broadcast_rate)
    else:
        share = broadcast * (1 + replicating) / (1 + broadcast * replicating)  # eq. 27
    return Constants(
        flits=float(flits),
        vcs=int(vcs),
        unicast_rate=unicast_source * hops,  # eq. 7
        broadcast_rate=broadcast_rate,
        unicast_cycles=flits + hops,
        broadcast_cycles=flits + float(mended.broadcast_hop),
        hops_left=others * hops_left(along, dimensions),
        escape_ways=1.0 if mended.escape_channel else 2.0,
        first_hop_escapes=mended.broadcast_blocking,
        source_rate=unicast_source + broadcast_rate,  # eq. 26
        source_broadcast_share=share,
    )


def _check(
    radix: int, dimensions: int, flits: int, vcs: int, broadcast: float, mended: Corrections
) -> None:
    fields = {"radix": (radix, 2), "dimensions": (dimensions, 1), "message_flits": (flits, 1)}
    for name, (value, least) in fields.items():
        if not least <= value < np.inf or value != int(value):
            raise InputError(name, f"{value}", f"a whole number of at least {least}")
    if not 3 <= vcs <= MAX_VCS or vcs != int(vcs):
        wanted = f"3 to {MAX_VCS}: two for the deterministic channels, one that is adaptive"
        raise InputError("vcs", f"{vcs}", wanted)
    check_size(int(radix) ** min(int(dimensions), 64), where="radix", what="nodes")
    if not 0 <= broadcast <= 1:
        raise InputError("broadcast", f"{broadcast:g}", "a fraction of messages, 0 to 1")
    if broadcast and radix == 2:
        raise InputError("broadcast", f"{broadcast:g} with radix 2", "a radix of at least 3")
    only_flat = not (mended.replicas and mended.source_weights)
    if broadcast and only_flat and dimensions != 2:
        wanted = "2 dimensions, or the variant consistent"
        raise InputError("broadcast", f"{broadcast:g} in {dimensions} dimensions", wanted)


def _replicas(radix: int, dimensions: int, mended: Corrections) -> tuple[float, float]:
    """Return the replicas that a broadcast is said to bring, and the nodes that make them.

    Printed: ω̄ times the nodes that replicate (eqs. 2, 3, 9, 10 and 11), in two dimensions.
    """
    nodes = radix**dimensions
    replicas = float(nodes - 1 - 2 * dimensions)
    if dimensions != 2:
        return replicas, 0.0
    by_times = np.array([2 * radix, radix**2 - 3 * radix, 2, radix - 3])  # N_r^i, eq. 2
    replicating = float(by_times[1:].sum())
    if mended.replicas:
        return replicas, replicating
    per_node = float(np.arange(4) @ by_times) / (nodes - 1)  # ω̄
    return per_node * replicating, replicating


def hops_left(along: float, dimensions: int) -> Floats:
    """Return how many hops of an average message have 1, 2, …, n dimensions left to cross.

    Two dimensions: the sums of P_c and 1 − P_c of eq. 13 over the hops of eq. 12, those beyond k̄
    with P_c.

    Others, by the argument from which eq. 13 follows: a message goes k̄ hops in every dimension,
    and after j − 1 hops all the ways to have divided them are as probable. Between whole k̄ linear.
    """
    if dimensions == 1:
        return np.array([along])
    if dimensions == 2:
        distance = 2 * along
        beyond = np.arange(floor(along) + 1, floor(distance) + 1)
        one = float((2 / (distance - beyond + 2)).sum())
        return np.array([one, floor(distance) - one])
    below = floor(along)
    part = along - below
    return (1 - part) * _lattice(below, dimensions) + part * _lattice(below + 1, dimensions)


def _lattice(along: int, dimensions: int) -> Floats:
    """Return ``hops_left`` for a whole k̄, by counting the points (x_1, …, x_n), 0 ≤ x_i ≤ k̄."""
    left = np.zeros(dimensions)
    if along == 0:
        return left
    within = [np.ones(1)]  # ways to divide h hops over 0, 1, … dimensions, less than k̄ in each
    for _ in range(dimensions):
        within.append(np.convolve(within[-1], np.full(along, 1 / along)))
    # crossed dimensions have taken k̄ hops each; probabilities up to a factor by number of hops
    ways = np.zeros((dimensions + 1, dimensions * along + 1))
    ways[0, : len(within[dimensions])] = within[dimensions]
    choose = 1.0
    for crossed in range(1, dimensions + 1):
        choose *= (dimensions - crossed + 1) / crossed
        some = within[dimensions - crossed] * choose / float(along) ** crossed
        ways[crossed, crossed * along : crossed * along + len(some)] = some
    ways = ways[:, :-1] / ways.sum(axis=0)[:-1]
    return np.asarray(ways.sum(axis=1)[dimensions - 1 :: -1], np.float64)
