"""What collectives cost whatever the network: bus bandwidth, and least steps, bytes and times.

The factors are those of nccl-tests (NVIDIA, ``doc/PERFORMANCE.md``): size / time × factor is the
bandwidth at which a rank's link is used, the same for any number of ranks.
"""

from __future__ import annotations

from heapq import heappush, heapreplace

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.program import COLLECTIVES

TWICE = ("all-reduce",)
"""Collectives in which a rank sends nearly twice the size."""

WHOLE = ("broadcast", "reduce")
"""Collectives in which a rank sends or receives the size, whatever the number of ranks."""


def bus_factor(collective: str, num_ranks: int) -> float:
    """Return bus bandwidth / (size / time), as nccl-tests define it.

    All-reduce: 2(P − 1)/P. Broadcast, reduce: 1. The others (P − 1)/P.

    Raises
    ------
    InputError
        If there is no such collective, or it moves no data.

    Examples
    --------
    >>> bus_factor("all-reduce", 8), bus_factor("all-to-all", 4), bus_factor("reduce", 4)
    (1.75, 0.75, 1.0)
    """
    if collective not in COLLECTIVES or collective == "barrier":
        wanted = ", ".join(each for each in COLLECTIVES if each != "barrier")
        raise InputError("collective", f"'{collective}'", wanted)
    if collective in WHOLE:
        return 1.0
    return (1 + (collective in TWICE)) * (num_ranks - 1) / num_ranks


def least_steps(num_places: int, ranks_each: int = 1) -> int:
    """Return ⌈log2 P⌉: steps until all hear of one, or one of all, if each sends to one per step.

    Ranks of one place hear of each other at once: with n ranks each, ⌈log(n + 1) P⌉ steps.

    Most collectives take at least that many steps, because data of every rank, or of a root,
    reaches all ranks. Gather, scatter and all-to-all do so only if messages are forwarded. A rank
    that sends several messages at once needs fewer steps: see ``least_seconds``.

    Examples
    --------
    >>> [least_steps(ranks) for ranks in (1, 2, 5, 8, 9)], least_steps(16, 8)
    ([0, 1, 3, 3, 4], 2)
    """
    steps, told = 0, 1
    while told < num_places:
        steps, told = steps + 1, told * (ranks_each + 1)
    return steps


def least_seconds(
    num_ranks: int, latency: float, overhead: float, gap: float, ranks_each: int = 1
) -> float:
    """Return the least time in which one rank is heard of by all, or hears of all: LogP's.

    Each rank that has heard sends to another every max(o, g), and a message takes o + L + o (Karp,
    Sahay, Santos & Schauser 1993). Nothing that all depend on can be faster on any network whose
    latencies are at least L.

    Parameters
    ----------
    num_ranks
        P.
    latency, overhead, gap
        L, o and g, in seconds: the latency of the shortest path between two ranks. The time of a
        processor for a message. The time between two messages of a rank.
    ranks_each
        Ranks that hear of each other at once, and all send. P then counts such places.

    Raises
    ------
    InputError
        If a time is below 0.

    Examples
    --------
    Without an overhead or gap a rank reaches all others at once.

    >>> least_seconds(8, 1e-6, 0, 0), least_seconds(8, 6, 2, 4)
    (1e-06, 24.0)
    """
    for name, value in (("latency", latency), ("overhead", overhead), ("gap", gap)):
        if not 0 <= value < np.inf:
            raise InputError(name, f"{value:g} seconds", "a time of at least 0")
    if num_ranks == 1:
        return 0.0
    between, whole = max(overhead, gap), 2 * overhead + latency
    if between == 0:
        return float(whole)
    # when the next message of each rank that has heard is heard
    heap, last = [whole] * ranks_each, 0.0
    for _ in range(num_ranks - 1):
        last = heap[0]
        heapreplace(heap, last + between)
        for _ in range(ranks_each):
            heappush(heap, last + whole)
    return float(last)
