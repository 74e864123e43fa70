"""Messages in time over flat arrays: list scheduling, and trees on fixed routes.

List scheduling: each message leaves as soon as it is ready and its cables have room. Ready messages
queue by their route, first by priority. A message takes the rate of its route from all its links
while it is sent. A link takes messages while their rates fit.

On fixed routes, out-trees are grown one after the other, and their messages get a timetable.
``ways`` are the routes as offsets and channels, that from rank a to rank b at a · ranks + b, and
how many messages each channel carries in one round.

Judged by ``tests/phases/collectives/test_listed.py`` and by ``test_on_tables.py``: what they find
is judged.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, part
from netloom.base.kernels.heap import pop, push
from netloom.workload.kernels.packets import bits_at

# -- list scheduling -------------------------------------------------------------------------------


@inlined
def best_route(link, routes, left, queues):
    """Return the route through a link whose first message may leave and comes first; −1 if none."""
    route_offsets, route_links, rate, _, link_offsets, link_routes = routes
    offsets, heap, fill = queues
    found, least = -1, 0
    for place in range(link_offsets[link], link_offsets[link + 1]):
        route = link_routes[place]
        if fill[route] == 0 or (found >= 0 and heap[offsets[route]].key >= least):
            continue
        fits = True
        for hop in range(route_offsets[route], route_offsets[route + 1]):
            if left[route_links[hop]] < rate[route]:
                fits = False
                break
        if fits:
            found, least = route, heap[offsets[route]].key
    return found


@inlined
def make_ready(message, jobs, routes, queues, touched, marks):
    """Queue a message by its route, and mark the first link of that."""
    route_of, _, priority, _ = jobs
    offsets, heap, fill = queues
    route = route_of[message]
    own = heap[offsets[route] : offsets[route + 1]]
    fill[route] = push(own, fill[route], priority[message], message)
    return touch(routes[1][routes[0][route]], touched, marks)


@inlined
def touch(link, touched, marks):
    """Mark a link once. Return how many are."""
    if marks[link] == 0:
        marks[link] = 1
        touched[touched[-1]] = link
        touched[-1] += 1


@inlined
def tell_followers(message, followers, jobs, routes, queues, touched, marks):
    """Queue what waited for this message alone."""
    offsets, values = followers
    waits = jobs[3]
    for place in range(offsets[message], offsets[message + 1]):
        follower = values[place]
        waits[follower] -= 1
        if waits[follower] == 0:
            make_ready(follower, jobs, routes, queues, touched, marks)


@kernel
def run_list(jobs, followers, routes, left, queues, events, marked, found):
    """Give every message its start and end. Return how many were sent, which should be all.

    ``jobs``: of each message its route, the seconds that it takes its links, its priority (the
    least first), and what it still waits for. ``followers``: the messages
    that wait for each, as offsets and values. ``routes``: their links (offsets, values), rates and
    latencies, and the routes through each link (offsets, values). ``left``: float64[num_links],
    room. ``queues``: a heap per route, of priorities and messages. ``events``: a heap of times and
    codes, 2 · message for what frees its links and 1 more for what arrives. ``found``:
    float64[num_messages] starts and ends.
    """
    route_of, seconds, _, waits = jobs
    route_offsets, route_links, rate, latency, _, _ = routes
    offsets, heap, fill = queues
    touched, marks = marked
    start, end = found
    count, sent, now = 0, 0, 0.0
    for message in range(len(route_of)):
        if waits[message] == 0:
            make_ready(message, jobs, routes, queues, touched, marks)
    while True:
        for place in range(touched[-1]):
            link = touched[place]
            marks[link] = 0
            route = best_route(link, routes, left, queues)
            while route >= 0:
                own = heap[offsets[route] : offsets[route + 1]]
                message = own[0].item
                fill[route] = pop(own, fill[route])
                for hop in range(route_offsets[route], route_offsets[route + 1]):
                    left[route_links[hop]] -= rate[route]
                start[message] = now
                end[message] = now + seconds[message] + latency[route]
                count = push(events, count, now + seconds[message], 2 * message)
                count = push(events, count, end[message], 2 * message + 1)
                sent += 1
                route = best_route(link, routes, left, queues)
        touched[-1] = 0
        if count == 0:
            return sent
        now = events[0].key
        while count > 0 and events[0].key == now:
            message, arrives = events[0].item // 2, events[0].item % 2
            count = pop(events, count)
            if arrives == 0:
                route = route_of[message]
                for hop in range(route_offsets[route], route_offsets[route + 1]):
                    left[route_links[hop]] += rate[route]
                    touch(route_links[hop], touched, marks)
                continue
            tell_followers(message, followers, jobs, routes, queues, touched, marks)


# -- trees on fixed routes -------------------------------------------------------------------------


SPREAD = 256
"""Differences of sends that are told apart where holders are put in order."""

GROUPS = 4
"""Groups that are looked at for a holder's next message."""

ENTRIES = 4
"""Ranks of each of them."""


@part
def in_order(holders, count, sends, order, bucket):
    """Put the first ``count`` holders in ``order``, those with the fewest sends first."""
    least = sends[holders[0]]
    for place in range(count):
        least = min(least, sends[holders[place]])
    bucket[:] = 0
    for place in range(count):
        bucket[min(sends[holders[place]] - least, SPREAD - 1) + 1] += 1
    for key in range(1, SPREAD + 1):
        bucket[key] += bucket[key - 1]
    for place in range(count):
        key = min(sends[holders[place]] - least, SPREAD - 1)
        order[bucket[key]] = holders[place]
        bucket[key] += 1


@part
def entry(ways, groups, state, many, holder, key):
    """Return the place among the unserved groups, and the rank, that a holder serves best."""
    offsets, channels, room = ways
    first, members, _ = groups
    sends, load, unserved = state[0], state[1], state[2]
    best, place, chosen = np.inf, np.int64(-1), -1
    for attempt in range(min(GROUPS, many)):
        at = np.int64(attempt)
        if many > GROUPS:
            at = np.int64(bits_at(key, attempt) % np.uint64(many))
        group = unserved[at]
        size = first[group + 1] - first[group]
        begin = np.int64(bits_at(key, GROUPS + attempt) % np.uint64(size))
        for step in range(min(ENTRIES, size)):
            rank = members[first[group] + (begin + step) % size]
            route, most = holder * len(sends) + rank, 0.0
            for hop in range(offsets[route], offsets[route + 1]):
                most = max(most, load[channels[hop]] / room[channels[hop]])
            value = most * 4096.0 + sends[rank]
            if value < best:
                best, place, chosen = value, at, rank
    return place, chosen


@inlined
def neighbour(groups, group, above, sends):
    """Return the rank of a group without the block that has sent least, or −1 if there is none."""
    first, members, _ = groups
    least, chosen = 1 << 60, -1
    for other in range(first[group], first[group + 1]):
        rank = members[other]
        if above[rank] == -2 and sends[rank] < least:
            least, chosen = sends[rank], rank
    return chosen


@part
def grow_tree(ways, groups, pace, key, drawn, above, state, many):
    """Grow one tree step by step from its root, the only holder. Return how often it drew."""
    offsets, channels, _ = ways
    sends, load, unserved, holders, order, bucket = state
    ranks = len(sends)
    have, steps = 1, 0
    while 1 << steps < ranks:
        steps += 1
    while have < ranks:
        steps = max(steps - 1, 0)
        needed = ((ranks - 1) >> steps) + 1
        in_order(holders, have, sends, order, bucket)
        before = have
        for place in range(before):
            holder = order[place]
            if sends[holder] > pace and have >= needed:
                break
            if many:
                new = key + np.uint64(drawn) * np.uint64(2 * GROUPS)
                at, chosen = entry(ways, groups, state, many, holder, new)
                drawn += 1
                many -= 1
                unserved[at] = unserved[many]
            else:
                chosen = neighbour(groups, groups[2][holder], above, sends)
            if chosen >= 0:
                above[chosen] = holder
                sends[holder] += 1
                route = holder * ranks + chosen
                for hop in range(offsets[route], offsets[route + 1]):
                    load[channels[hop]] += 1
                holders[have] = chosen
                have += 1
        if have == before:
            pace += 1.0
    return drawn


@kernel
def grow_trees(ways, groups, roots, slack, key, parent, state):
    """Grow an out-tree from each of ``roots``: ``parent[root, rank]``, −1 for the root.

    Ranks of a group share a router. A rank that has the block sends it to a group without it, or
    else to a rank of its own group. Ranks that have sent more than their share so far wait for a
    step. They do so as long as the ranks with the block can still double to all in the least number
    of steps.

    ``groups``: offsets and members of each, and the group of each rank. ``state``: the sends of
    ranks and the load of channels so far, and room for unserved groups, holders, and their order.
    """
    first, _, group_of = groups
    sends, _, unserved, holders, _, _ = state
    ranks, drawn = len(sends), 0
    for done in range(len(roots)):
        root, many = roots[done], 0
        parent[root, :] = -2
        parent[root, root] = -1
        for group in range(len(first) - 1):
            if group != group_of[root]:
                unserved[many] = group
                many += 1
        holders[0] = root
        pace = np.float64(done) * (ranks - 1) / ranks + slack
        drawn = grow_tree(ways, groups, pace, key, drawn, parent[root], state, many)


@inlined
def fits(ways, used, route):
    """Return whether every channel of a route can carry one message more."""
    offsets, channels, room = ways
    for place in range(offsets[route + 1] - 1, offsets[route] - 1, -1):
        if used[channels[place]] >= room[channels[place]]:
            return False
    return True


@part
def first_fitting(ways, queues, ranks, source, chunks):
    """Take the first message that fits from the lists of a source, and return it, or −1 if none."""
    offsets, channels, _ = ways
    used, head, tail, following = queues
    for key in range(head.shape[1]):
        last, message = -1, head[source, key]
        while message >= 0:
            route = source * ranks + message // chunks % ranks
            if fits(ways, used, route):
                if last < 0:
                    head[source, key] = following[message]
                else:
                    following[last] = following[message]
                if following[message] < 0:
                    tail[source, key] = last
                for hop in range(offsets[route], offsets[route + 1]):
                    used[channels[hop]] += 1
                return message
            last, message = message, following[message]
    return -1


@kernel
def timetable(ways, rank_key, chunks, exit_of, children, queues, turns, idle, found):
    """Give each message the round in which it is sent, and return how many rounds there are.

    Message (root · ranks + target) · chunks + chunk is sent by who is above the target in the tree
    of the root. It is sent in a round after that in which its source got the chunk, and when every
    channel of its route has room. In each round the sources with the most left to send choose
    first. ``rank_key[message]`` says which of its messages a source tries first. ``exit_of``: the
    channel by which a rank sends all, or −1. ``children``: who hangs on (root, rank), as offsets
    and values. ``queues``: messages on each channel in a round, and ``head[source, key]``, the
    ready ones, with ``tail`` and what follows each. ``turns``: all ranks, how many messages each
    has left to send, negative, and room for an order. ``found``: the rounds, and room for messages.
    """
    used, head, tail, following = queues
    everyone, owes, order, bucket = turns
    child_first, child_list = children
    round_of, fresh = found
    room, ranks = ways[2], len(everyone)
    head[:] = -1
    tail[:] = -1
    news = 0
    for root in range(ranks):
        for chunk in range(chunks):
            fresh[news] = (root * ranks + root) * chunks + chunk
            news += 1
    rounds, left = 0, 0
    for rank in range(ranks):
        left -= owes[rank]
    while left > 0:
        for place in range(news):
            node = fresh[place] // chunks
            source = node % ranks
            for hang in range(child_first[node], child_first[node + 1]):
                message = child_list[hang] * chunks + fresh[place] % chunks
                key = rank_key[message]
                following[message] = -1
                if tail[source, key] < 0:
                    head[source, key] = message
                else:
                    following[tail[source, key]] = message
                tail[source, key] = message
        news = 0
        used[:] = 0
        idle[:] = False
        in_order(everyone, ranks, owes, order, bucket)
        active = True
        while active:
            active = False
            for place in range(ranks):
                source = order[place]
                out = exit_of[source]
                if idle[source] or (out >= 0 and used[out] >= room[out]):
                    continue
                message = first_fitting(ways, queues, ranks, source, chunks)
                if message < 0:
                    idle[source] = True
                    continue
                active = True
                round_of[message] = rounds
                owes[source] += 1
                fresh[news] = message
                news += 1
        assert news > 0
        left -= news
        rounds += 1
    return rounds
