"""Measured collectives: what nccl-tests, RCCL-tests, the OSU benchmarks and PICO print.

A log is one run of one collective: bytes of a rank's whole buffer, as nccl-tests count them, and
seconds out of place. Whatever cannot be a measurement is refused with the file and the line: a log
that was cut, wrong results, and times and rates that contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from csv import Error, reader
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import inf, prod
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.textfiles import parse_json, read_text
from netloom.base.words import counted, listed
from netloom.workload.programs.collectives.algorithms import ROOTED
from netloom.workload.programs.collectives.program import bus_factor

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

FORCED = re.compile(r"NCCL_ALGO(?:=| set by environment to )[\"']?(?:\w+:)?([A-Za-z]+)[\"']?(?!\S)")
"""The one algorithm that a library may choose."""

PROGRAM = re.compile(r"(?<![A-Za-z0-9_])(?<!concluded: )([a-z_]+)_perf\b")
TAGGED = re.compile(r"^(?:\[[^\]]*\]<stdout>:?|\d+:)\s?")
"""What srun and mpirun write before each line."""

RANK = re.compile(r"^#\s+Rank\s+(\d{1,7})\s+(?:Group +(\d+) )?.*\bon\s+(\S+)\s+device", re.M)
VERSION = re.compile(r"^# ([nr]ccl-tests version \S+)(?:.*\s(\w+-library=\d+))?", re.M)
SIZE = re.compile(r"[0-9]{1,18}")
MOST = re.compile(r"^# nThread.*\bmaxBytes (\d{1,18})\b", re.M)
TITLE = re.compile(
    r"#\s+size\s+count\s+type\b|"
    r"#\s+OSU\b.*?\b([\w-]+(?: Personalized Exchange)?) Latency Test(?: v(\S+))?"
)
"""The head of a table of nccl-tests, or the title of one of OSU: collective and version."""

UNIT = re.compile(r"\(([^ ()]+)\)")
UNITS = frozenset(("B", "elements", "us", "GB/s", "%"))
AVERAGE = "Avg bus bandwidth"

SIZES = ("bytes", "size", "buffer_size")
TIMES = {f"time_{unit}": 1000.0**-at for at, unit in enumerate(("s", "ms", "us", "ns"))}
TIMES |= {"seconds": 1.0, "median": 1e-9}
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


def _collective(name: str, where: str) -> str:
    """Return what netloom calls a collective of a log."""
    found = NAMES.get(re.sub("[^a-z]", "", name.lower()))
    if found is None:
        raise InputError(where, f"the collective '{name}'", f"one of {ONE_OF}")
    return found


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
    alike = groupby(sorted(rows, key=lambda each: each.size), key=lambda each: each.size)
    found = [[*some] for _, some in alike]
    if not found:
        raise InputError(where, "no row of a size above 0", WANTED)
    return tuple(some[0]._replace(seconds=median(each.seconds for each in some)) for some in found)


# -- text ------------------------------------------------------------------------------------------


def _texts(lines: list[str], path: str) -> Iterator[Log]:
    """Yield the runs of a text: tables, whose heads stand between them and the last ones."""
    tables = [at for at, line in enumerate(lines) if TITLE.match(line)]
    for before, (at, end) in zip([0, *tables], pairwise([*tables, len(lines)]), strict=False):
        kind = _osu if "OSU" in lines[at] else _nccl
        yield kind(lines[:end], before, at, path)
    if any(line.startswith("# nThread") for line in lines[tables[-1] if tables else 0 :]):
        raise InputError(f"{path}:{len(lines)}", "the end of the log before its table", WANTED)


def _cells(lines: list[str], at: int, path: str) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of the table that begins at a line, each with its own line, by columns.

    Of columns with one name, as those of runs in place, it is the first.
    """
    columns, found = lines[at].lstrip("# ").split(), list[tuple[int, dict[str, str]]]()
    for place, line in enumerate(lines[at + 1 :], start=at + 2):
        words, where = line.split(), f"{path}:{place}"
        if line.startswith("# nThread") or AVERAGE in line:
            break
        if line.startswith("#") and not {"(B)", "Size"}.isdisjoint(words):
            said = UNIT.findall(line)
            if "us" not in said or not UNITS.issuperset(said):
                odd = listed([each for each in said if each not in UNITS]) or "no unit"
                raise InputError(where, f"columns in {odd}", "sizes in B, times in us, GB/s")
            if "Size" in words:
                columns = ["size", "time", *said[1:], *["times"] * ("Iterations" in words)]
        elif words and SIZE.fullmatch(words[0]):
            if columns[3:4] == ["redop"] and not "".join(words[3:4]).isalpha():
                words.insert(3, "")  # of what adds nothing
            if len(words) < len(columns):
                wanted = f"{len(columns)}; the log may be cut here"
                raise InputError(where, f"a row of {counted(len(words), 'value')}", wanted)
            pairs = [*zip(columns, words, strict=False)]
            for name, word in pairs:
                _check_right(word if name == "#wrong" else 0, words[0], where)
            found.append((place, dict(reversed(pairs))))
    return found


def _rows(cells: Iterable[tuple[int, Mapping[str, str]]], before: str) -> Iterator[Row]:
    """Yield rows whose times are in microseconds and rates in GB/s, but for those of no data."""
    for line, said in cells:
        where = f"{before}{line}"
        if float(said["size"]):
            size = _number(said["size"], where, "a size of")
            row = Row(line, size, _number(said["time"], where, "a time of") * 1e-6)
            if "algbw" in said:
                _check_rate(row, said["time"], said["algbw"], where)
            yield row


def _nccl(lines: list[str], before: int, at: int, path: str) -> Log:
    """Return the run whose table begins at a line, and whose head behind that of the last one."""
    head, where = "\n".join(lines[before:at]), f"{path}:{at + 1}"
    devices = {int(rank): (host, group) for rank, group, host in RANK.findall(head)}
    several = len({group for _, group in devices.values()}) > 1
    if several or "cputime" in lines[at]:
        what = "several groups" if several else "times of processors (-C)"
        raise InputError(where, what, "times of one collective at a time")
    cells = _cells(lines, at, path)
    rows, most = _sorted(_rows(cells, f"{path}:"), where), [0, *map(int, MOST.findall(head))][-1]
    last = cells[-1][0]
    if rows[-1].size < most and not any(AVERAGE in line for line in lines[last:]):
        wanted = f"rows up to {units.size(most)} and the average: the log was cut"
        found = f"the end of the log after {units.size(rows[-1].size)}"
        raise InputError(f"{path}:{last}", found, wanted)
    hosts, named = tuple(devices[each][0] for each in sorted(devices)), PROGRAM.findall(head)
    may_be = tuple(_collective(each, where) for each in named[-1:])
    may_be = may_be or _may_be([said for _, said in cells], len(hosts))
    library = " ".join(filter(None, [(), *VERSION.findall(head)][-1]))
    forced = ["", *FORCED.findall(head)][-1].lower()
    return Log(path, at + 1, library, may_be, len(hosts) or None, hosts, forced, rows)


def _check_right(wrong: object, size: str, where: str) -> None:
    """Refuse a row of which some values are wrong."""
    if str(wrong) not in ("N/A", "None", "0", "0.0"):
        found = f"{wrong} wrong values at {units.size(float(size))}"
        raise InputError(where, found, "a run without errors")


def _check_rate(row: Row, time: str, said: str, where: str) -> None:
    """Refuse a row whose time and rate contradict each other, which mixed units do."""
    rate = row.size / row.seconds * 1e-9  # in GB/s
    try:
        off = float(said) / rate
    except ValueError:
        raise InputError(where, f"a rate of {said!r}", "a number of GB/s") from None
    digits = sum(each.isdigit() for each in time.partition("e")[0])
    if abs(off - 1) * rate <= 0.006 + (0.005 + 0.5 / 10 ** (digits - 1)) * rate:
        return
    kinds = {2**-30 * 1e9: "GiB/s", 8: "Gb/s", 1e-3: "ms beside GB/s", 1e3: "MB/s or ns"}
    guess = "".join(f" (is that {kinds[each]}?)" for each in kinds if abs(off / each - 1) < 0.02)
    found = f"{said} GB/s for {units.size(row.size)} in {row.seconds * 1e6:g} µs{guess}"
    raise InputError(where, found, f"{rate:.4g} GB/s: time in µs, and bytes / time / 1e9")


def _may_be(rows: Sequence[Mapping[str, str]], ranks: int) -> tuple[str, ...]:
    """Return the collectives that an unnamed table of nccl-tests may be of.

    A sum is printed if data are added, and a root if there is one. Bus over algorithm bandwidth
    tells the others, but of rates below 1 GB/s two digits tell nothing.
    """
    said = max(rows, key=lambda each: float(each["algbw"]))
    kind = said.get("redop", "") not in ("", "none"), said.get("root", "-1") != "-1"
    rate, bus = float(said["algbw"]), float(said["busbw"])
    return tuple(
        name
        for name in dict.fromkeys(NAMES.values())
        if ("reduce" in name, name in ROOTED) == kind
        and (not ranks or rate <= 1 or abs(bus / rate - bus_factor(name, ranks)) < 0.02)
    )


def _osu(lines: list[str], _: int, at: int, path: str) -> Log:
    """Return the run of OSU whose title is a line. Times have as many digits as the first."""
    where, cells = f"{path}:{at + 1}", _cells(lines, at, path)
    digits = [len(said["time"].partition(".")[2]) for _, said in cells]
    for (line, said), own in zip(cells, digits, strict=True):
        if own != digits[0]:
            found = f"a time of {said['time']}"
            raise InputError(f"{path}:{line}", found, "a whole row; the log may be cut here")
    name, version = TITLE.findall(lines[at])[0]
    may_be, rows = (_collective(name, where),), _sorted(_rows(cells, f"{path}:"), where)
    return Log(path, at + 1, f"OSU {version}".strip(), may_be, None, (), "", rows, of_parts=True)


# -- JSON and CSV ----------------------------------------------------------------------------------


def _json(said: Any, path: str) -> Log:
    """Return the run of a file of nccl-tests' ``-J``."""
    cells, before = list[tuple[int, dict[str, str]]](), f"{path}: result "
    wanted = f"{WANTED}: results with size and out_of_place"
    try:
        config = said["config"]
        devices, each_has = config["devices"], config["nthreads"] * config["ngpus"]
        for place, each in enumerate(said["results"], start=1):
            for half in filter(None, (each["out_of_place"], each.get("in_place"))):
                _check_right(half.get("nwrong"), each["size"], f"{before}{place}")
            if took := each["out_of_place"]:
                row = {"size": each["size"], "time": took["time"], "algbw": took["alg_bw"]}
                cells.append((place, {name: str(value) for name, value in row.items()}))
        if each_has * len(devices) > MOST_RANKS:
            raise ValueError("too many devices")
        hosts = [str(each["hostname"]) for each in devices]
        if len(devices) < 2 or devices[1]["rank"] == each_has:  # a process says its first
            hosts = [host for host in hosts for _ in range(each_has)]
        env, args = (" ".join(map(str, said.get(each) or ())) for each in ("env", "args"))
        names = [str(each.get("experiment_name") or "") for each in said["results"]]
        library = f"nccl-tests, NCCL {said['nccl_version']}" if "nccl_version" in said else ""
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, f"other JSON ({type(error).__name__}: {error})", wanted) from None
    name = _collective([*names, *PROGRAM.findall(args)][-1], path)
    forced = ["", *FORCED.findall(env)][-1].lower()
    rows = _sorted((row._replace(line=1) for row in _rows(cells, before)), path)
    return Log(path, 1, library, (name,), len(hosts) or None, tuple(hosts), forced, rows)


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
    size, time = (next((n for n in columns if n in known), "") for known in (SIZES, TIMES))
    if not sizes and not (size and time):
        found = f"the columns {listed(columns, 9)}" if columns else "no columns"
        wanted = f"sizes as columns, or bytes beside {listed([*TIMES], 9, 'or')}"
        raise InputError(f"{path}:{places[0] if places else 1}", found, wanted)
    runs: dict[tuple[Any, ...], list[Row]] = {}
    for place, each in zip(places[1:], table, strict=False):
        where = f"{path}:{place}"
        if len(each) != len(columns):
            wanted = f"{len(columns)}, as in line {places[0]}; the file may be cut here"
            raise InputError(where, f"a row of {counted(len(each), 'value')}", wanted)
        said = {name: value.strip() for name, value in zip(columns, each, strict=True)}
        rows = runs.setdefault(_run_of(said, where), [])
        for bytes_, took in [(one, said[one]) for one in sizes] or [(said[size], said[time])]:
            if took:  # what was not measured is empty
                seconds = _number(took, where, "a time of") * (1e-6 if sizes else TIMES[time])
                rows.append(Row(place, _number(bytes_, where, "a size of"), seconds))
    return [
        Log(path, rows[0].line, library, (name,), ranks, (), algorithm, _sorted(rows, path))
        for (_, library, name, ranks, algorithm), rows in runs.items()
        if rows
    ]


def _run_of(said: Mapping[str, str], where: str) -> tuple[Any, ...]:
    """Return which run a row belongs to: run, library, collective, ranks and algorithm."""

    def first(*names: str) -> str:
        return next((said[name] for name in names if said.get(name)), "")

    kind, _, how = (first("collective", "collective_type", "program") or "all-reduce").partition(
        " ("
    )
    ranks, what = first("ranks", "gpus"), "ranks"
    if not ranks and (ranks := first("nodes", "nnodes")):
        ranks, what = f"{ranks}x{first('ranks_per_node', 'tasks_per_node') or 1}", "nodes x ranks"
    sides = [int(_number(side, where, what)) for side in ranks.split("x") if ranks]
    algorithm = first("algorithm", "algo_name") or how.rstrip(")")
    chosen = re.fullmatch(r"default([-_](default|ompi|mpich|nccl))?", algorithm)
    library = " ".join(filter(None, (first("library", "mpi_lib"), said.get("mpi_lib_version"))))
    run, name = first("run", "timestamp", "machine"), _collective(kind, where)
    return run, library, name, prod(sides) if sides else None, "" if chosen else algorithm
