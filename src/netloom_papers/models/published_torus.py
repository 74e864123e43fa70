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
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.errors import InputError
from netloom.base.spec import check_size


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


Published: TypeAlias = Literal["printed", "consistent"]

VARIANTS: dict[Published, Corrections] = {
    "printed": Corrections(),
    "consistent": Corrections(*[True] * 6),
}
"""The variants that have a name."""


class Constants(NamedTuple):
    """A network as the kernel sees it: rates for λ_g = 1, times in cycles.

    ``unicast_rate`` and ``broadcast_rate`` (replicas included) are those of a channel. ``hops`` are
    d̄ of a unicast message, ``broadcast_cycles`` S̄_b without blocking. ``hops_left[r]`` hops have
    r + 1 dimensions left. ``escape_ways`` is the factor of eq. 16, and ``first_hop_escapes`` says
    whether eq. 25 has P_d.
    """

    flits: float
    vcs: int
    unicast_rate: float
    broadcast_rate: float
    hops: float
    broadcast_cycles: float
    hops_left: Floats
    escape_ways: float
    first_hop_escapes: bool
    source_rate: float
    source_broadcast_share: float


def constants(
    sides: tuple[int, ...], flits: int, vcs: int, broadcast: float, variant: Published | Corrections
) -> Constants:
    """Return a network as the equations have it that no rate and no waiting enters.

    Its sides are k, n of them. ``variant`` is a name of ``VARIANTS``, or the corrections.

    Raises
    ------
    InputError
        If its sides differ, or broadcasts have no equation (see the module's text).
    """
    mended = VARIANTS[variant] if isinstance(variant, str) else variant
    radix, dimensions = sides[0], len(sides)
    if len(set(sides)) > 1:
        raise InputError("sides", "x".join(map(str, sides)), f"equal ones, with {variant}")
    check_size(radix**dimensions, where="sides", what="nodes")
    if broadcast and radix == 2:
        raise InputError("broadcast", f"{broadcast:g} with radix 2", "a radix of at least 3")
    if broadcast and dimensions != 2 and not (mended.replicas and mended.source_weights):
        wanted = "2 dimensions, or the variant consistent"
        raise InputError("broadcast", f"{broadcast:g} in {dimensions} dimensions", wanted)
    along = radix / 4 if radix % 2 == 0 else (radix - 1 / radix) / 4  # eq. 5
    nodes, ports = float(radix**dimensions), 2 * dimensions
    others = nodes / (nodes - 1) if mended.other_nodes else 1.0
    hops = dimensions * along * others  # eq. 6
    replicas, replicating = nodes - 1 - ports, 0.0
    if dimensions == 2:
        by_times = np.array([2 * radix, radix**2 - 3 * radix, 2, radix - 3])  # N_r^i, eq. 2
        replicating = float(by_times[1:].sum())
        if not mended.replicas:  # ω̄ times the nodes that replicate: eqs. 3, 9, 10 and 11
            replicas = float(np.arange(4) @ by_times) / (nodes - 1) * replicating
    unicast_source = (1 - broadcast) / ports
    broadcast_rate = broadcast * (1 + replicas / ports)  # eqs. 8 and 11
    share = broadcast * (1 + replicating) / (1 + broadcast * replicating)  # eq. 27
    if mended.source_weights:
        share = broadcast_rate / (unicast_source + broadcast_rate)
    return Constants(
        flits=float(flits),
        vcs=vcs,
        unicast_rate=unicast_source * hops,  # eq. 7
        broadcast_rate=broadcast_rate,
        hops=hops,
        broadcast_cycles=flits + float(mended.broadcast_hop),
        hops_left=others * hops_left(along, dimensions),
        escape_ways=1.0 if mended.escape_channel else 2.0,
        first_hop_escapes=mended.broadcast_blocking,
        source_rate=unicast_source + broadcast_rate,  # eq. 26
        source_broadcast_share=share,
    )


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
