"""Packets followed along their paths, with the chance of each virtual channel.

``tables`` is the ``RouteTables`` of ``virtual_channel_tables``. ``wiring``: the channel at each
output port [node, port], the target and the input port of each channel.

Twin: ``tests/reference/channel_queueing.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.virtual_channels import allowed, heading


@njit(nogil=True)
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


@njit(nogil=True)
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


@njit(nogil=True)
def follow_all(tables, wiring, source, target, aux, most_hops):
    """Return all ways of all pairs: the pair and the weight of each way, hops, channels, shares.

    The number of hops is -1 where the routing leaves a choice.
    """
    channels, share = np.empty(most_hops, np.int32), np.empty((most_hops, tables.num_vcs))
    which, hops_of = np.empty(len(source), np.int64), np.empty(len(source), np.int64)
    weight = np.empty(len(source))
    all_channels = np.empty(4 * len(source) + most_hops, np.int32)
    all_shares = np.empty((len(all_channels), tables.num_vcs))
    ways, filled = 0, 0
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
            if ways == len(which):
                which = np.concatenate((which, np.empty_like(which)))
                hops_of = np.concatenate((hops_of, np.empty_like(hops_of)))
                weight = np.concatenate((weight, np.empty_like(weight)))
            if filled + max(hops, 0) > len(all_channels):
                all_channels = np.concatenate((all_channels, np.empty_like(all_channels)))
                all_shares = np.concatenate((all_shares, np.empty_like(all_shares)))
            which[ways], hops_of[ways], weight[ways] = index, hops, 1.0 / alike
            ways += 1
            for hop in range(hops):
                all_channels[filled] = channels[hop]
                all_shares[filled] = share[hop]
                filled += 1
    routes = (all_channels[:filled], all_shares[:filled])
    return which[:ways], weight[:ways], hops_of[:ways], routes
