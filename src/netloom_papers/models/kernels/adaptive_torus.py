"""The fixed point of Duato's adaptive routing on a torus, and the ways that its messages take.

Twin: ``tests/reference/adaptive_torus.py``.
"""

import numpy as np

from netloom.base.compilation import njit

kernel = njit

NETWORK, SOURCE, STRETCH, CHANNEL_WAIT, BLOCKED, SERVICE_UNICAST, SERVICE_BROADCAST = range(7)
"""Places of an answer. From ``HELD_FROM`` on, the probabilities of 0 ... V held VCs."""

HELD_FROM = 7

LOST_POWER = 2.5
"""ρ to this power is the part of a contested channel's cycles that allocation loses: fitted, see
``torus_broadcast``."""

CLOSE = 1e-7
"""Relative change in a turn of latencies, and of the time that VCs are held, which is near enough.
Each of them alone stands still for a moment where it turns back."""

MOST_TURNS = 1200
"""Turns in which a fixed point that there is has come close enough."""

PATIENCE = 100
"""Turns after which what still goes up and down moves in smaller and smaller steps."""

LEAST_STEP = 0.1

CLASSES = 3
"""States of the two escape VCs of a channel: none, one or both of them held."""


@kernel
def walk(sides, strides, hops, found):
    """Fill ``found`` with what a header does from each offset on, to its target.

    ``found[offset, last + 1]`` holds: expected hops by dimension and number of dimensions left
    (n × n of them), then hops straight on, and turns. ``last`` is the dimension of the last hop,
    -1 at the source. Every dimension left is as likely. ``hops`` are offsets by dimension.
    """
    axes = len(sides)
    columns = axes * axes
    for offset in range(len(found)):
        left = 0
        for axis in range(axes):
            left += hops[offset, axis] > 0
        for last in range(-1, axes):
            for axis in range(axes):
                if hops[offset, axis] == 0:
                    continue
                share = 1.0 / left
                for column in range(columns + 2):
                    after = found[offset - strides[axis], axis + 1, column]
                    found[offset, last + 1, column] += share * after
                found[offset, last + 1, axis * axes + left - 1] += share
                if last >= 0:
                    found[offset, last + 1, columns + (last != axis)] += share


@kernel
def solve_balance(matrix, values, size):
    """Solve the equations of ``fill_balance`` in place. The values become the solution.

    All rows but the first have nothing beyond ``CLASSES`` places from the diagonal. No pivots are
    sought: in each column the diagonal outweighs the rest, as rates out of a state do.
    """
    for pivot in range(size - 1, 0, -1):
        start = max(pivot - CLASSES, 0)
        for row in range(max(start, 1), pivot):
            eliminate(matrix, values, pivot, row, start)
        eliminate(matrix, values, pivot, 0, start)
    for row in range(size):
        for column in range(max(row - CLASSES, 0), row):
            values[row] -= matrix[row, column] * values[column]
        values[row] /= matrix[row, row]


@kernel
def eliminate(matrix, values, pivot, row, start):
    """Take a multiple of the pivot's row from another, from a column on, to clear its column."""
    ratio = matrix[row, pivot] / matrix[pivot, pivot]
    if ratio != 0.0:
        for column in range(start, pivot):
            matrix[row, column] -= ratio * matrix[pivot, column]
        values[row] -= ratio * values[pivot]


@kernel
def fill_balance(matrix, values, adaptive, come, escape, free, held):
    """Fill in the balance of a channel's states (adaptive, escape VCs held). They sum to one.

    The sum takes the place of the idle channel's balance: to idle, every state returns.
    """
    size = (adaptive + 1) * CLASSES
    matrix[:size, :size] = 0.0
    for taken in range(adaptive + 1):
        for escaped in range(CLASSES):
            state = taken * CLASSES + escaped
            out = 0.0
            if taken < adaptive:
                matrix[state + CLASSES, state] += come
                out += come
            elif escaped < CLASSES - 1:
                matrix[state + 1, state] += escape * free[escaped]
                out += escape * free[escaped]
            if taken > 0:
                matrix[state - CLASSES, state] += taken / held[taken + escaped]
                out += taken / held[taken + escaped]
            if escaped > 0:
                matrix[state - 1, state] += escaped / held[taken + escaped]
                out += escaped / held[taken + escaped]
            matrix[state, state] -= out
    matrix[0, :size] = 1.0
    values[:size] = 0.0
    values[0] = 1.0


@kernel
def add_active(counts, busy, active):
    """Go on from ``busy`` − 2 others to one more, if any. Each is active with a probability.

    ``counts`` says how likely so many of them are active.
    """
    if busy == 1:
        counts[:] = 0.0
        counts[0] = 1.0
        return
    for place in range(busy - 1, 0, -1):
        counts[place] = counts[place] * (1 - active) + counts[place - 1] * active
    counts[0] *= 1 - active


@kernel
def cumulate(counts, elsewhere, both):
    """Fill in how likely it is to find no more than so many, neither here nor elsewhere."""
    summed = 0.0
    for place in range(len(counts)):
        summed += counts[place]
        both[place] = summed * elsewhere[place]


@kernel
def slowdown(below, slower):
    """Return 1 / E[1 / s] of the slowdown s = slower[m], m distributed as ``below`` says."""
    speed, before = 0.0, 0.0
    for place in range(len(below)):
        speed += (below[place] - before) / slower[place]
        before = below[place]
    return before / speed


@kernel
def waiting(servers, offered, held, spread):
    """Return the mean wait for one of several servers (Allen & Cunneen). NaN past saturation."""
    if offered >= servers:
        return np.nan
    term, total = 1.0, 1.0
    for count in range(1, servers):
        term *= offered / count
        total += term
    term *= offered / servers / (1 - offered / servers)
    return term / (total + term) * held / (servers - offered) * spread


@kernel
def set_states(setup, scratch, step, axis, blocked, unicast, broadcast):
    """Update the states of the channels of a dimension. Return what they let in of the flow.

    Copies of broadcasts have no choice. ``blocked`` is the probability that all adaptive VCs of
    another channel are held.
    """
    size = (setup.adaptive + 1) * CLASSES
    rate = unicast + broadcast
    come, escape, all_blocked, powers = broadcast / rate, broadcast / rate, 1.0, 0.0
    for left in range(setup.axes):  # left + 1 dimensions to choose from
        # E[1 / (1 + others that are open)] of so many channels, each of which is considered.
        share = unicast / rate * setup.choices[axis, left]
        powers += all_blocked
        come += share * powers
        escape += share * all_blocked
        all_blocked *= blocked
    fit = scratch.fit[axis] * rate
    matrix, values = scratch.matrix, scratch.values
    free, held = setup.free[axis], scratch.held[axis]
    fill_balance(matrix, values, setup.adaptive, fit * come, fit * escape, free, held)
    solve_balance(matrix, values, size)
    states = scratch.states[axis]
    let_in = 0.0
    for state in range(size):
        value = (1 - step) * states[state] + step * max(scratch.values[state], 0.0)
        states[state] = value
        if state // CLASSES < setup.adaptive:
            let_in += value * fit * come
        else:
            let_in += value * fit * escape * setup.free[axis, state % CLASSES]
    return let_in / rate


@kernel
def count_busy(setup, scratch, axis):
    """Fill in how many VCs of a channel are held. Return the mean, and how often none will do.

    The latter: all adaptive VCs are held, and the one escape VC that a header may take.
    """
    busy = scratch.busy[axis]
    busy[:] = 0.0
    mean, none = 0.0, 0.0
    for state in range((setup.adaptive + 1) * CLASSES):
        taken, escaped = state // CLASSES, state % CLASSES
        busy[taken + escaped] += scratch.states[axis, state]
        mean += (taken + escaped) * scratch.states[axis, state]
        if taken == setup.adaptive:
            none += scratch.states[axis, state] * (1 - setup.free[axis, escaped])
    return mean, none


@kernel
def meet(setup, scratch, axis, active):
    """Fill in how many other active messages one finds on a channel that it uses: cumulated."""
    below = scratch.below[axis]
    below[:] = 0.0
    total = 0.0
    for held in range(1, setup.vcs + 1):
        add_active(scratch.counts, held, active)
        weight = held * scratch.busy[axis, held]
        total += weight
        for place in range(setup.vcs):
            below[place] += weight * scratch.counts[place]
    summed = 0.0
    for place in range(setup.vcs):
        summed += below[place] / total
        below[place] = summed


@kernel
def meet_on_path(setup, scratch, share):
    """Fill in the most active others on the channels of such a part of a path: cumulated."""
    for place in range(setup.vcs):
        value = scratch.ends[place]
        for axis in range(setup.axes):
            value *= scratch.below[axis, place] ** (setup.fresh[axis] * share)
        scratch.path[place] = value


@kernel
def set_slower(setup, scratch, step, use):
    """Update by how much m active messages on a channel slow each other down.

    ``scratch.path`` is what each meets elsewhere: those that are slowed down there leave more than
    their share. If two or more want to pass, allocation loses a part of the cycles.
    """
    slower, path, last = scratch.slower, scratch.path, setup.vcs - 1
    for count in range(1, setup.vcs):
        # rate + count E[min(other, rate)] = 1; from the slowest on, others get less than that.
        given, apart = 0.0, last
        rate = 1.0 / (1 + count)
        while apart > 0 and rate > 1 / slower[apart]:
            given += (path[apart] - path[apart - 1]) / path[last] / slower[apart]
            apart -= 1
            rate = (1 - count * given) / (1 + count * path[apart] / path[last])
        scratch.wanted[count] = 1 / (rate * (1 - use**LOST_POWER))
    for count in range(1, setup.vcs):
        slower[count] = (1 - step) * slower[count] + step * scratch.wanted[count]


@kernel
def set_held(setup, scratch, step, axis, active, unicast, broadcast, ahead):
    """Update how long a VC is held where so many are. ``scratch.path`` is what is met elsewhere.

    ``ahead`` are the cycles that a unicast's head is blocked further on, on average.
    """
    for held in range(1, setup.vcs + 1):
        add_active(scratch.counts, held, active)
        cumulate(scratch.counts, scratch.path, scratch.mine)
        far = setup.flits * slowdown(scratch.mine, scratch.slower) + ahead
        cumulate(scratch.counts, scratch.ends, scratch.mine)
        near = setup.flits * slowdown(scratch.mine, scratch.slower)
        wanted = (unicast * far + broadcast * near) / (unicast + broadcast)
        scratch.held[axis, held] += step * (wanted - scratch.held[axis, held])


@kernel
def set_ends(setup, scratch, use):
    """Fill in how many others one finds on a channel out of the network: cumulated.

    As many as in a queue that shares itself, seen by those in it: (m + 1) ρ^m (1 − ρ)².
    """
    summed = 0.0
    for place in range(setup.vcs):
        summed += (place + 1) * use**place * (1 - use) ** 2
        scratch.ends[place] = summed
    scratch.ends[setup.vcs - 1] = 1.0


@kernel
def start(setup, scratch, unicast, broadcast):
    """Begin with channels that hold no more than they carry."""
    size = (setup.adaptive + 1) * CLASSES
    scratch.slower[:] = np.arange(1.0, setup.vcs + 1)
    scratch.held[:] = setup.flits
    scratch.fit[:] = 1.0
    for axis in range(setup.axes):
        use = (unicast[axis] + broadcast[axis]) * setup.flits
        for state in range(size):
            scratch.states[axis, state] = use ** (state // CLASSES + state % CLASSES)
        scratch.states[axis, :size] /= scratch.states[axis, :size].sum()


@kernel
def solve(setup, scratch, unicast, broadcast, node, answer):
    """Find the fixed point of one rate. Return whether there is one.

    Parameters
    ----------
    setup, scratch
        See ``torus_broadcasts.Setup`` and ``Scratch``.
    unicast, broadcast
        float[axes]: messages per cycle on a channel of each dimension.
    node
        Messages per node and cycle: unicasts, copies of broadcasts, and Σ (size of batch)² over all
        batches of copies (unicasts are batches of one). The last is the number of channels out of a
        node.
    answer
        float[HELD_FROM + V + 1]: filled. See the top of this module.
    """
    carried = unicast + broadcast
    if carried.max() * setup.flits >= 1 or node[0] + node[1] >= node[3] / setup.flits:
        return False
    start(setup, scratch, unicast, broadcast)
    set_ends(setup, scratch, (node[0] + node[1]) * setup.flits / setup.ports)
    active, latency, grown, step, held_before = 1.0, 0.0, 0.0, 0.5, 0.0
    for turn in range(MOST_TURNS):
        blocked, mean, none, total = adaptive_held(setup, scratch), 0.0, 0.0, 0.0
        for axis in range(setup.axes):
            fit = set_states(setup, scratch, step, axis, blocked, unicast[axis], broadcast[axis])
            scratch.fit[axis] /= fit
            if not scratch.fit[axis] < 1e4:
                return False
            weight = setup.channels[axis] * carried[axis]
            held, none_here = count_busy(setup, scratch, axis)
            mean += setup.channels[axis] * held
            none += weight * none_here
            total += weight
            meet(setup, scratch, axis, active)
        settled = abs(mean / total - held_before) < CLOSE * held_before
        mean, none = mean / total, none / total
        held_before = mean
        head, first, power = 0.0, none * mean / (setup.adaptive + 2), none
        for left in range(setup.axes):
            head += setup.left[left] * power * mean / ((left + 1) * setup.adaptive + 2)
            power *= blocked
        meet_on_path(setup, scratch, setup.elsewhere)
        set_slower(setup, scratch, step, carried.max() * setup.flits)
        for axis in range(setup.axes):
            ahead = setup.behind * head
            set_held(setup, scratch, step, axis, active, unicast[axis], broadcast[axis], ahead)
        meet_on_path(setup, scratch, 1.0)
        far = setup.flits * slowdown(scratch.path, scratch.slower)
        near = setup.flits * near_slowdown(setup, scratch)
        streaming = (unicast.sum() * far + broadcast.sum() * near) / carried.sum()
        active += step * (min(1.0, streaming / mean) - active)
        answer[SERVICE_UNICAST] = far + setup.distance * head
        answer[SERVICE_BROADCAST] = near + first
        answer[SOURCE] = source_wait(node, far + setup.distance * head, near + first)
        answer[NETWORK] = answer[SERVICE_UNICAST] + setup.distance
        before, latency = latency, answer[NETWORK] + answer[SOURCE]
        if not latency < 1000 * (setup.flits + setup.distance):
            return False
        if turn > PATIENCE and (latency - before) * grown < 0:
            step = max(0.8 * step, LEAST_STEP)
        grown = latency - before
        if turn > 20 and settled and abs(grown) < CLOSE * latency:
            answer[STRETCH] = far / setup.flits
            answer[CHANNEL_WAIT] = mean / (setup.adaptive + 2)
            answer[BLOCKED] = none
            fill_held(setup, scratch, answer)
            return True
    return False


@kernel
def adaptive_held(setup, scratch):
    """Return how often all adaptive VCs of a channel are held, as a hop meets channels."""
    held = 0.0
    for axis in range(setup.axes):
        for escaped in range(CLASSES):
            state = setup.adaptive * CLASSES + escaped
            held += setup.hops[axis] / setup.distance * scratch.states[axis, state]
    return held


@kernel
def fill_held(setup, scratch, answer):
    """Fill in how often so many VCs of a channel are held, as a hop meets channels."""
    answer[HELD_FROM:] = 0.0
    for axis in range(setup.axes):
        answer[HELD_FROM:] += setup.hops[axis] / setup.distance * scratch.busy[axis]


@kernel
def near_slowdown(setup, scratch):
    """Return the slowdown of a message that crosses one channel, of any dimension."""
    for place in range(setup.vcs):
        scratch.mine[place] = 0.0
        for axis in range(setup.axes):
            share = setup.hops[axis] / setup.distance
            scratch.mine[place] += share * scratch.below[axis, place]
        scratch.mine[place] *= scratch.ends[place]
    return slowdown(scratch.mine, scratch.slower)


@kernel
def source_wait(node, far, near):
    """Return the mean wait of a message for one of its node's channels into the network.

    Batches of copies arrive together. Times of service are of two kinds.
    """
    both = node[0] + node[1]
    held = (node[0] * far + node[1] * near) / both
    spread = (node[0] * far**2 + node[1] * near**2) / both / held**2 - 1
    return waiting(int(node[3]), both * held, held, (node[2] / both + spread) / 2)
