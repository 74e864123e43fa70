"""What is written as Chakra is read back as the same program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import netloom as nl
from netloom import InputError
from netloom.workload.programs.training import rank_program, rank_trace, write_chakra
from netloom.workload.programs.training.chakra import read_chakra

if TYPE_CHECKING:
    from pathlib import Path

NETWORK = {"engine": "flow", "bandwidth": "50GB/s", "latency": "500ns"}


@pytest.mark.parametrize(
    "name",
    [
        "llm:dp=2,tp=2,pp=2,layers=4,hidden=512,seq=256,micro_batches=3",
        "llm:dp=4,ep=2,cp=2,layers=2,hidden=512,seq=256,experts=4,sp=1",
        "chakra:examples/chakra/all_reduce.%d.et",
        "kineto:examples/kineto/rank%d.json",
    ],
)
def test_there_and_back(tmp_path: Path, name: str) -> None:
    program = rank_program(name)
    write_chakra(program, tmp_path / "x.%d.et")
    again = read_chakra(f"{tmp_path}/x.%d.et")
    assert again.num_ranks == program.num_ranks
    calls, calls_again = (
        sorted((c.collective, c.ranks, c.size_bytes, c.root) for c in each.calls)
        for each in (program, again)
    )
    assert calls == calls_again
    ends, ends_again = (
        sorted(
            zip(
                each.rank[each.kind == 2],
                each.peer[each.kind == 2],
                each.bytes[each.kind == 2],
                strict=True,
            )
        )
        for each in (program, again)
    )
    assert ends == ends_again
    finishes = [
        nl.replay("torus:4x4", trace=each, **NETWORK).finish
        for each in (name, f"chakra:{tmp_path}/x.%d.et")
    ]
    # Times are whole microseconds there.
    slack = 1e-6 * max(np.bincount(program.rank[program.seconds > 0], minlength=1))
    assert finishes[1] == pytest.approx(finishes[0], abs=slack + 1e-12)


def test_times_of_computation_are_kept_to_the_microsecond(tmp_path: Path) -> None:
    name = "llm:tp=2,layers=2,hidden=4096,tflops=100"
    program = rank_program(name)
    write_chakra(program, tmp_path / "x.%d.et")
    again = read_chakra(f"{tmp_path}/x.%d.et")
    computes = [each.seconds[each.kind == 0] for each in (program, again)]
    assert computes[1] == pytest.approx(np.rint(computes[0] * 1e6) * 1e-6)
    assert (computes[1] > 0).all()


def test_groups_that_were_there_before_do_not_stay(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"1": [7, 8]}')
    write_chakra(rank_program("llm:tp=2,layers=2,hidden=64"), tmp_path / "x.%d.et")
    assert rank_trace(f"chakra:{tmp_path}/x.%d.et").num_tasks == 2


def test_unequal_parts_are_refused(tmp_path: Path) -> None:
    program = rank_program("llm:dp=2,ep=2,layers=1,hidden=64,experts=2,skew=1")
    with pytest.raises(InputError, match="all-to-all with unequal parts"):
        write_chakra(program, tmp_path / "x.%d.et")
    with pytest.raises(InputError, match="no %d for the rank"):
        write_chakra(rank_program("llm:tp=2,layers=1,hidden=64"), tmp_path / "x.et")
