"""What is the smallest size of queues that does no worse than unbounded ones?"""

from __future__ import annotations

from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.spec import check_size
from netloom.base.words import counted
from netloom.questions.base import Question, option
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom_papers.combining import critical_queue
from netloom_papers.combining.runs import DISCERNIBLE, CriticalQueue
from netloom_papers.questions.hotspot.critical_queue.answer import CriticalQueues
from netloom_papers.questions.hotspot.system import (
    HotSpotSystem,
    PreparedSystem,
    network_of,
    rates_of,
    seeds_of,
    traffic_of,
)


class SearchRuns(Question, panel="Runs"):
    """How many runs are compared, and by what."""

    replications: int = option(
        "Number of runs, each with its seed and hot spots.",
        default=10, ge=1, le=10_000,
    )  # fmt: skip
    rise: float = option(
        "Smallest relative rise of a mean queue that counts.",
        default=DISCERNIBLE, gt=0, le=1000,
    )  # fmt: skip


class CriticalQueueQuestion(SearchRuns, HotSpotSystem):
    """The largest queues that do worse than unbounded ones."""


def prepare(question: CriticalQueueQuestion) -> PreparedSystem:
    """Return the network, and refuse replications that memory does not hold."""
    rates = rates_of(question)
    network = network_of(question, None, None)
    per_pe = len(traffic_of(question, rates[0], question.seed).assigned[0])
    what = "places for hot spots of PEs in all replications"
    check_size(question.replications * network.pes * per_pe, where="replications", what=what)
    return PreparedSystem(network, rates)


@asks(
    CriticalQueueQuestion,
    prepare=prepare,
    title="Search for the critical queue",
    example="netloom hotspot critical-queue --pes 64 --rate 0.1",
    page="combining-network.md",
    sweep="rate",
    outputs=(PLOT,),
)
def find_critical_queue(question: CriticalQueueQuestion, ready: PreparedSystem) -> CriticalQueues:
    """Find, by rate, the largest queue and wait-buffer size that still matters.

    "The largest queue size which produces the first discernible degradation of performance as the
    queue size is decreased from infinity" (Rosenblum & Mayr 1986, section 4.3).

    Examples
    --------
    >>> found = find_critical_queue(64, 4, rate=0.1, steps=500, replications=6)
    >>> found.sizes
    {0.1: 2}
    """
    network, rates = ready
    seeds = seeds_of(question)
    found: list[CriticalQueue] = []
    with counting_runs(len(rates), f"critical queue of {counted(question.pes, 'PE')}") as tell:
        for rate in rates:
            traffics = [traffic_of(question, rate, seed) for seed in seeds]
            found.append(
                critical_queue(network, traffics, question.steps, seeds=seeds, rise=question.rise)
            )
            tell(len(found))
            if found[-1].interrupted:
                break
    return CriticalQueues(
        network=network,
        hot_spots=question.hot_spots,
        found=tuple(zip(rates, found, strict=False)),
        asked=rates,
        rise=question.rise,
        provenance=Provenance(question.configuration(), question.seed, verb="find_critical_queue"),
    )
