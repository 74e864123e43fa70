"""A heap of four children a place, over flat arrays: the vertex of the least key comes out first.

``heap`` is (members, place, key, size): the vertex at each place, the place of each vertex, its
key, and in ``size[0]`` how many are in. Of several least children the last goes up, and a vertex
rises only past greater keys: which of equal keys comes first follows from what went in when.

Twin: ``tests/reference/cheapest_ways.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit

CHILDREN = 4


@njit(nogil=True)
def empty_heap(num_vertices):
    """A heap with room for this many vertices."""
    return (
        np.empty(num_vertices, np.int32),
        np.full(num_vertices, -1, np.int32),
        np.empty(num_vertices, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def push(heap, vertex, key):
    """Put a vertex in."""
    members, place, keys, size = heap
    keys[vertex], members[size[0]], place[vertex] = key, vertex, size[0]
    size[0] += 1
    rise(heap, vertex)


@kernel
def lower(heap, vertex, key):
    """Give a vertex that is in a lower key."""
    heap[2][vertex] = key
    rise(heap, vertex)


@kernel
def pop(heap):
    """Take out the vertex of the least key."""
    members, place, _, size = heap
    least = members[0]
    size[0] -= 1
    if size[0] > 0:
        members[0] = members[size[0]]
        place[members[0]] = 0
        sink(heap, members[0])
    place[least] = -1
    return least


@kernel
def rise(heap, vertex):
    """Move a vertex up past what has a greater key."""
    members, place, keys, _ = heap
    at = place[vertex]
    while at > 0:
        above = (at - 1) // CHILDREN
        if keys[members[above]] <= keys[vertex]:
            break
        members[at] = members[above]
        place[members[at]] = at
        at = above
    members[at], place[vertex] = vertex, at


@kernel
def sink(heap, vertex):
    """Move a vertex down past what has a smaller key."""
    members, place, keys, size = heap
    at = place[vertex]
    while CHILDREN * at + 1 < size[0]:
        below = CHILDREN * at + 1
        for child in range(below + 1, min(below + CHILDREN, size[0])):
            if keys[members[child]] <= keys[members[below]]:
                below = child
        if keys[members[below]] >= keys[vertex]:
            break
        members[at] = members[below]
        place[members[at]] = at
        at = below
    members[at], place[vertex] = vertex, at


@kernel
def drop(heap, vertex):
    """Take out a vertex that is in."""
    members, place, keys, size = heap
    at = place[vertex]
    size[0] -= 1
    last = members[size[0]]
    members[at], place[last] = last, at
    place[vertex] = -1
    if at < size[0]:
        above = members[(at - 1) // CHILDREN] if at > 0 else last
        if at > 0 and keys[above] > keys[last]:
            rise(heap, last)
        elif at == 0 or keys[above] < keys[last]:
            sink(heap, last)
