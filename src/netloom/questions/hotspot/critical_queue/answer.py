"""The answer of ``find_critical_queue``: the largest queues that show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.questions.answers import Answer
from netloom.questions.numbers import plainly
from netloom.words import counted

if TYPE_CHECKING:
    import polars as pl

    from netloom.provenance import Provenance
    from netloom.simulation.combining import CombiningNetwork, CriticalQueue


@dataclass(frozen=True, eq=False)
class CriticalQueues(Answer):
    """What ``find_critical_queue`` found, at one rate or at several.

    Attributes
    ----------
    network
        The network; the sizes of its own queues mean nothing.
    hot_spots
        How many words are shared.
    found
        Each rate with the search that was made for it, rising.
    asked
        The rates that were asked for.
    rise
        By how much a stage's mean queue must be longer to be discernibly longer.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table",)

    network: CombiningNetwork
    hot_spots: int
    found: tuple[tuple[float, CriticalQueue], ...]
    asked: tuple[float, ...]
    rise: float
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether a search was stopped from outside."""
        return len(self.found) < len(self.asked) or any(each.interrupted for _, each in self.found)

    @property
    def sizes(self) -> dict[float, int | None]:
        """The critical size at each rate; None where there is none, or the search was stopped."""
        return {rate: search.size for rate, search in self.found}

    def table(self) -> pl.DataFrame:
        """Return one row a rate and size tried, largest first; ``size`` null is unbounded."""
        import polars as pl

        rows = [
            {"rate": rate, "critical": search.size, **asdict(tried)}
            for rate, search in self.found
            for tried in search.tried
        ]
        names = ("rate", "critical", "size", "rise", "stage", "steps_mean", "refused")
        types = (pl.Float64, pl.Int64, pl.Int64, pl.Float64, pl.Int64, pl.Float64, pl.Float64)
        return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)))

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom hotspot critical-queue``."""
        asked = self.provenance.configuration
        return {
            "pes": self.network.pes,
            "hot_spots": self.hot_spots,
            "policy": asked["policy"],
            "requested_steps": asked["steps"],
            "rise": self.rise,
            "rates": [
                {
                    "rate": rate,
                    "critical_queue": search.size,
                    "runs": search.runs,
                    "stable": search.stable,
                    "interrupted": search.interrupted,
                    "tried": [asdict(each) for each in search.tried],
                    "verdict": self.sentence(rate),
                }
                for rate, search in self.found
            ],
            "seed": self.provenance.seed,
            "interrupted": self.interrupted,
            "provenance": self.provenance.to_dict(),
        }

    def sentence(self, rate: float) -> str:
        """What was found for a rate, for whoever has to choose the sizes."""
        search = dict(self.found)[rate]
        if search.interrupted:
            return "interrupted: how far the search had come by then"
        pile_up = "requests pile up even in unbounded queues in"
        if search.size is None:
            return f"no critical size: {pile_up} all {counted(search.runs, 'run')}"
        enough = f"queues of {search.size + 1} do nearly as well as unbounded ones"
        found = f"critical size {search.size}: {enough}" if search.size else enough
        if search.stable < search.runs:
            left_out = search.runs - search.stable
            found += f" ({search.stable} of {search.runs} runs count: {pile_up} {left_out})"
        return found

    def __repr__(self) -> str:
        head = f"Critical queues of omega:{self.network.pes}, {self.hot_spots} hot spots"
        lines = [f"rate {rate:.4g}: {self.sentence(rate)}" for rate, _ in self.found]
        seed, version = self.provenance.seed, self.provenance.version
        return "\n".join([f"<{head}; seed {seed}, netloom {version}>", *lines])
