"""Collectives of a size, in bytes and seconds: as messages, as traces, and as rounds.

Messages and traces run on all engines. Rounds list alike steps once, for programs that are too long
to list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError, NotAMappingError
from netloom.workload.programs.collectives.waits import waits
from netloom.workload.programs.many_lists import Lists
from netloom.workload.programs.messages import Messages, checked
from netloom.workload.programs.round_programs import Round, round_program
from netloom.workload.programs.traces import MOST_LENGTH, MOST_SECONDS, Trace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.workload.programs.collectives.outline import Outline
    from netloom.workload.programs.collectives.program import CollectiveProgram
    from netloom.workload.programs.round_programs import Order, RoundProgram

ROUNDING = 1e-12
"""Sizes that differ by such a part differ by rounding."""

LEAST_BYTES = 1.0
"""A message has at least so many bytes, even in a barrier."""


def messages_of(
    program: CollectiveProgram,
    size_bytes: float,
    host_of_rank: ArrayLike,
    *,
    num_hosts: int | None = None,
    overhead_seconds: float = 0.0,
    stepwise: bool = True,
) -> Messages:
    """Return a collective as a table of messages in bytes and seconds, in the program's order.

    A message waits for those that brought what it carries. Messages between ranks of one host
    arrive immediately, without overhead. Only ``flits`` depends on the size: for another size,
    replace it by ``sizes_in_bytes(program.message_size, size_bytes)``.

    Parameters
    ----------
    program
        The collective.
    size_bytes
        Its size. See ``CollectiveProgram``.
    host_of_rank
        int[num_ranks], the host of each rank. Several may share one.
    num_hosts
        Of the network. One more than the last host of a rank by default.
    overhead_seconds
        Time of the processors of both ends for each message.
    stepwise
        Whether a rank sends only once all that it sent in its step before has arrived, as in the
        usual formulas. Otherwise as soon as it has what it sends.

    Raises
    ------
    InputError
        If a size or time is none, or a rank has no host.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> ring = collective_program("all-gather", "ring", 4)
    >>> table = messages_of(ring, 1e6, [0, 1, 2, 3])
    >>> len(table), set(table.flits.tolist()), table.after[:4].tolist()
    (12, {250000.0}, [0, 3, 0, 1])
    """
    hosts = _hosts(program.num_ranks, host_of_rank, num_hosts)
    source, target = hosts[program.source], hosts[program.target]
    work = (source != target) * _overhead(overhead_seconds)
    offsets, after = waits(program, stepwise=stepwise)
    nothing = np.zeros(len(source))
    return checked(
        Messages(
            int(hosts.max()) + 1 if num_hosts is None else num_hosts,
            0,
            start=nothing,
            delay=nothing,
            run=work,
            source=source,
            target=target,
            flits=sizes_in_bytes(program.message_size, size_bytes),
            hold=nothing,
            receive=work,
            context=np.full(len(source), -1, np.int32),
            after_offsets=offsets,
            after=after,
        )
    )


def trace_of(
    program: CollectiveProgram,
    size_bytes: float,
    *,
    overhead_seconds: float = 0.0,
    stepwise: bool = True,
) -> Trace:
    """Return a collective as a trace in bytes and seconds, whose tasks are ranks.

    ``Trace.in_cycles`` and ``Trace.placed`` make of it what each engine runs, and ``write_trace`` a
    file. Arguments and errors as in ``messages_of``.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> trace_of(collective_program("broadcast", "binomial", 8), 1e6)
    <broadcast, binomial: 8 tasks, 7 messages, 7 entries>
    """
    count = program.num_messages
    work, nothing = np.full(count, _overhead(overhead_seconds)), np.zeros(count)
    return Trace(
        f"{program.collective}, {program.algorithm}",
        program.num_ranks,
        tuple(map(str, range(count))),
        start=nothing,
        run=work,
        hold=nothing,
        receive=work,
        source=program.source,
        flits=sizes_in_bytes(program.message_size, size_bytes),
        targets=Lists(np.arange(count + 1), program.target.astype(np.int64)),
        after=Lists(*waits(program, stepwise=stepwise)),
        flit_bytes=1,
        unit="seconds",
    )


def rounds_of(
    outline: Outline,
    size_bytes: float,
    host_of_rank: ArrayLike,
    *,
    num_hosts: int | None = None,
    node_of_host: ArrayLike | None = None,
    order: Order = "neighbours",
) -> RoundProgram:
    """Return a collective as rounds: steps that are alike are one round with a count.

    ``neighbours``: a rank goes on when all that it sent and received before is complete. These are
    the steps of ``messages_of`` if each step carries what the one before brought. Ranks that share
    a host wait for each other. Other arguments and errors as in ``messages_of``.

    ``node_of_host``: int[num_hosts], the node that owns each host. Messages inside a node then have
    no bytes, and arrive at once.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import outline
    >>> rounds_of(outline("all-reduce", "ring", 16384), 1e9, range(16384))
    <32766 rounds, 536838144 messages, neighbours>
    """
    hosts = _hosts(outline.num_ranks, host_of_rank, num_hosts)
    unit = float(outline.chunk_size[0]) if len(outline.chunk_size) else 0.0
    rounds = []
    for each in outline.steps:
        if len(each.source):
            ends = hosts[each.source], hosts[each.target]
            sizes = sizes_in_bytes(each.width * np.float64(unit), size_bytes)
            if node_of_host is not None:
                source, target = (np.asarray(node_of_host)[end] for end in ends)
                sizes = np.where((source == target) & (ends[0] != ends[1]), 0.0, sizes)
            rounds.append(Round(*ends, sizes, each.times))
    count = int(hosts.max()) + 1 if num_hosts is None else num_hosts
    return round_program(count, rounds, order=order)


def sizes_in_bytes(part: Floats, size_bytes: float) -> Floats:
    """Return the bytes of messages from their parts of a collective's size.

    What is whole but for rounding is whole, so that no engine adds a flit for it.

    Raises
    ------
    InputError
        If the size is none.
    """
    if not 0 <= size_bytes <= MOST_LENGTH:
        raise InputError("size", f"{size_bytes:g} bytes", f"0 to {MOST_LENGTH:g}")
    exact = part * size_bytes
    whole = np.rint(exact)
    found = np.where(np.abs(exact - whole) <= ROUNDING * whole, whole, exact)
    return np.maximum(found, LEAST_BYTES).astype(np.float64)


def _overhead(seconds: float) -> float:
    if not 0 <= seconds <= MOST_SECONDS:
        raise InputError("overhead", f"{seconds:g} seconds", f"0 to {MOST_SECONDS:g}")
    return seconds


def _hosts(num_ranks: int, host_of_rank: ArrayLike, num_hosts: int | None) -> Ints:
    """Return the hosts of ranks, each of which has one."""
    given = np.asarray(host_of_rank)
    if given.shape != (num_ranks,):
        raise NotAMappingError("mapping", f"hosts for {given.size} ranks", f"{num_ranks}")
    most = int(given.max()) if num_hosts is None else num_hosts - 1
    if given.min() < 0 or given.max() > most:
        wrong = int(np.argmax((given < 0) | (given > most)))
        raise NotAMappingError("mapping", f"host {given[wrong]} for rank {wrong}", f"0 to {most}")
    return given.astype(np.int32)
