"""The answer of ``predict_locality``: rates, latencies and where the time goes, by mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.questions.answers import Answer
from netloom.questions.numbers import plainly

if TYPE_CHECKING:
    import polars as pl

    from netloom.models.locality import Locality
    from netloom.provenance import Provenance
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

PARTS = {
    "variable_message": "messages' hops",
    "fixed_message": "messages' flits",
    "fixed_transaction": "rest of transaction",
    "work": "useful work",
    "switch": "switching contexts",
}
"""Of the time between two transactions (Johnson 1992, eq. 18), from the network's to the
processor's, and what a person calls them."""

FIGURES = (
    "distance",
    "message_rate",
    "message_latency",
    "per_hop_latency",
    "channel_utilisation",
    "busiest_channel_utilisation",
    "node_channel_wait",
    "inter_transaction_cycles",
    "inter_transaction_processor_cycles",
    "transaction_latency",
)

TRUST = (
    "on an 8 × 8 torus with buffered switches, simulated, message rates of a torus program are "
    "within 6 % (requests and replies) or 10 % (coherence traffic) of it, those of a LAMMPS run's "
    "matrix within 12 %; wormhole switches with few buffers are slower"
)
"""How far the model can be trusted, in a line; see ``models.locality``."""


@dataclass(frozen=True, eq=False)
class LocalityPrediction(Answer):
    """What ``predict_locality`` says, for one size or for several.

    Attributes
    ----------
    nodes, dimensions
        The sizes of the torus.
    topology, graph
        The network and the program; None where none was given.
    mapping
        What a person calls the mapping that was asked about.
    chosen, ideal, random
        What the model says under that mapping, where all messages go one hop, and under a random
        mapping: a value for each size.
    work_cycles
        T_r, network cycles.
    per_hop_limit
        What the latency of a hop tends to as distances grow (eq. 16).
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table",)

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
        place
            Which of the sizes.
        of
            Under which mapping; the ideal one by default.
        """
        slow = self.random.inter_transaction_cycles[place]
        return float(slow / (of or self.ideal).inter_transaction_cycles[place])

    def table(self) -> pl.DataFrame:
        """Return one row a size and mapping; time in network cycles, flits/cycle on channels."""
        import polars as pl

        rows = []
        for place, nodes in enumerate(self.nodes):
            for name, found in self.mappings.items():
                figures = self._figures(found, place)
                parts = figures.pop("breakdown")
                parts = {f"{part}_cycles": value for part, value in parts.items()}
                gain = {"gain": self.gain(place), "gain_of_mapping": self.gain(place, found)}
                rows.append({"nodes": nodes, "mapping": name} | figures | parts | gain)
        return pl.DataFrame(rows, infer_schema_length=None)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom predict locality``."""
        asked = self.provenance.configuration
        common = {
            "name": self.name,
            "dimensions": self.dimensions,
            "topology": self.topology and self.topology.name,
            "app": self.graph and self.graph.name,
            "mapping": self.label,
            "contexts": asked["contexts"],
            "network_speed": asked["network_speed"],
            "per_hop_limit": self.per_hop_limit,
            "trust": TRUST,
            "provenance": self.provenance.to_dict(),
        }
        points = [self._point(place) for place in range(len(self.nodes))]
        return points[0] | common if len(points) == 1 else common | {"points": points}

    def _point(self, place: int) -> dict[str, Any]:
        return {
            "nodes": self.nodes[place],
            **self._figures(self.chosen, place),
            "random_distance": float(self.random.distance[place]),
            "gain": self.gain(place),
            "gain_of_mapping": self.gain(place, self.chosen),
            "ideal": self._figures(self.ideal, place),
            "random": self._figures(self.random, place),
        }

    def _figures(self, found: Locality, place: int) -> dict[str, Any]:
        return {
            **{name: float(getattr(found, name)[place]) for name in FIGURES},
            "processor_use": self.work_cycles / float(found.inter_transaction_cycles[place]),
            "latency_hidden": bool(found.masked[place]),
            "breakdown": {part: float(getattr(found, f"{part}_cycles")[place]) for part in PARTS},
        }

    @property
    def name(self) -> str:
        """What a person calls the program and the torus."""
        sizes = ", ".join(f"{size:,}" for size in self.nodes[:4])
        sizes += f" … {self.nodes[-1]:,}" if len(self.nodes) > 4 else ""
        on = self.topology.name if self.topology else f"{self.dimensions}D torus of {sizes} nodes"
        return f"{self.graph.name} on {on}" if self.graph else on

    def sentence(self, place: int) -> str:
        """Return what one size comes to."""
        every = {
            name: f"{found.inter_transaction_cycles[place]:.4g}"
            for name, found in self.mappings.items()
        }
        said = (
            f"{self.nodes[place]:,} nodes: a transaction every {every['random']} network cycles "
            f"under a random mapping, {every['ideal']} if messages go one hop (a gain of "
            f"{self.gain(place):.3g})"
        )
        if self.label != "random":
            gain = self.gain(place, self.chosen)
            said += f", {every[self.label]} under mapping {self.label} ({gain:.3g})"
        return said

    def __repr__(self) -> str:
        asked, seed = self.provenance.configuration, self.provenance.seed
        head = (
            f"<Locality of {self.name}, mapping {self.mapping}, contexts {asked['contexts']:g}, "
            f"network clock {asked['network_speed']:g} times the processors'; seed {seed}, netloom "
            f"{self.provenance.version}>"
        )
        return "\n".join([head, *(self.sentence(place) for place in range(len(self.nodes)))])
