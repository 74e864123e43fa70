"""List scheduling: each message leaves as soon as it is ready and its cables have room.

Ready messages queue by their route, first by priority. A message takes the rate of its route from
all its links while it is sent. A link takes messages while their rates fit.

Judged by ``tests/phases/collectives/test_listed.py``: what it finds is judged.
"""

from netloom.base.compilation import inlined, kernel
from netloom.base.kernels.heap import pop, push


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
