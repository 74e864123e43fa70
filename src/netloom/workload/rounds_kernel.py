"""The least times of a program that repeats: what could happen if no message ever waited."""

from numba import njit


@njit(cache=True, nogil=True)
def least_times(complete, now, least, before, offsets, after, times):
    """The cycle in which each row is complete; where it is not yet, the first in which it can be.

    ``complete``, ``least``, ``times``: int64[rounds, rows], the last one filled; what is not
    complete by now is so in the cycle ``now`` at the earliest. ``before``: int64[rows], the round
    before the first. ``after`` counts the rows of the round before from 0,
    and those of the row's own round on from there.
    """
    rounds, rows = times.shape
    for number in range(rounds):
        previous = times[number - 1] if number else before
        for row in range(rows):
            if complete[number, row] >= 0:
                times[number, row] = complete[number, row]
                continue
            released = 0
            for place in range(offsets[row], offsets[row + 1]):
                waited = after[place]
                done = previous[waited] if waited < rows else times[number, waited - rows]
                released = max(released, done)
            times[number, row] = max(now, released + least[number, row])
