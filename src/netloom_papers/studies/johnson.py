"""Johnson 1992: Alewife's block-multithreaded processors, simulated and by the paper's model.

Everything is in network cycles. Measured curves are simulated. The transactions are ``coherence``
and ``request_reply``. T_f is a plain delay. The instruction-level behavior of Alewife, its caches
and its LimitLESS directory are not simulated.

Predicted curves are the model's. The paper leaves out most parameters of its program.
``alewife`` has them as they were inferred, with their sources. For one context, c and T_r +
T_f come from table 1. For two and for four, T_r + T_f comes from one statement each, and c from
printed numbers. T_f comes from a share in figure 8. Rows whose numbers were used for this are
marked, and prove only that the model can produce them together. Two parameters give all eight gains
of table 1. All other rows are predictions.

Table 1 is without contention for the nodes' own channels, and so are the other rows, except those
that are about it: these have one M/D/1 queue a message. The paper prints no numbers in its figures.
What its text says of them is in the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats
from netloom.contention import measure
from netloom.mapping import random_mapping
from netloom.routing import DimensionOrder
from netloom.topology import average_distance, torus
from netloom.workload import read
from netloom_papers.exhibits import curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made, in_order
from netloom_papers.models import locality as model
from netloom_papers.programs.transactions import Transactions
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES
from netloom_papers.questions.simulate.transactions import simulate_transactions
from netloom_papers.studies.running import run_side_by_side

RUN_CYCLES, FIXED_CYCLES = 16, 78
"""T_r and T_f. Neither is printed: an independent reproduction finds T_r + T_f = 94 from table 1,
and a T_f of two thirds of the fixed part from figure 8."""

CONTEXTS = (1, 2, 4)
DISTANCES = (1, 2, 3, 4, 5, 6)

NINE_DISTANCES = (1.0, 1.64, 2.28, 2.91, 3.55, 4.19, 4.83, 5.46, 6.1)
"""Of nine mappings, "from one to just over six network hops" (section 3.2)."""

QUICK_DISTANCES = NINE_DISTANCES[::4]

Protocol: TypeAlias = Literal["coherence", "request-reply"]

PROTOCOLS: tuple[Protocol, ...] = ("coherence", "request-reply")

MESSAGES = {"coherence": 3.2, "request-reply": 2.0}
MEAN_FLITS = 12.0
"""g and B."""

NODE_CHANNELS = {"coherence": (2, 4 / 3), "request-reply": (1, 1.0)}
"""How many of a node's channels messages queue for, and E[B²] / E[B]²."""

ROUTERS: dict[str, dict[str, Any]] = {
    "buffered": {"router": "single-cycle", "channel_cycles": 0, "vcs": 8, "buffer_flits": 24},
    "wormhole": {"router": "single-cycle", "channel_cycles": 0, "vcs": 2, "buffer_flits": 4},
}
"""``buffered``: the "moderate amount of buffering" of section 3.1, as Agarwal's network model has
it: a blocked message waits in one buffer, which holds all of it. ``wormhole``: as little as e-cube
routing on a torus needs."""

SPEEDS = {"2x faster": 2, "same": 1, "2x slower": 0.5, "4x slower": 0.25}
SIZES = {"10³": 1e3, "10⁶": 1e6}
NODES = np.logspace(1, 6, 51)

TIMES = {
    "variable_message": "variable message overhead",
    "fixed_message": "fixed message overhead",
    "fixed_transaction": "fixed transaction overhead",
    "work": "actual CPU cycles",
}
"""The parts of t_t, as figure 8 calls them."""

PROCESSORS = "N, processors"


# -- table 1 and section 6 -----------------------------------------------------------------------


def _gains(contexts: int, sizes: ArrayLike, speed: float = SPEEDS["2x faster"]) -> Floats:
    """Return the expected gain for some numbers of processors."""
    return model.expected_gain(model.alewife(contexts, speed=speed), nodes=sizes)


def _table_1(known: Known) -> Found:
    found = [_gains(1, list(SIZES.values()), speed) for speed in SPEEDS.values()]
    return in_order(known, np.ravel(found))


def _draw_table_1(made: Made) -> Drawn:
    places = product(SPEEDS, (f"{size} processors" for size in SIZES))
    cells = {place: row.cell for place, row in zip(places, made.rows, strict=False)}
    yield grid("Table 1: expected gain by relative network speed", cells, head="network speed")


def _slower(known: Known) -> Found:
    speeds = SPEEDS["2x faster"], SPEEDS["4x slower"]
    fast, slow = (_gains(1, list(SIZES.values()), speed) for speed in speeds)
    return in_order(known, slow / fast)


# -- the program, and figures 3 to 5 -------------------------------------------------------------


def _messages(_: Known) -> Found:
    """Counted in the program: a pass of all threads is a whole number of transactions."""
    program = Transactions(read("torus:8x8"), range(64), 64, run_cycles=RUN_CYCLES)
    table = program.extend(np.zeros(0, np.int64), until=1)
    sent = table.flits > 0
    yield "g, messages a transaction", np.count_nonzero(sent) / np.count_nonzero(~sent)
    yield "B, flits a message", table.flits[sent].mean()


def _distances(known: Known) -> Found:
    for k in known["radices"]:
        yield f"d of random nodes, k = {k}", average_distance(torus(k, k))
    graph, net = read("torus:8x8"), torus(8, 8)
    lengths = []
    for seed in range(1, known["mappings"] + 1):
        node_of = random_mapping(64, 64, seed)
        routed = measure(net, DimensionOrder(), node_of[graph.source], node_of[graph.target])
        lengths.append(routed.path_length.mean())
    yield "d of random mappings, 64 nodes", lengths


@cache
def simulated_curves(
    seeds: int,
    protocol: Protocol = "coherence",
    router: str = "buffered",
    distances: Sequence[float] = DISTANCES,
) -> pl.DataFrame:
    """Return one row per run on an 8 x 8 torus: what figures 3, 4 and 5 plot.

    ``inter_message_cycles`` t_m, ``message_latency`` T_m, ``message_rate`` r_m and ``distance`` d,
    by contexts p and seed.
    """

    def run(contexts: int, seed: int, distance: float) -> dict[str, Any]:
        program = {"run_cycles": RUN_CYCLES, "fixed_cycles": FIXED_CYCLES, "protocol": protocol}
        options = {**program, **ROUTERS[router], "mapping": f"distance:{distance:g}"}
        case: dict[str, Any] = {"contexts": contexts, "seed": seed}
        found = simulate_transactions("torus:8x8", app="torus:8x8", **case, **options)
        whole = ("distance", "inter_message_cycles", "messages_per_transaction")
        measured = ("message_rate", "message_latency")
        case |= {name: getattr(found, name) for name in whole}
        return case | {name: getattr(found.measured, name) for name in measured}

    cases = product(CONTEXTS, range(1, seeds + 1), distances)
    runs = [partial(run, *case) for case in cases]
    return pl.DataFrame(run_side_by_side(runs, "transactions on torus:8x8"))


def message_curve(runs: pl.DataFrame) -> tuple[float, float, float, float]:
    """Return the line T_m = s t_m - K / c through the points of one seed (eq. 9).

    These are the slope s, the critical path c = p g / s, the T_r + T_f that they imply, and R².
    """
    between, latency = runs["inter_message_cycles"], runs["message_latency"]
    slope, intercept = np.polyfit(between, latency, 1)
    critical = runs["contexts"][0] * runs["messages_per_transaction"].to_numpy().mean() / slope
    return slope, critical, -intercept * critical, np.corrcoef(between, latency)[0, 1] ** 2


def _curves(protocol: Protocol, known: Known) -> Found:
    for router in known.get("routers", ROUTERS):
        distances = tuple(known.get("distances", DISTANCES))
        table = simulated_curves(known["seeds"], protocol, router, distances)
        of: dict[int, Floats] = {}
        for p in CONTEXTS:
            seeds = table.filter(contexts=p).partition_by("seed", maintain_order=True)
            of[p] = np.transpose([message_curve(runs) for runs in seeds])
            slope, path, grain, fit = of[p]
            yield f"{router}, R² for p = {p}", fit
            if p == 1:
                yield f"{router}, T_r + T_f from the line, p = 1 (cycles)", grain
            else:
                yield f"{router}, slope for p = {p} over p = 1", slope / of[1][0]
            if protocol == "coherence" and p == 2:  # the paper's application
                yield f"{router}, slope for p = 2", slope
            if protocol == "coherence" and p == 4:
                yield f"{router}, c for p = 4 over p = 1", path / of[1][1]


def _paper_s_runs(quick: bool) -> list[tuple[int, pl.DataFrame]]:
    """Return the paper's nine mappings, or three, by contexts."""
    distances = QUICK_DISTANCES if quick else NINE_DISTANCES
    table = simulated_curves(1, "coherence", "buffered", distances)
    return [(contexts, table.filter(contexts=contexts)) for contexts in CONTEXTS]


def _draw_figure_3(made: Made) -> Drawn:
    curves = []
    for contexts, part in _paper_s_runs(made.quick):
        between = part["inter_message_cycles"].to_numpy()
        slope, intercept = np.polyfit(between, part["message_latency"].to_numpy(), 1)
        ends = np.array([between.min(), between.max()])
        curves.append(curve(f"p = {contexts}, regression", ends, slope * ends + intercept))
        curves.append(curve(f"p = {contexts}, simulated", between, part["message_latency"]))
    axes = "t_m, network cycles", "T_m, network cycles"
    yield plot("Figure 3: application message curves", axes, curves)


def _draw_by_distance(made: Made) -> Drawn:
    """Draw the simulated and the model's values for each p, and say how far these are off.

    The model's curve is over the distances of the runs, and regressed on them, with all channels
    alike. Latencies are with those of the ends.
    """
    name, curves, worst = made.known["field"], [], []
    of_rates = name == "message_rate"
    ends = 0 if of_rates else ENDS_CYCLES
    for contexts, part in _paper_s_runs(made.quick):
        machine = regressed(
            "coherence", contexts, part["message_rate"], part["message_latency"] - ENDS_CYCLES
        )
        lengths, seen = part["distance"].to_numpy(), part[name].to_numpy()
        distances = np.linspace(lengths.min(), lengths.max(), 26)
        at_runs, between = (
            getattr(model.predict_locality(machine, each), name) + ends
            for each in (lengths, distances)
        )
        worst.append(np.abs(at_runs / seen - 1 if of_rates else at_runs - seen).max())
        curves.append(curve(f"p = {contexts}, simulated", lengths, seen))
        curves.append(curve(f"p = {contexts}, model", distances, between))
    yield plot(made.known["title"], ("d, hops", made.known["unit"]), curves)
    yield made.known["found"].format(*worst)


def regressed(
    protocol: str, contexts: int, rates: ArrayLike, latencies: ArrayLike
) -> model.Machine:
    """Return the machine whose line T_m = s t_m − (T_r + T_f) / c is that of runs (eq. 9).

    Parameters
    ----------
    protocol, contexts
        What was run.
    rates, latencies
        Of messages. Latencies are without the ends, as the model has them.
    """
    slope, intercept = np.polyfit(1 / np.asarray(rates), np.asarray(latencies), 1)
    critical = contexts * MESSAGES[protocol] / slope
    return multithreaded(protocol, contexts, critical, max(-intercept * critical - RUN_CYCLES, 0.0))


def multithreaded(protocol: str, contexts: int, critical: float, fixed: float) -> model.Machine:
    """Return the machine that is simulated, with c and T_f as given."""
    channels, ratio = NODE_CHANNELS[protocol]
    cost = MESSAGES[protocol], critical, MEAN_FLITS, fixed, ratio
    return model.Machine(RUN_CYCLES, *cost, contexts, node_channels=channels)


# -- figure 6 and its limit ----------------------------------------------------------------------


def _limit(known: Known) -> Found:
    limit = float(model.per_hop_limit(model.alewife(2)))
    yield "limit of T_h, p = 2 (cycles; c is from the printed s)", limit
    nodes = float(known["nodes"])
    for grain in (1, 10):
        reached = float(_at_random(nodes, grain).per_hop_latency) / limit
        yield f"T_h over its limit, {nodes:g} processors, grain x {grain}", reached


def _figure_6(known: Known) -> Found:
    nodes = np.logspace(1, 6, 10_001)
    share = _at_random(nodes).per_hop_latency / model.per_hop_limit(model.alewife(2))
    return in_order(known, [np.interp(0.8, share, nodes)])


def _draw_figure_6(_: Made) -> Drawn:
    grains = {"the application of section 3": 1, "ten times the grain": 10}
    curves = [
        curve(name, NODES, _at_random(NODES, grain).per_hop_latency)
        for name, grain in grains.items()
    ]
    curves.append(
        curve("limit, equation 16", [10.0, 1e6], float(model.per_hop_limit(model.alewife(2))))
    )
    title = "Figure 6: per-hop latency, two contexts, random mappings"
    yield plot(title, (PROCESSORS, "T_h, network cycles"), curves, log_x=True)


def _at_random(nodes: ArrayLike, grain: float = 1) -> model.Locality:
    """Random mappings of two contexts, with ``grain`` times the useful work."""
    machine = model.alewife(2)
    longer = replace(machine, run_processor_cycles=grain * machine.run_processor_cycles)
    return model.predict_locality(longer, model.random_distance(nodes, machine.dimensions))


# -- figures 7 and 8: ideal and random mappings --------------------------------------------------


def _figure_7(known: Known) -> Found:
    found = [_gains(contexts, [10, *SIZES.values()]) for contexts in CONTEXTS]
    return in_order(known, np.ravel(found))


def _draw_figure_7(_: Made) -> Drawn:
    curves = [curve(f"p = {contexts}", NODES, _gains(contexts, NODES)) for contexts in CONTEXTS]
    title = "Figure 7: expected gain of ideal over random mappings"
    yield plot(title, (PROCESSORS, "expected gain"), curves, log_x=True, log_y=True)


def _expectations(known: Known) -> Found:
    one, two = (_both(contexts) for contexts in CONTEXTS[:2])
    costs = one.per_hop_latency, one.variable_message_cycles, two.variable_message_cycles
    ratios = [random / ideal for ideal, random in costs]
    return in_order(known, [model.random_distance(1000, 2), *ratios])


def _figure_8(known: Known) -> Found:
    found = []
    for contexts in CONTEXTS:
        both = _both(contexts)
        fixed = both.fixed_message_cycles + both.fixed_transaction_cycles + both.work_cycles
        processor_cycles = both.fixed_transaction_cycles / both.speed
        queued = _both(contexts, node_channels=1).fixed_message_cycles
        clock = known["megahertz"]
        ideal = both.fixed_transaction_cycles[0] / fixed[0], processor_cycles[0] / clock
        found += [*ideal, both.variable_message_cycles[1] / fixed[1], queued[0] - queued[1]]
    return in_order(known, found)


def _draw_figure_8(_: Made) -> Drawn:
    """Draw the parts of t_t by mapping and contexts (eq. 18)."""
    bars = []
    for contexts in CONTEXTS:
        both = _both(contexts)
        for at, mapping in enumerate(("ideal", "random")):
            place = [f"{mapping}, p = {contexts}"]
            for part, name in TIMES.items():
                bars.append(curve(name, place, getattr(both, f"{part}_cycles")[at]))
    title = "Figure 8: parts of the inter-transaction time, 1000 processors"
    yield plot(title, ("mapping and contexts", "t_t, network cycles"), bars, form="bars")


def _both(contexts: int, node_channels: int = 0) -> model.Locality:
    """The ideal mapping and a random one of 1000 processors."""
    distances = np.array([1.0, float(model.random_distance(1000, 2))])
    return model.predict_locality(model.alewife(contexts, node_channels=node_channels), distances)


def _node_channels(known: Known) -> Found:
    ends = DISTANCES[:: len(DISTANCES) - 1]
    nears = [model.predict_locality(model.alewife(p, node_channels=1), ends) for p in CONTEXTS]
    return in_order(known, np.ravel([each.node_channel_wait for each in nears]))


ITEMS = (
    Item("table 1", _table_1, _draw_table_1),
    Item("section 6", _slower),
    Item("section 3.2", _messages),
    Item("equation 17", _distances),
    *(Item(f"figure 3, {name}", partial(_curves, name)) for name in PROTOCOLS),
    Item("figure 3", draw=_draw_figure_3),
    *(Item(f"figure {number}", draw=_draw_by_distance) for number in (4, 5)),
    Item("equation 16", _limit),
    Item("figure 6", _figure_6, _draw_figure_6),
    Item("figure 7", _figure_7, _draw_figure_7),
    Item("section 4.2", _expectations),
    Item("figure 8", _figure_8, _draw_figure_8),
    Item("section 2.4", _node_channels),
)
"""In the paper's order, but for its only table."""
