"""What transactions come to, by their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.simulate.said import again, rough
from netloom.questions.verdict import Verdict
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping

BUSY, IDLE = 0.8, 0.5
"""Use of the busiest link above which bandwidth is the limit, and below which latency is."""

AT_WORK = 0.9
"""Share of its time from which a processor counts as at work."""

MOST_CONTEXTS = 256


def verdict(found: Mapping[str, Any]) -> Verdict:
    """Return what share of its time a processor works, and what limits it."""
    of = f"{found['program']} on {found['topology']}"
    use, links = found["processor_use"], found["utilisation"]
    lines = _lines(found)
    if found["interrupted"]:
        ran = counted(found["cycles"], "cycle", ",")
        said = f"Interrupted after {ran}: processors computed {rough(use)} of the time so far."
        again_all = again("simulate.transactions", found)
        return Verdict("unknown", said, of, lines, again_all, "So far: not yet a steady state.")
    works = f"Processors compute {rough(use)} of the time"
    if use >= AT_WORK:
        return Verdict("fine", f"{works}: the network hardly delays them.", of, lines)
    most = links["max"] or 0.0
    waits = f"{works} and wait {rough(1 - use)}"
    mark = "limited"
    if most > BUSY:
        said = f"{waits}: the busiest link is {rough(most)} busy, so bandwidth is the limit."
        more = again("map", found, rankfile="ranks.txt")
    elif most < IDLE:
        said = f"{waits}. Links are at most {rough(most)} busy: latency, not bandwidth, is the "
        said += "limit."
        more = _more_contexts(found)
    else:
        said = f"{waits}. Latency and bandwidth both limit: the busiest link is {rough(most)} busy."
        more = _more_contexts(found)
    return Verdict(mark, said, of, lines, more)


def _lines(found: Mapping[str, Any]) -> dict[str, str]:
    waits = number(found["transaction_latency"])
    message = number(found["message_latency"])
    count = number(found["messages_per_transaction"])
    why = f"a transaction takes {waits} cycles, for {number(found['run_cycles'])} of computation:"
    return {"why": f"{why} its {count} messages take {message} cycles each"}


def _more_contexts(found: Mapping[str, Any]) -> str:
    """Return the command that asks for twice the contexts, which overlap waiting with work."""
    twice = min(2 * found["contexts"], MOST_CONTEXTS)
    if twice == found["contexts"]:
        return ""
    return again("simulate.transactions", found, contexts=twice)
