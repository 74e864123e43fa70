"""Packets that are given to the network, and those that it has delivered.

Twin: ``tests/reference/packets.py``.
"""

from netloom.base.compilation import kernel
from netloom.simulation.kernels.records import record, unsigned

NONE = 2**31 - 1
"""More flits than any packet has."""


@kernel
def write_rows(columns, rows):
    """Write the columns of ``layout.BORN`` as rows."""
    for place in range(len(rows)):
        row = unsigned(place)
        for column in range(len(columns)):
            rows[row, unsigned(column)] = columns[column][row]


@kernel
def count_born(rows, packets_of, flits_of):
    """Count packets and flits by source. Return the flits of the shortest and longest packet.

    ``rows`` are those of ``layout.BORN``. Without any, the shortest has ``NONE`` flits.
    """
    least, most = NONE, 0
    for place in range(len(rows)):
        row = unsigned(place)
        source, flits = unsigned(rows[row, 1]), rows[row, 3]
        packets_of[source] += 1
        flits_of[source] += flits
        least, most = min(least, flits), max(most, flits)
    return least, most


@kernel
def take_columns(table, columns, packets_of):
    """Write a log as the columns of ``layout.DELIVERED``. Count its packets by source."""
    for place in range(len(table)):
        row = unsigned(place)
        for column in range(len(columns)):
            columns[unsigned(column), row] = table[row, unsigned(column)]
        packets_of[unsigned(table[row, 4])] += 1


@kernel
def give_free(packets, giver, taker, count):
    """Take so many free records of packets, one at least, from one list to another."""
    giver, taker = record(giver, 0), record(taker, 0)
    first = last = giver.free_packet
    for _ in range(count - 1):
        last = record(packets, last).next
    giver.free_packet = record(packets, last).next
    giver.free_packets -= count
    record(packets, last).next = taker.free_packet
    taker.free_packet = first
    taker.free_packets += count
