"""Latency of wormhole messages on a torus with adaptive routing, some of which are broadcast.

Three models of one network: tori whose routers have V virtual channels (VCs) a channel and Duato's
adaptive routing, two of them for escape. Messages of M flits to uniform targets, Poisson. A part β
of them broadcast along a tree, from node to node.

``printed`` is Shahrabi, Ould-Khaoua & Mackenzie, "Communication delay in wormhole-routed torus
networks", SAC 2002. ``consistent`` corrects its slips; see ``published_torus`` for both. They agree
with simulation at moderate load. ``printed`` agrees best because two of its errors cancel: it
counts too little traffic, and assumes that a channel's VCs are held for all of a message's latency.

``improved`` is netloom's. What is different:

- A VC is held from the head's passing to the tail's: while the message streams, and while its head
  is blocked *further on*, not on the way there. This alone moves saturation by half.
- A message streams at the speed of its slowest channel. That depends on how many active messages it
  meets on each channel. These are the messages that hold the other VCs, as seen by one of them
  (size biased), minus those whose head is blocked. It meets *new* ones only where paths part: two
  messages on a channel go on together with probability ``same`` (``prepare``).
- Messages that are slowed down elsewhere leave more than their share to the others (max-min).
- The states of a channel are how many adaptive and how many escape VCs are held. A head with q
  dimensions left takes an adaptive VC of any of them, as long as one has any, else one escape VC,
  of a certain class. Where there is none it waits for the first of all of these.
- Its source's channels into the network are servers of one queue, to which copies of a broadcast
  come together (Allen & Cunneen's approximation of a queue with several servers).

It does not suit messages of a few flits on long paths. Each fits into a buffer or two, so that it
holds fewer VCs than assumed here. It also does not suit more than about 8 VCs on very different
sides: the iteration may then find no steady state just below saturation.

One constant is fitted: of a channel that two or more active messages want, separable allocation
loses a part of the cycles, ρ^2.5. The power was chosen among 2, 2.5 and 3 on 21 configurations of
the simulator (and V = 7, which shows it best). All else follows from the routing. ``netloom study
run model-accuracy`` says how good it is on all of the paper's 72, and 36 without broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from itertools import permutations
from math import prod
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom_papers.models.kernels import adaptive_torus as kernel
from netloom_papers.models.published_torus import Corrections, Model, published

Variant: TypeAlias = Literal["improved", "consistent", "printed"]

VARIANTS: tuple[Variant, ...] = ("improved", "consistent", "printed")

MOST_VCS = 32
"""A channel's states grow as its VCs, and the work as their cube."""

MOST_DIMENSIONS = 6
"""Dimensions of a torus: the model follows messages dimension by dimension."""

HALVINGS = 24
"""Halvings of the range in which a saturation rate is sought."""

SIDES_ALIKE = 64
"""Sides from which rings have the same share of crossing messages, to a thousandth."""


class Setup(NamedTuple):
    """A torus, its messages and its VCs as the kernel sees them. Messages are to uniform targets.

    Attributes
    ----------
    axes, vcs, adaptive, ports, flits
        Dimensions, VCs of a channel, those for any hop, channels of a node, flits of a message.
    distance, hops
        Mean hops of a message, and float64[n]: those in each dimension.
    behind
        Mean hops still to come after a channel of a message.
    elsewhere
        Of the channels on which a message meets new ones, those that are not its first.
    channels
        float64[n]: channels of a node in each dimension.
    choices
        float64[n, n]: of the hops in a dimension, those where 1, 2, ... n dimensions are left.
    left
        float64[n]: the same of all hops.
    fresh
        float64[n]: channels of each dimension on which a message meets new ones.
    free
        float64[n, 3]: how often a head finds its escape VC free where none, one or both are held.
    """

    axes: int
    vcs: int
    adaptive: int
    ports: int
    flits: float
    distance: float
    behind: float
    elsewhere: float
    hops: Floats
    channels: Floats
    choices: Floats
    left: Floats
    fresh: Floats
    free: Floats


class Scratch(NamedTuple):
    """What the kernel works with. See there."""

    matrix: Floats
    values: Floats
    fit: Floats
    states: Floats
    held: Floats
    busy: Floats
    below: Floats
    counts: Floats
    mine: Floats
    path: Floats
    ends: Floats
    slower: Floats
    wanted: Floats


@lru_cache(maxsize=64)
def same_class(side: int) -> float:
    """Return how often two messages on a channel of a ring want the same escape VC.

    One class is for messages whose way from here crosses the ring's dateline, one for the others.
    Channels differ in their shares s, and s² + (1 − s)² is averaged over them.

    Examples
    --------
    >>> round(same_class(8), 4)
    0.877
    """
    side = min(side, SIDES_ALIKE + side % 2)
    hops = np.arange(1, side // 2 + 1)  # of messages, of which a channel has one for each hop left
    weight = np.where(2 * hops == side, 0.5, 1.0)
    to_dateline = np.arange(side, 0, -1)[:, None]
    share = np.maximum(hops - to_dateline + 1, 0) @ weight / (hops @ weight)
    return float((share**2 + (1 - share) ** 2).mean())


def tree_loads(sides: Sequence[int]) -> tuple[Floats, float]:
    """Return the messages of a broadcast in each dimension, and the squares of batches, summed.

    A batch is all that a node sends at once. At the root it is a copy each way in all dimensions.
    Consider a node reached in the j-th dimension of the tree's order. It sends copies both ways in
    all later dimensions and, unless it is the last of its line, one copy onward. The order is drawn
    uniformly for each broadcast.

    Examples
    --------
    >>> messages, squares = tree_loads((8, 8))
    >>> messages.tolist(), squares
    ([31.5, 31.5], 109.0)
    """
    both = [1 if side == 2 else 2 for side in sides]
    messages, squares, orders = np.zeros(len(sides)), 0.0, 0
    for order in permutations(range(len(sides))):
        orders += 1
        reached, later = 1, sum(both)
        squares += later**2
        for axis in order:
            later -= both[axis]
            messages[axis] += reached * (sides[axis] - 1)
            ends = min(both[axis], sides[axis] - 1)
            squares += reached * ends * later**2
            squares += reached * (sides[axis] - 1 - ends) * (later + 1) ** 2
            reached *= sides[axis]
    return messages / orders, squares / orders


def prepare(sides: tuple[int, ...], flits: float, vcs: int) -> Setup:
    """Return a torus, its messages and its VCs, with heads that prefer no dimension left.

    Two messages on a channel go on the same way with probability ``same``. It is the share of the
    messages met on a channel that were also met on the channel before.

    Examples
    --------
    >>> found = prepare((8, 8), 32, 3)
    >>> found.hops.round(3), round(found.elsewhere, 3)
    (array([2.032, 2.032]), 0.682)
    """
    axes = len(sides)
    shape = tuple(side // 2 + 1 for side in sides)
    check_size(prod(shape) * (axes + 1) * (axes**2 + 2), where="sides", what="numbers")
    strides = np.array([prod(shape[axis + 1 :]) for axis in range(axes)])
    offsets = np.stack(np.unravel_index(np.arange(prod(shape)), shape), axis=1)
    found = np.zeros((prod(shape), axes + 1, axes * axes + 2))
    kernel.walk(np.array(sides), strides, offsets, found)
    # How many targets there are at each offset: two on both sides of a ring, but the farthest.
    many = np.where((offsets > 0) & (2 * offsets < sides), 2.0, 1.0).prod(axis=1)
    many[0] = 0
    mean = (many[:, None] * found[:, 0]).sum(axis=0) / many.sum()
    choices = mean[: axes * axes].reshape(axes, axes)
    straight, turns = mean[axes * axes :]
    hops = choices.sum(axis=1)
    distance = float(hops.sum())
    far = offsets.sum(axis=1)
    on, aside = straight / distance, turns / distance / max(2 * (axes - 1), 1)
    going = straight + turns
    same = float((straight * on + turns * aside) / going) if going else 0.0
    fresh_hops = 1 + (distance - 1) * (1 - same)
    channels = np.array([1.0 if side == 2 else 2.0 for side in sides])
    choices = choices / hops[:, None]
    return Setup(
        axes=axes,
        vcs=vcs,
        adaptive=vcs - 2,
        ports=int(channels.sum()),
        flits=float(flits),
        distance=distance,
        behind=float((many * far * (far - 1)).sum() / many.sum() / 2 / distance),
        elsewhere=(fresh_hops - 1) / fresh_hops,
        hops=hops,
        channels=channels,
        choices=choices,
        left=hops @ choices / distance,
        fresh=fresh_hops * hops / distance,
        free=np.array([[1, 1 - same_class(side) if side > 2 else 0.5, 0] for side in sides]),
    )


@lru_cache(maxsize=1024)
def improved(
    sides: tuple[int, ...], flits: int, vcs: int, broadcast: float, injection_channels: int
) -> Model:
    """Return netloom's model."""
    setup = prepare(sides, flits, vcs)
    copies, squares = tree_loads(sides)
    one = 1 - broadcast
    servers = injection_channels or setup.ports
    unicast, copied = one * setup.hops / setup.channels, broadcast * copies / setup.channels
    node = np.array([one, broadcast * copies.sum(), one + broadcast * squares])
    idle = np.zeros(kernel.HELD_FROM + vcs + 1)
    idle[[kernel.NETWORK, kernel.SERVICE_UNICAST]] = setup.flits + setup.distance, setup.flits
    idle[[kernel.STRETCH, kernel.SERVICE_BROADCAST, kernel.HELD_FROM]] = 1, setup.flits, 1

    def solve(rates: Floats) -> Floats:
        axes, size = setup.axes, (setup.adaptive + 1) * kernel.CLASSES
        matrix, values, fit = np.zeros((size, size)), np.zeros(size), np.zeros(axes)
        by_axis = [np.zeros((axes, many)) for many in (size, vcs + 1, vcs + 1, vcs)]
        scratch = Scratch(matrix, values, fit, *by_axis, *np.zeros((6, vcs)))
        answers = np.tile(idle, (len(rates), 1))
        for rate, answer in zip(rates, answers, strict=True):
            loads = rate * unicast, rate * copied, np.append(rate * node, servers)
            if rate > 0 and not kernel.solve(setup, scratch, *loads, answer):
                answer[:] = np.nan
        return answers

    mean, replicas = one * setup.distance / setup.ports, broadcast * copies.sum() / setup.ports
    full = 1 / (setup.flits * float((unicast + copied).max()))
    return Model(setup.distance, mean, float(replicas), full, HALVINGS, solve)


@dataclass(frozen=True, eq=False)
class TorusBroadcast:
    """What a model says at some rates. Cycles. NaN where there is no steady state.

    The first seven fields have the order of the places of a kernel's answer.

    Attributes
    ----------
    rate
        float64[...]: messages per node and cycle, broadcasts among them.
    latency
        Mean latency of unicast messages, from their birth to their tail's arrival: start-up,
        ``source_wait`` and ``network_latency``, both stretched by ``vc_multiplexing`` in the
        published variants.
    network_latency
        S̄_u (eq. 12) in the published variants. Improved: hops, blocking, and M flits at the speed
        that others leave.
    source_wait
        W̄_s (eq. 28).
    vc_multiplexing
        V̄ (eq. 31). Improved: cycles per flit while a message streams.
    channel_rate, unicast_channel_rate, broadcast_channel_rate
        Messages a cycle on a channel (λ_c), in the mean over all, and its parts.
    unicast_service, broadcast_service
        S̄_u and S̄_b.
    channel_wait
        W̄_c: how long a head waits that finds no VC, with one dimension left.
    blocked
        How often it finds none, with one dimension left.
    held_vcs
        float64[..., V + 1]: P_v, how often v VCs of a channel are held.
    saturated
        bool[...].
    zero_load_latency
        M + d̄ and the start-up.
    model
        The model, at any rate.
    """

    network_latency: Floats
    source_wait: Floats
    vc_multiplexing: Floats
    channel_wait: Floats
    blocked: Floats
    unicast_service: Floats
    broadcast_service: Floats
    _: KW_ONLY
    rate: Floats
    latency: Floats
    channel_rate: Floats
    unicast_channel_rate: Floats
    broadcast_channel_rate: Floats
    held_vcs: Floats
    saturated: Bools
    zero_load_latency: float
    model: Model

    @property
    def saturation_rate(self) -> float:
        """Largest rate that has a steady state, found when it is asked for."""
        return self.model.saturation_rate

    @property
    def service_time(self) -> Floats:
        """S̄, the mean time that a message holds a channel (eq. 21). NaN where there is none."""
        used = self.unicast_channel_rate * self.unicast_service
        used += self.broadcast_channel_rate * self.broadcast_service
        return np.asarray(used / self.channel_rate)


def torus_broadcast(
    sides: int | Sequence[int],
    *,
    message_flits: int,
    vcs: int,
    rate: ArrayLike,
    broadcast: float = 0.0,
    startup_cycles: float = 0.0,
    variant: Variant | Corrections = "improved",
    injection_channels: int = 0,
) -> TorusBroadcast:
    """Return the latency of messages on a torus, at every rate, and where it saturates.

    Parameters
    ----------
    sides
        Nodes a side, each at least 2, of at most 6 dimensions. One number is a square's. The
        published variants know squares only.
    message_flits
        M, at least 1.
    vcs
        V, 3 to 32.
    rate
        λ_g: messages per node and cycle, 0 or more. Any shape.
    broadcast
        β, 0 to 1.
    startup_cycles
        Δ, of every message, before it is queued.
    variant
        See the top of this module. Also the corrections of the printed one, one by one.
    injection_channels
        Channels from a node into the network, which take one message at a time each; 0: as many
        as it has to its neighbours. For ``improved``. The published variants have a queue each.

    Raises
    ------
    InputError
        If one of these is out of range.

    Examples
    --------
    >>> found = torus_broadcast(8, message_flits=32, vcs=3, rate=[0, 0.004, 0.02], broadcast=0.02)
    >>> found.latency.round(1), round(found.saturation_rate, 4)
    (array([36.1, 50. ,  nan]), 0.0135)
    """
    shape = (sides, sides) if isinstance(sides, int | np.integer) else tuple(sides)
    if not 1 <= len(shape) <= MOST_DIMENSIONS:
        raise InputError("sides", f"{len(shape)} dimensions", f"1 to {MOST_DIMENSIONS}")
    for side in shape:
        if not 2 <= side < np.inf or side != int(side):
            raise InputError("sides", f"{side} nodes a side", "whole numbers of at least 2")
    whole = {
        "message_flits": (message_flits, 1, 2**20, f"a whole number from 1 to {2**20}"),
        "vcs": (vcs, 3, MOST_VCS, f"3 to {MOST_VCS}: two for escape, and adaptive ones"),
        "injection_channels": (injection_channels, 0, 62, "1 to 62; 0: as many as ports"),
    }
    for name, (value, least, most, wanted) in whole.items():
        if not least <= value <= most or value != int(value):
            raise InputError(name, f"{value:g}", wanted)
    if not 0 <= broadcast <= 1:
        raise InputError("broadcast", f"{broadcast:g}", "a fraction, 0 to 1")
    if isinstance(variant, str) and variant not in VARIANTS:
        raise InputError("variant", f"'{variant}'", f"one of {', '.join(VARIANTS)}")
    if not 0 <= startup_cycles < np.inf:
        raise InputError("startup_cycles", f"{startup_cycles:g}", "0 or more")
    rates = np.asarray(rate, np.float64)
    wrong = rates[~(np.isfinite(rates) & (rates >= 0))]
    if wrong.size:
        raise InputError("rate", f"{wrong[0]:g}", "0 or more messages per node and cycle")

    network = tuple(map(int, shape)), message_flits, int(vcs), float(broadcast)
    if variant == "improved":
        model = improved(*network, int(injection_channels))
    else:
        model = published(*network, variant)
    answers = model.solve(rates.ravel())
    figures = np.moveaxis(answers.reshape(*rates.shape, answers.shape[1]), -1, 0)
    in_network, waits, stretch = figures[: kernel.CHANNEL_WAIT]
    latency = startup_cycles + in_network + waits
    if variant != "improved":
        latency = startup_cycles + (in_network + waits) * stretch  # eq. 1
    unicast, copies = model.unicast * rates, model.copies * rates
    return TorusBroadcast(
        *figures[: kernel.HELD_FROM],
        rate=rates,
        latency=latency,
        channel_rate=unicast + copies,
        unicast_channel_rate=unicast,
        broadcast_channel_rate=copies,
        held_vcs=np.moveaxis(figures[kernel.HELD_FROM :], 0, -1),
        saturated=np.isnan(in_network),
        zero_load_latency=float(message_flits + model.distance + startup_cycles),
        model=model,
    )
