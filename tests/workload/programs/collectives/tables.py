"""Collectives as tables of messages in bytes and seconds, rank by rank on hosts."""

import numpy as np

from netloom.workload.programs.collectives.sent import sizes_in_bytes, waits
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
