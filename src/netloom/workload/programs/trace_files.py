"""Traces from and to tables: CSV and TSV, Parquet."""

from __future__ import annotations

from difflib import get_close_matches
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size, whole_number
from netloom.base.textfiles import MOST_BYTES, check_file, text_lines
from netloom.base.units import SIZE
from netloom.workload.graphs.files import parsing, refuse_longer_rows
from netloom.workload.programs.messages import Lists, lists
from netloom.workload.programs.traces import (
    EVERYONE,
    MOST_CYCLES,
    MOST_SECONDS,
    MOST_START,
    Trace,
    Unit,
    ordered_trace,
)
from netloom.workload.programs.training.rank_programs import pattern_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools

    Where: TypeAlias = Callable[[int], str]  # the place of a row, as the user would look for it

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

MOST_COLUMNS = 1024
"""Most columns of a table."""

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
    unit = _unit(table.columns, unit, path)
    if unit == "seconds":
        flit_bytes = 1
    columns = {
        name: _numbers(table, name, where, whole=unit == "cycles")
        for name in NUMBERS
        if name in table.columns
    }
    times = IN_CYCLES if unit == "cycles" else IN_SECONDS
    nothing = np.zeros(table.height, np.int64)
    ids = _ids(table, where)
    source = np.array(_sources(table, where))
    targets = _targets(table, where)
    highest = int(max(source.max(initial=0), targets.values.max(initial=0))) + 1
    check_size(highest, where=str(path), what="tasks")
    for tasks, owners in ((source, np.arange(len(source))), (targets.values, targets.owners())):
        if num_tasks and (tasks >= num_tasks).any():
            wrong = int(np.argmax(tasks >= num_tasks))
            raise InputError(
                where(int(owners[wrong])), f"task {tasks[wrong]}", f"0 to {num_tasks - 1}"
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


def _unit(names: list[str], asked: Unit, path: Path) -> Unit:
    """The unit of a table's times and lengths. One that mixes both is refused."""
    of_seconds = [name for name in names if name in IN_SECONDS.values()]
    of_cycles = [name for name in names if name in IN_CYCLES.values() or name == "flits"]
    if of_seconds and of_cycles:
        found = f"columns '{of_seconds[0]}' and '{of_cycles[0]}'"
        raise InputError(str(path), found, "seconds with bytes, or cycles with flits")
    if of_seconds or (asked == "seconds" and "bytes" in names and not of_cycles):
        return "seconds"
    return "cycles"


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


def _sources(table: pl.DataFrame, where: Where) -> list[int]:
    """Return the task of each row. Each has one."""
    tasks = []
    for row, word in enumerate(_words(table, "source")):
        if not word:
            raise InputError(where(row), "no source", "a task's number")
        tasks.append(whole_number(word, where=where(row)))
    return tasks


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
