"""Mapping files: the node of each task as text, one line per task, or as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom._version import __version__
from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS, whole_number
from netloom.base.textfiles import parse_json, read_lines, read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints


RANK = re.compile(r"rank\s+(?P<rank>\d+)\s*=\s*(?P<host>\S+)(\s+slots?\s*=\s*(?P<slot>\S+))?")
"""A line of a rank file of Open MPI."""


def read_mapping(path: str | Path, names: Mapping[str, int | Sequence[int]] | None = None) -> Ints:
    """Read the node of each task, int64[num_tasks], from a mapping file.

    A ``.json`` file is an object whose ``node_of`` lists the nodes. Any other has one node a
    line, that of task 0 first, where ``#`` starts a comment and blank lines do not count. Lines of
    rank files are read too: ``rank 0=n12 slot=0`` (Open MPI) and ``n12:1`` (MPICH). Whether the
    nodes exist and how often each may occur is for ``check_mapping`` to say.

    Parameters
    ----------
    path
        The file.
    names
        The number of each node that has a name, or several, which the lines that name it take in
        turn: a computer's hosts. A whole number in the file is a node's number, though it were a
        name too.

    Raises
    ------
    InputError
        Naming the file, and the line of a text file, where it cannot be read.
    """
    path = Path(path)
    wanted = "one node number a line, or netloom's JSON"
    if path.suffix == ".json":
        return _read_json(path, read_text(path, wanted=wanted), names)
    named = _Names(names)
    lines = list(read_lines(path, wanted=wanted))
    if lines and RANK.match(lines[0][1]):
        return _of_ranks(path, lines, named)
    nodes = [node for where, word in lines for node in named.nodes(word, where)]
    if not nodes:
        raise InputError(str(path), "no tasks", "one node number a line, that of task 0 first")
    return np.array(nodes, dtype=np.int64)


def _of_ranks(path: Path, lines: list[tuple[str, str]], named: _Names) -> Ints:
    """Return the nodes in a rank file of Open MPI, whose lines may have any order."""
    node_of: dict[int, int] = {}
    for where, line in lines:
        found = RANK.fullmatch(line)
        if found is None:
            raise InputError(where, f"'{line:.60}'", "a line such as 'rank 0=n12 slot=0'")
        rank = whole_number(found["rank"], where=where)
        if rank in node_of:
            raise InputError(where, f"rank {rank} again", "each rank once")
        node_of[rank] = named.node(found["host"], where, slot=found["slot"])
    missing = next((rank for rank in range(len(node_of)) if rank not in node_of), None)
    if missing is not None:
        found_ranks = f"{len(node_of)} ranks without rank {missing}"
        raise InputError(str(path), found_ranks, "each rank from 0 on")
    return np.array([node_of[rank] for rank in range(len(node_of))], dtype=np.int64)


def write_mapping(path: str | Path, node_of: ArrayLike, topology_name: str) -> None:
    """Write a mapping, as JSON where the name ends in ``.json`` and as text elsewhere.

    Parameters
    ----------
    path
        The file. It is replaced where it exists.
    node_of
        int[num_tasks], the node of each task.
    topology_name
        The spec of the network that the nodes are of, kept in the file for whoever reads it.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    path = Path(path)
    nodes = np.asarray(node_of, dtype=np.int64).tolist()
    if path.suffix == ".json":
        content = {"netloom": __version__, "topology": topology_name, "node_of": nodes}
        write_text(path, json.dumps(content) + "\n")
        return
    head = f"# netloom {__version__}: the node on {topology_name} of each task, task 0 first\n"
    write_text(path, head + "".join(f"{node}\n" for node in nodes))


class _Names:
    """Nodes by their names. Of several of one name the next."""

    def __init__(self, names: Mapping[str, int | Sequence[int]] | None) -> None:
        self.names = names or {}
        self.turns: Counter[str] = Counter()

    def nodes(self, word: str, where: str) -> list[int]:
        """Return the nodes that a line means: one, or with MPICH's ``host:n`` n times a host."""
        host, _, many = word.rpartition(":")
        if word in self.names or host not in self.names or not many.isdecimal():
            return [self.node(word, where)]
        ranks = whole_number(many, where=where)
        if not 0 < ranks <= MAX_ELEMENTS:
            raise InputError(where, f"{ranks} ranks", f"1 to {MAX_ELEMENTS:,}")
        return [self.node(host, where) for _ in range(ranks)]

    def node(self, word: str, where: str, slot: str | None = None) -> int:
        """Return the node that a word of a mapping file means, perhaps by the slot of a rank."""
        if not self.names or not re.search(r"[^\s\d+-]", word):
            return whole_number(word, where=where)
        hosts = self.names.get(word)
        if slot is not None and not (hosts is None or isinstance(hosts, int)):
            return hosts[whole_number(slot, where=where) % len(hosts)]
        node = self.named(word)
        if node is None:
            known = ", ".join(list(self.names)[:3])
            raise InputError(where, f"'{word:.60}'", f"a node's number or name, such as {known}")
        return node

    def named(self, word: str) -> int | None:
        """Return the node of a name, None if there is none."""
        node = self.names.get(word)
        if node is None or isinstance(node, int):
            return node
        self.turns[word] += 1
        return node[(self.turns[word] - 1) % len(node)]


def _read_json(path: Path, text: str, names: Mapping[str, int | Sequence[int]] | None) -> Ints:
    content = parse_json(text, path, wanted=_JSON)
    nodes = content.get("node_of") if isinstance(content, dict) else None
    if not isinstance(nodes, list) or not nodes:
        raise InputError(str(path), "no list of nodes", _JSON)
    named = _Names(names)
    for task, given in enumerate(nodes):
        node = named.named(given) if isinstance(given, str) and names else None
        nodes[task] = node = given if node is None else node
        if type(node) is not int or not 0 <= node < 2**63:
            raise InputError(f"{path}, task {task}", f"{node!r:.40}", "a node number")
    return np.array(nodes, dtype=np.int64)


_JSON = '{"node_of": [0, 1, ...]} with the node of each task'
