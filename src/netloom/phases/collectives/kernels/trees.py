"""Maximum flows in whole numbers, and what they make: groups, switches split off, trees.

Maximum flows, stopped at a limit, are the one engine behind optima and trees. A graph is four
arrays that grow: arc a leads to ``head[a]`` with the capacity ``cap[a]``. Its reverse is arc a ^ 1.
``first[v]`` is the last arc added at v, and ``following[a]`` the one before it, −1 at the end.
``room`` is space for one flow: int32[4, num_vertices].

The groups of ranks that the fewest links leave take one minimum cut per rank. Flows also tell how
much of a switch may be split off, and how often a tree may use a link of a network of ranks alone.

Judged by ``tests/phases/collectives/test_optimum.py``, by ``test_groups.py``, which tries every
group, and by ``test_trees.py``: what they find is judged.
"""

from __future__ import annotations

from netloom.base.compilation import inlined, kernel, part

# -- flows -----------------------------------------------------------------------------------------


INFINITE = 1 << 61
"""More than any capacity or limit."""


@inlined
def add_arc(first, following, head, cap, count, source, target, capacity):
    """Add an arc and its reverse of capacity 0 as arcs ``count`` and ``count + 1``."""
    head[count], head[count + 1] = target, source
    cap[count], cap[count + 1] = capacity, 0
    following[count], following[count + 1] = first[source], first[target]
    first[source], first[target] = count, count + 1
    return count + 2


@inlined
def drop_arc(first, following, head, count):
    """Take the last arc that was added out again."""
    first[head[count - 1]] = following[count - 2]
    first[head[count - 2]] = following[count - 1]
    return count - 2


@inlined
def levels(first, following, head, cap, room, source, target):
    """Number vertices by their distance from the source, until the target has one."""
    level, queue = room[0], room[2]
    level[:] = -1
    level[source] = 0
    queue[0] = source
    done, known = 0, 1
    while done < known and level[target] < 0:
        here = queue[done]
        done += 1
        arc = first[here]
        while arc >= 0:
            there = head[arc]
            if cap[arc] > 0 and level[there] < 0:
                level[there] = level[here] + 1
                queue[known] = there
                known += 1
            arc = following[arc]
    return level[target] >= 0


@part
def max_flow(first, following, head, cap, room, source, target, limit):
    """Return the flow from source to target, at most ``limit``. ``cap`` is what remains (Dinic).

    If it is less, ``room[0]`` is −1 exactly beyond the minimum cut.
    """
    level, at, trail = room[0], room[1], room[3]
    total = limit - limit
    while total < limit and levels(first, following, head, cap, room, source, target):
        for vertex in range(len(first)):
            at[vertex] = first[vertex]
        here, depth = source, 0
        while True:
            if here == target:
                push, cut = limit - total, 0
                for place in range(depth):
                    push = min(push, cap[trail[place]])
                for place in range(depth - 1, -1, -1):
                    cap[trail[place]] -= push
                    cap[trail[place] ^ 1] += push
                    if cap[trail[place]] == 0:
                        cut = place
                total += push
                if total == limit:
                    break
                depth = cut
                here = head[trail[cut] ^ 1]
                continue
            arc = at[here]
            while arc >= 0 and (cap[arc] <= 0 or level[head[arc]] != level[here] + 1):
                arc = following[arc]
            at[here] = arc
            if arc >= 0:
                trail[depth] = arc
                depth += 1
                here = head[arc]
            elif depth == 0:
                break
            else:
                level[here] = -1
                depth -= 1
                here = head[trail[depth] ^ 1]
    return total


@kernel
def first_short(first, following, head, whole, cap, room, source, begin, own, limit):
    """Return the first vertex from ``begin`` on whose flow falls short of the limit; −1 if none.

    ``whole``: int64[arcs], the capacities. ``cap`` is room for as many. ``own``: int64[targets],
    the arc that leads from the source to each vertex. It becomes infinite once the vertex has
    passed: a cut below the limit has that vertex on the source's side. ``room[0]`` tells the cut.
    """
    for place in range(begin, len(own)):
        for arc in range(len(whole)):
            cap[arc] = whole[arc]
        if max_flow(first, following, head, cap, room, source, place, limit) < limit:
            return place
        whole[own[place]] = INFINITE
    return -1


@kernel
def fill_arcs(first, following, head, cap, sources, targets, capacities):
    """Add arcs to a graph that has none."""
    count = 0
    for place in range(len(sources)):
        count = add_arc(
            first, following, head, cap, count, sources[place], targets[place], capacities[place]
        )
    return count


# -- groups ----------------------------------------------------------------------------------------


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

    The graph has links, then an arc from ``source`` to each rank, then one from
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


# -- switches and trees ----------------------------------------------------------------------------


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
    root. ``want``: the most that is there. No rank may lose a tree. ``graph``: the arrays of
    ``max_flow``, the capacities before what remains of them.
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
