"""Why the busiest channel of an analysis is busy, in words: only causes that figures show."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, listed, number
from netloom.questions.analyze.where import CLOSE, carried, unit
from netloom.questions.shown import percent
from netloom.questions.verdict import arrow
from netloom.topology.subnets.names import short_switch_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Figures = Mapping[str, Any]

LESS = 0.95
"""The busiest channel would carry at most this part of its load, were a cause removed."""

MOST = 0.5
"""Share of a channel's load from which on a task or a few pairs make most of it."""

STRONG = 1.5
"""Times their even share that a few pairs put on a channel."""

UNEVEN = 1.25
"""Times its fair share that a channel carries if paths are spread unevenly."""

LONG = 1.1
"""Times those of random mappings that paths are long."""

SAID = 2
"""Causes that are said, the first that apply."""


def limit_if_split(figures: Figures) -> float | None:
    """Return the load that the network carries at most if half-way traffic goes both ways.

    Paths of an analysis all take the + direction there, those of simulated packets one of the two.
    So the limit of the routing is this one. None if no traffic goes half-way round a ring, or if
    the busiest channel would carry as much.
    """
    half, most = figures["causes"]["half_way"], figures["saturation"]["upper_bound"]
    busiest = figures["busiest_channel"]["load"]
    if not half or not most or half["split_load"] >= busiest:
        return None
    return float(most * busiest / half["split_load"])


def why(figures: Figures) -> str:
    """Return up to two causes of the load of the busiest channel. "" if figures show none."""
    found = [*_causes(figures)][:SAID]
    return " · ".join(found)


def _causes(figures: Figures) -> Iterator[str]:
    """Yield causes, the strongest kind first. Of many busiest channels those of the first."""
    known, channel = figures["causes"], figures["busiest_channel"]
    it, load = "it", "that load"
    if channel.get("together"):
        it = arrow(channel["name"])
        load = f"the load of {it}"
    half, users, links = known["half_way"], known["users"], known["uplinks"]
    busiest = channel["load"]
    if half and half["split_load"] <= LESS * busiest:
        yield (
            f"{_about(half['share'])} of the traffic goes half-way round a ring, all of it in the "
            "+ direction"
        )
    if (groups := known["groups"]) and groups["share"] > MOST:
        over = counted(groups["channels"], "channel")
        yield (
            f"{_about(groups['share'])} of {load} goes from group {groups['from']} to group "
            f"{groups['to']}, over {over}"
        )
    if links:
        yield from _uplinks(figures, links, it)
    if users and channel["kind"] != "injection":
        yield from _users(users, load)
    random = figures["random_mapping"]
    if figures["dilation"] is not None and "dilation" in random:
        own, mean = figures["dilation"], random["dilation"]["mean"]
        if mean and own >= LONG * mean:
            yield (
                f"bytes travel {number(float(f'{own:.2g}'))} hops on average, "
                f"{number(float(f'{own / mean:.2g}'))}× as many as under random mappings"
            )


def _uplinks(figures: Figures, links: Mapping[str, Any], it: str) -> Iterator[str]:
    """Say that a channel is slow, paths are uneven, or several hosts share too few channels."""
    named = counted(links["channels"], "uplink" if links["way"] == "up" else "downlink")
    whose = f"the {named} of {short_switch_name(links['router'])}"
    better = figures["bounds"]["ratio"] > CLOSE
    if better and links["load"] >= UNEVEN * links["fair_load"]:
        fair = carried(unit(figures), links["fair_load"])
        rates = links.get("rates", [])  # older answers have none
        if len(rates) < 2:
            yield f"paths are spread unevenly: {whose} carry {fair} each on average"
            return
        usual = max(rates, key=lambda each: (each["channels"], each["rate"]))
        said = f"of {whose}, its share by bandwidth is {fair}"
        if links["rate"] < usual["rate"]:
            beside = f"{usual['channels']} of {number(usual['rate'])}"
            yield f"{it} runs at bandwidth {number(links['rate'])} beside {beside}: {said}"
        else:
            yield f"paths are spread unevenly: {said}"
    elif links["oversubscription"] > 1 and (links["hosts"] or 0) > 1:
        ratio = number(float(f"{links['oversubscription']:.2g}"))
        verb = "is" if links["channels"] == 1 else "are"
        yield f"{links['hosts']} hosts share {it}: {whose} {verb} oversubscribed {ratio}:1"


def _users(users: Mapping[str, Any], load: str) -> Iterator[str]:
    """Say which pairs, or which sender or receiver, make most of the load."""
    pairs, count = users["pairs"], users["count"]
    if count == 1:
        only = pairs[0]
        yield f"one pair of ranks, {only['source']}→{only['target']}, makes all of {load}"
        return
    sums = list(accumulate(each["share"] for each in pairs))
    few = next((many for many, made in enumerate(sums, start=1) if made > MOST), None)
    if few is not None and sums[few - 1] >= STRONG * few / count:
        if few == 1:
            first = pairs[0]
            ends = f"{first['source']}→{first['target']}"
            yield f"ranks {ends} make {_about(first['share'])} of {load}"
            return
        shown = [f"{p['source']}→{p['target']} ({_about(p['share'])})" for p in pairs[:few]]
        yield f"ranks {listed(shown)} make most of {load}"
        return
    for who, said in (("sender", "sends"), ("receiver", "receives")):
        task = users[who]
        if task["share"] > MOST and task["pairs"] > 1:
            partners = counted(task["pairs"], "rank")
            ends = f"to {partners}" if who == "sender" else f"from {partners}"
            yield f"rank {task['task']} {said} {_about(task['share'])} of {load}, {ends}"
            return


def _about(share: float) -> str:
    """Return a share in percent to two digits."""
    return percent(float(f"{share:.2g}"))
