"""Named machines as data files: their networks, their speeds, and where the figures come from."""

from netloom.machines.links import LinkClass, link_classes
from netloom.machines.named_machines import (
    OF_FILE,
    Machine,
    MessageCost,
    machine,
    machine_names,
    names_machine,
    node_costs,
)

__all__ = [
    "OF_FILE",
    "LinkClass",
    "Machine",
    "MessageCost",
    "link_classes",
    "machine",
    "machine_names",
    "names_machine",
    "node_costs",
]
