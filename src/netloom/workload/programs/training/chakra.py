"""Chakra execution traces, one file per rank, read and written.

The schema is ``et_def.proto`` of MLCommons Chakra: a file is a ``GlobalMetadata``, then one
``Node`` after the other, each with its length before it.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from netloom.base.errors import InputError
from netloom.base.textfiles import parse_json, read_bytes, read_text
from netloom.workload.programs.training.protobuf import (
    Span,
    fields,
    read_varint,
    varints,
)
from netloom.workload.programs.training.rank_files import rank_files
from netloom.workload.programs.training.rank_programs import (
    CALL,
    COMPUTE,
    DELAY,
    RECEIVE,
    SEND,
    Builder,
    Ends,
    Pending,
    RankProgram,
    check_group,
    match_calls,
    match_sends,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Value: TypeAlias = int | float | str | list[int]

METADATA, LOAD, STORE, COMP, SENDING, RECEIVING, COLL = range(1, 8)
"""Types of nodes."""

COLLECTIVE = (
    "all-reduce", "reduce", "all-gather", "gather", "scatter", "broadcast", "all-to-all",
    "reduce-scatter", "reduce-scatter", "barrier",
)  # fmt: skip
"""What each ``comm_type`` is; 8 is MPI's reduce-scatter of equal blocks."""

OF_INPUT = ("all-gather", "gather")
"""Collectives whose ``comm_size`` is what each rank gives, not the whole result."""

MOST_NODES, MOST_DEPENDENCIES = 2**22, 2**24
"""Most of all files together."""

MICRO = 1e-6

WANTED = "a Chakra execution trace (.et): lengths, a GlobalMetadata, and nodes"


@dataclass
class Node:
    """What a node says that is of use here."""

    id: int = 0
    type: int = 0
    after: list[int] = field(default_factory=list)
    micros: int = 0
    attributes: dict[str, Value] = field(default_factory=dict)


def read_chakra(pattern: str | Path) -> RankProgram:
    r"""Read Chakra execution traces, ``name.%d.et``, one per rank from 0 on.

    Nodes of computation take their rank's processor for ``duration_micros``. Those of the CPU
    (``is_cpu_op``) and of memory pass the time without it. What communication took when it was
    recorded says nothing. A node awaits its ``ctrl_deps`` and ``data_deps``. Sends and receives
    belong together by source, target and ``comm_tag``, in the order of the files, so do the
    collectives of each group. ``comm_size`` counts what each rank gives, in bytes.

    Groups (``pg_name``) are in a JSON file such as ``{"1": [0, 1]}``: ``name.json``,
    ``comm_groups.json`` or ``comm_group.json`` beside the traces. A collective without a group is
    of all ranks. Its root is the rank ``root_rank``, or the first of the group.

    Parameters
    ----------
    pattern
        A path in which ``%d`` stands for the rank. Files may be compressed by gzip.

    Raises
    ------
    InputError
        If a file is missing or is no Chakra trace, a node is of a kind that is not modeled, or
        computation has no duration. If a node depends on an unknown node, or a send has no receive.
        If the ranks of a group do not call the same collectives. The error names the file, and the
        byte or the node.

    Examples
    --------
    >>> read_chakra("examples/chakra/%d.et")
    <examples/chakra/%d.et: 4 ranks, 4 operations, 1 collectives>
    """
    paths = rank_files(pattern, WANTED)
    groups = _groups(pattern, len(paths))
    reader = _Reader(Builder(len(paths)), groups)
    for rank, path in enumerate(paths):
        reader.read(rank, path)
    match_sends(reader.builder, reader.sends, reader.receives)
    match_calls(reader.builder, reader.calls)
    return reader.builder.program(str(pattern))


def groups_file(pattern: str | Path) -> tuple[Path, ...]:
    """Return where the groups of traces may be said, the likeliest first.

    Examples
    --------
    >>> [path.name for path in groups_file("runs/llama.%d.et")]
    ['llama.json', 'comm_groups.json', 'comm_group.json']
    """
    path = Path(pattern)
    own = path.name.split("%d")[0].rstrip("._-")
    names = [f"{own}.json"] if own else []
    return tuple(path.with_name(name) for name in (*names, "comm_groups.json", "comm_group.json"))


def _groups(pattern: str | Path, num_ranks: int) -> dict[str, tuple[int, ...]]:
    path = next((path for path in groups_file(pattern) if path.is_file()), None)
    if path is None:
        return {}
    wanted = 'groups of ranks, such as {"1": [0, 1]}'
    found = parse_json(read_text(path, wanted=wanted), path, wanted=wanted)
    if not isinstance(found, dict):
        raise InputError(str(path), "something else", wanted)
    groups = {}
    for name, ranks in found.items():
        whole = isinstance(ranks, list) and all(type(rank) is int for rank in ranks)
        if not whole:
            raise InputError(f"{path}, group {name!r:.60}", "no list of ranks", wanted)
        groups[name] = check_group(ranks, num_ranks, f"{path}, group {name!r:.60}")
    return groups


class _Reader:
    """What was read so far, of all ranks."""

    def __init__(self, builder: Builder, groups: Mapping[str, tuple[int, ...]]) -> None:
        self.builder, self.groups = builder, groups
        self.sends: defaultdict[tuple[int, int, int], list[Ends]] = defaultdict(list)
        self.receives: defaultdict[tuple[int, int, int], list[Ends]] = defaultdict(list)
        self.calls: defaultdict[Any, defaultdict[int, list[Pending]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self.dependencies = 0

    def read(self, rank: int, path: Path) -> None:
        """Read the nodes of a rank."""
        first = len(self.builder.ids)
        place: dict[int, int] = {}
        for node in _nodes(path):
            where = f"{path}, node {node.id}"
            if node.id in place:
                raise InputError(where, "a second node of this id", "an id of its own")
            place[node.id] = self._add(rank, node, where)
            self.dependencies += len(node.after)
            if len(self.builder.ids) > MOST_NODES or self.dependencies > MOST_DEPENDENCIES:
                most = f"at most {MOST_NODES} nodes, {MOST_DEPENDENCIES} dependencies"
                raise InputError(where, "too many nodes or dependencies", most)
        after = self.builder.after
        for operation in range(first, len(self.builder.ids)):
            try:
                after[operation] = [place[each] for each in after[operation]]
            except KeyError as error:
                where = f"{path}, node {self.builder.ids[operation].partition('.')[2]}"
                found = f"a dependency on node {error}, which is not there"
                raise InputError(where, found, "the id of a node of this file") from None

    def _add(self, rank: int, node: Node, where: str) -> int:
        """Add a node, whose dependencies are ids still."""
        add, name, said = self.builder.add, f"{rank}.{node.id}", node.attributes
        if node.type in (METADATA, LOAD, STORE, COMP):
            work = next((each for each in ("num_ops", "tensor_size") if said.get(each)), "")
            if node.type != METADATA and not node.micros and work:
                wanted = "duration_micros: netloom has no model of processors and memory"
                raise InputError(where, f"{work} without a duration", wanted)
            kind = COMPUTE if node.type == COMP and not said.get("is_cpu_op") else DELAY
            return add(name, kind, rank, node.after, seconds=node.micros * MICRO)
        size = float(_whole(said, "comm_size", where, 0))
        if node.type in (SENDING, RECEIVING):
            return self._one_end(rank, node, size, where)
        if node.type != COLL:
            wanted = "1 to 7: metadata, memory, computation, communication"
            raise InputError(where, f"type {node.type}", wanted)
        number = _whole(said, "comm_type", where)
        if number >= len(COLLECTIVE):
            raise InputError(where, f"comm_type {number}", f"0 to {len(COLLECTIVE) - 1}")
        collective = COLLECTIVE[number]
        key, ranks = self._group(rank, said, where)
        root = _whole(said, "root_rank", where, ranks[0])
        if root not in ranks:
            raise InputError(where, f"root_rank {root}", "a rank of its group")
        whole = size * len(ranks) if collective in OF_INPUT else size
        operation = add(name, CALL, rank, node.after)
        call = Pending(operation, collective, ranks, whole, ranks.index(root), where)
        self.calls[key][rank].append(call)
        return operation

    def _one_end(self, rank: int, node: Node, size: float, where: str) -> int:
        sends, said = node.type == SENDING, node.attributes
        own, other = ("comm_src", "comm_dst") if sends else ("comm_dst", "comm_src")
        peer, tag = _whole(said, other, where), _whole(said, "comm_tag", where, 0)
        if peer >= self.builder.num_ranks:
            wanted = f"0 to {self.builder.num_ranks - 1}, each of which has a file"
            raise InputError(where, f"{other} {peer}", wanted)
        if _whole(said, own, where, rank) != rank:
            raise InputError(where, f"{own} {said[own]}", f"{rank}, the rank of the file")
        key = (rank, peer, tag) if sends else (peer, rank, tag)
        kind = SEND if sends else RECEIVE
        name = f"{rank}.{node.id}"
        operation = self.builder.add(name, kind, rank, node.after, peer=peer, size=size)
        (self.sends if sends else self.receives)[key].append(Ends(operation, size, where))
        return operation

    def _group(
        self, rank: int, said: Mapping[str, Value], where: str
    ) -> tuple[str, tuple[int, ...]]:
        involved = said.get("involved_dim", [])
        if isinstance(involved, list) and not all(involved):
            raise InputError(where, "a collective along some dimensions", "a group: pg_name")
        name = str(said.get("pg_name", ""))
        if not name:
            return "", tuple(range(self.builder.num_ranks))
        if name not in self.groups:
            wanted = "groups.json beside the traces, with this group"
            raise InputError(
                where, f"pg_name {name!r:.60}", wanted.replace("groups", "comm_groups")
            )
        if rank not in self.groups[name]:
            raise InputError(where, f"pg_name {name!r:.60}", f"a group of which rank {rank} is one")
        return name, self.groups[name]


def _whole(said: Mapping[str, Value], name: str, where: str, default: int | None = None) -> int:
    """Return an attribute that is a whole number of at least 0."""
    value = said.get(name, default)
    if not isinstance(value, int) or not 0 <= value <= 2**53:
        found = f"no {name}" if value is None else f"{name} {value!r:.40}"
        raise InputError(where, found, "a whole number of at least 0")
    return value


def _nodes(path: Path) -> Iterator[Node]:
    """Yield the nodes of a file."""
    data = read_bytes(path, wanted=WANTED)
    at, first = 0, True
    whole = Span(data, 0, len(data), str(path))
    if not data:
        raise InputError(str(path), "an empty file", WANTED)
    while at < len(data):
        begin = at
        length, at = read_varint(whole, at)
        if length > len(data) - at:
            found = f"a message of {length} bytes, of which {len(data) - at} are left"
            raise whole.error(begin, found, WANTED)
        message = Span(data, at, at + length, str(path))
        at += length
        if first:
            _check_metadata(message)
            first = False
            continue
        yield _node(message)


def _check_metadata(message: Span) -> None:
    for number, _, value in fields(message):
        if number not in (1, 2) or isinstance(value, int):
            raise message.error(message.begin, "no GlobalMetadata", WANTED)


def _node(message: Span) -> Node:
    node = Node()
    for number, _, value in fields(message):
        if number in (1, 3, 7) and isinstance(value, int):
            name = {1: "id", 3: "type", 7: "micros"}[number]
            setattr(node, name, value)
        elif number in (4, 5):
            node.after += varints(value)
        elif number == 10 and isinstance(value, Span):
            name, said = _attribute(value)
            node.attributes[name] = said
        elif number in (1, 3, 7, 10):
            raise message.error(message.begin, f"a node whose field {number} is none", WANTED)
    node.after = list(dict.fromkeys(node.after))
    return node


SIGNED, ZIGZAG, UNSIGNED = (7, 9), (15, 17), (11, 13, 27)
"""Fields of an attribute that hold a varint."""

FIXED = {3: "<d", 5: "<f", 19: "<I", 21: "<Q", 23: "<i", 25: "<q"}
"""Fields of an attribute that hold a fixed number of bytes."""

BOOLS, STRING = 28, 29


def _attribute(message: Span) -> tuple[str, Value]:
    """Return the name and value of an attribute. An empty text for what is of no use here."""
    name = ""
    said: Value = ""
    for number, _, value in fields(message):
        if isinstance(value, int):
            if number in SIGNED:
                said = value - 2**64 if value >= 2**63 else value
            elif number in ZIGZAG:
                said = value >> 1 ^ -(value & 1)
            elif number in UNSIGNED:
                said = value
        elif number == 1:
            name = value.text()
        elif number in FIXED and value.end - value.begin == struct.calcsize(FIXED[number]):
            said = struct.unpack_from(FIXED[number], value.data, value.begin)[0]
        elif number == BOOLS:
            said = [each for tag, _, some in fields(value) if tag == 1 for each in varints(some)]
        elif number == STRING:
            said = value.text()
    return name, said
