"""The checker: what a collective means, told apart from what almost does it, also by others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.msccl import executed, parse_msccl
from netloom.workload.programs.collectives.program import CollectiveProgram, owners, single
from netloom.workload.programs.messages import lists
from tests.reference.collectives_checked import check


def program(collective, rows, ranks, root=0, chunks=1):
    """Return a program of rows (step, source, target, chunks, whether it sums)."""
    size, first, final = owners(collective, ranks, chunks, root)
    columns = [np.array([row[place] for row in rows], np.int32) for place in (1, 2, 0)]
    sums = np.array([row[4] for row in rows], bool)
    carried = lists([row[3] for row in rows])
    return CollectiveProgram(
        collective, "by hand", ranks, size, root, *columns, carried, sums, first, final
    )


def ring(ranks, sums=False):
    """Return a ring: reduce-scatter if it sums, else all-gather."""
    rows = [
        (step, rank, (rank + 1) % ranks, [(rank - step - sums) % ranks], sums)
        for step in range(ranks - 1)
        for rank in range(ranks)
    ]
    return program("reduce-scatter" if sums else "all-gather", rows, ranks)


def without(given, message):
    """Return a program that lacks a message."""
    kept = np.delete(np.arange(given.num_messages), message)
    columns = {name: getattr(given, name)[kept] for name in ("source", "target", "step", "sums")}
    return replace(given, chunks=given.chunks.taken(kept), **columns)


@pytest.mark.parametrize("sums", [False, True])
def test_every_message_of_a_ring_is_needed(sums):
    given = ring(4, sums)
    for message in range(given.num_messages):
        with pytest.raises(InputError):
            check(without(given, message))


@pytest.mark.parametrize(
    ("collective", "sums_to"),
    [("all-gather", 1), ("scatter", 1), ("all-reduce", 1), ("all-to-all", 4), ("barrier", 0)],
)
def test_chunks_of_a_size_are_1_together(collective, sums_to):
    size, first, final = owners(collective, 4, 3, 1)
    assert size.sum() == pytest.approx(sums_to)
    assert len(size) == len(first) == len(final)


# -- published schedules ---------------------------------------------------------------------------


DATA = Path(__file__).parent / "data"


def _teccl(num_ranks, first):
    """Return the flows of TE-CCL's all-gather on two NDv2 chassis as a program of these ranks."""
    lines = (DATA / "teccl-ndv2-2-all-gather.txt").read_text().splitlines()
    flows = [
        (epoch, *(int(part) - first for part in flow.replace(">", ":").split(":")))
        for epoch, line in enumerate(lines)
        for flow in line.split()
    ]
    step, chunk, source, target = np.array(flows, np.int32).T
    size, start, end = owners("all-gather", num_ranks, 1)
    return CollectiveProgram(
        "all-gather", "TE-CCL", num_ranks, size, 0, source, target, step, single(chunk),
        np.zeros(len(step), np.bool_), start, end,
    )  # fmt: skip


def test_a_published_schedule_leaves_a_rank_unserved():
    with pytest.raises(InputError, match="rank 1 without chunk 0 in the end"):
        check(_teccl(16, 0))
    served = _teccl(16, 0)
    assert 0 not in served.source
    assert 0 not in served.target
    assert 0 not in served.chunks.values


def test_it_serves_the_other_fifteen():
    check(_teccl(15, 1))


def test_the_ring_of_astra_sim_is_an_all_reduce():
    run = executed(parse_msccl(str(DATA / "astra-sim-ring.xml")))
    assert (run.found.collective, run.found.num_gpus, run.found.per_loop) == ("all-reduce", 8, 8)
    assert (len(run.sent), run.depth) == (112, 14)
