"""How far the end of a run of flows can be trusted, from figures that flows alone give.

Flows share fairly; routers share by turns, first come first served. Where both come to the same end
is known from the study ``flows-and-flits``, which runs both.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from netloom.errors import InputError

ORDER_MATTERS = 3.0
"""Ends in order and shared that differ by more than this factor say nothing of the true one."""

ORDER_COUNTS = 1.5
"""Up to this factor between the ends in order and shared, their gap adds no error of its own."""

ONE_CHANNEL = 1.02
"""An end within this factor of the bound is held by one channel."""


class Trust(NamedTuple):
    """What is expected of an answer.

    Attributes
    ----------
    within
        The true end differs from the answer by at most this part of it, in nine of ten cases;
        None: nothing can be said.
    why
        What decides that, as a sentence.
    """

    within: float | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self._asdict()


def trust(
    in_order_finish: float,
    shared_finish: float,
    bound: float,
    *,
    lossless_finish: float | None = None,
    short: float = 0.0,
) -> Trust:
    """Return how far the end of a program on flows can be trusted.

    Parameters
    ----------
    in_order_finish, shared_finish
        When the program ends if each host's messages follow one another, and if all share its
        injection channel: ``run_flows`` with both kinds of ``injection``. The same where no host
        has two messages under way at once.
    bound
        The least time that the program needs: of one-shot traffic, what the fullest link has to
        carry over its bandwidth. 0 if it is not known.
    lossless_finish
        When it ends if links share by turns, as in lossless networks; None if it is not known.
    short
        The part of the messages that are shorter than a packet, or take longer for the latency of
        their path than for their bytes.

    Raises
    ------
    InputError
        If a figure is not a number of at least 0.

    Examples
    --------
    >>> trust(1.0, 1.0, 1.0).within
    0.05
    >>> trust(9.0, 1.0, 1.0).within is None
    True
    """
    ends = [in_order_finish, shared_finish]
    if lossless_finish is not None:
        ends.append(lossless_finish)
    for value in (*ends, bound, short):
        if not (isfinite(value) and value >= 0):
            raise InputError("trust", f"{value}", "finite figures of at least 0")
    low, high = min(ends), max(ends)
    if low <= 0:
        return Trust(0.0, "Nothing crosses the network.")
    gap = high / low
    if gap > ORDER_MATTERS:
        why = f"The end hangs on the order in which messages are sent (a factor of {gap:.2g})."
        return Trust(None, why)
    if short > 0.5:
        return Trust(None, "Most messages are too short for flows.")
    if gap > ORDER_COUNTS:
        why = f"The order in which messages are sent makes a factor of {gap:.2g}."
        return Trust(0.5, why)
    if lossless_finish is not None and in_order_finish <= ONE_CHANNEL * bound:
        return Trust(0.05, "One channel decides when the program ends.")
    if lossless_finish is None and bound > 0 and low <= ONE_CHANNEL * bound:
        return Trust(0.05, "One channel decides when the program ends.")
    return Trust(0.25, "Several channels decide when the program ends.")
