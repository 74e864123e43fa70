"""Edge coloring of connections between senders and receivers.

Twin: ``tests/reference/partitioning.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def edge_colouring(one, other, num_processors, colours):
    """Return int64[n], a color of each connection, none twice at a processor.

    The connections join senders to receivers, at most ``colours`` at each, so that König's theorem
    gives a coloring: a connection takes a color that is free at its sender. If it is taken at the
    receiver, the path of that color and of one that is free there changes them.
    """
    of = np.full((num_processors, colours), -1, np.int64)
    colour = np.empty(len(one), np.int64)
    for connection in range(len(one)):
        mine, theirs = 0, 0
        while of[one[connection], mine] >= 0:
            mine += 1
        while of[other[connection], theirs] >= 0:
            theirs += 1
        place, old, new = other[connection], mine, theirs
        moved = of[place, old]
        of[place, old] = connection
        while moved >= 0:  # it has color old at place, where new is free
            far = one[moved] + other[moved] - place
            after = of[far, new]
            of[place, new], of[far, new] = moved, moved
            colour[moved] = new
            if after < 0:
                of[far, old] = -1
            moved, place, old, new = after, far, new, old
        of[one[connection], mine] = connection
        colour[connection] = mine
    return colour
