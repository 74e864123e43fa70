"""Is this schedule of a collective right? A judge that shares no code with what makes schedules.

Routes are followed channel by channel, and times are compared with what channels can carry. The
messages are executed on data in the order of their times. A rank may send only what has arrived,
sums may count no contribution twice, and in the end every rank must have the collective's result.
Of a schedule of few steps it is asked, too, whether its prices prove that few steps take so long.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.units import rate, seconds
from netloom.phases.collectives.schedules import (
    Schedule,
    cut_seconds,
    priced_seconds,
    steps_seconds,
)
from netloom.phases.violations import broken, first_wrong
from netloom.workload.programs.collectives.program import EVERYBODY

SLACK = 1e-9
"""Part of the finish by which times may be off: they are sums of floats."""

FUZZ = 1e-6
"""Part of a channel's rate by which sums of rates may be off."""

HOPS = 24
MOST_HOPS = (1 << HOPS) - 1
"""Bits that count how often data was sent."""


class Judged(NamedTuple):
    """What a schedule that breaks no rule was found to be.

    Attributes
    ----------
    finish_seconds
        When the last message has arrived.
    bound_seconds
        What the bottleneck cut or the prices prove, computed anew; 0 if the schedule has neither.
    depth
        The most messages that data takes one after the other.
    busiest
        The part of the time for which the busiest channels are in use.
    step_seconds
        What its prices prove of schedules of few steps, exactly. None if it has none.
    """

    finish_seconds: float
    bound_seconds: float
    depth: int
    busiest: float
    step_seconds: Fraction | None = None


def judge(schedule: Schedule) -> Judged:
    """Refuse a schedule that breaks a rule.

    Raises
    ------
    InvalidPlanError
        If a rule is broken. The error names the first: ``route``, ``timetable`` (a message is
        faster than its channels), ``capacity`` (channels carry too much), ``order`` (a rank sends
        what has not arrived), ``data`` or ``bound``. With ``data``, a contribution counts twice, or
        a rank ends without a chunk. With ``bound``, neither the cut nor the prices prove it.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.pipelines import Asked
    >>> from netloom.phases.collectives.synthesis import proven, synthesised
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> judge(proven(synthesised(Asked(net, "all-gather", 1e9)))).depth
    2
    """
    _check_meaning(schedule)
    _check_routes(schedule)
    busiest = _check_rates(schedule)
    depth = _executed(schedule)
    few = None if schedule.few is None else step_seconds(schedule)
    network, program, stated = schedule.network, schedule.program, schedule.bound
    collective, size = program.collective, schedule.size_bytes
    proven, what, over = 0.0, "", SLACK
    if stated.prices is not None:  # exact, so the bound is not a digit above what they prove
        proven = priced_seconds(network, collective, size, stated.prices)
        what, over = "the prices prove", 0.0
    elif len(stated.inside):
        proven = cut_seconds(network, collective, program.root, size, stated.inside)
        what = "the cut proves"
    off = stated.seconds - proven
    if what and (not -SLACK * proven <= off <= over * proven or not proven):
        found, wanted = (f"{each:.17g} s" for each in (stated.seconds, proven))
        raise broken("bound", "bound", found, f"{wanted}, which {what}")
    return Judged(schedule.finish_seconds, proven, depth, busiest, few)


def _message(schedule: Schedule, number: int) -> str:
    program = schedule.program
    return f"message {number} (rank {program.source[number]} to {program.target[number]})"


def _check_meaning(schedule: Schedule) -> None:
    """Refuse chunks that are not the data of the collective: who has how much, and who gets it."""
    program, ranks = schedule.program, schedule.program.num_ranks
    first, final, root = program.first_owner, program.final_owner, program.root
    kinds = {
        "all-gather": ("each", EVERYBODY),
        "gather": ("each", root),
        "scatter": (root, "each"),
        "reduce-scatter": (EVERYBODY, "each"),
        "broadcast": (root, EVERYBODY),
        "reduce": (EVERYBODY, root),
        "all-reduce": (EVERYBODY, EVERYBODY),
        "all-to-all": ("each", "each"),
    }
    if program.collective not in kinds:
        raise broken("data", "collective", program.collective, ", ".join(kinds))
    parts = 1
    shares = np.zeros(program.num_chunks, np.int64)
    for what, owner, kind in zip(
        ("first", "final"), (first, final), kinds[program.collective], strict=True
    ):
        wrong = owner < 0 if kind == "each" else owner != kind
        if (chunk := first_wrong(wrong)) is not None:
            wanted = "a rank" if kind == "each" else str(kind)
            raise broken("data", f"{what} owner of chunk {chunk}", str(owner[chunk]), wanted)
        if kind == "each":
            shares, parts = shares * ranks + owner, parts * ranks
    sizes = np.bincount(shares, program.chunk_size, minlength=parts)
    share = 1 / min(parts, ranks)  # of all-to-all a rank's buffer is the size
    off = np.abs(sizes - share) > FUZZ * share
    if program.collective == "all-to-all":  # what a rank keeps need not be listed
        off[:: ranks + 1] &= sizes[:: ranks + 1] > 0
    if (place := first_wrong(off)) is not None:
        where = "chunks" if parts == 1 else f"chunks of rank {place // (parts // ranks)}"
        raise broken("data", where, f"{sizes[place]:.9g} of the size", f"{share:.9g}")


def _check_routes(schedule: Schedule) -> None:
    """Refuse routes that are no way from their source to their target, or lead through ranks."""
    network, program, routes = schedule.network, schedule.program, schedule.routes
    if (empty := first_wrong(routes.lengths == 0)) is not None:
        raise broken("route", _message(schedule, empty), "no channels", "at least one")
    message = routes.owners()
    first = np.zeros(len(message), np.bool_)
    first[routes.offsets[:-1]] = True
    last = np.append(first[1:], True)[: len(message)]
    come_to = np.append(0, network.target[routes.values][:-1]) if len(message) else message
    here = np.where(first, program.source[message], come_to)
    checks = (
        (network.source[routes.values] != here, "does not start where the message is"),
        (last & (network.target[routes.values] != program.target[message]), "ends elsewhere"),
        (~last & (network.target[routes.values] < program.num_ranks), "passes through a rank"),
    )
    for wrong, why in checks:
        if (place := first_wrong(wrong)) is not None:
            name = network.channel_name(int(routes.values[place]))
            found = f"channel {name}, which {why}"
            raise broken("route", _message(schedule, int(message[place])), found, "its way")


def _check_rates(schedule: Schedule) -> float:
    """Refuse messages that are faster than channels. Return how much of the time those are busy.

    While a message is sent, it takes the same rate of all its channels. This time begins at its
    start or, in schedules that were made backwards, ends at its end. Channels that join the same
    two vertices share their capacities.
    """
    network, routes, program = schedule.network, schedule.routes, schedule.program
    finish = schedule.finish_seconds
    if not program.num_messages or finish <= 0:
        return 0.0
    slack = SLACK * finish
    sending, size = schedule.sending, program.message_size * schedule.size_bytes
    if (early := first_wrong(~(schedule.start >= 0))) is not None:
        raise broken("timetable", _message(schedule, early), "a start below 0", "0 or later")
    slowest = np.minimum.reduceat(network.rate[routes.values], routes.offsets[:-1])
    if (fast := first_wrong(~(sending + slack >= size / slowest) | (sending <= 0))) is not None:
        found = f"{seconds(float(sending[fast]), 6)} of sending"
        wanted = f"{seconds(float(size[fast] / slowest[fast]), 6)} at {rate(float(slowest[fast]))}"
        raise broken("timetable", _message(schedule, fast), found, wanted)
    ends = network.source * np.int64(len(network.labels)) + network.target
    _, link = np.unique(ends, return_inverse=True)
    room: Floats = np.bincount(link, network.rate).astype(np.float64)
    message = routes.owners()
    where, taken = link[routes.values], np.minimum(size / sending, slowest)[message]
    begins = schedule.start, schedule.end - sending
    peaks = [_overfull(each[message], sending[message], taken, where, room) for each in begins]
    if (first := peaks[0]) is not None and peaks[1] is not None:
        row, used, time = first
        name = network.channel_name(int(routes.values[row]))
        found = f"{rate(used, 6)} on {name} at {seconds(time, 6)}"
        wanted = f"at most {rate(float(room[where[row]]), 6)}"
        raise broken("capacity", _message(schedule, int(message[row])), found, wanted)
    load = np.bincount(where, size[message], minlength=len(room))
    return float((load / room).max() / finish)


def _overfull(
    begin: Floats, sending: Floats, taken: Floats, where: Ints, room: Floats
) -> tuple[int, float, float] | None:
    """Return the first row at whose beginning a link carries too much, how much, and when."""
    slack = SLACK * float((begin + sending).max())
    stop = np.maximum(begin + sending - slack, begin)
    change, time = np.concatenate([-taken, taken]), np.concatenate([stop, begin])
    place = np.tile(where, 2)
    order = np.lexsort((change, time, place))
    used = np.cumsum(change[order])
    over = first_wrong(used > room[place[order]] * (1 + FUZZ))
    if over is None:
        return None
    row = int(order[over] % len(where))
    return row, float(used[over]), float(time[order[over]])


def _executed(schedule: Schedule) -> int:
    """Execute the messages on data in time. Return the longest way that data takes, in messages.

    Refuses ranks that end without a chunk, or without contributions to it.
    A rank has of each chunk whose contributions are in it, a bit each, above how often it was sent.
    """
    program = schedule.program
    have: list[dict[int, int]] = [{} for _ in range(program.num_ranks)]
    for chunk, owner in enumerate(program.first_owner.tolist()):
        for rank in range(program.num_ranks) if owner < 0 else (owner,):
            have[rank][chunk] = 1 << rank + HOPS
    count = program.num_messages
    soon = schedule.end - SLACK * schedule.finish_seconds
    arrive = np.maximum(soon, np.nextafter(schedule.start, np.inf))
    order = np.argsort(np.concatenate([arrive, schedule.start]), kind="stable").tolist()
    source, target, sums = program.source.tolist(), program.target.tolist(), program.sums.tolist()
    offsets, chunks = program.chunks.offsets.tolist(), program.chunks.values.tolist()
    on_the_way = {}
    for event in order:
        number = event % count
        carried = chunks[offsets[number] : offsets[number + 1]]
        if event >= count:
            at = have[source[number]]
            if not all(chunk in at for chunk in carried):
                lost = next(chunk for chunk in carried if chunk not in at)
                found = f"chunk {lost} sent at {seconds(float(schedule.start[number]), 6)}"
                wanted = "what has arrived at its source by then"
                raise broken("order", _message(schedule, number), found, wanted)
            on_the_way[number] = [at[chunk] for chunk in carried]
            continue
        at = have[target[number]]
        for chunk, new in zip(carried, on_the_way.pop(number), strict=True):
            old = at.get(chunk, 0) if sums[number] else 0
            if both := old >> HOPS & new >> HOPS:
                found = f"the contribution of rank {both.bit_length() - 1} to chunk {chunk} twice"
                raise broken("data", _message(schedule, number), found, "every one once")
            hops = max(old & MOST_HOPS, (new & MOST_HOPS) + 1)
            at[chunk] = (old | new) >> HOPS << HOPS | hops
    depth, everybody = 0, (1 << program.num_ranks) - 1
    owners = zip(program.first_owner.tolist(), program.final_owner.tolist(), strict=True)
    for chunk, (first, final) in enumerate(owners):
        goal = everybody if first < 0 else 1 << first
        for rank in range(program.num_ranks) if final < 0 else (final,):
            got = have[rank].get(chunk, 0)
            if got >> HOPS != goal:
                part = f"{(got >> HOPS).bit_count()} of {goal.bit_count()} contributions"
                found = f"chunk {chunk} with {part} in the end" if got else f"no chunk {chunk}"
                raise broken("data", f"rank {rank}", found, "all of what the collective means")
            depth = max(depth, got & MOST_HOPS)
    return depth


def step_seconds(schedule: Schedule) -> Fraction:
    """Return what the prices of a schedule of few steps prove, in seconds, latencies left out.

    Raises
    ------
    InvalidPlanError
        If it has more steps than its proof, steps overlap (``timetable``), or its prices do not
        prove what it says (``bound``).

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.few_steps import in_steps
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.pipelines import Asked
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> found = in_steps(Asked(net, "all-gather", 1e6), 2)
    >>> step_seconds(found.schedule)
    Fraction(3, 200000)
    """
    few = schedule.few
    assert few is not None
    known, step = np.unique(schedule.start, return_inverse=True)
    if len(known) > few.steps:
        wanted = f"at most {few.steps}"
        raise broken("timetable", "few_steps", f"{len(known)} steps", wanted)
    until = np.append(known[1:], np.inf)[step] + SLACK * schedule.finish_seconds
    if (late := first_wrong(schedule.end > until)) is not None:
        found = f"an end at {seconds(float(schedule.end[late]), 6)}"
        wanted = f"by {seconds(float(known[step[late] + 1]), 6)}, when the next step begins"
        raise broken("timetable", f"message {late} of step {step[late] + 1}", found, wanted)
    try:
        proven = steps_seconds(schedule, few)
    except InputError as error:
        raise broken("bound", f"few_steps: {error.where}", error.found, error.wanted) from None
    if not abs(Fraction(few.seconds) - proven) <= Fraction(SLACK) * proven:
        found, wanted = (f"{float(each):.12g} s" for each in (few.seconds, proven))
        raise broken("bound", "few_steps", found, f"{wanted}, which the prices prove")
    return proven
