"""Process graphs of real MPI runs, from the files that Open MPI's monitoring writes.

``mpirun -np N --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca
pml_monitoring_filename DIR/NAME APP`` writes one file per rank, ``DIR/NAME.<rank>.prof`` (Open MPI
4.1). The first letter of a line names its kind. ``E`` lines are point-to-point messages with users'
tags. ``I`` lines are those with Open MPI's own tags, into which collectives are broken. ``S`` and
``R`` lines are one-sided messages, sent and fetched. ``C`` lines are the same collectives as the
program called them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import text_lines
from netloom.workload.graphs.process_graph import ProcessGraph, process_graph

if TYPE_CHECKING:
    from netloom.base.arrays import Floats


PARTS = {
    "network": "EISR",
    "point-to-point": "E",
    "collectives": "I",
    "one-sided": "SR",
    "collective-calls": "C",
}
"""Letters of the lines that each part of the traffic is in."""

_FILE = re.compile(r"(?P<name>.+)\.(?P<rank>0|[1-9][0-9]{0,8})\.prof")
_ROW = re.compile(
    r"([EISRC])\t([0-9]{1,9})\t([0-9]{1,9})\t([0-9]{1,20}) bytes\t([0-9]{1,20}) msgs sent"
    r"(?:\t[0-9,]*)?\n"  # the histogram of sizes, which is not always there
)
_ROW_LIKE = "'E<tab>rank<tab>peer<tab>N bytes<tab>N msgs sent'"
_LETTERS = ("E", "I", "S", "R", "C", "D", "A2A", "O2A", "A2O")
_WORLD = "D\tMPI_COMM_WORLD\tprocs: "
_SKIPPED = ("#", "D\t", "A2A\t", "O2A\t", "A2O\t")


def read_monitoring(path: str | Path, *, parts: str = "network") -> ProcessGraph:
    """Read what the ranks of an MPI run sent to each other. Rank r is task r.

    Persistent sends (``MPI_Send_init`` with ``MPI_Start``) are not recorded by Open MPI at all: a
    code that uses them shows too little traffic here, or none.

    Parameters
    ----------
    path
        A directory, a glob such as ``runs/lammps.*.prof``, or one of the files, which stands
        for all of its run.
    parts
        ``network``, all that crosses the network: E + I + S + R, where R counts from the rank
        that is fetched from to the rank that fetches. Or a part of it: ``point-to-point`` (E,
        in which Open MPI also puts some collectives, such as ``MPI_Alltoall``), ``collectives``
        (I), ``one-sided`` (S + R). Or ``collective-calls`` (C), the same traffic as
        the collectives, from the point of view of the program. It is in none of the others.

    Raises
    ------
    InputError
        Naming the file and line of what cannot be read, the file that is missing, or the runs
        among which the path does not choose.

    Examples
    --------
    >>> read_monitoring("examples/openmpi-monitoring/lammps_melt_16", parts="point-to-point")
    <examples/openmpi-monitoring/lammps_melt_16: 16 tasks, 64 directed edges, ... messages>
    """
    if parts not in PARTS:
        raise InputError("parts", f"'{parts}'", ", ".join(PARTS))
    files = _files_by_rank(str(path))
    rows = np.concatenate(
        [_rows(file, rank, len(files), PARTS[parts]) for rank, file in enumerate(files)]
    )
    rows = rows[(rows[:, 2] > 0) | (rows[:, 3] > 0)]
    source, target = rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32)
    return process_graph(
        len(files), source, target, bytes=rows[:, 2], messages=rows[:, 3], name=str(path)
    )


def is_monitoring(path: str) -> bool:
    """Tell whether ``path`` is a directory, a glob or a ``.prof`` file.

    Examples
    --------
    >>> is_monitoring("runs/lammps.*.prof"), is_monitoring("lammps.mtx")
    (True, False)
    """
    return _is_glob(path) or Path(path).is_dir() or path.endswith(".prof")


def _is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[") and not Path(path).exists()


def _files_by_rank(path: str) -> list[Path]:
    """Return the files of one run, that of rank r at place r."""
    runs = _runs(path)
    if not runs:
        exists = _is_glob(path) or Path(path).exists()
        found = "no Open MPI monitoring files" if exists else "no such file"
        raise InputError(path, found, "files named NAME.<rank>.prof")
    if len(runs) > 1:
        names = sorted(map(str, runs))
        listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        wanted = f"one run, for example '{names[0]}.*.prof'"
        raise InputError(path, f"{len(names)} runs ({listed})", wanted)
    [(run, by_rank)] = runs.items()
    highest = max(by_rank)
    for rank in range(highest + 1):  # ends at the first gap, so never later than the files do
        if rank not in by_rank:
            wanted = f"one for each of ranks 0 to {highest}"
            raise InputError(f"{run}.{rank}.prof", "no such file", wanted)
    return [by_rank[rank] for rank in range(highest + 1)]


def _runs(path: str) -> dict[Path, dict[int, Path]]:
    """Return the files by run and rank: those of a directory or a glob, or of one file's run."""
    place = Path(path)
    one = _FILE.fullmatch(place.name) if place.is_file() else None
    folder = place.parent if one else place
    try:
        glob, root = str(place.relative_to(place.anchor)), Path(place.anchor)
        files = folder.iterdir() if folder.is_dir() else root.glob(glob)
        runs: dict[Path, dict[int, Path]] = {}
        for file in files:
            if found := _FILE.fullmatch(file.name):
                runs.setdefault(file.parent / found["name"], {})[int(found["rank"])] = file
    except (OSError, ValueError) as error:  # a folder that may not be read, a glob such as a**b
        raise InputError(path, str(error), "a directory, a glob or a .prof file") from None
    return {folder / one["name"]: runs[folder / one["name"]]} if one else runs


def _rows(file: Path, rank: int, num_ranks: int, letters: str) -> Floats:
    """Return float64[rows, 4] of one file: sender, receiver, bytes, messages."""
    totals: dict[tuple[int, int], list[int]] = {}  # a line per peer, however often it comes
    for number, line in text_lines(file, wanted="a file of Open MPI's monitoring"):
        where = f"{file}:{number}"
        if line.startswith(_WORLD) and (count := line.count(",") + 1) != num_ranks:
            # the last of more ranks would go unnoticed
            raise InputError(where, f"{count} ranks in MPI_COMM_WORLD", f"{num_ranks}, one a file")
        if line.startswith(_SKIPPED) and line.endswith("\n"):
            continue
        row = _ROW.fullmatch(line)
        if row is None:
            raise _unreadable(where, line)
        letter, own, peer, sent, counted = row[1], *map(int, row.group(2, 3, 4, 5))
        if own != rank:
            raise InputError(where, f"rank {own}", f"the file's own, {rank}")
        if peer >= num_ranks:
            wanted = f"0 to {num_ranks - 1}, the ranks that have a file"
            raise InputError(where, f"rank {peer}", wanted)
        if letter in letters:  # what R fetched came from the peer
            total = totals.setdefault((peer, own) if letter == "R" else (own, peer), [0, 0])
            total[0] += sent
            total[1] += counted
    rows = [(*ends, *total) for ends, total in totals.items()]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _unreadable(where: str, line: str) -> InputError:
    letter = line.split("\t", 1)[0].strip()
    if not line.endswith("\n"):
        return InputError(where, f"a line that breaks off, '{line[-40:]}'", "a complete file")
    if letter not in _LETTERS:
        return InputError(where, f"a line of kind '{letter[:20]}'", ", ".join(_LETTERS))
    return InputError(where, f"'{line.strip()[:60]}'", _ROW_LIKE)
