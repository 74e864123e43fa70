"""How far ``models.torus_broadcasts`` and ``models.locality`` can be trusted, against simulation.

The goals were set before the models were made. Loads are fractions of the *simulated* saturation
rate. What each part simulates, what was known before looking, and why it fails where it does is
said at the top of ``model_accuracy_runs``.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any

from netloom_papers.studies.johnson import (
    CONTEXTS,
    NODES,
    PROTOCOLS,
    TIMES,
    gains,
    hop_latencies,
    times,
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
    torus_curves,
)
from netloom_papers.studies.running import Goal, Section, StudyResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from netloom.base.arrays import Floats

DEFAULT_VARIANT = "improved"

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


def figure_tables(result: StudyResult) -> dict[str, pl.DataFrame]:
    """Return the tables that ``report.model_accuracy.figures`` draws. Those of no cases left out.

    Shahrabi, Ould-Khaoua & Mackenzie's figure 1, and Johnson's figures 3 to 8: simulated points and
    the models' curves. The latter three show machines that are too large to simulate: beside the
    paper's, as ``models.alewife`` has them, are those that were simulated, and the model of these.

    ``figure 1`` (simulated latencies) and ``figure 1, curves``. ``figures 3 to 5``; ``figure 6``,
    ``figure 7``, ``figure 8``, whose column ``source`` is ``simulated``, ``model`` or ``paper's``.
    """
    import polars as pl

    found = {}
    torus, locality = result.tables["torus-broadcast"], result.tables["locality"]
    if len(torus):
        seen = torus.filter(figure="latency", variant=DEFAULT_VARIANT)
        found["figure 1"] = seen
        found["figure 1, curves"] = torus_curves(seen, (DEFAULT_VARIANT, "printed"))
    if len(locality):
        chosen = [
            locality.filter(protocol=protocol, estimate=estimate)
            for protocol, estimate in ESTIMATE.items()
        ]
        found["figures 3 to 5"] = pl.concat(chosen)
    sizes = result.tables["locality by size"]
    if len(sizes):
        found |= _by_size(sizes)
    return found


def _by_size(sizes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    import polars as pl

    source = pl.lit("paper's").alias("source")
    hops = sizes.filter(mapping="random").select(
        "nodes", "contexts", "source", value="per_hop_latency"
    )
    paper = {2: hop_latencies()}
    ideal = sizes.filter(mapping="identity").select(
        "nodes", "contexts", "source", ideal="inter_transaction_cycles"
    )
    ratios = (
        sizes.filter(mapping="random")
        .join(ideal, on=["nodes", "contexts", "source"])
        .with_columns(value=pl.col("inter_transaction_cycles") / pl.col("ideal"))
        .select("nodes", "contexts", "source", "value")
    )
    largest = sizes.filter(pl.col("nodes") == pl.col("nodes").max())
    parts = (
        largest.select("mapping", "contexts", "source", *(f"{part}_cycles" for part in TIMES))
        .rename({f"{part}_cycles": part for part in TIMES})
        .unpivot(list(TIMES), index=["mapping", "contexts", "source"], variable_name="part",
                 value_name="cycles")
        .with_columns(pl.col("mapping").replace({"identity": "ideal"}))
    )  # fmt: skip
    columns = ["mapping", "contexts", "source", "part", "cycles"]
    printed = times().with_columns(source).select(columns)
    return {
        "figure 6": _joined(hops, _of_paper(paper)),
        "figure 7": _joined(ratios, _of_paper(gains())),
        "figure 8": _joined(parts.select(columns), printed),
    }


def _of_paper(values: Mapping[int, Floats]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(
        pl.DataFrame({"nodes": NODES, "contexts": contexts, "source": "paper's", "value": value})
        for contexts, value in values.items()
    )


def _joined(*tables: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return pl.concat(tables, how="diagonal_relaxed")
