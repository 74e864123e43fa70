"""Collectives as tables of messages in bytes and seconds, rank by rank on hosts."""

from typing import NamedTuple

import numpy as np

from netloom.workload.programs.collectives.program import sizes_in_bytes, waits
from netloom.workload.programs.messages import Messages, checked


def messages_of(program, size_bytes, host_of_rank, *, num_hosts=None, overhead_seconds=0.0,
                stepwise=True):  # fmt: skip
    """Messages between ranks of one host arrive at once. See ``trace_of``."""
    hosts = np.asarray(host_of_rank, np.int32)
    source, target = hosts[program.source], hosts[program.target]
    work = (source != target) * overhead_seconds
    offsets, after = waits(program, stepwise=stepwise)
    nothing = np.zeros(len(source))
    return checked(
        Messages(
            int(hosts.max()) + 1 if num_hosts is None else num_hosts, 0,
            start=nothing, delay=nothing, run=work, source=source, target=target,
            flits=sizes_in_bytes(program.message_size, size_bytes), hold=nothing, receive=work,
            context=np.full(len(source), -1, np.int32), after_offsets=offsets, after=after,
        )
    )  # fmt: skip


class Counts(NamedTuple):
    """What an algorithm sends. Parts are of the collective's size."""

    steps: int
    messages: int
    sent: float  # the part of the size that all messages carry together
    most_sent: float  # that a rank sends at most
    most_received: float  # that a rank receives at most


def counts(outline):
    """Return how many steps and messages an algorithm takes, and what ranks send.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import outline
    >>> counts(outline("all-gather", "bruck", 8))
    Counts(steps=3, messages=24, sent=7.0, most_sent=0.875, most_received=0.875)
    """
    size = float(outline.chunk_size[0]) if len(outline.chunk_size) else 0.0
    widths = [each.width.astype(np.float64) * each.times for each in outline.steps]
    ends = [
        np.bincount(
            np.concatenate([[], *(each[place] for each in outline.steps)]).astype(np.int64),
            weights=np.concatenate([[], *widths]),
            minlength=outline.num_ranks,
        )
        for place in (0, 1)
    ]
    sent, received = (each * size for each in ends)
    return Counts(
        outline.num_steps,
        outline.num_messages,
        float(sent.sum()),
        float(sent.max()),
        float(received.max()),
    )
