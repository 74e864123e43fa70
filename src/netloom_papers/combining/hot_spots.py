"""Hot spots: memory modules that many processing elements ask for, and which of them each does.

The inputs are those of Rosenblum & Mayr, *Simulation of an Ultracomputer with several hot spots*,
STAN-CS-86-1119 (1986), section 2.1. The uniform background is that of Pfister & Norton, *"Hot spot"
contention and combining in multistage interconnection networks*, IEEE Trans. Computers 34 (1985).

Two cases have a closed form. In one there is one hot spot, every processing element requests it
with the same probability, and switches combine all requests that meet. The other is without
combining, where only the module counts (Pfister & Norton).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size

# -- closed forms ----------------------------------------------------------------------------------


MOST_STAGES = 1000
"""Twice as many processing elements each, so many that 2^K is still a float."""


class SingleHotSpot(NamedTuple):
    """Mean lengths at the end of a step, of the queues and pools that are used.

    Attributes
    ----------
    queue_mean
        float64[2 K + 2], by level: processing elements (0: a request moves in the step in which
        it is made), requests behind stages 0 to K − 1, the module, replies behind stages K − 1
        to 0.
    wait_mean
        float64[K]: packets in the wait pool of each stage.
    """

    queue_mean: Floats
    wait_mean: Floats


def single_hot_spot(stages: int, rate: float) -> SingleHotSpot:
    """Return the mean queues of a combining Omega network of 2 × 2 switches with one hot spot.

    Every processing element makes a request with probability G in each step. Then nothing is ever
    delayed: all requests take 2 K + 2 steps. A queue behind stage i holds a request if one of the
    2^(i+1) elements before it made one that very step, with probability p_i = 1 − (1 −
    G)^(2^(i+1)). Its reply passes the same places: the module's queue has mean p_(K−1), that behind
    stage i on the way back p_(i−1), with p_(−1) = G. Both inputs of a switch bring a request with
    probability p_(i−1)², and one of them waits for 2 (K − i) steps.

    Parameters
    ----------
    stages
        K = log₂ N, 1 to 1000.
    rate
        G, 0 to 1.

    Raises
    ------
    InputError
        If there is no stage, or the rate is no probability.

    Examples
    --------
    >>> one = single_hot_spot(4, 0.15)
    >>> one.queue_mean.round(3)
    array([0.   , 0.278, 0.478, 0.728, 0.926, 0.926, 0.728, 0.478, 0.278,
           0.15 ])
    >>> one.wait_mean.round(3)
    array([0.18 , 0.462, 0.914, 1.059])
    """
    if not 1 <= stages <= MOST_STAGES or stages != int(stages):
        raise InputError("stages", f"{stages}", f"a whole number from 1 to {MOST_STAGES}")
    _check_probability("rate", rate)
    reached = np.arange(stages + 1)
    busy = np.asarray(1 - (1 - rate) ** (2.0**reached), np.float64)  # p_(i − 1) at place i
    queues = np.concatenate([[0.0], busy[1:], [busy[stages]], busy[stages - 1 :: -1]])
    return SingleHotSpot(queues, busy[:-1] ** 2 * 2 * (stages - reached[:-1]))


def tree_saturation(modules: int, hot_fraction: float) -> float:
    """Return the most requests per element and step that a network without combining carries.

    A part h of all requests is for one of N modules, which takes one per step: 1 / (1 + h (N − 1))
    (Pfister & Norton 1985). Its queues fill, back to every element, so that requests for other
    modules are delayed as well.

    Parameters
    ----------
    modules
        N, at least 1.
    hot_fraction
        h, 0 to 1.

    Raises
    ------
    InputError
        If there is no module, or the fraction is none.

    Examples
    --------
    >>> round(tree_saturation(512, 0.01), 3)
    0.164
    """
    if not modules >= 1:
        raise InputError("modules", f"{modules}", "at least 1")
    _check_probability("hot_fraction", hot_fraction)
    return 1 / (1 + hot_fraction * (modules - 1))


# -- hot spots -------------------------------------------------------------------------------------


_PLACING, _ASSIGNING = 1, 2
"""Beside the seed: what is placed and what is assigned have nothing to do with each other."""


@dataclass(frozen=True, eq=False)
class HotSpotTraffic:
    """What every processing element (PE) asks of which memory module, and how often.

    Attributes
    ----------
    hot_spots
        int32[num_hot_spots], the modules that are hot spots, 0 … ``pes`` − 1, none twice.
    assigned
        int32[pes, per_pe], the hot spots that each PE asks for, none twice, -1 behind the last.
        As many modules as PEs.
    rate
        Probability that a PE makes a request in a step.
    wait
        Whether a PE discards a request for a hot spot from which it still awaits a reply.
    hot_fraction
        Part of the requests that go to hot spots. The others go to all modules alike, and are not
        combined (Pfister & Norton's h).
    assign
        Probability that a PE with a free place takes a hot spot that is new.
    new, remove
        Probabilities of a new hot spot in a step, and of the loss of one.

    Raises
    ------
    InputError
        If a probability is outside 0 to 1, or a hot spot is no module or named twice. If a PE
        requests a module that is no hot spot, or one twice.

    Examples
    --------
    >>> assigned = np.array([[2, 0], [0, -1], [2, -1], [-1, -1]])
    >>> traffic = HotSpotTraffic(np.array([2, 0]), assigned, rate=0.15)
    >>> traffic.pes, traffic.mean_per_pe
    (4, 1.0)
    """

    hot_spots: Ints
    assigned: Ints
    rate: float
    wait: bool = False
    hot_fraction: float = 1.0
    assign: float = 1.0
    new: float = 0.0
    remove: float = 0.0

    def __post_init__(self) -> None:
        for name in ("rate", "hot_fraction", "assign", "new", "remove"):
            _check_probability(name, getattr(self, name))
        for name, dimensions in (("hot_spots", 1), ("assigned", 2)):
            given = np.asarray(getattr(self, name))
            assert given.ndim == dimensions, f"{name} of shape {given.shape}"
            assert given.dtype.kind in "iu", f"{name} of {given.dtype}"
            object.__setattr__(self, name, np.ascontiguousarray(given, np.int32))
        assert self.per_pe >= 1, "no place for a hot spot"
        hot_spots, assigned, pes = self.hot_spots, self.assigned, self.pes
        if not len(hot_spots):
            raise InputError("hot_spots", "none", f"1 to {pes}, the modules")
        outside = hot_spots[(hot_spots < 0) | (hot_spots >= pes)]
        if len(outside):
            raise InputError("hot_spots", f"module {outside[0]}", f"0 to {pes - 1}")
        module, times = np.unique(hot_spots, return_counts=True)
        if times.max() > 1:
            raise InputError("hot_spots", f"module {module[np.argmax(times)]} twice", "each once")
        ascending = np.sort(assigned, axis=1)
        wrong = {
            "a module that is no hot spot": ~np.isin(assigned, [-1, *hot_spots.tolist()]),
            "a hot spot behind an empty place": (assigned[:, :-1] < 0) & (assigned[:, 1:] >= 0),
            "the same hot spot twice": (np.diff(ascending) == 0) & (ascending[:, 1:] >= 0),
        }
        for what, where in wrong.items():
            if where.any():
                pe = int(np.argmax(where.any(axis=1)))
                found = f"{what}, PE {pe}: {', '.join(map(str, assigned[pe].tolist()))}"
                wanted = "different hot spots, and -1 behind the last"
                raise InputError("assigned", found, wanted)

    @property
    def pes(self) -> int:
        """Number of processing elements, and of memory modules."""
        return len(self.assigned)

    @property
    def per_pe(self) -> int:
        """Most hot spots that a PE can have."""
        return int(self.assigned.shape[1])

    @property
    def mean_per_pe(self) -> float:
        """Hot spots that a PE has on average. Those that have none count as well."""
        return int(np.count_nonzero(self.assigned >= 0)) / self.pes


def place_hot_spots(
    modules: int,
    count: int,
    *,
    spacing: int | None = None,
    deviation: int = 0,
    seed: int = DEFAULT_SEED,
) -> Ints:
    """Return ``count`` different hot spots among the modules, at random or spaced.

    If spaced, the first is any module. Each next one is the one before + ``spacing`` + a uniform
    integer from -``deviation`` to ``deviation``, modulo ``modules``. A module that is drawn already
    is drawn again (Rosenblum & Mayr 1986, section 2.1). The drawing always ends. The deviation is
    at most the spacing, so no increment is negative. By the paper's check ``count`` · (``spacing``
    + ``deviation``) ≤ ``modules``, all increments together do not wrap around. So only an increment
    of 0 repeats a module.

    They are int32[count], in the order drawn.

    Parameters
    ----------
    modules
        Memory modules, as many as there are PEs.
    count
        Hot spots.
    spacing, deviation
        In modules. Without a spacing every choice of ``count`` modules is as likely.
    seed
        Of the places.

    Raises
    ------
    InputError
        If there are not that many modules, the spacing is below 1, the deviation negative or above
        the spacing, or the hot spots could come round.

    Examples
    --------
    >>> place_hot_spots(512, 4, spacing=16, deviation=2, seed=1)
    array([265, 280, 295, 312], dtype=int32)
    >>> len(set(place_hot_spots(512, 8, seed=1).tolist()))
    8
    """
    _check_pes(modules)
    check_size(modules, where="pes", what="modules")
    if not 1 <= count <= modules:
        raise InputError("hot_spots", str(count), f"1 to {modules}, the modules")
    rng = _generator(seed, _PLACING)
    if spacing is None:
        if deviation != 0:
            raise InputError("deviation", f"{deviation} without a spacing", "a spacing as well")
        return rng.choice(modules, count, replace=False).astype(np.int32)
    if spacing < 1:
        raise InputError("spacing", str(spacing), "at least 1 module")
    if not 0 <= deviation <= spacing:
        raise InputError("deviation", str(deviation), f"0 to {spacing}, the spacing")
    needed = count * (spacing + deviation)
    if needed > modules:
        found = f"{count} hot spots * ({spacing} + {deviation}) modules = {needed}"
        raise InputError("spacing", found, f"at most {modules}, the modules")
    first = rng.integers(modules)
    # increments of 0 are drawn again: those that are left are as likely as one another
    least, most = max(1, spacing - deviation), spacing + deviation
    increments = rng.integers(least, most, size=count - 1, endpoint=True)
    steps = np.concatenate([[0], np.cumsum(increments)])
    return ((first + steps) % modules).astype(np.int32)


def assign_hot_spots(
    pes: int, hot_spots: Ints, per_pe: int, probability: float, *, seed: int = DEFAULT_SEED
) -> Ints:
    """Return which hot spots each PE asks for.

    In each of ``per_pe`` rounds every PE gets, with the given probability, one of the hot spots
    that it has not yet, all equally likely (Rosenblum & Mayr 1986, section 2.1). A PE gets
    ``per_pe`` · ``probability`` on average.

    They are int32[pes, per_pe], in the order in which a PE got them, -1 behind the last.

    Parameters
    ----------
    pes
        Processing elements.
    hot_spots
        int32[], different modules.
    per_pe
        Rounds.
    probability
        That a PE gets a hot spot in a round.
    seed
        Of the assignment. That of the places may be the same, they are independent.

    Raises
    ------
    InputError
        If there are not ``per_pe`` hot spots, or the probability is outside 0 to 1.

    Examples
    --------
    >>> assign_hot_spots(4, np.array([0, 2, 3]), 2, 0.75, seed=3)
    array([[ 2,  0],
           [ 3, -1],
           [ 3, -1],
           [ 3,  2]], dtype=int32)
    """
    _check_pes(pes)
    hot_spots = np.asarray(hot_spots, np.int32)
    if not 1 <= per_pe <= len(hot_spots):
        raise InputError("per_pe", str(per_pe), f"1 to {len(hot_spots)}, the hot spots")
    _check_probability("assign", probability)
    check_size(pes * per_pe, where="per_pe", what="places for hot spots of PEs")
    rng = _generator(seed, _ASSIGNING)
    # The hot spots that a PE gets are the first so many of all, in an order of their own: Fisher &
    # Yates' shuffle of their places, no further than it is needed.
    counts = rng.binomial(per_pe, probability, size=pes)
    chosen = rng.integers(np.arange(per_pe), len(hot_spots), size=(pes, per_pe), dtype=np.int32)
    for row in chosen:
        moved: dict[int, int] = {}
        for place, other in enumerate(row.tolist()):
            row[place] = moved.get(other, other)
            moved[other] = moved.get(place, place)
    assigned = hot_spots[chosen]
    assigned[np.arange(per_pe) >= counts[:, None]] = -1
    return assigned


def _generator(seed: int, purpose: int) -> np.random.Generator:
    if seed < 0:
        raise InputError("seed", str(seed), "a whole number of at least 0")
    return np.random.default_rng([seed, purpose])


def _check_pes(pes: int) -> None:
    if pes < 1:
        raise InputError("pes", str(pes), "at least 1")


def _check_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:  # NaN is neither
        raise InputError(name, f"{value:g}", "a probability from 0 to 1")
