"""What an analysis says of a network of switches: channel, router, bound, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.analyze.where import CLOSE, carried, unit
from netloom.topology.subnets.names import short_switch_name

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = {
    ("host", "out"): "what host {name} sends over its own channels",
    ("host", "in"): "what host {name} receives over its own channels",
    ("router", "out"): "what leaves {name} for other routers",
    ("router", "in"): "what enters {name} from other routers",
    ("subtree", "out"): "what leaves {name}",
    ("subtree", "in"): "what enters {name}",
    ("group", "out"): "what leaves {name}",
    ("group", "in"): "what enters {name}",
    ("half", "out"): "what leaves {name} for the other half of the hosts",
    ("half", "in"): "what enters {name} from the other half of the hosts",
}
"""What a cut is, in words."""

HELPS = {
    "host": "less traffic of this host, or more bandwidth at it,",
    "router": "a mapping that keeps more inside the router, or more channels from it",
    "subtree": "a mapping that keeps more inside the subtree, or more channels from it",
    "group": "a mapping that keeps more inside the group, or more channels from it",
    "half": "a mapping that keeps more inside each half, or more channels between them",
}
"""What helps where a cut is the limit."""


def switched_remarks(data: dict[str, Any]) -> Iterator[str]:
    """Yield lines on the bound, the busiest router, and the taper of the network."""
    bounds, weight = data["bounds"], unit(data)
    yield _limit(bounds, weight)
    router = data["busiest_router"]
    name = short_switch_name(router["name"])
    yield f"Busiest router: {name}, {carried(weight, router['load'])} pass through."
    hosts = data["host_channel_load"]
    yield (
        f"Channels of hosts: {counted(number(hosts['mean']), 'path')} on average, at most "
        f"{number(hosts['max'])}."
    )
    for each in data["oversubscription"]:
        if each["ratio"] > 1:
            yield _taper(each)


def _limit(bounds: dict[str, Any], weight: str) -> str:
    """Say which cut is the limit, and what would help."""
    cut = next(each for each in bounds["cuts"] if each["kind"] == bounds["tightest"])
    part = PARTS[cut["kind"], cut["way"]].format(name=short_switch_name(cut["name"]))
    over = f"{carried(weight, cut['weight'])} over bandwidth {number(cut['bandwidth'])}"
    if bounds["ratio"] <= CLOSE:
        helps = f"No routing can do better; {HELPS[cut['kind']]} would help."
    else:
        helps = "A routing that spreads paths more evenly, or another mapping, may come nearer."
    return f"The bound is {part}: {over}. {helps}"


def _taper(each: dict[str, Any]) -> str:
    """Say how routers of one level are oversubscribed."""
    below, above = each["channels_below"], each["channels_above"]
    others = each["routers"] - 1
    who = short_switch_name(each["router"])
    if others:
        who += f" and {counted(others, 'router')} like it"
    have = "have" if others else "has"
    rates = ""
    if (each["below"], each["above"]) != (below, above):  # else the counts say it
        rates = f", of bandwidth {number(each['below'])} and {number(each['above'])} in all"
    return (
        f"Oversubscribed {number(each['ratio'])}:1: {who} {have} {counted(below, 'channel')} from "
        f"below and {counted(above, 'uplink')}{rates}."
    )
