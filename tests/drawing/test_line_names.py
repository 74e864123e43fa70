"""Names at the ends of lines: near them, and on nothing that is drawn."""

from itertools import pairwise

import pytest

from netloom.drawing.names import AROUND, BESIDE, GAP, crosses, named

WIDTH, HEIGHT = 430.0, 300.0


def boxes(found):
    return [each.box for each in found if each.x < WIDTH]


@pytest.mark.parametrize("upright", [140.0, 160.0, 190.0, 215.0])
@pytest.mark.parametrize("end", [(120.0, 60.0), (120.0, 2.0), (60.0, 250.0), (200.0, 150.0)])
def test_a_name_stands_on_no_line(upright, end):
    lines = [
        [(0.0, 260.0), (end[0] - 20, 240.0), end],
        [(0.0, 280.0), (150.0, 250.0), (260.0, 10.0)],
        [(upright, 0.0), (upright, HEIGHT)],
    ]
    (name,) = named([("store-and-forward", *end)], WIDTH, HEIGHT, lines)
    for line in lines:
        for one, other in pairwise(line):
            assert not crosses(name.box, one, other), (name, one, other)
    assert name.x == WIDTH + GAP or (name.x >= AROUND and name.box.right <= WIDTH)


def test_a_name_that_has_no_place_stands_beside_the_axes():
    fence = [[(x, 0.0), (x, HEIGHT)] for x in range(0, 430, 10)]
    (name,) = named([("wormhole", 100.0, 50.0)], WIDTH, HEIGHT, fence)
    assert (name.x, name.y) == (WIDTH + GAP, 50.0)
    (free,) = named([("wormhole", 100.0, 50.0)], WIDTH, HEIGHT)
    assert free.x < BESIDE * WIDTH


def test_names_do_not_touch_and_keep_the_order_of_their_lines():
    ends = [(f"line {at}", 100.0 + at, 100.0 + 2 * at) for at in range(8)]
    found = named(ends, WIDTH, HEIGHT)
    assert [each.said for each in found] == [said for said, *_ in ends]
    for at, one in enumerate(found):
        for other in found[at + 1 :]:
            apart = abs(one.y - other.y) >= 13
            assert apart or one.box.right <= other.x or other.box.right <= one.x
