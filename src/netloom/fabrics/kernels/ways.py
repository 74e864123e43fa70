"""Ways that may lead to a router, all shortest ones or up*down*, over flat arrays.

``wiring`` is (channel_source, channel_target, in_offsets, in_channels, out_offsets, out_channels).

Twin: ``tests/reference/rerouting.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit


@njit
def nearness(exits, height, wiring):
    """Return hops from every router to each exit, and whether they all lead down.

    int16[num_exits, num_routers], -1 without a way. Bool of the same shape. A channel leads down if
    the height of its source is greater. A router that has ways down takes the shortest of them. Any
    other goes up, to where fewest hops remain. If no two heights differ, any channel is allowed.
    """
    source, target, in_offsets, in_channels, out_offsets, out_channels = wiring
    num_routers = len(height)
    near = np.full((len(exits), num_routers), -1, np.int16)
    falls = np.zeros((len(exits), num_routers), np.bool_)
    queue = np.empty(num_routers, np.int32)
    plain = height.min() == height.max()
    from_top = np.argsort(-height)
    for place in range(len(exits)):
        hops, down = near[place], falls[place]
        queue[0], known, done = exits[place], 1, 0
        hops[exits[place]], down[exits[place]] = 0, True
        while done < known:
            router = queue[done]
            done += 1
            for slot in range(in_offsets[router], in_offsets[router + 1]):
                before = source[in_channels[slot]]
                if hops[before] < 0 and (plain or height[before] > height[router]):
                    hops[before], down[before] = hops[router] + 1, True
                    queue[known] = before
                    known += 1
        if plain:
            continue
        for router in from_top:
            if hops[router] >= 0:
                continue
            for slot in range(out_offsets[router], out_offsets[router + 1]):
                after = target[out_channels[slot]]
                if height[after] > height[router] and hops[after] >= 0:
                    through = hops[after] + 1
                    hops[router] = min(hops[router], through) if hops[router] > 0 else through
    return near, falls


@njit
def list_ways(hops, down, height, wiring, order, offsets, channels):
    """Fill in the routers that reach one exit, nearest first, and the channels that each may take.

    ``hops`` and ``down`` are rows of ``nearness``. The channels of router r are
    ``channels[offsets[r]:offsets[r + 1]]``, as its outgoing ones are ordered. Return how many
    routers there are in ``order``.
    """
    _, target, _, _, out_offsets, out_channels = wiring
    used, known, far = 0, 0, 0
    plain = height.min() == height.max()
    for router in range(len(hops)):
        offsets[router] = used
        if hops[router] < 0:
            continue
        known += 1
        far = max(far, hops[router])
        for slot in range(out_offsets[router], out_offsets[router + 1]):
            channel = out_channels[slot]
            after = target[channel]
            nearer = hops[after] == hops[router] - 1 and hops[after] >= 0
            falling = height[router] > height[after]
            stays = falling == down[router] and (down[after] or not falling)
            if nearer and (plain or stays):
                channels[used] = channel
                used += 1
    offsets[len(hops)] = used
    starts = np.zeros(far + 2, np.int64)
    for router in range(len(hops)):
        if hops[router] >= 0:
            starts[hops[router] + 1] += 1
    for hop in range(1, far + 2):
        starts[hop] += starts[hop - 1]
    for router in range(len(hops)):
        if hops[router] >= 0:
            order[starts[hops[router]]] = router
            starts[hops[router]] += 1
    return known
