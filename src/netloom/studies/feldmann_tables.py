"""Feldmann et al. 1993: what follows from the paper's formulas alone (Tables 1-3, 5 and 6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from netloom.models.messages import (
    FELDMANN_1993,
    ConSetCosts,
    MessageCosts,
    conset_clocks,
    fitted_finite_element_clocks,
    message_passing_clocks,
    regular_conset_clocks,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from netloom.studies.comparing import Part

CELLS, CLOCK_MHZ, WORD_BYTES = 64, 20.0, 4
"""Of the machine that was measured."""

SPARSE = ConSetCosts(clocks_per_word=10.0, both_ways=False)
"""A processor that gathers words from sparse matrices, or scatters them (section 5.2)."""


def words_of(quantity: str) -> int:
    """Return the words of a row such as ``ConSet, 256 words``: the last number in it.

    Examples
    --------
    >>> words_of("ConSet, 16384 words, computed with 16348")
    16348
    """
    return int(re.findall(r"\d+", quantity)[-1])


def bandwidth(words: ArrayLike, clocks: float) -> float:
    """Return MB/s of words that all cells together move in so many clocks (section 5.1).

    Examples
    --------
    >>> round(bandwidth(64 * 133, 5352), 2)
    127.23
    """
    import numpy as np

    return float(np.sum(words)) * WORD_BYTES * CLOCK_MHZ / clocks


def _predicted(known: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for quantity in known["values"]:
        words = words_of(quantity)
        if quantity.startswith("ConSet"):
            clocks = regular_conset_clocks(known["phases"], known["sends"], words, FELDMANN_1993)
        else:
            clocks = message_passing_clocks(known["messages"], words, MessageCosts())
        found[quantity] = clocks
    return found


def inferred_words(phases: int, predicted: float) -> int:
    """Return W, the whole number of words with which 528 P + 10 W comes nearest to a prediction.

    Table 6 was predicted so: W is what the timetables of all phases come to, and not printed.

    Examples
    --------
    >>> inferred_words(2, 4786)
    373
    """
    return round((predicted - phases * SPARSE.switch_clocks) / SPARSE.clocks_per_word)


def _finite_elements(known: Mapping[str, Any]) -> dict[str, Any]:
    """528 P + 10 W, for the whole number W that comes nearest."""
    found = {}
    printed = {quantity.partition(",")[0]: value for quantity, value in known["values"].items()}
    for mesh, facts in known["meshes"].items():
        words = inferred_words(facts["phases"], printed[mesh])
        makespan = [SPARSE.clocks_per_word * words] + [0.0] * (facts["phases"] - 1)
        found[f"{mesh}, W = {words}"] = conset_clocks(makespan, SPARSE)
    return found


def _finite_element_messages(known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        mesh: fitted_finite_element_clocks(facts["degree"], facts["most_words"])
        for mesh, facts in known["meshes"].items()
    }


def _bandwidths(known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{mesh}, MB/s": bandwidth(CELLS * facts["most_words"], facts["clocks"])
        for mesh, facts in known["meshes"].items()
    }


PARTS: dict[str, Part] = {
    "table 1, predicted": _predicted,
    "table 2, predicted": _predicted,
    "table 3, predicted": _predicted,
    "table 5": _bandwidths,
    "table 6, ConSet predicted": _finite_elements,
    "table 6, message passing predicted": _finite_element_messages,
}
"""What recomputes each item of the data file, from what the file says of it."""
