"""What an analysis comes to: whether it contends, where, why, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.analyze.reasons import limit_if_split, why
from netloom.questions.analyze.where import where
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict, mapped_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    Figures = Mapping[str, Any]

ESTIMATE, SAME = "* estimate.", "the same as"
PERCENT_MEANT = 2
"""A load from which on a share was probably given in per cent."""

GIVE_LOAD = "Give the load for a yes or no: --offered 0.2"


def verdict(figures: Figures) -> Verdict:
    """Return whether a mapped program contends, by the figures of its analysis."""
    mark, sentence = _answer(figures)
    calm = mark == "fine"
    lines = {} if calm and _alone(figures) else {"where": where(figures)}
    if not calm:
        lines["why"] = why(figures)
    lines |= {"rank": _rank(figures), "limits": _limits(figures)}
    known = {label: said for label, said in lines.items() if said}
    return Verdict(
        mark, sentence, mapped_program(figures), known, "" if calm else _next(figures, mark),
        _note(figures, known),
    )  # fmt: skip


def shares(*values: float) -> list[str]:
    r"""Return shares in percent, with as few digits as tell them apart: two, or more.

    From 100 % on all digits before the point are told.

    Examples
    --------
    >>> [each.replace("\xa0", " ") for each in shares(0.2776, 0.5781)]
    ['28 %', '58 %']
    >>> [each.replace("\xa0", " ") for each in shares(1.8168, 3.63)]
    ['182 %', '363 %']
    >>> [each.replace("\xa0", " ") for each in shares(0.5776, 0.5781)]
    ['57.76 %', '57.81 %']
    """
    for digits in range(2, 17):
        rounded = [float(f"{each:.{digits}g}") if each < 1 else round(each, max(digits - 1, 2))
                   for each in values]  # fmt: skip
        if len(set(rounded)) == len(set(values)):
            break
    if digits <= 3:
        return list(map(percent, rounded))
    return [f"{100 * each:.{digits}g}\u00a0%" for each in values]


def load_share(value: float | None) -> str:
    r"""Return a limit of the load in percent, as sentences, tables and pictures have it alike.

    Examples
    --------
    >>> load_share(0.2776).replace("\xa0", " "), load_share(None)
    ('28 %', '–')
    """
    return percent(None) if value is None else shares(value)[0]


def delays_from(figures: Figures) -> tuple[float, float, float] | None:
    """Return when the busiest channel delays, when it is full, and the load that both are of.

    The first two are parts of its time at the load that is offered: without one, at the highest
    that can be offered and carried. What never contends delays nowhere before a channel is full,
    nor is anything else said where contention begins is unknown. None if the limit is unknown.
    """
    limits, offered = figures["saturation"], figures["offered"]
    begins, full = limits["worst_node"], limits["upper_bound"]
    if not full:
        return None
    if figures["verdict"]["level"] == "contention-free" or begins is None:
        begins = full
    at = offered or min(1.0, full)
    return begins / at, full / at, at


def _alone(figures: Figures) -> bool:
    """Whether no two paths meet, and nothing is too full."""
    found = figures["verdict"]
    return found["level"] == "contention-free" and not found["beyond_capacity"]


def _answer(figures: Figures) -> tuple[str, str]:
    """Return the mark and the sentence."""
    found, offered = figures["verdict"], figures["offered"]
    limits = figures["saturation"]
    most, level = limits["upper_bound"], found["level"]
    if found["beyond_capacity"]:
        asked, carried = shares(offered, most)
        split = limit_if_split(figures)
        one_way = " with half-way traffic in one direction" if split and offered <= split else ""
        return "act", (
            f"Overloaded: {asked} load is offered, at most {carried} can be carried{one_way}."
        )
    if level == "contention-free":
        return _contention_free(figures)
    first = limits["worst_node"]
    if first is None:
        return _by_bound(offered, most)
    if level == "good-enough":
        return "fine", _good_enough(figures)
    if offered is None:
        (begins,) = shares(first)
        return (
            "act" if figures["bottleneck"]["ratio"] > 1 else "limited",
            f"Contends above {begins} load.",
        )
    asked, begins = shares(offered, first)
    node = "node" if figures["busiest_router"] is None else "host"
    many = f"{number(len(found['affected_nodes']))} of {counted(found['senders'], node)}"
    mark = "act" if level == "most-nodes" else "limited"
    return mark, f"Delays {many} at {asked} load: contention begins near {begins}."


def _contention_free(figures: Figures) -> tuple[str, str]:
    """Say that no two paths meet. Channels of hosts may still be full."""
    offered, most = figures["offered"], figures["saturation"]["upper_bound"]
    if figures["busiest_router"] is None:
        return "fine", "Contention-free at any load: no two messages share a channel."
    if most >= 1:
        return "fine", "Contention-free: no two messages share a channel between routers."
    if offered is None:
        (full,) = shares(most)
        return (
            "limited",
            f"Contention-free between routers, but a host's own channel is full at {full} load.",
        )
    asked, full = shares(offered, most)
    return "fine", (
        f"Contention-free between routers: your load is {asked}, and the busiest host's channel "
        f"is full at {full}."
    )


def _good_enough(figures: Figures) -> str:
    """Say that no contention is expected, and from which load on it would be."""
    offered, limits = figures["offered"], figures["saturation"]
    if offered is not None:
        asked, begins = shares(offered, limits["worst_node"])
        room = number(float(f"{limits['worst_node'] / offered:.2g}"))
        return (
            f"No contention expected: your load is {asked}, trouble starts near {begins} "
            f"({room}× headroom)."
        )
    if figures["busiest_router"] is None:
        (begins,) = shares(limits["worst_node"])
        return (
            f"No contention expected: it would begin near {begins} load, above what a node sends."
        )
    (full,) = shares(limits["upper_bound"])
    return f"No contention expected up to {full} load, at which the busiest channel is full."


def _by_bound(offered: float | None, most: float) -> tuple[str, str]:
    """Say what can be carried, if nothing estimates where contention begins."""
    if offered is None:
        (carried,) = shares(most)
        return "unknown", f"Carries at most {carried} load, and where contention begins is unknown."
    asked, carried = shares(offered, most)
    return "unknown", (
        f"Can be carried: your load is {asked}, at most {carried} is possible. Delays are not "
        "estimated here."
    )


def _rank(figures: Figures) -> str:
    """Say how many random mappings this one beats, by what the sentence is about."""
    random, limits = figures["random_mapping"], figures["saturation"]
    deciding = "worst_node" if limits["worst_node"] is not None else "upper_bound"
    found, many = random.get(f"saturation_{deciding}"), random["mappings"]
    if not many and random.get("alike"):
        return f"{SAME} every mapping"
    if not many or found is None:
        return ""
    mappings = counted(many, "random mapping")
    own = limits[deciding]
    if found["min"] == found["max"] == own:
        return f"{SAME} {'each of ' * (many > 1)}{mappings}"
    if not found["beaten"] and own < found["min"]:
        return f"worse than {'all ' * (many > 1)}{mappings}"
    return f"better than {number(found['beaten'])} of {mappings}"


def _limits(figures: Figures) -> str:
    """Return the loads at which the first node, most nodes and the network are at their limit."""
    limits = figures["saturation"]
    first, most, bound = (limits[each] for each in ("worst_node", "average_node", "upper_bound"))
    if first is None or _alone(figures):
        return ""
    node = "node" if figures["busiest_router"] is None else "host"
    begins, average, end = shares(first, most, bound)
    split = limit_if_split(figures)
    said = [f"first {node} delayed at {begins}*"] if first < bound else []
    said += [f"most {node}s at {average}*"] if first < most < bound else []
    if split is None:
        return " · ".join([*said, f"nothing beyond {end}"])
    (both,) = shares(split)
    return " · ".join([*said, f"nothing beyond {end}, {both} if half-way traffic splits"])


def _next(figures: Figures, mark: str) -> str:
    """Return the command that may help, or that finds out more."""
    asked = dict(figures["provenance"]["configuration"])
    if isinstance(asked["app"], str):
        asked["app"] = figures["app"]  # with its size, if it is a pattern of all hosts
    if (share := _meant(figures)) is not None:
        return command_line(kind_of("analyze"), asked | {"offered": share})
    own_routes = str(asked["routing"]).startswith("routes:")
    movable = figures["busiest_channel"]["kind"] == "network" and not own_routes
    fixed = _rank(figures).startswith(SAME)
    if movable and not fixed and mark != "unknown":
        return command_line(kind_of("map"), asked, rankfile="ranks.txt")
    if figures["offered"] is None:
        return command_line(kind_of("simulate.saturation"), asked)
    return command_line(kind_of("simulate.load"), asked, load=figures["offered"])


def _meant(figures: Figures) -> float | None:
    """Return the load as a fraction if it was probably given in per cent, and is too much."""
    offered, asked = figures["offered"], figures["provenance"]["configuration"]["offered"]
    percents = asked is not None and figures["verdict"]["beyond_capacity"]
    return offered / 100 if percents and PERCENT_MEANT <= offered <= 100 else None


def _note(figures: Figures, lines: Mapping[str, str]) -> str:
    """Say which numbers are estimates, and how to get a plain answer."""
    said = [ESTIMATE] * ("*" in lines.get("limits", ""))
    if (share := _meant(figures)) is not None:
        said.append(f"Loads are fractions of a channel: {percent(share)} is --offered {share:g}.")
    if figures["offered"] is None and figures["verdict"]["level"] == "depends-on-load":
        decided = figures["saturation"]["worst_node"] is not None
        said.append(GIVE_LOAD if decided else GIVE_LOAD.replace("for a yes or no", "to compare"))
    return " ".join(said)
