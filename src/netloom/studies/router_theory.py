"""The virtual-channel network against what theory says of it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.routing import virtual_channel_routing
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.network.run import Run
from netloom.studies.validation import Row
from netloom.topology import topology
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.routing import VirtualChannelRouting

QUEUE_CYCLES = 2_000_000
QUEUE_TOLERANCE = 0.03


def theory_rows() -> Iterator[Row]:
    """Yield what theory says beside what is simulated."""
    yield from _single_packets()
    yield from _source_queues()


def geo_d_1_wait(load: float, flits: int) -> float:
    """Return the mean wait, in cycles, of packets in a Geo/D/1 queue.

    One packet comes in a cycle with probability p = ``load`` / ``flits``, at most; each is served
    for L = ``flits`` cycles, and may begin in the cycle in which it comes:
    p L (L - 1) / (2 (1 - p L)) (Takagi, Queueing Analysis vol. 3, 1993, the Geo/G/1 queue).

    Examples
    --------
    >>> geo_d_1_wait(0.5, 5)
    2.0
    """
    return load * (flits - 1) / (2 * (1 - load))


def _single_packets() -> Iterator[Row]:
    """One packet on an idle network takes what the stages add up to, to the cycle."""
    network = topology("mesh:4x4")
    for switching in ("wormhole", "virtual-cut-through", "store-and-forward", "circuit"):
        for preset in PRESETS:
            for channel_cycles, flits in ((1, 1), (1, 5), (2, 5)):
                model = router(preset, switching=switching, channel_cycles=channel_cycles)
                routing = virtual_channel_routing(network, "dimension-order", num_vcs=model.vcs)
                name = f"{switching}, {preset}, links of {channel_cycles}, {flits} flits"
                value = model.zero_load_cycles(6, flits)
                found = _first_latency(model, routing, flits)
                yield Row("router", "zero-load formula", name, value, found, 0.0, kind="formula")


def _first_latency(model: Router, routing: VirtualChannelRouting, flits: int) -> int:
    """Return the latency of the first packet from corner to corner."""
    run = _run(model, routing, "pairs:0-15", 0.01, flits)
    while True:
        delivered = run.advance(1_000)
        if len(delivered.birth):
            return int(delivered.arrival[0] - delivered.birth[0])


def _source_queues() -> Iterator[Row]:
    """Two nodes that send to each other: nothing but the source's own packets is in the way."""
    routing = virtual_channel_routing(topology("line:2"), "dimension-order", num_vcs=4)
    for load, flits in ((0.2, 5), (0.5, 5), (0.5, 8), (0.7, 5)):
        run = _run(Router(), routing, "uniform", load, flits)
        delivered = run.advance(QUEUE_CYCLES)
        found = float((delivered.entry - delivered.birth).mean())
        value = geo_d_1_wait(load, flits)
        name = f"wait in the source queue, load {load}, {flits} flits"
        yield Row("router", "Geo/D/1", name, value, found, QUEUE_TOLERANCE, kind="formula")


def _run(
    model: Router, routing: VirtualChannelRouting, traffic: str, load: float, flits: int
) -> Run:
    network = routing.topology
    return Run(
        network, routing, model, parse_traffic(traffic, network), load,
        lengths=parse_lengths(str(flits)), arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
