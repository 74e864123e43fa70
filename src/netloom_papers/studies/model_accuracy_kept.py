"""Simulated cases that are kept as they end, so that a run that was stopped goes on from there."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from netloom._version import __version__
from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.textfiles import read_text, unwritable, write_text
from netloom.simulation.side_by_side import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Case: TypeAlias = Mapping[str, Any]
    Stopped: TypeAlias = Callable[[], bool]
    Simulate: TypeAlias = Callable[[Case, Stopped], dict[str, Any] | None]

WANTED = "a line for each simulated case, as an earlier run of this study wrote it"


def simulate_all(
    cases: Sequence[Case], simulate: Simulate, kept: str | Path, what: str
) -> list[dict[str, Any] | None]:
    """Return what simulation finds of each case. None where Ctrl-C came before.

    A case is added to the file as one line of JSON once it has ended, and is read from there in
    later runs of this version. Cases run side by side, on all processors.

    Parameters
    ----------
    cases
        All that the answer depends on, as plain data.
    simulate
        Called with a case and a function that says whether to stop. None if it did.
    kept
        The file, in a folder that is made if need be.
    what
        Said of the progress.

    Raises
    ------
    InputError
        If the file is no such file, or cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "squares.jsonl"
    >>> cases = [{"number": 2}, {"number": 3}]
    >>> simulate_all(cases, lambda case, _: {"square": case["number"] ** 2}, file, "squares")
    [{'square': 4}, {'square': 9}]
    >>> simulate_all(cases[1:], lambda case, _: None, file, "squares")  # nothing to be done
    [{'square': 9}]
    """
    path = Path(kept)
    known = _read(path)
    lock = Lock()

    def run(case: Case, stopped: Stopped) -> bool | None:
        found = simulate(case, stopped)
        if found is None:
            return None
        with lock:
            known[_name(case)] = found
            _append(path, {"case": {**case, "netloom": __version__}, "found": found})
        return True

    waiting = [case for case in cases if _name(case) not in known]
    if waiting:
        with counting(len(waiting), what) as tell:
            run_all([partial(run, case) for case in waiting], tell=tell)
    return [known.get(_name(case)) for case in cases]


def _name(case: Case) -> str:
    return json.dumps({**case, "netloom": __version__}, sort_keys=True)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the cases of a file by name, and leave out of it what was not written to its end."""
    if not path.exists():
        return {}
    text = read_text(path, wanted=WANTED)
    whole = text[: text.rfind("\n") + 1]
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            said = json.loads(line)
            found[json.dumps(said["case"], sort_keys=True)] = dict(said["found"])
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{path}:{number}", "no simulated case", WANTED) from None
    if len(whole) < len(text):
        write_text(path, whole)
    return found


def _append(path: Path, line: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise unwritable(path, error) from None
