"""Traces as tables that ``read_trace`` takes back."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import replacing
from netloom.workload.programs.trace_files import FILES, IN_CYCLES, IN_SECONDS

if TYPE_CHECKING:
    from netloom.workload.programs.messages import Lists
    from netloom.workload.programs.traces import Trace


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace as a table that ``read_trace`` takes back.

    Parameters
    ----------
    trace
        What is written. Columns that are zero everywhere are left out.
    path
        ``.csv``, ``.tsv`` or ``.parquet``. An existing file is replaced. Parquet does not say how
        many tasks there are.

    Raises
    ------
    InputError
        If the suffix is none of these, or the file cannot be written.
    """
    import polars as pl

    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".csv", ".tsv", ".parquet"):
        raise InputError(str(path), f"suffix '{path.suffix}'", FILES)
    times = IN_CYCLES if trace.unit == "cycles" else IN_SECONDS
    needed = times["start"] if trace.unit == "seconds" else ""  # which says the unit
    columns: dict[str, Any] = {
        "id": trace.ids,
        times["start"]: trace.start,
        "after": _joined(trace.after, [*trace.ids]),
        times["delay"]: trace.delay,
        times["run"]: trace.run,
        times["hold"]: trace.hold,
        "source": trace.source,
        "target": _joined(trace.targets, [*map(str, range(trace.num_tasks)), "*"]),
        "flits" if trace.unit == "cycles" else "bytes": trace.flits,
        times["receive"]: trace.receive,
    }
    optional = {*times.values()} - {needed}
    table = pl.DataFrame(
        {k: v for k, v in columns.items() if k not in optional or np.asarray(v).any()}
    )
    with replacing(path) as new, new.open("wb") as stream:
        if kind == ".parquet":
            table.write_parquet(stream)
            return
        stream.write(f"# tasks: {trace.num_tasks}\n".encode())
        table.write_csv(stream, separator="\t" if kind == ".tsv" else ",")


def _joined(lists: Lists, names: list[str]) -> list[str]:
    """The names of each list's numbers; −1 is the last name."""
    words = [names[value] for value in lists.values.tolist()]
    ends = lists.offsets.tolist()
    return [" ".join(words[a:b]) for a, b in pairwise(ends)]
