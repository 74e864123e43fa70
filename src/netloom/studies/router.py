"""The virtual-channel router against BookSim 2: latencies and saturation, run for run.

The reference is a table, one configuration a row, of what that simulator measured. Every number is
recomputed as it was measured there, since near saturation a short run's mean latency is far below
that of the steady state, and differs from seed to seed. The reference's accepted traffic times its
nodes and cycles must be a whole number of flits; that, and how long its runs took, give its
windows: from an empty network, a start-up of 4,000 cycles is left out and 6,000 are measured (8,000
and 24,000 at an offered load of 0.005), then the network runs on until every packet of the window
has arrived. Measured are the packets created before the window's end that came to the head of
their source's queue in it; traffic counts as accepted when it leaves the network within the window.
The mean of several seeds is compared: one has a scatter of up to 3 % at 80 % of saturation.

What is read from the reference besides the number to compare with is the configuration, and, for
the latencies at 50 % and 80 % of *its* saturation load, that load.
"""

from __future__ import annotations

import csv
import os
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from math import inf, nan
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.progress import track
from netloom.routing import virtual_channel_routing
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.network.run import Run
from netloom.simulation.network.sweep import ZERO_LOAD
from netloom.spec import real_number, whole_number
from netloom.studies.validation import Row, published
from netloom.textfiles import read_text
from netloom.topology import topology
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netloom.routing import VirtualChannelRouting
    from netloom.simulation.tally import Delivered
    from netloom.topology import Topology
    from netloom.workload import Traffic

IDLE, AT_50, AT_80, SATURATION, PEAK = (
    "zero-load latency",
    "latency at 50 % of saturation",
    "latency at 80 % of saturation",
    "saturation load",
    "highest accepted traffic",
)

FAMILIES = {
    "fast": "three-stage", "default": "canonical-4-stage", "spec": "speculative-2-stage"
}  # fmt: skip
"""The router preset of each of the reference's router families."""

ROUTINGS = {
    ("mesh", "dor"): "dimension-order",
    ("mesh", "dim_order"): "dimension-order",
    ("mesh", "xy_yx"): "o1turn",
    ("mesh", "adaptive_xy_yx"): "o1turn-adaptive",
    ("mesh", "romm"): "romm",
    ("mesh", "valiant"): "valiant",
    ("mesh", "min_adapt"): "adaptive-sticky-escape",
    ("torus", "dim_order"): "dimension-order-static-dateline",
    ("torus", "valiant"): "valiant",
    ("torus", "min_adapt"): "adaptive-sticky-escape",
}
"""The routing that each of the reference's routing functions is."""

TRAFFICS = {
    "uniform": "uniform", "transpose": "transpose", "bitcomp": "bit-complement",
    "bitrev": "bit-reverse", "shuffle": "shuffle", "tornado": "tornado", "neighbor": "neighbour",
}  # fmt: skip
"""The traffic that each of the reference's patterns is; all of them include the source itself."""

TWO_CLASSES = ("xy_yx", "adaptive_xy_yx", "romm", "valiant")

NETLOOM_PARTS = (
    "with an odd number of VCs the reference's two classes of VCs overlap, where netloom's do not."
)
NEVER_SET = (
    "the reference's Valiant routing on a torus reads the dateline class of a packet that goes "
    "straight on from a variable that was never set, so that it is not defined."
)
PAST_SATURATION = (
    "a permutation's accepted traffic goes on rising past saturation, when the nodes that are "
    "served well send more: how high depends on how far beyond it the runs went."
)


class Window(NamedTuple):
    """Cycles of a short run: left out at the start, and measured."""

    start: int
    cycles: int


IDLE_WINDOW, WINDOW = Window(8_000, 24_000), Window(4_000, 6_000)
SEEDS = (1, 2, 3, 4)

MOST_DRAIN = 20_000
"""Cycles after the window in which its packets must arrive; their mean latency is infinite else."""

LATENCY_FACTOR = 3.0
"""How many times the latency of an idle network means saturation, in the reference."""

BRACKET = 0.03
"""How close, as a fraction of the load, the reference closed in on that; then it interpolated."""

BEYOND = 1.5
"""Times the throughput bound: where short runs are saturated as well. (A little above the bound
they may not be: what cannot leave has not had the time to pile up.)"""

PAST = (1.1, 1.25)
"""Times the saturation load at which to look for the highest accepted traffic as well; the
reference's runs went up to 1.05 to 1.4 times."""

QUEUE_CYCLES = 2_000_000
QUEUE_TOLERANCE = 0.03


@dataclass(frozen=True, eq=False)
class Case:
    """One configuration: what the reference measured, and the network to measure it on.

    Attributes
    ----------
    name
        The configuration in words.
    measured
        The reference's numbers, by item.
    network, router, traffic, flits
        The configuration.
    routing
        None where netloom refuses it.
    difference
        What is known to differ in kind; empty in most.
    """

    name: str
    measured: Mapping[str, float]
    network: Topology
    router: Router
    traffic: Traffic
    flits: int
    routing: VirtualChannelRouting | None
    difference: str

    def run(self, load: float, seed: int) -> Run:
        """Return a run that has not begun."""
        assert self.routing is not None
        return _run(self.router, self.routing, self.traffic, load, self.flits, seed)


class Point(NamedTuple):
    """Latency (cycles) of a short run at a load (flits/node/cycle)."""

    load: float
    latency: float


def rows(reference: str | None = None) -> Iterator[Row]:
    """Yield every recorded number, and theory's, or every number of a reference table.

    Parameters
    ----------
    reference
        A CSV file with the columns ``family`` (fast, default or spec), ``topology`` (mesh or
        torus), ``k``, ``n``, ``routing``, ``traffic``, ``num_vcs``, ``packet_size``,
        ``router_cycles``, ``link_cycles`` and the measured ``zero_load_packet_latency``,
        ``latency_at_50pct_sat``, ``latency_at_80pct_sat`` (cycles), ``saturation_offered`` and
        ``peak_accepted`` (flits/node/cycle; what is blank is not compared); ``vc_buf_size`` is 8
        where there is no such column. Further columns are left alone.

    Raises
    ------
    InputError
        If the table cannot be read, or names what netloom does not have.
    """
    known = published("router")
    columns = {item: about["column"] for item, about in known["items"].items()}
    lines = [dict(zip(known["columns"], map(str, row), strict=True)) for row in known["rows"]]
    recorded = [_case(line, columns, "recorded reference") for line in lines]
    cases = recorded if reference is None else _read(reference, columns)
    values = {case.name: case.measured for case in recorded}
    for case, computed in _measured(cases):
        for item, value in case.measured.items():
            same = values.get(case.name, {}).get(item) == value
            yield _row(known["items"][item], case, item, computed.get(item, nan), recorded=same)
    if reference is None:
        yield from theory_rows()


def _row(about: dict[str, Any], case: Case, item: str, computed: float, *, recorded: bool) -> Row:
    """Compare one number; a reason goes with recorded ones, and with what differs in kind."""
    reason = case.difference
    if recorded and case.name in about.get("outside", ()):
        reason = about["reason"]
    elif item == PEAK and not reason and not case.traffic.name.startswith("uniform"):
        reason = PAST_SATURATION
    return Row(
        "router", item, case.name, case.measured[item], computed, about["tolerance"], reason,
        cause="one run" if reason and not case.difference else "", kind="implementation",
    )  # fmt: skip


def _read(reference: str, columns: Mapping[str, str]) -> list[Case]:
    """Return the configurations of a CSV file."""
    text = read_text(reference, wanted="a table of reference runs")
    lines = csv.reader(text.splitlines())
    header = [word.strip() for word in next(lines, [])]
    needed = [
        "family", "topology", "k", "n", "routing", "traffic", "num_vcs", "packet_size",
        "router_cycles", "link_cycles", *columns.values(),
    ]  # fmt: skip
    for column in needed:
        if column not in header:
            raise InputError(f"{reference}:1", f"no column '{column}'", ", ".join(needed))
    cases = []
    for line in lines:
        where = f"{reference}:{lines.line_num}"
        if not any(line):
            continue
        if len(line) != len(header):
            raise InputError(where, f"{len(line)} values", f"{len(header)}, one a column")
        cases.append(_case(dict(zip(header, map(str.strip, line), strict=True)), columns, where))
    return cases


def _case(line: Mapping[str, str], columns: Mapping[str, str], where: str) -> Case:
    """Return the configuration of one line of a table."""

    def whole(field: str, least: int = 1) -> int:
        return whole_number(line[field], where=f"{where}, {field}", least=least)

    def named(field: str, names: Mapping[Any, str], key: Any) -> str:
        if key not in names:
            known = sorted({name if isinstance(name, str) else name[1] for name in names})
            raise InputError(f"{where}, {field}", f"'{line[field]}'", f"one of {', '.join(known)}")
        return names[key]

    kind = named("topology", {"mesh": "mesh", "torus": "torus"}, line["topology"])
    function = line["routing"].removesuffix(f"_{kind}")
    routing = named("routing", {key: ROUTINGS[key] for key in ROUTINGS if key[0] == kind},
                    (kind, function))  # fmt: skip
    pattern = named("traffic", TRAFFICS, line["traffic"])
    vcs, flits = whole("num_vcs"), whole("packet_size")
    model = router(
        named("family", FAMILIES, line["family"]),
        vcs=vcs,
        buffer_flits=whole("vc_buf_size") if line.get("vc_buf_size") else 8,
        channel_cycles=whole("link_cycles"),
    )
    if whole("router_cycles") != model.router_cycles:
        found, wanted = f"'{line['router_cycles']}'", f"{model.router_cycles} of this family"
        raise InputError(f"{where}, router_cycles", found, wanted)
    network = topology(f"{kind}:" + "x".join([line["k"]] * min(whole("n"), 32)))
    traffic, difference, virtual = _traffic(pattern, network, where), "", None
    try:
        virtual = virtual_channel_routing(network, routing, num_vcs=vcs)
        difference = _difference(kind, function, vcs)
    except InputError as error:
        difference = f"netloom refuses it: {error}"
    measured = {
        item: _positive(line[column], f"{where}, {column}")
        for item, column in columns.items()
        if line[column]
    }
    if SATURATION not in measured:
        measured = {item: measured[item] for item in measured if item not in (AT_50, AT_80)}
    links = "" if model.channel_cycles == 1 else f", links of {model.channel_cycles} cycles"
    name = (
        f"{function} {line['traffic']} on {network.name}, {line['family']}, "
        f"{vcs} VCs of {model.buffer_flits}, {flits} flits{links}"
    )
    return Case(name, measured, network, model, traffic, flits, virtual, difference)


def _traffic(pattern: str, network: Topology, where: str) -> Traffic:
    try:
        return parse_traffic(f"{pattern}-self", network)
    except InputError as error:
        raise InputError(f"{where}, traffic", f"'{pattern}' ({error.found})") from None


def _difference(kind: str, function: str, vcs: int) -> str:
    """Return in what a routing of the reference is known to differ in kind from netloom's."""
    if (kind, function) == ("torus", "valiant"):
        return NEVER_SET
    if function in TWO_CLASSES and vcs % 2:
        return NETLOOM_PARTS
    return ""


def _positive(text: str, where: str) -> float:
    number = real_number(text, where=where)
    if number <= 0:
        raise InputError(where, f"'{text}'", "a number above 0")
    return number


def _measured(cases: Sequence[Case]) -> Iterator[tuple[Case, dict[str, float]]]:
    """Yield every configuration with what was measured of it, several at a time."""
    stop = Event()
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        waiting = [(case, pool.submit(_measure, case, stop)) for case in cases]
        for case, future in track(waiting, "routers against the reference"):
            yield case, future.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _measure(case: Case, stop: Event) -> dict[str, float]:
    """Measure one configuration as the reference was measured; nothing where it is refused."""
    if case.routing is None:
        return {}
    found = {IDLE: _mean_latency(case, ZERO_LOAD, IDLE_WINDOW, stop)}
    for item, share in ((AT_50, 0.5), (AT_80, 0.8)):
        if item in case.measured:
            load = share * case.measured[SATURATION]
            found[item] = _mean_latency(case, load, WINDOW, stop)
    ends = [_saturate(case, LATENCY_FACTOR * found[IDLE], seed, stop) for seed in SEEDS]
    found[SATURATION], found[PEAK] = np.mean(ends, axis=0).tolist()
    return found


def _mean_latency(case: Case, load: float, window: Window, stop: Event) -> float:
    latencies = [_short_run(case.run(load, seed), window, stop)[0] for seed in SEEDS]
    return float(np.mean(latencies))


def _saturate(case: Case, beyond: float, seed: int, stop: Event) -> tuple[float, float]:
    """Return the load at which latency is ``beyond``, and the highest accepted traffic of all runs.

    Every seed closes in for itself: a mean of latencies would be that of the worst seed. The load
    is bisected to ``BRACKET``, and interpolated there in 1 / latency, which falls nearly in a
    straight line.
    """
    assert case.routing is not None
    bound = throughput_bound(case.network, case.routing, case.traffic, case.router)
    idle = beyond / LATENCY_FACTOR
    low, high, peak = Point(0.0, idle), Point(min(1.0, BEYOND * bound.load), inf), 0.0
    while high.load - low.load > BRACKET * high.load:
        load = (low.load + high.load) / 2
        latency, accepted = _short_run(case.run(load, seed), WINDOW, stop)
        peak = max(peak, accepted)
        if latency > beyond:
            high = Point(load, latency)
        else:
            low = Point(load, latency)
    share = (1 / low.latency - 1 / beyond) / (1 / low.latency - 1 / high.latency)
    found = low.load + share * (high.load - low.load)
    past = (case.run(min(1.0, times * found), seed) for times in PAST)
    return found, max(peak, *(_through_window(run, WINDOW)[1] for run in past))


def _short_run(run: Run, window: Window, stop: Event) -> tuple[float, float]:
    """Return the mean packet latency and the accepted traffic of one run from an empty network."""
    parts, accepted = _through_window(run, window)
    end, created = run.engine.cycle, int(run.born_packets.sum())
    while (missing := created - sum(int((part.birth < end).sum()) for part in parts)) and (
        run.engine.cycle < end + MOST_DRAIN
    ):
        if stop.is_set():
            raise CancelledError
        parts.append(run.advance(500))
    if missing:
        return inf, accepted
    birth, entry, arrival = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("birth", "entry", "arrival")
    )
    inside = (entry >= window.start) & (birth < end)
    return float((arrival - birth)[inside].mean()), accepted


def _through_window(run: Run, window: Window) -> tuple[list[Delivered], float]:
    """Run up to the end of a window; return what was delivered, and the traffic accepted in it."""
    start = run.advance(window.start)
    before = run.engine.count("ejected")
    parts = [start, run.advance(window.cycles)]
    flits = run.engine.count("ejected") - before
    return parts, flits / window.cycles / len(run.born_flits)


def theory_rows() -> Iterator[Row]:
    """Yield what theory says exactly of the virtual-channel network beside what is simulated."""
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
