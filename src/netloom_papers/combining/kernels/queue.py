"""Queues of packets, and which switches have any: the parts that every move is made of.

Twin: ``tests/reference/combining.py``.
"""

import numpy as np

from netloom.base.compilation import inlined
from netloom.simulation.kernels.records import record, unsigned
from netloom_papers.combining.layout import ADD, AND, LOAD, MAX, MIN, OR, SWAP, XOR


@inlined
def group_of(setup, level, line):
    """Return the place of the byte, and the bit in it, that tell of a queue with packets.

    One byte a switch that the packets of this level enter next: a request's switch has lines
    s + j N / r, a reply's r s + j. Levels on whose lines no switch follows are cut like a reply's.
    """
    shift = setup.line_bits - setup.radix_bits
    if level < setup.stages:
        group, bit = line & ((1 << shift) - 1), line >> shift
    else:
        group, bit = line >> setup.radix_bits, line & (setup.radix - 1)
    return unsigned(level * setup.words * 8 + group), np.uint8(1 << bit)


@inlined
def append(setup, state, level, line, index, moved):
    """Put a packet at the end of a queue."""
    queue, packet = record(state.queues, level * setup.lines + line), record(state.packets, index)
    packet.moved = moved
    packet.next = -1
    if queue.length == 0:
        queue.head = index
        place, bit = group_of(setup, level, line)
        state.groups[place] |= bit
    else:
        record(state.packets, queue.tail).next = index
    queue.tail = index
    queue.length += 1
    queue.longest = max(queue.longest, queue.length)
    state.entered[unsigned(level)] += 1


@inlined
def take(setup, state, level, line):
    """Take the first packet out of a queue."""
    queue = record(state.queues, level * setup.lines + line)
    queue.head = record(state.packets, queue.head).next
    queue.length -= 1
    if queue.length == 0:
        place, bit = group_of(setup, level, line)
        state.groups[place] ^= bit
    state.left[unsigned(level)] += 1


@inlined
def line_at(setup, stage, origin, target):
    """Return the line on which a request from ``origin`` to line ``target`` comes to a stage."""
    ahead = (setup.stages - stage) * setup.radix_bits
    return (origin << stage * setup.radix_bits | target >> ahead) & (setup.lines - 1)


@inlined
def shuffle(chosen, count, bits):
    """Put the first ``count`` numbers of an array in random order."""
    for last in range(count - 1, 0, -1):
        size = np.uint64(last + 1)
        other = unsigned(bits % size)
        bits //= size
        chosen[unsigned(last)], chosen[other] = chosen[other], chosen[unsigned(last)]


@inlined
def composed(operation, word, operand):  # one line per operation
    """Return what an operation makes of a word. Of operands, what one after the other does."""
    if operation == ADD:
        return word + operand
    if operation == OR:
        return word | operand
    if operation == AND:
        return word & operand
    if operation == XOR:
        return word ^ operand
    if operation == MAX:
        return max(word, operand)
    if operation == MIN:
        return min(word, operand)
    if operation == SWAP:
        return operand
    assert operation == LOAD
    return word
