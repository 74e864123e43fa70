"""What differs between two forwarding tables: what a subnet manager has to tell which switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import replacing
from netloom.routing.forwarding.addresses import (
    NO_PORT,
    addressed,
    addresses,
    port_table,
    whole_table,
)

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

BLOCK_LIDS = 64
"""LIDs whose entries a subnet manager sends together (InfiniBand's LinearForwardingTable)."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The entries of switches that differ between two tables, by switch and LID.

    Attributes
    ----------
    topology
        The network.
    router
        int32[entries], whose entry it is.
    row
        int32[entries], where it leads: a row of ``addresses``.
    lid
        int32[entries].
    old_port, new_port
        uint8[entries]. ``NO_PORT`` where there is none.
    unavoidable
        bool[entries], where the old entry leads nowhere: it is missing, or its cable is gone.
    blocks
        How many blocks of ``BLOCK_LIDS`` LIDs have to be sent to switches.
    """

    topology: Topology
    router: Ints
    row: Ints
    lid: Ints
    old_port: NDArray[np.uint8]
    new_port: NDArray[np.uint8]
    unavoidable: Bools
    blocks: int

    def __len__(self) -> int:
        return len(self.lid)

    def table(self) -> pl.DataFrame:
        """Return a line for each entry: switch, guid, lid, destination, old_port, new_port, gone.

        A port is null where a table has no entry. ``gone`` says ``unavoidable``.
        """
        import polars as pl

        cabling = self.topology.cabling
        assert cabling is not None
        names = addresses(self.topology).name
        first = len(names) - self.topology.num_routers
        ports = {
            name: pl.Series(port.astype(np.int64)).replace(NO_PORT, None)
            for name, port in (("old_port", self.old_port), ("new_port", self.new_port))
        }
        return pl.DataFrame(
            {
                "switch": [names[first + router] for router in self.router.tolist()],
                "guid": [f"0x{guid:016x}" for guid in cabling.router_guid[self.router].tolist()],
                "lid": self.lid,
                "destination": [names[row] for row in self.row.tolist()],
                **ports,
                "gone": self.unavoidable,
            }
        )


def table_changes(topology: Topology, old: ForwardingTable, new: ForwardingTable) -> Changes:
    """Return what differs between the tables that are installed and new ones.

    Both are of this network. If only one leads to other end points, those do not count.

    Raises
    ------
    InputError
        If the network has no LIDs, or a table is of another one.
    """
    addressed(topology, "changes of tables")
    every, rows = addresses(topology), [whole_table(each) for each in (old, new)]
    for table, own in zip((old, new), rows, strict=True):
        if own.shape[1] != topology.num_routers or len(table.next_channel) != topology.num_ports:
            found = f"{len(table.next_channel)} ports of hosts and {own.shape[1]} routers"
            raise InputError(f"routing {table}", found, f"a table of {topology.name}")
    count = min(len(each) for each in rows)
    before, after = (port_table(topology, each)[:count] for each in (old, new))
    row, router = np.nonzero((before != after) & (every.lid[:count, None] > 0))
    here = every.router[row] == router
    leads = rows[0][row, router] >= 0
    arrives = here & (before[row, router] == every.port[row])
    many = 1 << every.lmc[row]
    lid = every.lid[row].repeat(many) + np.arange(many.sum()) - (many.cumsum() - many).repeat(many)
    said = np.stack([router, row, before[row, router], after[row, router], ~(leads | arrives)])
    said = said.repeat(many, axis=1)
    order = np.lexsort((lid, said[0]))
    said, lid = said[:, order], lid[order]
    return Changes(
        topology, said[0].astype(np.int32), said[1].astype(np.int32), lid.astype(np.int32),
        said[2].astype(np.uint8), said[3].astype(np.uint8), said[4].astype(np.bool_),
        len(np.unique(np.stack([said[0], lid // BLOCK_LIDS]), axis=1).T),
    )  # fmt: skip


def write_changes(changes: Changes, path: str | Path) -> None:
    """Write the lines of ``Changes.table`` as CSV (tab-separated where the name ends in ``.tsv``).

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    separator = "\t" if str(path).lower().endswith(".tsv") else ","
    with replacing(path) as new:
        changes.table().write_csv(new, separator=separator)
