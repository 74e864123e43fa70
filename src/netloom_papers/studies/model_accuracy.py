"""How far ``models.torus_broadcasts`` and ``models.locality`` can be trusted, against simulation.

The goals were set before the models were made. Loads are fractions of the *simulated* saturation
rate. What each part simulates, what was known before looking, and why it fails where it does is
said at the top of ``model_accuracy_runs``.
"""

from __future__ import annotations

from itertools import product
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom_papers.figures import COMPUTED, MODELLED, PRINTED
from netloom_papers.studies.johnson import (
    CONTEXTS,
    NODES,
    PROTOCOLS,
    TIMES,
    gains,
    hop_latencies,
    times_of_paper,
)
from netloom_papers.studies.model_accuracy_runs import (
    CHANNEL_LOADS,
    LOADS,
    NAME,
    compare_locality,
    compare_sizes,
    compare_torus,
    locality_cases,
    mean_errors,
    simulate_locality_cases,
    simulate_torus_cases,
    torus_cases,
    torus_curve,
)
from netloom_papers.studies.panels import curve, plot
from netloom_papers.studies.running import Goal, Section, StudyResult

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from netloom_papers.figures import Plot
    from netloom_papers.models.torus_broadcasts import Variant

    Figure: TypeAlias = tuple[str, str, list[Plot], str]

DEFAULT_VARIANT: Variant = "improved"

DRAWN: dict[Variant, str] = {DEFAULT_VARIANT: MODELLED, "printed": PRINTED}
"""Variants in figure 1, and whose curves they are."""

LATENCY_GOALS = {0.2: 5.0, 0.5: 5.0, 0.8: 15.0}
"""Mean absolute error of unicast latency, %, by load."""

SATURATION_GOAL = 10.0

LOCALITY_GOALS = {1: (5.0, 3.0, "cycles"), 2: (5.0, 3.0, "cycles"), 4: (10.0, 10.0, "%")}
"""Largest error of the message rate, %, and of the message latency, with its unit, by contexts."""

ESTIMATE = {"coherence": "regressed", "request-reply": "known"}
"""Which estimate of a protocol's parameters the goals are about."""

SYMBOLS = dict(zip(NAME, ("k", "M", "V", "β"), strict=True))

WORST = 3
"""Configurations that are named where a goal is not met."""


def run(*, quick: bool, kept: Path) -> StudyResult:
    """Simulate what is not in the file yet, and compare. See ``running.run_study``."""
    torus_questions, locality_questions = torus_cases(quick=quick), locality_cases(quick=quick)
    torus_found = simulate_torus_cases(torus_questions, kept)
    locality_found: list[dict[str, Any] | None] = [None] * len(locality_questions)
    if None not in torus_found:  # else Ctrl-C has said to stop
        locality_found = simulate_locality_cases(locality_questions, kept)
    torus = compare_torus(torus_questions, torus_found)
    locality = compare_locality(locality_questions, locality_found)
    sizes = compare_sizes(locality_questions, locality_found)
    sections: list[Section] = []
    goals: list[Goal] = []
    if len(torus):
        goals += _torus_goals(torus)
        sections += _torus_sections(torus)
    if len(locality):
        goals += _locality_goals(locality)
        sections.append(_locality_section(locality))
    if len(sizes):
        sections.append(_sizes_section(sizes))
    found = [*torus_found, *locality_found]
    return StudyResult(
        name="model-accuracy",
        quick=quick,
        goals=tuple(goals),
        sections=tuple(sections),
        tables={"torus-broadcast": torus, "locality": locality, "locality by size": sizes},
        asked=len(found),
        simulated=sum(each is not None for each in found),
        kept=kept,
    )


def _torus_goals(torus: pl.DataFrame) -> Iterator[Goal]:
    import polars as pl

    table = torus.filter(variant=DEFAULT_VARIANT)
    for row in mean_errors(table).iter_rows(named=True):
        of = table.filter(pl.col("figure") == row["figure"])
        what, limit = "saturation rate", SATURATION_GOAL
        if row["load"] is not None:
            of = of.filter(pl.col("load") == row["load"])
            what = f"latency at {100 * row['load']:.0f} % of saturation"
            limit = LATENCY_GOALS[row["load"]]
        many = row["configurations"] - row["unsolved"]
        mean, largest = (nan if row[name] is None else abs(row[name])
                         for name in ("absolute", "worst"))  # fmt: skip
        yield Goal(f"{what}, mean error of {many} tori", limit, mean, "%", _worst(of))
        if row["load"] is None:
            yield Goal("saturation rate, largest error", limit, largest, "%", _worst(of))
    unsolved = table.filter(pl.col("error").is_null()).unique(NAME, maintain_order=True)
    names = [_configuration(row) for row in unsolved.head(WORST).iter_rows(named=True)]
    what = "tori without a predicted latency at one of these loads"
    yield Goal(what, 0, len(unsolved), "tori", "; ".join(names))


def _worst(table: pl.DataFrame) -> str:
    import polars as pl

    rows = table.drop_nulls("error").sort(pl.col("error").abs(), descending=True).head(WORST)
    return "; ".join(
        f"{_configuration(row)} {_percent(row['error'])} %" for row in rows.iter_rows(named=True)
    )


def _configuration(row: dict[str, Any]) -> str:
    return " ".join(f"{symbol}{row[name]:g}" for name, symbol in SYMBOLS.items())


def _torus_sections(torus: pl.DataFrame) -> Iterator[Section]:
    default = torus.filter(variant=DEFAULT_VARIANT)
    yield _each_section(default)
    loads = (*(f"{100 * load:.0f} %" for load in LOADS), "saturation")
    rows = []
    for variant, of in torus.group_by("variant", maintain_order=True):
        rows.append((str(variant[0]), *map(_means, mean_errors(of).to_dicts())))
    yield Section(
        "Torus broadcast, mean absolute error by variant, in % (and mean error)",
        ("variant", *loads),
        tuple(rows),
        ("[n]: in n configurations it has no steady state at that load; they count in no mean",),
    )
    rows = []
    for name, symbol in (*SYMBOLS.items(), ("fitted", "fitted")):
        for value, of in default.sort(name).group_by(name, maintain_order=True):
            means = mean_errors(of).to_dicts()
            label = f"{symbol} = {value[0]:g}"
            if name == "fitted":
                label = "fitted on" if value[0] else "not fitted on"
            rows.append((f"{label} ({means[0]['configurations']})", *map(_means, means)))
    yield Section(
        f"Torus broadcast, {DEFAULT_VARIANT}: mean absolute error by group, in % (and mean error)",
        ("group (configurations)", *loads),
        tuple(rows),
        ("fitted on: the configurations on which the model's one constant was chosen",),
    )


def _means(mean: dict[str, Any]) -> str:
    if mean["absolute"] is None:
        return f"- [{mean['unsolved']}]"
    unsolved = f" [{mean['unsolved']}]" if mean["unsolved"] else ""
    return f"{mean['absolute']:.1f} ({mean['signed']:+.1f}){unsolved}"


def _each_section(default: pl.DataFrame) -> Section:
    rows = []
    for name, of in default.group_by(*NAME, maintain_order=True):
        *latencies, saturation = of.iter_rows(named=True)
        cells = [f"{value:g}" for value in name]
        for row in latencies:
            cells += [f"{row['simulated']:.1f}", _percent(row["error"])]
        cells += [f"{saturation['simulated']:.3g}", _percent(saturation["error"])]
        rows.append(tuple(cells))
    heads = [part for load in LOADS for part in (f"L at {100 * load:.0f} %", "err %")]
    return Section(
        f"Torus broadcast, {DEFAULT_VARIANT}: simulated latencies in cycles, and the model's error",
        (*SYMBOLS.values(), *heads, "saturation", "err %"),
        tuple(rows),
    )


def _locality_goals(locality: pl.DataFrame) -> Iterator[Goal]:
    for protocol in PROTOCOLS:
        for contexts in CONTEXTS:
            of = locality.filter(
                protocol=protocol, contexts=contexts, kind="distance", channel_load="own",
                estimate=ESTIMATE[protocol],
            )  # fmt: skip
            most_rate, most_latency, unit = LOCALITY_GOALS[contexts]
            error = "latency_error_cycles" if unit == "cycles" else "latency_error"
            for what, limit, column, of_unit in (
                ("message rate", most_rate, "rate_error", "%"),
                ("message latency", most_latency, error, unit),
            ):
                found, where = _largest(of, column)
                yield Goal(
                    f"{protocol}, p = {contexts}: {what}, largest error", limit,
                    found * (100 if of_unit == "%" else 1), of_unit, where,
                )  # fmt: skip


def _largest(table: pl.DataFrame, column: str) -> tuple[float, str]:
    import polars as pl

    if not len(table):
        return nan, ""
    row = table.row(table.select(pl.col(column).abs().arg_max()).item(), named=True)
    return abs(row[column]), f"d = {row['distance']:.3g}"


def _locality_section(locality: pl.DataFrame) -> Section:
    import polars as pl

    rows = []
    by = ("protocol", "kind", "estimate", "contexts")
    for name, of in locality.group_by(*by, maintain_order=True):
        busiest = of.select(pl.col("busiest_channel_flits").max()).item()
        cells = [*(str(part) for part in name), f"{busiest:.2f}"]
        for load in CHANNEL_LOADS:
            chosen = of.filter(channel_load=load)
            cells += [
                f"{100 * _largest(chosen, 'rate_error')[0]:.1f}",
                f"{_largest(chosen, 'latency_error_cycles')[0]:.1f}",
                f"{100 * _largest(chosen, 'latency_error')[0]:.1f}",
            ]
        rows.append(tuple(cells))
    heads = (part for load in CHANNEL_LOADS for part in (f"{load}: rate %", "latency", "%"))
    return Section(
        "Locality on torus:8x8: largest error of message rate and latency (cycles)",
        ("protocol", "mappings", "s, offset", "p", "busiest", *heads),
        tuple(sorted(rows)),
        (
            "own, mean: with each mapping's own channel loads, and with the mean alone, as in the "
            "paper; busiest: flits/cycle on the busiest channel of all mappings",
            "mappings: nine of distances 1 to 6.1, and linear ones, which load channels alike",
        ),
    )


def _sizes_section(sizes: pl.DataFrame) -> Section:
    rows = []
    by = ("nodes", "mapping", "contexts")
    for name, of in sizes.group_by(*by, maintain_order=True):
        seen, said = (
            of.filter(source=source).row(0, named=True) for source in ("simulated", "model")
        )
        cells = [str(part) for part in name]
        for column in ("message_rate", "message_latency"):
            error = said[column] / seen[column] - 1
            cells += [f"{seen[column]:.4g}", f"{said[column]:.4g}", _percent(error)]
        rows.append(tuple(cells))
    return Section(
        "Locality on tori that no parameter was taken from (64 nodes apart), coherence",
        ("nodes", "mapping", "p", "r_m", "model", "err %", "T_m", "model", "err %"),
        tuple(rows),
    )


def _percent(error: float | None) -> str:
    return "-" if error is None or isnan(error) else f"{100 * error:+.1f}"


MAPPED = {
    "figure-3": ("inter-message time t_m, network cycles", "message latency T_m, network cycles"),
    "figure-4": ("distance d, hops", "message rate r_m, messages/node/cycle"),
    "figure-5": ("distance d, hops", "message latency T_m, network cycles"),
}
MAPPINGS = {"distance": "random swaps", "linear": "linear mappings"}

LOOKS = {
    ("simulated", "own"): COMPUTED,
    ("predicted", "own"): MODELLED,
    ("predicted", "mean"): PRINTED,
}
"""Whose curve it is, by what was found and the channel loads that it is given."""


def figures(result: StudyResult) -> Iterator[Figure]:
    """Yield name, title, panels and a remark of each figure that there are cases for.

    Shahrabi, Ould-Khaoua & Mackenzie's figure 1, and Johnson's figures 3 to 8: simulated points and
    the models' curves. The latter three show machines that are too large to simulate: beside the
    paper's, as ``models.alewife`` has them, are those that were simulated, and the model of these.
    """
    for name, draw in (
        ("torus-broadcast", _figure_1),
        ("locality", _figures_3_to_5),
        ("locality by size", _figures_6_to_8),
    ):
        if len(result.tables[name]):
            yield from draw(result.tables[name])


def _figure_1(torus: pl.DataFrame) -> Iterator[Figure]:
    """Unicast latency by rate, with the simulated points at parts of saturation."""
    seen = torus.filter(figure="latency", variant=DEFAULT_VARIANT).sort("vcs", "broadcast")
    remark = (
        "Computed is simulated, at 20, 50 and 80 % of saturation; printed is the model of the "
        "paper's equations, model the improved one."
    )
    for radix in seen["radix"].unique(maintain_order=True):
        panels = []
        by = ("vcs", "broadcast")
        for (vcs, broadcast), of in seen.filter(radix=radix).group_by(*by, maintain_order=True):
            curves, most = [], 1.5 * of["simulated"].to_numpy().max()
            for (flits,), points in of.group_by("flits", maintain_order=True):
                name = f"M = {flits}"
                curves.append(curve(name, points["rate"], points["simulated"]))
                for variant, whose in DRAWN.items():
                    rates, latency = torus_curve(radix, flits, vcs, broadcast, variant)
                    shown = latency <= most
                    curves.append(curve(name, rates[shown], latency[shown], whose))
            axes = "messages/node/cycle", "cycles"
            panels.append(plot(f"V = {vcs}, β = {broadcast:g}", axes, curves))
        yield f"figure-1-k{radix}", f"Unicast latency on torus:{radix}x{radix}", panels, remark


def _figures_3_to_5(locality: pl.DataFrame) -> Iterator[Figure]:
    remark = (
        "Computed is simulated; model is with the channel loads of each mapping, printed with "
        "their mean, as in the paper."
    )
    for name, axes in MAPPED.items():
        panels = []
        for protocol, estimate in ESTIMATE.items():
            chosen = locality.filter(protocol=protocol, estimate=estimate)
            for (kind,), of in chosen.group_by("kind", maintain_order=True):
                curves = []
                for contexts, ((source, load), whose) in product(CONTEXTS, LOOKS.items()):
                    some = of.filter(contexts=contexts, channel_load=load)
                    rate, latency = (
                        some[f"{source}_{what}"].to_numpy() for what in ("rate", "latency")
                    )
                    x = 1 / rate if name == "figure-3" else some["distance"].to_numpy()
                    order, y = np.argsort(x), rate if name == "figure-4" else latency
                    curves.append(curve(f"p = {contexts}", x[order], y[order], whose))
                panels.append(plot(f"{protocol}, {MAPPINGS[str(kind)]}", axes, curves))
        title = f"{name.replace('-', ' ').capitalize()}: mappings on torus:8x8"
        yield name, title, panels, remark


def _figures_6_to_8(sizes: pl.DataFrame) -> Iterator[Figure]:
    """By number of processors, beside tori that were simulated; and the parts of the largest."""
    hops, ratios, parts = [], [], []
    largest = sizes.filter(nodes=sizes["nodes"].max())
    for source, whose in {"simulated": COMPUTED, "model": MODELLED}.items():
        for contexts in CONTEXTS:
            of = sizes.filter(contexts=contexts, source=source)
            far, near = of.filter(mapping="random"), of.filter(mapping="identity")
            name, both = f"p = {contexts}", far.join(near, on="nodes", suffix=" of ideal")
            hops.append(curve(name, far["nodes"], far["per_hop_latency"], whose))
            cycles = "inter_transaction_cycles"
            gain = both[cycles] / both[f"{cycles} of ideal"]
            ratios.append(curve(name, both["nodes"], gain, whose))
        bars = [
            curve(
                words,
                [f"{row['mapping'].replace('identity', 'ideal')}, p = {row['contexts']}"],
                row[f"{part}_cycles"],
            )
            for row in largest.filter(source=source).iter_rows(named=True)
            for part, words in TIMES.items()
        ]
        parts.append(("Simulated" if source == "simulated" else "Model of the same", bars))
    hops.append(curve("p = 2", NODES, hop_latencies(), PRINTED))
    ratios += [curve(f"p = {contexts}", NODES, gain, PRINTED) for contexts, gain in gains().items()]
    parts.append(("Model of the paper's machine", times_of_paper()))
    remark = (
        "Computed are simulated tori of 16 to 1024 nodes, model is the model of these, printed "
        "that of the paper's machine."
    )
    axes, title = ("processors", "network cycles"), "Latency of a hop, T_h"
    yield "figure-6", f"Figure 6: {title}", [plot(title, axes, hops, log_x=True)], remark
    axes, title = ("processors", "ratio of transaction rates"), "Gain of ideal over random mappings"
    gained = plot(title, axes, ratios, log_x=True, log_y=True)
    yield "figure-7", f"Figure 7: {title}", [gained], remark
    axes = "mapping and contexts", "network cycles"
    panels = [plot(title, axes, bars, form="bars") for title, bars in parts]
    yield "figure-8", "Figure 8: time between transactions", panels, "Of about 1000 processors."
