"""What channels between routers carry, as the tables of answers have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.figures import Figures, figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from netloom.topology import Topology

USED = "flits/cycle"


class ChannelUse(Figures):
    """What a channel between routers carries. Names and bandwidths only if hosts have routers."""

    channel: int = figure()
    source_node: int = figure()
    target_node: int = figure()
    utilisation: float = figure("carried by the channel", USED)
    name: str | None = figure("channel", optional=True)
    bandwidth: float | None = figure(unit=USED, optional=True)


def channel_uses(
    load: str, runs: Iterable[tuple[float, NDArray[Any]]], topology: Topology
) -> dict[str, Any]:
    """Return the columns of ``ChannelUse`` behind that of a load, channel by channel at each load.

    Parameters
    ----------
    load
        Name of the column of loads.
    runs
        The loads, each with float[num_network_channels], flits per cycle.
    """
    import numpy as np

    listed = list(runs)
    many = len(listed)
    inside = topology.num_network_channels
    alike: dict[str, Any] = {
        "source_node": topology.source_end[:inside],
        "target_node": topology.target_end[:inside],
    }
    if not topology.direct:
        alike["name"] = [topology.channel_name(channel) for channel in range(inside)]
        alike["bandwidth"] = topology.channel_bandwidth[:inside]
    return {
        load: np.repeat([value for value, _ in listed], inside),
        "channel": np.tile(np.arange(inside), many),
        "utilisation": np.concatenate([used for _, used in listed]) if many else [],
        **{name: np.tile(values, many) for name, values in alike.items()},
    }
