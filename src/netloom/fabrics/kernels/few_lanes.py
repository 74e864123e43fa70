"""Search for a forwarding table whose dependencies never close a circle, over flat arrays.

``search`` is the ``Search`` of ``netloom.fabrics.few_lanes``, ``graph`` the ``DependencyGraph`` of
``netloom.routing.forwarding.tables``. All dependencies of all rows are counted in ``graph``, each
in the lane of its row.

Twin: ``tests/reference/few_lanes.py``.
"""

from netloom.base.compilation import kernel
from netloom.base.kernels.heap import pop, push
from netloom.routing.kernels.layers import insert, remove


@kernel
def improve(search, graph, first, tries):
    """Take out rows and find new ones, try by try. Keep what does not cost more. Return the cost.

    The first tries find a row to each destination, in ``search.order``, the next ``search.singles``
    take out one row each, in the same order, and all others a group.
    """
    cost, rows = whole_cost(search), len(search.order)
    for number in range(first, first + tries):
        count = 1
        if number < rows + search.singles:
            search.group[0] = search.order[number % rows]
        else:
            count = draw_group(search)
            search.taste[0] = 1.0 + draw(search, 2)
            search.taste[1] = 1.2 + draw(search, 8) / 10
            search.taste[2] = draw(search, 8) / 32
        for place in range(count):
            row = search.group[place]
            search.old_lane[row] = search.lane[row]
            copy_row(search.old, search.table, row)
            take_out(search, graph, row)
        done, found = 0, True
        while found and done < count:
            found = best_lane(search, graph, search.group[done], number < rows)
            if found:
                keep_row(search, search.group[done], 1)
                done += 1
        after = whole_cost(search)
        if number < rows or (found and after <= cost):
            cost = after
            continue
        for place in range(done):
            take_out(search, graph, search.group[place])
        for place in range(count):
            put_back(search, graph, search.group[place])
    return cost


@kernel
def take_out(search, graph, row):
    """Take a row's dependencies and its load away."""
    depend(search, graph, row, search.lane[row], -1)
    keep_row(search, row, -1)


@kernel
def copy_row(table, given, row):
    """Copy a row from table to table."""
    for router in range(table.shape[1]):
        table[row, router] = given[row, router]


@kernel
def put_back(search, graph, row):
    """Let a row be as it was before."""
    search.lane[row] = search.old_lane[row]
    copy_row(search.table, search.old, row)
    depend(search, graph, row, search.lane[row], 1)
    keep_row(search, row, 1)


@kernel
def depend(search, graph, row, lane, sign):
    """Count or discount what the row's packets hold and then ask for."""
    for held in search.table[row]:
        asked = search.table[row, graph.channel_target[held]] if held >= 0 else held
        if asked >= 0 and sign > 0:
            insert(graph, lane, held, graph.slot[asked])
        elif asked >= 0:
            remove(graph, lane, held, graph.slot[asked])


@kernel
def keep_row(search, row, sign):
    """Add a row's paths to the load, or take them off."""
    column = row % search.sent.shape[1]
    touched = 0
    for router in range(search.table.shape[1]):
        hosts = search.sent[router, column]
        if row >= search.rows or hosts == 0:
            continue
        here = router
        while search.table[row, here] >= 0:
            channel = search.table[row, here]
            here = search.target[channel]
            if search.own[channel] == 0:
                search.touched[touched] = channel
                touched += 1
            search.own[channel] += hosts
            search.load[channel] += sign * hosts
            more = 2 * search.via[router, channel] * sign + 1
            search.alike[channel] += hosts * more
            search.via[router, channel] += sign
    for place in range(touched):
        channel = search.touched[place]
        search.alike[channel] += sign * search.own[channel] * search.own[channel]
        search.own[channel] = 0


@kernel
def whole_cost(search):
    """Return what all loads cost: a high power of each, and pairs of paths that can collide."""
    total = 0.0
    for channel in range(len(search.load)):
        time = search.load[channel] / search.room[channel]
        twice = time * time
        four = twice * twice
        pairs = search.load[channel] * (search.load[channel] + 1) - search.alike[channel]
        total += four * four + search.collide * pairs / (
            search.room[channel] * search.room[channel]
        )
    return total


@kernel
def weigh(search):
    """Set what a channel costs, given the load of all rows that are there."""
    for channel in range(len(search.load)):
        time = search.load[channel] / search.room[channel]
        over = time * time / (search.taste[1] * search.taste[1])
        jitter = 1 + search.taste[2] * draw(search, 1024) / 1024
        search.weight[channel] = (1 + time + over * over * over) * jitter


@kernel
def best_lane(search, graph, row, at_first):
    """Find the cheapest row in a lane: the old or another at random, at first in all.

    Return False if there is none. At first there always is, for the ways of a tree are reserved.
    """
    weigh(search)
    lanes, many, step = search.lanes, 1, 1
    if at_first:
        many = lanes
    elif lanes > 1:
        many, step = 2, 1 + draw(search, lanes - 1)
    own = search.lane[row]
    least, chosen, in_tree, known = search.far, -1, False, -1
    for turn in range(many + 2):
        lane = (own + turn * step) % lanes
        if turn >= many:
            in_tree = chosen < 0
            if (chosen >= 0 and chosen == known) or (in_tree and not at_first):
                break
            lane = row % lanes if in_tree else chosen
        if known >= 0:
            depend(search, graph, row, known, -1)
        cost = find_row(search, graph, row, lane, in_tree)
        known = lane if cost < search.far else -1
        if cost < least:
            least, chosen = cost, lane
    if chosen >= 0:
        search.lane[row] = chosen
    return chosen >= 0


@kernel
def find_row(search, graph, row, lane, in_tree):
    """Find the cheapest ways to a destination in a lane, and count their dependencies.

    From the destination outwards, a router takes the cheapest channel to one that has its way. Not
    one that would close a circle of dependencies. Return the cost of all paths. ``search.far``, and
    nothing is counted, if some router has no way.
    """
    column = row % search.sent.shape[1]
    search.table[row] = -1
    search.settled[:] = False
    end = search.exits[row]
    search.settled[end], search.base[end] = True, 0.0
    reached, size, total = 1, 0, 0.0
    size = push_ways(search, graph, row, end, in_tree, size)
    while size > 0 and reached < search.reach[row]:
        channel, cost = search.heap[0].item, search.heap[0].key
        size = pop(search.heap, size)
        router = search.source[channel]
        if search.settled[router]:
            continue
        after = search.target[channel]
        if after != end:
            asked = graph.slot[search.table[row, after]]
            if not insert(graph, lane, channel, asked):
                continue
        search.table[row, router] = channel
        search.settled[router] = True
        search.base[router] = search.base[after] + search.weight[channel]
        reached += 1
        if row < search.rows:
            total += cost * search.sent[router, column]
        size = push_ways(search, graph, row, router, in_tree, size)
    if reached == search.reach[row]:
        return total
    depend(search, graph, row, lane, -1)
    search.table[row] = -1
    return search.far


@kernel
def push_ways(search, graph, row, router, in_tree, size):
    """Let routers that lead to this one try to come by it."""
    for place in range(graph.in_offsets[router], graph.in_offsets[router + 1]):
        channel = graph.in_channels[place]
        before = search.source[channel]
        if search.settled[before] or (in_tree and not search.in_tree[channel]):
            continue
        shared, here = search.via[before, channel] / search.room[channel], router
        while search.table[row, here] >= 0:
            along = search.table[row, here]
            shared += search.via[before, along] / search.room[along]
            here = search.target[along]
        cost = search.base[router] + search.weight[channel] - search.taste[0] * shared
        size = push(search.heap, size, cost, channel)
    return size


@kernel
def draw(search, below):
    """Return a random number from 0 on (Marsaglia's xorshift, 2003)."""
    word = search.dice[0]
    word ^= (word << 13) & 0x7FFFFFFFFFFFFFFF
    word ^= word >> 7
    word ^= (word << 17) & 0x7FFFFFFFFFFFFFFF
    search.dice[0] = word
    return word % below


@kernel
def draw_group(search):
    """Choose rows to take out together: any, those of a busy channel, those round its router."""
    rows, count = len(search.order), 0
    most = 2 + draw(search, search.most_rows)
    kind, busy = draw(search, 3), 0
    if kind > 0:
        busy = draw(search, len(search.load))
        for _ in range(len(search.load) // 4):  # the busiest of some
            other = draw(search, len(search.load))
            gain = search.load[other] / search.room[other]
            if gain > search.load[busy] / search.room[busy]:
                busy = other
    begin = draw(search, rows)
    for place in range(rows):  # an order of all, shuffled as far as it is needed
        swap = place + draw(search, rows - place)
        row = search.order[swap]
        search.order[swap], search.order[place] = search.order[place], row
        end, source = search.exits[row], search.source[busy]
        wanted = kind == 0
        if kind == 1:
            wanted = search.table[row, source] == busy
        elif kind == 2:
            follows = search.table[row, source]
            wanted = end == source or (follows >= 0 and search.target[follows] == end)
        if wanted:
            search.group[count] = row
            count += 1
            if count >= most:
                break
    if count == 0:
        search.group[0], count = search.order[begin], 1
    return count
