"""List scheduling: each message leaves as soon as it is ready and its cables have room.

Ready messages queue by their route, first by priority. A message takes the rate of its route from
all its links while it is sent. A link takes messages while their rates fit.

Judged by ``tests/phases/collectives/test_listed.py``: what it finds is judged.
"""

from netloom.base.compilation import inlined, kernel, part


@part
def push(heap, count, value):
    """Add a value to a heap of ``count``, the least first."""
    place = count
    while place > 0 and heap[(place - 1) // 2] > value:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = value


@part
def pop(heap, count):
    """Take the least value out of a heap of ``count``, and return it."""
    found, value, place = heap[0], heap[count - 1], 0
    while 2 * place + 1 < count - 1:
        child = 2 * place + 1
        if child + 1 < count - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value
    return found


@part
def push_event(times, codes, count, time, code):
    """Add an event to a heap of ``count``: the earliest first, of those the least code."""
    place = count
    while place > 0:
        above = (place - 1) // 2
        if times[above] < time or (times[above] == time and codes[above] < code):
            break
        times[place], codes[place] = times[above], codes[above]
        place = above
    times[place], codes[place] = time, code


@part
def drop_event(times, codes, count):
    """Take the first event out of a heap of ``count``."""
    time, code, place = times[count - 1], codes[count - 1], 0
    while 2 * place + 1 < count - 1:
        child, other = 2 * place + 1, 2 * place + 2
        if other < count - 1 and (
            times[other] < times[child]
            or (times[other] == times[child] and codes[other] < codes[child])
        ):
            child = other
        if time < times[child] or (time == times[child] and code < codes[child]):
            break
        times[place], codes[place] = times[child], codes[child]
        place = child
    times[place], codes[place] = time, code


@inlined
def best_route(link, routes, left, queues):
    """Return the route through a link whose first message may leave and comes first; −1 if none."""
    route_offsets, route_links, rate, _, link_offsets, link_routes = routes
    offsets, heap, fill = queues
    found, least = -1, 0
    for place in range(link_offsets[link], link_offsets[link + 1]):
        route = link_routes[place]
        if fill[route] == 0 or (found >= 0 and heap[offsets[route]] >= least):
            continue
        fits = True
        for hop in range(route_offsets[route], route_offsets[route + 1]):
            if left[route_links[hop]] < rate[route]:
                fits = False
                break
        if fits:
            found, least = route, heap[offsets[route]]
    return found


@inlined
def make_ready(message, jobs, routes, queues, touched, marks):
    """Queue a message by its route, and mark the first link of that."""
    route_of, _, priority, _, _ = jobs
    offsets, heap, fill = queues
    route = route_of[message]
    push(heap[offsets[route] : offsets[route + 1]], fill[route], priority[message])
    fill[route] += 1
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

    ``jobs``: of each message its route, the seconds that it takes its links, its priority (0 first,
    none alike), what it still waits for, and by priority its number. ``followers``: the messages
    that wait for each, as offsets and values. ``routes``: their links (offsets, values), rates and
    latencies, and the routes through each link (offsets, values). ``left``: float64[num_links],
    room. ``queues``: a heap per route. ``events``: a heap of times and codes, 2 · message for what
    frees its links and 1 more for what arrives. ``found``: float64[num_messages] starts and ends.
    """
    route_of, seconds, _, waits, by_priority = jobs
    route_offsets, route_links, rate, latency, _, _ = routes
    offsets, heap, fill = queues
    times, codes = events
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
                message = by_priority[pop(heap[offsets[route] : offsets[route + 1]], fill[route])]
                fill[route] -= 1
                for hop in range(route_offsets[route], route_offsets[route + 1]):
                    left[route_links[hop]] -= rate[route]
                start[message] = now
                end[message] = now + seconds[message] + latency[route]
                push_event(times, codes, count, now + seconds[message], 2 * message)
                push_event(times, codes, count + 1, end[message], 2 * message + 1)
                count += 2
                sent += 1
                route = best_route(link, routes, left, queues)
        touched[-1] = 0
        if count == 0:
            return sent
        now = times[0]
        while count > 0 and times[0] == now:
            message, arrives = codes[0] // 2, codes[0] % 2
            drop_event(times, codes, count)
            count -= 1
            if arrives == 0:
                route = route_of[message]
                for hop in range(route_offsets[route], route_offsets[route + 1]):
                    left[route_links[hop]] += rate[route]
                    touch(route_links[hop], touched, marks)
                continue
            tell_followers(message, followers, jobs, routes, queues, touched, marks)
