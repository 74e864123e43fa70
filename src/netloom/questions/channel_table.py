"""The table of what channels carry, load by load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.questions.answers import Column, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from numpy.typing import NDArray

    from netloom.topology import Topology


def channel_columns(load: Column) -> Columns:
    """Return the columns of ``channels_by`` for such a load."""
    return Columns(
        load,
        Column("source_node", kind=int),
        Column("target_node", kind=int),
        Column("utilisation", "carried by the channel", "flits/cycle"),
    )


def channels_by(
    load: str, runs: Iterable[tuple[float, NDArray[Any]]], topology: Topology
) -> pl.DataFrame:
    """Return one row a load and channel: its two nodes, and flits a cycle on it.

    Parameters
    ----------
    load
        Name of the column of loads.
    runs
        The loads, each with float[num_channels], flits a cycle.
    topology
        The network.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> table = channels_by("rate", [(0.1, np.array([0.5, 0.25]))], topology("mesh:2"))
    >>> table.rows()
    [(0.1, 0, 1, 0.5), (0.1, 1, 0, 0.25)]
    """
    import polars as pl

    tables = [
        pl.DataFrame(
            {
                load: np.full(topology.num_channels, value),
                "source_node": topology.channel_source,
                "target_node": topology.channel_target,
                "utilisation": np.asarray(used, np.float64),
            }
        )
        for value, used in runs
    ]
    return pl.concat(tables) if tables else pl.DataFrame()
