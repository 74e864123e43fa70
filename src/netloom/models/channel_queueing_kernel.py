"""The fixed point of the waits in a network of virtual channels.

``net`` is the ``Turns`` of ``channel_queueing``. Rates are packets a cycle, times are cycles.
"""

import numpy as np

from netloom.compilation import njit

CLOSE = 1e-3  # cycles
CLOSE_ENOUGH = 0.05
MOST_ITERATIONS = 600
FAR = 1e6


@njit(nogil=True)
def spill(delay, flits, room):
    """Return E[(D - room)+] and E[min(D, room)²] of a delay D.

    D is 0 or exponential, with the mean and the second moment of a delay by packets of this length:
    2/3 L E[D], from one packet that is met, and 2 E[D]², from many.
    """
    scale = flits / 3 + delay
    rooms = max(room, 0.0) / scale
    beyond = np.exp(-rooms)
    return delay * beyond, 2 * delay * scale * (1 - beyond * (1 + rooms))


@njit(nogil=True)
def add_up(channel, share, values, out):
    """Set ``out`` to the sums of the turns' values on each VC of their channels."""
    out[:] = 0.0
    for turn in range(len(channel)):
        if channel[turn] >= 0 and values[turn] != 0:
            for vc in range(share.shape[1]):
                out[channel[turn], vc] += values[turn] * share[turn, vc]


@njit(nogil=True)
def mean_of(share, turn, values, channel):
    """Return the mean of the VCs' values as a turn uses them."""
    mean = 0.0
    for vc in range(share.shape[1]):
        mean += share[turn, vc] * values[channel, vc]
    return mean


@njit(nogil=True)
def count_fronts(net, rate, wait, stall, by_channel, by_pair):
    """Count the packets at the front of buffers, by Little's law, for each channel that they want.

    Rows: those that still have flits to send; those, and what else holds a VC; those of the first
    kind that are there only because they were held up.
    """
    by_channel[:] = 0.0
    by_pair[:] = 0.0
    for turn in range(len(rate)):
        if net.before[turn] >= 0:
            sending = rate[turn] * (net.flits + wait[turn])
            holding = sending + rate[turn] * stall[turn]
            by_channel[0, net.channel[turn]] += sending
            by_channel[1, net.channel[turn]] += holding
            by_pair[0, net.pair[turn]] += sending
            by_pair[1, net.pair[turn]] += holding
            by_pair[2, net.pair[turn]] += rate[turn] * wait[turn]


@njit(nogil=True)
def update_waits(net, rate, state, held, by_channel, by_pair):
    """Set the waits from the packets that are at other fronts; return the largest change."""
    wait, shared, stall, busy, busy_in = state
    change = 0.0
    for turn in range(len(rate)):
        if net.before[turn] < 0:
            continue
        channel, pair, choices = net.channel[turn], net.pair[turn], net.choices[turn]
        others_full = mean_of(net.share, turn, held, channel) ** (choices - 1)
        delayed = net.beside[turn] * by_pair[2, pair]
        ahead = by_channel[0, channel] - by_pair[0, pair] + delayed
        holders = by_channel[1, channel] - by_pair[1, pair] + delayed
        after_own = stall[turn] - net.gap + net.gap * net.beside[turn] - (choices - 1) * net.flits
        if after_own > 0:  # packets of one input come one after the other
            holders += (by_pair[1, pair] - by_pair[0, pair]) * after_own / stall[turn]
        crossing = busy[channel] - busy_in[pair]
        in_turn = 0.5 * net.flits * crossing * others_full * net.same_vcs[turn]
        shared[turn] = net.flits * ahead - in_turn
        for_vc = others_full * holders * (stall[turn] - 0.5 * net.gap) / choices
        new = shared[turn] + for_vc
        change = max(change, abs(new - wait[turn]))
        wait[turn] = new
    return change


@njit(nogil=True)
def update_queues(net, rate, state, queue, further, scratch):
    """Set the waits behind other packets in a buffer; return whether the fronts keep up.

    ``further`` becomes the mean delay, at the next router, of the packets of each VC.
    """
    wait, shared, stall, _, _ = state
    flits, room = net.flits, net.buffer
    early = 0.0
    if net.whole:  # a VC is free for the next packet when part of the last one is gone
        room = net.buffer - flits
        early = min(max(room / flits, 0.0), 1.0)
    elif flits <= net.buffer:
        room = FAR * flits
    front, used, squares = scratch[0], scratch[1], scratch[2]
    values = np.zeros((3, len(rate)))
    for turn in range(len(rate)):
        delay = wait[turn] if net.whole else wait[turn] + stall[turn] - net.gap
        values[0, turn] = rate[turn] * (flits + net.head + delay)
        values[1, turn] = rate[turn] * (delay - early * shared[turn])
        values[2, turn] = rate[turn] * spill(delay, flits, room)[1]
    add_up(net.before, net.share_before, values[0], front)
    add_up(net.before, net.share_before, values[1], further)
    add_up(net.before, net.share_before, values[2], squares)
    for channel in range(len(queue)):
        for vc in range(queue.shape[1]):
            free = max(1 - front[channel, vc], 0.01)
            queue[channel, vc] = squares[channel, vc] / 2 / free
            if used[channel, vc] > 0:
                further[channel, vc] /= used[channel, vc]
    return front.max() < 1


@njit(nogil=True)
def update_stalls(net, state, queue, further):
    """Set how long packets hold their VC without sending; return the largest change."""
    stall = state[2]
    change = 0.0
    for turn in range(len(stall)):
        if net.leaves[turn]:
            continue
        behind = mean_of(net.share, turn, queue, net.channel[turn])
        beyond = mean_of(net.share, turn, further, net.channel[turn])
        if net.whole:
            new = max(net.gap, net.recycle + beyond + behind)
        elif net.flits > net.buffer:
            new = net.gap + spill(beyond + behind, net.flits, net.buffer)[0]
        else:
            new = net.gap + spill(behind, net.flits, net.buffer - net.flits)[0]
        change = max(change, abs(new - stall[turn]))
        stall[turn] = new
    return change


@njit(nogil=True)
def fixed_point(net, rate):
    """Return each turn's wait with its VC's queue, each turn's stall, and whether there are any."""
    turns, vcs = net.share.shape
    channels, pairs = net.channel.max() + 1, net.pair.max() + 1
    busy, busy_in = np.zeros(channels), np.zeros(pairs)
    for turn in range(turns):
        busy[net.channel[turn]] += rate[turn] * net.flits
        busy_in[net.pair[turn]] += rate[turn] * net.flits
    wait, shared, stall = np.zeros(turns), np.zeros(turns), np.full(turns, net.gap)
    state = (wait, shared, stall, busy, busy_in)
    queue, further, held = np.zeros((3, channels, vcs))
    scratch = np.zeros((3, channels, vcs))
    add_up(net.channel, net.share, rate, scratch[1])
    by_channel, by_pair = np.zeros((2, channels)), np.zeros((3, pairs))
    holding = np.zeros(turns)
    found = busy.max() < 1
    change = FAR
    for _ in range(MOST_ITERATIONS):
        if not found or change < CLOSE:
            break
        for turn in range(turns):
            holding[turn] = rate[turn] * (net.flits + stall[turn])
        add_up(net.channel, net.share, holding, held)
        kept_up = held.max() < 1
        for turn in range(turns):
            interleaved = min(shared[turn], (net.choices[turn] - 1) * net.flits)
            holding[turn] = rate[turn] * (net.flits + interleaved + stall[turn])
        add_up(net.channel, net.share, holding, held)
        np.minimum(held, 1.0, held)
        count_fronts(net, rate, wait, stall, by_channel, by_pair)
        change = update_waits(net, rate, state, held, by_channel, by_pair)
        kept_up &= update_queues(net, rate, state, queue, further, scratch)
        change = max(change, update_stalls(net, state, queue, further))
        found = change < FAR and kept_up
    for turn in range(turns):
        if not net.leaves[turn]:
            wait[turn] += mean_of(net.share, turn, queue, net.channel[turn])
    return wait, stall, found and change < CLOSE_ENOUGH
