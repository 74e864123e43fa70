"""The answer of ``route_fabric``: tables, what they replace, and what both are worth."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.fabrics.figures import on_several_switches
from netloom.questions.columns import Column, Columns, figure_columns, table
from netloom.questions.fabric.verdict import PROVED
from netloom.questions.register import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.fabrics.balancing import Candidate
    from netloom.fabrics.bounds import Bound
    from netloom.fabrics.changes import Changes
    from netloom.fabrics.figures import TableFigures
    from netloom.questions.route.programs import ProgramCost
    from netloom.routing import ForwardingTable
    from netloom.topology import Topology

BESIDE = (
    ("bound", "least that the busiest cable of an all-to-all can carry", "paths"),
    ("time_bound", "that bound over bandwidth", "paths"),
    ("ratio", "times that bound", ""),
)
"""Parts of ``TableFigures.beside``, their titles and units."""

CABLES = Columns(
    Column("channel", kind=int),
    Column("from", kind=str),
    Column("from_port", kind=int),
    Column("to", kind=str),
    Column("to_port", kind=int),
    Column("before", "paths of an all-to-all before", kind=Real),
    Column("after", "paths of an all-to-all after", kind=Real),
)

FRONT = Columns(
    Column("all_to_all", "busiest cable of an all-to-all", "paths", kind=Real),
    Column("bisection", "effective bisection bandwidth", "of a host's"),
    Column("shift_max", "busiest cable of the worst shift", "paths", kind=Real),
    Column("shift_mean", "busiest cable of a shift, mean", "paths", kind=Real),
    Column("lanes", kind=int),
)

PROGRAMS = Columns(
    Column("name", "program", kind=str),
    Column("before", "busiest cable before", "bytes"),
    Column("after", "busiest cable after", "bytes"),
    Column("floor", "least that any table can have", "bytes"),
    Column("hosts", "busiest adapter", "bytes"),
    Column("why", "what the least comes from", kind=str),
)


def _beside(name: str, title: str, unit: str) -> Column:
    """Return a column of the bound of an all-to-all."""
    return Column(
        f"all_to_all_{name}", title, unit, json=f"all_to_all.{name}",
        value=lambda found: found.after.beside(found.bound.value)[name],
    )  # fmt: skip


def _changed(name: str, title: str, of: Callable[[Changes], int], **more: Any) -> Column:
    """Return a column of what differs from the installed tables."""
    return Column(
        f"changed_{name}", title, kind=int, json=f"changes.{name}",
        value=lambda found: None if found.changes is None else of(found.changes), **more,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RoutedFabric(Answer):
    """Routing tables of a fabric, beside those that are installed.

    Attributes
    ----------
    topology, engine, objective
        What was asked about. What made the tables, and what they were chosen for.
    installed, forwarding
        The tables that are installed, and the new ones.
    before, after
        What both are worth.
    bound, bisection_bound
        What the busiest cable carries at least in an all-to-all, and what the effective bisection
        bandwidth is at most, whatever the tables.
    front
        Tables that none surpassed in all of all-to-all, permutations and shifts.
    programs
        What the programs that were named keep busy.
    changes
        What differs from the installed tables. None if the fabric has no LIDs.
    missing
        What a regular fabric of this kind would have, and this one has not.
    fallback
        Where OpenSM takes minhop instead of an engine that was named, and why. "" if nowhere.
    """

    topology: Topology
    engine: str
    objective: str
    installed: ForwardingTable
    forwarding: ForwardingTable
    before: TableFigures
    after: TableFigures
    bound: Bound
    bisection_bound: float
    front: tuple[Candidate, ...]
    programs: tuple[ProgramCost, ...]
    changes: Changes | None
    missing: tuple[str, ...]
    fallback: str
    provenance: Provenance

    columns: ClassVar = Columns(
        *figure_columns(lambda found: found.after),
        *(_beside(name, title, unit) for name, title, unit in BESIDE),
        Column("all_to_all_why", kind=str, value="bound.why", json="all_to_all.why", table=False),
        Column("all_to_all_proved", "proved best", value="proved", kind=bool,
               json="all_to_all.proved"),
        Column("effective_bisection_bound", "most that any tables can give", "of a host's",
               value="bisection_bound", json="effective_bisection.bound"),
        _changed("entries", "entries that change", len, key=True),
        _changed("unavoidable", "of them over what is gone", lambda found: found.unavoidable.sum()),
        _changed("blocks", "blocks of 64 LIDs that change", lambda found: found.blocks),
        *figure_columns(lambda found: found.before, prefix="before_", where="before.", key=False),
        Column("front", kind=list, table=False, value=lambda found: found.front_rows),
        Column("missing", kind=list, table=False, value=lambda found: list(found.missing)),
        Column("fallback", kind=str, table=False),
        Column("programs", kind=list, table=False,
               value=lambda found: [each.to_dict() for each in found.programs]),
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("topology", kind=str, value="topology.name"),
        Column("hosts", kind=int, value="after.hosts"),
        Column("switches", kind=int, value="topology.num_routers"),
        Column("cables", kind=int, value="after.cables"),
        Column(
            "several_switches",
            "hosts with ports on several switches",
            kind=int,
            value=lambda found: on_several_switches(found.topology),
        ),
        Column("engine", kind=str),
        Column("objective", kind=str),
        Column("installed", kind=str, value=lambda found: str(found.installed)),
    )

    @property
    def proved(self) -> bool:
        """Whether no tables can keep the busiest cable less busy in an all-to-all."""
        return self.after.longest_time <= self.bound.value * PROVED

    @property
    def front_rows(self) -> list[dict[str, Any]]:
        """The figures of the tables that none surpassed, as plain data."""
        return [FRONT.row(each) for each in self.front]

    @table(CABLES)
    def channel_table(self) -> pl.DataFrame:
        """Return one row per channel between routers: its ends, and its paths before and after."""
        import polars as pl

        network = self.topology
        ends = [network.cable_end(each) for each in range(network.num_network_channels)]
        source, out_port, target, in_port = zip(*ends, strict=True) if ends else ([],) * 4
        return pl.DataFrame(
            {
                "channel": np.arange(len(ends)), "from": list(source), "from_port": list(out_port),
                "to": list(target), "to_port": list(in_port),
                "before": self.before.paths, "after": self.after.paths,
            }
        )  # fmt: skip

    @table(FRONT)
    def front_table(self) -> pl.DataFrame:
        """Return one row per table that none surpassed."""
        return FRONT.frame_of(self.front_rows)

    @table(PROGRAMS)
    def program_table(self) -> pl.DataFrame:
        """Return one row per program."""
        rows = [{name: getattr(each, name) for name in PROGRAMS.names} for each in self.programs]
        return PROGRAMS.frame_of(rows)

    def __repr__(self) -> str:
        found: dict[str, Any] = self.to_dict()
        return (
            f"<Routing tables of {self.topology.name} ({self.engine}); {self.origin}>\n"
            f"{found['verdict']['sentence']}"
        )
