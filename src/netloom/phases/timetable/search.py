"""Good timetables of phases: algorithm AS, and what improves on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.phases.timetable.phase_arrays import Phase

LOOKS = 1_000_000_000
"""Busy times that are looked at in all to improve timetables, where tries are not given: a second
or two. Each try looks at most at those of a processor for each connection."""

MOST_COLOUR_PLACES = 2**26
"""Largest table of an edge colouring: processors × connections of a processor."""


class Filled(NamedTuple):
    """The timetable of a phase, in words."""

    # int64[n], the connections in the order in which processors take them up.
    sequence: NDArray[np.int64]
    start: NDArray[np.int64]  # int64[n]


def longest(phase: Phase) -> int:
    """Return the most words of connections that wait for one another."""
    from netloom.phases.kernels.timetable import longest_chain

    return int(longest_chain(phase.words, phase.first, phase.later, phase.waits))


def least_words(phase: Phase) -> int:
    """Return the least makespan: the words of the busiest processor or of the longest chain."""
    return max(phase.heaviest(), longest(phase))


def prioritised(phase: Phase, priority: NDArray[np.int64]) -> Filled:
    """Return the timetable of connections that are placed by priority, as far as the order lets."""
    sequence = np.lexsort((priority, phase.rank)).astype(np.int64)
    return Filled(sequence, _start(phase, sequence))


def scheduled(phases: list[Phase], tries: int | None, seed: int) -> list[Filled]:
    """Return the timetable of each phase by algorithm AS, improved where it misses its bound.

    An edge colouring meets the bound where all connections are equally long, senders and receivers
    apart and nothing is in order. The sequence of any other phase is annealed, ``tries`` times; by
    default as often as takes a second or two in all, and always as often for the same phases.
    """
    from netloom.phases.kernels.timetable import greedy_sequence

    begun, left = [], []
    for number, phase in enumerate(phases):
        sequence = greedy_sequence(
            phase.one, phase.other, phase.words, phase.first, phase.later, phase.waits,
            phase.num_processors,
        )  # fmt: skip
        start = _start(phase, sequence)
        late = max(start + phase.words, default=0) > least_words(phase)
        if late and tries != 0 and _is_colourable(phase):
            start = _coloured(phase)
        elif late and tries != 0:
            left.append((number, sequence))
        begun.append(start)
    looks = sum(len(sequence) * _most_connections(phases[number]) for number, sequence in left)
    rng = np.random.default_rng(seed)
    for number, sequence in left:
        attempts = LOOKS // looks if tries is None else tries
        _improve(phases[number], sequence, begun[number], attempts, rng)
    return [
        Filled(np.lexsort((phase.rank, start)), start)
        for phase, start in zip(phases, begun, strict=True)
    ]


def _start(phase: Phase, sequence: NDArray[np.int64]) -> NDArray[np.int64]:
    from netloom.phases.kernels.timetable import filled

    start: NDArray[np.int64] = filled(
        sequence, phase.one, phase.other, phase.words, phase.first, phase.later,
        phase.num_processors,
    )  # fmt: skip
    return start


def _is_colourable(phase: Phase) -> bool:
    """Whether König's theorem applies to the phase."""
    alike = phase.words[0] == phase.words.max() == phase.words.min()
    table = phase.num_processors * _most_connections(phase)
    apart = not np.isin(phase.one, phase.other).any()
    return bool(alike and apart and not len(phase.later) and table <= MOST_COLOUR_PLACES)


def _most_connections(phase: Phase) -> int:
    """Return the most connections of a processor."""
    return int(np.bincount(np.concatenate([phase.one, phase.other])).max())


def _coloured(phase: Phase) -> NDArray[np.int64]:
    from netloom.phases.kernels.colouring import edge_colouring

    colours = _most_connections(phase)
    start: NDArray[np.int64] = phase.words[0] * edge_colouring(
        phase.one, phase.other, phase.num_processors, colours
    )
    return start


def _improve(
    phase: Phase,
    sequence: NDArray[np.int64],
    start: NDArray[np.int64],
    tries: int,
    rng: np.random.Generator,
) -> None:
    """Anneal a sequence; ``start`` then holds the best timetable found."""
    from netloom.phases.kernels.timetable import improve

    improve(
        sequence, phase.one, phase.other, phase.words, phase.first, phase.later,
        phase.num_processors, least_words(phase), tries, rng, start,
    )  # fmt: skip
