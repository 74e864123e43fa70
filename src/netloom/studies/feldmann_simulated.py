"""Feldmann et al. 1993: the measured columns of Tables 1-3, simulated flit by flit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.models.messages import ConSetCosts, MessageCosts
from netloom.phases import least_clocks, schedule
from netloom.phases.execute.execution import execute
from netloom.studies.feldmann_messages import iwarp_clocks
from netloom.studies.feldmann_phases import IWARP, own_plan, paper_plan, pattern
from netloom.studies.feldmann_tables import words_of
from netloom.studies.validation import published
from netloom.topology import mesh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from netloom.studies.comparing import Part
    from netloom.studies.feldmann_phases import Objective

TRANSFERS = ConSetCosts(sync_clocks=0.0, phase_clocks=0.0)
"""Of transfers alone; what a phase takes besides is added as ``overhead_of`` has it."""

WITH_HEADER = MessageCosts(header_words=8)
"""Messages as the machine sends them: header and trailer are in section 4.3.1, but in none of the
predictions."""


@cache
def transfer_clocks(name: str, words: int, seed: int = 1) -> tuple[int, float]:
    """Return the phases of a plan of the paper's kind, and the clocks of its transfers.

    Connections meet: a processor waits for the other to be ready. The torus pattern is used E, W,
    N, S, the butterfly by dimensions, all-to-all in the order of algorithm AS.

    Examples
    --------
    >>> transfer_clocks("torus", 32)
    (1, 296.0)
    """
    plan = paper_plan(name, words, seed)
    listed = None if name == "all-to-all" else np.arange(len(plan.connections))
    order = schedule(plan, TRANSFERS, priority=listed, tries=0)
    return plan.num_phases, execute(plan, TRANSFERS, timetable=order).clocks


def overhead_of() -> float:
    """Return the clocks of a phase besides its transfer: what Table 1's first row leaves for it."""
    first = published("feldmann/published")["section 4.2.1"]
    phases, clocks = transfer_clocks("torus", first["words"])
    return float((first["clocks"] - clocks) / phases)


def conset_clocks(name: str, words: int, seeds: Sequence[int] = (1,)) -> float:
    """Return what a pattern takes by a plan of the paper's kind: the mean of some seeds."""
    runs = [transfer_clocks(name, words, seed) for seed in seeds]
    overhead = overhead_of()
    return float(np.mean([phases * overhead + clocks for phases, clocks in runs]))


@cache
def message_clocks(
    name: str, words: int, replications: int = 1, network: str = "torus"
) -> NDArray[np.float64]:
    """Return what a pattern takes by message passing; all-to-all in some random orders."""
    given, shuffled = pattern(name, words), name == "all-to-all"
    net = IWARP if network == "torus" else mesh(8, 8)
    seeds = replications if shuffled else 1
    return iwarp_clocks(given, net, WITH_HEADER, shuffled=shuffled, seeds=seeds)


@cache
def own_transfer_clocks(objective: Objective, words: int) -> tuple[int, float]:
    """Return the phases of netloom's own plan of all-to-all, and the clocks of its transfers.

    All connections of a phase are interleaved.
    """
    plan = own_plan(objective, words)
    return plan.num_phases, execute(plan, TRANSFERS).clocks


def _measured(known: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for quantity in known["values"]:
        words = words_of(quantity)
        if quantity.startswith("ConSet"):
            found[quantity] = conset_clocks(known["pattern"], words, known.get("seeds", (1,)))
        else:
            replications = known.get("replications", 1)
            found[quantity] = message_clocks(known["pattern"], words, replications)
    return found


def _switch(_: Mapping[str, Any]) -> dict[str, Any]:
    return {"clocks of a context switch": overhead_of()}


def _backloops(known: Mapping[str, Any]) -> dict[str, Any]:
    """Rates are as the times of the same words."""
    asked = "all-to-all", known["words"], known["replications"]
    with_them, without = (message_clocks(*asked, network=network) for network in ("torus", "mesh"))
    rate = with_them.mean() / without.mean()
    return {"all-to-all, rate without over with backloops": rate}


def _long(known: Mapping[str, Any]) -> dict[str, Any]:
    words = known["words"]
    least = least_clocks(pattern("all-to-all", words), IWARP, TRANSFERS)
    each = {name: own_transfer_clocks(name, words)[1] / words for name in ("phases", "time")}
    return {
        "all-to-all, fewest phases, clocks a word, at most": each["phases"],
        "all-to-all, least time, clocks a word, at most": each["time"],
        "all-to-all, least clocks a word of any plan": least / words,
    }


PARTS: dict[str, Part] = {
    "section 4.2.1": _switch,
    "table 1, measured": _measured,
    "table 2, measured": _measured,
    "table 3, measured": _measured,
    "section 5.1.3": _backloops,
    "long messages": _long,
}
"""What recomputes each item of the data file, from what the file says of it."""
