"""MSCCL XML as a trace: one rank for each GPU, and a size that the question says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.units import parse_bytes
from netloom.base.words import counted
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.questions.named import computing
from netloom.questions.simulate.engines import PreparedFlows
from netloom.workload.programs.collectives.msccl_parsing import parse_msccl
from netloom.workload.programs.collectives.msccl_traces import Execution, executed

if TYPE_CHECKING:
    from netloom.questions.simulate.trace.question import ReplayQuestion
    from netloom.topology import Topology


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramFlows(PreparedFlows):
    """A network for an MSCCL program of a size."""

    execution: Execution
    size_bytes: float

    def remark(self, finish: float) -> str:
        """Return the algorithm bandwidth, and whether the size was padded."""
        collective = self.execution.found.collective
        rate = units.rate(self.size_bytes / finish)
        said = f"{collective} of {units.size(self.size_bytes)}: {rate} of algorithm bandwidth."
        return f"{said} {padding(self.execution, self.size_bytes)}".strip()


def padding(execution: Execution, size_bytes: float) -> str:
    """Return that a size was padded, in a sentence. Nothing if it was not."""
    padded, chunks = execution.padded_bytes(size_bytes), execution.found.per_loop
    if padded == size_bytes:
        return ""
    return f"Padded to {padded:,} B: {counted(chunks, 'chunk', ',')} of {padded // chunks:,} B."


def is_msccl(trace: Any) -> bool:
    """Whether a trace is MSCCL XML: a file, or one that has been executed."""
    named = isinstance(trace, str | Path) and str(trace).lower().endswith(".xml")
    return named or isinstance(trace, Execution)


@dataclass(frozen=True, eq=False)
class Sized:
    """An MSCCL program, and its size."""

    execution: Execution
    size_bytes: float

    def on(self, flows: PreparedFlows) -> ProgramFlows:
        """Return a network for this program."""
        return ProgramFlows(**vars(flows), execution=self.execution, size_bytes=self.size_bytes)


def as_program(question: ReplayQuestion, topology: Topology) -> tuple[ReplayQuestion, Sized]:
    """Return the question with the file as its trace, and the file with its size.

    Unless the question says otherwise, as flows all thread blocks of a GPU send at the same time.

    Raises
    ------
    InputError
        If the file cannot be read, or does not compute its collective. If its number of GPUs does
        not fit the network or its nodes, or there is no size.
    """
    if question.size is None:
        raise InputError("size", "none", "the size of the collective, such as 64MB")
    size = parse_bytes(question.size, where="size")
    given = question.trace
    found = given.found if isinstance(given, Execution) else parse_msccl(str(given))
    if isinstance(question.mapping, str):
        where = computing(question, topology)
        hosts = allocated_hosts(where["nodes"], topology, where["hosts"])
        ranks = places_of(hosts, topology, question.tasks_per_node).count
        if found.num_gpus != ranks:
            said = f"{found.num_gpus} GPUs"
            wanted = f"{ranks}, the ranks of {topology.name}; choose some by nodes"
            raise InputError(found.path, said, wanted)
    execution = given if isinstance(given, Execution) else executed(found)
    changed: dict[str, Any] = {"trace": execution.trace(size), "size": None}
    said_fields = question.model_fields_set
    if question.engine == "flow" and "injection" not in said_fields:
        changed["injection"] = "shared"
    if question.engine == "flow" and topology.direct and "end_channels" not in said_fields:
        changed["end_channels"] = 0
    return question.model_copy(update=changed), Sized(execution, size)
