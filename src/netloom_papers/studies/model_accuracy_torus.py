"""The torus-broadcast model against simulation: latencies at three loads, and saturation.

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
"""

from __future__ import annotations

from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.provenance import DEFAULT_SEED
from netloom.topology import average_distance, torus
from netloom_papers.models.torus_broadcasts import VARIANTS, torus_broadcast
from netloom_papers.questions.predict.torus_broadcast.answer import ENDS_CYCLES
from netloom_papers.questions.simulate.broadcast.question import simulate_broadcast
from netloom_papers.studies.running import simulate_all
from netloom_papers.studies.shahrabi import ROUTER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from netloom_papers.programs.broadcast_runs import BroadcastRun
    from netloom_papers.studies.running import Case, Stopped

RADICES, FLITS, VCS, BROADCAST = (8, 10, 16), (16, 32, 48, 64), (3, 4, 5), (0.0, 0.02, 0.04)

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


def simulate_torus_cases(cases: Sequence[Case], kept: str | Path) -> list[dict[str, Any] | None]:
    """Return what simulation finds of each configuration. See ``simulate_all``."""
    return simulate_all(cases, _simulate, kept, "broadcasts on tori")


def _simulate(case: Case, stopped: Stopped) -> dict[str, Any] | None:
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
                "latency": run.unicast.mean - ENDS_CYCLES,
                "ci95": run.unicast.ci95,
                "broadcast_latency": run.broadcast.mean if case["broadcast"] else None,
                "channel_flits": float(run.class_utilisation.sum()),
                "stable": run.stable,
            }
        )
    return {"saturation_rate": saturation, "uncertainty": (high - low) / 2, "points": points}


def _precise(case: Case, rate: float) -> BroadcastRun:
    messages, most = case["latency_messages"]
    while True:
        run = _run(case, rate, messages)
        if run.unicast.ci95 <= case["precision"] * run.unicast.mean or messages >= most:
            return run
        messages *= 4


def full_rate(case: Case) -> float:
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


def _run(case: Case, rate: float, messages: int) -> BroadcastRun:
    radix = case["radix"]
    return simulate_broadcast(
        f"torus:{radix}x{radix}", rate=rate, broadcast=case["broadcast"],
        packet_flits=case["flits"], vcs=case["vcs"], cycles=ceil(messages / rate),
        seed=case["seed"], **ROUTER,
    ).point  # fmt: skip


def compare_torus(cases: Sequence[Case], found: Sequence[dict[str, Any] | None]) -> pl.DataFrame:
    """Return one row per configuration, variant and figure: simulated, predicted, and the error.

    ``figure`` is ``latency`` (cycles, at a ``load`` of the simulated saturation) or ``saturation``
    (messages per node and cycle). ``error`` is relative, and null with ``predicted`` where the
    model has no steady state. ``ci95`` is half of the interval that the simulated figure is in.
    """
    import polars as pl

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
    table = pl.DataFrame(rows, infer_schema_length=None)
    if not rows:
        return table
    return table.with_columns(pl.col("predicted").cast(pl.Float64).fill_nan(None)).with_columns(
        error=pl.col("predicted") / pl.col("simulated") - 1
    )


def mean_errors(table: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return the errors of the rows that agree in ``by``, in %, of each figure and load.

    ``absolute``, ``signed``: means. ``worst``: of the largest size; ``configurations``, and
    ``unsolved``: those without a steady state, which count in no mean.
    """
    import polars as pl

    error = 100 * pl.col("error")
    return table.group_by(*by, "figure", "load", maintain_order=True).agg(
        absolute=error.abs().mean(),
        signed=error.mean(),
        worst=error.get((error.abs().fill_null(-1)).arg_max()),
        configurations=pl.len(),
        unsolved=pl.col("error").is_null().sum(),
    )


def torus_curves(table: pl.DataFrame, variants: Sequence[str], points: int = 40) -> pl.DataFrame:
    """Return the latency by rate that the variants predict for the configurations of a table."""
    import polars as pl

    parts = []
    for radix, flits, vcs, broadcast in table.select(NAME).unique(maintain_order=True).rows():
        for variant in variants:
            options: dict[str, Any] = {
                "message_flits": flits, "vcs": vcs, "broadcast": broadcast, "variant": variant,
            }  # fmt: skip
            most = torus_broadcast(radix, rate=0.0, **options).saturation_rate
            rates = np.linspace(0, most, points + 1)[:-1]
            said = torus_broadcast(radix, rate=rates, **options)
            columns = pl.DataFrame({"rate": rates, "latency": said.latency})
            name = zip((*NAME, "variant"), (radix, flits, vcs, broadcast, variant), strict=True)
            parts.append(columns.with_columns(pl.lit(value).alias(key) for key, value in name))
    return pl.concat(parts)
