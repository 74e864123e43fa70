"""Backtracking for a mapping under which tasks that communicate are neighbours in the network.

``guest`` holds offsets and neighbours of the tasks, and ``host`` those of the nodes that may be
used, both as ragged arrays, with every edge in both directions.

Twin: ``tests/reference/embedding.py``.
"""

from netloom.base.compilation import inlined, kernel


@inlined
def close(host, task_at, open_near, node, need, sign):
    """Count a node with all its task's neighbours placed as of no use to others, or again of use.

    Return by how many more free nodes have too few others around them for any task.
    """
    offsets, near = host
    dead = 0
    for at in range(offsets[node], offsets[node + 1]):
        other = near[at]
        if sign > 0:
            open_near[other] -= 1
        if task_at[other] < 0 and open_near[other] == need - 1:
            dead += sign
        if sign < 0:
            open_near[other] += 1
    return dead


@inlined
def put(guest, host, state, task, node, need):
    """Put a task on a free node. Return how many more free nodes are dead."""
    node_of, task_at, free_near, open_near, waiting = state
    dead = -1 if open_near[node] < need else 0
    node_of[task], task_at[node] = node, task
    for at in range(host[0][node], host[0][node + 1]):
        free_near[host[1][at]] -= 1
    for at in range(guest[0][task], guest[0][task + 1]):
        other = guest[1][at]
        waiting[other] -= 1
        if node_of[other] >= 0 and waiting[other] == 0:
            dead += close(host, task_at, open_near, node_of[other], need, 1)
    if waiting[task] == 0:
        dead += close(host, task_at, open_near, node, need, 1)
    return dead


@inlined
def take(guest, host, state, task, need):
    """Take a task away again, the last that was put. Return how many more free nodes are dead."""
    node_of, task_at, free_near, open_near, waiting = state
    node, dead = node_of[task], 0
    if waiting[task] == 0:
        dead += close(host, task_at, open_near, node, need, -1)
    for at in range(guest[0][task], guest[0][task + 1]):
        other = guest[1][at]
        if node_of[other] >= 0 and waiting[other] == 0:
            dead += close(host, task_at, open_near, node_of[other], need, -1)
        waiting[other] += 1
    for at in range(host[0][node], host[0][node + 1]):
        free_near[host[1][at]] += 1
    node_of[task], task_at[node] = -1, -1
    return dead + 1 if open_near[node] < need else dead


@inlined
def fits(host, state, node):
    """Whether all tasks on a node and around it have as many free nodes near as they still need."""
    _, task_at, free_near, _, waiting = state
    if free_near[node] < waiting[task_at[node]]:
        return False
    for at in range(host[0][node], host[0][node + 1]):
        other = host[1][at]
        if task_at[other] >= 0 and free_near[other] < waiting[task_at[other]]:
            return False
    return True


@inlined
def joined(guest, host, state, task, node):
    """Whether a node is a neighbour of all nodes with tasks that a task communicates with."""
    node_of = state[0]
    for at in range(guest[0][task], guest[0][task + 1]):
        beside = node_of[guest[1][at]]
        if beside < 0:
            continue
        found = False
        for step in range(host[0][beside], host[0][beside + 1]):
            if host[1][step] == node:
                found = True
                break
        if not found:
            return False
    return True


@inlined
def candidates(guest, host, kinds, state, task, narrow, roots, stack, key, top, rng):
    """Push the nodes on which a task may be. Return the new height of the stack.

    ``narrow``: those come first (on top) that have the fewest free nodes near. A task without
    placed neighbours tries at most as many nodes as there are ``roots``, which are shuffled.
    """
    node_of, task_at, free_near, _, waiting = state
    possible, task_kind, node_kind = kinds
    beside = -1
    for at in range(guest[0][task], guest[0][task + 1]):
        node = node_of[guest[1][at]]
        if node >= 0 and (beside < 0 or free_near[node] < free_near[beside]):
            beside = node
    start = host[0][beside] if beside >= 0 else 0
    end = host[0][beside + 1] if beside >= 0 else len(task_at)
    base = top
    for at in range(start, end):
        node = host[1][at] if beside >= 0 else at
        if task_at[node] >= 0 or not possible[task_kind[task], node_kind[node]]:
            continue
        if free_near[node] < waiting[task] or not joined(guest, host, state, task, node):
            continue
        rank = rng.random() + (free_near[node] if narrow else 0)
        place = top
        if beside < 0 and top - base == roots:
            if key[base] <= rank:
                continue
            place = base  # instead of the last of those that are kept
            while place + 1 < top and key[place + 1] > rank:
                stack[place], key[place] = stack[place + 1], key[place + 1]
                place += 1
        else:
            while place > base and key[place - 1] < rank:
                stack[place], key[place] = stack[place - 1], key[place - 1]
                place -= 1
            top += 1
        stack[place], key[place] = node, rank
    return top


@kernel
def search(guest, host, kinds, order, state, limits, narrow, roots, space, most, rng):
    """Place the tasks in their order, each next to those placed before it. Return the steps taken.

    Parameters
    ----------
    kinds
        ``possible[task kind, node kind]``, and the kind of each task and node.
    state
        int64 arrays: node of each task and task of each node, -1 for none. Free neighbours, and
        such as are free or have a task that waits for neighbours, of each node. Neighbours of each
        task that are not placed. Filled in by the caller. On success the tasks' nodes are in it.
    limits
        Nodes that may stay without a task, and the fewest neighbours of a task.
    narrow, roots
        See ``candidates``.
    space
        Working space: candidates of all tasks on the way, their ranks, and where they begin.
    most
        Steps after which it gives up: the negative number is returned.
    """
    spare, need = limits
    stack, key, tops = space
    dead = 0
    for node in range(len(state[1])):
        dead += state[3][node] < need
    depth, steps, top = 0, 0, 0
    tops[0] = 0
    top = candidates(guest, host, kinds, state, order[0], narrow, roots, stack, key, 0, rng)
    while True:
        task = order[depth]
        if top == tops[depth]:  # no candidate left: back to the task before
            if depth == 0:
                return -steps - 1
            depth -= 1
            dead += take(guest, host, state, order[depth], need)
            continue
        if steps == most:
            return -steps - 1
        steps += 1
        top -= 1
        node = stack[top]
        dead += put(guest, host, state, task, node, need)
        if dead > spare or not fits(host, state, node):
            dead += take(guest, host, state, task, need)
            continue
        depth += 1
        if depth == len(order):
            return steps
        tops[depth] = top
        top = candidates(
            guest, host, kinds, state, order[depth], narrow, roots, stack, key, top, rng
        )
