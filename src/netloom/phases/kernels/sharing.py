"""Words as a fluid: connections of one phase that share channels and network access fairly.

A place is a channel, or the network access of a processor. ``uses``: int64[…], the places of
connection c are at ``first_use[c]`` to ``first_use[c + 1]``. ``users``: the connections of place p
at ``first_user[p]`` to ``first_user[p + 1]``. ``capacity``: float64[places], words per clock.
``one``, ``other``, ``words``, ``first``, ``later``, ``waits``: see ``kernels.timetable``.

Twin: ``tests/reference/timetables.py``.
"""

import numpy as np

from netloom.base.compilation import njit

TOGETHER = 1e-9  # relative difference that rounding may make between equal numbers


@njit(nogil=True)
def fair_rates(running, first_use, uses, first_user, users, capacity, count, left, rate):
    """Fill the max-min fair rates of the running connections (words per clock), -1 for others.

    By progressive filling (Bertsekas & Gallager, *Data Networks*, 2nd ed., 1992, section 6.5.2):
    the place with the least share for each of its connections gives it to all of them. What they
    leave elsewhere is shared among the others likewise. ``running``: bool[n]. ``count``:
    int64[places], ``left``: float64[places], for use in here.
    """
    left[:] = capacity
    count[:] = 0
    for connection in range(len(running)):
        rate[connection] = -1.0
        if running[connection]:
            for at in range(first_use[connection], first_use[connection + 1]):
                count[uses[at]] += 1
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
            for connection in users[first_user[place] : first_user[place + 1]]:
                if running[connection] and rate[connection] < 0:
                    rate[connection] = least
                    for at in range(first_use[connection], first_use[connection + 1]):
                        count[uses[at]] -= 1
                        left[uses[at]] -= least


@njit(nogil=True)
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


@njit(nogil=True)
def flow(
    sequence, exclusive, in_turn, num_processors, one, other, words, first, later, waits,
    first_use, uses, first_user, users, capacity, start, end,
):  # fmt: skip
    """Fill the clocks at which connections start and end, float64[n] both, from event to event.

    Rates are those of ``fair_rates`` until some connection ends. ``sequence``: int64[n], the
    connections in the order in which ``admit`` looks at them. Returns whether all ended: they do
    unless one comes before what it waits for.
    """
    n, now, ended = len(words), 0.0, 0
    left, missing = words.astype(np.float64), waits.copy()
    running, rate = np.zeros(n, np.bool_), np.empty(n)
    count, room = np.empty(len(capacity), np.int64), np.empty(len(capacity))
    free = np.ones(num_processors, np.bool_)
    waiting = sequence.copy()
    start[:] = -1.0
    while ended < n:
        still = admit(waiting, running, exclusive, in_turn, one, other, missing, free)
        waiting = waiting[:still]
        fair_rates(running, first_use, uses, first_user, users, capacity, count, room, rate)
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
