"""The programs that a question names: one, or several at once, each on nodes of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.mapping.allocation import named_hosts
from netloom.questions.named import read_program
from netloom.workload import ProcessGraph
from netloom.workload.programs.shared import SharedProgram, parse_placed, share

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.questions.simulate.fields import Programs
    from netloom.topology import Topology


NAMES = re.compile(r"[A-Za-z(\[]")
"""What tells names of nodes from their numbers."""


def only_program(app: Any, topology: Topology | None = None) -> str | ProcessGraph | None:
    """Return the one program that ``app`` is, or None if there are several, or if it has nodes.

    ``topology``: the network, in which nodes may have names.

    Examples
    --------
    >>> only_program(["ring:4"]), only_program("ring:4@0-3")
    ('ring:4', None)
    """
    ((first, nodes), *others) = _listed(app, topology)
    return None if others or nodes is not None else first


def share_programs(question: Programs, topology: Topology, seed: int) -> SharedProgram:
    """Return the programs of a question, each mapped onto its own nodes.

    Parameters
    ----------
    question
        Its ``app`` is several programs, or one on nodes of its own.

    Raises
    ------
    InputError
        If a program cannot be read or does not fit its nodes. If programs share nodes although
        ``shared`` is not set, or another field does not go with several programs.
    """
    listed = _listed(question.app, topology)
    if question.messages is not None and len(listed) > 1:
        raise InputError("messages", f"one file for {len(listed)} programs", "none, or one program")
    if question.tasks_per_node > 1:
        found = f"{question.tasks_per_node} for programs on nodes of their own"
        raise InputError("tasks_per_node", found, "1: one task of a program a node")
    if question.nodes is not None:
        wanted = "nodes with each program, such as ring:8@0-7"
        raise InputError("nodes", "an allocation for programs on nodes of their own", wanted)
    if not isinstance(question.mapping, str):
        found = "an array for programs on nodes of their own"
        raise InputError("mapping", found, "identity or random, which each program has on its own")
    graphs = [
        read_program(app, messages=question.messages, parts=question.parts) for app, _ in listed
    ]
    return share(
        list(zip(graphs, (nodes for _, nodes in listed), strict=True)),
        topology.num_hosts,
        mapping=question.mapping,  # type: ignore[arg-type]
        seed=seed,
        shared=question.shared,
        failed_nodes=topology.failed_nodes,
    )


def _listed(app: Any, topology: Topology | None) -> list[tuple[str | ProcessGraph, Ints | None]]:
    """Return the programs of ``app``, each with the nodes that it names, if any."""
    given = app if isinstance(app, list | tuple) else [app]
    if not given:
        raise InputError("app", "no program", "at least one")
    return [_placed(item, topology) for item in given]


def _placed(item: Any, topology: Topology | None) -> tuple[str | ProcessGraph, Ints | None]:
    if isinstance(item, str):
        app, _, names = item.rpartition("@")
        if app and topology is not None and NAMES.search(names) and not Path(item).exists():
            return app, named_hosts(names, topology).astype(np.int32)
        return parse_placed(item)
    if isinstance(item, ProcessGraph):
        return item, None
    wanted = "a program such as ring:8 or ring:8@0-7, or a pair: a program and its nodes"
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise InputError("app", repr(item), wanted)
    app, nodes = item
    if not isinstance(app, str | ProcessGraph):
        raise InputError("app", repr(app), wanted)
    listed = np.asarray(nodes)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        raise InputError("app", f"nodes {nodes!r}", "a list of node numbers")
    found, counts = np.unique(listed, return_counts=True)
    if counts.max(initial=1) > 1:
        raise InputError("app", f"host {found[np.argmax(counts)]} twice", "each host once")
    return app, listed
