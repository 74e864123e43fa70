"""Programs of ranks written as Chakra execution traces."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.textfiles import replacing, write_text
from netloom.workload.programs.training.chakra import (
    COLL,
    COLLECTIVE,
    COMP,
    MICRO,
    OF_INPUT,
    RECEIVING,
    SENDING,
    groups_file,
)
from netloom.workload.programs.training.protobuf import bytes_field, number_field, varint
from netloom.workload.programs.training.rank_programs import (
    CALL,
    COMPUTE,
    DELAY,
    RECEIVE,
    SEND,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.workload.programs.training.rank_programs import Call, RankProgram

VERSION = "0.0.4"
"""Of the schema: what the files of ASTRA-sim say."""


def write_chakra(program: RankProgram, pattern: str | Path) -> list[Path]:
    """Write a program of ranks as Chakra traces that ``read_chakra`` takes back.

    Times are whole microseconds there, and sizes whole bytes: both are rounded. What passes before
    a message or a collective is a node of the CPU. Groups are written to the JSON file beside.

    Parameters
    ----------
    program
        What is written.
    pattern
        A path in which ``%d`` stands for the rank. Existing files are replaced.

    Returns
    -------
    list[Path]
        The files.

    Raises
    ------
    InputError
        If the pattern has no ``%d``, an all-to-all has unequal parts, which Chakra cannot tell, or
        a file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.training import rank_program
    >>> program = rank_program("llm:tp=2,layers=2,hidden=1024")
    >>> [path.name for path in write_chakra(program, f"{mkdtemp()}/llm.%d.et")]
    ['llm.0.et', 'llm.1.et']
    """
    path = Path(pattern)
    if path.name.count("%d") != 1:
        raise InputError(str(path), "no %d for the rank", "a name such as trace.%d.et")
    for call in program.calls:
        if call.pair_bytes is not None:
            found = f"{call.collective} with unequal parts"
            raise InputError(program.name, found, "equal ones, which Chakra can tell")
    groups = _groups(program)
    tags = _tags(program)
    by_rank: defaultdict[int, list[int]] = defaultdict(list)
    for row, rank in enumerate(program.rank.tolist()):
        by_rank[rank].append(row)
    written = []
    for rank in range(program.num_ranks):
        file = path.with_name(path.name.replace("%d", str(rank)))
        with replacing(file) as new, new.open("wb") as stream:
            stream.write(_delimited(bytes_field(1, VERSION.encode())))
            for message in _nodes(program, by_rank[rank], groups, tags):
                stream.write(_delimited(message))
        written.append(file)
    beside = groups_file(path)[0]
    said = {name: list(ranks) for ranks, name in groups.items() if name}
    if said or beside.is_file():  # an old one would be read
        write_text(beside, json.dumps(said) + "\n")
        written.append(beside)
    return written


def _groups(program: RankProgram) -> dict[tuple[int, ...], str]:
    """Return names of groups. That of all ranks in order needs none."""
    found = {tuple(range(program.num_ranks)): ""}
    for call in program.calls:
        found.setdefault(call.ranks, str(len(found)))
    return found


def _tags(program: RankProgram) -> dict[int, int]:
    """Return the tag of each send: its number among those of its source and target."""
    found = {}
    count: defaultdict[tuple[int, int], int] = defaultdict(int)
    for row in (program.kind == SEND).nonzero()[0].tolist():
        ends = int(program.rank[row]), int(program.peer[row])
        found[row] = count[ends]
        count[ends] += 1
    return found


def _nodes(
    program: RankProgram,
    rows: list[int],
    groups: dict[tuple[int, ...], str],
    tags: dict[int, int],
) -> Iterator[bytes]:
    """Yield the nodes of a rank: 2k + 1 is its operation k, 2k what passes before it."""
    place = {row: 2 * number + 1 for number, row in enumerate(rows)}
    offsets, values = program.after.offsets, program.after.values
    for row in rows:
        kind, number = int(program.kind[row]), place[row]
        after = [place[each] for each in values[offsets[row] : offsets[row + 1]].tolist()]
        micros = round(float(program.seconds[row]) / MICRO)
        if kind not in (COMPUTE, DELAY) and micros:
            yield _node(number - 1, COMP, after, micros, [_bool("is_cpu_op", value=True)])
            after, micros = [number - 1], 0
        if kind in (COMPUTE, DELAY):
            yield _node(number, COMP, after, micros, [_bool("is_cpu_op", value=kind == DELAY)])
            continue
        said = [_bool("is_cpu_op", value=False)]
        if kind == CALL:
            said += _of_call(program.calls[int(program.link[row])], groups)
        elif kind in (SEND, RECEIVE):
            send = row if kind == SEND else int(program.link[row])
            peer = "comm_dst" if kind == SEND else "comm_src"
            said += [
                _number("comm_size", round(float(program.bytes[send]))),
                _number(peer, int(program.peer[row])),
                _number("comm_tag", tags[send]),
            ]
        kinds = {CALL: COLL, SEND: SENDING, RECEIVE: RECEIVING}
        yield _node(number, kinds[kind], after, 0, said)


def _of_call(call: Call, groups: dict[tuple[int, ...], str]) -> list[bytes]:
    given = call.size_bytes / (len(call.ranks) if call.collective in OF_INPUT else 1)
    said = [
        _number("comm_type", COLLECTIVE.index(call.collective)),
        _number("comm_size", round(given)),
    ]
    if groups[call.ranks]:
        said.append(_attribute("pg_name", bytes_field(29, groups[call.ranks].encode())))
    if call.root:
        said.append(_number("root_rank", call.ranks[call.root]))
    return said


def _node(number: int, kind: int, after: list[int], micros: int, said: list[bytes]) -> bytes:
    parts = [number_field(1, number), number_field(3, kind)]
    if after:
        parts.append(bytes_field(5, b"".join(map(varint, after))))
    if micros:
        parts.append(number_field(7, micros))
    return b"".join(parts + said)


def _attribute(name: str, value: bytes) -> bytes:
    return bytes_field(10, bytes_field(1, name.encode()) + value)


def _number(name: str, value: int) -> bytes:
    return _attribute(name, number_field(9, value))


def _bool(name: str, *, value: bool) -> bytes:
    return _attribute(name, number_field(27, int(value)))


def _delimited(message: bytes) -> bytes:
    return varint(len(message)) + message
