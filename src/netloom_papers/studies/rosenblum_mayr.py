"""Rosenblum & Mayr 1986: an Ultracomputer with several hot spots, simulated again.

STAN-CS-86-1119. The simulator follows an independent reproduction of the report. The rules of its
steps were chosen on these same tables, so their agreement is a fit, and no test of the rules.

Tables II, III, V and VI have 392 numbers, each of one run of one seed, of the systems of tables I
and IV. The seed of a run decides where hot spots are and which elements ask for them, and that
decides most of the rest. Each number is compared twice: with all that many seeds give, and with
what placements give that are like the report's own, as far as its tables tell.

Only the first comparison counts: it takes nothing from the tables, and leaves more numbers outside.
The second one is an input, since the tables themselves choose its placements.

Beside the tables are one hot spot, for which everything is known, critical queue sizes, and the
spacing of hot spots. Pfister & Norton 1985 has the tree saturation of a network that does not
combine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count, islice, product
from math import inf
from typing import Any, TypeAlias

import numpy as np

from netloom.base.arrays import Bools, Floats
from netloom_papers import ledger
from netloom_papers.combining import CombiningEngine, CombiningNetwork, hot_spots as inputs
from netloom_papers.combining.network import CombiningRun, run_combining
from netloom_papers.exhibits import Cell, curve, grid, plot
from netloom_papers.questions.critical_queue import find_critical_queue
from netloom_papers.studies.running import run_side_by_side

Runs: TypeAlias = Mapping[str, Sequence[CombiningRun]]

Family: TypeAlias = tuple[int, int, int, float]
"""What, beside the seed, decides where hot spots are and who asks for which."""

PAPER = "rosenblum-mayr"

STEPS = 1000
"""Steps in which requests are made, in most runs of the report."""

NO_WAIT = {16: "table 3", 512: "table 6"}
"""The table of elements that do not wait, by how many there are."""

COLUMNS = tuple(ledger.published(PAPER)["columns"])
"""Of the tables that are compared."""

REQUESTS, MEAN_STEPS = 0, 1

ANCHORS = {16: (REQUESTS, MEAN_STEPS), 512: (MEAN_STEPS,)}
"""Columns that tell of a placement. Mean steps grow with what hot spots have in common of their
paths. With 16 elements also requests, since few more or less of them have a hot spot at all."""

ROUNDING = np.array([0.0005, 0.0005, 0, 0.0005, 0, 0.0005, 0])
"""Half of the last printed digit. Requests of 16 elements are sixteenths, so that it matters."""

LEAST_SPREADS = {
    16: np.array([0.3, 0.003, 0.5, 0.002, 0.5, 0.002, 0.5]),
    512: np.array([0.05, 0.003, 0.5, 0.002, 0.5, 0.002, 0.5]),
}
"""Standard deviations below which none is believed: of a few equal samples it would be 0."""

SPREADS = 2.5
"""Standard deviations that a number may be off, with placements alike."""

BATCH = 64
"""Placements looked at together."""


SPACINGS = ledger.published(PAPER)["spacings"]

MIDDLE = slice(3, 6)
"""Levels of the requests behind stages 2 to 4."""

PARTS = (("queue_mean", True, -1), ("queue_mean", False, 0), ("wait_mean", True, 0))
"""Of each experiment three figures: field of a run, whether towards the modules, and the first
stage: -1 is the processing elements."""


@dataclass(frozen=True)
class System:
    """One line of table I or IV.

    Attributes
    ----------
    pes, hot_spots, rate
        As printed.
    per_pe, assign
        Rounds in which a processing element gets a hot spot, and how likely. Their product is
        printed.
    queue
        Packets that each queue and each wait pool holds. None: any number.
    wait
        Whether a processing element waits for an answer before it asks again.
    apart
        How far hot spots are from each other. At random if empty.
    """

    pes: int
    hot_spots: int
    per_pe: int
    assign: float
    rate: float
    queue: int | None
    wait: bool = False
    apart: Mapping[str, int] = field(default_factory=dict)

    @property
    def family(self) -> Family:
        """What all systems with the same placements share."""
        return self.pes, self.hot_spots, self.per_pe, self.assign

    def traffic(self, placement: int) -> inputs.HotSpotTraffic:
        """Return the requests: hot spots and their assignment by a seed."""
        hot = inputs.place_hot_spots(self.pes, self.hot_spots, seed=placement, **self.apart)
        assigned = inputs.assign_hot_spots(self.pes, hot, self.per_pe, self.assign, seed=placement)
        return inputs.HotSpotTraffic(hot, assigned, self.rate, wait=self.wait)

    def run(
        self, traffic: inputs.HotSpotTraffic, seed: int, *, steps: int = STEPS, **options: Any
    ) -> CombiningRun:
        """Simulate the system. ``options`` are those of its network."""
        network = CombiningNetwork(self.pes, queue=self.queue, wait_buffer=self.queue, **options)
        return run_combining(network, traffic, steps, seed=seed)

    def of_seed(self, seed: int, **options: Any) -> CombiningRun:
        """Simulate the system with hot spots and requests of one seed."""
        return self.run(self.traffic(seed), seed, **options)


def systems(pes: int, *, wait: bool = False) -> dict[str, System]:
    """Return the systems of a size by name, whose elements ``wait`` or do not.

    Examples
    --------
    >>> systems(16)["Normal"].family
    (16, 2, 1, 0.95)
    """
    lines = ledger.published(PAPER)["systems"][f"{pes}"]
    return {name: System(pes, **line, wait=wait) for name, line in lines.items()}


# Tables.


def _draw_systems(table: str, pes: int, made: ledger.Made) -> ledger.Drawn:
    """Draw the systems. Computed is what the generator of requests makes of them."""
    cells = {}
    for name, system in systems(pes).items():
        traffics = [system.traffic(seed) for seed in range(1, made.known["seeds"] + 1)]
        spots = np.mean([len(traffic.hot_spots) for traffic in traffics])
        per_pe = np.mean([traffic.mean_per_pe for traffic in traffics])
        cells[name, "total hot spots"] = Cell(system.hot_spots, float(spots))
        mean = round(system.per_pe * system.assign, 4)
        cells[name, "mean hot spots per PE"] = Cell(mean, float(per_pe))
        cells[name, "max. queue length"] = Cell(inf if system.queue is None else system.queue, None)
        cells[name, "request rate"] = Cell(system.rate, None)
    yield grid(f"Table {table}: characteristics of simulated {pes}-PE systems", cells)


def _all_seeds(pes: int, wait: bool, known: ledger.Known) -> ledger.Found:
    """Return each printed number: it should lie between the least and the most of all seeds."""
    lines, by_name, seeds = known["rows"], systems(pes, wait=wait), range(1, known["seeds"] + 1)
    cases = [(by_name[name], seed) for name, seed in product(lines, seeds)]
    runs = _simulate(cases, known["item"]).reshape(len(lines), len(seeds), len(COLUMNS))
    for (name, printed), samples in zip(lines.items(), runs, strict=True):
        mean, least, most = samples.mean(axis=0), samples.min(axis=0), samples.max(axis=0)
        for number, values in enumerate(printed, 1):
            room = np.where(values < mean, mean - least, most - mean) + ROUNDING
            for at, column in enumerate(COLUMNS):
                found = ledger.Against(values[at], mean[at], room[at])
                yield f"{name}, seed {number}, {column}", found


def _alike(table: str, pes: int, wait: bool, known: ledger.Known) -> ledger.Found:
    """Return each printed number: it should be near those of placements like the report's.

    What makes them alike is taken from the tables themselves: the numbers used so are marked
    "(anchor)", and those in which all placements are equal "(no spread)". Neither says much. None
    is compared in a quick run.
    """
    many = known["placements"]
    if not many:
        return
    lines, first = ledger.published(PAPER)["items"][table]["rows"], anchors(pes)
    by_name = systems(pes, wait=wait)
    both = {family: alike(pes, name, (many, many)) for family, name in first.items()}
    seeds = {family: [*some, *others] for family, (some, others) in both.items()}
    cases = [(by_name[name], seed) for name in lines for seed in seeds[by_name[name].family]]
    samples = _simulate(cases, known["item"]).reshape(len(lines), 2, -1, len(COLUMNS))
    for name, pair in zip(lines, samples, strict=True):
        taken = ANCHORS[pes] if name in first.values() and not wait else ()
        for number, (values, some) in enumerate(zip(lines[name], pair, strict=True), 1):
            mean, spread = some.mean(axis=0), some.std(axis=0, ddof=1)
            room = SPREADS * np.maximum(spread, LEAST_SPREADS[pes])
            for at, column in enumerate(COLUMNS):
                mark = " (anchor)" if at in taken else "" if spread[at] else " (no spread)"
                found = ledger.Against(values[at], mean[at], room[at])
                yield f"{name}, seed {number}, {column}{mark}", found


def _draw_performance(table: str, what: str, made: ledger.Made) -> ledger.Drawn:
    titles = f"Table {table}: performance of {what} policy, 40 seeds", "The same, placements alike"
    for title, rows in zip(titles, ledger.grouped(made.rows, "item").values(), strict=False):
        cells = {}
        for row in rows:
            name, seed, column = row.quantity.partition(" (")[0].split(", ")
            cells[f"{name}, {seed}", column] = row.cell
        yield grid(title, cells)


def anchors(pes: int) -> dict[Family, str]:
    """Return the first row of the no-wait table of those that share placements, by what they share.

    Its columns ``ANCHORS`` tell of a placement.
    """
    by_name, rows = systems(pes), ledger.published(PAPER)["items"][NO_WAIT[pes]]["rows"]
    return {by_name[name].family: name for name in reversed(rows)}  # the first of some stays


@cache
def alike(pes: int, name: str, wanted: tuple[int, int]) -> list[list[int]]:
    """Return the first seeds whose placements are like each of the two of a printed row.

    Mean steps are those of placements, not of one run: averages over some runs, whose requests
    have nothing to do with those that are compared later.

    Parameters
    ----------
    pes, name
        Which row of the no-wait table. One of ``anchors``.
    wanted
        How many seeds for each of the two.
    """
    rule, system = ledger.published(PAPER)["placements alike"], systems(pes)[name]
    printed = np.array(ledger.published(PAPER)["items"][NO_WAIT[pes]]["rows"][name])
    elements = np.round(printed[:, REQUESTS] * (pes / (STEPS * system.rate)))

    def look(seed: int, missing: Bools) -> Bools:
        """Whether a placement is like those that seeds are missing of."""
        traffic, near = system.traffic(seed), missing.copy()
        if pes == 16:  # of many elements any number may have hot spots
            near &= elements == np.count_nonzero(traffic.assigned[:, 0] >= 0)
        for each in rule["looks"]:
            if near.any():
                runs = [
                    system.run(traffic, at, steps=each["steps"]) for at in each["request_seeds"]
                ]
                steps = float(np.mean([run.steps_mean for run in runs]))
                near &= np.abs(steps - printed[:, MEAN_STEPS]) <= each["within"]
        return near

    found: list[list[int]] = [[], []]
    seeds, what = count(1), f"placements like those of {name}"
    while (missing := np.array(list(map(len, found))) < wanted).any():
        batch = list(islice(seeds, BATCH))
        assert batch[-1] <= rule["most_seeds"], f"no {what}"
        looks = run_side_by_side([partial(look, seed, missing) for seed in batch], what)
        for seed, near in zip(batch, looks, strict=True):
            for at in np.flatnonzero(near):
                found[at] += [seed] * (len(found[at]) < wanted[at])
    return found


def _simulate(cases: Sequence[tuple[System, int]], what: str) -> Floats:
    """Return the numbers of the tables for each case: float64[cases, columns].

    A case is a system, and the seed of its placement and requests.
    """

    def one(system: System, seed: int) -> tuple[float, ...]:
        run = system.of_seed(seed)
        steps = run.requests_per_pe, run.steps_mean, run.steps_max
        queues = run.mean_queue, float(run.queue_max.max())
        return *steps, *queues, run.mean_wait, float(run.wait_max.max())

    return np.array(run_side_by_side([partial(one, *case) for case in cases], what))


# Queues by stage.


def _draw_stages(number: int, made: ledger.Made) -> ledger.Drawn:
    """Draw one of the figures 1 to 15, by stage, a line per system.

    Each is of one run, with placements like that of the report's first seed as far as its tables
    tell. But spaced hot spots are averaged over seeds, which differ much.
    """
    (of,) = made.known.get("rows of", [""])
    runs = _runs(of)
    part, towards, start = PARTS[(number - 1) % len(PARTS)]
    stages = len(next(iter(runs.values()))[0].wait_mean)
    names = ["PEs", *map(str, range(stages)), "MMs"][start + 1 :]
    curves = []
    for series, some in runs.items():
        lengths = np.mean([getattr(run, part) for run in some], axis=0)
        if part == "queue_mean":  # the elements and towards the modules, then these and back
            half = stages + 1
            lengths = lengths[:half] if towards else lengths[half:][::-1]
        length = min(len(names), len(lengths))
        curves.append(curve(series, names[:length], lengths[:length]))
    shows = made.known["shows"]
    title = f"Figure {number}: {shows[0].lower()}{shows[1:]}"
    yield plot(title, ("stage", "mean length, packets"), curves)


@cache
def _runs(of: str) -> Runs:
    """Return the runs of an experiment, by series: one of each system, or all seeds of spacings.

    ``of`` is the item that its figures belong to, "" for the first one. Queue sizes are, for a rate
    of 0.05, those that the report's text names, and for others as many around the critical size.
    Unbounded queues, which the report does not plot, are for comparison.
    """
    known, by_name = ledger.published(PAPER)["items"].get(of, {}), systems(512)
    if of == "section 4.4":
        return spacing(tuple(known["queues"]), known["seeds"])
    first = anchors(512)
    if known:
        normal = replace(by_name["Normal"], rate=known["rate"])
        by_name = {size_of(size): replace(normal, queue=size) for size in known["queues"]}
    asked = []
    for system in by_name.values():
        ((placement,), _) = alike(512, first[system.family], (1, 0))
        asked.append(partial(system.run, system.traffic(placement), 1))
    found = run_side_by_side(asked, "queues by stage")
    return {name: [run] for name, run in zip(by_name, found, strict=True)}


def size_of(queue: int | None) -> str:
    """Return what queues of a size are called."""
    return "unbounded" if queue is None else f"queues of {queue}"


def _critical(known: ledger.Known) -> ledger.Found:
    rate, normal = known["rate"], systems(512)["Normal"]
    pes, hot_spots, per_pe, assign = normal.family
    asked: dict[str, Any] = {"rate": rate, "steps": STEPS, "replications": known["seeds"]}
    answer = find_critical_queue(
        pes=pes, hot_spots=hot_spots, per_pe=per_pe, assign=assign, **asked
    )
    if answer.interrupted:
        raise KeyboardInterrupt
    return ledger.in_order(known, [answer.sizes[rate]])


@cache
def spacing(
    queues: tuple[int | None, ...], seeds: int, digits: str = "least-significant-first"
) -> dict[str, list[CombiningRun]]:
    """Return the runs of each spacing and queue size, one per seed."""
    normal, cases = systems(512)["Normal"], list(product(SPACINGS, queues))
    asked = [
        partial(replace(normal, queue=queue, apart=SPACINGS[name]).of_seed, seed, digits=digits)
        for (name, queue), seed in product(cases, range(1, seeds + 1))
    ]
    runs = run_side_by_side(asked, f"spacing, {digits}")
    names = (f"{name}, {size_of(queue)}" for name, queue in cases)
    return {name: runs[at * seeds :][:seeds] for at, name in enumerate(names)}


def _spacing(known: ledger.Known) -> ledger.Found:
    """What the text says: no significant effect, but for queues in the middle."""
    runs, found = spacing(tuple(known["queues"]), known["seeds"]), list[Any]()
    for queue in known["queues"]:
        close, medium, wide = (runs[f"{name}, {size_of(queue)}"] for name in SPACINGS)
        found += [_mean_steps(some) / _mean_steps(wide) for some in (close, medium)]
        near, middle, far = (
            [run.queue_mean[MIDDLE].mean() for run in some] for some in (close, medium, wide)
        )
        found.append(np.mean(middle >= np.maximum(near, far)))
    return ledger.in_order(known, found)


def _reproduced_spacing(known: ledger.Known) -> ledger.Found:
    """Medians over seeds, as an independent reproduction has them, with both orders of digits."""
    for digits in ("least", "most"):
        runs = spacing(tuple(known["queues"]), known["seeds"], f"{digits}-significant-first")
        for name, some in runs.items():
            quantity = f"{digits} significant first, {name}, mean steps"
            if quantity in known["values"]:
                yield quantity, np.median(_mean_steps(some))


def _mean_steps(runs: Sequence[CombiningRun]) -> Floats:
    return np.array([run.steps_mean for run in runs])


def _finalisation(known: ledger.Known) -> ledger.Found:
    runs = _over_seeds(systems(512)["Small Queues"], known["seeds"], "finalisation")
    most = max(run.finalisation_steps for run in runs)
    return ledger.in_order(known, [most / STEPS])


def _backward(known: ledger.Known) -> ledger.Found:
    """Queues of one packet, where what is freed in a step counts most."""
    tight = replace(systems(512)["Normal"], queue=1)
    forward, backward = (
        _mean_steps(_over_seeds(tight, known["seeds"], f"{order} simulation", order=order))
        for order in ("forward", "backward")
    )
    return ledger.in_order(known, [forward / backward])


def _waiting(known: ledger.Known) -> ledger.Found:
    """Requests of an element that waits for each: one in 2 K + 1 + 1 / G steps."""
    one = System(16, 1, 1, 1.0, 0.15, None, wait=True)
    runs = _over_seeds(one, known["seeds"], "one hot spot, wait", steps=known["steps"])
    found = np.array([run.requests_per_pe * STEPS / run.steps for run in runs])
    return ledger.in_order(known, [found, found])  # beside the table, and beside the cycle


def _over_seeds(system: System, seeds: int, what: str, **options: Any) -> list[CombiningRun]:
    runs = [partial(system.of_seed, seed, **options) for seed in range(1, seeds + 1)]
    return run_side_by_side(runs, what)


# Closed forms.


def _closed_form(known: ledger.Known) -> ledger.Found:
    """Return each mean queue and wait pool of one hot spot beside ``single_hot_spot``."""
    for stages, steps in zip(known["stages"], known["steps"], strict=True):
        system = System(2**stages, 1, 1, 1.0, known["rate"], None)
        runs = _over_seeds(system, known["seeds"], f"one hot spot, K = {stages}", steps=steps)
        exact = inputs.single_hot_spot(stages, known["rate"])
        levels = [
            "queues of the elements",
            *(f"request queues behind stage {stage}" for stage in range(stages)),
            "queue of the module",
            *(f"reply queues behind stage {stage}" for stage in reversed(range(stages))),
        ]
        pools = [f"wait pools of stage {stage}" for stage in range(stages)]
        for part, names in (("queue_mean", levels), ("wait_mean", pools)):
            found = np.transpose([getattr(run, part) for run in runs])
            for name, value, samples in zip(names, getattr(exact, part), found, strict=True):
                error = 3 * samples.std(ddof=1) / len(samples) ** 0.5
                room = max(known["within"] * value, error)
                yield f"{name}, K = {stages}", ledger.Against(value, samples.mean(), room)
        for name, part in (("least", "steps_min"), ("most", "steps_max")):
            spent = np.mean([getattr(run, part) for run in runs])
            yield f"{name} steps, K = {stages}", ledger.Against(2 * stages + 2, spent, 0.0)


def _saturation(known: ledger.Known) -> ledger.Found:
    """Return what a network carries without combining beside ``tree_saturation``."""
    cases = list(product(known["pes"], known["hot_fractions"]))
    runs = []
    for (pes, fraction), seed in product(cases, range(1, known["seeds"] + 1)):
        network, traffic = _one_for_all(known, pes, fraction, 1.0, "none")
        runs.append(partial(run_combining, network, traffic, known["steps"], seed=seed))
    ended = run_side_by_side(runs, "tree saturation")
    found = np.reshape([run.throughput for run in ended], (len(cases), -1))
    for (pes, fraction), samples in zip(cases, found, strict=True):
        name = f"throughput of {pes} elements, h = {fraction}"
        yield name, ledger.Against(inputs.tree_saturation(pes, fraction), samples)


def _one_for_all(
    known: ledger.Known, pes: int, fraction: float, rate: float, rule: Any
) -> tuple[CombiningNetwork, inputs.HotSpotTraffic]:
    """Return a network that combines by a rule, and traffic with one hot spot for all."""
    hot, size = pes // 3, known["queue"]
    network = CombiningNetwork(pes, queue=size, wait_buffer=size, combining=rule)
    everyone = np.full((pes, 1), hot)
    return network, inputs.HotSpotTraffic(np.array([hot]), everyone, rate, hot_fraction=fraction)


def _cure(known: ledger.Known) -> ledger.Found:
    """The largest of the networks at a rate that it carries only if it combines."""
    found = []
    for fraction in known["hot_fractions"]:
        combining, none = (_population(known, fraction, rule) for rule in ("waiting", "none"))
        asked = known["rate"]
        found += [(combining[0] / asked).mean(), combining[1].mean()]
        found += [(none[0] / asked).mean(), none[1].mean(), none[2].mean()]
        found.append((combining[0] / none[0]).mean())
    return ledger.in_order(known, found)


def _population(known: ledger.Known, fraction: float, rule: str) -> Floats:
    """What is carried per element and step, and mean queues, by seed: float64[3, seeds]."""
    pes, start, steps = known["pes"], known["from"], known["steps"]
    network, traffic = _one_for_all(known, pes, fraction, known["rate"], rule)

    def one(seed: int) -> tuple[float, float, float]:
        engine = CombiningEngine(network, traffic, seed=seed)
        engine.advance(start)
        began, done = engine.population_sums.copy(), engine.completed
        engine.advance(steps)
        span = (steps - start) * pes
        elements, first = ((engine.population_sums - began) / span)[:2].tolist()
        return (engine.completed - done) / span, elements, first

    seeds = range(1, known["seeds"] + 1)
    return np.transpose(run_side_by_side([partial(one, seed) for seed in seeds], "full queues"))


def _of_table(number: int, roman: str, pes: int, policy: str) -> tuple[ledger.Item, ledger.Item]:
    """Return a table's numbers compared with all seeds, and with placements alike."""
    name, wait = f"table {number}", policy == "wait"
    draw = partial(_draw_performance, roman, f"{pes}-PE systems, {policy}")
    return (
        ledger.Item(name, partial(_all_seeds, pes, wait), draw),
        ledger.Item(f"{name}, placements alike", partial(_alike, name, pes, wait)),
    )


ITEMS = (
    ledger.Item("table 1", draw=partial(_draw_systems, "I", 16)),
    *_of_table(2, "II", 16, "wait"),
    ledger.Item("table II, one hot spot", _waiting),
    *_of_table(3, "III", 16, "no-wait"),
    ledger.Item("table 4", draw=partial(_draw_systems, "IV", 512)),
    *_of_table(5, "V", 512, "wait"),
    *_of_table(6, "VI", 512, "no-wait"),
    ledger.Item("section 3.1", _backward),
    ledger.Item("section 3.3", _finalisation),
    *(ledger.Item(f"section 4.3, rate {rate}", _critical) for rate in ("0.05", "0.10", "0.15")),
    ledger.Item("section 4.4", _spacing),
    ledger.Item("section 4.4, independent reproduction", _reproduced_spacing),
    *(ledger.Item(f"figure {at}", draw=partial(_draw_stages, at)) for at in range(1, 16)),
    ledger.Item("closed form", _closed_form),
    ledger.Item("Pfister & Norton", _saturation),
    ledger.Item("Pfister & Norton, the cure", _cure),
)
"""In the report's order: tables first, then what its text and figures have by section."""
