"""Collectives written as GOAL schedules, which LogGOPSim and ``goal.read_timed_goal`` read."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.textfiles import replacing
from netloom.workload.programs.collectives.sent import sizes_in_bytes
from netloom.workload.programs.collectives.waits import waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.workload.programs.collectives.program import CollectiveProgram


def write_goal(program: CollectiveProgram, size_bytes: float, path: str | Path) -> None:
    r"""Write a collective as a schedule in GOAL's text format.

    A send requires the receives that brought what it carries. As a send of GOAL is complete before
    its message has arrived, ranks do not wait for what they sent: ``messages_of`` with
    ``stepwise=False`` is the same program. Message number m is ``sm`` and ``rm``, with tag m.

    Parameters
    ----------
    program
        The collective.
    size_bytes
        Its size. See ``CollectiveProgram``. Messages have whole bytes, rounded up.
    path
        A text file. An existing one is replaced.

    Raises
    ------
    InputError
        If the size is none, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> file = Path(mkdtemp()) / "chain.goal"
    >>> write_goal(collective_program("broadcast", "chain", 3), 64, file)
    >>> print(file.read_text(), end="")
    num_ranks 3
    rank 0 {
    s0: send 64b to 1 tag 0
    }
    rank 1 {
    r0: recv 64b from 0 tag 0
    s1: send 64b to 2 tag 1
    s1 requires r0
    }
    rank 2 {
    r1: recv 64b from 1 tag 1
    }
    """
    sizes = [ceil(size) for size in sizes_in_bytes(program.message_size, size_bytes).tolist()]
    with replacing(Path(path)) as new, new.open("w", encoding="ascii", newline="\n") as stream:
        stream.write(f"num_ranks {program.num_ranks}\n")
        for rank, lines in enumerate(_operations(program, sizes)):
            stream.write(f"rank {rank} {{\n" + "".join(lines) + "}\n")


def _operations(program: CollectiveProgram, sizes: list[int]) -> Iterator[list[str]]:
    """Yield the lines of each rank: receives and sends in order of messages."""
    offsets, waited = (each.tolist() for each in waits(program, stepwise=False))
    source, target = program.source.tolist(), program.target.tolist()
    ends = np.concatenate([program.source, program.target])
    order = np.lexsort((np.tile(np.arange(program.num_messages), 2), ends))
    begin = np.searchsorted(ends[order], np.arange(program.num_ranks + 1))
    for rank in range(program.num_ranks):
        lines = []
        for place in order[begin[rank] : begin[rank + 1]].tolist():
            number = place % program.num_messages
            size = sizes[number]
            if place >= program.num_messages:
                lines.append(f"r{number}: recv {size}b from {source[number]} tag {number}\n")
                continue
            lines.append(f"s{number}: send {size}b to {target[number]} tag {number}\n")
            brought = waited[offsets[number] : offsets[number + 1]]
            lines += [f"s{number} requires r{each}\n" for each in brought]
        yield lines
