"""Which messages of a collective brought what each message carries.

Twin: ``tests/reference/collective_waits.py``.
"""

from netloom.base.compilation import njit


@njit(nogil=True)
def find_brought(
    events, offsets, chunk_offsets, chunks, row_of, sums, latest, owner, before, seen,
    waiter, waited,
):  # fmt: skip
    """Find pairs of messages: one that carries a chunk, and one that brought it or added to it.

    ``events``: what ranks do, in order of time, rank by rank as ``offsets`` says: m for sending
    message m, ~m for getting it. ``chunk_offsets``, ``chunks``: the chunks of each message.
    ``row_of``: int32[len(chunks)], the message of each. ``sums``: bool[num_messages], whether it
    adds to what the target has. ``waiter``, ``waited``: int64[…], filled as far as there is room.
    Return how many pairs there are.

    State: ``latest``: int64[num_chunks], the place in ``chunks`` at which the rank got a chunk
    last. ``owner``: int64[num_chunks], −1 before, the rank for which that holds. ``before``:
    int64[len(chunks)], the place at which it got the chunk before, if the chunk was added to that.
    ``seen``: int64[num_messages], −1 before, the last message that was found to wait for each.
    """
    found = 0
    for rank in range(len(offsets) - 1):
        for event in events[offsets[rank] : offsets[rank + 1]]:
            message = event if event >= 0 else ~event
            for place in range(chunk_offsets[message], chunk_offsets[message + 1]):
                chunk = chunks[place]
                there = latest[chunk] if owner[chunk] == rank else -1
                if event < 0:
                    before[place] = there if sums[message] else -1
                    latest[chunk], owner[chunk] = place, rank
                    continue
                while there >= 0:
                    other = row_of[there]
                    if seen[other] != message:
                        seen[other] = message
                        if found < len(waiter):
                            waiter[found], waited[found] = message, other
                        found += 1
                    there = before[there]
    return found
