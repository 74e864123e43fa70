"""Schedules that others have published, looked at by the checker."""

from pathlib import Path

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.msccl import executed, parse_msccl
from netloom.workload.programs.collectives.program import CollectiveProgram, owners, single
from tests.reference.collectives_checked import check

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
