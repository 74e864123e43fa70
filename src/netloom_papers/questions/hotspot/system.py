"""A network that combines, its hot spots, and who asks for them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import counted
from netloom.questions.base import Numbers, Question, option
from netloom.questions.fields import Seeded
from netloom.questions.numbers import parse_positive
from netloom_papers.combining import CombiningNetwork
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots
from netloom_papers.combining.network import MOST_STEPS

MOST_RUNS = 100_000
"""Most rates times replications of one question."""


class Network(Question, panel="Network"):
    """An Omega network between processing elements and memory modules."""

    pes: int = option(
        "Processing elements (PEs) and memory modules, each: a power of the switch "
        "size.",
        default=512, kw_only=False, ge=1, le=MAX_ELEMENTS,
    )  # fmt: skip
    switch_size: int = option("Inputs of a switch: 2, 4 or 8.", default=2, ge=1, le=64)
    digits: Literal["most-significant-first", "least-significant-first"] = option(
        "Order of a module number's digits by stage: most-significant-first or "
        "least-significant-first.",
        default="most-significant-first",
    )


class HotSpots(Question, panel="Hot spots, and who asks for them"):
    """Words that many processing elements ask for."""

    hot_spots: int = option(
        "Number of modules with one shared word each.",
        default=8,
        flags=("--hotspots", "--hot-spots"),
        kw_only=False,
        ge=0,
        le=MAX_ELEMENTS,
    )
    per_pe: int | None = option(
        "Hot spots that each PE draws.", default=None, ge=1, le=MAX_ELEMENTS,
        shown_default="2, or as many as there are",
    )  # fmt: skip
    assign: float = option(
        "Probability that a PE gets a hot spot it draws.", default=0.95, ge=0, le=1
    )
    rate: Numbers = option(
        "Probability that a PE makes a request in a step: 0.15, 0.05,0.1 or START:STOP:STEP.",
        default=0.15,
    )
    policy: Literal["no-wait", "wait"] = option(
        "Policy of a PE: wait (for its last reply from a hot spot) or no-wait.",
        default="no-wait",
    )
    spacing: int | None = option(
        "Distance between hot spots.",
        unit="modules",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="at random",
    )
    deviation: int = option(
        "Largest deviation from the spacing, either way.",
        unit="modules",
        default=0,
        ge=0,
        le=MAX_ELEMENTS,
    )
    hot_fraction: float = option(
        "Share of the requests that go to hot spots.",
        default=1.0, ge=0, le=1,
    )  # fmt: skip
    new: float = option("Probability of a new hot spot in a step.", default=0.0, ge=0, le=1)
    remove: float = option(
        "Probability that a hot spot disappears in a step.", default=0.0, ge=0, le=1
    )


class Rules(Question, panel="Rules of its switches and modules"):
    """How switches combine requests, and how modules answer them."""

    combining: Literal["waiting", "slot", "entering", "none"] = option(
        "Requests that combine: waiting (also with one in the output queue), slot (the "
        "same, if the queue has room), entering (two that enter together) or none.",
        default="waiting",
    )
    unlimited: bool = option("Let requests combine any number of times per switch.", default=False)
    order: Literal["forward", "backward"] = option(
        "Order of stages in a step: forward (along a request's path) or backward.",
        default="forward",
    )
    service_steps: int = option("Steps of a module per request.", default=1, ge=1, le=MAX_ELEMENTS)
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = option(
        "Operation, fetch-and-...: add, or, and, xor, max, min, swap or load.", default="add"
    )


class Runs(Question, panel="Runs"):
    """How long, and how often."""

    steps: int = option(
        "Number of steps in which requests are made.",
        default=1000, ge=1, le=MOST_STEPS,
    )  # fmt: skip
    replications: int = option(
        "Number of runs, each with its seed and hot spots.", default=1, ge=1, le=10_000
    )


class HotSpotSystem(Seeded, Runs, Rules, HotSpots, Network):
    """A network whose switches combine, its hot spots, and who asks for them."""


def rates_of(question: HotSpotSystem) -> tuple[float, ...]:
    """Return the rates of a question, rising."""
    rates = parse_positive(question.rate, "rate", zero=True)
    if rates[-1] > 1:
        raise InputError("rate", f"{rates[-1]:g}", "a probability from 0 to 1")
    if len(rates) * question.replications > MOST_RUNS:
        found = f"{len(rates)} rates * {question.replications}"
        raise InputError("replications", found, f"at most {counted(MOST_RUNS, 'run')}")
    return rates


class PreparedSystem(NamedTuple):
    """The network of a question, and the rates at which it is asked."""

    network: CombiningNetwork
    rates: tuple[float, ...]


def seeds_of(question: HotSpotSystem) -> range:
    """Return the seeds of its replications."""
    return range(question.seed, question.seed + question.replications)


def network_of(question: HotSpotSystem, queue: int | None, pool: int | None) -> CombiningNetwork:
    """Return its network, with queues and wait buffers of these sizes."""
    own = (*Rules.model_fields, "switch_size", "digits")
    fields = {name: getattr(question, name) for name in own}
    return CombiningNetwork(question.pes, queue=queue, wait_buffer=pool, **fields)


def traffic_of(question: HotSpotSystem, rate: float, seed: int) -> HotSpotTraffic:
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
