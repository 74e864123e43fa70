"""Mean packet latency of any routed traffic on virtual channels, without simulation.

Every path has its own rate, so process graphs, mappings, patterns and routings need no special
cases. The path of a packet must not depend on other packets: adaptive routing is left to the
simulator. Injection and ejection channels count as channels, one of each per node. The unknowns
belong to *turns*: all packets that come over one channel and go on over another, in the same VCs,
have the same mean waits. There are two techniques, as in the simulator: wormhole and virtual
cut-through, with V virtual channels that send their flits in turn.

What a head that has come to the front of its buffer waits for is, with packets of L flits:

- *The channel.* Packets from one input come one after the other and meet only those of *other*
  inputs. The contention matrix of Ogras, Bogdan & Marculescu, "An analytical approach for
  network-on-chip performance analysis", IEEE TCAD 29, 2010, assumes the same. The others are
  counted as in mean value analysis (Reiser & Lavenberg, J. ACM 27, 1980), by Little's law from
  their own times at the front. So no packet waits for more packets than there are buffers. Each
  costs L: taking turns flit by flit is processor sharing, whose sojourn is L / (1 - ρ) (Kleinrock,
  Queueing Systems vol. 2, 1976, section 4.4). If all the other VCs are taken, a packet is served
  first come first served instead. It then finds half of one in service (Pollaczek and Khinchine,
  deterministic lengths).
- *A virtual channel.* A packet may wait for an idle virtual channel while all others are taken too.
  The chance of this is a power of the chance that one is taken, as in Dally, "Virtual-channel flow
  control", IEEE TPDS 3, 1992, who also assumes independence. A taken VC is idle in three cases.
  With wormhole switching, its packet is delayed further on. This *stall* is the part of the next
  delay that does not fit into the buffer (Draper & Ghosh, J. Parallel Distrib. Comput. 23, 1994,
  add all of it). With virtual cut-through, its buffer has no room for a whole packet, and as many
  packets as fit share that wait. Finally, it is idle for the cycle in which a head takes it.
- *The packets before it in its buffer*: M/G/1 with the front's times as service, of which only the
  delays count, since packets come over a channel spaced already. A delay is taken to be nothing or
  exponential, with the second moment of meetings of equally long packets.
- *The crossbar's input*, which VCs that wait for other outputs take too (``CONFLICT``).
- *The source*: Geo/G/1 (Takagi, Queueing Analysis vol. 3, 1993) in front of the injection channel.
  What its own packets do to each other behind that is no service of its.

Short buffers (``Loops``): a lone packet that none of them holds waits for credits, exactly.
Its source sends nothing else meanwhile. A VC needs a buffer's slots for a loop each, between
packets that follow at once. A packet that can only use 1 / m of a channel disturbs others less, by
the ratio of waits in M/M/m and M/M/1 (Sakasegawa, Ann. Inst. Stat. Math. 29, 1977). With one VC
there is nothing to send meanwhile: packets queue for all of that, first come first served.

These depend on one another along the paths, and are iterated to a fixed point, from an idle network
on. If there is none, or a channel, a VC, a front or a source is busy all the time, it is saturated.

One number is fitted, ``CONFLICT``. The closures (for example, that the chance of all VCs being
taken is a plain power) were chosen by simulation. This used 80 configurations with 5 and 20 flits,
2 and 4 VCs and ample buffers, and the draws of the study ``latency-accuracy``. The study measures
the error of the model, which is kept in ``channel_accuracy``.

Not modeled: bursts (packets come as Bernoulli arrivals), packets of different lengths, losses of
switch allocation in small packets, trees of packets that one VC holds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.models.channel_turns import ChannelRouter, Turns, credit_wait, group

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.models.channel_flows import Flows
    from netloom.topology import Topology

CLOSE = 1e-4
"""Width of the bracket, as a fraction of the load, at which a search for saturation ends."""

LIMITS = ("channel", "VC credits", "head of line", "source")
"""What can be busy all the time: a channel, with flits. A VC, with packets and the credits that
they wait for. The front of a buffer, with a packet that waits. A source, with its own packets."""

NOT_FOUND = "no fixed point found"

CROWDING = 4.0
"""By which part of it a wait is longer than the fixed point says, on a channel that is always busy
with one VC to choose from. It goes with the fourth power of how busy the channel is, and with the
number of VCs. The fixed point counts packets at the front of buffers as if they came there
independently of each other. If buffers have room for several, they come in crowds. Fitted on 70
random networks under uniform traffic, and held against 70 others. Saturation is looked for without
it: nine of ten are within its errors as it is."""


@dataclass(frozen=True, eq=False)
class PreparedChannels:
    """Flows and routers, ready to be solved at any load.

    Attributes
    ----------
    flows, router, flits
        What was given.
    turns, turn_rate, hop_turn, first_hop
        What the kernel takes. Each turn's packets per cycle at load 1. The turn of every hop, those
        into and out of the network included. The first hop of each path.
    zero_load_cycles
        float64[num_paths], latency of each path in an idle network.
    utilization
        float64[num_channels], flits per cycle at load 1.
    full_load
        The load at which some channel, or a node's injection or ejection channel, is always busy.
    """

    flows: Flows
    router: ChannelRouter
    flits: int
    turns: Turns
    turn_rate: Floats
    hop_turn: Ints
    first_hop: Ints
    zero_load_cycles: Floats
    utilisation: Floats
    full_load: float


def prepare_channels(
    flows: Flows, router: ChannelRouter | None = None, *, flits: int = 5
) -> PreparedChannels:
    """Return flows ready to be solved, at any load.

    Parameters
    ----------
    flows
        Made by ``follow_flows`` or ``any_vc_flows``.
    router
        The routers. The default ones if not given.
    flits
        Length of all packets, L.

    Raises
    ------
    InputError
        If the router's VCs are not those of the flows, packets have no flit, or a cut-through
        buffer cannot hold one.
    """
    routers = router or ChannelRouter()
    if flits < 1:
        raise InputError("flits", str(flits), "at least 1")
    if flows.vc_share.shape[1] != routers.vcs:
        raise InputError("vcs", str(routers.vcs), f"{flows.vc_share.shape[1]}, as the flows have")
    if routers.switching == "virtual-cut-through" and flits > routers.buffer_flits:
        found = f"{routers.buffer_flits} for packets of {flits} flits"
        raise InputError("buffer_flits", found, "buffers that hold a packet, to cut through")
    turns, rate, hop_turn, first_hop = group(flows, routers, flits)
    idle = routers.end_cycles + routers.hop_cycles * flows.paths.lengths + flits - 1
    load = np.bincount(turns.channel, rate * flits)
    return PreparedChannels(
        flows, routers, flits, turns, rate, hop_turn, first_hop,
        zero_load_cycles=idle + credit_wait(routers.loops, flows.paths.lengths, flits),
        utilisation=np.asarray(load[: flows.num_channels], np.float64),
        full_load=float(1 / load.max()),
    )  # fmt: skip


class Busy(NamedTuple):
    """A resource, and how much of the time it is in use.

    ``what`` is one of ``LIMITS``. ``channel``: which. From the number of channels on, the injection
    channels of all nodes, and after these the ejection channels.
    """

    what: str
    channel: int
    utilisation: float


@dataclass(frozen=True, eq=False)
class ChannelPrediction:
    """What the model says of one load. Cycles. NaN where the network is saturated.

    Attributes
    ----------
    load
        The factor of the flows' rates.
    saturated
        Whether there is no steady state.
    latency, network_latency, source_wait, zero_load_latency
        Of the mean packet: from creation to the tail's arrival. Without and only the time until its
        head enters the injection channel, and in an idle network.
    path_latency, path_source_wait
        float64[num_paths].
    utilization
        float64[num_channels], flits per cycle.
    busiest_channel
        The channel that carries most; -1 if no path has any.
    busiest
        The busiest of each of ``LIMITS``. Past saturation, as far as was looked.
    reason
        Why there is no steady state: one of ``LIMITS``, or ``NOT_FOUND``, which says nothing of
        the network. "" if there is one.
    """

    load: float
    saturated: bool
    latency: float
    network_latency: float
    source_wait: float
    zero_load_latency: float
    path_latency: Floats
    path_source_wait: Floats
    utilisation: Floats
    busiest_channel: int
    busiest: tuple[Busy, ...]
    reason: str

    @property
    def tightest(self) -> Busy:
        """The resource that has least to spare."""
        return max(self.busiest, key=lambda each: each.utilisation)


def predict_channels(
    prepared: PreparedChannels, load: float = 1.0, *, crowded: bool = False
) -> ChannelPrediction:
    """Return the mean latencies at one load.

    Parameters
    ----------
    load
        By what the rates of all flows are multiplied, at least 0.
    crowded
        Whether waits are longer by ``CROWDING``.

    Raises
    ------
    InputError
        If the load is negative or not finite.

    Examples
    --------
    >>> from netloom.models.channel_flows import follow_flows
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import mesh
    >>> from netloom.workload.traffic import uniform
    >>> traffic = uniform(64).matrix()
    >>> routing = virtual_channel_routing(mesh(8, 8), "dimension-order", num_vcs=4)
    >>> flows = follow_flows(routing, traffic.source, traffic.target, traffic.weight * 64)
    >>> prepared = prepare_channels(flows, flits=5)
    >>> found = predict_channels(prepared, 0.19)  # simulated: 36.5 cycles
    >>> round(found.zero_load_latency, 2), 36 < found.latency < 38
    (31.33, True)
    """
    from netloom.models.kernels.channel_queueing import fixed_point

    if not 0 <= load < np.inf:
        raise InputError("load", str(load), "a number of at least 0")
    rate = prepared.flows.rate
    turn_wait, stall, further, at, use, limit = fixed_point(
        prepared.turns, prepared.turn_rate * load
    )
    wait, source = _source_wait(prepared, load, stall, further)
    places = [Busy(*each) for each in zip(LIMITS, at.tolist(), use.tolist(), strict=False)]
    reason = ("", *LIMITS[:3], NOT_FOUND)[limit]
    if not limit and source.utilisation >= 1:
        reason = source.what
    if crowded:
        turn_wait *= 1 + _crowding(prepared, load)
    network = prepared.zero_load_cycles + np.add.reduceat(
        turn_wait[prepared.hop_turn], prepared.first_hop
    )
    if reason:
        wait, network = np.full_like(wait, np.nan), np.full_like(network, np.nan)
    network_mean, wait_mean = (float(np.average(each, weights=rate)) for each in (network, wait))
    used = prepared.utilisation * load
    return ChannelPrediction(
        load=load,
        saturated=bool(reason),
        latency=network_mean + wait_mean,
        network_latency=network_mean,
        source_wait=wait_mean,
        zero_load_latency=float(np.average(prepared.zero_load_cycles, weights=rate)),
        path_latency=network + wait,
        path_source_wait=wait,
        utilisation=used,
        busiest_channel=int(np.argmax(used)) if used.any() else -1,
        busiest=(*places, source),
        reason=reason,
    )


def _crowding(prepared: PreparedChannels, load: float) -> Floats | float:
    """Return by which part of it the wait of each turn is longer. See ``CROWDING``."""
    turns = prepared.turns
    if turns.whole:
        return 0.0
    busy = np.bincount(turns.channel, prepared.turn_rate * load * prepared.flits)
    return np.asarray(CROWDING * busy[turns.channel] ** 4 / turns.choices, np.float64)


def channel_latency_curve(prepared: PreparedChannels, loads: ArrayLike) -> Floats:
    """Return the mean latency at each load (float64), NaN where the network is saturated.

    Examples
    --------
    >>> from netloom.models.channel_flows import any_vc_flows
    >>> from netloom.routing import Paths
    >>> alone = Paths(np.array([0, 1]), np.array([0], np.int32))
    >>> flows = any_vc_flows(alone, [0], [1], [1.0], vcs=4, num_nodes=2, num_channels=1)
    >>> channel_latency_curve(prepare_channels(flows, flits=5), [0, 0.5, 0.8, 1])  # Geo/D/1
    array([14., 16., 22., nan])
    """
    points = np.asarray(loads, np.float64)
    found = [predict_channels(prepared, float(load)).latency for load in points.flat]
    return np.array(found).reshape(points.shape)


def channel_saturation(prepared: PreparedChannels, *, latency_factor: float = np.inf) -> float:
    """Return the load from which on there is no steady state, or latency is too high.

    Parameters
    ----------
    latency_factor
        How many times the latency of an idle network is too much. ``find_saturation`` of the
        simulator takes 3.

    Raises
    ------
    InputError
        If the factor is not above 1.

    Examples
    --------
    >>> from netloom.models.channel_flows import any_vc_flows
    >>> from netloom.routing import Paths
    >>> alone = Paths(np.array([0, 1]), np.array([0], np.int32))
    >>> flows = any_vc_flows(alone, [0], [1], [1.0], vcs=4, num_nodes=2, num_channels=1)
    >>> round(channel_saturation(prepare_channels(flows, flits=5)), 3)
    1.0
    """
    if not latency_factor > 1:
        raise InputError("latency_factor", str(latency_factor), "more than 1")
    low, high = 0.0, prepared.full_load
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        found = predict_channels(prepared, middle)
        if found.saturated or found.latency > latency_factor * found.zero_load_latency:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def saturation_limit(prepared: PreparedChannels, saturation: float) -> tuple[Busy, bool]:
    """Return the resource that has least to spare where a network saturates.

    ``saturation`` is what ``channel_saturation`` said of it. Also returns whether the search ended
    at a network: False where above that load no fixed point was found, which may be the model's
    doing.

    Examples
    --------
    >>> from netloom.models.channel_flows import any_vc_flows
    >>> from netloom.routing import Paths
    >>> alone = Paths(np.array([0, 1]), np.array([0], np.int32))
    >>> flows = any_vc_flows(alone, [0], [1], [1.0], vcs=4, num_nodes=2, num_channels=1)
    >>> prepared = prepare_channels(flows, flits=5)
    >>> saturation_limit(prepared, channel_saturation(prepared))[0].what
    'channel'
    """
    below = predict_channels(prepared, saturation * (1 - 2 * CLOSE))
    above = predict_channels(prepared, saturation * (1 + 2 * CLOSE))
    return below.tightest, above.reason != NOT_FOUND


def _source_wait(
    prepared: PreparedChannels,
    load: float,
    stall: Floats,
    further: Floats,
) -> tuple[Floats, Busy]:
    """Return the wait of each path's packets for the injection channel, and the busiest source.

    Geo/G/1: p (E[S (S - 1)]) / (2 (1 - p E[S])). Infinite where p E[S] is 1 or more.
    """
    flows, first = prepared.flows, prepared.hop_turn[prepared.first_hop]
    arrivals = flows.rate * load / prepared.flits
    service, spread = _service(prepared, arrivals, stall[first], further)

    def of_nodes(weights: Floats) -> Floats:
        return np.bincount(flows.source, weights, flows.num_nodes).astype(np.float64)

    busy = of_nodes(arrivals * service)
    work = of_nodes(arrivals * (service * (service - 1) + spread)) / 2
    wait = np.full(flows.num_nodes, np.inf)
    np.divide(work, 1 - busy, out=wait, where=busy < 1)
    wait[of_nodes(flows.rate) == 0] = 0.0
    node = int(np.argmax(busy))
    return wait[flows.source], Busy(LIMITS[3], flows.num_channels + node, float(busy[node]))


def _service(
    prepared: PreparedChannels,
    arrivals: Floats,
    stall: Floats,
    further: Floats,
) -> tuple[Floats, Floats | float]:
    """Return for how long the packets of each path keep their source, mean and variance."""
    flows, turns, router = prepared.flows, prepared.turns, prepared.router
    first = prepared.hop_turn[prepared.first_hop]
    own, flits = turns.own[first], prepared.flits
    held_up = stall - own
    if turns.whole:  # only where all other VCs are taken
        times = arrivals * (flits + stall) / router.vcs
        taken = np.minimum(np.bincount(flows.source, times, flows.num_nodes), 1.0)
        hidden = (router.vcs - 1) * flits  # by sending in the others
        held_up = held_up * taken[flows.source] ** (router.vcs - 1)
        return flits + held_up + np.maximum(own - hidden, 0.0), 0.0
    if flits <= router.buffer_flits:
        return turns.source + held_up, 0.0
    delay = (turns.share[first] * further[turns.channel[first]]).sum(axis=1)
    scale = turns.stretched / 3 + delay
    squares = 2 * delay * scale * np.exp(-turns.room / scale)
    return turns.source + held_up, squares - held_up**2


def resource_name(busy: Busy, prepared: PreparedChannels, topology: Topology) -> str:
    """Return a resource as a person calls it: ``injection at node (0,3)``."""
    channels, nodes = prepared.flows.num_channels, prepared.flows.num_nodes
    if busy.channel < channels or not topology.direct:  # hosts' channels have numbers of their own
        name = f"channel {topology.channel_name(busy.channel)}"
    else:
        end, node = divmod(busy.channel - channels, nodes)
        name = f"{('injection', 'ejection')[end]} at node {topology.name_of(node)}"
    if busy.what == LIMITS[1]:
        return f"credits of a VC of {name}"
    if busy.what == LIMITS[2]:
        return f"head of line behind {name}"
    if busy.what != LIMITS[3]:
        return name
    if not topology.direct:
        return f"source of {name}"
    return f"source at node {name.rpartition('node ')[2]}"
