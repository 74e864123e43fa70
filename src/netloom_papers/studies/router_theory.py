"""What theory says of networks whose hosts hang on routers, beside what is simulated.

The cases are dragonflies and HyperX under their worst traffic, full fat trees under permutations,
two queues (a host's packets, an output), and the latency of a lone packet. The worst traffic is
that of Kim, Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008, and
Kim, Dally & Abts, *Flattened butterfly*, 2007. *Capacity* is the uniform traffic that the same
routers carry on shortest paths. It is about 80 % of the channels' capacity, because allocation is
not perfect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.routing import virtual_channel_routing
from netloom.simulation.network.idle import channel_kinds, idle_network, lone_cycles
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.network.run import Run
from netloom.topology import mesh, topology
from netloom.topology.core import attach_hosts
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic
from netloom.workload.traffic import pairs, permutation
from netloom_papers.studies.validation import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netloom.topology import Topology
    from netloom.workload import Traffic

LARGE = Router(vcs=8, buffer_flits=32)
"""Routers whose VCs and buffers are not what limits a network."""

START, CYCLES = 3_000, 6_000
"""Cycles from an empty network that are left out, and measured."""

FLITS = 4

QUEUE_CYCLES, QUEUE_TOLERANCE = 1_000_000, 0.03

FULL = 1.0
"""Load at which every host would send all the time."""

AROUND_HALF = 0.36, 0.38, 0.42, 0.46
"""Loads at which detours are looked at: beyond saturation, traffic is accepted unevenly."""


class Question(NamedTuple):
    """Some traffic, by its name, under a routing."""

    spec: str
    routing: str
    traffic: str


def hosted_rows() -> Iterator[Row]:
    """Yield what theory says of networks whose hosts hang on routers, and what is simulated."""
    yield from _lone_packets()
    yield from _host_queues()
    yield from _output_queues()
    yield from _permutations()
    yield from _worst_traffic()
    yield from _detours()


def output_queue_wait(load: float, sources: int) -> float:
    """Return the mean wait, in cycles, for an output to which several sources send single flits.

    Each source has a flit for it in a cycle with the same chance: ``load`` is that of all. For n
    sources, and an output that is never idle while one waits: (n - 1) / n * p / (2 (1 - p)) (Karol,
    Hluchyj & Morgan, *Input versus output queueing on a space-division packet switch*, 1987).

    Examples
    --------
    >>> output_queue_wait(0.5, 2)
    0.25
    """
    return (sources - 1) / sources * load / (2 * (1 - load))


def host_queue_wait(load: float, flits: int, cycles: int) -> float:
    """Return the mean wait, in cycles, of a host's packets for its injection channel.

    This is a Geo/D/1 queue. One packet arrives per cycle with probability p = ``load`` / ``flits``,
    and its service takes S = ``flits`` * ``cycles``. The mean wait is p S (S - 1) / (2 (1 - p S))
    (Takagi, *Queueing Analysis* vol. 3, 1993).

    Examples
    --------
    >>> host_queue_wait(0.25, 5, 2)
    4.5
    """
    chance, served = load / flits, flits * cycles
    return chance * served * (served - 1) / (2 * (1 - chance * served))


def _lone_packets() -> Iterator[Row]:
    """One packet over channels of different lengths and rates takes what its way adds up to."""
    for preset in PRESETS:
        for cycles, rates, flits in (
            ((1, 1, 1, 1), (1, 1, 1, 1), 5), ((1, 100, 10, 1), (1, 1, 1, 1), 5),
            ((2, 5, 3, 4), (1, 0.5, 0.75, 1), 9), ((1, 40, 1, 1), (2, 1.5, 1, 0.4), 30),
        ):  # fmt: skip
            net, model = _chain(cycles, rates), router(preset, buffer_flits=12)
            kinds, kind_of = channel_kinds(net, model)
            first = net.num_network_channels
            way = [kinds[kind_of[at]] for at in (first, 0, 1, first + net.num_ports + 1)]
            traffic = pairs(2, [0], [1])
            found = _first_latency(net, "minimal", traffic, model, flits)
            name = f"{preset}, channels of {cycles} cycles and {rates} flits/cycle, {flits} flits"
            value = lone_cycles(model, way, flits)
            yield Row("router", "lone packet", name, value, found, 0.0, kind="formula")


def _chain(cycles: Sequence[int], rates: Sequence[float]) -> Topology:
    """Return three routers in a line, a host at either end. Channels as from one to the other."""
    inside = mesh(3)
    order = np.array([1, 2, 2, 1])  # from router 0 to 1, 1 to 2, and back
    inside = replace(
        inside,
        channel_cycles=np.array(cycles, np.int32)[order],
        channel_bandwidth=np.array(rates, np.float64)[order],
    )
    ends = [0, 3]
    return attach_hosts(
        inside, np.array([0, 2]), name="chain", cycles=np.array(cycles, np.int32)[ends],
        bandwidth=np.array(rates, np.float64)[ends],
    )  # fmt: skip


def _host_queues() -> Iterator[Row]:
    """Two hosts that send to each other over channels of their own."""
    for load, flits, cycles in ((0.5, 5, 1), (0.7, 5, 1), (0.25, 5, 2), (0.15, 3, 4)):
        net = _chain((1, 1, 1, 1), (1 / cycles, 1, 1, 1))
        traffic, model = pairs(2, [0], [1]), Router()
        found = _waits(net, "minimal", traffic, model, load, flits)
        name = f"injection of a flit in {cycles} cycles, load {load}, {flits} flits"
        value = host_queue_wait(load, flits, cycles)
        yield Row("router", "Geo/D/1 at a host", name, value, found, QUEUE_TOLERANCE,
                  kind="formula")  # fmt: skip


def _output_queues() -> Iterator[Row]:
    """Hosts of one router that send single flits to another of its hosts."""
    for load, sources in ((0.5, 2), (0.5, 8), (0.8, 2), (0.8, 8)):
        net = topology(f"xgft:{sources + 1}/1")
        traffic = pairs(net.num_hosts, [*range(1, sources + 1)], [0] * sources)
        found = _waits(net, "nca", traffic, Router(), load / sources, 1)
        name = f"{sources} hosts, load {load}"
        value = output_queue_wait(load, sources)
        yield Row("router", "output queue", name, value, found, QUEUE_TOLERANCE, kind="formula")


def _permutations() -> Iterator[Row]:
    """A full fat tree carries any permutation by adaptive ways upwards."""
    net, load = topology("fat-tree:4x3"), 0.7
    model, rng = replace(LARGE, vcs=16), np.random.default_rng(7)
    some = [parse_traffic(name, net) for name in ("bit-complement", "transpose", "shuffle")]
    drawn = permutation(rng.permutation(net.num_hosts), name="a permutation drawn at random")
    for traffic in (*some, drawn):
        for routing in ("nca-adaptive", "nca-adaptive:every"):
            found = accepted(net, routing, traffic, model, load)
            name = f"{traffic.name} on {net.name}, {routing}, offered {load}"
            yield Row("router", "permutations", name, load, found, 0.02, kind="formula")


def _worst_traffic() -> Iterator[Row]:
    """Traffic that all takes the same channels: 1 / (a p) on dragonflies, 1 / k on HyperX."""
    for asked, value in (
        (Question("dragonfly:2x4x2", "minimal-group", "next-group"), 1 / 8),
        (Question("dragonfly:3x4x1", "minimal-group", "next-group"), 1 / 12),
        (Question("hyperx:4x4/4", "dimension-order", "tornado"), 1 / 4),
    ):
        found = _answer(asked, (FULL,))
        name = f"{asked.traffic} on {asked.spec}, {asked.routing}"
        yield Row("router", "worst traffic, accepted", name, value, found, 0.02, kind="formula")


def _detours() -> Iterator[Row]:
    """Valiant carries half of the capacity, whatever the traffic. UGAL about the better of both."""
    spec = "dragonfly:2x4x2"
    capacity = _answer(Question(spec, "minimal-group", "uniform"), (0.7, 0.75, 0.8))
    worst = _answer(Question(spec, "minimal-group", "next-group"), (FULL,))
    halves = {
        pattern: _answer(Question(spec, "valiant", pattern), AROUND_HALF)
        for pattern in ("uniform", "next-group")
    }
    for pattern, found in halves.items():
        name = f"{pattern} on {spec}, valiant"
        yield Row("router", "part of the capacity", name, 0.5, found / capacity, 0.06,
                  kind="formula")  # fmt: skip
    for pattern, loads, better in (
        ("uniform", (0.6, 0.65, 0.7), max(capacity, halves["uniform"])),
        ("next-group", AROUND_HALF, max(worst, halves["next-group"])),
    ):
        found = _answer(Question(spec, "ugal-l", pattern), loads)
        name = f"{pattern} on {spec}, ugal-l"
        yield Row("router", "of the better of minimal and valiant", name, 1.0, found / better, 0.12,
                  kind="formula")  # fmt: skip


def _answer(asked: Question, loads: Sequence[float]) -> float:
    """Return the most traffic that is accepted at any of some loads."""
    net = topology(asked.spec)
    traffic = parse_traffic(asked.traffic, net)
    return max(accepted(net, asked.routing, traffic, LARGE, load) for load in loads)


def accepted(net: Topology, routing: str, traffic: Traffic, model: Router, load: float) -> float:
    """Return the traffic that is accepted at a load, in flits/host/cycle of a host that sends."""
    run = _run(net, routing, traffic, model, load, FLITS)
    run.advance(START)
    before = run.engine.count("ejected")
    run.advance(CYCLES)
    flits = run.engine.count("ejected") - before
    return flits / CYCLES / int(np.count_nonzero(traffic.rate))


def _waits(
    net: Topology, routing: str, traffic: Traffic, model: Router, load: float, flits: int
) -> float:
    """Return by how many cycles the mean latency is above that of the idle network."""
    routed = virtual_channel_routing(net, routing, num_vcs=model.vcs)
    idle = idle_network(net, routed, traffic, model, flits=flits)
    assert idle is not None
    sent = _run(net, routing, traffic, model, load, flits).advance(QUEUE_CYCLES)
    return float((sent.arrival - sent.birth).mean()) - idle.latency


def _first_latency(net: Topology, routing: str, traffic: Traffic, model: Router, flits: int) -> int:
    """Return the latency of the first packet."""
    run = _run(net, routing, traffic, model, 0.01, flits)
    while True:
        delivered = run.advance(1_000)
        if len(delivered.birth):
            return int(delivered.arrival[0] - delivered.birth[0])


def _run(
    net: Topology, routing: str, traffic: Traffic, model: Router, load: float, flits: int
) -> Run:
    routed = virtual_channel_routing(net, routing, num_vcs=model.vcs)
    return Run(
        net, routed, model, traffic, load,
        lengths=parse_lengths(str(flits)), arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
