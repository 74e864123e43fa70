"""Schedules in the text format of GOAL, as LogGOPSim reads them, as traces.

The format is that of LogGOPSim's ``txt2bin`` (Hoefler, Schneider & Lumsdaine 2010): for each rank
sends, receives and calculations with labels, and which of them requires which.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.textfiles import text_lines
from netloom.workload.programs.messages import lists
from netloom.workload.programs.traces import (
    MOST_CYCLES,
    MOST_LENGTH,
    MOST_SECONDS,
    Trace,
    Unit,
    ordered_trace,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    _Queues: TypeAlias = dict[tuple[int, int], deque[int]]  # sends of each source and tag

ANY = -1
"""In place of a receive's source or tag: whichever comes."""

CALC_SECONDS = 1e-9
"""Seconds of one unit of ``calc`` in LogGOPSim: a nanosecond."""

LINES = (
    "'num_ranks N', 'rank N {', '}', '[LABEL:] send SIZEb to RANK [tag N]', "
    "'[LABEL:] recv SIZEb from RANK [tag N]', '[LABEL:] calc N', 'LABEL requires LABEL' "
    "or 'LABEL irequires LABEL'"
)

_OPERATION = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?"
    r"(?:(?P<kind>send|recv)\s+(?P<size>\d{1,18})\s*b\s+(?P<way>to|from)\s+(?P<peer>-1|\d{1,18})"
    r"(?:\s+tag\s+(?P<tag>-1|\d{1,18}))?|calc\s+(?P<calc>\d{1,18}))"
    r"(?:\s+cpu\s+(?P<cpu>\d{1,18}))?(?:\s+nic\s+\d{1,18})?"
)
_REQUIRES = re.compile(r"(?P<later>[A-Za-z]\w*)\s+(?P<how>i?requires)\s+(?P<earlier>[A-Za-z]\w*)")
_NUM_RANKS, _RANK = re.compile(r"num_ranks\s+(\d{1,18})"), re.compile(r"rank\s+(\d{1,18})\s*\{")


class _Operation(NamedTuple):
    rank: int
    kind: str  # send, recv or calc
    size: int  # bytes, or units of calculation
    peer: int  # the other rank; ANY
    tag: int  # ANY
    line: int
    name: str


@dataclass
class _Schedule:
    """What a file says. A requirement: the later operation, the earlier, if its start is enough."""

    num_ranks: int = 0
    operations: list[_Operation] = field(default_factory=list)
    requirements: list[tuple[int, int, bool]] = field(default_factory=list)


class _Costs(NamedTuple):
    """What operations take, in cycles or in seconds."""

    unit: Unit
    overhead: float
    gap: float
    calc: float  # of one unit
    flit_bytes: int

    def calculation(self, size: int, where: str) -> float:
        """Return the time of a calculation."""
        if self.unit == "cycles":
            return _limited(round(size * self.calc), where, "cycles", MOST_CYCLES)
        return _limited(size * self.calc, where, "seconds", MOST_SECONDS)

    def length(self, size: int, where: str) -> int:
        """Return the length of a message: at least a flit, or a byte."""
        if self.unit == "cycles":
            flits = max(-(-size // self.flit_bytes), 1)
            return int(_limited(flits, where, "flits", MOST_CYCLES))
        return int(_limited(max(size, 1), where, "bytes", MOST_LENGTH))


def read_goal(
    path: str | Path,
    *,
    flit_bytes: int,
    overhead_cycles: int = 0,
    gap_cycles: int = 0,
    calc_cycles: float = 1.0,
) -> Trace:
    r"""Read a schedule in GOAL's text format. Ranks are the tasks of the trace.

    A send takes its rank's processor for the overhead o. Then it is complete for those that
    require it, and its message is on its way. The processor stays busy until the gap g is over.
    A receive, once its message has arrived and what it requires is complete, takes the processor
    for o as well. ``irequires`` waits until the other operation could start, that is until all
    that *it* requires is complete. In place of LogGOPSim's L and G stands the network. Messages
    are sent whatever their size (there is no rendezvous).

    A receive gets the first send of its source and tag that no earlier receive has got, in the
    order of the file. A receive from any source, or of any tag (−1), gets one of the sends that
    other receives leave. It gets the send that comes earliest among its rank's operations, and the
    lowest rank's if there are several. LogGOPSim gives it the one that arrives first.

    Parameters
    ----------
    path
        A text file. Comments as in C++.
    flit_bytes
        Bytes of a flit. A message is at least one flit long.
    overhead_cycles, gap_cycles
        o and g of LogGP, in cycles.
    calc_cycles
        Cycles of one unit of ``calc``.

    Raises
    ------
    InputError
        If the file is no GOAL file, or a label is unknown or repeated. If a rank is out of range, a
        send is never received, or a receive has no send. If operations wait for each other in a
        circle. If a CPU is not 0, because a node has one processor. The error names the file and
        line.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "pair.goal"
    >>> _ = file.write_text("num_ranks 2\nrank 0 {\nl1: calc 100\nl2: send 64b to 1\n"
    ...                     "l2 requires l1\n}\nrank 1 {\nl1: recv 64b from 0\n}\n")
    >>> trace = read_goal(file, flit_bytes=8, overhead_cycles=5)
    >>> trace.ids, trace.flits
    (('0.l1', '0.l2', '0.l2>1', '1.l1'), array([0, 0, 8, 0], dtype=int32))
    """
    path = Path(path)
    for name, value, least in (
        ("flit_bytes", flit_bytes, 1),
        ("overhead_cycles", overhead_cycles, 0),
        ("gap_cycles", gap_cycles, 0),
        ("calc_cycles", calc_cycles, 0),
    ):
        if not least <= value <= MOST_CYCLES:
            raise InputError(name, f"{value}", f"{least} to {MOST_CYCLES}")
    return _trace(path, _Costs("cycles", overhead_cycles, gap_cycles, calc_cycles, flit_bytes))


def read_timed_goal(
    path: str | Path,
    *,
    overhead_seconds: float = 0.0,
    gap_seconds: float = 0.0,
    calc_seconds: float = CALC_SECONDS,
) -> Trace:
    r"""Read a schedule in GOAL's text format as a trace in seconds and bytes.

    As ``read_goal``, but nothing is rounded: a message has its bytes, at least one.

    Parameters
    ----------
    path
        A text file. Comments as in C++.
    overhead_seconds, gap_seconds
        o and g of LogGP, in seconds.
    calc_seconds
        Seconds of one unit of ``calc``: a nanosecond, as in LogGOPSim.

    Raises
    ------
    InputError
        As ``read_goal`` does.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "pair.goal"
    >>> _ = file.write_text("num_ranks 2\nrank 0 {\nl1: calc 100\nl2: send 64b to 1\n"
    ...                     "l2 requires l1\n}\nrank 1 {\nl1: recv 64b from 0\n}\n")
    >>> trace = read_timed_goal(file, overhead_seconds=1.5e-6)
    >>> trace.run.tolist(), trace.flits.tolist()
    ([1.0000000000000001e-07, 1.5e-06, 0.0, 1.5e-06], [0.0, 0.0, 64.0, 0.0])
    """
    path = Path(path)
    for name, value in (
        ("overhead_seconds", overhead_seconds),
        ("gap_seconds", gap_seconds),
        ("calc_seconds", calc_seconds),
    ):
        if not 0 <= value <= MOST_SECONDS:
            raise InputError(name, f"{value:g}", f"0 to {MOST_SECONDS:g}")
    return _trace(path, _Costs("seconds", overhead_seconds, gap_seconds, calc_seconds, 1))


def _trace(path: Path, costs: _Costs) -> Trace:
    """Return a trace with an entry for each operation and each message, and some for starts."""
    schedule = _read(path)
    ids: list[str] = []
    owner: list[_Operation] = []
    after: list[list[int]] = []
    rows: dict[str, list[float]] = {"run": [], "hold": [], "flits": []}

    def add(
        operation: _Operation, *, run: float = 0, hold: float = 0, flits: int = 0, part: str = ""
    ) -> int:
        ids.append(f"{operation.name}{part}")
        owner.append(operation)
        after.append([])
        for name, value in (("run", run), ("hold", hold), ("flits", flits)):
            rows[name].append(value)
        return len(ids) - 1

    begin: list[int] = []  # the entry that waits for what an operation requires
    end: list[int] = []  # the one that is complete when the operation is
    message = {}  # of each send
    started = {earlier for _, earlier, start in schedule.requirements if start}
    for number, operation in enumerate(schedule.operations):
        where = f"{path}:{operation.line}"
        run = costs.overhead
        if operation.kind == "calc":
            run = costs.calculation(operation.size, where)
        if number in started:
            begin.append(add(operation, part="?"))
        hold = max(costs.gap - costs.overhead, 0) if operation.kind == "send" else 0
        end.append(add(operation, run=run, hold=hold))
        if number in started:
            after[end[-1]].append(begin[-1])
        else:
            begin.append(end[-1])
        if operation.kind == "send":
            flits = costs.length(operation.size, where)
            message[number] = add(operation, flits=flits, part=f">{operation.peer}")
            after[message[number]].append(end[-1])
    for later, earlier, start in schedule.requirements:
        after[begin[later]].append(begin[earlier] if start else end[earlier])
    for receive, send in _matched(path, schedule.operations):
        after[end[receive]].append(message[send])
    columns = {name: np.array(row) for name, row in rows.items()}
    columns["source"] = np.array([each.rank for each in owner])
    columns["start"] = columns["receive"] = np.zeros(len(ids), np.int64)
    return ordered_trace(
        str(path),
        schedule.num_ranks,
        ids,
        columns,
        lists([one.peer] if size else [] for one, size in zip(owner, rows["flits"], strict=True)),
        lists(after),
        lambda entry: f"{path}:{owner[entry].line}",
        flit_bytes=costs.flit_bytes,
        unit=costs.unit,
    )


def _read(path: Path) -> _Schedule:
    found = _Schedule()
    rank, opened, seen = -1, 0, set[int]()
    labels: dict[str, int] = {}
    required: list[tuple[str, re.Match[str]]] = []
    for number, words in _code(path):
        where = f"{path}:{number}"
        inside = rank >= 0
        if inside and words == "}":
            _resolve(found, labels, required)
            rank = -1
        elif inside and (match := _OPERATION.fullmatch(words)):
            _add_operation(found, labels, match, rank, where, number)
        elif inside and (match := _REQUIRES.fullmatch(words)):
            required.append((where, match))
        elif not inside and (match := _RANK.fullmatch(words)):
            rank, opened = _rank(match[1], found, where), number
            if rank in seen:
                raise InputError(where, f"rank {rank} a second time", "each rank once")
            seen.add(rank)
            labels, required = {}, []
        elif not (inside or found.num_ranks) and (match := _NUM_RANKS.fullmatch(words)):
            found.num_ranks = int(match[1])
            check_size(found.num_ranks, where=where, what="ranks")
        else:
            raise InputError(where, f"'{words}'", LINES)
    if rank >= 0:
        raise InputError(f"{path}:{opened}", f"rank {rank} without an end", "a line '}'")
    if not found.operations:
        raise InputError(str(path), "no operations", LINES)
    return found


def _code(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and words of every line that says something besides its comments."""
    opened = 0  # the line in which a comment began that has not ended
    for number, line in text_lines(path, wanted="a GOAL schedule"):
        code, at = [], 0
        while at < len(line):
            end = line.find("*/" if opened else "/*", at)
            if not opened:
                code.append(line[at : end if end >= 0 else None])
            if end < 0:
                break
            opened, at = 0 if opened else number, end + 2
        if words := "".join(code).split("//", 1)[0].strip():
            yield number, words
    if opened:
        raise InputError(f"{path}:{opened}", "a comment without an end", "a line with '*/'")


def _rank(number: str, found: _Schedule, where: str) -> int:
    rank = int(number)
    if rank >= found.num_ranks:
        ranks = f"0 to {found.num_ranks - 1}" if found.num_ranks else "a line 'num_ranks N' before"
        raise InputError(where, f"rank {rank}", ranks)
    return rank


def _add_operation(
    found: _Schedule,
    labels: dict[str, int],
    match: re.Match[str],
    rank: int,
    where: str,
    number: int,
) -> None:
    kind = match["kind"] or "calc"
    peer, tag = int(match["peer"] or ANY), int(match["tag"] or 0)
    wrong_way = (kind, match["way"]) in (("send", "from"), ("recv", "to"))
    if wrong_way or (kind == "send" and ANY in (peer, tag)):
        raise InputError(where, f"'{match[0]}'", LINES)
    if kind != "calc" and peer != ANY:
        _rank(match["peer"], found, where)
    if int(match["cpu"] or 0):
        raise InputError(where, f"cpu {match['cpu']}", "cpu 0: a node has one processor")
    label = match["label"] or f"@{len(labels) + 1}"  # its place in its rank
    if label in labels:
        first = found.operations[labels[label]].line
        raise InputError(where, f"label '{label}' again, as in line {first}", "a label of its own")
    labels[label] = len(found.operations)
    size = int(match["size"] or match["calc"])
    operation = _Operation(rank, kind, size, peer, tag, number, f"{rank}.{label}")
    found.operations.append(operation)


def _resolve(
    found: _Schedule, labels: dict[str, int], required: list[tuple[str, re.Match[str]]]
) -> None:
    """Find the operations of a rank that labels stand for."""
    for where, match in required:
        for label in (match["later"], match["earlier"]):
            if label not in labels:
                raise InputError(where, f"label '{label}'", "that of an operation of this rank")
        later, earlier = labels[match["later"]], labels[match["earlier"]]
        found.requirements.append((later, earlier, match["how"] == "irequires"))


def _limited(value: float, where: str, what: str, most: float) -> float:
    if value > most:
        raise InputError(where, f"{value} {what}", f"at most {most}")
    return value


def _matched(path: Path, operations: list[_Operation]) -> list[tuple[int, int]]:
    """Every receive with the send that it gets."""
    sends: defaultdict[int, _Queues] = defaultdict(dict)  # by target
    turn: dict[int, int] = {}  # how many operations of its rank come before each send
    count: defaultdict[int, int] = defaultdict(int)
    for number, operation in enumerate(operations):
        if operation.kind == "send":
            queues = sends[operation.peer]
            queues.setdefault((operation.rank, operation.tag), deque()).append(number)
            turn[number] = count[operation.rank]
        count[operation.rank] += 1
    receives = [number for number, operation in enumerate(operations) if operation.kind == "recv"]
    # The less a receive leaves open, the earlier it chooses: known source and tag, source, neither.
    receives.sort(key=lambda n: (operations[n].peer == ANY, operations[n].tag == ANY))
    pairs = []
    for number in receives:
        operation = operations[number]
        send = _taken(sends[operation.rank], turn, operation)
        if send < 0:
            source = "any rank" if operation.peer == ANY else f"rank {operation.peer}"
            tag = "any tag" if operation.tag == ANY else f"tag {operation.tag}"
            found = f"a receive from {source} with {tag}, for which no send is left"
            raise InputError(f"{path}:{operation.line}", found, "a send for each receive")
        pairs.append((number, send))
    if left := [
        number for queues in sends.values() for queue in queues.values() for number in queue
    ]:
        lost = operations[min(left)]
        found = f"a send to rank {lost.peer} with tag {lost.tag} that no receive is for"
        raise InputError(f"{path}:{lost.line}", found, "a receive for each send")
    return pairs


def _taken(queues: _Queues, turn: dict[int, int], receive: _Operation) -> int:
    """Take the send that a receive gets off its queue; −1 if there is none."""
    if ANY not in (receive.peer, receive.tag):
        known = queues.get((receive.peer, receive.tag))
        return known.popleft() if known else -1
    fitting = [
        (turn[queue[0]], source, queue)
        for (source, tag), queue in queues.items()
        if queue and receive.peer in (ANY, source) and receive.tag in (ANY, tag)
    ]
    return min(fitting)[2].popleft() if fitting else -1  # a rank has one operation at each turn
