"""What a model of locality comes to: how much a better mapping can gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.commands import command_line
from netloom.questions.predict.shown import begun, rounded
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.subject import order_named, short_name
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

WORTHLESS = 0.02
"""Gain up to which nothing is left to look for."""

SAME = 0.01
"""Difference from a random mapping that is none: random ones differ as much."""

LARGE = 2.0
"""Times as fast from which a gain is said as a factor, and not in per cent."""

NOTE = (
    "Model: rates of messages were within 6\u00a0% (a torus program) to 12\u00a0% (a LAMMPS run) "
    "of simulations on an 8 × 8 torus with buffered switches. Wormhole switches with few buffers "
    "are slower."
)


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one size, or several, come to."""
    points = figures.get("points", [figures])
    asked, name = figures["provenance"]["configuration"], figures["mapping"]
    of = f"{figures['dimensions']}D torus"
    if figures["topology"]:
        program = f"{short_name(figures['app'])} on " if figures["app"] else ""
        of = f"{program}{short_name(figures['topology'])}"
    first, last = points[0], points[-1]
    if len(points) > 1:
        said = (
            f"Placement gains at most {_times(first['gain'])} on {_nodes(first)}, "
            f"{_times(last['gain'])} on {_nodes(last)}."
        )
        mark = "limited" if last["gain"] > 1 + WORTHLESS else "fine"
        return Verdict(mark, said, of, _lines(last, name), note=NOTE)
    mark, said = _of_random(first) if name == "random" else _of_mapping(first, name)
    then = ""
    if mark != "fine" and figures["app"]:
        shared = {field: asked[field] for field in ("app", "on", "messages", "parts")}
        more = {"objective": "hop-bytes", "rankfile": "ranks.txt"}
        then = command_line(kind_of("map"), shared, **more)
    return Verdict(mark, said, of, _lines(first, name), then, NOTE)


def sentence_of(point: Mapping[str, Any], name: str) -> str:
    """Return what one size comes to under a mapping."""
    return (_of_random(point) if name == "random" else _of_mapping(point, name))[1]


def _of_random(point: Mapping[str, Any]) -> tuple[str, str]:
    """Return the mark and the sentence where no mapping is given."""
    if point["gain"] <= 1 + WORTHLESS:
        gain = rounded(point["gain"] - 1)
        return "fine", f"Placement does not matter on {_nodes(point)}: it gains at most {gain}."
    best, far = point["ideal"]["distance"], point["random"]["distance"]
    return "limited", (
        f"Placement gains at most {_times(point['gain'])} on {_nodes(point)}: "
        f"{counted(number(best), 'hop')} per message, not {number(far)}."
    )


def _of_mapping(point: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return the mark of a mapping, and what it comes to."""
    mine, own, best = whose(name), point["gain_of_mapping"], point["gain"]
    left = best / own - 1
    if left <= WORTHLESS:
        beside = f"{number(own)}× as fast as" if own >= LARGE else f"{rounded(own - 1)} faster than"
        return "fine", f"{mine} is as good as a perfect mapping: {beside} a random one."
    adds = f"a perfect one adds {_times(1 + left)}"
    if own < 1 - SAME:
        return "act", f"{mine} is {rounded(1 / own - 1)} slower than a random mapping; {adds}."
    if own < 1 + SAME:
        others = "others" if name.startswith("random") else "a random mapping"
        return "act", f"{mine} gains nothing over {others}; {adds}."
    if best < LARGE:
        had = rounded(own - 1).partition("\u00a0")[0]
        return "limited", (
            f"{mine} already has {had} of the {rounded(best - 1)} that placement can give; {adds}."
        )
    return "limited", f"{mine} gains {_times(own)} of the {_times(best)} that placement can give."


def whose(name: str) -> str:
    """Return a mapping as the subject of a sentence."""
    if name.startswith("of distance "):
        return f"A mapping {name}"
    if name.startswith("random, "):
        return f"A random mapping ({name.removeprefix('random, ')})"
    return begun(order_named(name))


def _lines(point: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return why: how far messages go, and how busy that keeps the network."""
    far = point["random"]
    if name == "random":
        hops = f"{number(far['distance'])} hops per message at random"
    else:
        own = counted(number(point["distance"]), "hop")
        hops = f"{own} per message, {number(far['distance'])} at random"
    return {
        "why": f"{hops}; processors work {percent(point['processor_use'])} of the time, at most "
        f"{percent(point['ideal']['processor_use'])}"
    }


def _nodes(point: Mapping[str, Any]) -> str:
    return f"{number(point['nodes'])} nodes"


def _times(gain: float) -> str:
    """Return a gain: a factor, or in per cent where it is small."""
    return f"{number(gain)}×" if gain >= LARGE else rounded(gain - 1)
