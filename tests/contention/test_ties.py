"""Equally busy channels are named as the set that they are."""

import numpy as np
import pytest

import netloom as nl
from netloom.contention.busiest import tie_named, tied
from netloom.topology import topology


def channels(on, wanted):
    """Return a network, and the channels between routers for which ``wanted(source, target)``."""
    found = topology(on)
    ends = zip(found.routers.channel_source, found.routers.channel_target, strict=True)
    return found, np.array([at for at, each in enumerate(ends) if wanted(*map(int, each))])


def right(source, target):
    """Whether a channel of a torus of eight a side is a + channel of its row."""
    return target // 8 == source // 8 and (target - source) % 8 == 1


def down(source, target):
    """The same of columns."""
    return (target - source) % 64 == 8


NAMED = [
    ("torus:8x8", right, "all + channels of 8 rows"),
    ("torus:8x8", lambda s, t: s // 8 == t // 8 == 3, "all channels of row 3"),
    ("torus:8x8", lambda s, t: down(t, s) and s % 8 in (2, 5), "all − channels of 2 columns"),
    ("torus:8x8", lambda s, t: right(s, t) or down(s, t), "all + channels of 8 rows and 8 columns"),
    ("mesh:4x4", lambda s, t: t == s + 1 and s % 4 == 1, "4 of 12 + channels of rows"),
    ("mesh:4x4", lambda s, t: {s % 4, t % 4} == {1, 2}, "8 of 48 channels"),
    ("ring:9", lambda s, t: (t - s) % 9 == 1, "all 9 + channels"),
    ("torus:4x4x4", lambda s, t: abs(s - t) in (16, 48), "all channels of 16 z lines"),
    ("leaf-spine:4x8x4", lambda s, t: s == 2, "all 8 channels that lead up, out of leaf2"),
    ("leaf-spine:4x8x4", lambda s, t: t in (2, 3), "16 of 32 channels that lead down"),
    ("dragonfly:2x4x2", lambda s, t: s // 4 != t // 4, "all 72 global channels"),
    ("dragonfly:2x4x2", lambda s, t: s // 4 == t // 4 == 3, "12 of 108 local channels"),
]


@pytest.mark.parametrize(("on", "wanted", "name"), NAMED)
def test_a_tie_is_named_by_what_it_shares(on, wanted, name):
    assert tie_named(*channels(on, wanted)) == name


def test_channels_of_a_broken_network_keep_their_lines():
    broken = nl.analyze("ring:4", "torus:4x4", failed_channels="0-1", random_mappings=0).network
    inside = slice(broken.num_network_channels)
    rows = broken.source_end[inside] // 4, broken.target_end[inside] // 4
    row = np.flatnonzero((rows[0] == 2) & (rows[1] == 2))
    assert tie_named(broken, row) == "all channels of row 2"


def test_a_tie_is_what_equals_the_busiest():
    assert tied(np.array([1.0, 3.0, 3.0 * (1 - 1e-12), 2.999])).tolist() == [1, 2]
