"""The peak width of a topology as it is defined: try every order of the nodes, count every cut."""

from itertools import permutations


def cut_widths(links, place):
    """Links (pairs of nodes) that join a position up to k to one after k, for every k."""
    return [
        sum(min(place[a], place[b]) <= k < max(place[a], place[b]) for a, b in links)
        for k in range(len(place))
    ]


def minimum_peak_width(links, num_nodes):
    """Smallest of the largest cut widths, over all layouts."""
    return min(max(cut_widths(links, place)) for place in permutations(range(num_nodes)))
