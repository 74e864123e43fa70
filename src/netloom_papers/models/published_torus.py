"""Message latency on a torus with broadcasts, as published, and with its slips mended.

Source: Shahrabi, Ould-Khaoua & Mackenzie, "Communication delay in wormhole-routed torus networks",
SAC 2002. It models wormhole switching, V virtual channels per channel, messages of M flits and
Poisson sources. Two of the virtual channels are the deterministic ones of Duato's routing. Equation
numbers are the paper's.

``printed`` is the paper, with four readings where the print is garbled or silent: the mean
distance along an odd ring is (k − 1/k) / 4 (eq. 5). The sum of eq. 12 runs over the whole hops of
d̄ = 2 k̄, with P_c of eq. 13 beyond k̄. The sum that normalizes eq. 30 runs to V, and V̄ of eq. 31,
0 / 0 at no load, is 1. ``consistent`` makes six corrections. See ``Corrections``.

Neither holds near its saturation: an independent simulation carried 1.3 to 1.7 times the rate at
which ``printed`` loses its solution. Up to 0.8 of that rate it was within some 6 % of ``printed``
and 16 % of ``consistent``. That the less correct one is nearer is no support for it: its waiting
is too long, which too little traffic makes up for.

The start-up latency Δ of assumption c) is in no equation. It is spent in the node, not on a
channel that virtual channels share, so that it is added outside the multiplexing factor:
L̄ = Δ + (S̄_u + W̄_s) V̄ (eq. 1).

The paper's tree (eq. 2) and ways (eq. 13) are of two dimensions, and so is this: of k x k tori.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

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
        channel carries (k² − 5) β λ_g / 4 replicas: the messages of a tree less those
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
        Eqs. 6, 7 and 12: a message is for one of the k² − 1 other nodes. Eq. 5 averages over
        all, its source among them, which adds neither hops nor blocking: both are
        k² / (k² − 1) times as many.
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
    d̄ of a unicast message, of which ``one_left`` and ``two_left`` have so many dimensions left.
    ``broadcast_cycles`` is S̄_b without blocking. ``escape_ways`` is the factor of eq. 16, and
    ``first_hop_escapes`` says whether eq. 25 has P_d.
    """

    flits: float
    vcs: int
    unicast_rate: float
    broadcast_rate: float
    hops: float
    broadcast_cycles: float
    one_left: float
    two_left: float
    escape_ways: float
    first_hop_escapes: bool
    source_rate: float
    source_broadcast_share: float


def constants(
    sides: tuple[int, ...], flits: int, vcs: int, broadcast: float, variant: Published | Corrections
) -> Constants:
    """Return a network as the equations have it that no rate and no waiting enters.

    Its sides are k and k. ``variant`` is a name of ``VARIANTS``, or the corrections.

    Raises
    ------
    InputError
        If it has other sides, or broadcasts have no equation: with k = 2.
    """
    mended = VARIANTS[variant] if isinstance(variant, str) else variant
    radix, nodes = sides[0], sides[0] ** 2
    if sides != (radix, radix):
        raise InputError("sides", "x".join(map(str, sides)), f"two equal ones, with {variant}")
    check_size(nodes, where="sides", what="nodes")
    if broadcast and radix == 2:
        raise InputError("broadcast", f"{broadcast:g} with radix 2", "a radix of at least 3")
    along = radix / 4 if radix % 2 == 0 else (radix - 1 / radix) / 4  # eq. 5
    distance = 2 * along
    # P_c of eq. 13, summed over the hops of eq. 12 beyond k̄
    beyond = np.arange(floor(along) + 1, floor(distance) + 1)
    one_left = float((2 / (distance - beyond + 2)).sum())
    others = nodes / (nodes - 1) if mended.other_nodes else 1.0
    hops = distance * others  # eq. 6
    by_times = np.array([2 * radix, radix**2 - 3 * radix, 2, radix - 3])  # N_r^i, eq. 2
    replicas, replicating = float(nodes - 5), float(by_times[1:].sum())
    if not mended.replicas:  # ω̄ times the nodes that replicate: eqs. 3, 9, 10 and 11
        replicas = float(np.arange(4) @ by_times) / (nodes - 1) * replicating
    unicast_source = (1 - broadcast) / 4
    broadcast_rate = broadcast * (1 + replicas / 4)  # eqs. 8 and 11
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
        one_left=others * one_left,
        two_left=others * (floor(distance) - one_left),
        escape_ways=1.0 if mended.escape_channel else 2.0,
        first_hop_escapes=mended.broadcast_blocking,
        source_rate=unicast_source + broadcast_rate,  # eq. 26
        source_broadcast_share=share,
    )
