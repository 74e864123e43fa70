"""Rounds of messages that never meet on a link, each after those of its hosts before it."""


def follow(ready, rounds):
    """Return when each round ended, and when each host is ready after all.

    ``ready``: when each host is; ``rounds``: of each, its messages as (source, target, time that it
    takes). A host sends once all that it sent or received in earlier rounds is complete.
    """
    times = []
    for messages in rounds:
        done = [(source, target, ready[source] + cost) for source, target, cost in messages]
        times.append(max(end for _, _, end in done))
        for source, target, end in done:
            for host in (source, target):
                ready[host] = max(ready[host], end)
    return times, ready
