"""Files of one rank each, named by a pattern in which %d stands for the rank."""

from __future__ import annotations

import re
from pathlib import Path

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.textfiles import check_file


def pattern_in(folder: str | Path, ending: str) -> str:
    """Return the pattern of the files of ranks in a folder that end so. "" if it has none.

    Examples
    --------
    >>> pattern_in("examples/chakra", ".et"), pattern_in("examples", ".et")
    ('examples/chakra/%d.et', '')
    """
    first = re.compile(rf"(.*\D)?0{re.escape(ending)}")
    names = [each.name for each in Path(folder).iterdir()] if Path(folder).is_dir() else []
    found = next((match for match in map(first.fullmatch, sorted(names)) if match), None)
    return str(Path(folder, f"{found[1] or ''}%d{ending}")) if found else ""


def rank_files(pattern: str | Path, wanted: str) -> list[Path]:
    """Return the files of ranks 0, 1, 2 ….

    Raises
    ------
    InputError
        If the pattern has no ``%d``, there is no such folder or file, or one is missing.

    Examples
    --------
    >>> [path.name for path in rank_files("examples/chakra/%d.et", "a trace")][:2]
    ['0.et', '1.et']
    """
    path = Path(pattern)
    if path.name.count("%d") != 1 or "%" in path.name.replace("%d", "", 1):
        raise InputError(str(path), "no %d for the rank", "a name such as trace.%d.et")
    before, after = path.name.split("%d")
    name = re.compile(rf"{re.escape(before)}(0|[1-9][0-9]{{0,8}}){re.escape(after)}")
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError as error:
        raise InputError(str(path.parent), f"no such folder ({error.strerror})", wanted) from None
    ranks = sorted(int(match[1]) for match in map(name.fullmatch, names) if match)
    check_size(len(ranks), where=str(path), what="ranks")
    if not ranks:
        raise InputError(str(path), "no such files", f"{before}0{after}, {before}1{after} …")
    missing = next((rank for rank, found in enumerate(ranks) if rank != found), None)
    if missing is not None:
        found = f"a file of rank {ranks[-1]}, and none of rank {missing}"
        raise InputError(str(path), found, "one for each rank from 0 on")
    paths = [path.with_name(f"{before}{rank}{after}") for rank in ranks]
    return [check_file(each, wanted=wanted) for each in paths]
