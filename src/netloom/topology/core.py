"""A network as two arrays: where each directed channel starts and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Topology:
    """A network: nodes 0 … ``num_nodes`` − 1 joined by directed channels.

    A channel is directed; a bidirectional link is two channels. Every node routes, sends and
    receives.

    Attributes
    ----------
    name
        The spec string that makes this topology again, such as ``mesh:8x8``.
    num_nodes
        Number of nodes.
    channel_source, channel_target
        int32[num_channels], the nodes that each channel leaves and enters.
    node_labels
        The names of the nodes in the file they were read from; empty where nodes have no name
        but their number. Messages call nodes so, and rank files their hosts.
    node_kinds
        What the file says that each node is, such as ``host`` or ``switch``; empty where it does
        not say. See ``kinds``.
    """

    name: str
    num_nodes: int
    channel_source: NDArray[np.int32]
    channel_target: NDArray[np.int32]
    node_labels: tuple[str, ...] = ()
    node_kinds: tuple[str, ...] = ()

    @property
    def num_channels(self) -> int:
        """Number of directed channels."""
        return len(self.channel_source)

    def node_name(self, node: int) -> str:
        """Return the name by which a person would find ``node``."""
        return self.node_labels[node] if self.node_labels else str(node)

    def channel_name(self, channel: int) -> str:
        """Return ``from -> to``, the channel's two nodes by name."""
        source, target = self.channel_source[channel], self.channel_target[channel]
        return f"{self.node_name(int(source))} -> {self.node_name(int(target))}"

    def outgoing(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the channels that leave each node, as a ragged array, lowest number first.

        Node v has channels[offsets[v]:offsets[v + 1]]: int64[num_nodes + 1] offsets, and
        int32[num_channels].
        """
        return _grouped(self.channel_source, self.num_nodes)

    def incoming(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the channels that enter each node, as ``outgoing`` does for those that leave."""
        return _grouped(self.channel_target, self.num_nodes)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.num_nodes} nodes, {self.num_channels} directed channels>"


def _grouped(
    keys: NDArray[np.int32], num_groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    offsets = np.append(0, np.cumsum(np.bincount(keys, minlength=num_groups), dtype=np.int64))
    return offsets, np.argsort(keys, kind="stable").astype(np.int32)
