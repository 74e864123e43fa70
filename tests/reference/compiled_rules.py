"""The kernel of routing on virtual channels, as Python can call it."""

from netloom.base.compilation import kernel
from netloom.routing.kernels import virtual_channels


@kernel
def allowed(tables, node, in_slot, source, target, aux, coin, hops):
    return virtual_channels.allowed(tables, node, in_slot, source, target, aux, coin, hops)


@kernel
def arrived(tables, node, aux):
    return virtual_channels.arrived(tables, node, aux)
