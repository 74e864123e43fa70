"""How flows share links, from the options of a test."""

from netloom.simulation.flow import FlowLaw

LAW = tuple(FlowLaw.__dataclass_fields__)


def law_in(options):
    """Take the parameters of flows out of some options, and return them as a record."""
    return FlowLaw(**{name: options.pop(name) for name in LAW if name in options})
