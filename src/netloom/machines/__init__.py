"""Named machines as data files: their networks, their speeds, and where the figures come from."""

from netloom.machines.named_machines import Machine, MessageCost, machine, machine_names, node_costs

__all__ = ["Machine", "MessageCost", "machine", "machine_names", "node_costs"]
