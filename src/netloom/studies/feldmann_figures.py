"""Feldmann et al. 1993, figures 2 to 6: aggregate bandwidth, and words between processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.studies.feldmann_meshes import (
    MESHES,
    compiled,
    interface,
    most_words,
    simulated_clocks,
)
from netloom.studies.feldmann_phases import pattern
from netloom.studies.feldmann_simulated import (
    conset_clocks,
    message_clocks,
    overhead_of,
    own_transfer_clocks,
)
from netloom.studies.feldmann_tables import CELLS, SPARSE, bandwidth, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

OWN_PLAN = "ConSet, netloom's plan"
SMALL_MESHES = "ConSet, our meshes"


def printed_points(printed: Mapping[str, Any], item: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the points that are printed of a pattern: clocks as they stand in the item's table."""
    predicted, measured = printed[f"{item}, predicted"], measured_clocks(printed, item, name)
    for quantity in measured:
        words = words_of(quantity)
        data = CELLS * predicted["sends"] * words
        for what, clocks in (("predicted", predicted["values"]), ("measured", measured)):
            yield _point(series_of(quantity), what, {"words": words}, data, clocks[quantity])


def simulated_points(printed: Mapping[str, Any], item: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the points of a pattern that netloom simulates, at the words that were measured."""
    sends, measured = printed[f"{item}, predicted"]["sends"], printed[f"{item}, measured"]
    seeds, replications = measured.get("seeds", (1,)), measured.get("replications", 1)
    quantities = measured_clocks(printed, item, name)
    for quantity in quantities:
        words = words_of(quantity)
        data = CELLS * sends * words
        assert data == pattern(name, words).words.sum()
        if series_of(quantity) == "ConSet":
            clocks = conset_clocks(name, words, seeds)
        else:
            clocks = float(message_clocks(name, words, replications).mean())
        yield _point(series_of(quantity), "simulated", {"words": words}, data, clocks)


def own_plan_points(printed: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what netloom's own plan of all-to-all takes, all connections interleaved."""
    sends = printed["table 3, predicted"]["sends"]
    for words in sorted(
        {words_of(quantity) for quantity in printed["table 3, measured"]["values"]}
    ):
        phases, clocks = own_transfer_clocks("phases", words)
        clocks += phases * overhead_of()
        yield _point(OWN_PLAN, "simulated", {"words": words}, CELLS * sends * words, clocks)


def measured_clocks(printed: Mapping[str, Any], item: str, name: str) -> dict[str, float]:
    """Return the clocks of a table's measured columns; table 1's first row is kept by itself."""
    first = printed["section 4.2.1"]
    kept = {f"ConSet, {first['words']} words": first["clocks"]} if name == "torus" else {}
    return {**kept, **printed[f"{item}, measured"]["values"]}


def series_of(quantity: str) -> str:
    """Return what a row such as ``ConSet, 256 words`` is of."""
    return quantity.partition(",")[0]


def finite_element_points(printed: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield Table 6 as printed.

    Bandwidth counts the busiest processor's words for all, as in Table 5.
    """
    conset, passing = (
        printed[f"table 6, {series} predicted"] for series in ("ConSet", "message passing")
    )
    predicted = {name.partition(",")[0]: clocks for name, clocks in conset["values"].items()}
    columns = {
        ("ConSet", "predicted"): predicted,
        ("ConSet", "measured"): printed["table 6, measured"]["values"],
        ("message passing", "predicted"): passing["values"],
        ("message passing", "measured"): printed["figure 6"]["measured"],
    }
    for mesh in MESHES:
        words = CELLS * passing["meshes"][mesh]["most_words"]
        for (series, what), column in columns.items():
            yield _point(series, what, {"mesh": mesh}, words, column[mesh])


def small_mesh_points() -> Iterator[dict[str, Any]]:
    """Yield what the algorithms as published come to for meshes of netloom's, and simulations."""
    for mesh in MESHES:
        ours, made = CELLS * most_words(mesh), compiled(mesh, as_published=True)
        switches = made.plan.num_phases * SPARSE.switch_clocks
        clocks = switches + SPARSE.clocks_per_word * made.words
        yield _point(SMALL_MESHES, "predicted", {"mesh": mesh}, ours, clocks)
        clocks = simulated_clocks(mesh, overhead_of())
        yield _point(SMALL_MESHES, "simulated", {"mesh": mesh}, ours, clocks)


def _point(
    series: str, what: str, at: Mapping[str, Any], words: int, clocks: float
) -> dict[str, Any]:
    return {"series": series, "what": what, **at, "bandwidth": bandwidth(words, clocks)}


def pairs_of_processors() -> pl.DataFrame:
    """Return the words between two processors that exchange any, each pair once."""
    import polars as pl

    tables = []
    for mesh in MESHES:
        given = interface(mesh)
        words = given.words[given.source < given.target]
        tables.append(pl.DataFrame({"mesh": np.full(len(words), mesh), "words": words}))
    return pl.concat(tables)
