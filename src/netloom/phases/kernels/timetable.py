"""Times of the words of one phase, over flat arrays.

The ``work`` of a phase is (one, other, words, followers, waits, served). ``one``, ``other``:
int64[n], the two processors of each connection. If a processor sends and receives at once, its two
sides count as processors of their own. ``words``: int64[n]. ``followers``: the connections that
wait for each, as offsets and values, and ``waits``: int64[n], the number of those that it waits for
itself. ``served``: the connections of each processor, ascending, as offsets and values. A
``sequence`` is int64[n], all connections, none before one that it waits for. ``start``: int64[n].

If connections share channels and network access, words are a fluid, shared fairly. A place is a
channel, or the network access of a processor. ``uses``: the places of each connection, and
``users``: the connections of each place, both as offsets and values. ``capacity``:
float64[places], words per clock.

Twin: ``tests/reference/timetables.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit

# -- shared channels -------------------------------------------------------------------------------


TOGETHER = 1e-9  # relative difference that rounding may make between equal numbers


@njit
def fair_rates(running, uses, users, capacity):
    """Return the max-min fair rates of the running connections (words per clock), -1 for others.

    By progressive filling (Bertsekas & Gallager, *Data Networks*, 2nd ed., 1992, section 6.5.2):
    the place with the least share for each of its connections gives it to all of them. What they
    leave elsewhere is shared among the others likewise. ``running``: bool[n].
    """
    (first_use, used), (first_user, user) = uses, users
    left, count = capacity.copy(), np.zeros(len(capacity), np.int64)
    rate = np.full(len(running), -1.0)
    for connection in np.flatnonzero(running):
        for at in range(first_use[connection], first_use[connection + 1]):
            count[used[at]] += 1
    shared = np.flatnonzero(count)
    size = len(shared)
    while size > 0:
        least, kept = np.inf, 0
        for at in range(size):
            place = shared[at]
            if count[place] > 0:
                least = min(least, left[place] / count[place])
                shared[kept] = place
                kept += 1
        size = kept
        for place in shared[:size]:
            if left[place] > least * count[place] * (1 + TOGETHER):
                continue
            for connection in user[first_user[place] : first_user[place + 1]]:
                if running[connection] and rate[connection] < 0:
                    rate[connection] = least
                    for at in range(first_use[connection], first_use[connection + 1]):
                        count[used[at]] -= 1
                        left[used[at]] -= least
    return rate


@njit
def admit(waiting, running, exclusive, in_turn, one, other, missing, free):
    """Let connections run that may. Return how many still wait, moved to the front of ``waiting``.

    Those run that wait for no other (``missing`` is 0) and, where processors are ``exclusive``,
    whose two are free. The first in ``waiting`` first. ``in_turn``: only the first of each
    processor, so that it idles while the other end of its next connection is busy. ``free``:
    bool[processors].
    """
    kept = 0
    passed = np.zeros(len(free), np.bool_)  # an earlier connection of the processor waits
    for connection in waiting:
        a, b = one[connection], other[connection]
        allowed = missing[connection] == 0
        if exclusive:
            allowed = allowed and free[a] and free[b]
        if in_turn:
            allowed = allowed and not passed[a] and not passed[b]
        if allowed:
            running[connection] = True
            free[a], free[b] = False, False
        else:
            passed[a], passed[b] = True, True
            waiting[kept] = connection
            kept += 1
    return kept


@njit
def flow(sequence, exclusive, in_turn, work, uses, users, capacity, start, end):
    """Fill the clocks at which connections start and end, float64[n] both, from event to event.

    Rates are those of ``fair_rates`` until some connection ends. ``sequence``: int64[n], the
    connections in the order in which ``admit`` looks at them. Returns whether all ended: they do
    unless one comes before what it waits for.
    """
    one, other, words, (first, later), waits, (places, _) = work
    n, now, ended = len(words), 0.0, 0
    left, missing, running = words.astype(np.float64), waits.copy(), np.zeros(n, np.bool_)
    free, waiting = np.ones(len(places) - 1, np.bool_), sequence.copy()
    start[:] = -1.0
    while ended < n:
        still = admit(waiting, running, exclusive, in_turn, one, other, missing, free)
        waiting = waiting[:still]
        rate = fair_rates(running, uses, users, capacity)
        step = np.inf
        for connection in range(n):
            if running[connection]:
                if start[connection] < 0:
                    start[connection] = now
                step = min(step, left[connection] / rate[connection])
        if step == np.inf:
            return False
        now += step
        for connection in range(n):
            if not running[connection]:
                continue
            left[connection] -= rate[connection] * step
            if left[connection] <= TOGETHER * words[connection]:
                running[connection], end[connection] = False, now
                free[one[connection]], free[other[connection]] = True, True
                ended += 1
                for at in range(first[connection], first[connection + 1]):
                    missing[later[at]] -= 1
    return True


# -- timetables ------------------------------------------------------------------------------------


@njit
def first_allowed(members, taken, waits):
    """Return the first member that is not taken and waits for none, or -1."""
    for connection in members:
        if not taken[connection] and waits[connection] == 0:
            return connection
    return -1


@njit
def greedy_sequence(work):
    """Return a sequence as algorithm AS makes it: the busiest processor's longest connection next.

    ``places`` moves on past what is taken, so that a processor's longest is found at once.
    """
    one, other, words, (first, later), waits, (offsets, served) = work
    num_processors, members, places = len(offsets) - 1, served.copy(), offsets[:-1].copy()
    ends, least = offsets[1:], np.zeros(num_processors, np.int64)
    for processor in range(num_processors):  # least: MIN_TIME of what is not in the sequence yet
        mine = members[places[processor] : ends[processor]]
        mine[:] = mine[np.argsort(-words[mine], kind="mergesort")]
        least[processor] = words[mine].sum()
    sequence, left = np.empty(len(words), np.int64), waits.copy()
    taken = np.zeros(len(words), np.bool_)
    stuck = np.full(num_processors, -1, np.int64)
    for step in range(len(words)):
        chosen = -1
        while chosen < 0:
            busiest = -1
            for processor in range(num_processors):
                while places[processor] < ends[processor] and taken[members[places[processor]]]:
                    places[processor] += 1
                if places[processor] == ends[processor] or stuck[processor] == step:
                    continue
                if busiest < 0 or least[processor] > least[busiest]:
                    busiest = processor
            chosen = first_allowed(members[places[busiest] : ends[busiest]], taken, left)
            stuck[busiest] = step
        sequence[step] = chosen
        taken[chosen] = True
        least[one[chosen]] -= words[chosen]
        least[other[chosen]] -= words[chosen]
        for at in range(first[chosen], first[chosen + 1]):
            left[later[at]] -= 1
    return sequence


@njit
def first_hole(place, end, second_place, second_end, ready, length, begins, finishes):
    """Return the first time from ``ready`` on at which two processors are free for ``length``.

    ``place`` to ``end``, ``second_place`` to ``second_end``: where the busy times of each are,
    from ``begins`` to ``finishes``, in order of time.
    """
    time = ready
    while True:
        while place < end and finishes[place] <= time:
            place += 1
        while second_place < second_end and finishes[second_place] <= time:
            second_place += 1
        if place < end and begins[place] < time + length:
            time = finishes[place]
        elif second_place < second_end and begins[second_place] < time + length:
            time = finishes[second_place]
        else:
            return time


@njit
def occupy(place, end, begin, finish, begins, finishes):
    """Insert a busy time of a processor, which has place to end so far. There is room for it."""
    while end > place and begins[end - 1] > begin:
        begins[end], finishes[end] = begins[end - 1], finishes[end - 1]
        end -= 1
    begins[end], finishes[end] = begin, finish


@njit
def fill(sequence, work, busy, ready, start):
    """Fill ``start``: each connection in its turn in the first hole that is long enough.

    ``busy``: int64[2, 2n], ``ready``: int64[n], for use in here.
    """
    one, other, words, (first, later), _, (places, _) = work
    begins, finishes = busy
    ends = places[:-1].copy()
    ready[:] = 0
    for connection in sequence:
        a, b, length = one[connection], other[connection], words[connection]
        begin = first_hole(
            places[a], ends[a], places[b], ends[b], ready[connection], length, begins, finishes
        )
        for end in (a, b):
            occupy(places[end], ends[end], begin, begin + length, begins, finishes)
            ends[end] += 1
        start[connection] = begin
        for at in range(first[connection], first[connection + 1]):
            ready[later[at]] = max(ready[later[at]], begin + length)


@njit
def filled(sequence, work):
    """Return int64[n], the start of each connection in the timetable of a sequence."""
    n = len(sequence)
    start, ready = np.empty(n, np.int64), np.empty(n, np.int64)
    fill(sequence, work, np.empty((2, 2 * n), np.int64), ready, start)
    return start


@njit
def keeps_order(sequence, position, first, later):
    """Whether no connection of a sequence is before one that it waits for."""
    for place in range(len(sequence)):
        position[sequence[place]] = place
    for connection in range(len(sequence)):
        for at in range(first[connection], first[connection + 1]):
            if position[later[at]] < position[connection]:
                return False
    return True


@njit
def improve(sequence, work, bound, tries, rng, start):
    """Anneal a sequence: swap two of it, and look at how many words of its timetable are late.

    A connection is late if it ends after the bound. The cost is Σ (end − bound) over late
    connections. Unlike the makespan, it shows which of two timetables is nearer to a better one.
    The temperature falls linearly from a tenth of the mean words to nothing. ``start`` holds the
    timetable of the sequence, and then that of the least makespan found. The search ends at a
    timetable that meets the bound.
    """
    words, (first, later), n = work[2], work[3], len(sequence)
    busy, ready = np.empty((2, 2 * n), np.int64), np.empty(n, np.int64)
    found, position = start.copy(), np.empty(n, np.int64)
    least = np.max(start + words)
    cost = float(np.sum(np.maximum(start + words - bound, 0)))
    warmest = 0.1 * np.mean(words)
    for attempt in range(tries):
        if least <= bound:
            break
        here, there = int(rng.random() * n), int(rng.random() * n)
        sequence[here], sequence[there] = sequence[there], sequence[here]
        kept = len(later) == 0 or keeps_order(sequence, position, first, later)
        if kept:
            fill(sequence, work, busy, ready, found)
            end, late = 0, 0.0
            for connection in range(n):
                finish = found[connection] + words[connection]
                end, late = max(end, finish), late + max(finish - bound, 0)
            if end < least:
                least = end
                start[:] = found
            warmth = warmest * (1 - attempt / tries)
            kept = late <= cost or rng.random() < np.exp((cost - late) / warmth)
        if kept:
            cost = late
        else:
            sequence[here], sequence[there] = sequence[there], sequence[here]
