"""BookSim 2's traffic patterns, against what its source says of one source at a time."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom_papers.studies.booksim.networks import PATTERNS, Shape, pattern

FLAT = Shape("flatfly", 4, 2, 4, 4, 2)


def digits(number, base, count):
    return [number // base**place % base for place in range(count)]


def shifted(source, by):
    """Shift both base-8 digits of a host of 8 x 8."""
    return sum((digit + by) % 8 * 8**place for place, digit in enumerate(digits(source, 8, 2)))


def bits_turned(source):
    return int(f"{source:06b}"[::-1], 2)


ONE = {
    "bitcomp": lambda source: 63 - source,
    "bitrev": bits_turned,
    "shuffle": lambda source: int(f"{source:06b}"[1:] + f"{source:06b}"[0], 2),
    "transpose": lambda source: source % 8 * 8 + source // 8,
    "tornado": lambda source: shifted(source, 3),
    "neighbor": lambda source: shifted(source, 1),
}


@pytest.mark.parametrize("name", ONE)
def test_permutations_of_64_hosts(name):
    shares = pattern(name, FLAT, 64).matrix()
    assert shares.source.tolist() == list(range(64))
    assert shares.target.tolist() == [ONE[name](source) for source in range(64)]
    assert shares.weight == pytest.approx(1 / 64)


def of(name, source, shape=FLAT, hosts=64):
    """Return {target: share} of one source."""
    shares = pattern(name, shape, hosts).matrix(source, source + 1)
    return dict(zip(shares.target.tolist(), (shares.weight * hosts).tolist(), strict=True))


def test_random_patterns_of_one_source():
    assert of("uniform", 7) == pytest.approx(dict.fromkeys(range(64), 1 / 64))
    assert of("asymmetric", 40) == pytest.approx({8: 0.5, 40: 0.5})
    assert of("diagonal", 63) == pytest.approx({63: 2 / 3, 0: 1 / 3})
    assert of("badperm_yarc", 20) == pytest.approx({8 * r + 2: 1 / 8 for r in range(8)})
    taper = dict.fromkeys(range(64), 0.5 / 64)
    for across in (-8, 0, 8):
        for along in (-1, 0, 1):
            taper[(5 + across + along) % 64] += 0.5 / 9
    assert of("taper64", 5) == pytest.approx(taper)


def test_the_next_group_of_a_dragonfly():
    shape = Shape("dragonflynew", 2, 1)
    assert of("bad_dragon", 9, shape, 72) == pytest.approx(dict.fromkeys(range(16, 24), 1 / 8))
    assert of("bad_dragon", 71, shape, 72) == pytest.approx(dict.fromkeys(range(8), 1 / 8))


def test_an_odd_number_of_hosts_has_an_asymmetric_one():
    assert of("asymmetric", 6, hosts=7) == pytest.approx({0: 0.5, 3: 0.5})


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


@pytest.mark.parametrize("name", ["uniform", *PATTERNS, "hotspot(node0 weight 9 others 1)"])
def test_all_hosts_send_alike(name):
    shape, hosts = (Shape("dragonflynew", 2, 1), 72) if name == "bad_dragon" else (FLAT, 64)
    made = pattern(name, shape, hosts)
    assert (made.rate == 1).all()
    sent = np.bincount(made.matrix().source, made.matrix().weight, hosts)
    assert sent == pytest.approx(1 / hosts)


@pytest.mark.parametrize(
    ("name", "shape", "hosts", "message"),
    [
        ("randperm", FLAT, 64, "found 'randperm'; expected one of uniform"),
        ("bitcomp", Shape("dragonflynew", 2, 1), 72, "72 hosts; expected a power of two"),
        ("transpose", FLAT, 32, "32 hosts; expected an even power of two"),
        ("taper64", FLAT, 32, "32 hosts; expected 64"),
        ("tornado", Shape("flatfly", 2, 3, 4, 4, 2), 32, "as a target"),
        ("hotspot({{64},{1}})", FLAT, 64, "host 64; expected 0 to 63"),
        ("hotspot(-1)", FLAT, 64, "at random"),
        ("hotspot()", FLAT, 64, "at random"),
        ("hotspot({{0},{x}})", FLAT, 64, "hosts by number"),
        ("hotspot(node0 weight 9 all 1)", FLAT, 64, "'all 1'"),
        ("hotspot(node0 weight 0)", FLAT, 64, "no host that is hot"),
        ("asymmetric", FLAT, 1, "1 host; expected at least 2"),
    ],
)
def test_what_would_fail_there_is_refused(name, shape, hosts, message):
    with pytest.raises(InputError, match=message):
        pattern(name, shape, hosts)
