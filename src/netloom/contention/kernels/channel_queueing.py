"""Packets on virtual channels, followed along their paths, and the fixed point of their waits.

Paths come with the chance of each virtual channel. ``tables`` is the ``RouteTables`` of
``virtual_channel_tables``. ``wiring``: the channel at each output port [node, port], the target and
the input port of each channel.

Of waits, ``net`` is ``channel_queueing.Turns``. Rates are packets per cycle, times are cycles.

Twin: ``tests/reference/channel_queueing.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.virtual_channels import allowed, heading

# -- paths -----------------------------------------------------------------------------------------


@njit
def ties(tables, source, target):
    """Return the bits of a coin that decide which way a packet goes."""
    axes, bits = len(tables.order), 0
    if len(tables.coordinates) == 0:
        return bits
    for axis in range(axes):
        start = tables.coordinates[source * axes + axis]
        end = tables.coordinates[target * axes + axis]
        if start != end and heading(tables, axis, start, end, 0)[1]:
            bits |= 1 << axis
    return bits


@njit
def follow(tables, wiring, pair, coin, channels, share):
    """Write the channels of a packet's path and the chance of each VC. Return the hops, -1 if not.

    ``pair`` is source, target and aux. A packet takes each VC that it may with the same chance.
    """
    channel_at, channel_target, in_port = wiring
    vcs = tables.num_vcs
    node, port, hops = pair[0], -1, 0
    chance = np.full(vcs, 1.0 / vcs)
    while True:
        following, out = np.zeros(vcs), -1
        for vc in range(vcs):
            if chance[vc] == 0:
                continue
            slot = tables.injection_slot + vc if port < 0 else port * vcs + vc
            slots = allowed(tables, node, slot, pair[0], pair[1], pair[2], coin, hops)
            if slots & tables.ejection:
                return hops
            count = 0
            for other in range(tables.injection_slot):
                count += slots >> other & 1
            for other in range(tables.injection_slot):
                if slots >> other & 1:
                    if out not in (-1, other // vcs):
                        return -1  # there is a choice of ways
                    out = other // vcs
                    following[other % vcs] += chance[vc] / count
        if out < 0 or hops == len(channels):
            return -1
        channels[hops] = channel_at[node, out]
        share[hops] = following
        node, port, chance = channel_target[channels[hops]], in_port[channels[hops]], following
        hops += 1


@njit
def follow_all(tables, wiring, source, target, aux, most_hops):
    """Return all ways of all pairs: the pair and the weight of each way, hops, channels, shares.

    The number of hops is -1 where the routing leaves a choice.
    """
    channels, share = np.empty(most_hops, np.int32), np.empty((most_hops, tables.num_vcs))
    which, weight, hops_of = [0 for _ in range(0)], [0.0 for _ in range(0)], [0 for _ in range(0)]
    all_channels, all_shares = [np.int32(0) for _ in range(0)], [0.0 for _ in range(0)]
    for index in range(len(source)):
        bits = ties(tables, source[index], target[index])
        pair = (source[index], target[index], aux[index])
        alike = 1
        for axis in range(len(tables.order)):
            alike *= 1 + (bits >> axis & 1)
        for coin in range(bits + 1):
            if coin & ~bits:
                continue
            hops = follow(tables, wiring, pair, coin, channels, share)
            which.append(index)
            weight.append(1.0 / alike)
            hops_of.append(hops)
            if hops > 0:
                all_channels.extend(channels[:hops])
                all_shares.extend(share[:hops].ravel())
    routes = (np.array(all_channels), np.array(all_shares).reshape(-1, tables.num_vcs))
    return np.array(which), np.array(weight), np.array(hops_of), routes


# -- waits -----------------------------------------------------------------------------------------


CLOSE = 1e-3  # cycles
CLOSE_ENOUGH = 0.05
MOST_ITERATIONS = 600
"""Rounds after which a fixed point is not looked for any longer."""
FAR = 1e6


@njit
def spill(delay, flits, room):
    """Return E[(D - room)+] and E[min(D, room)²] of a delay D.

    D is 0 or exponential. Its mean and second moment are those of a delay by packets of this
    length: 2/3 L E[D] for one packet, and 2 E[D]² for many. ``flits`` is L, or the cycles that such
    a packet is on its way over a channel.
    """
    scale = flits / 3 + delay
    rooms = max(room, 0.0) / scale
    beyond = np.exp(-rooms)
    return delay * beyond, 2 * delay * scale * (1 - beyond * (1 + rooms))


@njit
def add_up(channel, share, values, out):
    """Set ``out`` to the sums of the turns' values on each VC of their channels."""
    out[:] = 0.0
    for turn in range(len(channel)):
        if channel[turn] >= 0 and values[turn] != 0:
            for vc in range(share.shape[1]):
                out[channel[turn], vc] += values[turn] * share[turn, vc]


@njit
def mean_of(share, turn, values, channel):
    """Return the mean of the VCs' values as a turn uses them."""
    mean = 0.0
    for vc in range(share.shape[1]):
        mean += share[turn, vc] * values[channel, vc]
    return mean


@njit
def count_fronts(net, rate, wait, stall, by_channel, by_pair):
    """Count the packets at the front of buffers, by Little's law, for each channel that they want.

    Rows: packets that still have flits to send, these and all others that hold a VC, and those of
    the first kind that are there only because they were delayed. The last are also counted by the
    channel that they came over, in the third row of ``by_channel``.
    """
    by_channel[:] = 0.0
    by_pair[:] = 0.0
    for turn in range(len(rate)):
        if net.before[turn] >= 0:
            delayed = rate[turn] * wait[turn]
            sending = rate[turn] * net.flits + delayed
            holding = sending + rate[turn] * stall[turn]
            by_channel[0, net.channel[turn]] += sending
            by_channel[1, net.channel[turn]] += holding
            by_channel[2, net.before[turn]] += delayed
            by_pair[0, net.pair[turn]] += sending
            by_pair[1, net.pair[turn]] += holding
            by_pair[2, net.pair[turn]] += delayed


@njit
def update_waits(net, rate, state, held, by_channel, by_pair):
    """Set the waits from the packets that are at other fronts. Return the largest change."""
    wait, shared, same, stall, busy, busy_in, mixing = state
    change = 0.0
    for turn in range(len(rate)):
        if net.before[turn] < 0:
            continue
        channel, pair, choices = net.channel[turn], net.pair[turn], net.choices[turn]
        own, beside = net.own[turn], net.beside[turn]
        others_full = mean_of(net.share, turn, held, channel) ** (choices - 1)
        delayed = beside * by_pair[2, pair]
        ahead = by_channel[0, channel] - by_pair[0, pair]
        holders = by_channel[1, channel] - by_pair[1, pair] + delayed
        after_own = stall[turn] - net.spaced[turn] - (choices - 1) * net.flits
        if after_own > 0:  # packets of one input come one after the other
            holders += (by_pair[1, pair] - by_pair[0, pair]) * after_own / stall[turn]
        crossing = busy[channel] - busy_in[pair]
        in_turn = 0.5 * net.flits * crossing * others_full * net.same_vcs[turn]
        elsewhere = by_channel[2, net.before[turn]] - by_pair[2, pair]
        mix = 1.0 if net.single else mixing[channel]
        same[turn] = net.flits * delayed * mix
        conflict = net.conflict * net.flits * beside * elsewhere
        shared[turn] = (net.flits * ahead - in_turn) * mix + same[turn] + conflict
        idle = 0.5 * own * holders
        if net.single:  # the channel itself is taken until the last credit is back
            idle = 0.5 * own * own * crossing / net.flits
        for_vc = others_full * (holders * stall[turn] - idle) / choices
        new = shared[turn] + for_vc
        change = max(change, abs(new - wait[turn]))
        wait[turn] = new
    return change


@njit
def update_queues(net, rate, state, queue, further, scratch):
    """Set the waits behind other packets in a buffer. Return the busiest front, and how busy.

    ``further`` becomes the mean delay, at the next router, of the packets of each VC. Of a source's
    VCs without what packets of the same source do to each other.
    """
    wait, shared, same, stall = state[0], state[1], state[2], state[3]
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
        delay = wait[turn] if net.whole else wait[turn] + stall[turn] - net.own[turn]
        mine = same[turn] if net.starts[turn] else 0.0
        values[0, turn] = rate[turn] * (net.stretched + net.head + delay)
        values[1, turn] = rate[turn] * (delay - mine - early * (shared[turn] - mine))
        values[2, turn] = rate[turn] * spill(delay, net.stretched, room)[1]
    add_up(net.before, net.share_before, values[0], front)
    add_up(net.before, net.share_before, values[1], further)
    add_up(net.before, net.share_before, values[2], squares)
    for channel in range(len(queue)):
        for vc in range(queue.shape[1]):
            free = max(1 - front[channel, vc], 0.01)
            queue[channel, vc] = squares[channel, vc] / 2 / free
            if used[channel, vc] > 0:
                further[channel, vc] /= used[channel, vc]
    return np.argmax(front) // queue.shape[1], front.max()


@njit
def update_stalls(net, state, queue, further):
    """Set how long packets hold their VC without sending. Return the largest change."""
    stall = state[3]
    change = 0.0
    for turn in range(len(stall)):
        if net.leaves[turn]:
            continue
        channel, own = net.channel[turn], net.own[turn]
        beyond = mean_of(net.share, turn, further, channel)
        behind = 0.0  # packets of the same source, which is not kept by them from sending
        if net.before[turn] >= 0 or net.whole:
            behind = mean_of(net.share, turn, queue, channel)
        if net.whole:
            new = max(own, (net.recycle + beyond + behind) / net.fits)
        elif net.flits > net.buffer:
            delay = beyond if net.single else beyond + behind
            new = own + spill(delay, net.stretched, net.room)[0]
        else:
            new = own + spill(behind, net.stretched, net.buffer - net.flits)[0]
        change = max(change, abs(new - stall[turn]))
        stall[turn] = new
    return change


@njit
def hold(net, rate, state, held, holding):
    """Set how much of the time each VC is taken. Return the busiest, and how busy it is alone."""
    shared, stall = state[1], state[3]
    for turn in range(len(rate)):
        holding[turn] = rate[turn] * (net.flits + stall[turn])
    add_up(net.channel, net.share, holding, held)
    at, most = np.argmax(held) // held.shape[1], held.max()
    for turn in range(len(rate)):
        own = net.own[turn]
        interleaved = min(shared[turn], (net.choices[turn] - 1) * net.flits)
        taking_turns = interleaved + own if net.whole else max(interleaved, own)
        holding[turn] = rate[turn] * (net.flits + taking_turns + stall[turn] - own)
    add_up(net.channel, net.share, holding, held)
    np.minimum(held, 1.0, held)
    return at, most


@njit
def fixed_point(net, rate):
    """Return each turn's wait with its VC's queue, each turn's stall, and what is busiest.

    The third answer is the mean delay at the next router of the packets of each VC. Then come the
    channels of the busiest channel, VC and front, and their utilizations. The last says whether
    there is a steady state: 0 if there is, 1 to 3 if one of these has none, 4 if none was found.
    """
    turns, vcs = net.share.shape
    channels, pairs = net.channel.max() + 1, net.pair.max() + 1
    busy, busy_in = np.zeros(channels), np.zeros(pairs)
    for turn in range(turns):
        busy[net.channel[turn]] += rate[turn] * net.flits
        busy_in[net.pair[turn]] += rate[turn] * net.flits
    mixing = np.minimum(busy, 1.0) ** net.spread
    wait, shared, same, stall = np.zeros(turns), np.zeros(turns), np.zeros(turns), net.own.copy()
    state = (wait, shared, same, stall, busy, busy_in, mixing)
    queue, further, held = np.zeros((3, channels, vcs))
    scratch = np.zeros((3, channels, vcs))
    add_up(net.channel, net.share, rate, scratch[1])
    by_channel, by_pair = np.zeros((3, channels)), np.zeros((3, pairs))
    holding = np.zeros(turns)
    use = np.array([busy.max(), 0.0, 0.0])
    at = np.full(3, np.argmax(busy))
    change = FAR
    for _ in range(MOST_ITERATIONS):
        if use.max() >= 1 or change < CLOSE or change > FAR:
            break
        at[1], use[1] = hold(net, rate, state, held, holding)
        count_fronts(net, rate, wait, stall, by_channel, by_pair)
        change = update_waits(net, rate, state, held, by_channel, by_pair)
        at[2], use[2] = update_queues(net, rate, state, queue, further, scratch)
        change = max(change, update_stalls(net, state, queue, further))
    limit = 4 if change >= CLOSE_ENOUGH else 0
    if use.max() >= 1:
        limit = 1 + int(np.argmax(use))
    for turn in range(turns):
        if not net.leaves[turn]:
            wait[turn] += mean_of(net.share, turn, queue, net.channel[turn])
    return wait, stall, further, at, use, limit
