"""The answer of ``simulate_transactions``: how fast processors issue transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from netloom.base.errors import InputError
from netloom.questions.answers import CYCLES, INSIDE, Answer, Column, Columns, table
from netloom.questions.channel_table import channel_columns, channels_by, use_of_channels
from netloom.questions.simulate.engines import NETWORK
from netloom.questions.simulate.loop.answer import silent
from netloom.questions.simulate.timelines import nodes_timeline
from netloom.topology.measures import busy_shares
from netloom_papers.programs.transactions import TransactionRun

if TYPE_CHECKING:
    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.questions.simulate.engines import PreparedNetwork

MEASURED = {
    "message_rate": ("rate", "messages/node/cycle"),
    "message_latency": ("message latency", CYCLES),
    "inter_transaction_cycles": ("between transactions", CYCLES),
    "transaction_latency": ("transaction latency", CYCLES),
}
"""Figures that have an interval: titles and units."""

CONTEXTS = Column("contexts", kind=int, key=True)


def _interval(name: str) -> Column:
    title, unit = MEASURED[name]
    return Column(f"{name}_ci95", f"{title} ± 95 %", unit, lambda found: found.interval(name))


@dataclass(frozen=True, eq=False, kw_only=True)
class TransactionSimulation(TransactionRun, Answer):
    """What ``simulate_transactions`` found, in Johnson's terms.

    Attributes
    ----------
    program, contexts, run_cycles
        What was run: its name, p and T_r.
    distance
        d, the mean path length of the program's edges under its mapping, hops.
    inside_nodes
        The share of these edges inside nodes.
    silent_tasks
        Tasks without edges, which have no transactions and no part in means.
    """

    network: PreparedNetwork
    program: str
    contexts: int
    run_cycles: float
    distance: float
    silent_tasks: int
    inside_nodes: float
    provenance: Provenance

    columns: ClassVar = Columns(
        CONTEXTS,
        Column("run_cycles", "computation", CYCLES),
        Column("distance", unit="hops", key=True),
        *(
            Column(name, title, unit, f"found.{name}", key=unit == CYCLES)
            for name, (title, unit) in MEASURED.items()
        ),
        Column("messages", value="found.messages", kind=int),
        Column("transactions", value="found.transactions", kind=int),
        *map(_interval, MEASURED),
        Column("inter_message_cycles", unit=CYCLES, value=lambda it: 1 / it.found.message_rate),
        Column(
            "messages_per_transaction", value=lambda it: it.found.messages / it.found.transactions
        ),
        Column("message_flits", "message length", "flits", "mean_flits"),
        Column("processor_use", "processor use", key=True),
        *use_of_channels(lambda it: busy_shares(it.network.topology, it.channel_flits)),
        Column("cycles", "simulated", CYCLES, "cycle", int),
        Column("interrupted", kind=bool),
    )  # fmt: skip
    about: ClassVar = (
        NETWORK + INSIDE + Columns(Column("program", kind=str), Column("silent_tasks", kind=int))
    )

    @property
    def left_out(self) -> str | None:
        """What of the program has no transactions, in words, or None if all of it has."""
        return silent(self.silent_tasks) if self.silent_tasks else None

    @property
    def processor_use(self) -> float:
        """The share of a processor's time that does the program's work: T_r / t_t."""
        return self.run_cycles / self.found.inter_transaction_cycles

    @table(channel_columns(CONTEXTS))
    def channels(self) -> pl.DataFrame:
        """Return one row per channel: the contexts, its two nodes, and flits per cycle on it."""
        run = (self.contexts, self.channel_flits)
        return channels_by("contexts", [run], self.network.topology)

    def timeline(self) -> Timeline:
        """Return when each node computed, sent and received, from the start-up on.

        Raises
        ------
        InputError
            If it was not asked to keep these times.
        """
        if self.kept is None:
            raise InputError("perfetto", "no times of messages", "timeline=True")
        return nodes_timeline(self.network, self.kept, self.program, contexts=self.contexts)

    def __repr__(self) -> str:
        found = self.found
        return (
            f"<Transactions of {self.program} on {self.network.topology.name}, {self.contexts} "
            f"contexts, distance {self.distance:.3g}; {self.origin}>\n"
            f"a transaction every {found.inter_transaction_cycles:.4g} cycles per node, latency "
            f"{found.transaction_latency:.4g}; {found.message_rate:.4g} messages per cycle, "
            f"latency {found.message_latency:.4g} ± {self.interval('message_latency'):.2g}"
        )
