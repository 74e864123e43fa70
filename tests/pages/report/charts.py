"""The data of charts, read back from their JSON, and how colors are told apart."""

from math import dist
from operator import mul

from tests.browser import hexed

INKS = """[...document.querySelectorAll('body *')].filter(each => !each.closest('svg')
    && each.checkVisibility() && !each.matches('script, style, option, noscript, noscript *')
    && [...each.childNodes].some(one => one.nodeType === 3 && one.data.trim())).map(each => {
      let on = each;
      while (on && /rgba\\(0, 0, 0, 0\\)/.test(getComputedStyle(on).backgroundColor))
        on = on.parentElement;
      return getComputedStyle(each).color + '|' + getComputedStyle(on).backgroundColor })"""
"""The colors of all text that is seen, and of what is behind it."""


def rows_of(chart, field):
    """Return every row in the data of a chart that has this field."""
    tables = chart.to_dict()["datasets"].values()
    return [row for table in tables for row in table if field in row]


def rgb(colour):
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def linear(colour):
    parts = [each / 255 for each in rgb(colour)]
    return [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]


def contrast(one, other):
    """Return the contrast of two colors after WCAG 2, section 1.4.3."""
    seen = [sum(map(mul, (0.2126, 0.7152, 0.0722), linear(each))) for each in (one, other)]
    return (max(seen) + 0.05) / (min(seen) + 0.05)


PLAIN = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
PROTAN = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
DEUTAN = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
EYES = (PLAIN, PROTAN, DEUTAN)
"""What eyes see of linear RGB, also without red or green receptors: Machado and others 2009."""

TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def seen_as(colour, eyes):
    """Return a color in CIELAB, to eyes of a kind."""
    shown = [min(max(sum(map(mul, row, linear(colour))), 0), 1) for row in eyes]
    white = (0.95047, 1.0, 1.08883)
    scaled = [sum(map(mul, row, shown)) / most for row, most in zip(TO_XYZ, white, strict=True)]
    x, y, z = (each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, eyes):
    """Return ΔE of 1976 between two colors."""
    return dist(seen_as(one, eyes), seen_as(other, eyes))


def check_inks(tab, least):
    """Check that all text can be read, of so many pairs of colors at least."""
    pairs = tab.evaluate(INKS)
    assert len(pairs) >= least
    for pair in set(pairs):
        ink, paper = map(hexed, pair.split("|"))
        assert contrast(ink, paper) >= 4.5, (ink, paper)
