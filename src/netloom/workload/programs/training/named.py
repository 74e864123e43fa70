"""Programs of ranks by name: ``chakra:DIR/%d.et``, ``kineto:DIR/%d.json``, ``llm:dp=8,…``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from netloom.base.spec import split_spec
from netloom.workload.programs.traces import Trace
from netloom.workload.programs.training.chakra import read_chakra
from netloom.workload.programs.training.kineto import read_kineto
from netloom.workload.programs.training.llm import llm_program, parse_llm
from netloom.workload.programs.training.rank_programs import RankProgram, as_trace, parse_algorithms

_READERS: dict[str, Callable[[str], RankProgram]] = {"chakra": read_chakra, "kineto": read_kineto}


def is_rank_program(name: Any) -> bool:
    """Return whether this names a program of ranks.

    Examples
    --------
    >>> is_rank_program("chakra:runs/%d.et"), is_rank_program("halo.csv")
    (True, False)
    """
    return isinstance(name, str) and ":" in name and split_spec(name)[0] in (*_READERS, "llm")


def rank_program(spec: str) -> RankProgram:
    """Return the program of ranks of this name.

    Raises
    ------
    InputError
        If it cannot be read. One line says what would do.

    Examples
    --------
    >>> rank_program("chakra:examples/chakra/%d.et")
    <examples/chakra/%d.et: 4 ranks, 4 operations, 1 collectives>
    """
    name, argument = split_spec(spec)
    return llm_program(f"{name}:{argument}") if name == "llm" else _READERS[name](argument)


def rank_trace(spec: str, algorithms: str = "") -> Trace:
    """Return the program of ranks of this name as a trace in seconds and bytes.

    Parameters
    ----------
    spec
        Such as ``chakra:DIR/%d.et``. An ``llm:`` program's own algorithms come first.
    algorithms
        Those of collectives: see ``parse_algorithms``.

    Raises
    ------
    InputError
        If it cannot be read, or an algorithm does not fit.

    Examples
    --------
    >>> rank_trace("chakra:examples/chakra/%d.et", "recursive-doubling")
    <examples/chakra/%d.et: 4 tasks, 8 messages, 16 entries>
    """
    chosen = parse_algorithms(algorithms)
    if split_spec(spec)[0] == "llm":
        chosen |= parse_llm(spec).algorithms
    program = rank_program(spec)
    return as_trace(program, chosen, lambda row: f"{program.name}, operation {program.ids[row]}")
