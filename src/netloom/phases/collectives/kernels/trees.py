"""Switches split off a network, and out-trees packed into one of ranks alone, by maximum flows.

Judged by ``tests/phases/collectives/test_trees.py``: what it finds is judged.
"""

from netloom.base.compilation import inlined, kernel, part
from netloom.phases.collectives.kernels.flows import INFINITE, add_arc, drop_arc, max_flow


@part
def flow_beyond(graph, count, source, target, base, most):
    """Return by how much a flow exceeds ``base``, at most ``most``. The graph stays as it is."""
    first, following, head, whole, cap, room = graph
    for arc in range(count):
        cap[arc] = whole[arc]
    return max_flow(first, following, head, cap, room, source, target, base + most) - base


@kernel
def movable(capacity, trees, through, after, before, want, graph):
    """Return how much of the ways before → through → after may become a link of its own.

    ``capacity``: int64[num_vertices, num_vertices]. ``trees``: int64[num_ranks], trees of each
    root; ``want``: the most that is there. No rank may lose a tree. ``graph``: arrays as in
    ``flows``.
    """
    first, following, head, whole, _, _ = graph
    source, total, count = len(capacity), want - want, 0
    for vertex in range(source + 1):
        first[vertex] = -1
    for one in range(source):
        for other in range(source):
            if capacity[one, other] > 0:
                most = capacity[one, other]
                count = add_arc(first, following, head, whole, count, one, other, most)
    for rank in range(len(trees)):
        total += trees[rank]
        if trees[rank] > 0:
            count = add_arc(first, following, head, whole, count, source, rank, trees[rank])
    want = ends_inside(graph, count, source, total, len(trees), through, after, before, want)
    return ends_beyond(graph, count, source, total, len(trees), through, after, before, want)


@inlined
def ends_inside(graph, count, source, total, ranks, through, after, before, want):
    """Limit ``want`` by the cuts with both ends inside, ``through`` and a rank beyond."""
    first, following, head, whole, _, _ = graph
    count = add_arc(first, following, head, whole, count, source, before, INFINITE)
    count = add_arc(first, following, head, whole, count, source, after, INFINITE)
    for rank in range(ranks):
        if want > 0 and rank != before and rank != after:
            count = add_arc(first, following, head, whole, count, rank, through, INFINITE)
            want = flow_beyond(graph, count, source, through, total, want)
            count = drop_arc(first, following, head, count)
    count = drop_arc(first, following, head, count)
    drop_arc(first, following, head, count)
    return want


@inlined
def ends_beyond(graph, count, source, total, ranks, through, after, before, want):
    """Limit ``want`` by the cuts with ``through`` inside, both ends and a rank beyond."""
    first, following, head, whole, _, _ = graph
    count = add_arc(first, following, head, whole, count, source, through, INFINITE)
    if before != after:
        count = add_arc(first, following, head, whole, count, before, after, INFINITE)
    if before < ranks or after < ranks:  # an end is the rank
        return flow_beyond(graph, count, source, after, total, want)
    for rank in range(ranks):
        if want > 0:
            count = add_arc(first, following, head, whole, count, rank, after, INFINITE)
            want = flow_beyond(graph, count, source, after, total, want)
            count = drop_arc(first, following, head, count)
    return want


@inlined
def begin(links, left, waiting, stack, last, graph):
    """Build the graph of all that is left. Return its arcs, and the trees of all other batches."""
    _, sources, targets = links
    first, following, head, whole, _, room = graph
    source, count, others = len(waiting), 0, waiting[0] - waiting[0]
    for vertex in range(len(first)):
        first[vertex] = -1
    for link in range(len(sources)):
        here, there = sources[link], targets[link]
        count = add_arc(first, following, head, whole, count, here, there, left[link])
    for rank in range(source):
        room[4, rank] = 0
        if waiting[rank] > 0:
            count = add_arc(first, following, head, whole, count, source, rank, waiting[rank])
            others += waiting[rank]
    for batch in range(last):
        count = add_batch(graph, count, source, stack, batch)
        others += stack[0][batch]
    for place in range(stack[2][last]):
        room[4, stack[1][last, place]] = 1
    return count, others


@inlined
def set_aside(stack, at, fits, ranks):
    """Split a batch: what fits goes on as the next of the stack, and the rest stays."""
    many, order, covered, parent = stack
    for vertex in range(ranks):
        order[at + 1, vertex], parent[at + 1, vertex] = order[at, vertex], parent[at, vertex]
    covered[at + 1], many[at + 1] = covered[at], fits
    many[at] -= fits


@kernel
def grow(links, left, waiting, stack, depth, graph):
    """Grow the last batch of a stack until it spans. Return its place then, or −1.

    ``links``: the links by their source, as offsets, sources and targets. ``left``: int64[links],
    what of them is not yet in a tree. ``waiting``: int64[ranks], trees of the roots that are not
    begun. ``stack``: of each batch its multiplicity, the vertices that it covers in the order in
    which they joined, how many, and the link by which each joined. What had to be left behind
    lies below the batch that spans.
    """
    offsets, _, targets = links
    many, order, covered, parent = stack
    first, following, head, whole, _, room = graph
    ranks, at, place = len(waiting), depth - 1, 0
    source = ranks
    count, others = begin(links, left, waiting, stack, at, graph)
    while place < covered[at] and covered[at] < ranks:
        here = order[at, place]
        place += 1
        for link in range(offsets[here], offsets[here + 1]):
            there = targets[link]
            most = min(left[link], many[at])
            if most == 0 or room[4, there] == 1:
                continue
            end = add_arc(first, following, head, whole, count, here, source, INFINITE)
            fits = flow_beyond(graph, end, here, there, others, most)
            drop_arc(first, following, head, end)
            if fits <= 0:
                continue
            if fits < many[at]:
                set_aside(stack, at, fits, ranks)
                count = add_batch(graph, count, source, stack, at)
                others += many[at]
                at += 1
            left[link] -= fits
            whole[2 * link] -= fits
            order[at, covered[at]], parent[at, there] = there, link
            covered[at] += 1
            room[4, there] = 1
    return at if covered[at] == ranks else -1


@inlined
def add_batch(graph, count, source, stack, batch):
    """Add a batch that has to grow later: a vertex from which all that it covers is reached."""
    first, following, head, whole, _, _ = graph
    many, order, covered, _ = stack
    node = source + 1 + batch
    count = add_arc(first, following, head, whole, count, source, node, many[batch])
    for place in range(covered[batch]):
        there = order[batch, place]
        count = add_arc(first, following, head, whole, count, node, there, INFINITE)
    return count
