"""What connections in phases cost, and what the same pattern costs by message passing.

Feldmann, Stricker & Warfel, *Supporting sets of arbitrary connections on iWarp through
communication context switches*, 1993, sections 2, 3 and 5: software overheads and network access
alone. These formulas do not include channels that several connections share, or messages that block
each other. ``netloom.phases.schedule`` and the simulators do. The errata named in the docstrings
were found by an independent reproduction of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.errors import InputError


class _Costs:
    """Costs that are not negative, in which a word takes some time."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            positive = name.endswith("clocks_per_word")
            if not 0 <= value < inf or (positive and value == 0):
                wanted = f"{'above 0' if positive else 'at least 0'}, and finite"
                raise InputError(name, f"{value:g}", wanted)


@dataclass(frozen=True)
class ConSetCosts(_Costs):
    """What a machine takes to switch to a phase and to move words on its connections. In clocks.

    The defaults are iWarp's (section 4.2.1).

    Parameters
    ----------
    sync_clocks
        To synchronize all processors, t_sync.
    phase_clocks
        To set up a phase, t_phase.
    clocks_per_word
        b: of a processor, to send or to receive a word.
    channel_clocks_per_word
        Of a channel, to carry a word, be it of one connection or of another.
    both_ways
        Whether a processor sends and receives at the same time, as in Tables 1-3, or does one or
        the other, as in the loops of the finite elements (Table 6).

    Raises
    ------
    InputError
        If a cost is negative, or a word takes no time.
    """

    sync_clocks: float = 352.0
    phase_clocks: float = 176.0
    clocks_per_word: float = 2.0
    channel_clocks_per_word: float = 2.0
    both_ways: bool = True

    @property
    def switch_clocks(self) -> float:
        """Clocks of a communication context switch: to synchronize, and to set up a phase."""
        return self.sync_clocks + self.phase_clocks


@dataclass(frozen=True)
class MessageCosts(_Costs):
    """What a message costs the processors that send and receive it, in clocks.

    The defaults are iWarp's as Tables 1-3 have them. Section 4.3.1 adds 16 clocks, of 4 words of
    header and trailer at each end or of 8 words. No table does.

    Parameters
    ----------
    send_clocks, receive_clocks
        Overhead of a message at either end, c_s and c_r.
    clocks_per_word
        a: of a processor, to send or to receive a word.
    header_words
        Words of a message besides its data.

    Raises
    ------
    InputError
        If a cost is negative, or a word takes no time.
    """

    send_clocks: float = 400.0
    receive_clocks: float = 400.0
    clocks_per_word: float = 2.0
    header_words: int = 0


def conset_clocks(makespan_clocks: ArrayLike, costs: ConSetCosts) -> float:
    """Return the clocks of phases one after the other, each with a context switch before it.

    A phase lasts until its last connection has ended: T = P (t_sync + t_phase) + Σ makespan. With
    makespans of W words in all at 10 clocks each, this is the T = 528 P + 10 W of Table 6.

    Parameters
    ----------
    makespan_clocks
        float[phases], such as the makespan of a ``netloom.phases.Timetable``.

    Examples
    --------
    >>> conset_clocks([2000, 1730], ConSetCosts())
    4786.0
    """
    lasting = np.asarray(makespan_clocks, np.float64)
    return float(lasting.size * costs.switch_clocks + lasting.sum())


def pattern_message_passing_clocks(
    source: ArrayLike,
    target: ArrayLike,
    words: ArrayLike,
    costs: MessageCosts,
    *,
    both_ways: bool = True,
) -> float:
    """Return the clocks of the busiest processor of any pattern, one message for each connection.

    ``message_passing_clocks``, processor by processor: the overheads of all messages that it sends
    and receives, and the longer of their transfers, out or in, where these overlap, or else both. A
    lower bound of the model: a processor may have to wait for its messages.

    Parameters
    ----------
    source, target
        int[n], the processors that send and receive, from 0.
    words
        int[n], words of each message. A scalar where all are alike.
    costs
        Of the machine.
    both_ways
        Whether a processor sends and receives words at the same time, as in Tables 1-3.

    Raises
    ------
    InputError
        If words are negative.

    Examples
    --------
    >>> pattern_message_passing_clocks([0, 1, 2], [1, 2, 0], 32, MessageCosts())
    864.0
    >>> pattern_message_passing_clocks([0, 1, 2], [1, 2, 0], 32, MessageCosts(), both_ways=False)
    928.0
    >>> pattern_message_passing_clocks([0, 0, 0], [1, 2, 3], [10, 20, 30], MessageCosts())
    1320.0
    """
    sender, receiver = np.asarray(source, np.int64), np.asarray(target, np.int64)
    if not len(sender):
        return 0.0
    given = np.asarray(words, np.float64)
    if not np.all(given >= 0):
        raise InputError("words", f"{given.min():g}", "at least 0")
    length = np.broadcast_to(given, sender.shape) + costs.header_words
    processors = int(max(sender.max(), receiver.max())) + 1
    overhead = costs.send_clocks * np.bincount(sender, minlength=processors)
    overhead += costs.receive_clocks * np.bincount(receiver, minlength=processors)
    sent = np.bincount(sender, length, processors)
    received = np.bincount(receiver, length, processors)
    moved = np.maximum(sent, received) if both_ways else sent + received
    return float((overhead + costs.clocks_per_word * moved).max())
