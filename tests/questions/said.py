"""What is read out of sentences, to be compared with figures."""

import re
from math import floor

from netloom.base.figures import SHARE, say
from netloom.base.units import rate, seconds, size
from netloom.base.words import number, percent

NUMBER = re.compile(r"(?<![\w.:×/-])\d[\d,]*(?:\.\d+)?(?![\w/]|:\w)")


def numbers(sentence):
    """The numbers of a sentence that stand alone, in order."""
    return [float(each.replace(",", "")) for each in NUMBER.findall(sentence)]


SAID = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w:])")


def unbacked(sentence, figures):
    """The numbers of a sentence that no figure of a JSON says, however it is rounded."""
    told = set()
    for value in _numbers(figures):
        for one in (
            number(value), say(value, SHARE), seconds(value), size(value), rate(value),
            f"{value:,}", f"{100 * value:.2g}", f"{100 * value:.4g}", f"{value:.1g}",
            number(float(f"{value:.2g}")), f"{value:.4g}", f"{value:,.0f}", rate(value, 4),
            f"{floor(1e4 * value) / 100:g}",
        ):  # fmt: skip
            told.update(SAID.findall(one))
    rest = sentence.replace(percent(1e-9), "")  # a share that is below all digits
    return [each for each in SAID.findall(rest) if each not in told]


def _numbers(data):
    if isinstance(data, dict):
        data = [each for name, each in data.items() if name != "provenance"]
    if isinstance(data, list):
        for each in data:
            yield from _numbers(each)
        yield len(data)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield data
