"""The definitions of contention, written for the reader: sets of paths, one channel at a time."""

from collections import defaultdict


def contention(paths, weights):
    """Return (D, d, ν, weight of all paths met and of the path itself) of each path."""
    on_channel = defaultdict(set)
    for number, path in enumerate(paths):
        for channel in path:
            on_channel[channel].add(number)
    answers = []
    for number, path in enumerate(paths):
        met, logical_length = set(), 0
        for channel in path:
            new = on_channel[channel] - met - {number}
            logical_length += bool(new)
            met |= new
        weight = sum(weights[other] for other in met) + (weights[number] if path else 0)
        answers.append((len(path), logical_length, len(met), weight))
    return answers


def channel_loads(paths, weights, num_channels):
    """Return (number of paths, weight) of each channel."""
    counts, totals = [0] * num_channels, [0.0] * num_channels
    for path, weight in zip(paths, weights, strict=True):
        for channel in path:
            counts[channel] += 1
            totals[channel] += weight
    return counts, totals
