"""BookSim 2's traffic patterns, against what its source says of one source at a time."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom_papers.studies.booksim import PATTERNS, TRAFFICS, Shape, network, pattern

FLAT, DRAGON = Shape("flatfly", 4, 2, 4, 4, 2), Shape("dragonflynew", 2, 1)
CUBE = Shape("flatfly", 2, 3, 4, 4, 2)


def sent(name, shape=FLAT):
    return pattern(name, shape, network(shape))


def shifted(source, by):
    """Shift both base-8 digits of a host of 8 x 8."""
    return (source // 8 + by) % 8 * 8 + (source + by) % 8


ONE = {
    "bitcomp": lambda source: 63 - source,
    "bitrev": lambda source: int(f"{source:06b}"[::-1], 2),
    "shuffle": lambda source: int(f"{source:06b}"[1:] + f"{source:06b}"[0], 2),
    "transpose": lambda source: source % 8 * 8 + source // 8,
    "tornado": lambda source: shifted(source, 3),
    "neighbor": lambda source: shifted(source, 1),
}


@pytest.mark.parametrize("shape", [FLAT, Shape("mesh", 8, 2)], ids=lambda shape: shape.kind)
@pytest.mark.parametrize("name", ONE)
def test_permutations_of_64_hosts(name, shape):
    shares = sent(name, shape).matrix()
    assert shares.source.tolist() == list(range(64))
    assert shares.target.tolist() == [ONE[name](source) for source in range(64)]
    assert shares.weight == pytest.approx(1 / 64)


def of(name, source, shape=FLAT):
    """Return {target: share} of one source."""
    found = sent(name, shape)
    sources, targets, weights = found.matrix()
    own = sources == source
    weights = weights[own] * found.num_nodes
    return dict(zip(targets[own].tolist(), weights.tolist(), strict=True))


def test_random_patterns_of_one_source():
    assert of("uniform", 7) == pytest.approx(dict.fromkeys(range(64), 1 / 64))
    assert of("asymmetric", 40) == pytest.approx({8: 0.5, 40: 0.5})
    assert of("asymmetric", 6, Shape("fattree", 7, 1)) == pytest.approx({0: 0.5, 3: 0.5})
    assert of("diagonal", 63) == pytest.approx({63: 2 / 3, 0: 1 / 3})
    assert of("bad_dragon", 9, DRAGON) == pytest.approx(dict.fromkeys(range(16, 24), 1 / 8))
    assert of("bad_dragon", 71, DRAGON) == pytest.approx(dict.fromkeys(range(8), 1 / 8))


HOT = {0: 9 / 72, **dict.fromkeys(range(1, 64), 1 / 72)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hotspot(node0 weight 9 others 1)", HOT),
        ("hotspot({{" + ",".join(map(str, range(64))) + "},{9,1}})", HOT),
        ("hotspot(node3 weight 2 node5 weight 6)", {3: 0.25, 5: 0.75}),
        ("hotspot({{3,5},{1,3}})", {3: 0.25, 5: 0.75}),
        ("hotspot({{3,5}})", {3: 0.5, 5: 0.5}),
        ("hotspot(7)", {7: 1.0}),
        ("hotspot({0,1},{9,1})", {0: 1.0}),  # single braces: the first host only
    ],
)
def test_hot_spots(name, expected):
    assert of(name, 11) == pytest.approx(expected)


@pytest.mark.parametrize("name", [*TRAFFICS, *PATTERNS, "hotspot(node0 weight 9 others 1)"])
def test_all_hosts_send_alike(name):
    made = sent(name, DRAGON if name == "bad_dragon" else FLAT)
    assert (made.rate == 1).all()
    shares = made.matrix()
    assert np.bincount(shares.source, shares.weight) == pytest.approx(1 / made.num_nodes)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("randperm", FLAT, "found 'randperm'; expected one of uniform"),
        ("bitcomp", DRAGON, r"found 'bitcomp' \(72 hosts\)"),
        ("transpose", CUBE, r"found 'transpose' \(32 hosts\)"),
        ("tornado", CUBE, "as a target"),
        ("hotspot({{64},{1}})", FLAT, "host 64; expected 0 to 63"),
        ("hotspot(-1)", FLAT, "at random"),
        ("hotspot()", FLAT, "at random"),
        ("hotspot({{0},{x}})", FLAT, "hosts by number"),
        ("hotspot({{0},{0}})", FLAT, "hosts by number"),
        ("hotspot(node0 weight 9 all 1)", FLAT, "'all 1'"),
        ("hotspot(node0 weight 0)", FLAT, "no host that is hot"),
    ],
)
def test_what_would_fail_there_is_refused(name, shape, message):
    with pytest.raises(InputError, match=message):
        sent(name, shape)
