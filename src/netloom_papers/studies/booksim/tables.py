"""Tables of BookSim 2's results, as CSV files: one configuration a row, or one run a row."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.textfiles import read_text
from netloom_papers.studies.booksim import run_tables
from netloom_papers.studies.booksim.cases import NEEDED, Case, case_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_cases(reference: str, columns: Mapping[str, str]) -> list[Case]:
    """Return the configurations of a CSV file.

    Parameters
    ----------
    reference
        The file. One with a column ``offered_flits_node_cycle`` has one run a row.
    columns
        In a table of one configuration a row, the column of each item that was measured.

    Raises
    ------
    InputError
        If the table cannot be read, or names what netloom does not have.
    """
    text = read_text(reference, wanted="a table of reference runs")
    lines = csv.reader(text.splitlines())
    header = [word.strip() for word in next(lines, [])]
    of_runs = run_tables.LOAD in header
    needed = run_tables.NEEDED if of_runs else (*NEEDED, *columns.values())
    for column in needed:
        if column not in header:
            raise InputError(f"{reference}:1", f"no column '{column}'", ", ".join(needed))
    found = []
    for line in lines:
        where = f"{reference}:{lines.line_num}"
        if not any(line):
            continue
        if len(line) != len(header):
            raise InputError(where, f"{len(line)} values", f"{len(header)}, one a column")
        found.append((where, dict(zip(header, map(str.strip, line), strict=True))))
    folder = Path(reference).parent
    if of_runs:
        return run_tables.run_cases(found, folder)
    return [case_of(values, columns, where, folder) for where, values in found]
