"""Packets that are given to the network, and those that it has delivered."""

from netloom.compilation import kernel
from netloom.simulation.kernels.records import unsigned


@kernel
def write_rows(columns, rows):
    """Write the columns of ``layout.BORN`` as rows."""
    for place in range(len(rows)):
        row = unsigned(place)
        for column in range(len(columns)):
            rows[row, unsigned(column)] = columns[column][row]


@kernel
def count_born(rows, packets_of, flits_of):
    """Count the packets of a table of ``layout.BORN``, and their flits, by source."""
    for place in range(len(rows)):
        row = unsigned(place)
        source = unsigned(rows[row, 1])
        packets_of[source] += 1
        flits_of[source] += rows[row, 3]


@kernel
def take_columns(table, columns, packets_of):
    """Write a log as the columns of ``layout.DELIVERED``; count its packets by source."""
    for place in range(len(table)):
        row = unsigned(place)
        for column in range(len(columns)):
            columns[unsigned(column), row] = table[row, unsigned(column)]
        packets_of[unsigned(table[row, 4])] += 1
