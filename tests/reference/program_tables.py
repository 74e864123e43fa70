"""The cheapest paths of one destination's flows, found by trying every path."""

from collections.abc import Iterator


def all_paths(
    here: int,
    end: int,
    row: list[int],
    fixed: set[int],
    allowed: list[bool],
    ends: list[tuple[int, int]],
) -> Iterator[list[int]]:
    """Yield the channels of every allowed way from a router to the end."""
    if here == end:
        yield []
        return
    for channel, (source, target) in enumerate(ends):
        if source != here or not allowed[channel] or (here in fixed and row[here] != channel):
            continue
        for rest in all_paths(target, end, row, fixed, allowed, ends):
            yield [channel, *rest]


def route(
    row: list[int],
    end: int,
    flows: list[tuple[int, float]],
    allowed: list[bool],
    ends: list[tuple[int, int]],
    speed: list[float],
    load: list[float],
    power: float,
) -> list[float]:
    """Return what each flow pays, having given each in turn the cheapest of all its paths.

    ``flows`` are (router, volume), in their order. ``row`` and ``load`` change.
    """
    fixed: set[int] = set()
    paid = []

    def price(path: list[int], volume: float) -> float:
        return sum(
            ((load[c] + volume) / speed[c]) ** power - (load[c] / speed[c]) ** power for c in path
        )

    for router, volume in flows:
        ways = list(all_paths(router, end, row, fixed, allowed, ends))
        best = min(ways, key=lambda path: price(path, volume))
        paid.append(price(best, volume))
        for channel in best:
            source = ends[channel][0]
            row[source] = channel
            fixed.add(source)
            load[channel] += volume
    return paid
