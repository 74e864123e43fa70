"""What do shared words, such as counters and locks, do to a network whose switches combine?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from netloom.base.errors import InputError
from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.spec import MAX_ELEMENTS, whole_number
from netloom.questions.base import Question, option
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.simulation.side_by_side import run_all
from netloom_papers.combining import CombiningNetwork, run_combining
from netloom_papers.questions.hotspot.answer import HotSpotLoad, HotSpotSimulation
from netloom_papers.questions.hotspot.system import (
    HotSpotSystem,
    PreparedSystem,
    network_of,
    rates_of,
    seeds_of,
    traffic_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom_papers.combining import CombiningRun


UNBOUNDED = "unbounded"
AS_QUEUE = "as-queue"


class Capacities(Question, panel="Network"):
    """What queues and wait buffers hold."""

    queue: Annotated[int, Field(ge=0, le=MAX_ELEMENTS)] | str | None = option(
        "Size of each queue: a number of packets, or unbounded.",
        default=None,
        shown_default=UNBOUNDED,
    )
    wait_buffer: Annotated[int, Field(ge=0, le=MAX_ELEMENTS)] | str | None = option(
        "Size of each wait buffer: a number of packets, unbounded, or as-queue.",
        default=AS_QUEUE,
    )


class HotSpotQuestion(Capacities, HotSpotSystem):
    """Hot spots behind queues of a size."""


def prepare(question: HotSpotQuestion) -> PreparedSystem:
    """Return the network, and refuse traffic that is not possible on it."""
    rates = rates_of(question)
    queue = _capacity(question.queue, "queue")
    as_queue = question.wait_buffer == AS_QUEUE
    pool = queue if as_queue else _capacity(question.wait_buffer, "wait_buffer")
    network = network_of(question, queue, pool)
    traffic_of(question, rates[0], question.seed)
    return PreparedSystem(network, rates)


@asks(
    HotSpotQuestion,
    prepare=prepare,
    title="Hot spots in a combining network",
    example="netloom hotspot --pes 512 --hotspots 8 --rate 0.05:0.2:0.05 --plot stages.svg",
    page="combining-network.md",
    sweep="rate",
    outputs=(PLOT,),
)
def simulate_hot_spots(question: HotSpotQuestion, ready: PreparedSystem) -> HotSpotSimulation:
    """Simulate an Omega network that combines requests to shared words of memory.

    The network is that of Rosenblum & Mayr's Ultracomputer (1986). Replications and rates use all
    processors. Ctrl-C ends them, and the answer contains those that are finished.

    Examples
    --------
    >>> found = simulate_hot_spots(16, 1, assign=1.0, rate=0.15)
    >>> found.point.to_dict()["steps"]["mean"]  # nothing is ever held up: 2 K + 2
    10.0
    """
    network, rates = ready
    seeds = seeds_of(question)
    jobs = [(rate, seed) for rate in rates for seed in seeds]
    runs = [partial(_run, question, network, *job) for job in jobs]
    with counting_runs(len(jobs), f"hot spots on omega:{question.pes}") as tell:
        found = run_all(runs, tell=tell)
    return HotSpotSimulation(
        network=network,
        points=_points(network, rates, seeds, found),
        asked=rates,
        interrupted=len(found) < len(jobs) or any(run.interrupted for run in found),
        provenance=Provenance(question.configuration(), question.seed, verb="simulate_hot_spots"),
    )


def _capacity(given: int | str | None, field: str) -> int | None:
    """Return how many packets fit. None: any number. Numbers too small are refused elsewhere."""
    if given is None or given == UNBOUNDED:
        return None
    if isinstance(given, str):
        if not given.isdecimal():
            words = UNBOUNDED if field == "queue" else f"{UNBOUNDED} or {AS_QUEUE}"
            raise InputError(field, f"'{given}'", f"a number of packets, or {words}")
        return whole_number(given, where=field)
    return given


def _run(
    question: HotSpotQuestion,
    network: CombiningNetwork,
    rate: float,
    seed: int,
    stopped: Callable[[], bool],
) -> CombiningRun:
    traffic = traffic_of(question, rate, seed)
    return run_combining(network, traffic, question.steps, seed=seed, stopped=stopped)


def _points(
    network: CombiningNetwork,
    rates: Sequence[float],
    seeds: Sequence[int],
    found: Sequence[CombiningRun],
) -> tuple[HotSpotLoad, ...]:
    """Put runs to their rates: those that are finished, or all where none of a rate is."""
    points = []
    for place, rate in enumerate(rates):
        of_rate = found[place * len(seeds) : (place + 1) * len(seeds)]
        with_seeds = list(zip(of_rate, seeds, strict=False))
        finished = [each for each in with_seeds if not each[0].interrupted]
        if kept := finished or [each for each in with_seeds if each[0].steps]:
            runs, own = zip(*kept, strict=True)
            points.append(HotSpotLoad(network, runs, own, rate=rate))
    return tuple(points)
