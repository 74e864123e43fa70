"""What a mapping does to the messages of a program on a torus: how far they go, and over what.

Every message of a transaction goes to a neighbour in the process graph, and its answer comes back.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.models.channel_flows import follow_flows
from netloom.models.locality import predict_locality
from netloom.routing import virtual_channel_routing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.models.locality import Locality
    from netloom.models.locality_network import TorusNetwork
    from netloom.models.locality_node import Application, TransactionCost
    from netloom.topology import Cube


@dataclass(frozen=True, eq=False)
class MappedMessages:
    """Where messages go on a torus: under one mapping or on one torus, or several (first axis).

    Attributes
    ----------
    distance
        float64[n], mean hops.
    channel_load
        Messages on each channel; 1 where all channels have the same.
    """

    distance: NDArray[np.float64]
    channel_load: NDArray[np.float64]

    @classmethod
    def even(cls, distance: NDArray[np.float64]) -> MappedMessages:
        """Return messages of these mean distances that load all channels alike."""
        return cls(distance, np.ones(1))

    @classmethod
    def of_mapping(
        cls,
        topology: Cube,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        share: NDArray[np.float64],
    ) -> MappedMessages:
        """Return where the messages of a mapped program go, and come back.

        Parameters
        ----------
        topology
            The torus.
        source, target
            int32[num_edges], the nodes of each edge.
        share
            float64[num_edges], the part of its source's transactions that an edge has.
        """
        routing = virtual_channel_routing(topology, "dimension-order", num_vcs=2)
        sends = share > 0
        flows = follow_flows(
            routing,
            np.concatenate([source[sends], target[sends]]),
            np.concatenate([target[sends], source[sends]]),
            np.concatenate([share[sends], share[sends]]),
        )
        hops = flows.paths.lengths
        load = np.bincount(flows.paths.channels, np.repeat(flows.rate, hops), topology.num_channels)
        return cls(np.array([np.average(hops, weights=flows.rate)]), load.astype(np.float64))

    @classmethod
    def of_several(cls, each: Sequence[MappedMessages]) -> MappedMessages:
        """Return those of several mappings as one."""
        distance = np.concatenate([one.distance for one in each])
        return cls(distance, np.array([one.channel_load for one in each]))


def mean_locality(
    application: Application,
    transaction: TransactionCost,
    network: TorusNetwork,
    messages: MappedMessages,
    sizes: int,
) -> Locality:
    """Return what Johnson's model says, one for each size: of several mappings the mean.

    Latency is hidden if it is under most of the mappings.
    """
    found = predict_locality(
        application, transaction, network, messages.distance, messages.channel_load
    )
    if len(found.distance) == sizes:
        return found
    parts = {each.name: getattr(found, each.name) for each in fields(found)}
    parts = {name: values.mean(axis=0, keepdims=True) for name, values in parts.items()}
    return replace(found, **parts | {"masked": parts["masked"] > 0.5})
