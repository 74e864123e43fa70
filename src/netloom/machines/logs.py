"""Measured collectives: what nccl-tests, RCCL-tests, the OSU benchmarks and PICO print.

A log is one run of one collective: bytes of a rank's whole buffer, as nccl-tests count them, and
seconds out of place. Whatever cannot be a measurement is refused with the file and the line: a log
that was cut, wrong results, and times and rates that contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from csv import Error, reader
from dataclasses import dataclass, replace
from math import inf, prod
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.textfiles import parse_json, read_text
from netloom.base.words import counted, listed

WANTED = "the output of nccl-tests (text or -J), RCCL-tests or OSU, or a CSV file of times"
MOST_BYTES, MOST_RANKS = 2**26, 2**20
"""Most bytes of a log, and most ranks that one may say."""

NAMES = {
    "allreduce": "all-reduce", "allgather": "all-gather", "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all", "alltoallpersonalizedexchange": "all-to-all", "bcast": "broadcast",
    "broadcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter",
}  # fmt: skip
"""Collectives, by how logs name them, in letters only."""

ONE_OF = listed([*dict.fromkeys(NAMES.values())], 9, "or")

OF_PARTS = ("all-gather", "all-to-all", "gather", "scatter")
"""Collectives of which OSU counts one rank's part, not the whole buffer."""

FORCED = re.compile(r"NCCL_ALGO(?:=| set by environment to )(\S+)")
PROGRAM = re.compile(r"(?<![A-Za-z0-9_])([a-z_]+)_perf\b")
TAGGED = re.compile(r"^(?:\[[^\]]*\]<stdout>:?|\d+:)\s?")
"""What srun and mpirun write before each line."""

RANK = re.compile(r"#\s+Rank\s+(\d{1,7})\s+(?:Group +(\d+) )?.*\bon\s+(\S+)\s+device")
VERSION = re.compile(r"# ([nr]ccl-tests version \S+)(?:.*\s(\w+-library=\d+))?")
SIZE = re.compile(r"[0-9]{1,18}")
MOST = re.compile(r"# nThread.*\bmaxBytes (\d{1,18})\b")
NCCL_TABLE = re.compile(r"#\s+size\s+count\s+type\b")
OSU_TITLE = re.compile(
    r"#\s+OSU\b.*?\b([\w-]+(?: Personalized Exchange)?) Latency Test(?: v(\S+))?"
)
NCCL_UNITS = ("(B)", "(elements)", "(us)", "(GB/s)", "(%)")

SIZES = ("bytes", "size", "buffer_size")
TIMES = {
    "median": 1e-9,
    "time_us": 1e-6,
    "time_ms": 1e-3,
    "time_ns": 1e-9,
    "time_s": 1.0,
    "seconds": 1.0,
}
"""Columns of sizes in a CSV file, and of times, with their unit in seconds: PICO's in ns."""


class Row(NamedTuple):
    """One measured size: its line in the file, bytes and seconds."""

    line: int
    size: float
    seconds: float


@dataclass(frozen=True)
class Log:
    """One run of a collective.

    Attributes
    ----------
    path, line
        The file, and the line at which the run begins there.
    library
        Program and version that measured it. "" where the file does not say.
    collectives
        Which it may be: one, unless an old log does not name it.
    ranks
        How many took part. None where the file does not say.
    hosts
        The host of each rank, or () where the file does not say.
    algorithm
        As the file names it. "" where it does not, or where the library chose.
    rows
        Rising by size, one a size. If a size was measured several times, the median of these.
    of_parts
        Whether sizes are those of one rank's part: ``whole`` returns those of the buffer.
    """

    path: str
    line: int
    library: str
    collectives: tuple[str, ...]
    ranks: int | None
    hosts: tuple[str, ...]
    algorithm: str
    rows: tuple[Row, ...]
    of_parts: bool = False

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}"

    def whole(self, collective: str, ranks: int) -> Log:
        """Return it as a run of this collective and so many ranks, with sizes of whole buffers.

        Examples
        --------
        >>> log = Log("a", 1, "OSU", ("all-gather",), None, (), "", (Row(3, 8, 1e-6),), True)
        >>> log.whole("all-gather", 4).rows
        (Row(line=3, size=32, seconds=1e-06),)
        """
        times = ranks if self.of_parts and collective in OF_PARTS else 1
        rows = tuple(each._replace(size=each.size * times) for each in self.rows)
        named = (collective,)
        return replace(self, collectives=named, ranks=ranks, rows=rows, of_parts=False)


def read_logs(path: str | Path) -> tuple[Log, ...]:
    r"""Read all runs of a file, in the order in which they stand there.

    Raises
    ------
    InputError
        If the file is none of these, was cut, says wrong results, or mixes units. With the line.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "osu.txt"
    >>> _ = file.write_text("# OSU MPI Allreduce Latency Test\n# Size  Avg Latency(us)\n4 1.34")
    >>> read_logs(file)[0].rows
    (Row(line=3, size=4.0, seconds=1.34e-06),)
    """
    said = str(path)
    text = read_text(path, wanted=WANTED, most_bytes=MOST_BYTES)
    if text.lstrip().startswith("{"):
        return (_json(parse_json(text, said, wanted=WANTED), said),)
    lines = [TAGGED.sub("", each) for each in text.splitlines()]
    found = _csv(lines, said) if said.endswith(".csv") else [*_texts(lines, said)]
    if not found:
        raise InputError(said, "no table of sizes and times", WANTED)
    return tuple(found)


def collective_named(name: str) -> str:
    """Return what netloom calls a collective of a log. "" if it has none of that name.

    Examples
    --------
    >>> collective_named("all_reduce"), collective_named("All-to-All Personalized Exchange")
    ('all-reduce', 'all-to-all')
    """
    return NAMES.get(re.sub("[^a-z]", "", name.lower()), "")


def _number(text: str, where: str, what: str) -> float:
    """Return a number above 0 of sane size."""
    try:
        found = float(text)
    except ValueError:
        found = inf
    if not 0 < found <= units.LARGEST:
        raise InputError(where, f"{what} {text!r}", f"a number above 0, at most {units.LARGEST:g}")
    return found


def _sorted(rows: Iterable[Row], where: str) -> tuple[Row, ...]:
    by_size: dict[float, list[Row]] = {}
    for each in rows:
        by_size.setdefault(each.size, []).append(each)
    if not by_size:
        raise InputError(where, "no row of a size above 0", WANTED)
    return tuple(
        some[0]._replace(seconds=median(each.seconds for each in some))
        for _, some in sorted(by_size.items())
    )


# -- text ------------------------------------------------------------------------------------------


def _texts(lines: list[str], path: str) -> Iterator[Log]:
    """Yield the runs of a text: each begins with what stands between its table and the last."""
    start, at = 0, 0
    while at < len(lines):
        if NCCL_TABLE.match(lines[at]):
            log, at = _nccl(lines, start, at, path)
            start = at
            yield log
        elif title := OSU_TITLE.match(lines[at]):
            log, at = _osu(lines, title, at, path)
            start = at
            yield log
        else:
            at += 1
    if any(line.startswith("# nThread") for line in lines[start:]):
        raise InputError(f"{path}:{len(lines)}", "the end of the log before its table", WANTED)


class _Head(NamedTuple):
    """What the lines before a table of nccl-tests say."""

    program: str
    algorithm: str
    library: str
    hosts: tuple[str, ...]
    most_bytes: float
    groups: int


def _head(lines: list[str]) -> _Head:
    program = algorithm = library = ""
    hosts, most, groups = dict[int, str](), 0.0, set[str]()
    for line in lines:
        if found := RANK.match(line):
            hosts[int(found[1])] = found[3]
            groups.add(found[2])
        elif found := VERSION.match(line):
            library = " ".join(filter(None, found.groups()))
        elif found := MOST.match(line):
            most = float(found[1])
        elif found := FORCED.search(line):
            algorithm = forced_algorithm(found[1])
        if (found := PROGRAM.search(line)) and "concluded" not in line:
            program = found[1]
    named = tuple(hosts[rank] for rank in sorted(hosts))
    return _Head(program, algorithm, library, named, most, len(groups))


def forced_algorithm(said: str) -> str:
    """Return the one algorithm that ``NCCL_ALGO`` allows. "" if it allows several.

    Examples
    --------
    >>> forced_algorithm("allreduce:tree"), forced_algorithm("ring,tree"), forced_algorithm("^nvls")
    ('tree', '', '')
    """
    one = said.strip("\"'").lower().rpartition(":")[2]
    return one if re.fullmatch(r"[a-z]+", one) else ""


class _Nccl(NamedTuple):
    """A row of nccl-tests, and its words for addition, root, algorithm and bus bandwidth."""

    row: Row
    said: tuple[str, str, str, str]


def _nccl(lines: list[str], start: int, at: int, path: str) -> tuple[Log, int]:
    """Return the run whose table's head is line ``at``, and the line behind the run."""
    head, columns = _head(lines[start:at]), lines[at].lstrip("# ").split()
    if "cputime" in columns or head.groups > 1:
        what = "times of processors (-C)" if "cputime" in columns else f"{head.groups} groups"
        raise InputError(f"{path}:{at + 1}", what, "times of one collective at a time")
    rows, last, whole, place = list[_Nccl](), at, False, at + 1
    while place < len(lines) and not whole:
        line, where = lines[place], f"{path}:{place + 1}"
        words = line.split()
        if NCCL_TABLE.match(line) or line.startswith("# nThread"):
            break
        if line.startswith("#"):
            odd = [each for each in words[1:] if each[0] == "(" and each not in NCCL_UNITS]
            if "(B)" in words and odd:
                raise InputError(where, f"the unit {odd[0]}", "sizes in B, times in us, GB/s")
            whole = "Avg bus bandwidth" in line
        elif words and SIZE.fullmatch(words[0]):
            last, read = place, _nccl_row(words, columns, place + 1, where)
            rows += [read] if read else []
        place += 1
    found = _sorted((each.row for each in rows), f"{path}:{at + 1}")
    if not whole and found[-1].size < head.most_bytes:
        ended = f"the end of the log after {units.size(found[-1].size)}"
        wanted = f"rows up to {units.size(head.most_bytes)} and the average: the log was cut"
        raise InputError(f"{path}:{last + 1}", ended, wanted)
    ranks, name = len(head.hosts) or None, collective_named(head.program)
    if head.program and not name:
        raise InputError(f"{path}:{at + 1}", f"{head.program}_perf", f"one of {ONE_OF}")
    may_be = (name,) if name else tuple(_may_be([each.said for each in rows], ranks))
    log = Log(path, start + 1, head.library, may_be, ranks, head.hosts, head.algorithm, found)
    return log, place


def _nccl_row(words: list[str], columns: list[str], line: int, where: str) -> _Nccl | None:
    """Return a row of a table with these columns. None if it moved no data."""
    before = columns[: columns.index("time")] if "time" in columns else columns
    rest, redop, root = words[3:], "", "-1"
    if "redop" in before and rest and rest[0].isalpha():
        redop, *rest = rest
    if "root" in before and rest:
        root, *rest = rest
    half = 4 + 4 * any(each.startswith("i_") for each in columns)
    if len(rest) < 2 * half:
        wanted = f"{2 * half} times, rates and errors; the log may be cut here"
        raise InputError(where, f"a row of {counted(len(rest), 'value')}", wanted)
    for wrong in (rest[3], rest[half + 3]) if "#wrong" in columns else ():
        _check_right(wrong, words[0], where)
    if not int(words[0]):
        return None
    row = Row(line, float(words[0]), _number(rest[0], where, "a time of") * 1e-6)
    _check_rate(row, rest[0], rest[1], where)
    return _Nccl(row, (redop, root, rest[1], rest[2]))


def _check_right(wrong: Any, size: Any, where: str) -> None:
    """Refuse a row of which some values are wrong."""
    if str(wrong) not in ("N/A", "None", "0", "0.0"):
        found = f"{wrong} wrong values at {units.size(float(size))}"
        raise InputError(where, found, "a run without errors")


def _check_rate(row: Row, time: str, said: str, where: str) -> None:
    """Refuse a row whose time and rate contradict each other, which mixed units do."""
    rate = row.size / row.seconds * 1e-9  # in GB/s
    try:
        ratio = float(said) / rate
    except ValueError:
        raise InputError(where, f"a rate of {said!r}", "a number of GB/s") from None
    digits = sum(each.isdigit() for each in time.partition("e")[0])
    if abs(float(said) - rate) <= 0.006 + (0.005 + 0.5 / 10 ** (digits - 1)) * rate:
        return
    kinds = {2**-30 * 1e9: "GiB/s", 8: "Gb/s", 1e-3: "ms beside GB/s", 1e3: "MB/s or ns"}
    near = min(kinds, key=lambda each: abs(ratio / each - 1))
    guess = f" (is that {kinds[near]}?)" if abs(ratio / near - 1) < 0.02 else ""
    found = f"{said} GB/s for {units.size(row.size)} in {row.seconds * 1e6:g} µs{guess}"
    raise InputError(where, found, f"{rate:.4g} GB/s: time in µs, and bytes / time / 1e9")


def _may_be(rows: list[tuple[str, str, str, str]], ranks: int | None) -> Iterator[str]:
    """Yield the collectives that an unnamed table of nccl-tests may be of.

    Bus over algorithm bandwidth is 2(P − 1)/P for all-reduce, 1 if a rank has or gets all, else
    (P − 1)/P. A sum is printed if data are added, and a root if there is one.
    """
    redop, root, rate, bus = max(rows, key=lambda each: float(each[2]))
    adds, rooted = redop not in ("", "none"), root != "-1"
    told = ranks is not None and float(rate) > 1  # of less, two digits tell nothing
    factor, part = float(bus) / max(float(rate), 1e-9), 1 - 1 / (ranks or 1)
    kinds = {
        "all-reduce": (True, False, 2 * part),
        "reduce-scatter": (True, False, part),
        "reduce": (True, True, 1.0),
        "broadcast": (False, True, 1.0),
        "all-gather": (False, False, part),
        "all-to-all": (False, False, part),
        "gather": (False, True, part),
        "scatter": (False, True, part),
    }
    for name, (added, has_root, wanted) in kinds.items():
        if (added, has_root) == (adds, rooted) and (not told or abs(factor - wanted) < 0.02):
            yield name


def _osu(lines: list[str], title: re.Match[str], at: int, path: str) -> tuple[Log, int]:
    """Return the run of OSU whose title is line ``at``, and the line behind it."""
    name = collective_named(title[1])
    if not name:
        raise InputError(f"{path}:{at + 1}", f"OSU's {title[1]}", f"one of {ONE_OF}")
    rows, columns, digits = list[Row](), 0, 0
    for place in range(at + 1, len(lines)):
        line, where = lines[place], f"{path}:{place + 1}"
        words = line.split()
        if line.startswith("#"):
            if OSU_TITLE.match(line):
                break
            if "Size" in words:
                unit = re.findall(r"\((\w+)\)", line)
                if set(unit) != {"us"}:
                    raise InputError(where, f"times in {listed(unit) or 'no unit'}", "times in us")
                columns = 1 + len(unit) + ("Iterations" in words)
            continue
        if not words or not SIZE.fullmatch(words[0]):
            continue
        if not columns:
            raise InputError(where, "a row before the columns are named", "# Size  Avg Latency(us)")
        own = len(words[1].partition(".")[2]) if len(words) > 1 else -1
        digits = digits if rows else own
        if len(words) < columns or own != digits:
            raise InputError(where, f"'{line.strip()}'", "a whole row; the log may be cut here")
        size = _number(words[0], where, "a size of")
        rows.append(Row(place + 1, size, _number(words[1], where, "a time of") * 1e-6))
    else:
        place = len(lines)
    library = f"OSU {title[2] or ''}".strip()
    found = _sorted(rows, f"{path}:{place}")
    return Log(path, at + 1, library, (name,), None, (), "", found, of_parts=True), place


# -- JSON and CSV ----------------------------------------------------------------------------------


def _json(said: Any, path: str) -> Log:
    """Return the run of a file of nccl-tests' ``-J``."""
    rows, program, wanted = list[Row](), "", f"{WANTED}: results with size and out_of_place"
    try:
        config = said["config"]
        devices, each_has = config["devices"], config["nthreads"] * config["ngpus"]
        for place, each in enumerate(said["results"], start=1):
            where, times = f"{path}: result {place}", each["out_of_place"]
            program = str(each.get("experiment_name") or program)
            for half in filter(None, (times, each.get("in_place"))):
                _check_right(half.get("nwrong"), each["size"], where)
            if times is None or not each["size"]:
                continue
            took = str(times["time"])
            row = Row(1, float(each["size"]), _number(took, where, "a time of") * 1e-6)
            _check_rate(row, took, str(times["alg_bw"]), where)
            rows.append(row)
        if each_has * len(devices) > MOST_RANKS:
            raise ValueError("too many devices")
        hosts = [str(each["hostname"]) for each in devices]
        if len(devices) < 2 or devices[1]["rank"] == each_has:  # a process says its first
            hosts = [host for host in hosts for _ in range(each_has)]
        env, args = (" ".join(map(str, said.get(each) or ())) for each in ("env", "args"))
        forced, named = FORCED.search(env), PROGRAM.search(args)
        library = f"nccl-tests, NCCL {said['nccl_version']}" if "nccl_version" in said else ""
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, f"other JSON ({type(error).__name__}: {error})", wanted) from None
    name = collective_named(named[1] if named else program)
    if not name:
        raise InputError(path, "no name of a program such as all_reduce_perf in args", wanted)
    algorithm, ranks = forced_algorithm(forced[1]) if forced else "", len(hosts) or None
    return Log(path, 1, library, (name,), ranks, tuple(hosts), algorithm, _sorted(rows, path))


def _csv(lines: list[str], path: str) -> list[Log]:
    """Return the runs of a CSV file: a row of times per algorithm, or a row per size.

    The rows may be PICO's own summary, whose times are nanoseconds. Sizes that are columns have
    microseconds below them.
    """
    places = [at for at, line in enumerate(lines, start=1) if line.strip() and line[0] != "#"]
    try:
        columns, *table = [*reader(lines[at - 1] for at in places)] or [[]]
    except Error as error:
        raise InputError(path, f"no CSV ({error})", WANTED) from None
    sizes = [each for each in columns if each.isdecimal()]
    size = next((each for each in SIZES if each in columns), "")
    time = next((each for each in columns if each in TIMES), "")
    if not sizes and not (size and time):
        found = f"the columns {listed(columns, 9)}" if columns else "no columns"
        wanted = f"sizes as columns, or bytes beside {listed([*TIMES], 9, 'or')}"
        raise InputError(f"{path}:{places[0] if places else 1}", found, wanted)
    unit = 1e-6 if sizes else TIMES[time]
    runs: dict[tuple[Any, ...], list[Row]] = {}
    for place, each in zip(places[1:], table, strict=False):
        where = f"{path}:{place}"
        if len(each) != len(columns):
            wanted = f"{len(columns)}, as in line {places[0]}; the file may be cut here"
            raise InputError(where, f"a row of {counted(len(each), 'value')}", wanted)
        said = {name: value.strip() for name, value in zip(columns, each, strict=True)}
        cells = [(one, said[one]) for one in sizes] or [(said[size], said[time])]
        run = _run_of(said, where)
        for bytes_, took in cells:
            if took:  # what was not measured is empty
                seconds = _number(took, where, "a time of") * unit
                row = Row(place, _number(bytes_, where, "a size of"), seconds)
                runs.setdefault(run, []).append(row)
    return [
        Log(path, rows[0].line, library, (name,), ranks, (), algorithm, _sorted(rows, path))
        for (_, library, name, ranks, algorithm), rows in runs.items()
    ]


def _run_of(said: Mapping[str, str], where: str) -> tuple[Any, ...]:
    """Return which run a row belongs to: run, library, collective, ranks and algorithm."""

    def first(*names: str) -> str:
        return next((said[name] for name in names if said.get(name)), "")

    name = first("collective", "collective_type", "program")
    kind, _, how = (name or "all-reduce").partition(" (")
    collective = collective_named(kind)
    if not collective:
        raise InputError(where, f"the collective '{name}'", f"one of {ONE_OF}")
    each = {
        "nodes": first("nodes", "nnodes"),
        "ranks per node": first("ranks_per_node", "tasks_per_node") or "1",
    }
    if count := first("ranks", "gpus"):
        each = {"ranks": count}
    sides = [(side, what) for what, many in each.items() for side in many.split("x")]
    ranks = prod(int(_number(side, where, what)) for side, what in sides) if sides[0][0] else None
    algorithm = first("algorithm", "algo_name") or how.rstrip(")")
    run = first("run", "timestamp", "machine")
    library = " ".join(filter(None, (first("library", "mpi_lib"), said.get("mpi_lib_version"))))
    chosen = re.fullmatch(r"default([-_](default|ompi|mpich|nccl))?", algorithm)
    return run, library, collective, ranks, "" if chosen else algorithm
