"""Records of training: Chakra's execution traces, and the PyTorch profiler's.

Chakra's schema is ``et_def.proto`` of MLCommons Chakra: a file, one per rank, is a
``GlobalMetadata``, then one ``Node`` after the other, each with its length before it. Messages of
protocol buffers are read without a schema. Each is a run of fields. A field begins with a varint,
8 · number + wire type: 0 a varint, 1 eight bytes, 2 a length and so many bytes, 5 four bytes.

Records of the PyTorch profiler (Kineto) are one JSON file per rank, read for their communication.
Kineto notes with each NCCL kernel what it is for: ``Collective name``, ``In msg nelems``,
``dtype``, ``Process Group Ranks`` and others. What else a rank does is the time between these.
"""

from __future__ import annotations

import json
import re
import struct
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from netloom.base.errors import InputError
from netloom.base.spec import check_size, split_spec
from netloom.base.textfiles import parse_json, read_bytes, read_text
from netloom.workload.graphs.files import rank_files
from netloom.workload.programs.collectives.program import COLLECTIVES
from netloom.workload.programs.traces import Trace
from netloom.workload.programs.training.llm import llm_program, parse_llm
from netloom.workload.programs.training.rank_programs import (
    CALL,
    COMPUTE,
    DELAY,
    RECEIVE,
    SEND,
    Builder,
    Pending,
    RankProgram,
    as_trace,
    check_group,
    parse_algorithms,
)

Value: TypeAlias = int | float | str | list[int]


# -- fields of Chakra ------------------------------------------------------------------------------


VARINT, BYTES = 0, 2
_FIXED = {1: 8, 5: 4}

MOST_FIELD = 2**29 - 1
"""Highest number of a field."""


class Span(NamedTuple):
    """A part of a file, and the name of the file."""

    data: bytes
    begin: int
    end: int
    where: str

    def error(self, at: int, found: str, wanted: str = "protocol buffers") -> InputError:
        """Return the error that names the file and the byte."""
        return InputError(f"{self.where}, byte {at}", found, wanted)

    def text(self) -> str:
        """Return the bytes as text."""
        return self.data[self.begin : self.end].decode("utf-8", errors="replace")


def read_varint(span: Span, at: int) -> tuple[int, int]:
    """Return a varint and the place behind it: 7 bits a byte, the lowest first, 64 in all.

    Raises
    ------
    InputError
        Naming the byte, if it does not end in the span or has more than 10 bytes.

    Examples
    --------
    >>> read_varint(Span(bytes([0x80, 0x80, 0x40]), 0, 3, "a.et"), 0)
    (1048576, 3)
    """
    value = 0
    for shift in range(0, 70, 7):
        if at + shift // 7 >= span.end:
            raise span.error(at, "a number that is cut off")
        byte = span.data[at + shift // 7]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), at + shift // 7 + 1
    raise span.error(at, "a number of more than 10 bytes")


def fields(span: Span) -> Iterator[tuple[int, int | Span]]:
    """Yield number and value of each field: a number for varints, else its bytes.

    Raises
    ------
    InputError
        Naming the byte, if a field is cut off or of another kind.

    Examples
    --------
    >>> field = bytes([0x08, 0x96, 0x01])
    >>> list(fields(Span(field, 0, 3, "a.et")))
    [(1, 150)]
    """
    at = span.begin
    while at < span.end:
        begin = at
        key, at = read_varint(span, at)
        number, wire = key >> 3, key & 7
        if not 1 <= number <= MOST_FIELD:
            raise span.error(begin, f"a field of number {number}")
        if wire == VARINT:
            value, at = read_varint(span, at)
            yield number, value
            continue
        if wire == BYTES:
            length, at = read_varint(span, at)
        elif wire in _FIXED:
            length = _FIXED[wire]
        else:
            raise span.error(begin, f"a field of wire type {wire}")
        if length > span.end - at:
            raise span.error(begin, f"a field of {length} bytes, of which {span.end - at} are left")
        yield number, Span(span.data, at, at + length, span.where)
        at += length


def varints(value: int | Span) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or not.

    Examples
    --------
    >>> list(varints(Span(bytes([3, 0x96, 0x01]), 0, 3, "a.et"))), list(varints(7))
    ([3, 150], [7])
    """
    if isinstance(value, int):
        yield value
        return
    at = value.begin
    while at < value.end:
        number, at = read_varint(value, at)
        yield number


# -- traces read -----------------------------------------------------------------------------------


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

CHAKRA_WANTED = "a Chakra execution trace (.et): lengths, a GlobalMetadata, and nodes"


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
    paths = rank_files(pattern, CHAKRA_WANTED)
    file = next((path for path in groups_file(pattern) if path.is_file()), None)
    said, wanted = {}, 'groups of ranks, such as {"1": [0, 1]}'
    if file is not None:
        said = parse_json(read_text(file, wanted=wanted), file, wanted=wanted)
        if not isinstance(said, dict):
            raise InputError(file, "something else", wanted)
    groups = {}
    for name, ranks in said.items():
        where = f"{file}, group {name!r:.60}"
        if not (isinstance(ranks, list) and all(type(rank) is int for rank in ranks)):
            raise InputError(where, "no list of ranks", wanted)
        groups[name] = check_group(ranks, len(paths), where)
    reader = _ChakraReader(Builder(len(paths)), groups)
    for rank, path in enumerate(paths):
        reader.read(rank, path)
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


class _ChakraReader:
    """What was read so far, of all ranks."""

    def __init__(self, builder: Builder, groups: Mapping[str, tuple[int, ...]]) -> None:
        self.builder, self.groups = builder, groups
        self.dependencies = 0

    def read(self, rank: int, path: Path) -> None:
        """Read the nodes of a rank."""
        first = len(self.builder.ids)
        place = {}
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
        self.builder.pending[key][rank].append(call)
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
        kind, name = SEND if sends else RECEIVE, f"{rank}.{node.id}"
        operation = self.builder.add(name, kind, rank, node.after, peer=peer, size=size)
        return self.builder.seek(operation, tag, where)

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
            wanted = "comm_groups.json beside the traces, with this group"
            raise InputError(where, f"pg_name {name!r:.60}", wanted)
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
    data = read_bytes(path, wanted=CHAKRA_WANTED)
    at, first = 0, True
    whole = Span(data, 0, len(data), str(path))
    if not data:
        raise InputError(path, "an empty file", CHAKRA_WANTED)
    while at < len(data):
        begin = at
        length, at = read_varint(whole, at)
        if length > len(data) - at:
            found = f"a message of {length} bytes, of which {len(data) - at} are left"
            raise whole.error(begin, found, CHAKRA_WANTED)
        message = Span(data, at, at + length, str(path))
        at += length
        if first:
            for number, value in fields(message):
                if number not in (1, 2) or isinstance(value, int):
                    raise message.error(message.begin, "no GlobalMetadata", CHAKRA_WANTED)
            first = False
            continue
        yield _node(message)


def _node(message: Span) -> Node:
    node = Node()
    for number, value in fields(message):
        if number in (1, 3, 7) and isinstance(value, int):
            name = {1: "id", 3: "type", 7: "micros"}[number]
            setattr(node, name, value)
        elif number in (4, 5):
            node.after += varints(value)
        elif number == 10 and isinstance(value, Span):
            name, said = _attribute(value)
            node.attributes[name] = said
        elif number in (1, 3, 7, 10):
            raise message.error(
                message.begin, f"a node whose field {number} is none", CHAKRA_WANTED
            )
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
    for number, value in fields(message):
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
            said = [each for tag, some in fields(value) if tag == 1 for each in varints(some)]
        elif number == STRING:
            said = value.text()
    return name, said


# -- records of Kineto -----------------------------------------------------------------------------


KINETO_WANTED = 'a record of the PyTorch profiler: JSON with "traceEvents"'

CATEGORIES = ("kernel", "gpu_user_annotation", "user_annotation", "cpu_op", "")
"""Where collectives may be noted: the first that has any counts, the others repeat them."""

VALUE_BYTES = {
    "Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Half": 2, "BFloat16": 2, "Int": 4, "Float": 4,
    "Long": 8, "Double": 8, "ComplexFloat": 8, "ComplexDouble": 16, "Float8_e4m3fn": 1,
    "Float8_e5m2": 1, "Float8_e4m3fnuz": 1, "Float8_e5m2fnuz": 1,
}  # fmt: skip
"""Bytes of a value of each ``dtype``."""

_LONGEST_FIRST = sorted(("send", *COLLECTIVES), key=len, reverse=True)

NAMES = {name.replace("-", ""): name for name in _LONGEST_FIRST} | {"recv": "receive"}
"""How names begin, once underscores are gone, and what they are."""

PASSED_OVER = ("wait", "init")
"""Names of notes that say nothing of communication."""

SLACK = 0.01
"""Events that overlap by so many µs do so by rounding."""


NCCL = re.compile("nccl|rccl", re.IGNORECASE)
"""How the names of its kernels begin."""

MOST_VALUES = 2**26
"""Most values of a file: some five million events."""


class Passed(NamedTuple):
    """When an event was that says nothing of communication, µs."""

    start: float
    end: float


class Event(NamedTuple):
    """A collective, a send or a receive as it was recorded."""

    start: float  # µs
    end: float
    kind: str
    args: dict[str, Any]
    where: str


def read_kineto(pattern: str | Path) -> RankProgram:
    r"""Read records of the PyTorch profiler, ``name.%d.json``, one per rank from 0 on.

    Of each NCCL kernel counts what it was for, and when it ran. In the program it begins once all
    that was over before it began is over, and the time that passed between is computation. What ran
    at the same time may do so again. The k-th calls of a group's ranks belong together, sends and
    receives by their ranks in order. A broadcast or reduction has the first rank of its group as
    root, as Kineto does not tell.

    Without ``%d`` all ranks are taken to do what this one does, if all its groups are of all ranks.

    Parameters
    ----------
    pattern
        A path, perhaps with ``%d`` for the rank. Files may be compressed by gzip.

    Raises
    ------
    InputError
        Naming the file and the event: what is no such record. A kernel of NCCL without its notes.
        A collective, type or group that is unknown. Ranks that do not do the same.

    Examples
    --------
    >>> read_kineto("examples/kineto/rank%d.json")
    <examples/kineto/rank%d.json: 4 ranks, 16 operations, 4 collectives>
    """
    if "%d" in str(pattern):
        records = [
            _record(path, rank) for rank, path in enumerate(rank_files(pattern, KINETO_WANTED))
        ]
    else:
        one = _record(Path(pattern), None)
        sizes = [one.world, *(_number(each, "Group size", 0) for each in one.events)]
        check_size(max(sizes), where=str(pattern), what="ranks")
        if not max(sizes):
            raise InputError(pattern, "no 'Group size'", "a record per rank: name.%d.json")
        records = [one] * max(sizes)
    reader = _KinetoReader(Builder(len(records)), alone="%d" not in str(pattern))
    for rank, record in enumerate(records):
        reader.add(rank, record)
    return reader.builder.program(str(pattern))


class _Record(NamedTuple):
    """What a file says."""

    events: list[Event]  # by start
    start: float  # of anything, µs
    end: float
    world: int  # number of ranks, where it is told


def _record(path: Path, rank: int | None) -> _Record:
    text, limits = read_text(path, wanted=KINETO_WANTED), {"most_values": MOST_VALUES}
    data = parse_json(text, path, wanted=KINETO_WANTED, record=_event, **limits)
    listed = data.get("traceEvents") if isinstance(data, dict) else data
    if not isinstance(listed, list):
        raise InputError(path, 'no "traceEvents"', KINETO_WANTED)
    told = data.get("distributedInfo") if isinstance(data, dict) else None
    told = told if isinstance(told, dict) else {}
    if rank is not None and told.get("rank", rank) != rank:
        raise InputError(path, f"the record of rank {told['rank']!r:.20}", f"rank {rank}")
    world = told.get("world_size", 0)
    spans = [each for each in listed if isinstance(each, Passed)]
    kept = [(n, each) for n, each in enumerate(listed) if isinstance(each, dict) and "ph" in each]
    spans += [_passed(each) for _, each in kept]
    found = _noted(kept, str(path))
    if not found:
        raise InputError(path, "no NCCL events with 'Collective name'", KINETO_WANTED)
    found.sort(key=lambda event: (event.start, event.end))
    start, end = min(each.start for each in spans), max(each.end for each in spans)
    return _Record(found, start, end, world if type(world) is int else 0)


def _event(pairs: list[tuple[str, Any]]) -> Any:
    """Return a record, of an event without notes only when it was: most of millions are such.

    None of an event without a time, which any number may be that is finite.
    """
    event = dict(pairs)
    if "ph" not in event:
        return event
    times = (event.get("ts"), event.get("dur", 0))
    if event["ph"] != "X" or not all(
        isinstance(time, int | float) and 0 <= time < 2**63 for time in times
    ):
        return None
    args = event.get("args")
    noted = isinstance(args, dict) and "Collective name" in args
    return event if noted or NCCL.match(str(event.get("name", ""))) else _passed(event)


def _passed(event: dict[str, Any]) -> Passed:
    start = float(event["ts"])
    return Passed(start, start + float(event.get("dur", 0)))


def _noted(timed: list[tuple[int, dict[str, Any]]], path: str) -> list[Event]:
    """Return the events of the first category in which collectives are noted."""
    by_category = defaultdict(list)
    bare = None
    for number, each in timed:
        args, category = each.get("args"), str(each.get("cat", "")).lower()
        category = category if category in CATEGORIES else ""
        name = str(each.get("name", ""))
        where = f"{path}, event {number} ({name[:40]!r})"
        if not isinstance(args, dict) or "Collective name" not in args:
            if category == "kernel" and NCCL.match(name):
                bare = bare or where
            continue
        plain = str(args["Collective name"]).lower().replace("nccl:", "").replace("_", "")
        if plain.startswith(PASSED_OVER):
            continue
        kind = next((kind for start, kind in NAMES.items() if plain.startswith(start)), "")
        if not kind:
            wanted = "allreduce, _allgather_base, all_to_allv, send ..."
            raise InputError(where, f"'Collective name' {args['Collective name']!r:.40}", wanted)
        start, length = float(each["ts"]), float(each.get("dur", 0))
        by_category[category].append(Event(start, start + length, kind, args, where))
    if by_category["kernel"] and bare:
        raise InputError(bare, "no 'Collective name'", "one, as for other kernels of NCCL here")
    return next((by_category[each] for each in CATEGORIES if by_category[each]), [])


class _KinetoReader:
    """What was read so far, of all ranks."""

    def __init__(self, builder: Builder, *, alone: bool) -> None:
        self.builder, self.alone = builder, alone

    def add(self, rank: int, record: _Record) -> None:
        """Add the operations of a rank, and its work after the last."""
        made: list[int] = []
        events = record.events
        for number, (event, (before, seconds)) in enumerate(
            zip(events, _gaps(record), strict=True)
        ):
            after = [made[each] for each in before]
            made.append(self._one(rank, f"{rank}.{number}", event, after, seconds))
        last = max(event.end for event in events)
        rest = max(record.end - last, 0.0) * MICRO
        self.builder.add(f"{rank}.end", DELAY, rank, made, seconds=rest)

    def _one(self, rank: int, name: str, event: Event, after: list[int], seconds: float) -> int:
        group, where = _group_of(event, self.builder.num_ranks), event.where
        if self.alone and len(group) < self.builder.num_ranks:
            found = f"a group of {len(group)} of {self.builder.num_ranks} ranks"
            raise InputError(where, found, "a record per rank, name.%d.json")
        if event.kind in ("send", "receive"):
            return self._point_to_point(rank, name, event, after, seconds)
        if rank not in group:
            raise InputError(where, f"a group without rank {rank}", "the record of a rank in it")
        kind = self.builder.add(name, CALL, rank, after, seconds=seconds)
        size = 0.0
        if event.kind != "barrier":
            size = _values(event, f"{'Out' if event.kind == 'scatter' else 'In'} msg nelems")
        if event.kind in ("all-gather", "gather", "scatter"):
            size *= len(group)  # as ``CollectiveProgram`` means it
        row = _row(event, len(group), size) if event.kind == "all-to-all" else ()
        key = (str(event.args.get("Process Group Name", "")), group)
        call = Pending(kind, event.kind, group, size, 0, where, row)
        self.builder.pending[key][rank].append(call)
        return kind

    def _point_to_point(
        self, rank: int, name: str, event: Event, after: list[int], seconds: float
    ) -> int:
        sends = event.kind == "send"
        peer = _number(event, "Dst Rank" if sends else "Src Rank")
        if self.alone or peer >= self.builder.num_ranks:
            raise InputError(event.where, f"{event.kind} with rank {peer}", "a record of that rank")
        size = sends * _values(event, "In msg nelems" if sends else "Out msg nelems")
        kind = SEND if sends else RECEIVE
        made = self.builder.add(
            name, kind, rank, after, seconds=seconds, peer=peer, size=size * sends
        )
        return self.builder.seek(made, 0, event.where)


def _gaps(record: _Record) -> Iterator[tuple[list[int], float]]:
    """Yield for each event those that it follows, and the seconds between.

    It follows all that ended before it began, but for those that another of these follows.
    """
    events = record.events
    order = sorted(range(len(events)), key=lambda number: events[number].end)
    place = {number: at for at, number in enumerate(order)}
    ends = [events[number].end for number in order]
    latest = list(accumulate((events[number].start for number in order), max))
    for number, event in enumerate(events):
        over = min(bisect_right(ends, event.start + SLACK), place[number])
        first = min(bisect_right(ends, latest[over - 1] + SLACK), over - 1) if over else 0
        before = [each for each in order[first:over] if each < number]
        since = max((events[each].end for each in before), default=record.start)
        yield before, max(event.start - since, 0.0) * MICRO


def _number(event: Event, name: str, default: int | None = None) -> int:
    value = event.args.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        value = int(value)
    if type(value) is not int or not 0 <= value <= 2**53:
        found = f"no '{name}'" if value is None else f"'{name}' {value!r:.40}"
        raise InputError(event.where, found, "a whole number")
    return value


def _values(event: Event, name: str) -> float:
    """Return the bytes of so many values."""
    kind = str(event.args.get("dtype", ""))
    if kind not in VALUE_BYTES:
        raise InputError(event.where, f"dtype {kind!r:.40}", ", ".join(VALUE_BYTES))
    return float(_number(event, name) * VALUE_BYTES[kind])


def _listed(event: Event, name: str) -> tuple[list[int], bool, list[int]]:
    """Return a list of numbers, whether it is cut short, and the numbers after the cut."""
    said = event.args.get(name, "")
    text = said if isinstance(said, str) else json.dumps(said)
    head, cut, tail = text.strip().strip("[]").partition("...")
    found = []
    for part in (head, tail):
        words = part.replace(",", " ").split()
        if not all(word.isascii() and word.isdigit() and len(word) <= 18 for word in words):
            raise InputError(event.where, f"'{name}' {text[:40]!r}", "a list of whole numbers")
        found.append([int(word) for word in words])
    return found[0], bool(cut), found[1]


def _group_of(event: Event, num_ranks: int) -> tuple[int, ...]:
    """Return the ranks of a process group. A long list, which Kineto cuts short, is continued."""
    ranks, cut, tail = _listed(event, "Process Group Ranks")
    size = _number(event, "Group size", len(ranks) or num_ranks)
    if not 1 <= size <= num_ranks:
        found = f"'Group size' {size}"
        raise InputError(event.where, found, f"1 to {num_ranks}: a record for each rank")
    if not ranks:
        if "Global rank start" in event.args and "Global rank stride" in event.args:
            start, stride = (_number(event, f"Global rank {each}") for each in ("start", "stride"))
            ranks = list(range(start, start + size * max(stride, 1), max(stride, 1)))
        elif size == num_ranks:
            ranks = list(range(num_ranks))
    elif cut:
        strides = {b - a for a, b in pairwise(ranks)}
        stride = strides.pop() if len(strides) == 1 else 0
        whole = list(range(ranks[0], ranks[0] + size * stride, stride)) if stride > 0 else []
        if whole[: len(ranks)] != ranks or (tail and whole[-len(tail) :] != tail):
            found = "'Process Group Ranks' cut short, and not equally far apart"
            raise InputError(event.where, found, "a list that can be continued")
        ranks = whole
    if len(ranks) != size:
        found = f"{len(ranks)} 'Process Group Ranks' with 'Group size' {size}"
        raise InputError(event.where, found, "as many")
    return check_group(ranks, num_ranks, event.where)


def _row(event: Event, ranks: int, size: float) -> tuple[float, ...]:
    """Return what a rank has for each other, in bytes. Nothing if it is the same for all."""
    splits, cut, _ = _listed(event, "In split size")
    if cut:
        raise InputError(event.where, "'In split size' cut short", "all of it: up to 30 ranks")
    if len(set(splits)) <= 1:
        return ()
    if len(splits) != ranks:
        raise InputError(event.where, f"{len(splits)} splits for {ranks} ranks", "one each")
    return tuple(size * split / sum(splits) for split in splits)


# -- programs of ranks by name ---------------------------------------------------------------------


_READERS = {"chakra": read_chakra, "kineto": read_kineto}


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
