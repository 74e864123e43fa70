"""How far ``models.torus_broadcasts`` and ``models.locality`` can be trusted, against simulation.

The goals were set before the models were made. Loads are fractions of the *simulated* saturation
rate.

Torus broadcast
---------------
Here, a configuration saturates at the lowest rate at which the network is not ``stable`` within a
window in which each node generates ``SATURATION_MESSAGES``. Windows of a fixed number of messages
*of the whole network* do not suffice. On 256 nodes, 10 000 messages are 39 per node, and broadcasts
come in bursts of 255 copies. The queue of one node in 256 then seems to grow at loads that the
network carries for ever. So saturation would be measured up to a third too low.

How sharp that rate is depends on V. With one adaptive VC (V = 3) the network collapses: 3 % above
it 12 to 40 % of the offered traffic stay behind, and what a longer window finds is no higher. With
more it gives way slowly, and windows of 1600 messages find it 3 to 5 % higher. All this was seen on
seven of the configurations.

Where the default variant fails, on the 108 of them:

- The predicted saturation is off by more than 10 % in 19. It is too low for V = 3 without
  broadcasts on 256 nodes, and more so for shorter messages. The error is 24 % for M = 16, which has
  no steady state at 80 % of the simulated saturation either. It is also too low by 11 to 13 % for M
  = 16 and V >= 4, mostly with many broadcasts. It is too high by 10 to 17 % for V = 3, M >= 32 and
  broadcasts, where the network collapses.
- Latencies from half of saturation on are too short for V >= 4 with broadcasts, by up to 8 % at 50
  %, and 16 % at 80 %. The error grows with the network and with the length of messages. If the
  predicted saturation is too low, latencies at 80 % are too long, by up to 22 %.

What is missing in the model has not been worked out.

Locality
--------
The cases are nine mappings of a torus program on an 8 x 8 torus with 1, 2 and 4 contexts, as in the
paper, under two protocols. Linear mappings (modulo 8), which load all channels equally, are a
contrast. Figures 6 to 8 have ideal and random mappings on tori of 16 to 1024 nodes, from which no
parameter is taken. Switches are ``johnson.ROUTERS["buffered"]``, with a network cycle per hop, as
section 2.4 says.

What is known before looking:

- The ends. A message without contention takes d + B + 3 cycles in the simulator, but d + B in the
  model. So 3 cycles are subtracted from the simulated T_m, and 3 c are added to T_f.
- The nodes' own channels. A reply leaves when its request has arrived, and so on. So the network
  spreads messages on the channel from a router to its node, and messages leave one by one. With
  requests and replies, one queue remains, of messages of one length (M/D/1). A coherence write
  sends four invalidations simultaneously, so that the last waits for three, and gets four
  acknowledgements simultaneously. This gives two queues, and lengths of 8 and 24 flits (a factor of
  4/3).
- g and B are those of the protocols. s and (T_r + T_f) / c are regressed on the runs that are then
  predicted, as in the paper. For requests and replies they are known as well (c = g = 2), so that
  nothing is fitted.

Where it fails, and why:

- With the mean channel load, as in the paper, four contexts are predicted up to 25 % too fast.
  These mappings load the busiest channel 1.5 to 3.6 times as much as the mean, and four contexts
  use it 90 % of the time. With each mapping's own loads, message rates are within 8 %.
- Latencies over distances from 1.5 to 2.5 are predicted up to 16 % too short under the uneven
  mappings. Up to d = n the model has no contention between nodes (k_d <= 1), but these mappings
  have a few busy channels among many idle ones. Linear mappings of such distances are off by at
  most 6 %.
- With four contexts coherence messages take up to 11 % longer over long distances than the model
  says, and 13 % less where all go one hop. Requests and replies at the same loads do not, so that
  it has to do with the invalidations, which leave four at a time. How has not been worked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, isnan, nan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from netloom.base.arrays import Floats, Ints
from netloom.base.provenance import DEFAULT_SEED
from netloom.topology import average_distance, torus
from netloom_papers.exhibits import COMPUTED, MODELLED, PRINTED, Plot, curve, plot
from netloom_papers.models.locality import (
    Locality,
    Machine,
    node_channel_wait,
    predict_locality,
)
from netloom_papers.models.torus_broadcasts import VARIANTS, Variant, torus_broadcast
from netloom_papers.programs.broadcast import BroadcastRun
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES
from netloom_papers.questions.simulate.transactions import simulate_transactions
from netloom_papers.studies import johnson, running
from netloom_papers.studies.shahrabi import FLITS, RADICES, VCS, comparable, simulated

Figure: TypeAlias = tuple[str, str, list[Plot], str]

# -- torus broadcast -----------------------------------------------------------------------------

BROADCAST = (0.0, 0.02, 0.04)

LOADS = (0.2, 0.5, 0.8)
"""Fractions of the simulated saturation rate at which latencies are compared."""

QUICK = ((8, 16, 3, 0.0), (8, 16, 5, 0.04), (8, 32, 3, 0.04), (8, 32, 4, 0.02), (8, 64, 5, 0.0))
"""Configurations (k, M, V, β) of the quick variant."""

SATURATION_MESSAGES = 400
LATENCY_MESSAGES = 200
"""Messages that a node generates in the measured window of a run. Of latencies, at least."""

PRECISION, MOST_MESSAGES = 0.02, 3200
"""Half of a 95 % interval over the mean latency that is narrow enough. Until it is, windows become
four times as long, up to so many messages per node."""

RESOLUTION = 1 / 64
"""Width, in rates that would use all of the mean channel, of the interval saturation is found in.
"""


FITTED = frozenset({
    (8, 32, 3, 0.04), (8, 32, 3, 0.0), (8, 32, 3, 0.02), (8, 32, 5, 0.04), (8, 32, 5, 0.0),
    (8, 16, 3, 0.02), (8, 64, 3, 0.02), (8, 32, 4, 0.02), (16, 32, 3, 0.02), (16, 32, 3, 0.0),
    (8, 64, 5, 0.02), (10, 32, 3, 0.04), (8, 48, 4, 0.04), (16, 32, 5, 0.02), (16, 16, 3, 0.04),
    (10, 16, 5, 0.0), (10, 64, 4, 0.02), (16, 64, 3, 0.0), (16, 64, 5, 0.04), (8, 16, 5, 0.04),
    (8, 16, 4, 0.0),
})  # fmt: skip
"""Configurations (k, M, V, β) that the one fitted constant of the default variant was chosen on."""

NAME = ("radix", "flits", "vcs", "broadcast")


def torus_cases(*, quick: bool = False) -> list[dict[str, Any]]:
    """Return the configurations to simulate, as plain data."""
    chosen = QUICK if quick else tuple(product(RADICES, FLITS, VCS, BROADCAST))
    return [
        {
            "part": "torus-broadcast",
            "radix": radix,
            "flits": flits,
            "vcs": vcs,
            "broadcast": fraction,
            "loads": list(LOADS),
            "saturation_messages": SATURATION_MESSAGES,
            "latency_messages": [LATENCY_MESSAGES, MOST_MESSAGES],
            "precision": PRECISION,
            "resolution": RESOLUTION,
            "seed": DEFAULT_SEED,
        }
        for radix, flits, vcs, fraction in chosen
    ]


def _simulate_torus(case: running.Case, stopped: running.Stopped) -> dict[str, Any] | None:
    """Find the saturation rate by bisection, then latencies at fractions of it."""
    low, high = 0.0, min(full_rate(case), 1 / case["flits"])  # a node sends a flit a cycle
    width = case["resolution"] * high
    while high - low > width * (1 + 1e-9):
        if stopped():
            return None
        middle = (low + high) / 2
        stable = _run(case, middle, case["saturation_messages"]).stable
        low, high = (middle, high) if stable else (low, middle)
    saturation = (low + high) / 2
    points = []
    for load in case["loads"]:
        if stopped():
            return None
        run = _precise(case, load * saturation)
        points.append(
            {
                "load": load,
                "rate": load * saturation,
                "latency": comparable(run),
                "ci95": run.unicast.ci95,
                "broadcast_latency": run.broadcast.mean if case["broadcast"] else None,
                "channel_flits": float(run.class_utilisation.sum()),
                "stable": run.stable,
            }
        )
    return {"saturation_rate": saturation, "uncertainty": (high - low) / 2, "points": points}


def _precise(case: running.Case, rate: float) -> BroadcastRun:
    messages, most = case["latency_messages"]
    while True:
        run = _run(case, rate, messages)
        if run.unicast.ci95 <= case["precision"] * run.unicast.mean or messages >= most:
            return run
        messages *= 4


def full_rate(case: running.Case) -> float:
    """Return the messages per node and cycle that would use every cycle of the mean channel.

    Examples
    --------
    >>> full_rate({"radix": 8, "flits": 32, "broadcast": 0.0}) * 32 * 4.063 / 4
    0.99...
    """
    net = torus(case["radix"], case["radix"])
    hops = (1 - case["broadcast"]) * average_distance(net)
    hops += case["broadcast"] * (net.num_hosts - 1)
    return float(4 / (case["flits"] * hops))


def _run(case: running.Case, rate: float, messages: int) -> BroadcastRun:
    point = [*(case[name] for name in NAME), rate]
    return simulated(point, ceil(messages / rate), case["seed"])


def compare_torus(cases: Sequence[running.Case], found: running.Seen) -> pl.DataFrame:
    """Return one row per configuration, variant and figure: simulated, predicted, and the error.

    ``figure`` is ``latency`` (cycles, at a ``load`` of the simulated saturation) or ``saturation``
    (messages per node and cycle). ``error`` is relative, and null with ``predicted`` where the
    model has no steady state. ``ci95`` is half of the interval that the simulated figure is in.
    """
    rows: list[dict[str, Any]] = []
    for case, seen in zip(cases, found, strict=True):
        if seen is None:
            continue
        name = {key: case[key] for key in NAME}
        name["fitted"] = tuple(name.values()) in FITTED
        rates = [point["rate"] for point in seen["points"]]
        for variant in VARIANTS:
            said = torus_broadcast(
                case["radix"], message_flits=case["flits"], vcs=case["vcs"],
                broadcast=case["broadcast"], rate=rates, variant=variant,
            )  # fmt: skip
            figures = [
                ("latency", point["load"], point["rate"], point["latency"], point["ci95"], latency)
                for point, latency in zip(seen["points"], said.latency.tolist(), strict=True)
            ]
            rate = seen["saturation_rate"]
            figures.append(
                ("saturation", None, rate, rate, seen["uncertainty"], said.saturation_rate)
            )
            columns = ("figure", "load", "rate", "simulated", "ci95", "predicted")
            rows += [
                name | {"variant": variant} | dict(zip(columns, each, strict=True))
                for each in figures
            ]
    return running.with_errors(rows)


def mean_errors(table: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return the errors of the rows that agree in ``by``, in %, of each figure and load.

    ``absolute``, ``signed``: means. ``worst``: of the largest size; ``configurations``, and
    ``unsolved``: those without a steady state, which count in no mean.
    """
    error = 100 * pl.col("error")
    return table.group_by(*by, "figure", "load", maintain_order=True).agg(
        absolute=error.abs().mean(),
        signed=error.mean(),
        worst=error.get((error.abs().fill_null(-1)).arg_max()),
        configurations=pl.len(),
        unsolved=pl.col("error").is_null().sum(),
    )


def torus_curve(
    radix: int, flits: int, vcs: int, broadcast: float, variant: Variant, points: int = 40
) -> tuple[Floats, Floats]:
    """Return rates, and the latencies that a variant predicts."""

    def said(rate: Any) -> Any:
        return torus_broadcast(
            radix, message_flits=flits, vcs=vcs, broadcast=broadcast, variant=variant, rate=rate
        )

    rates = np.linspace(0, said(0.0).saturation_rate, points + 1)[:-1]
    return rates, said(rates).latency


# -- locality ------------------------------------------------------------------------------------

SIDE = 8
LINEAR = (
    "10 01", "11 01", "11 12", "12 21", "30 03", "12 23", "32 23", "33 23",
)  # fmt: skip
"""Rows of matrices: task (x, y) runs on the node that it is mapped to, modulo 8."""

SIDES = (4, 8, 16, 32)
"""Of the tori of figures 6 to 8."""

CHANNEL_LOADS = ("own", "mean")
"""Whether the model is given each mapping's channel loads, or takes all channels for alike."""


def locality_cases(*, quick: bool = False) -> list[dict[str, Any]]:
    """Return the mappings and machines to simulate, as plain data."""
    distances = johnson.QUICK_DISTANCES if quick else johnson.NINE_DISTANCES
    mappings = [(SIDE, f"distance:{each:g}") for each in distances]
    if not quick:
        mappings += [(SIDE, f"linear:{each}") for each in LINEAR]
    cases = [_case(*each) for each in product(mappings, johnson.PROTOCOLS, johnson.CONTEXTS)]
    sizes = product(SIDES, ("identity", "random")) if not quick else ()
    return cases + [
        _case(*each) for each in product(sizes, johnson.PROTOCOLS[:1], johnson.CONTEXTS)
    ]


def _case(mapped: tuple[int, str], protocol: str, contexts: int) -> dict[str, Any]:
    return {
        "part": "locality",
        "side": mapped[0],
        "mapping": mapped[1],
        "protocol": protocol,
        "contexts": contexts,
        "run_cycles": johnson.RUN_CYCLES,
        "fixed_cycles": johnson.FIXED_CYCLES,
        "router": johnson.ROUTERS["buffered"],
        "seed": DEFAULT_SEED,
    }


def _simulate_locality(case: running.Case, _: running.Stopped) -> dict[str, Any] | None:
    name = f"torus:{case['side']}x{case['side']}"
    kind, _, words = case["mapping"].partition(":")
    simulated = simulate_transactions(
        name, app=name, mapping=linear(words) if kind == "linear" else case["mapping"],
        protocol=case["protocol"], contexts=case["contexts"], run_cycles=case["run_cycles"],
        fixed_cycles=case["fixed_cycles"], seed=case["seed"], **case["router"],
    )  # fmt: skip
    if simulated.interrupted:
        return None
    return {
        "distance": simulated.distance,
        "message_rate": simulated.measured.message_rate,
        "message_rate_ci95": simulated.measured.message_rate_ci95,
        "message_latency": simulated.measured.message_latency - ENDS_CYCLES,
        "message_latency_ci95": simulated.measured.message_latency_ci95,
        "inter_transaction_cycles": simulated.measured.inter_transaction_cycles,
        "transaction_latency": simulated.measured.transaction_latency,
        "channel_flits": [float(f"{each:.4g}") for each in simulated.run.channel_flits],
    }


def linear(rows: str, side: int = SIDE) -> Ints:
    """Return the mapping of task (x, y) to the node that a matrix makes of it, modulo the side.

    Examples
    --------
    >>> linear("11 01")[:10].tolist()  # (0, y) to (y, y); (1, 0) and (1, 1) to (1, 0) and (2, 1)
    [0, 9, 18, 27, 36, 45, 54, 63, 8, 17]
    """
    matrix = np.array([[int(digit) for digit in row] for row in rows.split()])
    tasks = np.stack(np.divmod(np.arange(side * side), side))
    return np.asarray((matrix @ tasks % side * [[side], [1]]).sum(axis=0))


def compare_locality(cases: Sequence[running.Case], found: running.Seen) -> pl.DataFrame:
    """Return one row per case, estimate and load: what simulation found, and what the model says.

    ``estimate`` is ``regressed`` (s and offset of the same runs) or ``known`` (nothing fitted).
    ``channel_load`` one of ``CHANNEL_LOADS``. Errors are the model's less the simulation's:
    ``rate_error`` and ``latency_error`` relative, ``latency_error_cycles`` not. Latencies are
    without the ends.
    Groups of which not all cases are there are left out.
    """
    rows: list[dict[str, Any]] = []
    for (side, kind, protocol, contexts), group in _groups(cases, found):
        if kind not in ("distance", "linear") or any(each is None for _, each in group):
            continue
        seen = [each for _, each in group if each is not None]
        assert side == SIDE
        for estimate, load in product(("regressed", "known"), CHANNEL_LOADS):
            if estimate == "known" and protocol == "coherence":
                continue
            machine = _regressed(protocol, contexts, seen)
            if estimate == "known":  # c = g = 2
                fixed = johnson.FIXED_CYCLES + 2.0 * ENDS_CYCLES
                machine = johnson.multithreaded(protocol, contexts, 2.0, fixed)
            said = _predict(machine, seen, load)
            for index, (case, each) in enumerate(group):
                assert each is not None
                rows.append(
                    {"protocol": protocol, "contexts": contexts, "kind": kind}
                    | {"mapping": case["mapping"], "estimate": estimate, "channel_load": load}
                    | _beside(each, said, index)
                )
    return pl.DataFrame(rows, infer_schema_length=None)


def _beside(each: dict[str, Any], said: Locality, index: int) -> dict[str, Any]:
    load = np.array(each["channel_flits"])
    rate, latency = float(said.message_rate[index]), float(said.message_latency[index])
    return {
        "distance": each["distance"],
        "busiest_over_mean": load.max() / load.mean(),
        "busiest_channel_flits": load.max(),
        "simulated_rate": each["message_rate"],
        "simulated_rate_ci95": each["message_rate_ci95"],
        "predicted_rate": rate,
        "rate_error": rate / each["message_rate"] - 1,
        "simulated_latency": each["message_latency"],
        "simulated_latency_ci95": each["message_latency_ci95"],
        "predicted_latency": latency,
        "latency_error_cycles": latency - each["message_latency"],
        "latency_error": latency / each["message_latency"] - 1,
    }


def _regressed(protocol: str, contexts: int, seen: Sequence[dict[str, Any]]) -> Machine:
    rates = [each["message_rate"] for each in seen]
    return johnson.regressed(protocol, contexts, rates, [each["message_latency"] for each in seen])


def _predict(machine: Machine, seen: Sequence[dict[str, Any]], load: str) -> Locality:
    channels = np.array([each["channel_flits"] for each in seen])
    distance = [each["distance"] for each in seen]
    return predict_locality(machine, distance, channels if load == "own" else 1)


def compare_sizes(cases: Sequence[running.Case], found: running.Seen) -> pl.DataFrame:
    """Return one row per torus, mapping and number of contexts of figures 6 to 8, and source.

    ``source`` is ``simulated`` or ``model``, with s and offset of the nine mappings on 8 x 8 and
    each mapping's channel loads. ``per_hop_latency`` is T_m less B and the model's wait for the
    nodes' channels, over d. The parts of t_t (eq. 18) are made of T_m in the same way for both,
    all waiting being ``variable_message_cycles``.
    """
    groups = dict(_groups(cases, found))
    rows: list[dict[str, Any]] = []
    for (side, kind, protocol, contexts), group in groups.items():
        nine = [each for _, each in groups.get((SIDE, "distance", protocol, contexts), [])]
        each = group[0][1]
        if kind not in ("identity", "random") or None in nine or each is None:
            continue
        machine = _regressed(protocol, contexts, [each for each in nine if each is not None])
        said = _predict(machine, [each], "own")
        critical, flits = machine.critical_messages.item(), johnson.MEAN_FLITS
        for source, rate, latency in (
            ("simulated", each["message_rate"], each["message_latency"]),
            ("model", float(said.message_rate[0]), float(said.message_latency[0])),
        ):
            ratio = machine.squared_length_ratio
            wait = node_channel_wait(rate, flits, machine.node_channels, ratio)
            rows.append(
                {"nodes": side * side, "mapping": kind, "contexts": contexts, "source": source}
                | {"distance": each["distance"], "message_rate": rate, "message_latency": latency}
                | {
                    "per_hop_latency": (latency - flits - float(wait)) / each["distance"],
                    "inter_transaction_cycles": machine.messages.item() / rate,
                    "variable_message_cycles": critical * (latency - flits) / contexts,
                    "fixed_message_cycles": critical * flits / contexts,
                    "fixed_transaction_cycles": machine.fixed_processor_cycles.item() / contexts,
                    "work_cycles": johnson.RUN_CYCLES / contexts,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


Group: TypeAlias = list[tuple[running.Case, "dict[str, Any] | None"]]


def _groups(
    cases: Sequence[running.Case], found: running.Seen
) -> Iterator[tuple[tuple[int, str, str, int], Group]]:
    """Yield the cases that differ in their mapping alone, of each kind of mapping."""
    groups: dict[tuple[int, str, str, int], Group] = {}
    for case, each in zip(cases, found, strict=True):
        kind = case["mapping"].partition(":")[0]
        key = (case["side"], kind, case["protocol"], case["contexts"])
        groups.setdefault(key, []).append((case, each))
    yield from groups.items()


# -- goals and tables ----------------------------------------------------------------------------

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


def run(*, quick: bool, kept: Path) -> running.StudyResult:
    """Simulate what is not in the file yet, and compare. See ``running.run_study``."""
    torus_questions, locality_questions = torus_cases(quick=quick), locality_cases(quick=quick)
    torus_found = running.simulate_all(torus_questions, _simulate_torus, kept, "broadcasts on tori")
    locality_found: list[dict[str, Any] | None] = [None] * len(locality_questions)
    if None not in torus_found:  # else Ctrl-C has said to stop
        locality_found = running.simulate_all(
            locality_questions, _simulate_locality, kept, "transactions on tori"
        )
    torus = compare_torus(torus_questions, torus_found)
    locality = compare_locality(locality_questions, locality_found)
    sizes = compare_sizes(locality_questions, locality_found)
    sections: list[running.Section] = []
    goals: list[running.Goal] = []
    if len(torus):
        goals += _torus_goals(torus)
        sections += _torus_sections(torus)
    if len(locality):
        goals += _locality_goals(locality)
        sections.append(_locality_section(locality))
    if len(sizes):
        sections.append(_sizes_section(sizes))
    found = [*torus_found, *locality_found]
    return running.StudyResult(
        name="model-accuracy",
        quick=quick,
        goals=tuple(goals),
        sections=tuple(sections),
        tables={"torus-broadcast": torus, "locality": locality, "locality by size": sizes},
        asked=len(found),
        simulated=sum(each is not None for each in found),
        kept=kept,
    )


def _torus_goals(torus: pl.DataFrame) -> Iterator[running.Goal]:
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
        yield running.Goal(f"{what}, mean error of {many} tori", limit, mean, "%", _worst(of))
        if row["load"] is None:
            yield running.Goal("saturation rate, largest error", limit, largest, "%", _worst(of))
    unsolved = table.filter(pl.col("error").is_null()).unique(NAME, maintain_order=True)
    names = [_configuration(row) for row in unsolved.head(WORST).iter_rows(named=True)]
    what = "tori without a predicted latency at one of these loads"
    yield running.Goal(what, 0, len(unsolved), "tori", "; ".join(names))


def _worst(table: pl.DataFrame) -> str:
    rows = table.drop_nulls("error").sort(pl.col("error").abs(), descending=True).head(WORST)
    return "; ".join(
        f"{_configuration(row)} {_percent(row['error'])} %" for row in rows.iter_rows(named=True)
    )


def _configuration(row: dict[str, Any]) -> str:
    return " ".join(f"{symbol}{row[name]:g}" for name, symbol in SYMBOLS.items())


def _torus_sections(torus: pl.DataFrame) -> Iterator[running.Section]:
    default = torus.filter(variant=DEFAULT_VARIANT)
    rows = []
    for values, of in default.group_by(*NAME, maintain_order=True):
        *latencies, saturation = of.iter_rows(named=True)
        cells = [f"{value:g}" for value in values]
        for row in latencies:
            cells += [f"{row['simulated']:.1f}", _percent(row["error"])]
        cells += [f"{saturation['simulated']:.3g}", _percent(saturation["error"])]
        rows.append(tuple(cells))
    heads = [part for load in LOADS for part in (f"L at {100 * load:.0f} %", "err %")]
    yield running.Section(
        f"Torus broadcast, {DEFAULT_VARIANT}: simulated latencies in cycles, and the model's error",
        (*SYMBOLS.values(), *heads, "saturation", "err %"),
        tuple(rows),
    )
    loads = (*(f"{100 * load:.0f} %" for load in LOADS), "saturation")
    rows = []
    for variant, of in torus.group_by("variant", maintain_order=True):
        rows.append((str(variant[0]), *map(_means, mean_errors(of).to_dicts())))
    yield running.Section(
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
    yield running.Section(
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


def _locality_goals(locality: pl.DataFrame) -> Iterator[running.Goal]:
    for protocol in johnson.PROTOCOLS:
        for contexts in johnson.CONTEXTS:
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
                yield running.Goal(
                    f"{protocol}, p = {contexts}: {what}, largest error", limit,
                    found * (100 if of_unit == "%" else 1), of_unit, where,
                )  # fmt: skip


def _largest(table: pl.DataFrame, column: str) -> tuple[float, str]:
    if not len(table):
        return nan, ""
    row = table.row(table.select(pl.col(column).abs().arg_max()).item(), named=True)
    return abs(row[column]), f"d = {row['distance']:.3g}"


def _locality_section(locality: pl.DataFrame) -> running.Section:
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
    return running.Section(
        "Locality on torus:8x8: largest error of message rate and latency (cycles)",
        ("protocol", "mappings", "s, offset", "p", "busiest", *heads),
        tuple(sorted(rows)),
        (
            "own, mean: with each mapping's own channel loads, and with the mean alone, as in the "
            "paper; busiest: flits/cycle on the busiest channel of all mappings",
            "mappings: nine of distances 1 to 6.1, and linear ones, which load channels alike",
        ),
    )


def _sizes_section(sizes: pl.DataFrame) -> running.Section:
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
    return running.Section(
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


def figures(result: running.StudyResult) -> Iterator[Figure]:
    """Yield name, title, panels and a remark of each figure that there are cases for.

    Shahrabi, Ould-Khaoua & Mackenzie's figure 1, and Johnson's figures 3 to 8: simulated points and
    the models' curves. The latter three show machines that are too large to simulate: beside the
    paper's, as ``alewife`` has them, are those that were simulated, and the model of these.
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
                for contexts, ((source, load), whose) in product(johnson.CONTEXTS, LOOKS.items()):
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
        for contexts in johnson.CONTEXTS:
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
            for part, words in johnson.TIMES.items()
        ]
        parts.append(("Simulated" if source == "simulated" else "Model of the same", bars))
    hops.append(curve("p = 2", johnson.NODES, johnson.hop_latencies(), PRINTED))
    ratios += [
        curve(f"p = {contexts}", johnson.NODES, gain, PRINTED)
        for contexts, gain in johnson.gains().items()
    ]
    parts.append(("Model of the paper's machine", johnson.times_of_paper()))
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
