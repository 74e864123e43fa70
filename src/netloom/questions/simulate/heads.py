"""What the words of all programs on a network begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from netloom.words import counted

if TYPE_CHECKING:
    from netloom.questions.simulate.engines import PreparedNetwork


def head_of(network: PreparedNetwork, what: str, how: str) -> list[str]:
    """Return what runs on which network, and how."""
    topology = network.topology
    return [
        f"[bold]{escape(what)}[/] on [bold]{escape(topology.name)}[/] "
        f"({counted(topology.num_nodes, 'node')}, {counted(topology.num_channels, 'channel')}), "
        f"{escape(network.routing_name)}",
        escape(f"{network.router_name}; {how}"),
    ]
