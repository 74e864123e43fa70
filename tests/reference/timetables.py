"""Timetables and fair sharing by definition, slowly and with exact numbers.

Connections of one phase are tuples (one, other, words): the two processors that each occupies.
``order`` is a set of pairs (before, after) of their numbers.
"""

from fractions import Fraction


def waits_for(order, connection):
    return {before for before, after in order if after == connection}


def algorithm_as(connections, order):
    """Feldmann et al. 1993, section 4.4.2: the start of each connection."""
    start = {}
    while len(start) < len(connections):
        left = [number for number in range(len(connections)) if number not in start]
        allowed = [number for number in left if waits_for(order, number) <= start.keys()]
        processors = {end for number in allowed for end in connections[number][:2]}
        min_time = {
            processor: sum(connections[n][2] for n in left if processor in connections[n][:2])
            for processor in processors
        }
        busiest = min(processors, key=lambda processor: (-min_time[processor], processor))
        mine = [number for number in allowed if busiest in connections[number][:2]]
        longest = min(mine, key=lambda number: (-connections[number][2], number))
        start[longest] = first_hole(connections, order, start, longest)
    return [start[number] for number in range(len(connections))]


def in_sequence(connections, order, sequence):
    """The start of connections that are put into holes in the sequence given."""
    start = {}
    for number in sequence:
        start[number] = first_hole(connections, order, start, number)
    return [start[number] for number in range(len(connections))]


def first_hole(connections, order, start, number):
    one, other, words = connections[number]
    busy = [
        (start[known], start[known] + connections[known][2])
        for known in start
        if {one, other} & set(connections[known][:2])
    ]
    ready = [start[before] + connections[before][2] for before in waits_for(order, number)]
    earliest = max(ready, default=0)
    for time in sorted({earliest, *(end for _, end in busy)}):
        free = all(end <= time or begin >= time + words for begin, end in busy)
        if time >= earliest and free:
            return time
    raise AssertionError


def fair_rates(uses, capacity):
    """Max-min fair rates; ``uses``: of each connection, the places that it crosses."""
    rate, left = {}, dict(capacity)
    while len(rate) < len(uses):
        open_uses = {number: places for number, places in uses.items() if number not in rate}
        share = {
            place: left[place] / sum(places.count(place) for places in open_uses.values())
            for places in open_uses.values()
            for place in places
        }
        least = min(share.values())
        fixed = [n for n, places in open_uses.items() if any(share[p] == least for p in places)]
        for number in fixed:
            rate[number] = least
            for place in uses[number]:
                left[place] -= least
    return rate


def flow(connections, order, uses, capacity, sequence=None, *, in_turn=False):
    """When each connection starts and ends; all at once if there is no sequence."""
    exclusive = sequence is not None
    waiting = list(sequence if exclusive else range(len(connections)))
    left = {number: Fraction(connections[number][2]) for number in waiting}
    start, end, running, now = {}, {}, set(), Fraction(0)
    while waiting or running:
        passed = set()
        for number in list(waiting):
            ends = set(connections[number][:2])
            busy = {end for other in running for end in connections[other][:2]}
            allowed = waits_for(order, number) <= end.keys()
            if exclusive and ends & busy:
                allowed = False
            if in_turn and ends & passed:
                allowed = False
            if allowed:
                waiting.remove(number)
                running.add(number)
                start[number] = now
            else:
                passed |= ends
        rate = fair_rates({number: uses[number] for number in running}, capacity)
        step = min(left[number] / rate[number] for number in running)
        now += step
        for number in sorted(running):
            left[number] -= rate[number] * step
            if left[number] == 0:
                running.remove(number)
                end[number] = now
    numbers = range(len(connections))
    return [start[number] for number in numbers], [end[number] for number in numbers]
