"""Traces from files: tables, and GOAL.

Schedules in the text format of GOAL are those of LogGOPSim's ``txt2bin`` (Hoefler, Schneider &
Lumsdaine 2010): for each rank sends, receives and calculations with labels, and which of them
requires which. Tables are CSV, TSV or Parquet, one entry a row.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools
from netloom.base.errors import InputError
from netloom.base.spec import check_size, whole_number
from netloom.base.textfiles import MOST_BYTES, check_file, text_lines
from netloom.base.units import SIZE
from netloom.workload.graphs.files import MOST_COLUMNS, parsing, refuse_longer_rows
from netloom.workload.programs.messages import Lists, lists
from netloom.workload.programs.traces import (
    EVERYONE,
    MOST_CYCLES,
    MOST_LENGTH,
    MOST_SECONDS,
    MOST_START,
    Trace,
    Unit,
    ordered_trace,
)
from netloom.workload.programs.training.rank_programs import pattern_in

if TYPE_CHECKING:
    import polars as pl

    _Queues: TypeAlias = dict[tuple[int, int], deque[int]]

    Where: TypeAlias = Callable[[int], str]


# -- GOAL ------------------------------------------------------------------------------------------


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


# -- tables ----------------------------------------------------------------------------------------


WORDS = {"delay": "delay", "run": "compute", "hold": "hold", "receive": "receive"}
SPELLINGS = {"time_cycles": "time"} | {word: f"{word}_cycles" for word in WORDS.values()}
"""Names that a column may have as well."""

IN_CYCLES = {"start": "time"} | {time: f"{word}_cycles" for time, word in WORDS.items()}
IN_SECONDS = {time: f"{word}_seconds" for time, word in {"start": "time", **WORDS}.items()}
"""What the times of a trace are called in tables, in cycles and in seconds."""

NUMBERS: dict[str, float] = dict.fromkeys([*IN_CYCLES.values(), "flits"], MOST_CYCLES)
NUMBERS |= {"time": MOST_START, "bytes": 2**53} | dict.fromkeys(IN_SECONDS.values(), MOST_SECONDS)
"""Columns of numbers, and the largest one of each."""

KNOWN = ("id", "after", "source", "target", *NUMBERS)
WANTED = (
    f"columns id, after, source, target, {', '.join(IN_CYCLES.values())}, flits (or bytes), or "
    f"with bytes {', '.join(IN_SECONDS.values())}"
)

MOST_ROWS_A_BYTE, MOST_SAME_ROWS = 4, 2**20
"""Most rows of a Parquet file: so many a byte, since their ids differ, or so many in any case."""

FILES = ".csv, .tsv or .parquet"


def read_trace(path: str | Path, *, flit_bytes: int | None = None, unit: Unit = "cycles") -> Trace:
    r"""Read a trace from a table with one entry a row.

    Columns may be in any order. All but ``id`` and ``source`` may be missing or blank:

    - ``id``: the name of the entry, any word.
    - ``time``: the earliest cycle. ``after``: the ids that it waits for, separated by spaces or
      semicolons, in any order of rows.
    - ``delay_cycles``: cycles that pass before it is ready, without the processor.
    - ``compute_cycles``: cycles of the source's processor before it is sent.
    - ``source``: a task. ``target``: a task, or several (a multicast), or ``*`` for all. It is
      blank for a computation only.
    - ``flits``, or ``bytes`` with ``flit_bytes``: the length. Only rows with a target have one.
      Bytes may have a unit, such as 64KiB or 1MB.
    - ``receive_cycles``: cycles of a target's processor before the entry is complete, for each
      copy. ``hold_cycles``: cycles that the source's processor stays busy once it is sent.
    - ``time_seconds``, ``delay_seconds``, ``compute_seconds``, ``hold_seconds`` and
      ``receive_seconds`` in place of those in cycles: the trace is in seconds and ``bytes`` then,
      and ``flit_bytes`` is not used.

    ``delay``, ``compute``, ``receive``, ``hold`` and ``time_cycles`` will do as well. Other columns
    are passed over. In text, ``#`` starts a comment line. The comment ``# tasks: 64`` above the
    names tells how many tasks there are, otherwise there are just enough for the highest number.

    Parameters
    ----------
    path
        Parquet (``.parquet``), separated by tabs (``.tsv``), or by commas (any other).
    flit_bytes
        Bytes of a flit, where the table has bytes. What has a target is at least one flit long, and
        in seconds one byte.
    unit
        What a table of bytes without any times is read in: ``seconds`` leaves bytes as they are.

    Raises
    ------
    InputError
        Naming the file, and the line where one is to blame.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "three.csv"
    >>> _ = file.write_text("id,after,compute,source,target,flits\n"
    ...                     "a,,100,0,1,8\nb,a,50,1,2,8\nc,a b,10,2,*,1\n")
    >>> trace = read_trace(file)
    >>> trace.num_tasks, trace.run, trace.after.values
    (3, array([100,  50,  10], dtype=int32), array([0, 0, 1]))
    """
    path = Path(path)
    if chakra := pattern_in(path, ".et"):
        raise InputError(str(path), "a folder of Chakra traces", f"chakra:{chakra}, which reads it")
    if flit_bytes is not None and flit_bytes < 1:
        raise InputError("flit_bytes", f"{flit_bytes}", "at least 1")
    where: Where
    if path.suffix.lower() == ".parquet":
        check_file(path, wanted=f"a trace: {FILES}")
        with parsing(path, "Parquet"):
            table = _unpacked(path)
        table, where, num_tasks = _named(table, str(path)), lambda row: f"{path}, row {row + 1}", 0
    else:
        table, where, num_tasks = _text(path)
    of_seconds = [name for name in table.columns if name in IN_SECONDS.values()]
    of_cycles = [name for name in table.columns if name in (*IN_CYCLES.values(), "flits")]
    if of_seconds and of_cycles:
        found = f"columns '{of_seconds[0]}' and '{of_cycles[0]}'"
        raise InputError(str(path), found, "seconds with bytes, or cycles with flits")
    if of_seconds or ("bytes" in table.columns and unit == "seconds" and not of_cycles):
        unit, flit_bytes = "seconds", 1
    else:
        unit = "cycles"
    columns = {
        name: _numbers(table, name, where, whole=unit == "cycles")
        for name in NUMBERS
        if name in table.columns
    }
    times = IN_CYCLES if unit == "cycles" else IN_SECONDS
    nothing = np.zeros(table.height, np.int64)
    ids = _ids(table, where)
    tasks = []
    for row, word in enumerate(_words(table, "source")):
        if not word:
            raise InputError(where(row), "no source", "a task's number")
        tasks.append(whole_number(word, where=where(row)))
    source = np.array(tasks)
    targets = _targets(table, where)
    highest = int(max(source.max(initial=0), targets.values.max(initial=0))) + 1
    check_size(highest, where=str(path), what="tasks")
    for each, owners in ((source, np.arange(len(source))), (targets.values, targets.owners())):
        if num_tasks and (each >= num_tasks).any():
            wrong = int(np.argmax(each >= num_tasks))
            raise InputError(
                where(int(owners[wrong])), f"task {each[wrong]}", f"0 to {num_tasks - 1}"
            )
    return ordered_trace(
        str(path),
        num_tasks or highest,
        ids,
        {name: columns.get(column, nothing) for name, column in times.items()}
        | {
            "source": source,
            "flits": _flits(columns, np.diff(targets.offsets) > 0, flit_bytes, where, path),
        },
        targets,
        _after(table, ids, where),
        where,
        flit_bytes=flit_bytes if "bytes" in columns and "flits" not in columns else None,
        unit=unit,
    )


def _text(path: Path) -> tuple[pl.DataFrame, Where, int]:
    """The table, the place of each row, and the number of tasks if the file says it, or 0."""
    import polars as pl

    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    num_tasks = 0
    numbers: list[int] = []
    kept: list[str] = []
    for number, line in text_lines(path, wanted=f"a trace: {FILES}"):
        if line.startswith("#"):
            what, _, count = line[1:].partition(":")
            if what.strip() == "tasks" and not kept:
                num_tasks = whole_number(count.strip(), where=f"{path}:{number}", least=1)
                check_size(num_tasks, where=f"{path}:{number}", what="tasks")
        elif line.strip():
            numbers.append(number)
            kept.append(line.removesuffix("\n"))
    if not kept:
        raise InputError(str(path), "an empty file", "a line that names the columns, and entries")
    if kept[0].count(separator) >= MOST_COLUMNS:
        found = f"{kept[0].count(separator) + 1} columns"
        raise InputError(f"{path}:{numbers[0]}", found, f"at most {MOST_COLUMNS}")
    try:
        table = pl.read_csv(
            BytesIO("\n".join(kept).encode()), separator=separator, infer_schema=False
        )
    except Exception as error:  # noqa: BLE001  # any parser's failure is the file's
        rows = zip(numbers, kept, strict=True)
        refuse_longer_rows(path, rows, separator, names=f"line {numbers[0]}")
        reason = " ".join(str(error).split())
        raise InputError(str(path), f"an unreadable table ({reason})") from None

    def where(row: int) -> str:
        return f"{path}:{numbers[row + 1]}"

    return _named(table, f"{path}:{numbers[0]}"), where, num_tasks


def _unpacked(path: Path) -> pl.DataFrame:
    """Read the columns of a Parquet file that are known, if they are no larger than text may be."""
    import polars as pl

    lazy = pl.scan_parquet(path, glob=False)
    schema = lazy.collect_schema()
    if len(schema) > MOST_COLUMNS:
        raise InputError(str(path), f"{len(schema)} columns", f"at most {MOST_COLUMNS}")
    rows = int(lazy.select(pl.len()).collect().item())
    if rows > max(MOST_ROWS_A_BYTE * path.stat().st_size, MOST_SAME_ROWS):
        found = f"{rows} rows in {path.stat().st_size} bytes"
        raise InputError(str(path), found, "entries that each have an id of their own")
    words = [
        name for name, kind in schema.items() if kind == pl.String and _canonical(name) in KNOWN
    ]
    sizes = lazy.select(pl.col(words).str.len_bytes().sum()).collect() if words else pl.DataFrame()
    largest = max(sizes.row(0), default=0) if words else 0
    if largest > MOST_BYTES:
        raise InputError(str(path), f"{largest} bytes of words", f"at most {MOST_BYTES}")
    unread = [pl.lit(0, pl.Int8).alias(name) for name in schema if _canonical(name) not in KNOWN]
    return lazy.with_columns(unread).collect()


def _canonical(name: str) -> str:
    """Return the name that we use for a column."""
    name = name.strip().lower()
    return SPELLINGS.get(name, name)


def _named(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """The table under the names that we use. What is missing, or nearly right, is refused."""
    names = [*map(_canonical, table.columns)]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise InputError(where, f"two columns '{repeated}'", "each column once")
    missing = [name for name in ("id", "source") if name not in names]
    if not {"flits", "bytes"} & set(names) and "target" in names:
        missing.append("bytes" if set(IN_SECONDS.values()) & set(names) else "flits")
    for name in names:
        near = get_close_matches(name, [*KNOWN, *SPELLINGS], 1, 0.7)
        if name not in KNOWN and near and _canonical(near[0]) not in names:
            raise InputError(where, f"column '{name}'", f"'{near[0]}', or another name")
    if missing:
        found = f"no column '{missing[0]}', but {', '.join(names)}"
        raise InputError(where, found, WANTED)
    check_size(table.height, where=where, what="entries")
    if not table.height:
        raise InputError(where, "no entries", "at least one")
    table.columns = names
    return table


def _words(table: pl.DataFrame, name: str) -> list[str]:
    """What a column says, row by row. Nothing where it is blank or there is no such column."""
    import polars as pl

    if name not in table.columns:
        return [""] * table.height
    column = table[name]
    if isinstance(column.dtype, pl.List):
        column = column.cast(pl.List(pl.String)).list.join(" ")
    texts = column.cast(pl.String).fill_null("").str.strip_chars()
    if column.dtype.is_float():  # as whole numbers are stored where some are missing
        texts = texts.str.strip_suffix(".0")
    return texts.to_list()


def _numbers(table: pl.DataFrame, name: str, where: Where, *, whole: bool) -> NDArray[Any]:
    """Cycles, flits and bytes as whole numbers, or seconds and bytes, which need not be whole."""
    import polars as pl

    words = _words(table, name)
    for row, text in enumerate(words if name == "bytes" else ()):
        if text.endswith("B"):  # with a unit
            exact = SIZE.exact(text, where=where(row))
            words[row] = str(exact.numerator) if exact.denominator == 1 else repr(float(exact))
    texts = pl.Series(words)
    read = texts.replace("", "0").cast(pl.Int64 if whole else pl.Float64, strict=False)
    numbers = read.fill_null(-1).to_numpy()
    wrong = ~((numbers >= 0) & (numbers <= NUMBERS[name]))  # NaN is neither
    if wrong.any():
        row = int(np.argmax(wrong))
        most = f"{NUMBERS[name]}" if whole else f"{NUMBERS[name]:g}"
        wanted = f"a {'whole ' if whole else ''}number, 0 to {most}"
        raise InputError(where(row), f"{name} '{texts[row]}'", wanted)
    return numbers if whole else numbers + 0.0  # no -0.0


def _ids(table: pl.DataFrame, where: Where) -> list[str]:
    ids = _words(table, "id")
    seen: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name or ";" in name or len(name.split()) > 1:
            raise InputError(where(row), f"id '{name}'", "a word, without spaces and semicolons")
        if name in seen:
            first = where(seen[name]).rsplit(":", 1)[-1].rsplit(", ", 1)[-1]
            place = f"line {first}" if first.isdigit() else first
            raise InputError(where(row), f"id '{name}' again, as in {place}", "an id of its own")
        seen[name] = row
    return ids


def _targets(table: pl.DataFrame, where: Where) -> Lists:
    rows = []
    for row, text in enumerate(_words(table, "target")):
        words = text.replace(";", " ").split()
        if "*" in words and len(words) > 1:
            raise InputError(where(row), f"target '{text}'", "tasks, or * alone")
        tasks = [
            EVERYONE if word == "*" else whole_number(word, where=where(row)) for word in words
        ]
        rows.append(list(dict.fromkeys(tasks)))
    return lists(rows)


def _after(table: pl.DataFrame, ids: list[str], where: Where) -> Lists:
    number = {name: row for row, name in enumerate(ids)}
    rows = []
    for row, text in enumerate(_words(table, "after")):
        words = dict.fromkeys(text.replace(";", " ").split())
        try:
            rows.append([number[word] for word in words])
        except KeyError as error:
            near = get_close_matches(error.args[0], ids, 1)
            wanted = "the id of a row" + (f" such as '{near[0]}'" if near else "")
            raise InputError(where(row), f"'{error.args[0]}' in after", wanted) from None
    return lists(rows)


def _flits(
    columns: dict[str, NDArray[Any]], sent: Bools, flit_bytes: int | None, where: Where, path: Path
) -> NDArray[Any]:
    """Flits of each row, or bytes in seconds, or 0 for computations."""
    wanted = "a target and at least 1 flit, or neither"
    if "flits" in columns:
        flits = columns["flits"]
        _refuse(sent & (flits == 0), where, "a target, but no flits", wanted)
    elif "bytes" in columns:
        if flit_bytes is None:
            raise InputError(str(path), "bytes", "flits, or how many bytes a flit has (flit_bytes)")
        flits = columns["bytes"]
        if flits.dtype.kind == "i":
            flits = -(-flits // flit_bytes)
            found = f"a message above {MOST_CYCLES} flits"
            _refuse(flits > MOST_CYCLES, where, found, "fewer bytes")
        flits = np.maximum(flits, sent)
    else:
        return np.zeros(len(sent), np.int64)
    _refuse(~sent & (flits > 0), where, "a length, but no target", wanted)
    return flits


def _refuse(wrong: Bools, where: Where, found: str, wanted: str) -> None:
    if wrong.any():
        raise InputError(where(int(np.argmax(wrong))), found, wanted)
