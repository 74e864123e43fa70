"""Rosenblum & Mayr 1986: an Ultracomputer with several hot spots, simulated again.

STAN-CS-86-1119. The simulator follows an independent reproduction of the report. The rules of its
steps were chosen on these same tables, so their agreement is a fit, and no test of the rules.

Here are the systems of tables I and IV, and tables II, III, V and VI: 392 numbers, each of one run
of one seed. The seed of a run decides where hot spots are and which elements ask for them, and that
decides most of the rest. Each number is compared twice: with all that many seeds give, and with
what placements give that are like the report's own, as far as its tables tell.

Only the first comparison counts: it takes nothing from the tables, and leaves more numbers outside.
The second one is an input, since the tables themselves choose its placements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count, islice, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom_papers.combining import CombiningNetwork, run_combining
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots
from netloom_papers.studies.validation import Row, published, run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netloom.base.arrays import Floats
    from netloom_papers.combining import CombiningRun

    Case: TypeAlias = "tuple[System, int, bool]"
    """A system, the seed of its placement and requests, and whether elements wait."""

PAPER = "rosenblum-mayr"

STEPS = 1000
"""Steps in which requests are made, in most runs of the report."""

WAIT, NO_WAIT = ({16: "table II", 512: "table V"}, {16: "table III", 512: "table VI"})

COLUMNS = (
    "requests per PE",
    "mean steps",
    "max. steps",
    "mean queue",
    "max. queue",
    "mean wait",
    "max. wait",
)

REQUESTS, MEAN_STEPS = 0, 1

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
    """

    pes: int
    hot_spots: int
    per_pe: int
    assign: float
    rate: float
    queue: int | None

    @property
    def family(self) -> tuple[int, int, int, float]:
        """What, beside the seed, decides where hot spots are and who asks for which."""
        return self.pes, self.hot_spots, self.per_pe, self.assign

    def traffic(
        self, placement: int, *, wait: bool = False, spacing: tuple[int, int] | None = None
    ) -> HotSpotTraffic:
        """Return the requests: hot spots and their assignment by a seed, at random or spaced."""
        apart = {} if spacing is None else {"spacing": spacing[0], "deviation": spacing[1]}
        hot = place_hot_spots(self.pes, self.hot_spots, seed=placement, **apart)
        assigned = assign_hot_spots(self.pes, hot, self.per_pe, self.assign, seed=placement)
        return HotSpotTraffic(hot, assigned, self.rate, wait=wait)

    def run(
        self, traffic: HotSpotTraffic, seed: int, *, steps: int = STEPS, **options: Any
    ) -> CombiningRun:
        """Simulate the system. ``options`` are those of its network."""
        network = CombiningNetwork(self.pes, queue=self.queue, wait_buffer=self.queue, **options)
        return run_combining(network, traffic, steps, seed=seed)


def systems(known: Mapping[str, Any], pes: int) -> dict[str, System]:
    """Return the systems of a size by name, from the data file.

    Examples
    --------
    >>> normal = {"hot_spots": 2, "per_pe": 1, "assign": 0.95, "rate": 0.15, "queue": 8}
    >>> systems({"systems": {"16": {"Normal": normal}}}, 16)["Normal"].family
    (16, 2, 1, 0.95)
    """
    return {name: System(pes, **line) for name, line in known["systems"][f"{pes}"].items()}


def rows() -> Iterator[Row]:
    """Yield all numbers of the tables, twice."""
    tables = published("rosenblum-mayr-tables")
    yield from all_seeds(tables)
    yield from placements_alike(tables)


def all_seeds(known: Mapping[str, Any], tables: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield a row per printed number: it should lie between the least and the most of all seeds.

    Parameters
    ----------
    known
        The data file's content. Another one has other seeds, or fewer rows of a table.
    tables
        Those wanted. None for all.
    """
    seeds = range(1, known["seeds"] + 1)
    for (pes, wait), table in _tables(tables):
        lines, by_name = known[table]["rows"], systems(known, pes)
        cases = [(by_name[name], seed, wait) for name, seed in product(lines, seeds)]
        found = _simulate(cases, table).reshape(len(lines), len(seeds), len(COLUMNS))
        for (name, printed), samples in zip(lines.items(), found, strict=True):
            mean, least, most = samples.mean(axis=0), samples.min(axis=0), samples.max(axis=0)
            for number, values in enumerate(printed, 1):
                room = np.where(values < mean, mean - least, most - mean) + ROUNDING
                yield from _rows(
                    known, table, f"{name}, seed {number}", values, mean, room, kind="printed"
                )


def placements_alike(
    known: Mapping[str, Any], tables: Sequence[str] | None = None
) -> Iterator[Row]:
    """Yield a row per printed number: it should be near those of placements like the report's.

    What makes them alike is taken from the tables themselves: the numbers used so are marked
    "(anchor)", and those in which all placements are equal "(no spread)". Neither says much.

    Parameters
    ----------
    known, tables
        As for ``all_seeds``. ``known`` has the no-wait tables in any case.
    """
    found: dict[int, dict[tuple[Any, ...], list[list[int]]]] = {}
    for (pes, wait), table in _tables(tables):
        lines, by_name = known[table]["rows"], systems(known, pes)
        if pes not in found:
            found[pes] = {
                by_name[name].family: alike(known, pes, name) for name in anchors(known, pes)
            }
        seeds = [found[pes][by_name[name].family] for name in lines]
        cases = [
            (by_name[name], seed, wait)
            for name, both in zip(lines, seeds, strict=True)
            for seed in (*both[0], *both[1])
        ]
        samples = _simulate(cases, f"{table}, placements alike")
        samples = samples.reshape(len(lines), 2, -1, len(COLUMNS))
        for name, both in zip(lines, samples, strict=True):
            used = anchors(known, pes).get(name, ()) if not wait else ()
            for number, (values, some) in enumerate(zip(lines[name], both, strict=True), 1):
                spread = some.std(axis=0, ddof=1)
                marks = [
                    " (anchor)" if at in used else "" if spread[at] else " (no spread)"
                    for at in range(len(COLUMNS))
                ]
                yield from _rows(
                    known, f"{table}, placements alike", f"{name}, seed {number}", values,
                    some.mean(axis=0), SPREADS * np.maximum(spread, LEAST_SPREADS[pes]), marks,
                    kind="input",
                )  # fmt: skip


def anchors(known: Mapping[str, Any], pes: int) -> dict[str, tuple[int, ...]]:
    """Return which numbers tell of a placement: columns by row of the no-wait table.

    The first row of those that share placements: mean steps, which grow with what hot spots have
    in common of their paths. With 16 elements also requests, since few more or less of them have
    a hot spot at all.
    """
    by_name = systems(known, pes)
    first: dict[tuple[Any, ...], str] = {}
    for name in known[NO_WAIT[pes]]["rows"]:
        first.setdefault(by_name[name].family, name)
    columns = (REQUESTS, MEAN_STEPS) if pes == 16 else (MEAN_STEPS,)
    return dict.fromkeys(first.values(), columns)


def alike(
    known: Mapping[str, Any], pes: int, name: str, wanted: tuple[int, int] | None = None
) -> list[list[int]]:
    """Return the first seeds whose placements are like each of the two of a printed row.

    Mean steps are those of placements, not of one run: averages over some runs, whose requests
    have nothing to do with those that are compared later.

    Parameters
    ----------
    known
        The data file's content. Its "placements alike" says what is alike.
    pes, name
        Which row of the no-wait table. One of ``anchors``.
    wanted
        How many seeds for each of the two. None for as many as the data file says.
    """
    rule, system = known["placements alike"], systems(known, pes)[name]
    many = [rule["placements"]] * 2 if wanted is None else wanted
    lines = [np.array(values) for values in known[NO_WAIT[pes]]["rows"][name]]
    per_request = pes / (STEPS * system.rate)
    # elements that have a hot spot; any number of them if there are many
    elements = [round(line[REQUESTS] * per_request) if pes == 16 else None for line in lines]
    likes = [(line[MEAN_STEPS], some) for line, some in zip(lines, elements, strict=True)]
    found: list[list[int]] = [[] for _ in likes]
    seeds = count(1)
    while open_ := [at for at, some in enumerate(found) if len(some) < many[at]]:
        batch = list(islice(seeds, BATCH))
        assert batch[-1] <= rule["most_seeds"], f"no placements like those of {name}"
        looks = [partial(_look, system, seed, [likes[at] for at in open_], rule) for seed in batch]
        for seed, alike_to in zip(batch, run_side_by_side(looks), strict=True):
            for at, is_alike in zip(open_, alike_to, strict=True):
                if is_alike and len(found[at]) < many[at]:
                    found[at].append(seed)
    return found


def _look(
    system: System,
    seed: int,
    likes: Sequence[tuple[float, int | None]],
    rule: Mapping[str, Any],
) -> list[bool]:
    """Whether a placement is like each of several: mean steps, and elements that have hot spots."""
    traffic = system.traffic(seed)
    having = int(np.count_nonzero(traffic.assigned[:, 0] >= 0))
    alike_to = np.array([elements in (None, having) for _, elements in likes])
    steps = np.array([steps for steps, _ in likes])

    def distance(request_seeds: Sequence[int], length: int) -> Floats:
        runs = [system.run(traffic, each, steps=length).steps_mean for each in request_seeds]
        return np.abs(float(np.mean(runs)) - steps)

    first = rule["first_look"]
    if alike_to.any():
        alike_to &= distance([first["seed"]], first["steps"]) <= first["within"]
    if alike_to.any():
        alike_to &= distance(rule["request_seeds"], STEPS) <= rule["within"]
    return [bool(each) for each in alike_to]


def _tables(wanted: Sequence[str] | None) -> list[tuple[tuple[int, bool], str]]:
    """Return size, whether elements wait, and name, in the order of the report."""
    tables = [
        ((pes, wait), names[pes])
        for pes, (wait, names) in product((16, 512), ((True, WAIT), (False, NO_WAIT)))
    ]
    return [each for each in tables if wanted is None or each[1] in wanted]


def _simulate(cases: Sequence[Case], what: str) -> Floats:
    """Return the numbers of the tables for each case: float64[cases, columns]."""

    def one(case: Case) -> tuple[float, ...]:
        system, seed, wait = case
        return cells(system.run(system.traffic(seed, wait=wait), seed))

    return np.array(run_side_by_side([partial(one, case) for case in cases], what))


def cells(run: CombiningRun) -> tuple[float, ...]:
    """Return the numbers of a run in the order of the tables, ``COLUMNS``."""
    return (
        run.requests_per_pe,
        run.steps_mean,
        run.steps_max,
        run.mean_queue,
        float(run.queue_max.max()),
        run.mean_wait,
        float(run.wait_max.max()),
    )


def _rows(
    known: Mapping[str, Any],
    item: str,
    what: str,
    printed: Sequence[float],
    computed: Floats,
    room: Floats,
    marks: Sequence[str] = ("",) * len(COLUMNS),
    *,
    kind: str,
) -> Iterator[Row]:
    outside = {
        quantity: part for part in known["outside"].get(item, ()) for quantity in part["rows"]
    }
    for column, value, mean, tolerance, mark in zip(
        COLUMNS, printed, computed.tolist(), (room / np.abs(printed)).tolist(), marks, strict=True
    ):
        quantity = f"{what}, {column}"
        part = outside.get(quantity, {})
        yield Row(
            PAPER, item, quantity + mark, value, mean, tolerance, part.get("reason", ""),
            cause=part.get("cause", ""), kind=kind, number=f"{item}: {quantity}",
        )  # fmt: skip
