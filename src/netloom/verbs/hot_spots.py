"""What do shared words, such as counters and locks, do to a network whose switches combine?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from netloom.errors import InputError
from netloom.progress import counting_runs
from netloom.provenance import DEFAULT_SEED, Provenance
from netloom.simulation.combining import CombiningNetwork, critical_queue, run_combining
from netloom.simulation.combining.critical import DISCERNIBLE
from netloom.simulation.combining.engine import MOST_STEPS
from netloom.simulation.side_by_side import run_all
from netloom.spec import MAX_ELEMENTS, check_size, whole_number
from netloom.verbs.critical_queues import CriticalQueues
from netloom.verbs.hot_spot_simulation import HotSpotLoad, HotSpotSimulation
from netloom.verbs.numbers import parse_positive
from netloom.verbs.question import MOST_SEED, Question, ask
from netloom.words import counted
from netloom.workload import HotSpotTraffic, assign_hot_spots, place_hot_spots

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.simulation.combining import CombiningRun, CriticalQueue

UNBOUNDED = "unbounded"
AS_QUEUE = "as-queue"

MOST_RUNS = 100_000
"""Most rates times replications of one question."""


class HotSpotSystem(Question):
    """What is asked of, whatever is asked: a network, its hot spots, and who asks for them.

    Attributes
    ----------
    pes
        Processing elements (PEs), and memory modules: a power of the switch size, 4 to 65536.
    hot_spots
        Modules one word of which is shared.
    per_pe, assign
        Each PE draws that many times, each time with probability ``assign``, one of the hot spots
        that it does not ask for yet. By default 2, or as many as there are.
    rate
        Probability that a PE makes a request in a step: a number, several, or a range
        ``START:STOP:STEP`` with both ends.
    policy
        ``wait``: a PE discards a request for a hot spot from which it still awaits a reply;
        ``no-wait``: it may await any number.
    spacing, deviation
        Place each hot spot that many modules behind the one before, give or take up to
        ``deviation``; at random without a spacing.
    hot_fraction
        Part of the requests that go to hot spots. The others go to all modules alike and are not
        combined.
    new, remove
        Probabilities of a new hot spot in a step, and of the loss of one.
    switch_size, digits, combining, unlimited, order, service_steps, operation
        As ``simulation.combining.CombiningNetwork`` has them.
    steps
        Steps in which requests are made; then the run goes on until all are answered.
    replications, seed
        Runs of each rate, with hot spots, assignment and requests of their own, and the seed of
        the first; the next have the next seeds.
    """

    pes: int = Field(512, ge=1, le=MAX_ELEMENTS)
    hot_spots: int = Field(8, ge=0, le=MAX_ELEMENTS)
    per_pe: int | None = Field(None, ge=1, le=MAX_ELEMENTS)
    assign: float = Field(0.95, ge=0, le=1)
    rate: Any = 0.15
    policy: Literal["no-wait", "wait"] = "no-wait"
    spacing: int | None = Field(None, ge=1, le=MAX_ELEMENTS)
    deviation: int = Field(0, ge=0, le=MAX_ELEMENTS)
    hot_fraction: float = Field(1.0, ge=0, le=1)
    new: float = Field(0.0, ge=0, le=1)
    remove: float = Field(0.0, ge=0, le=1)
    switch_size: int = Field(2, ge=1, le=64)
    digits: Literal["most-significant-first", "least-significant-first"] = "most-significant-first"
    combining: Literal["waiting", "slot", "entering", "none"] = "waiting"
    unlimited: bool = False
    order: Literal["forward", "backward"] = "forward"
    service_steps: int = Field(1, ge=1, le=MAX_ELEMENTS)
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = "add"
    steps: int = Field(1000, ge=1, le=MOST_STEPS)
    replications: int = Field(1, ge=1, le=10_000)
    seed: int = Field(DEFAULT_SEED, ge=0, le=MOST_SEED)


class HotSpotQuestion(HotSpotSystem):
    """The question that ``simulate_hot_spots`` answers.

    Attributes
    ----------
    queue
        Packets that each queue holds: a number, or ``unbounded`` (None).
    wait_buffer
        Packets that each wait buffer holds: a number, ``unbounded`` (None), or ``as-queue``.
    """

    queue: Annotated[int, Field(ge=0, le=MAX_ELEMENTS)] | str | None = None
    wait_buffer: Annotated[int, Field(ge=0, le=MAX_ELEMENTS)] | str | None = AS_QUEUE


class CriticalQueueQuestion(HotSpotSystem):
    """The question that ``find_critical_queue`` answers.

    Attributes
    ----------
    rise
        By how much a stage's mean queue must be longer than with unbounded queues to be called
        discernibly longer, as a fraction.
    """

    replications: int = Field(10, ge=1, le=10_000)
    rise: float = Field(DISCERNIBLE, gt=0, le=1000)


def simulate_hot_spots(pes: int = 512, hot_spots: int = 8, **options: Any) -> HotSpotSimulation:
    """Simulate a combining Omega network several of whose modules have a word that many ask for.

    Rosenblum & Mayr's Ultracomputer (1986). Replications and rates go on at once, on all
    processors; Ctrl-C ends them, and those that are finished are the answer.

    Parameters
    ----------
    pes, hot_spots
        The network's size, and how many words are shared; see ``HotSpotQuestion``, as for all
        other options.

    Raises
    ------
    InputError
        If a field or their combination cannot be used.

    Examples
    --------
    >>> found = simulate_hot_spots(16, 1, assign=1.0, rate=0.15)
    >>> found.point.to_dict()["steps"]["mean"]  # nothing is ever held up: 2 K + 2
    10.0
    """
    question = ask(HotSpotQuestion, {"pes": pes, "hot_spots": hot_spots, **options})
    rates = _rates(question)
    queue = _capacity(question.queue, "queue")
    as_queue = question.wait_buffer == AS_QUEUE
    pool = queue if as_queue else _capacity(question.wait_buffer, "wait_buffer")
    network = _network(question, queue, pool)
    seeds = _seeds(question)
    _traffic(question, rates[0], seeds[0])  # refused before any work is done
    jobs = [(rate, seed) for rate in rates for seed in seeds]
    runs = [partial(_run, question, network, *job) for job in jobs]
    with counting_runs(len(jobs), f"hot spots on omega:{pes}") as tell:
        found = run_all(runs, tell=tell)
    return HotSpotSimulation(
        network=network,
        points=_points(network, rates, seeds, found),
        asked=rates,
        finished=len(found) == len(jobs) and not any(run.interrupted for run in found),
        provenance=Provenance(question.configuration(), question.seed, verb="simulate_hot_spots"),
    )


def find_critical_queue(pes: int = 512, hot_spots: int = 8, **options: Any) -> CriticalQueues:
    """Find the largest size of queues and wait buffers that shows, for each rate.

    "The largest queue size which produces the first discernible degradation of performance as the
    queue size is decreased from infinity" (Rosenblum & Mayr 1986, section 4.3).

    Parameters
    ----------
    pes, hot_spots
        As for ``simulate_hot_spots``; see ``CriticalQueueQuestion`` for all other options.

    Raises
    ------
    InputError
        If a field or their combination cannot be used.

    Examples
    --------
    >>> found = find_critical_queue(64, 4, rate=0.1, steps=500, replications=6)
    >>> found.sizes
    {0.1: 2}
    """
    question = ask(CriticalQueueQuestion, {"pes": pes, "hot_spots": hot_spots, **options})
    rates = _rates(question)
    network = _network(question, None, None)
    seeds = _seeds(question)
    per_pe = len(_traffic(question, rates[0], seeds[0]).assigned[0])
    what = "places for hot spots of PEs in all replications"
    check_size(len(seeds) * network.pes * per_pe, where="replications", what=what)
    found: list[CriticalQueue] = []
    with counting_runs(len(rates), f"critical queue of {counted(pes, 'PE')}") as tell:
        for rate in rates:
            traffics = [_traffic(question, rate, seed) for seed in seeds]
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


def _rates(question: HotSpotSystem) -> tuple[float, ...]:
    rates = parse_positive(question.rate, "rate", zero=True)
    if rates[-1] > 1:
        raise InputError("rate", f"{rates[-1]:g}", "a probability from 0 to 1")
    if len(rates) * question.replications > MOST_RUNS:
        found = f"{len(rates)} rates * {question.replications}"
        raise InputError("replications", found, f"at most {counted(MOST_RUNS, 'run')}")
    return rates


def _seeds(question: HotSpotSystem) -> range:
    return range(question.seed, question.seed + question.replications)


def _capacity(given: int | str | None, field: str) -> int | None:
    """Return how many packets fit; None: any number. Numbers too small are refused elsewhere."""
    if given is None or given == UNBOUNDED:
        return None
    if isinstance(given, str):
        if not given.isdecimal():
            words = UNBOUNDED if field == "queue" else f"{UNBOUNDED} or {AS_QUEUE}"
            raise InputError(field, f"'{given}'", f"a number of packets, or {words}")
        return whole_number(given, where=field)
    return given


def _network(question: HotSpotSystem, queue: int | None, pool: int | None) -> CombiningNetwork:
    return CombiningNetwork(
        question.pes,
        switch_size=question.switch_size,
        queue=queue,
        wait_buffer=pool,
        combining=question.combining,
        unlimited=question.unlimited,
        order=question.order,
        digits=question.digits,
        service_steps=question.service_steps,
        operation=question.operation,
    )


def _traffic(question: HotSpotSystem, rate: float, seed: int) -> HotSpotTraffic:
    """Return the hot spots of a replication, and who asks for which of them how often."""
    per_pe = min(2, question.hot_spots) if question.per_pe is None else question.per_pe
    places = place_hot_spots(
        question.pes,
        question.hot_spots,
        spacing=question.spacing,
        deviation=question.deviation,
        seed=seed,
    )
    return HotSpotTraffic(
        places,
        assign_hot_spots(question.pes, places, per_pe, question.assign, seed=seed),
        rate,
        wait=question.policy == "wait",
        hot_fraction=question.hot_fraction,
        assign=question.assign,
        new=question.new,
        remove=question.remove,
    )


def _run(
    question: HotSpotQuestion,
    network: CombiningNetwork,
    rate: float,
    seed: int,
    stopped: Callable[[], bool],
) -> CombiningRun:
    traffic = _traffic(question, rate, seed)
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
