"""Rosenblum & Mayr 1986 beside its tables, and Pfister & Norton 1985: how queues grow.

The cases are one hot spot, for which everything is known, critical queue sizes, the spacing of hot
spots, and the tree saturation of a network that does not combine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.progress import counting
from netloom_papers.combining import CombiningEngine, CombiningNetwork, run_combining
from netloom_papers.combining.hot_spots import HotSpotTraffic
from netloom_papers.combining.replications import critical_queue
from netloom_papers.models.combining import single_hot_spot, tree_saturation
from netloom_papers.studies.kinds import kind_of
from netloom_papers.studies.rosenblum_mayr_tables import PAPER, STEPS, System, systems
from netloom_papers.studies.validation import Row, compare, compare_all, published, run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netloom.base.arrays import Floats
    from netloom_papers.combining import CombiningRun
    from netloom_papers.studies.validation import Part

SPACINGS = {"close": (3, 1), "medium": (16, 2), "wide": (61, 2)}
"""Modules from one hot spot to the next, and how many more or less (section 4.4)."""

MIDDLE = slice(3, 6)
"""Levels of the requests behind stages 2 to 4."""


def rows() -> Iterator[Row]:
    """Yield what is said of queues outside the tables."""
    known = published(PAPER)
    yield from closed_form(known["closed form"])
    yield from compare_all(PAPER, known, PARTS)
    yield from saturation(known["Pfister & Norton"])


def closed_form(known: Mapping[str, Any]) -> Iterator[Row]:
    """Yield each mean queue and wait pool of one hot spot beside ``single_hot_spot``."""
    item = "closed form"
    for stages, steps in zip(known["stages"], known["steps"], strict=True):
        system = System(2**stages, 1, 1, 1.0, known["rate"], None)
        runs = _over_seeds(system, known["seeds"], f"one hot spot, K = {stages}", steps=steps)
        exact, size = single_hot_spot(stages, known["rate"]), f"K = {stages}"
        queues, waits = (
            np.array([getattr(run, name) for run in runs]) for name in ("queue_mean", "wait_mean")
        )
        names = _levels(stages)
        expected = dict(zip(names, exact.queue_mean.tolist(), strict=True))
        found = dict(zip(names, queues.T, strict=True))
        for stage in range(stages):
            expected[f"wait pools of stage {stage}"] = float(exact.wait_mean[stage])
            found[f"wait pools of stage {stage}"] = waits[:, stage]
        expected["least steps"] = expected["most steps"] = 2.0 * stages + 2
        found["least steps"] = np.array([run.steps_min for run in runs])
        found["most steps"] = np.array([run.steps_max for run in runs])
        for name, value in expected.items():
            samples = found[name]
            error = 3 * samples.std(ddof=1) / len(samples) ** 0.5
            room = 0.0 if "steps" in name else max(known["within"] * value, error)
            yield _row(known, item, f"{name}, {size}", value, samples, room)


def saturation(known: Mapping[str, Any]) -> Iterator[Row]:
    """Yield what a network carries without combining beside ``tree_saturation``, and with it."""
    item, within = "Pfister & Norton", known["within"]
    cases = list(product(known["pes"], known["hot_fractions"]))
    seeds = range(1, known["seeds"] + 1)
    runs = [
        partial(_carried, pes, fraction, 1.0, "none", known, seed)
        for (pes, fraction), seed in product(cases, seeds)
    ]
    found = run_side_by_side(runs, "tree saturation")
    samples = np.reshape(found, (len(cases), -1))
    names = [f"throughput of {pes} elements, h = {fraction}" for pes, fraction in cases]
    limits = {name: tree_saturation(*case) for name, case in zip(names, cases, strict=True)}
    yield from compare(
        PAPER,
        item,
        {
            "kind": known["kind"],
            "values": limits,
            "within": {name: within * limit for name, limit in limits.items()},
            "outside": known.get("outside", ()),
        },
        dict(zip(names, samples, strict=True)),
    )
    cure = known["cure"]
    for quantity, samples in _cure(known).items():
        value, room = cure["values"][quantity], cure["within"][quantity]
        yield _row(cure, f"{item}, the cure", quantity, value, samples, room)


def spacing(
    known: Mapping[str, Any], digits: str = "least-significant-first"
) -> dict[tuple[str, int | None], list[CombiningRun]]:
    """Return the runs of each spacing and queue size, one per seed."""
    normal = _system("Normal")
    cases = list(product(SPACINGS, known["queues"]))
    seeds = range(1, known["seeds"] + 1)

    def one(case: tuple[str, int | None], seed: int) -> CombiningRun:
        spaced, queue = case
        traffic = normal.traffic(seed, spacing=SPACINGS[spaced])
        return replace(normal, queue=queue).run(traffic, seed, digits=digits)

    asked = [partial(one, case, seed) for case, seed in product(cases, seeds)]
    runs = run_side_by_side(asked, f"spacing, {digits}")
    return {case: runs[at * len(seeds) :][: len(seeds)] for at, case in enumerate(cases)}


def _carried(
    pes: int, fraction: float, rate: float, combining: Any, known: Mapping[str, Any], seed: int
) -> float:
    """Requests completed per element and step."""
    network = CombiningNetwork(
        pes, queue=known["queue"], wait_buffer=known["queue"], combining=combining
    )
    traffic = _one_for_all(pes, fraction, rate)
    return run_combining(network, traffic, known["steps"], seed=seed).throughput


def _one_for_all(pes: int, fraction: float, rate: float) -> HotSpotTraffic:
    hot = pes // 3
    return HotSpotTraffic(np.array([hot]), np.full((pes, 1), hot), rate, hot_fraction=fraction)


def _cure(known: Mapping[str, Any]) -> dict[str, Floats]:
    """The largest of the networks at a rate that it carries only if it combines."""
    found = {}
    rate = known["cure"]["rate"]
    for fraction in known["cure"]["hot_fractions"]:
        carried = {}
        for rule, how in (("waiting", "combining"), ("none", "no combining")):
            carried[how], elements, first = _population(known, fraction, rule)
            where = f"h = {fraction}, {how}"
            found[f"{where}, carried of what is asked for"] = carried[how] / rate
            found[f"{where}, queue of an element"] = elements
            if rule == "none":
                found[f"{where}, queue behind stage 0"] = first
        times = carried["combining"] / carried["no combining"]
        found[f"h = {fraction}, carried with over without combining"] = times
    return found


def _population(known: Mapping[str, Any], fraction: float, rule: Any) -> Floats:
    """What is carried per element and step, and mean queues, by seed: float64[3, seeds]."""
    pes, cure, steps = max(known["pes"]), known["cure"], known["steps"]
    network = CombiningNetwork(
        pes, queue=known["queue"], wait_buffer=known["queue"], combining=rule
    )
    traffic = _one_for_all(pes, fraction, cure["rate"])

    def one(seed: int) -> tuple[float, float, float]:
        engine = CombiningEngine(network, traffic, seed=seed)
        engine.advance(cure["from"])
        began, done = engine.population_sums.copy(), engine.completed
        engine.advance(steps)
        span = (steps - cure["from"]) * pes
        elements, first = ((engine.population_sums - began) / span)[:2].tolist()
        return (engine.completed - done) / span, elements, first

    seeds = range(1, known["seeds"] + 1)
    return np.transpose(run_side_by_side([partial(one, seed) for seed in seeds]))


def _critical(known: Mapping[str, Any]) -> dict[str, Any]:
    normal, seeds = _system("Normal"), range(1, known["seeds"] + 1)
    found = {}
    with counting(len(known["rates"]), "critical queue sizes") as tell:
        for done, rate in enumerate(known["rates"], 1):
            traffics = [replace(normal, rate=rate).traffic(seed) for seed in seeds]
            answer = critical_queue(CombiningNetwork(normal.pes), traffics, STEPS, seeds=seeds)
            if answer.interrupted:
                raise KeyboardInterrupt
            found[f"critical size at a rate of {rate:.2f}"] = answer.size
            tell(done)
    return found


def _spacing(known: Mapping[str, Any]) -> dict[str, Any]:
    """What the text says: no significant effect, but for queues in the middle."""
    runs = spacing(known)
    found: dict[str, Any] = {}
    for queue in known["queues"]:
        steps = {name: _mean_steps(runs[name, queue]) for name in SPACINGS}
        middle = {
            name: np.array([run.queue_mean[MIDDLE].mean() for run in runs[name, queue]])
            for name in SPACINGS
        }
        size = size_of(queue)
        for name in ("close", "medium"):
            found[f"mean steps, {name} over wide, {size}"] = steps[name] / steps["wide"]
        found[f"medium longest in stages 2 to 4, {size} (share of seeds)"] = np.mean(
            middle["medium"] >= np.maximum(middle["close"], middle["wide"])
        )
    return found


def _reproduced_spacing(known: Mapping[str, Any]) -> dict[str, Any]:
    """Medians over seeds, as an independent reproduction has them, with both orders of digits."""
    found: dict[str, Any] = {}
    for digits in ("least", "most"):
        runs = spacing(known, f"{digits}-significant-first")
        for (name, queue), some in runs.items():
            quantity = f"{digits} significant first, {name}, {size_of(queue)}, mean steps"
            if quantity in known["values"]:
                found[quantity] = np.median(_mean_steps(some))
    return found


def _finalisation(known: Mapping[str, Any]) -> dict[str, Any]:
    runs = _over_seeds(_system("Small Queues"), known["seeds"], "finalisation")
    most = max(run.finalisation_steps for run in runs)
    return {"most finalisation steps over requested ones, Small Queues, no-wait": most / STEPS}


def _backward(known: Mapping[str, Any]) -> dict[str, Any]:
    """Queues of one packet, where what is freed in a step counts most."""
    tight = replace(_system("Normal"), queue=1)
    forward, backward = (
        _mean_steps(_over_seeds(tight, known["seeds"], f"{order} simulation", order=order))
        for order in ("forward", "backward")
    )
    return {"mean steps, forward over backward, queues of 1": forward / backward}


def _waiting(known: Mapping[str, Any]) -> dict[str, Any]:
    """Requests of an element that waits for each: one in 2 K + 1 + 1 / G steps."""
    one = System(16, 1, 1, 1.0, 0.15, None)
    steps = known["steps"]
    runs = _over_seeds(one, known["seeds"], "one hot spot, wait", wait=True, steps=steps)
    found = np.array([run.requests_per_pe * STEPS / run.steps for run in runs])
    return {
        "requests per PE, table II, Few Hot Spots, seed 2": found,
        "requests per PE, a cycle of 9 + 1 / G steps": found,
    }


def _over_seeds(
    system: System, seeds: int, what: str, *, wait: bool = False, **options: Any
) -> list[CombiningRun]:
    def one(seed: int) -> CombiningRun:
        return system.run(system.traffic(seed, wait=wait), seed, **options)

    return run_side_by_side([partial(one, seed) for seed in range(1, seeds + 1)], what)


def _row(
    known: Mapping[str, Any],
    item: str,
    quantity: str,
    expected: float,
    samples: Floats,
    room: float,
) -> Row:
    """What is expected of a mean, within so much of it. It may be 0."""
    tolerance = float(room / expected if expected else room)
    kind, number = kind_of(known, quantity)
    mean = float(samples.mean())
    return Row(PAPER, item, quantity, expected, mean, tolerance, kind=kind, number=number)


def _levels(stages: int) -> list[str]:
    """Return what each level of queues is."""
    return [
        "queues of the elements",
        *(f"request queues behind stage {stage}" for stage in range(stages)),
        "queue of the module",
        *(f"reply queues behind stage {stage}" for stage in reversed(range(stages))),
    ]


def _system(name: str, pes: int = 512) -> System:
    return systems(published("rosenblum-mayr-tables"), pes)[name]


def _mean_steps(runs: Sequence[CombiningRun]) -> Floats:
    return np.array([run.steps_mean for run in runs])


def size_of(queue: int | None) -> str:
    """Return what queues of a size are called."""
    return "unbounded" if queue is None else f"queues of {queue}"


PARTS: dict[str, Part] = {
    "table II, one hot spot": _waiting,
    "section 3.1": _backward,
    "section 3.3": _finalisation,
    "section 4.3": _critical,
    "section 4.4": _spacing,
    "section 4.4, independent reproduction": _reproduced_spacing,
}
"""What recomputes each item of the data file, from what the file says of it."""
