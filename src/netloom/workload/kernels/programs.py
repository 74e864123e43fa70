"""Rows of programs that wait for each other, over flat arrays.

``find_brought``: which messages of a collective brought what each message carries.
Twin: ``tests/reference/collective_waits.py``.

Rounds of rows: their least times, and their numbers. Rows come in an order in which none comes
before what it waits for. ``row``, ``number``: int64[n], the row of its round and the number of its
round. What is known of two rounds in turn is in arrays of int64[2, rows], even rounds first.
``offsets``, ``after``: what each row of a round waits for, where rows of the round before count
from 0, and those of its own round on from there.
Twin: ``tests/reference/rounds.py``.

``remaining_chains``: how long what is to come after each row of a program takes at least.
Twin: ``tests/reference/agenda.py``.
"""

import numpy as np

from netloom.base.compilation import njit

# -- collectives -----------------------------------------------------------------------------------


@njit
def find_brought(events, offsets, carried, sums, num_chunks):
    """Find pairs of messages: one that carries a chunk, and one that brought it or added to it.

    ``events``: what ranks do, in order of time, rank by rank as ``offsets`` says: m for sending
    message m, ~m for getting it. ``carried``: the chunks of each message, as offsets and values.
    ``sums``: bool[num_messages], whether it adds to what the target has. Return int64[2, pairs].
    """
    begin, chunks = carried
    latest = np.zeros(num_chunks, np.int64)  # the place at which the rank got a chunk last
    owner = np.full(num_chunks, -1, np.int64)  # the rank for which that holds
    before = np.zeros(len(chunks), np.int64)  # the place of what a chunk was added to
    message_of = np.zeros(len(chunks), np.int64)  # the message of a place
    seen = np.full(len(sums), -1, np.int64)  # the last message found to wait for each
    pairs, found = np.zeros((2, 1024), np.int64), 0
    for rank in range(len(offsets) - 1):
        for event in events[offsets[rank] : offsets[rank + 1]]:
            message = event if event >= 0 else ~event
            for place in range(begin[message], begin[message + 1]):
                chunk = chunks[place]
                there = latest[chunk] if owner[chunk] == rank else -1
                if event < 0:
                    before[place] = there if sums[message] else -1
                    message_of[place] = message
                    latest[chunk], owner[chunk] = place, rank
                    continue
                while there >= 0:
                    other = message_of[there]
                    if seen[other] != message:
                        seen[other] = message
                        if found == pairs.shape[1]:
                            pairs = np.concatenate((pairs, pairs), axis=1)
                        pairs[0, found], pairs[1, found] = message, other
                        found += 1
                    there = before[there]
    return pairs[:, :found]


# -- rounds ----------------------------------------------------------------------------------------


@njit
def find_gates(made, part_of, opens, offsets, after, times, gates):
    """The first cycle in which a row of the next round of each part can be released.

    ``made``: int64[parts], the rounds of each part so far. ``opens``: bool[rows], whether a row
    waits for none of its own round. ``gates``: int64[parts], lowered to the cycle.
    """
    for row in range(len(opens)):
        if opens[row]:
            part, latest = part_of[row], 0
            for place in range(offsets[row], offsets[row + 1]):
                latest = max(latest, times[(made[part] - 1) & 1, after[place]])
            gates[part] = min(gates[part], latest)


@njit
def least_times(now, done, least, row, number, offsets, after, times, released):
    """The cycle in which each row is released, or the first in which it can be, if it is not yet.

    ``done``, ``least``, ``released``: int64[n], the last one filled: the cycle in which a row was
    complete (-1: not yet), and the least cycles that it takes. What is not complete by now is so
    in the cycle ``now`` at the earliest. ``times``: the same for its completion.
    """
    rows = times.shape[1]
    for entry in range(len(row)):
        here, turn = row[entry], number[entry] & 1
        latest = 0
        for place in range(offsets[here], offsets[here + 1]):
            waited = after[place]
            of = times[1 - turn, waited] if waited < rows else times[turn, waited - rows]
            latest = max(latest, of)
        released[entry] = latest
        ended = done[entry]
        times[turn, here] = ended if ended >= 0 else max(now, latest + least[entry])


@njit
def number_waits(first, row, number, offsets, after, numbers, waits_offsets, waits):
    """Number rows on from ``first``. Fill in, ragged, the numbers that each of them waits for.

    ``numbers``: those given so far. The first round waits for none before it.
    """
    rows = numbers.shape[1]
    size = 0
    for entry in range(len(row)):
        here, turn = row[entry], number[entry] & 1
        for place in range(offsets[here], offsets[here + 1]):
            waited = after[place]
            if waited >= rows:
                waits[size] = numbers[turn, waited - rows]
                size += 1
            elif number[entry] > 0:
                waits[size] = numbers[1 - turn, waited]
                size += 1
        numbers[turn, here] = first + entry
        waits_offsets[entry + 1] = size


# -- traces ----------------------------------------------------------------------------------------


@njit
def remaining_chains(cycles, after_offsets, after, chains):
    """The longest chain of rows that begins with each row and goes on with those that wait for it.

    ``cycles``: int64[n], what each row takes. ``chains``: int64[n], zero before, the cycles of the
    longest chain. Rows wait for earlier ones only, so one pass from the last on is enough.
    """
    for row in range(len(cycles) - 1, -1, -1):
        chains[row] += cycles[row]
        for place in range(after_offsets[row], after_offsets[row + 1]):
            waited = after[place]
            chains[waited] = max(chains[waited], chains[row])
