"""The groups of ranks that the fewest links leave, by one minimum cut a rank.

Judged by ``tests/phases/collectives/test_groups.py``: every group is tried.
"""

from netloom.base.compilation import inlined, kernel
from netloom.phases.collectives.kernels.flows import INFINITE, max_flow


@inlined
def set_arcs(whole, cap, height, rank, own):
    """Make a cut worth what leaves a group of ``rank`` and some before it, less their heights."""
    ranks = len(height)
    for arc in range(len(whole)):
        cap[arc] = whole[arc]
    for other in range(ranks):
        into, out = own + 2 * other, own + 2 * (ranks + other)
        if other > rank:
            cap[out] = INFINITE
        elif other == rank:
            cap[into] = INFINITE
        elif height[other] > 0:
            cap[into] = height[other]
        else:
            cap[out] = -height[other]


@kernel
def join_groups(first, following, head, whole, cap, room, source, price, height, group):
    """Fill ``group`` with those that minimize what leaves them less ``price`` each.

    The graph is that of ``flows``: links, then an arc from ``source`` to each rank, then one from
    each rank to ``source`` + 1. ``whole`` has the capacities: int64[arcs], 0 except for links.
    ``height``: room for int64[num_ranks]. ``group``: int64[num_vertices], the last rank that
    joined; −1 where no group is.
    """
    ranks = len(height)
    own = len(whole) - 4 * ranks
    group[:] = -1
    above = price - price
    for rank in range(ranks):
        set_arcs(whole, cap, height, rank, own)
        flow = max_flow(first, following, head, cap, room, source, source + 1, INFINITE)
        height[rank] = flow - above - price
        above += max(height[rank], 0)
        for other in range(rank):
            if room[0, other] >= 0 and group[other] != rank:
                joined = group[other]
                for vertex in range(source):
                    if group[vertex] == joined:
                        group[vertex] = rank
        for vertex in range(source):
            if room[0, vertex] >= 0:
                group[vertex] = rank
