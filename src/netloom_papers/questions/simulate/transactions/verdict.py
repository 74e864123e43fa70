"""What transactions come to, by their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.simulate.said import again, configuration, rough
from netloom.questions.subject import subject
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

BUSY, IDLE = 0.8, 0.5
"""Use of the busiest link above which bandwidth is the limit, and below which latency is."""

END_BUSY = 0.6
"""Use of the link between a node and its router from which more contexts gain nothing: messages
come in bursts, and wait for each other there."""

AT_WORK = 0.9
"""Share of its time from which a processor counts as at work."""

MOST_CONTEXTS = 256


def verdict(found: Mapping[str, Any]) -> Verdict:
    """Return what share of its time a processor works, and what limits it."""
    of = subject(found["program"], found["topology"], configuration(found)["mapping"])
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
    most, ends = links["max"] or 0.0, _of_ends(found)
    waits = f"{works} and wait {rough(1 - use)}"
    if not found["run_cycles"]:
        every = number(found["inter_transaction_cycles"])
        waits = f"Processors only wait, a transaction every {every} cycles"
    more, mark = "", "limited"
    if most > BUSY:
        said = f"{waits}: the busiest link is {rough(most)} busy, so bandwidth is the limit."
        if configuration(found)["mapping"] == "identity":
            more = again("map", found, rankfile="ranks.txt")
    elif ends > END_BUSY:
        said = f"{waits}: the link of each node to its router is the limit, {rough(ends)} busy."
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


def _of_ends(found: Mapping[str, Any]) -> float:
    """Return how busy the link from a node to its router is. 0 if that is no limit, or unknown."""
    router = found["router"]
    links = router.get("injection_channels", router.get("end_channels"))
    if links != 1:
        return 0.0
    busy = float(found["message_rate"]) * float(found["message_flits"] or 0)
    return busy if busy <= 1 else 0.0


def _more_contexts(found: Mapping[str, Any]) -> str:
    """Return the command that asks for twice the contexts, which overlap waiting with work."""
    twice = min(2 * found["contexts"], MOST_CONTEXTS)
    if twice == found["contexts"]:
        return ""
    return again("simulate.transactions", found, contexts=twice)
