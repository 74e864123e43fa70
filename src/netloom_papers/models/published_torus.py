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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import floor
from typing import Literal, TypeAlias

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom_papers.models.kernels import adaptive_torus as place

HALVINGS = 200
"""Halvings of the range in which a saturation rate is sought, at most."""

CLOSE = 1e-12
"""Part of a saturation rate to which it is sought."""

MOST_STEPS = 200
"""Some 10 chords are enough, and about 60 if the fixed point is nearly lost."""

ENOUGH = 1e-14
"""Part of a service time that its equation may ask for beyond it."""


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


@dataclass(frozen=True, eq=False)
class Model:
    """What a model says of a network and its messages.

    Attributes
    ----------
    distance
        Mean hops of a message to one node.
    unicast, copies
        Messages a cycle on the mean channel, of one that each node generates in a cycle.
    full
        The rate at which the channel that carries most would always be in use.
    halvings
        Of the range in which the saturation rate is sought, at most.
    solve
        Its answers, one row per rate: see the top of ``kernels.adaptive_torus``.
    """

    distance: float
    unicast: float
    copies: float
    full: float
    halvings: int
    solve: Callable[[Floats], Floats]

    @cached_property
    def saturation_rate(self) -> float:
        """Largest rate that has a steady state: where the fixed point is lost, by bisection."""
        low, high = 0.0, self.full
        for _ in range(self.halvings):
            if high - low <= CLOSE * high:
                break
            middle = (low + high) / 2
            lost = np.isnan(self.solve(np.array([middle]))[0, place.NETWORK])
            low, high = (low, middle) if lost else (middle, high)
        return low


def queue_wait(rate: Floats, service: Floats, flits: int) -> Floats:
    """Return the M/G/1 wait with variance (S − M)² (eqs. 18–23 and 28)."""
    return rate * (service**2 + (service - flits) ** 2) / (2 * (1 - rate * service))


@lru_cache(maxsize=1024)
def published(
    sides: tuple[int, ...], flits: int, vcs: int, broadcast: float, variant: Published | Corrections
) -> Model:
    """Return the paper's model, with none of its slips mended, or some or all of them.

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
    # P_c of eq. 13, summed over the hops of eq. 12 beyond k̄: those with one dimension left
    beyond = np.arange(floor(along) + 1, floor(distance) + 1)
    one_left = float((2 / (distance - beyond + 2)).sum())
    others = nodes / (nodes - 1) if mended.other_nodes else 1.0
    hops = distance * others  # eq. 6
    by_times = np.array([2 * radix, radix**2 - 3 * radix, 2, radix - 3])  # N_r^i, eq. 2
    replicas, replicating = float(nodes - 5), float(by_times[1:].sum())
    if not mended.replicas:  # ω̄ times the nodes that replicate: eqs. 3, 9, 10 and 11
        replicas = float(np.arange(4) @ by_times) / (nodes - 1) * replicating
    # Rates of a channel and of a source queue, for λ_g = 1
    source = (1 - broadcast) / 4
    unicast = source * hops  # eq. 7
    copies = broadcast * (1 + replicas / 4)  # eqs. 8 and 11
    at_source = source + copies  # eq. 26
    share = broadcast * (1 + replicating) / (1 + broadcast * replicating)  # eq. 27
    if mended.source_weights:
        share = copies / at_source
    ways = 1 if mended.escape_channel else 2  # eq. 16
    by_vcs = np.arange(vcs + 1)

    def answer(rates: Floats, service: Floats) -> Floats:
        """Return what follows from the service time of channels (eqs. 12 to 31).

        With eq. 30, P_v = (1 − ρ) ρ^v for v < V and P_V = ρ^V: the q_v add up to 1 / (1 − ρ).
        """
        channel = rates * (unicast + copies)
        rho = channel * service
        held = rho[:, None] ** by_vcs
        held[:, :vcs] *= 1 - rho[:, None]
        full, but_one, but_two = held[:, vcs], held[:, vcs - 1] / vcs, held[:, vcs - 2] / vcs
        adaptive = full + 2 * but_one + 2 * but_two / (vcs - 1)  # eq. 15
        escape = full + ways * but_one  # eq. 16
        wait = queue_wait(channel, service, flits)
        blocked = escape * (one_left + (floor(distance) - one_left) * adaptive)  # eq. 17, all hops
        far = flits + hops + others * blocked * wait  # eq. 12
        near = (escape if mended.broadcast_blocking else full) * wait  # eq. 25
        near += flits + mended.broadcast_hop  # eq. 24
        source_service = share * near + (1 - share) * far  # eq. 27
        answers = np.empty((len(rates), place.HELD_FROM + vcs + 1))
        answers[:, place.NETWORK] = answers[:, place.SERVICE_UNICAST] = far
        answers[:, place.SERVICE_BROADCAST] = near
        answers[:, place.SOURCE] = queue_wait(rates * at_source, source_service, flits)
        answers[:, place.STRETCH] = np.where(rho == 0, 1, held @ by_vcs**2 / (held @ by_vcs))
        answers[:, place.CHANNEL_WAIT], answers[:, place.BLOCKED] = wait, escape
        answers[:, place.HELD_FROM :] = held
        answers[(rho >= 1) | (rates * at_source * source_service >= 1)] = np.nan
        return answers

    def solve(rates: Floats) -> Floats:
        """Return the answers at the least fixed point of eq. 21. NaN beyond saturation.

        In x = S − M the right side of eq. 21 is a power series without negative coefficients: it
        grows and is convex. So its chords, from S = M on, approach the least fixed point from
        below. There is none if a chord rises as fast as S before it is reached. A source queue that
        never empties is saturation as well (d < 1: rings of two and three).
        """
        service = np.full(len(rates), float(flits))
        before, moved = np.zeros(len(rates)), np.full(len(rates), np.inf)
        with np.errstate(all="ignore"):
            for _ in range(MOST_STEPS):
                answers = answer(rates, service)
                right = unicast * answers[:, place.SERVICE_UNICAST]
                right = (right + copies * answers[:, place.SERVICE_BROADCAST]) / (unicast + copies)
                shrinks = 1 - (right - before) / moved
                gap = right - service
                onward = np.where(shrinks > 0, gap / shrinks, np.nan)
                moved = np.where(gap > ENOUGH * service, onward, 0)
                if not moved.any():
                    break
                service, before = service + moved, right
        return np.where(moved[:, None] == 0, answers, np.nan)

    full = 1 / (flits * (unicast + copies))
    return Model(hops, unicast, copies, full, HALVINGS, solve)
