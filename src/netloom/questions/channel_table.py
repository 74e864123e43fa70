"""The table of what channels carry, load by load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.questions.answers import Column, Columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl
    from numpy.typing import NDArray

    from netloom.topology import Topology


USED = "flits/cycle"


def use_of_channels(channels: Callable[[Any], NDArray[Any]]) -> Columns:
    """Return the columns of the mean and the largest of what channels carry, flits per cycle."""

    def mean(found: Any) -> float:
        used = channels(found)
        return float(used.sum() / max(len(used), 1))

    def most(found: Any) -> float:
        return float(channels(found).max(initial=0.0))

    return Columns(
        Column("utilisation_mean", "mean channel", USED, mean, json="utilisation.mean"),
        Column("utilisation_max", "busiest channel", USED, most, key=True, json="utilisation.max"),
    )


def channel_columns(load: Column) -> Columns:
    """Return the columns of ``channels_by`` for such a load, the last two if hosts have routers."""
    return Columns(
        load,
        Column("source_node", kind=int),
        Column("target_node", kind=int),
        Column("utilisation", "carried by the channel", USED),
        Column("name", "channel", kind=str, optional=True),
        Column("bandwidth", unit=USED, optional=True),
    )


def channel_ends(topology: Topology) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what tables say of the channels between routers: their nodes. Names and bandwidths.

    The latter only if hosts hang on routers.
    """
    inside = topology.num_network_channels
    ends = {
        "source_node": topology.channel_source[:inside],
        "target_node": topology.channel_target[:inside],
    }
    if topology.direct:
        return ends, {}
    names = [topology.channel_name(channel) for channel in range(inside)]
    return ends, {"name": names, "bandwidth": topology.channel_bandwidth[:inside]}


def channels_by(
    load: str, runs: Iterable[tuple[float, NDArray[Any]]], topology: Topology
) -> pl.DataFrame:
    """Return one row per load and channel: its two nodes, and flits per cycle on it.

    Parameters
    ----------
    load
        Name of the column of loads.
    runs
        The loads, each with float[num_network_channels], flits per cycle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> table = channels_by("rate", [(0.1, np.array([0.5, 0.25]))], topology("mesh:2"))
    >>> table.rows()
    [(0.1, 0, 1, 0.5), (0.1, 1, 0, 0.25)]
    """
    import polars as pl

    ends, named = channel_ends(topology)
    tables = [
        pl.DataFrame(
            {
                load: np.full(len(used), value),
                **ends,
                "utilisation": np.asarray(used, np.float64),
                **named,
            }
        )
        for value, used in runs
    ]
    return pl.concat(tables) if tables else pl.DataFrame()
