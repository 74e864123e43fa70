"""The answer of ``find_critical_queue``: the largest queues that show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from netloom.questions.answers import Answer, Column, Columns, asked
from netloom_papers.questions.hotspot.answer import RATE
from netloom_papers.questions.hotspot.critical_queue.verdict import sentence_of

if TYPE_CHECKING:
    from netloom.base.provenance import Provenance
    from netloom_papers.combining import CombiningNetwork, CriticalQueue
    from netloom_papers.combining.runs import SizeTried


class Searched(NamedTuple):
    """A rate, the search that was made for it, and one of the sizes that it tried."""

    rate: float
    search: CriticalQueue
    tried: SizeTried | None = None

    @property
    def sentence(self) -> str:
        """What was found, for whoever has to choose the sizes."""
        return sentence_of(SEARCH.nested(self))


SEARCH = Columns(
    RATE,
    Column("critical_queue", unit="packets", value="search.size", kind=int),
    Column("runs", value="search.runs", kind=int),
    Column("stable", value="search.stable", kind=int),
    Column("interrupted", value="search.interrupted", kind=bool),
    Column("tried", kind=list, value=lambda each: [asdict(size) for size in each.search.tried]),
)
"""What JSON says of a rate."""


@dataclass(frozen=True, eq=False)
class CriticalQueues(Answer):
    """What ``find_critical_queue`` found, at one rate or at several.

    Attributes
    ----------
    network
        The network. The sizes of its own queues mean nothing.
    found
        Each rate with the search that was made for it, rising.
    rise
        By how much a stage's mean queue must be longer to be discernibly longer.
    """

    columns: ClassVar = Columns(
        RATE,
        Column("critical", "critical size", "packets", "search.size", int, key=True),
        Column("size", "size tried (none: unbounded)", "packets", "tried.size", int, key=True),
        Column("rise", "longest rise of a stage's queue", "", "tried.rise", key=True),
        Column("stage", "at stage", "", "tried.stage", int, key=True),
        Column("steps_mean", "round trip", "steps", "tried.steps_mean", key=True),
        Column("refused", "refused, share", "", "tried.refused"),
    )
    in_json: ClassVar = Columns()
    about: ClassVar = Columns(
        Column("pes", kind=int, value="network.pes"),
        Column("hot_spots", kind=int),
        Column("policy", kind=str, value=asked("policy")),
        Column("requested_steps", kind=int, value=asked("steps")),
        Column("rise"),
        Column(
            "rates", kind=list,
            value=lambda answer: [SEARCH.nested(Searched(*each)) for each in answer.found],
        ),
        Column("seed", kind=int, value="provenance.seed"),
        Column("interrupted", kind=bool),
    )  # fmt: skip

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
        """The critical size at each rate. None where there is none, or the search was stopped."""
        return {rate: search.size for rate, search in self.found}

    @property
    def table_rows(self) -> list[Searched]:
        """Each rate and size tried, largest first."""
        return [
            Searched(rate, search, tried) for rate, search in self.found for tried in search.tried
        ]

    def sentence(self, rate: float) -> str:
        """What was found for a rate, for whoever has to choose the sizes."""
        return Searched(rate, dict(self.found)[rate]).sentence

    def __repr__(self) -> str:
        head = f"Critical queues of omega:{self.network.pes}, {self.hot_spots} hot spots"
        lines = [f"rate {rate:.4g}: {self.sentence(rate)}" for rate, _ in self.found]
        return "\n".join([f"<{head}; {self.origin}>", *lines])
