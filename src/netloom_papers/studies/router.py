"""The virtual-channel router against BookSim 2: latencies and saturation, run for run.

The reference is a table of that simulator's measurements, with one configuration per row. It has
meshes, tori, and networks whose hosts are not routers (fat trees, flattened butterflies,
concentrated meshes, dragonflies, butterflies, graphs). ``booksim`` builds each as that simulator
does, and measures it in the same way.

What is read from the reference besides the number to compare with is the configuration, and, for
the latencies at 50 % and 80 % of *its* saturation load, that load.

Theory is beside what is simulated as well: the latency of a lone packet, and the queues of hosts
and of an output. Dragonflies and HyperX are under their worst traffic, full fat trees under
permutations. The worst traffic is that of Kim, Dally, Scott & Abts, *Technology-driven,
highly-scalable dragonfly topology*, 2008, and Kim, Dally & Abts, *Flattened butterfly*, 2007.
*Capacity* is the uniform traffic that the same routers carry on shortest paths. It is about 80 % of
the channels' capacity, because allocation is not perfect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import nan

import numpy as np

from netloom.phases.execution import side_by_side
from netloom.routing import virtual_channel_routing
from netloom.simulation.network.idle import channel_kinds, lone_cycles
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.network.run import Run
from netloom.topology import Topology, mesh, topology
from netloom.topology.core import attach_hosts
from netloom.workload import Traffic, parse_traffic
from netloom.workload.traffic import pairs, permutation
from netloom_papers.ledger import Against, Found, Item, Known, Row
from netloom_papers.studies import booksim

LARGE = Router(vcs=8, buffer_flits=32)
"""Routers whose VCs and buffers are not what limits a network."""

WINDOW = booksim.Window(3_000, 6_000)
"""Cycles from an empty network that are left out, and measured."""

FLITS = 4

FULL = 1.0
"""Load at which every host would send all the time."""

DRAGONFLY = "dragonfly:2x4x2"


def _runs(known: Known) -> Iterator[Row]:
    """Yield every recorded number, or every number of the table that is the ``reference``.

    A reason goes with recorded numbers, and with what differs in kind.

    It is a CSV file. Its columns are ``family`` (fast, default or spec), ``topology`` (mesh, torus,
    or of ``booksim.KINDS``), ``k``, ``n``, ``routing``, ``traffic``, ``num_vcs``,
    ``packet_size``, ``router_cycles``, and for meshes and tori ``link_cycles``. Measured
    columns are ``zero_load_packet_latency``, ``latency_at_50pct_sat``, ``latency_at_80pct_sat``
    (cycles), ``saturation_offered`` and ``peak_accepted`` (flits/node/cycle). Blank cells are
    not compared. By default, ``vc_buf_size`` is 8, ``c`` and ``xr`` are 1, ``x`` is 8, and
    ``use_noc_latency`` is 1. ``sample_period`` gives the length of its runs: 3 periods of
    start-up and 7 measured. A ``network_file`` of an anynet is looked for beside the table, in
    ``../data/fabrics/anynet``, and among those of the recorded configurations. Other columns
    are ignored. A table with ``offered_flits_node_cycle``, ``avg_packet_latency`` and
    ``stable`` has one run per row instead. Latencies are then compared up to 0.85 of the
    configuration's highest stable load.

    Raises
    ------
    InputError
        If the table cannot be read, or names what netloom does not have.
    """
    columns = {item: about["column"] for item, about in known["compared"].items()}
    rows = [
        dict(zip(table["columns"], map(str, row), strict=True))
        for table in known["tables"]
        for row in table["rows"]
    ]
    recorded = [booksim.case_of(booksim.Line(row, "recorded"), columns) for row in rows]
    reference = known.get("reference")
    wanted = recorded if reference is None else booksim.read_cases(reference, columns)
    values = {case.name: case.measured for case in recorded}
    at_any_load = known["compared"][booksim.AT_80]
    runs = [partial(booksim.measure, case) for case in wanted]
    found = side_by_side(runs, "routers against the reference")
    for case, computed in zip(wanted, found, strict=True):
        for item, value in case.measured.items():
            about = known["compared"].get(item, at_any_load)
            same = values.get(case.name, {}).get(item) == value
            reason = case.difference
            if same and case.name in about.get("outside", ()):
                reason = about["reason"]
            elif item == booksim.PEAK and not (reason or case.traffic.name.startswith("uniform")):
                reason = booksim.DIFFERENCES["past saturation"]
            yield Row(
                "router",
                item,
                case.name,
                printed=value,
                computed=computed.get(item, nan),
                tolerance=about["tolerance"],
                reason=reason,
                cause="one run" if reason and not case.difference else "",
                kind="implementation",
            )


def queue_wait(load: float, flits: int, cycles: int = 1) -> float:
    """Return the mean wait, in cycles, of a host's packets for its injection channel.

    This is a Geo/D/1 queue. One packet arrives per cycle with probability p = ``load`` / ``flits``,
    at most. Its service takes S = ``flits`` * ``cycles``, and may begin in the cycle in which it
    comes. The mean wait is p S (S - 1) / (2 (1 - p S)) (Takagi, *Queueing Analysis* vol. 3, 1993).

    Examples
    --------
    >>> queue_wait(0.5, 5), queue_wait(0.25, 5, 2)
    (2.0, 4.5)
    """
    busy = load * cycles
    return busy * (flits * cycles - 1) / (2 * (1 - busy))


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


def _single_packets(_: Known) -> Found:
    """One packet on an idle network takes what the stages add up to, to the cycle."""
    net = topology("mesh:4x4")
    for switching in ("wormhole", "virtual-cut-through", "store-and-forward", "circuit"):
        for preset, (cycles, flits) in product(PRESETS, ((1, 1), (1, 5), (2, 5))):
            model = router(preset, switching=switching, channel_cycles=cycles)
            found = _first_latency(net, "dimension-order", pairs(16, [0], [15]), model, flits)
            name = f"{switching}, {preset}, links of {cycles}, {flits} flits"
            yield name, Against(model.zero_load_cycles(6, flits), found)


def _source_queues(known: Known) -> Found:
    """Two nodes that send to each other: nothing but the source's own packets is in the way."""
    net = topology("line:2")
    for load, flits in known["cases"]:
        run = _run(net, "dimension-order", parse_traffic("uniform", net), Router(), load, flits)
        delivered = run.advance(2_000_000)
        found = float((delivered.entry - delivered.birth).mean())
        name = f"wait in the source queue, load {load}, {flits} flits"
        yield name, Against(queue_wait(load, flits), found)


def _lone_packets(known: Known) -> Found:
    """One packet over channels of different lengths and rates takes what its way adds up to."""
    for preset, (cycles, rates, flits) in product(PRESETS, known["cases"]):
        net, model = _chain(cycles, rates), router(preset, buffer_flits=12)
        kinds, kind_of = channel_kinds(net, model)
        first = net.num_network_channels
        way = [kinds[kind_of[at]] for at in (first, 0, 1, first + net.num_ports + 1)]
        found = _first_latency(net, "minimal", pairs(2, [0], [1]), model, flits)
        along = f"channels of {tuple(cycles)} cycles and {tuple(rates)} flits/cycle"
        yield f"{preset}, {along}, {flits} flits", Against(lone_cycles(model, way, flits), found)


def _chain(cycles: Sequence[int], rates: Sequence[float]) -> Topology:
    """Return three routers in a line, a host at either end. Channels as from one to the other."""
    inside = mesh(3)
    lasting, speed = np.array(cycles, np.int32), np.array(rates, np.float64)
    order = np.array([1, 2, 2, 1])  # from router 0 to 1, 1 to 2, and back
    inside = replace(inside, channel_cycles=lasting[order], channel_bandwidth=speed[order])
    ends, routers = [0, 3], np.array([0, 2])
    return attach_hosts(inside, routers, name="chain", cycles=lasting[ends], bandwidth=speed[ends])


def _host_queues(known: Known) -> Found:
    """Two hosts that send to each other over channels of their own."""
    for load, flits, cycles in known["cases"]:
        net = _chain((1, 1, 1, 1), (1 / cycles, 1, 1, 1))
        found = _waits(net, "minimal", pairs(2, [0], [1]), load, flits)
        name = f"injection of a flit in {cycles} cycles, load {load}, {flits} flits"
        yield name, Against(queue_wait(load, flits, cycles), found)


def _output_queues(known: Known) -> Found:
    """Hosts of one router that send single flits to another of its hosts."""
    for load, sources in known["cases"]:
        net = topology(f"xgft:{sources + 1}/1")
        traffic = pairs(net.num_hosts, [*range(1, sources + 1)], [0] * sources)
        found = _waits(net, "nca", traffic, load / sources, 1)
        name, value = f"{sources} hosts, load {load}", output_queue_wait(load, sources)
        yield name, Against(value, found)


def _permutations(known: Known) -> Found:
    """A full fat tree carries any permutation by adaptive ways upwards."""
    net, load = topology(known["on"]), known["load"]
    model, rng = replace(LARGE, vcs=16), np.random.default_rng(7)
    some = [parse_traffic(name, net) for name in known["patterns"]]
    drawn = permutation(rng.permutation(net.num_hosts), name="a permutation drawn at random")
    for traffic, routing in product((*some, drawn), known["routings"]):
        name = f"{traffic.name} on {net.name}, {routing}, offered {load}"
        yield name, Against(load, accepted(net, routing, traffic, model, load))


def _worst_traffic(known: Known) -> Found:
    """Traffic that all takes the same channels."""
    for pattern, spec, routing, hosts in known["cases"]:
        most = _most(spec, routing, pattern, (FULL,))
        yield f"{pattern} on {spec}, {routing}", Against(1 / hosts, most)


def _halves(known: Known) -> Found:
    """Valiant carries half of the capacity, whatever the traffic."""
    most = _most_of(known)
    for pattern in known["loads"]["valiant"]:
        share = most["valiant", pattern] / most["minimal-group", "uniform"]
        yield f"{pattern} on {DRAGONFLY}, valiant", Against(0.5, share)


def _better(known: Known) -> Found:
    """UGAL carries about the better of minimal and Valiant."""
    most = _most_of(known)
    for pattern in known["loads"]["ugal-l"]:
        better = max(most["minimal-group", pattern], most["valiant", pattern])
        yield f"{pattern} on {DRAGONFLY}, ugal-l", Against(1.0, most["ugal-l", pattern] / better)


def _most_of(known: Known) -> dict[tuple[str, str], float]:
    """Return the most that a dragonfly accepts, by routing and traffic.

    It is looked at beyond saturation, since traffic is accepted unevenly there.
    """
    found = {}
    for routing, by_traffic in known["loads"].items():
        for traffic, loads in by_traffic.items():
            found[routing, traffic] = _most(DRAGONFLY, routing, traffic, tuple(loads))
    return found


@cache
def _most(spec: str, routing: str, pattern: str, loads: tuple[float, ...]) -> float:
    """Return the most traffic that is accepted at any of some loads."""
    net = topology(spec)
    traffic = parse_traffic(pattern, net)
    return max(accepted(net, routing, traffic, LARGE, load) for load in loads)


def accepted(net: Topology, routing: str, traffic: Traffic, model: Router, load: float) -> float:
    """Return the traffic that is accepted at a load, in flits/host/cycle of a host that sends."""
    run = _run(net, routing, traffic, model, load, FLITS)
    _, flits = booksim.through_window(run, WINDOW)
    return flits / WINDOW.cycles / run.senders


def _waits(net: Topology, routing: str, traffic: Traffic, load: float, flits: int) -> float:
    """Return by how many cycles the mean latency is above that of the idle network."""
    run = _run(net, routing, traffic, Router(), load, flits)
    sent = run.advance(1_000_000)
    return float((sent.arrival - sent.birth).mean()) - run.idle.latency


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
    return Run(net, routed, model, traffic, load, **booksim.packets_of(flits), seed=1)


ITEMS = (
    Item("runs", _runs, takes_table=True),
    Item("zero-load formula", _single_packets),
    Item("Geo/D/1", _source_queues),
    Item("lone packet", _lone_packets),
    Item("Geo/D/1 at a host", _host_queues),
    Item("output queue", _output_queues),
    Item("permutations", _permutations),
    Item("worst traffic, accepted", _worst_traffic),
    Item("part of the capacity", _halves),
    Item("of the better of minimal and valiant", _better),
)
