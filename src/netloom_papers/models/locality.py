"""Johnson's locality model: processors that wait for a network that they themselves load.

Kirk L. Johnson, "The impact of communication locality on large-scale multiprocessor performance",
ISCA 1992 (MIT/LCS/TM-467). Four models, each of which can be replaced: the application
(``Application``), the transaction (``TransactionCost``), the node (``message_curve``, both
together) and the network (``TorusNetwork``). ``predict_locality`` finds the message rate on which
nodes and network agree. ``locality_parts.balance`` does so for any other network.

Inside, time is in network cycles. What the processor does is given in processor cycles, of which
``TorusNetwork.speed`` says how long they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.models.channel_flows import follow_flows
from netloom.routing import virtual_channel_routing
from netloom_papers.models.locality_parts import (
    Application,
    TorusNetwork,
    TransactionCost,
    balance,
    channel_utilisation,
    contention_growth,
    message_curve,
    node_channel_wait,
    numbers,
    random_distance,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.topology import Cube
    from netloom_papers.models.locality_parts import MessageCurve


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
    masked
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
    masked: Bools
    speed: Floats

    @property
    def inter_transaction_processor_cycles(self) -> Floats:
        """t_t in processor cycles: what to compare machines with different networks by."""
        return np.asarray(self.inter_transaction_cycles / self.speed)


def predict_locality(
    application: Application,
    transaction: TransactionCost,
    network: TorusNetwork,
    distance: ArrayLike,
    channel_load: ArrayLike = 1,
) -> Locality:
    """Return the rate at which processors communicate over a torus, and what it costs them.

    Eq. 9 of the nodes and eq. 11 of the network, s / r − (T_r + T_f) / c = d T_h(ρ) + B, with
    ρ = a r and a = B k_d / 2, are a quadratic (Johnson 1992, section 2.5)

        (Q − L) ρ² + (L + s a) ρ − s a = 0,    L = d + B + (T_r + T_f) / c,

    where Q ρ / (1 − ρ) is the wait (``contention_growth``). It is −s a at ρ = 0 and Q ≥ 0 at
    ρ = 1, so that exactly one root is in (0, 1), the only utilizations that there are:

        ρ = 2 s a / (L + s a + √((L − s a)² + 4 Q s a)).

    In this form, the root is of a positive number and the denominator has no difference. Without
    contention (Q = 0, k_d ≤ 1), ρ = min(s a / L, 1). At 1, channels are always in use, and messages
    wait in front of them for as long as the nodes let them.

    Contention for the nodes' own channels adds the wait there. Each kind of contention alone gives
    a quadratic, and ``balance`` finds the root between 0 and the smaller of their two roots. The
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
    application, transaction, network
        The models.
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
    >>> alone, near = (predict_locality(*alewife(), distance=d) for d in (1, 4.06))
    >>> round(float(alone.message_rate), 4), round(float(near.message_rate), 4)
    (0.027, 0.0232)
    >>> round(float(near.message_latency), 1), round(float(near.per_hop_latency), 2)
    (23.3, 2.77)
    """
    d = numbers("distance", distance, 0, above=True)
    curve = message_curve(application, transaction, network.speed)
    flits = np.asarray(transaction.message_flits, np.float64)
    n = np.asarray(network.dimensions, np.float64)
    growth, alone = contention_growth(d, flits, n), d + flits
    load = np.atleast_1d(numbers("channel_load", channel_load, 0))
    total = load.sum(axis=-1, keepdims=True)
    if not (total > 0).all():
        raise InputError("channel_load", "no load", "flits on at least one channel")
    share = load / total  # of all hops
    peak = share * load.shape[-1]  # over the mean
    top = peak.max(axis=-1)
    mean_flits = channel_utilisation(1, d, flits, n)
    node_wait = partial(
        node_channel_wait, flits=flits, channels=network.node_channels,
        squared_length_ratio=transaction.squared_length_ratio,
    )  # fmt: skip
    own = node_wait(0.5 / flits)  # of a ρ_n of one half: what multiplies ρ_n / (1 − ρ_n)

    def message_latency(rate: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            used = np.minimum((mean_flits * rate)[..., None] * peak, 1)
            queues = growth * (share * used / (1 - used)).sum(axis=-1)
        return np.asarray(alone + np.where(growth > 0, queues, 0) + node_wait(rate))

    with np.errstate(divide="ignore", over="ignore"):
        most = 1 / curve.least_gap
    busiest = growth * share.max(axis=-1)
    rate = _crossing(curve, alone, mean_flits * top, busiest)
    if own.any() or peak.shape[-1] > 1:
        nodes = np.where(own > 0, _crossing(curve, alone, flits, own), np.inf)
        rate = balance(curve, message_latency, np.minimum(rate, nodes))
    else:
        rate = np.minimum(rate, most)
    masked = rate >= most
    latency = np.where(masked, message_latency(rate), curve.slope / rate - curve.offset)
    return _described(application, transaction, network, d, rate, latency, masked, top)


def _crossing(
    curve: MessageCurve,
    unhindered: Floats,
    flits_each: Floats,
    growth: Floats,
) -> Floats:
    """The rate with one kind of contention. See ``predict_locality``."""
    limit = curve.slope * flits_each
    whole = unhindered + curve.offset
    root = np.sqrt((whole - limit) ** 2 + 4 * growth * limit)
    return np.asarray(2 * curve.slope / (whole + limit + root))


def _described(
    application: Application,
    transaction: TransactionCost,
    network: TorusNetwork,
    d: Floats,
    rate: Floats,
    latency: Floats,
    masked: Bools,
    top: Floats,
) -> Locality:
    """Everything that follows from the rate and the latency of messages."""
    flits = np.asarray(transaction.message_flits, np.float64)
    critical = np.asarray(transaction.critical_messages, np.float64)
    clock = np.asarray(network.speed, np.float64)
    fixed = clock * np.asarray(transaction.fixed_processor_cycles, np.float64)
    run = clock * np.asarray(application.run_processor_cycles, np.float64)
    gap = clock * application.least_gap()
    contexts = np.asarray(application.contexts, np.float64)
    wait = node_channel_wait(rate, flits, network.node_channels, transaction.squared_length_ratio)
    per_hop = np.maximum((latency - flits - wait) / d, 1)
    used = channel_utilisation(rate, d, flits, network.dimensions)
    parts = {
        "distance": d,
        "message_rate": rate,
        "message_latency": latency,
        "per_hop_latency": per_hop,
        "channel_utilisation": used,
        "busiest_channel_utilisation": used * top,
        "node_channel_wait": wait,
        "inter_transaction_cycles": np.asarray(transaction.messages, np.float64) / rate,
        "variable_message_cycles": np.where(masked, 0, critical * d * per_hop / contexts),
        "fixed_message_cycles": np.where(masked, 0, critical * (flits + wait) / contexts),
        "fixed_transaction_cycles": np.where(masked, 0, fixed / contexts),
        "work_cycles": np.where(masked, run, run / contexts),
        "switch_cycles": np.where(masked, gap - run, 0),
        "transaction_latency": critical * latency + fixed,
        "masked": masked,
        "speed": clock,
    }
    return Locality(**dict(zip(parts, np.broadcast_arrays(*parts.values()), strict=True)))


def per_hop_limit(
    application: Application, transaction: TransactionCost, network: TorusNetwork
) -> Floats:
    """Return what T_h tends to as distances grow, in network cycles.

    B s / (2 n) (Johnson 1992, eq. 16), and not less than 1: the nodes fill the channels only
    where B s > 2 n, which the paper does not say.

    Examples
    --------
    >>> round(float(per_hop_limit(*alewife(contexts=2))), 2)
    9.78
    """
    slope = message_curve(application, transaction, network.speed).slope
    flits = np.asarray(transaction.message_flits, np.float64)
    return np.asarray(np.maximum(flits * slope / (2 * np.asarray(network.dimensions)), 1))


def expected_gain(
    application: Application,
    transaction: TransactionCost,
    network: TorusNetwork,
    nodes: ArrayLike,
    distance: ArrayLike = 1,
) -> Floats:
    """Return how much faster a mapping is than a random one: the ratio of transaction rates.

    Johnson 1992, section 4.2, where the mapping is ideal: every message goes one hop.

    ``distance`` is d of the mapping. That of a random one is ``random_distance`` of N ``nodes``.

    Examples
    --------
    >>> expected_gain(*alewife(), nodes=[1e3, 1e6]).round(1)
    array([ 2.1, 41.2])
    """
    far = random_distance(nodes, network.dimensions)
    mapped = predict_locality(application, transaction, network, distance)
    at_random = predict_locality(application, transaction, network, far)
    return np.asarray(at_random.inter_transaction_cycles / mapped.inter_transaction_cycles)


def alewife(
    contexts: ArrayLike = 1, *, speed: ArrayLike = 2, node_channels: ArrayLike = 0
) -> tuple[Application, TransactionCost, TorusNetwork]:
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
      g and B imply (``workload.programs.protocols.coherence``), have 4/3, for 2.6 to 5.9 cycles.

    Parameters
    ----------
    contexts
        p, 1 to 4. C and T_f are on straight lines between those of 1, 2 and 4.
    speed, node_channels
        Of the network. See ``TorusNetwork``.

    Raises
    ------
    InputError
        If there are more contexts than Alewife's processor has.

    Examples
    --------
    >>> application, transaction, network = alewife(contexts=4)
    >>> round(float(transaction.critical_messages), 3)
    2.179
    """
    p = numbers("contexts", contexts, 1)
    if (p > 4).any():
        raise InputError("contexts", f"{p.max():g}", "at most the 4 of Alewife's processor")
    known = (1, 2, 4)
    return (
        Application(run_processor_cycles=8.055, contexts=p, switch_processor_cycles=11),
        TransactionCost(
            messages=3.2,
            critical_messages=np.interp(p, known, (1.895, 6.4 / 3.26, 1.15 * 1.895)),
            message_flits=12,
            fixed_processor_cycles=np.interp(p, known, (38.85, 79.945, 152.945)),
        ),
        TorusNetwork(dimensions=2, speed=speed, node_channels=node_channels),
    )


@dataclass(frozen=True, eq=False)
class MappedMessages:
    """Where messages go on a torus: under one mapping or on one torus, or several (first axis).

    Mean hops, float64[n], and messages on each channel; 1 where all channels have the same.
    """

    distance: Floats
    channel_load: Floats

    @classmethod
    def even(cls, distance: Floats) -> MappedMessages:
        """Return messages of these mean distances that load all channels alike."""
        return cls(distance, np.ones(1))

    @classmethod
    def of_mapping(
        cls,
        topology: Cube,
        source: Ints,
        target: Ints,
        share: Floats,
    ) -> MappedMessages:
        """Return where the messages of a mapped program go, and come back.

        Of int32[num_edges] nodes. ``share`` is float64[num_edges], the part of its source's
        transactions that an edge has.
        """
        routing = virtual_channel_routing(topology, "dimension-order", num_vcs=2)
        sends = share > 0
        flows = follow_flows(
            routing,
            np.concatenate([source[sends], target[sends]]),
            np.concatenate([target[sends], source[sends]]),
            np.concatenate([share[sends], share[sends]]),
        )
        hops = flows.paths.lengths
        load = np.bincount(flows.paths.channels, np.repeat(flows.rate, hops), topology.num_channels)
        return cls(np.array([np.average(hops, weights=flows.rate)]), load.astype(np.float64))

    @classmethod
    def of_several(cls, each: Sequence[MappedMessages]) -> MappedMessages:
        """Return those of several mappings as one."""
        distance = np.concatenate([one.distance for one in each])
        return cls(distance, np.array([one.channel_load for one in each]))


def mean_locality(
    application: Application,
    transaction: TransactionCost,
    network: TorusNetwork,
    messages: MappedMessages,
    sizes: int,
) -> Locality:
    """Return what Johnson's model says, one for each size: of several mappings the mean.

    Latency is hidden if it is under most of the mappings.
    """
    found = predict_locality(
        application, transaction, network, messages.distance, messages.channel_load
    )
    if len(found.distance) == sizes:
        return found
    parts = {each.name: getattr(found, each.name) for each in fields(found)}
    parts = {name: values.mean(axis=0, keepdims=True) for name, values in parts.items()}
    return replace(found, **parts | {"masked": parts["masked"] > 0.5})
