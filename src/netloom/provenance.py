"""Where a result came from: version, question and seed, carried by every result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_SEED = 1
"""The seed where none is given: fixed, never the clock, so that a command repeats itself."""


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
