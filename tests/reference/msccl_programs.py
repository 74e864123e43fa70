"""Others' MSCCL XML as programs: what it sends, in the least steps that keep its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.msccl import Algorithm, Sent, executed, parse_msccl
from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram, owners
from netloom.workload.programs.messages import lists
from tests.reference.collectives_checked import check

if TYPE_CHECKING:
    from pathlib import Path


def read_msccl(path: str | Path, ranks: int | None = None) -> CollectiveProgram:
    """Read MSCCL XML, execute it, and return it as a program that is checked.

    Parameters
    ----------
    path
        The file.
    ranks
        How many GPUs it must be for, if that is known.

    Raises
    ------
    InputError
        Naming file and line: if it is no such XML, for another number of GPUs or a collective that
        is not handled. If it deadlocks or its thread blocks race. If it sends what is not there or
        adds a contribution twice. If a GPU ends without what the collective means, or if it keeps
        two versions of a chunk in one GPU in a way that no program can say.
    """
    found = parse_msccl(str(path), ranks)
    program = _program(found, executed(found).sent)
    try:
        check(program, found.path)
    except InputError as error:
        two = f"two versions of a chunk in one GPU ({error.found})"
        raise InputError(found.path, two, "one version, where it is to be simulated") from None
    return program


def _program(found: Algorithm, sent: list[Sent]) -> CollectiveProgram:
    """Return messages in steps: each after all that had come to its chunks when it was sent."""
    rows: list[tuple[Sent, bool, list[int]]] = []
    for message in sent:
        for adds in sorted(set(message.sums)):
            both = zip(message.what, message.sums, strict=True)
            rows.append((message, adds, [what.chunk for what, summed in both if summed == adds]))
    step = _steps(found, rows)
    order = sorted(range(len(rows)), key=lambda row: (step[row], rows[row][0].received))
    if found.collective == "all-reduce":
        whole = found.per_loop
        everybody = np.full(whole, EVERYBODY, np.int32)
        size, first, final = np.full(whole, 1 / whole), everybody, everybody.copy()
    else:
        each = found.per_loop // found.num_gpus
        size, first, final = owners(found.collective, found.num_gpus, each)
    columns = [rows[row] for row in order]
    return CollectiveProgram(
        found.collective, found.name, found.num_gpus, size, 0,
        np.array([message.source for message, _, _ in columns], np.int32),
        np.array([message.target for message, _, _ in columns], np.int32),
        np.array([step[row] for row in order], np.int32),
        lists([chunks for _, _, chunks in columns], np.int32),
        np.array([adds for _, adds, _ in columns], np.bool_), first, final,
    )  # fmt: skip


def _steps(found: Algorithm, rows: list[tuple[Sent, bool, list[int]]]) -> list[int]:
    """Return the least steps that keep the order of what happened to each chunk at each GPU."""
    events: dict[tuple[int, int], list[tuple[int, bool, int]]] = {}
    for row, (message, _, chunks) in enumerate(rows):
        for chunk in chunks:
            events.setdefault((message.source, chunk), []).append((message.sent, False, row))
            events.setdefault((message.target, chunk), []).append((message.received, True, row))
    later: list[tuple[int, int, int]] = []
    for happened in events.values():
        came = -1
        gone: list[int] = []
        for _, arrives, row in sorted(happened):
            if came >= 0:
                later.append((came, row, 0 if arrives else 1))
            if arrives:
                later += [(before, row, 0) for before in gone]
                came, gone = row, []
            else:
                gone.append(row)
    step = np.zeros(len(rows), np.int64)
    if later:
        before, after, gap = np.array(sorted(set(later)), np.int64).T
        for _ in range(len(rows) + 1):
            old = step.copy()
            np.maximum.at(step, after, step[before] + gap)
            if (old == step).all():
                break
        else:
            said = "messages that overtake each other"
            raise InputError(found.path, said, "an order in steps, where it is to be simulated")
    return [int(each) for each in step]
