"""Execute a collective on data: every rank ends with what it means, and nothing counts twice.

Shares no code with what makes programs. Of each chunk a rank has a set: whose contributions are in
it. A sum of two sets that share a contribution would count it twice, which only a barrier may do.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from netloom.workload.programs.collectives.program import CollectiveProgram


def check(program: CollectiveProgram, where: str = "program") -> None:
    """Refuse a program that does not do what its collective means.

    Raises
    ------
    InputError
        If a message carries data that its source lacks, adds a contribution twice or stays at its
        rank. If a rank ends without a chunk or with only some contributions. The error names
        ``where`` and the first such message or rank.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.workload.programs.collectives.program import CollectiveProgram, owners
    >>> from netloom.workload.programs.messages import lists
    >>> to_right = CollectiveProgram(
    ...     "all-gather", "by hand", 2, *owners("all-gather", 2, 1)[:1], 0,
    ...     np.int32([0]), np.int32([1]), np.int32([0]), lists([[0]], np.int32), np.array([False]),
    ...     *owners("all-gather", 2, 1)[1:],
    ... )
    >>> check(to_right)
    Traceback (most recent call last):
        ...
    netloom.InputError: program: found rank 0 without chunk 1 in the end; expected all of it
    """
    ranks = range(program.num_ranks)
    have: list[dict[int, frozenset[int]]] = [{} for _ in ranks]
    for chunk, owner in enumerate(program.first_owner.tolist()):
        for rank in ranks if owner < 0 else (owner,):
            have[rank][chunk] = frozenset((rank,))
    columns = (program.step, program.source, program.target, program.sums)
    messages = zip(*(each.tolist() for each in columns), strict=True)
    for step, rows in groupby(enumerate(messages), key=lambda row: row[1][0]):
        arrived = []
        for number, (_, source, target, sums) in rows:
            said = f"{where}, message {number} (step {step}, {source} to {target})"
            if source == target or not (source in ranks and target in ranks):
                raise InputError(said, "no two ranks", f"two of {program.num_ranks} ranks")
            for chunk in program.chunks.of(number).tolist():
                if chunk not in have[source]:
                    raise InputError(said, f"chunk {chunk}, which {source} has not", "what it has")
                arrived.append((said, target, chunk, have[source][chunk], sums))
        for said, target, chunk, new, sums in arrived:
            old = have[target].get(chunk, frozenset()) if sums else frozenset()
            if old & new and program.collective != "barrier":
                twice = f"the contribution of rank {min(old & new)} to chunk {chunk} twice"
                raise InputError(said, twice, "sums of what has nothing in common")
            have[target][chunk] = old | new
    _check_end(program, have, where)


def _check_end(
    program: CollectiveProgram, have: list[dict[int, frozenset[int]]], where: str
) -> None:
    """Refuse a program after which a rank lacks a chunk, or contributions to it."""
    everybody = frozenset(range(program.num_ranks))
    first, final = program.first_owner.tolist(), program.final_owner.tolist()
    for chunk, owner in enumerate(final):
        goal = everybody if first[chunk] < 0 else frozenset((first[chunk],))
        for rank in everybody if owner < 0 else (owner,):
            got = have[rank].get(chunk, frozenset())
            if got != goal:
                part = "without" if not got else f"with {len(got)} of {len(goal)} contributions to"
                raise InputError(where, f"rank {rank} {part} chunk {chunk} in the end", "all of it")
