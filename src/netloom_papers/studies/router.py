"""The virtual-channel router against BookSim 2: latencies and saturation, run for run.

The reference is a table of that simulator's measurements, with one configuration per row. It has
meshes, tori, and networks whose hosts are not routers (fat trees, flattened butterflies,
concentrated meshes, dragonflies, butterflies, graphs). ``booksim.networks``, ``routings`` and
``traffic`` build each as that simulator does, and ``booksim.runs`` measures it in the same way.

What is read from the reference besides the number to compare with is the configuration, and, for
the latencies at 50 % and 80 % of *its* saturation load, that load.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from math import nan
from threading import Event
from typing import TYPE_CHECKING, Any

from netloom.base.progress import track
from netloom.routing import virtual_channel_routing
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.network.run import Run
from netloom.topology import topology
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic
from netloom_papers.studies.booksim.cases import Case, case_of
from netloom_papers.studies.booksim.runs import AT_80, PEAK, measure
from netloom_papers.studies.booksim.tables import read_cases
from netloom_papers.studies.router_theory import hosted_rows
from netloom_papers.studies.validation import Row, published

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netloom.routing import VirtualChannelRouting
    from netloom.workload import Traffic

PAST_SATURATION = (
    "a permutation's accepted traffic keeps rising past saturation, because well-served nodes send "
    "more. Its highest value depends on the highest load of the runs."
)

QUEUE_CYCLES = 2_000_000
QUEUE_TOLERANCE = 0.03


def rows(reference: str | None = None) -> Iterator[Row]:
    """Yield every recorded number, and theory's, or every number of a reference table.

    Parameters
    ----------
    reference
        A CSV file. Its columns are ``family`` (fast, default or spec), ``topology`` (mesh, torus,
        or of ``booksim.networks.KINDS``), ``k``, ``n``, ``routing``, ``traffic``, ``num_vcs``,
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
    known = published("router")
    columns = {item: about["column"] for item, about in known["items"].items()}
    recorded = [
        case_of(dict(zip(table["columns"], map(str, row), strict=True)), columns, "recorded")
        for table in known["tables"]
        for row in table["rows"]
    ]
    cases = recorded if reference is None else read_cases(reference, columns)
    values = {case.name: case.measured for case in recorded}
    for case, computed in _measured(cases):
        for item, value in case.measured.items():
            same = values.get(case.name, {}).get(item) == value
            about = known["items"].get(item, known["items"][AT_80])  # the latter: at any load
            yield _row(about, case, item, computed.get(item, nan), recorded=same)
    if reference is None:
        yield from theory_rows()
        yield from hosted_rows()


def _row(about: dict[str, Any], case: Case, item: str, computed: float, *, recorded: bool) -> Row:
    """Compare one number. A reason goes with recorded ones, and with what differs in kind."""
    reason = case.difference
    if recorded and case.name in about.get("outside", ()):
        reason = about["reason"]
    elif item == PEAK and not reason and not case.traffic.name.startswith("uniform"):
        reason = PAST_SATURATION
    return Row(
        "router", item, case.name, case.measured[item], computed, about["tolerance"], reason,
        cause="one run" if reason and not case.difference else "", kind="implementation",
    )  # fmt: skip


def _measured(cases: Sequence[Case]) -> Iterator[tuple[Case, dict[str, float]]]:
    """Yield every configuration with what was measured of it, several at a time."""
    stop = Event()
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        waiting = [(case, pool.submit(measure, case, stop)) for case in cases]
        for case, future in track(waiting, "routers against the reference"):
            yield case, future.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def theory_rows() -> Iterator[Row]:
    """Yield what theory says exactly of the virtual-channel network beside what is simulated."""
    yield from _single_packets()
    yield from _source_queues()


def geo_d_1_wait(load: float, flits: int) -> float:
    """Return the mean wait, in cycles, of packets in a Geo/D/1 queue.

    One packet comes in a cycle with probability p = ``load`` / ``flits``, at most. Each is served
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
    run = _run(model, routing, parse_traffic("pairs:0-15", routing.topology), 0.01, flits)
    while True:
        delivered = run.advance(1_000)
        if len(delivered.birth):
            return int(delivered.arrival[0] - delivered.birth[0])


def _source_queues() -> Iterator[Row]:
    """Two nodes that send to each other: nothing but the source's own packets is in the way."""
    routing = virtual_channel_routing(topology("line:2"), "dimension-order", num_vcs=4)
    for load, flits in ((0.2, 5), (0.5, 5), (0.5, 8), (0.7, 5)):
        run = _run(Router(), routing, parse_traffic("uniform", routing.topology), load, flits)
        delivered = run.advance(QUEUE_CYCLES)
        found = float((delivered.entry - delivered.birth).mean())
        value = geo_d_1_wait(load, flits)
        name = f"wait in the source queue, load {load}, {flits} flits"
        yield Row("router", "Geo/D/1", name, value, found, QUEUE_TOLERANCE, kind="formula")


def _run(
    model: Router,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    load: float,
    flits: int,
    seed: int = 1,
) -> Run:
    return Run(
        routing.topology, routing, model, traffic, load,
        lengths=parse_lengths(str(flits)), arrivals=parse_arrivals("bernoulli"), seed=seed,
    )  # fmt: skip
