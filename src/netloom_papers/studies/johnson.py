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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats
from netloom.contention import measure
from netloom.mapping import random_mapping
from netloom.routing import DimensionOrder
from netloom.topology import average_distance, torus
from netloom.workload import read
from netloom_papers.exhibits import Plot, curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made
from netloom_papers.models.locality import (
    Locality,
    Machine,
    alewife,
    expected_gain,
    per_hop_limit,
    predict_locality,
    random_distance,
)
from netloom_papers.programs.transactions import Transactions
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES
from netloom_papers.questions.simulate.transactions import simulate_transactions
from netloom_papers.studies.running import run_side_by_side

if TYPE_CHECKING:
    import polars as pl

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

BETWEEN, LATENCY = "t_m, network cycles", "T_m, network cycles"
PROCESSORS = "N, processors"


# -- table 1 and section 6 -----------------------------------------------------------------------


def _table_1(_: Known) -> Found:
    for (name, speed), (size, nodes) in product(SPEEDS.items(), SIZES.items()):
        gain = expected_gain(alewife(1, speed=speed), nodes=nodes)
        yield f"gain, {name}, {size} processors (used to infer c and T_r + T_f)", gain


def _draw_table_1(made: Made) -> Drawn:
    places = product(SPEEDS, (f"{size} processors" for size in SIZES))
    cells = {place: row.cell for place, row in zip(places, made.rows, strict=False)}
    yield grid("Table 1: expected gain by relative network speed", cells, head="network speed")


def _slower(_: Known) -> Found:
    gains = {
        name: expected_gain(alewife(1, speed=SPEEDS[name]), nodes=list(SIZES.values()))
        for name in ("2x faster", "4x slower")
    }
    ratio = gains["4x slower"] / gains["2x faster"]
    for index, size in enumerate(SIZES):
        yield f"gain at an eighth of the speed over gain, {size} processors (table 1)", ratio[index]


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
    import polars as pl

    def run(contexts: int, seed: int, distance: float) -> dict[str, Any]:
        simulated = simulate_transactions(
            "torus:8x8",
            app="torus:8x8",
            mapping=f"distance:{distance:g}",
            contexts=contexts,
            run_cycles=RUN_CYCLES,
            fixed_cycles=FIXED_CYCLES,
            protocol=protocol,
            seed=seed,
            **ROUTERS[router],
        )
        return {
            "contexts": contexts,
            "seed": seed,
            "distance": simulated.distance,
            "message_rate": simulated.measured.message_rate,
            "inter_message_cycles": simulated.inter_message_cycles,
            "message_latency": simulated.measured.message_latency,
            "messages_per_transaction": simulated.messages_per_transaction,
        }

    cases = product(CONTEXTS, range(1, seeds + 1), distances)
    runs = [partial(run, *case) for case in cases]
    return pl.DataFrame(run_side_by_side(runs, "transactions on torus:8x8"))


def message_curves(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lines T_m = s t_m - K / c through the points of each seed (eq. 9).

    By contexts and seed: ``slope`` s, ``critical_path`` c = p g / s, the ``grain`` T_r + T_f that
    they imply, and ``r_squared``.
    """
    import polars as pl

    found = []
    for (contexts, seed), part in table.group_by("contexts", "seed", maintain_order=True):
        between, latency = part["inter_message_cycles"], part["message_latency"]
        slope, intercept = np.polyfit(between, latency, 1)
        critical = contexts * part["messages_per_transaction"].to_numpy().mean() / slope
        found.append(
            {
                "contexts": contexts,
                "seed": seed,
                "slope": slope,
                "critical_path": critical,
                "grain": -intercept * critical,
                "r_squared": np.corrcoef(between, latency)[0, 1] ** 2,
            }
        )
    return pl.DataFrame(found)


def _curves(protocol: Protocol, known: Known) -> Found:
    for router in known.get("routers", ROUTERS):
        distances = tuple(known.get("distances", DISTANCES))
        lines = message_curves(simulated_curves(known["seeds"], protocol, router, distances))
        of = {p: lines.filter(contexts=p).sort("seed") for p in CONTEXTS}
        slopes = {p: of[p]["slope"].to_numpy() for p in CONTEXTS}
        for p in CONTEXTS:
            yield f"{router}, R² for p = {p}", of[p]["r_squared"]
        for p in CONTEXTS[1:]:
            yield f"{router}, slope for p = {p} over p = 1", slopes[p] / slopes[1]
        if protocol == "coherence":  # the paper's application
            yield f"{router}, slope for p = 2", slopes[2]
            paths = of[4]["critical_path"].to_numpy() / of[1]["critical_path"].to_numpy()
            yield f"{router}, c for p = 4 over p = 1", paths
        yield f"{router}, T_r + T_f from the line, p = 1 (cycles)", of[1]["grain"]


def _paper_s_runs(quick: bool) -> list[tuple[int, pl.DataFrame]]:
    """Return the paper's nine mappings, or three, by contexts."""
    distances = QUICK_DISTANCES if quick else NINE_DISTANCES
    return _by_contexts(simulated_curves(1, "coherence", "buffered", distances))


def _by_contexts(table: pl.DataFrame) -> list[tuple[int, pl.DataFrame]]:
    return [(contexts, table.filter(contexts=contexts)) for contexts in CONTEXTS]


def _draw_figure_3(made: Made) -> Drawn:
    curves = []
    for contexts, part in _paper_s_runs(made.quick):
        between = part["inter_message_cycles"].to_numpy()
        slope, intercept = np.polyfit(between, part["message_latency"].to_numpy(), 1)
        ends = np.array([between.min(), between.max()])
        curves.append(curve(f"p = {contexts}, regression", ends, slope * ends + intercept))
        curves.append(curve(f"p = {contexts}, simulated", between, part["message_latency"]))
    yield plot("Figure 3: application message curves", (BETWEEN, LATENCY), curves)
    yield _inferred_curves("inter_message_cycles", "message_latency", (BETWEEN, LATENCY))


def _draw_figure_4(made: Made) -> Drawn:
    title, unit = "Figure 4: message injection rate", "r_m, messages/node/network cycle"
    panels, seen, said = _by_distance(made.quick, "message_rate", title, unit)
    yield from panels
    worst = [f"{np.abs(b / a - 1).max():.0%}" for a, b in zip(seen, said, strict=True)]
    yield (
        "The text has predicted message rates 'consistently within a few percent of measured "
        "values'; here the model, regressed on the simulated runs as in the paper, is within "
        f"{', '.join(worst)} of them for one, two and four contexts. Four load some channels of "
        "these mappings far more than others, and the model takes all for alike. With each "
        "mapping's own loads rates are within 8 %: netloom study run model-accuracy."
    )


def _draw_figure_5(made: Made) -> Drawn:
    title = "Figure 5: message latency"
    panels, seen, said = _by_distance(made.quick, "message_latency", title, LATENCY, ENDS_CYCLES)
    yield from panels
    worst = [f"{np.abs(b - a).max():.0f}" for a, b in zip(seen, said, strict=True)]
    yield (
        "The text has predicted latencies 'to within a few network cycles'; here the model, "
        f"regressed on the simulated runs as in the paper, is within {', '.join(worst)} of them "
        f"for one, two and four contexts. Both count the {ENDS_CYCLES} cycles that a message takes "
        "at its ends."
    )


def _by_distance(
    quick: bool, name: str, title: str, unit: str, ends: int = 0
) -> tuple[list[Plot], list[Floats], list[Floats]]:
    """Return the panels of a figure, and the simulated and the model's values for each p.

    The model's curve is over the distances of the runs, and regressed on them, with all channels
    alike. ``ends`` are added.
    """
    curves, seen, said = [], [], []
    for contexts, part in _paper_s_runs(quick):
        machine = regressed(
            "coherence", contexts, part["message_rate"], part["message_latency"] - ENDS_CYCLES
        )
        lengths = part["distance"].to_numpy()
        distances = np.linspace(lengths.min(), lengths.max(), 26)
        at_runs, between = (
            getattr(predict_locality(machine, each), name) + ends for each in (lengths, distances)
        )
        seen.append(part[name].to_numpy())
        said.append(at_runs)
        curves.append(curve(f"p = {contexts}, simulated", lengths, seen[-1]))
        curves.append(curve(f"p = {contexts}, model", distances, between))
    axes = "d, hops", unit
    return [plot(title, axes, curves), _inferred_curves("distance", name, axes)], seen, said


def regressed(protocol: str, contexts: int, rates: ArrayLike, latencies: ArrayLike) -> Machine:
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


def multithreaded(protocol: str, contexts: int, critical: float, fixed: float) -> Machine:
    """Return the machine that is simulated, with c and T_f as given."""
    channels, ratio = NODE_CHANNELS[protocol]
    cost = MESSAGES[protocol], critical, MEAN_FLITS, fixed, ratio
    return Machine(RUN_CYCLES, *cost, contexts, node_channels=channels)


def model_curves(distances: Sequence[float] = DISTANCES) -> pl.DataFrame:
    """Return the model's t_m, T_m, r_m and d by contexts p, named as those that are simulated.

    With one node channel, which the paper's curves include in some form (section 2.4).
    """
    import polars as pl

    parts = []
    for contexts in CONTEXTS:
        found = predict_locality(alewife(contexts, node_channels=1), distances)
        names = ("distance", "message_rate", "message_latency")
        table = pl.DataFrame({name: getattr(found, name) for name in names})
        between = 1 / pl.col("message_rate")
        parts.append(table.with_columns(contexts=contexts, inter_message_cycles=between))
    return pl.concat(parts)


def _inferred_curves(x: str, y: str, axes: tuple[str, str]) -> Plot:
    """Return the model's curves with Alewife's inferred parameters."""
    table = model_curves(np.linspace(1, 6.1, 26).tolist())
    curves = [curve(f"p = {contexts}", part[x], part[y]) for contexts, part in _by_contexts(table)]
    return plot("The combined model with the paper's parameters, as inferred", axes, curves)


# -- figure 6 and its limit ----------------------------------------------------------------------


def _limit(known: Known) -> Found:
    limit = float(per_hop_limit(alewife(2)))
    yield "limit of T_h, p = 2 (cycles; c is from the printed s)", limit
    nodes = float(known["nodes"])
    for grain in (1, 10):
        reached = float(_at_random(nodes, 2, grain).per_hop_latency) / limit
        yield f"T_h over its limit, {nodes:g} processors, grain x {grain}", reached


def _figure_6(_: Known) -> Found:
    nodes = np.logspace(1, 6, 10_001)
    share = _at_random(nodes, 2).per_hop_latency / per_hop_limit(alewife(2))
    name = "processors with T_h at 80 % of its limit, p = 2 (used to infer T_r + T_f of p = 2)"
    yield name, np.interp(0.8, share, nodes)


def hop_latencies(nodes: ArrayLike = NODES, grain: float = 1) -> Floats:
    """Return T_h by number of processors and grain, in multiples of T_r, for two contexts."""
    return _at_random(np.asarray(nodes, np.float64), 2, grain).per_hop_latency


def _draw_figure_6(_: Made) -> Drawn:
    grains = {"the application of section 3": 1, "ten times the grain": 10}
    curves = [curve(name, NODES, hop_latencies(NODES, grain)) for name, grain in grains.items()]
    curves.append(curve("limit, equation 16", [10.0, 1e6], float(per_hop_limit(alewife(2)))))
    title = "Figure 6: per-hop latency, two contexts, random mappings"
    yield plot(title, (PROCESSORS, "T_h, network cycles"), curves, log_x=True)


def _at_random(nodes: ArrayLike, contexts: int, grain: float = 1) -> Locality:
    """Random mappings, with ``grain`` times the useful work."""
    machine = alewife(contexts)
    longer = replace(machine, run_processor_cycles=grain * machine.run_processor_cycles)
    return predict_locality(longer, random_distance(nodes, machine.dimensions))


# -- figures 7 and 8: ideal and random mappings --------------------------------------------------


def _figure_7(_: Known) -> Found:
    used = {
        "10³ processors, p = 1": " (table 1, used to infer c and T_r + T_f)",
        "10⁶ processors, p = 1": " (table 1, used to infer c and T_r + T_f)",
        "10⁶ processors, p = 4": " (used to infer T_r + T_f of p = 4)",
    }
    for contexts in CONTEXTS:
        gains = expected_gain(alewife(contexts), nodes=[10, *SIZES.values()])
        for gain, size in zip(gains, ("10", *SIZES), strict=True):
            name = f"{size} processors, p = {contexts}"
            yield f"gain, {name}{used.get(name, '')}", gain


def gains() -> dict[int, Floats]:
    """Return the expected gain for ``NODES`` processors, by contexts."""
    return {contexts: expected_gain(alewife(contexts), nodes=NODES) for contexts in CONTEXTS}


def _draw_figure_7(_: Made) -> Drawn:
    curves = [curve(f"p = {contexts}", NODES, gain) for contexts, gain in gains().items()]
    title = "Figure 7: expected gain of ideal over random mappings"
    yield plot(title, (PROCESSORS, "expected gain"), curves, log_x=True, log_y=True)


def _expectations(_: Known) -> Found:
    yield "d of random mappings, 1000 processors", random_distance(1000, 2)
    for contexts in CONTEXTS[:2]:
        both = _both(1000, contexts)
        hops, overhead = both.per_hop_latency, both.variable_message_cycles
        if contexts == 1:  # "four or more"
            yield "T_h of random over ideal mappings, p = 1", hops[1] / hops[0]
        name = f"n k_d T_h of random over ideal mappings, p = {contexts}"
        yield name, overhead[1] / overhead[0]


def _figure_8(known: Known) -> Found:
    for contexts in CONTEXTS:
        both = _both(1000, contexts)
        fixed = both.fixed_message_cycles + both.fixed_transaction_cycles + both.work_cycles
        used = " (used to infer T_f)" if contexts == 1 else ""
        share = both.fixed_transaction_cycles / fixed
        yield f"share of T_f in the fixed part, p = {contexts}{used}", share[0]
        processor_cycles = both.fixed_transaction_cycles / both.speed
        yield f"T_f / p, p = {contexts} (µs)", processor_cycles[0] / known["megahertz"]
        par = both.variable_message_cycles / fixed
        yield f"variable overhead over the fixed part, random mapping, p = {contexts}", par[1]
        queued = _both(1000, contexts, node_channels=1).fixed_message_cycles
        name = f"fixed part, ideal less random, a node channel, p = {contexts} (cycles)"
        yield name, queued[0] - queued[1]


def times_of_paper() -> list[pl.DataFrame]:
    """Return the parts of t_t by mapping and contexts (eq. 18), 1000 processors."""
    bars = []
    for contexts in CONTEXTS:
        both = _both(1000, contexts)
        for (index, mapping), (part, name) in product(
            enumerate(("ideal", "random")), TIMES.items()
        ):
            cycles = getattr(both, f"{part}_cycles")[index]
            bars.append(curve(name, [f"{mapping}, p = {contexts}"], cycles))
    return bars


def _draw_figure_8(_: Made) -> Drawn:
    title = "Figure 8: parts of the inter-transaction time, 1000 processors"
    axes = "mapping and contexts", "t_t, network cycles"
    yield plot(title, axes, times_of_paper(), form="bars")


def _both(nodes: float, contexts: int, node_channels: int = 0) -> Locality:
    """The ideal mapping and a random one."""
    distances = np.array([1.0, float(random_distance(nodes, 2))])
    return predict_locality(alewife(contexts, node_channels=node_channels), distances)


def _node_channels(_: Known) -> Found:
    for contexts in CONTEXTS:
        near_and_far = predict_locality(alewife(contexts, node_channels=1), DISTANCES)
        for index in (0, -1):
            name = f"wait for a node channel, p = {contexts}, d = {DISTANCES[index]} (cycles)"
            yield name, near_and_far.node_channel_wait[index]


ITEMS = (
    Item("table 1", _table_1, _draw_table_1),
    Item("section 6", _slower),
    Item("section 3.2", _messages),
    Item("equation 17", _distances),
    Item("figure 3, coherence", partial(_curves, "coherence")),
    Item("figure 3, request-reply", partial(_curves, "request-reply")),
    Item("figure 3", draw=_draw_figure_3),
    Item("figure 4", draw=_draw_figure_4),
    Item("figure 5", draw=_draw_figure_5),
    Item("equation 16", _limit),
    Item("figure 6", _figure_6, _draw_figure_6),
    Item("figure 7", _figure_7, _draw_figure_7),
    Item("section 4.2", _expectations),
    Item("figure 8", _figure_8, _draw_figure_8),
    Item("section 2.4", _node_channels),
)
"""In the paper's order, but for its only table."""
