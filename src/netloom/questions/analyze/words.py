"""What an analysis says: mark, answer, place, cause, next command, and the lines below them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import seconds, size
from netloom.base.words import counted, listed, number
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import (
    Measure,
    Verdict,
    arrow,
    mapped_program,
    percent,
    plain_table,
    size_of,
)
from netloom.topology.names import short_switch_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

    from netloom.questions.analyze.question import Analysis

    Figures = Mapping[str, Any]


CLOSE = 1.005
"""Times the bound up to which a channel works for no longer than it must."""


def carried(weight: str, amount: float) -> str:
    """Return an amount of traffic with its unit.

    Examples
    --------
    >>> carried("bytes", 12_299_755), carried("messages", 1), carried("uniform", 2.5)
    ('12.3 MB', '1 message', '2.5 paths')
    """
    if weight == "bytes":
        return size(amount)
    return counted(number(amount), "message" if weight == "messages" else "path")


def unit(figures: Mapping[str, Any]) -> str:
    """Return the weight of an analysis, or ``uniform`` if each path weighs 1, as in patterns."""
    channel = figures["busiest_channel"]
    plain = figures["mean_message"].get("bytes", 1) == 1 and channel["load"] == channel["paths"]
    return "uniform" if plain else str(figures["weight"])


def where(figures: Mapping[str, Any]) -> str:
    """Return which channels are busiest, what each carries, and how much that is."""
    channel = figures["busiest_channel"]
    load, together = carried(unit(figures), channel["load"]), channel.get("together")
    named = (
        f"{together} carry {load} each" if together else f"{arrow(channel['name'])} carries {load}"
    )
    if figures["bounds"] is None:
        return f"{named}, {_times(figures['bottleneck']['ratio'])} the busiest node"
    if channel["bandwidth"] != 1:
        named += f" at bandwidth {number(channel['bandwidth'])}"
    if not together and channel["kind"] != "network":
        named = named.replace(" carries", ", a host's own channel, carries")
    ratio = figures["bounds"]["ratio"]
    if ratio <= CLOSE:
        return f"{named}, as little as any routing allows"
    return f"{named}, {_times(ratio)} the least that any routing allows"


def _times(ratio: float) -> str:
    """Return a ratio to two digits, or more where these are 1, or more than half as a part."""
    if 0.995 <= ratio <= CLOSE:
        return "as much as"
    if ratio >= 0.995:
        return f"{number(float(f'{ratio:.{2 if ratio >= 1.05 else 3}g}'))}×"
    return f"{number(round(100 * ratio))}\u00a0% of"


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


PARTS = {
    ("host", "out"): "what host {name} sends over its own channels",
    ("host", "in"): "what host {name} receives over its own channels",
    ("coordinates", "out"): "what leaves {name}",
    ("coordinates", "in"): "what enters {name}",
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
    "coordinates": "a mapping that keeps more inside this part, or more channels from it",
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


ROWS = {
    "path length D, hops": "path_length",
    "logical path length d": "logical_path_length",
    "channel load χ, paths": "channel_load",
    "channel load, {weight}": "weighted_channel_load",
    "paths met by a path, ν": "path_contention",
}
"""Figures by mean and maximum, and what they are called."""

FEW = 3
"""Nodes that are named of many."""

LOADS = {
    "first node delayed at load *": "worst_node",
    "most nodes delayed at load *": "average_node",
    "most load carried": "upper_bound",
}
"""Limits of the load, and what they are called."""


def lines(result: Analysis) -> list[Any]:
    """Return the figures beside those of random mappings, and what the verdict does not say."""
    data = result.to_dict()
    remarks = [escape(f"• {line}") for line in _remarks(result, data)]
    return [_figures_table(data), f"[dim]{_footnote(data)}[/]", *remarks]


def _footnote(data: dict[str, Any]) -> str:
    """Return what the figures of the table are."""
    limits, notes = data["saturation"], ["Loads: % of a channel, offered by the average sender."]
    if limits["worst_node"] is not None:
        notes.append("* estimate (lemmas 3 and 4).")
    lemma = limits["lemma_3"]
    if lemma is not None and lemma > limits["upper_bound"]:
        notes.append(f"Lemma 3 alone would allow {load_share(lemma)}.")
    if data["busiest_channel"]["kind"] != "network":
        notes.append("Channel load: only between routers.")
    if data["random_mapping"]["mappings"]:
        notes.append("Better than: by the maximum.")
    return " ".join(notes)


def _figures_table(data: dict[str, Any]) -> Table:
    random = data["random_mapping"]
    many = random["mappings"]
    heads = ["", "mean", "max"]
    if many:
        heads += ["random\nmean", "random\nmax", "better\nthan"]
    table = plain_table(heads)
    for label, key in ROWS.items():
        cells = [number(data[key]["mean"]), number(data[key]["max"])]
        if many and f"{key}_max" in random:
            mean, top = random[f"{key}_mean"], random[f"{key}_max"]
            cells += [number(mean["mean"]), number(top["mean"]), f"{top['beaten']} of {many}"]
        known = data[key]["mean"] is not None
        if known and (key != "weighted_channel_load" or unit(data) != "uniform"):
            table.add_row(label.format(weight=data["weight"]), *cells)
    for label, key in LOADS.items():
        cells = [load_share(data["saturation"][key]), ""]
        if many and f"saturation_{key}" in random:
            figure = random[f"saturation_{key}"]
            cells += [load_share(figure["mean"]), "", f"{figure['beaten']} of {many}"]
        if data["saturation"][key] is not None:
            table.add_row(label, *cells)
    return table


def _remarks(result: Analysis, data: dict[str, Any]) -> list[str]:
    neck, channel = data["bottleneck"], data["busiest_channel"]
    what = f"{counted(data['tasks'], 'task', ',')} and {counted(data['paths'], 'path', ',')}"
    lines = [
        f"{what} on {size_of(result.topology)}, {result.routing}.",
        f"Busiest channel: {arrow(channel['name'])}, {counted(number(channel['paths']), 'path')}"
        f"{_busy(neck, 'channel') if channel['name'] == neck['channel'] else ''}.",
    ]
    if not result.topology.direct:
        lines += switched_remarks(data)
    affected = data["verdict"]["affected"]
    if affected:
        more = f" and {counted(len(affected) - FEW, 'more')}".removesuffix("s")
        shown = ", ".join(affected[:FEW]) + more * (len(affected) > FEW)
        what = "Delayed first" if result.offered is None else "Delayed"
        lines.append(f"{what}: {shown}.")
    if data["slowdown"]:
        mean, worst = data["slowdown"]["mean"], data["slowdown"]["max"]
        lines.append(
            f"Communication takes {number(mean)}× its time without contention on average, "
            f"{number(worst)}× on the worst path (estimates)."
        )
    message = data["mean_message"]
    if "hops" in message and result.graph.messages.max() > 1:  # else nobody counted messages
        took = f", {seconds(message['us'] * 1e-6)}" if "us" in message else ""
        lines.append(
            f"Mean message: {size(message['bytes'])} over {number(message['hops'])} hops, "
            f"{number(message['cycles'])} cycles{took} without contention."
        )
    if result.random_limited or result.random_alike:
        lines.append(_few_random(result))
    asked = data["provenance"]["configuration"]
    if data["local_edges"]:
        where = "On one host" if asked["count_inside_nodes"] else "Inside nodes"
        lines.append(f"{where}, without a channel: {counted(data['local_edges'], 'edge')}.")
    if data["shifts"]:
        loads = [each["channel_load"]["max"] for each in data["shifts"]]
        lines.append(
            f"The table is of all {len(loads)} shifts at once; one after the other, the busiest "
            f"channel between routers has {listed(list(map(number, loads)))} paths."
        )
    if data["left_out"]:
        lines.append(f"Left out: {data['left_out']}.")
    if data["note"]:
        lines.append(data["note"])
    if data["deadlock_cycle"]:
        lines.append(
            f"Needs virtual channels: without them {len(data['deadlock_cycle'])} channels can "
            f"deadlock, beginning with {arrow(data['deadlock_cycle'][0])}."
        )
    return lines


def _few_random(result: Analysis) -> str:
    """Say how many random mappings there were time for, and what is known of all mappings."""
    if result.random_alike:
        return "All mappings are alike: each task sends the same to every other, no place is left."
    many = counted(len(result.random), "random mapping")
    said = f"{many}: more would have taken too long (--random-mappings N takes N)."
    expected = result.expected
    if expected is None:
        return said
    about = "about " * (expected.channel_load_max_by != "enumeration")
    return (
        f"{said} Over all of them, exactly: path length {number(expected.path_length_mean)}, "
        f"channel load {number(expected.channel_load_mean)}, path contention "
        f"{number(expected.path_contention_mean)} on average; largest channel load {about}"
        f"{number(expected.channel_load_max)}."
    )


def _busy(neck: dict[str, Any], what: str) -> str:
    if f"{what}_busy_cycles" not in neck:
        return ""
    took = f", {seconds(neck[f'{what}_busy_us'] * 1e-6)}" if f"{what}_busy_us" in neck else ""
    busy = counted(number(neck[f"{what}_busy_cycles"]), "cycle")
    return f", busy for {busy}{took}"


def measure(figures: Mapping[str, Any]) -> Measure | None:
    """Return the load that the network carries at most, half-way traffic both ways."""
    most = limit_if_split(figures) or figures["saturation"]["upper_bound"]
    if most is None:
        return None
    what = "load from the average node, at most"
    return Measure(most, load_share(most), "carries up to {} load", what, more=True)
