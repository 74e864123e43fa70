"""How often the cause of a low bus bandwidth is named: from one curve, and with halves too.

Each draw has one defect of a random size at a random place, or none, and noise of 3 %. The measured
times are made on another path than the one that explains them. Rings run message by message on the
flow engine, on a network drawn link by link that has the defect: a slower link, a ring less, two
rings on one uplink. The explanation has closed forms and sees times alone.

A draw is right if the first class that is named has the cause. As a class may have several causes,
their mean number stands beside, and how often the cause that is named first is the right one, or
has the same curve whatever its factor: a card and an uplink at half rate, a card and a rail less.

Usage: python benchmarks/defects.py [--draws 1000] [--leaves 2]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from netloom.questions.collective_prepared import CollectiveQuestion, prepare
from netloom.questions.defects import DEFECTS, Defect, Suspects, run_of
from netloom.routing import Paths
from netloom.simulation.flow import FlowLaw, FlowNetwork, run_flows
from netloom.simulation.flow.network import GivenPaths
from netloom.topology.families import linked
from netloom.workload.programs.messages import cut, messages

COMPUTERS, GPUS, HALF = 8, 8, 4
SIZES = 4.0 ** np.arange(5, 17)
NOISE = 0.03
SHARED = FlowLaw(injection="shared")
RUNS = ((0, COMPUTERS), (0, HALF), (HALF, HALF))
"""First computer and number of computers: of all, and of each half."""

FACTORS = {"one computer": (1.3, 1.7, 2.2, 3.0), "no GPUDirect": (1.5, 2.0, 3.0),
           "hops": (1.6, 2.5, 5.0), "each collective": (40.0, 100.0, 300.0)}  # fmt: skip
"""Sizes of those defects that have several."""


UPLINKS = ("two flows", "half of a leaf")
ONE_CURVE = (("one card at half", *UPLINKS), ("one card missing", "one card of each computer (a"))
"""Defects that have one curve. Runs of halves part all but those of uplinks."""


class Case(NamedTuple):
    """A defect, its factor, and the computer or leaf that has it."""

    defect: Defect
    factor: float
    at: int

    def has(self, name: str) -> bool:
        """Whether the defect is called so."""
        return self.defect.name.startswith(name)

    def strikes(self, first: int, count: int) -> bool:
        """Whether a run of these computers has it."""
        return self.defect.place != "computer" or first <= self.at < first + count


NONE = Case(Defect("none", "all"), 1.0, 0)
KNOWN = [*DEFECTS,
         *(Defect(f"nothing but rings {protocol} at all sizes", "all", only=protocol)
           for protocol in ("LL", "LL128", "Simple"))]  # fmt: skip


class Cluster:
    """Computers on leaves, each leaf with an uplink a card to as many spines."""

    def __init__(self, library, leaves: int) -> None:
        self.per_leaf, gpus = COMPUTERS // leaves, np.arange(COMPUTERS * GPUS)
        self.rows = [row for row in library.protocols if row.algorithm == "ring"]
        self.start = library.start
        self.inner, self.leaf = len(gpus), len(gpus) + COMPUTERS
        self.spine = self.leaf + leaves
        up, spine = np.divmod(np.arange(leaves * GPUS), GPUS)
        one = [gpus, gpus, self.leaf + up]
        other = [self.inner + gpus // GPUS, self.leaf_of(gpus), self.spine + spine]
        self.net = linked("cluster", self.spine + GPUS, np.concatenate(one), np.concatenate(other))
        ends = zip(self.net.channel_source.tolist(), self.net.channel_target.tolist(), strict=True)
        self.channel = {pair: at for at, pair in enumerate(ends)}
        self.cards, self.own = ([self.both(g, to[g]) for g in gpus] for to in (other[1], other[0]))
        capacity = library.links.capacity
        self.rate = np.full(self.net.num_channels, capacity.min())
        self.rate[np.ravel(self.own)] = capacity.max()

    def leaf_of(self, gpu):
        """Return the leaf of a GPU."""
        return self.leaf + gpu // GPUS // self.per_leaf

    def both(self, one: int, other: int) -> list[int]:
        """Return both channels of a link."""
        return [self.channel[one, other], self.channel[other, one]]

    def path(self, ring: int, one: int, other: int, case: Case) -> list[int]:
        """Return the channels from a GPU of a ring to the next."""
        up, down = self.leaf_of(one), self.leaf_of(other)
        if one // GPUS == other // GPUS:
            stops = [one, self.inner + one // GPUS, other]
        else:  # out by the card that it came in by, on whose rail it is
            inside = [self.inner + one // GPUS, one // GPUS * GPUS + ring]
            if case.has("two flows") and up == self.leaf and ring == 1:
                ring = 0
            if case.has("half of a leaf") and self.leaf in (up, down):
                ring %= GPUS // 2
            over = [] if up == down else [self.spine + ring, down]
            stops = [one, *inside, up, *over, other]
        return [self.channel[pair] for pair in pairwise(stops)]

    def seconds(self, first: int, count: int, case: Case) -> np.ndarray:
        """Return the time at each size of a ring a card, by the quickest protocol."""
        computers = [range(c * GPUS, (c + 1) * GPUS) for c in range(first, first + count)]
        rate, rings, rows = self.rate.copy(), [*range(GPUS)], self.rows
        mine = range(case.at * GPUS, (case.at + 1) * GPUS)
        if case.has("one card at half"):
            rate[self.cards[mine[1]]] /= 2
        elif case.has("inner links"):
            rate[[self.own[g] for g in mine]] /= 2
        elif case.has("one computer"):
            rate[[self.own[g] + self.cards[g] for g in mine]] /= case.factor
        elif case.has("no GPUDirect"):
            rate[self.cards] /= case.factor
        elif case.has("one card missing") or case.has("one card of each computer (a"):
            rings = rings[1:]
        elif case.has("one card of each computer in"):
            rings = rings[:1]
        elif case.has("nothing but"):
            rows = [row for row in rows if row.name == case.defect.only]
        source, target, routes = [], [], []
        for ring in rings:
            order = [of[(ring + step) % GPUS] for of in computers for step in range(GPUS)]
            onward = order[1:] + order[:1]
            source, target = source + order, target + onward
            pairs = zip(order, onward, strict=True)
            routes += [self.path(ring, *pair, case) for pair in pairs]
        ranks, sends = count * GPUS, np.arange(len(routes))
        steps = 2 * (ranks - 1)
        ring, place = np.divmod(sends, ranks)  # a step waits for the last, and for what it brought
        before = np.stack([sends, ring * ranks + (place - 1) % ranks], axis=1)
        waits = np.arange(steps - 1)[:, None, None] * len(sends) + before
        lengths = np.repeat([0, 2], [len(sends), len(sends) * (steps - 1)])
        ends = {"source": np.tile(source, steps), "target": np.tile(target, steps)}
        table = messages(self.net.num_hosts, **ends, flits=1, after=cut(waits.ravel(), lengths))
        table = replace(table, flits=np.full(len(table), 1.0 / ranks / len(rings)))
        paths = Paths(np.cumsum([0, *map(len, routes)]), np.concatenate(routes).astype(np.int32))
        given = GivenPaths.of_entries("rings", paths, np.tile(sends, steps))
        links = FlowNetwork(self.net, rate, np.zeros(self.net.num_channels), end_channels=False)
        per_byte = run_flows(links, given, table, SHARED).finish
        later = np.ones(count)  # of the hops of each computer
        if case.has("one computer"):
            later[case.at - first] = case.factor
        found = []
        for row in rows:
            inside = (GPUS - 1) * row.inside_us * row.inside_factor
            hops = 2 * (inside + row.between_us) * row.hops_factor * later.sum()
            start = (row.base_us + hops) * (case.factor if case.has("hops") else 1.0)
            start += case.factor if case.has("each coll") else 0.0
            found.append(self.start + start * 1e-6 + per_byte / row.payload * SIZES)
        return np.min(found, axis=0)


def drawn(rng: np.random.Generator) -> Case:
    number = int(rng.integers(-1, len(DEFECTS) + 1))
    if number < 0:
        return NONE
    defect = KNOWN[number] if number < len(DEFECTS) else KNOWN[int(rng.integers(-3, 0))]
    factors = next((of for name, of in FACTORS.items() if len(defect.factors) > 1 and
                    defect.name.startswith(name)), (1.0,))  # fmt: skip
    return Case(defect, float(rng.choice(factors)), int(rng.choice([1, HALF + 1])))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--draws", type=int, default=1000)
    asked.add_argument("--leaves", type=int, default=2)
    given, begun = asked.parse_args(), time.perf_counter()
    on = f"leaf-spine:{given.leaves}x{GPUS}x{COMPUTERS * GPUS // given.leaves}@dgx-a100"
    library = prepare(CollectiveQuestion(collective="all-reduce", on=on, algorithm="rings")).library
    runs = [
        run_of(library, range(at, at + count), "all-reduce", ["rings"], SIZES) for at, count in RUNS
    ]
    cluster, expected = (
        Cluster(library, given.leaves),
        np.concatenate([run.seconds for run in runs]),
    )
    tested = [(Suspects(runs[:1]), len(SIZES)), (Suspects(runs), len(expected))]
    seconds = cache(cluster.seconds)
    rng, table = np.random.default_rng(1), {each.name: [] for each in (*KNOWN, NONE.defect)}
    for _ in range(given.draws):
        case, row = drawn(rng), []
        took = [seconds(*each, case if case.strikes(*each) else NONE) for each in RUNS]
        later = np.log(np.concatenate(took) / expected) + rng.normal(0, NOISE, len(expected))
        for suspects, count in tested:
            groups = suspects.ranked(later[:count])
            first = [each.best.defect.name for each in groups[0]] if groups else ["none"]
            alike = any(
                first[0].startswith(names) and case.defect.name.startswith(names)
                for names in (ONE_CURVE if count == len(SIZES) else (UPLINKS,))
            )
            right = first[0] == case.defect.name or alike
            row += [case.defect.name in first, len(first), right]
        table[case.defect.name].append(row)

    def line(name: str, rows: list) -> None:
        one, many, first, halves, fewer, best = np.mean(rows, axis=0)
        curve = f"{one:>6.1%} {many:>5.1f} {first:>6.1%}"
        print(f"{name:>58} {len(rows):>6} {curve}    {halves:>6.1%} {fewer:>5.1f} {best:>6.1%}")

    print(f"{'':>58}  draws  curve causes first    halves causes first")
    for name, rows in table.items():
        if rows:
            line(name, rows)
    line("all", [row for rows in table.values() for row in rows])
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
