"""The files of routing tables: what OpenSM and Slurm take, service levels, and what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.fabrics.changes import write_changes
from netloom.fabrics.level_files import write_levels, write_qos_policy
from netloom.fabrics.slurm_writing import tree_of, write_slurm_topology
from netloom.fabrics.writing import write_lfts
from netloom.questions.outputs import Output, check_in_folder
from netloom.routing.forwarding.addresses import addressed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _refuse_unaddressed(_: Any, ready: Any, __: Mapping[str, str]) -> None:
    """Raise InputError before the search if the fabric has no LIDs to write."""
    addressed(ready.network, "out")


def _write_tables(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_lfts(answer.topology, answer.forwarding, path)
    line = f"Tables: {path}. OpenSM loads them: opensm -R file -U {path}"
    if answer.after.lanes > 1:
        line += f"\n{answer.after.lanes} lanes need a policy of service, too: -Q -Y, --qos-policy"
    return line


def _write_levels(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    return (
        f"Service levels: {path}, {write_levels(answer.topology, answer.forwarding, path):,} lines"
    )


def _write_policy(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_qos_policy(answer.topology, answer.forwarding, path)
    return f"Policy of service: {path}. OpenSM reads it: -Q -Y {path}"


def _write_changes(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_changes(answer.changes, path)
    return f"Changes: {path}"


def _refuse_no_tree(_: Any, ready: Any, __: Mapping[str, str]) -> None:
    tree_of(ready.network)


def _write_slurm(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    return f"Slurm's topology: {path}, {write_slurm_topology(answer.topology, path)} switches"


def _output(name: str, said: str, write: Any, refuse: Any = _refuse_unaddressed) -> Output:
    return Output(name, said, write, check_in_folder, refuse=refuse)


OUT = _output("out", "The tables, as OpenSM dumps and loads them.", _write_tables)
LEVELS = _output("levels", "Service level of each adapter to each LID (ibdmchk --psl).",
                 _write_levels)  # fmt: skip
POLICY = _output("qos_policy", "Service levels as a policy that OpenSM reads (-Q -Y FILE).",
                 _write_policy)  # fmt: skip
CHANGES = _output("changes", "Entries that differ from the installed tables, .csv.", _write_changes)
SLURM = _output("slurm", "The tree as Slurm's topology.conf or .yaml.", _write_slurm,
                _refuse_no_tree)  # fmt: skip
