"""What broadcasts come to, by their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.simulate.said import SLOW, again, around, longer, rough
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Figures = Mapping[str, Any]

WORDS, UNIT = "simulate.broadcast", "messages/node/cycle"


def verdict(found: Figures) -> Verdict:
    """Return whether the network carries the rate, and how long both kinds of messages take."""
    points = found.get("points", [found])
    of = f"{found['traffic']} with {rough(found['broadcast'])} broadcasts on {found['topology']}"
    vague = next((each for each in points if not is_known(each)), None)
    if vague is not None or len(points) < len(found["asked"]):
        more = again(WORDS, found) if found["interrupted"] else longer(WORDS, found)
        return Verdict("unknown", _too_short(vague), of, {}, more)
    carried = [each for each in points if each["stable"]]
    failed = next((each for each in points if not each["stable"]), None)
    if not carried:
        less = [part * points[0]["accepted"] for part in (0.25, 0.5, 0.75, 1)]
        return Verdict("act", f"Overloaded: {_overload(points[0])}. No latency exists here.", of,
                       _accepted(points[0]), _asked(found, less))  # fmt: skip
    last = carried[-1]
    rate = f"{number(last['rate'])} {UNIT}"
    lines = _lines(last)
    if failed is not None:
        said = f"Saturates between {number(last['rate'])} and {number(failed['rate'])} {UNIT}: "
        said += f"{_latencies(last)} at {number(last['rate'])}."
    else:
        said = f"Carries {rate}: {_latencies(last)}."
    if not all(each["precise"] and each["warmed_up"] for each in carried):
        said = said.removesuffix(".") + ", in runs too short to be sure."
        return Verdict("unknown", said, of, lines, longer(WORDS, found))
    slow = failed is not None or _is_slow(last)
    if failed is None:
        most = 1 / found["packet_flits"]["mean"]
        rates = [min(times * last["rate"], most) for times in (1, 1.5, 2, 3, 4)]
    else:
        apart = (failed["rate"] - last["rate"]) / 4
        rates = [last["rate"] + step * apart for step in range(1, 4)]
    more = _asked(found, rates)
    return Verdict("limited" if slow else "fine", said, of, lines, more)


def is_known(point: Figures) -> bool:
    """Whether a run was long enough to tell whether the network carries its rate."""
    if point["interrupted"] or not (point["unicast_messages"] or point["broadcast_messages"]):
        return False
    return not point["stable"] or point["backlog"]["growth"] is not None


def _is_slow(point: Figures) -> bool:
    mean, idle = point["unicast_latency"]["mean"], point["zero_load_latency"]
    return bool(mean and idle and mean > SLOW * idle)


def _too_short(vague: Figures | None) -> str:
    if vague is None:
        return "Interrupted after 0 cycles of a further rate: not all rates are known."
    ran = counted(vague["cycles"], "cycle", ",")
    rate = f"{number(vague['rate'])} {UNIT}"
    if vague["interrupted"]:
        return f"Interrupted after {ran}: not known whether {rate} are carried."
    seen = vague["unicast_messages"] + vague["broadcast_messages"]
    return f"Too short to tell at {rate}: {counted(seen, 'message', ',')} in {ran}."


def _overload(point: Figures) -> str:
    backlog, rate = point["backlog"], f"{number(point['rate'])} {UNIT}"
    if backlog["node"] is not None:
        share = rough(backlog["node_growth"])
        return f"at {rate} the queue of node {backlog['node']} keeps {share} of what the node sends"
    return f"{rate} asked, {rough(backlog['growth'])} of it piles up"


def _accepted(point: Figures) -> dict[str, str]:
    return {"accepts": f"{number(point['accepted'])} of {number(point['rate'])} {UNIT} arrive"}


def _latencies(point: Figures) -> str:
    """Return the latencies of both kinds of messages, of those that there were."""
    parts = []
    unicast, broadcast = point["unicast_latency"], point["broadcast_latency"]
    if unicast["mean"] is not None:
        idle = f" ({number(point['zero_load_latency'])} idle)"
        parts.append(f"unicasts take {around(unicast['mean'], None)} cycles{idle}")
    if broadcast["mean"] is not None:
        parts.append(f"broadcasts {number(broadcast['mean'])} cycles to the last node")
    return ", ".join(parts)


def _lines(point: Figures) -> dict[str, str]:
    used = point["utilisation"]
    share = f"the busiest link is {rough(used['max'])} busy, the average link {rough(used['mean'])}"
    lines = {"where": share}
    if used["mean"] and used["broadcast"]:
        part = rough(used["broadcast"] / used["mean"])
        lines["why"] = f"broadcasts make {part} of the traffic on links"
    return lines


def _asked(found: Figures, rates: Sequence[float]) -> str:
    """Return the command that asks for these rates."""
    shown = dict.fromkeys(f"{rate:.3g}" for rate in rates)
    return again(WORDS, found, rate=",".join(shown), cycles=None)
