"""The answer of ``predict_locality``: rates, latencies and where the time goes, by mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from netloom.questions.answers import CYCLES, Answer, Column, Columns, asked
from netloom.questions.predict.points import at
from netloom_papers.questions.predict.locality.verdict import sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netloom.base.provenance import Provenance
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph
    from netloom_papers.models.locality import Locality

PARTS = {
    "variable_message": "messages' hops",
    "fixed_message": "messages' flits",
    "fixed_transaction": "rest of transaction",
    "work": "useful work",
    "switch": "switching contexts",
}
"""Of the time between two transactions (Johnson 1992, eq. 18), from the network's to the
processor's, and what a person calls them."""

FIGURES = {
    "distance": ("mean distance", "hops"),
    "message_rate": ("messages", "messages/node/cycle"),
    "message_latency": ("message latency", CYCLES),
    "per_hop_latency": ("latency of a hop", CYCLES),
    "channel_utilisation": ("channels busy, share", ""),
    "busiest_channel_utilisation": ("the busiest, share", ""),
    "node_channel_wait": ("wait for a node's channels", CYCLES),
    "inter_transaction_cycles": ("between transactions", CYCLES),
    "inter_transaction_processor_cycles": ("between transactions", "processor cycles"),
    "transaction_latency": ("transaction latency", CYCLES),
}
"""Figures of ``Locality``: titles and units. Cycles are the network's."""

KEY = ("distance", "message_rate", "message_latency", "inter_transaction_cycles")

TRUST = (
    "on an 8 × 8 torus with buffered switches, simulated, message rates of a torus program are "
    "within 6 % (requests and replies) or 10 % (coherence traffic) of it, those of a LAMMPS run's "
    "matrix within 12 %; wormhole switches with few buffers are slower"
)
"""How far the model can be trusted, in a line. See ``models.locality``."""


class SizedMapping(NamedTuple):
    """A mapping on the torus of one size: its place and name, and what the model says."""

    answer: LocalityPrediction
    place: int
    mapping: str
    found: Locality

    @property
    def processor_use(self) -> float:
        """The share of its time in which a processor works."""
        return self.answer.work_cycles / float(self.found.inter_transaction_cycles[self.place])

    def beside(self, found: Locality) -> dict[str, Any]:
        """Return what the model says under another mapping, as plain data."""
        return UNDER_A_MAPPING.nested(self._replace(found=found))


NODES = Column("nodes", kind=int, value=lambda each: each.answer.nodes[each.place], key=True)

UNDER_A_MAPPING = Columns(
    *(Column(name, *told, at(name), key=name in KEY) for name, told in FIGURES.items()),
    Column("processor_use", "processors at work, share", key=True),
    Column("latency_hidden", "processors hide latency", "", at("masked"), bool),
    *(
        Column(f"{part}_cycles", title, CYCLES, at(f"{part}_cycles"), json=f"breakdown.{part}")
        for part, title in PARTS.items()
    ),
)

GAINS = (
    Column("gain", "gain of the ideal mapping", "", lambda each: each.answer.gain(each.place)),
    Column(
        "gain_of_mapping", "gain over a random mapping", key=True,
        value=lambda each: each.answer.gain(each.place, each.found),
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LocalityPrediction(Answer):
    """What ``predict_locality`` says, for one size or for several.

    The table has a row for each size and mapping. Cycles are the network's.

    Attributes
    ----------
    nodes, dimensions
        The sizes of the torus.
    topology, graph
        The network and the program. None where none was given.
    mapping
        What a person calls the mapping that was asked about.
    chosen, ideal, random
        What the model says under that mapping, where all messages go one hop, and under a random
        mapping: a value for each size.
    work_cycles
        T_r, network cycles.
    per_hop_limit
        What the latency of a hop tends to as distances grow (eq. 16).
    """

    columns: ClassVar = Columns(
        NODES, Column("mapping", kind=str, key=True), *UNDER_A_MAPPING, *GAINS
    )
    in_json: ClassVar = Columns(
        NODES,
        *UNDER_A_MAPPING,
        Column(
            "random_distance", unit="hops",
            value=lambda each: each.answer.random.distance[each.place],
        ),
        *GAINS,
        Column("ideal", kind=dict, value=lambda each: each.beside(each.answer.ideal)),
        Column("random", kind=dict, value=lambda each: each.beside(each.answer.random)),
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("name", kind=str),
        Column("dimensions", kind=int),
        Column("topology", kind=str, value=lambda answer: answer.topology and answer.topology.name),
        Column("app", kind=str, value=lambda answer: answer.graph and answer.graph.name),
        Column("mapping", kind=str, value="label"),
        Column("contexts", value=asked("contexts")),
        Column("network_speed", value=asked("network_speed")),
        Column("per_hop_limit", unit=CYCLES),
        Column("trust", kind=str, value=lambda _: TRUST),
    )

    nodes: tuple[int, ...]
    dimensions: int
    topology: Topology | None
    graph: ProcessGraph | None
    mapping: str
    chosen: Locality
    ideal: Locality
    random: Locality
    work_cycles: float
    per_hop_limit: float
    provenance: Provenance

    @property
    def label(self) -> str:
        """The mapping that was asked about, told from the random ones that it is compared with."""
        own = self.mapping == "random" and self.graph is not None
        return f"random, seed {self.provenance.seed}" if own else self.mapping

    @property
    def mappings(self) -> dict[str, Locality]:
        """The mappings by name, each once: ``ideal``, ``random``, and any other."""
        return {"ideal": self.ideal, "random": self.random} | (
            {} if self.label == "random" else {self.label: self.chosen}
        )

    def gain(self, place: int, of: Locality | None = None) -> float:
        """Return how many times more transactions there are than under a random mapping.

        Parameters
        ----------
        of
            Under which mapping. The ideal one by default.
        """
        slow = self.random.inter_transaction_cycles[place]
        return float(slow / (of or self.ideal).inter_transaction_cycles[place])

    @property
    def observations(self) -> tuple[SizedMapping, ...]:
        """The mapping that was asked about, at each size."""
        return tuple(
            SizedMapping(self, place, self.label, self.chosen) for place in range(len(self.nodes))
        )

    @property
    def table_rows(self) -> Iterable[SizedMapping]:
        """Each size and mapping."""
        for place in range(len(self.nodes)):
            for name, found in self.mappings.items():
                yield SizedMapping(self, place, name, found)

    @property
    def name(self) -> str:
        """What a person calls the program and the torus."""
        sizes = ", ".join(f"{size:,}" for size in self.nodes[:4])
        sizes += f" … {self.nodes[-1]:,}" if len(self.nodes) > 4 else ""
        on = self.topology.name if self.topology else f"{self.dimensions}D torus of {sizes} nodes"
        return f"{self.graph.name} on {on}" if self.graph else on

    def sentence(self, place: int) -> str:
        """Return what one size comes to."""
        return sentence_of(self.in_json.nested(self.observations[place]), self.label)

    def __repr__(self) -> str:
        asked = self.provenance.configuration
        head = (
            f"<Locality of {self.name}, mapping {self.mapping}, contexts {asked['contexts']:g}, "
            f"network clock {asked['network_speed']:g} times the processors'; {self.origin}>"
        )
        return "\n".join([head, *(self.sentence(place) for place in range(len(self.nodes)))])
