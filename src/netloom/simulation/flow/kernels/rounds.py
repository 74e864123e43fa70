"""Rounds of messages that never share a link: each takes the time that it takes alone.

Twin: ``tests/reference/rounds.py``.
"""

import numpy as np

from netloom.base.compilation import kernel


@kernel
def follow(ready, later, kept, hosts, source, target, cost, rounding, ended, elapsed):
    """Run rounds until all are over or they repeat. Return how many, and the period (0: none).

    ``ready``: when each host is, from the earliest of ``hosts``, which take part, on. That is set
    back after each round. ``later``, ``kept``: room for as much. ``ended``: of each round, from the
    first time on. ``elapsed``: the time that passed, and that of the period.
    """
    power, length = 1, 0
    for host in hosts:
        kept[np.uint64(host)] = ready[np.uint64(host)]
    for number in range(len(ended)):
        last = -np.inf
        for host in hosts:
            later[np.uint64(host)] = ready[np.uint64(host)]
        for row in range(len(source)):
            end = ready[np.uint64(source[row])] + cost[row]
            last = max(last, end)
            later[np.uint64(source[row])] = max(later[np.uint64(source[row])], end)
            later[np.uint64(target[row])] = max(later[np.uint64(target[row])], end)
        ended[number] = elapsed[0] + last
        back = np.inf
        for host in hosts:
            back = min(back, later[np.uint64(host)])
        for host in hosts:
            ready[np.uint64(host)] = later[np.uint64(host)] - back
        elapsed[0] += back
        elapsed[1] += back
        length += 1
        alike = True
        for host in hosts:
            away = abs(ready[np.uint64(host)] - kept[np.uint64(host)])
            if away > rounding * elapsed[1]:
                alike = False
                break
        if alike:
            return number + 1, length
        if length == power:
            for host in hosts:
                kept[np.uint64(host)] = ready[np.uint64(host)]
            power, length = 2 * power, 0
            elapsed[1] = 0.0
    return len(ended), 0
