"""How far the end of a run of flows can be trusted, from what flows alone say.

Flows share links fairly. Routers give inputs turns, and a packet that waits blocks those behind it.
The study ``flows-and-flits`` runs 84 programs in both ways, each on three routers, and groups them
by kind. Nine of ten finish times of a kind differ by at most its figure. Kinds are short messages
and, for longer ones, the combinations of two gaps. The first gap is between finish times if a
host's messages follow one another and if they share its channel. The second is between finish times
under fair sharing and under sharing by turns. Buffers are assumed to be large enough to fill a
channel: with smaller ones, every message takes longer.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.words import rounded

ORDER_COUNTS, ORDER_DECIDES, ORDER_SAYS_NOTHING = 1.1, 2.0, 6.0
"""Gaps between the ends in order and shared, as factors, from which a kind begins."""

TURNS_COUNT, TURNS_DECIDE = 1.02, 1.2
"""Gaps between the ends under fair sharing and by turns, as factors, above which a kind begins."""

ALIKE, TURNS, FAR_TURNS, UNKNOWN_TURNS = 0.065, 0.2, 0.8, 0.28
"""Nine of ten errors of programs whose order does not count: by turns much the same, up to 1.2
times, above, and of all of them."""

ORDER, FAR_ORDER, SHORT = 0.31, 0.4, 0.21
"""Nine of ten errors of programs whose order counts, decides, and of short messages."""

MOST_SHORT = 0.5
"""The part of messages above which a program is one of short messages."""


class Trust(NamedTuple):
    """What is expected of an answer.

    Attributes
    ----------
    within
        The true end differs from the answer by at most this part of the answer, in nine of ten
        cases. None: nothing can be said.
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
    """Return how far the end of a program on flows, sent in order, can be trusted.

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
        When it ends if links share by turns: ``run_flows`` with ``sharing="lossless"``. Without it
        the estimate is coarser.
    short
        The part of the messages that are shorter than a packet, or take longer for the latency of
        their path than for their bytes.

    Raises
    ------
    InputError
        If a figure is not a finite number of at least 0.

    Examples
    --------
    >>> trust(1.0, 1.0, 1.0, lossless_finish=1.0)
    Trust(within=0.065, why='One link decides when the program ends.')
    >>> trust(9.0, 1.0, 1.0).within is None
    True
    """
    by_turns = in_order_finish if lossless_finish is None else lossless_finish
    for value in (in_order_finish, shared_finish, by_turns, bound, short):
        if not (isfinite(value) and value >= 0):
            raise InputError("trust", f"{value}", "finite figures of at least 0")
    if min(in_order_finish, shared_finish, by_turns) <= 0:
        return Trust(0.0, "Nothing crosses the network.")
    order = _gap(in_order_finish, shared_finish)
    if order >= ORDER_SAYS_NOTHING:
        end = f"{rounded(order)} times as long in order as shared, the true end is between"
        return Trust(None, f"The order in which messages are sent decides: {end}.")
    if short > MOST_SHORT:
        return Trust(SHORT, "Most messages are shorter than a packet or than their latency.")
    if order >= ORDER_COUNTS:
        within = FAR_ORDER if order >= ORDER_DECIDES else ORDER
        return Trust(
            within, f"The order in which messages are sent makes a factor of {rounded(order)}."
        )
    return _by_turns(in_order_finish, bound, lossless_finish)


def _by_turns(finish: float, bound: float, lossless_finish: float | None) -> Trust:
    """Return the trust in the end of a program whose order does not count."""
    if lossless_finish is None:
        return Trust(UNKNOWN_TURNS, "Links that share by turns, as routers do, may take longer.")
    turns = _gap(finish, lossless_finish)
    if turns > TURNS_COUNT:
        within = FAR_TURNS if turns > TURNS_DECIDE else TURNS
        return Trust(within, f"Sharing by turns, as routers do, makes a factor of {turns:.2g}.")
    one = bound > 0 and _gap(finish, bound) <= TURNS_COUNT
    link = "One link decides" if one else "Fair sharing and turns agree on"
    return Trust(ALIKE, f"{link} when the program ends.")


def _gap(one: float, other: float) -> float:
    return max(one, other) / min(one, other)
