"""What packets hold and ask for, written for the reader: every path, every two hops in a row."""

from itertools import pairwise


def waits_of(paths):
    """Return the pairs of channels that follow each other on some path."""
    return {pair for path in paths for pair in pairwise(path)}
