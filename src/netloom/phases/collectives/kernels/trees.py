"""Maximum flows in whole numbers, and what they make: groups, switches split off, trees.

Maximum flows, stopped at a limit, are the one engine behind optima and trees. A graph is (first,
following, head, whole, cap, room). Arc a leads to ``head[a]`` with the capacity ``whole[a]``, of
which ``cap[a]`` remains in a flow. Its reverse is arc a ^ 1. ``first[v]`` is the last arc added at
v, and ``following[a]`` the one before it, −1 at the end. ``room`` is space for one flow:
int32[4, num_vertices].

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
def add_arc(graph, count, source, target, capacity):
    """Add an arc and its reverse of capacity 0 as arcs ``count`` and ``count + 1``."""
    first, following, head, whole, _, _ = graph
    head[count], head[count + 1] = target, source
    whole[count], whole[count + 1] = capacity, 0
    following[count], following[count + 1] = first[source], first[target]
    first[source], first[target] = count, count + 1
    return count + 2


@inlined
def drop_arc(graph, count):
    """Take the last arc that was added out again."""
    first, following, head, _, _, _ = graph
    first[head[count - 1]] = following[count - 2]
    first[head[count - 2]] = following[count - 1]
    return count - 2


@inlined
def levels(graph, begin, end, back):
    """Number vertices by their distance from the begin, until the end has one.

    ``back``: 0, or 1 by arcs taken backwards: by their distance to the begin.
    """
    first, following, head, _, cap, room = graph
    level, queue = room[0], room[2]
    level[:] = -1
    level[begin] = 0
    queue[0] = begin
    done, known = 0, 1
    while done < known and level[end] < 0:
        here = queue[done]
        done += 1
        arc = first[here]
        while arc >= 0:
            there = head[arc]
            if cap[arc ^ back] > 0 and level[there] < 0:
                level[there] = level[here] + 1
                queue[known] = there
                known += 1
            arc = following[arc]
    return level[end] >= 0


@inlined
def reset(whole, cap, count):
    """Let nothing flow through the first ``count`` arcs."""
    for arc in range(count):
        cap[arc] = whole[arc]


@part
def max_flow(graph, count, source, target, limit):
    """Return the flow by the first ``count`` arcs from source to target, at most ``limit`` (Dinic).

    If it is less, ``room[0]`` is −1 exactly beyond the minimum cut.
    """
    first, following, head, whole, cap, room = graph
    level, at, trail = room[0], room[1], room[3]
    reset(whole, cap, count)
    total = limit - limit
    # backwards, it searches few where the target is near; if there is no way, from the source
    while total < limit and (levels(graph, target, source, 1) or levels(graph, source, target, 0)):
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
            while arc >= 0 and (cap[arc] <= 0 or level[head[arc]] != level[here] - 1):
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
def first_short(graph, source, begin, own, limit):
    """Return the first vertex from ``begin`` on whose flow falls short of the limit; −1 if none.

    ``own``: int64[targets], the arc that leads from the source to each vertex. It becomes infinite
    once the vertex has passed: a cut below the limit has that vertex on the source's side.
    ``room[0]`` tells the cut.
    """
    whole = graph[3]
    for place in range(begin, len(own)):
        if max_flow(graph, len(whole), source, place, limit) < limit:
            return place
        whole[own[place]] = INFINITE
    return -1


@kernel
def fill_arcs(graph, sources, targets, capacities):
    """Add arcs to a graph that has none."""
    count = 0
    for place in range(len(sources)):
        count = add_arc(graph, count, sources[place], targets[place], capacities[place])
    return count


# -- groups ----------------------------------------------------------------------------------------


@inlined
def set_arcs(whole, height, rank, own):
    """Make a cut worth what leaves a group of ``rank`` and some before it, less their heights."""
    ranks = len(height)
    for arc in range(own, len(whole)):
        whole[arc] = 0
    for other in range(ranks):
        into, out = own + 2 * other, own + 2 * (ranks + other)
        if other > rank:
            whole[out] = INFINITE
        elif other == rank:
            whole[into] = INFINITE
        elif height[other] > 0:
            whole[into] = height[other]
        else:
            whole[out] = -height[other]


@kernel
def join_groups(graph, source, price, height, group):
    """Fill ``group`` with those that minimize what leaves them less ``price`` each.

    The graph has links, then an arc from ``source`` to each rank, then one from each rank to
    ``source`` + 1. ``height``: room for int64[num_ranks]. ``group``: int64[num_vertices], the last
    rank that joined; −1 where no group is.
    """
    whole, room, ranks = graph[3], graph[5], len(height)
    own = len(whole) - 4 * ranks
    group[:] = -1
    above = price - price
    for rank in range(ranks):
        set_arcs(whole, height, rank, own)
        flow = max_flow(graph, len(whole), source, source + 1, INFINITE)
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


@kernel
def movable(capacity, trees, through, after, before, want, graph):
    """Return how much of the ways before → through → after may become a link of its own.

    ``capacity``: int64[num_vertices, num_vertices]. ``trees``: int64[num_ranks], trees of each
    root. ``want``: the most that is there. No rank may lose a tree.
    """
    source, total, count, ranks = len(capacity), want - want, 0, len(trees)
    graph[0][: source + 1] = -1
    for one in range(source):
        for other in range(source):
            if capacity[one, other] > 0:
                count = add_arc(graph, count, one, other, capacity[one, other])
    for rank in range(ranks):
        total += trees[rank]
        if trees[rank] > 0:
            count = add_arc(graph, count, source, rank, trees[rank])
    # cuts with both ends inside, then cuts with both beyond and ``through`` inside
    count = add_arc(graph, count, source, before, INFINITE)
    count = add_arc(graph, count, source, after, INFINITE)
    want = by_ranks(graph, count, source, total, ranks, through, after, before, want)
    count = add_arc(graph, drop_arc(graph, drop_arc(graph, count)), source, through, INFINITE)
    if before != after:
        count = add_arc(graph, count, before, after, INFINITE)
    if before < ranks or after < ranks:  # an end is the rank
        return max_flow(graph, count, source, after, total + want) - total
    return by_ranks(graph, count, source, total, ranks, after, after, before, want)


@inlined
def by_ranks(graph, count, source, total, ranks, target, after, before, want):
    """Limit ``want`` by the cuts that have the target beyond, and a rank that is neither end."""
    for rank in range(ranks):
        if want > 0 and rank != before and rank != after:
            count = add_arc(graph, count, rank, target, INFINITE)
            want = max_flow(graph, count, source, target, total + want) - total
            count = drop_arc(graph, count)
    return want


@inlined
def begin(links, left, waiting, stack, last, graph):
    """Build the graph of all that is left. Return its arcs, and the trees of all other batches."""
    _, sources, targets = links
    first, room = graph[0], graph[5]
    source, count, others = len(waiting), 0, waiting[0] - waiting[0]
    first[:] = -1
    for link in range(len(sources)):
        count = add_arc(graph, count, sources[link], targets[link], left[link])
    for rank in range(source):
        room[4, rank] = 0
        if waiting[rank] > 0:
            count = add_arc(graph, count, source, rank, waiting[rank])
            others += waiting[rank]
    for batch in range(last):
        count = add_batch(graph, count, source, stack, batch)
        others += stack[0][batch]
    for place in range(stack[2][last]):
        room[4, stack[1][last, place]] = 1
    return count, others


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
    whole, room = graph[3], graph[5]
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
            end = add_arc(graph, count, here, source, INFINITE)
            fits = max_flow(graph, end, here, there, others + most) - others
            drop_arc(graph, end)
            if fits <= 0:
                continue
            if fits < many[at]:  # what fits goes on as the next of the stack, and the rest stays
                for vertex in range(ranks):
                    order[at + 1, vertex], parent[at + 1, vertex] = (
                        order[at, vertex],
                        parent[at, vertex],
                    )
                covered[at + 1], many[at + 1] = covered[at], fits
                many[at] -= fits
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
    many, order, covered, _ = stack
    node = source + 1 + batch
    count = add_arc(graph, count, source, node, many[batch])
    for place in range(covered[batch]):
        count = add_arc(graph, count, node, order[batch, place], INFINITE)
    return count
