"""Where a result came from: version, question and seed, carried by every result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from netloom._version import __version__

DEFAULT_SEED = 1
"""The seed where none is given: fixed, never the clock, so that a command repeats itself."""


ABOVE = ("cli", "explore", "report")
"""Packages on the floors above questions, on which no answer depends."""

SOURCES = (".py", ".json", ".toml", ".csv", ".gz")
"""How files end that code is in, or data that it reads."""


@cache
def code_version() -> str:
    """Return netloom's version and a digest of the code that answers: the same for equal code.

    A version alone is that of many commits, and of every change that is not committed yet.

    Examples
    --------
    >>> code_version().partition("+")[0] == __version__, len(code_version().partition("+")[2])
    (True, 12)
    """
    return f"{__version__}+{source_digest(Path(__file__).parents[1], ABOVE)}"


@cache
def source_digest(root: Path, left_out: tuple[str, ...] = ()) -> str:
    """Return a digest of a package's code and data, without some of its rooms, or of a module."""
    from hashlib import sha256

    found = sha256(root.read_bytes() if root.is_file() else b"")
    for folder, inside, names in os.walk(root):
        inside[:] = sorted({*inside} - {"__pycache__", *(left_out if folder == str(root) else ())})
        for name in sorted(names):
            if name.endswith(SOURCES):
                file = Path(folder, name)
                found.update(f"{file.relative_to(root).as_posix()}\0".encode())
                found.update(sha256(file.read_bytes()).digest())
    return found.hexdigest()[:12]


@dataclass(frozen=True)
class Provenance:
    """The question that a result answers.

    Attributes
    ----------
    configuration, seed
        The fields of the question as plain data, and where all chance came from.
    version, verb
        The netloom that answered, and the function that asked.
    not_repeatable
        Fields that were objects which no plain data stands for: only their name is recorded.

    Examples
    --------
    >>> Provenance({"on": "mesh:4x4"}, seed=7).to_dict()["seed"]
    7
    """

    configuration: Mapping[str, Any]
    seed: int = DEFAULT_SEED
    version: str = __version__
    verb: str = ""
    not_repeatable: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the plain dict that goes into a result's JSON."""
        return {
            "netloom": self.version,
            "seed": self.seed,
            "verb": self.verb,
            "configuration": dict(self.configuration),
            "not_repeatable": list(self.not_repeatable),
        }
