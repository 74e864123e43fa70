"""The fast combining network and the readable one must agree; and it must be a memory."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from netloom_papers.combining import CombiningEngine, CombiningNetwork
from netloom_papers.combining.hot_spots import HotSpotTraffic
from tests.reference.combining import IDENTITY, PHI, CombiningTwin, counted

SIZES = [(4, 2), (8, 2), (16, 2), (32, 2), (64, 2), (4, 4), (16, 4), (64, 4), (8, 8), (64, 8)]


@dataclass(frozen=True)
class Case:
    """A network, what is asked of it, and the steps in which a run is interrupted."""

    network: CombiningNetwork
    traffic: HotSpotTraffic
    seed: int
    cuts: list

    def __repr__(self):
        traffic, assigned = self.traffic, self.traffic.assigned.tolist()
        spots = f"{traffic.hot_spots.tolist()}, {assigned}"
        return f"{self.network}, {traffic} {spots} seed {self.seed}, cuts {self.cuts}"

    def run(self, simulator, *, cut=True):
        """Make requests until the last cut, then let everything come back."""
        simulated = simulator(self.network, self.traffic, seed=self.seed)
        for step in self.cuts if cut else self.cuts[-1:]:
            simulated.advance(step)
        simulated.drain(3)
        simulated.drain()
        return simulated


capacities = st.sampled_from([None, 1, 2, 3])
sometimes = st.sampled_from([0.0, 0.0, 0.1, 0.5])


@st.composite
def networks(draw, sizes=SIZES, **fixed):
    pes, switch_size = draw(st.sampled_from(sizes))
    options = {
        "queue": capacities,
        "wait_buffer": capacities,
        "combining": st.sampled_from(["waiting", "waiting", "slot", "entering", "none"]),
        "unlimited": st.booleans(),
        "order": st.sampled_from(["forward", "backward"]),
        "digits": st.sampled_from(["most-significant-first", "least-significant-first"]),
        "service_steps": st.sampled_from([1, 1, 2, 5]),
        "operation": st.sampled_from(["add", "add", *PHI]),
    }
    chosen = {name: fixed[name] if name in fixed else draw(options[name]) for name in options}
    return CombiningNetwork(pes, switch_size, **chosen)


@st.composite
def asked(draw, pes, **fixed):
    """Return few hot spots, and for every PE any of them in any order, or for all the same."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    hot_spots = chance.permutation(pes)[: draw(st.integers(1, min(pes, 5)))]
    per_pe = draw(st.integers(1, min(4, len(hot_spots))))
    share = draw(st.sampled_from([0.4, 0.9, 1.0]))
    assigned = np.full((pes, per_pe + draw(st.integers(0, 1))), -1)
    for row in assigned:
        count = np.count_nonzero(chance.random(per_pe) < share)
        row[:count] = chance.permutation(hot_spots)[:count]
    options = {
        "rate": st.sampled_from([0.3, 1.0, 0.05]),
        "wait": st.booleans(),
        "hot_fraction": st.sampled_from([1.0, 1.0, 0.7, 0.1]),
        "assign": st.sampled_from([0.5, 1.0]),
        "new": sometimes,
        "remove": sometimes,
    }
    chosen = {name: fixed[name] if name in fixed else draw(options[name]) for name in options}
    return HotSpotTraffic(hot_spots, assigned, **chosen)


@st.composite
def cases(draw, requests=300, sizes=SIZES, *, network=(), traffic=()):
    """Return a case that makes about so many requests at most, or three a PE."""
    made = draw(networks(sizes, **dict(network)))
    wanted = draw(asked(made.pes, **dict(traffic)))
    most = int(requests / (made.pes * wanted.rate * made.service_steps))
    most = min(max(most, 3), 200)
    cuts = draw(st.lists(st.integers(0, most), max_size=3))
    cuts.append(draw(st.one_of(st.integers(1, most), st.just(most))))
    return Case(made, wanted, draw(st.integers(0, 2**64)), sorted(cuts))


@given(cases())
@settings(max_examples=120)
def test_the_engine_is_its_readable_twin(case):
    expected = counted(case.run(CombiningTwin, cut=False))
    assert counted(case.run(CombiningEngine)) == expected


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("unlimited", [False, True])
@given(data=st.data())
@settings(max_examples=60)
def test_the_engine_is_its_twin_in_a_crowd(order, unlimited, data):
    rules = {"combining": "waiting", "order": order, "unlimited": unlimited, "service_steps": 3}
    asked_for = {"rate": 1.0, "wait": False, "hot_fraction": 0.9}
    sizes = [(4, 2), (8, 2), (16, 2), (4, 4), (16, 4), (8, 8)]
    case = data.draw(cases(500, sizes, network=rules, traffic=asked_for))
    expected = counted(case.run(CombiningTwin, cut=False))
    assert counted(case.run(CombiningEngine)) == expected


def serial_order(requests, operation, first):
    """Return an order of (operand, returned) in which each finds what those before it left.

    Each leads from one content of the word to another: a walk that uses every one of them once
    (Hierholzer).
    """
    leaving = defaultdict(list)
    for request in requests:
        leaving[request[1]].append(request)
    ways, walk = [(first, None)], []
    while ways:
        word, by = ways[-1]
        if leaving[word]:
            operand, returned = leaving[word].pop()
            ways.append((PHI[operation](returned, operand), (operand, returned)))
        else:
            ways.pop()
            walk.append(by)
    return walk[-2::-1]


def requests_of_words(case):
    """Yield, for every word of the twin's memory, its requests and its content at the end."""
    twin = case.run(CombiningTwin)
    for hot, words in zip((True, False), twin.memory, strict=True):
        for module, word in enumerate(words):
            yield [each for each in twin.requests if (each.module, each.hot) == (module, hot)], word


@pytest.mark.parametrize("operation", PHI)
@given(data=st.data())
@settings(max_examples=20)
def test_every_word_is_a_memory(operation, data):
    """What is returned is what some serial order returns, and leaves what that order leaves."""
    case = data.draw(cases(network={"operation": operation}))
    for requests, last in requests_of_words(case):
        found = [(each.operand, each.value) for each in requests]
        order = serial_order(found, operation, IDENTITY[operation])
        assert len(order) == len(requests)
        operands = (operand for operand, _ in order)
        words = list(accumulate(operands, PHI[operation], initial=IDENTITY[operation]))
        assert [*(returned for _, returned in order), last] == words


@given(cases(network={"operation": "add"}))
@settings(max_examples=60)
def test_sums_tell_the_order_and_time_agrees(case):
    """Sorted by what they found, and none before one that was back before it was made."""
    for requests, last in requests_of_words(case):
        assume(all(each.operand for each in requests))
        order = sorted(requests, key=lambda each: each.value)
        words = list(accumulate((each.operand for each in order), initial=0))
        assert [*(each.value for each in order), last] == words
        latest = accumulate((each.birth for each in order), max)
        assert all(then.done > birth for then, birth in zip(order[1:], latest, strict=False))


@pytest.mark.parametrize(("pes", "switch_size"), [(64, 2), (8, 2), (64, 4), (64, 8)], ids=str)
@pytest.mark.parametrize("rate", [0.05, 0.4, 1.0])
def test_one_hot_spot_is_a_tree_and_nobody_waits(pes, switch_size, rate):
    """All requests of a step to one module meet: one of them passes where any has come.

    A request queue of stage i is entered, in a step, with the probability p(i) that any of the
    PEs in front of it has made a request; those that are absorbed wait 2 (K - i) steps.
    """
    steps = 4000
    assigned = np.full((pes, 1), 5)
    traffic = HotSpotTraffic(np.array([5]), assigned, rate)
    network = CombiningNetwork(pes, switch_size, unlimited=switch_size > 2)
    engine = CombiningEngine(network, traffic, seed=3)
    engine.advance(steps)
    engine.drain()
    stages = network.stages
    assert np.flatnonzero(engine.latency_counts).tolist() == [2 * stages + 2]
    assert engine.queue_max.max() <= 2  # one comes before the one ahead of it leaves
    queues = pes // switch_size ** np.arange(stages + 1)  # used, of the PEs and of each stage
    entered = 1 - (1 - rate) ** (pes / queues)
    passed = np.append(engine.arrived, engine.accesses[5])
    noise = np.sqrt(steps * queues * entered * (1 - entered))
    assert (np.abs(passed - steps * queues * entered) <= 5 * noise).all()
    assert engine.population_sums[0] == 0
    assert engine.population_sums[1 : stages + 2].tolist() == [*passed[1:], passed[-1]]
    assert engine.population_sums[stages + 2 :].tolist() == passed[-2::-1].tolist()
    waits = 2 * (stages - np.arange(stages))
    assert engine.wait_sums.tolist() == (engine.combined * waits).tolist()
    used = np.count_nonzero(engine.queue_max, axis=1)
    assert used.tolist() == [pes, *queues[1:], 1, *queues[-2::-1]]
