"""A problem and its image under a symmetry of the network have the same answer.

Nodes are renumbered, coordinates mirrored, equal sides exchanged; who sends to whom goes with them.
Then the load of every channel, mean latency and accepted traffic must be those of the image's
channel and packets, within what chance explains: all of it over seeds, other ones for the image.
Which symmetries a routing has is part of its definition, and listed here with it.

How much is seen: a coin that falls one way in 6 of 10 half-way ties, or ties that always fall (as
BookSim's, kept under a name of its own), exceed the limits several times.
"""

import numpy as np
import pytest

from netloom.routing import draw_aux, parse_routing, virtual_channel_routing
from netloom.simulation.network import Router, Run
from netloom.simulation.network.engine import NetworkProgram
from netloom.topology import topology
from netloom.workload import parse_arrivals, parse_lengths
from netloom.workload.programs.messages import messages
from netloom.workload.traffic import pairs
from netloom_papers.worms import Worm, WormEngine

SEEDS, CYCLES, START, LOAD = 8, 2500, 500, 0.3

WORST = 2.2
"""Limit of the root mean square of all channels' t-values, 1.18 of independent ones by chance.
(Channels of a network are not independent: it comes to between 0.7 and 1.7.)"""

FEWEST = 4.8
"""Limit of a single t-value with 14 degrees of freedom: exceeded by chance once in 3500 times."""


# Symmetries: the image of every node.


def mirrored(axis):
    def image(net):
        at, sides = coordinates(net)
        at[:, axis] = sides[axis] - 1 - at[:, axis]
        return at @ np.array(net.strides)

    return image


def exchanged(net):
    at, _ = coordinates(net)
    return np.roll(at, 1, axis=1) @ np.array(net.strides)


def moved(net):
    at, sides = coordinates(net)
    return (at + np.arange(1, len(sides) + 1)) % sides @ np.array(net.strides)


def coordinates(net):
    sides = np.array(net.sides)
    return np.arange(net.num_nodes)[:, None] // np.array(net.strides) % sides, sides


def channel_images(net, image):
    """Return the channel between the images of each channel's nodes."""
    ends = {
        ends: channel
        for channel, ends in enumerate(
            zip(net.source_end.tolist(), net.target_end.tolist(), strict=True)
        )
    }
    return np.array(
        [
            ends[int(image[source]), int(image[target])]
            for source, target in zip(net.source_end, net.target_end, strict=True)
        ]
    )


def connections(net):
    """Three targets of every node, of no symmetry of their own."""
    rng = np.random.default_rng(3)
    source = np.repeat(np.arange(net.num_nodes), 3)
    return source, (source + rng.integers(1, net.num_nodes, len(source))) % net.num_nodes


def measure(net, routing, ends, seeds, **parts):
    """Return, one row a seed: mean latency, accepted traffic, and flits on every channel."""
    router = Router(**{"vcs": 4} | parts)
    routing = virtual_channel_routing(net, routing, num_vcs=router.vcs)
    found = []
    for seed in seeds:
        run = Run(
            net, routing, router, pairs(net.num_hosts, *ends), LOAD, lengths=parse_lengths(5),
            arrivals=parse_arrivals("bernoulli"), seed=seed,
        )  # fmt: skip
        run.advance(START)
        before = run.engine.channel_flits()
        packets = run.advance(CYCLES)
        latency = (packets.arrival - packets.birth).mean()
        carried = run.engine.channel_flits() - before
        found.append([latency, packets.flits.sum(), *carried])
    return np.array(found, float)


def t_values(one, other):
    """Return the difference of the means of each column in standard errors."""
    error = np.sqrt((one.var(axis=0, ddof=1) + other.var(axis=0, ddof=1)) / len(one))
    return (one.mean(axis=0) - other.mean(axis=0)) / np.where(error > 0, error, 1)


def compare(spec, routing, symmetry, image_routing=None, **parts):
    """Return the t-values of latency and accepted traffic, and the rms of the channels'."""
    net = topology(spec)
    image, (source, target) = symmetry(net), connections(net)
    here = measure(net, routing, (source, target), range(SEEDS), **parts)
    ends = image[source], image[target]
    there = measure(net, image_routing or routing, ends, range(100, 100 + SEEDS), **parts)
    there[:, 2:] = there[:, 2:][:, channel_images(net, image)]
    found = t_values(here, there)
    return found[:2], float(np.sqrt(np.mean(found[2:] ** 2)))


EITHER = {"mirrored rows": mirrored(0), "mirrored columns": mirrored(1)}
EVERY = EITHER | {"exchanged": exchanged}

CASES = [
    # Ties of packets half-way round a ring are drawn; of several ports, one is.
    ("torus:4x4", "adaptive", EVERY | {"moved": moved}, {}),
    ("torus:4x4", "adaptive", EVERY, {"router": "speculative"}),
    ("torus:4x4", "adaptive", EITHER, {"router": "oldest"}),
    ("torus:4x2", "adaptive", EITHER, {}),
    ("mesh:4x4", "adaptive", EVERY, {}),
    # Escape VCs, in dimension order, count as any other here, and half-way ties fall (see below).
    ("mesh:4x4", "adaptive-sticky-escape", EITHER, {}),
    ("torus:4x4", "adaptive-sticky-escape", {"moved": moved}, {}),
    # These correct the last dimension first, so that none may be exchanged ...
    ("torus:4x4", "dimension-order", EITHER | {"moved": moved}, {}),
    ("torus:4x4", "dimension-order-static-dateline", EITHER, {}),
    ("torus:4x4", "valiant", EITHER, {}),
    ("torus:4x4", "romm", EITHER, {}),
    ("mesh:4x4", "romm", EITHER, {}),
    # ... but these begin with either, as a coin falls.
    ("mesh:4x4", "o1turn", EVERY, {}),
    ("mesh:4x4", "o1turn-adaptive", EVERY, {}),
    # Turn models tell directions apart by definition.
    ("mesh:4x4", "west-first", {"mirrored rows": mirrored(0)}, {}),
    ("mesh:4x4", "odd-even", {"mirrored rows": mirrored(0)}, {}),
    ("mesh:4x4", "negative-first", {"exchanged": exchanged}, {}),
]  # fmt: skip
ROUTERS = {"speculative": {"speculative": True}, "oldest": {"oldest_first": True}}


@pytest.mark.parametrize(
    ("spec", "routing", "symmetry", "parts"),
    [
        pytest.param(spec, routing, symmetry, parts, id=f"{spec} {routing} {name} {parts}")
        for spec, routing, symmetries, parts in CASES
        for name, symmetry in symmetries.items()
    ],
)
def test_the_image_of_a_problem_has_the_image_of_its_answer(spec, routing, symmetry, parts):
    ends, channels = compare(spec, routing, symmetry, **ROUTERS.get(parts.get("router"), {}))
    assert np.abs(ends).max() < FEWEST
    assert channels < WORST


def test_dimension_order_is_exchanged_with_its_order():
    ends, channels = compare(
        "torus:4x4", "dimension-order:0,1", exchanged, image_routing="dimension-order:1,0"
    )
    assert np.abs(ends).max() < FEWEST
    assert channels < WORST


# What the harness would have found.


def test_a_coin_that_prefers_a_direction_is_found_out(monkeypatch):
    def biased(routing, rng, sources, targets):
        """A coin whose bits are 0 in 6 of 10 cases."""
        coin, aux = draw_aux(routing, rng, sources, targets)
        bits = rng.random((len(coin), 2)) < 0.4
        return (bits @ [1, 2]).astype(np.int32), aux

    monkeypatch.setattr("netloom.simulation.network.run.draw_aux", biased)
    _, channels = compare("torus:4x4", "dimension-order", mirrored(0))
    assert channels > 1.3 * WORST


def test_ties_that_always_fall_are_found_out():
    _, channels = compare("torus:4x4", "adaptive-sticky-escape", mirrored(0))
    assert channels > 3 * WORST


# Programs.


def program_of(net, image, rows=120):
    """Return messages in chains of three between random nodes, or their images."""
    rng = np.random.default_rng(4)
    source, target = rng.integers(0, net.num_nodes, (2, rows))
    after = [[row - 1] if row % 3 else [] for row in range(rows)]
    ready = rng.integers(0, 60, rows)
    return messages(
        net.num_nodes, source=image[source], target=image[target], flits=8, after=after,
        delay=ready,
    )  # fmt: skip


@pytest.mark.parametrize("symmetry", [mirrored(0), mirrored(1), exchanged, moved])
def test_programs_on_the_network(symmetry):
    net = topology("torus:4x4")
    routing = virtual_channel_routing(net, "adaptive", num_vcs=4)

    def finished(image, seeds):
        found = []
        for seed in seeds:
            engine = NetworkProgram(net, routing, Router(), packet_flits=4, seed=seed)
            engine.append(program_of(net, image))
            engine.advance(10_000)
            carried = engine.channel_flits()
            found.append([engine.rows["complete"].mean(), 0.0, *carried])
        return np.array(found, float)

    image = symmetry(net)
    here = finished(np.arange(net.num_nodes), range(2 * SEEDS))
    there = finished(image, range(100, 100 + 2 * SEEDS))
    there[:, 2:] = there[:, 2:][:, channel_images(net, image)]
    found = t_values(here, there)
    assert abs(found[0]) < FEWEST
    assert np.sqrt(np.mean(found[2:] ** 2)) < WORST


@pytest.mark.parametrize("arbitration", ["timestamp", "biased"])
@pytest.mark.parametrize(
    ("spec", "symmetry", "order"),
    [
        ("mesh:5x5", mirrored(0), "1,0"), ("mesh:5x5", mirrored(1), "1,0"),
        ("mesh:5x5", exchanged, "0,1"), ("torus:5x5", moved, "1,0"),
        ("torus:5x5", mirrored(1), "1,0"),
    ],
)  # fmt: skip
def test_programs_of_worms_finish_in_the_same_cycles(arbitration, spec, symmetry, order):
    """Nothing is drawn, and rows decide ties: so equal, cycle by cycle.

    (Half-way round an even ring, worms take the growing way: that is said, and not mirrored.)
    """
    net = topology(spec)
    image = symmetry(net)

    def finished(image, order):
        routing = parse_routing(f"dimension-order:{order}", net)
        engine = WormEngine(net, routing, Worm(arbitration=arbitration, release_cycles=0))
        engine.append(program_of(net, image))
        engine.advance(10_000)
        return engine.rows["complete"].tolist(), engine.channel_flits()

    rows, carried = finished(np.arange(net.num_nodes), "1,0")
    same_rows, same_carried = finished(image, order)
    assert rows == same_rows
    assert (same_carried[channel_images(net, image)] == carried).all()
