"""Process graphs of real MPI runs, from the files that Open MPI's monitoring writes.

``mpirun -np N --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca
pml_monitoring_filename DIR/NAME APP`` leaves one file ``DIR/NAME.<rank>.prof`` a rank (Open MPI
4.1). Its lines start with a letter: ``E`` point-to-point messages with the tags of users, ``I``
those with Open MPI's own tags, into which collectives are broken, ``S`` and ``R`` one-sided
messages sent and fetched, ``C`` the same collectives as the program called them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.workload.process_graph import process_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.workload.process_graph import ProcessGraph

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
    r"(?P<letter>[EISRC])\t(?P<rank>[0-9]{1,9})\t(?P<peer>[0-9]{1,9})"
    r"\t(?P<bytes>[0-9]{1,20}) bytes\t(?P<messages>[0-9]{1,20}) msgs sent"
    r"(\t([0-9]+(,[0-9]+)*)?)?\n"
)
_ROW_LIKE = "'E<tab>rank<tab>peer<tab>N bytes<tab>N msgs sent'"
_SKIPPED = ("#", "D\t", "A2A\t", "O2A\t", "A2O\t")


def read_monitoring(path: str | Path, *, parts: str = "network") -> ProcessGraph:
    """Read what the ranks of an MPI run sent to each other; rank r is task r.

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
        the collectives, from the point of view of the program; it is in none of the others.

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
    edges = [
        edge
        for rank, file in enumerate(files)
        for edge in _edges(file, rank, num_ranks=len(files), letters=PARTS[parts])
    ]
    source, target, sent, counted = zip(*edges, strict=True) if edges else ((), (), (), ())
    return process_graph(
        len(files),
        source,
        target,
        bytes=sent,
        messages=counted,
        name=str(path),
    )


def is_monitoring(path: str) -> bool:
    """Tell whether ``path`` is a directory, a glob or a ``.prof`` file.

    Examples
    --------
    >>> is_monitoring("runs/lammps.*.prof"), is_monitoring("lammps.mtx")
    (True, False)
    """
    place = Path(path)
    is_glob = any(sign in path for sign in "*?[") and not place.exists()
    return is_glob or place.is_dir() or path.endswith(".prof")


def _files_by_rank(path: str) -> list[Path]:
    """Return the files of one run, that of rank r at place r."""
    runs: dict[Path, dict[int, Path]] = {}
    for file in _candidates(path):
        if found := _FILE.fullmatch(file.name):
            runs.setdefault(file.parent / found["name"], {})[int(found["rank"])] = file
    if not runs:
        raise InputError(path, "no Open MPI monitoring files", "files named NAME.<rank>.prof")
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


def _candidates(path: str) -> Iterator[Path]:
    place = Path(path)
    if place.is_dir():
        return place.iterdir()
    if path.endswith(".prof") and not any(sign in path for sign in "*?["):
        found = _FILE.fullmatch(place.name)
        if not place.is_file() or not found:
            what = "no such file" if found else "a file without a rank in its name"
            raise InputError(path, what, "a monitoring file NAME.<rank>.prof")
        return (
            file
            for file in place.parent.iterdir()
            if file.name.startswith(found["name"] + ".")
            and _FILE.fullmatch(file.name)["name"] == found["name"]
        )
    return Path(place.anchor).glob(str(place.relative_to(place.anchor)))
