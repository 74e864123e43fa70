"""Shahrabi, Ould-Khaoua & Mackenzie 2002, figure 1, recomputed: the model beside simulations.

The figure is lost in the text that there is, so that no point of it can be compared; its caption
says what was varied, and all of that is here.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.figures import COMPUTED, MODELLED, Cell, Grid, Plot
from netloom.models.published_torus import published_saturation, published_torus
from netloom.progress import counting
from netloom.studies.comparing import run_side_by_side
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.shahrabi import simulate_point

if TYPE_CHECKING:
    from collections.abc import Mapping

RADICES, FRACTIONS, VCS, FLITS = (8, 10, 16), (0.02, 0.04), (3, 4, 5), (16, 32, 48, 64)
"""What the caption of figure 1 says."""

LOADS = (0.2, 0.4, 0.6, 0.75, 0.9)
"""Where it is simulated: parts of the rate at which the model saturates."""

CURVE = np.array([*np.linspace(0.02, 0.9, 23), 0.93, 0.96, 0.98, 0.99])
"""Where the model's curves are computed, likewise."""

REMARKS = (
    "The figure is lost in the text: neither its points nor its panels can be compared. Its "
    "caption says which lengths, broadcast portions and virtual channels it shows; here are all "
    "of them.",
    "The model is that of the printed equations, slips included. Of simulated latencies 3 cycles "
    "on the channels at a message's ends are left out: the model has no such channels.",
    "The paper finds model and simulation close up to moderate loads: the table has how far they "
    "are from each other here.",
)


class Case(NamedTuple):
    """A torus, messages, virtual channels and the portion of broadcasts."""

    radix: int
    flits: int
    vcs: int
    fraction: float


class Scope(NamedTuple):
    """How much of the figure is simulated: virtual channels, loads and cycles of each point."""

    vcs: tuple[int, ...]
    loads: tuple[float, ...]
    cycles: int


FULL, QUICK = Scope(VCS, LOADS, 30_000), Scope((3,), (0.3, 0.8), 3_000)


def _figure_1(quick: bool) -> Shown:
    scope = QUICK if quick else FULL
    cases = [Case(*each) for each in product(RADICES, FLITS, scope.vcs, FRACTIONS)]
    limits = {case: _saturation(case) for case in cases}
    points = list(product(cases, scope.loads))
    options = {"cycles": scope.cycles, "seed": 1}
    with counting(len(points), "broadcasts on tori") as tell:
        found = run_side_by_side(
            [partial(simulate_point, *case, load * limits[case], options) for case, load in points],
            tell,
        )
    seen = dict(zip(points, found, strict=True))
    panels = [
        _panel(radix, vcs, fraction, limits, seen)
        for radix, fraction, vcs in product(RADICES, FRACTIONS, scope.vcs)
    ]
    remarks = list(REMARKS)
    if quick:
        remarks.append(
            f"Quick: {scope.vcs[0]} virtual channels only, simulated at two loads, for "
            f"{scope.cycles} cycles each."
        )
    return Shown((*panels, _apart(limits, seen, scope)), (), tuple(remarks))


def _panel(
    radix: int,
    vcs: int,
    fraction: float,
    limits: Mapping[Case, float],
    seen: Mapping[tuple[Case, float], Mapping[str, Any]],
) -> Plot:
    """Latency by rate, a curve a length: the model's, and simulated points."""
    import polars as pl

    points: list[dict[str, Any]] = []
    for flits in FLITS:
        case, series = Case(radix, flits, vcs, fraction), f"M = {flits}"
        points += [
            {"series": series, "x": rate, "y": _latency(case, rate), "whose": MODELLED}
            for rate in (CURVE * limits[case]).tolist()
        ]
        for (of, _), row in seen.items():
            if of == case:
                y, half = row["comparable_latency"], row["latency_ci95"]
                points.append(
                    {"series": series, "x": row["rate"], "y": y, "whose": COMPUTED,
                     "low": y - half, "high": y + half}
                )  # fmt: skip
    table = pl.DataFrame(points, schema_overrides=dict.fromkeys(("low", "high"), pl.Float64))
    title = f"N = {radix} × {radix}, V = {vcs}, β = {fraction}"
    axes = "λ, messages/node/cycle", "unicast latency, cycles"
    return Plot(title, *axes, table)


def _apart(
    limits: Mapping[Case, float], seen: Mapping[tuple[Case, float], Mapping[str, Any]], scope: Scope
) -> Grid:
    """How far the model is from simulations: means over all lengths, portions and channels."""

    def cell(radix: int, load: float) -> Cell:
        off = [
            abs(_latency(case, load * limits[case]) / row["comparable_latency"] - 1)
            for (case, at), row in seen.items()
            if case.radix == radix and at == load
        ]
        return Cell(None, float(100 * np.mean(off)))

    return Grid(
        "Model from simulation, % of the latency, by load (of the model's saturation)",
        ("torus", *(f"{100 * load:.0f} %" for load in scope.loads)),
        tuple(
            (f"{radix} × {radix}", tuple(cell(radix, load) for load in scope.loads))
            for radix in RADICES
        ),
    )


def _latency(case: Case, rate: float) -> float:
    answer = published_torus(
        case.radix,
        message_flits=case.flits,
        vcs=case.vcs,
        broadcast=case.fraction,
        rate=rate,
        variant="printed",
    )
    return float(answer.latency)


def _saturation(case: Case) -> float:
    return published_saturation(
        case.radix,
        message_flits=case.flits,
        vcs=case.vcs,
        broadcast=case.fraction,
        variant="printed",
    )


EXHIBITS: dict[str, Exhibit] = {
    "fig-1": Exhibit(
        "Unicast latency by rate, tori with broadcasts: model and simulation", _figure_1
    )
}
"""The paper's one figure."""

NOT_EXHIBITS: dict[str, str] = {}
"""Figures and tables without anything to recompute, and why: none, and no tables."""
