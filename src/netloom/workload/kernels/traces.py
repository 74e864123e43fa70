"""How long what is to come after each row of a program takes at least.

Twin: ``tests/reference/agenda.py``.
"""

from netloom.base.compilation import njit


@njit(nogil=True)
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
