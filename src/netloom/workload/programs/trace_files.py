"""Traces from files: tables, and GOAL.

Schedules in the text format of GOAL are those of LogGOPSim's ``txt2bin`` (Hoefler, Schneider &
Lumsdaine 2010): for each rank sends, receives and calculations with labels, and which of them
requires which. Tables are CSV, TSV or Parquet, one entry a row.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools
from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS, check_size, whole_number
from netloom.base.textfiles import MOST_BYTES, check_file, text_lines
from netloom.base.units import SIZE
from netloom.workload.graphs.files import MOST_COLUMNS, parsing, pattern_in, read_table
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


def read_goal(
    path: str | Path,
    *,
    flit_bytes: int | None = None,
    overhead: float = 0.0,
    gap: float = 0.0,
    calc: float | None = None,
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
        Bytes of a flit: the trace is in cycles and flits, at least one per message. None: it is in
        seconds and bytes, nothing is rounded, and a message has at least one byte.
    overhead, gap
        o and g of LogGP, in cycles or in seconds.
    calc
        Cycles of one unit of ``calc``, 1 by default. Or seconds: a nanosecond, as in LogGOPSim.

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
    >>> trace = read_goal(file, flit_bytes=8, overhead=5)
    >>> trace.ids, trace.flits
    (('0.l1', '0.l2', '0.l2>1', '1.l1'), array([0, 0, 8, 0], dtype=int32))
    >>> read_goal(file, overhead=1.5e-6).run.tolist()
    [1.0000000000000001e-07, 1.5e-06, 0.0, 1.5e-06]
    """
    unit: Unit = "cycles"
    most, longest, usual = float(MOST_CYCLES), float(MOST_CYCLES), 1.0
    if flit_bytes is None:
        unit, most, longest, usual = "seconds", MOST_SECONDS, MOST_LENGTH, CALC_SECONDS
    calc = usual if calc is None else calc
    given = {f"overhead_{unit}": overhead, f"gap_{unit}": gap, f"calc_{unit}": calc}
    for name, value in given.items():
        if not 0 <= value <= most:
            raise InputError(name, f"{value:.12g}", f"0 to {most:.12g}")
    if flit_bytes is not None and not 1 <= flit_bytes <= MOST_CYCLES:
        raise InputError("flit_bytes", flit_bytes, f"1 to {MOST_CYCLES}")
    schedule = _Schedule(Path(path))
    # an entry for each operation and each message, and some for starts
    ids: list[str] = []
    owner: list[_Operation] = []
    after: list[list[int]] = []
    sent: list[bool] = []

    def add(operation: _Operation, part: str, *waited: int) -> int:
        ids.append(f"{operation.name}{part}")
        owner.append(operation)
        after.append([*waited])
        sent.append(part.startswith(">"))
        return len(ids) - 1

    begin = []  # the entry that waits for what an operation requires
    end = []  # the one that is complete when the operation is
    message = {}  # of each send
    started = {earlier for _, earlier, start in schedule.requirements if start}
    for number, operation in enumerate(schedule.operations):
        first = [add(operation, "?")] if number in started else []
        end.append(add(operation, "", *first))
        begin.append(first[0] if first else end[-1])
        if operation.kind == "send":
            message[number] = add(operation, f">{operation.peer}", end[-1])
    for later, earlier, start in schedule.requirements:
        after[begin[later]].append(begin[earlier] if start else end[earlier])
    for receive, send in schedule.matched():
        after[end[receive]].append(message[send])
    kind, size = np.array([each.kind for each in owner]), np.array([each.size for each in owner])
    works = np.zeros(len(ids), bool)
    works[end] = True

    def where(entry: int) -> str:
        return f"{path}:{owner[entry].line}"

    run = np.where(kind == "calc", size * calc, overhead) * works
    flits = np.maximum(size, 1) * np.array(sent)
    if flit_bytes is not None:
        run, flits = np.rint(run), -(-flits // flit_bytes)
    _limit(run, most, unit, where)
    _limit(flits, longest, "bytes" if flit_bytes is None else "flits", where)
    return ordered_trace(
        str(path),
        schedule.num_ranks,
        ids,
        {
            "run": run,
            "hold": np.where(works & (kind == "send"), max(gap - overhead, 0), 0),
            "flits": flits,
            "source": np.array([each.rank for each in owner]),
        },
        lists([one.peer] if size else [] for one, size in zip(owner, sent, strict=True)),
        lists(after),
        where,
        flit_bytes=flit_bytes or 1,
        unit=unit,
    )


class _Schedule:
    """What a file says. A requirement: the later operation, the earlier, if its start is enough."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.num_ranks = 0
        self.operations: list[_Operation] = []
        self.requirements: list[tuple[int, int, bool]] = []
        rank, opened, seen = -1, 0, set[int]()
        labels: dict[str, int] = {}
        required: list[tuple[str, re.Match[str]]] = []
        for number, words in _code(path):
            where = f"{path}:{number}"
            inside = rank >= 0
            if inside and words == "}":
                self._resolve(labels, required)
                rank = -1
            elif inside and (match := _OPERATION.fullmatch(words)):
                self._operation(labels, match, rank, number)
            elif inside and (match := _REQUIRES.fullmatch(words)):
                required.append((where, match))
            elif not inside and (match := _RANK.fullmatch(words)):
                rank, opened = self._rank(match[1], where), number
                if rank in seen:
                    raise InputError(where, f"rank {rank} a second time", "each rank once")
                seen.add(rank)
                labels, required = {}, []
            elif not (inside or self.num_ranks) and (match := _NUM_RANKS.fullmatch(words)):
                self.num_ranks = int(match[1])
                check_size(self.num_ranks, where=where, what="ranks")
            else:
                raise InputError(where, f"'{words}'", LINES)
        if rank >= 0:
            raise InputError(f"{path}:{opened}", f"rank {rank} without an end", "a line '}'")
        if not self.operations:
            raise InputError(path, "no operations", LINES)

    def _rank(self, number: str, where: str) -> int:
        rank, count = int(number), self.num_ranks
        if rank >= count:
            ranks = f"0 to {count - 1}" if count else "a line 'num_ranks N' before"
            raise InputError(where, f"rank {rank}", ranks)
        return rank

    def _operation(
        self, labels: dict[str, int], match: re.Match[str], rank: int, number: int
    ) -> None:
        where, kind = f"{self.path}:{number}", match["kind"] or "calc"
        peer, tag = int(match["peer"] or ANY), int(match["tag"] or 0)
        wrong_way = (kind, match["way"]) in (("send", "from"), ("recv", "to"))
        if wrong_way or (kind == "send" and ANY in (peer, tag)):
            raise InputError(where, f"'{match[0]}'", LINES)
        if kind != "calc" and peer != ANY:
            self._rank(match["peer"], where)
        if int(match["cpu"] or 0):
            raise InputError(where, f"cpu {match['cpu']}", "cpu 0: a node has one processor")
        label = match["label"] or f"@{len(labels) + 1}"  # its place in its rank
        if label in labels:
            found = f"label '{label}' again, as in line {self.operations[labels[label]].line}"
            raise InputError(where, found, "a label of its own")
        labels[label] = len(self.operations)
        size = int(match["size"] or match["calc"])
        self.operations.append(_Operation(rank, kind, size, peer, tag, number, f"{rank}.{label}"))

    def _resolve(self, labels: dict[str, int], required: list[tuple[str, re.Match[str]]]) -> None:
        """Find the operations of a rank that labels stand for."""
        for where, match in required:
            for label in (match["later"], match["earlier"]):
                if label not in labels:
                    raise InputError(where, f"label '{label}'", "that of an operation of this rank")
            later, earlier = labels[match["later"]], labels[match["earlier"]]
            self.requirements.append((later, earlier, match["how"] == "irequires"))

    def matched(self) -> list[tuple[int, int]]:
        """Return every receive with the send that it gets."""
        sends: defaultdict[int, _Queues] = defaultdict(dict)  # by target
        turn = {}  # how many operations of its rank come before each send
        count: defaultdict[int, int] = defaultdict(int)
        for number, operation in enumerate(self.operations):
            if operation.kind == "send":
                queue = sends[operation.peer].setdefault((operation.rank, operation.tag), deque())
                queue.append(number)
                turn[number] = count[operation.rank]
            count[operation.rank] += 1
        receives = [n for n, operation in enumerate(self.operations) if operation.kind == "recv"]
        # The less a receive leaves open, the earlier it chooses: known source and tag, source,
        # neither.
        receives.sort(key=lambda n: (self.operations[n].peer == ANY, self.operations[n].tag == ANY))
        pairs = []
        for number in receives:
            receive = self.operations[number]
            queues, known = sends[receive.rank], (receive.peer, receive.tag)
            keys = [known]
            if ANY in known:
                peer, tag = known
                keys = [key for key in queues if peer in (ANY, key[0]) and tag in (ANY, key[1])]
            fitting = [(turn[queues[key][0]], key) for key in keys if queues.get(key)]
            if not fitting:
                peer_said = "any rank" if receive.peer == ANY else f"rank {receive.peer}"
                tag_said = "any tag" if receive.tag == ANY else f"tag {receive.tag}"
                found = f"a receive from {peer_said} with {tag_said}, for which no send is left"
                where = f"{self.path}:{receive.line}"
                raise InputError(where, found, "a send for each receive")
            pairs.append((number, queues[min(fitting)[1]].popleft()))
        if left := [n for queues in sends.values() for queue in queues.values() for n in queue]:
            lost = self.operations[min(left)]
            found = f"a send to rank {lost.peer} with tag {lost.tag} that no receive is for"
            raise InputError(f"{self.path}:{lost.line}", found, "a receive for each send")
        return pairs


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
        raise InputError(path, "a folder of Chakra traces", f"chakra:{chakra}, which reads it")
    if flit_bytes is not None and flit_bytes < 1:
        raise InputError("flit_bytes", flit_bytes, "at least 1")
    where: Where
    if path.suffix.lower() == ".parquet":
        check_file(path, wanted=f"a trace: {FILES}")
        with parsing(path, "Parquet"):
            table = _unpacked(path)
        table, where, num_tasks = _named(table, str(path)), lambda row: f"{path}, row {row + 1}", 0
    else:
        read = read_table(path, f"a trace: {FILES}", MOST_BYTES)
        table, where, num_tasks = _named(read.rows, read.head), read.where, read.num_tasks
    of_seconds = [name for name in table.columns if name in IN_SECONDS.values()]
    of_cycles = [name for name in table.columns if name in (*IN_CYCLES.values(), "flits")]
    if of_seconds and of_cycles:
        found = f"columns '{of_seconds[0]}' and '{of_cycles[0]}'"
        raise InputError(path, found, "seconds with bytes, or cycles with flits")
    if of_seconds or ("bytes" in table.columns and unit == "seconds" and not of_cycles):
        unit, times, flit_bytes = "seconds", IN_SECONDS, 1
    else:
        unit, times = "cycles", IN_CYCLES
    columns = {
        name: _numbers(table, name, where, whole=unit == "cycles")
        for name in NUMBERS
        if name in table.columns
    }
    ids = _ids(table, where)
    sources, goals, most = [], [], (num_tasks or MAX_ELEMENTS) - 1
    for row, word in enumerate(_words(table, "source")):
        if not word:
            raise InputError(where(row), "no source", "a task's number")
        sources.append(whole_number(word, where=where(row), most=most))
    for row, text in enumerate(_words(table, "target")):
        words = text.replace(";", " ").split()
        if "*" in words and len(words) > 1:
            raise InputError(where(row), f"target '{text}'", "tasks, or * alone")
        goals.append(
            [*dict.fromkeys(whole_number(each, where=where(row), most=most) for each in words)]
            if "*" not in words
            else [EVERYONE]
        )
    source, targets = np.array(sources), lists(goals)
    of_trace = {name: columns[column] for name, column in times.items() if column in columns}
    of_trace["source"] = source
    of_trace["flits"] = _flits(columns, targets.lengths > 0, flit_bytes, where, path)
    return ordered_trace(
        str(path),
        num_tasks or int(max(source.max(), targets.values.max(initial=0))) + 1,
        ids,
        of_trace,
        targets,
        _after(table, ids, where),
        where,
        flit_bytes=flit_bytes if "bytes" in columns and "flits" not in columns else None,
        unit=unit,
    )


def _unpacked(path: Path) -> pl.DataFrame:
    """Read the columns of a Parquet file that are known, if they are no larger than text may be."""
    import polars as pl

    lazy = pl.scan_parquet(path, glob=False)
    schema = lazy.collect_schema()
    if len(schema) > MOST_COLUMNS:
        raise InputError(path, f"{len(schema)} columns", f"at most {MOST_COLUMNS}")
    rows = int(lazy.select(pl.len()).collect().item())
    if rows > max(MOST_ROWS_A_BYTE * path.stat().st_size, MOST_SAME_ROWS):
        found = f"{rows} rows in {path.stat().st_size} bytes"
        raise InputError(path, found, "entries that each have an id of their own")
    words = [
        name for name, kind in schema.items() if kind == pl.String and _canonical(name) in KNOWN
    ]
    sizes = lazy.select(pl.col(words).str.len_bytes().sum()).collect() if words else pl.DataFrame()
    largest = max(sizes.row(0), default=0) if words else 0
    if largest > MOST_BYTES:
        raise InputError(path, f"{largest} bytes of words", f"at most {MOST_BYTES}")
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
            raise InputError(path, "bytes", "flits, or how many bytes a flit has (flit_bytes)")
        flits = columns["bytes"]
        if flits.dtype.kind == "i":
            flits = -(-flits // flit_bytes)
            _limit(flits, MOST_CYCLES, "flits", where)
        flits = np.maximum(flits, sent)
    else:
        return np.zeros(len(sent), np.int64)
    _refuse(~sent & (flits > 0), where, "a length, but no target", wanted)
    return flits


def _refuse(wrong: Bools, where: Where, found: str, wanted: str) -> None:
    if wrong.any():
        raise InputError(where(int(np.argmax(wrong))), found, wanted)


def _limit(values: NDArray[Any], most: float, what: str, where: Where) -> None:
    highest = int(np.argmax(values))
    if values[highest] > most:
        raise InputError(where(highest), f"{values[highest]:.12g} {what}", f"at most {most:.12g}")
